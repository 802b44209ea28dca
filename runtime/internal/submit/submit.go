// Package submit hands mails to a server that sends them (RFC 6409).
package submit

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// A Server sends mails. Its methods may be called by many goroutines.
type Server struct {
	Address        string // HOST:PORT
	User, Password string
	// Security is "starttls", the default; "tls" from the first byte; "none" within a
	// network that is trusted.
	Security string
	TLS      *tls.Config // nil for the usual
	Hello    string      // the name that we say in EHLO; localhost when empty
}

// Check says what is wrong with the fields.
func (s *Server) Check() error {
	host, port, _ := net.SplitHostPort(s.Address)
	switch {
	case host == "" || port == "":
		return errors.New("the server that sends mail is HOST:PORT")
	case s.Security != "" && s.Security != "starttls" && s.Security != "tls" && s.Security != "none":
		return fmt.Errorf("TLS is starttls, tls or none, not %q", s.Security)
	case s.Security == "none" && s.User != "":
		return errors.New("a password is not sent without TLS")
	case (s.User == "") != (s.Password == ""):
		return errors.New("a user and a password go together")
	}
	return nil
}

// An Error tells why a mail was not sent. Its text holds nothing of the mail.
type Error struct {
	Text   string
	Status int  // of the server's refusal (RFC 5321); 0 where the connection broke
	Server bool // it refuses us, and not this mail
	Sent   bool // the mail was sent and no answer came: it may have arrived
}

func (e *Error) Error() string { return e.Text }

// failure distinguishes a refusal from a connection that broke.
func failure(err error, text string) *Error {
	var said *smtp.SMTPError
	if !errors.As(err, &said) {
		return &Error{Text: text}
	}
	return &Error{Text: fmt.Sprintf("%s (%d)", text, said.Code), Status: said.Code}
}

// Try opens a session as Deliver does, and sends nothing. The error is an *Error.
func (s *Server) Try(ctx context.Context) error {
	return s.session(ctx, func(*smtp.Client) error { return nil })
}

// Deliver hands over a mail, to its end. The error is an *Error.
func (s *Server) Deliver(ctx context.Context, from string, to []string, text []byte) error {
	return s.session(ctx, func(c *smtp.Client) error {
		if err := c.Mail(from, &smtp.MailOptions{UTF8: Foreign(from + strings.Join(to, ""))}); err != nil {
			return failure(err, "the mail server does not accept the sender")
		}
		for _, rcpt := range to {
			if err := c.Rcpt(rcpt, nil); err != nil {
				return failure(err, "the mail server does not accept the recipient")
			}
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
			if f.Status == 0 {
				f.Text, f.Sent = "the mail was sent and no answer came", true
			}
			return f
		}
		return nil
	})
}

// session says who we are, does what is wanted, and says goodbye.
func (s *Server) session(ctx context.Context, do func(*smtp.Client) error) error {
	fails := func(err error, what string) error {
		if cause := ctx.Err(); cause != nil {
			err = cause
		}
		f := failure(err, "the mail server "+s.Address+" "+what)
		f.Server = true
		if f.Status == 0 {
			f.Text += ": " + Because(err)
		}
		return f
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Address)
	if err != nil {
		return fails(err, "cannot be reached")
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // the library sets deadlines of its own
	settings := s.TLS.Clone()
	if settings == nil {
		settings = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if settings.ServerName == "" {
		settings.ServerName, _, _ = net.SplitHostPort(s.Address)
	}
	var c *smtp.Client
	switch s.Security {
	case "none":
		c = smtp.NewClient(conn)
	case "tls":
		secure := tls.Client(conn, settings)
		if err := secure.HandshakeContext(ctx); err != nil {
			return fails(err, "has no TLS that can be trusted")
		}
		c = smtp.NewClient(secure)
	default:
		if c, err = smtp.NewClientStartTLS(conn, settings); err != nil {
			if strings.Contains(err.Error(), "support STARTTLS") {
				return &Error{Text: "the mail server " + s.Address + " offers no STARTTLS, and mail leaves with TLS alone; \"tls\": \"tls\" is for a port that begins with it, \"none\" for a network that you trust", Server: true}
			}
			return fails(err, "does not begin TLS")
		}
	}
	// With STARTTLS the certificate is verified here.
	if err := c.Hello(cmp.Or(s.Hello, "localhost")); err != nil {
		var verified *tls.CertificateVerificationError
		if errors.As(err, &verified) {
			return fails(err, "has no TLS that can be trusted")
		}
		return fails(err, "does not greet us")
	}
	if s.User != "" {
		if err := c.Auth(sasl.NewPlainClient("", s.User, s.Password)); err != nil {
			return fails(err, "does not take the user "+strconv.Quote(s.User)+" with the password")
		}
	}
	if err := do(c); err != nil {
		return err
	}
	_ = c.Quit() // what was to be done is done, whatever the answer
	return nil
}

// Foreign reports whether a text holds more than ASCII.
func Foreign(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
