package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/internal/submit"
	"verbatim/runtime/protocols/dial"
)

// WebhookKeys reads secrets as Standard Webhooks spells them, with white space between them: while one
// replaces another there are two, the newest first.
func WebhookKeys(secrets string) (keys [][]byte, err error) {
	for _, secret := range strings.Fields(secrets) {
		text, ok := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil || len(key) < 24 || len(key) > 64 {
			return nil, errSecret
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errSecret
	}
	return keys, nil
}

var errSecret = errors.New("a webhook needs a secret: whsec_ and 24 to 64 bytes in base64, in the variable that secret-env names")

// Sign makes the value of the header webhook-signature, with a signature of each key: whoever knows one
// of them can verify it.
func Sign(keys [][]byte, id string, at int64, body []byte) string {
	var all []string
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%d.%s", id, at, body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}

type webhook struct {
	url    string
	keys   [][]byte
	clock  func() time.Time
	client *http.Client
}

func newWebhook(to string, keys [][]byte, private bool, clock func() time.Time) *webhook {
	return &webhook{url: to, keys: keys, clock: clock, client: posts(private)}
}

// posts makes a client that dials addresses of the public internet alone, unless private.
func posts(private bool) *http.Client {
	return &http.Client{
		Transport:     dial.Transport(private),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (w *webhook) send(ctx context.Context, m engine.Message, _ []string) error {
	body := document(m)
	at := w.clock().Unix()
	return post(ctx, w.client, w.url, body, map[string]string{"Content-Type": "application/json", "webhook-id": m.ID,
		"webhook-timestamp": strconv.FormatInt(at, 10), "webhook-signature": Sign(w.keys, m.ID, at, body)})
}

// try asks the host for nothing: any answer shows that a notice could reach it.
func (w *webhook) try(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, w.url, nil)
	if err != nil {
		return &Error{Code: CodeUnreachable, Text: "the request cannot be made", Permanent: true}
	}
	req.Header.Set("User-Agent", "verbatim")
	resp, err := w.client.Do(req)
	switch {
	case errors.Is(err, dial.ErrPrivate):
		return &Error{Code: CodeRefused, Text: dial.ErrPrivate.Error() + `; "private": true allows it`, Permanent: true}
	case err != nil:
		return unreachable(req, err)
	}
	return resp.Body.Close()
}

// unreachable names the host alone: a path may be a secret.
func unreachable(req *http.Request, err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return &Error{Code: CodeUnreachable, Text: req.URL.Host + " cannot be reached: " + submit.Because(err)}
}

// A Poster posts to addresses from others, with the same checks as for webhooks. It sends the
// headers that the receiver wants, and signs nothing.
type Poster struct{ client *http.Client }

// NewPoster makes a poster for public internet addresses over https only, unless private is set.
func NewPoster(private bool) *Poster { return &Poster{posts(private)} }

// Post delivers a body. The header webhook-id holds the id, which is the same each time. An
// *Error says why it could not.
func (p *Poster) Post(ctx context.Context, id, to string, headers map[string]string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	all := map[string]string{"webhook-id": id}
	maps.Copy(all, headers)
	return post(ctx, p.client, to, body, all)
}

func post(ctx context.Context, client *http.Client, to string, body []byte, headers map[string]string) error {
	// Once a byte of the request may have left, whether it arrived is not known
	// until an answer comes.
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return &Error{Code: CodeUnreachable, Text: "the request cannot be made", Permanent: true}
	}
	req.Header.Set("User-Agent", "verbatim")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	switch {
	case errors.Is(err, dial.ErrPrivate):
		return &Error{Code: CodeRefused, Text: dial.ErrPrivate.Error() + `; "private": true allows it`, Permanent: true}
	case err != nil && sent.Load():
		return &Error{Code: CodeUnknown, Text: "it was sent and no answer came"}
	case err != nil:
		return unreachable(req, err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	return &Error{Code: CodeRefused, Text: fmt.Sprintf("the answer was %d", resp.StatusCode), Permanent: resp.StatusCode == http.StatusGone}
}
