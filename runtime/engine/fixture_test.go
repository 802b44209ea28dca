package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

// A world is an engine on a real file with the palettes of testdata, two clubs
// that must not see each other, and a clock that moves with every look.
type world struct {
	t      testing.TB
	reg    *verbs.Registry
	store  stores.Store
	engine *engine.Engine

	mu    sync.Mutex
	clock time.Time
	ids   int
}

// The people: kim keeps the north club and mia is a member of it, bo is its
// board, sam keeps the south club, and ada reads everything.
var people = []stores.Principal{
	{Name: "kim", Label: "Kim", Roles: []string{"keeper"}, Holds: holds(1)},
	{Name: "mia", Label: "Mia", Roles: []string{"member"}, Holds: holds(1)},
	{Name: "bo", Label: "Bo", Roles: []string{"board"}, Holds: holds(1)},
	{Name: "sam", Label: "Sam", Roles: []string{"keeper"}, Holds: holds(2)},
	{Name: "ada", Label: "Ada", Roles: []string{"auditor"}},
	{Name: "nobody", Label: "Nobody", Roles: []string{"long-gone"}, Holds: holds(1)},
}

func holds(club int) map[string][]stores.Value {
	return map[string][]stores.Value{"club": {id(club)}}
}

// id is the key of the fixture's row n.
func id(n int) stores.Value {
	v, ok := stores.ParseUUID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
	if !ok {
		panic("not a uuid")
	}
	return v
}

func date(s string) stores.Value {
	v, ok := stores.ParseDate(s)
	if !ok {
		panic("not a date: " + s)
	}
	return v
}

func decimal(s string) stores.Value {
	v, ok := stores.ParseDecimal(s)
	if !ok {
		panic("not a decimal: " + s)
	}
	return v
}

func str(s string) stores.Value { return stores.NewString(s) }

// rows is everything that is there at first.
var rows = []struct {
	entity string
	key    int
	fields map[string]stores.Value
}{
	{"club", 1, map[string]stores.Value{"name": str("North")}},
	{"club", 2, map[string]stores.Value{"name": str("South")}},
	{"member", 11, map[string]stores.Value{"club": id(1), "name": str("Ann"), "phone": str("+49 151 555 0199")}},
	{"member", 12, map[string]stores.Value{"club": id(1), "name": str("Bob")}},
	{"member", 13, map[string]stores.Value{"club": id(2), "name": str("Zoé Müller"), "phone": str("+33 1 23 45 67 89")}},
	{"item", 21, map[string]stores.Value{"club": id(1), "name": str("Drill"), "worth": decimal("80")}},
	{"item", 22, map[string]stores.Value{"club": id(1), "name": str("Saw"), "worth": decimal("250.00"), "status": str("OUT")}},
	{"item", 23, map[string]stores.Value{"club": id(1), "name": str("Ladder"), "status": str("LOST")}},
	{"item", 24, map[string]stores.Value{"club": id(1), "name": str("Tent"), "worth": decimal("120.50")}},
	{"item", 25, map[string]stores.Value{"club": id(2), "name": str("Kayak"), "worth": decimal("900")}},
	{"loan", 31, map[string]stores.Value{"member": id(12), "item": id(22), "due": date("2025-01-10")}},
	{"loan", 32, map[string]stores.Value{"member": id(11), "item": id(23), "due": date("2024-12-01"), "status": str("LATE")}},
	{"loan", 33, map[string]stores.Value{"member": id(11), "item": id(24), "due": date("2024-12-02"), "status": str("LATE")}},
	{"loan", 34, map[string]stores.Value{"member": id(13), "item": id(25), "due": date("2025-01-20"), "status": str("LATE")}},
	{"reminder", 41, map[string]stores.Value{"loan": id(31), "remind_on": date("2025-01-11"), "text": str("first")}},
	{"reminder", 42, map[string]stores.Value{"loan": id(34), "remind_on": date("2025-01-21"), "text": str("theirs")}},
}

// load reads palettes, and fails the test if they are not in order.
func load(t testing.TB, dir string) *verbs.Registry {
	t.Helper()
	reg, ds := loading.Dir(os.DirFS(dir))
	if ds.HasErrors() {
		t.Fatalf("palettes: %s", told(ds))
	}
	return reg
}

