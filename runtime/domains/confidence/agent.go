package confidence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/domains/confidence/score"
	"verbatim/runtime/engine"
	"verbatim/runtime/internal/recent"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/workflow"
	"verbatim/runtime/protocols/trustgraph"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// An Agent answers questions by plans. It judges the answers of its Runner, which is given it
// as Judge. Its fields are set before it is used and not after; it is safe for use by many
// goroutines.
type Agent struct {
	Config Config
	Runner *workflow.Runner
	Model  llm.Model // makes plans for questions without a template; may be nil
	Clock  func() time.Time
	// Observe is called with each plan that was made, and the time that took. It may be nil.
	Observe func(by string, steps int, took time.Duration)
	// Sanitize takes out of a question what an audit may not hold.
	Sanitize func(question string) string
	// Span begins a trace span. It may be nil.
	Span func(ctx context.Context, name string) (context.Context, func(failed bool))

	kept   recent.Map[string] // plans
	learns learning
}

// New makes an agent, and sets it as the Judge of its runner.
func New(c Config, r *workflow.Runner, m llm.Model, clock func() time.Time) *Agent {
	a := &Agent{Config: c, Runner: r, Model: m, Clock: clock, Sanitize: func(q string) string { return q }}
	r.Judge, r.Text, r.Keep = a, c.Context, c.CacheTTL
	return a
}

const (
	overseer    = "plan-overseer"
	statePrefix = trustgraph.PlanState
)

// Ask implements trustgraph.Agent.
func (a *Agent) Ask(ctx context.Context, who trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) (err error) {
	if a.Span != nil {
		var end func(bool)
		ctx, end = a.Span(ctx, "invoke_agent")
		defer func() { end(err != nil) }()
	}
	s, err := a.Runner.Clerk.Engine.Session(ctx, who.Name)
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return &trustgraph.Error{Type: trustgraph.AccessDenied, Message: "access denied"}
	}
	if err != nil {
		return err
	}
	t := &telling{a: a, s: s, tell: tell, oversees: slices.ContainsFunc(s.Roles(), func(r *verbs.Role) bool { return r.Name == overseer }), streams: r.Streaming}
	t.language, _ = values.ParseLanguage(s.Person().Language)
	if t.language == 0 {
		t.language = values.English
	}
	key, planned, err := a.begin(ctx, s, &r, t)
	var waits *errWaits
	if errors.As(err, &waits) {
		return t.sayLast(waits.says, "The plan changes something.", "It waits for whoever asked.")
	}
	if err != nil {
		return err
	}
	if !planned {
		return t.report(ctx, key)
	}
	status, err := a.Runner.Advance(ctx, key, t.event)
	if err = errors.Join(err, t.failed); err != nil {
		return err
	}
	if t.p == nil || status == "RUNNING" && !t.waits() {
		return t.report(ctx, key) // another process makes it
	}
	if slices.ContainsFunc(t.p.Steps, func(s *workflow.Step) bool { return (s.Status == "DONE" || s.Settled > 0) && s.Answer() == nil }) {
		// Some steps were made by another process, or before somebody accepted their answer.
		if t.p, err = a.Runner.Answered(ctx, key); err != nil {
			return err
		}
	}
	return t.final()
}

