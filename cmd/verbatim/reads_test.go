package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
	"verbatim/verbs/palettes"
)

// loadedFrom loads the palettes of a place, with others of the program's own.
func loadedFrom(t *testing.T, place string, beside ...*dsl.Source) *verbs.Registry {
	t.Helper()
	l, err := loadPalettes(place, beside...)
	if err != nil || l.reg == nil {
		t.Fatal(place, err, l)
	}
	return l.reg
}

// shippedReads are the palettes that we ship, with the verbs that read. They are
// found where palettes stand, so that a new read is held to its plan by itself.
func shippedReads(t *testing.T) map[string]func(*testing.T) (*verbs.Registry, *engine.Handlers) {
	t.Helper()
	dirs, err := filepath.Glob("../../examples/*/verbs")
	if err != nil || len(dirs) == 0 {
		t.Fatal("there are no examples", err)
	}
	all := map[string]func(*testing.T) (*verbs.Registry, *engine.Handlers){
		"system": func(t *testing.T) (*verbs.Registry, *engine.Handlers) {
			reg := mustLoad(t)(load.Sources(rights.Source()))
			h := &engine.Handlers{}
			rights.Register(h, reg)
			return reg, h
		},
	}
	for _, place := range append(dirs, palettes.Names()...) {
		load := func(t *testing.T) (*verbs.Registry, *engine.Handlers) {
			reg := loadedFrom(t, place)
			h := &engine.Handlers{}
			h.Partial = true
			for verb, register := range domains {
				if reg.Verb(verb) != nil {
					register(h)
				}
			}
			return reg, h
		}
		reg, _ := load(t)
		if slices.ContainsFunc(reg.Entities(), func(e *verbs.Entity) bool { return len(e.Store.Parts) > 0 }) {
			continue // a store makes no table with such a key, and the crowd lives in tables that it makes
		}
		if len(readsOf(reg)) > 0 {
			all[reg.Verbs()[0].Name[:strings.IndexByte(reg.Verbs()[0].Name, '.')]] = load
		}
	}
	for _, domain := range []string{"client", "retail", "system"} {
		if all[domain] == nil {
			t.Errorf("the reads of %s were not found", domain)
		}
	}
	return all
}

func mustLoad(t *testing.T) func(*verbs.Registry, dsl.Diagnostics) *verbs.Registry {
	return func(reg *verbs.Registry, ds dsl.Diagnostics) *verbs.Registry {
		t.Helper()
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return reg
	}
}

func readsOf(reg *verbs.Registry) []*verbs.Verb {
	var all []*verbs.Verb
	for _, v := range reg.Verbs() {
		if v.Read != nil && v.Read.File == "" || v.Query != nil {
			all = append(all, v)
		}
	}
	return all
}

// A crowd is many owners, each with as many rows as the others: what one of them
// reads must not cost more for there being so many.
type crowd struct {
	reg    *verbs.Registry
	roots  int
	each   []int // rows of one owner by the length of the way to them
	engine *engine.Engine
}

// count is how many rows there are of an entity. It is a multiple of roots, so
// that row i always belongs to owner i modulo roots.
func (c *crowd) count(e *stores.Entity) int {
	n := c.each[min(len(e.Scope), len(c.each)-1)]
	for _, fields := range e.Unique { // a pair of references stands in one row
		if !slices.ContainsFunc(fields, func(f int) bool { return e.Fields[f].Ref == nil }) {
			n = min(n, c.count(e.Fields[fields[0]].Ref)/c.roots)
		}
		for _, f := range fields { // and so is a code of a row's owner
			if codes := e.Fields[f].Codes; len(codes) > 0 {
				n = min(n, len(codes))
			}
		}
	}
	return c.roots * n
}

