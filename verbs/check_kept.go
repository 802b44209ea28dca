package verbs

import "verbatim/dsl"

// An argument of type call takes calls as values: they are checked as if they were made now, but
// stored as text. The calls of a list are checked together, as one script, so that one may use
// the result of another.

// kept checks stored calls: one in parentheses, or a list of them.
func (c *checker) kept(at site, t *Type, v *dsl.Value, out *Arg, depth int) {
	items := []dsl.Value{*v}
	if v.Kind == dsl.List && t.Name == ListType {
		items = v.Items()
	}
	script := &dsl.Script{Source: c.s.Source}
	for i := range items {
		call := items[i].Call()
		if items[i].Kind != dsl.Nested || call == nil {
			if items[i].Kind == dsl.Invalid || items[i].Kind == dsl.Nested {
				c.broken = true
				return
			}
			wanted := t
			if wanted.Name == ListType && v.Kind == dsl.List {
				wanted = t.Item
			}
			c.add(c.refuse(at, wanted, &items[i], WrongType))
			return
		}
		script.Calls = append(script.Calls, *call)
	}
	switch {
	case depth > maxNesting:
		c.add(tell(c.place(v.Range), "too-deep/calls", maxNesting))
		return
	case t.Name == ListType && v.Kind != dsl.List:
		c.add(c.refuse(at, t, v, WrongType))
		return
	case t.Name == ListType && len(items) < t.MinLength:
		c.add(c.refuse(at, t, v, TooShort))
		return
	case t.Name == ListType && t.MaxLength > 0 && len(items) > t.MaxLength:
		c.add(c.refuse(at, t, v, TooLong))
		return
	}
	p := new(Program)
	in := checker{r: c.r, p: p, s: script, names: c.names, macro: c.macro, work: c.work, open: at.param.Open, depth: depth, all: c.all}
	in.run()
	for _, d := range in.ds {
		if d.Code != "unused-binding" { // another stored call may use it
			c.add(d)
		}
	}
	c.broken = c.broken || in.broken
	if !p.Valid() {
		c.failed = true
		return
	}
	for i := range p.calls {
		c.dim(&p.calls[i])
	}
	if c.p.kept == nil {
		c.p.kept = make(map[*dsl.Value]*Program)
	}
	c.p.kept[v] = p
	out.Kind = Kept
}

// dim refuses a sensitive value that is written out in a stored call: stored calls are shown to
// everybody who sees the row.
func (c *checker) dim(call *Call) {
	for i := range call.Args {
		a := &call.Args[i]
		if p := &call.Verb.Params[i]; p.Sensitive && a.Syntax != nil && a.Kind != Name && a.Kind != Result && a.Kind != Absent {
			c.add(tell(c.place(a.Syntax.Range), "contradiction", "a call that is kept holds no :"+p.Name+", which is sensitive", "name the field of a row that holds it, or make the call at once", dsl.Place{}, ""))
		}
	}
}
