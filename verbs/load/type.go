package load

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/naming"
	"verbatim/verbs/values"
)

// plainTypes are the types without limits, shared by all their users.
var plainTypes = func() (types [verbs.CallType + 1]*verbs.Type) {
	for i := range types {
		types[i] = &verbs.Type{Name: verbs.TypeName(i), Scale: -1}
	}
	return types
}()

// typeOf reads the keys of a type. It returns nil after an error, and later steps report nothing
// about a nil type.
func (l *loader) typeOf(d *doc, f mapping, owner *yaml.Node, what string) *verbs.Type {
	n := f.at("type").value
	if n == nil {
		return nil
	}
	name, known := verbs.TypeNamed(n.Value)
	if !known {
		d.use(n, 0, len(n.Value), WordThing, n.Value, false, false, func() []string { return sortedTypes })
		d.report(tell(d.place(n), "unknown-type", n.Value, sortedTypes))
		return nil
	}
	plain := true
	for _, key := range shapes()["item"].keys[1:] {
		k := f.at(key.name).key
		if k != nil && !limitApplies(key.name, name) {
			d.report(tell(d.place(k), "limit-does-not-apply", k.Value, n.Value, limitTypes(key.name)))
		}
		plain = plain && (k == nil || key.name == "ref-type" || key.name == "of" || key.name == "schema" || key.name == "fields")
	}
	switch name {
	case verbs.RefType:
		e, ok := l.entityOf(d, f.at("ref-type"), n, owner, what)
		if !ok {
			return nil
		}
		if e == nil {
			return plainTypes[verbs.RefType]
		}
		t := l.refs[e]
		if t == nil {
			t = &verbs.Type{Name: verbs.RefType, Entity: e, Scale: -1}
			l.refs[e] = t
		}
		return t
	case verbs.CodeType:
		ref := f.at("ref-type")
		if ref.key == nil {
			d.report(tell(d.place(n), "any-code", owner.Value, what))
			return plainTypes[verbs.CodeType]
		}
		if ref.value == nil {
			return nil
		}
		list := l.codeListOf(d, ref.value, 0, ref.value.Value)
		if list == nil && !slices.ContainsFunc(l.codes, func(c *verbs.CodeList) bool { return !slices.Contains(d.apart, c.Place.Source) }) {
			// If the palettes declare no lists at all, its codes are kept elsewhere and the name is
			// not misspelt.
			d.report(tell(d.place(ref.value), "any-code/no-lists", ref.value.Value))
			return plainTypes[verbs.CodeType]
		}
		if list == nil {
			d.report(tell(d.place(ref.value), "unknown-code-list", ref.value.Value, visible(d, l.codes)))
			return nil
		}
		t := l.coded[list]
		if t == nil {
			t = &verbs.Type{Name: verbs.CodeType, Codes: list, Scale: -1}
			l.coded[list] = t
		}
		return t
	case verbs.ListType:
		t := &verbs.Type{Name: verbs.ListType, Scale: -1, Item: plainTypes[verbs.AnyType]}
		if f.at("of").key != nil {
			if t.Item = l.itemType(d, f.at("of"), owner); t.Item == nil {
				return nil
			}
		}
		l.limits(d, t, f)
		return t
	case verbs.ObjectType:
		if f.at("schema").key == nil {
			return plainTypes[verbs.ObjectType]
		}
		s, ok := l.schemaOf(d, f.at("schema"), owner)
		if !ok {
			return nil
		}
		return &verbs.Type{Name: verbs.ObjectType, Scale: -1, Schema: s}
	case verbs.RecordType:
		return l.record(d, f, n)
	case verbs.PhoneType, verbs.NationalIDType:
		return l.ofCountry(d, name, f.at("country"), n)
	}
	if plain {
		return plainTypes[name]
	}
	t := &verbs.Type{Name: name, Scale: -1}
	l.limits(d, t, f)
	return t
}

