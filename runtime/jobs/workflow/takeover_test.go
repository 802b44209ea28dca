package workflow

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

// at calls a function when a step was made and is not noted yet, once.
func (w *world) at(step string, fn func()) {
	w.r.Judge = judge(func(s *Step, a *Attempt) Verdict {
		if s.Name == step && fn != nil {
			then := fn
			fn = nil
			then()
		}
		return Verdict{Good: true}
	})
}

// What somebody decides while the plan is still made is not forgotten: whoever was told of it
// found the plan in another process's hands, and that one looks again before it leaves it.
func TestADecisionWhileThePlanIsMadeCounts(t *testing.T) { // OB15
	on(t, func(t *testing.T, w *world) {
		other := w.runner("two")
		w.do("ada", `plan.draft :title "Send" :parallel 1 :as @p :steps [
			(desk.open :name "Out" :as @out)
			(desk.write :folder-id @out :title "Offer" :as @offer)
			(desk.send :letter-id @offer :as @sent)
			(desk.letters :folder-id @out :as @left)
			(desk.write :folder-id @out :title @sent.state :as @copy)]
			plan.start :plan-id @p`)
		w.at("left", func() {
			w.agree("cleo", "")
			w.workBy(other) // what it is told of it can do nothing about
			w.want("Send", "RUNNING, out DONE, offer DONE, sent WAITING, left OPEN, copy OPEN")
		})
		if status, err := w.r.Advance(t.Context(), w.plan("Send").Key, nil); err != nil || status != done {
			t.Errorf("%s %v", status, err)
		}
		w.want("Send", "DONE, out DONE, offer DONE, sent DONE, left DONE, copy DONE")

		w.do("ada", `plan.draft :title "Look" :parallel 1 :as @p :steps [
			(desk.letters :folder-id @out :as @found)
			(desk.open :name "In" :as @in)
			(desk.write :folder-id @in :title "List" :body @found :as @list)]
			plan.start :plan-id @p`)
		w.r.Judge = judge(func(s *Step, a *Attempt) Verdict {
			if s.Name == "in" {
				w.do("olga", `plan.accept :step-id @look-found :reason "it is as it should be"`)
				w.workBy(other)
			}
			return Verdict{Good: s.Name != "found", Ask: s.Name == "found"}
		})
		if status, err := w.r.Advance(t.Context(), w.plan("Look").Key, nil); err != nil || status != done {
			t.Errorf("%s %v", status, err)
		}
		w.want("Look", "DONE, found DONE, in DONE, list DONE")
	})
}

// A plan whose process lives for long, and then dies, is another's a while later, even where
// no job of a worker's makes it.
func TestAPlanIsWatchedForAsLongAsItIsMade(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		other := w.runner("two")
		w.do("ada", `plan.draft :title "Long" :parallel 1 :as @p :steps [(desk.open :name "A" :as @a) (desk.open :name "B" :as @b) (desk.open :name "C" :as @c)]
			plan.start :plan-id @p :here true`)
		ctx, die := context.WithCancel(t.Context())
		w.r.Judge = judge(func(s *Step, a *Attempt) Verdict {
			if s.Name != "a" { // the first look is over, and the second, and it lives
				w.wait(80 * time.Second)
				w.workBy(other)
			}
			if s.Name == "c" {
				w.want("Long", "RUNNING, a DONE, b DONE, c OPEN")
				die()
			}
			return Verdict{Good: true}
		})
		if _, err := w.r.Advance(ctx, w.plan("Long").Key, nil); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		w.wait(3 * time.Minute)
		w.workBy(other)
		w.want("Long", "DONE, a DONE, b DONE, c DONE")
	})
}

// A process that was silent for too long and goes on when another has ended its plan adds
// nothing: the plan ended when it ended, and its attempts are those of the other.
func TestAPlanThatWasTakenOverEndsOnce(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		other := w.runner("two")
		w.do("ada", `plan.draft :title "Slow" :parallel 1 :as @p :steps [(desk.open :name "A" :as @a) (desk.write :folder-id @a :title "L" :as @b)]
			plan.start :plan-id @p`)
		var ended time.Time
		w.at("b", func() {
			w.wait(5 * time.Minute)
			w.workBy(other)
			w.want("Slow", "DONE, a DONE, b DONE")
			ended = w.plan("Slow").Ended
			w.wait(time.Hour)
		})
		if status, err := w.r.Advance(t.Context(), w.plan("Slow").Key, nil); err != nil || status != done {
			t.Errorf("%s %v", status, err)
		}
		if p := w.plan("Slow"); !p.Ended.Equal(ended) || p.Steps[1].Tries != 1 {
			t.Errorf("it ended at %s, and then at %s, with %d tries", ended, p.Ended, p.Steps[1].Tries)
		}
		if got := w.letters(); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
}

