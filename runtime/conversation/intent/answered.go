package intent

import (
	"slices"
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// Answers to questions about arguments.

// mostBeside is how many words without a meaning may stand right before or behind the value of an
// answer: "no, I meant Friday".
const mostBeside = 2

// answer reads an answer to the question for the argument at hand, and returns what it says besides
// the value. It returns nil if the answer has no value, or asks or tells something about another row.
func (f *filling) answer(text string) (c *clause, beside string) {
	plain := alike(text)
	all, more := values.Split(plain, maxWords)
	if more || len(all) == 0 {
		return nil, ""
	}
	in := f.c.in.Answered(plain)
	in.Day = slices.Contains([]verbs.TypeName{verbs.DateType, verbs.DateTimeType, verbs.ObjectType}, f.pr.Type.Name)
	readings, _ := values.Find(plain, in)
	c = f.r.clause(text, all, readings, in, f.l)
	value := f.valueIn(c)
	if !slices.Contains(value, true) {
		return nil, ""
	}
	if beside = c.beside(value); beside != "" && (strings.HasSuffix(strings.TrimSpace(text), "?") || f.p.besides(c)) {
		return nil, ""
	}
	return c, beside
}

// valueIn marks the words of a clause that may be the value of the argument at hand.
func (f *filling) valueIn(c *clause) []bool {
	value := make([]bool, len(c.words))
	mark := func(at []int) []bool {
		for _, k := range at {
			value[k] = true
		}
		return value
	}
	kinds := kindsOf(f.pr.Type.Name)
	if f.pr.Type.Name == verbs.MoneyType {
		kinds = append(kinds, values.Integer, values.Decimal)
	}
	within := func(at values.Range) {
		for k, w := range c.words {
			value[k] = value[k] || at.Start <= w.Range.Start && w.Range.End <= at.End
		}
	}
	switch t := f.pr.Type; {
	case t.Name == verbs.DateTimeType:
		for _, of := range c.clocks(true) {
			within(of.Range)
		}
		for _, of := range values.Instants(c.text, c.in) {
			within(of.Range)
		}
	case t.Entity != nil && f.r.names[t.Entity] != nil:
		return mark(f.r.rowsIn(c, t.Entity).words)
	case t.Codes != nil:
		_, at := f.r.codesIn(c, t.Codes)
		return mark(at)
	case t.Name == verbs.StringType && t.Pattern != nil:
		if at, ok := patternIn(c, f.pr); ok {
			within(at)
		}
		return value
	}
	for _, rd := range c.readings {
		if kinds == nil || slices.Contains(kinds, rd.What) {
			within(rd.Range)
		}
	}
	return value
}

// beside returns what a clause says besides some words: a text apart from them, or more than a few
// words right before or behind them.
func (c *clause) beside(value []bool) string {
	var at values.Range
	for i := 0; i < len(c.words); {
		from, says := i, 0
		for ; i < len(c.words) && !value[i] && (i == from || !c.pauses(i)); i++ {
			if w := c.words[i].Plain; !small()[w] && !closers()[w] && !refusals()[w] {
				says++
			}
		}
		near := from > 0 && value[from-1] && !c.pauses(from) || i < len(c.words) && value[i] && !c.pauses(i)
		if says > mostBeside || says > 0 && !near {
			if at.End == 0 {
				at.Start = c.words[from].Range.Start
			}
			at.End = c.words[i-1].Range.End
		}
		if i == from {
			i++
		}
	}
	return c.raw(at)
}

// pauses reports whether a mark stands before a word. The point within an address is none.
func (c *clause) pauses(i int) bool {
	if i == 0 {
		return false
	}
	between := c.text[c.words[i-1].Range.End:c.words[i].Range.Start]
	return between != "." && strings.ContainsAny(between, ",;:.!?()–—\n")
}
