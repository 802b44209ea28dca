package manda

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Looking up (M18)

// certain is the least percentage of a finding that its document must state itself for it to be told
// without a warning.
const certain = 70

func (a *answer) look() {
	q := &a.q
	if q.Unclear && len(q.Periods) > 0 {
		same, all := q.Periods[0], Period{Kind: 'Y', Year: q.Periods[0].Year}
		if all.Year == 0 {
			if told := a.told(q.Metrics[0], asked(same)); told != nil {
				same, all = Either(parsePeriod(told.Period))
			}
		}
		a.which(same, all)
		return
	}
	if q.Unclear {
		if told := a.told(q.Metrics[0], nil); told != nil && parsePeriod(told.Period).Kind != 'Y' {
			same, all := Either(parsePeriod(told.Period))
			a.which(same, all)
			return
		} else if told != nil {
			p := parsePeriod(told.Period)
			p.Year--
			q.Periods = []Period{p}
		}
	}
	if q.Most != "" && a.extreme() {
		return
	}
	if q.Most != "" && (len(q.Topic) > 0 || !slices.ContainsFunc(q.Metrics, func(m string) bool { return lexicon()[m].kind != "count" })) {
		a.passages("") // who it is, and not how many there are or how much it is
		return
	}
	if len(q.Metrics) == 0 {
		if all := newFinder(q, a.room.Facts).propose(q, nil); len(all) > 0 && len(all[0].cells) > 0 && all[0].of.cover() >= 0.9 {
			a.proposed(all[0], all)
		} else if q.Figure {
			a.passages(strings.Join(q.Topic, " "))
		} else {
			a.passages("")
		}
		a.requested()
		return
	}
	a.unknown()
	some := false
	for _, metric := range q.Metrics {
		some = a.figure(metric) || some
	}
	if !some {
		a.passages(a.called(q.Metrics[0], q.Part))
	}
}

// mostSeveral is the greatest number of rows in an answer to a question such as who the largest
// customers are.
const mostSeveral = 5

// extreme answers with the row of a table that has the largest or the smallest value, with several
// such rows, or with all. It returns false if no table lists such things.
func (a *answer) extreme() bool {
	about := ideas(without("whole", plainly(a.q.Text))) // the owner makes no difference
	for i := range a.room.Passages {
		p := &a.room.Passages[i]
		head, rows, ok := tabular(p.Text)
		caption, _, _ := strings.Cut(p.Text, head)
		around := ideas(p.Heading + " " + spaced(p.Document) + " " + caption + " " + head)
		thing, _, _ := strings.Cut(head, " | ")
		if !ok || !shares(about, ideas(thing)) || slices.ContainsFunc(a.q.Metrics, func(m string) bool { return !around[m] && !shares(ideas(m), ideas(thing)) }) {
			continue
		}
		if a.q.Most != "every" {
			rows = most(head, rows, commas(p.Text), a.q.Most == "smallest")
			if _, _, several := says("several", plainly(a.q.Text)); several {
				rows = rows[:min(len(rows), mostSeveral)]
			} else {
				rows = rows[:min(len(rows), 1)]
			}
		}
		for _, row := range rows[:min(len(rows), mostParts)] {
			a.lines = append(a.lines, a.quote(p, row))
		}
		if len(rows) > 0 {
			return true
		}
	}
	return false
}

// tabular takes a table apart: its head, and the rows below.
func tabular(text string) (head string, rows []string, ok bool) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !strings.Contains(line, " | ") {
			continue
		}
		if head == "" {
			head = line
		} else {
			rows = append(rows, line)
		}
	}
	return head, rows, len(rows) > 1
}

// headed returns a row of a table with the heading of its column before each cell. A first row with
// figures is not a heading.
func headed(table, row string) string {
	head, _, ok := tabular(table)
	heads, cells := strings.Split(head, " | "), strings.Split(row, " | ")
	first := len(cells) - len(heads) // the corner may be empty
	if !ok || row == head || first < 0 || first > 1 {
		return row
	}
	for i, name := range heads {
		if r, _ := utf8.DecodeRuneInString(name); unicode.IsDigit(r) && len(periods(name)) == 0 {
			return row
		}
		cells[first+i] = name + ": " + cells[first+i]
	}
	return strings.Join(cells, " | ")
}

func shares(a, b map[string]bool) bool {
	for of := range b {
		if a[of] {
			return true
		}
	}
	return false
}

