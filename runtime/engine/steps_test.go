package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The steps of a call, on values alone: beside these, permit_test.go, gate_test.go and
// verify_values_test.go hold tables of theirs.

// A rowsReader is a store that holds a few rows, or fails.
type rowsReader struct {
	stores.Reader
	rows []stores.Row
	err  error
}

func (r rowsReader) Get(_ context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	for _, row := range r.rows {
		if row.Entity == e && row.Key() == key {
			return row, r.err
		}
	}
	return stores.Row{}, errors.Join(stores.ErrNotFound, r.err)
}

// deskProgram checks a script for the desk.
func deskProgram(t *testing.T, e *Engine, text string) *verbs.Program {
	t.Helper()
	script, ds := dsl.Parse(dsl.NewSource("a.dsl", text))
	if !ds.HasErrors() {
		var p *verbs.Program
		if p, ds = e.reg.Check(script, nil); !ds.HasErrors() {
			return p
		}
	}
	t.Fatal(inWords(ds))
	return nil
}

// deskRun begins a run of a program, which reads from a few rows.
func deskRun(e *Engine, p *verbs.Program, from rowsReader) *run {
	s := &Session{e: e, id: "s1", who: stores.Principal{Name: "kim"}, zone: time.UTC}
	r := s.newRun(p, &runOptions{}, &externalAnswers{})
	r.src.read = view.Direct(from, nil, nil)
	return r
}

func TestReferencesBecomeRowsWithinScope(t *testing.T) {
	t.Parallel()
	e := deskEngine(t)
	pin := stores.Row{Entity: e.reg.Entity("pin").Store, Values: []stores.Value{keyOf(1), str("x"), {}}}
	const drop = `desk.drop :pin-id "00000000-0000-4000-9000-000000000001"`
	gone := errors.New("the disk is gone")
	for _, c := range []struct {
		name, text string
		from       rowsReader
		want       string // the first argument of the last call
		row        bool   // and its row was read
		code       string // of a refusal
		fails      error
	}{
		{name: "a row", text: drop, from: rowsReader{rows: []stores.Row{pin}}, want: keyOf(1).Text(), row: true},
		{name: "a row out of scope", text: drop, code: codeUnknownName},
		{name: "a row that cannot be read", text: drop, from: rowsReader{rows: []stores.Row{pin}, err: gone}, fails: gone},
		{name: "a value", text: `desk.pin :text "c"`, want: "c"},
		{name: "what an earlier call added", text: "desk.pin :text \"c\" :as @p\ndesk.drop :pin-id @p", from: rowsReader{rows: []stores.Row{pin}}, want: keyOf(1).Text(), row: true},
		{name: "a field that holds nothing", text: "desk.drop :pin-id \"00000000-0000-4000-9000-000000000001\" :as @p\ndesk.drop :pin-id @p.note", from: rowsReader{rows: []stores.Row{pin}}, code: "wrong-value"},
	} {
		p := deskProgram(t, e, c.text)
		r := deskRun(e, p, c.from)
		f := &frame{prog: p, steps: make([]*step, len(p.Calls()))}
		var st *step
		var err error
		for i := range p.Calls() {
			st = r.beginCall(f, i)
			if err = r.src.resolve(t.Context(), f, st, &p.Calls()[i]); err != nil {
				break
			}
			if st.verb.Name == "desk.pin" {
				st.out.changes = []change{{entity: e.reg.Entity("pin"), Change: stores.Change{Op: stores.Insert, Entity: pin.Entity, Key: keyOf(1)}}}
			}
			f.steps[i] = st
		}
		var refused *callError
		switch {
		case c.code != "":
			if !errors.As(err, &refused) || refused.diagnostic.Code != c.code {
				t.Errorf("%s: %v, want %s", c.name, err, c.code)
			}
		case !errors.Is(err, c.fails):
			t.Errorf("%s: %v", c.name, err)
		case err == nil && (st.args.values[0].Text() != c.want || (st.args.rows[0].Entity != nil) != c.row):
			t.Errorf("%s: %v of %v", c.name, st.args.values, st.args.rows)
		}
	}
}

