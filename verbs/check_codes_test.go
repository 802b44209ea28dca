package verbs

import (
	"os"
	"strings"
	"testing"

	"verbatim/dsl"
)

func demoPalette(t *testing.T) *Registry {
	t.Helper()
	text, err := os.ReadFile("testdata/codes/client.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return loadText(t, "client.yaml", string(text))
}

// U4: for each code of the checker, the wrong example earns exactly it and the
// right one earns nothing.
func TestExamplesOfCheckCodesRun(t *testing.T) {
	t.Parallel()
	r := demoPalette(t)
	names := session{"pierre-sow": r.Entity("request"), "allianz": r.Entity("cbu")}
	for _, doc := range CheckCodes() {
		t.Run(doc.Code, func(t *testing.T) {
			t.Parallel()
			for i, text := range []string{doc.Wrong, doc.Right} {
				script, ds := dsl.Parse(dsl.NewSource("-", text))
				if len(ds) > 0 {
					t.Fatal(inWords(ds))
				}
				_, ds = r.Check(script, names)
				if i == 0 && (len(ds) == 0 || ds[0].Code != doc.Code) {
					t.Errorf("the wrong example earns %s", inWords(ds))
				}
				if i == 1 && len(ds) > 0 {
					t.Errorf("the right example earns %s", inWords(ds))
				}
			}
		})
	}
}

// U4: every code that these files can report is explained, here or beside the
// parser or the loader.
func TestEveryCheckCodeIsDocumented(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]bool{
		"duplicate-key": true, "too-deep": true, "too-many-mistakes": true, "invalid-date": true, "invalid-datetime": true, // by the parser
		"bad-schema": true, "bad-value": true, "contradiction": true, // by the loader
	}
	documented := map[string]bool{}
	for _, doc := range CheckCodes() {
		if documented[doc.Code] {
			t.Errorf("%s is documented twice", doc.Code)
		}
		documented[doc.Code] = true
	}
	for name := range messages() {
		if code, _, _ := strings.Cut(name, "/"); !documented[code] && !elsewhere[code] {
			t.Errorf("%s is not documented", code)
		}
	}
}

// F19: a code that has another name now is told by that, with the line to write.
func TestAFormerCodeIsToldByItsNameNow(t *testing.T) {
	t.Parallel()
	r := loadText(t, "shop.yaml", `domain: shop
roles: [{name: clerk, description: One.}]
codes: [{name: state, description: States., values: [OPEN, {code: SETTLED, renamed-from: DONE}]}]
verbs:
  - verb: mark
    description: Mark it.
    roles: [clerk]
    args: [{name: to, type: code, ref-type: state, required: true}]
    effects: [{notifies: desk}]
`)
	script, _ := dsl.Parse(dsl.NewSource("-", "shop.mark :to DONE"))
	_, ds := r.Check(script, nil)
	if len(ds) != 1 || ds[0].Label != "say SETTLED" || len(ds[0].Fixes) != 1 || ds[0].Fixes[0].Edits[0].Text != "SETTLED" {
		t.Fatal(inWords(ds))
	}
	if want := `"DONE" is what it was called before; a script says SETTLED`; ds[0].Notes[0] != want {
		t.Errorf("%q", ds[0].Notes)
	}
}
