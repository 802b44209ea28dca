package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
)

const practicePalette = `domain: practice
roles: [{name: vet, sees: all}, {name: archivist, sees: all, keeps: journal}]
entities:
  owner:
    table: practice.owners
    key: owner_id
    managed: true
    scope: self
    label: "{name}"
    fields: {name: {type: string, required: true, personal: true}, file: {type: string}}
  visit:
    table: practice.visits
    key: visit_id
    managed: true
    scope: owner
    label: "{reason}"
    fields: {owner: {type: ref, ref-type: owner, required: true}, reason: {type: string, required: true}}
verbs:
  - verb: meet
    roles: [vet]
    args: [{name: name, type: string, required: true, personal: true}, {name: file, type: string}]
    effects: [{creates: owner, set: {name: name, file: file}}]
  - verb: book
    roles: [vet]
    args: [{name: owner-id, type: ref, ref-type: owner, required: true}, {name: reason, type: string, required: true}]
    effects: [{creates: visit, set: {owner: owner-id, reason: reason}}]
  - verb: say
    roles: [vet]
    args: [{name: visit-id, type: ref, ref-type: visit, required: true}, {name: reason, type: string, required: true}]
    requires: [{that: reason != 'closed', else: the practice is closed}]
    effects: [{updates: visit, where: visit-id, set: {reason: reason}}]
  - verb: drop
    roles: [archivist]
    args: [{name: owner-id, type: ref, ref-type: owner, required: true}]
    effects: [{deletes: owner, where: owner-id}]
`

// SAFE-J4: once a person's row is erased from the journal, no entry holds their name: neither one of
// a call that read another field of that row (@olga-huber.file), nor one of a refused call.
func TestANameIsErasedWhereverItStands(t *testing.T) {
	t.Parallel()
	w := newBare(t, loadYAML(t, map[string]string{"practice.yaml": practicePalette}),
		stores.Principal{Name: "vera", Roles: []string{"vet"}}, stores.Principal{Name: "ada", Roles: []string{"archivist"}})
	did := func(want, text string) {
		t.Helper()
		vera := w.session("vera")
		_, err := vera.Run(t.Context(), w.program(vera, text), engine.RunOptions{})
		if got := codeOf(t, err); got != want {
			t.Fatalf("%s: %q, %v", text, got, err)
		}
	}
	did("", `practice.meet :name "Olga Huber" :file "closed"`)
	did("", `practice.meet :name "Otto Maier" :file "F 7"`)
	did("", `practice.book :owner-id @otto-maier :reason "limps"`)
	did("", `practice.say :visit-id @limps :reason @otto-maier.file`)
	did("requirement-not-met", `practice.say :visit-id @f-7 :reason @olga-huber.file`)
	did("not-permitted", `practice.drop :owner-id @olga-huber`)

	text := func() string { return strings.ToLower(fmt.Sprintf("%+v", w.journal())) }
	if strings.Contains(text(), "olga") {
		t.Errorf("the chain holds a personal name: %s", text())
	}
	if !strings.Contains(w.beside(), "olga") {
		t.Error("what was said is not kept beside the journal")
	}
	var olga stores.Value
	for _, row := range w.every(w.entity("owner")) {
		if row[w.entity("owner").FieldIndex("name")].Text() == "Olga Huber" {
			olga = row[w.entity("owner").Key]
		}
	}
	n, err := w.session("ada").Journal().Redact(t.Context(), engine.Redaction{Entity: w.entity("owner"), Key: olga})
	if err != nil || n.Entries != 3 { // she was met, and named in two calls that were refused
		t.Errorf("%+v, %v", n, err)
	}
	if kept := w.beside(); strings.Contains(kept, "olga") || !strings.Contains(kept, "otto") {
		t.Errorf("kept beside the journal: %s", kept)
	}
}

// beside is what is kept beside the journal, in small letters.
func (w *world) beside() string {
	w.t.Helper()
	return strings.ToLower(fmt.Sprint(w.every(journal.Openings)))
}

// every is every row of an entity.
func (w *world) every(e *stores.Entity) (rows [][]stores.Value) {
	w.t.Helper()
	err := w.store.View(w.t.Context(), stores.Scope{All: true}, func(r stores.Reader) (err error) {
		rows, err = r.Find(w.t.Context(), stores.Find{Entity: e})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}
