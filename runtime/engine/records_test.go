package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

const recording = `
  - verb: hand-out
    description: Several things at once.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - name: lines
        type: list
        required: true
        min-length: 1
        max-length: 1200
        of:
          type: record
          fields:
            item: {type: ref, ref-type: item, required: true}
            days: {type: integer, min: 1, max: 30, required: true}
            note: {type: string, max-length: 40}
    requires:
      - {that: len(lines) <= 3 or len(lines) > 1000, else: at most three things at once}
    confirm: always
    effects:
      - creates: loan
        for-each: lines
        set: {member: member-id, item: each.item, due: today + days(each.days), note: each.note}
      - updates: item
        for-each: lines
        where: row == each.item
        set: {status: OUT, worth: each.item.worth + each.days}
  - verb: value
    description: What a thing is worth, by somebody's word.
    roles: [keeper]
    args:
      - name: of
        type: record
        required: true
        fields:
          item: {type: ref, ref-type: item, required: true}
          worth: {type: decimal, scale: 2}
          seen: {type: date, max: today}
    requires:
      - {that: of.item.status == IN, else: it is not here}
    confirm: always
    effects:
      - updates: item
        where: row == of.item
        set: {worth: of.worth}
  - verb: hand-out-one
    description: One of them, through a macro.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - name: one
        type: record
        required: true
        fields: {thing: {type: ref, ref-type: item, required: true}, days: {type: integer, required: true}}
    script: |
      lending.value :of {:item @one.thing :worth @one.thing.worth}
      lending.hand-out :member-id @member-id :lines [{:item @one.thing :days @one.days}]
`

