package kyc

import (
	"os"
	"strings"
	"testing"
)

// Messages of peers by two people who had not read the code: the words were made with peers-seen.tsv,
// and peers.tsv judged them once. Of its 120, 53 were right before those words and 93 with
// them. At least the share that is told as confidence is right. (H5, G76)
func TestPeersOfOthers(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]int{"peers.tsv": 93, "peers-seen.tsv": 101} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		right, of := 0, 0
		by := map[float64][2]int{}
		for line := range strings.Lines(string(text)) {
			part := strings.Split(strings.TrimSpace(line), "\t")
			if len(part) != 3 {
				t.Fatalf("%s: %q", file, line)
			}
			of++
			r := route(&Message{Type: part[0], Text: part[2]})
			n := by[r.Confidence]
			if n[1]++; r.DetectedIntent == part[1] {
				right++
				n[0]++
			}
			by[r.Confidence] = n
		}
		for confidence, n := range by {
			if confidence > 0.5 && float64(n[0]) < confidence*float64(n[1]) {
				t.Errorf("%s: of those at %g %d of %d are right", file, confidence, n[0], n[1])
			}
		}
		if right < least || of != 120 {
			t.Errorf("%s: %d of %d, want %d", file, right, of, least)
		}
	}
}
