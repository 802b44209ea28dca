package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"verbatim/stores"
)

const letter = "document=letter.pdf"

// noted changes the notes of a request, with an origin or without.
func (w *world) noted(n int, notes, origin string, known ...stores.Mark) stores.Change {
	c := update(w.request, id("request", n), stores.Assign{Field: reqNotes, Value: str(notes), Origin: origin})
	c.Marks = known
	return c
}

func (w *world) wantMarks(scope stores.Scope, e *stores.Entity, key stores.Value, want ...stores.Mark) {
	w.t.Helper()
	row, err := w.get(scope, e, key)
	w.must(err)
	if !slices.Equal(row.Marks, want) {
		w.t.Errorf("marks are %v, want %v", row.Marks, want)
	}
}

// marksAt reads marks with Find, along a way from submissions.
func (w *world) marksAt(scope stores.Scope, e *stores.Entity, key stores.Value, steps ...stores.Step) (stores.Value, error) {
	rows, err := w.find(scope, stores.Find{Entity: e, Select: []stores.Path{{Field: e.Key}, {Steps: steps, Marks: true}},
		Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: e.Key}, Value: key}})
	if err != nil || len(rows) != 1 {
		return stores.Value{}, fmt.Errorf("%d rows, %w", len(rows), err)
	}
	return rows[0][1], nil
}

