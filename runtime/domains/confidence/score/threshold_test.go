package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func ask(x float64) *float64 { return &x }

// The rule for thresholds, case by case. // T21 T22
func TestThresholdsFollowTheRule(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		demand Demand
		want   float64
	}{
		"a graph query":                      {Demand{Tool: GraphQuery}, 0.8},
		"a text completion":                  {Demand{Tool: TextCompletion}, 0.7},
		"a foreign tool":                     {Demand{Tool: McpTool}, 0.6},
		"a prompt":                           {Demand{Tool: Prompt}, 0.75},
		"a tool of no known kind":            {Demand{Tool: "x"}, 0.75},
		"a change":                           {Demand{Tool: GraphQuery, Writes: true}, 0.9},
		"a change by a foreign tool":         {Demand{Tool: McpTool, Writes: true}, 0.7},
		"a good record":                      {Demand{Tool: McpTool, Record: Record{100, 100}}, 0.6},
		"a fair record":                      {Demand{Tool: McpTool, Record: Record{80, 100}}, 0.65},
		"a bad record":                       {Demand{Tool: McpTool, Record: Record{0, 100}}, 0.7},
		"a bad record that is short":         {Demand{Tool: McpTool, Record: Record{0, MinOutcomes - 1}}, 0.6},
		"a change after a bad record":        {Demand{Tool: GraphQuery, Writes: true, Record: Record{0, 100}}, 0.95},
		"a request lowers for a read":        {Demand{Tool: GraphQuery, Request: ask(0.1)}, 0.1},
		"a request raises for a read":        {Demand{Tool: GraphQuery, Request: ask(1)}, 1},
		"a request does not lower for write": {Demand{Tool: GraphQuery, Writes: true, Request: ask(0.1)}, 0.9},
		"a request raises for a write":       {Demand{Tool: GraphQuery, Writes: true, Request: ask(0.97)}, 0.97},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := Threshold(c.demand); got != c.want || err != nil {
				t.Errorf("%v (%v), want %v", got, err, c.want)
			}
		})
	}
}

// A request for a threshold that is none, and a record that cannot be, are errors. // T22 T52
func TestThresholdsOutOfRangeAreErrors(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{math.NaN(), -0.01, 1.01, math.Inf(1), math.Inf(-1)} {
		for _, writes := range []bool{false, true} {
			if got, err := Threshold(Demand{Writes: writes, Request: ask(x)}); err == nil {
				t.Errorf("%v becomes %v", x, got)
			}
		}
	}
	for _, r := range []Record{{2, 1}, {-1, 5}, {0, -1}} {
		if _, err := Threshold(Demand{Record: r}); err == nil {
			t.Errorf("%v is a record", r)
		}
	}
}

// judged are outcomes at a score, so many of them right.
func judged(score float64, right, all int) []Outcome {
	o := make([]Outcome, all)
	for i := range o {
		o[i] = Outcome{score, i < right}
	}
	return o
}

// A threshold moves when the history speaks clearly, by a step, and within its bounds. // T47
func TestThresholdsAdaptWithReasons(t *testing.T) {
	t.Parallel()
	b := Bounds{0.5, 0.9, 0.05}
	for name, c := range map[string]struct {
		current float64
		history []Outcome
		bounds  Bounds
		want    float64
		level   Level
	}{
		"many accepted are wrong":         {0.7, judged(0.8, 60, 100), b, 0.75, Raised},
		"many are wrong, near the bound":  {0.88, judged(0.9, 60, 100), b, 0.9, Raised},
		"many are wrong, at the bound":    {0.9, judged(0.95, 60, 100), b, 0.9, Bound},
		"those just below are right":      {0.7, append(judged(0.8, 98, 100), judged(0.66, 50, 50)...), b, 0.65, Lowered},
		"those just below are wrong":      {0.7, append(judged(0.8, 98, 100), judged(0.66, 10, 50)...), b, 0.7, Kept},
		"none are just below":             {0.7, judged(0.8, 100, 100), b, 0.7, Kept},
		"all rejected were right":         {0.9, judged(0.87, 99, 100), b, 0.85, Lowered},
		"as right as they should be":      {0.7, append(judged(0.8, 92, 100), judged(0.66, 46, 50)...), b, 0.7, Kept},
		"a history that is short":         {0.7, judged(0.8, 0, MinOutcomes-1), b, 0.7, Short},
		"few accepted, although all fail": {0.7, append(judged(0.8, 0, 20), judged(0.1, 0, 100)...), b, 0.7, Kept},
		"no room to move":                 {0.7, judged(0.8, 0, 100), Bounds{0.7, 0.7, 0.1}, 0.7, Bound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, why, err := Adapt(c.current, c.history, c.bounds)
			if math.Abs(got-c.want) > 1e-12 || why.Level != c.level || err != nil {
				t.Errorf("%v because %s (%v), want %v because %s", got, why.Level, err, c.want, c.level)
			}
			if said := why.In("en"); said == "threshold/"+string(why.Level) {
				t.Errorf("no words for %s", said)
			}
		})
	}
}

