package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/verbs/values"
)

// numbers looks for everything that has digits or an @.
func (s *scanner) numbers(text string) {
	for i := 0; i < len(text); {
		c := text[i]
		is, n := byteSorts[c], 1
		if c >= utf8.RuneSelf {
			var shown rune
			shown, n = utf8.DecodeRuneInString(text[i:])
			ascii, letters, kind := fold(shown, text[i:i+n])
			switch {
			case kind == invisible:
				i += n
				continue
			case kind == plain && letters > 0 && isDigit(ascii[0]):
				is = digitByte
			case kind == foreign || kind == plain && isAlnum(ascii[0]):
				is = letterByte
			}
		}
		switch is {
		case letterByte:
			if s.token < 0 {
				s.token, s.known = i, false
			}
		case digitByte:
			if s.token < 0 {
				s.token, s.known = i, false
			}
			if s.known {
				break
			}
			s.known = true
			if i-s.token > 40 {
				break // no such word is what we look for
			}
			if f, ok := s.number(text, i); ok {
				s.found(f)
				i = f.End
				continue
			}
		case '@':
			s.token = -1
			if f, ok := s.email(text, i); ok {
				s.found(f)
				i = f.End
				continue
			}
		case '[':
			s.token = -1
			if n := replacement(text[i:]); n > 0 {
				s.last = i + n
				i += n
				continue
			}
		default:
			s.token = -1
		}
		i += n
	}
}

const (
	letterByte = 1
	digitByte  = 2
)

var byteSorts = [256]uint8{
	'0': digitByte, '1': digitByte, '2': digitByte, '3': digitByte, '4': digitByte, '5': digitByte,
	'6': digitByte, '7': digitByte, '8': digitByte, '9': digitByte, 'a': letterByte, 'b': letterByte,
	'c': letterByte, 'd': letterByte, 'e': letterByte, 'f': letterByte, 'g': letterByte, 'h': letterByte,
	'i': letterByte, 'j': letterByte, 'k': letterByte, 'l': letterByte, 'm': letterByte, 'n': letterByte,
	'o': letterByte, 'p': letterByte, 'q': letterByte, 'r': letterByte, 's': letterByte, 't': letterByte,
	'u': letterByte, 'v': letterByte, 'w': letterByte, 'x': letterByte, 'y': letterByte, 'z': letterByte,
	'A': letterByte, 'B': letterByte, 'C': letterByte, 'D': letterByte, 'E': letterByte, 'F': letterByte,
	'G': letterByte, 'H': letterByte, 'I': letterByte, 'J': letterByte, 'K': letterByte, 'L': letterByte,
	'M': letterByte, 'N': letterByte, 'O': letterByte, 'P': letterByte, 'Q': letterByte, 'R': letterByte,
	'S': letterByte, 'T': letterByte, 'U': letterByte, 'V': letterByte, 'W': letterByte, 'X': letterByte,
	'Y': letterByte, 'Z': letterByte, '@': '@', '[': '[',
}

func (s *scanner) found(f Finding) {
	s.all = append(s.all, f)
	s.last, s.token = f.End, -1
}

// replacement says how long the replacement is that a text begins with, or 0.
func replacement(text string) int {
	for _, kind := range redacted {
		if n := len(kind) + 2; len(text) >= n && text[n-1] == ']' && text[0] == '[' && text[1:n-1] == string(kind) {
			return n
		}
	}
	return 0
}

// border returns the end of the last finding that ends at or before an offset.
func (s *scanner) border(at int) int {
	n := 0
	for n < len(s.ends) && s.ends[n] <= at {
		s.last = max(s.last, s.ends[n])
		n++
	}
	s.ends = s.ends[n:]
	return s.last
}

// email finds an address around an @.
func (s *scanner) email(text string, at int) (Finding, bool) {
	start := localPart(text, max(s.border(at), at-behind), at)
	end := domain(text[:min(len(text), at+ahead)], at+1)
	return Finding{Email, start, end}, start >= 0 && end > 0
}

