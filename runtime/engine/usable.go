package engine

import (
	"context"
	"errors"
	"slices"

	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
)

// maxUsable is the greatest number of rows that are tested for use with a verb.
const maxUsable = 200

// Usable returns those rows that an argument of a verb could name without a refusal, as far as
// that depends on the row alone: on what the verb requires of it, and on the codes that may
// follow those it holds. Questions use it to offer no row that would be refused; the call
// itself decides when it is made. Rows whose code no other follows come last. Names that stand
// for nothing are left out.
//
// If there are more rows than maxUsable, all are returned.
func (ns Names) Usable(ctx context.Context, v *verbs.Verb, p *verbs.Param, all []string) ([]string, error) {
	i := slices.IndexFunc(v.Params, func(q verbs.Param) bool { return q.Name == p.Name })
	if i < 0 {
		return all, nil
	}
	usable, err := ns.UsableBy(ctx, all, &verbs.PageAct{Verb: v, Item: i})
	if err != nil {
		return nil, err
	}
	return usable[0], nil
}

// UsableBy is Usable for the arguments of several acts of a page that name its rows. The rows of an entity are read once.
func (ns Names) UsableBy(ctx context.Context, all []string, acts ...*verbs.PageAct) ([][]string, error) {
	usable := make([][]string, len(acts))
	err := ns.s.e.store.View(ctx, ns.s.scope, func(read stores.Reader) error {
		offered := make(map[*verbs.Entity][]stores.Row)
		r := sourceOf(ns.s, read)
		for n, act := range acts {
			t := act.Verb.Params[act.Item].Type
			if t == nil || t.Name != verbs.RefType || t.Entity == nil || len(all) == 0 || len(all) > maxUsable {
				usable[n] = all
				continue
			}
			e := t.Entity
			rows, known := offered[e]
			if !known {
				var keys []stores.Value
				for _, name := range all {
					if key, ok := ns.s.names.Key(e.Store, name); ok {
						keys = append(keys, key)
					}
				}
				var err error
				if rows, err = rowsToOffer(ctx, read, e, keys); err != nil {
					return err
				}
				offered[e] = rows
			}
			at := make(map[stores.Value]stores.Row, len(rows))
			for _, row := range rows {
				at[row.Key()] = row
			}
			var open, ended []string
			for _, name := range all {
				key, _ := ns.s.names.Key(e.Store, name)
				row, there := at[key]
				if !there {
					continue
				}
				ok, err := usableRows(ctx, r, onRow(act.Verb, act.Item, row), act.Item)
				switch {
				case err != nil:
					return err
				case !ok:
				case e.Ended(row.Values):
					ended = append(ended, name)
				default:
					open = append(open, name)
				}
			}
			usable[n] = append(open, ended...)
		}
		return nil
	})
	return usable, failure(err)
}

// usableRows reports whether an argument may name a row, whatever the other arguments are.
func usableRows(ctx context.Context, r *source, st *step, param int) (bool, error) {
	for i := range st.verb.Requires {
		that := st.verb.Requires[i].That
		if that == nil || !onlyOf(that, param) {
			continue
		}
		holds, err := r.eval(ctx, st, that, nil)
		var x *evalError
		switch {
		case errors.As(err, &x):
			return false, nil // such a call is refused
		case err != nil:
			return false, err
		case holds.Kind() == stores.Bool && !holds.Bool():
			return false, nil
		}
	}
	row := &st.args.rows[param]
	for i := range st.verb.Effects {
		f := &st.verb.Effects[i]
		if !movesOn(f, param) || f.Entity.Store != row.Entity {
			continue
		}
		for _, set := range f.Set {
			t := f.Entity.Fields[set.Field].Type
			from := row.Values[set.Field]
			if t == nil || t.Name != verbs.CodeType || t.Codes == nil || from.IsNull() {
				continue
			}
			outcomes := set.Value.Outcomes()
			if len(outcomes) > 0 && !slices.ContainsFunc(outcomes, func(to stores.Value) bool {
				if to.IsNull() || stores.Equal(from, to) {
					return true
				}
				declared, may := t.Codes.Steps(from.Text(), to.Text())
				return !declared || may
			}) {
				return false, nil
			}
		}
	}
	return true, nil
}

// movesOn reports whether an effect always changes the row that an argument names.
func movesOn(f *verbs.Effect, param int) bool {
	if f.Kind != verbs.Updates || f.May || f.When != nil || f.Where == nil || f.Entity == nil {
		return false
	}
	at, one := f.Where.One()
	return one && at == param
}

