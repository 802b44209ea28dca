package mail

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"verbatim/runtime/frontends/channel"
)

// A post office takes mail, and refuses what its code is for.
type office struct {
	refuse map[string]int // by command
	from   string
	to     []string
	mail   []byte
	user   string
	hello  string
}

func (o *office) NewSession(c *smtp.Conn) (smtp.Session, error) {
	o.hello = c.Hostname()
	return o, nil
}

func (o *office) Reset()                   {}
func (o *office) Logout() error            { return nil }
func (o *office) AuthMechanisms() []string { return []string{"PLAIN"} }

func (o *office) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if o.user = user; password != "right" {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (o *office) answer(command string) error {
	if code := o.refuse[command]; code > 0 {
		return &smtp.SMTPError{Code: code, Message: "what somebody wrote"}
	}
	return nil
}

func (o *office) Mail(from string, _ *smtp.MailOptions) error {
	o.from = from
	return o.answer("MAIL")
}

func (o *office) Rcpt(to string, _ *smtp.RcptOptions) error {
	o.to = append(o.to, to)
	return o.answer("RCPT")
}

func (o *office) Data(r io.Reader) (err error) {
	if o.mail, err = io.ReadAll(r); err != nil {
		return err
	}
	return o.answer("DATA")
}

// opens starts a post office.
func (o *office) opens(t *testing.T, config *tls.Config, first bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	s := smtp.NewServer(o)
	s.TLSConfig, s.EnableSMTPUTF8, s.ErrorLog, s.AllowInsecureAuth = config, true, silent{}, true
	if first {
		l, s.TLSConfig = tls.NewListener(l, config), nil
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return at
}

var out = channel.Out{ID: "01J-x.y_z", Inbox: "bot@ours.example", To: "Ada@umza.example", Text: "Shall I pay Müller?\n.\nFrom here", Choices: []channel.Choice{{ID: "y", Title: "Yes"}, {ID: "n", Title: "No"}},
	ReplyTo: "<m1@umza.example>", References: []string{"<d1@ours.example>"}, Subject: "Zahlung für Müller"}

// sent is the mail that a message becomes.
func sent(t *testing.T, o channel.Out) (string, *office) {
	t.Helper()
	p := &office{}
	at := p.opens(t, nil, false)
	a := testAdapter(t, nil, func(o *Options) { o.Submission = Submission{Address: at, Security: "none"} })
	id, err := a.Send(t.Context(), o)
	if err != nil || id != "<"+o.ID+"@ours.example>" {
		t.Fatal(id, err)
	}
	return string(p.mail), p
}

// A mail that goes out is the one that a golden file shows.
func TestAnswersGoOutAsMail(t *testing.T) {
	t.Parallel()
	got, p := sent(t, out)
	if *update {
		if err := os.WriteFile("testdata/out.txt", []byte(strings.ReplaceAll(got, "\r\n", "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/out.txt")
	if err != nil || strings.ReplaceAll(got, "\r\n", "\n") != string(want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if p.hello != "ours.example" || p.from != "bot@ours.example" || len(p.to) != 1 || p.to[0] != "Ada@umza.example" {
		t.Error(p.from, p.to)
	}
	// It is read as it was meant, and comes back to nobody.
	if c := read(readHead([]byte(got))); !strings.HasPrefix(c.own, "Shall I pay Müller?\n.\nFrom here\n\n1) Yes\n2) No") {
		t.Errorf("%q", c.own)
	}
	d := &door{}
	if err := testAdapter(t, d, nil).take(t.Context(), arrival{raw: []byte(got), inboxes: []string{"bot@ours.example"}}); err != nil || len(d.messages) > 0 {
		t.Error("it is taken for a message")
	}
}

// Whatever a message holds, it adds no header and no mail.
func TestNothingIsInjected(t *testing.T) {
	t.Parallel()
	o := out
	evil := "x\r\nBcc: eve@evil.example\r\n\r\n.\r\nRSET\r\n\x00"
	o.Subject, o.Text, o.ReplyTo, o.References = evil, evil, evil, []string{evil, "<ok@x>" + evil, strings.Repeat("<"+strings.Repeat("r", 200)+"@x> ", 30)}
	o.Choices = []channel.Choice{{Title: evil}}
	got, _ := sent(t, o)
	h, _ := readHead([]byte(got))
	if h.odd || h.count["bcc"] > 0 || h.count["subject"] != 1 || h.value("in-reply-to") != "" || len(h.fields) != 12 || h.count["references"] != 1 {
		t.Errorf("%+v", h)
	}
	o = out
	o.Subject = strings.Repeat("ü", 5000)
	o.References = nil
	for i := range 60 {
		o.References = append(o.References, "<"+strings.Repeat("r", 50+i)+"@x>")
	}
	got, _ = sent(t, o)
	for line := range strings.SplitSeq(got, "\r\n") {
		if len(line) > 998 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	if h, _ := readHead([]byte(got)); len(messageIDs(h.value("references"))) != mostReferences || !strings.HasSuffix(h.value("references"), "<m1@umza.example>") {
		t.Error(h.value("references"))
	}
	for subject, want := range map[string]string{"Re: x": "Re: x", "AW: x": "AW: x", "x": "Re: x", "": "Re:", "Regarding": "Re: Regarding"} {
		o.Subject = subject
		got, _ := sent(t, o)
		if h, _ := readHead([]byte(got)); h.value("subject") != want {
			t.Errorf("%q becomes %q", subject, h.value("subject"))
		}
	}
	o.Subject, o.ReplyTo = "x", ""
	if got, _ = sent(t, o); !strings.Contains(got, "Subject: Re: x\r\n") {
		t.Error("what only has references answers nothing")
	}
	o.ReplyTo, o.References = "<m1@umza.example>", nil
	if got, _ = sent(t, o); !strings.Contains(got, "Subject: Re: x\r\n") || !strings.Contains(got, "References: <m1@umza.example>\r\n") {
		t.Error("what answers a mail refers to none")
	}
	o.Subject, o.ReplyTo, o.References = "News", "", nil
	if got, _ = sent(t, o); !strings.Contains(got, "Subject: News\r\n") || strings.Contains(got, "References") {
		t.Error(got)
	}
	a := testAdapter(t, nil, func(o *Options) { o.Submission = Submission{Address: "127.0.0.1:1", Security: "none"} })
	for name, change := range map[string]func(*channel.Out){
		"an inbox of others":   func(o *channel.Out) { o.Inbox = "eve@evil.example" },
		"no inbox":             func(o *channel.Out) { o.Inbox = "" },
		"no recipient":         func(o *channel.Out) { o.To = "" },
		"two recipients":       func(o *channel.Out) { o.To = "a@b.example, c@d.example" },
		"a recipient's header": func(o *channel.Out) { o.To = "a@b.example\r\nBcc: c@d.example" },
		"an ID with a header":  func(o *channel.Out) { o.ID = "a\r\nBcc: c@d.example" },
		"no ID":                func(o *channel.Out) { o.ID = "" },
		"a template":           func(o *channel.Out) { o.Template = &channel.Template{Name: "x"} },
	} {
		o := out
		change(&o)
		var f *channel.Failure
		if id, err := a.Send(t.Context(), o); !errors.As(err, &f) || !f.Permanent || f.Code != "refused" || id != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	var f *channel.Failure
	if _, err := testAdapter(t, nil, nil).Send(t.Context(), out); !errors.As(err, &f) || !f.Permanent {
		t.Errorf("without a server: %v", err)
	}
}

// Addresses that are not ASCII reach the server as they are.
func TestAddressesOfOtherAlphabetsAreSentTo(t *testing.T) {
	t.Parallel()
	o := out
	for to, want := range map[string]string{"Ädä@Müller.example": "ädä@xn--mller-kva.example", "Ada@Müller.example": "Ada@xn--mller-kva.example", "A+b@umza.example.": "A+b@umza.example", `"a b"@umza.example`: "a b@umza.example", "Ada(x)@umza.example": "ada@umza.example"} {
		o.To = to
		if _, p := sent(t, o); p.to[0] != want {
			t.Errorf("%s is %s", to, p.to)
		}
	}
}

// A refusal says whether it is for good, and a lost answer that nobody knows.
func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command   string
		code      int
		permanent bool
	}{
		"the sender, for good":    {"MAIL", 550, true},
		"the sender, for now":     {"MAIL", 451, false},
		"the recipient, for good": {"RCPT", 550, true},
		"the recipient, for now":  {"RCPT", 450, false},
		"the mail, for good":      {"DATA", 554, true},
		"the mail, for now":       {"DATA", 452, false},
	} {
		p := &office{refuse: map[string]int{c.command: c.code}}
		at := p.opens(t, nil, false)
		_, err := testAdapter(t, nil, func(o *Options) { o.Submission = Submission{Address: at, Security: "none"} }).Send(t.Context(), out)
		var f *channel.Failure
		if !errors.As(err, &f) || f.Permanent != c.permanent || f.Unknown || f.Closed || f.Code == "unreachable" || strings.Contains(f.Text, "somebody wrote") {
			t.Errorf("%s: %+v", name, f)
		}
	}
	fails := func(name string, unknown bool, change func(*Options)) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := testAdapter(t, nil, change).Send(ctx, out)
		var f *channel.Failure
		if !errors.As(err, &f) || f.Permanent || f.Unknown != unknown {
			t.Errorf("%s: %+v", name, f)
		}
	}
	to := func(at, security string) func(*Options) {
		return func(o *Options) { o.Submission = Submission{Address: at, Security: security} }
	}
	fails("nobody is there", false, to("127.0.0.1:1", "none"))
	fails("no TLS is offered", false, to((&office{}).opens(t, nil, false), ""))
	server, client := certified(t)
	fails("a certificate of nobody's", false, to((&office{}).opens(t, server, false), "starttls"))
	fails("a certificate of nobody's, at once", false, to((&office{}).opens(t, server, true), "tls"))
	fails("a wrong password", false, func(o *Options) {
		o.Submission = Submission{Address: (&office{}).opens(t, server, false), TLS: client, User: "u", Password: "wrong"}
	})
	fails("it hangs up at once", false, to(hangsUp(t, ""), "none"))
	fails("it hangs up before the mail", false, to(hangsUp(t, "DATA"), "none"))
	fails("it hangs up after the mail", true, to(hangsUp(t, "."), "none"))
	fails("it never answers", false, func(o *Options) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		o.Submission, o.Timeout = Submission{Address: l.Addr().String(), Security: "none"}, 50*time.Millisecond
	})
	for name, s := range map[string]Submission{
		"nobody is there":  {Address: "127.0.0.1:1", Security: "none"},
		"a wrong password": {Address: (&office{}).opens(t, server, false), TLS: client, User: "u", Password: "wrong"},
	} {
		if err := testAdapter(t, nil, func(o *Options) { o.Submission = s }).Try(t.Context()); err == nil {
			t.Errorf("tried, %s: nothing is said", name)
		}
	}
	for security, first := range map[string]bool{"starttls": false, "tls": true} {
		p := &office{}
		at := p.opens(t, server, first)
		a := testAdapter(t, nil, func(o *Options) {
			o.Submission = Submission{Address: at, Security: security, TLS: client, User: "u", Password: "right"}
		})
		if err := a.Try(t.Context()); err != nil || len(p.mail) > 0 {
			t.Errorf("tried, %s: %v, %d mails", security, err, len(p.mail))
		}
		if _, err := a.Send(t.Context(), out); err != nil || p.user != "u" || len(p.mail) == 0 {
			t.Errorf("%s: %v", security, err)
		}
	}
}

// hangsUp is a server that goes away when it hears a line.
func hangsUp(t *testing.T, at string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if at == "" {
			return
		}
		_, _ = io.WriteString(c, "220 x\r\n")
		for in, data := bufio.NewScanner(c), false; in.Scan() && in.Text() != at; {
			switch {
			case in.Text() == "DATA":
				data = true
				_, _ = io.WriteString(c, "354 go\r\n")
			case !data:
				_, _ = io.WriteString(c, "250 ok\r\n")
			}
		}
	}()
	return l.Addr().String()
}

// Files come with their bytes.
func TestFilesAreFetched(t *testing.T) {
	t.Parallel()
	a := testAdapter(t, nil, nil)
	r, err := a.Fetch(t.Context(), channel.File{Size: 1, Content: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := io.ReadAll(r); !bytes.Equal(all, []byte("x")) {
		t.Errorf("%q", all)
	}
	if _, err := a.Fetch(t.Context(), channel.File{}); err != nil {
		t.Error(err)
	}
	var f *channel.Failure
	if _, err := a.Fetch(t.Context(), channel.File{Size: 1}); !errors.As(err, &f) || !f.Permanent {
		t.Error(err)
	}
}
