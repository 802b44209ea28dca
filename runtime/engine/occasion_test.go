package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
)

// An agreement is for the question that it answers (G60): a new question with the same content is a
// new act and says when the same was done, and the same answer is done once, whichever process it
// reaches.
func TestAnAgreementIsForOneOccasion(t *testing.T) {
	t.Parallel()
	w, shop := newToolWorld(t)
	const text = `desk.order-asking :item-id @drill :text "new blade"`
	keep := func() *receipt.Receipt {
		s := w.session("kim")
		preview, err := s.Keep(ctx, w.program(s, text))
		if err != nil {
			t.Fatal(err)
		}
		return preview
	}
	run := func(answer string) *receipt.Receipt {
		s := w.session("kim")
		r, err := s.Run(ctx, w.program(s, text), engine.RunOptions{Agreed: answer})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	// Two questions at once, with the same content.
	first, second := keep(), keep()
	if first.ID != second.ID || first.Answer() == second.Answer() || len(first.Earlier)+len(second.Earlier) > 0 {
		t.Fatalf("%s and %s: %+v", first.Answer(), second.Answer(), second.Earlier)
	}
	if r := run(first.Answer()); r.Repeated || r.First != 2 {
		t.Errorf("%+v", r)
	}
	w.set("item", 21, "status", str("IN")) // as it was
	if r := run(second.Answer()); r.Repeated || len(shop.calls) != 2 {
		t.Errorf("the second yes is swallowed: %+v, asked %d times", r, len(shop.calls))
	}
	for _, answer := range []string{first.Answer(), second.Answer(), first.Answer()} {
		if r := run(answer); !r.Repeated || len(shop.calls) != 2 {
			t.Errorf("%s: %+v, asked %d times", answer, r, len(shop.calls))
		}
	}
	w.set("item", 21, "status", str("IN"))
	w.later(time.Minute)
	third := keep()
	if e := third.Earlier; len(e) != 1 || e[0].Outcome != receipt.EarlierDone || e[0].Entry != 4 || !e[0].Time.Before(w.now()) {
		t.Errorf("%+v", e)
	}
	var b strings.Builder
	receipt.Print(&b, third, receipt.Options{})
	if !strings.Contains(b.String(), "the same was done at 2025-01-") {
		t.Error(b.String())
	}
	// The id alone means the latest question.
	if r := run(third.ID); r.Repeated || len(shop.calls) != 3 {
		t.Errorf("%+v, asked %d times", r, len(shop.calls))
	}
	if r := run(third.ID); !r.Repeated || len(shop.calls) != 3 {
		t.Errorf("%+v, asked %d times", r, len(shop.calls))
	}
}

// An answer that was carried out under a key of the caller's own is found again by the answer alone
// and by the key alone, by whichever process (G60): a door that sends an answer twice need not know
// which key the first one had.
func TestAnAnswerFindsWhatItLedToUnderAnyKey(t *testing.T) {
	t.Parallel()
	w, shop := newToolWorld(t)
	const text = `desk.order-asking :item-id @drill :text "new blade"`
	s := w.session("kim")
	question, err := s.Keep(ctx, w.program(s, text))
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range []engine.RunOptions{
		{Agreed: question.Answer(), Key: "order-7"}, {Agreed: question.Answer()}, {Agreed: question.Answer(), Key: "order-7"}, {Key: "order-7"},
	} {
		s := w.session("kim")
		r, err := s.Run(ctx, w.program(s, text), o)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if r.Repeated != (i > 0) || r.First != 2 || len(shop.calls) != 1 {
			t.Errorf("%d: %+v, asked %d times", i, r, len(shop.calls))
		}
	}
}

// A lost answer locks nothing (G61): the next question says so, a yes to it does the same again,
// and the journal links the two.
func TestALostAnswerIsAskedAbout(t *testing.T) {
	t.Parallel()
	w, shop := newToolWorld(t)
	const text = `desk.order-asking :item-id @drill :text "new blade"`
	answer := shop.answer
	keep := func() *receipt.Receipt {
		s := w.session("kim")
		preview, err := s.Keep(ctx, w.program(s, text))
		if err != nil {
			t.Fatal(err)
		}
		return preview
	}
	run := func(answer string) error {
		s := w.session("kim")
		_, err := s.Run(ctx, w.program(s, text), engine.RunOptions{Agreed: answer})
		return err
	}
	shop.answer = func(int, tools.Call) (tools.Answer, error) { return tools.Answer{}, errCut }
	lost := keep()
	if got := codeOf(t, run(lost.Answer())); got != "tool-unknown" {
		t.Fatal(got)
	}
	if got := codeOf(t, run(lost.Answer())); got != "already-used" || len(shop.calls) != 1 {
		t.Errorf("%s, asked %d times", got, len(shop.calls))
	}
	shop.answer = answer
	w.later(time.Hour)
	again := keep()
	if e := again.Earlier; len(e) != 1 || e[0].Outcome != receipt.EarlierUnknown || e[0].Entry != 1 || e[0].Tool != "workshop order" {
		t.Fatalf("%+v", e)
	}
	var b strings.Builder
	receipt.Print(&b, again, receipt.Options{})
	if !strings.Contains(b.String(), "nobody knows whether it was done (journal entry 1)") {
		t.Error(b.String())
	}
	if err := run(again.Answer()); err != nil || len(shop.calls) != 2 || shop.calls[0].Key == shop.calls[1].Key {
		t.Errorf("%v, asked %+v", err, shop.calls)
	}
	all := w.journal()
	at := slices.IndexFunc(all[1:], func(e stores.Entry) bool { return e.Outcome == "attempted" }) + 1
	if record, err := journal.Parse(all[at].Changes); err != nil || record.After != 1 {
		t.Errorf("entry %d says %+v, %v", at+1, record, err)
	}
	w.set("item", 21, "status", str("IN"))
	if e := keep().Earlier; len(e) != 1 || e[0].Outcome != receipt.EarlierDone {
		t.Errorf("%+v", e)
	}
}

// A person settles what became of a lost request (G61), and the journal says who did.
func TestAPersonSettlesALostRequest(t *testing.T) {
	t.Parallel()
	const text = `desk.order-asking :item-id @drill :text "new blade"`
	for how, want := range map[string]string{engine.SettleDone: receipt.EarlierDone, engine.SettleNotDone: "", engine.SettleAgain: ""} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w, shop := newToolWorld(t)
			shop.answer = func(int, tools.Call) (tools.Answer, error) { return tools.Answer{}, errCut }
			kim := w.session("kim")
			p := w.program(kim, text)
			if _, err := kim.Run(ctx, p, w.own(kim, p)); codeOf(t, err) != "tool-unknown" {
				t.Fatal(err)
			}
			w.later(2 * time.Hour)
			if all, err := kim.Journal().Unsettled(ctx); err != nil || len(all) != 1 || all[0].Entry != 1 || all[0].Principal != "kim" {
				t.Fatal(all, err)
			}
			if all, err := w.session("mia").Journal().Unsettled(ctx); err != nil || len(all) != 0 {
				t.Error("somebody else sees it:", all, err)
			}
			_, err := w.session("mia").Journal().Settle(ctx, 1, how)
			wantRefusal(t, err, "unknown-entry")
			by, err := kim.Journal().Settle(ctx, 1, how)
			if err != nil {
				t.Fatal(err)
			}
			_, err = kim.Journal().Settle(ctx, 1, how)
			wantRefusal(t, err, "unknown-entry")
			if e := w.last(); e.Seq != by || e.Verb != "verbatim.settle" || e.Call != fmt.Sprintf("verbatim.settle :entry 1 :outcome %q", how) || e.Principal != "kim" {
				t.Errorf("%+v", e)
			}
			got := ""
			preview, err := kim.Preview(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range preview.Earlier {
				got += e.Outcome
			}
			if got != want {
				t.Errorf("the next question says %q, want %q", got, want)
			}
		})
	}
}
