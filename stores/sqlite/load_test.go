package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// Loading is for a fresh file: once a table holds a row, nothing is run, and a
// script that fails leaves nothing behind.
func TestLoadRunsOnAFreshFileOnly(t *testing.T) {
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
	if err := s.Load(ctx, `DELETE FROM half`); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a second script: %v, ErrNotEmpty wanted", err)
	}
}
