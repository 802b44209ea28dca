// World plays everybody who writes to the example's installation: it is WhatsApp, the mail
// servers of people, and the DNS that vouches for them. It starts `verbatim serve` with
// channels that lead to it, plays scenarios line by line and writes down what was said.
//
//	world -inbox deals@kiisha.example -out said scenarios/*.jsonl
//
// A line of a scenario is JSON:
//
//	{"by": "whatsapp", "from": "491515550199", "text": "status of UMZA-1"}
//	{"by": "mail", "from": "ada@umza.example", "subject": "Solar", "text": "…", "file": "permit.pdf"}
//	{"by": "mail", "from": "ada@umza.example", "reply": true, "text": "yes"}
//	{"by": "whatsapp", "from": "491515550199", "tap": "Yes"}
//	{"by": "mail", "from": "eve@evil.example", "as": "ada@umza.example", "text": "…"}    forged
//	{"run": "agree.sh", "says": "Max agrees on the portal"}
//	{"pause": 3}
//
// Each line waits for the answers that it names ("answers", by default 1).
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-message/mail"
	"github.com/emersion/go-msgauth/dkim"
	"github.com/emersion/go-smtp"
	"golang.org/x/net/dns/dnsmessage"

	"verbatim/runtime/frontends/channel/whatsapp/cloudtest"
)

