// Package workflow makes the calls of a plan, step by step.
//
// A plan is a script that is kept as rows, by verbs of a palette of its own: plan.draft,
// plan.stage, plan.start and so on. A step is one call. It needs the steps whose results it
// names, and is made once they are done; steps that do not need each other are made
// concurrently. Each attempt is a run of the engine in the name of the principal who drafted the
// plan, with their rights at that moment, a time-out, and a key, so that a step that changes
// something takes effect once, however often processes die:
//
//	r := &workflow.Runner{Clerk: serviceaccount.Clerk{Registry: reg, Engine: engine, Store: store, As: "plans", Source: "plan"}, Name: "host 4711", Clock: time.Now}
//	status, err := r.Advance(ctx, key, nil)   // until nothing more can be made now
//	mine, err := r.Deliver(ctx, notice)       // the same, for a worker
//
// A Judge decides whether an answer is good enough, and what to try instead. Only a step that
// reads is tried again with another call. A step that changes something is made once, or a
// person is asked.
//
// A step that waits for a person is a row, and nothing else: no goroutine, no connection.
package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Plan is a plan that is being made.
type Plan struct {
	Key      stores.Value
	Owner    string
	Title    string
	Question string // the question that it answers; the title if there is none
	Status   string
	Parallel int
	Retries  *int // how often a reading step is tried again; nil if nobody set it
	Started  time.Time
	Ended    time.Time
	Reason   string
	Steps    []*Step // in their order
}

// A Step is one call of a plan. While a plan is made, it belongs to the goroutine that
// makes it.
type Step struct {
	Key      stores.Value
	Name     string
	Call     dsl.Call // as it was drafted
	Next     *dsl.Call
	Verb     *verbs.Verb // nil if no verb has that name any more
	Status   string
	Least    *float64 // the least confidence that its answer needs; nil if nobody set it
	Within   time.Duration
	Tries    int
	Settled  int // the attempt whose answer counts
	Score    *float64
	Reason   string
	Needs    []*Step
	Attempts []*Attempt // made by this process, the oldest first
	Ended    time.Time
	Kept     time.Time // when its answer was got, if it is that of an earlier plan; zero otherwise
	Cut      bool      // it was given less of the results of others than there was
	// DecidedBy is the person who decided about the answer; "" if nobody was asked.
	DecidedBy string

	writes   bool
	unheard  bool // a model wrote its call, and nobody agreed to it with the plan
	span     func(failed bool)
	traced   context.Context // of the step, while it is being made
	waitsFor string
	asked    *dsl.Call    // the call of the attempt that counts; nil while there is none
	lost     string       // the key of an attempt whose tool's answer was lost; "" if there is none
	origin   verbs.Origin // of the values in the call
	answer   *receipt.Receipt
}

// Writes reports whether the step may change something, here or elsewhere.
func (s *Step) Writes() bool { return s.writes }

// Answer returns the receipt of the attempt that counts; nil while there is none, or if another
// process made it and it was not read yet.
func (s *Step) Answer() *receipt.Receipt { return s.answer }

// Asked returns the call whose answer counts: that of the step, or the one that was made instead.
func (s *Step) Asked() dsl.Call {
	if s.asked != nil {
		return *s.asked
	}
	return s.Call
}

// ended reports whether nothing more becomes of the step.
func (s *Step) ended() bool { return s.Status == done || s.Status == failed || s.Status == skipped }

// What becomes of an attempt.
type Outcome string

// The outcomes.
const (
	OK       Outcome = "OK"
	Doubtful Outcome = "DOUBTFUL"  // it answered, and may be wrong
	Waiting  Outcome = "WAITING"   // somebody has to agree
	Refused  Outcome = "REFUSED"   // it may not be made
	Failed   Outcome = "FAILED"    // of the system
	TimedOut Outcome = "TIMED_OUT" // it took longer than it may
	Unknown  Outcome = "UNKNOWN"   // it may have been made
)

