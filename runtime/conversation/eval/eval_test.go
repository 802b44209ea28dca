package eval

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/conversation/dialog"
)

func bits(seed uint64) func() uint64 { return rand.New(rand.NewPCG(seed, 2)).Uint64 }

// made is a run with a case for each text: + is a check that passes, - one that fails.
func made(cases ...string) *Run {
	r := &Run{Schema: Schema, Setup: Setup{Dataset: "x.yaml", Digest: "d"}, Threshold: 90, Budget: 1000}
	for i, verdicts := range cases {
		c := Case{ID: fmt.Sprintf("C-%d", i+1), Category: dialog.Categories[i%2], Said: []string{"q"}, Told: []string{"a"}, Tokens: 10}
		for j, v := range verdicts {
			c.Checks = append(c.Checks, dialog.Verdict{Check: fmt.Sprintf("tells %d", j), Pass: v == '+'})
		}
		r.Cases = append(r.Cases, c)
	}
	r.Add(10 * len(cases))
	return r
}

// M46: intervals of small datasets, worked out by hand.
func TestIntervalsOfSmallDatasets(t *testing.T) {
	t.Parallel()
	many := func(n, d int) []int { return slices.Repeat([]int{d}, n) }
	for _, c := range []struct {
		name         string
		more, checks []int
		low, high    float64
		ok           bool
	}{
		{"five cases are too few, however they agree", many(5, 1), many(5, 2), 0, 0, false},
		{"none", nil, nil, 0, 0, false},
		{"six that agree", many(6, 1), many(6, 2), 0.5, 0.5, true},
		{"six that are alike", many(6, 0), many(6, 2), 0, 0, true},
		// Of 64 parts one is left off at either end. It is the one without a case below, and
		// the case that went down stands alone at the next.
		{"five up and one down", []int{1, 1, 1, 1, 1, -1}, many(6, 1), -1, 1, true},
		// No part is below 0, and those without one of the cases that went up are 1 of 32: more than 2.5 %.
		{"five of ten up", append(many(5, 1), many(5, 0)...), many(10, 1), 0, 1, true},
		{"forty that agree", many(40, 2), many(40, 3), 2.0 / 3, 2.0 / 3, true},
	} {
		low, high, ok := interval(c.more, c.checks, bits(1))
		if math.Abs(low-c.low) > 1e-9 || math.Abs(high-c.high) > 1e-9 || ok != c.ok {
			t.Errorf("%s: %v to %v, %v", c.name, low, high, ok)
		}
	}
	if low, _, _ := interval(append(many(6, 1), many(4, 0)...), many(10, 1), bits(1)); low <= 0 {
		t.Errorf("six of ten up: %v", low)
	}
}

// M46: 0 lies outside the interval exactly where the sign-flip test rejects no
// difference; here that test is carried out by itself.
func TestIntervalsAgreeWithTheSignFlipTest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	outside := 0
	for range 400 {
		n := 6 + r.IntN(6)
		more, checks := make([]int, n), make([]int, n)
		sum := 0
		for i := range n {
			checks[i] = 1 + r.IntN(4)
			more[i] = min(r.IntN(2*checks[i]+1)-checks[i]+1, checks[i])
			sum += more[i]
		}
		atLeast := 0
		for signs := range 1 << n {
			flipped := 0
			for i := range n {
				flipped += more[i] * (1 - 2*(signs>>i&1))
			}
			if flipped >= sum {
				atLeast++
			}
		}
		low, _, _ := interval(more, checks, nil)
		if rejects := atLeast <= 1<<n/40; rejects != (low > 0) {
			t.Fatalf("%v of %v: %d of %d, and the interval begins at %v", more, checks, atLeast, 1<<n, low)
		}
		if low > 0 {
			outside++
		}
	}
	if outside < 20 || outside > 380 {
		t.Errorf("of 400 intervals %d lie above 0, which tries little", outside)
	}
}

// M46: of runs that differ by chance alone, no more than 1 in 20 is called better; of
// intervals, no fewer than 90 in 100 hold the difference.
func TestIntervalsHoldTheDifference(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	run := func(n, tries int, a, b float64) (holds, zeroOut int) {
		for range tries {
			more, checks := make([]int, n), slices.Repeat([]int{3}, n)
			for i := range n {
				hard := 0.5 + r.Float64() // what the checks of a case have in common
				for range 3 {
					if r.Float64() < b*hard {
						more[i]++
					}
					if r.Float64() < a*hard {
						more[i]--
					}
				}
			}
			low, high, _ := interval(more, checks, r.Uint64)
			if low <= b-a && b-a <= high {
				holds++
			}
			if low > 0 || high < 0 {
				zeroOut++
			}
		}
		return holds, zeroOut
	}
	if _, claimed := run(12, 600, 0.5, 0.5); claimed > 42 { // 30 are expected, and 42 are two deviations more
		t.Errorf("of 600 pairs that differ by chance, %d are told apart", claimed)
	}
	if holds, claimed := run(20, 100, 0.4, 0.6); holds < 90 || claimed == 0 {
		t.Errorf("of 100 intervals %d hold the difference, and %d tell it", holds, claimed)
	}
}

