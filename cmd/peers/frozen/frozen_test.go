package frozen

import (
	"strings"
	"testing"
)

// The measure is worth something only if it reads the whole language, so this
// walks one example of everything.
func TestParseReadsTheWholeLanguage(t *testing.T) {
	t.Parallel()
	src := `; a comment
client.add-note :request-id @pierre-sow.request :note "a \"b\"\n" :n -12 :d 3.50 ; more
  :on 2025-01-03 :at 2025-01-03T10:00:00Z :u 123E4567-e89b-12d3-a456-426614174000
(kyc.case.open :kind PEP_CHECK :ok true :none nil :l [1, 2 "x"] :m {:a 1 :b [2]} :as @case)
a.b :x (c.d :y 1 :as @z)`
	calls, err := Parse(src)
	if err != nil {
		t.Fatalf("%v: %q", err, src[err.(Error).Offset:])
	}
	if len(calls) != 3 {
		t.Fatalf("%d calls, 3 wanted", len(calls))
	}
	kinds := []Kind{Symbol, String, Integer, Decimal, Date, DateTime, UUID, Code, Bool, Nil, List, Map, Nested}
	i := 0
	for _, c := range calls {
		if got := src[c.VerbRange.Start:c.VerbRange.End]; got != c.Verb {
			t.Errorf("the range of %s holds %q", c.Verb, got)
		}
		for _, a := range c.Args {
			if a.Value.Kind != kinds[i] {
				t.Errorf(":%s is of kind %d, %d wanted", a.Key, a.Value.Kind, kinds[i])
			}
			if got := src[a.KeyRange.Start:a.KeyRange.End]; got != ":"+a.Key {
				t.Errorf("the range of :%s holds %q", a.Key, got)
			}
			i++
		}
	}
	if i != len(kinds) {
		t.Errorf("%d arguments, %d wanted", i, len(kinds))
	}
	if got := calls[0].Args[1].Value.Text; got != "a \"b\"\n" {
		t.Errorf("the string holds %q", got)
	}
	if calls[1].As != "case" || len(calls[1].Args[4].Value.Inner.Entries) != 2 {
		t.Errorf("the second call is %+v", calls[1])
	}
	if in := calls[2].Args[0].Value.Inner.Call; in.Verb != "c.d" || in.As != "z" || len(in.Args) != 1 {
		t.Errorf("the nested call is %+v", in)
	}
}

func TestParseGivesUpAtTheFirstMistake(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		`a`, `a.b :x`, `a.b :x 1x`, `a.b :x 2025-02-30`, `a.b :x [1`, `a.b :x {a 1}`, `(a.b :x 1`,
		`a.b :x "no end`, `a.b :as 1`, `a.b :x "\q"`, `a.b 1`, "a.b :x \"\xff\"",
		`a.b :x ` + strings.Repeat("[", 1000),
	} {
		if calls, err := Parse(src); err == nil {
			t.Errorf("%q was read as %+v", src, calls)
		}
	}
}
