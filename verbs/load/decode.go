package load

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/naming"
)

// A loader joins the files of a directory. It goes over them in passes: what is declared, the
// fields of entities, how entities are related, and then the verbs, so that the order of files
// and of lines does not matter.
type loader struct {
	docs     []*doc
	palettes []*verbs.Palette

	roles    []*verbs.Role
	codes    []*verbs.CodeList
	schemas  []*verbs.Schema
	entities []*verbs.Entity

	roleNamed   map[string]*verbs.Role
	codesNamed  map[string]*verbs.CodeList
	schemaNamed map[string]*verbs.Schema
	entityNamed map[string]*verbs.Entity
	verbNamed   map[string]*verbs.Verb

	codeSchemas []codeSchemaNode
	formers     []formerNode
	entityNodes []entityNode
	searched    []*verbs.Entity
	verbNodes   []verbNode

	functions     []functionNode
	conversations []conversationNode
	pages         []pageNode
	taskNodes     []taskNode
	single        []singleNode
	tasks         map[*verbs.Entity]dsl.Place // where the task of an entity is declared

	says map[verbs.Saying]string

	// lost holds the codes of diagnostics about unknown names that cannot be judged: the
	// declarations of such names were not read completely.
	lost     map[string]bool
	nameless bool // a palette has no domain, so its verbs lack the names by which others call them

	// Values that are made once and used again.
	patterns map[string]*regexp.Regexp
	refs     map[*verbs.Entity]*verbs.Type
	broken   map[*verbs.Entity]bool // of doc
	coded    map[*verbs.CodeList]*verbs.Type
	operands map[string]verbs.Operand
	trees    map[string]*expr.Node

	kept *Readings // texts that were read before; nil if none are kept
	uses *[]Use    // nil if nobody asks for uses
}

// A codeSchemaNode is the name of a schema for a code, looked up when every schema is known.
type codeSchemaNode struct {
	d    *doc
	n    *yaml.Node
	list *verbs.CodeList
	code string
}

// schemasOfCodes gives codes their schemas.
func (l *loader) schemasOfCodes() {
	for _, c := range l.codeSchemas {
		s := l.schemaNamedBy(c.d, c.n)
		if s == nil {
			c.d.report(tell(c.d.place(c.n), "unknown-schema", c.n.Value, l.schemaNamed))
			continue
		}
		for i := range c.list.Codes {
			if c.list.Codes[i].Name == c.code {
				c.list.Codes[i].Schema = s
			}
		}
	}
}

// A formerNode is the former name of something, which nothing may have now.
type formerNode struct {
	d      *doc
	n      *yaml.Node
	what   string
	within string // the code list, for a code
	name   string // the present name
	taken  func(name string) (dsl.Place, bool)
}

// former checks former names, once all names are known.
func (l *loader) former() {
	seen := make(map[[3]string]dsl.Place)
	for _, f := range l.formers {
		at, key := f.d.place(f.n), [3]string{f.what, f.within, f.n.Value}
		if place, taken := f.taken(f.n.Value); f.n.Value == f.name {
			f.d.report(tell(at, "contradiction", f.name+" was always called so", "say what it was called before", dsl.Place{}, ""))
		} else if taken {
			f.d.report(tell(at, "declared-twice", f.what, f.n.Value, place))
		} else if first, twice := seen[key]; twice {
			f.d.report(tell(at, "declared-twice", f.what, f.n.Value, first))
		}
		seen[key] = at
	}
}

type entityNode struct {
	d *doc
	e *verbs.Entity
	f mapping

	columns   map[string]int // fields by column
	countries map[int]pair   // what holds the country of a field
}

type verbNode struct {
	d *doc
	v *verbs.Verb
	n *yaml.Node
	f mapping

	runs []runNode // calls that its triggers make, or that a plan tries instead
	// the calls that a plan tries instead, if its answer is doubtful
	instead []runNode
	undone  *runNode // the call that undoes it; nil if none does
}

// A runNode is a call in the text of a verb, and the place where it is written.
type runNode struct {
	at    *yaml.Node
	macro *verbs.Macro
}

// A singleNode is a call that a conversation or a page makes.
type singleNode struct {
	d      *doc
	at     *yaml.Node
	script *dsl.Script
}

