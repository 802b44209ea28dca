package verbs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/expr"
)

// A record is a value with named, typed parts, for which a table would have columns. A script
// writes it as a map. Its fields are declared as arguments are, and the same checks apply: the
// type, the limits, and that a reference leads to a row in scope. A record holds no other record,
// since a part of a part is better stored as a row, or as an object with a schema.

// maxFields is how many fields a record may have: a bit set says which are given.
const maxFields = 64

// record reads the fields of a record. typ is the node of its type.
func (l *loader) record(d *doc, f mapping, typ *yaml.Node) *Type {
	fields := f.at("fields")
	switch {
	case fields.key == nil:
		d.report(tell(d.place(typ), "missing-key", "a record", "fields", shapes()["item"].key("fields").example))
		return nil
	case fields.value == nil:
		return nil
	case len(fields.value.Content) == 0:
		d.report(tell(d.place(fields.key), "nothing-written/list", "fields"))
		return nil
	case len(fields.value.Content) > 2*maxFields:
		d.report(tell(d.place(fields.value.Content[2*maxFields]), "contradiction", fmt.Sprintf("a record has at most %d fields", maxFields), "make an entity of it", dsl.Place{}, ""))
		return nil
	}
	t := &Type{Name: RecordType, Scale: -1}
	whole := true
	var countries []pair // parallel to t.Fields
	d.entries(fields.value, func(k, v *yaml.Node) {
		p, country, ok := l.recordField(d, k, v)
		whole = whole && ok
		t.Fields, countries = append(t.Fields, p), append(countries, country)
	})
	if !whole {
		return nil
	}
	for i := range t.Fields {
		l.beside(d, t.Fields[i].Type, countries[i], paramsBeside(t.Fields), namesBy(t.Fields, func(p Param) string { return p.Name }))
	}
	return t
}

func (l *loader) recordField(d *doc, k, v *yaml.Node) (p Param, country pair, ok bool) {
	if !d.name(k, "field") || v.Kind == poisoned {
		return p, country, false
	}
	if v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
		d.report(say.nothingWritten(d.place(k), shapes()["item"].key("fields")))
		return p, country, false
	}
	f, ok := d.fields(v, "record-field")
	if !ok {
		return p, country, false
	}
	p = Param{
		Name: k.Value, Ident: underscored(k.Value), Description: f.text("description"), Place: d.place(k),
		Required: f.boolean("required"), Sensitive: f.boolean("sensitive"), Personal: f.boolean("personal"),
	}
	p.Type = l.typeOf(d, f, k, "field")
	switch {
	case p.Type == nil:
		return p, country, false
	case p.Type.Record() != nil:
		d.report(tell(p.Place, "contradiction", k.Value+" is a record inside a record", "keep it in rows of an entity, or make it an object with a schema", dsl.Place{}, ""))
		return p, country, false
	case p.Type.refersTo(nil):
		d.report(tell(p.Place, "contradiction", k.Value+" refers to anything", "say with ref-type which rows it may refer to", dsl.Place{}, ""))
		return p, country, false
	}
	d.items(f.at("examples"), func(n *yaml.Node) {
		p.Examples = append(p.Examples, n.Value)
		if p.Type.Name != RefType {
			l.example(d, p.Type, n, p.Name)
		}
	})
	return p, f.at("country"), true
}

// refersTo reports whether t is a reference to an entity, or a list of those; nil is
// a reference to any.
func (t *Type) refersTo(e *Entity) bool {
	if t.Name == ListType && t.Item != nil {
		t = t.Item
	}
	return t.Name == RefType && t.Entity == e
}

// kept returns the kind in which the JSON of a list or a record stores a value of the type.
func (t *Type) kept() stores.Kind {
	if t.Name == RefType && t.Entity != nil {
		return t.Entity.Store.Fields[t.Entity.Store.Key].Kind
	}
	return t.kind()
}

// Parts splits a record into the values of its fields, null for those that were left out. ok is
// false if the value is no such record.
func (t *Type) Parts(v stores.Value) (parts []stores.Value, ok bool) {
	var raw map[string]json.RawMessage
	if v.Kind() != stores.JSON || json.Unmarshal([]byte(v.Text()), &raw) != nil || raw == nil {
		return nil, false
	}
	parts = make([]stores.Value, len(t.Fields))
	for key, text := range raw {
		i := t.field(key)
		if i < 0 || !parts[i].IsNull() {
			return nil, false
		}
		if parts[i], ok = stores.FromJSON(t.Fields[i].Type.kept(), text); !ok {
			return nil, false
		}
	}
	return parts, true
}

// Whole makes a record from the values of its fields.
func (t *Type) Whole(parts []stores.Value) stores.Value {
	keys := make([]string, 0, len(parts))
	values := make([]stores.Value, 0, len(parts))
	for i := range parts {
		if !parts[i].IsNull() {
			keys, values = append(keys, t.Fields[i].Name), append(values, parts[i])
		}
	}
	return stores.NewObject(keys, values)
}

