package engine

import (
	"context"
	"errors"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// A record is one argument, and the references in it are like any others: each is looked up within
// scope and locked like other rows that are read, and the reads along it are part of the plan.

// referredInside fetches the rows that a record, or a list of them, refers to.
func (r *source) referredInside(ctx context.Context, st *step, t *verbs.Type, v stores.Value, place dsl.Place, param string) error {
	if t.Name == verbs.ListType {
		items, err := v.Items(stores.JSON)
		if err != nil {
			return &complaint{st.call.index, wrongValue(place, param, "a list of records is wanted")}
		}
		for _, item := range items {
			if err := r.referredInside(ctx, st, t.Item, item, place, param); err != nil {
				return err
			}
		}
		return nil
	}
	parts, ok := t.Parts(v)
	if !ok {
		return &complaint{st.call.index, wrongValue(place, param, t.Phrase()+" is wanted")}
	}
	for i := range parts {
		if _, err := r.referred(ctx, st, t.Fields[i].Type, resolvedArg{value: parts[i]}, place, param); err != nil {
			return err
		}
	}
	return nil
}

// rowOfPart returns the row that a field of a record refers to; nil if it refers to none.
func (r *source) rowOfPart(ctx context.Context, st *step, read *verbs.ExprRead) (*stores.Row, error) {
	t, v := st.verb.Params[read.Param].Type, st.args.values[read.Param]
	if read.Each {
		t, v = t.Item, st.sees.each.item
	}
	parts, ok := t.Parts(v)
	if !ok || parts[read.Part-1].IsNull() {
		return nil, nil
	}
	row, err := r.get(ctx, t.Fields[read.Part-1].Type.Entity.Store, parts[read.Part-1])
	if errors.Is(err, stores.ErrNotFound) {
		return nil, &complaint{st.call.index, unknownName(st.call.place, st.verb.Params[read.Param].Name)}
	}
	return &row, err
}

// ofRecord follows a path into a record that a macro was given.
func (r *source) ofRecord(ctx context.Context, st *step, t *verbs.Type, g resolvedArg, a *verbs.Arg, place dsl.Place) (resolvedArg, error) {
	part, rest, _ := strings.Cut(a.Path(), ".")
	parts, ok := t.Parts(g.value)
	for i := range t.Fields {
		f := &t.Fields[i]
		if !ok || !sameWord(f.Name, part) {
			continue
		}
		out := resolvedArg{value: parts[i], sensitive: g.sensitive && (!g.partly || f.Sensitive), from: g.from}
		if f.Type.Name == verbs.RefType {
			out.entity = f.Type.Entity
		}
		if rest == "" || out.value.IsNull() {
			return out, nil
		}
		if out.entity == nil {
			break
		}
		row, err := r.get(ctx, out.entity.Store, out.value)
		if err != nil {
			return resolvedArg{}, err
		}
		return r.follow(ctx, st, out.entity, row, a.Name(), rest, place)
	}
	return resolvedArg{}, &complaint{st.call.index, noResult(place, a.Name(), "it has no "+a.Path())}
}

// ofItem resolves @each, or a part of it, in a call of a macro.
func (r *source) ofItem(ctx context.Context, st *step, t *verbs.Type, g resolvedArg, a *verbs.Arg, place dsl.Place) (resolvedArg, error) {
	if t.Name == verbs.RefType {
		g.entity = t.Entity
	}
	switch {
	case a.Path() == "":
		return g, nil
	case t.Name == verbs.RecordType:
		return r.ofRecord(ctx, st, t, g, a, place)
	case g.entity == nil:
		return resolvedArg{}, &complaint{st.call.index, noResult(place, a.Name(), "it has no "+a.Path())}
	}
	row, err := r.get(ctx, g.entity.Store, g.value)
	if err != nil {
		return resolvedArg{}, err
	}
	return r.follow(ctx, st, g.entity, row, a.Name(), a.Path(), place)
}

// partOf returns the part of a written record that a path leads to; ok is false if the part is not
// written there.
func partOf(v dsl.Value, path string) (dsl.Value, bool) {
	part, rest, _ := strings.Cut(path, ".")
	for _, e := range v.Entries() {
		switch {
		case !sameWord(e.Key, part):
		case rest == "":
			return e.Value, true
		case e.Value.Kind == dsl.Symbol:
			return dsl.NewSymbol(e.Value.Text + "." + rest), true
		}
	}
	return dsl.NewNil(), rest == ""
}
