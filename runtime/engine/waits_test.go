package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	loading "verbatim/verbs/load"
)

const annsPhone = "555 0199"

// kept is everything that waits in the queue, and was ever in it, as it is kept;
// and the journal.
func (w *world) kept() string {
	w.t.Helper()
	jobs, err := w.store.Jobs(context.Background(), stores.JobFilter{})
	if err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprintf("%+v\n%+v", jobs, w.journal())
}

// hidesAnnsPhone runs a script as kim, wants a code of its refusal, and that Ann's phone number is in
// no message and nowhere in what it returns: what is kept then.
func (w *world) hidesAnnsPhone(t *testing.T, text, code string) string {
	t.Helper()
	s := w.session("kim")
	p := w.program(s, text)
	preview, err := s.Preview(t.Context(), p)
	if code != "" && err == nil {
		t.Errorf("the preview does not say so: %+v", preview)
	}
	_, err = s.Run(t.Context(), p, engine.RunOptions{})
	if got := codeOf(t, err); got != code && !(code == "nothing-given" && got != "") {
		t.Errorf("told %q, %v", got, err)
	}
	if err != nil && strings.Contains(err.Error(), annsPhone) {
		t.Errorf("told %v", err)
	}
	kept := w.kept()
	if strings.Contains(kept, annsPhone) {
		t.Errorf("kept: %s", kept)
	}
	return kept
}

// SAFE-S1, SAFE-L1: whatever way a sensitive value takes into an argument that is not marked so,
// it is not kept in a field that everybody sees who sees the row, nor in a label that names a
// row. What a field holds already may be said again.
func TestNothingSensitiveIsKeptInTheOpen(t *testing.T) {
	t.Parallel()
	const refused = "secret-would-be-open"
	for name, c := range map[string]struct{ text, code string }{
		"a person's own words":    {`lending.note :loan-id @saw-bob :note "call her"`, ""},
		"a field of a name":       {`lending.note :loan-id @saw-bob :note @ann.phone`, refused},
		"a field of a result":     {"lending.get-phone :member-id @ann :as @p\nlending.note :loan-id @saw-bob :note @p.phone", refused},
		"what is not sensitive":   {"lending.get-phone :member-id @ann :as @p\nlending.note :loan-id @saw-bob :note @p.name", ""},
		"a label":                 {`lending.add-item :club-id @north :name @ann.phone`, refused},
		"a label that is renamed": {`lending.rename-member :member-id @bob :name @ann.phone`, refused},
		"a field that is marked":  {`lending.set-phone :member-id @bob :phone @ann.phone`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newWorld(t).hidesAnnsPhone(t, c.text, c.code)
		})
	}
}

