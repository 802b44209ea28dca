package intent

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/conversation/intent/rank"
	"verbatim/runtime/conversation/values"
)

// The shipped model is fitted to train sentences of intents by others, as they stand
// and among other words, and to the phrases of our own palettes that are left out:
//
//	go test ./runtime/conversation/intent -run TestFitModel -v -intents DIR
func TestFitModel(t *testing.T) {
	var all []tuned
	sets := intentSets(t)
	for n, s := range sets {
		reg, rest := s.palette(t)
		ix := New(reg)
		r := ix.Reader(Vocabulary{Verbs: reg.Verbs()})
		kind, group := "", 0
		add := func(text, want string, weight float64) {
			all2, _ := values.Split(text, maxWords)
			if len(all2) == 0 {
				return
			}
			readings, _ := values.Find(text, english)
			e := tuned{rank.Example{All: r.signsOf(r.clause(text, all2, readings, english, values.English), -1), Meant: -1, Weight: weight}, s.name + kind, group}
			for k := range e.All {
				if ix.verbs[e.All[k].Verb].Name == want {
					e.Meant = k
				}
			}
			all = append(all, e)
		}
		for i, row := range rest {
			group, kind = i, ""
			want := intentVerb(row[1])
			if i%5 == 0 {
				add(row[0], want, 1)
			}
			if i%25 == 0 {
				kind = " among words"
				add("I was on the train when it rained, "+row[0], want, 0.7)
				add(strings.TrimRight(row[0], "?.!")+" before the meeting of the board starts in the morning", want, 0.7)
			}
		}
		kind = " foreign"
		for i, row := range sets[1-n].train {
			group = i / 10
			if n == 0 && i%60 == 0 || n == 1 && i%400 == 0 {
				add(row[0], "", 1)
			}
		}
		kind = " strays"
		for i, text := range s.strays {
			group = i
			add(text, "", straysWeight)
		}
		t.Logf("%s: %d examples", s.name, len(all))
	}
	if *operationsDir != "" {
		kept, left := operationsLeftOut(t)
		reg := operations(t, kept)
		ix := New(reg)
		r := ix.Reader(Vocabulary{Verbs: reg.Verbs()})
		add := func(text, want, of string, group int) {
			said, _ := values.Split(text, maxWords)
			readings, _ := values.Find(text, english)
			e := tuned{rank.Example{All: r.signsOf(r.clause(text, said, readings, english, values.English), -1), Meant: -1, Weight: 1}, "operations" + of, group}
			for k := range e.All {
				if ix.verbs[e.All[k].Verb].Name == want {
					e.Meant = k
				}
			}
			if want == "" || e.Meant >= 0 {
				all = append(all, e)
			}
		}
		for i, row := range left {
			add(row[1], row[0], "", i)
			words := strings.Fields(sets[1].train[i*17%len(sets[1].train)][0])
			words = words[:min(len(words), 3+i%4)]
			if i/2%2 == 0 {
				words = append(words, row[1])
			} else {
				words = append([]string{row[1]}, words...)
			}
			add(strings.Join(words, " "), row[0], " among words", i)
		}
		for i, row := range sets[1].train {
			if i%100 == 0 {
				add(row[0], "", " foreign", i/100)
			}
		}
		t.Logf("operations: %d examples", len(all))
	}
	for _, d := range append(domains, analysts) {
		if *onlyLarge {
			break
		}
		r, _ := d.reader(t)
		own := ownExamples(r.ix, 200)
		for i, e := range own {
			e.Weight *= 0.5
			all = append(all, tuned{e, d.name + [...]string{"", " among words", " removed", " empty"}[i%4], i / 4})
		}
		// The halves of our own sets that are there to tune with.
		add := func(text, want string) {
			said, _ := values.Split(text, maxWords)
			l := spoken(text, english)
			readings, _ := values.Find(text, english)
			for k, text := range []string{text, around[1].do(text), around[2].do(text)} {
				if k > 0 {
					said, _ = values.Split(text, maxWords)
					readings, _ = values.Find(text, english)
				}
				e := tuned{rank.Example{All: r.signsOf(r.clause(text, said, readings, english, l), -1), Meant: -1, Weight: 1.5 / float64(1+k)}, d.name + " tuning", len(text)}
				for k := range e.All {
					if r.ix.verbs[e.All[k].Verb].Name == want {
						e.Meant = k
					}
				}
				if want == "" {
					e.Weight = straysWeight
				}
				if want == "" && k == 0 || want != "" && e.Meant >= 0 && e.All[e.Meant].Signs[rank.OfNearest] < 0.9 {
					all = append(all, e)
				}
			}
		}
		for _, c := range setApart(t) {
			if c.domain == d.name && !c.held && len(c.verbs) < 2 {
				add(c.text, strings.Join(c.verbs, ""))
			}
		}
		if d.name != "review" {
			for _, c := range d.set(t, false) {
				add(c.text, strings.TrimPrefix(c.want, "ask"))
			}
		}
		for _, o := range domains {
			for i, c := range o.set(t, false) {
				if (o.name == "retail") != (d.name == "retail") && i%3 == 0 {
					add(c.text, "")
				}
			}
		}
		t.Logf("%s: %d examples", d.name, len(all))
	}
	var half, other []tuned
	for i := range all {
		if all[i].group%2 == 0 {
			half = append(half, all[i])
		} else {
			other = append(other, all[i])
		}
	}
	for _, size := range []string{"large", "small"} {
		if *onlyLarge && size == "small" {
			break
		}
		of := func(all []tuned) (some []tuned) {
			for _, e := range all {
				if large := strings.HasPrefix(e.of, "banking77") || strings.HasPrefix(e.of, "clinc150") || strings.HasPrefix(e.of, "operations"); large == (size == "large") {
					some = append(some, e)
				}
			}
			return some
		}
		to := rank.Shipped(rank.ManyVerbs)
		if size == "small" {
			to = rank.Shipped(0)
		}
		m := refit(of(half), to)
		by := map[string][]tuned{}
		for _, e := range of(other) {
			by[e.of] = append(by[e.of], e)
		}
		for _, of := range slices.Sorted(maps.Keys(by)) {
			t.Logf("%s: %s", of, judged(m, by[of]))
		}
		m = refit(of(all), to)
		var b strings.Builder
		for k := range m.Signs {
			fmt.Fprintf(&b, "%.2f, ", m.Signs[k])
		}
		t.Logf("%s Signs: Signs{%s}, none: %.2f", size, strings.TrimSuffix(b.String(), ", "), m.None)
	}
}

