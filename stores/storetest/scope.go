package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"verbatim/stores"
)

// X4, SAFE-A2: rows outside the scope do not exist, and no answer distinguishes them from rows
// that really do not exist.
var scopeCases = []testCase{
	{"a row is there for who holds its root", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for _, c := range []struct {
			e   *stores.Entity
			key stores.Value
		}{
			{w.cbu, id("cbu", 1)}, {w.case_, id("case", 1)}, {w.workstream, id("workstream", 1)},
			{w.request, id("request", 1)}, {w.submission, id("submission", 1)},
		} {
			if _, err := w.get(holding(1), c.e, c.key); err != nil {
				t.Errorf("%s: %v", c.e.Name, err)
			}
			if _, err := w.get(holding(2, 1), c.e, c.key); err != nil {
				t.Errorf("%s, holding two: %v", c.e.Name, err)
			}
			if _, err := w.get(everything, c.e, c.key); err != nil {
				t.Errorf("%s, seeing all: %v", c.e.Name, err)
			}
			for name, scope := range map[string]stores.Scope{"nothing": {}, "another": holding(2)} {
				if _, err := w.get(scope, c.e, c.key); err != stores.ErrNotFound {
					t.Errorf("%s, holding %s: %v", c.e.Name, name, err)
				}
			}
		}
	}},
	{"many held rows open as one does", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for _, n := range []int{2, 3, 5, 40, 500} {
			scope := holding(1)
			for i := 1; i < n; i++ {
				scope.Holds["cbu"] = append(scope.Holds["cbu"], id("cbu", 100+i))
			}
			w.wantKeys(scope, stores.Find{Entity: w.request}, "request", 1, 2, 3, 4)
			if _, err := w.get(scope, w.request, id("request", 11)); err != stores.ErrNotFound {
				t.Errorf("holding %d: %v", n, err)
			}
		}
	}},
	{"a find sees the rows within the scope", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.wantKeys(holding(1), stores.Find{Entity: w.request}, "request", 1, 2, 3, 4)
		w.wantKeys(holding(2), stores.Find{Entity: w.request}, "request", 11)
		w.wantKeys(stores.Scope{}, stores.Find{Entity: w.request}, "request")
		w.wantKeys(everything, stores.Find{Entity: w.request}, "request", 1, 2, 3, 4, 11)
		w.wantKeys(holding(1), stores.Find{Entity: w.cbu}, "cbu", 1)
	}},
	{"a page belongs to the principal it names", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.wantKeys(holding(1, 2), stores.Find{Entity: w.diary}, "diary", 1)
		w.must(w.do(everything, insert(w.diary, id("diary", 4), stores.Assign{Field: 1, Value: str("")})))
		w.wantKeys(stores.Scope{}, stores.Find{Entity: w.diary}, "diary")
		if _, err := w.get(holding(1), w.diary, id("diary", 2)); err != stores.ErrNotFound {
			t.Error(err)
		}
		if err := w.do(holding(), insert(w.diary, id("diary", 3), stores.Assign{Field: 1, Value: str("thomas")})); err != stores.ErrNotFound {
			t.Errorf("a page in another's diary: %v", err)
		}
		w.must(w.do(holding(), insert(w.diary, id("diary", 3), stores.Assign{Field: 1, Value: str("pierre")})))
		if err := w.do(holding(), update(w.diary, id("diary", 3), stores.Assign{Field: 1, Value: str("thomas")})); err != stores.ErrNotFound {
			t.Errorf("a page given away: %v", err)
		}
	}},
	{"reference data is read by everybody and written by who sees all", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		if _, err := w.get(stores.Scope{}, w.country, str("DE")); err != nil {
			t.Error(err)
		}
		for i, c := range []stores.Change{
			insert(w.country, str("FR")),
			update(w.country, str("DE"), stores.Assign{Field: 1, Value: str("Allemagne")}),
			remove(w.country, str("DE")),
		} {
			if err := w.do(holding(1, 2), c); !errors.Is(err, stores.ErrReadOnly) {
				t.Errorf("change %d: %v", i, err)
			}
			w.must(w.do(everything, c))
		}
	}},
	{"foreign and absent answer alike to every change", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		note := stores.Assign{Field: reqNotes, Value: str("x")}
		guarded := func(c stores.Change) stores.Change {
			c.Before = make([]stores.Value, len(w.request.Fields))
			c.Guard = []int{reqNotes, reqStatus}
			return c
		}
		for _, c := range []struct {
			name            string
			foreign, absent stores.Change
		}{
			{"update", update(w.request, id("request", 11), note), update(w.request, id("request", 99), note)},
			{"guarded update", guarded(update(w.request, id("request", 11), note)), guarded(update(w.request, id("request", 99), note))},
			{"delete", remove(w.request, id("request", 11)), remove(w.request, id("request", 99))},
			{"insert below", insert(w.submission, id("submission", 9), stores.Assign{Field: 1, Value: id("request", 11)}), insert(w.submission, id("submission", 9), stores.Assign{Field: 1, Value: id("request", 99)})},
			{"insert at the root", insert(w.case_, id("case", 9), stores.Assign{Field: 1, Value: id("cbu", 2)}), insert(w.case_, id("case", 9), stores.Assign{Field: 1, Value: id("cbu", 99)})},
			{"insert a reference", insert(w.submission, id("submission", 9), stores.Assign{Field: 1, Value: id("request", 1)}, stores.Assign{Field: 3, Value: id("submission", 88)}), insert(w.submission, id("submission", 9), stores.Assign{Field: 1, Value: id("request", 1)}, stores.Assign{Field: 3, Value: id("submission", 99)})},
			{"move", update(w.request, id("request", 1), stores.Assign{Field: reqWorkstream, Value: id("workstream", 2)}), update(w.request, id("request", 1), stores.Assign{Field: reqWorkstream, Value: id("workstream", 99)})},
			{"move at the root", update(w.case_, id("case", 1), stores.Assign{Field: 1, Value: id("cbu", 2)}), update(w.case_, id("case", 1), stores.Assign{Field: 1, Value: id("cbu", 99)})},
			{"delete at the root", remove(w.cbu, id("cbu", 2)), remove(w.cbu, id("cbu", 99))},
			{"a duplicate of a foreign row's values", insert(w.request, id("request", 90), stores.Assign{Field: reqWorkstream, Value: id("workstream", 2)}, stores.Assign{Field: reqSubtype, Value: str("IDENTITY")}), insert(w.request, id("request", 90), stores.Assign{Field: reqWorkstream, Value: id("workstream", 99)}, stores.Assign{Field: reqSubtype, Value: str("IDENTITY")})},
		} {
			w.must(w.ensure(w.submission, id("submission", 88), stores.Assign{Field: 1, Value: id("request", 11)}))
			f, a := w.do(holding(1), c.foreign), w.do(holding(1), c.absent)
			if f == nil || a == nil || f.Error() != a.Error() || !errors.Is(f, stores.ErrNotFound) {
				t.Errorf("%s: foreign %v, absent %v", c.name, f, a)
			}
		}
		w.wantKeys(everything, stores.Find{Entity: w.request}, "request", 1, 2, 3, 4, 11)
		w.wantKeys(everything, stores.Find{Entity: w.submission}, "submission", 1, 2, 88)
	}},
	{"a reference to nothing is not there even for who sees all", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		err := w.do(everything, insert(w.submission, id("submission", 9), stores.Assign{Field: 1, Value: id("request", 99)}))
		if err != stores.ErrNotFound {
			t.Error(err)
		}
	}},
	{"unique is unique within the root, and silent beyond it", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ref := func(n int) stores.Change {
			return update(w.request, id("request", n), stores.Assign{Field: reqReference, Value: str("R-1")})
		}
		w.must(w.do(everything, ref(11)))
		w.must(w.do(holding(1), ref(1))) // another root's R-1 is no obstacle
		if err := w.do(holding(1), ref(2)); !errors.Is(err, stores.ErrDuplicate) {
			t.Errorf("two of one root: %v", err)
		}
		stage := func(key, cbu int, s string) stores.Change {
			return insert(w.case_, id("case", key), stores.Assign{Field: 1, Value: id("cbu", cbu)}, stores.Assign{Field: 2, Value: str(s)})
		}
		w.must(w.do(everything, stage(20, 2, "INTAKE")))
		w.must(w.do(holding(1), stage(21, 1, "INTAKE")))
		if err := w.do(holding(1), stage(22, 1, "INTAKE")); !errors.Is(err, stores.ErrDuplicate) {
			t.Errorf("two of one root, by index: %v", err)
		}
		// A name unique among roots would tell of roots that the caller cannot see.
		for _, name := range []string{"CBU 2", "nobody's"} {
			err := w.do(holding(1), update(w.cbu, id("cbu", 1), stores.Assign{Field: 1, Value: str(name)}))
			if !errors.Is(err, stores.ErrReadOnly) {
				t.Errorf("renaming a root: %v", err)
			}
		}
		if err := w.do(everything, update(w.cbu, id("cbu", 1), stores.Assign{Field: 1, Value: str("CBU 2")})); !errors.Is(err, stores.ErrDuplicate) {
			t.Errorf("renaming a root, seeing all: %v", err)
		}
	}},
	{"what a row refers to is null when it is out of scope", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		// Only a scope with All can make a reference between owners.
		w.must(w.do(everything, insert(w.submission, id("submission", 3), stores.Assign{Field: 1, Value: id("request", 11)}, stores.Assign{Field: 2, Value: str("theirs")})))
		w.must(w.do(everything, insert(w.submission, id("submission", 4), stores.Assign{Field: 1, Value: id("request", 1)}, stores.Assign{Field: 3, Value: id("submission", 3)})))
		previous := stores.Path{Steps: []stores.Step{{Field: 3, To: w.submission}}, Field: 2}
		f := stores.Find{Entity: w.submission, Select: []stores.Path{previous}, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: 0}, Value: id("submission", 4)}}
		for scope, want := range map[*stores.Scope]stores.Value{{All: true}: str("theirs"), ptr(holding(1)): {}} {
			rows, err := w.find(*scope, f)
			w.must(err)
			if len(rows) != 1 || rows[0][0] != want {
				t.Errorf("%v, want %v", rows, want)
			}
		}
		// Nor does a filter or a count include it.
		f.Where = &stores.Cond{Op: stores.Eq, Path: previous, Value: str("theirs")}
		if rows, _ := w.find(holding(1), f); len(rows) != 0 {
			t.Error("a filter saw a foreign row")
		}
		count := stores.Path{Count: w.submission, By: 3}
		rows, err := w.find(holding(2), stores.Find{Entity: w.submission, Select: []stores.Path{count}})
		w.must(err)
		if len(rows) != 1 || rows[0][0] != stores.NewInt(0) {
			t.Errorf("counted foreign rows: %v", rows)
		}
	}},
	{"a key of another kind is not there", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for _, key := range []stores.Value{{}, str(id("cbu", 1).Text()), stores.NewInt(1)} {
			if _, err := w.get(everything, w.cbu, key); err != stores.ErrNotFound {
				t.Error(err)
			}
		}
	}},
	{"a transaction keeps the scope it began with", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		err := w.Update(context.Background(), holding(1), func(tx stores.Tx) error {
			if _, err := tx.Get(context.Background(), w.request, id("request", 11)); err != stores.ErrNotFound {
				t.Error(err)
			}
			rows, err := tx.Find(context.Background(), stores.Find{Entity: w.request})
			if len(rows) != 4 {
				t.Errorf("%d rows", len(rows))
			}
			return err
		})
		w.must(err)
	}},
}

