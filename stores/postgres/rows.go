package postgres

import (
	"context"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// Rows implements stores.Reader. Within an Update it locks the rows as Get does, in the order of
// their keys, so that two transactions that want the same rows wait for one another and do not
// deadlock.
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
		switch {
		case a.Find != nil:
			more, then, err = r.finding(ctx, *a.Find, &a.Found)
		case a.Jobs != nil:
			more, then = []op{r.jobs(a.Jobs, &a.Listed)}, func(context.Context) error { return nil }
		default:
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

// getting makes the statements that read rows by their keys, and a function to call when they
// have run.
func (r *reader) getting(ctx context.Context, e *stores.Entity, keys []stores.Value, into *[]stores.Row) ([]op, func(context.Context) error, error) {
	kind := e.Fields[e.Key].Kind
	fit := make([]stores.Value, 0, len(keys))
	var parts []stores.Value
	for _, k := range keys {
		its, ok := e.PartsOf(k)
		if k.Kind() == kind && ok {
			fit, parts = append(fit, k), its
		}
	}
	if len(fit) == 0 {
		return nil, func(context.Context) error { return nil }, nil
	}
	r.c.learned(&r.view)
	values := []operand{{items: fit}}
	as := asked{ajar: r.ajar, bare: r.marked == nil}
	if r.writes {
		as.hold = stores.Firm
	}
	at := textKey{e, r.shape, manyRows, as}
	if len(fit) == 1 {
		values[0].value, values[0].parts, at.form = fit[0], parts, oneRow
	}
	same := func(*statementOf) bool { return true }
	st := r.s.asked.find(at, &r.view, same)
	if st == nil {
		if err := r.c.ready(ctx, &r.view, e); err != nil {
			return nil, nil, err
		}
		st = r.writeRows(e, len(fit) > 1)
		r.s.asked.keep(at, st, same)
	}
	locks := len(st.ways) > 0
	if locks {
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
	doubt := false
	n := len(e.Fields)
	ops := append(r.holdTable(e), op{doing: "get", sql: st.sql, args: slotValues{scoped: r.scoped, values: values}.fill(st.args), read: func(raw row) (err error) {
		found := stores.Row{Entity: e, Values: make([]stores.Value, n)}
		for i := range found.Values {
			if found.Values[i], err = raw.field(i, e, i); err != nil {
				return err
			}
		}
		if found.Marks, err = raw.marks(n, e); err != nil {
			return err
		}
		if locks && raw.yes(n+1) {
			late = append(late, len(rows))
		}
		if locks {
			r.locked[lock{e, found.Key()}] = true
		}
		doubt = st.doubts >= 0 && raw.yes(st.doubts)
		rows = append(rows, found)
		return nil
	}})
	return ops, func(ctx context.Context) (err error) {
		if doubt {
			r.mistrust(st.trusted)
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

// The forms of a question for rows by their keys.
const oneRow, manyRows = 1, 2

// writeRows writes the statement that reads rows by their keys.
func (r *reader) writeRows(e *stores.Entity, many bool) *statementOf {
	st := &statementOf{epoch: r.epoch, doubts: -1}
	t := newText().Add("SELECT ")
	for i := range e.Fields {
		if i > 0 {
			t.Add(",")
		}
		t.Add(r.told(e, "t", i))
	}
	t.Add(",")
	if !many && !r.shapes[e].marked && !r.trusts(t, e) {
		marksOfRow(t, e, slot{of: slotText})
	} else {
		r.marksOf(t, e, "t")
	}
	columns := len(e.Fields) + 1
	if r.locks(e) {
		if st.ways = []lockOf{{entity: e}}; r.shapes[e].marked {
			t.Add(",false")
		} else {
			t.Add(",", waited)
		}
		columns++
	}
	if doubts(t) {
		st.doubts = columns
	}
	t.Add(" FROM ", table(e), " t WHERE ")
	if !many {
		sqlcore.HasKey(t, r, e, "t", func(part, field int) {
			if len(e.Parts) == 0 {
				part = -1
			}
			t.Arg(slot{of: slotValue, part: part + 1}, "::", r.shapes[e].columns[field].arg)
		})
		sqlcore.Within(t, r, e, "t", false)
	} else {
		key := r.Datum(e, "t", e.Key)
		t.Add(key, " = ANY (").Arg(slot{of: slotItems}, "::", r.shapes[e].columns[e.Key].arg, "[]").Add(")")
		sqlcore.Within(t, r, e, "t", true)
		t.Add(" ORDER BY ", key)
		if e.Fields[e.Key].Kind == stores.String {
			t.Add(bytewise)
		}
	}
	if len(st.ways) > 0 {
		t.Add(" FOR NO KEY UPDATE OF t")
	}
	st.sql, st.args, st.trusted = t.Whole(), t.Args, t.Own.trusted
	return st
}

// locks reports whether reading a row by its key locks it.
func (r *reader) locks(e *stores.Entity) bool {
	return r.writes && r.shapes[e].lockable && (r.scope.All || e.Access != stores.ForAll)
}
