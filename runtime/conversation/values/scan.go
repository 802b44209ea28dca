package values

import (
	"time"
	"unicode"

	"verbatim/stores"
)

// A scan is one text being read.
type scan struct {
	text   string
	tokens []token
	plain  []byte
	now    time.Time
	today  int64 // days since 1970-01-01

	house    *house
	language Language
	sole     bool // there is no other language that it could be in
	day      bool // see In
	lexicon  *lexicon
	lexemes  []lexeme
	solid    int // how many of them are no marks
	key      []byte
}

// A lexeme is a word or several that mean one thing, a number or a mark.
type lexeme struct {
	first, last int32 // tokens
	means       [2]entry
	num         int32 // the value of digits, -1 for more than nine of them
	digits      uint8
	mark        rune
}

func newScan(text string, now time.Time, h *house) *scan {
	s := &scan{text: text, now: now, house: h, today: stores.DateOf(now).Days()}
	s.divide()
	return s
}

// look finds the words of the language among the tokens, the longest first.
func (s *scan) look(l Language) {
	s.language, s.lexicon = l, s.house.tongues[l].lexicon
	if s.lexemes == nil {
		s.lexemes = make([]lexeme, 0, len(s.tokens))
	}
	s.lexemes = s.lexemes[:0]
	for i := 0; i < len(s.tokens); {
		t := &s.tokens[i]
		x := lexeme{first: int32(i), last: int32(i), num: -1}
		switch t.kind {
		case markToken:
			x.mark, x.means[0].class = t.mark, mark
		case numberToken:
			x.means[0].class = number
			x.digits = uint8(t.to - t.from)
			if x.digits <= 9 {
				x.num = 0
				for _, c := range s.plain[t.from:t.to] {
					x.num = 10*x.num + int32(c-'0')
				}
			}
		default:
			if x.means, x.last = s.longest(i); x.means[0].class == none {
				x.means = s.compound(string(s.plain[t.from:t.to]))
			}
		}
		s.lexemes = append(s.lexemes, x)
		i = int(x.last) + 1
	}
	s.compose()
}

// longest finds the longest entry that begins with a word. Its words may be
// joined by a space, a hyphen or an apostrophe.
func (s *scan) longest(i int) (means [2]entry, last int32) {
	t := &s.tokens[i]
	s.key = append(s.key[:0], s.plain[t.from:t.to]...)
	last = int32(i)
	most := s.lexicon.longest[string(s.key)]
	if most == 0 {
		return means, last
	}
	means = s.lexicon.entries[string(s.key)]
	for words, j := 1, i+1; words < most && j < len(s.tokens); words++ {
		if c := s.tokens[j].mark; (c == '-' || c == '\'' || c == '’') && s.tokens[j].space == noSpace && j+1 < len(s.tokens) && s.tokens[j+1].space == noSpace {
			j++
		}
		next := &s.tokens[j]
		if next.kind != wordToken || next.space == newLine {
			break
		}
		s.key = append(append(s.key, ' '), s.plain[next.from:next.to]...)
		if all, ok := s.lexicon.entries[string(s.key)]; ok {
			means, last = all, int32(j)
		}
		j++
	}
	return means, last
}

// is reports whether a lexeme means something of a class, and what.
func (s *scan) is(i int, c class) (int, bool) {
	if i < 0 || i >= len(s.lexemes) {
		return 0, false
	}
	for _, e := range s.lexemes[i].means {
		if e.class == c {
			return int(e.n), true
		}
	}
	return 0, false
}

func (s *scan) are(i int, classes ...class) bool {
	for _, c := range classes {
		if _, ok := s.is(i, c); ok {
			return true
		}
	}
	return false
}

// marked reports whether a lexeme is one of some marks.
func (s *scan) marked(i int, marks ...rune) bool {
	if i < 0 || i >= len(s.lexemes) || s.lexemes[i].means[0].class != mark {
		return false
	}
	for _, m := range marks {
		if s.lexemes[i].mark == m {
			return true
		}
	}
	return false
}

// digits returns a number of some digits, which nothing but space, brackets and
// the like touches on its left.
func (s *scan) digits(i int) (n, digits int, ok bool) {
	if i < 0 || i >= len(s.lexemes) || s.lexemes[i].means[0].class != number || s.lexemes[i].num < 0 {
		return 0, 0, false
	}
	return int(s.lexemes[i].num), int(s.lexemes[i].digits), true
}

// space returns the space before a lexeme.
func (s *scan) space(i int) uint8 {
	if i < 0 || i >= len(s.lexemes) {
		return newLine
	}
	return s.tokens[s.lexemes[i].first].space
}

// tight reports that a lexeme follows the one before it without a space.
func (s *scan) tight(i int) bool { return i > 0 && i < len(s.lexemes) && s.space(i) == noSpace }

// at returns the range of the lexemes from i to before j.
func (s *scan) at(i, j int) Range {
	return Range{int(s.tokens[s.lexemes[i].first].start), int(s.tokens[s.lexemes[j-1].last].end)}
}

// hidden reports whether something that cannot be seen stands among lexemes.
func (s *scan) hidden(i, j int) bool {
	last := int(s.lexemes[j-1].last)
	for t := int(s.lexemes[i].first); t <= last; t++ {
		if s.tokens[t].hidden {
			return true
		}
	}
	return false
}

// read reads everything that the text says in one language.
func (s *scan) read(l Language, sole bool) (all []Reading, more bool) {
	s.look(l)
	s.sole = sole
	at := 0 // the lexeme after the last reading
	for i := 0; i < len(s.lexemes); {
		if !s.begin(i) {
			i++
			continue
		}
		best, end := Reading{}, i
		for _, recognize := range recognizers {
			if r, j := recognize(s, i); j > end {
				best, end = r, j
			}
		}
		if end == i {
			i++
			continue
		}
		if len(all) > MaxReadings {
			return all, true
		}
		best.Range = s.at(i, end)
		if best.Problem == 0 && s.hidden(i, end) {
			best.fail(Hidden, 0)
		}
		if best.What == Date {
			s.surroundings(&best, i, end)
			if n := len(all); n > 0 && all[n-1].What == Date && s.join(&all[n-1], &best, at, i) {
				i, at = end, end
				continue
			}
		}
		all = append(all, best)
		i, at = end, end
	}
	return all, false
}

// recognizers each read one kind of thing that begins at a lexeme. Where two
// read equally far, the first is right.
var recognizers = [...]func(s *scan, i int) (Reading, int){
	(*scan).date, (*scan).email, (*scan).iban, (*scan).phone, (*scan).percent, (*scan).money, (*scan).country, (*scan).plainNumber,
}

// begin reports whether anything can begin at a lexeme, so that not everything
// is tried at every mark of a text.
func (s *scan) begin(i int) bool {
	x := &s.lexemes[i]
	switch x.means[0].class {
	case number:
		return s.free(i)
	case mark:
		switch x.mark {
		case '-', '−', '+', '(':
			return !s.tight(i) || s.free(i)
		case ',', '.':
			return !s.tight(i) && s.tight(i+1) && s.are(i+1, number)
		}
		return unicode.IsNumber(x.mark) || shared[string(x.mark)] != nil
	}
	return true
}
