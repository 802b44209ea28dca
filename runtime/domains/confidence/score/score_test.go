package score

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func evaluate(t Tool, factors ...Factor) Score { return Combine(factors, DefaultWeights(t)) }

func near(got, want float64) bool { return math.Abs(got-want) < 0.005 }

// The specification's first example: a query finds nothing (0.3), and its broader retry
// finds both ends, which are unconnected (0.85). // T26
func TestAnEmptyGraphIsDoubtfulUntilItsEndsAreFound(t *testing.T) {
	t.Parallel()
	first := evaluate(GraphQuery, ResultSize(Rows{}), Attempts(1))
	retry := evaluate(GraphQuery, ResultSize(Rows{EndsExist: true}),
		Completeness(2, 2), SchemaConsistency(2, 2), EntityPrecision([]string{"X", "Y"}, []string{"X", "Y"}), Attempts(2))
	alone := evaluate(GraphQuery, ResultSize(Rows{EndsExist: true}), Attempts(2))
	atOnce := evaluate(GraphQuery, ResultSize(Rows{EndsExist: true}), Attempts(1))
	for name, c := range map[string]struct {
		got  Score
		want float64
	}{
		"first attempt, no rows":              {first, 0.3},
		"retry, both ends are found":          {retry, 0.85},
		"retry, and nothing else is measured": {alone, 0.85},
		"the ends are known at once":          {atOnce, 0.85},
	} {
		if c.got.Value != c.want || c.got.Raw != c.want {
			t.Errorf("%s: %v, want exactly %v", name, c.got.Value, c.want)
		}
	}
	threshold, err := Threshold(Demand{Tool: GraphQuery})
	if err != nil || first.Value >= threshold || retry.Value < threshold {
		t.Errorf("%v is to be retried and %v accepted at %v (%v)", first.Value, retry.Value, threshold, err)
	}
}

// The specification's second example: three steps at 0.9, 0.5 and on retry 0.75, and 0.85,
// to two decimals. // T27
func TestThreeStepsReachTheFiguresOfTheSpecification(t *testing.T) {
	t.Parallel()
	// About that many numbers and names of a text stand in the documents.
	grounded := func(have, of int) Factor { return share(MeasureGrounding, have, of) }
	text := Coherence(Text{Answer: "The topics are liability, transparency and enforcement."})
	for name, c := range map[string]struct {
		got  Score
		want float64
	}{
		"15 documents, 27 of 30 columns filled": {evaluate(GraphQuery, ResultSize(Rows{Found: 15}), Completeness(27, 30), Attempts(1)), 0.9},
		"topics, of which 3 of 8 are grounded":  {evaluate(TextCompletion, text, grounded(3, 8), Attempts(1)), 0.5},
		"topics again, of which 6 of 8 are":     {evaluate(TextCompletion, text, grounded(6, 8), Attempts(2)), 0.75},
		"a summary, of which 8 of 9 are":        {evaluate(TextCompletion, text, grounded(8, 9), Attempts(1)), 0.85},
	} {
		if !near(c.got.Value, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got.Value, c.want)
		}
	}
}

// Caps hold whatever the other factors say, before and after calibration. // T23
func TestCapsHold(t *testing.T) {
	t.Parallel()
	c, err := Fit(simulated(rand.New(rand.NewPCG(5, 5)), 500, func(float64) float64 { return 0.99 }))
	if err != nil || c.Blocks() == nil {
		t.Fatal(c, err)
	}
	for name, k := range map[string]struct {
		bad  Factor
		most float64
	}{
		"a value not of its schema":            {SchemaConsistency(99, 100), 0.4},
		"an empty answer":                      {ResultSize(Rows{}), 0.3},
		"unconnected ends":                     {ResultSize(Rows{EndsExist: true}), 0.85},
		"a refusal":                            {Coherence(Text{Refused: true}), 0.3},
		"a text cut off":                       {Coherence(Text{Answer: "a", CutOff: true}), 0.5},
		"invented names":                       {Grounding(Text{Answer: "It is Acme.", Given: []string{"x"}}), 0.5},
		"sources that disagree":                {Agreement("a", []string{"b"}), 0.6},
		"hits below the floor":                 {VectorSimilarity([]float64{0.1}, 0.5), 0.6},
		"an agent that doubts":                 {Stated(0.4), 0.4},
		"an agent that knows that it is wrong": {Stated(0), 0},
		"a name that is not known":             {ResultSize(Rows{Unclear: true}), 0.3},
		"an answer about nobody":               {Names(Absent), 0.85},
		"an answer about another":              {Names(Elsewhere), 0.5},
		"an answer to another":                 {Question(), 0.5},
	} {
		said := false
		for _, tool := range []Tool{GraphQuery, TextCompletion, McpTool, Prompt, KnowledgeQuery, "other"} {
			good := []Factor{Completeness(9, 9), EntityPrecision([]string{"a"}, []string{"a"}), Attempts(1)}
			s := Combine(append(good, k.bad), DefaultWeights(tool))
			if s.Value > k.most || s.Calibrated(c).Value > k.most {
				t.Errorf("%s of %s: %v, calibrated %v, want at most %v", name, tool, s.Value, s.Calibrated(c).Value, k.most)
			}
			if s.Reasons[0].Level == Capped {
				said = true
				if s.Reasons[1] != k.bad.Reason {
					t.Errorf("%s of %s: the second reason does not say what caps: %v", name, tool, s.Reasons)
				}
			}
		}
		if !said {
			t.Errorf("%s caps nothing", name)
		}
	}
}

