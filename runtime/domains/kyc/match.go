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
	return 1 - float64(search.Levenshtein(x, y))/float64(max(len(x), len(y)))
}

// A Rule is the rule by which two names were found to be alike.
type Rule string

// The rules.
const (
	ByLetters Rule = "letters" // Similarity of the names as typed
	ByWords   Rule = "words"   // word by word, in any order, as passports and people spell them
)

// Alike returns the likeness of two names, and the rule that gives the greatest likeness. Besides
// letters it considers that the words of a name may come in any order, written together or apart;
// that marks may be left out and letters spelled in several ways (search.NameWords), in a word as in all
// others (Märta may be Marta, whoever typed it without marks: no name says whether it was); that a nickname,
// a form in another language or an initial may stand for a name; that particles, titles, patronymics,
// middle names and half of a double name may be left out; and that the machine-readable zone of a
// passport cuts names that are too long for it.
//
// Where one of the names ends with a legal form, both are of companies: they are compared word by word
// alone, since names of a group have most of their letters in common, and each word that only one has
// counts. Another way to write the form is the same form.
func Alike(a, b string) (likeness float64, by Rule) {
	a, cutA := search.Zone(a)
	b, cutB := search.Zone(b)
	x, y := search.NameWords(a), search.NameWords(b)
	m, formOfA := company(x, a)
	n, formOfB := company(y, b)
	if formOfA != "" || formOfB != "" {
		if slices.EqualFunc(x, y, func(v, w search.NameWord) bool { return v.Edits(w) == 0 }) {
			return 1, ByWords
		}
		likeness = wordsAlike(bare(m), bare(n), len(m) != len(n))
		if formOfA != formOfB && formOfA != "" && formOfB != "" {
			likeness -= otherForm
		}
		return max(0, likeness), ByWords
	}
	likeness, by = Similarity(a, b), ByLetters
	v, w := parts(x, cutA), parts(y, cutB)
	for _, e := range [...]bool{false, true} {
		one, some := search.Umlauts(x, e)
		two, also := search.Umlauts(y, e)
		if s := wordsAlike(parts(one, cutA), parts(two, cutB), false); s > likeness {
			likeness, by = s, ByWords
		}
		if !some && !also {
			break
		}
	}
	if off := others(x, y); off > 0 {
		likeness = max(0, likeness-off)
	} else if likeness < 1 && (apart(x, y) || replaced(v, w)) {
		likeness = max(0, likeness-otherWord)
	}
	return likeness, by
}

// Named reports whether a text is enough of a name to look for. Letters that stand alone are not.
func Named(text string) bool {
	return slices.ContainsFunc(search.NameWords(text), func(w search.NameWord) bool { return len(w.Plain) > 1 })
}

// The share of its letters in which a word may differ from another, and in which two that are written
// as one may: one in so many. J. Smith is not nearly Johnsmith.
const loosely, tightly = 2, 4

// whole reports whether a name was given in whole words: two words at least of the name that is known,
// or all that it has, are in it, or nearly so. An initial and the beginning of a word are no words: a name
// that could be asked for by those would be learned from its owner's telephone, letter by letter.
func whole(typed, known string) bool {
	words := func(name string) []part {
		name, cut := search.Zone(name)
		rest, _ := company(search.NameWords(name), name)
		return slices.DeleteFunc(parts(rest, cut), func(p part) bool { return p.particle })
	}
	given, own := words(typed), words(known)
	near := func(v, w part, share int) bool {
		return v.Plain == w.Plain || min(len(v.Plain), len(w.Plain)) > 1 && share*wordCost(v, w) <= max(len(v.Plain), len(w.Plain))
	}
	among := func(w part, all []part, share int) bool {
		for i, v := range all {
			if near(v, w, share) || i+1 < len(all) && near(joined(all, i)[i], w, tightly) {
				return true
			}
		}
		return false
	}
	n := 0
	for i, w := range own {
		if among(w, given, loosely) || i+1 < len(own) && among(joined(own, i)[i], given, tightly) || i > 0 && among(joined(own, i-1)[i-1], given, tightly) {
			n++
		}
	}
	return n > 0 && n >= min(2, len(own))
}

// A part is a word of a name, and what it may do there.
type part struct {
	search.NameWord
	particle bool // it may be left out
	father   bool // it is the father's name, which the other may lack
	cut      bool // it may be the beginning of a word
}

func bare(all []search.NameWord) (words []part) {
	for _, w := range all[:min(len(all), mostCompared)] {
		words = append(words, part{NameWord: w})
	}
	return words
}