func (l *loader) itemType(d *doc, of pair, owner *yaml.Node) *verbs.Type {
	n := of.value
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		return l.typeText(d, n)
	}
	f, ok := d.fields(n, "item")
	if !ok {
		return nil
	}
	return l.alone(d, l.typeOf(d, f, owner, "list"), f.at("country"))
}

// typeText reads a type that is written in one scalar: `integer`, `ref cbu`,
// `code request-status`.
func (l *loader) typeText(d *doc, n *yaml.Node) *verbs.Type {
	word, of, more := strings.Cut(n.Value, " ")
	name, known := verbs.TypeNamed(word)
	if !known {
		d.report(tell(d.within(n, 0, len(word)), "unknown-type", word, sortedTypes))
		return nil
	}
	if name == verbs.NationalIDType || of == verbs.NationalIDType.String() {
		d.report(tell(d.place(n), "bad-country/missing", values.IDCountries()))
		return nil
	}
	if name == verbs.RecordType || of == verbs.RecordType.String() {
		d.report(tell(d.place(n), "missing-key", "a record", "fields", shapes()["item"].key("fields").example))
		return nil
	}
	if !more {
		return plainTypes[name]
	}
	place := d.within(n, len(word)+1, len(n.Value))
	switch name {
	case verbs.RefType:
		e := l.entityWithin(d, n, len(word)+1, of)
		if e == nil {
			return nil
		}
		return &verbs.Type{Name: verbs.RefType, Entity: e, Scale: -1}
	case verbs.CodeType:
		list := l.codeListOf(d, n, len(word)+1, of)
		if list == nil {
			d.report(tell(place, "unknown-code-list", of, visible(d, l.codes)))
			return nil
		}
		return &verbs.Type{Name: verbs.CodeType, Codes: list, Scale: -1}
	case verbs.ListType:
		item, known := verbs.TypeNamed(of)
		if !known {
			d.report(tell(place, "unknown-type", of, sortedTypes))
			return nil
		}
		return &verbs.Type{Name: verbs.ListType, Item: plainTypes[item], Scale: -1}
	}
	d.report(tell(place, "limit-does-not-apply", of, word, []string{"ref", "code", "list"}))
	return nil
}

// entityOf finds the entity that a reference refers to. Without a ref-type it follows from the
// name: request-id is a reference to request, or to the entity whose key is request_id.
func (l *loader) entityOf(d *doc, ref pair, typ, owner *yaml.Node, what string) (*verbs.Entity, bool) {
	if ref.key != nil {
		if ref.value == nil {
			return nil, false
		}
		e := l.entityAt(d, ref.value)
		return e, e != nil
	}
	if base, ok := strings.CutSuffix(naming.Underscored(owner.Value), "_id"); ok {
		for _, e := range l.entities {
			if naming.Same(d.short(e.Store.Name), base) {
				return e, true
			}
		}
	}
	var byKey *verbs.Entity
	for i := range l.entityNodes {
		if en := &l.entityNodes[i]; naming.Same(en.f.text("key"), owner.Value) && d.short(en.e.Store.Name) != "" {
			if byKey != nil {
				byKey = nil
				break
			}
			byKey = l.entityNodes[i].e
		}
	}
	if byKey == nil && !d.beside {
		d.report(tell(d.place(typ), "any-reference", owner.Value, what))
	}
	return byKey, true
}

func (l *loader) schemaOf(d *doc, p pair, owner *yaml.Node) (*verbs.Schema, bool) {
	n := p.value
	if n == nil {
		return nil, false
	}
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		s := l.schemaNamedBy(d, n)
		if s == nil {
			d.report(tell(d.place(n), "unknown-schema", n.Value, l.schemaNamed))
			return nil, false
		}
		return s, true
	}
	s := l.compileSchema(d, owner.Value, d.place(p.key), n)
	return s, s != nil
}

