package verbs

import (
	"slices"

	"verbatim/dsl"
)

// instead reads the call that a plan tries instead where the answer of a verb is doubtful.
func (l *loader) instead(vn *verbNode, key string) *Macro {
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
	m := &Macro{Script: script, Place: vn.d.place(at.value)}
	vn.runs = append(vn.runs, runNode{at.value, m})
	vn.instead = append(vn.instead, runNode{at.value, m})
	return m
}

// onlyRead reports where a call that is tried instead, or the verb that it is tried for, may
// change something: nobody agreed to that.
func (l *loader) onlyRead(r *Registry, vn *verbNode) {
	for _, in := range vn.instead {
		other := r.verbs[in.macro.Script.Calls[0].Verb]
		for _, v := range [...]*Verb{vn.v, other} {
			if v != nil && !r.OnlyReads(v) {
				vn.d.report(tell(vn.d.place(in.at), "contradiction", v.Name+" does more than read", "only what changes nothing is tried otherwise", dsl.Place{}, ""))
				break
			}
		}
	}
}

// OnlyReads reports whether a verb, and every verb of its script, changes nothing anywhere:
// it may be asked again.
func (r *Registry) OnlyReads(v *Verb) bool { return r.onlyReads(v, nil) }

// onlyReads is OnlyReads inside the scripts of some verbs, which circles of mistaken palettes
// lead back to.
func (r *Registry) onlyReads(v *Verb, inside []*Verb) bool {
	switch {
	case slices.Contains(inside, v):
		return false
	case v.Tool != nil:
		return v.Tool.ReadOnly && len(v.Effects) == 0
	case v.Macro != nil:
		reads := v.Answers()
		dsl.Walk(v.Macro.Script, func(at dsl.Node) bool {
			if at.Call != nil {
				inner := r.verbs[at.Call.Verb]
				reads = reads && inner != nil && r.onlyReads(inner, append(inside, v))
			}
			return reads
		})
		return reads
	}
	return v.Answers()
}

// Plans reports whether a palette has the verbs of plans beside its own.
func (r *Registry) Plans() bool {
	for _, p := range r.palettes {
		if p.Plans {
			return true
		}
	}
	return false
}
