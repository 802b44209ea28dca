package view

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"verbatim/stores"
)

// A played transaction has one row, and keeps what it is given.
type played struct {
	stores.Tx
	row     stores.Row
	reads   int
	applied []stores.Change
	fails   error
}

func (p *played) Get(context.Context, *stores.Entity, stores.Value) (stores.Row, error) {
	p.reads++
	return p.row, nil
}

func (p *played) Together(_ context.Context, asks []stores.Ask) error {
	p.reads++
	asks[0].Rows = []stores.Row{p.row}
	return nil
}

func (p *played) Apply(_ context.Context, b stores.Batch) error {
	p.applied = append(p.applied, b.Changes...)
	return p.fails
}

func things() (e, theirs *stores.Entity, row func(name string) stores.Row) {
	fields := []stores.Field{{Name: "id", Kind: stores.String}, {Name: "name", Kind: stores.String}, {Name: "note", Kind: stores.String}}
	e, theirs = &stores.Entity{Name: "thing", Managed: true, Fields: fields}, &stores.Entity{Name: "theirs", Fields: fields}
	return e, theirs, func(name string) stores.Row {
		return stores.Row{Entity: e, Values: []stores.Value{stores.NewString("t"), stores.NewString(name), {}}}
	}
}

// What is remembered spares the read, and binds the change to the row as it was.
func TestAChangeIsBoundToWhatWasRemembered(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e, _, row := things()
	renamed := func(name string) []stores.Change {
		return []stores.Change{{Op: stores.Update, Entity: e, Key: stores.NewString("t"), Set: []stores.Assign{{Field: 1, Value: stores.NewString(name)}}}}
	}
	var m Memory
	attempt := func(p *played, trust bool) *buffered {
		t.Helper()
		b := Open(p, p, NewFacts([]*stores.Entity{e})).(*buffered)
		b.Recall(&m, "ada", trust)
		if _, err := b.Get(ctx, e, stores.NewString("t")); err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := &played{row: row("one")}
	b := attempt(first, true)
	if err := errors.Join(b.Change(ctx, renamed("two")), b.Apply(ctx, stores.Batch{Late: true})); err != nil || first.reads != 1 || first.applied[0].Unmarked {
		t.Fatal(err, first)
	}
	b.Committed()
	second := &played{row: row("two")}
	b = attempt(second, true)
	if err := errors.Join(b.Change(ctx, renamed("three")), b.Change(ctx, renamed("four")), b.Apply(ctx, stores.Batch{Late: true})); err != nil {
		t.Fatal(err)
	}
	c := second.applied[0]
	if second.reads != 0 || !c.Unmarked || len(c.Guard) != 2 || c.Before[1].Text() != "two" || second.applied[1].Unmarked {
		t.Errorf("%d reads, bound as %+v, then %+v", second.reads, c, second.applied[1])
	}
	if !b.Misjudged(stores.ErrConflict) || b.Misjudged(errors.New("the line is dead")) || b.Misjudged(nil) {
		t.Error("only a verdict on the last batch is looked into again")
	}
	// That attempt failed, and is remembered no more.
	if third := (&played{row: row("x")}); attempt(third, true).Misjudged(errors.New("refused")) || third.reads != 1 {
		t.Error(third.reads)
	}
	// A refusal that hangs on what was remembered is looked into again.
	if fourth := (&played{row: row("x")}); !attempt(fourth, true).Misjudged(errors.New("refused")) || fourth.reads != 0 {
		t.Error(fourth.reads)
	}
}

// Where nothing changes the row that was remembered, it is read before anything is done.
func TestWhatWasRememberedIsReadBeforeItCounts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e, _, row := things()
	marked := row("one")
	marked.Marks = []stores.Mark{{Field: 1, Origin: "model"}}
	for name, is := range map[string]stores.Row{"same": row("one"), "changed": row("two"), "marked": marked} {
		var m Memory
		m.put("ada", row("one"))
		p := &played{row: is}
		b := Open(p, p, NewFacts([]*stores.Entity{e}))
		b.Recall(&m, "ada", true)
		if _, err := b.Get(ctx, e, stores.NewString("t")); err != nil || p.reads != 0 {
			t.Fatal(err)
		}
		err := b.Flush(ctx)
		if p.reads != 1 || (err == nil) != (name == "same") || b.Misjudged(err) != (name != "same") {
			t.Errorf("%s: %d reads, %v", name, p.reads, err)
		}
	}
}

