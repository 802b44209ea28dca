package values

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
)

// A pattern is limited in its length and in the number of steps that it compiles to, since RE2
// takes time in proportion to the text and to those: (a{1,30}){1,30} is short, and slow.
const (
	maxPattern = 1000
	maxSteps   = 600
)

// PatternFault says what is wrong with a pattern, "" if nothing is.
func PatternFault(pattern string) string {
	if len(pattern) > maxPattern {
		return "it is longer than " + strconv.Itoa(maxPattern) + " characters"
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return patternProblem(err)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return patternProblem(err)
	}
	if len(prog.Inst) > maxSteps {
		return "it repeats too much: it comes to " + strconv.Itoa(len(prog.Inst)) + " steps, and may come to " + strconv.Itoa(maxSteps)
	}
	return ""
}

func patternProblem(err error) string {
	if e, ok := err.(*syntax.Error); ok {
		return e.Code.String() + ": " + e.Expr
	}
	return err.Error()
}

// Unseen reports whether a character controls a terminal, or changes the direction of the text
// around it: people who are to believe a palette's texts are shown them.
func Unseen(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}
