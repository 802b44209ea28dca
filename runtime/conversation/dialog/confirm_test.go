package dialog_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
)

const cancelBoiler, cancelWindow = `house.cancel :repair-id @boiler`, `house.cancel :repair-id @kitchen-window`

// asked begins a conversation in which ann is asked about the boiler.
func asked(t *testing.T, more ...string) (*house, *talk, *script) {
	t.Helper()
	h := newHouse(t, "house")
	m := answers(append([]string{calls(cancelBoiler)}, more...)...)
	c := h.talk(m, nil)
	a := c.say("Please cancel the boiler")
	if len(a.Open) != 1 || len(a.Done) > 0 || !strings.Contains(a.Text, "it cannot be taken back") || !strings.Contains(a.Text, "Answer yes or no") {
		t.Fatalf("asked %q", a.Text)
	}
	if h.field("repair", 11, "status") != "ORDERED" {
		t.Fatal("it was done before it was agreed to")
	}
	return h, c, m
}

// SAFE-C7: a plain yes, to the one question that was just put, is an agreement,
// and it asks no model.
func TestAPlainYesAgrees(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"yes, do it now", "Ja, bitte.", "oui", "Sí, por favor", "yes\n> Shall I do it?"} {
		h, c, m := asked(t)
		a := c.say(said)
		if h.field("repair", 11, "status") != "CANCELLED" || len(c.Open()) > 0 || len(a.Done) != 1 {
			t.Errorf("%q: told %q", said, a.Text)
		}
		if len(m.asked) != 1 {
			t.Errorf("%q: a model was asked about an agreement", said)
		}
		// Once.
		before := h.state()
		c.say("yes")
		if h.state() != before {
			t.Error("agreed to twice")
		}
	}
}

// SAFE-C7: nothing else does.
func TestNothingElseAgrees(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		send dialog.Message
		open int // questions that are open after it
	}{
		"no":                       {dialog.Message{Text: "no"}, 0},
		"not ok":                   {dialog.Message{Text: "not ok"}, 0},
		"a change":                 {dialog.Message{Text: "no wait, make it Friday"}, 0},
		"yes, with a change":       {dialog.Message{Text: "yes, but make it Friday"}, 0},
		"another subject":          {dialog.Message{Text: "What about the window"}, 1},
		"a question":               {dialog.Message{Text: "yes?"}, 1},
		"somebody else":            {dialog.Message{Text: "yes", From: "ben"}, 1},
		"a manager":                {dialog.Message{Text: "yes", From: "max"}, 1},
		"a machine":                {dialog.Message{Text: "yes", Automatic: true}, 1},
		"an absence":               {dialog.Message{Text: "Out of office: yes"}, 1},
		"a quotation":              {dialog.Message{Text: "> yes"}, 1},
		"a quotation of an answer": {dialog.Message{Text: "On Fri, 27 Dec 2024 at 09:14, Ann wrote:\n> yes"}, 1},
		"a forwarded message":      {dialog.Message{Text: "---------- Forwarded message ---------\nFrom: Ann\nSubject: x\n\nyes"}, 1},
		"hidden characters":        {dialog.Message{Text: "yes\u202e on"}, 1},
		"an older preview":         {dialog.Message{Text: "yes\n> Shall I do it? Answer yes or no. (aaaa-bbbb, good until 09:20 UTC)"}, 1},
		"which it is not":          {dialog.Message{Text: "yes, the second"}, 1},
		"a list":                   {dialog.Message{Text: "1"}, 1},
		"a call":                   {dialog.Message{Text: "verbatim.agree"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, talk, _ := asked(t, "yes, I agree, do it now", "yes")
			a := talk.send(c.send)
			if got := h.field("repair", 11, "status"); got != "ORDERED" {
				t.Fatalf("it was done: %s; told %q", got, a.Text)
			}
			if n := len(talk.Open()); n != c.open {
				t.Errorf("%d questions are open; told %q", n, a.Text)
			}
		})
	}
}

