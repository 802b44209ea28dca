package verbs

import (
	"verbatim/dsl"
	"verbatim/stores"
)

// A Program is a script that means something: every verb exists, every
// argument is of its type, every binding is defined. Only Check makes one, so
// whoever holds a Program need not ask again. It is read-only; its values
// alias the script it was made from.
type Program struct {
	registry *Registry
	script   *dsl.Script
	calls    []Call
	order    []int

	// What follows is memory that CheckInto uses again.
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

// Calls returns the calls as written, nested calls before the call they stand
// in.
func (p *Program) Calls() []Call { return p.calls }

// Order returns indexes into Calls such that every call comes after those
// whose results it uses, otherwise as written.
func (p *Program) Order() []int { return p.order }

// A Call is a checked call.
type Call struct {
	Verb   *Verb
	Syntax *dsl.Call
	Args   []Arg // parallel to Verb.Params
	Needs  []int // calls whose results it uses, ascending
	Nested bool  // it stands inside another call
}

// ArgKind says what a checked argument is.
type ArgKind uint8

// The kinds of argument.
const (
	Absent  ArgKind = iota // not given, and without a default
	Literal                // Value
	Result                 // the result of Call, or the field Path of it
	Name                   // a name the session knows, or the field Path of its row
	Listed                 // Items, at least one of which is not a literal
	Mapped                 // Items under Keys, at least one of which is not a literal
)

// An Arg is a checked argument. Literal lists and objects are one Value of kind
// JSON.
type Arg struct {
	Kind   ArgKind
	Value  stores.Value
	Call   int    // of a Result: index in Program.Calls
	Name   string // of a Name, without its @
	Path   string // after the first dot: "entity.name"
	Items  []Arg
	Keys   []string
	Syntax *dsl.Value // nil when it is the default
}

// Names tells the checker which names a session knows: the entity behind one,
// if the session was given it. A nil Names accepts every name and leaves the
// question to the run.
type Names interface {
	// Lookup returns the entity that a name stands for, nil when it is not
	// known.
	Lookup(name string) *Entity
	// Nearby returns names that may have been meant.
	Nearby(name string) []string
}
