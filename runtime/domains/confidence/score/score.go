// Package score says how far an answer of a tool can be trusted, as a number from 0 to 1
// and as reasons in words. Everything in it is a pure function of counts, shares and texts.
//
//	s := score.Combine([]score.Factor{
//		score.ResultSize(score.Rows{Found: 12, Expected: 15}),
//		score.SchemaConsistency(36, 36),
//		score.Attempts(2),
//	}, score.DefaultWeights(score.GraphQuery))
//	s.Value                 // 0.8924
//	s.Reasons[0].In("en")   // "Fewer rows than expected: 12 of 15 (80%)."
//
// A factor measures one thing. Combine makes one score of the factors, a Calibrator turns
// that score into the share of such answers that proved right, Threshold says which score
// is enough, Drift notices a tool that starts to err, and Adapt proposes another threshold.
package score

import (
	"cmp"
	"math"
	"slices"
)

// A Tool is a kind of tool whose answers are scored.
type Tool string

// The kinds of tools that have weights and thresholds of their own.
const (
	GraphQuery     Tool = "GraphQuery"
	TextCompletion Tool = "TextCompletion"
	McpTool        Tool = "McpTool"
	Prompt         Tool = "Prompt"
	KnowledgeQuery Tool = "KnowledgeQuery"
)

// A Measure is the name of the quantity that a Factor measures.
type Measure string

// The measures, in the order in which a Score lists its factors.
const (
	MeasureResultSize      Measure = "result-size"
	MeasureCompleteness    Measure = "completeness"
	MeasureSchema          Measure = "schema"
	MeasureAgreement       Measure = "agreement"
	MeasureSimilarity      Measure = "similarity"
	MeasureEntityPrecision Measure = "entity-precision"
	MeasureCoherence       Measure = "coherence"
	MeasureGrounding       Measure = "grounding"
	MeasureStated          Measure = "stated"
	MeasureQuestion        Measure = "question"
	MeasureAttempts        Measure = "attempts"
)

// Two reasons are not about a factor.
const (
	aboutScore     Measure = "score"
	aboutThreshold Measure = "threshold"
)

// A Level says in which of a few states a measure was found.
type Level string

// The levels.
const (
	Full    Level = "full"    // everything that was counted
	Partial Level = "partial" // at least half of it
	Low     Level = "low"     // less than half of it

	Empty       Level = "empty"       // result-size: no rows, for an unknown reason
	Unconnected Level = "unconnected" // result-size: no rows between two ends that were looked for
	Unknown     Level = "unknown"     // result-size: no rows, since a name is not known or may mean several things
	Unexpected  Level = "unexpected"  // result-size: rows, without an expected number

	Absent    Level = "absent"    // entity-precision: no name of the question stands in the answer, nor was it looked for
	Elsewhere Level = "elsewhere" // entity-precision: the answer names something else than was asked for
	Simpler   Level = "simpler"   // question: another one was answered than was asked
	Invalid   Level = "invalid"   // stated: no number from 0 to 1

	NoAnswer Level = "no-answer" // coherence: no text, a refusal, or the question again
	CutOff   Level = "cut-off"   // coherence: the text stops before its end
	Repeats  Level = "repeats"   // coherence: the text repeats itself

	First   Level = "first"   // attempts: the first one
	Retried Level = "retried" // attempts: a later one

	Capped     Level = "capped"     // score: a factor alone holds the score down
	Unmeasured Level = "unmeasured" // score: no factor applied

	Raised  Level = "raised"  // threshold: too many accepted answers were wrong
	Lowered Level = "lowered" // threshold: answers below it would have been right
	Kept    Level = "kept"    // threshold: history speaks for no change
	Bound   Level = "bound"   // threshold: a change is due, but the bounds forbid it
	Short   Level = "short"   // threshold: the history is too short
)

// A Factor is one measurement of an answer. The zero Factor is absent: it applies to
// nothing and Combine leaves it out.
type Factor struct {
	Reason
	Value float64 `json:"value"` // from 0 to 1
}

// A Score is a measure of how far an answer can be trusted.
type Score struct {
	Raw     float64  `json:"raw"`     // from the factors
	Value   float64  `json:"value"`   // Raw, or its calibrated value
	Factors []Factor `json:"factors"` // the factors that were present, in the order of the measures
	Reasons []Reason `json:"reasons"` // whether a cap holds, then the factors, costliest first
}

// Weights say how much each measure counts. A measure without a positive weight does not
// count towards the mean; its caps and attempts hold all the same.
type Weights map[Measure]float64

// A weighing is a line of the table: the weight of a measure for each kind of tool, and
// the levels of that measure at which a score is at most a cap.
type weighing struct {
	weights [len(columns)]float64
	measure Measure
	caps    []limit
}

type limit struct {
	level Level
	most  float64
}

