package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// U15, as far as it exists: the demonstration tells its story to the end, in 32
// lines that fit a screen, and shows nothing that went wrong unasked.
func TestDemoTellsItsStory(t *testing.T) {
	t.Parallel()
	bin := t.TempDir() // TestReadmeIsTrue has the demonstration build the program
	if err := putProgram(bin); err != nil {
		t.Fatal(err)
	}
	demo := exec.Command("bash", "../../examples/client/demo.sh")
	demo.Env = append(os.Environ(), "PROGRAM_DIR="+bin, "DEMO=exit")
	out, err := demo.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := string(out)
	if n := strings.Count(text, "\n"); n > 32 {
		t.Errorf("it has %d lines", n)
	}
	last := 0
	for _, want := range []string{
		"build     verbatim", "store     demo.db", "palettes  3 palettes, 35 verbs, 0 errors",
		"preview  1 call would change 2 rows in 2 tables and schedule 1 job", `client_notes   (empty) -> "Waiting on accountant"`, "remind_on      ",
		" calls client.remind", "She sends passport.pdf: upload://", "applied  2 calls changed 5 rows",
		"refused[origin]: :iban must come from a person or a record; this came from letter.pdf", "next: a person says it",
		"clara\tok\tclient.add-note", "clara\trefused:origin\tclient.name-repayment-account",
		"Noted for Pierre Dupont (source of wealth)", "You are at 94 %",
		"sign in   clara  http://localhost:", "sign in   t.weber  http://localhost:",
	} {
		i := strings.Index(text[last:], want)
		if i < 0 {
			t.Fatalf("%q does not follow:\n%s", want, text)
		}
		last += i
	}
	if strings.Contains(text, "verbatim:") {
		t.Errorf("something went wrong:\n%s", text)
	}
}
