package manda

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
)

// shorthand are forms of periods that people write and documents do not, with their full forms.
var shorthand = []struct {
	form pattern
	as   string
}{
	{`’`, "'"},
	{`\bIT\b`, "information technology"},
	{`\b(\d{1,2})[./](\d{1,2})[./](\d\d)\b`, "$1.$2.20$3"},
	{`(^|[^\d./\pL])0?([1-9])[./](20\d\d)\b`, "$1$3-0$2"},
	{`(^|[^\d./\pL])(1[0-2])[./](20\d\d)\b`, "$1$3-$2"},
	{`\b(0[1-9]|1[0-2])/([1-4]\d)\b`, "20$2-$1"},
	{`(?i)\b([1-4])q\b`, "Q$1"},
	{`(?i)\b(?:quarter|quartal) (?:no\.? ?)?([1-4])\b`, "Q$1"},
	{`(?i)\b(gross|ebitda|ebit)(?: profit| margin)? ?%`, "$1 margin"},
	{`(?i)\b` + months + `\.?[ -]?'?([1-4]\d)\b([^\d.,]|$)`, "$1 20$2$3"},
	{`(?i)\b(?:ye|year[- ]?end)[ -]?'?(?:20)?([1-4]\d)\b`, "31 December 20$1"},
	{`(?i)\b(?:end of|ende) dec?z?(?:ember)? (20\d\d)\b`, "31 December $1"},
	{`(?i)\b(\pL{4,})([1-4]\d)\b`, "$1 FY$2"},
	{`(^|\s)'([1-4]\d)\b`, "${1}20$2"},
	{`(?i)-(quarter|quartal|half|halbjahr|year)\b`, " $1"},
	{`(?i)\b(first|second|third|fourth)((?: and| to| or|,)(?: the)? (?:first|second|third|fourth) quarter)\b`, "$1 quarter$2"},
}

// An alias is a word of people's for a name in metrics.txt or concepts.txt. Documents seldom use
// it, and are not read by it.
type alias struct {
	name  string
	parts [][]string // words, between which others may stand
}

func (a *alias) words() (n int) {
	for _, p := range a.parts {
		n += len(p)
	}
	return n
}

// aliases holds the asked lines of questions.txt by their first word.
var aliases = sync.OnceValue(func() map[string][]alias {
	all := map[string][]alias{}
	for _, p := range phrasings() {
		if p.kind != "asked" {
			continue
		}
		for _, parts := range p.parts {
			a := alias{name: p.name}
			for _, part := range parts {
				a.parts = append(a.parts, strings.Fields(part))
			}
			if len(a.parts[0]) > 0 {
				all[a.parts[0][0]] = append(all[a.parts[0][0]], a)
			}
		}
	}
	for _, some := range all {
		slices.SortStableFunc(some, func(a, b alias) int { return b.words() - a.words() })
	}
	return all
})

// vocabulary holds the words that are expected in questions, by their first letter. The value says
// whether the word belongs to the name of a figure or of a month.
var vocabulary = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	add := func(text string, figure bool) {
		for w := range strings.FieldsSeq(text) {
			head := firstRunes(w, 1)
			if all[head] == nil {
				all[head] = map[string]bool{}
			}
			all[head][w] = all[head][w] || figure
		}
	}
	for _, p := range phrasings() {
		add(plainly(p.name), false)
		for _, parts := range p.parts {
			add(strings.Join(parts, " "), p.kind == "month")
		}
	}
	for name, of := range concepts().names {
		add(name, lexicon()[of] != nil)
	}
	for w := range ordinals {
		add(w, false)
	}
	return all
})

// expanded writes the periods of a question out.
func expanded(text string) string {
	for _, s := range shorthand {
		text = s.form.re().ReplaceAllString(text, s.as)
	}
	return text
}

// written normalises a question: it writes periods out, corrects spelling mistakes, and separates
// words that were joined.
func written(text string) string {
	text = expanded(text)
	at := tokens.re().FindAllStringIndex(text, -1)
	var b strings.Builder
	from := 0
	for _, is := range at {
		b.WriteString(text[from:is[0]] + spelled(text[is[0]:is[1]], is[0] > 0))
		from = is[1]
	}
	return b.String() + text[from:]
}

