package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"verbatim/stores"
)

// Load runs an operator's SQL, in one transaction, as the role that migrates: the tables and rows
// of an example or of a test. It returns ErrDuplicate, and has done nothing, if they collide with
// what is there. It is not part of stores.Store, and the engine never calls it. PostgreSQL itself
// checks the values of columns.
func (s *Store) Load(ctx context.Context, script string, _ ...*stores.Entity) error {
	return s.write(ctx, s.migrator(), stores.Scope{All: true}, func(c *conn) error {
		if err := c.do(ctx, op{doing: "load", sql: "SET LOCAL search_path = public"}); err != nil { // this begins the transaction
			return err
		}
		// The script is the operator's own, so they may see PostgreSQL's message about it.
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
