package load

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
)

// A conversationNode is a palette's conversation, and where it is written.
type conversationNode struct {
	d *doc
	p *verbs.Palette
	n pair
}

// conversation reads the conversation of a palette, once all verbs are known.
func (l *loader) conversation(c *conversationNode) {
	d := c.d
	f, ok := d.fields(c.n.value, "conversation")
	if !ok {
		return
	}
	conv := &verbs.Conversation{PlanFirst: f.boolean("plan-first"), Phrased: f.text("replies") == "phrased", Place: d.place(c.n.key)}
	d.items(f.at("context"), func(n *yaml.Node) {
		v := l.callable(d, n, "the context is made of")
		switch {
		case v == nil:
		case !v.Answers():
			d.report(tell(d.place(n), "contradiction", v.Name+" is part of the context, and does more than answer", "name verbs that only read", v.Place, "declared here"))
		case v.WritesFile():
			d.report(tell(d.place(n), "contradiction", v.Name+" is part of the context, and would write a file at each turn", "name a read without file", v.Place, "declared here"))
		case v.NeedsArgument() != "":
			d.report(tell(d.place(n), "contradiction", v.Name+" is part of the context, and needs :"+v.NeedsArgument(), "name verbs that can be called without arguments", v.Place, "declared here"))
		default:
			conv.Context = append(conv.Context, v)
		}
	})
	d.items(f.at("sources"), func(n *yaml.Node) {
		e := l.entityAt(d, n)
		switch {
		case e == nil:
		case !l.showsOne(e):
			d.report(tell(d.place(n), "contradiction", "no verb shows one "+n.Value, "declare a read of it with one:, to which a link can lead", e.Place, "declared here"))
		default:
			conv.Sources = append(conv.Sources, e)
		}
	})
	d.items(f.at("channels"), func(n *yaml.Node) {
		if !slices.Contains(verbs.Channels, n.Value) {
			d.report(tell(d.place(n), "contradiction", "there is no channel "+n.Value, "name some of "+strings.Join(verbs.Channels, ", "), dsl.Place{}, ""))
			return
		}
		conv.Channels = append(conv.Channels, n.Value)
	})
	d.items(f.at("conduct"), func(n *yaml.Node) { conv.Conduct = append(conv.Conduct, n.Value) })
	if n := f.at("answers").value; n != nil {
		conv.Answering = l.answering(d, n)
	}
	if n := f.at("anything-else").value; n != nil {
		if g, ok := d.fields(n, "anything-else"); ok && g.at("verb").value != nil && g.at("argument").value != nil {
			if a := l.taker(d, g); a != nil && !a.Verb.Answers() {
				d.report(tell(d.place(g.at("verb").value), "contradiction", a.Verb.Name+" is asked what nobody else answers, and does more than answer", "name a verb that only reads", a.Verb.Place, "declared here"))
			} else {
				conv.Otherwise = a
			}
		}
	}
	if n := f.at("person").value; n != nil {
		conv.Person = l.callable(d, n, "a person is asked for by")
	}
	c.p.Conversation = conv
}

// showsOne reports whether a verb reads one row of an entity.
func (l *loader) showsOne(e *verbs.Entity) bool {
	for _, v := range l.verbNamed {
		if v.Read != nil && v.Read.One && v.Read.Entity == e {
			return true
		}
	}
	return false
}

// answering reads which verb takes a user's answer.
func (l *loader) answering(d *doc, n *yaml.Node) *verbs.Answering {
	f, ok := d.fields(n, "answers")
	if !ok || f.at("verb").value == nil || f.at("argument").value == nil || f.at("while").value == nil {
		return nil
	}
	a := l.taker(d, f)
	if a == nil {
		return nil
	}
	a.While, a.Yes, a.No = f.text("while"), f.text("yes"), f.text("no")
	for _, k := range [...]string{"yes", "no"} {
		if call := f.text(k); call != "" {
			script, ds := dsl.Parse(dsl.NewSource("call", call))
			if ds.HasErrors() || len(script.Calls) != 1 {
				d.report(tell(d.place(f.at(k).value), "contradiction", f.at(k).key.Value+" is one call", "write it as a script does: client.send :confirmed true", dsl.Place{}, ""))
			} else if v := l.verbNamed[script.Calls[0].Verb]; v == nil {
				d.report(tell(d.place(f.at(k).value), "unknown-verb", script.Calls[0].Verb, l.verbNamed))
			} else if v.Internal {
				d.report(internalNamed(d.place(f.at(k).value), v, f.at(k).key.Value+" calls"))
			} else {
				l.single = append(l.single, singleNode{d, f.at(k).value, script})
			}
		}
	}
	return a
}

// taker reads which verb takes a message, and as which argument; nil if it cannot.
func (l *loader) taker(d *doc, f mapping) *verbs.Answering {
	a := &verbs.Answering{Verb: l.callable(d, f.at("verb").value, "answers are taken by")}
	if a.Verb == nil {
		return nil
	}
	if a.Param = d.paramAt(a.Verb, f.at("argument").value); a.Param < 0 {
		d.report(unknownArgument(d.place(f.at("argument").value), a.Verb, f.text("argument")))
		return nil
	}
	for i := range a.Verb.Params {
		if p := &a.Verb.Params[i]; i != a.Param && p.Required && p.Default.IsNull() {
			d.report(tell(d.place(f.at("verb").value), "contradiction", a.Verb.Name+" takes answers, and needs :"+p.Name, "name a verb that needs nothing but the answer", a.Verb.Place, "declared here"))
			return nil
		}
	}
	return a
}