// localPart returns the start of the name before an @, which has at most 64 bytes, or -1.
func localPart(text string, least, at int) int {
	start := at
	for start > least {
		c, n := utf8.DecodeLastRuneInString(text[least:start])
		if c < utf8.RuneSelf && !isAlnum(byte(c)) && !strings.ContainsRune("._%+-'", c) || c >= utf8.RuneSelf && !inWord(c, text[start-n:start]) {
			break
		}
		start -= n
	}
	if start == least && least > 0 {
		return -1 // it may go on before
	}
	for start < at && !isAlnum(text[start]) && text[start] < utf8.RuneSelf && text[start] != '_' {
		start++
	}
	if at-start > 64 || start == at {
		return -1
	}
	return start
}

// inWord reports whether a character other than ASCII ends no word.
func inWord(c rune, s string) bool {
	ascii, _, is := fold(c, s)
	return is == foreign || is == invisible || is == plain && isAlnum(ascii[0])
}

// domain returns the end of the domain that starts at an offset, or 0.
func domain(text string, start int) int {
	end, dot := 0, -1
	for i := start; i < len(text); {
		c, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == '.' || c == '-':
			if i == start || text[i-1] == '.' {
				return end
			}
			if c == '.' {
				dot = i
			}
		case c < utf8.RuneSelf && isAlnum(byte(c)) || c >= utf8.RuneSelf && inWord(c, text[i:i+n]):
			if dot > 0 && i > dot+1 {
				end = i + n
			}
		default:
			return end
		}
		i += n
	}
	return end
}

// A view is the text around a number, one character per cell.
type view struct {
	n        int
	c        [96]byte // lower-case ASCII; $ for any money, and one cell for what else there is
	from, to [96]int
	begins   bool // the first cell is the start of the text
	days     [4]day
}

const (
	otherCell = 1 + iota
	foreignCell
)

func (v *view) show(text string, from, to int) {
	v.n, v.begins = 0, from == 0
	for i := from; i < to && v.n < len(v.c); {
		c := text[i]
		if c < utf8.RuneSelf {
			v.put(lower(c), i, i+1)
			i++
			continue
		}
		shown, n := utf8.DecodeRuneInString(text[i:min(len(text), to)])
		switch ascii, letters, is := fold(shown, text[i:i+n]); is {
		case plain:
			for _, c := range ascii[:letters] {
				v.put(c, i, i+n)
			}
		case foreign:
			v.put(foreignCell, i, i+n)
		case gap:
			mark := byte(otherCell)
			if unicode.Is(unicode.Sc, shown) {
				mark = '$'
			}
			v.put(mark, i, i+n)
		}
		i += n
	}
}

func (v *view) put(c byte, from, to int) {
	if v.n < len(v.c) {
		v.c[v.n], v.from[v.n], v.to[v.n] = c, from, to
		v.n++
	}
}

// at returns the cell with a number, or 0.
func (v *view) at(i int) byte {
	if i < 0 || i >= v.n {
		return 0
	}
	return v.c[i]
}

func (v *view) word(i int) bool { return isAlnum(v.at(i)) || v.at(i) == foreignCell }

// free reports whether the cells from i to before j stand alone: they are no part of a longer
// number, of a decimal, a date, a version or a name with hyphens.
func (v *view) free(i, j int) bool {
	switch c := v.at(i - 1); {
	case i == 0:
		if !v.begins {
			return false
		}
	case v.word(i - 1):
		return false
	case c == '/' || c == ',':
		if i > 1 && isDigit(v.at(i-2)) && !v.long(i-5) {
			return false
		}
	case strings.IndexByte(".-_:'", c) >= 0:
		if i == 1 && !v.begins || isDigit(v.at(i-2)) {
			return false
		}
		for k := i - 2; (c == '-' || c == '_') && (v.word(k) || v.at(k) == c); k-- {
			if isDigit(v.at(k)) || k == 0 && !v.begins {
				return false // of a UUID
			}
		}
	case c == '$' || c == ' ' && v.at(i-2) == '$':
		return false
	}
	if v.word(j) || v.at(j) == '%' || v.at(j) == '$' || v.at(j) == ' ' && v.at(j+1) == '$' {
		return false
	}
	if c := v.at(j); c != 0 && strings.IndexByte(".-_/:,'", c) >= 0 {
		return !isDigit(v.at(j+1)) && v.at(j+1) != '[' || (c == '/' || c == ',') && v.long(j+1)
	}
	return true
}

