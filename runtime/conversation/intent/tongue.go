package intent

import (
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// Phrases may be in several languages. A phrase of a language is compared with sentences of that
// language; English phrases and the names of verbs are compared with all sentences. Words of other
// languages are kept apart from English ones by a mark, so that "pass" in one is not "pass" in the
// other.

// phrasesOf calls fn with each phrase of a verb and its language.
func phrasesOf(v *verbs.Verb, fn func(l values.Language, phrase string)) {
	for _, p := range v.Phrases {
		fn(values.English, p)
	}
	for _, l := range values.Languages() {
		if l != values.English {
			for _, p := range v.PhrasesIn[l.String()] {
				fn(l, p)
			}
		}
	}
}

// stemIn returns a form of a word that its inflections in a language share. It is rough: words of a
// phrase and of a sentence only have to get the same form.
func stemIn(l values.Language, w string) string {
	if l == values.English {
		return stem(w)
	}
	for _, end := range l.Phrases("ending") { // the longest first
		if s, ok := strings.CutSuffix(w, end); ok && len(s) >= 3 {
			w = s
			break
		}
	}
	return w
}

// family returns the stem that all forms of a word share, such as "manquants" and "manquent": the
// word without any ending.
func family(l values.Language, w string) string {
	for s := stemIn(l, w); s != w && len(s) >= shortestFamily; s = stemIn(l, w) {
		w = s
	}
	return w
}

// shortestFamily is the least length of such a stem.
const shortestFamily = 4

// Tongue returns the language in which the palettes' phrases and codes have more words of a text than
// in any other: that of a few words such as "documents manquants", which values.Tongue does not know.
func (ix *Index) Tongue(text string) (l values.Language, ok bool) {
	said, most := split(text), 0
	for of, known := range ix.spoken() {
		n := 0
		for _, w := range said {
			// The very word tells more than another form of it.
			for _, form := range [...]string{w, family(values.Language(of), w)} {
				if known[form] {
					n++
				}
			}
		}
		if n >= most {
			most, l, ok = n, values.Language(of), n > most
		}
	}
	return l, ok
}

// Also adds texts to those of the palettes by which Tongue recognises a language, a sentence a line,
// such as the answers of a domain.
func (ix *Index) Also(texts func(values.Language) string) *Index {
	ix.beside = append(ix.beside, texts)
	return ix
}

// readSpoken returns the words in the phrases and codes of each language, and their families.
func (ix *Index) readSpoken() []map[string]bool {
	all := make([]map[string]bool, len(values.Languages()))
	add := func(l values.Language, text string) {
		for _, w := range split(text) {
			all[l][w], all[l][family(l, w)] = true, true
		}
	}
	for _, l := range values.Languages() {
		all[l] = map[string]bool{}
		for _, texts := range ix.beside {
			for line := range strings.Lines(texts(l)) {
				add(l, line)
			}
		}
		for _, list := range ix.reg.CodeLists() {
			for i := range list.Codes {
				said, ok := ix.reg.Says(l.String(), list.Codes[i].Name)
				if !ok {
					said = strings.ReplaceAll(list.Codes[i].Name, "_", " ")
				}
				add(l, said)
			}
		}
	}
	for _, v := range ix.verbs {
		phrasesOf(v, add)
	}
	return all
}

// spoken returns the language of a sentence: the one that its words tell, or else the first of the
// languages that it may be in.
func spoken(text string, in values.In) values.Language {
	likely := values.Detect(fileReference.ReplaceAllString(text, "")) // the letters of a reference belong to no language
	switch {
	case len(likely) == 1:
		return likely[0]
	case len(in.Languages) > 0:
		return in.Languages[0]
	}
	return values.English
}
