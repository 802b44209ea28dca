package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Replaying the steps on the one text gives the other.
func TestAlignLeadsFromOneTextToTheOther(t *testing.T) {
	t.Parallel()
	lines := rapid.SliceOf(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n"}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := lines.Draw(t, "a"), lines.Draw(t, "b")
		var before, after []string
		for _, s := range align(a, b) {
			if s.a != len(before) || s.b != len(after) {
				t.Fatalf("a step stands at %d, %d; it is at %d, %d", s.a, s.b, len(before), len(after))
			}
			if s.op != '+' {
				before = append(before, s.line)
			}
			if s.op != '-' {
				after = append(after, s.line)
			}
		}
		if strings.Join(before, "") != strings.Join(a, "") || strings.Join(after, "") != strings.Join(b, "") {
			t.Fatalf("the steps lead from %q to %q", before, after)
		}
	})
}

// What is printed is a patch: the tool of that name makes the second text of
// the first.
func TestDiffIsAPatch(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("there is no patch program here")
	}
	dir := t.TempDir()
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "e\n"}), 1, 40)
	rapid.Check(t, func(t *rapid.T) {
		before, after := strings.Join(lines.Draw(t, "a"), ""), strings.Join(lines.Draw(t, "b"), "")
		if rapid.Bool().Draw(t, "cut") {
			before = strings.TrimSuffix(before, "\n")
		}
		if before == after {
			return
		}
		name := filepath.Join(dir, "text")
		if err := os.WriteFile(name, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		writeDiff(&b, "text", "formatted", before, after)
		cmd := exec.Command("patch", "-s", "-u", name)
		cmd.Stdin = strings.NewReader(b.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, b.String())
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != after {
			t.Fatalf("patched to %q, %q wanted, by\n%s", got, after, b.String())
		}
	})
}
