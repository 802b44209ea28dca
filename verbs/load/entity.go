package load

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/naming"
)

func (l *loader) declareEntity(d *doc, k, v *yaml.Node) {
	e := &verbs.Entity{Store: &stores.Entity{Name: d.full(k.Value)}, Place: d.place(k)}
	d.name(k, "entity")
	d.declares(k, EntityThing, d.full(k.Value))
	first := l.entityNamed[d.key(d.full(k.Value))]
	if first != nil {
		d.report(tell(e.Place, "declared-twice", "entity", k.Value, first.Place))
	} else {
		l.entityNamed[d.key(d.full(k.Value))] = e
		l.entities = append(l.entities, e)
	}
	e.Store.Place = d.src.Name + ":" + strconv.Itoa(k.Line) + ":" + strconv.Itoa(k.Column)
	node := entityNode{d: d, e: e, columns: make(map[string]int)}
	if v.Kind == poisoned || v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
		if v.Kind != poisoned {
			d.report(nothingWritten(e.Place, shapes()["palette"].key("entities")))
		}
		d.broken[e] = true
		return
	}
	var ok bool
	if node.f, ok = d.fields(v, "entity"); !ok {
		d.broken[e] = true
		return
	}
	// Its fields are unknown if their key may be the misspelt one.
	d.broken[e] = node.f.at("fields").value == nil && (node.f.at("fields").key != nil || unknownIn(v, "entity"))
	l.entityNodes = append(l.entityNodes, node)
}

// makeFields reads the fields of an entity.
func (l *loader) makeFields(en *entityNode) {
	d, e, f := en.d, en.e, &en.f
	s := e.Store
	e.Description = f.text("description")
	s.Managed = f.boolean("managed")
	s.Table = f.text("table")
	if n := f.at("renamed-from").value; n != nil {
		if s.Was = n.Value; s.Managed && s.Table == "" {
			s.WasTable = naming.Underscored(s.Was)
		}
		l.formers = append(l.formers, formerNode{d, n, "entity", "", s.Name, func(name string) (dsl.Place, bool) {
			if e := l.entityNamed[name]; e != nil {
				return e.Place, true
			}
			return dsl.Place{}, false
		}})
	}
	if n := f.at("table").value; n != nil && !naming.IsTable(n.Value) {
		d.report(tell(d.place(n), "bad-name/table", n.Value))
	}
	if s.Table == "" {
		s.Table = naming.Underscored(s.Name)
	}
	if naming.IsOurs(s.Table) {
		at := e.Place
		if n := f.at("table").value; n != nil {
			at = d.place(n)
		}
		d.report(tell(at, "reserved-word/ours", "table", s.Table))
	}
	e.ReadOnly = f.boolean("read-only")
	keyNode := f.at("key").value
	if keyNode != nil && keyNode.Kind == yaml.SequenceNode {
		l.makeParts(en)
		return
	}
	keyName := f.text("key")
	if keyNode == nil || !d.name(keyNode, "key field") {
		d.broken[e] = true
		keyName = "id"
	}
	count := 1
	if f.at("fields").value != nil {
		count += len(f.at("fields").value.Content) / 2
	}
	s.Fields = make([]stores.Field, 0, count)
	e.Fields = make([]verbs.Field, 0, count)
	s.Key = -1
	if f.at("fields").value != nil && mentions(f.at("fields").value, keyName) {
		s.Key = 0
	}
	if s.Key < 0 {
		place := e.Place
		if keyNode != nil {
			place = d.place(keyNode)
		}
		s.Fields = append(s.Fields, stores.Field{Name: keyName, Column: naming.Underscored(keyName), Kind: stores.UUID, Required: true})
		e.Fields = append(e.Fields, verbs.Field{Type: plainTypes[verbs.UUIDType], Description: "The key.", Place: place})
		en.columns[naming.Underscored(keyName)] = 0
		s.Key = 0
	}
	d.entries(f.at("fields").value, func(k, v *yaml.Node) { l.field(en, k, v) })
	if i := e.FieldNamed(keyName); i >= 0 {
		s.Key = i
		key := &s.Fields[i]
		key.Required = true
		key.Drawn = f.text("key-by") == "database"
		switch t := e.Fields[i].Type; {
		case t == nil:
		case f.text("key-by") == "us" && t.Name != verbs.UUIDType && t.Name != verbs.StringType, f.text("key-by") == "caller" && t.Name == verbs.UUIDType:
			d.report(tell(d.place(f.at("key-by").value), "key-by/type", keyName, t.Name.String(), map[string]string{"us": "we", "caller": "the caller"}[f.text("key-by")]))
		case key.Drawn && s.Managed:
			d.report(tell(d.place(f.at("key-by").value), "key-by/managed", keyName))
		case t.Name != verbs.UUIDType && t.Name != verbs.StringType && t.Name != verbs.IntegerType && t.Name != verbs.CodeType:
			d.report(tell(e.Fields[i].Place, "bad-key", keyName, t.Name.String()))
			d.broken[e] = true
		case key.Spelling != nil:
			d.report(tell(e.Fields[i].Place, "code-value/spelt-key", keyName))
			d.broken[e] = true
		case key.Personal:
			// The journal identifies rows by their keys, and never erases keys.
			d.report(tell(e.Fields[i].Place, "contradiction", keyName+" is the key and personal", "a key stands in the journal for ever: give rows a key that says nothing of anybody", dsl.Place{}, ""))
			d.broken[e] = true
		}
	}
}

