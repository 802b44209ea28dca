package intent

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

const freightPalette = `
domain: freight
roles: [{name: member}]
entities:
  team:
    {managed: true, key: team_id, scope: self, label: "{name}", fields: {name: {type: string}}}
  shipment:
    {managed: true, key: shipment_id, scope: team, label: "{number}", fields: {team: {type: ref, ref-type: team, required: true}, number: {type: string}}}
  package:
    {managed: true, key: package_id, scope: team, label: "{mark}", fields: {team: {type: ref, ref-type: team, required: true}, mark: {type: string}}}
  bill:
    {managed: true, key: bill_id, scope: team, label: "{number}", fields: {team: {type: ref, ref-type: team, required: true}, number: {type: string}}}
  crane:
    {managed: true, key: crane_id, scope: team, label: "crane {number}", fields: {team: {type: ref, ref-type: team, required: true}, number: {type: string}}}
verbs:
  - verb: look
    description: Where a shipment is.
    roles: [member]
    phrases: ["where is {shipment-id}", "what about {shipment-id}", "wo ist {shipment-id}", "was ist mit {shipment-id}"]
    args: [{name: shipment-id, type: ref, ref-type: shipment, required: true}]
    effects: [{notifies: desk}]
  - verb: inside
    description: All that is in a package.
    roles: [member]
    phrases: ["what is in {package-id}", "was ist in {package-id}"]
    args: [{name: package-id, type: ref, ref-type: package, required: true}]
    effects: [{notifies: desk}]
  - verb: split
    description: Divide a package.
    roles: [member]
    phrases: ["split {package-id} into {pieces} pieces"]
    args:
      - {name: pieces, type: integer, required: true}
      - {name: package-id, type: ref, ref-type: package, required: true}
    effects: [{notifies: desk}]
  - verb: lift
    description: Lift something.
    roles: [member]
    phrases: ["lift it with {crane-id}"]
    args: [{name: crane-id, type: ref, ref-type: crane, required: true}]
    effects: [{notifies: desk}]
  - verb: pay
    description: Pay a bill.
    roles: [member]
    phrases: ["pay {bill-id}", "pay the bill {bill-id}", "bezahle {bill-id}"]
    args: [{name: bill-id, type: ref, ref-type: bill, required: true}]
    effects: [{notifies: desk}]
  - verb: book
    description: Book a shipment.
    roles: [member]
    phrases: ["book a shipment {number}"]
    args:
      - {name: number, type: string, required: true, pattern: "[A-Z]{2}-[0-9]{4}"}
      - {name: replaces, type: ref, ref-type: shipment}
    effects: [{notifies: desk}]
`

