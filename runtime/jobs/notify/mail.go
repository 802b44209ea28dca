package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/internal/submit"
)

// mailChannel sends a mail of plain text.
type mailChannel struct {
	server submit.Server
	from   string
	clock  func() time.Time
}

func (c *mailChannel) check() error {
	if a, err := mail.ParseAddress(c.from); err != nil || a.Address != c.from {
		return errors.New("from is a bare mail address")
	}
	return c.server.Check()
}

func (c *mailChannel) send(ctx context.Context, m engine.Message, to []string) error {
	return c.deliver(ctx, to, c.compose(m, to))
}

func (c *mailChannel) try(ctx context.Context) error { return problem(c.server.Try(ctx)) }

// deliver hands a mail to the server, to its end.
func (c *mailChannel) deliver(ctx context.Context, to []string, text []byte) error {
	return problem(c.server.Deliver(ctx, c.from, to, text))
}

// problem says with our codes what a server of mail says.
func problem(err error) error {
	var f *submit.Error
	switch {
	case !errors.As(err, &f):
		return err
	case f.Sent:
		return &Error{Code: CodeUnknown, Text: f.Text}
	case f.Status == 0:
		return &Error{Code: CodeUnreachable, Text: f.Text}
	}
	return &Error{Code: CodeRefused, Text: f.Text}
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
	keys := slices.Sorted(maps.Keys(body.With))
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
