package load

import (
	"regexp"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/naming"
	"verbatim/verbs/values"
)

func (c *exprChecker) unary(n *expr.Node) term {
	of := n.Kids[0]
	t := c.check(of, nil)
	if t.name == badType {
		return bad
	}
	if n.Op == "not" {
		if t.name != verbs.BooleanType {
			return c.fail(tell(c.place(of), "type-mismatch/wants", n.Op, "a condition", t.Phrase(), "true or false"))
		}
		if t.overRow() {
			return selects(stores.Not, t)
		}
		return term{name: verbs.BooleanType, prog: expr.Not(t.prog)}
	}
	if t.name != verbs.IntegerType && t.name != verbs.DecimalType && t.name != verbs.DurationType {
		return c.fail(tell(c.place(of), "type-mismatch/wants", "a sign", "a number", t.Phrase(), "a number"))
	}
	if n.Op == "+" {
		return t
	}
	c.needs(of, t)
	return c.apply(t.name, "negative", t)
}

// apply returns the term of a function applied to terms.
func (c *exprChecker) apply(name verbs.TypeName, fn string, args ...term) term {
	programs := make([]*expr.Program, len(args))
	for i, a := range args {
		if a.overRow() {
			return c.fail(tell(c.d.place(c.n), "not-a-filter", "what is made of its fields"))
		}
		programs[i] = a.prog
	}
	return term{name: name, prog: expr.Apply(expr.Functions[fn], programs...)}
}

func (t *term) number() bool { return t.name == verbs.IntegerType || t.name == verbs.DecimalType }

func (t *term) textual() bool {
	return t.name == verbs.StringType || t.name.Ruled()
}

// Phrase describes a term.
func (t *term) Phrase() string {
	switch t.name {
	case nilType:
		return "nil"
	case badType:
		return "something else"
	}
	is := verbs.Type{Name: t.name, Codes: t.codes, Entity: t.entity, Item: t.item, Scale: -1}
	return is.Phrase()
}

func (c *exprChecker) binary(n *expr.Node, expect *term) term {
	left, right := n.Kids[0], n.Kids[1]
	switch n.Op {
	case "and", "or":
		return c.logic(n, n.Op == "and")
	case "==", "!=", "<", "<=", ">", ">=":
		l, r := c.both(left, right)
		return c.compare(n, l, r)
	case "contains", "startsWith", "endsWith":
		l, r := c.check(left, nil), c.check(right, nil)
		if l.name == badType || r.name == badType {
			return bad
		}
		for i, t := range []term{l, r} {
			if !t.textual() {
				return c.fail(tell(c.place(n.Kids[i]), "type-mismatch/wants", n.Op, "text", t.Phrase(), "a string"))
			}
		}
		if l.path != nil {
			return c.textOfRow(n, textOps[n.Op], l, r)
		}
		return c.apply(verbs.BooleanType, n.Op, l, r)
	case "matches":
		return c.matches(n)
	case "in":
		return c.in(n)
	case "??":
		l := c.check(left, expect)
		if expect == nil && l.name != badType {
			expect = &l
		}
		r := c.check(right, expect)
		switch {
		case l.name == badType || r.name == badType:
			return bad
		case !c.alike(l, r):
			return c.fail(tell(c.place(n), "type-mismatch/default", l.Phrase(), r.Phrase()))
		case l.overRow() || r.overRow():
			return c.fail(tell(c.place(n), "not-a-filter", "a choice"))
		}
		t := either(&l, &r)
		t.prog = expr.Default(l.prog, r.prog)
		return t
	}
	l, r := c.check(left, nil), c.check(right, nil)
	return c.arithmetic(n, l, r)
}

func (c *exprChecker) logic(n *expr.Node, and bool) term {
	left, right := n.Kids[0], n.Kids[1]
	before := c.there
	l := c.check(left, nil)
	c.there |= c.present(left, and)
	r := c.check(right, nil)
	c.there = before
	ok := true
	for i, t := range []term{l, r} {
		if t.name != badType && t.name != verbs.BooleanType {
			c.fail(tell(c.place(n.Kids[i]), "type-mismatch/wants", n.Op, "conditions", t.Phrase(), "true or false"))
			ok = false
		}
	}
	if !ok || l.name == badType || r.name == badType {
		return bad
	}
	switch over := l.overRow() || r.overRow(); {
	case over && and:
		return selects(stores.And, l, r)
	case over:
		return selects(stores.Or, l, r)
	case and:
		return term{name: verbs.BooleanType, prog: expr.And(l.prog, r.prog)}
	}
	return term{name: verbs.BooleanType, prog: expr.Or(l.prog, r.prog)}
}

