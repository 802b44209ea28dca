package manda

import (
	"cmp"
	"slices"
	"strings"
)

// mostQuoted is the greatest number of quoted sentences, and mostSaid the greatest length of one.
const (
	mostQuoted = 6
	mostSaid   = 320
)

// passages answers with quotations from documents, if no figure answers.
func (a *answer) passages(what string) {
	quoted := a.asked(2, mostQuoted/2)
	if a.q.When = a.q.When && len(quoted) > 0; len(quoted) == 0 {
		quoted = a.asked(2, mostQuoted/2)
	}
	if len(quoted) == 0 {
		a.nothing(what)
		return
	}
	if what != "" {
		a.looked("no-figure", "topic", what)
	} else if len(quoted) > 1 {
		a.say("quotes")
	}
	for _, l := range quoted {
		if len(quoted) > 1 || what != "" {
			l.Text = "- " + l.Text
		}
		a.lines = append(a.lines, l)
	}
	if what != "" {
		a.offer()
	}
}

// nothing says that a search for a subject, or else for what the question asks, found nothing.
func (a *answer) nothing(what string) { a.lacks("nothing", "topic", a.subject(what)) }

// subject returns the words that were looked for: those given, the topic of the question, its
// figure, or else the question itself.
func (a *answer) subject(what string) string {
	if what = cmp.Or(what, strings.Join(a.q.Topic, " ")); what == "" && len(a.q.Metrics) > 0 {
		what = a.called(a.q.Metrics[0], a.q.Part)
	}
	if what == "" || a.q.Most != "" {
		what = firstRunes(strings.Join(strings.Fields(a.q.Asked), " "), mostSaid)
	}
	return what
}

// looked adds a sentence about a search, with the number of documents that could be searched.
func (a *answer) looked(key string, places ...string) {
	a.write(a.counted(a.room.Documents-a.room.Unread, key, places...))
}

// missed says what was looked for and not found, and how many documents could not be searched.
func (a *answer) missed(key string, places ...string) {
	if a.room.Documents == 0 {
		a.say("no-documents", "deal", a.room.Deal)
		return
	}
	a.looked(key, places...)
	if a.room.Unread > 0 {
		a.write(a.counted(a.room.Unread, "unread"))
	}
}

// lacks is missed, with what the reader can do next.
func (a *answer) lacks(key string, places ...string) {
	a.missed(key, places...)
	if a.room.Documents > 0 {
		a.offer()
	}
}

// quotes returns the sentences that have most of what is wanted, each with its place, without those
// that have fewer than least of it or less than half. only accepts a sentence; nil accepts all.
func (a *answer) quotes(want []aim, least, most int, only func(*sentence) bool) (lines []Line) {
	type scored struct {
		*sentence
		n float64
	}
	var all []scored
	x := a.sentences()
	for i := range x.all {
		s := &x.all[i]
		if s.head || len(s.text) < 8 || only != nil && !only(s) {
			continue
		}
		if f := x.fit(want, s); len(want) == 0 || f.own > 0 && f.own+f.either >= 2*min(least, len(want))-1 && f.own+f.either >= len(want) {
			all = append(all, scored{s, float64(f.own+f.either) + f.weight/100})
		}
	}
	slices.SortStableFunc(all, func(x, y scored) int { return cmp.Compare(y.n, x.n) })
	for _, s := range all {
		if l := a.quote(s.of, s.text); len(lines) < most && !slices.ContainsFunc(lines, func(o Line) bool { return o.Text == l.Text }) {
			lines = append(lines, l)
		}
	}
	return lines
}

// asked returns the sentences that fit the question best.
func (a *answer) asked(least, most int) []Line {
	want := slices.Clone(a.q.Aims)
	for _, m := range a.q.Metrics {
		for _, w := range aims(m, unsaid) {
			if !slices.ContainsFunc(want, func(a aim) bool { return a.of == w.of }) {
				want = append(want, w)
			}
		}
	}
	ends := aims("maturity term termination", unsaid)
	if a.q.When { // a date answers it: the other words only have to name the subject
		if of := slices.DeleteFunc(slices.Clone(want), func(a aim) bool { return slices.ContainsFunc(ends, func(b aim) bool { return a.of == b.of }) }); len(of) > 0 {
			want = of
		}
	}
	if len(want) == 0 {
		return nil
	}
	only := func(s *sentence) bool {
		if a.q.When && !slices.ContainsFunc(periods(s.text), func(p said) bool { return p.Kind == 'D' || p.Kind == 'M' }) {
			return false
		}
		name, _, _ := says("most", plainly(s.text))
		return a.q.Most == "" || a.q.Most == "every" || name == a.q.Most
	}
	if a.q.When {
		if all := a.quotes(want, least, most, func(s *sentence) bool { return only(s) && shared(ends, s.has) > 0 }); len(all) > 0 {
			return all
		}
	}
	return a.quotes(want, least, most, only)
}

// stem removes the endings of a word in our languages. Stems are only compared with one another.
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

// sentences returns the sentences of a passage. It joins the lines of a page first; in a table, each
// row is a sentence.
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
