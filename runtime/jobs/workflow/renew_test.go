package workflow

import (
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/verbs"
)

// The calls of a plan that was not started move to the verbs that took the place of deprecated
// ones, all in one entry, and keep where they come from. What would mean something else stays, and
// so does a plan that was started. // OB9 OB11
func TestAStagedPlanIsRenewed(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `desk.open :name "Taxes"`)
		model, err := verbs.ParseOrigin("model")
		if err != nil {
			t.Fatal(err)
		}
		said, _ := dsl.Parse(dsl.NewSource("model", `plan.draft :title "Old words" :steps [
			(desk.jot :into @taxes :title "A" :words "x" :as @a)
			(desk.peek :folder-id @taxes :quietly true)
			(desk.peek :folder-id @taxes :as @p)]`))
		ada, err := w.e.Session(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		p, ds := ada.Check(t.Context(), said, engine.CheckOptions{Said: verbs.Literals{Origin: model}})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if _, err := ada.Run(t.Context(), p, engine.RunOptions{}); err != nil {
			t.Fatal(tell(err))
		}
		calls := func() (all []string) {
			for _, s := range w.plan("Old words").Steps {
				all = append(all, suffix.ReplaceAllString(dsl.FormatCall(&s.Call), ""))
			}
			return all
		}
		marks := func() (all []string) {
			rows, err := w.r.Clerk.All(t.Context(), steps, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				for _, m := range r.Marks {
					if r.Entity.Fields[m.Field].Name == "call" {
						all = append(all, m.Origin)
					}
				}
			}
			return all
		}
		if got := marks(); len(got) != 3 {
			t.Fatalf("a model's calls are marked %q", got)
		}
		done := w.do("ada", `plan.renew :plan-id @old-words`)
		if n := len(done.Calls[0].Rows); n != 2 {
			t.Errorf("%d rows changed", n)
		}
		want := []string{`desk.write :folder-id @taxes :title "A" :body "x" :as @a`, `desk.peek :folder-id @taxes :quietly true`, `desk.letters :folder-id @taxes :as @p`}
		for i, got := range calls() {
			if got != want[i] {
				t.Errorf("%s\nwant %s", got, want[i])
			}
		}
		if got := marks(); len(got) != 3 {
			t.Errorf("rewritten, a model's calls are marked %q", got)
		}
		w.refused("ada", `plan.renew :plan-id @old-words`, "can be written otherwise")
		w.refused("eli", `plan.renew :plan-id @old-words`, "nothing is called @old-words")
		w.do("ada", `plan.draft :title "Begun" :steps [(desk.jot :into @taxes :title "B")] :as @plan
			plan.start :plan-id @plan :here true`)
		w.refused("ada", `plan.renew :plan-id @begun`, "this plan was started")
	})
}
