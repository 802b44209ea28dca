package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"verbatim/stores"
	"verbatim/verbs"
)

// A verb may disclose something about rows outside its caller's scope. Only `discloses` can
// use totals over such rows, and its types have few values. Nothing else of those rows is
// kept: no row, no name, no number of rows that were read.

// A disclosure is a disclosed value of a call. It is evaluated once.
type disclosure struct {
	known bool
	value stores.Value
}

// disclosed returns one value that a verb discloses.
func disclosed(ctx context.Context, r *source, st *step, i int) (stores.Value, error) {
	if st.sees.disclosures == nil {
		st.sees.disclosures = make([]disclosure, len(st.verb.Discloses))
	}
	if d := st.sees.disclosures[i]; d.known {
		return d.value, nil
	}
	x := &st.verb.Discloses[i]
	if x.Fresh {
		v := stores.NewString(rand.Text())
		r.draft.alias[v] = "fresh " + x.Name
		st.sees.disclosures[i] = disclosure{true, v}
		return v, nil
	}
	if x.Is == nil {
		err := looked(ctx, r, st)
		return st.sees.disclosures[i].value, err
	}
	v, err := r.eval(ctx, st, x.Is, nil)
	switch {
	case errors.Is(err, verbs.ErrAbsent):
		v = stores.Value{}
	case err != nil && (ctx.Err() != nil || errors.Is(err, stores.ErrConflict)):
		return v, err
	case err != nil:
		// The error may reveal what was read, so the caller does not get it.
		return v, &Failure{Err: fmt.Errorf("%s: %s cannot be told: %w", at(x.Place), x.Name, err)}
	}
	if v, err = x.Type.Accept(v); err != nil {
		return stores.Value{}, &Failure{Err: fmt.Errorf("%s: %s is outside what may be told", at(x.Place), x.Name)}
	}
	st.sees.disclosures[i] = disclosure{true, v}
	return v, nil
}

// disclose makes the answer of a verb from all values that it discloses.
func disclose(ctx context.Context, r *source, st *step) (*table, error) {
	t := &table{rows: make([][]cell, 1)}
	for i := range st.verb.Discloses {
		v, err := disclosed(ctx, r, st, i)
		if err != nil {
			return nil, err
		}
		if x := &st.verb.Discloses[i]; x.Tells() {
			t.columns = append(t.columns, column{name: x.Name})
			t.rows[0] = append(t.rows[0], cell{value: v, from: ofRecord})
		}
	}
	return t, nil
}

// seenBeyond works out a total over rows outside the caller's scope.
func seenBeyond(ctx context.Context, r *source, st *step, t *verbs.Total) (v stores.Value, err error) {
	e := t.Entity.Store
	among, err := r.cond(ctx, st, t.Where.Filter)
	if err != nil {
		return v, err
	}
	where, err := r.counterexample(ctx, st, t, *among)
	if err != nil {
		return v, err
	}
	find := stores.Find{Entity: e, Select: []stores.Path{{Field: e.Key}}, Where: &where, Beyond: true}
	switch {
	case t.Kind.Asks():
		find.Limit, find.Cut = 1, true
	case t.Kind.OfField():
		find.Select[0].Field = t.Field
	}
	rows, err := r.read.Find(ctx, find)
	if err != nil {
		return v, err
	}
	if t.Kind.Asks() {
		return stores.NewBool((len(rows) > 0) == (t.Kind == verbs.SomeTotal)), nil
	}
	so := t.Begin()
	for _, row := range rows {
		if err := so.Add(row[0]); err != nil {
			return v, err
		}
	}
	return so.Value()
}
