package verbs

import (
	"gopkg.in/yaml.v3"

	"verbatim/dsl"
)

// A Draft is what is known of palettes while somebody writes them, as a language server
// does: unlike Load, it keeps what could be made of them where they have mistakes.
type Draft struct {
	// Registry is never nil. Of what has a mistake it accepts everything, so that it may
	// check scripts, and explain verbs; nothing is to be run with it.
	Registry    *Registry
	Diagnostics dsl.Diagnostics // as Load tells them
	Unread      []*dsl.Source   // of which nothing was read: they are not even YAML
	Lost        bool            // names may be declared in what was not read
	Uses        []Use           // asked for only; in the order in which they were read
}

// A Use is a place in a palette that names something.
type Use struct {
	Thing    Thing
	Place    dsl.Place // of the name alone
	Declares bool
	Known    bool     // a name that is none is a use too
	Names    []string // those that could stand there, of one that is not known
}

// A Thing is what has a name in palettes. Name is by which it is known among its Kind:
// "client", "client.add-note", "client.add-note:note", "cbu.name", "priority HIGH".
type Thing struct{ Kind, Name string }

// Kinds of things.
const (
	RoleThing     = "role"
	EntityThing   = "entity"
	FieldThing    = "field"
	CodesThing    = "code list"
	CodeThing     = "code"
	SchemaThing   = "schema"
	VerbThing     = "verb"
	ArgumentThing = "argument"
	WordThing     = "word" // of a closed list, such as the types
	KeyThing      = "key"  // of a mapping, in a shape
)

// ReadDraft reads palettes that are being written. Kept, if not nil, holds what can be
// used again of the texts read before; uses asks for Uses.
func ReadDraft(kept *Readings, uses bool, srcs ...*dsl.Source) *Draft {
	l := newLoader()
	l.kept = kept
	out := &Draft{}
	if uses {
		l.uses = &out.Uses
	}
	r, diags := l.load(srcs, applied(nil), true)
	out.Registry, out.Diagnostics, out.Lost = r, diags, len(l.lost) > 0
	for _, d := range l.docs {
		if _, language := sidecarName(d.src.Name); d.root == nil && language == "" {
			out.Unread = append(out.Unread, d.src)
		}
	}
	return out
}

// Readings hold the YAML of texts that were read, for the next time. They are used by one
// goroutine at a time.
type Readings struct{ docs map[string]*doc }

// doc is newDoc, from what was kept where the text is the same.
func (k *Readings) doc(src *dsl.Source, maxSize int) *doc {
	if k == nil {
		return newDoc(src, maxSize)
	}
	if was := k.docs[src.Name]; was != nil && was.src.Text == src.Text {
		return &doc{src: src, lines: was.lines, ascii: was.ascii, root: was.root}
	}
	d := newDoc(src, maxSize)
	if k.docs == nil {
		k.docs = make(map[string]*doc)
	}
	delete(k.docs, src.Name)
	if d.root != nil && len(d.diags) == 0 { // a tree that was complained about is spoilt
		k.docs[src.Name] = &doc{src: src, lines: d.lines, ascii: d.ascii, root: d.root}
	}
	return d
}

// use takes down that the bytes [from, to) of a scalar name something.
func (d *doc) use(n *yaml.Node, from, to int, kind, name string, declares, known bool, names func() []string) {
	if d.uses == nil || n == nil {
		return
	}
	u := Use{Thing: Thing{kind, name}, Declares: declares, Known: known}
	if from == 0 && to == len(n.Value) && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		u.Place = d.place(n)
	} else {
		u.Place = d.within(n, from, to)
	}
	if !known && names != nil {
		u.Names = names()
	}
	*d.uses = append(*d.uses, u)
}

// declares takes down that a scalar names what is declared there.
func (d *doc) declares(n *yaml.Node, kind, name string) {
	if d.uses != nil {
		d.use(n, 0, len(n.Value), kind, name, true, true, nil)
	}
}

func (l *loader) entity(d *doc, n *yaml.Node, from int, name string) *Entity {
	e := l.entityNamed[d.full(name)]
	d.use(n, from, from+len(name), EntityThing, d.full(name), false, e != nil, func() []string { return visible(d, l.entities) })
	return e
}

func (l *loader) codeListOf(d *doc, n *yaml.Node, from int, name string) *CodeList {
	list := l.codesNamed[d.full(name)]
	d.use(n, from, from+len(name), CodesThing, d.full(name), false, list != nil, func() []string { return visible(d, l.codes) })
	return list
}

func (l *loader) roleOf(d *doc, n *yaml.Node) *Role {
	r := l.roleNamed[d.full(n.Value)]
	d.use(n, 0, len(n.Value), RoleThing, d.full(n.Value), false, r != nil, func() []string { return visible(d, l.roles) })
	return r
}

