package load

import (
	"slices"

	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/naming"
)

// functionNames are the functions that palettes may call.
var functionNames = []string{"abs", "content", "date", "day", "days", "divide", "hours", "len", "lower", "max", "min", "minutes", "missing", "month", "round", "seconds",
	"trim", "upper", "weekday", "weeks", "year"}

// takes lists the argument and result types of functions of one value. Any is a text or a list.
var takes = map[string]struct{ wants, gives verbs.TypeName }{
	"seconds": {verbs.IntegerType, verbs.DurationType}, "days": {verbs.IntegerType, verbs.DurationType}, "weeks": {verbs.IntegerType, verbs.DurationType}, "hours": {verbs.IntegerType, verbs.DurationType}, "minutes": {verbs.IntegerType, verbs.DurationType},
	"lower": {verbs.StringType, verbs.StringType}, "upper": {verbs.StringType, verbs.StringType}, "trim": {verbs.StringType, verbs.StringType}, "date": {verbs.StringType, verbs.DateType},
	"len": {verbs.AnyType, verbs.IntegerType},
}

func (c *exprChecker) call(n *expr.Node) term {
	switch n.Text {
	case "missing":
		return c.missing(n)
	case "content":
		return c.content(n)
	}
	if t, ok := c.numeric(n); ok {
		return t
	}
	fn, known := takes[n.Text]
	if !known {
		if t, ok := c.outside(n); ok {
			return t
		}
		names := slices.Clone(functionNames)
		for _, o := range c.l.functions {
			names = append(names, naming.Underscored(o.fn.Name))
		}
		return c.fail(tell(c.at(n.At, n.At+len(n.Text)), "unknown-function", n.Text, names))
	}
	if len(n.Kids) != 1 {
		return c.fail(tell(c.place(n), "bad-expression/one", n.Text, len(n.Kids)))
	}
	of := n.Kids[0]
	t := c.check(of, nil)
	switch {
	case t.name == badType:
		return bad
	case t.name != fn.wants && !(fn.wants == verbs.StringType && t.textual()) && !(fn.wants == verbs.AnyType && (t.textual() || t.name == verbs.ListType)):
		phrase := plainTypes[fn.wants].Phrase()
		if fn.wants == verbs.AnyType {
			phrase = "a string or a list"
		}
		return c.fail(tell(c.place(of), "type-mismatch/wants", n.Text, phrase, t.Phrase(), phrase))
	case t.path != nil && n.Text == "lower" && !t.lower:
		t.lower = true
		return t
	case t.path != nil:
		return c.fail(tell(c.place(n), "not-a-filter", "what a function makes of it"))
	case n.Text == "date":
		v, p := plainTypes[verbs.DateType].Read(t.text)
		if _, written := t.constant(); !written || p != verbs.Fine {
			return c.fail(tell(c.place(of), "bad-expression/date"))
		}
		return constant(verbs.DateType, v, t.text)
	case fn.wants != verbs.StringType:
		c.needs(of, t)
	}
	return c.apply(fn.gives, n.Text, t)
}

// missing returns the keys still to be asked for: those that the schema of the argument requires,
// for the code that selects it.
func (c *exprChecker) missing(n *expr.Node) term {
	p, t := c.argument(n, "an argument that is taken with follow-ups", "follow-ups: true says so of an object with schema-of",
		func(p *verbs.Param) bool { _, ok := p.SchemaOf(); return ok && p.FollowUps })
	if p == nil {
		return t
	}
	by, _ := p.SchemaOf()
	codes := p.ByCode
	return term{name: verbs.ListType, item: &verbs.Type{Name: verbs.StringType}, prog: expr.About(func(object, code stores.Value) (stores.Value, error) {
		keys := []stores.Value{}
		if s := codes.Schema(code.Text()); s != nil && !object.IsNull() {
			found, err := s.FollowUps(object)
			if err != nil {
				return stores.Value{}, err
			}
			for _, key := range found {
				keys = append(keys, stores.NewString(key))
			}
		}
		return stores.NewList(keys...), nil
	}, t.prog, &expr.Program{From: expr.Argument, Index: by})}
}

