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
	ByFolding Rule = "marks"   // the same without marks, and in Latin letters, as passports and people spell them
	ByWords   Rule = "words"   // word by word, in any order
)

// Alike returns the likeness of two names, and the rule that gives the greatest likeness. Besides
// letters it considers that the words of a name may come in any order, written together or apart;
// that marks may be left out and letters spelled in several ways (search.NameWords); that a nickname,
// a form in another language or an initial may stand for a name; and that particles, titles,
// patronymics and middle names may be left out.
//
// Where one of the names ends with a legal form, both are of companies: they are compared word by word
// alone, since names of a group have most of their letters in common, and each word that only one has
// counts. Another way to write the form is the same form.
func Alike(a, b string) (likeness float64, by Rule) {
	x, y := search.NameWords(a), search.NameWords(b)
	m, formOfA := company(x, a)
	n, formOfB := company(y, b)
	if formOfA != "" || formOfB != "" {
		if slices.EqualFunc(x, y, func(v, w search.NameWord) bool { return v.Plain == w.Plain }) {
			return 1, ByFolding
		}
		likeness = wordsAlike(m, n, len(m) != len(n))
		if formOfA != formOfB && formOfA != "" && formOfB != "" {
			likeness -= otherForm
		}
		return max(0, likeness), ByWords
	}
	likeness, by = Similarity(a, b), ByLetters
	if s := together(x, y); s > likeness {
		likeness, by = s, ByFolding
	}
	if s := wordsAlike(words(x), words(y), false); s > likeness {
		likeness, by = s, ByWords
	}
	if others(x, y) {
		likeness = max(0, likeness-otherPerson)
	} else if likeness < 1 && apart(x, y) {
		likeness = max(0, likeness-otherWord)
	}
	return likeness, by
}

// others reports whether two names say of themselves that they are of two people of a family: by the
// words behind a name, or by whose child each is.
func others(a, b []search.NameWord) bool {
	behind := func(all []search.NameWord) string {
		if n := len(all); n > 2 {
			return known().behind[all[n-1].Plain]
		}
		return ""
	}
	if x, y := behind(a), behind(b); x != "" && y != "" && x != y {
		return true
	}
	father := func(all []search.NameWord) *search.NameWord {
		for i := 1; i+1 < len(all); i++ {
			if slices.Contains(childOf, all[i].Plain) {
				return &all[i+1]
			}
		}
		return nil
	}
	x, y := father(a), father(b)
	return x != nil && y != nil && 3*x.Edits(*y) > max(len(x.Plain), len(y.Plain))
}

// childOf are the words behind which a father's name stands.
var childOf = []string{"bin", "ibn", "bint", "binti", "bte"}

// What one word costs that is not quite another, in letters.
const (
	nicknameCost = 1
	initialCost  = 1
	missingCost  = 2 // a word that one of two leaves out, at most
)

// What is taken off the likeness of two companies.
const (
	otherForm = 0.03 // their legal forms differ
	otherWord = 0.1  // for each word that only one of them has

	otherPerson = 0.2 // two people of a family
)

// mostCompared is the greatest number of words of a name that are compared.
const mostCompared = 8

// together compares names as if each were one word. Letters are spelled in several ways only where a
// word of one is two of the other: Erik Åkerlund is not Erika Akerlund.
func together(a, b []search.NameWord) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	join := func(all []search.NameWord) (one search.NameWord) {
		for i, w := range all {
			if i == 0 {
				one = w
			} else {
				one = one.Join(w)
			}
		}
		return one
	}
	x, y := join(a), join(b)
	if len(a) == len(b) && len(a) > 1 {
		edits := 0
		for i := range a {
			edits += a[i].Edits(b[i])
		}
		return max(Similarity(x.Plain, y.Plain), 1-float64(edits)/float64(max(len(x.Plain), len(y.Plain))))
	}
	spaces := max(len(a), len(b)) - min(len(a), len(b))
	return max(0, 1-float64(x.Edits(y)+spaces)/float64(max(len(x.Plain), len(y.Plain))))
}

