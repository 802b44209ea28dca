package postgres

import (
	"crypto/rand"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

// G83: one command of a superuser makes the database and its roles, the one for backups among them, and says
// with which password each logs in. A second time there is nothing to do.
func TestRolesAreMade(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	ctx := t.Context()
	// The superuser's own template, as PostgreSQL makes it.
	template := regexp.MustCompile(`/test\d+`).ReplaceAllString(server.Admin, "/template1")
	run(t, template, "GRANT EXECUTE ON FUNCTION "+setConfig+" TO PUBLIC; REVOKE EXECUTE ON FUNCTION "+setConfig+" FROM verbatim_owner, verbatim_app, verbatim_backup")
	at := regexp.MustCompile(`/test\d+`).ReplaceAllString(server.Admin, "/bank")
	plan, err := Roles(ctx, at, "bank", rand.Reader, false)
	if err != nil || len(plan.Steps) < 9 || !slices.Contains(plan.Steps, `CREATE DATABASE "bank" OWNER "bank_owner"`) {
		t.Fatal(plan, err)
	}
	made, err := Roles(ctx, at, "bank", rand.Reader, true)
	if err != nil || !slices.Equal(made.Steps, plan.Steps) {
		t.Fatalf("%v: %q, and %q were planned", err, made.Steps, plan.Steps)
	}
	urls := map[string]string{}
	for _, r := range made.Roles {
		urls[r.Name] = r.URL
		if r.URL != "" && strings.Contains(strings.Join(made.Steps, " "), passwordOf(t, r.URL)) {
			t.Error("a password stands in what is printed")
		}
	}
	if len(urls) != 4 || urls["bank_app_queries"] != "" {
		t.Errorf("%q", urls)
	}
	again, err := Roles(ctx, at, "bank", rand.Reader, true)
	if err != nil || len(again.Steps) > 0 || slices.ContainsFunc(again.Roles, func(r Role) bool { return r.URL != "" }) {
		t.Errorf("a second time: %v, %v", again, err)
	}

	// The passwords are asked for, and taken.
	server.Run(t, "COPY (VALUES ('local all postgres trust'), ('local all all scram-sha-256')) TO '"+hba(t, server.Admin)+"'", "SELECT pg_reload_conf()")
	s, err := Open(ctx, urls["bank_app"], MigrateAs(urls["bank_owner"]))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ours := mappedTo("ours", of("name", stores.String))
	ours.Managed = true
	if plan, err := s.Migrate(ctx, []*stores.Entity{ours}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	wrong := strings.Replace(urls["bank_backup"], passwordOf(t, urls["bank_backup"]), "another", 1)
	if _, err := Reach(ctx, wrong); err == nil {
		t.Error("another password is taken")
	}
	if r, err := Reach(ctx, urls["bank_backup"]); err != nil || !r.Free || !r.Has {
		t.Errorf("%+v, %v", r, err)
	}
	backup, err := pgx.Connect(ctx, urls["bank_backup"])
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Close(ctx)
	if _, err := backup.Exec(ctx, "SELECT set_config('search_path', '', false); SELECT name FROM public.ours; SELECT FROM public.verbatim_journal"); err != nil {
		t.Error(err)
	}
	var no *pgconn.PgError
	if _, err := backup.Exec(ctx, "DELETE FROM public.ours"); !errors.As(err, &no) || no.Code != "42501" {
		t.Errorf("the role of backups writes: %v", err)
	}
}

func passwordOf(t *testing.T, url string) string {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	if err != nil || cfg.Password == "" {
		t.Fatal(url, err)
	}
	return cfg.Password
}

func hba(t *testing.T, url string) (file string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), "SHOW hba_file").Scan(&file); err != nil {
		t.Fatal(err)
	}
	return file
}

// Rights that a restore may bring back are told when the store is opened, and taken away by who can.
func TestRightsThatAreTooMuchAreTold(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	ctx := t.Context()
	ours := mappedTo("ours", of("name", stores.String))
	ours.Managed = true
	open := func() *Store {
		t.Helper()
		s, err := Open(ctx, db.App, MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	migrate := func() {
		t.Helper()
		if plan, err := open().Migrate(ctx, []*stores.Entity{ours}, true); err != nil || len(plan.Problems) > 0 {
			t.Fatal(plan.Problems, err)
		}
	}
	migrate()
	for sql, want := range map[string]Unlocked{
		"GRANT DELETE ON public.verbatim_leaf TO verbatim_app":        {Why: "role verbatim_app may change what is in table verbatim_leaf, to which rows are only added"},
		"GRANT UPDATE, TRUNCATE ON public.verbatim_journal TO PUBLIC": {Why: "role verbatim_app may change what is in table verbatim_journal, to which rows are only added"},
		"GRANT INSERT ON public.ours TO verbatim_app_queries":         {Why: "role verbatim_app_queries may write to table public.ours, and is for reading"},
		"GRANT EXECUTE ON FUNCTION " + setConfig + " TO PUBLIC":       {Why: "role verbatim_app_queries may call set_config, so that a query of a palette could choose whose rows it sees", BySuperuser: true},
	} {
		if told := open().Unlocked(); len(told) > 0 {
			t.Fatal(told)
		}
		run(t, db.Admin, sql)
		if told := open().Unlocked(); !slices.Contains(told, want) {
			t.Errorf("%s: %v", sql, told)
		}
		if want.BySuperuser {
			if _, err := Roles(ctx, db.Admin, "verbatim", rand.Reader, true); err != nil {
				t.Fatal(err)
			}
		} else {
			migrate()
		}
	}
	if told := open().Unlocked(); len(told) > 0 {
		t.Error(told)
	}
}
