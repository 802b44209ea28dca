package expr

import "slices"

// Limits of an expression.
const (
	MaxBytes = 2000 // of its text
	MaxParts = 250  // names, numbers and operators
)

// Parse reads an expression. Its errors are of type *Error.
func Parse(text string) (*Node, error) {
	if len(text) > MaxBytes {
		return nil, tooLong(len(text))
	}
	return parse(text, MaxParts)
}

func parse(text string, parts int) (*Node, error) {
	p := parser{text: text, left: parts}
	p.next()
	root := p.expression(chooses)
	if p.tok.is(";") {
		semicolon := p.tok
		if p.next(); p.tok.kind != end {
			p.fail(without(semicolon.from, semicolon.to, "variables or sequences", "not here", "write one expression"))
		}
	}
	if p.tok.kind != end {
		p.fail(stray(p.tok, p.text))
	}
	if p.err != nil {
		return nil, p.err
	}
	return root, nil
}

// A parser holds one token. After an error that is the end token, so that every loop ends.
type parser struct {
	text   string
	at     int // where scanning continues
	tok    token
	before int // end of the previous token
	left   int // number of further parts that are allowed
	err    *Error
}

func (p *parser) fail(err *Error) {
	if p.err == nil {
		p.err = err
	}
	p.at = len(p.text)
	p.tok = token{kind: end, from: p.at, to: p.at}
}

func (p *parser) syntax(from, to int, summary, label string) {
	p.fail(syntax(from, to, summary, label))
}

// node makes a part that ends at the previous token. A name that belongs to another part counts
// twice.
func (p *parser) node(n Node) *Node {
	n.To = p.before
	if p.left--; n.Kind == Call || n.Kind == Field {
		p.left--
	}
	if p.left < 0 {
		p.fail(tooComplex(len(p.text)))
	}
	return &n
}

// accept skips the token if it is this one.
func (p *parser) accept(text string) bool {
	if !p.tok.is(text) {
		return false
	}
	p.next()
	return true
}

// close skips the closing bracket.
func (p *parser) close(open token, text string) {
	if p.accept(text) {
		return
	}
	if p.tok.kind == end {
		p.syntax(open.from, open.to, text+" is missing after this "+open.text, "nothing ends this")
	}
	p.fail(stray(p.tok, p.text))
}

// expression reads operands and the operators between them that bind at least as strongly as
// least.
func (p *parser) expression(least int) *Node {
	from, last := p.tok.from, ""
	left := p.operand()
	for {
		not := p.tok
		if not.is("not") {
			if least > compares {
				return left
			}
			if p.next(); p.tok.kind != word || p.tok.text != "in" && !slices.Contains(textual, p.tok.text) {
				p.fail(stray(p.tok, p.text))
			}
		}
		op := p.tok
		power, known := binary[op.text]
		if !known || power < least || op.kind != mark && op.kind != word {
			break
		}
		p.next()
		switch {
		case op.text == "|":
			left = p.call(from, p.name(), left)
		case last == "??" && op.text != "??":
			p.syntax(op.from, op.to, "?? beside another operator needs parentheses", "put one of the two in parentheses")
		case ordered(op.text):
			left = p.chain(from, left, op)
		default:
			right := p.expression(power + 1)
			left = p.node(Node{Kind: Binary, Op: spelling(op.text), Kids: []*Node{left, right}, From: from, At: op.from})
			if err := unsupported(left); err != nil {
				p.fail(err)
			}
			if not.is("not") {
				left = p.node(Node{Kind: Unary, Op: "not", Kids: []*Node{left}, From: from, At: not.from})
			}
		}
		last = op.text
	}
	if question := p.tok; least == chooses && p.accept("?") {
		kids := []*Node{left}
		if !p.tok.is(":") {
			kids = append(kids, p.expression(chooses))
		}
		p.close(question, ":")
		kids = append(kids, p.expression(chooses))
		left = p.node(Node{Kind: Choice, Kids: kids, From: from, At: question.from})
	}
	return left
}

// textual are the text operators, which may follow `not`.
var textual = []string{"contains", "startsWith", "endsWith", "matches"}

func spelling(op string) string {
	switch op {
	case "&&":
		return "and"
	case "||":
		return "or"
	case "!":
		return "not"
	}
	return op
}

