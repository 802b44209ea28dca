package runtime

import (
	"context"
	"slices"

	"verbatim/runtime/view"
	"verbatim/stores"
	"verbatim/verbs"
)

// A read that is all of a program, and names a row or was filled with the one
// that is at work, asks for that row and for what it reads in one question,
// where nothing needs the row before. Asked for first, the row would be a round
// trip, the end of the snapshot another, and the read the third.
//
// Where such a row turns out not to be there, the view misjudged: the run begins again
// and asks for one after the other.

// An owing is a row that was not asked for yet.
type owing struct {
	row  view.RowKey
	step *step
	seen int // its place in reading.seen
}

// readsAtOnce reports whether nothing that a verb does before its read, and nothing
// that it asks for, depends on what stands in a row that an argument names.
func (e *Engine) readsAtOnce(v *verbs.Verb) bool {
	if v.Read == nil || e.handlers[v] != nil || v.Handler || v.Macro != nil || v.Tool != nil ||
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

// owes reports whether a row that an argument refers to can be asked for with
// what is read. It has a name already: what is to be called by it needs no label.
func (r *reading) owes(st *step, e *stores.Entity, key stores.Value) bool {
	if r.calls != 1 || st.outer != nil || !r.e.reads[st.verb] || !r.read.Postpone(view.RowKey{Entity: e, Key: key}) {
		return false
	}
	_, named := r.s.names.Row(e, key)
	return named
}

// owe notes that a row is to be asked for, and gives what stands for it until
// then: its key.
func (r *reading) owe(st *step, e *stores.Entity, key stores.Value) stores.Row {
	row := stores.Row{Entity: e, Values: make([]stores.Value, len(e.Fields))}
	row.Values[e.Key] = key
	r.owed = append(r.owed, owing{view.RowKey{Entity: e, Key: key}, st, len(r.seen)})
	r.seen = append(r.seen, seen{entity: e, key: key})
	return row
}

// withOwed is Find that also asks for the rows that are owed.
func (r *reading) withOwed(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	if len(r.owed) == 0 {
		return r.read.Find(ctx, f)
	}
	asks := make([]stores.Ask, len(r.owed), len(r.owed)+1)
	for i, o := range r.owed {
		asks[i] = stores.Ask{Entity: o.row.Entity, Keys: []stores.Value{o.row.Key}}
	}
	asks = append(asks, stores.Ask{Find: &f})
	if err := r.read.Together(ctx, asks); err != nil {
		return nil, err
	}
	for i, o := range r.owed {
		if len(asks[i].Rows) == 0 {
			return nil, r.read.Missed(o.row)
		}
		row := asks[i].Rows[0]
		r.seen[o.seen].values, r.seen[o.seen].marks = row.Values, row.Marks
		for j := range o.step.rows {
			if at := &o.step.rows[j]; at.Entity == o.row.Entity && at.Key() == o.row.Key {
				*at = row
			}
		}
	}
	r.owed = nil
	return asks[len(asks)-1].Found, nil
}
