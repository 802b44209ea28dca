package drift

import (
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

const ticketPalette = `
domain: desk
roles: [{name: agent, description: An agent of others.}]
codes: [{name: state, values: [OPEN, DONE]}]
entities:
  secret: {managed: true, key: secret_id, scope: self, label: "{name}", fields: {name: {type: string}}}
  ticket:
    managed: true
    key: ticket_id
    scope: {principal: owner}
    label: "{text}"
    fields: {owner: {type: string, required: true}, text: {type: string}, state: {type: code, ref-type: state, required: true, default: OPEN}}
verbs:
  - {verb: report, description: Report., roles: [agent], args: [{name: text, type: string, required: true}], effects: [{creates: ticket, set: {owner: principal, text: text}}]}
  - {verb: ask, description: Ask., roles: [agent], args: [{name: text, type: string, required: true}], effects: [{creates: ticket, set: {owner: principal, text: text}}]}
  - {verb: add, description: Add., roles: [agent], args: [{name: ticket-id, type: ref, ref-type: ticket, required: true}, {name: text, type: string, required: true}], effects: [{updates: ticket.text, where: ticket-id, set: {text: text}}]}
  - {verb: end, description: End., roles: [agent], args: [{name: ticket-id, type: ref, ref-type: ticket, required: true}], effects: [{updates: ticket.state, where: ticket-id, set: {state: DONE}}]}
  - {verb: show, description: Show., roles: [agent], args: [{name: ticket-id, type: ref, ref-type: ticket, required: true}], reads: {entity: ticket, one: ticket-id, fields: {ticket: ticket_id, text: text, state: state}}}
  - {verb: list, description: List., roles: [agent], args: [{name: after, type: ref, ref-type: ticket}], reads: {entity: ticket, order: [text], after: after, limit: 20, fields: {ticket: ticket_id, state: state}}}
`

// A task that can be begun, gone on with, ended, read or listed by agents of others, and was
// not, opens a door. One that stays the same, or goes, opens none.
func TestTasksOpenDoors(t *testing.T) {
	t.Parallel()
	load := func(task string) *verbs.Registry {
		r, ds := load.Sources(dsl.NewSource("desk.yaml", ticketPalette+task))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return r
	}
	base := "task: {entity: ticket, status: state, states: {OPEN: working, DONE: completed}, begins: [desk.report], tells: desk.show}\n"
	for _, c := range []struct {
		name, from, to string
		want           []string
	}{
		{"a first task", "", base, []string{"begin tasks by desk.report", "read tasks by desk.show"}},
		{"the same", base, base, nil},
		{"no task", base, "", nil},
		{"another beginning", base, strings.Replace(base, "[desk.report]", "[desk.report, desk.ask]", 1), []string{"begin tasks by desk.ask"}},
		{"an end", base, strings.Replace(base, "tells:", "cancels: desk.end, tells:", 1), []string{"end tasks by desk.end"}},
		{"a list", base, strings.Replace(base, "tells:", "lists: desk.list, tells:", 1), []string{"list tasks by desk.list"}},
		{"an answer", base, strings.Replace(strings.Replace(base, "OPEN: working", "OPEN: input-required", 1), "tells:", "continues: {verb: desk.add, argument: text}, tells:", 1), []string{"go on with tasks by desk.add"}},
	} {
		var got []string
		for _, d := range Between(load(c.from), load(c.to)) {
			if d.Code == "door-opened" {
				got = append(got, strings.TrimPrefix(d.Summary, "agents of others "))
			} else {
				t.Errorf("%s: %s", c.name, d.Summary)
			}
		}
		if strings.Join(got, "; ") != strings.Join(c.want, "; ") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A function that looks at rows of another entity shows more than it did.
func TestALookAtMoreIsTold(t *testing.T) {
	t.Parallel()
	load := func(looks string) *verbs.Registry {
		r, ds := load.Sources(dsl.NewSource("desk.yaml", ticketPalette+`
  - verb: known
    description: Whether somebody is known.
    roles: [agent]
    looks: `+looks+`
    args: [{name: name, type: string, required: true}]
    discloses: [{name: known, type: boolean}]
`))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return r
	}
	ds := Between(load("[secret]"), load("[secret, ticket]"))
	if len(ds) != 1 || ds[0].Code != "read-widened" || !strings.Contains(ds[0].Summary, "ticket") {
		t.Error(ds)
	}
	if ds := Between(load("[secret, ticket]"), load("[secret]")); len(ds) != 0 {
		t.Error(ds)
	}
}
