package score

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// share returns the factor have/of, and absent if nothing was counted.
func share(m Measure, have, of int) Factor {
	if of <= 0 {
		return Factor{}
	}
	have = min(max(have, 0), of)
	f := Factor{Reason{m, Low, have, of}, float64(have) / float64(of)}
	switch {
	case have == of:
		f.Level = Full
	case f.Value >= 0.5:
		f.Level = Partial
	}
	return f
}

// Rows describes the number of rows in an answer.
type Rows struct {
	Found    int
	Expected int // 0 if no number is expected
	// EndsExist says that the things which the question connects exist. An empty answer then means
	// that they are not connected.
	EndsExist bool
	// Unclear says that something in the question is not known, or may be one of several.
	Unclear bool
}

// What the number of rows is worth.
const (
	emptyRows       = 0.3  // of the specification: an empty answer is suspicious
	unconnectedRows = 0.88 // the specification's 0.85, and the cost of the retry that showed it
	unexpectedRows  = 0.9  // there are rows, and no expected number
	fewestRows      = 0.4  // towards this falls the worth of ever fewer rows
)

// ResultSize compares the rows found with the rows expected: 1 for as many or more, less
// for fewer, 0.3 for none. It never falls when more rows are found.
func ResultSize(r Rows) Factor {
	found, expected := max(r.Found, 0), max(r.Expected, 0)
	switch {
	case found == 0 && r.Unclear:
		return Factor{Reason{MeasureResultSize, Unknown, 0, expected}, emptyRows}
	case found == 0 && r.EndsExist:
		return Factor{Reason{MeasureResultSize, Unconnected, 0, expected}, unconnectedRows}
	case found == 0:
		return Factor{Reason{MeasureResultSize, Empty, 0, expected}, emptyRows}
	case expected == 0:
		return Factor{Reason{MeasureResultSize, Unexpected, found, 0}, unexpectedRows}
	}
	f := share(MeasureResultSize, found, expected)
	f.Value = fewestRows + (1-fewestRows)*f.Value
	return f
}

// Completeness returns the share of the wanted values, rows times columns, that are present.
func Completeness(filled, wanted int) Factor { return share(MeasureCompleteness, filled, wanted) }

// SchemaConsistency returns the share of the checked values that have their declared kind. The
// caller checks them, since it knows the kinds.
func SchemaConsistency(valid, checked int) Factor { return share(MeasureSchema, valid, checked) }

// Agreement returns the share of other, independent answers that equal an answer, absent without
// others. Case, punctuation and spaces make no difference.
func Agreement(answer string, others []string) Factor {
	same, said := 0, words(answer)
	for _, other := range others {
		if words(other) == said {
			same++
		}
	}
	return share(MeasureAgreement, same, len(others))
}

// bestHits is the number of the nearest hits that count.
const bestHits = 3

// VectorSimilarity returns the mean similarity of the best three hits, rescaled so that the floor
// becomes 0.5, while 0 stays 0 and 1 stays 1. A hit below the floor is doubtful.
func VectorSimilarity(hits []float64, floor float64) Factor {
	best := make([]float64, len(hits))
	for i, h := range hits {
		best[i] = unit(h)
	}
	slices.SortFunc(best, func(a, b float64) int { return cmp.Compare(b, a) })
	best = best[:min(len(best), bestHits)]
	floor = min(max(unit(floor), 0.01), 0.99)
	near, sum := 0, 0.0
	for _, h := range best {
		if h >= floor {
			near++
			sum += 0.5 + 0.5*(h-floor)/(1-floor)
		} else {
			sum += 0.5 * h / floor
		}
	}
	f := share(MeasureSimilarity, near, len(best))
	if len(best) > 0 {
		f.Value = unit(sum / float64(len(best)))
	}
	return f
}

// EntityPrecision returns the share of the names in a question that occur in the rows of the
// answer. A name occurs where its words stand in order.
func EntityPrecision(names, rows []string) Factor {
	var all strings.Builder
	for _, row := range rows {
		all.WriteString(words(row)) // two spaces between rows: no name reaches across
	}
	found, of := 0, 0
	for _, name := range names {
		if w := words(name); w != "" {
			of++
			if strings.Contains(all.String(), w) {
				found++
			}
		}
	}
	return share(MeasureEntityPrecision, found, of)
}

// Names returns the factor of an answer that names something else than was looked for (Elsewhere), or
// of one that speaks of no name in the question, of which nothing was looked for either (Absent).
func Names(l Level) Factor {
	return Factor{Reason{MeasureEntityPrecision, l, 0, 0}, map[Level]float64{Absent: namelessWorth}[l]}
}

// namelessWorth is what an answer is worth that speaks of no name in the question: it may be right, and
// is not well supported.
const namelessWorth = 0.85

// Question returns the factor of an answer to a simpler question than was asked.
func Question() Factor { return Factor{Reason{MeasureQuestion, Simpler, 0, 0}, 0} }

// Stated returns the confidence that another agent states in its own answer. Nobody can make an
// answer surer by saying so: it counts against an answer, and never for it. Below 0.5 it is the most
// that a score can be; what is no number from 0 to 1 is noted, and does not count.
func Stated(confidence float64) Factor {
	if !(confidence >= 0 && confidence <= 1) {
		return Factor{Reason{MeasureStated, Invalid, 0, 0}, 1}
	}
	f := share(MeasureStated, int(math.Floor(confidence*100+1e-9)), 100)
	f.Value = confidence
	return f
}

// Attempts returns the factor for an answer from the nth attempt. Each retry reduces the score by 3
// %, because one of many answers passes a threshold by chance more easily.
func Attempts(n int) Factor {
	if n < 1 {
		return Factor{}
	}
	n = min(n, mostAttempts)
	f := Factor{Reason{MeasureAttempts, First, n, n}, 1}
	for range n - 1 {
		f.Level = Retried
		f.Value *= perRetry
	}
	return f
}

const (
	perRetry     = 0.97
	mostAttempts = 100 // further ones make no difference
)
