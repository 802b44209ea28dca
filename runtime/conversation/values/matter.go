package values

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Matter holds the words with which a person may repeat a question while agreeing to it: "yes,
// please order the repairs for Wind Two". With a nil Matter nothing may be repeated.
type Matter struct {
	runs    [][]spokenWord // of the question and of the phrases of its verb; a run has no gap
	actions []spokenWord   // the words for what would be done
	values  []namedValue   // from 1; the first is none
	signs   string         // signs of money, of percent and of companies in the question
}

// A namedValue is a value that the question names.
type namedValue struct {
	words int  // its words that are not small
	name  bool // each of its words is a name, and some of them are enough
}

// A spokenWord is a word that may be said back.
type spokenWord struct {
	word  string
	value int    // of Matter.values
	forms string // the key of the endings that it may have
}

// NewMatter takes a question as the person read it, its values by the names of their arguments, the
// phrases of its verb, and the name of that verb. It returns nil if the question asks for two things
// at once, because a person who repeats one of them agrees to only half of it. What goes with the
// thing ("with its text and its links") is none of two things, and may not be repeated either.
func NewMatter(question string, values map[string]string, phrases []string, verb string) *Matter {
	m := &Matter{values: make([]namedValue, 1)}
	for _, r := range question {
		if unicode.Is(unicode.Sc, r) || r == '%' || r == '&' {
			m.signs += string(r)
		}
	}
	question = withoutAccompaniment(question, values)
	// The values are numbered as they come in the question.
	asked, rest := Plain(question), Plain(question)
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(strings.Index(asked, Plain(values[a]))-strings.Index(asked, Plain(values[b])), strings.Compare(a, b))
	})
	var ordered []string
	for _, name := range names {
		said := strings.Fields(values[name])
		ordered = append(ordered, values[name])
		m.values = append(m.values, namedValue{weight(figured(values[name])), !slices.ContainsFunc(said, func(w string) bool {
			first, _ := utf8.DecodeRuneInString(w)
			return !unicode.IsUpper(first) && first != '&'
		})})
		rest = strings.Replace(rest, Plain(values[name]), "", 1)
	}
	joining := ours().phrases("joining")
	if slices.ContainsFunc(strings.Fields(rest), func(w string) bool { return slices.Contains(joining, w) }) {
		return nil
	}
	m.runs = saidBack(question, ordered)
	if len(m.runs) > 0 && strings.HasPrefix(asked, m.runs[0][0].word+" ") {
		m.runs[0] = m.runs[0][1:] // "¿Encargo las piezas?": a person who repeats the verb would order them
	}
	if name := strings.Fields(Plain(verb)); len(name) > 0 {
		m.actions = append(m.actions, spokenWord{word: name[0], forms: "form"})
		m.runs = append(m.runs, m.actions)
	}
	for _, p := range phrases {
		first, _, _ := strings.Cut(Plain(p), " ")
		filled := placeholder.ReplaceAllStringFunc(p, func(arg string) string {
			if said := values[arg[1:len(arg)-1]]; said != "" {
				return said
			}
			return "|"
		})
		runs := saidBack(filled, ordered)
		if first == "" || len(runs) == 0 || runs[0][0].word != first || isSmall(first) {
			continue // "we are waiting for it" does not say what to do
		}
		m.actions = append(m.actions, runs[0][0])
		m.runs = append(m.runs, runs...)
	}
	return m
}

// withoutAccompaniment puts a mark in place of each part of a question that says only what goes with a
// thing: a "with" before two things of its own, "with its text and its links".
func withoutAccompaniment(question string, values map[string]string) string {
	s := scan{text: question}
	s.divide()
	var words []string
	var at []int // the token of each word
	for i := range s.tokens {
		if t := &s.tokens[i]; t.mark == 0 {
			words, at = append(words, string(s.plain[t.from:t.to])), append(at, i)
		}
	}
	joining := ours().phrases("joining")
	// thing returns the number of words of a thing that is another's: "its text", in German "Text".
	thing := func(i int) int {
		n := possessing.at(words, i)
		if i+n >= len(words) || isSmall(words[i+n]) || n > 0 && at[i+n] != at[i]+n {
			return 0
		}
		if r, _ := utf8.DecodeRuneInString(question[s.tokens[at[i+n]].start:]); n == 0 && !unicode.IsUpper(r) {
			return 0
		}
		return n + 1
	}
	for i := range words {
		with := accompanying.at(words, i)
		if with == 0 {
			continue
		}
		first := thing(i + with)
		and := i + with + first
		if first == 0 || and >= len(words) || !slices.Contains(joining, words[and]) {
			continue
		}
		second := thing(and + 1)
		last := and + second
		if second == 0 || at[last] != at[i]+last-i { // a mark divides them
			continue
		}
		from, to := s.tokens[at[i]].start, s.tokens[at[last]].end
		part := Plain(question[from:to])
		named := false
		for _, v := range values {
			named = named || v != "" && strings.Contains(part, Plain(v))
		}
		if !named {
			return withoutAccompaniment(question[:from]+";"+question[to:], values)
		}
	}
	return question
}

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

