package manda

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Risks (M20)

func (a *answer) risks() {
	about := a.q.Aims
	if len(a.q.Metrics)+len(about) > 0 {
		if a.risksOf(about, a.q.matter()) {
			return
		}
		a.missed("no-risk", "topic", a.subject(""))
		a.say("stands-out")
		a.q.Metrics, a.q.Aims, a.q.Topic = nil, nil, nil
	}
	if !a.risksOf(nil, nil) {
		a.lacks("nothing-risks")
	}
}

// risky returns the metrics that indicate the risk of a question's subject.
func (q *Question) risky() (all []string) {
	for _, p := range phrasings() {
		if p.kind == "risky" && (p.name == q.Group || slices.ContainsFunc(q.matter(), func(a aim) bool { return a.of == p.name })) {
			all = append(all, p.said...)
		}
	}
	return all
}

// risksOf tells the facts and sentences about a risk, of a subject or in general. It returns false
// if there are none.
func (a *answer) risksOf(about, matter []aim) bool {
	mine := func(f *Fact) bool {
		return len(a.q.Metrics)+len(about) == 0 || slices.ContainsFunc(about, func(w aim) bool { return slices.Contains(listed("within", f.Domain), w.of) }) && slices.Contains(listed("group", "risk"), f.Metric) || slices.Contains(a.q.Metrics, f.Metric) || shared(matter, ideas(f.Metric+" "+f.Subject+" "+f.Domain+" "+spaced(f.Document))) > 0
	}
	some := a.contradictions(mine)
	var unusual []Line
	for i := range a.room.Facts {
		f := &a.room.Facts[i]
		if slices.Contains(listed("group", "risk"), f.Metric) && mine(f) && !f.Superseded {
			unusual = append(unusual, a.line(f, Claim, a.about(f, "item")))
		}
	}
	for _, metric := range a.q.Metrics {
		if f := a.told(metric, a.wanted()); f != nil {
			unusual = append(unusual, a.line(f, Claim, a.about(f, "item")))
		}
	}
	for _, metric := range a.q.risky() {
		for i := range a.room.Facts {
			if f := &a.room.Facts[i]; f.Metric == metric && !f.Superseded && f.Status != Forecast {
				unusual = append(unusual, a.line(f, Claim, a.about(f, "item")))
			}
		}
	}
	for _, f := range a.speaking(about, 4) {
		if shared(about, ideas(f.Metric)) > 0 && !slices.Contains(listed("group", "risk"), f.Metric) {
			unusual = append(unusual, a.line(f, Claim, a.about(f, "item")))
		}
	}
	risks := aims(strings.Join(listed("topic", "risk"), " "), unsaid)
	quotes := a.quotes(matter, 1, mostQuoted, func(s *sentence) bool {
		return len(s.text) > 30 && !strings.Contains(s.of.Text, " | ") && shared(risks, s.has) > 0
	})
	if len(quotes) == 0 {
		quotes = a.asked(1, mostQuoted)
	}
	for _, l := range quotes {
		l.Text = "- " + l.Text
		unusual = append(unusual, l)
	}
	if len(unusual) > 0 {
		a.say("unusual")
		unusual = unusual[:min(len(unusual), 10)]
		a.lines = append(a.lines, unusual...)
		a.versions(unusual)
		some = true
	}
	missing := a.missing()
	if len(about) > 0 {
		missing = slices.DeleteFunc(missing, func(r *Request) bool {
			// Of what the lines above quote, nobody may be told that no passage was found.
			return shared(about, ideas(r.Text+" "+r.Domain)) == 0 || len(unusual) > 0 && shared(about, ideas(r.Text)) > 0
		})
	}
	if len(missing) > 0 {
		a.looked("gaps")
		for _, r := range missing[:min(len(missing), 15)] {
			a.lines = append(a.lines, Line{Text: a.text("gap", "request", r.Text, "domain", a.word("domain", r.Domain), "priority", a.word("priority", r.Priority)), Row: r.Row, Role: Missing})
		}
		a.offer()
	}
	return some || len(missing) > 0
}

// differing returns the contradictions that still stand, each pair of values of one figure once.
func (a *answer) differing() (all []Clash) {
	for _, c := range a.room.Clashes {
		again := slices.ContainsFunc(all, func(o Clash) bool { // one of them is rounded elsewhere
			is := func(x, y *Fact) bool { return x.Unit == y.Unit && Agree(x.Value, x.Step, y.Value, y.Step) }
			return o.A.Metric == c.A.Metric && o.A.Subject == c.A.Subject && o.A.Period == c.A.Period && (is(o.A, c.A) && is(o.B, c.B) || is(o.A, c.B) && is(o.B, c.A))
		})
		if !again && !c.A.Superseded && !c.B.Superseded {
			all = append(all, c)
		}
	}
	return all
}

// contradictions lists the contradictions of figures that mine accepts, and reports whether there
// are any.
func (a *answer) contradictions(mine func(*Fact) bool) (some bool) {
	for _, c := range a.differing() {
		if !mine(c.A) {
			continue
		}
		if !some {
			a.say("contradictions")
		}
		some = true
		a.tell(c.A, "item")
		a.against("but", "but-quality", c.A, c.B, Claim)
	}
	return some
}

// missing returns the uncovered requests, of a domain or of all, in order of priority.
func (a *answer) missing() []*Request {
	var all []*Request
	for i := range a.room.Requests {
		if r := &a.room.Requests[i]; !r.Covered {
			all = append(all, r)
		}
	}
	rank := func(r *Request) int { return slices.Index([]string{"high", "medium", "low"}, r.Priority) }
	slices.SortStableFunc(all, func(x, y *Request) int { return rank(x) - rank(y) })
	return all
}

