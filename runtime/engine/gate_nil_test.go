package engine_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	loading "verbatim/verbs/load"
)

// SAFE-L3: a rule whose condition comes to nothing, or cannot be worked out, asks;
// one that does not hold asks nobody. A rule without a reason gives its condition.
func TestARuleThatComesToNothingAsks(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Dir(os.DirFS("testdata/palettes"), loading.Beside(dsl.NewSource("alarm.yaml", `domain: alarm
entities:
  bell:
    table: alarm.bells
    key: bell_id
    managed: true
    scope: club
    label: "{name}"
    fields: {club: {type: ref, ref-type: club, required: true}, name: {type: string, required: true}, loud: {type: boolean}, rung: {type: integer}}
verbs:
  - verb: hang
    description: Hang up a bell.
    roles: [keeper]
    args: [{name: club-id, type: ref, ref-type: club, required: true}, {name: name, type: string, required: true}, {name: loud, type: boolean}, {name: rung, type: integer}]
    effects: [{creates: bell, set: {club: club-id, name: name, loud: loud, rung: rung}}]
  - verb: ring
    description: Ring a bell.
    roles: [keeper]
    args: [{name: bell-id, type: ref, ref-type: bell, required: true}]
    confirm: [{when: bell_id.loud, expires: 1h}]
    effects: [{updates: bell, where: bell-id, set: {rung: 0}}]
  - verb: rest
    description: Leave a bell alone.
    roles: [keeper]
    args: [{name: bell-id, type: ref, ref-type: bell, required: true}]
    confirm: [{when: bell_id.rung > 3, reason: it is tired, expires: 2h}]
    effects: [{updates: bell, where: bell-id, set: {rung: 0}}]
`)))
	if ds.HasErrors() {
		t.Fatal(told(ds))
	}
	w := newWorldOf(t, reg, &engine.Handlers{Partial: true})
	if _, err := w.store.Migrate(ctx, append(w.tables(), engine.Own()...), true); err != nil {
		t.Fatal(err)
	}
	w.done("kim", `alarm.hang :club-id @north :name "Mute"`)
	w.done("kim", `alarm.hang :club-id @north :name "Soft" :loud false :rung 3`)
	w.done("kim", `alarm.hang :club-id @north :name "Loud" :loud true :rung 4`)
	for _, c := range []struct {
		call, reason string
	}{
		{"alarm.ring :bell-id @mute", "bell_id.loud"}, {"alarm.ring :bell-id @soft", ""}, {"alarm.ring :bell-id @loud", "bell_id.loud"},
		{"alarm.rest :bell-id @mute", "it is tired"}, {"alarm.rest :bell-id @soft", ""}, {"alarm.rest :bell-id @loud", "it is tired"},
	} {
		s := w.session("kim")
		preview, err := s.Preview(ctx, w.program(s, c.call))
		if err != nil {
			t.Fatal(err)
		}
		if asks := len(preview.Asks()); asks > 1 || (asks == 1) != (c.reason != "") || asks == 1 && !strings.Contains(preview.Asks()[0].Reason, c.reason) {
			t.Errorf("%s asks %+v, want %q", c.call, preview.Asks(), c.reason)
		}
	}
	// The strictest rule says how long an agreement is good, in whatever order they
	// ask; a preview that asks nobody is good for as long as it is true.
	const ring, rest, plain = "alarm.ring :bell-id @loud", "alarm.rest :bell-id @loud", "alarm.ring :bell-id @soft"
	for _, c := range []struct {
		script string
		after  time.Duration
		want   string
	}{
		{ring + "\n" + rest, 61 * time.Minute, "agreement-expired"}, {rest + "\n" + ring, 61 * time.Minute, "agreement-expired"},
		{rest, 61 * time.Minute, ""}, {rest, 121 * time.Minute, "agreement-expired"}, {ring, 59 * time.Minute, ""}, {plain, 1000 * time.Hour, ""},
	} {
		w := newWorldOf(t, reg, &engine.Handlers{Partial: true})
		if _, err := w.store.Migrate(ctx, append(w.tables(), engine.Own()...), true); err != nil {
			t.Fatal(err)
		}
		w.done("kim", `alarm.hang :club-id @north :name "Soft" :loud false :rung 3`)
		w.done("kim", `alarm.hang :club-id @north :name "Loud" :loud true :rung 4`)
		s := w.session("kim")
		p := w.program(s, c.script)
		preview, err := s.Preview(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		w.later(c.after)
		_, err = s.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
		if c.want != "" {
			wantRefusal(t, err, c.want)
		} else if err != nil {
			t.Errorf("%s after %s: %v", c.script, c.after, err)
		}
	}
}
