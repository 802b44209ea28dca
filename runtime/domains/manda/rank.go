package manda

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Looking for the row whose words fit. A question is compared with the labels as the documents have
// them; the lexicon only adds its other names.

// A series holds figures that differ in their period alone: those of a row with a column for each year,
// or of a column with a row for each.
type series struct {
	cells            []*Fact // in the order of their document
	name             string  // as printed, without those above
	row, above, head []string
	part             []string // of the company
	title            map[string]bool
	named            string   // the metric of the lexicon, "" if there is none
	x                features // how its words and those of the question fit
	fit              float64  // them, each by its weight
}

// A finder compares one question with series and sentences.
type finder struct {
	words  []string // of the question, in their order
	soft   map[string]bool
	weight map[string]float64
	rare   func(word string) float64 // of the words of labels
	names  map[string]map[string]bool
	series []*series // the best first

	percent, many bool // what the question asks for: a percentage, a number of things
	rate          bool // it may ask for a percentage
}

// root returns a word without its endings. Roots are only compared with one another.
func root(w string) string {
	for _, ending := range [...]string{"izations", "ization", "isation", "ations", "ation", "ating", "ated", "ates", "ate", "ments", "ment", "ities", "ity", "ings", "ing", "ied", "ies", "ized", "izes", "ize", "ived", "ed", "es", "s", "en", "er", "y", "e"} {
		if short, ok := strings.CutSuffix(w, ending); ok && len(short) >= 4 {
			return short
		}
	}
	return w
}

// roots returns the words of a text that can tell one row from another.
func roots(text string) (all []string) {
	for w := range strings.FieldsSeq(plainly(text)) {
		w = strings.TrimSuffix(w, "'s")
		for part := range strings.SplitSeq(w, "-") {
			if part != "" && !small()[part] {
				all = append(all, root(part))
			}
		}
	}
	return all
}

// newFinder prepares a question for facts. Its periods do not count as words.
func newFinder(q *Question, facts []Fact) *finder {
	text := expanded(q.Written) // its words may be those of the documents, which no spelling is to change
	for _, p := range slices.Backward(periods(text)) {
		text = text[:p.at] + " " + text[p.end:]
	}
	f := &finder{many: manyOf.re().MatchString(q.Written), words: roots(text), soft: map[string]bool{}, weight: map[string]float64{}, names: map[string]map[string]bool{}}
	plain := q.plainly()
	f.percent = percentage.re().MatchString(q.Written) && !f.wants(byPercent, plain) && !f.wants(byRatio, plain)
	for _, w := range slices.Concat(listed("soft", "words"), reckonWords()) {
		for _, r := range roots(w) {
			f.soft[r] = true
		}
	}
	for _, m := range mentions(text) {
		if !partOfName(text, m) {
			f.rate = f.rate || m.kind == "percent"
			if f.names[m.name] == nil {
				f.names[m.name] = map[string]bool{}
			}
			for _, r := range roots(text[m.at:m.end]) {
				f.names[m.name][r] = true
			}
		}
	}
	by := map[string]*series{}
	labels := map[string]map[string]bool{}
	for i := range facts {
		c := &facts[i]
		if c.Superseded {
			continue
		}
		label, name := c.Label, c.Label
		if label == "" {
			label = strings.TrimSpace(c.Metric + " " + c.Subject)
			name = label
		} else if k := strings.LastIndex(label, ": "); k >= 0 {
			name = label[k+2:]
		}
		head := plainColumn(bare(c.Head))
		key := strings.Join([]string{c.Document, within(c.Place), plainly(bare(label)), plainly(head), c.Unit, c.Subject}, "|")
		s := by[key]
		if s == nil {
			s = &series{name: name, row: roots(bare(name)), above: roots(bare(strings.TrimSuffix(label, name))), head: roots(head), title: map[string]bool{}}
			for _, w := range roots(c.Title) {
				s.title[w] = true
			}
			if lexicon()[c.Metric] != nil {
				s.named, s.part = c.Metric, roots(c.Subject)
			}
			if c.Label == "" || len(s.row) == 0 {
				s.row = append(s.row, roots(c.Metric)...)
			}
			by[key], f.series = s, append(f.series, s)
		}
		s.cells = append(s.cells, c)
		of := labels[c.Document+"|"+plainly(label)]
		if of == nil {
			of = map[string]bool{}
			labels[c.Document+"|"+plainly(label)] = of
		}
		for _, w := range slices.Concat(s.row, s.above) {
			of[w] = true
		}
	}
	seen := map[string]int{}
	for _, of := range labels {
		for w := range of {
			seen[w]++
		}
	}
	f.rare = func(w string) float64 { return math.Log(float64(len(labels)+2) / (float64(seen[w]) + 0.5)) }
	for _, w := range f.words {
		switch {
		case f.soft[w]:
			f.weight[w] = 0.2
		case seen[w] == 0:
			f.weight[w] = 1
		default:
			f.weight[w] = max(0.3, f.rare(w))
		}
	}
	for _, s := range f.series {
		slices.SortStableFunc(s.cells, func(x, y *Fact) int {
			return cmp.Or(strings.Compare(x.Document, y.Document), cmp.Compare(x.Number, y.Number))
		})
		f.score(s, f.words, q)
	}
	slices.SortStableFunc(f.series, func(x, y *series) int {
		a, b := x.cells[0], y.cells[0]
		return cmp.Or(cmp.Compare(y.fit, x.fit), cmp.Compare(weight(b), weight(a)), b.Dated.Compare(a.Dated), strings.Compare(a.Document, b.Document), cmp.Compare(a.Number, b.Number))
	})
	return f
}

