package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/storetest"
)

// A faultyStore fails where a test says so.
type faultyStore struct {
	stores.Store
	mu       sync.Mutex
	updates  int
	update   func(n int) error // before the nth Update
	commit   func(n int) error // instead of the nth commit, once everything was applied
	find     error             // of every Find without a path selection inside a transaction
	view     error
	checkSQL func(stores.SQL) error
	nth      int // fail the nth call of any kind, when above zero
	calls    int
	again    bool // a View that fails so runs again, as where a replica goes away
}

var errNth = errors.New("pulled the plug")

func (s *faultyStore) count() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.nth > 0 && s.calls == s.nth {
		return errNth
	}
	return nil
}

func (s *faultyStore) CheckSQL(ctx context.Context, e []*stores.Entity, q stores.SQL) error {
	if s.checkSQL != nil {
		return s.checkSQL(q)
	}
	return s.Store.CheckSQL(ctx, e, q)
}

func (s *faultyStore) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	if s.view != nil {
		return s.view
	}
	whole := s.calls < s.nth
	err := s.count()
	if err == nil {
		err = s.Store.View(ctx, scope, func(r stores.Reader) error { return fn(&faultyReader{r, s}) })
	}
	if s.again && whole && s.calls >= s.nth { // whatever fn made of the error
		return s.Store.View(ctx, scope, fn)
	}
	return err
}

func (s *faultyStore) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	if s.again {
		return s.Store.Update(ctx, scope, fn)
	}
	s.mu.Lock()
	s.updates++
	n := s.updates
	s.mu.Unlock()
	if s.update != nil {
		if err := s.update(n); err != nil {
			return err
		}
	}
	if err := s.count(); err != nil {
		return err
	}
	return s.Store.Update(ctx, scope, func(tx stores.Tx) error {
		if err := fn(&faultyTx{faultyReader{tx, s}, tx}); err != nil {
			return err
		}
		if s.commit != nil {
			if err := s.commit(n); err != nil {
				return err
			}
		}
		return s.count()
	})
}

type faultyReader struct {
	stores.Reader
	s *faultyStore
}

func (r *faultyReader) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	if err := r.s.count(); err != nil {
		return stores.Row{}, err
	}
	return r.Reader.Get(ctx, e, key)
}

func (r *faultyReader) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	if err := r.s.count(); err != nil {
		return nil, err
	}
	return r.Reader.Rows(ctx, e, keys)
}

func (r *faultyReader) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	whole := f.Select == nil || f.Limit == 0 && f.Select[len(f.Select)-1].Marks
	if r.s.find != nil && whole {
		return nil, r.s.find
	}
	if err := r.s.count(); err != nil {
		return nil, err
	}
	return r.Reader.Find(ctx, f)
}

func (r *faultyReader) Names(ctx context.Context, q stores.NameQuery) ([]stores.Name, error) {
	if err := r.s.count(); err != nil {
		return nil, err
	}
	return r.Reader.Names(ctx, q)
}

func (r *faultyReader) Together(ctx context.Context, asks []stores.Ask) error {
	return stores.OneByOne(ctx, r, asks)
}

func (r *faultyReader) SQL(ctx context.Context, e []*stores.Entity, q stores.SQL) ([][]stores.Value, error) {
	if err := r.s.count(); err != nil {
		return nil, err
	}
	return r.Reader.SQL(ctx, e, q)
}

type faultyTx struct {
	faultyReader
	tx stores.Tx
}

func (t *faultyTx) Apply(ctx context.Context, b stores.Batch) error {
	if err := t.s.count(); err != nil {
		return err
	}
	return t.tx.Apply(ctx, b)
}

func (t *faultyTx) Numbered() []stores.Entry { return t.tx.Numbered() }

func (t *faultyTx) Discard() { t.tx.Discard() }

func (t *faultyTx) Rewrites(ctx context.Context, e *stores.Entity) (bool, error) {
	return t.tx.Rewrites(ctx, e)
}

func (t *faultyTx) Draw(ctx context.Context, e *stores.Entity, field int) (stores.Value, error) {
	if err := t.s.count(); err != nil {
		return stores.Value{}, err
	}
	return t.tx.Draw(ctx, e, field)
}

func (w *world) faulty(s *faultyStore) {
	w.t.Helper()
	s.Store = w.store
	engine, err := engine.New(w.reg, s, engine.Options{Clock: w.now, NewID: w.newID})
	if err != nil {
		w.t.Fatal(err)
	}
	w.engine = engine
}

// Whatever the store fails at, and whenever, a script is done whole or not at
// all, and the person is told nothing of the inside.
func TestFailureAtEveryStoreCallLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const text = `lending.relend :loan-id @saw-bob :item-id @drill :member-id @bob
lending.close-late :member-id @ann
lending.count-loans
lending.list-items`
	before := w.state()
	for n := 1; ; n++ {
		s := &faultyStore{}
		w.faulty(s)
		session := w.session("kim")
		p := w.program(session, text)
		s.calls, s.nth = 0, n
		reply, err := session.Run(context.Background(), p, engine.RunOptions{})
		d := diff(w.entity, before, w.state())
		if err == nil {
			if s.calls >= n || len(d) == 0 || len(reply.Calls) != 4 {
				t.Fatalf("after %d of %d calls: %q", n, s.calls, d)
			}
			if n < 11 {
				t.Errorf("only %d store calls were tried", n-1)
			}
			t.Logf("%d store calls", n-1)
			return
		}
		if !errors.Is(err, errNth) {
			t.Fatalf("call %d: %v", n, err)
		}
		if said := engine.Sentence(err); strings.Contains(said, "plug") {
			t.Errorf("the person is told %q", said)
		}
		if len(d) > 0 || len(w.journal()) > 0 {
			t.Fatalf("call %d left %q and %d entries", n, d, len(w.journal()))
		}
	}
}

