package verbs

import (
	"errors"
	"regexp"
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

func constant(name TypeName, v stores.Value, text string) term {
	return term{name: name, value: &v, node: &ast.ConstantNode{Value: &v}, param: -1, read: -1, text: text}
}

// load makes a slot for something that is read, one for each thing.
func (c *exprChecker) load(s slot) ast.Node {
	for i := range c.slots {
		if c.slots[i] == s {
			return &ast.IdentifierNode{Value: slotNames[i]}
		}
	}
	c.slots = append(c.slots, s)
	return &ast.IdentifierNode{Value: slotNames[len(c.slots)-1]}
}

func (c *exprChecker) given(name TypeName, kind slotKind) term {
	return term{name: name, node: c.load(slot{kind, 0}), param: -1, read: -1}
}

func (c *exprChecker) number(n ast.Node) term {
	from, to := c.span(n)
	s := c.text[from:to]
	if !isNumber(s) {
		return c.fail(say.exprSyntax(c.at(from, to), s+" is a number that people read differently", "in digits: 1000, 0.5"))
	}
	if strings.Contains(s, ".") {
		v, ok := stores.ParseDecimal(s)
		if !ok {
			return c.fail(say.exprSyntax(c.at(from, to), "this number has too many digits", ""))
		}
		return constant(DecimalType, v, s)
	}
	v, ok := stores.ParseInt(s)
	if !ok {
		return c.fail(say.exprSyntax(c.at(from, to), "this number is too large", ""))
	}
	return constant(IntegerType, v, s)
}

// string reads text as a date, a uuid and so on where one is wanted.
func (c *exprChecker) string(n *ast.StringNode, expect *term) term {
	if expect != nil {
		switch expect.name {
		case CodeType:
			return c.fail(say.codeInQuotes(c.place(n), n.Value))
		case DateType, DateTimeType, DurationType, UUIDType, RefType, EmailType, PhoneType:
			t := plainTypes[expect.name]
			v, p := t.read(n.Value)
			if p != fine {
				return c.fail(say.badValue(c.place(n), "this", quoted(n.Value), t, p))
			}
			is := constant(expect.name, v, n.Value)
			is.entity = expect.entity
			return is
		}
	}
	return constant(StringType, stores.NewString(n.Value), n.Value)
}

func (c *exprChecker) identifier(n *ast.IdentifierNode, expect *term) term {
	name := n.Value
	for i := range c.sc.verb.Params {
		if p := &c.sc.verb.Params[i]; p.Ident == name {
			if p.Type == nil {
				c.failed = true
				return bad
			}
			t := paramTerm(p, i)
			t.node = c.load(slot{slotArg, i})
			return t
		}
	}
	switch name {
	case "today":
		return c.given(DateType, slotToday)
	case "now":
		return c.given(DateTimeType, slotNow)
	case "principal":
		return c.given(StringType, slotPrincipal)
	case "row":
		if c.sc.row == nil {
			return c.fail(say.noRow(c.place(n)))
		}
		return c.fail(say.exprSyntax(c.place(n), "which field of the row is not said", "write row.FIELD", "fields: "+some(c.sc.row.fieldNames(), 16)))
	}
	if isCode(name) {
		t := constant(CodeType, stores.NewString(name), name)
		if expect != nil && expect.name == CodeType && expect.codes != nil {
			t.codes = expect.codes
			if !expect.codes.has(name) {
				return c.fail(say.unknownCodeIn(c.place(n), name, expect.codes))
			}
		}
		return t
	}
	return c.unknown(n, name)
}

// unknown reports a name that is none. A dash is a minus, so a name that was
// written as in a call falls apart; put together again it may be known.
func (c *exprChecker) unknown(n ast.Node, name string) term {
	from, to := c.span(n)
	start, end := from, to
	for start > 0 && (isWord(c.text[start-1], true) || c.text[start-1] == '-') {
		start--
	}
	for end < len(c.text) && (isWord(c.text[end], true) || c.text[end] == '-') {
		end++
	}
	if whole := c.text[start:end]; strings.Contains(whole, "-") {
		if i := c.sc.verb.param(whole); i >= 0 {
			ident := c.sc.verb.Params[i].Ident
			d := say.exprSyntax(c.at(start, end), "a dash is a minus here", "write "+ident, "alone, without anything else, :"+whole+" would do too")
			d.Fixes = replacements(c.at(start, end), []string{ident}, "")
			return c.fail(d)
		}
	}
	return c.fail(say.unknownName(c.at(from, to), name, c.names()))
}

func (c *exprChecker) names() []string {
	names := make([]string, 0, len(c.sc.verb.Params)+4)
	for i := range c.sc.verb.Params {
		names = append(names, c.sc.verb.Params[i].Ident)
	}
	names = append(names, "today", "now", "principal")
	if c.sc.row != nil {
		names = append(names, "row")
	}
	return names
}

// member follows a path: of `row`, or of the row that a reference names.
func (c *exprChecker) member(n *ast.MemberNode) term {
	var parts []*ast.StringNode
	var base ast.Node = n
	for {
		m, ok := base.(*ast.MemberNode)
		if !ok {
			break
		}
		prop, ok := m.Property.(*ast.StringNode)
		from, _ := c.span(m.Property)
		if !ok || m.Optional || from == 0 || c.text[from] == '"' || c.text[from] == '\'' || c.text[from] == '`' {
			return c.fail(say.notAllowed(c.place(m.Property), "indexes", "a field is written after a dot"))
		}
		parts = append(parts, prop)
		base = m.Node
	}
	id, ok := base.(*ast.IdentifierNode)
	if !ok {
		return c.fail(say.exprSyntax(c.place(base), "only a reference has fields", "not this"))
	}
	first := parts[len(parts)-1]
	from, _ := c.span(first)
	_, to := c.span(parts[0])
	if id.Value == "row" {
		if c.sc.row == nil {
			return c.fail(say.noRow(c.place(id)))
		}
		return c.field(c.sc.row, -1, from, to)
	}
	i := -1
	for j := range c.sc.verb.Params {
		if c.sc.verb.Params[j].Ident == id.Value {
			i = j
		}
	}
	if i < 0 {
		if id.Value == "today" || id.Value == "now" || id.Value == "principal" || isCode(id.Value) {
			return c.fail(say.exprSyntax(c.at(from, to), id.Value+" has no fields", "only a reference has"))
		}
		return c.unknown(id, id.Value)
	}
	p := &c.sc.verb.Params[i]
	switch {
	case p.Type == nil:
		c.failed = true
		return bad
	case p.Type.Name == RefType && p.Type.Entity != nil:
		return c.field(p.Type.Entity, i, from, to)
	case p.Type.Name == MoneyType && len(parts) == 1:
		switch first.Value {
		case "amount":
			return term{name: DecimalType, node: callNode("amount", c.load(slot{slotArg, i})), param: -1, read: -1}
		case "currency":
			return term{name: CodeType, node: callNode("currency", c.load(slot{slotArg, i})), param: -1, read: -1}
		}
		return c.fail(misnamed(c.at(from, to), "unknown-field", "money has no field called "+quoted(first.Value), first.Value, []string{"amount", "currency"}, "fields of money"))
	}
	d := say.mismatch(c.at(from, to), ":"+p.Name+" is "+p.Type.phrase()+" and has no fields", "only a reference has")
	if p.Type.Name == RefType {
		d = say.mismatch(c.at(from, to), ":"+p.Name+" may refer to a row of any entity, so its fields are not known", "unknown")
		d.Notes = []string{"add ref-type: ENTITY to the argument"}
	}
	d.Related = []dsl.Related{{Place: p.Place, Message: "declared here"}}
	return c.fail(d)
}

func (c *exprChecker) field(e *Entity, param, from, to int) term {
	path, f, ok := c.d.path(e, c.n, from, c.text[from:to])
	if !ok || f.Type == nil {
		c.failed = true
		return bad
	}
	t := typeTerm(f.Type)
	if c.filter && param < 0 {
		t.path = &path
		return t
	}
	t.read = len(c.reads)
	for i := range c.reads {
		if c.reads[i].Param == param && samePath(c.reads[i].Path, path) {
			t.read = i
		}
	}
	if t.read == len(c.reads) {
		c.reads = append(c.reads, ExprRead{Param: param, Path: path})
	}
	t.node = c.load(slot{slotRead, t.read})
	return t
}

func samePath(a, b stores.Path) bool {
	if a.Field != b.Field || a.Count != b.Count || a.By != b.By || len(a.Steps) != len(b.Steps) {
		return false
	}
	for i := range a.Steps {
		if a.Steps[i] != b.Steps[i] {
			return false
		}
	}
	return true
}

func (c *exprChecker) unary(n *ast.UnaryNode) term {
	t := c.check(n.Node, nil)
	if t.name == badType {
		return bad
	}
	if n.Operator == "not" || n.Operator == "!" {
		if t.name != BooleanType {
			return c.fail(say.mismatch(c.place(n.Node), "not wants a condition; this is "+t.phrase(), "true or false is wanted here"))
		}
		not := &ast.UnaryNode{Operator: "not", Node: c.condition(t)}
		not.SetType(boolType)
		return term{name: BooleanType, node: not, param: -1, read: -1}
	}
	if t.name != IntegerType && t.name != DecimalType && t.name != DurationType {
		return c.fail(say.mismatch(c.place(n.Node), "a sign wants a number; this is "+t.phrase(), "a number is wanted here"))
	}
	if n.Operator == "+" {
		return t
	}
	c.needs(n.Node, t)
	return c.apply(t.name, "neg", t)
}

// condition is a term as something that can be jumped on.
func (c *exprChecker) condition(t term) ast.Node {
	if t.node == nil {
		return condNode("bool", &ast.ConstantNode{Value: &stores.Value{}})
	}
	if t.node.Type() == boolType {
		return t.node
	}
	return condNode("bool", t.node)
}

// apply calls a function of ours, at once when everything is constant.
func (c *exprChecker) apply(name TypeName, fn string, args ...term) term {
	nodes := make([]ast.Node, len(args))
	values := make([]any, len(args))
	fixed := true
	for i, a := range args {
		if a.path != nil {
			return c.fail(say.filterTooMuch(c.d.place(c.n), "what is made of its fields"))
		}
		nodes[i] = a.node
		if fixed = fixed && a.value != nil; fixed {
			values[i] = a.value
		}
	}
	if fixed {
		if out, err := functions[fn].Func(values...); err == nil {
			return constant(name, *valueOf(out), "")
		}
	}
	t := term{name: name, node: callNode(fn, nodes...), param: -1, read: -1}
	if name == BooleanType {
		t.node = condNode(fn, nodes...)
	}
	return t
}

func (t *term) number() bool { return t.name == IntegerType || t.name == DecimalType }

func (t *term) textual() bool {
	return t.name == StringType || t.name == EmailType || t.name == PhoneType
}

// phrase says what a term is.
func (t *term) phrase() string {
	switch t.name {
	case nilType:
		return "nil"
	case badType:
		return "something else"
	}
	is := Type{Name: t.name, Codes: t.codes, Entity: t.entity, Item: t.item, Scale: -1}
	return is.phrase()
}

func (c *exprChecker) binary(n *ast.BinaryNode, expect *term) term {
	switch op := n.Operator; op {
	case "and", "&&", "or", "||":
		return c.logic(n, op == "and" || op == "&&")
	case "==", "!=", "<", "<=", ">", ">=":
		l, r := c.both(n)
		return c.compare(n, l, r)
	case "+", "-", "*", "%":
		l, r := c.check(n.Left, nil), c.check(n.Right, nil)
		return c.arithmetic(n, l, r)
	case "/":
		return c.fail(say.inexact(c.place(n)))
	case "contains", "startsWith", "endsWith":
		l, r := c.check(n.Left, nil), c.check(n.Right, nil)
		if l.name == badType || r.name == badType {
			return bad
		}
		for _, side := range []struct {
			n ast.Node
			t term
		}{{n.Left, l}, {n.Right, r}} {
			if !side.t.textual() {
				return c.fail(say.mismatch(c.place(side.n), op+" wants text; this is "+side.t.phrase(), "a string is wanted here"))
			}
		}
		return c.apply(BooleanType, op, l, r)
	case "matches":
		return c.matches(n)
	case "in":
		return c.in(n)
	case "??":
		l := c.check(n.Left, expect)
		if expect == nil && l.name != badType {
			expect = &l
		}
		r := c.check(n.Right, expect)
		if l.name == badType || r.name == badType {
			return bad
		}
		if !c.alike(l, r) {
			return c.fail(say.mismatch(c.place(n), "?? has "+l.phrase()+" on one side and "+r.phrase()+" on the other", "both must be of one type"))
		}
		if l.path != nil || r.path != nil {
			return c.fail(say.filterTooMuch(c.place(n), "a choice"))
		}
		return c.choose(condNode("present", l.node), l, r)
	case "..":
		return c.fail(say.notAllowed(c.place(n), "ranges", "x >= 1 and x <= 10 says the same"))
	}
	return c.fail(say.notAllowed(c.place(n), n.Operator, "operators are and, or, not, ==, !=, <, <=, >, >=, +, -, *, %, ??, in, contains, startsWith, endsWith, matches"))
}

func (c *exprChecker) logic(n *ast.BinaryNode, and bool) term {
	before := c.there
	l := c.check(n.Left, nil)
	c.there |= c.present(n.Left, and)
	r := c.check(n.Right, nil)
	c.there = before
	ok := true
	for _, side := range []struct {
		n ast.Node
		t term
	}{{n.Left, l}, {n.Right, r}} {
		if side.t.name != badType && side.t.name != BooleanType {
			c.fail(say.mismatch(c.place(side.n), n.Operator+" wants conditions; this is "+side.t.phrase(), "true or false is wanted here"))
			ok = false
		}
	}
	if !ok || l.name == badType || r.name == badType {
		return bad
	}
	op := "or"
	if and {
		op = "and"
	}
	node := &ast.BinaryNode{Operator: op, Left: c.condition(l), Right: c.condition(r)}
	node.SetType(boolType)
	return term{name: BooleanType, node: node, param: -1, read: -1}
}

// present has the bits of the arguments that are certainly there when a
// condition turns out as said.
func (c *exprChecker) present(n ast.Node, truth bool) uint64 {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return c.present(n.Node, !truth)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&":
			if truth {
				return c.present(n.Left, true) | c.present(n.Right, true)
			}
			return c.present(n.Left, false) & c.present(n.Right, false)
		case "or", "||":
			if truth {
				return c.present(n.Left, true) & c.present(n.Right, true)
			}
			return c.present(n.Left, false) | c.present(n.Right, false)
		case "!=", "==":
			id, other := n.Left, n.Right
			if _, isNil := id.(*ast.NilNode); isNil {
				id, other = other, id
			}
			name, isName := id.(*ast.IdentifierNode)
			if _, isNil := other.(*ast.NilNode); isNil && isName && (n.Operator == "!=") == truth {
				if i := c.sc.verb.param(name.Value); i >= 0 {
					return 1 << i
				}
			}
		}
	}
	return 0
}

