package verbs

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"verbatim/dsl"
	"verbatim/stores"
)

// An Expr is a compiled expression: a requirement, a condition of an effect or
// of a confirmation rule, or a value to set. It is type-checked when the palette is
// loaded, has no loops, reads no clock and cannot change anything. It is
// immutable and may be shared.
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

	prog exprProgram
	// nonNil has the bits of the arguments that are there whenever the
	// expression holds.
	nonNil uint64
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
	Contents  []stores.Value // parallel to Args: what the bytes of an upload are known by
	Reads     []stores.Value // parallel to Expr.Reads, or Filter.Reads
	Principal string
	Now       time.Time
}

// Errors of Eval. A condition that cannot be decided must be taken for the
// worse: ask, or refuse.
var (
	// ErrAbsent says that something was compared or reckoned with that has no
	// value. `x != nil and x > 5` asks first.
	ErrAbsent = errors.New("a value is absent")
	// ErrRange says that a result does not fit: an integer of more than 64
	// bits, a date after the year 9999.
	ErrRange = errors.New("the result is out of range")
	// ErrZero says that something was divided by zero.
	ErrZero = errors.New("division by zero")
)

// Eval works out the value. The result of a condition is a boolean.
func (e *Expr) Eval(env Env) (stores.Value, error) {
	v, err := e.prog.eval(&env)
	if err != nil {
		return stores.Value{}, fmt.Errorf("%s: %w", e.Text, err)
	}
	return v, nil
}

// ArgOnly reports whether the expression is exactly one argument, and which.
func (e *Expr) ArgOnly() (param int, ok bool) {
	return e.prog.index, e.prog.kind == progArgument
}

// Args calls fn with each argument that the value is worked out from, by its
// index; not with one of which only fields of its row are read.
func (e *Expr) Args(fn func(param int)) {
	if e.prog.kind == progArgument {
		fn(e.prog.index)
	}
	for _, s := range e.prog.slots {
		if s.kind == slotArg || s.kind == slotContent {
			fn(s.index)
		}
	}
}

// Constant reports whether the expression is a constant, and which.
func (e *Expr) Constant() (stores.Value, bool) {
	return e.prog.value, e.prog.kind == progConstant
}

type progKind uint8

const (
	progCode     progKind = iota
	progConstant          // value
	progArgument          // Args[index]
	progRead              // Reads[index]
)

// An exprProgram is what an expression became: nearly always no more than an
// argument or a constant, otherwise a program of the expression library, which
// is made when it is first needed because most never are.
type exprProgram struct {
	kind  progKind
	index int
	value stores.Value

	slots  []slot
	root   ast.Node
	once   sync.Once
	simple *simple // a condition that needs no code; otherwise nil
	code   *vm.Program
	err    error
}

// A slot is one thing that a program reads. It finds it in its environment
// under slotNames[i].
type slot struct {
	kind  slotKind
	index int
}

type slotKind uint8

const (
	slotArg slotKind = iota
	slotContent
	slotRead
	slotPrincipal
	slotNow
	slotToday
)

func (p *exprProgram) eval(env *Env) (stores.Value, error) {
	switch p.kind {
	case progConstant:
		return p.value, nil
	case progArgument:
		return valueAt(env.Args, p.index), nil
	case progRead:
		return valueAt(env.Reads, p.index), nil
	}
	if err := p.compile(); err != nil {
		return stores.Value{}, err
	}
	if p.simple != nil {
		holds, err := p.simple.holds(env)
		if err != nil {
			return stores.Value{}, err
		}
		return stores.NewBool(holds), nil
	}
	s := evalStates.Get().(*evalState)
	s.load(p.slots, env)
	out, err := s.vm.Run(p.code, s.env)
	var v stores.Value
	if err == nil {
		v = *valueOf(out) // before the cell that it may point to is cleared
	}
	s.clear(len(p.slots))
	evalStates.Put(s)
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) && at.Prev != nil {
			return stores.Value{}, at.Prev
		}
		return stores.Value{}, errors.New("it cannot be worked out")
	}
	return v, nil
}

// valueAt takes what an environment lacks for absent.
func valueAt(values []stores.Value, i int) stores.Value {
	if i < len(values) {
		return values[i]
	}
	return stores.Value{}
}

func (p *exprProgram) compile() error {
	p.once.Do(func() {
		if p.simple = simpleOf(p.root, p.slots); p.simple == nil {
			p.code, p.err = compileTree(&parser.Tree{Node: p.root})
		}
		p.root = nil
	})
	return p.err
}

// An evalState is a machine with its environment: a map, because the library
// is quickest at those, from slot names to cells that are filled anew for each
// evaluation. Values go about the machine as pointers to cells, which fit in
// an interface without being copied.
type evalState struct {
	vm    vm.VM
	cells [fewSlots]stores.Value
	env   map[string]any
	more  []stores.Value // when there are more slots than fewSlots
}

const fewSlots = 8

var evalStates = sync.Pool{New: func() any {
	s := &evalState{env: make(map[string]any, fewSlots)}
	for i := range s.cells {
		s.env[slotNames[i]] = &s.cells[i]
	}
	return s
}}

func (s *evalState) load(slots []slot, env *Env) {
	for i, slot := range slots {
		*s.cell(i) = slot.value(env)
	}
}

