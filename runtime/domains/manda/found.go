package manda

import (
	"context"
	"math"
	"math/big"
	"slices"
	"strings"

	"verbatim/runtime/engine"
)

// Answering from the row or the sentence whose words fit.

// The numbers of findings and of rows that are read for a question.
const (
	mostFindings = 160
	mostSeries   = 12
)

// figures reads the findings of the figures that a question names, and reports whether they are
// enough to answer it, so that nothing has to be looked for by words.
func (l *loader) figures(ctx context.Context, q *Question) (enough bool, err error) {
	for _, metric := range needs(q) {
		if err := l.metric(ctx, metric); err != nil {
			return false, err
		}
	}
	if q.Intent == DeepDive && len(q.Metrics) == 1 { // a plan of capital expenditure has its components
		for ref, d := range l.documents {
			if ideas(spaced(d.Value("name").Text()))[q.Metrics[0]] && !l.replaced[ref] {
				if err := l.all(ctx, ref); err != nil {
					return false, err
				}
			}
		}
	}
	if q.plain() {
		f := newFinder(q, l.room.Facts)
		if len(f.series) == 0 {
			return false, nil
		}
		top := f.timely(q)
		return top.cover > 0.9 && q.told(top) && f.reckoning(q, q.plainly(), top) == "", nil
	}
	return len(l.room.Facts) > 0 && (len(q.Aims) == 0 || q.Group != "") && q.Intent != DueDiligence && q.Intent != Synthesis && q.Intent != Gaps && q.Most == "", nil
}

// search reads the findings and the passages that share words with a question.
func (l *loader) search(ctx context.Context, q *Question) error {
	rows, _, err := l.c.Match(ctx, "finding", l.deal, q.Written, mostFindings)
	if err != nil {
		return err
	}
	type row struct {
		metric   string
		document engine.Ref
	}
	seen := map[row]bool{}
	for _, r := range rows {
		l.fact(r)
		of := row{r.Value("metric").Text(), r.To("document")}
		if len(seen) == mostSeries || seen[of] {
			continue
		}
		seen[of] = true
		all, err := l.c.Find(ctx, "finding", engine.Fields{"deal": l.deal, "metric": of.metric, "document": of.document})
		if err != nil {
			return err
		}
		for _, r := range all {
			l.fact(r)
		}
	}
	if !q.plain() {
		return nil
	}
	return l.passages(ctx, q.Written)
}

// widely reads the passages that have other words for what a question names, and the findings beside
// the best of all passages.
func (l *loader) widely(ctx context.Context, q *Question) error {
	texts := []string{q.Written + " " + widened(q.Text)}
	switch {
	case q.Intent == DueDiligence:
		texts = append(texts, widened(strings.Join(spoken(q.Aims), " ")), widened(strings.Join(append(spoken(q.matter()), listed("topic", "risk")...), " ")))
	case q.Intent == Synthesis || q.Most != "":
		texts = append(texts, strings.Join(spoken(q.matter()), " "))
	}
	if q.Intent == DueDiligence || q.Intent == Synthesis {
		if err := l.whole(ctx, q.Aims); err != nil {
			return err
		}
	}
	if err := l.passages(ctx, texts...); err != nil {
		return err
	}
	return l.beside(ctx)
}

// passages reads the passages that fit some texts, each once.
func (l *loader) passages(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		some, err := l.matching(ctx, text, mostPassages)
		if err != nil {
			return err
		}
		for _, p := range some {
			if !slices.ContainsFunc(l.room.Passages, func(o Passage) bool { return o.Row == p.Row }) {
				l.room.Passages = append(l.room.Passages, p)
			}
		}
	}
	return nil
}

// plain reports whether a question may ask for what one row or one sentence says, and not for more.
func (q *Question) plain() bool {
	_, _, asks := says("asks", plainly(q.Written))
	_, which, _ := says("reckon", plainly(q.Written))
	return asks && !q.Vague && !q.Unclear && q.Assumed == "" && !q.Follows && (len(q.Statuses) == 0 || len(q.Statuses) == 1 && len(q.Metrics) == 0) && (!q.When || which != "") && !(q.Sure && q.Intent == Synthesis) && (q.Most == "" || which != "") &&
		(len(q.Aims) > 1 || len(q.Metrics) > 0 || q.Figure || q.When || q.Intent != FactLookup || figured.re().MatchString(q.plainly())) // else all about a name is asked for
}

// plainly is the question in plain words, for those that say how to reckon.
func (q *Question) plainly() string { return plainly(strings.ReplaceAll(q.Written, "%", " percent ")) }

// told reports whether the figures of the lexicon's names answer a question already: the row that fits
// best is of such a name, and nothing is to be reckoned.
func (q *Question) told(top *series) bool {
	return top.named != "" && (top.cells[0].Subject == "" || q.Part != "") && slices.Contains(q.Metrics, top.named) && !slices.ContainsFunc(q.Periods, func(p Period) bool {
		return !slices.ContainsFunc(top.cells, func(c *Fact) bool { return asked(p)(parsePeriod(c.Period)) })
	})
}

