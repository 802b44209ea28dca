package verbs

import (
	"fmt"

	"verbatim/dsl"
	"verbatim/verbs/naming"
)

// unattainable reports arguments in the calls of a macro that can never have an origin that their
// palettes demand: values that the macro's author wrote out have the author's origin, and
// arguments of the macro keep their own. The author should know this before a caller is refused.
func (p *Program) unattainable(macro *Verb) dsl.Diagnostics {
	var ds dsl.Diagnostics
	for i := range p.calls {
		c := &p.calls[i]
		for j := range c.Args {
			param := &c.Verb.Params[j]
			if param.From == 0 || param.Otherwise != nil {
				continue
			}
			p.unattained(macro, c, param, &c.Args[j], &ds)
		}
	}
	return ds
}

func (p *Program) unattained(macro *Verb, c *Call, param *Param, a *Arg, ds *dsl.Diagnostics) {
	if a.Syntax == nil {
		return
	}
	add := func(what, note string) {
		at := dsl.Place{Source: p.script.Source, Range: a.Syntax.Range}
		*ds = append(*ds, tell(at, "contradiction/origin", param, c.Verb, param.From.Wanted(), what, note))
	}
	switch a.Kind {
	case Literal:
		if param.From&FromScript == 0 && !a.Value.IsNull() {
			add("here it is the palette author's own", "make it an argument of the macro")
		}
	case Name:
		if a.Path() != "" {
			return // a field of a row may always have the origin of a record
		}
		of, each := macro.Macro.ForEach()
		for i := range macro.Params {
			outer := &macro.Params[i]
			if (naming.Same(outer.Ident, a.Name()) || each && i == of && a.Name() == "each") && outer.From != 0 && outer.From&param.From == 0 {
				add(fmt.Sprintf(":%s of %s comes from %s", outer.Name, macro.Name, outer.From.Wanted()), "let both come from the same")
			}
		}
	case Listed, Mapped:
		items := a.Items()
		for i := range items {
			p.unattained(macro, c, param, &items[i], ds)
		}
	}
}
