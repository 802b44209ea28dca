package load

import (
	"strings"
	"testing"

	"verbatim/dsl"
)

// F17 F18: what no store can compare or sort, because of how a column keeps it, does not
// load.
func TestFormsThatCannotBeComparedDoNotLoad(t *testing.T) {
	t.Parallel()
	const palette = `domain: shop
roles: [{name: clerk}]
entities:
  bill:
    key: id
    scope: everyone
    fields:
      day: {type: date, form: DD.MM.YYYY}
      on: {type: date, form: YYYY/MM/DD}
      also_on: {type: date, form: YYYY/MM/DD}
      total: {type: decimal, scale: 2}
      fee: {type: decimal, unit: 0.01}
      tip: {type: decimal, unit: 0.01}
verbs:
  - verb: list
    roles: [clerk]
    args: [{name: since, type: date, required: true}]
    reads: {entity: bill, where: WHERE, order: [ORDER], fields: {day: day}}
`
	for _, c := range []struct{ where, order, want string }{
		{"row.on >= since and row.on < row.also_on and row.fee > row.tip and row.day == since and row.total > 1", "on", ""},
		{"row.day >= since", "on", "not in the order of its values"},
		{"row.on == since", "day desc", "not in the order of its values"},
		{"row.fee < row.total", "fee", "kept in different forms"},
		{"row.day == row.on", "on", "kept in different forms"},
	} {
		_, ds := Sources(dsl.NewSource("shop.yaml", strings.NewReplacer("WHERE", c.where, "ORDER", c.order).Replace(palette)))
		if said := inWords(ds); (c.want == "") != (len(ds) == 0) || !strings.Contains(said, c.want) {
			t.Errorf("%s, by %s: %s", c.where, c.order, said)
		}
	}
}

// F17: pages go by fields that a store can compare; a code that its column spells otherwise
// is none.
func TestPagesThatCannotBeComparedDoNotLoad(t *testing.T) {
	t.Parallel()
	const palette = `domain: shop
roles: [{name: clerk}]
codes: [{name: state, values: [{code: LATE, value: open}, {code: EARLY, value: paid}]}]
entities:
  bill:
    key: id
    scope: everyone
    fields:
      on: {type: date, form: YYYY/MM/DD}
      state: {type: code, ref-type: state}
verbs:
  - verb: list
    roles: [clerk]
    args: [{name: after-id, type: ref, ref-type: bill}]
    reads: {entity: bill, order: [ORDER], limit: 2, after: after-id, fields: {on: on}}
`
	for order, want := range map[string]string{"on desc": "", "state": "a page is found by comparing"} {
		_, ds := Sources(dsl.NewSource("shop.yaml", strings.Replace(palette, "ORDER", order, 1)))
		if said := inWords(ds); (want == "") != (len(ds) == 0) || !strings.Contains(said, want) {
			t.Errorf("by %s: %s", order, said)
		}
	}
}
