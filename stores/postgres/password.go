package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Renew says where the URL of the database is read again when the server does not take the password: of
// those that read returns, each password is tried, the first before the others. Only passwords are taken
// from them.
func Renew(read func() []string) Option { return func(c *config) { c.renew = read } }

// passwords are those that a role has, or had a moment ago. A role is given another password at one
// moment, and programs learn of it at another: until both have happened, both are tried. It is a tracer,
// since that is told of each connection that is made, also of River's.
type passwords struct {
	read func() []string // URLs, as they are by now

	mu    sync.Mutex
	now   string   // that connections are made with
	known []string // that they were made with
}

// invalidPassword is the SQLSTATE of a password that the server does not take.
const invalidPassword = "28P01"

// newPasswords begins with the password of a pool's URL, and has the pool's connections made with what
// is the password then.
func newPasswords(c *pgxpool.Config, read func() []string) *passwords {
	p := &passwords{read: read, now: c.ConnConfig.Password, known: []string{c.ConnConfig.Password}}
	c.ConnConfig.Tracer = p
	c.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		c.Password = p.current()
		return nil
	}
	return p
}

func (p *passwords) current() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// acquire lends a connection of a pool. If the password is not taken, the others are tried, each once.
func (p *passwords) acquire(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	for tried := []string(nil); ; {
		with := p.current()
		pc, err := pool.Acquire(ctx)
		if tried = append(tried, with); err == nil || !invalid(err) || slices.Contains(tried, p.current()) {
			return pc, err
		}
	}
}

func invalid(err error) bool {
	var no *pgconn.PgError
	return errors.As(err, &no) && no.Code == invalidPassword
}

type shownPassword struct{}

// TraceConnectStart implements pgx.ConnectTracer.
func (p *passwords) TraceConnectStart(ctx context.Context, d pgx.TraceConnectStartData) context.Context {
	return context.WithValue(ctx, shownPassword{}, d.ConnConfig.Password)
}

// TraceConnectEnd implements pgx.ConnectTracer.
func (p *passwords) TraceConnectEnd(ctx context.Context, d pgx.TraceConnectEndData) {
	if shown, ok := ctx.Value(shownPassword{}).(string); ok && invalid(d.Err) {
		p.turn(shown)
	}
}

// TraceQueryStart implements pgx.QueryTracer, without which there is no tracer.
func (p *passwords) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (p *passwords) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// turn goes on with the password behind one that was not taken, unless another connection has gone on
// meanwhile.
func (p *passwords) turn(from string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now != from {
		return
	}
	var all []string
	add := func(password string) {
		if !slices.Contains(all, password) {
			all = append(all, password)
		}
	}
	for _, url := range p.read() {
		if c, err := pgx.ParseConfig(url); err == nil { // which reads a file .pgpass again, too
			add(c.Password)
		}
	}
	for _, password := range p.known {
		add(password)
	}
	p.now = all[(slices.Index(all, from)+1)%len(all)]
	if !slices.Contains(p.known, p.now) { // they keep their order, or some would be tried twice and others never
		p.known = append([]string{p.now}, p.known[:min(len(p.known), 3)]...)
	}
}
