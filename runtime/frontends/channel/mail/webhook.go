package mail

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// window is how far the time of a webhook may differ from ours.
const window = 5 * time.Minute

// mostPosts is the greatest number of webhooks that are read at once.
const mostPosts = 4

// Mailgun accepts mail that a route of Mailgun forwards unchanged, to a URL that ends in "mime".
// Mailgun's signature covers neither the mail nor its sender, so the mail proves its sender as any
// other mail does. Mailgun retries after every answer except 200 and 406.
func (a *Adapter) Mailgun() http.Handler {
	slots := make(chan struct{}, mostPosts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || a.o.SigningKey == "" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		most := 3*a.o.MaxBytes + 64<<10 // at worst, a byte is encoded as three letters
		r.Body = http.MaxBytesReader(w, r.Body, most)
		w.WriteHeader(a.posted(r, most))
	})
}

// posted takes a webhook and says how it is answered.
func (a *Adapter) posted(r *http.Request, most int64) int {
	err := r.ParseForm()
	if err == nil {
		err = r.ParseMultipartForm(most) // none of it in files
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case err != nil && !errors.Is(err, http.ErrNotMultipart):
		return http.StatusBadRequest
	}
	once := func(name string) string {
		if all := r.PostForm[name]; len(all) == 1 {
			return all[0]
		}
		return ""
	}
	if !a.signed(once("timestamp"), once("token"), once("signature")) {
		return http.StatusUnauthorized
	}
	// The signature covers no mail, and could be sent again with another.
	sum := sha256.Sum256([]byte(once("body-mime")))
	switch first, err := a.o.Once(r.Context(), Channel, once("token"), hex.EncodeToString(sum[:])); {
	case err != nil:
		return http.StatusServiceUnavailable
	case !first:
		return http.StatusUnauthorized
	}
	sender := once("sender")
	in := arrival{raw: []byte(once("body-mime")), envelope: sender, null: r.PostForm.Has("sender") && sender == "", relayed: true}
	for to := range strings.SplitSeq(once("recipient"), ",") {
		if inbox, ok := a.inbox(to); ok && !slices.Contains(in.inboxes, inbox) && len(in.inboxes) < mostRecipients {
			in.inboxes = append(in.inboxes, inbox)
		}
	}
	if len(in.raw) == 0 || int64(len(in.raw)) > a.o.MaxBytes || len(in.inboxes) == 0 {
		return http.StatusNotAcceptable
	}
	switch err := a.take(r.Context(), in); {
	case errors.Is(err, errNobody):
		return http.StatusNotAcceptable
	case err != nil:
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// signed reports whether Mailgun sent a webhook, lately.
func (a *Adapter) signed(timestamp, token, signature string) bool {
	given, err := hex.DecodeString(signature)
	known := err == nil && slices.ContainsFunc(strings.Fields(a.o.SigningKey), func(key string) bool {
		mac := hmac.New(sha256.New, []byte(key))
		io.WriteString(mac, timestamp+token)
		return hmac.Equal(given, mac.Sum(nil))
	})
	if !known {
		return false
	}
	at, err := strconv.ParseInt(timestamp, 10, 64)
	return err == nil && token != "" && time.Unix(at, 0).Sub(a.o.Clock()).Abs() <= window
}
