package intent

import (
	"testing"

	"verbatim/dsl"
	loading "verbatim/verbs/load"
)

// What only a script or a model can write, no sentence is taken for.
func TestNoSentenceIsARecord(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Sources(dsl.NewSource("shop.yaml", `
domain: shop
roles: [{name: clerk, description: sells}]
entities:
  item: {key: item_id, scope: everyone, label: "{name}", fields: {name: {type: string}}}
verbs:
  - {verb: order, description: Order things., roles: [clerk], phrases: ["order things"], handler: true, args: [{name: lines, type: list, required: true, of: {type: record, fields: {item: {type: ref, ref-type: item}}}}]}
  - {verb: wish, description: Wish for things., roles: [clerk], phrases: ["wish for things"], handler: true, args: [{name: line, type: record, fields: {item: {type: ref, ref-type: item}}}]}
  - {verb: look, description: Look around., roles: [clerk], phrases: ["look around"], handler: true}
`))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	r := New(reg).Reader(Vocabulary{Verbs: reg.Verbs()})
	for i, v := range r.ix.verbs {
		if want := v.Name != "shop.order"; r.may[i] != want {
			t.Errorf("that %s is understood is %t", v.Name, r.may[i])
		}
	}
}