func TestABatchHoldsWhatAPlanAddsToItsChanges(t *testing.T) {
	t.Parallel()
	e := deskEngine(t)
	p := deskProgram(t, e, "desk.pin :text \"c\"\ndesk.pin :text \"d\"")
	for _, c := range []struct {
		name                   string
		o                      RunOptions
		own                    stores.Batch
		notices                bool
		entries, changes, jobs int
		agreed                 string
	}{
		{name: "two calls", entries: 2},
		{name: "two calls that were agreed to", o: RunOptions{Agreed: "0123"}, entries: 2, agreed: "kim"},
		{name: "under a key", o: RunOptions{Key: "k"}, entries: 2, changes: 1},
		{name: "with what the engine writes itself", own: stores.Batch{Changes: make([]stores.Change, 2), Jobs: make([]stores.Job, 1)}, entries: 2, changes: 2, jobs: 1},
		{name: "with notices", notices: true, entries: 2, jobs: 2},
	} {
		r := deskRun(e, p, rowsReader{})
		r.own = c.own
		for i := range p.Calls() {
			st := r.beginCall(&frame{prog: p}, i)
			st.args = arguments{values: []stores.Value{str("c")}, rows: make([]stores.Row, 1), from: make([]verbs.Origin, 1)}
			if c.notices {
				st.out.notices = []notice{{kind: "notify", target: "bank"}}
			}
			r.plan.top[i], r.plan.steps = st, append(r.plan.steps, st)
		}
		r.makeReceipts()
		r.finish()
		b, err := r.batch(t.Context(), c.o)
		if err != nil || len(b.Entries) != c.entries || len(b.Changes) != c.changes || len(b.Jobs) != c.jobs || !b.Late {
			t.Errorf("%s: %d entries, %d changes, %d jobs, %v", c.name, len(b.Entries), len(b.Changes), len(b.Jobs), err)
		}
		for i, entry := range b.Entries {
			if want := r.plan.steps[i].call.text; entry.Call != want || entry.Agreed != c.agreed || entry.Principal != "kim" || entry.Session != "s1" {
				t.Errorf("%s: %+v", c.name, entry)
			}
		}
		if c.notices && slices.ContainsFunc(b.Jobs, func(j stores.Job) bool { return j.Kind != JobNotice || j.Principal != "kim" }) {
			t.Errorf("%s: %+v", c.name, b.Jobs)
		}
	}
}

// Whoever debugs a run prints its plan.
func TestAPlanCanBePrinted(t *testing.T) {
	t.Parallel()
	e := deskEngine(t)
	r := deskRun(e, deskProgram(t, e, "desk.pin :text \"c\"\ndesk.drop :pin-id \"00000000-0000-4000-9000-000000000001\""), rowsReader{})
	pin := e.reg.Entity("pin")
	for i := range r.plan.top {
		r.plan.steps = append(r.plan.steps, r.beginCall(&frame{prog: r.plan.prog}, i))
	}
	first, second := r.plan.steps[0], r.plan.steps[1]
	first.out.changes = []change{{entity: pin, Change: stores.Change{Op: stores.Insert, Entity: pin.Store, Key: keyOf(2), Set: []stores.Assign{{Field: pin.Store.FieldIndex("text"), Value: str("c")}}}}}
	first.out.notices = []notice{{kind: "notify", target: "bank"}}
	second.saw(readRow{entity: pin.Store, key: keyOf(1)})
	second.asks = []ask{newAsk(second, &verbs.Confirm{Always: true, Reason: "it is gone then"})}
	r.plan.external = &externalCall{ExternalCall: receipt.ExternalCall{Server: "mail", Name: "send"}}
	want := "plan without a digest of 2 calls, waits for send of mail\n" +
		"  desk.pin :text \"c\"; inserts pin 00000000-0000-4000-9000-000000000002 :text; notify bank\n" +
		"  desk.drop :pin-id \"00000000-0000-4000-9000-000000000001\"; asks the caller: it is gone then; reads pin 00000000-0000-4000-9000-000000000001"
	if got := fmt.Sprint(r.plan.data()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
