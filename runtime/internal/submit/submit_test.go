package submit

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// certificate makes a certificate that signs itself, and the settings of who trusts it.
func certificate(t *testing.T, host string, until time.Time) (tls.Certificate, *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: until.Add(-48 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, &tls.Config{RootCAs: pool, ServerName: "mail.bank.example"}
}

// A mailServer answers one session: with TLS where it has a certificate, from the first byte if wraps is set.
type mailServer struct {
	cert  *tls.Certificate
	wraps bool
	login string // what it answers to AUTH
}

// serve serves one session, and returns what greetings it got.
func (m mailServer) serve(t *testing.T) (address string, greeted chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	greeted = make(chan string, 4)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { conn.Close() }()
		secure := func() { conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*m.cert}}) }
		if m.wraps {
			secure()
		}
		fmt.Fprint(conn, "220 mail\r\n")
		in := bufio.NewReader(conn)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch word {
			case "EHLO":
				greeted <- rest
				offers := "250-mail\r\n"
				if m.cert != nil && !m.wraps {
					offers += "250-STARTTLS\r\n"
				}
				fmt.Fprint(conn, offers+"250 AUTH PLAIN\r\n")
			case "STARTTLS":
				fmt.Fprint(conn, "220 go on\r\n")
				secure()
				in = bufio.NewReader(conn)
			case "AUTH":
				fmt.Fprint(conn, m.login+"\r\n")
			case "MAIL":
				fmt.Fprint(conn, "550 not you\r\n")
			default:
				fmt.Fprint(conn, "221 bye\r\n")
			}
		}
	}()
	return l.Addr().String(), greeted
}

// What keeps a mail from leaving is told by its cause, with the host: by a trial as by a mail, whose sender is
// not to blame. It greets with the name that it is given.
func TestWhyAMailDoesNotLeaveIsTold(t *testing.T) {
	t.Parallel()
	good, trusts := certificate(t, "mail.bank.example", time.Now().Add(time.Hour))
	other, trustsOther := certificate(t, "other.example", time.Now().Add(time.Hour))
	over, trustsOver := certificate(t, "mail.bank.example", time.Now().Add(-time.Hour))
	const own = "portal.bank.example"
	for name, c := range map[string]struct {
		server   mailServer
		security string
		trusts   *tls.Config
		user     string
		says     string
	}{
		"well":           {mailServer{cert: &good, login: "235 welcome"}, "", trusts, "portal", ""},
		"wrapped":        {mailServer{cert: &good, wraps: true, login: "235 welcome"}, "tls", trusts, "portal", ""},
		"an authority":   {mailServer{cert: &good}, "", &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "mail.bank.example"}, "", "signed by an authority that this machine does not know; SSL_CERT_FILE"},
		"wrapped too":    {mailServer{cert: &good, wraps: true}, "tls", &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "mail.bank.example"}, "", "signed by an authority that this machine does not know; SSL_CERT_FILE"},
		"a name":         {mailServer{cert: &other}, "", trustsOther, "", "its certificate is not for this name"},
		"an end":         {mailServer{cert: &over}, "", trustsOver, "", "its certificate has expired"},
		"no TLS":         {mailServer{}, "", nil, "", "offers no STARTTLS, and mail leaves with TLS alone"},
		"no TLS at once": {mailServer{}, "tls", nil, "", "what listens there does not begin with TLS"},
		"a login":        {mailServer{cert: &good, login: "535 no"}, "", trusts, "portal", `does not take the user "portal" with the password (535)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, do := range []func(*Server) error{
				func(s *Server) error { return s.Try(t.Context()) },
				func(s *Server) error {
					return s.Deliver(t.Context(), "a@bank.example", []string{"b@bank.example"}, nil)
				},
			} {
				address, greeted := c.server.serve(t)
				s := &Server{Address: address, User: c.user, Security: c.security, TLS: c.trusts, Hello: own}
				if c.user != "" {
					s.Password = "secret"
				}
				err := do(s)
				var f *Error
				switch {
				case c.says == "" && err == nil:
				case c.says == "" && errors.As(err, &f) && f.Status == 550 && !f.Server:
				case c.says == "" || !errors.As(err, &f) || !f.Server || !strings.Contains(f.Text, c.says) || !strings.Contains(f.Text, address):
					t.Errorf("%v", err)
				}
				if c.says != "" {
					continue
				}
				last := ""
				for len(greeted) > 0 {
					last = <-greeted
				}
				if last != own {
					t.Errorf("it greets as %q, and is called %q", last, own)
				}
			}
		})
	}
	s := &Server{Address: "mail.bank.invalid:587"}
	if err := s.Try(t.Context()); err == nil || !strings.Contains(err.Error(), "mail.bank.invalid:587 cannot be reached: ") || strings.Contains(err.Error(), "dial tcp") {
		t.Error(err)
	}
}