// present returns the bits of the arguments that are certainly present if a condition has the
// given truth value.
func (c *exprChecker) present(n *expr.Node, truth bool) uint64 {
	switch {
	case n.Kind == expr.Unary && n.Op == "not":
		return c.present(n.Kids[0], !truth)
	case n.Kind != expr.Binary:
		return 0
	}
	l, r := n.Kids[0], n.Kids[1]
	switch n.Op {
	case "and", "or":
		if truth == (n.Op == "and") {
			return c.present(l, truth) | c.present(r, truth)
		}
		return c.present(l, truth) & c.present(r, truth)
	case "!=", "==":
		if l.Kind == expr.Nil {
			l, r = r, l
		}
		if r.Kind == expr.Nil && l.Kind == expr.Name && (n.Op == "!=") == truth {
			if i := c.sc.verb.ParamNamed(l.Text); i >= 0 {
				return 1 << i
			}
		}
	}
	return 0
}

// both checks the two sides of a comparison, the one with the more certain type first.
func (c *exprChecker) both(left, right *expr.Node) (l, r term) {
	if written(left) && !written(right) {
		r = c.check(right, nil)
		return c.check(left, expecting(&r)), r
	}
	l = c.check(left, nil)
	return l, c.check(right, expecting(&l))
}

// chain checks a < b < c. The middle operand is checked and evaluated once, unless it is a
// literal, whose meaning may differ for each side.
func (c *exprChecker) chain(n *expr.Node) term {
	var pairs []term
	var programs []*expr.Program
	var l, r term
	wrong, over := false, false
	for i, pair := range n.Pairs() {
		if left, right := pair.Kids[0], pair.Kids[1]; i == 0 || written(left) {
			l, r = c.both(left, right)
			programs = append(programs, l.prog, r.prog)
		} else {
			l, r = r, c.check(right, expecting(&r))
			programs = append(programs, nil, r.prog)
		}
		t := c.compare(pair, l, r)
		pairs = append(pairs, t)
		wrong, over = wrong || t.name == badType, over || t.overRow()
	}
	switch {
	case wrong:
		return bad
	case over:
		return selects(stores.And, pairs...)
	}
	return term{name: verbs.BooleanType, prog: expr.Compare(n.Ops, programs)}
}

func expecting(t *term) *term {
	if t.name == badType || t.name == nilType {
		return nil
	}
	return t
}

// written reports whether a part is a literal, whose type depends on what it is compared with.
func written(n *expr.Node) bool {
	return n.Kind == expr.Text || n.Kind == expr.Name && naming.IsCode(n.Text)
}

// alike reports whether two terms can be compared or replace one another.
func (c *exprChecker) alike(l, r term) bool {
	switch {
	case l.name == nilType || r.name == nilType:
		return true
	case l.number() && r.number(), l.textual() && r.textual():
		return true
	case l.name == verbs.CodeType && r.name == verbs.CodeType:
		return l.codes == nil || r.codes == nil || l.codes == r.codes
	case l.name == verbs.RefType && r.name == verbs.RefType:
		return l.entity == nil || r.entity == nil || l.entity == r.entity
	case l.name == verbs.RefType && r.name == verbs.UUIDType, l.name == verbs.UUIDType && r.name == verbs.RefType:
		return true
	case l.name == verbs.AnyType || r.name == verbs.AnyType:
		return true
	}
	return l.name == r.name && l.name != verbs.ListType && l.name != verbs.ObjectType && l.name != verbs.MoneyType && l.name != verbs.RecordType
}

// comparable reports whether two terms can be compared: terms that are alike, and codes of two
// lists of which one has every code of the other.
func (c *exprChecker) comparable(l, r term) bool {
	return c.alike(l, r) || l.name == verbs.CodeType && r.name == verbs.CodeType && (l.codes.Covers(r.codes) || r.codes.Covers(l.codes))
}

