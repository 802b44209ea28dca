package manda

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode"
)

// A Fact is a finding as it is kept.
type Fact struct {
	Stated
	Domain, Place, Text string
	Confidence          int
	Dated               time.Time // the document
	Superseded          bool
	By                  string // the document that took its place; empty where its own did
	Row                 any    // its row, for who wants to go there
}

// A Clash is two facts that contradict each other.
type Clash struct{ A, B *Fact }

// A Request is an item of the list of what the seller is asked for.
type Request struct {
	Domain, Text, Priority string
	Covered                bool
	Document, Place        string // what covers it
	Row                    any
}

// A Passage is text that fits a question.
type Passage struct {
	Document, Place, Heading, Text string
	Whole                          bool // its document is about what was asked
	Row                            any
}

// A Room is what is known of a deal, as far as a question needs it.
type Room struct {
	Deal      string
	Documents int
	Newest    time.Time // of the documents
	Facts     []Fact
	Clashes   []Clash
	Requests  []Request
	Passages  []Passage // that fit the question, the best first
}

// A Line is one line of an answer. A claim has the place where it stands.
type Line struct {
	Text            string
	Fact            *Fact // that it states, nil where it states none
	Document, Place string
	Row             any // a passage, a finding or a request
	Role            Role
}

// A Role is what a line is in an answer.
type Role string

// The roles of lines.
const (
	Said     Role = "said"    // orientation, headings, notes without a source
	Claim    Role = "claim"   // it states something, and where that stands
	Against  Role = "against" // it states what speaks against a claim: a conflict, an earlier version, a forecast
	Covered  Role = "covered" // a request that something covers
	Missing  Role = "missing" // a request that nothing covers
	NextStep Role = "next"    // an offer, or a question
)

// An answer is put together line by line.
type answer struct {
	room  *Room
	q     Question
	lines []Line
}

// Answer answers a question from what a room knows. It states no figure and no sentence
// that does not stand in a document, and says where each does; a confidence is never told
// as a number, but as what it comes of. It is a function of its arguments.
func Answer(q Question, room *Room) []Line {
	a := &answer{room: room, q: q}
	switch q.Intent {
	case Gaps:
		a.gaps()
	case DueDiligence:
		a.risks()
	case Comparison:
		a.compare()
	case DeepDive:
		a.breakDown()
	case Synthesis:
		a.bringTogether()
	case Exploration:
		a.overview()
	default:
		a.look()
	}
	return a.lines
}

func (a *answer) say(format string, args ...any) {
	l := Line{Text: fmt.Sprintf(format, args...), Role: Said}
	if strings.HasSuffix(l.Text, "?") {
		l.Role = NextStep
	}
	a.lines = append(a.lines, l)
}

// tell says something of a fact, and where that stands.
func (a *answer) tell(f *Fact, format string, args ...any) {
	a.lines = append(a.lines, f.line(Claim, fmt.Sprintf(format, args...)))
}

// doubt says what speaks against a fact that was told.
func (a *answer) doubt(f *Fact, format string, args ...any) {
	a.lines = append(a.lines, f.line(Against, fmt.Sprintf(format, args...)))
}

func (f *Fact) line(role Role, text string) Line {
	return Line{Text: text + " " + f.source(), Fact: f, Document: f.Document, Place: f.Place, Row: f.Row, Role: role}
}

func (p *Passage) quote(s string) Line {
	return Line{Text: "“" + s + "” (source: " + p.Document + strings.TrimSuffix(", "+p.Place, ", ") + ")", Document: p.Document, Place: p.Place, Row: p.Row, Role: Claim}
}

func (f *Fact) source() string {
	return "(source: " + f.Document + strings.TrimSuffix(", "+f.Place, ", ") + ")"
}

// offers the next step, as an answer without one would be a dead end (M14, M15).
const (
	offerOne  = "Would you like me to add this to the Q&A list for the company?"
	offerGaps = "Would you like me to add the gaps to the Q&A list?"
)

// Showing figures

var signs = map[string]string{"EUR": "€", "USD": "$", "GBP": "£"}

// Show writes a figure as people read it: €5.2m, 42.5 %, 240.
func Show(v *big.Rat, unit string) string {
	switch unit {
	case "%":
		return shown(v) + " %"
	case "pp":
		return shown(v) + " pp"
	}
	sign := signs[unit]
	if sign == "" && unit != "" {
		sign = unit + " "
	}
	minus := ""
	if v.Sign() < 0 {
		minus, v = "-", new(big.Rat).Neg(v)
	}
	for _, by := range []struct {
		n      int64
		letter string
		exact  int64 // what is cut off must be nothing
	}{{1_000_000_000, "bn", 1_000_000}, {1_000_000, "m", 1_000}, {1_000, "k", 1_000}} {
		if unit == "" || v.Cmp(big.NewRat(by.n, 1)) < 0 || by.letter == "k" && v.Cmp(big.NewRat(10_000, 1)) < 0 {
			continue
		}
		if new(big.Rat).Quo(v, big.NewRat(by.exact, 1)).IsInt() {
			return minus + sign + shown(new(big.Rat).Quo(v, big.NewRat(by.n, 1))) + by.letter
		}
	}
	return minus + sign + grouped(shown(v))
}