// seek answers a question from the row or the sentence that has most of its words. It returns nil if
// none has enough of them.
func seek(q *Question, room *DealFacts) []Line {
	if !q.plain() {
		return nil
	}
	a := &answer{tongue: tongue(q.Language), room: room, q: *q}
	f := newFinder(q, room.Facts)
	plain := q.plainly()
	said := f.sentences(room.Passages, q)
	if _, _, ok := says("tells", plain); !ok { // what only introduces a table says no figure
		slices.SortStableFunc(said, func(x, y passed) int {
			return boolean(strings.HasSuffix(x.text, ":")) - boolean(strings.HasSuffix(y.text, ":"))
		})
	}
	covered := 0.0
	for _, s := range said[:min(len(said), 3)] {
		covered = max(covered, s.cover)
	}
	// The other intents ask for more than one thing, unless the words say otherwise.
	sure := evidence{sentence: covered}
	one := q.Intent == FactLookup || q.Intent == Comparison || !q.Sure && q.Intent != Synthesis && q.Intent != Exploration && (q.Intent != DueDiligence || opens.re().MatchString(plain))
	_, _, tells := says("tells", plain)
	tells = tells && !amount.re().MatchString(plain)
	if len(f.series) > 0 {
		top := f.timely(q)
		by := f.reckoning(q, plain, top)
		sure.of(f, top, q, by)
		enough := top.cover >= 0.4 && (one || top.cover >= 0.6 && (top.exact || q.Figure))
		switch {
		case enough && by == "" && !tells && q.told(top) && top.cover >= covered-0.3:
			return nil
		case tells && by != byRatio || !enough || by == "" && top.cover < covered-0.2:
		case by == byCount || by == byWhich:
			if is, ok := f.compared(q, by, plain); ok && a.tellCompared(by, is, top) {
				sure.counted = true
				return a.scored(sure)
			}
		case by != "":
			if s := f.reckon(q, by, plain); s != nil {
				sure.reckoned = true
				a.tellSum(s)
				return a.scored(sure)
			} else if q.told(f.series[0]) {
				return nil
			}
			fallthrough
		default:
			if a.tellSeries(f.series[0]) {
				return a.scored(sure)
			}
		}
	}
	figure := !tells && figured.re().MatchString(plain)
	if enough := map[bool]float64{true: 0.3, false: 0.45}; covered < enough[tells] || !one && (covered < 0.6 || !q.Figure || !opens.re().MatchString(plain)) {
		return nil
	}
	if _, ok := f.figure(said[0].text, q); !ok && q.Figure && covered < 0.75 {
		return nil // it speaks of the thing, and says no figure of it
	}
	a.tellSentences(f, said, figure)
	sure.quoted, sure.figure = true, figure
	if sure.margin = 1; len(said) > 1 && said[0].fit > 0 {
		sure.margin = 1 - said[1].fit/said[0].fit
	}
	sure.cover = said[0].cover
	return a.scored(sure)
}

// An evidence is what can be checked of an answer, from which its score comes.
type evidence struct {
	cover    float64 // the share of the question's words that its row or its sentence has
	margin   float64 // how far the next best is behind
	sentence float64 // the share of the question's words that the best sentence has
	exact    bool    // the question has the whole label
	timed    bool    // each period that was asked for is there
	kind     bool    // its unit is of the kind that was asked for
	wanted   bool    // the question wants something reckoned
	reckoned bool    // it was
	quoted   bool    // it is a sentence
	figure   bool    // of which a figure is told
	counted  bool    // it compares periods
}

func (e *evidence) of(f *finder, top *series, q *Question, by string) {
	e.cover, e.exact, e.wanted = top.cover, top.exact, by != ""
	e.timed = !slices.ContainsFunc(q.Periods, func(p Period) bool { return top.in(p) == nil })
	e.kind = f.percent == (top.cells[0].Unit == "%")
	if e.margin = 1; len(f.series) > 1 && top.fit > 0 {
		e.margin = max(0, 1-f.series[1].fit/top.fit)
	}
}

func (e *evidence) features() []float64 {
	is := func(b bool) float64 { return float64(boolean(b)) }
	cell := is(!e.quoted)
	return []float64{1, cell * min(e.cover, 1.2), cell * min(e.margin, 0.5), cell * e.sentence, cell * is(e.exact), cell * is(e.timed), cell * is(e.kind), cell * is(e.wanted), cell * is(e.reckoned), 1 - cell, (1 - cell) * e.cover, (1 - cell) * min(e.margin, 0.5), (1 - cell) * is(e.figure)}
}

// weights were fitted to the tuned three quarters of TestOutside by logistic regression: right against
// not right. That test prints how well they tell, there and on the quarter that was held back.
var weights = [...]float64{-3.92, 2.46, 2.44, -0.77, 0.77, 1.23, 0.56, -0.33, 0.98, 2.44, 1.77, 2.27, -0.32}

// least is the score below which no figure of a table is told, but only what the row says that fits best.
const least = 0.45

