package engine_test

import (
	"strings"
	"testing"
)

// grouping are reads that tell several rows as one.
const grouping = `
  - verb: by-status
    description: The loans, by how far they are and whose they are.
    roles: [keeper, auditor]
    args:
      - {name: status, type: code, ref-type: loan-status}
    reads:
      entity: loan
      where: status == nil or row.status == status
      order: [loans desc, member]
      limit: 4
      fields:
        status: status
        member: member.member_id
        loans: count()
        first: min(due)
        last: max(due)
        worth: sum(item.worth)
        mean: average(item.worth, 3)

  - verb: all-items
    description: What the things of the club are worth.
    roles: [keeper]
    args:
      - {name: name, type: string}
    reads:
      entity: item
      where: name == nil or row.name == name
      fields: {things: count(), worth: sum(worth), mean: "average(worth, 2)", least: min(worth)}

  - verb: one-day
    description: The loans by day, and by whether they are over.
    roles: [keeper]
    args: []
    reads:
      entity: loan
      order: [over]
      fields: {over: row.due < today, loans: count()}

  - verb: of-item
    description: A thing, and how long it is lent.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
    reads:
      entity: member
      one: member-id
      lists:
        loans: {of: loan.member, fields: {worth: item.worth}}
      fields: {name: name, mean: "average(loans.worth, 1)"}
`

// Rows that are alike in what is returned are told as one, on both stores the same, in one
// order, within the caller's scope.
func TestRowsAreGrouped(t *testing.T) {
	t.Parallel()
	worldsOf(t, grouping, func(t *testing.T, w *world) {
		reads := func(who, script string, want ...string) {
			t.Helper()
			reply, err := w.run(who, script)
			if err != nil {
				t.Fatal(script, err)
			}
			result := reply.Calls[len(reply.Calls)-1].Result
			var got []string
			for _, row := range result.Rows {
				cells := make([]string, len(row))
				for i := range row {
					cells[i] = plain(row[i].String())
				}
				got = append(got, strings.Join(cells, " "))
			}
			equal(t, got, want)
		}
		reads("kim", `lending.all-items`, `4 450.50 150.17 80`)
		w.set("item", 23, "worth", decimal("79.49"))
		reads("kim", `lending.by-status`,
			`"LATE" "@ann" 2 2024-12-01 2024-12-02 199.99 99.995`,
			`"OPEN" "@bob" 1 2025-01-10 2025-01-10 250.00 250.000`)
		reads("kim", `lending.by-status :status CLOSED`)
		reads("kim", `lending.all-items`, `4 529.99 132.50 79.49`)
		reads("kim", `lending.all-items :name "Nothing"`, `0 0 nil nil`)
		reads("kim", `lending.one-day`, `false 1`, `true 2`)
		reads("kim", `lending.of-item :member-id @ann`, `"Ann" 100.0 [{"worth":79.49},{"worth":120.50}]`)
		// What the calls before it did counts.
		reads("kim", `lending.lend :item-id @drill :member-id @ann`+"\nlending.one-day", `false 2`, `true 2`)
		// Too many are refused, never cut off.
		w.set("loan", 31, "status", str("CLOSED"))
		w.done("kim", "lending.lend :item-id @tent :member-id @bob\nlending.lend :item-id @saw :member-id @bob")
		w.set("loan", 33, "status", str("CLOSED"))
		w.refused("kim", `lending.by-status`, "too-much")
	})
}
