package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

// A counting store notes what the engine asks of it, and how much comes back.
type counting struct {
	stores.Store
	mu    sync.Mutex
	asked []string
}

func (c *counting) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, fmt.Sprintf(format, args...))
}

func (c *counting) since() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.asked
	c.asked = nil
	return all
}

func (c *counting) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	c.note("view")
	return c.Store.View(ctx, scope, func(r stores.Reader) error { return fn(countingReader{r, c}) })
}

func (c *counting) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	c.note("update")
	return c.Store.Update(ctx, scope, func(tx stores.Tx) error { return fn(countingTx{countingReader{tx, c}, tx}) })
}

type countingReader struct {
	stores.Reader
	c *counting
}

func (r countingReader) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	row, err := r.Reader.Get(ctx, e, key)
	r.c.note("get %s: %d values, %v", e.Name, len(row.Values), err)
	return row, err
}

func (r countingReader) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	rows, err := r.Reader.Rows(ctx, e, keys)
	r.c.note("%d rows of %s: %d, %v", len(keys), e.Name, len(rows), err)
	return rows, err
}

func (r countingReader) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	rows, err := r.Reader.Find(ctx, f)
	size := 0
	for _, row := range rows {
		for _, v := range row {
			size += len(v.Text())
		}
	}
	r.c.note("find %s, %d columns, %d orders, limit %d: %d rows, %d bytes, %v", f.Entity.Name, len(f.Select), len(f.Order), f.Limit, len(rows), size, err)
	return rows, err
}

func (r countingReader) Together(ctx context.Context, asks []stores.Ask) error {
	return stores.OneByOne(ctx, r, asks)
}

func (r countingReader) SQL(ctx context.Context, entities []*stores.Entity, q stores.SQL) ([][]stores.Value, error) {
	rows, err := r.Reader.SQL(ctx, entities, q)
	r.c.note("query: %d rows, %v", len(rows), err)
	return rows, err
}

type countingTx struct {
	countingReader
	tx stores.Tx
}

func (t countingTx) Apply(ctx context.Context, b stores.Batch) error {
	err := t.tx.Apply(ctx, b)
	t.c.note("apply %d changes, %d entries: %v", len(b.Changes), len(b.Entries), err)
	return err
}

func (t countingTx) Numbered() []stores.Entry { return t.tx.Numbered() }

func (t countingTx) Discard() { t.tx.Discard() }

func (t countingTx) Rewrites(ctx context.Context, e *stores.Entity) (bool, error) {
	return t.tx.Rewrites(ctx, e)
}

func (t countingTx) Draw(ctx context.Context, e *stores.Entity, field int) (stores.Value, error) {
	return t.tx.Draw(ctx, e, field)
}

// SAFE-A2: what the engine does with a reference to somebody else's row is what
// it does with one to no row: the same questions to the store, in the same order,
// with as many rows and bytes of answer; on PostgreSQL the same statements, each
// about as many rows; and the same reply, to the byte. So for every reference
// argument of every palette that we ship, by key, by name and by text. Each is
// tried while the rows are there, and again when they are gone.
func TestForeignCostsWhatAbsentCosts(t *testing.T) {
	t.Parallel()
	for domain, load := range shippedReads(t) {
		for _, backend := range []string{"SQLite", "PostgreSQL"} {
			t.Run(domain+", "+backend, func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				reg, h := load(t)
				var filler stores.Store
				var statements = func() []string { return nil }
				asked := &counting{}
				if backend == "SQLite" {
					store, err := sqlite.Open(filepath.Join(t.TempDir(), "oracle.db"))
					if err != nil {
						t.Fatal(err)
					}
					defer store.Close()
					filler, asked.Store = store, store
				} else {
					db := pgtest.Database(t)
					owner, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
					if err != nil {
						t.Fatal(err)
					}
					defer owner.Close()
					x := pgtest.Trace(t, db)
					store, err := postgres.New(ctx, x.Pool, postgres.WithoutSealer()) // a sealer's statements are not the call's
					if err != nil {
						t.Fatal(err)
					}
					filler, asked.Store, statements = owner, store, x.Statements
				}
				c := newCrowd(t, reg, h, filler, 2, 1, 2, 3, 4)
				n := 0
				eng, err := engine.New(reg, asked, engine.Options{Handlers: h, NewID: func() string {
					n++
					return fmt.Sprintf("00000000-0000-4000-9000-%012d", n)
				}})
				if err != nil {
					t.Fatal(err)
				}
				calls, resolved := c.foreign(t, eng, filler)
				// answer is all that is said of a call, and all that it takes.
				answer := func(who, text string) (said, took string) {
					s, err := eng.Session(ctx, who)
					if err != nil {
						t.Fatal(err)
					}
					asked.since()
					statements()
					script, _ := dsl.Parse(dsl.NewSource("oracle.dsl", text))
					p, ds := s.Check(context.Background(), script)
					said = fmt.Sprint(ds)
					if p != nil {
						_, err = s.Preview(ctx, p)
						said += "\npreview: " + refusalOf(err)
						_, err = s.Run(ctx, p, engine.RunOptions{})
						said += "\nrun: " + refusalOf(err)
					}
					return said, strings.Join(append(asked.since(), statements()...), "\n")
				}
				type told struct{ said, took string }
				before := make([]told, len(calls))
				for i, call := range calls {
					answer(call.who, call.text) // statements are prepared once
					before[i].said, before[i].took = answer(call.who, call.text)
				}
				c.forget(t, filler)
				most := 0
				for i, call := range calls {
					said, took := answer(call.who, call.text)
					if before[i].said != said {
						t.Errorf("%s: of a foreign row is said\n%s\nand of none\n%s", call.text, before[i].said, said)
					}
					if before[i].took != took {
						t.Errorf("%s: a foreign row takes\n%s\nand none\n%s", call.text, before[i].took, took)
					}
					if strings.Contains(said, "run: nothing") {
						t.Errorf("%s is not refused", call.text)
					}
					most = max(most, strings.Count(took, "\n")+1)
				}
				t.Logf("%d calls; %d of them their owners may make; at most %d lines of what was asked", len(calls), resolved, most)
				if len(calls) > 0 && (most < 2 || resolved < len(calls)/2) {
					t.Error("too little was tried to tell")
				}
			})
		}
	}
}

