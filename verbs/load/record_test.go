package load

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

const ordering = `domain: shop
roles: [{name: clerk, description: sells}]
codes: [{name: size, description: sizes, values: [SMALL, LARGE]}]
entities:
  item:
    table: items
    key: item_id
    scope: everyone
    label: "{name}"
    fields: {name: {type: string, required: true}, price: {type: decimal, scale: 2}}
  shelf:
    table: shelves
    key: shelf_id
    scope: everyone
    label: "{name}"
    fields: {name: {type: string, required: true}}
verbs:
  - verb: order
    description: Order things.
    roles: [clerk]
    args:
      - name: lines
        type: list
        required: true
        max-length: 4
        description: what is ordered
        of:
          type: record
          fields:
            item: {type: ref, ref-type: item, required: true, description: which thing}
            quantity: {type: integer, min: 1, max: 99, required: true, examples: ["2"]}
            size: {type: code, ref-type: size}
            unit-price: {type: money, currencies: [EUR]}
            tags: {type: list, of: {type: string, max-length: 5}}
      - name: to
        type: record
        fields: {card: {type: string, sensitive: true, pattern: "[0-9]{4}"}, name: {type: string, personal: true}}
    effects:
      - notifies: warehouse
        for-each: lines
        with: {item: each.item, quantity: each.quantity, price: each.unit_price.amount, worth: each.item.price}
`

type knownRows map[string]*verbs.Entity

func (k knownRows) Lookup(name string) *verbs.Entity { return k[name] }
func (k knownRows) Nearby(string) []string           { return nil }

// A mistake in a record is told at its own place, with what was meant.
func TestMistakesInRecords(t *testing.T) {
	t.Parallel()
	reg, ds := Sources(dsl.NewSource("shop.yaml", ordering))
	if len(ds) > 0 {
		t.Fatal(inWords(ds))
	}
	rows := knownRows{"lamp": reg.Entity("item"), "top": reg.Entity("shelf")}
	for _, c := range []struct{ script, at, want string }{
		{`shop.order :lines [{:item @lamp :quantity 2} {:quantty 3 :item @lamp}]`, ":quantty", `unknown-argument: item 2 of :lines has no field :quantty; did you mean ":quantity"?`},
		{`shop.order :lines [{:item @lamp :colour 2 :quantity 3}]`, ":colour", `its fields are :item, :quantity, :size, :unit-price and :tags`},
		{`shop.order :lines [{:"Item" @lamp :quantity 3}]`, `:"Item"`, `has no field :"Item"; did you mean ":item"?`},
		{`shop.order :lines [{:size SMALL}]`, `{:size SMALL}`, `item 1 of :lines needs :item and :quantity`},
		{`shop.order :lines [{:size SMALL}]`, `{:size SMALL}`, `add :item <ref item>    (a reference to an item) which thing; add :quantity 2`},
		{`shop.order :lines [{:item @lamp :quantity nil}]`, `{:item @lamp :quantity nil}`, `item 1 of :lines needs :quantity`},
		{`shop.order :lines [{:item @lamp :quantity 100}]`, `100`, `100 is more than :quantity in item 1 of :lines allows`},
		{`shop.order :lines [{:item @lamp :quantity "2"}]`, `"2"`, `:quantity in item 1 of :lines`},
		{`shop.order :lines [{:item @top :quantity 2}]`, `@top`, `bad-ref-kind: :item in item 1 of :lines`},
		{`shop.order :lines [{:item @lamp :quantity 2 :size MEDIUM}]`, `MEDIUM`, `MEDIUM is no size`},
		{`shop.order :lines [{:item @lamp :quantity 2 :unit-price {:amount 3 :currency USD}}]`, `USD`, `unknown-code`},
		{`shop.order :lines [{:item @lamp :quantity 2 :tags ["a" "too long"]}]`, `"too long"`, `item 2 of :tags in item 1 of :lines`},
		{`shop.order :lines [{:item @lamp :quantity 2 :unit_price {:amount 3 :currency EUR} :unit-price {:amount 3 :currency EUR}}]`, `:unit-price`, `key :unit-price stands twice`},
		{`shop.order :lines [[@lamp 2]]`, `[@lamp 2]`, `a record is written {:item <ref item> :quantity 2}`},
		{`shop.order :lines {:item @lamp :quantity 2}`, `{:item @lamp :quantity 2}`, `wrong-type`},
		{`shop.order :lines [{:item @lamp :quantity 2}] :to {:card "12"}`, `"12"`, `pattern-mismatch`},
		{`shop.order :lines [{:item @lamp :quantity 2}] :to {:card "1234" :nme "x"}`, `:nme`, `:to has no field :nme`},
	} {
		script, ds := dsl.Parse(dsl.NewSource("", c.script))
		if ds.HasErrors() {
			t.Fatalf("%s: %s", c.script, inWords(ds))
		}
		p, ds := reg.Check(script, rows)
		if p != nil || len(ds) != 1 {
			t.Errorf("%s: told %d things", c.script, len(ds))
			continue
		}
		d := ds[0]
		told := fmt.Sprintf("%s: %s; %s; %s", d.Code, d.Summary, d.Label, strings.Join(d.Notes, "; "))
		if at := c.script[d.Place.Range.Start:d.Place.Range.End]; at != c.at || !strings.Contains(told, c.want) {
			t.Errorf("%s\n  at %s: %s", c.script, at, told)
		}
		if strings.Contains(c.script, ":to") && strings.Contains(told, `"12"`) {
			t.Errorf("a secret is told: %s", told)
		}
		if fixed, n := dsl.ApplyFixes(c.script, ds.Fixes(true)); n > 0 {
			again, ds := dsl.Parse(dsl.NewSource("", fixed))
			if _, more := reg.Check(again, rows); ds.HasErrors() || more.HasErrors() {
				t.Errorf("%s is no repair: %s", fixed, inWords(more))
			}
		}
	}
}

