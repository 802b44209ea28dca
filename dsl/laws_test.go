package dsl

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"verbatim/runtime/tests/norace"

	"pgregory.net/rapid"
)

// lawful checks what must hold of every text, good or bad.
func lawful(text string) error {
	src := NewSource("fuzz", text)
	s, ds := Parse(src)
	if s == nil {
		return fmt.Errorf("no script")
	}
	in := func(r Range) bool {
		return 0 <= r.Start && r.Start <= r.End && int(r.End) <= len(text)
	}
	last := int32(0)
	for i := range s.Calls {
		c := &s.Calls[i]
		if !in(c.Range) || c.Range.Start < last {
			return fmt.Errorf("call %d stands at %v, the one before ends at %d", i, c.Range, last)
		}
		last = c.Range.End
		if c.Broken && !ds.HasErrors() {
			return fmt.Errorf("call %d is broken and nobody says why", i)
		}
		if err := c.Err(); !c.Broken && err != nil {
			return fmt.Errorf("call %d is whole, but %v", i, err)
		}
		var bad error
		WalkCall(c, func(n Node) bool {
			var r Range
			switch {
			case n.Call != nil:
				r = n.Call.Range
			case n.Arg != nil:
				r = n.Arg.KeyRange
			case n.Value != nil:
				r = n.Value.Range
			}
			if !in(r) || r.Start < c.Range.Start || r.End > c.Range.End && !c.Broken {
				bad = fmt.Errorf("%+v lies outside its call, %v", n, c.Range)
			}
			return true
		})
		if bad != nil {
			return bad
		}
	}
	last = 0
	for _, c := range s.Comments {
		if !in(c.Range) || c.Range.Start < last || c.Range.End == c.Range.Start {
			return fmt.Errorf("a comment stands at %v", c.Range)
		}
		last = c.Range.End
	}
	last = 0
	for i, d := range ds {
		if d.Code == "too-many-mistakes" && i == len(ds)-1 {
			continue
		}
		if !in(d.Place.Range) || d.Place.Range.Start < last {
			return fmt.Errorf("%s stands at %v after %d", d.Code, d.Place.Range, last)
		}
		last = d.Place.Range.Start
		for _, f := range d.Fixes {
			for _, e := range f.Edits {
				if !in(e.Range) {
					return fmt.Errorf("%s: a fix at %v", d.Code, e.Range)
				}
			}
		}
	}
	if err := ds.Print(discard{}, Style{}); err != nil {
		return err
	}
	formatted := Format(s)
	if ds.HasErrors() {
		return nil
	}
	again, ds := Parse(NewSource("formatted", formatted))
	if len(ds) > 0 {
		return fmt.Errorf("formatted as %q: %v", formatted, ds)
	}
	if len(again.Calls) != len(s.Calls) {
		return fmt.Errorf("formatted as %q: %d calls, not %d", formatted, len(again.Calls), len(s.Calls))
	}
	for i := range s.Calls {
		if !s.Calls[i].Equal(&again.Calls[i]) {
			return fmt.Errorf("formatted as %q: call %d differs", formatted, i)
		}
		line := FormatCall(&s.Calls[i])
		one, ds := Parse(NewSource("line", line))
		if len(ds) > 0 || len(one.Calls) != 1 || !one.Calls[0].Equal(&s.Calls[i]) {
			return fmt.Errorf("on one line as %q: %v", line, ds)
		}
		if FormatCall(&one.Calls[0]) != line {
			return fmt.Errorf("%q has another line", line)
		}
	}
	if a, b := commentTexts(s), commentTexts(again); !slices.Equal(a, b) {
		return fmt.Errorf("comments %q became %q", a, b)
	}
	if twice := Format(again); twice != formatted {
		return fmt.Errorf("formatted as\n%s\nand then as\n%s", formatted, twice)
	}
	return nil
}

func commentTexts(s *Script) []string {
	var texts []string
	for _, c := range s.Comments {
		texts = append(texts, s.Source.Text[c.Range.Start:c.Range.End])
	}
	slices.Sort(texts)
	return texts
}

type discard struct{}

func (discard) Write(b []byte) (int, error) {
	if !utf8.Valid(b) {
		return 0, fmt.Errorf("printed %q", b)
	}
	return len(b), nil
}

