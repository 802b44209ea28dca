package verbs

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/expr"
)

// A Total is one value worked out from several rows: how many there are, the sum, the
// least or the greatest of a field of theirs, or whether there are some, or none, or That
// holds for all. The rows are those that a list of references
// names, or those that a filter picks and that belong to the row of an argument or stand in
// such a list: what is counted cannot change before the call is committed.
type Total struct {
	Name   string
	Kind   TotalKind
	Entity *Entity
	Field  int // of sums, minima and maxima
	Where  *Where
	That   *Filter // of AllTotal
	By     int     // of a filter: the field by which the rows belong to the row of an argument; -1 where they stand in a list argument, all of whose rows are held
	Type   *Type
	Scale  int // of AverageTotal: to so many digits after the point
	Place  dsl.Place
}

// A TotalKind says what a total is.
type TotalKind uint8

// The totals. Of no rows, a count and a sum are 0, and the others are absent.
const (
	CountTotal TotalKind = iota
	SumTotal
	MinTotal
	MaxTotal
	SomeTotal    // there is one
	NoneTotal    // there is none
	AllTotal     // there is none for which That does not hold
	AverageTotal // of what is not absent; in reads
)

var totalWords = [...]string{CountTotal: "count", SumTotal: "sum", MinTotal: "min", MaxTotal: "max", SomeTotal: "some", NoneTotal: "none", AllTotal: "all", AverageTotal: "average"}

// OfField reports whether a total is worked out from a field of the rows, and not from
// the rows alone.
func (k TotalKind) OfField() bool { return k >= SumTotal && k <= MaxTotal || k == AverageTotal }

// Asks reports whether a total is true or false.
func (k TotalKind) Asks() bool { return k >= SomeTotal && k <= AllTotal }

func (k TotalKind) String() string { return totalWords[k] }

// fits reports whether values of a type can be added, or compared.
func (k TotalKind) fits(t TypeName) bool {
	return k.OfField() && (t == IntegerType || t == DecimalType) || (k == MinTotal || k == MaxTotal) && (t == DateType || t == DateTimeType)
}

// A Reckoning is a total on its way: what it comes to so far, and of how many values.
type Reckoning struct {
	of *Total
	so stores.Value
	n  int64
}

// Begin begins a total, of no rows.
func (t *Total) Begin() Reckoning {
	r := Reckoning{of: t}
	switch {
	case t.Kind == MinTotal || t.Kind == MaxTotal:
	case t.Type.Name == DecimalType:
		r.so, _ = stores.ParseDecimal("0")
	default:
		r.so = stores.NewInt(0)
	}
	return r
}

// Add takes in one row more, by the value of its field. One that is absent changes nothing.
func (r *Reckoning) Add(v stores.Value) (err error) {
	if v.IsNull() && r.of.Kind != CountTotal {
		return nil
	}
	switch r.n++; r.of.Kind {
	case CountTotal:
	case SumTotal, AverageTotal:
		r.so, err = expr.Functions["+"](r.so, v)
	default:
		order, _ := stores.Compare(v, r.so)
		if r.so.IsNull() || order < 0 && r.of.Kind == MinTotal || order > 0 && r.of.Kind == MaxTotal {
			r.so = v
		}
	}
	return err
}

// Value is what it comes to.
func (r *Reckoning) Value() (stores.Value, error) {
	switch {
	case r.of.Kind == CountTotal:
		return stores.NewInt(r.n), nil
	case r.of.Kind != AverageTotal:
		return r.so, nil
	case r.n == 0:
		return stores.Value{}, nil
	}
	return expr.Divides(r.of.Scale)(r.so, stores.NewInt(r.n))
}

// Line is a total as the palette words it.
func (t *Total) Line(v *Verb) string {
	what := t.Entity.Store.Name
	if t.Kind.OfField() {
		what += "." + t.Entity.Store.Fields[t.Field].Name
	}
	switch t.Kind {
	case SomeTotal:
		return "some " + t.Where.line(what, v)
	case NoneTotal:
		return "no " + t.Where.line(what, v)
	case AllTotal:
		return "each " + t.Where.line(what, v) + ": " + t.That.Line()
	}
	return totalWords[t.Kind] + " of " + t.Where.line(what, v)
}

