package intent

import (
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/verbs"
)

// Free texts as arguments: which of the words are the text, and which only say so.

// text fills a string argument: with a text that matches its pattern or, for free text, with the
// person's own words.
func (f *filling) text() {
	r, p, pr, c := f.r, f.p, f.pr, f.c
	if pr.Type.Pattern != nil {
		f.patterned()
		return
	}
	free := 0
	for i := range p.Verb.Params {
		if q := &p.Verb.Params[i]; q.Required && q.Type.Name == verbs.StringType && q.Type.Pattern == nil {
			free++
		}
	}
	at, how := r.captured(p, pr, c)
	if how != said && !sentences(pr) {
		if named, _ := r.labelled(pr, c); named.End > 0 {
			at, how = named, said
		}
	}
	if !pr.Required && how != said {
		if sentences(pr) && r.reasons(p.Verb, c) {
			f.take(dsl.NewString(c.raw(c.rng)), c.rng, nil) // "call me tomorrow before noon, it is urgent"
		}
		return
	}
	if colon := c.colon(); how == elsewhere && colon > 0 && r.announcement(p.Verb, pr, c, colon) {
		at, how = unquoted(c.text, values.Range{Start: colon, End: c.rng.End}), said
	}
	if sentences(pr) && at.End == c.rng.End && strings.HasPrefix(c.text[at.End:], "?") {
		at.End++
	}
	if how == said && !sentences(pr) {
		at = c.upToClause(r.without(p.Verb, pr, c, at))
	}
	switch {
	case how == said && !r.onlyRow(p.Verb, c, at):
	case how == elsewhere && free == 1 && sentences(pr) && c.content() && !r.announcement(p.Verb, pr, c, c.rng.End):
		at = c.rng
	default:
		f.missing()
		return
	}
	if raw := c.raw(at); f.accepted(stores.NewString(raw)) {
		f.take(dsl.NewString(raw), at, nil)
	}
}

// upToClause returns a range that is no sentence without what is said behind a comma in so many words that it is no part
// of a value: "31 December 2048, the scan is bad".
func (c *clause) upToClause(at values.Range) values.Range {
	const many = 4
	for i := range c.words {
		if w := &c.words[i]; w.Range.Start > at.Start && w.Range.End <= at.End && c.pauses(i) && i+many <= len(c.words) && c.words[i+many-1].Range.End <= at.End && !c.quoted[i] {
			return values.Range{Start: at.Start, End: c.words[i-1].Range.End}
		}
	}
	return at
}

// reasons reports whether a clause says more than that a verb is meant which needs nothing else: a value, a row, or two
// words that none of its phrases has.
func (r *Reader) reasons(v *verbs.Verb, c *clause) bool {
	if slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Required }) || len(v.Effects) == 0 {
		return false
	}
	more, named := 0, make([]bool, len(c.words))
	for e := range r.names {
		for _, k := range r.rowsIn(c, e).words {
			named[k] = true
		}
	}
	for i := c.opening; i < len(c.words); i++ {
		switch w := c.words[i].Plain; {
		case c.taken[i] || named[i]:
			more += 3
		case !small()[w] && !slices.ContainsFunc(r.ix.templatesOf(v), func(tp template) bool { return r.has(&tp, c, i) }):
			more++
		}
	}
	return more > 2
}

// without returns the range of a name or another short text without the value of another argument
// behind it: in "check John Smith, born 1980-05-01", the name is "John Smith". A note is not
// shortened.
func (r *Reader) without(v *verbs.Verb, pr *verbs.Param, c *clause, at values.Range) values.Range {
	next := at.End
	before := func(of values.Range) {
		if of.Start > at.Start {
			next = min(next, of.Start)
		}
	}
	for i := range v.Params {
		other := &v.Params[i]
		switch other.Type.Name {
		case verbs.StringType:
			if other == pr {
				break
			}
			if other.Type.Pattern == nil {
				if named, begins := r.labelled(other, c); named.End > 0 {
					before(values.Range{Start: begins})
				}
				break
			}
			if hit, ok := patternIn(c, other); ok {
				before(hit)
			}
		case verbs.DateType, verbs.MoneyType, verbs.EmailType, verbs.PhoneType, verbs.IBANType:
			for _, rd := range c.readings {
				if slices.Contains(kindsOf(other.Type.Name), rd.What) {
					before(rd.Range)
				}
			}
		}
	}
	if next == at.End {
		return at
	}
	// It ends at the last comma or "and" before that, and otherwise without small words and those of
	// the phrases, such as "with" and "born".
	ours := func(i int) bool {
		return small()[c.words[i].Plain] || slices.ContainsFunc(r.ix.templatesOf(v), func(tp template) bool { return r.has(&tp, c, i) })
	}
	end, paused := at.Start, false
	for i := range c.words {
		w := &c.words[i]
		switch {
		case w.Range.Start < at.Start || w.Range.End > next:
		case w.Range.Start > at.Start && (c.pauses(i) || joins()[w.Plain]):
			end, paused = c.words[i-1].Range.End, true
		case !paused && !ours(i):
			end = w.Range.End
		}
	}
	return values.Range{Start: at.Start, End: end}
}

