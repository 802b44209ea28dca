package dialog

import (
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs/load"
)

const askingPalette = `
domain: x
roles: [{name: clerk, description: c}]
entities:
  payment: {scope: everyone, label: "{payee}", key: payment_id, fields: {payee: {type: string, required: true}, amount: {type: integer}}}
verbs:
  - verb: pay
    description: Pay somebody.
    roles: [clerk]
    handler: true
    args: [{name: payee, type: string, required: true}, {name: amount, type: integer}, {name: note, type: string}, {name: fast, type: boolean}, {name: pin, type: string, sensitive: true}, {name: tags, type: list, of: string},
      {name: price, type: money}, {name: within, type: duration}, {name: where, type: object},
      {name: lines, type: list, of: {type: record, fields: {what: {type: string}, count: {type: integer}, gift: {type: boolean}}}}]
    tells:
      asks: "May I pay {payee}[, noting {note}, {amount}][, fast: {fast}][, pin {pin}][, {tags}][, {lines}][ for {price}][ within {within}][ at {where}]?"
      done: "{payee} gets {price}[ within {within}][ at {where}][, {tags}]."
    effects: [creates: payment]
`

const askingInGerman = `
verbs: {pay: {tells: {asks: "Darf ich an {payee} zahlen[, Notiz {note}, {amount}][, eilig: {fast}][, PIN {pin}][, {tags}][, {lines}][ für {price}][ in {within}][ bei {where}]?"}}}
says: {amount: Betrag}
`

func asking(t *testing.T, language, call string, rows ...receipt.Row) string {
	t.Helper()
	reg, ds := load.Sources(dsl.NewSource("x.yaml", askingPalette), dsl.NewSource("x.de.yaml", askingInGerman))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return newWording(reg).in(language).asks(&receipt.Receipt{Calls: []receipt.Call{{Verb: "x.pay", Text: call, Rows: rows}}})
}

// SAFE-C5: a question in the words of a palette keeps quiet about no argument: what
// its brackets leave out is said after it, a no is a no, a list is told, what is
// sensitive is there and not shown; and no value can pass for another.
func TestAWordedQuestionSaysEveryArgument(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ language, call, want string }{
		{"en", `x.pay :payee "Ann"`, "May I pay Ann?"},
		{"en", `x.pay :payee "Ann" :amount 900`, "May I pay Ann? That goes with it: amount: 900."},
		{"de", `x.pay :payee "Ann" :amount 900`, "Darf ich an Ann zahlen? Dazu gehört: Betrag: 900."},
		{"en", `x.pay :payee "Ann" :amount 900 :note "900"`, "May I pay Ann, noting 900, 900?"},
		{"en", `x.pay :payee "900" :amount 900`, "May I pay 900? That goes with it: amount: 900."},
		{"en", `x.pay :payee "Ann" :fast false`, "May I pay Ann, fast: no?"},
		{"de", `x.pay :payee "Ann" :fast true`, "Darf ich an Ann zahlen, eilig: ja?"},
		{"en", `x.pay :payee "Ann" :pin "1234"`, "May I pay Ann, pin (not shown)?"},
		{"en", `x.pay :payee "Ann" :tags ["a", "b"]`, `May I pay Ann, a, b?`},
		{"en", `x.pay :payee "Ann" :tags ["a, b", "c"]`, `May I pay Ann, "a, b", c?`},
		{"en", `x.pay :payee "Ann" :tags []`, `May I pay Ann, nothing?`},
		{"en", `x.pay :payee "Ann" :price {:amount 120 :currency GBP}`, "May I pay Ann for 120.00 GBP?"},
		{"de", `x.pay :payee "Ann" :price {:amount 1250.5 :currency EUR}`, "Darf ich an Ann zahlen für 1250,50 EUR?"},
		{"en", `x.pay :payee "Ann" :price {:amount 900 :currency JPY}`, "May I pay Ann for 900 JPY?"},
		{"en", `x.pay :payee "Ann" :within "PT36H30M"`, "May I pay Ann within 1 day 12 hours 30 minutes?"},
		{"de", `x.pay :payee "Ann" :within "90s"`, "Darf ich an Ann zahlen in 1 Minute 30 Sekunden?"},
		{"en", `x.pay :payee "Ann" :where {:street "Rue 1; Roanne" :floor 2}`, `May I pay Ann at (street: "Rue 1; Roanne"; floor: 2)?`},
		{"en", `x.pay :payee "Ann" :lines [{:what "Lamp" :count 2} {:gift false}]`, "May I pay Ann, (what: Lamp; count: 2), (gift: no)?"},
		// Signs that nobody sees are written out, and stand for nothing.
		{"en", "x.pay :payee \"\ue000\ue101Ann\" :amount 900", `May I pay \ue000\ue101Ann? That goes with it: amount: 900.`},
	} {
		if got := strings.TrimSuffix(asking(t, c.language, c.call), "\n"); got != c.want {
			t.Errorf("%s\n%q, not\n%q", c.call, got, c.want)
		}
	}
}

