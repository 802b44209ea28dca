package postgres

import (
	"context"
	"fmt"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// Draw implements stores.Tx. It evaluates the default of a column, or takes the next number of
// its sequence, which nobody else then gets, whatever becomes of this transaction.
func (t *tx) Draw(ctx context.Context, e *stores.Entity, field int) (v stores.Value, err error) {
	if err := t.c.ready(ctx, &t.view, e); err != nil {
		return v, err
	}
	f, sh := &e.Fields[field], t.shapes[e]
	if sh.drawn[field] == "" {
		return v, sqlcore.Because(stores.ErrSchema, &failure{doing: "draw", code: "42601", about: "column " + e.Table + "." + f.Column})
	}
	form := &sh.columns[field]
	as := "(" + sh.drawn[field] + ")"
	if form.writes == "" {
		as += "::" + form.typ
	}
	err = t.c.do(ctx, append(t.c.enter(e), op{doing: "draw", sql: "SELECT " + form.read(as), read: func(raw row) error {
		if v, err = raw.decode(0, f.Keeps()); err == nil {
			v, err = f.Spelling.Loaded(v)
		}
		if err != nil {
			return fmt.Errorf("the default of %s.%s is %w: %w", e.Name, f.Name, err, stores.ErrInvalid)
		}
		return nil
	}})...)
	return v, err
}

// Rewrites implements stores.Tx.
func (t *tx) Rewrites(ctx context.Context, e *stores.Entity) (bool, error) {
	if e.Managed {
		return false, nil
	}
	if err := t.c.ready(ctx, &t.view, e); err != nil {
		return false, err
	}
	return t.shapes[e].rewrites, nil
}