// labelled returns the place of a short text that stands behind the name of its argument, "phone
// 555-0123", "con el nombre Prestamistas", and where that name begins. An address stands without one
// for an argument that is named for it.
func (r *Reader) labelled(pr *verbs.Param, c *clause) (at values.Range, begins int) {
	if sentences(pr) || pr.Type.Pattern != nil || pr.Upload != nil {
		return at, 0
	}
	labels := []string{stem(pr.Name), stemIn(c.tongue, values.Plain(r.label(c.tongue, pr.Name)))}
	for i := range c.words {
		if c.quoted[i] || !c.is(i, labels[0]) && !c.is(i, labels[1]) {
			continue
		}
		from := i + 1
		for from < len(c.words) && small()[c.words[from].Plain] {
			from++
		}
		to := from
		for to < len(c.words) && (to == i+1 || !c.pauses(to)) && !joins()[c.words[to].Plain] {
			to++
		}
		if to > from && (from == i+1 || !c.pauses(from)) {
			return c.quotation(from, to), c.words[i].Range.Start
		}
	}
	for _, rd := range c.readings {
		if (rd.What == values.Email || rd.What == values.Phone) && rd.What.String() == pr.Name {
			return rd.Range, rd.Range.Start
		}
	}
	return at, 0
}

// onlyRow reports that a range of a clause is nothing but names of rows that a required argument
// takes.
func (r *Reader) onlyRow(v *verbs.Verb, c *clause, at values.Range) bool {
	named := make([]bool, len(c.words))
	for i := range v.Params {
		if p := &v.Params[i]; p.Required {
			r.marks(named, p, c)
		}
	}
	return c.only(at, named)
}

// only reports that a range of a clause has no other words than those that are marked.
func (c *clause) only(at values.Range, marked []bool) bool {
	for i := range c.words {
		if c.words[i].Range.Start >= at.Start && c.words[i].Range.End <= at.End && !marked[i] {
			return false
		}
	}
	return true
}

// texts reports that names of rows are all that a clause has in the place of a text. Then they are
// that text, and name no row for an optional argument: "find violin" for the phrase "find {name}".
func (f *filling) texts(of *found) bool {
	named := make([]bool, len(f.c.words))
	for _, k := range of.words {
		named[k] = true
	}
	for i := range f.p.Verb.Params {
		if q := &f.p.Verb.Params[i]; freeText(q) {
			if at, how := f.r.captured(f.p, q, f.c); how == said && f.c.only(at, named) {
				return true
			}
		}
	}
	return false
}

// content reports that a clause says more than which verb is meant.
func (c *clause) content() bool {
	n := 0
	for i := range c.words {
		if c.weights[i] > 0.2 {
			n++
		}
	}
	return n >= 2 || len(c.words) >= 4
}

// announcement reports that a clause, up to a place, only announces the text that follows. All of
// its words lead to the text's place in the phrases, name rows, or are small words; if a word such
// as "note" names the argument, one other word is allowed: "add a note". (F26)
func (r *Reader) announcement(v *verbs.Verb, pr *verbs.Param, c *clause, upto int) bool {
	named, calls, leads, others := r.named(v, c), 0, 0, 0
	for i := range c.words {
		switch {
		case c.words[i].Range.End > upto:
			continue
		case named[i]:
			leads++
			continue
		case small()[c.words[i].Plain]:
			continue
		}
		as := 0
		all := r.ix.templatesOf(v)
		for t := range all {
			tp := &all[t]
			ends := len(tp.words) > 0 && tp.words[len(tp.words)-1].param == pr
			switch {
			case !tp.named && !ends || !r.has(tp, c, i):
			case tp.named || tp.colon:
				as = 2
			default:
				as = max(as, 1)
			}
		}
		switch {
		case as == 2 || c.is(i, stem(pr.Name)):
			calls++
		case as == 1:
			leads++
		default:
			others++
		}
	}
	return others == 0 && calls+leads > 0 || calls > 0 && others+leads <= 1+len(slices.DeleteFunc(named, func(is bool) bool { return !is }))
}
