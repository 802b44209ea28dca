package verbs

import (
	"slices"

	"verbatim/dsl"
)

// CodeDeprecated is the code of the warning about a call of a deprecated verb.
const CodeDeprecated = "deprecated-verb"

// Rewrite rewrites the calls of deprecated verbs in a text as calls of the verbs that replace them.
// check reports what is wrong with such a text. The returned text has no errors and means the
// same, as far as the palettes say. left holds the diagnostics of calls that could not be
// rewritten, each with the reason in its last note. A text that has errors is returned unchanged,
// with them: nobody can tell what it calls.
//
//	text, left := verbs.Rewrite(text, func(text string) dsl.Diagnostics { return reg.CheckText("a.dsl", text) })
func Rewrite(text string, check func(text string) dsl.Diagnostics) (rewritten string, left dsl.Diagnostics) {
	for {
		ds := check(text)
		switch {
		case ds.HasErrors():
			return text, ds
		case !slices.ContainsFunc(ds, func(d dsl.Diagnostic) bool { return d.Code == CodeDeprecated }):
			return text, nil
		}
		var able []dsl.Diagnostic
		left = nil
		for _, d := range ds {
			switch {
			case d.Code != CodeDeprecated:
			case len(d.Fixes) > 0:
				able = append(able, d)
			default:
				left = append(left, d)
			}
		}
		r := rewriting{text: text, check: check}
		r.settle(able)
		if len(r.made) == 0 {
			return text, append(left, r.refused...)
		}
		text, _ = dsl.ApplyFixes(text, dsl.Diagnostics(r.made).Fixes(true))
	}
}

// A rewriting finds out which fixes can be applied to a text together.
type rewriting struct {
	text          string
	check         func(string) dsl.Diagnostics
	made, refused []dsl.Diagnostic
}

// settle applies the fixes with which the text has no errors: all, or else those of each half,
// down to single ones.
func (r *rewriting) settle(able []dsl.Diagnostic) {
	if len(able) == 0 {
		return
	}
	all := append(slices.Clone(r.made), able...)
	text, _ := dsl.ApplyFixes(r.text, dsl.Diagnostics(all).Fixes(true))
	ds := r.check(text)
	i := slices.IndexFunc(ds, func(d dsl.Diagnostic) bool { return d.Severity == dsl.Error })
	switch {
	case i < 0:
		r.made = all
	case len(able) == 1:
		d := able[0]
		d.Notes, d.Console = slices.Clone(d.Notes), slices.Clone(d.Console)
		d.Note(NotRewritten + ds[i].Summary)
		r.refused = append(r.refused, d)
	default:
		r.settle(able[:len(able)/2])
		r.settle(able[len(able)/2:])
	}
}

// CheckText checks a script without looking names up, and returns all its diagnostics, without a
// limit.
func (r *Registry) CheckText(name, text string) dsl.Diagnostics {
	script, ds := dsl.Parse(dsl.NewSource(name, text))
	c := checker{r: r, p: new(Program), s: script, all: true}
	c.run()
	return append(r.Mask(script, ds), c.ds...)
}
