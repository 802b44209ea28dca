package engine_test

import (
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
)

// An argument whose default is a day stands, left out, for the day that it is where the
// caller is, and the journal says which that was.
func TestADefaultIsTheDay(t *testing.T) {
	t.Parallel()
	more := `
  - verb: remind-soon
    description: A reminder, from a day on.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
      - {name: on, type: date, default: today + 1 day}
    effects:
      - creates: reminder
        set: {loan: loan-id, remind_on: on, text: "'soon'"}
`
	w := newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": lendingText(t) + more}), nil)
	w.clock = time.Date(2025, 1, 3, 23, 30, 0, 0, time.UTC)
	s := w.visit(w.engine, "kim", engine.Visit{Name: "east", Zone: "Asia/Tokyo"})
	if _, err := s.Run(t.Context(), w.program(s, `lending.remind-soon :loan-id @saw-bob`), engine.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		`lending.remind-soon :loan-id @saw-bob`:                "remind_on=2025-01-04",
		`lending.remind-soon :loan-id @saw-bob :on 2025-03-01`: "remind_on=2025-03-01",
	} {
		if got := strings.Join(w.done("kim", script), "; "); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
	said := w.journal()
	for i, want := range []string{":on 2025-01-05"} {
		if !strings.Contains(said[i].Call, want) {
			t.Errorf("the journal says %s, want %s", said[i].Call, want)
		}
	}
}
