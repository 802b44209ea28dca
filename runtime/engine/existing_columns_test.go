package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

const billsSQL = `CREATE TABLE bill (
  id varchar(10) PRIMARY KEY,
  total NUMERIC(10,2) NOT NULL,
  fee integer NOT NULL DEFAULT 150,
  day text,
  "At" text NOT NULL DEFAULT '2009-02-01 00:00:00',
  double_fee integer GENERATED ALWAYS AS (fee * 2) STORED,
  made timestamp NOT NULL DEFAULT '2024-05-06 07:08:09'
);
INSERT INTO bill (id, total, fee, day, "At") VALUES ('a', 0.99, 5, '31.12.2009', '2009-01-01 00:00:00'), ('b', 5, 1250, '01.02.2010', '2009-03-01 10:30:00'), ('c', 1234567.89, -105, NULL, '2010-01-01 00:00:00');
`

const billsPalette = `
domain: shop
roles: [{name: clerk, sees: all}]
entities:
  bill:
    key: id
    key-by: caller
    scope: everyone
    label: "bill {id}"
    fields:
      id: {type: string}
      total: {type: decimal, scale: 2, required: true}
      fee: {type: decimal, unit: 0.01, default-by: database}
      twice: {type: decimal, unit: 0.01, column: double_fee, read-only: true}
      day: {type: date, form: DD.MM.YYYY}
      at: {type: datetime, form: "YYYY-MM-DD hh:mm:ss", column: At, default-by: database}
      made: {type: datetime, default-by: database}
verbs:
  - verb: list
    roles: [clerk]
    reads: {entity: bill, order: [total], fields: {id: id, total: total, fee: fee, twice: twice, day: day, at: at}}
  - verb: above
    roles: [clerk]
    args: [{name: total, type: decimal, required: true}, {name: fee, type: decimal, required: true}]
    reads: {entity: bill, where: row.total >= total and row.fee < fee, order: [id], fields: {id: id}}
  - verb: since
    roles: [clerk]
    args: [{name: at, type: datetime, required: true}]
    reads: {entity: bill, where: row.at >= at, order: [at desc], fields: {id: id, at: at}}
  - verb: on
    roles: [clerk]
    args: [{name: day, type: date, required: true}]
    reads: {entity: bill, where: row.day == day, fields: {id: id}}
  - verb: add
    roles: [clerk]
    args: [{name: id, type: string, required: true}, {name: total, type: decimal, required: true}, {name: fee, type: decimal}, {name: day, type: date}]
    effects: [{creates: bill, set: {id: id, total: total, fee: fee, day: day}}]
  - verb: change
    roles: [clerk]
    args: [{name: bill, type: ref, ref-type: bill, required: true}, {name: total, type: decimal, required: true}, {name: at, type: datetime, required: true}]
    effects: [{updates: bill, where: bill, set: {total: total, at: at, fee: bill.fee + 0.01}}]
  - verb: sum
    roles: [clerk]
    query: {sql: "SELECT id, fee, total FROM bill ORDER BY id", columns: {id: string, fee: decimal, total: decimal}}
`

// F18: money in NUMERIC is exact on both stores to the digits that are declared, cents
// in integers are money, dates in text are dates, and the database's own defaults and
// columns are known.
func TestColumnsAreKeptAsOtherProgramsKeepThem(t *testing.T) {
	t.Parallel()
	onExisting(t, billsSQL, func(t *testing.T, open func(string) *old) {
		o := open(billsPalette).begin()
		for text, want := range map[string]string{
			"shop.list": "@bill-a 0.99 0.05 0.10 2009-12-31 2009-01-01T00:00:00Z\n@bill-b 5.00 12.50 25.00 2010-02-01 2009-03-01T10:30:00Z\n" +
				"@bill-c 1234567.89 -1.05 -2.10  2010-01-01T00:00:00Z",
			"shop.above :total 0.99 :fee 12.50":   "@bill-a\n@bill-c",
			"shop.above :total 0.99 :fee 12.5001": "@bill-a\n@bill-b\n@bill-c",
			"shop.above :total 0.99 :fee -1.045":  "@bill-c",
			"shop.since :at 2009-03-01T10:30:00Z": "@bill-c 2010-01-01T00:00:00Z\n@bill-b 2009-03-01T10:30:00Z",
			"shop.on :day 2010-02-01":             "@bill-b",
			"shop.sum":                            "a 0.05 0.99\nb 12.50 5.00\nc -1.05 1234567.89",
		} {
			if got := o.answer(text); got != want {
				t.Errorf("%s answers\n%s\nwant\n%s", text, got, want)
			}
		}
		o.must(`shop.add :id "d" :total 0.10 :day 2024-02-29`)
		o.must(`shop.change :bill @bill-b :total 7.07 :at 2024-06-01T12:00:00Z`)
		o.refused(`shop.add :id "e" :total 0.105`, "not-accepted")
		o.refused(`shop.add :id "e" :total 1 :fee 0.005`, "not-accepted")
		for column, want := range map[string]string{
			"day": "map[a:31.12.2009 b:01.02.2010 c: d:29.02.2024]",
			"At":  "map[a:2009-01-01 00:00:00 b:2024-06-01 12:00:00 c:2010-01-01 00:00:00 d:2009-02-01 00:00:00]",
		} {
			if got := fmt.Sprint(o.column("bill", "id", column, stores.String)); got != want {
				t.Errorf("%s holds %s, want %s", column, got, want)
			}
		}
		if got, want := fmt.Sprint(o.column("bill", "id", "fee", stores.Int)), "map[a:5 b:1251 c:-105 d:150]"; got != want {
			t.Errorf("fee holds %s, want %s", got, want)
		}
		if got, want := o.answer("shop.list"), "@bill-d 0.10 1.50 3.00 2024-02-29 2009-02-01T00:00:00Z\n@bill-a"; len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("the list is\n%s", got)
		}
	})
}

