package manda

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

//go:embed concepts.txt
var conceptsFile string

// A thesaurus has the names of concepts and metrics: two texts that use different names for
// one thing speak of the same, in whatever language.
type thesaurus struct {
	names map[string]string   // from a name in lower case to its concept
	also  map[string][]string // from a name to further concepts: land is a country in German
	of    map[string][]string // from a concept to all its names
	first map[string]int      // from the first word of a name to the greatest number of words of such a name
	heard sync.Map            // of words: see word
	words atomic.Int64        // that were heard
}

var concepts = sync.OnceValue(func() *thesaurus {
	all := &thesaurus{names: map[string]string{}, also: map[string][]string{}, of: map[string][]string{}, first: map[string]int{}}
	add := func(name, of string) {
		name = plainly(name)
		if is, ok := all.names[name]; ok && is != of {
			all.also[name], all.of[of] = append(all.also[name], of), append(all.of[of], name)
			return
		} else if ok || name == "" {
			return
		}
		all.names[name], all.of[of] = of, append(all.of[of], name)
		head, _, _ := strings.Cut(name, " ")
		all.first[head] = max(all.first[head], 1+strings.Count(name, " "))
	}
	for line := range strings.Lines(conceptsFile) {
		name, others, ok := strings.Cut(strings.TrimSpace(line), "|")
		if name = strings.TrimSpace(name); !ok || strings.HasPrefix(line, "#") {
			continue
		}
		add(name, name)
		for other := range strings.SplitSeq(others, ";") {
			add(other, name)
		}
	}
	for name, m := range lexicon() {
		if all.names[name] == "" {
			add(name, m.name)
		}
	}
	return all
})

// called returns the concept of a name of one or more words. The last word may be a plural.
func (t *thesaurus) called(name string) (string, bool) {
	return inflected(t.names, name, func(of string) string { return of })
}

// leastPart is the least number of letters of a part of a compound: Umweltgenehmigungen.
const leastPart = 5

// within returns the concepts with which a compound begins or ends.
func (t *thesaurus) within(word string) (all []string) {
	for k := len(word) - 3; k >= leastPart; k-- {
		if of, ok := t.names[word[:k]]; ok {
			all = append(all, of)
			break
		}
	}
	for k := 3; k <= len(word)-leastPart; k++ {
		if of, ok := t.called(word[k:]); ok {
			all = append(all, of)
			break
		}
	}
	return all
}

// spoken calls each with the words of a text, or with the longest name that begins at a word.
func (t *thesaurus) spoken(text string, each func(name string, of string, words int)) {
	words := strings.Fields(plainly(text))
	for i := 0; i < len(words); {
		n := 1
		of, ok := "", false
		for k := min(max(1, t.first[words[i]]), len(words)-i); k > 0 && !ok; k-- {
			if of, ok = t.called(strings.Join(words[i:i+k], " ")); ok {
				n = k
			}
		}
		each(strings.Join(words[i:i+n], " "), of, n)
		i += n
	}
}

// partOfName reports whether a mention of a metric is only part of a longer name that the lexicon has
// no figures for, as "interest" is of "interest cover".
func partOfName(text string, m mention) bool {
	at, is := len(strings.Fields(plainly(text[:m.at]))), false
	concepts().spoken(text, func(name, of string, words int) {
		is = is || at >= 0 && at < words && of != "" && lexicon()[of] == nil && words > len(strings.Fields(plainly(text[m.at:m.end])))
		at -= words
	})
	return is
}

// ideas returns the subjects of a text: concepts, metrics, and the stem of each word.
func ideas(text string) map[string]bool {
	t, all := concepts(), map[string]bool{}
	t.spoken(text, func(name, of string, words int) {
		if of != "" {
			all[of] = true
		}
		for w := range strings.FieldsSeq(name) {
			for _, of := range t.word(w) {
				all[of] = true
			}
		}
	})
	return all
}

// mostHeard is the greatest number of words that are cached.
const mostHeard = 100_000

// word returns the subjects of a word: its stem, its concept, and those of the parts of a compound.
// They are cached, since a data room repeats its words.
func (t *thesaurus) word(w string) []string {
	if all, ok := t.heard.Load(w); ok {
		return all.([]string)
	}
	all := append([]string{stem(w)}, t.also[w]...)
	if of, ok := t.called(w); ok {
		all = append(all, of)
	}
	if len(w) >= 2*leastPart {
		all = append(all, t.within(w)...)
	}
	if t.words.Add(1) <= mostHeard {
		t.heard.Store(strings.Clone(w), all)
	}
	return all
}

// An aim is one thing that a text asks for: a concept or a metric, or a word by its stem.
type aim struct {
	of    string
	words []string // the stems of its name, if that has several words
	named bool     // it is a concept or a metric
}

// aims returns the subjects that a text asks for, each once, in order, without the words that skip
// accepts.
func aims(text string, skip func(word string) bool) (all []aim) {
	t := concepts()
	add := func(a aim) {
		if !slices.ContainsFunc(all, func(b aim) bool { return a.of == b.of }) {
			all = append(all, a)
		}
	}
	t.spoken(text, func(name, of string, words int) {
		switch {
		case words > 1:
			a := aim{of: of, named: true}
			for w := range strings.FieldsSeq(name) {
				if !stops()[w] {
					a.words = append(a.words, stem(w))
				}
			}
			add(a)
		case of != "":
			add(aim{of: of, named: true})
		case skip(name):
		case len(name) >= 2*leastPart && len(t.within(name)) > 0:
			for _, of := range t.within(name) {
				add(aim{of: of, named: true})
			}
		default:
			add(aim{of: stem(name)})
		}
	})
	return all
}

// in reports whether a text with these subjects has the aim: by any of its names, or by all words of
// the name that was used.
func (a aim) in(ideas map[string]bool) bool {
	return ideas[a.of] || len(a.words) > 1 && !slices.ContainsFunc(a.words, func(w string) bool { return !ideas[w] })
}

// spoken returns the words of some aims, for a search.
func spoken(aims []aim) (all []string) {
	for _, a := range aims {
		all = append(all, a.of)
	}
	return all
}

// unsaid skips words that say nothing.
func unsaid(word string) bool { return stops()[word] }

// shared counts the aims that a text with these subjects has.
func shared(aims []aim, ideas map[string]bool) (n int) {
	for _, a := range aims {
		if a.in(ideas) {
			n++
		}
	}
	return n
}

// widened returns a text with the other names of its subjects, for a search by words.
func widened(text string) string {
	t := concepts()
	var b strings.Builder
	b.WriteString(text)
	seen := map[string]bool{}
	add := func(of string) {
		if of == "" || seen[of] {
			return
		}
		seen[of] = true
		for _, name := range t.of[of] {
			b.WriteString(" ")
			b.WriteString(name)
		}
	}
	t.spoken(text, func(name, of string, words int) {
		add(of)
		if of == "" && len(name) >= 2*leastPart {
			for _, of := range t.within(name) {
				add(of)
			}
		}
	})
	return b.String()
}
