package names

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
)

// MaxWords is the greatest number of words of a text or a label that count.
const MaxWords = 16

// Words divides a text into words without capitals, accents or punctuation: the
// first MaxWords of them.
func Words(text string) []string {
	var words []string
	var b []byte
	end := func() {
		if len(b) > 0 {
			words = append(words, string(b))
			b = b[:0]
		}
	}
	for _, r := range text {
		if len(words) == MaxWords {
			return words
		}
		plain := Fold(r)
		switch {
		case plain != "":
			b = append(b, plain...)
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
			// an accent on its own, or an apostrophe inside a word
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b = utf8.AppendRune(b, unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return words[:min(len(words), MaxWords)]
}

// Likeness says, from 0 to 1, how well the words of a text fit those of a label. The part of the
// text that is found in the label counts most, the part of the label that is found in the text a
// little. Longer words weigh more.
func Likeness(text, label []string) float64 {
	if len(text) == 0 || len(label) == 0 {
		return 0
	}
	if slices.Equal(text, label) {
		return 1
	}
	var used [MaxWords]bool
	var found, all, said float64
	last, inOrder := -1, true
	for i, w := range text {
		weight := weightOf(w)
		all += weight
		best, at, to := 0.0, -1, 0
		for j := range label {
			if used[j] {
				continue
			}
			if m := fits(w, label[j]); m > best {
				best, at, to = m, j, j+1
			}
			if best < 0.9 {
				if n := initials(w, label[j:]); n > 0 && !slices.Contains(used[j:j+n], true) {
					best, at, to = 0.9, j, j+n
				} else if j+1 < len(label) && !used[j+1] && w == label[j]+label[j+1] {
					best, at, to = 0.95, j, j+2
				} else if i+1 < len(text) && w+text[i+1] == label[j] {
					best, at, to = 0.8, j, j+1
				}
			}
		}
		if at < 0 {
			continue
		}
		for j := at; j < to; j++ {
			used[j] = true
			said += weightOf(label[j]) * best
		}
		found += weight * best
		inOrder = inOrder && at > last
		last = at
	}
	whole := 0.0
	for _, w := range label {
		whole += weightOf(w)
	}
	score := 0.85*found/all + 0.13*said/whole
	if inOrder {
		score += 0.01
	}
	return score
}

func weightOf(word string) float64 { return float64(min(len(word), 8)) }

// fits says, from 0 to 1, how well a word fits another.
func fits(w, of string) float64 {
	switch n := min(len(w), len(of)); {
	case w == of:
		return 1
	case len(w) == 1:
		if of[0] == w[0] {
			return 0.6 // an initial
		}
		return 0
	case strings.HasPrefix(of, w):
		return 0.7 + 0.25*float64(len(w))/float64(len(of))
	case n >= 4 && strings.HasPrefix(w, of):
		return 0.75
	case n < 3:
		return 0
	default:
		most := 1
		if n > 5 {
			most = 2
		}
		if d := dsl.Distance(w, of, most); d <= most {
			return 0.9 - 0.2*float64(d)*4/float64(max(n, 4))
		}
	}
	return 0
}

// initials returns the number of words whose initials are the letters of w: "sow" for "source of
// wealth".
func initials(w string, words []string) int {
	if len(w) < 2 || len(w) > len(words) {
		return 0
	}
	for i := range len(w) {
		if words[i][0] != w[i] {
			return 0
		}
	}
	return len(w)
}