func ptr[T any](v T) *T { return &v }

// ensure inserts a row unless it is there.
func (w *world) ensure(e *stores.Entity, key stores.Value, set ...stores.Assign) error {
	if _, err := w.get(everything, e, key); err == nil {
		return nil
	}
	return w.do(everything, insert(e, key, set...))
}

// X7, SAFE-A1, SAFE-A2: reads, paths, counts, filters, queries and changes treat a hidden row,
// and everything that belongs to it, as if it did not exist. A scope with All sees it.
var hiddenCases = []testCase{
	{"a hidden row is there for nobody but who sees all", func(t *testing.T, open Open) {
		w := hiddenWorld(t, open)
		w.wantKeys(holding(1), stores.Find{Entity: w.request}, "request", 2, 3, 4)
		w.wantKeys(everything, stores.Find{Entity: w.request}, "request", 1, 2, 3, 4, 11)
		w.wantKeys(holding(1), stores.Find{Entity: w.submission}, "submission", 5)
		w.wantKeys(everything, stores.Find{Entity: w.submission}, "submission", 1, 2, 5)
		for _, c := range []struct {
			e    *stores.Entity
			kind string
			n    int
		}{{w.request, "request", 1}, {w.submission, "submission", 1}} {
			if _, err := w.get(holding(1), c.e, id(c.kind, c.n)); err != stores.ErrNotFound {
				t.Errorf("%s: %v", c.kind, err)
			}
			if _, err := w.get(everything, c.e, id(c.kind, c.n)); err != nil {
				t.Errorf("%s, seeing all: %v", c.kind, err)
			}
			w.must(w.View(context.Background(), holding(1), func(r stores.Reader) error {
				rows, err := r.Rows(context.Background(), c.e, []stores.Value{id(c.kind, c.n)})
				if len(rows) != 0 {
					t.Errorf("%s, of several: %v", c.kind, rows)
				}
				return err
			}))
		}
	}},
	{"what belongs to a hidden row is hidden, over however many references", func(t *testing.T, open Open) {
		for _, kind := range []string{"cbu", "case", "workstream"} {
			var hides *stores.Entity
			w := newWorld(t, func(t *testing.T, entities []*stores.Entity) stores.Store {
				hides = entities[slices.IndexFunc(entities, func(e *stores.Entity) bool { return e.Name == kind })]
				hides.Visible, hides.Unique = []int{len(hides.Fields)}, nil
				hides.Fields = append(hides.Fields, stores.Field{Name: "shown", Column: "shown", Kind: stores.Bool, Required: true, Default: stores.NewBool(true)})
				return open(t, entities)
			})
			w.must(w.do(everything, insert(w.submission, id("submission", 9), stores.Assign{Field: 1, Value: id("request", 11)})))
			w.wantKeys(holding(1, 2), stores.Find{Entity: w.submission}, "submission", 1, 2, 9)
			w.must(w.do(everything, update(hides, id(kind, 2), stores.Assign{Field: hides.Visible[0], Value: stores.NewBool(false)})))
			w.wantKeys(holding(1, 2), stores.Find{Entity: w.request}, "request", 1, 2, 3, 4)
			w.wantKeys(holding(1, 2), stores.Find{Entity: w.submission}, "submission", 1, 2)
			w.wantKeys(everything, stores.Find{Entity: w.submission}, "submission", 1, 2, 9)
			if _, err := w.get(holding(1, 2), w.submission, id("submission", 9)); err != stores.ErrNotFound {
				t.Errorf("hidden by its %s: %v", kind, err)
			}
		}
	}},
	{"a read beyond the scope is one read, and opens nothing else", func(t *testing.T, open Open) {
		w := hiddenWorld(t, open)
		all, own := w.keys(everything, stores.Find{Entity: w.request}), w.keys(holding(1), stores.Find{Entity: w.request})
		if len(all) <= len(own) {
			t.Fatalf("%d of %d rows are hidden", len(all)-len(own), len(all))
		}
		looks := func(r stores.Reader) error {
			for range 2 {
				for _, c := range []struct {
					beyond bool
					want   int
				}{{true, len(all)}, {false, len(own)}} {
					rows, err := r.Find(context.Background(), stores.Find{Entity: w.request, Select: []stores.Path{{Field: 0}}, Beyond: c.beyond})
					if err != nil || len(rows) != c.want {
						t.Errorf("beyond %v: %d rows, want %d, %v", c.beyond, len(rows), c.want, err)
					}
				}
				// Only the transaction's settings restrict this query to the scope.
				rows, err := r.SQL(context.Background(), w.all(), stores.SQL{Text: "SELECT subtype FROM kyc.requests", Columns: columns("subtype", stores.String)})
				if err != nil || len(rows) != len(own) {
					t.Errorf("a query after it: %d rows, want %d, %v", len(rows), len(own), err)
				}
			}
			_, err := r.Find(context.Background(), stores.Find{Entity: w.request, Limit: 1, Beyond: true})
			if !errors.Is(err, stores.ErrLimit) {
				t.Errorf("too many: %v", err)
			}
			return err
		}
		if err := w.View(context.Background(), holding(1), looks); !errors.Is(err, stores.ErrLimit) {
			t.Error(err)
		}
		if err := w.Update(context.Background(), holding(1), func(tx stores.Tx) error { return looks(tx) }); !errors.Is(err, stores.ErrLimit) {
			t.Error(err)
		}
		// Whatever happened to it, the next transaction is within its scope.
		for range 8 {
			w.wantKeys(holding(1), stores.Find{Entity: w.request}, "request", rowsOf(own)...)
		}
	}},
	{"no path, count, filter or query leads to a hidden row", func(t *testing.T, open Open) {
		w := hiddenWorld(t, open)
		first := func(scope stores.Scope, f stores.Find) stores.Value {
			t.Helper()
			rows, err := w.find(scope, f)
			w.must(err)
			if len(rows) != 1 {
				t.Fatalf("%v", rows)
			}
			return rows[0][0]
		}
		is := func(key stores.Value) *stores.Cond {
			return &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: 0}, Value: key}
		}
		for want, scope := range map[int64]stores.Scope{3: holding(1), 4: everything} {
			if got := first(scope, stores.Find{Entity: w.workstream, Select: []stores.Path{{Count: w.request, By: reqWorkstream}}, Where: is(id("workstream", 1))}); got != stores.NewInt(want) {
				t.Errorf("counted %v, want %d", got, want)
			}
		}
		// Submission 5 belongs to request 2, and follows submission 1, which is hidden with its
		// request.
		note := stores.Path{Steps: []stores.Step{{Field: 3, To: w.submission}}, Field: 2}
		if got := first(holding(1), stores.Find{Entity: w.submission, Select: []stores.Path{note}}); !got.IsNull() {
			t.Errorf("a path shows %v", got)
		}
		if got := first(everything, stores.Find{Entity: w.submission, Select: []stores.Path{note}, Where: is(id("submission", 5))}); got != str("secret") {
			t.Errorf("seeing all, a path shows %v", got)
		}
		if rows, _ := w.find(holding(1), stores.Find{Entity: w.submission, Where: &stores.Cond{Op: stores.Eq, Path: note, Value: str("secret")}}); len(rows) != 0 {
			t.Error("a filter saw a hidden row")
		}
		for want, scope := range map[int64]stores.Scope{4: holding(1), 8: everything} {
			w.must(w.View(context.Background(), scope, func(r stores.Reader) error {
				rows, err := r.SQL(context.Background(), []*stores.Entity{w.request, w.submission}, stores.SQL{
					Text:    "SELECT (SELECT count(*) FROM kyc.requests) + (SELECT count(*) FROM kyc.submissions) AS n",
					Columns: []stores.Column{{Name: "n", Kind: stores.Int}},
				})
				if err == nil && (len(rows) != 1 || rows[0][0] != stores.NewInt(want)) {
					t.Errorf("a query counts %v, want %d", rows, want)
				}
				return err
			}))
		}
	}},
	{"hidden and absent answer alike to every change", func(t *testing.T, open Open) {
		w := hiddenWorld(t, open)
		for _, c := range []struct {
			name           string
			hidden, absent stores.Change
		}{
			{"update", update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("x")}), update(w.request, id("request", 99), stores.Assign{Field: reqNotes, Value: str("x")})},
			{"show", update(w.request, id("request", 1), stores.Assign{Field: reqVisible, Value: stores.NewBool(true)}), update(w.request, id("request", 99), stores.Assign{Field: reqVisible, Value: stores.NewBool(true)})},
			{"delete", remove(w.submission, id("submission", 1)), remove(w.submission, id("submission", 99))},
			{"insert below", insert(w.submission, id("submission", 9), stores.Assign{Field: 1, Value: id("request", 1)}), insert(w.submission, id("submission", 9), stores.Assign{Field: 1, Value: id("request", 99)})},
			{"refer", update(w.submission, id("submission", 5), stores.Assign{Field: 3, Value: id("submission", 2)}), update(w.submission, id("submission", 5), stores.Assign{Field: 3, Value: id("submission", 99)})},
		} {
			h, a := w.do(holding(1), c.hidden), w.do(holding(1), c.absent)
			if h == nil || a == nil || h.Error() != a.Error() || !errors.Is(h, stores.ErrNotFound) {
				t.Errorf("%s: hidden %v, absent %v", c.name, h, a)
			}
		}
		// Nor can a caller hide a row that they would not see any more.
		hide := stores.Assign{Field: reqVisible, Value: stores.NewBool(false)}
		if err := w.do(holding(1), update(w.request, id("request", 2), hide)); !errors.Is(err, stores.ErrNotFound) {
			t.Errorf("hiding: %v", err)
		}
		fresh := insert(w.request, id("request", 9), stores.Assign{Field: reqWorkstream, Value: id("workstream", 1)}, stores.Assign{Field: reqSubtype, Value: str("X")}, hide)
		if err := w.do(holding(1), fresh); !errors.Is(err, stores.ErrNotFound) {
			t.Errorf("inserting hidden: %v", err)
		}
		w.must(w.do(everything, fresh, update(w.request, id("request", 2), hide)))
		w.wantKeys(holding(1), stores.Find{Entity: w.request}, "request", 3, 4)
		w.wantKeys(holding(1), stores.Find{Entity: w.submission}, "submission")
	}},
}

// hiddenWorld returns a world in which request 1 is hidden.
func hiddenWorld(t *testing.T, open Open) *world {
	t.Helper()
	w := newWorld(t, func(t *testing.T, entities []*stores.Entity) stores.Store {
		for _, e := range entities {
			if e.Name == "request" {
				e.Visible, e.Unique = []int{reqVisible}, nil
			}
		}
		return open(t, entities)
	})
	w.must(w.do(everything,
		update(w.request, id("request", 1), stores.Assign{Field: reqVisible, Value: stores.NewBool(false)}),
		update(w.submission, id("submission", 1), stores.Assign{Field: 2, Value: str("secret")}),
		insert(w.submission, id("submission", 5), stores.Assign{Field: 1, Value: id("request", 2)}, stores.Assign{Field: 3, Value: id("submission", 1)}),
	))
	return w
}

// rowsOf returns the numbers of rows by their keys.
func rowsOf(keys []stores.Value) (all []int) {
	for _, key := range keys {
		for n := range 100 {
			if key == id("request", n) {
				all = append(all, n)
			}
		}
	}
	return all
}
