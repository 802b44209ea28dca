package dialog_test

import (
	"context"
	"strings"
	"testing"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
)

// M27, K16: what is said in a session that is kept is kept, turn by turn, with
// why; the journal says on whose words a thing was done; and another process goes
// on where it was left.
func TestAConversationIsKept(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	ctx := context.Background()
	begin := func(m *script) *talk {
		s, err := h.engine.Visit(ctx, "ann", engine.Visit{Name: "repairs"})
		if err != nil {
			t.Fatal(err)
		}
		c := h.talk(m, func(o *dialog.Options) { o.Session = s })
		if err := c.Resume(ctx); err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := begin(answers(calls(`reply.ask :verb "house.pay" :argument "amount"`), calls(cancelBoiler)))
	c.say("Please pay to " + iban)
	c.say("or rather, cancel the boiler")
	c.say("yes")
	if h.field("repair", 11, "status") != "CANCELLED" {
		t.Fatal("it was not cancelled")
	}

	m := answers(payTo(iban, "20.00"), pleased)
	c = begin(m)
	c.say("20.00 then")
	c.say("yes")
	var said []string
	for _, msg := range m.asked[0].Messages {
		said = append(said, msg.Text)
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "Please tell me: amount") || !strings.Contains(all, "or rather, cancel the boiler") {
		t.Errorf("the model was shown %s", all)
	}
	if h.count("payment") != 1 {
		t.Error("what was said in the other process is not the person's word")
	}

	s, err := h.engine.Visit(ctx, "ann", engine.Visit{Name: "repairs", Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	turns, err := s.Turns().Between(ctx, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	roles := ""
	for _, turn := range turns {
		roles += string(turn.Role[:1])
	}
	if roles != "CASCASCASCASCAS" {
		t.Errorf("kept as %s", roles)
	}
	for _, turn := range turns {
		if turn.Role == sessions.Client && turn.Content == "yes" && turn.Entries == 0 {
			t.Error("the journal does not say on whose words it was done")
		}
	}
	if why := turns[8].Content; !strings.Contains(why, "agreed     to ") {
		t.Errorf("why: %s", why)
	}
}
