package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// limited are verbs that may be used only so often.
const limited = `
  - verb: guess
    description: Say what a thing is worth. Wrong guesses count.
    roles: [keeper, member]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true}
      - {name: worth, type: decimal, required: true}
    requires:
      - {that: item_id.worth == worth, else: that is not what it is worth}
    limits:
      - {at-most: 2, within: 1h, refused: counts}
    effects:
      - notifies: board

  - verb: siren
    description: Wake everybody up.
    roles: [keeper, member]
    args: []
    limits:
      - {at-most: 1, within: 1h, of: everyone}
    effects:
      - notifies: everybody

  - verb: look-up
    description: What a thing is worth.
    roles: [keeper]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true}
    limits:
      - {at-most: 2, within: 1h}
    reads:
      entity: item
      one: item-id
      fields: {worth: worth}

  - verb: ring-twice
    description: The same note on two loans.
    roles: [keeper]
    args:
      - {name: one-id, type: ref, ref-type: loan, required: true}
      - {name: other-id, type: ref, ref-type: loan, required: true}
      - {name: note, type: string, required: true}
    script: |
      lending.ring :loan-id @one-id :note @note
      lending.ring :loan-id @other-id :note @note
`

// worldsOf runs a test on both stores, with more verbs than the palette of lending has.
func worldsOf(t *testing.T, more string, fn func(t *testing.T, w *world)) {
	worldsOfPalette(t, lendingText(t)+more, fn)
}

func worldsOfPalette(t *testing.T, palette string, fn func(t *testing.T, w *world)) {
	worldsOfPalettes(t, map[string]string{"lending.yaml": palette}, fn)
}

func worldsOfPalettes(t *testing.T, text map[string]string, fn func(t *testing.T, w *world)) {
	for name, open := range map[string]func(*testing.T, map[string]string) *world{"sqlite": fileWorld, "postgres": serverWorld} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fn(t, open(t, text))
		})
	}
}

// fileWorld is a world of these palettes on SQLite.
func fileWorld(t *testing.T, text map[string]string) *world {
	t.Helper()
	w := newWorldOf(t, loadYAML(t, text), nil)
	if plan, err := w.store.Migrate(context.Background(), append(w.tables(), engine.Own()...), true); err != nil || len(plan.Problems) > 0 {
		t.Fatalf("migrate: %v %v", err, plan.Problems)
	}
	w.engine = w.another(nil)
	return w
}

// serverWorld is a world of these palettes on PostgreSQL.
func serverWorld(t *testing.T, text map[string]string) *world {
	t.Helper()
	w := &world{t: t, reg: loadYAML(t, text), clock: newWorldClock}
	w.store = serverLike(t, w.reg.Digest(), w.furnish)
	w.engine = w.another(nil)
	return w
}

// For H16, whose attempts are limited: a verb is used as often as its limits say, by one script or several, through macros
// and other processes, and again when the first use counts no more.
func TestALimitIsKept(t *testing.T) {
	t.Parallel()
	worldsOf(t, limited, func(t *testing.T, w *world) {
		w.done("kim", `lending.ring :loan-id @saw-bob :note "1"`)
		first := w.clock
		w.later(time.Hour)
		w.done("kim", `lending.ring-twice :one-id @saw-bob :other-id @tent-ann :note "2"`)
		w.engine = w.another(nil) // another process counts on
		r := w.refused("kim", `lending.ring :loan-id @saw-bob :note "3"`, "limit-reached")
		if says, next := sentences(r), r.Diagnostics[0].Notes; says != "three notes a day are enough" || next[0] != "ask again in 23 hours" {
			t.Errorf("it says %s, %q", says, next)
		}
		if _, err := w.preview("kim", `lending.ring :loan-id @saw-bob :note "3"`); err == nil {
			t.Error("a preview shows what may not be done")
		}
		// It is each caller's own: sam has used none.
		w.done("sam", `lending.ring :loan-id @kayak-zoe-muller :note "s"`)
		w.clock = first.Add(24*time.Hour - 10*time.Second)
		w.refused("kim", `lending.ring :loan-id @saw-bob :note "4"`, "limit-reached")
		w.clock = first.Add(24 * time.Hour)
		w.done("kim", `lending.ring :loan-id @saw-bob :note "5"`)
		w.refused("kim", `lending.ring :loan-id @saw-bob :note "6"`, "limit-reached")
		// A script that goes too far does nothing, and what it did not do does not count.
		w.later(26 * time.Hour)
		w.refused("kim", strings.Repeat("lending.ring :loan-id @saw-bob :note \"7\"\n", 4), "limit-reached")
		w.done("kim", strings.Repeat("lending.ring :loan-id @saw-bob :note \"8\"\n", 3))
	})
}