func told(ds dsl.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		line := 0
		if d.Place.Source != nil {
			line = d.Place.Source.Position(d.Place.Range.Start).Line
		}
		fmt.Fprintf(&b, "%d: [%s] %s (%s) %s\n", line, d.Code, d.Summary, d.Label, strings.Join(d.Notes, "; "))
	}
	return b.String()
}

// newWorldClock is when every world begins.
var newWorldClock = time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC)

func newWorld(t testing.TB) *world { return newWorldOf(t, load(t, "testdata/palettes"), nil) }

// newWorldOf opens a copy of the fixture: making it from nothing costs a dozen
// flushes to the disk, and most tests want it.
func newWorldOf(t testing.TB, reg *verbs.Registry, h *engine.Handlers) *world {
	t.Helper()
	w := &world{t: t, reg: reg, clock: newWorldClock}
	first, err := fixture()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "club.db")
	if err := os.WriteFile(path, first, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w.store = store
	w.engine, err = engine.New(reg, store, engine.Options{Clock: w.now, NewID: w.newID, Handlers: h})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// serverLike opens a copy of a database that fill fills for the first test that asks for that key.
func serverLike(t testing.TB, key string, fill func(stores.Store) error) stores.Store {
	t.Helper()
	store, _ := serverAndLike(t, key, fill)
	return store
}

func serverAndLike(t testing.TB, key string, fill func(stores.Store) error) (stores.Store, pgtest.DB) {
	t.Helper()
	open := func(db pgtest.DB) *postgres.Store {
		store, err := postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return store
	}
	db := pgtest.Like(t, key, func(db pgtest.DB) {
		store := open(db)
		if err := fill(store); err != nil {
			t.Fatal(err)
		}
		store.Close()
	})
	return open(db), db
}

// fixture makes the file that every world begins with.
var fixture = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "club")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	reg, ds := loading.Dir(os.DirFS("testdata/palettes"))
	if ds.HasErrors() {
		return nil, fmt.Errorf("palettes: %s", told(ds))
	}
	path := filepath.Join(dir, "club.db")
	store, err := sqlite.Open(path)
	if err != nil {
		return nil, err
	}
	w := &world{reg: reg}
	if err := w.furnish(store); err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// furnish makes the tables, and puts into them what every world begins with.
func (w *world) furnish(store stores.Store) error {
	ctx := context.Background()
	if plan, err := store.Migrate(ctx, engine.Tables(w.reg), true); err != nil || len(plan.Problems) > 0 {
		return fmt.Errorf("migrate: %w %v", err, plan.Problems)
	}
	for _, p := range people {
		if err := store.SetPrincipal(ctx, p); err != nil {
			return err
		}
	}
	var all []stores.Change
	for _, row := range rows {
		e := w.reg.Entity(row.entity).Store
		c := stores.Change{Op: stores.Insert, Entity: e, Key: id(row.key)}
		for i := range e.Fields {
			if v, ok := row.fields[e.Fields[i].Name]; ok {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
			}
		}
		all = append(all, c)
	}
	if err := store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: all})
	}); err != nil {
		return err
	}
	engine, err := engine.New(w.reg, store, engine.Options{})
	if err != nil {
		return err
	}
	_, err = engine.NameRows(ctx)
	return err
}

// plain takes the suffixes of names out of a text, which no two stores share.
func plain(text string) string { return suffixes.ReplaceAllString(text, "") }

var suffixes = regexp.MustCompile(`~[0-9a-z]{6,16}\b`)

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(time.Second)
	return w.clock
}

func (w *world) newID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("00000000-0000-4000-9000-%012d", w.ids)
}

func (w *world) tables() []*stores.Entity {
	var all []*stores.Entity
	for _, e := range w.reg.Entities() {
		all = append(all, e.Store)
	}
	return all
}

func (w *world) entity(name string) *stores.Entity {
	w.t.Helper()
	e := w.reg.Entity(name)
	if e == nil {
		w.t.Fatalf("no entity %q", name)
	}
	return e.Store
}

