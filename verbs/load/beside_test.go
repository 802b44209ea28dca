package load

import (
	"strings"
	"testing"
	"testing/fstest"

	"verbatim/dsl"
	"verbatim/verbs"
)

const besideText = `domain: system
roles: [{name: operator, description: Who looks after it.}]
codes: [{name: status, values: [OPEN, SHUT]}]
entities:
  system-gate:
    managed: true
    key: gate_id
    scope: self
    label: "{name}"
    fields: {name: {type: string}, status: {type: code, ref-type: status, default: OPEN}}
verbs:
  - verb: shut
    roles: [operator]
    args: [{name: gate-id, type: ref, ref-type: system-gate, required: true}]
    effects: [{updates: system-gate.status, where: gate-id, set: {status: SHUT}}]
`

// G67: a directory loads as it would without the program's own palettes: it declares code lists of
// their names, and what it refers to is not theirs.
func TestOwnPalettesStandApart(t *testing.T) {
	t.Parallel()
	load := func(text string) (*verbs.Registry, string) {
		r, ds := Dir(fstest.MapFS{"shop.yaml": {Data: []byte(text)}}, Beside(dsl.NewSource("system.yaml", besideText)))
		var all []string
		for _, d := range ds {
			line := d.Code + " " + d.Place.Source.Name + ": " + d.Summary
			for _, rel := range d.Related {
				line += " | " + rel.Place.Source.Name
			}
			all = append(all, line)
		}
		return r, strings.Join(all, "\n")
	}
	const ask = "verbs: [{verb: ask, roles: [clerk], handler: true, args: [{name: how, type: code, ref-type: status}]}]\n"
	const clerk = "domain: shop\nroles: [{name: clerk}]\n"

	r, said := load(clerk + "codes: [{name: status, values: [NEW, OLD]}]\n" + ask)
	if r == nil || said != "" {
		t.Fatal(said)
	}
	if got := r.Verb("shop.ask").Params[0].Type.Codes.Names(); strings.Join(got, " ") != "NEW OLD" {
		t.Errorf("the directory's list holds %v", got)
	}
	if got := r.Entity("system-gate").Fields[2].Type.Codes; strings.Join(got.Names(), " ") != "OPEN SHUT" || r.CodeList(got.Name) != got {
		t.Errorf("the program's list %s holds %v", got.Name, got.Names())
	}
	// The palettes of a directory that declares no list keep their codes elsewhere.
	if r, said = load(clerk + ask); r == nil || said != "any-code shop.yaml: the codes of status are declared nowhere, so any code is accepted" {
		t.Errorf("%v: %s", r, said)
	}
	// What it promises of an entity that it does not declare is prose, whatever the program declares.
	const prose = "verbs: [{verb: ask, roles: [clerk], effects: [{creates: %s}]}]\n"
	_, ours := load(clerk + strings.Replace(prose, "%s", "system-gate", 1))
	_, none := load(clerk + strings.Replace(prose, "%s", "nowhere-gate", 1))
	if ours != none || !strings.HasPrefix(none, "handler-needed") {
		t.Errorf("%s\nand\n%s", ours, none)
	}
	if _, said = load(clerk + "verbs: [{verb: ask, roles: [operator], handler: true}]\n"); !strings.HasPrefix(said, `unknown-role shop.yaml: no role is called "operator"`) {
		t.Error(said)
	}
	// What the store knows by its name is taken. It is said once, where the directory says it.
	for text, want := range map[string]string{
		"domain: shop\nroles: [{name: operator}]\n": "declared-twice shop.yaml: role operator is the program's own | system.yaml",
		clerk + "entities: {system-gate: {managed: true, key: id, scope: self, label: \"{n}\", fields: {n: {type: string}}}}\n": "declared-twice shop.yaml: entity system-gate is the program's own | system.yaml",
		"domain: system\nroles: [{name: clerk}]\n":                                                                                                     "declared-twice shop.yaml: domain system is the program's own | system.yaml",
		"domain: shop\nnamespace: verbatim\nroles: [{name: clerk}]\n":                                                                                  `reserved-word shop.yaml: a namespace cannot be called "verbatim"`,
		"domain: shop\nnamespace: shop\nroles: [{name: operator}]\nverbs: [{verb: ask, roles: [operator], handler: true}]\n":                           "",
		clerk + "entities: {gate: {managed: true, key: id, scope: self, label: \"{n}\", table: t, fields: {n: {type: ref, ref-type: system-gate}}}}\n": `unknown-entity shop.yaml: no entity is called "system-gate"`,
	} {
		if r, said := load(text); said != want || (r == nil) != (want != "") {
			t.Errorf("%s\nsays %q\nwant %q", text, said, want)
		}
	}
}
