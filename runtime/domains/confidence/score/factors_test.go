package score

import (
	"math"
	"math/rand/v2"
	"testing"
)

// absent stands for a factor that does not apply.
const absent = -1

// Each factor gives the level and value that its observations deserve. // T5 T23
func TestFactorsMeasureWhatWasObserved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		got   Factor
		level Level
		value float64
	}{
		"as many rows as expected":         {ResultSize(Rows{Found: 15, Expected: 15}), Full, 1},
		"more rows than expected":          {ResultSize(Rows{Found: 99, Expected: 15}), Full, 1},
		"half of the rows":                 {ResultSize(Rows{Found: 5, Expected: 10}), Partial, 0.7},
		"one row of ten":                   {ResultSize(Rows{Found: 1, Expected: 10}), Low, 0.46},
		"rows of which no number is known": {ResultSize(Rows{Found: 3}), Unexpected, 0.9},
		"no rows":                          {ResultSize(Rows{}), Empty, 0.3},
		"no rows where some were expected": {ResultSize(Rows{Expected: 5}), Empty, 0.3},
		"no rows between ends that exist":  {ResultSize(Rows{EndsExist: true}), Unconnected, 0.88},
		"ends that exist, and rows":        {ResultSize(Rows{Found: 3, EndsExist: true}), Unexpected, 0.9},

		"every column filled":   {Completeness(12, 12), Full, 1},
		"three of four columns": {Completeness(3, 4), Partial, 0.75},
		"one of four columns":   {Completeness(1, 4), Low, 0.25},
		"no column wanted":      {Completeness(0, 0), "", absent},

		"every value of its kind":      {SchemaConsistency(9, 9), Full, 1},
		"one value not of its kind":    {SchemaConsistency(9, 10), Partial, 0.9},
		"more values valid than there": {SchemaConsistency(11, 10), Full, 1},
		"no value to check":            {SchemaConsistency(0, 0), "", absent},

		"sources agree but for case": {Agreement("Acme Corp.", []string{"acme corp", "ACME CORP"}), Full, 1},
		"one of four sources agrees": {Agreement("4", []string{"4", "5", "6", "7"}), Low, 0.25},
		"no other source":            {Agreement("4", nil), "", absent},

		"hits at the floor":            {VectorSimilarity([]float64{0.7, 0.7, 0.7}, 0.7), Full, 0.5},
		"hits halfway above the floor": {VectorSimilarity([]float64{0.75}, 0.5), Full, 0.75},
		"hits halfway below the floor": {VectorSimilarity([]float64{0.25}, 0.5), Low, 0.25},
		"only the best three count":    {VectorSimilarity([]float64{0, 1, 0, 1, 0, 1}, 0.7), Full, 1},
		"a hit that is no number":      {VectorSimilarity([]float64{math.NaN()}, 0.5), Low, 0},
		"no hits":                      {VectorSimilarity(nil, 0.7), "", absent},

		"both names are spoken of":    {EntityPrecision([]string{"Acme Corp", "Bolt"}, []string{"Acme Corp|2023", "Bolt, Ltd."}), Full, 1},
		"one of two names":            {EntityPrecision([]string{"Acme", "Bolt"}, []string{"ACME's partners"}), Partial, 0.5},
		"a name within another":       {EntityPrecision([]string{"Ann"}, []string{"Annabel"}), Low, 0},
		"a name across two rows":      {EntityPrecision([]string{"Acme Corp"}, []string{"Acme", "Corp"}), Low, 0},
		"no names in the question":    {EntityPrecision(nil, []string{"Acme"}), "", absent},
		"a name without any letters":  {EntityPrecision([]string{"?!"}, []string{"Acme"}), "", absent},
		"names, and no rows to speak": {EntityPrecision([]string{"Acme"}, nil), Low, 0},

		"the first attempt":  {Attempts(1), First, 1},
		"the second attempt": {Attempts(2), Retried, 0.97},
		"no attempt":         {Attempts(0), "", absent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.value == absent {
				if c.got != (Factor{}) {
					t.Fatalf("a factor that does not apply is there: %+v", c.got)
				}
				return
			}
			if c.got.Level != c.level || math.Abs(c.got.Value-c.value) > 1e-12 {
				t.Errorf("got %s %v, want %s %v", c.got.Level, c.got.Value, c.level, c.value)
			}
		})
	}
}

