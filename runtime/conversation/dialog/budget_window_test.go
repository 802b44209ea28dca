package dialog_test

import (
	"context"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

// An interrupted store lets something happen before one of its transactions, the
// at-th of those that are begun, reads included.
type interrupted struct {
	stores.Store
	at, begun int
	then      func()
}

func (s *interrupted) begin() {
	if s.begun++; s.begun == s.at {
		s.then()
	}
}

func (s *interrupted) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	s.begin()
	return s.Store.View(ctx, scope, fn)
}

func (s *interrupted) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	s.begin()
	return s.Store.Update(ctx, scope, fn)
}

// SAFE-S7: of two windows, not each does half, whatever of the one happens between
// which steps of the other: all of the second is said between any two transactions
// of the first. One pays, and the other asks.
func TestAmountsOfTwoWindowsAtEachStep(t *testing.T) {
	t.Parallel()
	within := 0
	for at := 1; ; at++ {
		h := newHouse(t, "house")
		other := h.another(h.reg)
		s := &interrupted{Store: h.store, at: at}
		var err error
		if h.engine, err = engine.New(h.reg, s, engine.Options{Clock: h.clock, NewID: h.newID}); err != nil {
			t.Fatal(err)
		}
		first := h.talk(answers(calls(spendLine("60")), pleased), nil)
		asked := 0
		s.then = func() {
			asked += len(other.talk(answers(calls(spendLine("60")), pleased), nil).say("Please pay 60").Open)
		}
		s.begun = 0 // what opens the conversation is not what races
		asked += len(first.say("Please pay 60").Open)
		reached := s.begun >= at
		if !reached {
			break
		}
		within++
		if n := h.count("payment"); n != 1 || asked != 1 {
			t.Errorf("before transaction %d of the first window: %d were paid and %d asked about", at, n, asked)
		}
	}
	if within < 4 {
		t.Errorf("the first window has %d transactions; there are more", within)
	}
}
