package runtime

import (
	"context"

	"verbatim/stores"
)

// require holds a call against what its palette requires, as the rows stand
// after the calls before it. All rules that do not hold are told at once. A rule
// that cannot be worked out does not hold either; it is told only when no other
// is, because a rule may rely on those before it.
func (r *run) require(ctx context.Context, st *step) error {
	var unmet, unclear []complaint
	for i := range st.verb.Requires {
		rule := &st.verb.Requires[i]
		holds, err := r.eval(ctx, st, rule.That, nil)
		switch {
		case err != nil && (ctx.Err() != nil || isStoreError(err)):
			return err
		case err != nil || holds.Kind() != stores.Bool:
			unclear = append(unclear, complaint{st.index, requirementUnclear(st.place, st.verb.Name, rule)})
		case !holds.Bool():
			unmet = append(unmet, complaint{st.index, requirementNotMet(st.place, st.verb.Name, rule)})
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

// rely makes a change hold only while the fields of its row that requirements
// looked at are what they were: those of its call, and of the macros that it
// belongs to.
func (c *change) rely(st *step) {
	for ; st != nil; st = st.outer {
		for i := range st.verb.Requires {
			for _, read := range st.verb.Requires[i].That.Reads {
				if read.Param < 0 || read.Path.Count != nil && len(read.Path.Steps) == 0 {
					continue
				}
				row := &st.rows[read.Param]
				if row.Entity != c.Entity || row.Key() != c.Key {
					continue
				}
				if len(read.Path.Steps) > 0 {
					c.guard(read.Path.Steps[0].Field)
				} else {
					c.guard(read.Path.Field)
				}
			}
		}
	}
}
