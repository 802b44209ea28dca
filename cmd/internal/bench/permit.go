package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cedar-policy/cedar-go"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// rulesPalette has one verb that everybody may use who has the role and that
// asks the person always, one that nobody may use, and one that asks depending
// on expressions.
const rulesPalette = `domain: rules
description: Who may do what.
roles:
  - {name: clerk, description: Whoever does the work.}
  - {name: auditor, description: Whoever looks at it.}
  - {name: owner, description: Somebody else.}
entities:
  item:
    description: What is worked on.
    table: rules.items
    key: item_id
    managed: true
    scope: everyone
    label: "{name}"
    fields:
      name:     {type: string}
      due_date: {type: date}
verbs:
  - verb: send
    description: Send it.
    roles: [auditor, clerk]
    confirm: always
    effects: [{notifies: customer}]
  - verb: erase
    description: Do away with everything.
    roles: [owner]
    effects: [{notifies: nobody}]
  - verb: move
    description: Put off a date.
    roles: [clerk]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true, description: the item}
      - {name: days, type: integer, required: true}
      - {name: urgent, type: boolean, required: true}
      - {name: new-date, type: date, required: true}
    confirm:
      - {when: "days > 14 and not urgent", reason: it is long}
      - {when: "new_date > item_id.due_date + days(14)", reason: it is late}
    effects: [{notifies: customer}]
`

// cedarPolicy says of one verb what the palette says of send.
const cedarPolicy = `
permit (principal, action == Action::"send", resource)
when { principal in Role::"clerk" || principal in Role::"auditor" };
forbid (principal, action == Action::"send", resource)
unless { context.agreed };
`

// everybody is a store that knows principals and no rows.
type everybody struct{ stores.Store }

func (everybody) Principal(_ context.Context, name string) (stores.Principal, error) {
	return stores.Principal{Name: name, Roles: []string{"clerk"}}, nil
}

func (everybody) Identity(context.Context) (stores.Identity, error) { return stores.Identity{}, nil }

// permitting is PERF-C2: what a decision costs, by role and rule, and what an
// author's expression costs.
func permitting() (*race, func(), error) {
	reg, ds := load.Sources(dsl.NewSource("rules.yaml", rulesPalette))
	if ds.HasErrors() {
		return nil, nil, fmt.Errorf("the palette of rules does not load: %v", ds)
	}
	decide, err := ourDecision(reg)
	if err != nil {
		return nil, nil, err
	}
	authorize, err := cedarDecision()
	if err != nil {
		return nil, nil, err
	}
	r := &race{
		name:        "Deciding on a call by role and rule, and by an author's expression",
		contestants: []*contestant{decide, authorize},
		goals: []goal{
			{"PERF-C2", "time of a decision", decide.ns, "ns", false, 50},
			{"PERF-C2", "times faster than cedar-go", faster(decide, authorize), "x", true, 40},
		},
	}
	due, _ := stores.ParseDate("2025-01-03")
	late, _ := stores.ParseDate("2025-03-03")
	rules := reg.Verb("rules.move").Confirm
	for i, x := range []struct {
		what, theirs string
		names        map[string]any
	}{
		{"numbers", "days > 14 and not urgent", map[string]any{"days": 20, "urgent": false}},
		{"dates", `new_date > due_date + duration("336h")`, map[string]any{"new_date": late.Time(), "due_date": due.Time()}},
	} {
		env := verbs.Env{Args: []stores.Value{{}, stores.NewInt(20), stores.NewBool(false), late}, Reads: []stores.Value{due}, Principal: "lena", Now: time.Unix(1735894800, 0)}
		rule := rules[i].When
		if v, err := rule.Eval(env); err != nil || !v.Bool() {
			return nil, nil, fmt.Errorf("%s: %v, %v", rule.Text, v, err)
		}
		program, err := expr.Compile(x.theirs, expr.Env(x.names), expr.AsBool())
		if err != nil {
			return nil, nil, err
		}
		if v, err := vm.Run(program, x.names); err != nil || v != true {
			return nil, nil, fmt.Errorf("%s: %v, %v", x.theirs, v, err)
		}
		ours := &contestant{name: "Expr.Eval, " + rule.Text, per: 1, run: func(n int) {
			for range n {
				_, _ = rule.Eval(env)
			}
		}}
		library := &contestant{name: "expr-lang, " + x.theirs, per: 1, run: func(n int) {
			for range n {
				_, _ = vm.Run(program, x.names)
			}
		}}
		var machine vm.VM
		kept := &contestant{name: "expr-lang, the same on a machine that is kept", per: 1, run: func(n int) {
			for range n {
				_, _ = machine.Run(program, x.names)
			}
		}}
		r.contestants = append(r.contestants, ours, library, kept)
		r.goals = append(r.goals, goal{"PERF-C2", "an expression of " + x.what + ", times as long as the library's own",
			func() float64 { return ours.ns() / library.ns() }, "x", false, 1.2})
	}
	return r, func() {}, nil
}

// ourDecision asks the engine of many calls at once: each of them is permitted
// but the last, so that nothing is begun and what remains of the time, divided
// by the calls, is the decision. A look at what the verb leads to, were it a
// macro, is part of it, and so is the thousandth part of one refusal.
func ourDecision(reg *verbs.Registry) (*contestant, error) {
	const calls = 1000
	e, err := engine.New(reg, everybody{}, engine.Options{})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	s, err := e.Session(ctx, "lena")
	if err != nil {
		return nil, err
	}
	script, ds := dsl.Parse(dsl.NewSource("many.dsl", strings.Repeat("rules.send\n", calls-1)+"rules.erase\n"))
	if ds.HasErrors() {
		return nil, fmt.Errorf("%v", ds)
	}
	program, ds := s.Check(context.Background(), script)
	if ds.HasErrors() {
		return nil, fmt.Errorf("%v", ds)
	}
	var refusal *engine.Refusal
	if _, err := s.Preview(ctx, program); !errors.As(err, &refusal) || len(refusal.Diagnostics) != 1 {
		return nil, fmt.Errorf("one call of many should be refused: %v", err)
	}
	return &contestant{name: "the engine, permit and rules of one call", per: calls, run: func(n int) {
		for range n {
			_, _ = s.Preview(ctx, program)
		}
	}}, nil
}

func cedarDecision() (*contestant, error) {
	policies, err := cedar.NewPolicySetFromBytes("policy.cedar", []byte(cedarPolicy))
	if err != nil {
		return nil, err
	}
	lena, clerk := cedar.NewEntityUID("User", "lena"), cedar.NewEntityUID("Role", "clerk")
	entities := cedar.EntityMap{
		lena:  {UID: lena, Parents: cedar.NewEntityUIDSet(clerk)},
		clerk: {UID: clerk},
	}
	request := cedar.Request{
		Principal: lena, Action: cedar.NewEntityUID("Action", "send"), Resource: cedar.NewEntityUID("Item", "first"),
		Context: cedar.NewRecord(cedar.RecordMap{"agreed": cedar.True}),
	}
	if decision, why := cedar.Authorize(policies, entities, request); decision != cedar.Allow {
		return nil, fmt.Errorf("cedar does not allow it: %v", why)
	}
	return &contestant{name: "cedar-go, two policies on the same call", per: 1, run: func(n int) {
		for range n {
			cedar.Authorize(policies, entities, request)
		}
	}}, nil
}
