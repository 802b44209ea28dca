package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"verbatim/stores"
)

var transactionCases = []testCase{
	{"a transaction reads what it wrote", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		w.must(w.Update(ctx, holding(1), func(tx stores.Tx) error {
			err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{
				update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("mine")}),
				remove(w.request, id("request", 2)),
				insert(w.submission, id("submission", 9), stores.Assign{Field: 1, Value: id("request", 3)}),
			}})
			w.must(err)
			row, err := tx.Get(ctx, w.request, id("request", 1))
			if err != nil || row.Values[reqNotes] != str("mine") {
				t.Error(row.Values, err)
			}
			if _, err := tx.Get(ctx, w.request, id("request", 2)); err != stores.ErrNotFound {
				t.Error(err)
			}
			rows, err := tx.Find(ctx, stores.Find{Entity: w.submission})
			if len(rows) != 3 {
				t.Errorf("%d submissions", len(rows))
			}
			return err
		}))
	}},
	{"a transaction that was discarded was never there", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		var last stores.Tx
		w.must(w.Update(ctx, holding(1), func(tx stores.Tx) error {
			last = tx
			tx.Discard()
			w.must(tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{entry("no")}, Changes: []stores.Change{
				update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("no")})}}))
			row, err := tx.Get(ctx, w.request, id("request", 1))
			if err != nil || row.Values[reqNotes] != str("no") {
				t.Error(row.Values, err)
			}
			return err
		}))
		if n := len(last.Numbered()); n > 0 {
			t.Errorf("%d entries of it were chained", n)
		}
		if row, err := w.get(holding(1), w.request, id("request", 1)); err != nil || row.Values[reqNotes] == str("no") {
			t.Error(row.Values, err)
		}
		if seq, _, err := w.Head(ctx); err != nil || seq != 0 {
			t.Errorf("the journal has %d entries, %v", seq, err)
		}
		// An error of its function is returned as usual.
		failed := errors.New("no")
		if err := w.Update(ctx, holding(1), func(tx stores.Tx) error { tx.Discard(); return failed }); !errors.Is(err, failed) {
			t.Error(err)
		}
	}},
	{"a batch that may wait is carried out all the same", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		late := func(c ...stores.Change) stores.Batch {
			return stores.Batch{Changes: c, Entries: []stores.Entry{entry("late")}, Late: true}
		}
		note := func(n int, text string) stores.Change {
			return update(w.request, id("request", n), stores.Assign{Field: reqNotes, Value: str(text)})
		}
		w.must(w.apply(holding(1), late(note(1, "a"), note(2, "b"))))
		// Later reads see it, and so does the next batch.
		w.must(w.Update(ctx, holding(1), func(tx stores.Tx) error {
			if err := tx.Apply(ctx, late(note(1, "c"))); err != nil {
				return err
			}
			row, err := tx.Get(ctx, w.request, id("request", 1))
			if err != nil || row.Values[reqNotes] != str("c") {
				t.Errorf("read %v, %v", row.Values, err)
			}
			guarded := note(1, "d")
			guarded.Before, guarded.Guard = row.Values, []int{reqNotes}
			return tx.Apply(ctx, late(guarded))
		}))
		stale := note(1, "e")
		stale.Before, stale.Guard = make([]stores.Value, len(w.request.Fields)), []int{reqNotes}
		stale.Before[reqNotes] = str("c")
		for name, c := range map[string]struct {
			change stores.Change
			want   error
		}{
			"gone":       {remove(w.request, id("request", 99)), stores.ErrNotFound},
			"another's":  {note(11, "x"), stores.ErrNotFound},
			"changed":    {stale, stores.ErrConflict},
			"there":      {insert(w.submission, id("submission", 1), stores.Assign{Field: 1, Value: id("request", 1)}), stores.ErrDuplicate},
			"not unique": {update(w.request, id("request", 2), stores.Assign{Field: reqSubtype, Value: str("IDENTITY")}), stores.ErrDuplicate},
			"needed":     {remove(w.request, id("request", 1)), stores.ErrInvalid},
			"impossible": {update(w.request, id("request", 1), stores.Assign{Field: reqVisible}), stores.ErrInvalid},
		} {
			// Update returns the error, whatever fn was told.
			for _, reads := range []bool{false, true} {
				err := w.Update(ctx, holding(1), func(tx stores.Tx) error {
					_ = tx.Apply(ctx, late(note(3, "half"), c.change))
					if reads {
						_, _ = tx.Find(ctx, stores.Find{Entity: w.diary})
					}
					return nil
				})
				if !errors.Is(err, c.want) {
					t.Errorf("%s, read after it %t: %v", name, reads, err)
				}
			}
		}
		row, err := w.get(holding(1), w.request, id("request", 3))
		w.must(err)
		first, err := w.get(holding(1), w.request, id("request", 1))
		w.must(err)
		entries, err := w.Journal(ctx, 0, 0)
		w.must(err)
		if !row.Values[reqNotes].IsNull() || first.Values[reqNotes] != str("d") || len(entries) != 3 {
			t.Errorf("half was done: %v, %v, %d entries", row.Values, first.Values, len(entries))
		}
	}},
	{"who waits for a row to change it at the commit can give up", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		w.must(w.Update(ctx, everything, func(tx stores.Tx) error {
			w.must(tx.Apply(ctx, stores.Batch{Changes: []stores.Change{remove(w.request, id("request", 2))}}))
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			err := w.Update(short, everything, func(tx stores.Tx) error {
				return tx.Apply(short, stores.Batch{Changes: []stores.Change{update(w.request, id("request", 2), stores.Assign{Field: reqNotes, Value: str("x")})}, Late: true})
			})
			// If a server is too busy to answer, it is unknown whether the commit was made; see
			// SAFE-R3.
			if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, stores.ErrUnknown) {
				t.Error(err)
			}
			return nil
		}))
		w.must(w.do(everything, update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("y")})))
	}},
	{"what a find holds nobody changes before the transaction ends", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		w.must(w.do(everything, update(w.request, id("request", 1), stores.Assign{Field: reqCountry, Value: str("DE")})))
		stream := stores.Step{Field: reqWorkstream, To: w.workstream}
		up := func(field int, steps ...stores.Step) stores.Path { return stores.Path{Steps: steps, Field: field} }
		one := stores.Cond{Op: stores.Eq, Path: stores.Path{Field: reqID}, Value: id("request", 1)}
		stage := up(2, stream, stores.Step{Field: 1, To: w.case_})
		rename := func(e *stores.Entity, key stores.Value, field int) stores.Change {
			return update(e, key, stores.Assign{Field: field, Value: str("other")})
		}
		for name, c := range map[string]struct {
			find   stores.Find
			change stores.Change
		}{
			"a row":                    {stores.Find{Entity: w.request, Where: &one, Hold: stores.Shared}, rename(w.request, id("request", 1), reqNotes)},
			"a row, firmly":            {stores.Find{Entity: w.request, Where: &one, Hold: stores.Firm}, rename(w.request, id("request", 1), reqNotes)},
			"each of many":             {stores.Find{Entity: w.request, Hold: stores.Firm}, rename(w.request, id("request", 4), reqNotes)},
			"one that may not go":      {stores.Find{Entity: w.request, Hold: stores.Shared}, remove(w.request, id("request", 4))},
			"a step away":              {stores.Find{Entity: w.request, Where: &one, Select: []stores.Path{up(2, stream)}, Hold: stores.Shared}, rename(w.workstream, id("workstream", 1), 2)},
			"two steps away":           {stores.Find{Entity: w.request, Where: &one, Select: []stores.Path{stage}, Hold: stores.Shared}, rename(w.case_, id("case", 1), 2)},
			"the way there":            {stores.Find{Entity: w.request, Where: &one, Select: []stores.Path{stage}, Hold: stores.Shared}, rename(w.workstream, id("workstream", 1), 2)},
			"two steps away, of many":  {stores.Find{Entity: w.request, Select: []stores.Path{stage}, Hold: stores.Firm}, rename(w.case_, id("case", 1), 2)},
			"what a condition asks":    {stores.Find{Entity: w.request, Where: &stores.Cond{Op: stores.Ne, Path: stage, Value: str("closed")}, Select: []stores.Path{up(reqID)}, Hold: stores.Shared}, rename(w.case_, id("case", 1), 2)},
			"what an order asks":       {stores.Find{Entity: w.request, Select: []stores.Path{up(reqID)}, Order: []stores.Order{{Path: stage}}, Hold: stores.Shared}, rename(w.case_, id("case", 1), 2)},
			"reference data":           {stores.Find{Entity: w.request, Where: &one, Select: []stores.Path{up(1, stores.Step{Field: reqCountry, To: w.country})}, Hold: stores.Shared}, rename(w.country, str("DE"), 1)},
			"all there is of that":     {stores.Find{Entity: w.country, Hold: stores.Shared}, insert(w.country, str("FR"))},
			"what is counted for":      {stores.Find{Entity: w.request, Where: &one, Select: []stores.Path{{Count: w.submission, By: 1}}, Hold: stores.Shared}, rename(w.request, id("request", 1), reqNotes)},
			"what is counted for, far": {stores.Find{Entity: w.request, Where: &one, Select: []stores.Path{{Steps: []stores.Step{stream}, Count: w.request, By: reqWorkstream}}, Hold: stores.Shared}, rename(w.workstream, id("workstream", 1), 2)},
		} {
			w.must(w.Update(ctx, holding(1), func(tx stores.Tx) error {
				rows, err := tx.Find(ctx, c.find)
				if err != nil || len(rows) == 0 {
					t.Errorf("%s: found %v, %v", name, rows, err)
				}
				short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				defer cancel()
				err = w.Update(short, everything, func(tx stores.Tx) error { return tx.Apply(short, stores.Batch{Changes: []stores.Change{c.change}}) })
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s was changed all the same: %v", name, err)
				}
				return nil
			}))
			// Neither a snapshot nor the end of the transaction delays anything.
			w.must(w.View(ctx, holding(1), func(r stores.Reader) error {
				_, err := r.Find(ctx, c.find)
				return err
			}))
			if c.change.Op == stores.Update {
				w.must(w.do(everything, c.change))
			}
		}
		w.must(w.Update(ctx, holding(1), func(tx stores.Tx) error {
			_, err := tx.Get(ctx, w.country, str("DE"))
			w.must(err)
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			err = w.Update(short, everything, func(tx stores.Tx) error {
				return tx.Apply(short, stores.Batch{Changes: []stores.Change{rename(w.country, str("DE"), 1)}})
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("reference data that was got was changed all the same: %v", err)
			}
			return nil
		}))
	}},
	{"an error of fn comes back as it is, and nothing stays", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		mine := errors.New("mine")
		err := w.Update(ctx, everything, func(tx stores.Tx) error {
			err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{remove(w.request, id("request", 2))}, Entries: []stores.Entry{entry("x")}})
			w.must(err)
			return mine
		})
		if err != mine {
			t.Error(err)
		}
		w.wantKeys(everything, stores.Find{Entity: w.request}, "request", 1, 2, 3, 4, 11)
		if err := w.View(ctx, everything, func(stores.Reader) error { return mine }); err != mine {
			t.Error(err)
		}
	}},
	{"a panic of fn leaves nothing behind", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		for range 10 {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("swallowed")
					}
				}()
				_ = w.Update(ctx, everything, func(tx stores.Tx) error {
					err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{remove(w.request, id("request", 2))}})
					w.must(err)
					panic("handler")
				})
			}()
			func() {
				defer func() { _ = recover() }()
				_ = w.View(ctx, everything, func(stores.Reader) error { panic("handler") })
			}()
		}
		w.wantKeys(everything, stores.Find{Entity: w.request}, "request", 1, 2, 3, 4, 11)
		w.must(w.do(everything, remove(w.request, id("request", 2))))
	}},
	{"rows are read by their keys, those that are there, in order", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		wanted := []stores.Value{id("request", 3), id("request", 11), id("request", 1), id("request", 99), id("request", 3), {}, str("no uuid")}
		check := func(r stores.Reader, scope stores.Scope, want ...int) {
			t.Helper()
			rows, err := r.Rows(ctx, w.request, wanted)
			w.must(err)
			if len(rows) != len(want) {
				t.Fatalf("%d rows, want %v", len(rows), want)
			}
			for i, n := range want {
				one, err := w.get(scope, w.request, id("request", n))
				w.must(err)
				if rows[i].Key() != id("request", n) || rows[i].Entity != w.request || !slices.Equal(rows[i].Values, one.Values) {
					t.Errorf("row %d is %v", i, rows[i])
				}
			}
		}
		for _, scope := range []stores.Scope{holding(1), holding(1, 7)} {
			w.must(w.View(ctx, scope, func(r stores.Reader) error {
				check(r, scope, 1, 3)
				return nil
			}))
		}
		w.must(w.Update(ctx, everything, func(tx stores.Tx) error {
			check(tx, everything, 1, 3, 11)
			err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{update(w.request, id("request", 3), stores.Assign{Field: reqNotes, Value: str("mine")})}})
			w.must(err)
			rows, err := tx.Rows(ctx, w.request, wanted[:1])
			if err != nil || rows[0].Values[reqNotes] != str("mine") {
				t.Error(rows, err)
			}
			many := make([]stores.Value, 0, 500)
			for n := range 500 {
				many = append(many, id("request", n))
			}
			rows, err = tx.Rows(ctx, w.request, many)
			if err != nil || len(rows) != 5 {
				t.Error(len(rows), err)
			}
			rows, err = tx.Rows(ctx, w.country, []stores.Value{str("FR"), str("DE")})
			if err != nil || len(rows) != 1 {
				t.Error(rows, err)
			}
			return err
		}))
		w.must(w.View(ctx, stores.Scope{}, func(r stores.Reader) error {
			check(r, stores.Scope{})
			return nil
		}))
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		if err := w.View(ctx, everything, func(r stores.Reader) error {
			_, err := r.Rows(stopped, w.request, wanted)
			return err
		}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}},
	{"a view sees one moment", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		w.must(w.View(ctx, holding(1), func(r stores.Reader) error {
			if _, err := r.Get(ctx, w.request, id("request", 3)); err != nil {
				return err
			}
			w.must(w.do(everything, remove(w.request, id("request", 2))))
			w.must(w.do(everything, update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("later")})))
			rows, err := r.Find(ctx, stores.Find{Entity: w.request})
			if len(rows) != 4 || !rows[0][reqNotes].IsNull() {
				t.Errorf("saw a later moment: %v", rows)
			}
			return err
		}))
		w.wantKeys(holding(1), stores.Find{Entity: w.request}, "request", 1, 3, 4)
	}},
	{"a transaction that nobody commits is seen by nobody", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		w.must(w.Update(ctx, everything, func(tx stores.Tx) error {
			err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{remove(w.request, id("request", 2))}})
			w.must(err)
			w.wantKeys(everything, stores.Find{Entity: w.request}, "request", 1, 2, 3, 4, 11)
			return nil
		}))
		w.wantKeys(everything, stores.Find{Entity: w.request}, "request", 1, 3, 4, 11)
	}},
	{"a cancelled context ends what was begun, and nothing stays", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		// SAFE-R4, in the small: cancelled at the nth step, for every n.
		for n := 0; ; n++ {
			ctx, cancel := context.WithCancel(context.Background())
			step := func(i int) {
				if i == n {
					cancel()
				}
			}
			step(0)
			err := w.Update(ctx, everything, func(tx stores.Tx) error {
				step(1)
				if _, err := tx.Get(ctx, w.request, id("request", 2)); err != nil {
					return err
				}
				step(2)
				if _, err := tx.Find(ctx, stores.Find{Entity: w.request}); err != nil {
					return err
				}
				step(3)
				if err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{remove(w.request, id("request", 2))}}); err != nil {
					return err
				}
				step(4)
				return nil
			})
			cancel()
			if n > 4 {
				w.must(err)
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("cancelled at step %d: %v", n, err)
			}
			w.wantKeys(everything, stores.Find{Entity: w.request}, "request", 1, 2, 3, 4, 11)
		}
		w.wantKeys(everything, stores.Find{Entity: w.request}, "request", 1, 3, 4, 11)
	}},
	{"who waits for the writer can give up", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		w.must(w.Update(ctx, everything, func(tx stores.Tx) error {
			err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{remove(w.request, id("request", 2))}})
			w.must(err)
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			err = w.Update(short, everything, func(tx stores.Tx) error {
				return tx.Apply(short, stores.Batch{Changes: []stores.Change{update(w.request, id("request", 2), stores.Assign{Field: reqNotes, Value: str("x")})}})
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			return nil
		}))
	}},
	{"a closed store says so", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.Close())
		w.must(w.Close())
		if err := w.do(everything, remove(w.request, id("request", 2))); err == nil {
			t.Error("wrote")
		}
		if _, err := w.get(everything, w.request, id("request", 2)); err == nil || errors.Is(err, stores.ErrNotFound) {
			t.Error(err)
		}
	}},
}
