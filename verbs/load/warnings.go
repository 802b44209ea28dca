package load

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/verbs"
	"verbatim/verbs/expr"
)

// Warnings about correct declarations that may be oversights: a requirement that holds if a field
// is nil, and a code that selects a schema although nothing compares it with the related row.

// nilPasses warns about a requirement that holds if a field of a row that it names is nil, unless
// its author says that this is meant.
func (l *loader) nilPasses(vn *verbNode, rule *verbs.Require, meant pair) {
	if meant.key != nil {
		return
	}
	text := rule.That.Text
	tree := l.trees[text]
	for _, path := range nullable(tree, text, vn.v) {
		passes := no
		for _, part := range conjuncts(tree) {
			// x == nil tests exactly that, so it is meant.
			if holds := onNil(part, text, path); holds == no || part.Op == "==" && holds == yes {
				passes = no
				break
			} else if holds == yes {
				passes = yes
			}
		}
		if passes == yes {
			vn.d.report(tell(rule.Place, "passes-on-nil", path))
			return
		}
	}
}

func conjuncts(n *expr.Node) []*expr.Node {
	if n.Op == "and" {
		return append(conjuncts(n.Kids[0]), conjuncts(n.Kids[1])...)
	}
	return []*expr.Node{n}
}

// nullable lists the fields of rows in an expression that may be nil, as they are written there.
func nullable(n *expr.Node, text string, v *verbs.Verb) (paths []string) {
	n.Walk(func(n *expr.Node) {
		if n.Kind != expr.Field {
			return
		}
		if path := text[n.From:n.To]; mayBeNil(n, v) != nil && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	})
	return paths
}

// mayBeNil returns the field at the end of a path if a field on the way may be nil, and nil
// otherwise.
func mayBeNil(n *expr.Node, v *verbs.Verb) *verbs.Field {
	var names []string
	for ; n.Kind == expr.Field; n = n.Kids[0] {
		names = append(names, n.Text)
	}
	of := v.ParamNamed(n.Text)
	if n.Kind != expr.Name || of < 0 || v.Params[of].Type == nil {
		return nil
	}
	e, optional, last := v.Params[of].Type.Entity, false, (*verbs.Field)(nil)
	for _, name := range slices.Backward(names) {
		if e == nil {
			return nil
		}
		i := e.FieldNamed(name)
		if i < 0 || i >= len(e.Fields) || e.Fields[i].Type == nil {
			return nil
		}
		last = &e.Fields[i]
		optional, e = optional || i != e.Store.Key && !e.Store.Fields[i].Required, last.Type.Entity
	}
	if !optional {
		return nil
	}
	return last
}

type certainty int8

const (
	no certainty = iota - 1
	perhaps
	yes
)

// onNil says whether a condition holds if only the value of a path is nil. A condition that
// cannot be evaluated does not hold.
func onNil(n *expr.Node, text, path string) certainty {
	isPath := func(n *expr.Node) bool { return text[n.From:n.To] == path }
	isNil := func(n *expr.Node) bool { return n.Kind == expr.Nil || isPath(n) }
	switch n.Kind {
	case expr.Bool:
		if n.Text == "true" {
			return yes
		}
		return no
	case expr.Unary:
		if n.Op == "not" {
			return -onNil(n.Kids[0], text, path)
		}
	case expr.Choice:
		holds := onNil(n.Kids[0], text, path)
		switch {
		case holds == no:
			return onNil(n.Kids[len(n.Kids)-1], text, path)
		case holds == yes && len(n.Kids) == 3:
			return onNil(n.Kids[1], text, path)
		}
		return holds
	case expr.Chain:
		if slices.ContainsFunc(n.Kids, isNil) {
			return no
		}
	case expr.Binary:
		a, b := n.Kids[0], n.Kids[1]
		l, r := isNil(a), isNil(b)
		switch n.Op {
		case "and":
			return min(onNil(a, text, path), onNil(b, text, path))
		case "or":
			return max(onNil(a, text, path), onNil(b, text, path))
		case "==", "!=":
			if !isPath(a) && !isPath(b) {
				return perhaps
			}
			if (l && r) == (n.Op == "==") {
				return yes
			}
			return no
		}
		if l || r {
			return no
		}
	}
	if isPath(n) {
		return no
	}
	return perhaps
}

// textForType warns about a string argument that is called what a type is, and has no rule of its own: no
// pattern, no length, nothing that says it is another's claim about a secret.
func (l *loader) textForType(d *doc, p *verbs.Param, typ *yaml.Node) {
	if t := p.Type; typ == nil || t != plainTypes[verbs.StringType] || p.Sensitive || p.Upload != nil {
		return
	}
	if word := verbs.TypeOfName(p.Ident); word != "" {
		d.report(tell(d.place(typ), "text-for-type", p, word))
	}
}

// unheld warns about a code that selects the schema of an object although no precondition or
// confirmation rule tests it together with the related row, and a field of that row says which
// code is meant.
func (l *loader) unheld(vn *verbNode) {
	d, v := vn.d, vn.v
	for i := range v.Params {
		by, ok := v.Params[i].SchemaOf()
		if !ok || v.Params[by].Type == nil || v.Params[by].Type.Codes == nil {
			continue
		}
		code := &v.Params[by]
		for r := range v.Params {
			ref := &v.Params[r]
			if ref.Type == nil || ref.Type.Name != verbs.RefType || ref.Type.Entity == nil || d.broken[ref.Type.Entity] {
				continue
			}
			f := slices.IndexFunc(ref.Type.Entity.Fields, func(f verbs.Field) bool {
				list := code.Type.Codes
				return f.Type != nil && f.Type.Codes != nil && (f.Type.Codes.Covers(list) || list.Covers(f.Type.Codes))
			})
			if f >= 0 && !l.together(vn, code.Ident, ref.Ident) {
				d.report(tell(code.Place, "unheld-schema", v, &v.Params[i], code, ref, ref.Type.Entity.Store.Fields[f].Name))
			}
		}
	}
}

// together reports whether a precondition or a confirmation rule names two arguments in one
// expression.
func (l *loader) together(vn *verbNode, a, b string) bool {
	found := false
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		if n == nil {
			return
		}
		if n.Kind == yaml.ScalarNode {
			named := map[string]bool{}
			l.trees[n.Value].Walk(func(n *expr.Node) {
				if n.Kind == expr.Name {
					named[n.Text] = true
				}
			})
			found = found || named[a] && named[b]
		}
		for _, c := range n.Content {
			look(c)
		}
	}
	look(vn.f.at("requires").value)
	look(vn.f.at("confirm").value)
	return found
}
