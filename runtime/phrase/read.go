package phrase

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"verbatim/runtime/words"
	"verbatim/verbs"
)

// A Reader reads what is said in one session. It is immutable.
type Reader struct {
	ix    *Index
	may   []bool // by verb of the index
	order map[*verbs.Verb]int32
	names map[*verbs.Entity]*nameList
	in    Vocabulary
}

// Reader makes a reader of what a session may say.
func (ix *Index) Reader(v Vocabulary) *Reader {
	r := &Reader{ix: ix, may: make([]bool, len(ix.verbs)), order: map[*verbs.Verb]int32{}, names: map[*verbs.Entity]*nameList{}, in: v}
	for i, known := range ix.verbs {
		r.order[known] = int32(i)
	}
	for _, may := range v.Verbs {
		if i, ok := r.order[may]; ok {
			r.may[i] = may.Deprecated == nil && !may.Internal
		}
	}
	for e, all := range v.Names {
		r.names[e] = newNames(all, ix.aliases)
	}
	return r
}

// Limits of what is read of one message.
const (
	maxWords = 240
	maxNote  = 6000 // words of a text that is taken as it comes
	maxParts = 12
	maxBytes = 32 << 10
	ranked   = 5
)

// How well a verb has to fit.
const (
	sure    = 0.53 // at least, to be proposed
	margin  = 0.08 // better than the next, to be proposed
	perhaps = 0.36 // at least, to be asked about
	// How much of a sentence a verb has to account for.
	accounted = 0.55
)

// A clause is a piece of the message on its way.
type clause struct {
	text     string // of the message
	in       words.In
	tongue   words.Language
	words    []words.Word
	stems    []string
	own      []string // the stems in its own language, where that is not English
	rng      words.Range
	readings []words.Reading
	taken    []bool // words that stand inside a reading, or a reference to a file
	files    []words.Range
	quoted   []bool // words that stand in quotation marks
	first    string // stem of the first word that says something
	question bool
	negated  bool
	forbids  bool    // it begins with a no: "don't", "never"
	supposes bool    // it imagines, asks how or whether, or tells what others say
	total    float32 // weight of the words
	ref      Reference
	rows     map[*verbs.Entity]*found
	codes    map[*verbs.CodeList]*codesFound
	dictated *dictated
	weights  []float32
}