// value is what a field of row i holds. Row 0 is one that reads return.
func (c *crowd) value(e *stores.Entity, field, i int) stores.Value {
	f := &e.Fields[field]
	turn := i / c.roots // of its owner's rows
	switch {
	case f.Ref != nil:
		return c.value(f.Ref, f.Ref.Key, i%c.count(f.Ref))
	case len(f.Codes) > 0:
		return stores.NewString(f.Codes[turn%len(f.Codes)])
	}
	switch f.Kind {
	case stores.Bool:
		return stores.NewBool(turn%4 != 3 || slices.Contains(e.Visible, field))
	case stores.Int:
		return stores.NewInt(int64(i + 1))
	case stores.Decimal:
		v, _ := stores.ParseDecimal(fmt.Sprintf("%d.50", turn+1))
		return v
	case stores.Date:
		return stores.NewDays(20000 + int64(turn%50))
	case stores.Time:
		return stores.NewTime(time.Date(2025, 1, 1, 0, 0, i, 0, time.UTC))
	case stores.Duration:
		return stores.NewDuration(time.Duration(i) * time.Second)
	case stores.UUID:
		v, _ := stores.ParseUUID(fmt.Sprintf("00000000-0000-4000-8000-%012x", i))
		return v
	case stores.JSON:
		if f.Elem != stores.Null {
			return stores.NewList()
		}
		return stores.NewObject(nil, nil)
	}
	return stores.NewString(fmt.Sprintf("%s %06d", f.Name, i))
}

