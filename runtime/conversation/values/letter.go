package values

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The parts of a letter that are not its writer's message.

// postscript matches the beginning of an addition below the writer's name, in the languages.
var postscript = regexp.MustCompile(`(?i)^\s*(?:p\.?\s?[sd]\.?|n\.?\s?b\.?|post ?scriptum)(?:[\s:.,-]|$)`)

// longestOfSignature is the greatest length of a line of a signature.
const longestOfSignature = 80

// Signature reports whether the lines below a name are a signature: titles, companies, addresses and
// notices, and nothing that limits, dates or takes back the text above.
func Signature(lines []string) bool {
	h := ours()
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || Notice(line) {
			continue
		}
		first, _ := utf8.DecodeRuneInString(line)
		if len(line) > longestOfSignature || strings.Contains(line, "?") || unicode.IsLower(first) && !strings.ContainsAny(line, "@/.") || Afterthought(line) || Turns(line) {
			return false
		}
		words := strings.Fields(Plain(line))
		for i, w := range words {
			if besides.at(words, i) > 0 && w != "k" && w != "best" || agreeing.at(words, i) > 0 && len(words) > 1 || unsaid.at(words, i) > 0 && len(w) > 2 || slices.ContainsFunc(h.tongues, func(t *tongue) bool { return t.lexicon.dates(w) }) {
				return false
			}
		}
	}
	return true
}

// dates reports whether a word says when.
func (x *lexicon) dates(word string) bool {
	return slices.ContainsFunc([]class{month, weekday, unit, next, coming, afterNext, day, daypart, hence, ago}, func(c class) bool {
		return x.entries[word][0].class == c || x.entries[word][1].class == c
	})
}

// Afterthought reports whether a line below a name may be something that its owner says, and no
// address, title or notice of a company.
func Afterthought(line string) bool {
	n := len(strings.Fields(line))
	return postscript.MatchString(line) || n >= 4 && n <= 30 && strings.ContainsAny(line[len(strings.TrimRight(line, " "))-1:], ".!?…") && !Notice(line)
}

var (
	notices = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|\PL)(?:` + ours().either("notice") + `)`)
	})
	// myself are words for the writer of a letter, not for the company that added a notice to it.
	myself    = phrasesOf("myself")
	sentences = regexp.MustCompile(`[.!?]+(?:\s+|$)`)
)

// Notice reports whether a line is a company's notice below its letters: that they are confidential,
// or need not be printed. Each of its sentences has to be one.
func Notice(line string) bool {
	line = strings.TrimSpace(line)
	if len(strings.Fields(line)) < 5 || postscript.MatchString(line) {
		return false
	}
	for _, sentence := range sentences.Split(line, -1) {
		words := strings.Fields(Plain(sentence))
		for i := range words {
			if myself.at(words, i) > 0 {
				return false
			}
		}
		if len(words) > 0 && !notices().MatchString(sentence) {
			return false
		}
	}
	return true
}
