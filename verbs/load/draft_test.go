package load

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/tests/norace"
	"verbatim/verbs/verbstest"
)

// What is said of a text does not depend on what was kept of those before it: thousands of
// edits, of which most break something, are read both ways.
func TestReadingsChangeNothing(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	whole := string(verbstest.Palette(12))
	bits := []string{"", "x", "\n", "  ", "\n  - verb: more\n", "\n    description: |\n      a\n", "\"", "'", "{", "}", "[", ": ", "#", "- ", "&a ", "*a", "---\n", "...\n", "|", "\t", "é", "  - ", "\n\n"}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		kept := new(Readings)
		text := whole
		for step := range 25 {
			if r.IntN(3) == 0 {
				text = whole
			}
			from := r.IntN(len(text) + 1)
			to := min(len(text), from+r.IntN(4)*r.IntN(12))
			text = text[:from] + bits[(int(seed)*25+step)%len(bits)] + text[to:]
			src := dsl.NewSource("work.yaml", text)
			got, want := ReadDraft(kept, true, src), ReadDraft(nil, true, src)
			if a, b := told(got), told(want); a != b {
				t.Fatalf("seed %d: with what was kept:\n%s\nwithout:\n%s\nof:\n%s", seed, a, b, text)
			}
		}
	}
}

func told(d *Draft) string {
	var b strings.Builder
	for _, diag := range d.Diagnostics {
		fmt.Fprintln(&b, diag.Code, diag.Summary, diag.Place.Range)
	}
	for _, u := range d.Uses {
		fmt.Fprintln(&b, u.Thing, u.Place.Range, u.Known, u.Declares)
	}
	return b.String()
}