// A View that runs again, since the replica that it read went away at whichever call, tells the same as
// one that runs once. X4
func TestAViewThatRunsAgainTellsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crowd(1, 500, []string{"drill"})
	ctx := context.Background()
	s := &faultyStore{again: true}
	w.faulty(s)
	if _, err := w.session("kim").Run(ctx, w.program(w.session("kim"), "lending.lend :item-id @ladder :member-id @ann"), engine.RunOptions{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	tells := func(nth int) string {
		session := w.session("kim")
		repeated, _ := dsl.Parse(dsl.NewSource("test.dsl", "lending.lend :item-id @ladder :member-id @ann"))
		ambiguous, _ := dsl.Parse(dsl.NewSource("test.dsl", `lending.lose :item-id "DRILL"`))
		missing := w.program(session, "lending.note :loan-id \""+id(901).Text()+"\" :note \"a\"\nlending.note :loan-id \""+id(902).Text()+"\" :note \"b\"\nlending.note :loan-id \""+id(903).Text()+"\" :note \"c\"")
		looks := w.program(session, "lending.list-items\nlending.count-loans")
		s.calls, s.nth = 0, nth
		names, err := session.Names().All(ctx, w.reg.Entities())
		again, failed := session.Journal().Repeat(ctx, repeated, "k")
		_, ds := session.Check(ctx, ambiguous)
		_, refused := session.Run(ctx, missing, engine.RunOptions{})
		listed, wrong := session.Run(ctx, looks, engine.RunOptions{})
		if err = errors.Join(err, failed, wrong); err != nil {
			t.Fatalf("call %d: %v", nth, err)
		}
		return fmt.Sprint(names[w.reg.Entity("item")], again.ID, told(ds), refused, listed.Calls[0].Result.Rows, listed.Calls[1].Result.Rows)
	}
	want := tells(0)
	for n := 1; ; n++ {
		if got := tells(n); got != want {
			t.Errorf("call %d: %s\nwant %s", n, got, want)
		}
		if s.calls < n {
			break
		}
	}
}

// A conflict is tried again, a few times, and then told.
func TestConflictsAreTriedAgain(t *testing.T) {
	t.Parallel()
	for conflicts, works := range map[int]bool{1: true, 7: true, 8: false} {
		t.Run(fmt.Sprint(conflicts), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.faulty(&faultyStore{commit: func(n int) error {
				if n <= conflicts {
					return fmt.Errorf("row: %w", stores.ErrConflict)
				}
				return nil
			}})
			s := w.session("kim")
			before := w.state()
			_, err := s.Run(context.Background(), w.program(s, "lending.lose :item-id @drill"), engine.RunOptions{})
			if works {
				if err != nil {
					t.Fatal(err)
				}
				equal(t, diff(w.entity, before, w.state()), []string{`~ item ` + id(21).Text() + ` status="LOST"`})
				if n := len(w.journal()); n != 1 {
					t.Errorf("%d entries", n)
				}
				return
			}
			wantRefusal(t, err, "changed-meanwhile")
			equal(t, diff(w.entity, before, w.state()), nil)
		})
	}
}

// A conflict does not wear an agreement out: the plan is made again, and runs
// only if it is still the one that was agreed to.
func TestConflictAfterAgreementRunsOnlyWhatWasAgreed(t *testing.T) {
	t.Parallel()
	for _, moved := range []bool{false, true} {
		w := newWorld(t)
		w.faulty(&faultyStore{commit: func(n int) error {
			if n == 2 { // the first Update was the preview
				return stores.ErrConflict
			}
			return nil
		}, update: func(n int) error {
			if n == 3 && moved {
				w.set("reminder", 41, "text", str("moved"))
			}
			return nil
		}})
		s := w.session("kim")
		p := w.program(s, "lending.forget :reminder-id @saw-2025-01-11")
		preview, err := s.Preview(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(context.Background(), p, engine.RunOptions{Agreed: preview.ID})
		if moved {
			wantRefusal(t, err, "stale-preview")
		} else if err != nil {
			t.Error(err)
		}
	}
}

// A commit whose answer was lost is said to be unknown, not to have failed.
func TestLostAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.faulty(&faultyStore{commit: func(int) error { return stores.ErrUnknown }})
	s := w.session("kim")
	_, err := s.Run(context.Background(), w.program(s, "lending.lose :item-id @drill"), engine.RunOptions{})
	var failure *engine.Failure
	if !errors.As(err, &failure) || !failure.Unknown || !strings.Contains(engine.Sentence(err), "may or may not") {
		t.Errorf("%v: %s", err, engine.Sentence(err))
	}
}

// Many sessions at once give what one after the other would give.
func TestSessionsRunBesideOneAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shared := w.session("kim")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s := shared
			if i%2 == 0 {
				s = w.session("mia")
			}
			p := w.program(s, fmt.Sprintf(`lending.note :loan-id @saw-bob :note "n%d" :expected-date 2025-01-03`, i))
			if _, err := s.Preview(context.Background(), p); err != nil {
				t.Error(err)
			}
			if _, err := s.Run(context.Background(), p, engine.RunOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	reminders := 0
	for k := range w.state() {
		if strings.HasPrefix(k, "reminder ") {
			reminders++
		}
	}
	if entries := w.journal(); len(entries) != 8 || reminders != 2+8 {
		t.Errorf("%d entries, %d reminders", len(entries), reminders)
	}
	storetest.Whole(t, w.store, 8)
}
