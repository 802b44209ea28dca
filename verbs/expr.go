package verbs

import (
	"fmt"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/expr"
)

// An Expr is a compiled expression: a requirement, a condition of an effect or
// of a confirmation rule, or a value to set. It is type-checked when the palette is
// loaded, has no loops, reads no clock and cannot change anything. It is
// immutable and may be shared.
//
// In it, an argument is named with underscores, `expected_date`; the fields of the row that a
// reference argument names follow a dot, `request_id.due_date`, along further references if need
// be; `row` is the row being read or changed; the engine supplies `today`, `now` and `principal`;
// codes are upper-case words. A bare `:expected-date` or `expected-date`, alone, is that
// argument.
type Expr struct {
	Text  string
	Place dsl.Place
	// Reads lists the row fields that the expression needs; the engine reads them before it
	// evaluates the expression.
	Reads []ExprRead

	Program *expr.Program
	OnePart bool // it is exactly one field of a record, which may have been left out
	// Present has the bits of the arguments that are present whenever the expression holds.
	Present uint64
}

// An ExprRead is one field that an expression needs: of the row that argument Param refers to, or
// of `row` if Param is OfRow. If Param is OfTotal, it is the total of the verb with index
// Path.Field.
type ExprRead struct {
	Param int
	// Part, if it is not 0, says that the row is the one to which a field of a record refers: the
	// field's number, from 1. Then Param is the argument that holds the record or, with Each, the
	// list whose item the record is.
	Part int
	Each bool
	Path stores.Path
}

// Values of ExprRead.Param for reads that belong to no argument.
const (
	OfRow   = -1
	OfTotal = -2
	OfEach  = -3 // the current row of an effect with for-each
	OfNew   = -4 // the key of the row that the effect with index Path.Field adds

	OfDisclosed = -5 // the value of Discloses[Path.Field]
)

// An Env holds the values for evaluating an expression; its Reads are parallel to Expr.Reads, or
// Filter.Reads.
type Env = expr.Env

// An Outside is a function that a Go program supplies, parallel to the Functions of a Registry.
type Outside = expr.Outside

// Errors of Eval.
var (
	ErrAbsent = expr.ErrAbsent
	ErrRange  = expr.ErrRange
	ErrZero   = expr.ErrZero
)

// Eval evaluates the expression. The result of a condition is a boolean.
func (e *Expr) Eval(env Env) (stores.Value, error) {
	v, err := e.Program.Eval(&env)
	if err != nil {
		return v, fmt.Errorf("%s: %w", e.Text, err)
	}
	return v, nil
}

// ArgOnly reports whether the expression is exactly one argument, and which.
func (e *Expr) ArgOnly() (param int, ok bool) {
	return e.Program.Index, e.Program.From == expr.Argument
}

// Args calls fn with the index of each argument whose value the expression uses, but not of
// arguments of which only fields of the row are read.
func (e *Expr) Args(fn func(param int)) {
	e.Program.Uses(func(from expr.Source, i int) {
		if i >= 0 && (from == expr.Argument || from == expr.Content || from == expr.Item) {
			fn(i)
		}
	})
}

// Copies reports whether the value may contain, whole or in part, an argument that arg accepts or
// a read value that read accepts, and not only depend on it. Of a record it may be one part
// alone, with its number from 1. A nil function accepts none.
func (e *Expr) Copies(arg func(param, part int) bool, read func(*ExprRead) bool) (does bool) {
	e.Program.Copies(func(from expr.Source, i, part int) {
		switch {
		case i < 0:
		case from == expr.Argument || from == expr.Content || from == expr.Item:
			does = does || arg(i, part)
		case from == expr.Read && read != nil:
			does = does || read(&e.Reads[i])
		}
	})
	return does
}

// ItemOf returns the list argument whose item the expression uses, if it uses one.
func (e *Expr) ItemOf() (param int, ok bool) {
	e.Program.Uses(func(from expr.Source, i int) {
		if i >= 0 && from == expr.Item {
			param, ok = i, true
		}
	})
	return param, ok
}

// OfAnswer reports whether the value depends on a tool's answer.
func (e *Expr) OfAnswer() (is bool) {
	e.Program.Uses(func(from expr.Source, i int) { is = is || i < 0 && from == expr.Item })
	return is
}

// Constant reports whether the expression is a constant, and which.
func (e *Expr) Constant() (stores.Value, bool) {
	return e.Program.Value, e.Program.From == expr.Constant
}

// Outcomes returns the constants of which the expression is one: itself, or those that its conditions
// choose among; nil if it may be anything else.
func (e *Expr) Outcomes() []stores.Value { return e.Program.Outcomes() }

// A Filter is an expression over `row` in a form that a store can evaluate.
type Filter struct {
	Text  string
	Place dsl.Place
	// Reads lists the fields of rows that arguments refer to; the engine reads them before it
	// asks for the condition.
	Reads []ExprRead

	Root expr.Condition
}

// Cond evaluates everything in the filter that does not depend on the row, and returns the rest.
// An absent value is null, which equals null and is neither less nor greater than anything.
func (f *Filter) Cond(env Env) (stores.Cond, error) {
	if f == nil {
		return stores.Cond{Op: stores.True}, nil
	}
	c, err := f.Root.Resolve(&env)
	if err != nil {
		return stores.Cond{}, fmt.Errorf("%s: %w", f.Text, err)
	}
	return c, nil
}
