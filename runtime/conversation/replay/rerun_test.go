package replay

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const palette = `
domain: desk
roles:
  - {name: clerk, description: Who answers., sees: all}
  - {name: chief, description: Who agrees., sees: all}
entities:
  ticket:
    description: What somebody asked for.
    key: ticket_id
    managed: true
    scope: self
    label: "{title}"
    fields:
      title:  {type: string, required: true}
      note:   {type: string, personal: true}
      pin:    {type: string, sensitive: true}
      at:     {type: datetime}
      mark:   {type: uuid}
      parent: {type: ref, ref-type: ticket}
verbs:
  - verb: open
    description: Open a ticket.
    roles: [clerk]
    args:
      - {name: title, type: string, required: true}
      - {name: parent, type: ref, ref-type: ticket}
    effects:
      - {creates: ticket, set: {title: title, parent: parent, at: now}}
  - verb: remark
    description: Write something on a ticket.
    roles: [clerk]
    args:
      - {name: ticket-id, type: ref, ref-type: ticket, required: true}
      - {name: text, type: string, required: true, personal: true}
    requires:
      - {that: "text != BAD", else: such words stand on no ticket}
    effects:
      - {updates: ticket, where: ticket-id, set: {note: TEXT, at: now}}
  - verb: lock
    description: Lock a ticket.
    roles: [clerk]
    args:
      - {name: ticket-id, type: ref, ref-type: ticket, required: true}
      - {name: pin, type: string, required: true, sensitive: true}
    effects:
      - {updates: ticket.pin, where: ticket-id, set: {pin: pin}}
  - verb: drop
    description: Drop a ticket.
    roles: [clerk]
    confirm:
      - {by: chief, reason: it is gone then}
    args: [{name: ticket-id, type: ref, ref-type: ticket, required: true}]
    effects:
      - {deletes: ticket, where: ticket-id}
  - verb: two
    description: Open a ticket, and another below it.
    roles: [clerk]
    args: [{name: title, type: string, required: true}]
    script: |
      desk.open :title @title :as @one
      desk.open :title "below" :parent @one
`

// A world is a store with a palette, in which texts may be changed.
type world struct {
	t     *testing.T
	reg   *verbs.Registry
	store stores.Store
	e     *engine.Engine
	now   atomic.Int64
}

