package load

import (
	"slices"
	"strconv"
	"strings"

	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
)

func constant(name verbs.TypeName, v stores.Value, text string) term {
	return term{name: name, prog: &expr.Program{Value: v}, text: text}
}

func given(name verbs.TypeName, from expr.Source) term {
	return term{name: name, prog: &expr.Program{From: from}}
}

func (c *exprChecker) number(n *expr.Node) term {
	if strings.Contains(n.Text, ".") {
		v, ok := stores.ParseDecimal(n.Text)
		if !ok {
			return c.fail(tell(c.place(n), "bad-expression/digits"))
		}
		return constant(verbs.DecimalType, v, n.Text)
	}
	v, ok := stores.ParseInt(n.Text)
	if !ok {
		return c.fail(tell(c.place(n), "bad-expression/large"))
	}
	return constant(verbs.IntegerType, v, n.Text)
}

// string reads text as a date, a uuid and so on if one is expected.
func (c *exprChecker) string(n *expr.Node, expect *term) term {
	if expect != nil {
		switch expect.name {
		case verbs.CodeType:
			return c.fail(codeInQuotes(c.place(n), n.Text, expect.codes))
		case verbs.DateType, verbs.DateTimeType, verbs.DurationType, verbs.UUIDType, verbs.RefType, verbs.EmailType, verbs.PhoneType, verbs.IBANType, verbs.BICType, verbs.LEIType, verbs.NationalIDType:
			t := plainTypes[expect.name]
			v, p := t.Read(n.Text)
			if p != verbs.Fine {
				return c.fail(verbs.BadValue(c.place(n), "this", strconv.Quote(n.Text), t, p))
			}
			is := constant(expect.name, v, n.Text)
			is.entity = expect.entity
			return is
		}
	}
	return constant(verbs.StringType, stores.NewString(n.Text), n.Text)
}

func (c *exprChecker) identifier(n *expr.Node, expect *term) term {
	name := n.Text
	if i := c.sc.verb.ParamNamed(name); i >= 0 {
		c.d.usesParam(c.sc.verb, i, c.n, n.From, n.To, nil)
		if c.sc.verb.Params[i].Type == nil {
			c.failed = true
			return bad
		}
		return paramTerm(&c.sc.verb.Params[i], i)
	}
	if t, ok := c.total(n, name); ok {
		return t
	}
	if len(c.sc.verb.Discloses) > 0 {
		if t, ok := c.disclosed(n, name); ok {
			return t
		}
	}
	if t, ok := c.added(name); ok {
		return t
	}
	switch name {
	case "today":
		return given(verbs.DateType, expr.Today)
	case "now":
		return given(verbs.DateTimeType, expr.Now)
	case "principal":
		return given(verbs.StringType, expr.Principal)
	case "each":
		switch list := c.sc.item; {
		case list != nil:
			t := typeTerm(list.Type.Item)
			t.prog = &expr.Program{From: expr.Item, Index: c.sc.verb.ParamNamed(list.Name)}
			return t
		case c.sc.each != nil:
			return c.fieldAt(verbs.OfEach, stores.Path{Field: c.sc.each.Store.Key}, term{name: verbs.RefType, entity: c.sc.each})
		}
	case "row":
		if c.sc.row == nil {
			return c.fail(tell(c.place(n), "unknown-name/no-row"))
		}
		return c.fieldAt(verbs.OfRow, stores.Path{Field: c.sc.row.Store.Key}, term{name: verbs.RefType, entity: c.sc.row})
	}
	if naming.IsCode(name) {
		t := constant(verbs.CodeType, stores.NewString(name), name)
		if expect != nil && expect.name == verbs.CodeType && expect.codes != nil {
			t.codes = expect.codes
			c.d.use(c.n, n.From, n.To, CodeThing, expect.codes.Name+" "+name, false, expect.codes.Has(name), expect.codes.Names)
			if !expect.codes.Has(name) {
				return c.fail(tell(c.place(n), "unknown-code", name, expect.codes))
			}
		}
		return t
	}
	return c.unknown(n, name)
}

