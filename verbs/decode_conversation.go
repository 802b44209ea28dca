package verbs

import "gopkg.in/yaml.v3"

// A conversationNode is a palette's conversation, and where it is written.
type conversationNode struct {
	d *doc
	p *Palette
	n pair
}

// conversation reads what a palette says of talking about it, once all verbs are
// known.
func (l *loader) conversation(c *conversationNode) {
	d := c.d
	var f [convKeys]pair
	if !d.fields(c.n.value, conversationShape, f[:]) {
		return
	}
	conv := &Conversation{PlanFirst: d.boolean(f[convPlanFirst]), Place: d.place(c.n.key)}
	d.items(f[convContext], func(n *yaml.Node) {
		v := l.verbNamed[n.Value]
		switch {
		case v == nil:
			d.report(say.danglingVerb(d.place(n), n.Value, l.verbNamed))
		case !v.Answers():
			d.report(say.contradiction(d.place(n), v.Name+" is part of the context, and does more than answer", "name verbs that only read", v.Place, "declared here"))
		case v.needsArgument() != "":
			d.report(say.contradiction(d.place(n), v.Name+" is part of the context, and needs :"+v.needsArgument(), "name verbs that can be called without arguments", v.Place, "declared here"))
		default:
			conv.Context = append(conv.Context, v)
		}
	})
	d.items(f[convConduct], func(n *yaml.Node) { conv.Conduct = append(conv.Conduct, n.Value) })
	c.p.Conversation = conv
}

// Answers reports whether a verb promises nothing but an answer, out of the
// organisation's own rows. Of a macro, it speaks of what the macro itself
// promises.
func (v *Verb) Answers() bool {
	if v.Tool != nil {
		return false // whatever it is for, something leaves the house
	}
	for i := range v.Effects {
		switch v.Effects[i].Kind {
		case ReturnsEffect, Validates:
		default:
			return false
		}
	}
	return true
}

// needsArgument names an argument that has to be given.
func (v *Verb) needsArgument() string {
	for i := range v.Params {
		if p := &v.Params[i]; p.Required && p.Default.IsNull() {
			return p.Name
		}
	}
	return ""
}