// both checks the two sides of a comparison, the more telling one first.
func (c *exprChecker) both(n *ast.BinaryNode) (l, r term) {
	if written(n.Left) && !written(n.Right) {
		r = c.check(n.Right, nil)
		return c.check(n.Left, expecting(&r)), r
	}
	l = c.check(n.Left, nil)
	return l, c.check(n.Right, expecting(&l))
}

func expecting(t *term) *term {
	if t.name == badType || t.name == nilType {
		return nil
	}
	return t
}

// written reports whether a part is a literal, whose type depends on what it is
// compared with.
func written(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.StringNode:
		return true
	case *ast.IdentifierNode:
		return isCode(n.Value)
	}
	return false
}

// alike reports whether two terms can be compared or stand for one another.
func (c *exprChecker) alike(l, r term) bool {
	switch {
	case l.name == nilType || r.name == nilType:
		return true
	case l.number() && r.number(), l.textual() && r.textual():
		return true
	case l.name == CodeType && r.name == CodeType:
		return l.codes == nil || r.codes == nil || l.codes == r.codes
	case l.name == RefType && r.name == RefType:
		return l.entity == nil || r.entity == nil || l.entity == r.entity
	case l.name == RefType && r.name == UUIDType, l.name == UUIDType && r.name == RefType:
		return true
	case l.name == AnyType || r.name == AnyType:
		return true
	}
	return l.name == r.name && l.name != ListType && l.name != ObjectType && l.name != MoneyType
}

