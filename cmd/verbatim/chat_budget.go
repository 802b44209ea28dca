package main

import (
	"strconv"
	"strings"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/engine"
)

// A chatBudget is how many tokens a turn, a conversation and a day may cost.
type chatBudget struct{ turn, session, day int }

// usualBudget is the default of --budget.
const usualBudget = "30000,200000,1000000"

// readBudget reads --budget: a number for a conversation, or one for each.
func readBudget(text string) (chatBudget, error) {
	b := chatBudget{}
	fields := strings.Split(text, ",")
	into := []*int{&b.turn, &b.session, &b.day}
	if len(fields) == 1 {
		into = into[1:2]
	}
	if len(fields) > 1 && len(fields) != 3 {
		return b, usage("--budget is a number of tokens for a conversation, or three: for a message, a conversation and a day", "verbatim chat --budget 30000,200000,1000000")
	}
	for i, field := range fields {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return b, usage("--budget counts tokens, and "+strconv.Quote(field)+" is no number above 0", "verbatim chat --budget 30000,200000,1000000")
		}
		*into[i] = n
	}
	return b, nil
}

// of makes the budget of a conversation. The budgets of a day and of a kept session are counted in
// the store. A recording costs nothing.
func (b chatBudget) of(f *chatFlags, s *engine.Session, now func() time.Time) *llm.Budget {
	var session *llm.Budget
	switch {
	case f.replay != "":
		return llm.NewBudget("conversation", b.session)
	case b.day > 0:
		day := llm.NewBudget(dialog.DayBudget, b.day).Kept(func() string { return "tokens of " + now().UTC().Format(time.DateOnly) }, s.Turns())
		session = day.Within("conversation", b.session)
	default:
		session = llm.NewBudget("conversation", b.session)
	}
	if f.session != "" {
		session.Kept(func() string { return "tokens of " + s.ID() }, s.Turns())
	}
	return session
}
