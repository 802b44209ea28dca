package runtime

import (
	"context"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/verbs"
)

// Most of what a call will read is known before it begins: the rows that it
// names, what lies along references from them that its conditions, values and
// notices are worked out from, and what the rows that it adds are called by. It
// is asked for together, ahead of the first call. Asked for as it is needed, each
// would be a round trip.
//
// Whatever is not foreseen is asked for when it is needed, and whether something
// was foreseen makes no difference but to the time it takes.

// wants is what a verb reads along references from the row that an argument
// names.
type wants struct {
	held  []stores.Path // by which it decides, or which it passes on
	names []stores.Path // by which the rows that it adds are called
}

// foreseen works out, for each argument of a verb, what it wants.
func (e *Engine) foreseen(v *verbs.Verb) []wants {
	all := make([]wants, len(v.Params))
	add := func(to *[]stores.Path, p stores.Path) {
		if (len(p.Steps) > 0 || p.Count != nil) && !slices.ContainsFunc(*to, func(have stores.Path) bool { return samePath(have, p) }) {
			*to = append(*to, p)
		}
	}
	reads := func(x *verbs.Expr, row int) {
		if x == nil {
			return
		}
		for _, read := range x.Reads {
			of := read.Param
			if of < 0 {
				of = row
			}
			if of >= 0 {
				add(&all[of].held, read.Path)
			}
		}
	}
	for i := range v.Requires {
		reads(v.Requires[i].That, -1)
		if f := v.Requires[i].Filter; f != nil {
			for _, read := range f.Reads {
				add(&all[read.Param].held, read.Path)
			}
		}
	}
	for i := range v.Confirm {
		reads(v.Confirm[i].When, -1)
	}
	for i := range v.Effects {
		f := &v.Effects[i]
		row := -1 // whose fields the effect's own expressions speak of
		if f.Where != nil {
			if f.Where.Filter != nil {
				continue
			}
			row = f.Where.Param
		}
		reads(f.When, row)
		if f.When != nil {
			continue // what it says is only worked out where that holds
		}
		for j := range f.Set {
			reads(f.Set[j].Value, row)
		}
		for j := range f.With {
			reads(f.With[j].Value, row)
		}
		reads(f.Value, row)
		reads(f.At, row)
		if !addsRow(f) {
			continue
		}
		for _, s := range f.Set {
			param, alone := s.Value.ArgOnly()
			to := f.Entity.Store.Fields[s.Field].Ref
			if !alone || to == nil {
				continue
			}
			for _, p := range e.labelled[f.Entity] {
				if len(p.Steps) > 0 && p.Steps[0].Field == s.Field {
					add(&all[param].names, stores.Path{Steps: p.Steps[1:], Field: p.Field, Count: p.Count, By: p.By})
				}
			}
		}
	}
	return all
}

func samePath(a, b stores.Path) bool {
	return a.Field == b.Field && a.Count == b.Count && a.By == b.By && a.Marks == b.Marks && slices.Equal(a.Steps, b.Steps)
}

// A reached is what a path from a row led to.
type reached struct {
	path  stores.Path
	value stores.Value
	held  bool // nobody else changes it
}

// errAhead says that something could not be read ahead of its call. It is read
// again when its call needs it, and told there.
type errAhead struct{ err error }

func (e *errAhead) Error() string { return e.err.Error() }
func (e *errAhead) Unwrap() error { return e.err }

