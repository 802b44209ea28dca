package postgres

import (
	"context"

	"verbatim/stores"
)

// Rows implements stores.Reader. Within an Update it locks the rows as Get does,
// in the order of their keys, so that two transactions that want the same rows
// wait for one another and not in a circle.
func (r *reader) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	asks := []stores.Ask{{Entity: e, Keys: keys}}
	err := r.Together(ctx, asks)
	return asks[0].Rows, err
}

// Together implements stores.Reader.
func (r *reader) Together(ctx context.Context, asks []stores.Ask) error {
	var ops []op
	later := make([]func(context.Context) error, 0, len(asks))
	for i := range asks {
		a := &asks[i]
		var more []op
		var then func(context.Context) error
		var err error
		if a.Find != nil {
			more, then, err = r.finding(ctx, *a.Find, &a.Found)
		} else {
			more, then, err = r.getting(ctx, a.Entity, a.Keys, &a.Rows)
		}
		if err != nil {
			return err
		}
		ops, later = append(ops, more...), append(later, then)
	}
	if len(ops) == 0 {
		return ctx.Err()
	}
	ask := r.c.do
	if f := asks[len(asks)-1].Find; f != nil && f.Last && !r.writes {
		ask = r.c.alone
	}
	if err := ask(ctx, ops...); err != nil {
		return err
	}
	for _, then := range later {
		if err := then(ctx); err != nil {
			return err
		}
	}
	return nil
}

// getting makes the statements that read rows by their keys, and says what is to
// be done when they have run.
func (r *reader) getting(ctx context.Context, e *stores.Entity, keys []stores.Value, into *[]stores.Row) ([]op, func(context.Context) error, error) {
	kind := e.Fields[e.Key].Kind
	fit := make([]stores.Value, 0, len(keys))
	for _, k := range keys {
		if k.Kind() == kind {
			fit = append(fit, k)
		}
	}
	if len(fit) == 0 {
		return nil, func(context.Context) error { return nil }, nil
	}
	if err := r.c.ready(ctx, &r.view, e); err != nil {
		return nil, nil, err
	}
	t := newText().add("SELECT ")
	for i := range e.Fields {
		if i > 0 {
			t.add(",")
		}
		t.add(r.datum(e, "t", i))
	}
	t.add(",")
	if trusts := r.trusts(t, e); trusts || len(fit) > 1 {
		r.marksOf(t, e, "t")
	} else {
		marksOfRow(t, e, fit[0])
	}
	locks := r.locks(e)
	if locks {
		t.add(",", waited)
	}
	at := len(e.Fields) + 1
	if locks {
		at++
	}
	asked, doubt := doubts(t), false
	t.add(" FROM ", table(e), " t WHERE ")
	if len(fit) == 1 {
		r.is(t, e, "t", fit[0])
		r.within(t, e, "t", false)
	} else {
		key := r.datum(e, "t", e.Key)
		t.add(key, " = ANY (").arg(array(fit), r.shapes[e].columns[e.Key].arg+"[]").add(")")
		r.within(t, e, "t", true)
		t.add(" ORDER BY ", key)
		if kind == stores.String {
			t.add(bytewise)
		}
	}
	if locks {
		t.add(" FOR NO KEY UPDATE OF t")
		if r.locked == nil {
			r.locked = map[lock]bool{}
		}
		for _, key := range fit {
			if _, asked := r.locked[lock{e, key}]; !asked {
				r.locked[lock{e, key}] = false
			}
		}
	}
	rows := make([]stores.Row, 0, len(fit))
	var late []int // rows that somebody else changed meanwhile
	ops := append(r.holdTable(e), t.op("get", func(raw row) (err error) {
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
		if locks {
			r.locked[lock{e, found.Key()}] = true
		}
		doubt = asked && raw.yes(at)
		rows = append(rows, found)
		return nil
	}))
	return ops, func(ctx context.Context) (err error) {
		if doubt {
			r.mistrust(t.trusted)
			*into, err = r.Rows(ctx, e, keys)
			return err
		}
		for _, i := range late {
			if rows[i].Marks, err = r.marksNow(ctx, e, rows[i].Key()); err != nil {
				return err
			}
		}
		*into = rows
		return nil
	}, nil
}

// locks reports whether reading a row by its key locks it.
func (r *reader) locks(e *stores.Entity) bool {
	return r.writes && r.shapes[e].lockable && (r.scope.All || e.Access != stores.ForAll)
}
