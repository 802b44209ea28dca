package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// Load runs an operator's SQL, in one transaction: the tables and rows of an example or
// of a test, beside what is there. It answers ErrDuplicate where they cannot stand
// beside it, and nothing was done then. It is no part of stores.Store, and nothing of
// the engine reaches it.
func (s *Store) Load(ctx context.Context, script string) error {
	return s.write(ctx, func(c *conn) error {
		err := raise(c.script(script))
		switch resultCode(err) {
		case sqlite.ResultOK:
			return err
		case sqlite.ResultConstraintUnique, sqlite.ResultConstraintPrimaryKey, sqlite.ResultConstraintRowID:
			return fmt.Errorf("%w: %w", stores.ErrDuplicate, err)
		}
		if strings.HasSuffix(err.Error(), " already exists") { // a table
			return fmt.Errorf("%w: %w", stores.ErrDuplicate, err)
		}
		return fmt.Errorf("%w: %w", stores.ErrInvalid, err)
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
