package load

import (
	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
)

// MaxScripts is the greatest size in bytes of a file whose scripts are rewritten.
const MaxScripts = 16 << 20

// ScriptsIn returns a function that checks the scripts in a YAML file for Rewrite, and their
// number. A script is a text under one of the keys, within any lists. Errors are reported at
// their place in the file. A script that has errors already stays as it is.
func ScriptsIn(r *verbs.Registry, name, text string, keys ...string) (check func(text string) dsl.Diagnostics, scripts int) {
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
				if d.Code == verbs.CodeDeprecated {
					d.Fixes = nil
					d.Note(verbs.NotRewritten + "the script has mistakes")
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
