package pgtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Traced collects statements.
type Traced struct {
	// Pool belongs to the application's role and has one connection, so that its
	// statements stand in one order.
	Pool *pgxpool.Pool

	mu   sync.Mutex
	said []string
}

// Trace notes every statement of a pool, and how many rows it was about.
func Trace(t testing.TB, db DB) *Traced {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(db.App)
	if err != nil {
		t.Fatal(err)
	}
	x := &Traced{}
	cfg.MaxConns, cfg.ConnConfig.Tracer = 1, x
	if x.Pool, err = pgxpool.NewWithConfig(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Pool.Close)
	return x
}

// Statements returns the statements sent since the last call: the text of each with the server's
// command tag or error.
func (x *Traced) Statements() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.said
	x.said = nil
	return all
}

func (x *Traced) note(sql string, answer fmt.Stringer, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.said = append(x.said, fmt.Sprintf("%s\n-- %s %v", sql, answer, err))
}

type traced struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (x *Traced) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, traced{}, d.SQL)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (x *Traced) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryEndData) {
	sql, _ := ctx.Value(traced{}).(string)
	x.note(sql, d.CommandTag, d.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (x *Traced) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (x *Traced) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	x.note(d.SQL, d.CommandTag, d.Err)
}

// TraceBatchEnd implements pgx.BatchTracer.
func (x *Traced) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
