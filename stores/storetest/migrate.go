package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"verbatim/stores"
)

// migrate migrates, or plans to, and returns the plan.
func migrate(t *testing.T, s stores.Store, apply bool, entities ...*stores.Entity) stores.Plan {
	t.Helper()
	plan, err := s.Migrate(context.Background(), entities, apply)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func wantProblem(t *testing.T, plan stores.Plan, parts ...string) {
	t.Helper()
	for _, p := range plan.Problems {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(p, part) }) {
			return
		}
	}
	t.Errorf("no problem with %q among %q", parts, plan.Problems)
}

// mapped returns an entity on the same table, as if the table had existed before.
func mapped(e *stores.Entity) *stores.Entity {
	m := *e
	m.Managed, m.Place = false, "mapped.yaml:7:3"
	m.Fields = slices.Clone(e.Fields)
	return &m
}

var migrateCases = []testCase{
	{"a plan changes nothing, and what it says is then done", func(t *testing.T, open Open) {
		s, sc := open(t, nil), newSchema()
		plan := migrate(t, s, false, sc.all()...)
		if len(plan.Steps) == 0 || len(plan.Problems) > 0 {
			t.Fatalf("%+v", plan)
		}
		if again := migrate(t, s, false, sc.all()...); !slices.Equal(again.Steps, plan.Steps) {
			t.Error("planning changed something")
		}
		if done := migrate(t, s, true, sc.all()...); !slices.Equal(done.Steps, plan.Steps) {
			t.Error("something else was done")
		}
	}},
	{"a second time there is nothing to do", func(t *testing.T, open Open) {
		s, sc := open(t, nil), newSchema()
		migrate(t, s, true, sc.all()...)
		if plan := migrate(t, s, true, sc.all()...); len(plan.Steps)+len(plan.Problems) > 0 {
			t.Errorf("%+v", plan)
		}
	}},
	{"an older store gets the indexes by which rows are found, once", func(t *testing.T, open Open) {
		s, sc := open(t, nil), newSchema()
		migrate(t, s, true, sc.all()...)
		sc.cbu.Found = [][]int{{sc.cbu.FieldIndex("name"), sc.cbu.Key}}
		plan := migrate(t, s, true, sc.all()...)
		if len(plan.Steps) != 1 || !strings.HasPrefix(plan.Steps[0], "CREATE INDEX") || len(plan.Problems) > 0 {
			t.Errorf("%+v", plan)
		}
		if plan := migrate(t, s, true, sc.all()...); len(plan.Steps)+len(plan.Problems) > 0 {
			t.Errorf("again: %+v", plan)
		}
	}},
	{"before migrate, the store says that it is not prepared", func(t *testing.T, open Open) {
		s, sc := open(t, nil), newSchema()
		ctx := context.Background()
		_, err1 := s.Principal(ctx, "x")
		_, err2 := s.Journal(ctx, 0, 0)
		err3 := s.View(ctx, everything, func(r stores.Reader) error {
			_, err := r.Get(ctx, sc.cbu, id("cbu", 1))
			return err
		})
		for _, err := range []error{err1, err2, err3} {
			if err == nil || err.Error() != stores.ErrSchema.Error() {
				t.Error(err)
			}
		}
	}},
	{"a table of ours grows", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		sub := *w.submission
		sub.Fields = append(slices.Clone(sub.Fields),
			stores.Field{Name: "pages", Column: "pages", Kind: stores.Int},
			stores.Field{Name: "state", Column: "state", Kind: stores.String, Required: true, Default: str("it's NEW")},
			stores.Field{Name: "country", Column: "country_id", Kind: stores.String, Ref: w.country})
		sub.Unique = [][]int{{1, 4}}
		plan := migrate(t, w, true, w.cbu, w.case_, w.workstream, w.country, w.request, &sub)
		if len(plan.Problems) > 0 || len(plan.Steps) == 0 {
			t.Fatalf("%+v", plan)
		}
		if plan := migrate(t, w, true, w.cbu, w.case_, w.workstream, w.country, w.request, &sub); len(plan.Steps)+len(plan.Problems) > 0 {
			t.Errorf("%+v", plan)
		}
		row, err := w.get(holding(1), &sub, id("submission", 1))
		w.must(err)
		if !row.Values[4].IsNull() || row.Values[5] != str("it's NEW") {
			t.Error(row.Values)
		}
		w.must(w.do(holding(1), update(&sub, id("submission", 1), stores.Assign{Field: 4, Value: stores.NewInt(3)}, stores.Assign{Field: 6, Value: str("DE")})))
	}},
	{"a field of ours that becomes optional, or is gone, needs no value", func(t *testing.T, open Open) {
		for name, change := range map[string]func(*stores.Entity){
			"optional": func(e *stores.Entity) { e.Fields[1].Required = false },
			"gone":     func(e *stores.Entity) { e.Fields = e.Fields[:1] },
		} {
			s := open(t, nil)
			e := &stores.Entity{Name: "thing", Table: "shop.things", Place: "shop.yaml:3:1", Managed: true, Access: stores.ForAll, Fields: []stores.Field{
				{Name: "key", Column: "thing_id", Kind: stores.UUID}, {Name: "dose", Column: "dose", Kind: stores.String, Required: true}}}
			migrate(t, s, true, e)
			put := func(e *stores.Entity, key int, set ...stores.Assign) {
				t.Helper()
				if err := s.Update(t.Context(), everything, func(tx stores.Tx) error {
					return tx.Apply(t.Context(), stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: id("thing", key), Set: set}}})
				}); err != nil {
					t.Fatal(name, err)
				}
			}
			put(e, 1, stores.Assign{Field: 1, Value: str("twice a day")})
			later := *e
			later.Fields = slices.Clone(e.Fields)
			change(&later)
			if plan := migrate(t, s, true, &later); len(plan.Problems) > 0 || len(plan.Steps) == 0 {
				t.Errorf("%s: %+v", name, plan)
			}
			if plan := migrate(t, s, true, &later); len(plan.Problems)+len(plan.Steps) > 0 {
				t.Errorf("%s, again: %+v", name, plan)
			}
			put(&later, 2)
			// The values are kept, and the operator who wants the field back is told which rows
			// lack one.
			plan := migrate(t, s, true, e)
			wantProblem(t, plan, "shop.yaml:3:1", "thing", "dose", "holds nulls")
		}
	}},
	{"what would lose or break rows is refused, all of it at once", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.do(everything, update(w.request, id("request", 1), stores.Assign{Field: reqNotes, Value: str("x")}), update(w.request, id("request", 2), stores.Assign{Field: reqNotes, Value: str("x")})))
		req := *w.request
		req.Place = "new.yaml:3:1"
		req.Fields = slices.Clone(req.Fields)
		req.Fields[reqCount].Kind = stores.String       // another type
		req.Fields[reqDue].Required = true              // rows without one
		req.Unique = [][]int{{reqWorkstream, reqNotes}} // rows with equal values
		req.Fields = append(req.Fields, stores.Field{Name: "new", Column: "new", Kind: stores.Int, Required: true})
		plan := migrate(t, w, true, w.cbu, w.case_, w.workstream, w.country, &req)
		for _, column := range []string{"count", "due_date", "notes", "new"} {
			wantProblem(t, plan, "new.yaml:3:1", "request", column)
		}
		if len(plan.Problems) != 4 {
			t.Errorf("%q", plan.Problems)
		}
		if plan := migrate(t, w, false, w.all()...); len(plan.Steps)+len(plan.Problems) > 0 {
			t.Errorf("something was done: %+v", plan)
		}
	}},
	{"a table of others is verified and never altered", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		good := mapped(w.country)
		if plan := migrate(t, w, true, good); len(plan.Steps)+len(plan.Problems) > 0 {
			t.Errorf("%+v", plan)
		}
		missing := mapped(w.cbu)
		missing.Table = "ob.nowhere"
		req := mapped(w.request)
		req.Fields = append(req.Fields, stores.Field{Name: "mood", Column: "mood", Kind: stores.String})
		req.Fields[reqCount].Kind = stores.Decimal // an integer column
		req.Fields[reqNotes].Kind = stores.Int     // a text column
		diary := mapped(w.diary)
		diary.Key = 2 // a column that nothing makes unique
		diary.Fields[2].Kind = stores.String
		diary.Scope = []stores.Step{{Field: 2}} // and no index begins with it
		plan := migrate(t, w, true, missing, req, diary)
		wantProblem(t, plan, "mapped.yaml:7:3", "cbu", "nowhere")
		wantProblem(t, plan, "mapped.yaml:7:3", "request", "mood")
		wantProblem(t, plan, "request", "count")
		wantProblem(t, plan, "request", "notes")
		wantProblem(t, plan, "diary", "text", "unique")
		// F18: a missing index is no error, and is reported with the statement that makes it.
		if len(plan.Warnings) != 1 || !strings.Contains(plan.Warnings[0], "CREATE INDEX") || !strings.Contains(plan.Warnings[0], "diary") {
			t.Errorf("%q", plan.Warnings)
		}
		if len(plan.Problems) != 5 || len(plan.Steps) > 0 {
			t.Errorf("%+v", plan)
		}
	}},
	{"a table of others is read and written like ours", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		m := newSchema()
		for _, e := range m.all() {
			e.Managed = false
		}
		m.request.Unique = nil
		if plan := migrate(t, w, true, m.all()...); len(plan.Steps)+len(plan.Problems) > 0 {
			t.Fatalf("%+v", plan)
		}
		w.schema = m
		row, err := w.get(holding(1), m.request, id("request", 1))
		w.must(err)
		all := make([]int, len(row.Values))
		for i := range all {
			all[i] = i
		}
		w.must(w.do(holding(1), stores.Change{Op: stores.Update, Entity: m.request, Key: row.Key(), Before: row.Values, Guard: all,
			Set: []stores.Assign{{Field: reqNotes, Value: str("x")}, {Field: reqTypes, Value: list(`["A"]`)}}}))
		w.wantKeys(holding(1), stores.Find{Entity: m.request, Where: &stores.Cond{Op: stores.Ge, Path: stores.Path{Field: reqCreated}, Value: instant("2024-12-02T09:00:00.5Z")}}, "request", 2, 3)
		w.wantKeys(holding(1), stores.Find{Entity: m.request, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: reqAmount}, Value: dec("10")}}, "request", 2, 3)
		if err := w.do(holding(1), remove(m.request, id("request", 11))); err != stores.ErrNotFound {
			t.Error(err)
		}
	}},
	{"two entities cannot share what would be one table, nor two fields a column", func(t *testing.T, open Open) {
		s, sc := open(t, nil), newSchema()
		twice := *sc.country
		twice.Name, twice.Place = "land", "b.yaml:2:2"
		odd := *sc.cbu
		odd.Fields = append(slices.Clone(odd.Fields), stores.Field{Name: "alias", Column: "NAME", Kind: stores.String})
		taken := *sc.diary
		taken.Table = "verbatim_journal"
		plan := migrate(t, s, true, sc.country, &twice, &odd, &taken)
		wantProblem(t, plan, "b.yaml:2:2", "land", "country")
		wantProblem(t, plan, "cbu", "alias", "NAME")
		wantProblem(t, plan, "diary", "verbatim_journal")
	}},
}