// totals reads the values that a verb works out from several rows.
func (l *loader) totals(vn *verbNode) {
	d, v := vn.d, vn.v
	d.each(vn.f.at("totals"), func(n *yaml.Node) {
		f, ok := d.fields(n, "total")
		if !ok || f.at("name").value == nil {
			return
		}
		name := f.at("name").value
		d.name(name, "total")
		t := Total{Name: underscored(name.Value), Place: d.place(name)}
		if isReserved(t.Name) {
			d.report(tell(t.Place, "reserved-word", "total", name.Value))
		}
		if i := v.param(t.Name); i >= 0 {
			d.report(tell(t.Place, "declared-twice", "argument", name.Value, v.Params[i].Place))
			return
		}
		if i := slices.IndexFunc(v.Totals, func(o *Total) bool { return o.Name == t.Name }); i >= 0 {
			d.report(tell(t.Place, "declared-twice", "total", name.Value, v.Totals[i].Place))
			return
		}
		if l.total(vn, &t, n, f) {
			v.Totals = append(v.Totals, &t)
		}
	})
}

// total reads what a total is of: exactly one key says its kind.
func (l *loader) total(vn *verbNode, t *Total, n *yaml.Node, f mapping) bool {
	d := vn.d
	var of pair
	for kind, word := range totalWords {
		if p := f.at(word); p.value != nil {
			if of.key != nil {
				d.report(tell(d.place(p.key), "two-effects", word, of.key.Value))
				return false
			}
			of, t.Kind = p, TotalKind(kind)
		}
	}
	if of.key == nil {
		d.report(say.missingKey(d.place(n), "total", "count"))
		return false
	}
	if f.at("where").value == nil {
		d.report(say.missingKey(d.place(n), "total", "where"))
		return false
	}
	if !l.totalOf(vn, t, of.value) || !l.totalWhere(vn, t, f.at("where").value) {
		return false
	}
	that := f.at("that")
	switch {
	case t.Kind != AllTotal && that.key != nil:
		d.report(say.operandDoesNotApply(d.place(that.key), "that", totalWords[t.Kind]))
		return false
	case t.Kind == AllTotal && that.value == nil:
		d.report(say.missingKey(d.place(n), "total", "that"))
		return false
	case t.Kind == AllTotal:
		t.That = l.filter(d, that.value, scope{verb: vn.v, row: t.Entity})
		return t.That != nil
	}
	return true
}

// totalOf reads what is counted or added: an entity, or a field of one.
func (l *loader) totalOf(vn *verbNode, t *Total, n *yaml.Node) bool {
	d := vn.d
	name, field, dotted := strings.Cut(n.Value, ".")
	switch t.Entity = l.entityNamed[name]; {
	case t.Entity == nil:
		d.report(tell(d.within(n, 0, len(name)), "unknown-entity", name, l.entities))
		return false
	case t.Entity.broken:
		return false
	case dotted != t.Kind.OfField():
		d.report(tell(d.place(n), "bad-operand/total", totalWords[t.Kind], t.Entity))
		return false
	case t.Kind == CountTotal:
		t.Type = plainTypes[IntegerType]
		return true
	case t.Kind.Asks():
		t.Type = plainTypes[BooleanType]
		return true
	}
	place := d.within(n, len(name)+1, len(n.Value))
	t.Field = t.Entity.field(field)
	if t.Field < 0 {
		d.report(tell(place, "unknown-field", t.Entity, field))
		return false
	}
	switch t.Type = t.Entity.Fields[t.Field].Type; {
	case t.Type == nil:
		return false
	case !t.Kind.fits(t.Type.Name):
		d.report(tell(place, "type-mismatch/total", totalWords[t.Kind], field))
		return false
	}
	return true
}

func (l *loader) totalWhere(vn *verbNode, t *Total, n *yaml.Node) (ok bool) {
	if t.Where = l.where(vn, n, scope{verb: vn.v, row: t.Entity}); t.Where == nil {
		return false
	}
	if _, one := t.Where.One(); one {
		vn.d.report(tell(vn.d.place(n), "type-mismatch/each", &vn.v.Params[t.Where.Param]))
		return false
	}
	if t.Where.Filter == nil {
		return true
	}
	root := t.Where.Filter.root
	if t.By, ok = root.belongs(t.Entity, vn.v); !ok {
		if t.By, ok = -1, root.among(t.Entity, vn.v); !ok {
			vn.d.report(say.heldByNobody(vn.d.place(n), vn.v, t.Entity))
		}
	}
	return ok
}

// among reports whether each row that a filter picks stands in a list of references that is
// always given.
func (n *filterNode) among(e *Entity, v *Verb) bool {
	if n.op == stores.And {
		return slices.ContainsFunc(n.kids, func(kid filterNode) bool { return kid.among(e, v) })
	}
	if n.cond != nil || n.op != stores.In || len(n.path.Steps) > 0 || n.path.Count != nil || n.path.Field != e.Store.Key || n.value == nil || n.value.From != expr.Argument {
		return false
	}
	p := &v.Params[n.value.Index]
	return p.Required && p.Type != nil && p.Type.Item != nil && p.Type.Item.Entity == e
}
