package expr

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"verbatim/stores"
)

// What may be written, and the one spelling that says the same. The brackets of
// the spelling show how strongly operators bind.
var spelled = [][2]string{
	{"a", "a"}, {" a ; ", "a"}, {"(((a)))", "a"},
	{"a + b * c", "a + b * c"}, {"(a + b) * c", "(a + b) * c"}, {"a - b - c", "a - b - c"}, {"a - (b - c)", "a - (b - c)"},
	{"a && b || !c", "a and b or not c"}, {"a or b and c", "a or b and c"}, {"(a or b) and c", "(a or b) and c"},
	{"not a == b", "not a == b"}, {"not (a == b)", "not (a == b)"}, {"!a * b", "not a * b"}, {"(not a) * b", "(not a) * b"},
	{"-a * b", "-a * b"}, {"-(a * b)", "-(a * b)"}, {"- -a", "--a"}, {"-(not a)", "-(not a)"}, {"+1", "+1"},
	{"a not in b", "not (a in b)"}, {"a not  contains b", "not (a contains b)"}, {"not a in b", "not a in b"}, {"a == b not in c", "not (a == b in c)"},
	{"a matches b", "a matches b"}, {"a startsWith b and c endsWith d", "a startsWith b and c endsWith d"},
	{"1 < a <= b", "1 < a <= b"}, {"(1 < a) <= b", "(1 < a) <= b"}, {"1 < (a <= b)", "1 < (a <= b)"}, {"1 < a == b < c", "1 < a == b < c"},
	{"a ?? b ?? c", "a ?? b ?? c"}, {"a ?? (b ?? c)", "a ?? (b ?? c)"}, {"c == a ?? b", "c == (a ?? b)"}, {"-a ?? b", "-(a ?? b)"},
	{"a ? b : c ? d : e", "a ? b : c ? d : e"}, {"(a ? b : c) ? d : e", "(a ? b : c) ? d : e"}, {"a ?: b", "a ?: b"}, {"a ? : b", "a ?: b"}, {"a ?? b ? c : d", "(a ?? b) ? c : d"},
	{"[ ]", "[]"}, {"[a, 1.50,]", "[a, 1.50]"}, {"f()", "f()"}, {"f(a, g(b),)", "f(a, g(b))"},
	{"a | f()", "f(a)"}, {"a == b | f(1) | g()", "g(f(a == b, 1))"}, {"::f(a)", "f(a)"},
	{"a.b.c", "a.b.c"}, {"row.in", "row.in"}, {"row.not not in b", "not (row.not in b)"}, {"(a).b", "a.b"}, {"(1).b", "(1).b"}, {"f(a).b", "f(a).b"}, {"(a + b).c", "(a + b).c"},
	{"nil == true", "nil == true"}, {"if", "if"}, {"$a_1 + é", "$a_1 + é"}, {"notable", "notable"},
	{`'it''s'`, ""}, {`'it\'s'`, `"it's"`}, {`"\x41\101é\u{1F600}\U0001F600\n"`, `"AAé😀😀\n"`}, {"`a``b\\n`", "\"a`b\\\\n\""}, {"\"a\rb\"", `"a\nb"`},
	{"a // the rest\n+ b", "a + b"}, {"a /* between */ + b", "a + b"}, {"0 + 0.50 + 10", "0 + 0.50 + 10"},
}

func TestOneSpelling(t *testing.T) {
	t.Parallel()
	for _, c := range spelled {
		n, err := Parse(c[0])
		if c[1] == "" {
			if err == nil {
				t.Errorf("%s is %s", c[0], n)
			}
			continue
		}
		if err != nil || n.String() != c[1] {
			t.Errorf("%s is %v, %v; not %s", c[0], n, err, c[1])
		}
	}
}