// parts returns the words of a name of a person.
func parts(all []search.NameWord, cut int) (words []part) {
	all = search.Servants(all)
	for i, w := range all {
		p := part{NameWord: w, particle: known().particles[w.Plain], cut: i+cut >= len(all)}
		p.particle = p.particle && (len(w.Plain) > 1 || i > 0 && i+1 < len(all)) // an initial may stand at either end
		for _, of := range children {                                            // a father's name is often left out
			p.father = p.father || !p.particle && (madeOf(w.Plain, of.made) || i+1 < len(all) && slices.Contains(of.behind, all[i+1].Plain))
		}
		words = append(words, p)
	}
	if !slices.ContainsFunc(words, func(p part) bool { return !p.particle }) {
		return bare(all)
	}
	if len(words) > mostCompared {
		words = slices.DeleteFunc(words, func(p part) bool { return p.particle })
	}
	return words[:min(len(words), mostCompared)]
}

// others returns what is taken off the likeness of two names that say of themselves that they are of two
// people of a family: by a word of generation, by who is a son and who a daughter, or by whose child each is.
func others(a, b []search.NameWord) float64 {
	generation := func(all []search.NameWord) string {
		for i, w := range all {
			if of := known().behind[w.Plain]; of != "" && i > 0 && len(all) > 2 {
				return of
			}
		}
		return ""
	}
	x, y := generation(a), generation(b)
	v, son, daughter := childOf(a)
	w, alsoSon, alsoDaughter := childOf(b)
	switch {
	case x != "" && y != "" && x != y,
		son != daughter && alsoSon != alsoDaughter && son != alsoSon,
		v != nil && w != nil && 3*v.Edits(*w) > max(len(v.Plain), len(w.Plain)):
		return otherPerson
	case x != y:
		return otherGeneration
	}
	return 0
}

// childOf returns the father's name beside a word for a child, and whether a name says that somebody is a
// son, or a daughter: Ivanovna Rabinovich is said to be both.
func childOf(all []search.NameWord) (father *search.NameWord, son, daughter bool) {
	is := [len(children)]bool{}
	for sex, of := range children {
		for i, w := range all {
			switch {
			case i+1 < len(all) && slices.Contains(of.before, w.Plain):
				father, is[sex] = &all[i+1], true
			case i > 0 && slices.Contains(of.behind, w.Plain):
				father, is[sex] = &all[i-1], true
			case madeOf(w.Plain, of.made):
				is[sex] = true
			}
		}
	}
	return father, is[0], is[1]
}

// children are the words that stand before and behind a father's name, and how words end that are made of
// it, of sons and of daughters.
var children = [...]struct{ before, behind, made []string }{
	{[]string{"bin", "ibn"}, []string{"oglu", "ogly", "ogli", "uulu", "ulu", "uly"},
		[]string{"ovich", "evich", "avich", "ovych", "evych", "uly", "uli", "ilich", "ilyich", "illich", "kuzmich", "lukich", "fomich", "nikitich"}},
	{[]string{"bint", "binti", "bte"}, []string{"qizi", "kizi", "kyzy", "qyzy", "gyzy"},
		[]string{"ovna", "evna", "ivna", "auna", "euna", "ichna", "kyzy", "qyzy", "kizi", "qizi"}},
}

// madeOf reports whether a word is one of the endings, or ends with one behind a father's name.
func madeOf(w string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return w == end || len(w) > len(end)+2 && strings.HasSuffix(w, end) })
}

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

	otherPerson     = 0.2  // two people of a family
	otherGeneration = 0.03 // only one of them says which of a family it is
	leftOut         = 0.01 // one name lacks words of the other, and nothing else differs
	halfLeftOut     = 0.02 // and one of them is half of a double name
)

// mostCompared is the greatest number of words of a name that are compared, and mostJoined that of a
// name of which three may be one of the other.
const mostCompared, mostJoined = 9, 6

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
// comes out best; two words of one of them may be one word of the other, and three where names are
// short. Two words at least must have a partner, where both names have two.
func wordsAlike(a, b []part, each bool) float64 {
	best := pairedAlike(a, b, each)
	for range 2 { // a and b change places
		for i := 0; i+1 < len(a) && best < 1; i++ {
			one := joined(a, i)
			best = max(best, pairedAlike(one, b, each))
			for j := 0; j+1 < len(one) && len(b) < len(one) && len(a) <= mostJoined && best < 1; j++ {
				best = max(best, pairedAlike(joined(one, j), b, each))
			}
		}
		a, b = b, a
	}
	return best
}

func joined(all []part, i int) []part {
	one := part{NameWord: all[i].Join(all[i+1].NameWord), cut: all[i].cut}
	return slices.Concat(all[:i], []part{one}, all[i+2:])
}

