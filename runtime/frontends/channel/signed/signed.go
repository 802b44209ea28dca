// Package signed is the channel of other programs. They sign their messages as in Standard
// Webhooks (standardwebhooks.com, version 1), and receive the answers in the same way.
//
//	a, err := signed.New(signed.Options{Programs: programs, Door: door, Clock: time.Now})
//	mux.Handle("POST /channels/api/{program}", a)
//
// A program vouches for its own people: a sender is known by the program's name for them, with
// the program's URL as the issuer of the identity.
package signed

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	strictly "github.com/go-json-experiment/json"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/internal/proven"
	"verbatim/runtime/jobs/notify"
)

// Channel is the name of this channel.
const Channel = "api"

// MaxBody is the greatest size of a message, in bytes.
const MaxBody = 128 << 10

// A Program is a program that may post messages of its people.
type Program struct {
	Name   string // in the path
	Issuer string // the URL as the issuer of its people's identities
	Secret string // "whsec_…"; while another replaces it both, the newest first
	Reply  string // the URL to post answers to; "" if it wants none
}

// Options say which programs there are.
type Options struct {
	Programs []Program
	Door     channel.Door
	Clock    func() time.Time
	Private  bool // answers may go to addresses of the operator's own network, and by http
}

type program struct {
	Program
	keys [][]byte
}

// An Adapter is the channel of other programs.
type Adapter struct {
	o      Options
	byName map[string]*program
	byURL  map[string]*program
	poster *notify.Poster
}

var _ channel.Adapter = (*Adapter)(nil)

// New makes an adapter.
func New(o Options) (*Adapter, error) {
	a := &Adapter{o: o, byName: map[string]*program{}, byURL: map[string]*program{}, poster: notify.NewPoster(o.Private)}
	for _, p := range o.Programs {
		keys, err := notify.WebhookKeys(p.Secret)
		if err != nil {
			return nil, err
		}
		u, err := url.Parse(p.Issuer)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, errors.New("a program is known by a URL, such as https://crm.example")
		}
		if p.Name == "" || strings.ContainsAny(p.Name, "/ ") || a.byName[p.Name] != nil || a.byURL[p.Issuer] != nil {
			return nil, errors.New("each program has a name and a URL of its own, and no slash in its name")
		}
		if r, err := url.Parse(p.Reply); p.Reply != "" && (err != nil || r.Host == "" || r.Scheme != "https" && !(r.Scheme == "http" && o.Private)) {
			return nil, errors.New("answers are posted to https://HOST/PATH")
		}
		known := &program{p, keys}
		a.byName[p.Name], a.byURL[p.Issuer] = known, known
	}
	return a, nil
}

// Channel implements channel.Adapter.
func (a *Adapter) Channel() string { return Channel }

// Fetch implements channel.Adapter. Programs send no files.
func (a *Adapter) Fetch(context.Context, channel.File) (io.ReadCloser, error) {
	return nil, &channel.Failure{Code: "no-files", Text: "programs send no files", Permanent: true}
}

// old is how far the time of a message may differ from ours: ids are compared for longer than that,
// so that a replayed message is always recognised.
const old = 5 * time.Minute

// signed reports whether a program signed a body.
func (a *Adapter) signed(p *program, r *http.Request, body []byte) bool {
	id, stamp, signatures := r.Header.Values("Webhook-Id"), r.Header.Values("Webhook-Timestamp"), r.Header.Values("Webhook-Signature")
	if len(id) != 1 || len(stamp) != 1 || len(signatures) != 1 || id[0] == "" || len(id[0]) > 200 {
		return false
	}
	at, err := strconv.ParseInt(stamp[0], 10, 64)
	if err != nil || a.o.Clock().Sub(time.Unix(at, 0)).Abs() > old {
		return false
	}
	wanted := strings.Fields(notify.Sign(p.keys, id[0], at, body))
	return slices.ContainsFunc(strings.Fields(signatures[0]), func(one string) bool {
		return slices.ContainsFunc(wanted, func(want string) bool { return hmac.Equal([]byte(one), []byte(want)) })
	})
}

// ServeHTTP takes a message of a program.
func (a *Adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		http.Error(w, "the body is too large or broke off", http.StatusRequestEntityTooLarge)
		return
	}
	// A name that there is not is refused as a wrong signature is.
	p := a.byName[r.PathValue("program")]
	if p == nil || !a.signed(p, r, body) {
		http.Error(w, "the message is not signed by a program that is known here", http.StatusUnauthorized)
		return
	}
	var m struct{ Sender, Text, Thread, ReplyTo, Tapped string }
	// A member that is not read may say that these are another's words, or said elsewhere.
	// One that stands twice is read by each reader in its own way.
	if err := strictly.Unmarshal(body, &m, strictly.RejectUnknownMembers(true), strictly.MatchCaseInsensitiveNames(true)); err != nil || m.Sender == "" || len(m.Sender) > 300 || len(m.Thread) > 300 || len(m.ReplyTo) > 300 || len(m.Tapped) > 300 {
		http.Error(w, `a message is JSON like {"sender": "u-17", "text": "…", "thread": "t-1", "replyTo": "…", "tapped": "…"}, and nothing else`, http.StatusBadRequest)
		return
	}
	err = a.o.Door.Receive(r.Context(), proven.Prove(proven.Facts{Channel: Channel, Inbox: p.Issuer, ID: r.Header.Get("Webhook-Id"), Known: []proven.Identity{{Kind: p.Issuer, Subject: m.Sender}},
		From: m.Sender, At: a.o.Clock(), Kind: proven.Text, Text: m.Text, Thread: m.Thread, ReplyTo: m.ReplyTo, Tapped: m.Tapped}))
	if err != nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "the message could not be stored; send it again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// Send implements channel.Adapter.
func (a *Adapter) Send(ctx context.Context, o channel.Out) (string, error) {
	p := a.byURL[o.Inbox]
	if p == nil || p.Reply == "" {
		return "", &channel.Failure{Code: "no-reply", Text: "the program takes no answers", Permanent: true}
	}
	body, _ := json.Marshal(struct {
		ID      string           `json:"id"`
		To      string           `json:"to"`
		Text    string           `json:"text"`
		Answers string           `json:"answers,omitempty"`
		Choices []channel.Choice `json:"choices,omitempty"`
	}{o.ID, o.To, o.Text, o.ReplyTo, o.Choices})
	at := a.o.Clock().Unix()
	err := a.poster.Post(ctx, o.ID, p.Reply, map[string]string{"Content-Type": "application/json", "webhook-timestamp": strconv.FormatInt(at, 10), "webhook-signature": notify.Sign(p.keys, o.ID, at, body)}, body)
	var failed *notify.Error
	if errors.As(err, &failed) {
		return "", &channel.Failure{Code: failed.Code, Text: failed.Text, Permanent: failed.Permanent, Unknown: failed.Code == notify.CodeUnknown}
	}
	return o.ID, err
}