// Read reads a message.
func (r *Reader) Read(text string, in words.In) Heard {
	var h Heard
	if len(text) > maxBytes {
		text, h.Cut = text[:maxBytes], true
	}
	all, more := words.Split(text, maxNote)
	h.Cut = h.Cut || more
	for i := range all {
		h.Hidden = h.Hidden || all[i].Hidden
	}
	if h.Hidden || h.Cut || len(all) == 0 {
		return h
	}
	l := spoken(text, in)
	if len(in.Languages) > 0 && !slices.Contains(in.Languages, l) {
		in.Languages = append([]words.Language{l}, in.Languages...)
	}
	readings, more := words.Find(text, in)
	for i := range readings {
		if readings[i].Problem == words.Hidden {
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
		if i < len(all) && (!all[i].Breaks || within(readings, all[i-1].Range.End, all[i].Range.Start)) {
			continue
		}
		c := r.clause(text, all[start:i], readings, in, l)
		p := r.part(c, l)
		if p.Certainty != Sure || i < len(all) {
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
		if p.Certainty != Sure || len(c.words) > 5 {
			if two := r.halves(text, c, readings, l); two != nil {
				h.Parts = append(h.Parts, two...)
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
	return h
}

// within reports that a place lies inside a reading: the point of "15. March"
// ends no sentence.
func within(all []words.Reading, from, to int) bool {
	for i := range all {
		if all[i].Range.Start < from && to < all[i].Range.End {
			return true
		}
	}
	return false
}

func (r *Reader) clause(text string, all []words.Word, readings []words.Reading, in words.In, l words.Language) *clause {
	c := &clause{text: text, in: in, tongue: l, words: all, rng: words.Range{Start: all[0].Range.Start, End: all[len(all)-1].Range.End}}
	c.files = filesIn(text, c.rng)
	for i := range readings {
		if readings[i].Range.Start >= c.rng.Start && readings[i].Range.End <= c.rng.End+1 && !standsFor(text, all, &readings[i]) && !inside(c.files, readings[i].Range) {
			c.readings = append(c.readings, readings[i])
		}
	}
	c.stems = make([]string, len(all))
	if c.tongue != words.English {
		c.own = make([]string, len(all))
	}
	c.taken = make([]bool, len(all))
	c.quoted = make([]bool, len(all))
	c.weights = make([]float32, len(all))
	tail := text[c.rng.End:]
	end := strings.IndexAny(tail, "?.!\n;")
	opening := all[greeting(all):]
	c.question = !polite(opening) && (end >= 0 && tail[end] == '?' || questionWords[opening[0].Plain] || inverted(opening)) || strings.HasPrefix(strings.TrimSpace(text[c.rng.Start:]), "¿")
	c.forbids = forbidding(opening)
	c.supposes = supposing(opening)
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
		c.taken[i] = inside(c.files, w.Range)
		for k := range c.readings {
			rd := &c.readings[k]
			if rd.What != words.Country && rd.Range.Start <= w.Range.Start && w.Range.End <= rd.Range.End {
				c.taken[i] = true
			}
		}
		id, known := r.ix.stems[c.stems[i]]
		if own, ok := r.ix.stems[c.ownStem(i)]; ok && !known {
			id, known = own, true
		}
		switch {
		case c.taken[i]:
			c.weights[i] = 0.15
		case small()[w.Plain] != 0:
			c.weights[i] = float32(small()[w.Plain])
		case known:
			c.weights[i] = r.ix.weight[id]
		default:
			c.weights[i] = 0.85
		}
		if c.first == "" && small()[w.Plain] == 0 && !c.taken[i] {
			c.first = c.stems[i]
		}
		c.total += c.weights[i]
		c.negated = c.negated || negations()[w.Plain] || w.Plain == "t" && i > 0 && all[i-1].Plain == "can"
	}
	c.ref = c.refers()
	return c
}

// ownStem is the stem of a word in the language of the sentence, where that is
// not English, and otherwise "".
func (c *clause) ownStem(i int) string {
	if c.own == nil {
		return ""
	}
	return c.own[i]
}

// filesIn finds references to files. Their letters and digits mean nothing else.
func filesIn(text string, at words.Range) (all []words.Range) {
	for _, m := range fileReference.FindAllStringIndex(text[at.Start:at.End], -1) {
		all = append(all, words.Range{Start: at.Start + m[0], End: at.Start + m[1]})
	}
	return all
}

var fileReference = regexp.MustCompile(`upload://[A-Za-z0-9_-]+`)

func inside(all []words.Range, at words.Range) bool {
	for _, r := range all {
		if r.Start <= at.Start && at.End <= r.End {
			return true
		}
	}
	return false
}

// polite reports a question that asks for something to be done: "could you".
func polite(all []words.Word) bool {
	if len(all) < 3 {
		return false
	}
	switch all[0].Plain {
	case "can", "could", "would", "will":
		return all[1].Plain != "i"
	case "konnen", "konnten", "wurden":
		return all[1].Plain == "sie"
	case "pouvez", "pourriez":
		return all[1].Plain == "vous"
	case "puede", "podria":
		return true
	}
	return false
}

// rank scores every verb that the session may use.
func (r *Reader) rank(c *clause) []scored {
	matched := make([]float32, len(r.ix.templates))
	telling := make([]bool, len(r.ix.templates)) // a word that says something was matched
	bits := make([]uint32, len(r.ix.templates))
	covered := make([]float32, len(r.ix.verbs))
	stamp := make([]int32, len(r.ix.verbs))
	best := make([]scored, len(r.ix.verbs))
	var buf [48]match
	all := make([][]match, len(c.words))
	for i := range c.words {
		if c.taken[i] || c.quoted[i] {
			continue
		}
		m := r.ix.matches(buf[:0], c.stems[i], c.ownStem(i))
		all[i] = slices.Clone(m)
	}
	// The words themselves first, so that nothing alike takes their place.
	for _, exact := range []bool{true, false} {
		for i := range all {
			for _, m := range all[i] {
				if (m.weight == 1) != exact {
					continue
				}
				for _, p := range r.ix.inside[m.stem] {
					if bit := uint32(1) << p.word; bits[p.template]&bit == 0 {
						bits[p.template] |= bit
						telling[p.template] = telling[p.template] || smallWeight(r.ix.list[m.stem]) == 0
						matched[p.template] += m.weight * r.ix.wordWeight(&r.ix.templates[p.template], m.stem)
					}
				}
			}
		}
	}
	for i := range all {
		for _, m := range all[i] {
			for _, a := range r.ix.about[m.stem] {
				if stamp[a.verb] != int32(i+1) {
					stamp[a.verb] = int32(i + 1)
					covered[a.verb] += c.weights[i] * m.weight * min(1, 0.4+0.6*a.weight)
				}
			}
		}
	}
	fits := make([]*fit, len(r.ix.verbs))
	var room room
	fitOf := func(v int32) *fit {
		if fits[v] == nil {
			fits[v] = r.fits(c, r.ix.verbs[v], &room)
		}
		return fits[v]
	}
	consider := func(t int32, tp *template, recall float32) {
		f := fitOf(tp.verb)
		cov := min(1, (covered[tp.verb]+f.covered)/max(c.total, 0.3))
		score := tp.quality*(0.50*recall+0.06) + 0.38*cov
		score *= 0.35 + 0.65*min(1, cov/0.45)
		score += 0.12 * (f.required - 0.5)
		if c.first != "" && c.first == r.ix.firsts[tp.verb] {
			score += 0.1 // an order, in the verb's own word
		}
		score -= 0.16 * float32(f.loose)
		if c.question && !r.ix.asking[tp.verb] {
			score -= 0.14
		}
		if score > best[tp.verb].score {
			best[tp.verb] = scored{tp.verb, score, t, cov, recall, !tp.telling || telling[t] || f.covered > 0}
		}
	}
	for t := range r.ix.templates {
		tp := &r.ix.templates[t]
		if !r.may[tp.verb] || matched[t] == 0 && (!tp.slots || tp.tongue != words.English && tp.tongue != c.tongue) {
			continue
		}
		got := matched[t]
		if tp.slots {
			f := fitOf(tp.verb)
			for _, w := range tp.words {
				if w < 0 && f.params[-1-w] && !freeText(&r.ix.verbs[tp.verb].Params[-1-w]) {
					got += slotWeight
				}
			}
			// Slots alone say enough only where all of them are there.
			if matched[t] == 0 && (got < tp.weight-0.65 || got < 2*slotWeight) {
				continue
			}
		}
		recall := min(1, got/tp.weight)
		if tp.telling && !telling[t] {
			recall *= 0.45
		}
		// A phrase of one small word says little, however well it fits.
		if tp.weight < 0.6 {
			recall *= tp.weight / 0.6
		}
		consider(int32(t), tp, recall)
	}
	out := best[:0]
	for _, b := range best {
		if b.score > 0 {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(r.ix.verbs[a.verb].Name, r.ix.verbs[b.verb].Name))
	})
	return out
}

type scored struct {
	verb     int32
	score    float32
	template int32
	covered  float32 // part of the sentence that the verb accounts for
	recall   float32 // part of the template that the sentence has
	telling  bool    // by a word that says something
}

// A fit says what of a verb's arguments the sentence holds.
type fit struct {
	params   []bool
	used     []bool  // words that are names and codes of it
	covered  float32 // weight of the words that are names and codes of it
	required float32 // part of the required arguments that are there
	loose    int     // values that it has no place for
	changes  bool
	text     bool // it takes free text
}

// A room holds the fits of many verbs, which are worked out at once: they are
// small, and one by one they would be most of what a sentence allocates.
type room struct {
	fits []fit
	said []bool
}

func (m *room) fit() *fit {
	if len(m.fits) == 0 {
		m.fits = make([]fit, 32)
	}
	f := &m.fits[0]
	m.fits = m.fits[1:]
	return f
}

func (m *room) bools(n int) []bool {
	if len(m.said) < n {
		m.said = make([]bool, max(n, 2048))
	}
	b := m.said[:n:n]
	m.said = m.said[n:]
	return b
}

func (r *Reader) fits(c *clause, v *verbs.Verb, m *room) *fit {
	f := m.fit()
	f.params, f.changes = m.bools(len(v.Params)), len(v.Effects) > 0
	used := m.bools(len(c.words))
	f.used = used
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
						dates = dates || what == words.Date
					}
				}
				if k, _ := p.SchemaOf(); f.params[i] && !f.params[k] {
					f.params[k] = true
					got++ // the row says which code it is
				}
			}
		case verbs.DateType, verbs.DateTimeType:
			dates = true
			f.params[i] = c.has(words.Date)
		case verbs.MoneyType:
			amounts = true
			f.params[i] = c.has(words.Money)
		case verbs.IntegerType:
			f.params[i] = c.has(words.Integer)
		case verbs.DecimalType:
			f.params[i] = c.has(words.Decimal) || c.has(words.Integer) || c.has(words.Percent)
		case verbs.EmailType:
			f.params[i] = c.has(words.Email)
		case verbs.PhoneType:
			f.params[i] = c.has(words.Phone)
		case verbs.StringType:
			if p.Type.Pattern == nil {
				f.params[i] = true
				f.text = f.text || p.Required
			} else {
				var at words.Range
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
			if f.params[i] {
				got++
			}
		}
	}
	f.required = 1
	if want > 0 {
		f.required = float32(got) / float32(want)
	}
	for i := range used {
		if used[i] {
			f.covered += c.weights[i]
		}
	}
	for i := range c.readings {
		switch c.readings[i].What {
		case words.Date:
			if !dates && !f.text {
				f.loose++
			}
		case words.Money:
			if !amounts && !f.text {
				f.loose++
			}
		}
	}
	for i := range c.taken {
		if c.taken[i] {
			f.covered += c.weights[i]
		}
	}
	return f
}

