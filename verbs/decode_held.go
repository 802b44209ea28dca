package verbs

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"gopkg.in/yaml.v3"
)

// What a palette may well mean, and is asked about all the same: a requirement
// that holds where a field is nil, and a code that picks a schema although nothing
// holds it against the row beside it.

// nilPasses warns of a requirement that holds where a field of a row that it names
// is nil, unless its author says that this is meant.
func (l *loader) nilPasses(vn *verbNode, rule *Require, meant pair) {
	if meant.value != nil {
		if meant.value.Value != "passes" {
			vn.d.report(say.unknownWord(vn.d.place(meant.value), "nil", meant.value.Value, requireShape.keys[reqNil].words))
		}
		return
	}
	tree := l.trees[rule.That.Text]
	for _, path := range nullable(tree, vn.v) {
		passes := no
		for _, part := range conjuncts(tree) {
			// x == nil asks for nothing else, so that it is meant.
			b, same := part.(*ast.BinaryNode)
			if holds := onNil(part, path); holds == no || same && b.Operator == "==" && holds == yes {
				passes = no
				break
			} else if holds == yes {
				passes = yes
			}
		}
		if passes == yes {
			vn.d.report(say.passesOnNil(rule.Place, path))
			return
		}
	}
}

func conjuncts(n ast.Node) []ast.Node {
	if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "and" || b.Operator == "&&") {
		return append(conjuncts(b.Left), conjuncts(b.Right)...)
	}
	return []ast.Node{n}
}

// nullable lists the fields of rows in an expression that may be nil, as they are
// written there.
func nullable(n ast.Node, v *Verb) (paths []string) {
	visit(n, func(n ast.Node) {
		if _, ok := n.(*ast.MemberNode); !ok {
			return
		}
		if path := n.String(); mayBeNil(n, v) != nil && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	})
	return paths
}

// mayBeNil returns what a path leads to where a field on the way may be nil, and
// nil otherwise.
func mayBeNil(n ast.Node, v *Verb) *Field {
	var names []string
	for {
		m, ok := n.(*ast.MemberNode)
		if !ok {
			break
		}
		name, ok := m.Property.(*ast.StringNode)
		if !ok {
			return nil
		}
		names, n = append(names, name.Value), m.Node
	}
	of, ok := n.(*ast.IdentifierNode)
	if !ok || v.param(of.Value) < 0 || v.Params[v.param(of.Value)].Type == nil {
		return nil
	}
	e, optional, last := v.Params[v.param(of.Value)].Type.Entity, false, (*Field)(nil)
	for _, name := range slices.Backward(names) {
		if e == nil || e.broken {
			return nil
		}
		i := e.field(name)
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

func visit(n ast.Node, see func(ast.Node)) {
	if n != nil {
		ast.Walk(&n, visitor(see))
	}
}

type visitor func(ast.Node)

func (see visitor) Visit(n *ast.Node) { see(*n) }

type certainty int8

const (
	no certainty = iota - 1
	perhaps
	yes
)

// onNil says whether a condition holds where a path is nil and nothing else is.
// What cannot be worked out does not hold.
func onNil(n ast.Node, path string) certainty {
	isPath := func(n ast.Node) bool { return n.String() == path }
	isNil := func(n ast.Node) bool {
		_, literal := n.(*ast.NilNode)
		return literal || isPath(n)
	}
	switch n := n.(type) {
	case *ast.BoolNode:
		if n.Value {
			return yes
		}
		return no
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return -onNil(n.Node, path)
		}
	case *ast.ConditionalNode:
		switch onNil(n.Cond, path) {
		case yes:
			return onNil(n.Exp1, path)
		case no:
			return onNil(n.Exp2, path)
		}
		return perhaps
	case *ast.BinaryNode:
		l, r := isNil(n.Left), isNil(n.Right)
		switch n.Operator {
		case "and", "&&":
			return min(onNil(n.Left, path), onNil(n.Right, path))
		case "or", "||":
			return max(onNil(n.Left, path), onNil(n.Right, path))
		case "==", "!=":
			if !isPath(n.Left) && !isPath(n.Right) {
				return perhaps
			}
			if (l && r) == (n.Operator == "==") {
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

// unheld warns of a code that picks the schema of an object while no requirement
// and no rule of confirmation looks at it together with the row beside it, although
// a field of that row says which of those codes is meant.
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
			if ref.Type == nil || ref.Type.Name != RefType || ref.Type.Entity == nil || ref.Type.Entity.broken {
				continue
			}
			f := slices.IndexFunc(ref.Type.Entity.Fields, func(f Field) bool {
				list := code.Type.Codes
				return f.Type != nil && f.Type.Codes != nil && (f.Type.Codes.covers(list) || list.covers(f.Type.Codes))
			})
			if f >= 0 && !l.together(vn, code.Ident, ref.Ident) {
				d.report(say.unheldSchema(code.Place, v, &v.Params[i], code, ref, ref.Type.Entity.Store.Fields[f].Name))
			}
		}
	}
}

// together reports whether a requirement or a rule of confirmation names two
// arguments in one expression.
func (l *loader) together(vn *verbNode, a, b string) bool {
	found := false
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		if n == nil {
			return
		}
		if n.Kind == yaml.ScalarNode {
			named := map[string]bool{}
			visit(l.trees[n.Value], func(n ast.Node) {
				if id, ok := n.(*ast.IdentifierNode); ok {
					named[id.Value] = true
				}
			})
			found = found || named[a] && named[b]
		}
		for _, c := range n.Content {
			look(c)
		}
	}
	look(vn.f[verbRequires].value)
	look(vn.f[verbConfirm].value)
	return found
}
