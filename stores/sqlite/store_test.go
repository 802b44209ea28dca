package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/stores/storetest"
)

// The conformance suite says what a store is. X4 O2 O24 SAFE-A2.
func TestStore(t *testing.T) {
	storetest.Run(t, open)
}

// SAFE-Q1: what a store knows it knows when it is opened again.
func TestReopened(t *testing.T) {
	storetest.Reopened(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "test.db")
		return func(t *testing.T, entities []*stores.Entity) stores.Store { return openFile(t, path, entities) }
	})
}

func open(t *testing.T, entities []*stores.Entity) stores.Store {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "test.db"), entities)
}

func openFile(t *testing.T, path string, entities []*stores.Entity) stores.Store {
	t.Helper()
	s, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if entities != nil {
		plan, err := s.Migrate(context.Background(), entities, true)
		if err != nil || len(plan.Problems) > 0 {
			t.Fatal(plan.Problems, err)
		}
	}
	return s
}