// Each complaint underlines what it is about.
func TestComplaints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, code, at, summary string }{
		{"", "bad-expression", "", "the expression is empty"},
		{"  \n", "bad-expression", "  \n", "the expression is empty"},
		{"a +", "bad-expression", "", "the expression breaks off"},
		{"a + ) ", "bad-expression", ")", `a value is missing before ")"`},
		{"and b", "bad-expression", "and", `a value is missing before "and"`},
		{"a b", "bad-expression", "b", "the expression does not go on like this"},
		{"é not b", "bad-expression", "b", "the expression does not go on like this"},
		{"a not", "bad-expression", "", "the expression breaks off"},
		{"f(a, (b ", "bad-expression", "(", ") is missing after this ("},
		{"[a, b", "bad-expression", "[", "] is missing after this ["},
		{"a ? b", "bad-expression", "?", ": is missing after this ?"},
		{"(a]", "bad-expression", "]", "the expression does not go on like this"},
		{"a = b", "bad-expression", "=", "a single = does not compare"},
		{"a & b", "bad-expression", "&", "the expression does not go on like this"},
		{"a ~ b", "bad-expression", "~", `an expression cannot hold "~"`},
		{"a == 'it", "bad-expression", "'it", "the text ends inside quotes"},
		{"a == 'it\n'", "bad-expression", "'it", "the text ends inside quotes"},
		{"a /* b", "bad-expression", "/* b", "the text ends inside a comment"},
		{`"é\q"`, "bad-expression", `\q`, `nothing is written as \q`},
		{`"\u{110000}"`, "bad-expression", `\u`, `nothing is written as \u`},
		{`"\400"`, "bad-expression", `\4`, `nothing is written as \4`},
		{`"\ud800"`, "bad-expression", `\ud800`, `\ud800 is a lone surrogate, which is no character`},
		{`"\u{DFFF}"`, "bad-expression", `\u{DFFF}`, `\u{DFFF} is a lone surrogate, which is no character`},
		{`"\U0000d83d"`, "bad-expression", `\U0000d83d`, `\U0000d83d is a lone surrogate, which is no character`},
		{`"\ud83d\ude00"`, "bad-expression", `\ud83d`, `\ud83d is a lone surrogate, which is no character`},
		{`"\u12g4"`, "bad-expression", `\u`, `nothing is written as \u`},
		{`"\ud80"`, "bad-expression", `\u`, `nothing is written as \u`},
		{"a > 1e3", "bad-expression", "1e3", "1e3 is a number that people read differently"},
		{"a > 1e-3", "bad-expression", "1e-3", "1e-3 is a number that people read differently"},
		{"1_000", "bad-expression", "1_000", "1_000 is a number that people read differently"},
		{"007", "bad-expression", "007", "007 is a number that people read differently"},
		{".5", "bad-expression", ".5", ".5 is a number that people read differently"},
		{"12abc", "bad-expression", "12abc", "this is not a number"},
		{"on > 2025-01-03", "bad-expression", "2025-01-03", "2025-01-03 reads as a subtraction here"},
		{"a ?? b == c", "bad-expression", "==", "?? beside another operator needs parentheses"},
		{"a | f", "bad-expression", "f", "f is called without brackets"},
		{"a . 1", "bad-expression", "1", `a value is missing before "1"`},
		{"a / 2 > 1", "not-allowed", "a / 2", "expressions have no division"},
		{"x in 1..5", "not-allowed", "1..5", "expressions have no ranges"},
		{"2 * a ** 2", "not-allowed", "a ** 2", "expressions have no **"},
		{"all(tags, {# == 1})", "not-allowed", "all", "expressions have no loops"},
		{"tags | count()", "not-allowed", "count", "expressions have no loops"},
		{"#", "not-allowed", "#", "expressions have no loops"},
		{"let x = 1; x", "not-allowed", "let", "expressions have no variables or sequences"},
		{"a; b", "not-allowed", ";", "expressions have no variables or sequences"},
		{"{a: 1}", "not-allowed", "{", "expressions have no maps"},
		{"a[0]", "not-allowed", "[", "expressions have no indexes or slices"},
		{"a?.b", "not-allowed", "?.", "expressions have no ?."},
		{"text.trim()", "not-allowed", "trim", "expressions have no methods"},
		{strings.Repeat("a", MaxBytes+1), "too-complex", strings.Repeat("a", MaxBytes+1), "an expression may be 2000 bytes long"},
		{strings.Repeat("1+", MaxParts/2) + "1", "too-complex", strings.Repeat("1+", MaxParts/2) + "1", "an expression may have 250 parts"},
	} {
		n, err := Parse(c.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s is %v, %v", c.text, n, err)
			continue
		}
		if at := c.text[e.From:e.To]; e.Code != c.code || at != c.at || e.Summary != c.summary || e.Label == "" {
			t.Errorf("%s: %s <%s> %s", c.text, e.Code, at, e.Summary)
		}
	}
}

