package intent

import (
	"cmp"
	"slices"
	"strings"

	"verbatim/runtime/conversation/intent/rank"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// Which verbs a clause may mean, and how likely each is.

// query returns the compared form of a clause: its words, and the kinds of their readings.
func (r *Reader) query(c *clause) *rank.Query {
	if c.sought != nil {
		return c.sought
	}
	q := &rank.Query{}
	rows, whole := make([]uint64, len(c.words)), make([]bool, len(c.words))
	every := uint64(0)
	for e := range r.names {
		if n, ok := r.ix.entities[e]; ok {
			kind := entityKind(n)
			every |= kind
			f := r.rowsIn(c, e)
			for _, k := range f.words {
				rows[k] |= kind
				whole[k] = whole[k] || f.written
			}
		}
	}
	codes := make([]bool, len(c.words))
	for _, l := range r.ix.reg.CodeLists() {
		_, at := r.codesIn(c, l)
		for _, k := range at {
			codes[k] = true
		}
	}
	masks, last := false, ""
	from, end := c.opening, len(c.words)
	if c.bare {
		from, end = spared(c.words, c.opening)
	}
	for i := range c.words {
		if c.quoted[i] || i < from || i >= end {
			continue
		}
		kind, place := rows[i], ""
		if c.dot(i) && len(c.files) == 0 {
			kind |= every // the name of a row, although no row has it
		}
		if kind != 0 {
			place = "{row}"
		}
		if codes[i] {
			kind, place = kind|codeKind, "{code}"
		}
		at := c.words[i].Range
		if inside(c.files, at) || inside(c.called, at) {
			kind, place = fileKind, "{file}"
		} else if !plainWord(c.words[i].Plain) {
			kind |= patternKind
		}
		for k := range c.readings {
			rd := &c.readings[k]
			if rd.Range.Start <= at.Start && at.End <= rd.Range.End {
				kind |= 1 << rd.What
				if s := placeOfReading(rd.What); s != "" && !whole[i] && (place != "{row}" || rd.What != values.Integer) {
					place = s
				}
			}
		}
		w := r.rootOf(c, i)
		q.Words, q.Kinds = append(q.Words, w), append(q.Kinds, kind)
		switch {
		case place == "":
			q.Masked, last = append(q.Masked, w), ""
		case place != last:
			q.Masked, last, masks = append(q.Masked, place), place, true
		}
	}
	if !masks {
		q.Masked = nil
	}
	c.sought = q
	return q
}

// placeOfReading returns the placeholder of a reading in compared texts.
func placeOfReading(w values.What) string {
	switch w {
	case values.Date:
		return "{date}"
	case values.Money, values.Integer, values.Decimal, values.Percent:
		return "{number}"
	case values.Email, values.Phone:
		return "{address}"
	}
	return ""
}

// rank lists the verbs that a clause may mean, the likeliest first.
func (r *Reader) rank(c *clause) []rank.Candidate {
	all := r.signsOf(c, -1)
	r.ix.model.Weigh(all)
	if from, to := spared(c.words, c.opening); from > c.opening || to < len(c.words) {
		// Phrases may have such words as well, so that what is surer counts. Of few verbs, a sentence
		// that is unclear without them stays what it was: it may be about nothing here.
		bare := *c
		bare.bare, bare.sought = true, nil
		if other := r.signsOf(&bare, -1); len(other) > 0 {
			if r.ix.model.Weigh(other); len(all) == 0 || other[0].Score > all[0].Score && (r.ix.ranker.Large() || other[0].Score >= sureToRead) {
				all, c.sought = other, bare.sought
			}
		}
	}
	r.suit(c, all)
	return all
}

// unsuited is the factor for what cannot be what is asked for.
const unsuited = 0.05

// suit lowers the candidates that cannot be what is asked for, and gives what they lose to the others: a change that
// has no place for an amount, an address or a day that was said, where another change has one; and whatever is not
// said with the word for what is to be done, if it is one of few: "cancel", "close", "move".
func (r *Reader) suit(c *clause, all []rank.Candidate) {
	acts := r.ix.ranker.Large() || len(all) == 0
	var group []string
	if !acts {
		group = c.acts()
	}
	loose, least := make([]int, len(all)), 0
	for k := range all {
		f := r.fits(c, r.ix.verbs[all[k].Verb])
		if loose[k] = f.loose + f.homeless; r.ix.takes[all[k].Verb]&(1<<values.Country) != 0 {
			loose[k] = f.homeless // an object may have a place for a day
		}
		if !f.changes || acts {
			loose[k] = -1
		} else if all[k].Score >= near && (least == 0 || loose[k] < least-1) {
			least = loose[k] + 1
		}
	}
	var lost, kept float64
	for k := range all {
		v := r.ix.verbs[all[k].Verb]
		bad := least > 0 && loose[k] >= least || len(group) > 0 && !slices.ContainsFunc(r.ix.templatesOf(v), func(tp template) bool {
			return slices.ContainsFunc(tp.words, func(w token) bool { return w.param == nil && slices.Contains(group, w.stem) })
		})
		if bad {
			lost += (1 - unsuited) * all[k].Score
			all[k].Score *= unsuited
		} else {
			kept += all[k].Score
		}
	}
	if lost == 0 {
		return
	}
	for k := range all {
		if kept >= near && all[k].Score > 0 {
			all[k].Score += lost * all[k].Score / (kept + lost*unsuited/(1-unsuited))
		}
	}
	slices.SortStableFunc(all, func(a, b rank.Candidate) int { return cmp.Compare(b.Score, a.Score) })
}

// acts returns the stems of the words for what a clause orders to be done, with those that mean the same; nil if it
// orders none of the few acts that no other word stands for.
func (c *clause) acts() []string {
	if slices.ContainsFunc(c.words[1:], func(w values.Word) bool { return refusals()[w.Plain] }) {
		return nil // "delete it, no wait, …"
	}
	for i := range c.words {
		if c.taken[i] || c.quoted[i] || i > 0 && len(c.files) > 0 { // a file may be called anything
			continue
		}
		if !(c.wish || c.stems[i] == c.first || i > 1 && polite.in(plainly(c.words[i-2:], nil))) {
			continue
		}
		for _, group := range values.Phrases("acting") {
			if words := strings.Fields(group); slices.Contains(words, c.words[i].Plain) {
				var stems []string
				for _, w := range words {
					stems = append(stems, stem(w), stemIn(c.tongue, w))
				}
				return stems
			}
		}
	}
	return nil
}

// signsOf compares a clause with every verb that the session may use, and with no
// phrase that is left out.
func (r *Reader) signsOf(c *clause, left int32) []rank.Candidate {
	all := r.ix.ranker.Compare(r.query(c), r.may, r.ix.takes, left)
	for k := range all {
		v := all[k].Verb
		f, s := r.fits(c, r.ix.verbs[v]), &all[k].Signs
		s[rank.OfRequired], s[rank.OfLoose] = f.required, float32(f.loose)
		if f.required == 1 && f.given {
			s[rank.OfOrdinary] = 0 // the values say it
		}
		if f.text {
			s[rank.OfFree] = 1
			for i := range r.ix.verbs[v].Params {
				if p := &r.ix.verbs[v].Params[i]; p.Required && freeText(p) && c.text != "" {
					if _, how := r.captured(&Part{Verb: r.ix.verbs[v]}, p, c); how == said {
						s[rank.OfSaid] = 1
					}
				}
			}
		}
		if c.question && !r.ix.asking[v] {
			s[rank.OfQuestion] = 1
		}
		if c.first != "" && c.first == r.ix.firsts[v] {
			s[rank.OfOrder] = 1
		}
	}
	return all
}

// A fit says what of a verb's arguments the sentence holds.
type fit struct {
	params   []bool
	used     []bool  // words that are part of its names and codes
	required float32 // share of the required arguments that are there
	loose    int     // days and amounts that it has no place for
	homeless int     // and addresses
	given    bool    // and there are such
	changes  bool
	text     bool // it takes free text
}

func (r *Reader) fits(c *clause, v *verbs.Verb) *fit {
	used := make([]bool, len(c.words))
	f := &fit{params: make([]bool, len(v.Params)), used: used, changes: len(v.Effects) > 0}
	want, got := 0, 0
	var dates, amounts bool
	for i := range v.Params {
		p := &v.Params[i]
		switch p.Type.Name {
		case verbs.RefType:
			if p.Type.Entity == nil {
				break
			}
			if r.names[p.Type.Entity] != nil {
				f.params[i] = c.ref == Other // which one, the talk before it says
				if found := r.rowsIn(c, p.Type.Entity); len(found.names) > 0 {
					f.params[i] = true
					for k := range found.words {
						used[found.words[k]] = true
					}
				}
			}
		case verbs.CodeType:
			if p.Type.Codes != nil {
				codes, at := r.codesIn(c, p.Type.Codes)
				f.params[i] = len(codes) > 0
				for _, k := range at {
					used[k] = true
				}
			}
		case verbs.ObjectType:
			if form := r.formHere(c, v, i); form != nil {
				for k := range c.readings {
					if what := c.readings[k].What; c.answers(form, what) {
						f.params[i] = true
						dates = dates || what == values.Date
					}
				}
				if k, _ := p.SchemaOf(); f.params[i] && !f.params[k] {
					f.params[k] = true
					got++ // the row says which code it is
				}
			}
		case verbs.DateType:
			dates = true
			f.params[i] = c.has(values.Date)
		case verbs.DateTimeType:
			dates = true
			f.params[i] = c.hasMoment()
		case verbs.MoneyType:
			amounts = true
			f.params[i] = c.has(values.Money)
		case verbs.IntegerType:
			f.params[i] = c.has(values.Integer)
		case verbs.DecimalType:
			f.params[i] = c.has(values.Decimal) || c.has(values.Integer) || c.has(values.Percent)
		case verbs.EmailType:
			f.params[i] = c.has(values.Email)
		case verbs.PhoneType:
			f.params[i] = c.has(values.Phone)
		case verbs.IBANType:
			f.params[i] = c.has(values.IBAN)
		case verbs.BICType, verbs.LEIType, verbs.NationalIDType:
			_, _, f.params[i] = c.written(p.Type)
		case verbs.StringType:
			if p.Type.Pattern == nil {
				f.params[i] = true
				f.text = f.text || p.Required
			} else {
				var at values.Range
				at, f.params[i] = patternIn(c, p)
				for k := range c.words {
					if f.params[i] && at.Start <= c.words[k].Range.Start && c.words[k].Range.End <= at.End {
						used[k] = true
					}
				}
			}
		}
		if p.Required {
			want++
			if f.params[i] || c.gives(p) {
				got++
			}
		}
	}
	f.required = 1
	if want > 0 {
		f.required, f.given = float32(got)/float32(want), true
	}
	for i := range c.readings {
		switch c.readings[i].What {
		case values.Date:
			if !dates && !f.text {
				f.loose++
			}
		case values.Money:
			if !amounts && !f.text {
				f.loose++
			}
		case values.Email, values.Phone, values.IBAN:
			if at := c.readings[i].Range; !f.text && r.ix.takes[r.ix.order[v]]&(1<<c.readings[i].What) == 0 && !slices.ContainsFunc(c.words, func(w values.Word) bool {
				return w.Range.Start >= at.Start && w.Range.End <= at.End && used[slices.Index(c.words, w)] // it is the name of a row
			}) {
				f.homeless++
			}
		}
	}
	return f
}

// phrase returns the nearest phrase of a candidate, as written in the palette.
func (r *Reader) phrase(s *rank.Candidate) string {
	if s.Phrase < 0 {
		return ""
	}
	return r.ix.templates[s.Phrase].text
}

// exact reports that a clause is a phrase of one verb, which then is likeliest.
func (r *Reader) exact(c *clause, all []rank.Candidate) bool {
	q := r.query(c)
	one := -1
	for _, said := range [...][]string{q.Words, q.Masked} {
		for _, p := range r.ix.ranker.Exact(said) {
			v := r.ix.ranker.Verb(p)
			k := slices.IndexFunc(all, func(s rank.Candidate) bool { return s.Verb == v })
			if k < 0 || one >= 0 && all[one].Verb != v {
				if k >= 0 {
					return false
				}
				continue
			}
			one = k
			all[k].Phrase = p
		}
	}
	if one < 0 {
		return false
	}
	s := all[one]
	copy(all[1:one+1], all[:one])
	for k := range all[1:] {
		all[k+1].Score *= (1 - exactly) / max(1-s.Score, 0.001)
	}
	s.Score = exactly
	all[0] = s
	return true
}