// newCrowd fills a store. Every entity is made one of ours here, which is the
// harder case: two locks, the engine's condition and the policy of the table,
// look at each row.
func newCrowd(t *testing.T, reg *verbs.Registry, h *engine.Handlers, store stores.Store, roots int, each ...int) *crowd {
	t.Helper()
	ctx := context.Background()
	c := &crowd{reg: reg, roots: roots, each: each}
	var tables []*stores.Entity
	for _, e := range reg.Entities() {
		e.Store.Managed = true
		tables = append(tables, e.Store)
	}
	plan, err := store.Migrate(ctx, append(tables, engine.Own()...), true)
	if err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	filled := map[*stores.Entity]bool{}
	ready := func(e *stores.Entity) bool {
		for i := range e.Fields {
			if f := &e.Fields[i]; f.Ref != nil && f.Required && !filled[f.Ref] {
				return false
			}
		}
		return true
	}
	// The optional ones that go round in a circle stay empty.
	for len(filled) < len(tables) {
		at := slices.IndexFunc(tables, func(e *stores.Entity) bool { return !filled[e] && ready(e) && c.optional(e, filled) })
		if at < 0 {
			at = slices.IndexFunc(tables, func(e *stores.Entity) bool { return !filled[e] && ready(e) })
		}
		if at < 0 {
			t.Fatal("entities require one another")
		}
		e := tables[at]
		for from := 0; from < c.count(e); from += 5000 {
			var batch stores.Batch
			for i := from; i < min(from+5000, c.count(e)); i++ {
				ch := stores.Change{Op: stores.Insert, Entity: e, Key: c.value(e, e.Key, i)}
				for f := range e.Fields {
					if ref := e.Fields[f].Ref; f != e.Key && (ref == nil || filled[ref]) && given(e, f, i) {
						ch.Set = append(ch.Set, stores.Assign{Field: f, Value: c.value(e, f, i)})
					}
				}
				batch.Changes = append(batch.Changes, ch)
			}
			err := store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error { return tx.Apply(ctx, batch) })
			if err != nil {
				t.Fatal(e.Name, err)
			}
		}
		filled[e] = true
	}
	noon := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	c.engine, err = engine.New(reg, store, engine.Options{Clock: func() time.Time { return noon }, Handlers: h})
	if err != nil {
		t.Fatal(err)
	}
	// One for each role, who holds the first of every kind of owner.
	holds := map[string][]stores.Value{}
	for _, e := range tables {
		if len(e.Scope) == 0 && e.Access == stores.ByPath {
			holds[e.Name] = []stores.Value{c.value(e, e.Key, 0)}
		}
	}
	for _, v := range readsOf(reg) {
		role := roleOf(v)
		if err := store.SetPrincipal(ctx, stores.Principal{Name: role, Roles: []string{role}, Holds: holds}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// given reports whether row i has a value in a field, where a row has so many of some.
func given(e *stores.Entity, field, i int) bool {
	return !slices.ContainsFunc(e.Given, func(g stores.Given) bool {
		at := slices.Index(g.Fields, field)
		return at >= 0 && g.Most == 1 && at != i%len(g.Fields)
	})
}

// optional reports whether all that an entity may refer to is filled.
func (c *crowd) optional(e *stores.Entity, filled map[*stores.Entity]bool) bool {
	return !slices.ContainsFunc(e.Fields, func(f stores.Field) bool { return f.Ref != nil && !filled[f.Ref] })
}

// roleOf is a role that may use a verb, one that sees its own rows only if there
// is one.
func roleOf(v *verbs.Verb) string {
	i := slices.IndexFunc(v.Roles, func(r *verbs.Role) bool { return !r.SeesAll })
	return v.Roles[max(0, i)].Name
}

// ofEverybody reports whether a verb is only for roles that see every row. What
// it reads may cost as much as there are, since all of them are theirs.
func ofEverybody(v *verbs.Verb) bool {
	return !slices.ContainsFunc(v.Roles, func(r *verbs.Role) bool { return !r.SeesAll })
}

// call writes a call with the arguments that are required, or with all.
func (c *crowd) call(v *verbs.Verb, all bool) string {
	var b strings.Builder
	b.WriteString(v.Name)
	for i := range v.Params {
		p := &v.Params[i]
		if !p.Required && !all {
			continue
		}
		fmt.Fprintf(&b, " :%s ", p.Name)
		switch {
		case p.Type.Entity != nil:
			e := p.Type.Entity.Store
			fmt.Fprintf(&b, "%q", c.value(e, e.Key, 0).Text())
		case len(p.Examples) > 0 && p.Type.Name == verbs.StringType:
			fmt.Fprintf(&b, "%q", p.Examples[0])
		case len(p.Examples) > 0:
			b.WriteString(p.Examples[0])
		case p.Type.Codes != nil:
			b.WriteString(p.Type.Codes.Codes[0].Name)
		case p.Type.Name == verbs.BooleanType:
			b.WriteString("true")
		case p.Type.Name == verbs.IntegerType, p.Type.Name == verbs.DecimalType:
			b.WriteString("1")
		case p.Type.Name == verbs.DateType:
			b.WriteString("2025-03-05")
		case p.Type.Name == verbs.MoneyType:
			b.WriteString("{:amount 1 :currency EUR}")
		default:
			b.WriteString(`"` + strings.Repeat("x", max(1, p.Type.MinLength)) + `"`)
		}
	}
	return b.String()
}

// run runs one call.
func (c *crowd) run(t *testing.T, v *verbs.Verb, call string) {
	t.Helper()
	ctx := context.Background()
	s, err := c.engine.Session(ctx, roleOf(v))
	if err != nil {
		t.Fatal(err)
	}
	script, ds := dsl.Parse(dsl.NewSource("read.dsl", call))
	if ds.HasErrors() {
		t.Fatal(call, ds)
	}
	p, ds := s.Check(context.Background(), script)
	if p == nil {
		t.Fatal(call, ds)
	}
	reply, err := s.Run(ctx, p, engine.RunOptions{})
	if err != nil {
		t.Fatal(call, err)
	}
	if reply.Calls[0].Result == nil {
		t.Fatal(call, "returned nothing")
	}
}

// PERF-X3: what a read costs depends on what is its owner's, and not on how many
// others there are. Every statement that a call of a shipped read sends, with
// its required arguments and with all, is held to three things, as PostgreSQL
// carried it out under row-level security among 400 owners:
//
// It touches at most 50 buffers, and six for each row that its owner has in the
// tables it goes to: a row is reached through an index, three pages of it at
// most here, and stands on one of its own. Whose it is it says itself. Of 50 an
// empty answer costs few. All statements of the call together touch no more than
// that of the tables that they go to, with those among them that give names to
// rows that were never told before; and of a table whose rows may hide others,
// once for each statement, which asks whether they do.
//
// No table is read from end to end: one small enough that its pages would not
// show in the first count.
//
// No step turns away more rows than the owner has in that table, so that no
// index is used that leads through the rows of others.
func TestReadsTouchNoMoreThanIsTheirs(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	for domain, load := range shippedReads(t) {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			db := pgtest.Database(t)
			x := pgtest.Explain(t, db)
			ctx := context.Background()
			filler, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
			if err != nil {
				t.Fatal(err)
			}
			defer filler.Close()
			reg, h := load(t)
			c := newCrowd(t, reg, h, filler, 400, 1, 4, 12, 24, 40)
			x.Analyze()
			store, err := postgres.New(ctx, x.Pool)
			if err != nil {
				t.Fatal(err)
			}
			if c.engine, err = engine.New(reg, store, engine.Options{Handlers: h}); err != nil {
				t.Fatal(err)
			}
			own, every, hides := map[string]float64{}, map[string]float64{}, map[string]bool{}
			for _, e := range reg.Entities() {
				schema, name, named := strings.Cut(e.Store.Table, ".")
				if !named {
					schema, name = "public", schema
				}
				own[schema+"."+name] = float64(c.count(e.Store) / c.roots)
				every[schema+"."+name] = float64(c.count(e.Store))
				hides[schema+"."+name] = len(e.Store.Visible) > 0
			}
			for _, v := range readsOf(reg) {
				own, everybody := own, ofEverybody(v) && domain != "system"
				if everybody {
					own = every
				}
				for _, all := range []bool{false, true} {
					call := c.call(v, all)
					x.Plans()
					c.run(t, v, call)
					looked, most, bound, sum := 0, 0, 0, 0
					whole, met := 50.0, map[string]bool{}
					for _, p := range x.Plans() {
						if strings.HasPrefix(p.SQL, "EXPLAIN") {
							continue // the store's own look at an author's query
						}
						allowed, seen := 50.0, map[string]bool{}
						p.Top.Walk(func(n *pgtest.Node) {
							name := n.Schema + "." + n.Relation
							rows, ours := own[name]
							if !ours {
								return
							}
							if !seen[name] {
								allowed += 6 * rows
							}
							if !met[name] || hides[name] && !seen[name] {
								whole += 6 * rows
							}
							seen[name], met[name] = true, true
							if !everybody && (n.Type == "Seq Scan" || n.Type == "Parallel Seq Scan") {
								t.Errorf("%s reads all of %s:\n%s", call, name, p.SQL)
							}
							if n.Removed > rows {
								t.Errorf("%s turns %.0f rows of %s away, of which %.0f are its owner's:\n%s", call, n.Removed, name, rows, p.SQL)
							}
						})
						if len(seen) == 0 {
							continue // of the store's own tables, or of the catalogue
						}
						looked++
						touched := p.Top.Hit + p.Top.Read
						sum += touched
						if float64(touched) > allowed {
							t.Errorf("%s touches %d buffers, and may touch %.0f:\n%s", call, touched, allowed, p.SQL)
						}
						if touched > most {
							most, bound = touched, int(allowed)
						}
					}
					if float64(sum) > whole {
						t.Errorf("%s touches %d buffers in all, and may touch %.0f", call, sum, whole)
					}
					if looked == 0 && v.Matching == nil { // a search that finds no word reads no row
						t.Errorf("%s: the server told of no statement that reads", call)
					}
					t.Logf("%s: at most %d buffers of %d, in all %d of %.0f", call, most, bound, sum, whole)
				}
			}
		})
	}
}

