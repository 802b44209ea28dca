package stores

import "strings"

// listWords are the words that a CHECK constraint may contain, besides one column and constants,
// if it is to be read as a list: `status IN ('a', 'b')`, as people write it, and `(status)::text
// = ANY ((ARRAY['a'::character varying])::text[])`, as PostgreSQL does.
var listWords = map[string]bool{
	"in": true, "any": true, "array": true, "or": true, "text": true, "character": true, "varying": true, "varchar": true,
	"bpchar": true, "char": true, "integer": true, "smallint": true, "bigint": true, "numeric": true,
}

// CheckedValues returns the values, as text, that the expression of a CHECK constraint allows in
// a column. ok is false if the expression is anything but a list of values.
func CheckedValues(expression string) (column string, values []string, ok bool) {
	null := false
	for rest := expression; ; {
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest == "" {
			break
		}
		switch c := rest[0]; {
		case c == '\'':
			text, after, closed := unquote(rest)
			if !closed {
				return "", nil, false
			}
			values, rest = append(values, text), after
		case c == '"' || c == '`':
			name, after, closed := unquote(rest)
			if !closed || column != "" && name != column {
				return "", nil, false
			}
			column, rest = name, after
		case c >= '0' && c <= '9' || c == '-' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
			n := 1
			for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
				n++
			}
			values, rest = append(values, rest[:n]), rest[n:]
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := 1
			for n < len(rest) && isWord(rest[n]) {
				n++
			}
			word := strings.ToLower(rest[:n])
			switch {
			case word == "is" || word == "null": // the column may be null
				null = true
			case listWords[word]:
				if len(word) > 3 { // a type, and not IN, ANY or OR
					rest = rest[:n] + withoutLength(rest[n:])
				}
			case column == "" || strings.EqualFold(column, word):
				column = rest[:n]
			default:
				return "", nil, false
			}
			rest = rest[n:]
		case strings.IndexByte("()[],=:", c) >= 0:
			rest = rest[1:]
		default:
			return "", nil, false
		}
	}
	if null && !strings.Contains(strings.ToLower(expression), "is null") {
		return "", nil, false
	}
	return column, values, column != "" && len(values) > 0
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// withoutLength removes the length of a type, as in varchar(20).
func withoutLength(s string) string {
	in := strings.TrimLeft(s, " ")
	if end := strings.IndexByte(in, ')'); end > 1 && in[0] == '(' && strings.Trim(in[1:end], "0123456789, ") == "" {
		return in[end+1:]
	}
	return s
}

// unquote reads a quoted text, in which a doubled quote stands for one.
func unquote(s string) (text, after string, ok bool) {
	quote := s[:1]
	var b strings.Builder
	for s = s[1:]; ; {
		before, rest, found := strings.Cut(s, quote)
		if !found {
			return "", "", false
		}
		b.WriteString(before)
		if !strings.HasPrefix(rest, quote) {
			return b.String(), rest, true
		}
		b.WriteString(quote)
		s = rest[1:]
	}
}

// Checks returns the expressions of the CHECK constraints in a CREATE TABLE statement.
func Checks(create string) (all []string) {
	for rest := create; rest != ""; {
		switch c := rest[0]; {
		case c == '\'' || c == '"' || c == '`':
			_, after, closed := unquote(rest)
			if !closed {
				return all
			}
			rest = after
		case strings.HasPrefix(rest, "--"):
			_, rest, _ = strings.Cut(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			_, rest, _ = strings.Cut(rest[2:], "*/")
		case isWord(c):
			n := 1
			for n < len(rest) && isWord(rest[n]) {
				n++
			}
			word := rest[:n]
			rest = strings.TrimLeft(rest[n:], " \t\r\n")
			if strings.EqualFold(word, "check") && strings.HasPrefix(rest, "(") {
				n := bracketed(rest)
				all, rest = append(all, rest[1:max(1, n-1)]), rest[n:]
			}
		default:
			rest = rest[1:]
		}
	}
	return all
}

// CheckNamed returns the expression of the CHECK constraint with a name in a CREATE TABLE statement.
// SQLite calls one without a name by its expression, which is returned then.
func CheckNamed(create, name string) string {
	for _, check := range Checks(create) {
		before, _, _ := strings.Cut(create, check)
		before = strings.TrimRight(before, " \t\r\n(")
		words := strings.Fields(before[:max(0, len(before)-len("check"))])
		if n := len(words); n > 0 && strings.EqualFold(strings.Trim(words[n-1], "\"'`[]"), name) {
			return check
		}
	}
	return name
}

// bracketed returns the length of the bracketed text at the beginning of s, brackets included.
func bracketed(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\'', '"', '`':
			_, after, closed := unquote(s[i:])
			if !closed {
				return len(s)
			}
			i = len(s) - len(after) - 1
		}
	}
	return len(s)
}
