package postgres_test

import (
	"strings"
	"testing"

	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
)

// Connections that the server ended while nobody used them fail nobody: nothing was done in them. W22
func TestAnEndedConnectionIsTriedAgain(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	at := db.App + "&pool_max_conns=4"
	if !strings.Contains(db.App, "?") {
		at = db.App + "?pool_max_conns=4"
	}
	owner, err := postgres.Open(t.Context(), db.Owner, postgres.AsOwner("verbatim_app"))
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if _, err := owner.Migrate(t.Context(), nil, true); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	everybody := stores.Scope{All: true}
	for range 5 {
		if err := s.View(t.Context(), everybody, func(r stores.Reader) error {
			_, err := r.Jobs(t.Context(), stores.JobFilter{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		db.Run(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'verbatim_app'")
		if err := s.Update(t.Context(), everybody, func(tx stores.Tx) error {
			_, err := tx.Jobs(t.Context(), stores.JobFilter{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		db.Run(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'verbatim_app'")
	}
}
