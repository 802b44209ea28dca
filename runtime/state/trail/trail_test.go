package trail_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"verbatim/runtime/state/trail"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
)

// filled is a store with entries of the journal, by two people with two verbs, an hour apart. Those of
// the first person change the row k1, and every fourth k2 too.
func filled(t *testing.T, n int) stores.Store {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "trail.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if plan, err := s.Migrate(t.Context(), []*stores.Entity{trail.Entity}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	size, _, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b stores.Batch
	for i := range n - int(size) {
		e := stores.Entry{Time: begun.Add(time.Duration(i) * time.Hour), Principal: [2]string{"ann", "bob"}[i%2], Verb: [3]string{"a.x", "a.y", "a.z"}[i%3], Outcome: "ok"}
		if i%2 == 0 {
			record := journal.Record{Rows: []receipt.Row{changed("k1")}}
			if i%4 == 0 {
				record.Rows = append(record.Rows, changed("k2"))
			}
			e.Changes = string(record.AppendText(nil))
		}
		b.Entries = append(b.Entries, e)
	}
	if err := s.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error { return tx.Apply(t.Context(), b) }); err != nil {
		t.Fatal(err)
	}
	return s
}

func changed(key string) receipt.Row {
	return receipt.Row{Op: receipt.Updated, Entity: "order", Table: "orders", Key: stores.NewString(key)}
}

var begun = time.Date(2025, 1, 3, 0, 0, 0, 0, time.UTC)

// G54: entries are found by who made them, by verb, time and row, a page at a time, and the index follows
// the journal wherever it was left.
func TestEntriesAreFound(t *testing.T) {
	t.Parallel()
	s := filled(t, 2500)
	if whole, err := trail.Follow(t.Context(), s, 1000); err != nil || whole {
		t.Fatal(whole, err)
	}
	if whole, err := trail.Follow(t.Context(), s, 5000); err != nil || !whole {
		t.Fatal(whole, err)
	}
	if whole, err := trail.Follow(t.Context(), s, 1); err != nil || !whole {
		t.Fatal("an index that is whole", whole, err)
	}
	var entries []stores.Entry
	for e, err := range journal.ByNumber(t.Context(), s, 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, *e)
	}
	k1 := stores.NewString("k1")
	for name, f := range map[string]struct {
		f    trail.Filter
		want func(e *stores.Entry, i int) bool
	}{
		"all":       {trail.Filter{}, func(*stores.Entry, int) bool { return true }},
		"by person": {trail.Filter{Principals: []string{"ann"}}, func(e *stores.Entry, _ int) bool { return e.Principal == "ann" }},
		"by nobody": {trail.Filter{Principals: []string{"eve"}}, func(*stores.Entry, int) bool { return false }},
		"by verb":   {trail.Filter{Verb: "a.y"}, func(e *stores.Entry, _ int) bool { return e.Verb == "a.y" }},
		"by day": {trail.Filter{From: begun.Add(24 * time.Hour), Until: begun.Add(48 * time.Hour)}, func(e *stores.Entry, _ int) bool {
			h := e.Time.Sub(begun).Hours()
			return e.Verb[0] == 'a' && h >= 24 && h < 48
		}},
		"by row":    {trail.Filter{Entity: "order", Key: k1}, func(e *stores.Entry, _ int) bool { return len(e.Changes) > 0 && e.Principal == "ann" }},
		"by no row": {trail.Filter{Entity: "item", Key: k1}, func(*stores.Entry, int) bool { return false }},
		"by all that": {trail.Filter{Entity: "order", Key: k1, Verb: "a.x", Principals: []string{"ann"}, Until: begun.Add(90 * time.Hour)}, func(e *stores.Entry, _ int) bool {
			return e.Principal == "ann" && e.Verb == "a.x" && e.Time.Before(begun.Add(90*time.Hour))
		}},
	} {
		var want, got []int64
		for i := range entries {
			if f.want(&entries[i], i) {
				want = append(want, entries[i].Seq)
			}
		}
		slices.Reverse(want)
		at := f.f
		at.Limit = 100
		for pages := 0; ; pages++ {
			found, more, err := trail.Find(t.Context(), s, at)
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, found...); !more {
				break
			}
			if len(found) != 100 || pages > 30 {
				t.Fatalf("%s: page %d has %d entries", name, pages, len(found))
			}
			at.Before = found[len(found)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %d, want %d\n%s", name, len(got), len(want), fmt.Sprint(got[:min(5, len(got))], want[:min(5, len(want))]))
		}
	}
}
