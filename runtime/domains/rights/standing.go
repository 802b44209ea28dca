package rights

import (
	"context"
	"slices"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"
)

// Standing rules: what a person lets models do in their name without asking each time.

const standing = "system-standing-rule"

func registerStanding(h *engine.Handlers, reg *verbs.Registry) {
	type rule struct {
		Name  string    `verb:"name"`
		Verb  string    `verb:"verb"`
		Until time.Time `verb:"until"`
	}
	engine.Handle(h, "system.allow", func(_ context.Context, c *engine.Call, a rule) (engine.Outcome, error) {
		v := reg.Verb(a.Verb)
		switch {
		case v == nil || !c.May(v):
			return engine.Outcome{}, engine.Refuse("you may use no verb that is called so", "verbatim explain lists them")
		case reg.OnlyReads(v):
			return engine.Outcome{}, engine.Refuse("this verb changes nothing, so that models use it anyway", "name a verb that changes something")
		case slices.ContainsFunc(v.Confirm, func(r verbs.Confirm) bool { return r.Always && r.By == nil }):
			return engine.Outcome{}, engine.Refuse("the palette of this verb always asks you, and no standing rule passes that", "agree to each of its calls")
		case a.Until.After(c.Today().AddDate(1, 0, 0)):
			return engine.Outcome{}, engine.Refuse("a standing rule holds for a year at most", "give an earlier day")
		}
		return engine.Outcome{Changes: []engine.Edit{engine.Create(standing, engine.Fields{"owner": c.Principal(), "name": a.Name, "verb": v.Name, "until": a.Until, "given_at": c.Now()})}}, nil
	})
}

// Standing returns the function by which the engine reads a principal's standing rules.
func Standing(reg *verbs.Registry) func(context.Context, stores.Reader, string) ([]engine.StandingRule, error) {
	of := reg.Entity(standing)
	if of == nil {
		return nil
	}
	e := of.Store
	return func(ctx context.Context, r stores.Reader, principal string) (all []engine.StandingRule, err error) {
		rows, err := r.Find(ctx, stores.Find{Entity: e, Where: is(e, "owner", stores.NewString(principal))})
		for _, row := range rows {
			rule := engine.StandingRule{Name: row[e.FieldIndex("name")].Text(), Verb: row[e.FieldIndex("verb")].Text(), Until: row[e.FieldIndex("until")]}
			if v := reg.Verb(rule.Verb); v != nil {
				rule.Verb = v.Name // it may have another name since
			}
			all = append(all, rule)
		}
		return all, err
	}
}