// scored gives the first line of an answer its score. What is not sure enough is quoted and not told.
func (a *answer) scored(e evidence) []Line {
	sum := 0.0
	for i, x := range e.features() {
		sum += weights[i] * x
	}
	score := 1 / (1 + math.Exp(-sum))
	if score < least && !e.quoted && !e.reckoned && !e.counted {
		var some []Line
		for _, l := range a.lines {
			if f := l.Fact; f != nil && f.Label != "" {
				some = append(some, Line{Text: a.text("quote", "text", strings.TrimSpace(f.Label+" | "+f.Head)+": "+f.Text) + " " + a.stated(f), Document: f.Document, Place: f.Place, Row: f.Row, Role: Claim})
			}
		}
		if len(some) > 0 {
			a.lines = nil
			a.say("unsure")
			a.lines = append(a.lines, some...)
		}
	}
	for i := range a.lines {
		if a.lines[i].Role == Claim {
			a.lines[i].Score = &score
			break
		}
	}
	return a.lines
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

var (
	amount = pattern(`\b(?:how (?:much|many)|amount of|number of|percentage of|wie (?:viel|viele|hoch)|combien|cuánt[oa]s?)\b`)
	opens  = pattern(`^(?:in |on |at |for |as of |under )?(?:what|which|how|why|who|when|where)\b`)
)

// figured matches a question that may be one for a figure.
var figured = pattern(`^(?:in |as of |at |for |during |under )?.*\b(?:how (?:much|many|high|large|big)|what (?:is|was|were|are)|wie (?:viel|viele|hoch|groß)|combien|quel|quelle|cuánt[oa]s?|cuál)\b`)

// timely returns the best series that has a figure for each period that was asked for, and puts it
// first; or else the best.
func (f *finder) timely(q *Question) *series {
	best, was := 0, -1.0
	for i, s := range f.series {
		fit := s.fit
		if balance.re().MatchString(s.cells[0].Label) && !standingAt.re().MatchString(q.Written) {
			fit *= 0.6 // what happened in a year is asked for, and not what there is at its end
		}
		for _, p := range q.Periods {
			if s.in(p) == nil {
				if fit *= 0.6; s.cells[0].Period == "" {
					fit *= 1.4
				}
			}
		}
		if fit > was+1e-9 {
			best, was = i, fit
		}
	}
	top := f.series[best]
	f.series = slices.Insert(slices.Delete(f.series, best, best+1), 0, top)
	return top
}

// balance matches the label of what there is at a day, and standingAt a question for it.
var (
	balance    = pattern(`(?i)\b(?:at|as of|as at|beginning of|end of|zum|am|au)\b.{0,20}(?:19|20)\d\d`)
	standingAt = pattern(`(?i)\b(?:at|as of|as at|balance|outstandingAt|beginning|end|opening|closing|ending|zum|stand|au)\b`)
)

// tellSeries tells the figures of a series for the periods that were asked for.
func (a *answer) tellSeries(s *series) bool {
	var all []*Fact
	for _, p := range a.q.Periods {
		if c := s.in(p); c != nil && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	if len(all) == 0 && (len(a.q.Periods) == 0 || s.cells[0].Period == "") {
		all = append(all, s.latest())
	}
	for _, c := range all {
		a.state(c)
	}
	return len(all) > 0
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
func (a *answer) tellCompared(by string, is []*Fact, of *series) bool {
	if by == byCount {
		c := *of.cells[0]
		if len(is) > 0 {
			c = *is[0]
		}
		c.Value, c.Unit, c.Row, c.Corrected = new(big.Rat).SetInt64(int64(len(is))), "", nil, false
		a.lines = append(a.lines, a.line(&c, Claim, a.text("reckoned count", "metric", of.name, "value", a.value(&c))))
		for _, c := range is {
			a.tell(c, "item")
		}
		return true
	}
	for _, c := range is {
		a.tell(c, "item")
	}
	return len(is) > 0
}

// tellSentences quotes the sentences that fit best, the first with the figure that it was asked for.
func (a *answer) tellSentences(f *finder, said []passed, figure bool) {
	for i, s := range said[:min(len(said), mostQuoted/2)] {
		if i > 0 && s.fit < said[0].fit/2 {
			break
		}
		text := s.text
		if i == 0 && !figure && s.next != "" && goesOn.re().MatchString(s.next) && len(text)+len(s.next) < mostWhole {
			text += " " + s.next
		}
		l := Line{Text: a.text("quote", "text", text) + " " + a.source(s.of.Document, s.of.Place), Document: s.of.Document, Place: s.of.Place, Row: s.of.Row, Role: Claim}
		if c, ok := f.figure(s.text, &a.q); ok && figure {
			l.Fact = &Fact{FindingFacts: FindingFacts{Document: s.of.Document, Value: c.Value, Step: c.Step, Unit: c.Unit}, Place: s.of.Place, Text: c.Text}
		}
		a.lines = append(a.lines, l)
	}
}

// goesOn matches the beginning of a sentence that says more of what the one before it says.
var goesOn = pattern(`^(?:Th(?:e|is|ese|ey|ose)|It|Such|Also|In addition|Dies\pL*|Sie|Der|Die|Das|Cela|Ces?|Cette|Il|Elle|Est[aeo]s?|Ello)\b`)
