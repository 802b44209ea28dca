package drift

import (
	"strings"
	"testing"
)

// What a list of codes lets follow, and the schemas that its codes have, are
// limits: to loosen one is a lowering like any other, to tighten it is none.
func TestDriftOfCodes(t *testing.T) {
	t.Parallel()
	const base = `domain: bank
roles: [{name: teller}]
schemas:
  note: {type: object, required: [text], properties: {text: {type: string}}}
  open: {type: object}
codes:
  - {name: step, values: [{code: OPEN, to: [DONE]}, {code: LATE, to: [DONE]}, DONE]}
  - {name: kind, values: [{code: NOTE, schema: note}]}
verbs:
  - verb: tell
    roles: [teller]
    args:
      - {name: kind, type: code, ref-type: kind, required: true}
      - {name: what, type: object, required: true, schema-of: kind}
    effects: [{notifies: teller}]
`
	for _, c := range []struct{ from, to, says string }{
		{"{code: OPEN, to: [DONE]}", "{code: OPEN, to: [DONE, LATE]}", "OPEN of step may be followed by other codes"},
		{"{code: OPEN, to: [DONE]}, {code: LATE, to: [DONE]}", "OPEN, LATE", "OPEN of step may be followed by other codes"},
		{"schema: note}", "schema: open}", "NOTE of kind has another schema, or none"},
		{", schema-of: kind", "", "bank.tell :what takes any object"},
		{"{code: OPEN, to: [DONE]}", "OPEN", ""},
	} {
		if !strings.Contains(base, c.from) {
			t.Fatal(c.from)
		}
		before, after := loadText(t, "bank.yaml", base), loadText(t, "bank.yaml", strings.Replace(base, c.from, c.to, 1))
		var told []string
		for _, d := range Between(before, after) {
			told = append(told, d.Summary)
		}
		if all := strings.Join(told, "\n"); c.says == "" && all != "" || !strings.Contains(all, c.says) {
			t.Errorf("%s: %q is not told: %q", c.to, c.says, all)
		}
	}
}