// makeParts makes the fields of a key with several parts, and the field that stands for the whole
// key.
func (l *loader) makeParts(en *entityNode) {
	d, e, f := en.d, en.e, &en.f
	s, n := e.Store, f.at("key").value
	d.entries(f.at("fields").value, func(k, v *yaml.Node) { l.field(en, k, v) })
	var names []string
	for _, c := range n.Content {
		i := e.FieldNamed(c.Value)
		d.usesField(e, i, c, 0, len(c.Value))
		switch {
		case c.Kind == poisoned:
		case i < 0:
			if !d.broken[e] {
				d.report(tell(d.place(c), "unknown-field", e, c.Value))
			}
			d.broken[e] = true
		case slices.Contains(s.Parts, i):
			d.report(tell(d.place(c), "duplicate-key", c.Value, d.place(n)))
		default:
			part := &s.Fields[i]
			kind := l.partKind(e.Fields[i].Type)
			if part.Spelling != nil && part.Kind != stores.Date || kind != stores.Int && kind != stores.String && kind != stores.UUID && kind != stores.Date {
				d.report(tell(e.Fields[i].Place, "bad-key/part", c.Value))
			}
			if part.Required = true; part.Personal {
				d.report(tell(e.Fields[i].Place, "contradiction", c.Value+" is part of the key and personal", "a key stands in the journal for ever: give rows a key that says nothing of anybody", dsl.Place{}, ""))
			}
			s.Parts, names = append(s.Parts, i), append(names, part.Name)
		}
	}
	switch by := f.text("key-by"); {
	case len(s.Parts) < 2 && !d.broken[e]:
		d.report(tell(d.place(n), "bad-key/few", n.Content))
	case s.Managed:
		d.report(tell(d.place(n), "bad-key/managed"))
	case by != "" && by != "caller":
		d.report(tell(d.place(f.at("key-by").value), "key-by/parts", by))
	case f.at("scope").value != nil && f.at("scope").value.Value == "self":
		d.report(tell(d.place(n), "bad-key/self"))
	}
	s.Key = len(s.Fields)
	s.Fields = append(s.Fields, stores.Field{Name: strings.Join(names, "+"), Kind: stores.String, Required: true})
	e.Fields = append(e.Fields, verbs.Field{Type: plainTypes[verbs.StringType], Description: "The key.", Place: d.place(n)})
}

func (l *loader) partKind(t *verbs.Type) stores.Kind {
	if t == nil {
		return stores.Int // reported already
	}
	return l.kindOf(t)
}