// ahead reads what the calls of a script are known to want. A row that is not
// there is told at the call that names it.
func (r *run) ahead(ctx context.Context, f *frame) error {
	if r.atOnce {
		return nil
	}
	calls, order := f.prog.Calls(), f.prog.Order()
	if r.share != nil {
		order = r.share.calls
	}
	var asks []stores.Ask
	at := make(map[*stores.Entity]int) // of each entity, the ask for its rows
	asked := make(map[rowKey]bool)
	want := func(e *stores.Entity, key stores.Value) {
		i, ok := at[e]
		if !ok || len(asks[i].Keys) >= maxAhead {
			i, at[e] = len(asks), len(asks)
			asks = append(asks, stores.Ask{Entity: e})
		}
		asked[rowKey{e, key}] = true
		asks[i].Keys = append(asks[i].Keys, key)
	}
	type asking struct {
		row   rowKey
		paths []stores.Path
		hold  stores.Hold
	}
	var along []asking // what is wanted along references, behind the rows themselves
	for _, i := range order {
		c := &calls[i]
		for j := range c.Args {
			if p := &c.Verb.Params[j]; p.Upload != nil && r.tx != nil && c.Args[j].Kind == verbs.Literal {
				if id, ok := strings.CutPrefix(c.Args[j].Value.Text(), verbs.UploadScheme); ok && !asked[rowKey{uploads, stores.NewString(id)}] {
					want(uploads, stores.NewString(id))
				}
			}
			e, key := r.rowOf(f.prog, c, j)
			if e == nil || asked[rowKey{e, key}] || !e.Managed && r.tx != nil && len(order) >= few {
				continue // the first change of a table of others would have its rows forgotten
			}
			want(e, key)
			if r.tx == nil || len(along) >= maxAhead {
				continue
			}
			w := &r.e.wants[c.Verb][j]
			if len(w.held) > 0 {
				along = append(along, asking{rowKey{e, key}, w.held, r.holdsAs(stores.Shared)})
			}
			if len(w.names) > 0 {
				along = append(along, asking{rowKey{e, key}, w.names, stores.Loose})
			}
		}
	}
	rows := len(asks)
	if rows == 0 || rows == 1 && len(asks[0].Keys) < few && len(along) == 0 {
		return nil // it is asked for when the call begins
	}
	for i := range along {
		a := &along[i]
		a.paths, _ = withMarks(a.row.entity, a.paths)
		asks = append(asks, stores.Ask{Find: &stores.Find{Entity: a.row.entity, Select: a.paths, Where: isRow(a.row.entity, a.row.key), Limit: 1, Hold: a.hold}})
	}
	if err := r.read.Together(ctx, asks); err != nil {
		if isVerdict(err) {
			return &errAhead{err}
		}
		return err
	}
	for i := range asks[:rows] {
		for _, row := range asks[i].Rows {
			r.keep(row)
		}
	}
	for i, a := range along {
		if found := asks[rows+i].Found; len(found) == 1 {
			for j, p := range a.paths {
				if r.reached == nil {
					r.reached = make(map[rowKey][]reached)
				}
				r.reached[a.row] = append(r.reached[a.row], reached{p, found[0][j], a.hold != stores.Loose})
			}
		}
	}
	return nil
}

// rowOf is the row that an argument of a call names, where that is known before
// the call begins: nil when it is not, or it names none.
func (r *run) rowOf(p *verbs.Program, c *verbs.Call, arg int) (*stores.Entity, stores.Value) {
	t := c.Verb.Params[arg].Type
	if t == nil || t.Name != verbs.RefType || t.Entity == nil {
		return nil, stores.Value{}
	}
	e := t.Entity.Store
	var key stores.Value
	known := true
	switch a := &c.Args[arg]; a.Kind {
	case verbs.Literal:
		key = a.Value
		if kind := e.Fields[e.Key].Kind; key.Kind() != kind && !key.IsNull() {
			key, known = stores.Parse(kind, key.Text())
		}
	case verbs.Name:
		if known = a.Path() == ""; known {
			row, bound := p.Bound(a)
			key, known = row.Key, bound
		}
	default:
		known = false
	}
	if !known || key.IsNull() {
		return nil, stores.Value{}
	}
	return e, key
}

// foresaw returns what paths from a row lead to, where all of it was read ahead
// and has not changed. held says that nobody else may change it.
func (r *run) foresaw(row rowKey, paths []stores.Path, held bool) ([]stores.Value, bool) {
	all := r.reached[row]
	if len(all) == 0 {
		return nil, false
	}
	values := make([]stores.Value, len(paths))
	for i, p := range paths {
		at := slices.IndexFunc(all, func(f reached) bool { return (f.held || !held) && samePath(f.path, p) })
		if at < 0 {
			return nil, false
		}
		values[i] = all[at].value
	}
	return values, true
}

// forgets drops what was read ahead and may be something else after a change.
func (r *run) forgets(c *stores.Change) {
	if r.reached == nil {
		return
	}
	e := c.Entity
	hangs := func(a stores.Assign) bool { return r.e.leads[lead{e, a.Field}] || slices.Contains(e.Visible, a.Field) }
	if !e.Managed || c.Op == stores.Delete || c.Op == stores.Update && slices.ContainsFunc(c.Set, hangs) {
		r.reached = nil
		return
	}
	for row, all := range r.reached {
		r.reached[row] = slices.DeleteFunc(all, func(f reached) bool { return touches(row.entity, f.path, c) })
	}
}

// touches reports whether what a path from a row leads to may be something else
// after a change of this row or another.
func touches(of *stores.Entity, p stores.Path, c *stores.Change) bool {
	sets := func(field int) bool {
		return of == c.Entity && c.Op == stores.Update && slices.ContainsFunc(c.Set, func(a stores.Assign) bool { return a.Field == field })
	}
	for _, s := range p.Steps {
		if sets(s.Field) {
			return true
		}
		of = s.To
	}
	switch {
	case p.Count != nil:
		return p.Count == c.Entity
	case p.Marks:
		return of == c.Entity
	}
	return sets(p.Field)
}
