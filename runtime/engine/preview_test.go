package engine_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

var opSign = map[string]string{receipt.Inserted: "+", receipt.Updated: "~", receipt.Deleted: "-"}

func show(p *receipt.Receipt) []string {
	var out []string
	for i, c := range p.Calls {
		out = append(out, fmt.Sprintf("%d %s", i+1, plain(c.Text)))
		for _, r := range c.Rows {
			out = append(out, fmt.Sprintf("  %s %s %s (%s)", opSign[r.Op], r.Table, r.Name, r.Label))
			for _, f := range r.Fields {
				out = append(out, fmt.Sprintf("    %s %s -> %s from %s", f.Column, f.Before, f.After, f.From))
			}
		}
		for _, n := range c.Notices {
			out = append(out, strings.TrimRight(fmt.Sprintf("  > %s %s %s", n.Kind, n.Target, n.Calls), " "))
		}
		for _, a := range c.Asks {
			out = append(out, fmt.Sprintf("  ? %q %s", a.By, a.Reason))
		}
	}
	totals := p.Totals()
	for _, t := range totals.Tables {
		out = append(out, fmt.Sprintf("%s +%d ~%d -%d", t.Table, t.Added, t.Changed, t.Deleted))
	}
	return append(out, fmt.Sprintf("%d rows, %d notices, %d jobs, %d asks", totals.Rows, totals.Notices, totals.Jobs, len(p.Asks())))
}

// X3: a preview says what would change, row by row, before and after, where
// each value comes from, who is told and who must agree; and changes nothing.
func TestPreviewShowsRowsBeforeAndAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session("kim")
	p := w.program(s, `lending.note :loan-id @saw-bob :note "soon" :expected-date 2025-01-03
lending.note :loan-id @saw-bob :note "sooner"
lending.lose :item-id @saw
lending.forget :reminder-id @saw-2025-01-11
lending.lend :item-id @drill :member-id @ann :as @again
lending.remind :loan-id @again :on 2025-02-01`)
	before := w.state()
	preview, err := s.Preview(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, show(preview), strings.Split(`1 lending.note :loan-id @saw-bob :note "soon" :expected-date 2025-01-03
  ~ club.loans @saw-bob (Saw Bob)
    note nil -> "soon" from :note
  + club.reminders new (Saw 2025-01-04)
    loan nil -> "@saw-bob" from :loan-id
    remind_on nil -> 2025-01-04 from expected_date + days(1)
    text nil -> "soon" from :note
    at nil -> 2025-01-03T10:00:01Z from now
2 lending.note :loan-id @saw-bob :note "sooner"
  ~ club.loans @saw-bob (Saw Bob)
    note "soon" -> "sooner" from :note
3 lending.lose :item-id @saw
  ~ club.items @saw (Saw)
    status "OUT" -> "LOST" from LOST
  > trigger insurance-claim
  > notify board
  ? "" somebody has it
4 lending.forget :reminder-id @saw-2025-01-11
  - club.reminders @saw-2025-01-11 (Saw 2025-01-11)
    loan "@saw-bob" -> nil from 
    remind_on 2025-01-11 -> nil from 
    text "first" -> nil from 
  ? "" lending.forget always asks
5 lending.lend :item-id @drill :member-id @ann :as @again
  + club.loans new (Drill Ann)
    member nil -> "@ann" from :member-id
    item nil -> "@drill" from :item-id
    status nil -> "OPEN" from default
    due nil -> 2025-01-10 from today + days(7)
    updated_at nil -> 2025-01-03T10:00:01Z from now
  ~ club.items @drill (Drill)
    status "IN" -> "OUT" from OUT
  > notify next-in-line
6 lending.remind :loan-id @again :on 2025-02-01
  + club.reminders new (Drill 2025-02-01)
    loan nil -> "new" from :loan-id
    remind_on nil -> 2025-02-01 from :on
    text nil -> "please return it" from :text
club.items +0 ~2 -0
club.loans +1 ~1 -0
club.reminders +2 ~0 -1
7 rows, 2 notices, 1 jobs, 2 asks`, "\n"))
	equal(t, diff(w.entity, before, w.state()), nil)
	if n := len(w.journal()); n != 0 {
		t.Errorf("%d journal entries", n)
	}
}

