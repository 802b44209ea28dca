package main

import (
	"errors"
	"slices"
	"testing"

	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
)

// SAFE-A5: over every table of every palette that we ship, made ours, row-level
// security holds alone. The engine's own scope condition is left out, and still
// whoever holds one owner's rows reads, counts and changes no row of another's,
// on whatever way it is asked for. New entities are in it by themselves.
func TestRowLevelSecurityHoldsAlone(t *testing.T) {
	t.Parallel()
	for domain, load := range shippedReads(t) {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			db := pgtest.Database(t)
			store, err := postgres.Open(pgtest.Ajar(ctx), db.App, postgres.MigrateAs(db.Owner))
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			reg, h := load(t)
			c := newCrowd(t, reg, h, store, 2, 1, 2, 3, 4)
			scope := stores.Scope{Principal: "nobody", Holds: map[string][]stores.Value{}}
			var tables []*stores.Entity
			for _, e := range reg.Entities() {
				if e.Store.Access == stores.ForAll {
					continue // everybody's
				}
				tables = append(tables, e.Store)
				if len(e.Store.Scope) == 0 {
					scope.Holds[e.Store.Name] = []stores.Value{c.value(e.Store, e.Store.Key, 0)}
				}
			}
			own, foreign := map[*stores.Entity][]stores.Value{}, map[*stores.Entity][]stores.Value{}
			for _, e := range tables {
				for i := range c.count(e) {
					if i%c.roots == 0 && e.Access == stores.ByPath {
						own[e] = append(own[e], c.value(e, e.Key, i))
					} else {
						foreign[e] = append(foreign[e], c.value(e, e.Key, i))
					}
				}
			}
			reads, writes := 0, 0
			err = store.View(ctx, scope, func(r stores.Reader) error {
				for _, e := range tables {
					seen := func(how string, rows [][]stores.Value, want int) {
						reads++
						if len(rows) != want {
							t.Errorf("%s, %s: %d rows, and %d are theirs", e.Name, how, len(rows), want)
						}
						for _, row := range rows {
							if !slices.Contains(own[e], row[0]) {
								t.Errorf("%s, %s: another's row %v", e.Name, how, row)
							}
						}
					}
					key := stores.Path{Field: e.Key}
					rows, err := r.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{key}})
					if err != nil {
						return err
					}
					seen("all", rows, len(own[e]))
					rows, err = r.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{key}, Where: &stores.Cond{Op: stores.In, Path: key, Value: stores.NewList(foreign[e]...)}})
					if err != nil {
						return err
					}
					seen("by their keys", rows, 0)
					some, err := r.Rows(ctx, e, append(slices.Clone(foreign[e]), own[e]...))
					if err != nil {
						return err
					}
					reads++
					if len(some) != len(own[e]) {
						t.Errorf("%s: %d rows at once", e.Name, len(some))
					}
					for _, k := range foreign[e] {
						reads++
						if _, err := r.Get(ctx, e, k); err != stores.ErrNotFound {
							t.Errorf("%s: got %s: %v", e.Name, k, err)
						}
					}
					// Counts, and what references lead to, from every row that is theirs.
					for _, other := range tables {
						for f := range other.Fields {
							if other.Fields[f].Ref != e {
								continue
							}
							counts, err := r.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{{Count: other, By: f}}})
							if err != nil {
								return err
							}
							total := int64(0)
							for _, row := range counts {
								total += row[0].Int()
							}
							reads++
							if total > int64(len(own[other])) {
								t.Errorf("%s: %d of %s are counted, and %d are theirs", e.Name, total, other.Name, len(own[other]))
							}
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range tables {
				if len(foreign[e]) == 0 {
					continue
				}
				var changes []stores.Change
				for f := range e.Fields {
					if f == e.Key {
						continue
					}
					theirs := c.value(e, f, 1)
					set := []stores.Assign{{Field: f, Value: theirs}}
					changes = append(changes, stores.Change{Op: stores.Update, Entity: e, Key: foreign[e][0], Set: set})
					if to := e.Fields[f].Ref; to != nil && len(own[e]) > 0 && to.Access == stores.ByPath {
						changes = append(changes, stores.Change{Op: stores.Update, Entity: e, Key: own[e][0], Set: set}) // moved to them
					}
				}
				changes = append(changes, stores.Change{Op: stores.Delete, Entity: e, Key: foreign[e][0]})
				if len(e.Scope) > 0 {
					add := stores.Change{Op: stores.Insert, Entity: e, Key: c.value(e, e.Key, 9999)}
					for f := range e.Fields {
						if f != e.Key {
							add.Set = append(add.Set, stores.Assign{Field: f, Value: c.value(e, f, 1)})
						}
					}
					changes = append(changes, add)
				}
				for _, change := range changes {
					err := store.Update(ctx, scope, func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{change}}) })
					writes++
					if !errors.Is(err, stores.ErrNotFound) && !errors.Is(err, stores.ErrReadOnly) {
						t.Errorf("%s: operation %d of another's row, fields %v: %v", e.Name, change.Op, change.Set, err)
					}
				}
			}
			t.Logf("%d tables: %d reads, 0 rows of another's; %d writes, 0 changes", len(tables), reads, writes)
			if reads == 0 || writes == 0 {
				t.Error("nothing was tried")
			}
		})
	}
}
