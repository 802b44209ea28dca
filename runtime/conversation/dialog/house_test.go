package dialog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

var update = flag.Bool("update", false, "write golden files")

// A house has two flats whose tenants do not see each other, on a real file, and a
// clock that a test moves.
type house struct {
	t      testing.TB
	reg    *verbs.Registry
	store  stores.Store
	engine *engine.Engine

	open func() (stores.Store, error)

	mu     sync.Mutex
	now    time.Time
	ids    int
	others int
}

// Friday, 27 December 2024.
var morning = time.Date(2024, 12, 27, 9, 14, 2, 0, time.UTC)

func id(n int) stores.Value {
	v, ok := stores.ParseUUID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
	if !ok {
		panic("not a uuid")
	}
	return v
}

func str(s string) stores.Value { return stores.NewString(s) }

func date(s string) stores.Value {
	v, ok := stores.ParseDate(s)
	if !ok {
		panic(s)
	}
	return v
}

func newHouse(t testing.TB, palettes string) *house {
	t.Helper()
	return newHouseAt(t, filepath.Join("testdata", palettes))
}

func newHouseAt(t testing.TB, dir string) *house {
	t.Helper()
	path := filepath.Join(t.TempDir(), "house.db")
	return newHouseOn(t, dir, func() (stores.Store, error) { return sqlite.Open(path) })
}

// palettesAt loads the palettes of a directory, or those of the house with one setting
// of its conversation more.
func palettesAt(t testing.TB, dir string) *verbs.Registry {
	t.Helper()
	palettes := os.DirFS(dir)
	if setting, ok := settings[filepath.Base(dir)]; ok {
		text, err := os.ReadFile("testdata/house/house.yaml")
		if err != nil {
			t.Fatal(err)
		}
		palettes = fstest.MapFS{"house.yaml": {Data: bytes.Replace(text, []byte("conversation:\n"), []byte("conversation:\n  "+setting+"\n"), 1)}}
	}
	reg, ds := load.Dir(palettes)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return reg
}

var settings = map[string]string{"plan": "plan-first: true", "phrased": "replies: phrased"}

// onBoth runs a test on both stores.
func onBoth(t *testing.T, fn func(t *testing.T, h *house)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, newHouse(t, "house"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		const dir = "testdata/house"
		open := func(db pgtest.DB) func() (stores.Store, error) {
			return func() (stores.Store, error) {
				return postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner))
			}
		}
		fn(t, openHouse(t, palettesAt(t, dir), open(pgtest.Like(t, dir, func(db pgtest.DB) {
			newHouseOn(t, dir, open(db)).store.Close()
		}))))
	})
}

// another is the house as another process has it: a store and an engine of its
// own over the same rows, under palettes that may be others by now.
func (h *house) another(reg *verbs.Registry) *house {
	h.t.Helper()
	store, err := h.open()
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { store.Close() })
	h.mu.Lock()
	h.others++
	o := &house{t: h.t, reg: reg, store: store, open: h.open, now: h.now, ids: h.others * 100_000}
	h.mu.Unlock()
	if o.engine, err = engine.New(reg, store, engine.Options{Clock: o.clock, NewID: o.newID}); err != nil {
		h.t.Fatal(err)
	}
	return o
}

// openHouse is a house over rows that are there.
func openHouse(t testing.TB, reg *verbs.Registry, open func() (stores.Store, error)) *house {
	t.Helper()
	store, err := open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	h := &house{t: t, reg: reg, store: store, open: open, now: morning}
	if h.engine, err = engine.New(reg, store, engine.Options{Clock: h.clock, NewID: h.newID}); err != nil {
		t.Fatal(err)
	}
	return h
}

// newHouseOn makes the tables and rows of a house.
func newHouseOn(t testing.TB, dir string, open func() (stores.Store, error)) *house {
	t.Helper()
	reg := palettesAt(t, dir)
	store, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	tables := engine.Own()
	for _, e := range reg.Entities() {
		tables = append(tables, e.Store)
	}
	if plan, err := store.Migrate(ctx, tables, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	for _, p := range []stores.Principal{
		{Name: "ann", Roles: []string{"tenant"}, Holds: map[string][]stores.Value{"flat": {id(1)}}},
		{Name: "ben", Roles: []string{"tenant"}, Holds: map[string][]stores.Value{"flat": {id(2)}}},
		{Name: "max", Roles: []string{"manager"}},
		{Name: "eve"},
	} {
		if err := store.SetPrincipal(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	var all []stores.Change
	add := func(entity string, key int, fields map[string]stores.Value) {
		e := reg.Entity(entity).Store
		c := stores.Change{Op: stores.Insert, Entity: e, Key: id(key)}
		for i := range e.Fields {
			if v, ok := fields[e.Fields[i].Name]; ok {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
			}
		}
		all = append(all, c)
	}
	add("flat", 1, map[string]stores.Value{"name": str("Garden Flat"), "pin": str("pin-canary-7319")})
	add("flat", 2, map[string]stores.Value{"name": str("Attic"), "pin": str("pin-canary-8642")})
	add("repair", 11, map[string]stores.Value{"flat": id(1), "title": str("Boiler"), "status": str("ORDERED"), "due": date("2025-01-15"), "notes": str("waits for a part")})
	add("repair", 12, map[string]stores.Value{"flat": id(1), "title": str("Kitchen Window"), "status": str("REPORTED"), "letter": str("It does not close.")})
	add("repair", 13, map[string]stores.Value{"flat": id(1), "title": str("Front Door"), "status": str("FIXED")})
	add("repair", 21, map[string]stores.Value{"flat": id(2), "title": str("Zinnia Skylight"), "status": str("REPORTED"), "due": date("2026-06-06"), "notes": str("foreign-canary-5550")})
	if err := store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: all})
	}); err != nil {
		t.Fatal(err)
	}
	return openHouse(t, reg, open)
}

