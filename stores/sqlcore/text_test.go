package sqlcore

import (
	"slices"
	"testing"
)

type none struct{}

// A statement names its arguments in the order in which they stand, however its parts were
// written, and nothing that a name holds can end the name.
func TestTextsNameTheirArguments(t *testing.T) {
	t.Parallel()
	for hole, want := range map[Hole]string{
		Marked:   `SELECT "a""b" WHERE x = ?::text AND y = ? v1`,
		Numbered: `SELECT "a""b" WHERE x = $1::text AND y = $2 v1`,
	} {
		s := NewText[string, none](hole).Add("SELECT ")
		tail := s.Part().Add(" AND y = ").Arg("two")
		s.Name("a\"\x00b").Add(" WHERE x = ").Arg("one", "::", "text").Join(tail).Add(" ", tail.Alias())
		if n := s.Nth() + tail.Nth(); n != 1 {
			t.Errorf("values are numbered %d", n)
		}
		if got := s.Whole(); got != want || !slices.Equal(s.Args, []string{"one", "two"}) || s.Len() != 0 {
			t.Errorf("%s %q", got, s.Args)
		}
	}
}

// A text that is long is written as one that is short.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	for _, hole := range []Hole{Marked, Numbered} {
		s := NewText[int, none](hole)
		for i := range longText {
			s.Add("x").Arg(i)
		}
		if whole := s.Whole(); len(whole) < 2*longText || len(s.Args) != longText {
			t.Errorf("%d, %d arguments", len(whole), len(s.Args))
		}
	}
}