// long reports whether four digits start with a cell, so that they are no fraction.
func (v *view) long(i int) bool {
	return isDigit(v.at(i)) && isDigit(v.at(i+1)) && isDigit(v.at(i+2)) && isDigit(v.at(i+3))
}

// Digits are groups of digits with the characters between them.
type digits struct {
	d    []byte // all of them
	ends []int  // the cell after each group
	upto []int  // number of digits up to the end of each group
	sep  []byte // the character before each group, 0 for a space
}

// read reads groups of digits from a cell on.
func (g *digits) read(v *view, i int) {
	g.d, g.ends, g.upto, g.sep = g.d[:0], g.ends[:0], g.upto[:0], g.sep[:0]
	sep := byte(0)
	for len(g.ends) < 12 {
		begin := i
		for isDigit(v.at(i)) && len(g.d) < 32 {
			g.d = append(g.d, v.c[i])
			i++
		}
		if i == begin || v.word(i) {
			g.d = g.d[:len(g.d)-(i-begin)]
			break
		}
		g.ends, g.upto, g.sep = append(g.ends, i), append(g.upto, len(g.d)), append(g.sep, sep)
		sep = ' '
		for begin = i; i-begin < 3 && v.at(i) != 0 && strings.IndexByte(" -./()", v.c[i]) >= 0; i++ {
			if v.c[i] != ' ' {
				sep = v.c[i]
			}
		}
		if i == begin {
			break
		}
	}
}

// shaped reports whether the first groups have these sizes, with one separator, and
// returns the cell after them.
func (g *digits) shaped(sizes ...int) (end int, ok bool) {
	if len(g.ends) < len(sizes) {
		return 0, false
	}
	before := 0
	for k, size := range sizes {
		if g.upto[k]-before != size {
			return 0, false
		}
		before = g.upto[k]
	}
	return g.ends[len(sizes)-1], true
}

// compact reads n letters and digits from a cell on, over single separators.
func (v *view) compact(i, n int) (text string, end int) {
	var b [40]byte
	k := 0
	for k < n {
		c := v.at(i)
		if !isAlnum(c) {
			if k == 0 || c != ' ' && c != '-' && c != '.' && c != '/' || !isAlnum(v.at(i+1)) {
				return "", 0
			}
			i++
			continue
		}
		b[k] = c
		i, k = i+1, k+1
	}
	return string(b[:n]), i
}

// number finds personal data around a digit. The word of the digit starts at s.token.
func (s *scanner) number(text string, at int) (Finding, bool) {
	least := max(s.border(s.token), s.token-24, 0)
	for least < s.token && !utf8.RuneStart(text[least]) {
		least++
	}
	l := &s.looker
	v := &l.view
	v.show(text, least, min(len(text), at+ahead))
	l.text, l.border, l.seen = text, s.last, -1
	i := 0
	for i < v.n && v.from[i] < s.token {
		i++
	}
	if i == v.n || s.token < s.skip || v.toEmail(i) {
		return Finding{}, false
	}
	kind, from, to := l.all(i, s)
	if kind == "" {
		return Finding{}, false
	}
	return Finding{kind, v.from[from], v.to[to-1]}, true
}

// toEmail reports whether a word is in the name before the @ of an address.
func (v *view) toEmail(i int) bool {
	for ; v.word(i) || v.at(i) != 0 && strings.IndexByte("._%+-'", v.at(i)) >= 0; i++ {
	}
	if v.at(i) != '@' {
		return false
	}
	return domain(string(v.c[:v.n]), i+1) > 0
}

