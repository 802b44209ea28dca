package dsl

import (
	"strconv"
	"unicode/utf8"
)

// AppendCall appends the canonical line of one call, without comments and
// without a line break: bare at the top, in parentheses inside another, one
// space between parts, :as last. Two calls have the same line exactly when
// they are Equal.
//
// Anything that cannot be written (a verb with a space in it, an Invalid value; see Call.Err)
// becomes <invalid "…">, which Parse refuses.
func AppendCall(dst []byte, c *Call) []byte {
	dst = appendVerb(dst, c.Verb)
	for i := range c.Args {
		dst = append(dst, ' ')
		if c.Args[i].Key == "as" { // reserved: it names the result
			dst = appendInvalid(dst, "as")
		} else {
			dst = appendKey(dst, c.Args[i].Key)
		}
		dst = append(dst, ' ')
		dst = appendValue(dst, &c.Args[i].Value)
	}
	if c.As != "" {
		dst = appendAs(append(dst, ' '), c.As)
	}
	return dst
}

func appendAs(dst []byte, symbol string) []byte {
	dst = append(dst, ":as "...)
	if !isNameText(symbol, isLower|isUpper) {
		return appendInvalid(dst, symbol)
	}
	return append(append(dst, '@'), symbol...)
}

// FormatCall is AppendCall for a string.
func FormatCall(c *Call) string { return string(AppendCall(nil, c)) }

// FormatValue returns the canonical spelling of one value on one line.
func FormatValue(v Value) string { return string(appendValue(nil, &v)) }

func appendVerb(dst []byte, verb string) []byte {
	if !isVerb(verb) {
		return appendInvalid(dst, verb)
	}
	return append(dst, verb...)
}

func appendKey(dst []byte, key string) []byte {
	if !isKey(key) {
		return appendInvalid(dst, key)
	}
	return append(append(dst, ':'), key...)
}

// appendMapKey quotes a key that cannot be written plain.
func appendMapKey(dst []byte, key string) []byte {
	if isKey(key) || !isMapKey(key) {
		return appendKey(dst, key)
	}
	return appendString(append(dst, ':'), key)
}

// FormatKey returns the canonical spelling of a key of a map, with its colon: plain if possible,
// otherwise quoted.
func FormatKey(key string) string { return string(appendMapKey(nil, key)) }

func appendInvalid(dst []byte, text string) []byte {
	dst = append(dst, "<invalid "...)
	dst = appendString(dst, text)
	return append(dst, '>')
}

func appendValue(dst []byte, v *Value) []byte {
	switch v.Kind {
	case String:
		if !utf8.ValidString(v.Text) {
			return appendInvalid(dst, v.Text)
		}
		return appendString(dst, v.Text)
	case Symbol:
		if !isSymbol(v.Text) {
			return appendInvalid(dst, v.Text)
		}
		return append(append(dst, '@'), v.Text...)
	case Nil:
		return append(dst, "nil"...)
	case List:
		dst = append(dst, '[')
		items := v.Items()
		for i := range items {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = appendValue(dst, &items[i])
		}
		return append(dst, ']')
	case Map:
		dst = append(dst, '{')
		entries := v.Entries()
		for i := range entries {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = appendMapKey(dst, entries[i].Key)
			dst = append(dst, ' ')
			dst = appendValue(dst, &entries[i].Value)
		}
		return append(dst, '}')
	case Nested:
		if c := v.Call(); c != nil {
			dst = append(dst, '(')
			dst = AppendCall(dst, c)
			return append(dst, ')')
		}
	default:
		if v.Kind != Invalid && wordKind(v.Text) == v.Kind && isCanonicalWord(v.Kind, v.Text) {
			return append(dst, v.Text...)
		}
	}
	return appendInvalid(dst, v.Text)
}

// isCanonicalWord reports whether a word of the right shape is canonical. A value built by hand
// could hold an impossible date or a uuid in capitals; the first would not parse, the second
// would give one meaning two spellings.
func isCanonicalWord(k Kind, s string) bool {
	switch k {
	case Date:
		return DateFault(s) == ""
	case DateTime:
		return dateTimeProblem(s) == "" && canonicalDateTime(s) == s
	case UUID:
		return lowerASCII(s) == s
	}
	return true
}

// appendString quotes a text. Bytes that are not UTF-8 are written as U+FFFD; appendValue
// excludes them earlier.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if class[c]&inString != 0 {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = appendEscape(dst, rune(c))
			}
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[from:i]...)
			dst = append(dst, "\ufffd"...)
			i++
			from = i
			continue
		}
		if hidden(r) {
			dst = append(dst, s[from:i]...)
			dst = appendEscape(dst, r)
			from = i + size
		}
		i += size
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// appendEscape writes \u{X} with the fewest capital hex digits.
func appendEscape(dst []byte, r rune) []byte {
	dst = append(dst, `\u{`...)
	at := len(dst)
	dst = strconv.AppendUint(dst, uint64(r), 16)
	for i := at; i < len(dst); i++ {
		if class[dst[i]]&isLower != 0 {
			dst[i] -= 'a' - 'A'
		}
	}
	return append(dst, '}')
}

func lowerASCII(s string) string {
	for i := range len(s) {
		if class[s[i]]&isUpper != 0 {
			b := []byte(s)
			for ; i < len(b); i++ {
				if class[b[i]]&isUpper != 0 {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// canonicalDateTime writes T and Z in capitals and leaves the rest: the offset and the digits of
// the fraction stay as written.
func canonicalDateTime(s string) string {
	if s[10] == 'T' && s[len(s)-1] != 'z' {
		return s
	}
	b := []byte(s)
	b[10] = 'T'
	if b[len(b)-1] == 'z' {
		b[len(b)-1] = 'Z'
	}
	return string(b)
}
