package verbs

import (
	"slices"

	"verbatim/stores"
)

// A Window is the part of a list that a page shows: the rows that fit, in order, up to a limit. The
// store picks them, so that a page reads no row that it does not show. It applies to verbs
// that are Windowed, and others ignore it.
type Window struct {
	Limit int    // the greatest number of rows; 0 is the store's own limit, beyond which a read is refused
	After string // the name of the row that the page begins after, "" for the first page
	Order string // the returned field that rows are ordered by, before the order that the read declares
	Desc  bool   // from the greatest to the least
	// Field and Only limit the list to rows whose returned field Field is one of the rows with these
	// names; a nil Only limits nothing.
	Field string
	Only  []string
	// Where limits the list to rows in which one match of each of these holds.
	Where [][]Match
}

// A Match looks for a text in a returned field, whatever its capitals, or for one of some codes.
type Match struct {
	Field string
	Text  string
	Codes []string // nil to look for the text
}

// Windowed reports whether a window applies to a verb: to a declared read that lists rows, each for
// itself.
func (v *Verb) Windowed() bool {
	r := v.Read
	return r != nil && r.Entity != nil && !r.One && !r.Groups() && r.Along == nil && r.File == "" && v.Matching == nil
}

// Pickable returns the place of a returned field by which the store can search and order a list: a field
// of the row, or along references, that is not sensitive. It is nil for others.
func (v *Verb) Pickable(field string) *stores.Path {
	if !v.Windowed() {
		return nil
	}
	i := slices.IndexFunc(v.Read.Fields, func(f ReadField) bool { return f.Name == field })
	if i < 0 || v.Read.Fields[i].From != FromPath || v.Read.Fields[i].Sensitive {
		return nil
	}
	return &v.Read.Fields[i].Path
}
