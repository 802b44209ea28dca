package expr

import (
	"errors"

	"verbatim/stores"
)

// A Condition is a condition on a row; its other side still has to be computed from the
// arguments.
type Condition struct {
	Op    stores.CondOp
	Kids  []Condition
	Path  stores.Path
	Other *stores.Path
	Lower bool     // compare the text in lower case
	Value *Program // the value that Path is compared with
	If    *Program // a condition without a row: true or false once the arguments are known
}

// Resolve evaluates everything that does not depend on the row, and returns the rest.
func (n *Condition) Resolve(env *Env) (stores.Cond, error) {
	if n.If != nil {
		v, err := n.If.Eval(env)
		switch {
		case err != nil && !errors.Is(err, ErrAbsent):
			return stores.Cond{}, err
		case v.Bool():
			return stores.Cond{Op: stores.True}, nil
		}
		return stores.Cond{Op: stores.False}, nil
	}
	c := stores.Cond{Op: n.Op, Path: n.Path, Other: n.Other, Lower: n.Lower}
	switch n.Op {
	case stores.And, stores.Or:
		// Parts that are already decided are left out; `include_completed or …` reads no status
		// if everything is asked for.
		stop, skip := stores.False, stores.True
		if n.Op == stores.Or {
			stop, skip = stores.True, stores.False
		}
		for i := range n.Kids {
			kid, err := n.Kids[i].Resolve(env)
			switch {
			case err != nil:
				return stores.Cond{}, err
			case kid.Op == stop:
				return kid, nil
			case kid.Op == skip:
			case kid.Op == n.Op:
				c.Kids = append(c.Kids, kid.Kids...)
			default:
				c.Kids = append(c.Kids, kid)
			}
		}
		switch len(c.Kids) {
		case 0:
			return stores.Cond{Op: skip}, nil
		case 1:
			return c.Kids[0], nil
		}
	case stores.Not:
		kid, err := n.Kids[0].Resolve(env)
		switch {
		case err != nil:
			return stores.Cond{}, err
		case kid.Op == stores.True:
			return stores.Cond{Op: stores.False}, nil
		case kid.Op == stores.False:
			return stores.Cond{Op: stores.True}, nil
		}
		c.Kids = []stores.Cond{kid}
	default:
		if n.Value != nil {
			v, err := n.Value.Eval(env)
			if err != nil && !errors.Is(err, ErrAbsent) {
				return stores.Cond{}, err
			}
			c.Value = v
			if v.IsNull() && n.Op >= stores.In {
				return stores.Cond{Op: stores.False}, nil
			}
		}
	}
	return c, nil
}
