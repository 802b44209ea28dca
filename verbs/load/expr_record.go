package load

import (
	"verbatim/verbs"
	"verbatim/verbs/expr"
)

// recordMember follows a path into a record, whose value base computes: to one of its parts, or
// along the reference in a part. param is the argument that holds it, and each says that the
// record is an item of that list.
func (c *exprChecker) recordMember(rec *verbs.Type, base *expr.Program, param int, each bool, n *expr.Node, path []*expr.Node) term {
	first := path[0]
	k := rec.FieldIndex(first.Text)
	if k < 0 {
		names := make([]string, len(rec.Fields))
		for i := range rec.Fields {
			names[i] = rec.Fields[i].Ident
		}
		return c.fail(tell(c.at(first.At, first.To), "unknown-field/record", first.Text, names))
	}
	f := &rec.Fields[k]
	switch {
	case len(path) == 1:
		t := typeTerm(f.Type)
		t.prog, t.part = expr.Part(rec.Part(k), base, k), f
		return t
	case f.Type.Name == verbs.RefType:
		path, last, ok := c.d.path(f.Type.Entity, c.n, path[1].At, c.text[path[1].At:n.To])
		if !ok || last.Type == nil {
			c.failed = true
			return bad
		}
		t := typeTerm(last.Type)
		t.prog = &expr.Program{From: expr.Read, Index: c.reading(verbs.ExprRead{Param: param, Part: k + 1, Each: each, Path: path})}
		return t
	case f.Type.Name == verbs.MoneyType && len(path) == 2:
		if is, ok := map[string]verbs.TypeName{"amount": verbs.DecimalType, "currency": verbs.CodeType}[path[1].Text]; ok {
			return c.apply(is, path[1].Text, term{name: verbs.MoneyType, prog: expr.Part(rec.Part(k), base, k)})
		}
		return c.fail(tell(c.at(path[1].At, path[1].To), "unknown-field/money", path[1].Text, []string{"amount", "currency"}))
	}
	return c.fail(tell(c.at(path[1].At, n.To), "type-mismatch/no-fields", f))
}
