package view

import (
	"context"
	"slices"

	"verbatim/stores"
)

const (
	// Few is how many rows make it worth asking for them ahead of time, and
	// changes to bring them in order.
	Few = 2
	// maxAhead bounds the rows that are asked for at once.
	maxAhead = 500
)

// A reached is what a path from a row led to.
type reached struct {
	path  stores.Path
	value stores.Value
	held  bool // nobody else changes it
}

func (b *buffered) Ahead(ctx context.Context, wants []Want) error {
	var asks []stores.Ask
	at := make(map[*stores.Entity]int) // of each entity, the ask for its rows
	asked := make(map[RowKey]bool)
	for _, w := range wants {
		if asked[w.Row] {
			continue
		}
		asked[w.Row] = true
		i, ok := at[w.Row.Entity]
		if !ok || len(asks[i].Keys) >= maxAhead {
			i, at[w.Row.Entity] = len(asks), len(asks)
			asks = append(asks, stores.Ask{Entity: w.Row.Entity})
		}
		asks[i].Keys = append(asks[i].Keys, w.Row.Key)
	}
	rows := len(asks)
	type along struct {
		row   RowKey
		paths Paths
	}
	var all []along // what is wanted along references, behind the rows themselves
	for _, w := range wants {
		if !asked[w.Row] || len(all) >= maxAhead {
			continue
		}
		asked[w.Row] = false // once
		for _, p := range w.Along {
			all = append(all, along{w.Row, p})
			asks = append(asks, stores.Ask{Find: &stores.Find{Entity: w.Row.Entity, Select: p.Paths, Limit: 1, Hold: p.Hold,
				Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: w.Row.Entity.Key}, Value: w.Row.Key}}})
		}
	}
	if rows == 0 || rows == 1 && len(asks[0].Keys) < Few && len(all) == 0 {
		return nil // it is asked for when the call begins
	}
	if err := b.Together(ctx, asks); err != nil {
		b.misjudged = b.misjudged || isVerdict(err)
		return err
	}
	for i, a := range all {
		if found := asks[rows+i].Found; len(found) == 1 {
			for j, p := range a.paths.Paths {
				if b.reached == nil {
					b.reached = make(map[RowKey][]reached)
				}
				b.reached[a.row] = append(b.reached[a.row], reached{p, found[0][j], a.paths.Hold != stores.Loose})
			}
		}
	}
	return nil
}

func (b *buffered) Along(row RowKey, paths []stores.Path, held bool) ([]stores.Value, bool) {
	all := b.reached[row]
	if len(all) == 0 {
		return nil, false
	}
	values := make([]stores.Value, len(paths))
	for i, p := range paths {
		at := slices.IndexFunc(all, func(f reached) bool { return (f.held || !held) && SamePath(f.path, p) })
		if at < 0 {
			return nil, false
		}
		values[i] = all[at].value
	}
	return values, true
}

// SamePath reports whether two paths are one.
func SamePath(a, b stores.Path) bool {
	return a.Field == b.Field && a.Count == b.Count && a.By == b.By && a.Marks == b.Marks && slices.Equal(a.Steps, b.Steps)
}

// forgets drops what was read ahead and may be something else after a change.
func (b *buffered) forgets(c *stores.Change) {
	if b.reached == nil {
		return
	}
	e := c.Entity
	hangs := func(a stores.Assign) bool {
		return b.facts.leads[Field{e, a.Field}] || slices.Contains(e.Visible, a.Field)
	}
	if !e.Managed || c.Op == stores.Delete || c.Op == stores.Update && slices.ContainsFunc(c.Set, hangs) {
		b.reached = nil
		return
	}
	for row, all := range b.reached {
		b.reached[row] = slices.DeleteFunc(all, func(f reached) bool { return touches(row.Entity, f.path, c) })
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
