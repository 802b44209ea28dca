package verbs

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/stores"
	"verbatim/verbs/expr"
)

// discloses reads what a caller is told of rows that they do not see. What such rows come
// to has a name that nothing but these expressions may say, so that it has one way out,
// and what comes out there is one of few values.
func (l *loader) discloses(vn *verbNode) {
	d, v := vn.d, vn.v
	list := vn.f.at("discloses")
	d.each(list, func(n *yaml.Node) {
		f, ok := d.fields(n, "disclosed")
		if !ok || f.at("name").value == nil {
			return
		}
		name := f.at("name").value
		d.name(name, "disclosed value")
		x := Disclosed{Name: underscored(name.Value), Place: d.place(name)}
		first := slices.IndexFunc(v.Discloses, func(o Disclosed) bool { return o.Name == x.Name })
		switch {
		case isReserved(x.Name):
			d.report(tell(x.Place, "reserved-word", "disclosed value", name.Value))
			return
		case v.param(x.Name) >= 0:
			d.report(tell(x.Place, "declared-twice", "argument", name.Value, v.Params[v.param(x.Name)].Place))
			return
		case first >= 0:
			d.report(tell(x.Place, "declared-twice", "disclosed value", name.Value, v.Discloses[first].Place))
			return
		case slices.ContainsFunc(v.Totals, func(t *Total) bool { return t.Name == x.Name }):
			d.report(tell(x.Place, "declared-twice", "total", name.Value, x.Place))
			return
		}
		if x.Type = l.typeOf(d, f, n, "disclosed value"); x.Type == nil || f.at("is").value == nil {
			return
		}
		if !x.Type.closed() {
			d.report(tell(d.place(f.at("type").value), "open-disclosure", x.Name))
			return
		}
		if x.Is = l.compile(d, f.at("is").value, scope{verb: v, beyond: true}, want{is: x.Type, name: "disclosed value " + x.Name}, nil); x.Is != nil {
			v.Discloses = append(v.Discloses, x)
		}
	})
	if list.value != nil && len(list.value.Content) == 0 {
		d.report(tell(d.place(list.key), "nothing-written/list", "discloses"))
	}
	if len(v.Discloses) > 0 && vn.f.at("limits").key == nil {
		d.report(tell(d.place(list.key), "asked-without-end", v.Name))
	}
}

// closed reports whether there are few values of a type.
func (t *Type) closed() bool {
	switch t.Name {
	case BooleanType:
		return true
	case CodeType:
		return t.Codes != nil
	case IntegerType, DecimalType:
		steps, ok := stores.Arith('-', t.Max, t.Min)
		for range max(t.Scale, 0) {
			if ok {
				steps, ok = stores.Arith('*', steps, stores.NewInt(10))
			}
		}
		order, _ := stores.Compare(steps, stores.NewInt(mostDisclosed))
		return ok && order < 0 && (t.Name == IntegerType || t.Scale >= 0)
	}
	return false
}

// mostDisclosed is how many values a number that is disclosed may have.
const mostDisclosed = 10_000

// disclosed makes a name a value that is disclosed, if it is one.
func (c *exprChecker) disclosed(name string) (term, bool) {
	i := slices.IndexFunc(c.sc.verb.Discloses, func(x Disclosed) bool { return sameName(x.Name, name) })
	if i < 0 {
		return bad, false
	}
	t := typeTerm(c.sc.verb.Discloses[i].Type)
	t.prog = &expr.Program{From: expr.Read, Index: c.reading(ExprRead{Param: OfDisclosed, Path: stores.Path{Field: i}})}
	return t, true
}
