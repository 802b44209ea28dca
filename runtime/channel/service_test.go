package channel

import (
	"strings"
	"testing"
)

// K2 K12 K35: a known sender is answered in their scope, by mail and by WhatsApp.
func TestAKnownPersonIsAnswered(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		out := w.hears(w.mail("ada@umza.example", "m1", "What is the status of Solar One?"))
		if len(out) != 1 || out[0].To != "ada@umza.example" || !strings.Contains(out[0].Text, "Solar One") || out[0].ReplyTo != "m1" {
			t.Fatalf("%+v", out)
		}
		out = w.hears(w.whatsapp("491515550199", "w1", "status of Solar One"))
		if len(out) != 1 || out[0].To != "491515550199" || !strings.Contains(out[0].Text, "Solar One") {
			t.Fatalf("%+v", out)
		}
		// What another organisation has is not there.
		out = w.hears(w.mail("ada@umza.example", "m2", "status of Secret Three"))
		if len(out) != 1 || strings.Contains(out[0].Text, "Secret Three") && !strings.Contains(out[0].Text, "not") {
			t.Fatalf("%+v", out)
		}
	})
}
