package main

import (
	"context"
	"os"
	"path/filepath"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

// lintQueries prepares the query of every verb on the given store, or else on an empty SQLite file
// with the palettes' tables.
func (a *app) lintQueries(ctx context.Context, dir, where string) (dsl.Diagnostics, error) {
	l, err := loadPalettes(dir) // again, because the steps below change what it knows of tables
	if err != nil || l.reg == nil {
		return nil, err
	}
	if where != "" {
		store, err := a.open(ctx, where)
		if err != nil {
			return nil, err
		}
		defer store.Close()
		return checked(ctx, l.reg, store)
	}
	folder, err := os.MkdirTemp("", "verbatim-lint-")
	if err != nil {
		return nil, broken("queries cannot be tried", err, "see that temporary files can be written")
	}
	defer os.RemoveAll(folder)
	store, err := sqlite.Open(filepath.Join(folder, "lint.db"))
	if err != nil {
		return nil, broken("queries cannot be tried", err, "see that temporary files can be written")
	}
	defer store.Close()
	var all []*stores.Entity
	for _, e := range l.reg.Entities() {
		e.Store.Managed = true
		all = append(all, e.Store)
	}
	if plan, err := store.Migrate(ctx, append(all, ownTables()...), true); err != nil || len(plan.Problems) > 0 {
		return nil, nil // migrate reports what is wrong with tables
	}
	return checked(ctx, l.reg, store)
}

func checked(ctx context.Context, reg *verbs.Registry, store stores.Store) (dsl.Diagnostics, error) {
	ds, err := engine.CheckQueries(ctx, reg, store)
	if err != nil {
		return nil, broken("queries cannot be tried", err, "try again")
	}
	return ds, nil
}