// limitApplies reports whether a key may be used with a type.
func limitApplies(key string, name verbs.TypeName) bool {
	switch key {
	case "ref-type":
		return name == verbs.RefType || name == verbs.CodeType
	case "of":
		return name == verbs.ListType
	case "schema":
		return name == verbs.ObjectType
	case "fields":
		return name == verbs.RecordType
	case "min-length", "max-length":
		return name == verbs.StringType || name == verbs.EmailType || name == verbs.ListType
	case "pattern":
		return name == verbs.StringType || name == verbs.EmailType
	case "min", "max":
		return name == verbs.IntegerType || name == verbs.DecimalType || name == verbs.DateType || name == verbs.DateTimeType || name == verbs.DurationType || name == verbs.MoneyType
	case "scale":
		return name == verbs.DecimalType || name == verbs.MoneyType
	case "currencies":
		return name == verbs.MoneyType
	case "country":
		return name == verbs.PhoneType || name == verbs.NationalIDType
	}
	return true
}

func limitTypes(key string) []string {
	var names []string
	for i, w := range verbs.TypeWords {
		if limitApplies(key, verbs.TypeName(i)) {
			names = append(names, w)
		}
	}
	return names
}

func (l *loader) limits(d *doc, t *verbs.Type, f mapping) {
	ok := true
	given := func(key string) bool { return f.at(key).value != nil && limitApplies(key, t.Name) }
	if given("min-length") {
		t.MinLength, _ = d.integer(f.at("min-length"), 0)
	}
	if given("max-length") {
		t.MaxLength, ok = d.integer(f.at("max-length"), 1)
		if ok && t.MinLength > t.MaxLength {
			d.report(tell(d.place(f.at("min-length").value), "contradiction", "min-length is greater than max-length", "no value could be long enough and short enough", d.place(f.at("max-length").value), "the greatest length"))
		}
	}
	if given("pattern") {
		t.Pattern = l.pattern(d, f.at("pattern").value)
	}
	if given("scale") {
		if t.Scale, ok = d.integer(f.at("scale"), 0); !ok {
			t.Scale = -1
		}
	}
	bare := &verbs.Type{Name: t.Name, Scale: t.Scale}
	if t.Name == verbs.MoneyType {
		bare.Name = verbs.DecimalType
	}
	if given("min") && !bare.Moving(f.at("min").value.Value, &t.MinDay) {
		t.Min, _ = l.value(d, bare, f.at("min").value, "min")
	}
	if given("max") && bare.Moving(f.at("max").value.Value, &t.MaxDay) {
		if verbs.NeverBoth(t.MinDay, t.MaxDay) {
			d.report(tell(d.place(f.at("min").value), "contradiction", "min is greater than max", "no date could be both", d.place(f.at("max").value), "the greatest value"))
		}
	} else if given("max") {
		if t.Max, ok = l.value(d, bare, f.at("max").value, "max"); ok && !t.Min.IsNull() && verbs.Less(t.Max, t.Min) {
			d.report(tell(d.place(f.at("min").value), "contradiction", "min is greater than max", "no value could be both", d.place(f.at("max").value), "the greatest value"))
		}
	}
	d.items(f.at("currencies"), func(n *yaml.Node) {
		if !plainTypes[verbs.MoneyType].AcceptsCurrency(n.Value) {
			d.report(tell(d.place(n), "bad-currency", n.Value))
			return
		}
		t.Currencies = append(t.Currencies, n.Value)
	})
}

func (l *loader) pattern(d *doc, n *yaml.Node) *regexp.Regexp {
	if re, ok := l.patterns[n.Value]; ok {
		return re
	}
	// It is compiled alone first: otherwise an unbalanced parenthesis could pair up with those
	// put around it.
	var re *regexp.Regexp
	fault := values.PatternFault(n.Value)
	if fault == "" {
		var err error
		if re, err = regexp.Compile("^(?:" + n.Value + ")$"); err != nil {
			fault = err.Error()
		}
	}
	if fault != "" {
		d.report(tell(d.place(n), "bad-pattern", fault))
		return nil
	}
	l.patterns[n.Value] = re
	return re
}

