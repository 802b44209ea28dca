package workflow

import "testing"

// A planner who sees no more than their own rows has plans with steps, which nobody else of
// that kind sees.
func TestAPlannerWhoSeesOnlyTheirOwn(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("dana", `plan.draft :title "Mine" :steps [(plan.list :as @n)]`)
		if shown := w.do("dana", `plan.show :plan-id @mine`); len(shown.Calls[0].Result.Rows) != 1 {
			t.Error(shown.Calls[0].Result)
		}
		w.refused("eli", `plan.show :plan-id @mine`, "nothing is called @mine")
		if list := w.do("eli", `plan.list`); len(list.Calls[0].Result.Rows) != 0 {
			t.Error(list.Calls[0].Result)
		}
		p := w.do("dana", `plan.start :plan-id @mine :here true`)
		if status, err := w.r.Advance(t.Context(), p.Calls[0].Rows[0].Key, nil); err != nil || status != done {
			t.Error(status, err)
		}
	})
}
