// Package expr parses and evaluates expressions. A palette uses them for a condition or a value:
//
//	new_date > request_id.due_date + days(14) and status == OPEN
//
// Parse makes a tree of a text, in which every part knows its position. Package verbs resolves
// the names and checks the types; from a tree it makes a Program, which Eval evaluates on the
// values of a call.
//
// An expression has no loops and no variables, and each of its parts is evaluated once at most,
// so evaluation always ends soon.
package expr

// A Kind says which fields of a Node are used.
type Kind uint8

const (
	Nil    Kind = iota
	Bool        // Text is true or false
	Number      // Text is its digits: 12, 0.50
	Text        // Text is the content of the quotes
	Name        // Text: an argument, a code, row, today …
	Field       // Kids[0].Text
	Call        // Text(Kids …), in whichever notation
	List        // [Kids …]
	Unary       // Op Kids[0]; Op is not, - or +
	Binary      // Kids[0] Op Kids[1]; Op is and, or, ==, + …
	Chain       // Kids[0] Ops[0] Kids[1] Ops[1] Kids[2] …: a < b <= c
	Choice      // Kids[0] ? Kids[1] : Kids[2]; of two kids Kids[0] ?: Kids[1]
)

// A Node is a part of an expression. It is not modified after Parse has returned it, so it may be
// shared.
type Node struct {
	Kind     Kind
	Op       string
	Ops      []string
	Text     string
	Kids     []*Node
	From, To int // the range of bytes that it was read from, without parentheses around it
	At       int // position of its operator, or of the name of a function or a field
}

// Pairs returns the comparisons that a chain stands for.
func (n *Node) Pairs() []*Node {
	pairs := make([]*Node, len(n.Ops))
	for i, op := range n.Ops {
		pairs[i] = &Node{Kind: Binary, Op: op, Kids: n.Kids[i : i+2], From: n.Kids[i].From, To: n.Kids[i+1].To}
	}
	return pairs
}

// Walk calls see with everything below a node, and then with the node. It ignores a nil node.
func (n *Node) Walk(see func(*Node)) {
	if n == nil {
		return
	}
	for _, kid := range n.Kids {
		kid.Walk(see)
	}
	see(n)
}

// How strongly operators bind. `not` binds more strongly than a comparison:
// not a == b is (not a) == b.
const (
	chooses  = 0
	compares = 20
	negates  = 50
	signs    = 90
	defaults = 500 // ??
)

var unary = map[string]int{"not": negates, "!": negates, "-": signs, "+": signs}

var binary = map[string]int{
	"|":  chooses,
	"or": 10, "||": 10, "and": 15, "&&": 15,
	"==": compares, "!=": compares, "<": compares, "<=": compares, ">": compares, ">=": compares,
	"in": compares, "matches": compares, "contains": compares, "startsWith": compares, "endsWith": compares,
	"..": 25, "+": 30, "-": 30, "*": 60, "/": 60, "%": 60, "**": 100, "^": 100, "??": defaults,
}

// ordered reports whether an operator makes a chain: a < b < c.
func ordered(op string) bool { return op == "<" || op == "<=" || op == ">" || op == ">=" }
