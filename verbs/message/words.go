package message

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
)

// Suggest offers the legal words that are nearest to an unknown word.
func Suggest(d *dsl.Diagnostic, word string, legal []string, kind string) {
	near := Nearest(word, legal)
	d.Label, d.Fixes = DidYouMean(near), Replacements(d.Place, near, "")
	if len(legal) == 0 {
		d.Notes = append(d.Notes, "there are no "+kind+" yet")
	} else {
		d.Notes = append(d.Notes, kind+": "+Some(legal, 16))
	}
}

// Nearest is dsl.Nearest, or else returns a word that differs only in dashes, underscores and
// case.
func Nearest(word string, legal []string) []string {
	fold := func(w string) string { return strings.ReplaceAll(strings.ToLower(w), "-", "_") }
	near := dsl.Nearest(word, slices.Values(legal))
	if len(near) == 0 {
		folded := fold(word)
		for _, w := range legal {
			if fold(w) == folded && w != word {
				return []string{w}
			}
		}
	}
	return near
}

// Joined joins words as a sentence does: "a, b and c".
func Joined(words []string, last string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
}

// Some lists up to n words and counts the rest.
func Some(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}

// Count writes a number of things.
func Count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

// Article puts "a" or "an" before a word.
func Article(word string) string {
	if word != "" && strings.IndexByte("aeioAEIO", word[0]) >= 0 || strings.HasPrefix(word, "un") {
		return "an " + word
	}
	return "a " + word
}

// Lasting says a number of seconds in words.
func Lasting(seconds int64) string {
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{7 * 86400, "week"}, {86400, "day"}, {3600, "hour"}, {60, "minute"}} {
		if seconds >= unit.seconds && seconds%unit.seconds == 0 {
			return Count(int(seconds/unit.seconds), unit.name)
		}
	}
	return Count(int(seconds), "second")
}

// DidYouMean asks whether one of the near words was meant, "" if there are none.
func DidYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	quoted := make([]string, len(near))
	for i, n := range near {
		if quoted[i] = strconv.Quote(n); strings.HasPrefix(n, `:"`) {
			quoted[i] = n // it has quotes of its own
		}
	}
	return "did you mean " + Joined(quoted, "or") + "?"
}

// Replacements offers each of the near words; a single one is safe to apply, because the original
// word had no meaning.
func Replacements(at dsl.Place, near []string, mark string) []dsl.Fix {
	var fixes []dsl.Fix
	for _, n := range near {
		fixes = append(fixes, dsl.Fix{
			Title: "write " + mark + n,
			Safe:  len(near) == 1,
			Edits: []dsl.Edit{{Range: at.Range, Text: mark + n}},
		})
	}
	return fixes
}

// Shorten cuts a text after a number of characters.
func Shorten(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n]) + "…"
}

// Names returns the name of each of several things.
func Names[T any](all []T, name func(T) string) []string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = name(one)
	}
	return names
}
