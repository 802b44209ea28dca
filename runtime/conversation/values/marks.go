package values

import (
	"strings"

	"verbatim/stores"
	written "verbatim/verbs/values"
)

// Addresses, account numbers and phone numbers are made of signs, and are the
// same in every language.

// raw returns the place in the text where a lexeme begins.
func (s *scan) raw(i int) int { return int(s.tokens[s.lexemes[i].first].start) }

// upTo returns the first lexeme that begins at, or after, a place in the text.
func (s *scan) upTo(i, at int) int {
	for i < len(s.lexemes) && s.raw(i) < at {
		i++
	}
	return i
}

// begins reports that nothing which could belong to it stands before a place.
func (s *scan) begins(at int) bool {
	if at == 0 {
		return true
	}
	c := s.text[at-1]
	return c == ' ' || c == '\n' || c == '\t' || strings.IndexByte("(<[\"',;:", c) >= 0
}

const longestEmail = 254

// email reads an address of the common form, in ASCII.
func (s *scan) email(i int) (Reading, int) {
	at := s.raw(i)
	if s.lexemes[i].means[0].class == mark || !s.begins(at) {
		return Reading{}, i
	}
	text := s.text[at:min(len(s.text), at+longestEmail+1)]
	n := 0
	for n < len(text) && (alnum(text[n]) || strings.IndexByte(".!#$%&'*+/=?^_`{|}~-", text[n]) >= 0) {
		n++
	}
	if n == 0 || n > 64 || n >= len(text) || text[n] != '@' || text[n-1] == '.' || strings.Contains(text[:n], "..") {
		return Reading{}, i
	}
	m := n + 1
	label, dots := 0, 0
	for m < len(text) && (alnum(text[m]) || text[m] == '-' || text[m] == '.') {
		if text[m] == '.' {
			if label == 0 {
				return Reading{}, i
			}
			label, dots = 0, dots+1
		} else {
			label++
		}
		m++
	}
	for m > n && (text[m-1] == '.' || text[m-1] == '-') { // the sentence's own
		m--
	}
	domain := text[n+1 : m]
	top := domain[strings.LastIndexByte(domain, '.')+1:]
	if !strings.Contains(domain, ".") || len(top) < 2 || !letters(top) || m > longestEmail || m < len(text) && (text[m] == '@' || text[m] == '_' || text[m] >= 0x80) {
		return Reading{}, i
	}
	for l := range strings.SplitSeq(domain, ".") {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return Reading{}, i
		}
	}
	address, err := written.Email(text[:m])
	if err != nil {
		return Reading{}, i
	}
	return Reading{What: Email, Choice: Choice{Value: stores.NewString(address)}}, s.upTo(i, at+m)
}

func alnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func letters(text string) bool {
	for i := range len(text) {
		if c := lower(text[i]); c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// iban reads an account number, with or without groups.
func (s *scan) iban(i int) (Reading, int) {
	at := s.raw(i)
	if len(s.text)-at < 15 || !s.begins(at) || !letters(s.text[at:at+2]) || s.text[at+2] < '0' || s.text[at+2] > '9' || s.text[at+3] < '0' || s.text[at+3] > '9' {
		return Reading{}, i
	}
	want := written.IBANLength(strings.ToUpper(s.text[at : at+2]))
	if want == 0 {
		return Reading{}, i
	}
	b := make([]byte, 0, 34)
	end := at
	for end < len(s.text) && len(b) < want {
		c := s.text[end]
		if c == ' ' && end > at && s.text[end-1] != ' ' {
			end++
			continue
		}
		if !alnum(c) {
			break
		}
		b = append(b, c&^(0x20*(c>>6&1)))
		end++
	}
	r := Reading{What: IBAN}
	if len(b) < want || end < len(s.text) && alnum(s.text[end]) {
		// Something else that begins with two letters and two digits, unless it
		// is nearly as long as one.
		if len(b) < want-2 || s.text[at] > 'Z' {
			return Reading{}, i
		}
		for end < len(s.text) && alnum(s.text[end]) {
			end++
		}
		r.Problem = Checksum
		return r, s.upTo(i, end)
	}
	number, err := written.IBAN(string(b))
	if err != nil {
		r.Problem = Checksum
		return r, s.upTo(i, end)
	}
	r.Value = stores.NewString(number)
	return r, s.upTo(i, end)
}

// phone reads "+49 151 555 0199". It accepts no number without its country.
func (s *scan) phone(i int) (Reading, int) {
	at := s.raw(i)
	switch {
	case !s.marked(i, '+', '(') && !(s.are(i, number) && s.text[at] == '0'), !s.begins(at):
		return Reading{}, i
	}
	digits := make([]byte, 0, 16)
	end, groups := at, 0
	depth := 0
	for k := at; k < len(s.text) && len(digits) < 18; k++ {
		c := s.text[k]
		switch {
		case '0' <= c && c <= '9':
			if k > at && (s.text[k-1] < '0' || s.text[k-1] > '9') {
				groups++
			}
			digits = append(digits, c)
			end = k + 1
			continue
		case c == '+' && k == at:
			continue
		case c == '(' && depth == 0 && k+1 < len(s.text):
			depth = 1
			continue
		case c == ')' && depth == 1:
			depth = 0
			continue
		case (c == ' ' || c == '-' || c == '/' || c == '.') && k > at && s.text[k-1] != c:
			continue
		}
		break
	}
	if end < len(s.text) && (alnum(s.text[end]) || s.text[end] >= 0x80) {
		return Reading{}, i
	}
	r := Reading{What: Phone}
	number := string(digits)
	international := s.marked(i, '+')
	if !international && strings.HasPrefix(number, "00") {
		international, number = true, number[2:]
	}
	if !international {
		// Something with a zero in front and groups behind may be one; no other
		// number is.
		if len(digits) < 8 || len(digits) > 13 || groups == 0 || digits[0] != '0' && !s.marked(i, '(') {
			return Reading{}, i
		}
		r.Problem = NoCountry
		return r, s.upTo(i, end)
	}
	if len(number) < 8 || len(number) > 15 {
		return Reading{}, i
	}
	kept, err := written.Phone("+"+number, "")
	switch known := written.IsCalled(number); {
	case !known:
		r.Problem = NoCountry
	case err != nil:
		r.Problem = Unread
	default:
		r.Value = stores.NewString(kept)
	}
	return r, s.upTo(i, end)
}
