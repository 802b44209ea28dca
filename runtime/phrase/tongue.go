package phrase

import (
	"slices"
	"strings"
	"sync"

	"verbatim/runtime/words"
	"verbatim/verbs"
)

// Phrases may be in several languages. What a palette gives in one of them is
// compared with sentences of that language; English phrases, and what the verbs
// are called, with all. Words of other languages are kept apart from English
// ones by a mark, so that "pass" in one is not "pass" in the other.

// phrasesOf calls fn with each phrase of a verb and its language.
func phrasesOf(v *verbs.Verb, fn func(l words.Language, phrase string)) {
	for _, p := range v.Phrases {
		fn(words.English, p)
	}
	for _, l := range words.Languages {
		if l != words.English {
			for _, p := range v.PhrasesIn[l.String()] {
				fn(l, p)
			}
		}
	}
}

// stemIn is the form of a word of a language that its inflections share.
func stemIn(l words.Language, w string) string {
	if l == words.English {
		return stem(w)
	}
	for _, end := range endings()[l] {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) >= 3 {
			w = s
			break
		}
	}
	return w
}

// endings are what words end with, the longest first. It is rough: words of one
// phrase and one sentence only have to meet.
var endings = sync.OnceValue(func() (all [4][]string) {
	for l, text := range map[words.Language]string{
		words.German:  "ungen ern est end em en er es et ung st e n s t",
		words.French:  "ements issons issez ement aient tions erons erez ions ies ons ent ait ais ant ez er ir es ee e s x",
		words.Spanish: "aciones amientos amiento imiento iendo ando amos emos imos aron ieron adas ados idas idos cion ada ado ida ido aba ian ar er ir as es os an en a e o s",
	} {
		all[l] = strings.Fields(text)
		slices.SortStableFunc(all[l], func(a, b string) int { return len(b) - len(a) })
	}
	return all
})

// spoken is the language of a sentence: its own, where its words tell, and
// otherwise the first of those that it may be in.
func spoken(text string, in words.In) words.Language {
	likely := words.Detect(text)
	switch {
	case len(likely) == 1:
		return likely[0]
	case len(in.Languages) > 0:
		return in.Languages[0]
	}
	return words.English
}
