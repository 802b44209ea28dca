package verbs

import (
	"verbatim/dsl"
	"verbatim/stores"
)

// A Program is a valid script: every verb exists, every argument is of its type, every binding is
// defined. Only Check makes one, so a function that takes a Program need not check again. It is
// read-only; its values alias the script it was made from.
type Program struct {
	registry *Registry
	script   *dsl.Script
	calls    []Call
	order    []int
	said     Literals
	bound    map[*dsl.Value]Row      // rows that names in the script mean
	kept     map[*dsl.Value]*Program // calls that are stored and not made

	// Memory that CheckInto reuses.
	args     []Arg // slab that Call.Args are cut from
	needs    []int // slab that Call.Needs are cut from
	edges    []edge
	bindings []binding
	byName   map[string]int // index in bindings, when there are too many to scan
	ints     []int
}

// Valid reports whether p holds a checked script. The zero Program does not,
// nor does one whose last CheckInto found an error.
func (p *Program) Valid() bool { return p.script != nil }

// Registry returns the palettes that the program was checked against.
func (p *Program) Registry() *Registry { return p.registry }

// Script returns the script that the program was made from.
func (p *Program) Script() *dsl.Script { return p.script }

// SaidBy sets the origins of the script's literals; without it, they are the author's own. Only
// the caller of Check calls it, before anything else has the program.
func (p *Program) SaidBy(l Literals) { p.said = l }

// Literals returns the value that SaidBy set.
func (p *Program) Literals() Literals { return p.said }

// A Row is the row that a name in a script means.
type Row struct {
	Entity *Entity
	Key    stores.Value
	Name   string // a name that can never mean another row, without its @
}

// Bind sets the row that an argument of kind Name means. Only the caller of Check calls it,
// before anything else has the program.
func (p *Program) Bind(a *Arg, row Row) {
	if p.bound == nil {
		p.bound = make(map[*dsl.Value]Row)
	}
	p.bound[a.Syntax] = row
}

// Bound returns the row that an argument of kind Name means, if it is set.
func (p *Program) Bound(a *Arg) (Row, bool) {
	row, ok := p.bound[a.Syntax]
	return row, ok
}

// Named returns the unambiguous form of a value of the script that names a row. ok is false for
// every other value, and for a nil program.
func (p *Program) Named(v *dsl.Value) (dsl.Value, bool) {
	if p == nil {
		return dsl.Value{}, false
	}
	row, ok := p.bound[v]
	if !ok {
		return dsl.Value{}, false
	}
	name := row.Name
	if v.Kind == dsl.Symbol {
		if _, path := Divide(v.Text); path != "" {
			name += "." + path
		}
	}
	return dsl.NewSymbol(name), true
}

// Canonical returns the script with unambiguous names, which never come to mean other rows. This
// text is what is stored of a program.
func (p *Program) Canonical() *dsl.Script {
	if len(p.bound) == 0 {
		return p.script
	}
	out := *p.script
	out.Calls = make([]dsl.Call, len(p.script.Calls))
	for i := range out.Calls {
		out.Calls[i] = *dsl.Replace(&p.script.Calls[i], func(_ *dsl.Call, _ string, v *dsl.Value) (dsl.Value, bool) { return p.Named(v) })
	}
	return &out
}

// Names calls fn with each argument of kind Name, and the type that is wanted there.
func (p *Program) Names(fn func(a *Arg, t *Type)) {
	names := func(in *Program) {
		for i := range in.calls {
			in.calls[i].names(fn)
		}
	}
	names(p)
	p.EachKept(func(_ int, in *Program) { names(in) })
}

// RowsIn calls fn with each row that a call names, in a value or in the path to one.
func (p *Program) RowsIn(call int, fn func(Row)) {
	rows := func(in *Program, c *Call) {
		c.names(func(a *Arg, _ *Type) {
			if row, ok := in.Bound(a); ok {
				fn(row)
			}
		})
	}
	rows(p, &p.calls[call])
	p.EachKept(func(of int, in *Program) {
		for i := range in.calls {
			if of == call {
				rows(in, &in.calls[i])
			}
		}
	})
}

func (c *Call) names(fn func(a *Arg, t *Type)) {
	var arg func(a *Arg, t *Type)
	arg = func(a *Arg, t *Type) {
		if a.Kind == Name {
			fn(a, t)
		}
		items := a.Items()
		for i := range items {
			arg(&items[i], t.PartOf(a, i))
		}
	}
	for j := range c.Args {
		arg(&c.Args[j], c.Verb.Params[j].Type)
	}
}

// Said returns the origin of an argument that the script writes out: a value, a name, or a list
// or a map of them. The origin of a default, which nobody wrote, is the zero Origin.
func (p *Program) Said(a *Arg) Origin {
	if a.Syntax == nil {
		return Origin{}
	}
	return p.said.of(a.Syntax)
}

// Calls returns the calls as written, nested calls before the call that contains them.
func (p *Program) Calls() []Call { return p.calls }

// Order returns indexes into Calls such that every call comes after those
// whose results it uses, otherwise as written.
func (p *Program) Order() []int { return p.order }

