package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"verbatim/stores"
)

// Tables of others may use other words for codes, have keys of several columns, and generate
// values for new rows. F15 F18.
var existingCases = []testCase{
	{"a code is kept as its column spells it", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		m := mapped(w.request)
		names := []string{"WAITS", "PART", "DONE"}
		m.Fields[reqStatus].Codes = names
		m.Fields[reqStatus].Spelling = stores.NewCodes("state", names, []stores.Value{str("PENDING"), str("PARTIALLY_FULFILLED"), str("FULFILLED")})
		m.Fields[reqStatus].Default = str("WAITS")
		set := stores.Change{Op: stores.Update, Entity: m, Key: id("request", 2), Set: []stores.Assign{{Field: reqStatus, Value: str("DONE")}}, Guard: []int{reqStatus}, Before: make([]stores.Value, len(m.Fields))}
		set.Before[reqStatus] = str("PART")
		if err := w.do(everything, set); !errors.Is(err, stores.ErrConflict) {
			t.Errorf("a guard that does not hold: %v", err)
		}
		set.Before[reqStatus] = str("WAITS")
		w.must(w.do(everything, set, insert(m, id("request", 5), stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}, stores.Assign{Field: reqSubtype, Value: str("X")})))
		path := stores.Path{Field: reqStatus}
		for _, c := range []struct {
			cond stores.Cond
			want []int
		}{
			{stores.Cond{Op: stores.Eq, Path: path, Value: str("DONE")}, []int{2}},
			{stores.Cond{Op: stores.Eq, Path: path, Value: str("FULFILLED")}, nil},
			{stores.Cond{Op: stores.Ne, Path: path, Value: str("WAITS")}, []int{2}},
			{stores.Cond{Op: stores.Ne, Path: path, Value: str("nothing")}, []int{1, 2, 3, 4, 5, 11}},
			{stores.Cond{Op: stores.In, Path: path, Value: stores.NewList(str("DONE"), str("PENDING"))}, []int{2}},
			{stores.Cond{Op: stores.Not, Kids: []stores.Cond{{Op: stores.In, Path: path, Value: stores.NewList(str("WAITS"))}}}, []int{2}},
		} {
			w.wantKeys(everything, stores.Find{Entity: m, Where: &c.cond}, "request", c.want...)
		}
		for key, want := range map[int]string{1: "WAITS", 2: "DONE", 5: "WAITS"} {
			row, err := w.get(everything, m, id("request", key))
			w.must(err)
			plain, err := w.get(everything, w.request, id("request", key))
			w.must(err)
			if row.Values[reqStatus] != str(want) || plain.Values[reqStatus] == str(want) {
				t.Errorf("request %d is %v, and its column holds %v", key, row.Values[reqStatus], plain.Values[reqStatus])
			}
		}
		var lists [][][]stores.Value
		_, err := w.find(everything, stores.Find{Entity: w.workstream, Lists: []stores.List{{Entity: m, By: stores.Path{Field: reqWorkstream}, Select: []stores.Path{path}, Order: []stores.Order{{Path: stores.Path{Field: reqSubtype}}},
			Where: &stores.Cond{Op: stores.Eq, Path: path, Value: str("DONE")}, Into: &lists}}})
		if w.must(err); len(lists) != 2 || len(lists[0]) != 1 || lists[0][0][0] != str("DONE") {
			t.Errorf("the lists are %v", lists)
		}
		q := stores.SQL{Text: "SELECT status FROM kyc.requests WHERE status = 'FULFILLED'", Columns: []stores.Column{{Name: "status", Kind: stores.String, Spelling: m.Fields[reqStatus].Spelling}}}
		w.must(w.View(context.Background(), everything, func(r stores.Reader) error {
			rows, err := r.SQL(context.Background(), []*stores.Entity{m}, q)
			if err != nil || len(rows) != 1 || rows[0][0] != str("DONE") {
				t.Errorf("a query: %v, %v", rows, err)
			}
			return nil
		}))
	}},
	{"a key has several fields", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		m := mapped(w.request)
		m.Parts, m.Key = []int{reqWorkstream, reqSubtype}, len(m.Fields)
		m.Fields = append(m.Fields, stores.Field{Name: "workstream+subtype", Kind: stores.String, Required: true})
		key := func(stream int, subtype string) stores.Value {
			return stores.NewKey(id("workstream", stream), str(subtype))
		}
		odd := key(1, "a/b~c")
		add := insert(m, odd, stores.Assign{Field: reqID, Value: id("request", 7)}, stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}, stores.Assign{Field: reqSubtype, Value: str("a/b~c")})
		for _, scope := range []stores.Scope{everything, holding(1)} {
			w.must(w.do(scope, add))
			if err := w.do(scope, add); !errors.Is(err, stores.ErrDuplicate) {
				t.Errorf("added twice: %v", err)
			}
			row, err := w.get(scope, m, odd)
			if w.must(err); row.Key() != odd || row.Values[reqSubtype] != str("a/b~c") {
				t.Errorf("the row is %v", row.Values)
			}
			w.must(w.do(scope, update(m, odd, stores.Assign{Field: reqNotes, Value: str("here")}), update(m, key(1, "TAX"), stores.Assign{Field: reqNotes, Value: str("there")})))
			for _, c := range []stores.Cond{{Op: stores.In, Path: stores.Path{Field: m.Key}, Value: stores.NewList(odd, key(1, "TAX"), str("no key"))}, {Op: stores.Ne, Path: stores.Path{Field: reqNotes}}} {
				if got := w.keys(scope, stores.Find{Entity: m, Where: &c}); len(got) != 2 || !slices.Contains(got, odd) || !slices.Contains(got, key(1, "TAX")) {
					t.Errorf("found %v", got)
				}
			}
			w.must(w.View(context.Background(), scope, func(r stores.Reader) error {
				rows, err := r.Rows(context.Background(), m, []stores.Value{key(1, "TAX"), str("no key"), odd})
				if err != nil || len(rows) != 2 {
					t.Errorf("%v, %v", rows, err)
				}
				return nil
			}))
			w.must(w.do(scope, remove(m, odd)))
			if _, err := w.get(scope, m, odd); !errors.Is(err, stores.ErrNotFound) {
				t.Error(err)
			}
		}
		for _, c := range []stores.Change{
			insert(m, key(1, "OTHER"), add.Set...), update(m, key(1, "TAX"), stores.Assign{Field: reqSubtype, Value: str("x")}), insert(m, str("no key"), add.Set...),
		} {
			if err := w.do(everything, c); !errors.Is(err, stores.ErrInvalid) {
				t.Errorf("a key that is not its parts: %v", err)
			}
		}
		// A caller who may not see the row does not find it by its parts either.
		if _, err := w.get(holding(2), m, key(1, "TAX")); !errors.Is(err, stores.ErrNotFound) {
			t.Error(err)
		}
	}},
	{"the database gives a new row what it has for it", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.Update(context.Background(), everything, func(tx stores.Tx) error {
			for field, want := range map[int]stores.Value{reqVisible: stores.NewBool(true), reqStatus: str("PENDING")} {
				if v, err := tx.Draw(context.Background(), w.request, field); err != nil || v != want {
					t.Errorf("%s: %v, %v", w.request.Fields[field].Name, v, err)
				}
			}
			tx.Discard()
			return nil
		}))
		m := mapped(w.request)
		m.Fields[reqNotes].Computed = true
		if err := w.do(everything, update(m, id("request", 1), stores.Assign{Field: reqNotes, Value: str("x")})); !errors.Is(err, stores.ErrInvalid) {
			t.Errorf("a field that the database gives was set: %v", err)
		}
	}},
}
