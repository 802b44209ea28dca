package values

import (
	"slices"
	"strings"
)

// Numbers in words are composed, in all languages by one reader: of the words for numbers that a
// language has, "hundred", and the powers of a thousand. Each word has to fit below the one before it;
// one that does not is another number.

// A sum is a number that is being read from its words.
type sum struct {
	closed  []scaled // what words such as "million" closed, the greatest first
	n, last int64    // of the words since; the last of them
	room    int      // the most digits of the next one
	some    bool

	behindPoint bool // "zero three" is no three then
}

type scaled struct {
	n   int64
	exp int
}

// most bounds numbers in words.
const most = 1_000_000_000_000_000_000

func pow10(exp int) int64 {
	n := int64(1)
	for range min(exp, 18) {
		n *= 10
	}
	return n
}

// roomBelow returns how many digits of a number further words may say: one after "twenty", two after
// "three hundred", none after "ten".
func roomBelow(n int64) (room int) {
	for n%100 != 10 && n > 0 && n%pow10(room+1) == 0 {
		room++
	}
	return room
}

// add takes a word for a number, after "and" or not.
func (a *sum) add(v int64, and bool, s *scan) bool {
	switch tens := a.last >= 20 && a.last < 100; {
	case !a.some:
		a.n, a.room, a.some = v, roomBelow(v), true
	case a.total() == 0 && v < 10 && !a.behindPoint:
		a.n = v // "zero one"
	case a.last == 4 && v == 20 && s.has(fourTwenties) && !and:
		a.n, a.room, v = a.n+76, 1, 80
	case (a.last == 60 || a.last == 80) && 10 <= v && v < 20 && s.has(fourTwenties):
		a.n, a.room = a.n+v, 0
	case and && s.has(unitsFirst) && 1 <= a.last && a.last <= 9 && 20 <= v && v < 100:
		a.n, a.room = a.n+v, 0
	case v == 0 || v >= pow10(a.room) || and && tens && v > 9 && !s.has(andAfterTens), and && !tens && s.has(andAfterTens):
		return false
	default:
		a.n, a.room = a.n+v, roomBelow(v)
	}
	a.last = v
	return true
}

func (a *sum) hundred() bool {
	switch last := a.n % 1000; {
	case a.n == 0 && (!a.some || a.room > 2):
		a.n = 100
	case 0 < last && last < 100:
		a.n += 99 * last
	default:
		return false
	}
	a.last, a.room, a.some = 100, 2, true
	return true
}

// scale takes a word for a power of ten. It multiplies what was said since the last greater one.
func (a *sum) scale(exp int) bool {
	n, k := a.n, len(a.closed)
	for ; k > 0 && a.closed[k-1].exp < exp; k-- {
		n += a.closed[k-1].n * pow10(a.closed[k-1].exp)
	}
	if n == 0 && a.some || k > 0 && a.closed[k-1].exp == exp || n >= most/pow10(exp) {
		return false
	}
	a.closed = append(slices.Clone(a.closed[:k]), scaled{max(n, 1), exp})
	a.n, a.last, a.room, a.some = 0, pow10(exp), exp, true
	return true
}

func (a *sum) total() int64 {
	n := a.n
	for _, c := range a.closed {
		n += c.n * pow10(c.exp)
	}
	return n
}

// sums reads as many words as belong to a number, and returns the lexeme behind them.
func (s *scan) sums(i int, a sum) (sum, int) {
	for i < len(s.lexemes) {
		k, and := i, false
		if a.some && s.marked(k, '-') && s.tight(k) && s.tight(k+1) {
			k++
		} else if a.some && s.are(k, also) {
			k, and = k+1, true
		}
		if a.some && (s.space(i) == newLine || s.space(k) == newLine) {
			break
		}
		next, ok := a, false
		v, is := s.is(k, cardinal)
		exp, scale := s.is(k, times)
		n, digits, figures := s.digits(k)
		switch {
		case and && (a.last >= 1000 || a.last < 100) && !s.has(partsWith) && s.are(k+1, parts): // "a million and three quarters"
		case is:
			ok = next.add(int64(v), and, s)
		case figures:
			ok = a.some && digits <= 3 && (and || a.last >= 1000 || a.last >= 20 && a.last < 100 && digits == 1 || s.are(k+1, hundred)) && !s.loose(k+1) && next.add(int64(n), and, s)
		case and:
		case s.are(k, hundred):
			ok = next.hundred()
		case scale && (a.some || exp == 3 && s.has(bareThousand) && !s.short(k)):
			ok = next.scale(exp)
		case s.are(k, one) && !a.some && s.space(k+1) != newLine && s.are(k+1, hundred, times) && !s.short(k+1):
			ok = next.add(1, false, s)
		}
		if !ok {
			break
		}
		a, i = next, k+1
	}
	return a, i
}