// score compares words of the question with those of a series.
func (f *finder) score(s *series, words []string, q *Question) {
	c, x := s.cells[0], features{}
	known := f.names[s.named]
	if slices.ContainsFunc(s.part, func(w string) bool { return !slices.Contains(words, w) }) {
		known = nil // it is of a part that the question does not name
		x["row of a part"] = 1
	}
	all := 0.1
	done := map[string]bool{}
	for _, w := range words {
		if done[w] {
			continue
		}
		done[w] = true
		n := f.weight[w]
		if !f.soft[w] {
			all += n
		}
		switch {
		case slices.Contains(s.row, w), known[w]:
			x["row words"] += n
		case slices.Contains(s.head, w):
			x["row head"] += n
		case slices.Contains(s.above, w):
			x["row above"] += n
		case s.title[w]:
			x["row title"] += n
		}
	}
	for _, name := range [...]string{"row words", "row head", "row above", "row title"} {
		x[name] = min(1.2, x[name]/all)
	}
	own := func(some []string) float64 { // the share of them that the question has
		all, mine := 0.0, 0.0
		for _, w := range some {
			n := max(0.2, f.rare(w))
			if all += n; done[w] {
				mine += n
			}
		}
		return mine / max(all, 0.1)
	}
	_, whole := standing(s.row, words)
	x["row own"], x["row not its head"], x["row not above"] = own(s.row), 0, 0
	if len(s.head) > 0 {
		x["row not its head"] = 1 - own(s.head)
	}
	if len(s.above) > 0 {
		x["row not above"] = 1 - own(s.above)
	}
	if x.is("row known", len(known) > 0); len(known) > 0 {
		x["row own"] = 1
	}
	x.is("row whole", whole)
	x["row words by own"] = x["row words"] * x["row own"]
	x.is("row no percentage", f.percent && c.Unit != "%")
	x.is("row percentage", !f.percent && !f.rate && c.Unit == "%")
	x.is("row money, of many", f.many && c.Unit != "" && c.Unit != "%")
	x.is("row pieces", !f.many && !f.percent && c.Unit == "")
	x.is("row balance", balance.re().MatchString(c.Label) && !standingAt.re().MatchString(q.Written))
	x.is("row total", totals.re().MatchString(bare(s.name)) && !done["total"])
	x.is("row in prose", c.Label == "")
	x.is("row forecast", c.Status == Forecast && !slices.Contains(q.Statuses, Forecast))
	x.is("row undated", c.Period == "" && len(q.Periods) > 0)
	for _, p := range q.Periods {
		if in := s.in(p); in == nil {
			x["row untimely"] += 1 / float64(len(q.Periods))
		} else if !asked(p)(parsePeriod(in.Period)) {
			x["row about then"] += 1 / float64(len(q.Periods))
		}
	}
	s.x, s.fit = x, x.sum()
}

