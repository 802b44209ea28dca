package dialog

import "slices"

// A State is what a conversation waits for after a turn.
type State string

// The states. Each but the last two has a file of its name.
const (
	Idle       State = "idle"       // for nothing
	Asking     State = "asking"     // for a yes or a no to a question
	Clarifying State = "clarifying" // for the answer to a question about an unclear message
	Collecting State = "collecting" // for answers to a palette's questions, one by one
	Waiting    State = "waiting"    // for somebody else to agree
)

// A Taken is how a message was understood.
type Taken string

// How a message may be understood.
const (
	TakenUnheard    Taken = "unheard"    // others or a machine wrote it, or it cannot be read
	TakenYes        Taken = "yes"        // to a question
	TakenNo         Taken = "no"         // to a question, or to being asked at all
	TakenAgain      Taken = "again"      // a yes or no after which the question is asked again, or which question is asked
	TakenCorrection Taken = "correction" // another value for a part of a call
	TakenChoice     Taken = "choice"     // one of the offers, or the rest of an unclear message
	TakenAnswer     Taken = "answer"     // to a palette's question
	TakenCourtesy   Taken = "courtesy"   // a courtesy, answered in kind
	TakenBetween    Taken = "between"    // a question in between, before the answer to ours
	TakenRequest    Taken = "request"    // calls
	TakenUnclear    Taken = "unclear"    // a message that has to be asked about
	TakenNothing    Taken = "nothing"    // nothing was understood
	TakenModel      Taken = "model"      // a model read it
)

// moves is the table of transitions: by how a message was understood, the states before it and
// after it; nil means any. Only an open question can be answered, and only a yes can lead to
// waiting for others.
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

// Drawn reports whether the table contains the transition of a turn.
func (r *Turn) Drawn() bool {
	for _, m := range moves {
		if m.taken == r.Taken {
			return (m.from == nil || slices.Contains(m.from, r.From)) && (m.to == nil || slices.Contains(m.to, r.To))
		}
	}
	return false
}

// state returns what the conversation waits for now; collects reports that it is a question of a
// collection, if it is nothing else.
func (t *turn) state(collects bool) State {
	c := t.c
	switch {
	case len(c.open) > 0:
		return Asking
	case c.unclear.open():
		return Clarifying
	case collects:
		return Collecting
	case t.waitsFor:
		return Waiting
	}
	return Idle
}

// as records how the message was understood.
func (t *turn) as(what Taken) { t.record.Taken = what }