// begin keeps the plan of a question and starts it. It makes no plan if the request asks for a plan
// that has ended or is made elsewhere.
func (a *Agent) begin(ctx context.Context, s *engine.Session, r *trustgraph.Request, t *telling) (key stores.Value, planned bool, err error) {
	if id, ok := strings.CutPrefix(r.State, statePrefix); ok {
		e := a.Runner.Clerk.Registry.Entity("plan").Store
		key, ok = stores.Parse(e.Fields[e.Key].Kind, id)
		p, err := (*workflow.Plan)(nil), error(nil)
		if ok {
			p, err = a.Runner.Load(ctx, key)
		}
		switch {
		case err != nil:
			return key, false, err
		case p == nil || p.Owner != s.Principal().Name:
			return key, false, &trustgraph.Error{Type: trustgraph.BadRequest, Message: "there is no such plan"}
		}
		return key, p.Status == "RUNNING", nil
	}
	ctx2, end := ctx, func(bool) {}
	if a.Span != nil {
		ctx2, end = a.Span(ctx, "plan")
	}
	began := a.Clock()
	m, err := a.make(ctx2, s, r)
	end(err != nil)
	var none *errNoPlan
	if errors.As(err, &none) {
		return key, false, &trustgraph.Error{Type: trustgraph.AgentError, Message: none.why}
	}
	if err != nil {
		return key, false, err
	}
	if a.Observe != nil {
		a.Observe(m.by, len(m.calls), a.Clock().Sub(began))
	}
	least, err := a.thresholds(ctx, m.calls, r.Plan)
	if err != nil {
		return key, false, &trustgraph.Error{Type: trustgraph.BadRequest, Message: err.Error()}
	}
	if t.raised, err = a.held(ctx, m.calls, least, t.oversees); err != nil {
		return key, false, err
	}
	if key, err = a.keep(ctx, s, r, &m, least); err != nil {
		var refusal *engine.Refusal
		if errors.As(err, &refusal) {
			return key, false, &trustgraph.Error{Type: trustgraph.AgentError, Message: refusal.Diagnostics[0].Summary}
		}
		return key, false, err
	}
	return key, true, t.planned(&m, least, key)
}

// keep drafts a plan in the asker's name and starts it.
func (a *Agent) keep(ctx context.Context, s *engine.Session, r *trustgraph.Request, m *made, least []float64) (key stores.Value, err error) {
	steps, leasts := make([]dsl.Value, len(m.calls)), make([]dsl.Value, len(least))
	for i := range m.calls {
		steps[i], leasts[i] = dsl.NewNested(m.calls[i]), dsl.NewNumber(decimal(least[i]).Text())
	}
	draft := serviceaccount.Call("plan.draft", serviceaccount.Text("title", workflow.Clip(r.Question, 200)), dsl.NewArg("steps", dsl.NewList(steps...)), serviceaccount.Int("parallel", int64(a.Config.Parallel)),
		serviceaccount.Int("within", a.Config.StepTimeout.Milliseconds()), dsl.NewArg("least", dsl.NewList(leasts...)))
	threshold := a.Config.Threshold
	if r.Plan.Threshold != nil {
		threshold = *r.Plan.Threshold
	}
	draft.Args = append(draft.Args, serviceaccount.Text("question", workflow.Clip(r.Question, 20000)), dsl.NewArg("threshold", dsl.NewNumber(decimal(threshold).Text())))
	if r.Plan.MaxRetries != nil {
		draft.Args = append(draft.Args, serviceaccount.Int("retries", int64(*r.Plan.MaxRetries)))
	}
	draft.As = "p"
	// Whoever asked agrees to a plan of a model that changes something, all of it, before it is kept.
	// It is made by a worker then.
	done, err := a.begins(ctx, s, m, &draft, true)
	if needsAgreement(err) {
		return key, a.waits(ctx, s, m, &draft)
	}
	if err != nil {
		return key, err
	}
	for _, row := range done.Calls[0].Rows {
		if row.Entity == "plan" {
			return row.Key, nil
		}
	}
	return key, errors.New("a plan was drafted, and is not there")
}

// begins runs the calls that keep a plan and start it.
func (a *Agent) begins(ctx context.Context, s *engine.Session, m *made, draft *dsl.Call, here bool) (*receipt.Receipt, error) {
	program, err := a.beginning(ctx, s, m, draft, here)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx, program, engine.RunOptions{Source: "confidence"})
}

func needsAgreement(err error) bool {
	var refusal *engine.Refusal
	return errors.As(err, &refusal) && refusal.Diagnostics[0].Code == engine.CodeNeedsAgreement
}

// An errWaits tells the asker that their plan waits for them.
type errWaits struct{ says string }

func (e *errWaits) Error() string { return e.says }

// waits keeps the calls that keep and start a plan until the asker agrees to them.
func (a *Agent) waits(ctx context.Context, s *engine.Session, m *made, draft *dsl.Call) error {
	program, err := a.beginning(ctx, s, m, draft, false)
	if err != nil {
		return err
	}
	pending, err := s.Propose(ctx, program, engine.RunOptions{Source: "confidence", Absent: true})
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "This changes something, and %s made the plan of it, so you are asked first. Nothing was changed. It would be:\n", m.by)
	for i := range m.calls {
		b.WriteString("  " + shown(&m.calls[i]) + "\n")
	}
	fmt.Fprintf(&b, "It waits as %s until %s; verbatim confirm shows it, and so does the page of what waits for you.", receipt.Short(pending.ID), pending.Expires.UTC().Format("2006-01-02 15:04 MST"))
	return &errWaits{b.String()}
}

