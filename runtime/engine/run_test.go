package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/stores/storetest"
	"verbatim/verbs"
)

// OB3, O18: every kind of effect that says what it does is carried out from
// YAML alone, and nothing else happens.
func TestEffectsAreCarriedOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, who, script string
		want              []string
	}{
		{"creates a row with defaults and a key of its own", "kim",
			`lending.add-item :club-id @north :name "Axe" :worth 12.50 :tags ["sharp" "old"]`,
			[]string{`+ item club=` + id(1).Text() + ` name="Axe" status="IN" worth=12.50 tags=["sharp","old"]`}},
		{"creates, updates and notifies together", "kim",
			`lending.lend :item-id @drill :member-id @ann`,
			[]string{
				`+ loan member=` + id(11).Text() + ` item=` + id(21).Text() + ` status="OPEN" due=2025-01-10 updated_at=2025-01-03T10:00:02Z`,
				`~ item ` + id(21).Text() + ` status="OUT"`}},
		{"may-create does when its condition holds", "mia",
			`lending.note :loan-id @saw-bob :note "next week" :expected-date 2025-01-03`,
			[]string{
				`+ reminder loan=` + id(31).Text() + ` remind_on=2025-01-04 text="next week" at=2025-01-03T10:00:02Z`,
				`~ loan ` + id(31).Text() + ` note="next week"`}},
		{"may-create does not when its condition does not hold", "mia",
			`lending.note :loan-id @saw-bob :note "next week"`,
			[]string{`~ loan ` + id(31).Text() + ` note="next week"`}},
		{"updates every row that a condition picks, in scope", "kim",
			`lending.close-late :member-id @ann`,
			[]string{`~ loan ` + id(32).Text() + ` status="CLOSED"`, `~ loan ` + id(33).Text() + ` status="CLOSED"`}},
		{"deletes the row that is named", "kim",
			`lending.forget :reminder-id @saw-2025-01-11`,
			[]string{`- reminder ` + id(41).Text()}},
		{"may-delete deletes what a condition picks, in scope", "kim",
			`lending.clean :before 2030-01-01`,
			[]string{`- reminder ` + id(41).Text()}},
		{"a macro does what its calls do", "kim",
			`lending.relend :loan-id @saw-bob :item-id @drill :member-id @bob :why "again"`,
			[]string{
				`+ loan member=` + id(12).Text() + ` item=` + id(21).Text() + ` status="OPEN" due=2025-01-10 updated_at=2025-01-03T10:00:02Z`,
				`+ reminder loan=00000000-0000-4000-9000-000000000004 remind_on=2025-03-01 text="please return it"`,
				`~ item ` + id(21).Text() + ` status="OUT"`,
				`~ loan ` + id(31).Text() + ` note="again"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			equal(t, newWorld(t).done(c.who, c.script), c.want)
		})
	}
}

// O18: notices are queued with what caused them, and only then.
func TestNoticesFollowTheirConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ script, want string }{
		{`lending.lose :item-id @saw`, "trigger insurance-claim, notify board"}, // worth 250
		{`lending.lose :item-id @drill`, "trigger insurance-claim"},             // worth 80
		{`lending.lose :item-id @ladder`, "trigger insurance-claim"},            // worth unknown
	} {
		reply, err := w.run("kim", c.script)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range reply.Calls[0].Notices {
			got = append(got, n.Kind+" "+n.Target)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: got %q, want %q", c.script, s, c.want)
		}
	}
}

// An update that sets what is there already changes nothing and says so.
func TestSettingTheSameValueChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.done("mia", `lending.note :loan-id @saw-bob :note "same"`)
	before := w.state()
	reply, err := w.run("mia", `lending.note :loan-id @saw-bob :note "same"`)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Calls[0].Rows) != 0 || reply.Totals().Rows != 0 {
		t.Errorf("reported %v", reply.Calls[0].Rows)
	}
	equal(t, diff(w.entity, before, w.state()), nil)
	if reply.First == 0 {
		t.Error("the call is not in the journal")
	}
}

// OB3: reads come back from YAML alone, with names in the place of keys.
func TestReadsGiveNamesForKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reply, err := w.run("mia", `lending.list-items
lending.get-item :item-id @tent
lending.count-loans`)
	if err != nil {
		t.Fatal(err)
	}
	got := table(reply.Calls[0].Result)
	equal(t, got, []string{
		"item|name|status|worth|club|loans",
		`"@drill"|"Drill"|"IN"|80|"@north"|0`,
		`"@ladder"|"Ladder"|"LOST"|nil|"@north"|1`,
		`"@saw"|"Saw"|"OUT"|250.00|"@north"|1`,
		`"@tent"|"Tent"|"IN"|120.50|"@north"|1`,
	})
	equal(t, table(reply.Calls[1].Result), []string{"item|name|status|worth", `"@tent"|"Tent"|"IN"|120.50`})
	// The south club's late loan is not counted.
	equal(t, table(reply.Calls[2].Result), []string{"status|loans", `"LATE"|2`, `"OPEN"|1`})
	if reply.First != 0 || len(w.journal()) != 0 {
		t.Error("reading wrote into the journal")
	}
}

func table(r *receipt.Result) []string {
	out := []string{strings.Join(r.Columns, "|")}
	for _, row := range r.Rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, v.String())
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}

// A read that gives back a sensitive field is in the journal; the value is not.
func TestReadingSomethingSensitiveIsJournalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reply, err := w.run("kim", `lending.get-phone :member-id @ann`)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(reply.Calls[0].Result.Sensitive, []bool{false, true}) {
		t.Errorf("sensitive: %v", reply.Calls[0].Result.Sensitive)
	}
	entries := w.journal()
	if len(entries) != 1 || entries[0].Verb != "lending.get-phone" {
		t.Fatalf("journal: %v", entries)
	}
}

// Sensitive values stay out of the journal, the preview's text and the fields'
// diagnostics; the text that is kept still parses.
func TestSensitiveValuesStayOutOfTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const secret = "+49 170 1234567"
	s := w.session("kim")
	p := w.program(s, `lending.set-phone :member-id @bob :phone "`+secret+`"`)
	preview, err := s.Preview(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	const want = `lending.set-phone :member-id @bob :phone "(withheld)"`
	if plain(preview.Calls[0].Text) != want {
		t.Errorf("preview says %s", preview.Calls[0].Text)
	}
	if f := preview.Calls[0].Rows[0].Fields[0]; !f.Sensitive || f.After.Text() != secret {
		t.Errorf("field %+v: printers are told, and decide", f)
	}
	if _, err := s.Run(context.Background(), p, engine.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := w.get("member", id(12), "phone").Text(); got != secret {
		t.Errorf("stored %q", got)
	}
	// A refused call is told without it too.
	p = w.program(w.session("kim"), `lending.set-phone :member-id `+id(13).Text()+` :phone "`+secret+`"`)
	if _, err := s.Run(context.Background(), p, engine.RunOptions{}); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("error: %v", err)
	}
	for _, e := range w.journal() {
		if strings.Contains(e.Call+e.Changes+e.Reason, "1234567") {
			t.Errorf("the journal holds it: %+v", e)
		}
	}
	if got := plain(w.journal()[0].Call); got != want {
		t.Errorf("journal says %s", got)
	}
}

// What is taken from a sensitive argument is sensitive by way of an expression too, and what
// only depends on one is withheld, though its field is not marked.
func TestSensitiveArgumentsStaySensitiveInOtherFields(t *testing.T) {
	t.Parallel()
	w := newBare(t, loadYAML(t, map[string]string{"s.yaml": `domain: s
roles: [{name: r}]
entities:
  box:
    table: s.boxes
    key: box_id
    managed: true
    scope: {principal: who}
    label: box
    fields: {who: {type: string, required: true}, good: {type: string}, shouted: {type: string, sensitive: true}}
verbs:
  - verb: keep
    description: keep it
    roles: [r]
    args: [{name: the-word, type: string, required: true, sensitive: true}]
    effects: [{creates: box, set: {who: principal, good: "the_word == 'sesame' ? 'sesame, yes' : 'no'", shouted: upper(the_word)}}]
  - verb: outer
    description: keep it, in other words
    roles: [r]
    args: [{name: the-word, type: string, required: true, sensitive: true}]
    script: s.keep :the-word @the-word
`}), stores.Principal{Name: "p", Roles: []string{"r"}})
	for _, text := range []string{`s.keep :the-word "sesame"`, `s.outer :the-word "sesame"`} {
		reply, err := w.run("p", text)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range reply.Calls[0].Rows[0].Fields {
			if f.Sensitive != (f.Name != "who") {
				t.Errorf("%s: %+v", text, f)
			}
		}
	}
	for _, e := range w.journal() {
		if s := strings.ToLower(e.Call + e.Changes); strings.Contains(s, "sesame") {
			t.Errorf("the journal holds it: %s", s)
		}
	}
}

// X5, O1: what a verb does not promise cannot be reached by any argument: a
// member has no verb that changes a thing's status, and gets none by asking.
func TestOnlyVerbsChangeThings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refused("mia", `lending.lose :item-id @saw`, "not-permitted")
	w.refused("mia", `lending.note :loan-id @saw-bob :note "x" lending.board-only :item-id @saw`, "not-permitted")
	w.refused("nobody", `lending.note :loan-id @saw-bob :note "x"`, "not-permitted")
	// Every call of a script that is not permitted is told at once.
	r := w.refused("mia", "lending.lose :item-id @saw\nlending.board-only :item-id @saw", "not-permitted")
	if len(r.Diagnostics) != 2 {
		t.Errorf("told %d", len(r.Diagnostics))
	}
}

// Whoever misspells a verb is shown those that they may use, and no other.
func TestVerbsAreSuggestedToWhoMayUseThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	only := w.session("kim")
	only.Narrow([]*verbs.Verb{w.reg.Verb("lending.ring")})
	for _, c := range []struct {
		who  *engine.Session
		text string
		want bool
	}{
		{w.session("kim"), "lending.los :item-id @saw", true},
		{w.session("mia"), "lending.los :item-id @saw", false}, // a member, who may lose nothing
		{w.session("kim"), "bank.lose", true},
		{w.session("mia"), "bank.lose", false},
		{only, "lending.zzzzzz", false},
	} {
		script, _ := dsl.Parse(dsl.NewSource("test.dsl", c.text))
		_, ds := c.who.Check(t.Context(), script)
		if text := fmt.Sprintf("%+v", ds); len(ds) == 0 || ds[0].Code != "unknown-verb" || strings.Contains(text, "lending.lose") != c.want || c.who == only && !strings.Contains(text, "lending.ring") {
			t.Errorf("%s: %s", c.text, text)
		}
	}
}

// X2: what does not fit its palette becomes no program, so it cannot be run.
func TestOnlyCheckedScriptsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session("kim")
	for text, code := range map[string]string{
		`lending.note :loan-id @saw-bob`:                                          "missing-argument",
		`lending.note :loan-id @saw-bob :note 3`:                                  "wrong-type",
		`lending.note :loan-id @drill :note "x"`:                                  "",
		`lending.extend :loan-id @saw-bob :new-date "soon"`:                       "",
		`lending.note :loan-id @saw-bob :note "x" :nota "y"`:                      "unknown-argument",
		`lending.nota :loan-id @saw-bob :note "x"`:                                "unknown-verb",
		`lending.note :loan-id @saw-bob :note "` + strings.Repeat("x", 201) + `"`: "",
	} {
		script, ds := dsl.Parse(dsl.NewSource("test.dsl", text))
		if ds.HasErrors() {
			t.Fatal(told(ds))
		}
		p, ds := s.Check(context.Background(), script)
		if p != nil || !ds.HasErrors() {
			t.Errorf("%s became a program", text)
			continue
		}
		if code != "" && ds[0].Code != code {
			t.Errorf("%s: %s", text, told(ds))
		}
	}
	if _, err := s.Run(context.Background(), nil, engine.RunOptions{}); err == nil {
		t.Error("ran nothing")
	}
	if n := len(w.journal()); n != 0 {
		t.Errorf("%d entries", n)
	}
}

// A macro has the rights of whoever uses it.
func TestMacroHasItsCallersRights(t *testing.T) {
	t.Parallel()
	reg := loadYAML(t, map[string]string{"m.yaml": `domain: m
roles: [{name: low}, {name: high}]
entities:
  box:
    table: m.boxes
    key: box_id
    managed: true
    scope: everyone
    label: "{name}"
    fields: {name: {type: string, required: true}}
verbs:
  - verb: inner
    description: for the few
    roles: [high]
    args: [{name: name, type: string, required: true}]
    effects: [{creates: box, set: {name: name}}]
  - verb: outer
    description: for everybody
    roles: [low, high]
    args: [{name: name, type: string, required: true}]
    script: m.inner :name @name
`})
	w := &world{t: t}
	*w = *newBare(t, reg, stores.Principal{Name: "lo", Roles: []string{"low"}}, stores.Principal{Name: "hi", Roles: []string{"high", "low"}})
	r := w.refused("lo", `m.outer :name "x"`, "not-permitted")
	if s := r.Diagnostics[0].Summary; !strings.Contains(s, "m.inner") {
		t.Errorf("says %q", s)
	}
}

// SAFE-P7: macros that multiply are stopped by a count, not by patience; asking
// whether they are permitted does not walk them either.
func TestMacrosThatMultiplyAreStopped(t *testing.T) {
	t.Parallel()
	yaml := "domain: m\nroles: [{name: r}]\nverbs:\n"
	for i := range 8 {
		script := strings.Repeat(fmt.Sprintf("      m.v%d\n", i+1), 20)
		yaml += fmt.Sprintf("  - verb: v%d\n    description: many\n    roles: [r]\n    script: |\n%s", i, script)
	}
	yaml += "  - {verb: v8, description: one, roles: [r], effects: [{notifies: somebody}]}\n"
	w := newBare(t, loadYAML(t, map[string]string{"m.yaml": yaml}), stores.Principal{Name: "p", Roles: []string{"r"}})
	w.refused("p", "m.v0", "too-much")
	if _, err := w.run("p", "m.v6"); err != nil { // 20 × 20 calls
		t.Error(err)
	}
}

// A script without calls does nothing, whatever was agreed to.
func TestEmptyScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.run("kim", "; nothing"); err != nil {
		t.Error(err)
	}
	s := w.session("kim")
	_, err := s.Run(context.Background(), w.program(s, ""), engine.RunOptions{Agreed: "0000-0000"})
	wantRefusal(t, err, "stale-preview")
}

// Refused calls are journalled, with the code of the refusal.
func TestRefusedCallsAreJournalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session("mia")
	p := w.program(s, "lending.note :loan-id @saw-bob :note \"x\"\nlending.lose :item-id @saw")
	if _, err := s.Run(context.Background(), p, engine.RunOptions{Source: "stdin"}); err == nil {
		t.Fatal("not refused")
	}
	entries := w.journal()
	if len(entries) != 1 {
		t.Fatalf("%d entries", len(entries))
	}
	e := entries[0]
	if e.Outcome != "refused" || e.Reason != "not-permitted" || e.Verb != "lending.lose" || e.Principal != "mia" ||
		e.Source != "stdin:2" || plain(e.Call) != "lending.lose :item-id @saw" || e.Changes != "" {
		t.Errorf("entry %+v", e)
	}
}

// The journal says who, what and which rows, and its chain holds.
func TestJournalTellsWhatHappened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reply, err := w.run("mia", `lending.note :loan-id @saw-bob :note "hm" :expected-date 2025-01-03`)
	if err != nil {
		t.Fatal(err)
	}
	entries := w.journal()
	if len(entries) != 1 || reply.First != 1 || reply.Last != 1 || reply.Calls[0].Seq != 1 {
		t.Fatalf("%d entries, reply %d..%d", len(entries), reply.First, reply.Last)
	}
	e := entries[0]
	if e.Outcome != "ok" || e.Principal != "mia" || !slices.Equal(e.Roles, []string{"member"}) || e.Palette != w.reg.Digest() ||
		plain(e.Call) != `lending.note :loan-id @saw-bob :note "hm" :expected-date 2025-01-03` || e.Source != "test.dsl:1" {
		t.Errorf("entry %+v", e)
	}
	record, err := journal.Parse(e.Changes)
	if err != nil {
		t.Fatal(err)
	}
	changes := record.Rows
	if len(changes) != 2 || changes[0].Op != "update" || changes[0].Name != "@saw-bob" || changes[0].Table != "club.loans" ||
		changes[0].Fields[0].Name != "note" || changes[0].Fields[0].After.Text() != "hm" || !changes[0].Fields[0].Before.IsNull() ||
		changes[1].Op != "insert" || changes[1].Entity != "reminder" {
		t.Errorf("changes %+v", changes)
	}
	storetest.Whole(t, w.store, -1)
}

// OB1: calls see what the calls before them did, and results go where they are
// named, in whichever order they are written.
func TestLaterCallsSeeEarlierOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reply, err := w.run("kim", `lending.remind :loan-id @new :on 2025-02-01
lending.lend :item-id @axe :member-id @ann :as @new
lending.add-item :club-id @north :name "Axe" :as @axe
lending.get-item :item-id @axe
lending.note :loan-id @new :note @axe.name`)
	if err != nil {
		t.Fatal(err)
	}
	// The read stands after the loan in the script, and neither hangs on the
	// other: it sees what the loan did.
	if got := table(reply.Calls[3].Result)[1]; got != `"@axe"|"Axe"|"OUT"|nil` {
		t.Errorf("read %s", got)
	}
	if got := reply.Calls[4].Rows[0].Fields[0].After.Text(); got != "Axe" {
		t.Errorf("note %q", got)
	}
	if n := reply.Calls[0].Rows[0]; n.Op != receipt.Inserted || !strings.HasPrefix(n.Name, "@axe") {
		t.Errorf("reminder %+v", n)
	}
}

// One call that cannot be done undoes the whole script, and leaves nothing.
func TestScriptsAreDoneWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refused("kim", `lending.add-item :club-id @north :name "Axe"
lending.note :loan-id @saw-bob :note "x"
lending.note :loan-id `+id(34).Text()+` :note "x"`, "unknown-name")
	for _, e := range w.journal() {
		if e.Outcome != "refused" {
			t.Errorf("entry %+v", e)
		}
	}
}

// A run that is cancelled changes nothing and says so.
func TestCancelledRunChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session("kim")
	p := w.program(s, `lending.close-late :member-id @ann`)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	before := w.state()
	_, err := s.Run(ctx, p, engine.RunOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if s := engine.Sentence(err); !strings.Contains(s, "Nothing was changed") {
		t.Errorf("says %q", s)
	}
	equal(t, diff(w.entity, before, w.state()), nil)
}

// A program that was checked against other palettes is not run.
func TestProgramsOfOtherPalettesAreNotRun(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newWorld(t)
	p := other.program(other.session("kim"), `lending.list-items`)
	var failure *engine.Failure
	if _, err := w.session("kim").Run(context.Background(), p, engine.RunOptions{}); !errors.As(err, &failure) {
		t.Errorf("error %v", err)
	}
}

// X4: somebody the store does not know has no session.
func TestUnknownPrincipalIsRefused(t *testing.T) {
	t.Parallel()
	_, err := newWorld(t).engine.Session(context.Background(), "eve")
	wantRefusal(t, err, "unknown-principal")
}

// X2: a value that becomes known only at the run is held to the limits that the
// checker holds written ones to, and an argument that must be given is given.
func TestValuesKnownAtTheRunKeepTheLimits(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"too long": `lending.note :loan-id @saw-bob :note "` + strings.Repeat("x", 101) + `" :as @l lending.add-item :club-id @north :name @l.note`,
		"nothing":  `lending.note :loan-id @saw-bob :note @saw-bob.note`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newWorld(t).refused("kim", script, "wrong-value")
		})
	}
}

// U1: whoever has to repair a script is told of every row in it that is not there, and
// not of calls that hang on one that was not carried out.
func TestEveryRowThatIsNotThereIsToldAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone := func(n int) string { return `"` + id(900+n).Text() + `"` }
	refusal := w.refused("kim", `lending.note :loan-id @saw-bob :note "fine"
lending.note :loan-id `+gone(1)+` :note "x"
lending.note :loan-id @tent-ann :note "fine"
lending.note :loan-id `+gone(2)+` :note "y" :as @n
lending.note :loan-id @n :note "z"
lending.note :loan-id `+gone(3)+` :note "z"`, "unknown-name")
	var lines []int
	for _, d := range refusal.Diagnostics {
		lines = append(lines, d.Place.Source.Position(d.Place.Range.Start).Line)
	}
	if !slices.Equal(lines, []int{2, 4, 6}) {
		t.Errorf("told of lines %v: %s", lines, told(refusal.Diagnostics))
	}
}
