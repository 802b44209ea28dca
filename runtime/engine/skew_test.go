package engine_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/engine/each"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/verbs"
)

// The guild has a house with two rooms and guests in them, and a rule that holds
// for everybody. Its verbs decide on one row and change another, which is what
// two of them at once can get wrong.
const guild = `
domain: guild
roles:
  - {name: warden, description: who runs the house}
  - {name: board, description: who is asked}
  - {name: clerk, description: who sees all, sees: all}
codes:
  - {name: state, description: how it is, values: [OPEN, SHUT]}
entities:
  rule:
    key: rule_id
    managed: true
    scope: everyone
    label: "{name}"
    fields:
      rule_id: {type: string, required: true}
      name: {type: string, required: true}
      state: {type: code, ref-type: state, default: OPEN}
  house:
    key: house_id
    managed: true
    scope: self
    label: "{name}"
    fields:
      name: {type: string, required: true}
      state: {type: code, ref-type: state, default: OPEN}
      note: {type: string}
  room:
    key: room_id
    managed: true
    scope: house
    label: "{name}"
    fields:
      house: {type: ref, ref-type: house, required: true}
      rule:  {type: ref, ref-type: rule}
      name:  {type: string, required: true}
      state: {type: code, ref-type: state, default: SHUT}
      note:  {type: string}
  guest:
    key: guest_id
    managed: true
    scope: room.house
    label: "{name}"
    fields:
      room: {type: ref, ref-type: room, required: true}
      name: {type: string, required: true}
      note: {type: string}
verbs:
  - verb: seal
    description: Shut the house and every room that is open.
    roles: [warden]
    args: [{name: house-id, type: ref, ref-type: house, required: true}]
    effects:
      - {updates: house.state, where: house-id, set: {state: SHUT}}
      - {may-update: room.state, where: row.house == house_id and row.state == OPEN, set: {state: SHUT}}
  - verb: open-room
    description: Open a room of a house that is open.
    roles: [warden]
    args: [{name: room-id, type: ref, ref-type: room, required: true}]
    requires: [{that: room_id.house.state == OPEN, else: the house is shut}]
    effects: [{updates: room.state, where: room-id, set: {state: OPEN}}]
  - verb: open-room-when
    description: Open a room when its house is open.
    roles: [warden]
    args: [{name: room-id, type: ref, ref-type: room, required: true}]
    effects: [{may-update: room.state, where: room-id, when: room_id.house.state == OPEN, set: {state: OPEN}}]
  - verb: open-room-asked
    description: Open a room, and ask where the house is shut.
    roles: [warden]
    args: [{name: room-id, type: ref, ref-type: room, required: true}]
    confirm: [{when: room_id.house.state == SHUT, reason: the house is shut}]
    effects: [{updates: room.state, where: room-id, set: {state: OPEN}}]
  - verb: as-house
    description: Make a room what its house is.
    roles: [warden]
    args: [{name: room-id, type: ref, ref-type: room, required: true}]
    effects: [{may-update: room.state, where: room-id, set: {state: room_id.house.state}}]
  - verb: house-as-room
    description: Make a house what a room of it is.
    roles: [warden]
    args:
      - {name: house-id, type: ref, ref-type: house, required: true}
      - {name: guest-id, type: ref, ref-type: guest, required: true}
    effects: [{may-update: house.state, where: house-id, set: {state: guest_id.room.state}}]
  - verb: sweep
    description: Write down which rooms stood open.
    roles: [warden]
    args: [{name: text, type: string, required: true}]
    effects: [{may-update: room.note, where: row.state == OPEN, set: {note: text}}]
  - verb: leave
    description: Shut a room that nobody has swept.
    roles: [warden]
    args: [{name: room-id, type: ref, ref-type: room, required: true}]
    requires: [{that: room_id.note == nil, else: it was swept}]
    effects: [{updates: room.state, where: room-id, set: {state: SHUT}}]
  - verb: tell-guests
    description: Write to the guests of open rooms.
    roles: [warden]
    args: [{name: text, type: string, required: true}]
    effects: [{may-update: guest.note, where: row.room.state == OPEN, set: {note: text}}]
  - verb: shut-untold
    description: Shut a guest's room, if they were not told that it is open.
    roles: [warden]
    args:
      - {name: guest-id, type: ref, ref-type: guest, required: true}
      - {name: room-id, type: ref, ref-type: room, required: true}
    requires: [{that: guest_id.note == nil, else: they were told}]
    effects: [{updates: room.state, where: room-id, set: {state: SHUT}}]
  - verb: change-rule
    description: Shut a rule that no room stands on.
    roles: [clerk]
    args:
      - {name: rule-id, type: ref, ref-type: rule, required: true}
      - {name: room-id, type: ref, ref-type: room, required: true}
    requires: [{that: room_id.state == SHUT, else: a room stands on it}]
    effects: [{updates: rule.state, where: rule-id, set: {state: SHUT}}]
  - verb: open-by-rule
    description: Tell the board that the rule of a guest's room holds.
    roles: [warden]
    args: [{name: guest-id, type: ref, ref-type: guest, required: true}]
    requires: [{that: guest_id.room.rule.state == OPEN, else: the rule is shut}]
    effects: [{notifies: board}]
  - verb: open-by-this-rule
    description: Tell the board that a rule holds.
    roles: [warden]
    args: [{name: rule-id, type: ref, ref-type: rule, required: true}]
    requires: [{that: rule_id.state == OPEN, else: the rule is shut}]
    effects: [{notifies: board}]
  - verb: look-rule
    description: How a rule is.
    roles: [warden]
    args: [{name: rule-id, type: ref, ref-type: rule, required: true}]
    reads: {entity: rule, one: rule-id, fields: {state: state}}
  - verb: make
    description: Make a room something.
    roles: [warden]
    args:
      - {name: room-id, type: ref, ref-type: room, required: true}
      - {name: state, type: code, ref-type: state, required: true}
    effects: [{may-update: room.state, where: room-id, set: {state: state}}]
  - verb: look
    description: A room of a name, and its house.
    roles: [warden]
    args: [{name: name, type: string, required: true}]
    reads:
      entity: room
      where: row.name == name
      fields: {state: state, house-state: house.state}
  - verb: count
    description: How many are in a room.
    roles: [warden]
    args: [{name: name, type: string, required: true}]
    reads:
      entity: room
      where: row.name == name
      fields: {guests: count(guest.room)}
  - verb: write
    description: Write on a house.
    roles: [warden]
    args:
      - {name: house-id, type: ref, ref-type: house, required: true}
      - {name: state, type: code, ref-type: state}
      - {name: guests, type: integer}
    requires: [{that: guests == nil or guests > 0, else: it is empty}]
    effects:
      - {may-update: house.state, where: house-id, when: state != nil, set: {state: state}}
      - {may-update: house.note, where: house-id, when: guests != nil, set: {note: '"not empty"'}}
  - verb: expel
    description: Strike a guest out, unless the house says that somebody is there.
    roles: [warden]
    args:
      - {name: guest-id, type: ref, ref-type: guest, required: true}
      - {name: house-id, type: ref, ref-type: house, required: true}
    requires: [{that: house_id.note == nil, else: the house is written upon}]
    effects: [{deletes: guest, where: guest-id}]
  - verb: call-quiet
    description: Write on a room that no guest of another has a note.
    roles: [warden]
    args:
      - {name: room-id, type: ref, ref-type: room, required: true}
      - {name: on, type: ref, ref-type: room, required: true}
    requires: [{none: guest, where: row.room == room_id and row.note != nil, else: a guest has one}]
    effects: [{updates: room.note, where: on, set: {note: '"quiet"'}}]
  - verb: disturb
    description: Give a guest a note, and perhaps another room, unless a room of the house is written upon.
    roles: [warden]
    args:
      - {name: guest-id, type: ref, ref-type: guest, required: true}
      - {name: house-id, type: ref, ref-type: house, required: true}
      - {name: to, type: ref, ref-type: room}
    requires: [{none: room, where: row.house == house_id and row.note != nil, else: a room is written upon}]
    effects:
      - {updates: guest.note, where: guest-id, set: {note: '"told"'}}
      - {may-update: guest.room, where: guest-id, when: to != nil, set: {room: to}}
  - verb: leave-one
    description: Shut a room, unless it is the last that is open.
    roles: [warden]
    handler: true
    args: [{name: room-id, type: ref, ref-type: room, required: true}]
    effects: [{updates: room.state, where: room-id}]
`

