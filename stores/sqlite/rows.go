package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// Rows implements stores.Reader.
func (r *reader) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	kind := e.Fields[e.Key].Kind
	fit := make([]stores.Value, 0, len(keys))
	for _, k := range keys {
		if k.Kind() == kind {
			fit = append(fit, k)
		}
	}
	if len(fit) == 0 {
		return nil, ctx.Err()
	}
	t := newText().add("SELECT ")
	fields(t, e)
	marksOf(t, e, "t")
	t.add(" FROM ", table(e), " t WHERE ")
	if len(e.Parts) == 0 {
		t.add(datum(e, "t", e.Key))
		in(t, kind, fit)
	} else {
		t.add("(")
		for i, key := range fit {
			if i > 0 {
				t.add(" OR ")
			}
			hasKeyOf(t, e, "t", key)
		}
		t.add(")")
	}
	r.within(t, e, "t", true)
	t.add(" ORDER BY ", datum(e, "t", e.Key))
	var rows []stores.Row
	err := r.c.query(ctx, t.String(), t.args, func(found *sqlite.Stmt) error {
		row, err := readRow(e, found)
		rows = append(rows, row)
		return err
	})
	if err != nil {
		return nil, fault("get", err)
	}
	return rows, nil
}

// Together implements stores.Reader.
func (r *reader) Together(ctx context.Context, asks []stores.Ask) error {
	return stores.OneByOne(ctx, r, asks)
}
