// Package provenance says where the values of rows come from, for somebody who reads
// them: from a record, or from where a field is marked to have come from, or from
// people who are strangers to the reader.
//
// A palette may say of a field who writes it: what clients note on their requests,
// say. Their text is theirs, and a record to them; to a reader who has none of those
// roles it is untrusted, as a letter would be, though it stands in a row like any
// other. Nothing is stored for that: it depends on who reads. What is made of such a
// value keeps the origin, as ever.
//
//	written := provenance.New(registry.Entities())
//	reader := written.For(roles)
//	origin := reader.Field(&row, field)
package provenance

import (
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/verbs"
)

var (
	// OfRecord is the origin of what stands in a row, and is not marked otherwise.
	OfRecord = verbs.NewOrigin(verbs.FromRecord, "")
	// OfDocument is the least trusted origin.
	OfDocument = verbs.NewOrigin(verbs.FromDocument, "")
)

// Written are the fields of which palettes say who writes them. The zero Written has
// none. It is safe for use by many goroutines.
type Written struct {
	by map[*stores.Entity]map[int]writers
}

// Writers are who writes a field, and what its text is to everybody else.
type writers struct {
	roles  []*verbs.Role
	origin verbs.Origin
}

// New finds them.
func New(entities []*verbs.Entity) Written {
	w := Written{make(map[*stores.Entity]map[int]writers)}
	for _, entity := range entities {
		for i := range entity.Fields {
			by := entity.Fields[i].WrittenBy
			if len(by) == 0 {
				continue
			}
			if w.by[entity.Store] == nil {
				w.by[entity.Store] = make(map[int]writers)
			}
			names := make([]string, len(by))
			for j, r := range by {
				names[j] = r.Name
			}
			w.by[entity.Store][i] = writers{by, verbs.NewOrigin(verbs.FromDocument, "the words of a "+strings.Join(names, " or "))}
		}
	}
	return w
}

// A Reader is somebody who reads rows, by their roles.
type Reader struct {
	written Written
	roles   []*verbs.Role
}

// For is a reader with some roles.
func (w Written) For(roles []*verbs.Role) Reader { return Reader{w, roles} }

// untrusted is the origin of a field whose text is a stranger's; zero where it is
// nobody's, or the reader's own.
func (r Reader) untrusted(e *stores.Entity, field int) verbs.Origin {
	w, some := r.written.by[e][field]
	if !some || slices.ContainsFunc(w.roles, func(role *verbs.Role) bool { return slices.Contains(r.roles, role) }) {
		return verbs.Origin{}
	}
	return w.origin
}

// Row mixes the origins of all of a row.
func (r Reader) Row(row *stores.Row) verbs.Origin {
	o := OfRecord
	for _, m := range row.Marks {
		o = o.Mix(verbs.Stored(m.Origin))
	}
	for i := range r.written.by[row.Entity] {
		if !row.Values[i].IsNull() {
			o = o.Mix(r.untrusted(row.Entity, i))
		}
	}
	return o
}

// Field is the origin of a field of a row.
func (r Reader) Field(row *stores.Row, field int) verbs.Origin {
	o := OfRecord
	if len(row.Marks) > 0 {
		o = verbs.Stored(stores.MarkOf(row.Marks, field))
	}
	if row.Values[field].IsNull() {
		return o
	}
	return o.Mix(r.untrusted(row.Entity, field))
}

// Path is the origin of the value of path i, given what all of WithMarks led to.
func (r Reader) Path(e *stores.Entity, paths []stores.Path, at []int, i int, values []stores.Value) verbs.Origin {
	o := OfRecord
	if at[i] >= 0 && !values[at[i]].IsNull() {
		steps, field := markedAt(e, paths[i])
		if marks, err := stores.ReadMarks(end(e, steps), values[at[i]]); err != nil {
			o = OfDocument // the worst there is
		} else {
			o = verbs.Stored(stores.MarkOf(marks, field))
		}
	}
	if paths[i].Count != nil || values[i].IsNull() {
		return o
	}
	return o.Mix(r.untrusted(end(e, paths[i].Steps), paths[i].Field))
}

// Query mixes the origins of the fields that a query in SQL may read: it cannot be
// followed, so that it counts whose names stand in its text.
func (r Reader) Query(q *verbs.Query) (o verbs.Origin) {
	for e, fields := range r.written.by {
		reads := Reads(q, e)
		for i := range fields {
			if reads(i) {
				o = o.Mix(r.untrusted(e, i))
			}
		}
	}
	return o
}

// Reads tells which fields of an entity a query may read, by the words of its text.
func Reads(q *verbs.Query, e *stores.Entity) func(field int) bool {
	words := strings.FieldsFunc(strings.ToLower(q.Text), func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
	everything := strings.Contains(strings.ReplaceAll(q.Text, "(*)", ""), "*")
	named := slices.Contains(words, strings.ToLower(e.Table[strings.LastIndexByte(e.Table, '.')+1:]))
	return func(field int) bool {
		return named && (everything || slices.Contains(words, strings.ToLower(e.Fields[field].Column)))
	}
}

// end is the entity that steps lead to.
func end(e *stores.Entity, steps []stores.Step) *stores.Entity {
	for _, s := range steps {
		e = s.To
	}
	return e
}

// markedAt says where the mark of what a path leads to stands: at a field of the
// row that steps lead to. A key is chosen by the reference that leads to it.
func markedAt(e *stores.Entity, p stores.Path) (steps []stores.Step, field int) {
	if n := len(p.Steps); n > 0 && p.Field == end(e, p.Steps).Key {
		return p.Steps[:n-1], p.Steps[n-1].Field
	}
	return p.Steps, p.Field
}

// WithMarks adds to paths from one entity what is needed to know where their
// values come from. at holds, for each path, which of the paths that come back
// holds its marks; -1 for a count.
func WithMarks(e *stores.Entity, paths []stores.Path) (all []stores.Path, at []int) {
	all = paths[:len(paths):len(paths)]
	at = make([]int, len(paths))
	for i, p := range paths {
		if p.Count != nil {
			at[i] = -1
			continue
		}
		steps, _ := markedAt(e, p)
		at[i] = len(paths)
		for at[i] < len(all) && !slices.Equal(all[at[i]].Steps, steps) {
			at[i]++
		}
		if at[i] == len(all) {
			all = append(all, stores.Path{Steps: steps, Marks: true})
		}
	}
	return all, at
}