func newLoader() *loader {
	return &loader{
		roleNamed:   make(map[string]*verbs.Role),
		codesNamed:  make(map[string]*verbs.CodeList),
		schemaNamed: make(map[string]*verbs.Schema),
		entityNamed: make(map[string]*verbs.Entity),
		verbNamed:   make(map[string]*verbs.Verb),
		says:        make(map[verbs.Saying]string),
		tasks:       make(map[*verbs.Entity]dsl.Place),
		lost:        make(map[string]bool),
		patterns:    make(map[string]*regexp.Regexp),
		refs:        make(map[*verbs.Entity]*verbs.Type),
		broken:      make(map[*verbs.Entity]bool),
		coded:       make(map[*verbs.CodeList]*verbs.Type),
		operands:    make(map[string]verbs.Operand),
		trees:       make(map[string]*expr.Node),
	}
}

// declare records the names in a file, so that everything else can refer to them. Names with
// errors in their declarations are recorded too.
func (l *loader) declare(d *doc) {
	d.broken = l.broken
	f, read := d.fields(d.root, "palette")
	l.miss(d, read, f)
	if !read {
		return
	}
	p := &verbs.Palette{Domain: f.text("domain"), Description: f.text("description"), Source: d.src, Plans: f.boolean("plans")}
	l.palettes = append(l.palettes, p)
	if n := f.at("domain").value; n != nil && !naming.IsDottedName(n.Value) {
		d.report(badName(d.place(n), "domain", n.Value))
		p.Domain = "" // verbs keep their own names and are not reported again
	} else if naming.IsOurs(p.Domain) {
		d.report(tell(d.place(n), "reserved-word/ours", "domain", n.Value))
	} else {
		d.domain = n
	}
	if p.Domain == "" {
		l.nameless, l.lost["unknown-verb"] = true, true
	}
	d.names(f)
	d.each(f.at("roles"), func(n *yaml.Node) { l.role(d, n) })
	d.each(f.at("codes"), func(n *yaml.Node) { l.codeList(d, n) })
	d.each(f.at("functions"), func(n *yaml.Node) { l.declareFunction(d, n) })
	d.entries(f.at("schemas").value, func(k, v *yaml.Node) { l.schema(d, k, v) })
	d.entries(f.at("entities").value, func(k, v *yaml.Node) { l.declareEntity(d, k, v) })
	if f.at("verbs").value != nil {
		l.declareVerbs(d, p, f.at("verbs").value)
	}
	if f.at("conversation").value != nil {
		l.conversations = append(l.conversations, conversationNode{d, p, f.at("conversation")})
	}
	if f.at("task").value != nil {
		l.taskNodes = append(l.taskNodes, taskNode{d, p, f.at("task")})
	}
	d.each(f.at("pages"), func(n *yaml.Node) { l.pages = append(l.pages, pageNode{d, p, n}) })
}

// declares lists the parts of a palette that declare names, with the code of the diagnostic for
// an unknown one.
var declares = [...]struct{ part, code string }{{"roles", "unknown-role"}, {"codes", "unknown-code-list"}, {"codes", "any-code"}, {"schemas", "unknown-schema"}, {"entities", "unknown-entity"}, {"verbs", "unknown-verb"}}

