package dsl

import (
	"fmt"
	"testing"
)

// sameAsGrammar is nil when Parse and the declared grammar give the same
// verdict on a text and, if they accept it, the same tree.
func sameAsGrammar(text string) error {
	src := NewSource("fuzz", text)
	got, ds := Parse(src)
	want, err := parseByGrammar(src)
	if ds.HasErrors() != (err != nil) {
		return fmt.Errorf("Parse: %v\ngrammar: %v", ds, err)
	}
	if err != nil {
		return nil
	}
	if len(got.Calls) != len(want.Calls) {
		return fmt.Errorf("%d calls, the grammar finds %d", len(got.Calls), len(want.Calls))
	}
	for i := range got.Calls {
		if err := sameCall(&got.Calls[i], &want.Calls[i]); err != nil {
			return err
		}
	}
	if fmt.Sprint(got.Comments) != fmt.Sprint(want.Comments) {
		return fmt.Errorf("comments %v, the grammar finds %v", got.Comments, want.Comments)
	}
	return nil
}

// sameCall compares places too.
func sameCall(a, b *Call) error {
	if !a.Equal(b) {
		return fmt.Errorf("%s\nis not\n%s", FormatCall(a), FormatCall(b))
	}
	if a.Range != b.Range || a.VerbRange != b.VerbRange || a.AsRange != b.AsRange || a.Broken {
		return fmt.Errorf("%s stands at %v %v %v, or at %v %v %v", a.Verb, a.Range, a.VerbRange, a.AsRange, b.Range, b.VerbRange, b.AsRange)
	}
	return sameArgs(a.Args, b.Args)
}

func sameArgs(as, bs []Arg) error {
	for i := range as {
		if as[i].KeyRange != bs[i].KeyRange {
			return fmt.Errorf(":%s stands at %v or %v", as[i].Key, as[i].KeyRange, bs[i].KeyRange)
		}
		if err := sameValue(as[i].Value, bs[i].Value); err != nil {
			return err
		}
	}
	return nil
}

func sameValue(v, w Value) error {
	if v.Range != w.Range {
		return fmt.Errorf("%s stands at %v or %v", v, v.Range, w.Range)
	}
	ws := w.Items()
	for i, item := range v.Items() {
		if err := sameValue(item, ws[i]); err != nil {
			return err
		}
	}
	if v.Kind == Nested {
		return sameCall(v.Call(), w.Call())
	}
	return sameArgs(v.Entries(), w.Entries())
}

var accepted = []string{
	"", "\ufeff", " \t\r\n", "; c\n# d\r;; e", "a.b", "(a.b)", "a.b c.d(e.f)",
	"a.b\u00e9"[:3] + " :x \"\u00e9\"",
	"a.b :x 1 :x 2", "(a.b :as @x :y [1,2 3,] :z {:k nil, :l true} :w (c.d :as @q))",
	`a.b :s "\" \\ \n \r \t \u00e9 \u{1F600} \uD83D\uDE00"`,
	"a.b:x", "a.b :x[]:y{}:z()"[:16], "a.b :x -0 :y 0.00 :z -3.50",
	"a.b :u ABCDEF01-2345-6789-abcd-ef0123456789", "abcdef01-2345-6789-abcd-ef0123456789.x",
	"a.b :d 2024-02-29 :t 2025-01-03t10:00:00.123456z :o 2025-01-03T23:59:59-23:59",
	"a.b ; c\n:x ; d\n1 # e\n:as ; f\n@y",
	"\ufeffa.b :x 1\r\nc.d\r:y 2", "a.b :aB_c-9 @X.y_Z",
	"a.b :x [[[]] {} ()]"[:15] + "]", `a.b :x ["a" "b"true]`[:15] + "]",
}

func TestGrammarAndParserAgree(t *testing.T) {
	t.Parallel()
	for _, text := range append(accepted, realistic(50)) {
		if err := sameAsGrammar(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range mustFail {
		if _, ds := Parse(NewSource("", text)); !ds.HasErrors() {
			t.Errorf("%q is accepted", text)
		}
		if err := sameAsGrammar(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

var mustFail = []string{
	"a", "A.b", "a.B", "a..b", "a.b.", ".a.b", "a.b x", "a.b :x", "a.b :X 1", "a.b : x 1", "a.b 1",
	"(a.b", "a.b)", "(a.b]", "a.b :x [1", "a.b :x [1)", "a.b :x {:k}", "a.b :x {1}", "a.b :x {:k 1 :k 2}",
	"a.b :x [,1]", "a.b :x [1,,2]", "a.b :x {,}", "a.b :x 1, :y 2", "a.b :x 01", "a.b :x 1.", "a.b :x .5",
	"a.b :x 1e3", "a.b :x +1", "a.b :x 2025-02-30", "a.b :x 2025-1-3", "a.b :x 2025-01-03T10:00Z",
	"a.b :x 2025-01-03T10:00:00", "a.b :x 2025-01-03T24:00:00Z", "a.b :x 2025-01-03T10:00:00.1234567Z",
	"a.b :x \"", "a.b :x \"\n\"", `a.b :x "\x"`, `a.b :x "\u{}"`, `a.b :x "\u{D800}"`, `a.b :x "\u{110000}"`,
	`a.b :x "\uD83D"`, "a.b :x \"\t\"", "a.b :x \"\x00\"", "a.b :x \"\u0085\"", "a.b :x \"\xff\"", "; \x00", "\x00",
	"a.b :x “y”", "a.b :x 'y'", "a.b\u00a0:x 1", "a.b :as x", "a.b :as @x.y", "a.b :as @x :as @y", "a.b :as 1",
	`a.b :x"y"`, `a.b :x "y"z`, `a.b :x ["y""z"]`, `a.b :x [1"z"]`, "a.b(c.d)", "a.b :x @", "a.b :x @1", "a.b :x @a..b",
	"a.b :x Passport", "a.b :x yes", "a.b :x 123e4567-e89b-12d3-a456-42661417400", "()", "[]", "{}", ":x 1", "a.b :x true.x",
}

func FuzzOracle(f *testing.F) {
	for _, text := range append(append(accepted, mustFail...), realistic(5)) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			t.Skip()
		}
		if err := sameAsGrammar(text); err != nil {
			t.Error(err)
		}
	})
}