var (
	// restating are the small words of a sentence that repeats a question.
	restating = phrasesOf("restating")
	// granting begins a yes that continues with the words of the question: "you have my ok for".
	granting = phrasesOf("granting")
	// accompanying words begin what goes with a thing, and possessing words say that it is the thing's.
	accompanying = phrasesOf("accompanying")
	possessing   = phrasesOf("possessing")
	// whose stands between an action and its object: "the repairs of Wind Two".
	whose = phrasesOf("whose")
	// unsaid are words that may not be repeated: pronouns of the speaker, words of doubt, and words
	// that would limit or change the consent.
	unsaid = phrasesOf("unsaid")
)

// saidBack returns the runs of a text that a person may repeat: its words, divided at
// punctuation marks and at the words that may not be repeated.
func saidBack(text string, values []string) (runs [][]spokenWord) {
	s := scan{text: text}
	s.divide()
	all, first, last := s.figured()
	belongs := make([]int, len(all))
	for n, v := range values {
		words := figured(v)
		for i := 0; len(words) > 0 && i+len(words) <= len(all); i++ {
			if slices.Equal(all[i:i+len(words)], words) && belongs[i] == 0 {
				for k := range words {
					belongs[i+k] = n + 1
				}
				break
			}
		}
	}
	var run []spokenWord
	end := func() {
		if len(run) > 0 {
			runs, run = append(runs, run), nil
		}
	}
	for i, w := range all {
		t := &s.tokens[first[i]]
		if i > 0 && (first[i] > last[i-1]+1 && !joins(&s, last[i-1], first[i]) || t.space == newLine) {
			end()
		}
		if t.hidden || turning.at(all, i) > 0 || refusing.at(all, i) > 0 || unsaid.at(all, i) > 0 || asking.at(all, i) > 0 {
			end()
			continue
		}
		forms := "form"
		if r, _ := utf8.DecodeRuneInString(text[t.start:]); t.kind == numberToken {
			forms = ""
		} else if belongs[i] > 0 && unicode.IsUpper(r) {
			forms = "plural" // it may be a name: Simon is not Simone
		}
		run = append(run, spokenWord{w, belongs[i], forms})
	}
	end()
	return runs
}

// joins reports whether a hyphen or an apostrophe makes one word of two: "Saint-Denis".
func joins(s *scan, before, at int) bool {
	mark, next := &s.tokens[before+1], &s.tokens[at]
	return at == before+2 && mark.space == noSpace && next.space == noSpace && (mark.mark == '-' || mark.mark == '\'' || mark.mark == '’')
}

// figured returns the words of a text; see scan.figured.
func figured(text string) []string {
	s := scan{text: text}
	s.divide()
	all, _, _ := s.figured()
	return all
}

// figured returns the words of a text, each with its first and its last token. A number is one word,
// whatever signs divide it: "1,480.50", "1.480,50" and "1480.5" are equal.
func (s *scan) figured() (all []string, first, last []int) {
	for i := 0; i < len(s.tokens); i++ {
		t := &s.tokens[i]
		if t.mark != 0 {
			continue
		}
		word, from := string(s.plain[t.from:t.to]), i
		for t.kind == numberToken && i+2 < len(s.tokens) && strings.ContainsRune(".,'’", s.tokens[i+1].mark) && s.tokens[i+1].space == noSpace && s.tokens[i+2].kind == numberToken && s.tokens[i+2].space == noSpace {
			i += 2
			word += string(s.tokens[i-1].mark) + string(s.plain[s.tokens[i].from:s.tokens[i].to])
		}
		if from < i {
			word = sameFigure(word)
		}
		all, first, last = append(all, word), append(first, from), append(last, i)
	}
	return all, first, last
}

var thousands = regexp.MustCompile(`^\d{1,3}(?:([.,'’])\d{3})(?:[.,'’]\d{3})*$`)

// sameFigure writes a number without the separators of thousands and without zeros at the end of its
// fraction. An ambiguous number is unchanged: "1.480".
func sameFigure(number string) string {
	at := strings.LastIndexAny(number, ".,")
	whole, fraction := number, ""
	if at >= 0 && len(number)-at <= 3 {
		whole, fraction = number[:at], number[at+1:]
	}
	digits := strings.NewReplacer(".", "", ",", "", "'", "", "’", "").Replace(whole)
	switch divided := thousands.MatchString(whole); {
	case digits != whole && (!divided || fraction != "" && strings.ContainsRune(whole, rune(number[at]))),
		divided && fraction == "" && len(whole) < 8:
		return number
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		return digits + "." + fraction
	}
	return digits
}

// A retelling records how much of a Matter a message has repeated.
type retelling struct {
	of    *Matter
	last  int         // the last repeated value
	words map[int]int // number of repeated words of each value
	does  bool        // it says that it is to be done
}