// Every part knows the bytes that it was read from.
func TestPositions(t *testing.T) {
	t.Parallel()
	const text = `é == (a + f( x )).y.z and "ü" not in [1, -b] or c | g() ? d : nil`
	n, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	n.Walk(func(n *Node) { got = append(got, text[n.From:n.To]+" @"+text[n.At:n.At+1]) })
	want := []string{"é @\xc3", "a @a", "x @x", "f( x ) @f", "a + f( x ) @+", "(a + f( x )).y @y", "(a + f( x )).y.z @z", "é == (a + f( x )).y.z @="}
	for i, w := range want {
		if i >= len(got) || got[i] != w {
			t.Errorf("part %d is %q, not %q", i, got[i], w)
		}
	}
	if whole := got[len(got)-1]; whole != text+" @?" {
		t.Errorf("the whole is %q", whole)
	}
}

// Whatever parses prints as something that parses to the same tree, and
// everything else is a complaint that underlines a part of the text.
func FuzzParse(f *testing.F) {
	for _, c := range spelled {
		f.Add(c[0])
	}
	for _, s := range []string{"a ?? b == c", "!false. matches", "a not b", "x in 1..5", "a?.b[1:2]", "text.trim()", "let a = 1; a", "'\\u{0}'", "a<b<c<d", "((a ?: b) ?: c) ?: d", "2025-01-03"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Parse(text)
		if err != nil {
			if e := err.(*Error); e.From < 0 || e.To < e.From || e.To > len(text) || e.Code == "" || e.Summary == "" {
				t.Fatalf("%q: %+v", text, e)
			}
			return
		}
		n.Walk(func(n *Node) {
			if n.From < 0 || n.To <= n.From || n.To > len(text) || n.At < n.From || n.At > n.To {
				t.Fatalf("%q: %s stands at %d to %d, %d", text, n, n.From, n.To, n.At)
			}
		})
		again, err := parse(n.String(), math.MaxInt)
		if err != nil || !alike(n, again) || again.String() != n.String() {
			t.Fatalf("%q prints as %s, which is %v, %v", text, n, again, err)
		}
	})
}

func alike(a, b *Node) bool {
	if a.Kind != b.Kind || a.Text != b.Text || a.Op != b.Op || strings.Join(a.Ops, " ") != strings.Join(b.Ops, " ") || len(a.Kids) != len(b.Kids) {
		return false
	}
	for i := range a.Kids {
		if !alike(a.Kids[i], b.Kids[i]) {
			return false
		}
	}
	return true
}

// SAFE-P7: a part that two operators share is worked out once, however deep
// they stand in one another.
func TestEachPartIsWorkedOutOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	count := Apply(func(v, _ stores.Value) (stores.Value, error) {
		asked++
		return v, nil
	}, &Program{From: Argument})
	less := func(a, b *Program) *Program { return Compare([]string{"<=", "<="}, []*Program{a, b, nil, a}) }
	for name, wrap := range map[string]func(*Program) *Program{
		"?:":    func(p *Program) *Program { return Choose(p, nil, &Program{}) },
		"??":    func(p *Program) *Program { return Default(p, &Program{}) },
		"chain": func(p *Program) *Program { return less(&Program{Value: stores.NewBool(true)}, p) },
	} {
		p := count
		for range 60 {
			p = wrap(p)
		}
		asked = 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.Eval(&Env{Args: []stores.Value{stores.NewBool(true)}})
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s repeats itself", name)
		}
		if asked != 1 {
			t.Errorf("%s: worked out %d times", name, asked)
		}
	}
}

// What cannot be worked out has no value: a filter takes it for false.
func TestErrorsHaveNoValue(t *testing.T) {
	t.Parallel()
	p := Or(&Program{From: Argument}, Apply(Functions["<="], &Program{From: Argument}, &Program{Value: stores.NewInt(1)}))
	if v, err := p.Eval(new(Env)); !errors.Is(err, ErrAbsent) || !v.IsNull() {
		t.Errorf("%v, %v", v, err)
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("new_date > account_id.opened + days(14) and status == OPEN"); err != nil {
			b.Fatal(err)
		}
	}
}
