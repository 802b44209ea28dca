package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
)

// The room is what the goals on search are measured on: findings of one deal, which the
// questions are about, and a tenth as many of another, which nobody who asks may see.
const roomPalette = `domain: room
description: Findings of deals.
roles:
  - {name: analyst, description: Somebody who asks.}
entities:
  deal:
    description: What an analyst holds.
    key: deal_id
    managed: true
    scope: self
    label: "{name}"
    fields:
      name: {type: string, required: true}
  finding:
    description: Something that a document says.
    key: finding_id
    managed: true
    scope: deal
    label: "{finding_id}"
    search: {text: [text], meaning: [text]}
    fields:
      deal: {type: ref, ref-type: deal, required: true}
      text: {type: string, required: true}
verbs:
  - verb: find
    description: What is found.
    roles: [analyst]
    args: [{name: about, type: string, required: true}]
    reads: {entity: finding, matching: about, limit: 10, fields: {text: text}}
`

// Kinds of rows, after those of the bank.
const (
	aDeal = iota + 5
	aFinding
)

// A room is the texts of the findings, and what is asked.
type room struct {
	deal, finding *stores.Entity
	texts         []string // of the deal that is asked about
	hidden        []string // of the other deal
	questions     []string
}

// functionWords are the most frequent words, which tsvector leaves out.
var functionWords = strings.Fields("the of and to in a is that for it was on with as be at by this from are or an were which not but has have been its their will they")

// newRoom makes texts of 8 to 30 words, each as frequent as its rank in Zipf's law says,
// and questions of two to four words. A word of a question is common (some 2 to 4 of 100
// findings have it), less so, or rare, as a draw says. The same numbers make the same
// room.
func newRoom(findings, questions int) (*room, error) {
	reg, ds := load.Sources(dsl.NewSource("room.yaml", roomPalette))
	if ds.HasErrors() {
		return nil, fmt.Errorf("the palette of the room does not load: %v", ds)
	}
	m := &room{deal: reg.Entity("deal").Store, finding: reg.Entity("finding").Store}
	draw := rand.New(rand.NewPCG(19, 2025))
	words := slices.Clone(functionWords)
	for seen := map[string]bool{}; len(words) < 30_000; {
		var b strings.Builder
		for range 2 + draw.IntN(3) {
			b.WriteByte("bcdfghklmnprstvw"[draw.IntN(16)])
			b.WriteByte("aeiou"[draw.IntN(5)])
		}
		b.WriteString([]string{"", "", "n", "s", "ing", "er", "ung", "tion"}[draw.IntN(8)])
		if word := b.String(); !seen[word] {
			seen[word] = true
			words = append(words, word)
		}
	}
	zipf := rand.NewZipf(draw, 1.01, 2.7, uint64(len(words)-1))
	text := func() string {
		said := make([]string, 8+draw.IntN(23))
		for i := range said {
			said[i] = words[zipf.Uint64()]
		}
		return strings.Join(said, " ")
	}
	for range findings {
		m.texts = append(m.texts, text())
	}
	for range findings / 10 {
		m.hidden = append(m.hidden, text())
	}
	for range questions {
		asked := make([]string, 2+draw.IntN(3))
		for i := range asked {
			from, to := len(functionWords), 150
			switch draw.IntN(3) {
			case 1:
				from, to = 150, 1500
			case 2:
				from, to = 1500, 15_000
			}
			asked[i] = words[from+draw.IntN(to-from)]
		}
		m.questions = append(m.questions, strings.Join(asked, " "))
	}
	return m, nil
}

// scope is that of somebody who holds the deal that is asked about.
func (m *room) scope() stores.Scope {
	return stores.Scope{Principal: "ada", Holds: map[string][]stores.Value{"deal": {bankKey(aDeal, 0)}}}
}

