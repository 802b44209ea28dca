package load

import (
	"slices"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/expr"
)

// overRow reports whether the store has to evaluate a term.
func (t *term) overRow() bool { return t.path != nil || t.cond != nil }

// condition returns a term that is true or false as a part of a filter.
func (t *term) condition() *expr.Condition {
	switch {
	case t.cond != nil:
		return t.cond
	case t.path != nil:
		return &expr.Condition{Op: stores.Eq, Path: *t.path, Value: &expr.Program{Value: stores.NewBool(true)}}
	}
	return &expr.Condition{If: t.prog}
}

// selects returns a condition of which the store has to evaluate a part.
func selects(op stores.CondOp, of ...term) term {
	node := &expr.Condition{Op: op}
	for i := range of {
		node.Kids = append(node.Kids, *of[i].condition())
	}
	return term{name: verbs.BooleanType, cond: node}
}

var compareOps = map[string]stores.CondOp{"==": stores.Eq, "!=": stores.Ne, "<": stores.Lt, "<=": stores.Le, ">": stores.Gt, ">=": stores.Ge, "in": stores.In}

// turned maps a comparison to the one with its sides exchanged.
var turned = map[stores.CondOp]stores.CondOp{stores.Eq: stores.Eq, stores.Ne: stores.Ne, stores.Lt: stores.Gt, stores.Le: stores.Ge, stores.Gt: stores.Lt, stores.Ge: stores.Le}

// keptAlike refuses comparisons that no store can make, because of the form in which a column
// stores its values.
func (c *exprChecker) keptAlike(n *expr.Node, op stores.CondOp, l, r term) bool {
	if c.sc.row == nil {
		return true
	}
	f := l.path.End(c.sc.row.Store)
	if f == nil || f.Name == "" {
		return true
	}
	if f.Spelling != nil && !f.Spelling.Ordered && op >= stores.Lt && op <= stores.Ge {
		c.fail(tell(c.place(n), "bad-form/order", f.Name, f.Spelling.Name))
		return false
	}
	if r.path == nil {
		return true
	}
	if o := r.path.End(c.sc.row.Store); o != nil && !f.Spelling.Same(o.Spelling) && (f.Codes == nil || o.Codes == nil) {
		c.fail(tell(c.place(n), "bad-form/compared", f.Name, o.Name))
		return false
	}
	return true
}

var textOps = map[string]stores.CondOp{"contains": stores.Contains, "startsWith": stores.Starts, "endsWith": stores.Ends, "==": stores.Same}

// textOfRow checks a text condition on a field of the row. It refuses sensitive fields: by enough
// questions a caller could find out the whole value.
func (c *exprChecker) textOfRow(n *expr.Node, op stores.CondOp, l, r term) term {
	f := l.path.End(c.sc.row.Store)
	switch {
	case op == stores.True, r.overRow(), r.name == nilType, !l.textual(), f == nil, f.Spelling != nil:
		return c.fail(tell(c.place(n), "not-a-filter", "this"))
	case sensitivePath(c.sc.row, *l.path):
		return c.fail(tell(c.place(n), "not-a-filter/sensitive", "a part of what is sensitive"))
	}
	return term{name: verbs.BooleanType, cond: &expr.Condition{Op: op, Path: *l.path, Lower: l.lower, Value: r.prog}}
}

// compareRow compares a field of the row with another value, which is converted to the kind of
// the field.
func (c *exprChecker) compareRow(n *expr.Node, l, r term) term {
	if l.cond != nil || r.cond != nil {
		return c.fail(tell(c.place(n), "not-a-filter", "this"))
	}
	if l.lower || r.lower {
		if r.lower {
			l, r = r, l
		}
		return c.textOfRow(n, textOps[n.Op], l, r)
	}
	op := compareOps[n.Op]
	if l.path == nil {
		l, r, op = r, l, turned[op]
	}
	if !c.keptAlike(n, op, l, r) {
		return bad
	}
	node := &expr.Condition{Op: op, Path: *l.path, Other: r.path}
	if r.path == nil {
		if l.name == verbs.DecimalType {
			r = widen(r)
		}
		node.Value = r.prog
	}
	return term{name: verbs.BooleanType, cond: node}
}

// halves reports whether a filter compares the order of a sensitive field with a caller's value:
// each answer would halve the range of possible values.
func halves(n *expr.Condition, e *verbs.Entity) bool {
	if said := false; n.Op >= stores.Lt && n.Op <= stores.Ge && sensitivePath(e, n.Path) {
		n.Value.Uses(func(from expr.Source, _ int) { said = said || from == expr.Argument })
		if said {
			return true
		}
	}
	return slices.ContainsFunc(n.Kids, func(k expr.Condition) bool { return halves(&k, e) })
}

// unprobed reports selections and orders of a read that would reveal sensitive values.
func (d *doc) unprobed(e *verbs.Entity, f mapping, filter *verbs.Filter, order []stores.Order) {
	if filter != nil && halves(&filter.Root, e) {
		d.report(tell(d.place(f.at("where").value), "not-a-filter/sensitive", "the order of what is sensitive"))
	}
	if slices.ContainsFunc(order, func(o stores.Order) bool { return sensitivePath(e, o.Path) }) {
		d.report(tell(d.place(f.at("order").value), "contradiction", "the order of rows would tell what is sensitive", "order by other fields", dsl.Place{}, ""))
	}
}

// andKey adds the condition that the row is the one that an argument refers to.
func andKey(f *verbs.Filter, e *verbs.Entity, param int, place dsl.Place) *verbs.Filter {
	key := expr.Condition{
		Op:    stores.Eq,
		Path:  stores.Path{Field: e.Store.Key},
		Value: &expr.Program{From: expr.Argument, Index: param},
	}
	if f == nil {
		return &verbs.Filter{Text: "row." + e.Store.Fields[e.Store.Key].Name, Place: place, Root: key}
	}
	and := *f
	and.Root = expr.Condition{Op: stores.And, Kids: []expr.Condition{key, f.Root}}
	return &and
}
