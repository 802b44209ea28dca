package verbs

import (
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/verbs/naming"
)

// A result describes what a call returns to users of its `:as` name: a row, and fields. The
// checker refuses `@x.field` only if it knows all of them.
type result struct {
	row    *Entity // the row that `@x` means, nil if it means none
	fields []resultField
	open   bool // there may be other fields
}

type resultField struct {
	name string
	is   meaning
}

// A meaning is what the checker knows of a value that is computed only at run time: its type, as
// far as that is known. The zero meaning is unknown.
type meaning struct {
	known bool
	name  TypeName
	row   *Entity   // of a reference
	codes *CodeList // of a code
	list  bool      // a list of values with this meaning
}

func meaningOf(t *Type) meaning {
	switch {
	case t == nil || t.Name == AnyType:
		return meaning{}
	case t.Name == ListType:
		m := meaningOf(t.Item)
		if m.list { // the items of a list of lists are unknown
			m = meaning{}
		}
		m.list, m.known = true, true
		return m
	}
	return meaning{known: true, name: t.Name, row: t.Entity, codes: t.Codes}
}

var kindTypes = [...]TypeName{
	stores.Bool: BooleanType, stores.Int: IntegerType, stores.Decimal: DecimalType, stores.String: StringType,
	stores.Date: DateType, stores.Time: DateTimeType, stores.Duration: DurationType, stores.UUID: UUIDType,
}

func meaningOfKind(k stores.Kind) meaning {
	if int(k) >= len(kindTypes) || kindTypes[k] == AnyType {
		return meaning{}
	}
	return meaning{known: true, name: kindTypes[k]}
}

// resultOf determines what a verb returns: the columns of its read or query; otherwise the row
// that it creates, or else the row that it changes by reference, with the fields of its
// `returns`.
func (r *Registry) resultOf(v *Verb) result {
	switch {
	case v.Read != nil:
		var res result
		if v.Read.One {
			res.row = v.Read.Entity
		}
		for _, f := range v.Read.Fields {
			res.fields = append(res.fields, resultField{f.Name, r.meaningOfField(v.Read, &f)})
		}
		res.open = len(res.fields) == 0
		return res
	case v.Query != nil:
		var res result
		for i, col := range v.Query.Columns {
			is := meaningOfKind(col.Kind)
			if i < len(v.Query.Types) && v.Query.Types[i] != nil {
				is = meaningOf(v.Query.Types[i])
			}
			res.fields = append(res.fields, resultField{col.Name, is})
		}
		res.open = len(res.fields) == 0
		return res
	case len(v.Discloses) > 0 && !v.Handler:
		res := result{row: changedRow(v)}
		for i := range v.Discloses {
			if x := &v.Discloses[i]; x.Tells() {
				res.fields = append(res.fields, resultField{x.Name, meaningOf(x.Type)})
			}
		}
		return res
	case v.Tool != nil && len(v.Tool.Columns) > 0:
		res := result{row: changedRow(v)}
		for i, col := range v.Tool.Columns {
			res.fields = append(res.fields, resultField{col.Name, meaningOf(v.Tool.Types[i])})
		}
		return res
	}
	res := result{row: changedRow(v), open: v.Macro != nil || v.Tool != nil || v.Handler}
	for _, name := range v.Returns.Includes {
		res.fields = append(res.fields, resultField{name: name})
	}
	if res.row == nil && len(res.fields) == 0 {
		res.open = true
	}
	return res
}

func changedRow(v *Verb) *Entity {
	for i := range v.Effects {
		if e := &v.Effects[i]; e.Kind == Creates && !e.May && e.Entity != nil {
			return e.Entity
		}
	}
	for i := range v.Effects {
		if e := &v.Effects[i]; e.Kind == Updates && e.Entity != nil && e.Where != nil {
			if _, one := e.Where.One(); one {
				return e.Entity
			}
		}
	}
	return nil
}

// meaningOfField returns the meaning of a returned field.
func (r *Registry) meaningOfField(read *Read, f *ReadField) meaning {
	if f.Over != nil {
		return meaningOf(f.Type)
	}
	switch f.From {
	case FromExpr, FromTotal:
		return meaningOf(f.Type)
	case FromCodes:
		if f.Type.Name == ListType {
			return meaning{known: true, name: ObjectType, list: true}
		}
		return meaning{known: true, name: StringType}
	case FromList:
		return meaning{known: true, name: ObjectType, list: true}
	case FromCount:
		return meaning{known: true, name: IntegerType}
	case FromProgress:
		switch f.Part {
		case ProgressStages, ProgressStage:
			codes := read.Entity.Progress.Steps.Fields[read.Entity.Progress.Stage].Type.Codes
			return meaning{known: true, name: CodeType, codes: codes, list: f.Part == ProgressStages}
		}
		return meaning{known: true, name: IntegerType}
	}
	return r.meaningOfPath(read.Entity, f.Path)
}