// at returns the longest run that the message repeats from word i on. It accepts values only in
// the order of the question: "from Karim to Thomas" is not "from Thomas to Karim".
func (r *retelling) at(words []string, i int) (best []spokenWord) {
	if r.of == nil {
		return nil
	}
	for _, run := range r.of.runs {
		for from := range run {
			k := 0
			for k < len(run)-from && i+k < len(words) && run[from+k].is(words[i+k]) {
				k++
			}
			said := run[from : from+k]
			if k > len(best) && r.of.whole(run, from, k, words, i) && !slices.ContainsFunc(said, func(w spokenWord) bool { return w.value > 0 && w.value < r.last }) {
				best = said
			}
		}
	}
	return best
}

// take records that the message repeated a run of the question.
func (r *retelling) take(run []spokenWord) {
	if r.words == nil {
		r.words = map[int]int{}
	}
	for _, w := range run {
		r.last = max(r.last, w.value)
		if !isSmall(w.word) {
			r.words[w.value]++
		}
		r.does = r.does || r.of.does(w.word)
	}
}

// named reports whether a name stands at word i and the question has several names. Then "yes to
// Thomas" may confuse the one who gives with the one who takes.
func (r *retelling) named(words []string, i int) bool {
	if r.of == nil || i == len(words) {
		return false
	}
	names := 0
	for _, v := range r.of.values {
		if v.name {
			names++
		}
	}
	run := r.at(words, i)
	return names > 1 && len(run) > 0 && r.of.values[run[0].value].name
}

// links reports whether a word such as "of" joins the verb, or the first of two values, to the
// value that comes next in the question.
func (r *retelling) links(words []string, i int) bool {
	if r.of == nil || len(r.of.values) != 3 || r.last == 0 && !r.does || i+1 == len(words) || whose.at(words, i) == 0 {
		return false
	}
	next := r.at(words, i+1)
	return len(next) > 0 && next[0].value == r.last+1
}

// half reports whether the message repeats only a part of a value that is no name: "the repairs" if
// the question says "repairs and inspection".
func (r *retelling) half() bool {
	for v, n := range r.words {
		if v > 0 && n < r.of.values[v].words && !r.of.values[v].name {
			return true
		}
	}
	return false
}

// whole reports whether n words of a run can stand alone: they cut no number in two, and at least
// one of them is not a small word.
func (m *Matter) whole(run []spokenWord, from, n int, words []string, i int) bool {
	if n == 0 {
		return false
	}
	if end := from + n; isNumber(run[from].word) && (from > 0 && isNumber(run[from-1].word) || i > 0 && isNumber(words[i-1])) ||
		isNumber(run[end-1].word) && (end < len(run) && isNumber(run[end].word) || i+n < len(words) && isNumber(words[i+n])) {
		return false
	}
	return slices.ContainsFunc(run[from:from+n], func(w spokenWord) bool {
		return !isNumber(w.word) && !isSmall(w.word) && (w.value > 0 || len(w.word) > 3 || m.does(w.word))
	})
}

// does reports whether a word says what would be done.
func (m *Matter) does(word string) bool {
	return slices.ContainsFunc(m.actions, func(d spokenWord) bool { return d.is(word) })
}

// weight counts the words that are not small.
func weight(words []string) (n int) {
	for _, w := range words {
		if !isSmall(w) {
			n++
		}
	}
	return n
}

func isNumber(word string) bool { return word[0] >= '0' && word[0] <= '9' }

func isSmall(word string) bool {
	return slices.ContainsFunc(ours().tongues, func(t *tongue) bool { return t.small[word] })
}

// is reports whether a word is a form of this one.
func (w spokenWord) is(word string) bool {
	return w.word == word || w.forms != "" && slices.ContainsFunc(stems(w.word, w.forms), func(stem string) bool { return slices.Contains(stems(word, w.forms), stem) })
}

// shortestStem is the least number of letters left of a word without an ending.
const shortestStem = 4

// stems returns the possible stems of a word: the word itself, and the word without an ending.
func stems(word, forms string) []string {
	all := []string{word}
	for _, end := range ours().phrases(forms) {
		if stem, ok := strings.CutSuffix(word, end); ok && len(stem) >= shortestStem {
			all = append(all, stem)
		}
	}
	return all
}

// slips reports whether a word is one of courtesy with a letter wrong.
func slips(word string) bool {
	if len(word) < 4 {
		return false
	}
	for _, p := range ours().phrases("besides") {
		if p = Plain(p); len(p) > 4 && p[0] == word[0] && !strings.Contains(p, " ") && oneApart(p, word) {
			return true
		}
	}
	return false
}

// oneApart reports whether two words differ in one letter that was left out, added, changed or
// exchanged with the next.
func oneApart(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) == len(b)+1:
		return a[i+1:] == b[i:]
	case len(a) != len(b) || i == len(a):
		return false
	}
	return a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
