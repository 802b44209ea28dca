package runtime

import (
	"context"

	"verbatim/stores"
	"verbatim/verbs"
)

// A promise is one effect of a verb, for one call, as the rows stand before
// the call does anything. The engine carries out a verb from its promises, and
// holds whatever carried it out against them: both look at the same values.
type promise struct {
	effect *verbs.Effect
	// due says that its condition holds, or that it has none. For effects on
	// rows there is a condition for each target instead.
	due     bool
	set     []assigned // of a row to be added
	targets []target   // of rows to be changed or deleted
	values  []stores.Value
	came    []verbs.Origin // parallel to values
	dark    []bool         // parallel to values; nil while none is sensitive
	at      stores.Value   // when the work of a trigger begins; Null is at once
	setting setting        // of the session
}

// A target is a row that an effect picks.
type target struct {
	row stores.Row
	due bool
	set []assigned
	// stood holds the fields of the row that conditions and values were worked
	// out from: the change is only right while they are what they were.
	stood []int
}

// An assigned is a value for a field, and where it comes from.
type assigned struct {
	field     int
	value     stores.Value
	from      string
	sensitive bool // an argument that it is taken from is
	came      verbs.Origin
}

// promises works out what each effect of a verb means for this call.
func (r *reading) promises(ctx context.Context, st *step) ([]promise, error) {
	promises := make([]promise, len(st.verb.Effects))
	for i := range promises {
		p := &promises[i]
		p.effect = &st.verb.Effects[i]
		work := r.values
		if onRows(p.effect) {
			work = r.targets
		}
		if err := work(ctx, st, p); err != nil {
			return nil, err
		}
	}
	return promises, nil
}

// values works out an effect that picks no rows.
func (r *reading) values(ctx context.Context, st *step, p *promise) (err error) {
	effect := p.effect
	if p.due, err = r.holds(ctx, st, effect.When, nil); !p.due {
		return err
	}
	if p.set, err = r.sets(ctx, st, effect, nil); err != nil {
		return err
	}
	for _, w := range effect.With {
		v, came, err := r.evalFrom(ctx, st, w.Value, nil)
		if err != nil {
			return err
		}
		p.values, p.came = append(p.values, v), append(p.came, came)
		if _, dark := st.origin(w.Value, nil); dark {
			p.dark = darkAt(p.dark, len(p.values)-1)
		}
	}
	if effect.Value != nil {
		return r.given(ctx, st, p)
	}
	if effect.At != nil {
		p.at, err = r.eval(ctx, st, effect.At, nil)
	}
	return err
}

// targets finds the rows that an effect picks, and what it does to each.
func (r *reading) targets(ctx context.Context, st *step, p *promise) error {
	effect := p.effect
	var rows []stores.Row
	switch w := effect.Where; {
	case w == nil:
		// A promise in so many words, for a handler to keep: any row within
		// scope. Whether its condition holds is all there is to know.
		var err error
		p.due, err = r.holds(ctx, st, effect.When, nil)
		return err
	case w.Filter != nil:
		where, err := r.cond(ctx, st, w.Filter)
		if err != nil {
			return err
		}
		if rows, err = r.rowsWhere(ctx, effect.Entity.Store, where); err != nil {
			return err
		}
	default:
		switch row := st.rows[w.Param]; row.Entity {
		case effect.Entity.Store:
			rows = append(rows, row)
		case nil: // the argument was not given
		default:
			// The argument takes a row of any kind, the effect does not.
			return &complaint{st.index, unknownName(st.place, st.verb.Params[w.Param].Name)}
		}
	}
	for _, row := range rows {
		t := target{row: row}
		var err error
		if t.due, err = r.holds(ctx, st, effect.When, &row); err != nil {
			return err
		}
		if t.due {
			if t.set, err = r.sets(ctx, st, effect, &row); err != nil {
				return err
			}
		}
		t.stood = stoodOn(effect)
		p.due = p.due || t.due
		p.targets = append(p.targets, t)
	}
	return nil
}

// stoodOn lists the fields of a target itself that an effect reads.
func stoodOn(e *verbs.Effect) []int {
	var fields []int
	add := func(x *verbs.Expr) {
		if x == nil {
			return
		}
		for _, read := range x.Reads {
			own := read.Param < 0 || e.Where.Filter == nil && read.Param == e.Where.Param
			if own && read.Path.Count == nil {
				f := read.Path.Field
				if len(read.Path.Steps) > 0 {
					f = read.Path.Steps[0].Field
				}
				fields = append(fields, f)
			}
		}
	}
	add(e.When)
	for i := range e.Set {
		add(e.Set[i].Value)
	}
	return fields
}

func (r *reading) holds(ctx context.Context, st *step, when *verbs.Expr, row *stores.Row) (bool, error) {
	if when == nil {
		return true, nil
	}
	v, err := r.eval(ctx, st, when, row)
	return v.Bool(), err
}

func (r *reading) sets(ctx context.Context, st *step, effect *verbs.Effect, row *stores.Row) ([]assigned, error) {
	set := make([]assigned, 0, len(effect.Set))
	for i := range effect.Set {
		x := effect.Set[i].Value
		v, came, err := r.evalFrom(ctx, st, x, row)
		if err != nil {
			return nil, err
		}
		from, secret := st.origin(x, row)
		set = append(set, assigned{effect.Set[i].Field, v, from, secret, came})
	}
	return set, nil
}