var markCases = []testCase{
	{"a mark comes back with its row", func(t *testing.T, open Open) {
		// SAFE-S4: a document's value keeps the document's origin after it has been saved and
		// read.
		w := newWorld(t, open)
		w.must(w.do(holding(1), w.noted(1, "DE89", letter)))
		mark := stores.Mark{Field: reqNotes, Origin: letter}
		w.wantMarks(holding(1), w.request, id("request", 1), mark)
		w.wantMarks(everything, w.request, id("request", 1), mark)
		w.wantMarks(holding(1), w.request, id("request", 2))
		for _, scope := range []stores.Scope{holding(1), everything} {
			for n, steps := range map[int][]stores.Step{1: {{Field: 1, To: w.request}}} {
				v, err := w.marksAt(scope, w.submission, id("submission", n), steps...)
				w.must(err)
				marks, err := stores.ReadMarks(w.request, v)
				if err != nil || !slices.Equal(marks, []stores.Mark{mark}) {
					t.Error("along a reference:", v, err)
				}
			}
			v, err := w.marksAt(scope, w.submission, id("submission", 1))
			if err != nil || !v.IsNull() {
				t.Error("a row without marks has", v, err)
			}
		}
	}},
	{"a new row has its marks, of several fields and in several rows", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		var changes []stores.Change
		for n := 21; n <= 23; n++ {
			changes = append(changes, insert(w.request, id("request", n), stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)},
				stores.Assign{Field: reqSubtype, Value: str(fmt.Sprint("S", n)), Origin: "model"}, stores.Assign{Field: reqNotes, Value: str("x"), Origin: `tool=it's "so"`}))
		}
		w.must(w.do(holding(1), changes...))
		for n := 21; n <= 23; n++ {
			w.wantMarks(holding(1), w.request, id("request", n), stores.Mark{Field: reqSubtype, Origin: "model"}, stores.Mark{Field: reqNotes, Origin: `tool=it's "so"`})
		}
		for i := range changes {
			changes[i] = w.noted(21+i, "y", "", stores.Mark{Field: reqSubtype, Origin: "model"}, stores.Mark{Field: reqNotes, Origin: "tool"})
		}
		w.must(w.do(holding(1), changes...))
		for n := 21; n <= 23; n++ {
			w.wantMarks(holding(1), w.request, id("request", n), stores.Mark{Field: reqSubtype, Origin: "model"})
		}
	}},
	{"a trusted value clears the mark, and another replaces it", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.do(holding(1), w.noted(1, "DE89", letter)))
		w.must(w.do(holding(1), w.noted(1, "DE90", "model", stores.Mark{Field: reqNotes, Origin: letter})))
		w.wantMarks(holding(1), w.request, id("request", 1), stores.Mark{Field: reqNotes, Origin: "model"})
		w.must(w.do(holding(1), w.noted(1, "DE91", "", stores.Mark{Field: reqNotes, Origin: "model"})))
		w.wantMarks(holding(1), w.request, id("request", 1))
	}},
	{"a mark that a change does not know of stays", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.do(holding(1), w.noted(1, "DE89", letter)))
		w.must(w.do(holding(1), w.noted(1, "DE90", "")))
		w.must(w.do(holding(1), update(w.request, id("request", 1), stores.Assign{Field: reqDue, Value: date("2025-02-01")})))
		w.wantMarks(holding(1), w.request, id("request", 1), stores.Mark{Field: reqNotes, Origin: letter})
	}},
	{"marks go with their row", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.do(holding(1), w.noted(2, "DE89", letter)))
		row, err := w.get(holding(1), w.request, id("request", 2))
		w.must(err)
		gone := remove(w.request, id("request", 2))
		gone.Marks = row.Marks
		w.must(w.do(holding(1), gone, insert(w.request, id("request", 2), stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}, stores.Assign{Field: reqSubtype, Value: str("ADDRESS")}, stores.Assign{Field: reqNotes, Value: str("DE89")})))
		w.wantMarks(holding(1), w.request, id("request", 2))
	}},
	{"a transaction reads its own marks and leaves none behind", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		mine := errors.New("mine")
		err := w.Update(ctx, holding(1), func(tx stores.Tx) error {
			err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{w.noted(1, "DE89", letter)}})
			w.must(err)
			row, err := tx.Get(ctx, w.request, id("request", 1))
			if err != nil || stores.MarkOf(row.Marks, reqNotes) != letter {
				t.Error(row.Marks, err)
			}
			return mine
		})
		if err != mine {
			t.Error(err)
		}
		w.wantMarks(holding(1), w.request, id("request", 1))
		// If the row has changed meanwhile, neither value nor mark is written.
		c := w.noted(1, "DE89", letter)
		c.Before, c.Guard = make([]stores.Value, len(w.request.Fields)), []int{reqNotes}
		c.Before[reqNotes] = str("something else")
		if err := w.do(holding(1), c); !errors.Is(err, stores.ErrConflict) {
			t.Error(err)
		}
		w.wantMarks(holding(1), w.request, id("request", 1))
	}},
	{"marks are seen with their row and by nobody else", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.do(everything, w.noted(1, "DE89", letter)))
		if row, err := w.get(holding(2), w.request, id("request", 1)); !errors.Is(err, stores.ErrNotFound) || row.Marks != nil {
			t.Error(row.Marks, err)
		}
		rows, err := w.find(holding(2), stores.Find{Entity: w.request, Select: []stores.Path{{Marks: true}}})
		if err != nil || len(rows) != 1 || !rows[0][0].IsNull() {
			t.Error(rows, err)
		}
		for scope, want := range map[*[]string]stores.Scope{{letter}: holding(1), {}: holding(2), {letter, "all"}: everything} {
			var got []string
			_, err := w.ask(want, stores.SQL{Text: "SELECT r.subtype FROM kyc.requests r JOIN kyc.workstreams w ON w.workstream_id = r.workstream_id", Columns: columns("subtype", stores.String), Origins: &got})
			w.must(err)
			if n := min(1, len(*scope)); len(got) != n || n == 1 && got[0] != letter {
				t.Errorf("a query is told of %q", got)
			}
			_, err = w.ask(want, stores.SQL{Text: "SELECT w.name FROM kyc.workstreams w", Columns: columns("name", stores.String), Origins: &got})
			if err != nil || len(got) != 0 {
				t.Errorf("a query of another table is told of %q, %v", got, err)
			}
		}
		for _, text := range []string{"SELECT origin AS subtype FROM verbatim_origin", "SELECT origin AS subtype FROM public.verbatim_origin", "SELECT origin AS subtype FROM main.verbatim_origin", "SELECT r.origin AS subtype FROM kyc.requests r", "SELECT r.verbatim_origins AS subtype FROM kyc.requests r"} {
			if rows, err := w.ask(everything, stores.SQL{Text: text, Columns: columns("subtype", stores.String)}); err == nil {
				t.Errorf("%s: %v", text, rows)
			}
		}
	}},
	{"an origin that is no text is refused", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for _, origin := range []string{"a\x00", "a\xff"} {
			if err := w.do(everything, w.noted(1, "x", origin)); !errors.Is(err, stores.ErrInvalid) {
				t.Error(err)
			}
		}
	}},
	{"a value never comes without its mark", func(t *testing.T, open Open) {
		// A reader that waits for a row while its value and its mark are written gets both old or
		// both new.
		w := newWorld(t, open)
		ctx := context.Background()
		var wg sync.WaitGroup
		stop := make(chan struct{})
		check := func(doing string, v stores.Value, marks []stores.Mark) {
			if (v == str("out of a letter")) != (stores.MarkOf(marks, reqNotes) == letter) {
				t.Errorf("%s: %s with %v", doing, v, marks)
			}
		}
		again := func(fn func() error) {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						if err := fn(); err != nil && !errors.Is(err, stores.ErrConflict) {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		for n := range 2 {
			again(func() error {
				return w.Update(ctx, holding(1), func(tx stores.Tx) error {
					if n == 0 {
						row, err := tx.Get(ctx, w.request, id("request", 1))
						if err == nil {
							check("get", row.Values[reqNotes], row.Marks)
						}
						return err
					}
					rows, err := tx.Rows(ctx, w.request, []stores.Value{id("request", 2), id("request", 1)})
					for _, row := range rows {
						check("rows", row.Values[reqNotes], row.Marks)
					}
					return err
				})
			})
		}
		again(func() error {
			rows, err := w.find(holding(1), stores.Find{Entity: w.request, Select: []stores.Path{{Field: reqNotes}, {Marks: true}}})
			if err == nil {
				for _, row := range rows {
					marks, err := stores.ReadMarks(w.request, row[1])
					w.must(err)
					check("find", row[0], marks)
				}
			}
			return err
		})
		for range 60 {
			for _, c := range []stores.Change{w.noted(1, "out of a letter", letter), w.noted(1, "typed", "", stores.Mark{Field: reqNotes, Origin: letter})} {
				w.must(w.do(holding(1), c))
			}
		}
		close(stop)
		wg.Wait()
	}},
}
