package workflow

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"
)

//go:embed plan.yaml
var palette string

// Source returns the text of the palette of plans.
func Source() *dsl.Source { return dsl.NewSource("plan.yaml", palette) }

// The entities of the palette.
const (
	plans    = "plan"
	steps    = "plan-step"
	attempts = "plan-attempt"
)

// The states of a plan and of a step that the code speaks of.
const (
	staged   = "STAGED"
	running  = "RUNNING"
	open     = "OPEN"
	waiting  = "WAITING"
	doubtful = "DOUBTFUL"
	done     = "DONE"
	failed   = "FAILED"
	skipped  = "SKIPPED"
)

const (
	// mostSteps is the greatest number of calls in a plan.
	mostSteps = 100
	// keptIn is the field that holds the calls of a plan, as the effect of `run` names it.
	keptIn = "plan-step.call"
)

// Register registers the handlers of the palette's verbs.
func Register(h *engine.Handlers, reg *verbs.Registry) {
	unheard := func(c *engine.Call, arg string, calls ...string) bool {
		return c.Origin(arg).Kinds()&verbs.FromModel != 0 && slices.ContainsFunc(calls, func(text string) bool {
			call, err := read(text)
			return err != nil || writes(reg, call)
		})
	}
	engine.Handle(h, "plan.draft", func(ctx context.Context, c *engine.Call, a draftArgs) (engine.Outcome, error) {
		return draft(c, a, unheard(c, "steps", a.Steps...))
	})
	engine.Handle(h, "plan.run", run)
	engine.Handle(h, "plan.accept", accept)

	type answerArgs struct {
		Step engine.Ref `verb:"step-id"`
	}
	engine.Handle(h, "plan.answer", func(ctx context.Context, c *engine.Call, a answerArgs) (o engine.Outcome, err error) {
		step, err := c.Get(ctx, a.Step)
		if err != nil {
			return o, err
		}
		rows, err := c.Find(ctx, attempts, engine.Fields{"step": a.Step, "number": step.Value("settled")})
		if err != nil || len(rows) != 1 {
			return o, cmp.Or(err, errors.New("the attempt whose answer counts is not there"))
		}
		asked, err := read(rows[0].Value("call").Text())
		if err != nil {
			return o, err
		}
		if v := reg.Verb(asked.Verb); v == nil || !c.May(v) {
			return o, engine.Refuse(fmt.Sprintf("you may not use %s, so its answer is not told to you", asked.Verb), "ask somebody with the role plan-overseer who may")
		}
		o.Result = &engine.Answer{Columns: []string{"answer", "asked", "score", "least", "reason"},
			Rows: [][]any{{step.Value("answer"), dsl.FormatCall(asked), step.Value("score"), step.Value("least"), step.Value("reason")}}}
		return o, nil
	})

	type stageArgs struct {
		Plan   engine.Ref    `verb:"plan-id"`
		Call   string        `verb:"call"`
		Least  *stores.Value `verb:"least"`
		Within int64         `verb:"within"`
	}
	engine.Handle(h, "plan.stage", func(ctx context.Context, c *engine.Call, a stageArgs) (o engine.Outcome, err error) {
		all, err := stagedSteps(ctx, c, a.Plan)
		if err != nil {
			return o, err
		}
		if len(all) >= mostSteps {
			return o, engine.Refuse(fmt.Sprintf("a plan holds at most %d calls", mostSteps), "start this one, and make another")
		}
		one := stagedStep{call: a.Call, position: 1}
		if len(all) > 0 {
			one.position = all[len(all)-1].position + 1
		}
		if one.name, err = nameOf(one.call, all, one.position); err != nil {
			return o, err
		}
		if err := fits(reg, append(all, one)); err != nil {
			return o, err
		}
		f := one.fields(a.Plan, a.Within)
		if a.Least != nil {
			f["least"] = *a.Least
		}
		o.Changes = []engine.Edit{engine.Create(steps, f)}
		if unheard(c, "call", a.Call) {
			o.Changes = append(o.Changes, engine.Update(a.Plan, engine.Fields{"unheard": true}))
		}
		return o, nil
	})

	type pickArgs struct {
		Step engine.Ref `verb:"step-id"`
		Call string     `verb:"call"`
	}
	engine.Handle(h, "plan.pick", func(ctx context.Context, c *engine.Call, a pickArgs) (o engine.Outcome, err error) {
		plan, all, i, err := stagedBeside(ctx, c, a.Step)
		if err != nil {
			return o, err
		}
		script, ds := dsl.Parse(dsl.NewSource("plan", a.Call))
		if ds.HasErrors() || len(script.Calls) != 1 {
			return o, errors.New("a kept call cannot be read")
		}
		before, ds := dsl.Parse(dsl.NewSource("plan", all[i].call))
		if ds.HasErrors() || len(before.Calls) != 1 {
			return o, errors.New("a kept call cannot be read")
		}
		if as := script.Calls[0].As; as == "" {
			script.Calls[0].As = before.Calls[0].As
		} else if as != "" && as != all[i].name {
			return o, engine.Refuse(fmt.Sprintf("other steps know this one as @%s", all[i].name), "leave :as out, or say :as @"+all[i].name)
		}
		all[i].call = dsl.FormatCall(&script.Calls[0])
		if err := fits(reg, all); err != nil {
			return o, err
		}
		o.Changes = []engine.Edit{engine.Update(a.Step, engine.Fields{"call": all[i].call})}
		if unheard(c, "call", a.Call) {
			o.Changes = append(o.Changes, engine.Update(plan, engine.Fields{"unheard": true}))
		}
		return o, nil
	})

	type renewArgs struct {
		Plan engine.Ref `verb:"plan-id"`
	}
	engine.Handle(h, "plan.renew", func(ctx context.Context, c *engine.Call, a renewArgs) (o engine.Outcome, err error) {
		all, err := stagedSteps(ctx, c, a.Plan)
		if err != nil {
			return o, err
		}
		for i := range all {
			s := &all[i]
			call, _ := Renewed(reg, s.call)
			if call != s.call {
				s.call = call
				o.Changes = append(o.Changes, engine.Update(s.ref, engine.Fields{"call": call}))
			}
		}
		if len(o.Changes) == 0 {
			return o, engine.Refuse("no call of this plan is one of a deprecated verb that can be written otherwise", "plan.show lists its calls")
		}
		return o, fits(reg, all)
	})

	type removeArgs struct {
		Step engine.Ref `verb:"step-id"`
	}
	engine.Handle(h, "plan.remove", func(ctx context.Context, c *engine.Call, a removeArgs) (o engine.Outcome, err error) {
		_, all, i, err := stagedBeside(ctx, c, a.Step)
		if err != nil {
			return o, err
		}
		if err := fits(reg, slices.Delete(all, i, i+1)); err != nil {
			return o, err
		}
		o.Changes = []engine.Edit{engine.Delete(a.Step)}
		return o, nil
	})

	type reorderArgs struct {
		Step   engine.Ref `verb:"step-id"`
		Before engine.Ref `verb:"before"`
	}
	engine.Handle(h, "plan.reorder", func(ctx context.Context, c *engine.Call, a reorderArgs) (o engine.Outcome, err error) {
		of, all, i, err := stagedBeside(ctx, c, a.Step)
		if err != nil {
			return o, err
		}
		other, _, _, err := stagedBeside(ctx, c, a.Before)
		if err != nil {
			return o, err
		}
		if of != other || a.Step == a.Before {
			return o, engine.Refuse("a call is moved in front of another of its own plan", "plan.show lists them")
		}
		one := all[i]
		all = slices.Delete(all, i, i+1)
		to := slices.IndexFunc(all, func(s stagedStep) bool { return s.ref == a.Before })
		for at, s := range slices.Insert(all, to, one) {
			if s.position != int64(at+1) {
				o.Changes = append(o.Changes, engine.Update(s.ref, engine.Fields{"position": int64(at + 1)}))
			}
		}
		if len(o.Changes) == 0 {
			return o, engine.Refuse("it stands there already", "plan.show lists the calls of a plan")
		}
		return o, nil
	})
}

