package dsl

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var expectation = regexp.MustCompile(`; want ([a-z0-9-]+)@(\d+)`)

// U1, U3: the files hold chunks, apart by lines of three hyphens. A comment
// `; want code@column` stands on the line that earns the complaint, or on its
// own line below it; every complaint is expected, and none comes twice.
func TestChunksEarnTheComplaintsBesideThem(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.chunks")
	if err != nil || len(names) == 0 {
		t.Fatal("no chunks", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for chunk := range strings.SplitSeq(string(b), "\n---\n") {
			want := map[string]bool{}
			at := 0
			var text []string
			for l := range strings.SplitSeq(chunk, "\n") {
				stripped, comment, _ := strings.Cut(l, "; want")
				if comment != "" && strings.TrimSpace(stripped) == "" {
					l = "" // an expectation of its own belongs to the line above
				} else {
					at = len(text) + 1
					if comment != "" {
						l = strings.TrimRight(stripped, " ")
					}
				}
				for _, m := range expectation.FindAllStringSubmatch("; want"+comment, -1) {
					want[fmt.Sprintf("%d:%s %s", at, m[2], m[1])] = true
				}
				for _, m := range regexp.MustCompile(`, ([a-z0-9-]+)@(\d+)`).FindAllStringSubmatch(comment, -1) {
					want[fmt.Sprintf("%d:%s %s", at, m[2], m[1])] = true
				}
				text = append(text, l)
			}
			_, ds := Parse(NewSource(name, strings.Join(text, "\n")))
			for _, d := range ds {
				p := d.Place.Source.Position(d.Place.Range.Start)
				got := fmt.Sprintf("%d:%d %s", p.Line, p.Column, d.Code)
				if !want[got] {
					t.Errorf("%s:%d: not expected: %s: %s", name, line+p.Line-1, got, d.Summary)
				}
				delete(want, got)
			}
			for w := range want {
				t.Errorf("%s:%d: missing in this chunk: %s", name, line, w)
			}
			line += strings.Count(chunk, "\n") + 2
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; see it with -update and git diff\n%s", name, got)
	}
}

// U1: what a person reads, for every hateful input.
func TestPrintedDiagnostics(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"hateful", "layout"} {
		b, err := os.ReadFile("testdata/" + name + ".dsl")
		if err != nil {
			t.Fatal(err)
		}
		_, ds := Parse(NewSource(name+".dsl", string(b)))
		var out strings.Builder
		if err := ds.Print(&out, Style{}); err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/"+name+".printed", out.String())

		// U6: colour adds nothing but colour.
		var coloured strings.Builder
		if err := ds.Print(&coloured, Style{Color: true}); err != nil {
			t.Fatal(err)
		}
		if plain := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(coloured.String(), ""); plain != out.String() || plain == coloured.String() {
			t.Errorf("%s: colour changes the text", name)
		}
	}
}

func TestFormattedComments(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/comments.dsl")
	if err != nil {
		t.Fatal(err)
	}
	s, ds := Parse(NewSource("comments.dsl", string(b)))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	golden(t, "testdata/comments.formatted", Format(s))
}

// Related places stand in the same excerpt when they are near, below each
// other when they share a line, and in a note when they are in another file.
func TestPrintedRelatedPlacesNotesAndMasks(t *testing.T) {
	t.Parallel()
	text := "one: two\nthree\n\tfour  \u202e日本 five\nsix\nseven " + strings.Repeat("long ", 60) + "HERE " + strings.Repeat("tail ", 60) + "\nlast"
	src := NewSource("a.yaml", text)
	other := NewSource("b.yaml", "x\n  y\n")
	at := func(s string) Place {
		i := strings.Index(text, s)
		return Place{src, Range{int32(i), int32(i + len(s))}}
	}
	ds := Diagnostics{
		{Code: "near", Summary: "two places", Place: at("four"), Label: "here",
			Related: []Related{{at("two"), "and there"}, {Place{other, Range{4, 5}}, "declared at"}}, Notes: []string{"a note"}},
		{Severity: Warning, Code: "wide", Summary: "wide and hidden characters", Place: at("five"), Label: "after them"},
		{Code: "tab", Summary: "a tab that is pointed at", Place: at("\t"), Label: "is seen"},
		{Code: "windowed", Summary: "a long line", Place: at("HERE"), Label: "in the middle"},
		{Code: "several-lines", Summary: "a range over lines", Place: Place{src, Range{int32(strings.Index(text, "two")), int32(strings.Index(text, "five"))}}, Label: "all of it"},
		{Code: "masked", Summary: "a secret", Place: at("five"), Label: "not shown", Mask: []Range{at("five").Range, at("日").Range}},
		{Code: "end", Summary: "at the end", Place: Place{src, Range{int32(len(text)), int32(len(text))}}, Label: "something is missing"},
		{Code: "whole", Summary: "about the whole", Place: Place{Source: src}, Label: "a label", Notes: []string{"a note"}},
		{Code: "nowhere", Summary: "about nothing in particular"},
	}
	var out strings.Builder
	if err := ds.Print(&out, Style{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/places.printed", out.String())
	if strings.Contains(strings.Split(out.String(), "error[masked]")[1], "five") {
		t.Error("what is masked is shown")
	}
	b, err := json.MarshalIndent(ds[:2], "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/places.json", string(b)+"\n")
}

// Columns count what an editor counts.
func TestPositions(t *testing.T) {
	t.Parallel()
	src := NewSource("", "\ufeffé\tb\r\n日本\rx\n\ny")
	for _, c := range []struct {
		of           string
		line, column int
	}{
		{"é", 1, 1}, {"\t", 1, 2}, {"b", 1, 3}, {"日", 2, 1}, {"本", 2, 2}, {"x", 3, 1}, {"y", 5, 1},
	} {
		i := strings.Index(src.Text, c.of)
		if p := src.Position(int32(i)); p != (Position{c.line, c.column}) {
			t.Errorf("%q stands at %v", c.of, p)
		}
	}
	for n, want := range []string{"", "é\tb", "日本", "x", "", "y", ""} {
		if got := src.Line(n); got != want {
			t.Errorf("line %d is %q", n, got)
		}
	}
	if p := src.Position(-5); p != (Position{1, 1}) {
		t.Error(p)
	}
	if p := src.Position(1 << 30); p != (Position{5, 2}) {
		t.Error(p)
	}
}
