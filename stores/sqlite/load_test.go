package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/stores"
)

// F18: a script adds to what is there, whole or not at all, and is refused where its
// rows are there already.
func TestLoadAddsToWhatIsThere(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := Open(filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(ctx, nil, true); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(ctx, `CREATE TABLE half (a); INSERT INTO nowhere VALUES (1)`); err == nil {
		t.Fatal("a script that names no table was run")
	}
	const script = `
		CREATE TABLE half (a TEXT); -- would fail, had the first script left it behind
		INSERT INTO half VALUES ('one; two'), ('three');
		INSERT INTO verbatim_principal (name, label) VALUES ('clara', 'Clara Weiss');
		INSERT INTO verbatim_grant (principal, role) VALUES ('clara', 'client');`
	if err := s.Load(ctx, script); err != nil {
		t.Fatal(err)
	}
	p, err := s.Principal(ctx, "clara")
	if err != nil || len(p.Roles) != 1 || p.Roles[0] != "client" {
		t.Errorf("clara is %+v, %v", p, err)
	}
	if err := s.Load(ctx, `INSERT INTO half VALUES ('four')`); err != nil {
		t.Error(err)
	}
	err = s.Load(ctx, `INSERT INTO half VALUES ('five'); INSERT INTO verbatim_principal (name) VALUES ('clara')`)
	if !errors.Is(err, stores.ErrDuplicate) || !strings.Contains(err.Error(), "verbatim_principal.name") {
		t.Errorf("a row that is there: %v", err)
	}
	e := mappedTo("half")
	e.Fields[0].Column = "a"
	if rows, err := find(s, stores.Find{Entity: e}); err != nil || len(rows) != 3 {
		t.Errorf("%v, %v", rows, err)
	}
}