// cover is the share of the question's words that a series has.
func (s *series) cover() float64 { return s.x["row words"] + s.x["row head"] + s.x["row above"] }

// standing reports whether words stand in others, one after the other, and where.
func standing(some, words []string) (int, bool) {
	for i := 0; len(some) > 0 && i+len(some) <= len(words); i++ {
		if slices.Equal(words[i:i+len(some)], some) {
			return i, true
		}
	}
	return 0, false
}

// best returns the series that fit some words of the question best, among those that keep accepts.
func (f *finder) best(words []string, q *Question, keep func(*series) bool) (best *series) {
	was := math.Inf(-1)
	for _, s := range f.series {
		if !keep(s) {
			continue
		}
		o := *s
		if f.score(&o, words, q); o.fit > was+1e-9 && o.cover() > 0 {
			best, was = s, o.fit
		}
	}
	return best
}

// in returns the figure of a series for a period that a question asks for, nil if it has none. A year
// is also that of a year that ends on some other day, or of a balance within it.
func (s *series) in(want Period) *Fact {
	if i := slices.IndexFunc(s.cells, func(c *Fact) bool { return asked(want)(parsePeriod(c.Period)) }); i >= 0 {
		return s.cells[i]
	}
	var best *Fact
	for _, c := range s.cells {
		if c.Period == "" && want.Kind == 'Y' && strings.Contains(c.Head, strconv.Itoa(want.Year)) {
			return c // due 2021 to 2022
		}
		p := parsePeriod(c.Period)
		fits := want.Year == 0 || p.Year == want.Year
		switch want.Kind {
		case 'Y', 'T': // no part of it
			fits = fits && p.Kind == 'D'
		case 'Q', 'H':
			fits = fits && p.Kind == want.Kind && p.N == want.N
		case 'M', 'D':
			fits = fits && (p.Kind == 'Y' && want.Kind == 'D' || p.Kind == 'D' && want.Kind == 'M' && p.N == want.N || p.Kind == 'M' && p.N == want.N)
		}
		if fits && p.Kind != 0 && (best == nil || p.end() > parsePeriod(best.Period).end() && p.Kind != 'Q' && p.Kind != 'M') {
			best = c
		}
	}
	return best
}

// latest returns the figure of a series of its latest period, or the first if no period is known.
func (s *series) latest() *Fact {
	best := s.cells[0]
	for _, c := range s.cells[1:] {
		if p := parsePeriod(c.Period); p.Kind != 0 && p.end() > parsePeriod(best.Period).end() {
			best = c
		}
	}
	return best
}

// each returns one figure for each period, the earliest first.
func (s *series) each() (all []*Fact) {
	seen := map[string]bool{}
	for _, c := range s.cells {
		if c.Period != "" && !seen[c.Period] {
			seen[c.Period], all = true, append(all, c)
		}
	}
	slices.SortStableFunc(all, func(x, y *Fact) int { return parsePeriod(x.Period).end() - parsePeriod(y.Period).end() })
	return all
}

// spans returns series whose whole labels stand in the question, or else the heads of their columns, each
// at other words of it, in their order: rows of one column, or columns of one row.
func (f *finder) spans() []*series {
	for _, across := range [...]bool{false, true} {
		taken := make([]bool, len(f.words))
		some := slices.Clone(f.series)
		own := func(s *series) []string { return s.row }
		other := func(s *series) []string { return s.head }
		if across {
			own, other = other, own
		}
		slices.SortStableFunc(some, func(x, y *series) int { return len(own(y)) - len(own(x)) })
		var all []*series
		at := map[*series]int{}
		for _, s := range some {
			k, ok := standing(own(s), f.words)
			if !ok || slices.Contains(taken[k:k+len(own(s))], true) || len(own(s)) == 1 && (f.soft[own(s)[0]] || own(s)[0] == "total") {
				continue
			}
			if len(all) > 0 && (s.cells[0].Document != all[0].cells[0].Document || within(s.cells[0].Place) != within(all[0].cells[0].Place) || !slices.Equal(other(s), other(all[0]))) {
				continue
			}
			for i := range own(s) {
				taken[k+i] = true
			}
			at[s], all = k, append(all, s)
		}
		slices.SortStableFunc(all, func(x, y *series) int { return at[x] - at[y] })
		if len(all) > 1 {
			return all
		}
	}
	return nil
}

