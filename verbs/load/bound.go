package load

import (
	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
)

// Bound compiles a condition on the values of a verb's call that somebody wrote outside a palette,
// such as a bound of a standing rule: `amount.amount <= 500 and amount.currency == EUR`. It is an
// expression as a confirmation rule has it, about the arguments alone: it reads no row, so that its
// result tells nothing about one.
func Bound(v *verbs.Verb, text string) (*verbs.Expr, dsl.Diagnostics) {
	d := &doc{src: dsl.NewSource("bound", text)}
	d.index()
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text, Line: 1, Column: 1}
	alone := &verbs.Verb{Name: v.Name, Params: v.Params}
	e := newLoader().compile(d, n, scope{verb: alone}, wantBoolean, nil)
	if e != nil && len(e.Reads) > 0 {
		d.report(tell(d.place(n), "bad-expression/bound"))
	}
	if d.diags.HasErrors() || e == nil {
		return nil, d.diags
	}
	return e, nil
}
