package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
)

// demanding has verbs of other kinds that require something first.
const demanding = `
  - verb: mark
    description: Leave a note on a loan that is not over.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
      - {name: note, type: string, required: true}
    requires:
      - {that: loan_id.status != CLOSED, else: this loan is over}
      - {that: loan_id.item.status == OUT, else: this thing is not out}
    confirm: always
    effects:
      - updates: loan.note
        where: row.loan_id == loan_id
        set: {note: note}

  - verb: mark-soon
    description: Leave a note on a loan that has still to end.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
      - {name: note, type: string, required: true}
    requires:
      - {that: loan_id.due > today, else: it ended}
    script: lending.mark :loan-id @loan-id :note @note

  - verb: inspect
    description: Look at what is there.
    roles: [keeper]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true}
    requires:
      - {that: item_id.status != LOST, else: it is lost}
    reads: {entity: item, one: item-id, fields: {name: name}}

  - verb: value
    description: What is there is worth.
    roles: [keeper]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true}
    requires:
      - {that: item_id.status != LOST, else: it is lost}
    query: {sql: "SELECT worth FROM club.items WHERE item_id = :item_id", columns: {worth: decimal}}

  - verb: paint
    description: Paint a thing.
    roles: [keeper]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true}
    requires:
      - {that: item_id.status != LOST, else: it is lost}
    handler: true
    effects:
      - notifies: painter
`

func lendingText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/palettes/lending.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// painted counts how often the handler was asked.
func demandingWorld(t *testing.T) (w *world, painted *int) {
	t.Helper()
	painted = new(int)
	h := &engine.Handlers{}
	type args struct {
		Item engine.Ref `verb:"item-id"`
	}
	engine.Handle(h, "lending.paint", func(_ context.Context, c *engine.Call, _ args) (engine.Outcome, error) {
		*painted++
		return c.Declared(), nil
	})
	return newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": lendingText(t) + demanding}), h), painted
}

func sentences(r *engine.Refusal) string {
	var all []string
	for _, d := range r.Diagnostics {
		all = append(all, d.Summary)
	}
	return strings.Join(all, "; ")
}

// OB3, X4: what a palette requires is asked of the rows as they are, for a verb
// of any kind; where it does not hold the call is refused with the palette's
// own sentence and its place there, and nothing changes.
func TestRequirementsAreHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, want string }{
		{"of a field of a row", `lending.return :loan-id @tent-ann`, "this thing is not out"},
		{"of all rules at once", `lending.return :loan-id @ladder-ann :on 2026-01-01`, "this thing is not out; that day is still to come"},
		{"after the calls before it in the script", "lending.return :loan-id @saw-bob\nlending.return :loan-id @saw-bob", "this was brought back already; this thing is not out"},
		{"of a macro", `lending.mark-soon :loan-id @tent-ann :note "x"`, "it ended"},
		{"of a verb in a macro", "lending.board-only :item-id @saw\nlending.mark-soon :loan-id @saw-bob :note \"x\"", "this thing is not out"},
		{"of a read", `lending.inspect :item-id @ladder`, "it is lost"},
		{"of a query", `lending.value :item-id @ladder`, "it is lost"},
		{"of a handler", `lending.paint :item-id @ladder`, "it is lost"},
		{"before anybody is asked", `lending.mark :loan-id @ladder-ann :note "x"`, "this thing is not out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, painted := demandingWorld(t)
			if strings.Contains(c.script, "board-only") {
				w.set("item", 22, "status", str("IN"))
				c.script = c.script[strings.IndexByte(c.script, '\n')+1:]
			}
			r := w.refused("kim", c.script, "requirement-not-met")
			if got := sentences(r); got != c.want {
				t.Errorf("told %q, want %q", got, c.want)
			}
			for _, d := range r.Diagnostics {
				if len(d.Related) != 1 || d.Related[0].Place.Source == nil || d.Related[0].Place.Source.Name != "lending.yaml" || d.Related[0].Place.Range.End == 0 {
					t.Errorf("%q has no place in the palette", d.Summary)
				}
				if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "needs; see to that first") || len(d.Console) != 1 || !strings.Contains(d.Console[0], "verbatim explain lending.") {
					t.Errorf("%q has no next step: %q", d.Summary, d.Notes)
				}
			}
			if *painted > 0 {
				t.Error("the handler was asked")
			}
		})
	}
	w, painted := demandingWorld(t)
	for _, script := range []string{`lending.return :loan-id @saw-bob`, `lending.inspect :item-id @drill`, `lending.value :item-id @drill`, `lending.paint :item-id @drill`} {
		if _, err := w.run("kim", script); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
	if *painted == 0 {
		t.Error("the handler was not asked")
	}
}

