package verbs

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
)

// A loader joins the files of a directory. It goes over them in turns: what is
// declared, what entities are made of, how they hang together, and then what
// the verbs say about all of it, so that the order of files and of lines does
// not matter.
type loader struct {
	docs     []*doc
	palettes []*Palette

	roles    []*Role
	codes    []*CodeList
	schemas  []*Schema
	entities []*Entity

	roleNamed   map[string]*Role
	codesNamed  map[string]*CodeList
	schemaNamed map[string]*Schema
	entityNamed map[string]*Entity
	verbNamed   map[string]*Verb

	codeSchemas []codeSchemaNode
	entityNodes []entityNode
	verbNodes   []verbNode

	conversations []conversationNode

	// lost holds the codes of what is unknown, of which nothing can be told: what
	// declares such names was not read in whole.
	lost map[string]bool

	// What is made once and used again.
	patterns map[string]*regexp.Regexp
	refs     map[*Entity]*Type
	coded    map[*CodeList]*Type
	operands map[string]Operand
	trees    map[string]ast.Node
}

// A codeSchemaNode is the name of a schema beside a code, looked up when every
// schema is known.
type codeSchemaNode struct {
	d    *doc
	n    *yaml.Node
	list *CodeList
	code string
}

// schemasOfCodes gives codes their schemas.
func (l *loader) schemasOfCodes() {
	for _, c := range l.codeSchemas {
		s := l.schemaNamed[c.n.Value]
		if s == nil {
			c.d.report(say.unknownSchema(c.d.place(c.n), c.n.Value, l.schemaNamed))
			continue
		}
		for i := range c.list.Codes {
			if c.list.Codes[i].Name == c.code {
				c.list.Codes[i].Schema = s
			}
		}
	}
}

type entityNode struct {
	d *doc
	e *Entity
	f [entKeys]pair

	columns map[string]int // fields by column
}

type verbNode struct {
	d *doc
	v *Verb
	n *yaml.Node
	f [verbKeys]pair

	runs []runNode // what its triggers run
}

// A runNode is the work of a trigger, and where it is written.
type runNode struct {
	at    *yaml.Node
	macro *Macro
}

func newLoader() *loader {
	l := &loader{
		roleNamed:   make(map[string]*Role),
		codesNamed:  make(map[string]*CodeList),
		schemaNamed: make(map[string]*Schema),
		entityNamed: make(map[string]*Entity),
		verbNamed:   make(map[string]*Verb),
		lost:        make(map[string]bool),
	}
	l.forget()
	return l
}

// forget begins what is made as the loader goes, for a worker of its own.
func (l *loader) forget() {
	l.patterns = make(map[string]*regexp.Regexp)
	l.refs = make(map[*Entity]*Type)
	l.coded = make(map[*CodeList]*Type)
	l.operands = make(map[string]Operand)
	l.trees = make(map[string]ast.Node)
}

// declare takes down the names in a file, so that everything else can refer to
// them. What is declared wrongly is declared all the same.
func (l *loader) declare(docs []*doc) {
	d := docs[0]
	var f [palKeys]pair
	read := d.fields(d.root, paletteShape, f[:])
	l.miss(d, read, f[:])
	if !read {
		return
	}
	p := &Palette{Domain: text(f[palDomain]), Description: text(f[palDescription]), Source: d.src}
	l.palettes = append(l.palettes, p)
	if n := f[palDomain].value; n != nil && !isDottedName(n.Value) {
		d.report(say.badName(d.place(n), "domain", n.Value))
		p.Domain = "" // verbs keep their own names and are not complained about again
	} else if isOurs(p.Domain) {
		d.report(say.ours(d.place(n), "domain", n.Value))
	}
	d.each(f[palRoles], func(n *yaml.Node) { l.role(d, n) })
	d.each(f[palCodes], func(n *yaml.Node) { l.codeList(d, n) })
	before := len(l.schemas)
	d.entries(f[palSchemas].value, func(k, v *yaml.Node) { l.schema(d, k, v) })
	d.entries(f[palEntities].value, func(k, v *yaml.Node) { l.declareEntity(d, k, v) })
	if f[palVerbs].value != nil {
		l.declareVerbs(d, p, f[palVerbs].value)
	}
	if n := f[palSays].value; n != nil {
		l.says(d, p, n)
		for _, s := range l.schemas[before:] {
			s.says = p.Says
		}
	}
	if f[palConversation].value != nil {
		l.conversations = append(l.conversations, conversationNode{d, p, f[palConversation]})
	}
	for _, more := range docs[1:] {
		l.declareVerbs(more, p, more.root)
	}
}

// declares are the parts of a palette that declare names, with the code of what is
// unknown among them.
var declares = [...]struct {
	part int
	code string
}{{palRoles, "unknown-role"}, {palCodes, "unknown-code-list"}, {palCodes, "any-code"}, {palSchemas, "unknown-schema"}, {palEntities, "unknown-entity"}, {palVerbs, "unknown-verb"}}

