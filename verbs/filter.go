package verbs

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/stores"
	"verbatim/verbs/expr"
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
func overRow(n *expr.Node) bool {
	return n.Kind == expr.Name && n.Text == "row" || slices.ContainsFunc(n.Kids, overRow)
}

// again types a part that was typed before, as a program of its own. The reads
// are numbered for the filter as a whole.
func (c *exprChecker) again(n *expr.Node, expect *term) term {
	sub := &exprChecker{l: c.l, d: c.d, n: c.n, text: c.text, sc: c.sc, filter: true, quiet: true, reads: c.reads}
	t := sub.check(n, expect)
	c.reads = sub.reads
	return t
}

var compareOps = map[string]stores.CondOp{"==": stores.Eq, "!=": stores.Ne, "<": stores.Lt, "<=": stores.Le, ">": stores.Gt, ">=": stores.Ge}

// turned is the comparison with its sides exchanged.
var turned = map[stores.CondOp]stores.CondOp{stores.Eq: stores.Eq, stores.Ne: stores.Ne, stores.Lt: stores.Gt, stores.Le: stores.Ge, stores.Gt: stores.Lt, stores.Ge: stores.Le}

func (c *exprChecker) build(n *expr.Node) (filterNode, bool) {
	if !overRow(n) {
		t := c.again(n, nil)
		return filterNode{cond: t.prog}, true
	}
	switch n.Kind {
	case expr.Unary:
		kid, ok := c.build(n.Kids[0])
		return filterNode{op: stores.Not, kids: []filterNode{kid}}, ok
	case expr.Field:
		t := c.again(n, nil)
		yes := &expr.Program{Value: stores.NewBool(true)}
		return filterNode{op: stores.Eq, path: *t.path, value: yes}, true
	case expr.Chain:
		all := filterNode{op: stores.And}
		for _, pair := range n.Pairs() {
			kid, ok := c.build(pair)
			if !ok {
				return filterNode{}, false
			}
			all.kids = append(all.kids, kid)
		}
		return all, true
	case expr.Binary:
		row, other := n.Kids[0], n.Kids[1]
		switch n.Op {
		case "and", "or":
			op := stores.And
			if n.Op == "or" {
				op = stores.Or
			}
			l, ok := c.build(row)
			r, ok2 := c.build(other)
			return filterNode{op: op, kids: []filterNode{l, r}}, ok && ok2
		case "in":
			t := c.again(row, nil)
			if t.path == nil {
				break
			}
			return filterNode{op: stores.In, path: *t.path, value: c.side(other, t)}, true
		default:
			op, compares := compareOps[n.Op]
			if !compares {
				break
			}
			if !overRow(row) {
				row, other, op = other, row, turned[op]
			}
			t := c.again(row, nil)
			if t.path == nil {
				break
			}
			node := filterNode{op: op, path: *t.path}
			if overRow(other) {
				o := c.again(other, expecting(&t))
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
func (c *exprChecker) side(n *expr.Node, row term) *expr.Program {
	t := c.again(n, expecting(&row))
	if row.name == DecimalType {
		t = widen(t)
	}
	return t.prog
}
