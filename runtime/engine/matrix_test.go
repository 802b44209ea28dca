package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/verbs"
)

// A house is a store with rows of several owners, and people who must not see
// each other's.
type house struct {
	name   string
	reg    *verbs.Registry
	store  stores.Store
	engine *engine.Engine
	who    []string // whose doors are tried
	all    string   // somebody who sees all rows
}

// houses lays a house out twice on a store of its own.
var houses = map[string]func(t *testing.T) (a, b *house){
	"lending, SQLite":     func(t *testing.T) (a, b *house) { return lendingHouse(t, "sqlite"), lendingHouse(t, "sqlite") },
	"lending, PostgreSQL": func(t *testing.T) (a, b *house) { return lendingHouse(t, "postgres"), lendingHouse(t, "postgres") },
	// SAFE-A5: the engine's own scope condition is left out.
	"lending, row-level security alone": func(t *testing.T) (a, b *house) {
		return lendingHouse(t, "row-level security alone"), lendingHouse(t, "row-level security alone")
	},
	"retail, SQLite": func(t *testing.T) (a, b *house) {
		return retailHouse(t, sqliteShop(t, t.TempDir())), retailHouse(t, sqliteShop(t, t.TempDir()))
	},
	"retail, PostgreSQL": func(t *testing.T) (a, b *house) {
		return retailHouse(t, postgresShop(t)), retailHouse(t, postgresShop(t))
	},
}

func lendingHouse(t *testing.T, backend string) *house {
	w := twinWorld(t, backend, 4)
	h := handlers(honest, appraised)
	engine, err := engine.New(w.reg, w.store, engine.Options{Clock: func() time.Time { return newWorldClock }, NewID: w.newID, Handlers: h})
	if err != nil {
		t.Fatal(err)
	}
	return &house{"lending", w.reg, w.store, engine, []string{"kim", "bo"}, "ada"}
}

