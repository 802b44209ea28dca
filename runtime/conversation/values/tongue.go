package values

import (
	"regexp"
	"strings"
	"sync"
)

// A Tongue is the language that a person speaks, inferred from the messages of a conversation. The
// zero Tongue has heard nothing. It is steady: a foreign word, a name or a short answer does not
// change it, a sentence in another language does.
type Tongue struct {
	language Language
	known    bool
}

// Language returns the spoken language; ok is false if it is not known yet.
func (t Tongue) Language() (l Language, ok bool) { return t.language, t.known }

// Is sets the language from a source other than the words of a message.
func (t *Tongue) Is(l Language) { t.language, t.known = l, true }

// another bounds the change to another language: a message must score at least twice this in it, and
// at least twice its score in the language spoken so far. That is two small words of the other
// language, against at most half as many.
const another = 4

// Hear updates the language by the next message.
func (t *Tongue) Hear(text string) {
	score := ours().scores(text)
	best, second := 0, 0
	of := English
	for l, n := range score {
		if score[l] = 2 * n; n > 0 && ours().tongues[l].spells(text, n) {
			score[l]++ // "was" and "die" are words of two: less than a word, and decides between them
		}
		switch n := score[l]; {
		case n > best:
			best, second, of = n, best, Language(l)
		case n > second:
			second = n
		}
	}
	switch {
	case best == 0 || best == second || t.known && of == t.language:
	case !t.known, best >= 2*another && best >= 2*score[t.language]:
		t.language, t.known = of, true
	}
}

// Spellings that distinguish languages which share their words.
var (
	spacedMark   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL\d][ \x{a0}\x{202f}][?!:;]`) })
	innerCapital = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\p{Ll}{3} \p{Lu}\p{Ll}`) }) // "in France" is a name
)

// spells reports whether a text has a space before high marks, or capitals inside, as this language.
func (t *tongue) spells(text string, score int) bool {
	return t.traits[SpacedMarks] && spacedMark().MatchString(text) || t.traits[NounCapitals] && score > 1 && innerCapital().MatchString(text)
}

// scores say how much of each language is in a text: of its small words and
// answers, and of letters that no other has.
func (h *house) scores(text string) []int {
	text = text[:min(len(text), enough)]
	score := h.smallScores(text)
	for l, t := range h.tongues {
		if t.letters != "" && strings.ContainsAny(text, t.letters) {
			score[l]++
		}
	}
	for w := range strings.FieldsSeq(Plain(text)) {
		for l, t := range h.tongues {
			if t.answers[strings.Trim(w, ".,;:!?¿¡")] {
				score[l]++
			}
		}
	}
	return score
}
