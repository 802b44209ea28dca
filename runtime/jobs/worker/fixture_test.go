package worker_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/worker"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/stores/storetest"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// A desk promises things for a day, is reminded, and posts what it did.
const palette = `
domain: desk
roles:
  - {name: clerk, sees: all}
  - {name: chief, sees: all}
entities:
  promise:
    managed: true
    key: promise_id
    scope: self
    label: "{name}"
    fields:
      promise_id: {type: uuid, required: true}
      name: {type: string, required: true}
      kept: {type: boolean, required: true, default: false}
      reminded: {type: integer, required: true, default: 0}
      due: {type: date}
  posting:
    managed: true
    key: posting_id
    scope: self
    label: "{note}"
    fields:
      note: {type: string, required: true}
verbs:
  - verb: promise
    roles: [clerk]
    args:
      - {name: name, type: string, required: true}
    effects:
      - creates: promise
        set: {name: name}
  - verb: keep-these
    roles: [clerk]
    args:
      - {name: these, type: list, required: true, of: {type: record, fields: {promise: {type: ref, ref-type: promise, required: true}, due: {type: date, required: true}}}}
    effects:
      - updates: promise
        for-each: these
        where: row == each.promise
        set: {kept: true, due: each.due}
  - verb: keep-these-later
    roles: [clerk]
    args:
      - {name: these, type: list, required: true, of: {type: record, fields: {promise: {type: ref, ref-type: promise, required: true}, due: {type: date, required: true}}}}
    effects:
      - triggers: verbatim
        at: now + hours(1)
        run: desk.keep-these :these @these
  - verb: expect
    roles: [clerk]
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
      - {name: day, type: date, required: true}
      - {name: times, type: list, of: integer}
    effects:
      - updates: promise.due
        where: promise-id
        set: {due: day}
      - triggers: reminder
        at: day + days(1)
        when: not promise_id.kept
        run: desk.remind :promise-id @promise-id :note "It was for today" :times @times
  - verb: keep
    roles: [clerk]
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
    effects:
      - updates: promise.kept
        where: promise-id
        set: {kept: "true"}
  - verb: drop
    roles: [clerk]
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
    effects:
      - deletes: promise
        where: promise-id
  - verb: remind
    roles: [clerk]
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
      - {name: note, type: string, required: true}
      - {name: times, type: list, of: integer}
    effects:
      - updates: promise.reminded
        where: promise-id
        set: {reminded: row.reminded + 1}
      - notifies: customer
        with: {note: note}
  - verb: report
    roles: [clerk]
    args:
      - {name: note, type: string, required: true}
    effects:
      - creates: posting
        set: {note: note}
      - notifies: chief
        with: {note: note}
  - verb: post
    roles: [clerk]
    args:
      - {name: note, type: string, required: true}
    effects:
      - creates: posting
        set: {note: note}
  - verb: chase
    roles: [clerk]
    undo: {by: rows, within: 365d}
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
      - {name: day, type: date, required: true}
    effects:
      - triggers: chase
        at: day
        unless: promise_id.kept
        key: [promise-id]
        run: desk.remind :promise-id @promise-id :note "Chased"
  - verb: chase-once
    roles: [clerk]
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
      - {name: day, type: date, required: true}
    effects:
      - triggers: chase
        at: day
        key: [promise-id]
        again: refuse
        run: desk.remind :promise-id @promise-id :note "Chased once"
  - verb: jot-first
    roles: [clerk, chief]
    args:
      - {name: topic, type: string, required: true}
      - {name: note, type: string, required: true}
    effects:
      - triggers: jotting
        at: now + days(1)
        key: [topic]
        again: keep
        run: desk.post :note @note
  - verb: post-twice
    roles: [clerk]
    args:
      - {name: note, type: string, required: true}
    effects:
      - triggers: posting-twice
        at: now + hours(1)
        retry: {attempts: 3, first: 1m, factor: 4, longest: 3m}
        run: desk.post :note @note
  - verb: weekly
    roles: [clerk]
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
    effects:
      - updates: promise.reminded
        where: promise-id
        set: {reminded: row.reminded + 1}
      - triggers: weekly
        at: now + days(7)
        unless: promise_id.reminded >= 3
        key: [promise-id]
        again: refuse
        run: desk.weekly :promise-id @promise-id
  - verb: post-later
    roles: [clerk]
    args:
      - {name: note, type: string, required: true}
      - {name: at, type: datetime}
    effects:
      - may-trigger: posting
        when: at == nil
        run: desk.post :note @note
      - may-trigger: posting-at
        when: at != nil
        at: at
        run: desk.post :note @note
  - verb: quote
    roles: [clerk]
    args:
      - {name: note, type: string, required: true, from: [script, person, record]}
    effects:
      - creates: posting
        set: {note: note}
  - verb: quote-later
    roles: [clerk]
    args:
      - {name: note, type: string, required: true}
      - {name: times, type: list, of: integer}
    effects:
      - triggers: quote
        run: desk.quote :note @note
  - verb: shred
    roles: [clerk]
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
    confirm:
      - {reason: it cannot be undone}
    effects:
      - deletes: promise
        where: promise-id
  - verb: burn
    roles: [clerk]
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
    confirm:
      - {by: chief, reason: it cannot be undone, expires: 2h}
    effects:
      - deletes: promise
        where: promise-id
  - verb: shred-later
    roles: [clerk]
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
    effects:
      - triggers: shredder
        run: desk.shred :promise-id @promise-id
  - verb: burn-later
    roles: [clerk]
    args:
      - {name: promise-id, type: ref, ref-type: promise, required: true}
    effects:
      - triggers: stove
        run: desk.burn :promise-id @promise-id
  - verb: ring
    roles: [clerk]
    internal: true
    args:
      - {name: note, type: string, required: true}
    effects:
      - creates: posting
        set: {note: note}
  - verb: ring-all
    roles: [clerk]
    internal: true
    args:
      - {name: note, type: string, required: true}
    confirm:
      - {by: chief, reason: it wakes everybody}
    effects:
      - creates: posting
        set: {note: note}
  - verb: ring-later
    roles: [clerk]
    args:
      - {name: note, type: string, required: true}
    effects:
      - triggers: bell
        run: desk.ring :note @note
  - verb: ring-all-later
    roles: [clerk]
    args:
      - {name: note, type: string, required: true}
    effects:
      - triggers: bell
        run: desk.ring-all :note @note
`

