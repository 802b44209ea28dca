package dsl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The classes of bytes. A word is a run of word bytes: everything except white space, control
// characters, brackets, quotes, commas and comment marks.
const (
	isSpace   uint16 = 1 << iota // space, tab, line breaks
	isName                       // letters, digits, - and _
	isWord                       // may occur in a word, valid or not
	isLower                      // a to z
	isUpper                      // A to Z
	isDigit                      // 0 to 9
	inString                     // stands for itself inside a string
	inComment                    // stands for itself inside a comment
	isStart                      // an ASCII character that can begin a token
)

// hexDigit is 1 for the digits of a uuid.
var hexDigit = func() (t [256]bool) {
	for _, c := range "0123456789abcdefABCDEF" {
		t[c] = true
	}
	return t
}()

var class = func() (t [256]uint16) {
	for c := range 256 {
		switch b := byte(c); {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			t[c] |= isSpace
		case b >= 'a' && b <= 'z':
			t[c] |= isLower | isName
		case b >= 'A' && b <= 'Z':
			t[c] |= isUpper | isName
		case b >= '0' && b <= '9':
			t[c] |= isDigit | isName
		case b == '-' || b == '_':
			t[c] |= isName
		}
		if c > ' ' && c != 0x7f {
			t[c] |= isWord
		}
		// The C1 controls are C2 80 to C2 9F in UTF-8.
		if c >= ' ' && c != 0x7f && c != 0xc2 {
			t[c] |= inString | inComment
		}
	}
	for _, c := range `"()[]{},;#` {
		t[c] &^= isWord
	}
	for c := '!'; c < 0x7f; c++ {
		if c != ';' && c != '#' {
			t[c] |= isStart
		}
	}
	t['"'] &^= inString
	t['\\'] &^= inString
	t['\t'] |= inComment
	return t
}()

// isNameText reports whether s is a name: an ASCII letter followed by letters, digits, hyphens
// and underscores. Verbs and keys consist of names that begin with a lower-case letter; symbols
// of any names.
func isNameText(s string, first uint16) bool {
	if s == "" || class[s[0]]&first == 0 {
		return false
	}
	for i := 1; i < len(s); i++ {
		if class[s[i]]&isName == 0 {
			return false
		}
	}
	return true
}

func isKey(s string) bool { return isNameText(s, isLower) }

// isMapKey reports whether a text can be a key of a map, quoted if need be.
func isMapKey(s string) bool { return s != "" && utf8.ValidString(s) }

// isDotted reports whether s consists of at least least names joined by dots, each beginning with
// a letter of class first.
func isDotted(s string, first uint16, least int) bool {
	start := true
	parts := 0
	for i := 0; i < len(s); i++ {
		c := class[s[i]]
		switch {
		case start:
			if c&first == 0 {
				return false
			}
			start = false
			parts++
		case s[i] == '.':
			start = true
		case c&isName == 0:
			return false
		}
	}
	return !start && parts >= least
}

func isVerb(s string) bool { return isDotted(s, isLower, 2) }

// isVerbLike also accepts verbs whose letters are in the wrong case, since they are meant as
// verbs.
func isVerbLike(s string) bool { return isDotted(s, isLower|isUpper, 2) }

// isSymbol reports whether s is a symbol without its @: a name, optionally the suffix of a row,
// and a path.
func isSymbol(s string) bool {
	end, ok := symbolEnd(s, 0)
	return ok && end == len(s)
}

// symbolEnd returns the end of the symbol that begins at i, and whether there is one.
func symbolEnd(s string, i int) (end int, ok bool) {
	end, parts := dottedEnd(s, i, isLower|isUpper)
	if parts != 1 || end == len(s) || s[end] != '~' {
		return end, parts > 0
	}
	from := end + 1
	for end = from; end < len(s) && class[s[end]]&(isLower|isDigit) != 0; end++ {
	}
	if end == from {
		return end, false
	}
	if end < len(s) && s[end] == '.' {
		end, parts = dottedEnd(s, end+1, isLower|isUpper)
		return end, parts > 0
	}
	return end, true
}

func isCode(s string) bool {
	if s == "" || class[s[0]]&isUpper == 0 {
		return false
	}
	for i := 1; i < len(s); i++ {
		if class[s[i]]&(isUpper|isDigit) == 0 && s[i] != '_' {
			return false
		}
	}
	return true
}

func digits(s string, from, to int) bool {
	if to > len(s) {
		return false
	}
	for i := from; i < to; i++ {
		if class[s[i]]&isDigit == 0 {
			return false
		}
	}
	return true
}

