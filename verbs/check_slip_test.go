package verbs

import (
	"slices"
	"testing"

	"verbatim/dsl"
)

// U3: an argument that is missing and one that is not known are one complaint,
// with its fix, where the one is plainly the other misspelt, and two where two
// things are wrong.
func TestOneSlipIsOneComplaint(t *testing.T) {
	t.Parallel()
	bank := newBank()
	for text, want := range map[string][]string{
		`client.add-note :request-id @pierre-sow :notes "x"`:         {"unknown-argument"},
		`client.add-note :request_id @pierre-sow :note "x"`:          {"unknown-argument"},
		`client.add-note :request @pierre-sow :note "x"`:             {"unknown-argument"},
		`client.add-note :request-id @pierre-sow :colour "x"`:        {"missing-argument", "unknown-argument"},
		`client.add-note :request-id @pierre-sow :note "x" :note2 1`: {"unknown-argument"},
		`client.add-note :notes "x"`:                                 {"missing-argument", "unknown-argument"},
	} {
		script, ds := dsl.Parse(dsl.NewSource("-", text))
		if len(ds) > 0 {
			t.Fatal(inWords(ds))
		}
		_, ds = bank.Check(script, bank.session())
		var codes []string
		for _, d := range ds {
			codes = append(codes, d.Code)
		}
		if slices.Sort(codes); !slices.Equal(codes, want) {
			t.Errorf("%s:\n%s", text, inWords(ds))
		}
		if len(want) == 1 && text != `client.add-note :request-id @pierre-sow :note "x" :note2 1` && (len(ds) == 0 || len(ds[0].Fixes) != 1) {
			t.Errorf("%s: no fix is offered", text)
		}
	}
}
