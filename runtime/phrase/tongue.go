package phrase

import (
	"strings"

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
	for _, l := range words.Languages() {
		if l != words.English {
			for _, p := range v.PhrasesIn[l.String()] {
				fn(l, p)
			}
		}
	}
}

// stemIn is the form of a word of a language that its inflections share: rough, for words
// of one phrase and one sentence only have to meet.
func stemIn(l words.Language, w string) string {
	if l == words.English {
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

// spoken is the language of a sentence: its own, where its words tell, and
// otherwise the first of those that it may be in.
func spoken(text string, in words.In) words.Language {
	likely := words.Detect(fileReference.ReplaceAllString(text, "")) // its letters are of no language
	switch {
	case len(likely) == 1:
		return likely[0]
	case len(in.Languages) > 0:
		return in.Languages[0]
	}
	return words.English
}
