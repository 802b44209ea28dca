package workflow

import (
	"regexp"
	"strings"
	"testing"

	"verbatim/stores"
)

// The text of a result calls rows by their names, also of a result that another process kept:
// no key reaches a prompt.
func TestTheTextOfAResultHoldsNoKeys(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", "desk.open :name \"Box\" :as @b\ndesk.write :folder-id @b :title \"Hello\" :body \"x\"")
		made := w.do("ada", `plan.draft :title "Reads" :steps [(desk.folder :folder-id @box :as @f) (desk.letters :folder-id @box :as @l) (desk.whole :folder-id @box :as @w)] :as @p
plan.start :plan-id @p :here true`)
		var key stores.Value
		for _, row := range made.Calls[0].Rows {
			if row.Entity == plans {
				key = row.Key
			}
		}
		if _, err := w.r.Advance(t.Context(), key, nil); err != nil {
			t.Fatal(err)
		}
		p, err := w.runner("two").Answered(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Steps {
			text := Text(resultOf(s.Answer()), 1000)
			t.Log(text)
			if regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-`).MatchString(text) || !strings.Contains(text, "@") {
				t.Errorf("%s gives %q", s.Name, text)
			}
		}
	})
}