const dirtySQL = `CREATE TABLE bill (id varchar(10) PRIMARY KEY, total NUMERIC, at TIMESTAMP, day text, state text);
INSERT INTO bill VALUES ('a', 1.50, '2009-01-01 00:00:00', '31.12.2009', 'open'), ('b', 'cheap', '2009-01-02 00:00:00', '31.12.2009', 'open'), ('c', 2.25, 'soon', '31.12.2009', 'open'), ('d', 3, '2009-01-04 00:00:00', '2009', 'open'); -- sqlite
INSERT INTO bill VALUES ('a', 1.50, '2009-01-01 00:00:00', '31.12.2009', 'open'), ('b', 'NaN', '2009-01-02 00:00:00', '31.12.2009', 'open'), ('c', 2.25, 'infinity', '31.12.2009', 'open'), ('d', 3, '2009-01-04 00:00:00', '2009', 'open'); -- postgres
`

const dirtyPalette = `
domain: shop
roles: [{name: clerk, sees: all}]
entities:
  bill:
    key: id
    key-by: caller
    scope: everyone
    label: "bill {id}"
    fields: {id: {type: string}, total: {type: decimal, scale: 2}, at: {type: datetime}, day: {type: date, form: DD.MM.YYYY}, state: {type: string}}
verbs:
  - verb: list
    roles: [clerk]
    reads: {entity: bill, order: [id], fields: {id: id, total: total, at: at, day: day}}
  - verb: dear
    roles: [clerk]
    reads: {entity: bill, where: row.total > 1, order: [total], fields: {id: id, at: at}}
  - verb: states
    roles: [clerk]
    reads: {entity: bill, order: [id], fields: {id: id, state: state}}
  - verb: show
    roles: [clerk]
    args: [{name: bill, type: ref, ref-type: bill, required: true}]
    reads: {entity: bill, one: bill, fields: {total: total}}
  - verb: close
    roles: [clerk]
    args: [{name: bill, type: ref, ref-type: bill, required: true}]
    effects: [{updates: bill.state, where: bill, set: {state: '"closed"'}}]
`

// F18: a row that holds what its field cannot names itself and does not hide the
// others; whoever needs it is told which it is, and nothing is changed.
func TestARowThatCannotBeReadNamesItself(t *testing.T) {
	t.Parallel()
	onExisting(t, dirtySQL, func(t *testing.T, open func(string) *old) {
		o := open(dirtyPalette).begin()
		if got, want := o.answer("shop.list"), "@bill-a 1.50 2009-01-01T00:00:00Z 2009-12-31"; got != want {
			t.Errorf("the list is\n%s\nwant\n%s", got, want)
		}
		left := strings.Join(o.must("shop.list").Calls[0].Result.Left, "\n")
		for _, want := range []string{"bill @bill-b is left out: bill.total holds ", "bill @bill-c is left out: bill.at holds ", "bill @bill-d is left out: bill.day holds something other than a date written DD.MM.YYYY"} {
			if !strings.Contains(left, want) {
				t.Errorf("%s\nlacks %q", left, want)
			}
		}
		if strings.Contains(left, "cheap") || strings.Contains(left, "soon") {
			t.Errorf("what it holds is told: %s", left)
		}
		if got := o.answer("shop.dear"); !strings.HasPrefix(got, "@bill-a ") || strings.Contains(got, "@bill-c") {
			t.Errorf("the dear ones are\n%s", got)
		}
		if got := o.answer("shop.states"); strings.Count(got, "open") != 4 {
			t.Errorf("who does not look at it is told\n%s", got)
		}
		o.refused("shop.show :bill @bill-b", "unreadable-row", "bill.total holds")
		o.refused("shop.close :bill @bill-c", "unreadable-row", "bill.at holds")
		if got := o.column("bill", "id", "state", stores.String)["c"]; got != "open" {
			t.Errorf("it is %s", got)
		}
	})
}

