package forms

import (
	"slices"
	"strings"
	"unicode"

	"verbatim/runtime/conversation/values"
)

// Named divides an answer that names its question by the question's label: "Share held: 38 %". With
// sentence, because no other question is open, a sentence may name one as well: "change the share
// held to 38 %". The field is "" if none is named.
func (f Filled) Named(text string, sentence bool, l values.Language) (field, answer string) {
	try := func(head, rest string) bool {
		if rest = strings.TrimSpace(rest); rest == "" {
			return false
		}
		said, most := values.Plain(head), 0
		for _, q := range f.Questions() {
			label := values.Plain(q.Label)
			before, ends := strings.CutSuffix(said, label)
			if !ends || len(label) <= most || before != "" && !strings.HasSuffix(before, " ") || len(strings.Fields(before)) > mostBefore {
				continue
			}
			field, answer, most = q.Field, rest, len(label)
		}
		return most > 0
	}
	if head, rest, found := strings.Cut(text, ":"); found && try(head, rest) || !sentence {
		return field, answer
	}
	from := 0
	for i, r := range text {
		if !unicode.IsSpace(r) {
			continue
		}
		if slices.Contains(l.Phrases("link"), strings.ToLower(text[from:i])) && try(text[:from], text[i:]) {
			return field, answer
		}
		from = i + len(string(r))
	}
	return "", ""
}

// mostBefore is the greatest number of words before the label of a question, such as "please change
// the".
const mostBefore = 4