// words returns the words of a name of a person without its particles, unless there is nothing else.
func words(all []search.NameWord) []search.NameWord {
	kept := slices.DeleteFunc(slices.Clone(all), func(w search.NameWord) bool { return known().particles[w.Plain] })
	if len(kept) == 0 {
		kept = all
	}
	return kept[:min(len(kept), mostCompared)]
}

// company returns the words of a name that distinguish a company, and its legal form; "" if the name
// ends with none. Two letters are a form where they are written as one: Maria Sá is a person.
func company(all []search.NameWord, written string) (rest []search.NameWord, form string) {
	fields := strings.Fields(written)
	short := len(fields) > 0 && (strings.Contains(fields[len(fields)-1], ".") || strings.ToUpper(fields[len(fields)-1]) == fields[len(fields)-1] && strings.ToUpper(written) != written)
	text := ""
	for i := len(all) - 1; i > 0 && len(all)-i <= 6; i-- { // never the whole name
		text = strings.TrimSpace(all[i].Plain + " " + text)
		if f := known().forms[text]; f != "" && (len(text) > 2 || short) {
			form, rest = f, all[:i]
		} else if f := known().forms[strings.ReplaceAll(text, " ", "")]; f != "" && len(text) == 2*(len(all)-i)-1 {
			form, rest = f, all[:i] // S. A.
		}
	}
	if form == "" {
		rest = all
	}
	if kept := slices.DeleteFunc(slices.Clone(rest), func(w search.NameWord) bool { return slices.Contains(fillers, w.Plain) }); len(kept) > 0 {
		rest = kept
	}
	return rest[:min(len(rest), mostCompared)], form
}

// fillers are words by which no company is distinguished from another.
var fillers = []string{"the", "of", "and", "a", "de", "la", "et", "und", "y"}

// wordsAlike compares names word by word, each with the one of the other name for which the whole
// comes out best; two words of one of them may be one word of the other. Two words at least must have
// a partner, where both names have two.
func wordsAlike(a, b []search.NameWord, each bool) float64 {
	best := pairedAlike(a, b, each)
	for i := 0; i+1 < len(a) && best < 1; i++ {
		best = max(best, pairedAlike(joined(a, i), b, each))
	}
	for i := 0; i+1 < len(b) && best < 1; i++ {
		best = max(best, pairedAlike(a, joined(b, i), each))
	}
	return best
}

func joined(all []search.NameWord, i int) []search.NameWord {
	return slices.Concat(all[:i], []search.NameWord{all[i].Join(all[i+1])}, all[i+2:])
}

// pairedAlike compares names of as many words as they have. If each is set, each word that only one of
// them has takes something off.
func pairedAlike(a, b []search.NameWord, each bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 || len(a) == 1 && len(b) > 1 && !each {
		return 0
	}
	size := func(all []search.NameWord) (n int) {
		for _, w := range all {
			n += len(w.Plain)
		}
		return n
	}
	likeness := 1 - float64(cheapest(a, b))/float64(max(size(a), size(b)))
	if each {
		likeness -= otherWord * float64(len(b)-len(a))
	}
	return max(0, likeness)
}

// cheapest pairs each word of a with one of b, and returns what the best way costs. A set of words of
// b is the bits of a number.
func cheapest(a, b []search.NameWord) int {
	const never = math.MaxInt32
	left := make([]int, len(b))
	for i, w := range b {
		if left[i] = min(len(w.Plain), missingCost); patronymic(w.Plain) {
			left[i] = 0
		}
	}
	costs := map[int]int{0: 0} // by the words of b that are taken
	for _, v := range a {
		cost := make([]int, len(b))
		for j, w := range b {
			cost[j] = wordCost(v, w)
		}
		next := map[int]int{}
		for taken, so := range costs {
			for j := range b {
				if taken>>j&1 == 0 {
					set := taken | 1<<j
					if old, ok := next[set]; !ok || so+cost[j] < old {
						next[set] = so + cost[j]
					}
				}
			}
		}
		costs = next
	}
	best := never
	for taken, so := range costs {
		for j := range b {
			if taken>>j&1 == 0 {
				so += left[j]
			}
		}
		best = min(best, so)
	}
	return best
}

