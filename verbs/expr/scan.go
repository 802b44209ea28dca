package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/stores"
)

type tokenKind uint8

const (
	end tokenKind = iota
	word
	number
	quotation // text is what the quotes hold
	mark
)

type token struct {
	kind     tokenKind
	text     string
	from, to int
}

// is reports whether a token is an operator or a bracket.
func (t token) is(text string) bool {
	return t.text == text && (t.kind == mark || t.kind == word)
}

// marks are the longer ones first.
var marks = []string{"&&", "||", "==", "!=", "<=", ">=", "**", "??", "?.", "..", "::",
	"(", ")", "[", "]", "{", "}", ",", ";", ".", ":", "?", "+", "-", "*", "/", "%", "^", "<", ">", "=", "!", "|", "&", "#"}

// next goes on to the token after this one. After an error there is none.
func (p *parser) next() {
	p.before = p.tok.to
	if !p.blanks() {
		return
	}
	s, from := p.text, p.at
	if from == len(s) {
		p.tok = token{kind: end, from: from, to: from}
		return
	}
	switch c := s[from]; {
	case c == '"' || c == '\'' || c == '`':
		p.quotation(c)
		return
	case digit(s, from) || c == '.' && digit(s, from+1):
		p.number()
		return
	}
	if to := wordEnd(s, from); to > from {
		p.emit(word, to)
		return
	}
	for _, m := range marks {
		if strings.HasPrefix(s[from:], m) {
			p.emit(mark, from+len(m))
			return
		}
	}
	_, size := utf8.DecodeRuneInString(s[from:])
	p.fail(strange(from, from+size, s[from:from+size]))
}

func (p *parser) emit(kind tokenKind, to int) {
	p.tok = token{kind, p.text[p.at:to], p.at, to}
	p.at = to
}

// blanks passes over spaces and comments.
func (p *parser) blanks() bool {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r):
		case strings.HasPrefix(rest, "//"):
			if size = strings.IndexByte(rest, '\n'); size < 0 {
				size = len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			if size = strings.Index(rest[2:], "*/"); size < 0 {
				p.fail(openComment(p.at, len(p.text)))
				return false
			}
			size += 4
		default:
			return true
		}
		p.at += size
	}
	return true
}

func digit(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

// wordEnd returns where the letters, digits and underscores from i on end.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i += size
	}
	return i
}

// number takes everything that looks like one, and then only what is one for
// everybody: 12, 0.50.
func (p *parser) number() {
	s, from := p.text, p.at
	if from+10 <= len(s) {
		if _, ok := stores.ParseDate(s[from : from+10]); ok {
			p.fail(bareDate(from, from+10, s[from:from+10]))
			return
		}
	}
	to := wordEnd(s, from)
	if strings.HasPrefix(s[to:], ".") && !strings.HasPrefix(s[to:], "..") {
		to = wordEnd(s, to+1)
	}
	if c := s[to-1] | 0x20; c == 'e' && to+1 < len(s) && (s[to] == '+' || s[to] == '-') && digit(s, to+1) {
		to = wordEnd(s, to+1)
	}
	whole, fraction, point := strings.Cut(s[from:to], ".")
	if !digits(whole) || len(whole) > 1 && whole[0] == '0' || point && !digits(fraction) {
		p.fail(oddNumber(from, to, s[from:to]))
		return
	}
	p.emit(number, to)
}

func digits(s string) bool {
	for i := range len(s) {
		if !digit(s, i) {
			return false
		}
	}
	return s != ""
}

// quotation takes text in quotes of either kind, with escapes, or between
// backticks, where two of them stand for one.
func (p *parser) quotation(quote byte) {
	s, from := p.text, p.at
	var b strings.Builder
	for i := from + 1; i < len(s); {
		switch c := s[i]; {
		case c == quote && quote == '`' && strings.HasPrefix(s[i+1:], "`"):
			b.WriteByte('`')
			i += 2
		case c == quote:
			p.tok = token{quotation, b.String(), from, i + 1}
			p.at = i + 1
			return
		case c == '\n' && quote != '`':
			p.fail(openQuote(from, i))
			return
		case c == '\r' && quote != '`':
			b.WriteByte('\n')
			i++
		case c == '\\' && quote != '`':
			r, size := escape(s[i+1:], quote)
			if size == 0 {
				_, size = utf8.DecodeRuneInString(s[i+1:])
				p.fail(badEscape(i, i+1+size, s[i:i+1+size]))
				return
			}
			b.WriteRune(r)
			i += 1 + size
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b.WriteRune(r)
			i += size
		}
	}
	p.fail(openQuote(from, len(s)))
}

// escape reads what follows a backslash: a letter that stands for a character,
// or the number of one. Size is 0 when it is neither.
func escape(s string, quote byte) (r rune, size int) {
	if s == "" {
		return 0, 0
	}
	if i := strings.IndexByte(`abfnrtv\`, s[0]); i >= 0 {
		return rune("\a\b\f\n\r\t\v\\"[i]), 1
	}
	base, least, most, from := 16, 0, 0, 1
	switch {
	case s[0] == quote:
		return rune(quote), 1
	case s[0] >= '0' && s[0] <= '3':
		base, least, most, from = 8, 3, 3, 0
	case s[0] == 'x':
		least, most = 2, 2
	case s[0] == 'u' && strings.HasPrefix(s[1:], "{"):
		least, most, from = 1, 6, 2
	case s[0] == 'u':
		least, most = 4, 4
	case s[0] == 'U':
		least, most = 8, 8
	}
	for size = from; size < len(s) && size-from < most; size++ {
		d := strings.IndexByte("0123456789abcdef0123456789ABCDEF", s[size])
		if d %= 16; d < 0 || d >= base {
			break
		}
		if r = r*rune(base) + rune(d); r > unicode.MaxRune {
			return 0, 0
		}
	}
	if size-from < least || most == 0 {
		return 0, 0
	}
	if from == 2 {
		if !strings.HasPrefix(s[size:], "}") {
			return 0, 0
		}
		size++
	}
	return r, size
}