func registry(t testing.TB) *verbs.Registry {
	t.Helper()
	reg, ds := load.Dir(fstest.MapFS{"desk.yaml": &fstest.MapFile{Data: []byte(palette)}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return reg
}

func tables(reg *verbs.Registry) []*stores.Entity {
	all := engine.Own()
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	return all
}

// A world is a desk with a clock that tests set, on one store.
type world struct {
	t      testing.TB
	reg    *verbs.Registry
	store  stores.Store
	engine *engine.Engine
	where  string // the address of the store, for another process

	mu     sync.Mutex
	at     time.Time
	ids    int
	sent   []engine.Message
	events []worker.Event
	refuse func(engine.Message) error
	said   verbs.Literals // of what run is given
}

var start = time.Date(2024, 2, 27, 9, 30, 0, 0, time.UTC)

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *world) set(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = at
}

func (w *world) id() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", w.ids)
}

// bothStores runs a test on each.
func bothStores(t *testing.T, zone *time.Location, test func(w *world)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(sqliteWorld(t, zone))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db := migrated(t, "desk", registry(t))
		s, err := postgres.Open(context.Background(), db.App)
		if err != nil {
			t.Fatal(err)
		}
		test(newWorld(t, s, db.App, zone))
	})
}

func sqliteWorld(t *testing.T, zone *time.Location) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "desk.db")
	s, err := sqlite.Open(path, sqlite.BusyTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	migrate(t, s, registry(t))
	return newWorld(t, s, path, zone)
}

