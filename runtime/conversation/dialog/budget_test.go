package dialog_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/conversation/dialog"
)

// SAFE-S7: what is done unasked is added up for the person: in a conversation that
// is begun anew, in another beside it, and over midnight; and it begins anew with
// an agreement, or after a day.
func TestAmountsAreAddedUpOverConversations(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	at := morning
	pay := func(amount string) (*talk, *dialog.Answer) {
		t.Helper()
		c := h.talk(answers(calls(spendLine(amount)), pleased), func(o *dialog.Options) { o.Clock = func() time.Time { return at } })
		return c, c.say("Please pay " + amount)
	}
	paid := func(want int) {
		t.Helper()
		if n := h.count("payment"); n != want {
			t.Fatalf("%d were paid, %d expected", n, want)
		}
	}
	pay("60")
	paid(1)
	c, a := pay("50")
	if paid(1); len(a.Open) != 1 || !strings.Contains(a.Text, "it is a large amount, together with what was done before without asking") {
		t.Fatalf("told %q", a.Text)
	}
	// A question counts for nothing, however often it is put.
	pay("50")
	pay("40")
	paid(2)
	if _, a = pay("0.01"); len(a.Open) != 1 {
		t.Fatalf("told %q", a.Text)
	}
	c.say("yes")
	paid(3)
	pay("60") // an agreement begins anew
	paid(4)
	at = at.AddDate(0, 0, 1)
	if _, a = pay("50"); len(a.Open) != 1 {
		t.Errorf("midnight is a way around it: %q", a.Text)
	}
	at = at.AddDate(0, 0, 1)
	pay("60")
	paid(5)
}

// SAFE-S7: what was refused, or came to nothing, is not counted.
func TestAmountsThatWereNotPaidAreNotCounted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	for range 3 {
		h.talk(answers(calls(strings.Replace(spendLine("60"), "@garden-flat", "@no-such-flat", 1)), "?", "?", "?"), nil).say("Please pay 60")
	}
	if h.talk(answers(calls(spendLine("60")), pleased), nil).say("Please pay 60"); h.count("payment") != 1 {
		t.Error("it was not paid")
	}
}

// SAFE-S7: of two conversations at once, not each does half.
func TestAmountsOfTwoConversationsAtOnce(t *testing.T) {
	t.Parallel()
	for range 4 {
		h := newHouse(t, "house")
		begin := make(chan struct{})
		var all sync.WaitGroup
		for range 4 {
			c := h.talk(answers(calls(spendLine("60")), pleased), nil)
			all.Go(func() {
				<-begin
				if _, err := c.Say(t.Context(), dialog.Message{Text: "Please pay 60"}); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		all.Wait()
		if n := h.count("payment"); n > 1 {
			t.Fatalf("%d were paid without a question", n)
		}
	}
}

// A full budget stays full: it does not overflow to a negative one.
func TestABudgetDoesNotOverflow(t *testing.T) {
	t.Parallel()
	s := newHouse(t, "house").session("ann")
	for range 2 {
		if n, _, err := s.Turns().Count(t.Context(), "x", 1<<62, 0); err != nil || n < 1<<62 {
			t.Fatal(n, err)
		}
	}
	n, _, err := s.Turns().Count(t.Context(), "x", 1<<62, 0)
	if known, kerr := s.Turns().Counted(t.Context(), "x"); err != nil || kerr != nil || n != known || n != 1<<63-1 {
		t.Errorf("%d, %d: %v %v", n, known, err, kerr)
	}
	if n, err := s.Turns().Counted(t.Context(), "y"); n != 0 || err != nil {
		t.Errorf("%d of nothing: %v", n, err)
	}
}
