package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
)

const listing = `
  - verb: has
    description: A member, and the loans and things that they have.
    roles: [keeper, member]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
    reads:
      entity: member
      one: member-id
      lists:
        loans:
          of: loan.member
          order: [due]
          fields: {loan: loan_id, item: item, club: item.club, due: due}
      fields: {name: name, first: min(loans.due)}
`

// A list within a read tells references by name, and the next call takes them.
func TestReferencesInAListAreTold(t *testing.T) {
	t.Parallel()
	worldsOf(t, listing, func(t *testing.T, w *world) {
		s := w.session("kim")
		r := w.must(s, `lending.has :member-id @ann`, engine.RunOptions{})
		got := plain(fmt.Sprint(r.Calls[0].Result.Rows[0]))
		if want := `["Ann" 2024-12-01 [{"club":"@north","due":"2024-12-01","item":"@ladder","loan":"@ladder-ann"},{"club":"@north","due":"2024-12-02","item":"@tent","loan":"@tent-ann"}]]`; got != want {
			t.Errorf("it tells %s", got)
		}
		text := fmt.Sprint(r.Calls[0].Result.Rows[0])
		_, rest, _ := strings.Cut(text, `"loan":"@tent`)
		name, _, _ := strings.Cut(rest, `"`)
		w.must(s, `lending.remind :on 2025-02-02 :loan-id @tent`+name, engine.RunOptions{})
		// One that this script adds has no name yet.
		r = w.must(s, "lending.lend :item-id @drill :member-id @ann\nlending.has :member-id @ann", engine.RunOptions{})
		if text := plain(fmt.Sprint(r.Calls[1].Result.Rows[0])); strings.Count(text, "000000") > 0 || !strings.Contains(text, `"item":"@drill"`) {
			t.Errorf("it tells %s", text)
		}
	})
}