// migrated returns a database with the tables of a palette, which are made once for all tests.
func migrated(t testing.TB, key string, reg *verbs.Registry) pgtest.DB {
	t.Helper()
	return pgtest.Like(t, key, func(db pgtest.DB) {
		s, err := postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		migrate(t, s, reg)
	})
}

func migrate(t testing.TB, s stores.Store, reg *verbs.Registry) {
	t.Helper()
	if plan, err := s.Migrate(context.Background(), tables(reg), true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
}

func newWorld(t testing.TB, store stores.Store, where string, zone *time.Location) *world {
	t.Helper()
	t.Cleanup(func() { store.Close() })
	w := &world{t: t, reg: registry(t), store: store, where: where, at: start}
	w.grant("ada", "clerk")
	w.grant("bo", "chief")
	var err error
	if w.engine, err = engine.New(w.reg, store, engine.Options{Clock: w.now, NewID: w.id, Zone: zone}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) grant(who string, roles ...string) {
	w.t.Helper()
	if err := w.store.SetPrincipal(context.Background(), stores.Principal{Name: who, Roles: roles}); err != nil {
		w.t.Fatal(err)
	}
}

// run runs a script that must succeed.
func (w *world) run(who, text string) *receipt.Receipt {
	w.t.Helper()
	reply, err := w.try(who, text)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return reply
}

func (w *world) try(who, text string) (*receipt.Receipt, error) {
	w.t.Helper()
	ctx := context.Background()
	s, err := w.engine.Session(ctx, who)
	if err != nil {
		w.t.Fatal(err)
	}
	script, ds := dsl.Parse(dsl.NewSource("test.dsl", text))
	if ds.HasErrors() {
		w.t.Fatal(ds)
	}
	p, ds := s.Check(context.Background(), script, engine.CheckOptions{Said: w.said})
	if p == nil {
		w.t.Fatal(ds)
	}
	return s.Run(ctx, p, engine.RunOptions{})
}

func (w *world) worker() *worker.Worker {
	return &worker.Worker{Engine: w.engine, Store: w.store, Name: "test", Clock: w.now, Send: w.send, Report: func(e worker.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	}}
}

func (w *world) send(_ context.Context, m engine.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, m)
	if w.refuse != nil {
		return w.refuse(m)
	}
	return nil
}

// work does what is due, and says what became of it, in the order of its jobs.
func (w *world) work() string {
	w.t.Helper()
	w.mu.Lock()
	w.events = nil
	w.mu.Unlock()
	c := w.worker()
	c.Concurrency = 1
	if _, err := c.Once(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, e := range w.events {
		line := e.Outcome + " " + e.What
		if e.Reason != "" {
			line += " " + e.Reason
		}
		out = append(out, line)
		if e.Err != nil && w.refuse == nil {
			w.t.Log(e.Err)
		}
	}
	return strings.Join(out, "; ")
}

func (w *world) wantWork(want string) {
	w.t.Helper()
	if got := w.work(); got != want {
		w.t.Errorf("at %s the work was %q, want %q", w.now().Format(time.RFC3339), got, want)
	}
}

// count counts the rows of an entity.
func (w *world) rows(entity string) [][]stores.Value {
	w.t.Helper()
	var rows [][]stores.Value
	err := w.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) (err error) {
		rows, err = r.Find(context.Background(), stores.Find{Entity: w.reg.Entity(entity).Store})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}

// last is the newest journal entry.
func (w *world) last() stores.Entry {
	w.t.Helper()
	entries, err := w.store.Journal(context.Background(), 0, 0)
	if err != nil || len(entries) == 0 {
		w.t.Fatal(len(entries), err)
	}
	storetest.Whole(w.t, w.store, -1)
	return entries[len(entries)-1]
}

func (w *world) jobs(states ...stores.JobState) []stores.JobRecord {
	w.t.Helper()
	all, err := w.store.Jobs(context.Background(), stores.JobFilter{States: states})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

var errDown = errors.New("down")

// plain takes the suffixes of names out of a text, which no two stores share.
func plain(text string) string { return suffixes.ReplaceAllString(text, "") }

var suffixes = regexp.MustCompile(`~[0-9a-z]{6,16}\b`)
