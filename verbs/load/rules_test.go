package load

import (
	"strings"
	"testing"

	"verbatim/dsl"
)

const rulesPalette = `domain: shop
roles: [{name: clerk}]
entities:
  shop: {key: shop_id, managed: true, scope: self, label: "{name}", fields: {name: {type: string, required: true}}}
  basket: {key: basket_id, managed: true, scope: shop, label: "{name}", fields: {shop: {type: ref, ref-type: shop, required: true}, name: {type: string, required: true}}}
  line:
    key: line_id
    managed: true
    scope: basket.shop
    label: "{sku}"
    unique: [[basket, sku]]
    CONSTRAINTS
    fields:
      basket: {type: ref, ref-type: basket, required: true}
      sku: {type: string, required: true}
      count: {type: integer}
      price: {type: decimal}
      gift: {type: boolean}
      secret: {type: integer, sensitive: true}
verbs:
  - verb: put
    roles: [clerk]
    args:
      - {name: basket-id, type: ref, ref-type: basket, required: true}
      - {name: line-ids, type: list, of: {type: ref, ref-type: line}, required: true}
      - {name: sku, type: string, required: true}
      - {name: many, type: integer}
    VERB
`

// What is said of several fields, several rows, or rows that may be there, and cannot be
// meant, is told at its place.
func TestRulesThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	const effects = "effects: [{notifies: x}]"
	for _, c := range []struct{ constraints, verb, code, says string }{
		{"constraints: [{exactly-one: [price], else: x}]", effects, "nothing-written", ""},
		{"constraints: [{else: x}]", effects, "missing-key", "exactly-one"},
		{"constraints: [{exactly-one: [price, count], at-most-one: [price, count], else: x}]", effects, "two-effects", ""},
		{"constraints: [{exactly-one: [price, sku], else: x}]", effects, "contradiction", "every row has sku"},
		{"constraints: [{exactly-one: [price, prise], else: x}]", effects, "unknown-field", ""},
		{"constraints: [{exactly-one: [price, price], else: x}]", effects, "declared-twice", ""},
		{"constraints: [{exactly-one: [price, count]}]", effects, "missing-key", "else"},
		{"", "effects: [{upserts: line, set: {basket: basket-id, sku: sku}}]", "missing-key", "by"},
		{"", "effects: [{upserts: line, by: [basket, sku]}]", "missing-key", "set"},
		{"", "effects: [{upserts: line, by: [sku], set: {basket: basket-id, sku: sku}}]", "contradiction", "several rows of line"},
		{"", "effects: [{upserts: line, by: [basket, skew], set: {basket: basket-id, sku: sku}}]", "unknown-field", ""},
		{"", "effects: [{upserts: line, by: [basket, count], set: {basket: basket-id, sku: sku}}]", "missing-field", ""},
		{"", "effects: [{upserts: lines, by: [basket, sku], set: {basket: basket-id, sku: sku}}]", "unknown-entity", ""},
		{"", "effects: [{upserts: line.count, by: [basket, sku], set: {basket: basket-id, sku: sku}}]", "bad-operand", ""},
		{"", "effects: [{upserts: line, where: basket-id, by: [basket, sku], set: {basket: basket-id, sku: sku}}]", "limit-does-not-apply", "updates and deletes"},
		{"", "effects: [{creates: line, by: [basket, sku], set: {basket: basket-id, sku: sku}}]", "limit-does-not-apply", "by goes with upserts"},
		{"", effects + "\n    requires: [{all: line, where: row.basket == basket_id, else: x}]", "missing-key", "that"},
		{"", effects + "\n    requires: [{some: line, where: row.basket == basket_id, that: row.gift, else: x}]", "contradiction", ""},
		{"", effects + "\n    requires: [{some: line, else: x}]", "missing-key", "where"},
		{"", effects + "\n    requires: [{some: line, none: line, where: row.basket == basket_id, else: x}]", "two-effects", ""},
		{"", effects + "\n    requires: [{all: line, where: row.gift, that: row.price > 0, else: x}]", "held-by-nobody", ""},
		{"", effects + "\n    totals: [{name: n, sum: line.price, where: line-ids, that: row.gift}]", "limit-does-not-apply", "that goes with all"},
		{"", effects + "\n    totals: [{name: n, all: line.price, where: line-ids, that: row.gift}]", "bad-operand", ""},
		{"", effects + "\n    totals: [{name: n, all: line, where: line-ids, that: row.price}]", "type-mismatch", ""},
		{"", "reads: {entity: line, order: [price], fields: {sku: sku, n: count()}}", "unknown-name", "price"},
		{"", "reads: {entity: line, where: row.secret > many, fields: {sku: sku}}", "not-a-filter", "the order of what is sensitive"},
		{"", "reads: {entity: line, where: row.gift or not (many + 1 <= row.secret), fields: {sku: sku}}", "not-a-filter", "the order of what is sensitive"},
		{"", "reads: {entity: line, order: [secret desc], fields: {sku: sku}}", "contradiction", "tell what is sensitive"},
		{"", "reads: {entity: basket, lists: {l: {of: line.basket, where: row.secret < many, fields: {sku: sku}}}, fields: {n: basket_id}}", "not-a-filter", "the order of what is sensitive"},
		{"", "reads: {entity: line, order: [n down], fields: {sku: sku, n: count()}}", "unknown-word", ""},
		{"", "reads: {entity: basket, one: basket-id, fields: {n: count()}}", "contradiction", "one"},
		{"", "reads: {entity: basket, lists: {l: {of: line.basket}}, fields: {n: count()}}", "contradiction", "lists"},
		{"", "reads: {entity: basket, from: basket-id, fields: {sku: basket_id}}", "contradiction", "say both from and along"},
		{"", "reads: {entity: basket, along: line.basket, fields: {sku: basket_id}}", "contradiction", "say both from and along"},
		{"", "reads: {entity: basket, from: basket-id, along: line.basket, fields: {sku: basket_id}}", "bad-form", "edge.from.to"},
		{"", "reads: {entity: basket, from: basket-id, along: line.basket.basket, fields: {sku: basket_id}}", "bad-form", "edge.from.to"},
		{"", "reads: {entity: basket, from: basket-id, along: line.basket.skew, fields: {sku: basket_id}}", "unknown-field", ""},
		{"", "reads: {entity: basket, from: basket-id, along: line.basket.price, fields: {sku: basket_id}}", "not-a-reference", ""},
		{"", "reads: {entity: basket, from: basket-id, along: lines.basket.basket, fields: {sku: basket_id}}", "unknown-entity", ""},
		{"", "reads: {entity: basket, from: sku, along: line.basket.basket, fields: {sku: basket_id}}", "type-mismatch", ""},
		{"", "reads: {entity: basket, from: basket, along: line.basket.basket, fields: {sku: basket_id}}", "unknown-argument", ""},
		{"", "reads: {entity: basket, one: basket-id, from: basket-id, along: line.basket.basket, fields: {sku: basket_id}}", "contradiction", "leave one out"},
		{"", "reads: {entity: line, from: basket-id, along: basket, fields: {sku: sku}}", "type-mismatch", ""},
		{"", effects + "\n    confirm: [{by: person, programs: true}]", "contradiction", "whoever makes the call"}, // G21
		{"", effects + "\n    confirm: [{programs: true}]", "contradiction", "whoever makes the call"},
		{"", effects + "\n    confirm: [{by: clerk, signed-in: 5m, programs: true}]", "contradiction", "no program ever signed in"},
		{"", effects + "\n    confirm: [{by: parson}]", "unknown-role", ""},
		{"", "reads: {entity: line, fields: {n: sum(sku)}}", "type-mismatch", ""},
		{"", "reads: {entity: line, fields: {n: sum(skew)}}", "unknown-field", ""},
		{"", "reads: {entity: line, fields: {n: average(price)}}", "bad-expression", ""},
		{"", "reads: {entity: line, fields: {n: average(price, 2)}}", "yaml-feature", "double quotes"},
		{"", effects + "\n    deprecated: {reason: \"\\e[31mred\"}", "yaml-feature", "U+001B"},
		{"", effects + "\n    phrases: [\"pay \u202edrawkcab\"]", "yaml-feature", "U+202E"},
		{"", `reads: {entity: line, fields: {n: "average(price, 99)"}}`, "bad-expression", ""},
		{"", effects + "\n    totals: [{name: n, count: line, where: row.sku == sku, beyond: true}]", "beyond-its-caller", "nothing says"},
		{"", effects + "\n    totals: [{name: n, count: line, where: line-ids, beyond: true}]\n    discloses: [{name: k, type: boolean, is: n > 0}]", "beyond-its-caller", "a list names only"},
		{"", effects + "\n    totals: [{name: n, count: line, where: row.count == many, beyond: true}]\n    discloses: [{name: k, type: boolean, is: n > 0}]", "beyond-its-caller", "may be left out"},
		{"", "discloses: [{name: k, type: string, is: sku}]", "open-disclosure", ""},
		{"", "discloses: [{name: k, type: decimal, min: 0, max: 1, is: 0.5}]", "open-disclosure", ""},
		{"", "discloses: [{name: k, type: integer, min: 0, max: 10000, is: 1}]", "open-disclosure", "10000 values"},
		{"", "discloses: [{name: k, type: integer, min: -9223372036854775808, max: 9223372036854775807, is: 1}]", "open-disclosure", ""},
		{"", "discloses: [{name: k, type: decimal, scale: 2, min: 0, max: 100, is: 1.00}]", "open-disclosure", ""},
		{"", effects + "\n    totals: [{name: n, some: line, where: row.sku == sku and row.secret > len(sku), beyond: true}]\n    discloses: [{name: k, type: boolean, is: n}]", "not-a-filter", "the order of what is sensitive"},
		{"", effects + "\n    totals: [{name: n, all: line, where: row.sku == sku, that: len(sku) <= row.secret, beyond: true}]\n    discloses: [{name: k, type: boolean, is: n}]", "not-a-filter", "the order of what is sensitive"},
		{"", effects + "\n    totals: [{name: n, max: line.secret, where: row.sku == sku, beyond: true}]\n    discloses: [{name: k, type: boolean, is: n > 0}]", "beyond-its-caller", "secret is sensitive"},
		{"", "discloses: [{name: k, type: code, is: A}]", "open-disclosure", ""},
		{"", "discloses: [{name: sku, type: boolean, is: true}]", "declared-twice", ""},
		{"", "discloses: []", "nothing-written", ""},
		{"", "discloses: [{name: k, type: boolean, is: true}]\n    reads: {entity: line, fields: {sku: sku}}", "two-ways", ""},
		{"", "discloses: [{name: k, type: boolean, is: kk}, {name: kk, type: boolean, is: true}]", "unknown-name", "kk"},
	} {
		text := strings.NewReplacer("CONSTRAINTS", c.constraints, "VERB", c.verb).Replace(rulesPalette)
		_, diags := Sources(dsl.NewSource("shop.yaml", text))
		var errs []string
		for _, d := range diags {
			if d.Severity == dsl.Error {
				errs = append(errs, d.Code+": "+d.Summary+"|"+d.Label+"|"+strings.Join(d.Notes, "; "))
			}
		}
		if len(errs) == 0 || !strings.HasPrefix(errs[0], c.code) || !strings.Contains(errs[0], c.says) {
			t.Errorf("%s %s\n  want %s with %q, got %q", c.constraints, c.verb, c.code, c.says, errs)
		}
	}
}
