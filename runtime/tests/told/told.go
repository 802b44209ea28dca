// Package told compares what people are told with the rows that it is told from.
//
//	told.Check(t, "client/taken-one", before, after)
//
// Each sentence of the catalogue that claims a state (done, sent, settled, 3 of 5) has such a line in
// the test that claims.txt of package values names for it. Both texts are what the program showed:
// one while the rows made the sentence true, and one while they made it false.
package told

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"verbatim/runtime/conversation/values"
)

// Check reports an error unless the sentence of a key, with of in its places, stands in the text that
// was shown while it was true, and not in the text that was shown while it was false. A place for
// which there is no text in of may hold anything. The texts may be pages.
func Check(t testing.TB, key values.Key, is, not string, of ...string) {
	t.Helper()
	CheckIn(t, values.English, key, is, not, of...)
}

// CheckIn is Check in a language.
func CheckIn(t testing.TB, l values.Language, key values.Key, is, not string, of ...string) {
	t.Helper()
	sentence := sentenceOf(key.Text(l), of)
	switch {
	case strings.TrimSpace(not) == "":
		t.Errorf("%s: nothing was shown while it is false", key)
	case !sentence.MatchString(plain(is)):
		t.Errorf("%s: it is true, and not told (%s):\n%s", key, sentence, plain(is))
	case sentence.MatchString(plain(not)):
		t.Errorf("%s: it is false, and told (%s):\n%s", key, sentence, plain(not))
	}
}

// sentenceOf returns what matches a sentence with the texts in its places.
func sentenceOf(text string, of []string) *regexp.Regexp {
	var b strings.Builder
	for i, part := range strings.Split(squeezed(text), "{}") {
		switch {
		case i == 0:
		case i <= len(of):
			b.WriteString(regexp.QuoteMeta(of[i-1]))
		default:
			b.WriteString(`.+?`)
		}
		b.WriteString(regexp.QuoteMeta(part))
	}
	return regexp.MustCompile(`(?i)(?:^|[^\pL\pN])` + b.String() + `(?:$|[^\pL\pN])`)
}

var (
	tags   = regexp.MustCompile(`(?s)<(?:script|style|head)\b.*?</(?:script|style|head)>|<[^>]*>`)
	spaces = regexp.MustCompile(`\s+`)
)

// plain returns the words of a page, without its tags.
func plain(text string) string {
	return squeezed(html.UnescapeString(tags.ReplaceAllString(text, " ")))
}

func squeezed(text string) string { return strings.TrimSpace(spaces.ReplaceAllString(text, " ")) }
