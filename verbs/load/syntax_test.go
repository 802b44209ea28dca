package load

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"verbatim/verbs"
	"verbatim/verbs/expr"
)

// G58: the grammar reads every operand, and whatever it does not have is a
// sentence.
func TestOperandsAreReadByTheGrammar(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]verbs.Operand{
		"a":                           {Path: []string{"a"}},
		":a-b":                        {Path: []string{":a-b"}},
		"a.b.c":                       {Path: []string{"a", "b", "c"}},
		" a . b\n":                    {Path: []string{"a", "b"}},
		"A-Z_9.x":                     {Path: []string{"A-Z_9", "x"}},
		"a OR b OR c":                 {Alternatives: []string{"a", "b", "c"}},
		"a OR b (c d)":                {Alternatives: []string{"a", "b"}, Note: "c d"},
		"a.b (c d)":                   {Path: []string{"a", "b"}, Note: "c d"},
		"a ()":                        {Path: []string{"a"}},
		"a = b-c":                     {Path: []string{"a"}, Value: "b-c"},
		"a.b = -1.5":                  {Path: []string{"a", "b"}, Value: "-1.5"},
		`a="b c" `:                    {Path: []string{"a"}, Value: `"b c"`},
		"session.mode = x + (y ?? 1)": {Path: []string{"session", "mode"}, Value: "x + (y ?? 1)"},
		"session.mode =":              {Path: []string{"session", "mode"}},
	} {
		want.Text = text
		if got := parseOperand(text); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Errorf("%q is %#v", text, got)
		}
	}
	for _, text := range []string{"", "OR", "a.", ".a", "a..b", "-a", "1", "a.1", "a b", "a.OR", "OR.a", "a.b OR c", "a OR", "a OR b = c", "a = b c", "a.b = x + y", "a =", "(b)", "a (b) c", "a (b (c))", "a, b", strings.Repeat("a", expr.MaxBytes+1)} {
		if got := parseOperand(text); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", verbs.Operand{Text: text, Prose: true}) {
			t.Errorf("%q is %#v", text, got)
		}
	}
}

var plainOperand = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$`)

// What looks like a path is one, and an operand is a sentence or something else.
func FuzzOperand(f *testing.F) {
	for _, s := range []string{"a", "a.b", "a.b.c", "a OR b", "OR", "a.OR", "a-1", "a (b)", "a = b", "session.a = b + c", "a b", "", "a..b", "A-Z_9.x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o := parseOperand(s)
		if plainOperand.MatchString(s) && len(s) < expr.MaxBytes && !regexp.MustCompile(`\bOR\b`).MatchString(s) && strings.Join(o.Path, ".") != s {
			t.Errorf("%q is %#v", s, o)
		}
		if o.Prose == (o.Path != nil || o.Alternatives != nil) || o.Prose && o.Value+o.Note != "" {
			t.Errorf("%q is %#v", s, o)
		}
	})
}

// beyondGrammar are the mistakes of which the grammar of expressions knows
// nothing, by words of their summaries.
var beyondGrammar = regexp.MustCompile(`^(\?\? beside another operator|expressions have no loops|an expression may |\S+ reads as a subtraction|.* is a number that people read differently|this is not a number|nothing is written as|.* is a lone surrogate)`)

// sameAsGrammar is nil when the parser of expressions and the declared grammar
// give the same verdict.
func sameAsGrammar(text string) error {
	_, err := expr.Parse(text)
	_, ok := formulaGrammar.Read(text)
	var fault *expr.Error
	if (err == nil) == ok || ok && errors.As(err, &fault) && beyondGrammar.MatchString(fault.Summary) {
		return nil
	}
	return fmt.Errorf("%q: the grammar has it: %v; the parser says %v", text, ok, err)
}

var formulas = []string{
	"a", "a.b.c == 1", "not a or !b && -c < +d", "a not in [1, 2,]", "a not contains 'x'", `x ?? "y"`, "f()", "f(a, b,).c", "::f(a)", "a | f(b) + c",
	"a ? b : c", "a ?: b ? c : d", "(a + b) * 2 % c", "a < b <= c", "nil == true", "`a``b`.c", `"\u{1F600}\x41\101\U0001F600"`, "a /* b */ // c", "a;", "[].x", "ä.in > $x", "a.not", "x | nil()",
	"", "a b", "a.", "a.1", ".5", "01", "1.", "1.5.3", "a = b", "a ** b", "a / b", "a .. b", "a?.b", "a[1]", "{}", "#", "let a", "in", "not", "or a", "a or", "a not == b", "a not", "f(,)", "f(a", "[a", "(a", "a)",
	"a ? b", "a ? : b :", "a | f", "a | in()", "::f", "true.x", "nil()", "1.x", "a.f()", "a;b", "a;;", "'a\nb'", `"\'"`, `'\"'`, "a ?? b + c", "count(a)", "2025-01-03", "1and 2", "1e5", "\u00a0a", "a /* b", "\"\\u{110000}\"", "a ?::f() : b",
}

// G58: the grammar that is printed is the one that expressions are read by.
func TestGrammarAndExpressionsAgree(t *testing.T) {
	t.Parallel()
	accepted := 0
	for _, text := range formulas {
		if err := sameAsGrammar(text); err != nil {
			t.Error(err)
		}
		if _, ok := formulaGrammar.Read(text); ok {
			accepted++
		}
	}
	if accepted < 20 || accepted > len(formulas)-20 {
		t.Errorf("the grammar has %d of %d", accepted, len(formulas))
	}
}

func FuzzExpressionGrammar(f *testing.F) {
	for _, text := range formulas {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 200 || !utf8.ValidString(text) {
			return
		}
		if err := sameAsGrammar(text); err != nil {
			t.Error(err)
		}
	})
}

// G58: SPEC.md prints the grammar, and the table beside it says how strongly
// operators bind.
func TestSpecificationOfPalettes(t *testing.T) {
	t.Parallel()
	const file = "../../dsl/SPEC.md"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	block := regexp.MustCompile("(?s)```ebnf palettes\n.*?```")
	want := "```ebnf palettes\n" + Syntax() + "```"
	if *update {
		text = block.ReplaceAllLiteralString(text, want)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := block.FindString(text); got != want {
		t.Errorf("the grammar in SPEC.md is\n%s\nand should be (with -update)\n%s", got, want)
	}
	tree := func(text string) *expr.Node {
		n, err := expr.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return n
	}
	var weaker []string
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \|[^|]*\|$`).FindAllStringSubmatch(text, -1)
	for _, row := range rows {
		signs := strings.Contains(row[0], "before a value")
		var here []string
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			op := strings.ReplaceAll(m[1], `\|`, "|")
			here = append(here, op)
			for _, weak := range weaker {
				if signs {
					if n := tree(op + " a " + weak + " b"); n.Kind == expr.Unary {
						t.Errorf("%s binds more weakly than %s", op, weak)
					}
				} else if n := tree("a " + weak + " b " + op + " c"); n.Kids[0].Kind != expr.Name {
					t.Errorf("%s binds more weakly than %s", op, weak)
				}
			}
		}
		if !signs {
			weaker = append(weaker, here...)
		}
	}
	if len(rows) < 7 || len(weaker) < 17 {
		t.Errorf("the table has %d rows and %d operators", len(rows), len(weaker))
	}
}