// hangs reports whether a call may be refused because of the row of an argument, whatever the
// other arguments are.
func hangs(v *verbs.Verb, param int) bool {
	for i := range v.Requires {
		if that := v.Requires[i].That; that != nil && onlyOf(that, param) {
			return true
		}
	}
	for i := range v.Effects {
		if movesOn(&v.Effects[i], param) {
			return true
		}
	}
	return false
}

// Settled returns, for arguments of some verbs, the names of rows in a final state on which
// the verb cannot be used any more. For other rows that Usable leaves out, an earlier call of
// the same script could change that; for these it cannot. A model is not offered such rows; a
// call that names one is answered as usual.
//
// If an entity has more names than maxUsable, none of them is settled.
func (ns Names) Settled(ctx context.Context, list []*verbs.Verb, names map[*verbs.Entity][]string) (map[*verbs.Param][]string, error) {
	type place struct {
		verb  *verbs.Verb
		param int
	}
	places := make(map[*verbs.Entity][]place)
	for _, v := range list {
		for i := range v.Params {
			t := v.Params[i].Type
			if t == nil || t.Name != verbs.RefType || t.Entity == nil {
				continue
			}
			if n := len(names[t.Entity]); n > 0 && n <= maxUsable && t.Entity.MayEnd() && hangs(v, i) {
				places[t.Entity] = append(places[t.Entity], place{v, i})
			}
		}
	}
	if len(places) == 0 {
		return nil, nil
	}
	settled := make(map[*verbs.Param][]string)
	err := ns.s.e.store.View(ctx, ns.s.scope, func(read stores.Reader) error {
		clear(settled)
		r := sourceOf(ns.s, read)
		for e, at := range places {
			keys := make([]stores.Value, 0, len(names[e]))
			called := make(map[stores.Value]string, len(names[e]))
			for _, name := range names[e] {
				if key, ok := ns.s.names.Key(e.Store, name); ok {
					keys = append(keys, key)
					called[key] = name
				}
			}
			rows, err := rowsToOffer(ctx, read, e, keys)
			if err != nil {
				return err
			}
			for _, row := range rows {
				if !e.Ended(row.Values) {
					continue
				}
				for _, p := range at {
					ok, err := usableRows(ctx, r, onRow(p.verb, p.param, row), p.param)
					if err != nil {
						return err
					}
					if !ok {
						param := &p.verb.Params[p.param]
						settled[param] = append(settled[param], called[row.Key()])
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, failure(err)
	}
	for _, of := range settled {
		slices.Sort(of)
	}
	return settled, nil
}

// rowsToOffer reads the rows with some keys. A value that cannot be read is null: it must not take
// the offer of other rows away.
func rowsToOffer(ctx context.Context, read stores.Reader, e *verbs.Entity, keys []stores.Value) ([]stores.Row, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := read.Find(ctx, stores.Find{Entity: e.Store, Limit: len(keys), Blank: true,
		Where: &stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Store.Key}, Value: stores.NewList(keys...)}})
	rows := make([]stores.Row, len(found))
	for i, values := range found {
		rows[i] = stores.Row{Entity: e.Store, Values: values}
	}
	return rows, err
}

// Codes returns the codes of rows of an entity that have not ended, by their names, as far as the session reads them. States
// are left out. There are none if there are more rows than maxUsable.
func (ns Names) Codes(ctx context.Context, e *verbs.Entity, all []string) (map[string][]string, error) {
	called := make(map[stores.Value]string, len(all))
	var keys []stores.Value
	for _, name := range all {
		if key, ok := ns.s.names.Key(e.Store, name); ok && len(all) <= maxUsable {
			keys, called[key] = append(keys, key), name
		}
	}
	codes := make(map[string][]string, len(all))
	err := ns.s.e.store.View(ctx, ns.s.scope, func(read stores.Reader) error {
		clear(codes)
		rows, err := rowsToOffer(ctx, read, e, keys)
		for _, row := range rows {
			name := called[row.Key()]
			for i := range e.Fields {
				t := e.Fields[i].Type
				switch {
				case e.Ended(row.Values), t == nil, !ns.s.reads(e, i):
				case t.Name == verbs.ListType && t.Item != nil && t.Item.Name == verbs.CodeType:
					items, _ := row.Values[i].Items(t.Item.Kind()) // what cannot be read calls no row
					for _, item := range items {
						codes[name] = append(codes[name], item.Text())
					}
				case t.Name == verbs.CodeType && t.Codes != nil && !row.Values[i].IsNull():
					if state, _ := t.Codes.Steps("", ""); !state {
						codes[name] = append(codes[name], row.Values[i].Text())
					}
				}
			}
		}
		return err
	})
	return codes, failure(err)
}

// onRow makes a step for a call of which only the row of one argument is known.
func onRow(v *verbs.Verb, param int, row stores.Row) *step {
	st := &step{verb: v, args: arguments{values: make([]stores.Value, len(v.Params)), rows: make([]stores.Row, len(v.Params)), from: make([]verbs.Origin, len(v.Params))}}
	st.args.values[param], st.args.rows[param] = row.Key(), row
	return st
}

// onlyOf reports whether the value of an expression depends on the row of one argument and on no
// other argument.
func onlyOf(x *verbs.Expr, param int) bool {
	if len(x.Reads) == 0 || slices.ContainsFunc(x.Reads, func(read verbs.ExprRead) bool { return read.Param != param }) {
		return false
	}
	only := true
	x.Args(func(other int) { only = only && other == param })
	return only
}

// Useful reports whether the session could use a verb now, as far as that depends on rows that
// it sees: for each required reference there is a usable row, and if the verb promises to
// change or delete rows that no argument names, there is one that is not in a final state. It
// is for questions, as Usable is.
func (ns Names) Useful(ctx context.Context, v *verbs.Verb) (bool, error) {
	for i := range v.Params {
		p := &v.Params[i]
		if !p.Required || p.Type == nil || p.Type.Name != verbs.RefType || p.Type.Entity == nil {
			continue
		}
		known, err := ns.s.Names().All(ctx, []*verbs.Entity{p.Type.Entity})
		if err != nil {
			return false, err
		}
		if ns.s.names.Extent(p.Type.Entity.Store) != names.All {
			continue // there are too many to know them all
		}
		left, err := ns.s.Names().Usable(ctx, v, p, known[p.Type.Entity])
		if err != nil || len(left) == 0 {
			return false, err
		}
	}
	if off, err := endsAt(ctx, ns.s, v); off || err != nil {
		return false, err
	}
	for i := range v.Effects {
		f := &v.Effects[i]
		if f.Kind != verbs.Updates && f.Kind != verbs.Deletes || f.May || f.When != nil || f.Where != nil || f.Entity == nil || makes(v, f.Entity) {
			continue
		}
		some, err := someUsable(ctx, ns.s, f.Entity, f.Fields == nil && !namesOne(v, f.Entity))
		if err != nil || !some {
			return false, err
		}
	}
	return true, nil
}

// endsAt reports whether the only certain effect of a verb is to clear session values that are clear
// already.
func endsAt(ctx context.Context, s *Session, v *verbs.Verb) (bool, error) {
	var off []string
	for i := range v.Effects {
		f := &v.Effects[i]
		if f.Session != "" && f.Value != nil {
			if to, constant := f.Value.Constant(); constant && (to.IsNull() || to.Kind() == stores.Bool && !to.Bool()) {
				off = append(off, f.Session)
				continue
			}
		}
		switch f.Kind {
		case verbs.Creates, verbs.Updates, verbs.Deletes, verbs.Triggers, verbs.Notifies, verbs.Sets, verbs.Stores, verbs.Attaches, verbs.Generates:
			if !f.May && f.When == nil {
				return false, nil
			}
		}
	}
	if len(off) == 0 || s.kept.IsNull() {
		return len(off) > 0, nil
	}
	info, err := s.Turns().Info(ctx)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(info.Values, func(v SessionValue) bool {
		return slices.Contains(off, v.Name) && !v.Value.IsNull() && (v.Value.Kind() != stores.Bool || v.Value.Bool())
	}), nil
}

// makes reports whether a verb may add rows of an entity.
func makes(v *verbs.Verb, e *verbs.Entity) bool {
	return slices.ContainsFunc(v.Effects, func(f verbs.Effect) bool { return f.Kind == verbs.Creates && f.Entity == e })
}

// namesOne reports whether an argument of a verb names rows of an entity.
func namesOne(v *verbs.Verb, e *verbs.Entity) bool {
	return slices.ContainsFunc(v.Params, func(p verbs.Param) bool {
		t := p.Type
		for t != nil && t.Item != nil {
			t = t.Item
		}
		return t != nil && (t.Entity == e || slices.ContainsFunc(t.Fields, func(f verbs.Param) bool { return f.Type.Entity == e || f.Type.Item != nil && f.Type.Item.Entity == e }))
	})
}

// someUsable reports whether the session can see a row of an entity; if open is true, one that is not in a
// final state.
func someUsable(ctx context.Context, s *Session, e *verbs.Entity, open bool) (some bool, err error) {
	err = s.e.store.View(ctx, s.scope, func(read stores.Reader) error {
		rows, err := read.Find(ctx, stores.Find{Entity: e.Store, Limit: maxUsable, Cut: true, Blank: true})
		some = len(rows) == maxUsable || slices.ContainsFunc(rows, func(row []stores.Value) bool { return !open || !e.Ended(row) })
		return err
	})
	return some, failure(err)
}
