package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

// OB6: what a call may lead to decides who is asked. One verb has four tiers:
// small sums are done, larger ones ask the person, large ones ask the chief, and
// very large ones the board as well; a rule that cannot be worked out asks. Who
// has none of the verb's roles is not asked anything, whatever the sum.
func TestConsequencesDecideWhoIsAsked(t *testing.T) {
	t.Parallel()
	w := newBare(t, loadYAML(t, map[string]string{"till.yaml": `
domain: till
roles:
  - {name: cashier, description: at the till, sees: all}
  - {name: chief, description: who is asked, sees: all}
  - {name: board, description: who is asked last, sees: all}
entities:
  payout:
    key: payout_id
    managed: true
    scope: self
    label: "{amount}"
    fields:
      amount: {type: decimal, required: true}
verbs:
  - verb: pay
    description: Pay out.
    roles: [cashier]
    args:
      - {name: amount, type: decimal, required: true}
      - {name: of, type: decimal}
    confirm:
      - {when: amount >= 100, reason: it is more than is in a drawer}
      - {when: amount >= 1000, by: chief, reason: it is more than a day takes}
      - {when: amount >= 10000, by: board, reason: it is more than a month takes}
      - {when: "amount * of >= 50", reason: its share is not known to be small}
    effects:
      - creates: payout
        set: {amount: amount}
`}), stores.Principal{Name: "cas", Roles: []string{"cashier"}}, stores.Principal{Name: "cher", Roles: []string{"chief"}})
	for _, c := range []struct{ amount, of, asks string }{
		{"99.99", "0.1", ""},
		{"100", "0.1", "self"},
		{"999.99", "0.01", "self"},
		{"1000", "0.01", "self chief"},
		{"9999.99", "0.001", "self chief"},
		{"10000", "0.001", "self chief board"},
		{"10", "5", "self"},   // by its share
		{"10", "4.99", ""},    // not by its share
		{"10", "nil", "self"}, // what cannot be worked out asks
	} {
		s := w.session("cas")
		p := w.program(s, fmt.Sprintf("till.pay :amount %s :of %s", c.amount, c.of))
		preview, err := s.Preview(t.Context(), p)
		if err != nil {
			t.Fatal(c, err)
		}
		var asks []string
		for _, ask := range preview.Asks() {
			who := ask.By
			if who == "" {
				who = "self"
			}
			asks = append(asks, who)
		}
		if got := strings.Join(asks, " "); got != c.asks {
			t.Errorf("%s of %s asks %q, want %q", c.amount, c.of, got, c.asks)
		}
		_, err = s.Run(t.Context(), p, engine.RunOptions{})
		if (err == nil) != (c.asks == "") {
			t.Errorf("%s of %s, with nobody asked: %v", c.amount, c.of, err)
		}
		if _, err := w.session("cher").Preview(t.Context(), p); err == nil {
			t.Errorf("%s was looked at by who may not pay", c.amount)
		}
	}
}
