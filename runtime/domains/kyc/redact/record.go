package redact

import (
	"slices"
	"strings"
	"unicode/utf8"

	"verbatim/stores/search"
)

// valued is the greatest length of a value of a record, squeezed, in bytes.
const valued = 128

// A record is a Record prepared for the search: its values squeezed, in each spelling.
type record struct {
	*automaton
	kinds []Kind
	sizes []int
}

// People write umlauts in two ways, and a record may have either.
var (
	oneLetter = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u", "aa", "a", "Ae", "a", "Oe", "o", "Ue", "u", "Aa", "a")
	atAndDot  = strings.NewReplacer("@", " at ", ".", " dot ")
)

// compile returns nil for a record without values.
func compile(r Record) *record {
	var c record
	var words []string
	known := map[string]bool{}
	add := func(kind Kind, least int, text string) {
		if w := squeeze(text); len(w) >= least && len(w) <= valued && !known[w] {
			known[w] = true
			words, c.kinds, c.sizes = append(words, w), append(c.kinds, kind), append(c.sizes, len(w))
		}
	}
	for _, name := range r.Names {
		for _, name := range append(search.Spelled(name), name, oneLetter.Replace(name)) {
			for _, spelling := range spellings(name) {
				add(Name, 3, spelling)
				add(Name, 4, spelling+"s") // a genitive
			}
		}
	}
	for _, phone := range r.Phones {
		digits := national(phone)
		add(Phone, 6, digits)
		if len(digits) == 10 && digits[0] >= '2' {
			add(Phone, 6, digits[3:]) // without the area, in America
		}
	}
	for _, email := range r.Emails {
		add(Email, 3, email)
		add(Email, 3, strings.Replace(email, "@", " at ", 1))
		add(Email, 3, atAndDot.Replace(email))
	}
	for _, id := range r.IDs {
		add(ID, 3, id)
	}
	if len(words) == 0 {
		return nil
	}
	c.automaton = newAutomaton(words)
	return &c
}

// spellings puts the words of a name into each order that people write them in.
func spellings(name string) []string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	n := len(words)
	if n < 2 {
		return words
	}
	var all []string
	for i := range words {
		all = append(all, strings.Join(words[i:], "")+strings.Join(words[:i], ""))
	}
	first, last := words[0], words[n-1]
	initials := ""
	for _, w := range words[:n-1] {
		_, size := utf8.DecodeRuneInString(w)
		initials += w[:size]
	}
	_, size := utf8.DecodeRuneInString(first)
	all = append(all, first+last, last+first, first[:size]+last, last+first[:size], initials+last, last+initials)
	slices.Reverse(words)
	return append(all, strings.Join(words, ""))
}

// national returns the digits of a telephone number without the prefix of a country, and without the
// zero that replaces it.
func national(phone string) string {
	phone = strings.ReplaceAll(phone, "(0)", "")
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, phone)
	rest, abroad := strings.CutPrefix(digits, "00")
	if abroad = abroad || strings.HasPrefix(strings.TrimSpace(phone), "+"); abroad {
		return strings.TrimPrefix(rest[min(len(rest), callingCode(rest)):], "0")
	}
	if len(digits) == 11 && digits[0] == '1' {
		return digits[1:]
	}
	return strings.TrimPrefix(digits, "0")
}

// callingCode returns the number of digits of the country code at the beginning of a number, as in
// E.164.
func callingCode(digits string) int {
	switch {
	case digits == "":
		return 0
	case digits[0] == '1' || digits[0] == '7':
		return 1
	case len(digits) > 1 && strings.Contains(" 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98 ", " "+digits[:2]+" "):
		return 2
	}
	return 3
}

// A recordReader reads a text letter by letter, and skips the characters between letters.
type recordReader struct {
	state  int32
	unread bool
	inside bool // a word
	n      int
	ring   [valued]place
}

// A place is the origin of a byte of the squeezed text.
type place struct {
	from, to int
	c        byte
	start    bool
}

// values finds the values of the record.
func (s *scanner) values(text string) {
	r := &s.read
	if s.record == nil {
		return
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case isAlnum(c):
			s.value(lower(c), i, i+1)
			i++
		case c == '[' && replacement(text[i:]) > 0:
			s.leave()
			r.state = 0
			i += replacement(text[i:])
		case c < utf8.RuneSelf:
			s.leave()
			i++
		default:
			shown, n := utf8.DecodeRuneInString(text[i:])
			ascii, letters, is := fold(shown, text[i:i+n])
			switch {
			case is == foreign:
				for _, c := range []byte(strings.ToLower(string(shown))) {
					s.value(c, i, i+n)
				}
			case is == plain && isAlnum(ascii[0]):
				for _, c := range ascii[:letters] {
					if isAlnum(c) {
						s.value(c, i, i+n)
					}
				}
			case is != invisible:
				s.leave()
			}
			i += n
		}
	}
	s.leave()
}

// leave ends a word of the text.
func (s *scanner) leave() {
	if s.read.inside {
		s.read.inside = false
		s.settle(true)
	}
}

func (s *scanner) value(c byte, from, to int) {
	r := &s.read
	s.settle(!r.inside)
	r.n++
	r.ring[r.n%valued] = place{from, to, c, !r.inside}
	r.inside = true
	r.state = s.record.step(r.state, c)
	r.unread = len(s.record.ends[r.state]) > 0
}

// settle looks at the values that end with the last letter, once it is known whether
// its word ends.
func (s *scanner) settle(ends bool) {
	r := &s.read
	if !r.unread || !ends {
		r.unread = false
		return
	}
	r.unread = false
	for _, w := range s.record.ends[r.state] {
		begin := r.n - s.record.sizes[w] + 1
		first := r.ring[begin%valued]
		from := first.from
		if s.record.kinds[w] == Phone {
			from = r.prefixed(begin)
		} else if !first.start {
			from = -1
		}
		if to := r.ring[r.n%valued].to; from >= 0 && to-from <= span {
			s.all = append(s.all, Finding{s.record.kinds[w], from, to})
			s.ends = append(s.ends, to)
		}
	}
}

// prefixed returns the start of a telephone number whose digits after the prefix of a country begin
// with the begin-th letter, or -1 if other digits stand before them.
func (r *recordReader) prefixed(begin int) int {
	first := r.ring[begin%valued]
	from, digits := -1, ""
	if first.start {
		from = first.from
	}
	for i, after := begin-1, first.from; i > 0 && i > r.n-valued && i >= begin-6; i-- {
		p := r.ring[i%valued]
		if !isDigit(p.c) || after-p.to > 2 {
			break
		}
		digits, after = string(p.c)+digits, p.from
		if code := strings.TrimPrefix(digits, "00"); p.start && (digits == "0" || code != "" && code[0] != '0' && (len(code) == callingCode(code) || len(code) == callingCode(code)+1 && code[len(code)-1] == '0')) {
			from = p.from
		}
	}
	return from
}
