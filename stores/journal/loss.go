package journal

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"verbatim/stores"
)

// Numbers are entry numbers, ascending, as ranges.
type Numbers []struct{ first, last int64 }

func (n *Numbers) add(seq int64) {
	if i := len(*n) - 1; i >= 0 && (*n)[i].last == seq-1 {
		(*n)[i].last = seq
		return
	}
	*n = append(*n, struct{ first, last int64 }{seq, seq})
}

// String returns the numbers in the form of Record.Erased.
func (n Numbers) String() string {
	var words []string
	for _, r := range n {
		word := strconv.FormatInt(r.first, 10)
		if r.last > r.first {
			word += "-" + strconv.FormatInt(r.last, 10)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// readNumbers reads what String wrote.
func readNumbers(text string) (n Numbers, err error) {
	for _, word := range strings.Fields(text) {
		from, to, several := strings.Cut(word, "-")
		if !several {
			to = from
		}
		first, bad := strconv.ParseInt(from, 10, 64)
		last, worse := strconv.ParseInt(to, 10, 64)
		if bad != nil || worse != nil || last < first {
			return nil, fmt.Errorf("%q names no entries", word)
		}
		n = append(n, struct{ first, last int64 }{first, last})
	}
	return n, nil
}

// Losses examines entries with their openings, in order from the first: which of them lost values
// that they commit to, and whether an entry ordered it.
type Losses struct {
	Erasable int // entries that commit to values
	Whole    int // entries of those whose values all still exist

	lost []int64 // ascending; no entry so far ordered the loss
}

// Unordered returns the entries that lost values although no redaction lists them: somebody
// removed the values from the store by hand.
func (l *Losses) Unordered() (n Numbers) {
	for _, seq := range l.lost {
		n.add(seq)
	}
	return n
}

// Watch passes entries on and examines them; nil examines none.
func (l *Losses) Watch(lines iter.Seq2[*Line, error]) iter.Seq2[*stores.Entry, error] {
	return func(yield func(*stores.Entry, error) bool) {
		for line, err := range lines {
			if err != nil {
				yield(nil, err)
				return
			}
			// Verify, not this, reports a record that cannot be read.
			if l != nil {
				if r, err := line.written(); err == nil {
					l.look(line, r)
				}
			}
			if !yield(&line.Entry, nil) {
				return
			}
		}
	}
}

func (l *Losses) look(line *Line, r *Record) {
	if r.Opening != "" {
		l.Erasable++
		if line.Opening != nil && r.Whole(line.Opening) {
			l.Whole++
		} else if at, there := slices.BinarySearch(l.lost, line.Entry.Seq); !there { // numbers do not always ascend
			l.lost = slices.Insert(l.lost, at, line.Entry.Seq)
		}
	}
	if r.Erased == ErasedSelf {
		l.lost = slices.DeleteFunc(l.lost, func(seq int64) bool { return seq == line.Entry.Seq })
		return
	}
	listed, _ := readNumbers(r.Erased)
	for _, n := range listed {
		from, _ := slices.BinarySearch(l.lost, n.first)
		to, _ := slices.BinarySearch(l.lost, n.last+1)
		l.lost = slices.Delete(l.lost, from, to)
	}
}