// What another agent says of its own answer is recorded, and takes from a score, but never
// adds to one: nobody passes a threshold by being sure of themselves. // T49
func TestAnAgentThatIsSureOfItselfProvesNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		factors := anyFactors(r)
		for _, tool := range []Tool{GraphQuery, TextCompletion, McpTool, Prompt, KnowledgeQuery} {
			without := evaluate(tool, factors...)
			for _, says := range []float64{0, 0.3, 0.6, 0.99, 1, 7, math.NaN()} {
				with := evaluate(tool, append(slices.Clone(factors), Stated(says))...)
				if with.Raw > without.Raw {
					t.Fatalf("%s with %v: %v, without %v", tool, says, with.Raw, without.Raw)
				}
				if !slices.ContainsFunc(with.Factors, func(f Factor) bool { return f.Measure == MeasureStated }) {
					t.Fatal("what it says is not recorded")
				}
			}
		}
	}
	nonsense := []Factor{ResultSize(Rows{Found: 1}), Completeness(1, 3), SchemaConsistency(3, 3), EntityPrecision([]string{"Acme"}, []string{"x"})}
	sure, doubtful := evaluate(McpTool, append(nonsense, Stated(1))...), evaluate(McpTool, ResultSize(Rows{Found: 1}), Completeness(3, 3), Stated(0.7))
	if bare := evaluate(McpTool, nonsense...); sure.Value != bare.Value || evaluate(McpTool, Stated(1)).Value != 0 {
		t.Errorf("%v, and %v when it is sure", bare.Value, sure.Value)
	}
	if doubtful.Value >= evaluate(McpTool, ResultSize(Rows{Found: 1}), Completeness(3, 3)).Value {
		t.Errorf("what it doubts makes no difference: %v", doubtful.Value)
	}
}

// Whatever the factors and weights, a score is a number from 0 to 1, its bits do not depend
// on the order of the factors, and its reasons are those of its factors. // T5
func TestScoresStayInRangeAndRepeat(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	tools := []Tool{GraphQuery, TextCompletion, McpTool, Prompt, KnowledgeQuery}
	for range 5000 {
		factors, weights := anyFactors(r), DefaultWeights(tools[r.IntN(len(tools))])
		if r.IntN(3) == 0 {
			for m := range weights {
				weights[m] = anyFloat(r)
			}
		}
		if r.IntN(3) == 0 {
			factors = append(factors, Factor{Reason{"unheard-of", Full, 1, 1}, anyFloat(r)}, Factor{Reason{MeasureSchema, Full, 1, 1}, anyFloat(r)})
		}
		s := Combine(factors, weights)
		if !(s.Value >= 0 && s.Value <= 1) || s.Value != s.Raw || len(s.Reasons) < len(s.Factors) {
			t.Fatalf("%+v of %+v", s, factors)
		}
		before := fmt.Sprintf("%x %v", s.Value, s.Factors)
		r.Shuffle(len(factors), func(i, j int) { factors[i], factors[j] = factors[j], factors[i] })
		if again := Combine(factors, weights); fmt.Sprintf("%x %v", again.Value, again.Factors) != before {
			t.Fatalf("%s became %+v", before, again)
		}
		for i, f := range s.Factors {
			if !slices.Contains(s.Reasons, f.Reason) || i > 0 && place(f.Measure) <= place(s.Factors[i-1].Measure) {
				t.Fatalf("%+v", s)
			}
		}
	}
}

// A better factor never lowers a score, and a factor that is absent is not a perfect one. // T5
func TestScoresRiseWithFactors(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		factors := []Factor{Completeness(r.IntN(9), 8), SchemaConsistency(r.IntN(9), 8), ResultSize(Rows{Found: r.IntN(9), Expected: 8}), Attempts(1 + r.IntN(4))}
		i := r.IntN(3)
		s := evaluate(GraphQuery, factors...)
		if f := &factors[i]; f.Have < f.Of {
			switch i {
			case 0:
				*f = Completeness(f.Have+1, 8)
			case 1:
				*f = SchemaConsistency(f.Have+1, 8)
			case 2:
				*f = ResultSize(Rows{Found: f.Have + 1, Expected: 8})
			}
		}
		if better := evaluate(GraphQuery, factors...); better.Value < s.Value {
			t.Fatalf("%v became %v: %+v", s.Value, better.Value, factors)
		}
	}
	if with, without := evaluate(GraphQuery, Completeness(1, 2), SchemaConsistency(2, 2)), evaluate(GraphQuery, Completeness(1, 2), SchemaConsistency(0, 0)); with.Value <= without.Value {
		t.Errorf("an absent factor counts: %v, %v", with.Value, without.Value)
	}
	if s := Combine(nil, nil); s.Value != 0 || s.Reasons[0].Level != Unmeasured {
		t.Errorf("a score of nothing: %+v", s)
	}
}

