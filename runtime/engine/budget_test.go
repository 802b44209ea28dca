package engine_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/engine"
)

// SAFE-S7: what the processes of a principal count together never goes over its
// limit, and nobody else counts with them.
func TestABudgetHasOneLimit(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		engines := []*engine.Engine{w.another(counted(nil)), w.another(counted(nil))}
		var got atomic.Int64
		var all sync.WaitGroup
		for n := range 12 {
			all.Go(func() {
				s, err := engines[n%2].Session(ctx, "kim")
				if err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					if _, ok, err := s.Turns().Count(ctx, "tokens 2025-01-03", 10, 100); err != nil {
						t.Error(err)
					} else if ok {
						got.Add(10)
					}
				}
			})
		}
		all.Wait()
		kim := w.session("kim")
		total, ok, err := kim.Turns().Count(ctx, "tokens 2025-01-03", 0, 100)
		if err != nil || !ok || total != 100 || got.Load() != 100 {
			t.Errorf("%d counted, %d given, %v", total, got.Load(), err)
		}
		// What was set aside and not needed comes back, and never makes less than
		// nothing; another name, and somebody else, begin at nothing.
		if total, _, err := kim.Turns().Count(ctx, "tokens 2025-01-03", -30, 100); err != nil || total != 70 {
			t.Error(total, err)
		}
		if total, _, err := kim.Turns().Count(ctx, "tokens 2025-01-04", -30, 100); err != nil || total != 0 {
			t.Error(total, err)
		}
		if total, ok, err := w.session("sam").Turns().Count(ctx, "tokens 2025-01-03", 5, 100); err != nil || !ok || total != 5 {
			t.Error(total, ok, err)
		}
		if n, err := w.engine.Housekeep(ctx, newWorldClock.Add(240*time.Hour)); err != nil || n < 3 {
			t.Error(n, err)
		}
		if total, _, err := kim.Turns().Count(ctx, "tokens 2025-01-03", 1, 100); err != nil || total != 1 {
			t.Error(total, err)
		}
	})
}
