package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"verbatim/stores"
	"verbatim/stores/storetest"
)

// escapes are queries that an author might try. None may be accepted.
var escapes = []string{
	// Other statements, and more than one.
	`TRUNCATE kyc.notes`,
	`MERGE INTO kyc.notes n USING kyc.cbus c ON true WHEN MATCHED THEN DELETE`, `COPY kyc.notes TO PROGRAM 'sh'`, `COPY secrets TO STDOUT`, `DO $$BEGIN END$$`,
	`SET ROLE postgres`, `SET verbatim.scope = '{"all":true}'`, `RESET ROLE`, `LISTEN x`, `NOTIFY x`, `LOCK kyc.notes`,
	`TABLE secrets`, `CALL p()`, `EXECUTE verbatim_query`, `PREPARE q AS SELECT 1`, `DEALLOCATE ALL`, `SHOW config_file`, `DISCARD ALL`,
	`SELECT text INTO stolen FROM kyc.notes`, `SELECT text FROM kyc.notes FOR UPDATE`, `SELECT text FROM kyc.notes FOR SHARE`, `SELECT text FROM kyc.notes FOR NO KEY UPDATE`,
	`WITH x AS (DELETE FROM kyc.notes RETURNING text) SELECT text FROM x`, `WITH x AS (UPDATE kyc.notes SET text = 'x' RETURNING text) SELECT text FROM x`,
	`WITH x AS (INSERT INTO kyc.notes VALUES (9,1,'x') RETURNING text) SELECT text FROM x`, `WITH x AS (SELECT 1) DELETE FROM kyc.notes`, `WITH x AS (TABLE secrets) SELECT text FROM x`,
	// Out of the brackets that the query stands in.
	`SELECT text FROM kyc.notes) x UNION ALL SELECT text FROM kyc.notes --`, `SELECT text FROM kyc.notes) verbatim_result, secrets --`,
	`SELECT text FROM kyc.notes /* /* */`, `SELECT text FROM kyc.notes WHERE text = "x`,
	"SELECT text FROM kyc.notes WHERE true \x00 OR true", "SELECT text FROM kyc.notes WHERE text = '\xff'",
	"SELECT text FROM kyc.notes --\r, secrets",
	`SELECT $$x$$ AS text`, `SELECT $a$x$a$ AS text`, `SELECT E'\' AS text`, `SELECT e'x' AS text`, `SELECT U&'\0061' AS text`, `SELECT U&"text" FROM kyc.notes`, `SELECT B'1' AS text`, `SELECT X'1f' AS text`, `SELECT N'x' AS text`,
	// Tables by other names.
	`SELECT text FROM public.secrets`, `SELECT text FROM "public"."secrets"`, `SELECT text FROM public/**/./**/secrets`,
	`SELECT text FROM public.peek`, `SELECT text FROM "kyc.notes"`, `SELECT text FROM pg_temp.notes`, `SELECT text FROM ONLY public.secrets`,
	`SELECT n.text FROM kyc.notes n JOIN secrets s ON true`, `SELECT n.text FROM kyc.notes n, LATERAL (SELECT 1) x`,
	`SELECT text FROM kyc.notes TABLESAMPLE system (100)`, `SELECT text FROM kyc.notes UNION TABLE secrets`, `SELECT text FROM kyc.notes UNION (TABLE secrets)`,
	`SELECT text FROM kyc.notes WHERE id = ANY (SELECT id FROM secrets)`,
	`SELECT ARRAY(SELECT text FROM secrets) AS text`, `SELECT extract(year FROM (SELECT text FROM secrets)) AS text`,
	`SELECT extract(SELECT text FROM secrets) AS text`, `SELECT substring((SELECT text FROM secrets) FROM 1) AS text`, `SELECT count(*) FILTER (WHERE (SELECT true FROM secrets)) AS text FROM kyc.notes`,
	`SELECT CASE WHEN true THEN (SELECT text FROM secrets) END AS text`, `SELECT text FROM kyc.notes GROUP BY text HAVING (SELECT true FROM secrets)`,
	// The catalogue, and ours.
	`SELECT rolpassword AS text FROM pg_authid`, `SELECT rolname AS text FROM pg_catalog.pg_roles`, `SELECT relname AS text FROM pg_class`, `SELECT table_name AS text FROM information_schema.tables`, `SELECT query AS text FROM pg_stat_activity`, `SELECT setting AS text FROM pg_settings`,
	`SELECT call AS text FROM public.verbatim_journal`, `SELECT args::text AS text FROM river_job`,
	`SELECT 'pg_authid'::regclass AS text`, `SELECT CAST('secrets' AS regclass) AS text`, `SELECT regclass 'secrets' AS text`, `SELECT 'x'::"text" AS text`, `SELECT 'x'::pg_catalog.text AS text`, `SELECT 'now'::xml AS text`, `SELECT CAST(text AS public.x) FROM kyc.notes`, `SELECT 1::oid AS text`,
	// Functions and operators.
	`SELECT set_config('verbatim.scope', '{"all":true}', true) AS text`, `SELECT pg_catalog.set_config('role', 'postgres', true) AS text`, `SELECT "set_config"('a.b', 'c', true) AS text`, `SELECT "pg_catalog"."set_config"('a.b', 'c', true) AS text`, `SELECT current_setting('verbatim.scope') AS text`,
	`SELECT pg_sleep(10) AS text`, `SELECT pg_read_file('/etc/passwd') AS text`, `SELECT pg_ls_dir('.') AS text`, `SELECT lo_import('/etc/passwd') AS text`, `SELECT lo_get(1) AS text`, `SELECT dblink('', 'SELECT 1') AS text`, `SELECT pg_advisory_lock(1) AS text`, `SELECT pg_try_advisory_xact_lock(1) AS text`,
	`SELECT pg_terminate_backend(1) AS text`, `SELECT pg_cancel_backend(1) AS text`, `SELECT pg_notify('a', 'b') AS text`, `SELECT nextval('s') AS text`, `SELECT txid_current() AS text`, `SELECT query_to_xml('SELECT * FROM secrets', true, true, '') AS text`, `SELECT table_to_xml('secrets', true, true, '') AS text`, `SELECT database_to_xml(true, true, '') AS text`,
	`SELECT ts_stat('SELECT text FROM secrets') AS text`, `SELECT cursor_to_xml('c', 1, true, true, '') AS text`, `SELECT has_table_privilege('secrets', 'SELECT') AS text`, `SELECT version() AS text`, `SELECT inet_server_addr() AS text`, `SELECT repeat('x', 1000000000) AS text`, `SELECT lpad('x', 1000000000) AS text`,
	`SELECT format('%1000000000s', 'x') AS text`, `SELECT generate_series(1, 1000000000) AS text`, `SELECT text FROM generate_series(1, 1000000000) text`, `SELECT leak('x') AS text`, `SELECT public.leak('x') AS text`, `SELECT current_user AS text`, `SELECT session_user AS text`, `SELECT user AS text`,
	`SELECT regexp_replace(text, '(a+)+$', '') AS text FROM kyc.notes`, `SELECT text FROM kyc.notes WHERE text ~ '(a+)+$'`, `SELECT text FROM kyc.notes WHERE text SIMILAR TO '(a+)+'`, `SELECT text FROM kyc.notes WHERE id OPERATOR(public.=) 1`, `SELECT 1 ^ 2 AS text`, `SELECT @ -1 AS text`, `SELECT has_table_privilege/**/('secrets', 'SELECT') AS text`,
	`SELECT xmlparse(document '<x/>') AS text`, `SELECT * FROM json_to_recordset('[]') AS x(text text)`, `SELECT * FROM ROWS FROM (leak('x')) AS x(text)`, `SELECT text FROM XMLTABLE('/x' PASSING '<x/>' COLUMNS text text)`,
	// Common tables: endless ones, and names that are taken or out of reach.
	`WITH c AS (SELECT * FROM public.secrets) SELECT text FROM c`, `WITH pg_class AS (SELECT 1 AS text) SELECT text FROM pg_class`,
	`SELECT text FROM (WITH secrets AS (SELECT 'x' AS text) SELECT text FROM secrets) x, secrets`,
	// Columns that nobody declared, and arguments that nobody gave.
	`SELECT ctid AS text FROM kyc.notes`, `SELECT tableoid AS text FROM kyc.notes`, `SELECT xmin AS text FROM kyc.notes`, `SELECT n.secret AS text FROM kyc.notes n`,
	`SELECT $1 AS text`, `SELECT :x::text AS text`, `SELECT (kyc.notes).tableoid AS text FROM kyc.notes`, `SELECT "` + strings.Repeat("n", 70) + `" AS text FROM kyc.notes`,
}