// beginning checks the calls that keep a plan and start it. here says that this process makes its steps.
func (a *Agent) beginning(ctx context.Context, s *engine.Session, m *made, draft *dsl.Call, here bool) (*verbs.Program, error) {
	start := serviceaccount.Call("plan.start", dsl.NewArg("plan-id", dsl.NewSymbol("p")), dsl.NewArg("here", dsl.NewBool(here)))
	script, ds := dsl.Parse(dsl.NewSource("confidence", dsl.FormatCall(draft)+"\n"+dsl.FormatCall(&start)))
	if ds.HasErrors() {
		return nil, &engine.Refusal{Diagnostics: ds}
	}
	program, ds := s.Check(ctx, script, engine.CheckOptions{Said: verbs.Literals{Origin: m.origin}})
	if program == nil {
		return nil, &engine.Refusal{Diagnostics: ds}
	}
	return program, nil
}

// A telling tells one asker how far their question is.
type telling struct {
	a        *Agent
	s        *engine.Session
	tell     func(trustgraph.Message) error
	language values.Language
	oversees bool
	streams  bool
	p        *workflow.Plan
	failed   error // of tell: the asker has gone
	retries  int
	raised   bool // a lower threshold was asked for than the asker may have
}

// say tells a thought and an observation.
func (t *telling) say(thought, observation string) {
	if t.failed == nil {
		t.failed = t.tell(trustgraph.Message{Type: trustgraph.Observation, Thought: thought, Content: observation, EndOfMessage: true})
	}
}

// planned tells the steps of the plan.
func (t *telling) planned(m *made, least []float64, key stores.Value) error {
	steps := make([]string, len(m.calls))
	for i := range m.calls {
		steps[i] = fmt.Sprintf("%s with %s", m.calls[i].As, ToolOf(t.a.Runner.Clerk.Registry.Verb(m.calls[i].Verb)))
		if m.calls[i].As == "" {
			steps[i] = fmt.Sprintf("step-%d with %s", i+1, ToolOf(t.a.Runner.Clerk.Registry.Verb(m.calls[i].Verb)))
		}
		if t.oversees {
			steps[i] += fmt.Sprintf(", which has to be %.2f sure", least[i])
		}
	}
	observation := fmt.Sprintf("Plan: %s. The record is kept as %s%s.", strings.Join(steps, "; "), statePrefix, key.Text())
	if t.raised {
		observation += " A lower threshold was asked for, and does not count: doubts are passed over by somebody with the role " + overseer + "."
	}
	t.say("The question needs "+receipt.Counted(len(m.calls), "step")+"; the plan is of "+m.by+".", observation)
	return t.failed
}

// last returns the step whose answer is that of the plan: the last one that no other needs.
func last(p *workflow.Plan) *workflow.Step {
	for i := len(p.Steps) - 1; i >= 0; i-- {
		s := p.Steps[i]
		if !slices.ContainsFunc(p.Steps, func(o *workflow.Step) bool { return slices.Contains(o.Needs, s) }) {
			return s
		}
	}
	return p.Steps[len(p.Steps)-1]
}