func newWorld(t *testing.T, store stores.Store, err error, changes ...string) *world {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	text := strings.NewReplacer(append(changes, `"text != BAD"`, `"text != 'bad'"`, "note: TEXT", "note: text")...).Replace(palette)
	reg, ds := load.Sources(dsl.NewSource("desk.yaml", text))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	w := &world{t: t, reg: reg, store: store}
	w.now.Store(start.UnixMicro())
	var all []*stores.Entity
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	if _, err := store.Migrate(t.Context(), append(all, engine.Own()...), true); err != nil {
		t.Fatal(err)
	}
	for who, roles := range map[string][]string{"ada": {"clerk"}, "cleo": {"chief"}} {
		if err := store.SetPrincipal(t.Context(), stores.Principal{Name: who, Roles: roles}); err != nil {
			t.Fatal(err)
		}
	}
	w.e, err = engine.New(reg, store, engine.Options{Clock: func() time.Time { return time.UnixMicro(w.now.Load()).UTC() }, Handlers: &engine.Handlers{}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) visit(name string) *engine.Session {
	w.t.Helper()
	s, err := w.e.Visit(w.t.Context(), "ada", engine.Visit{Name: name})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// do makes calls in a session, a minute after what was before.
func (w *world) do(s *engine.Session, text string) error {
	w.t.Helper()
	w.now.Add(time.Minute.Microseconds())
	script, ds := dsl.Parse(dsl.NewSource("test", text))
	p, more := s.Check(w.t.Context(), script)
	if p == nil {
		w.t.Fatal(ds, more)
	}
	_, err := s.Run(w.t.Context(), p, engine.RunOptions{})
	return err
}

// play plays a recording of the world in another one.
func (w *world) play(mode Mode, steps []Step) []Difference {
	w.t.Helper()
	p := &Player{Session: w.visit("again"), Store: w.store, Registry: w.reg, Mode: mode, At: func(at time.Time) { w.now.Store(at.UnixMicro()) },
		As: func(ctx context.Context, name string) (*engine.Session, error) { return w.e.Session(ctx, name) }}
	found, err := p.Play(w.t.Context(), steps)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

func (w *world) size() int64 {
	w.t.Helper()
	entries, err := w.store.Journal(w.t.Context(), 1, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return int64(len(entries))
}

// on runs a test on both stores; fresh opens a new one of the kind.
func on(t *testing.T, test func(t *testing.T, fresh func(changes ...string) *world)) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		n := 0
		test(t, func(changes ...string) *world {
			n++
			store, err := sqlite.Open(filepath.Join(t.TempDir(), fmt.Sprintf("%d.db", n)))
			return newWorld(t, store, err, changes...)
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, func(changes ...string) *world {
			db := pgtest.Database(t)
			store, err := postgres.Open(t.Context(), db.App, postgres.MigrateAs(db.Owner))
			return newWorld(t, store, err, changes...)
		})
	})
}

// recorded is a session that opens, remarks, is refused, drops with the agreement of another,
// and runs a macro and a script whose calls name each other.
func recorded(t *testing.T, w *world) []Step {
	t.Helper()
	s := w.visit("morning")
	for _, text := range []string{
		`desk.open :title "leak"`,
		`desk.remark :ticket-id @leak :text "Plumber at nine"`,
		"desk.open :title \"stairs\" :as @s\ndesk.remark :ticket-id @s :text \"Dark\"\ndesk.open :title \"bulb\" :parent @s",
		`desk.two :title "gate"`,
	} {
		if err := w.do(s, text); err != nil {
			t.Fatal(text, err)
		}
	}
	if err := w.do(s, `desk.remark :ticket-id @leak :text "bad"`); err == nil {
		t.Fatal("it is not refused")
	}
	w.now.Add(time.Minute.Microseconds())
	script, _ := dsl.Parse(dsl.NewSource("test", "desk.drop :ticket-id @bulb"))
	p, ds := s.Check(t.Context(), script)
	if p == nil {
		t.Fatal(ds)
	}
	pending, err := s.Propose(t.Context(), p, engine.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	chief, err := w.e.Session(t.Context(), "cleo")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := chief.Agree(t.Context(), pending.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.do(w.visit("afternoon"), `desk.open :title "elsewhere"`); err != nil {
		t.Fatal(err)
	}
	head, steps, err := Record(t.Context(), w.store, w.reg, s)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, head, steps); err != nil {
		t.Fatal(err)
	}
	again, steps, err := Read(&b)
	if err != nil || again != head {
		t.Fatal(again, err)
	}
	return steps
}

// OB13: a session that is made again on another store does the same, whatever keys its rows
// have there; dry, nothing is committed.
func TestASessionIsPlayedAgain(t *testing.T) {
	on(t, func(t *testing.T, fresh func(changes ...string) *world) {
		steps := recorded(t, fresh())
		if len(steps) != 7 || len(steps[2].Calls) != 3 || len(steps[3].Calls) != 1 || len(steps[3].Calls[0].Changes) != 2 {
			t.Fatalf("%d steps: %+v", len(steps), steps)
		}
		for _, mode := range []Mode{Strict, Relaxed} {
			if found := fresh().play(mode, steps); found != nil {
				t.Errorf("%s: %+v", mode, found)
			}
		}
		w := fresh()
		if found := w.play(Dry, steps); found != nil {
			t.Errorf("dry: %+v", found)
		}
		if n := w.size(); n != 0 {
			t.Errorf("played dry, and the journal has %d entries", n)
		}
	})
}

// Where something else happens, it is told where, and what: strictly the first place, and
// otherwise each.
func TestWhereASessionDiffersIsTold(t *testing.T) {
	on(t, func(t *testing.T, fresh func(changes ...string) *world) {
		steps := recorded(t, fresh())
		other := []string{"note: TEXT", "note: upper(text)", `"text != BAD"`, `"text != 'Dark'"`}
		w := fresh(other...)
		found := w.play(Strict, steps)
		if len(found) != 1 || found[0].Step != 2 || found[0].What != "ticket.note" || found[0].Was != `nothing -> "Plumber at nine"` || found[0].Is != `nothing -> "PLUMBER AT NINE"` {
			t.Errorf("%+v", found)
		}
		if n := w.size(); n != 2 {
			t.Errorf("it went on after the first difference: %d entries", n)
		}
		found = fresh(other...).play(Relaxed, steps)
		var all []string
		for _, d := range found {
			all = append(all, fmt.Sprintf("%d %s", d.Step, d.What))
		}
		// Nothing of step 3 was made, so that what it added is not there to be dropped.
		if got := strings.Join(all, ", "); got != "2 ticket.note, 3 outcome, 5 outcome, 6 outcome, 7 outcome" {
			t.Error(got, found)
		}
		late := func(s []Step) []Step {
			out := append([]Step(nil), s...)
			out[0].Time = out[0].Time.Add(time.Hour)
			return out
		}
		if found := fresh().play(Strict, late(steps)); len(found) != 1 || found[0].What != "ticket.at" {
			t.Errorf("strictly, at another time: %+v", found)
		}
		if found := fresh().play(Relaxed, late(steps)); found != nil {
			t.Errorf("at another time: %+v", found)
		}
	})
}

// What the journal does not keep cannot be said again, and is told; it stands in no recording.
func TestARecordingHoldsNoSecret(t *testing.T) {
	on(t, func(t *testing.T, fresh func(changes ...string) *world) {
		w := fresh()
		s := w.visit("morning")
		for _, text := range []string{`desk.open :title "safe"`, `desk.lock :ticket-id @safe :pin "4711"`, `desk.remark :ticket-id @safe :text "Locked"`} {
			if err := w.do(s, text); err != nil {
				t.Fatal(err)
			}
		}
		head, steps, err := Record(t.Context(), w.store, w.reg, s)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Write(&b, head, steps); err != nil || strings.Contains(b.String(), "4711") {
			t.Error(err, b.String())
		}
		found := fresh().play(Relaxed, steps)
		if len(found) != 1 || found[0].Step != 2 || !strings.Contains(found[0].Is, "does not keep") {
			t.Errorf("%+v", found)
		}
	})
}

// What is none of a recording is refused, with its line.
func TestBadRecordingsAreRefused(t *testing.T) {
	t.Parallel()
	head := `{"schema": "verbatim/recording@1", "session": "s", "principal": "ada", "palette": "p"}` + "\n"
	for text, says := range map[string]string{
		"":                                       "it is empty",
		"clara.jsonl":                            "line 1",
		`{"schema": "verbatim/run@1"}`:           "its schema is not",
		head + `{"calls": []}`:                   "a step without a call",
		head + `{"calls": [{"text": "a.b :x"}]}`: "not one call",
		head + `{"calls": [{"text": "a.b a.c"}]}`: "not one call",
		head + `{"calls": [{"text": "a.b"}]} {}`:  "more than one",
		head + `{"call": [{"text": "a.b"}]}`:      "unknown field",
		head + "\n":                               "line 2",
	} {
		if _, _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %q", text, err, says)
		}
	}
}
