package dsl

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// Nearest suggests words for a misspelt one: the candidates that are the fewest edits away, up to
// three of them in sorted order. An edit inserts, deletes or replaces one character, or swaps two
// neighbours. More edits than a third of the word's characters (one for short words) are not a
// misspelling, and nothing is suggested.
func Nearest(word string, candidates iter.Seq[string]) []string {
	n := utf8.RuneCountInString(word)
	most := max(1, n/3)
	a := measure{word: word, bytes: []byte(word), runes: []rune(word), ascii: n == len(word), most: most}
	var found []string
	for c := range candidates {
		d := a.distance(c)
		if d > a.most || d == a.most && slices.Contains(found, c) {
			continue
		}
		if d < a.most {
			found = found[:0]
			a.most = d
		}
		// Three are kept. The choice must not depend on the order of the candidates, so the last
		// in sorted order is dropped.
		i, _ := slices.BinarySearch(found, c)
		if len(found) == 3 {
			if i == 3 {
				continue
			}
			found = found[:2]
		}
		found = slices.Insert(found, i, c)
	}
	return found
}

// Distance counts the edits that Nearest counts, up to most; for two words that are further apart
// it only says that it is more.
func Distance(a, b string, most int) int {
	n := utf8.RuneCountInString(a)
	m := measure{word: a, bytes: []byte(a), runes: []rune(a), ascii: n == len(a), most: most}
	return m.distance(b)
}

// A measure computes the distance from one word to many, up to most: beyond that it may return
// any greater number.
type measure struct {
	word  string
	bytes []byte
	runes []rune
	ascii bool // then comparing bytes suffices
	most  int
	rows  [3][]int
	buf   []byte
	wide  []rune
}

func (m *measure) distance(c string) int {
	if m.word == c {
		return 0
	}
	if m.ascii {
		// Multi-byte characters only increase the distance in bytes, so an early exit must wait
		// for the count of characters.
		if len(c)-len(m.word) > m.most || len(m.word)-len(c) > m.most {
			if n := utf8.RuneCountInString(c); n == len(c) || n-len(m.word) > m.most || len(m.word)-n > m.most {
				return m.most + 1
			}
		}
		if isASCII(c) {
			m.buf = append(m.buf[:0], c...)
			return alignment(m, m.bytes, m.buf)
		}
	} else if n := utf8.RuneCountInString(c); n-len(m.runes) > m.most || len(m.runes)-n > m.most {
		return m.most + 1
	}
	m.wide = m.wide[:0]
	for _, r := range c {
		m.wide = append(m.wide, r)
	}
	return alignment(m, m.runes, m.wide)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// alignment is the optimal string alignment distance, computed in a band along
// the diagonal: cells further off it than most cannot matter.
func alignment[E byte | rune](m *measure, a, b []E) int {
	// A common prefix or suffix does not change the distance. Swaps lie within the rest.
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	most := m.most
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	if len(a) == 0 || len(b) == 0 {
		return max(len(a), len(b))
	}
	width := len(b) + 1
	for i := range m.rows {
		if cap(m.rows[i]) < width {
			m.rows[i] = make([]int, width, 2*width)
		}
		m.rows[i] = m.rows[i][:width]
	}
	before, above, row := m.rows[0], m.rows[1], m.rows[2]
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-most), min(len(b), i+most)
		if from > 1 {
			row[from-1] = most + 1
		} else {
			row[0] = i
		}
		best := most + 1
		for j := from; j <= to; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(above[j-1]+cost, row[j-1]+1)
			if j < i+most || i == 1 {
				d = min(d, above[j]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			best = min(best, d)
		}
		if best > most {
			// One more swap could still skip this row.
			if i == len(a) || i > 1 && rowLeast(above, from, to) > most {
				return most + 1
			}
		}
		if to < len(b) {
			row[to+1] = most + 1
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}

func rowLeast(row []int, from, to int) int {
	return slices.Min(row[max(0, from-1) : to+1])
}
