package load

import (
	"cmp"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs"
)

// maxAlong is how many rows such a read returns at most, if it sets no limit.
const maxAlong = 1000

// along reads the row at which a read begins, and the reference that it follows: a field of the
// entity that refers to its own kind (to the row that it refers to), ENTITY.FIELD of the same
// entity (to the rows that refer to it), or ENTITY.FIELD.OTHER of rows that link two of them.
func (l *loader) along(vn *verbNode, r *verbs.Read, f mapping) {
	d, v, ent := vn.d, vn.v, r.Entity
	from, by := f.at("from"), f.at("along")
	if from.value == nil || by.value == nil {
		at := from.key
		if at == nil {
			at = by.key
		}
		d.report(tell(d.place(at), "contradiction", "a read goes from a row along a reference", "say both from and along", dsl.Place{}, ""))
		return
	}
	for _, key := range [...]string{"one", "after", "matching"} {
		if p := f.at(key); p.key != nil {
			d.report(tell(d.place(p.key), "contradiction", "what a reference leads to is not one row, a page or what fits best", "leave "+key+" out, or from and along", dsl.Place{}, ""))
			return
		}
	}
	a := &verbs.Along{From: d.paramAt(v, from.value), Entity: ent, Here: ent.Store.Key}
	switch i := a.From; {
	case i < 0:
		d.report(unknownArgument(d.place(from.value), v, from.value.Value))
		return
	case v.Params[i].Type == nil:
		return
	case v.Params[i].Type.Name != verbs.RefType || v.Params[i].Type.Entity != ent:
		d.report(tell(d.place(from.value), "type-mismatch/where-not-reference", &v.Params[i], ent))
		return
	case !v.Params[i].Required && !v.Params[i].Active:
		d.report(tell(d.place(from.value), "contradiction", "a read goes from a row, and :"+v.Params[i].Name+" may be left out", "say that :"+v.Params[i].Name+" is required", dsl.Place{}, ""))
		return
	}
	n := by.value
	parts := strings.Split(n.Value, ".")
	at := 0
	refers := func(name string) int {
		i := d.fieldWithin(a.Entity, n, at, name)
		if i >= 0 && (a.Entity.Fields[i].Type == nil || a.Entity.Fields[i].Type.Name != verbs.RefType || a.Entity.Fields[i].Type.Entity != ent) {
			d.report(countNotReference(d.within(n, at, at+len(name)), a.Entity, name, ent))
			i = -1
		}
		at += len(name) + 1
		return i
	}
	if len(parts) > 1 {
		if a.Entity = l.entityWithin(d, n, 0, parts[0]); a.Entity == nil {
			return
		}
		at = len(parts[0]) + 1
	}
	switch {
	case len(parts) == 1:
		a.There = refers(parts[0])
	case len(parts) == 2 && a.Entity == ent:
		a.Here, a.There = refers(parts[1]), ent.Store.Key
	case len(parts) == 3 && a.Entity != ent:
		a.Here, a.There = refers(parts[1]), refers(parts[2])
	default:
		d.report(tell(d.place(n), "bad-form/along", n.Value, ent))
		return
	}
	if a.Here < 0 || a.There < 0 {
		return
	}
	if a.Here == a.There {
		d.report(tell(d.place(n), "bad-form/along", n.Value, ent))
		return
	}
	r.Limit = cmp.Or(r.Limit, maxAlong)
	r.Along = a
}
