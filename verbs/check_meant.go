package verbs

import (
	"fmt"

	"verbatim/dsl"
	"verbatim/verbs/message"
)

// A reference may be given as text, "Pierre source of wealth", by a caller who does not know the
// name. A text that is exactly the label of one row means that row. Otherwise nothing is guessed:
// the diagnostic lists the rows that it may mean, best first, and its author chooses.

// A Candidate is a row that a text may mean.
type Candidate struct {
	Name  string // session name, without its @
	Label string // what people call it
	Tells string // what distinguishes it from the others: "status OPEN", "" if nothing does
}

// Meant is an optional interface of Names, for text in the place of a reference that Lookup does
// not know. It returns at most five rows of the entity, the likeliest first, and a note if it
// could not look at all of them. It must know no more than the session may see.
type Meant interface {
	Meant(e *Entity, text string) (near []Candidate, note string)
}

// meant reports text in the place of a reference, with the rows that it may mean. ok is false if
// nothing more is known than that it is text.
func (c *checker) meant(at site, t *Type, v *dsl.Value) (ok bool) {
	m, able := c.names.(Meant)
	if !able || t.Entity == nil || c.full() {
		return false
	}
	var near []Candidate
	var note string
	if !c.sensitive {
		near, note = m.Meant(t.Entity, v.Text)
	}
	c.add(unclearName(c.place(v.Range), t, v, near, note, c.sensitive))
	return true
}

// unclearName says the same for a row that does not exist and for one that belongs to another
// person: nothing has that name.
func unclearName(place dsl.Place, t *Type, v *dsl.Value, near []Candidate, note string, sensitive bool) dsl.Diagnostic {
	text := "this"
	if !sensitive {
		text = fmt.Sprintf("%q", message.Shorten(v.Text, 60))
	}
	var d dsl.Diagnostic
	switch len(near) {
	case 0:
		d = tell(place, "unknown-name/called", text, exampleName(t))
	case 1:
		d = tell(place, "ambiguous-name/one", text, t.Entity, near[0].Name)
	default:
		d = tell(place, "ambiguous-name", text, t.Entity)
	}
	d = among(d, v.Range, near)
	if note != "" {
		d.Notes = append(d.Notes, note)
	}
	return d
}

// among lists the rows that may be meant, and offers to write the name of each.
func among(d dsl.Diagnostic, at dsl.Range, near []Candidate) dsl.Diagnostic {
	for i := range near {
		n := &near[i]
		line := fmt.Sprintf("@%s: %s", n.Name, message.Shorten(n.Label, 100))
		if n.Tells != "" {
			line += " (" + n.Tells + ")"
		}
		d.Notes = append(d.Notes, line)
		d.Fixes = append(d.Fixes, dsl.Fix{Title: "write @" + n.Name, Edits: []dsl.Edit{{Range: at, Text: "@" + n.Name}}})
	}
	return d
}

// homonyms reports a name that several rows have, or had.
func homonyms(place dsl.Place, name string, near []Candidate) dsl.Diagnostic {
	d := tell(place, "ambiguous-name/former", name)
	if len(near) == 1 {
		d = tell(place, "ambiguous-name/other", name, near[0].Name)
	}
	return among(d, place.Range, near)
}
