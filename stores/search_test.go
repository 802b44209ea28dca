package stores_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"verbatim/stores"
	"verbatim/stores/search"
)

// index is a Matcher over texts, which are the rows 0, 1, 2 … of one owner.
type index struct {
	hits  map[int64][]search.Hit
	rows  int64
	asked []int // how many hits of a term, each time
}

func newIndex(table string, texts ...string) *index {
	x := &index{hits: map[int64][]search.Hit{}, rows: int64(len(texts))}
	for i, text := range texts {
		for _, p := range search.Postings(table, []string{text}) {
			x.hits[p.Term] = append(x.hits[p.Term], search.Hit(int64(i)<<search.HitBits|p.Weight))
		}
	}
	return x
}

func (x *index) Owned([]int64) (int64, map[int64]int64, error) { return x.rows, nil, nil }

func (x *index) Hits(terms, _ []int64, most int) (map[int64][]search.Hit, error) {
	x.asked = append(x.asked, most)
	found := map[int64][]search.Hit{}
	for _, t := range terms {
		list := slices.Clone(x.hits[t])
		if most > 0 {
			list = list[:min(most, len(list))]
		}
		slices.Reverse(list) // nothing is promised of their order
		found[t] = list
	}
	return found, nil
}

func (x *index) Keys(rows []int64) (map[int64]string, error) {
	keys := map[int64]string{}
	for _, r := range rows {
		keys[r] = fmt.Sprintf("%06d", r)
	}
	return keys, nil
}

func (x *index) NamesSince(int64, int) ([]search.Named, error)                 { return nil, nil }
func (x *index) NamesOf([]string) (map[string][]string, error)                 { return nil, nil }
func (x *index) Vectors(string, []int64, func(int64, []float32, string)) error { return nil }

// Of a word that very many rows have, no more hits are read than tell that, unless there is
// no other word in the question; and then the best row is found wherever it stands.
func TestAFrequentWordIsReadWhereItCounts(t *testing.T) {
	e := &stores.Entity{Table: "note", Search: &stores.Search{Text: []int{0}}, Fields: []stores.Field{{Column: "text"}}, Access: stores.ForAll}
	texts := make([]string, search.Complete+2000)
	for i := range texts {
		texts[i] = "common filler words"
	}
	texts[len(texts)-1] = "common common common"
	texts[7] = "common rare words"
	x := newIndex(e.Table, texts...)
	ask := func(text string, want string, asked ...int) {
		t.Helper()
		x.asked = nil
		found, more, err := stores.Match{Entity: e, Text: text, Limit: 1}.Run(&stores.Scope{All: true}, x, nil, true)
		if err != nil || len(found) != 1 || found[0].Key != want || more != (len(asked) > 1) || !slices.Equal(x.asked, asked) {
			t.Errorf("%q finds %v (more: %v, %v), hits asked for %v, want %v", text, found, more, err, x.asked, asked)
		}
	}
	ask("common rare", "000007", search.Complete+1)
	ask("common", fmt.Sprintf("%06d", len(texts)-1), search.Complete+1, 0)
}

