package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The list says what it means, and each line to spoil is still there. Whether
// the faults are caught is a matter of minutes: make faults.
func TestFaultsAreUpToDate(t *testing.T) {
	t.Parallel()
	faults, err := read("faults.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) < 40 {
		t.Errorf("only %d faults", len(faults))
	}
	for _, f := range faults {
		if err := f.fits("../../.."); err != nil {
			t.Errorf("%s %s: %v", f.id, f.what, err)
		}
	}
}

// A fault is run in the module of its test.
func TestATestMayStandInAnotherModule(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	for pkg, want := range map[string][2]string{
		"./dsl":                              {root, "./dsl"},
		"./cmd/internal/mutants":             {root, "./cmd/internal/mutants"},
		"./cmd/internal/manifests":           {root + "/cmd/internal/manifests", "./"},
		"./cmd/internal/manifests/kinds/old": {root + "/cmd/internal/manifests", "./kinds/old"},
	} {
		if dir, in := (fault{pkg: pkg}).module(root); dir != filepath.FromSlash(want[0]) || in != want[1] {
			t.Errorf("%s is %s in %s", pkg, in, dir)
		}
	}
}

// SAFE-L3: of a package whose test looks at every case but one, the mutants of that
// one survive and all others are noticed; what no test reaches survives as well.
func TestMutantsThatSurviveAreTold(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module toll\n\ngo 1.26\n",
		"runtime/engine/permit.go": `package engine

func Fee(age int, member bool) (fee int) {
	fee = 10
	if age < 6 || member && age < 18 {
		return 0
	}
	if age > 64 {
		fee = 5
	}
	return fee
}

func Free(age int) bool { return age == 0 }
`,
		"runtime/engine/permit_test.go": `package engine

import "testing"

func TestFee(t *testing.T) {
	for _, c := range []struct {
		age    int
		member bool
		fee    int
	}{{5, false, 0}, {6, false, 10}, {17, true, 0}, {18, true, 10}, {17, false, 10}, {70, false, 5}, {3, true, 0}} {
		if fee := Fee(c.age, c.member); fee != c.fee {
			t.Errorf("%d: %d", c.age, fee)
		}
	}
}
`,
	} {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if code := mutate(root, []string{"permit.go"}, &out); code != 0 {
		t.Fatalf("exit %d: %s", code, &out)
	}
	var survived []string
	for line := range strings.Lines(out.String()) {
		if rest, ok := strings.CutPrefix(line, "SURVIVED  runtime/engine/permit.go:"); ok {
			survived = append(survived, strings.TrimSpace(rest))
		}
	}
	want := []string{"8:5  another boundary of age > 64 (1 of 1 tests that reach it were run and pass)", "14:34  not age == 0 (no test reaches it)"}
	if !slices.Equal(survived, want) || !strings.Contains(out.String(), "of 16 mutants were noticed") {
		t.Errorf("%s", &out)
	}
}