// grouped puts commas between thousands.
func grouped(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		return whole + "." + rest
	}
	return whole
}

func (f *Fact) value() string { return Show(f.Value, f.Unit) }

// called is what a metric is called in a sentence.
func called(metric, part string) string {
	switch metric {
	case "ebitda", "ebit", "ebitda margin", "ebit margin", "adjusted ebitda", "adjusted ebitda margin":
		metric = strings.NewReplacer("ebitda", "EBITDA", "ebit", "EBIT").Replace(metric)
	}
	if part != "" {
		return metric + " (" + part + ")"
	}
	return metric
}

func capital(s string) string {
	for i, r := range s {
		return string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}
	return s
}

// Change says how far a figure is from another: exactly, and in percent of the other with
// one decimal. Of percentages it is percentage points.
func Change(from, to *big.Rat, unit string) (difference *big.Rat, text string) {
	difference = new(big.Rat).Sub(to, from)
	plus := ""
	if difference.Sign() >= 0 {
		plus = "+"
	}
	if unit == "%" {
		return difference, plus + shown(difference) + " pp"
	}
	text = plus + Show(difference, unit)
	if from.Sign() != 0 {
		percent := new(big.Rat).Quo(difference, new(big.Rat).Abs(from))
		text += " (" + plus + trimmed(percent.Mul(percent, big.NewRat(100, 1)).FloatString(1)) + " %)"
	}
	return difference, text
}

func trimmed(s string) string { return strings.TrimSuffix(s, ".0") }

// Choosing facts

// weight orders facts of the same figure: what is best founded first (M3).
func weight(f *Fact) int {
	w := f.Confidence
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

func better(a, b *Fact) int {
	return cmp.Or(cmp.Compare(weight(b), weight(a)), b.Dated.Compare(a.Dated), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Place, b.Place))
}

// of are the facts of a metric, the best first: of the part of the company that was asked
// for, else of all of it, else of what parts there are. Those whose place others took are
// left out.
func (a *answer) of(metric string, forecast bool, fits func(Period) bool) []*Fact {
	all := a.ofPart(metric, a.q.Part, forecast, fits)
	if len(all) == 0 && a.q.Part == "" && len(a.q.Parts) == 0 {
		all = a.ofPart(metric, anyPart, forecast, fits)
	}
	return all
}

// anyPart stands for every part of a company.
const anyPart = "*"

func (a *answer) ofPart(metric, part string, forecast bool, fits func(Period) bool) []*Fact {
	var all []*Fact
	for i := range a.room.Facts {
		f := &a.room.Facts[i]
		if f.Metric == metric && !f.Superseded && (f.Subject == part || part == anyPart) && (f.Status == Forecast) == forecast && (fits == nil || fits(parsePeriod(f.Period))) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(x, y *Fact) int {
		return cmp.Or(cmp.Compare(a.meant(y.Document), a.meant(x.Document)), better(x, y))
	})
	return all
}

// meant is 1 of a document whose name has two words of the question at least: who asks for
// the capital expenditure plan means that.
func (a *answer) meant(document string) int {
	n := 0
	for w := range strings.FieldsSeq(plainly(spaced(document))) {
		if len(w) > 2 && num(w) == 0 && strings.Contains(" "+plainly(a.q.Text)+" ", " "+w+" ") {
			n++
		}
	}
	return min(n/2, 1)
}

// asked reports whether a period is one that was asked for.
func asked(want Period) func(Period) bool {
	return func(p Period) bool {
		if want.Kind == 'D' || want.Kind == 'M' {
			return p == want || want.String() == p.String() || want.Kind == 'D' && p.Kind == 'M' && p.Year == want.Year && p.N == want.N
		}
		return p.Kind == want.Kind && p.N == want.N && (want.Year == 0 || p.Year == want.Year)
	}
}

// latest are those facts of the latest period: of two that end on one day the longer, and
// a month or a day only where there is nothing longer of that year.
func latest(all []*Fact) []*Fact {
	best, at := 0, ""
	for _, f := range all {
		p := parsePeriod(f.Period)
		n := 2 * p.end()
		switch p.Kind {
		case 'Y':
			n++
		case 'M', 'D':
			n -= 20000
		}
		if at == "" || n > best {
			best, at = n, f.Period
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(f *Fact) bool { return f.Period != at })
}

// Looking up (M18)

// certain is how much of a finding its document has to say itself for it to be told
// without a word of warning.
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
		a.say("Do you mean %s (the same period a year before) or %s (the full year)?", same, all)
		return
	}
	if q.Unclear {
		if told := a.told(q.Metrics[0], nil); told != nil && parsePeriod(told.Period).Kind != 'Y' {
			same, all := Either(parsePeriod(told.Period))
			a.say("Do you mean %s (the same period a year before) or %s (the full year)?", same, all)
			return
		} else if told != nil {
			p := parsePeriod(told.Period)
			p.Year--
			q.Periods = []Period{p}
		}
	}
	if len(q.Metrics) == 0 {
		if !a.labelled() {
			a.passages("")
		}
		a.requested()
		return
	}
	some := false
	for _, metric := range q.Metrics {
		some = a.figure(metric) || some
	}
	if !some {
		a.passages(called(q.Metrics[0], q.Part))
	}
}