var bits = []string{
	"(", ")", "[", "]", "{", "}", ":", ":x ", ":as ", "@x", "a.b", " ", "\n", "\"", "'", "“", "”", ",", "=",
	"1", "2025-01-03", "T10:00:00Z", "nil", "A", "_", "-", ".", ";", "#", "\\", "\\u{41}", "\x00", "\xff",
	"\u00a0", "\r", "\t", "é", "0", "+", "`", "```", "client.x", "X.y", "{:k 1}", "(c.d :e 1)",
	"123e4567-e89b-12d3-a456-426614174000", "null", "\u202e", "x: ", "x=", "\"k\": ",
}

// mutate puts in, takes out and copies pieces.
func mutate(r *rand.Rand, text string) string {
	for range r.IntN(8) + 1 {
		at := r.IntN(len(text) + 1)
		switch r.IntN(4) {
		case 0, 1:
			text = text[:at] + bits[r.IntN(len(bits))] + text[at:]
		case 2:
			text = text[:at] + text[min(len(text), at+r.IntN(6)):]
		case 3:
			piece := text[at:min(len(text), at+r.IntN(40))]
			to := r.IntN(len(text) + 1)
			text = text[:to] + piece + text[to:]
		}
	}
	return text
}

// corpus is the hateful inputs and every golden file.
func corpus(t testing.TB) []string {
	names, err := filepath.Glob("testdata/*.dsl")
	if err != nil || len(names) == 0 {
		t.Fatal("no corpus", err)
	}
	texts := append(append([]string{"", strings.Join(mixed(), "\n"), realistic(5)}, accepted...), mustFail...)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	return texts
}

var executions = flag.Int("executions", 100_000, "how many broken texts TestLawsHoldOfBrokenTexts makes")

// SAFE-P1, SAFE-P4: the laws hold of broken texts, and the grammar agrees. With
// -executions this is the long run: it is several times faster than fuzzing.
func TestLawsHoldOfBrokenTexts(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	seeds := corpus(t)
	n := *executions
	if testing.Short() {
		n = min(n, 2_000)
	}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		text := mutate(r, seeds[r.IntN(len(seeds))])
		if err := lawful(text); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(text) < 300 && (i%8 == 0 || i < 20_000) {
			if err := sameAsGrammar(text); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
	}
}

// SAFE-P4: no two different programs share a canonical text. Programs are made
// different by mutation; the declared grammar, which knows nothing of Format,
// says what each of them means.
func TestDifferentProgramsHaveDifferentCanonicalTexts(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	r := rand.New(rand.NewPCG(3, 4))
	calls := mixed()
	seen := map[string]*Call{}
	const programs = 20_000
	kept := 0
	for range programs {
		src := NewSource("", mutate(r, calls[r.IntN(len(calls))]))
		s, ds := Parse(src)
		if len(ds) > 0 {
			continue
		}
		kept++
		for i := range s.Calls {
			line := FormatCall(&s.Calls[i])
			if other, ok := seen[line]; ok && !other.Equal(&s.Calls[i]) {
				t.Fatalf("two programs are written\n%s", line)
			}
			seen[line] = &s.Calls[i]
		}
	}
	if kept < programs/20 || len(seen) < programs/40 {
		t.Errorf("only %d programs, %d of them different", kept, len(seen))
	}
}

// A value made by hand is written so that it reads back, or so that it does
// not read at all.
func TestConstructedCallsReadBackOrNotAtAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := anyCall(t, 3)
		line := FormatCall(&c)
		s, ds := Parse(NewSource("", line))
		if c.Err() != nil {
			if !ds.HasErrors() {
				t.Fatalf("%v, yet %q is accepted", c.Err(), line)
			}
			return
		}
		if len(ds) > 0 || len(s.Calls) != 1 || !s.Calls[0].Equal(&c) {
			t.Fatalf("%q reads back as %v, %v", line, s.Calls, ds)
		}
		if formatted := Format(&Script{Calls: []Call{c}}); formatted != Format(s) {
			t.Fatalf("%q and %q", formatted, Format(s))
		}
	})
}

