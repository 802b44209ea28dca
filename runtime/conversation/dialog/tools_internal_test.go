package dialog

import (
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// What a tool is sent is told with its origin (G63), and whether the tool was asked or its answer was
// there already (G15), at a time of the person's own clock.
func TestWhatAToolWasAskedIsTold(t *testing.T) {
	t.Parallel()
	call := receipt.ExternalCall{Server: "post", Name: "track", Sent: []receipt.Sent{{Key: "text", Value: stores.NewString("now"), Origin: "document=offer.pdf"}}}
	kept := call
	kept.Answered = stores.NewTime(time.Date(2025, 1, 3, 9, 30, 0, 0, time.UTC))
	w := wording{tongue: values.English, language: "en", reg: &verbs.Registry{}, zone: time.FixedZone("", 3600), lacks: new(bool)}
	for want, e := range map[string]receipt.ExternalCall{"It asks the tool track of post": call, "track of post is not asked again, but its answer of 3 January 2025 10:30 is used": kept} {
		if said := w.changes(&receipt.Call{External: []receipt.ExternalCall{e}}, false); !strings.Contains(said, want) || !strings.Contains(said, "(from offer.pdf)") {
			t.Errorf("%q", said)
		}
	}
}
