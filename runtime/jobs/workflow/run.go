package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/internal/recent"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Runner makes the steps of plans. Any number of processes may share one store: one of them works
// on a plan at a time, and another takes over if it is silent for a minute. Set its fields before it
// is used, and do not change them afterwards. It is safe for use by many goroutines.
type Runner struct {
	Clerk serviceaccount.Clerk // with the role plan-runner
	Name  string               // unique to this process
	Judge Judge                // nil accepts every answer
	Clock func() time.Time
	// Sleep waits, or until ctx ends; nil uses the machine's clock.
	Sleep func(ctx context.Context, d time.Duration)
	// Text is the number of characters of a result that fit in an argument of another step; 0 means
	// 8192.
	Text int
	// Keep is how long the answer of a read-only tool is used again, in this process, for the same
	// asker and the same call. With 0 no answer is kept. Sensitive answers are never kept.
	Keep time.Duration
	// Observe is called with events of every plan that is made here. It may be nil.
	Observe func(Event)
	// Span begins a trace span for a step or an attempt, and returns a function that ends it. It
	// may be nil.
	Span func(ctx context.Context, name string) (context.Context, func(failed bool))

	kept  recent.Map[*receipt.Receipt]
	under inProgress
}

// inProgress holds the plans that this process is making.
type inProgress struct {
	mu    sync.Mutex
	plans map[stores.Value]bool
}

// begin reports whether no other goroutine of this process makes the plan.
func (u *inProgress) begin(key stores.Value) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.plans[key] {
		return false
	}
	if u.plans == nil {
		u.plans = map[stores.Value]bool{}
	}
	u.plans[key] = true
	return true
}

func (u *inProgress) end(key stores.Value) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.plans, key)
}

const (
	// lease is how long a process may be silent before another one takes over its plan.
	lease = time.Minute
	// mostKept is the greatest number of answers of tools that are kept.
	mostKept = 1000
	// mostTries is how often a step is tried if the system fails.
	mostTries = 3
	// firstWait is how long to wait before the second try; it doubles, up to longestWait.
	firstWait   = 200 * time.Millisecond
	longestWait = 5 * time.Second
)

// Continues reports whether a notice to a target has a plan go on.
func Continues(target string) bool {
	return slices.Contains([]string{"plan-work", "plan-wake", "plan-deadline", "plan-lapse"}, target)
}

// Deliver handles the notices of the palette, and those of decisions that plans wait for. It reports
// whether the notice is one of these.
func (r *Runner) Deliver(ctx context.Context, m engine.Message) (mine bool, err error) {
	switch {
	case Continues(m.Target):
		var body struct{ With struct{ Plan string } }
		if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
			return true, fmt.Errorf("a notice of a plan cannot be read: %w", err)
		}
		key, err := r.key(body.With.Plan)
		if err != nil {
			return true, err
		}
		_, err = r.Advance(ctx, key, nil)
		return true, err
	case m.Target == engine.TargetDecided:
		var body struct{ Source string }
		if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
			return true, fmt.Errorf("a notice of a decision cannot be read: %w", err)
		}
		id, ok := strings.CutPrefix(body.Source, sourceOf(""))
		if !ok {
			return false, nil
		}
		key, err := r.key(id)
		if err != nil {
			return true, err
		}
		_, err = r.Advance(ctx, key, nil)
		return true, err
	}
	return false, nil
}

// TellsAsker reports whether calls come from a plan, which has to be notified when somebody else
// decides about them.
func TellsAsker(source string) bool { return strings.HasPrefix(source, sourceOf("")) }

// sourceOf returns the source of the calls of a plan, for the journal and for confirmations.
func sourceOf(plan string) string { return "plan:" + plan }

func (r *Runner) key(text string) (stores.Value, error) {
	e := r.Clerk.Registry.Entity(plans).Store
	key, ok := stores.Parse(e.Fields[e.Key].Kind, text)
	if !ok {
		return key, errors.New("a notice of a plan names none")
	}
	return key, nil
}