// Renewed returns a kept call with deprecated verbs replaced by their successors, and the warnings
// that remain: see verbs.Rewrite.
func Renewed(reg *verbs.Registry, call string) (string, dsl.Diagnostics) {
	text, left := verbs.Rewrite(call, func(text string) dsl.Diagnostics { return reg.CheckText("plan", text) })
	if script, ds := dsl.Parse(dsl.NewSource("plan", text)); text != call && !ds.HasErrors() && len(script.Calls) == 1 {
		text = dsl.FormatCall(&script.Calls[0])
	}
	return text, left
}

// A stagedStep is a step of a plan that is being drafted.
type stagedStep struct {
	ref      engine.Ref
	name     string
	call     string
	position int64
}

func (s *stagedStep) fields(plan engine.Ref, within int64) engine.Fields {
	return engine.Fields{"plan": plan, "name": s.name, "position": s.position, "call": s.call, "status": staged, "within": within, "tries": 0}
}

// stagedSteps returns the steps of a plan that is not started, in order.
func stagedSteps(ctx context.Context, c *engine.Call, plan engine.Ref) ([]stagedStep, error) {
	p, err := c.Get(ctx, plan)
	if err != nil {
		return nil, err
	}
	if p.Value("status").Text() != staged {
		return nil, engine.Refuse("this plan was started", "make another with plan.draft")
	}
	rows, err := c.Find(ctx, steps, engine.Fields{"plan": plan})
	if err != nil {
		return nil, err
	}
	all := make([]stagedStep, len(rows))
	for i, r := range rows {
		all[i] = stagedStep{r.Ref(), r.Value("name").Text(), r.Value("call").Text(), r.Value("position").Int()}
	}
	slices.SortFunc(all, func(a, b stagedStep) int { return int(a.position - b.position) })
	return all, nil
}

