package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/phrases"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores/receipt"
)

// What people say in any order: answers, requests, facts, corrections, courtesies, in
// four languages and in two at once, of none and of many facts.
var sayings = []string{
	"yes", "no", "ja", "non", "sí", "the first", "2", "the second one", "no, make it Friday", "details", "perfect", "thanks", "hello", "merci", "never mind", "stop", "skip", "maybe", "?", "...",
	"How far are we?", "What do you still need from us?", "Why do you need that from Pierre?", "Wie weit sind wir?", "Où en sommes-nous ?", "¿Cómo vamos?",
	"Maria was born March 15, 1972.", "Maria was born on 3/4/1972.", "Maria was born March 15, 1972. I have Thomas's passport here.", "Maria wurde am 15. März 1972 geboren. How far are we?",
	"Still waiting on our accountant. Should have them next week.", "next week", "for Pierre", "@thomas-muller-identity", "Leave a note on Pierre: the adviser is away until Monday", "note",
	"Ask the bank whether a driving licence will do", "I want to talk to a person", "start the questions about Pierre", "his name is Pierre Dupont", "40 %", "born in Lyon", "EUR 2 million from selling the company",
	"> yes", "From: me\nTo: you\n\nyes", "delete my account", strings.Repeat("Maria was born March 15, 1972. ", 40), "\u202eyes", "",
}

// A failer is a test, or a round of one.
type failer interface {
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// X9, X13: whatever is said in whatever order, the conversation makes no move that the
// table of its states has not, nothing is done but by a yes, and there is an answer.
func TestAConversationKeepsToItsMoves(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	h := clientBank(t)
	seen := map[string]bool{}
	n := 0
	walk := func(r failer, sayings []string) {
		n++
		ctx := context.Background()
		session, err := h.engine.Visit(ctx, h.who, engine.Visit{Name: fmt.Sprintf("walk-%d", n)})
		if err != nil {
			r.Fatal(err)
		}
		clock := func() time.Time { return h.now }
		c, err := dialog.New(dialog.Options{Registry: h.reg, Session: session, Clock: clock, Zone: time.UTC, Person: session.Person().Label, Interpreter: phrases.New(h.reg, h.index, session, clock, time.UTC)})
		if err == nil {
			err = c.Resume(ctx)
		}
		if err != nil {
			r.Fatal(err)
		}
		var said []string
		for _, text := range sayings {
			said = append(said, text)
			a, err := c.Say(ctx, dialog.Message{Text: text})
			if err != nil {
				r.Fatalf("%q: %v", said, err)
			}
			move := fmt.Sprintf("%s %s %s", a.Turn.From, a.Turn.Taken, a.Turn.To)
			seen[move] = true
			if !a.Turn.Drawn() {
				r.Errorf("%q: the table has no move %q", said, move)
			}
			if a.Text == "" {
				r.Errorf("%q: nothing was told", said)
			}
			if acts := slices.ContainsFunc(a.Done, func(d *receipt.Receipt) bool { return d.Totals().Notices > 0 }); acts && a.Turn.Taken != dialog.TakenYes {
				r.Errorf("%q: %q did something beyond the conversation", said, text)
			}
		}
	}
	walk(t, []string{"Maria was born on 3/4/1972.", "thanks", "thanks", "Why do you need that from Pierre?", "..."}) // given up at last
	rapid.Check(t, func(r *rapid.T) { walk(r, rapid.SliceOfN(rapid.SampledFrom(sayings), 1, 8).Draw(r, "said")) })
	t.Logf("%d moves of those that the table has", len(seen))
}

func clientBank(t *testing.T) *hijacked {
	t.Helper()
	all := hijacks()
	at := slices.IndexFunc(all, func(s *hijack) bool { return s.name == "client" })
	return all[at].open(t, nil, nil, "")
}
