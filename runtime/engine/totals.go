package engine

import (
	"context"

	"verbatim/stores"
	"verbatim/verbs"
)

// total computes one value from several rows, and returns its origin. The engine adds up the
// rows, not the store, so that both stores return the same sum. The rows are locked until the
// end; a lock on the row that they belong to keeps others from being added.
func (r *source) total(ctx context.Context, st *step, t *verbs.Total) (sum stores.Value, came verbs.Origin, err error) {
	if t.Beyond {
		sum, err = r.beyond(ctx, st, t)
		return sum, ofRecord, err
	}
	if t.Kind.Asks() {
		found, err := r.anyOf(ctx, st, t)
		return stores.NewBool(found == (t.Kind == verbs.SomeTotal)), st.chosen(), err
	}
	rows, _, err := r.picked(ctx, st, t.Entity, t.Where)
	if err != nil {
		return sum, came, err
	}
	if t.Kind == verbs.CountTotal {
		return stores.NewInt(int64(len(rows))), st.chosen(), nil
	}
	so := t.Begin()
	for i := range rows {
		if err := so.Add(rows[i].Values[t.Field]); err != nil {
			return sum, came, &evalError{t.Place, t.Name, err}
		}
		if !rows[i].Values[t.Field].IsNull() {
			came = came.Mix(r.s.from.Field(&rows[i], t.Field))
		}
	}
	sum, err = so.Value()
	return sum, came, err
}

// anyOf reports whether there is a row of a total or, for a total of all rows, a row for which
// `that` does not hold. The call names the parent of these rows, so the parent is locked: a
// transaction that adds such a row, or changes one so that it counts, locks the parent first, and
// the answer stays true until this run ends. See meet.
func (r *source) anyOf(ctx context.Context, st *step, t *verbs.Total) (bool, error) {
	e := t.Entity.Store
	var among stores.Cond
	if t.Where.Filter == nil {
		rows, _, err := r.picked(ctx, st, t.Entity, t.Where)
		if err != nil || t.That == nil {
			return len(rows) > 0, err
		}
		keys := make([]stores.Value, len(rows))
		for i := range rows {
			keys[i] = rows[i].Key()
		}
		among = stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Key}, Value: stores.NewList(keys...)}
	} else {
		c, err := r.cond(ctx, st, t.Where.Filter)
		if err != nil {
			return false, err
		}
		among = *c
	}
	where, err := r.counterexample(ctx, st, t, among)
	if err != nil {
		return false, err
	}
	found, err := r.read.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{{Field: e.Key}}, Where: &where, Limit: 1, Cut: true})
	return len(found) > 0, err
}

// counterexample adds the negation of a total's `that` to a condition.
func (r *source) counterexample(ctx context.Context, st *step, t *verbs.Total, among stores.Cond) (stores.Cond, error) {
	if t.That == nil {
		return among, nil
	}
	c, err := r.cond(ctx, st, t.That)
	if err != nil {
		return among, err
	}
	return stores.Cond{Op: stores.And, Kids: []stores.Cond{among, {Op: stores.Not, Kids: []stores.Cond{*c}}}}, nil
}
