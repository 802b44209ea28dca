package verbs

import (
	"verbatim/stores"
	"verbatim/verbs/expr"
)

// maxPlaces is how many digits after the point a result may be rounded to.
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
		days := terms[i].name == DateType || terms[i].name == DateTimeType
		switch {
		case terms[i].name == badType:
			return bad, true
		case terms[i].path != nil || terms[i].cond != nil:
			return c.fail(tell(c.place(n), "not-a-filter", "what a function makes of it")), true
		case calendar[n.Text] && terms[i].name != DateType:
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
		is := term{name: IntegerType}
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
	return term{name: DecimalType, prog: expr.Apply(fn, programs...)}, true
}
