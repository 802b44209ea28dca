package manda

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"
)

// weight orders facts about the same figure: the greater the weight, the better the source (M3).
func weight(f *Fact) int {
	w := f.Confidence
	if f.Corrected {
		w = 100 // a person has looked
	}
	switch f.Status {
	case Audited:
		w += 60
	case Actual:
		w += 40
	case Draft:
		w += 15
	}
	return w
}

// agreed reports whether a fact is what a contract says, which holds at any time.
func (f *Fact) agreed() bool { return f.Period == "" && f.Label == "" }

func better(a, b *Fact) int {
	return cmp.Or(cmp.Compare(weight(b), weight(a)), b.Dated.Compare(a.Dated), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Place, b.Place))
}

// of returns the facts of a metric, the best first: of the part of the company that was asked for,
// or else of the whole company, or else of the parts that there are. Superseded facts are left out.
func (a *answer) of(metric string, forecast bool, fits func(Period) bool) []*Fact {
	all := a.ofPart(metric, a.q.Part, forecast, fits)
	if len(all) == 0 && a.q.Part == "" && len(a.q.Parts) == 0 {
		all = a.ofPart(metric, anyPart, forecast, fits)
	}
	return all
}

// anyPart means every part of a company.
const anyPart = "*"

func (a *answer) ofPart(metric, part string, forecast bool, fits func(Period) bool) []*Fact {
	var all []*Fact
	for i := range a.room.Facts {
		f := &a.room.Facts[i]
		if f.Metric == metric && !f.Superseded && (f.Subject == part || part == anyPart) && (f.Status == Forecast) == forecast && (fits == nil || f.agreed() || fits(parsePeriod(f.Period))) {
			all = append(all, f)
		}
	}
	if slices.ContainsFunc(all, func(f *Fact) bool { return f.Named }) {
		all = slices.DeleteFunc(all, func(f *Fact) bool { return !f.Named })
	}
	slices.SortFunc(all, better)
	return all
}

// asked returns a function that reports whether a period is the wanted one.
func asked(want Period) func(Period) bool {
	return func(p Period) bool {
		if want.Kind == 'D' || want.Kind == 'M' {
			return p == want || want.String() == p.String() || want.Kind == 'D' && p.Kind == 'M' && p.Year == want.Year && p.N == want.N
		}
		return p.Kind == want.Kind && p.N == want.N && (want.Year == 0 || p.Year == want.Year)
	}
}

// only is asked, or nil for no period.
func only(want Period) func(Period) bool {
	if want.Kind == 0 {
		return nil
	}
	return asked(want)
}

