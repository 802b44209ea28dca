package verbs

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
)

// Limits of an expression. Each evaluates in well under a millisecond within
// them, since nothing in it repeats.
const (
	maxExpr  = 2000 // bytes of text
	maxParts = 250  // names, numbers and operators
)

// A scope says what an expression may speak of.
type scope struct {
	verb *Verb
	row  *Entity // what `row` is, nil when there is none
}

// A want is what the result of an expression must be.
type want struct {
	is       *Type // nil is anything
	name     string
	required bool
	place    dsl.Place // where it was declared
}

var (
	wantBoolean  = want{is: plainTypes[BooleanType], name: "a condition"}
	wantAnything = want{}
	wantMoment   = want{is: plainTypes[DateTimeType], name: "a moment", required: true}
)

func wantField(e *Entity, i int) want {
	f := &e.Store.Fields[i]
	return want{is: e.Fields[i].Type, name: "field " + f.Name + " of " + e.Store.Name, required: f.Required && f.Default.IsNull(), place: e.Fields[i].Place}
}

// Types that only expressions have.
const (
	nilType TypeName = 100 + iota
	badType          // something was said about it already
)

// A term is what a part of an expression turned out to be.
type term struct {
	name   TypeName
	codes  *CodeList
	entity *Entity
	item   *Type
	node   ast.Node      // what it compiles to
	value  *stores.Value // of a constant
	param  int           // of exactly an argument, -1 otherwise
	read   int           // of exactly a field that was read, -1 otherwise
	path   *stores.Path  // of exactly a field of `row`, in a filter
	list   []term        // of a list that is written out
	text   string        // of a code or a string that is written out
}

var bad = term{name: badType, param: -1, read: -1}

// An exprChecker goes over the tree that the library parsed, types it, reports
// what is wrong with it at its place in the file, and builds the tree that
// will be compiled.
type exprChecker struct {
	l      *loader
	d      *doc
	n      *yaml.Node
	text   string
	sc     scope
	filter bool // fields of `row` are paths, not reads
	reads  []ExprRead
	slots  []slot
	there  uint64 // arguments that cannot be absent at this point
	failed bool
	quiet  bool // say nothing, for what was checked before
}

// compile makes an expression of a scalar. It returns nil after an error. When,
// if not nil, is a condition under which the expression is used.
func (l *loader) compile(d *doc, n *yaml.Node, sc scope, w want, when *Expr) *Expr {
	e, _ := l.compileTerm(d, n, sc, w, when)
	return e
}

// compileTerm also tells what the expression turned out to be.
func (l *loader) compileTerm(d *doc, n *yaml.Node, sc scope, w want, when *Expr) (*Expr, term) {
	if e, t, done := l.bare(d, n, sc, w, when); done {
		return e, t
	}
	c := exprChecker{l: l, d: d, n: n, sc: sc, there: sc.verb.there}
	if when != nil {
		c.there |= when.nonNil
	}
	root := c.parse()
	if root == nil {
		return nil, bad
	}
	t := c.check(root, wanted(w.is))
	t = c.assign(root, t, w)
	if c.failed || t.name == badType {
		return nil, bad
	}
	e := &Expr{Text: c.text, Place: d.place(n), Reads: c.reads}
	if w.is != nil && w.is.Name == BooleanType {
		e.nonNil = c.present(root, true)
	}
	c.finish(t, &e.prog)
	return e, t
}

// bare handles what most expressions are: exactly one argument, with or
// without its colon.
func (l *loader) bare(d *doc, n *yaml.Node, sc scope, w want, when *Expr) (*Expr, term, bool) {
	name, colon := strings.CutPrefix(n.Value, ":")
	i := sc.verb.param(name)
	if i < 0 {
		if colon && isName(name) {
			d.report(say.unknownArgument(d.within(n, 1, len(n.Value)), sc.verb, name))
			return nil, bad, true
		}
		return nil, bad, false
	}
	p := &sc.verb.Params[i]
	if p.Type == nil {
		return nil, bad, true
	}
	c := exprChecker{l: l, d: d, n: n, sc: sc, text: n.Value, there: sc.verb.there}
	if when != nil {
		c.there |= when.nonNil
	}
	t := paramTerm(p, i)
	if w.is != nil && !exactly(t, w.is) {
		t.node = c.load(slot{slotArg, i})
	}
	t = c.assign(nil, t, w)
	if c.failed || t.name == badType {
		return nil, bad, true
	}
	e := &Expr{Text: n.Value, Place: d.place(n)}
	if w.is != nil && w.is.Name == BooleanType {
		e.nonNil = 1 << i
	}
	c.finish(t, &e.prog)
	return e, t, true
}

func wanted(t *Type) *term {
	if t == nil {
		return nil
	}
	w := typeTerm(t)
	return &w
}

func typeTerm(t *Type) term {
	return term{name: t.Name, codes: t.Codes, entity: t.Entity, item: t.Item, param: -1, read: -1}
}

func paramTerm(p *Param, i int) term {
	t := typeTerm(p.Type)
	t.param = i
	return t
}

// exactly reports whether a value of one type can stand for the other as it
// is.
func exactly(t term, is *Type) bool {
	return t.name == is.Name && t.codes == is.Codes && t.entity == is.Entity && t.name != ListType
}

func (c *exprChecker) parse() ast.Node {
	c.text = c.n.Value
	if len(c.text) > maxExpr {
		c.fail(say.exprTooLong(c.d.place(c.n), maxExpr))
		return nil
	}
	if at, date := bareDate(c.text); date != "" {
		c.fail(say.dateNotQuoted(c.at(at, at+len(date)), date))
		return nil
	}
	// The same few conditions occur again and again; nothing here changes a
	// tree, so one will do for all.
	if root, ok := c.l.trees[c.text]; ok {
		return root
	}
	config := parseConfig
	tree, err := new(parser.Parser).Parse(c.text, &config)
	if err != nil {
		c.syntax(err)
		return nil
	}
	c.l.trees[c.text] = tree.Node
	return tree.Node
}

// finish notes how the result is worked out.
func (c *exprChecker) finish(t term, p *exprProgram) {
	switch {
	case t.value != nil:
		p.kind, p.value = progConstant, *t.value
	case t.param >= 0:
		p.kind, p.index = progArgument, t.param
	case t.read >= 0:
		p.kind, p.index = progRead, t.read
	default:
		p.slots, p.root = c.slots, t.node
	}
}

func (c *exprChecker) fail(d dsl.Diagnostic) term {
	c.failed = true
	if !c.quiet {
		for i := range c.d.diags { // a < b < c is parsed as two comparisons with b in both
			if old := &c.d.diags[i]; old.Place == d.Place && old.Code == d.Code {
				return bad
			}
		}
		c.d.report(d)
	}
	return bad
}

func (c *exprChecker) at(from, to int) dsl.Place { return c.d.within(c.n, from, to) }

func (c *exprChecker) place(n ast.Node) dsl.Place {
	if n == nil {
		return c.d.place(c.n)
	}
	from, to := c.span(n)
	return c.at(from, to)
}

// bytes converts the library's offsets, which count characters.
func (c *exprChecker) bytes(runes int) int {
	at := 0
	for ; runes > 0 && at < len(c.text); runes-- {
		_, size := utf8.DecodeRuneInString(c.text[at:])
		at += size
	}
	return at
}

// span is the text that a node came from, in bytes.
func (c *exprChecker) span(n ast.Node) (from, to int) {
	loc := n.Location()
	from, to = c.bytes(loc.From), c.bytes(loc.To)
	switch n := n.(type) {
	case *ast.BinaryNode:
		from, _ = c.span(n.Left)
		_, to = c.span(n.Right)
	case *ast.UnaryNode:
		_, to = c.span(n.Node)
		if inner, _ := c.span(n.Node); inner < from { // not in, not contains
			from = inner
		}
	case *ast.MemberNode:
		from, _ = c.span(n.Node)
	case *ast.ChainNode:
		from, to = c.span(n.Node)
	case *ast.ConditionalNode:
		from, _ = c.span(n.Cond)
		_, to = c.span(n.Exp2)
	case *ast.CallNode:
		from, _ = c.span(n.Callee)
		_, to = c.span(n.Callee)
		if len(n.Arguments) > 0 {
			_, to = c.span(n.Arguments[len(n.Arguments)-1])
		}
		to = c.through(to, ')')
	case *ast.ArrayNode:
		if len(n.Nodes) > 0 {
			_, to = c.span(n.Nodes[len(n.Nodes)-1])
		}
		to = c.through(to, ']')
	}
	return from, max(from, to)
}

func (c *exprChecker) through(from int, mark byte) int {
	if i := strings.IndexByte(c.text[from:], mark); i >= 0 {
		return from + i + 1
	}
	return from
}

