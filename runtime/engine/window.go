package engine

import (
	"context"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/verbs"
)

// A Window is the part of a list that a page shows: the rows that fit, in order, up to a limit. The
// store picks them, so that a page reads no row that it does not show. It applies to the declared reads
// that Windowed names, and others ignore it.
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
func Windowed(v *verbs.Verb) bool {
	r := v.Read
	return r != nil && r.Entity != nil && !r.One && !r.Groups() && r.Along == nil && r.File == "" && v.Matching == nil
}

// Pickable reports whether the store can search and order a list by a returned field: a field of the
// row, or along references, that is not sensitive.
func Pickable(v *verbs.Verb, field string) bool { return Windowed(v) && pickable(v.Read, field) != nil }

func pickable(r *verbs.Read, field string) *stores.Path {
	i := slices.IndexFunc(r.Fields, func(f verbs.ReadField) bool { return f.Name == field })
	if i < 0 || r.Fields[i].From != verbs.FromPath || r.Fields[i].Sensitive {
		return nil
	}
	return &r.Fields[i].Path
}

// windowed limits a find to a window.
func (r *source) windowed(ctx context.Context, st *step, w *Window, f *stores.Find) error {
	read := st.verb.Read
	if p := pickable(read, w.Order); p != nil {
		f.Order = append([]stores.Order{{Path: *p, Desc: w.Desc}}, f.Order...)
	}
	if w.Limit > 0 {
		f.Limit, f.Cut = w.Limit, true
	}
	var all []stores.Cond
	if f.Where != nil {
		all = append(all, *f.Where)
	}
	if p := pickable(read, w.Field); p != nil && w.Only != nil {
		of := read.Entity
		if len(p.Steps) > 0 || p.Field != of.Store.Key {
			of = pathEnd(r.e, of.Store, *p)
		}
		var keys []stores.Value
		if of != nil {
			for _, name := range w.Only {
				if key, ok, err := r.keyOf(ctx, of, name); err != nil {
					return err
				} else if ok {
					keys = append(keys, key)
				}
			}
		}
		only := stores.Cond{Op: stores.False}
		if len(keys) > 0 {
			only = stores.Cond{Op: stores.In, Path: *p, Value: stores.NewList(keys...)}
		}
		all = append(all, only)
	}
	for _, one := range w.Where {
		all = append(all, r.matched(read, one))
	}
	if w.After != "" {
		key, ok, err := r.keyOf(ctx, read.Entity, w.After)
		if err != nil {
			return err
		}
		if ok {
			paths := make([]stores.Path, len(f.Order), len(f.Order)+1)
			for i := range f.Order {
				paths[i] = f.Order[i].Path
			}
			values, _, err := r.fields(ctx, st, read.Entity.Store, key, append(paths, stores.Path{Field: read.Entity.Store.Key}))
			if err != nil {
				return err
			}
			all = append(all, f.Behind(values))
		}
	}
	if len(all) > 0 {
		f.Where = &stores.Cond{Op: stores.And, Kids: all}
	}
	return nil
}

// matched returns the condition that one of the matches holds.
func (r *source) matched(read *verbs.Read, all []Match) stores.Cond {
	any := stores.Cond{Op: stores.Or}
	for _, m := range all {
		p := pickable(read, m.Field)
		if p == nil || p.Count != nil {
			continue
		}
		switch kind := fieldAt(read.Entity.Store, *p).Kind; {
		case kind != stores.String:
		case m.Codes == nil:
			any.Kids = append(any.Kids, stores.Cond{Op: stores.Contains, Path: *p, Value: stores.NewString(strings.ToLower(m.Text)), Lower: true})
		case len(m.Codes) > 0:
			codes := make([]stores.Value, len(m.Codes))
			for i, code := range m.Codes {
				codes[i] = stores.NewString(code)
			}
			any.Kids = append(any.Kids, stores.Cond{Op: stores.In, Path: *p, Value: stores.NewList(codes...)})
		}
	}
	if len(any.Kids) == 0 {
		any.Op = stores.False
	}
	return any
}

// keyOf returns the key of the row with a name.
func (r *source) keyOf(ctx context.Context, e *verbs.Entity, name string) (stores.Value, bool, error) {
	name = strings.TrimPrefix(name, "@")
	if key, ok := r.s.names.Key(e.Store, name); ok {
		return key, true, nil
	}
	if err := r.s.lookUp(ctx, r.read, e, []string{name}); err != nil {
		return stores.Value{}, false, err
	}
	key, ok := r.s.names.Key(e.Store, name)
	return key, ok, nil
}