// chain continues after the first comparison of a < b < c.
func (p *parser) chain(from int, left *Node, op token) *Node {
	n := Node{Kind: Binary, Op: op.text, Kids: []*Node{left, p.expression(compares + 1)}, From: from, At: op.from}
	for p.tok.kind == mark && ordered(p.tok.text) {
		if n.Kind == Binary {
			n.Kind, n.Ops = Chain, []string{n.Op}
		}
		n.Ops = append(n.Ops, p.tok.text)
		p.next()
		n.Kids = append(n.Kids, p.expression(compares+1))
		p.left -= 2
	}
	return p.node(n)
}

func (p *parser) operand() *Node {
	t := p.tok
	if power, ok := unary[t.text]; ok && t.kind != quotation {
		p.next()
		kid := p.expression(power)
		return p.node(Node{Kind: Unary, Op: spelling(t.text), Kids: []*Node{kid}, From: t.from, At: t.from})
	}
	leaf := Node{Text: t.text, From: t.from, At: t.from}
	switch {
	case p.accept("("):
		inner := p.expression(chooses)
		p.close(t, ")")
		return p.fields(t.from, inner)
	case p.accept("::"):
		return p.fields(t.from, p.call(t.from, p.name()))
	case p.accept("["):
		leaf.Kind, leaf.Text, leaf.Kids = List, "", p.list(t, "]")
	case t.kind == number:
		p.next()
		leaf.Kind = Number
		return p.node(leaf)
	case t.kind == quotation:
		p.next()
		leaf.Kind = Text
	case t.is("nil"), t.is("true"), t.is("false"):
		if p.next(); t.text == "nil" {
			leaf.Text = ""
		} else {
			leaf.Kind = Bool
		}
		return p.node(leaf)
	case t.kind == word && binary[t.text] == 0 && t.text != "let":
		if p.next(); p.tok.is("(") {
			return p.fields(t.from, p.call(t.from, t))
		}
		leaf.Kind = Name
	case t.is("let"):
		p.fail(without(t.from, t.to, "variables or sequences", "not here", "write one expression"))
	case t.is("#"):
		p.fail(noLoops(t))
	case t.is("{"):
		p.fail(without(t.from, t.to, "maps", "not here", "a handler can make one"))
	default:
		p.fail(noValue(p.tok, p.text))
	}
	return p.fields(t.from, p.node(leaf))
}

// fields reads the names after the dots that follow a value.
func (p *parser) fields(from int, n *Node) *Node {
	for {
		switch t := p.tok; {
		case p.accept("."):
			name := p.tok
			if name.kind != word {
				p.fail(noValue(p.tok, p.text))
			}
			if p.next(); p.tok.is("(") {
				p.fail(without(name.from, name.to, "methods", "not here", "a function stands before what it is of: "+name.text+"("+p.text[from:t.from]+")"))
			}
			n = p.node(Node{Kind: Field, Text: name.text, Kids: []*Node{n}, From: from, At: name.from})
		case t.is("?."):
			p.fail(without(t.from, t.to, "?.", "not here", "an absent reference has absent fields; a plain dot will do"))
		case t.is("["):
			p.fail(without(t.from, t.to, "indexes or slices", "not here", "a field is written after a dot; a handler can look into a list"))
		default:
			return n
		}
	}
}

// name reads the name of a function after | or ::.
func (p *parser) name() token {
	name := p.tok
	if name.kind != word || binary[name.text] > 0 || unary[name.text] > 0 || name.text == "let" {
		p.fail(noValue(p.tok, p.text))
	}
	p.next()
	return name
}

// call reads the arguments of a function; the first may already have been read, before a |.
func (p *parser) call(from int, name token, first ...*Node) *Node {
	if slices.Contains(loops, name.text) {
		p.fail(noLoops(name))
	}
	open := p.tok
	if !p.accept("(") {
		p.syntax(name.from, name.to, name.text+" is called without brackets", "write "+name.text+"()")
	}
	return p.node(Node{Kind: Call, Text: name.text, Kids: append(first, p.list(open, ")")...), From: from, At: name.from})
}

// list reads parts separated by commas up to a bracket, with an optional comma at the end.
func (p *parser) list(open token, bracket string) (nodes []*Node) {
	for !p.tok.is(bracket) && p.tok.kind != end {
		nodes = append(nodes, p.expression(chooses))
		if !p.accept(",") {
			break
		}
	}
	p.close(open, bracket)
	return nodes
}
