// Package notify sends notices to channels: a log, mail, a webhook.
//
//	sender, err := notify.Read(file, notify.Options{Env: os.Getenv, Out: os.Stdout})
//	err = sender.Send(ctx, message)
//
// The operator routes notices to channels in a file of JSON:
//
//	{
//	  "channels": {
//	    "desk": {"kind": "smtp", "server": "mail.example:587", "from": "verbatim@bank.example", "user": "verbatim", "password-env": "SMTP_PASSWORD"},
//	    "flow": {"kind": "webhook", "url": "https://flow.example/in", "secret-env": "FLOW_SECRET"},
//	    "log":  {"kind": "log", "path": "-"}
//	  },
//	  "routes": {
//	    "assigned-analyst": {"channel": "desk", "to": ["analysts@bank.example"]},
//	    "internal-review-workflow": {"channel": "flow"},
//	    "*": {"channel": "log"}
//	  }
//	}
//
// A route is for a target, as named in palettes, and "*" for every target without one. A notice
// without a route is not lost: it waits. The route "letters" is for mail to one person, such as a
// link to sign in; it names a channel of mail and no recipient.
//
// # What is promised
//
// A notice is sent at least once. It has the same id each time, by which the receiver can
// recognise a second copy: the id of a line of the log, the Message-ID of a mail, the webhook-id
// of a request. Copies come about when a channel took the notice and its answer was lost; then
// the outcome is unknown, and an Error says so. There are never more copies than attempts.
//
// # Webhooks
//
// Requests are those of Standard Webhooks (standardwebhooks.com, version 1): POST, the headers
// webhook-id, webhook-timestamp and webhook-signature, and as the signature "v1," with the
// HMAC-SHA256, in base64, of the id, the timestamp in seconds and the body, joined by dots. The
// secret is "whsec_" and the key in base64; where there are two, each signs, and the header holds both
// signatures with a blank between them. Only an answer of 200 to 299 counts. Redirects are not
// followed. 410 means that the receiver is gone for good, and the notice is not retried.
//
// A webhook is sent with TLS to addresses of the public internet; the check applies to the dialled
// address, whatever its name was resolved to before. "private": true, for a service in the
// operator's own network, lifts both.
package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/internal/submit"
	"verbatim/verbs/strict"
)

// An Error tells why a notice was not delivered. Its text is for operators and holds nothing of the
// notice.
type Error struct {
	Code string // "no-route", "channel-unreachable", "channel-refused", "channel-unknown"
	Text string
	// Permanent says that retrying is pointless.
	Permanent bool
}

// The codes of an Error.
const (
	CodeNoRoute     = "no-route"            // no route leads anywhere for its target
	CodeUnreachable = "channel-unreachable" // nothing was sent
	CodeRefused     = "channel-refused"     // the channel said no
	CodeUnknown     = "channel-unknown"     // it was sent, and no answer came: it may have arrived
)

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Text }

// Options configure a Sender.
type Options struct {
	Env     func(string) string // for secrets
	Out     io.Writer           // of a log whose path is "-"
	Append  func(path string) (io.WriteCloser, error)
	Host    string // by which we greet a server of mail
	Clock   func() time.Time
	Timeout time.Duration // of one delivery; 30 seconds when zero
}

// A Sender delivers notices by its routes. It is safe for use by many
// goroutines.
type Sender struct {
	routes   map[string]route
	channels map[string]channel
	letters  *mailChannel // nil if no letters are sent
	timeout  time.Duration
}

type route struct {
	Channel string   `json:"channel"`
	To      []string `json:"to"`
}

// A channel sends one message. to is the route's, and may be empty.
type channel interface {
	send(ctx context.Context, m engine.Message, to []string) error
	// try finds out whether a message could be sent, and sends none.
	try(ctx context.Context) error
}

type channelConfig struct {
	Kind     string `json:"kind"`
	Path     string `json:"path"`
	Server   string `json:"server"`
	TLS      string `json:"tls"`
	From     string `json:"from"`
	User     string `json:"user"`
	Password string `json:"password-env"`
	URL      string `json:"url"`
	Secret   string `json:"secret-env"`
	Private  bool   `json:"private"`
}

// Read reads routes and channels. The error tells the fault of the file.
func Read(r io.Reader, o Options) (*Sender, error) {
	var file struct {
		Channels map[string]channelConfig `json:"channels"`
		Routes   map[string]route         `json:"routes"`
	}
	text, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return nil, err
	}
	if err := strict.JSON(text, &file); err != nil {
		return nil, err
	}
	s := &Sender{routes: file.Routes, channels: map[string]channel{}, timeout: o.Timeout}
	if s.timeout <= 0 {
		s.timeout = 30 * time.Second
	}
	for name, c := range file.Channels {
		made, err := c.open(o)
		if err != nil {
			return nil, fmt.Errorf("channel %q: %w", name, err)
		}
		s.channels[name] = made
	}
	for target, r := range file.Routes {
		c, ok := file.Channels[r.Channel]
		switch {
		case !ok:
			return nil, fmt.Errorf("route %q leads to the channel %q, which is not there", target, r.Channel)
		case target == Letters:
			if s.letters, ok = s.channels[r.Channel].(*mailChannel); !ok || len(r.To) > 0 {
				return nil, fmt.Errorf("route %q leads to mail, and says of itself to whom", target)
			}
		case c.Kind == "smtp" && len(r.To) == 0:
			return nil, fmt.Errorf("route %q leads to mail and does not say to whom", target)
		case c.Kind != "smtp" && len(r.To) > 0:
			return nil, fmt.Errorf("route %q says to whom, which only mail needs", target)
		}
		for _, to := range r.To {
			if a, err := mail.ParseAddress(to); err != nil || a.Address != to {
				return nil, fmt.Errorf("route %q: %q is not a bare mail address", target, to)
			}
		}
	}
	return s, nil
}