// miss takes down which parts of a file were not read: they are of another shape,
// or may be what stands under a misspelt key.
func (l *loader) miss(d *doc, read bool, f []pair) {
	misspelt := read && unknownIn(d.root, paletteShape)
	for _, part := range declares {
		p := f[part.part]
		if !read || p.value == nil && (p.key != nil || misspelt) {
			l.lost[part.code] = true
		}
	}
}

// each calls fn with each item of a list that fields accepted.
func (d *doc) each(p pair, fn func(n *yaml.Node)) {
	if p.value == nil {
		return
	}
	for _, n := range p.value.Content {
		if n.Kind != poisoned {
			fn(n)
		}
	}
}

// name checks a name that the author gives to something.
func (d *doc) name(n *yaml.Node, what string) bool {
	if n == nil || isName(n.Value) {
		return true
	}
	d.report(say.badName(d.place(n), what, n.Value))
	return false
}

func (l *loader) role(d *doc, n *yaml.Node) {
	var f [roleKeys]pair
	if !d.fields(n, roleShape, f[:]) || f[roleName].value == nil {
		l.lost["unknown-role"] = true
		return
	}
	k := f[roleName].value
	d.name(k, "role")
	r := &Role{Name: k.Value, Description: text(f[roleDescription]), Place: d.place(k)}
	if s := f[roleKeeps].value; s != nil {
		if r.Keeps = s.Value == "journal"; !r.Keeps {
			d.report(say.unknownWord(d.place(s), "keeps", s.Value, roleShape.keys[roleKeeps].words))
		}
	}
	if s := f[roleSees].value; s != nil {
		switch s.Value {
		case "all":
			r.SeesAll = true
		case "granted":
		default:
			d.report(say.unknownWord(d.place(s), "sees", s.Value, roleShape.keys[roleSees].words))
		}
	}
	if first := l.roleNamed[r.Name]; first != nil {
		d.report(say.declaredTwice(r.Place, "role", r.Name, first.Place))
		return
	}
	l.roleNamed[r.Name] = r
	l.roles = append(l.roles, r)
}

func (l *loader) codeList(d *doc, n *yaml.Node) {
	var f [codesKeys]pair
	if !d.fields(n, codesShape, f[:]) || f[codesName].value == nil {
		l.lost["unknown-code-list"], l.lost["any-code"] = true, true
		return
	}
	k := f[codesName].value
	d.name(k, "code list")
	list := &CodeList{Name: k.Value, Description: text(f[codesDescription]), Place: d.place(k)}
	first := l.codesNamed[list.Name]
	if first != nil {
		d.report(say.declaredTwice(list.Place, "code list", list.Name, first.Place))
	} else {
		l.codesNamed[list.Name] = list
		l.codes = append(l.codes, list)
	}
	if f[codesValues].value == nil {
		list.Codes = nil
		return
	}
	var steps []*yaml.Node // the codes that others lead to
	seen := make(map[string]*yaml.Node)
	d.each(f[codesValues], func(n *yaml.Node) {
		c, at := Code{}, n
		switch n.Kind {
		case yaml.ScalarNode:
			c.Name = n.Value
		default:
			var cf [codeKeys]pair
			if !d.fields(n, codeShape, cf[:]) || cf[codeName].value == nil {
				return
			}
			at = cf[codeName].value
			c = Code{Name: at.Value, Description: text(cf[codeDescription]), Else: text(cf[codeElse])}
			d.items(cf[codeTo], func(n *yaml.Node) {
				c.To = append(c.To, n.Value)
				steps = append(steps, n)
			})
			if n := cf[codeSchema].value; n != nil {
				l.codeSchemas = append(l.codeSchemas, codeSchemaNode{d, n, list, c.Name})
			}
		}
		if !isCode(c.Name) {
			d.report(say.badCode(d.place(at), c.Name))
			return
		}
		if first := seen[c.Name]; first != nil {
			d.report(say.declaredTwice(d.place(at), "code", c.Name, d.place(first)))
			return
		}
		seen[c.Name] = at
		list.Codes = append(list.Codes, c)
	})
	for _, n := range steps {
		if seen[n.Value] == nil {
			d.report(say.codeStep(d.place(n), list.Name, n.Value, list.names()))
		}
	}
	if len(f[codesValues].value.Content) == 0 {
		d.report(say.emptyList(d.place(f[codesValues].value), "values"))
	}
}

func (l *loader) schema(d *doc, k, v *yaml.Node) {
	d.name(k, "schema")
	place := d.place(k)
	if first := l.schemaNamed[k.Value]; first != nil {
		d.report(say.declaredTwice(place, "schema", k.Value, first.Place))
		return
	}
	s := l.compileSchema(d, k.Value, place, v)
	if s == nil {
		s = &Schema{Name: k.Value, Place: place} // declared, though wrongly
	} else {
		l.schemas = append(l.schemas, s)
	}
	l.schemaNamed[k.Value] = s
}