// short reports whether a word is a single letter: "k".
func (s *scan) short(i int) bool {
	t := &s.tokens[s.lexemes[i].first]
	return t.to-t.from == 1
}

// compose makes one lexeme of the words of a number, and of an ordinal: "twenty first". What has
// figures in it is left to numeral.
func (s *scan) compose() {
	all := s.lexemes
	kept := all[:0:0]
	s.solid = 0
	for i := 0; i < len(all); i++ {
		x := all[i]
		if a, end := (sum{behindPoint: s.are(i-1, point)}), i; x.means[0].class > mark && !(i > 0 && s.are(i-1, number, halved) && s.are(i, hundred, times)) {
			if a, end = s.sums(i, a); end > i && !slices.ContainsFunc(all[i:end], func(x lexeme) bool { return x.means[0].class == number }) {
				k := end
				if s.marked(k, '-') && s.tight(k) || s.are(k, also) {
					k++
				}
				if n, ok := s.is(k, ordinal); ok && a.room > 0 && int64(n) < pow10(a.room) && s.space(k) != newLine {
					x.last, x.means = all[k].last, [2]entry{{ordinal, a.total() + int64(n)}}
					i = k
				} else if end > i+1 || s.are(i, hundred, times) {
					x.last, x.means = all[end-1].last, [2]entry{{cardinal, a.total()}}
					i = end - 1
				}
			}
		}
		kept = append(kept, x)
		s.solid += b2i(x.mark == 0)
	}
	s.lexemes = kept
}

// compound reads a word that is made of others: "siebenhunderteinundzwanzig", "einundzwanzigste",
// "zweieinhalb".
func (s *scan) compound(word string) (means [2]entry) {
	if n, ok := s.pieces(word); ok {
		return [2]entry{{cardinal, n}}
	}
	if stem, plural := strings.CutSuffix(word, "s"); plural { // "thirtieths"
		for _, e := range s.lexicon.entries[stem] {
			if e.class == ordinal && e.n > 4 {
				return [2]entry{{parts, e.n}}
			}
		}
	}
	for _, kind := range [...]struct {
		ends string
		class
	}{{"ordinalend", ordinal}, {"halfend", halved}, {"partend", parts}} {
		for _, end := range s.said(kind.ends) {
			if stem, cut := strings.CutSuffix(word, end); cut {
				if n, ok := s.pieces(stem); ok {
					return [2]entry{{kind.class, n}}
				}
			}
		}
	}
	// A word that only begins like a number may be one: "treinta y cinco milésimas".
	for n := shortestLike; n < min(len(word), longestPiece); n++ {
		for _, e := range s.lexicon.entries[word[:n]] {
			if e.class == cardinal || e.class == hundred || e.class == times {
				means[0] = entry{likeNumber, 0}
			}
		}
	}
	return means
}

// shortestLike is the number of letters of a number's word that begins another word by no chance.
const shortestLike = 6

// longestPiece is the number of letters of the longest word in a compound number.
const longestPiece = 12

// pieces reads a word that is made of words for numbers and nothing else.
func (s *scan) pieces(word string) (int64, bool) {
	a, and := sum{}, false
	for word != "" {
		n, found := min(len(word), longestPiece), false
		for ; n > 1 && !found; n-- {
			for _, e := range s.lexicon.entries[word[:n]] {
				next := a
				switch e.class {
				case cardinal:
					found = next.add(e.n, and, s)
				case hundred:
					found = next.hundred()
				case times:
					found = (e.n == 3 || n > 4) && next.scale(int(e.n))
				case also:
					found = a.some && !and
				}
				if found {
					a, and, word = next, e.class == also, word[n:]
					break
				}
			}
		}
		if !found {
			return 0, false
		}
	}
	return a.total(), a.some && !and
}
