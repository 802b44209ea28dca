package norace

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var child = flag.String("child", "", "what the test does that is run again: pass, fail, skip")

func TestMain(m *testing.M) { os.Exit(Cleanup(m.Run())) }

// What becomes of a test in the other binary becomes of it here: a failure is a failure.
// Whatever stands beside a test in its name is not run.
func TestATestFailsAsItDoesWithoutTheDetector(t *testing.T) {
	t.Parallel()
	if !on {
		t.Skip("SKIPPED, NOT TESTED: the race detector is off")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]string{
		"pass": "--- PASS: TestAgain/a_case+1",
		"fail": "it fails without the detector",
		"skip": "--- SKIP: TestAgain/a_case+1",
	} {
		said, err := exec.Command(self, "-test.v", "-test.run", "^TestAgain$", "-child", what).CombinedOutput()
		if failed := err != nil; failed != (what == "fail") || !strings.Contains(string(said), want) || strings.Contains(string(said), "another case") {
			t.Errorf("%s: %v\n%s", what, err, said)
		}
	}
}

func TestAgain(t *testing.T) {
	t.Run("a case+1", func(t *testing.T) {
		if *child == "" || Run(t) {
			return
		}
		switch *child {
		case "fail":
			t.Error("it fails without the detector")
		case "skip":
			t.Skip("not here")
		}
	})
	t.Run("a case+1 and more", func(t *testing.T) {
		if *child != "" && !on {
			t.Error("another case")
		}
	})
}
