package dialog

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/verbs"
)

// A budget adds up the amounts that a conversation spent without asking, by verb. Twenty payments
// below the sum at which a rule asks are together above it, and a model that is told to stay below
// would do that. A budget lasts as long as the conversation and starts anew after an agreement. What
// other conversations did is counted as well, see hold.
type budget map[budgetKey]*big.Rat

// A budgetKey is an amount of a verb: its argument, and the unit beside the number, such as a
// currency.
type budgetKey struct{ verb, arg, of string }

// amounts calls fn for each number that a call writes out.
func amounts(c *dsl.Call, fn func(at budgetKey, v *dsl.Value, n *big.Rat)) {
	number := func(at budgetKey, v *dsl.Value) {
		if v.Kind != dsl.Integer && v.Kind != dsl.Decimal {
			return
		}
		if n, ok := new(big.Rat).SetString(v.Text); ok {
			fn(at, v, n)
		}
	}
	for i := range c.Args {
		a := &c.Args[i]
		number(budgetKey{c.Verb, a.Key, ""}, &a.Value)
		entries := a.Value.Entries()
		of := ""
		for j := range entries {
			if v := &entries[j].Value; v.Kind != dsl.Integer && v.Kind != dsl.Decimal {
				of += entries[j].Key + "=" + v.Text + ";"
			}
		}
		for j := range entries {
			number(budgetKey{c.Verb, a.Key + "." + entries[j].Key, of}, &entries[j].Value)
		}
	}
}

// add counts the amounts of a script that ran.
func (all budget) add(script *dsl.Script) {
	for i := range script.Calls {
		amounts(&script.Calls[i], func(at budgetKey, _ *dsl.Value, n *big.Rat) {
			sum := new(big.Rat).Set(n)
			if before := all[at]; before != nil {
				sum.Add(sum, before)
			}
			all[at] = sum
		})
	}
}

// forget starts anew for the verbs of a script that was agreed to.
func (all budget) forget(script *dsl.Script) {
	for i := range script.Calls {
		maps.DeleteFunc(all, func(at budgetKey, _ *big.Rat) bool { return at.verb == script.Calls[i].Verb })
	}
}

// together says which rule would ask if a script and what ran before it without a question were one
// call; nil if none. It previews the last call of each verb with the sums in place of its amounts.
// The script counts from then on, until it is released.
func (t *turn) together(ctx context.Context, script *dsl.Script) (why *reason, counted *hold, err error) {
	var calls []dsl.Call
	for i := range script.Calls {
		v := t.c.o.Registry.Verb(script.Calls[i].Verb)
		if v != nil && slices.ContainsFunc(v.Confirm, func(c verbs.Confirm) bool { return c.When != nil }) {
			calls = append(calls, script.Calls[i])
		}
	}
	if len(calls) == 0 {
		return nil, nil, nil
	}
	sums := maps.Clone(t.c.unasked)
	if sums == nil {
		sums = budget{}
	}
	sums.add(script)
	if counted, err = t.c.count(ctx, calls, t.now, sums); err != nil {
		return nil, nil, err
	}
	why, err = t.summedUp(ctx, script, sums)
	return why, counted, err
}

// summedUp previews a script with the sums in place of its amounts, and returns the rule that asks.
func (t *turn) summedUp(ctx context.Context, script *dsl.Script, sums budget) (*reason, error) {
	w := t.c.wording
	much := w.reason(sayMuch)
	last := map[string]int{}
	for i := range script.Calls {
		v := t.c.o.Registry.Verb(script.Calls[i].Verb)
		if v != nil && slices.ContainsFunc(v.Confirm, func(c verbs.Confirm) bool { return c.When != nil }) {
			last[v.Name] = i
		}
	}
	whole := &dsl.Script{Source: script.Source, Calls: slices.Clone(script.Calls)}
	grown := false
	for _, i := range last {
		call := whole.Calls[i]
		call.Args = slices.Clone(call.Args)
		for j := range call.Args {
			var more bool
			call.Args[j].Value, more = summed(call.Verb, call.Args[j], sums)
			grown = grown || more
		}
		whole.Calls[i] = call
	}
	if !grown {
		return nil, nil
	}
	again, ds := dsl.Parse(dsl.NewSource(t.c.o.Source, dsl.Format(whole)))
	if ds.HasErrors() {
		return &much, nil
	}
	program, ds := t.c.o.Session.Check(ctx, again, engine.CheckOptions{Said: verbs.Literals{Origin: ofPerson}})
	if program == nil || ds.HasErrors() {
		return &much, nil // the palette does not take such a sum at all
	}
	preview, err := t.c.o.Session.Preview(ctx, program)
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal):
		return &much, nil
	case err != nil:
		return nil, err
	case len(preview.Asks()) == 0:
		return nil, nil
	}
	rule := preview.Asks()[0].Reason
	said, ok := w.reg.Says(w.language, rule)
	if !ok && w.tongue != values.English {
		much.Rule = sayTogether.In(values.English, strings.TrimSuffix(rule, "."))
		return &much, nil
	}
	return &reason{sayTogether.In(values.English, strings.TrimSuffix(rule, ".")), w.say(sayTogether, strings.TrimSuffix(said, "."))}, nil
}

// summed returns an argument with the sums in place of its amounts; grown reports whether that
// differs.
func summed(verb string, a dsl.Arg, sums budget) (v dsl.Value, grown bool) {
	call := dsl.NewCall(verb, a)
	places := map[*dsl.Value]dsl.Value{}
	amounts(&call, func(at budgetKey, v *dsl.Value, n *big.Rat) {
		if sum := sums[at]; sum != nil && sum.Cmp(n) != 0 {
			digits, _ := sum.FloatPrec()
			places[v] = dsl.NewNumber(sum.FloatString(digits))
		}
	})
	if len(places) == 0 {
		return a.Value, false
	}
	put := func(v *dsl.Value) dsl.Value {
		if sum, ok := places[v]; ok {
			return sum
		}
		return *v
	}
	of := &call.Args[0].Value
	if of.Kind != dsl.Map {
		return put(of), true
	}
	entries := of.Entries()
	out := make([]dsl.Arg, len(entries))
	for i := range entries {
		out[i] = dsl.NewArg(entries[i].Key, put(&entries[i].Value))
	}
	return dsl.NewMap(out...), true
}
