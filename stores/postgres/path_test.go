package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
)

// G25: triggers find what the database's search_path names, also through a pooler of transactions,
// and our own statements mean PostgreSQL's operators and functions whatever that path holds.
func TestTriggersHaveTheSearchPathOfTheDatabase(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"prepared": "", "through a pooler": "&default_query_exec_mode=exec"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, all := context.Background(), stores.Scope{All: true}
			s := legacyBy(t, more, `CREATE SCHEMA app; CREATE TABLE app.audit (note text); GRANT USAGE ON SCHEMA app TO PUBLIC; GRANT ALL ON app.audit TO PUBLIC;
				CREATE TABLE things (id varchar(10) PRIMARY KEY, v text, n bigint DEFAULT 7); INSERT INTO things VALUES ('a', 'one'), ('b', 'two');
				CREATE TABLE broken (id varchar(10) PRIMARY KEY, v text); INSERT INTO broken VALUES ('a', 'one');
				CREATE FUNCTION app.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit VALUES (TG_OP || ' ' || NEW.v); RETURN NEW; END $$;
				CREATE FUNCTION app.lacks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO nowhere VALUES (1); RETURN NEW; END $$;
				CREATE TRIGGER note BEFORE INSERT OR UPDATE ON things FOR EACH ROW EXECUTE FUNCTION app.note();
				CREATE TRIGGER lacks BEFORE UPDATE ON broken FOR EACH ROW EXECUTE FUNCTION app.lacks();
				CREATE FUNCTION app.never(text, text) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT false';
				CREATE OPERATOR app.= (LEFTARG = text, RIGHTARG = text, FUNCTION = app.never);
				CREATE FUNCTION app.never(bigint, bigint) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT false';
				CREATE OPERATOR app.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = app.never);
				CREATE FUNCTION app.sha256(bytea) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$ SELECT 'x'::bytea $$;
				DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = app, pg_temp, public', current_database()); END $$`)
			e := mappedTo("things", of("v", stores.String), of("n", stores.Int))
			broken := mappedTo("broken", of("v", stores.String))
			broken.Name = "broken"
			if plan, err := s.Migrate(ctx, []*stores.Entity{e, broken}, true); err != nil || len(plan.Problems) > 0 {
				t.Fatal(plan.Problems, err)
			}
			write := func(e *stores.Entity, value string) error {
				return s.Update(ctx, all, func(tx stores.Tx) error {
					row, err := tx.Get(ctx, e, stores.NewString("a"))
					if err != nil {
						return err
					}
					return tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{{Verb: "x", Roles: []string{"a"}}}, Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: row.Key(), Before: row.Values, Guard: []int{1},
						Set: []stores.Assign{{Field: 1, Value: stores.NewString(value)}}}}})
				})
			}
			for _, value := range []string{"three", "four", "five"} { // the first begins without the path
				if err := write(e, value); err != nil {
					t.Fatal(value, err)
				}
			}
			var path string
			if err := s.write(ctx, s.pool, all, func(c *conn) error {
				return c.do(ctx, op{doing: "look", sql: "SELECT pg_catalog.current_setting('search_path')", read: func(r row) error {
					path = r.str(0)
					return nil
				}})
			}); err != nil || path != "pg_catalog, app, public, pg_temp" {
				t.Errorf("the path is %q, %v", path, err)
			}
			audited := 0
			if err := s.read(ctx, s.pool, all, func(c *conn) error {
				return c.do(ctx, op{doing: "look", sql: "SELECT note FROM app.audit", read: func(r row) error {
					audited++
					return nil
				}})
			}); err != nil || audited != 3 {
				t.Errorf("%d notes, %v", audited, err)
			}
			storetest.Whole(t, s, 3)
			var why *stores.Refused
			if err := write(broken, "two"); !errors.As(err, &why) || why.Why != stores.Failed || !strings.Contains(why.Error(), "nowhere") || errors.Is(err, stores.ErrSchema) {
				t.Errorf("a trigger that lacks a table: %v", err)
			}
		})
	}
}

