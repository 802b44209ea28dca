package dialog

import (
	"testing"

	"verbatim/runtime/conversation/values"
)

// An answer stands in a letter: below a salutation, above a closing and the person's own name.
// What takes it back below is heard.
func TestAnAnswerInALetter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]words.Answer{
		"Hi,\n\nYes please.\n\nBest,\nAda Novak":           words.Agree,
		"Hallo,\n\nja, bitte.\n\nViele Grüße\nA. Novak":    words.Agree,
		"Bonjour,\n\nOui, allez-y.\n\nCordialement,\nAda":  words.Agree,
		"Buenos días:\n\nSí, adelante.\n\nUn saludo,\nAda": words.Agree,
		"Yes.\n\nAda":       words.Agree,
		"Confirmed.\nA. N.": words.Agree,
		"No\n\nAda":         words.Decline,
		"Yes.\n\nTomorrow":  words.Other,
		"Yes.\n\nBest,\nAda\nPS: only if it is under 500": words.Other,
		"Yes\n\nRegards\nAda\nBut not the blue one":       words.Other,
		"Yes\n\nThanks, and order two more":               words.Other,
		"Yes.\n\nAda\nHead of Assets\nNordfeld Ltd":       words.Agree,
		"Yes.\n\nAN":                              words.Agree,
		"Yes, go ahead. Ada":                      words.Agree,
		"Ja, gerne. LG Ada":                       words.Agree,
		"Yes.\n\nAda\nNext week please":           words.Other,
		"Yes.\n\nAda\nDoes it cost much?":         words.Other,
		"Yes.\n\nBest,\nAda\nnext week please":    words.Other,
		"Yes.\n\nJana Weiss\nOffice of Ada Novak": words.Other,
		"Yes, Ben":           words.Other,
		"Yes...":             words.Other,
		"Ja…":                words.Other,
		"Hi,\n\nAda":         words.Other,
		"Yes\n\nBest\n500 €": words.Other,
	} {
		h := hear(text, false, "Ada Novak")
		if got := h.reply.Answer; got != want && !(want == words.Other && got == words.Change) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}
