package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

// F18: a script adds to what is there, whole or not at all, and is refused where its
// rows are there already.
func TestLoadAddsToWhatIsThere(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	ctx := context.Background()
	s, err := Open(ctx, db.Owner, AsOwner("verbatim_app"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(ctx, nil, true); err != nil {
		t.Fatal(err)
	}
	err = s.Load(ctx, "CREATE TABLE things (id text PRIMARY KEY); INSERT INTO things VALUES ('a'); SELECT nothing")
	if !errors.Is(err, stores.ErrInvalid) || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a script with a mistake: %v", err)
	}
	const script = "CREATE TABLE things (id text PRIMARY KEY);\n;\nINSERT INTO things VALUES ('a'); INSERT INTO verbatim_principal (name) VALUES ('pierre'); GRANT SELECT ON things TO verbatim_app"
	if err := s.Load(ctx, script); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(ctx, "INSERT INTO things VALUES ('b')"); err != nil {
		t.Error(err)
	}
	if err := s.Load(ctx, "INSERT INTO things VALUES ('c'), ('b')"); !errors.Is(err, stores.ErrDuplicate) || !strings.Contains(err.Error(), "things") {
		t.Errorf("a row that is there: %v", err)
	}
	app, err := Open(ctx, db.App)
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close()
	if p, err := app.Principal(ctx, "pierre"); err != nil || p.Name != "pierre" {
		t.Errorf("%+v, %v", p, err)
	}
	e := &stores.Entity{Name: "thing", Table: "things", Access: stores.ForAll, Fields: []stores.Field{{Name: "id", Column: "id", Kind: stores.String, Required: true}}}
	if rows, err := find(app, stores.Find{Entity: e}); err != nil || len(rows) != 2 {
		t.Errorf("%v, %v", rows, err)
	}
}
