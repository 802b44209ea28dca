package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

// A database that was there before, in either dialect, and a palette over it.
type old struct {
	*shop
	t testing.TB
}

// onExisting runs a test on either backend, over tables that other programs made. What
// follows -- sqlite or -- postgres in a line of the SQL is for that one alone.
func onExisting(t *testing.T, sql string, test func(t *testing.T, open func(palette string) *old)) {
	onTables(t, sql, func(t *testing.T, store stores.Store, _ func() []stores.Table) {
		test(t, func(palette string) *old {
			reg, ds := loading.Sources(dsl.NewSource("old.yaml", palette))
			if ds.HasErrors() {
				t.Fatal(told(ds))
			}
			return &old{&shop{reg: reg, store: store}, t}
		})
	})
}

// onTables is onExisting without a palette: tables describes what is there.
func onTables(t *testing.T, sql string, test func(t *testing.T, store stores.Store, tables func() []stores.Table)) {
	described := func(t *testing.T, all []stores.Table, err error) []stores.Table {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	dialect := func(name string) string {
		var b strings.Builder
		for line := range strings.Lines(sql) {
			text, only, marked := strings.Cut(strings.TrimRight(line, "\n"), " -- ")
			if !marked || only == name {
				b.WriteString(text + "\n")
			}
		}
		return b.String()
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "old.db")
		store, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		if err := store.Load(context.Background(), dialect("sqlite")); err != nil {
			t.Fatal(err)
		}
		test(t, store, func() []stores.Table {
			all, err := sqlite.Tables(context.Background(), path, nil)
			return described(t, all, err)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		store, err := postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		if err := store.Load(context.Background(), dialect("postgres")+"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO verbatim_app; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO verbatim_app"); err != nil {
			t.Fatal(err)
		}
		test(t, store, func() []stores.Table {
			all, err := postgres.Tables(context.Background(), db.Admin, nil)
			return described(t, all, err)
		})
	})
}

// migrate compares the palette with the tables, and returns what stands in the way.
func (o *old) migrate() []string {
	o.t.Helper()
	plan, err := o.store.Migrate(context.Background(), append(o.tables(), engine.Own()...), true)
	if err != nil {
		o.t.Fatal(err)
	}
	return plan.Problems
}

// begin migrates and makes a principal, ada, whose role is clerk, or others.
func (o *old) begin(roles ...string) *old {
	o.t.Helper()
	if problems := o.migrate(); len(problems) > 0 {
		o.t.Fatal(strings.Join(problems, "\n"))
	}
	if err := o.store.SetPrincipal(context.Background(), stores.Principal{Name: "ada", Roles: append(roles, "clerk")}); err != nil {
		o.t.Fatal(err)
	}
	var err error
	if o.engine, err = engine.New(o.reg, o.store, engine.Options{}); err != nil {
		o.t.Fatal(err)
	}
	return o
}

// check begins a session of ada's and checks a script in it.
func (o *old) check(text string) (*engine.Session, *verbs.Program, error) {
	ctx := context.Background()
	session, err := o.engine.Session(ctx, "ada")
	if err != nil {
		return nil, nil, err
	}
	script, ds := dsl.Parse(dsl.NewSource("old.dsl", text))
	if ds.HasErrors() {
		return nil, nil, errors.New(told(ds))
	}
	p, ds := session.Check(ctx, script)
	if p == nil {
		return nil, nil, errors.New(told(ds))
	}
	return session, p, nil
}

func (o *old) checked(text string) (*engine.Session, *verbs.Program) {
	o.t.Helper()
	session, p, err := o.check(text)
	if err != nil {
		o.t.Fatal(err)
	}
	return session, p
}

// run says a script as ada and returns what came of it.
func (o *old) run(text string) (*receipt.Receipt, error) {
	session, p, err := o.check(text)
	if err != nil {
		return nil, err
	}
	return session.Run(context.Background(), p, engine.RunOptions{})
}

// must says a script that has to be done.
func (o *old) must(text string) *receipt.Receipt {
	o.t.Helper()
	done, err := o.run(text)
	if err != nil {
		o.t.Fatalf("%s\n%v", text, err)
	}
	return done
}

// refused says a script that has to be refused, with these words.
func (o *old) refused(text string, words ...string) {
	o.t.Helper()
	_, err := o.run(text)
	said := fmt.Sprint(err)
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		said = told(refusal.Diagnostics)
	}
	for _, w := range words {
		if err == nil || !strings.Contains(said, w) {
			o.t.Errorf("%s\nis answered with %s\nwithout %q", text, said, w)
		}
	}
}

// answer is what the last call of a script returned, a line for each row.
func (o *old) answer(text string) string {
	o.t.Helper()
	done := o.must(text)
	result := done.Calls[len(done.Calls)-1].Result
	if result == nil {
		return ""
	}
	var lines []string
	for _, row := range result.Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text())
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return strings.Join(lines, "\n")
}

// column reads a column as other programs do, by key.
func (o *old) column(table, key, column string, kind stores.Kind) map[string]string {
	o.t.Helper()
	e := &stores.Entity{Name: "raw", Table: table, Fields: []stores.Field{{Name: "k", Column: key, Kind: stores.String}, {Name: "v", Column: column, Kind: kind}}}
	all := map[string]string{}
	err := o.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(context.Background(), stores.Find{Entity: e})
		for _, row := range rows {
			all[row[0].Text()] = row[1].Text()
		}
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return all
}
