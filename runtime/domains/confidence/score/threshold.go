package score

import (
	"errors"
	"fmt"
	"math"
)

// A Demand holds the inputs from which the threshold of a step is computed.
type Demand struct {
	Tool    Tool
	Writes  bool     // the step changes something
	Record  Record   // of the tool
	Request *float64 // the threshold that the request asks for, if any
	// Default replaces the default of the tool, from 0 to 1; nil if nobody set one.
	Default *float64
}

// A Record counts the answers of a tool that were judged, and those that proved right.
type Record struct{ Right, Judged int }

const (
	writesMore    = 0.1  // added for a step that changes something
	reliableShare = 0.9  // a tool that is right less often needs a higher threshold
	recordMost    = 0.1  // the most that is added for a poor record
	highestDemand = 0.95 // what tool, change and record demand at most; no answer is certain
)

// defaultThreshold returns the threshold of a tool that only reads.
func defaultThreshold(t Tool) float64 {
	switch t {
	case GraphQuery:
		return 0.8
	case TextCompletion:
		return 0.7
	case McpTool:
		return 0.6
	}
	return 0.75
}

// Threshold returns the least score at which the answer of a step is accepted:
//
//   - The default of its tool: GraphQuery 0.8, TextCompletion 0.7, McpTool 0.6, others 0.75.
//   - If it writes, 0.1 more.
//   - If its tool has at least MinOutcomes judged answers, of which fewer than 90 % were
//     right, half of what is missing more, at most 0.1. A good record lowers nothing.
//   - At most 0.95 so far.
//   - A request sets the threshold of a step that reads. That of a step that writes it can
//     only raise.
func Threshold(d Demand) (float64, error) {
	if d.Record.Right < 0 || d.Record.Right > d.Record.Judged {
		return 0, fmt.Errorf("%d right answers of %d cannot be", d.Record.Right, d.Record.Judged)
	}
	t := defaultThreshold(d.Tool)
	if d.Default != nil {
		if t = *d.Default; !(t >= 0 && t <= 1) {
			return 0, fmt.Errorf("the threshold %v is not within 0 and 1", t)
		}
	}
	if d.Writes {
		t += writesMore
	}
	if d.Record.Judged >= MinOutcomes {
		missing := reliableShare - float64(d.Record.Right)/float64(d.Record.Judged)
		t += min(max(missing, 0)/2, recordMost)
	}
	t = rounded(min(t, highestDemand))
	if d.Request == nil {
		return t, nil
	}
	asked := *d.Request
	if !(asked >= 0 && asked <= 1) {
		return 0, fmt.Errorf("the threshold %v is not within 0 and 1", asked)
	}
	if d.Writes {
		return max(t, asked), nil
	}
	return asked, nil
}

// Bounds are what a person set for a threshold: it stays between Min and Max, and moves by
// at most Step at a time.
type Bounds struct{ Min, Max, Step float64 }

// targetShare of the accepted answers should prove right. It is the success rate that the
// specification aims at.
const targetShare = 0.92

// Adapt proposes the next threshold, and gives the reason. It raises the threshold by a step
// if the answers accepted at the current one are right significantly less often than 92 %.
// It lowers it by a step if those that the lower one accepts are right significantly more
// often, and the lower one accepts more of them. Significant means outside the one-sided
// Wilson interval of 95 %. Nothing moves on fewer than MinOutcomes accepted answers.
func Adapt(current float64, history []Outcome, b Bounds) (float64, Reason, error) {
	switch {
	case !(b.Min >= 0 && b.Min <= b.Max && b.Max <= 1):
		return 0, Reason{}, fmt.Errorf("%v and %v are no bounds within 0 and 1", b.Min, b.Max)
	case !(b.Step >= 0 && b.Step <= 1):
		return 0, Reason{}, fmt.Errorf("a step of %v is not within 0 and 1", b.Step)
	case !(current >= b.Min && current <= b.Max):
		return 0, Reason{}, errors.New("the current threshold is not within its bounds")
	}
	right, accepted := acceptedAt(current, history)
	kept := Reason{aboutThreshold, Kept, right, accepted}
	if len(history) < MinOutcomes {
		return current, Reason{aboutThreshold, Short, len(history), MinOutcomes}, nil
	}
	if _, high := wilson(right, accepted); accepted >= MinOutcomes && high < targetShare {
		return moved(current, b.Step, b, kept, Raised)
	}
	right, all := acceptedAt(max(b.Min, current-b.Step), history)
	if low, _ := wilson(right, all); all >= MinOutcomes && all > accepted && low > targetShare {
		return moved(current, -b.Step, b, Reason{aboutThreshold, Kept, right, all}, Lowered)
	}
	return current, kept, nil
}

// moved moves a threshold by a step as far as the bounds allow.
func moved(current, step float64, b Bounds, r Reason, why Level) (float64, Reason, error) {
	next := min(max(current+step, b.Min), b.Max)
	if r.Level = why; next == current {
		r.Level = Bound
	}
	return next, r, nil
}

// acceptedAt counts the outcomes that a threshold accepts, and the right ones among them.
func acceptedAt(threshold float64, history []Outcome) (right, accepted int) {
	for _, o := range history {
		if o.Score >= threshold {
			accepted++
			right += int(one(o.Right))
		}
	}
	return right, accepted
}

// wilson returns Wilson's score interval for a share. Each end is exceeded with a probability of 5
// %.
func wilson(right, of int) (low, high float64) {
	const z = 1.6449
	n := float64(max(of, 1))
	p := float64(right) / n
	middle := p + z*z/(2*n)
	reach := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (middle - reach) / (1 + z*z/n), (middle + reach) / (1 + z*z/n)
}