// patronymic reports whether a word is made of the father's name, as in Russian: such a word is often
// left out.
func patronymic(w string) bool {
	for _, end := range [...]string{"ovich", "evich", "ovna", "evna", "ivna", "yovych", "ovych"} {
		if len(w) > len(end)+2 && strings.HasSuffix(w, end) {
			return true
		}
	}
	return slices.Contains([]string{"ilich", "ilyich", "kuzmich", "lukich", "fomich", "nikitich"}, w)
}

func wordCost(v, w search.NameWord) int {
	a, b := v.Plain, w.Plain
	switch {
	case a == b:
		return 0
	case len(a) == 1 && a[0] == b[0] || len(b) == 1 && a[0] == b[0]:
		return initialCost
	case strings.Trim(a, "0123456789") == "" || strings.Trim(b, "0123456789") == "":
		return max(len(a), len(b)) // another number is something else
	}
	cost := v.Edits(w)
	if cost > nicknameCost && oneName(a, b) {
		cost = nicknameCost
	}
	return cost
}

// apart reports whether two names differ in one word, and there in two names: the least alike pair of
// words decides.
func apart(a, b []search.NameWord) bool {
	rest := func(a, b []search.NameWord) (left []string) {
		for _, v := range a {
			if !slices.ContainsFunc(b, func(w search.NameWord) bool { return v.Plain == w.Plain }) {
				left = append(left, v.Plain)
			}
		}
		return left
	}
	x, y := rest(a, b), rest(b, a)
	return len(x) == 1 && len(y) == 1 && !oneName(x[0], y[0]) && otherNames(x[0], y[0])
}

// otherNames reports whether two words with most letters in common are two names: the forms of one
// for a man and a woman, or two that people are known to have.
func otherNames(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, end := range [...]string{"ov", "ev", "sk"} { // Ivanova abroad is Ivanov
		if strings.HasSuffix(strings.TrimRight(a, "aeiy"), end) {
			return false
		}
	}
	const shortest = 3
	forms := strings.TrimRight(a, "aeo") == strings.TrimRight(b, "aeo") && strings.HasSuffix(b, "a") != strings.HasSuffix(a, "a")
	if len(a) >= shortest && (forms || a+"ka" == b || a+"e" == b) {
		return true
	}
	of := known().of
	return len(of[a]) > 0 && len(of[b]) > 0
}

//go:embed nicknames.txt
var nicknamesText string

//go:embed legalforms.txt
var legalFormsText string

//go:embed particles.txt
var particlesText string

// A lexicon holds the data files: the lines in which a name stands, the names of each line, the
// words that are particles, and legal forms by the ways to write them. It is read on first use.
type lexicon struct {
	of        map[string][]int
	lines     [][]string
	particles map[string]bool
	behind    map[string]string // what stands behind a name and tells who of a family it is
	forms     map[string]string
}

var known = sync.OnceValue(func() *lexicon {
	l := &lexicon{of: map[string][]int{}, particles: map[string]bool{}, behind: map[string]string{}, forms: map[string]string{}}
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
			if one, also, said := strings.Cut(w, "="); said { // jr=junior
				l.behind[one], l.behind[also] = one, one
				l.particles[one], l.particles[also] = true, true
			} else if !strings.HasPrefix(line, "#") {
				l.particles[w] = true
			}
		}
	}
	for line := range strings.Lines(legalFormsText) {
		if ways := strings.Split(strings.TrimSpace(line), "; "); line[0] != '#' {
			for _, way := range ways {
				l.forms[way] = ways[0]
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
	all := []string{search.Name(name)}
	add := func(words ...string) {
		if s := strings.Join(words, " "); len(words) > 0 && len(all) < mostSpellings && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	var w []string
	for _, word := range words(search.NameWords(name)) {
		w = append(w, word.Plain)
	}
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