func (l *loader) field(en *entityNode, k, v *yaml.Node) {
	d, e := en.d, en.e
	if !d.name(k, "field") || v.Kind == poisoned {
		d.broken[e] = true
		return
	}
	if v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
		d.report(nothingWritten(d.place(k), shapes()["entity"].key("fields")))
		d.broken[e] = true
		return
	}
	f, ok := d.fields(v, "field")
	if !ok {
		d.broken[e] = true
		return
	}
	d.declares(k, FieldThing, e.Store.Name+"."+k.Value)
	field := verbs.Field{Description: f.text("description"), Place: d.place(k)}
	field.Type = l.typeOf(d, f, k, "field")
	if field.Type != nil && field.Type.CountryOf != "" {
		if en.countries == nil {
			en.countries = make(map[int]pair)
		}
		en.countries[len(e.Fields)] = f.at("country")
	}
	if field.Type.Record() != nil {
		d.report(tell(d.place(f.at("type").value), "contradiction", k.Value+" would keep a record", "records are for arguments: keep what is in them in rows of an entity", dsl.Place{}, ""))
		field.Type = nil
	}
	if field.Type.ByDay() {
		d.report(tell(field.Place, "contradiction", k.Value+" is bounded by today, and is kept", "bound the argument that it is set from: what is right today stays kept when today has passed", dsl.Place{}, ""))
	}
	kept := stores.Field{
		Name:      k.Value,
		Column:    f.text("column"),
		Required:  f.boolean("required"),
		Sensitive: f.boolean("sensitive"),
		Personal:  f.boolean("personal"),
		Drawn:     f.text("default-by") == "database",
		Computed:  f.boolean("read-only"),
	}
	if n := f.at("default-by").key; n != nil && (f.at("default").key != nil || kept.Computed) {
		d.report(tell(d.place(n), "contradiction", k.Value+" is given a value by the database and by the palette", "one of them says what a new row holds", dsl.Place{}, ""))
	}
	d.items(f.at("written-by"), func(n *yaml.Node) {
		switch r := l.roleOf(d, n); {
		case r == nil:
			d.report(unknownRole(d.place(n), n.Value, l.roles, "as it stands, these would be everybody's words"))
		case !slices.Contains(field.WrittenBy, r):
			field.WrittenBy = append(field.WrittenBy, r)
		}
	})
	if n := f.at("column").value; n != nil && !naming.IsColumn(n.Value) {
		d.report(tell(d.place(n), "bad-name/table", n.Value))
	}
	if kept.Column == "" {
		kept.Column = naming.Underscored(k.Value)
	}
	if i := slices.IndexFunc(e.Store.Fields, func(f stores.Field) bool { return f.Was == k.Value }); i >= 0 {
		d.report(tell(d.place(k), "declared-twice", "field", k.Value, e.Fields[i].Place))
	}
	if n := f.at("renamed-from").value; n != nil {
		switch kept.Was, kept.WasColumn = n.Value, naming.Underscored(n.Value); {
		case n.Value == k.Value:
			d.report(tell(d.place(n), "contradiction", k.Value+" was always called so", "say what it was called before", dsl.Place{}, ""))
		case e.FieldNamed(n.Value) >= 0:
			d.report(tell(d.place(n), "declared-twice", "field", n.Value, e.Fields[e.FieldNamed(n.Value)].Place))
		}
	}
	if i, taken := en.columns[kept.Column]; taken {
		at := k
		if n := f.at("column").value; n != nil {
			at = n
		}
		d.report(tell(d.place(at), "declared-twice", "column", kept.Column, e.Fields[i].Place))
	} else {
		en.columns[kept.Column] = len(e.Fields)
	}
	if t := field.Type; t != nil {
		kept.Kind = l.kindOf(t)
		switch t.Name {
		case verbs.CodeType:
			if t.Codes != nil {
				kept.Codes, kept.Spelling, kept.WasCodes = t.Codes.Names(), t.Codes.Spelling, t.Codes.Was()
			}
		case verbs.RefType:
			if t.Entity != nil {
				if kept.Ref = t.Entity.Store; l.keyNodeOf(t.Entity) == yaml.SequenceNode {
					d.report(tell(field.Place, "bad-key/referred", t.Entity))
					field.Type, kept.Ref = nil, nil
				}
			}
		case verbs.ListType:
			kept.Elem = l.kindOf(t.Item)
			if t.Item.Codes != nil {
				kept.WasCodes = t.Item.Codes.Was()
			}
			if t.Item.Codes != nil && t.Item.Codes.Spelling != nil {
				d.report(tell(field.Place, "code-value/spelt-list", k.Value))
			}
		case verbs.MoneyType:
			d.report(tell(d.place(f.at("type").value), "money-field", k.Value))
			field.Type = nil
		}
		if !e.Store.Managed && t.Name == verbs.DecimalType {
			kept.Places = max(0, t.Scale)
		}
		l.spelling(d, f, e, &kept, t)
		if n := f.at("default").value; n != nil && field.Type != nil {
			kept.Default, _ = l.value(d, field.Type, n, k.Value)
		}
	}
	e.Store.Fields = append(e.Store.Fields, kept)
	e.Fields = append(e.Fields, field)
}

