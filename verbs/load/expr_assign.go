package load

import (
	"slices"
	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/message"
)

// assign converts a term to what is wanted, or reports why it cannot be.
func (c *exprChecker) assign(n *expr.Node, t term, w want) term {
	if t.name == badType || w.is == nil {
		return t
	}
	is := w.is
	switch {
	case t.name == nilType:
		if w.required {
			d := tell(c.place(n), "type-mismatch", w.name+" is required and cannot be nil", "a value is wanted here")
			d.Related = []dsl.Related{{Place: w.place, Message: "declared here"}}
			return c.fail(d)
		}
		if is.Name == verbs.BooleanType && w.name == wantBoolean.name {
			break
		}
		return t
	case t.name == verbs.DateType && w.name == wantMoment.name:
		return c.certain(n, t, w)
	case t.name == is.Name && (t.name == verbs.CodeType || t.name == verbs.RefType):
		if c.alike(t, typeTerm(is)) {
			return c.certain(n, t, w)
		}
	case t.name == is.Name && t.name == verbs.ListType:
		if c.listFits(t, is) {
			return c.certain(n, t, w)
		}
	case t.name == is.Name:
		if value, ok := t.constant(); ok {
			if v, p := is.Limit(value); p != verbs.Fine {
				return c.fail(verbs.BadValue(c.place(n), w.name, c.text, is, p))
			} else if v != value {
				return constant(t.name, v, t.text)
			}
		}
		return c.certain(n, t, w)
	case is.Name == verbs.DecimalType && t.name == verbs.IntegerType:
		t = c.certain(n, t, w)
		t = widen(t)
		if value, ok := t.constant(); ok {
			if _, p := is.Limit(value); p != verbs.Fine {
				return c.fail(verbs.BadValue(c.place(n), w.name, c.text, is, p))
			}
		}
		return t
	case is.Name == verbs.StringType && (t.textual() || t.name == verbs.CodeType):
		return c.certain(n, t, w)
	case is.Name == verbs.UUIDType && t.name == verbs.RefType:
		return c.certain(n, t, w)
	case is.Name == verbs.AnyType:
		t = c.certain(n, t, w)
		if t.name == verbs.ListType || t.name == verbs.ObjectType || t.name == verbs.AnyType && t.prog.From == expr.Read {
			return t
		}
		return c.apply(verbs.AnyType, "json", t)
	}
	return c.fail(c.unfit(n, t, w))
}

func (c *exprChecker) listFits(t term, is *verbs.Type) bool {
	if is.Item == nil || is.Item.Name == verbs.AnyType {
		return true
	}
	if t.item != nil {
		return t.item.Name == is.Item.Name && (t.item.Codes == nil || is.Item.Codes == nil || t.item.Codes == is.Item.Codes)
	}
	return !slices.ContainsFunc(t.list, func(item term) bool { return !c.alike(item, typeTerm(is.Item)) })
}

// certain warns if a required field is set from an argument that may be left out.
func (c *exprChecker) certain(n *expr.Node, t term, w want) term {
	if t.part != nil && w.required && w.place.Source != nil && !t.part.Required && !w.kept {
		d := tell(c.place(n), "may-be-absent/field", t.part)
		d.Related = append(d.Related, dsl.Related{Place: w.place, Message: w.name + " is required"})
		c.d.report(d)
	}
	if i := t.param(); w.required && i >= 0 && w.place.Source != nil {
		p := &c.sc.verb.Params[i]
		if !p.Sure() && c.there&(1<<i) == 0 && (p.Clear || !w.kept) {
			d := tell(c.place(n), "may-be-absent", p)
			d.Related = append(d.Related, dsl.Related{Place: w.place, Message: w.name + " is required"})
			c.d.report(d)
		}
	}
	return t
}

// unfit makes the diagnostic for a value of the wrong type, with what the author may have meant.
func (c *exprChecker) unfit(n *expr.Node, t term, w want) dsl.Diagnostic {
	subject := "this"
	param := t.param()
	if param >= 0 {
		subject = ":" + c.sc.verb.Params[param].Name
	}
	holds := " holds "
	if w.place.Source == nil {
		holds = " must be "
	}
	d := tell(c.place(n), "type-mismatch", w.name+holds+w.is.Phrase()+"; "+subject+" is "+t.Phrase(), w.is.Phrase()+" is wanted here")
	if w.place.Source == nil && w.is.Name == verbs.BooleanType {
		d.Summary, d.Label = "a condition must be true or false; "+subject+" is "+t.Phrase(), "a comparison is wanted here"
	}
	c.declared(&d, t)
	if w.place.Source != nil && param < 0 {
		d.Related = append(d.Related, dsl.Related{Place: w.place, Message: "the field is declared here"})
	}
	if t.name == verbs.DateType && w.is.Name == verbs.DateTimeType || t.name == verbs.DateTimeType && w.is.Name == verbs.DateType {
		d.Notes = append(d.Notes, "`today` is a date, `now` is a date with its time")
	}
	var may []string
	for i := range c.sc.verb.Params {
		p := &c.sc.verb.Params[i]
		if p.Type != nil && i != param && exactly(paramTerm(p, i), w.is) && w.place.Source != nil {
			may = append(may, ":"+p.Name)
		}
	}
	switch {
	case len(may) == 1:
		d.Notes = append(d.Notes, "the argument you may mean: "+may[0])
	case len(may) > 1:
		d.Notes = append(d.Notes, "the arguments you may mean: "+message.Some(may, 5))
	}
	return d
}
