package verbs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/expr"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
)

// A record is a value with named, typed parts, for which a table would have columns. A script
// writes it as a map. Its fields are declared as arguments are, and the same checks apply: the
// type, the limits, and that a reference leads to a row in scope. A record holds no other record,
// since a part of a part is better stored as a row, or as an object with a schema.

// MaxFields is how many fields a record may have: a bit set says which are given.
const MaxFields = 64

// RefersTo reports whether t is a reference to an entity, or a list of those; nil is
// a reference to any.
func (t *Type) RefersTo(e *Entity) bool {
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
	return t.Kind()
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
		i := t.FieldIndex(key)
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
		if f.Type.RefersTo(f.Type.entity()) {
			continue // the store decides whether it leads to a row
		}
		is := f.Type
		if by := t.FieldIndex(is.CountryOf); is.CountryOf != "" && by >= 0 {
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
	var first [MaxFields]dsl.Range
	for i := range entries {
		e := &entries[i]
		k := t.FieldIndex(e.Key)
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
			parts[t.FieldIndex(entries[i].Key)] = args[i].Value
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
	is := f.Type.In(parts[t.FieldIndex(f.Type.CountryOf)])
	v, p := is.Limit(parts[k])
	if p != Fine {
		at.part, at.field = ":"+f.Name+" in "+at.part, f
		i := slices.IndexFunc(entries, func(e dsl.Arg) bool { return t.FieldIndex(e.Key) == k })
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
		if !slices.ContainsFunc(entries, func(o dsl.Arg) bool { return naming.Same(o.Key, name) }) {
			free = append(free, name)
		}
	}
	near := dsl.Nearest(e.Key, slices.Values(free))
	if len(near) == 0 {
		for _, name := range free {
			if strings.EqualFold(name, e.Key) || naming.Same(strings.ToLower(e.Key), name) {
				near = []string{name}
			}
		}
	}
	c.add(unknownPart(c.place(e.KeyRange), at, e.Key, near, all))
	for _, name := range near {
		meant |= 1 << t.FieldIndex(name)
	}
	return meant
}

// Part returns the function that takes one part of a record.
func (t *Type) Part(k int) expr.Func {
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
	some := t.AnyField(func(p *Param) bool { return p.Required })
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
	return message.Joined(words, "and")
}

// at follows a path into a record.
func (t *Type) at(name, path string) (meaning, *lost) {
	step, rest, more := strings.Cut(path, ".")
	i := t.FieldIndex(step)
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