// compileSchema makes a JSON Schema of YAML, and tries it: a schema that is
// wrong must not wait for the first call to say so.
func (l *loader) compileSchema(d *doc, name string, place dsl.Place, v *yaml.Node) *Schema {
	if v.Kind == poisoned {
		return nil
	}
	if v.Kind != yaml.MappingNode {
		d.report(say.wrongShape(d.place(v), "a schema", "a mapping, which is a JSON Schema"))
		return nil
	}
	b, ok := d.json(nil, v)
	if !ok {
		return nil
	}
	s := newSchema(name, b, place)
	if err := s.Compile(); err != nil {
		d.report(say.badSchema(d.place(v), name, err.Error()))
		return nil
	}
	return s
}

// json writes YAML as JSON. Plain scalars mean what JSON would make of them;
// everything else is text.
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
				d.report(say.duplicateKey(d.place(k), k.Value, d.place(at)))
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
			if isNumber(n.Value) {
				return append(b, n.Value...), true
			}
			d.report(say.oddNumber(d.place(n), n.Value))
			return append(b, '0'), false
		}
		return stores.AppendJSONString(b, n.Value), true
	}
	return append(b, "null"...), false // poisoned
}

// isNumber accepts digits with an optional minus and point, as people write
// them: no 007, 0x1f, 1e3 or 1_000.
func isNumber(s string) bool {
	whole, frac, point := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return allDecimal(whole) && (len(whole) == 1 || whole[0] != '0') && (!point || allDecimal(frac))
}

func allDecimal(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func isName(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' || len(s) > 100 {
		return false
	}
	for i := 1; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

func isDottedName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !isName(part) {
			return false
		}
	}
	return true
}

// Entities

func (l *loader) declareEntity(d *doc, k, v *yaml.Node) {
	e := &Entity{Store: &stores.Entity{Name: k.Value}, Place: d.place(k)}
	d.name(k, "entity")
	first := l.entityNamed[k.Value]
	if first != nil {
		d.report(say.declaredTwice(e.Place, "entity", k.Value, first.Place))
	} else {
		l.entityNamed[k.Value] = e
		l.entities = append(l.entities, e)
	}
	e.Store.Place = d.src.Name + ":" + strconv.Itoa(k.Line) + ":" + strconv.Itoa(k.Column)
	node := entityNode{d: d, e: e, columns: make(map[string]int)}
	if v.Kind == poisoned || v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
		if v.Kind != poisoned {
			d.report(say.nothingWritten(e.Place, &paletteShape.keys[palEntities]))
		}
		e.broken = true
		return
	}
	if !d.fields(v, entityShape, node.f[:]) {
		e.broken = true
		return
	}
	// Its fields are not known when their key may be the misspelt one.
	e.broken = node.f[entFields].value == nil && (node.f[entFields].key != nil || unknownIn(v, entityShape))
	l.entityNodes = append(l.entityNodes, node)
}

// makeFields works out what an entity's rows are made of.
func (l *loader) makeFields(en *entityNode) {
	d, e, f := en.d, en.e, &en.f
	s := e.Store
	e.Description = text(f[entDescription])
	s.Managed = d.boolean(f[entManaged])
	s.Table = text(f[entTable])
	if n := f[entTable].value; n != nil && !isTable(n.Value) {
		d.report(say.badTable(d.place(n), n.Value))
	}
	if s.Table == "" {
		s.Table = underscored(s.Name)
	}
	if isOurs(s.Table) {
		at := e.Place
		if n := f[entTable].value; n != nil {
			at = d.place(n)
		}
		d.report(say.ours(at, "table", s.Table))
	}
	keyNode := f[entKey].value
	keyName := text(f[entKey])
	if keyNode == nil || !d.name(keyNode, "key field") {
		e.broken = true
		keyName = "id"
	}
	count := 1
	if f[entFields].value != nil {
		count += len(f[entFields].value.Content) / 2
	}
	s.Fields = make([]stores.Field, 0, count)
	e.Fields = make([]Field, 0, count)
	s.Key = -1
	if f[entFields].value != nil && mentions(f[entFields].value, keyName) {
		s.Key = 0
	}
	if s.Key < 0 {
		place := e.Place
		if keyNode != nil {
			place = d.place(keyNode)
		}
		s.Fields = append(s.Fields, stores.Field{Name: keyName, Column: underscored(keyName), Kind: stores.UUID, Required: true})
		e.Fields = append(e.Fields, Field{Type: plainTypes[UUIDType], Description: "The key.", Place: place})
		en.columns[underscored(keyName)] = 0
		s.Key = 0
	}
	d.entries(f[entFields].value, func(k, v *yaml.Node) { l.field(en, k, v) })
	if i := e.field(keyName); i >= 0 {
		s.Key = i
		key := &s.Fields[i]
		key.Required = true
		switch t := e.Fields[i].Type; {
		case t == nil:
		case t.Name != UUIDType && t.Name != StringType && t.Name != IntegerType && t.Name != CodeType:
			d.report(say.badKeyType(e.Fields[i].Place, keyName, typeWords[t.Name]))
			e.broken = true
		case key.Personal:
			// The journal names rows by their keys, and keeps those.
			d.report(say.contradiction(e.Fields[i].Place, keyName+" is the key and personal", "a key stands in the journal for ever: give rows a key that says nothing of anybody", dsl.Place{}, ""))
			e.broken = true
		}
	}
}

