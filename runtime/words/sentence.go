package words

import "strings"

// A Sentence is what a person is told or asked, in each language by its number. {}
// in it is what belongs to it, in order.
type Sentence [len(languageTags)]string

// In says the sentence in a language; where it is not known in that one, all of it
// is said in English.
func (s Sentence) In(l Language, of ...string) string {
	text := s[l]
	if text == "" {
		text = s[English]
	}
	var b strings.Builder
	for _, v := range of {
		before, after, found := strings.Cut(text, "{}")
		if !found {
			break
		}
		b.WriteString(before + v)
		text = after
	}
	return b.String() + text
}
