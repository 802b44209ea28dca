package manda

import (
	"cmp"
	"slices"
)

// A breakdown (M19)

func (a *answer) breakDown() {
	a.unknown()
	if a.q.Most != "" && a.extreme() {
		return
	}
	metrics, title := a.q.Metrics, a.q.Group
	if title == "" && len(metrics) == 0 && len(a.q.Topic) > 0 {
		a.bringTogether()
		return
	}
	if title == "" && len(metrics) == 0 {
		title = "P&L"
	}
	topic := a.word("group", title)
	if title == "" {
		topic = a.called(metrics[0], a.q.Part)
		if len(metrics) == 1 && a.series(metrics[0]) {
			return
		}
	}
	if a.q.Group != "" || len(metrics) == 0 {
		metrics = listed("group", title)
	}
	period := a.common(metrics)
	if period.Kind == 0 && a.q.Part == "" { // of parts alone
		a.q.Part = anyPart
		period = a.common(metrics)
		a.q.Part = ""
	}
	if period.Kind == 0 {
		a.passages(topic)
		return
	}
	a.say("breakdown", "topic", topic, "period", a.period(period, label))
	before := period
	before.Year--
	var anomalies []Line
	for _, metric := range metrics {
		now := first(a.of(metric, false, asked(period)), a.of(metric, true, asked(period)))
		if now == nil {
			continue
		}
		key, by := "line", ""
		if then := first(a.of(metric, false, asked(before))); then != nil && then.Unit == now.Unit && then.Subject == now.Subject {
			key, by = "line-trend", a.change(then.Value, now.Value, now.Unit)
			if notable(then.Value, now.Value, now.Unit) {
				anomalies = append(anomalies, a.line(then, Claim, a.about(then, "moved", "metric", a.called(metric, ""), "change", by, "period", a.period(before, label))))
			}
		}
		if now.Status == Forecast {
			key += "-forecast"
		}
		a.tell(now, key, "change", by, "before", a.period(before, label))
		var parts []*Fact
		if len(metrics) == 1 {
			parts = a.table(metric, period)
		}
		if len(parts) == 0 {
			parts = a.partsOf(now)
		}
		for _, part := range parts {
			name := part.Subject
			if part.Metric != metric {
				name = a.called(part.Metric, part.Subject)
			}
			a.tell(part, "part", "part", name)
			a.clashes(part, "  - ", "conflict")
		}
		a.clashes(now, "  - ", "conflict")
	}
	if len(anomalies) > 0 {
		a.say("attention")
		a.lines = append(a.lines, anomalies...)
	}
}

// series tells a figure over time. It returns false if there is at most one period.
func (a *answer) series(metric string) bool {
	every := a.of(metric, false, func(p Period) bool {
		switch {
		case len(a.q.Periods) > 2:
			return a.wanted()(p) // these years, without their quarters
		case len(a.q.Periods) == 2 && developed.re().MatchString(plainly(a.q.Written)):
			from, to := a.q.Periods[0], a.q.Periods[1]
			return p.Kind == from.Kind && min(from.end(), to.end()) <= p.end() && p.end() <= max(from.end(), to.end())
		}
		return len(a.q.Periods) == 0 || slices.ContainsFunc(a.q.Periods, func(w Period) bool { return w.Year == 0 || w.Year == p.Year })
	})
	all := onePerPeriod(every)
	if len(all) < 2 {
		return false
	}
	a.say("over-time", "metric", a.called(metric, a.q.Part))
	for i, f := range all[:min(len(all), 10)] {
		key, by := "at-period", ""
		for _, o := range all[i+1:] {
			p, was := parsePeriod(f.Period), parsePeriod(o.Period)
			if p.Kind == was.Kind && p.N == was.N && p.Year == was.Year+1 && o.Unit == f.Unit && o.Subject == f.Subject {
				key, by = "at-period-trend", a.change(o.Value, f.Value, f.Unit)
			}
		}
		of := f.Subject
		if of == a.q.Part {
			of = ""
		}
		a.tell(f, key, "period", a.withPart(a.at(f, label), of), "change", by)
		for _, o := range every { // if there are only parts, each of them
			if o.Period == f.Period && o.Subject != f.Subject {
				a.tell(o, "part", "part", o.Subject)
			}
		}
		a.clashes(f, "  - ", "conflict")
	}
	return true
}

// A comparison (M21)

