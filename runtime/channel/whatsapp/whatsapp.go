// Package whatsapp speaks the Cloud API of WhatsApp. An Adapter is the webhook that messages
// arrive at, and the sender of answers:
//
//	w, err := whatsapp.New(whatsapp.Options{
//		API: "https://graph.facebook.com/v23.0", Token: token, Secret: secret, Verify: verify,
//		Numbers: []string{"106540352242922"}, Door: door, Clock: time.Now, Log: log,
//	})
//	mux.Handle("/channels/whatsapp", w)
//	id, err := w.Send(ctx, channel.Out{ID: "d-1", Inbox: "106540352242922", To: "4915155501990", Text: "Hello."})
//
// A request is proved by the HMAC-SHA256 of its bytes under the secret of the app. Nothing of
// its body is decoded before. The signature has one spelling, the one that is sent: the header
// once, "sha256=" and 64 digits of lower case. The bytes are proved as they arrived, or as
// they are with each letter that is not ASCII written as \uXXXX, which the sender is known to
// sign; the bytes that are decoded are the bytes that were signed.
//
// A request is acknowledged once the door has what it holds. One that is not acknowledged comes
// again for seven days.
package whatsapp

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"verbatim/runtime/channel"
	"verbatim/runtime/dial"
)

// Channel is what the channel is called, in facts, statuses and routes.
const Channel = "whatsapp"

// Options are what an Adapter is given from outside.
type Options struct {
	API     string   // "https://graph.facebook.com/v23.0"
	Token   string   // bearer, of a system user
	Secret  string   // of the app, for signatures
	Verify  string   // the word that the webhook is set up with
	Numbers []string // phone_number_ids: what comes for others is left alone
	Door    channel.Door
	Clock   func() time.Time
	// Log is told what was left out of a request that was proved, and how often. It is told
	// nothing that anybody wrote. nil is nobody.
	Log func(what string, times int)
	// Pick stands on the button that opens a list, in at most 20 letters. "" is "Choose".
	Pick string
	// MediaHosts are the hosts that files are fetched from, and those below them. nil is Meta's.
	MediaHosts []string
	// Private allows http, and addresses that are not of the public internet: for tests.
	Private bool
	Timeout time.Duration // of one request; 30 seconds when zero
}

// An Adapter is the channel. It is safe for use by many goroutines.
type Adapter struct {
	opt    Options
	api    *http.Client
	media  *http.Client
	read   func(body []byte) (batch, error) // decode; tests look at what it is given
	broken atomic.Int64
}

var _ channel.Adapter = (*Adapter)(nil)

// New makes an adapter.
func New(o Options) (*Adapter, error) {
	u, err := url.Parse(o.API)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Scheme != "https" && !(u.Scheme == "http" && o.Private):
		return nil, errors.New("the API of WhatsApp is https://HOST/VERSION, such as https://graph.facebook.com/v23.0")
	case o.Token == "" || o.Secret == "" || o.Verify == "":
		return nil, errors.New("WhatsApp needs a token, the secret of the app, and the word that the webhook is set up with")
	case len(o.Numbers) == 0 || slices.ContainsFunc(o.Numbers, func(n string) bool { return !plain(n) }):
		return nil, errors.New("WhatsApp needs the ids of its phone numbers, such as 106540352242922; they are not the numbers themselves")
	case utf8.RuneCountInString(o.Pick) > 20:
		return nil, errors.New("the button that opens a list has at most 20 letters")
	}
	o.API = strings.TrimSuffix(o.API, "/")
	if o.Pick == "" {
		o.Pick = "Choose"
	}
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

// Broken is how many messages, statuses and requests were left out because they could not be
// read.
func (a *Adapter) Broken() int64 { return a.broken.Load() }

// plain reports whether an id is one that can stand in a path.
func plain(id string) bool {
	return id != "" && len(id) <= 128 && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == ""
}