// A list of records is settled row by row, on both stores, with the references in it
// within scope and what was read along them a part of what was agreed to.
func TestRecordsAreCarriedOut(t *testing.T) {
	t.Parallel()
	worldsOf(t, recording, func(t *testing.T, w *world) {
		script := `lending.hand-out :member-id @ann :lines [{:item @drill :days 3 :note "by hand"} {:item @tent :days 5}]`
		s := w.session("kim")
		p := w.program(s, script)
		if text := dsl.FormatCall(&p.Canonical().Calls[0]); !strings.Contains(text, "{:item @drill~") || !strings.Contains(text, ":days 5}]") {
			t.Errorf("what is kept of it is %s", text)
		}
		shown, err := s.Preview(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		// The worth of a thing in it changes meanwhile: nothing was agreed to of that.
		w.set("item", 24, "worth", decimal("10"))
		if _, err := s.Run(t.Context(), p, engine.RunOptions{Agreed: shown.ID}); err == nil {
			t.Error("a row that a record refers to changed, and what was agreed to before still held")
		}
		before := len(w.journal())
		equal(t, w.done("kim", script), []string{
			"+ loan member=" + id(11).Text() + " item=" + id(21).Text() + ` status="OPEN" due=2025-01-06 note="by hand"`,
			"+ loan member=" + id(11).Text() + " item=" + id(24).Text() + ` status="OPEN" due=2025-01-08`,
			"~ item " + id(21).Text() + ` status="OUT" worth=83`,
			"~ item " + id(24).Text() + ` status="OUT" worth=15`,
		})
		if text := w.last().Call; len(w.journal()) != before+1 || !strings.Contains(text, `:lines [{:item @drill~`) {
			t.Errorf("the journal has %s", text)
		}
		// Somebody else's kayak is no thing at all.
		for _, text := range []string{
			`lending.hand-out :member-id @ann :lines [{:item @drill :days 3} {:item @kayak :days 5}]`,
			`lending.value :of {:item @kayak :worth 5}`,
		} {
			if told := w.checks("kim", text); !strings.Contains(told, "[unknown-name]") {
				t.Errorf("%s: %s", text, told)
			}
		}
		kayak := `"` + id(25).Text() + `"`
		for _, text := range []string{
			`lending.hand-out :member-id @ann :lines [{:item ` + kayak + ` :days 3}]`,
			`lending.hand-out :member-id @ann :lines [{:item @drill :days 3} {:item ` + kayak + ` :days 3}]`,
			`lending.value :of {:item ` + kayak + `}`,
		} {
			w.refused("kim", text, "unknown-name")
		}
		w.refused("kim", `lending.hand-out :member-id @ann :lines [`+strings.Repeat("{:item @ladder :days 1}", 4)+`]`, "requirement-not-met")
		w.refused("kim", `lending.hand-out :member-id @ann :lines [`+strings.Repeat("{:item @ladder :days 1}", 1001)+`]`, "too-much")
		w.refused("kim", `lending.value :of {:item @ladder :worth 3}`, "requirement-not-met")
	})
}

// A part that is left out changes nothing, a moving bound is that of the day, and a macro
// takes a record apart and puts another together.
func TestPartsOfARecord(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": lendingText(t) + recording}), nil)
	equal(t, w.done("kim", `lending.value :of {:item @drill :worth 81.25 :seen 2025-01-03}`), []string{"~ item " + id(21).Text() + " worth=81.25"})
	equal(t, w.done("kim", `lending.value :of {:item @drill}`), []string{})
	if told := w.checks("kim", `lending.value :of {:item @drill :seen 2025-01-04}`); !strings.Contains(told, ":seen in :of is out of range") {
		t.Error(told)
	}
	equal(t, w.done("kim", `lending.hand-out-one :member-id @ann :one {:thing @tent :days 2}`), []string{
		"+ loan member=" + id(11).Text() + " item=" + id(24).Text() + ` status="OPEN" due=2025-01-05`,
		"~ item " + id(24).Text() + ` status="OUT" worth=122.50`,
	})
}

// checks says what is wrong with a script that somebody writes.
func (w *world) checks(who, text string) string {
	w.t.Helper()
	script, ds := dsl.Parse(dsl.NewSource("test.dsl", text))
	if !ds.HasErrors() {
		_, ds = w.session(who).Check(w.t.Context(), script)
	}
	return told(ds)
}

// What cannot be a record is refused where it stands.
func TestARecordThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, code string }{
		{"          type: record\n          fields:", "          type: record\n          parts:", "unknown-key"},
		{"{thing: {type: ref, ref-type: item, required: true}, days: {type: integer, required: true}}", "{}", "nothing-written"},
		{"note: {type: string, max-length: 40}", "note: {type: record, fields: {x: {type: string}}}", "contradiction"},
		{"note: {type: string, max-length: 40}", "note: {type: list, of: {type: record, fields: {x: {type: string}}}}", "contradiction"},
		{"note: {type: string, max-length: 40}", "note: {type: list, of: record}", "missing-key"},
		{"note: {type: string, max-length: 40}", "note: {type: string, scale: 2}", "limit-does-not-apply"},
		{"note: {type: string, max-length: 40}", "note: {type: ref}", "contradiction"},
		{"note: {type: string, max-length: 40}", "item: {type: string}", "duplicate-key"},
		{"each.days)", "each.hours)", "unknown-field"},
		{"each.item.worth", "each.item.price", "unknown-field"},
		{"each.item.worth", "each.days.worth", "type-mismatch"},
		{"note: each.note", "note: each", "type-mismatch"},
		{"due: today + days(each.days)", "due: each.note", "type-mismatch"},
		{"that: of.item.status == IN", "that: of == of", "type-mismatch"},
		{"that: of.item.status == IN", "that: of.thing.status == IN", "unknown-field"},
		{"where: row == of.item", "where: of", "type-mismatch"},
		{":item @one.thing", ":item @one.things", "unknown-field"},
		{":days @one.days", ":days @one.thing", "wrong-type"},
	} {
		text := strings.Replace(recording, c.from, c.to, 1)
		if text == recording {
			t.Fatal(c.from)
		}
		_, ds := loading.Dir(fstest.MapFS{"lending.yaml": {Data: []byte(lendingText(t) + text)}})
		if got := told(ds); !strings.Contains(got, "["+c.code) {
			t.Errorf("%s: told %q, want %s", c.to, got, c.code)
		}
	}
}

