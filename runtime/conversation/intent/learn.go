package intent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"verbatim/runtime/conversation/intent/rank"
	"verbatim/verbs"
)

// Calibration: each palette adapts the shipped model with its own phrases. Each phrase is left out
// and matched, alone and among other words; and matched with its verb removed, when nothing is the
// right answer.

// Parameters of the fit.
const (
	mostExamples = 120 // phrases of a palette that are looked for
	pull         = 30  // towards the shipped model, in examples
	steps        = 40
)

// learn fits the shipped model to the palettes.
func (ix *Index) learn() *rank.Model {
	if ix.ranker.Large() {
		return rank.Shipped(len(ix.verbs)).Calibrated(ix.examples(mostExamples))
	}
	return rank.Fitted(ix.examples(mostExamples), rank.Shipped(len(ix.verbs)), pull, steps)
}

// examples makes examples of at most so many phrases.
func (ix *Index) examples(most int) (all []rank.Example) {
	m := ix.ranker
	r := &Reader{ix: ix, may: make([]bool, len(ix.verbs))}
	for i, v := range ix.verbs {
		r.may[i] = v.Deprecated == nil && !v.Internal && !v.NeedsRecord()
	}
	seed := uint32(1)
	random := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	step := max(1, m.Phrases()/most)
	for p := random(step); p < m.Phrases(); p += step {
		v := m.Verb(int32(p))
		if !r.may[v] || ix.templates[p].named {
			continue
		}
		c, q := ix.saidAs(int32(p))
		meant := func(q *rank.Query, left int32, weight float64) {
			c.sought = q
			e := rank.Example{All: r.signsOf(c, left), Meant: -1, Weight: weight}
			for k := range e.All {
				if e.All[k].Verb == v && r.may[v] {
					e.Meant = k
				}
			}
			all = append(all, e)
		}
		meant(q, int32(p), 1)
		if m.Large() {
			continue // others say nothing of how much features tell
		}
		other := &rank.Query{}
		for range 3 {
			more := m.Words(int32(random(m.Phrases())))
			if len(more) > 0 {
				other.Words = append(other.Words, more[random(len(more))])
			}
		}
		other.Words = append(other.Words, "\x00", "\x01")
		other.Kinds = make([]uint64, len(other.Words))
		first, second := q, other
		if random(2) == 0 {
			first, second = other, q
		}
		meant(first.Then(second), int32(p), 0.5)
		// Without its verb the sentence means nothing.
		r.may[v] = false
		meant(q, -1, 0.25)
		r.may[v] = true
		// A sentence without its words means nothing.
		empty := &rank.Query{Kinds: make([]uint64, len(q.Words))}
		for i, w := range q.Words {
			if !small()[w] {
				w = string(rune(i))
			}
			empty.Words = append(empty.Words, w)
		}
		c.sought = empty
		all = append(all, rank.Example{All: r.signsOf(c, int32(p)), Meant: -1, Weight: 0.2})
	}
	return all
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

// Keep stores the fitted model outside, under a digest of everything that it depends on, so that
// the next process need not fit it. It is read, or fitted and written, with the first sentence.
func (ix *Index) Keep(read func(name string) []byte, write func(name string, text []byte)) *Index {
	ix.model = sync.OnceValue(func() *rank.Model {
		var kept []float64
		name := "phrases-" + ix.digest() + ".json"
		if json.Unmarshal(read(name), &kept) == nil && len(kept) == rank.SignCount+1 {
			m := &rank.Model{None: kept[rank.SignCount]}
			for k := range m.Signs {
				m.Signs[k] = float32(kept[k])
			}
			return m
		}
		m := ix.learn()
		kept = nil
		for _, s := range m.Signs {
			kept = append(kept, float64(s))
		}
		text, _ := json.Marshal(append(kept, m.None))
		write(name, text)
		return m
	})
	return ix
}

// digest identifies everything that the fit depends on.
func (ix *Index) digest() string {
	h := sha256.New()
	ix.ranker.Print(h)
	fmt.Fprintln(h, mostExamples, pull, steps, ix.takes, ix.asking, ix.firsts)
	for i := range ix.templates {
		fmt.Fprintf(h, "%d %q\n", ix.templates[i].verb, ix.templates[i].text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