func (c *exprChecker) compare(n *expr.Node, l, r term) term {
	if l.name == badType || r.name == badType {
		return bad
	}
	ordered := n.Op != "==" && n.Op != "!="
	if !c.comparable(l, r) || ordered && (l.name == nilType || r.name == nilType || l.name == verbs.AnyType || r.name == verbs.AnyType) {
		d := tell(c.place(n), "type-mismatch/compared", l.Phrase(), r.Phrase())
		if l.name == verbs.DateType && r.name == verbs.DateTimeType || l.name == verbs.DateTimeType && r.name == verbs.DateType {
			d.Notes = []string{"`today` is a date, `now` is a date with its time"}
		}
		c.declared(&d, l)
		c.declared(&d, r)
		return c.fail(d)
	}
	if ordered && (l.name == verbs.BooleanType || l.name == verbs.CodeType || l.name == verbs.RefType || l.name == verbs.UUIDType) {
		return c.fail(tell(c.place(n), "type-mismatch/ordered", l.Phrase()))
	}
	if l.overRow() || r.overRow() {
		return c.compareRow(n, l, r)
	}
	if ordered {
		c.needs(n.Kids[0], l)
		c.needs(n.Kids[1], r)
	}
	return c.apply(verbs.BooleanType, n.Op, l, r)
}

// declared points to the declaration of an argument.
func (c *exprChecker) declared(d *dsl.Diagnostic, t term) {
	if i := t.param(); i >= 0 {
		p := &c.sc.verb.Params[i]
		d.Related = append(d.Related, dsl.Related{Place: p.Place, Message: p.Type.Phrase() + ", declared here"})
	}
}

// needs warns about an argument that is used in arithmetic although it may be left out.
func (c *exprChecker) needs(n *expr.Node, t term) {
	i := t.param()
	if i < 0 || c.filter {
		return
	}
	p := &c.sc.verb.Params[i]
	if !p.Sure() && c.there&(1<<i) == 0 {
		c.d.report(tell(c.place(n), "may-be-absent", p))
	}
}

// reckons lists the operand and result types of operators on dates and durations.
var reckons = map[string][][3]verbs.TypeName{
	"+": {
		{verbs.DateType, verbs.DurationType, verbs.DateType}, {verbs.DateTimeType, verbs.DurationType, verbs.DateTimeType}, {verbs.DurationType, verbs.DurationType, verbs.DurationType},
		{verbs.DurationType, verbs.DateType, verbs.DateType}, {verbs.DurationType, verbs.DateTimeType, verbs.DateTimeType},
	},
	"-": {
		{verbs.DateType, verbs.DurationType, verbs.DateType}, {verbs.DateTimeType, verbs.DurationType, verbs.DateTimeType}, {verbs.DurationType, verbs.DurationType, verbs.DurationType},
		{verbs.DateType, verbs.DateType, verbs.DurationType}, {verbs.DateTimeType, verbs.DateTimeType, verbs.DurationType},
	},
	"*": {{verbs.DurationType, verbs.IntegerType, verbs.DurationType}, {verbs.IntegerType, verbs.DurationType, verbs.DurationType}},
	"%": {{verbs.IntegerType, verbs.IntegerType, verbs.IntegerType}},
}

func (c *exprChecker) arithmetic(n *expr.Node, l, r term) term {
	if l.name == badType || r.name == badType {
		return bad
	}
	result, a, b := badType, l.name, r.name
	switch {
	case n.Op == "%" || !l.number() || !r.number():
		for _, rule := range reckons[n.Op] {
			if rule[0] == a && rule[1] == b {
				result = rule[2]
			}
		}
	case a == b:
		result = a
	default:
		result = verbs.DecimalType
	}
	if n.Op == "+" && l.textual() && r.textual() {
		result = verbs.StringType
	}
	if result == badType {
		d := tell(c.place(n), "type-mismatch/reckoned", l.Phrase(), r.Phrase(), n.Op)
		if (a == verbs.DateType || a == verbs.DateTimeType) && b == verbs.IntegerType {
			d.Notes = []string{"a number of days is days(14)"}
		}
		c.declared(&d, l)
		c.declared(&d, r)
		return c.fail(d)
	}
	c.needs(n.Kids[0], l)
	c.needs(n.Kids[1], r)
	if l.path != nil || r.path != nil {
		return c.fail(tell(c.place(n), "not-a-filter", "arithmetic on the row"))
	}
	return c.apply(result, n.Op, l, r)
}

func (c *exprChecker) matches(n *expr.Node) term {
	left, pattern := n.Kids[0], n.Kids[1]
	l := c.check(left, nil)
	if l.name == badType {
		return bad
	}
	if !l.textual() {
		return c.fail(tell(c.place(left), "type-mismatch/wants", n.Op, "text", l.Phrase(), "a string"))
	}
	if pattern.Kind != expr.Text {
		return c.fail(tell(c.place(pattern), "bad-expression/pattern"))
	}
	if l.path != nil {
		return c.fail(tell(c.place(n), "not-a-filter", "a pattern"))
	}
	if fault := values.PatternFault(pattern.Text); fault != "" {
		return c.fail(tell(c.place(pattern), "bad-pattern", fault))
	}
	re, err := regexp.Compile(pattern.Text)
	if err != nil {
		return c.fail(tell(c.place(pattern), "bad-pattern", err.Error()))
	}
	return term{name: verbs.BooleanType, prog: expr.Apply(func(s, _ stores.Value) (stores.Value, error) {
		return stores.NewBool(!s.IsNull() && re.MatchString(s.Text())), nil
	}, l.prog)}
}