// event tells the outcome of a step.
func (t *telling) event(e workflow.Event) {
	t.p = e.Plan
	s, at := e.Step, e.Attempt
	switch {
	case e.Kind == workflow.Attempted && at.Outcome == workflow.OK && at.Number == 1:
		t.say(fmt.Sprintf("Made %s: %s.", s.Name, t.does(s)), t.came(s, at))
	case e.Kind == workflow.Attempted && at.Verdict.Again:
		t.retries++
		next := &s.Call
		if at.Verdict.Next != nil {
			next = at.Verdict.Next
		}
		thought, how := fmt.Sprintf("The answer to %s is not sure enough", s.Name), "it is asked again"
		switch same := sameCall(next, &at.Call); {
		case at.Receipt == nil:
			thought = fmt.Sprintf("%s did not answer: %s", s.Name, at.Reason)
		case same && (s.Verb.Broader != nil || s.Verb.Simpler != nil) && at.Number == 1:
			return // it is told together with the next
		case repeats(s, at):
			thought += ", nor when it was asked again"
		}
		if !sameCall(next, &at.Call) {
			how = "it is asked otherwise: " + t.otherwise(&at.Call, next)
		}
		t.say(thought+"; "+how+".", t.came(s, at))
	case e.Kind == workflow.Settled && s.Status == "DONE" && s != last(e.Plan):
		t.say(fmt.Sprintf("%s will do%s.", s.Name, t.sure(s)), "It is kept for the steps that need it.")
	case e.Kind == workflow.Settled && s.Status == "WAITING":
		t.say(fmt.Sprintf("%s has to be agreed to first.", s.Name), "It waits for whoever may agree; the other steps go on.")
	case e.Kind == workflow.Settled && s.Status == "DOUBTFUL":
		says := ""
		if res := resultOf(s); res != nil && len(res.Rows) > 0 {
			says = " It says, and may be wrong: " + workflow.Clip(workflow.Text(res, t.a.Config.Context), 500)
		}
		t.say(fmt.Sprintf("The answer to %s stays in doubt%s.", s.Name, t.sure(s)), fmt.Sprintf("Somebody with the role %s may accept it. %s%s", overseer, t.needed(s), says))
	case e.Kind == workflow.Settled && s.Status == "FAILED":
		t.say(fmt.Sprintf("%s was not made.", s.Name), sentence(s.Reason))
	case e.Kind == workflow.Settled && s.Status == "SKIPPED":
		t.say(fmt.Sprintf("%s is left out.", s.Name), sentence(s.Reason))
	}
}

// needed says what depends on a step.
func (t *telling) needed(s *workflow.Step) string {
	var names []string
	for _, o := range t.p.Steps {
		if slices.Contains(o.Needs, s) {
			names = append(names, o.Name)
		}
	}
	switch len(names) {
	case 0:
		return "Nothing else depends on it."
	case 1:
		return names[0] + " depends on it."
	}
	return message.Joined(names, "and") + " depend on it."
}

// does describes a step.
func (t *telling) does(s *workflow.Step) string {
	if s.Verb == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s (%s)", strings.TrimSuffix(s.Verb.Description, "."), ToolOf(s.Verb))
}

// shown returns a call without the suffixes of its names.
func shown(c *dsl.Call) string {
	bare := *c
	bare.As = ""
	text := dsl.FormatCall(dsl.Replace(&bare, func(_ *dsl.Call, _ string, v *dsl.Value) (dsl.Value, bool) {
		name, _, has := strings.Cut(v.Text, "~")
		if v.Kind != dsl.Symbol || !has {
			return dsl.Value{}, false
		}
		return dsl.NewSymbol(name), true
	}))
	return workflow.Clip(text, 300)
}

// otherwise describes in words how a call differs from the one that was made before it: its arguments
// that are new or have another value, behind the description of its verb if that is another.
func (t *telling) otherwise(before, now *dsl.Call) string {
	old := map[string]string{}
	for _, arg := range before.Args {
		old[arg.Key] = dsl.FormatValue(arg.Value)
	}
	var args []string
	for _, arg := range now.Args {
		text := dsl.FormatValue(arg.Value)
		if now.Verb == before.Verb && old[arg.Key] == text {
			continue
		}
		switch arg.Value.Kind {
		case dsl.String:
			text = arg.Value.Text
		case dsl.Bool:
			text = values.Key("dialog/no").In(t.language)
			if arg.Value.Text == "true" {
				text = values.Key("dialog/yes").In(t.language)
			}
		}
		args = append(args, strings.ReplaceAll(arg.Key, "-", " ")+": "+text)
	}
	text := workflow.Clip(strings.Join(args, ", "), 300)
	if v := t.a.Runner.Clerk.Registry.Verb(now.Verb); v != nil && now.Verb != before.Verb {
		text = fmt.Sprintf("%s (%s)", strings.TrimRight(v.Description, "."), text)
	}
	return text
}