// latest returns the facts of the latest period. Of two periods with the same end it prefers the
// longer, and a month or a day only counts if there is nothing longer in that year.
func latest(all []*Fact) []*Fact {
	best, at := 0, ""
	for _, f := range all {
		p := parsePeriod(f.Period)
		n := 2 * p.end()
		switch p.Kind {
		case 0:
			if f.agreed() {
				n = math.MaxInt
			}
		case 'Y':
			n++
		case 'M', 'D', 'T':
			n -= 20000
		}
		if at == "" || n > best {
			best, at = n, f.Period
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(f *Fact) bool { return f.Period != at })
}

// against tells a figure that contradicts another one and, if their sources differ in quality, the
// quality of each.
func (a *answer) against(key, quality string, f, o *Fact, role Role) {
	theirs, known := a.form(label, "from "+o.Status)
	ours, ok := a.form(label, "from "+f.Status)
	if known && ok && f.Status != o.Status {
		key = quality
	}
	a.lines = append(a.lines, a.line(o, role, a.about(o, key, "theirs", theirs, "ours", ours)))
}

func (c Clash) other(f *Fact) *Fact {
	same := func(x *Fact) bool {
		return x.Document == f.Document && x.Place == f.Place && x.Metric == f.Metric && x.Period == f.Period && x.Subject == f.Subject
	}
	switch {
	case same(c.A):
		return c.B
	case same(c.B):
		return c.A
	}
	return nil
}

// replaced returns a superseded fact that differs by more than rounding.
func (a *answer) replaced(f *Fact) *Fact {
	for i := range a.room.Facts {
		o := &a.room.Facts[i]
		if o.Superseded && o.Metric == f.Metric && o.Subject == f.Subject && o.Period == f.Period && o.Unit == f.Unit && (o.Status == Forecast) == (f.Status == Forecast) && !Agree(o.Value, o.Step, f.Value, f.Step) {
			return o
		}
	}
	return nil
}

// onePerPeriod returns the best fact of each period, the latest first.
func onePerPeriod(all []*Fact) []*Fact {
	var some []*Fact
	for _, f := range all {
		if !slices.ContainsFunc(some, func(o *Fact) bool { return o.Period == f.Period }) {
			some = append(some, f)
		}
	}
	slices.SortStableFunc(some, func(x, y *Fact) int { return parsePeriod(y.Period).end() - parsePeriod(x.Period).end() })
	return some
}

// notable reports whether a figure moved by more than a quarter, or five points.
func notable(from, to *big.Rat, unit string) bool {
	d := new(big.Rat).Sub(to, from)
	d.Abs(d)
	if unit == "%" {
		return d.Cmp(big.NewRat(5, 1)) > 0
	}
	return from.Sign() != 0 && d.Cmp(new(big.Rat).Mul(new(big.Rat).Abs(from), big.NewRat(1, 4))) > 0
}

func first(lists ...[]*Fact) *Fact {
	for _, l := range lists {
		if len(l) > 0 {
			return l[0]
		}
	}
	return nil
}

// partsOf returns figures of other parts of the company, one each. They come from the document of
// now, or from any document if now is itself the figure of a part.
func (a *answer) partsOf(now *Fact) []*Fact {
	if a.q.Part != "" {
		return nil
	}
	var all []*Fact
	for _, f := range a.ofPart(now.Metric, anyPart, now.Status == Forecast, asked(parsePeriod(now.Period))) {
		if f.Subject != "" && f.Subject != now.Subject && (f.Document == now.Document || now.Subject != "") && !slices.ContainsFunc(all, func(o *Fact) bool { return o.Subject == f.Subject }) {
			all = append(all, f)
		}
	}
	return all[:min(len(all), 5)]
}

// mostParts is the greatest number of figures of a table that are told.
const mostParts = 12

// table returns the figures in the same table as a figure of a metric and period, in a document that
// is named after the metric. The figure of the metric itself comes first.
func (a *answer) table(metric string, period Period) []*Fact {
	var all []*Fact
	for i := range a.room.Facts {
		total := &a.room.Facts[i]
		if total.Metric != metric || total.Superseded || total.Period != period.String() || !ideas(spaced(total.Document))[metric] {
			continue
		}
		all = append(all, total)
		for k := range a.room.Facts {
			f := &a.room.Facts[k]
			if k != i && f.Document == total.Document && within(f.Place) == within(total.Place) && f.Period == total.Period && f.Unit == total.Unit && !slices.ContainsFunc(all, func(o *Fact) bool { return o.Metric == f.Metric && o.Subject == f.Subject }) {
				all = append(all, f)
			}
		}
		return all[:min(len(all), mostParts)]
	}
	return nil
}

// within returns the sheet, page or table of a place.
func within(place string) string {
	place, _, _ = strings.Cut(place, "!")
	place, _, _ = strings.Cut(place, ", row")
	return place
}

// common returns the latest period for which most of some metrics have figures.
func (a *answer) common(metrics []string) Period {
	if len(a.q.Periods) > 0 && a.q.Periods[0].Year != 0 {
		return a.q.Periods[0]
	}
	count := map[string]map[string]bool{}
	for i := range a.room.Facts {
		f := &a.room.Facts[i]
		p := parsePeriod(f.Period)
		if !slices.Contains(metrics, f.Metric) || f.Superseded || f.Subject != a.q.Part && a.q.Part != anyPart || f.Status == Forecast || len(a.q.Periods) > 0 && !asked(a.q.Periods[0])(p) {
			continue
		}
		if count[f.Period] == nil {
			count[f.Period] = map[string]bool{}
		}
		count[f.Period][f.Metric] = true
	}
	most := 0
	for _, c := range count {
		most = max(most, len(c))
	}
	var best Period
	for period, c := range count {
		p := parsePeriod(period)
		year := map[bool]int{true: 1}
		if 2*len(c) >= most && len(c) > 0 && (best.Kind == 0 || p.end()*2+year[p.Kind == 'Y'] > best.end()*2+year[best.Kind == 'Y']) {
			best = p
		}
	}
	return best
}
