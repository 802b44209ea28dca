package values

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"verbatim/dsl"
)

// quotedText matches a text in quotation marks.
var quotedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`["“„«]([^"“”„«»]{1,200})["”“»]`) })

// NamesIn returns the names in a text: texts in quotation marks, and runs of capitalised words that do
// not begin a sentence.
func NamesIn(text string) (names []string) {
	var run []string
	first := true
	end := func() {
		if len(run) > 0 {
			names = append(names, strings.Join(run, " "))
		}
		run = nil
	}
	for _, m := range quotedText().FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	for _, word := range strings.Fields(quotedText().ReplaceAllString(text, " . ")) {
		bare := strings.TrimFunc(word, notWord)
		r := []rune(bare)
		switch {
		case len(r) == 0:
			end()
		case unicode.IsUpper(r[0]) && !first || unicode.IsDigit(r[0]) && len(run) > 0 || len(r) > 1 && strings.ToUpper(bare) == bare && unicode.IsLetter(r[0]):
			run = append(run, bare)
		default:
			end()
		}
		if strings.ContainsAny(word, ",;:?!()") {
			end()
		}
		if first = strings.HasSuffix(word, ".") || strings.HasSuffix(word, "?") || strings.HasSuffix(word, "!"); first {
			end()
		}
	}
	end()
	return names
}

// Meant returns the names that a text may stand for: the one that it is, or else those that it spells
// otherwise, or else those that it is a part of. If there are none, near are those that it may misspell.
func Meant(text string, all []string) (some, near []string) {
	plain, called, spelt := Plain(text), map[string]string{}, false
	for _, name := range all {
		if strings.EqualFold(name, text) {
			return []string{name}, nil
		}
		p := Plain(name)
		if called[p] = name; p == plain && !spelt {
			spelt, some = true, nil
		}
		if p == plain || !spelt && strings.Contains(p, plain) {
			some = append(some, name)
		}
	}
	if slices.Sort(some); len(some) > 0 {
		return some, nil
	}
	for _, p := range dsl.Nearest(plain, maps.Keys(called)) {
		near = append(near, called[p])
	}
	return nil, near
}

// Adds reports whether a text has a name or a number that another does not have.
func Adds(text, to string) bool {
	const fewWords = 3 // below which it is no sentence, so that a name may begin it
	if strings.Count(text, " ") < fewWords {
		text = "of " + text
	}
	to = strings.ToLower(to)
	return slices.ContainsFunc(append(NamesIn(text), someDigits().FindAllString(text, -1)...), func(of string) bool { return !strings.Contains(to, strings.ToLower(of)) })
}

var someDigits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })
