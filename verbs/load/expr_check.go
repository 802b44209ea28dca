package load

import (
	"errors"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/naming"
)

// A scope says what an expression may refer to.
type scope struct {
	verb           *verbs.Verb
	row            *verbs.Entity // the entity of `row`, nil if there is none
	each           *verbs.Entity // the entity of `each`, nil if it is no row
	beyond         bool          // it defines a disclosed value, and may name totals beyond the caller's scope
	namesSensitive bool          // it defines the value of a sensitive field, and may name withheld values
	later          bool          // it is evaluated at another time, when rows of this call have no name
	item           *verbs.Param  // the list argument whose items `each` is; nil if it is none
}

// A want is what the result of an expression must be.
type want struct {
	is       *verbs.Type // nil is anything
	name     string
	required bool
	kept     bool      // the field keeps its value if the argument, alone, is left out
	place    dsl.Place // place of its declaration
}

var (
	wantBoolean  = want{is: plainTypes[verbs.BooleanType], name: "a condition"}
	wantAnything = want{}
	wantMoment   = want{is: plainTypes[verbs.DateTimeType], name: "a moment", required: true}
)

func wantField(e *verbs.Entity, i int) want {
	f := &e.Store.Fields[i]
	return want{is: e.Fields[i].Type, name: "field " + f.Name + " of " + e.Store.Name, required: f.Required && f.Default.IsNull(), place: e.Fields[i].Place}
}

// Types that only expressions have.
const (
	nilType verbs.TypeName = 100 + iota
	badType                // it has been reported already
)

// A term is a checked part of an expression.
type term struct {
	name   verbs.TypeName
	codes  *verbs.CodeList
	entity *verbs.Entity
	item   *verbs.Type
	prog   *expr.Program   // computes it; in a filter perhaps one of the next two instead
	path   *stores.Path    // exactly a field of `row`
	lower  bool            // of path: in lower case
	cond   *expr.Condition // a condition over fields of `row`
	list   []term          // of a list that is written out
	text   string          // of a code or a string that is written out
	part   *verbs.Param    // exactly this field of a record
}

var bad = term{name: badType}

// param returns the index of the argument that the term is exactly, or -1.
func (t *term) param() int {
	if t.prog == nil || t.prog.From != expr.Argument {
		return -1
	}
	return t.prog.Index
}

// constant returns the value of a term that is constant.
func (t *term) constant() (stores.Value, bool) {
	if t.prog == nil || t.prog.From != expr.Constant {
		return stores.Value{}, false
	}
	return t.prog.Value, true
}

// An exprChecker walks the tree of an expression, types it, reports errors at their places in the
// file, and makes the program.
type exprChecker struct {
	l      *loader
	d      *doc
	n      *yaml.Node
	text   string
	sc     scope
	filter bool // fields of `row` are paths, not reads
	reads  []verbs.ExprRead
	there  uint64 // arguments that cannot be absent at this point
	failed bool
}

// compile makes an expression of a scalar. It returns nil after an error. When,
// if not nil, is a condition under which the expression is used.
func (l *loader) compile(d *doc, n *yaml.Node, sc scope, w want, when *verbs.Expr) *verbs.Expr {
	e, _ := l.compileTerm(d, n, sc, w, when)
	return e
}

// compileTerm also returns the term. Most expressions are exactly one argument, with or without a
// colon.
func (l *loader) compileTerm(d *doc, n *yaml.Node, sc scope, w want, when *verbs.Expr) (*verbs.Expr, term) {
	c := exprChecker{l: l, d: d, n: n, text: n.Value, sc: sc, there: present(sc.verb)}
	if when != nil {
		c.there |= when.Present
	}
	var root *expr.Node
	var t term
	o := l.operand(n.Value)
	name, i := argument(&o, sc.verb)
	colon := naming.IsName(name) && o.Path[0] != name
	if from := strings.Index(n.Value, name); i >= 0 || colon {
		d.usesParam(sc.verb, i, n, from, from+len(name), sc.verb.Names)
	}
	switch {
	case i >= 0 && sc.verb.Params[i].Type == nil:
		return nil, bad
	case i >= 0:
		t = paramTerm(&sc.verb.Params[i], i)
	case colon:
		d.report(unknownArgument(d.within(n, 1, len(n.Value)), sc.verb, name))
		return nil, bad
	default:
		if root = c.parse(); root == nil {
			return nil, bad
		}
		t = c.check(root, wanted(w.is))
	}
	if t = c.assign(root, t, w); c.failed || t.name == badType {
		return nil, bad
	}
	e := &verbs.Expr{Text: c.text, Place: d.place(n), Reads: c.reads, Program: t.prog, OnePart: t.part != nil}
	switch {
	case w.is == nil || w.is.Name != verbs.BooleanType:
	case root == nil:
		e.Present = 1 << i
	default:
		e.Present = c.present(root, true)
	}
	return e, t
}

func wanted(t *verbs.Type) *term {
	if t == nil {
		return nil
	}
	w := typeTerm(t)
	return &w
}

func typeTerm(t *verbs.Type) term {
	return term{name: t.Name, codes: t.Codes, entity: t.Entity, item: t.Item}
}

func paramTerm(p *verbs.Param, i int) term {
	t := typeTerm(p.Type)
	t.prog = &expr.Program{From: expr.Argument, Index: i}
	return t
}

// exactly reports whether a value of one type can be used as the other unchanged.
func exactly(t term, is *verbs.Type) bool {
	return t.name == is.Name && t.codes == is.Codes && t.entity == is.Entity && t.name != verbs.ListType
}

func (c *exprChecker) parse() *expr.Node {
	// The same few conditions occur again and again; trees are not modified, so one can be
	// shared.
	if root, ok := c.l.trees[c.text]; ok {
		return root
	}
	root, err := expr.Parse(c.text)
	if err != nil {
		var fault *expr.Error
		errors.As(err, &fault)
		c.fail(exprFault(c.at(fault.From, fault.To), fault, c.text[fault.From:fault.To]))
		return nil
	}
	c.l.trees[c.text] = root
	return root
}

func (c *exprChecker) fail(d dsl.Diagnostic) term {
	c.failed = true
	for i := range c.d.diags { // each half of new-date reports the same
		if old := &c.d.diags[i]; old.Place == d.Place && old.Code == d.Code {
			return bad
		}
	}
	c.d.report(d)
	return bad
}

func (c *exprChecker) at(from, to int) dsl.Place { return c.d.within(c.n, from, to) }

func (c *exprChecker) place(n *expr.Node) dsl.Place {
	if n == nil {
		return c.d.place(c.n)
	}
	return c.at(n.From, n.To)
}

// check types a part. expect, if not nil, is the term on the other side of a comparison, or the
// field that is set: codes and dates have notations whose meaning depends on it.
func (c *exprChecker) check(n *expr.Node, expect *term) term {
	switch n.Kind {
	case expr.Bool:
		return constant(verbs.BooleanType, stores.NewBool(n.Text == "true"), "")
	case expr.Number:
		return c.number(n)
	case expr.Text:
		return c.string(n, expect)
	case expr.Name:
		return c.identifier(n, expect)
	case expr.Field:
		return c.member(n)
	case expr.Call:
		return c.call(n)
	case expr.List:
		return c.array(n, expect)
	case expr.Unary:
		return c.unary(n)
	case expr.Binary:
		return c.binary(n, expect)
	case expr.Chain:
		return c.chain(n)
	case expr.Choice:
		return c.conditional(n, expect)
	}
	return constant(nilType, stores.Value{}, "") // expr.Nil
}

// filter makes a filter of an expression over `row`. The language and its types are the same, but
// a store can evaluate only a part of it.
func (l *loader) filter(d *doc, n *yaml.Node, sc scope) *verbs.Filter {
	c := exprChecker{l: l, d: d, n: n, text: n.Value, sc: sc, filter: true}
	root := c.parse()
	if root == nil {
		return nil
	}
	t := c.check(root, nil)
	if t.name == badType || c.failed {
		return nil
	}
	if t.name != verbs.BooleanType {
		c.fail(c.unfit(root, t, wantBoolean))
		return nil
	}
	return &verbs.Filter{Text: c.text, Place: d.place(n), Reads: c.reads, Root: *t.condition()}
}

// present returns the bits of the arguments that are present whenever the preconditions of a verb
// hold, as far as they have been read.
func present(v *verbs.Verb) (bits uint64) {
	for i := range v.Requires {
		if that := v.Requires[i].That; that != nil {
			bits |= that.Present
		}
	}
	return bits
}
