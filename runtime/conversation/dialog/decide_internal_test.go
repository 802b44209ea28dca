package dialog

import (
	"os"
	"strings"
	"testing"

	"verbatim/runtime/conversation/values"
)

// What managers write about what waits for them, in four languages, beside other messages of theirs, by
// somebody who had not read the code. The words of the tongues were written before the set came, judged
// once on it, and not changed for it. What is missed agrees to nothing: it is not understood. (G75)
func TestDecisionsOfOthers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/approvals.tsv")
	if err != nil {
		t.Fatal(err)
	}
	found, of, wrong, others := 0, 0, 0, 0
	for line := range strings.Lines(string(text)) {
		part := strings.Split(strings.TrimSpace(line), "\t")
		is := deciding().MatchString(values.Plain(part[2]))
		switch part[1] {
		case "WAITING", "APPROVE", "REFUSE":
			if of++; is {
				found++
			}
		default:
			if others++; is {
				wrong++
			}
		}
	}
	if found < 15 || of != 34 || wrong > 0 || others != 46 {
		t.Errorf("%d of %d, %d of %d wrongly", found, of, wrong, others)
	}
}
