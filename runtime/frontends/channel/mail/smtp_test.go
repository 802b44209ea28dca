package mail

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"

	"github.com/emersion/go-smtp"
)

// serve starts a port and says where it is.
func serve(t testing.TB, a *Adapter) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// certified is a certificate for 127.0.0.1, and who trusts it.
func certified(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ours"}, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	cert, _ := x509.ParseCertificate(der)
	pool.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}}, &tls.Config{RootCAs: pool}
}

// code is that of an SMTP server's refusal, or 0.
func code(err error) int {
	var said *smtp.SMTPError
	if errors.As(err, &said) {
		return said.Code
	}
	return 0
}

func dial(t testing.TB, at string) *smtp.Client {
	t.Helper()
	c, err := smtp.Dial(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Hello("mail.umza.example"); err != nil {
		t.Fatal(err)
	}
	return c
}

// A mail is acknowledged when the door has it, one message for each inbox of ours.
func TestMailComesInBySMTP(t *testing.T) {
	t.Parallel()
	d := &door{}
	at := serve(t, testAdapter(t, d, nil))
	c := dial(t, at)
	raw := signed(t, plain, "umza.example", "s")
	if err := c.SendMail("ada@umza.example", []string{"Bot@Ours.example", "bot@ours.example", "help@ours.example"}, strings.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	if len(d.messages) != 2 || d.messages[0].Inbox != "bot@ours.example" || d.messages[1].Inbox != "help@ours.example" || d.messages[0].Known == nil || d.messages[0].Text != "Yes" {
		t.Fatalf("%+v", d.messages)
	}
	if others := d.messages[1].Others; len(others) != 2 || others[0] != "bot@ours.example" {
		t.Errorf("%v", others)
	}
	for _, to := range []string{"eve@ours.example", "bot@evil.example"} {
		if err := c.SendMail("ada@umza.example", []string{to}, strings.NewReader(raw)); code(err) != 550 {
			t.Errorf("%s: %v", to, err)
		}
		_ = c.Reset()
	}
	d.mu.Lock()
	d.err = errors.New("full")
	d.mu.Unlock()
	if err := c.SendMail("ada@umza.example", []string{"bot@ours.example"}, strings.NewReader(raw)); code(err) != 451 || len(d.messages) != 2 {
		t.Error(err)
	}
	d.mu.Lock()
	d.err = nil
	d.mu.Unlock()
	if err := c.SendMail("", []string{"bot@ours.example"}, strings.NewReader(plain)); err != nil || !d.messages[2].Automatic || d.messages[2].Known != nil {
		t.Error(err)
	}
	late := signed(t, plain, "umza.example", "late")
	if err := c.SendMail("ada@umza.example", []string{"bot@ours.example"}, strings.NewReader(late)); code(err) != 451 || len(d.messages) != 3 {
		t.Error(err)
	}
}

// What the connection says proves a sender by SPF, and results are believed of relays alone.
func TestThePeerIsWhoConnects(t *testing.T) {
	t.Parallel()
	z := world()
	z["umza.example"] = []string{"v=spf1 ip4:127.0.0.1 -all"}
	results := "Authentication-Results: mx.ours.example; spf=pass smtp.mailfrom=umza.example\r\n" + plain
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for name, c := range map[string]struct {
		dns    zone
		relays []netip.Prefix
		from   string
		mail   string
		known  bool
	}{
		"SPF":                  {z, nil, "ada@umza.example", plain, true},
		"SPF of another":       {z, nil, "eve@evil.example", plain, false},
		"no SPF":               {world(), nil, "ada@umza.example", plain, false},
		"results of a relay":   {world(), loopback, "x@y.example", results, true},
		"results of anybody":   {world(), nil, "x@y.example", results, false}, // SAFE-H3
		"a relay is no sender": {z, loopback, "ada@umza.example", plain, false},
		"another's relay":      {world(), []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, "x@y.example", results, false}, // SAFE-H3
	} {
		d := &door{}
		at := serve(t, testAdapter(t, d, func(o *Options) { o.DNS, o.Relays = c.dns, c.relays }))
		if err := dial(t, at).SendMail(c.from, []string{"bot@ours.example"}, strings.NewReader(c.mail)); err != nil {
			t.Fatal(name, err)
		}
		if (d.messages[0].Known != nil) != c.known {
			t.Errorf("%s: %+v", name, d.messages[0].Known)
		}
	}
}

// Without TLS nothing is taken, unless the options say so.
func TestMailIsTakenWithTLS(t *testing.T) {
	t.Parallel()
	server, client := certified(t)
	d := &door{}
	at := serve(t, testAdapter(t, d, func(o *Options) { o.TLS, o.Plain = server, false }))
	if err := dial(t, at).Mail("ada@umza.example", nil); code(err) != 530 {
		t.Error(err)
	}
	c, err := smtp.DialStartTLS(at, client)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SendMail("ada@umza.example", []string{"bot@ours.example"}, strings.NewReader(plain)); err != nil || len(d.messages) != 1 {
		t.Error(err)
	}
	if err := testAdapter(t, d, func(o *Options) { o.Plain = false }).Serve(t.Context(), nil); err == nil {
		t.Error("a port without TLS is opened")
	}
}

// Mails, recipients, connections and time are limited.
func TestThePortIsLimited(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	d := &door{}
	at := serve(t, testAdapter(t, d, nil))
	c := dial(t, at)
	if err := c.Mail("a@b.example", &smtp.MailOptions{Size: 50 << 20}); code(err) != 552 {
		t.Error(err)
	}
	if err := c.Mail("a@b.example", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Rcpt("bot@ours.example", nil); err != nil {
		t.Fatal(err)
	}
	w, err := c.Data()
	if err != nil {
		t.Fatal(err)
	}
	chunk := []byte(strings.Repeat(strings.Repeat("x", 1022)+"\r\n", 1024))
	for range 50 { // 50 MB
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); code(err) != 552 || len(d.messages) > 0 {
		t.Error(err)
	}

	if err = c.Mail("a@b.example", nil); err != nil {
		t.Fatal(err)
	}
	for range mostRecipients {
		if err = c.Rcpt("bot@ours.example", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err = c.Rcpt("bot@ours.example", nil); code(err) != 452 {
		t.Fatal(err)
	}
	_ = c.Reset()
	for i := 2; i < mostMails; i++ {
		if err = c.Mail("a@b.example", nil); err != nil {
			t.Fatal(i, err)
		}
		_ = c.Reset()
	}
	if err = c.Mail("a@b.example", nil); code(err) != 421 {
		t.Error(err)
	}

	c = dial(t, at)
	_ = c.Mail("a@b.example", nil)
	for range mostRefused {
		if err := c.Rcpt("eve@ours.example", nil); code(err) != 550 {
			t.Fatal(err)
		}
	}
	if err := c.Rcpt("eve@ours.example", nil); err == nil || code(err) != 0 {
		t.Errorf("who tries addresses goes on: %v", err)
	}
}

// A connection too many waits, and none lives for ever.
func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	at := serve(t, testAdapter(t, nil, func(o *Options) { o.Connections = 1 }))
	greeted := func(c net.Conn, wait time.Duration) bool {
		_ = c.SetReadDeadline(time.Now().Add(wait))
		line, _ := bufio.NewReader(c).ReadString('\n')
		return strings.HasPrefix(line, "220")
	}
	var all [2]net.Conn
	for i := range all {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all[i] = c
		if greeted(c, []time.Duration{10 * time.Second, 100 * time.Millisecond}[i]) != (i == 0) {
			t.Errorf("connection %d", i)
		}
	}
	all[0].Close()
	if !greeted(all[1], 10*time.Second) {
		t.Error("the second is never served")
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	served, err := mortal{l, 50 * time.Millisecond}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	for _, set := range []func(time.Time) error{served.SetDeadline, served.SetReadDeadline} {
		for _, until := range []time.Time{{}, time.Now().Add(time.Hour)} {
			_ = set(until)
			var timeout net.Error
			if _, err := served.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Error(err)
			}
		}
	}
	_ = served.SetWriteDeadline(time.Time{})
	if _, err := served.Write([]byte("x")); err == nil {
		t.Error("it can be written to")
	}
	_ = served.SetReadDeadline(time.Now().Add(-time.Hour))
	if served.(*ending).by(time.Unix(1, 0)) != time.Unix(1, 0) {
		t.Error("an earlier end is put off")
	}

	idle := serve(t, testAdapter(t, nil, func(o *Options) { o.Timeout = 50 * time.Millisecond }))
	silent, err := net.Dial("tcp", idle)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	r := bufio.NewReader(silent)
	_, _ = r.ReadString('\n')
	_ = silent.SetReadDeadline(time.Now().Add(450 * time.Millisecond)) // it would live for 500
	if line, _ := r.ReadString('\n'); !strings.HasPrefix(line, "421") {
		t.Errorf("a silent connection hears %q", line)
	}
}

// A mail whose sender cannot be read is refused for good, and the operator is told. // G18
func TestAMailOfNobodyIsRefusedForGood(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"", "From:\r\n", "From: Ada\r\n", "From: <>\r\n", "From: Ada <ada@umza.example\r\n", "From: ada@\r\n", "From: @umza.example\r\n", "From: Ada Lovelace ada@umza.example\r\n", "From: us:;\r\n", "From: undisclosed-recipients:;\r\n",
		"From: \"Ada <ada@umza.example>\r\n", "From: ada@umza..example\r\n", "From: ,\r\n", "From: =?utf-8?Q?Ada?=\r\n", "From: ada at umza.example\r\n", "From: (Ada)\r\n"} {
		d, logged := &door{}, 0
		a := testAdapter(t, d, func(o *Options) { o.Log = func(string, ...any) { logged++ } })
		raw := from + strings.SplitAfterN(plain, "\r\n", 2)[1]
		s := &session{a: a, ctx: t.Context(), in: arrival{inboxes: []string{"bot@ours.example"}, envelope: "ada@umza.example"}}
		if err := s.taken([]byte(raw)); code(err) != 550 || len(d.messages) != 0 || logged != 1 {
			t.Errorf("%q: %v, %d messages, %d lines in the log", from, err, len(d.messages), logged)
		}
		if got := post(t, a.Mailgun(), urlencoded, hook("secret", now, raw).Encode()); got != 406 {
			t.Errorf("%q: %d by a webhook", from, got)
		}
	}
}

// A mail that is under way when the port is given up is taken to its end, and no connection after it. // G88
func TestAMailUnderWayIsTaken(t *testing.T) {
	t.Parallel()
	d := &door{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- testAdapter(t, d, nil).Serve(ctx, l) }()
	c := dial(t, l.Addr().String())
	if err := errors.Join(c.Mail("ada@umza.example", nil), c.Rcpt("bot@ours.example", nil)); err != nil {
		t.Fatal(err)
	}
	w, err := c.Data()
	if err != nil {
		t.Fatal(err)
	}
	raw := signed(t, plain, "umza.example", "s")
	_, _ = io.WriteString(w, raw[:len(raw)/2])
	end()
	for gone := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		other, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		_ = other.Close()
		if time.Now().After(gone) {
			t.Fatal("the port is not given up")
		}
	}
	_, _ = io.WriteString(w, raw[len(raw)/2:])
	if err := w.Close(); err != nil {
		t.Errorf("a mail under way is refused: %v", err)
	}
	if err := c.Quit(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.messages) != 1 {
		t.Errorf("%d mails were taken", len(d.messages))
	}
}

// A mail with a line of more characters than the standard allows, as programs write them into HTML, is
// taken whole, and not told to come again for ever.
func TestALineOfAMailMayBeLong(t *testing.T) {
	t.Parallel()
	d := &door{}
	at := serve(t, testAdapter(t, d, nil))
	word := strings.Repeat("long ", 4000)
	raw := signed(t, strings.Replace(plain, "Yes", word+"end", 1), "umza.example", "s")
	if err := dial(t, at).SendMail("ada@umza.example", []string{"bot@ours.example"}, strings.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	if len(d.messages) != 1 || d.messages[0].Text != word+"end" || d.messages[0].Known == nil {
		t.Errorf("%.200q", fmt.Sprintf("%+v", d.messages))
	}
}
