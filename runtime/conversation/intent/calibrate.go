package intent

import (
	"verbatim/runtime/conversation/intent/rank"
	"verbatim/verbs"
)

// Calibration: each large palette scales the shipped model by its own phrases. Each phrase is left out
// and looked for.

// mostExamples is how many phrases of a palette are looked for.
const mostExamples = 120

// calibrated returns the model for the palettes.
func (ix *Index) calibrated() *rank.Model {
	shipped := rank.Shipped(len(ix.verbs))
	if !ix.ranker.Large() {
		return shipped // a few verbs differ too little from those that it was fitted to
	}
	var all []rank.Example
	ix.leftOut(mostExamples, func(c *clause, _ *rank.Query, phrase int32, may []bool) {
		all = append(all, ix.example(c, phrase, ix.ranker.Verb(phrase), may))
	})
	return shipped.Calibrated(all)
}

// leftOut calls a function with at most so many phrases of verbs that may be proposed, as sentences.
func (ix *Index) leftOut(most int, each func(c *clause, q *rank.Query, phrase int32, may []bool)) {
	may := make([]bool, len(ix.verbs))
	for i, v := range ix.verbs {
		may[i] = v.Deprecated == nil && !v.Internal && !v.NeedsRecord()
	}
	step := max(1, ix.ranker.Phrases()/most)
	for p := step / 2; p < ix.ranker.Phrases(); p += step {
		if !may[ix.ranker.Verb(int32(p))] || ix.templates[p].named {
			continue
		}
		c, q := ix.saidAs(int32(p))
		c.sought = q
		each(c, q, int32(p), may)
	}
}

// example is a sentence that means a verb, with a phrase left out.
func (ix *Index) example(c *clause, left, verb int32, may []bool) rank.Example {
	r := &Reader{ix: ix, may: may}
	e := rank.Example{All: r.signsOf(c, left), Meant: -1, Weight: 1}
	for k := range e.All {
		if e.All[k].Verb == verb && may[verb] {
			e.Meant = k
		}
	}
	return e
}

// saidAs returns a phrase as a sentence with a value in each place.
func (ix *Index) saidAs(p int32) (*clause, *rank.Query) {
	t := &ix.templates[p]
	c, q := &clause{}, &rank.Query{}
	for i, w := range t.words {
		if w.param == nil {
			q.Words, q.Kinds = append(q.Words, short(w.stem)), append(q.Kinds, 0)
			q.Masked = append(q.Masked, short(w.stem))
			c.question = c.question || i == 0 && questionWords()[w.stem]
			if c.first == "" && !small()[w.stem] {
				c.first = w.stem
			}
			continue
		}
		if s := placeOf(w.param); s != "" {
			q.Words, q.Kinds = append(q.Words, s), append(q.Kinds, ix.kindsOf(w.param))
			q.Masked = append(q.Masked, s)
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