func TestWhatIsNotRemembered(t *testing.T) {
	t.Parallel()
	e, theirs, row := things()
	marked, large, foreign, personal := row("one"), row(strings.Repeat("x", longest+1)), row("one"), row("one")
	personal.Entity = &stores.Entity{Name: "person", Managed: true, Fields: []stores.Field{{Name: "id"}, {Name: "name", Personal: true}, {Name: "note"}}}
	marked.Marks = []stores.Mark{{Field: 1, Origin: "model"}}
	foreign.Entity = theirs
	var m Memory
	for name, r := range map[string]stores.Row{"marked": marked, "large": large, "of others": foreign, "personal": personal} {
		m.put("ada", r)
		if _, ok := m.take("ada", RowKey{r.Entity, r.Key()}); ok {
			t.Errorf("a row is remembered that is %s", name)
		}
	}
	m.put("ada", row("one"))
	if _, ok := m.take("bo", RowKey{e, stores.NewString("t")}); ok {
		t.Error("somebody else's row is remembered")
	}
	for n := range mostRemembered {
		other := row("other")
		other.Values[0] = stores.NewString(strconv.Itoa(n))
		m.put("ada", other)
	}
	if _, ok := m.take("ada", RowKey{e, stores.NewString("t")}); ok || len(m.rows) != mostRemembered {
		t.Errorf("%d rows are remembered", len(m.rows))
	}
	// A snapshot is asked each time.
	p := &played{row: row("one")}
	m.put("ada", row("one"))
	b := Open(p, nil, NewFacts([]*stores.Entity{e}))
	b.Recall(&m, "ada", true)
	if _, err := b.Get(t.Context(), e, stores.NewString("t")); err != nil || p.reads != 1 {
		t.Error(err, p.reads)
	}
}

// A Find or a filter of jobs is answered with what was asked ahead, once, and not after a change.
func TestWhatWasAskedAheadIsDropped(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e, _, row := things()
	ahead := func() (*asked, View) {
		p := &asked{played: played{row: row("one")}}
		b := Open(p, p, NewFacts([]*stores.Entity{e}))
		if err := b.Ahead(ctx, nil, []stores.Ask{{Find: &stores.Find{Entity: e, Limit: 3}}, {Jobs: &stores.JobFilter{Unique: "k"}}}); err != nil {
			t.Fatal(err)
		}
		return p, b
	}
	ask := func(b View, limit int, unique string) {
		t.Helper()
		_, err := b.Find(ctx, stores.Find{Entity: e, Limit: limit})
		if _, failed := b.Jobs(ctx, stores.JobFilter{Unique: unique}); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	p, b := ahead()
	if ask(b, 3, "k"); p.asked != 0 {
		t.Errorf("%d are asked again", p.asked)
	}
	if ask(b, 3, "k"); p.asked != 2 {
		t.Errorf("%d are asked of two, for the second time", p.asked)
	}
	p, b = ahead()
	if ask(b, 4, "other"); p.asked != 2 {
		t.Errorf("%d are asked of two that are others", p.asked)
	}
	p, b = ahead()
	if err := b.Change(ctx, []stores.Change{{Op: stores.Insert, Entity: e, Key: stores.NewString("new")}}); err != nil {
		t.Fatal(err)
	}
	if ask(b, 3, "k"); p.asked != 2 {
		t.Errorf("%d are asked of two after a change", p.asked)
	}
}

// An asked transaction counts what is asked of it alone.
type asked struct {
	played
	asked int
}

func (a *asked) Find(context.Context, stores.Find) ([][]stores.Value, error) {
	a.asked++
	return nil, nil
}

func (a *asked) Jobs(context.Context, stores.JobFilter) ([]stores.JobRecord, error) {
	a.asked++
	return nil, nil
}
