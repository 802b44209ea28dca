package values

import "strings"

// A Key names a sentence of the catalogue: "collect/one-answer".
type Key string

// In returns the sentence in a language, with the values in the places of {}. If that language has
// no such sentence, all of it is in English.
func (k Key) In(l Language, of ...string) string { return fill(k.Text(l), of) }

// Text returns the sentence as in the catalogue, with {} in the places of values.
func (k Key) Text(l Language) string { return ours().text(k, l) }

func fill(text string, of []string) string {
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

// Typeset replaces the spaces of a language such as French by those of print: a no-break space
// before high punctuation and within quotation marks. Authors of sentences write plain spaces,
// which are visible.
func Typeset(l Language, text string) string { return ours().tongues[l].typeset(text) }

func (t *tongue) typeset(text string) string {
	if !t.traits[SpacedMarks] {
		return text
	}
	return markSpaces.Replace(text)
}

var markSpaces = strings.NewReplacer(" :", "\u00a0:", " ;", "\u202f;", " ?", "\u202f?", " !", "\u202f!", " %", "\u00a0%", "« ", "«\u00a0", " »", "\u00a0»")
