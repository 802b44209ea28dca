package runtime

import (
	"context"
	"slices"

	"verbatim/stores"
	"verbatim/verbs"
)

// along finds the keys of the row that a read begins with and of all that a reference leads
// to from there, the nearest first. It asks once a step. A row that was met is not gone from
// again, so that a circle ends; it stops beyond the limit of the read, which is refused.
func (r *reading) along(ctx context.Context, st *step, read *verbs.Read) ([]stores.Value, error) {
	start := st.rows[read.Along.From].Key()
	found, met := []stores.Value{start}, map[stores.Value]bool{start: true}
	for from := 0; from < len(found) && len(found) <= read.Limit; {
		find := read.Along.Step(found[from:])
		find.Hold = r.holdsAs(stores.Shared)
		rows, err := r.withOwed(ctx, find)
		if err != nil {
			return nil, err
		}
		from = len(found)
		for _, row := range rows {
			if key := row[0]; !key.IsNull() && !met[key] {
				met[key] = true
				found = append(found, key)
			}
		}
	}
	return found, nil
}

// onlyThose narrows a condition to rows with some keys.
func onlyThose(where *stores.Cond, e *stores.Entity, keys []stores.Value) *stores.Cond {
	those := stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Key}, Value: stores.NewList(keys...)}
	if where == nil {
		return &those
	}
	return &stores.Cond{Op: stores.And, Kids: []stores.Cond{*where, those}}
}

// asFound puts rows, whose keys come first, in the order of some keys.
func asFound(rows [][]stores.Value, keys []stores.Value) {
	place := make(map[stores.Value]int, len(keys))
	for i, key := range keys {
		place[key] = i
	}
	slices.SortFunc(rows, func(a, b []stores.Value) int { return place[a[0]] - place[b[0]] })
}
