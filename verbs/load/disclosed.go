package load

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/naming"
)

// discloses reads the values that a caller is told about rows that they do not see. Only these
// expressions may use the names of totals over such rows, so that they are disclosed in no other
// way, and each disclosed value is one of few.
func (l *loader) discloses(vn *verbNode) {
	d, v := vn.d, vn.v
	looks, list := vn.f.at("looks"), vn.f.at("discloses")
	d.items(looks, func(n *yaml.Node) {
		switch e := l.entityAt(d, n); {
		case e == nil:
		case slices.Contains(v.Looks, e):
			d.report(tell(d.place(n), "declared-twice/listed", n.Value, "looks"))
		default:
			v.Looks = append(v.Looks, e)
		}
	})
	given := false
	d.each(list, func(n *yaml.Node) {
		f, ok := d.fields(n, "disclosed")
		if !ok || f.at("name").value == nil {
			return
		}
		name := f.at("name").value
		d.name(name, "disclosed value")
		x := verbs.Disclosed{Name: naming.Underscored(name.Value), Place: d.place(name)}
		first := slices.IndexFunc(v.Discloses, func(o verbs.Disclosed) bool { return o.Name == x.Name })
		switch {
		case naming.IsReserved(x.Name):
			d.report(tell(x.Place, "reserved-word", "disclosed value", name.Value))
			return
		case v.ParamNamed(x.Name) >= 0:
			d.report(tell(x.Place, "declared-twice", "argument", name.Value, v.Params[v.ParamNamed(x.Name)].Place))
			return
		case first >= 0:
			d.report(tell(x.Place, "declared-twice", "disclosed value", name.Value, v.Discloses[first].Place))
			return
		case slices.ContainsFunc(v.Totals, func(t *verbs.Total) bool { return t.Name == x.Name }):
			d.report(tell(x.Place, "declared-twice", "total", name.Value, x.Place))
			return
		}
		if x.Type = l.alone(d, l.typeOf(d, f, n, "disclosed value"), f.at("country")); x.Type == nil {
			return
		}
		x.Withheld, x.Fresh, x.SealedFor = f.boolean("withheld"), f.boolean("fresh"), -1
		if s := f.at("sealed").value; s != nil && !l.sealed(vn, &x, s) {
			return
		}
		is := f.at("is")
		if x.Fresh {
			for _, key := range [...]string{"is", "withheld", "sealed"} {
				if k := f.at(key).key; k != nil {
					d.report(tell(d.place(k), "contradiction", "a value that is made up tells nothing", "leave "+key+" out", x.Place, x.Name+" is declared here"))
					return
				}
			}
			if x.Type.Name != verbs.StringType {
				d.report(tell(d.place(f.at("type").value), "contradiction", "what is made up is a string", "write type: string", x.Place, x.Name+" is declared here"))
				return
			}
			v.Discloses = append(v.Discloses, x)
			return
		}
		given = given || is.key == nil
		switch {
		case is.key != nil && is.value == nil:
			return
		case is.key == nil && looks.key == nil:
			d.report(tell(d.place(name), "beyond-its-caller/unsaid", x.Name))
			return
		case is.key != nil && (x.Withheld || x.SealedFor >= 0):
			d.report(tell(d.place(is.key), "contradiction", x.Name+" is not told as it is, and this works it out of what may be told", "leave is out: the Go function that looks gives it", x.Place, x.Name+" is declared here"))
			return
		case x.Withheld && x.SealedFor >= 0:
			d.report(tell(d.place(f.at("sealed").key), "contradiction", "a value that is withheld is sealed for nobody", "leave one of the two out", x.Place, x.Name+" is declared here"))
			return
		case x.Withheld, x.SealedFor >= 0:
			v.Discloses = append(v.Discloses, x)
			return
		case !closed(x.Type):
			d.report(tell(d.place(f.at("type").value), "open-disclosure", x.Name))
			return
		case is.key == nil:
			v.Discloses = append(v.Discloses, x)
			return
		}
		if x.Is = l.compile(d, f.at("is").value, scope{verb: v, beyond: true}, want{is: x.Type, name: "disclosed value " + x.Name}, nil); x.Is != nil {
			v.Discloses = append(v.Discloses, x)
		}
	})
	d.filled(list)
	if looks.key != nil && !given {
		d.report(tell(d.place(looks.key), "beyond-its-caller/unlooked", v.Name))
	}
	if len(v.Discloses) > 0 && vn.f.at("limits").key == nil {
		d.report(tell(d.place(list.key), "asked-without-end", v.Name))
	}
}

// sealed reads for whom a value is encrypted, and what the encryption is bound to.
func (l *loader) sealed(vn *verbNode, x *verbs.Disclosed, n *yaml.Node) (ok bool) {
	d, v := vn.d, vn.v
	f, ok := d.fields(n, "sealed")
	if !ok || f.at("for").value == nil {
		return false
	}
	argument := func(n *yaml.Node) int {
		i := d.paramAt(v, n)
		if i < 0 {
			d.report(unknownArgument(d.place(n), v, n.Value))
			ok = false
		} else if !v.Params[i].Sure() {
			d.report(tell(d.place(n), "contradiction", ":"+v.Params[i].Name+" may be left out, and the seal needs it", "require it", v.Params[i].Place, "it is declared here"))
			ok = false
		}
		return i
	}
	if x.SealedFor = argument(f.at("for").value); x.SealedFor >= 0 && ok && v.Params[x.SealedFor].Type == nil {
		ok = false // an error of the type is reported elsewhere
	} else if x.SealedFor >= 0 && ok && v.Params[x.SealedFor].Type.Name != verbs.StringType {
		d.report(tell(d.place(f.at("for").value), "type-mismatch/seal", &v.Params[x.SealedFor]))
		ok = false
	}
	d.items(f.at("bound"), func(n *yaml.Node) { x.Bound = append(x.Bound, argument(n)) })
	return ok
}

// closed reports whether a type has few values.
func closed(t *verbs.Type) bool {
	switch t.Name {
	case verbs.BooleanType:
		return true
	case verbs.CodeType:
		return t.Codes != nil
	case verbs.IntegerType, verbs.DecimalType:
		steps, ok := stores.Arith('-', t.Max, t.Min)
		for range max(t.Scale, 0) {
			if ok {
				steps, ok = stores.Arith('*', steps, stores.NewInt(10))
			}
		}
		order, _ := stores.Compare(steps, stores.NewInt(mostDisclosed))
		return ok && order < 0 && (t.Name == verbs.IntegerType || t.Scale >= 0)
	}
	return false
}

// mostDisclosed is how many values a disclosed number may have.
const mostDisclosed = 10_000

// disclosed resolves a name to a disclosed value, if it is one.
func (c *exprChecker) disclosed(n *expr.Node, name string) (term, bool) {
	i := slices.IndexFunc(c.sc.verb.Discloses, func(x verbs.Disclosed) bool { return naming.Same(x.Name, name) })
	if i < 0 {
		return bad, false
	}
	if c.sc.verb.Discloses[i].Withheld && !c.sc.namesSensitive {
		return c.fail(tell(c.place(n), "withheld-told", name)), true
	}
	t := typeTerm(c.sc.verb.Discloses[i].Type)
	t.prog = &expr.Program{From: expr.Read, Index: c.reading(verbs.ExprRead{Param: verbs.OfDisclosed, Path: stores.Path{Field: i}})}
	return t, true
}
