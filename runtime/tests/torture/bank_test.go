package torture

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

//go:embed testdata/palettes
var palettes embed.FS

const (
	accounts = 8
	opening  = 10_000  // on each account at first
	many     = 1 << 24 // rows that one read may give: all of them, for the judge
)

// registry is the palette of the bank.
var registry = sync.OnceValues(func() (*verbs.Registry, error) {
	dir, err := fs.Sub(palettes, "testdata/palettes")
	if err != nil {
		return nil, err
	}
	reg, ds := load.Dir(dir)
	if ds.HasErrors() {
		return nil, errors.New(told(ds))
	}
	return reg, nil
})

func told(ds dsl.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "[%s] %s %s %s\n", d.Code, d.Summary, d.Label, strings.Join(d.Notes, "; "))
	}
	return b.String()
}

func tables(reg *verbs.Registry) []*stores.Entity {
	var all []*stores.Entity
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	return append(all, engine.Own()...)
}

func id(n int) stores.Value {
	v, ok := stores.ParseUUID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
	if !ok {
		panic("not a uuid")
	}
	return v
}

// people are who the bank knows.
var people = []stores.Principal{
	{Name: "tess", Label: "Tess", Roles: []string{"teller"}, Holds: map[string][]stores.Value{"branch": {id(1)}}},
	{Name: "theo", Label: "Theo", Roles: []string{"teller"}, Holds: map[string][]stores.Value{"branch": {id(1)}}},
	{Name: "mara", Label: "Mara", Roles: []string{"manager"}, Holds: map[string][]stores.Value{"branch": {id(1)}}},
}

// found makes the bank in an empty store.
func found(ctx context.Context, s stores.Store) error {
	return foundWith(ctx, s, func() error { return nil })
}

// foundWith is found that does something else once there are tables, and no rows.
func foundWith(ctx context.Context, s stores.Store, between func() error) error {
	reg, err := registry()
	if err != nil {
		return err
	}
	if plan, err := s.Migrate(ctx, tables(reg), true); err != nil || len(plan.Problems) > 0 {
		return fmt.Errorf("migrate: %w %v", err, plan.Problems)
	}
	if err := between(); err != nil {
		return err
	}
	for _, p := range people {
		if err := s.SetPrincipal(ctx, p); err != nil {
			return err
		}
	}
	set := func(e *stores.Entity, values map[string]stores.Value) []stores.Assign {
		var out []stores.Assign
		for i := range e.Fields {
			if v, ok := values[e.Fields[i].Name]; ok {
				out = append(out, stores.Assign{Field: i, Value: v})
			}
		}
		return out
	}
	branch, account := reg.Entity("branch").Store, reg.Entity("account").Store
	changes := []stores.Change{{Op: stores.Insert, Entity: branch, Key: id(1), Set: set(branch, map[string]stores.Value{"name": stores.NewString("High Street")})}}
	for i := range accounts {
		changes = append(changes, stores.Change{Op: stores.Insert, Entity: account, Key: id(100 + i), Set: set(account, map[string]stores.Value{
			"branch": id(1), "name": stores.NewString(fmt.Sprintf("acc%d", i)), "balance": stores.NewInt(opening)})})
	}
	return s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		err := tx.Apply(ctx, stores.Batch{Changes: changes})
		return err
	})
}

// open opens what an address names: a path, or postgres://….
func open(ctx context.Context, at string) (stores.Store, error) {
	if strings.HasPrefix(at, "postgres://") {
		return postgres.Open(ctx, at, postgres.RowCap(many))
	}
	return sqlite.Open(at, sqlite.RowCap(many))
}

// pristine is a file in which nothing happened yet.
var pristine = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "bank")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bank.db")
	s, err := sqlite.Open(path)
	if err != nil {
		return nil, err
	}
	if err := found(context.Background(), s); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// newFile makes a bank in a file.
func newFile(t testing.TB) string {
	t.Helper()
	image, err := pristine()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bank.db")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// newDatabase is a bank in a database of a server, a copy of one that was made once.
func newDatabase(t testing.TB) pgtest.DB {
	t.Helper()
	return pgtest.Like(t, "bank", func(db pgtest.DB) { establish(t, db) })
}

func establish(t testing.TB, db pgtest.DB) {
	t.Helper()
	ctx := context.Background()
	s, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := found(ctx, s); err != nil {
		t.Fatal(err)
	}
}

// onBoth runs a test on a bank in a file and on one in a database.
func onBoth(t *testing.T, fn func(t *testing.T, kind, at string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, "SQLite", newFile(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, "PostgreSQL", newDatabase(t).App)
	})
}

// opened opens a store until the test ends.
func opened(t testing.TB, at string) stores.Store {
	t.Helper()
	s, err := open(context.Background(), at)
	if err != nil {
		t.Fatalf("%s cannot be opened: %v", at, err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// engine joins the palette with a store.
func newEngine(s stores.Store, o engine.Options) (*engine.Engine, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	return engine.New(reg, s, o)
}

// A desk is an engine with somebody at it.
type desk struct {
	*engine.Session
	engine *engine.Engine
}

func sit(ctx context.Context, s stores.Store, who string, o engine.Options) (*desk, error) {
	e, err := newEngine(s, o)
	if err != nil {
		return nil, err
	}
	session, err := e.Session(ctx, who)
	if err != nil {
		return nil, err
	}
	return &desk{session, e}, nil
}

// program checks a script.
func (d *desk) program(text string) (*verbs.Program, error) {
	script, ds := dsl.Parse(dsl.NewSource("bank.dsl", text))
	if ds.HasErrors() {
		return nil, errors.New(told(ds))
	}
	p, ds := d.Check(context.Background(), script)
	if p == nil {
		return nil, errors.New(told(ds))
	}
	return p, nil
}

// do runs a script under a key, agreeing to what it asks of this person. When
// rows move between the question and the answer, it is asked again.
func (d *desk) do(ctx context.Context, text, key string) (*receipt.Receipt, error) {
	p, err := d.program(text)
	if err != nil {
		return nil, err
	}
	o := engine.RunOptions{Key: key}
	for tries := 0; ; tries++ {
		reply, err := d.Run(ctx, p, o)
		if tries > 5 || !refusedFor(err, "needs-agreement") && !refusedFor(err, "stale-preview") {
			return reply, err
		}
		preview, err := d.Preview(ctx, p)
		if err != nil {
			return nil, err
		}
		o.Agreed = preview.ID
	}
}

func refusedFor(err error, code string) bool {
	var refusal *engine.Refusal
	return errors.As(err, &refusal) && refusal.Diagnostics[0].Code == code
}