// A condition says whose rows meet it where one of the things that must be true does.
func TestAConditionSaysWhoseRowsMeetIt(t *testing.T) {
	fields := func(n int) []stores.Field { return slices.Repeat([]stores.Field{{Kind: stores.String}}, n) }
	deal := &stores.Entity{Name: "deal", Fields: fields(1)}
	document := &stores.Entity{Name: "document", Fields: fields(2), Scope: []stores.Step{{Field: 1, To: deal}}}
	passage := &stores.Entity{Name: "passage", Fields: fields(3), Scope: []stores.Step{{Field: 2, To: document}, {Field: 1, To: deal}}}
	one := stores.NewString("one")
	eq := func(v stores.Value, field int, steps ...stores.Step) stores.Cond {
		return stores.Cond{Op: stores.Eq, Path: stores.Path{Steps: steps, Field: field}, Value: v}
	}
	all := func(op stores.CondOp, kids ...stores.Cond) *stores.Cond { return &stores.Cond{Op: op, Kids: kids} }
	owner := eq(one, 1, passage.Scope[0])
	lie := owner
	lie.Other = &stores.Path{Field: 1}
	less := owner
	less.Op = stores.Le
	priced := &stores.Entity{Name: "price", Fields: []stores.Field{{Kind: stores.Decimal}}}
	public := *passage
	public.Access = stores.ForAll
	for name, c := range map[string]struct {
		e    *stores.Entity
		cond *stores.Cond
		want stores.Value
	}{
		"nothing":            {passage, nil, stores.Value{}},
		"itself":             {passage, &owner, one},
		"among others":       {passage, all(stores.And, eq(one, 0), *all(stores.And, less, owner)), one},
		"of a shorter path":  {document, all(stores.And, eq(one, 1)), one},
		"of none":            {deal, all(stores.And, eq(one, 0)), one},
		"another path":       {passage, all(stores.And, eq(one, 1), eq(one, 2)), stores.Value{}},
		"or something else":  {passage, all(stores.Or, owner, owner), stores.Value{}},
		"not":                {passage, all(stores.Not, owner), stores.Value{}},
		"no equality":        {passage, &less, stores.Value{}},
		"with another field": {passage, &lie, stores.Value{}},
		"nobody's":           {&public, &owner, stores.Value{}},
		"spelled otherwise":  {priced, all(stores.And, eq(one, 0)), stores.Value{}},
		"null, or one":       {passage, all(stores.And, eq(stores.Value{}, 1, passage.Scope[0]), owner), one},
	} {
		if got := c.e.OwnerIn(c.cond); got != c.want {
			t.Errorf("%s: %q, want %q", name, got.Text(), c.want.Text())
		}
	}
}

// Score is the formula, whatever the order of the hits and however many rows are equally
// good.
func TestScoreIsTheFormula(t *testing.T) {
	drawn := 0
	draw := func(below uint64) int64 {
		drawn++
		return int64(uint64(search.Digest(fmt.Sprint(drawn))) % below)
	}
	for range 200 {
		hits, want := map[int64][]search.Hit{}, map[int64]map[int]int64{}
		var terms []search.Term
		for i := range 1 + draw(5) {
			term := search.Term{Term: i, Word: int(draw(3)), Rarity: 1 + draw(4)}
			terms = append(terms, term)
			for row := range int64(1 + draw(3000)) {
				if draw(3) == 0 {
					continue
				}
				weight := 1 + draw(3)
				hits[i] = append(hits[i], search.Hit(row<<search.HitBits|weight))
				if want[row] == nil {
					want[row] = map[int]int64{}
				}
				want[row][term.Word] = max(want[row][term.Word], weight*term.Rarity)
			}
			slices.Reverse(hits[i])
		}
		var all []search.Scored
		for row, words := range want {
			sum := int64(0)
			for _, s := range words {
				sum += s
			}
			all = append(all, search.Scored{Row: row, Score: sum})
		}
		order := func(a, b search.Scored) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row)) }
		slices.SortFunc(all, order)
		most := int(1 + draw(20))
		n := min(most, len(all))
		for n < len(all) && all[n].Score == all[n-1].Score {
			n++
		}
		got := search.Score(terms, hits, most)
		slices.SortFunc(got, order)
		if !slices.Equal(got, all[:n]) {
			t.Fatalf("%d of %v: %d rows, want %d", most, terms, len(got), n)
		}
	}
}

// Vectors are kept for one stamp, and not more of them than there is room for.
func TestVectorsAreKeptForOneStamp(t *testing.T) {
	var kept search.Kept
	of := func(owner int64) search.KeptOf { return search.KeptOf{Table: "note", Maker: "m", Owner: owner} }
	some := &search.Vectors{}
	some.Add("a", []float32{1, 0})
	some.Add("b", []float32{1})
	if len(some.Keys) != 1 {
		t.Error("a vector of another length is kept")
	}
	kept.Keep(of(1), 5, some)
	if kept.Get(of(1), 5) != some || kept.Get(of(1), 6) != nil || kept.Get(of(2), 5) != nil {
		t.Error("something else is kept")
	}
	large := func() *search.Vectors {
		return &search.Vectors{Keys: []string{"x"}, Wide: 40 << 20, Parts: make([]float32, 40<<20)}
	}
	kept.Keep(of(2), 1, large())
	kept.Keep(of(2), 2, large()) // instead of the last
	if kept.Get(of(1), 5) == nil || kept.Get(of(2), 2) == nil {
		t.Error("what there is room for is given up")
	}
	kept.Keep(of(3), 1, large())
	if kept.Get(of(1), 5) != nil || kept.Get(of(2), 2) != nil || kept.Get(of(3), 1) == nil {
		t.Error("too much is kept")
	}
}