func (t *Type) acceptRecord(v stores.Value) (stores.Value, error) {
	parts, ok := t.Parts(v)
	if !ok {
		return v, fmt.Errorf("%s is wanted", t.Phrase())
	}
	for i := range parts {
		f := &t.Fields[i]
		if parts[i].IsNull() && f.Required {
			return v, fmt.Errorf(":%s is missing", f.Name)
		}
		if f.Type.refersTo(f.Type.entity()) {
			continue // the store decides whether it leads to a row
		}
		is := f.Type
		if by := t.field(is.CountryOf); is.CountryOf != "" && by >= 0 {
			is = is.In(parts[by])
		}
		part, err := is.Accept(parts[i])
		if err != nil {
			return v, fmt.Errorf(":%s: %w", f.Name, err)
		}
		parts[i] = part
	}
	return t.Whole(parts), nil
}

// entity returns the entity that a reference, or each reference of a list, refers to.
func (t *Type) entity() *Entity {
	if t.Name == ListType && t.Item != nil {
		return t.Item.Entity
	}
	return t.Entity
}

// record checks a map against the fields of a record.
func (c *checker) record(at site, t *Type, v *dsl.Value, out *Arg, depth int) {
	entries := v.Entries()
	args := make([]Arg, len(entries))
	before, whole := len(c.ds), true
	var given uint64
	var first [maxFields]dsl.Range
	for i := range entries {
		e := &entries[i]
		k := t.field(e.Key)
		if k < 0 && c.mending && c.text(e.KeyRange) != dsl.FormatKey(e.Key) { // the parser has reported it
			c.stray(&e.Value, depth+1)
			continue
		}
		if k < 0 {
			given |= c.unknownField(at, t, e, entries)
			c.stray(&e.Value, depth+1)
			continue
		}
		if given&(1<<k) != 0 {
			if !c.mending { // the parser has reported it, unless the two are spelt apart
				c.add(tell(c.place(e.KeyRange), "duplicate-key/map", dsl.FormatKey(e.Key), c.place(first[k])))
			}
			c.stray(&e.Value, depth+1)
			continue
		}
		given |= 1 << k
		first[k] = e.KeyRange
		f := &t.Fields[k]
		if e.Value.Kind == dsl.Nil {
			if args[i] = (Arg{Kind: Literal, Syntax: &e.Value}); f.Required {
				given &^= 1 << k
			}
			continue
		}
		in := at
		in.part, in.field = ":"+f.Name+" in "+at.part, f
		c.value(in, f.Type, &e.Value, &args[i], depth+1)
		whole = whole && args[i].Kind == Literal
	}
	var missing []*Param
	for k := range t.Fields {
		if f := &t.Fields[k]; f.Required && given&(1<<k) == 0 {
			missing = append(missing, f)
		}
	}
	if len(missing) > 0 && !c.mending {
		c.add(missingParts(c.place(v.Range), at, missing))
	}
	switch {
	case len(c.ds) > before && c.failed, c.full():
	case !whole:
		out.Kind, out.items = Mapped, &args
	default:
		parts := make([]stores.Value, len(t.Fields))
		for i := range entries {
			parts[t.field(entries[i].Key)] = args[i].Value
		}
		for k := range parts {
			parts[k] = c.partIn(at, t, k, parts, entries)
		}
		out.Kind, out.Value = Literal, t.Whole(parts)
	}
}

// partIn reads a part of a record again by the country in the part beside it.
func (c *checker) partIn(at site, t *Type, k int, parts []stores.Value, entries []dsl.Arg) stores.Value {
	f := &t.Fields[k]
	if f.Type.CountryOf == "" || parts[k].IsNull() {
		return parts[k]
	}
	is := f.Type.In(parts[t.field(f.Type.CountryOf)])
	v, p := is.limit(parts[k])
	if p != fine {
		at.part, at.field = ":"+f.Name+" in "+at.part, f
		i := slices.IndexFunc(entries, func(e dsl.Arg) bool { return t.field(e.Key) == k })
		c.add(c.refuse(at, is, &entries[i].Value, p))
	}
	return v
}

// unknownField returns the fields that may have been meant; they are not reported as missing too.
func (c *checker) unknownField(at site, t *Type, e *dsl.Arg, entries []dsl.Arg) (meant uint64) {
	var all, free []string
	for i := range t.Fields {
		name := t.Fields[i].Name
		all = append(all, name)
		if !slices.ContainsFunc(entries, func(o dsl.Arg) bool { return sameName(o.Key, name) }) {
			free = append(free, name)
		}
	}
	near := dsl.Nearest(e.Key, slices.Values(free))
	if len(near) == 0 {
		for _, name := range free {
			if strings.EqualFold(name, e.Key) || sameName(strings.ToLower(e.Key), name) {
				near = []string{name}
			}
		}
	}
	c.add(unknownPart(c.place(e.KeyRange), at, e.Key, near, all))
	for _, name := range near {
		meant |= 1 << t.field(name)
	}
	return meant
}

