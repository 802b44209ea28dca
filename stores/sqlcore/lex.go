package sqlcore

import (
	"slices"
	"strings"

	"verbatim/stores"
)

// A Token is a piece of an author's query.
type Token struct {
	Kind  TokenKind
	Text  string // as written
	Name  string // the name or text without quotes and escapes, as the database compares it
	Start int    // offset in the query
	names bool
}

// TokenKind is the kind of a Token.
type TokenKind uint8

// The kinds of tokens.
const (
	Word     TokenKind = iota // unquoted: a keyword or a name
	Quoted                    // a name in quotes
	Constant                  // 'text', a number
	Param                     // :name
	Mark                      // an operator or a bracket
	End                       // after the last
)

// Is reports whether the token is a keyword or a mark.
func (t Token) Is(words ...string) bool {
	if t.Kind != Word && t.Kind != Mark {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(t.Text, w) })
}

// Naming reports whether the token can name something.
func (t Token) Naming() bool { return t.names }

// IsText reports whether the token is a text.
func (t Token) IsText() bool { return t.Kind == Constant && t.Text[0] == '\'' }

// A Syntax says how a database splits SQL into tokens.
type Syntax struct {
	Quotes   string   // characters that can begin a quoted name
	LineEnds string   // characters that end a comment that begins with two dashes
	Nested   bool     // a comment may hold another
	Marks    []string // operators and brackets that a query may use, longest first
	Params   string   // characters that begin a parameter in the database, and are refused here
	MaxName  int      // greatest length of a name in bytes; then a name has at least one. 0 is any length
	// Words says that letters may stand in a number and that a text can name something; the
	// database itself checks those.
	Words bool
	Plain func(string) string // normalizes a name without quotes; nil leaves it as it is
}

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// Lower returns a name with its ASCII letters in lower case, as SQLite's lower and PostgreSQL in UTF-8
// fold it.
func Lower(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// Lex splits a query as the database does, and leaves comments out. The last token has kind End.
func (x *Syntax) Lex(s string) ([]Token, *stores.SQLError) {
	fail := func(at int, msg string) ([]Token, *stores.SQLError) {
		return nil, &stores.SQLError{Offset: at, Msg: msg}
	}
	var toks []Token
next:
	for i := 0; i < len(s); {
		start, c := i, s[i]
		add := func(kind TokenKind, end int, name string) {
			toks = append(toks, Token{kind, s[start:end], name, start, kind == Word || kind == Quoted || x.Words && c == '\''})
			i = end
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			i++
		case strings.HasPrefix(s[i:], "--"):
			if n := strings.IndexAny(s[i:], x.LineEnds); n >= 0 {
				i += n
			} else {
				i = len(s)
			}
		case strings.HasPrefix(s[i:], "/*"):
			i += 2
			for depth := 1; depth > 0; {
				switch {
				case i >= len(s):
					return fail(start, "a comment that is never closed")
				case strings.HasPrefix(s[i:], "*/"):
					depth--
					i += 2
				case x.Nested && strings.HasPrefix(s[i:], "/*"):
					depth++
					i += 2
				default:
					i++
				}
			}
		case c == '\'' || strings.IndexByte(x.Quotes, c) >= 0:
			name, end := quotedText(s, i)
			switch {
			case end < 0 && c == '\'':
				return fail(start, "a text that is never closed")
			case end < 0:
				return fail(start, "a name that is never closed")
			case c == '\'':
				add(Constant, end, name)
			case x.MaxName > 0 && (name == "" || len(name) > x.MaxName):
				return fail(start, "a name has between one and 63 bytes")
			default:
				add(Quoted, end, name)
			}
		case digit(c) || c == '.' && i+1 < len(s) && digit(s[i+1]):
			j, word := i+1, false
			for ; j < len(s); j++ {
				exponent := s[j] == 'e' || s[j] == 'E'
				if signed := (s[j] == '+' || s[j] == '-') && (s[j-1] == 'e' || s[j-1] == 'E') && !strings.HasPrefix(s[i:], "0x"); !digit(s[j]) && !nameStart(s[j]) && s[j] != '.' && !signed {
					break
				}
				word = word || nameStart(s[j]) && !exponent
			}
			if word && !x.Words {
				return fail(start, "a number runs into a word")
			}
			add(Constant, j, "")
		case nameStart(c):
			j := i + 1
			for j < len(s) && (nameStart(s[j]) || digit(s[j]) || s[j] == '$') {
				j++
			}
			if x.MaxName > 0 && j-i > x.MaxName {
				return fail(start, "a name has between one and 63 bytes")
			}
			name := s[i:j]
			if x.Plain != nil {
				name = x.Plain(name)
			}
			add(Word, j, name)
		case c == ':' && i+1 < len(s) && nameStart(s[i+1]):
			j := i + 2
			for j < len(s) && (nameStart(s[j]) || digit(s[j])) {
				j++
			}
			add(Param, j, s[i+1:j])
		case c == ';':
			return fail(start, "a query is one statement, without a semicolon")
		default:
			for _, m := range x.Marks {
				if strings.HasPrefix(s[i:], m) {
					add(Mark, i+len(m), "")
					continue next
				}
			}
			if strings.IndexByte(x.Params, c) >= 0 {
				return fail(start, "an argument is written :name")
			}
			return fail(start, "a character that has no meaning in a query")
		}
	}
	return append(toks, Token{Kind: End, Start: len(s)}), nil
}

// quotedText reads what begins with the quote at i and returns the offset after it, -1
// when it does not end. A backslash means itself: what is written for it says so.
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