// isDateShape reports whether a text is written like a date; DateFault says whether the calendar
// has it.
func isDateShape(s string) bool {
	return len(s) == 10 && digits(s, 0, 4) && s[4] == '-' && digits(s, 5, 7) && s[7] == '-' && digits(s, 8, 10)
}

// isDateTimeShape reports whether a text is written as in RFC 3339, with an offset and at most
// microseconds.
func isDateTimeShape(s string) bool {
	if len(s) < 20 || !isDateShape(s[:10]) || s[10]|0x20 != 't' ||
		!digits(s, 11, 13) || s[13] != ':' || !digits(s, 14, 16) || s[16] != ':' || !digits(s, 17, 19) {
		return false
	}
	i := 19
	if s[i] == '.' {
		from := i + 1
		for i++; i < len(s) && class[s[i]]&isDigit != 0; i++ {
		}
		if i == from || i-from > 6 {
			return false
		}
	}
	rest := s[i:]
	if len(rest) == 1 {
		return rest[0]|0x20 == 'z'
	}
	return len(rest) == 6 && (rest[0] == '+' || rest[0] == '-') &&
		digits(rest, 1, 3) && rest[3] == ':' && digits(rest, 4, 6)
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	for i := range 36 {
		if !hexDigit[s[i]] && s[i] != '-' {
			return false
		}
	}
	return strings.Count(s, "-") == 4
}

// numberKind returns Integer, Decimal, or Invalid.
func numberKind(s string) Kind {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	from := i
	for i < len(s) && class[s[i]]&isDigit != 0 {
		i++
	}
	if i == from || s[from] == '0' && i-from > 1 {
		return Invalid
	}
	if i == len(s) {
		return Integer
	}
	if s[i] != '.' || i+1 == len(s) || !digits(s, i+1, len(s)) {
		return Invalid
	}
	return Decimal
}

// wordKind returns the kind of literal that a word is, by its shape alone; Invalid if it is none.
// Symbols, keys and verbs are not literals.
func wordKind(s string) Kind {
	if s == "" {
		return Invalid
	}
	switch c := class[s[0]]; {
	case c&isDigit != 0 || s[0] == '-':
		if k := numberKind(s); k != Invalid {
			return k
		}
		switch {
		case isDateShape(s):
			return Date
		case isDateTimeShape(s):
			return DateTime
		}
	case c&isUpper != 0:
		if isCode(s) {
			return Code
		}
	case c&isLower != 0:
		switch s {
		case "nil":
			return Nil
		case "true", "false":
			return Bool
		}
	}
	if isUUID(s) {
		return UUID
	}
	return Invalid
}

// breaksWord reports whether a character beyond ASCII ends a word: the unusual spaces and quotes
// that programs and models write instead of plain ones.
func breaksWord(r rune) bool {
	return unusualSpace(r) || closingQuote(r) != 0 || r == '”'
}

func unusualSpace(r rune) bool {
	switch r {
	case '\u0085', '\u00a0', '\u1680', '\u2028', '\u2029', '\u202f', '\u205f', '\u2060', '\u3000', '\ufeff':
		return true
	}
	return r >= '\u2000' && r <= '\u200b'
}

// closingQuote returns the closing partner of a quotation mark other than the language's double
// quote, 0 for every other character.
func closingQuote(r rune) rune {
	switch r {
	case '\'', '`':
		return r
	case '“', '„', '‟':
		return '”'
	case '‘', '‚':
		return '’'
	case '«':
		return '»'
	}
	return 0
}

// dottedEnd reads the names joined by dots at i, each beginning with a letter of class first. It
// returns their end and number; 0 if a name is missing.
func dottedEnd(s string, i int, first uint16) (end, parts int) {
	for {
		if i >= len(s) || class[s[i]]&first == 0 {
			return i, 0
		}
		for i++; i < len(s) && class[s[i]]&isName != 0; i++ {
		}
		parts++
		if i >= len(s) || s[i] != '.' {
			return i, parts
		}
		i++
	}
}

// wordEnd returns the end of the word at i.
func wordEnd(s string, i int) int {
	for i < len(s) && class[s[i]]&isWord != 0 {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if breaksWord(r) {
			break
		}
		i += size
	}
	return i
}

// hidden reports whether a character is written as an escape in canonical text and in excerpts,
// because it is invisible or changes how its neighbours are shown. The list is fixed here rather
// than taken from Unicode's tables, since the canonical spelling must not change with a version
// of them. The joiners U+200C and U+200D are part of the spelling of several scripts and stay.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r < 0x061c:
		return r == 0x00ad
	case r == 0x061c, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff:
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef || unicode.Is(unicode.Cs, r)
}
