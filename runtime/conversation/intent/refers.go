package intent

import (
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// A Reference is the way in which a sentence refers to something without its name.
type Reference uint8

// The references.
const (
	// Same is the last subject of the conversation: "it", "this request", "his passport", or no word
	// at all.
	Same Reference = iota
	// Other is the other subject in question, not the last one.
	Other
	// Own belongs to the speaker: "my passport".
	Own
	// Fresh marks the start of another subject.
	Fresh
)

var (
	fresh, other, notOther = holds("fresh"), holds("other"), holds("notother")
	pronoun                = begins("pronoun")
)

// refers reads it off the words.
func (c *clause) refers() Reference {
	switch said := plainly(c.words, c.quoted); {
	case fresh.in(said):
		return Fresh
	case other.in(said) && !notOther.in(said):
		return Other
	}
	return Same
}

// standsFor reports whether the number of a reading is a pronoun: "the other one".
func standsFor(all []values.Word, r *values.Reading) bool {
	if r.What != values.Integer {
		return false
	}
	for i := 1; i < len(all); i++ {
		if all[i].Range == r.Range {
			return pronoun.in(plainly(all[i-1:i+1], nil))
		}
	}
	return false
}

// own reports whether the sentence says that the kind of thing in an argument belongs to the
// speaker.
func (p *Part) own(c *clause) bool {
	for i := range p.Args {
		a := &p.Args[i]
		if a.Param.Type.Name != verbs.CodeType || !a.Said() {
			continue
		}
		for k := range c.words {
			if c.words[k].Range.End <= a.Range.Start && a.Range.Start-c.words[k].Range.End <= 1 && mine()[c.words[k].Plain] {
				return true
			}
		}
	}
	return false
}

func (r *Reader) refer(p *Part, c *clause) {
	if p.Refers = c.ref; p.Refers == Same && p.own(c) {
		p.Refers = Own
	}
}
