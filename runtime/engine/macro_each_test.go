package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	loading "verbatim/verbs/load"
)

const macroEach = recording + `
  - verb: give
    description: One thing.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: item-id, type: ref, ref-type: item, required: true}
      - {name: days, type: integer, min: 1, required: true}
      - {name: note, type: string}
    requires:
      - {that: item_id.status == IN, else: this thing is out}
    effects:
      - creates: loan
        set: {member: member-id, item: item-id, due: today + days(days), note: note}
      - updates: item.status
        where: item-id
        set: {status: OUT}
  - verb: lend-several
    description: Things, one after the other.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - name: lines
        type: list
        required: true
        of: {type: record, fields: {thing: {type: ref, ref-type: item, required: true}, days: {type: integer, min: 1, required: true}, note: {type: string}}}
    for-each: lines
    script: |
      lending.give :member-id @member-id :item-id @each.thing :days @each.days :note @each.note
  - verb: lend-these
    description: Things, for as long as they are worth.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: item-ids, type: list, of: {type: ref, ref-type: item}}
    for-each: item-ids
    script: |
      lending.give :member-id @member-id :item-id @each :days 3 :note @each.name
  - verb: lend-all
    description: A macro of a macro.
    roles: [keeper]
    args:
      - {name: who, type: ref, ref-type: member, required: true}
      - {name: what, type: list, of: {type: ref, ref-type: item}, required: true}
    script: |
      lending.lend-these :member-id @who :item-ids @what
  - verb: ask-all
    description: Each of these loans is asked for on its day.
    roles: [keeper]
    args:
      - {name: loan-ids, type: list, of: {type: ref, ref-type: loan}, required: true}
    for-each: loan-ids
    script: |
      lending.ask-later :loan-id @each :on @each.due
`

// The calls of a macro that name @each are made for each item of its list, in its order,
// bounded, shown call by call, and each under the rules of its own verb.
func TestAMacroMakesACallForEach(t *testing.T) {
	t.Parallel()
	worldsOf(t, macroEach, func(t *testing.T, w *world) {
		s := w.session("kim")
		p := w.program(s, `lending.lend-several :member-id @ann :lines [{:thing @tent :days 2 :note "first"} {:days 4 :thing @drill}]`)
		shown, err := s.Preview(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, r := range shown.Calls[0].Rows {
			rows = append(rows, r.Op+" "+r.Entity+" "+plain(r.Name))
		}
		equal(t, rows, []string{"insert loan new", "update item @tent", "insert loan new", "update item @drill"})
		reply, err := s.Run(t.Context(), p, engine.RunOptions{Agreed: shown.ID})
		if err != nil || len(reply.Calls[0].Rows) != 4 {
			t.Fatal(reply, err)
		}
		var calls []string
		for _, e := range w.journal() {
			if strings.HasPrefix(e.Call, "lending.give ") {
				calls = append(calls, plain(e.Call))
			}
		}
		equal(t, calls, []string{
			`lending.give :member-id @ann :item-id @tent :days 2 :note "first"`,
			`lending.give :member-id @ann :item-id @drill :days 4 :note nil`,
		})
		// One that may not be, and nothing is done of the others.
		w.refused("kim", `lending.lend-these :member-id @ann :item-ids [@ladder]`, "requirement-not-met")
		w.refused("kim", `lending.lend-several :member-id @ann :lines [{:thing @tent :days 2}]`, "requirement-not-met")
		equal(t, w.done("kim", `lending.lend-these :member-id @ann`), []string{})
		equal(t, w.done("kim", `lending.lend-several :member-id @ann :lines []`), []string{})
		w.set("item", 24, "status", str("IN"))
		equal(t, w.done("kim", `lending.lend-all :who @bob :what [@tent]`), []string{
			"+ loan member=" + id(12).Text() + " item=" + id(24).Text() + ` status="OPEN" due=2025-01-06 note="Tent"`,
			"~ item " + id(24).Text() + ` status="OUT"`,
		})
		w.refused("kim", fmt.Sprintf(`lending.lend-these :member-id @ann :item-ids [%s]`, strings.Repeat("@ladder ", 1001)), "too-much")
	})
}

// A macro with for-each is how a trigger comes to several pieces of work, each at its own
// time and under its own key.
func TestAMacroBeginsWorkForEach(t *testing.T) {
	t.Parallel()
	worldsOf(t, macroEach, func(t *testing.T, w *world) {
		for _, loan := range []int{31, 33} {
			due, _ := stores.NewDate(2030, 1, loan-30)
			w.set("loan", loan, "due", due)
		}
		w.done("kim", `lending.ask-all :loan-ids [@saw-bob @tent-ann]`)
		jobs, err := w.store.Jobs(t.Context(), stores.JobFilter{Kinds: []string{engine.JobCall}})
		if err != nil {
			t.Fatal(err)
		}
		var at []string
		for _, j := range jobs {
			at = append(at, j.At.UTC().Format(time.DateOnly))
		}
		equal(t, at, []string{"2030-01-01", "2030-01-03"})
		w.refused("kim", `lending.ask-all :loan-ids [@tent-ann]`, "already-waits")
	})
	alone := macroEach + `
  - verb: ask-these
    description: Each of these loans is asked for.
    roles: [keeper]
    args:
      - {name: loan-ids, type: list, of: {type: ref, ref-type: loan}, required: true}
    effects:
      - triggers: asking-these
        for-each: loan-ids
        run: lending.note :loan-id @each :note "asked for"
`
	_, ds := loading.Dir(fstest.MapFS{"lending.yaml": {Data: []byte(lendingText(t) + alone)}})
	if got := told(ds); !strings.Contains(got, "[contradiction") || !strings.Contains(got, "a macro that calls this verb") {
		t.Error(got)
	}
}

func TestAMacroThatCannotBeThereForEach(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, code string }{
		{"for-each: lines", "for-each: line", "unknown-argument"},
		{"for-each: lines", "for-each: member-id", "type-mismatch"},
		{"@each.thing", "@each.things", "unknown-field"},
		{":days @each.days", ":days @each.thing", "wrong-type"},
		{":item-id @each :days 3", ":item-id @each.worth :days 3", "wrong-type"},
		{":note @each.name\n", ":note @each.name :as @it\n", "contradiction"},
		{":item-id @each :days", ":item-id (lending.give :member-id @member-id :item-id @each :days 2) :days", "contradiction"},
		{"    for-each: item-ids\n", "", "unknown-name"},
		{":item-id @each :days 3 :note @each.name", ":item-id @tent :days 3", "contradiction"},
		{"    script: |\n      lending.lend-these", "    for-each: what\n    script: |\n      lending.lend-these", "contradiction"},
	} {
		text := strings.Replace(macroEach, c.from, c.to, 1)
		if text == macroEach {
			t.Fatal(c.from)
		}
		_, ds := loading.Dir(fstest.MapFS{"lending.yaml": {Data: []byte(lendingText(t) + text)}})
		if got := told(ds); !strings.Contains(got, "["+c.code) {
			t.Errorf("%s: told %q, want %s", c.to, got, c.code)
		}
	}
}