var comparisons = map[string]string{"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

func (c *exprChecker) compare(n *ast.BinaryNode, l, r term) term {
	if l.name == badType || r.name == badType {
		return bad
	}
	ordered := n.Operator != "==" && n.Operator != "!="
	if !c.alike(l, r) || ordered && (l.name == nilType || r.name == nilType || l.name == AnyType || r.name == AnyType) {
		d := say.mismatch(c.place(n), "this compares "+l.phrase()+" with "+r.phrase(), "both must be of one type")
		if l.name == DateType && r.name == DateTimeType || l.name == DateTimeType && r.name == DateType {
			d.Notes = []string{"`today` is a date, `now` is a date with its time"}
		}
		c.declared(&d, l)
		c.declared(&d, r)
		return c.fail(d)
	}
	if ordered && (l.name == BooleanType || l.name == CodeType || l.name == RefType || l.name == UUIDType) {
		return c.fail(say.mismatch(c.place(n), l.phrase()+" is neither less nor greater than another", "use == or !="))
	}
	if c.filter && (l.path != nil || r.path != nil) {
		return term{name: BooleanType, param: -1, read: -1}
	}
	if ordered {
		c.needs(n.Left, l)
		c.needs(n.Right, r)
	}
	return c.apply(BooleanType, comparisons[n.Operator], l, r)
}

// declared points to where an argument was declared.
func (c *exprChecker) declared(d *dsl.Diagnostic, t term) {
	if t.param >= 0 {
		p := &c.sc.verb.Params[t.param]
		d.Related = append(d.Related, dsl.Related{Place: p.Place, Message: p.Type.phrase() + ", declared here"})
	}
}

// needs warns of an argument that is reckoned with although it may be left
// out.
func (c *exprChecker) needs(n ast.Node, t term) {
	if t.param < 0 || c.quiet || c.filter {
		return
	}
	p := &c.sc.verb.Params[t.param]
	if !p.Sure() && c.there&(1<<t.param) == 0 {
		c.d.report(say.mayBeAbsent(c.place(n), p))
	}
}

func (c *exprChecker) arithmetic(n *ast.BinaryNode, l, r term) term {
	if l.name == badType || r.name == badType {
		return bad
	}
	fn := map[string]string{"+": "add", "-": "sub", "*": "mul", "%": "mod"}[n.Operator]
	result := badType
	a, b := l.name, r.name
	switch n.Operator {
	case "+":
		switch {
		case l.number() && r.number():
			result = wider(a, b)
		case l.textual() && r.textual():
			result = StringType
		case (a == DateType || a == DateTimeType || a == DurationType) && b == DurationType:
			result = a
		case a == DurationType && (b == DateType || b == DateTimeType):
			result = b
		}
	case "-":
		switch {
		case l.number() && r.number():
			result = wider(a, b)
		case a == b && (a == DateType || a == DateTimeType):
			result = DurationType
		case (a == DateType || a == DateTimeType || a == DurationType) && b == DurationType:
			result = a
		}
	case "*":
		switch {
		case l.number() && r.number():
			result = wider(a, b)
		case a == DurationType && b == IntegerType, a == IntegerType && b == DurationType:
			result = DurationType
		}
	case "%":
		if a == IntegerType && b == IntegerType {
			result = IntegerType
		}
	}
	if result == badType {
		d := say.mismatch(c.place(n), "this reckons with "+l.phrase()+" and "+r.phrase(), "these do not go together with "+n.Operator)
		if (a == DateType || a == DateTimeType) && b == IntegerType {
			d.Notes = []string{"a number of days is days(14)"}
		}
		c.declared(&d, l)
		c.declared(&d, r)
		return c.fail(d)
	}
	c.needs(n.Left, l)
	c.needs(n.Right, r)
	if l.path != nil || r.path != nil {
		return c.fail(say.filterTooMuch(c.place(n), "arithmetic on the row"))
	}
	return c.apply(result, fn, l, r)
}

func wider(a, b TypeName) TypeName {
	if a == IntegerType && b == IntegerType {
		return IntegerType
	}
	return DecimalType
}

func (c *exprChecker) matches(n *ast.BinaryNode) term {
	l := c.check(n.Left, nil)
	if l.name == badType {
		return bad
	}
	if !l.textual() {
		return c.fail(say.mismatch(c.place(n.Left), "matches wants text; this is "+l.phrase(), "a string is wanted here"))
	}
	pattern, ok := n.Right.(*ast.StringNode)
	if !ok {
		return c.fail(say.exprSyntax(c.place(n.Right), "the pattern must be written out", "text in quotes"))
	}
	if l.path != nil {
		return c.fail(say.filterTooMuch(c.place(n), "a pattern"))
	}
	if fault := patternFault(pattern.Value); fault != "" {
		return c.fail(say.badPattern(c.place(pattern), fault))
	}
	re, err := regexp.Compile(pattern.Value)
	if err != nil {
		return c.fail(say.badPattern(c.place(pattern), patternProblem(err)))
	}
	node := condNode("matches", l.node, &ast.ConstantNode{Value: re})
	return term{name: BooleanType, node: node, param: -1, read: -1}
}

func (c *exprChecker) in(n *ast.BinaryNode) term {
	l := c.check(n.Left, nil)
	r := c.check(n.Right, expecting(&l))
	if l.name == badType || r.name == badType {
		return bad
	}
	if r.name != ListType {
		return c.fail(say.mismatch(c.place(n.Right), "in wants a list; this is "+r.phrase(), "a list is wanted here: [A, B]"))
	}
	items := r.list
	if r.item != nil {
		items = []term{typeTerm(r.item)}
	}
	for _, item := range items {
		if !c.alike(l, item) {
			return c.fail(say.mismatch(c.place(n), "this looks for "+l.phrase()+" among "+item.phrase(), "both must be of one type"))
		}
	}
	if r.path != nil {
		return c.fail(say.filterTooMuch(c.place(n.Right), "a list in the row"))
	}
	if l.path != nil {
		return term{name: BooleanType, param: -1, read: -1}
	}
	return c.apply(BooleanType, "in", l, r)
}

// array is a list that is written out. Its items are what the other side of
// `in` is, or what the items of the list that is set are.
func (c *exprChecker) array(n *ast.ArrayNode, expect *term) term {
	if expect != nil && expect.name == ListType {
		expect = wanted(expect.item)
	}
	t := term{name: ListType, param: -1, read: -1}
	nodes := make([]ast.Node, len(n.Nodes))
	values := make([]stores.Value, 0, len(n.Nodes))
	for i, item := range n.Nodes {
		it := c.check(item, expect)
		switch {
		case it.name == badType:
			return bad
		case it.name == ListType || it.path != nil:
			return c.fail(say.exprSyntax(c.place(item), "a list holds single values", "not this"))
		}
		nodes[i] = it.node
		if it.value != nil {
			values = append(values, *it.value)
		}
		t.list = append(t.list, it)
	}
	if len(values) == len(nodes) {
		v := stores.NewList(values...)
		t.value, t.node = &v, &ast.ConstantNode{Value: &v}
		return t
	}
	t.node = callNode("list", nodes...)
	return t
}

func (c *exprChecker) conditional(n *ast.ConditionalNode, expect *term) term {
	cond := c.check(n.Cond, nil)
	before := c.there
	c.there = before | c.present(n.Cond, true)
	a := c.check(n.Exp1, expect)
	c.there = before | c.present(n.Cond, false)
	if expect == nil {
		expect = expecting(&a)
	}
	b := c.check(n.Exp2, expect)
	c.there = before
	switch {
	case cond.name == badType || a.name == badType || b.name == badType:
		return bad
	case cond.name != BooleanType:
		return c.fail(say.mismatch(c.place(n.Cond), "? wants a condition; this is "+cond.phrase(), "true or false is wanted here"))
	case !c.alike(a, b):
		return c.fail(say.mismatch(c.place(n), "this is either "+a.phrase()+" or "+b.phrase(), "both must be of one type"))
	case cond.path != nil || a.path != nil || b.path != nil:
		return c.fail(say.filterTooMuch(c.place(n), "a choice"))
	}
	return c.choose(c.condition(cond), a, b)
}

func (c *exprChecker) choose(cond ast.Node, a, b term) term {
	t := a
	switch {
	case a.name == nilType:
		t = b
	case a.name == IntegerType && b.name == DecimalType:
		t = b
	case a.textual() && b.textual() && a.name != b.name:
		t.name = StringType
	case a.codes == nil:
		t.codes = b.codes
	}
	if t.name == DecimalType {
		a, b = c.widen(a), c.widen(b)
	}
	node := &ast.ConditionalNode{Ternary: true, Cond: cond, Exp1: a.node, Exp2: b.node}
	return term{name: t.name, codes: t.codes, entity: t.entity, item: t.item, node: node, param: -1, read: -1}
}

func (c *exprChecker) widen(t term) term {
	if t.name != IntegerType {
		return t
	}
	return c.apply(DecimalType, "decimal", t)
}

func (c *exprChecker) call(n *ast.CallNode) term {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return c.fail(say.notAllowed(c.place(n), "methods", "functions: "+strings.Join(functionNames, ", ")))
	}
	var loops bool
	switch id.Value {
	case "all", "any", "none", "one", "filter", "map", "count", "sum", "find", "findIndex", "findLast", "findLastIndex", "groupBy", "sortBy", "reduce":
		loops = true
	}
	if loops {
		return c.fail(say.notAllowed(c.place(n), "loops", "each rule looks at one row; a handler can look at many"))
	}
	if id.Value == "missing" {
		return c.missing(n)
	}
	var wants TypeName
	switch id.Value {
	case "days", "weeks", "hours", "minutes":
		wants = IntegerType
	case "lower", "upper", "trim", "date":
		wants = StringType
	case "len":
		wants = AnyType
	default:
		return c.fail(say.unknownFunction(c.place(id), id.Value))
	}
	if len(n.Arguments) != 1 {
		return c.fail(say.exprSyntax(c.place(n), id.Value+" takes one thing", "not "+itoa(len(n.Arguments))))
	}
	t := c.check(n.Arguments[0], nil)
	if t.name == badType {
		return bad
	}
	ok = t.name == wants || wants == StringType && t.textual() || wants == AnyType && (t.textual() || t.name == ListType)
	if !ok {
		phrase := plainTypes[wants].phrase()
		if wants == AnyType {
			phrase = "a string or a list"
		}
		return c.fail(say.mismatch(c.place(n.Arguments[0]), id.Value+" wants "+phrase+"; this is "+t.phrase(), phrase+" is wanted here"))
	}
	if t.path != nil {
		return c.fail(say.filterTooMuch(c.place(n), "what a function makes of it"))
	}
	switch wants {
	case IntegerType:
		c.needs(n.Arguments[0], t)
		return c.apply(DurationType, id.Value, t)
	case AnyType:
		c.needs(n.Arguments[0], t)
		return c.apply(IntegerType, "len", t)
	}
	if id.Value == "date" {
		v, p := plainTypes[DateType].read(t.text)
		if t.value == nil || p != fine {
			return c.fail(say.exprSyntax(c.place(n.Arguments[0]), "date wants a date in quotes", "year-month-day: 2025-01-03"))
		}
		return constant(DateType, v, t.text)
	}
	return c.apply(StringType, id.Value, t)
}

