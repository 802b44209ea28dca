// Package whatsapp speaks the Cloud API of WhatsApp. An Adapter is the webhook that receives
// messages, and the sender of answers:
//
//	w, err := whatsapp.New(whatsapp.Options{
//		API: "https://graph.facebook.com/v23.0", Token: token, Secret: secret, Verify: verify,
//		Numbers: []string{"106540352242922"}, Door: door, Clock: time.Now, Log: log,
//	})
//	mux.Handle("/channels/whatsapp", w)
//	id, err := w.Send(ctx, channel.Out{ID: "d-1", Inbox: "106540352242922", To: "4915155501990", Text: "Hello."})
//
// A request is proved by the HMAC-SHA256 of its bytes under the secret of the app. Nothing of
// its body is decoded before. The signature is accepted in exactly one form: the header once,
// with "sha256=" and 64 hexadecimal digits in lower case. It may cover the bytes as they
// arrived, or the bytes with each non-ASCII character written as \uXXXX, which the sender is
// known to sign; the bytes that are decoded are the bytes that were signed.
//
// A request is acknowledged once the door has stored its content. Otherwise WhatsApp sends it
// again for seven days.
package whatsapp

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/protocols/dial"
)

// Channel is the name of the channel in facts, statuses and routes.
const Channel = "whatsapp"

// Options are the options of an Adapter.
type Options struct {
	API     string   // "https://graph.facebook.com/v23.0"
	Token   string   // bearer, of a system user
	Secret  string   // of the app, for signatures; while another replaces it both, with white space between them
	Verify  string   // the token with which the webhook is set up
	Numbers []string // phone_number_ids; messages to others are ignored
	// Ignore are members of messages, like "messages.new_thing", that are unknown here and change
	// nothing, as the operator knows.
	Ignore []string
	Door   channel.Door
	Clock  func() time.Time
	// Log is called with the kind and number of parts that were left out of a proven request, and
	// with nothing that anybody wrote. It may be nil.
	Log func(what string, times int)
	// Pick is the label of the button that opens a list, at most 20 characters. "" means "Choose".
	Pick string
	// MediaHosts are the hosts, with their subdomains, from which files are fetched. nil means
	// Meta's.
	MediaHosts []string
	// Private allows http and addresses outside the public internet, for tests.
	Private bool
	Timeout time.Duration // of one request; 30 seconds when zero
}

// An Adapter is the channel. It is safe for use by many goroutines.
type Adapter struct {
	opt    Options
	api    *http.Client
	media  *http.Client
	read   func(body []byte) (batch, error) // decode; tests examine its input
	broken atomic.Int64
}

var _ channel.Adapter = (*Adapter)(nil)

// New makes an adapter.
func New(o Options) (*Adapter, error) {
	u, err := url.Parse(o.API)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Scheme != "https" && !(u.Scheme == "http" && o.Private):
		return nil, errors.New("the API of WhatsApp is https://HOST/VERSION, such as https://graph.facebook.com/v23.0")
	case o.Token == "" || strings.TrimSpace(o.Secret) == "" || o.Verify == "":
		return nil, errors.New("WhatsApp needs a token, the secret of the app, and the word that the webhook is set up with")
	case len(o.Numbers) == 0 || slices.ContainsFunc(o.Numbers, func(n string) bool { return !plain(n) }):
		return nil, errors.New("WhatsApp needs the ids of its phone numbers, such as 106540352242922; they are not the numbers themselves")
	case utf8.RuneCountInString(o.Pick) > 20:
		return nil, errors.New("the button that opens a list has at most 20 letters")
	}
	o.API = strings.TrimSuffix(o.API, "/")
	o.Pick = cmp.Or(o.Pick, "Choose")
	if o.MediaHosts == nil {
		o.MediaHosts = []string{"lookaside.fbsbx.com", "facebook.com", "fbcdn.net", "whatsapp.net"}
	}
	if o.Log == nil {
		o.Log = func(string, int) {}
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	transport := dial.Transport(o.Private)
	a := &Adapter{opt: o}
	a.read = a.decode
	a.api = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a.media = &http.Client{Transport: transport, CheckRedirect: a.redirect}
	return a, nil
}

// Channel implements channel.Adapter.
func (a *Adapter) Channel() string { return Channel }

// Broken returns the number of messages, statuses and requests that were left out because they could
// not be read.
func (a *Adapter) Broken() int64 { return a.broken.Load() }

// plain reports whether an id can be part of a path.
func plain(id string) bool {
	return id != "" && len(id) <= 128 && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == ""
}
