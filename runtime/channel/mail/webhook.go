package mail

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// window is how far the time of a webhook may be from ours.
const window = 5 * time.Minute

// small are the fields of a webhook that are read before it is known to be Mailgun's.
var small = []string{"timestamp", "token", "signature", "recipient", "sender"}

// mostPosts is how many webhooks are read at once.
const mostPosts = 4

// Mailgun takes mail that a route of Mailgun forwards as it is, to an address that ends in
// "mime". Its signature covers neither the mail nor who sent it, so the mail proves its
// sender as any other does. Mailgun sends again after every answer but 200 and 406.
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
		r.Body = http.MaxBytesReader(w, r.Body, 3*a.o.MaxBytes+64<<10) // three letters stand for a byte at worst
		w.WriteHeader(a.posted(r))
	})
}

// posted takes a webhook and says how it is answered.
func (a *Adapter) posted(r *http.Request) int {
	form, content, err := a.form(r)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large) || errors.Is(err, errTooLarge):
		return http.StatusRequestEntityTooLarge
	case err != nil:
		return http.StatusBadRequest
	case !a.signed(form["timestamp"], form["token"], form["signature"]):
		return http.StatusUnauthorized
	}
	sender, given := form["sender"]
	in := arrival{envelope: sender, null: given && sender == "", relayed: true}
	for to := range strings.SplitSeq(form["recipient"], ",") {
		if inbox, ok := a.inbox(to); ok && !slices.Contains(in.inboxes, inbox) && len(in.inboxes) < mostRecipients {
			in.inboxes = append(in.inboxes, inbox)
		}
	}
	if in.raw, err = content(); err != nil || len(in.raw) == 0 || int64(len(in.raw)) > a.o.MaxBytes || len(in.inboxes) == 0 {
		return http.StatusNotAcceptable
	}
	if a.take(r.Context(), in) != nil {
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// signed reports whether Mailgun sent a webhook, lately.
func (a *Adapter) signed(timestamp, token, signature string) bool {
	mac := hmac.New(sha256.New, []byte(a.o.SigningKey))
	io.WriteString(mac, timestamp+token)
	given, err := hex.DecodeString(signature)
	if err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return false
	}
	at, err := strconv.ParseInt(timestamp, 10, 64)
	return err == nil && token != "" && time.Unix(at, 0).Sub(a.o.Clock()).Abs() <= window
}

var errTooLarge = errors.New("the webhook is too large")

// form reads the small fields of a webhook. The mail itself is decoded when it is asked for.
func (a *Adapter) form(r *http.Request) (form map[string]string, content func() ([]byte, error), err error) {
	form = map[string]string{}
	add := func(name, value string) error {
		if _, ok := form[name]; ok || len(value) > 1000 {
			return errors.New("a field is too long or stands there twice")
		}
		form[name] = value
		return nil
	}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/x-www-form-urlencoded":
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, nil, err
		}
		for pair := range strings.SplitSeq(string(body), "&") {
			name, value, _ := strings.Cut(pair, "=")
			if name == "body-mime" && content == nil {
				content = func() ([]byte, error) {
					s, err := url.QueryUnescape(value)
					return []byte(s), err
				}
			} else if name == "body-mime" {
				return nil, nil, errors.New("two mails")
			} else if slices.Contains(small, name) && len(value) <= 3000 {
				value, err := url.QueryUnescape(value)
				if err == nil {
					err = add(name, value)
				}
				if err != nil {
					return nil, nil, err
				}
			}
		}
	case "multipart/form-data":
		parts := multipart.NewReader(r.Body, params["boundary"])
		for range 100 {
			p, err := parts.NextRawPart()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, nil, err
			}
			name, most := p.FormName(), int64(1000)
			if name == "body-mime" {
				most = a.o.MaxBytes
			} else if !slices.Contains(small, name) {
				continue
			}
			value, err := io.ReadAll(io.LimitReader(p, most+1))
			switch {
			case err != nil:
				return nil, nil, err
			case int64(len(value)) > most:
				return nil, nil, errTooLarge
			case name != "body-mime":
				err = add(name, string(value))
			case content != nil:
				err = errors.New("two mails")
			default:
				content = func() ([]byte, error) { return value, nil }
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	if content == nil {
		return nil, nil, errors.New("no mail")
	}
	return form, content, nil
}
