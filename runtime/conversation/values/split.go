package values

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Word is a word or a number of a text, in the form in which words are
// compared.
type Word struct {
	Plain string
	Range Range
	// Breaks says that a sentence ends, or a line, between it and the word
	// before.
	Breaks bool
	// Hidden says that it has invisible characters in it or beside it.
	Hidden bool
}

// Split divides a text into words, at most so many, and says whether there were
// more.
func Split(text string, most int) (all []Word, more bool) {
	// A word has at least one byte; the text beyond the bound is not read.
	const longest = 64
	cut := len(text)
	if most < cut/longest {
		cut = most * longest
		for cut > 0 && text[cut]&0xC0 == 0x80 {
			cut--
		}
		more = true
	}
	s := scan{text: text[:cut]}
	s.divide()
	plain := string(s.plain)
	breaks := false
	for i := range s.tokens {
		t := &s.tokens[i]
		breaks = breaks || t.space == newLine
		if t.kind == markToken {
			switch t.mark {
			case '.', '!', '?', ';':
				breaks = breaks || i+1 == len(s.tokens) || s.tokens[i+1].space != noSpace && (t.mark != '.' || !s.shortens(i))
			}
			continue
		}
		if len(all) == most {
			return all, true
		}
		all = append(all, Word{Plain: plain[t.from:t.to], Range: Range{int(t.start), int(t.end)}, Breaks: breaks && len(all) > 0, Hidden: t.hidden})
		breaks = false
	}
	return all, more
}

// Abbreviations that never end a sentence, and those that do not end one before a number.
var shortened, numbered = phrasesOf("short"), phrasesOf("numbered")

// shortens reports whether the point at token i, which another follows, ends no sentence: it belongs
// to a day ("15. March"), an abbreviation ("Dr. Weber", "Nr. 5") or an initial ("J. Smith").
func (s *scan) shortens(i int) bool {
	if i == 0 || s.tokens[i].space != noSpace {
		return false
	}
	t, next := &s.tokens[i-1], &s.tokens[i+1]
	word := []string{string(s.plain[t.from:t.to])}
	switch {
	case t.kind == numberToken:
		return t.to-t.from <= 2 && !s.numbers(i-2)
	case t.kind != wordToken || next.kind == markToken || next.space == newLine:
		return false
	}
	first, size := utf8.DecodeRuneInString(s.text[t.start:t.end])
	follows, _ := utf8.DecodeRuneInString(s.text[next.start:])
	letter := size == int(t.end-t.start)
	return shortened.at(word, 0) > 0 || letter && (unicode.IsUpper(first) || !unicode.IsUpper(follows)) || s.numbers(i)
}

// numbers reports whether the point at token i belongs to an abbreviation with its number: "Op. 27".
// "No. 5" is one behind other words of the sentence, and a refusal at the beginning of it.
func (s *scan) numbers(i int) bool {
	if i < 1 || s.tokens[i].mark != '.' || s.tokens[i-1].kind != wordToken || s.tokens[i+1].kind != numberToken {
		return false
	}
	t := &s.tokens[i-1]
	word := []string{string(s.plain[t.from:t.to])}
	begins := i == 1 || t.space == newLine || strings.ContainsRune(".!?;", s.tokens[i-2].mark)
	return numbered.at(word, 0) > 0 && !(begins && refusing.at(word, 0) > 0)
}