func (h *house) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) later(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func (h *house) newID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids++
	return fmt.Sprintf("10000000-0000-4000-8000-%012d", h.ids)
}

func (h *house) session(who string) *engine.Session {
	h.t.Helper()
	s, err := h.engine.Session(context.Background(), who)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// talk begins a conversation of ann's with a model.
func (h *house) talk(m llm.Model, change func(*dialog.Options)) *talk {
	h.t.Helper()
	o := dialog.Options{Registry: h.reg, Session: h.session("ann"), Model: m, Mode: dialog.Text, Clock: h.clock, Person: "Ann"}
	if change != nil {
		change(&o)
	}
	c, err := dialog.New(o)
	if err != nil {
		h.t.Fatal(err)
	}
	return &talk{h: h, Conversation: c}
}

type talk struct {
	h *house
	*dialog.Conversation
}

func (c *talk) say(text string) *dialog.Answer {
	c.h.t.Helper()
	return c.send(dialog.Message{Text: text})
}

func (c *talk) send(m dialog.Message) *dialog.Answer {
	c.h.t.Helper()
	a, err := c.Say(context.Background(), m)
	if err != nil {
		c.h.t.Fatal(err)
	}
	if !a.Turn.Drawn() {
		c.h.t.Errorf("%q was taken for %s and led from %s to %s, which the table has not", m.Text, a.Turn.Taken, a.Turn.From, a.Turn.To)
	}
	return a
}

// field reads a field of a row as it is.
func (h *house) field(entity string, key int, field string) string {
	h.t.Helper()
	e := h.reg.Entity(entity).Store
	var row stores.Row
	err := h.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) (err error) {
		row, err = r.Get(context.Background(), e, id(key))
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return row.Values[e.FieldIndex(field)].Text()
}

func (h *house) count(entity string) int {
	h.t.Helper()
	n := 0
	err := h.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(context.Background(), stores.Find{Entity: h.reg.Entity(entity).Store})
		n = len(rows)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// files keeps a document's text in a field, marked as what it is.
func (h *house) files(repair, text string) {
	h.t.Helper()
	s := h.session("ann")
	call := dsl.NewCall("house.file-letter", dsl.NewArg("repair-id", dsl.NewSymbol(repair)), dsl.NewArg("text", dsl.NewString(text)))
	script, ds := dsl.Parse(dsl.NewSource("file", dsl.FormatCall(&call)))
	if ds.HasErrors() {
		h.t.Fatal(ds)
	}
	p, ds := s.Check(context.Background(), script, engine.CheckOptions{Said: verbs.Literals{Origin: verbs.NewOrigin(verbs.FromDocument, "letter.pdf")}})
	if p == nil {
		h.t.Fatal(ds)
	}
	if _, err := s.Run(context.Background(), p, engine.RunOptions{}); err != nil {
		h.t.Fatal(err)
	}
}

// A script is a model that says what it is told to, one answer after the other,
// and then nothing that helps. It keeps what it was asked.
type script struct {
	mu      sync.Mutex
	answers []llm.Reply
	asked   []llm.Request
}

func answers(texts ...string) *script {
	s := &script{}
	for _, t := range texts {
		s.answers = append(s.answers, llm.Reply{Text: t, Finish: llm.Stopped, Model: "scripted"})
	}
	return s
}

func (s *script) Chat(_ context.Context, r llm.Request, _ func(string)) (*llm.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Messages = slices.Clone(r.Messages)
	s.asked = append(s.asked, r)
	n := len(s.asked) - 1
	if n >= len(s.answers) {
		n = len(s.answers) - 1
	}
	reply := s.answers[n]
	for _, m := range r.Messages {
		reply.Usage.In += llm.EstimateTokens(m.Text)
	}
	reply.Usage.Out = llm.EstimateTokens(reply.Text)
	return &reply, nil
}

func (s *script) Embed(context.Context, []string) ([][]float32, llm.Usage, error) {
	return nil, llm.Usage{}, &llm.Error{Kind: llm.Unsupported}
}

// prompts is all that the model was ever shown, as it travels.
func (s *script) prompts(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	for _, r := range s.asked {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// tells is a reply that tells facts.
func tells(facts ...string) string {
	return calls("reply.tell :facts [\"" + strings.Join(facts, `" "`) + `"]`)
}

// pleased is a reply that tells no facts.
const pleased = "```verbatim\nreply.say :what WELCOME\n```"

func calls(lines ...string) string { return "```verbatim\n" + strings.Join(lines, "\n") + "\n```" }

// sets changes a field of a row as nobody in particular.
func (h *house) sets(entity string, key int, field, value string) {
	h.t.Helper()
	e := h.reg.Entity(entity).Store
	at := e.FieldIndex(field)
	err := h.store.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
		row, err := tx.Get(context.Background(), e, id(key))
		if err != nil {
			return err
		}
		return tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: id(key), Before: row.Values, Guard: []int{at}, Set: []stores.Assign{{Field: at, Value: str(value)}}}}})
	})
	if err != nil {
		h.t.Fatal(err)
	}
}