// came describes the answer of an attempt, by its size and its score.
func (t *telling) came(s *workflow.Step, at *workflow.Attempt) string {
	if at.Receipt == nil {
		return sentence(at.Reason) + t.words(at.Err)
	}
	res := at.Result()
	var b strings.Builder
	switch {
	case res == nil:
		b.WriteString("It was done.")
	case ToolOf(s.Verb) == score.TextCompletion || ToolOf(s.Verb) == score.Prompt:
		b.WriteString("It answered in text.")
	default:
		b.WriteString("It gave " + receipt.Counted(len(res.Rows), "row") + ".")
	}
	if v := at.Verdict; v.Score != nil && t.oversees {
		fmt.Fprintf(&b, " Confidence %.2f of %.2f.", *v.Score, *v.Least)
		if v.Figures != "" {
			b.WriteString(" " + v.Figures)
		}
	} else if v.Score != nil {
		b.WriteString(" It is " + Level(*v.Score) + ".")
	}
	return b.String()
}

// words returns what a tool said of its failure.
func (t *telling) words(err error) string {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) && refusal.Diagnostics[0].Code == "tool-failed" && len(refusal.Diagnostics[0].Notes) > 1 {
		return " " + sentence("It says"+strings.TrimPrefix(refusal.Diagnostics[0].Notes[0], "it says"))
	}
	return ""
}

// sure says how sure the answer of a step is.
func (t *telling) sure(s *workflow.Step) string {
	switch {
	case s.Score == nil:
		return ""
	case t.oversees:
		return fmt.Sprintf(", with confidence %.2f", *s.Score)
	}
	return ": it is " + Level(*s.Score)
}

// Level words a score. Only an overseer is shown the figure.
func Level(f float64) string {
	switch {
	case f >= 0.9:
		return "well supported"
	case f >= 0.75:
		return "supported"
	case f >= 0.5:
		return "weakly supported"
	}
	return "hardly supported"
}

