package load

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
)

func (l *loader) params(vn *verbNode) {
	d, v := vn.d, vn.v
	n := vn.f.at("args").value
	if n == nil {
		return
	}
	if len(n.Content) > verbs.MaxParams {
		d.report(tell(d.place(n.Content[verbs.MaxParams]), "too-many-arguments", v.Name, verbs.MaxParams))
		return
	}
	v.Params = make([]verbs.Param, 0, len(n.Content))
	var schemasOf, countries []pair // parallel to v.Params
	d.each(vn.f.at("args"), func(n *yaml.Node) {
		f, ok := d.fields(n, "arg")
		if !ok || f.at("name").value == nil {
			return
		}
		k := f.at("name").value
		d.name(k, "argument")
		d.declares(k, ArgumentThing, v.Name+":"+k.Value)
		if naming.IsReserved(k.Value) {
			d.report(tell(d.place(k), "reserved-word", "argument", k.Value))
		}
		p := verbs.Param{
			Name:        k.Value,
			Ident:       naming.Underscored(k.Value),
			Description: f.text("description"),
			Required:    f.boolean("required"),
			Clear:       f.boolean("clear"),
			Sensitive:   f.boolean("sensitive"),
			Personal:    f.boolean("personal"),
			FollowUps:   f.boolean("follow-ups"),
			Open:        f.boolean("open"),
			Place:       d.place(k),
		}
		for i := range v.Params {
			if v.Params[i].Ident == p.Ident {
				d.report(tell(p.Place, "declared-twice", "argument", p.Name, v.Params[i].Place))
				return
			}
		}
		p.Type = l.typeOf(d, f, k, "argument")
		if !p.Sensitive {
			p.Partly = p.Type.AnyField(func(f *verbs.Param) bool { return f.Sensitive })
			p.Sensitive = p.Partly
		}
		p.Personal = p.Personal || p.Type.AnyField(func(f *verbs.Param) bool { return f.Personal })
		l.upload(d, &p, f)
		if n := f.at("default").value; n != nil {
			p.HasDefault = true
			if p.Required {
				d.report(tell(d.place(f.at("default").key), "contradiction", ":"+p.Name+" is required and has a default", "a default is for arguments that may be left out", d.place(f.at("required").key), "required here"))
			}
			switch {
			case p.Type == nil:
			case p.Type.Name == verbs.RefType:
				p.Active = l.active(d, &p, n)
			case p.Type.Moving(n.Value, &p.DefaultDay):
			default:
				p.Default, _ = l.value(d, p.Type, n, p.Name)
			}
		}
		if n := f.at("clear").key; n != nil && p.Clear && (p.Required || f.at("default").value != nil) {
			d.report(tell(d.place(n), "contradiction", "nil cannot empty what :"+p.Name+" is for", "clear is for arguments that may be left out and have no default", dsl.Place{}, ""))
		}
		if p.Open && p.Type != nil && !p.Type.KeepsCalls() {
			d.report(tell(d.place(f.at("open").key), "contradiction", ":"+p.Name+" takes no calls", "open is for arguments of type call", dsl.Place{}, ""))
		}
		if f.at("from").value != nil {
			d.items(f.at("from"), func(n *yaml.Node) {
				i := slices.Index(verbs.OriginWords, n.Value)
				if i < 0 {
					d.report(tell(d.place(n), "unknown-word", "from", n.Value, verbs.OriginWords))
					return
				}
				p.From |= 1 << i
			})
			if len(f.at("from").value.Content) == 0 {
				d.report(tell(d.place(f.at("from").key), "contradiction", ":"+p.Name+" may come from nowhere", "leave `from` out to accept a value from anywhere", dsl.Place{}, ""))
			}
			if what := notModels(p.Type); p.From&verbs.FromModel != 0 && what != nil {
				d.report(tell(d.place(f.at("from").key), "from-model", p.Name, what.Name.String()))
			}
		}
		l.otherwise(d, &p, f)
		d.wording(v, f.at("asks"), &p.Asks, "", nil)
		d.items(f.at("examples"), func(n *yaml.Node) {
			p.Examples = append(p.Examples, n.Value)
			if p.Type != nil && p.Type.Name != verbs.RefType {
				l.example(d, p.Type, n, p.Name)
			}
		})
		schemasOf = append(schemasOf, f.at("schema-of"))
		countries = append(countries, f.at("country"))
		l.textForType(d, &p, f.at("type").value)
		v.Params = append(v.Params, p)
	})
	for i, f := range schemasOf {
		l.schemaOfCode(d, v, &v.Params[i], f)
		l.beside(d, v.Params[i].Type, countries[i], paramsBeside(v.Params), message.Names(v.Params, func(p verbs.Param) string { return p.Name }))
	}
}

// schemaOfCode reads which code argument selects the schema of an object. Every code of its list
// must have one, so that nothing goes unchecked.
func (l *loader) schemaOfCode(d *doc, v *verbs.Verb, p *verbs.Param, f pair) {
	n := f.value
	if n == nil && p.FollowUps {
		d.report(tell(p.Place, "schema-of/follow-ups", p.Name))
	}
	if n == nil || p.Type == nil {
		return
	}
	if p.Type.Name != verbs.ObjectType || p.Type.Schema != nil {
		d.report(tell(d.place(f.key), "schema-of", p.Name))
		return
	}
	i := d.paramAt(v, n)
	if i < 0 {
		d.report(unknownArgument(d.place(n), v, n.Value))
		return
	}
	by := &v.Params[i]
	if by.Type == nil {
		return
	}
	if by.Type.Name != verbs.CodeType || by.Type.Codes == nil {
		d.report(tell(d.place(n), "schema-of/no-code", by.Name))
		return
	}
	var without []string
	for _, c := range by.Type.Codes.Codes {
		if c.Schema == nil {
			without = append(without, c.Name)
		}
	}
	if len(without) > 0 {
		d.report(tell(d.place(n), "schema-of/missing", by.Type.Codes, without))
		return
	}
	p.CodeParam, p.ByCode = i+1, by.Type.Codes
}

// example checks that an example value would be accepted.
func (l *loader) example(d *doc, t *verbs.Type, n *yaml.Node, name string) {
	switch t.Name {
	case verbs.AnyType, verbs.RefType, verbs.MoneyType, verbs.ObjectType, verbs.ListType, verbs.RecordType, verbs.CallType:
		return
	case verbs.BooleanType, verbs.IntegerType, verbs.DecimalType:
		bare := *n // in quotes or not, an example is text
		bare.Style, bare.Tag = 0, "!!str"
		n = &bare
	}
	l.value(d, t, n, "the example of "+name)
}
