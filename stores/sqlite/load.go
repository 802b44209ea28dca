package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// Load runs an operator's SQL, in one transaction: the tables and rows of an example or of a
// test. It returns ErrDuplicate, and has done nothing, if they collide with what is there. It is
// not part of stores.Store, and the engine never calls it.
//
// Times, dates and decimals of managed entities have to be readable. Migrate then converts them
// to the store's form.
func (s *Store) Load(ctx context.Context, script string, entities ...*stores.Entity) error {
	return s.write(ctx, func(c *conn) error {
		err := raise(c.script(script))
		switch resultCode(err) {
		case sqlite.ResultOK:
			return c.loaded(entities)
		case sqlite.ResultConstraintUnique, sqlite.ResultConstraintPrimaryKey, sqlite.ResultConstraintRowID:
			return fmt.Errorf("%w: %w", stores.ErrDuplicate, err)
		}
		if strings.HasSuffix(err.Error(), " already exists") { // of a table
			return fmt.Errorf("%w: %w", stores.ErrDuplicate, err)
		}
		return fmt.Errorf("%w: %w", stores.ErrInvalid, err)
	})
}

// script runs statements one after another.
func (c *conn) script(text string) error {
	// The last statement is ours, so that no comment comes after it.
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

// loaded returns an error for rows of our tables that cannot be read.
func (c *conn) loaded(entities []*stores.Entity) error {
	m := newMigration(c, entities, true)
	if err := m.look(); err != nil {
		return err
	}
	for _, e := range entities {
		if !e.Managed {
			continue
		}
		t, err := m.Read(e)
		if err == nil && t != nil && !t.View {
			err = m.respell(e, t)
		}
		if err != nil {
			return fault("load", err)
		}
		if len(m.Problems) > 0 {
			return fmt.Errorf("%w: %s", stores.ErrInvalid, m.Problems[0])
		}
	}
	return nil
}