// Load reads a plan with its steps; nil if there is none.
func (r *Runner) Load(ctx context.Context, key stores.Value) (*Plan, error) {
	row, err := r.Clerk.Get(ctx, plans, key)
	if err != nil || row == nil {
		return nil, err
	}
	p := &Plan{Key: key, Owner: row.Text("owner"), Title: row.Text("title"), Question: cmp.Or(row.Text("question"), row.Text("title")), Status: row.Text("status"), Parallel: int(row.Value("parallel").Int()), Reason: row.Text("reason")}
	if n := row.Value("retries"); !n.IsNull() {
		retries := int(n.Int())
		p.Retries = &retries
	}
	if at := row.Value("started_at"); !at.IsNull() {
		p.Started = at.Time()
	}
	if at := row.Value("ended_at"); !at.IsNull() {
		p.Ended = at.Time()
	}
	all, err := r.Clerk.All(ctx, steps, map[string]stores.Value{"plan": key})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *serviceaccount.Row) int {
		return cmp.Compare(a.Value("position").Int(), b.Value("position").Int())
	})
	for _, at := range all {
		s, err := stepOf(r.Clerk.Registry, at)
		if err != nil {
			return nil, err
		}
		p.Steps = append(p.Steps, s)
	}
	p.join()
	return p, nil
}

// stepOf returns the step in a row.
func stepOf(reg *verbs.Registry, at *serviceaccount.Row) (*Step, error) {
	s := &Step{Key: at.Key(), Name: at.Text("name"), Status: at.Text("status"), Within: time.Duration(at.Value("within").Int()) * time.Millisecond, Tries: int(at.Value("tries").Int()),
		Reason: at.Text("reason"), waitsFor: at.Text("waits_for"), DecidedBy: at.Text("decided_by"), Least: fraction(at.Value("least")), Score: fraction(at.Value("score"))}
	if n := at.Value("settled"); !n.IsNull() {
		s.Settled = int(n.Int())
	}
	if at := at.Value("ended_at"); !at.IsNull() {
		s.Ended = at.Time()
	}
	call, err := read(at.Text("call"))
	if err != nil {
		return nil, err
	}
	s.Call, s.Verb, s.writes = *call, reg.Verb(call.Verb), writes(reg, call)
	if text := at.Text("next"); text != "" {
		if s.Next, err = read(text); err != nil {
			return nil, err
		}
	}
	field := at.Entity.FieldIndex("call")
	if s.origin, err = verbs.ParseOrigin(cmp.Or(stores.MarkOf(at.Marks, field), "script")); err != nil {
		return nil, err
	}
	s.unheard = s.writes && s.origin.Kinds()&verbs.FromModel != 0 && at.Text("agreed") != at.Text("call")
	return s, nil
}