// house is the guild on a server, opened twice, so that two transactions meet
// there and nowhere before.
type twoHouses struct {
	t     *testing.T
	db    pgtest.DB
	two   [2]*world
	at    [2]func(engine.Stage)
	first state
}

func newTwoHouses(t *testing.T) *twoHouses {
	t.Helper()
	h := &twoHouses{t: t}
	reg := loadYAML(t, map[string]string{"guild.yaml": guild})
	handlers := &engine.Handlers{}
	type roomOf struct {
		Room engine.Ref `verb:"room-id"`
	}
	engine.Handle(handlers, "guild.leave-one", func(ctx context.Context, c *engine.Call, a roomOf) (engine.Outcome, error) {
		open, err := c.Find(ctx, "room", engine.Fields{"state": "OPEN"})
		if err != nil {
			return engine.Outcome{}, err
		}
		if len(open) < 2 {
			return engine.Outcome{}, engine.Refuse("it is the last", "open another first")
		}
		return engine.Outcome{Changes: []engine.Edit{engine.Update(a.Room, engine.Fields{"state": "SHUT"})}}, nil
	})
	fill := func(store stores.Store) error {
		w := &world{t: t, reg: reg, store: store}
		if plan, err := store.Migrate(t.Context(), append(w.tables(), engine.Own()...), true); err != nil || len(plan.Problems) > 0 {
			return fmt.Errorf("migrate: %w %v", err, plan.Problems)
		}
		for _, p := range []stores.Principal{
			{Name: "wim", Roles: []string{"warden"}, Holds: map[string][]stores.Value{"house": {id(1)}}},
			{Name: "cleo", Roles: []string{"clerk"}},
		} {
			if err := w.store.SetPrincipal(t.Context(), p); err != nil {
				return err
			}
		}
		add := func(entity string, key stores.Value, fields map[string]stores.Value) {
			e := w.entity(entity)
			c := stores.Change{Op: stores.Insert, Entity: e, Key: key}
			for i := range e.Fields {
				if v, ok := fields[e.Fields[i].Name]; ok {
					c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
				}
			}
			w.change(c)
		}
		add("rule", str("R"), map[string]stores.Value{"name": str("Rule")})
		add("house", id(1), map[string]stores.Value{"name": str("Hall")})
		add("room", id(11), map[string]stores.Value{"house": id(1), "name": str("Red"), "state": str("OPEN")})
		add("room", id(12), map[string]stores.Value{"house": id(1), "name": str("Blue"), "rule": str("R")})
		add("room", id(13), map[string]stores.Value{"house": id(1), "name": str("Grey"), "state": str("OPEN")})
		add("guest", id(21), map[string]stores.Value{"room": id(11), "name": str("Gil")})
		add("guest", id(23), map[string]stores.Value{"room": id(12), "name": str("Bea")})
		add("room", id(14), map[string]stores.Value{"house": id(1), "name": str("Loft"), "rule": str("R")})
		add("guest", id(24), map[string]stores.Value{"room": id(14), "name": str("Lou")})
		add("guest", id(22), map[string]stores.Value{"room": id(13), "name": str("Una")})
		return nil
	}
	var stored [2]stores.Store
	stored[0], h.db = serverAndLike(t, "guild", fill)
	second, err := postgres.Open(t.Context(), h.db.App, postgres.MigrateAs(h.db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Close() })
	stored[1] = second
	for i := range h.two {
		w := &world{t: t, reg: reg, store: stored[i], clock: newWorldClock}
		w.engine, err = engine.New(reg, w.store, engine.Options{Clock: func() time.Time { return newWorldClock }, NewID: w.newID, Handlers: handlers,
			Backoff: func(int) time.Duration { return time.Millisecond },
			At: func(s engine.Stage) {
				if h.at[i] != nil {
					h.at[i](s)
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		h.two[i] = w
	}
	h.first = h.two[0].state()
	return h
}

// reset makes every row what it was at first.
func (h *twoHouses) reset() {
	w := h.two[0]
	now := w.state()
	var all []stores.Change
	for key, was := range h.first {
		if slices.Equal(now[key], was) {
			continue
		}
		name, _, _ := strings.Cut(key, " ")
		e := w.entity(name)
		c := stores.Change{Op: stores.Update, Entity: e, Key: was[e.Key]}
		if now[key] == nil {
			c.Op = stores.Insert
		}
		for i, v := range was {
			if i != e.Key {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
			}
		}
		all = append(all, c)
	}
	if len(all) > 0 {
		w.change(all...)
	}
}

// do carries one of the two scripts out.
func (h *twoHouses) do(i int, script string) string {
	w := h.two[i]
	who, text, _ := strings.Cut(script, ": ")
	s := w.session(who)
	_, err := s.Run(context.Background(), w.program(s, text), engine.RunOptions{})
	var refusal *engine.Refusal
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &refusal):
		return refusal.Diagnostics[0].Code
	}
	return err.Error()
}

// tell is what two scripts came to.
func (h *twoHouses) tell(answers [2]string) string {
	return fmt.Sprintf("%s; %s; %s", answers[0], answers[1], strings.Join(diff(h.two[0].entity, h.first, h.two[0].state()), ", "))
}

// SAFE-R5 SAFE-R12: two transactions on PostgreSQL, either stopped at every stage
// while the other runs, come to what they come to one after the other: whatever
// decides, it still holds when what was decided is committed. That is so of
// conditions on rows that a verb does not change, of rows that a filter picks, of
// what a handler or a read in the script found, of numbers of rows, of rows that
// must not be there, and of reference data.
func TestWhatDecidesStillHoldsAtTheCommit(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]string{
		"a requirement along a path":     {"wim: guild.open-room :room-id @blue", "wim: guild.seal :house-id @hall"},
		"an effect's condition":          {"wim: guild.open-room-when :room-id @blue", "wim: guild.seal :house-id @hall"},
		"a rule of who is asked":         {"wim: guild.open-room-asked :room-id @blue", "wim: guild.seal :house-id @hall"},
		"a value along a path":           {"wim: guild.as-house :room-id @blue", "wim: guild.house-as-room :house-id @hall :guest-id @bea"},
		"rows that a filter picks":       {"wim: guild.sweep :text \"open\"", "wim: guild.leave :room-id @red"},
		"a filter along a path":          {"wim: guild.tell-guests :text \"open\"", "wim: guild.shut-untold :guest-id @gil :room-id @red"},
		"what a handler finds":           {"wim: guild.leave-one :room-id @red", "wim: guild.leave-one :room-id @grey"},
		"what a read in the script gave": {"wim: guild.look :name \"Red\" :as @r\nguild.make :room-id @blue :state @r.house-state", "wim: guild.house-as-room :house-id @hall :guest-id @bea"},
		"a row that a read gave":         {"wim: guild.look :name \"Red\" :as @r\nguild.make :room-id @blue :state @r.state", "wim: guild.shut-untold :guest-id @bea :room-id @red\nguild.shut-untold :guest-id @bea :room-id @blue"},
		"a number of rows":               {"wim: guild.count :name \"Red\" :as @r\nguild.write :house-id @hall :guests @r.guests", "wim: guild.expel :guest-id @gil :house-id @hall"},
		"what must not become so":        {"wim: guild.call-quiet :room-id @blue :on @grey", "wim: guild.disturb :guest-id @bea :house-id @hall"},
		"what must not come to it":       {"wim: guild.call-quiet :room-id @blue :on @grey", "wim: guild.disturb :guest-id @gil :house-id @hall :to @blue"},
		"a value that is bound":          {"wim: guild.open-room :room-id @blue :as @b\nguild.write :house-id @hall :state @b.house.state", "wim: guild.seal :house-id @hall"},
		"reference data along a path":    {"wim: guild.open-by-rule :guest-id @lou\nguild.make :room-id @blue :state OPEN", "cleo: guild.change-rule :rule-id @rule :room-id @blue"},
		"reference data that is named":   {"wim: guild.open-by-this-rule :rule-id @rule\nguild.make :room-id @blue :state OPEN", "cleo: guild.change-rule :rule-id @rule :room-id @blue"},
		"reference data that is read":    {"wim: guild.look-rule :rule-id @rule :as @r\nguild.make :room-id @blue :state @r.state", "cleo: guild.change-rule :rule-id @rule :room-id @blue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newTwoHouses(t)
			serial := make(map[string]bool)
			for _, order := range [][2]int{{0, 1}, {1, 0}} {
				var answers [2]string
				for _, i := range order {
					answers[i] = h.do(i, pair[i])
				}
				serial[h.tell(answers)] = true
				h.reset()
			}
			met, tried := 0, 0
			for _, stopped := range []int{0, 1} {
				for n, far := 1, true; far; n++ {
					var answers [2]string
					reached, goOn, ended := make(chan struct{}), make(chan struct{}), [2]chan struct{}{make(chan struct{}), make(chan struct{})}
					var stage engine.Stage
					entered := 0
					h.at[stopped] = func(s engine.Stage) {
						if entered++; entered == n {
							stage = s
							close(reached)
							<-goOn
						}
					}
					run := func(i int) {
						answers[i] = h.do(i, pair[i])
						close(ended[i])
					}
					go run(stopped)
					select {
					case <-reached:
						tried++
					case <-ended[stopped]:
						far = false // it ended before
					}
					other := 1 - stopped
					go run(other)
					// The other ends, or comes to wait for the one that is stopped.
				waiting:
					for {
						select {
						case <-ended[other]:
							break waiting
						default:
							if n, err := h.db.Waiting(); err != nil {
								t.Fatal(err)
							} else if n > 0 {
								met++
								break waiting
							}
							goruntime.Gosched()
						}
					}
					close(goOn)
					<-ended[0]
					<-ended[1]
					h.at[stopped] = nil
					if got := h.tell(answers); !serial[got] {
						t.Errorf("with %q stopped at %s, its stage %d:\n  %s\nand one after the other:", pair[stopped], stage, n, got)
						for s := range serial {
							t.Log("  " + s)
						}
					}
					h.reset()
				}
			}
			t.Logf("stopped %d times, %d times the other waited", tried, met)
		})
	}
}