// Whatever the history, a proposal is within its bounds and at most a step away. // T47
func TestAProposalKeepsToItsBounds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 60))
	moved := 0
	for range 3000 {
		low := r.Float64()
		b := Bounds{low, low + (1-low)*r.Float64(), r.Float64() / 5}
		current := b.Min + (b.Max-b.Min)*r.Float64()
		rate := r.Float64()
		history := simulated(r, r.IntN(200), func(float64) float64 { return rate })
		for i := range history {
			history[i].Score = anyFloat(r)
		}
		got, why, err := Adapt(current, history, b)
		if err != nil || !(got >= b.Min && got <= b.Max) || math.Abs(got-current) > b.Step+1e-12 {
			t.Fatalf("%v from %v within %+v (%v)", got, current, b, err)
		}
		if got != current {
			moved++
			if len(history) < MinOutcomes || why.Level != Raised && why.Level != Lowered {
				t.Fatalf("moved after %d outcomes: %v", len(history), why)
			}
		}
	}
	if moved < 100 {
		t.Errorf("only %d of 3000 moved", moved)
	}
	for _, x := range odd {
		for i, b := range []Bounds{{x, 0.9, 0.1}, {0.1, x, 0.1}, {0.1, 0.9, x}} {
			if got, _, err := Adapt(0.5, nil, b); err == nil && !(got >= b.Min && got <= b.Max && b.Step >= 0 && b.Step <= 1) {
				t.Errorf("%v in place %d is a bound", x, i)
			}
		}
		if _, _, err := Adapt(x, nil, Bounds{0.4, 0.6, 0.1}); (err == nil) != (x == 0.5) {
			t.Errorf("%v is a threshold: %v", x, err)
		}
	}
}

// Proposals that are followed settle, and the accepted answers are then right as often as
// they should be. // T47
func TestFollowedProposalsSettle(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 60))
	threshold, moves := 0.5, 0
	for range 60 {
		history := simulated(r, 1000, func(s float64) float64 { return s })
		next, _, err := Adapt(threshold, history, Bounds{0.3, 0.95, 0.02})
		if err != nil {
			t.Fatal(err)
		}
		if moves++; next == threshold {
			moves = 0
		}
		threshold = next
	}
	right, all := acceptedAt(threshold, simulated(r, 20_000, func(s float64) float64 { return s }))
	if share := float64(right) / float64(all); math.Abs(share-targetShare) > 0.03 || moves > 5 {
		t.Errorf("at %.2f a share of %.3f is right, after %d moves in a row", threshold, share, moves)
	}
}

func ExampleAdapt() {
	history := make([]Outcome, 100)
	for i := range history {
		history[i] = Outcome{Score: 0.8, Right: i < 60}
	}
	next, why, _ := Adapt(0.7, history, Bounds{Min: 0.5, Max: 0.9, Step: 0.05})
	fmt.Println(next, why.In("en"))
	// Output: 0.75 Raised, because too few of the accepted answers were right: 60 of 100 (60%).
}
