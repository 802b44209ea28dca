package dialog

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/tests/told"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/load"
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
	of := func(e receipt.ExternalCall) string {
		return w.changes(&receipt.Call{External: []receipt.ExternalCall{e}}, false)
	}
	told.Check(t, "dialog/not-asked-again", of(kept), of(call), "track", "post")
	reg, ds := load.Dir(fstest.MapFS{"p.yaml": {Data: []byte("domain: post\nroles:\n  - {name: clerk, description: Who writes.}\nverbs:\n  - verb: list\n    description: The letters.\n    handler: true\n    roles: [clerk]\n")}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	w = newWording(reg)
	list := func(f *receipt.File) string {
		return w.tellsCall(&receipt.Call{Verb: "post.list", Result: &receipt.Result{Columns: []string{"letter"}, Rows: [][]stores.Value{{stores.NewString("one")}}, File: f}})
	}
	told.Check(t, "dialog/file", list(&receipt.File{Name: "list.csv", Says: "CSV, 2 KB", Reference: "upload://x"}), list(nil), "list.csv")
}

// G10: what a refusal claims follows from its code, which the engine gives by the rows.
func TestARefusalIsToldByItsCode(t *testing.T) {
	t.Parallel()
	w := newWording(&verbs.Registry{}).in("de")
	of := func(code string) string { return w.refused(dsl.Diagnostics{{Code: code}}) }
	told.CheckIn(t, values.German, "dialog/refused-tool-settled", of("tool-settled"), of("tool-unknown"))
	told.CheckIn(t, values.German, "dialog/refused-upload-not-scanned", of("upload-not-scanned"), of("upload-harmful"))
	told.CheckIn(t, values.German, "dialog/refused-upload-harmful", of("upload-harmful"), of("upload-not-scanned"))
}
