package expr

import (
	"fmt"
	"strconv"
	"strings"
)

// An Error says why a text is not an expression, in the terms of its author.
type Error struct {
	From, To int    // the range of bytes that it is about
	Code     string // code of the diagnostic: bad-expression, not-allowed, too-complex
	Summary  string
	Label    string
	Notes    []string
	Write    string   // the correct text for the range, if that is known
	Legal    []string // possible words for the range, if it should be a word
}

func (e *Error) Error() string { return e.Summary + ": " + e.Label }

func syntax(from, to int, summary, label string, notes ...string) *Error {
	return &Error{From: from, To: to, Code: "bad-expression", Summary: summary, Label: label, Notes: notes}
}

// write adds the correct text to an error.
func (e *Error) write(text string) *Error {
	e.Write = text
	return e
}

func without(from, to int, what, label, note string) *Error {
	return &Error{From: from, To: to, Code: "not-allowed", Summary: "expressions have no " + what, Label: label, Notes: []string{note}}
}

func tooMuch(size, most int, what, label string) *Error {
	return &Error{To: size, Code: "too-complex", Summary: fmt.Sprintf("an expression may "+what, most), Label: label, Notes: []string{"what is that long is easier to read, and to test, in a handler"}}
}

func tooLong(size int) *Error    { return tooMuch(size, MaxBytes, "be %d bytes long", "this is longer") }
func tooComplex(size int) *Error { return tooMuch(size, MaxParts, "have %d parts", "this has more") }

const allOperators = "operators are and, or, not, ==, !=, <, <=, >, >=, +, -, *, %, ??, in, contains, startsWith, endsWith, matches"

// stray reports a token where an operator, or the end, is expected.
func stray(t token, text string) *Error {
	switch {
	case t.kind == end:
		return breaksOff(text)
	case t.is("="):
		return syntax(t.from, t.to, "a single = does not compare", "write ==").write("==")
	case t.is("#"):
		return noLoops(t)
	}
	e := syntax(t.from, t.to, "the expression does not go on like this", "an operator is missing here", "text goes in quotes, codes in capitals; "+allOperators)
	switch t.kind {
	case word:
		e.Legal = []string{"and", "or", "not", "in", "contains", "startsWith", "endsWith", "matches"}
	case mark:
		e.Label = "not expected here"
	}
	return e
}

// noValue reports a token where a value, or a name, is expected.
func noValue(t token, text string) *Error {
	if t.kind == end {
		return breaksOff(text)
	}
	return syntax(t.from, t.to, "a value is missing before "+strconv.Quote(t.text), "a value is wanted here")
}

func breaksOff(text string) *Error {
	trimmed := strings.TrimRight(text, " \n")
	if trimmed == "" {
		return syntax(0, len(text), "the expression is empty", "say what")
	}
	return syntax(len(trimmed), len(text), "the expression breaks off", "something is missing at the end")
}

func oddNumber(from, to int, text string) *Error {
	_, whole := strconv.ParseInt(text, 0, 64)
	if _, err := strconv.ParseFloat(text, 64); err != nil && whole != nil {
		return syntax(from, to, "this is not a number", "in digits: 1000, 0.5")
	}
	return syntax(from, to, text+" is a number that people read differently", "in digits: 1000, 0.5")
}

func bareDate(from, to int, date string) *Error {
	quoted := `date("` + date + `")`
	return syntax(from, to, date+" reads as a subtraction here", "a date is written "+quoted).write(quoted)
}

// loops are functions that authors may know from other languages.
var loops = []string{"all", "any", "none", "one", "filter", "map", "count", "sum", "find", "findIndex", "findLast", "findLastIndex", "groupBy", "sortBy", "reduce"}

func noLoops(t token) *Error {
	return without(t.from, t.to, "loops", "not here", "each rule looks at one row; a handler can look at many")
}

// unsupported reports operators of other languages; it returns nil for all others.
func unsupported(n *Node) *Error {
	switch n.Op {
	case "..":
		return without(n.From, n.To, "ranges", "not here", "x >= 1 and x <= 10 says the same")
	case "/":
		return without(n.From, n.To, "division", "it would not be exact", "divide(x, y, 2) rounds to 2 digits after the point; or multiply: amount * 0.5")
	case "**", "^":
		return without(n.From, n.To, n.Op, "not here", allOperators)
	}
	return nil
}
