package intent

import (
	"math"

	"verbatim/verbs"
)

// Calibration: each palette adapts the shipped model with its own phrases. Each phrase is left out
// and matched, alone and among other words; and matched with its verb removed, when nothing is the
// right answer.

// An example is a sentence with its known meaning.
type example struct {
	all    []candidate
	meant  int // index of the meant verb, -1 if it is missing
	weight float64
}

// Parameters of the fit.
const (
	mostExamples = 120 // phrases of a palette that are looked for
	pull         = 30  // towards the shipped model, in examples
	steps        = 40
	learning     = 0.08
)

// learn fits the shipped model to the palettes.
func (ix *Index) learn() *model {
	if ix.matcher.large() {
		return many.calibrated(ix.examples(mostExamples))
	}
	return fitted(ix.examples(mostExamples), shipped(len(ix.verbs)), pull, steps)
}

// examples makes examples of at most so many phrases.
func (ix *Index) examples(most int) (all []example) {
	m := ix.matcher
	r := &Reader{ix: ix, may: make([]bool, len(ix.verbs))}
	for i, v := range ix.verbs {
		r.may[i] = v.Deprecated == nil && !v.Internal && !v.NeedsRecord()
	}
	seed := uint32(1)
	random := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	step := max(1, len(m.phrases)/most)
	for p := random(step); p < len(m.phrases); p += step {
		v := m.phrases[p].verb
		if !r.may[v] || ix.templates[p].named {
			continue
		}
		c, q := ix.saidAs(int32(p))
		meant := func(q *query, left int32, weight float64) {
			c.sought = q
			e := example{all: r.signsOf(c, left), meant: -1, weight: weight}
			for k := range e.all {
				if e.all[k].verb == v && r.may[v] {
					e.meant = k
				}
			}
			all = append(all, e)
		}
		meant(q, int32(p), 1)
		if m.large() {
			continue // others say nothing of how much features tell
		}
		other := &query{}
		for range 3 {
			more := m.phrases[random(len(m.phrases))].words
			if len(more) > 0 {
				other.words = append(other.words, m.list[more[random(len(more))]])
			}
		}
		other.words = append(other.words, "\x00", "\x01")
		other.kinds = make([]uint64, len(other.words))
		first, second := q, other
		if random(2) == 0 {
			first, second = other, q
		}
		meant(first.then(second), int32(p), 0.5)
		// Without its verb the sentence means nothing.
		r.may[v] = false
		meant(q, -1, 0.25)
		r.may[v] = true
		// A sentence without its words means nothing.
		empty := &query{kinds: make([]uint64, len(q.words))}
		for i, w := range q.words {
			if ordinary(w) == 1 {
				w = string(rune(i))
			}
			empty.words = append(empty.words, w)
		}
		c.sought = empty
		all = append(all, example{all: r.signsOf(c, int32(p)), meant: -1, weight: 0.2})
	}
	return all
}

func (q *query) then(o *query) *query {
	all := &query{words: append(append([]string{}, q.words...), o.words...), kinds: append(append([]uint64{}, q.kinds...), o.kinds...)}
	if q.masked != nil || o.masked != nil {
		all.masked = append(append([]string{}, q.shown()...), o.shown()...)
	}
	return all
}

func (q *query) shown() []string {
	if q.masked != nil {
		return q.masked
	}
	return q.words
}

// saidAs returns a phrase as a sentence with a value in each place.
func (ix *Index) saidAs(p int32) (*clause, *query) {
	t := &ix.templates[p]
	c, q := &clause{}, &query{}
	for i, w := range t.words {
		if w.param == nil {
			q.words, q.kinds = append(q.words, short(w.stem)), append(q.kinds, 0)
			q.masked = append(q.masked, short(w.stem))
			c.question = c.question || i == 0 && questionWords()[w.stem]
			if c.first == "" && !small()[w.stem] {
				c.first = w.stem
			}
			continue
		}
		if s := placeOf(w.param); s != "" {
			q.words, q.kinds = append(q.words, s), append(q.kinds, ix.kindsOf(w.param))
			q.masked = append(q.masked, s)
		}
		c.given = append(c.given, w.param)
	}
	if n := len(t.text); n > 0 && t.text[n-1] == '?' {
		c.question = true
	}
	return c, q
}

// gives reports that a left-out phrase has a value for an argument.
func (c *clause) gives(p *verbs.Param) bool {
	for _, g := range c.given {
		if g == p || g.Type.Name == p.Type.Name && g.Type.Entity == p.Type.Entity && g.Type.Codes == p.Type.Codes {
			return true
		}
	}
	return false
}

// fitted fits a model to examples by gradient steps, with a pull towards another model (ridge).
func fitted(all []example, to *model, pull float64, steps int) *model {
	m := *to
	var first, second [signCount + 1]float64
	for step := 1; step <= steps; step++ {
		var slope [signCount + 1]float64
		for k := range m.signs {
			slope[k] = pull * float64(m.signs[k]-to.signs[k])
		}
		slope[signCount] = pull * (m.none - to.none)
		for i := range all {
			e := &all[i]
			most := m.none
			scores := make([]float64, len(e.all))
			for j := range e.all {
				for k, s := range e.all[j].signs {
					scores[j] += float64(s) * float64(m.signs[k])
				}
				most = max(most, scores[j])
			}
			none := math.Exp(m.none - most)
			sum := none
			for j := range scores {
				scores[j] = math.Exp(scores[j] - most)
				sum += scores[j]
			}
			for j := range scores {
				off := scores[j] / sum
				if j == e.meant {
					off--
				}
				if off *= e.weight; math.Abs(off) < 1e-4 {
					continue
				}
				for k, s := range e.all[j].signs {
					slope[k] += off * float64(s)
				}
			}
			off := none / sum
			if e.meant < 0 {
				off--
			}
			slope[signCount] += off * e.weight
		}
		for k := range slope {
			first[k] = 0.9*first[k] + 0.1*slope[k]
			second[k] = 0.99*second[k] + 0.01*slope[k]*slope[k]
			by := learning * first[k] / (1 - math.Pow(0.9, float64(step))) / (math.Sqrt(second[k]/(1-math.Pow(0.99, float64(step)))) + 1e-8)
			if k == signCount {
				m.none -= by
			} else {
				m.signs[k] -= float32(by)
			}
		}
	}
	return &m
}

// calibrated returns a model for a large palette, of whose phrases these are examples: how much features
// say differs from palette to palette. All weights are scaled alike (temperature scaling; Guo and others,
// On Calibration of Modern Neural Networks, 2017).
func (m model) calibrated(all []example) *model {
	best, most := 1.0, math.Inf(-1)
	for scale := 1.2; scale > 0.25; scale -= 0.05 {
		likely := -60 * math.Log(scale) * math.Log(scale) // towards 1, as far as there are few examples
		for i := range all {
			if all[i].meant < 0 {
				continue
			}
			sum, meant := math.Exp(scale*m.none), 0.0
			for k := range all[i].all {
				s := math.Exp(scale * m.score(&all[i].all[k]))
				if sum += s; k == all[i].meant {
					meant = s
				}
			}
			likely += all[i].weight * math.Log(meant/sum)
		}
		if likely > most {
			best, most = scale, likely
		}
	}
	for k := range m.signs {
		m.signs[k] *= float32(best)
	}
	m.none *= best
	return &m
}
