package verbs

import (
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/stores"
)

// template reads text with paths in braces.
func (d *doc) template(e *Entity, n *yaml.Node) Template {
	var t Template
	s := n.Value
	for at := 0; ; {
		open := strings.IndexAny(s[at:], "{}")
		if open < 0 {
			t.Text = append(t.Text, s[at:])
			return t
		}
		open += at
		end := strings.IndexByte(s[open:], '}')
		if s[open] == '}' || end < 0 {
			d.report(tell(d.within(n, open, open+1), "bad-braces", s[open:open+1]))
			t.Text = append(t.Text, s[at:])
			return t
		}
		end += open
		inner := s[open+1 : end]
		var p stores.Path
		p, f, ok := d.path(e, n, open+1, inner)
		if ok && f.Type != nil && (f.Type.Name == ListType || f.Type.Name == ObjectType) {
			d.report(tell(d.within(n, open+1, end), "type-mismatch/not-text", inner, f.Type))
		}
		t.Text = append(t.Text, s[at:open])
		t.Paths = append(t.Paths, p)
		at = end + 1
	}
}
