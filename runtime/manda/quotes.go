package manda

import (
	"cmp"
	"slices"
	"strings"
)

// mostQuoted is how many sentences are quoted, and mostSaid how long one may be.
const (
	mostQuoted = 6
	mostSaid   = 320
)

// passages answers with what the documents say, where no figure answers.
func (a *answer) passages(what string) {
	quoted := a.quotes(2, mostQuoted/2)
	if a.q.When = a.q.When && len(quoted) > 0; len(quoted) == 0 {
		quoted = a.quotes(2, mostQuoted/2)
	}
	if len(quoted) == 0 {
		a.nothing(what)
		return
	}
	if what != "" {
		a.say("no-figure", "topic", what)
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

// nothing answers that nothing was found of a matter, or else of what was asked about.
func (a *answer) nothing(what string) {
	if what = cmp.Or(what, strings.Join(a.q.Topic, " ")); what == "" || a.q.Most != "" {
		a.lacks("nothing-this")
		return
	}
	a.lacks("nothing", "topic", what)
}

// lacks says why nothing was found, and what the reader can do next.
func (a *answer) lacks(key string, places ...string) {
	if a.room.Documents == 0 {
		a.say("no-documents")
		return
	}
	a.write(a.counted(a.room.Documents, key, places...))
	a.offer()
}

// quotes are the sentences that fit the question best, each with its place; those that
// have fewer than so many of its words, or than half, are left out.
func (a *answer) quotes(least, most int) []Line {
	want := slices.Clone(a.q.Aims)
	for _, m := range a.q.Metrics {
		for _, w := range aims(m, unsaid) {
			if !slices.ContainsFunc(want, func(a aim) bool { return a.of == w.of }) {
				want = append(want, w)
			}
		}
	}
	ends := aims("maturity term termination", unsaid)
	if a.q.When { // a date says when: what else has to be said is of what
		if of := slices.DeleteFunc(slices.Clone(want), func(a aim) bool { return slices.ContainsFunc(ends, func(b aim) bool { return a.of == b.of }) }); len(of) > 0 {
			want = of
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
		around := ideas(p.Heading + " " + spaced(p.Document))
		for _, s := range quotable(p.Text) {
			has := ideas(s)
			n, own := 0, 0
			if a.q.When && !slices.ContainsFunc(periods(s), func(p said) bool { return p.Kind == 'D' || p.Kind == 'M' }) {
				continue
			}
			if name, _, _ := says("most", plainly(s)); a.q.Most != "" && a.q.Most != "every" && name != a.q.Most {
				continue
			}
			for _, w := range want {
				switch {
				case w.in(has):
					n, own = n+2, own+1
				case w.in(around):
					n++
				}
			}
			if a.q.When && shared(ends, has) > 0 {
				n += 2 * len(want)
			}
			if own > 0 && n >= 2*min(least, len(want))-1 && n >= len(want) {
				all = append(all, scored{a.quote(p, s), n, rank})
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

// quotable are the sentences of a passage. The head of a table is told with its rows.
func quotable(text string) []string {
	head, _, ok := tabular(text)
	return slices.DeleteFunc(sentences(text), func(s string) bool { return ok && s == head })
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