// A requirement that cannot be worked out does not hold, and says so.
func TestRequirementsThatHangOnNothingAreNotMet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set("item", 22, "worth", stores.Value{})
	r := w.refused("kim", `lending.return :loan-id @saw-bob`, "requirement-not-met")
	if got := sentences(r); got != "the board takes back what is worth so much" {
		t.Errorf("told %q", got)
	}
	if !strings.Contains(r.Diagnostics[0].Notes[0], "could not be worked out") {
		t.Errorf("it does not say why: %q", r.Diagnostics[0].Notes)
	}
}

// X4: somebody else's row stays unknown, whatever is required of it.
func TestRequirementsTellNothingOfOtherPeoplesRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refused("kim", `lending.return :loan-id `+id(34).Text(), "unknown-name")
	w.refused("kim", `lending.return :loan-id `+id(999).Text(), "unknown-name")
}

// O18: a call that was refused for what it requires is in the journal.
func TestUnmetRequirementsAreInTheJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session("kim")
	_, err := s.Run(context.Background(), w.program(s, `lending.return :loan-id @ladder-ann :on 2026-01-01`), engine.RunOptions{})
	wantRefusal(t, err, "requirement-not-met")
	entries := w.journal()
	if len(entries) != 1 || entries[0].Outcome != "refused" || entries[0].Reason != "requirement-not-met" || entries[0].Verb != "lending.return" {
		t.Errorf("the journal has %+v", entries)
	}
}

// What a requirement looked at is part of what was agreed to: if it changed
// since, the preview is stale, also where the requirement still holds.
func TestRequirementsCountForThePreview(t *testing.T) {
	t.Parallel()
	w, _ := demandingWorld(t)
	s := w.session("kim")
	p := w.program(s, `lending.mark :loan-id @saw-bob :note "x"`)
	preview, err := s.Preview(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	w.set("item", 22, "status", str("IN"))
	w.set("loan", 31, "due", date("2025-01-11"))
	_, err = s.Run(context.Background(), p, engine.RunOptions{Agreed: preview.ID})
	wantRefusal(t, err, "requirement-not-met")
	w.set("item", 22, "status", str("OUT"))
	w.set("loan", 31, "status", str("LATE"))
	_, err = s.Run(context.Background(), p, engine.RunOptions{Agreed: preview.ID})
	wantRefusal(t, err, "stale-preview")
}

// A lateStore reads, in its first writing transaction, rows as they were a
// while ago: what a database shows to two transactions that begin together.
type lateStore struct {
	stores.Store
	old     map[stores.Value]stores.Row
	again   bool // it shows them as they are when it is asked a second time
	updates int
	guards  [][]string
}

func (s *lateStore) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	s.updates++
	return s.Store.Update(ctx, scope, func(tx stores.Tx) error { return fn(&lateTx{tx, s}) })
}

type lateTx struct {
	stores.Tx
	s *lateStore
}

func (tx *lateTx) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	if row, ok := tx.s.old[key]; ok && tx.s.updates == 1 {
		return row, nil
	}
	return tx.Tx.Get(ctx, e, key)
}

func (tx *lateTx) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	rows, err := tx.Tx.Find(ctx, f)
	for i := range rows {
		if row, ok := tx.s.old[rows[i][f.Entity.Key]]; ok && f.Select == nil && tx.s.updates == 1 && !tx.s.again {
			rows[i] = row.Values
		}
	}
	return rows, err
}

func (tx *lateTx) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	rows, err := tx.Tx.Rows(ctx, e, keys)
	for i := range rows {
		if row, ok := tx.s.old[rows[i].Key()]; ok && tx.s.updates == 1 {
			rows[i] = row
		}
	}
	return rows, err
}

func (tx *lateTx) Together(ctx context.Context, asks []stores.Ask) error {
	return stores.OneByOne(ctx, tx, asks)
}

func (tx *lateTx) Apply(ctx context.Context, b stores.Batch) error {
	for _, c := range b.Changes {
		var names []string
		for _, f := range c.Guard {
			names = append(names, c.Entity.Fields[f].Name)
		}
		tx.s.guards = append(tx.s.guards, names)
	}
	return tx.Tx.Apply(ctx, b)
}

