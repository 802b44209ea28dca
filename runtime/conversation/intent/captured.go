package intent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// Phrases that end in the place of a free-text argument: "tell them {note}", "leave a note on
// {request-id}: {note}". If a sentence follows such a phrase, the text in that place is the
// argument.

// how says in which way a sentence holds such an argument.
type how uint8

const (
	elsewhere how = iota // the sentence is not said as one of the phrases
	said                 // it is in its place
	unsaid               // its place is empty: "leave a note for Pierre"
)

// shortHead is the longest phrase, in words and places, that needs its colon to be recognised:
// "note: …" is one, "a note for Pierre" is not.
const shortHead = 4

// mostBetween is how many words may stand in the place of another argument inside a phrase.
const mostBetween = 8

// captured returns the range of the argument's text. The longest matching phrase wins.
func (r *Reader) captured(p *Part, pr *verbs.Param, c *clause) (values.Range, how) {
	if d := c.dictated; d != nil {
		if d.param != pr {
			return values.Range{}, elsewhere
		}
		if at := unquoted(c.text, d.at); at.Start < at.End {
			return at, said
		}
		return values.Range{}, unsaid
	}
	if at, how := r.divided(p.Verb, pr, c); how != elsewhere {
		return at, how
	}
	colon, comma := c.colon(), strings.IndexByte(c.text[c.rng.Start:c.rng.End], ',')
	end := c.rng.End
	switch comma += c.rng.Start; {
	case comma < c.rng.Start || colon > 0 || len(c.words) < 2:
		comma = -1
	case c.words[len(c.words)-2].Range.Start < comma:
		comma, end = -1, comma // one word behind it is a courtesy
	}
	that := slices.IndexFunc(c.words, func(w values.Word) bool { return conjunctions()[w.Plain] })
	if that > 0 && c.words[that-1].Range.End <= comma && comma < c.words[that].Range.Start {
		comma = -1 // "Notiz für Pierre, dass er krank ist"
	}
	var at values.Range
	longest, empty := 0, false
	all := r.ix.templatesOf(p.Verb)
	for t := range all {
		tp := &all[t]
		n := len(tp.words)
		if n < 2 || tp.words[n-1].param != pr {
			continue
		}
		from, ok := 0, false
		if tp.colon && colon > 0 {
			if ok = r.heads(tp, c, colon) == n-1 || r.nothingElse(p, tp, c, colon); ok {
				from = colon + 1
			}
		} else if tp.colon && comma > 0 && r.heads(tp, c, comma) == n-1 && r.nothingElse(p, tp, c, comma) {
			from, ok = comma+1, true // "leave a note for Pierre, the accountant is ill"
		} else if tp.colon && that > 0 && r.nothingElse(p, tp, c, c.words[that].Range.Start) {
			from, ok = c.words[that].Range.End, true // "a note on Pierre that the accountant is ill"
		} else if !tp.colon || n > shortHead {
			from, ok = r.follows(tp, c)
		}
		switch {
		case !ok:
			empty = empty || tp.colon && colon < 0 && r.heads(tp, c, end) == n-1 && r.nothingElse(p, tp, c, end)
		case n > longest || n == longest && from > at.Start:
			longest, at = n, values.Range{Start: from, End: c.rng.End}
		}
	}
	if longest > 0 {
		if at = unquoted(c.text, at); at.Start < at.End {
			return at, said
		}
		return at, unsaid
	}
	if empty {
		return at, unsaid
	}
	return at, elsewhere
}

// sentences reports that an argument may hold whole sentences rather than a name.
func sentences(p *verbs.Param) bool { return p.Type.MaxLength >= 500 }

// is reports whether a word of a clause has a stem.
func (c *clause) is(i int, stem string) bool {
	return c.stems[i] == stem || c.own != nil && c.own[i] == stem
}

