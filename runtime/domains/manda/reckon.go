package manda

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"sync"
)

// Reckoning with the figures that were found: each answer cites them and shows the sum.

// The ways to reckon, as questions.txt names them.
const (
	byCount   = "count"
	byWhich   = "which"
	byPercent = "percent"
	byRatio   = "ratio"
	byMean    = "mean"
	byChange  = "change"
	bySum     = "sum"
)

func wordSet(kind, name string) map[string]bool {
	all := map[string]bool{}
	for _, w := range listed(kind, name) {
		all[w] = true
	}
	return all
}

// small are the words that name nothing.
var small = sync.OnceValue(func() map[string]bool { return wordSet("small", "words") })

// reckonWords are the words that say how to reckon, or that something is compared.
var reckonWords = sync.OnceValue(func() (all []string) {
	for _, p := range phrasings() {
		switch p.kind {
		case "reckon", "above", "below", "greatest", "least":
			if p.name != bySum {
				all = append(all, p.said...)
			}
		}
	}
	return all
})

// A sum is the result of a reckoning.
type sum struct {
	by    string
	value *big.Rat
	unit  string
	cells []*Fact // with which it was reckoned, in the order of the text
	text  string  // how
	of    string  // what it is of, as printed
	other string  // for a ratio, the whole
}

// reckoning returns the ways in which a question may want to reckon, the likeliest first; none if it only
// looks something up. A word that stands in the label that was found says nothing: an average price is no
// average of prices.
func (f *finder) reckoning(q *Question, plain string, best *series) (ways []string) {
	has := func(by string) bool { return f.wants(by, plain) }
	several := len(q.Periods) > 1
	if best != nil {
		for _, w := range [...]string{"average", "mean", "change", "changes", "increase", "decrease", "difference", "growth", "total", "percentage of", "ratio", "variance"} {
			if !(several && w != "average" && w != "mean") && slices.Contains(slices.Concat(best.row, best.head), root(w)) && strings.Count(" "+plain+" ", " "+w+" ") == 1 {
				plain = strings.TrimSpace(strings.Replace(" "+plain+" ", " "+w+" ", " ", 1))
			}
		}
	}
	for _, by := range [...]string{byCount, byWhich, byPercent, byRatio, byMean, byChange, bySum} {
		if has(by) {
			ways = append(ways, by)
		}
	}
	return ways
}

// wants reports whether a question has words for a way to reckon.
func (f *finder) wants(by, plain string) bool {
	text := " " + plain + " "
	return slices.ContainsFunc(phrasings(), func(p phrasing) bool {
		return p.kind == "reckon" && p.name == by && slices.ContainsFunc(p.parts, func(parts []string) bool { return stands(parts, text) })
	})
}

// reckon reckons what a question asks for from the figures of a finder; nil if that needs other figures
// than there are.
func (f *finder) reckon(q *Question, by, plain string, top *series) *sum {
	periods := q.Periods
	switch by {
	case byRatio:
		return f.ratio(q, plain)
	case byPercent, byChange:
		top = f.audited(top, periods)
		if rows := f.spans(); len(periods) < 2 && len(rows) == 2 && by == byChange {
			a, b := f.cell(rows[0], periods), f.cell(rows[1], periods)
			return difference(by, a, b, rows[0].name+" − "+rows[1].name)
		}
		from, to := f.ends(top, periods)
		if from == nil {
			return nil
		}
		return difference(by, to, from, top.name)
	case byMean, bySum:
		all := f.through(top, q, by)
		of := top.name
		if len(all) < 2 {
			rows := f.spans()
			if len(rows) < 2 || by == bySum && top.cover() > 0.9 {
				return nil
			}
			all = nil
			var names []string
			for _, s := range rows {
				all, names = append(all, f.cell(s, periods)), append(names, s.name)
			}
			of = strings.Join(names, ", ")
		}
		return total(by, all, of)
	}
	return nil
}

