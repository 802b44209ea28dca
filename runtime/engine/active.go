package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"verbatim/dsl"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// An argument whose default is `active` may be left out. It then stands for the row at work: the
// row that the session was set to, or else the only one that the principal can see. If there are
// several and none was chosen, the caller is asked: a guess could change the wrong row. A named
// session that only reads gets the first of them, and the receipt says so.

// maxChoices is the greatest number of rows that a question names.
const maxChoices = 5

// atWork fills an argument that was left out with the row at work.
func atWork(ctx context.Context, r *source, st *step, p *verbs.Param, place dsl.Place) (resolvedArg, error) {
	e := p.Type.Entity
	fill := func(g resolvedArg, how string, of int) (resolvedArg, error) {
		row, err := r.nameRow(ctx, e, g.value)
		if err != nil {
			return resolvedArg{}, err
		}
		st.out.filled = append(st.out.filled, receipt.Filled{Param: p.Name, Entity: e.Store.Name, Key: g.value, Stand: how, Of: of})
		if row.Name != "" {
			st.says(p.Name, dsl.NewSymbol(row.Kept))
		}
		return g, nil
	}
	kept, err := r.session(ctx)
	if err != nil {
		return resolvedArg{}, err
	}
	v := r.s.active // of work for later, which has no session
	if kept != nil {
		v = kept.Values[verbs.SessionActive]
	}
	if r.e.reg.Entity(v.Entity) == e {
		g, there, err := standing(ctx, r, st, resolvedArg{value: v.Value(), entity: e, from: ofRecord.Mix(verbs.Stored(v.Origin)), sensitive: v.Sensitive}, place, p.Name)
		if err != nil {
			return resolvedArg{}, err
		}
		if there {
			return fill(g, receipt.AtWork, 0)
		}
		if kept == nil {
			return resolvedArg{}, errRowGone // and no other takes its place
		}
		// The row that was at work is out of scope by now.
	}
	keys, more, err := mineOf(ctx, r, e)
	if err != nil {
		return resolvedArg{}, err
	}
	if len(keys) == 1 || len(keys) > 1 && kept != nil && !r.writes {
		g, there, err := standing(ctx, r, st, resolvedArg{value: keys[0], entity: e, from: ofRecord}, place, p.Name)
		switch {
		case err != nil:
			return resolvedArg{}, err
		case there && len(keys) == 1:
			return fill(g, receipt.OnlyOne, 0)
		case there:
			return fill(g, receipt.FirstOfThese, len(keys))
		}
		keys = keys[1:]
	}
	if len(keys) == 0 {
		return resolvedArg{}, &callError{st.call.index, tell(place, "nothing-at-work", st.verb.Name, p.Type.Entity.Store.Name)}
	}
	var rows []names.Row
	for _, key := range keys[:min(len(keys), maxChoices)] {
		row, err := r.nameRow(ctx, e, key)
		if err != nil {
			return resolvedArg{}, err
		}
		rows = append(rows, row)
	}
	return resolvedArg{}, &callError{st.call.index, whichAtWork(place, st, p, rows, len(keys), more, settersFor(r.s, e))}
}

// standing fetches the row that is to fill an argument, and reports whether it exists in scope.
func standing(ctx context.Context, r *source, st *step, g resolvedArg, place dsl.Place, param string) (resolvedArg, bool, error) {
	got, err := r.reference(ctx, st, g, place, param)
	var none *callError
	if errors.As(err, &none) {
		return resolvedArg{}, false, nil
	}
	return got, err == nil, err
}

// mineOf lists the rows of an entity that the principal sees, ordered by their labels. If more is
// true, the list is cut.
func mineOf(ctx context.Context, r *source, e *verbs.Entity) (keys []stores.Value, more bool, err error) {
	if held := r.s.scope.Holds[e.Store.Name]; !r.s.scope.All && len(held) <= 1 {
		return held, false, nil // a principal with one row in scope sees no other
	}
	rows, err := r.read.Find(ctx, stores.Find{Entity: e.Store, Select: r.e.catalog.labels[e], Limit: maxNamed, Blank: true})
	if errors.Is(err, stores.ErrLimit) {
		rows, err = r.read.Find(ctx, stores.Find{Entity: e.Store, Select: r.e.catalog.labels[e], Limit: maxChoices + 1, Cut: true, Blank: true})
		more = true
	}
	if err != nil {
		return nil, false, err
	}
	slices.SortFunc(rows, func(a, b []stores.Value) int {
		return cmp.Or(cmp.Compare(label(e, a), label(e, b)), cmp.Compare(a[0].Text(), b[0].Text()))
	})
	keys = make([]stores.Value, len(rows))
	for i, row := range rows {
		keys[i] = row[0]
	}
	return keys, more, nil
}

// settersFor lists the setters of an entity that the principal may use.
func settersFor(s *Session, e *verbs.Entity) []*verbs.Verb {
	var may []*verbs.Verb
	for _, v := range s.e.catalog.setters[e] {
		if s.May(v) {
			may = append(may, v)
		}
	}
	return may
}
