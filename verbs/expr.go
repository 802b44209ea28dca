package verbs

import (
	"time"

	"verbatim/dsl"
	"verbatim/stores"
)

// An Expr is a compiled expression: a condition of an effect or of a
// confirmation rule, or a value to set. It is type-checked when the palette is
// loaded, has no loops, reads no clock and cannot change anything.
//
// In it, an argument goes by its name with underscores, `expected_date`; the
// fields of the row that a reference argument names follow a dot,
// `request_id.due_date`, along further references if need be; `row` is the row
// being read or changed; `today`, `now` and `principal` are given by the
// engine; codes are upper-case words. A bare `:expected-date` or
// `expected-date`, alone, is that argument.
type Expr struct {
	Text  string
	Place dsl.Place
	// Reads lists the row fields that the expression needs, for the engine to
	// fetch before it asks for the value.
	Reads []ExprRead

	prog *exprProgram
}

// An ExprRead is one field that an expression needs: of the row that argument
// Param refers to, or of `row` when Param is -1.
type ExprRead struct {
	Param int
	Path  stores.Path
}

// An Env is what an expression is evaluated on.
type Env struct {
	Args      []stores.Value // parallel to Verb.Params
	Reads     []stores.Value // parallel to Expr.Reads
	Principal string
	Now       time.Time
}

// A Filter is an expression over `row` in a form that a store can carry out.
type Filter struct {
	Text  string
	Place dsl.Place

	root filterNode
}

type (
	exprProgram struct{}
	filterNode  struct{}
)
