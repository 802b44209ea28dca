package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/runtime/state/names"
	"verbatim/stores/receipt"
)

// A session that adds row after row does not remember what it called all of them, and
// each goes on being known by its name: the first as well as the last.
func TestALongSessionForgetsNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session("kim")
	run := func(script string) *receipt.Receipt {
		t.Helper()
		r, err := s.Run(t.Context(), w.program(s, script), engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var b strings.Builder
	for i := range names.Most + 10 {
		fmt.Fprintf(&b, "lending.add-item :club-id @north :name \"Axe %d\"\n", i)
	}
	run(b.String())
	if known := len(s.Remembered("item")); known < names.Most {
		t.Fatalf("%d names are known of what was just added", known)
	}
	for i := range 2 {
		r := run(fmt.Sprintf("lending.add-item :club-id @north :name \"Saw %d\"", i))
		if name, want := r.Calls[0].Rows[0].Name, fmt.Sprintf("@saw-%d", i); name != want {
			t.Errorf("a row is shown as %s, not as %s", name, want)
		}
	}
	if known := len(s.Remembered("item")); known > 10 {
		t.Errorf("%d names are remembered", known)
	}
	for _, name := range []string{"@axe-0", fmt.Sprintf("@axe-%d", names.Most), "@saw-1"} {
		if r := run("lending.get-item :item-id " + name); len(r.Calls[0].Result.Rows) != 1 {
			t.Errorf("%s is %v", name, r.Calls[0].Result.Rows)
		}
	}
}
