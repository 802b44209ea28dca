package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/storetest"
)

// bank is a store with two roots, of which the caller holds one, and things that
// no palette declares.
func bank(t testing.TB, opts ...Option) (*Store, []*stores.Entity, stores.Scope) {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "bank.db"), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	field := func(name string, kind stores.Kind) stores.Field {
		return stores.Field{Name: name, Column: name, Kind: kind}
	}
	root := &stores.Entity{Name: "cbu", Table: "kyc.cbus", Managed: true, Fields: []stores.Field{field("id", stores.Int), field("name", stores.String)}}
	note := &stores.Entity{Name: "note", Table: "kyc.notes", Managed: true, Fields: []stores.Field{field("id", stores.Int), field("cbu", stores.Int), field("text", stores.String)}}
	note.Fields[1].Ref = root
	note.Scope = []stores.Step{{Field: 1, To: root}}
	reply := &stores.Entity{Name: "reply", Table: "kyc.replies", Managed: true, Fields: []stores.Field{field("id", stores.Int), field("note", stores.Int), field("text", stores.String)}}
	reply.Fields[1].Ref = note
	reply.Scope = append([]stores.Step{{Field: 1, To: note}}, note.Scope...)
	hidden := &stores.Entity{Name: "hidden", Table: "kyc.hidden", Managed: true, Fields: []stores.Field{field("id", stores.Int), field("text", stores.String)}}
	ctx := context.Background()
	plan, err := s.Migrate(ctx, []*stores.Entity{root, note, reply, hidden}, true)
	if err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	change := func(e *stores.Entity, id int64, vals ...stores.Value) stores.Change {
		c := stores.Change{Op: stores.Insert, Entity: e, Key: stores.NewInt(id)}
		for i, v := range vals {
			c.Set = append(c.Set, stores.Assign{Field: i + 1, Value: v})
		}
		return c
	}
	err = s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{
			Changes: []stores.Change{
				change(root, 1, stores.NewString("mine")), change(root, 2, stores.NewString(storetest.Canary)),
				change(note, 1, stores.NewInt(1), stores.NewString("mine")), change(note, 2, stores.NewInt(2), stores.NewString(storetest.Canary)),
				change(note, 3, stores.NewInt(1), stores.NewString("mine too")),
				change(reply, 1, stores.NewInt(1), stores.NewString("mine")), change(reply, 2, stores.NewInt(2), stores.NewString(storetest.Canary)),
				change(hidden, 1, stores.NewString(storetest.Canary)),
			},
			Entries: []stores.Entry{{Verb: storetest.Canary, Call: storetest.Canary}},
			Jobs:    []stores.Job{{ID: "1", Kind: "notice", Principal: storetest.Canary, Payload: `{"text":"` + storetest.Canary + `"}`, At: time.Unix(1, 0)}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.write(ctx, func(c *conn) error {
		for _, text := range []string{
			"CREATE TABLE secrets (id INTEGER PRIMARY KEY, text TEXT)", "INSERT INTO secrets VALUES (1, 'CANARY')",
			"CREATE VIEW peek AS SELECT id, cbu, text FROM kyc_notes",
		} {
			if _, err := c.exec(text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// hidden is a table of the same store that this palette does not name.
	return s, []*stores.Entity{root, note, reply}, stores.Scope{Principal: "p", Holds: map[string][]stores.Value{"cbu": {stores.NewInt(1)}}}
}

// escapes are queries that an author might try. None may be accepted.
var escapes = []string{
	// Other statements, and more than one.
	`ATTACH 'x.db' AS x`, `DETACH main`, `PRAGMA writable_schema=1`, `PRAGMA table_info(secrets)`, `VACUUM INTO 'copy.db'`,
	`CREATE TABLE t (x)`, `CREATE TEMP VIEW v AS SELECT 1`, `REINDEX`, `ANALYZE`,
	`REPLACE INTO kyc.notes VALUES (1, 1, 'x')`,
	`WITH x AS (SELECT 1) DELETE FROM kyc_notes`, `WITH x AS (DELETE FROM kyc_notes RETURNING text) SELECT text FROM x`,
	`WITH x AS (SELECT 1) INSERT INTO kyc_notes SELECT 9, 1, 'x'`,
	// Out of the brackets that the query stands in.
	`SELECT text FROM kyc.notes) UNION ALL SELECT text FROM kyc_notes --`, `SELECT text FROM kyc.notes) LIMIT 9) SELECT * FROM kyc_notes --`,
	`SELECT text FROM kyc.notes ) , (SELECT text FROM secrets`,
	"SELECT text FROM kyc.notes WHERE text = \"x", `SELECT [text FROM kyc.notes`,
	"SELECT text FROM kyc.notes WHERE 1 \x00 OR 1",
	// Tables by their own names.
	`SELECT text FROM "kyc_notes"`, `SELECT text FROM [kyc_notes]`, "SELECT text FROM `kyc_notes`", `SELECT text FROM 'kyc_notes'`,
	`SELECT text FROM main.kyc_notes`, `SELECT text FROM "main"."kyc_notes"`, `SELECT text FROM MAIN . kyc_notes`, `SELECT text FROM main/**/./**/kyc_notes`,
	`SELECT text FROM kyc_hidden`,
	`SELECT text FROM temp.secrets`,
	`SELECT n.text FROM kyc.notes n JOIN secrets s ON 1`,
	`SELECT text FROM kyc.notes window, secrets`,
	`SELECT text FROM kyc.notes WHERE text IN secrets`, `SELECT text FROM kyc.notes WHERE id NOT IN main.secrets`, `SELECT text FROM kyc.notes WHERE text IN "secrets"`,
	`SELECT text FROM kyc.notes GROUP BY text HAVING (SELECT 1 FROM secrets)`, `SELECT CASE WHEN 1 THEN (SELECT text FROM secrets) END AS text`,
	`SELECT count(*) FILTER (WHERE (SELECT 1 FROM secrets)) AS text FROM kyc.notes`, `SELECT text FROM kyc.notes JOIN kyc.cbus USING (id), secrets`,
	`SELECT n.text FROM kyc.notes n JOIN kyc.cbus c ON c.id IS DISTINCT FROM n.id, secrets`, `SELECT n.text FROM kyc.notes n JOIN kyc.cbus c ON c.id IS NOT DISTINCT FROM n.id NATURAL JOIN secrets`,
	`SELECT n.text FROM kyc.notes n JOIN secrets USING (text)`, `SELECT n.text FROM kyc.notes n NATURAL JOIN kyc_notes`, `SELECT n.text FROM kyc.notes n, (kyc.cbus c NATURAL JOIN secrets)`,
	`SELECT count(*) AS text FROM secrets`, `SELECT count(*) AS text FROM peek`, `SELECT count(*) AS text FROM kyc_notes`, `SELECT rowid AS text FROM kyc.notes`, `SELECT oid AS text FROM kyc.cbus`,
	// The catalogue, and ours.
	`SELECT sql AS text FROM sqlite_schema`, `SELECT sql AS text FROM sqlite_master`, `SELECT sql AS text FROM main.sqlite_master`, `SELECT sql AS text FROM "sqlite_temp_schema"`,
	`SELECT name AS text FROM pragma_table_list`, `SELECT name AS text FROM pragma_table_info('secrets')`, `SELECT payload AS text FROM verbatim_job`,
	`SELECT data AS text FROM sqlite_dbpage`, `SELECT name AS text FROM dbstat`, `SELECT sql AS text FROM bytecode('SELECT 1')`, `SELECT nexec AS text FROM sqlite_stmt`,
	// Functions.
	`SELECT load_extension('x.so') AS text`, `SELECT readfile('/etc/passwd') AS text`, `SELECT writefile('x', 'y') AS text`, `SELECT zeroblob(1000000000) AS text`,
	`SELECT randomblob(1000000000) AS text`, `SELECT printf('%1000000000d', 1) AS text`, `SELECT format('%1000000000d', 1) AS text`, `SELECT "load_extension"('x.so') AS text`, `SELECT [zeroblob](9) AS text`,
	`SELECT edit('x') AS text`, `SELECT fts3_tokenizer('x') AS text`, `SELECT sqlite_version() AS text`, `SELECT last_insert_rowid() AS text`, `SELECT changes() AS text`,
	`SELECT verbatim_canonical(4, text, 'x') AS text FROM kyc.notes`, `SELECT text FROM generate_series(1, 1000000000)`, `SELECT value AS text FROM carray(1, 2)`, `SELECT quote(zeroblob(9)) AS text`, `SELECT hex(randomblob(9)) AS text`,
	`SELECT text FROM kyc.notes WHERE text REGEXP '(a+)+$'`, `SELECT text FROM kyc.notes WHERE text MATCH 'x'`, `SELECT raise(ABORT, 'x') AS text`, `SELECT zeroblob/**/(9) AS text`,
	// Common tables: endless ones, and names that are taken or out of reach.
	`WITH c(text) AS (VALUES (1) UNION ALL SELECT text FROM "c") SELECT text FROM c`, `WITH c(text) AS (SELECT 1 UNION ALL SELECT text FROM (SELECT * FROM c)) SELECT text FROM c`,
	`WITH c AS (SELECT * FROM main.secrets) SELECT text FROM c`,
	`WITH kyc_notes AS (SELECT 1 AS text) SELECT text FROM kyc_notes`, `WITH sqlite_schema AS (SELECT 1 AS text) SELECT text FROM sqlite_schema`,
	`SELECT text FROM (WITH secrets AS (SELECT 'x' AS text) SELECT text FROM secrets), secrets`,
	// Columns that nobody declared, and arguments that nobody gave.
	`SELECT main.kyc_notes.text FROM kyc.notes`, `SELECT sqlite_schema.sql AS text FROM kyc.notes`, `SELECT "no column" AS text FROM kyc.notes`,
	`SELECT ?1 AS text`, `SELECT @x AS text`, `SELECT $x AS text`, `SELECT :x::y AS text`,
}

// SAFE-A4, the half of it that is SQLite's.
func TestNoQueryEscapes(t *testing.T) {
	t.Parallel()
	s, entities, scope := bank(t)
	storetest.Guarded{Store: s, Entities: entities, Scope: scope}.NoQueryEscapes(t, escapes)
}

// What is allowed, however it is put, yields no row and no error that tells of
// the other root.
func TestAllowedQueriesStayInScope(t *testing.T) {
	t.Parallel()
	s, entities, scope := bank(t)
	storetest.Guarded{Store: s, Entities: entities, Scope: scope}.QueriesStayInScope(t, []string{
		"SELECT text FROM `kyc`.[notes]", `SELECT text FROM 'kyc'.'notes'`,
		`SELECT text FROM kyc.notes WHERE 1 OR 1=1`,
		`SELECT group_concat(text) AS text FROM kyc.notes`,
		`SELECT value AS text FROM kyc.notes, json_each('["a"]')`, `SELECT json_group_array(text) AS text FROM kyc.notes`,
		// Were the condition computed on a row before it is let through, the
		// error would tell what is in that row.
		`SELECT text FROM kyc.notes WHERE CASE WHEN text LIKE 'CAN%' THEN json_extract('{', '$') ELSE 1 END`,
		`SELECT text FROM kyc.notes WHERE CASE WHEN text LIKE 'CAN%' THEN abs(-9223372036854775807 - 1) ELSE 1 END`,
		`SELECT n.text FROM kyc.notes n JOIN kyc.cbus c ON CASE WHEN c.name = 'CANARY' THEN json_extract('{', '$') ELSE 1 END`,
		`SELECT text FROM kyc.replies WHERE id = 2 AND CASE WHEN text LIKE 'CAN%' THEN json_extract('{', '$') ELSE 1 END`,
		`SELECT text FROM kyc.replies WHERE id > 0 AND json_extract(CASE WHEN text LIKE 'CAN%' THEN '{' ELSE '{}' END, '$') = '{}'`,
		`SELECT r.text FROM kyc.replies r WHERE r.id IN (1, 2, 3) AND CASE WHEN r.text LIKE 'CAN%' THEN abs(-9223372036854775807 - r.id + 1) ELSE 1 END`,
		`SELECT text FROM kyc.notes ORDER BY CASE WHEN text LIKE 'CAN%' THEN json_extract('{', '$') ELSE 1 END`,
	})
}

// Within a scope, the rows are gathered before anything of the author's is
// computed. (SQLite happens to try the scope's condition first in every query
// above; nothing promises that it always will.)
func TestScopeIsABarrier(t *testing.T) {
	t.Parallel()
	s, entities, scope := bank(t)
	ctx := context.Background()
	p, err := parse(entities, stores.SQL{Text: "SELECT text FROM kyc.notes WHERE id = 2"})
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	err = s.read(ctx, func(c *conn) error {
		q, _ := write(p, &view{scope}, 10)
		return c.query(ctx, "EXPLAIN QUERY PLAN "+q.Whole(), q.Args, func(row *sqlite.Stmt) error {
			steps = append(steps, row.ColumnText(3))
			return nil
		})
	})
	if err != nil || !slices.Contains(steps, "MATERIALIZE notes") {
		t.Errorf("%q, %v", steps, err)
	}
}

// What the text looks like is one lock. What SQLite asks of the guard is another,
// and holds alone.
func TestGuardHoldsAlone(t *testing.T) {
	t.Parallel()
	s, entities, _ := bank(t)
	p, err := parse(entities, stores.SQL{Text: "WITH mine AS (SELECT text FROM kyc.notes) SELECT text FROM mine"})
	if err != nil {
		t.Fatal(err)
	}
	// What the author says, below what we say.
	const ours = `WITH notes AS MATERIALIZED (SELECT t.id, t.text FROM main.kyc_notes t WHERE EXISTS (SELECT 1 FROM main.kyc_cbus c WHERE c.id = t.cbu)) `
	err = s.read(context.Background(), func(c *conn) error {
		for text, ok := range map[string]bool{
			ours + `SELECT text FROM notes`:                                                               true,
			ours + `SELECT count(*), max(n.text || upper(m.text)) FROM notes n, notes m`:                  true,
			ours + `SELECT text FROM (WITH mine AS (SELECT * FROM notes) SELECT * FROM mine)`:             true,
			ours + `SELECT value FROM notes, json_each('[1]') WHERE text LIKE 'x' GROUP BY 1`:             true,
			ours + `SELECT rowid FROM notes`:                                                              false,
			ours + `SELECT text FROM main.kyc_notes`:                                                      false,
			ours + `SELECT rowid FROM main.kyc_notes`:                                                     false,
			ours + `SELECT CAST(text AS TEXT) FROM kyc_notes`:                                             false,
			ours + `SELECT * FROM kyc_notes`:                                                              false,
			ours + `SELECT count(*) FROM kyc_notes`:                                                       false,
			ours + `SELECT count(*) FROM peek`:                                                            true, // of which parse alone knows
			ours + `SELECT 1 FROM notes WHERE EXISTS (SELECT 1 FROM kyc_notes)`:                           false,
			ours + `SELECT 1 FROM notes ORDER BY (SELECT text FROM kyc_notes)`:                            false,
			ours + `SELECT 1 FROM notes n JOIN kyc_notes k USING (id)`:                                    false,
			ours + `SELECT 1 FROM notes NATURAL JOIN kyc_notes`:                                           true, // here too
			ours + `SELECT 1 FROM notes WHERE id IN kyc_hidden`:                                           false,
			ours + `SELECT 1 FROM (SELECT 1 FROM secrets)`:                                                false,
			ours + `SELECT * FROM (WITH mine AS (SELECT text FROM main.kyc_notes) SELECT text FROM mine)`: false,
			ours + `SELECT sum(1) OVER (ORDER BY (SELECT 1 FROM secrets)) FROM notes`:                     false,
			ours + `SELECT count(*) FILTER (WHERE (SELECT 1 FROM secrets)) FROM notes`:                    false,
			ours + `SELECT id FROM notes UNION SELECT id FROM secrets`:                                    false,
			ours + `SELECT text FROM peek`:                                                                false,
			ours + `SELECT hex(text) FROM notes`:                                                          false,
			ours + `SELECT text FROM notes WHERE zeroblob(9)`:                                             false,
			ours + `SELECT verbatim_canonical(4, text, 'x') FROM notes`:                                   false,
			ours + `SELECT sqlite_version() FROM notes`:                                                   false,
			`WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c`:             false,
			`SELECT sql FROM sqlite_schema`:                                                               false,
			`SELECT count(*) FROM sqlite_schema`:                                                          false,
			`SELECT call FROM main.verbatim_journal`:                                                      false,
			`SELECT name FROM pragma_table_list`:                                                          false,
			`SELECT data FROM sqlite_dbpage`:                                                              false,
			`UPDATE main.kyc_notes SET text = ''`:                                                         false,
			`DELETE FROM main.kyc_notes`:                                                                  false,
			`INSERT INTO main.kyc_notes (id) VALUES (9)`:                                                  false,
			`PRAGMA user_version=3`:                                                                       false,
			`PRAGMA schema_version`:                                                                       false,
			`CREATE TABLE x (y)`:                                                                          false,
			`CREATE TEMP VIEW x AS SELECT 1`:                                                              false,
			`DROP TABLE secrets`:                                                                          false,
			`BEGIN IMMEDIATE`:                                                                             false,
			`SAVEPOINT x`:                                                                                 false,
			`ATTACH ':memory:' AS x`:                                                                      false,
			`DETACH main`:                                                                                 false,
			`REINDEX`:                                                                                     false,
			`ANALYZE`:                                                                                     false,
		} {
			if _, err := c.guarded(p, text); (err == nil) != ok {
				t.Errorf("%s: %v", text, err)
			}
			if _, err := c.guarded(p, "SELECT * FROM ("+text+")"); !ok && err == nil {
				t.Errorf("in brackets: %s", text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A query has so much time and no more, and the connection is good afterwards.
func TestQueryTime(t *testing.T) {
	t.Parallel()
	s, entities, scope := bank(t, QueryTime(50*time.Millisecond), Readers(1))
	ctx := context.Background()
	many := strings.Repeat(", kyc.notes n%d", 25)
	for i := range 25 {
		many = strings.Replace(many, "%d", fmt.Sprint(i), 1)
	}
	for _, text := range []string{
		"SELECT count(*) AS n FROM kyc.notes" + many, // 2^26 rows at least
		"SELECT 1 AS n FROM kyc.notes" + many + " ORDER BY random_order",
	} {
		text = strings.Replace(text, " ORDER BY random_order", " ORDER BY n0.text, n1.text", 1)
		q := stores.SQL{Text: text, Columns: []stores.Column{{Name: "n", Kind: stores.Int}}}
		err := s.View(ctx, scope, func(r stores.Reader) error {
			_, err := r.SQL(ctx, entities, q)
			if !errors.Is(err, stores.ErrLimit) {
				t.Errorf("%v", err)
			}
			cancelled, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
			defer cancel()
			if _, err := r.SQL(cancelled, entities, q); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("cancelled: %v", err)
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
	}
}

// A query cannot make a value that fills the memory, nor, while it is prepared,
// an expression that does.
func TestQueryValueSize(t *testing.T) {
	t.Parallel()
	s, entities, scope := bank(t)
	ctx := context.Background()
	nested, chained := "SELECT '0123456789' AS text", "WITH c0 AS (SELECT '0123456789' AS text)"
	for i := range 30 {
		nested = "SELECT text || text AS text FROM (" + nested + ")"
		chained += fmt.Sprintf(", c%d AS NOT MATERIALIZED (SELECT text || text AS text FROM c%d)", i+1, i)
	}
	for _, text := range []string{nested, chained + " SELECT text FROM c30"} {
		q := stores.SQL{Text: text, Columns: []stores.Column{{Name: "text", Kind: stores.String}}}
		if err := s.CheckSQL(ctx, entities, q); err != nil {
			t.Error(err)
		}
		err := s.View(ctx, scope, func(r stores.Reader) error {
			_, err := r.SQL(ctx, entities, q)
			return err
		})
		var bad *stores.SQLError
		if !errors.As(err, &bad) || !strings.Contains(bad.Msg, "too big") {
			t.Error(err)
		}
	}
}

// FuzzQuery holds whatever is accepted to what is promised.
func FuzzQuery(f *testing.F) {
	s, entities, scope := bank(f, QueryTime(200*time.Millisecond))
	storetest.Guarded{Store: s, Entities: entities, Scope: scope}.FuzzQuery(f, `SELECT text FROM kyc.notes window, secrets`)
}