// recordMember follows a path into a record, whose value base computes: to one of its parts, or
// along the reference in a part. param is the argument that holds it, and each says that the
// record is an item of that list.
func (c *exprChecker) recordMember(rec *Type, base *expr.Program, param int, each bool, n *expr.Node, path []*expr.Node) term {
	first := path[0]
	k := rec.field(first.Text)
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
		t.prog, t.part = expr.Part(rec.part(k), base, k), f
		return t
	case f.Type.Name == RefType:
		path, last, ok := c.d.path(f.Type.Entity, c.n, path[1].At, c.text[path[1].At:n.To])
		if !ok || last.Type == nil {
			c.failed = true
			return bad
		}
		t := typeTerm(last.Type)
		t.prog = &expr.Program{From: expr.Read, Index: c.reading(ExprRead{Param: param, Part: k + 1, Each: each, Path: path})}
		return t
	case f.Type.Name == MoneyType && len(path) == 2:
		if is, ok := map[string]TypeName{"amount": DecimalType, "currency": CodeType}[path[1].Text]; ok {
			return c.apply(is, path[1].Text, term{name: MoneyType, prog: expr.Part(rec.part(k), base, k)})
		}
		return c.fail(tell(c.at(path[1].At, path[1].To), "unknown-field/money", path[1].Text, []string{"amount", "currency"}))
	}
	return c.fail(tell(c.at(path[1].At, n.To), "type-mismatch/no-fields", f))
}

// part returns the function that takes one part of a record.
func (t *Type) part(k int) expr.Func {
	return func(v, _ stores.Value) (stores.Value, error) {
		if v.IsNull() {
			return v, nil
		}
		parts, ok := t.Parts(v)
		if !ok {
			return stores.Value{}, errNoRecord
		}
		return parts[k], nil
	}
}

var errNoRecord = errors.New("a value is no record of its kind")

// Entity returns the entity of the row at which the read begins, nil if it does not begin at an
// argument.
func (r *ExprRead) Entity(v *Verb) *Entity {
	if r.Param < 0 {
		return nil
	}
	t := v.Params[r.Param].Type
	if r.Part > 0 {
		t = t.Record().Fields[r.Part-1].Type
	}
	return t.Entity
}

// End returns the entity and the field at the end of a path from a row that an argument refers
// to; nil if it is no such path.
func (r *ExprRead) End(v *Verb) (*stores.Entity, int) {
	at := r.Entity(v)
	if at == nil || r.Path.Count != nil {
		return nil, 0
	}
	e := at.Store
	for _, step := range r.Path.Steps {
		e = step.To
	}
	return e, r.Path.Field
}

// blankRecord writes a record for a script, with descriptions in place of values.
func (t *Type) blankRecord() string {
	var parts []string
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Required {
			parts = append(parts, ":"+f.Name+" "+f.blank())
		}
	}
	if parts == nil {
		for i := range t.Fields {
			parts = append(parts, ":"+t.Fields[i].Name+" "+t.Fields[i].blank())
		}
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// exampleRecord writes a record that the type accepts.
func (t *Type) exampleRecord() string {
	some := t.anyField(func(p *Param) bool { return p.Required })
	var parts []string
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Required || !some {
			parts = append(parts, ":"+f.Name+" "+f.Example())
		}
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// fieldWords describes the fields of a record, for a reference.
func (t *Type) fieldWords() string {
	words := make([]string, len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		says := []string{f.Type.Short()}
		if !f.Required {
			says = append(says, "optional")
		}
		if f.Description != "" {
			says = append(says, f.Description)
		}
		if limits := f.Type.Limits(); limits != "" {
			says = append(says, limits)
		}
		words[i] = ":" + f.Name + " (" + strings.Join(says, ", ") + ")"
	}
	return Joined(words, "and")
}

// at follows a path into a record.
func (t *Type) at(name, path string) (meaning, *lost) {
	step, rest, more := strings.Cut(path, ".")
	i := t.field(step)
	if i < 0 {
		no := &lost{step: step, of: name}
		for j := range t.Fields {
			no.among = append(no.among, t.Fields[j].Name)
		}
		return meaning{}, no
	}
	switch is := t.Fields[i].Type; {
	case !more:
		return meaningOf(is), nil
	case is.Name == RefType:
		return is.Entity.at(rest)
	case is.Name == ObjectType || is.Name == AnyType || is.Name == MoneyType:
		return meaning{}, nil
	}
	next, _, _ := strings.Cut(rest, ".")
	return meaning{}, &lost{step: next, of: name + "." + step}
}
