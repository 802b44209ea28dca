package grammar

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"verbatim/dsl"
)

// What a grammar allows, said and heard by the grammar itself: the tests hold the
// checker and other readers of grammars against it.

// Read makes calls of an answer that keeps to JSONSchema. What does not is an
// error here only where no call can be made of it; the rest is for the checker,
// which says it better.
func Read(v Vocabulary, answer string) ([]dsl.Call, error) {
	var said struct {
		Calls []struct {
			Verb string         `json:"verb"`
			Args map[string]any `json:"args"`
		} `json:"calls"`
	}
	if err := decode(answer, &said); err != nil {
		return nil, err
	}
	calls := make([]dsl.Call, len(said.Calls))
	for i, c := range said.Calls {
		var err error
		if calls[i], err = callOf(v, c.Verb, c.Args); err != nil {
			return nil, fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return calls, nil
}

// Sample says something that the grammar allows: every sentence has a chance.
func (g *Grammar) Sample(r *rand.Rand) string {
	var b strings.Builder
	g.sample(&b, r, g.rules[root])
	return b.String()
}

func (g *Grammar) sample(b *strings.Builder, r *rand.Rand, n node) {
	switch n := n.(type) {
	case text:
		b.WriteString(string(n))
	case class:
		s := n[r.IntN(len(n))]
		c := s.lo + r.Int32N(s.hi-s.lo+1)
		b.WriteRune(c)
	case seq:
		for _, p := range n {
			g.sample(b, r, p)
		}
	case alt:
		g.sample(b, r, n[r.IntN(len(n))])
	case times:
		for i := 0; i < n.min; i++ {
			g.sample(b, r, n.of)
		}
		// Mostly few, now and then as many as there may be.
		stop, all := 3, n.max >= 0 && r.IntN(20) == 0
		for i := n.min; (n.max < 0 || i < n.max) && (all || r.IntN(stop) > 0); i++ {
			g.sample(b, r, n.of)
		}
	case rule:
		g.sample(b, r, g.rules[string(n)])
	}
}

// Accepts reports whether the grammar allows a sentence.
func (g *Grammar) Accepts(sentence string) bool {
	return slices.Contains(g.match(g.rules[root], sentence, []int{0}), len(sentence))
}

// match returns where a part can end that begins at one of the places from, in
// order, each once. Rules do not begin with themselves, so this comes to an end.
func (g *Grammar) match(n node, s string, from []int) []int {
	if len(from) == 0 {
		return nil
	}
	switch n := n.(type) {
	case text:
		var to []int
		for _, at := range from {
			if strings.HasPrefix(s[at:], string(n)) {
				to = append(to, at+len(n))
			}
		}
		return to
	case class:
		var to []int
		for _, at := range from {
			c, size := utf8.DecodeRuneInString(s[at:])
			if size > 0 && slices.ContainsFunc(n, func(p span) bool { return p.lo <= c && c <= p.hi }) {
				to = append(to, at+size)
			}
		}
		return to
	case seq:
		for _, p := range n {
			from = g.match(p, s, from)
		}
		return from
	case alt:
		var to []int
		for _, p := range n {
			to = append(to, g.match(p, s, from)...)
		}
		slices.Sort(to)
		return slices.Compact(to)
	case times:
		for range n.min {
			from = g.match(n.of, s, from)
		}
		to, seen := slices.Clone(from), map[int]bool{}
		for _, at := range from {
			seen[at] = true
		}
		for i := n.min; (n.max < 0 || i < n.max) && len(from) > 0; i++ {
			next := g.match(n.of, s, from)
			from = slices.DeleteFunc(next, func(at int) bool { return seen[at] })
			for _, at := range from {
				seen[at] = true
			}
			to = append(to, from...)
		}
		slices.Sort(to)
		return slices.Compact(to)
	case rule:
		return g.match(g.rules[string(n)], s, from)
	}
	return nil
}