// audited returns the series of the same figure in audited accounts that has the periods, or else the series.
func (f *finder) audited(s *series, periods []Period) *series {
	if s.named == "" || s.cells[0].Status == Audited {
		return s
	}
	for _, o := range f.series {
		if o.named == s.named && o.cells[0].Status == Audited && slices.Equal(o.part, s.part) && !slices.ContainsFunc(periods, func(p Period) bool { return o.in(p) == nil }) && len(o.each()) > 1 {
			return o
		}
	}
	return s
}

// cell returns the figure of a series for the periods that were asked for, or else the latest.
func (f *finder) cell(s *series, periods []Period) *Fact {
	for _, p := range periods {
		if c := s.in(p); c != nil {
			return c
		}
	}
	return s.latest()
}

// ends returns the first and the last figure of a change: of two periods, or of one and the one before
// it, or the two latest.
func (f *finder) ends(s *series, periods []Period) (from, to *Fact) {
	var all []*Fact
	for _, p := range periods {
		if c := s.in(p); c != nil && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	each := s.each()
	switch {
	case len(all) >= 2:
		slices.SortStableFunc(all, func(x, y *Fact) int { return parsePeriod(x.Period).end() - parsePeriod(y.Period).end() })
		return all[0], all[len(all)-1]
	case len(each) < 2 || len(periods) > 1:
		return nil, nil
	case len(all) == 1:
		if i := slices.Index(each, all[0]); i > 0 {
			return each[i-1], each[i]
		}
		return nil, nil
	}
	return each[len(each)-2], each[len(each)-1]
}

// through returns the figures of a series over which an average or a sum goes.
func (f *finder) through(s *series, q *Question, by string) (all []*Fact) {
	for _, p := range q.Periods {
		if c := s.in(p); c != nil && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	each := s.each()
	text := strings.ToLower(q.Written)
	switch {
	case len(q.Periods) == 0 && by == byMean:
		return each
	case len(all) == 0 && len(q.Periods) == 1 && q.Periods[0].Kind == 'Y' && by == byMean: // its months
		all = slices.DeleteFunc(each, func(c *Fact) bool { p := parsePeriod(c.Period); return p.Kind != 'M' || p.Year != q.Periods[0].Year })
		if len(all) == 12 {
			return all
		}
		return nil
	case len(all) == 2 && rangeOf.re().MatchString(text):
		i, k := slices.Index(each, all[0]), slices.Index(each, all[1])
		if i >= 0 && k >= 0 && parsePeriod(all[0].Period).Kind == parsePeriod(all[1].Period).Kind {
			return each[min(i, k) : max(i, k)+1]
		}
	}
	return all
}

// rangeOf matches two years that stand for those between them too.
var rangeOf = pattern(`(?:19|20)\d\d(?:,)? ?(?:to|-|–|through|until|bis|à|a) ?(?:fy |fiscal |the year )?(?:19|20)\d\d|between \D{0,30}(?:19|20)\d\d (?:and|to)|across|three|3[- ]year`)

// difference returns how far a figure is from another.
func difference(by string, to, from *Fact, of string) *sum {
	if to == from || to.Unit != from.Unit && to.Unit != "" && from.Unit != "" {
		return nil
	}
	s := &sum{by: by, value: new(big.Rat).Sub(to.Value, from.Value), unit: to.Unit, cells: []*Fact{to, from}, text: "{0} − {1}", of: of}
	if by == byPercent && s.unit != "%" {
		if from.Value.Sign() == 0 {
			return nil
		}
		s.value, s.unit, s.text = rounded(s.value.Mul(s.value.Quo(s.value, from.Value), big.NewRat(100, 1)), 2), "%", "({0} − {1}) / {1}"
	} else if s.unit == "%" {
		s.unit, s.by = "pp", byChange
	}
	return s
}

// rounded rounds half away from zero, to so many decimals.
func rounded(v *big.Rat, decimals int) *big.Rat {
	r, _ := new(big.Rat).SetString(v.FloatString(decimals))
	return r
}

// total adds figures up, or takes their average.
func total(by string, all []*Fact, of string) *sum {
	s := &sum{by: by, value: new(big.Rat), unit: all[0].Unit, cells: all, of: of}
	var parts []string
	for i, c := range all {
		if c.Unit != s.unit {
			return nil
		}
		s.value.Add(s.value, c.Value)
		parts = append(parts, "{"+string(rune('0'+i))+"}")
	}
	if len(all) > 12 {
		return nil // nobody reads such a sum
	}
	if s.text = strings.Join(parts, " + "); by == byMean {
		n := big.NewRat(int64(len(all)), 1)
		s.text = "(" + s.text + ") / " + shown(n)
		step := all[0].Step
		s.value.Quo(s.value, n)
		if !s.value.IsInt() || step.Cmp(big.NewRat(1, 1)) > 0 { // two digits more than the figures have
			fine := new(big.Rat).Quo(step, big.NewRat(100, 1))
			s.value.Mul(rounded(new(big.Rat).Quo(s.value, fine), 0), fine)
		}
	}
	return s
}

// shares are the ways to ask for a part of a whole: the part and the whole, by their groups.
var shareOf = []struct {
	form        pattern
	part, whole int
}{
	{`(?:percentage|percent|proportion|share|fraction|%) of (.+?) (?:is|are|was|were|does|do|did|comes? from|came from|consists? of|relates? to|represents?|constitutes?|attributable to|accounted for by|made up (?:of|by)) (.+)`, 2, 1},
	{`(.+?),? (?:expressed )?as an? (?:\w+ )?(?:percentage|percent|%|proportion|ratio|share|fraction) (?:of|over|to) (.+)`, 1, 2},
	{`(?:ratio|proportion|percentage|percent|share|constitution|%) (?:of|between) (.+?) (?:to|over|against|in|among|and|relative to|out of|from|under|within) (.+)`, 1, 2},
	{`(.+?) divided by (.+)`, 1, 2},
	{`(?:anteil|verhältnis) (?:der |des |von )?(.+?) (?:am|an der|an den|zu|zum|zur) (.+)`, 1, 2},
	{`(.+?) in prozent (?:von|der|des) (.+)`, 1, 2},
	{`(?:part|proportion|rapport) (?:de |du |des |entre )(.+?) (?:dans|sur|et) (.+)`, 1, 2},
	{`(.+?) en pourcentage (?:de|du|des) (.+)`, 1, 2},
	{`(?:proporción|porcentaje) de (.+?) (?:sobre|en|respecto a) (.+)`, 1, 2},
}

// ratio reckons a part of a whole, in percent if the question says so.
func (f *finder) ratio(q *Question, plain string) *sum {
	text := strings.ToLower(q.Written)
	for _, form := range shareOf {
		m := form.form.re().FindStringSubmatch(text)
		if m == nil {
			continue
		}
		clean := func(s string) []string {
			for _, p := range slices.Backward(periods(s)) {
				s = s[:p.at] + " " + s[p.end:]
			}
			return slices.DeleteFunc(roots(s), func(w string) bool { return f.weight[w] == 0 })
		}
		then, base := periods(m[form.part]), periods(m[form.whole])
		part, of := clean(m[form.part]), clean(m[form.whole])
		if len(part) == 0 || len(of) == 0 {
			continue
		}
		fits := func(s *series) bool {
			return len(q.Periods) == 0 || s.in(q.Periods[0]) != nil || s.cells[0].Period == ""
		}
		a := f.best(part, q, fits)
		if a == nil {
			return nil
		}
		x := f.cell(a, q.Periods)
		if x.Unit == "%" { // it is one already
			for _, by := range [...]string{byMean, bySum} {
				if all := f.through(a, q, by); len(all) > 1 && f.wants(by, plain) && !strings.Contains(plain, "respective") {
					return total(by, all, a.name)
				}
			}
			return nil
		}
		if len(then) == 1 && len(base) == 1 && then[0].Period != base[0].Period { // of one row, in two periods
			if x, y := a.in(then[0].Period), a.in(base[0].Period); x != nil && y != nil && y.Value.Sign() != 0 && slices.Equal(part, of) {
				s := &sum{by: byRatio, value: new(big.Rat).Quo(x.Value, y.Value), unit: "%", cells: []*Fact{x, y}, text: "{0} / {1}", of: a.name, other: a.name}
				s.value = rounded(s.value.Mul(s.value, big.NewRat(100, 1)), 2)
				return s
			}
		}
		b := f.best(of, q, func(s *series) bool {
			return s != a && s.cells[0].Document == x.Document && within(s.cells[0].Place) == within(x.Place) && fits(s)
		})
		if b == nil {
			if b = f.best(of, q, func(s *series) bool { return s != a && fits(s) }); b == nil {
				return nil
			}
		}
		y := b.in(parsePeriod(x.Period))
		if y == nil {
			y = f.cell(b, q.Periods)
		}
		if y.Value.Sign() == 0 || x == y {
			return nil
		}
		s := &sum{by: byRatio, value: new(big.Rat).Quo(x.Value, y.Value), cells: []*Fact{x, y}, text: "{0} / {1}", of: a.name, other: b.name}
		if strings.Contains(plain, "percent") || strings.Contains(text, "%") || strings.Contains(plain, "prozent") || strings.Contains(plain, "pourcentage") || strings.Contains(plain, "porcentaje") || strings.Contains(plain, "anteil") || strings.Contains(plain, "share") {
			s.value, s.unit = s.value.Mul(s.value, big.NewRat(100, 1)), "%"
		}
		s.value = rounded(s.value, 2)
		return s
	}
	return nil
}

// limit matches the figure that others are compared with.
var limit = pattern(`(?i)(?:than|exceed\w*|above|below|over|under|als|über|unter|de|à|least|most) (?:us\$|[$€£])?\s?-?(\d[\d.,]*\s?(?:thousands?|millions?|billions?|mio|tsd)?)`)

// compared answers which periods, or how many, have a figure above or below a limit, or the largest.
func (f *finder) compared(q *Question, by, plain string, top *series) (is []*Fact, ok bool) {
	each := top.each()
	if len(q.Periods) > 1 && !rangeOf.re().MatchString(strings.ToLower(q.Written)) || len(q.Periods) == 2 {
		each = slices.DeleteFunc(each, func(c *Fact) bool {
			y := parsePeriod(c.Period).Year
			return y < min(q.Periods[0].Year, q.Periods[1].Year) || y > max(q.Periods[0].Year, q.Periods[1].Year)
		})
	}
	if len(each) == 0 {
		return nil, false
	}
	has := func(kind string) bool { _, _, ok := says(kind, plain); return ok }
	if m := limit.re().FindStringSubmatch(q.Written); m != nil && (has("above") || has("below")) {
		all := figures(" "+m[1], false, func(int) bool { return false })
		if len(all) != 1 {
			return nil, false
		}
		bound := all[0].Value
		if len(each) > 0 && each[0].Step.Cmp(big.NewRat(1000, 1)) >= 0 && !all[0].scaled && bound.Cmp(each[0].Step) < 0 {
			bound = new(big.Rat).Mul(bound, each[0].Step) // said in the table's own scale
		}
		if strings.Contains(q.Written[strings.Index(q.Written, m[0]):], "-"+m[1]) {
			bound = new(big.Rat).Neg(bound)
		}
		for _, c := range each {
			if d := c.Value.Cmp(bound); has("above") && d > 0 || !has("above") && d < 0 {
				is = append(is, c)
			}
		}
		return is, true
	}
	if by == byCount {
		return nil, false
	}
	least := has("least") && !has("greatest")
	best := slices.MaxFunc(each, func(x, y *Fact) int {
		if least {
			x, y = y, x
		}
		if x.Value.Sign() < 0 && y.Value.Sign() < 0 { // costs, which some print with a minus
			x, y = y, x
		}
		return cmp.Or(x.Value.Cmp(y.Value), 0)
	})
	return []*Fact{best}, len(each) > 1
}
