package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"verbatim/stores"
)

// ErrNotEmpty says that a file which should have been fresh holds rows.
var ErrNotEmpty = errors.New("the store holds rows already")

// Load runs an operator's SQL on a fresh file, in one transaction: the tables
// and rows of an example or of a test. It answers ErrNotEmpty when any table
// holds a row, so that it can never touch what somebody relies on. It is no
// part of stores.Store, and nothing of the engine reaches it.
func (s *Store) Load(ctx context.Context, script string) error {
	return s.write(ctx, func(c *conn) error {
		var tables []string
		err := c.query(ctx, `SELECT "name" FROM sqlite_schema WHERE "type" = 'table' AND "name" NOT LIKE 'sqlite\_%' ESCAPE '\' AND "name" <> 'verbatim_schema'`, nil,
			func(row []driver.Value) error {
				tables = append(tables, row[0].(string))
				return nil
			})
		if err != nil {
			return fault("load", err)
		}
		for _, name := range tables {
			held, err := c.exists("SELECT 1 FROM main."+quote(name)+" LIMIT 1", nil)
			if err != nil {
				return fault("load", err)
			}
			if held {
				return fmt.Errorf("%w: table %s", ErrNotEmpty, name)
			}
		}
		run, ok := c.dc.(driver.ExecerContext)
		if !ok {
			return errors.New("sqlite: the driver runs no scripts")
		}
		if _, err := run.ExecContext(ctx, script, nil); err != nil {
			return fmt.Errorf("%w: %s", stores.ErrInvalid, err)
		}
		return nil
	})
}
