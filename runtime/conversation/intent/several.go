package intent

import (
	"slices"
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// Messages that say several things, and sentences that only add to the one before.

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

// Left lists what a part says and no argument of its call takes: what stands between commas, says at least two
// things or a value, and has no word of the verb's phrases. "…, and call me on Friday" is told as not taken.
func (p *Part) Left() (all []values.Range) {
	if p.Verb == nil || len(p.clauses) != 1 || p.Call == "" {
		return nil
	}
	c, r := p.clauses[0], p.reader
	for from := c.opening; from < len(c.words); {
		to := from + 1
		for to < len(c.words) && !strings.ContainsAny(c.text[c.words[to-1].Range.End:c.words[to].Range.Start], ",;–—") {
			to++
		}
		says, taken := 0, len(c.files) > 0
		for i := from; i < to; i++ {
			w := &c.words[i]
			taken = taken || c.quoted[i] || p.took(w.Range) || !small()[w.Plain] && slices.ContainsFunc(r.ix.templatesOf(p.Verb), func(tp template) bool { return r.has(&tp, c, i) })
			if c.taken[i] || !small()[w.Plain] && !slight()[w.Plain] {
				says++
			}
		}
		if at := (values.Range{Start: c.words[from].Range.Start, End: c.words[to-1].Range.End}); !taken && says > 1 && (from > c.opening || to < len(c.words)) {
			all = append(all, at)
		}
		from = to
	}
	return all
}

// misses reports whether one of several parts asks for a change that the part leaves out: "Thomas's passport
// follows on Thursday, and how far are we?"
func (p *Part) misses(several []Part) bool {
	return slices.ContainsFunc(several, func(q Part) bool { return q.Verb == p.Verb }) && slices.ContainsFunc(several, func(q Part) bool {
		return q.Verb != p.Verb && q.Call != "" && q.Confidence >= exactly || q.Verb != p.Verb && q.Confidence >= likely && len(q.Ranked[0].Verb.Effects) > 0 && len(q.Rows()) > 0
	})
}

// questionBefore reports whether a clause begins as a question and goes on behind a comma: "How far are we, and I want
// to talk to somebody".
func (c *clause) questionBefore() bool {
	return c.question && strings.Contains(c.text[c.rng.Start:c.rng.End], ",")
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
