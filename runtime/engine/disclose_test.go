package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

// disclosing are verbs of a club that look at the members and things of all clubs.
const disclosing = `
  - verb: seen-elsewhere
    description: Whether somebody of that name is known, and owes a thing.
    roles: [keeper, member]
    args:
      - {name: name, type: string, required: true}
      - {name: phone, type: string, sensitive: true}
    totals:
      - {name: namesakes, count: member, where: row.name == name, beyond: true}
      - {name: proven, some: member, where: phone != nil and row.name == name and row.phone == phone, beyond: true}
      - {name: late, some: loan, where: row.member.name == name and row.status == LATE, beyond: true}
      - {name: clean, all: loan, where: row.member.name == name, that: row.status != LATE, beyond: true}
      - {name: worth, max: item.worth, where: row.status == OUT, beyond: true}
    discloses:
      - {name: state, type: code, ref-type: item-status, is: "proven ? IN : namesakes > 0 ? OUT : LOST"}
      - {name: many, type: integer, min: 0, max: 2, is: "min(namesakes, 2)"}
      - {name: owes, type: boolean, is: late and not clean}
      - {name: level, type: integer, min: 0, max: 1, is: "worth == nil ? 0 : 1"}
    limits:
      - {at-most: 50, within: 1d, refused: counts}

  - verb: welcome
    description: Take in somebody whom no club waits for.
    roles: [keeper]
    args:
      - {name: club-id, type: ref, ref-type: club, required: true}
      - {name: name, type: string, required: true}
    totals:
      - {name: late, some: loan, where: row.member.name == name and row.status == LATE, beyond: true}
    discloses:
      - {name: owes, type: boolean, is: late}
    limits:
      - {at-most: 50, within: 1d, refused: counts}
    requires:
      - {that: not owes, else: another club waits for something}
    effects:
      - creates: member
        set: {club: club-id, name: name, phone: "owes ? 'x' : 'y'"}

  - verb: too-wide
    description: Says what its palette does not say that it may.
    roles: [keeper]
    args: []
    totals:
      - {name: things, count: item, where: row.name != "", beyond: true}
    discloses:
      - {name: things-there, type: integer, min: 0, max: 3, is: things}
    limits:
      - {at-most: 50, within: 1d}
`

// A verb may look at rows that its caller does not see, and tells of them only what its
// palette discloses.
func TestWhatIsDisclosed(t *testing.T) {
	t.Parallel()
	worldsOf(t, disclosing, func(t *testing.T, w *world) {
		tells := func(who, script, want string) {
			t.Helper()
			reply, err := w.run(who, script)
			if err != nil {
				t.Fatal(script, err)
			}
			result := reply.Calls[len(reply.Calls)-1].Result
			if got := fmt.Sprint(result.Columns, result.Rows[0]); got != want {
				t.Errorf("%s tells %s, want %s", script, got, want)
			}
		}
		const columns = "[state many owes level] "
		tells("kim", `lending.seen-elsewhere :name "Zoé Müller"`, columns+`["OUT" 1 true 1]`)
		tells("kim", `lending.seen-elsewhere :name "Zoé Müller" :phone "+33 1 23 45 67 89"`, columns+`["IN" 1 true 1]`)
		tells("kim", `lending.seen-elsewhere :name "Nobody"`, columns+`["LOST" 0 false 1]`)
		tells("mia", `lending.seen-elsewhere :name "Bob"`, columns+`["OUT" 1 false 1]`)
		// What the calls before it did counts.
		tells("kim", "lending.add-item :club-id @north :name \"Bob\"\nlending.seen-elsewhere :name \"Bob\"", columns+`["OUT" 1 false 1]`)
		if got := sentences(w.refused("kim", `lending.welcome :club-id @north :name "Zoé Müller"`, "requirement-not-met")); got != "another club waits for something" {
			t.Error(got)
		}
		w.done("kim", `lending.welcome :club-id @north :name "Zoe"`)
		// It is journalled, with who asked, and without what is sensitive.
		if _, err := w.preview("kim", `lending.seen-elsewhere :name "Bob"`); err != nil {
			t.Error(err)
		}
		last := w.journal()
		found := 0
		for _, e := range last {
			if e.Verb == "lending.seen-elsewhere" {
				found++
				if strings.Contains(e.Call, "+33") {
					t.Errorf("the journal holds %s", e.Call)
				}
			}
		}
		if found != 2*5+1 { // each was previewed and done, and one previewed
			t.Errorf("%d entries tell of it", found)
		}
		// After it, everything is read within the scope again.
		r, err := w.run("kim", "lending.seen-elsewhere :name \"Nobody\"\nlending.list-items")
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(r.Calls[1].Result.Rows); strings.Contains(text, "Kayak") {
			t.Errorf("it opened %s", text)
		}
		// What is outside what may be told is told to nobody.
		if _, err := w.run("kim", "lending.too-wide"); err == nil || !strings.Contains(err.Error(), "outside what may be told") {
			t.Errorf("it says %v", err)
		}
	})
}

// Two worlds whose hidden rows differ, and come to the same disclosed values, cannot be
// told apart: not by an answer, a refusal, a preview, a name, or how much is read.
func TestNothingButWhatIsDisclosedTells(t *testing.T) {
	t.Parallel()
	tells := func(w *world) string {
		var b strings.Builder
		for _, script := range []string{
			`lending.seen-elsewhere :name "Zoé Müller"`,
			`lending.seen-elsewhere :name "Zoé Müller" :phone "+33"`,
			`lending.welcome :club-id @north :name "Zoé Müller"`,
			`lending.welcome :club-id @north :name "Yann"`,
			`lending.list-items`,
		} {
			shown, err := w.preview("kim", script)
			fmt.Fprintln(&b, wasTold(shown), err)
			done, err := w.run("kim", script)
			fmt.Fprintln(&b, wasTold(done), err)
		}
		return b.String()
	}
	worldsOf(t, disclosing, func(t *testing.T, w *world) {
		one := tells(w)
		w.set("loan", 34, "due", date("2020-02-02"))
		w.set("item", 25, "name", str("Submarine"))
		w.set("member", 13, "phone", str("+1 555"))
		loan := w.entity("loan")
		w.change(stores.Change{Op: stores.Insert, Entity: loan, Key: id(77), Set: []stores.Assign{
			{Field: loan.FieldIndex("member"), Value: id(13)}, {Field: loan.FieldIndex("item"), Value: id(25)},
			{Field: loan.FieldIndex("status"), Value: str("LATE")}, {Field: loan.FieldIndex("due"), Value: date("2021-01-01")}}})
		if two := tells(w); one != two {
			t.Errorf("they differ:\n%s\nand\n%s", one, two)
		}
	})
}

// wasTold is what a caller is told of what was done, or would be.
func wasTold(r *receipt.Receipt) string {
	if r == nil {
		return "nothing"
	}
	var b strings.Builder
	for _, c := range r.Calls {
		fmt.Fprintf(&b, "%s: ", c.Verb)
		for _, row := range c.Rows {
			for _, f := range row.Fields {
				fmt.Fprintf(&b, "%s %s %s, ", row.Op, f.Name, plain(f.After.String()))
			}
		}
		if c.Result != nil {
			fmt.Fprint(&b, c.Result.Columns, plain(fmt.Sprint(c.Result.Rows)), c.Result.Left)
		}
	}
	return b.String()
}