// X3, SAFE-S5: what is shown is what runs. For every kind of call, the preview
// and the reply differ in nothing but the names of new rows.
func TestWhatIsShownIsWhatRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{
		`lending.add-item :club-id @north :name "Axe" :worth 1.50`,
		`lending.lend :item-id @drill :member-id @ann`,
		`lending.note :loan-id @saw-bob :note "soon" :expected-date 2025-01-03`,
		`lending.close-late :member-id @ann`,
		`lending.relend :loan-id @saw-bob :item-id @tent :member-id @bob`,
		`lending.extend :loan-id @saw-bob :new-date 2025-02-01`,
		`lending.clean :before 2025-01-12`,
		`lending.lose :item-id @saw`,
		`lending.list-items`,
	} {
		s := w.session("kim")
		p := w.program(s, text)
		preview, err := s.Preview(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		before := w.state()
		reply, err := s.Run(context.Background(), p, engine.RunOptions{Agreed: preview.ID})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if reply.ID != preview.ID || reply.Digest != preview.Digest {
			t.Errorf("%s: previewed %s, ran %s", text, preview.ID, reply.ID)
		}
		a, b := show(preview), show(reply)
		for i := range min(len(a), len(b)) {
			if a[i] == b[i] {
				continue
			}
			// A new row has got its name, and the clock has moved on.
			if !strings.Contains(a[i], " new ") && !strings.Contains(a[i], `"new"`) && !strings.HasSuffix(a[i], "from now") {
				t.Errorf("%s: shown %q, ran %q", text, a[i], b[i])
			}
		}
		if len(a) != len(b) {
			t.Errorf("%s: shown %d lines, ran %d", text, len(a), len(b))
		}
		if n := len(diff(w.entity, before, w.state())); n != preview.Totals().Rows {
			t.Errorf("%s: %d rows shown, %d changed", text, preview.Totals().Rows, n)
		}
	}
}