func (c *channelConfig) open(o Options) (channel, error) {
	secret := func(name, what string) (string, error) {
		if name == "" {
			return "", nil
		}
		v := o.Env(name)
		if v == "" {
			return "", fmt.Errorf("the environment has no %s, which should hold the %s, and no %s_FILE that can be read", name, what, name)
		}
		return v, nil
	}
	switch c.Kind {
	case "log":
		l := &logChannel{path: c.Path, out: o.Out, open: o.Append}
		if c.Path == "" {
			return nil, fmt.Errorf("a log needs a path; - is standard output")
		}
		return l, nil
	case "smtp":
		password, err := secret(c.Password, "password")
		if err != nil {
			return nil, err
		}
		m := &mailChannel{server: submit.Server{Address: c.Server, User: c.User, Password: password, Security: c.TLS, Hello: o.Host}, from: c.From, clock: o.Clock}
		return m, m.check()
	case "webhook":
		text, err := secret(c.Secret, "secret")
		if err != nil {
			return nil, err
		}
		keys, err := WebhookKeys(text)
		if err != nil {
			return nil, err
		}
		u, err := url.Parse(c.URL)
		switch {
		case err != nil || u.Host == "" || u.User != nil:
			return nil, fmt.Errorf("the url of a webhook is https://HOST/PATH, without a password in it")
		case u.Scheme != "https" && !(u.Scheme == "http" && c.Private):
			return nil, fmt.Errorf("a webhook is sent with https; \"private\": true allows http")
		}
		return newWebhook(c.URL, keys, c.Private, o.Clock), nil
	}
	return nil, fmt.Errorf("a channel is of kind log, smtp or webhook, not %q", c.Kind)
}

// Targets lists the targets that have a route of their own.
func (s *Sender) Targets() []string {
	return slices.Sorted(maps.Keys(s.routes))
}

// Channel returns the channel of notices to a target, "" for none or if the Sender is nil.
func (s *Sender) Channel(target string) string {
	if s == nil {
		return ""
	}
	return s.route(target).Channel
}

func (s *Sender) route(target string) route {
	if r, ok := s.routes[target]; ok {
		return r
	}
	return s.routes["*"]
}

// Send delivers a message. An *Error says why it could not.
func (s *Sender) Send(ctx context.Context, m engine.Message) error {
	r := s.route(m.Target)
	if r.Channel == "" {
		return &Error{Code: CodeNoRoute, Text: fmt.Sprintf("nothing says where notices to %s go", m.Target)}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.channels[r.Channel].send(ctx, m, r.To)
}

// Try finds out of each channel whether a message could be sent, and sends none: a server of mail lets us
// in, the host of a webhook answers, a log can be written.
func (s *Sender) Try(ctx context.Context) map[string]error {
	all := map[string]error{}
	for name, c := range s.channels {
		ctx, cancel := context.WithTimeout(ctx, s.timeout)
		all[name] = c.try(ctx)
		cancel()
	}
	return all
}

// document returns the written form of a message: one JSON object.
func document(m engine.Message) []byte {
	b, _ := json.Marshal(struct {
		ID     string          `json:"id"`
		Kind   string          `json:"kind"`
		Target string          `json:"target"`
		Time   time.Time       `json:"time"`
		Body   json.RawMessage `json:"body"`
	}{m.ID, m.Kind, m.Target, m.Time.UTC(), json.RawMessage(m.Body)})
	return b
}

// logChannel writes a line of JSON for each message.
type logChannel struct {
	path string
	out  io.Writer
	open func(path string) (io.WriteCloser, error)
	mu   sync.Mutex
}

func (l *logChannel) send(_ context.Context, m engine.Message, _ []string) error {
	line := append(document(m), '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.out
	if l.path != "-" {
		f, err := l.open(l.path)
		if err != nil {
			return &Error{Code: CodeUnreachable, Text: "the log cannot be opened"}
		}
		defer f.Close()
		w = f
	}
	if _, err := w.Write(line); err != nil {
		return &Error{Code: CodeUnknown, Text: "the log could not be written to its end"}
	}
	return nil
}

func (l *logChannel) try(context.Context) error {
	if l.path == "-" {
		return nil
	}
	f, err := l.open(l.path)
	if err != nil {
		return &Error{Code: CodeUnreachable, Text: "the log cannot be opened"}
	}
	return f.Close()
}

// oneLine keeps a text on its line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
