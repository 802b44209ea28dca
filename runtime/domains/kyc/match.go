package kyc

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"verbatim/stores/search"
)

// Similarity compares two names by letters alone: it is 1 minus the letters to be added, removed or
// changed, divided by the length of the longer name. Case and surrounding white space make no
// difference. Equal names have similarity 1, and a name and an empty text 0.
func Similarity(a, b string) float64 {
	x, y := []rune(strings.ToLower(strings.TrimSpace(a))), []rune(strings.ToLower(strings.TrimSpace(b)))
	switch {
	case slices.Equal(x, y):
		return 1
	case len(x) == 0 || len(y) == 0:
		return 0
	}
	return 1 - float64(distance(x, y))/float64(max(len(x), len(y)))
}

// distance returns the Levenshtein distance.
func distance[T comparable](a, b []T) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		last := row[0]
		row[0] = i + 1
		for j := range b {
			d := last
			if a[i] != b[j] {
				d = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// A Rule is the rule by which two names were found to be alike.
type Rule string

// The rules.
const (
	ByLetters Rule = "letters" // Similarity of the names as typed
	ByFolding Rule = "marks"   // the same without marks, and in Latin letters
	ByWords   Rule = "words"   // word by word, in any order
)

// Alike returns the likeness of two names, and the rule that gives the greatest likeness. Besides
// letters it considers that the words of a name may come in any order; that marks may be left out
// and other alphabets transliterated; that a nickname, a form in another language or an initial may
// stand for a name; and that particles, titles and middle names may be left out.
func Alike(a, b string) (likeness float64, by Rule) {
	likeness, by = Similarity(a, b), ByLetters
	x, y := search.Name(a), search.Name(b)
	if s := Similarity(x, y); s > likeness {
		likeness, by = s, ByFolding
	}
	if s := wordsAlike(words(x), words(y)); s > likeness {
		likeness, by = s, ByWords
	}
	return likeness, by
}

// What one word costs that is not quite another, in letters.
const (
	nicknameCost = 1
	initialCost  = 1
	missingCost  = 2 // a middle name that one of two leaves out, at most
)

// mostCompared is the greatest number of words of a name that are compared.
const mostCompared = 6

// words returns the words of a folded name without its particles, unless there is nothing else.
func words(name string) []string {
	all := strings.Fields(name)
	kept := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return known().particles[w] })
	if len(kept) == 0 {
		kept = all
	}
	return kept[:min(len(kept), mostCompared)]
}

// wordsAlike compares names word by word, each with the one of the other name for which the
// whole comes out best. Two words at least must have a partner, where both names have two.
func wordsAlike(a, b []string) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 || len(a) == 1 && len(b) > 1 {
		return 0
	}
	letters := 0
	for _, w := range b {
		letters += len(w)
	}
	letters = max(letters, len(strings.Join(a, "")))
	cost := cheapest(a, b, make([]bool, len(b)))
	return max(0, 1-float64(cost)/float64(letters))
}

// cheapest pairs each word of a with one of b that is not taken.
func cheapest(a, b []string, taken []bool) int {
	if len(a) == 0 {
		cost := 0
		for i, w := range b {
			if !taken[i] {
				cost += min(len(w), missingCost)
			}
		}
		return cost
	}
	best := math.MaxInt32
	for i, w := range b {
		if !taken[i] {
			taken[i] = true
			best = min(best, wordCost(a[0], w)+cheapest(a[1:], b, taken))
			taken[i] = false
		}
	}
	return best
}

func wordCost(a, b string) int {
	switch {
	case a == b:
		return 0
	case len(a) == 1 && a[0] == b[0] || len(b) == 1 && a[0] == b[0]:
		return initialCost
	}
	cost := distance([]byte(a), []byte(b))
	if cost > nicknameCost && oneName(a, b) {
		cost = nicknameCost
	}
	return cost
}

//go:embed nicknames.txt
var nicknamesText string

//go:embed particles.txt
var particlesText string

// A lexicon holds the data files: the lines in which a name stands, the names of each line, and
// the words that are particles. It is read on first use.
type lexicon struct {
	of        map[string][]int
	lines     [][]string
	particles map[string]bool
}

var known = sync.OnceValue(func() *lexicon {
	l := &lexicon{of: map[string][]int{}, particles: map[string]bool{}}
	for line := range strings.Lines(nicknamesText) {
		if names := strings.Fields(line); len(names) > 0 && names[0] != "#" {
			for _, name := range names {
				l.of[name] = append(l.of[name], len(l.lines))
			}
			l.lines = append(l.lines, names)
		}
	}
	for line := range strings.Lines(particlesText) {
		for _, w := range strings.Fields(line) {
			if !strings.HasPrefix(line, "#") {
				l.particles[w] = true
			}
		}
	}
	return l
})

// oneName reports whether two words are forms of one name.
func oneName(a, b string) bool {
	of := known().of
	return slices.ContainsFunc(of[a], func(line int) bool { return slices.Contains(of[b], line) })
}

// mostSpellings is the greatest number of spellings of a name that are searched for.
const mostSpellings = 24

// Spellings returns the spellings under which a person may be known whose name differs by more than
// two letters: the words in another order, without particles and middle names, and with the name
// for a nickname or the other way round. The name itself comes first. The number of spellings
// depends on the name alone.
func Spellings(name string) []string {
	folded := search.Name(name)
	all := []string{folded}
	add := func(words ...string) {
		if s := strings.Join(words, " "); len(words) > 0 && len(all) < mostSpellings && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	w := words(folded)
	add(w...)
	if len(w) > 1 {
		first, last := w[0], w[len(w)-1]
		add(last, first)
		add(first, last)
		if len(w) > 2 {
			add(append([]string{last}, w[:len(w)-1]...)...)
			add(append(slices.Clone(w[1:]), first)...)
		}
		for i, given := range [...]string{first, last} {
			family := [...]string{last, first}[i]
			for _, line := range known().of[given] {
				for _, other := range known().lines[line] {
					add(other, family)
				}
			}
		}
	}
	return all
}