// isOurs reports whether a name is kept for what the engine keeps of its own.
func isOurs(name string) bool {
	name = strings.ToLower(name)
	return name == "verbatim" || strings.HasPrefix(name, "verbatim.") || strings.HasPrefix(name, "verbatim_")
}

// isTable accepts what both databases can quote: a table, or a schema and a
// table.
func isTable(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) > 2 {
		return false
	}
	for _, p := range parts {
		if !isColumn(p) {
			return false
		}
	}
	return true
}

// isColumn is generous, for tables that exist already, but leaves out what
// would have to be escaped inside quotes.
func isColumn(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '$') {
			return false
		}
	}
	return s != "" && len(s) <= 63
}

func (l *loader) field(en *entityNode, k, v *yaml.Node) {
	d, e := en.d, en.e
	if !d.name(k, "field") || v.Kind == poisoned {
		e.broken = true
		return
	}
	var f [fieldKeys]pair
	if v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
		d.report(say.nothingWritten(d.place(k), &entityShape.keys[entFields]))
		e.broken = true
		return
	}
	if !d.fields(v, fieldShape, f[:]) {
		e.broken = true
		return
	}
	field := Field{Description: text(f[fieldDescription]), Place: d.place(k)}
	field.Type = l.typeOf(d, f[:typKeys], k, "field")
	if field.Type.byDay() {
		d.report(say.contradiction(field.Place, k.Value+" is bounded by today, and is kept", "bound the argument that it is set from: what is right today stays kept when today has passed", dsl.Place{}, ""))
	}
	kept := stores.Field{
		Name:      k.Value,
		Column:    text(f[fieldColumn]),
		Required:  d.boolean(f[fieldRequired]),
		Sensitive: d.boolean(f[fieldSensitive]),
		Personal:  d.boolean(f[fieldPersonal]),
	}
	d.items(f[fieldWrittenBy], func(n *yaml.Node) {
		switch r := l.roleNamed[n.Value]; {
		case r == nil:
			d.report(say.unknownRole(d.place(n), n.Value, l.roles, "as it stands, these would be everybody's words"))
		case !slices.Contains(field.WrittenBy, r):
			field.WrittenBy = append(field.WrittenBy, r)
		}
	})
	if n := f[fieldColumn].value; n != nil && !isColumn(n.Value) {
		d.report(say.badTable(d.place(n), n.Value))
	}
	if kept.Column == "" {
		kept.Column = underscored(k.Value)
	}
	if i, taken := en.columns[kept.Column]; taken {
		at := k
		if n := f[fieldColumn].value; n != nil {
			at = n
		}
		d.report(say.declaredTwice(d.place(at), "column", kept.Column, e.Fields[i].Place))
	} else {
		en.columns[kept.Column] = len(e.Fields)
	}
	if t := field.Type; t != nil {
		kept.Kind = l.kindOf(t)
		switch t.Name {
		case CodeType:
			if t.Codes != nil {
				kept.Codes = codeNames(t.Codes)
			}
		case RefType:
			if t.Entity != nil {
				kept.Ref = t.Entity.Store
			}
		case ListType:
			kept.Elem = l.kindOf(t.Item)
		case MoneyType:
			d.report(say.moneyField(d.place(f[typType].value), k.Value))
			field.Type = nil
		}
		if n := f[fieldDefault].value; n != nil && field.Type != nil {
			kept.Default, _ = l.value(d, field.Type, n, k.Value)
		}
	}
	e.Store.Fields = append(e.Store.Fields, kept)
	e.Fields = append(e.Fields, field)
}

func codeNames(list *CodeList) []string {
	names := make([]string, len(list.Codes))
	for i, c := range list.Codes {
		names[i] = c.Name
	}
	return names
}

// kindOf says how values of a type are kept. What a reference holds is the key
// of its entity, whose type is read ahead because entities refer to one another
// in any order.
func (l *loader) kindOf(t *Type) stores.Kind {
	switch t.Name {
	case StringType, CodeType, EmailType, PhoneType:
		return stores.String
	case IntegerType:
		return stores.Int
	case DecimalType:
		return stores.Decimal
	case BooleanType:
		return stores.Bool
	case DateType:
		return stores.Date
	case DateTimeType:
		return stores.Time
	case DurationType:
		return stores.Duration
	case UUIDType:
		return stores.UUID
	case RefType:
		if t.Entity != nil {
			return l.keyKind(t.Entity)
		}
		return stores.UUID
	}
	return stores.JSON
}