// most returns the rows of a table by their values, the largest first, or the smallest if least is
// set. It compares the column of totals, or else the first column with figures, and skips rows that
// are sums.
func most(head string, rows []string, comma, least bool) (best []string) {
	columns := strings.Split(head, " | ")
	order := slices.SortedStableFunc(slices.Values(columns), func(x, y string) int {
		return cmp.Compare(len(totals.re().FindString(y)), len(totals.re().FindString(x)))
	})
	for _, name := range order {
		k := slices.Index(columns, name)
		values, sum := map[string]*big.Rat{}, new(big.Rat)
		best = nil
		for _, row := range rows {
			cells := strings.Split(row, " | ")
			if k == 0 || k >= len(cells) || strings.ContainsFunc(cells[k], unicode.IsLetter) {
				continue
			}
			all := figures(cells[k], comma, func(int) bool { return false })
			if len(all) != 1 || len(best) > 1 && all[0].Value.Cmp(sum) == 0 || totals.re().MatchString(cells[0]) {
				continue
			}
			sum.Add(sum, all[0].Value)
			values[row], best = all[0].Value, append(best, row)
		}
		if len(best) > 1 {
			slices.SortStableFunc(best, func(x, y string) int {
				if least {
					x, y = y, x
				}
				return values[y].Cmp(values[x])
			})
			return best
		}
	}
	return nil
}

// unknown says that there is no figure of the part that was asked for, before those of the whole
// company.
func (a *answer) unknown() {
	if a.q.Unknown != "" && len(a.q.Metrics) > 0 {
		a.looked("no-part", "metric", a.called(a.q.Metrics[0], ""), "part", a.q.Unknown)
	}
}

// which asks which of two periods is meant.
func (a *answer) which(same, all Period) {
	a.say("which-period", "same", a.period(same, label), "year", a.period(all, label))
}

