package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"verbatim/stores"
)

// Canary is in every row that the caller of a Guarded must not see.
const Canary = "CANARY"

// Guarded is a store with two cbus, of which Scope holds the first, with their notes, and with
// tables that no palette declares: secrets, a view peek of the notes, and kyc.hidden. Every row
// that is not the caller's contains the canary.
type Guarded struct {
	stores.Store
	Entities []*stores.Entity // the second is the notes: two of the caller's, one of another's
	Scope    stores.Scope
}

func text(sql string) stores.SQL {
	return stores.SQL{Text: sql, Columns: columns("text", stores.String)}
}

// Escapes are queries that an author might try, in any dialect.
var Escapes = []string{
	// Other statements, and more than one.
	`INSERT INTO kyc.notes VALUES (9, 1, 'x')`, `UPDATE kyc.notes SET text = 'x'`, `DELETE FROM kyc.notes`, `DROP TABLE kyc.notes`,
	`BEGIN`, `COMMIT`, `ROLLBACK`, `SAVEPOINT s`,
	`EXPLAIN SELECT text FROM kyc.notes`, `VALUES ('x')`,
	`SELECT text FROM kyc.notes; DELETE FROM kyc.notes`, `SELECT text FROM kyc.notes;`, `SELECT 1 AS text; COMMIT; SELECT 1 AS text`,
	// Escapes from the parentheses around the query.
	`SELECT (1)) AS text FROM (kyc.notes`,
	`SELECT text FROM kyc.notes /*`, `SELECT text FROM kyc.notes WHERE text = '`,
	"SELECT text FROM\u00a0kyc.notes",
	// Tables by their own names.
	`SELECT text FROM kyc_notes`,
	`SELECT text FROM notes`, `SELECT text FROM secrets`, `SELECT text FROM SECRETS`, `SELECT text FROM peek`, `SELECT text FROM kyc.hidden`,
	`SELECT text FROM (secrets)`, `SELECT text FROM ((secrets))`, `SELECT n.text FROM kyc.notes n, secrets`,
	`SELECT n.text FROM kyc.notes n CROSS JOIN (secrets)`, `SELECT n.text FROM kyc.notes n NATURAL JOIN secrets`,
	`SELECT n.text FROM kyc.notes n LEFT JOIN kyc.cbus c ON c.id = n.cbu, secrets`,
	`SELECT text FROM kyc.notes UNION SELECT text FROM secrets`, `SELECT (SELECT text FROM secrets) AS text`, `SELECT text FROM kyc.notes WHERE EXISTS (SELECT 1 FROM secrets)`,
	`SELECT text FROM kyc.notes ORDER BY (SELECT text FROM secrets)`, `SELECT text FROM kyc.notes LIMIT (SELECT count(*) FROM secrets)`,
	`SELECT sum(1) OVER (ORDER BY (SELECT text FROM secrets)) AS text`, `SELECT text FROM kyc.notes WHERE id IS NOT DISTINCT FROM (SELECT id FROM secrets)`,
	// The catalogue, and our own tables.
	`SELECT call AS text FROM verbatim_journal`,
	`SELECT name AS text FROM verbatim_principal`, `SELECT text FROM verbatim_result`,
	// Functions.
	`SELECT random() AS text`,
	// Common tables: endless ones, and names that are taken or out of scope.
	`WITH RECURSIVE c(text) AS (SELECT 1 UNION ALL SELECT text + 1 FROM c) SELECT text FROM c`, `WITH c(text) AS (SELECT 1 UNION ALL SELECT text + 1 FROM c) SELECT text FROM c`,
	`WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT text FROM a`, `WITH secrets AS (SELECT * FROM secrets) SELECT text FROM secrets`,
	`WITH notes AS (SELECT 1 AS text) SELECT text FROM notes`,
	`WITH "verbatim_result" AS (SELECT 1 AS text) SELECT text FROM "verbatim_result"`, `WITH c AS (SELECT 1), c AS (SELECT 2) SELECT 1 AS text`,
	// Undeclared columns, and arguments that are not given.
	`SELECT secrets.text FROM kyc.notes`, `SELECT kyc.hidden.text FROM kyc.notes`,
	`SELECT ? AS text`, `SELECT :x AS text`,
}

