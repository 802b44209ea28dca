package verbs

import (
	"regexp"

	"github.com/expr-lang/expr/ast"

	"verbatim/dsl"
	"verbatim/stores"
)

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

// comparable reports whether two terms can be compared: terms that are alike, and
// codes of two lists of which one holds every code of the other.
func (c *exprChecker) comparable(l, r term) bool {
	return c.alike(l, r) || l.name == CodeType && r.name == CodeType && (l.codes.covers(r.codes) || r.codes.covers(l.codes))
}

var comparisons = map[string]string{"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

func (c *exprChecker) compare(n *ast.BinaryNode, l, r term) term {
	if l.name == badType || r.name == badType {
		return bad
	}
	ordered := n.Operator != "==" && n.Operator != "!="
	if !c.comparable(l, r) || ordered && (l.name == nilType || r.name == nilType || l.name == AnyType || r.name == AnyType) {
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
		if !c.comparable(l, item) {
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