// fill puts the room into an empty store.
func (m *room) fill(store stores.Store) error {
	ctx := context.Background()
	plan, err := store.Migrate(ctx, []*stores.Entity{m.deal, m.finding}, true)
	if err == nil && len(plan.Problems) > 0 {
		err = fmt.Errorf("the store cannot be prepared: %v", plan.Problems)
	}
	if err != nil {
		return err
	}
	var rows []stores.Change
	add := func(e *stores.Entity, key stores.Value, values map[string]stores.Value) {
		c := stores.Change{Op: stores.Insert, Entity: e, Key: key}
		for i := range e.Fields {
			if v, ok := values[e.Fields[i].Name]; ok {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
			}
		}
		rows = append(rows, c)
	}
	n := 0
	for i, texts := range [][]string{m.texts, m.hidden} {
		add(m.deal, bankKey(aDeal, i), map[string]stores.Value{"name": stores.NewString(fmt.Sprint("Deal ", i))})
		for _, text := range texts {
			add(m.finding, bankKey(aFinding, n), map[string]stores.Value{"deal": bankKey(aDeal, i), "text": stores.NewString(text)})
			n++
		}
	}
	for some := range slices.Chunk(rows, 2000) {
		err := store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: some})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// onFile fills a SQLite store.
func (m *room) onFile() (store *sqlite.Store, end func(), err error) {
	dir, err := os.MkdirTemp("", "verbatim-peers-")
	if err != nil {
		return nil, nil, err
	}
	end = func() {
		if store != nil {
			_ = store.Close()
		}
		_ = os.RemoveAll(dir)
	}
	if store, err = sqlite.Open(filepath.Join(dir, "room.db")); err == nil {
		err = m.fill(store)
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return store, end, nil
}

// onServer fills a database of its own, and beside our tables one with a tsvector.
func (m *room) onServer(h *host) (store *postgres.Store, peer *pgx.Conn, err error) {
	ctx := context.Background()
	db, err := h.database()
	if err != nil {
		return nil, nil, err
	}
	if store, err = postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner)); err != nil {
		return nil, nil, err
	}
	h.Cleanup(func() { _ = store.Close() })
	if err := m.fill(store); err != nil {
		return nil, nil, err
	}
	if peer, err = pgx.Connect(ctx, db.Admin); err != nil {
		return nil, nil, err
	}
	h.Cleanup(func() { _ = peer.Close(ctx) })
	table := pgx.Identifier(strings.Split(m.finding.Table, ".")).Sanitize()
	for _, sql := range []string{
		`CREATE TABLE public.peers_finding (finding_id uuid PRIMARY KEY, deal uuid NOT NULL, words tsvector NOT NULL)`,
		`INSERT INTO public.peers_finding SELECT finding_id, deal, to_tsvector('english', text) FROM ` + table,
		`CREATE INDEX ON public.peers_finding USING gin (words)`,
		`VACUUM ANALYZE`,
	} {
		if _, err := peer.Exec(ctx, sql); err != nil {
			return nil, nil, err
		}
	}
	return store, peer, nil
}

// ten finds the ten that fit best in a store.
func (m *room) ten(store stores.Store, ask stores.Match) (keys []string, err error) {
	ask.Entity, ask.Limit = m.finding, 10
	ctx := context.Background()
	err = store.View(ctx, m.scope(), func(r stores.Reader) error {
		found, _, err := r.Match(ctx, ask)
		for _, f := range found {
			keys = append(keys, f.Key)
		}
		return err
	})
	return keys, err
}

// tsRank is how PostgreSQL finds rows with some of the words and orders them.
const tsRank = `SELECT finding_id::text FROM public.peers_finding, to_tsquery('english', $1) q WHERE deal = $2 AND words @@ q ORDER BY ts_rank(words, q) DESC, finding_id LIMIT 10`