// Sentences

// mostWhole is the greatest length of a sentence that is quoted as the answer to a question.
const mostWhole = 900

// whole returns the sentences of a passage, each to its end. On a page the lines run on; elsewhere each
// is a paragraph.
func whole(p *Passage) (all []string) {
	lines := strings.Split(p.Text, "\n")
	if strings.HasPrefix(p.Place, "p.") || strings.Contains(p.Place, ": p.") {
		lines = []string{p.Text}
	}
	for _, text := range lines {
		text = strings.Join(strings.Fields(text), " ")
		from := 0
		for _, end := range cuts(text) {
			if s := strings.TrimSpace(text[from:end]); strings.Count(s, " ") >= 3 {
				if cut := firstRunes(s, mostWhole); len(cut) < len(s) {
					s = cut + "…"
				}
				all = append(all, s)
			}
			from = end
		}
	}
	return all
}

// A passed is a sentence of a passage, and how well it fits.
type passed struct {
	of    *Passage
	text  string
	next  string // the sentence behind it
	fit   float64
	cover float64 // the share of the question's words that it has, by the weights that rows have
	year  bool    // it states a year that the question asks for
}

// sentences ranks the sentences of some passages by the words that they share with a question: BM25, in
// which a word counts more the fewer sentences have it.
func (f *finder) sentences(passages []Passage, q *Question) (all []passed) {
	var has [][]string
	seen := map[string]int{}
	length := 0
	for i := range passages {
		p := &passages[i]
		if strings.Contains(p.Text, " | ") {
			continue
		}
		for i, s := range whole(p) {
			if orders.re().MatchString(s) {
				continue // it is found, and never told as an answer
			}
			words := roots(s)
			if n := len(all); i > 0 && n > 0 && all[n-1].of == p {
				all[len(all)-1].next = s
			}
			all, has = append(all, passed{of: p, text: s}), append(has, words)
			length += len(words)
			for i, w := range words {
				if !slices.Contains(words[:i], w) {
					seen[w]++
				}
			}
		}
	}
	mean := float64(length) / float64(max(1, len(all)))
	want := map[string]float64{}
	weights := 0.0
	for _, w := range f.words {
		if want[w] == 0 {
			if !f.soft[w] {
				weights += f.weight[w]
			}
			want[w] = math.Log(1 + (float64(len(all))-float64(min(seen[w], len(all)))+0.5)/(float64(seen[w])+0.5))
			if f.soft[w] {
				want[w] /= 2
			}
		}
	}
	about := map[string]map[string]bool{} // of each document
	for i := range all {
		if p := all[i].of; about[p.Document] == nil {
			about[p.Document] = map[string]bool{}
			for _, w := range roots(spaced(p.Document) + " " + p.About) {
				about[p.Document][w] = true
			}
		}
	}
	tells := func(w string) bool { // one document from another
		n := 0
		for _, has := range about {
			if has[w] {
				n++
			}
		}
		return 2*n <= len(about)
	}
	table := aboutTable.re().MatchString(q.Written)
	for i := range all {
		if table && introduced.re().MatchString(all[i].text) {
			all[i].fit, all[i].cover = 6, 0.6
		}
		count := map[string]float64{}
		for _, w := range has[i] {
			count[w]++
		}
		around, near := 0.0, 0.0
		for k, w := range f.words {
			n, c := want[w], count[w]
			if slices.Contains(f.words[:k], w) {
				continue
			}
			if c > 0 {
				all[i].fit += n * c * 2.2 / (c + 1.2*(0.5+0.5*float64(len(has[i]))/mean))
				if !f.soft[w] {
					all[i].cover += f.weight[w] / max(weights, 0.1)
				}
			} else if !f.soft[w] && about[all[i].of.Document][w] && tells(w) {
				around, near = around+n*byContext, near+f.weight[w]/max(weights, 0.1)
			}
		}
		if all[i].cover > 0 { // else only its document is about it
			all[i].fit, all[i].cover = all[i].fit+around, all[i].cover+near
		}
		for _, p := range q.Periods {
			stated := periods(all[i].text)
			if slices.ContainsFunc(stated, func(s said) bool { return s.Year == p.Year }) {
				all[i].fit, all[i].year = all[i].fit+0.8, true
			}
			if p.Kind == 'M' && slices.ContainsFunc(stated, func(s said) bool { return s.Year == p.Year && s.N == p.N && s.Kind != 'Q' }) {
				all[i].fit += 2
			}
		}
	}
	slices.SortStableFunc(all, func(x, y passed) int { return cmp.Compare(y.fit, x.fit) })
	return all
}