// A tuned is an example, and what it is one of.
type tuned struct {
	rank.Example
	of    string
	group int
}

func refit(tuned []tuned, to *rank.Model) *rank.Model {
	var all []rank.Example
	for _, e := range tuned {
		all = append(all, e.Example)
	}
	m := fitted(all, to, 0.5, 120)
	for range 4 {
		m = fitted(all, m, 0.5, 120)
	}
	return m
}

// judged is how well a model does on examples.
func judged(m *rank.Model, all []tuned) string {
	var n, first, right, wrong, none, stray int
	var sure [][2]float64
	for _, e := range all {
		list := slices.Clone(e.All)
		meant := int32(-1)
		if e.Meant >= 0 {
			meant = list[e.Meant].Verb
		}
		m.Weigh(list)
		if meant < 0 {
			none++
			if len(list) > 0 && list[0].Score >= 0.8 {
				stray++
			}
			continue
		}
		n++
		is := 0.0
		if list[0].Verb == meant {
			first++
			is = 1
		}
		sure = append(sure, [2]float64{list[0].Score, is})
		if list[0].Score >= 0.8 {
			if list[0].Verb == meant {
				right++
			} else {
				wrong++
			}
		}
	}
	slices.SortFunc(sure, func(a, b [2]float64) int { return cmp.Compare(b[0], a[0]) })
	yes, no := 0, 0
	for _, x := range sure {
		if x[1] == 1 {
			yes++
		} else if no++; percent(no, n) > 2 {
			break
		}
	}
	return fmt.Sprintf("with 2 wrong %.1f right; ", percent(yes, n)) + fmt.Sprintf("%d: first %.1f, at 0.8 rightly %.1f, wrongly %.1f; of %d that mean none %.1f", n, percent(first, n), percent(right, n), percent(wrong, n), none, percent(stray, none))
}

