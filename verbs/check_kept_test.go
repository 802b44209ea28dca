package verbs

import (
	"strings"
	"testing"

	"verbatim/dsl"
)

const keptPalette = `
domain: desk
roles: [{name: clerk, description: Somebody.}]
entities:
  note:
    managed: true
    key: note_id
    scope: self
    label: "{text}"
    fields: {text: {type: string}, call: {type: call}}
verbs:
  - verb: keep
    description: Keep a call.
    roles: [clerk]
    args: [{name: call, type: call, required: true}]
    effects: [{creates: note, set: {call: call}}]
  - verb: keep-open
    description: Keep a call beside others.
    roles: [clerk]
    args: [{name: call, type: call, open: true, required: true}]
    effects: [{creates: note, set: {call: call}}]
  - verb: keep-all
    description: Keep calls.
    roles: [clerk]
    args: [{name: calls, type: list, of: call, min-length: 2, max-length: 3}]
    effects: [{creates: note, for-each: calls, set: {call: each}}]
  - verb: write
    description: Write a note.
    roles: [clerk]
    args: [{name: text, type: string, required: true}, {name: about, type: ref, ref-type: note}, {name: pin, type: string, sensitive: true}]
    effects: [{creates: note, set: {text: text}}]
  - verb: wake
    description: Work.
    roles: [clerk]
    internal: true
    effects: [{creates: note, set: {text: "'x'"}}]
`

// rowNames knows one row.
type rowNames struct{ e *Entity }

func (n rowNames) Lookup(name string) *Entity {
	if name == "mine" {
		return n.e
	}
	return nil
}
func (rowNames) Nearby(string) []string { return nil }

// A call that is kept is checked as if it were made: what could not be said is not kept.
func TestKeptCallsAreChecked(t *testing.T) {
	t.Parallel()
	reg := loadText(t, "desk.yaml", keptPalette)
	for text, code := range map[string]string{
		`desk.keep :call (desk.write :text "a")`:                                                                 "",
		`desk.keep :call (desk.write :text "a" :about @mine)`:                                                    "",
		`desk.keep :call (desk.write :text "a" :pin @mine.text)`:                                                 "",
		`desk.keep :call (desk.keep :call (desk.write :text "a"))`:                                               "",
		`desk.keep-all :calls [(desk.write :text "a" :as @x) (desk.write :text "b" :about @x)]`:                  "",
		`desk.keep-all :calls [(desk.write :text "b" :about @x) (desk.write :text "a" :as @x)]`:                  "",
		`desk.keep-open :call (desk.write :text "a" :about @other)`:                                              "",
		`desk.write :text "a" :as @x desk.keep :call (desk.write :text "b" :as @x)`:                              "",
		`desk.keep :call (desk.write :text "a" :about @other)`:                                                   "unknown-name",
		`desk.write :text "a" :as @x desk.keep :call (desk.write :text "b" :about @x)`:                           "unknown-name",
		`desk.keep :call (desk.write :text 12)`:                                                                  "wrong-type",
		`desk.keep :call (desk.write)`:                                                                           "missing-argument",
		`desk.keep :call (desk.wrote :text "a")`:                                                                 "unknown-verb",
		`desk.keep :call (desk.wake)`:                                                                            "unknown-verb",
		`desk.keep :call (desk.write :text "a" :pin "1234")`:                                                     "contradiction",
		`desk.keep :call (desk.keep :call (desk.write :text "a" :pin "1234"))`:                                   "contradiction",
		`desk.keep :call "desk.write :text 1"`:                                                                   "wrong-type",
		`desk.keep :call [(desk.write :text "a")]`:                                                               "wrong-type",
		`desk.keep :call @mine`:                                                                                  "wrong-type",
		`desk.keep-all :calls (desk.write :text "a")`:                                                            "wrong-type",
		`desk.keep-all :calls [(desk.write :text "a")]`:                                                          "too-short",
		`desk.keep-all :calls [(desk.write :text "a" :as @x :about @y) (desk.write :text "b" :about @x :as @y)]`: "cycle",
		`desk.keep-all :calls [(desk.write :text "a") 12]`:                                                       "wrong-type",
		`desk.write :text (desk.write :text "a")`:                                                                "wrong-type",
	} {
		script, ds := dsl.Parse(dsl.NewSource("t", text))
		if ds.HasErrors() {
			t.Fatal(text, inWords(ds))
		}
		p, ds := reg.Check(script, rowNames{reg.Entity("note")})
		var got []string
		for _, d := range ds {
			if d.Severity == dsl.Error {
				got = append(got, d.Code)
			}
		}
		if s := strings.Join(got, " "); s != code || (p == nil) != (code != "") {
			t.Errorf("%s: %q, want %q: %s", text, s, code, inWords(ds))
		}
	}
}

// What is kept is the canonical text, with names that cannot move.
func TestKeptCallsAreTexts(t *testing.T) {
	t.Parallel()
	reg := loadText(t, "desk.yaml", keptPalette)
	script, _ := dsl.Parse(dsl.NewSource("t", `desk.keep-all :calls [(desk.write   :about @mine :text "a" :as @x) (desk.keep :call (desk.write :text @mine.text))]`))
	p, ds := reg.Check(script, rowNames{reg.Entity("note")})
	if p == nil {
		t.Fatal(inWords(ds))
	}
	p.Names(func(a *Arg, _ *Type) { p.Bind(a, Row{Entity: reg.Entity("note"), Name: "mine~abc"}) })
	arg := &p.Calls()[0].Args[0]
	want := `desk.write :about @mine~abc :text "a" :as @x; desk.keep :call (desk.write :text @mine~abc.text)`
	if got := strings.Join(p.Texts(arg), "; "); arg.Kind != Kept || got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := dsl.Format(p.Canonical()); !strings.Contains(got, "@mine~abc.text") {
		t.Error(got)
	}
	if len(p.Calls()) != 1 {
		t.Errorf("%d calls are made", len(p.Calls()))
	}
}
