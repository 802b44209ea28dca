package worker_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
)

// A club counts what it has, later, and a palette lets the club be left out.
const clubPalette = `
domain: club
roles:
  - {name: keeper}
entities:
  club:
    managed: true
    key: club_id
    scope: self
    label: "{name}"
    fields:
      name: {type: string, required: true}
      counted: {type: integer, required: true, default: 0}
verbs:
  - verb: stand
    roles: [keeper]
    args: [{name: club-id, type: ref, ref-type: club, required: true}]
    effects:
      - sets: session.active = club-id
  - verb: count
    roles: [keeper]
    args: [{name: club-id, type: ref, ref-type: club, default: active}]
    effects:
      - updates: club
        where: club-id
        set: {counted: row.counted + 1}
  - verb: count-twice
    roles: [keeper]
    effects: [{updates: club}]
    script: |
      club.count
  - verb: count-later
    roles: [keeper]
    args: [{name: day, type: date, required: true}]
    effects:
      - triggers: counting
        at: day
        run: club.count
  - verb: count-twice-later
    roles: [keeper]
    args: [{name: day, type: date, required: true}]
    effects:
      - triggers: counting-twice
        at: day
        run: club.count-twice
`

// O23, OB15: work for later is about what its session was at work on when it was
// scheduled, whatever that is by the time it is done, in the call and in those that
// a macro makes; what would be done says which row that is. Where the row is not
// there for them any more, nothing is done, and no other takes its place.
func TestWorkTakesAlongWhatWasAtWorkOn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClub(t, name)
			ctx := context.Background()
			run := func(text string) *receipt.Receipt {
				t.Helper()
				s, err := w.engine.Visit(ctx, "kim", engine.Visit{Name: "day"})
				if err != nil {
					t.Fatal(err)
				}
				script, _ := dsl.Parse(dsl.NewSource("test.dsl", text))
				p, ds := s.Check(context.Background(), script)
				if p == nil {
					t.Fatal(ds)
				}
				reply, err := s.Run(ctx, p, engine.RunOptions{})
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				return reply
			}
			counted := func(want string) {
				t.Helper()
				var all []string
				e := w.reg.Entity("club").Store
				for _, row := range w.rows("club") {
					all = append(all, row[e.FieldIndex("name")].Text()+" "+row[e.FieldIndex("counted")].Text())
				}
				if got := strings.Join(all, ", "); got != want {
					t.Errorf("counted %s, want %s", got, want)
				}
			}
			hold := func(keys ...stores.Value) {
				t.Helper()
				if err := w.store.SetPrincipal(ctx, stores.Principal{Name: "kim", Roles: []string{"keeper"}, Holds: map[string][]stores.Value{"club": keys}}); err != nil {
					t.Fatal(err)
				}
			}
			north, south := clubKey(1), clubKey(2)
			hold(north, south)

			run("club.stand :club-id @south")
			reply := run("club.count-later :day 2024-03-01 club.count-twice-later :day 2024-03-01")
			if got := reply.Calls[0].Notices[0].Calls; got != "club.count :club-id @south" {
				t.Errorf("it is told as %s", got)
			}
			run("club.stand :club-id @north")
			w.set(start.AddDate(0, 0, 5))
			w.wantWork("done club.count; done club.count-twice")
			counted("North 0, South 2")
			if e := w.last(); !strings.Contains(e.Call, "club.count") {
				t.Errorf("%+v", e)
			}

			run("club.count-later :day 2024-03-10 club.count-twice-later :day 2024-03-10")
			hold(south)
			w.set(start.AddDate(0, 0, 20))
			w.wantWork("skipped club.count row-gone; skipped club.count-twice row-gone")
			counted("North 0, South 2")
		})
	}
}

func clubKey(n int) stores.Value {
	v, _ := stores.ParseUUID([]string{1: "00000000-0000-4000-8000-0000000000c1", 2: "00000000-0000-4000-8000-0000000000c2"}[n])
	return v
}

func newClub(t *testing.T, backend string) *world {
	t.Helper()
	reg, ds := load.Dir(fstest.MapFS{"club.yaml": &fstest.MapFile{Data: []byte(clubPalette)}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var store stores.Store
	var where string
	var err error
	if backend == "sqlite" {
		where = filepath.Join(t.TempDir(), "club.db")
		store, err = sqlite.Open(where, sqlite.BusyTimeout(time.Minute))
	} else {
		where = migrated(t, "club", reg).App
		store, err = postgres.Open(context.Background(), where)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if backend == "sqlite" {
		migrate(t, store, reg)
	}
	w := &world{t: t, reg: reg, store: store, where: where, at: start}
	e := reg.Entity("club").Store
	var all []stores.Change
	for n, name := range []string{1: "North", 2: "South"} {
		if name != "" {
			all = append(all, stores.Change{Op: stores.Insert, Entity: e, Key: clubKey(n), Set: []stores.Assign{
				{Field: e.FieldIndex("name"), Value: stores.NewString(name)}, {Field: e.FieldIndex("counted"), Value: stores.NewInt(0)}}})
		}
	}
	if err := store.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(context.Background(), stores.Batch{Changes: all})
	}); err != nil {
		t.Fatal(err)
	}
	if w.engine, err = engine.New(reg, store, engine.Options{Clock: w.now, NewID: w.id, Zone: time.UTC}); err != nil {
		t.Fatal(err)
	}
	return w
}
