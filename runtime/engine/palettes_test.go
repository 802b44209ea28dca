package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
)

// stocktaking is a second palette over the tables of the shops, of another
// department: other words for the same rows, other verbs, another role.
const stocktaking = `domain: stocktaking
description: Counting what is on the shelves.
roles:
  - {name: counter, description: Who counts}
entities:
  branch:
    table: retail.shops
    key: shop_id
    scope: self
    label: "{name}"
    fields:
      name: {type: string, required: true}
  article:
    table: retail.products
    key: product_id
    scope: branch
    label: "{sku}"
    fields:
      branch:  {type: ref, ref-type: branch, column: shop_id, required: true}
      sku:     {type: string, required: true}
      counted: {type: integer, column: stock, min: 0, required: true}
verbs:
  - verb: shelf
    description: What there should be.
    roles: [counter]
    reads: {entity: article, order: [sku], fields: {article: product_id, sku: sku, counted: counted}}
  - verb: count
    description: What there is.
    roles: [counter]
    args:
      - {name: article-id, type: ref, ref-type: article, required: true}
      - {name: pieces, type: integer, min: 0, max: 100000, required: true}
    effects:
      - updates: article.counted
        where: article-id
        set: {counted: pieces}
`

// X16, O1: two palettes over the same tables, on either backend. Both see the
// same rows, each in its own words and within the same scope; a change made
// through one is seen through the other; and whoever may use the one gains no
// verb of the other.
func TestTwoPalettesOverTheSameTables(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *shop) {
		ctx := context.Background()
		noon := time.Date(2024, 12, 27, 12, 0, 0, 0, time.UTC)
		reg := loadYAML(t, map[string]string{"stocktaking.yaml": stocktaking})
		eng, err := engine.New(reg, s.store, engine.Options{Clock: func() time.Time { return noon }})
		if err != nil {
			t.Fatal(err)
		}
		other := &shop{reg: reg, store: s.store, engine: eng}
		for name, entity := range map[string]string{"cora": "branch", "nobody-else": "shop"} {
			err := s.store.SetPrincipal(ctx, stores.Principal{Name: name, Roles: []string{"counter"}, Holds: map[string][]stores.Value{entity: {vienna}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		read := func(s *shop, who, text, name, number string) map[string]string {
			t.Helper()
			session, err := s.engine.Session(ctx, who)
			if err != nil {
				t.Fatal(err)
			}
			script, _ := dsl.Parse(dsl.NewSource("read.dsl", text))
			p, ds := session.Check(context.Background(), script)
			if p == nil {
				t.Fatal(told(ds))
			}
			reply, err := session.Run(ctx, p, engine.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			res := reply.Calls[0].Result
			out := map[string]string{}
			for _, row := range res.Rows {
				var key, value string
				for i, column := range res.Columns {
					switch column {
					case name:
						key = row[i].Text()
					case number:
						value = row[i].Text()
					}
				}
				out[key] = value
			}
			return out
		}
		same := func() int {
			t.Helper()
			sold := read(s, "mara", "retail.products", "sku", "stock")
			counted := read(other, "cora", "stocktaking.shelf", "sku", "counted")
			if fmt.Sprint(sold) != fmt.Sprint(counted) {
				t.Errorf("the till sees %v, who counts sees %v", sold, counted)
			}
			return len(sold)
		}
		if n := same(); n < 2 || n >= len(s.rows(t, "product")) {
			t.Errorf("%d products of %d are seen, so that nothing is told of scope", n, len(s.rows(t, "product")))
		}
		// What holds a shop in one palette's words holds no branch in another's.
		if got := read(other, "nobody-else", "stocktaking.shelf", "sku", "counted"); len(got) > 0 {
			t.Errorf("a grant of another palette opens %v", got)
		}
		if err := other.say("cora", "stocktaking.count :article-id "+mug+" :pieces 7"); err != nil {
			t.Fatal(err)
		}
		if got := s.field(t, "product", mug, "stock"); got != "7" {
			t.Errorf("there are %s mugs", got)
		}
		if err := s.say("mara", "retail.restock :product-id "+mug+" :quantity 5"); err != nil {
			t.Fatal(err)
		}
		if got := other.field(t, "article", mug, "counted"); got != "12" {
			t.Errorf("there are %s mugs", got)
		}
		same()
		// Nobody gains a verb: roles of one palette are no roles of the other,
		// and its verbs do not exist there.
		for who, in := range map[string]*shop{"cora": s, "mara": other, "otto": other} {
			text := "retail.restock :product-id " + mug + " :quantity 1"
			if in == other {
				text = "stocktaking.count :article-id " + mug + " :pieces 1"
			}
			err := in.say(who, text)
			var refusal *engine.Refusal
			if !errors.As(err, &refusal) || refusal.Diagnostics[0].Code != "not-permitted" {
				t.Errorf("%s uses a verb of the other palette: %v", who, err)
			}
			wrong := s
			if in == s {
				wrong = other
			}
			if err := wrong.say(who, text); err == nil {
				t.Errorf("%s speaks the words of one palette to the other", who)
			}
		}
		if got := s.field(t, "product", mug, "stock"); got != "12" {
			t.Errorf("there are %s mugs after nothing was allowed", got)
		}
	})
}
