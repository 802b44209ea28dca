package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
)

// What a rehearsal says that a step locks is what PostgreSQL locks for it.
func TestStepsLockWhatIsSaid(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, db.Owner)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	exec("CREATE TABLE public.box (id uuid PRIMARY KEY); CREATE TABLE public.item (id uuid, box uuid, name text); CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$; CREATE TRIGGER was BEFORE INSERT ON public.item FOR EACH ROW EXECUTE FUNCTION public.f()")
	for _, step := range []string{
		`UPDATE "public"."item" AS c SET name = ''`,
		`DELETE FROM public.item`,
		`CREATE INDEX "item_name" ON "public"."item" ("name")`,
		`CREATE UNIQUE INDEX "item_name" ON "public"."item" ("name")`,
		`CREATE TRIGGER t BEFORE INSERT ON "public"."item" FOR EACH ROW EXECUTE FUNCTION public.f()`,
		`ALTER TABLE public.item DISABLE TRIGGER was`,
		`ALTER TABLE "public"."item" ADD FOREIGN KEY ("box") REFERENCES "public"."box" ("id")`,
		`ALTER TABLE "public"."item" ADD CONSTRAINT "b" FOREIGN KEY ("box") REFERENCES "public"."box" ("id")`,
		`ALTER TABLE "public"."item" ADD COLUMN "x" text NOT NULL DEFAULT 'kept'`,
		`ALTER TABLE "public"."item" ALTER COLUMN "name" SET NOT NULL`,
		`ALTER TABLE "public"."item" ADD CONSTRAINT c CHECK (name <> '')`,
		`ALTER TABLE "public"."item" RENAME COLUMN name TO title`,
		`ALTER TABLE "public"."item" DROP COLUMN name CASCADE`,
		`ALTER TABLE "public"."item" ENABLE ROW LEVEL SECURITY`,
		`CREATE POLICY p ON "public"."item" USING (true)`,
	} {
		table, want, _ := lockedBy(step)
		if strings.ReplaceAll(table, `"`, "") != "public.item" {
			t.Errorf("%s locks %q", step, table)
		}
		exec("BEGIN")
		exec(step)
		rows, err := conn.Query(ctx, "SELECT mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation = 'public.item'::regclass")
		if err != nil {
			t.Fatal(err)
		}
		modes, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, mode := range modes { // like AccessExclusiveLock
			for i, name := range lockNames {
				if strings.ReplaceAll(strings.ToLower(name), " ", "")+"lock" == strings.ToLower(mode) && i > slices.Index(lockNames, got) {
					got = name
				}
			}
		}
		if got != want {
			t.Errorf("%s takes %q of %q, and %q is said", step, got, modes, want)
		}
		exec("ROLLBACK")
	}
}

// A rehearsal tries steps on some rows of a table, says how long they take for all, and leaves nothing behind.
func TestStepsAreTimedOnSomeRows(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	ctx := t.Context()
	s, err := Open(ctx, db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ours := mappedTo("ours", of("name", stores.String))
	ours.Managed = true
	if plan, err := s.Migrate(ctx, []*stores.Entity{ours}, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	const rows = 3 * sampleRows
	run(t, db.Admin, fmt.Sprintf("INSERT INTO ours (id, name) SELECT n::text, 'some row' FROM generate_series(1, %d) n; ANALYZE ours", rows))
	more := mappedTo("ours", of("name", stores.String), of("state", stores.String))
	more.Managed = true
	more.Found = [][]int{{1}}
	plan, _, err := s.Rehearse(ctx, []*stores.Entity{more}, nil)
	if err != nil || len(plan.Problems) > 0 || len(plan.Costs) != 1 {
		t.Fatal(plan, err)
	}
	c := plan.Costs[0]
	if c.Table != "public.ours" || c.Lock != "ACCESS EXCLUSIVE" || c.Sample != sampleRows || c.Rows != rows || c.Took <= 0 || c.Untimed != 0 {
		t.Errorf("%+v of %q", c, plan.Steps)
	}
	conn, err := pgx.Connect(ctx, db.Owner)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	left := 0
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_class WHERE relname ^@ 'verbatim_sample'").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d tables are left, %v", left, err)
	}
	if again, _, err := s.Rehearse(ctx, []*stores.Entity{ours}, nil); err != nil || len(again.Costs) != 0 {
		t.Errorf("nothing is to be done, and costs %+v, %v", again.Costs, err)
	}
}
