package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

// A countingStore counts what a run asks of it.
type countingStore struct {
	stores.Store
	gets, rows, finds, applies int
	batches                    [][]stores.Change
}

func (s *countingStore) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	return s.Store.Update(ctx, scope, func(tx stores.Tx) error { return fn(&countingTx{tx, s}) })
}

type countingTx struct {
	stores.Tx
	s *countingStore
}

func (t *countingTx) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	t.s.gets++
	return t.Tx.Get(ctx, e, key)
}

func (t *countingTx) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	t.s.rows++
	return t.Tx.Rows(ctx, e, keys)
}

func (t *countingTx) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	t.s.finds++
	return t.Tx.Find(ctx, f)
}

func (t *countingTx) Together(ctx context.Context, asks []stores.Ask) error {
	return stores.OneByOne(ctx, t, asks)
}

func (t *countingTx) Apply(ctx context.Context, b stores.Batch) error {
	t.s.applies++
	t.s.batches = append(t.s.batches, b.Changes)
	return t.Tx.Apply(ctx, b)
}

func (w *world) counting() *countingStore {
	w.t.Helper()
	s := &countingStore{Store: w.store}
	engine, err := engine.New(w.reg, s, engine.Options{Clock: w.now, NewID: w.newID})
	if err != nil {
		w.t.Fatal(err)
	}
	w.engine = engine
	return s
}

// PERF-X1, PERF-X2: a run asks the store as little as it can: one read and one
// batch for a write, and no more for a script of many. What is read in between
// sees what was written before.
func TestARunAsksLittle(t *testing.T) {
	t.Parallel()
	notes := ""
	for i := range 50 {
		notes += fmt.Sprintf("lending.note :loan-id %s :note \"n%d\"\n", []string{"@saw-bob", "@tent-ann", "@ladder-ann"}[i%3], i)
	}
	for _, c := range []struct {
		name, text                 string
		gets, rows, finds, applies int
	}{
		{"a write", `lending.note :loan-id @saw-bob :note "x"`, 1, 0, 0, 1},
		// The label of the new row goes by way of the loan and its item, which is read
		// with the loan.
		{"a write and a new row", `lending.note :loan-id @saw-bob :note "x" :expected-date 2025-02-01`, 0, 1, 1, 1},
		{"a new row whose label is its own", `lending.add-item :club-id @north :name "Axe"`, 1, 0, 0, 1},
		{"many writes", notes, 0, 1, 0, 1},
		{"a read between writes", "lending.note :loan-id @saw-bob :note \"x\"\nlending.close-late :member-id @ann\nlending.note :loan-id @saw-bob :note \"y\"", 0, 2, 2, 2}, // what both speak of comes together, and what the changed row is called
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.counting()
			kim := w.session("kim")
			p := w.program(kim, c.text)
			if _, err := kim.Run(context.Background(), p, engine.RunOptions{}); err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%d gets, %d rows, %d finds, %d applies", s.gets, s.rows, s.finds, s.applies)
			if want := fmt.Sprintf("%d gets, %d rows, %d finds, %d applies", c.gets, c.rows, c.finds, c.applies); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// A change that the store does not accept is told at the call that made it, also
// when it waited until later.
func TestALateRefusalNamesItsCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refusal := w.refused("kim", `lending.note :loan-id @saw-bob :note "x"
lending.add-item :club-id @north :name "Saw"
lending.note :loan-id @tent-ann :note "y"`, "already-exists")
	if d := refusal.Diagnostics[0]; len(refusal.Diagnostics) != 1 || d.Place.Source.Position(d.Place.Range.Start).Line != 2 {
		t.Errorf("told %s", told(refusal.Diagnostics))
	}
}

// Many rows of one label are named in time that grows as they do, and to the
// same names.
func TestManyRowsOfOneLabelAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	text := strings.Repeat("lending.remind :loan-id @saw-bob :on 2025-05-01\n", 999)
	reply, err := kim.Run(context.Background(), w.program(kim, text), engine.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for n := range reply.Calls {
		name := reply.Calls[n].Rows[0].Name
		if plain(name) != "@saw-2025-05-01" || names[name] {
			t.Errorf("row %d is %s", n, name)
		}
		names[name] = true
	}
}
