package engine

import (
	"context"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// What a model wrote and nobody heard.
//
// A door such as MCP takes calls that a model wrote, and does not hear the person whom the model
// works for. The program says so: see verbs.Literals. Each of its calls that may change something is
// asked about, in the way in which a rule of the palette asks the person. A question that a rule asks
// of them anyway is enough, since it shows the same call.
//
// A person may have agreed beforehand that a verb passes: a standing rule. It takes away this
// question and no other, whatever a palette asks. It may be bounded: to one row, to values that meet
// a condition, or both. A call beyond a bound, and one for which a bound cannot be worked out, is asked
// about.

// A StandingRule is a principal's agreement that a model may make calls of a verb in their name
// without asking each time.
type StandingRule struct {
	Name  string // by which it was given, and is taken back
	Verb  string
	Until stores.Value // the last day on which it holds, a date

	// Entity, Key and Row are a row, with its name at the time: of its entity, the call names no other.
	// They are "" if the rule passes any.
	Entity, Key, Row string
	// When is a condition on the values of the call, see verbs.Verb.Bound; "" if it passes any.
	When string
}

// Within tells the bounds of the rule: "for @rent, when amount <= 500". It is "" without any.
func (s *StandingRule) Within() string {
	var all []string
	if s.Key != "" {
		all = append(all, "for "+s.Row)
	}
	if s.When != "" {
		all = append(all, "when "+s.When)
	}
	return strings.Join(all, ", ")
}

// passes reports whether a call is within the bounds of the rule.
func (s *StandingRule) passes(ctx context.Context, r *source, st *step) bool {
	if s.Key != "" {
		named := false
		for i := range st.verb.Params {
			t := st.verb.Params[i].Type
			switch v := st.args.values[i]; {
			case v.IsNull() || !mayName(t, s.Entity):
			case t.Name != verbs.RefType || v.Text() != s.Key: // another, or among others
				return false
			default:
				named = true
			}
		}
		if !named {
			return false
		}
	}
	if s.When == "" {
		return true
	}
	when, ds := load.Bound(st.verb, s.When)
	if ds.HasErrors() {
		return false // of another palette
	}
	v, err := r.eval(ctx, st, when, nil)
	return err == nil && v.Kind() == stores.Bool && v.Bool()
}

// mayName reports whether values of a type may name rows of an entity.
func mayName(t *verbs.Type, entity string) bool {
	switch t.Name {
	case verbs.RefType:
		return t.Entity == nil || t.Entity.Store.Name == entity
	case verbs.ListType:
		return mayName(t.Item, entity)
	case verbs.RecordType:
		return slices.ContainsFunc(t.Fields, func(f verbs.Param) bool { return mayName(f.Type, entity) })
	}
	return t.Name == verbs.AnyType || t.Name == verbs.ObjectType || t.Name == verbs.CallType
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
func unheard(ctx context.Context, r *run, st *step) error {
	if slices.ContainsFunc(st.asks, func(a ask) bool { return a.By == "" }) {
		return nil
	}
	for i := range r.standing {
		if rule := &r.standing[i]; rule.Verb == st.verb.Name && rule.passes(ctx, r.src, st) {
			st.passed = rule
			return nil
		}
	}
	st.asks = append(st.asks, newAsk(st, &verbs.Confirm{Always: true, Reason: wroteUnheard}))
	return nil
}
