package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var providersEvery = flag.Int("providers-every", 12, "play one in so many of the behaviours of endpoints that were publicly reported")

// 54: endpoints that behave as somebody who had not read the code found it reported either work or are
// told in one sentence that says what to change. testdata/providers-seen/README.md says how that is
// judged. A share of them is played here, since each takes two runs of the program; all kinds are
// tested in runtime/conversation/llm.
func TestEndpointsAsReported(t *testing.T) {
	t.Parallel()
	built := outsideBuilt(t)
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("TEST_JUDGES") != "" {
			t.Fatal("there is no node: make node installs it")
		}
		t.Skip("there is no node: make node installs it")
	}
	const folder = "testdata/providers-seen"
	var cases []byte
	for _, name := range []string{"cases.jsonl", "cases-2.jsonl"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, text...)
	}
	args := []string{filepath.Join(folder, "run.mjs"), "control"}
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(cases)); lines.Scan(); n++ {
		var c struct{ Name string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if n%*providersEvery == 0 {
			args = append(args, c.Name)
		}
	}
	if n != 80 {
		t.Fatalf("there are %d behaviours", n)
	}
	data, err := filepath.Abs("../../examples/client")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "VERBATIM=" + built, "CLIENT_DATA=" + data, "TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	right := strings.Count("\n"+string(out), "\nright ") + strings.Count("\n"+string(out), "\nsentence ")
	if err != nil || right != len(args)-1 {
		t.Errorf("%d of %d, %v\n%s", right, len(args)-1, err, out)
	}
}
