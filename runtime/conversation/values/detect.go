package values

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Detect returns the likely languages of a text, or all languages if the text has no sign of any.
func Detect(text string) []Language { return ours().detect(text) }

// enough is the number of bytes of a text that suffice to detect its language.
const enough = 4096

func (h *house) detect(text string) []Language {
	score := h.smallScores(text[:min(len(text), enough)])
	best := slices.Max(score)
	var all []Language
	for l, n := range score {
		if n == best || best > 2 && n >= best-1 || best == 0 {
			all = append(all, Language(l))
		}
	}
	return all
}

// smallScores counts the small words of each language in a text, and the words of its calendar.
// Small words identify a language soonest, and those of several languages less.
func (h *house) smallScores(text string) []int {
	score := make([]int, len(h.tongues))
	s := scan{text: text}
	s.divide()
	for l, t := range h.tongues {
		if t.opens != "" && strings.ContainsAny(text, t.opens) {
			score[l] += 2 // no other language begins a sentence so
		}
	}
	for i := range s.tokens {
		t := &s.tokens[i]
		if t.kind != wordToken {
			continue
		}
		w := s.plain[t.from:t.to]
		// Letters that touch a number are the ending of an ordinal, and no word: the "er" of "1er
		// mai" is no German pronoun.
		hangs := i > 0 && t.space == noSpace && s.tokens[i-1].kind == numberToken
		before := h.beforeNoun(&s, i)
		for l, of := range h.tongues {
			if before != nil && of != before {
				continue
			} else if before != nil {
				score[l] += 2
			} else if hangs {
				if of.lexicon.entries[string(w)][0].class == suffix {
					score[l] += 2
				}
			} else if of.small[string(w)] {
				if len(w) > 1 || !trails(text, t) {
					score[l] += h.tells(string(w))
				}
			} else if e := of.lexicon.entries[string(w)][0]; e.class == month || e.class == weekday || e.class == day || e.class == unit || e.class == next {
				score[l]++
			}
		}
	}
	return score
}

// beforeNoun returns the language in which a word stands before a noun, if the next word begins as
// nouns of that language do: the "je" of "Umsatz je Quartal" is German, and that of "je confirme" is
// not.
func (h *house) beforeNoun(s *scan, i int) *tongue {
	if i+1 == len(s.tokens) || s.tokens[i+1].kind != wordToken {
		return nil
	}
	t := &s.tokens[i]
	word := s.text[t.start:t.end]
	if next, _ := utf8.DecodeRuneInString(s.text[s.tokens[i+1].start:]); !unicode.IsUpper(next) {
		return nil
	}
	for _, of := range h.tongues {
		if slices.Contains(of.said["beforenoun"], word) {
			return of
		}
	}
	return nil
}

// tells returns the score of a small word, lower if several languages have it.
func (h *house) tells(word string) int {
	n := 0
	for _, t := range h.tongues {
		if t.small[word] {
			n++
		}
	}
	return 3 - min(n, 2)
}

// trails reports whether a letter belongs to the word before it, as those of "Thomas's" and "P&L"
// do, and not to the word after it, as that of "s'il" does.
func trails(text string, t *token) bool {
	before := text[:t.start]
	return strings.HasSuffix(before, "'") || strings.HasSuffix(before, "’") || strings.HasSuffix(before, "&") || strings.HasPrefix(text[t.start+1:], "&")
}

// fillers are words without meaning in the answer to a question for one value.
var fillers = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, w := range Phrases("filler") {
		all[w] = true
	}
	return all
})

// onlyFillers reports whether a text says nothing by itself.
func onlyFillers(text string) bool {
	if len(text) > 200 {
		return false
	}
	s := scan{text: text}
	s.divide()
	for i := range s.tokens {
		switch t := &s.tokens[i]; {
		case t.hidden, t.kind == numberToken:
			return false
		case t.kind == markToken:
			switch t.mark {
			case '?', '+', '-', '<', '>', '"', '“', '”', '„', '«', '»', '=', '~', '/':
				return false
			}
		case !fillers()[string(s.plain[t.from:t.to])]:
			return false
		}
	}
	return true
}