// content returns the identifier of the bytes of an upload.
func (c *exprChecker) content(n *expr.Node) term {
	p, t := c.argument(n, "an argument that is an upload", "upload: {types: …, max-size: …} says so of a string",
		func(p *verbs.Param) bool { return p.Upload != nil })
	if p == nil {
		return t
	}
	return term{name: verbs.StringType, prog: &expr.Program{From: expr.Content, Index: t.param()}}
}

// argument checks that a function is called with one argument of the verb, and that takes accepts
// it.
func (c *exprChecker) argument(n *expr.Node, wants, label string, takes func(*verbs.Param) bool) (*verbs.Param, term) {
	at := n
	if len(n.Kids) == 1 {
		at = n.Kids[0]
		t := c.check(at, nil)
		if t.name == badType {
			return nil, bad
		}
		if i := t.param(); i >= 0 && takes(&c.sc.verb.Params[i]) {
			return &c.sc.verb.Params[i], t
		}
	}
	return nil, c.fail(tell(c.place(at), "type-mismatch", n.Text+" wants "+wants, label))
}

// maxPlaces is the greatest number of digits after the point to which a result may be rounded.
const maxPlaces = 12

// calendar are the functions of a date.
var calendar = map[string]bool{"year": true, "month": true, "day": true, "weekday": true}

// numeric checks the functions that take numbers, or dates: abs(x), min(x, y), max(x, y),
// round(x, places) and divide(x, y, places). ok is false for every other name.
func (c *exprChecker) numeric(n *expr.Node) (t term, ok bool) {
	wants := map[string]int{"abs": 1, "min": 2, "max": 2, "round": 2, "divide": 3, "year": 1, "month": 1, "day": 1, "weekday": 1}[n.Text]
	switch {
	case wants == 0:
		return bad, false
	case len(n.Kids) != wants:
		return c.fail(tell(c.place(n), "bad-expression/several", n.Text, wants, len(n.Kids))), true
	}
	rounds := n.Text == "round" || n.Text == "divide"
	of := n.Kids
	if rounds {
		of = of[:wants-1]
	}
	terms := make([]term, len(of))
	for i, kid := range of {
		terms[i] = c.check(kid, nil)
		days := terms[i].name == verbs.DateType || terms[i].name == verbs.DateTimeType
		switch {
		case terms[i].name == badType:
			return bad, true
		case terms[i].path != nil || terms[i].cond != nil:
			return c.fail(tell(c.place(n), "not-a-filter", "what a function makes of it")), true
		case calendar[n.Text] && terms[i].name != verbs.DateType:
			return c.fail(tell(c.place(kid), "type-mismatch/wants", n.Text, "a date", terms[i].Phrase(), "a date")), true
		case calendar[n.Text], terms[i].number(), days && (n.Text == "min" || n.Text == "max"):
		default:
			return c.fail(tell(c.place(kid), "type-mismatch/wants", n.Text, "a number", terms[i].Phrase(), "a number")), true
		}
		c.needs(kid, terms[i])
	}
	if len(terms) == 2 && terms[0].name != terms[1].name && !(terms[0].number() && terms[1].number()) {
		return c.fail(tell(c.place(n.Kids[1]), "type-mismatch/wants", n.Text, "two of one kind", terms[1].Phrase(), terms[0].Phrase())), true
	}
	if !rounds {
		is := term{name: verbs.IntegerType}
		if len(terms) == 2 {
			is = either(&terms[0], &terms[1])
		} else if !calendar[n.Text] {
			is.name = terms[0].name
		}
		return c.apply(is.name, n.Text, terms...), true
	}
	places, ok := stores.ParseInt(n.Kids[wants-1].Text)
	if !ok || n.Kids[wants-1].Kind != expr.Number || places.Int() < 0 || places.Int() > maxPlaces {
		return c.fail(tell(c.place(n.Kids[wants-1]), "bad-expression/places", n.Text, maxPlaces)), true
	}
	programs := make([]*expr.Program, len(terms))
	for i := range terms {
		programs[i] = terms[i].prog
	}
	fn := expr.Rounds(int(places.Int()))
	if n.Text == "divide" {
		fn = expr.Divides(int(places.Int()))
	}
	return term{name: verbs.DecimalType, prog: expr.Apply(fn, programs...)}, true
}
