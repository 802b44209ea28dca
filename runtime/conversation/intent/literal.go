package intent

import (
	"slices"
	"strings"
	"unicode/utf8"

	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// Dictated notes: what follows the colon of "leave a note on Pierre:" is the note, with all its
// sentences. An order inside it is shown in the question before the note is taken, and is never
// carried out.

// A literalText is a text that is taken literally.
type literalText struct {
	param *verbs.Param
	at    values.Range
}

// dictation reads the beginning of a message as a phrase with a colon and the text behind it, and
// returns how many words that is. It returns none if the phrase does not determine one verb, or if
// a single sentence follows and is understood together with it.
func (r *Reader) dictation(text string, all []values.Word, readings []values.Reading, in values.In, l values.Language) (Part, int) {
	sentence := 1
	for sentence < len(all) && !all[sentence].Breaks {
		sentence++
	}
	end := len(text)
	if sentence < len(all) {
		end = all[sentence].Range.Start
	}
	colon := colonIn(text, values.Range{Start: all[0].Range.Start, End: end})
	n := 0
	for n < sentence && all[n].Range.End <= colon {
		n++
	}
	if n == 0 || n == len(all) || n > maxWords {
		return Part{}, 0
	}
	head := r.clause(text[:colon], all[:n], readings, in, l) // whatever asks behind the colon, this does not
	tp := r.announces(head, l)
	if tp == nil {
		return Part{}, 0
	}
	upto := 0
	if end = quotation(text, colon); end > 0 {
		for upto < len(all) && all[upto].Range.Start < end {
			upto++
		}
	} else if upto = r.behind(head, r.ix.verbs[tp.verb], all, text, sentence, readings, in, l); upto < len(all) {
		end = all[upto].Range.Start
	} else {
		end = len(text)
	}
	// The note is for the row named before the colon, whatever rows the note mentions.
	c := r.clause(text, all[:upto], readings, in, l)
	v := r.ix.verbs[tp.verb]
	for i := range v.Params {
		if e := v.Params[i].Type.Entity; e != nil && r.names[e] != nil {
			if f := r.rowsIn(head, e); len(f.names) > 0 {
				r.rowsIn(c, e)
				c.rows[e] = f
			}
		}
	}
	c.dictated = &literalText{tp.words[len(tp.words)-1].param, values.Range{Start: colon, End: end}}
	p := Part{Range: c.rng, Certainty: Sure, Verb: v, Phrase: tp.text, Confidence: 1, clauses: []*clause{c}, reader: r, language: l}
	for _, s := range r.rank(head) {
		if p.Ranked = append(p.Ranked, Ranked{r.ix.verbs[s.Verb], s.Score}); len(p.Ranked) == ranked {
			break
		}
	}
	r.arguments(&p, c, l)
	return p, upto
}

// quotation returns the end of a quotation behind a colon, if a sentence ends with it; otherwise 0.
// What follows is addressed to us.
func quotation(text string, colon int) int {
	at := unquoted(text, values.Range{Start: colon, End: len(text)}).Start
	for _, q := range quotations {
		said, ok := strings.CutPrefix(text[at:], q[0])
		n := strings.Index(said, q[1])
		if !ok || n <= 0 {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(said[:n])
		next, _ := utf8.DecodeRuneInString(said[n+len(q[1]):])
		if strings.ContainsRune(".!?…", last) || strings.ContainsRune(".!?;\n", next) {
			return at + len(q[0]) + n + len(q[1])
		}
	}
	return 0
}

// announces returns the phrase with a free text at its end that a clause is; nil if there is none,
// or phrases of several verbs fit.
func (r *Reader) announces(head *clause, l values.Language) *template {
	if head.question || head.forbids || head.negated || head.supposes {
		return nil
	}
	var one *template
	for t := range r.ix.templates {
		tp := &r.ix.templates[t]
		n := len(tp.words)
		if !r.may[tp.verb] || n < 2 || tp.words[n-1].param == nil || !freeText(tp.words[n-1].param) {
			continue
		}
		switch {
		case r.heads(tp, head, head.rng.End) < n-1 && (!tp.colon || r.telling(tp, head) == 0 && !r.announcement(r.ix.verbs[tp.verb], tp.words[n-1].param, head, head.rng.End)):
		case one != nil && one.verb != tp.verb:
			return nil
		case one == nil || r.telling(tp, head) > r.telling(one, head):
			one = tp
		}
	}
	if one == nil || !r.only(one.verb, head) {
		return nil
	}
	// The whole clause must be understood as the same verb.
	if p := r.part(head, l); p.Verb != nil && p.Verb != r.ix.verbs[one.verb] {
		return nil
	}
	return one
}

// telling counts the content words of a clause that a phrase has.
func (r *Reader) telling(tp *template, c *clause) (n int) {
	for i := range c.words {
		if !small()[c.words[i].Plain] && r.has(tp, c, i) {
			n++
		}
	}
	return n
}

// has reports whether a word of a clause is one of a phrase.
func (r *Reader) has(tp *template, c *clause, i int) bool {
	return slices.ContainsFunc(tp.words, func(w token) bool { return w.param == nil && c.is(i, w.stem) })
}

// only reports that a clause consists of words of a verb's phrases, rows that it accepts, small
// words, and "the following".
func (r *Reader) only(verb int32, c *clause) bool {
	named := r.named(r.ix.verbs[verb], c)
	for i := range c.words {
		if named[i] || small()[c.words[i].Plain] || following()[c.words[i].Plain] {
			continue
		}
		if !slices.ContainsFunc(r.ix.templatesOf(r.ix.verbs[verb]), func(tp template) bool {
			return r.has(&tp, c, i)
		}) {
			return false
		}
	}
	return true
}

// behind returns where a note ends: before a question to us, an order on its own line, or a final
// line that only names the row.
func (r *Reader) behind(head *clause, v *verbs.Verb, all []values.Word, text string, from int, readings []values.Reading, in values.In, l values.Language) int {
	if len(all) > maxWords {
		return len(all)
	}
	upto := len(all)
	for upto > from {
		start := upto - 1
		for start > from && !all[start].Breaks {
			start--
		}
		c := r.clause(text, all[start:upto], readings, in, l)
		own := strings.Contains(text[all[start-1].Range.End:all[start].Range.Start], "\n")
		if !own && !c.question {
			break
		}
		if !own || !r.nameOnly(v, c) || slices.Contains(r.named(v, head), true) {
			if p := r.part(c, l); p.Certainty != Sure || len(p.Asks) > 0 || !own && len(p.Verb.Effects) > 0 {
				break
			}
		}
		upto = start
	}
	return upto
}

// nameOnly reports that a clause is only the name of a row that a verb accepts.
func (r *Reader) nameOnly(v *verbs.Verb, c *clause) bool {
	named := r.named(v, c)
	for i := range c.words {
		if !named[i] && !small()[c.words[i].Plain] {
			return false
		}
	}
	return slices.Contains(named, true)
}
