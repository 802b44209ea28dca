package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"verbatim/stores"
	"verbatim/verbs"
)

// require checks the `requires` rules of a call, on the rows as they are after the earlier
// calls. It reports all rules that do not hold at once. A rule that cannot be evaluated does
// not hold either; it is reported only if no other is, since a rule may rely on those before
// it.
func require(ctx context.Context, r *source, st *step) error {
	if err := r.inCountry(st); err != nil {
		return err
	}
	if err := r.schematic(st); err != nil {
		return err
	}
	var unmet, unclear []complaint
	for i := range st.verb.Requires {
		rule := &st.verb.Requires[i]
		holds, err := r.required(ctx, st, rule)
		switch {
		case err != nil && (ctx.Err() != nil || isStoreError(err)):
			return err
		case err != nil || holds.Kind() != stores.Bool:
			unclear = append(unclear, complaint{st.call.index, requirementUnclear(st.call.place, st.verb.Name, rule)})
		case !holds.Bool():
			unmet = append(unmet, complaint{st.call.index, requirementNotMet(st.call.place, st.verb.Name, rule)})
		}
	}
	if len(unmet) == 0 {
		unmet = unclear
	}
	if len(unmet) > 0 {
		return refuse(unmet)
	}
	return nil
}

func (r *source) required(ctx context.Context, st *step, rule *verbs.Require) (holds stores.Value, err error) {
	if rule.Rows != nil {
		holds, _, err = r.total(ctx, st, rule.Rows)
		return holds, err
	}
	return r.eval(ctx, st, rule.That, nil)
}

// inCountry reads telephone numbers and national ids by the country in the argument beside them. The
// checker has done so for literals.
func (r *source) inCountry(st *step) error {
	for i := range st.verb.Params {
		by, ok := st.verb.CountryParam(i)
		if !ok || st.args.values[i].IsNull() {
			continue
		}
		p := &st.verb.Params[i]
		v, err := p.Type.In(st.args.values[by]).Accept(st.args.values[i])
		if err != nil {
			return &complaint{st.call.index, wrongValue(st.call.place, p.Name, err.Error())}
		}
		st.args.values[i] = v
	}
	return nil
}

// schematic checks objects against the schemas of the codes beside them. The checker has done
// so for literals; values of rows, answers and macros are known only here.
func (r *source) schematic(st *step) error {
	for i := range st.verb.Params {
		p := &st.verb.Params[i]
		by, ok := p.SchemaOf()
		if !ok || st.args.values[i].IsNull() || st.args.values[by].IsNull() {
			continue
		}
		s := st.verb.Params[by].Type.Codes.Schema(st.args.values[by].Text())
		if s == nil {
			return &complaint{st.call.index, wrongValue(st.call.place, p.Name, "nothing is declared for "+st.args.values[by].Text())}
		}
		found, err := s.Check(st.args.values[i])
		if err != nil {
			return &Failure{Err: fmt.Errorf("the schema %s: %w", s.Name, err)}
		}
		for _, b := range found {
			if p.FollowUps && s.Follows(b) {
				continue
			}
			what := strings.Join(b.Path, ".")
			if !b.Safe {
				b.Says = "does not satisfy its schema"
			}
			return &complaint{st.call.index, wrongValue(st.call.place, p.Name, cmp.Or(b.Wrong, strings.TrimSpace(what+" "+b.Says)))}
		}
		if st.verb.Moves() {
			for _, b := range s.OnDay(r.s.today(r.now), st.args.values[i]) {
				return &complaint{st.call.index, wrongValue(st.call.place, p.Name, cmp.Or(b.Wrong, strings.Join(b.Path, ".")+" "+b.Says))}
			}
		}
	}
	return nil
}

// rely guards a change with the fields of its row that requirements read: those of its call,
// and of the macros that it belongs to.
//
// A row that a condition picked has been read again since its requirement was evaluated. If it
// has changed, and no call of this run has changed it, another transaction did, and the run is
// tried again. others says that earlier calls changed something.
func rely(c *change, st *step, others bool) error {
	between := false // this run may have changed the row since it was looked at
	for s := st; s != nil; s = s.tree.outer {
		for i := range s.verb.Requires {
			if s.verb.Requires[i].That == nil {
				continue
			}
			for _, read := range s.verb.Requires[i].That.Reads {
				if read.Param < 0 || read.Path.Count != nil && len(read.Path.Steps) == 0 {
					continue
				}
				row := &s.args.rows[read.Param]
				if row.Entity != c.Entity || row.Key() != c.Key {
					continue
				}
				field := read.Path.Field
				if len(read.Path.Steps) > 0 {
					field = read.Path.Steps[0].Field
				}
				if !between && !stores.Equal(row.Values[field], c.Before[field]) {
					return fmt.Errorf("%s: %w", c.Entity.Name, stores.ErrConflict)
				}
				c.guard(field)
			}
		}
		between = between || others
	}
	return nil
}