func (r *Registry) meaningOfPath(e *Entity, p stores.Path) meaning {
	if p.Count != nil {
		return meaning{known: true, name: IntegerType}
	}
	for _, step := range p.Steps {
		e = r.EntityOf(step.To)
	}
	if e == nil || p.Field < 0 || p.Field >= len(e.Fields) {
		return meaning{}
	}
	return e.meaningOfField(p.Field)
}

// meaningOfField returns the meaning of a field; the key of an entity is a reference to it.
func (e *Entity) meaningOfField(i int) meaning {
	if i == e.Store.Key {
		return meaning{known: true, name: RefType, row: e}
	}
	return meaningOf(e.Fields[i].Type)
}

// A lost describes a path step that leads nowhere, because there is no field of that name.
type lost struct {
	step  string   // "due-dat"
	of    string   // "outstanding-request", or "what client.add-note returns"
	among []string // the existing fields; nil if the value before the step has no fields
}

// at follows a path such as "entity.name" from a row. The meaning is unknown, and lost is nil, if
// the path leaves what palettes declare.
func (e *Entity) at(path string) (meaning, *lost) {
	for {
		step, rest, more := strings.Cut(path, ".")
		i := e.FieldNamed(step)
		if i < 0 {
			return meaning{}, &lost{step: step, of: e.Store.Name, among: e.Names()}
		}
		m := e.meaningOfField(i)
		if !more {
			return m, nil
		}
		if i == e.Store.Key || m.list || m.known && m.name != RefType && m.name != ObjectType && m.name != MoneyType {
			next, _, _ := strings.Cut(rest, ".")
			return meaning{}, &lost{step: next, of: e.Store.Name + "." + e.Store.Fields[i].Name}
		}
		if m.row == nil {
			return meaning{}, nil
		}
		e, path = m.row, rest
	}
}

// at follows a path from the result of a call; "" is the whole result.
func (res *result) at(verb, path string) (meaning, *lost) {
	if path == "" {
		if res.row != nil {
			return meaning{known: true, name: RefType, row: res.row}, nil
		}
		return meaning{}, nil
	}
	step, rest, more := strings.Cut(path, ".")
	for i := range res.fields {
		if f := &res.fields[i]; naming.Same(f.name, step) {
			switch {
			case !more:
				return f.is, nil
			case f.is.row != nil && !f.is.list:
				return f.is.row.at(rest)
			}
			return meaning{}, nil
		}
	}
	if res.row != nil {
		m, no := res.row.at(path)
		if no == nil || !res.open && (no.step != step || len(res.fields) == 0) {
			return m, no
		}
	}
	if res.open {
		return meaning{}, nil
	}
	no := &lost{step: step, of: "what " + verb + " returns"}
	for _, f := range res.fields {
		no.among = append(no.among, f.name)
	}
	if res.row != nil {
		for _, name := range res.row.Names() {
			if !slices.Contains(no.among, name) {
				no.among = append(no.among, name)
			}
		}
	}
	return meaning{}, no
}

// fits reports whether a value of this meaning may be used where t is wanted. An unknown meaning
// fits: the value itself is checked at run time.
func (m meaning) fits(t *Type) bool {
	if !m.known || t == nil || t.Name == AnyType {
		return true
	}
	if m.list || t.Name == ListType {
		if !m.list || t.Name != ListType {
			return false
		}
		m.list = false
		m.known = m.name != AnyType
		return m.fits(t.Item)
	}
	switch t.Name {
	case RefType:
		switch m.name {
		case RefType:
			return m.row == nil || t.Entity == nil || m.row == t.Entity
		case UUIDType, StringType:
			// It may be a key that a query returned, or one stored as text.
			return true
		}
		return false
	case UUIDType:
		return m.name == UUIDType || m.name == RefType
	case CodeType:
		return m.name == StringType || m.name == CodeType && (m.codes == nil || t.Codes == nil || m.codes == t.Codes)
	case DecimalType:
		return m.name == DecimalType || m.name == IntegerType
	case StringType:
		return m.name == StringType || m.name == CodeType || m.name.Ruled()
	case EmailType, PhoneType, IBANType, BICType, LEIType, NationalIDType:
		return m.name == t.Name || m.name == StringType
	case ObjectType:
		return m.name == ObjectType || m.name == MoneyType
	case RecordType: // an object may have its fields
		return m.name == ObjectType || m.name == RecordType
	}
	return m.name == t.Name
}