func (c *clause) has(w words.What) bool {
	for i := range c.readings {
		if c.readings[i].What == w {
			return true
		}
	}
	return false
}

// part reads one clause.
func (r *Reader) part(c *clause, l words.Language) Part {
	p := Part{Range: c.rng, reader: r, language: l}
	all := r.rank(c)
	if deed := c.deed(); deed >= 0 {
		if all = r.related(all, c, deed); len(all) == 0 || all[0].score < perhaps {
			p.Beyond = true
			return p
		}
	}
	for _, s := range all[:min(len(all), ranked)] {
		p.Ranked = append(p.Ranked, Ranked{r.ix.verbs[s.verb], float64(s.score)})
	}
	if len(all) == 0 || all[0].score < perhaps || !all[0].telling {
		return p
	}
	p.Certainty, p.Phrase = Unsure, r.ix.templates[all[0].template].text
	v := r.ix.verbs[all[0].verb]
	next := float32(0)
	if len(all) > 1 {
		next = all[1].score
	}
	f := r.fits(c, v, &room{make([]fit, 1), make([]bool, len(v.Params)+len(c.words))})
	quoted := slices.Contains(c.quoted, true) && !f.text
	negative := r.negative(all[0].template)
	turned := f.changes && !negative && (c.forbids || c.negated && !f.text) || f.changes && c.supposes
	asked := c.question && f.changes && !r.ix.asking[all[0].verb]
	stranger := r.stranger(c, f, l)
	hinders := turned || asked || quoted || stranger
	p.Confidence = r.confidence(all[0].score, next, &all[0], f)
	if hinders {
		p.Confidence *= hindered
	}
	if p.Confidence < least || all[0].score < sure || all[0].score-next < margin || hinders || !f.text && all[0].covered < accounted {
		choices := r.choices(all, stranger)
		chosen := slices.Index(choices, r.in.Chosen)
		switch {
		case stranger:
			p.Asks = []Ask{{Text: r.ask(l, askStranger, nil, nil)}}
			return p
		case chosen < 0:
			p.Asks = []Ask{{Text: r.ask(l, askVerb, r.ix.verbs, choices), Choices: choices}}
			return p
		}
		v = r.ix.reg.Verb(r.in.Chosen)
		i := slices.IndexFunc(all, func(s scored) bool { return r.ix.verbs[s.verb] == v })
		p.Phrase, p.Confidence = r.ix.templates[all[i].template].text, 1
	}
	p.Certainty, p.Verb, p.clauses = Sure, v, []*clause{c}
	r.arguments(&p, c, l)
	return p
}