// spelling reads in which form a column of an existing table stores a field.
func (l *loader) spelling(d *doc, f mapping, e *verbs.Entity, kept *stores.Field, t *verbs.Type) {
	var zone *time.Location
	for _, key := range [...]string{"zone", "unit", "form"} {
		n := f.at(key).value
		switch {
		case n == nil:
		case e.Store.Managed:
			d.report(tell(d.place(f.at(key).key), "bad-form/managed", key))
		case key == "zone" && t.Name == verbs.DateTimeType:
			var err error
			if zone, err = time.LoadLocation(n.Value); err != nil || n.Value == "" || n.Value == "Local" {
				d.report(tell(d.place(n), "bad-form/zone", n.Value))
				zone = nil
				continue
			}
			kept.Zone = zone
		case key == "unit" && t.Name == verbs.DecimalType:
			digits := len(n.Value) - len("0.")
			if digits < 1 || digits > 9 || n.Value != "0."+strings.Repeat("0", digits-1)+"1" {
				d.report(tell(d.place(n), "bad-form/unit", n.Value))
				continue
			}
			kept.Spelling, kept.Places = stores.NewUnits(digits), 0
		case key == "form" && (t.Name == verbs.DateType || t.Name == verbs.DateTimeType):
			s, ok := stores.NewForm(kept.Kind, n.Value)
			if zone != nil {
				s, ok = stores.NewFormIn(zone, n.Value)
			}
			if !ok {
				d.report(tell(d.place(n), "bad-form", n.Value, t))
				continue
			}
			kept.Spelling = s
		default:
			d.report(tell(d.place(f.at(key).key), "limit-does-not-apply", key, t.Name.String(), map[string][]string{"zone": {"datetime"}, "unit": {"decimal"}, "form": {"date", "datetime"}}[key]))
		}
	}
}

// kindOf returns the kind in which values of a type are stored. A reference stores the key of its
// entity, whose type is read in advance because entities refer to one another in any order.
func (l *loader) kindOf(t *verbs.Type) stores.Kind {
	if t == nil {
		return stores.JSON // it has an error, which is reported elsewhere
	}
	if t.Name == verbs.RefType && t.Entity != nil {
		return l.keyKind(t.Entity)
	}
	if k := t.Kind(); k != stores.Null {
		return k
	}
	return stores.JSON
}

// keyNodeOf returns the kind of node with which an entity declares its key: a scalar for one
// name, a sequence for several parts.
func (l *loader) keyNodeOf(e *verbs.Entity) yaml.Kind {
	for i := range l.entityNodes {
		if en := &l.entityNodes[i]; en.e == e && en.f.at("key").value != nil {
			return en.f.at("key").value.Kind
		}
	}
	return yaml.ScalarNode
}

func (l *loader) keyKind(e *verbs.Entity) stores.Kind {
	if l.keyNodeOf(e) == yaml.SequenceNode {
		return stores.String
	}
	for i := range l.entityNodes {
		en := &l.entityNodes[i]
		if en.e != e || en.f.at("fields").value == nil {
			continue
		}
		fields, key := en.f.at("fields").value, en.f.text("key")
		for j := 0; j+1 < len(fields.Content); j += 2 {
			if !naming.Same(fields.Content[j].Value, key) {
				continue
			}
			decl := fields.Content[j+1]
			for k := 0; k+1 < len(decl.Content); k += 2 {
				if decl.Content[k].Value == "type" {
					switch decl.Content[k+1].Value {
					case "string", "code":
						return stores.String
					case "integer":
						return stores.Int
					}
				}
			}
		}
	}
	return stores.UUID
}