// missing is what is still to be asked of an argument that says so.
func (c *exprChecker) missing(n *ast.CallNode) term {
	wrong := func(at ast.Node) term {
		return c.fail(say.mismatch(c.place(at), "missing wants an argument that is taken with follow-ups", "follow-ups: true says so of an object with schema-of"))
	}
	if len(n.Arguments) != 1 {
		return wrong(n)
	}
	t := c.check(n.Arguments[0], nil)
	if t.name == badType {
		return bad
	}
	if t.param < 0 || t.read >= 0 {
		return wrong(n.Arguments[0])
	}
	p := &c.sc.verb.Params[t.param]
	by, ok := p.SchemaOf()
	if !ok || !p.FollowUps {
		return wrong(n.Arguments[0])
	}
	return term{name: ListType, item: &Type{Name: StringType}, param: -1, read: -1,
		node: callNode("missing", &ast.ConstantNode{Value: p.byCode}, t.node, c.load(slot{slotArg, by}))}
}

// assign makes a term what is wanted, or says why it cannot be.
func (c *exprChecker) assign(n ast.Node, t term, w want) term {
	if t.name == badType || w.is == nil {
		return t
	}
	is := w.is
	switch {
	case t.name == nilType:
		if w.required {
			d := say.mismatch(c.place(n), w.name+" is required and cannot be nil", "a value is wanted here")
			d.Related = []dsl.Related{{Place: w.place, Message: "declared here"}}
			return c.fail(d)
		}
		if is.Name == BooleanType && w.name == wantBoolean.name {
			break
		}
		return t
	case t.name == DateType && w.name == wantMoment.name:
		return c.certain(n, t, w)
	case t.name == is.Name && t.name == CodeType:
		if t.codes == nil || is.Codes == nil || t.codes == is.Codes {
			return c.certain(n, t, w)
		}
	case t.name == is.Name && t.name == RefType:
		if t.entity == nil || is.Entity == nil || t.entity == is.Entity {
			return c.certain(n, t, w)
		}
	case t.name == is.Name && t.name == ListType:
		if c.listFits(t, is) {
			return c.certain(n, t, w)
		}
	case t.name == is.Name:
		if t.value != nil {
			if v, p := is.limit(*t.value); p != fine {
				return c.fail(say.badValue(c.place(n), w.name, c.text, is, p))
			} else if v != *t.value {
				return constant(t.name, v, t.text)
			}
		}
		return c.certain(n, t, w)
	case is.Name == DecimalType && t.name == IntegerType:
		t = c.certain(n, t, w)
		t = c.widen(t)
		if t.value != nil {
			if _, p := is.limit(*t.value); p != fine {
				return c.fail(say.badValue(c.place(n), w.name, c.text, is, p))
			}
		}
		return t
	case is.Name == StringType && (t.textual() || t.name == CodeType):
		return c.certain(n, t, w)
	case is.Name == UUIDType && t.name == RefType:
		return c.certain(n, t, w)
	case is.Name == AnyType:
		t = c.certain(n, t, w)
		if t.name == ListType || t.name == ObjectType || t.name == AnyType && t.read >= 0 {
			return t
		}
		return c.apply(AnyType, "json", t)
	}
	return c.fail(c.unfit(n, t, w))
}

