package engine

import (
	"context"
	"errors"
	"slices"

	"verbatim/stores"
	"verbatim/verbs"
)

// A selection is the fields that a read, or a list of a read, asks the store for, for every caller.
type selection struct {
	of     *verbs.Entity
	paths  []stores.Path // the key, that of a list's owner, and what fields need
	all    []stores.Path // paths, and the marks with the origins of their values
	marks  []int         // see provenance.WithMarks
	fields []selectedField
	works  bool // some field is computed by an expression
}

// A selectedField is one returned field, and its place in the store's answer.
type selectedField struct {
	*verbs.ReadField
	at  int           // of FromPath and FromCodes, in paths
	to  *verbs.Entity // of FromPath, whose key it is
	row []int         // of FromExpr, parallel to its reads: indexes in paths, -1 for a read that is no field of the row
}

// A selections holds all that the verb of a read asks for: the rows, and the lists beside them.
type selections struct {
	rows  *selection
	lists []*selection
}

// A fetch is a selection for one call.
type fetch struct {
	*selection
	s      *Session
	given  []exprInputs // of FromExpr, parallel to fields; nil without such fields
	chosen verbs.Origin
}

// exprInputs are the environment of an expression of a read without the row: arguments and the fields
// of other rows, with their origins.
type exprInputs struct {
	env  verbs.Env
	came []verbs.Origin
}

func fetchesOf(ctx context.Context, r *source, st *step, s *selection) (*fetch, error) {
	f := &fetch{selection: s, s: r.s, chosen: st.chosen()}
	if !s.works {
		return f, nil
	}
	f.given = make([]exprInputs, len(s.fields))
	for i := range s.fields {
		if g := &s.fields[i]; g.From == verbs.FromExpr {
			var err error
			if f.given[i].env, f.given[i].came, err = r.env(ctx, st, g.Expr.Reads, nil); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// cell returns the value of a field of a row, if the row itself holds it.
func (f *fetch) cell(st *step, i int, row []stores.Value) (cell, error) {
	g := &f.fields[i]
	switch g.From {
	case verbs.FromPath:
		c := cell{row[g.at], g.to, f.s.from.Path(f.of.Store, f.paths, f.marks, g.at, row)}
		if p := g.Path; len(p.Steps) == 0 && p.Count == nil && p.Field == f.of.Store.Key {
			c.from = f.chosen // it says which row it is, not what the row holds
		}
		return c, nil
	case verbs.FromCodes:
		v, err := described(g.Codes, g.Type, row[g.at])
		return cell{value: v, from: f.s.from.Path(f.of.Store, f.paths, f.marks, g.at, row)}, err
	case verbs.FromExpr:
		env := f.given[i].env
		env.Reads = slices.Clone(env.Reads)
		came := slices.Clone(f.given[i].came)
		for j, at := range g.row {
			if at >= 0 {
				env.Reads[j], came[j] = row[at], f.s.from.Path(f.of.Store, f.paths, f.marks, at, row)
			}
		}
		v, err := g.Expr.Eval(env)
		if err != nil && !errors.Is(err, verbs.ErrAbsent) {
			return cell{}, &evalError{g.Expr.Place, g.Expr.Text, err}
		}
		var to *verbs.Entity
		if g.Type.Name == verbs.RefType {
			to = g.Type.Entity
		}
		return cell{v, to, made(st, g.Expr, came)}, nil
	}
	return cell{}, nil
}