// A looker looks at one number, and at the words beside it if it has to.
type looker struct {
	view
	digits
	text   string
	border int // end of the finding before
	seen   int // the cell that said belongs to, or -1
	said   label
}

func (l *looker) before(i int) label {
	if l.seen != i {
		from := l.from[i]
		l.seen, l.said = i, before(l.text[max(l.border, from-behind, 0):from])
	}
	return l.said
}

func (l *looker) after(j int, wanted label, words int) bool {
	to := l.to[j-1]
	return after(l.text[to:min(len(l.text), to+48)], wanted, words)
}

// all tries the certain kinds first.
func (l *looker) all(i int, s *scanner) (kind Kind, from, to int) {
	v, g := &l.view, &l.digits
	starts := [2]int{i, i}
	if v.at(i-1) == ' ' || v.at(i-1) == '-' { // letters that belong to the number: "QQ 12 34 56 C"
		j := i - 1
		for j > 0 && isLower(v.at(j-1)) && i-j < 5 {
			j--
		}
		if n := i - 1 - j; n > 0 && n < 4 && !v.word(j-1) {
			starts[1] = j
		}
	}
	for _, j := range starts {
		if to := v.iban(j); to > 0 && v.free(j, to) {
			return IBAN, j, to
		}
		if to := v.taxLetters(j); to > 0 && v.free(j, to) {
			return Tax, j, to
		}
	}
	if !isDigit(v.at(i)) {
		return "", 0, 0
	}
	g.read(v, i)
	if to := g.card(); to > 0 && v.free(i, to) {
		return Card, i, to
	}
	if from, to, days := v.date(i, true); to > 0 && v.free(from, to) {
		if kind := l.dated(from, to, days, s.dates); kind != "" {
			return kind, from, to
		}
		if to-i != 8 || !v.long(i+4) { // eight digits alone are hardly a date
			s.skip = v.to[to-1]
			return "", 0, 0
		}
	}
	if len(g.ends) == 0 {
		return "", 0, 0
	}
	if kind, to := g.certain(); to > 0 && v.free(i, to) {
		return kind, i, to
	}
	if from, to := l.phone(i, g); to > 0 {
		return Phone, from, to
	}
	if kind, to := l.labelled(i, g); to > 0 && v.free(i, to) {
		return kind, i, to
	}
	return "", 0, 0
}

// card returns the end of a payment card's number at the start of the groups, or 0.
func (g *digits) card() int {
	for k := min(len(g.ends), 6) - 1; k >= 0; k-- {
		d := g.d[:g.upto[k]]
		if len(d) < 13 || len(d) > 19 || k > 0 && (g.upto[0] != 4 || g.sep[k] != ' ' && g.sep[k] != '-') {
			continue
		}
		fits := false
		switch n := len(d); {
		case d[0] == '4':
			fits = n == 13 || n == 16 || n == 19
		case d[0] == '5' || d[0] == '2' && string(d[:4]) >= "2221" && string(d[:4]) <= "2720":
			fits = n == 16
		case string(d[:2]) == "34" || string(d[:2]) == "37":
			fits = n == 15
		case string(d[:2]) == "36" || string(d[:2]) == "38" || string(d[:2]) == "30":
			fits = n == 14 || n == 16
		case string(d[:2]) == "35":
			fits = n == 16
		case d[0] == '6':
			fits = n >= 16
		}
		if fits && luhn(d) {
			return g.ends[k]
		}
	}
	return 0
}

func luhn(d []byte) bool {
	sum := 0
	for i := range d {
		n := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			n *= 2
		}
		sum += n/10 + n%10
	}
	return sum%10 == 0
}

// iban says where an IBAN ends that starts with a cell, or 0.
func (v *view) iban(i int) int {
	if !isLower(v.at(i)) || !isLower(v.at(i+1)) {
		return 0
	}
	n := values.IBANLength(strings.ToUpper(string(v.c[i : i+2])))
	if n == 0 {
		return 0
	}
	text, to := v.compact(i, n)
	if text == "" || !isDigit(text[2]) || !isDigit(text[3]) {
		return 0
	}
	if _, err := values.IBAN(text); err != nil {
		return 0
	}
	return to
}