var onlyLarge = flag.Bool("only-large", false, "fit the model of large palettes alone")

const straysWeight = 3

// ownExamples makes four examples each of at most so many phrases of a palette: the phrase alone, among
// words of others, without its verb and without its own words. The last two mean nothing.
func ownExamples(ix *Index, most int) (all []rank.Example) {
	seed := uint32(1)
	random := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	ix.leftOut(most, func(c *clause, q *rank.Query, p int32, may []bool) {
		v := ix.ranker.Verb(p)
		add := func(q *rank.Query, left int32, weight float64) {
			c.sought = q
			e := ix.example(c, left, v, may)
			e.Weight = weight
			all = append(all, e)
		}
		add(q, p, 1)
		other := &rank.Query{}
		for range 3 {
			if more := ix.templates[random(len(ix.templates))].words; len(more) > 0 {
				other.Words = append(other.Words, short(more[random(len(more))].stem))
			}
		}
		other.Words = append(other.Words, "\x00", "\x01")
		other.Kinds = make([]uint64, len(other.Words))
		for _, of := range []*rank.Query{q, other} {
			if of.Masked == nil {
				of.Masked = of.Words
			}
		}
		first, second := q, other
		if random(2) == 0 {
			first, second = other, q
		}
		add(&rank.Query{Words: slices.Concat(first.Words, second.Words), Kinds: slices.Concat(first.Kinds, second.Kinds), Masked: slices.Concat(first.Masked, second.Masked)}, p, 0.5)
		may[v] = false
		add(q, -1, 0.25)
		may[v] = true
		empty := &rank.Query{Kinds: make([]uint64, len(q.Words))}
		for i, w := range q.Words {
			if !small()[w] {
				w = string(rune(i))
			}
			empty.Words = append(empty.Words, w)
		}
		add(empty, p, 0.2)
		all[len(all)-1].Meant = -1
	})
	return all
}

// fitted fits a Model to examples by gradient steps, with a pull towards another Model (ridge).
func fitted(all []rank.Example, to *rank.Model, pull float64, steps int) *rank.Model {
	m := *to
	const learning = 0.08 // Adam; Kingma and Ba, 2015
	var first, second [rank.SignCount + 1]float64
	for step := 1; step <= steps; step++ {
		var slope [rank.SignCount + 1]float64
		for k := range m.Signs {
			slope[k] = pull * float64(m.Signs[k]-to.Signs[k])
		}
		slope[rank.SignCount] = pull * (m.None - to.None)
		for i := range all {
			e := &all[i]
			most := m.None
			scores := make([]float64, len(e.All))
			for j := range e.All {
				for k, s := range e.All[j].Signs {
					scores[j] += float64(s) * float64(m.Signs[k])
				}
				most = max(most, scores[j])
			}
			none := math.Exp(m.None - most)
			sum := none
			for j := range scores {
				scores[j] = math.Exp(scores[j] - most)
				sum += scores[j]
			}
			for j := range scores {
				off := scores[j] / sum
				if j == e.Meant {
					off--
				}
				if off *= e.Weight; math.Abs(off) < 1e-4 {
					continue
				}
				for k, s := range e.All[j].Signs {
					slope[k] += off * float64(s)
				}
			}
			off := none / sum
			if e.Meant < 0 {
				off--
			}
			slope[rank.SignCount] += off * e.Weight
		}
		for k := range slope {
			first[k] = 0.9*first[k] + 0.1*slope[k]
			second[k] = 0.99*second[k] + 0.01*slope[k]*slope[k]
			by := learning * first[k] / (1 - math.Pow(0.9, float64(step))) / (math.Sqrt(second[k]/(1-math.Pow(0.99, float64(step)))) + 1e-8)
			if k == rank.SignCount {
				m.None -= by
			} else {
				m.Signs[k] -= float32(by)
			}
		}
	}
	return &m
}
