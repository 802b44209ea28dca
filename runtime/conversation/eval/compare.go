package eval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"verbatim/runtime/conversation/dialog"
	"verbatim/stores/receipt"
)

// A Comparison is two runs of one dataset, side by side.
type Comparison struct {
	Schema  string       `json:"schema"`
	A       string       `json:"a"` // the names of their files
	B       string       `json:"b"`
	Differs []Difference `json:"differs,omitempty"`
	Overall Paired       `json:"overall"`
	// Categories are those of the cases, in the order of dialog.Categories.
	Categories []Paired `json:"categories,omitempty"`
}

// Paired compares the same cases in two runs.
type Paired struct {
	Name  string `json:"name,omitempty"` // of a category
	Cases int    `json:"cases"`
	Up    int    `json:"up"`   // cases with more checks passed in B
	Down  int    `json:"down"` // cases with fewer
	A     Total  `json:"a"`
	B     Total  `json:"b"`
	// Difference is the score of B minus that of A, in points, and Interval contains it in 95 of 100
	// datasets; with fewer than six cases there is no interval.
	Difference float64     `json:"difference"`
	Interval   *[2]float64 `json:"interval,omitempty"`
	Verdict    string      `json:"verdict"` // a, b, or none
}

// Compare puts two runs side by side. draw is a source of random bits: from the same
// bits comes the same comparison.
func Compare(a, b *Run, draw func() uint64) (*Comparison, error) {
	if a.Setup.Digest != b.Setup.Digest {
		return nil, fmt.Errorf("they are of two datasets, or of two versions of one: %q and %q", a.Setup.Dataset, b.Setup.Dataset)
	}
	_, ina := a.places()
	inb, of := b.places()
	same := len(ina) == len(of)
	for _, at := range inb {
		_, has := ina[at]
		same = same && has
	}
	if !same {
		return nil, errors.New("they do not hold the same cases and checks: one of them was edited")
	}
	c := &Comparison{Schema: "verbatim/eval-compare@1", Differs: differences(a, b), Overall: pair(a, b, "", draw)}
	for _, name := range dialog.Categories {
		if p := pair(a, b, name, draw); p.Cases > 0 {
			c.Categories = append(c.Categories, p)
		}
	}
	return c, nil
}

func pair(a, b *Run, category string, draw func() uint64) Paired {
	p := Paired{Name: category, A: a.total(category), B: b.total(category), Verdict: "none"}
	other := map[string]int{}
	for i := range b.Cases {
		other[b.Cases[i].ID] = b.Cases[i].passed()
	}
	var more, checks []int
	for i := range a.Cases {
		c := &a.Cases[i]
		if category != "" && c.Category != category {
			continue
		}
		d := other[c.ID] - c.passed()
		more, checks = append(more, d), append(checks, len(c.Checks))
		switch {
		case d > 0:
			p.Up++
		case d < 0:
			p.Down++
		}
	}
	p.Cases = len(more)
	p.Difference = round(100 * float64(p.B.Passed-p.A.Passed) / float64(max(1, p.A.Checks)))
	if low, high, ok := interval(more, checks, draw); ok {
		p.Interval = &[2]float64{round(100 * low), round(100 * high)}
		switch {
		case low > 0:
			p.Verdict = "b"
		case high < 0:
			p.Verdict = "a"
		}
	}
	return p
}

// enumerated is the greatest number of cases for which all subsets are examined; for more cases, 2
// to that power subsets are drawn.
const enumerated = 16

// interval bounds the difference of two runs with 95 % confidence, given for each case the
// difference of passed checks and the number of checks. A case is taken or left as a whole: its
// checks are not independent of one another.
//
// These are typical values (J. A. Hartigan, "Using Subsample Values as Typical Values",
// Journal of the American Statistical Association 64, 1969, pages 1303 to 1317): the
// difference in each part of the cases is worked out, and 2.5 % are left off at either
// end. 0 lies outside exactly where the paired sign-flip test of no difference rejects it
// at 5 %. A bootstrap over cases was tried and dropped: four cases of ten that all went
// up lie above 0 for it, which by chance alone happens once in eight times.
//
// Nothing can be told from the part that holds no case, so that it lies beyond both
// ends. With fewer than six cases it is more than 2.5 % of all parts: ok is false.
func interval(more, checks []int, draw func() uint64) (low, high float64, ok bool) {
	n := len(more)
	parts := 1 << min(n, enumerated)
	all := make([]float64, 0, parts)
	for k := range parts {
		d, of, bits := 0, 0, uint64(k)
		for i := range n {
			if n > enumerated && i%64 == 0 {
				bits = draw()
			}
			if bits>>(i%64)&1 == 1 {
				d, of = d+more[i], of+checks[i]
			}
		}
		if of > 0 {
			all = append(all, float64(d)/float64(of))
		}
	}
	cut := parts/40 - (parts - len(all))
	if cut < 0 {
		return 0, 0, false
	}
	slices.Sort(all)
	return all[cut], all[len(all)-1-cut], true
}

// String tells the comparison.
func (c *Comparison) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "A  %s: %s\nB  %s: %s\n", receipt.Safe(c.A), c.Overall.A, receipt.Safe(c.B), c.Overall.B)
	tellDifferences(&b, c.Differs, "A", "B")
	for _, p := range append(slices.Clone(c.Categories), c.Overall) {
		name := p.Name
		if name == "" {
			name = "in all"
		}
		fmt.Fprintf(&b, "%-9s  %.2f %% and %.2f %%, %+.2f points", name, p.A.Score, p.B.Score, p.Difference)
		if p.Interval != nil {
			fmt.Fprintf(&b, ", 95 %% interval %+.2f to %+.2f", p.Interval[0], p.Interval[1])
		}
		fmt.Fprintf(&b, ": %s\n", p.verdict())
	}
	return b.String()
}

func (p *Paired) verdict() string {
	switch p.Verdict {
	case "a":
		return "A is better"
	case "b":
		return "B is better"
	}
	text := "no difference can be told from " + receipt.Counted(p.Cases, "case")
	if p.Interval == nil {
		text += "; six are needed at least"
	}
	return text
}