// M46: A and B change places, and so does all that is told; a run is as good as itself;
// what is drawn is the same each time.
func TestComparisonsAreFair(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for range 30 {
		n := 1 + r.IntN(30)
		some := func() *Run {
			cases := make([]string, n)
			for i := range cases {
				for range 1 + i%3 {
					cases[i] += string("+-"[r.IntN(2)])
				}
			}
			return made(cases...)
		}
		a, b := some(), some()
		ab, err := Compare(a, b, bits(1))
		if err != nil {
			t.Fatal(err)
		}
		ba, _ := Compare(b, a, bits(1))
		for _, p := range append(slices.Clone(ab.Categories), ab.Overall) {
			q := ba.Overall
			for _, c := range ba.Categories {
				if c.Name == p.Name {
					q = c
				}
			}
			turned := map[string]string{"a": "b", "b": "a", "none": "none"}
			if p.Difference != -q.Difference || p.Up != q.Down || p.A != q.B || p.Verdict != turned[q.Verdict] || (p.Interval == nil) != (q.Interval == nil) ||
				p.Interval != nil && (p.Interval[0] != -q.Interval[1] || p.Interval[1] != -q.Interval[0]) {
				t.Fatalf("%+v %v\n%+v %v", p, p.Interval, q, q.Interval)
			}
		}
		self, err := Compare(a, a, bits(1))
		if err != nil || self.Overall.Difference != 0 || self.Overall.Verdict != "none" || n >= 6 && *self.Overall.Interval != [2]float64{} {
			t.Fatalf("%v %+v", err, self.Overall)
		}
		if again, _ := Compare(a, b, bits(1)); !reflect.DeepEqual(again, ab) {
			t.Fatal("it is compared differently the second time")
		}
	}
}