// named replaces the aliases in a text by their names.
func named(text string) string {
	at := tokens.re().FindAllStringIndex(text, -1)
	words := make([]string, len(at))
	for i, is := range at {
		words[i] = plainly(text[is[0]:is[1]])
	}
	var b strings.Builder
	from, dropped := 0, map[int]bool{}
	for i := 0; i < len(words); i++ {
		if dropped[i] {
			b.WriteString(text[from:at[i][0]])
			from = at[i][1]
			continue
		}
		for _, a := range aliases()[words[i]] {
			used, ok := a.stands(words, i)
			if !ok {
				continue
			}
			last := i + len(a.parts[0]) - 1
			b.WriteString(text[from:at[i][0]] + a.name)
			for _, k := range used {
				dropped[k] = true
			}
			from, i = at[last][1], last
			break
		}
	}
	return b.String() + text[from:]
}

// mostApart is the greatest number of words between the parts of an alias.
const mostApart = 6

// stands reports whether an alias begins at a word, and which of the later words it uses.
func (a *alias) stands(words []string, i int) (used []int, ok bool) {
	for n, part := range a.parts {
		if n == 0 {
			if i+len(part) > len(words) || !slices.Equal(words[i:i+len(part)], part) {
				return nil, false
			}
			i += len(part)
			continue
		}
		for k := i; ; k++ {
			if k-i > mostApart || k+len(part) > len(words) {
				return nil, false
			}
			if slices.Equal(words[k:k+len(part)], part) {
				for j := range part {
					used = append(used, k+j)
				}
				i = k + len(part)
				break
			}
		}
	}
	return used, true
}

// The least numbers of letters of words that are corrected: too many others resemble shorter ones.
const (
	leastSwapped = 4
	leastLost    = 5
	leastSlip    = 7
	leastName    = 8 // with a capital letter inside a sentence
)

// spelled returns a word in the spelling of the vocabulary: with one mistake corrected, or
// separated if it was joined. A word that resembles no other, or that may be a name, stays as it
// is.
func spelled(word string, inside bool) string {
	w := plainly(word)
	words := vocabulary()[firstRunes(w, 1)]
	if _, ok := words[w]; ok || known(w) != nil {
		return word
	}
	if head, tail, ok := strings.Cut(word, "-"); ok && strings.ContainsFunc(word, unicode.IsLetter) {
		return spelled(head, inside) + " " + spelled(tail, inside)
	}
	if strings.ContainsAny(w, "0123456789&'.") {
		return word
	}
	n := utf8.RuneCountInString(w)
	if n < leastSwapped {
		return word
	}
	if _, ok := concepts().called(w); ok {
		return word
	}
	best := ""
	first, _ := utf8.DecodeRuneInString(word)
	if inside && n < leastName && unicode.IsUpper(first) {
		words = nil
	}
	for c, figure := range words {
		if near(w, c, n, figure) && (best == "" || closer(w, c, best)) {
			best = c
		}
	}
	if best != "" {
		return best
	}
	for k := range w { // Umsatzbudget, Jahresumsatz
		if k < 3 || len(w)-k < 3 {
			continue
		}
		if head := w[:k]; k >= leastPart && lexicon()[head] != nil {
			return head + " " + strings.TrimPrefix(w[k:], "s")
		}
		if tail := w[k:]; len(tail) >= leastPart && known(tail) != nil {
			return strings.TrimSuffix(w[:k], "s") + " " + tail
		}
	}
	return word
}

// near reports whether a word of n letters is another word with one mistake: two letters swapped
// or, in a longer word, one wrong, missing or extra letter. In the name of a figure, a letter may
// be missing in a shorter word.
func near(w, other string, n int, figure bool) bool {
	m := utf8.RuneCountInString(other)
	if m > n+1 || m < n-1 || dsl.Distance(w, other, 1) != 1 {
		return false
	}
	return n >= leastSlip || n == m && slices.Equal(sorted(w), sorted(other)) || figure && n >= leastLost && m == n+1 && last(w) == last(other)
}

func last(w string) rune {
	r, _ := utf8.DecodeLastRuneInString(w)
	return r
}

// closer reports whether a word is rather meant for one than for another: that ends as it
// does, that names a figure.
func closer(w, one, other string) bool {
	rank := func(c string) (n int) {
		if last(c) == last(w) {
			n += 2
		}
		if known(c) != nil {
			n++
		}
		return n
	}
	return cmp.Or(rank(other)-rank(one), strings.Compare(one, other)) < 0
}

func sorted(w string) []rune {
	letters := []rune(w)
	slices.SortFunc(letters, func(a, b rune) int { return int(unicode.ToLower(a) - unicode.ToLower(b)) })
	return letters
}