// SAFE-A4, the half of it that is PostgreSQL's.
func TestNoQueryEscapes(t *testing.T) {
	t.Parallel()
	s, entities, scope, _ := bank(t)
	storetest.Guarded{Store: s, Entities: entities, Scope: scope}.NoQueryEscapes(t, escapes)
}

// What is allowed, however it is put, yields no row and no error that tells of
// the other root. replies is a table that no policy of ours protects.
func TestAllowedQueriesStayInScope(t *testing.T) {
	t.Parallel()
	s, entities, scope, _ := bank(t)
	storetest.Guarded{Store: s, Entities: entities, Scope: scope}.QueriesStayInScope(t, []string{
		`SELECT text FROM kyc.replies`, `SELECT text FROM kyc.marks`, `SELECT text FROM own.pages`, `SELECT name AS text FROM ref.lands`,
		`SELECT text FROM kyc.notes WHERE true OR 1=1`,
		`SELECT string_agg(text, ',') AS text FROM kyc.replies`,
		`SELECT n::text AS text FROM kyc.replies n`, `SELECT n.text FROM kyc.replies AS n`,
		`SELECT value AS text FROM kyc.notes, jsonb_array_elements_text('["a"]')`, `SELECT CAST(json_agg(text) AS text) AS text FROM kyc.notes`, `SELECT extract(year FROM date '2025-01-03')::text AS text`,
		`SELECT substring(text FROM 1 FOR 2) AS text FROM kyc.notes`, `SELECT trim(both 'x' from text) AS text FROM kyc.replies`, `SELECT 'a\' AS text`, `SELECT 'it''s' || E AS text FROM (SELECT 'x' AS e) y`,
		"SELECT text FROM kyc.notes -- a comment\r WHERE id > 0", `SELECT text FROM kyc.notes /* a /* nested */ one */`, `SELECT text FROM kyc.notes FETCH FIRST 1 ROW ONLY`,
		`SELECT text FROM kyc.notes WHERE text = 'a\' OR text <> ' OR true --'`, // a backslash is a backslash
		// Were the condition computed on a row before it is let through, the
		// error would tell what is in that row.
		`SELECT text FROM kyc.notes WHERE CASE WHEN text LIKE 'CAN%' THEN 1/(id-id) ELSE 1 END = 1`,
		`SELECT text FROM kyc.replies WHERE CASE WHEN text LIKE 'CAN%' THEN 1/(id-id) ELSE 1 END = 1`,
		`SELECT text FROM kyc.replies WHERE id = 2 AND CAST(text AS int) = 1`,
		`SELECT r.text FROM kyc.replies r JOIN kyc.notes n ON n.id = r.note AND CASE WHEN r.text = 'CANARY' THEN CAST(r.text AS int) ELSE 1 END = 1`,
		`SELECT text FROM kyc.replies ORDER BY CASE WHEN text LIKE 'CAN%' THEN CAST(text AS int) ELSE 1 END`,
		`SELECT text FROM kyc.marks WHERE id IN (1, 2, 3) AND CASE WHEN text LIKE 'CAN%' THEN CAST(text AS int) ELSE 1 END = 1`,
	})
}

