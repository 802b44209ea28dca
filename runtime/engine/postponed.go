package engine

import (
	"context"
	"slices"

	"verbatim/runtime/internal/view"
	"verbatim/stores"
	"verbatim/verbs"
)

// If a program is a single read, and nothing needs the rows that its arguments name before the
// read, these rows are fetched together with the read, in one round trip. Fetched first, they would
// cost a round trip, the end of the snapshot another, and the read a third.
//
// If such a row does not exist, the view has misjudged: the run starts again, and fetches the rows
// one after the other.

// A postponed is a row that is read together with the next read.
type postponed struct {
	row  view.RowKey
	step *step
	at   int // its place in reading.readSet
}

// readsAtOnce reports whether neither the read of a verb nor anything before it depends on the
// values of a row that an argument names.
func (p *prepared) readsAtOnce() bool {
	v := p.verb
	if v.Read == nil || p.handler != nil || v.Handler || v.Macro != nil || v.Tool != nil ||
		len(v.Requires) > 0 || len(v.Confirm) > 0 || len(v.Effects) > 0 {
		return false
	}
	ofArgument := func(read verbs.ExprRead) bool { return read.Param != verbs.OfRow }
	asks := func(f *verbs.Filter, fields []verbs.ReadField) bool {
		return f != nil && slices.ContainsFunc(f.Reads, ofArgument) ||
			slices.ContainsFunc(fields, func(f verbs.ReadField) bool { return f.Expr != nil && slices.ContainsFunc(f.Expr.Reads, ofArgument) })
	}
	return !asks(v.Read.Filter, v.Read.Fields) &&
		!slices.ContainsFunc(v.Read.Lists, func(l verbs.ReadList) bool { return asks(l.Filter, l.Fields) })
}

// canPostpone reports whether the row of an argument can be fetched together with the read. The
// session must know its name already, since a name is made from the label.
func (r *source) canPostpone(st *step, e *stores.Entity, key stores.Value) bool {
	if r.mem.calls != 1 || st.tree.outer != nil || !st.prep.atOnce || !r.read.Postpone(view.RowKey{Entity: e, Key: key}) {
		return false
	}
	_, named := r.s.names.Row(e, key)
	return named
}

// postpone notes that a row is to be fetched with the next read. Until then it holds only its key.
func (r *source) postpone(st *step, e *stores.Entity, key stores.Value) stores.Row {
	row := stores.Row{Entity: e, Values: make([]stores.Value, len(e.Fields))}
	row.Values[e.Key] = key
	r.mem.postponed = append(r.mem.postponed, postponed{view.RowKey{Entity: e, Key: key}, st, len(r.mem.reads)})
	r.mem.reads = append(r.mem.reads, readRow{entity: e, key: key})
	return row
}

// findWithPostponed is Find that also asks for the postponed rows.
func (r *source) findWithPostponed(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	if len(r.mem.postponed) == 0 {
		return r.read.Find(ctx, f)
	}
	asks := make([]stores.Ask, len(r.mem.postponed), len(r.mem.postponed)+1)
	for i, o := range r.mem.postponed {
		asks[i] = stores.Ask{Entity: o.row.Entity, Keys: []stores.Value{o.row.Key}}
	}
	asks = append(asks, stores.Ask{Find: &f})
	if err := r.read.Together(ctx, asks); err != nil {
		return nil, err
	}
	for i, o := range r.mem.postponed {
		if len(asks[i].Rows) == 0 {
			return nil, r.read.Missed(o.row)
		}
		row := asks[i].Rows[0]
		r.mem.reads[o.at].values, r.mem.reads[o.at].marks = row.Values, row.Marks
		for j := range o.step.args.rows {
			if at := &o.step.args.rows[j]; at.Entity == o.row.Entity && at.Key() == o.row.Key {
				*at = row
			}
		}
	}
	r.mem.postponed = nil
	return asks[len(asks)-1].Found, nil
}
