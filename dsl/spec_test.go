package dsl

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// OB2: calls in both forms, lists, maps, nested calls, comments, uuids and
// places, as the specification describes them. Its examples run, and its
// grammar is the one declared.
func TestSpecification(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	block := regexp.MustCompile("(?s)```ebnf\n.*?```")
	want := "```ebnf\n" + Syntax() + "```"
	if *update {
		text = block.ReplaceAllLiteralString(text, want)
		if err := os.WriteFile("SPEC.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := block.FindString(text); got != want {
		t.Errorf("the grammar in SPEC.md is\n%s\nand should be (with -update)\n%s", got, want)
	}
	counts := map[string]int{}
	for _, m := range regexp.MustCompile("(?s)```dsl ?([a-z]*)\n(.*?)```").FindAllStringSubmatch(text, -1) {
		counts[m[1]]++
		s, ds := Parse(NewSource("SPEC.md", m[2]))
		if (m[1] == "wrong") != ds.HasErrors() {
			t.Errorf("%s\nearns %v", m[2], ds)
		}
		if err := sameAsGrammar(m[2]); err != nil {
			t.Errorf("%s\n%v", m[2], err)
		}
		if got := Format(s); m[1] == "canonical" && got != m[2] {
			t.Errorf("%s\nis written\n%s", m[2], got)
		}
	}
	if counts[""] < 4 || counts["wrong"] == 0 || counts["canonical"] == 0 {
		t.Errorf("examples: %v", counts)
	}
	// The values in the table.
	for _, m := range regexp.MustCompile(`(?m)^\| [a-z ]+ \| ([^|]*\x60) \|`).FindAllStringSubmatch(text, -1) {
		for _, v := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[1], -1) {
			if strings.HasPrefix(v[1], `\`) {
				v[1] = `"` + v[1] + `"`
			}
			if _, ds := Parse(NewSource("", "a.b :x "+v[1])); ds.HasErrors() {
				t.Errorf("%s: %v", v[1], ds)
			}
		}
	}
}
