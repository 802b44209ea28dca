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

// usesOfScripts takes down what the scripts in a verb name.
func (l *loader) usesOfScripts(r *Registry, vn *verbNode) {
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
