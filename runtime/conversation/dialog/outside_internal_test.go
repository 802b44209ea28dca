package dialog

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"verbatim/runtime/conversation/values"
)

// Messages in four languages by somebody who had not read the code, beside others that only sound alike.
// The words of the tongues were written before the sets came, judged once on them, and not changed for
// them. A complaint that is missed is told, like each message that is not understood, that a person can
// be asked for (O25, G74); a decision that is missed agrees to nothing (G75).
func TestKindsOfMessagesOfOthers(t *testing.T) {
	t.Parallel()
	for file, c := range map[string]struct {
		said         func() *regexp.Regexp
		kinds        string
		found, wrong int // at least, at most
	}{
		"complaints.tsv": {complaint, "complaint", 11, 1},
		"approvals.tsv":  {deciding, "WAITING APPROVE REFUSE", 15, 0},
	} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found, wrong, of := 0, 0, 0
		for line := range strings.Lines(string(text)) {
			part := strings.Split(strings.TrimSpace(line), "\t")
			if len(part) != 3 {
				t.Fatalf("%s: %q", file, line)
			}
			of++
			switch is := c.said().MatchString(values.Plain(part[2])); {
			case !is:
			case strings.Contains(c.kinds, part[1]):
				found++
			default:
				wrong++
			}
		}
		if found < c.found || wrong > c.wrong || of < 80 {
			t.Errorf("%s: %d found, %d wrongly, of %d", file, found, wrong, of)
		}
	}
}
