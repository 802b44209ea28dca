package postgres

import (
	"context"
	"errors"
	"fmt"

	"verbatim/stores"
)

// ErrNotEmpty says that a database which should have been fresh holds rows.
var ErrNotEmpty = errors.New("the store holds rows already")

// Load runs an operator's SQL on a fresh database, in one transaction, as the
// role that migrates: the tables and rows of an example or of a test. It answers
// ErrNotEmpty when any table holds a row, so that it can never touch what
// somebody relies on. It is no part of stores.Store, and nothing of the engine
// reaches it.
func (s *Store) Load(ctx context.Context, script string) error {
	return s.write(ctx, s.migrator(), stores.Scope{All: true}, func(c *conn) error {
		var tables []string
		err := c.do(ctx, op{doing: "load", sql: `SELECT pg_catalog.format('%I.%I', n.nspname, c.relname)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND NOT n.nspname ^@ 'pg_' AND c.relname <> 'verbatim_schema'
	AND NOT (n.nspname = '` + riverSchema + `' AND c.relname = 'river_migration') ORDER BY 1`,
			read: func(r row) error {
				tables = append(tables, r.str(0))
				return nil
			}})
		if err != nil {
			return err
		}
		for _, name := range tables {
			held := false
			err := c.do(ctx, op{doing: "load", sql: "SELECT 1 FROM " + name + " LIMIT 1", read: func(row) error {
				held = true
				return nil
			}})
			if err != nil {
				return err
			}
			if held {
				return fmt.Errorf("%w: table %s", ErrNotEmpty, name)
			}
		}
		if err := c.plain(ctx, "load", "SET LOCAL search_path = public"); err != nil {
			return err
		}
		// The script is the operator's own, and so is what PostgreSQL says of it.
		if _, err := c.pc.Conn().PgConn().Exec(ctx, script).ReadAll(); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%w: %s", stores.ErrInvalid, plainCause(err))
		}
		return nil
	})
}
