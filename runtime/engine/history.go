package engine

import (
	"context"
	"slices"

	"verbatim/runtime/state/trail"
	"verbatim/stores"
	"verbatim/verbs"
)

// What happened: entries of the journal by person, verb, time or row.

// followed is how many entries a page adds to the index of the journal before it shows them. Behind pages, Follow
// adds the others.
const followed = 1000

// History returns entries that a filter finds, to roles that keep the journal.
func (jn Journal) History(ctx context.Context, f trail.Filter) (trail.Page, error) {
	if err := jn.Reads(ctx); err != nil {
		return trail.Page{}, err
	}
	return jn.history(ctx, f)
}

// OfRow returns the latest entries that changed a row, to a session that sees the row.
func (jn Journal) OfRow(ctx context.Context, e *verbs.Entity, key stores.Value, limit int) (trail.Page, error) {
	err := jn.s.e.store.View(ctx, jn.s.scope, func(r stores.Reader) error {
		_, err := r.Get(ctx, e.Store, key)
		return err
	})
	if err != nil {
		return trail.Page{}, failure(err)
	}
	return jn.history(ctx, trail.Filter{Entity: e.Store.Name, Key: key, Limit: limit})
}

func (jn Journal) history(ctx context.Context, f trail.Filter) (h trail.Page, err error) {
	whole, err := trail.Follow(ctx, jn.s.e.store, followed)
	if err != nil && ctx.Err() != nil {
		return h, err
	}
	h.Behind = err != nil || !whole // a store that only reads keeps the index as it is
	var found []int64
	if found, h.More, err = trail.Find(ctx, jn.s.e.store, f); err != nil {
		return h, failure(err)
	}
	for len(found) > 0 {
		n := 1 // entries beside each other are read together
		for n < len(found) && found[n] == found[n-1]-1 {
			n++
		}
		entries, err := jn.s.e.store.Journal(ctx, found[n-1], found[0])
		if err != nil {
			return h, failure(err)
		}
		slices.Reverse(entries)
		h.Entries, found = append(h.Entries, entries...), found[n:]
	}
	return h, nil
}

// Named returns the names of rows of an entity, parallel to their keys; "" for one that the session does
// not see.
func (ns Names) Named(ctx context.Context, e *verbs.Entity, keys ...stores.Value) ([]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	once := make([]stores.Value, 0, len(keys))
	for _, key := range keys {
		if !slices.Contains(once, key) {
			once = append(once, key)
		}
	}
	if err := ns.s.view(ctx, func(r stores.Reader) error { return ns.s.nameKeys(ctx, r, e, once) }); err != nil {
		return nil, failure(err)
	}
	all := make([]string, len(keys))
	for i, key := range keys {
		if row, ok := ns.s.names.Row(e.Store, key); ok {
			all[i] = row.Name
		}
	}
	return all, nil
}

// Shows reports whether a verb of the session returns a field of an entity.
func (jn Journal) Shows(e *verbs.Entity, field string) bool {
	i := e.Store.FieldIndex(field)
	return i >= 0 && jn.s.reads(e, i)
}