// pairedAlike compares names of as many words as they have. If each is set, each word that only one of
// them has takes something off.
func pairedAlike(a, b []part, each bool) float64 {
	count := func(all []part) (words, letters int) {
		for _, w := range all {
			if !w.particle {
				words++
				letters += len(w.Plain)
			}
		}
		return words, letters
	}
	n, size := count(a)
	m, other := count(b)
	if n > m {
		a, b, n, m = b, a, m, n
	}
	there, back := make([][]int, len(a)), make([][]int, len(b))
	for j := range b {
		back[j] = make([]int, len(a))
	}
	for i, v := range a {
		there[i] = make([]int, len(b))
		for j, w := range b {
			there[i][j] = wordCost(v, w)
			back[j][i] = there[i][j]
		}
	}
	cost := func(left func(part) int) int {
		least := cheapest(a, b, there, left)
		if n == m && least > 0 {
			least = min(least, cheapest(b, a, back, left))
		}
		return least
	}
	half := func(p part) int {
		if p.Half {
			return 1
		}
		return 0
	}
	free := func(part) int { return 0 }
	switch {
	case n == 0 || n == 1 && m > 1 && !each, m == 1 && !each && min(size, other) == 1 && size != other: // an initial is no name
		return 0
	case !each && cost(free) == 0: // what differs is what one of them lacks
		switch {
		case n+max(0, fathers(b)-fathers(a)) >= m || slices.ContainsFunc(a, func(p part) bool { return p.cut }):
			return 1
		case cost(half) > 0:
			return 1 - halfLeftOut
		}
		return 1 - leftOut
	}
	likeness := 1 - float64(cost(missing))/float64(max(size, other))
	if each {
		likeness -= otherWord * float64(m-n)
	}
	return max(0, likeness)
}

// fathers returns how many words of a name may be the father's: Lukashevich is a family name too.
func fathers(all []part) (n int) {
	for _, p := range all {
		if p.father {
			n++
		}
	}
	return n
}

// missing is what a word costs that one of two leaves out.
func missing(p part) int { return min(len(p.Plain), missingCost) }

// cheapest pairs each word of a with one of b, but for particles and a father's name that b has not,
// and returns what the best way costs, and what each word of b that is left costs: left says so where b
// has all the words of a, and they are missing where it has not. The costs of pairs are given by word of
// a. A set of words of b is the bits of a number.
func cheapest(a, b []part, pair [][]int, left func(part) int) int {
	const never = math.MaxInt32
	ofA, ofB := fathers(a), fathers(b)
	pairs := func(skip bool, left func(part) int) int {
		costs, next := make([]int, 1<<len(b)), make([]int, 1<<len(b)) // by the words of b that are taken
		for taken := range costs {
			costs[taken] = never
		}
		costs[0] = 0
		for i, v := range a {
			skipped := v.particle || v.father && skip
			for taken, so := range costs {
				if next[taken] = never; skipped {
					next[taken] = so
				}
				for j := range b {
					if without := taken &^ (1 << j); without != taken && costs[without] < never {
						next[taken] = min(next[taken], costs[without]+pair[i][j])
					}
				}
			}
			costs, next = next, costs
		}
		best := never
		for taken, so := range costs {
			for j, w := range b {
				if taken>>j&1 == 0 && !w.particle && !(w.father && ofB > ofA) && so < never {
					so += left(w)
				}
			}
			best = min(best, so)
		}
		return best
	}
	best := pairs(false, left)
	if best > 0 && ofA > ofB {
		best = min(best, pairs(true, missing))
	}
	return best
}

func wordCost(v, w part) int {
	a, b := v.Plain, w.Plain
	cost := v.Edits(w.NameWord)
	switch {
	case cost == 0 || v.cut && w.Begins(v.NameWord) || w.cut && v.Begins(w.NameWord):
		return 0
	case len(a) == 1 && a[0] == b[0] || len(b) == 1 && a[0] == b[0]:
		return initialCost
	case strings.Trim(a, "0123456789") == "" || strings.Trim(b, "0123456789") == "":
		return max(len(a), len(b)) // another number is something else
	}
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

// replaced reports whether a name has another word in the place of one, whatever the letters of the rest.
func replaced(a, b []part) bool {
	particle := func(p part) bool { return p.particle }
	a, b = slices.DeleteFunc(slices.Clone(a), particle), slices.DeleteFunc(slices.Clone(b), particle)
	if len(a) > len(b) {
		a, b = b, a
	}
	without := func(a, b []part) bool {
		return slices.ContainsFunc(a, func(v part) bool {
			return !slices.ContainsFunc(b, func(w part) bool { return 2*wordCost(v, w) <= max(len(v.Plain), len(w.Plain)) })
		})
	}
	return without(a, b) || len(a) == len(b) && without(b, a)
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
			if strings.HasPrefix(line, "#") {
				break
			}
			ways := strings.Split(w, "=") // jr=junior
			for _, way := range ways {
				l.particles[way] = len(ways) == 1 || ways[1] != ""
				if len(ways) > 1 {
					l.behind[way] = ways[0]
				}
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
	name, _ = search.Zone(name)
	all := []string{search.Name(name)}
	add := func(words ...string) {
		if s := strings.Join(words, " "); len(words) > 0 && len(all) < mostSpellings && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	var w []string
	for _, p := range parts(search.NameWords(name), 0) {
		if !p.particle {
			w = append(w, p.Plain)
		}
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
