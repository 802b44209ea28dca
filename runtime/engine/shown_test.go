package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"
)

// G51: a file is shown to whoever sees a row that a call put it into, by a verb of theirs, and as long as
// the row names it. A row into which another program writes the reference shows nothing.
func TestAFileIsShownByItsRow(t *testing.T) {
	t.Parallel()
	for store, open := range map[string]func(testing.TB) *world{"sqlite": filingWorld, "postgres": postgresFilingWorld} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			shown := func(who string) bool {
				t.Helper()
				_, err := w.session(who).Uploads().Shown(context.Background(), "upload://kims-letter")
				if err != nil && !errors.Is(err, stores.ErrNotFound) {
					t.Fatal(err)
				}
				return err == nil
			}
			if shown("kim") {
				t.Error("a file that no row names is shown")
			}
			w.tries("kim", `filing.file :paper "upload://kims-letter"`)
			w.tries("sam", `filing.file :paper "upload://sams-letter"`)
			if !shown("kim") || !shown("ada") || shown("sam") {
				t.Errorf("to its owner %v, to who sees all %v, to another %v", shown("kim"), shown("ada"), shown("sam"))
			}
			e := w.entity("paper")
			owner, file := e.FieldIndex("owner"), e.FieldIndex("file")
			names := func(who, reference string) {
				t.Helper()
				var key stores.Value
				err := w.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) error {
					rows, err := r.Find(context.Background(), stores.Find{Entity: e, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: owner}, Value: stores.NewString(who)}})
					if err == nil {
						key = rows[0][e.Key]
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				w.change(stores.Change{Op: stores.Update, Entity: e, Key: key, Set: []stores.Assign{{Field: file, Value: stores.NewString(reference)}}})
			}
			names("sam", "upload://kims-letter")
			if shown("sam") {
				t.Error("another program's reference shows the file")
			}
			names("kim", "upload://kims-photo")
			if shown("kim") || shown("ada") {
				t.Error("a file that its row does not name any more is shown")
			}
			w.tries("kim", `filing.file :paper "upload://kims-letter"`) // a second row
			if !shown("kim") || shown("sam") {
				t.Error("a file of a second row is not shown")
			}
		})
	}
}

// G53: a page reads the rows of a window: so many, in an order, after a row, those that fit, or one.
func TestAWindowOfAList(t *testing.T) {
	t.Parallel()
	worldsOf(t, paged+`
  - verb: list-loans
    description: All loans.
    roles: [keeper]
    reads:
      entity: loan
      order: [note]
      fields: {loan: loan_id, item: item.name, note: note, borrower: member.name}
`, func(t *testing.T, w *world) {
		for _, n := range []string{"4", "2", "0", "3", "1"} {
			w.done("kim", `lending.add-item :club-id @north :name "Thing `+n+`" :worth 1 :as @x lending.lend :item-id @x :member-id @bob`)
		}
		w.done("kim", `lending.note :loan-id @thing-3-bob :note "b"`)
		w.done("kim", `lending.note :loan-id @thing-1-bob :note "a"`)
		s := w.session("kim")
		within := func(window verbs.Window) (items []string) {
			t.Helper()
			window.Where = append(window.Where, []verbs.Match{{Field: "item", Text: "thing"}})
			r, err := s.Run(context.Background(), w.program(s, "lending.list-loans"), engine.RunOptions{Window: &window})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Calls[0].Result.Rows {
				items = append(items, row[1].Text())
			}
			return items
		}
		for name, c := range map[string]struct {
			window verbs.Window
			want   []string
		}{
			"the first":            {verbs.Window{Limit: 2}, []string{"Thing 1", "Thing 3"}},
			"in another order":     {verbs.Window{Limit: 3, Order: "item", Desc: true}, []string{"Thing 4", "Thing 3", "Thing 2"}},
			"after a row":          {verbs.Window{Order: "item", After: "thing-2-bob"}, []string{"Thing 3", "Thing 4"}},
			"after a row, back":    {verbs.Window{Order: "item", Desc: true, After: "@thing-2-bob"}, []string{"Thing 1", "Thing 0"}},
			"after none":           {verbs.Window{Limit: 1, Order: "item", After: "nothing"}, []string{"Thing 0"}},
			"by a key":             {verbs.Window{Field: "loan", Only: []string{"thing-2-bob", "nothing"}}, []string{"Thing 2"}},
			"by no key":            {verbs.Window{Field: "loan", Only: []string{}}, nil},
			"by a text":            {verbs.Window{Order: "item", Where: [][]verbs.Match{{{Field: "item", Text: "ING 1"}, {Field: "note", Codes: []string{"b", "c"}}}}}, []string{"Thing 1", "Thing 3"}},
			"by a text of nothing": {verbs.Window{Where: [][]verbs.Match{{{Field: "nothing", Text: "thing"}}}}, nil},
			"in no order":          {verbs.Window{Limit: 1, Order: "nothing"}, []string{"Thing 1"}},
		} {
			if got := within(c.window); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	})
}