const recordOrigins = `
  - verb: pay-out
    description: Money for several people, whom only a person names.
    roles: [keeper]
    args:
      - name: payments
        type: list
        required: true
        from: [person, script]
        of:
          type: record
          fields:
            member: {type: ref, ref-type: member, required: true}
            amount: {type: decimal, scale: 2, required: true}
            note: {type: string}
    confirm: always
    effects:
      - creates: loan
        for-each: payments
        set: {member: each.member, item: "first", due: today, note: each.note}
  - verb: write-cards
    description: Cards, of which nobody reads the number.
    roles: [keeper]
    args:
      - name: cards
        type: list
        required: true
        of: {type: record, fields: {member: {type: ref, ref-type: member, required: true}, number: {type: string, sensitive: true}}}
    confirm: always
    effects:
      - updates: member
        for-each: cards
        where: row == each.member
        set: {phone: each.number}
  - verb: later
    description: Asked about tomorrow.
    roles: [keeper]
    args:
      - name: what
        type: record
        required: true
        fields: {item: {type: ref, ref-type: item, required: true}, worth: {type: decimal, scale: 2}, seen: {type: date}}
    effects:
      - triggers: verbatim
        at: now + hours(1)
        run: lending.value :of @what
`

// A record comes from where the least trusted of its values does; what is sensitive in it
// is in no text; and work that waits names the rows in it.
func TestRecordsAreAsTrustedAndAsOpenAsTheirParts(t *testing.T) {
	t.Parallel()
	more := recording + strings.Replace(strings.Replace(recordOrigins, `item: "first", `, "item: first, ", 1), "            note: {type: string}\n", "            note: {type: string}\n      - {name: first, type: ref, ref-type: item, required: true}\n", 1)
	w := newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": lendingText(t) + more}), nil)

	text := `lending.pay-out :payments [{:member @ann :note "from a letter" :amount 3} {:member @bob :amount 5}] :first @drill`
	script, _ := dsl.Parse(dsl.NewSource("test.dsl", text))
	s := w.session("kim")
	letter := int32(strings.Index(text, `"from`))
	p, ds := s.Check(t.Context(), script, engine.CheckOptions{Said: verbs.Literals{Origin: verbs.NewOrigin(verbs.FromPerson, ""), Of: func(at dsl.Range) (verbs.Origin, bool) {
		return verbs.NewOrigin(verbs.FromDocument, "letter.pdf"), at.Start == letter
	}}})
	if p == nil {
		t.Fatal(told(ds))
	}
	_, err := s.Preview(t.Context(), p)
	if r := wantRefusal(t, err, "origin"); !strings.Contains(r.Error(), "letter.pdf") {
		t.Error(r)
	}

	secret := "+41 44 668 18 00"
	s = w.session("kim")
	p = w.program(s, `lending.write-cards :cards [{:member @ann :number "`+secret+`"}]`)
	shown, err := s.Preview(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := s.Run(t.Context(), p, engine.RunOptions{Agreed: shown.ID})
	if err != nil {
		t.Fatal(err)
	}
	if f := reply.Calls[0].Rows[0].Fields[0]; !f.Sensitive || strings.Contains(shown.Calls[0].Text+reply.Calls[0].Text+fmt.Sprintf("%+v", w.last()), secret) {
		t.Errorf("the number is told: %+v, %+v", f, w.last())
	}
	if got := w.get("member", id(11), "phone").Text(); got != secret {
		t.Errorf("the number is %q", got)
	}

	reply, err = w.run("kim", `lending.later :what {:worth 80.50 :seen 2025-01-02 :item @drill}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := reply.Calls[0].Notices[0].Calls; got != "lending.value :of {:item @drill :worth 80.50 :seen 2025-01-02}" {
		t.Errorf("what waits is %s", got)
	}
}