func main() {
	inbox := flag.String("inbox", "deals@kiisha.example", "the installation's address of mail")
	out := flag.String("out", ".", "the `folder` for what was said, a file for each scenario")
	flag.Parse()
	if err := run(*inbox, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const number = "106540352242922" // what WhatsApp calls the installation's number

type world struct {
	inbox string
	cloud *cloudtest.Server
	key   ed25519.PrivateKey
	port  string // of the installation's SMTP
	url   string // and its HTTP
	dir   string
	out   io.Writer

	mu    sync.Mutex
	mails []letter
	told  int // of the cloud's messages that were printed
	read  int // and of the mails
	last  map[string]letter
	n     int
}

// A letter is a mail that the installation sent.
type letter struct{ to, subject, text, id, references string }

func run(inbox, out string, scenarios []string) error {
	dir, err := os.MkdirTemp("", "world")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := &world{inbox: inbox, dir: dir, last: map[string]letter{}}
	if _, w.key, err = ed25519.GenerateKey(rand.Reader); err != nil {
		return err
	}
	dns, err := w.answerNames()
	if err != nil {
		return err
	}
	mails, err := w.takeMails()
	if err != nil {
		return err
	}
	w.cloud = cloudtest.New(cloudtest.Options{Token: "token", Secret: "secret", Verify: "verify", Number: number})
	api, err := listen()
	if err != nil {
		return err
	}
	go http.Serve(api, w.cloud) //nolint:errcheck // until the program ends
	smtpAt, err := listen()
	if err != nil {
		return err
	}
	w.port = smtpAt.Addr().String()
	smtpAt.Close() // for the installation
	_, domain, _ := strings.Cut(inbox, "@")
	config := map[string]any{"private": true,
		"whatsapp": map[string]any{"api": "http://" + api.Addr().String() + "/v23.0", "numbers": []string{number}, "token-env": "WA_TOKEN", "secret-env": "WA_SECRET", "verify-env": "WA_VERIFY", "media-hosts": []string{"127.0.0.1"}},
		"mail":     map[string]any{"domain": domain, "inboxes": []string{inbox}, "listen": w.port, "plain": true, "dns": dns, "submission": map[string]any{"server": mails, "security": "none"}}}
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "channels.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	serve := exec.Command("verbatim", "serve", "--listen", "127.0.0.1:0", "--log", "error")
	serve.Env = append(os.Environ(), "VERBATIM_CHANNELS="+file, "WA_TOKEN=token", "WA_SECRET=secret", "WA_VERIFY=verify", "VERBATIM_SCAN=none")
	serve.Stderr = os.Stderr
	pipe, err := serve.StdoutPipe()
	if err != nil {
		return err
	}
	if err := serve.Start(); err != nil {
		return err
	}
	defer func() {
		_ = serve.Process.Signal(os.Interrupt)
		_ = serve.Wait()
	}()
	lines := bufio.NewScanner(pipe)
	for w.url == "" && lines.Scan() {
		w.url = regexp.MustCompile(`http://\S+`).FindString(lines.Text())
	}
	if w.url == "" {
		return fmt.Errorf("verbatim serve did not start")
	}
	w.cloud.Webhook(w.url + "/channels/whatsapp")
	for _, name := range scenarios {
		f, err := os.Create(filepath.Join(out, strings.TrimSuffix(filepath.Base(name), ".jsonl")+".txt"))
		if err != nil {
			return err
		}
		w.out = f
		err = w.play(name)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

type line struct {
	By, From, As, Subject, Text, File, Tap, Run, Says string
	Reply, Unsigned                                   bool
	Pause                                             int // seconds, for what is done in the background
	Answers                                           *int
}

func (w *world) play(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		text := strings.TrimSpace(scan.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		var l line
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&l); err != nil {
			return err
		}
		if err := w.line(name, &l); err != nil {
			return err
		}
	}
	return scan.Err()
}

func (w *world) line(name string, l *line) error {
	switch {
	case l.Pause > 0:
		time.Sleep(time.Duration(l.Pause) * time.Second)
		return nil
	case l.Run != "":
		fmt.Fprintf(w.out, "(%s)\n", l.Says)
		cmd := exec.Command("bash", filepath.Join(filepath.Dir(name), l.Run))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w %s", l.Run, err, out)
		}
	case l.By == "whatsapp":
		if err := w.sayWhatsApp(name, l); err != nil {
			return err
		}
	case l.By == "mail":
		if err := w.sendMail(name, l); err != nil {
			return err
		}
	default:
		return fmt.Errorf("a line is by whatsapp or mail, or runs something")
	}
	want := 1
	if l.Answers != nil {
		want = *l.Answers
	}
	return w.hear(want)
}

func (w *world) sayWhatsApp(name string, l *line) error {
	ctx := context.Background()
	content, says := cloudtest.Text(l.Text), l.Text
	switch {
	case l.Tap != "":
		id := ""
		for _, s := range w.cloud.Sent() {
			for i, title := range s.Titles {
				if s.To == l.From && title == l.Tap {
					id = s.Choices[i]
				}
			}
		}
		if id == "" {
			return fmt.Errorf("%s was offered no %q", l.From, l.Tap)
		}
		content, says = cloudtest.Tap(id, l.Tap), "["+l.Tap+"]"
	case l.File != "":
		bytes, err := os.ReadFile(filepath.Join(filepath.Dir(name), l.File))
		if err != nil {
			return err
		}
		id, sum := w.cloud.Upload("application/pdf", bytes)
		content, says = cloudtest.File("document", id, "application/pdf", sum, filepath.Base(l.File), l.Text), strings.TrimSpace(l.Text+" <"+filepath.Base(l.File)+">")
	}
	fmt.Fprintf(w.out, "%s by WhatsApp: %s\n", l.From, says)
	_, status, err := w.cloud.Say(ctx, l.From, content)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the webhook answered %d", status)
	}
	return err
}

// sendMail sends a mail as the server of its sender's domain would, signed by it.
func (w *world) sendMail(name string, l *line) error {
	shown := l.From
	if l.As != "" {
		shown = l.As
	}
	w.n++
	var b bytes.Buffer
	head := func(k, v string) { fmt.Fprintf(&b, "%s: %s\r\n", k, v) }
	head("From", shown)
	head("To", w.inbox)
	head("Date", time.Now().Format(time.RFC1123Z))
	_, domain, _ := strings.Cut(l.From, "@")
	head("Message-Id", fmt.Sprintf("<%d.%d@%s>", w.n, os.Getpid(), domain))
	subject := l.Subject
	if l.Reply {
		last, ok := w.last[shown]
		if !ok {
			return fmt.Errorf("%s got no mail to reply to", shown)
		}
		if subject == "" {
			subject = "Re: " + strings.TrimPrefix(last.subject, "Re: ")
		}
		head("In-Reply-To", last.id)
		head("References", strings.TrimSpace(last.references+" "+last.id))
	}
	head("Subject", subject)
	head("Mime-Version", "1.0")
	says := l.Text
	if l.File == "" {
		head("Content-Type", "text/plain; charset=utf-8")
		head("Content-Transfer-Encoding", "quoted-printable")
		b.WriteString("\r\n")
		q := quotedprintable.NewWriter(&b)
		fmt.Fprint(q, strings.ReplaceAll(l.Text, "\n", "\r\n"))
		q.Close()
		b.WriteString("\r\n")
	} else {
		file, err := os.ReadFile(filepath.Join(filepath.Dir(name), l.File))
		if err != nil {
			return err
		}
		says = strings.TrimSpace(says + " <" + filepath.Base(l.File) + ">")
		const edge = "--=_edge"
		head("Content-Type", `multipart/mixed; boundary="`+edge[2:]+`"`)
		fmt.Fprintf(&b, "\r\n%s\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s\r\n%s\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=%q\r\nContent-Transfer-Encoding: base64\r\n\r\n", edge, l.Text, edge, filepath.Base(l.File))
		text := base64.StdEncoding.EncodeToString(file)
		for len(text) > 76 {
			b.WriteString(text[:76] + "\r\n")
			text = text[76:]
		}
		fmt.Fprintf(&b, "%s\r\n%s--\r\n", text, edge)
	}
	fmt.Fprintf(w.out, "%s by mail, %q: %s\n", shown, subject, strings.ReplaceAll(says, "\n", " / "))
	signed := b.Bytes()
	if !l.Unsigned {
		var out bytes.Buffer
		err := dkim.Sign(&out, bytes.NewReader(signed), &dkim.SignOptions{Domain: domain, Selector: "world", Signer: w.key,
			HeaderKeys: []string{"From", "To", "Date", "Subject", "Message-Id", "In-Reply-To", "References", "Mime-Version", "Content-Type", "Content-Transfer-Encoding"}})
		if err != nil {
			return err
		}
		signed = out.Bytes()
	}
	c, err := smtp.Dial(w.port)
	for end := time.Now().Add(5 * time.Second); err != nil && time.Now().Before(end); c, err = smtp.Dial(w.port) {
		time.Sleep(20 * time.Millisecond) // until it listens
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Hello(domain); err != nil {
		return err
	}
	return c.SendMail(l.From, []string{w.inbox}, bytes.NewReader(signed))
}

// hear prints what the installation sends, until as many messages came as are wanted; and
// then waits a little for one too many.
func (w *world) hear(want int) error {
	heard := 0
	for end := time.Now().Add(20 * time.Second); heard < want || want == 0; {
		heard += w.print()
		if heard < want {
			if time.Now().After(end) {
				return fmt.Errorf("%d messages were sent, and %d are wanted", heard, want)
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		break
	}
	time.Sleep(300 * time.Millisecond)
	if heard += w.print(); heard != want {
		return fmt.Errorf("%d messages were sent, and %d are wanted", heard, want)
	}
	fmt.Fprintln(w.out)
	return nil
}

// print prints what was sent since, and returns how many messages that are.
func (w *world) print() (n int) {
	sent := w.cloud.Sent()
	for ; w.told < len(sent); w.told++ {
		s := sent[w.told]
		fmt.Fprintf(w.out, "  to %s by WhatsApp: %s\n", s.To, indented(s.Text))
		if len(s.Titles) > 0 {
			fmt.Fprintf(w.out, "    [%s]\n", strings.Join(s.Titles, "] ["))
		}
		n++
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for ; w.read < len(w.mails); w.read++ {
		m := w.mails[w.read]
		w.last[m.to] = m
		fmt.Fprintf(w.out, "  to %s by mail, %q: %s\n", m.to, m.subject, indented(m.text))
		n++
	}
	return n
}

// changing is what differs from one run to the next.
var waits = regexp.MustCompile(`waits until [^.]*`)

var changing = regexp.MustCompile(`(?:[\pL-]+ )?\b\d{1,2}\.? (?:de )?\pL+ (?:de )?20\d\d\b|\b[0-9a-f]{4}-[0-9a-f]{4}\b|\d{2}:\d{2}\b`)

func indented(text string) string {
	text = waits.ReplaceAllString(text, "waits until …")
	text = changing.ReplaceAllString(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "…")
	return strings.ReplaceAll(text, "\n", "\n    ")
}

// takeMails is the server that the installation hands its mails to.
func (w *world) takeMails() (at string, err error) {
	l, err := listen()
	if err != nil {
		return "", err
	}
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailbox{w: w}, nil }))
	s.Domain = "world.example"
	go s.Serve(l) //nolint:errcheck // until the program ends
	return l.Addr().String(), nil
}

type mailbox struct {
	w  *world
	to []string
}

func (m *mailbox) Reset()                               { m.to = nil }
func (m *mailbox) Logout() error                        { return nil }
func (m *mailbox) Mail(string, *smtp.MailOptions) error { return nil }
func (m *mailbox) Rcpt(to string, _ *smtp.RcptOptions) error {
	m.to = append(m.to, to)
	return nil
}

func (m *mailbox) Data(r io.Reader) error {
	e, err := mail.CreateReader(r)
	if err != nil {
		return err
	}
	part, err := e.NextPart()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(part.Body)
	if err != nil {
		return err
	}
	subject, _ := e.Header.Subject()
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	for _, to := range m.to {
		m.w.mails = append(m.w.mails, letter{to, subject, string(text), e.Header.Get("Message-Id"), e.Header.Get("References")})
	}
	return nil
}

// answerNames is a DNS in which every domain vouches for its mail with the world's key, but
// for those of evil.example, which cannot vouch for others.
func (w *world) answerNames() (at string, err error) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	record := "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(w.key.Public().(ed25519.PublicKey))
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Header.Response, m.Header.RecursionAvailable, m.Additionals = true, true, nil
			if q.Type == dnsmessage.TypeTXT && strings.HasPrefix(q.Name.String(), "world._domainkey.") {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60}, Body: &dnsmessage.TXTResource{TXT: []string{record}}}}
			} else {
				m.Header.RCode = dnsmessage.RCodeNameError
			}
			if out, err := m.Pack(); err == nil {
				_, _ = pc.WriteTo(out, from)
			}
		}
	}()
	return pc.LocalAddr().String(), nil
}