// odd numbers are those that arithmetic goes wrong with.
var odd = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, math.SmallestNonzeroFloat64, 0.5, 1, 2, math.MaxFloat64}

func anyFloat(r *rand.Rand) float64 {
	if r.IntN(3) == 0 {
		return odd[r.IntN(len(odd))]
	}
	return r.Float64()
}

func anyInt(r *rand.Rand) int {
	switch r.IntN(6) {
	case 0:
		return math.MinInt
	case 1:
		return math.MaxInt
	}
	return r.IntN(30) - 5
}

// anyFactors are factors of observations that may be absurd.
func anyFactors(r *rand.Rand) []Factor {
	text := Text{Answer: anyText(r), Question: anyText(r), Refused: r.IntN(9) == 0, CutOff: r.IntN(9) == 0, CapitalNouns: r.IntN(2) == 0}
	texts := make([]string, r.IntN(4))
	for i := range texts {
		texts[i] = anyText(r)
	}
	text.Given = texts
	hits := make([]float64, r.IntN(5))
	for i := range hits {
		hits[i] = anyFloat(r)
	}
	all := []Factor{
		ResultSize(Rows{anyInt(r), anyInt(r), r.IntN(2) == 0, r.IntN(4) == 0}),
		Completeness(anyInt(r), anyInt(r)),
		SchemaConsistency(anyInt(r), anyInt(r)),
		Agreement(anyText(r), texts),
		VectorSimilarity(hits, anyFloat(r)),
		EntityPrecision(texts, []string{anyText(r)}),
		Coherence(text),
		Grounding(text),
		Attempts(r.IntN(200) - 5),
	}
	switch r.IntN(4) {
	case 0:
		all = append(all, Names(Absent), Question())
	case 1:
		all = append(all, Names(Elsewhere))
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:r.IntN(len(all)+1)]
}

// Whatever is observed, a factor is absent or a number from 0 to 1 with counts that fit. // T5
func TestFactorsStayInRange(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		for _, f := range anyFactors(r) {
			if f == (Factor{}) {
				continue
			}
			if !(f.Value >= 0 && f.Value <= 1) || f.Have < 0 || f.Measure == "" || f.Level == "" {
				t.Fatalf("%+v", f)
			}
		}
	}
}

// More of what is good never lowers a factor. // T5 T23
func TestFactorsRiseWithEvidence(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		n, of, floor := r.IntN(20), r.IntN(20), r.Float64()
		hits := []float64{r.Float64(), r.Float64(), r.Float64(), r.Float64()}
		better := append([]float64{}, hits...)
		better[r.IntN(len(better))] += r.Float64() / 4
		for name, pair := range map[string][2]Factor{
			"rows":     {ResultSize(Rows{Found: n, Expected: of}), ResultSize(Rows{Found: n + 1, Expected: of})},
			"filled":   {Completeness(n, of), Completeness(n+1, of)},
			"valid":    {SchemaConsistency(n, of), SchemaConsistency(n+1, of)},
			"agreeing": {Agreement("a", []string{"b", "b"}), Agreement("a", []string{"b", "a"})},
			"hits":     {VectorSimilarity(hits, floor), VectorSimilarity(better, floor)},
			"floor":    {VectorSimilarity(hits, floor+0.1), VectorSimilarity(hits, floor)},
			"names":    {EntityPrecision([]string{"a", "b"}, []string{"a"}), EntityPrecision([]string{"a", "b"}, []string{"a", "b"})},
			"attempts": {Attempts(n + 2), Attempts(n + 1)},
		} {
			if pair[0].Value > pair[1].Value+1e-12 {
				t.Fatalf("%s: %+v is more than %+v", name, pair[0], pair[1])
			}
		}
	}
}
