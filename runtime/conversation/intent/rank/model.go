package rank

import (
	"cmp"
	"math"
	"slices"
)

// A Model is a multinomial logit over the features of the candidates: it gives the probability of
// each, and of none.
type Model struct {
	Signs Signs
	None  float64
}

// Weigh replaces the scores of candidates by probabilities, and sorts by them.
func (m *Model) Weigh(all []Candidate) {
	most := m.None
	for i := range all {
		all[i].Score = m.score(&all[i])
		most = max(most, all[i].Score)
	}
	sum := math.Exp(m.None - most)
	for i := range all {
		all[i].Score = math.Exp(all[i].Score - most)
		sum += all[i].Score
	}
	for i := range all {
		all[i].Score /= sum
	}
	slices.SortFunc(all, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Verb, b.Verb))
	})
}

func (m *Model) score(c *Candidate) (sum float64) {
	for k, s := range c.Signs {
		sum += float64(s) * float64(m.Signs[k])
	}
	return sum
}

// many and few are the Shipped models for large and for small palettes. They were fitted to
// training sentences of public intent sets and to left-out phrases of our own palettes. Intents
// have no arguments, so many has the weights of few for features of arguments. Its none is higher
// than fitted, against sentences that belong to nothing. See TestFitModel.
var (
	many = &Model{Signs: Signs{10.52, 4.70, -8.11, 3.78, -0.53, 0.81, 0.15, -5.50, 0.23, 0.2, -4.00, -0.63, 6.77, 10.18, 1.46}, None: 2.2}
	few  = &Model{Signs: Signs{12.08, 2.71, 1.05, 7.07, 3.89, 2.88, 0.12, -5.51, 0.20, 0.20, 2.35, -0.87, 6.87}, None: 7.65}
)

// ManyVerbs is from how many verbs on a palette is large.
const ManyVerbs = 60

// Shipped returns the Model for a number of verbs.
func Shipped(verbs int) *Model {
	if verbs < ManyVerbs {
		return few
	}
	return many
}

// An Example is a sentence with its known meaning.
type Example struct {
	All    []Candidate
	Meant  int // index of the meant verb, -1 if it is missing
	Weight float64
}

// Calibrated returns a Model for a large palette, of whose phrases these are examples: how much features
// say differs from palette to palette. All weights are scaled alike (temperature scaling; Guo and others,
// On Calibration of Modern Neural Networks, 2017).
func (m Model) Calibrated(all []Example) *Model {
	best, most := 1.0, math.Inf(-1)
	for scale := 1.2; scale > 0.25; scale -= 0.05 {
		likely := -40 * math.Log(scale) * math.Log(scale) // towards 1, as far as there are few examples
		for i := range all {
			if all[i].Meant < 0 {
				continue
			}
			sum, meant := math.Exp(scale*m.None), 0.0
			for k := range all[i].All {
				s := math.Exp(scale * m.score(&all[i].All[k]))
				if sum += s; k == all[i].Meant {
					meant = s
				}
			}
			likely += all[i].Weight * math.Log(meant/sum)
		}
		if likely > most {
			best, most = scale, likely
		}
	}
	for k := range m.Signs {
		m.Signs[k] *= float32(best)
	}
	m.None *= best
	return &m
}