// The walk over the text is one lock. EXPLAIN is another, and holds alone.
func TestExplainHoldsAlone(t *testing.T) {
	t.Parallel()
	s, entities, scope, _ := bank(t)
	ctx := context.Background()
	err := s.read(ctx, s.pool, scope, func(c *conn) error {
		for text, ok := range map[string]bool{
			`SELECT text FROM kyc.notes`:                                          true, // what the query may read
			`SELECT name FROM kyc.cbus`:                                           true,
			`SELECT text FROM kyc.notes WHERE id = $1`:                            true,
			`SELECT text FROM kyc.notes WHERE NULL`:                               true,
			`SELECT text FROM public.secrets`:                                     false,
			`SELECT text FROM public.secrets WHERE id = $1`:                       false,
			`SELECT n.text FROM kyc.notes n JOIN public.secrets s ON s.id = n.id`: false,
			`SELECT text FROM kyc.notes WHERE id IN (SELECT id FROM secrets)`:     false,
			`SELECT relname FROM pg_catalog.pg_class`:                             false,
			`SELECT call FROM public.verbatim_journal`:                            false,
			`SELECT text FROM kyc.hidden`:                                         false,
			`SELECT * FROM pg_catalog.pg_ls_dir('.')`:                             false,
			`SELECT g FROM pg_catalog.generate_series(1, 9) g`:                    false,
			`UPDATE kyc.notes SET text = ''`:                                      false,
			`WITH x AS (DELETE FROM kyc.notes RETURNING text) SELECT text FROM x`: false,
			`SELECT text FROM kyc.notes FOR UPDATE`:                               false,
		} {
			p, err := parse(entities, stores.SQL{Text: "SELECT text FROM kyc.notes", Columns: []stores.Column{{Name: "text"}}})
			if err != nil {
				return err
			}
			var judged error
			err = c.aside(ctx, c.asker, func() error {
				if _, err := c.pc.Exec(ctx, "SET LOCAL search_path = public"); err != nil {
					return err
				}
				desc, err := c.pc.Conn().PgConn().Prepare(ctx, "lone", text, nil)
				if err != nil {
					return err
				}
				judged = c.explain(ctx, p, "lone", len(desc.ParamOIDs))
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			if err := c.pc.Conn().PgConn().Deallocate(ctx, "lone"); err != nil {
				t.Error(err)
			}
			if (judged == nil) != ok {
				t.Errorf("%s: %v", text, judged)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A query cannot write even where neither the walk nor EXPLAIN looks.
func TestAsideWritesNothing(t *testing.T) {
	t.Parallel()
	s, _, scope, _ := bank(t)
	ctx := context.Background()
	err := s.write(ctx, s.pool, scope, func(c *conn) error {
		err := c.aside(ctx, c.asker, func() error {
			_, err := c.send(ctx, []op{{doing: "test", sql: "UPDATE kyc.notes SET text = 'x'"}})
			return err
		})
		var f *failure
		if !errors.As(err, &f) || f.code != "25006" {
			t.Errorf("%v", err)
		}
		// And the transaction can write again.
		return c.do(ctx, op{doing: "test", sql: "UPDATE kyc.notes SET text = 'y' WHERE id = 1"})
	})
	if err != nil {
		t.Error(err)
	}
}

// A query has so much time and no more, and the transaction is good afterwards.
func TestQueryTime(t *testing.T) {
	t.Parallel()
	s, entities, scope, _ := bank(t, QueryTime(time.Second)) // what follows is quick, also on a machine that others use
	ctx := context.Background()
	many := ""
	for i := range 25 {
		many += fmt.Sprintf(", kyc.notes n%d", i)
	}
	q := stores.SQL{Text: "SELECT count(*) AS n FROM kyc.notes" + many, Columns: []stores.Column{{Name: "n", Kind: stores.Int}}}
	err := s.View(ctx, scope, func(r stores.Reader) error {
		if _, err := r.SQL(ctx, entities, q); !errors.Is(err, stores.ErrLimit) {
			t.Errorf("%v", err)
		}
		rows, err := r.Find(ctx, stores.Find{Entity: entities[1]})
		if len(rows) != 2 {
			t.Errorf("afterwards: %v", rows)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	err = s.View(ctx, scope, func(r stores.Reader) error {
		cancelled, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		_, err := r.SQL(cancelled, entities, q)
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
}

// Subqueries that double their text are not unfolded into one expression: it
// would grow as 2 to their number while the query is planned.
func TestNestedQueriesAreNotUnfolded(t *testing.T) {
	t.Parallel()
	s, entities, scope, _ := bank(t)
	ctx := context.Background()
	nested, chained := "SELECT 'x' AS text", "WITH c0 AS (SELECT 'x' AS text)"
	for i := range 16 {
		nested = fmt.Sprintf("SELECT text || text AS text FROM (%s) x", nested)
		chained += fmt.Sprintf(", c%d AS NOT MATERIALIZED (SELECT text || text AS text FROM c%d)", i+1, i)
	}
	for _, text := range []string{nested, chained + " SELECT text FROM c16"} {
		q := stores.SQL{Text: text, Columns: []stores.Column{{Name: "text", Kind: stores.String}}}
		err := s.View(ctx, scope, func(r stores.Reader) error {
			rows, err := r.SQL(ctx, entities, q)
			if err == nil && len(rows[0][0].Text()) != 1<<16 {
				t.Error(len(rows[0][0].Text()))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		p, err := parse(entities, q)
		if err != nil {
			t.Fatal(err)
		}
		err = s.read(ctx, s.pool, scope, func(c *conn) error {
			res, err := c.pc.Conn().PgConn().Exec(ctx, "EXPLAIN VERBOSE "+write(p, &view{scoped: newScoped(scope)}, 9).sql).ReadAll()
			if err != nil {
				return err
			}
			size := 0
			for _, row := range res[0].Rows {
				size += len(row[0])
			}
			if size > 10_000 {
				t.Errorf("a plan of %d bytes", size)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// FuzzQuery holds whatever is accepted to what is promised.
func FuzzQuery(f *testing.F) {
	s, entities, scope, _ := bank(f, QueryTime(200*time.Millisecond))
	storetest.Guarded{Store: s, Entities: entities, Scope: scope}.FuzzQuery(f, `SELECT text FROM kyc.replies r WHERE EXISTS (SELECT 1 FROM (kyc.notes) n WHERE n.id = r.note AND n.text::text <> 'x')`)
}
