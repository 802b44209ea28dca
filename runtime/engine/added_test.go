package engine_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"verbatim/runtime/engine"
	loading "verbatim/verbs/load"
)

const conditionalPath = `
  - verb: welcome
    description: A new member, who takes some things at once.
    roles: [keeper]
    args:
      - {name: club-id, type: ref, ref-type: club, required: true}
      - {name: name, type: string, required: true}
      - {name: guest, type: string}
      - {name: item-ids, type: list, of: {type: ref, ref-type: item}, required: true}
    confirm: always
    effects:
      - creates: member
        as: newcomer
        set: {club: club-id, name: name}
      - may-create: member
        as: friend
        when: guest != nil
        set: {club: club-id, name: guest}
      - creates: loan
        for-each: item-ids
        set: {member: "friend ?? newcomer", item: each, due: today + days(7), updated_at: now}
      - notifies: board
        with: {who: newcomer}
`

// Effects refer to a row that one before them adds, several rows or none, and what was
// shown of it is what runs.
func TestAnEffectRefersToANewRow(t *testing.T) {
	t.Parallel()
	worldsOf(t, conditionalPath, func(t *testing.T, w *world) {
		for script, want := range map[string]int{
			`lending.welcome :club-id @north :name "Cleo" :item-ids [@drill @tent]`:             3,
			`lending.welcome :club-id @north :name "Dan" :guest "Eve" :item-ids [@drill @tent]`: 4,
		} {
			s := w.session("kim")
			p := w.program(s, script)
			preview, err := s.Preview(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			again, err := w.session("kim").Preview(t.Context(), p)
			if err != nil || again.ID != preview.ID {
				t.Errorf("looked at twice it is another: %v", err)
			}
			reply, err := s.Run(t.Context(), p, engine.RunOptions{Agreed: preview.ID})
			if err != nil {
				t.Fatal(err)
			}
			rows, who, loans := reply.Calls[0].Rows, "", 0
			for i := range rows {
				for _, f := range rows[i].Fields {
					switch {
					case rows[i].Entity == "member" && f.Name == "name":
						who = plain(rows[i].Name)
					case rows[i].Entity == "loan" && f.Name == "member":
						if loans++; plain(f.After.Text()) != who {
							t.Errorf("%s: the loan is of %s, and %s is the last who was added", script, f.After.Text(), who)
						}
					}
				}
			}
			if len(rows) != want || loans != 2 || len(reply.Calls[0].Notices) != 1 {
				t.Errorf("%s: %d rows, %d loans", script, len(rows), loans)
			}
		}
	})
}

// Only what a palette says how to make can be referred to, and only afterwards.
func TestWhatAnEffectMayNotReferTo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, code string }{
		{"as: friend", "as: newcomer", "declared-twice"},
		{"as: friend", "as: guest", "declared-twice"},
		{"as: friend", "as: row", "reserved-word"},
		{"set: {club: club-id, name: name}", "set: {club: newcomer, name: name}", "unknown-name"},
		{"name: guest}", "name: newcomer.name}", "bad-expression"},
		{"        for-each: item-ids\n", "        for-each: item-ids\n        as: them\n", "limit-does-not-apply"},
		{"friend ?? newcomer", "friend ?? club_id", "type-mismatch"},
		{"    confirm: always\n", "    handler: true\n", "contradiction"},
	} {
		text := strings.Replace(conditionalPath, c.from, c.to, 1)
		if text == conditionalPath {
			t.Fatal(c.from)
		}
		_, ds := loading.Dir(fstest.MapFS{"lending.yaml": {Data: []byte(lendingText(t) + text)}})
		if got := told(ds); !strings.Contains(got, "["+c.code) {
			t.Errorf("%s: told %q, want %s", c.to, got, c.code)
		}
	}
}
