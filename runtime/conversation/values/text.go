package values

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A text is divided once, into words, numbers and marks, in a form in which
// capitals, accents and the width of letters make no difference. Words are then
// looked up in each language.

type tokenKind uint8

const (
	wordToken tokenKind = iota
	numberToken
	markToken
)

type token struct {
	start, end int32 // in the text
	from, to   int32 // a word or a number in scan.plain
	mark       rune
	kind       tokenKind
	space      uint8 // the space before it
	hidden     bool  // an invisible character stands in it, or beside it
}

// What may stand between two tokens.
const (
	noSpace   uint8 = iota
	thinSpace       // a space inside a number
	oneSpace
	someSpace
	newLine
)

// longestWord is the number of significant bytes of a word; all words of the lists are shorter.
const longestWord = 80

// isHidden reports whether a character is invisible, or changes the order of other characters.
func isHidden(r rune) bool {
	switch {
	case r == 0xAD, r == 0x34F, r == 0x61C, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFEFF, r == 0xFFA0:
		return true
	case 0x180B <= r && r <= 0x180F, 0x200B <= r && r <= 0x200F, 0x202A <= r && r <= 0x202E, 0x2060 <= r && r <= 0x206F:
		return true
	case 0xFE00 <= r && r <= 0xFE0F, 0xFFF0 <= r && r <= 0xFFFB, 0xE0000 <= r && r <= 0xE0FFF, 0x1D173 <= r && r <= 0x1D17A:
		return true
	}
	return r < 0x20 && r != '\n' && r != '\r' && r != '\t' || 0x7F <= r && r < 0xA0
}

// turns says of a character that what follows, up to the end of the line, may be
// shown in another order.
func turns(r rune) bool {
	return 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069 || r == 0x200F || r == 0x61C
}

// divide fills the tokens of a scan.
func (s *scan) divide() {
	text := s.text
	s.tokens = make([]token, 0, len(text)/5+8)
	s.plain = make([]byte, 0, len(text)+8)
	var space uint8
	hidden, turned := false, false
	open := -1 // the word or number that is being read
	end := func(at int) {
		if open >= 0 {
			s.tokens[open].end = int32(at)
			s.tokens[open].to = int32(len(s.plain))
			open = -1
		}
	}
	begin := func(at int, kind tokenKind, mark rune) {
		end(at)
		s.tokens = append(s.tokens, token{start: int32(at), end: int32(at), from: int32(len(s.plain)), to: int32(len(s.plain)), kind: kind, mark: mark, space: space, hidden: hidden || turned})
		open = len(s.tokens) - 1
		space, hidden = noSpace, false
	}
	for i, n := 0, 0; i < len(text); i += n {
		r, size := utf8.DecodeRuneInString(text[i:])
		n = size
		switch {
		case r == utf8.RuneError && size == 1, isHidden(r):
			// The text around it is read as if it were not there, but gets no value: nobody knows
			// what the person saw.
			hidden = true
			turned = turned || turns(r)
			if open >= 0 {
				s.tokens[open].hidden = true
			} else if len(s.tokens) > 0 && space == noSpace {
				s.tokens[len(s.tokens)-1].hidden = true
			}
			continue
		case r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029:
			end(i)
			space, turned = newLine, false
			continue
		case r == 0xA0 || r == 0x202F || r == 0x2009:
			end(i)
			space = max(space, thinSpace)
			continue
		case unicode.IsSpace(r):
			end(i)
			if space == noSpace || space == thinSpace {
				space = oneSpace
			} else {
				space = max(space, someSpace)
			}
			continue
		}
		if 0xFF01 <= r && r <= 0xFF5E {
			r -= 0xFF01 - '!' // full width
		}
		switch {
		case '0' <= r && r <= '9':
			if open < 0 || s.tokens[open].kind != numberToken {
				begin(i, numberToken, 0)
			} else if hidden {
				s.tokens[open].hidden = true
				hidden = false
			}
			if len(s.plain)-int(s.tokens[open].from) <= longestWord {
				s.plain = append(s.plain, byte(r))
			}
		case unicode.Is(unicode.M, r):
			// An accent belongs to its letter. On anything else it may strike
			// it out.
			if open < 0 || s.tokens[open].kind != wordToken || !unicode.Is(unicode.Mn, r) || 0x334 <= r && r <= 0x338 || 0x20D0 <= r && r <= 0x20FF {
				hidden = true
				if len(s.tokens) > 0 && space == noSpace {
					s.tokens[len(s.tokens)-1].hidden = true
				}
			}
		case unicode.IsLetter(r):
			if open < 0 || s.tokens[open].kind != wordToken {
				begin(i, wordToken, 0)
			} else if hidden {
				s.tokens[open].hidden = true
				hidden = false
			}
			if len(s.plain)-int(s.tokens[open].from) <= longestWord {
				s.plain = appendPlain(s.plain, r)
			}
		default:
			begin(i, markToken, r)
			end(i + n)
		}
	}
	end(len(text))
}

// appendPlain appends a letter in lower case and without its accent. A letter of another script is
// unchanged, and so never looks like one of ours.
func appendPlain(b []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		return append(b, lower(byte(r)))
	case r == 'ß' || r == 'ẞ':
		return append(b, "ss"...)
	case r == 'œ' || r == 'Œ':
		return append(b, "oe"...)
	case r == 'º' || r == 'ª' || r == 'ſ' || r > 0x24F && (r < 0x1E00 || r > 0x1EFF):
		return utf8.AppendRune(b, unicode.ToLower(r))
	}
	var whole [utf8.UTFMax]byte
	d := norm.NFD.Properties(whole[:utf8.EncodeRune(whole[:], unicode.ToLower(r))]).Decomposition()
	if len(d) == 0 {
		return utf8.AppendRune(b, unicode.ToLower(r))
	}
	first, _ := utf8.DecodeRune(d)
	return utf8.AppendRune(b, first)
}

// Plain returns a text in lower case without accents, its words divided by
// single spaces and everything else left out: the form in which words are
// compared.
func Plain(text string) string {
	s := scan{text: text}
	s.divide()
	b := make([]byte, 0, len(s.plain)+len(s.tokens))
	for i := range s.tokens {
		if t := &s.tokens[i]; t.kind != markToken {
			if len(b) > 0 {
				b = append(b, ' ')
			}
			b = append(b, s.plain[t.from:t.to]...)
		}
	}
	return string(b)
}