// change does something behind the engine's back.
func (w *world) change(changes ...stores.Change) {
	w.t.Helper()
	err := w.store.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(context.Background(), stores.Batch{Changes: changes})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// set changes one field of one row behind the engine's back.
func (w *world) set(entity string, key int, field string, v stores.Value) {
	w.t.Helper()
	e := w.entity(entity)
	w.change(stores.Change{Op: stores.Update, Entity: e, Key: id(key), Set: []stores.Assign{{Field: e.FieldIndex(field), Value: v}}})
}

// A state is every row there is, by entity and key.
type state map[string][]stores.Value

func (w *world) state() state { return w.seen(stores.Scope{All: true}) }

// seen is every row that a scope opens.
func (w *world) seen(scope stores.Scope) state {
	w.t.Helper()
	s := make(state)
	err := w.store.View(context.Background(), scope, func(r stores.Reader) error {
		for _, e := range w.tables() {
			rows, err := r.Find(context.Background(), stores.Find{Entity: e})
			if err != nil {
				return err
			}
			for _, row := range rows {
				s[e.Name+" "+row[e.Key].Text()] = row
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// get returns a field of a row, as it is kept.
func (w *world) get(entity string, key stores.Value, field string) stores.Value {
	w.t.Helper()
	row, ok := w.state()[entity+" "+key.Text()]
	if !ok {
		w.t.Fatalf("%s %s is not there", entity, key)
	}
	return row[w.entity(entity).FieldIndex(field)]
}

// diff says what differs, one line for each row, in a fixed order.
func diff(e func(string) *stores.Entity, before, after state) []string {
	var out []string
	for k, was := range before {
		entity, _, _ := strings.Cut(k, " ")
		is, there := after[k]
		if !there {
			out = append(out, "- "+k)
			continue
		}
		line := ""
		for i := range was {
			if was[i] != is[i] {
				line += fmt.Sprintf(" %s=%s", e(entity).Fields[i].Name, is[i])
			}
		}
		if line != "" {
			out = append(out, "~ "+k+line)
		}
	}
	for k, is := range after {
		if _, there := before[k]; !there {
			entity, _, _ := strings.Cut(k, " ")
			line := "+ " + entity
			for i, v := range is {
				if i != e(entity).Key && !v.IsNull() {
					line += fmt.Sprintf(" %s=%s", e(entity).Fields[i].Name, v)
				}
			}
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

func (w *world) journal() []stores.Entry {
	w.t.Helper()
	var entries []stores.Entry
	for e, err := range journal.ByNumber(context.Background(), w.store, 1, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		entries = append(entries, *e)
	}
	return entries
}

func (w *world) session(who string) *engine.Session {
	w.t.Helper()
	s, err := w.engine.Session(context.Background(), who)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// program checks a script that is meant to be in order.
func (w *world) program(s *engine.Session, text string) *verbs.Program {
	w.t.Helper()
	script, ds := dsl.Parse(dsl.NewSource("test.dsl", text))
	if ds.HasErrors() {
		w.t.Fatalf("parse: %s", told(ds))
	}
	p, ds := s.Check(context.Background(), script)
	if p == nil {
		w.t.Fatalf("check: %s", told(ds))
	}
	return p
}

// run runs a script as somebody, agreeing to whatever it asks of them.
func (w *world) run(who, text string) (*receipt.Receipt, error) {
	w.t.Helper()
	s := w.session(who)
	p := w.program(s, text)
	preview, err := s.Preview(context.Background(), p)
	if err != nil {
		return nil, err
	}
	o := engine.RunOptions{}
	if len(preview.Asks()) > 0 {
		o.Agreed = preview.ID
	}
	return s.Run(context.Background(), p, o)
}

// done runs a script that must succeed, and says what it changed.
func (w *world) done(who, text string) []string {
	w.t.Helper()
	before := w.state()
	if _, err := w.run(who, text); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return diff(w.entity, before, w.state())
}

// refused runs a script that must be refused with a code and change nothing.
func (w *world) refused(who, text, code string) *engine.Refusal {
	w.t.Helper()
	before := w.state()
	_, err := w.run(who, text)
	refusal := wantRefusal(w.t, err, code)
	if d := diff(w.entity, before, w.state()); len(d) > 0 {
		w.t.Errorf("%s was refused and changed something: %q", text, d)
	}
	return refusal
}

func wantRefusal(t testing.TB, err error, code string) *engine.Refusal {
	t.Helper()
	refusal, ok := err.(*engine.Refusal)
	if !ok {
		t.Fatalf("want a refusal %s, got %T: %v", code, err, err)
	}
	for _, d := range refusal.Diagnostics {
		if d.Code != code {
			t.Errorf("want code %s, got %s", code, told(refusal.Diagnostics))
		}
	}
	return refusal
}

func equal(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}