// follows finds the words of a phrase in a clause, in order, and returns where its last place
// begins. Places in between match any words up to the phrase's next word.
func (r *Reader) follows(tp *template, c *clause) (from int, ok bool) {
	n := len(tp.words)
	k, between := 0, 0
	// "note that" matches the phrase "please note that".
	first := 0
	for first < n-2 && tp.words[first].param == nil && small()[tp.words[first].stem] {
		first++
	}
	for i := 0; i < len(c.words) && k < n-1 && !c.quoted[i]; i++ {
		if k == 0 && first > 0 && tp.words[first].param == nil && c.is(i, tp.words[first].stem) {
			k = first
		}
		switch w := tp.words[k]; {
		case w.param == nil && c.is(i, w.stem):
			k, between = k+1, 0
		case w.param != nil && k > 0 && k+1 < n-1:
			// The place of another argument.
			if between++; between > mostBetween {
				return 0, false
			}
			if between > 1 && tp.words[k+1].param == nil && c.is(i, tp.words[k+1].stem) {
				k, between = k+2, 0
			}
		case k > 0:
			return 0, false
		}
		if k == n-1 {
			if i+2 >= len(c.words) && !tp.colon && sentences(tp.words[n-1].param) {
				return 0, false // one word is not much to tell anybody
			}
			if i+1 >= len(c.words) {
				return 0, false
			}
			return c.words[i+1].Range.Start, true
		}
	}
	return 0, false
}

// heads counts the words and places of a phrase that a clause has before a colon. All of its
// content words must be there, in order.
func (r *Reader) heads(tp *template, c *clause, colon int) int {
	k, telling := 0, false
	pass := func() {
		for k < len(tp.words)-1 && (tp.words[k].param != nil || small()[tp.words[k].stem]) {
			k++
		}
	}
	pass()
	for i := range c.words {
		if c.words[i].Range.End > colon {
			break
		}
		if k < len(tp.words)-1 && c.is(i, tp.words[k].stem) {
			k++
			telling = true
			pass()
		}
	}
	if !telling {
		return 0
	}
	return k
}

// nothingElse reports that a clause has, up to a place, only words of a phrase, names of rows and
// small words: "Note:" for the phrase "leave a note on {request-id}:".
func (r *Reader) nothingElse(p *Part, tp *template, c *clause, to int) bool {
	named, telling := r.named(p.Verb, c), false
	for i := range c.words {
		if c.words[i].Range.End > to {
			break
		}
		switch {
		case named[i] || small()[c.words[i].Plain]:
		case r.has(tp, c, i):
			telling = true
		case telling && i+1 < len(c.words) && named[i+1]: // "Notiz für Thomas"
		default:
			return false
		}
	}
	return telling
}

// named marks the words of a clause that name rows which a verb accepts.
func (r *Reader) named(v *verbs.Verb, c *clause) []bool {
	named := make([]bool, len(c.words))
	for i := range v.Params {
		r.marks(named, &v.Params[i], c)
	}
	return named
}

// marks marks the words of a clause that name rows which an argument accepts.
func (r *Reader) marks(named []bool, p *verbs.Param, c *clause) {
	if e := p.Type.Entity; e != nil && r.names[e] != nil {
		for _, k := range r.rowsIn(c, e).words {
			named[k] = true
		}
	}
}

// colon returns the position of a colon that introduces a text, or -1.
func (c *clause) colon() int { return colonIn(c.text, c.rng) }

// colonIn is colon for a text; colons inside times and addresses do not count.
func colonIn(text string, in values.Range) int {
	for i, s := range text[in.Start:in.End] {
		if s != ':' && s != '：' {
			continue
		}
		at := in.Start + i
		next, _ := utf8.DecodeRuneInString(text[at+utf8.RuneLen(s):])
		if s == ':' && next != utf8.RuneError && !unicode.IsSpace(next) && !strings.ContainsRune(`"'“„«‘`, next) {
			continue
		}
		return at
	}
	return -1
}

// quotations are pairs of quotation marks.
var quotations = [...][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"‘", "’"}}

// unquoted trims blanks, and quotation marks around the whole range.
func unquoted(text string, at values.Range) values.Range {
	for at.Start < at.End {
		s, n := utf8.DecodeRuneInString(text[at.Start:at.End])
		if !unicode.IsSpace(s) && s != ':' && s != '：' {
			break
		}
		at.Start += n
	}
	for at.Start < at.End {
		s, n := utf8.DecodeLastRuneInString(text[at.Start:at.End])
		if !unicode.IsSpace(s) {
			break
		}
		at.End -= n
	}
	inside := text[at.Start:at.End]
	for _, q := range quotations {
		in, begins := strings.CutPrefix(inside, q[0])
		in, ends := strings.CutSuffix(in, q[1])
		ends = ends || strings.HasPrefix(text[at.End:], q[1]) // a clause ends with its last word
		if begins && ends && !strings.Contains(in, q[0]) && !strings.Contains(in, q[1]) {
			trimmed := strings.TrimSpace(in)
			start := at.Start + len(q[0]) + strings.Index(in, trimmed)
			return values.Range{Start: start, End: start + len(trimmed)}
		}
	}
	return at
}
