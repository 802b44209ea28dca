// Package naming says how things may be named in palettes and scripts.
package naming

import (
	"slices"
	"strings"
	"unicode"
)

// IsNumber accepts digits with an optional minus and point, as people write them: no 007, 0x1f, 1e3 or 1_000.
func IsNumber(s string) bool {
	whole, frac, point := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return AreDigits(whole) && (len(whole) == 1 || whole[0] != '0') && (!point || AreDigits(frac))
}

// AreDigits reports whether a text is digits and nothing else.
func AreDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// MaxName is how many characters a name may have.
const MaxName = 100

// IsName accepts lower-case letters, and behind the first digits, dashes and underscores.
func IsName(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' || len(s) > MaxName {
		return false
	}
	for i := 1; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

// IsDottedName accepts names with dots between them.
func IsDottedName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !IsName(part) {
			return false
		}
	}
	return true
}

// IsOurs reports whether a name is reserved for the engine's own tables.
func IsOurs(name string) bool {
	name = strings.ToLower(name)
	return name == "verbatim" || strings.HasPrefix(name, "verbatim.") || strings.HasPrefix(name, "verbatim_")
}

// IsTable reports whether both databases can quote a table's name: a table, or a schema and a
// table.
func IsTable(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) > 2 {
		return false
	}
	return !slices.ContainsFunc(parts, func(p string) bool { return !IsColumn(p) })
}

// IsColumn accepts nearly any name, for existing tables, except characters that would have to be
// escaped inside quotes.
func IsColumn(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) || strings.ContainsRune("\"'`\\.%[]", r) {
			return false
		}
	}
	return s != "" && len(s) <= 63 && strings.TrimSpace(s) == s
}

// IsReserved reports whether an argument cannot have a name: words that have a meaning in an
// expression, and `as`, which calls use.
func IsReserved(name string) bool {
	switch name {
	case "row", "each", "today", "now", "principal", "true", "false", "nil", "not", "and", "or", "in", "let", "if", "else",
		"matches", "contains", "as":
		return true
	}
	return false
}

// Underscored returns a name as expressions and columns write it.
func Underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

// Same compares names in which a dash and an underscore are the same.
func Same(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if a[i] != b[i] && !(dashed(a[i]) && dashed(b[i])) {
			return false
		}
	}
	return true
}

func dashed(c byte) bool { return c == '-' || c == '_' }

// IsCode reports whether a script may write s as a bare code: an upper-case letter, then
// upper-case letters, digits, underscores and hyphens.
func IsCode(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z':
		case i > 0 && (c >= '0' && c <= '9' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return s != ""
}

// From makes a name of a text, as far as that can be done.
func From(word string) string {
	var b strings.Builder
	for i, r := range strings.ToLower(word) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9' && i > 0, r == '-', r == '_', r == '.':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

// IsWord reports whether a character belongs to a word of SQL or of an expression.
func IsWord(c byte, digits bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || digits && c >= '0' && c <= '9'
}