// relate reads the properties of an entity that depend on other entities: its owner, its label,
// and what is unique.
func (l *loader) relate(en *entityNode) {
	d, e, f := en.d, en.e, &en.f
	if n := f.at("scope").value; n != nil {
		l.scope(d, e, n)
	}
	if n := f.at("label").value; n != nil {
		e.Label = d.template(e, n)
	}
	if e.Twice = f.text("unique-else"); e.Twice != "" && f.at("unique").value == nil {
		d.report(tell(d.place(f.at("unique-else").key), "contradiction", "unique-else says what is told of rows that are the same, and no two need differ", "unique says in what they do: [[a, b]]", dsl.Place{}, ""))
	}
	if m := f.at("refuses").value; m != nil {
		e.Refuses = map[string]string{}
		for i := 0; i+1 < len(m.Content); i += 2 {
			e.Refuses[m.Content[i].Value] = m.Content[i+1].Value
		}
	}
	for i, country := range en.countries {
		l.beside(d, e.Fields[i].Type, country, func(ident string) (*verbs.Type, bool) {
			at := e.FieldNamed(ident)
			if at < 0 {
				return nil, false
			}
			return e.Fields[at].Type, true
		}, e.Names())
	}
	e.Store.Unique = d.sets(e, f, "unique")
	e.Store.Found = d.sets(e, f, "found-by")
	d.each(f.at("constraints"), func(n *yaml.Node) { l.constraint(d, e, n) })
}

// sets reads sets of fields.
func (d *doc) sets(e *verbs.Entity, f *mapping, key string) (sets [][]int) {
	d.each(f.at(key), func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			d.report(tell(d.place(n), "wrong-shape", key, forms["lists"].wanted))
			return
		}
		var set []int
		for _, c := range n.Content {
			if c.Kind == poisoned {
				continue
			}
			if i := d.fieldAt(e, c); i >= 0 {
				set = append(set, i)
			}
		}
		if len(set) > 0 {
			sets = append(sets, set)
		}
	})
	return sets
}

// givenKinds are the constraints over several fields.
var givenKinds = [...]struct {
	word string
	of   func(n int) stores.Given
}{
	{"exactly-one", func(int) stores.Given { return stores.Given{Least: 1, Most: 1} }},
	{"at-most-one", func(int) stores.Given { return stores.Given{Most: 1} }},
	{"at-least-one", func(n int) stores.Given { return stores.Given{Least: 1, Most: n} }},
	{"all-or-none", func(n int) stores.Given { return stores.Given{Least: n, Most: n, OrNone: true} }},
}

// constraint reads how many of some fields must have values in each row.
func (l *loader) constraint(d *doc, e *verbs.Entity, n *yaml.Node) {
	f, ok := d.fields(n, "constraint")
	if !ok {
		return
	}
	var of pair
	var g stores.Given
	for _, kind := range givenKinds {
		if p := f.at(kind.word); p.value != nil {
			if of.key != nil {
				d.report(tell(d.place(p.key), "two-effects", kind.word, of.key.Value))
				return
			}
			of, g = p, kind.of(len(p.value.Content))
		}
	}
	if of.key == nil {
		d.report(missingKey(d.place(n), "constraint", givenKinds[0].word))
		return
	}
	d.items(of, func(n *yaml.Node) {
		i := d.fieldAt(e, n)
		switch {
		case i < 0:
		case e.Store.Fields[i].Required || i == e.Store.Key:
			d.report(tell(d.place(n), "contradiction", "every row has "+n.Value, "name fields that may be left out", e.Fields[i].Place, "it is declared here"))
		case slices.Contains(g.Fields, i):
			d.report(tell(d.place(n), "declared-twice", "field", n.Value, d.place(of.value)))
		default:
			g.Fields = append(g.Fields, i)
		}
	})
	switch {
	case len(of.value.Content) < 2:
		d.report(tell(d.place(of.value), "nothing-written/list", of.key.Value))
	case len(g.Fields) == len(of.value.Content):
		e.Store.Given, e.Given = append(e.Store.Given, g), append(e.Given, verbs.GivenRule{Else: f.text("else"), Place: d.place(n)})
	}
}

