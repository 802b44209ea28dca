// Package mail is the channel of mails: they come in by SMTP or from a provider, and answers
// go out by SMTP.
//
//	a, err := mail.New(mail.Options{Domain: "umza.example", Inboxes: ours, Door: door, Clock: time.Now})
//	go a.Serve(ctx, listener)
//
// A mail's sender is proven where the domain of its only From address vouches for it as DMARC
// asks: by a DKIM signature over what is read, or by SPF. Where it was
// forwarded and that broke, what a server found out that the operator listed counts, by a
// chain of seals (ARC) that is whole. All other mail is from a stranger, whatever it shows. Of Authentication-Results, only SPF is believed,
// because DKIM is verified here, and only where the operator's own server put it.
//
// Three things are settled for less than one may wish. A signature that leaves Content-Type
// out proves its sender, and what was written is sure only where the signature covers that it
// was sent to us. One that leaves Message-ID out gives the mail an ID made of what is signed,
// so that it cannot be sent again as another. One that leaves In-Reply-To out proves nothing
// of the thread; the IDs of our mails are secret enough for that.
package mail

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"net/netip"
	"strings"
	"time"

	"verbatim/runtime/channel"
	"verbatim/runtime/channel/contact"
	"verbatim/runtime/channel/internal/proven"
)

// Channel is what this channel is called.
const Channel = "mail"

// Options say whose mail is taken, and how it comes and goes.
type Options struct {
	Domain  string                    // of the Message-IDs that we write
	Inboxes func(address string) bool // reports whether a normalised address is ours
	Door    channel.Door
	Clock   func() time.Time
	DNS     Resolver // nil is the system's

	// AuthServID is the name that the operator's own mail server signs its
	// Authentication-Results with; "" believes none. That server has to put one into each
	// mail and remove those of others with its name (RFC 8601, section 5).
	AuthServID string
	// Relays are the addresses of the operator's own mail servers, for mail that they hand
	// on to our port. From anywhere else, results are ignored there.
	Relays []netip.Prefix

	// Sealers are the domains whose servers are believed of the mail that they forwarded and
	// sealed (ARC): they have to refuse what is forged.
	Sealers []string

	TLS         *tls.Config   // of our port
	Plain       bool          // takes mail without TLS, on a loopback or behind a proxy
	MaxBytes    int64         // of one mail; 25 MB
	Connections int           // to our port at once; 32
	Timeout     time.Duration // of one command; 1 minute. A connection lives ten times as long.

	SigningKey string // of Mailgun's webhooks
	// Once reports whether a token of such a webhook comes with what it first came with, to
	// whatever process of this installation. It has to be there beside a SigningKey.
	Once func(ctx context.Context, channel, token, with string) (bool, error)

	Submission Submission
}

// Submission is the server that sends our mail.
type Submission struct {
	Server         string // HOST:PORT
	User, Password string
	// Security is "starttls", the default; "tls" from the first byte; "none" within a
	// network that is trusted.
	Security string
	TLS      *tls.Config
}

// Resolver is the DNS. *net.Resolver is one.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// Adapter is the channel of mails.
type Adapter struct {
	o       Options
	reading chan struct{} // mails that are read at once
}

var _ channel.Adapter = (*Adapter)(nil)