func TestSearchPath(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		`"$user", public`: `pg_catalog, "$user", public, pg_temp`, "": "pg_catalog, pg_temp", `pg_temp,pg_catalog , "a,b"`: `pg_catalog, "a,b", pg_temp`,
	} {
		if got := searchPath(set); got != want {
			t.Errorf("%s becomes %s, want %s", set, got, want)
		}
	}
}

// G31: what becomes of a table while the store is open is seen by the next call, which works or says
// what is missing.
func TestATableThatChangesWhileItIsServed(t *testing.T) {
	t.Parallel()
	ctx, all := context.Background(), stores.Scope{All: true}
	db := pgtest.Database(t)
	run(t, db.Admin, `CREATE TABLE things (id varchar(10) PRIMARY KEY, v varchar(10), n integer); INSERT INTO things VALUES ('a', 'one', 1);
		GRANT SELECT, INSERT, UPDATE, DELETE ON things TO verbatim_app`)
	s, err := Open(ctx, db.App, MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if plan, err := s.Migrate(ctx, nil, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	e := mappedTo("things", of("v", stores.String), of("n", stores.Int))
	again := func(try func() error) (err error) { // as the engine tries again after a conflict
		for range 3 {
			if err = try(); !errors.Is(err, stores.ErrConflict) {
				break
			}
		}
		return err
	}
	use := func(n int64) (row []stores.Value, err error) {
		if err := again(func() error {
			return s.Update(ctx, all, func(tx stores.Tx) error {
				row, err := tx.Get(ctx, e, stores.NewString("a"))
				if err != nil {
					return err
				}
				return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: row.Key(), Before: row.Values, Guard: []int{1, 2}, Set: []stores.Assign{{Field: 2, Value: stores.NewInt(n)}}}}})
			})
		}); err != nil {
			return nil, err
		}
		err = again(func() error {
			rows, err := find(s, stores.Find{Entity: e, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: 2}, Value: stores.NewInt(n)}})
			if err == nil && len(rows) == 1 {
				row = rows[0]
			}
			return err
		})
		return row, err
	}
	for i, change := range []string{"", "ALTER TABLE things ALTER v TYPE text, ALTER n TYPE bigint", "ALTER TABLE things ADD COLUMN more text NOT NULL DEFAULT 'x'", "ALTER TABLE things DROP COLUMN more",
		"ALTER TABLE things ALTER n TYPE numeric", "ALTER TABLE things ALTER n TYPE smallint USING n::smallint"} {
		if change != "" {
			run(t, db.Admin, change)
		}
		row, err := use(int64(i + 2))
		if errors.Is(err, stores.ErrSchema) && strings.Contains(change, "numeric") {
			continue // a whole number is not declared so: migrate says it
		}
		if err != nil || row == nil || row[2] != stores.NewInt(int64(i+2)) {
			t.Errorf("after %q: %v, %v", change, row, err)
		}
	}
	run(t, db.Admin, "CREATE TYPE mood AS ENUM ('sad', 'one'); ALTER TABLE things ALTER v TYPE mood USING 'one'::mood")
	for try := range 2 {
		err := s.Update(ctx, all, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: stores.NewString("a"), Set: []stores.Assign{{Field: 1, Value: stores.NewString("sad")}}}}})
		})
		if err != nil && (try > 0 || !errors.Is(err, stores.ErrSchema)) {
			t.Errorf("a text that is an enumeration now: %v", err)
		}
	}
	run(t, db.Admin, "ALTER TABLE things ALTER n TYPE text")
	for range 2 {
		if _, err := use(9); !errors.Is(err, stores.ErrSchema) && !errors.Is(err, stores.ErrInvalid) {
			t.Errorf("a column of another type: %v", err)
		}
	}
	run(t, db.Admin, "ALTER TABLE things ALTER n TYPE integer USING 0")
	if _, err := use(10); errors.Is(err, stores.ErrSchema) {
		if _, err = use(10); err != nil {
			t.Errorf("after it was mended: %v", err)
		}
	}
}