// ranked has PostgreSQL find ten, joining the words of a question with | or with &.
func (m *room) ranked(peer *pgx.Conn, question, join string) ([]string, error) {
	rows, err := peer.Query(context.Background(), tsRank, strings.ReplaceAll(question, " ", join), bankKey(aDeal, 0).Text())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// asking makes a contestant that answers questions one after another. The median of a
// round is its sample, and the 95th percentile is that of tail.
func asking(name string, questions int, ask func(i int) error) (c, tail *contestant) {
	tail = &contestant{name: name + ", the 95th percentile"}
	c = &contestant{name: name, per: 1, sample: func() (float64, error) {
		took := make([]float64, questions)
		for i := range took {
			start := time.Now()
			if err := ask(i); err != nil {
				return 0, err
			}
			took[i] = float64(time.Since(start).Nanoseconds())
		}
		median, slow := middle(took)
		tail.samples = append(tail.samples, slow)
		return median, nil
	}}
	return c, tail
}

// middle are the median and the 95th percentile.
func middle(took []float64) (median, slow float64) {
	slices.Sort(took)
	return took[len(took)/2], took[min(len(took)-1, len(took)*95/100)]
}

const (
	ourRank    = "words on PostgreSQL, the ten best"
	theirRank  = "ts_rank over GIN, rows with some of the words"
	strictRank = "ts_rank over GIN, rows with all of the words, which are fewer"
	ourFile    = "words on SQLite in pure Go, the ten best"
)

// ranking is PERF-S2: the ten findings that fit a question best by its words, of those of
// one deal, in the same rows of the same server. The peer finds the same rows, which are
// those with some of the words; what it takes for rows with all of them is told too.
func ranking() (*race, func(), error) {
	const findings, questions = 100_000, 100
	with := func(cs, tails []*contestant) *race {
		over := func(a, b *contestant) func() float64 { return func() float64 { return a.ns() / b.ns() } }
		return &race{
			name:        fmt.Sprintf("The ten best of %d findings by two to four words, %d questions, behind a scope", findings, questions),
			contestants: slices.Concat(cs, tails),
			goals: []goal{
				{"PERF-S2", "median over that of ts_rank", over(cs[0], cs[1]), "x", false, 1.0},
				{"PERF-S2", "95th percentile over that of ts_rank", over(tails[0], tails[1]), "x", false, 0.5},
			},
		}
	}
	m, err := newRoom(findings, questions)
	if err != nil {
		return nil, nil, err
	}
	file, closeFile, err := m.onFile()
	if err != nil {
		return nil, nil, err
	}
	h := &host{}
	end := func() {
		for _, fn := range slices.Backward(h.cleanups) {
			fn()
		}
		closeFile()
	}
	var cs, tails []*contestant
	add := func(name string, ask func(question string) ([]string, error)) {
		c, tail := asking(name, questions, func(i int) error {
			_, err := ask(m.questions[i])
			return err
		})
		cs, tails = append(cs, c), append(tails, tail)
	}
	onFile := func(q string) ([]string, error) { return m.ten(file, stores.Match{Text: q}) }
	_, err = theServer() // which stops when all races are over
	var none errNoServer
	if errors.As(err, &none) {
		cs = nobody(none, ourRank, theirRank, strictRank)
		tails = nobody(none, ourRank, theirRank, strictRank)
		add(ourFile, onFile)
		return with(cs, tails), end, nil
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	store, peer, err := m.onServer(h)
	if err == nil {
		err = m.agree(m.questions, onFile, func(q string) ([]string, error) { return m.ten(store, stores.Match{Text: q}) })
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	add(ourRank, func(q string) ([]string, error) { return m.ten(store, stores.Match{Text: q}) })
	add(theirRank, func(q string) ([]string, error) { return m.ranked(peer, q, "|") })
	add(strictRank, func(q string) ([]string, error) { return m.ranked(peer, q, "&") })
	add(ourFile, onFile)
	return with(cs, tails), end, nil
}

// agree reports a question that two answer differently.
func (m *room) agree(questions []string, a, b func(question string) ([]string, error)) error {
	for _, q := range questions {
		x, err := a(q)
		y, other := b(q)
		if err = cmp.Or(err, other); err != nil {
			return err
		}
		if !slices.Equal(x, y) {
			return fmt.Errorf("%q finds %v and %v", q, x, y)
		}
	}
	return nil
}