// bareDate finds a date written without quotes, which would be read as a
// subtraction.
func bareDate(s string) (at int, date string) {
	if len(s) < 10 || !strings.Contains(s, "-") {
		return 0, ""
	}
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c >= '0' && c <= '9' && i+10 <= len(s) && (i == 0 || !isWord(s[i-1], true) && s[i-1] != '.'):
			if _, ok := stores.ParseDate(s[i : i+10]); ok {
				return i, s[i : i+10]
			}
		}
	}
	return 0, ""
}

// syntax puts what the library's parser said in plain words.
func (c *exprChecker) syntax(err error) {
	var e *file.Error
	if !errors.As(err, &e) {
		c.fail(say.exprSyntax(c.d.place(c.n), "this is not an expression", ""))
		return
	}
	from, to := c.bytes(e.From), c.bytes(max(e.To, e.From+1))
	if strings.TrimSpace(c.text) == "" {
		c.fail(say.exprSyntax(c.d.place(c.n), "the expression is empty", "say what"))
		return
	}
	word := ""
	if from < len(c.text) {
		word = c.text[from:min(to, len(c.text))]
	}
	place := c.at(from, min(to, len(c.text)))
	switch {
	case strings.Contains(e.Message, "maximum allowed nodes"):
		c.fail(say.exprTooComplex(c.d.place(c.n), maxParts))
	case strings.Contains(e.Message, "not terminated"), strings.Contains(e.Message, "unclosed"):
		c.fail(say.exprSyntax(place, "the text ends inside quotes", "a quotation mark is not closed"))
	case strings.Contains(e.Message, "token EOF"), strings.Contains(e.Message, "unexpected end"):
		c.fail(say.exprSyntax(c.at(len(strings.TrimRight(c.text, " \n")), len(c.text)), "the expression breaks off", "something is missing at the end"))
	case word == "#":
		c.fail(say.notAllowed(place, "loops", "each rule looks at one row; a handler can look at many"))
	case word == "=":
		d := say.exprSyntax(place, "a single = does not compare", "write ==")
		d.Fixes = replacements(place, []string{"=="}, "")
		c.fail(d)
	case strings.Contains(e.Message, "cannot be mixed"):
		c.fail(say.exprSyntax(place, "?? beside another operator needs parentheses", "put one of the two in parentheses"))
	case strings.Contains(e.Message, "literal"), strings.Contains(e.Message, "bad number"):
		c.fail(say.exprSyntax(place, "this is not a number", "in digits: 1000, 0.5"))
	case strings.Contains(e.Message, "unrecognized character"):
		c.fail(say.exprSyntax(place, "an expression cannot hold "+quoted(word), "not expected here"))
	default:
		c.fail(say.exprSyntax(place, "the expression does not go on like this", "not expected here", "text goes in quotes, codes in capitals; operators are and, or, not, ==, !=, <, <=, >, >=, +, -, *, in, contains, startsWith, endsWith, matches"))
	}
}

// check types a part. Expect, if not nil, is what the other side of a
// comparison, or the field that is set, would like it to be: codes and dates
// are written in ways that mean something only there.
func (c *exprChecker) check(n ast.Node, expect *term) term {
	switch n := n.(type) {
	case *ast.NilNode:
		return constant(nilType, stores.Value{}, "")
	case *ast.BoolNode:
		return constant(BooleanType, stores.NewBool(n.Value), "")
	case *ast.IntegerNode, *ast.FloatNode:
		return c.number(n)
	case *ast.StringNode:
		return c.string(n, expect)
	case *ast.IdentifierNode:
		return c.identifier(n, expect)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n, expect)
	case *ast.ConditionalNode:
		return c.conditional(n, expect)
	case *ast.CallNode:
		return c.call(n)
	case *ast.ArrayNode:
		return c.array(n, expect)
	case *ast.ChainNode:
		return c.fail(say.notAllowed(c.place(n), "?.", "an absent reference has absent fields; a plain dot will do"))
	case *ast.SliceNode:
		return c.fail(say.notAllowed(c.place(n), "slices", "a handler can do this"))
	case *ast.BuiltinNode, *ast.PredicateNode, *ast.PointerNode:
		return c.fail(say.notAllowed(c.place(n), "loops", "each rule looks at one row; a handler can look at many"))
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		return c.fail(say.notAllowed(c.place(n), "variables or sequences", "write one expression"))
	case *ast.MapNode, *ast.PairNode:
		return c.fail(say.notAllowed(c.place(n), "maps", "a handler can make one"))
	case *ast.BytesNode:
		return c.fail(say.notAllowed(c.place(n), "bytes", "write text in quotes"))
	}
	return c.fail(say.notAllowed(c.place(n), "such things", "a handler can do this"))
}
