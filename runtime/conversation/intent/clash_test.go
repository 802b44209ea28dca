package intent

import (
	"slices"
	"testing"
	"testing/fstest"

	"verbatim/dsl"
	loading "verbatim/verbs/load"
)

// Each example of a code earns it, and what is put right earns none.
func TestExamplesOfCodesRun(t *testing.T) {
	t.Parallel()
	for _, doc := range Codes() {
		for text, wrong := range map[string]bool{doc.Wrong: true, doc.Right: false} {
			reg, ds := loading.Dir(fstest.MapFS{"pay.yaml": {Data: []byte(text)}})
			if ds.HasErrors() {
				t.Fatal(doc.Code, ds)
			}
			found, _ := New(reg).Lint()
			if slices.ContainsFunc(found, func(d dsl.Diagnostic) bool { return d.Code == doc.Code }) != wrong {
				t.Errorf("%s, wrong %v: %v", doc.Code, wrong, found)
			}
		}
	}
}

// F20: verbs with a phrase in common are named once, at the place of both; those that
// take each other's phrases with how many and how likely; and verbs that nobody may use
// together have nothing to do with each other.
func TestVerbsThatTakeEachOthersPhrases(t *testing.T) {
	t.Parallel()
	palette := func(role string) dsl.Diagnostics {
		reg, ds := loading.Dir(fstest.MapFS{"pay.yaml": {Data: []byte(`domain: pay
roles: [{name: clerk}, {name: guest}]
verbs:
  - verb: release
    roles: [clerk]
    phrases: [let the payment go, send it off]
    effects: [{notifies: clerk}]
  - verb: remind
    roles: [` + role + `]
    phrases: [write to them again, send it off]
    effects: [{notifies: clerk}]
`)}, "pay.de.yaml": {Data: []byte("verbs: {release: {phrases: [schick es ab]}, remind: {phrases: [schick es ab]}}\n")}})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		found, held := New(reg).Lint()
		if held.Phrases != 6 || held.First > held.Phrases {
			t.Errorf("%+v", held)
		}
		return found
	}
	found := palette("clerk")
	if len(found) != 1 || found[0].Code != "phrase-shared" || len(found[0].Related) != 2 {
		t.Fatal(found)
	}
	at := func(p dsl.Place) string { return p.String() }
	if got := []string{at(found[0].Place), at(found[0].Related[0].Place), at(found[0].Related[1].Place)}; !slices.Equal(got, []string{"pay.yaml:6:35", "pay.yaml:10:36", "pay.de.yaml:1:29"}) {
		t.Errorf("at %q", got)
	}
	if found = palette("guest"); len(found) != 0 {
		t.Errorf("verbs that nobody may use together: %v", found)
	}

	reg := load(t, domains[0].dir)
	found, held := New(reg).Lint()
	for _, d := range found {
		t.Logf("%s: %s", d.Place.String(), d.Summary)
		if d.Code == "phrase-shared" || d.Severity != dsl.Warning {
			t.Errorf("%s: %s", d.Place.String(), d.Summary)
		}
	}
	if t.Logf("%+v", held); held.Phrases < 500 || held.Taken*10 > held.Phrases || held.First*2 < held.Phrases {
		t.Errorf("%+v", held)
	}
}
