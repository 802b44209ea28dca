package load

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
)

// record reads the fields of a record. typ is the node of its type.
func (l *loader) record(d *doc, f mapping, typ *yaml.Node) *verbs.Type {
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
	case len(fields.value.Content) > 2*verbs.MaxFields:
		d.report(tell(d.place(fields.value.Content[2*verbs.MaxFields]), "contradiction", fmt.Sprintf("a record has at most %d fields", verbs.MaxFields), "make an entity of it", dsl.Place{}, ""))
		return nil
	}
	t := &verbs.Type{Name: verbs.RecordType, Scale: -1}
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
		l.beside(d, t.Fields[i].Type, countries[i], paramsBeside(t.Fields), message.Names(t.Fields, func(p verbs.Param) string { return p.Name }))
	}
	return t
}

func (l *loader) recordField(d *doc, k, v *yaml.Node) (p verbs.Param, country pair, ok bool) {
	if !d.name(k, "field") || v.Kind == poisoned {
		return p, country, false
	}
	if v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
		d.report(nothingWritten(d.place(k), shapes()["item"].key("fields")))
		return p, country, false
	}
	f, ok := d.fields(v, "record-field")
	if !ok {
		return p, country, false
	}
	p = verbs.Param{
		Name: k.Value, Ident: naming.Underscored(k.Value), Description: f.text("description"), Place: d.place(k),
		Required: f.boolean("required"), Sensitive: f.boolean("sensitive"), Personal: f.boolean("personal"),
	}
	p.Type = l.typeOf(d, f, k, "field")
	switch {
	case p.Type == nil:
		return p, country, false
	case p.Type.Record() != nil:
		d.report(tell(p.Place, "contradiction", k.Value+" is a record inside a record", "keep it in rows of an entity, or make it an object with a schema", dsl.Place{}, ""))
		return p, country, false
	case p.Type.RefersTo(nil):
		d.report(tell(p.Place, "contradiction", k.Value+" refers to anything", "say with ref-type which rows it may refer to", dsl.Place{}, ""))
		return p, country, false
	}
	d.items(f.at("examples"), func(n *yaml.Node) {
		p.Examples = append(p.Examples, n.Value)
		if p.Type.Name != verbs.RefType {
			l.example(d, p.Type, n, p.Name)
		}
	})
	return p, f.at("country"), true
}