// A record is a map with its keys in the order of the palette, whatever that of the
// script; it is sensitive and personal as a whole where a field is.
func TestWhatARecordBecomes(t *testing.T) {
	t.Parallel()
	reg, _ := Sources(dsl.NewSource("shop.yaml", ordering))
	v := reg.Verb("shop.order")
	if !v.Params[1].Sensitive || !v.Params[1].Personal || v.Params[0].Sensitive {
		t.Error("a record with a sensitive field is not sensitive, or another is")
	}
	id := "00000000-0000-4000-8000-000000000001"
	script, _ := dsl.Parse(dsl.NewSource("", `shop.order :lines [{:quantity 2 :size nil :unit_price {:currency EUR :amount 2.50} :item "`+id+`"}]`))
	p, ds := reg.Check(script, nil)
	if p == nil {
		t.Fatal(inWords(ds))
	}
	a := &p.Calls()[0].Args[0]
	want := `[{"item":"` + id + `","quantity":2,"unit-price":{"amount":2.50,"currency":"EUR"}}]`
	if a.Kind != verbs.Literal || a.Value.Text() != want {
		t.Errorf("it became %s", a.Value.Text())
	}
	again, err := v.Params[0].Type.Accept(a.Value)
	if err != nil || again.Text() != want {
		t.Errorf("what was checked is not accepted: %v, %s", err, again.Text())
	}
	for text, says := range map[string]string{
		`[{"item":"` + id + `"}]`:                                "item 1: :quantity is missing",
		`[{"item":"` + id + `","quantity":2,"x":1}]`:             "a record is wanted",
		`[{"item":"` + id + `","quantity":100}]`:                 "item 1: :quantity: the most is 99",
		`[{"item":"` + id + `","quantity":"2"}]`:                 "a record is wanted",
		`[3]`:                                                    "a record is wanted",
		`{"item":"` + id + `","quantity":2}`:                     "a list of records is wanted",
		`[{"item":"` + id + `","quantity":2,"tags":["123456"]}]`: "item 1: :tags: item 1: at most 5 characters",
	} {
		w, err := stores.ParseJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Params[0].Type.Accept(w); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A tool of others is sent no key of a row inside of a record, and codes as the palette
// spells them for others.
func TestRecordsThatAToolIsSent(t *testing.T) {
	t.Parallel()
	const palette = `domain: shop
roles: [{name: clerk, description: sells}]
codes: [{name: size, description: sizes, values: [{code: SMALL, value: s}, {code: LARGE, value: l}]}]
entities:
  item: {key: item_id, scope: everyone, label: "{name}", fields: {name: {type: string}}}
verbs:
  - verb: send
    description: Send it.
    roles: [clerk]
    confirm: always
    args:
      - {name: lines, type: list, required: true, of: {type: record, fields: {what: {type: string, required: true}, size: {type: code, ref-type: size}}}}
    tool: {server: post, name: send}
`
	reg, ds := Sources(dsl.NewSource("shop.yaml", palette))
	if ds.HasErrors() {
		t.Fatal(inWords(ds))
	}
	script, _ := dsl.Parse(dsl.NewSource("", `shop.send :lines [{:size LARGE :what "lamp"} {:what "cup"}]`))
	p, ds := reg.Check(script, nil)
	if p == nil {
		t.Fatal(inWords(ds))
	}
	sent := reg.Verb("shop.send").Params[0].Type.Spelled(p.Calls()[0].Args[0].Value)
	if want := `[{"size":"l","what":"lamp"},{"what":"cup"}]`; sent.Text() != want {
		t.Errorf("it is sent %s", sent.Text())
	}
	_, ds = Sources(dsl.NewSource("shop.yaml", strings.Replace(palette, "what: {type: string, required: true}", "what: {type: ref, ref-type: item}", 1)))
	if len(ds) != 1 || ds[0].Code != "tool-key" {
		t.Errorf("a key that is sent: %s", inWords(ds))
	}
}
