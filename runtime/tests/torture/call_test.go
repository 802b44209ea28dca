package torture

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
)

var errPulled = errors.New("pulled the plug")

// failing is a store whose nth call fails, or is the one during which whoever
// asked goes away.
type failing struct {
	stores.Store
	nth   int
	calls int
	leave context.CancelFunc // instead of failing, when set
}

func (f *failing) call() error {
	f.calls++
	switch {
	case f.calls != f.nth:
		return nil
	case f.leave != nil:
		f.leave()
		return nil
	}
	return errPulled
}

func (f *failing) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	if err := f.call(); err != nil {
		return err
	}
	return f.Store.View(ctx, scope, func(r stores.Reader) error {
		if err := fn(&failingReader{r, f}); err != nil {
			return err
		}
		return f.call()
	})
}

func (f *failing) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	if err := f.call(); err != nil {
		return err
	}
	err := f.Store.Update(ctx, scope, func(tx stores.Tx) error {
		if err := fn(&failingTx{tx, &failingReader{tx, f}}); err != nil {
			return err
		}
		return f.call()
	})
	return err
}

type failingReader struct {
	stores.Reader
	f *failing
}

func (r *failingReader) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	if err := r.f.call(); err != nil {
		return stores.Row{}, err
	}
	return r.Reader.Get(ctx, e, key)
}

func (r *failingReader) Find(ctx context.Context, find stores.Find) ([][]stores.Value, error) {
	if err := r.f.call(); err != nil {
		return nil, err
	}
	return r.Reader.Find(ctx, find)
}

func (r *failingReader) SQL(ctx context.Context, e []*stores.Entity, q stores.SQL) ([][]stores.Value, error) {
	if err := r.f.call(); err != nil {
		return nil, err
	}
	return r.Reader.SQL(ctx, e, q)
}

type failingTx struct {
	stores.Tx
	r *failingReader
}

func (t *failingTx) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	return t.r.Get(ctx, e, key)
}

func (t *failingTx) Find(ctx context.Context, find stores.Find) ([][]stores.Value, error) {
	return t.r.Find(ctx, find)
}

func (t *failingTx) SQL(ctx context.Context, e []*stores.Entity, q stores.SQL) ([][]stores.Value, error) {
	return t.r.SQL(ctx, e, q)
}

// SAFE-R4: for every kind of verb and on both stores, each call that the engine
// makes of its store fails in its turn, or the caller goes away during it. The
// script is done whole or not at all, as was said; and what the engine holds of
// the store, connections, transactions and goroutines, comes back.
//
// It is not run beside other tests, whose goroutines it would count.
func TestEveryCallFails(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		s, err := sqlite.Open(newFile(t), sqlite.Readers(1), sqlite.RowCap(many))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		everyCall(t, "SQLite", s, func() {})
	})
	t.Run("postgres", func(t *testing.T) {
		db := newDatabase(t)
		s, err := postgres.Open(context.Background(), db.App+"&pool_max_conns=1", postgres.RowCap(many), postgres.WithoutSealer()) // a sealer has transactions of its own
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		everyCall(t, "PostgreSQL", s, func() {
			if n, err := db.Open(); err != nil || n > 0 {
				t.Errorf("%d transactions are open (%v)", n, err)
			}
		})
	})
}

func everyCall(t *testing.T, kind string, s stores.Store, idle func()) {
	y := begin(t, "SAFE-R4", "the nth call of the store fails, "+kind, "faults")
	ctx := context.Background()
	kinds := []string{
		"bank.list-accounts",
		"bank.totals",
		`bank.move :from-id @acc0 :to-id @acc1 :amount 1 :tag "TAG/1" :part 1`,
		`bank.write :account-id @acc0 :text "x" :tag "TAG/1" :part 1`,
		`bank.see :account-id @acc0 :tag "TAG/1" :part 1`,
		`bank.tidy :account-id @acc0 :tag "TAG/1" :part 1`,
		`bank.round :a-id @acc0 :b-id @acc1 :c-id @acc2 :amount 1 :tag "TAG/2" :first 1 :second 2`,
		"bank.totals\n" + `bank.write :account-id @acc0 :text "x" :tag "TAG/2" :part 1` + "\n" + `bank.see :account-id @acc0 :tag "TAG/2" :part 2`,
		`BIG bank.move :from-id @acc0 :to-id @acc1 :amount 501 :tag "TAG/1" :part 1`,
	}
	var said []word
	judged := func() *verdict {
		v, err := judge(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		v.acknowledged(said)
		for _, wrong := range v.wrongs {
			y.wrong("%s", wrong)
		}
		return v
	}
	before := goruntime.NumGoroutine()
	for k, text := range kinds {
		for _, leave := range []bool{false, true} {
			for nth := 1; ; nth++ {
				f := &failing{Store: s}
				tess, err := sit(ctx, f, "tess", engine.Options{})
				if err != nil {
					t.Fatal(err)
				}
				mara, err := sit(ctx, f, "mara", engine.Options{})
				if err != nil {
					t.Fatal(err)
				}
				once, stop := context.WithCancel(ctx)
				tag := fmt.Sprintf("call%d.%d.%t", k, nth, leave)
				sc := script{text: strings.ReplaceAll(text, "TAG", tag)}
				sc.text, sc.big = strings.CutPrefix(sc.text, "BIG ")
				if at := strings.Index(sc.text, tag+"/"); at >= 0 {
					tag = sc.text[at : at+len(tag)+2]
				}
				sc.tag = tag
				f.calls, f.nth = 0, nth
				if leave {
					f.leave = stop
				}
				var reply *receipt.Receipt
				if sc.big {
					reply, err = tess.propose(once, mara, sc)
				} else {
					reply, err = tess.do(once, sc.text, tag)
				}
				what, rest := outcome(reply, err)
				stop()
				if strings.Contains(text, "TAG") {
					said = append(said, word{what, tag, rest})
				}
				if f.calls < nth {
					if what != saidAck {
						y.wrong("%q without a fault: %s %s", sc.text, what, rest)
					}
					break
				}
				y.try(1)
				if what == saidRefused {
					y.wrong("%q, fault %d: the person is told that it is their fault: %s", sc.text, nth, rest)
				}
			}
		}
		judged()
		idle()
	}
	// What went wrong leaves nobody waiting: a goroutine may take a moment to end.
	for wait := time.Millisecond; goruntime.NumGoroutine() > before+2 && wait < 5*time.Second; wait *= 2 {
		time.Sleep(wait)
	}
	if after := goruntime.NumGoroutine(); after > before+2 {
		y.wrong("%d goroutines, and %d before", after, before)
	}
	if v := judged(); len(v.done) < len(kinds)-2 {
		y.wrong("only %d scripts were done", len(v.done))
	}
}
