package dialog

import (
	"strings"
	"testing"

	"verbatim/dsl"
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
      {name: lines, type: list, of: {type: record, fields: {what: {type: string}, count: {type: integer}, gift: {type: boolean}}}}]
    tells:
      asks: "May I pay {payee}[, noting {note}, {amount}][, fast: {fast}][, pin {pin}][, {tags}][, {lines}]?"
    effects: [creates: payment]
`

const askingInGerman = `
verbs: {pay: {tells: {asks: "Darf ich an {payee} zahlen[, Notiz {note}, {amount}][, eilig: {fast}][, PIN {pin}][, {tags}][, {lines}]?"}}}
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
		{"en", `x.pay :payee "Ann" :tags ["a", "b"]`, `May I pay Ann, ["a" "b"]?`},
		{"en", `x.pay :payee "Ann" :lines [{:what "Lamp" :count 2} {:gift false}]`, "May I pay Ann, (what: Lamp; count: 2), (gift: no)?"},
		// Signs that nobody sees are written out, and stand for nothing.
		{"en", "x.pay :payee \"\ue000\ue101Ann\" :amount 900", `May I pay \ue000\ue101Ann? That goes with it: amount: 900.`},
	} {
		if got := strings.TrimSuffix(asking(t, c.language, c.call), "\n"); got != c.want {
			t.Errorf("%s\n%q, not\n%q", c.call, got, c.want)
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
