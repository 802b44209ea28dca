package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/state/contact"
)

func (s *Submission) check() error {
	if s.Server == "" {
		return nil // it only receives
	}
	host, port, _ := net.SplitHostPort(s.Server)
	switch {
	case host == "" || port == "":
		return errors.New("the server that sends mail is HOST:PORT")
	case s.Security != "" && s.Security != "starttls" && s.Security != "tls" && s.Security != "none":
		return fmt.Errorf("security is starttls, tls or none, not %q", s.Security)
	case s.Security == "none" && s.User != "":
		return errors.New("a password is not sent without TLS")
	case (s.User == "") != (s.Password == ""):
		return errors.New("a user and a password go together")
	}
	return nil
}

// plainID is the shape of a delivery's ID, which becomes part of a Message-ID.
var plainID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`) })

// again matches the prefix of the subject of a reply.
var again = regexp.MustCompile(`(?i)^(re|aw|sv|rv|r[eé]p)\s*:`)

// Send implements channel.Adapter. The Message-ID is made of the delivery's ID, so that a mail
// that is sent twice is the same mail.
func (a *Adapter) Send(ctx context.Context, o channel.Out) (id string, err error) {
	refused := func(text string) (string, error) {
		return "", &channel.Failure{Code: "refused", Text: text, Permanent: true}
	}
	from, ok := a.inbox(o.Inbox)
	to, err := contact.Mail(o.To)
	switch {
	case a.o.Submission.Server == "":
		return refused("no server sends mail")
	case !ok:
		return refused("the mail would come from an address that is not ours")
	case err != nil:
		return refused("the address of the recipient is malformed")
	case !plainID().MatchString(o.ID):
		return refused("the ID of the delivery cannot be part of a Message-ID")
	case o.Template != nil:
		return refused("mails have no templates")
	}
	// The letters of an address before its @ may matter to its own server.
	if at := strings.LastIndexByte(o.To, '@'); !foreign(o.To[:at]) && !strings.ContainsAny(o.To, "\r\n<>() ") {
		to = o.To[:at] + to[strings.LastIndexByte(to, '@'):]
	}
	id = "<" + o.ID + "@" + a.o.Domain + ">"
	if err := a.deliver(ctx, from, to, a.compose(o, id, from, to)); err != nil {
		return "", err
	}
	return id, nil
}

// compose writes a mail.
func (a *Adapter) compose(o channel.Out, id, from, to string) []byte {
	var b bytes.Buffer
	header := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
	}
	subject := oneLine(o.Subject, 200)
	if (o.ReplyTo != "" || len(o.References) > 0) && !again.MatchString(subject) {
		subject = strings.TrimSpace("Re: " + subject)
	}
	replies := messageID(o.ReplyTo)
	header("From", from)
	header("To", to)
	header("Subject", strings.ReplaceAll(mime.QEncoding.Encode("utf-8", subject), "?= =?", "?=\r\n =?"))
	header("Date", a.o.Clock().UTC().Format(time.RFC1123Z))
	header("Message-ID", id)
	header("In-Reply-To", replies)
	header("References", strings.Join(messageIDs(strings.Join(append(o.References[:len(o.References):len(o.References)], replies), " ")), "\r\n "))
	header("Auto-Submitted", "auto-replied")
	header("X-Auto-Response-Suppress", "All")
	header("X-Verbatim-Delivery", o.ID)
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	b.WriteString("\r\n")
	text := strings.TrimRight(o.Text, "\n") + "\n"
	for i, c := range o.Choices {
		if i == 0 {
			text += "\n"
		}
		text += strconv.Itoa(i+1) + ") " + oneLine(c.Title, 200) + "\n"
		if c.More != "" {
			text += "   " + oneLine(c.More, 200) + "\n"
		}
	}
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")))
	_ = w.Close()
	return b.Bytes()
}

// deliver hands a mail to the server that sends it.
func (a *Adapter) deliver(ctx context.Context, from, to string, text []byte) error {
	s := a.o.Submission
	host, _, _ := net.SplitHostPort(s.Server)
	ctx, cancel := context.WithTimeout(ctx, 2*a.o.Timeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Server)
	if err != nil {
		return failure(err, "no connection to the mail server")
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // the library sets deadlines of its own
	settings := s.TLS.Clone()
	if settings == nil {
		settings = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if settings.ServerName == "" {
		settings.ServerName = host
	}
	if s.Security == "tls" {
		conn = tls.Client(conn, settings)
	}
	var c *smtp.Client
	if s.Security == "tls" || s.Security == "none" {
		c = smtp.NewClient(conn)
		err = c.Hello(a.o.Domain)
	} else {
		c, err = smtp.NewClientStartTLS(conn, settings)
	}
	if err == nil && s.User != "" {
		err = c.Auth(sasl.NewPlainClient("", s.User, s.Password))
	}
	if err != nil {
		f := failure(err, "the mail server does not let us in")
		f.Permanent = false // it is not for the mail that it refuses
		return f
	}
	if err := c.Mail(from, &smtp.MailOptions{UTF8: foreign(from) || foreign(to)}); err != nil {
		return failure(err, "the mail server does not accept the sender")
	}
	if err := c.Rcpt(to, nil); err != nil {
		return failure(err, "the mail server does not accept the recipient")
	}
	w, err := c.Data()
	if err != nil {
		return failure(err, "the mail server does not accept the mail")
	}
	if _, err := w.Write(text); err != nil {
		return failure(err, "the mail server went away before the mail ended")
	}
	// The mail ends here; from here on the server may have it.
	if err := w.Close(); err != nil {
		f := failure(err, "the mail server does not accept the mail")
		if f.Code == unreachable {
			f.Text, f.Unknown = "the mail was sent and no answer came", true
		}
		return f
	}
	_ = c.Quit() // the mail was accepted before, so this answer does not matter
	return nil
}

// unreachable is the code for a server that was not there or broke the connection.
const unreachable = "unreachable"

// failure distinguishes a refusal, permanent or not, from a broken connection.
func failure(err error, text string) *channel.Failure {
	var said *smtp.SMTPError
	if !errors.As(err, &said) {
		return &channel.Failure{Code: unreachable, Text: text}
	}
	return &channel.Failure{Code: strconv.Itoa(said.Code), Text: fmt.Sprintf("%s (%d)", text, said.Code), Permanent: said.Code/100 == 5}
}

// foreign reports whether a text holds more than ASCII.
func foreign(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