func anyCall(t *rapid.T, depth int) Call {
	c := NewCall(rapid.SampledFrom([]string{"a.b", "client.add-note", "a.b.c", "a.B_9-", "Client.x", "a", "a b.c", ""}).Draw(t, "verb"))
	if rapid.IntRange(0, 9).Draw(t, "sane") > 0 {
		c.Verb = "client.add-note"
	}
	for range rapid.IntRange(0, 3).Draw(t, "args") {
		c.Args = append(c.Args, anyArg(t, depth))
	}
	c.As = rapid.SampledFrom([]string{"", "", "x", "X-1_y", "x.y", "1"}).Draw(t, "as")
	return c
}

func anyArg(t *rapid.T, depth int) Arg {
	return NewArg(rapid.SampledFrom([]string{"note", "k", "a1", "aB", "x-y", "x-y", "Key", "as", "no te", "größe", "1st", "a\"\\\n", "", "\xff"}).Draw(t, "key"), anyValue(t, depth))
}

func anyValue(t *rapid.T, depth int) Value {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"2025-02-28", "2025-02-30", "2025-01-03T10:00:00Z", "2025-01-03t10:00:00.5z", "-3.50", "007", "-0", "1e3", "PASSPORT", "NO_1", "x.y",
		"123E4567-E89B-12D3-A456-426614174000", "\x00\u202e\u200d", "\\n\"", "bad \xff", "true", "nil",
	})).Draw(t, "text")
	makers := []func() Value{
		func() Value { return NewString(text) },
		func() Value { return NewNumber(text) },
		func() Value { return NewDate(text) },
		func() Value { return NewDateTime(text) },
		func() Value { return NewUUID(text) },
		func() Value { return NewCode(text) },
		func() Value { return NewSymbol(text) },
		func() Value { return NewInteger(rapid.Int64().Draw(t, "n")) },
		func() Value { return NewBool(len(text)%2 == 0) },
		func() Value { return NewNil() },
		func() Value {
			return NewTime(time.Unix(rapid.Int64Range(-6e10, 2e11).Draw(t, "s"), int64(len(text))))
		},
		// What no constructor gives.
		func() Value { return Value{Kind: Kind(rapid.IntRange(0, 20).Draw(t, "kind")), Text: text} },
	}
	if depth > 0 {
		makers = append(makers,
			func() Value { return NewList(anyValue(t, depth-1), anyValue(t, depth-1)) },
			func() Value { return NewList() },
			func() Value { return NewMap(anyArg(t, depth-1), anyArg(t, depth-1)) },
			func() Value { return NewNested(anyCall(t, depth-1)) },
		)
	}
	return makers[rapid.IntRange(0, len(makers)-1).Draw(t, "maker")]()
}

// SAFE-P1: no text makes the parser panic, hang or point outside the text.
func FuzzParse(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := lawful(text); err != nil {
			t.Error(err)
		}
	})
}

// SAFE-P4: a call of any texts, keys and values reads back as it was.
func FuzzFormat(f *testing.F) {
	f.Add("client.add-note", "note", "later", "x")
	f.Add("a.b", "k", "\x00\"\\\u202e\xff", "")
	f.Add("a.b", "k", "Content-Type", "")
	f.Fuzz(func(t *testing.T, verb, key, text, as string) {
		c := NewCall(verb,
			NewArg(key, NewString(text)),
			NewArg("l", NewList(NewNumber(text), NewDate(text), NewDateTime(text), NewCode(text), NewSymbol(text), NewUUID(text))),
			NewArg("m", NewMap(NewArg(key, NewString(text)), NewArg(text, NewNil()))))
		c.As = as
		for _, c := range []Call{c, NewCall("a.b", NewArg("k", NewString(text))), NewCall("a.b", NewArg("k", c.Args[2].Value)), NewCall("a.b", NewArg("k", c.Args[1].Value.Items()[len(text)%6]))} {
			s, ds := Parse(NewSource("", FormatCall(&c)))
			if (c.Err() != nil) != ds.HasErrors() {
				t.Fatalf("%q: %v, but %v", FormatCall(&c), c.Err(), ds)
			}
			if c.Err() == nil && (len(s.Calls) != 1 || !s.Calls[0].Equal(&c)) {
				t.Fatalf("%q reads back as %v", FormatCall(&c), s.Calls)
			}
		}
	})
}