// M46: what is better is said, what cannot be told is not, and what differs stands beside it.
func TestAComparisonSaysWhichIsBetter(t *testing.T) {
	t.Parallel()
	a, b := made(slices.Repeat([]string{"+-"}, 20)...), made(slices.Repeat([]string{"++"}, 20)...)
	a.Setup.Model, b.Setup.Model, b.Setup.Prompt = "small", "large\x1b[2J", "system.v4 "+strings.Repeat("a", 64)
	c, err := Compare(a, b, bits(1))
	if err != nil {
		t.Fatal(err)
	}
	c.A, c.B = "a.json", "b.json"
	text := c.String()
	for _, want := range []string{`model      A small, B large\x1b[2J`, "prompt     A none, B system.v4 aaaaaaaaaaaa\n", "in all     50.00 % and 100.00 %, +50.00 points, 95 % interval +50.00 to +50.00: B is better", "tools "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if c, err = Compare(b, a, bits(1)); err != nil || c.Overall.verdict() != "A is better" {
		t.Error(c, err)
	}
	if c, err = Compare(made("+", "+"), made("-", "-"), bits(1)); err != nil || c.Overall.verdict() != "no difference can be told from 2 cases; six are needed at least" {
		t.Error(c, err)
	}
	other := made("+")
	other.Setup.Digest = "e"
	for name, b := range map[string]*Run{"two datasets": other, "the same cases and checks": made("+", "+")} {
		if _, err := Compare(made("+"), b, bits(1)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// M46: checks that passed and fail now are told by their case, and those that read alike
// are told apart; a case that says something else is another case.
func TestRegressionsAreListed(t *testing.T) {
	t.Parallel()
	then, now := made("++", "-+", "+", "+", "+"), made("-+", "++", "+", "+", "+")
	for _, r := range []*Run{then, now} { // two checks that read alike
		r.Cases[0].Checks[1].Check = r.Cases[0].Checks[0].Check
	}
	now.Cases[0].Checks[0].Got = "nothing\nof it"
	now.Cases[3].Said = []string{"another question"}
	now.Cases[4].ID, now.Cases[4].Checks[0].Check = "C-5", "tells something else"
	now.Setup.Digest = "e"
	c, err := Since(then, now)
	if err != nil {
		t.Fatal(err)
	}
	want := &Changes{Then: then.total(""), Now: now.total(""), Edited: true,
		Regressed: []Check{{"C-1", "tells 0", "nothing\nof it"}}, Mended: []Check{{"C-2", "tells 0", ""}},
		OnlyThen: []Check{{"C-4", "", ""}, {"C-5", "tells 0", ""}}, OnlyNow: []Check{{"C-4", "", ""}, {"C-5", "tells something else", ""}}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v", c)
	}
	if text := c.String(); !strings.Contains(text, "WORSE   C-1            tells 0; got nothing of it\n") || !strings.Contains(text, "1 check passed then and not now.") {
		t.Error(text)
	}
	if c, err = Since(then, then); err != nil || len(c.Regressed)+len(c.Mended)+len(c.OnlyThen)+len(c.OnlyNow) > 0 || !strings.Contains(c.String(), "Nothing that passed then fails now.") {
		t.Errorf("%+v %v", c, err)
	}
	now.Setup.Dataset = "y.yaml"
	if err := then.Fits(now.Setup); err == nil {
		t.Error("a run of another dataset fits")
	}
	for i := range now.Cases {
		now.Cases[i].ID += "x"
	}
	if _, err := Since(then, now); err == nil {
		t.Error("nothing is compared, and nobody is told")
	}
}

// M46: a kept run is read as it was printed, and what is no kept run is told.
func TestKeptRunsAreRead(t *testing.T) {
	t.Parallel()
	r := made("+-", "+")
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Read(text); err != nil || !reflect.DeepEqual(got, r) {
		t.Fatalf("%v\n%+v", err, got)
	}
	whole := string(text)
	for _, c := range []struct{ text, says string }{
		{"", "it is empty"},
		{" \n", "it is empty"},
		{whole[:len(whole)/2], "breaks off"},
		{"as: clara", "not a JSON object"},
		{"[1]", "not a JSON object"},
		{"{}", `its schema is ""`},
		{`{"schema":"verbatim/run@1"}`, `its schema is "verbatim/run@1"`},
		{strings.Replace(whole, "eval@1", "eval@2", 1), `its schema is "verbatim/eval@2"`},
		{`{"schema":"verbatim/eval@1","cases":3}`, "its fields"},
		{`{"schema":"verbatim/eval@1","cases":[]}`, "an older version"},
		{whole + whole, "a second value begins here"},
		{strings.Replace(whole, `"digest":"d"`, `"digest":""`, 1), "an older version"},
		{`{"schema":"verbatim/eval@1","setup":{"digest":"d"}}`, "no cases"},
		{strings.Replace(whole, "C-2", "C-1", 1), "one id"},
		{strings.Replace(whole, `"pass":true}`, `"pass":false}`, 1), "2 of 3 checks passed, and its cases that 1 of 3"},
	} {
		if _, err := Read([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.60s: %v, and not %q", c.text, err, c.says)
		}
	}
}

// M31: what tokens cost is worked out from two prices.
func TestPricesAreRead(t *testing.T) {
	t.Parallel()
	var p Price
	if err := p.Set("0.15, 0.6"); err != nil || p.String() != "0.15,0.6" || math.Abs(p.Of(2_000_000, 500_000)-0.6) > 1e-9 {
		t.Error(p, err)
	}
	for _, text := range []string{"", "1", "1,", "a,b", "-1,2", "NaN,1", "1,Inf", "1,2,3"} {
		if new(Price).Set(text) == nil {
			t.Errorf("%q is a price", text)
		}
	}
}

// M46: digests tell datasets apart by what they say and expect.
func TestDigestsOfDatasets(t *testing.T) {
	t.Parallel()
	read := func(text string) *dialog.Dataset {
		t.Helper()
		set, err := dialog.ReadDataset(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	const text = "as: ann\ncases:\n- {id: X, query: q, expected_behavior: [{told: a}, {not_told: b}]}\n"
	is := Digest(read(text), []string{"data"})
	if same := Digest(read("# edited\nthreshold: 50\nbudget: 7\nrecording: y\n"+text), []string{"data"}); same != is {
		t.Error("a threshold makes another dataset")
	}
	for _, other := range []string{strings.Replace(text, "ann", "bob", 1), strings.Replace(text, "query: q", "turns: [q, r]", 1), strings.Replace(text, "not_told", "told", 1)} {
		if Digest(read(other), []string{"data"}) == is {
			t.Errorf("it is not told apart: %s", other)
		}
	}
	if Digest(read(text), []string{"da", "ta"}) == is {
		t.Error("data is not told apart")
	}
}
