package whatsapp

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"verbatim/runtime/frontends/channel"
)

// maxBody is larger than a batch of a thousand messages.
const maxBody = 4 << 20

// ServeHTTP implements http.Handler: the webhook.
func (a *Adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		a.shake(w, r)
	case http.MethodPost:
		a.take(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// shake answers the verification request that is sent when the webhook is set up.
func (a *Adapter) shake(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	// Hashes have one length, so that the comparison does not reveal the token's.
	got, want := sha256.Sum256([]byte(q.Get("hub.verify_token"))), sha256.Sum256([]byte(a.opt.Verify))
	if q.Get("hub.mode") != "subscribe" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, q.Get("hub.challenge"))
}

// take takes a batch in.
func (a *Adapter) take(w http.ResponseWriter, r *http.Request) {
	mac, ok := signature(r.Header)
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		status := http.StatusBadRequest
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		w.WriteHeader(status)
		return
	}
	signed, ok := a.proved(body, mac)
	if !ok {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	got, err := a.read(signed)
	if got.broken > 0 {
		a.broken.Add(int64(got.broken))
		a.opt.Log("parts of a webhook of WhatsApp could not be read", got.broken)
	}
	if got.refused > 0 {
		a.opt.Log("messages that were written to a group were left out", got.refused)
	}
	for member, n := range got.unknown {
		a.opt.Log(fmt.Sprintf("WhatsApp sends %.100q, which is unknown here; words beside it are not taken for their sender's", member), n)
	}
	for code, n := range got.errors {
		a.opt.Log(fmt.Sprintf("WhatsApp reports error %d of the account", code), n)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if len(got.messages) > 0 {
		err = a.opt.Door.Receive(r.Context(), got.messages...)
	}
	if err == nil && len(got.statuses) > 0 {
		err = a.opt.Door.Note(r.Context(), got.statuses...)
	}
	if err != nil {
		a.opt.Log("a webhook of WhatsApp was not stored, and will come again", 1)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// signature reads the header, which must occur once.
func signature(h http.Header) (mac []byte, ok bool) {
	all := h["X-Hub-Signature-256"]
	if len(all) != 1 {
		return nil, false
	}
	digits, ok := strings.CutPrefix(all[0], "sha256=")
	if !ok || len(digits) != 2*sha256.Size || digits != strings.ToLower(digits) {
		return nil, false
	}
	mac, err := hex.DecodeString(digits)
	return mac, err == nil
}

// proved returns the bytes that were signed.
func (a *Adapter) proved(body, mac []byte) (signed []byte, ok bool) {
	signs := func(text []byte) bool {
		return slices.ContainsFunc(strings.Fields(a.opt.Secret), func(secret string) bool { return hmac.Equal(sum(secret, text), mac) })
	}
	if signs(body) {
		return body, true
	}
	if escaped, other := escape(body); other && signs(escaped) {
		return escaped, true
	}
	return nil, false
}

func sum(secret string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write(body)
	return h.Sum(nil)
}

// escape writes non-ASCII characters as \uXXXX. It reports whether there are any, and whether the
// body is text.
func escape(body []byte) ([]byte, bool) {
	if !utf8.Valid(body) {
		return nil, false
	}
	const digits = "0123456789abcdef"
	b := make([]byte, 0, len(body)+len(body)/2)
	for _, r := range string(body) {
		if r < utf8.RuneSelf {
			b = append(b, byte(r))
			continue
		}
		units := [2]rune{r}
		n := 1
		if r > 0xffff {
			units[0], units[1] = utf16.EncodeRune(r)
			n = 2
		}
		for _, u := range units[:n] {
			b = append(b, '\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15])
		}
	}
	return b, len(b) > len(body)
}

// A batch is the content of one webhook request.
type batch struct {
	messages []channel.Message
	statuses []channel.Status
	broken   int
	refused  int            // of groups
	unknown  map[string]int // members of messages that are neither read nor listed
	errors   map[int]int    // how often, by code
}
