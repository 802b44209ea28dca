package load

import (
	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/naming"
)

func (l *loader) codeList(d *doc, n *yaml.Node) {
	f, ok := d.fields(n, "codes")
	if !ok || f.at("name").value == nil {
		l.lost["unknown-code-list"], l.lost["any-code"] = true, true
		return
	}
	k := f.at("name").value
	d.name(k, "code list")
	list := &verbs.CodeList{Name: d.apartly(k.Value), Description: f.text("description"), Place: d.place(k)}
	d.declares(k, CodesThing, list.Name)
	first := l.codesNamed[d.key(d.full(k.Value))]
	if first != nil {
		d.report(tell(list.Place, "declared-twice", "code list", list.Name, first.Place))
	} else {
		l.codesNamed[d.key(d.full(k.Value))] = list
		l.codes = append(l.codes, list)
	}
	if f.at("values").value == nil {
		list.Codes = nil
		return
	}
	var steps []*yaml.Node  // codes to which others may change
	var valued []*yaml.Node // the stored values of codes
	seen := make(map[string]*yaml.Node)
	d.each(f.at("values"), func(n *yaml.Node) {
		c, at := verbs.Code{}, n
		switch n.Kind {
		case yaml.ScalarNode:
			c.Name = n.Value
		default:
			cf, ok := d.fields(n, "code")
			if !ok || cf.at("code").value == nil {
				return
			}
			at = cf.at("code").value
			c = verbs.Code{Name: at.Value, Description: cf.text("description"), Label: cf.text("label"), Else: cf.text("else"), Was: cf.text("renamed-from")}
			if n := cf.at("renamed-from").value; n != nil {
				l.formers = append(l.formers, formerNode{d, n, "code", list.Name, c.Name, func(name string) (dsl.Place, bool) {
					if at := seen[name]; at != nil {
						return d.place(at), true
					}
					return dsl.Place{}, false
				}})
			}
			if n := cf.at("value").value; n != nil {
				valued = append(valued, n)
				if c.Value = stores.NewString(n.Value); n.Style == 0 && naming.IsNumber(n.Value) {
					whole, ok := stores.ParseInt(n.Value)
					if c.Value = whole; !ok {
						d.report(tell(d.place(n), "code-value/whole", c.Name))
						return
					}
				}
			}
			d.items(cf.at("to"), func(n *yaml.Node) {
				c.To = append(c.To, n.Value)
				steps = append(steps, n)
			})
			if n := cf.at("schema").value; n != nil {
				l.codeSchemas = append(l.codeSchemas, codeSchemaNode{d, n, list, c.Name})
			}
		}
		if !naming.IsCode(c.Name) {
			d.report(badCode(d.place(at), c.Name))
			return
		}
		if first := seen[c.Name]; first != nil {
			d.report(tell(d.place(at), "declared-twice", "code", c.Name, d.place(first)))
			return
		}
		seen[c.Name] = at
		d.declares(at, CodeThing, list.Name+" "+c.Name)
		list.Codes = append(list.Codes, c)
	})
	if len(valued) > 0 {
		l.spell(d, list, valued)
	}
	for _, n := range steps {
		d.use(n, 0, len(n.Value), CodeThing, list.Name+" "+n.Value, false, seen[n.Value] != nil, list.Names)
		if seen[n.Value] == nil {
			d.report(tell(d.place(n), "code-step", list.Name, n.Value, list.Names()))
		}
	}
	if len(f.at("values").value.Content) == 0 {
		d.report(tell(d.place(f.at("values").value), "nothing-written/list", "values"))
	}
}

// spell determines how columns store the codes of a list.
func (l *loader) spell(d *doc, list *verbs.CodeList, valued []*yaml.Node) {
	values := make([]stores.Value, len(list.Codes))
	held := make(map[stores.Value]string)
	for i := range list.Codes {
		c := &list.Codes[i]
		if values[i] = c.Value; c.Value.IsNull() {
			values[i] = stores.NewString(c.Name)
		}
		switch other := held[values[i]]; {
		case other != "":
			d.report(tell(d.place(valued[0]), "code-value/twice", list, other, c.Name, values[i].Text()))
			return
		case values[i].Kind() != values[0].Kind():
			d.report(tell(d.place(valued[0]), "code-value/mixed", list, list.Codes[0].Name, c.Name))
			return
		}
		held[values[i]] = c.Name
	}
	if len(values) > 0 {
		list.Spelling = stores.NewCodes(list.Name, list.Names(), values)
	}
}

func (l *loader) schema(d *doc, k, v *yaml.Node) {
	d.name(k, "schema")
	place := d.place(k)
	key, name := d.key(d.full(k.Value)), d.apartly(k.Value)
	d.declares(k, SchemaThing, name)
	if first := l.schemaNamed[key]; first != nil {
		d.report(tell(place, "declared-twice", "schema", k.Value, first.Place))
		return
	}
	s := l.compileSchema(d, name, place, v)
	if s == nil {
		s = &verbs.Schema{Name: name, Place: place} // declared, though with an error
	} else {
		l.schemas = append(l.schemas, s)
	}
	l.schemaNamed[key] = s
}

// compileSchema makes a JSON Schema from YAML, and compiles it, so that an error in it is
// reported at once and not at the first call.
func (l *loader) compileSchema(d *doc, name string, place dsl.Place, v *yaml.Node) *verbs.Schema {
	if v.Kind == poisoned {
		return nil
	}
	if v.Kind != yaml.MappingNode {
		d.report(tell(d.place(v), "wrong-shape", "a schema", "a mapping, which is a JSON Schema"))
		return nil
	}
	b, ok := d.json(nil, v)
	if !ok {
		return nil
	}
	s := verbs.NewSchema(name, b, place)
	if err := s.Compile(); err != nil {
		d.report(tell(d.place(v), "bad-schema", name, err.Error()))
		return nil
	}
	return s
}

// json writes YAML as JSON. Plain scalars mean what JSON would make of them; everything else is
// text.
func (d *doc) json(b []byte, n *yaml.Node) ([]byte, bool) {
	ok := true
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		first := true
		seen := make(map[string]*yaml.Node, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind == poisoned {
				ok = false
				continue
			}
			if at := seen[k.Value]; at != nil {
				d.report(tell(d.place(k), "duplicate-key", k.Value, d.place(at)))
				ok = false
				continue
			}
			seen[k.Value] = k
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(stores.AppendJSONString(b, k.Value), ':')
			var good bool
			b, good = d.json(b, n.Content[i+1])
			ok = ok && good
		}
		return append(b, '}'), ok
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, c := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			var good bool
			b, good = d.json(b, c)
			ok = ok && good
		}
		return append(b, ']'), ok
	case yaml.ScalarNode:
		if n.Style != 0 {
			return stores.AppendJSONString(b, n.Value), true
		}
		switch n.Tag {
		case "!!null":
			return append(b, "null"...), true
		case "!!bool":
			if n.Value == "true" || n.Value == "false" {
				return append(b, n.Value...), true
			}
		case "!!int", "!!float":
			if naming.IsNumber(n.Value) {
				return append(b, n.Value...), true
			}
			d.report(tell(d.place(n), "not-a-number/odd-number", n.Value))
			return append(b, '0'), false
		}
		return stores.AppendJSONString(b, n.Value), true
	}
	return append(b, "null"...), false // poisoned
}
