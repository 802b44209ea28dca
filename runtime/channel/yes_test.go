package channel_test

import (
	"os"
	"testing"

	"verbatim/runtime/channel"
	"verbatim/runtime/channel/mail"
)

// U36 SAFE: of messages written by somebody who has not read the code, none is taken for a yes
// that is none.
func TestNoYesIsTakenWrongly(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/yes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	wrong, missed, all := channel.RunYes(t, text, mail.Split)
	t.Logf("%d cases: %d agreed wrongly, %d that agree were not taken for a yes", all, wrong, missed)
	if all < 200 {
		t.Errorf("only %d cases", all)
	}
}
