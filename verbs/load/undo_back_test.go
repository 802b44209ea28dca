package load

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/dsl"
)

// An undo that could never put a code back is an error where it is declared, and not a promise that is
// refused each time.
func TestAnUndoHasAWayBack(t *testing.T) {
	t.Parallel()
	const palette = `domain: shop
codes:
  - {name: state, description: s, values: [{code: OPEN, to: [PAID, HELD]}, {code: HELD, to: [OPEN]}, {code: PAID, to: []}]}
entities:
  order:
    table: orders
    key: order_id
    scope: everyone
    label: "{title}"
    fields: {title: {type: string, required: true}, state: {type: code, ref-type: state, required: true}}
verbs:
  - verb: take
    description: Takes it.
    args: [{name: order-id, type: ref, ref-type: order, required: true}]
    effects: [{updates: order, where: order-id, set: {state: STATE}}]
    undo: UNDO
`
	for _, c := range []struct {
		state, undo string
		wrong       bool
	}{{"PAID", "rows", true}, {"HELD", "rows", false}, {"PAID", "{none: it is paid}", false}, {"PAID", "{by: rows, except: [order.state]}", false}} {
		_, ds := Sources(dsl.NewSource("p.yaml", strings.NewReplacer("STATE}", c.state+"}", "UNDO", c.undo).Replace(palette)))
		if found := strings.Contains(fmt.Sprint(ds), "undo puts order.state back from PAID, and nothing leads from there to OPEN"); found != c.wrong || ds.HasErrors() != c.wrong {
			t.Errorf("%s, undo %s: %v", c.state, c.undo, ds)
		}
	}
}
