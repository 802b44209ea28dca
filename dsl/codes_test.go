package dsl

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// U4: every code is explained by a wrong and a right example, and both run.
func TestEveryCodeIsExplainedByExamplesThatRun(t *testing.T) {
	t.Parallel()
	docs := Codes()
	var codes []string
	for _, d := range docs {
		codes = append(codes, d.Code)
		_, ds := d.Limits.Parse(NewSource("wrong", d.Wrong))
		got := map[string]int{}
		for _, d := range ds {
			got[d.Code]++
		}
		if got[d.Code] == 0 || len(got) > 1 && d.Code != "too-many-mistakes" {
			t.Errorf("%s: the wrong example earns %v", d.Code, got)
		}
		if _, ds := d.Limits.Parse(NewSource("right", d.Right)); len(ds) > 0 {
			t.Errorf("%s: the right example earns %v", d.Code, ds)
		}
	}
	if !slices.IsSorted(codes) {
		t.Error("the codes are not in order")
	}
	// The messages name their codes as literals.
	messages, err := os.ReadFile("messages.go")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range regexp.MustCompile(`(?:mistake\(|with\(|Code: |code, \w+ := |code, \w+ = |\{)"([a-z0-9]+(?:-[a-z0-9]+)+)"`).FindAllStringSubmatch(string(messages), -1) {
		named = append(named, m[1])
	}
	slices.Sort(named)
	named = slices.Compact(named)
	if !slices.Equal(named, codes) {
		t.Errorf("messages.go reports\n%q\nand Codes documents\n%q", named, codes)
	}
}

// The fixes of a wrong example leave nothing to complain about.
func TestFixesSettleTheirDiagnostics(t *testing.T) {
	t.Parallel()
	fixed := 0
	for _, d := range Codes() {
		_, ds := d.Limits.Parse(NewSource("wrong", d.Wrong))
		fixes := ds.Fixes(false)
		if len(fixes) == 0 {
			continue
		}
		fixed++
		text, made := ApplyFixes(d.Wrong, fixes)
		if _, left := d.Limits.Parse(NewSource("fixed", text)); made == 0 || len(left) > 0 {
			t.Errorf("%s: %q became %q, which earns %v", d.Code, d.Wrong, text, left)
		}
	}
	if fixed < 30 {
		t.Errorf("only %d codes have fixes", fixed)
	}
}