// Answered is Load with the answers that steps gave, also those that are in doubt; nil if there is no
// plan.
func (r *Runner) Answered(ctx context.Context, key stores.Value) (*Plan, error) {
	p, err := r.Load(ctx, key)
	if err != nil || p == nil {
		return p, err
	}
	d := &driver{Runner: r, p: p}
	if d.asker, err = r.Clerk.Engine.Session(ctx, p.Owner); err != nil {
		return p, err
	}
	for _, s := range p.Steps {
		if s.Status == done || s.Settled > 0 && (s.Status == doubtful || s.Status == failed) {
			if err := d.answerOf(ctx, s); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

func fraction(v stores.Value) *float64 {
	if v.IsNull() {
		return nil
	}
	f, err := strconv.ParseFloat(v.Text(), 64)
	if err != nil {
		return nil
	}
	return &f
}

// read reads a call that was kept.
func read(text string) (*dsl.Call, error) {
	script, ds := dsl.Parse(dsl.NewSource("plan", text))
	if ds.HasErrors() || len(script.Calls) != 1 {
		return nil, errors.New("a call of a plan cannot be read")
	}
	return &script.Calls[0], nil
}

// A driver makes the steps of one plan.
type driver struct {
	*Runner
	p     *Plan
	clerk *engine.Session
	asker *engine.Session
	ref   dsl.Arg // of the plan
	names map[*Step]dsl.Arg
	tell  func(Event)
	later bool // this process has no time for the rest
	ended bool // the plan was finished together with its last step
}

// Advance makes all steps of a plan that can be made now, and returns its status: a plan that still
// runs waits for somebody, or another process is making it. If tell is not nil, it is called with
// each event in turn.
func (r *Runner) Advance(ctx context.Context, key stores.Value, tell func(Event)) (string, error) {
	for {
		if !r.under.begin(key) {
			return running, nil
		}
		status, rests, err := r.advance(ctx, key, tell)
		r.under.end(key)
		if err != nil || !rests {
			return status, err
		}
		// A notice about a decision that arrived meanwhile was left to this process.
		if more, err := r.more(ctx, key); err != nil || !more {
			return status, err
		}
	}
}

// more reports whether something of a plan that rests can be made now.
func (r *Runner) more(ctx context.Context, key stores.Value) (bool, error) {
	p, err := r.Load(ctx, key)
	if err != nil || p == nil || p.Status != running {
		return false, err
	}
	lost, _ := p.lost()
	if len(lost) > 0 || len(p.ready()) > 0 || !slices.ContainsFunc(p.Steps, func(s *Step) bool { return !s.ended() }) {
		return true, nil
	}
	decided := false
	err = r.Clerk.Store.View(ctx, stores.Scope{All: true}, func(read stores.Reader) error {
		for _, s := range p.Steps {
			if s.Status != waiting {
				continue
			}
			found, err := confirmations.Find(ctx, read, map[int]stores.Value{confirmations.FieldShort: stores.NewString(receipt.Short(s.waitsFor))})
			if err != nil {
				return err
			}
			decided = decided || !slices.ContainsFunc(found, func(c *confirmations.Confirmation) bool {
				return c.ID == s.waitsFor && c.Status == confirmations.Waiting
			})
		}
		return nil
	})
	return decided, err
}

// others reports whether an error says that another process makes the plan, or that it has
// ended.
func others(err error) bool {
	var refusal *engine.Refusal
	return errors.As(err, &refusal) && refusal.Diagnostics[0].Code != engine.CodeChangedMeanwhile
}

// advance is one round of Advance. It reports whether the plan was given back because it waits.
func (r *Runner) advance(ctx context.Context, key stores.Value, tell func(Event)) (status string, rests bool, err error) {
	row, err := r.Clerk.Get(ctx, plans, key)
	if err != nil || row == nil || row.Text("status") != running {
		if row != nil {
			status = row.Text("status")
		}
		return status, false, err
	}
	d := &driver{Runner: r, names: map[*Step]dsl.Arg{}}
	d.tell = func(e Event) {
		e.Plan = d.p
		if tell != nil {
			tell(e)
		}
		if r.Observe != nil {
			r.Observe(e)
		}
	}
	if d.clerk, err = r.Clerk.Session(ctx); err != nil {
		return "", false, err
	}
	if d.ref, err = r.Clerk.Ref(ctx, d.clerk, "plan-id", plans, key); err != nil {
		return "", false, err
	}
	if _, err = d.do(ctx, serviceaccount.Call("plan.take", d.ref, serviceaccount.Text("by", r.Name), serviceaccount.Instant("until", d.until(0)))); err != nil {
		if others(err) {
			return running, false, nil
		}
		return "", false, err
	}
	if d.p, err = r.Load(ctx, key); err != nil || d.p == nil {
		return "", false, err
	}
	for _, s := range d.p.Steps {
		if d.names[s], err = r.Clerk.Ref(ctx, d.clerk, "step-id", steps, s.Key); err != nil {
			return "", false, err
		}
	}
	d.tell(Event{Kind: Started})
	if d.asker, err = r.Clerk.Engine.Session(ctx, d.p.Owner); err != nil {
		var refusal *engine.Refusal
		if !errors.As(err, &refusal) {
			return "", false, err
		}
		const why = "whoever made the plan may do nothing any more"
		if err := d.leave(ctx, slices.DeleteFunc(slices.Clone(d.p.Steps), (*Step).ended), why); err != nil {
			return "", false, err
		}
		status, err = d.finish(ctx, failed, why)
		return status, false, err
	}
	if d.p.Status != running { // it was just paused, or given up
		return d.end(ctx)
	}
	if err := d.decided(ctx); err != nil {
		return "", false, err
	}
	if err := d.answers(ctx); err != nil {
		return "", false, err
	}
	if err := d.make(ctx); err != nil {
		return "", false, err
	}
	return d.end(ctx)
}

// until returns the end of this process's lease on the plan, for work that takes a time within.
func (d *driver) until(within time.Duration) time.Time { return d.Clock().Add(lease + within) }

func (d *driver) do(ctx context.Context, calls ...dsl.Call) (*receipt.Receipt, error) {
	return d.Clerk.Do(ctx, d.clerk, "", calls...)
}

// decided handles decisions about the steps that wait for somebody's agreement.
func (d *driver) decided(ctx context.Context) error {
	for _, s := range d.p.Steps {
		if s.Status != waiting {
			continue
		}
		// In this order, a call that is agreed to in between is made, and was not proposed in vain.
		c, err := d.asker.Show(ctx, s.waitsFor)
		var refusal *engine.Refusal
		if err != nil && !errors.As(err, &refusal) {
			return err
		}
		r, failure := d.asker.Journal().Done(ctx, d.runKey(s, s.Tries))
		if failure != nil {
			return failure
		}
		status, why, settled := done, "", s.Tries
		if r == nil {
			switch {
			case err == nil && c.Status == confirmations.Waiting && !c.Stale && d.Clock().Before(c.Expires):
				continue
			case err == nil && c.Status == confirmations.Waiting && c.Stale:
				// What was asked for is otherwise now: they are asked again.
				status, settled = open, 0
			case err == nil && c.Decision.Reason != "":
				status, why, settled = failed, fmt.Sprintf("%s declined: %s", c.Decision.By, c.Decision.Reason), 0
			case err == nil && c.Decision.By != "" && c.Status == confirmations.Declined:
				status, why, settled = failed, fmt.Sprintf("%s declined", c.Decision.By), 0
			default:
				status, why, settled = failed, "nobody agreed in time", 0
			}
		}
		if _, err := d.do(ctx, d.settles(s, status, why, settled)); err != nil {
			if err := d.otherwise(ctx, s, err); err != nil {
				return err
			}
			continue
		}
		s.Status, s.Reason, s.Settled, s.answer, s.Ended = status, why, settled, r, d.Clock()
		if status != open {
			d.tell(Event{Kind: Settled, Step: s})
		}
	}
	return nil
}

func (d *driver) settles(s *Step, status, why string, settled int) dsl.Call {
	reason := dsl.NewArg("reason", dsl.NewNil())
	if why != "" {
		reason = serviceaccount.Text("reason", clip(why))
	}
	c := serviceaccount.Call("plan.settle", d.names[s], serviceaccount.Word("status", status), reason)
	if settled > 0 {
		c.Args = append(c.Args, serviceaccount.Int("settled", int64(settled)))
	}
	return c
}

// answers reads what other processes made, as far as a step that is to be made needs it.
func (d *driver) answers(ctx context.Context) error {
	for _, s := range d.p.Steps {
		if s.Status != open {
			continue
		}
		for _, n := range s.Needs {
			if n.Status != done || n.answer != nil {
				continue
			}
			if err := d.answerOf(ctx, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// answerOf finds the answer of a step that was made: the receipt that was kept, or for a step
// that only reads, the answer that it gives now.
func (d *driver) answerOf(ctx context.Context, s *Step) (err error) {
	row, err := d.Clerk.Find(ctx, attempts, map[string]stores.Value{"step": s.Key, "number": stores.NewInt(int64(s.Settled))})
	if err != nil {
		return err
	}
	if row != nil { // it may have been asked otherwise
		if s.asked, err = read(row.Text("call")); err != nil {
			return err
		}
	}
	if s.answer, err = d.asker.Journal().Done(ctx, d.runKey(s, s.Settled)); err != nil || s.answer != nil && !withholds(s.answer) || s.Writes() {
		return err
	}
	for _, n := range s.Needs {
		if n.answer == nil {
			if err := d.answerOf(ctx, n); err != nil {
				return err
			}
		}
	}
	a := &Attempt{Call: s.Asked()}
	err = d.made(ctx, s, a, "")
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return nil // its result is not available any more
	}
	if a.Receipt != nil {
		s.answer = a.Receipt
	}
	return err
}

// withholds reports whether a receipt was kept without its sensitive values.
func withholds(r *receipt.Receipt) bool {
	res := resultOf(r)
	return res != nil && slices.Contains(res.Sensitive, true)
}

// runKey returns the idempotency key of an attempt. A step that changes something has one key for
// all its attempts.
func (d *driver) runKey(s *Step, number int) string {
	if s.Writes() {
		number = 0
	}
	return fmt.Sprintf("plan step %s %d", s.Key.Text(), number)
}

// make makes steps until nothing more can be made now.
func (d *driver) make(ctx context.Context) error {
	type ended struct {
		s   *Step
		a   *Attempt
		err error
	}
	back := make(chan ended)
	under, waits := map[*Step]bool{}, map[*Step]time.Duration{}
	var first error
	begun := 0
	for {
		if first == nil && ctx.Err() == nil {
			if err := d.skip(ctx); err != nil {
				first = err
			}
		}
		if first == nil && ctx.Err() == nil {
			for _, s := range d.p.ready() {
				if under[s] || len(under) >= max(1, d.p.Parallel) {
					continue
				}
				if until, ok := ctx.Deadline(); ok && begun > 0 && time.Until(until) < s.Within {
					d.later = true
					continue
				}
				under[s] = true
				begun++
				wait := waits[s]
				go func() {
					if wait > 0 {
						d.Pause(ctx, wait)
					}
					a, err := d.attempt(ctx, s)
					back <- ended{s, a, err}
				}()
			}
		}
		if len(under) == 0 {
			return errors.Join(first, ctx.Err())
		}
		e := <-back
		delete(under, e.s)
		if e.err == nil {
			waits[e.s] = e.a.Verdict.Wait
			e.err = d.note(ctx, e.s, e.a)
		}
		if e.err != nil && first == nil {
			first = e.err
		}
		if first == nil && len(d.p.ready()) > 0 {
			// Somebody may have paused it, or given it up.
			row, err := d.Clerk.Get(ctx, plans, d.p.Key)
			switch {
			case err != nil:
				first = err
			case row == nil || row.Text("status") != running:
				for _, s := range d.p.Steps {
					if s.Status == open && !under[s] {
						s.Status = staged // for now
					}
				}
			}
		}
	}
}

// Pause waits, or until ctx ends.
func (r *Runner) Pause(ctx context.Context, wait time.Duration) {
	if r.Sleep != nil {
		r.Sleep(ctx, wait)
		return
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// skip skips the steps that depend on a step that was not made.
func (d *driver) skip(ctx context.Context) error {
	for {
		lost, why := d.p.lost()
		if len(lost) == 0 {
			return nil
		}
		if err := d.leave(ctx, lost, why); err != nil {
			return err
		}
	}
}

// leave leaves steps out.
func (d *driver) leave(ctx context.Context, out []*Step, why string) error {
	if len(out) == 0 {
		return nil
	}
	refs := make([]dsl.Value, len(out))
	for i, s := range out {
		refs[i] = d.names[s].Value
	}
	if _, err := d.do(ctx, serviceaccount.Call("plan.skip", dsl.NewArg("step-ids", dsl.NewList(refs...)), serviceaccount.Text("reason", clip(why)))); err != nil {
		return err
	}
	for _, s := range out {
		s.Status, s.Reason, s.Ended = skipped, why, d.Clock()
		d.tell(Event{Kind: Settled, Step: s})
	}
	return nil
}

// attempt makes the call of a step once.
func (d *driver) attempt(ctx context.Context, s *Step) (*Attempt, error) {
	a := &Attempt{Number: s.Tries + 1, Call: s.Call, Began: d.Clock()}
	if s.Next != nil {
		a.Call = *s.Next
	}
	within, stop := context.WithTimeout(ctx, s.Within)
	defer stop()
	end := func(bool) {}
	if d.Span != nil {
		if s.span == nil {
			s.traced, s.span = d.Span(ctx, "step")
		}
		within, end = d.Span(spanContext{within, s.traced}, "execute_tool "+s.Call.Verb)
	}
	err := d.run(within, s, a)
	end(err != nil)
	a.Ended = d.Clock()
	if ctx.Err() != nil {
		return nil, ctx.Err() // the process ends; another one continues
	}
	var refusal *engine.Refusal
	var failure *engine.Failure
	switch {
	case err == nil && a.Outcome != "":
	case err == nil:
		a.Outcome = OK
	case errors.As(err, &refusal) && (refusal.Diagnostics[0].Code == engine.CodeChangedMeanwhile || !s.Writes() && slices.Contains(passing, refusal.Diagnostics[0].Code)):
		a.Outcome, a.Reason, a.Err = Failed, refusal.Diagnostics[0].Summary, err
	case errors.As(err, &refusal):
		a.Outcome, a.Reason, a.Err = Refused, refusal.Diagnostics[0].Summary, err
	case errors.As(err, &failure) && failure.Unknown && s.Writes():
		a.Outcome, a.Reason, a.Err = Unknown, "it is not known whether it was made", err
	case within.Err() != nil:
		a.Outcome, a.Reason, a.Err = TimedOut, fmt.Sprintf("it took longer than %d ms", s.Within.Milliseconds()), err
	default:
		a.Outcome, a.Reason, a.Err = Failed, "the system failed", err
	}
	if refusal != nil && refusal.Diagnostics[0].Code == engine.CodeToolSilent {
		s.lost = cmp.Or(s.lost, d.runKey(s, a.Number)) // the next attempt is the same to the tool
	} else {
		s.lost = ""
	}
	a.Verdict = d.judge(ctx, s, a)
	return a, nil
}

// passing are the codes of refusals that do not forbid a reading step: something failed, and may
// work the next time.
var passing = []string{engine.CodeToolSilent, "tool-failed", "tool-answer", "names-unread"}

// A spanContext is a context with the values of another context, which holds the span of a step.
type spanContext struct {
	context.Context
	values context.Context
}

func (c spanContext) Value(key any) any { return c.values.Value(key) }

// judge returns the verdict on an attempt. Whatever the Judge says, a step that changes something is
// tried again only if the system failed, and under the same key.
func (d *driver) judge(ctx context.Context, s *Step, a *Attempt) (v Verdict) {
	if d.Judge != nil && (a.Outcome == OK || !s.Writes() && a.Outcome != Waiting) {
		v = d.Judge.Judge(ctx, d.p, s, a)
	} else if a.Outcome == OK {
		v.Good = true
	}
	again := a.Outcome == Failed || a.Outcome == TimedOut || a.Outcome == Unknown
	switch {
	case s.Writes() && a.Outcome == OK:
		v.Good, v.Again, v.Ask, v.Next = true, false, false, nil
	case s.Writes() || d.Judge == nil && a.Outcome != OK:
		v.Again, v.Ask, v.Next = again && a.Number < mostTries, false, nil
		if v.Again && v.Wait == 0 {
			v.Wait = Backoff(a.Number)
		}
	}
	return v
}

// Backoff returns how long to wait after attempt n of a step.
func Backoff(n int) time.Duration {
	wait := firstWait
	for range n - 1 {
		wait = min(2*wait, longestWait)
	}
	return wait
}

// run lets the engine make an attempt. If somebody has to agree first, it proposes the call, and the
// outcome is Waiting.
func (d *driver) run(ctx context.Context, s *Step, a *Attempt) error {
	return d.made(ctx, s, a, d.runKey(s, a.Number))
}

// made is run with a given key, "" for none.
func (d *driver) made(ctx context.Context, s *Step, a *Attempt, key string) error {
	f, err := d.fill(ctx, d.asker, d.p, s, &a.Call)
	if err != nil {
		return &engine.Refusal{Diagnostics: dsl.Diagnostics{{Code: "plan", Severity: dsl.Error, Summary: err.Error()}}}
	}
	a.Made, a.cut = f.call, f.cut
	script, ds := dsl.Parse(dsl.NewSource(sourceOf(d.p.Key.Text()), dsl.FormatCall(&f.call)+"\n"))
	if ds.HasErrors() {
		return &engine.Refusal{Diagnostics: ds}
	}
	said := verbs.Literals{Origin: s.origin, Unheard: s.unheard || s.writes && f.ofModel}
	if len(f.origins) > 0 {
		args := script.Calls[0].Args
		said.Of = func(at dsl.Range) (verbs.Origin, bool) {
			for i, o := range f.origins {
				if r := args[i].Value.Range; r.Start <= at.Start && at.End <= r.End {
					return o, true
				}
			}
			return verbs.Origin{}, false
		}
	}
	if v := s.Verb; d.Keep > 0 && v != nil && v.Tool != nil && !s.Writes() {
		a.remembered = d.p.Owner + "\x00" + dsl.FormatCall(&f.call)
		if r, at, ok := d.kept.Get(a.remembered, d.Clock()); ok && a.Number <= 1 {
			a.Receipt, a.kept = r, at
			return nil
		}
	}
	if key != "" {
		if again, err := d.asker.Journal().Repeat(ctx, script, key); err != nil || again != nil {
			a.Receipt = again
			return err
		}
	}
	program, ds := d.asker.Check(ctx, script, engine.CheckOptions{Said: said})
	if program == nil {
		return &engine.Refusal{Diagnostics: ds}
	}
	o := engine.RunOptions{Key: key, Asks: s.lost, Source: sourceOf(d.p.Key.Text())}
	a.Receipt, err = d.asker.Run(ctx, program, o)
	var refusal *engine.Refusal
	if !errors.As(err, &refusal) || refusal.Diagnostics[0].Code != engine.CodeNeedsAgreement {
		return err
	}
	o.Absent = true
	pending, err := d.asker.Propose(ctx, program, o)
	if err != nil {
		return err
	}
	a.Outcome, a.Reason, s.waitsFor = Waiting, "somebody has to agree to it", pending.ID
	return nil
}

// note keeps what became of an attempt, and with that of its step.
func (d *driver) note(ctx context.Context, s *Step, a *Attempt) error {
	v := &a.Verdict
	next := open
	switch {
	case a.Outcome == Waiting:
		next = waiting
	case v.Good:
		next = done
	case v.Again:
	case v.Ask && a.Outcome == OK:
		next, a.Outcome = doubtful, Doubtful
	default:
		next = failed
	}
	if a.Outcome == OK && !v.Good {
		a.Outcome = Doubtful
	}
	counts := a
	if next == doubtful { // the best of the answers, of which none is good enough
		for _, before := range s.Attempts {
			if w := before.Verdict.Score; before.Receipt != nil && w != nil && v.Score != nil && *w > *counts.Verdict.Score {
				counts = before
			}
		}
	}
	reason, scored := cmp.Or(counts.Verdict.Reason, a.Reason), counts.Verdict.Score
	nil_ := func(name string) dsl.Arg { return dsl.NewArg(name, dsl.NewNil()) }
	c := serviceaccount.Call("plan.note", d.names[s], serviceaccount.Int("number", int64(a.Number)), serviceaccount.Text("call", dsl.FormatCall(&a.Call)), serviceaccount.Word("outcome", string(a.Outcome)), serviceaccount.Word("status", next),
		serviceaccount.Text("factors", string(v.Factors)), serviceaccount.Instant("started-at", a.Began), serviceaccount.Instant("ended-at", a.Ended), serviceaccount.Int("millis", max(0, a.Ended.Sub(a.Began).Milliseconds())),
		serviceaccount.Text("by", d.Name), serviceaccount.Instant("until", d.until(s.Within)))
	add := func(has bool, arg dsl.Arg, otherwise dsl.Arg) {
		if !has {
			arg = otherwise
		}
		if arg.Key != "" {
			c.Args = append(c.Args, arg)
		}
	}
	add(reason != "", serviceaccount.Text("reason", clip(reason)), nil_("reason"))
	add(next == waiting, serviceaccount.Text("waits-for", s.waitsFor), nil_("waits-for"))
	if v.Again && v.Next != nil {
		c.Args = append(c.Args, serviceaccount.Text("next", dsl.FormatCall(v.Next)))
	} else {
		c.Args = append(c.Args, nil_("next"))
	}
	if v.Score != nil {
		c.Args = append(c.Args, dsl.NewArg("score", dsl.NewNumber(number(*v.Score).Text())))
	}
	if scored != nil {
		c.Args = append(c.Args, dsl.NewArg("counts", dsl.NewNumber(number(*scored).Text())))
	}
	if v.Least != nil {
		c.Args = append(c.Args, dsl.NewArg("least", dsl.NewNumber(number(*v.Least).Text())))
	}
	answers := next == done || next == doubtful || next == failed && counts.Receipt != nil
	if answers {
		c.Args = append(c.Args, serviceaccount.Int("settled", int64(counts.Number)))
	}
	var from map[string]verbs.Origin
	if res := resultOf(counts.Receipt); next == doubtful && res != nil { // for whoever accepts it
		c.Args = append(c.Args, serviceaccount.Text("answer", Clip(Text(res, mostText), mostText)))
		from = map[string]verbs.Origin{"answer": originOf(res, -1, -1)}
	}
	noted, err := d.noteLast(ctx, s, next, c)
	if !noted && err == nil {
		_, err = d.Clerk.DoFrom(ctx, d.clerk, "", from, c)
	}
	if err != nil {
		return d.otherwise(ctx, s, err)
	}
	s.Tries, s.Status, s.Reason, s.Score, s.Next, s.Ended = a.Number, next, reason, scored, v.Next, a.Ended
	if v.Least != nil {
		s.Least = v.Least
	}
	s.Attempts = append(s.Attempts, a)
	if next == done && a.remembered != "" && a.kept.IsZero() && !withholds(a.Receipt) {
		d.kept.Put(a.remembered, a.Receipt, mostKept, a.Ended, d.Keep)
	}
	if answers {
		s.answer, s.asked, s.Settled, s.Kept, s.Cut = counts.Receipt, &counts.Call, counts.Number, counts.kept, counts.cut
	}
	d.tell(Event{Kind: Attempted, Step: s, Attempt: a})
	if next != open {
		if s.span != nil {
			s.span(next == failed)
			s.span, s.traced = nil, nil
		}
		d.tell(Event{Kind: Settled, Step: s, Attempt: a})
	}
	return nil
}

// noteLast records a step and finishes the plan in one transaction, if it was the last step. It
// records nothing if that is refused because somebody paused the plan or gave it up.
func (d *driver) noteLast(ctx context.Context, s *Step, next string, note dsl.Call) (noted bool, err error) {
	if next != done || slices.ContainsFunc(d.p.Steps, func(o *Step) bool { return o != s && o.Status != done }) {
		return false, nil
	}
	_, err = d.do(ctx, note, d.finishes(done, ""))
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return false, nil
	}
	d.ended = err == nil
	return d.ended, err
}

// otherwise handles an error because the step is not in the state that this process assumed: another
// process recorded its outcome, or the plan was given up. err is the original error.
func (d *driver) otherwise(ctx context.Context, s *Step, err error) error {
	if !others(err) {
		return err
	}
	row, failed := d.Clerk.Get(ctx, steps, s.Key)
	if failed != nil || row == nil || row.Text("status") == s.Status && int(row.Value("tries").Int()) == s.Tries {
		return errors.Join(err, failed)
	}
	now, failed := stepOf(d.Clerk.Registry, row)
	if failed != nil {
		return failed
	}
	s.Status, s.Tries, s.Settled, s.Next, s.Reason, s.Ended, s.waitsFor = now.Status, now.Tries, now.Settled, now.Next, now.Reason, now.Ended, now.waitsFor
	if s.Status == done {
		return d.answerOf(ctx, s)
	}
	return nil
}

// end finishes the plan if no step is left, and gives it back if it waits, which it reports.
func (d *driver) end(ctx context.Context) (status string, rests bool, err error) {
	ended := !slices.ContainsFunc(d.p.Steps, func(s *Step) bool { return !s.ended() })
	at := slices.IndexFunc(d.p.Steps, func(s *Step) bool { return s.Status == failed || s.Status == skipped })
	switch {
	case d.ended:
		return d.finished(done, ""), false, nil
	case ended && at < 0:
		status, err = d.finish(ctx, done, "")
		return status, false, err
	case ended:
		first := d.p.Steps[at]
		status, err = d.finish(ctx, failed, fmt.Sprintf("@%s was not made: %s", first.Name, first.Reason))
		return status, false, err
	}
	row, err := d.Clerk.Get(ctx, plans, d.p.Key)
	if err != nil || row == nil {
		return "", false, err
	}
	d.p.Status = row.Text("status")
	again := d.later && d.p.Status == running
	if d.p.Status == running || d.p.Status == "PAUSED" {
		_, err := d.do(ctx, serviceaccount.Call("plan.rest", d.ref, serviceaccount.Text("by", d.Name), dsl.NewArg("again", dsl.NewBool(again))))
		if err != nil && !others(err) {
			return "", false, err
		}
		rests = err == nil && !again
	}
	d.tell(Event{Kind: Finished})
	return d.p.Status, rests, nil
}

func (d *driver) finishes(status, why string) dsl.Call {
	return serviceaccount.Call("plan.finish", d.ref, serviceaccount.Word("status", status), serviceaccount.Text("reason", Clip(why, 500)))
}

func (d *driver) finish(ctx context.Context, status, why string) (string, error) {
	if _, err := d.do(ctx, d.finishes(status, why)); err != nil {
		var refusal *engine.Refusal
		if !errors.As(err, &refusal) {
			return "", err
		}
		row, failed := d.Clerk.Get(ctx, plans, d.p.Key)
		if failed != nil || row == nil || row.Text("status") == running {
			return "", errors.Join(err, failed)
		}
		status, why = row.Text("status"), row.Text("reason") // somebody gave it up at the same moment
	}
	return d.finished(status, why), nil
}

func (d *driver) finished(status, why string) string {
	d.p.Status, d.p.Reason, d.p.Ended = status, why, d.Clock()
	d.tell(Event{Kind: Finished})
	return status
}

func clip(text string) string { return Clip(text, 1000) }

// Clip cuts a text to so many characters.
func Clip(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
