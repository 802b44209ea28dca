package words

import "strings"

// A Key names a sentence of the catalogue: "collect/one-answer".
type Key string

// In says the sentence in a language, with what belongs to it in the place of each {};
// where that language has no such sentence, all of it is said in English.
func (k Key) In(l Language, of ...string) string { return fill(k.Text(l), of) }

// Text is the sentence as the catalogue has it, with {} where something belongs to it.
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

// Typeset puts the spaces of a language such as French as they are printed: before high
// signs and within quotation marks stands one that no line breaks at. Who writes a
// sentence writes plain spaces, which can be seen.
func Typeset(l Language, text string) string { return ours().tongues[l].typeset(text) }

func (t *tongue) typeset(text string) string {
	if !t.traits[SpacedMarks] {
		return text
	}
	return markSpaces.Replace(text)
}

var markSpaces = strings.NewReplacer(" :", "\u00a0:", " ;", "\u202f;", " ?", "\u202f?", " !", "\u202f!", " %", "\u00a0%", "« ", "«\u00a0", " »", "\u00a0»")
