package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const paged = `
  - verb: find-loans
    description: Loans of things by a part of their name, some at a time.
    roles: [keeper]
    args:
      - {name: part, type: string}
      - {name: after-id, type: ref, ref-type: loan}
    reads:
      entity: loan
      where: part == nil or lower(row.item.name) contains lower(part)
      order: [note, status desc]
      limit: 2
      after: after-id
      fields: {loan: loan_id, item: item.name, note: note}

  - verb: begins
    description: Things by how their name begins, or ends.
    roles: [keeper]
    args:
      - {name: first, type: string}
      - {name: last, type: string}
      - {name: whole, type: string}
    reads:
      entity: item
      where: (first != nil and row.name startsWith first) or (last != nil and row.name endsWith last) or (whole != nil and lower(row.name) == lower(whole))
      order: [name]
      fields: {name: name}
`

// A list comes in pages that together are all of it, in order and each row once,
// whatever is alike or empty in what it is ordered by.
func TestAListComesInPages(t *testing.T) {
	t.Parallel()
	worldsOf(t, paged, func(t *testing.T, w *world) {
		var want []string
		for n := range 7 {
			w.done("kim", fmt.Sprintf(`lending.add-item :club-id @north :name "Éclair %d" :worth 1 :as @x lending.lend :item-id @x :member-id @bob`, n))
		}
		for n := range 3 {
			w.done("kim", fmt.Sprintf(`lending.note :loan-id @eclair-%d-bob :note "b"`, 2*n))
		}
		w.done("kim", `lending.note :loan-id @eclair-5-bob :note "a"`)
		var got []string
		after := ""
		for page := 0; ; page++ {
			r, err := w.run("kim", `lending.find-loans :part "ÉCLAIR"`+after)
			if err != nil {
				t.Fatal(err)
			}
			res := r.Calls[0].Result
			for _, row := range res.Rows {
				got = append(got, row[1].Text())
			}
			if len(res.Left) == 0 {
				if len(res.Rows) > 2 || page != 3 {
					t.Errorf("page %d is the last, of %d rows", page, len(res.Rows))
				}
				break
			}
			if len(res.Rows) != 2 || page > 3 {
				t.Fatalf("page %d has %d rows, and says %q", page, len(res.Rows), res.Left)
			}
			_, next, _ := strings.Cut(res.Left[0], "with ")
			after = " " + strings.TrimSuffix(next, " tells the next")
		}
		if got[0] != "Éclair 5" || slices.Contains(got[1:4], "Éclair 1") {
			t.Errorf("not in the order of their notes: %q", got)
		}
		slices.Sort(got)
		for n := range 7 {
			want = append(want, fmt.Sprintf("Éclair %d", n))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the pages have %q", got)
		}
		for script, want := range map[string]string{
			`lending.begins :first "T"`:             "Tent",
			`lending.begins :first "t"`:             "",
			`lending.begins :last "l" :whole "sAW"`: "Drill Saw",
			`lending.begins :whole "ÉCLAIR 0"`:      "Éclair 0",
			`lending.begins :first "%"`:             "",
			`lending.begins :first "" :last "no"`:   "Drill Ladder Saw Tent Éclair 0 Éclair 1 Éclair 2 Éclair 3 Éclair 4 Éclair 5 Éclair 6",
		} {
			r, err := w.run("kim", script)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range r.Calls[0].Result.Rows {
				got = append(got, row[0].Text())
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %q, want %q", script, got, want)
			}
		}
	})
}