// A score that a later version recorded, with measures unknown here, can be calibrated.
func TestUnknownMeasuresDoNotDisturbCalibration(t *testing.T) {
	t.Parallel()
	s := Score{Raw: 0.7, Factors: []Factor{{Reason{"later", Low, 1, 9}, 0.1}}}
	if got := s.Calibrated(Calibrator{}).Value; got != 0.7 {
		t.Error(got)
	}
}

// A faulty way of scoring does not pass what the real one passes. // T5
func TestScoringIsHeldToItsFactors(t *testing.T) {
	t.Parallel()
	type combine func([]Factor, Weights) Score
	holds := func(c combine) error {
		full, half := SchemaConsistency(8, 8), Completeness(4, 8)
		good, poor := c([]Factor{full}, DefaultWeights(McpTool)), c([]Factor{full, half}, DefaultWeights(McpTool))
		if good.Value <= poor.Value {
			return fmt.Errorf("a poor answer scores %v, a good one %v", poor.Value, good.Value)
		}
		last := math.Nextafter(poor.Value, 1) // the first attempt costs nothing, and earns nothing
		for n := 1; n <= 4; n++ {
			s := c([]Factor{full, half, Attempts(n)}, DefaultWeights(McpTool))
			if s.Value >= last || n > 1 && s.Value < last*0.9 {
				return fmt.Errorf("attempt %d scores %v after %v", n, s.Value, last)
			}
			last = s.Value
		}
		return nil
	}
	if err := holds(Combine); err != nil {
		t.Error(err)
	}
	for name, fault := range map[string]combine{
		"a constant score": func([]Factor, Weights) Score { return Score{Value: 0.8} },
		"attempts ignored": func(f []Factor, w Weights) Score {
			return Combine(slices.DeleteFunc(slices.Clone(f), func(f Factor) bool { return f.Measure == MeasureAttempts }), w)
		},
		"attempts averaged": func(f []Factor, w Weights) Score {
			s := Combine(f, w)
			for _, a := range s.Factors {
				if a.Measure == MeasureAttempts {
					s.Value = (s.Value/a.Value + a.Value) / 2
				}
			}
			return s
		},
		"schema ignored": func(f []Factor, w Weights) Score {
			w[MeasureSchema] = 0
			return Combine(f, w)
		},
	} {
		if holds(fault) == nil {
			t.Errorf("nobody notices %s", name)
		}
	}
}

// Every kind of tool has weights, and the table names each measure once. // T7
func TestTheTableIsWhole(t *testing.T) {
	t.Parallel()
	for i, m := range table {
		if place(m.measure) != i {
			t.Errorf("%s stands in the table twice", m.measure)
		}
	}
	for _, tool := range []Tool{GraphQuery, TextCompletion, McpTool, Prompt, KnowledgeQuery} {
		if w := DefaultWeights(tool); w[MeasureSchema] <= 0 || w[MeasureAttempts] != 0 {
			t.Errorf("%s: %v", tool, w)
		}
	}
}

// What is recorded of a score gives the same sentences when it is read again. // T50
func TestScoresSurviveJSON(t *testing.T) {
	t.Parallel()
	s := evaluate(GraphQuery, ResultSize(Rows{Found: 3, Expected: 4}), Attempts(2))
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read Score
	if err := json.Unmarshal(data, &read); err != nil || fmt.Sprint(read) != fmt.Sprint(s) {
		t.Errorf("%s became %+v (%v)", data, read, err)
	}
}

func ExampleCombine() {
	s := Combine([]Factor{
		ResultSize(Rows{Found: 12, Expected: 15}),
		SchemaConsistency(36, 36),
		Attempts(2),
	}, DefaultWeights(GraphQuery))
	fmt.Println(s.Value)
	for _, r := range s.Reasons {
		fmt.Println(r.In("en"))
	}
	// Output:
	// 0.8924
	// Fewer rows than expected: 12 of 15 (80%).
	// Attempt 2 gave this answer; each retry counts against it.
	// All values are of their declared kind: 36 of 36.
}

var observed = []Factor{
	ResultSize(Rows{Found: 12, Expected: 15}), Completeness(34, 36), SchemaConsistency(36, 36),
	Agreement("a", []string{"a", "b"}), VectorSimilarity([]float64{0.9, 0.8}, 0.7),
	EntityPrecision([]string{"a"}, []string{"a"}), Coherence(Text{Answer: "a"}), Attempts(2),
}

func BenchmarkCombine(b *testing.B) {
	b.ReportAllocs()
	w := DefaultWeights(GraphQuery)
	for b.Loop() {
		Combine(observed, w)
	}
}
