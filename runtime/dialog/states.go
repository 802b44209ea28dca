package dialog

import (
	"context"
	"slices"
)

// A State is what a conversation waits for when a turn is over.
type State string

// The states; each but the last two has a file of its name.
const (
	Idle       State = "idle"       // for nothing
	Asking     State = "asking"     // for a yes or a no to a question
	Clarifying State = "clarifying" // for what an unclear message was asked about
	Collecting State = "collecting" // for the answer to what a palette asks, one by one
	Waiting    State = "waiting"    // for somebody else to agree
)

// A Taken is what a message was taken for.
type Taken string

// What a message may be taken for.
const (
	TakenUnheard    Taken = "unheard"    // others wrote it, a machine did, or it cannot be read
	TakenYes        Taken = "yes"        // to a question
	TakenNo         Taken = "no"         // to one, or to being asked at all
	TakenAgain      Taken = "again"      // an answer to what has to be put again first, or to one of several
	TakenCorrection Taken = "correction" // something else in the place of something in a call
	TakenChoice     Taken = "choice"     // of what was offered, or the rest of what was unclear
	TakenAnswer     Taken = "answer"     // to what a palette asks
	TakenCourtesy   Taken = "courtesy"   // which is answered in kind
	TakenBetween    Taken = "between"    // a question between a question and its answer
	TakenRequest    Taken = "request"    // calls
	TakenUnclear    Taken = "unclear"    // something that has to be asked about
	TakenNothing    Taken = "nothing"    // nothing was understood
	TakenModel      Taken = "model"      // a model read it
)

// moves are the states that a message may come in, and that it may lead to, by what it
// was taken for; nil is any. What is answered has to be open, and nobody but somebody who
// said yes waits for others.
var moves = []struct {
	taken    Taken
	from, to []State
}{
	{TakenUnheard, nil, nil},
	{TakenYes, []State{Asking}, nil},
	{TakenNo, nil, []State{Idle, Asking, Clarifying, Collecting}},
	{TakenAgain, []State{Asking, Clarifying}, []State{Asking, Clarifying}},
	{TakenCorrection, nil, []State{Idle, Asking, Clarifying, Collecting}},
	{TakenChoice, []State{Asking, Clarifying}, []State{Idle, Asking, Clarifying, Collecting}},
	{TakenAnswer, []State{Asking, Clarifying, Collecting}, []State{Idle, Asking, Collecting}},
	{TakenCourtesy, nil, []State{Idle, Asking, Clarifying, Collecting}},
	{TakenBetween, []State{Asking, Clarifying}, []State{Idle, Asking, Clarifying, Collecting}},
	{TakenRequest, nil, []State{Idle, Asking, Clarifying, Collecting}},
	{TakenUnclear, nil, []State{Asking, Clarifying}},
	{TakenNothing, nil, []State{Idle, Asking, Clarifying, Collecting}},
	{TakenModel, nil, []State{Idle, Asking, Collecting}},
}

// Drawn reports whether the table has the move that a turn made.
func (r *Turn) Drawn() bool {
	for _, m := range moves {
		if m.taken == r.Taken {
			return (m.from == nil || slices.Contains(m.from, r.From)) && (m.to == nil || slices.Contains(m.to, r.To))
		}
	}
	return false
}

// state is what the conversation waits for now.
func (t *turn) state(ctx context.Context) State {
	c := t.c
	switch {
	case len(c.open) > 0:
		return Asking
	case c.unclear.open():
		return Clarifying
	case t.asking(ctx) != nil:
		return Collecting
	case t.waitsFor:
		return Waiting
	}
	return Idle
}

// as notes what the message was taken for.
func (t *turn) as(what Taken) { t.record.Taken = what }
