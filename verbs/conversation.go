package verbs

import (
	"slices"

	"verbatim/dsl"
)

// Channels are the ways by which users may write besides pages.
var Channels = []string{"whatsapp", "mail", "api"}

// Channels returns the channels of all palettes, each once.
func (r *Registry) Channels() (all []string) {
	for _, p := range r.palettes {
		if p.Conversation == nil {
			continue
		}
		for _, c := range p.Conversation.Channels {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// Answers reports whether a verb only answers, from the organisation's own rows. For a macro,
// only the macro's own promises count.
func (v *Verb) Answers() bool {
	if v.Tool != nil {
		return false // something leaves the organisation, whatever the tool is for
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

// WritesFile reports whether the verb writes the rows that it reads to a file.
func (v *Verb) WritesFile() bool { return v.Read != nil && v.Read.File != "" }

// NeedsArgument returns the name of a required argument, "" if there is none.
func (v *Verb) NeedsArgument() string {
	for i := range v.Params {
		if p := &v.Params[i]; p.Required && p.Default.IsNull() {
			return p.Name
		}
	}
	return ""
}

// OnlyReads reports whether a verb, and every verb of its script, changes nothing anywhere: it
// may be called again.
func (r *Registry) OnlyReads(v *Verb) bool { return r.onlyReads(v, nil) }

// onlyReads is OnlyReads inside the scripts of some verbs, which end the recursion if palettes
// have cycles.
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
	return slices.ContainsFunc(r.palettes, func(p *Palette) bool { return p.Plans })
}
