package worker_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/worker"
	"verbatim/runtime/tests/faults"
	"verbatim/stores"
)

// G16: a store that fails at any call of a job says nothing of what the job is for. It is neither given
// up nor refused, and is done once when the store answers again. The kinds are those that the engine
// and a worker know, each in all ways to fail.
func TestAFailureToKnowIsNeverTheEndOfAJob(t *testing.T) {
	t.Parallel()
	entries := func(w *world, verb string) (n int) {
		all, err := w.store.Journal(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.Verb == verb {
				n++
			}
		}
		return n
	}
	sent := func(w *world, target string) int {
		ids := map[string]bool{}
		for _, m := range w.sent {
			if m.Target == target {
				ids[m.ID] = true
			}
		}
		return len(ids)
	}
	asks := func(w *world, n int) { // with its first run, which is a call
		w.run("ada", fmt.Sprintf(`desk.promise :name "P%d" :as @p desk.burn-later :promise-id @p`, n))
	}
	kinds := map[string]struct {
		due  func(w *world, n int) // has one job fall due
		done func(w *world) int    // how many were done since the beginning
	}{
		engine.JobCall: {func(w *world, n int) { w.run("ada", fmt.Sprintf(`desk.post-later :note "%d"`, n)) },
			func(w *world) int { return len(w.rows("posting")) }},
		engine.JobExpire: {func(w *world, n int) { asks(w, n); w.work(); w.set(w.now().Add(2 * time.Hour)) },
			func(w *world) int { return entries(w, "verbatim.expire") }},
		engine.JobNotifyDeciders: {asks, func(w *world) int { return sent(w, engine.TargetAgreement) }},
		engine.JobNotice: {func(w *world, n int) { w.run("ada", fmt.Sprintf(`desk.report :note "%d"`, n)) },
			func(w *world) int { return sent(w, "chief") }},
	}
	for _, kind := range append(engine.JobKinds(), engine.JobNotice) {
		t.Run(kind, func(t *testing.T) {
			k, ok := kinds[kind]
			if !ok {
				t.Fatal("nothing makes such a job: add what does")
			}
			t.Parallel()
			w := sqliteWorld(t, nil)
			s := faults.New(w.store)
			e, err := engine.New(w.reg, s, engine.Options{Clock: w.now, NewID: w.id, People: engine.People{Deciders: func(context.Context, stores.Reader, string) ([]string, error) { return []string{"bo"}, nil }}})
			if err != nil {
				t.Fatal(err)
			}
			w.engine, w.store = e, s
			made, table := 0, faults.Table{}
			for _, way := range []faults.Way{faults.Fails, faults.Stalls, faults.Full, faults.Standby, faults.Crowded, faults.Slow} {
				for n := 1; n < 60; n++ {
					k.due(w, made)
					made++
					s.Fail(way, n, 1)
					said := w.work()
					calls := s.Calls()
					s.Fail(way, 0, 0)
					if bad := slices.ContainsFunc(w.events, func(e worker.Event) bool {
						return e.Outcome == engine.WorkRefused || e.Outcome == engine.WorkSkipped || e.Outcome == worker.Dead
					}); bad {
						t.Errorf("a store that %[2]s at call %[1]d: %[3]s", n, way, said)
					}
					w.set(w.now().Add(time.Minute))
					again := w.work()
					if got, dead := k.done(w), len(w.jobs(stores.JobDead)); got != made || dead > 0 {
						t.Fatalf("a store that %[2]s at call %[1]d: %[3]d of %[4]d are done, and %[5]d jobs dead: %[6]q, then %[7]q", n, way, got, made, dead, said, again)
					}
					table.Tried(kind, way)
					if calls < n {
						break
					}
				}
			}
			t.Logf("jobs that ran while the store\n%s", &table)
		})
	}
}
