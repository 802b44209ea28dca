package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/search"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
)

// People are searched by their names.
const peoplePalette = `domain: people
description: People.
roles:
  - {name: clerk, description: Somebody who asks.}
entities:
  register:
    description: What owns them.
    key: register_id
    managed: true
    scope: self
    label: "{name}"
    fields:
      name: {type: string, required: true}
  person:
    description: Somebody.
    key: person_id
    managed: true
    scope: register
    label: "{name}"
    search: {names: [name]}
    fields:
      register: {type: ref, ref-type: register, required: true}
      name: {type: string, required: true}
verbs:
  - verb: list
    description: Everybody.
    roles: [clerk]
    reads: {entity: person, limit: 1, fields: {name: name}}
`

const (
	aRegister = iota + 8
	aPerson
)

type crowd struct {
	register, person *stores.Entity
	names            []string
	asked            []string
}

// newCrowd makes names of a given and a family name, each as frequent as its rank in Zipf's
// law says, and asks for some of them with two slips of the keyboard.
func newCrowd(people, questions int) (*crowd, error) {
	reg, ds := load.Sources(dsl.NewSource("people.yaml", peoplePalette))
	if ds.HasErrors() {
		return nil, fmt.Errorf("the palette of the people does not load: %v", ds)
	}
	c := &crowd{register: reg.Entity("register").Store, person: reg.Entity("person").Store}
	draw := rand.New(rand.NewPCG(20, 2026))
	word := func(least int) string {
		var b strings.Builder
		for range least + draw.IntN(2) {
			b.WriteString([]string{"b", "br", "c", "d", "f", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "r", "s", "sch", "st", "t", "v", "w", "z", "ch", ""}[draw.IntN(24)])
			b.WriteString([]string{"a", "e", "i", "o", "u", "ie", "ei", "au"}[draw.IntN(8)])
		}
		b.WriteString([]string{"", "n", "s", "r", "l", "ck", "nd", "ski", "mann", "ez"}[draw.IntN(10)])
		return b.String()
	}
	given, family := make([]string, 3000), make([]string, 60_000)
	for i := range given {
		given[i] = word(2)
	}
	for i := range family {
		family[i] = word(2)
	}
	g, f := rand.NewZipf(draw, 1.05, 20, uint64(len(given)-1)), rand.NewZipf(draw, 1.02, 200, uint64(len(family)-1))
	for range people {
		c.names = append(c.names, given[g.Uint64()]+" "+family[f.Uint64()])
	}
	for range questions {
		name := []byte(c.names[draw.IntN(people)])
		for range 2 {
			name[draw.IntN(len(name))] = "abcdefghijklmnopqrstuvwxyz"[draw.IntN(26)]
		}
		c.asked = append(c.asked, search.Name(string(name)))
	}
	return c, nil
}

// fill puts the people into an empty store, and makes the index.
func (c *crowd) fill(store interface {
	stores.Store
	stores.Searcher
	Load(context.Context, string, ...*stores.Entity) error
}) error {
	ctx := context.Background()
	if plan, err := store.Migrate(ctx, []*stores.Entity{c.register, c.person}, true); err != nil || len(plan.Problems) > 0 {
		return fmt.Errorf("the store cannot be prepared: %w %v", err, plan.Problems)
	}
	n := 0
	if err := store.Load(ctx, fmt.Sprintf("INSERT INTO %s (register_id, name) VALUES ('%s', 'People')", c.register.Table, bankKey(aRegister, 0).Text())); err != nil {
		return err
	}
	for some := range slices.Chunk(c.names, 20_000) {
		var b strings.Builder
		fmt.Fprintf(&b, "INSERT INTO %s (person_id, register, name) VALUES ", c.person.Table)
		for i, name := range some {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "('%s','%s','%s')", bankKey(aPerson, n).Text(), bankKey(aRegister, 0).Text(), name)
			n++
		}
		if err := store.Load(ctx, b.String()); err != nil {
			return err
		}
	}
	state, err := store.Index(ctx, c.person, true)
	if err == nil && !state.Clean() {
		err = fmt.Errorf("the index is %+v", state)
	}
	return err
}

// near finds everybody within two letters of a name.
func (c *crowd) near(store stores.Store, name string) (keys []string, err error) {
	ctx := context.Background()
	err = store.View(ctx, stores.Scope{Principal: "ada", Holds: map[string][]stores.Value{"register": {bankKey(aRegister, 0)}}}, func(r stores.Reader) error {
		found, _, err := r.Match(ctx, stores.Match{Entity: c.person, Spellings: []string{name}, Edits: 2, Limit: 100_000})
		for _, f := range found {
			keys = append(keys, f.Key)
		}
		return err
	})
	slices.Sort(keys)
	return keys, err
}

const (
	ourNames   = "names on SQLite, each question through the store"
	ourNamesPG = "names on PostgreSQL, each question through the store"
	scanNames  = "each name in memory, bit-parallel (Myers)"
	trgmNames  = "pg_trgm over GIN, then levenshtein_less_equal, which misses some"
)

