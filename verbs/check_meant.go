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
	d := dsl.Diagnostic{Place: place}
	switch len(near) {
	case 0:
		d.Code = "unknown-name"
		d.Summary = fmt.Sprintf("nothing is called %s here", text)
		d.Notes = append(d.Notes, "a row is written as the name you were given for it, such as @"+exampleName(t)+", or in quotes as it is called")
	case 1:
		d.Code = "ambiguous-name"
		d.Summary = fmt.Sprintf("nothing is called exactly %s; one %s comes near", text, entityName(t))
		d.Label = "did you mean @" + near[0].Name + "?"
	default:
		d.Code = "ambiguous-name"
		d.Summary = fmt.Sprintf("%s may mean several rows of %s; say which", text, entityName(t))
		d.Label = "which one?"
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
	d := dsl.Diagnostic{Code: "ambiguous-name", Place: place, Summary: fmt.Sprintf("@%s is, or was, the name of several rows; say which", name), Label: "which one?"}
	if len(near) == 1 {
		d.Summary = fmt.Sprintf("@%s was the name of another row as well; say which", name)
		d.Label = "did you mean @" + near[0].Name + "?"
	}
	return among(d, place.Range, near)
}

func entityName(t *Type) string { return t.Entity.Store.Name }
