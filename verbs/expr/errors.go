package expr

import (
	"fmt"
	"strconv"
	"strings"
)

// An Error says why a text is not an expression, in the words of its author.
type Error struct {
	From, To int    // the bytes it is about
	Code     string // of the diagnostic: bad-expression, not-allowed, too-complex
	Summary  string
	Label    string
	Notes    []string
	Write    string   // what to write in their place, if that is known
	Legal    []string // what could stand in their place, if that is a word
}

func (e *Error) Error() string { return e.Summary + ": " + e.Label }

func syntax(from, to int, summary, label string, notes ...string) *Error {
	return &Error{From: from, To: to, Code: "bad-expression", Summary: summary, Label: label, Notes: notes}
}

func notAllowed(from, to int, what, label, note string) *Error {
	return &Error{From: from, To: to, Code: "not-allowed", Summary: "expressions have no " + what, Label: label, Notes: []string{note}}
}

func without(t token, what, note string) *Error {
	return notAllowed(t.from, t.to, what, "not here", note)
}

func tooMuch(size int, summary, label string) *Error {
	return &Error{To: size, Code: "too-complex", Summary: summary, Label: label, Notes: []string{"what is that long is easier to read, and to test, in a handler"}}
}

func tooLong(size int) *Error {
	return tooMuch(size, fmt.Sprintf("an expression may be %d bytes long", MaxBytes), "this is longer")
}

func tooComplex(size int) *Error {
	return tooMuch(size, fmt.Sprintf("an expression may have %d parts", MaxParts), "this has more")
}

// operators are the words that stand between two values.
var operators = []string{"and", "or", "not", "in", "contains", "startsWith", "endsWith", "matches"}

const allOperators = "operators are and, or, not, ==, !=, <, <=, >, >=, +, -, *, %, ??, in, contains, startsWith, endsWith, matches"

func goesOn(t token) *Error {
	if t.is("=") {
		e := syntax(t.from, t.to, "a single = does not compare", "write ==")
		e.Write = "=="
		return e
	}
	if t.is("#") {
		return noLoops(t)
	}
	e := syntax(t.from, t.to, "the expression does not go on like this", "an operator is missing here", "text goes in quotes, codes in capitals; "+allOperators)
	if t.kind == word {
		e.Legal = operators
	}
	if t.kind == mark {
		e.Label = "not expected here"
	}
	return e
}

func noValue(t token) *Error {
	return syntax(t.from, t.to, "a value is missing before "+strconv.Quote(t.text), "a value is wanted here")
}

func breaksOff(text string) *Error {
	trimmed := strings.TrimRight(text, " \n")
	if trimmed == "" {
		return syntax(0, len(text), "the expression is empty", "say what")
	}
	return syntax(len(trimmed), len(text), "the expression breaks off", "something is missing at the end")
}

func openBracket(open token, text string) *Error {
	return syntax(open.from, open.to, fmt.Sprintf("%s is missing after this %s", text, open.text), "nothing ends this")
}

func openQuote(from, to int) *Error {
	return syntax(from, to, "the text ends inside quotes", "a quotation mark is not closed")
}

func openComment(from, to int) *Error {
	return syntax(from, to, "the text ends inside a comment", "a comment ends with */")
}

func badEscape(from, to int, text string) *Error {
	return syntax(from, to, "nothing is written as "+text, `a backslash is written \\`)
}

func strange(from, to int, text string) *Error {
	return syntax(from, to, "an expression cannot hold "+strconv.Quote(text), "not expected here")
}

func oddNumber(from, to int, text string) *Error {
	summary := "this is not a number"
	if _, err := strconv.ParseInt(text, 0, 64); err == nil {
		summary = text + " is a number that people read differently"
	} else if _, err := strconv.ParseFloat(text, 64); err == nil {
		summary = text + " is a number that people read differently"
	}
	return syntax(from, to, summary, "in digits: 1000, 0.5")
}

func bareDate(from, to int, date string) *Error {
	e := syntax(from, to, date+" reads as a subtraction here", `a date is written date("`+date+`")`)
	e.Write = `date("` + date + `")`
	return e
}

func mixed(t token) *Error {
	return syntax(t.from, t.to, "?? beside another operator needs parentheses", "put one of the two in parentheses")
}

func noArguments(name token) *Error {
	return syntax(name.from, name.to, name.text+" is called without brackets", "write "+name.text+"()")
}

func noRange(n *Node) *Error {
	return notAllowed(n.From, n.To, "ranges", "not here", "x >= 1 and x <= 10 says the same")
}

func noDivision(n *Node) *Error {
	return notAllowed(n.From, n.To, "division", "it would not be exact", "multiply instead: amount * 0.5")
}

func noPower(n *Node, op string) *Error {
	return notAllowed(n.From, n.To, op, "not here", allOperators)
}

// loops are what an author may call who knows them from elsewhere.
var loops = []string{"all", "any", "none", "one", "filter", "map", "count", "sum", "find", "findIndex", "findLast", "findLastIndex", "groupBy", "sortBy", "reduce"}

func noLoops(t token) *Error {
	return without(t, "loops", "each rule looks at one row; a handler can look at many")
}
