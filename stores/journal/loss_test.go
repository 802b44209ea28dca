package journal

import (
	"crypto/rand"
	"iter"
	"testing"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

// F10: an entry that lost what it commits to is told, unless a later entry says that it
// was erased from exactly that one.
func TestWhatNobodyOrderedToBeErasedIsMissed(t *testing.T) {
	t.Parallel()
	entry := func(seq int64, r Record, o *Opening) *Line {
		return &Line{Entry: stores.Entry{Seq: seq, Changes: string(r.AppendText(nil))}, Opening: o}
	}
	private := func(seq int64, kept bool) *Line {
		o := NewOpening("opening", "clara")
		c, err := o.Commit(rand.Reader, stores.NewString("secret"))
		if err != nil {
			t.Fatal(err)
		}
		l := entry(seq, Record{Opening: o.ID, Call: receipt.Commitment(c)}, o)
		if !kept {
			l.Opening = nil
		}
		return l
	}
	erased := func(seq int64, list string) *Line { return entry(seq, Record{Erased: list}, nil) }
	for _, c := range []struct {
		name  string
		lines []*Line
		want  string
		whole int
	}{
		{"all there", []*Line{private(1, true), private(2, true)}, "", 2},
		{"taken out by hand", []*Line{private(1, true), private(2, false), private(3, false), private(5, false)}, "2-3 5", 1},
		{"erased", []*Line{private(1, false), private(2, true), private(3, false), erased(4, "1 3")}, "", 1},
		{"another one erased", []*Line{private(1, false), private(2, false), private(3, false), erased(4, "1-2")}, "3", 0},
		{"erased before it was written", []*Line{erased(1, "2"), private(2, false)}, "2", 0},
		{"a list that is none", []*Line{private(1, false), erased(2, "9-1")}, "1", 0},
	} {
		var l Losses
		var lines iter.Seq2[*Line, error] = func(yield func(*Line, error) bool) {
			for _, line := range c.lines {
				if !yield(line, nil) {
					return
				}
			}
		}
		for range l.Watch(lines) {
		}
		if got := l.Unordered().String(); got != c.want || l.Whole != c.whole {
			t.Errorf("%s: %q and %d whole, want %q and %d", c.name, got, l.Whole, c.want, c.whole)
		}
	}
}