// table holds every weight and every cap. Rows and vectors are most informative about a query, the
// given texts about a text, and the schema about the answer of a foreign tool. The caps 0.3 and 0.85
// are figures of the specification. Attempts have no weight, because their factor multiplies the
// mean. A confidence that another agent states counts only if it lowers the mean.
var (
	columns = [...]Tool{GraphQuery, TextCompletion, McpTool, Prompt, KnowledgeQuery}
	table   = [...]weighing{
		{[...]float64{4, 0, 2, 0, 3}, MeasureResultSize, []limit{{Empty, 0.3}, {Unknown, 0.3}, {Unconnected, 0.85}}},
		{[...]float64{2, 1, 2, 2, 1}, MeasureCompleteness, nil},
		{[...]float64{2, 1, 3, 3, 1}, MeasureSchema, []limit{{Partial, 0.4}, {Low, 0.4}}},
		{[...]float64{2, 2, 2, 2, 2}, MeasureAgreement, []limit{{Low, 0.6}}},
		{[...]float64{1, 1, 1, 1, 3}, MeasureSimilarity, []limit{{Low, 0.6}}},
		{[...]float64{2, 1, 1, 1, 2}, MeasureEntityPrecision, []limit{{Absent, namelessWorth}, {Elsewhere, 0.5}}},
		{[...]float64{1, 3, 1, 2, 2}, MeasureCoherence, []limit{{NoAnswer, 0.3}, {CutOff, 0.5}}},
		{[...]float64{2, 4, 2, 3, 3}, MeasureGrounding, []limit{{Low, 0.5}}},
		{[...]float64{0, 0, 2, 0, 0}, MeasureStated, []limit{{Low, 1}}}, // which is what it says
		{[...]float64{0, 0, 0, 0, 0}, MeasureQuestion, []limit{{Simpler, 0.5}}},
		{[...]float64{0, 0, 0, 0, 0}, MeasureAttempts, nil},
	}
)

// DefaultWeights returns the weights for a kind of tool. A kind without weights of its own gets
// those of McpTool, since as little is known about it.
func DefaultWeights(t Tool) Weights {
	column := slices.Index(columns[:], t)
	if column < 0 {
		column = slices.Index(columns[:], McpTool)
	}
	w := Weights{}
	for _, line := range table {
		w[line.measure] = line.weights[column]
	}
	return w
}

// Combine makes a Score of the factors that are present: their weighted mean, multiplied
// by the factor for attempts, and then lowered to the lowest cap that holds. Of two factors
// of one measure the lower counts, and the order of the factors makes no difference. With
// no factor that counts, the score is 0, because nothing speaks for the answer.
func Combine(factors []Factor, weights Weights) Score {
	s := Score{Factors: make([]Factor, 0, len(factors)), Reasons: make([]Reason, 0, len(factors)+1)}
	var cost [len(table)]float64
	sum, total, retries := 0.0, 0.0, 1.0
	for i, m := range table {
		f, present := lowest(factors, m.measure)
		if !present {
			continue
		}
		s.Factors = append(s.Factors, f)
		if m.measure == MeasureAttempts {
			retries = f.Value
			continue
		}
		w := weight(weights[m.measure])
		if m.measure == MeasureStated && float64(total*f.Value) >= sum {
			w = 0 // all that counts but attempts stands before it in the table
		}
		// The conversion forbids a fused multiply-add, which would give other bits on
		// other processors.
		sum += float64(w * f.Value)
		total += w
		cost[i] = w * (1 - f.Value)
	}
	if total > 0 {
		s.Raw = sum / total * retries
		cost[len(cost)-1] = sum * (1 - retries)
	} else {
		s.Reasons = append(s.Reasons, Reason{Measure: aboutScore, Level: Unmeasured})
	}
	if most, by := capOf(s.Factors); s.Raw > most {
		s.Raw = most
		s.Reasons = append(s.Reasons, Reason{Measure: aboutScore, Level: Capped})
		cost[by] = math.Inf(1)
	}
	s.Raw = rounded(s.Raw)
	s.Value = s.Raw
	first := len(s.Reasons)
	for _, f := range s.Factors {
		s.Reasons = append(s.Reasons, f.Reason)
	}
	slices.SortStableFunc(s.Reasons[first:], func(a, b Reason) int {
		return cmp.Compare(cost[place(b.Measure)], cost[place(a.Measure)])
	})
	return s
}

// Calibrated returns the score with the Value that a Calibrator gives its Raw. Caps apply to that
// value too: no history of a tool makes up for a value that does not fit its schema.
func (s Score) Calibrated(c Calibrator) Score {
	most, _ := capOf(s.Factors)
	s.Value = rounded(min(c.Calibrate(s.Raw), most))
	return s
}

// lowest returns the lowest factor of a measure. Counts and level decide between equal values.
func lowest(factors []Factor, m Measure) (low Factor, present bool) {
	for _, f := range factors {
		if f.Measure != m {
			continue
		}
		f.Value = unit(f.Value)
		if !present || cmp.Or(cmp.Compare(f.Value, low.Value), cmp.Compare(f.Have, low.Have),
			cmp.Compare(f.Of, low.Of), cmp.Compare(f.Level, low.Level)) < 0 {
			low, present = f, true
		}
	}
	return low, present
}

// capOf returns the lowest cap that applies to factors, and its line in the table; the cap is 1 if
// none applies.
func capOf(factors []Factor) (most float64, by int) {
	most = 1
	for _, f := range factors {
		line := place(f.Measure)
		for _, l := range table[line].caps {
			if f.Measure == MeasureStated {
				l.most = f.Value
			}
			if l.level == f.Level && l.most < most {
				most, by = l.most, line
			}
		}
	}
	return most, by
}

// place returns the line of the table for a measure. Measures that are not in the table count as
// attempts, which have neither weight nor caps.
func place(m Measure) int {
	for i := range table {
		if table[i].measure == m {
			return i
		}
	}
	return len(table) - 1
}

// mostWeight keeps sums of weights finite.
const mostWeight = 1e9

// weight returns a weight that can be added up; a negative weight and NaN count as 0.
func weight(w float64) float64 {
	if !(w > 0) {
		return 0
	}
	return min(w, mostWeight)
}

// unit clips a number to [0,1]. NaN becomes 0.
func unit(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}

// rounded keeps four decimals, so that a score which equals a threshold also compares as
// equal to it.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }
