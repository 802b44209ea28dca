package load

import (
	"errors"
	"io"
	"sort"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/strict"
)

// A Draft holds what is known of palettes while somebody edits them, for a language server:
// unlike Load, it keeps what could be read of palettes with errors.
type Draft struct {
	// Registry is never nil. It accepts everything in place of what has an error, so that it can
	// check scripts and explain verbs; it must not be used to run anything.
	Registry    *verbs.Registry
	Diagnostics dsl.Diagnostics // as Load reports them
	Unread      []*dsl.Source   // sources of which nothing was read, because they are not even YAML
	Lost        bool            // names may be declared in text that was not read
	Uses        []Use           // only if asked for; in the order in which they were read
}

// A Use is a place in a palette that names something.
type Use struct {
	Thing    Thing
	Place    dsl.Place // of the name alone
	Declares bool
	Known    bool     // false if the name does not exist
	Names    []string // names that could be used instead, if it is not known
}

// A Thing is something with a name in palettes. Name identifies it among its Kind: "client",
// "client.add-note", "client.add-note:note", "cbu.name", "priority HIGH".
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

// ReadDraft reads palettes that are being edited. kept, if not nil, caches what can be reused of
// the texts read before; uses asks for Uses.
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

// Readings cache the YAML of texts that were read. One goroutine at a time may use them.
type Readings struct{ docs map[string]*doc }

// doc is newDoc with the cache. If a text has not changed, its YAML is not read again; if it
// differs inside one item of a list, as when somebody types in a verb, only that item is.
func (k *Readings) doc(src *dsl.Source, maxSize int) *doc {
	if k.docs == nil {
		k.docs = make(map[string]*doc)
	}
	was := k.docs[src.Name]
	if was != nil && was.src.Text == src.Text {
		return &doc{src: src, lines: was.lines, ascii: was.ascii, root: was.root}
	}
	var d *doc
	if was != nil && len(src.Text) <= maxSize && utf8.ValidString(src.Text) {
		d = was.patched(src)
	}
	if d == nil {
		d = newDoc(src, maxSize)
	}
	if d.root != nil && len(d.diags) == 0 { // a tree with errors cannot be reused
		k.docs[src.Name] = &doc{src: src, lines: d.lines, ascii: d.ascii, root: d.root}
	}
	return d
}

// otherBreaks are further characters that end lines in YAML.
const otherBreaks = "\r\u0085\u2028\u2029"

// patched makes the YAML of a text from that of an earlier text that differs from it only in one
// item of a list; nil if they differ otherwise, or if the item cannot be read alone. It modifies
// the tree of d.
func (d *doc) patched(src *dsl.Source) *doc {
	old, text := d.src.Text, src.Text
	if strings.ContainsAny(old, otherBreaks) || strings.ContainsAny(text, otherBreaks) {
		return nil
	}
	from := 0
	for from < len(old) && from < len(text) && old[from] == text[from] {
		from++
	}
	tail := 0
	for tail < len(old)-from && tail < len(text)-from && old[len(old)-1-tail] == text[len(text)-1-tail] {
		tail++
	}
	list, i := d.itemAround(from, len(old)-tail)
	if list == nil {
		return nil
	}
	item, next := list.Content[i], list.Content[i+1]
	begin, end := int(d.lines[item.Line-1]), int(d.lines[next.Line-1])+len(text)-len(old)
	if _, found := strict.TooNested(text); found || end < begin {
		return nil
	}
	var root, more yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(text[begin:end]))
	if strict.Decode(dec, &root) != nil || !errors.Is(strict.Decode(dec, &more), io.EOF) {
		return nil
	}
	alone := root.Content[0]
	if alone.Kind != yaml.SequenceNode || len(alone.Content) != 1 || alone.Style&yaml.FlowStyle != 0 || alone.Content[0].Column != item.Column || alone.Content[0].Line != 1 {
		return nil
	}
	out := &doc{src: src}
	out.index()
	shift(alone.Content[0], item.Line-1)
	out.root = alone.Content[0]
	if out.inspect(out.root, 2); len(out.diags) > 0 {
		return nil
	}
	by := strings.Count(text[begin:end], "\n") - (next.Line - item.Line)
	list.Content[i] = out.root
	out.root = d.root
	if by == 0 {
		return out
	}
	for _, n := range list.Content[i+1:] {
		shift(n, by)
	}
	after := false
	for _, n := range d.root.Content {
		if after {
			shift(n, by)
		}
		after = after || n == list
	}
	return out
}

// itemAround finds the item of a list of the palette that contains a range, between its dash and
// the line of the next item.
func (d *doc) itemAround(from, to int) (*yaml.Node, int) {
	if d.root.Kind != yaml.MappingNode {
		return nil, 0
	}
	for _, list := range d.root.Content {
		if list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 {
			continue
		}
		i := sort.Search(len(list.Content), func(i int) bool { return int(d.offset(list.Content[i])) > from }) - 1
		if i < 0 || i+1 >= len(list.Content) {
			continue
		}
		item, next := list.Content[i], list.Content[i+1]
		if next.Line > item.Line && to < int(d.lines[next.Line-1]) && strings.TrimSpace(d.src.Text[d.lines[item.Line-1]:d.offset(item)]) == "-" {
			return list, i
		}
	}
	return nil, 0
}

// shift moves a tree down by lines.
func shift(n *yaml.Node, lines int) {
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines)
	}
}

// usesOfScripts records the names in the scripts of a verb.
func (l *loader) usesOfScripts(r *verbs.Registry, vn *verbNode) {
	of := func(n *yaml.Node, m *verbs.Macro) {
		if n == nil || m == nil || m.Script == nil {
			return
		}
		for _, u := range Uses(r, m.Script, vn.v) {
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

// Uses returns the places where a script names something that palettes declare. of is the verb
// whose script it is, and whose arguments are its names; nil if it belongs to no verb.
func Uses(r *verbs.Registry, s *dsl.Script, of *verbs.Verb) (uses []Use) {
	add := func(at dsl.Range, kind, name string, known bool) {
		uses = append(uses, Use{Thing: Thing{kind, name}, Place: dsl.Place{Source: s.Source, Range: at}, Known: known})
	}
	var value func(v *dsl.Value, t *verbs.Type)
	call := func(c *dsl.Call) {
		v := r.Verb(c.Verb)
		add(c.VerbRange, VerbThing, c.Verb, v != nil)
		for i := range c.Args {
			a := &c.Args[i]
			var t *verbs.Type
			if v != nil {
				if j := v.ParamNamed(a.Key); j >= 0 {
					t = v.Params[j].Type
					add(dsl.Range{Start: a.KeyRange.Start + 1, End: a.KeyRange.End}, ArgumentThing, v.Name+":"+v.Params[j].Name, true)
				}
			}
			value(&a.Value, t)
		}
	}
	value = func(v *dsl.Value, t *verbs.Type) {
		switch v.Kind {
		case dsl.Code:
			if t != nil && t.Name == verbs.CodeType && t.Codes != nil {
				add(v.Range, CodeThing, t.Codes.Name+" "+v.Text, t.Codes.Has(v.Text))
			}
		case dsl.Symbol:
			if name, _ := verbs.Divide(v.Text); of != nil && of.ParamNamed(name) >= 0 {
				start := v.Range.Start + 1
				add(dsl.Range{Start: start, End: start + int32(len(name))}, ArgumentThing, of.Name+":"+of.Params[of.ParamNamed(name)].Name, true)
			}
		case dsl.Nested:
			call(v.Call())
		case dsl.List:
			for i := range v.Items() {
				var item *verbs.Type
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
