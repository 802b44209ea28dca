// Package expr reads expressions, and works out what they say. A palette holds
// them where it sets a condition or a value:
//
//	new_date > request_id.due_date + days(14) and status == OPEN
//
// Parse makes a tree of a text, in which every part knows where it stands. What
// its names mean, and whether its types go together, package verbs decides; from
// a tree it makes a Program, which Eval works out on the values of a call.
//
// An expression has no loops and no variables, and each of its parts is worked
// out once at most, so that it ends soon whatever it says.
package expr

// A Kind says which fields of a Node mean something.
type Kind uint8

const (
	Nil    Kind = iota
	Bool        // Text is true or false
	Number      // Text is its digits: 12, 0.50
	Text        // Text is what stands between the quotes
	Name        // Text: an argument, a code, row, today …
	Field       // Kids[0].Text
	Call        // Text(Kids …), however it was written
	List        // [Kids …]
	Unary       // Op Kids[0]; Op is not, - or +
	Binary      // Kids[0] Op Kids[1]; Op is and, or, ==, + …
	Chain       // Kids[0] Ops[0] Kids[1] Ops[1] Kids[2] …: a < b <= c
	Choice      // Kids[0] ? Kids[1] : Kids[2]; of two kids Kids[0] ?: Kids[1]
)

// A Node is a part of an expression. Nobody changes it once Parse has returned
// it, so that it may be shared.
type Node struct {
	Kind     Kind
	Op       string
	Ops      []string
	Text     string
	Kids     []*Node
	From, To int // the bytes that it was read from, without brackets around it
	At       int // where its operator, or the name of a function or a field, begins
}

// Pairs returns the comparisons that a chain stands for.
func (n *Node) Pairs() []*Node {
	pairs := make([]*Node, len(n.Ops))
	for i, op := range n.Ops {
		pairs[i] = &Node{Kind: Binary, Op: op, Kids: n.Kids[i : i+2], From: n.Kids[i].From, To: n.Kids[i+1].To}
	}
	return pairs
}

// Walk calls see with everything below a node, and then with the node. A nil
// node has nothing to see.
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
