package engine_test

import (
	"testing"
	"time"

	"verbatim/runtime/engine"
)

// What the engine keeps of its own does not grow for ever: what was settled and
// what was kept under a key go after their time, and what waits never does. That
// something was not agreed to in time is told by one entry, whoever looks.
func TestWhatIsSettledIsNotKeptForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	said := w.program(kim, `lending.note :loan-id @saw-bob :note "once"`)
	if _, err := kim.Run(ctx, said, engine.RunOptions{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	before := len(w.journal())
	house := func(want int) {
		t.Helper()
		n, err := w.engine.Housekeep(ctx, w.now().Add(-90*24*time.Hour))
		if err != nil || n != want {
			t.Errorf("%d rows went (%v), want %d", n, err, want)
		}
	}
	house(0)
	if reply, err := kim.Run(ctx, said, engine.RunOptions{Key: "k"}); err != nil || !reply.Repeated {
		t.Errorf("the key is not known any more: %+v, %v", reply, err)
	}
	waiting := w.propose(kim, w.program(kim, tooLong))
	entries := len(w.journal()) // one tells that it was asked for
	w.later(91 * 24 * time.Hour)
	house(1) // what was never decided is not settled yet
	if all, err := w.session("bo").Pending(ctx); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := w.session("bo").Pending(ctx); err != nil {
		t.Error(err)
	}
	told := w.journal()[entries:]
	if len(told) != 1 || told[0].Outcome != "expired" || told[0].Preview != waiting.Preview.ID {
		t.Errorf("told: %+v", told)
	}
	house(0)
	w.later(91 * 24 * time.Hour)
	before += len(told) + entries - before
	house(1)
	house(0)
	if got := len(w.journal()); got != before {
		t.Errorf("%d entries, %d before: housekeeping is not what happened", got, before)
	}
}