// mine are the names that the store gives to the tables it reads.
var mine = regexp.MustCompile(`^SCAN (t|v[0-9]+)\b`)

// PERF-X3 on SQLite, which counts no pages: the plan of every statement finds its
// rows through an index. What an author's query scans are the rows of the scope,
// which were found that way before it sees them, under the author's own names.
func TestReadsScanNoTable(t *testing.T) {
	t.Parallel()
	for domain, load := range shippedReads(t) {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			plans := map[string][]string{}
			store, err := sqlite.Open(filepath.Join(t.TempDir(), "reads.db"), sqlite.Plans(func(text string, steps []string) {
				mu.Lock()
				defer mu.Unlock()
				plans[text] = steps
			}))
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			reg, h := load(t)
			c := newCrowd(t, reg, h, store, 3, 1, 2, 4)
			clear(plans)
			asked := false
			for _, v := range readsOf(reg) {
				if ofEverybody(v) && domain != "system" {
					continue
				}
				asked = true
				for _, all := range []bool{false, true} {
					c.run(t, v, c.call(v, all))
				}
			}
			looked := 0
			for text, steps := range plans {
				for _, step := range steps {
					looked++
					made := mine.FindStringSubmatch(step)
					if made == nil || slices.Contains(steps, "CO-ROUTINE "+made[1]) || slices.Contains(steps, "MATERIALIZE "+made[1]) {
						continue
					}
					t.Errorf("%s in\n%s", step, text)
				}
			}
			if asked && looked < 10 {
				t.Errorf("SQLite told of %d steps only", looked)
			}
		})
	}
}
