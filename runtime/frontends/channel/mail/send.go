package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/internal/submit"
	"verbatim/runtime/state/contact"
)

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
	case a.o.Submission.Address == "":
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
	if at := strings.LastIndexByte(o.To, '@'); !submit.Foreign(o.To[:at]) && !strings.ContainsAny(o.To, "\r\n<>() ") {
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
	}
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")))
	_ = w.Close()
	return b.Bytes()
}

// deliver hands a mail to the server that sends it.
func (a *Adapter) deliver(ctx context.Context, from, to string, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 2*a.o.Timeout)
	defer cancel()
	err := a.o.Submission.Deliver(ctx, from, []string{to}, text)
	var f *submit.Error
	if !errors.As(err, &f) {
		return err
	}
	code := "unreachable"
	if f.Status != 0 {
		code = strconv.Itoa(f.Status)
	}
	return &channel.Failure{Code: code, Text: f.Text, Unknown: f.Sent, Permanent: f.Status/100 == 5 && !f.Server}
}

// Try asks the server that sends mail whether it would take one; a server that only receives has none.
func (a *Adapter) Try(ctx context.Context) error {
	if a.o.Submission.Address == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*a.o.Timeout)
	defer cancel()
	return a.o.Submission.Try(ctx)
}