// What a process notes or gives back that does not make the plan any more leaves whoever
// makes it in peace.
func TestOnlyItsProcessGivesAPlanBack(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t)
	w.do("ada", `plan.draft :title "Held" :as @p :steps [(desk.open :name "A" :as @a)]
		plan.start :plan-id @p`)
	until := func() string {
		row, err := w.r.Clerk.Get(t.Context(), plans, w.plan("Held").Key)
		if err != nil {
			t.Fatal(err)
		}
		return row.Text("held_by") + " " + row.Text("held_until")
	}
	w.do("plans", `plan.take :plan-id @held :by "one" :until 2026-03-02T09:01:00Z`)
	w.refused("plans", `plan.take :plan-id @held :by "two" :until 2026-03-02T09:05:00Z`, "another process")
	w.wait(2 * time.Minute)
	w.do("plans", `plan.take :plan-id @held :by "two" :until 2026-03-02T09:05:00Z`)
	held := until()
	w.refused("plans", `plan.rest :plan-id @held :by "one"`, "another process")
	w.do("plans", `plan.note :step-id @held-a :number 1 :call "desk.open" :outcome OK :status DONE :started-at 2026-03-02T09:00:00Z :ended-at 2026-03-02T09:02:00Z :millis 1 :by "one" :until 2026-03-02T09:30:00Z :next nil :reason nil :waits-for nil`)
	if got := until(); got != held {
		t.Errorf("it was held by %s, and is by %s", held, got)
	}
	w.do("plans", `plan.rest :plan-id @held :by "two"`)
	if got := until(); got != " " {
		t.Errorf("it is held by %s", got)
	}
	w.refused("plans", `plan.rest :plan-id @held :by "two"`, "another process")
}

// One process that is told of a plan while it makes it does not make it twice at once.
func TestAProcessMakesAPlanOnceAtATime(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `desk.open :name "Box"`)
		w.do("ada", `plan.draft :title "Once" :as @p :steps [(desk.letters :folder-id @box :as @a)]
			plan.start :plan-id @p`)
		key, judged := w.plan("Once").Key, 0
		w.r.Judge = judge(func(s *Step, a *Attempt) Verdict {
			if judged++; judged == 1 {
				if status, err := w.r.Advance(t.Context(), key, nil); err != nil || status != running {
					t.Errorf("%s %v", status, err)
				}
			}
			return Verdict{Good: true}
		})
		if status, err := w.r.Advance(t.Context(), key, nil); err != nil || status != done {
			t.Errorf("%s %v", status, err)
		}
		if judged != 1 {
			t.Errorf("%d attempts", judged)
		}
	})
}

// A hookedStore does something once, after somebody looked in vain for what was done under a
// key.
type hookedStore struct {
	stores.Store
	then func()
}

type hookedReader struct {
	stores.Reader
	missed *bool
}

func (r hookedReader) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	row, err := r.Reader.Get(ctx, e, key)
	*r.missed = *r.missed || e.Name == "verbatim.delivery" && errors.Is(err, stores.ErrNotFound)
	return row, err
}

func (s *hookedStore) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	missed := false
	err := s.Store.View(ctx, scope, func(r stores.Reader) error { return fn(hookedReader{r, &missed}) })
	if then := s.then; then != nil && missed {
		s.then = nil
		then()
	}
	return err
}

// Somebody agrees while a process looks whether they did: the step was made, and nobody says
// that nobody agreed.
func TestAStepIsAgreedToAsSomebodyLooks(t *testing.T) { // OB15
	t.Parallel()
	w := sqliteWorld(t)
	w.do("ada", letterToSend)
	w.work()
	w.want("Send", "RUNNING, out DONE, offer DONE, step-3 WAITING, left DONE")
	hooked := &hookedStore{Store: w.store}
	w.slow(hooked)
	hooked.then = func() { w.agree("cleo", "") }
	if status, err := w.r.Advance(t.Context(), w.plan("Send").Key, nil); err != nil || status != done || hooked.then != nil {
		t.Errorf("%s %v", status, err)
	}
	w.want("Send", "DONE, out DONE, offer DONE, step-3 DONE, left DONE")
}

// A busyStore keeps writers of an entity waiting in vain while busy is set.
type busyStore struct {
	stores.Store
	entity string
	busy   atomic.Bool
}

type busyTx struct {
	stores.Tx
	s *busyStore
}

func (s *busyStore) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	return s.Store.Update(ctx, scope, func(tx stores.Tx) error { return fn(busyTx{tx, s}) })
}

func (t busyTx) Apply(ctx context.Context, b stores.Batch) error {
	for i := range b.Changes {
		if t.s.busy.Load() && b.Changes[i].Entity.Name == t.s.entity {
			return stores.ErrConflict
		}
	}
	return t.Tx.Apply(ctx, b)
}

// That others were changing the same rows is no answer: a step is tried again, and a notice
// that finds the plan's row busy is delivered again.
func TestBusyRowsAreTriedAgain(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t)
	w.do("ada", `plan.draft :title "Busy" :as @p :steps [(desk.open :name "A" :as @a)]
		plan.start :plan-id @p`)
	key := w.plan("Busy").Key
	busy := &busyStore{Store: w.store, entity: plans}
	busy.busy.Store(true)
	w.slow(busy)
	_, err := w.r.Advance(t.Context(), key, nil)
	var refusal *engine.Refusal
	if !errors.As(err, &refusal) || refusal.Diagnostics[0].Code != engine.CodeChangedMeanwhile {
		t.Errorf("%v", err)
	}
	busy.entity = "folder"
	w.r.Sleep = func(context.Context, time.Duration) { busy.busy.Store(false) }
	if status, err := w.r.Advance(t.Context(), key, nil); err != nil || status != done {
		t.Errorf("%s %v", status, err)
	}
	if s := w.plan("Busy").Steps[0]; s.Tries != 2 {
		t.Errorf("%d tries", s.Tries)
	}
}
