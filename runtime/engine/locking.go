package engine

import (
	"context"
	"errors"

	"verbatim/runtime/internal/view"
	"verbatim/stores"
	"verbatim/verbs"
)

// A run that writes locks the rows by which it decides, until it commits: the rows that its
// references name, those that conditions lead to, those that a filter picked, and those that a
// handler or a read in the script found.
//
// A count has no row of its own to lock. A run that counts the rows that refer to a parent locks
// the parent, and a run that adds, moves or removes such a row locks the parent too, so that one
// of the two waits.

// holdsAs returns the lock for rows that a run reads: none if it changes nothing or is rolled back.
func (r *source) holdsAs(h stores.Hold) stores.Hold {
	if !r.locks {
		return stores.Loose
	}
	return h
}

// writes reports whether a call of a program may change something.
func (e *Engine) writes(p *verbs.Program) bool {
	calls := p.Calls()
	for i := range calls {
		if !e.verbs[calls[i].Verb].reads {
			return true
		}
	}
	return false
}

// countedBy lists the reference fields by which reads, requirements and totals count rows. The value
// is true if a total uses the field: then a change to any field of such a row may alter the result.
func countedBy(all []*verbs.Verb) map[view.Field]bool {
	by := make(map[view.Field]bool)
	total := func(t *verbs.Total) {
		if t != nil && t.Where.Filter != nil && t.By >= 0 {
			by[view.Field{Entity: t.Entity.Store, Field: t.By}] = true
		}
	}
	for _, v := range all {
		for i := range v.Requires {
			total(v.Requires[i].Rows)
		}
		for _, t := range v.Totals {
			total(t)
		}
	}
	add := func(l view.Field) {
		if !by[l] {
			by[l] = false
		}
	}
	for _, v := range all {
		if v.Read == nil {
			continue
		}
		for _, f := range v.Read.Fields {
			if f.Path.Count != nil {
				add(view.Field{Entity: f.Path.Count, Field: f.Path.By})
			}
		}
		for i := range v.Read.Lists {
			// A list is locked by its parent row, if the list's rows refer to that directly.
			if list := &v.Read.Lists[i]; len(list.By.Steps) == 0 {
				add(view.Field{Entity: list.Entity.Store, Field: list.By.Field})
			}
		}
		if a := v.Read.Along; a != nil && a.Here != a.Entity.Store.Key {
			add(view.Field{Entity: a.Entity.Store, Field: a.Here})
		}
		if p := v.Read.Entity.Progress; p != nil && len(p.By.Steps) == 0 {
			add(view.Field{Entity: p.Steps.Store, Field: p.By.Field})
		}
		for _, o := range v.Read.Order {
			if o.Path.Count != nil {
				add(view.Field{Entity: o.Path.Count, Field: o.Path.By})
			}
		}
	}
	return by
}

// lockParents locks the parent rows whose counts a change may alter. Most are locked already, because a
// reference of the call names them.
func (r *source) lockParents(ctx context.Context, c *stores.Change) error {
	if len(r.e.catalog.counted) == 0 || !r.locks {
		return nil
	}
	hold := func(field int, key stores.Value) error {
		to := c.Entity.Fields[field].Ref
		if r.mem.added[view.RowKey{Entity: to, Key: key}] || key.IsNull() || to == nil || r.mem.locked[view.RowKey{Entity: to, Key: key}] {
			return nil
		}
		// This principal can neither refer to a row outside their scope nor count for it.
		if _, err := r.read.Get(ctx, to, key); err != nil && !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		if r.mem.locked == nil {
			r.mem.locked = make(map[view.RowKey]bool)
		}
		r.mem.locked[view.RowKey{Entity: to, Key: key}] = true
		return nil
	}
	for i := range c.Entity.Fields {
		counts, is := r.e.catalog.counted[view.Field{Entity: c.Entity, Field: i}]
		if !is {
			continue
		}
		set, moves := stores.Value{}, c.Op == stores.Delete || counts
		for _, a := range c.Set {
			if a.Field == i {
				set, moves = a.Value, true
			}
		}
		if !moves {
			continue
		}
		if c.Op != stores.Insert {
			if err := hold(i, c.Before[i]); err != nil {
				return err
			}
		}
		if err := hold(i, set); err != nil {
			return err
		}
	}
	return nil
}
