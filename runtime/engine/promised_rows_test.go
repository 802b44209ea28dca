package engine_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/engine"
)

// promising has effects about several rows, and about what may be left out.
const promising = `
  - verb: give-back
    description: Take back one thing that a member has.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    effects:
      - updates: loan.status
        where: row.member == member_id and row == loan_id
        set: {status: CLOSED}

  - verb: forgive
    description: Close the loans of a member that are late, if there are any.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: sure, type: boolean, default: true}
    effects:
      - updates: loan.status
        where: row.member == member_id
        when: row.status == LATE
        set: {status: CLOSED}
      - updates: loan.note
        where: row.member == member_id and row.status == OPEN
        when: sure
        set: {note: "'seen'"}

  - verb: tidy
    description: Close the late loans of a member, by a handler.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
    handler: true
    effects:
      - updates: loan.status
        where: row.member == member_id and row.status == LATE
        set: {status: CLOSED}

  - verb: close-all
    description: Close these loans, and tell whoever has them.
    roles: [keeper]
    args:
      - {name: loan-ids, type: list, of: {type: ref, ref-type: loan}, required: true}
    effects:
      - updates: loan.status
        where: loan-ids
        set: {status: CLOSED}
      - creates: reminder
        for-each: loan-ids
        set: {loan: each, remind_on: each.due + days(1), text: "'closed'"}
      - notifies: member
        for-each: loan-ids
        when: each.status == LATE
        with: {loan: each, due: each.due}

  - verb: chase
    description: A reminder for each loan of a member.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
    effects:
      - creates: reminder
        for-each: {rows: loan, where: row.member == member_id}
        when: each.status != CLOSED
        set: {loan: each, remind_on: today + days(1), text: each.item.name}

  - verb: worth
    description: Note what the things are worth, and how late the loans of a member are.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: item-ids, type: list, of: {type: ref, ref-type: item}}
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    totals:
      - {name: worth, sum: item.worth, where: item-ids}
      - {name: loans, count: loan, where: row.member == member_id and row.status != CLOSED}
      - {name: first, min: loan.due, where: row.member == member_id}
      - {name: last, max: loan.due, where: row.member == member_id}
    requires:
      - {that: loans < 3, else: that is more than two}
      - {that: worth <= 500, else: that is worth too much}
    effects:
      - updates: loan
        where: loan-id
        set:
          due: last ?? today
          note: "first != nil ? 'some' : 'none'"

  - verb: remind-on
    description: A reminder on each of these days.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
      - {name: days, type: list, of: date, required: true}
    effects:
      - creates: reminder
        for-each: days
        when: each > today
        set: {loan: loan-id, remind_on: each, text: "'again'"}

  - verb: mend
    description: A thing is worth more, once for each of its loans and of these members.
    roles: [keeper]
    args:
      - {name: loan-ids, type: list, of: {type: ref, ref-type: loan}, required: true}
      - {name: item-id, type: ref, ref-type: item, required: true}
    effects:
      - updates: item.worth
        for-each: loan-ids
        where: row == item_id
        set: {worth: row.worth + 10.00}
      - may-delete: reminder
        for-each: loan-ids
        where: row.loan == each

  - verb: correct
    description: Say what is so of a loan. What is left out stays.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
      - {name: due, type: date}
      - {name: note, type: string, clear: true}
    effects:
      - updates: loan
        where: loan-id
        set: {due: due, note: note}

  - verb: correct-both
    description: The same, by way of another verb.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
      - {name: note, type: string, clear: true}
    script: lending.correct :loan-id @loan-id :note @note
`

func promisingWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": lendingText(t) + promising}), promisingHandlers())
}

func promisingHandlers() *engine.Handlers {
	h := &engine.Handlers{}
	type args struct {
		Member engine.Ref `verb:"member-id"`
	}
	engine.Handle(h, "lending.tidy", func(_ context.Context, c *engine.Call, _ args) (engine.Outcome, error) { return c.Declared(), nil })
	return h
}

// F12: an effect without may- changes at least one row, each of those that a list
// names, and none twice. Otherwise the call is refused and nothing is changed.
func TestAPromisedRowIsHit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, code, says string }{
		{"a filter that picks nothing", `lending.give-back :member-id @ann :loan-id @saw-bob`, "nothing-matched", "lending.give-back is about at least one loan"},
		{"after calls before it", "lending.lose :item-id @drill\nlending.give-back :member-id @ann :loan-id @saw-bob", "nothing-matched", "at least one loan"},
		{"a condition that asks no row", `lending.forgive :member-id @ann`, "nothing-matched", "at least one loan"},
		{"a row twice", `lending.close-all :loan-ids [@saw-bob @tent-ann @saw-bob]`, "wrong-value", "it names a row twice"},
		{"a list of no rows", `lending.close-all :loan-ids []`, "nothing-matched", "at least one loan"},
		{"a handler that need not do it", `lending.tidy :member-id @bob`, "nothing-matched", "at least one loan"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if r := promisingWorld(t).refused("kim", c.script, c.code); !strings.Contains(sentences(r), c.says) {
				t.Errorf("it says %s", sentences(r))
			}
		})
	}
}