func (c *exprChecker) in(n *expr.Node) term {
	l := c.check(n.Kids[0], nil)
	r := c.check(n.Kids[1], expecting(&l))
	if l.name == badType || r.name == badType {
		return bad
	}
	if r.name != verbs.ListType {
		return c.fail(tell(c.place(n.Kids[1]), "type-mismatch/in", r.Phrase()))
	}
	items := r.list
	if r.item != nil {
		items = []term{typeTerm(r.item)}
	}
	for _, item := range items {
		if !c.comparable(l, item) {
			return c.fail(tell(c.place(n), "type-mismatch/among", l.Phrase(), item.Phrase()))
		}
	}
	if r.path != nil {
		return c.fail(tell(c.place(n.Kids[1]), "not-a-filter", "a list in the row"))
	}
	if l.overRow() {
		return c.compareRow(n, l, r)
	}
	return c.apply(verbs.BooleanType, "in", l, r)
}

// array checks a list that is written out. expect is the other side of `in`, or the list that is
// set, and determines the type of the items.
func (c *exprChecker) array(n *expr.Node, expect *term) term {
	if expect != nil && expect.name == verbs.ListType {
		expect = wanted(expect.item)
	}
	t := term{name: verbs.ListType}
	programs := make([]*expr.Program, len(n.Kids))
	values := make([]stores.Value, 0, len(n.Kids))
	for i, item := range n.Kids {
		it := c.check(item, expect)
		switch {
		case it.name == badType:
			return bad
		case it.name == verbs.ListType || it.overRow():
			return c.fail(tell(c.place(item), "bad-expression/item"))
		}
		programs[i] = it.prog
		if v, ok := it.constant(); ok {
			values = append(values, v)
		}
		t.list = append(t.list, it)
	}
	if t.prog = expr.Items(programs); len(values) == len(programs) {
		t.prog = &expr.Program{Value: stores.NewList(values...)}
	}
	return t
}

// conditional checks a ? b : c. In a ?: b, the condition is also the first result.
func (c *exprChecker) conditional(n *expr.Node, expect *term) term {
	asked, taken, other := n.Kids[0], (*expr.Node)(nil), n.Kids[len(n.Kids)-1]
	cond := c.check(asked, nil)
	a := cond
	before := c.there
	if len(n.Kids) == 3 {
		taken = n.Kids[1]
		c.there = before | c.present(asked, true)
		a = c.check(taken, expect)
	}
	c.there = before | c.present(asked, false)
	if expect == nil {
		expect = expecting(&a)
	}
	b := c.check(other, expect)
	c.there = before
	switch {
	case cond.name == badType || a.name == badType || b.name == badType:
		return bad
	case cond.name != verbs.BooleanType:
		return c.fail(tell(c.place(asked), "type-mismatch/wants", "?", "a condition", cond.Phrase(), "true or false"))
	case !c.alike(a, b):
		return c.fail(tell(c.place(n), "type-mismatch/choice", a.Phrase(), b.Phrase()))
	case cond.overRow() || a.overRow() || b.overRow():
		return c.fail(tell(c.place(n), "not-a-filter", "a choice"))
	}
	t := either(&a, &b)
	if taken == nil {
		a.prog = nil
	}
	t.prog = expr.Choose(cond.prog, a.prog, b.prog)
	return t
}

// either returns the type of a value that may be one of two terms, which are converted to the
// same type.
func either(a, b *term) term {
	t := *a
	switch {
	case a.name == nilType:
		t = *b
	case a.name == verbs.IntegerType && b.name == verbs.DecimalType:
		t = *b
	case a.textual() && b.textual() && a.name != b.name:
		t.name = verbs.StringType
	case a.codes == nil:
		t.codes = b.codes
	}
	if t.name == verbs.DecimalType {
		*a, *b = widen(*a), widen(*b)
	}
	return term{name: t.name, codes: t.codes, entity: t.entity, item: t.item}
}

// widen converts an integer to a decimal.
func widen(t term) term {
	if t.name != verbs.IntegerType {
		return t
	}
	return term{name: verbs.DecimalType, prog: expr.Apply(expr.Functions["decimal"], t.prog)}
}
