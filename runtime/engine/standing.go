package engine

import (
	"context"
	"slices"

	"verbatim/stores"
	"verbatim/verbs"
)

// What a model wrote and nobody heard.
//
// A door such as MCP takes calls that a model wrote, and does not hear the person whom the model
// works for. The program says so: see verbs.Literals. Each of its calls that may change something is
// asked about, in the way in which a rule of the palette asks the person. A question that a rule asks
// of them anyway is enough, since it shows the same call.
//
// A person may have agreed beforehand that a verb passes: a standing rule. It takes away this
// question and no other, whatever a palette asks.

// A StandingRule is a principal's agreement that a model may make calls of a verb in their name
// without asking each time.
type StandingRule struct {
	Name  string // by which it was given, and is taken back
	Verb  string
	Until stores.Value // the last day on which it holds, a date
}

// standingRules reads the rules of the session's principal that hold on the day of the run.
func standingRules(ctx context.Context, r *run) (all []StandingRule, err error) {
	if r.src.s.e.opt.People.Standing == nil {
		return nil, nil
	}
	err = r.src.e.store.View(ctx, r.src.s.engineScope(), func(read stores.Reader) (err error) {
		all, err = r.src.s.e.opt.People.Standing(ctx, read, r.src.s.who.Name)
		return err
	})
	today := r.src.s.today(r.src.now)
	return slices.DeleteFunc(all, func(rule StandingRule) bool {
		left, ok := stores.Compare(rule.Until, today)
		return !ok || left < 0
	}), err
}

// unheard asks about a call of the script that a model wrote, or notes the standing rule that passes
// it.
func unheard(r *run, st *step) {
	if r.src.e.reg.OnlyReads(st.verb) || slices.ContainsFunc(st.asks, func(a ask) bool { return a.By == "" }) {
		return
	}
	if i := slices.IndexFunc(r.standing, func(rule StandingRule) bool { return rule.Verb == st.verb.Name }); i >= 0 {
		st.passed = r.standing[i].Name
		return
	}
	st.asks = append(st.asks, newAsk(st, &verbs.Confirm{Always: true, Reason: wroteUnheard}))
}