// NoQueryEscapes checks that a store accepts none of Escapes and of more, which are in its
// dialect, runs none of them, and is unchanged afterwards.
func (g Guarded) NoQueryEscapes(t *testing.T, more []string) {
	ctx := context.Background()
	all := slices.Concat(Escapes, more)
	t.Logf("%d queries", len(all))
	for _, sql := range all {
		var bad *stores.SQLError
		if err := g.CheckSQL(ctx, g.Entities, text(sql)); !errors.As(err, &bad) {
			t.Errorf("%s: accepted by CheckSQL: %v", sql, err)
		} else if strings.Contains(bad.Msg, Canary) {
			t.Errorf("%s: %v", sql, bad)
		}
		err := g.View(ctx, g.Scope, func(r stores.Reader) error {
			if rows, err := r.SQL(ctx, g.Entities, text(sql)); err == nil {
				t.Errorf("%s: ran and returned %v", sql, rows)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	err := g.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: g.Entities[1]})
		if len(rows) != 3 {
			t.Errorf("%d notes", len(rows))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// allowed are queries that stay within the scope, in various spellings.
var allowed = []string{
	`SELECT text FROM kyc.notes`, `SELECT text FROM KYC . "notes"`, `SELECT name AS text FROM kyc.cbus`,
	`SELECT text FROM kyc.notes WHERE cbu = 2`, `SELECT a.text FROM kyc.notes a, kyc.notes b`,
	`SELECT max(text) AS text FROM kyc.notes`, `SELECT (SELECT text FROM kyc.notes WHERE id = 2) AS text`,
	`SELECT c.name AS text FROM kyc.notes n LEFT JOIN kyc.cbus c ON c.id = 2`, `SELECT name AS text FROM kyc.cbus WHERE id IN (SELECT id FROM kyc.notes)`,
	`SELECT text FROM kyc.notes UNION ALL SELECT name FROM kyc.cbus`, `WITH main AS (SELECT text FROM kyc.notes) SELECT text FROM main`,
	`SELECT text FROM kyc.notes EXCEPT SELECT 'mine'`, `SELECT n.text FROM kyc.notes n FULL JOIN kyc.cbus c ON c.id = n.cbu`,
}

// QueriesStayInScope checks that allowed queries, and more in the store's dialect, return no row
// and no error that reveals the other cbu.
func (g Guarded) QueriesStayInScope(t *testing.T, more []string) {
	ctx := context.Background()
	for _, sql := range slices.Concat(allowed, more) {
		if err := g.CheckSQL(ctx, g.Entities, text(sql)); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		err := g.View(ctx, g.Scope, func(r stores.Reader) error {
			rows, err := r.SQL(ctx, g.Entities, text(sql))
			for _, row := range rows {
				if strings.Contains(row[0].Text(), Canary) {
					t.Errorf("%s: %v", sql, row)
				}
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// FuzzQuery checks that every accepted query keeps the promises: it returns no row of the other
// cbu, and writes nothing.
func (g Guarded) FuzzQuery(f *testing.F, seeds ...string) {
	for _, s := range slices.Concat(Escapes[:5], seeds, []string{
		`SELECT text FROM kyc.notes WHERE id IN (1, :n) ORDER BY text`,
		`WITH a AS (SELECT * FROM kyc.notes) SELECT text FROM a JOIN kyc.cbus c USING (id)`,
	}) {
		f.Add(s)
	}
	ctx := context.Background()
	f.Fuzz(func(t *testing.T, sql string) {
		q := text(sql)
		q.Params, q.Args = []string{"n"}, []stores.Value{stores.NewInt(1)}
		err := g.View(ctx, g.Scope, func(r stores.Reader) error {
			rows, _ := r.SQL(ctx, g.Entities, q)
			for _, row := range rows {
				if strings.Contains(row[0].Text(), Canary) && !strings.Contains(strings.ToUpper(sql), Canary) {
					t.Errorf("%q returned %v", sql, row)
				}
			}
			found, err := r.Find(ctx, stores.Find{Entity: g.Entities[1]})
			if len(found) != 2 {
				t.Errorf("%q: afterwards %v", sql, found)
			}
			return err
		})
		if err != nil {
			t.Errorf("%q: %v", sql, err)
		}
	})
}
