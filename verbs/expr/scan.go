package expr

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"verbatim/stores"
)

type tokenKind uint8

const (
	end tokenKind = iota
	word
	number
	quotation // text is the content of the quotes
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

// marks are operators and brackets, the longer ones first.
var marks = []string{"&&", "||", "==", "!=", "<=", ">=", "**", "??", "?.", "..", "::",
	"(", ")", "[", "]", "{", "}", ",", ";", ".", ":", "?", "+", "-", "*", "/", "%", "^", "<", ">", "=", "!", "|", "&", "#"}

// next scans the next token. After an error there is none.
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
	p.syntax(from, from+size, "an expression cannot hold "+strconv.Quote(s[from:from+size]), "not expected here")
}

func (p *parser) emit(kind tokenKind, to int) {
	p.tok = token{kind, p.text[p.at:to], p.at, to}
	p.at = to
}

// blanks skips spaces and comments.
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
				p.syntax(p.at, len(p.text), "the text ends inside a comment", "a comment ends with */")
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

// wordEnd returns the end of the letters, digits and underscores from i on.
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

// number scans everything that looks like a number, and then accepts only plain ones: 12, 0.50.
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

// quotation scans text in quotes of either kind, with escapes, or between backticks, where two
// stand for one.
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
			p.syntax(from, i, "the text ends inside quotes", "a quotation mark is not closed")
			return
		case c == '\r' && quote != '`':
			b.WriteByte('\n')
			i++
		case c == '\\' && quote != '`':
			r, size := escape(s[i:], quote)
			if size == 0 {
				_, size = utf8.DecodeRuneInString(s[i+1:])
				p.syntax(i, i+1+size, "nothing is written as "+s[i:i+1+size], `a backslash is written \\`)
				return
			}
			if utf16.IsSurrogate(r) {
				p.syntax(i, i+size, s[i:i+size]+" is a lone surrogate, which is no character", `write the character itself, or its whole number: \u{1f600}`)
				return
			}
			b.WriteRune(r)
			i += size
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b.WriteRune(r)
			i += size
		}
	}
	p.syntax(from, len(s), "the text ends inside quotes", "a quotation mark is not closed")
}

// escape reads an escape that begins with a backslash: a character by a letter or by its number,
// which may be that of a surrogate.
func escape(s string, quote byte) (r rune, size int) {
	hex, _, closed := strings.Cut(strings.TrimPrefix(s, `\u{`), "}")
	switch {
	case strings.HasPrefix(s, `\u{`) && closed && len(hex) <= 6:
		size = len(`\u{}`) + len(hex)
	case strings.HasPrefix(s, `\u`) && len(s) >= 6:
		hex, size = s[2:6], 6
	case strings.HasPrefix(s, `\U0000`) && len(s) >= 10:
		hex, size = s[6:10], 10
	default:
		r, _, rest, err := strconv.UnquoteChar(s, quote)
		if err != nil {
			return 0, 0
		}
		return r, len(s) - len(rest)
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || n > unicode.MaxRune {
		return 0, 0
	}
	return rune(n), size
}
