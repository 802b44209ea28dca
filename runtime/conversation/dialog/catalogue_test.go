package dialog

import (
	"os"
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// operators are the codes of the engine that nobody meets in a conversation: it
// does not begin where palettes, handlers and servers do not fit, and settles no requests.
var operators = []string{"handler-unknown-verb", "handler-missing", "handler-not-wanted", "handler-argument-missing", "handler-argument-extra", "handler-argument-type",
	"bad-query", "generates-unknown", "tool-missing", "tool-unreached", "tool-unaccepted", "tool-changed", "tool-writes", "tool-mismatch", "still-asking", "bad-principal", "broken-call"}

// X12: whatever a call is refused for, by the checker or by the engine, there is a
// sentence for it in each language: a code that is added is not forgotten.
func TestEveryRefusalHasItsWordsInEachLanguage(t *testing.T) {
	t.Parallel()
	all := verbs.CheckCodes()
	for _, d := range engine.Codes() {
		if !slices.Contains(operators, d.Code) {
			all = append(all, d)
		}
	}
	known := map[string]bool{}
	for _, d := range all {
		known[d.Code] = true
		says, ok := refusals()[d.Code]
		if !ok {
			t.Errorf("a person has no words for %s: add it to refusals.go, or to those that no conversation meets", d.Code)
		}
		if says.Text(values.English) == "" {
			t.Errorf("%s: %s is not in the catalogue", d.Code, says)
		}
		for _, l := range values.Languages() {
			w := newWording(&verbs.Registry{}).in(l.String())
			told := w.refused(dsl.Diagnostics{{Code: d.Code, Summary: "the summary of it", Notes: []string{"what to do next"}}})
			if english := strings.Contains(told, "summary"); english != (l == values.English) {
				t.Errorf("%s in %s: %s", d.Code, l, told)
			}
		}
	}
	for code := range refusals() {
		if !known[code] {
			t.Errorf("there are words for %s, which nothing is refused for", code)
		}
	}
	// What is wrong with text as text has one answer, whatever it is.
	for _, d := range dsl.Codes() {
		w := newWording(&verbs.Registry{}).in("de")
		if told := w.refused(dsl.Diagnostics{{Code: d.Code, Summary: "the summary of it"}}); strings.Contains(told, "summary") {
			t.Errorf("%s: %s", d.Code, told)
		}
	}
}

// X13: a language that the house does not speak is answered in English, and one
// that comes with a country is the same language.
func TestTagsOfLanguages(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"de-AT": "ja", "FR": "oui", "es_MX": "sí", "it": "yes", "": "yes", "english": "yes"} {
		if got := newWording(&verbs.Registry{}).in(tag).say(sayYes); got != want {
			t.Errorf("%q: %q, not %q", tag, got, want)
		}
	}
}

// G9: a search without rows says what was looked for, and never that nothing is there.
func TestASearchWithoutRowsSaysWhatWasLookedFor(t *testing.T) {
	t.Parallel()
	reg, ds := load.Dir(os.DirFS("testdata/house"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	w := newWording(reg).in("en")
	for text, want := range map[string]string{
		`house.list-repairs`:                    "I looked for this and found nothing that you can see: what is being repaired, and what it waits for",
		`house.read-letters :repair-id @boiler`: "I looked for this and found nothing that you can see: what was written about a repair (boiler)",
	} {
		verb, _, _ := strings.Cut(text, " ")
		if got := w.plainly(&receipt.Call{Verb: verb, Text: text, Result: &receipt.Result{}}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