func (c *exprChecker) listFits(t term, is *Type) bool {
	if is.Item == nil || is.Item.Name == AnyType {
		return true
	}
	if t.item != nil {
		return t.item.Name == is.Item.Name && (t.item.Codes == nil || is.Item.Codes == nil || t.item.Codes == is.Item.Codes)
	}
	for _, item := range t.list {
		if !c.alike(item, typeTerm(is.Item)) {
			return false
		}
	}
	return true
}

// certain warns when a field that every row has is set from an argument that
// may be left out.
func (c *exprChecker) certain(n ast.Node, t term, w want) term {
	if w.required && t.param >= 0 && w.place.Source != nil {
		p := &c.sc.verb.Params[t.param]
		if !p.Sure() && c.there&(1<<t.param) == 0 {
			d := say.mayBeAbsent(c.place(n), p)
			d.Related = append(d.Related, dsl.Related{Place: w.place, Message: w.name + " is required"})
			c.d.report(d)
		}
	}
	return t
}

// unfit is the complaint about a value of the wrong type, with what the author
// may have meant.
func (c *exprChecker) unfit(n ast.Node, t term, w want) dsl.Diagnostic {
	subject := "this"
	if t.param >= 0 {
		subject = ":" + c.sc.verb.Params[t.param].Name
	}
	holds := " holds "
	if w.place.Source == nil {
		holds = " must be "
	}
	d := say.mismatch(c.place(n), w.name+holds+w.is.phrase()+"; "+subject+" is "+t.phrase(), w.is.phrase()+" is wanted here")
	if w.place.Source == nil && w.is.Name == BooleanType {
		d.Summary, d.Label = "a condition must be true or false; "+subject+" is "+t.phrase(), "a comparison is wanted here"
	}
	c.declared(&d, t)
	if w.place.Source != nil && t.param < 0 {
		d.Related = append(d.Related, dsl.Related{Place: w.place, Message: "the field is declared here"})
	}
	if t.name == DateType && w.is.Name == DateTimeType || t.name == DateTimeType && w.is.Name == DateType {
		d.Notes = append(d.Notes, "`today` is a date, `now` is a date with its time")
	}
	var may []string
	for i := range c.sc.verb.Params {
		p := &c.sc.verb.Params[i]
		if p.Type != nil && i != t.param && exactly(paramTerm(p, i), w.is) && w.place.Source != nil {
			may = append(may, ":"+p.Name)
		}
	}
	switch {
	case len(may) == 1:
		d.Notes = append(d.Notes, "the argument you may mean: "+may[0])
	case len(may) > 1:
		d.Notes = append(d.Notes, "the arguments you may mean: "+some(may, 5))
	}
	return d
}