// Parts divides a program into its outermost calls, each with the calls nested in it. The parts share
// the calls of the whole, so that a call has one index in all of them; their scripts and their orders
// are their own.
func (p *Program) Parts() []*Program {
	parts := make([]*Program, len(p.script.Calls))
	at := 0
	for i := range parts {
		part := *p
		part.script, part.order = &dsl.Script{Source: p.script.Source, Calls: p.script.Calls[i : i+1]}, nil
		for nested := true; nested; at++ {
			nested, part.order = p.calls[at].Nested, append(part.order, at)
		}
		parts[i] = &part
	}
	return parts
}

// A Call is a checked call.
type Call struct {
	Verb   *Verb
	Syntax *dsl.Call
	Args   []Arg // parallel to Verb.Params
	Needs  []int // calls whose results it uses, ascending
	Nested bool  // it stands inside another call
	Each   bool  // of a macro: it is made for each item of the list
}

// ArgKind is the kind of a checked argument.
type ArgKind uint8

// The kinds of argument.
const (
	Absent  ArgKind = iota // not given, and without a default
	Literal                // Value
	Result                 // the result of Call, or the field Path of it
	Name                   // a Name the session knows, or the field Path of its row
	Listed                 // Items, at least one of which is not a literal
	Mapped                 // Items under Keys, at least one of which is not a literal
	Kept                   // calls that are stored and not made: see Texts
)

// An Arg is a checked argument. Literal lists and objects are one Value of kind JSON. An Arg is
// as small as possible, since one is written for every argument of every call: the text of a name
// stays in the script.
type Arg struct {
	Kind   ArgKind
	Call   int32 // of a Result: index in Program.Calls
	Value  stores.Value
	Syntax *dsl.Value // nil for a default
	items  *[]Arg
}

// Name returns the name of an argument of kind Name, without its @ and without a path.
func (a *Arg) Name() string {
	if a.Kind != Name {
		return ""
	}
	name, _ := a.words()
	return name
}

// Path returns the text after the first dot of a Name or of a Result, "entity.name", or "" for
// the whole value.
func (a *Arg) Path() string {
	if a.Kind != Name && a.Kind != Result {
		return ""
	}
	_, path := a.words()
	return path
}

// words splits a symbol into name and path. A name in quotes, and the result of a nested call,
// have no path.
func (a *Arg) words() (name, path string) {
	if a.Syntax.Kind == dsl.Symbol {
		return Divide(a.Syntax.Text)
	}
	return a.Syntax.Text, ""
}

// Divide splits a symbol at its first dot. It is a loop because the texts are a few bytes long.
func Divide(symbol string) (name, path string) {
	for i := range len(symbol) {
		if symbol[i] == '.' {
			return symbol[:i], symbol[i+1:]
		}
	}
	return symbol, ""
}

// Items returns the parts of a Listed or Mapped argument, nil for every other kind.
func (a *Arg) Items() []Arg {
	if a.items == nil {
		return nil
	}
	return *a.items
}

// Keys returns the keys of a Mapped argument, parallel to Items.
func (a *Arg) Keys() []string {
	if a.Kind != Mapped {
		return nil
	}
	entries := a.Syntax.Entries()
	keys := make([]string, len(entries))
	for i := range entries {
		keys[i] = entries[i].Key
	}
	return keys
}

// Names tells the checker which names a session knows, and the entity of each. A nil Names
// accepts every name and leaves the check to the run.
type Names interface {
	// Lookup returns the entity of a name, nil if the name is not known.
	Lookup(name string) *Entity
	// Nearby returns names that may have been meant.
	Nearby(name string) []string
}

// Homonyms is an optional interface of Names, for a name that Lookup does not know: it returns
// the rows that the name may mean, if it is ambiguous.
type Homonyms interface {
	Homonyms(name string) []Candidate
}

// Permitted is an optional interface of Names: it reports which verbs are worth suggesting.
type Permitted interface {
	May(v *Verb) bool
}

// Kept returns the program of the calls in an argument of kind Kept.
func (p *Program) Kept(a *Arg) *Program { return p.kept[a.Syntax] }

// EachKept calls fn with the stored calls, at any depth, each with the index in Calls of the call
// that has them as an argument.
func (p *Program) EachKept(fn func(of int, kept *Program)) {
	if len(p.kept) == 0 {
		return
	}
	for i := range p.calls {
		for j := range p.calls[i].Args {
			if in := p.Kept(&p.calls[i].Args[j]); in != nil && p.calls[i].Args[j].Kind == Kept {
				fn(i, in)
				in.EachKept(func(_ int, deeper *Program) { fn(i, deeper) })
			}
		}
	}
}

// Texts returns the calls of an argument of kind Kept, each as it is stored: canonical, with
// unambiguous names.
func (p *Program) Texts(a *Arg) []string {
	in := p.Kept(a)
	if in == nil {
		return nil
	}
	texts := make([]string, len(in.script.Calls))
	for i := range texts {
		texts[i] = dsl.FormatCall(dsl.Replace(&in.script.Calls[i], func(_ *dsl.Call, _ string, v *dsl.Value) (dsl.Value, bool) { return p.Named(v) }))
	}
	return texts
}

// NamesEach reports whether a call, or one inside it, names @each.
func NamesEach(c *dsl.Call) bool {
	found := false
	dsl.WalkCall(c, func(n dsl.Node) bool {
		if n.Value != nil && n.Value.Kind == dsl.Symbol {
			name, _ := Divide(n.Value.Text)
			found = found || name == "each"
		}
		return !found
	})
	return found
}
