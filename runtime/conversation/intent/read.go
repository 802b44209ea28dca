package intent

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

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
	// To be asked about.
	perhaps = 0.2
	// To be offered, as a share of the likeliest verb's probability.
	offered = 0.1
	// The factor for the probability of a verb in a sentence that denies, imagines, quotes, asks
	// about a verb that changes something, or names a stranger.
	hindered = 0.3
	// The least similarity of a phrase, if only words that any sentence may have were said.
	nearly = 0.7
	// To be answered, for a question about a row, if other reads are less likely.
	halfway = 0.5
	// To be another request in the same sentence.
	likely = 0.4
	// The probability of a verb whose phrase was said word for word.
	exactly = 0.99
)

// A clause is a piece of the message during reading.
type clause struct {
	text     string // of the message
	in       values.In
	tongue   values.Language
	words    []values.Word
	stems    []string
	own      []string // the stems in its own language, if that is not English
	rng      values.Range
	readings []values.Reading
	taken    []bool // words that stand inside a reading, or a reference to a file
	files    []values.Range
	called   []values.Range // names of files
	quoted   []bool         // words that stand in quotation marks
	first    string         // stem of the first word that carries meaning
	question bool
	wish     bool // it asks for something to be done
	negated  bool
	forbids  bool // it begins with a no: "don't", "never"
	supposes bool // it imagines, asks how or whether, or reports the words of others
	ref      Reference
	rows     map[*verbs.Entity]*found
	codes    map[*verbs.CodeList]*codesFound
	dictated *literalText
	weights  []float32
	sought   *rank.Query
	bare     bool           // compared without the words that only ask, greet and thank
	given    []*verbs.Param // arguments whose values an example phrase has
	opening  int            // number of words before the sentence proper
}

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
		if open := p.Certainty != Sure || len(p.Asks) > 0; open || len(p.Verb.Effects) == 0 {
			if several := r.facts(text, c, readings, l); several != nil && (open || p.asksBoth(several)) {
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

// together joins several sentences. They become one part if all of them as one text are likelier to
// mean one thing than each of them alone, and at most one of them is clear, with another verb.
// Otherwise it drops an unclear sentence whose likeliest verb is that of a clear one, unless it is about
// another row.
func (r *Reader) together(text string, all []values.Word, readings []values.Reading, in values.In, l values.Language, parts []Part) []Part {
	var clear []*verbs.Verb
	most := 0.0
	for i := range parts {
		if most = max(most, parts[i].Confidence); parts[i].Certainty == Sure {
			clear = append(clear, parts[i].Verb)
		}
	}
	if len(clear) < 2 {
		whole := r.part(r.clause(text, all, readings, in, l), l)
		if whole.Confidence > most && (len(clear) == 0 || whole.Certainty == Sure && whole.Verb != clear[0]) {
			return []Part{whole}
		}
	}
	return slices.DeleteFunc(slices.Clone(parts), func(p Part) bool {
		return p.Certainty == Unsure && slices.Contains(clear, p.Ranked[0].Verb) && !slices.ContainsFunc(parts, func(q Part) bool { return q.besides(p.clauses[0]) })
	})
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

func (r *Reader) clause(text string, all []values.Word, readings []values.Reading, in values.In, l values.Language) *clause {
	return r.clauseOf(text, all, readings, in, l, false)
}

// clauseOf is clause; with unnamed, the names of files carry no meaning.
func (r *Reader) clauseOf(text string, all []values.Word, readings []values.Reading, in values.In, l values.Language, unnamed bool) *clause {
	c := &clause{text: text, in: in, tongue: l, words: all, rng: values.Range{Start: all[0].Range.Start, End: all[len(all)-1].Range.End}}
	c.files = filesIn(text, c.rng)
	if unnamed {
		c.called = namesOf(text, c.files)
	}
	for i := range readings {
		if readings[i].Range.Start >= c.rng.Start && readings[i].Range.End <= c.rng.End+1 && !standsFor(all, &readings[i]) && !inside(c.files, readings[i].Range) {
			c.readings = append(c.readings, readings[i])
		}
	}
	c.stems = make([]string, len(all))
	if c.tongue != values.English {
		c.own = make([]string, len(all))
	}
	c.taken = make([]bool, len(all))
	c.quoted = make([]bool, len(all))
	c.weights = make([]float32, len(all))
	tail := text[c.rng.End:]
	end := strings.IndexAny(tail, "?.!\n;")
	c.opening = greeting(all)
	opening := all[c.opening:]
	said := plainly(opening, nil)
	c.wish = polite.in(said)
	c.question = !c.wish && (end >= 0 && tail[end] == '?' || questionWords()[opening[0].Plain] || inverted.in(said) && !upright.in(said)) || strings.HasPrefix(strings.TrimSpace(text[c.rng.Start:]), "¿")
	c.forbids, c.supposes = forbidding.in(said), supposing.in(said)
	quotes := 0
	at := c.rng.Start
	for i := range all {
		w := &all[i]
		quotes += strings.Count(text[at:w.Range.Start], "\"") + strings.Count(text[at:w.Range.Start], "“") + strings.Count(text[at:w.Range.Start], "„") + strings.Count(text[at:w.Range.Start], "«") - strings.Count(text[at:w.Range.Start], "”") - strings.Count(text[at:w.Range.Start], "»")
		at = w.Range.End
		c.quoted[i] = quotes%2 != 0
		c.stems[i] = stem(w.Plain)
		if c.own != nil {
			c.own[i] = stemIn(c.tongue, w.Plain)
		}
		c.taken[i] = inside(c.files, w.Range) || inside(c.called, w.Range)
		for k := range c.readings {
			rd := &c.readings[k]
			if rd.What != values.Country && rd.Range.Start <= w.Range.Start && w.Range.End <= rd.Range.End {
				c.taken[i] = true
			}
		}
		c.weights[i] = 0.85
		if weight, known := r.ix.ranker.Weight(r.rootOf(c, i)); known {
			c.weights[i] = weight
		}
		if c.taken[i] {
			c.weights[i] = 0.15
		} else if small()[w.Plain] {
			c.weights[i] = 0.12
		}
		if c.first == "" && !small()[w.Plain] && !c.taken[i] {
			c.first = c.stems[i]
		}
		c.negated = c.negated || negations()[w.Plain] || w.Plain == "t" && i > 0 && all[i-1].Plain == "can"
	}
	c.ref = c.refers()
	return c
}

// ownStem returns the stem of a word in the language of the sentence, and "" if that is English.
func (c *clause) ownStem(i int) string {
	if c.own == nil {
		return ""
	}
	return c.own[i]
}

// filesIn finds references to files. Their letters and digits mean nothing else.
func filesIn(text string, at values.Range) (all []values.Range) {
	for _, m := range fileReference.FindAllStringIndex(text[at.Start:at.End], -1) {
		all = append(all, values.Range{Start: at.Start + m[0], End: at.Start + m[1]})
	}
	return all
}

// namesOf returns the range of the name before each reference to a file: in "here is Minutes.txt:
// upload://…" it is Minutes.txt. If the words of the name make the rest unclear, they are ignored.
func namesOf(text string, files []values.Range) (all []values.Range) {
	for _, f := range files {
		before, ok := strings.CutSuffix(strings.TrimRightFunc(text[:f.Start], unicode.IsSpace), ":")
		before = strings.TrimRightFunc(before, unicode.IsSpace)
		if at := strings.LastIndexFunc(before, unicode.IsSpace) + 1; ok && strings.Contains(before[at:], ".") {
			all = append(all, values.Range{Start: at, End: len(before)})
		}
	}
	return all
}

var fileReference = regexp.MustCompile(`upload://[A-Za-z0-9_-]+`)

// alike returns a text in which all references to files have the same letters. The letters are
// random and mean nothing: a reference with "v8" must not be read differently from another.
func alike(text string) string {
	return fileReference.ReplaceAllStringFunc(text, func(of string) string {
		return "upload://" + strings.Repeat("x", len(of)-len("upload://"))
	})
}

func inside(all []values.Range, at values.Range) bool {
	for _, r := range all {
		if r.Start <= at.Start && at.End <= r.End {
			return true
		}
	}
	return false
}

// rootOf returns the root of a word as in the palettes: in its own language, or in English.
func (r *Reader) rootOf(c *clause, i int) string {
	if own := c.ownStem(i); own != "" {
		if _, ok := r.ix.ranker.Weight(short(own)); ok {
			return short(own)
		}
	}
	return short(c.stems[i])
}

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
	return all
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
	loose    int     // values that it has no place for
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
		}
	}
	return f
}

