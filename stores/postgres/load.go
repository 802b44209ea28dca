package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"verbatim/stores"
)

// Load runs an operator's SQL, in one transaction, as the role that migrates: the
// tables and rows of an example or of a test, beside what is there. It answers
// ErrDuplicate where they cannot stand beside it, and nothing was done then. It is no
// part of stores.Store, and nothing of the engine reaches it. What columns of entities hold,
// PostgreSQL itself sees to.
func (s *Store) Load(ctx context.Context, script string, _ ...*stores.Entity) error {
	return s.write(ctx, s.migrator(), stores.Scope{All: true}, func(c *conn) error {
		if err := c.do(ctx, op{doing: "load", sql: "SET LOCAL search_path = public"}); err != nil { // which begins the transaction
			return err
		}
		// The script is the operator's own, and so is what PostgreSQL says of it.
		_, err := c.pc.Conn().PgConn().Exec(ctx, script).ReadAll()
		var e *pgconn.PgError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &e) && (slices.Contains([]string{"23505", "42P06", "42P07", "42710"}, e.Code)): // a row, a schema, a table or another thing
			return fmt.Errorf("%w: %s", stores.ErrDuplicate, plainCause(err))
		}
		return fmt.Errorf("%w: %s", stores.ErrInvalid, plainCause(err))
	})
}