const dirtyLabels = `
domain: shop
roles: [{name: clerk, sees: all}]
entities:
  bill:
    key: id
    key-by: caller
    scope: everyone
    label: "bill {id} of {at}"
    fields: {id: {type: string}, total: {type: decimal, scale: 2}, at: {type: datetime}, state: {type: string}}
  line:
    key: id
    key-by: caller
    scope: everyone
    label: "line {id}"
    fields: {id: {type: string}, bill: {type: ref, ref-type: bill}}
verbs:
  - verb: lines
    roles: [clerk]
    reads: {entity: line, order: [bill.at], fields: {bill: bill, at: bill.at}}
  - verb: bills
    roles: [clerk]
    reads: {entity: bill, order: [id], lists: {lines: {of: line.bill, fields: {line: id, at: bill.at}}}, fields: {bill: id}}
  - verb: asked
    roles: [clerk]
    query: {sql: "SELECT b.id AS id, b.total AS total FROM bill AS b ORDER BY b.id", columns: {id: string, total: decimal}}
  - verb: close
    roles: [clerk]
    args: [{name: bill, type: ref, ref-type: bill, required: true}]
    effects: [{updates: bill.state, where: bill, set: {state: '"closed"'}}]
`

// G24: neither a row that refers to one that cannot be read, nor a label of one, nor an author's
// query takes other rows away, and each tells what it leaves out.
func TestALabelThatCannotBeReadHidesNoRow(t *testing.T) {
	t.Parallel()
	sql := dirtySQL + "CREATE TABLE line (id varchar(10) PRIMARY KEY, bill varchar(10)); INSERT INTO line VALUES ('1', 'c'), ('2', 'a'), ('3', 'c'), ('4', 'd');\n"
	onExisting(t, sql, func(t *testing.T, open func(string) *old) {
		o := open(dirtyLabels).begin()
		if got, want := o.answer("shop.lines"), "@bill-a-of-2009-01-01t00-00-00z 2009-01-01T00:00:00Z\n@bill-d-of-2009-01-04t00-00-00z 2009-01-04T00:00:00Z"; got != want {
			t.Errorf("the lines are\n%s\nwant\n%s", got, want)
		}
		for call, want := range map[string]string{"shop.lines": "line @line-1 is left out: bill.at holds ", "shop.bills": "line @line-3 is left out: bill.at holds ", "shop.asked": "a row is left out: total holds "} {
			if left := strings.Join(o.must(call).Calls[0].Result.Left, "\n"); !strings.Contains(left, want) {
				t.Errorf("%s leaves out\n%s\nwant %s", call, left, want)
			}
		}
		if got := o.answer("shop.bills"); strings.Count(got, "@bill-") != 4 || !strings.Contains(got, "@bill-c-of") {
			t.Errorf("the bills are\n%s", got)
		}
		if got := o.answer("shop.asked"); strings.Count(got, "\n") != 2 {
			t.Errorf("the query tells\n%s", got)
		}
		o.refused("shop.close :bill @bill-c-of", "unreadable-row", "bill.at holds")
	})
}

// G31: a key that the caller gives is shown as every other value that the call sets, and the
// journal's rows keep it once, as their key.
func TestAKeyThatTheCallerGivesIsInTheReceipt(t *testing.T) {
	t.Parallel()
	palette := strings.Replace(dirtyPalette, "  - verb: close\n", `  - verb: add
    roles: [clerk]
    args: [{name: id, type: string, required: true}, {name: state, type: string}]
    effects: [{creates: bill, set: {id: id, state: state}}]
  - verb: close
`, 1)
	onExisting(t, "CREATE TABLE bill (id varchar(10) PRIMARY KEY, total NUMERIC, at TIMESTAMP, day text, state text);\n", func(t *testing.T, open func(string) *old) {
		o := open(palette).begin()
		r := o.must(`shop.add :id "n-17" :state "open"`)
		row := r.Calls[0].Rows[0]
		if len(row.Given) != 1 || row.Given[0].After.Text() != "n-17" || row.Given[0].From != ":id" || len(row.Fields) != 1 {
			t.Errorf("the row is %+v", row)
		}
		var out strings.Builder
		receipt.Print(&out, r, receipt.Options{})
		if !strings.Contains(out.String(), `id     "n-17"`) {
			t.Errorf("the receipt is\n%s", out.String())
		}
		if told, err := json.Marshal(r); err != nil || strings.Count(string(told), `"n-17"`) != 1 {
			t.Errorf("%s, %v", told, err)
		}
		if differ := o.replayed(); len(differ) > 0 {
			t.Errorf("a replay differs: %v", differ)
		}
	})
}