// stagedBeside finds the plan of a staged step, its steps, and where among them it is.
func stagedBeside(ctx context.Context, c *engine.Call, step engine.Ref) (plan engine.Ref, all []stagedStep, at int, err error) {
	row, err := c.Get(ctx, step)
	if err != nil {
		return plan, nil, 0, err
	}
	plan = row.To("plan")
	if all, err = stagedSteps(ctx, c, plan); err != nil {
		return plan, nil, 0, err
	}
	return plan, all, slices.IndexFunc(all, func(s stagedStep) bool { return s.ref == step }), nil
}

// nameOf returns the name of a step: the symbol that its call binds, or a number.
func nameOf(call string, all []stagedStep, number int64) (string, error) {
	script, ds := dsl.Parse(dsl.NewSource("plan", call))
	if ds.HasErrors() || len(script.Calls) != 1 {
		return "", errors.New("a kept call cannot be read")
	}
	has := func(name string) bool {
		return slices.ContainsFunc(all, func(s stagedStep) bool { return s.name == name })
	}
	as := script.Calls[0].As
	switch {
	case as != "" && has(as):
		return "", engine.Refuse(fmt.Sprintf("another step is called @%s", as), "give it another name behind :as")
	case as != "":
		return as, nil
	}
	for ; ; number++ {
		if name := "step-" + strconv.FormatInt(number, 10); !has(name) {
			return name, nil
		}
	}
}

// fits checks the calls of a plan together: each must be valid, the results that they name must
// exist, and none may wait for itself. Names of rows were resolved when each call was kept, and
// are looked up again when it is made.
func fits(reg *verbs.Registry, all []stagedStep) error {
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].call
	}
	script, ds := dsl.Parse(dsl.NewSource("plan", strings.Join(texts, "\n")))
	if !ds.HasErrors() {
		_, ds = reg.Check(script, nil)
	}
	for _, d := range ds {
		if d.Severity == dsl.Error {
			next := "change the call"
			if len(d.Notes) > 0 {
				next = d.Notes[0]
			}
			return engine.Refuse("the plan does not hold together: "+d.Summary, next)
		}
	}
	var lost string
	names := map[string]bool{}
	for i := range script.Calls {
		names[script.Calls[i].As] = true
	}
	dsl.Walk(script, func(at dsl.Node) bool {
		if at.Call != nil {
			names[at.Call.As] = true
		}
		if v := at.Value; v != nil && v.Kind == dsl.Symbol {
			if name, _, _ := strings.Cut(v.Text, "."); !names[name] && !strings.Contains(name, "~") {
				lost = name
			}
		}
		return true
	})
	if lost != "" {
		return engine.Refuse(fmt.Sprintf("nothing is called @%s: neither a row that you see nor the result of another step", lost), "plan.show lists the steps")
	}
	return nil
}

