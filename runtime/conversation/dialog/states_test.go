package dialog_test

import (
	"os"
	"strings"
	"testing"

	"verbatim/runtime/conversation/dialog"
)

// The states and their moves stand in the package's documentation as they are. (X9)
func TestTheStatesAreDrawn(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "// A message moves it, by what it is taken for:\n//\n", "//\n// The states"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("doc.go has no place for the table")
	}
	var drawn strings.Builder
	for line := range strings.Lines(dialog.Moves()) {
		drawn.WriteString("//\t" + line)
	}
	want := before + begin + drawn.String() + end + after
	if *update {
		if err := os.WriteFile("doc.go", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("doc.go has another table (-update writes it):\n%s", dialog.Moves())
	}
}