func (l *loader) scope(d *doc, e *verbs.Entity, n *yaml.Node) {
	s := e.Store
	if n.Kind == yaml.MappingNode {
		f, ok := d.fields(n, "scope")
		if !ok || f.at("principal").value == nil {
			return
		}
		at := f.at("principal").value
		path, last, ok := d.path(e, at, 0, at.Value)
		if !ok {
			return
		}
		if last.Type != nil && last.Type.Name != verbs.StringType && last.Type.Name != verbs.EmailType {
			d.report(tell(d.place(at), "bad-scope/principal-not-text", at.Value, last.Type.Name.String()))
			return
		}
		s.Access = stores.ByPrincipal
		s.Scope = append(path.Steps, stores.Step{Field: path.Field})
		return
	}
	switch n.Value {
	case "self":
		s.Access = stores.ByPath
		return
	case "everyone":
		s.Access = stores.ForAll
		return
	}
	path, last, ok := d.path(e, n, 0, n.Value)
	if !ok {
		return
	}
	if last.Type == nil {
		return
	}
	if last.Type.Name != verbs.RefType || last.Type.Entity == nil {
		d.report(tell(d.place(n), "bad-scope", n.Value))
		return
	}
	s.Scope = append(path.Steps, stores.Step{Field: path.Field, To: last.Type.Entity.Store})
}

// visible reads which rows of an entity exist for roles that do not see all.
func (l *loader) visible(en *entityNode) {
	d, e, n := en.d, en.e, en.f.at("visible").value
	if n == nil {
		return
	}
	i := e.FieldNamed(n.Value)
	switch {
	case i < 0:
		if !d.broken[e] {
			d.report(tell(d.place(n), "unknown-field", e, n.Value))
		}
	case e.Fields[i].Type == nil:
	case e.Fields[i].Type.Name != verbs.BooleanType:
		d.report(tell(d.place(n), "bad-visible", &e.Fields[i], e.Store.Fields[i].Name))
	case e.Store.Access == stores.ForAll:
		d.report(tell(d.place(n), "bad-visible/everyone", e))
	default:
		e.Store.Visible = []int{i}
	}
}

// tellsOfHidden refuses sets of unique fields by which a refusal would reveal that a row which
// the caller does not see has the same values. Rows of one parent are hidden together, unless
// they hide themselves.
func (l *loader) tellsOfHidden(en *entityNode) {
	e := en.e.Store
	if e.Hides() < 0 {
		return
	}
	for _, set := range e.Unique {
		if len(e.Visible) > 0 || !slices.Contains(set, e.Scope[0].Field) {
			en.d.report(tell(en.d.place(en.f.at("unique").value), "bad-visible/unique", en.e, verbs.FieldNames(e, set)))
		}
	}
}

// path follows a dotted path from an entity, along references to a field. base is the byte of the
// scalar n at which it begins, for the message.
func (d *doc) path(e *verbs.Entity, n *yaml.Node, base int, dotted string) (stores.Path, *verbs.Field, bool) {
	var p stores.Path
	at := 0
	for {
		name, rest, more := strings.Cut(dotted[at:], ".")
		i := d.fieldWithin(e, n, base+at, name)
		if i < 0 {
			return p, nil, false
		}
		f := &e.Fields[i]
		if !more {
			p.Field = i
			return p, f, true
		}
		if f.Type == nil {
			return p, nil, false
		}
		if f.Type.Name != verbs.RefType || f.Type.Entity == nil {
			next, _, _ := strings.Cut(rest, ".")
			d.report(tell(d.within(n, base+at+len(name)+1, base+at+len(name)+1+len(next)), "not-a-reference", e, e.Store.Fields[i].Name, next, f))
			return p, nil, false
		}
		e = f.Type.Entity
		p.Steps = append(p.Steps, stores.Step{Field: i, To: e.Store})
		at += len(name) + 1
	}
}

// template reads text with paths in braces.
func (d *doc) template(e *verbs.Entity, n *yaml.Node) verbs.Template {
	var t verbs.Template
	s := n.Value
	for at := 0; ; {
		open := strings.IndexAny(s[at:], "{}")
		if open < 0 {
			t.Text = append(t.Text, s[at:])
			return t
		}
		open += at
		end := strings.IndexByte(s[open:], '}')
		if s[open] == '}' || end < 0 {
			d.report(tell(d.within(n, open, open+1), "bad-braces", s[open:open+1]))
			t.Text = append(t.Text, s[at:])
			return t
		}
		end += open
		inner := s[open+1 : end]
		var p stores.Path
		p, f, ok := d.path(e, n, open+1, inner)
		if ok && f.Type != nil && (f.Type.Name == verbs.ListType || f.Type.Name == verbs.ObjectType) {
			d.report(tell(d.within(n, open+1, end), "type-mismatch/not-text", inner, f.Type))
		}
		t.Text = append(t.Text, s[at:open])
		t.Paths = append(t.Paths, p)
		at = end + 1
	}
}
