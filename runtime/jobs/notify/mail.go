package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/engine"
)

// mailChannel sends a mail of plain text.
type mailChannel struct {
	server, from, user, password string
	tls                          string // "starttls", the default; "tls" from the first byte; "none" within a network that is trusted
	clock                        func() time.Time
}

func (c *mailChannel) check() error {
	host, port, err := net.SplitHostPort(c.server)
	if err != nil || host == "" || port == "" {
		return errors.New("the server of mail is HOST:PORT")
	}
	if a, err := mail.ParseAddress(c.from); err != nil || a.Address != c.from {
		return errors.New("from is a bare mail address")
	}
	switch {
	case !slices.Contains([]string{"", "starttls", "tls", "none"}, c.tls):
		return fmt.Errorf("tls is starttls, tls or none, not %q", c.tls)
	case c.tls == "none" && c.user != "":
		return errors.New("a password is not sent without TLS")
	case (c.user == "") != (c.password == ""):
		return errors.New("user and password-env go together")
	}
	return nil
}

func (c *mailChannel) send(ctx context.Context, m engine.Message, to []string) error {
	return c.deliver(ctx, to, c.compose(m, to))
}

// deliver hands a mail to the server, to its end.
func (c *mailChannel) deliver(ctx context.Context, to []string, text []byte) error {
	host, _, _ := net.SplitHostPort(c.server)
	unreachable := func(doing string) error { return &Error{Code: CodeUnreachable, Text: doing} }
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.server)
	if err != nil {
		return unreachable("no connection to the mail server")
	}
	defer conn.Close()
	// Whatever ends the context ends the talk.
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	settings := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if c.tls == "tls" {
		conn = tls.Client(conn, settings)
	}
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		return unreachable("the mail server does not greet")
	}
	if c.tls == "" || c.tls == "starttls" {
		if err := client.StartTLS(settings); err != nil {
			return answered(err, "the mail server offers no TLS that holds")
		}
	}
	if c.user != "" {
		if err := client.Auth(smtp.PlainAuth("", c.user, c.password, host)); err != nil {
			return answered(err, "the mail server does not accept the password")
		}
	}
	if err := client.Mail(c.from); err != nil {
		return answered(err, "the mail server does not accept the sender")
	}
	for _, rcpt := range to {
		if err := client.Rcpt(rcpt); err != nil {
			return answered(err, "the mail server does not accept a recipient")
		}
	}
	w, err := client.Data()
	if err != nil {
		return answered(err, "the mail server does not accept the message")
	}
	if _, err := w.Write(text); err != nil {
		return unreachable("the mail server went away before the message ended")
	}
	// The message ends here; from here on the server may have it.
	if err := w.Close(); err != nil {
		var said *textproto.Error
		if errors.As(err, &said) {
			return answered(err, "the mail server does not accept the message")
		}
		return &Error{Code: CodeUnknown, Text: "the message was sent and no answer came"}
	}
	_ = client.Quit() // it was accepted, whatever the answer to QUIT
	return nil
}

// answered tells a refusal from a connection that broke.
func answered(err error, text string) error {
	var said *textproto.Error
	if !errors.As(err, &said) {
		return &Error{Code: CodeUnreachable, Text: text}
	}
	return &Error{Code: CodeRefused, Text: fmt.Sprintf("%s (%d)", text, said.Code)}
}

// compose writes the mail: the fields that the palette sends along, and the call.
func (c *mailChannel) compose(m engine.Message, to []string) []byte {
	var body struct {
		Verb, Call string
		With       map[string]json.RawMessage
	}
	_ = json.Unmarshal([]byte(m.Body), &body) // what cannot be read is left out
	b := c.head(m.ID, m.Target+": "+body.Verb, to)
	text := quotedprintable.NewWriter(b)
	keys := make([]string, 0, len(body.With))
	for k := range body.With {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		value := string(body.With[k])
		var s string
		if json.Unmarshal(body.With[k], &s) == nil {
			value = s
		}
		fmt.Fprintf(text, "%s: %s\r\n", k, oneLine(value))
	}
	fmt.Fprintf(text, "\r\n%s\r\n\r\n%s, %s\r\n", body.Call, m.ID, m.Time.UTC().Format(time.RFC3339))
	_ = text.Close()
	return b.Bytes()
}

// head begins a mail that a program sends.
func (c *mailChannel) head(id, subject string, to []string) *bytes.Buffer {
	b := &bytes.Buffer{}
	header := func(name, value string) { fmt.Fprintf(b, "%s: %s\r\n", name, value) }
	_, domain, _ := strings.Cut(c.from, "@")
	header("From", c.from)
	header("To", strings.Join(to, ", "))
	header("Subject", mime.QEncoding.Encode("utf-8", oneLine(subject)))
	header("Date", c.clock().UTC().Format(time.RFC1123Z))
	header("Message-ID", "<"+id+"@"+domain+">")
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	header("Auto-Submitted", "auto-generated")
	b.WriteString("\r\n")
	return b
}

// A Letter is a mail to one person, in words of its own.
type Letter struct{ ID, To, Subject, Text string }

// Letters is the target whose route names the channel of letters. It names no recipient: each letter
// does.
const Letters = "letters"

// Writes reports whether letters can be sent.
func (s *Sender) Writes() bool { return s.letters != nil }

// Letter sends a letter. An *Error says why it could not.
func (s *Sender) Letter(ctx context.Context, l Letter) error {
	if s.letters == nil {
		return &Error{Code: CodeNoRoute, Text: "no route says where letters go"}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	b := s.letters.head(l.ID, l.Subject, []string{l.To})
	text := quotedprintable.NewWriter(b)
	_, _ = text.Write([]byte(strings.ReplaceAll(l.Text, "\n", "\r\n")))
	_ = text.Close()
	return s.letters.deliver(ctx, []string{l.To}, b.Bytes())
}