// An Attempt is one try of a step.
type Attempt struct {
	Number  int
	Call    dsl.Call         // with the names of other steps
	Made    dsl.Call         // with their results in place of the names
	Receipt *receipt.Receipt // nil if there was no answer
	Outcome Outcome
	Reason  string // for the asker, if there was no answer
	Err     error  // for the operator
	Began   time.Time
	Ended   time.Time
	Verdict Verdict

	kept       time.Time // when the answer was got, if an earlier plan got it
	cut        bool      // results of other steps did not fit into the call
	remembered string    // the key under which a good answer is kept for reuse; "" if it is not
}

// Result returns the result of the call; nil if it has none.
func (a *Attempt) Result() *receipt.Result { return resultOf(a.Receipt) }

func resultOf(r *receipt.Receipt) *receipt.Result {
	if r == nil || len(r.Calls) == 0 {
		return nil
	}
	return r.Calls[0].Result
}

// A Verdict is the judgement about an answer.
type Verdict struct {
	Good    bool // it is good enough
	Score   *float64
	Least   *float64        // the score that was required
	Factors json.RawMessage // the parts of the score: names and numbers, no value of the answer
	Reason  string          // likewise, and without figures
	Figures string          // the reason with its figures, for overseers; it is not kept
	// Again lets a reading step be tried again after Wait, with the call Next if that is not nil.
	Again bool
	Next  *dsl.Call
	Wait  time.Duration
	// Ask lets somebody else decide whether the answer is good enough. Otherwise the step fails.
	Ask bool
}

// A Judge decides whether the answer to an attempt is good enough. It is called for each attempt
// with an answer, and for reading attempts without one. It is safe for use by many goroutines.
type Judge interface {
	Judge(ctx context.Context, p *Plan, s *Step, a *Attempt) Verdict
}

// An EventKind is the kind of an Event.
type EventKind string

// The events.
const (
	Started   EventKind = "started"   // of a plan
	Attempted EventKind = "attempted" // of a step; Attempt is set
	Settled   EventKind = "settled"   // of a step: it is done, failed, skipped, or waits
	Finished  EventKind = "finished"  // of a plan: it has ended, or waits
)

// An Event tells how far a plan is. Events of one plan come one after the other.
type Event struct {
	Kind    EventKind
	Plan    *Plan
	Step    *Step
	Attempt *Attempt
}

// writes reports whether a call, or one inside it, may change something.
func writes(reg *verbs.Registry, call *dsl.Call) (may bool) {
	dsl.WalkCall(call, func(at dsl.Node) bool {
		if at.Call != nil {
			v := reg.Verb(at.Call.Verb)
			may = may || v == nil || !reg.OnlyReads(v)
		}
		return !may
	})
	return may
}

// byName finds a step.
func (p *Plan) byName(name string) *Step {
	if i := slices.IndexFunc(p.Steps, func(s *Step) bool { return s.Name == name }); i >= 0 {
		return p.Steps[i]
	}
	return nil
}

// join finds out which steps each one needs.
func (p *Plan) join() {
	for _, s := range p.Steps {
		s.Needs = nil
		dsl.WalkCall(&s.Call, func(at dsl.Node) bool {
			if v := at.Value; v != nil && v.Kind == dsl.Symbol {
				name, _, _ := strings.Cut(v.Text, ".")
				if need := p.byName(name); need != nil && need != s && !slices.Contains(s.Needs, need) {
					s.Needs = append(s.Needs, need)
				}
			}
			return true
		})
	}
}

// ready returns the steps that can be made now.
func (p *Plan) ready() (all []*Step) {
	for _, s := range p.Steps {
		if s.Status == open && !slices.ContainsFunc(s.Needs, func(n *Step) bool { return n.Status != done }) {
			all = append(all, s)
		}
	}
	return all
}

// lost returns the steps that need a step that was not made, and the reason.
func (p *Plan) lost() (all []*Step, why string) {
	for _, s := range p.Steps {
		if s.Status != open {
			continue
		}
		for _, n := range s.Needs {
			if n.Status == failed || n.Status == skipped {
				all, why = append(all, s), fmt.Sprintf("@%s was not made", n.Name)
				break
			}
		}
	}
	return all, why
}

// number returns a score as a decimal.
func number(f float64) stores.Value {
	v, _ := stores.ParseDecimal(fmt.Sprintf("%.4f", f))
	return v
}