// A clock that is set back gives nobody more uses, and one that is set forward none fewer than the limit says: uses of
// a time that has not come again count until their time is over. SAFE-R11
func TestALimitWhileTheClockIsSet(t *testing.T) {
	t.Parallel()
	worldsOf(t, limited, func(t *testing.T, w *world) {
		first := w.clock
		for n := range 3 {
			w.done("kim", fmt.Sprintf("lending.ring :loan-id @saw-bob :note \"%d\"", n))
		}
		for _, by := range []time.Duration{-time.Second, -time.Hour, -25 * time.Hour, -366 * 24 * time.Hour, time.Hour, 23 * time.Hour} {
			w.at(first.Add(by))
			w.refused("kim", `lending.ring :loan-id @saw-bob :note "more"`, "limit-reached")
		}
		w.at(first.Add(24*time.Hour + time.Minute))
		for n := range 3 {
			w.done("kim", fmt.Sprintf("lending.ring :loan-id @saw-bob :note \"next %d\"", n))
		}
		w.refused("kim", `lending.ring :loan-id @saw-bob :note "more"`, "limit-reached")
		// Uses of today and of a day that the clock left again: a day has three, whichever it is.
		w.at(first)
		w.refused("kim", `lending.ring :loan-id @saw-bob :note "back"`, "limit-reached")
	})
}

// For H16: what is refused counts where the palette says so, though nothing else of it is kept;
// what is looked at counts in a preview too; and everyone's uses can count together.
func TestWhatALimitCounts(t *testing.T) {
	t.Parallel()
	worldsOf(t, limited, func(t *testing.T, w *world) {
		kim := w.session("kim")
		at := func(script string, run bool) error {
			if !run {
				_, err := kim.Preview(t.Context(), w.program(kim, script))
				return err
			}
			_, err := kim.Run(t.Context(), w.program(kim, script), engine.RunOptions{})
			return err
		}
		for _, first := range []bool{true, false} {
			wantRefusal(t, at(`lending.guess :item-id @drill :worth 1`, first), "requirement-not-met")
			wantRefusal(t, at(`lending.guess :item-id @drill :worth 2`, !first), "requirement-not-met")
			wantRefusal(t, at(`lending.guess :item-id @drill :worth 80`, first), "limit-reached")
			wantRefusal(t, at(`lending.guess :item-id @drill :worth 80`, !first), "limit-reached")
			w.done("mia", `lending.guess :item-id @drill :worth 80`)
			w.later(time.Hour)
		}
		w.done("kim", `lending.guess :item-id @drill :worth 80`)
		for _, looks := range []bool{true, false} {
			if err := at(`lending.look-up :item-id @drill`, looks); err != nil {
				t.Fatal(err)
			}
		}
		wantRefusal(t, at(`lending.look-up :item-id @saw`, false), "limit-reached")
		wantRefusal(t, at(`lending.look-up :item-id @saw`, true), "limit-reached")

		w.done("mia", `lending.siren`)
		r := w.refused("kim", `lending.siren`, "limit-reached")
		if says, next := sentences(r), r.Diagnostics[0].Notes; !strings.Contains(says, "1 use within 1 hour, for all callers together") || next[0] != "wait before you ask again" {
			t.Errorf("it says %s, %q", says, next)
		}
	})
}

// For H16: of 64 callers at once, on two processes, as many as may do it do it.
func TestALimitIsRaced(t *testing.T) {
	t.Parallel()
	worldsOf(t, limited, func(t *testing.T, w *world) {
		engines := []*engine.Engine{w.engine, w.another(nil)}
		var done, over atomic.Int64
		var all sync.WaitGroup
		for n := range 64 {
			s, err := engines[n%2].Session(context.Background(), "kim")
			if err != nil {
				t.Fatal(err)
			}
			p := w.program(s, fmt.Sprintf(`lending.ring :loan-id @saw-bob :note "%d"`, n))
			all.Go(func() {
				for {
					_, err := s.Run(context.Background(), p, engine.RunOptions{})
					var refusal *engine.Refusal
					switch {
					case err == nil:
						done.Add(1)
					case errors.As(err, &refusal) && refusal.Diagnostics[0].Code == "limit-reached":
						over.Add(1)
					case errors.Is(err, stores.ErrConflict) || errors.As(err, &refusal) && refusal.Diagnostics[0].Code == "changed-meanwhile":
						continue
					default:
						t.Error(err)
					}
					return
				}
			})
		}
		all.Wait()
		if done.Load() != 3 || over.Load() != 61 {
			t.Errorf("%d did it and %d were refused, want 3 and 61", done.Load(), over.Load())
		}
	})
}

// What counts no more is forgotten in time.
func TestUsesAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": lendingText(t) + limited}), nil)
	w.done("kim", `lending.ring :loan-id @saw-bob :note "1"`)
	for _, c := range []struct {
		after time.Duration
		goes  int
	}{{20 * time.Hour, 0}, {25 * time.Hour, 1}} {
		w.later(c.after)
		if n, err := w.engine.Housekeep(context.Background(), w.now()); err != nil || n != c.goes {
			t.Errorf("%s: %d rows went, %v", c.after, n, err)
		}
	}
}

// preview looks at what a script would do.
func (w *world) preview(who, text string) (*receipt.Receipt, error) {
	w.t.Helper()
	s := w.session(who)
	return s.Preview(context.Background(), w.program(s, text))
}
