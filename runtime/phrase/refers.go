package phrase

import (
	"slices"

	"verbatim/runtime/words"
	"verbatim/verbs"
)

// A Reference is how a sentence speaks of something without its name.
type Reference uint8

// The references.
const (
	// Same is what was spoken of last: "it", "this request", "his passport", or
	// no word at all.
	Same Reference = iota
	// Other is not what was spoken of last, but what else was in question.
	Other
	// Own belongs to whoever speaks: "my passport".
	Own
	// Fresh says that what follows is about something else.
	Fresh
)

// refers reads it off the words.
func (c *clause) refers() Reference {
	at := func(i int) string {
		if i >= 0 && i < len(c.words) {
			return c.words[i].Plain
		}
		return ""
	}
	is := func(w string, all ...string) bool { return slices.Contains(all, w) }
	for i := range c.words {
		if c.quoted[i] {
			continue
		}
		before, after := at(i-1), at(i+1)
		switch w := c.words[i].Plain; {
		case w == "way" && before == "the" && at(i-2) == "by",
			w == "else" && before == "something",
			is(w, "topic", "subject", "thema", "sujet", "tema") && is(before, "another", "different", "new", "other", "anderes", "neues", "autre", "nouveau", "otro", "nuevo"):
			return Fresh
		case is(w, "other", "andere", "anderen", "autre", "otro", "otra") && (is(before, "the", "that", "der", "die", "das", "den", "l", "el", "la") || is(after, "one")):
			if !is(after, "day", "topic", "subject", "hand", "side", "week", "tag") {
				return Other
			}
		}
	}
	return Same
}

// standsFor reports a "one" that is no number: "the other one".
func standsFor(text string, all []words.Word, r *words.Reading) bool {
	if r.What != words.Integer || text[r.Range.Start:r.Range.End] != "one" {
		return false
	}
	for i := 1; i < len(all); i++ {
		if all[i].Range.Start == r.Range.Start {
			switch all[i-1].Plain {
			case "other", "another", "this", "that", "which", "the", "next", "last", "first", "second":
				return true
			}
		}
	}
	return false
}

// own reports that the kind of thing which an argument takes was said to belong
// to whoever speaks.
func (p *Part) own(c *clause) bool {
	for i := range p.Args {
		a := &p.Args[i]
		if a.Param.Type.Name != verbs.CodeType || !a.Said() {
			continue
		}
		for k := range c.words {
			if c.words[k].Range.End <= a.Range.Start && a.Range.Start-c.words[k].Range.End <= 1 && mine[c.words[k].Plain] {
				return true
			}
		}
	}
	return false
}

var mine = map[string]bool{"my": true, "mein": true, "meine": true, "meinen": true, "mon": true, "ma": true, "mi": true}

func (r *Reader) refer(p *Part, c *clause) {
	if p.Refers = c.ref; p.Refers == Same && p.own(c) {
		p.Refers = Own
	}
}
