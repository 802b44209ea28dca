package kyc

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"verbatim/stores/search"
)

// Similarity is how alike two names are by letters alone: 1 less the letters that have to
// be added, left out or changed, for each letter of the longer name. Case and what stands
// around a name make no difference. Names that are equal are 1 alike, and a name and none 0.
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

// distance is Levenshtein's.
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

// A Rule says by what two names were found to be alike.
type Rule string

// The rules.
const (
	ByLetters Rule = "letters" // Similarity of what was typed
	ByFolding Rule = "marks"   // the same without marks, and in Latin letters
	ByWords   Rule = "words"   // word by word, in any order
)

// Alike is how alike two names are, and by which rule most so. Besides the letters it heeds
// that words of a name come in any order; that marks are left out and other alphabets
// transliterated; that a nickname or a form of another language may stand for a name, and an
// initial; and that particles, titles and middle names are left out.
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

// mostCompared is how many words of a name are compared.
const mostCompared = 6

// words are those of a folded name without its particles, unless there is nothing else.
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

// oneName reports whether two words stand for one name.
func oneName(a, b string) bool {
	of := known().of
	return slices.ContainsFunc(of[a], func(line int) bool { return slices.Contains(of[b], line) })
}

// mostSpellings is how many spellings of a name are looked for.
const mostSpellings = 24

// Spellings are those of a name under which somebody may be known whose name is not within
// two letters of it: its words in another order, without particles and middle names, and
// with the name that a nickname stands for, or the other way round. The name itself comes
// first. How many there are depends on the name alone.
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