// SAFE-C2: two who propose the same thing at once on PostgreSQL, and both look
// before either has asked, ask one question.
func TestTheSameQuestionAskedTwiceAtOnceIsOne(t *testing.T) {
	t.Parallel()
	var two [2]*world
	two[0], two[1] = newTwoOnServer(t)
	var meet atomic.Pointer[chan struct{}] // whoever makes an id waits here for the other
	for _, w := range two {
		var err error
		w.engine, err = engine.New(w.reg, w.store, engine.Options{Clock: func() time.Time { return newWorldClock }, NewID: func() string {
			if at := meet.Load(); at != nil {
				select {
				case *at <- struct{}{}:
				case <-*at:
				case <-t.Context().Done():
				}
			}
			return two[0].newID()
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	var sessions [2]*engine.Session
	var programs [2]*verbs.Program
	var own [2]engine.RunOptions
	for i, w := range two {
		sessions[i] = w.session("kim")
		programs[i] = w.program(sessions[i], "lending.extend :loan-id @saw-bob :new-date 2025-03-20")
		own[i] = w.own(sessions[i], programs[i])
	}
	var got [2]*engine.Pending
	at := make(chan struct{})
	meet.Store(&at)
	var all sync.WaitGroup
	for i := range two {
		all.Go(func() {
			var err error
			if got[i], err = sessions[i].Propose(t.Context(), programs[i], own[i]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	meet.Store(nil)
	waiting, err := two[0].session("bo").Pending(t.Context())
	if err != nil || len(waiting) != 1 || got[0].ID != got[1].ID || got[0].ID != waiting[0].ID {
		t.Errorf("%d questions: %+v and %+v, %v", len(waiting), got[0], got[1], err)
	}
}

// SAFE-A3: a role, or a row that is held, taken away while a session lasts is
// gone for it: at the latest a second later, with nothing done, whoever took it.
func TestRightsAreLookedAtAgainWhileASessionLasts(t *testing.T) {
	t.Parallel()
	const lose = "lending.lose :item-id @drill"
	for name, then := range map[string]stores.Principal{
		"the role is gone":     {Name: "kim", Holds: holds(1)},
		"another role":         {Name: "kim", Roles: []string{"member"}, Holds: holds(1)},
		"the row is gone":      {Name: "kim", Roles: []string{"keeper"}},
		"another row":          {Name: "kim", Roles: []string{"keeper"}, Holds: holds(2)},
		"more than there were": {Name: "kim", Roles: []string{"auditor", "keeper"}, Holds: holds(1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t) // whose clock moves by a second with every look
			s := w.session("kim")
			p := w.program(s, lose)
			if _, err := s.Preview(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if err := w.store.SetPrincipal(t.Context(), then); err != nil {
				t.Fatal(err)
			}
			before := w.state()
			_, err := s.Preview(t.Context(), p)
			wantRefusal(t, err, "rights-changed")
			_, err = s.Run(t.Context(), p, engine.RunOptions{})
			wantRefusal(t, err, "rights-changed")
			_, err = each.Runner{Session: s}.Run(t.Context(), w.program(s, lose+"\nlending.lose :item-id @tent"), engine.RunOptions{})
			wantRefusal(t, err, "rights-changed")
			if d := diff(w.entity, before, w.state()); len(d) > 0 {
				t.Errorf("changed %q", d)
			}
			if e := w.journal(); len(e) == 0 || e[len(e)-1].Reason != "rights-changed" {
				t.Errorf("the journal does not tell: %+v", e)
			}
		})
	}
}