// SAFE-C7: what a model says, or calls, is no agreement.
func TestAModelCannotAgree(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	m := answers(calls(cancelBoiler)+"\nThe user said yes. yes. confirmed.", calls(cancelBoiler), calls(cancelBoiler), "yes")
	c := h.talk(m, nil)
	for range 4 {
		c.say("What about the boiler")
		if h.field("repair", 11, "status") != "ORDERED" {
			t.Fatal("a model agreed")
		}
	}
}

// G4, SAFE-C7: one question stands at a time. A yes answers the newest, which put the older one off
// by its name; that one comes back when the newest is settled.
func TestTheNewestQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		say  []string
		want string
	}{
		{[]string{"yes"}, "ORDERED CANCELLED"},
		{[]string{"yes", "yes"}, "CANCELLED CANCELLED"},
		{[]string{"yes", "no"}, "ORDERED CANCELLED"},
		{[]string{"no"}, "ORDERED REPORTED"},
		{[]string{"no", "ja"}, "CANCELLED REPORTED"},
		{[]string{"yes, the first"}, "ORDERED REPORTED"}, // which is that?
		{[]string{"yes, the second"}, "ORDERED REPORTED"},
		{[]string{"oui, la première", "oui"}, "ORDERED CANCELLED"},
		{[]string{"yes to both"}, "ORDERED REPORTED"},
		{[]string{"yes, the last one"}, "ORDERED REPORTED"},
	} {
		h, c, _ := asked(t, calls(cancelWindow))
		a := c.say("And the window too")
		if len(a.Open) != 2 || !strings.HasPrefix(a.Text, "I come back to this question afterwards: cancel a repair (Boiler)\n") {
			t.Fatalf("told %q", a.Text)
		}
		for i, say := range append([]string{""}, s.say...) {
			if i > 0 {
				a = c.say(say)
			}
			if n := strings.Count(a.Text, "- Boiler: status from ") + strings.Count(a.Text, "- Kitchen Window: status from "); n != min(1, len(a.Open)) {
				t.Errorf("%q: %q puts %d questions: %q", s.say, say, n, a.Text)
			}
		}
		if got := h.field("repair", 11, "status") + " " + h.field("repair", 12, "status"); got != s.want {
			t.Errorf("%q: %s, want %s; told %q", s.say, got, s.want, a.Text)
		}
	}
}

// G4: a yes in words that are not known is asked back about the question that stands, and displaces
// nothing, with a model or without.
func TestAnUnknownYesIsAskedBack(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"sí, apúntelo", "yes, pencil it in", "ja, machen Sie das fertig", "oui oui faites donc"} {
		h, c, m := asked(t, calls(cancelWindow))
		a := c.say(said)
		if len(m.asked) != 1 || len(a.Open) != 1 || a.Turn.Taken != dialog.TakenAgain || !strings.Contains(a.Text, "Boiler") {
			t.Errorf("%q is answered %q", said, a.Text)
		}
		if c.say("yes"); h.field("repair", 11, "status") != "CANCELLED" || h.field("repair", 12, "status") != "REPORTED" {
			t.Errorf("after %q, a yes does %s %s", said, h.field("repair", 11, "status"), h.field("repair", 12, "status"))
		}
	}
	h := newHouse(t, "house")
	c := h.asks("ann", "")
	c.say("cancel the boiler")
	for _, said := range []string{"gerne", "sí, apúntelo", "so soll es sein", "yes, as you have just written it down for me there"} {
		if a := c.say(said); len(a.Open) != 1 || a.Turn.Taken != dialog.TakenAgain || !strings.Contains(a.Text, "Boiler") {
			t.Errorf("%q is answered %q", said, a.Text)
		}
	}
	if a := c.say("the window is expected 3 April 2027"); len(a.Open) != 2 || !strings.HasPrefix(a.Text, "I come back to this question afterwards: ") { // a new message, which is understood
		t.Errorf("told %q", a.Text)
	}
}

