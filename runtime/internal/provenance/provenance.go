// Package provenance determines the origins of the values of rows, for a particular reader: a
// record, the origin in a field's mark, or people who are strangers to the reader.
//
// A palette may declare who writes a field: the notes of clients on their requests, for example.
// Their text is a record to them; to a reader without one of those roles it is untrusted, like a
// letter, though it is stored in a row like any other. Nothing is stored for this: it depends on
// the reader. Values computed from such a value keep the origin, as always.
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
	// OfRecord is the origin of an unmarked field.
	OfRecord = verbs.NewOrigin(verbs.FromRecord, "")
	// OfDocument is the least trusted origin.
	OfDocument = verbs.NewOrigin(verbs.FromDocument, "")
)

// Written holds the fields whose writers are declared in palettes. The zero Written has none. It is
// safe for use by many goroutines.
type Written struct {
	by map[*stores.Entity]map[int]writers
}

// Writers are the roles that write a field, and the origin of its text for all others.
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

// A Reader is a principal who reads rows, represented by their roles.
type Reader struct {
	written Written
	roles   []*verbs.Role
}

// For returns a reader with some roles.
func (w Written) For(roles []*verbs.Role) Reader { return Reader{w, roles} }

// untrusted returns the origin of a field with a stranger's text; zero if its writers are not
// declared, or if the reader is one of them.
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

// Field returns the origin of a field of a row.
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

// Path returns the origin of the value of path i, given the values of all paths of WithMarks.
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

// Query mixes the origins of the fields that a query in SQL may read: its text is not analysed, so
// that every field whose name appears in it counts.
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

// end returns the entity at the end of steps.
func end(e *stores.Entity, steps []stores.Step) *stores.Entity {
	for _, s := range steps {
		e = s.To
	}
	return e
}

// markedAt returns the place of the mark of a path's value: a field of the row at the end of the
// steps. The mark of a key is that of the reference that leads to it.
func markedAt(e *stores.Entity, p stores.Path) (steps []stores.Step, field int) {
	if n := len(p.Steps); n > 0 && p.Field == end(e, p.Steps).Key {
		return p.Steps[:n-1], p.Steps[n-1].Field
	}
	return p.Steps, p.Field
}

// WithMarks adds the paths of marks to paths from one entity, so that the origins of their values
// can be determined. at holds, for each path, the index of the path of its marks; -1 for a count.
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