// SAFE-S1, SAFE-L1: whatever way a sensitive value takes into an argument that is
// not marked so, it does not stand in the payload of a job: work that would need
// it is refused, and a notice goes without it.
func TestNothingSensitiveWaits(t *testing.T) {
	t.Parallel()
	const later = ` :on 2030-01-01`
	for name, c := range map[string]struct{ text, code string }{
		"a person's own words":     {`lending.note-later :loan-id @saw-bob :text "call her"` + later, ""},
		"a field of a name":        {`lending.note-later :loan-id @saw-bob :text @ann.phone` + later, "secret-would-wait"},
		"a field of a result":      {"lending.get-phone :member-id @ann :as @p\nlending.note-later :loan-id @saw-bob :text @p.phone" + later, "secret-would-wait"},
		"what is not sensitive":    {"lending.get-phone :member-id @ann :as @p\nlending.note-later :loan-id @saw-bob :text @p.name" + later, ""},
		"an argument of a macro":   {`lending.note-soon :loan-id @saw-bob :words @ann.phone`, "secret-would-wait"},
		"a macro, a field":         {"lending.get-phone :member-id @ann :as @p\nlending.note-soon :loan-id @saw-bob :words @p.phone", "secret-would-wait"},
		"nothing, where there is":  {`lending.note-later :loan-id @saw-bob :text @bob.phone` + later, "nothing-given"},
		"a notice of a field":      {`lending.tell-board :loan-id @saw-bob :text @ann.phone`, ""},
		"a notice of a result":     {"lending.get-phone :member-id @ann :as @p\nlending.tell-board :loan-id @saw-bob :text @p.phone", ""},
		"a notice of common words": {`lending.tell-board :loan-id @saw-bob :text "call her"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := newWorld(t).hidesAnnsPhone(t, c.text, c.code)
			switch {
			case strings.Contains(c.text, "call her"):
				if !strings.Contains(strings.ToLower(kept), "call her") {
					t.Errorf("what is not sensitive is not kept: %s", kept)
				}
			case strings.Contains(name, "notice"):
				if n := strings.Count(kept, `"(withheld)"`); n < 2 {
					t.Errorf("%d values are withheld: %s", n, kept)
				}
			}
		})
	}
}

const payeesPalette = `domain: pay
roles: [{name: clerk, sees: all}]
entities:
  payee:
    table: pay.payees
    key: payee_id
    managed: true
    scope: everyone
    label: "{who}"
    fields: {who: {type: string, required: true}, iban: {type: string, sensitive: true}}
verbs:
  - verb: enter
    roles: [clerk]
    args: [{name: who, type: string, required: true}, {name: iban, type: string, sensitive: true}]
    effects: [{creates: payee, set: {who: who, iban: iban}}]
  - verb: enter-all
    roles: [clerk]
    args: [LINES]
    effects: [{creates: payee, for-each: lines, set: {who: each.who, iban: each.iban}}]
  - verb: enter-each
    roles: [clerk]
    args: [LINES]
    for-each: lines
    script: pay.enter :who @each.who :iban @each.iban
  - verb: enter-wrong
    roles: [clerk]
    args: [LINES]
    for-each: lines
    script: pay.enter :who @each.iban
`

// Of a record in which one field is sensitive, the others may be kept in the open, whichever way
// they take; unless what was written there was itself taken from something sensitive.
func TestAPartOfARecordIsAsSecretAsItself(t *testing.T) {
	t.Parallel()
	const iban = "AT611904300234573201"
	lines := `{name: lines, type: list, required: true, of: {type: record, fields: {who: {type: string, required: true}, iban: {type: string, sensitive: true}}}}`
	text := strings.ReplaceAll(payeesPalette, "LINES", lines)
	w := newBare(t, loadYAML(t, map[string]string{"pay.yaml": text}), stores.Principal{Name: "carl", Roles: []string{"clerk"}})
	for i, c := range []struct{ text, code string }{
		{`pay.enter :who "Olga" :iban "` + iban + `"`, ""},
		{`pay.enter-all :lines [{:who "Otto" :iban "` + iban + `"} {:who "Vera"}]`, ""},
		{`pay.enter-each :lines [{:who "Mia" :iban "` + iban + `"}]`, ""},
		{`pay.enter-all :lines [{:who @olga.iban :iban "x"}]`, "secret-would-be-open"},
		{`pay.enter-each :lines [{:who @olga.iban :iban "x"}]`, "secret-would-be-open"},
		{`pay.enter-wrong :lines [{:who "Kim" :iban "` + iban + `"}]`, "secret-would-be-open"},
	} {
		before := len(w.every(w.entity("payee")))
		if _, err := w.run("carl", c.text); codeOf(t, err) != c.code {
			t.Errorf("%d: %v", i, err)
		}
		if after := len(w.every(w.entity("payee"))); (after > before) != (c.code == "") {
			t.Errorf("%d: %d rows became %d", i, before, after)
		}
	}
	if kept := w.kept(); strings.Contains(kept, iban) {
		t.Errorf("kept: %s", kept)
	}
	_, ds := loading.Sources(dsl.NewSource("pay.yaml", strings.Replace(text, "set: {who: each.who, iban: each.iban}", "set: {who: each.iban}", 1)))
	if !slices.ContainsFunc(ds, func(d dsl.Diagnostic) bool { return d.Code == "open-secret" }) {
		t.Errorf("the palette is told %v", ds)
	}
}
