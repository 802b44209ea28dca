package manda

import (
	"slices"
	"strconv"
	"strings"
)

// A version is the version that a file's name states. A name without a number is the first.
type version struct {
	copy, number              int
	final, updated, corrected int
}

// Version marks at the end of file names. Names are compared in lower case, with one _ between
// words.
var marks = []struct {
	form pattern
	note func(v *version, n int)
}{
	{pattern(`_?\((\d{1,4})\)$`), func(v *version, n int) { v.copy = n }},
	{pattern(`_v(\d{1,4})$`), func(v *version, n int) { v.number = n }},
	{pattern(`_(?:final)$`), func(v *version, _ int) { v.final = 1 }},
	{pattern(`_(?:updated)$`), func(v *version, _ int) { v.updated = 1 }},
	{pattern(`_(?:corrected)$`), func(v *version, _ int) { v.corrected = 1 }},
}

var between = pattern(`[\s_-]+`)

// takeApart divides the name of a file into its stem, its extension and its version.
func takeApart(name string) (stem, ending string, v version) {
	name = strings.TrimSpace(strings.ToLower(name))
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name, ending = name[:i], name[i+1:]
	}
	name = strings.Trim(between.re().ReplaceAllString(name, "_"), "_")
	v.number = 1
	for found := true; found; {
		found = false
		for _, m := range marks {
			is := m.form.re().FindStringSubmatchIndex(name)
			if is == nil || is[0] == 0 { // a name is more than its version
				continue
			}
			n := 0
			if len(is) > 2 {
				n, _ = strconv.Atoi(name[is[2]:is[3]])
			}
			m.note(&v, n)
			name, found = strings.TrimRight(name[:is[0]], "_"), true
		}
	}
	return name, ending, v
}

// names reports whether a question has all words of the name of a file, but for its version and date.
func names(question, file string) bool {
	stem := strings.ReplaceAll(stemOf(file), "_", " ")
	for _, p := range slices.Backward(periods(stem)) {
		stem = stem[:p.at] + " " + stem[p.end:]
	}
	words := strings.Fields(plainly(stem))
	asked := strings.Fields(plainly(question))
	for i := range words {
		words[i] = root(words[i])
	}
	return len(strings.Join(words, "")) > 3 && !slices.ContainsFunc(words, func(w string) bool {
		return !slices.ContainsFunc(asked, func(a string) bool { return root(a) == w })
	})
}

// Corrects reports whether a file by that name takes the place of another, as far as the
// names tell: they are the same but for _CORRECTED, _FINAL, _updated, _v2 and (2) at the
// end, in any order, letters and spacing, and the one says everything that the other says
// and more. Of report_v2 and report_FINAL neither says which is the later.
func Corrects(name, other string) bool {
	stem, ending, a := takeApart(name)
	otherStem, otherEnding, b := takeApart(other)
	return stem == otherStem && ending == otherEnding && a != b &&
		a.copy >= b.copy && a.number >= b.number && a.final >= b.final && a.updated >= b.updated && a.corrected >= b.corrected
}