func sentence(text string) string {
	if text = strings.TrimSpace(text); text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// waits reports whether a step waits for somebody.
func (t *telling) waits() bool {
	return slices.ContainsFunc(t.p.Steps, func(s *workflow.Step) bool { return s.Status == "WAITING" || s.Status == "DOUBTFUL" })
}

// Overall returns the confidence of a plan: the least score of its answers, nil if nothing has a
// score.
func Overall(p *workflow.Plan) (least *float64) {
	for _, s := range p.Steps {
		if s.Status == "DONE" && s.Score != nil && (least == nil || *s.Score < *least) {
			least = s.Score
		}
	}
	return least
}

// final tells the answer.
func (t *telling) final() error {
	if t.failed != nil {
		return t.failed
	}
	p := t.p
	thought := "Every step was made"
	if least := Overall(p); least != nil && t.oversees {
		thought += fmt.Sprintf(", with confidence %.2f", *least)
	} else if least != nil {
		thought += "; the answer is " + Level(*least)
	}
	observation := fmt.Sprintf("%s, %s. The record is kept as %s%s.", receipt.Counted(len(p.Steps), "step"), receipt.Counted(t.retries, "further try"), statePrefix, p.Key.Text())
	if t.retries != 1 {
		observation = strings.Replace(observation, "further trys", "further tries", 1)
	}
	answer := ""
	switch {
	case p.Status == "DONE":
		answer = t.answer(p)
	case p.Status == "RUNNING":
		answer = t.waiting(p)
		thought = "Some steps wait for somebody"
	default:
		answer = "This could not be answered: " + sentence(p.Reason)
		thought = "Not every step was made"
		if done := t.answer(p); done != "" {
			answer += "\nWhat was found:\n" + done
		}
	}
	return t.sayLast(answer, thought+".", observation)
}

// sayLast sends the last message, in pieces if the asker wants those.
func (t *telling) sayLast(answer, thought, observation string) error {
	if !t.streams {
		return t.tell(trustgraph.Message{Type: trustgraph.Answer, Content: answer, Thought: thought, Observation: observation})
	}
	if err := t.tell(trustgraph.Message{Type: trustgraph.Observation, Thought: thought, Content: observation, EndOfMessage: true}); err != nil {
		return err
	}
	for _, piece := range strings.SplitAfter(answer, "\n") {
		if piece == "" {
			continue
		}
		if err := t.tell(trustgraph.Message{Type: trustgraph.Answer, Content: piece, MessageID: "answer"}); err != nil {
			return err
		}
	}
	return nil
}

// answer returns the plan's answer: the answers of the steps that no other needs, in the palettes'
// words. A model's text is told as it is. What an unknown name was looked for is told of a step that
// failed for it.
func (t *telling) answer(p *workflow.Plan) string {
	teller := dialog.NewTeller(t.a.Runner.Clerk.Registry, t.s, t.language)
	var parts []string
	for _, s := range p.Steps {
		if s.Answer() == nil || s.Status != "DONE" && (s.Status != "FAILED" || !unclear(resultOf(s))) || slices.ContainsFunc(p.Steps, func(o *workflow.Step) bool { return o.Status == "DONE" && slices.Contains(o.Needs, s) }) {
			continue
		}
		text := ""
		if asksModel(s) {
			text = plain(resultOf(s))
		} else {
			text = teller.Done(s.Answer())
		}
		if text = strings.TrimSpace(text); text != "" {
			if s.Status == "DONE" {
				parts = append(parts, t.rests(teller, s, map[*workflow.Step]bool{})...)
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(slices.Compact(parts), "\n")
}

// rests says what an answer rests on that whoever asked would not expect, of its step and all that it
// needs: an answer to something else, an older one, or one that left something out.
func (t *telling) rests(teller dialog.Teller, s *workflow.Step, told map[*workflow.Step]bool) (all []string) {
	if told[s] || s.Answer() == nil {
		return nil
	}
	told[s] = true
	for _, n := range s.Needs {
		all = append(all, t.rests(teller, n, told)...)
	}
	asked := s.Asked()
	switch made := t.a.Runner.Clerk.Registry.Verb(s.Answer().Calls[0].Verb); {
	case made != nil && made != s.Verb:
		all = append(all, sayInstead.In(t.language, strings.TrimRight(teller.Verb(made), ".")))
	case !asksModel(s) && !sameCall(&asked, &s.Call):
		all = append(all, sayOtherwise.In(t.language, t.otherwise(&s.Call, &asked)))
	}
	if !s.Kept.IsZero() {
		all = append(all, sayKept.In(t.language, t.a.Clock().Sub(s.Kept).Round(time.Second).String()))
	}
	if s.Cut {
		all = append(all, sayCut.In(t.language))
	}
	return all
}

const (
	sayInstead   values.Key = "plans/instead"   // another verb was made than was planned: broader or simpler
	sayOtherwise values.Key = "plans/otherwise" // the same verb had other arguments than planned
	sayKept      values.Key = "plans/kept"      // the answer is an older one
	sayCut       values.Key = "plans/cut"       // a step was given less than there was
)

// waiting says for which decisions a plan waits.
func (t *telling) waiting(p *workflow.Plan) string {
	var lines []string
	for _, s := range p.Steps {
		switch s.Status {
		case "WAITING":
			lines = append(lines, fmt.Sprintf("%s has to be agreed to: %s.", s.Name, t.does(s)))
		case "DOUBTFUL":
			line := fmt.Sprintf("Whether the answer to %s will do, somebody else has to say.", s.Name)
			// A search that found nothing is told: it says what was looked for, and nothing else.
			if res := resultOf(s); res != nil && len(res.Rows) == 0 && !asksModel(s) {
				line = sentence(dialog.NewTeller(t.a.Runner.Clerk.Registry, t.s, t.language).Done(s.Answer())) + " " + line
			}
			lines = append(lines, line)
		}
	}
	return "This waits for somebody.\n" + strings.Join(lines, "\n") + fmt.Sprintf("\nAsk again with the state %s%s.", statePrefix, p.Key.Text())
}

// report tells the state of a plan that is not made here. If it is being made, it waits a few
// seconds for the end.
func (t *telling) report(ctx context.Context, key stores.Value) error {
	made := true
	for wait := 100 * time.Millisecond; made; wait *= 2 {
		p, err := t.a.Runner.Answered(ctx, key)
		if err != nil {
			return err
		}
		if p == nil {
			return &trustgraph.Error{Type: trustgraph.BadRequest, Message: "there is no such plan"}
		}
		t.p = p
		if made = p.Status == "RUNNING" && !t.waits(); wait > 2*time.Second {
			break
		}
		if made {
			t.a.Runner.Pause(ctx, wait)
		}
	}
	if made {
		return t.sayLast(fmt.Sprintf("Its steps are being made. Ask again with the state %s%s.", statePrefix, key.Text()), "The plan is made elsewhere.", "")
	}
	return t.final()
}