// New makes the channel.
func New(o Options) (*Adapter, error) {
	domain, err := contact.Domain(o.Domain)
	switch {
	case err != nil:
		return nil, errors.New("the domain of Message-IDs is missing or malformed")
	case o.Inboxes == nil || o.Door == nil || o.Clock == nil:
		return nil, errors.New("mail needs inboxes, a door and a clock")
	case o.SigningKey != "" && o.Once == nil:
		return nil, errors.New("webhooks of mail need a store of their tokens")
	}
	if err := o.Submission.check(); err != nil {
		return nil, err
	}
	o.Domain = domain
	var sealers []string
	for _, sealer := range o.Sealers {
		domain, err := contact.Domain(sealer)
		if err != nil {
			return nil, fmt.Errorf("a sealer is a domain like lists.example, not %q", sealer)
		}
		sealers = append(sealers, domain)
	}
	o.Sealers = sealers
	if o.DNS == nil {
		o.DNS = net.DefaultResolver
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 25 << 20
	}
	if o.Connections == 0 {
		o.Connections = 32
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	return &Adapter{o: o, reading: make(chan struct{}, 4)}, nil
}

// Channel implements channel.Adapter.
func (a *Adapter) Channel() string { return Channel }

// Fetch implements channel.Adapter. Files of mails come with their bytes.
func (a *Adapter) Fetch(_ context.Context, f channel.File) (io.ReadCloser, error) {
	if f.Content == nil && f.Size > 0 {
		return nil, &channel.Failure{Code: "gone", Text: "the bytes of this file were not kept", Permanent: true}
	}
	return io.NopCloser(bytes.NewReader(f.Content)), nil
}

// An arrival is a mail as it came in, and what is known of its way.
type arrival struct {
	raw      []byte
	inboxes  []string // normalised
	envelope string   // MAIL FROM, where it is known
	null     bool     // MAIL FROM was empty: it is a bounce
	helo     string
	ip       netip.Addr // of the server that sent it, where it came straight from there
	relayed  bool       // the operator's mail server put results on top
}

// errLater says that a mail has to be sent again.
var errLater = errors.New("try again later")

// take proves who sent a mail and hands it to the door. After an error it is not safe.
func (a *Adapter) take(ctx context.Context, in arrival) error {
	select {
	case a.reading <- struct{}{}:
		defer func() { <-a.reading }()
	case <-ctx.Done():
		return errLater
	}
	h, body := readHead(in.raw)
	if h.count["x-verbatim-delivery"] > 0 || h.count["received"] > 30 {
		return nil // a loop
	}
	if status, ok := a.bounce(h, body); ok {
		return a.o.Door.Note(ctx, status)
	}
	p, err := a.prove(ctx, h, body, in)
	if err != nil {
		return err
	}
	f := a.facts(h, body, in, p)
	var all []channel.Message
	for _, inbox := range in.inboxes {
		f.Inbox, f.Others = inbox, h.others(inbox)
		all = append(all, proven.Prove(f))
	}
	return a.o.Door.Receive(ctx, all...)
}

const (
	mostReferences = 20
	mostOthers     = 50
)

// facts reads a mail.
func (a *Adapter) facts(h *head, body []byte, in arrival, p proof) proven.Facts {
	now := a.o.Clock()
	c := read(h, body)
	f := proven.Facts{
		Channel: Channel, ID: messageID(h.value("message-id")), Known: p.known, At: now, Kind: c.kind(), Text: c.own, Quoted: c.quoted,
		Unsure: c.unsure || p.loose, Automatic: automatic(h, in), ReplyTo: messageID(h.value("in-reply-to")), Subject: oneLine(decoded(h.value("subject")), 500),
		Files: c.files, TooMany: c.tooMany,
	}
	f.From, f.Name = h.answerTo()
	if at, _ := mail.ParseDate(h.value("date")); at.Sub(now).Abs() <= 24*time.Hour {
		f.At = at
	}
	if f.ID == "" || p.unnamed {
		f.ID = h.sum(body)
	}
	f.References = messageIDs(h.value("references"))
	switch {
	case len(f.References) > 0:
		f.Thread = f.References[0]
	case f.ReplyTo != "":
		f.Thread = f.ReplyTo
	default:
		f.Thread = f.ID
	}
	return f
}

// sum is an ID for a mail without one. What may change on the way or when the mail is sent
// again, such as white space and the servers that it passed, does not change it.
func (h *head) sum(body []byte) string {
	s := sha256.New()
	for _, name := range [...]string{"from", "subject", "date"} {
		io.WriteString(s, strings.Join(strings.Fields(h.value(name)), " ")+"\n")
	}
	for word := range bytes.FieldsSeq(body) {
		s.Write(append(word[:len(word):len(word)], ' '))
	}
	return "sha256:" + hex.EncodeToString(s.Sum(nil))
}
