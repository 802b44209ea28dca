package sqlite

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

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
			func(row *sqlite.Stmt) error {
				tables = append(tables, row.ColumnText(0))
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
		if err := c.script(script); err != nil {
			return fmt.Errorf("%w: %w", stores.ErrInvalid, raise(err))
		}
		return nil
	})
}

// script runs statements one after another.
func (c *conn) script(text string) error {
	// The last one is ours, so that no comment comes after it.
	for text += "\n;SELECT 1"; text != ""; {
		st, left, err := c.db.PrepareTransient(text)
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			more, err = st.Step()
		}
		if err = errors.Join(err, st.Finalize()); err != nil {
			return err
		}
		text = text[len(text)-left:]
	}
	return nil
}