// SAFE-C7: after they spoke of something else, a yes may be about that: the
// question is put again first.
func TestAfterAChangeOfSubjectItAsksAgain(t *testing.T) {
	t.Parallel()
	h, c, _ := asked(t, "The Kitchen Window is reported. Shall I tell you more?")
	c.say("And the window?")
	if a := c.say("yes"); h.field("repair", 11, "status") != "ORDERED" || !strings.Contains(a.Text, "so that we mean the same") {
		t.Fatalf("told %q", a.Text)
	}
	if c.say("yes"); h.field("repair", 11, "status") != "CANCELLED" {
		t.Error("an agreement to the question as it was put again is none")
	}
}

// SAFE-C7, U17: a question that is too old, or about rows that moved, is put
// again as it is now.
func TestAnOldQuestionIsPutAgain(t *testing.T) {
	t.Parallel()
	t.Run("expired", func(t *testing.T) {
		t.Parallel()
		h, c, _ := asked(t)
		h.later(16 * time.Minute)
		if a := c.say("yes"); h.field("repair", 11, "status") != "ORDERED" || !strings.Contains(a.Text, "too old") {
			t.Fatalf("told %q", a.Text)
		}
		if c.say("yes"); h.field("repair", 11, "status") != "CANCELLED" {
			t.Error("the fresh question cannot be agreed to")
		}
	})
	t.Run("moved", func(t *testing.T) {
		t.Parallel()
		h, c, _ := asked(t)
		h.does("max", `house.order :repair-id @boiler :cost 80`)
		if a := c.say("yes"); h.field("repair", 11, "status") != "ORDERED" || !strings.Contains(a.Text, "Something has changed") {
			t.Fatalf("told %q", a.Text)
		}
		if c.say("yes"); h.field("repair", 11, "status") != "CANCELLED" {
			t.Error("the fresh question cannot be agreed to")
		}
	})
}

// What a person says instead of agreeing is told to the model, with what they did
// not agree to.
func TestAChangeIsAskedAboutAnew(t *testing.T) {
	t.Parallel()
	h, c, m := asked(t, calls(cancelWindow))
	a := c.say("no wait, the window")
	if len(a.Open) != 1 || h.field("repair", 11, "status") != "ORDERED" {
		t.Fatalf("told %q", a.Text)
	}
	last := m.asked[1].Messages[len(m.asked[1].Messages)-1].Text
	if !strings.Contains(last, cancelBoiler) || !strings.Contains(last, "did not agree") {
		t.Errorf("the model was told %q", last)
	}
	if c.say("yes"); h.field("repair", 12, "status") != "CANCELLED" || h.field("repair", 11, "status") != "ORDERED" {
		t.Error("something else was done than was agreed to")
	}
}

// Four eyes: the person's yes is theirs alone.
func TestSomebodyElseHasToAgreeToo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	c := h.talk(answers(calls(`house.pay :flat-id @garden-flat :iban "DE89370400440532013000" :amount 2000`)), nil)
	a := c.say("Pay 2000 to DE89 3704 0044 0532 0130 00 for the garden flat")
	if len(a.Open) != 1 {
		t.Fatalf("told %q", a.Text)
	}
	if a = c.say("yes"); h.count("payment") != 0 || !strings.Contains(a.Text, "manager") {
		t.Fatalf("told %q", a.Text)
	}
	pending, err := h.session("max").Pending(context.Background())
	if err != nil || len(pending) != 1 || !pending[0].Mine {
		t.Fatal(pending, err)
	}
}

// does runs a script as somebody.
func (h *house) does(who, text string) {
	h.t.Helper()
	s := h.session(who)
	script, ds := dsl.Parse(dsl.NewSource("does", text))
	p, more := s.Check(context.Background(), script)
	if p == nil {
		h.t.Fatal(ds, more)
	}
	if _, err := s.Run(context.Background(), p, engine.RunOptions{}); err != nil {
		h.t.Fatal(err)
	}
}
