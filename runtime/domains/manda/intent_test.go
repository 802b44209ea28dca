package manda

import (
	"os"
	"strings"
	"testing"
)

// M18 to M25: questions are understood that the author of questions.txt thought of. How well
// those of others are, says paraphrases.yaml of examples/manda.
func TestIntentsAreRead(t *testing.T) {
	t.Parallel()
	asks, err := os.ReadFile("testdata/asks.txt")
	if err != nil {
		t.Fatal(err)
	}
	n, right := 0, 0
	for line := range strings.Lines(string(asks)) {
		intent, text, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for _, in := range [...][]string{{"METRIC", "revenue", "EBITDA"}, {"PERIOD", "2024", "2023"}, {"THING", "lease agreements", "patents"}} {
			for _, is := range in[1:] {
				text = strings.Replace(text, in[0], is, 1)
			}
		}
		if n++; Read(text, "Acme", nil).Intent == Intent(intent) {
			right++
		} else {
			t.Logf("%s: %s, and not %s", text, Read(text, "Acme", nil).Intent, intent)
		}
	}
	if n < 300 || right < 300 {
		t.Errorf("%d of %d are understood", right, n)
	}
}

// A change of control is a clause of a contract, and no change to be compared.
func TestAChangeOfControlIsNoComparison(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{"Which contracts have a change of control clause?", "Does Nordwerk have a change of control right?", "Quels contrats prévoient un changement de contrôle ?"} {
		if q := Read(asked, "Acme", nil); q.Intent == Comparison {
			t.Errorf("%s: %s", asked, q.Intent)
		}
	}
	if q := Read("How did EBITDA change from 2023 to 2024?", "Acme", nil); q.Intent != Comparison {
		t.Errorf("a change is %s", q.Intent)
	}
}
