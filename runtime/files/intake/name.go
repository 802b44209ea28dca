package intake

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxName is the number of characters of a name that are kept.
	maxName = 120
	// unnamed is the name of a file without a usable name.
	unnamed = "file"
)

// Harmless makes a file's name safe to show and to save under: the last part of a path, without
// characters that control a terminal, change the direction of writing, are invisible, or have a
// meaning for a file system. A shortened name keeps its extension.
func Harmless(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	var b strings.Builder
	gap := false
	for _, r := range name {
		switch {
		case r == utf8.RuneError, unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r), unicode.Is(unicode.Variation_Selector, r):
			continue // not to be seen, or not text
		case unicode.IsControl(r), unicode.IsSpace(r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			gap = b.Len() > 0
			continue
		case strings.ContainsRune(`<>:"|?*`+"`", r):
			r = '_'
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	// A leading dot hides a file, a trailing one is dropped by some systems, and a
	// leading dash is an option to some programs.
	name = strings.TrimRight(strings.TrimLeft(b.String(), ".- "), ". ")
	if utf8.RuneCountInString(name) > maxName {
		ending := ""
		if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= 12 {
			ending = name[i:]
		}
		all := []rune(strings.TrimSuffix(name, ending))
		name = strings.TrimRight(string(all[:min(len(all), maxName-utf8.RuneCountInString(ending))]), ". ") + ending
	}
	if strings.Trim(name, "._- ") == "" {
		return unnamed
	}
	return name
}