func (a *answer) compare() {
	a.unknown()
	q := &a.q
	metrics := q.Metrics
	if len(metrics) == 0 {
		metrics = needs(q)
	}
	if len(q.Periods) > 2 && len(q.Metrics) > 0 && len(q.Statuses) < 2 && len(q.Parts) < 2 {
		a.severally()
		return
	}
	type pair struct {
		a, b     *Fact
		from, to string
	}
	var pairs []pair
	add := func(from, to *Fact, was, is string) {
		if from != nil && to != nil && from != to && (from.Unit == to.Unit || from.Metric != to.Metric) {
			pairs = append(pairs, pair{from, to, cmp.Or(was, a.at(from, label)), cmp.Or(is, a.at(to, label))})
		}
	}
	for i, metric := range metrics {
		now := func() *Fact { return a.told(metric, a.wanted()) }
		switch {
		case len(q.Parts) > 1 && len(q.Metrics) > 0:
			of := func(part string) *Fact { return first(latest(a.ofPart(metric, part, false, a.wanted()))) }
			add(of(q.Parts[1]), of(q.Parts[0]), capital(q.Parts[1]), capital(q.Parts[0]))
		case q.LastYear && len(q.Periods) < 2 && len(q.Metrics) > 0:
			if to := now(); to != nil {
				before := parsePeriod(to.Period)
				before.Year--
				if from := a.told(metric, asked(before)); from != nil && from.Subject == to.Subject {
					add(from, to, "", "")
				}
			}
		case len(q.Statuses) == 2 || len(q.Periods) < 2 && len(q.Metrics) < 2:
			had := len(pairs)
			for _, to := range onePerPeriod(a.of(metric, false, a.wanted())) {
				if len(q.Metrics) == 1 || len(pairs) == had {
					add(first(a.of(metric, true, asked(parsePeriod(to.Period)))), to, a.text("side forecast"), a.text("side actual"))
				}
			}
		case len(q.Periods) > 1:
			from, to := a.told(metric, asked(q.Periods[0])), a.told(metric, asked(q.Periods[1]))
			if from != nil && to != nil && parsePeriod(from.Period).end() > parsePeriod(to.Period).end() {
				from, to = to, from
			}
			add(from, to, "", "")
		case i == 1:
			if x := a.told(metrics[0], a.wanted()); x != nil {
				add(x, a.told(metric, asked(parsePeriod(x.Period))), a.called(metrics[0], ""), a.called(metric, ""))
			}
		}
	}
	for _, metric := range q.Metrics { // compared with the value before its correction
		if now := a.told(metric, a.wanted()); now != nil && len(pairs) == 0 && !q.LastYear {
			add(a.replaced(now), now, a.text("side earlier"), a.text("side current"))
		}
	}
	if len(pairs) == 0 {
		if len(q.Metrics) == 1 && len(q.Periods) == 1 && a.series(q.Metrics[0]) {
			return
		}
		some := false
		for _, metric := range q.Metrics {
			some = a.figure(metric) || some
		}
		if some {
			a.looked("one-side")
			a.offer()
			return
		}
		what := ""
		if len(q.Metrics) > 0 {
			what = a.called(q.Metrics[0], q.Part)
		}
		a.lacks("nothing-sides", "topic", a.subject(what))
		return
	}
	a.say("sides", "to", pairs[0].to, "from", pairs[0].from)
	for _, p := range pairs {
		key := "side-to"
		if p.a.Metric != p.b.Metric {
			key = "side-to-other"
		}
		a.tell(p.a, "side-from", "from", p.from)
		a.tell(p.b, key, "to", p.to, "change", a.change(p.a.Value, p.b.Value, p.b.Unit))
		a.clashes(p.b, "  ", "conflict-period")
	}
}

// severally answers for three or more periods, and says which of them have no figure.
func (a *answer) severally() {
	all := a.q.Periods
	for _, metric := range a.q.Metrics {
		told := a.series(metric)
		for _, want := range all {
			if told && len(a.of(metric, false, asked(want))) > 0 {
				continue
			}
			a.q.Periods = []Period{want}
			if !a.figure(metric) {
				a.lacks("nothing", "topic", a.called(metric, a.q.Part))
			}
			a.q.Periods = all
		}
	}
}

// clashes tells below a fact what contradicts it.
func (a *answer) clashes(f *Fact, below, key string) {
	for _, c := range a.room.Clashes {
		if o := c.other(f); o != nil && !o.Superseded {
			a.doubt(o, below, key)
			return
		}
	}
}

// wanted returns a function that accepts the periods that were asked for, or nil if there were none.
func (a *answer) wanted() func(Period) bool {
	if len(a.q.Periods) == 0 {
		return nil
	}
	return func(p Period) bool {
		return slices.ContainsFunc(a.q.Periods, func(w Period) bool { return asked(w)(p) })
	}
}
