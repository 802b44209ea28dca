package postgres

import (
	"context"

	"verbatim/stores"
)

// Rows implements stores.Reader. Within an Update it locks the rows as Get does,
// in the order of their keys, so that two transactions that want the same rows
// wait for one another and not in a circle.
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
	if err := r.c.ready(ctx, &r.view, e); err != nil {
		return nil, err
	}
	t := newText().add("SELECT ")
	for i := range e.Fields {
		if i > 0 {
			t.add(",")
		}
		t.add(r.datum(e, "t", i))
	}
	t.add(",")
	r.marksOf(t, e, "t")
	locks := r.locks(e)
	if locks {
		t.add(",", waited)
	}
	key := r.datum(e, "t", e.Key)
	t.add(" FROM ", table(e), " t WHERE ", key, " = ANY (").arg(array(fit), r.shapes[e].columns[e.Key].arg+"[]").add(")")
	r.within(t, e, "t", true)
	t.add(" ORDER BY ", key)
	if kind == stores.String {
		t.add(bytewise)
	}
	if locks {
		t.add(" FOR NO KEY UPDATE OF t")
	}
	rows := make([]stores.Row, 0, len(fit))
	var late []int // rows that somebody else changed meanwhile
	err := r.c.do(ctx, append(r.holdTable(e), t.op("get", func(raw row) (err error) {
		found := stores.Row{Entity: e, Values: make([]stores.Value, len(e.Fields))}
		for i := range found.Values {
			if found.Values[i], err = raw.field(i, e, i); err != nil {
				return err
			}
		}
		if found.Marks, err = raw.marks(len(e.Fields), e); err != nil {
			return err
		}
		if locks && raw.yes(len(e.Fields)+1) {
			late = append(late, len(rows))
		}
		rows = append(rows, found)
		return nil
	}))...)
	if err != nil {
		return nil, err
	}
	for _, i := range late {
		if rows[i].Marks, err = r.marksNow(ctx, e, rows[i].Key()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// locks reports whether reading a row by its key locks it.
func (r *reader) locks(e *stores.Entity) bool {
	return r.writes && r.shapes[e].lockable && (r.scope.All || e.Access != stores.ForAll)
}
