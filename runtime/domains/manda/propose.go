package manda

import (
	"cmp"
	_ "embed"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Proposals: every way in which the rows and the sentences of a room may answer a question, each with
// what can be checked of it. One set of weights ranks them, and the same sum says how likely the best
// of them is right.

// Features are what can be checked of a proposal, by name; what is not there is 0.
type features map[string]float64

func (x features) is(name string, holds bool) {
	if holds {
		x[name] = 1
	}
}

//go:embed weights.txt
var weightsFile string

// weights are those of weights.txt, whose head says how they are fitted.
var weights = sync.OnceValue(func() features {
	all := features{}
	for line := range strings.Lines(weightsFile) {
		if name, n, ok := strings.Cut(strings.TrimSpace(line), "|"); ok && !strings.HasPrefix(line, "#") {
			all[strings.TrimSpace(name)], _ = strconv.ParseFloat(strings.TrimSpace(n), 64)
		}
	}
	return all
})

// sum adds the features up, each by its weight, in the order of their names: floating point has one.
func (x features) sum() (n float64) {
	for _, name := range slices.Sorted(maps.Keys(x)) {
		n += weights()[name] * x[name]
	}
	return n
}

// A proposal is one way to answer a question: with the figures of rows, with a sum of them, with the
// periods that fit a comparison, with a figure in a sentence, or with a sentence.
type proposal struct {
	x      features
	cells  []*Fact
	sum    *sum
	by     string  // of a comparison: which periods, or how many
	of     *series // of whose label the cells are
	said   *passed
	figure *Figure // of the sentence
	score  float64
	sure   float64 // how likely it is right, with all that tell the same
}

// The numbers of rows, of sentences and of sums that are proposed.
const (
	mostRows   = 8
	mostSums   = 4
	mostSaidBy = 5
)

// leastCover is the least share of a question's words that a row has which answers it, and mostCover the
// least of rows and sentences for a question that seems to ask for more than one thing.
const (
	leastCover     = 0.15
	leastOffered   = 0.4  // of a row that is only offered
	leastSaidCover = 0.45 // of a sentence
	leastTold      = 0.3  // of a sentence for a question that asks for words
	mostCover      = 0.6
)

// propose returns the proposals for a question, the likeliest first. Their likelihoods and that of none
// of them being right add up to 1; proposals that tell the same figure stand for each other.
func (f *finder) propose(q *Question, passages []Passage) []*proposal {
	plain := q.plainly()
	_, _, tells := says("tells", plain)
	tells = tells && !amount.re().MatchString(plain)
	wanted := f.reckoning(q, plain, nil)
	var all []*proposal
	add := func(p *proposal, of ...features) {
		for _, x := range of {
			for name, n := range x {
				p.x[name] = n
			}
		}
		all = append(all, p)
	}
	rows := map[string]int{} // those that are called alike
	single, count := q.single(plain), 0
	for _, s := range f.series {
		if s.cover() < leastCover || !single && (s.cover() < mostCover || s.x["row whole"] == 0 && !q.Figure) {
			continue
		}
		i := count
		if count++; count > mostRows {
			break
		}
		ways := f.reckoning(q, plain, s)
		name := s.cells[0].Document + " " + within(s.cells[0].Place) + plainly(s.name)
		if rows[name]++; rows[name] > 1 {
			s.x["row after its like"] = 1
		}
		if cells := s.asked(q); len(cells) > 0 {
			x := features{"cell": 1}
			x.is("cell reckons", len(ways) > 0)
			x.is("cell reckons its head", len(ways) > 0 && changes.re().MatchString(s.cells[0].Head))
			x.is("cell tells", tells)
			x.is("cell figured", figured.re().MatchString(plain))
			x.is("cell when", q.When)
			add(&proposal{x: x, of: s, cells: cells}, s.x)
		}
		if i >= mostSums {
			continue
		}
		for _, by := range ways {
			x := features{"sum": 1, "sum by " + by: 1}
			x.is("sum tells", tells)
			x.is("sum of one period", len(q.Periods) == 1)
			x.is("sum of two periods", len(q.Periods) > 1)
			x.is("sum of other ways", by != ways[0])
			if by == byCount || by == byWhich {
				if is, ok := f.compared(q, by, plain, s); ok && (by == byCount || len(is) > 0) {
					add(&proposal{x: x, of: s, cells: is, by: by}, s.x)
				}
			} else if r := f.reckon(q, by, plain, s); r != nil && (by != byRatio || i == 0) {
				x.is("sum in points", r.unit == "pp")
				x.is("sum of several rows", r.cells[0].Label != r.cells[len(r.cells)-1].Label)
				add(&proposal{x: x, of: s, sum: r}, s.x)
			}
		}
	}
	if rows := f.spans(); len(rows) > 1 && len(wanted) == 0 {
		p := &proposal{x: features{"rows": 1}, of: rows[0]}
		for _, s := range rows {
			p.cells = append(p.cells, s.asked(q)...)
		}
		if len(p.cells) > 1 {
			add(p)
		}
	}
	amounts := len(q.Metrics) > 0 && !slices.ContainsFunc(q.Metrics, func(m string) bool {
		return lexicon()[m] == nil || lexicon()[m].kind == "percent" || lexicon()[m].kind == "text"
	})
	said, floor := f.sentences(passages, q), leastSaidCover
	if tells {
		floor = leastTold
	}
	for i := range said[:min(len(said), mostSaidBy)] {
		s := &said[i]
		if s.cover < floor || !single && (s.cover < mostCover || !q.Figure) {
			continue
		}
		x := features{"said cover": s.cover, "said fit": s.fit / max(said[0].fit, 0.1)}
		x.is("said best", i == 0)
		x.is("said colon", strings.HasSuffix(s.text, ":"))
		x.is("said short", len(s.text) < 60)
		x.is("said year", s.year)
		quotable := f.quotable(s.text, q)
		if len(quotable) == 0 && q.Figure && s.cover < mostCover+0.15 || slices.ContainsFunc(said[:i], func(o passed) bool { return o.text == s.text }) {
			continue // it speaks of the thing and says no figure of it, or it is told already
		}
		if len(quotable) == 0 && !tells && (q.Figure || amount.re().MatchString(plain)) && count > 0 && !strings.ContainsAny(s.text[len(s.text)-1:], ".!?:;") {
			continue // a heading, where rows have figures of it
		}
		whole := features{"sentence": 1}
		whole.is("sentence tells", tells)
		whole.is("sentence figured", figured.re().MatchString(plain))
		whole.is("sentence amount", amount.re().MatchString(plain))
		whole.is("sentence reckons", len(wanted) > 0)
		whole.is("sentence without figure", len(quotable) == 0)
		whole.is("sentence when", q.When)
		add(&proposal{x: whole, said: s}, x)
		for k := range quotable {
			c := &quotable[k]
			if c.Unit == "%" && amounts && !f.percent && len(wanted) == 0 {
				continue // growth of 4 % is no revenue
			}
			y := features{"figure": 1, "figure near": c.near, "figure before": c.before, "figure behind": c.behind}
			y.is("figure nearest", c.first)
			y.is("figure heads it", c.at == 0)
			y.is("figure with unit", c.Unit != "")
			y.is("figure other kind", f.percent != (c.Unit == "%"))
			y.is("figure with unit, of many", f.many && c.Unit != "")
			y.is("figure without unit", !f.many && c.Unit == "")
			y.is("figure of period", c.dated > 0)
			y.is("figure of other period", c.dated < 0)
			y.is("figure tells", tells)
			y.is("figure amount", amount.re().MatchString(plain))
			y.is("figure figured", figured.re().MatchString(plain))
			y.is("figure reckons", len(wanted) > 0)
			y.is("figure changes", (slices.Contains(wanted, byChange) || slices.Contains(wanted, byPercent)) && c.changed)
			y.is("figure change unasked", len(wanted) == 0 && c.changed)
			add(&proposal{x: y, said: s, figure: &c.Figure}, x)
		}
	}
	total := 1.0 // that none is right weighs 1
	same := map[string]float64{}
	for _, p := range all {
		p.score = p.x.sum()
		total += math.Exp(p.score)
		same[p.tells()] += math.Exp(p.score)
	}
	for _, p := range all {
		p.sure = same[p.tells()] / total
	}
	slices.SortStableFunc(all, func(a, b *proposal) int {
		return cmp.Or(cmp.Compare(b.sure, a.sure), cmp.Compare(len(b.cells), len(a.cells)), cmp.Compare(b.score, a.score))
	})
	return all
}

// tells is what a proposal tells, alike for proposals that tell the same.
func (p *proposal) tells() string {
	switch {
	case p.sum != nil:
		return shown(p.sum.value) + p.sum.unit
	case p.by != "":
		return p.by + " " + p.of.name
	case p.figure != nil:
		return shown(p.figure.Value) + p.figure.Unit
	case p.said != nil:
		return p.said.text
	}
	var all []string
	for _, c := range p.cells {
		all = append(all, shown(c.Value)+c.Unit)
	}
	return strings.Join(all, " ")
}

// asked returns the figures of a series for the periods that a question asks for; the latest if it asks
// for none, or if the series has none.
func (s *series) asked(q *Question) (all []*Fact) {
	for _, p := range q.Periods {
		if c := s.in(p); c != nil && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	if len(all) == 0 && (len(q.Periods) == 0 || s.cells[0].Period == "") {
		all = append(all, s.latest())
	}
	return all
}

// leastSure is the likelihood below which a figure is not told, but only what the rows say that fit
// best, and leastSum that of one that is reckoned: of public reports, those below are wrong more often than
// right. LeastSaid is the one below which nothing is proposed at all.
const (
	leastSure = 0.25
	leastSum  = 0.3
	leastSaid = 0.08
	leastLine = 0.15 // of a sentence
)

// sourced reports whether a proposal has a figure that the lexicon has a name for, of the whole company or of
// the part that the question names, and for its periods: that is told with all that is known of it. Of
// documents that state it, the better source is told then; of the rows of one document, that whose words fit.
func (a *answer) sourced(p *proposal) bool {
	q := &a.q
	if p.of == nil || p.sum != nil || p.by != "" || p.of.named == "" || p.of.cells[0].Subject != "" && q.Part == "" && !strings.Contains(" "+plainly(q.Text)+" ", " "+p.of.cells[0].Subject+" ") || !slices.Contains(q.Metrics, p.of.named) {
		return false
	}
	for _, want := range q.Periods {
		if !slices.ContainsFunc(p.of.cells, func(c *Fact) bool { return asked(want)(parsePeriod(c.Period)) }) {
			return false
		}
	}
	return !slices.ContainsFunc(p.cells, func(c *Fact) bool {
		f := first(latest(a.ofPart(p.of.named, c.Subject, c.Status == Forecast, asked(parsePeriod(c.Period)))))
		return f == nil || f.Document == c.Document && (f.Value.Cmp(c.Value) != 0 || f.Unit != c.Unit)
	})
}

// seek answers a question from the row or the sentence that fits it best. It returns no lines if none does,
// or if the best is told otherwise; sure says then how likely that is right, where it is known.
func seek(q *Question, room *DealFacts) (lines []Line, sure *float64) {
	if !q.plain() {
		return nil, nil
	}
	a := &answer{tongue: tongue(q.Language), room: room, q: *q}
	for _, want := range append(slices.Clip(q.Periods), Period{})[:max(1, len(q.Periods))] {
		if len(q.Metrics) == 1 && len(a.of(q.Metrics[0], false, only(want))) == 0 && a.derived(q.Metrics[0], want) != nil {
			return nil, nil
		}
	}
	f := newFinder(q, room.Facts)
	all := f.propose(q, room.Passages)
	if len(all) == 0 {
		return nil, nil
	}
	best := all[0]
	_, _, tells := says("tells", q.plainly())
	if len(q.Metrics) == 1 && !tells && q.Most == "" && len(f.reckoning(q, q.plainly(), nil)) == 0 {
		text := " " + plainly(q.Text) + " "
		if best.sum == nil && (best.of == nil || best.of.named == "") && slices.ContainsFunc(room.Facts, func(c Fact) bool { // of a part that it names
			return c.Metric == q.Metrics[0] && c.Subject != "" && !c.Superseded && strings.Contains(text, " "+c.Subject+" ") && (len(q.Periods) == 0 || asked(q.Periods[0])(parsePeriod(c.Period)))
		}) {
			return nil, nil
		}
		if len(q.Periods) == 1 && best.said != nil && a.told(q.Metrics[0], nil) != nil && a.told(q.Metrics[0], asked(q.Periods[0])) == nil && !slices.ContainsFunc(periods(best.said.text), func(p said) bool { return asked(q.Periods[0])(p.Period) }) {
			return nil, nil // the sentence is of another time
		}
	}
	unsure := best.sure < leastSure || best.sum != nil && best.sure < leastSum
	switch {
	case best.sure < leastSaid, best.sure < leastLine && best.said != nil && best.figure == nil:
		return nil, nil
	case a.sourced(best):
		return nil, &best.sure
	case unsure && (best.of != nil && best.of.cover() < leastOffered || !q.Figure && len(q.Periods) == 0 && !figured.re().MatchString(q.plainly())):
		return nil, nil
	case unsure && (best.said == nil || best.figure != nil):
		a.offered(all)
	default:
		a.proposed(best, all)
	}
	return scored(a.lines, &best.sure), nil
}

// scored gives the first claim of some lines its likelihood.
func scored(lines []Line, sure *float64) []Line {
	for i := range lines {
		if lines[i].Role == Claim {
			lines[i].Score = sure
			break
		}
	}
	return lines
}

// offered quotes what fits best, where nothing is sure enough to be told as the answer.
func (a *answer) offered(all []*proposal) {
	a.say("unsure")
	seen := map[string]bool{}
	for _, p := range all {
		var l Line
		switch {
		case p.said != nil:
			l = Line{Text: a.text("quote", "text", p.said.text) + " " + a.source(p.said.of.Document, p.said.of.Place), Document: p.said.of.Document, Place: p.said.of.Place, Row: p.said.of.Row}
		case p.by != "" && len(p.cells) == 0:
			continue
		default:
			c := p.of.cells[0]
			if len(p.cells) > 0 {
				c = p.cells[0]
			} else if p.sum != nil {
				c = p.sum.cells[0]
			}
			l = Line{Text: a.text("quote", "text", strings.TrimSpace(cmp.Or(c.Label, c.Metric)+" | "+c.Head)+": "+c.Text) + " " + a.stated(c), Document: c.Document, Place: c.Place, Row: c.Row}
		}
		if l.Role = Claim; !seen[l.Text] {
			seen[l.Text] = true
			if a.lines = append(a.lines, l); len(seen) == 2 {
				return
			}
		}
	}
}

// proposed tells a proposal, of all that there are.
func (a *answer) proposed(p *proposal, all []*proposal) {
	switch {
	case p.sum != nil:
		a.tellSum(p.sum)
	case p.by != "":
		a.tellCompared(p)
	case p.said != nil:
		a.tellSaid(p, all)
	default:
		for _, c := range p.cells {
			a.state(c)
		}
	}
}

// tellSum tells a result with its sum, and then the figures that it was reckoned from.
func (a *answer) tellSum(s *sum) {
	text := s.text
	for i, c := range s.cells {
		text = strings.ReplaceAll(text, "{"+string(rune('0'+i))+"}", a.value(c))
	}
	first := *s.cells[0]
	first.Value, first.Unit, first.Row, first.Corrected = s.value, s.unit, nil, false
	last := s.cells[len(s.cells)-1]
	if last.Period != first.Period {
		first.Period = last.Period + " – " + first.Period
	}
	a.lines = append(a.lines, a.line(&first, Claim, a.text("reckoned", "what", a.text("reckoned "+s.by, "metric", s.of, "other", s.other), "value", a.show(s.value, s.unit), "sum", text)))
	for _, c := range s.cells {
		a.tell(c, "item")
	}
	if s.unit == "%" && s.value.Num().BitLen() > s.value.Denom().BitLen()+10 {
		a.say("note-far")
	}
}

// tellCompared tells which figures fit a comparison, or how many.
func (a *answer) tellCompared(p *proposal) {
	if p.by == byCount {
		c := *p.of.cells[0]
		if len(p.cells) > 0 {
			c = *p.cells[0]
		}
		c.Value, c.Unit, c.Row, c.Corrected = new(big.Rat).SetInt64(int64(len(p.cells))), "", nil, false
		a.lines = append(a.lines, a.line(&c, Claim, a.text("reckoned count", "metric", p.of.name, "value", a.value(&c))))
	}
	for _, c := range p.cells {
		a.tell(c, "item")
	}
}

// tellSaid quotes a sentence, with the figure in it if one is proposed, and then others that fit.
func (a *answer) tellSaid(p *proposal, all []*proposal) {
	text := p.said.text
	if p.figure == nil && p.said.next != "" && goesOn.re().MatchString(p.said.next) && len(text)+len(p.said.next) < mostWhole {
		text += " " + p.said.next
	}
	quote := func(s *passed, text string) Line {
		return Line{Text: a.text("quote", "text", text) + " " + a.source(s.of.Document, s.of.Place), Document: s.of.Document, Place: s.of.Place, Row: s.of.Row, Role: Claim}
	}
	l := quote(p.said, text)
	if c := p.figure; c != nil {
		l.Fact = &Fact{FindingFacts: FindingFacts{Document: p.said.of.Document, Value: c.Value, Step: c.Step, Unit: c.Unit}, Place: p.said.of.Place, Text: c.Text}
	}
	a.lines = append(a.lines, l)
	for _, o := range all {
		if o.said != nil && o.figure == nil && o.said != p.said && o.said.fit > p.said.fit/2 && len(a.lines) < mostQuoted/2 {
			a.lines = append(a.lines, quote(o.said, o.said.text))
		}
	}
}

// goesOn matches the beginning of a sentence that says more of what the one before it says.
var goesOn = pattern(`^(?:Th(?:e|is|ese|ey|ose)|It|Such|Also|In addition|Dies\pL*|Sie|Der|Die|Das|Cela|Ces?|Cette|Il|Elle|Est[aeo]s?|Ello)\b`)
