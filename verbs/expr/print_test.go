package expr

import (
	"strconv"
	"strings"
)

const atom = 1000 // what needs no brackets

// String writes the expression in one spelling, which parses to the same tree.
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b, chooses)
	return b.String()
}

func (n *Node) binds() int {
	switch n.Kind {
	case Unary:
		return unary[n.Op]
	case Binary:
		return binary[n.Op]
	case Chain:
		return compares
	case Choice:
		return chooses
	}
	return atom
}

// write puts brackets around what binds less than its surroundings ask for.
func (n *Node) write(b *strings.Builder, least int) {
	if n.binds() < least {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.Kind {
	case Nil:
		b.WriteString("nil")
	case Bool, Number, Name:
		b.WriteString(n.Text)
	case Text:
		b.WriteString(strconv.Quote(n.Text))
	case Field:
		object := n.Kids[0]
		if object.Kind <= Number {
			b.WriteString("(" + object.String() + ")")
		} else {
			object.write(b, atom)
		}
		b.WriteString("." + n.Text)
	case Call:
		b.WriteString(n.Text)
		writeAll(b, "(", n.Kids, ")")
	case List:
		writeAll(b, "[", n.Kids, "]")
	case Unary:
		b.WriteString(n.Op)
		if n.Op == "not" {
			b.WriteByte(' ')
		}
		n.Kids[0].within(b, n.binds())
	case Binary:
		left := n.binds()
		if was := n.Kids[0]; ordered(n.Op) && (was.Kind == Chain || was.Kind == Binary && ordered(was.Op)) {
			left++ // (a < b) < c is not a chain
		}
		if n.Op == "??" {
			n.Kids[0].write(b, left)
		} else {
			n.Kids[0].within(b, left)
		}
		b.WriteString(" " + n.Op + " ")
		n.Kids[1].within(b, n.binds()+1)
	case Chain:
		n.Kids[0].within(b, compares+1)
		for i, op := range n.Ops {
			b.WriteString(" " + op + " ")
			n.Kids[i+1].within(b, compares+1)
		}
	case Choice:
		n.Kids[0].within(b, chooses+1)
		b.WriteString(" ?")
		if len(n.Kids) == 3 {
			b.WriteByte(' ')
			n.Kids[1].write(b, chooses)
			b.WriteByte(' ')
		}
		b.WriteString(": ")
		n.Kids[len(n.Kids)-1].write(b, chooses)
	}
}

// within writes an operand. A ?? beside another operator has brackets.
func (n *Node) within(b *strings.Builder, least int) {
	if n.Kind == Binary && n.Op == "??" {
		least = atom
	}
	n.write(b, least)
}

func writeAll(b *strings.Builder, open string, nodes []*Node, end string) {
	b.WriteString(open)
	for i, n := range nodes {
		if i > 0 {
			b.WriteString(", ")
		}
		n.write(b, chooses)
	}
	b.WriteString(end)
}
