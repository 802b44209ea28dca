package postgres

import (
	"strings"
	"unicode/utf8"

	"verbatim/stores"
)

// A token is a piece of an author's query.
type token struct {
	kind  tokenKind
	text  string // as written
	name  string // of a name or a string: without quotes, escapes undone; of a word, in lower case
	start int    // offset in the query
}

type tokenKind uint8

const (
	word     tokenKind = iota // unquoted: a keyword or a name
	quoted                    // "name"
	constant                  // 'text', a number
	param                     // :name
	mark                      // an operator or a bracket
	end                       // after the last
)

// is reports whether the token is a keyword or a mark.
func (t token) is(words ...string) bool {
	if t.kind != word && t.kind != mark {
		return false
	}
	for _, w := range words {
		if strings.EqualFold(t.text, w) {
			return true
		}
	}
	return false
}

// naming reports whether the token can name something.
func (t token) naming() bool { return t.kind == word || t.kind == quoted }

func (t token) isText() bool { return t.kind == constant && t.text[0] == '\'' }

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// marks are the operators that a query may use, longest first. PostgreSQL would
// read a run of such characters as one operator; they are written apart for it.
var marks = [...]string{"#>>", "->>", "->", "#>", "@>", "<@", "?|", "?&", "||", "<=", ">=", "<>", "!=", "::",
	"(", ")", "[", "]", "+", "-", "*", "/", "%", "<", ">", "=", "?", ",", "."}

// maxName is how long a name may be before PostgreSQL cuts it.
const maxName = 63

// lex splits a query as PostgreSQL does, and leaves comments out. The last token
// is of kind end. What PostgreSQL reads in different ways by its settings is
// refused, or written so that it reads it in one.
func lex(s string) ([]token, *stores.SQLError) {
	fail := func(at int, msg string) ([]token, *stores.SQLError) {
		return nil, &stores.SQLError{Offset: at, Msg: msg}
	}
	if !utf8.ValidString(s) {
		return fail(0, "the query is not UTF-8")
	}
	var toks []token
next:
	for i := 0; i < len(s); {
		start, c := i, s[i]
		add := func(kind tokenKind, end int, name string) {
			toks = append(toks, token{kind, s[start:end], name, start})
			i = end
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			i++
		case strings.HasPrefix(s[i:], "--"):
			if n := strings.IndexAny(s[i:], "\n\r"); n >= 0 {
				i += n
			} else {
				i = len(s)
			}
		case strings.HasPrefix(s[i:], "/*"):
			depth := 0
			for {
				switch {
				case i >= len(s):
					return fail(start, "a comment that is never closed")
				case strings.HasPrefix(s[i:], "/*"):
					depth++
					i += 2
				case strings.HasPrefix(s[i:], "*/"):
					depth--
					i += 2
				default:
					i++
				}
				if depth == 0 {
					break
				}
			}
		case c == '\'' || c == '"':
			name, end := quotedText(s, i)
			switch {
			case end < 0 && c == '\'':
				return fail(start, "a text that is never closed")
			case end < 0:
				return fail(start, "a name that is never closed")
			case c == '\'':
				add(constant, end, name)
			case name == "" || len(name) > maxName:
				return fail(start, "a name has between one and 63 bytes")
			default:
				add(quoted, end, name)
			}
		case digit(c) || c == '.' && i+1 < len(s) && digit(s[i+1]):
			j := i + 1
			for j < len(s) && (digit(s[j]) || s[j] == '.' || s[j] == 'e' || s[j] == 'E' || (s[j] == '+' || s[j] == '-') && (s[j-1] == 'e' || s[j-1] == 'E')) {
				j++
			}
			if j < len(s) && nameStart(s[j]) {
				return fail(start, "a number runs into a word")
			}
			add(constant, j, "")
		case nameStart(c):
			j := i + 1
			for j < len(s) && (nameStart(s[j]) || digit(s[j]) || s[j] == '$') {
				j++
			}
			if j-i > maxName {
				return fail(start, "a name has between one and 63 bytes")
			}
			add(word, j, lowerASCII(s[i:j]))
		case c == ':' && i+1 < len(s) && nameStart(s[i+1]):
			j := i + 2
			for j < len(s) && (nameStart(s[j]) || digit(s[j])) {
				j++
			}
			add(param, j, s[i+1:j])
		case c == ';':
			return fail(start, "a query is one statement, without a semicolon")
		default:
			for _, m := range marks {
				if strings.HasPrefix(s[i:], m) {
					add(mark, i+len(m), "")
					continue next
				}
			}
			if c == '$' || c == ':' {
				return fail(start, "an argument is written :name")
			}
			return fail(start, "a character that has no meaning in a query")
		}
	}
	return append(toks, token{kind: end, start: len(s)}), nil
}

// lowerASCII folds a name as PostgreSQL does in UTF-8.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// quotedText reads what begins with the quote at i and returns the offset after
// it, -1 when it does not end. A backslash means itself: what is written for it
// says so.
func quotedText(s string, i int) (string, int) {
	quote := s[i]
	var b strings.Builder
	for j := i + 1; j < len(s); j++ {
		if s[j] != quote {
			b.WriteByte(s[j])
			continue
		}
		if j+1 < len(s) && s[j+1] == quote {
			b.WriteByte(quote)
			j++
			continue
		}
		return b.String(), j + 1
	}
	return "", -1
}
