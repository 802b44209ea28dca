package load

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
)

// macro parses the script of a verb. It is checked when every verb is known.
func (l *loader) macro(vn *verbNode, n *yaml.Node) {
	d, v := vn.d, vn.v
	src := dsl.NewSource(d.src.Name+" (script of "+v.Name+")", n.Value)
	script, diags := dsl.Parse(src)
	d.relay(n, diags)
	if len(script.Calls) == 0 && !diags.HasErrors() {
		d.report(tell(d.place(n), "nothing-written/script"))
	}
	v.Macro = &verbs.Macro{Script: script, Place: d.place(n)}
	list := vn.f.at("for-each").value
	if list == nil {
		return
	}
	switch i := d.paramAt(v, list); {
	case i < 0:
		d.report(unknownArgument(d.place(list), v, list.Value))
	case v.Params[i].Type != nil && (v.Params[i].Type.Name != verbs.ListType || v.Params[i].Type.Item == nil):
		d.report(tell(d.place(list), "type-mismatch/each", &v.Params[i]))
	case !diags.HasErrors() && !slices.ContainsFunc(script.Calls, func(c dsl.Call) bool { return verbs.NamesEach(&c) }):
		d.report(tell(d.place(list), "contradiction", "no call is made for each of :"+v.Params[i].Name, "name @each in a call of the script", d.place(n), "the script"))
	default:
		v.Macro.Each = i + 1
	}
}

// relay reports diagnostics of a text inside a scalar, at its place in the file.
func (d *doc) relay(n *yaml.Node, diags dsl.Diagnostics) {
	for _, diag := range diags {
		inner := diag.Place.Source
		move := func(p dsl.Place) dsl.Place {
			if p.Source == nil || p.Source != inner {
				return p
			}
			return d.within(n, int(p.Range.Start), int(p.Range.End))
		}
		for i := range diag.Related {
			diag.Related[i].Place = move(diag.Related[i].Place)
		}
		for i := range diag.Fixes {
			edits := slices.Clone(diag.Fixes[i].Edits)
			for j := range edits {
				edits[j].Range = d.within(n, int(edits[j].Range.Start), int(edits[j].Range.End)).Range
			}
			diag.Fixes[i].Edits = edits
		}
		if inner == nil {
			diag.Place = d.place(n)
		} else {
			diag.Place = move(diag.Place)
		}
		d.report(diag)
	}
}

// recursion finds macros that call themselves, directly or through others, and shows how. Each
// cycle is reported once.
func (l *loader) recursion() {
	const (
		unvisited = iota
		open
		done
	)
	state := make(map[*verbs.Verb]int)
	nodes := make(map[*verbs.Verb]*verbNode)
	for i := range l.verbNodes {
		if vn := &l.verbNodes[i]; vn.v.Macro != nil && l.verbNamed[vn.v.Name] == vn.v {
			nodes[vn.v] = vn
		}
	}
	var path []*verbs.Verb
	var visit func(v *verbs.Verb)
	var calls func(v *verbs.Verb, c *dsl.Call, value *dsl.Value)
	calls = func(v *verbs.Verb, c *dsl.Call, value *dsl.Value) {
		if value != nil {
			for i := range value.Items() {
				calls(v, nil, &value.Items()[i])
			}
			for i := range value.Entries() {
				calls(v, nil, &value.Entries()[i].Value)
			}
			if c = value.Call(); c == nil {
				return
			}
		}
		if next := l.verbNamed[c.Verb]; next != nil && nodes[next] != nil {
			switch state[next] {
			case open:
				circle := append(slices.Clone(path[slices.Index(path, next):]), next)
				vn := nodes[v]
				vn.d.report(macroCircle(vn.d.within(vn.f.at("script").value, int(c.VerbRange.Start), int(c.VerbRange.End)), circle))
			case unvisited:
				visit(next)
			}
		}
		for i := range c.Args {
			calls(v, nil, &c.Args[i].Value)
		}
	}
	visit = func(v *verbs.Verb) {
		state[v] = open
		path = append(path, v)
		for i := range v.Macro.Script.Calls {
			calls(v, &v.Macro.Script.Calls[i], nil)
		}
		path = path[:len(path)-1]
		state[v] = done
	}
	for i := range l.verbNodes {
		if v := l.verbNodes[i].v; nodes[v] != nil && state[v] == unvisited {
			visit(v)
		}
	}
}

// instead reads the call that a plan tries instead if the answer of a verb is doubtful.
func (l *loader) instead(vn *verbNode, key string) *verbs.Macro {
	at := vn.f.at(key)
	if at.value == nil {
		return nil
	}
	script, diags := dsl.Parse(dsl.NewSource(vn.d.src.Name+" ("+key+" of "+vn.v.Name+")", at.value.Value))
	vn.d.relay(at.value, diags)
	if diags.HasErrors() {
		return nil
	}
	if len(script.Calls) != 1 {
		vn.d.report(tell(vn.d.place(at.value), "not-one-call", len(script.Calls)))
		return nil
	}
	m := &verbs.Macro{Script: script, Place: vn.d.place(at.value)}
	vn.runs = append(vn.runs, runNode{at.value, m})
	vn.instead = append(vn.instead, runNode{at.value, m})
	return m
}

// onlyRead reports a call that is tried instead, or a verb that it is tried for, if it may change
// something: nobody agreed to that.
func (l *loader) onlyRead(r *verbs.Registry, vn *verbNode) {
	for _, in := range vn.instead {
		other := r.Verb(in.macro.Script.Calls[0].Verb)
		for _, v := range [...]*verbs.Verb{vn.v, other} {
			if v != nil && !r.OnlyReads(v) {
				vn.d.report(tell(vn.d.place(in.at), "contradiction", v.Name+" does more than read", "only what changes nothing is tried otherwise", dsl.Place{}, ""))
				break
			}
		}
	}
}