func (c *clause) has(w values.What) bool {
	for i := range c.readings {
		if c.readings[i].What == w {
			return true
		}
	}
	return false
}

// part reads one clause.
func (r *Reader) part(c *clause, l values.Language) Part {
	p := Part{Range: c.rng, Wish: c.wish, reader: r, language: l, clauses: []*clause{c}}
	all := r.rank(c)
	exact := r.exact(c, all)
	for _, s := range all[:min(len(all), ranked)] {
		p.Ranked = append(p.Ranked, Ranked{r.ix.verbs[s.Verb], s.Score})
	}
	if len(all) == 0 || all[0].Score < perhaps || all[0].Signs[rank.OfOrdinary] == 1 && all[0].Signs[rank.OfNearest] < nearly {
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
	if other := r.accepts(&p, c, l); other != nil {
		return *other
	}
	return p
}

// accepts returns the part with the likeliest verb that takes the values, if nothing but values was
// said and the verb of the part refuses a date: in "Maria 15 March 1972", the date is not the day
// on which a note is expected. It returns nil if there is none.
func (r *Reader) accepts(p *Part, c *clause, l values.Language) *Part {
	f, dated := r.fits(c, p.Verb), func(pr *verbs.Param) bool { return pr.Type.Name == verbs.DateType || pr.Type.Name == verbs.ObjectType }
	if len(p.Asks) != 1 || len(p.Asks[0].Choices) > 0 || p.Asks[0].Param == nil || !dated(p.Asks[0].Param) || !c.has(values.Date) {
		return nil
	}
	for i := range c.words {
		if !f.used[i] && !c.taken[i] && !small()[c.words[i].Plain] {
			return nil
		}
	}
	for _, of := range p.Ranked {
		q := *p
		q.Verb, q.Phrase, q.Confidence, q.Args, q.Asks = of.Verb, "", sureToWrite, nil, nil
		r.arguments(&q, c, l)
		which := len(q.Asks) == 1 && len(q.Asks[0].Choices) > 1 && dated(q.Asks[0].Param) // of the days that were said
		if which || q.Call != "" && slices.ContainsFunc(q.Args, func(a Arg) bool { return dated(a.Param) }) {
			return &q
		}
	}
	return nil
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

// mostOffered is how many verbs a question offers.
const mostOffered = 5

// choices returns the verbs that a question offers: the likeliest ones that are useful at present.
// If none is useful, it offers them nonetheless, and the refusal tells the person the reason. Verbs
// that concern the named row come first. (F27)
func (r *Reader) choices(c *clause, all []rank.Candidate, unasked bool) (choices []string) {
	near := all[:min(len(all), 2*mostOffered)]
	if about := slices.DeleteFunc(slices.Clone(near), func(s rank.Candidate) bool { return !r.concerns(r.ix.verbs[s.Verb], c) }); len(about) > 0 {
		near = about
	}
	for _, useful := range [...]bool{true, false} {
		least := offered * near[0].Score
		if useful {
			least *= offered // useless verbs make room for useful ones
		}
		for _, s := range near {
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
	if !f.changes {
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

// facts splits a clause into several facts, at an "and" or a comma; nil if it states only one.
func (r *Reader) facts(text string, c *clause, readings []values.Reading, l values.Language) []Part {
	for i := 1; i+1 < len(c.words); i++ {
		from, comma := i, strings.Contains(text[c.words[i-1].Range.End:c.words[i].Range.Start], ",")
		for from < len(c.words) && joins()[c.words[from].Plain] {
			from++ // "and then"
		}
		if from == i && !comma || from == len(c.words) || c.taken[i] || c.quoted[i] || joins()[c.words[i-1].Plain] {
			continue
		}
		rest := r.clause(text, c.words[from:], readings, c.in, l)
		a, b := r.part(r.clause(text, c.words[:i], readings, c.in, l), l), r.part(rest, l)
		if b.Certainty == Nothing || (from == i || !a.says(&b) && !b.says(&a)) && (a.Call == "" || !a.besides(rest)) {
			continue
		}
		if b.Call == "" {
			if more := r.facts(text, rest, readings, l); more != nil {
				return append([]Part{a}, more...)
			}
		}
		return []Part{a, b}
	}
	return nil
}

// asksBoth reports whether a part that only reads is one of several such that its clause asks for:
// "what is still needed, and what is settled?"
func (p *Part) asksBoth(several []Part) bool {
	return p.Confidence < exactly && !slices.ContainsFunc(several, func(q Part) bool { return q.Call == "" || len(q.Verb.Effects) > 0 }) &&
		slices.ContainsFunc(several, func(q Part) bool { return q.Verb == p.Verb })
}

// besides reports whether a clause names other rows than a part. Statements about two people's
// papers are two facts, also where they lead to the same verb.
func (p *Part) besides(c *clause) bool {
	return slices.ContainsFunc(p.Args, func(a Arg) bool {
		if a.Param.Type.Name != verbs.RefType || !a.Said() || p.reader.names[a.Param.Type.Entity] == nil {
			return false
		}
		names := p.reader.rowsIn(c, a.Param.Type.Entity).names
		return len(names) > 0 && !slices.Contains(names, a.Value.Text)
	})
}

// says reports that a part is sure, and another is likely to say something else.
func (p *Part) says(q *Part) bool {
	return p.Certainty == Sure && q.Certainty != Nothing && q.Confidence >= likely && q.Ranked[0].Verb != p.Verb
}

// continues reports that a clause only adds to the one before: "Should have them
// next week."
func (p *Part) continues(q *Part, c *clause) bool {
	if p.Verb != nil && p.names(c) {
		return true
	}
	if p.Certainty != Sure || q.Certainty == Sure && q.Verb != p.Verb || len(c.readings) == 0 {
		return false
	}
	if q.Certainty != Sure {
		plain := float32(0)
		for i := range c.words {
			if !c.taken[i] && c.weights[i] > 0.5 {
				plain += c.weights[i]
			}
		}
		if plain > 1.1 {
			return false
		}
	} else if len(q.Args) > 0 {
		for i := range q.Args {
			if q.Args[i].Param.Type.Name == verbs.RefType && q.Args[i].Said() && !q.Args[i].Given {
				return false
			}
		}
	}
	open := 0
	for i := range p.Verb.Params {
		pr := &p.Verb.Params[i]
		if !p.given(pr) && (pr.Type.Name == verbs.DateType && c.has(values.Date) || pr.Type.Name == verbs.MoneyType && c.has(values.Money) || pr.Type.Name == verbs.ObjectType && len(c.readings) > 0 && !p.guide) {
			open++
		}
	}
	return open == 1
}

// names reports that a clause is nothing but the name of the row that a part
// lacks: "Pierre's source of wealth".
func (p *Part) names(c *clause) bool {
	for i := range p.Asks {
		if !p.Asks[i].Open {
			continue
		}
		f := p.reader.rowsIn(c, p.Asks[i].Param.Type.Entity)
		if len(f.names) != 1 || p.reader.doubt(p.Verb, c, f) {
			return false
		}
		for k := range c.words {
			if !slices.Contains(f.words, k) && (!small()[c.words[k].Plain] || negations()[c.words[k].Plain]) {
				return false
			}
		}
		return !c.question
	}
	return false
}

// open reports whether a question asks for the row of an argument because the message names none.
func (p *Part) open(pr *verbs.Param) bool {
	return slices.ContainsFunc(p.Asks, func(a Ask) bool { return a.Param == pr && a.Open })
}

func (p *Part) given(pr *verbs.Param) bool {
	return slices.ContainsFunc(p.Args, func(a Arg) bool { return a.Param == pr })
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
