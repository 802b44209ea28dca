package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

// The role that queries run as has no right that a query does not need: were the walk over
// the text and EXPLAIN both wrong, PostgreSQL would still refuse.
func TestWhatTheRoleOfQueriesMayDo(t *testing.T) {
	t.Parallel()
	s, entities, scope, db := bank(t)
	ctx := context.Background()
	// What the guide has an administrator do.
	run(t, db.Admin, "REVOKE EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) FROM PUBLIC; GRANT EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) TO verbatim_app, verbatim_owner")
	if s.asker != "verbatim_app_queries" {
		t.Fatalf("queries run as %q", s.asker)
	}
	for sql, denied := range map[string]bool{
		"SELECT text FROM kyc.notes":                                             false,
		"SELECT id, name FROM kyc.cbus":                                          false,
		"SELECT verbatim_root FROM kyc.lines":                                    false,
		"SELECT secret FROM kyc.notes":                                           true, // F9
		"SELECT count(secret) FROM kyc.notes":                                    true,
		"SELECT * FROM kyc.notes":                                                true,
		"SELECT n FROM kyc.notes n":                                              true,
		"SELECT to_json(n) FROM kyc.notes n":                                     true,
		"SELECT text FROM public.secrets":                                        true,
		"SELECT text FROM public.peek":                                           true,
		"SELECT call FROM verbatim_journal":                                      true,
		"SELECT name FROM verbatim_principal":                                    true,
		"SELECT role FROM verbatim_grant":                                        true,
		"SELECT id FROM verbatim_river.river_job":                                true,
		"INSERT INTO verbatim_grant (principal, role) VALUES ('eve', 'manager')": true,
		"UPDATE kyc.notes SET text = ''":                                         true,
		"DELETE FROM kyc.notes":                                                  true,
		"SELECT text FROM kyc.notes FOR UPDATE":                                  true,
		"SELECT set_config('verbatim.all', 'on', true)":                          true,
		"SELECT set_config('role', 'verbatim_app', true)":                        true,
		"CREATE TEMP TABLE t (x int)":                                            true,
	} {
		err := s.write(ctx, s.pool, scope, func(c *conn) error {
			err := c.aside(ctx, c.asker, func() error {
				// Not even the transaction keeps it from writing here.
				if _, err := c.pc.Exec(ctx, "SET LOCAL search_path = public, pg_catalog"); err != nil {
					return err
				}
				_, err := c.pc.Exec(ctx, sql)
				return err
			})
			var e *pgconn.PgError
			switch {
			case err == nil == denied:
				t.Errorf("%s: %v", sql, err)
			case denied && (!errors.As(err, &e) || e.Code != "42501" && e.Code != "25006"):
				t.Errorf("%s: %v", sql, err)
			}
			// The transaction is the application's again.
			return c.do(ctx, op{doing: "test", sql: "SELECT secret FROM kyc.notes"}, op{doing: "test", sql: "UPDATE kyc.notes SET text = text"})
		})
		if err != nil {
			t.Errorf("after %s: %v", sql, err)
		}
	}
	// Without the setting of the transaction, too.
	app, err := pgx.Connect(ctx, db.App)
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(ctx)
	for _, sql := range []string{"INSERT INTO verbatim_grant (principal, role) VALUES ('eve', 'manager')", "UPDATE kyc.notes SET text = ''", "DELETE FROM kyc.notes", "INSERT INTO verbatim_journal DEFAULT VALUES", "SELECT set_config('verbatim.all', 'on', true)"} {
		_, err := app.Exec(ctx, "SET ROLE verbatim_app_queries; "+sql)
		var e *pgconn.PgError
		if !errors.As(err, &e) || e.Code != "42501" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	// One that says that it reads something sensitive does, as the application.
	q := stores.SQL{Text: "SELECT secret FROM kyc.notes", Columns: []stores.Column{{Name: "secret", Kind: stores.String}}}
	var wrong *stores.SQLError
	if err := s.CheckSQL(ctx, entities, q); !errors.As(err, &wrong) || !strings.Contains(wrong.Msg, "sensitive") {
		t.Error(err)
	}
	q.Sensitive = true
	if err := s.CheckSQL(ctx, entities, q); err != nil {
		t.Error(err)
	}
	if err := s.View(ctx, scope, func(r stores.Reader) error {
		_, err := r.SQL(ctx, entities, q)
		return err
	}); err != nil {
		t.Error(err)
	}
}

// What becomes sensitive is taken from the role again, and what others gave it too much of.
func TestRightsOfTheRoleOfQueriesFollowThePalettes(t *testing.T) {
	t.Parallel()
	s, entities, _, db := bank(t)
	ctx := context.Background()
	note := entities[1]
	more := func() (steps []string) {
		plan, err := s.Migrate(ctx, entities, true)
		if err != nil || len(plan.Problems) > 0 {
			t.Fatal(plan.Problems, err)
		}
		return append(plan.Steps, plan.Warnings...)
	}
	if steps := more(); len(steps) > 0 {
		t.Fatalf("there is more to do: %s", steps)
	}
	note.Fields[2].Sensitive = true
	if got, want := more(), []string{`REVOKE SELECT ON "kyc"."notes" FROM "verbatim_app_queries"`, `GRANT SELECT ("id", "cbu") ON "kyc"."notes" TO "verbatim_app_queries"`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	run(t, db.Admin, "GRANT SELECT ON kyc.notes TO verbatim_app_queries")
	if got := more(); len(got) != 2 {
		t.Errorf("%q", got)
	}
	run(t, db.Admin, "GRANT SELECT (secret) ON kyc.notes TO PUBLIC")
	if got := more(); len(got) != 1 || !strings.Contains(got[0], "every role may read column secret of table kyc.notes") {
		t.Errorf("%q", got)
	}
	run(t, db.Admin, "REVOKE SELECT (secret) ON kyc.notes FROM PUBLIC")
	if got := more(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// A role of queries to which row-level security means nothing would open everything.
func TestARoleOfQueriesIsBound(t *testing.T) {
	t.Parallel()
	db := pgtest.Own(t)
	run(t, db.Admin, "ALTER ROLE verbatim_app_queries BYPASSRLS")
	if s, err := Open(context.Background(), db.App); !errors.Is(err, ErrRole) {
		t.Error(err)
		s.Close()
	}
	run(t, db.Admin, "ALTER ROLE verbatim_app_queries NOBYPASSRLS; REVOKE verbatim_app_queries FROM verbatim_app")
	s, err := Open(context.Background(), db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	plan, err := s.Migrate(context.Background(), nil, true)
	if err != nil || len(plan.Problems) != 1 || !strings.HasSuffix(plan.Problems[0], `GRANT "verbatim_app_queries" TO "verbatim_app"`) || s.asker != "" {
		t.Errorf("%v %q %q", err, plan.Problems, s.asker)
	}
}