// byContext is how much a word of the question counts that stands in what the document is called or begins
// with, against one of the sentence.
const byContext = 0.6

// aboutTable matches a question about a table as such.
var aboutTable = pattern(`(?i)\b(?:table|tabelle|tableau|tabla)\b`)

// A quotable is a figure of a sentence that a question may ask for.
type quotable struct {
	Figure
	near    float64 // how near the words of the question stand, from 0 to 1 for that with the nearest
	first   bool    // that one
	dated   int     // 1 if it is of a period that was asked for, -1 if of another
	changed bool    // by it something changed
	before  float64 // the share of the question's words between the figure before it and it
	behind  float64 // the share of them between it and the figure behind it
}

// quotable returns the figures of a sentence.
func (f *finder) quotable(s string, q *Question) (some []quotable) {
	stated := periods(s)
	all := figures(s, commas(s), func(at int) bool {
		return slices.ContainsFunc(stated, func(p said) bool { return at >= p.at && at < p.end })
	})
	all = slices.DeleteFunc(all, func(c Figure) bool {
		return isYear(&c) || c.Unit == "" && len(c.Text) < 2 && strings.HasPrefix(s, "("+c.Text)
	})
	stated = slices.DeleteFunc(stated, func(p said) bool { return p.Year == 0 })
	at, most, whole := words(s), 0.1, 0.1
	for w, n := range f.weight {
		if !f.soft[w] {
			whole += n
		}
	}
	between := func(from, to int) (n float64) {
		seen := map[string]bool{}
		for _, w := range at {
			if w.at >= from && w.end <= to && !seen[w.root] && !f.soft[w.root] {
				n += f.weight[w.root] / whole
				seen[w.root] = true
			}
		}
		return n
	}
	for i, c := range all {
		n := 0.0
		for _, w := range at {
			d := float64(w.at - c.end)
			if w.at < c.at {
				d = float64(c.at - w.end)
			}
			n += f.weight[w.root] / (1 + max(d, 0)/12)
		}
		is := quotable{Figure: c, near: n, changed: change.re().MatchString(s[:c.at])}
		from, to := 0, len(s)
		if i > 0 {
			from = all[i-1].end
		}
		if i+1 < len(all) {
			to = all[i+1].at
		}
		is.before, is.behind = between(from, c.at), between(c.end, to)
		if len(q.Periods) > 0 {
			if k, _ := periodFor(s, stated, all, i); k >= 0 && stated[k].Year == q.Periods[0].Year {
				is.dated = 1
			} else if k >= 0 {
				is.dated = -1
			}
		}
		some, most = append(some, is), max(most, n)
	}
	for i := range some {
		some[i].near /= most
		some[i].first = some[i].near == 1
	}
	return some
}

// manyOf matches a question for a number of things.
var manyOf = pattern(`(?i)\bhow many\b|\bnumber of\b|\bwie viele\b|\banzahl\b|\bcombien d[e']|\bnombre d|\bcuántos\b|\bnúmero de\b`)

// percentage matches a question for a percentage.
var percentage = pattern(`(?i)percent|%|\brates?\b|\bprozent|pourcent|porcent|\btaux\b|\bproportion\b`)

// A placed is a word of a sentence, and where it stands.
type placed struct {
	root    string
	at, end int
}

func words(s string) (all []placed) {
	for _, is := range tokens.re().FindAllStringIndex(s, -1) {
		if r := roots(s[is[0]:is[1]]); len(r) > 0 {
			all = append(all, placed{r[len(r)-1], is[0], is[1]})
		}
	}
	return all
}