func labelReader(t *testing.T) (*Reader, *verbs.Registry) {
	reg, ds := loading.Dir(fstest.MapFS{"freight.yaml": {Data: []byte(freightPalette)}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return New(reg).Reader(Vocabulary{Verbs: reg.Verbs(), Names: map[*verbs.Entity][]string{
		reg.Entity("shipment"): {"ab-1234", "ab-1234-b", "a-12", "b-12", "ms-0004", "ms-0100", "ms-0004-pallets-lyon"},
		reg.Entity("package"):  {"c1", "p1", "x1", "x2", "x1-spare", "px-7", "b2b-samples", "crate-t2", "bay-5", "d7~01vgh30ah7rs", "d7~9crk2m5qx8t1"},
		reg.Entity("crane"):    {"crane-c4"},
		reg.Entity("bill"):     {"bill-2024-17", "bill-2024-18", "bill-17-2024", "inv-2024-7", "inv-2024-7-1"},
	}}), reg
}

// A label that holds digits beside letters or marks means its row, however its parts read alone:
// "Ms" is a title, "a" an article, "-0004" a number, and other rows have the same parts.
func TestRowsAreFoundByTheirLabels(t *testing.T) {
	t.Parallel()
	r, _ := labelReader(t)
	for said, want := range map[string]string{
		"where is MS-0004":            "freight.look :shipment-id @ms-0004",
		"Where is MS-0004?":           "freight.look :shipment-id @ms-0004",
		"where is ms-0100":            "freight.look :shipment-id @ms-0100",
		"where is ms 0100":            "freight.look :shipment-id @ms-0100",
		"where is 0100":               "freight.look :shipment-id @ms-0100",
		"where is AB-1234":            "freight.look :shipment-id @ab-1234",
		"where is AB-1234-B":          "freight.look :shipment-id @ab-1234-b",
		"where is A-12?":              "freight.look :shipment-id @a-12",
		"Wo ist MS-0004?":             "freight.look :shipment-id @ms-0004",
		"Was ist mit MS-0100?":        "freight.look :shipment-id @ms-0100",
		"what is in X1":               "freight.inside :package-id @x1",
		"what is in the spare X1?":    "freight.inside :package-id @x1-spare",
		"what is in x1?":              "freight.inside :package-id @x1",
		"Was ist in X2?":              "freight.inside :package-id @x2",
		"what is in the B2B samples":  "freight.inside :package-id @b2b-samples",
		"what is in crate T2":         "freight.inside :package-id @crate-t2",
		"what is in T2":               "freight.inside :package-id @crate-t2",
		"what is in bay5":             "freight.inside :package-id @bay-5",
		"split X1 into 3 pieces":      "freight.split :pieces 3 :package-id @x1",
		"split PX-7 into 3 pieces":    "freight.split :pieces 3 :package-id @px-7",
		"pay 2024/17":                 "freight.pay :bill-id @bill-2024-17",
		"pay the bill 17/2024":        "freight.pay :bill-id @bill-17-2024",
		"pay INV.2024.7":              "freight.pay :bill-id @inv-2024-7",
		"pay INV.2024.7.":             "freight.pay :bill-id @inv-2024-7",
		"bezahle INV.2024.7.1":        "freight.pay :bill-id @inv-2024-7-1",
		"book a shipment MS-0004":     `freight.book :number "MS-0004"`,
		"lift it with crane C4":       "freight.lift :crane-id @crane-c4",
		"lift it with C4":             "freight.lift :crane-id @crane-c4",
		"lift it with crane C4 today": "freight.lift :crane-id @crane-c4",
		"lift it with the crane":      "freight.lift :crane-id @crane-c4", // there is one
		"what is in D7":               "",                                 // two rows have that label
		// Such rows are not there; none that is named alike is meant.
		"where is MS-0005":            "",
		"where is MX-0004":            "",
		"where is MS-0100-B":          "",
		"where is MS-01000":           "",
		"where is MS-0004 or MS-0100": "",
		"what is in the samples":      "freight.inside :package-id @b2b-samples",
		"what is in the samples-blue": "",
		"what is in Z1":               "",
		"what is in X9":               "",
		"what is in Z5":               "",
		"pay 2024/19":                 "",
		"lift it with crane C5":       "",
		"lift it with crane X2":       "",
		"lift it with crane 7":        "",
		"lift it with C5":             "",
		"pay INV.2024.8":              "",
	} {
		h := r.Read(said, values.In{Now: now})
		call := ""
		for i := range h.Parts {
			call += h.Parts[i].Call
		}
		if call != want {
			t.Errorf("%s: %q, want %q\n%s", said, call, want, describe(said, &h))
		}
	}
	for subject, want := range map[string][]string{
		"Re: MS-0004":           {"ms-0004"},
		"X1, the week ahead":    {"x1"},
		"AW: Rechnung 2024/18":  {"bill-2024-18"},
		"MS-0005":               nil,
		"Z1":                    nil,
		"MS-0004 or MS-0100":    nil,
		"https://x.example/X1":  nil,
		"mail bob@X1.example":   nil,
		"X1\u202e":              nil,
		strings.Repeat("X", 99): nil,
	} {
		if got := r.Named(subject, values.In{Now: now}); !slices.Equal(got, want) {
			t.Errorf("%q names %v, want %v", subject, got, want)
		}
	}
}

// A correction names another row by its label too.
func TestALabelCorrects(t *testing.T) {
	t.Parallel()
	r, reg := labelReader(t)
	for said, want := range map[string]string{
		"no, MS-0100":       "freight.look :shipment-id @ms-0100",
		"MS-0100":           "freight.look :shipment-id @ms-0100",
		"AB-1234 instead":   "freight.look :shipment-id @ab-1234",
		"nein, lieber A-12": "freight.look :shipment-id @a-12",
		"no, MS-0105":       "",
	} {
		script, ds := dsl.Parse(dsl.NewSource("was", "freight.look :shipment-id @ms-0004\n"))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		got, _ := r.Correct(said, values.In{Now: now}, reg.Verb("freight.look"), &script.Calls[0])
		call := ""
		if len(got.Fits) == 1 {
			call = dsl.FormatCall(&got.Fits[0].Call)
		}
		if call != want {
			t.Errorf("%s: %q, want %q (%+v)", said, call, want, got)
		}
	}
}

// A text that was given is its argument, to the letter and alone; what the message says is read for
// the others. One that cannot be taken is asked for again.
func TestGivenTextsAreTheirArguments(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Dir(fstest.MapFS{"trips.yaml": {Data: []byte(`
domain: trips
roles: [{name: member}]
entities:
  team:
    {managed: true, key: team_id, scope: self, label: "{name}", fields: {name: {type: string}}}
verbs:
  - verb: plan
    description: Plan a trip.
    roles: [member]
    phrases: ["plan a trip to {goal}", "plan a trip on {day} to {goal}"]
    args:
      - {name: goal, type: string, required: true, max-length: 20, asks: "Where to?"}
      - {name: day, type: date, required: true, asks: "When?"}
    effects: [{notifies: desk}]
`)}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, c := range []struct{ said, verb, goal, call, asks string }{
		{"plan a trip", "", "", "", "Where to?"},
		{"plan a trip", "trips.plan", "Vienna", "", "When?"},
		{"plan a trip\n3 March 2025", "trips.plan", "Vienna", "trips.plan :goal \"Vienna\" :day 2025-03-03", ""},
		{"plan a trip: Vienna\n3 March 2025", "trips.plan", "Vienna", "trips.plan :goal \"Vienna\" :day 2025-03-03", ""},
		{"plan a trip on 3 March 2025", "trips.plan", "to Rome, 5 May", "trips.plan :goal \"to Rome, 5 May\" :day 2025-03-03", ""},
		{"plan a trip on 3 March 2025", "trips.plan", strings.Repeat("a", 21), "", "21 characters"},
		{"plan a trip on 3 March 2025", "trips.other", "Vienna", "", "Where to?"},
	} {
		var given []Given
		if c.verb != "" {
			given = []Given{{c.verb, "goal", c.goal}}
		}
		h := New(reg).Reader(Vocabulary{Verbs: reg.Verbs(), Given: given}).Read(c.said, values.In{Now: now})
		if len(h.Parts) != 1 || h.Parts[0].Call != c.call || c.asks != "" && (len(h.Parts[0].Asks) == 0 || !strings.Contains(h.Parts[0].Asks[0].Text, c.asks)) {
			t.Errorf("%q with %q: %+v", c.said, c.goal, h.Parts)
			continue
		}
		if texts := h.Parts[0].Texts(); c.call != "" && !slices.Equal(texts, given) {
			t.Errorf("%q has the texts %v", c.said, texts)
		}
	}
}