// speaking returns the facts that name at least half of a question's subjects, best match first.
func (a *answer) speaking(about []aim, most int) []*Fact {
	if len(about) == 0 {
		return nil
	}
	var all []*Fact
	n := map[*Fact]int{}
	fits := a.wanted()
	for i := range a.room.Facts {
		f := &a.room.Facts[i]
		if f.Superseded || fits != nil && !fits(parsePeriod(f.Period)) {
			continue
		}
		n[f] = shared(about, ideas(f.Metric+" "+f.Subject+" "+f.Text))
		if n[f] > 0 && 2*n[f] >= len(about) && shared(about, ideas(f.Metric+" "+f.Subject)) > 0 {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(x, y *Fact) int { return cmp.Or(n[y]-n[x], better(x, y)) })
	var some []*Fact
	for _, f := range all {
		if len(some) < most && !slices.ContainsFunc(some, func(o *Fact) bool {
			return o.Metric == f.Metric && o.Subject == f.Subject && o.Period == f.Period && o.Value.Cmp(f.Value) == 0
		}) {
			some = append(some, f)
		}
	}
	return some
}

// requested tells which uncovered requests ask for the same as the question.
func (a *answer) requested() {
	some := false
	for _, r := range a.missing() {
		want := wanted(r.Text)
		if n := shared(a.q.Aims, ideas(r.Text)); n > 0 && 2*n >= len(want) {
			a.lines = append(a.lines, Line{Text: a.counted(a.room.Documents-a.room.Unread, "requested", "request", r.Text), Row: r.Row, Role: Missing})
			some = true
		}
	}
	if some {
		a.offer()
	}
}

// told returns the fact that would be told for a metric.
func (a *answer) told(metric string, fits func(Period) bool) *Fact {
	for _, forecast := range [...]bool{false, true} {
		if slices.Contains(a.q.Statuses, Forecast) && !slices.Contains(a.q.Statuses, Actual) {
			forecast = !forecast
		}
		if all := latest(a.of(metric, forecast, fits)); len(all) > 0 {
			return all[0]
		}
	}
	return nil
}

// figure tells a figure for each period that was asked for. It returns false if there is none.
func (a *answer) figure(metric string) bool {
	wants := a.q.Periods
	if len(wants) == 0 {
		wants = []Period{{}}
	}
	some := false
	for _, want := range wants {
		fits := only(want)
		f := a.told(metric, fits)
		if s := a.derived(metric, want); (f == nil || f.Status == Forecast) && s != nil {
			if a.tellSum(s); f != nil {
				a.doubt(f, "", "note-was-forecast")
			}
			some = true
			continue
		}
		if f == nil {
			if want.Kind != 0 {
				some = a.otherPeriods(metric, want) || some
			}
			continue
		}
		some = true
		a.state(f)
		if f.Subject != "" && a.q.Part == "" && len(a.q.Parts) == 0 { // only of parts: of each
			for _, o := range a.of(metric, f.Status == Forecast, fits)[:min(len(a.of(metric, f.Status == Forecast, fits)), mostParts/2)] {
				if o != f {
					a.tell(o, "state")
				}
			}
		}
	}
	return some
}

// quotients are figures that are seldom stated and always the same part of a whole.
var quotients = map[string][2]string{"ebitda margin": {"ebitda", "revenue"}, "ebit margin": {"ebit", "revenue"}, "gross margin": {"gross profit", "revenue"}, "equity ratio": {"equity", "total assets"}, "effective tax rate": {"income tax", "profit before tax"}}

// derived reckons a figure that no document states: a margin, or the sum of the months of a quarter.
func (a *answer) derived(metric string, want Period) *sum {
	m, of := lexicon()[metric], quotients[metric]
	switch {
	case m == nil || a.q.Part != "" || len(a.q.Statuses) > 0:
		return nil
	case of[0] != "":
		if want.Kind == 0 {
			if x := a.told(of[0], nil); x != nil {
				want = parsePeriod(x.Period)
			}
		}
		x := first(a.of(of[0], false, asked(want)))
		y := first(a.of(of[1], false, asked(want)))
		if x == nil || y == nil || x.Unit != y.Unit || x.Subject != y.Subject || y.Value.Sign() <= 0 {
			return nil
		}
		return &sum{by: byRatio, value: rounded(new(big.Rat).Quo(new(big.Rat).Mul(x.Value, big.NewRat(100, 1)), y.Value), 1), unit: "%", cells: []*Fact{x, y}, text: "{0} / {1}", of: a.called(of[0], ""), other: a.called(of[1], "")}
	case m.stock || m.kind != "amount" && m.kind != "count" || want.Kind != 'Q' && want.Kind != 'H':
		return nil
	}
	n := map[byte]int{'Q': 3, 'H': 6}[want.Kind]
	by := map[string][]*Fact{}
	for _, f := range onePerPeriod(a.ofPart(metric, "", false, func(p Period) bool {
		return p.Kind == 'M' && p.Year == want.Year && (p.N-1)/n == want.N-1
	})) {
		if by[f.Document] = append(by[f.Document], f); len(by[f.Document]) == n {
			slices.Reverse(by[f.Document])
			return total(bySum, by[f.Document], a.called(metric, ""))
		}
	}
	return nil
}

// state tells a fact, with all that makes it less than certain.
func (a *answer) state(f *Fact) {
	key := map[string]string{"period": "state-period", "latest": "state-period", "metric": "state-metric"}[a.q.Assumed]
	key = cmp.Or(key, "state")
	if f.Status == Forecast {
		key += "-forecast"
	}
	a.tell(f, key)
	a.doubts(f)
}

// doubts says what makes a fact less than certain, in words (M3, M9).
func (a *answer) doubts(f *Fact) {
	if p := parsePeriod(f.Period); f.Status == Forecast && len(a.of(f.Metric, false, asked(p))) == 0 {
		a.looked("note-forecast", "period", a.at(f, label))
		part := onePerPeriod(a.ofPart(f.Metric, f.Subject, false, func(o Period) bool { return p.Kind == 'Y' && o.Kind == 'T' && o.Year == p.Year }))
		for _, o := range part[:min(len(part), 1)] { // how far it has come
			a.tell(o, "at-period")
		}
	}
	if f.Status == Draft {
		a.say("note-draft")
	}
	for _, c := range a.room.Clashes {
		if o := c.other(f); o != nil && !o.Superseded {
			key := "conflict-period"
			if f.Period != o.Period {
				key = "conflict"
			}
			a.against(key, "conflict-quality", f, o, Against)
			if !f.Corrected { // else its document does not state it
				a.say("conflict-open", "document", f.Document, "value", a.value(f))
			}
			break
		}
	}
	if old := a.replaced(f); old != nil {
		a.doubt(old, "", "note-corrected", "by", cmp.Or(old.By, f.Document))
	}
	if f.Status != Forecast {
		if all := a.ofPart(f.Metric, f.Subject, true, asked(parsePeriod(f.Period))); len(all) > 0 && !Agree(all[0].Value, all[0].Step, f.Value, f.Step) {
			a.doubt(all[0], "", "note-was-forecast")
		}
	}
	if f.Confidence < certain && !f.Corrected {
		a.say("note-around")
	}
	if p := parsePeriod(f.Period); len(a.q.Periods) == 0 && !a.room.Newest.IsZero() && p.Year < a.room.Newest.Year()-1 && lexicon()[f.Metric] != nil && len(a.ofPart(f.Metric, anyPart, false, func(o Period) bool { return o.end() > p.end() })) == 0 {
		if f.Dated.IsZero() {
			a.looked("note-old-undated")
		} else {
			a.looked("note-old", "day", a.day(f.Dated))
		}
	}
}

// otherPeriods says that a figure was not found for a period, and for which it was.
func (a *answer) otherPeriods(metric string, want Period) bool {
	all := append(a.of(metric, false, nil), a.of(metric, true, nil)...)
	if len(all) == 0 {
		return false
	}
	if want.Kind == 'Y' { // its quarters give a part of it
		parts := a.of(metric, false, func(p Period) bool { return p.Year == want.Year && (p.Kind == 'Q' || p.Kind == 'H') })
		if len(parts) > 0 {
			a.looked("no-year", "period", a.period(want, label))
			for _, f := range onePerPeriod(parts) {
				a.tell(f, "at-period")
			}
			a.offer()
			return true
		}
	}
	a.looked("no-period", "metric", a.called(metric, a.q.Part), "period", a.yearless(want, label))
	for _, f := range onePerPeriod(all)[:min(4, len(onePerPeriod(all)))] {
		a.tell(f, "at-period")
	}
	a.offer()
	return true
}
