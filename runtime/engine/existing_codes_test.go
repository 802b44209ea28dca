package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/stores"
)

const ordersSQL = `CREATE TYPE rank AS ENUM ('low', 'high'); -- postgres
CREATE TABLE orders (
  id varchar(10) PRIMARY KEY,
  status text NOT NULL DEFAULT 'open',
  was text,
  kind integer NOT NULL DEFAULT 1,
  rank rank NOT NULL DEFAULT 'low', -- postgres
  rank text NOT NULL DEFAULT 'low' CHECK (rank IN ('low', 'high')), -- sqlite
  stage text CHECK (stage = 'new' OR stage = 'old')
);
CREATE INDEX orders_status ON orders (status);
INSERT INTO orders (id, status, was, kind, rank) VALUES ('a', 'pending', 'open', 1, 'low'), ('b', 'pending', 'pending', 2, 'high'), ('c', 'open', NULL, 3, 'low');
`

const ordersPalette = `
domain: shop
roles: [{name: clerk, sees: all}]
codes:
  - name: order-status
    values:
      - {code: PENDING, value: pending, label: waiting for payment}
      - {code: OPEN, value: open}
      - {code: CLOSED, value: 'closed'}
  - {name: old-status, values: [{code: PENDING, value: pending}, {code: OPEN, value: open}]}
  - {name: kind, values: [{code: SALE, value: 1}, {code: RENT, value: 2}, {code: GIFT, value: 3}]}
  - {name: rank, values: [{code: LOW, value: low}, {code: HIGH, value: high}]}
entities:
  order:
    table: orders
    key: id
    scope: everyone
    label: "order {id}"
    fields:
      id: {type: string}
      status: {type: code, ref-type: order-status, required: true, default: PENDING}
      was: {type: code, ref-type: old-status}
      kind: {type: code, ref-type: kind, required: true}
      rank: {type: code, ref-type: rank, required: true}
verbs:
  - verb: list
    roles: [clerk]
    args: [{name: status, type: code, ref-type: order-status}, {name: kinds, type: list, of: code kind}]
    reads:
      entity: order
      where: "(status == nil or row.status == status) and (kinds == nil or row.kind in kinds)"
      order: [id]
      fields: {id: id, status: status, kind: kind, rank: rank}
  - verb: unchanged
    roles: [clerk]
    reads: {entity: order, where: row.status == row.was, order: [id], fields: {id: id}}
  - verb: changed
    roles: [clerk]
    reads: {entity: order, where: row.status != row.was, order: [id], fields: {id: id}}
  - verb: close
    roles: [clerk]
    args: [{name: order, type: ref, ref-type: order, required: true}]
    requires: [{that: "order.status == PENDING", else: only what is pending is closed}]
    effects: [{updates: order, where: order, set: {status: CLOSED, was: PENDING}}]
  - verb: add
    roles: [clerk]
    args: [{name: id, type: string, required: true}, {name: kind, type: code, ref-type: kind, required: true}]
    effects: [{creates: order, set: {id: id, kind: kind, rank: HIGH}}]
  - verb: count
    roles: [clerk]
    args: [{name: status, type: code, ref-type: order-status, required: true}]
    query:
      sql: "SELECT status, kind, count(*) AS n FROM orders WHERE status = :status GROUP BY status, kind ORDER BY kind"
      columns: {status: code order-status, kind: code kind, n: integer}
`

// F15: a column keeps its own words and numbers; scripts, filters, rules and answers
// have the codes, on both stores alike.
func TestCodesAreKeptAsTheColumnSpellsThem(t *testing.T) {
	t.Parallel()
	onExisting(t, ordersSQL, func(t *testing.T, open func(string) *old) {
		o := open(ordersPalette).begin()
		for text, want := range map[string]string{
			"shop.list":                            "@order-a PENDING SALE LOW\n@order-b PENDING RENT HIGH\n@order-c OPEN GIFT LOW",
			"shop.list :status PENDING":            "@order-a PENDING SALE LOW\n@order-b PENDING RENT HIGH",
			"shop.list :kinds [RENT GIFT]":         "@order-b PENDING RENT HIGH\n@order-c OPEN GIFT LOW",
			"shop.list :status CLOSED":             "",
			"shop.unchanged":                       "@order-b",
			"shop.changed":                         "@order-a\n@order-c",
			"shop.count :status PENDING":           "PENDING SALE 1\nPENDING RENT 1",
			"shop.list :status \"PENDING\"":        "@order-a PENDING SALE LOW\n@order-b PENDING RENT HIGH",
			"shop.list :status OPEN :kinds [GIFT]": "@order-c OPEN GIFT LOW",
		} {
			if got := o.answer(text); got != want {
				t.Errorf("%s answers\n%s\nwant\n%s", text, got, want)
			}
		}
		done := o.must("shop.close :order @order-a")
		if said := fmt.Sprint(done.Calls[0].Rows); !strings.Contains(said, "CLOSED") || strings.Contains(said, "closed") {
			t.Error("the receipt speaks of", said)
		}
		o.refused("shop.close :order @order-c", "only what is pending is closed")
		o.must("shop.add :id \"d\" :kind RENT")
		if got, want := fmt.Sprint(o.column("orders", "id", "status", stores.String)), "map[a:closed b:pending c:open d:pending]"; got != want {
			t.Errorf("the column holds %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(o.column("orders", "id", "kind", stores.Int)), "map[a:1 b:2 c:3 d:2]"; got != want {
			t.Errorf("the column holds %s, want %s", got, want)
		}
		if got := o.column("orders", "id", "rank", stores.String)["d"]; got != "high" {
			t.Errorf("the column holds %s", got)
		}
		o.refused(`shop.list :status "pending"`, "say PENDING")
		o.refused(`shop.list :status "waiting for payment"`, "say PENDING")
		o.refused(`shop.list :kinds [2]`, "say RENT")
	})
}

// F15: migrate counts what a column holds beside the codes of its field, and refuses;
// types and constraints of the table that list values are held against the codes too.
func TestMigrateRefusesCodesThatAColumnDoesNotHold(t *testing.T) {
	t.Parallel()
	onExisting(t, ordersSQL, func(t *testing.T, open func(string) *old) {
		for _, c := range []struct{ from, to, want string }{
			{"{code: PENDING, value: pending, label: waiting for payment}", "PENDING", "holds what is no code of field status: 'pending' in 2 rows; say with value:"},
			{"{code: GIFT, value: 3}", "{code: GIFT, value: 4}", "holds what is no code of field kind: '3' in 1 row"},
			{"{code: HIGH, value: high}", "HIGH", "column rank of table orders takes only low, high, and not HIGH of field rank"},
		} {
			problems := strings.Join(open(strings.Replace(ordersPalette, c.from, c.to, 1)).migrate(), "\n")
			if !strings.Contains(problems, c.want) {
				t.Errorf("%s: %s", c.to, problems)
			}
		}
		if problems := open(ordersPalette).migrate(); len(problems) > 0 {
			t.Error(problems)
		}
	})
}
