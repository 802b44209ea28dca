package channel_test

import (
	"flag"
	"os"
	"testing"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/mail"
	"verbatim/runtime/tests/norace"
)

var agreeing = flag.Int("agreeing", 3, "play one in `so many` of the cases that agree: 1 for all, or 3; those that do not are all played")

// U36: of messages written by four people who have not read the code, none is taken for a yes
// that is none. When they were first measured, 2 of 182, 2 of 144 and 3 of 164 that are none
// were: somebody trails off; a quote is of another question; two questions are open and the
// first is meant (which the author calls no agreement); and, four times, words below a
// signature take it back. What reads answers was changed by that. Then 0 of 150 were in the
// fourth set, which nobody has looked at, and 76 of its 90 that agree were asked about again.
// Since a yes may say back what was asked, it is none of 150, and 66: measured once. The
// questions of the four sets are in English, whatever the answers are in; yes-said-back has
// some of ours in other languages, about other things. The fifth, whose author knew no code
// either, is asked in the language of the answers, about three matters: none of 150, and 51.
// Since one question stands at a time (G4), a bare yes after two of them is to the newest, which the
// authors, who knew of two open questions, call no agreement: those cases have to agree to one at most.
func TestNoYesIsTakenWrongly(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	for _, c := range []struct {
		name   string
		counts map[int][2]int // by -agreeing: cases, and how many that agree may be asked about again
	}{
		{"yes-1.jsonl", map[int][2]int{1: {275, 8}, 3: {213, 4}}}, {"yes-2.jsonl", map[int][2]int{1: {240, 40}, 3: {176, 15}}}, {"yes-3.jsonl", map[int][2]int{1: {220, 9}, 3: {182, 3}}},
		{"yes-4.jsonl", map[int][2]int{1: {240, 66}, 3: {180, 24}}}, {"yes-5.jsonl", map[int][2]int{1: {240, 51}, 3: {180, 16}}}, {"yes-said-back.jsonl", map[int][2]int{1: {16, 0}, 3: {8, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("testdata/" + c.name)
			if err != nil {
				t.Fatal(err)
			}
			wrong, missed, all := channel.RunYes(t, text, *agreeing, mail.Split)
			t.Logf("%d cases: %d agreed wrongly, %d that agree were asked about again", all, wrong, missed)
			if counts, known := c.counts[*agreeing]; !known || all < counts[0] || missed > counts[1] {
				t.Errorf("%d cases, %d asked about again", all, missed)
			}
		})
	}
}
