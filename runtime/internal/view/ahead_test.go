package view

import (
	"context"
	"testing"

	"verbatim/stores"
)

// An asked transaction answers nothing, and counts what is asked of it alone.
type asked struct {
	stores.Tx
	alone int
}

func (*asked) Together(context.Context, []stores.Ask) error { return nil }

func (a *asked) Find(context.Context, stores.Find) ([][]stores.Value, error) {
	a.alone++
	return nil, nil
}

func (a *asked) Jobs(context.Context, stores.JobFilter) ([]stores.JobRecord, error) {
	a.alone++
	return nil, nil
}

func (*asked) Apply(context.Context, stores.Batch) error { return nil }

// A Find or a filter of jobs is answered with what was asked ahead, once, and not after a change.
func TestWhatWasAskedAheadIsDropped(t *testing.T) { // PERF-X1
	t.Parallel()
	ctx := t.Context()
	e := &stores.Entity{Name: "thing", Managed: true, Fields: []stores.Field{{Name: "id", Kind: stores.String}}}
	ahead := func() (*asked, *View) {
		p := &asked{}
		b := Open(p, p, NewFacts([]*stores.Entity{e}))
		if err := b.ReadAhead(ctx, nil, []stores.Ask{{Find: &stores.Find{Entity: e, Limit: 3}}, {Jobs: &stores.JobFilter{Unique: "k"}}}); err != nil {
			t.Fatal(err)
		}
		return p, b
	}
	ask := func(b *View, limit int, unique string) {
		t.Helper()
		_, err := b.Find(ctx, stores.Find{Entity: e, Limit: limit})
		if _, failed := b.Jobs(ctx, stores.JobFilter{Unique: unique}); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	p, b := ahead()
	if ask(b, 3, "k"); p.alone != 0 {
		t.Errorf("%d are asked again", p.alone)
	}
	if ask(b, 3, "k"); p.alone != 2 {
		t.Errorf("%d are asked of two, for the second time", p.alone)
	}
	p, b = ahead()
	if ask(b, 4, "other"); p.alone != 2 {
		t.Errorf("%d are asked of two that are others", p.alone)
	}
	p, b = ahead()
	if err := b.Change(ctx, []stores.Change{{Op: stores.Insert, Entity: e, Key: stores.NewString("new")}}); err != nil {
		t.Fatal(err)
	}
	if ask(b, 3, "k"); p.alone != 2 {
		t.Errorf("%d are asked of two after a change", p.alone)
	}
}
