package dialog

import (
	"testing"

	"verbatim/runtime/conversation/values"
)

// An answer stands in a letter: below a salutation, above a closing and the person's own name.
// What takes it back below is heard.
func TestAnAnswerInALetter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]values.Answer{
		"Hi,\n\nYes please.\n\nBest,\nAda Novak":           values.Agree,
		"Hallo,\n\nja, bitte.\n\nViele Grüße\nA. Novak":    values.Agree,
		"Bonjour,\n\nOui, allez-y.\n\nCordialement,\nAda":  values.Agree,
		"Buenos días:\n\nSí, adelante.\n\nUn saludo,\nAda": values.Agree,
		"Yes.\n\nAda":       values.Agree,
		"Confirmed.\nA. N.": values.Agree,
		"No\n\nAda":         values.Decline,
		"Yes.\n\nTomorrow":  values.Other,
		"Yes.\n\nBest,\nAda\nPS: only if it is under 500": values.Other,
		"Yes\n\nRegards\nAda\nBut not the blue one":       values.Other,
		"Yes\n\nThanks, and order two more":               values.Other,
		"Yes.\n\nAda\nHead of Assets\nNordfeld Ltd":       values.Agree,
		"Yes.\n\nAN":                              values.Agree,
		"Yes, go ahead. Ada":                      values.Agree,
		"Ja, gerne. LG Ada":                       values.Agree,
		"Yes.\n\nAda\nNext week please":           values.Other,
		"Yes.\n\nAda\nDoes it cost much?":         values.Other,
		"Yes.\n\nBest,\nAda\nnext week please":    values.Other,
		"Yes.\n\nJana Weiss\nOffice of Ada Novak": values.Other,
		"Yes, Ben":           values.Other,
		"Yes...":             values.Other,
		"Ja…":                values.Other,
		"Hi,\n\nAda":         values.Other,
		"Yes\n\nBest\n500 €": values.Other,
	} {
		h := hear(text, false, "Ada Novak")
		if got := h.reply.Answer; got != want && !(want == values.Other && got == values.Change) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}