// SAFE-A7: two transactions that look at a row at the same moment do not both
// pass. The change carries the fields that the requirements looked at, those of
// the macro around it too; the store answers that they changed, and on another
// look the requirement does not hold. Nor does it help to see the row change
// between two looks of one transaction.
func TestRequirementsHoldUntilTheChangeIsMade(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		for _, script := range []string{`lending.mark-soon :loan-id @saw-bob :note "x"`, `lending.mark :loan-id @saw-bob :note "x"`} {
			t.Run(fmt.Sprint(script, again), func(t *testing.T) {
				t.Parallel()
				w, _ := demandingWorld(t)
				loan := w.entity("loan")
				late := &lateStore{Store: w.store, old: map[stores.Value]stores.Row{id(31): {Entity: loan, Values: w.state()["loan "+id(31).Text()]}}}
				eng, err := engine.New(w.reg, late, engine.Options{Clock: w.now, NewID: w.newID})
				if err != nil {
					t.Fatal(err)
				}
				s, err := eng.Session(context.Background(), "kim")
				if err != nil {
					t.Fatal(err)
				}
				p := w.program(s, script)
				preview, err := s.Preview(context.Background(), p)
				if err != nil {
					t.Fatal(err)
				}
				want := []string{"item", "status", "due", "note"}
				if !strings.Contains(script, "soon") {
					want = []string{"item", "status", "note"}
				}
				if len(late.guards) != 1 || !slices.Equal(late.guards[0], want) {
					t.Errorf("guarded %v, want %v", late.guards, want)
				}
				w.set("loan", 31, "status", str("CLOSED")) // by the other transaction, which was quicker
				late.updates, late.again = 0, again
				_, err = s.Run(context.Background(), p, engine.RunOptions{Agreed: preview.ID})
				if late.updates != 3 { // the last one writes down that it was refused
					t.Errorf("it was tried %d times", late.updates)
				}
				if r := wantRefusal(t, err, "requirement-not-met"); sentences(r) != "this loan is over" {
					t.Errorf("told %q", sentences(r))
				}
				if got := w.get("loan", id(31), "note"); !got.IsNull() {
					t.Errorf("the note is %s", got)
				}
			})
		}
	}
}

// A macro may require something that its own calls then change: that is no
// conflict with anybody.
func TestMacrosMayChangeWhatTheyRequire(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": lendingText(t) + `
  - verb: close-and-mark
    description: Take a thing back and say so.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    requires:
      - {that: loan_id.status == OPEN and loan_id.note == nil, else: it is not as it was}
    script: |
      lending.return :loan-id @loan-id
      lending.note :loan-id @loan-id :note "back"
      lending.note :loan-id @loan-id :note "back again"
`}), nil)
	if _, err := w.run("kim", `lending.close-and-mark :loan-id @saw-bob`); err != nil {
		t.Fatal(err)
	}
	if got := w.get("loan", id(31), "note").Text(); got != "back again" {
		t.Errorf("the note is %q", got)
	}
	w.refused("kim", `lending.close-and-mark :loan-id @saw-bob`, "requirement-not-met")
}

// The store's answer, and not a requirement, is told when it fails.
func TestAStoreThatFailsWhileARequirementLooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tried, told := 0, 0
	for n := 1; n < 12; n++ {
		faulty := &faultyStore{Store: w.store, nth: n}
		eng, err := engine.New(w.reg, faulty, engine.Options{Clock: w.now, NewID: w.newID})
		if err != nil {
			continue
		}
		s, err := eng.Session(context.Background(), "kim")
		if err != nil {
			continue
		}
		script, _ := dsl.Parse(dsl.NewSource("test.dsl", `lending.return :loan-id @tent-ann`))
		p, _ := s.Check(context.Background(), script)
		if p == nil {
			continue // the names could not be read
		}
		tried++
		_, err = s.Run(context.Background(), p, engine.RunOptions{})
		var refusal *engine.Refusal
		switch {
		case !errors.Is(err, errNth) && !errors.As(err, &refusal):
			t.Errorf("fault %d: %v", n, err)
		case !errors.As(err, &refusal):
			told++
		}
	}
	if tried < 3 || told == 0 {
		t.Errorf("%d faults were tried, and %d of them told", tried, told)
	}
}