// value is what the slot has to be filled with.
func (s *slot) value(env *Env) stores.Value {
	switch s.kind {
	case slotArg:
		return valueAt(env.Args, s.index)
	case slotContent:
		return valueAt(env.Contents, s.index)
	case slotRead:
		return valueAt(env.Reads, s.index)
	case slotPrincipal:
		return stores.NewString(env.Principal)
	case slotNow:
		return stores.NewTime(env.Now)
	}
	y, m, d := env.Now.Date()
	today, _ := stores.NewDate(y, int(m), d)
	return today
}

func (s *evalState) cell(i int) *stores.Value {
	if i < fewSlots {
		return &s.cells[i]
	}
	for i-fewSlots >= len(s.more) {
		// A cell must not move, since the environment points to it: the slice
		// is made once, at the greatest size.
		s.more = make([]stores.Value, maxParts)
		for j := range s.more {
			s.env[slotNames[fewSlots+j]] = &s.more[j]
		}
	}
	return &s.more[i-fewSlots]
}

// clear forgets the values: the pool must not keep what may be sensitive.
func (s *evalState) clear(n int) {
	for i := range min(n, fewSlots) {
		s.cells[i] = stores.Value{}
	}
	if n > fewSlots {
		clear(s.more)
	}
	// The machine's stack is cleared by its next run, and holds pointers to
	// cells until then.
}

var slotNames = func() []string {
	names := make([]string, fewSlots+maxParts)
	for i := range names {
		names[i] = "s" + itoa(i)
	}
	return names
}()

// A Filter is an expression over `row` in a form that a store can carry out.
type Filter struct {
	Text  string
	Place dsl.Place
	// Reads lists the fields of rows that arguments refer to, which the engine
	// fetches before it asks for the condition.
	Reads []ExprRead

	root filterNode
}

// A filterNode is a condition on a row whose other side is yet to be worked
// out from the arguments.
type filterNode struct {
	op    stores.CondOp
	kids  []filterNode
	path  stores.Path
	other *stores.Path
	value *exprProgram // what path is compared with
	cond  *exprProgram // without a row in it: true or false once the arguments are known
}

// Cond works out everything in the filter that does not depend on the row, and
// returns the rest. An absent value is null, which equals null and is neither
// less nor greater than anything.
func (f *Filter) Cond(env Env) (stores.Cond, error) {
	if f == nil {
		return stores.Cond{Op: stores.True}, nil
	}
	c, err := f.root.resolve(&env)
	if err != nil {
		return stores.Cond{}, fmt.Errorf("%s: %w", f.Text, err)
	}
	return c, nil
}

func (n *filterNode) resolve(env *Env) (stores.Cond, error) {
	if n.cond != nil {
		v, err := n.cond.eval(env)
		switch {
		case err != nil && !errors.Is(err, ErrAbsent):
			return stores.Cond{}, err
		case v.Bool():
			return stores.Cond{Op: stores.True}, nil
		}
		return stores.Cond{Op: stores.False}, nil
	}
	c := stores.Cond{Op: n.op, Path: n.path, Other: n.other}
	switch n.op {
	case stores.And, stores.Or:
		// What is decided already is left out; `include_completed or …` reads
		// no status when everything is asked for.
		stop, skip := stores.False, stores.True
		if n.op == stores.Or {
			stop, skip = stores.True, stores.False
		}
		for i := range n.kids {
			kid, err := n.kids[i].resolve(env)
			switch {
			case err != nil:
				return stores.Cond{}, err
			case kid.Op == stop:
				return kid, nil
			case kid.Op == skip:
			case kid.Op == n.op:
				c.Kids = append(c.Kids, kid.Kids...)
			default:
				c.Kids = append(c.Kids, kid)
			}
		}
		switch len(c.Kids) {
		case 0:
			return stores.Cond{Op: skip}, nil
		case 1:
			return c.Kids[0], nil
		}
	case stores.Not:
		kid, err := n.kids[0].resolve(env)
		switch {
		case err != nil:
			return stores.Cond{}, err
		case kid.Op == stores.True:
			return stores.Cond{Op: stores.False}, nil
		case kid.Op == stores.False:
			return stores.Cond{Op: stores.True}, nil
		}
		c.Kids = []stores.Cond{kid}
	default:
		if n.value != nil {
			v, err := n.value.eval(env)
			if err != nil && !errors.Is(err, ErrAbsent) {
				return stores.Cond{}, err
			}
			c.Value = v
			if v.IsNull() && n.op == stores.In {
				return stores.Cond{Op: stores.False}, nil
			}
		}
	}
	return c, nil
}

// andKey adds that the row is the one that an argument refers to.
func (f *Filter) andKey(e *Entity, param int, place dsl.Place) *Filter {
	key := filterNode{
		op:    stores.Eq,
		path:  stores.Path{Field: e.Store.Key},
		value: &exprProgram{kind: progArgument, index: param},
	}
	if f == nil {
		return &Filter{Text: "row." + e.Store.Fields[e.Store.Key].Name, Place: place, root: key}
	}
	and := *f
	and.root = filterNode{op: stores.And, kids: []filterNode{key, f.root}}
	return &and
}