func (l *loader) schemaNamedBy(d *doc, n *yaml.Node) *Schema {
	s := l.schemaNamed[d.full(n.Value)]
	d.use(n, 0, len(n.Value), SchemaThing, d.full(n.Value), false, s != nil, func() []string { return sortedKeys(l.schemaNamed) })
	return s
}

func (l *loader) verbOf(d *doc, n *yaml.Node) *Verb {
	v := l.verbNamed[n.Value]
	d.use(n, 0, len(n.Value), VerbThing, n.Value, false, v != nil, func() []string { return sortedKeys(l.verbNamed) })
	return v
}

// usesField takes down a field by its name in a scalar, index i of e, or -1.
func (d *doc) usesField(e *Entity, i int, n *yaml.Node, from, to int) {
	if d.uses == nil {
		return
	}
	name := ""
	if i >= 0 {
		name = e.Store.Fields[i].Name
	}
	d.use(n, from, to, FieldThing, e.Store.Name+"."+name, false, i >= 0, e.fieldNames)
}

// usesParam takes down an argument by its name in a scalar, index i of v, or -1.
func (d *doc) usesParam(v *Verb, i int, n *yaml.Node, from, to int, names func() []string) {
	if d.uses == nil {
		return
	}
	name := ""
	if i >= 0 {
		name = v.Params[i].Name
	}
	d.use(n, from, to, ArgumentThing, v.Name+":"+name, false, i >= 0, names)
}

// paramAt finds the argument that a scalar names, with a colon or without, -1 where it
// names none.
func (d *doc) paramAt(v *Verb, n *yaml.Node) int {
	from := 0
	if len(n.Value) > 0 && n.Value[0] == ':' {
		from = 1
	}
	i := v.param(n.Value[from:])
	d.usesParam(v, i, n, from, len(n.Value), v.paramNames)
	return i
}

// usesOfScripts takes down what the scripts in a verb name.
func (l *loader) usesOfScripts(r *Registry, vn *verbNode) {
	if l.uses == nil {
		return
	}
	of := func(n *yaml.Node, m *Macro) {
		if n == nil || m == nil || m.Script == nil {
			return
		}
		for _, u := range r.Uses(m.Script, vn.v) {
			u.Place = vn.d.within(n, int(u.Place.Range.Start), int(u.Place.Range.End))
			*l.uses = append(*l.uses, u)
		}
	}
	of(vn.f.at("script").value, vn.v.Macro)
	for _, runs := range [][]runNode{vn.runs, vn.instead} {
		for _, run := range runs {
			of(run.at, run.macro)
		}
	}
	if vn.undone != nil {
		of(vn.undone.at, vn.undone.macro)
	}
}

// Uses are the places where a script names something that palettes declare. Of is the verb
// that the script belongs to, whose arguments are its names; nil where it is nobody's.
func (r *Registry) Uses(s *dsl.Script, of *Verb) (uses []Use) {
	add := func(at dsl.Range, kind, name string, known bool) {
		uses = append(uses, Use{Thing: Thing{kind, name}, Place: dsl.Place{Source: s.Source, Range: at}, Known: known})
	}
	var value func(v *dsl.Value, t *Type)
	var call func(c *dsl.Call)
	call = func(c *dsl.Call) {
		v := r.verbs[c.Verb]
		add(c.VerbRange, VerbThing, c.Verb, v != nil)
		for i := range c.Args {
			a := &c.Args[i]
			var t *Type
			if v != nil {
				if j := v.param(a.Key); j >= 0 {
					t = v.Params[j].Type
					add(dsl.Range{Start: a.KeyRange.Start + 1, End: a.KeyRange.End}, ArgumentThing, v.Name+":"+v.Params[j].Name, true)
				}
			}
			value(&a.Value, t)
		}
	}
	value = func(v *dsl.Value, t *Type) {
		switch v.Kind {
		case dsl.Code:
			if t != nil && t.Name == CodeType && t.Codes != nil {
				add(v.Range, CodeThing, t.Codes.Name+" "+v.Text, t.Codes.Has(v.Text))
			}
		case dsl.Symbol:
			if name, _ := divide(v.Text); of != nil && of.param(name) >= 0 {
				start := v.Range.Start + 1
				add(dsl.Range{Start: start, End: start + int32(len(name))}, ArgumentThing, of.Name+":"+of.Params[of.param(name)].Name, true)
			}
		case dsl.Nested:
			call(v.Call())
		case dsl.List:
			for i := range v.Items() {
				var item *Type
				if t != nil {
					item = t.Item
				}
				value(&v.Items()[i], item)
			}
		case dsl.Map:
			for i := range v.Entries() {
				value(&v.Entries()[i].Value, t.Field(v.Entries()[i].Key))
			}
		}
	}
	for i := range s.Calls {
		call(&s.Calls[i])
	}
	return uses
}
