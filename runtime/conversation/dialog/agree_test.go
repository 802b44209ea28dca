package dialog_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"verbatim/runtime/conversation/dialog"
)

// SAFE-C7: what is a yes, in four languages, and above all what is none.
func TestWhatIsAYes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/agree.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases, wrongly := 0, 0
	for n, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		want, said, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("line %d has no tab", n+1)
		}
		cases++
		verdict, which := dialog.Answered(strings.ReplaceAll(said, `\n`, "\n"))
		got := verdict
		if which != 0 {
			got += " " + strconv.Itoa(which)
		}
		if got != want {
			t.Errorf("line %d: %q is %q, want %q", n+1, said, got, want)
		}
		if verdict == "yes" && !strings.HasPrefix(want, "yes") {
			wrongly++
		}
	}
	if cases < 200 {
		t.Errorf("only %d cases", cases)
	}
	if wrongly > 0 {
		t.Errorf("%d of %d would confirm wrongly", wrongly, cases)
	}
}
