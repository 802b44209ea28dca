package sqlite

import (
	"context"

	"verbatim/stores"
)

type queryCache struct{}

func newQueryCache() *queryCache { return &queryCache{} }

// CheckSQL implements stores.Store.
func (s *Store) CheckSQL(ctx context.Context, entities []*stores.Entity, q stores.SQL) error {
	return &stores.SQLError{Offset: -1, Msg: "queries cannot be run yet"}
}

// SQL implements stores.Reader.
func (r *reader) SQL(ctx context.Context, entities []*stores.Entity, q stores.SQL) ([][]stores.Value, error) {
	return nil, &stores.SQLError{Offset: -1, Msg: "queries cannot be run yet"}
}