// mostOffered is how many verbs a question offers.
const mostOffered = 3

// choices are the verbs that a question offers: those that come first and are of
// any use as things are; where none is, they are offered all the same, and whoever
// takes one is told why it is refused.
func (r *Reader) choices(all []scored, unasked bool) (choices []string) {
	near := all[:min(len(all), ranked)]
	for _, useful := range [...]bool{true, false} {
		for i, s := range near {
			v := r.ix.verbs[s.verb]
			if i >= mostOffered && r.in.Useful == nil || s.score < perhaps && s.verb != all[0].verb || len(choices) == mostOffered {
				break
			}
			if !useful || unasked || r.in.Useful == nil || r.in.Useful(v) {
				choices = append(choices, v.Name)
			}
		}
		if len(choices) > 0 {
			break
		}
	}
	return choices
}

// stranger reports that the clause has a name which the session does not know,
// where a verb takes names of rows: somebody else's row is not there, and
// another is not meant.
func (r *Reader) stranger(c *clause, f *fit, l words.Language) bool {
	if f.text || l == words.German {
		return false // in German every noun has a capital
	}
	for i := range c.words {
		if !f.used[i] && r.unknownName(c, i) {
			return true
		}
	}
	return false
}

// negative reports that a phrase says itself what is not.
func (r *Reader) negative(t int32) bool {
	for _, w := range r.ix.templates[t].words {
		if w >= 0 && negations()[plainStem(r.ix.list[w])] {
			return true
		}
	}
	return false
}

