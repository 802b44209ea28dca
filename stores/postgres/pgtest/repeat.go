package pgtest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Repeated says statements as the application's role, again and again, each time in a transaction that is
// rolled back.
type Repeated struct {
	Done, Refused atomic.Int64
	Stop          func()
	last          atomic.Pointer[string]
}

// Repeat begins to say statements, of which the first begins a transaction. It ends with the test, or when it is
// stopped.
func (d DB) Repeat(t testing.TB, statements string) *Repeated {
	t.Helper()
	r := &Repeated{}
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := pgx.Connect(ctx, d.App)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer conn.Close(context.Background())
		for ; ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
			_, err := conn.PgConn().Exec(ctx, statements).ReadAll()
			if _, back := conn.PgConn().Exec(ctx, "ROLLBACK").ReadAll(); err == nil {
				err = back
			}
			switch {
			case ctx.Err() != nil:
			case err != nil:
				said := fmt.Sprint(err)
				r.last.Store(&said)
				r.Refused.Add(1)
			default:
				r.Done.Add(1)
			}
		}
	}()
	r.Stop = func() { cancel(); <-ended }
	t.Cleanup(r.Stop)
	return r
}

// Last is the last error, "" if there was none.
func (r *Repeated) Last() string {
	if last := r.last.Load(); last != nil {
		return *last
	}
	return ""
}

// Until waits for n more, or until one is refused.
func (r *Repeated) Until(t testing.TB, n int64) {
	t.Helper()
	want := r.Done.Load() + n
	for end := time.Now().Add(20 * time.Second); r.Done.Load() < want && r.Refused.Load() == 0; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("statements that are repeated do not end")
		}
	}
}
