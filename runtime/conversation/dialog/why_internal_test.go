package dialog

import (
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs/load"
)

// How an answer came about is told in each language, all of it: nothing of what the
// house says in English is among it, and calls, names and codes are what they are.
// (U39, X12)
func TestWhyIsToldInEachLanguage(t *testing.T) {
	t.Parallel()
	reg, ds := load.Sources(dsl.NewSource("x.yaml", "domain: x\ndescription: X.\nroles: [{name: boss, description: Who agrees.}]\nverbs: []\n"),
		dsl.NewSource("x.de.yaml", "says: {boss: die Chefin}"), dsl.NewSource("x.fr.yaml", "says: {boss: la cheffe}"), dsl.NewSource("x.es.yaml", "says: {boss: la jefa}"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	r := &Turn{Number: 3, Time: time.Date(2024, 12, 27, 9, 14, 2, 0, time.UTC), Said: "hm", Quoted: "aha", Phrase: "p {q}",
		Read: []CallNote{{Call: "x.a", Rows: 1, From: "letter.pdf"}}, Calls: []CallNote{{Call: "x.b", Wrote: 2}, {Call: "x.c", Rows: 0}},
		Proposed: []Proposed{{Script: "x.d", Says: "zz", Outcome: "asked"}, {Outcome: "zz"}},
		Resolved: []Traced{{Text: "1", Origin: ofPerson, Words: "one"}, {Text: "2", Origin: ofRecord}},
		NotUsed:  []string{"x.e"}, Agreed: "abcd-ef01", Withdrawn: []string{"x.f"}, Replaced: []claim{{claimDate, "tomorrow"}}, Journal: [][2]int64{{1, 2}},
		Model: ModelNote{Prompt: "v1", Calls: 2, In: 10, Out: 20}}
	for _, s := range []values.Key{noteRemark, noteMaybeRemark, noteAnswered, noteOthers, noteAutomatic, noteBadCorrection, noteWhichCorrection, noteCorrection, noteLetGo, noteStillOpen, noteElsewhere, noteLost, noteDeclined, noteNoCalls, noteSteps, noteAnswerBefore, noteHeldUp, noteUnkept, noteFailed, noteContext, noteBrokeOff, noteAssumed, noteToolAfter, noteUnasked} {
		r.note(s, "zz", "zz")
	}
	r.refused(dsl.Diagnostics{{Code: "not-permitted", Summary: "you may not use x.send"}})
	r.rule(firedRule{by: "boss"})
	r.rule(firedRule{needs: []string{"boss"}})
	var english strings.Builder
	if err := r.Explain(&english); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(english.String(), "\n"); n < 45 {
		t.Errorf("only %d lines:\n%s", n, english.String())
	}
	for _, l := range values.Languages()[1:] {
		said := newWording(reg).in(l.String()).why(r)
		if strings.Count(said, "\n") != strings.Count(english.String(), "\n") || strings.Contains(said, "{}") {
			t.Errorf("in %s:\n%s", l, said)
		}
		for line := range strings.Lines(english.String()) {
			_, text, _ := strings.Cut(line, "  ")
			if text = strings.TrimSpace(text); len(strings.Fields(text)) > 3 && !strings.HasPrefix(text, "3, 2024") && strings.Contains(said, text) {
				t.Errorf("in %s, this is English: %s", l, text)
			}
		}
	}
}
