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
	names map[string]string   // a name in small letters: what it is of
	also  map[string][]string // a name that is of more: land is a country in German
	of    map[string][]string // what it is of: all its names
	first map[string]int      // the first word of a name: how many words the longest has
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

// called is what a name of one or more words is of. Its last word may be a plural.
func (t *thesaurus) called(name string) (string, bool) {
	return inflected(t.names, name, func(of string) string { return of })
}

// leastPart is how many letters a part of a compound has at least: Umweltgenehmigungen.
const leastPart = 5

// within are the concepts that a compound begins or ends with.
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

// spoken are the words of a text, and for each the longest name that begins there.
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

// ideas are what a text speaks of: concepts, metrics, and the stem of each word.
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

// mostHeard is how many words are remembered.
const mostHeard = 100_000

// word is what one word speaks of: its stem, what it is called, and the parts of a compound.
// A room says the same words again and again, so they are remembered.
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
	words []string // the stems of its name, where that has several words
	named bool     // it is a concept or a metric
}

// aims are what a text asks for, each once, in its order. Words that skip says are left out.
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

// in reports whether a text speaks of it that has those ideas: by any of its names, or by
// the words of the one that was used, apart from each other.
func (a aim) in(ideas map[string]bool) bool {
	return ideas[a.of] || len(a.words) > 1 && !slices.ContainsFunc(a.words, func(w string) bool { return !ideas[w] })
}

// spoken are the words of some aims, for a search.
func spoken(aims []aim) (all []string) {
	for _, a := range aims {
		all = append(all, a.of)
	}
	return all
}

// unsaid skips words that say nothing.
func unsaid(word string) bool { return stops()[word] }

// shared is how many of some aims a text speaks of that has those ideas.
func shared(aims []aim, ideas map[string]bool) (n int) {
	for _, a := range aims {
		if a.in(ideas) {
			n++
		}
	}
	return n
}

// widened is a text and the other names of what it speaks of, for a search by words.
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