func retailHouse(t *testing.T, s *shop) *house {
	if plan, err := s.store.Migrate(t.Context(), append(s.tables(), engine.Own()...), true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	if err := s.store.SetPrincipal(t.Context(), stores.Principal{Name: "erik", Roles: []string{"accountant"}}); err != nil {
		t.Fatal(err)
	}
	n := 0
	engine, err := engine.New(s.reg, s.store, engine.Options{Clock: func() time.Time { return newWorldClock }, NewID: func() string {
		n++
		return fmt.Sprintf("00000000-0000-4000-9000-%012d", n)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &house{"retail", s.reg, s.store, engine, []string{"otto"}, "erik"}
}

// rows lists the keys that a scope opens, by entity.
func (h *house) rows(t *testing.T, scope stores.Scope) map[string][]stores.Value {
	t.Helper()
	all := make(map[string][]stores.Value)
	err := h.store.View(context.Background(), scope, func(r stores.Reader) error {
		for _, e := range h.reg.Entities() {
			rows, err := r.Find(context.Background(), stores.Find{Entity: e.Store, Select: []stores.Path{{Field: e.Store.Key}}})
			if err != nil {
				return err
			}
			for _, row := range rows {
				all[e.Store.Name] = append(all[e.Store.Name], row[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// forget deletes rows, whatever refers to what.
func (h *house) forget(t *testing.T, rows map[string][]stores.Value) {
	t.Helper()
	for range 8 {
		left := 0
		for name, keys := range rows {
			e := h.reg.Entity(name).Store
			for _, key := range keys {
				err := h.store.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
					return tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{{Op: stores.Delete, Entity: e, Key: key}}})
				})
				if err != nil && !strings.Contains(err.Error(), stores.ErrNotFound.Error()) {
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

// dump is everything that is kept in rows.
func (h *house) dump(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := h.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) error {
		for _, e := range h.reg.Entities() {
			rows, err := r.Find(context.Background(), stores.Find{Entity: e.Store})
			if err != nil {
				return err
			}
			fmt.Fprintln(&b, e.Store.Name, rows)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// value writes a value that an argument takes.
func value(p *verbs.Param, t *verbs.Type, own map[string][]stores.Value) string {
	if len(p.Examples) > 0 && t == p.Type {
		if t.Name == verbs.StringType || t.Name.Ruled() {
			return dsl.FormatValue(dsl.NewString(p.Examples[0]))
		}
		return p.Examples[0]
	}
	switch t.Name {
	case verbs.RefType:
		if t.Entity != nil && len(own[t.Entity.Store.Name]) > 0 {
			return own[t.Entity.Store.Name][0].Text()
		}
		return "00000000-0000-4000-8000-000000000000"
	case verbs.CodeType:
		return t.Codes.Codes[0].Name
	case verbs.DateType:
		return "2025-01-02"
	case verbs.BooleanType:
		return "true"
	case verbs.IntegerType, verbs.DecimalType:
		return "3"
	case verbs.MoneyType:
		return "{:amount 3 :currency EUR}"
	case verbs.EmailType:
		return `"a@example.com"`
	case verbs.ListType:
		return "[" + value(p, t.Item, own) + "]"
	}
	return `"x"`
}

// doors are the ways into the engine.
var doors = map[string]func(ctx context.Context, s *engine.Session, p *verbs.Program) error{
	"preview": func(ctx context.Context, s *engine.Session, p *verbs.Program) error {
		_, err := s.Preview(ctx, p)
		return err
	},
	"keep": func(ctx context.Context, s *engine.Session, p *verbs.Program) error {
		_, err := s.Keep(ctx, p)
		return err
	},
	"run": func(ctx context.Context, s *engine.Session, p *verbs.Program) error {
		_, err := s.Run(ctx, p, engine.RunOptions{})
		return err
	},
	"run under a key": func(ctx context.Context, s *engine.Session, p *verbs.Program) error {
		_, err := s.Run(ctx, p, engine.RunOptions{Key: "a key"})
		return err
	},
	"run, agreed": func(ctx context.Context, s *engine.Session, p *verbs.Program) error {
		_, err := s.Run(ctx, p, engine.RunOptions{Agreed: "0000-0000"})
		return err
	},
	"propose": func(ctx context.Context, s *engine.Session, p *verbs.Program) error {
		_, err := s.Propose(ctx, p, engine.RunOptions{})
		return err
	},
	"decline": func(ctx context.Context, s *engine.Session, p *verbs.Program) error {
		return s.DeclinePreview(ctx, p, "0000-0000")
	},
}

// told is all that somebody is told of a call at every door.
func (h *house) told(t *testing.T, who, text string) (said string, refused bool) {
	t.Helper()
	s, err := h.engine.Session(context.Background(), who)
	if err != nil {
		t.Fatal(err)
	}
	script, ds := dsl.Parse(dsl.NewSource("matrix.dsl", text))
	p, more := s.Check(context.Background(), script)
	said = told(ds) + told(more)
	if p == nil {
		return said, true
	}
	refused = true
	names := make([]string, 0, len(doors))
	for name := range doors {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		err := doors[name](context.Background(), s, p)
		if name != "decline" {
			_, no := err.(*engine.Refusal)
			refused = refused && no
		}
		said += name + ": " + outcome(err)
	}
	return previewID.ReplaceAllString(said, "ID"), refused
}

// SAFE-A1 SAFE-A2 SAFE-A5: the leak matrix. For every verb, every argument, every
// foreign row and every way to name it, in a literal, in a name, in a text, in a
// field of a name: what is said at each door is what is said in a house where
// the row does not exist, to the byte, and no row is changed. New verbs are in
// it by themselves.
func TestForeignIsAbsentAtEveryDoor(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	for name, open := range houses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := open(t)
			cells, unknown := 0, 0
			for _, who := range a.who {
				known, err := a.store.Principal(t.Context(), who)
				if err != nil {
					t.Fatal(err)
				}
				own := a.rows(t, stores.Scope{Principal: who, Holds: known.Holds})
				foreign := a.rows(t, stores.Scope{All: true})
				for entity, keys := range foreign {
					foreign[entity] = slices.DeleteFunc(keys, func(k stores.Value) bool { return slices.Contains(own[entity], k) })
				}
				sees, err := a.engine.Session(t.Context(), a.all)
				if err != nil {
					t.Fatal(err)
				}
				spellings := make(map[string][]string)
				for entity, keys := range foreign {
					for _, key := range keys[:min(len(keys), 2)] {
						name, label := engine.NameOf(t.Context(), sees, entity, key)
						spellings[entity] = append(spellings[entity], key.Text(), `"`+key.Text()+`"`, "@"+name, `"`+name+`"`, dsl.FormatValue(dsl.NewString(label)),
							"@"+name+"."+a.reg.Entity(entity).Store.Fields[a.reg.Entity(entity).Store.Key].Name)
					}
				}
				b.forget(t, foreign)
				before := a.dump(t)
				for _, v := range a.reg.Verbs() {
					for i := range v.Params {
						of := v.Params[i].Type
						if of.Name == verbs.ListType && of.Item != nil {
							of = of.Item
						}
						var ways []string
						switch {
						case of.Name == verbs.RefType && of.Entity != nil:
							ways = spellings[of.Entity.Store.Name]
						case of.Name == verbs.StringType:
							// A field of a row that somebody else has.
							for _, e := range a.reg.Entities() {
								if len(spellings[e.Store.Name]) > 0 {
									ways = append(ways, strings.TrimSuffix(spellings[e.Store.Name][2], ".")+"."+e.Store.Fields[0].Name)
								}
							}
						}
						for _, way := range ways {
							text := v.Name
							for j := range v.Params {
								p := &v.Params[j]
								switch {
								case j == i && p.Type.Name == verbs.ListType:
									text += " :" + p.Name + " [" + way + "]"
								case j == i:
									text += " :" + p.Name + " " + way
								case p.Required:
									text += " :" + p.Name + " " + value(p, p.Type, own)
								}
							}
							got, refused := a.told(t, who, text)
							want, _ := b.told(t, who, text)
							cells++
							if got != want {
								t.Errorf("%s: %s\ntells foreign\n%s\nfrom absent\n%s", who, text, got, want)
							}
							if strings.Contains(got, "unknown-name") {
								unknown++
							}
							if !refused {
								t.Errorf("%s: %s is not refused:\n%s", who, text, got)
							}
						}
					}
				}
				if after := a.dump(t); after != before {
					t.Errorf("something changed:\n%s\n%s", before, after)
				}
			}
			t.Logf("%s: %d cells, each at %d doors: 0 rows, 0 changes", name, cells, len(doors))
			if cells < 100 || unknown < cells*3/4 {
				t.Errorf("%d cells, of which %d were refused for want of a row", cells, unknown)
			}
		})
	}
}

// SAFE-A3: who may use which verb, from a table that stands here and not in the
// palette.
func TestRoleMatrix(t *testing.T) {
	t.Parallel()
	both := "member keeper"
	may := map[string]string{
		"list-items": "member keeper auditor", "get-item": both, "get-phone": "keeper", "count-loans": "member keeper auditor",
		"add-item": "keeper", "lend": "keeper", "note": both, "extend": both, "return": both, "close-late": "keeper", "remind": "keeper",
		"forget": "keeper", "ring": "keeper", "clean": "keeper", "set-phone": "keeper", "lose": "keeper", "relend": "keeper", "board-only": "board",
		"look": "keeper", "plan": "keeper", "rename-member": "keeper", "drop-loan": "keeper", "ask-later": "keeper", "note-later": "keeper", "note-soon": "keeper", "tell-board": "keeper", "repair": "keeper", "appraise": "keeper",
	}
	w := newWorldOf(t, load(t, "testdata/palettes"), handlers(honest, appraised))
	own := map[string][]stores.Value{"club": {id(1)}, "member": {id(11)}, "item": {id(21)}, "loan": {id(31)}, "reminder": {id(41)}}
	cells := 0
	for _, who := range people {
		for _, v := range w.reg.Verbs() {
			_, short, _ := strings.Cut(v.Name, ".")
			roles, listed := may[short]
			if !listed {
				t.Errorf("%s is not in the table", v.Name)
				continue
			}
			want := slices.ContainsFunc(who.Roles, func(r string) bool { return slices.Contains(strings.Fields(roles), r) })
			text := v.Name
			for i := range v.Params {
				if p := &v.Params[i]; p.Required {
					text += " :" + p.Name + " " + value(p, p.Type, own)
				}
			}
			s := w.session(who.Name)
			script, _ := dsl.Parse(dsl.NewSource("roles.dsl", text))
			p, ds := s.Check(context.Background(), script)
			if p == nil {
				t.Errorf("%s: %s", text, told(ds))
				continue
			}
			_, err := s.Preview(t.Context(), p)
			got := err == nil || !strings.Contains(outcome(err), "not-permitted")
			if got != want {
				t.Errorf("%s may use %s: %v, and the table says %v", who.Name, v.Name, got, want)
			}
			cells++
		}
	}
	t.Logf("%d people and verbs", cells)
}

// SAFE-S8: a name that somebody was not given stands for nothing: a hundred
// thousand guesses at names, texts and keys of the other club, and at names of a
// session that saw all, find no row.
func TestGuessedNamesFindNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	earlier := w.session("ada")
	var told []string // what another session was shown
	for _, entity := range []string{"club", "member", "item", "loan", "reminder"} {
		for key, row := range w.state() {
			if of, text, _ := strings.Cut(key, " "); of == entity {
				k, _ := stores.ParseUUID(text)
				name, label := engine.NameOf(t.Context(), earlier, entity, k)
				if _, mine := w.seen(stores.Scope{Principal: "kim", Holds: holds(1)})[key]; !mine {
					told = append(told, name, label, row[0].Text())
				}
			}
		}
	}
	if len(told) < 15 {
		t.Fatal(told)
	}
	rnd := rand.New(rand.NewPCG(4, 11))
	words := []string{"kayak", "zoe", "muller", "south", "drill", "saw", "ladder", "tent", "ann", "bob", "loan", "item", "member", "club", "north", "the", "a", "1", "2"}
	guess := func() string {
		switch rnd.IntN(4) {
		case 0:
			return told[rnd.IntN(len(told))]
		case 1:
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", 900+rnd.IntN(1_000_000))
		case 2:
			return fmt.Sprintf("%s-%s-%d", words[rnd.IntN(3)], words[rnd.IntN(len(words))], rnd.IntN(50))
		}
		return words[rnd.IntN(4)] + " " + words[rnd.IntN(len(words))]
	}
	const guesses = 100_000
	s := w.session("kim")
	tried := 0
	for tried < guesses {
		var text strings.Builder
		var batch []string
		for range 2000 {
			g := guess()
			batch = append(batch, g)
			if strings.Contains(g, " ") || strings.ContainsFunc(g, func(r rune) bool { return r > 0x7f }) {
				fmt.Fprintf(&text, "lending.lose :item-id %s\n", dsl.FormatValue(dsl.NewString(g)))
			} else {
				fmt.Fprintf(&text, "lending.lose :item-id @%s\n", g)
			}
		}
		script, _ := dsl.Parse(dsl.NewSource("guess.dsl", text.String()))
		knows := engine.Knows(s, script)
		for _, g := range batch {
			if knows(g) {
				t.Errorf("%q is known", g)
			}
			tried++
		}
	}
	if script, _ := dsl.Parse(dsl.NewSource("known.dsl", "lending.lose :item-id @drill")); !engine.Knows(s, script)("drill") {
		t.Error("nothing is known at all")
	}
	t.Logf("%d guesses, 0 found", tried)
}
