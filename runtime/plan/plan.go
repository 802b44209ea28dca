// Package plan makes the calls of a plan, step by step.
//
// A plan is a script that is kept as rows, by verbs of a palette of its own: plan.draft,
// plan.stage, plan.start and so on. A step is one call. What it needs are the steps whose
// results it names, and it is made once those are there; steps that do not need each other
// are made at once. Each attempt is a run of the engine, in the name of whoever drafted the
// plan, with their rights at that moment, a time-out, and a key, so that a step that changes
// something is made once, however often processes die:
//
//	r := &plan.Runner{Clerk: clerk.Clerk{Registry: reg, Engine: engine, Store: store, As: "plans", Source: "plan"}, Name: "host 4711", Clock: time.Now}
//	status, err := r.Advance(ctx, key, nil)   // until nothing more can be made now
//	mine, err := r.Deliver(ctx, notice)       // the same, for a worker
//
// A Judge says whether an answer will do, and what to try otherwise. Only a step that reads
// is tried otherwise. One that changes something is made once, or asks.
//
// What waits for a person is a row, and nothing else: no goroutine, no connection.
package plan

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

// A Plan is one as it is being made.
type Plan struct {
	Key      stores.Value
	Owner    string
	Title    string
	Question string // what was asked; the title, of a plan that answers no question
	Status   string
	Parallel int
	Retries  *int // how often a step that reads is tried again; nil where nobody said
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
	Verb     *verbs.Verb // nil where there is none of that name any more
	Status   string
	Least    *float64 // how sure its answer must be; nil where nobody said
	Within   time.Duration
	Tries    int
	Settled  int // the attempt whose answer counts
	Score    *float64
	Reason   string
	Needs    []*Step
	Attempts []*Attempt // made by this process, the oldest first
	Ended    time.Time
	// DecidedBy is who said whether the answer will do; "" where nobody was asked.
	DecidedBy string

	writes   bool
	span     func(failed bool)
	traced   context.Context // of the step, while it is made
	waitsFor string
	asked    *dsl.Call    // of the attempt that counts; nil where none does yet
	lost     string       // the key under which a tool was asked whose answer was lost; "" of none
	origin   verbs.Origin // of what the call says
	answer   *receipt.Receipt
}

// Writes reports whether the step may change something, here or elsewhere.
func (s *Step) Writes() bool { return s.writes }

// Answer is the receipt of the attempt that counts; nil while there is none, or where it was
// made by another process and was not read yet.
func (s *Step) Answer() *receipt.Receipt { return s.answer }

// Asked is the call whose answer counts: that of the step, or another that was made instead.
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
	Receipt *receipt.Receipt // nil where it did not answer
	Outcome Outcome
	Reason  string // for the asker, where it did not answer
	Err     error  // for the operator
	Began   time.Time
	Ended   time.Time
	Verdict Verdict

	remembered string // under what an answer is used again that will do; "" where none is
}

// Result is what the call gave; nil where it gave nothing.
func (a *Attempt) Result() *receipt.Result { return resultOf(a.Receipt) }

func resultOf(r *receipt.Receipt) *receipt.Result {
	if r == nil || len(r.Calls) == 0 {
		return nil
	}
	return r.Calls[0].Result
}

// A Verdict says what an answer is worth.
type Verdict struct {
	Good    bool // it will do
	Score   *float64
	Least   *float64        // what was demanded
	Factors json.RawMessage // what the score is made of: names and numbers, no value of the answer
	Reason  string          // likewise
	// Again has the step tried again, of one that reads: as Next where it is not nil, after
	// Wait.
	Again bool
	Next  *dsl.Call
	Wait  time.Duration
	// Ask has somebody else say whether the answer will do. Otherwise the step has failed.
	Ask bool
}

// A Judge says whether the answer to an attempt will do. It is asked of each attempt that
// answered, and of those that did not and only read. It is safe for use by many goroutines.
type Judge interface {
	Judge(ctx context.Context, p *Plan, s *Step, a *Attempt) Verdict
}

// What an Event tells of.
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

// ready are the steps that can be made now.
func (p *Plan) ready() (all []*Step) {
	for _, s := range p.Steps {
		if s.Status == open && !slices.ContainsFunc(s.Needs, func(n *Step) bool { return n.Status != done }) {
			all = append(all, s)
		}
	}
	return all
}

// lost are the steps that need what was not made, each with the reason.
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

// number is a decimal of a score.
func number(f float64) stores.Value {
	v, _ := stores.ParseDecimal(fmt.Sprintf("%.4f", f))
	return v
}
