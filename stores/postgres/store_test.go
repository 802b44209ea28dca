package postgres_test

import (
	"context"
	"reflect"
	"testing"

	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// The conformance suite says what a store is. X4 O2 O24 SAFE-A2.
func TestStore(t *testing.T) {
	storetest.Run(t, open)
}

// SAFE-S4: marks of tables of others stand beside their rows. Tables of ours that lack the
// column of marks are kept in the same way.
func TestMarksBesideRows(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, entities []*stores.Entity) stores.Store {
		db := pgtest.Database(t)
		s := openDatabase(t, db, entities)
		for _, e := range entities {
			db.Run(t, "ALTER TABLE "+e.Table+" DROP COLUMN verbatim_origins")
		}
		return s
	}, "marks")
}

// SAFE-Q1: what a store knows it knows when it is opened again.
func TestReopened(t *testing.T) {
	storetest.Reopened(t, func(t *testing.T) storetest.Open {
		db := pgtest.Database(t)
		return func(t *testing.T, entities []*stores.Entity) stores.Store { return openDatabase(t, db, entities) }
	})
}

func open(t *testing.T, entities []*stores.Entity) stores.Store {
	t.Helper()
	if reflect.DeepEqual(entities, storetest.Schema()) {
		return openDatabase(t, pgtest.Like(t, "schema", func(db pgtest.DB) {
			if err := migrated(t, db, entities).Close(); err != nil {
				t.Fatal(err)
			}
		}), nil)
	}
	return openDatabase(t, pgtest.Database(t), entities)
}

func openDatabase(t *testing.T, db pgtest.DB, entities []*stores.Entity) stores.Store {
	t.Helper()
	s := migrated(t, db, entities)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// migrated is a store with tables for some entities.
func migrated(t *testing.T, db pgtest.DB, entities []*stores.Entity) *postgres.Store {
	t.Helper()
	ctx := context.Background()
	s, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	if entities != nil {
		plan, err := s.Migrate(ctx, entities, true)
		if err != nil || len(plan.Problems) > 0 {
			t.Fatal(plan.Problems, err)
		}
	}
	return s
}