// unknown reports an unknown name. A dash is a minus, so a name written as in a call is split;
// the joined name may be known.
func (c *exprChecker) unknown(n *expr.Node, name string) term {
	start, end := n.From, n.To
	for start > 0 && (naming.IsWord(c.text[start-1], true) || c.text[start-1] == '-') {
		start--
	}
	for end < len(c.text) && (naming.IsWord(c.text[end], true) || c.text[end] == '-') {
		end++
	}
	if whole := c.text[start:end]; strings.Contains(whole, "-") {
		if i := c.sc.verb.ParamNamed(whole); i >= 0 {
			ident := c.sc.verb.Params[i].Ident
			d := tell(c.at(start, end), "bad-expression/dash", ident, whole)
			d.Fixes = message.Replacements(c.at(start, end), []string{ident}, "")
			return c.fail(d)
		}
	}
	c.d.use(c.n, n.From, n.To, ArgumentThing, name, false, false, c.names)
	return c.fail(tell(c.place(n), "unknown-name", name, c.names()))
}

func (c *exprChecker) names() []string {
	names := make([]string, 0, len(c.sc.verb.Params)+4)
	for i := range c.sc.verb.Params {
		names = append(names, c.sc.verb.Params[i].Ident)
	}
	for _, t := range c.sc.verb.Totals {
		if !t.Beyond || c.sc.beyond {
			names = append(names, t.Name)
		}
	}
	for i := range c.sc.verb.Discloses {
		names = append(names, c.sc.verb.Discloses[i].Name)
	}
	for i := range c.sc.verb.Effects {
		if as := c.sc.verb.Effects[i].As; as != "" {
			names = append(names, as)
		}
	}
	names = append(names, "today", "now", "principal")
	if c.sc.row != nil {
		names = append(names, "row")
	}
	if c.sc.item != nil || c.sc.each != nil {
		names = append(names, "each")
	}
	return names
}

// member follows a path: of `row`, or of the row that a reference names.
func (c *exprChecker) member(n *expr.Node) term {
	first, id := n, n.Kids[0]
	for ; id.Kind == expr.Field; id = id.Kids[0] {
		first = id
	}
	if id.Kind != expr.Name {
		return c.fail(tell(c.place(id), "bad-expression/fields"))
	}
	from, to := first.At, n.To
	if id.Text == "row" {
		if c.sc.row == nil {
			return c.fail(tell(c.place(id), "unknown-name/no-row"))
		}
		return c.field(c.sc.row, verbs.OfRow, from, to)
	}
	if id.Text == "each" && c.sc.each != nil {
		return c.field(c.sc.each, verbs.OfEach, from, to)
	}
	if list := c.sc.item; id.Text == "each" && list != nil && list.Type.Item.Name == verbs.RecordType {
		i := c.sc.verb.ParamNamed(list.Name)
		return c.recordMember(list.Type.Item, &expr.Program{From: expr.Item, Index: i}, i, true, n, steps(n))
	}
	i := c.sc.verb.ParamNamed(id.Text)
	if i < 0 {
		if _, added := c.added(id.Text); added || id.Text == "today" || id.Text == "now" || id.Text == "principal" || naming.IsCode(id.Text) {
			return c.fail(tell(c.at(from, to), "bad-expression/no-fields", id.Text))
		}
		return c.unknown(id, id.Text)
	}
	c.d.usesParam(c.sc.verb, i, c.n, id.From, id.To, nil)
	p := &c.sc.verb.Params[i]
	switch {
	case p.Type == nil:
		c.failed = true
		return bad
	case p.Type.Name == verbs.RefType && p.Type.Entity != nil:
		return c.field(p.Type.Entity, i, from, to)
	case p.Type.Name == verbs.RecordType:
		return c.recordMember(p.Type, &expr.Program{From: expr.Argument, Index: i}, i, false, n, steps(n))
	case p.Type.Name == verbs.MoneyType && first == n:
		if is, ok := map[string]verbs.TypeName{"amount": verbs.DecimalType, "currency": verbs.CodeType}[n.Text]; ok {
			return c.apply(is, n.Text, paramTerm(p, i))
		}
		return c.fail(tell(c.at(from, to), "unknown-field/money", n.Text, []string{"amount", "currency"}))
	}
	if p.Type.Name == verbs.RefType {
		return c.fail(tell(c.at(from, to), "type-mismatch/any-entity", p))
	}
	return c.fail(tell(c.at(from, to), "type-mismatch/no-fields", p))
}

