package values

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
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
