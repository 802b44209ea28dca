package verbs

import (
	"strings"

	"github.com/expr-lang/expr/ast"

	"verbatim/dsl"
	"verbatim/stores"
)

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
