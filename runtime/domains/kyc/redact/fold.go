package redact

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:embed confusables.txt
var confusables string

// lookalikes gives the Latin letter that a reader takes another letter for.
var lookalikes = sync.OnceValue(func() map[rune]byte {
	letters := map[rune]byte{}
	for line := range strings.Lines(confusables) {
		latin, others, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || len(latin) != 1 {
			continue // a comment
		}
		for _, r := range others {
			if r != ' ' {
				letters[r] = latin[0]
			}
		}
	}
	return letters
})

// A sort is a character's role for a reader.
type sort uint8

const (
	gap       sort = iota // spaces, and marks other than the following
	invisible             // characters that are not displayed
	plain                 // letters, digits and marks of ASCII, or characters that look like them
	foreign               // a letter of another script
)

// fold returns up to four bytes of lower-case ASCII that look like a character other than ASCII.
// Tags, which are not displayed but which models read, count as the ASCII that they encode.
func fold(r rune, s string) (ascii [4]byte, n int, is sort) {
	switch r {
	case 'ß', 'ẞ':
		return [4]byte{'s', 's'}, 2, plain
	case 'æ', 'Æ':
		return [4]byte{'a', 'e'}, 2, plain
	case 'œ', 'Œ':
		return [4]byte{'o', 'e'}, 2, plain
	case '\u00a0', '\u202f', '\u2007', '\u2009', '\u3000':
		return [4]byte{' '}, 1, plain
	case '‐', '‑', '‒', '–', '—', '−':
		return [4]byte{'-'}, 1, plain
	case '\u00ad', '\u115f', '\u1160', '\u3164', '\u034f', '\uffa0', '\u2800':
		return ascii, 0, invisible
	case utf8.RuneError:
		return ascii, 0, gap
	}
	if r > 0xe0000 && r < 0xe0080 {
		return [4]byte{lower(byte(r - 0xe0000))}, 1, plain
	}
	if c := lookalikes()[unicode.ToLower(r)]; c != 0 {
		return [4]byte{c}, 1, plain
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Variation_Selector) {
		return ascii, 0, invisible
	}
	for _, d := range string(norm.NFKD.PropertiesString(s).Decomposition()) {
		if d >= utf8.RuneSelf {
			if c := lookalikes()[unicode.ToLower(d)]; c != 0 {
				d = rune(c)
			} else {
				continue // an accent, or a letter of another script
			}
		}
		if n < len(ascii) {
			ascii[n], n = lower(byte(d)), n+1
		}
	}
	switch {
	case n > 0:
		return ascii, n, plain
	case unicode.Is(unicode.Nd, r): // the digits of a script have consecutive numbers
		digit := byte('0')
		for digit < '9' && unicode.Is(unicode.Nd, r-1) {
			digit, r = digit+1, r-1
		}
		return [4]byte{digit}, 1, plain
	case unicode.IsLetter(r):
		return ascii, 0, foreign
	}
	return ascii, 0, gap
}

// lower returns a byte in lower case.
func lower(c byte) byte {
	if c-'A' < 26 {
		c += 'a' - 'A'
	}
	return c
}

func isDigit(c byte) bool { return c-'0' < 10 }

func isLower(c byte) bool { return c-'a' < 26 }

func isAlnum(c byte) bool { return isDigit(c) || isLower(c) || c-'A' < 26 }

// squeeze returns the letters and digits of a text in their compared form: folded, and without the
// characters between them. Letters of other scripts are kept.
func squeeze(text string) string {
	var b strings.Builder
	for i, r := range text {
		if r < utf8.RuneSelf {
			if isAlnum(byte(r)) {
				b.WriteByte(lower(byte(r)))
			}
			continue
		}
		switch ascii, n, is := fold(r, text[i:]); is {
		case plain:
			for _, c := range ascii[:n] {
				if isAlnum(c) {
					b.WriteByte(c)
				}
			}
		case foreign:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// An automaton finds any of a set of words in a stream of bytes, each byte in
// constant time, as Aho and Corasick do.
type automaton struct {
	class [256]uint8 // of a byte; 0 is the class of bytes that no word has
	width int
	next  []int32   // the state after state*width+class
	ends  [][]int32 // the words that end in a state
}

func newAutomaton(words []string) *automaton {
	a := &automaton{width: 1}
	for _, w := range words {
		for i := range len(w) {
			if a.class[w[i]] == 0 {
				a.class[w[i]] = uint8(a.width)
				a.width++
			}
		}
	}
	letters := 1
	for _, w := range words {
		letters += len(w)
	}
	a.next, a.ends = make([]int32, 0, letters*a.width), make([][]int32, 0, letters)
	grow := func() int32 {
		a.next = a.next[:len(a.next)+a.width]
		a.ends = append(a.ends, nil)
		return int32(len(a.ends) - 1)
	}
	grow()
	for n, w := range words {
		state := int32(0)
		for i := range len(w) {
			at := int(state)*a.width + int(a.class[w[i]])
			if a.next[at] == 0 {
				to := grow()
				a.next[at] = to
			}
			state = a.next[at]
		}
		if state != 0 {
			a.ends[state] = append(a.ends[state], int32(n))
		}
	}
	suffix := make([]int32, len(a.ends))
	queue := make([]int32, 0, len(a.ends))
	for c := range a.width {
		if to := a.next[c]; to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		a.ends[state] = append(a.ends[state], a.ends[suffix[state]]...)
		for c := range a.width {
			at, other := int(state)*a.width+c, a.next[int(suffix[state])*a.width+c]
			if to := a.next[at]; to != 0 {
				suffix[to] = other
				queue = append(queue, to)
			} else {
				a.next[at] = other
			}
		}
	}
	return a
}

func (a *automaton) step(state int32, c byte) int32 {
	return a.next[int(state)*a.width+int(a.class[c])]
}