// Missing information (M23)

func (a *answer) gaps() {
	if len(a.room.Requests) == 0 {
		a.say("no-requests", "deal", a.room.Deal)
		return
	}
	domains, only := a.domains(), map[string]bool{}
	if name, _, ok := says("domain", plainly(a.q.Text)); ok {
		domains = slices.DeleteFunc(domains, func(d string) bool { return plainly(d) != name })
	} else { // about the subject of the question, if the list has it
		for _, r := range a.room.Requests {
			if shared(a.q.Aims, ideas(r.Text)) > 0 {
				only[r.Text] = true
			}
		}
	}
	for _, l := range a.asked(2, mostQuoted/2) {
		if len(only) > 0 {
			a.lines = append(a.lines, l)
		}
	}
	a.looked("coverage", "deal", a.room.Deal)
	some := false
	for _, d := range domains {
		n, all := a.coverage(d)
		if len(only) > 0 && !slices.ContainsFunc(a.room.Requests, func(r Request) bool { return r.Domain == d && only[r.Text] }) {
			continue
		}
		a.write(a.counted(all, "coverage-domain", "domain", a.word("domain", d), "covered", strconv.Itoa(n)))
		for i := range a.room.Requests {
			switch r := &a.room.Requests[i]; {
			case r.Domain != d, len(only) > 0 && !only[r.Text]:
			case r.Covered:
				a.lines = append(a.lines, Line{Text: a.text("covered", "request", r.Text) + " " + a.source(r.Document, r.Place), Document: r.Document, Place: r.Place, Row: r.Row, Role: Covered})
			default:
				a.lines = append(a.lines, Line{Text: a.text("missing", "request", r.Text, "priority", a.word("priority", r.Priority)), Row: r.Row, Role: Missing})
				some = true
			}
		}
	}
	if some {
		a.offer()
	}
}

// domains returns the domains of the requests, in order.
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

// The greatest numbers of sentences in a synthesis: in all, and below one heading.
const (
	mostTogether = 30
	mostHere     = 6
)

func (a *answer) bringTogether() {
	topic := strings.Join(a.q.Topic, " ")
	if topic == "" && len(a.q.Metrics) > 0 {
		topic = a.called(a.q.Metrics[0], "")
	}
	want := a.q.matter()
	by := map[string][]Line{}
	var order []string
	n := 0
	for i := range a.sentences().all {
		s := &a.sentences().all[i]
		head := cmp.Or(s.of.Heading, s.of.Document)
		row := strings.Contains(s.of.Text, " | ") && shared(a.q.Aims, s.around) > 0 // below a heading with the subject, each row is about it
		fits := row || shared(want, s.has) > 0 || s.of.Whole && len(by[head]) < 2
		if !fits || s.head || n == mostTogether || len(by[head]) == mostHere || len(s.text) <= len(s.of.Heading)+8 || slices.ContainsFunc(by[head], func(l Line) bool { return strings.Contains(l.Text, s.text) }) {
			continue
		}
		if by[head] == nil {
			order = append(order, head)
		}
		l := a.quote(s.of, s.text)
		l.Text = "- " + l.Text
		by[head] = append(by[head], l)
		n++
	}
	figures := a.speaking(want, mostQuoted)
	for _, metric := range a.q.Metrics {
		for _, f := range a.of(metric, false, a.wanted()) {
			if !slices.Contains(figures, f) && len(figures) < 2*mostQuoted {
				figures = append(figures, f)
			}
		}
	}
	if n == 0 && len(figures) == 0 {
		a.nothing(topic)
		return
	}
	slices.SortStableFunc(order, func(x, y string) int { return shared(a.q.Aims, ideas(y)) - shared(a.q.Aims, ideas(x)) })
	told := len(a.lines)
	if topic == "" {
		a.say("together-this")
	} else {
		a.say("together", "topic", topic)
	}
	for _, head := range order {
		a.write("**" + head + "**")
		a.lines = append(a.lines, by[head]...)
	}
	if len(figures) > 0 {
		a.say("figures")
		for _, f := range figures {
			a.tell(f, "item")
		}
	}
	a.versions(a.lines[told:])
	var open []*Request
	for _, r := range a.missing() {
		if shared(want, ideas(r.Text)) > 0 {
			open = append(open, r)
		}
	}
	if len(open) > 0 {
		a.looked("gaps")
		for _, r := range open {
			a.lines = append(a.lines, Line{Text: "- " + r.Text, Row: r.Row, Role: Missing})
		}
		a.offer()
	}
}

func (a *answer) overview() {
	a.say("overview", "deal", a.room.Deal)
	a.write(a.counted(a.room.Documents, "overview-documents"))
	for _, metric := range [...]string{"revenue", "ebitda", "net income", "headcount"} {
		if f := a.told(metric, nil); f != nil {
			a.tell(f, "overview-item", "metric", a.called(metric, ""))
		}
	}
	if len(a.room.Requests) > 0 {
		var strong, limited []string
		for _, d := range a.domains() {
			n, all := a.coverage(d)
			if 3*n >= 2*all {
				strong = append(strong, a.word("domain", d))
			} else {
				limited = append(limited, a.word("domain", d))
			}
		}
		key := "overview-coverage"
		switch {
		case len(limited) == 0:
			key = "overview-strong"
		case len(strong) == 0:
			key = "overview-limited"
		}
		a.say(key, "strong", strings.Join(strong, ", "), "limited", strings.Join(limited, ", "))
	}
	if n := len(a.differing()); n > 0 {
		a.write(a.counted(n, "overview-contradictions"))
	}
	a.say("offer-topics")
}
