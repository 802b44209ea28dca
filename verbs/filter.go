package verbs

import (
	"github.com/expr-lang/expr/ast"
	"gopkg.in/yaml.v3"

	"verbatim/stores"
)

// filter makes a filter of an expression over `row`: the same language, typed
// by the same rules, of which a store can do only a part.
func (l *loader) filter(d *doc, n *yaml.Node, sc scope) *Filter {
	c := exprChecker{l: l, d: d, n: n, sc: sc, filter: true}
	root := c.parse()
	if root == nil {
		return nil
	}
	t := c.check(root, nil)
	if t.name == badType || c.failed {
		return nil
	}
	if t.name != BooleanType {
		c.fail(c.unfit(root, t, wantBoolean))
		return nil
	}
	node, ok := c.build(root)
	if !ok {
		return nil
	}
	return &Filter{Text: c.text, Place: d.place(n), Reads: c.reads, root: node}
}

// overRow reports whether a part depends on the row.
func overRow(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value == "row"
	case *ast.MemberNode:
		return overRow(n.Node)
	case *ast.UnaryNode:
		return overRow(n.Node)
	case *ast.BinaryNode:
		return overRow(n.Left) || overRow(n.Right)
	case *ast.ConditionalNode:
		return overRow(n.Cond) || overRow(n.Exp1) || overRow(n.Exp2)
	case *ast.CallNode:
		for _, a := range n.Arguments {
			if overRow(a) {
				return true
			}
		}
	case *ast.ArrayNode:
		for _, a := range n.Nodes {
			if overRow(a) {
				return true
			}
		}
	}
	return false
}

// again types a part that was typed before, as a program of its own. The reads
// are numbered for the filter as a whole.
func (c *exprChecker) again(n ast.Node, expect *term) (*exprChecker, term) {
	sub := &exprChecker{l: c.l, d: c.d, n: c.n, text: c.text, sc: c.sc, filter: true, quiet: true, reads: c.reads}
	t := sub.check(n, expect)
	c.reads = sub.reads
	return sub, t
}

var compareOps = map[string]stores.CondOp{"==": stores.Eq, "!=": stores.Ne, "<": stores.Lt, "<=": stores.Le, ">": stores.Gt, ">=": stores.Ge}

// turned is the comparison with its sides exchanged.
var turned = map[stores.CondOp]stores.CondOp{stores.Eq: stores.Eq, stores.Ne: stores.Ne, stores.Lt: stores.Gt, stores.Le: stores.Ge, stores.Gt: stores.Lt, stores.Ge: stores.Le}

func (c *exprChecker) build(n ast.Node) (filterNode, bool) {
	if !overRow(n) {
		sub, t := c.again(n, nil)
		p := new(exprProgram)
		sub.finish(t, p)
		return filterNode{cond: p}, true
	}
	switch n := n.(type) {
	case *ast.UnaryNode:
		kid, ok := c.build(n.Node)
		return filterNode{op: stores.Not, kids: []filterNode{kid}}, ok
	case *ast.MemberNode:
		_, t := c.again(n, nil)
		yes := &exprProgram{kind: progConstant, value: stores.NewBool(true)}
		return filterNode{op: stores.Eq, path: *t.path, value: yes}, true
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&", "or", "||":
			op := stores.And
			if n.Operator == "or" || n.Operator == "||" {
				op = stores.Or
			}
			l, ok := c.build(n.Left)
			r, ok2 := c.build(n.Right)
			return filterNode{op: op, kids: []filterNode{l, r}}, ok && ok2
		case "in":
			_, row := c.again(n.Left, nil)
			if row.path == nil {
				break
			}
			return filterNode{op: stores.In, path: *row.path, value: c.side(n.Right, row)}, true
		default:
			op, compares := compareOps[n.Operator]
			if !compares {
				break
			}
			row, other := n.Left, n.Right
			if !overRow(row) {
				row, other, op = other, row, turned[op]
			}
			_, t := c.again(row, nil)
			if t.path == nil {
				break
			}
			node := filterNode{op: op, path: *t.path}
			if overRow(other) {
				_, o := c.again(other, expecting(&t))
				if o.path == nil {
					break
				}
				node.other = o.path
				return node, true
			}
			node.value = c.side(other, t)
			return node, true
		}
	}
	c.fail(say.filterTooMuch(c.place(n), "this"))
	return filterNode{}, false
}

// side is the program for what a field of the row is compared with, made the
// kind of value that the field holds.
func (c *exprChecker) side(n ast.Node, row term) *exprProgram {
	sub, t := c.again(n, expecting(&row))
	if row.name == DecimalType {
		t = sub.widen(t)
	}
	p := new(exprProgram)
	sub.finish(t, p)
	return p
}