// phone returns the place of a telephone number whose first digit is in a cell.
func (l *looker) phone(i int, g *digits) (from, to int) {
	v := &l.view
	if len(g.d) < 7 {
		return 0, 0
	}
	// The longest run of groups with at most so many digits.
	upTo := func(least, most int) int {
		for k := len(g.ends) - 1; k >= 0; k-- {
			if n := g.upto[k]; n >= least && n <= most && v.free(i, g.ends[k]) {
				return g.ends[k]
			}
		}
		return 0
	}
	// With the brackets around them.
	whole := func(from, to int) (int, int) {
		if to == 0 || from < i && !v.free(from, to) {
			return 0, 0
		}
		if v.at(from) == '(' && v.at(to) == ')' {
			to++
		}
		return from, to
	}
	first := g.upto[0]
	open := i
	if v.at(i-1) == '(' {
		open--
	}
	if v.at(open-1) == '+' {
		most := 13
		if g.d[0] == '1' {
			most = 11
		}
		if g.d[0] == '0' {
			return 0, 0
		}
		for k := len(g.ends) - 1; k >= 0 && v.edge(open-1); k-- {
			if n := g.upto[k]; n >= 8 && (n <= most || k == 0 && n <= 15) && v.mayEnd(g.ends[k]) {
				return open - 1, g.ends[k]
			}
		}
		return 0, 0
	}
	said := l.before(i)
	if said == otherLabel || said == dobLabel {
		return 0, 0
	}
	if first >= 2 && len(g.d) > 2 && string(g.d[:2]) == "00" && g.d[2] != '0' { // abroad
		if end := upTo(10, 15); end > 0 {
			return i, end
		}
	}
	if open < i && v.at(g.ends[0]) == ')' && first >= 2 && first <= 5 {
		for k := len(g.ends) - 1; k > 0; k-- {
			if n := g.upto[k]; n >= 8 && n <= 12 && v.mayEnd(g.ends[k]) && v.edge(open) {
				return open, g.ends[k]
			}
		}
	}
	american := func(d []byte) bool { return d[0] >= '2' && d[3] >= '2' }
	if end, ok := g.shaped(3, 3, 4); ok && v.free(i, end) && american(g.d) {
		return i, end
	}
	if end, ok := g.shaped(1, 3, 3, 4); ok && v.free(i, end) && g.d[0] == '1' && american(g.d[1:]) {
		return i, end
	}
	if end, ok := g.shaped(3, 4); ok && v.free(i, end) && (said == phoneLabel || string(g.d[:3]) == "555" && g.sep[1] == '-') {
		return i, end
	}
	price := l.after(g.ends[0], moneyLabel, 1)
	switch {
	case price:
	case first == 10 && american(g.d) && v.free(i, g.ends[0]) && g.d[0] != '0':
		return i, g.ends[0]
	case first == 11 && g.d[0] == '1' && american(g.d[1:]) && v.free(i, g.ends[0]):
		return i, g.ends[0]
	case g.d[0] == '0' && len(g.d) > 1 && g.d[1] != '0' && first >= 2:
		if end := upTo(9, 12); end > 0 && (first < 9 || first >= 10) {
			return whole(open, end)
		}
	}
	if said == phoneLabel && !price {
		return whole(open, upTo(7, 15))
	}
	return 0, 0
}

// edge reports whether no word and no replacement ends before a cell.
func (v *view) edge(i int) bool { return i == 0 && v.begins || i > 0 && !v.word(i-1) }

// mayEnd reports whether a telephone number may end before a cell.
func (v *view) mayEnd(j int) bool {
	c := v.at(j)
	return !v.word(j) && c != '%' && !((c == '-' || c == '.' || c == '_') && (isDigit(v.at(j+1)) || v.at(j+1) == '['))
}
