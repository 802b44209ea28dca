package postgres

import (
	"context"
	"errors"
	"slices"
	"testing"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

// A database of the version before keeps all marks beside the rows. It is refused until it is
// migrated, and then every row has the marks that it had. SAFE-S4
func TestMarksMoveIntoRows(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.Database(t)
	s, all := openChain(t, db), chain(2)
	migrateChain(t, s, all)
	fillChain(t, s, all)
	for _, e := range all {
		db.Run(t, "ALTER TABLE "+e.Table+" DROP COLUMN "+markColumn)
	}
	toChain(t, s, func(statements ...string) { db.Run(t, statements...) }, 0)
	db.Run(t, "UPDATE verbatim_schema SET version = 3",
		"INSERT INTO verbatim_origin VALUES ('chain.e1', '2', 'text', 'model'), ('chain.e1', '2', 'up', 'tool'), ('chain.e0', '1', 'text', 'document=a.pdf')")
	s = openChain(t, db)
	var other *stores.VersionError
	if _, err := s.Identity(ctx); !errors.As(err, &other) || !other.Old || other.Is != 3 {
		t.Fatalf("the database of the version before is answered with %v", err)
	}
	migrateChain(t, s, all)
	if _, err := s.Identity(ctx); err != nil {
		t.Fatal(err)
	}
	want := func(e *stores.Entity, key int64, want ...stores.Mark) {
		t.Helper()
		err := s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
			rows, err := r.Rows(ctx, e, []stores.Value{stores.NewInt(key)})
			if err == nil && (len(rows) != 1 || !slices.Equal(rows[0].Marks, want)) {
				t.Errorf("row %d of %s: %v", key, e.Name, rows)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	want(all[0], 1, stores.Mark{Field: 1, Origin: "document=a.pdf"})
	want(all[0], 2)
	want(all[1], 1)
	want(all[1], 2, stores.Mark{Field: 1, Origin: "tool"}, stores.Mark{Field: 2, Origin: "model"})
	beside := 0
	if err := s.owner.QueryRow(ctx, "SELECT count(*) FROM public.verbatim_origin").Scan(&beside); err != nil || beside > 0 {
		t.Errorf("%d marks stand beside rows, %v", beside, err)
	}
}
