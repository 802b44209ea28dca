package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	loading "verbatim/verbs/load"
)

// Every promise of press holds only when it is armed, and none has to be kept.
const alarmPalette = `domain: alarm
entities:
  bell:
    table: alarm.bells
    key: bell_id
    managed: true
    scope: club
    label: "{name}"
    fields: {club: {type: ref, ref-type: club, required: true}, name: {type: string, required: true}, rung: {type: integer}, sound: {type: string}}
verbs:
  - verb: hang
    description: Hang up a bell.
    roles: [keeper]
    args: [{name: club-id, type: ref, ref-type: club, required: true}, {name: name, type: string, required: true}]
    effects: [{creates: bell, set: {club: club-id, name: name}}]
  - verb: press
    description: Press the button.
    roles: [keeper]
    handler: true
    args:
      - {name: club-id, type: ref, ref-type: club, required: true}
      - {name: bell-id, type: ref, ref-type: bell, required: true}
      - {name: armed, type: boolean, required: true}
    effects:
      - {may-notify: guard, when: armed}
      - {may-trigger: siren, when: armed}
      - {may-set: session.loud, when: armed}
      - {may-create: bell, when: armed}
      - {may-update: bell.rung, where: bell-id, when: armed, set: {rung: 1}}
      - {may-update: bell.sound, when: armed}
      - {may-delete: bell, where: bell-id, when: armed}
      - {may-generate: alarm.hang, when: armed}
      - {may-store: verbatim.job, when: armed}
      - {may-attach: a picture of the hall, when: armed}
      - {may-return: what was done}
`

type press struct {
	Club  engine.Ref `verb:"club-id"`
	Bell  engine.Ref `verb:"bell-id"`
	Armed bool       `verb:"armed"`
}

