package engine_test

import (
	"sync"
	"testing"

	"verbatim/runtime/engine"
)

// ofRows are verbs whose rules are about all rows of a member.
const ofRows = `
  - verb: praise
    description: Say that a member has given everything back.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: loan-ids, type: list, of: {type: ref, ref-type: loan}}
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    totals:
      - {name: late, some: loan, where: row.member == member_id and row.status == LATE}
      - {name: kept, none: loan, where: row.member == member_id and row.status == CLOSED}
      - {name: theirs, all: loan, where: loan-ids, that: row.member == member_id}
      - {name: any, some: loan, where: loan-ids}
    effects:
      - updates: loan.note
        where: loan-id
        set: {note: "(late ? 'late' : 'on time') + (kept ? ' keeps' : ' gives') + (theirs ? ' theirs' : ' others') + (any ? ' named' : '')"}

  - verb: fit
    description: Close a loan of a member who has only loans in time.
    roles: [keeper, member]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    requires:
      - some: loan
        where: row.member == member_id
        else: nothing was lent
      - all: loan
        where: row.member == member_id and row.status != CLOSED
        that: row.due >= today and row.item.status != LOST
        else: something is late, or lost
      - none: reminder
        where: row.loan == loan_id and row.text == "never"
        else: this one stays
    effects:
      - updates: loan.status
        where: loan-id
        set: {status: CLOSED}

  - verb: hasten
    description: A loan is due earlier.
    roles: [keeper, member]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    requires:
      - {that: loan_id.status == OPEN, else: it is closed}
    effects:
      - updates: loan.due
        where: loan-id
        set: {due: today - days(1)}
`

// A rule, and a value, may be that there are some rows, or none, or that something holds
// for all of them. Of no rows, it holds for all.
func TestSomeNoneAndAll(t *testing.T) {
	t.Parallel()
	worldsOf(t, ofRows, func(t *testing.T, w *world) {
		for script, note := range map[string]string{
			`lending.praise :member-id @ann :loan-id @saw-bob`:                                            "late keeps theirs",
			`lending.praise :member-id @bob :loan-id @saw-bob :loan-ids [@saw-bob]`:                       "on time keeps theirs named",
			`lending.praise :member-id @bob :loan-id @saw-bob :loan-ids [@saw-bob @tent-ann]`:             "on time keeps others named",
			`lending.praise :member-id @bob :loan-id @saw-bob :loan-ids [@tent-ann @ladder-ann @saw-bob]`: "on time keeps others named",
		} {
			w.done("kim", script)
			if got := w.get("loan", id(31), "note").Text(); got != note {
				t.Errorf("%s: %q, want %q", script, got, note)
			}
		}
		for script, says := range map[string]string{
			`lending.fit :member-id @ann :loan-id @tent-ann`:                                                                 "something is late, or lost",
			"lending.remind :loan-id @saw-bob :on 2025-01-20 :text \"never\"\nlending.fit :member-id @bob :loan-id @saw-bob": "this one stays",
			"lending.hasten :loan-id @saw-bob\nlending.fit :member-id @bob :loan-id @saw-bob":                                "something is late, or lost",
		} {
			if got := sentences(w.refused("kim", script, "requirement-not-met")); got != says {
				t.Errorf("%s: it says %s", script, got)
			}
		}
		w.done("kim", `lending.fit :member-id @bob :loan-id @saw-bob`)
		// Of no rows it holds for all.
		w.done("kim", `lending.fit :member-id @bob :loan-id @saw-bob`)
	})
}

// What held for all rows holds until the call is committed: of two at once, of whom one
// makes it so for one row that it does not, they go one after the other.
func TestWhatHoldsForAllIsHeld(t *testing.T) {
	t.Parallel()
	worldsOf(t, ofRows, func(t *testing.T, w *world) {
		for range 12 {
			w.set("loan", 31, "status", str("OPEN"))
			w.set("loan", 31, "due", date("2025-01-10"))
			engines := []*engine.Engine{w.engine, w.another(nil)}
			var errs [2]error
			var all sync.WaitGroup
			for i, script := range []string{`lending.fit :member-id @bob :loan-id @saw-bob`, `lending.hasten :loan-id @saw-bob`} {
				s, err := engines[i].Session(t.Context(), "kim")
				if err != nil {
					t.Fatal(err)
				}
				p := w.program(s, script)
				all.Go(func() { _, errs[i] = s.Run(t.Context(), p, engine.RunOptions{}) })
			}
			all.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("both, or neither: %v and %v", errs[0], errs[1])
			}
		}
	})
}
