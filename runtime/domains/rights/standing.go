package rights

import (
	"context"
	"slices"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// Standing rules: what a person lets models do in their name without asking each time.

const standing = "system-standing-rule"

func registerStanding(h *engine.Handlers, reg *verbs.Registry) {
	type rule struct {
		Name  string     `verb:"name"`
		Verb  string     `verb:"verb"`
		Until time.Time  `verb:"until"`
		About engine.Ref `verb:"about"`
		When  *string    `verb:"when"`
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
		f := engine.Fields{"owner": c.Principal(), "name": a.Name, "verb": v.Name, "until": a.Until, "given_at": c.Now()}
		if !a.About.IsZero() {
			if !slices.ContainsFunc(v.Params, func(p verbs.Param) bool {
				return p.Type.Name == verbs.RefType && p.Type.Entity != nil && p.Type.Entity.Store.Name == a.About.Entity()
			}) {
				return engine.Outcome{}, engine.Refuse("this verb takes no such row", "verbatim explain "+v.Name+" says which rows it takes")
			}
			f["row_entity"], f["row_key"], f["row_name"] = a.About.Entity(), c.KeyOf(a.About), c.NameOf(a.About)
		}
		if a.When != nil {
			if _, ds := load.Bound(v, *a.When); ds.HasErrors() {
				next := "verbatim explain " + v.Name + " says which arguments it has"
				if len(ds[0].Notes) > 0 {
					next = ds[0].Notes[0]
				}
				return engine.Outcome{}, engine.Refuse("the condition cannot be used: "+ds[0].Summary, next)
			}
			f["when"] = *a.When
		}
		return engine.Outcome{Changes: []engine.Edit{engine.Create(standing, f)}}, nil
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
			rule := engine.StandingRule{Name: row[e.FieldIndex("name")].Text(), Verb: row[e.FieldIndex("verb")].Text(), Until: row[e.FieldIndex("until")],
				Entity: row[e.FieldIndex("row_entity")].Text(), Key: row[e.FieldIndex("row_key")].Text(), Row: row[e.FieldIndex("row_name")].Text(), When: row[e.FieldIndex("when")].Text()}
			if v := reg.Verb(rule.Verb); v != nil {
				rule.Verb = v.Name // it may have another name since
			}
			all = append(all, rule)
		}
		return all, err
	}
}