// F13: whatever a handler wants done under a promise whose condition does not
// hold is refused, and nothing is changed; where the condition holds it is done.
func TestAPromiseWhoseConditionDoesNotHoldCoversNothing(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Dir(os.DirFS("testdata/palettes"), loading.Beside(dsl.NewSource("alarm.yaml", alarmPalette)))
	if ds.HasErrors() {
		t.Fatal(told(ds))
	}
	outcomes := map[string]struct {
		refused string
		outcome func(a press, job stores.JobRecord) engine.Outcome
	}{
		"notice": {"a notify to guard was to go out", func(press, stores.JobRecord) engine.Outcome {
			return engine.Outcome{Notices: []engine.Notice{engine.Notify("guard", nil)}}
		}},
		"trigger": {"a trigger to siren was to go out", func(press, stores.JobRecord) engine.Outcome {
			return engine.Outcome{Notices: []engine.Notice{engine.Trigger("siren", nil)}}
		}},
		"session": {"session.loud was to be set", func(press, stores.JobRecord) engine.Outcome {
			return engine.Outcome{Session: engine.Fields{"loud": true}}
		}},
		"insert": {"a row of bell was to be added", func(a press, _ stores.JobRecord) engine.Outcome {
			return engine.Outcome{Changes: []engine.Edit{engine.Create("bell", engine.Fields{"club": a.Club, "name": "Second"})}}
		}},
		"update": {"rung of a row of bell was to be changed", func(a press, _ stores.JobRecord) engine.Outcome {
			return engine.Outcome{Changes: []engine.Edit{engine.Update(a.Bell, engine.Fields{"rung": 1})}}
		}},
		"update of any row": {"sound of a row of bell was to be changed", func(a press, _ stores.JobRecord) engine.Outcome {
			return engine.Outcome{Changes: []engine.Edit{engine.Update(a.Bell, engine.Fields{"sound": "ding"})}}
		}},
		"delete": {"a row of bell was to be deleted", func(a press, _ stores.JobRecord) engine.Outcome {
			return engine.Outcome{Changes: []engine.Edit{engine.Delete(a.Bell)}}
		}},
		"call": {"alarm.hang was to be called", func(a press, _ stores.JobRecord) engine.Outcome {
			return engine.Outcome{Calls: []engine.Generated{{Verb: "alarm.hang", Args: engine.Fields{"club-id": a.Club, "name": "Third"}}}}
		}},
		"job": {"a job was to be dropped", func(_ press, job stores.JobRecord) engine.Outcome {
			return engine.Outcome{Jobs: []engine.JobChange{engine.DropJob(job)}}
		}},
		"claim": {`it says that it did "a picture of the hall"`, func(press, stores.JobRecord) engine.Outcome {
			return engine.Outcome{Kept: []string{"a picture of the hall"}}
		}},
	}
	// What no promise speaks of is refused although all of them hold.
	type outcome = func(press, stores.JobRecord) engine.Outcome
	says := func(o engine.Outcome) outcome { return func(press, stores.JobRecord) engine.Outcome { return o } }
	never := map[string]outcome{
		"a notify to siren was to go out":     says(engine.Outcome{Notices: []engine.Notice{engine.Notify("siren", nil)}}),
		"a trigger to guard was to go out":    says(engine.Outcome{Notices: []engine.Notice{engine.Trigger("guard", nil)}}),
		"a notify to press was to go out":     says(engine.Outcome{Notices: []engine.Notice{engine.Notify("press", nil)}}),
		"a notify to bell.rung was to go out": says(engine.Outcome{Notices: []engine.Notice{engine.Notify("bell.rung", nil)}}),
		"a row of club was to be added":       says(engine.Outcome{Changes: []engine.Edit{engine.Create("club", engine.Fields{"name": "West"})}}),
		"session.quiet was to be set":         says(engine.Outcome{Session: engine.Fields{"quiet": true}}),
		"name of a row of bell was to be changed": func(a press, _ stores.JobRecord) engine.Outcome {
			return engine.Outcome{Changes: []engine.Edit{engine.Update(a.Bell, engine.Fields{"name": "x"})}}
		},
		"rung of a row of bell was to be changed": func(a press, _ stores.JobRecord) engine.Outcome {
			return engine.Outcome{Changes: []engine.Edit{engine.Update(a.Bell, engine.Fields{"rung": 2})}}
		},
		"a row of club was to be deleted": func(a press, _ stores.JobRecord) engine.Outcome {
			return engine.Outcome{Changes: []engine.Edit{engine.Delete(a.Club)}}
		},
	}
	for _, text := range []string{"a song", "guard", "siren", "bell", "bell.rung", "session.loud", "alarm.hang", "verbatim.job", "what was done"} {
		never[fmt.Sprintf("it says that it did %q", text)] = says(engine.Outcome{Kept: []string{text}})
	}
	for refused, outcome := range never {
		outcomes[refused] = struct {
			refused string
			outcome func(a press, job stores.JobRecord) engine.Outcome
		}{refused, outcome}
	}
	for name, c := range outcomes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &engine.Handlers{Partial: true}
			engine.Handle(h, "alarm.press", func(ctx context.Context, call *engine.Call, a press) (engine.Outcome, error) {
				jobs, err := call.Jobs(ctx, stores.JobFilter{})
				if err != nil || len(jobs) == 0 {
					t.Errorf("no jobs: %v", err)
					return engine.Outcome{}, err
				}
				o := c.outcome(a, jobs[0])
				o.Result = &engine.Answer{}
				return o, nil
			})
			w := newWorldOf(t, reg, h)
			if _, err := w.store.Migrate(ctx, append(w.tables(), engine.Own()...), true); err != nil {
				t.Fatal(err)
			}
			w.done("kim", `alarm.hang :club-id @north :name "First"`)
			err := w.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
				return tx.Apply(ctx, stores.Batch{Jobs: []stores.Job{{ID: "waiting", Kind: "notify", Payload: "{}", At: newWorldClock.AddDate(1, 0, 0)}}})
			})
			if err != nil {
				t.Fatal(err)
			}
			s := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
			before, entries := w.state(), len(w.journal())
			var broken *engine.BrokenPromise
			if _, err := w.does(s, `alarm.press :club-id @north :bell-id @first :armed false`, engine.RunOptions{}); !errors.As(err, &broken) || broken.Happened != c.refused {
				t.Errorf("got %v; want %q", err, c.refused)
			}
			if d := diff(w.entity, before, w.state()); len(d) > 0 {
				t.Errorf("left %q", d)
			}
			if now := w.journal(); len(now) != entries+1 || now[entries].Outcome != "failed" || now[entries].Reason != "broken-promise" {
				t.Errorf("the journal says %+v", now[entries:])
			}
			_, err = w.does(s, `alarm.press :club-id @north :bell-id @first :armed true`, engine.RunOptions{})
			switch {
			case never[name] == nil && err != nil:
				t.Errorf("armed: %v", err)
			case never[name] != nil && (!errors.As(err, &broken) || broken.Happened != c.refused):
				t.Errorf("armed: got %v; want %q", err, c.refused)
			}
		})
	}
}

// SAFE-L3: what a mutant of settle may not get wrong: when work begins, and that an
// effect on rows of one kind does not take a row of another for one of them.
func TestAnEffectIsOfItsTimeAndItsRows(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Dir(os.DirFS("testdata/palettes"), loading.Beside(dsl.NewSource("alarm.yaml", `domain: alarm
verbs:
  - verb: mark
    description: Mark an item, whatever it is called with.
    roles: [keeper]
    args: [{name: thing-id, type: ref, required: true}]
    effects: [{updates: item, where: thing-id, set: {status: LOST}}]
`)))
	if ds.HasErrors() {
		t.Fatal(told(ds))
	}
	w := newWorldOf(t, reg, &engine.Handlers{Partial: true})
	w.refused("kim", "alarm.mark :thing-id @north", "unknown-name")
	w.done("kim", "alarm.mark :thing-id @drill")

	w.done("kim", `lending.ask-later :loan-id @saw-bob :on 2030-01-01`)
	jobs, err := w.store.Jobs(ctx, stores.JobFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if want := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC); strings.Contains(j.Payload, "asking") && j.At.Equal(want) {
			return
		}
	}
	t.Errorf("no job is due on 2030-01-01: %+v", jobs)
}