// Looking twice shows the same preview: keys that are made up and the time do
// not count, days do.
func TestPreviewIsTheSameWhenNothingChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := `lending.lend :item-id @drill :member-id @ann :as @l
lending.remind :loan-id @l :on 2025-02-01
lending.note :loan-id @saw-bob :note "x" :expected-date 2025-01-03`
	see := func() *receipt.Receipt {
		s := w.session("kim")
		p, err := s.Preview(context.Background(), w.program(s, text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := see(), see()
	if a.Digest != b.Digest {
		t.Errorf("%s and %s", a.ID, b.ID)
	}
	if len(a.ID) != 39 || a.ID[4] != '-' { // F6: 128 bits
		t.Errorf("id %q", a.ID)
	}
	// A row that it does not stand on may change.
	w.set("item", 24, "name", str("Big Tent"))
	w.set("reminder", 42, "text", str("other"))
	if c := see(); c.Digest != a.Digest {
		t.Error("an unrelated row made it stale")
	}
	// The next day it is another one: the loan is due a day later.
	w.clock = w.clock.AddDate(0, 0, 1)
	if d := see(); d.Digest == a.Digest {
		t.Error("another due date, the same preview")
	}
}

// X3: agreement is to one preview. For each thing that it stands on, change it
// alone: the run is refused and says what moved.
func TestStalePreviewRunsNothing(t *testing.T) {
	t.Parallel()
	const text = `lending.forget :reminder-id @saw-2025-01-11`
	for _, c := range []struct {
		name   string
		change func(w *world)
		says   string
	}{
		{"the row", func(w *world) { w.set("reminder", 41, "text", str("second")) }, `text of @saw-2025-01-11 was "first" and is "second"`},
		{"the row, where it was empty", func(w *world) {
			w.set("reminder", 41, "at", stores.NewTime(w.clock))
		}, `at of @saw-2025-01-11 was nil and is`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.session("kim")
			p := w.program(s, text)
			preview, err := s.Preview(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			c.change(w)
			before := w.state()
			_, err = s.Run(context.Background(), p, engine.RunOptions{Agreed: preview.ID})
			r := wantRefusal(t, err, "stale-preview")
			if !strings.Contains(r.Diagnostics[0].Summary, c.says) {
				t.Errorf("says %q", r.Diagnostics[0].Summary)
			}
			equal(t, diff(w.entity, before, w.state()), nil)
			// A new look, and it runs.
			if preview, err = s.Preview(context.Background(), p); err != nil {
				t.Fatal(err)
			}
			if _, err = s.Run(context.Background(), p, engine.RunOptions{Agreed: preview.ID}); err != nil {
				t.Error(err)
			}
		})
	}
}

// X3: consent is not transferred: to another script, another person, or
// another process that never showed the preview and finds something else.
func TestAgreementIsNotTransferred(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	kim := w.session("kim")
	one := w.program(kim, `lending.forget :reminder-id @saw-2025-01-11`)
	preview, err := kim.Preview(ctx, one)
	if err != nil {
		t.Fatal(err)
	}
	two := w.program(kim, "lending.note :loan-id @saw-bob :note \"and\"\nlending.forget :reminder-id @saw-2025-01-11")
	_, err = kim.Run(ctx, two, engine.RunOptions{Agreed: preview.ID})
	wantRefusal(t, err, "stale-preview")
	// The same, from a session that never showed it.
	again := w.session("kim")
	_, err = again.Run(ctx, w.program(again, `lending.forget :reminder-id @saw-2025-01-11`), engine.RunOptions{Agreed: "0000-0000"})
	wantRefusal(t, err, "stale-preview")
	// The person's own consent holds in another process where the preview was
	// kept for it, and for as long as nothing moved.
	_, err = again.Run(ctx, w.program(again, `lending.forget :reminder-id @saw-2025-01-11`), engine.RunOptions{Agreed: preview.ID})
	wantRefusal(t, err, "stale-preview")
	if _, err = kim.Keep(ctx, one); err != nil {
		t.Fatal(err)
	}
	if _, err = again.Run(ctx, w.program(again, `lending.forget :reminder-id @saw-2025-01-11`), engine.RunOptions{Agreed: preview.ID}); err != nil {
		t.Error(err)
	}
}

// X3: rules add up, and a rule for somebody else is not met by the person's own
// consent.
func TestConfirmRulesAddUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	s := w.session("kim")
	for _, c := range []struct {
		date string
		asks []string
	}{
		{"2025-01-20", nil}, // ten days after it was due
		{"2025-02-01", []string{":that is more than two weeks"}},
		{"2025-06-01", []string{"board:that is more than two months", ":that is more than two weeks"}},
	} {
		p := w.program(s, "lending.extend :loan-id @saw-bob :new-date "+c.date)
		preview, err := s.Preview(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		var asks []string
		for _, a := range preview.Asks() {
			asks = append(asks, a.By+":"+a.Reason)
			if a.Rule.Source == "" {
				t.Error("does not say which rule")
			}
		}
		equal(t, asks, c.asks)
		before := w.state()
		_, err = s.Run(ctx, p, engine.RunOptions{})
		if len(c.asks) == 0 {
			if err != nil {
				t.Error(err)
			}
			w.set("loan", 31, "due", date("2025-01-10"))
			continue
		}
		wantRefusal(t, err, "needs-agreement")
		_, err = s.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
		if len(c.asks) == 2 {
			r := wantRefusal(t, err, "needs-agreement")
			if !strings.Contains(r.Diagnostics[0].Summary, "role board") {
				t.Errorf("says %q", r.Diagnostics[0].Summary)
			}
			equal(t, diff(w.entity, before, w.state()), nil)
		} else if err != nil {
			t.Error(err)
		}
		w.set("loan", 31, "due", date("2025-01-10"))
	}
}

// A preview agreed to is in the journal with every call of its script.
func TestJournalSaysWhatWasAgreedTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session("kim")
	p := w.program(s, "lending.forget :reminder-id @saw-2025-01-11\nlending.note :loan-id @saw-bob :note \"x\"")
	preview, err := s.Preview(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(context.Background(), p, engine.RunOptions{Agreed: preview.ID}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range w.journal() {
		got = append(got, fmt.Sprint(e.Verb, " ", e.Preview == preview.ID, " ", e.Agreed))
	}
	equal(t, got, []string{"lending.forget true kim", "lending.note true kim"})
}

// SAFE-S5: the same program gives the same plan, however often it is planned.
func TestPlansAreRepeatable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session("kim")
	p := w.program(s, `lending.relend :loan-id @saw-bob :item-id @drill :member-id @bob`)
	first, err := s.Preview(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := s.Preview(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if again.Digest != first.Digest || !reflect.DeepEqual(again.Totals().Tables, first.Totals().Tables) {
			t.Fatal("it differs")
		}
	}
}

// SAFE-C1: what an agreement is bound to holds the palettes. Under others the
// same script on the same rows is another plan, though every line of it is the
// same.
func TestPreviewsOfOtherPalettesDiffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var digests [2][32]byte
	for i, w := range []*world{w, w.otherPalettes()} {
		s := w.session("kim")
		p, err := s.Preview(ctx, w.program(s, `lending.note :loan-id @saw-bob :note "x"`))
		if err != nil {
			t.Fatal(err)
		}
		digests[i] = p.Digest
	}
	if digests[0] == digests[1] {
		t.Error("one digest is good under two palettes")
	}
}

// A row that is deleted is told with the names of what it referred to.
func TestADeletedRowTellsWhatItReferredTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reply, err := w.run("kim", "lending.drop-loan :loan-id @ladder-ann")
	if err != nil {
		t.Fatal(err)
	}
	if got := printed(reply); !strings.Contains(got, "@ann -> gone") || !strings.Contains(got, "@ladder -> gone") || strings.Contains(got, "(hidden)") {
		t.Error(got)
	}
}
