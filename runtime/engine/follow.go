package engine

import (
	"context"
	"fmt"
	"slices"

	"verbatim/stores"
	"verbatim/verbs"
)

// mostWalked is the greatest number of rows that following a reference may find, whatever part of
// them a read returns.
const mostWalked = 10_000

// along returns the keys of the row that a read starts at and of all rows that can be reached from
// it by a reference, the nearest first. It sends one query per step. Each row is followed once, so
// that circles end.
func (r *source) along(ctx context.Context, st *step, a *verbs.Along) ([]stores.Value, error) {
	start := st.args.rows[a.From].Key()
	found, met := []stores.Value{start}, map[stores.Value]bool{start: true}
	for from := 0; from < len(found); {
		find := a.Step(found[from:])
		find.Hold = r.holdsAs(stores.Shared)
		rows, err := r.findWithPostponed(ctx, find)
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
		if len(found) > mostWalked {
			return nil, fmt.Errorf("more than %d rows are led to: %w", mostWalked, stores.ErrLimit)
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

// asFound sorts rows, whose first value is their key, in the order of some keys.
func asFound(rows [][]stores.Value, keys []stores.Value) {
	place := make(map[stores.Value]int, len(keys))
	for i, key := range keys {
		place[key] = i
	}
	slices.SortFunc(rows, func(a, b []stores.Value) int { return place[a[0]] - place[b[0]] })
}