// labelled tells the figures whose own labels have what was asked for, where the lexicon
// has no word for it; false where there are none.
func (a *answer) labelled() bool {
	want := map[string]bool{}
	for _, w := range a.q.Topic {
		want[stem(w)] = true
	}
	var best *Fact
	most := 0
	for i := range a.room.Facts {
		f := &a.room.Facts[i]
		n, all := 0, 0
		for w := range strings.FieldsSeq(f.Metric) {
			if all++; want[stem(w)] {
				n++
			}
		}
		p := parsePeriod(f.Period)
		fits := len(a.q.Periods) == 0 || slices.ContainsFunc(a.q.Periods, func(w Period) bool { return asked(w)(p) })
		if !f.Superseded && fits && n > most && 2*n >= len(want) && n*2 > all {
			best, most = f, n
		}
	}
	if best == nil {
		return false
	}
	a.state(best)
	return true
}

// requested says which requests that nothing covers ask for what was asked.
func (a *answer) requested() {
	some := false
	for _, r := range a.missing("") {
		want, n := wanted(r.Text), 0
		for _, w := range a.q.Topic {
			if want[stem(w)] {
				n++
			}
		}
		if n > 0 && 2*n >= len(want) {
			a.lines = append(a.lines, Line{Text: "The request list asks for it, and nothing in the room covers it: " + r.Text, Row: r.Row, Role: Missing})
			some = true
		}
	}
	if some {
		a.say("%s", offerOne)
	}
}

// told is the fact that would be told of a metric.
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

// figure tells one figure, for each period that was asked for; false where there is none.
func (a *answer) figure(metric string) bool {
	wants := a.q.Periods
	if len(wants) == 0 {
		wants = []Period{{}}
	}
	some := false
	for _, want := range wants {
		var fits func(Period) bool
		if want.Kind != 0 {
			fits = asked(want)
		}
		f := a.told(metric, fits)
		if f == nil {
			if want.Kind != 0 {
				some = a.otherPeriods(metric, want) || some
			}
			continue
		}
		some = true
		a.state(f)
	}
	return some
}

// state tells a fact, with all that makes it less than certain.
func (a *answer) state(f *Fact) {
	name := called(f.Metric, f.Subject)
	verb := "was"
	if f.Status == Forecast {
		verb = "is forecast at"
	}
	switch {
	case a.q.Assumed == "period" || a.q.Assumed == "latest":
		a.tell(f, "For %s, %s %s %s", f.Period, name, verb, f.value())
	case a.q.Assumed == "metric":
		a.tell(f, "For %s, %s %s %s", name, f.Period, verb, f.value())
	default:
		a.tell(f, "%s %s %s %s", f.Period, name, verb, f.value())
	}
	a.doubts(f)
}

// doubts says what makes a fact less than certain, in words (M3, M9).
func (a *answer) doubts(f *Fact) {
	if f.Status == Forecast {
		a.say("Note: this is a forecast; the documents have no actual figure for %s.", f.Period)
	}
	if f.Status == Draft {
		a.say("Note: it comes from a draft or preliminary figures, not from final ones.")
	}
	for _, c := range a.room.Clashes {
		if o := c.other(f); o != nil && !o.Superseded {
			a.doubt(o, "Conflict: %s states %s for the same period%s", o.Document, o.value(), quality(f, o))
			a.say("%s states %s; neither document replaces the other, so this needs to be clarified with the company.", f.Document, f.value())
			break
		}
	}
	if old := a.replaced(f); old != nil {
		a.doubt(old, "Note: an earlier version stated %s; this was later corrected in %s", old.value(), cmp.Or(old.By, f.Document))
	}
	if f.Status != Forecast {
		if all := a.of(f.Metric, true, asked(parsePeriod(f.Period))); len(all) > 0 && !Agree(all[0].Value, all[0].Step, f.Value, f.Step) {
			a.doubt(all[0], "Note: the forecast was %s; the figure above is the actual one", all[0].value())
		}
	}
	if f.Confidence < certain {
		a.say("Note: the document does not state all of this beside the figure; the period or the unit was taken from the text around it.")
	}
	if p := parsePeriod(f.Period); len(a.q.Periods) == 0 && !a.room.Newest.IsZero() && p.Year < a.room.Newest.Year()-1 {
		a.say("Note: it is from a document dated %s, and nothing newer was found. Shall I flag this as a gap?", cmp.Or(day(f.Dated), "earlier"))
	}
}