// miss records which parts of a file were not read, because they have another shape, or may be
// under a misspelt key.
func (l *loader) miss(d *doc, read bool, f mapping) {
	misspelt := read && unknownIn(d.root, "palette")
	for _, part := range declares {
		p := f.at(part.part)
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
	if n == nil || naming.IsName(n.Value) {
		return true
	}
	d.report(badName(d.place(n), what, n.Value))
	return false
}

func (l *loader) role(d *doc, n *yaml.Node) {
	f, ok := d.fields(n, "role")
	if !ok || f.at("name").value == nil {
		l.lost["unknown-role"] = true
		return
	}
	k := f.at("name").value
	d.name(k, "role")
	d.declares(k, RoleThing, d.full(k.Value))
	r := &verbs.Role{Name: d.full(k.Value), Description: f.text("description"), Place: d.place(k), SeesAll: f.text("sees") == "all", Keeps: f.text("keeps") == "journal", Was: f.text("renamed-from")}
	if n := f.at("renamed-from").value; n != nil {
		l.formers = append(l.formers, formerNode{d, n, "role", "", r.Name, func(name string) (dsl.Place, bool) {
			if r := l.roleNamed[name]; r != nil {
				return r.Place, true
			}
			return dsl.Place{}, false
		}})
	}
	if first := l.roleNamed[d.key(r.Name)]; first != nil {
		d.report(tell(r.Place, "declared-twice", "role", r.Name, first.Place))
		return
	}
	l.roleNamed[d.key(r.Name)] = r
	l.roles = append(l.roles, r)
}

// Namespaces

// Declared names are known to all palettes of the directory, unless a palette has a namespace:
// then its roles, codes, schemas and entities are known only to palettes with the same namespace.
// Names under `shares` mean there what they mean in palettes without a namespace.

// names reads the namespace of a palette.
func (d *doc) names(f mapping) {
	n := f.at("namespace").value
	if n == nil {
		if p := f.at("shares"); p.key != nil {
			d.report(tell(d.place(p.key), "shares-nothing"))
		}
		return
	}
	if !d.name(n, "namespace") {
		return
	}
	if naming.IsOurs(n.Value) {
		d.report(tell(d.place(n), "reserved-word/ours", "namespace", n.Value))
		return
	}
	d.namespace, d.shared = n.Value, map[string]bool{}
	d.sharing = f.at("shares")
	d.items(d.sharing, func(n *yaml.Node) { d.shared[n.Value] = true })
}

// full returns the full name of something that a palette names.
func (d *doc) full(name string) string {
	if d.namespace == "" || d.shared[name] {
		return name
	}
	return d.namespace + "." + name
}

// hidden begins the key of what a palette of the program's own declares. No name holds it.
const hidden = "\x00"

// key returns the key by which the loader finds something that a palette declares.
func (d *doc) key(full string) string {
	if d.beside {
		return hidden + full
	}
	return full
}

// apartly returns the name of a code list or a schema. Those of the program's own palettes have a
// namespace, which no other palette can have.
func (d *doc) apartly(name string) string {
	if d.beside {
		return "verbatim." + d.full(name)
	}
	return d.full(name)
}

// named finds what a palette names: in a palette of the program's own, first what those declare.
func named[T any](d *doc, all map[string]*T, name string) *T {
	if one := all[d.key(d.full(name))]; one != nil {
		return one
	}
	return all[d.full(name)]
}

// short returns the name that a palette uses for a full name, "" if the palette does not know it.
func (d *doc) short(full string) string {
	name := full[strings.LastIndexByte(full, '.')+1:]
	if d.full(name) != full {
		return ""
	}
	return name
}

// visible returns the names that a palette may use for some things.
func visible[T fmt.Stringer](d *doc, all []T) []string {
	names := make([]string, 0, len(all))
	for _, one := range all {
		if name := d.short(one.String()); name != "" && (d.beside || !slices.Contains(d.apart, placeOf(one).Source)) {
			names = append(names, name)
		}
	}
	return names
}

// placeOf returns where an entity, a list of codes or a role is declared.
func placeOf(one fmt.Stringer) dsl.Place {
	switch one := one.(type) {
	case *verbs.Entity:
		return one.Place
	case *verbs.CodeList:
		return one.Place
	}
	return one.(*verbs.Role).Place
}

// taken reports domains, roles and entities that have the name of one of the program's own. What
// the store keeps names them, so they cannot be told apart.
func (l *loader) taken() {
	for _, own := range l.docs {
		for _, d := range l.docs {
			if own.beside && !d.beside && own.domain != nil && d.domain != nil && own.domain.Value == d.domain.Value {
				d.report(tell(d.place(d.domain), "declared-twice/domain", d.domain.Value, own.place(own.domain)))
			}
		}
	}
	clash := func(what string, first, own fmt.Stringer) {
		at := placeOf(first)
		l.docOf(at).report(tell(at, "declared-twice/ours", what, first, placeOf(own)))
	}
	for _, r := range l.roles {
		if first, own := l.roleNamed[r.Name], l.roleNamed[hidden+r.Name]; first == r && own != nil {
			clash("role", first, own)
		}
	}
	for _, e := range l.entities {
		if first, own := l.entityNamed[e.Store.Name], l.entityNamed[hidden+e.Store.Name]; first == e && own != nil {
			clash("entity", first, own)
		}
	}
}

// docOf returns the file of a place.
func (l *loader) docOf(at dsl.Place) *doc {
	return l.docs[slices.IndexFunc(l.docs, func(d *doc) bool { return d.src == at.Source })]
}

// sharesKnown reports shared names that no palette without a namespace, or sharing them too,
// declares.
func (l *loader) sharesKnown() {
	for _, d := range l.docs {
		if d.root == nil || len(d.shared) == 0 {
			continue
		}
		d.items(d.sharing, func(n *yaml.Node) {
			name := n.Value
			if l.entityNamed[name] == nil && l.roleNamed[name] == nil && l.codesNamed[name] == nil && l.schemaNamed[name] == nil {
				d.report(tell(d.place(n), "shares-nothing/unknown", name))
			}
		})
	}
}

// Names that are looked up

func (l *loader) entity(d *doc, n *yaml.Node, from int, name string) *verbs.Entity {
	e := named(d, l.entityNamed, name)
	d.use(n, from, from+len(name), EntityThing, d.full(name), false, e != nil, func() []string { return visible(d, l.entities) })
	return e
}

// entityAt returns the entity that a scalar names; nil if there is none, which is reported.
func (l *loader) entityAt(d *doc, n *yaml.Node) *verbs.Entity {
	e := l.entity(d, n, 0, n.Value)
	if e == nil {
		d.report(tell(d.place(n), "unknown-entity", n.Value, visible(d, l.entities)))
	}
	return e
}

// entityWithin is entityAt for a name within a scalar.
func (l *loader) entityWithin(d *doc, n *yaml.Node, from int, name string) *verbs.Entity {
	e := l.entity(d, n, from, name)
	if e == nil {
		d.report(tell(d.within(n, from, from+len(name)), "unknown-entity", name, visible(d, l.entities)))
	}
	return e
}

// fieldAt returns the index of the field that a scalar names; -1 if there is none, which is
// reported unless the entity lacks fields that could not be read.
func (d *doc) fieldAt(e *verbs.Entity, n *yaml.Node) int {
	i := e.FieldNamed(n.Value)
	d.usesField(e, i, n, 0, len(n.Value))
	if i < 0 && !d.broken[e] {
		d.report(tell(d.place(n), "unknown-field", e, n.Value))
	}
	return i
}

// fieldWithin is fieldAt for a name within a scalar.
func (d *doc) fieldWithin(e *verbs.Entity, n *yaml.Node, from int, name string) int {
	i := e.FieldNamed(name)
	d.usesField(e, i, n, from, from+len(name))
	if i < 0 && !d.broken[e] {
		d.report(tell(d.within(n, from, from+len(name)), "unknown-field", e, name))
	}
	return i
}

func (l *loader) codeListOf(d *doc, n *yaml.Node, from int, name string) *verbs.CodeList {
	list := named(d, l.codesNamed, name)
	d.use(n, from, from+len(name), CodesThing, d.apartly(name), false, list != nil, func() []string { return visible(d, l.codes) })
	return list
}

func (l *loader) roleOf(d *doc, n *yaml.Node) *verbs.Role {
	r := named(d, l.roleNamed, n.Value)
	d.use(n, 0, len(n.Value), RoleThing, d.full(n.Value), false, r != nil, func() []string { return visible(d, l.roles) })
	return r
}

func (l *loader) schemaNamedBy(d *doc, n *yaml.Node) *verbs.Schema {
	s := named(d, l.schemaNamed, n.Value)
	d.use(n, 0, len(n.Value), SchemaThing, d.apartly(n.Value), false, s != nil, func() []string { return slices.Sorted(maps.Keys(l.schemaNamed)) })
	return s
}

func (l *loader) verbOf(d *doc, n *yaml.Node) *verbs.Verb {
	v := l.verbNamed[n.Value]
	d.use(n, 0, len(n.Value), VerbThing, n.Value, false, v != nil, func() []string { return slices.Sorted(maps.Keys(l.verbNamed)) })
	return v
}

// callable returns the verb that an item names; nil if there is none, or nobody may call it.
func (l *loader) callable(d *doc, n *yaml.Node, what string) *verbs.Verb {
	v := l.verbOf(d, n)
	switch {
	case v == nil:
		d.report(tell(d.place(n), "unknown-verb", n.Value, l.verbNamed))
	case v.Internal:
		d.report(internalNamed(d.place(n), v, what))
		return nil
	case v.Deprecated != nil:
		d.report(verbs.DeprecatedVerb(d.place(n), v, nil, ""))
	}
	return v
}