type draftArgs struct {
	Title     string         `verb:"title"`
	Question  *string        `verb:"question"`
	Threshold *stores.Value  `verb:"threshold"`
	Steps     []string       `verb:"steps"`
	Parallel  int64          `verb:"parallel"`
	Within    int64          `verb:"within"`
	Retries   *int64         `verb:"retries"`
	Least     []stores.Value `verb:"least"`
	Deadline  *time.Time     `verb:"deadline"`
}

// draft keeps calls as a plan. unheard says that a model wrote one that changes something.
func draft(c *engine.Call, a draftArgs, unheard bool) (o engine.Outcome, err error) {
	if a.Deadline != nil && !a.Deadline.After(c.Now()) {
		return o, engine.Refuse("that moment is over", "give a later deadline, or none")
	}
	if len(a.Least) > 1 && len(a.Least) != len(a.Steps) {
		return o, engine.Refuse(fmt.Sprintf("there are %d steps, and it is said of %d how sure they must be", len(a.Steps), len(a.Least)), "say it once for all, or for each")
	}
	plan, err := c.New(plans)
	if err != nil {
		return o, err
	}
	f := engine.Fields{"owner": c.Principal(), "person": c.Person(), "title": a.Title, "status": staged, "parallel": a.Parallel, "created_at": c.Now()}
	if a.Question != nil {
		f["question"] = *a.Question
	}
	if a.Threshold != nil {
		f["threshold"] = *a.Threshold
	}
	if a.Deadline != nil {
		f["deadline"] = *a.Deadline
	}
	if a.Retries != nil {
		f["retries"] = *a.Retries
	}
	if unheard {
		f["unheard"] = true
	}
	o.Changes = []engine.Edit{engine.Create(plans, f).As(plan)}
	var all []stagedStep
	for i, call := range a.Steps {
		one := stagedStep{call: call, position: int64(i + 1)}
		if one.name, err = nameOf(call, all, one.position); err != nil {
			return o, err
		}
		all = append(all, one)
		f := one.fields(plan, a.Within)
		if len(a.Least) > 0 {
			f["least"] = a.Least[min(i, len(a.Least)-1)]
		}
		o.Changes = append(o.Changes, engine.Create(steps, f))
	}
	return o, nil
}

type runArgs struct {
	Plan engine.Ref `verb:"plan-id"`
}

// run makes the calls of a plan as one script.
func run(ctx context.Context, c *engine.Call, a runArgs) (o engine.Outcome, err error) {
	all, err := stagedSteps(ctx, c, a.Plan)
	if err != nil {
		return o, err
	}
	if len(all) == 0 {
		return o, engine.Refuse("this plan holds no calls", "add some with plan.stage")
	}
	o.Changes = []engine.Edit{engine.Update(a.Plan, engine.Fields{"status": done, "started_at": c.Now(), "ended_at": c.Now()})}
	made := engine.Generated{Field: keptIn}
	for _, s := range all {
		made.Kept = append(made.Kept, s.call)
		o.Changes = append(o.Changes, engine.Update(s.ref, engine.Fields{"status": done, "started_at": c.Now(), "ended_at": c.Now()}))
	}
	o.Calls = []engine.Generated{made}
	return o, nil
}

type acceptArgs struct {
	Step   engine.Ref `verb:"step-id"`
	Reason string     `verb:"reason"`
}

// accept accepts a doubtful answer. Only a person other than the asker may do so.
func accept(ctx context.Context, c *engine.Call, a acceptArgs) (o engine.Outcome, err error) {
	step, err := c.Get(ctx, a.Step)
	if err != nil {
		return o, err
	}
	plan, err := c.Get(ctx, step.To("plan"))
	if err != nil {
		return o, err
	}
	if plan.Value("person").Text() == c.Person() {
		return o, engine.Refuse("nobody accepts an answer to their own question", "somebody else with the role plan-overseer can")
	}
	return c.Declared(), nil
}
