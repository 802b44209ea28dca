package sqlite

import (
	"strings"

	"verbatim/stores"
)

// A token is a piece of an author's query.
type token struct {
	kind  tokenKind
	text  string // as written
	name  string // of a name or a string: without quotes, escapes undone
	start int    // offset in the query
}

type tokenKind uint8

const (
	word     tokenKind = iota // unquoted: a keyword or a name
	quoted                    // "name", `name` or [name]
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

// naming reports whether the token can name something. SQLite takes a 'string'
// for a name wherever only a name can stand.
func (t token) naming() bool {
	return t.kind == word || t.kind == quoted || t.kind == constant && t.text[0] == '\''
}

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// lex splits a query as SQLite does, and leaves comments out. The last token is
// of kind end.
func lex(s string) ([]token, *stores.SQLError) {
	fail := func(at int, msg string) ([]token, *stores.SQLError) {
		return nil, &stores.SQLError{Offset: at, Msg: msg}
	}
	var toks []token
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
			if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(s)
			}
		case strings.HasPrefix(s[i:], "/*"):
			n := strings.Index(s[i+2:], "*/")
			if n < 0 {
				return fail(start, "a comment that is never closed")
			}
			i += n + 4
		case c == '\'' || c == '"' || c == '`' || c == '[':
			name, end := quotedText(s, i)
			switch {
			case end < 0 && c == '\'':
				return fail(start, "a text that is never closed")
			case end < 0:
				return fail(start, "a name that is never closed")
			case c == '\'':
				add(constant, end, name)
			default:
				add(quoted, end, name)
			}
		case digit(c) || c == '.' && i+1 < len(s) && digit(s[i+1]):
			j := i + 1
			for j < len(s) && (digit(s[j]) || nameStart(s[j]) || s[j] == '.' || (s[j] == '+' || s[j] == '-') && (s[j-1] == 'e' || s[j-1] == 'E') && !strings.HasPrefix(s[i:], "0x")) {
				j++
			}
			add(constant, j, "")
		case nameStart(c):
			j := i + 1
			for j < len(s) && (nameStart(s[j]) || digit(s[j]) || s[j] == '$') {
				j++
			}
			add(word, j, s[i:j])
		case c == ':' && i+1 < len(s) && nameStart(s[i+1]):
			j := i + 2
			for j < len(s) && (nameStart(s[j]) || digit(s[j])) {
				j++
			}
			add(param, j, s[i+1:j])
		case c == ';':
			return fail(start, "a query is one statement, without a semicolon")
		case c == '?' || c == '@' || c == '$' || c == ':':
			return fail(start, "an argument is written :name")
		case strings.IndexByte("()+-*/%<>=!&|~,.", c) >= 0:
			j := i + 1
			for _, op := range [...]string{"->>", "->", "||", "<=", ">=", "<>", "==", "!=", "<<", ">>"} {
				if strings.HasPrefix(s[i:], op) {
					j = i + len(op)
					break
				}
			}
			add(mark, j, "")
		default:
			return fail(start, "a character that has no meaning in a query")
		}
	}
	return append(toks, token{kind: end, start: len(s)}), nil
}

// quotedText reads what begins with the quote at i and returns the offset after
// it, -1 when it does not end.
func quotedText(s string, i int) (string, int) {
	quote := s[i]
	if quote == '[' {
		n := strings.IndexByte(s[i:], ']')
		if n < 0 {
			return "", -1
		}
		return s[i+1 : i+n], i + n + 1
	}
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