// An effect with for-each is there once for each row or item that is due, and a list of
// references means each of them.
func TestAnEffectForEach(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		`lending.give-back :member-id @bob :loan-id @saw-bob`:                          {"~ loan 31 status=CLOSED"},
		`lending.forgive :member-id @ann :sure false`:                                  {"~ loan 32 status=CLOSED", "~ loan 33 status=CLOSED"},
		`lending.close-all :loan-ids [@saw-bob @tent-ann]`:                             {"+ reminder loan=31 remind_on=2025-01-11 text=closed", "+ reminder loan=33 remind_on=2024-12-03 text=closed", "~ loan 31 status=CLOSED", "~ loan 33 status=CLOSED"},
		`lending.chase :member-id @ann`:                                                {"+ reminder loan=32 remind_on=2025-01-04 text=Ladder", "+ reminder loan=33 remind_on=2025-01-04 text=Tent"},
		`lending.remind-on :loan-id @saw-bob :days [2025-02-01 2025-02-08 2024-01-01]`: {"+ reminder loan=31 remind_on=2025-02-01 text=again", "+ reminder loan=31 remind_on=2025-02-08 text=again"},
		`lending.mend :loan-ids [@saw-bob @tent-ann @ladder-ann] :item-id @drill`:      {"- reminder 41", "~ item 21 worth=110.00"},
		`lending.remind-on :loan-id @saw-bob :days []`:                                 nil,
	} {
		w := promisingWorld(t)
		got := w.done("kim", script)
		for i := range got {
			got[i] = keysOfRows.ReplaceAllString(got[i], "$1")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n%s\nwant\n%s", script, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	w := promisingWorld(t)
	r, err := w.run("kim", `lending.close-all :loan-ids [@saw-bob @tent-ann]`)
	if err != nil {
		t.Fatal(err)
	}
	if told := r.Calls[0].Notices; len(told) != 1 || told[0].Target != "member" {
		t.Errorf("told %+v", told)
	}
}

// A total is worked out from the rows as they are, those that the script made
// included, exactly, and of no rows it is nothing.
func TestATotalOfRows(t *testing.T) {
	t.Parallel()
	w := promisingWorld(t)
	for _, c := range []struct{ script, does, refused string }{
		{`lending.worth :member-id @ann :item-ids [@drill @tent] :loan-id @ladder-ann`, "~ loan 32 due=2024-12-02 note=some", ""},
		{`lending.worth :member-id @ann :loan-id @ladder-ann`, "", ""},
		{`lending.worth :member-id @ann :item-ids [@saw @tent] :loan-id @ladder-ann`, "", ""},
		{`lending.worth :member-id @ann :item-ids [@saw @tent @drill @ladder] :loan-id @ladder-ann`, "", ""},
		{`lending.add-item :club-id @north :name "Boat" :worth 49.51 :as @boat lending.worth :member-id @ann :item-ids [@saw @tent @drill @boat] :loan-id @ladder-ann`, "", "that is worth too much"},
		{`lending.lend :item-id @drill :member-id @ann lending.worth :member-id @ann :loan-id @ladder-ann`, "", "that is more than two"},
		{`lending.worth :member-id @ann :item-ids [@saw @saw] :loan-id @ladder-ann`, "", "it names a row twice"},
	} {
		if c.refused != "" {
			code := "requirement-not-met"
			if strings.Contains(c.refused, "twice") {
				code = "wrong-value"
			}
			if r := w.refused("kim", c.script, code); !strings.Contains(sentences(r), c.refused) {
				t.Errorf("%s: %s", c.script, sentences(r))
			}
			continue
		}
		if got := keysOfRows.ReplaceAllString(strings.Join(w.done("kim", c.script), "; "), "$1"); got != c.does {
			t.Errorf("%s: %q, want %q", c.script, got, c.does)
		}
	}
}

// keysOfRows are the keys of the fixture's rows.
var keysOfRows = regexp.MustCompile(`00000000-0000-4000-8000-0000000000([0-9]{2})|"`)

// No effect is there for more rows than a call may have.
func TestForEachHasAnEnd(t *testing.T) {
	t.Parallel()
	w := promisingWorld(t)
	days := strings.Repeat("2025-03-01 ", 1000)
	if got := w.done("kim", "lending.remind-on :loan-id @saw-bob :days ["+days+"]"); len(got) != 1000 {
		t.Errorf("%d rows", len(got))
	}
	w.refused("kim", "lending.remind-on :loan-id @saw-bob :days ["+days+"2025-03-01]", "too-much")
}

// F14: an argument that is left out changes nothing, and nil empties a field only where
// the palette says so, also by way of a macro.
func TestAnArgumentThatIsLeftOutChangesNothing(t *testing.T) {
	t.Parallel()
	w := promisingWorld(t)
	for _, c := range []struct{ says, does string }{
		{`lending.correct :loan-id @saw-bob :note "kept"`, "~ loan 31 note=kept"},
		{`lending.correct :loan-id @saw-bob :due 2025-01-12`, "~ loan 31 due=2025-01-12"},
		{`lending.correct :loan-id @saw-bob :due nil`, ""},
		{`lending.correct :loan-id @saw-bob`, ""},
		{`lending.correct-both :loan-id @saw-bob`, ""},
		{`lending.correct-both :loan-id @saw-bob :note nil`, "~ loan 31 note=nil"},
		{`lending.correct :loan-id @saw-bob :note "back"`, "~ loan 31 note=back"},
		{`lending.correct :loan-id @saw-bob :note nil`, "~ loan 31 note=nil"},
	} {
		got := keysOfRows.ReplaceAllString(strings.Join(w.done("kim", c.says), "; "), "$1")
		if got != c.does {
			t.Errorf("%s: %q, want %q", c.says, got, c.does)
		}
	}
}
