// Package mail is the channel of mails: they come in by SMTP or from a provider, and answers
// go out by SMTP.
//
//	a, err := mail.New(mail.Options{Domain: "umza.example", Inboxes: ours, Door: door, Clock: time.Now})
//	go a.Serve(ctx, listener)
//
// A mail's sender is proven if the domain of its only From address vouches for it as DMARC
// demands: by a DKIM signature over the parts that are read, or by SPF. If a forwarder broke
// that, the results of a server that the operator listed count, if its chain of seals (ARC) is
// valid. All other mail is from an unknown sender, whatever it shows. Of
// Authentication-Results, only SPF is believed, because DKIM is verified here, and only if the
// operator's own server added it.
//
// Three compromises. A signature that omits Content-Type proves the sender; the text counts as
// sure only if the signature covers that the mail was sent to us. If a signature omits
// Message-ID, the mail gets an ID made from the signed parts, so that it cannot be sent again
// as another mail. A signature that omits In-Reply-To proves nothing about the thread; the IDs
// of our mails are secret enough for that.
package mail

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/internal/proven"
	"verbatim/runtime/internal/mimepart"
	"verbatim/runtime/internal/submit"
	"verbatim/runtime/state/contact"
)

// Channel is the name of this channel.
const Channel = "mail"

// Options say which mail is accepted, and how mail arrives and leaves.
type Options struct {
	Domain  string                    // of the Message-IDs that we write
	Inboxes func(address string) bool // reports whether a normalised address is ours
	Door    channel.Door
	Clock   func() time.Time
	DNS     Resolver                          // nil is the system's
	Log     func(message string, with ...any) // for the operator; nil is nowhere

	// AuthServID is the name with which the operator's own mail server adds its
	// Authentication-Results; "" believes none. That server has to add one to each mail, and remove
	// foreign ones with its name (RFC 8601, section 5).
	AuthServID string
	// Relays are the addresses of the operator's own mail servers, for mail that they forward to our
	// port. Results in mail from other addresses are ignored there.
	Relays []netip.Prefix

	// Sealers are the domains whose servers are trusted about the mail that they forwarded and
	// sealed (ARC): they have to refuse forged mail.
	Sealers []string

	TLS         *tls.Config   // of our port
	Plain       bool          // takes mail without TLS, on a loopback or behind a proxy
	MaxBytes    int64         // of one mail; 25 MB
	Connections int           // to our port at once; 32
	Timeout     time.Duration // of one command; 1 minute. A connection lives ten times as long.

	SigningKey string // of Mailgun's webhooks; while another replaces it both, with white space between them
	// Once reports whether a token of such a webhook comes with the same mail as the first time, in
	// any process of this installation. It is required with a SigningKey.
	Once func(ctx context.Context, channel, token, with string) (bool, error)

	Submission Submission // without an address nothing is sent
}

// Submission is the server that sends our mail.
type Submission = submit.Server

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
	reading chan struct{} // one slot for each mail that is being read
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
	if o.Submission != (Submission{}) { // else it only receives
		if err := o.Submission.Check(); err != nil {
			return nil, err
		}
	}
	o.Domain, o.Submission.Hello = domain, domain
	var sealers []string
	for _, sealer := range o.Sealers {
		domain, err := contact.Domain(sealer)
		if err != nil {
			return nil, fmt.Errorf("a sealer is a domain like lists.example, not %q", sealer)
		}
		sealers = append(sealers, domain)
	}
	o.Sealers = sealers
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if o.DNS == nil {
		o.DNS = net.DefaultResolver
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, 25<<20)
	o.Connections = cmp.Or(o.Connections, 32)
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
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

// An arrival is a mail as it arrived, with the facts about its transport.
type arrival struct {
	raw      []byte
	inboxes  []string // normalised
	envelope string   // MAIL FROM, if it is known
	null     bool     // MAIL FROM was empty: it is a bounce
	helo     string
	ip       netip.Addr // of the sending server, if the mail came directly from it
	relayed  bool       // the operator's mail server added its results on top
}

var (
	// errLater says that a mail has to be sent again.
	errLater = errors.New("try again later")
	// errNobody says that a mail is refused for good: nobody could be answered.
	errNobody = errors.New("the sender in From cannot be read")
)

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
	if from, _ := h.answerTo(); from == "" {
		a.o.Log("a mail was refused: the sender in From cannot be read", "envelope", oneLine(in.envelope, 320), "from", in.ip.String())
		return errNobody
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
	if err := a.o.Door.Receive(ctx, all...); err != nil {
		a.o.Log("a mail was not stored, and will come again", "error", err)
		return err
	}
	return nil
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
		Unsure: c.unsure || p.loose || h.replaces(), Automatic: automatic(h, in), ReplyTo: messageID(h.value("in-reply-to")), Subject: oneLine(mimepart.Text(h.value("subject")), 500),
		Files: c.files, TooMany: c.tooMany,
	}
	f.From, f.Name = h.answerTo()
	if h.count["date"] > 0 {
		at, err := mimepart.Date(h.value("date"))
		f.Unsure = f.Unsure || err != nil
		if at.Sub(now).Abs() <= 24*time.Hour {
			f.At = at
		}
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

// sum returns an ID for a mail without one. It does not depend on parts that may change on the way
// or when the mail is sent again, such as white space and relaying servers.
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