// What was done is told in the same words as what was asked; what is not there leaves no gap that a
// bracket would close.
func TestWhatIsDoneIsToldAsAPersonWritesIt(t *testing.T) {
	t.Parallel()
	reg, ds := load.Sources(dsl.NewSource("x.yaml", askingPalette))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for call, want := range map[string]string{
		`x.pay :payee "Ann" :price {:amount 120 :currency GBP}`:                             "Ann gets 120.00 GBP.",
		`x.pay :payee "Ann" :price {:amount 0.5 :currency USD} :within "2d" :tags []`:       "Ann gets 0.50 USD within 2 days.",
		`x.pay :payee "Ann" :price {:amount 1 :currency KWD} :where {:floor 2} :tags ["a"]`: "Ann gets 1.000 KWD at (floor: 2), a.",
	} {
		row := receipt.Row{Op: receipt.Inserted, Entity: "payment", Label: "Ann"}
		got := newWording(reg).in("en").told([]*receipt.Receipt{{Done: true, Calls: []receipt.Call{{Verb: "x.pay", Text: call, Rows: []receipt.Row{row}}}}})
		if got != want {
			t.Errorf("%s\n%q, not\n%q", call, got, want)
		}
	}
	// What a row or a tool answers is told in the same way.
	for _, c := range []struct{ json, want string }{
		{`{"amount":120,"currency":"GBP"}`, "120.00 GBP"},
		{`[{"name":"Lamp","price":{"amount":3.5,"currency":"EUR"}},{"name":"Rug"}]`, "Lamp, price 3.50 EUR; Rug"},
		{`{"street":"Rue 1","rooms":["a","b"],"of":{"day":"2025-01-03"}}`, "of (day Friday 3 January 2025), rooms (a, b), street Rue 1"},
	} {
		v, err := stores.ParseJSON(c.json)
		if err != nil {
			t.Fatal(err)
		}
		if got := newWording(reg).in("en").value(v); got != c.want {
			t.Errorf("%s is told as %q, not %q", c.json, got, c.want)
		}
	}
}

// U5: a row is told by its label, also where a record names it with the end that tells rows of one name
// apart; where nobody knows the label, the end is not told.
func TestARowIsToldWithoutTheEndOfItsName(t *testing.T) {
	t.Parallel()
	reg, ds := load.Sources(dsl.NewSource("x.yaml", askingPalette))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	w := newWording(reg).in("en")
	changed := &receipt.Call{Rows: []receipt.Row{{Name: "@gran-s-harbour", Label: "Gran's harbour"}, {Name: "@lamp~pmyj", Label: "The lamp"}}}
	for _, c := range []struct {
		of         *receipt.Call
		name, want string
	}{
		{changed, "gran-s-harbour~pmyj17gshh1n8zsc", "Gran's harbour"},
		{changed, "lamp~pmyj17gshh1n8zsc", "The lamp"},
		{changed, "lamp~abcd17gshh1n8zsc", "lamp"},
		{&receipt.Call{}, "gran-s-harbour~pmyj17gshh1n8zsc", "gran s harbour"},
	} {
		if got := w.row(c.of, c.name); got != c.want {
			t.Errorf("%s is told as %q, not %q", c.name, got, c.want)
		}
	}
}

// SAFE-C5, SAFE-S1: where a stranger's words would be written, the rows are shown
// and whose they are; and where many rows change, how many.
func TestAWordedQuestionHidesNoStrangerAndNoNumber(t *testing.T) {
	t.Parallel()
	row := receipt.Row{Op: receipt.Updated, Fields: []receipt.Field{{Name: "payee", Origin: "document=letter.pdf"}}}
	if got := asking(t, "en", `x.pay :payee "Ann"`, row); got != "" {
		t.Errorf("a document's value is asked about as %q", got)
	}
	row.Fields[0].Origin = "record"
	if got := asking(t, "en", `x.pay :payee "Ann"`, row, row, row, row); !strings.Contains(got, "That concerns 4 entries") {
		t.Errorf("four rows are asked about as %q", got)
	}
}
