package mail

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"
	"verbatim/runtime/state/contact"

	"github.com/emersion/go-smtp"
	"golang.org/x/net/netutil"
)

// What one connection may do at most.
const (
	mostRecipients = 50
	mostMails      = 100
	mostRefused    = 10 // addresses that are not ours
)

// drain is how long connections may last when the context has ended.
const drain = 5 * time.Second

// Serve accepts mail on a port until the context ends, and then finishes the mails that come in, for a
// moment. A mail is acknowledged when the door has stored it; if the connection breaks before that, the
// server sends it again.
func (a *Adapter) Serve(ctx context.Context, l net.Listener) error {
	if a.o.TLS == nil && !a.o.Plain {
		return errors.New("mail is taken with TLS only, unless the options say plain")
	}
	sessions, cut := context.WithCancel(context.WithoutCancel(ctx)) // then mail is refused for now
	defer cut()
	s := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{a: a, ctx: sessions, conn: c}, nil
	}))
	s.Domain, s.TLSConfig, s.ErrorLog = a.o.Domain, a.o.TLS, silent{}
	s.MaxLineLength = int(a.o.MaxBytes) // programs write lines far above the 1,000 bytes of the standard
	s.MaxMessageBytes, s.MaxRecipients, s.EnableSMTPUTF8 = a.o.MaxBytes, mostRecipients, true
	s.ReadTimeout, s.WriteTimeout = a.o.Timeout, a.o.Timeout
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(mortal{netutil.LimitListener(l, a.o.Connections), 10 * a.o.Timeout}) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(sessions, drain)
	defer cancel()
	_ = s.Shutdown(ending) // what is left is told to come again
	return nil
}

// silent drops the library's log: what strangers do to a port is not our error.
type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// A mortal is a listener whose connections end after some time, however active they are.
type mortal struct {
	net.Listener
	life time.Duration
}

func (m mortal) Accept() (net.Conn, error) {
	c, err := m.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &ending{c, time.Now().Add(m.life)}, nil
}

type ending struct {
	net.Conn
	end time.Time
}

func (c *ending) by(t time.Time) time.Time {
	if t.IsZero() || t.After(c.end) {
		return c.end
	}
	return t
}

func (c *ending) SetDeadline(t time.Time) error      { return c.Conn.SetDeadline(c.by(t)) }
func (c *ending) SetReadDeadline(t time.Time) error  { return c.Conn.SetReadDeadline(c.by(t)) }
func (c *ending) SetWriteDeadline(t time.Time) error { return c.Conn.SetWriteDeadline(c.by(t)) }

// A session is one connection to our port.
type session struct {
	a              *Adapter
	ctx            context.Context
	conn           *smtp.Conn
	in             arrival
	mails, refused int
}

func (s *session) Reset()        { s.in = arrival{} }
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if _, secure := s.conn.TLSConnectionState(); !secure && !s.a.o.Plain {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "Must issue a STARTTLS command first"}
	}
	if s.mails++; s.mails > mostMails {
		return &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 7, 0}, Message: "Too many mails in one connection"}
	}
	s.in = arrival{envelope: from, null: from == "", helo: s.conn.Hostname()}
	if at, err := netip.ParseAddrPort(s.conn.Conn().RemoteAddr().String()); err == nil {
		s.in.ip = at.Addr().Unmap().WithZone("")
		s.in.relayed = slices.ContainsFunc(s.a.o.Relays, func(p netip.Prefix) bool { return p.Contains(s.in.ip) })
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	inbox, ok := s.a.inbox(contact.Spelled(to))
	if !ok {
		if s.refused++; s.refused > mostRefused {
			_ = s.conn.Conn().Close()
		}
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such mailbox here"}
	}
	if !slices.Contains(s.in.inboxes, inbox) {
		s.in.inboxes = append(s.in.inboxes, inbox)
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	_ = s.conn.Conn().SetReadDeadline(time.Now().Add(5 * s.a.o.Timeout)) // 25 MB take longer than a command
	raw, err := io.ReadAll(r)
	if errors.Is(err, smtp.ErrDataTooLarge) {
		return err
	}
	if err != nil {
		return later
	}
	return s.taken(raw)
}

var later = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "Try again later"}

// taken takes a mail, and says how it is answered.
func (s *session) taken(raw []byte) error {
	s.in.raw = raw
	switch err := s.a.take(s.ctx, s.in); {
	case err == nil:
		return nil
	case errors.Is(err, errNobody):
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: "The sender in From cannot be read: write one address, like Ada <ada@umza.example>"}
	}
	return later
}

// inbox returns an address in normalised form, and reports whether it is ours.
func (a *Adapter) inbox(address string) (string, bool) {
	n, err := contact.Mail(address)
	return n, err == nil && a.o.Inboxes(n)
}