func (l *loader) keyKind(e *Entity) stores.Kind {
	for i := range l.entityNodes {
		en := &l.entityNodes[i]
		if en.e != e || en.f[entFields].value == nil {
			continue
		}
		fields, key := en.f[entFields].value, text(en.f[entKey])
		for j := 0; j+1 < len(fields.Content); j += 2 {
			if !sameName(fields.Content[j].Value, key) {
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

// field finds a field by its name; a dash and an underscore are the same.
func (e *Entity) field(name string) int {
	for i := range e.Store.Fields {
		if e.Store.Fields[i].Name == name {
			return i
		}
	}
	for i := range e.Store.Fields {
		if sameName(e.Store.Fields[i].Name, name) {
			return i
		}
	}
	return -1
}

func (e *Entity) fieldNames() []string {
	names := make([]string, len(e.Store.Fields))
	for i := range e.Store.Fields {
		names[i] = e.Store.Fields[i].Name
	}
	return names
}

// relate works out what of an entity depends on others: whose row it is, what
// people read for it, what is unique.
func (l *loader) relate(en *entityNode) {
	d, e, f := en.d, en.e, &en.f
	if n := f[entScope].value; n != nil {
		l.scope(d, e, n)
	}
	if n := f[entLabel].value; n != nil {
		e.Label = d.template(e, n)
	}
	if e.Twice = text(f[entTwice]); e.Twice != "" && f[entUnique].value == nil {
		d.report(say.contradiction(d.place(f[entTwice].key), "unique-else says what is told of rows that are the same, and no two need differ", "unique says in what they do: [[a, b]]", dsl.Place{}, ""))
	}
	d.each(f[entUnique], func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			d.report(say.wrongShape(d.place(n), "unique", formNames[uniques]))
			return
		}
		var set []int
		for _, c := range n.Content {
			if c.Kind == poisoned {
				continue
			}
			if i := e.field(c.Value); i >= 0 {
				set = append(set, i)
			} else if !e.broken {
				d.report(say.unknownField(d.place(c), e, c.Value))
			}
		}
		if len(set) > 0 {
			e.Store.Unique = append(e.Store.Unique, set)
		}
	})
}

func (l *loader) scope(d *doc, e *Entity, n *yaml.Node) {
	s := e.Store
	if n.Kind == yaml.MappingNode {
		var f [scopeKeys]pair
		if !d.fields(n, scopeShape, f[:]) || f[scopePrincipal].value == nil {
			return
		}
		at := f[scopePrincipal].value
		path, last, ok := d.path(e, at, 0, at.Value)
		if !ok {
			return
		}
		if last.Type != nil && last.Type.Name != StringType && last.Type.Name != EmailType {
			d.report(say.principalNotText(d.place(at), at.Value, typeWords[last.Type.Name]))
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
	if last.Type.Name != RefType || last.Type.Entity == nil {
		d.report(say.scopeNotReference(d.place(n), n.Value))
		return
	}
	s.Scope = append(path.Steps, stores.Step{Field: path.Field, To: last.Type.Entity.Store})
}

// visible reads which rows of an entity are there for whoever does not see all.
func (l *loader) visible(en *entityNode) {
	d, e, n := en.d, en.e, en.f[entVisible].value
	if n == nil {
		return
	}
	i := e.field(n.Value)
	switch {
	case i < 0:
		if !e.broken {
			d.report(say.unknownField(d.place(n), e, n.Value))
		}
	case e.Fields[i].Type == nil:
	case e.Fields[i].Type.Name != BooleanType:
		d.report(say.visibleNotBoolean(d.place(n), &e.Fields[i], e.Store.Fields[i].Name))
	case e.Store.Access == stores.ForAll:
		d.report(say.visibleToAll(d.place(n), e))
	default:
		e.Store.Visible = []int{i}
	}
}

// tellsOfHidden refuses sets of unique fields by which a refusal would tell
// that a row which the caller does not see holds the same. Rows of one parent
// are hidden together, unless they hide themselves.
func (l *loader) tellsOfHidden(en *entityNode) {
	e := en.e.Store
	if e.Hides() < 0 {
		return
	}
	for _, set := range e.Unique {
		if len(e.Visible) > 0 || !slices.Contains(set, e.Scope[0].Field) {
			en.d.report(say.uniqueTellsHidden(en.d.place(en.f[entUnique].value), en.e, set))
		}
	}
}

// path follows a dotted path from an entity: along references to a field. It
// stands at byte base of the scalar n, for the message.
func (d *doc) path(e *Entity, n *yaml.Node, base int, dotted string) (stores.Path, *Field, bool) {
	var p stores.Path
	at := 0
	for {
		name, rest, more := strings.Cut(dotted[at:], ".")
		i := e.field(name)
		if i < 0 {
			if !e.broken {
				d.report(say.unknownField(d.within(n, base+at, base+at+len(name)), e, name))
			}
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
		if f.Type.Name != RefType || f.Type.Entity == nil {
			next, _, _ := strings.Cut(rest, ".")
			d.report(say.notReference(d.within(n, base+at+len(name)+1, base+at+len(name)+1+len(next)), e, e.Store.Fields[i].Name, next, f))
			return p, nil, false
		}
		e = f.Type.Entity
		p.Steps = append(p.Steps, stores.Step{Field: i, To: e.Store})
		at += len(name) + 1
	}
}

// Types

// plainTypes are the types that need nothing said about them, shared by all
// who use them.
var plainTypes = func() (types [ListType + 1]*Type) {
	for i := range types {
		types[i] = &Type{Name: TypeName(i), Scale: -1}
	}
	return types
}()

var typeNamed = func() map[string]TypeName {
	m := make(map[string]TypeName, len(typeWords))
	for i, w := range typeWords {
		m[w] = TypeName(i)
	}
	return m
}()

// typeOf reads the keys of a type. It returns nil after an error, and whoever
// meets a nil type later is silent about it.
func (l *loader) typeOf(d *doc, f []pair, owner *yaml.Node, what string) *Type {
	n := f[typType].value
	if n == nil {
		return nil
	}
	name, known := typeNamed[n.Value]
	if !known {
		d.report(say.unknownType(d.place(n), n.Value))
		return nil
	}
	plain := true
	for i := typMinLength; i < typKeys; i++ {
		plain = plain && f[i].key == nil
	}
	for i := range typKeys {
		if i != typType && f[i].key != nil && !limitApplies(i, name) {
			d.report(say.limitDoesNotApply(d.place(f[i].key), f[i].key.Value, n.Value, limitTypes(i)))
		}
	}
	switch name {
	case RefType:
		e, ok := l.entityOf(d, f[typRefType], n, owner, what)
		if !ok {
			return nil
		}
		if e == nil {
			return plainTypes[RefType]
		}
		t := l.refs[e]
		if t == nil {
			t = &Type{Name: RefType, Entity: e, Scale: -1}
			l.refs[e] = t
		}
		return t
	case CodeType:
		ref := f[typRefType]
		if ref.key == nil {
			d.report(say.anyCode(d.place(n), owner.Value, what))
			return plainTypes[CodeType]
		}
		if ref.value == nil {
			return nil
		}
		list := l.codesNamed[ref.value.Value]
		if list == nil && len(l.codes) == 0 {
			// A palette that declares no lists at all is one whose codes are
			// kept elsewhere, not one with a misspelt name.
			d.report(say.noCodeLists(d.place(ref.value), ref.value.Value))
			return plainTypes[CodeType]
		}
		if list == nil {
			d.report(say.unknownCodeList(d.place(ref.value), ref.value.Value, l.codes))
			return nil
		}
		t := l.coded[list]
		if t == nil {
			t = &Type{Name: CodeType, Codes: list, Scale: -1}
			l.coded[list] = t
		}
		return t
	case ListType:
		t := &Type{Name: ListType, Scale: -1, Item: plainTypes[AnyType]}
		if f[typOf].key != nil {
			if t.Item = l.itemType(d, f[typOf], owner); t.Item == nil {
				return nil
			}
		}
		l.limits(d, t, f)
		return t
	case ObjectType:
		if f[typSchema].key == nil {
			return plainTypes[ObjectType]
		}
		s, ok := l.schemaOf(d, f[typSchema], owner)
		if !ok {
			return nil
		}
		return &Type{Name: ObjectType, Scale: -1, Schema: s}
	}
	if plain {
		return plainTypes[name]
	}
	t := &Type{Name: name, Scale: -1}
	l.limits(d, t, f)
	return t
}

func (l *loader) itemType(d *doc, of pair, owner *yaml.Node) *Type {
	n := of.value
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		return l.typeText(d, n)
	}
	var f [typKeys]pair
	if !d.fields(n, itemShape, f[:]) {
		return nil
	}
	return l.typeOf(d, f[:], owner, "list")
}

// typeText reads a type that is written in one scalar: `integer`, `ref cbu`,
// `code request-status`.
func (l *loader) typeText(d *doc, n *yaml.Node) *Type {
	word, of, more := strings.Cut(n.Value, " ")
	name, known := typeNamed[word]
	if !known {
		d.report(say.unknownType(d.within(n, 0, len(word)), word))
		return nil
	}
	if !more {
		return plainTypes[name]
	}
	place := d.within(n, len(word)+1, len(n.Value))
	switch name {
	case RefType:
		e := l.entityNamed[of]
		if e == nil {
			d.report(say.unknownEntity(place, of, l.entities))
			return nil
		}
		return &Type{Name: RefType, Entity: e, Scale: -1}
	case CodeType:
		list := l.codesNamed[of]
		if list == nil {
			d.report(say.unknownCodeList(place, of, l.codes))
			return nil
		}
		return &Type{Name: CodeType, Codes: list, Scale: -1}
	case ListType:
		item, known := typeNamed[of]
		if !known {
			d.report(say.unknownType(place, of))
			return nil
		}
		return &Type{Name: ListType, Item: plainTypes[item], Scale: -1}
	}
	d.report(say.limitDoesNotApply(place, of, word, []string{"ref", "code", "list"}))
	return nil
}

// entityOf finds what a reference refers to. Without a ref-type the name may
// say: request-id is a reference to request, or to whatever has request_id for
// its key.
func (l *loader) entityOf(d *doc, ref pair, typ, owner *yaml.Node, what string) (*Entity, bool) {
	if ref.key != nil {
		if ref.value == nil {
			return nil, false
		}
		e := l.entityNamed[ref.value.Value]
		if e == nil {
			d.report(say.unknownEntity(d.place(ref.value), ref.value.Value, l.entities))
			return nil, false
		}
		return e, true
	}
	if base, ok := strings.CutSuffix(underscored(owner.Value), "_id"); ok {
		for _, e := range l.entities {
			if sameName(e.Store.Name, base) {
				return e, true
			}
		}
	}
	var byKey *Entity
	for i := range l.entityNodes {
		if sameName(text(l.entityNodes[i].f[entKey]), owner.Value) {
			if byKey != nil {
				byKey = nil
				break
			}
			byKey = l.entityNodes[i].e
		}
	}
	if byKey == nil {
		d.report(say.anyReference(d.place(typ), owner.Value, what))
	}
	return byKey, true
}

func (l *loader) schemaOf(d *doc, p pair, owner *yaml.Node) (*Schema, bool) {
	n := p.value
	if n == nil {
		return nil, false
	}
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		s := l.schemaNamed[n.Value]
		if s == nil {
			d.report(say.unknownSchema(d.place(n), n.Value, l.schemaNamed))
			return nil, false
		}
		return s, true
	}
	s := l.compileSchema(d, owner.Value, d.place(p.key), n)
	return s, s != nil
}

// limitApplies says which keys go with which types.
func limitApplies(key int, name TypeName) bool {
	switch key {
	case typRefType:
		return name == RefType || name == CodeType
	case typOf:
		return name == ListType
	case typSchema:
		return name == ObjectType
	case typMinLength, typMaxLength:
		return name == StringType || name == EmailType || name == ListType
	case typPattern:
		return name == StringType || name == EmailType
	case typMin, typMax:
		return name == IntegerType || name == DecimalType || name == DateType || name == DateTimeType || name == DurationType || name == MoneyType
	case typScale:
		return name == DecimalType || name == MoneyType
	case typCurrencies:
		return name == MoneyType
	}
	return true
}

func limitTypes(key int) []string {
	var names []string
	for i, w := range typeWords {
		if limitApplies(key, TypeName(i)) {
			names = append(names, w)
		}
	}
	return names
}

func (l *loader) limits(d *doc, t *Type, f []pair) {
	ok := true
	given := func(i int) bool { return f[i].value != nil && limitApplies(i, t.Name) }
	if given(typMinLength) {
		t.MinLength, _ = d.integer(f[typMinLength], 0)
	}
	if given(typMaxLength) {
		t.MaxLength, ok = d.integer(f[typMaxLength], 1)
		if ok && t.MinLength > t.MaxLength {
			d.report(say.contradiction(d.place(f[typMinLength].value), "min-length is greater than max-length", "no value could be long enough and short enough", d.place(f[typMaxLength].value), "the greatest length"))
		}
	}
	if given(typPattern) {
		t.Pattern = l.pattern(d, f[typPattern].value)
	}
	if given(typScale) {
		if t.Scale, ok = d.integer(f[typScale], 0); !ok {
			t.Scale = -1
		}
	}
	bare := &Type{Name: t.Name, Scale: t.Scale}
	if t.Name == MoneyType {
		bare.Name = DecimalType
	}
	if given(typMin) && !bare.moving(f[typMin].value.Value, &t.MinDay) {
		t.Min, _ = l.value(d, bare, f[typMin].value, "min")
	}
	if given(typMax) && bare.moving(f[typMax].value.Value, &t.MaxDay) {
		if neverBoth(t.MinDay, t.MaxDay) {
			d.report(say.contradiction(d.place(f[typMin].value), "min is greater than max", "no date could be both", d.place(f[typMax].value), "the greatest value"))
		}
	} else if given(typMax) {
		if t.Max, ok = l.value(d, bare, f[typMax].value, "max"); ok && !t.Min.IsNull() && less(t.Max, t.Min) {
			d.report(say.contradiction(d.place(f[typMin].value), "min is greater than max", "no value could be both", d.place(f[typMax].value), "the greatest value"))
		}
	}
	d.items(f[typCurrencies], func(n *yaml.Node) {
		if !plainTypes[MoneyType].acceptsCurrency(n.Value) {
			d.report(say.badCurrency(d.place(n), n.Value))
			return
		}
		t.Currencies = append(t.Currencies, n.Value)
	})
}

// A pattern is bounded by its length and by how many steps it compiles to,
// since RE2 takes time in proportion to the text and to those: (a{1,30}){1,30}
// is short, and slow.
const (
	maxPattern = 1000
	maxSteps   = 600
)

// patternFault says what is wrong with a pattern, "" when nothing is.
func patternFault(pattern string) string {
	if len(pattern) > maxPattern {
		return "it is longer than " + strconv.Itoa(maxPattern) + " characters"
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return patternProblem(err)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return patternProblem(err)
	}
	if len(prog.Inst) > maxSteps {
		return "it repeats too much: it comes to " + strconv.Itoa(len(prog.Inst)) + " steps, and may come to " + strconv.Itoa(maxSteps)
	}
	return ""
}

func (l *loader) pattern(d *doc, n *yaml.Node) *regexp.Regexp {
	if re, ok := l.patterns[n.Value]; ok {
		return re
	}
	// On its own first: what is unbalanced could otherwise pair up with the
	// brackets put around it.
	var re *regexp.Regexp
	fault := patternFault(n.Value)
	if fault == "" {
		var err error
		if re, err = regexp.Compile("^(?:" + n.Value + ")$"); err != nil {
			fault = patternProblem(err)
		}
	}
	if fault != "" {
		d.report(say.badPattern(d.place(n), fault))
		return nil
	}
	l.patterns[n.Value] = re
	return re
}

func patternProblem(err error) string {
	if e, ok := err.(*syntax.Error); ok {
		return e.Code.String() + ": " + e.Expr
	}
	return err.Error()
}

// value reads a scalar, list or mapping of a palette as a value of a type: a
// default, a limit. What counts is what is written, not what YAML takes it
// for.
func (l *loader) value(d *doc, t *Type, n *yaml.Node, name string) (stores.Value, bool) {
	wrong := func(p problem) (stores.Value, bool) {
		d.report(say.badValue(d.place(n), name, n.Value, t, p))
		return stores.Value{}, false
	}
	switch {
	case n.Kind == poisoned:
		return stores.Value{}, false
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		d.report(say.nothingDefault(d.place(n), name))
		return stores.Value{}, false
	case t.Name == RefType || t.Name == MoneyType:
		d.report(say.noDefault(d.place(n), name, typeWords[t.Name]))
		return stores.Value{}, false
	case t.Name == ListType:
		if n.Kind != yaml.SequenceNode {
			return wrong(wrongType)
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
			return wrong(tooShort)
		case t.MaxLength > 0 && len(items) > t.MaxLength:
			return wrong(tooLong)
		}
		return stores.NewList(items...), true
	case t.Name == ObjectType, t.Name == AnyType && n.Kind != yaml.ScalarNode:
		if t.Name == ObjectType && n.Kind != yaml.MappingNode {
			return wrong(wrongType)
		}
		b, ok := d.json(nil, n)
		if !ok {
			return stores.Value{}, false
		}
		v, err := stores.ParseJSON(string(b))
		if err != nil {
			return wrong(wrongType)
		}
		return v, true
	case n.Kind != yaml.ScalarNode:
		return wrong(wrongType)
	}
	s, plain := n.Value, n.Style == 0
	var v stores.Value
	ok := true
	switch t.Name {
	case AnyType:
		switch {
		case !plain:
			return stores.NewString(s), true
		case s == "true" || s == "false":
			return stores.NewBool(s == "true"), true
		case isNumber(s) && strings.Contains(s, "."):
			v, ok = stores.ParseDecimal(s)
		case isNumber(s):
			v, ok = stores.ParseInt(s)
		default:
			v = stores.NewString(s)
		}
		if !ok {
			return wrong(wrongType)
		}
		return v, true
	case BooleanType:
		if !plain || s != "true" && s != "false" {
			return wrong(wrongType)
		}
		return stores.NewBool(s == "true"), true
	case IntegerType:
		if !isNumber(s) || strings.Contains(s, ".") {
			return wrong(wrongType)
		}
		if v, ok = stores.ParseInt(s); !ok {
			return wrong(notInt64)
		}
	case DecimalType:
		if !isNumber(s) {
			return wrong(wrongType)
		}
		if v, ok = stores.ParseDecimal(s); !ok {
			return wrong(notDecimal)
		}
	default:
		v, p := t.read(s)
		if p != fine {
			return wrong(p)
		}
		return v, true
	}
	v, p := t.limit(v)
	if p != fine {
		return wrong(p)
	}
	return v, true
}
