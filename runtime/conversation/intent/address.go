package intent

import (
	"regexp"
	"slices"
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/verbs"
)

// Addresses, and codes with rules of their own.

// written finds the only run of words that a type with a rule of its own accepts: "the LEI is 5493 001K
// JTII GC8Y 1R12". A BIC has no check digits, so it has to stand in capitals.
func (c *clause) written(t *verbs.Type) (at values.Range, v stores.Value, ok bool) {
	if t.CountryOf != "" {
		return at, v, false // any word would do
	}
	for n := min(6, len(c.words)); n > 0 && !ok; n-- {
		for i := 0; i+n <= len(c.words); i++ {
			run := values.Range{Start: c.words[i].Range.Start, End: c.words[i+n-1].Range.End}
			text := c.raw(run)
			if t.Name == verbs.BICType && (text != strings.ToUpper(text) || strings.Contains(text, " ")) {
				continue
			}
			is, err := t.Accept(stores.NewString(text))
			switch {
			case err != nil:
			case ok && !stores.Equal(is, v):
				return at, v, false
			default:
				at, v, ok = run, is, true
			}
		}
	}
	return at, v, ok
}

// address fills an argument with an e-mail address or a phone number. One that was said and cannot be
// read is asked about, also where the argument may be left out.
func (f *filling) address(what values.What) {
	n := len(f.p.Args) + len(f.p.Asks)
	f.found(asText, what)
	if at := f.unread(what); n == len(f.p.Args)+len(f.p.Asks) && at.End > 0 {
		a := Ask{Param: f.pr, Text: askUnread.In(f.r.speaks(f.l), f.c.raw(at), kindOf(f.pr.Type.Name).In(f.r.speaks(f.l)))}
		if f.pr.Sensitive {
			a.Text = f.r.ask(f.l, askMissing, f.pr, nil)
		}
		f.asks(a)
	}
}

// unread returns the place of a text that cannot be read as an e-mail address or a phone number: a word
// with an @ inside, or digits in the place that a phrase has for the argument.
func (f *filling) unread(what values.What) (at values.Range) {
	c := f.c
	if what == values.Email {
		for _, m := range likeAddress.FindAllStringIndex(c.text[c.rng.Start:c.rng.End], -1) {
			at = values.Range{Start: c.rng.Start + m[0], End: c.rng.Start + m[1]}
			if !slices.ContainsFunc(c.readings, func(rd values.Reading) bool { return rd.Range.Start <= at.Start && at.End <= rd.Range.End }) {
				return at
			}
		}
		return values.Range{}
	}
	all := f.r.ix.templatesOf(f.p.Verb)
	for t := range all {
		tp := &all[t]
		from, to, _ := tp.place(f.pr, c)
		for _, w := range c.words[from:to] {
			if plainWord(w.Plain) || c.has(values.Date) || at.End > 0 && strings.Trim(c.text[at.End:w.Range.Start], " -/().") != "" {
				continue
			}
			if at.End == 0 {
				at.Start = w.Range.Start
			}
			at.End = w.Range.End
		}
		if at.End > 0 {
			break
		}
	}
	return at
}

var likeAddress = regexp.MustCompile(`[^\s@<(]+@\S*[^\s.,;:!?)>]`)
