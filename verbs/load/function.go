package load

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/naming"
)

type functionNode struct {
	d  *doc
	f  mapping
	fn *verbs.Function
}

// declareFunction records the name of a function.
func (l *loader) declareFunction(d *doc, n *yaml.Node) {
	f, ok := d.fields(n, "function")
	if !ok || f.at("name").value == nil {
		return
	}
	name := f.at("name").value
	fn := &verbs.Function{Name: name.Value, Description: f.text("description"), Place: d.place(name)}
	d.name(name, "function")
	first := slices.IndexFunc(l.functions, func(o functionNode) bool { return naming.Same(o.fn.Name, fn.Name) })
	switch {
	case first >= 0:
		d.report(tell(fn.Place, "declared-twice", "function", fn.Name, l.functions[first].fn.Place))
	case slices.Contains(functionNames, naming.Underscored(fn.Name)):
		d.report(tell(fn.Place, "reserved-word", "function", fn.Name))
	default:
		l.functions = append(l.functions, functionNode{d, f, fn})
	}
}

// signatures reads the argument and result types of functions, once codes and entities are known,
// and sorts the functions.
func (l *loader) signatures() {
	for _, n := range l.functions {
		n.d.each(n.f.at("takes"), func(of *yaml.Node) {
			n.fn.Takes = append(n.fn.Takes, l.itemType(n.d, pair{value: of}, of))
		})
		n.fn.Gives = l.itemType(n.d, n.f.at("gives"), n.f.at("gives").value)
	}
	slices.SortStableFunc(l.functions, func(a, b functionNode) int { return strings.Compare(a.fn.Name, b.fn.Name) })
}

// outside checks the call of a function that a palette declares.
func (c *exprChecker) outside(n *expr.Node) (t term, ok bool) {
	i := slices.IndexFunc(c.l.functions, func(o functionNode) bool { return naming.Underscored(o.fn.Name) == n.Text })
	if i < 0 {
		return bad, false
	}
	fn := c.l.functions[i].fn
	if len(n.Kids) != len(fn.Takes) {
		return c.fail(tell(c.place(n), "bad-expression/several", n.Text, len(fn.Takes), len(n.Kids))), true
	}
	programs := make([]*expr.Program, len(n.Kids))
	for i, kid := range n.Kids {
		is := fn.Takes[i]
		if is == nil || fn.Gives == nil {
			return bad, true // it was reported
		}
		t := c.check(kid, wanted(is))
		switch {
		case t.name == badType:
			return bad, true
		case t.overRow():
			return c.fail(tell(c.place(n), "not-a-filter", "what a function makes of it")), true
		}
		if t = c.assign(kid, t, want{is: is, name: "what " + n.Text + " takes", required: true}); t.name == badType {
			return bad, true
		}
		c.needs(kid, t)
		programs[i] = t.prog
	}
	t = typeTerm(fn.Gives)
	t.prog = expr.CallOutside(i, programs)
	return t, true
}
