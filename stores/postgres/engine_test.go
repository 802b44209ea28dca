package postgres_test

import (
	"context"
	"strings"
	"testing"

	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
)

// PostgreSQL has all that a store needs. Where something is taken away, it is named, with
// what it is for; and nothing stays of the trial.
func TestWhatAnEngineLacksIsNamed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.Database(t)
	about, needs, err := postgres.Engine(ctx, db.Owner)
	if err != nil || !strings.HasPrefix(about, "PostgreSQL ") || len(needs) < 15 {
		t.Fatal(about, len(needs), err)
	}
	for _, n := range needs {
		if n.Lacks != "" || n.What == "" || n.For == "" {
			t.Errorf("%+v", n)
		}
	}
	if left, err := db.Number("SELECT count(*) FROM pg_namespace WHERE nspname = 'verbatim_probe'"); err != nil || left > 0 {
		t.Error("something stays of it:", left, err)
	}
	db.Run(t, "REVOKE EXECUTE ON FUNCTION pg_advisory_xact_lock(bigint) FROM PUBLIC", "REVOKE EXECUTE ON FUNCTION setval(regclass, bigint) FROM PUBLIC")
	_, needs, err = postgres.Engine(ctx, db.Owner)
	if err != nil {
		t.Fatal(err)
	}
	var lacks []string
	for _, n := range needs {
		if n.Lacks != "" {
			lacks = append(lacks, n.What)
		}
	}
	if got := strings.Join(lacks, "; "); got != "advisory locks of a transaction; numbers that are drawn once, and set" {
		t.Errorf("%q is named", got)
	}
	if _, _, err := postgres.Engine(ctx, db.App); err == nil {
		t.Error("a role that may create nothing is taken to have tried everything")
	}
	if _, _, err := postgres.Engine(ctx, "postgres:///nothing?host=/nowhere"); err == nil {
		t.Error("a server that is not there lacks nothing")
	}
}
