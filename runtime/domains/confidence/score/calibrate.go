package score

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
)

// An Outcome is a score that was given, and whether the answer proved right.
type Outcome struct {
	Score float64 `json:"score"` // Score.Raw, for fitting a Calibrator
	Right bool    `json:"right"`
}

// MinOutcomes is the least number of outcomes from which anything is learnt.
const MinOutcomes = 30

// A Calibrator maps the raw scores of one tool to the share of its answers that proved right. It is
// immutable, may be shared, and never puts a lower score above a higher one. The zero Calibrator
// leaves scores unchanged.
type Calibrator struct{ blocks []Block }

// A Block is a range of raw scores that a Calibrator maps to one value. Between two blocks it
// interpolates linearly, and beyond the first and the last one it is constant.
type Block struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Right float64 `json:"right"` // the value of these scores
	Count int     `json:"count"` // the number of outcomes in it
}

// Fit calibrates a tool on its outcomes by isotonic regression. With fewer than MinOutcomes it
// leaves scores unchanged. It does so too unless calibration lowers the Brier score of held-out
// outcomes by more than one standard error: good scores must not be replaced by chance. The order
// of the outcomes makes no difference.
func Fit(outcomes []Outcome) (Calibrator, error) {
	for i, o := range outcomes {
		if !(o.Score >= 0 && o.Score <= 1) {
			return Calibrator{}, fmt.Errorf("outcome %d: score %v is not within 0 and 1", i, o.Score)
		}
	}
	sorted := slices.SortedFunc(slices.Values(outcomes), func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(one(a.Right), one(b.Right)))
	})
	if len(sorted) < MinOutcomes || !improves(sorted) {
		return Calibrator{}, nil
	}
	return isotonic(sorted), nil
}

// folds is the number of parts into which outcomes are divided; each is held out once.
const folds = 5

// improves reports whether calibration, fitted without an outcome, is closer to it than its raw
// score is, by more than one standard error of the mean gain.
func improves(sorted []Outcome) bool {
	var sum, squares float64
	for fold := range folds {
		var kept, heldOut []Outcome
		for i, o := range sorted {
			if i%folds == fold {
				heldOut = append(heldOut, o)
			} else {
				kept = append(kept, o)
			}
		}
		c := isotonic(kept)
		for _, o := range heldOut {
			before, after := o.Score-one(o.Right), c.Calibrate(o.Score)-one(o.Right)
			gain := before*before - after*after
			sum += gain
			squares += gain * gain
		}
	}
	n := float64(len(sorted))
	mean := sum / n
	return mean > math.Sqrt(max(0, squares/n-mean*mean)/n)
}

// shrinkage is the number of outcomes that confirm the raw score and are added to each block. They
// matter for blocks with few outcomes.
const shrinkage = 10

// A pool is a Block that is being built.
type pool struct {
	from, to             float64
	score, right, weight float64 // the mean score, the share of right answers, and the number of outcomes
}

// isotonic pools outcomes, lowest score first, into blocks whose shares of right answers
// rise, draws each block towards its own score, and makes the shares rise again.
func isotonic(sorted []Outcome) Calibrator {
	pools := make([]pool, 0, len(sorted))
	for _, o := range sorted {
		p := pool{o.Score, o.Score, o.Score, one(o.Right), 1}
		if last := len(pools) - 1; last >= 0 && pools[last].to == o.Score {
			pools[last] = pools[last].with(p)
		} else {
			pools = append(pools, p)
		}
	}
	pools = pooled(pools)
	for i, p := range pools {
		pools[i].right = (p.right*p.weight + p.score*shrinkage) / (p.weight + shrinkage)
	}
	var c Calibrator
	for _, p := range pooled(pools) {
		c.blocks = append(c.blocks, Block{p.from, p.to, unit(p.right), int(p.weight)})
	}
	return c
}

// pooled is the pool-adjacent-violators algorithm: neighbours whose shares do not rise are merged.
func pooled(pools []pool) []pool {
	var out []pool
	for _, p := range pools {
		for len(out) > 0 && out[len(out)-1].right >= p.right {
			p = out[len(out)-1].with(p)
			out = out[:len(out)-1]
		}
		out = append(out, p)
	}
	return out
}

// with merges a pool with the next one.
func (p pool) with(q pool) pool {
	w := p.weight + q.weight
	return pool{p.from, q.to, (p.score*p.weight + q.score*q.weight) / w, (p.right*p.weight + q.right*q.weight) / w, w}
}

// Calibrate returns the share of right answers for a raw score.
func (c Calibrator) Calibrate(raw float64) float64 {
	raw = unit(raw)
	b := c.blocks
	if len(b) == 0 {
		return raw
	}
	next := sort.Search(len(b), func(i int) bool { return b[i].From > raw })
	switch {
	case next == 0:
		return b[0].Right
	case next == len(b) || raw <= b[next-1].To:
		return b[next-1].Right
	}
	low, high := b[next-1], b[next]
	at := (raw - low.To) / (high.From - low.To)
	return min(max(low.Right+float64(at*(high.Right-low.Right)), low.Right), high.Right)
}

// Blocks returns the blocks of the Calibrator, lowest scores first. Without blocks, scores stay
// unchanged.
func (c Calibrator) Blocks() []Block { return slices.Clone(c.blocks) }

// MarshalJSON writes the blocks.
func (c Calibrator) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string][]Block{"blocks": append([]Block{}, c.blocks...)})
}

// UnmarshalJSON reads what MarshalJSON wrote, and refuses everything else: fields that are
// missing or unknown, numbers out of range, ranges that overlap, and values that fall.
func (c *Calibrator) UnmarshalJSON(data []byte) error {
	var read struct {
		Blocks *[]struct {
			From, To, Right *float64
			Count           *int
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&read); err != nil {
		return fmt.Errorf("calibrator: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("calibrator: more than one value")
	}
	if read.Blocks == nil {
		return errors.New("calibrator: blocks are missing")
	}
	var blocks []Block
	last := Block{To: -1}
	for i, b := range *read.Blocks {
		if b.From == nil || b.To == nil || b.Right == nil || b.Count == nil {
			return fmt.Errorf("calibrator: block %d lacks its from, to, right or count", i)
		}
		next := Block{*b.From, *b.To, *b.Right, *b.Count}
		switch {
		case !(next.From >= 0 && next.From <= next.To && next.To <= 1 && next.Right >= 0 && next.Right <= 1):
			return fmt.Errorf("calibrator: block %d is not within 0 and 1", i)
		case next.Count < 1:
			return fmt.Errorf("calibrator: block %d has no outcomes", i)
		case next.From <= last.To:
			return fmt.Errorf("calibrator: block %d does not stand above the one before", i)
		case next.Right < last.Right:
			return fmt.Errorf("calibrator: block %d falls below the one before", i)
		}
		blocks, last = append(blocks, next), next
	}
	c.blocks = blocks
	return nil
}

func one(right bool) float64 {
	if right {
		return 1
	}
	return 0
}