// spelled is PERF-F1: everybody of a million whose name is within two letters of what is
// asked for. All but pg_trgm must find the same; what that finds is told.
func spelled() (*race, func(), error) {
	const people, questions = 1_000_000, 40
	c, err := newCrowd(people, questions)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "verbatim-peers-")
	if err != nil {
		return nil, nil, err
	}
	h := &host{}
	h.Cleanup(func() { _ = os.RemoveAll(dir) })
	end := func() {
		for _, fn := range slices.Backward(h.cleanups) {
			fn()
		}
	}
	fail := func(err error) (*race, func(), error) {
		end()
		return nil, nil, err
	}
	file, err := sqlite.Open(filepath.Join(dir, "people.db"))
	if err != nil {
		return fail(err)
	}
	h.Cleanup(func() { _ = file.Close() })
	if err := c.fill(file); err != nil {
		return fail(err)
	}
	flat := make([][]byte, people)
	for i, name := range c.names {
		flat[i] = []byte(name)
	}
	scan := func(name string) ([]string, error) {
		var keys []string
		p := search.NewPattern(name)
		for i, is := range flat {
			if p.Distance(is) <= 2 {
				keys = append(keys, bankKey(aPerson, i).Text())
			}
		}
		slices.Sort(keys)
		return keys, nil
	}
	before := inUse()
	if _, err := c.near(file, c.asked[0]); err != nil {
		return fail(err)
	}
	fmt.Printf("\nThe names of %d people take %d MB of memory.\n", people, (inUse()-before)>>20)
	same := func(find func(string) ([]string, error)) (hits int, err error) {
		for _, name := range c.asked {
			want, _ := scan(name)
			got, err := find(name)
			if err != nil {
				return 0, err
			}
			if !slices.Equal(got, want) {
				return 0, fmt.Errorf("%q finds %d, and the scan %d", name, len(got), len(want))
			}
			hits += len(got)
		}
		return hits, nil
	}
	onFile := func(name string) ([]string, error) { return c.near(file, name) }
	hits, err := same(onFile)
	if err != nil {
		return fail(err)
	}
	var cs, tails []*contestant
	add := func(name string, find func(string) ([]string, error)) {
		one, tail := asking(name, questions, func(i int) error {
			_, err := find(c.asked[i])
			return err
		})
		cs, tails = append(cs, one), append(tails, tail)
	}
	add(ourNames, onFile)
	add(scanNames, scan)
	done := func() (*race, func(), error) {
		return &race{
			name:        fmt.Sprintf("Names within two letters, of %d people, %d questions, %d hits", people, questions, hits),
			contestants: slices.Concat(cs, tails),
			goals:       []goal{{"PERF-F1", "median over that of a bit-parallel scan", func() float64 { return cs[0].ns() / cs[1].ns() }, "x", false, 0.005}},
		}, end, nil
	}
	_, err = theServer()
	var none errNoServer
	if errors.As(err, &none) {
		cs, tails = append(cs, nobody(none, ourNamesPG, trgmNames)...), append(tails, nobody(none, ourNamesPG, trgmNames)...)
		return done()
	}
	if err != nil {
		return fail(err)
	}
	ctx := context.Background()
	db, err := h.database()
	if err != nil {
		return fail(err)
	}
	server, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
	if err != nil {
		return fail(err)
	}
	h.Cleanup(func() { _ = server.Close() })
	if err := c.fill(server); err != nil {
		return fail(err)
	}
	onServer := func(name string) ([]string, error) { return c.near(server, name) }
	if _, err := same(onServer); err != nil {
		return fail(err)
	}
	add(ourNamesPG, onServer)
	peer, err := pgx.Connect(ctx, db.Admin)
	if err != nil {
		return fail(err)
	}
	h.Cleanup(func() { _ = peer.Close(ctx) })
	for _, sql := range []string{
		`CREATE EXTENSION pg_trgm`, `CREATE EXTENSION fuzzystrmatch`,
		`CREATE TABLE public.peers_person AS SELECT person_id, name FROM public.person`,
		`CREATE INDEX ON public.peers_person USING gin (name gin_trgm_ops)`,
		`VACUUM ANALYZE public.peers_person`,
	} {
		if _, err := peer.Exec(ctx, sql); err != nil {
			cs, tails = append(cs, absent(trgmNames, err)), append(tails, absent(trgmNames, err))
			return done()
		}
	}
	trgm := func(name string) ([]string, error) {
		rows, err := peer.Query(ctx, `SELECT person_id::text FROM public.peers_person WHERE name % $1 AND levenshtein_less_equal(name, $1, 2) <= 2`, name)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[string])
	}
	found := 0
	for _, name := range c.asked {
		keys, err := trgm(name)
		if err != nil {
			return fail(err)
		}
		found += len(keys)
	}
	fmt.Printf("pg_trgm finds %d of the %d.\n", found, hits)
	add(trgmNames, trgm)
	return done()
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
