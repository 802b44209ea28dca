package score

import "math"

// bins is the number of bins of equal width into which the scores from 0 to 1 are sorted.
const bins = 10

// A Bin holds the outcomes whose scores are at least From and less than To. The last bin includes
// score 1.
type Bin struct {
	From, To float64
	Score    float64 // the mean score
	Right    float64 // the share of right answers
	Count    int
}

// Reliability sorts outcomes into ten bins of equal width, for a reliability diagram: a
// tool is well calibrated where Score and Right of each bin are the same.
func Reliability(outcomes []Outcome) []Bin {
	b := make([]Bin, bins)
	for i := range b {
		b[i].From, b[i].To = float64(i)/bins, float64(i+1)/bins
	}
	for _, o := range outcomes {
		s := unit(o.Score)
		at := &b[min(int(s*bins), bins-1)]
		at.Score += s
		at.Right += one(o.Right)
		at.Count++
	}
	for i := range b {
		n := float64(max(b[i].Count, 1))
		b[i].Score /= n
		b[i].Right /= n
	}
	return b
}

// ExpectedCalibrationError returns the mean distance between score and share of right answers over
// the bins of Reliability, weighted by their outcomes: the ECE of Naeini, Cooper and Hauskrecht
// (AAAI 2015), as in equation 3 of Guo et al. (ICML 2017, arXiv:1706.04599). With few outcomes it
// is well above 0 by chance alone.
func ExpectedCalibrationError(outcomes []Outcome) float64 {
	sum := 0.0
	for _, b := range Reliability(outcomes) {
		sum += float64(b.Count) * math.Abs(b.Score-b.Right)
	}
	return sum / float64(max(len(outcomes), 1))
}