func refusalOf(err error) string {
	var no *engine.Refusal
	if errors.As(err, &no) {
		return fmt.Sprintf("%v %s %s", no.Diagnostics, err, engine.Sentence(err))
	}
	return fmt.Sprintf("nothing %v", err)
}

// A foreignCall names a row of somebody else's.
type foreignCall struct{ who, text string }

// foreign writes, for every reference argument of every verb, calls that name a
// row of the second owner by its key, its name and its text, for somebody who
// holds the first. Of how many the row is found by its own people is counted.
func (c *crowd) foreign(t *testing.T, eng *engine.Engine, store stores.Store) (calls []foreignCall, resolved int) {
	t.Helper()
	ctx := t.Context()
	holds := func(i int) map[string][]stores.Value {
		all := map[string][]stores.Value{}
		for _, e := range c.reg.Entities() {
			if len(e.Store.Scope) == 0 && e.Store.Access == stores.ByPath {
				all[e.Store.Name] = []stores.Value{c.value(e.Store, e.Store.Key, i)}
			}
		}
		return all
	}
	for _, v := range c.reg.Verbs() {
		if ofEverybody(v) {
			continue
		}
		who := roleOf(v)
		for name, i := range map[string]int{who: 0, "their-" + who: 1} {
			if err := store.SetPrincipal(ctx, stores.Principal{Name: name, Roles: []string{who}, Holds: holds(i)}); err != nil {
				t.Fatal(err)
			}
		}
		theirs, err := eng.Session(ctx, "their-"+who)
		if err != nil {
			t.Fatal(err)
		}
		for i := range v.Params {
			of := v.Params[i].Type
			list := of.Name == verbs.ListType && of.Item != nil
			if list {
				of = of.Item
			}
			if of.Entity == nil || of.Entity.Store.Access != stores.ByPath {
				continue
			}
			names, err := theirs.Names().All(ctx, []*verbs.Entity{of.Entity})
			if err != nil {
				t.Fatal(err)
			}
			key := c.value(of.Entity.Store, of.Entity.Store.Key, 1).Text()
			ways := []string{fmt.Sprintf("%q", key)}
			for _, name := range names[of.Entity][:min(1, len(names[of.Entity]))] {
				ways = append(ways, "@"+name, fmt.Sprintf("%q", strings.ReplaceAll(name, "-", " ")))
			}
			for _, way := range ways {
				if list {
					way = "[" + way + "]"
				}
				call := v.Name
				for _, part := range strings.Split(c.call(v, true), " :")[1:] {
					name, _, _ := strings.Cut(part, " ")
					if p := slices.IndexFunc(v.Params, func(p verbs.Param) bool { return p.Name == name }); p >= 0 && p != i && v.Params[p].Required {
						call += " :" + part
					}
				}
				call += " :" + v.Params[i].Name + " " + way
				calls = append(calls, foreignCall{who, call})
				script, _ := dsl.Parse(dsl.NewSource("theirs.dsl", call))
				if p, ds := theirs.Check(context.Background(), script); p != nil {
					if _, err := theirs.Preview(ctx, p); !strings.Contains(refusalOf(err), "unknown-name") {
						resolved++
					}
				} else if !strings.Contains(fmt.Sprint(ds), "unknown-name") {
					resolved++
				}
			}
		}
	}
	return calls, resolved
}

// forget deletes the rows of the second owner, whatever refers to what.
func (c *crowd) forget(t *testing.T, store stores.Store) {
	t.Helper()
	for range 8 {
		left := 0
		for _, e := range c.reg.Entities() {
			if e.Store.Access != stores.ByPath {
				continue
			}
			for i := 1; i < c.count(e.Store); i += c.roots {
				err := store.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
					return tx.Apply(t.Context(), stores.Batch{Changes: []stores.Change{{Op: stores.Delete, Entity: e.Store, Key: c.value(e.Store, e.Store.Key, i)}}})
				})
				if err != nil && !errors.Is(err, stores.ErrNotFound) {
					left++
				}
			}
		}
		if left == 0 {
			return
		}
	}
	t.Fatal("rows stay")
}
