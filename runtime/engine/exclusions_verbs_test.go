package engine_test

import (
	"strings"
	"testing"

	"verbatim/dsl"
)

const excluding = `
  - verb: ring-them
    description: A note on a loan, by way of another verb.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    script: lending.ring :loan-id @loan-id :note "x"

  - verb: once
    description: A note that is left once in a script.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    excludes:
      - {verb: lending.once, same: loan-id, else: once is enough}
    effects:
      - updates: loan.note
        where: loan-id
        set: {note: "'once'"}
`

// OB5: verbs that do not go together are not carried out in one script: check tells of
// those that the script shows, and the engine refuses the others.
func TestVerbsThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": lendingText(t) + excluding}), nil)
	kim := w.session("kim")
	told := func(script string) string {
		s, ds := dsl.Parse(dsl.NewSource("x.dsl", script))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		_, ds = kim.Check(t.Context(), s)
		var all []string
		for _, d := range ds {
			all = append(all, d.Code+" "+d.Summary)
		}
		return strings.Join(all, "; ")
	}
	const (
		extend = "lending.extend :loan-id @saw-bob :new-date 2025-02-01\n"
		other  = "lending.extend :loan-id @tent-ann :new-date 2024-12-10\n"
		ring   = "lending.ring :loan-id @saw-bob :note \"x\"\n"
		drop   = "lending.drop-loan :loan-id @tent-ann\n"
	)
	for script, want := range map[string]string{
		extend + ring: "not-together who asks for more time is not reminded",
		other + ring:  "",
		ring + extend: "",
		ring + drop:   "not-together first things first",
		drop + ring:   "not-together first things first",
		"lending.once :loan-id @saw-bob lending.once :loan-id @saw-bob":  "not-together once is enough",
		"lending.once :loan-id @saw-bob lending.once :loan-id @tent-ann": "",
	} {
		if got := told(script); got != want {
			t.Errorf("%s: told %q, want %q", script, got, want)
		}
	}
	for script, refused := range map[string]bool{
		// What check does not see: a macro's calls.
		extend + "lending.ring-them :loan-id @saw-bob": true,
		drop + "lending.ring-them :loan-id @saw-bob":   true,
		"lending.ring-them :loan-id @saw-bob\n" + drop: true,
		other + "lending.ring-them :loan-id @saw-bob":  false,
	} {
		if refused {
			w.refused("kim", script, "not-together")
		} else {
			w.done("kim", script)
		}
	}
}
