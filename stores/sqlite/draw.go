package sqlite

import (
	"context"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// Draw implements stores.Tx. An INTEGER PRIMARY KEY gets the number that SQLite itself would
// give: one more than the greatest that exists or, with AUTOINCREMENT, ever existed. The write
// lock keeps others from taking it.
func (t *tx) Draw(ctx context.Context, e *stores.Entity, field int) (stores.Value, error) {
	f := &e.Fields[field]
	if err := ctx.Err(); err != nil {
		return stores.Value{}, err
	}
	table, column := []stores.Value{str(tableName(e))}, f.Column
	gives, sequence := "", false
	err := t.c.query(context.Background(), "SELECT coalesce(dflt_value, ''), (SELECT sql LIKE '%autoincrement%' FROM main.sqlite_schema WHERE lower(name) = lower(?1) AND type = 'table') FROM pragma_table_xinfo(?1) WHERE lower(name) = ?2",
		append(table, str(fold(column))), func(row *sqlite.Stmt) error {
			gives, sequence = row.ColumnText(0), row.ColumnBool(1)
			return nil
		})
	if err != nil {
		return stores.Value{}, fault("draw", err)
	}
	q := "SELECT (" + gives + ")"
	if gives == "" {
		q = "SELECT max(coalesce((SELECT max(" + quote(column) + ") FROM main." + quote(tableName(e)) + "), 0)"
		if sequence {
			q += ", coalesce((SELECT seq FROM main.sqlite_sequence WHERE lower(name) = lower('" + strings.ReplaceAll(tableName(e), "'", "''") + "')), 0)"
		}
		q += ", 0) + 1"
	}
	var v stores.Value
	err = t.c.query(context.Background(), q, nil, func(row *sqlite.Stmt) (err error) {
		if v, err = decode(f.Keeps(), cellOf{row, 0}); err == nil {
			v, err = f.Spelling.Loaded(v)
		}
		return err
	})
	if err != nil {
		return stores.Value{}, fmt.Errorf("the default of %s.%s is %w", e.Name, f.Name, fault("draw", err))
	}
	if gives == "" {
		// Rows with numbers drawn before may not be inserted yet.
		if last, ok := t.drawn[e]; ok && v.Int() <= last {
			v = stores.NewInt(last + 1)
		}
		if t.drawn == nil {
			t.drawn = map[*stores.Entity]int64{}
		}
		t.drawn[e] = v.Int()
	}
	return v, nil
}

// Rewrites implements stores.Tx.
func (t *tx) Rewrites(ctx context.Context, e *stores.Entity) (bool, error) {
	if e.Managed {
		return false, nil
	}
	name := []stores.Value{str(tableName(e))}
	found, err := t.c.exists("SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger' AND lower(tbl_name) = lower(?1)", name)
	if err != nil {
		return false, fault("draw", err)
	}
	return found, ctx.Err()
}
