package dialog

import (
	"os"
	"strings"
	"testing"
)

// Complaints in four languages, and messages that only sound like one, by somebody who had not read the
// code. The words of the tongues were written before the set came, judged once on it, and not changed
// for it: most complaints use no word of their own, and are told like each message that is not
// understood that a person can be asked for. (O25, G74)
func TestComplaintsOfOthers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/complaints.tsv")
	if err != nil {
		t.Fatal(err)
	}
	found, of, wrong, others := 0, 0, 0, 0
	for line := range strings.Lines(string(text)) {
		part := strings.Split(strings.TrimSpace(line), "\t")
		if len(part) != 3 {
			continue
		}
		is := complains(part[2])
		switch {
		case part[1] == "complaint":
			if of++; is {
				found++
			}
		default:
			if others++; is {
				wrong++
			}
		}
	}
	if found < 11 || of != 60 || wrong > 1 || others != 60 {
		t.Errorf("%d of %d found, %d of %d wrongly", found, of, wrong, others)
	}
}