// value reads a scalar, list or mapping of a palette as a value of a type: a default, a limit.
// The written text counts, not YAML's interpretation of it.
func (l *loader) value(d *doc, t *verbs.Type, n *yaml.Node, name string) (stores.Value, bool) {
	if t.Name == verbs.CodeType && t.Codes != nil && n.Kind == yaml.ScalarNode {
		d.use(n, 0, len(n.Value), CodeThing, t.Codes.Name+" "+n.Value, false, t.Codes.Has(n.Value), t.Codes.Names)
	}
	wrong := func(p verbs.Problem) (stores.Value, bool) {
		d.report(verbs.BadValue(d.place(n), name, n.Value, t, p))
		return stores.Value{}, false
	}
	switch {
	case n.Kind == poisoned:
		return stores.Value{}, false
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		d.report(tell(d.place(n), "nothing-written/value", name))
		return stores.Value{}, false
	case t.Name == verbs.RefType || t.Name == verbs.MoneyType || t.Name == verbs.RecordType || t.Name == verbs.CallType:
		d.report(tell(d.place(n), "bad-value/no-default", name, t.Name.String()))
		return stores.Value{}, false
	case t.Name == verbs.ListType:
		if n.Kind != yaml.SequenceNode {
			return wrong(verbs.WrongType)
		}
		items := make([]stores.Value, 0, len(n.Content))
		for _, c := range n.Content {
			v, ok := l.value(d, t.Item, c, name)
			if !ok {
				return stores.Value{}, false
			}
			items = append(items, v)
		}
		switch {
		case len(items) < t.MinLength:
			return wrong(verbs.TooShort)
		case t.MaxLength > 0 && len(items) > t.MaxLength:
			return wrong(verbs.TooLong)
		}
		return stores.NewList(items...), true
	case t.Name == verbs.ObjectType, t.Name == verbs.AnyType && n.Kind != yaml.ScalarNode:
		if t.Name == verbs.ObjectType && n.Kind != yaml.MappingNode {
			return wrong(verbs.WrongType)
		}
		b, ok := d.json(nil, n)
		if !ok {
			return stores.Value{}, false
		}
		v, err := stores.ParseJSON(string(b))
		if err != nil {
			return wrong(verbs.WrongType)
		}
		return v, true
	case n.Kind != yaml.ScalarNode:
		return wrong(verbs.WrongType)
	}
	written, number := dsl.NewString(n.Value), naming.IsNumber(n.Value)
	switch plain := n.Style == 0; {
	case number && (t.Name == verbs.IntegerType || t.Name == verbs.DecimalType || t.Name == verbs.AnyType && plain):
		written = dsl.NewNumber(n.Value)
	case plain && (t.Name == verbs.BooleanType || t.Name == verbs.AnyType) && (n.Value == "true" || n.Value == "false"):
		written.Kind = dsl.Bool
	}
	v, p := t.Literal(&written)
	if p != verbs.Fine {
		return wrong(p)
	}
	return v, true
}

// notModels returns the part of a type that a model may not fill by itself, whatever `from` says: a
// reference, an amount, a text with a rule of its own, and what may hold one. It is nil if there is
// none. A decimal from 0 to 100 at most is a score or a share, and no amount. Calls are no such part,
// since each of their arguments says itself where it may come from.
func notModels(t *verbs.Type) *verbs.Type {
	if t == nil {
		return nil
	}
	switch t.Name {
	case verbs.RefType, verbs.MoneyType, verbs.ObjectType, verbs.AnyType:
		return t
	case verbs.DecimalType:
		low, least := stores.Compare(t.Min, stores.NewInt(0))
		high, most := stores.Compare(t.Max, stores.NewInt(100))
		if !least || !most || low < 0 || high > 0 {
			return t
		}
	case verbs.ListType:
		return notModels(t.Item)
	case verbs.RecordType:
		for i := range t.Fields {
			if part := notModels(t.Fields[i].Type); part != nil {
				return part
			}
		}
	default:
		if t.Name.Ruled() {
			return t
		}
	}
	return nil
}
