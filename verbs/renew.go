package verbs

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
)

// codeDeprecated is the code of the warning about a call of a deprecated verb.
const codeDeprecated = "deprecated-verb"

// Renew rewrites the calls of deprecated verbs in a text as calls of the verbs that replace them.
// check reports what is wrong with such a text. The returned text has no errors and means the
// same, as far as the palettes say. left holds the diagnostics of calls that could not be
// rewritten, each with the reason in its last note. A text that has errors is returned unchanged,
// with them: nobody can tell what it calls.
//
//	text, left := verbs.Renew(text, func(text string) dsl.Diagnostics { return reg.CheckText("a.dsl", text) })
func Renew(text string, check func(text string) dsl.Diagnostics) (renewed string, left dsl.Diagnostics) {
	for {
		ds := check(text)
		switch {
		case ds.HasErrors():
			return text, ds
		case !slices.ContainsFunc(ds, func(d dsl.Diagnostic) bool { return d.Code == codeDeprecated }):
			return text, nil
		}
		var able []dsl.Diagnostic
		left = nil
		for _, d := range ds {
			switch {
			case d.Code != codeDeprecated:
			case len(d.Fixes) > 0:
				able = append(able, d)
			default:
				left = append(left, d)
			}
		}
		r := renewing{text: text, check: check}
		r.settle(able)
		if len(r.made) == 0 {
			return text, append(left, r.refused...)
		}
		text, _ = dsl.ApplyFixes(text, dsl.Diagnostics(r.made).Fixes(true))
	}
}

// A renewing finds out which fixes can be applied to a text together.
type renewing struct {
	text          string
	check         func(string) dsl.Diagnostics
	made, refused []dsl.Diagnostic
}

// settle applies the fixes with which the text has no errors: all, or else those of each half,
// down to single ones.
func (r *renewing) settle(able []dsl.Diagnostic) {
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
		d.Notes = append(slices.Clone(d.Notes), notRewritten+ds[i].Summary)
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

// MaxScripts is the greatest size in bytes of a file whose scripts are rewritten.
const MaxScripts = 16 << 20

// ScriptsIn returns a function that checks the scripts in a YAML file for Renew, and their
// number. A script is a text under one of the keys, within any lists. Errors are reported at
// their place in the file. A script that has errors already stays as it is.
func (r *Registry) ScriptsIn(name, text string, keys ...string) (check func(text string) dsl.Diagnostics, scripts int) {
	broken := map[int]bool{}
	pass := func(text string, each func(i int, ds dsl.Diagnostics) dsl.Diagnostics) (*doc, int) {
		d, n := newDoc(dsl.NewSource(name, text), MaxScripts), 0
		if d.root != nil {
			textsBelow(d.root, keys, func(at *yaml.Node) {
				d.relay(at, each(n, r.CheckText(name, at.Value)))
				n++
			})
		}
		return d, n
	}
	_, scripts = pass(text, func(i int, ds dsl.Diagnostics) dsl.Diagnostics {
		broken[i] = ds.HasErrors()
		return nil
	})
	return func(text string) dsl.Diagnostics {
		d, _ := pass(text, func(i int, ds dsl.Diagnostics) dsl.Diagnostics {
			if !broken[i] {
				return ds
			}
			var stay dsl.Diagnostics
			for _, d := range ds {
				if d.Code == codeDeprecated {
					d.Fixes, d.Notes = nil, append(d.Notes, notRewritten+"the script has mistakes")
					stay = append(stay, d)
				}
			}
			return stay
		})
		return d.diags
	}, scripts
}

// textsBelow finds the texts under some keys.
func textsBelow(n *yaml.Node, keys []string, fn func(*yaml.Node)) {
	switch {
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			textsBelow(item, keys, fn)
		}
	case n.Kind == yaml.MappingNode && len(keys) > 0:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == keys[0] {
				textsBelow(n.Content[i+1], keys[1:], fn)
			}
		}
	case n.Kind == yaml.ScalarNode && len(keys) == 0:
		fn(n)
	}
}