// quality says in which way two sources differ that state different figures.
func quality(f, o *Fact) string {
	words := map[string]string{Audited: "audited figures", Draft: "a draft", Actual: "management's own figures"}
	if f.Status != o.Status && words[o.Status] != "" && words[f.Status] != "" {
		return "; that is from " + words[o.Status] + ", the figure above from " + words[f.Status]
	}
	return ""
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

// replaced is a fact of another value whose place was taken.
func (a *answer) replaced(f *Fact) *Fact {
	for i := range a.room.Facts {
		o := &a.room.Facts[i]
		if o.Superseded && o.Metric == f.Metric && o.Subject == f.Subject && o.Period == f.Period && o.Unit == f.Unit && (o.Status == Forecast) == (f.Status == Forecast) && o.Value.Cmp(f.Value) != 0 {
			return o
		}
	}
	return nil
}

// otherPeriods says that a figure was not found for a period, and for which it was.
func (a *answer) otherPeriods(metric string, want Period) bool {
	all := append(a.of(metric, false, nil), a.of(metric, true, nil)...)
	if len(all) == 0 {
		return false
	}
	if want.Kind == 'Y' { // its quarters say a part of it
		parts := a.of(metric, false, func(p Period) bool { return p.Year == want.Year && (p.Kind == 'Q' || p.Kind == 'H') })
		if len(parts) > 0 {
			a.say("No figure for all of %s was found. This is based on the part of it that the documents have:", want)
			for _, f := range onePerPeriod(parts) {
				a.tell(f, "- %s: %s", f.Period, f.value())
			}
			a.say("%s", offerOne)
			return true
		}
	}
	when := want.String()
	if when == "" {
		when = strings.TrimSuffix(fmt.Sprintf("%c%d", want.Kind, want.N), " ")
	}
	a.say("No %s for %s was found in the documents. What they have:", called(metric, a.q.Part), when)
	for _, f := range onePerPeriod(all)[:min(4, len(onePerPeriod(all)))] {
		a.tell(f, "- %s: %s", f.Period, f.value())
	}
	a.say("%s", offerOne)
	return true
}

// onePerPeriod is the best fact of each period, the latest first.
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

// Passages

// mostQuoted is how many sentences are quoted, and mostSaid how long one may be.
const (
	mostQuoted = 6
	mostSaid   = 320
)

// passages answers with what the documents say, where no figure answers.
func (a *answer) passages(what string) {
	quoted := a.quotes(2, mostQuoted/2)
	if len(quoted) == 0 {
		a.nothing(what)
		return
	}
	if what != "" {
		a.say("I found no figure for %s. What the documents say about it:", what)
	} else if len(quoted) > 1 {
		a.say("What the documents say:")
	}
	for _, l := range quoted {
		if len(quoted) > 1 || what != "" {
			l.Text = "- " + l.Text
		}
		a.lines = append(a.lines, l)
	}
	if what != "" {
		a.say("%s", offerOne)
	}
}

// nothing says why there is no answer, and what would help; never just that it is not
// known.
func (a *answer) nothing(what string) {
	if what == "" {
		if what = strings.Join(a.q.Topic, " "); what == "" {
			what = "this"
		}
	}
	a.say("I couldn't find information about %s: none of the %d documents in the room says anything of it. %s", what, a.room.Documents, offerOne)
}

// quotes are the sentences that fit the question best, each with its place; those that
// have fewer than so many of its words, or than half, are left out.
func (a *answer) quotes(least, most int) []Line {
	want := map[string]bool{}
	for _, w := range a.q.Topic {
		want[stem(w)] = true
	}
	for _, m := range a.q.Metrics {
		for w := range strings.FieldsSeq(m) {
			want[stem(w)] = true
		}
	}
	if len(want) == 0 {
		return nil
	}
	type scored struct {
		line Line
		n    int
		rank int
	}
	var all []scored
	for rank := range a.room.Passages {
		p := &a.room.Passages[rank]
		around := map[string]bool{}
		for w := range strings.FieldsSeq(plainly(p.Heading + " " + spaced(p.Document))) {
			around[stem(w)] = true
		}
		for _, s := range sentences(p.Text) {
			has := map[string]bool{}
			for w := range strings.FieldsSeq(plainly(s)) {
				has[stem(w)] = true
			}
			n, own := 0, 0
			for w := range want {
				switch {
				case has[w]:
					n, own = n+2, own+1
				case around[w]:
					n++
				}
			}
			if own > 0 && n >= 2*min(least, len(want))-1 && n >= len(want) {
				all = append(all, scored{p.quote(s), n, rank})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y scored) int { return cmp.Or(y.n-x.n, x.rank-y.rank) })
	var lines []Line
	for _, s := range all {
		if len(lines) < most && !slices.ContainsFunc(lines, func(l Line) bool { return l.Text == s.line.Text }) {
			lines = append(lines, s.line)
		}
	}
	return lines
}

// stem is a word without what endings it has in our languages; only compared with others.
func stem(w string) string {
	if m := known(w); m != nil {
		return m.name
	}
	for _, ending := range [...]string{"ings", "ing", "ments", "ment", "ungen", "ung", "ies", "es", "en", "er", "ed", "s", "e", "n", "y"} {
		if short, ok := strings.CutSuffix(w, ending); ok && len(short) >= 4 {
			return short
		}
	}
	return w
}

// sentences are those of a passage: lines of a page are put together first; of a table,
// each row is one.
func sentences(text string) []string {
	var all []string
	if strings.Contains(text, " | ") {
		for line := range strings.Lines(text) {
			all = append(all, strings.TrimSpace(line))
		}
	} else {
		text = strings.Join(strings.Fields(text), " ")
		from := 0
		for _, end := range cuts(text) {
			all, from = append(all, strings.TrimSpace(text[from:end])), end
		}
	}
	for i, s := range all {
		if cut := firstRunes(s, mostSaid); len(cut) < len(s) {
			all[i] = cut + "…"
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < 8 })
}

// A breakdown (M19)

func (a *answer) breakDown() {
	metrics, title := a.q.Metrics, a.q.Group
	if title == "" && len(metrics) == 0 && len(a.q.Topic) > 0 {
		a.bringTogether()
		return
	}
	if title == "" && len(metrics) == 0 {
		title = "P&L"
	}
	if title == "" {
		title = called(metrics[0], a.q.Part)
		if len(metrics) == 1 && a.series(metrics[0]) {
			return
		}
	}
	if a.q.Group != "" || len(metrics) == 0 {
		metrics = listed("group", title)
	}
	period := a.common(metrics)
	if period.Kind == 0 {
		a.passages(title)
		return
	}
	a.say("Here's the %s breakdown for %s:", title, period)
	before := period
	before.Year--
	var anomalies []Line
	for _, metric := range metrics {
		now := first(a.of(metric, false, asked(period)), a.of(metric, true, asked(period)))
		if now == nil {
			continue
		}
		trend := ""
		if then := first(a.of(metric, false, asked(before))); then != nil && then.Unit == now.Unit {
			_, by := Change(then.Value, now.Value, now.Unit)
			trend = fmt.Sprintf(", %s against %s", by, before)
			if notable(then.Value, now.Value, now.Unit) {
				anomalies = append(anomalies, then.line(Claim, fmt.Sprintf("- %s moved by %s, from %s in %s", capital(called(metric, "")), by, then.value(), before)))
			}
		}
		note := ""
		if now.Status == Forecast {
			note = ", a forecast"
		}
		a.tell(now, "- **%s:** %s%s%s", capital(called(metric, "")), now.value(), trend, note)
		for _, part := range a.partsOf(metric, period, now.Document) {
			a.tell(part, "  - %s: %s", capital(part.Subject), part.value())
		}
		for _, c := range a.room.Clashes {
			if o := c.other(now); o != nil && !o.Superseded {
				a.doubt(o, "  - Conflict: %s states %s", o.Document, o.value())
				break
			}
		}
	}
	if len(anomalies) > 0 {
		a.say("**Worth attention:**")
		a.lines = append(a.lines, anomalies...)
	}
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

// partsOf are the figures of parts of the company that a document has, one each.
func (a *answer) partsOf(metric string, period Period, document string) []*Fact {
	var all []*Fact
	for i := range a.room.Facts {
		f := &a.room.Facts[i]
		if f.Metric == metric && f.Subject != "" && f.Document == document && a.q.Part == "" && !f.Superseded && f.Period == period.String() && !slices.ContainsFunc(all, func(o *Fact) bool { return o.Subject == f.Subject }) {
			all = append(all, f)
		}
	}
	return all[:min(len(all), 5)]
}

// common is the latest period of which most of some figures are there.
func (a *answer) common(metrics []string) Period {
	if len(a.q.Periods) > 0 && a.q.Periods[0].Year != 0 {
		return a.q.Periods[0]
	}
	count := map[string]map[string]bool{}
	for i := range a.room.Facts {
		f := &a.room.Facts[i]
		p := parsePeriod(f.Period)
		if !slices.Contains(metrics, f.Metric) || f.Superseded || f.Subject != a.q.Part || f.Status == Forecast || len(a.q.Periods) > 0 && !asked(a.q.Periods[0])(p) {
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

// series tells one figure over time; false where there is one period at most.
func (a *answer) series(metric string) bool {
	all := onePerPeriod(a.of(metric, false, func(p Period) bool {
		return len(a.q.Periods) == 0 || slices.ContainsFunc(a.q.Periods, func(w Period) bool { return w.Year == 0 || w.Year == p.Year })
	}))
	if len(all) < 2 {
		return false
	}
	a.say("%s over time:", capital(called(metric, a.q.Part)))
	for i, f := range all[:min(len(all), 10)] {
		trend := ""
		for _, o := range all[i+1:] {
			p, was := parsePeriod(f.Period), parsePeriod(o.Period)
			if p.Kind == was.Kind && p.N == was.N && p.Year == was.Year+1 && o.Unit == f.Unit {
				_, by := Change(o.Value, f.Value, f.Unit)
				trend = fmt.Sprintf(", %s on the year before", by)
			}
		}
		a.tell(f, "- %s: %s%s", f.Period, f.value(), trend)
		for _, c := range a.room.Clashes {
			if o := c.other(f); o != nil && !o.Superseded {
				a.doubt(o, "  - Conflict: %s states %s", o.Document, o.value())
				break
			}
		}
	}
	return true
}

// A comparison (M21)

func (a *answer) compare() {
	q := &a.q
	metrics := q.Metrics
	if len(metrics) == 0 {
		if metrics = listed("group", cmp.Or(q.Group, "P&L")); q.Group == "" {
			metrics = append(metrics[:len(metrics):len(metrics)], "headcount", "capex", "order intake")
		}
	}
	type pair struct {
		a, b     *Fact
		from, to string
	}
	var pairs []pair
	switch {
	case len(q.Parts) > 1 && len(q.Metrics) > 0:
		for _, metric := range metrics {
			one, other := first(latest(a.ofPart(metric, q.Parts[1], false, a.wanted()))), first(latest(a.ofPart(metric, q.Parts[0], false, a.wanted())))
			if one != nil && other != nil && one.Unit == other.Unit {
				pairs = append(pairs, pair{one, other, q.Parts[1], q.Parts[0]})
			}
		}
	case len(q.Statuses) == 2 || len(q.Periods) < 2 && len(q.Metrics) < 2:
		for _, metric := range metrics {
			for _, to := range onePerPeriod(a.of(metric, false, a.wanted())) {
				if from := first(a.of(metric, true, asked(parsePeriod(to.Period)))); from != nil && from.Unit == to.Unit {
					pairs = append(pairs, pair{from, to, "forecast", "actual"})
					if len(q.Metrics) != 1 {
						break
					}
				}
			}
		}
	case len(q.Periods) > 1:
		for _, metric := range metrics {
			from, to := a.told(metric, asked(q.Periods[0])), a.told(metric, asked(q.Periods[1]))
			if from != nil && to != nil && parsePeriod(from.Period).end() > parsePeriod(to.Period).end() {
				from, to = to, from
			}
			if from != nil && to != nil && from.Unit == to.Unit && from != to {
				pairs = append(pairs, pair{from, to, from.Period, to.Period})
			}
		}
	default:
		for i, metric := range metrics[1:] {
			var fits func(Period) bool
			if x := a.told(metrics[0], a.wanted()); x != nil {
				fits = asked(parsePeriod(x.Period))
				if y := a.told(metric, fits); y != nil && i == 0 {
					pairs = append(pairs, pair{x, y, called(x.Metric, ""), called(y.Metric, "")})
				}
			}
		}
	}
	if len(pairs) == 0 {
		if len(q.Metrics) == 1 && len(q.Periods) == 1 && a.series(q.Metrics[0]) {
			return
		}
		what := "both sides of this"
		if len(q.Metrics) > 0 {
			what = "both sides of " + called(q.Metrics[0], q.Part)
		}
		some := false
		for _, metric := range q.Metrics {
			some = a.figure(metric) || some
		}
		if some {
			a.say("The documents have only one side of this comparison. %s", offerOne)
			return
		}
		a.nothing(what)
		return
	}
	a.say("%s against %s, side by side:", capital(pairs[0].to), pairs[0].from)
	for _, p := range pairs {
		_, by := Change(p.a.Value, p.b.Value, p.b.Unit)
		if p.a.Metric != p.b.Metric {
			by = "difference " + by
		}
		a.tell(p.a, "- **%s, %s:** %s %s", capital(called(p.a.Metric, p.a.Subject)), p.a.Period, p.from, p.a.value())
		a.tell(p.b, "  %s %s, variance %s", p.to, p.b.value(), by)
		a.clashes(p.b)
	}
}

// clashes tells what contradicts a fact that was told.
func (a *answer) clashes(f *Fact) {
	for _, c := range a.room.Clashes {
		if o := c.other(f); o != nil && !o.Superseded {
			a.doubt(o, "  Conflict: %s states %s for the same period", o.Document, o.value())
			return
		}
	}
}

// wanted fits the periods that were asked for, and any where none was.
func (a *answer) wanted() func(Period) bool {
	if len(a.q.Periods) == 0 {
		return nil
	}
	return func(p Period) bool {
		return slices.ContainsFunc(a.q.Periods, func(w Period) bool { return asked(w)(p) })
	}
}

// Risks (M20)

func (a *answer) risks() {
	about := slices.DeleteFunc(slices.Clone(a.q.Topic), func(w string) bool { return slices.Contains(listed("topic", "risk"), w) })
	mine := func(f *Fact) bool {
		return len(a.q.Metrics)+len(about) == 0 || slices.Contains(a.q.Metrics, f.Metric) || slices.ContainsFunc(about, func(w string) bool {
			return stem(w) == stem(f.Domain) || strings.Contains(" "+f.Subject+" ", " "+w+" ") || strings.Contains(" "+plainly(spaced(f.Document))+" ", " "+w+" ")
		})
	}
	some, told := false, map[string]bool{}
	for _, c := range a.room.Clashes {
		if c.A.Superseded || c.B.Superseded || !mine(c.A) {
			continue
		}
		if key := strings.Join([]string{c.A.Metric, c.A.Subject, c.A.Period, c.A.value(), c.B.value()}, "|"); told[key] {
			continue
		} else {
			told[key] = true
		}
		if !some {
			a.say("**Contradictions:**")
			some = true
		}
		a.tell(c.A, "- %s, %s: %s", capital(called(c.A.Metric, c.A.Subject)), c.A.Period, c.A.value())
		a.tell(c.B, "  but %s%s", c.B.value(), quality(c.A, c.B))
	}
	var unusual []Line
	for i := range a.room.Facts {
		f := &a.room.Facts[i]
		if (f.Metric == "restructuring charge" || f.Metric == "litigation value") && mine(f) && !f.Superseded && f.Status != Forecast {
			unusual = append(unusual, f.line(Claim, fmt.Sprintf("- %s, %s: %s", capital(called(f.Metric, f.Subject)), f.Period, f.value())))
		}
	}
	quotes := a.quotes(1, mostQuoted)
	if len(about) == 0 {
		quotes = a.riskQuotes()
	}
	for _, l := range quotes {
		l.Text = "- " + l.Text
		unusual = append(unusual, l)
	}
	if len(unusual) > 0 {
		a.say("**Unusual items:**")
		a.lines = append(a.lines, unusual[:min(len(unusual), 8)]...)
		some = true
	}
	missing := a.missing("")
	if len(about) > 0 {
		missing = slices.DeleteFunc(missing, func(r *Request) bool {
			want := wanted(r.Text)
			return !slices.ContainsFunc(about, func(w string) bool { return want[stem(w)] || stem(w) == stem(plainly(r.Domain)) })
		})
	}
	if len(missing) > 0 {
		a.say("**Gaps:**")
		for _, r := range missing[:min(len(missing), 15)] {
			a.lines = append(a.lines, Line{Text: "- " + r.Text + " (" + r.Domain + ", " + r.Priority + " priority)", Row: r.Row, Role: Missing})
		}
		a.say("%s", offerGaps)
	} else if !some {
		a.nothing(cmp.Or(strings.Join(about, " "), "risks"))
	}
}

// riskQuotes are sentences that name a risk.
func (a *answer) riskQuotes() []Line {
	asked := a.q.Topic
	a.q.Topic = listed("topic", "risk")
	defer func() { a.q.Topic = asked }()
	var all []Line
	want := map[string]bool{}
	for _, w := range a.q.Topic {
		want[stem(w)] = true
	}
	for i := range a.room.Passages {
		p := &a.room.Passages[i]
		if strings.Contains(p.Text, " | ") {
			continue
		}
		for _, s := range sentences(p.Text) {
			n := 0
			for w := range strings.FieldsSeq(plainly(s)) {
				if want[stem(w)] {
					n++
				}
			}
			if n > 0 && len(s) > 30 {
				all = append(all, p.quote(s))
				break
			}
		}
	}
	return all[:min(len(all), 5)]
}

// missing are the requests that nothing covers, of a domain or of all, what matters most
// first.
func (a *answer) missing(domain string) []*Request {
	var all []*Request
	for i := range a.room.Requests {
		if r := &a.room.Requests[i]; !r.Covered && (domain == "" || r.Domain == domain) {
			all = append(all, r)
		}
	}
	rank := func(r *Request) int { return slices.Index([]string{"high", "medium", "low"}, r.Priority) }
	slices.SortStableFunc(all, func(x, y *Request) int { return rank(x) - rank(y) })
	return all
}

// What is missing (M23)

func (a *answer) gaps() {
	if len(a.room.Requests) == 0 {
		a.say("There is no information request list for %s yet, so nothing says what should be here. Shall I begin one?", a.room.Deal)
		return
	}
	domains, only := a.domains(), map[string]bool{}
	if name, _, ok := says("domain", plainly(a.q.Text)); ok {
		domains = slices.DeleteFunc(domains, func(d string) bool { return plainly(d) != name })
	} else { // of what was asked about, where the list has that
		for _, r := range a.room.Requests {
			want := wanted(r.Text)
			if slices.ContainsFunc(a.q.Topic, func(w string) bool { return want[stem(w)] }) {
				only[r.Text] = true
			}
		}
	}
	for _, l := range a.quotes(2, mostQuoted/2) {
		if len(only) > 0 {
			a.lines = append(a.lines, l)
		}
	}
	a.say("Here's the coverage against the information request list of %s, judged by the words of the documents:", a.room.Deal)
	some := false
	for _, d := range domains {
		n, all := a.coverage(d)
		if len(only) > 0 && !slices.ContainsFunc(a.room.Requests, func(r Request) bool { return r.Domain == d && only[r.Text] }) {
			continue
		}
		a.say("**%s (%d/%d items covered)**", capital(d), n, all)
		for i := range a.room.Requests {
			switch r := &a.room.Requests[i]; {
			case r.Domain != d, len(only) > 0 && !only[r.Text]:
			case r.Covered:
				a.lines = append(a.lines, Line{Text: fmt.Sprintf("- ✓ %s (source: %s%s)", r.Text, r.Document, strings.TrimSuffix(", "+r.Place, ", ")), Document: r.Document, Place: r.Place, Row: r.Row, Role: Covered})
			default:
				a.lines = append(a.lines, Line{Text: fmt.Sprintf("- ✗ %s (%s priority)", r.Text, r.Priority), Row: r.Row, Role: Missing})
				some = true
			}
		}
	}
	if some {
		a.say("Would you like me to generate Q&A items for the missing information?")
	}
}

// domains are those of the requests, in their order.
func (a *answer) domains() []string {
	var all []string
	for _, r := range a.room.Requests {
		if !slices.Contains(all, r.Domain) {
			all = append(all, r.Domain)
		}
	}
	return all
}

func (a *answer) coverage(domain string) (covered, all int) {
	for _, r := range a.room.Requests {
		if r.Domain == domain {
			all++
			if r.Covered {
				covered++
			}
		}
	}
	return covered, all
}

// Bringing together (M22) and an overview (M24)

func (a *answer) bringTogether() {
	topic := strings.Join(a.q.Topic, " ")
	for _, p := range phrasings() { // a topic is all of its words
		if p.kind == "topic" && slices.ContainsFunc(a.q.Topic, func(w string) bool { return slices.Contains(p.said, w) }) {
			a.q.Topic = slices.Compact(append(a.q.Topic, p.said...))
			topic = p.name + " " + strings.TrimSpace(strings.ReplaceAll(topic, p.name, ""))
		}
	}
	topic = strings.TrimSpace(topic)
	want := map[string]bool{}
	for _, w := range a.q.Topic {
		want[stem(w)] = true
	}
	by := map[string][]Line{}
	var order []string
	n := 0
	for i := range a.room.Passages {
		p := &a.room.Passages[i]
		for _, s := range sentences(p.Text) {
			fits := false
			for w := range strings.FieldsSeq(plainly(s)) {
				fits = fits || want[stem(w)]
			}
			head := cmp.Or(p.Heading, p.Document)
			if (fits || p.Whole && len(by[head]) < 2) && len(s) > len(p.Heading)+8 && n < 16 && !slices.ContainsFunc(by[head], func(l Line) bool { return strings.Contains(l.Text, s) }) {
				if by[head] == nil {
					order = append(order, head)
				}
				if len(by[head]) < 4 {
					l := p.quote(s)
					l.Text = "- " + l.Text
					by[head] = append(by[head], l)
					n++
				}
			}
		}
	}
	if n == 0 {
		a.nothing(topic)
		return
	}
	a.say("Here's what the documents say about %s:", cmp.Or(topic, "this"))
	for _, head := range order {
		a.say("**%s**", head)
		a.lines = append(a.lines, by[head]...)
	}
	var open []*Request
	for _, r := range a.missing("") {
		if slices.ContainsFunc(strings.Fields(plainly(r.Text)), func(w string) bool { return want[stem(w)] }) {
			open = append(open, r)
		}
	}
	if len(open) > 0 {
		a.say("**Gaps:**")
		for _, r := range open {
			a.lines = append(a.lines, Line{Text: "- " + r.Text, Row: r.Row, Role: Missing})
		}
		a.say("%s", offerGaps)
	}
}

func (a *answer) overview() {
	a.say("Here's an overview of what we have on %s:", a.room.Deal)
	a.say("- **Documents:** %d", a.room.Documents)
	for _, metric := range [...]string{"revenue", "ebitda", "net income", "headcount"} {
		if f := a.told(metric, nil); f != nil {
			a.tell(f, "- **%s, %s:** %s", capital(called(metric, "")), f.Period, f.value())
		}
	}
	if len(a.room.Requests) > 0 {
		var strong, limited []string
		for _, d := range a.domains() {
			n, all := a.coverage(d)
			if 3*n >= 2*all {
				strong = append(strong, d)
			} else {
				limited = append(limited, d)
			}
		}
		text := "- **Coverage:**"
		if len(strong) > 0 {
			text += " strong on " + strings.Join(strong, ", ")
		}
		if len(limited) > 0 {
			text += strings.TrimPrefix(", limited on ", map[bool]string{true: ","}[len(strong) == 0]) + strings.Join(limited, ", ")
		}
		a.say("%s", text)
	}
	if n := len(slices.DeleteFunc(slices.Clone(a.room.Clashes), func(c Clash) bool { return c.A.Superseded || c.B.Superseded })); n > 0 {
		a.say("- **Contradictions between documents:** %d", n)
	}
	a.say("What would you like to explore? The P&L, the management team, red flags, or what is missing?")
}
