package grammar

import (
	"testing"

	"verbatim/dsl"
)

// What the grammar offers as itself, the one spelling writes as itself.
func TestPlainCharactersAreWrittenAsTheyAre(t *testing.T) {
	t.Parallel()
	last := rune(-1)
	for _, s := range plain {
		if s.lo <= last+1 {
			t.Errorf("%U does not come after %U", s.lo, last)
		}
		last = s.hi
		for c := s.lo; c <= s.hi; c++ {
			if text := `"` + string(c) + `"`; dsl.FormatValue(dsl.NewString(string(c))) != text {
				t.Fatalf("%U is written with an escape", c)
			}
		}
	}
}