// halves reads a clause as two, at an "and", where both say something.
func (r *Reader) halves(text string, c *clause, readings []words.Reading, l words.Language) []Part {
	for i := 1; i+1 < len(c.words); i++ {
		if !joins[c.words[i].Plain] || c.taken[i] || c.quoted[i] || joins[c.words[i+1].Plain] {
			continue
		}
		upto := i
		for upto > 1 && joins[c.words[upto-1].Plain] {
			upto-- // "and then"
		}
		a := r.part(r.clause(text, c.words[:upto], readings, c.in, l), l)
		b := r.part(r.clause(text, c.words[i+1:], readings, c.in, l), l)
		if a.Certainty == Sure && b.Certainty == Sure && a.Verb != b.Verb {
			return []Part{a, b}
		}
	}
	return nil
}

// continues reports that a clause only adds to the one before: "Should have them
// next week."
func (p *Part) continues(q *Part, c *clause) bool {
	if p.names(c) {
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
			if q.Args[i].Param.Type.Name == verbs.RefType && q.Args[i].Said() {
				return false
			}
		}
	}
	open := 0
	for i := range p.Verb.Params {
		pr := &p.Verb.Params[i]
		if !p.given(pr) && (pr.Type.Name == verbs.DateType && c.has(words.Date) || pr.Type.Name == verbs.MoneyType && c.has(words.Money) || pr.Type.Name == verbs.ObjectType && len(c.readings) > 0 && !p.guide) {
			open++
		}
	}
	return open == 1
}

// names reports that a clause is nothing but the name of the row that a part
// lacks: "Pierre's source of wealth".
func (p *Part) names(c *clause) bool {
	for i := range p.Asks {
		if !p.lacks(&p.Asks[i], c) {
			continue
		}
		f := p.reader.rowsIn(c, p.Asks[i].Param.Type.Entity)
		if len(f.names) != 1 || p.reader.doubt(c, f) {
			return false
		}
		for k := range c.words {
			if !slices.Contains(f.words, k) && (small()[c.words[k].Plain] == 0 || negations()[c.words[k].Plain]) {
				return false
			}
		}
		return !c.question
	}
	return false
}

// open reports that an argument is one that no row was named for, where a clause may
// name it.
func (p *Part) open(pr *verbs.Param, c *clause) bool {
	return slices.ContainsFunc(p.Asks, func(a Ask) bool { return a.Param == pr && p.lacks(&a, c) })
}

// lacks reports that what is asked about is a row that a clause may name: any where
// none was named, and one that is written as a call writes it all the same.
func (p *Part) lacks(a *Ask, c *clause) bool {
	if a.Open || a.Param == nil || a.Param.Type.Entity == nil || p.reader.names[a.Param.Type.Entity] == nil {
		return a.Open
	}
	return p.reader.rowsIn(c, a.Param.Type.Entity).written
}

func (p *Part) given(pr *verbs.Param) bool {
	return slices.ContainsFunc(p.Args, func(a Arg) bool { return a.Param == pr })
}

// Shortlist names the verbs that a sentence is likely to be about, at most so
// many, the likeliest first: for a prompt that cannot hold all of them. Where
// the sentence tells of too few, others of the session's fill it up in their
// order.
func (r *Reader) Shortlist(text string, n int) []*verbs.Verb {
	all, _ := words.Split(text[:min(len(text), maxBytes)], maxWords)
	var out []*verbs.Verb
	have := make([]bool, len(r.ix.verbs))
	if len(all) > 0 {
		for _, s := range r.rank(r.clause(text, all, nil, words.In{}, spoken(text, words.In{}))) {
			if len(out) == n {
				return out
			}
			out, have[s.verb] = append(out, r.ix.verbs[s.verb]), true
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