// steps returns the steps of a path, the first one first.
func steps(n *expr.Node) []*expr.Node {
	var all []*expr.Node
	for ; n.Kind == expr.Field; n = n.Kids[0] {
		all = append(all, n)
	}
	slices.Reverse(all)
	return all
}

func (c *exprChecker) field(e *verbs.Entity, param, from, to int) term {
	path, f, ok := c.d.path(e, c.n, from, c.text[from:to])
	if !ok || f.Type == nil {
		c.failed = true
		return bad
	}
	return c.fieldAt(param, path, typeTerm(f.Type))
}

// fieldAt returns the term of the field at the end of a path.
func (c *exprChecker) fieldAt(param int, path stores.Path, t term) term {
	if c.filter && param == verbs.OfRow {
		t.path = &path
		return t
	}
	t.prog = &expr.Program{From: expr.Read, Index: c.reading(verbs.ExprRead{Param: param, Path: path})}
	return t
}

// reading returns the index of a read among the expression's reads, and adds it if necessary.
func (c *exprChecker) reading(read verbs.ExprRead) int {
	i := slices.IndexFunc(c.reads, func(r verbs.ExprRead) bool {
		return r.Param == read.Param && r.Part == read.Part && r.Each == read.Each && samePath(r.Path, read.Path)
	})
	if i < 0 {
		i = len(c.reads)
		c.reads = append(c.reads, read)
	}
	return i
}

func samePath(a, b stores.Path) bool {
	return a.Field == b.Field && a.Count == b.Count && a.By == b.By && slices.Equal(a.Steps, b.Steps)
}

// total resolves a name to a total, if it is one.
func (c *exprChecker) total(n *expr.Node, name string) (term, bool) {
	i := slices.IndexFunc(c.sc.verb.Totals, func(t *verbs.Total) bool { return naming.Same(t.Name, name) })
	if i < 0 {
		return bad, false
	}
	if c.sc.verb.Totals[i].Type == nil {
		c.failed = true
		return bad, true
	}
	if c.sc.verb.Totals[i].Beyond && !c.sc.beyond {
		return c.fail(tell(c.place(n), "beyond-its-caller", name)), true
	}
	read := verbs.ExprRead{Param: verbs.OfTotal, Path: stores.Path{Field: i}}
	t := typeTerm(c.sc.verb.Totals[i].Type)
	t.prog = &expr.Program{From: expr.Read, Index: c.reading(read)}
	return t, true
}

// added resolves a name to the row that an earlier effect adds, if it is one.
func (c *exprChecker) added(name string) (term, bool) {
	i := slices.IndexFunc(c.sc.verb.Effects, func(e verbs.Effect) bool { return e.As != "" && naming.Same(e.As, name) })
	if i < 0 || c.sc.later {
		return bad, false
	}
	t := term{name: verbs.RefType, entity: c.sc.verb.Effects[i].Entity}
	t.prog = &expr.Program{From: expr.Read, Index: c.reading(verbs.ExprRead{Param: verbs.OfNew, Path: stores.Path{Field: i}})}
	return t, true
}
