package intent

import (
	"cmp"
	"slices"

	"verbatim/runtime/conversation/intent/rank"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// A Reader reads the messages of one session. It is immutable.
type Reader struct {
	ix    *Index
	may   []bool // by verb of the index
	names map[*verbs.Entity]*nameList
	in    Vocabulary
}

// Reader makes a reader for the vocabulary of a session.
func (ix *Index) Reader(v Vocabulary) *Reader {
	r := &Reader{ix: ix, may: make([]bool, len(ix.verbs)), names: map[*verbs.Entity]*nameList{}, in: v}
	for _, may := range v.Verbs {
		if i, ok := ix.order[may]; ok {
			r.may[i] = may.Deprecated == nil && !may.Internal && !may.NeedsRecord()
		}
	}
	for e, all := range v.Names {
		r.names[e] = newNames(e.Store.Name, all, ix.aliases)
	}
	return r
}

// Limits for one message.
const (
	maxWords = 240
	maxNote  = 6000 // words of a text that is taken as it comes
	maxParts = 12
	maxBytes = 32 << 10
	ranked   = 5
)

// The least probabilities of a verb.
const (
	// To be answered, if it only reads.
	sureToRead = 0.66
	// To be proposed, if it changes something.
	sureToWrite = 0.8
	// To be asked about: "Do you mean …?"
	perhaps = 0.25
	// To be named as what comes nearest.
	near = 0.05
	// To be offered, as a share of the likeliest verb's probability.
	offered = 1.0 / 3
	// The factor for the probability of a verb in a sentence that denies, imagines, quotes, asks
	// about a verb that changes something, or names a stranger.
	hindered = 0.3
	// The least similarity of a phrase, if only words that any sentence may have were said.
	nearly = 0.7
	// To be answered, for a question about a row, if other reads are less likely.
	halfway = 0.5
	// To be asked for what it lacks.
	mostlikely = 0.7
	// To be another request in the same sentence.
	likely = 0.4
	// The probability of a verb whose phrase was said word for word.
	exactly = 0.99
)

// Read reads a message.
func (r *Reader) Read(text string, in values.In) Heard {
	var h Heard
	if len(text) > maxBytes {
		text, h.Cut = text[:maxBytes], true
	}
	plain := alike(text)
	all, more := values.Split(plain, maxNote)
	h.Cut = h.Cut || more
	for i := range all {
		h.Hidden = h.Hidden || all[i].Hidden
	}
	if h.Hidden || h.Cut || len(all) == 0 {
		return h
	}
	l := spoken(text, in)
	if len(in.Languages) > 0 && !slices.Contains(in.Languages, l) {
		in.Languages = append([]values.Language{l}, in.Languages...)
	}
	readings, more := values.Find(plain, in)
	for i := range readings {
		if readings[i].Problem == values.Hidden {
			h.Hidden = true
			return h
		}
	}
	if more || len(all) > maxWords {
		if p, n := r.dictation(text, all, readings, in, l); n == len(all) {
			return Heard{Parts: []Part{p}}
		}
		return Heard{Cut: true}
	}
	start := 0
	for i := 1; i <= len(all); i++ {
		if i < len(all) && !all[i].Breaks {
			continue
		}
		c := r.clause(text, all[start:i], readings, in, l)
		p := r.part(c, l)
		if p.Certainty != Sure && len(namesOf(text, c.files)) > 0 {
			bare := r.clauseOf(text, all[start:i], readings, in, l, true)
			if q := r.part(bare, l); q.Certainty == Sure {
				p, c = q, bare
			}
		}
		if p.Certainty != Sure || len(p.Asks) > 0 || i < len(all) {
			if noted, n := r.dictation(text, all[start:], readings, in, l); n > 0 {
				h.Parts = append(h.Parts, noted)
				start += n
				i = start
				continue
			}
		}
		start = i
		if n := len(h.Parts); n > 0 && h.Parts[n-1].continues(&p, c) {
			h.Parts[n-1].clauses = append(h.Parts[n-1].clauses, c)
			r.fill(&h.Parts[n-1], c, l)
			continue
		}
		if open := p.Certainty != Sure || len(p.Asks) > 0; open || len(p.Verb.Effects) == 0 || c.questionBefore() {
			if several := r.facts(text, c, readings, l); several != nil && (open || p.asksBoth(several) || p.misses(several)) {
				h.Parts = append(h.Parts, several...)
				continue
			}
		}
		h.Parts = append(h.Parts, p)
		if len(h.Parts) >= maxParts {
			if i < len(all) {
				return Heard{Cut: true} // the rest of it may take it back
			}
			break
		}
	}
	if len(h.Parts) > 1 && len(all) <= maxWords {
		h.Parts = r.together(text, all, readings, in, l, h.Parts)
	}
	return h
}

// Named lists the rows that a short text names beyond doubt, one of a kind at most, by their
// names. Words that name rows of another kind as well name none.
func (r *Reader) Named(text string, in values.In) []string {
	all, more := values.Split(alike(text), maxWords)
	if more || len(all) == 0 || slices.ContainsFunc(all, func(w values.Word) bool { return w.Hidden }) {
		return nil
	}
	c := r.clause(text, all, nil, in, spoken(text, in))
	var names []string
	for e, n := range r.names {
		f := r.rowsIn(c, e)
		if len(f.names) != 1 || !n.sure(f, c) || r.doubt(nil, c, f) {
			continue
		}
		others := false
		for other := range r.names {
			of := r.rowsIn(c, other)
			others = others || other != e && len(of.names) > 0 && !slices.ContainsFunc(f.words, func(k int) bool { return !slices.Contains(of.words, k) })
		}
		if !others {
			names = append(names, f.names[0])
		}
	}
	slices.Sort(names)
	return names
}

// part reads one clause.
func (r *Reader) part(c *clause, l values.Language) Part {
	p := Part{Range: c.rng, reader: r, language: l, clauses: []*clause{c}}
	all := r.rank(c)
	exact := r.exact(c, all)
	for _, s := range all[:min(len(all), ranked)] {
		p.Ranked = append(p.Ranked, Ranked{r.ix.verbs[s.Verb], s.Score})
	}
	if only := r.onlyTakes(&p, c, all); only != nil && (len(all) == 0 || all[0].Score < perhaps) {
		p.Certainty, p.Ranked = Unsure, []Ranked{{only, 0}}
		p.Asks = []Ask{{Text: r.ask(l, askVerb, r.ix.verbs, []string{only.Name}), Choices: []string{only.Name}}}
		if r.in.Chosen == only.Name {
			q := p.With(only)
			q.Certainty = Sure
			return q
		}
		return p
	}
	if p.Near = r.choices(c, all, false); len(all) == 0 || all[0].Score < perhaps || all[0].Signs[rank.OfOrdinary] == 1 && all[0].Signs[rank.OfNearest] < nearly {
		return p
	}
	p.Certainty, p.Phrase = Unsure, r.phrase(&all[0])
	v := r.ix.verbs[all[0].Verb]
	f := r.fits(c, v)
	quoted := slices.Contains(c.quoted, true) && !f.text
	turned := f.changes && (c.forbids || c.negated && !f.text) || f.changes && c.supposes
	asked := c.question && f.changes && !r.ix.asking[all[0].Verb]
	stranger := r.stranger(c, f, l) && !r.settled(v)
	hinders := (turned || asked) && !exact && !r.negative(&all[0]) || quoted || stranger
	p.Confidence = all[0].Score
	if hinders {
		p.Confidence *= hindered
	}
	least := sureToRead
	if f.changes {
		least = sureToWrite
	}
	answer, share := r.answers(c, all)
	switch {
	case p.Confidence >= least:
	case answer >= 0 && !quoted && !stranger:
		v, p.Phrase, p.Confidence = r.ix.verbs[all[answer].Verb], r.phrase(&all[answer]), share
	default:
		choices := r.choices(c, all, stranger)
		chosen := slices.Index(choices, r.in.Chosen)
		if pr := r.rowOf(v); stranger && pr != nil {
			p.Asks = []Ask{r.which(v, pr, r.names[pr.Type.Entity].names, askStranger, l)}
			return p
		} else if chosen < 0 {
			p.Asks = []Ask{{Text: r.ask(l, askVerb, r.ix.verbs, choices), Choices: choices}}
			return p
		}
		v = r.ix.reg.Verb(r.in.Chosen)
		i := slices.IndexFunc(all, func(s rank.Candidate) bool { return r.ix.verbs[s.Verb] == v })
		p.Phrase, p.Confidence = r.phrase(&all[i]), 1
	}
	p.Certainty, p.Verb = Sure, v
	r.arguments(&p, c, l)
	if other := r.accepts(&p, c, l, true); other != nil {
		return *other
	}
	return p
}

// onlyTakes returns the one verb that takes what a clause says, where its words say little: the one that takes
// the account number, or the address or the phone number of which the clause consists, or else the one candidate
// that changes something, is complete and takes every value, an amount or a code among them. It returns nil if there
// are none or several.
func (r *Reader) onlyTakes(p *Part, c *clause, all []rank.Candidate) (only *verbs.Verb) {
	for i, v := range r.ix.verbs {
		if len(c.readings) != 1 || !r.may[i] || !slices.ContainsFunc(v.Params, func(p verbs.Param) bool {
			return p.Required && slices.Contains(kindsOf(p.Type.Name), c.readings[0].What) && (p.Type.Name == verbs.IBANType ||
				(p.Type.Name == verbs.EmailType || p.Type.Name == verbs.PhoneType) && !slices.Contains(c.taken, false))
		}) {
			continue
		}
		if only != nil {
			return nil
		}
		only = v
	}
	if only != nil || c.question || c.negated || c.supposes || r.ix.ranker.Large() {
		return only
	}
	for _, s := range all {
		v := r.ix.verbs[s.Verb]
		if s.Score < near || len(v.Effects) == 0 {
			continue
		}
		q, row, value := p.With(v), false, false
		for i := range q.Args {
			a := &q.Args[i]
			row = row || a.Said() && a.Param.Type.Name == verbs.RefType
			value = value || a.Said() && slices.Contains([]verbs.TypeName{verbs.MoneyType, verbs.DecimalType, verbs.CodeType, verbs.ObjectType}, a.Param.Type.Name)
		}
		if !row || !value || !q.holdsAll(c) {
			continue
		}
		if only != nil {
			return nil
		}
		only = v
	}
	return only
}

// holdsAll reports whether a part asks for nothing but what it may choose for an amount, and holds every value of
// its clause.
func (p *Part) holdsAll(c *clause) bool {
	return p.Call != "" && !slices.ContainsFunc(c.readings, func(rd values.Reading) bool { return rd.What != values.Country && !p.took(rd.Range) })
}

// accepts returns the part with the likeliest verb that takes the values, if nothing but values was
// said, or bare is false, and the verb of the part refuses a date: in "Maria 15 March 1972", the date is not the day
// on which a note is expected. It returns nil if there is none.
func (r *Reader) accepts(p *Part, c *clause, l values.Language, bare bool) *Part {
	f, dated := r.fits(c, p.Verb), func(pr *verbs.Param) bool { return pr.Type.Name == verbs.DateType || pr.Type.Name == verbs.ObjectType }
	if len(p.Asks) != 1 || len(p.Asks[0].Choices) > 0 || p.Asks[0].Param == nil || !dated(p.Asks[0].Param) || !c.has(values.Date) {
		return nil
	}
	for i := range c.words {
		if bare && !f.used[i] && !c.taken[i] && !small()[c.words[i].Plain] {
			return nil
		}
	}
	for _, of := range p.Ranked {
		q := p.With(of.Verb)
		which := len(q.Asks) == 1 && len(q.Asks[0].Choices) > 1 && dated(q.Asks[0].Param) // of the days that were said
		if which || q.Call != "" && slices.ContainsFunc(q.Args, func(a Arg) bool { return dated(a.Param) }) {
			return &q
		}
	}
	return nil
}

// With returns the part with another verb.
func (p *Part) With(v *verbs.Verb) Part {
	q := *p
	q.Verb, q.Phrase, q.Confidence, q.Args, q.Asks = v, "", sureToWrite, nil, nil
	q.reader.arguments(&q, q.clauses[0], q.language)
	return q
}

// Supposed returns the part with the verb that it would ask about, if that is the only one. The proposal, to which a
// yes or a no is said all the same, and which shows what was heard, is the better question; and what only reads is
// answered. A proposal that would have to ask for more needs a likely verb: see Likely.
func (p *Part) Supposed() (Part, bool) {
	if p.Certainty != Unsure || len(p.Asks) != 1 || p.Asks[0].Param != nil || len(p.Asks[0].Choices) != 1 || p.Asks[0].Choices[0] != p.Ranked[0].Verb.Name || p.clauses[0].forbids || p.clauses[0].supposes && !p.clauses[0].question {
		return Part{}, false
	}
	if v := p.Ranked[0].Verb; len(v.Effects) == 0 && p.Confidence < halfway {
		return Part{}, false
	}
	q := p.With(p.Ranked[0].Verb)
	if other := p.reader.accepts(&q, p.clauses[0], p.language, false); other != nil {
		q = *other
	}
	q.Confidence, q.Certainty = p.Confidence, Unsure
	return q, true
}

// Likely reports whether a verb is likely enough for what it lacks to be asked for.
func (p *Part) Likely() bool { return p.Confidence >= mostlikely }

// Remark reports whether a part, beside one that is understood, is as likely a remark as a wish: what it says is
// named, and no verb is guessed for it.
func (p *Part) Remark() bool {
	return p.Certainty == Unsure && p.Confidence < halfway && len(p.Asks) == 1 && p.Asks[0].Param == nil
}

// Instead lists, the likeliest first, the parts with other verbs that change something and hold all
// values that were said: if a row refuses one call, another may be meant. It lists none where the
// person said a phrase of the verb word for word, or picked it, or only named a row.
func (p *Part) Instead() (all []Part) {
	if p.Call == "" || p.Confidence >= exactly || len(p.clauses) > 1 || len(p.Verb.Effects) == 0 ||
		!slices.ContainsFunc(p.Args, func(a Arg) bool { return a.Said() && a.Param.Type.Name != verbs.RefType }) {
		return nil
	}
	for _, of := range p.Ranked {
		if of.Verb == p.Verb || len(of.Verb.Effects) == 0 {
			continue
		}
		if q := p.With(of.Verb); q.Call != "" && !slices.ContainsFunc(p.Args, func(a Arg) bool { return a.Said() && !q.took(a.Range) }) {
			all = append(all, q)
		}
	}
	return all
}

// answers returns the index of the rank.Candidate that answers a question which names a row, and its
// share of the score among those that only read and take that row; the index is -1 if none stands
// out. (F27)
func (r *Reader) answers(c *clause, all []rank.Candidate) (best int, share float64) {
	best, sum := -1, 0.0
	for k := range all {
		if v := r.ix.verbs[all[k].Verb]; c.question && len(v.Effects) == 0 && r.concerns(v, c) {
			if sum += all[k].Score; best < 0 {
				best = k
			}
		}
	}
	if best < 0 || all[best].Score < halfway || all[best].Score < sureToRead*sum {
		return -1, 0
	}
	return best, all[best].Score / sum
}

// concerns reports whether a verb takes a row that a clause names.
func (r *Reader) concerns(v *verbs.Verb, c *clause) bool {
	return slices.ContainsFunc(v.Params, func(p verbs.Param) bool {
		e := p.Type.Entity
		return e != nil && r.names[e] != nil && len(r.rowsIn(c, e).names) > 0
	})
}

// rowOf returns the first argument of a verb that takes a row of the session, and nil if there is
// none.
func (r *Reader) rowOf(v *verbs.Verb) *verbs.Param {
	for i := range v.Params {
		if p := &v.Params[i]; p.Required && p.Type.Entity != nil && r.names[p.Type.Entity] != nil && len(r.names[p.Type.Entity].names) > 0 {
			return p
		}
	}
	return nil
}

// mostOffered is how many verbs a question offers.
const mostOffered = 3

// choices returns the verbs that a question offers: the likeliest ones that are useful at present.
// If none is useful, it offers them nonetheless, and the refusal tells the person the reason. Verbs
// that concern the named row come first. (F27)
func (r *Reader) choices(c *clause, all []rank.Candidate, unasked bool) (choices []string) {
	likeliest := slices.Clone(all[:min(len(all), ranked)])
	for k := range likeliest {
		if s := &likeliest[k]; c.question && len(r.ix.verbs[s.Verb].Effects) > 0 && !r.ix.asking[s.Verb] {
			s.Score *= hindered // who asks wants to know something
		}
	}
	slices.SortStableFunc(likeliest, func(a, b rank.Candidate) int { return cmp.Compare(b.Score, a.Score) })
	likeliest = slices.DeleteFunc(likeliest, func(s rank.Candidate) bool { return s.Score < near })
	if about := slices.DeleteFunc(slices.Clone(likeliest), func(s rank.Candidate) bool { return !r.concerns(r.ix.verbs[s.Verb], c) }); len(about) > 0 && likeliest[0].Score < halfway {
		likeliest = about
	}
	if len(likeliest) == 0 {
		return nil
	}
	for _, useful := range [...]bool{true, false} {
		least := offered * likeliest[0].Score
		if useful {
			least = near // useless verbs make room for useful ones
		}
		for _, s := range likeliest {
			v := r.ix.verbs[s.Verb]
			if s.Score < least || len(choices) == mostOffered {
				break
			}
			if !useful || unasked || r.in.Useful == nil || r.in.Useful(v) {
				choices, least = append(choices, v.Name), max(least, offered*s.Score)
			}
		}
		if len(choices) > 0 {
			break
		}
	}
	return choices
}

// stranger reports whether the clause has a name which the session does not know, and the verb takes
// names of rows: the row belongs to somebody else, and no other row is meant.
func (r *Reader) stranger(c *clause, f *fit, l values.Language) bool {
	if f.text || l.Has(values.NounCapitals) {
		return false
	}
	known := map[int]bool{} // a read may be asked about a row that it has no argument for (F27)
	if !f.changes || slices.Contains(f.used, true) {
		for e := range r.names {
			for _, i := range r.rowsIn(c, e).words {
				known[i] = true
			}
		}
	}
	for i := range c.words {
		if !f.used[i] && !known[i] && r.unknownName(c, i) {
			return true
		}
	}
	return false
}

// settled reports whether an answer already gave the row of a verb.
func (r *Reader) settled(v *verbs.Verb) bool {
	pr := r.rowOf(v)
	return pr != nil && slices.ContainsFunc(r.in.Given, func(g Given) bool { return g.Verb == v.Name && g.Param == pr.Name })
}

// negative reports whether the phrase of a rank.Candidate is itself a negation.
func (r *Reader) negative(s *rank.Candidate) bool {
	return s.Phrase >= 0 && slices.ContainsFunc(r.ix.templates[s.Phrase].words, func(w token) bool { return negations()[w.stem] })
}

// Shortlist returns at most n verbs that a sentence is likely to be about, the likeliest first: for
// a prompt that cannot hold all of them. If the sentence tells of too few, other verbs of the
// session follow in their order.
func (r *Reader) Shortlist(text string, n int) []*verbs.Verb {
	all, _ := values.Split(alike(text[:min(len(text), maxBytes)]), maxWords)
	var out []*verbs.Verb
	have := make([]bool, len(r.ix.verbs))
	if len(all) > 0 {
		for _, s := range r.rank(r.clause(text, all, nil, values.In{}, spoken(text, values.In{}))) {
			if len(out) == n {
				return out
			}
			out, have[s.Verb] = append(out, r.ix.verbs[s.Verb]), true
		}
	}
	for i, v := range r.ix.verbs {
		if len(out) == n {
			break
		}
		if r.may[i] && !have[i] {
			out = append(out, v)
		}
	}
	return out
}
