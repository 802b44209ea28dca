package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Served lists the roles other than the one that opened the store that may write its journal: those that runs
// use. Migrate grants them nothing unless it is told to.
func (s *Store) Served(ctx context.Context) (roles []string, err error) {
	rows, err := s.pool.Query(ctx, `SELECT DISTINCT grantee::text FROM information_schema.role_table_grants
		WHERE table_schema = 'public' AND table_name = 'verbatim_journal' AND privilege_type = 'INSERT' AND grantee <> current_user ORDER BY 1`)
	if err != nil {
		return nil, fault(ctx, "served", err)
	}
	roles, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return roles, fault(ctx, "served", err)
}
