package load

import (
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
)

// A small help desk, whose verbs form a task.
const taskDesk = `domain: desk
roles: [{name: guest}, {name: clerk, sees: all}]
codes: [{name: progress, values: [OPEN, ASKED, SOLVED, WITHDRAWN]}]
entities:
  ticket:
    key: ticket_id
    managed: true
    scope: {principal: owner}
    fields:
      owner: {type: string, required: true}
      subject: {type: string, required: true}
      status: {type: code, ref-type: progress, required: true}
      question: {type: string}
      changed: {type: datetime}
  other:
    key: other_id
    managed: true
    scope: everyone
    fields: {name: {type: string}}
verbs:
  - verb: report
    roles: [guest]
    args: [{name: text, type: string, required: true}, {name: urgent, type: boolean}]
    effects: [{creates: ticket, set: {owner: principal, subject: text, status: OPEN}}]
  - verb: maybe
    roles: [guest]
    args: [{name: text, type: string, required: true}]
    effects: [{may-create: ticket, when: len(text) > 3, set: {owner: principal, subject: text, status: OPEN}}]
  - verb: twice
    roles: [guest]
    args: [{name: text, type: string, required: true}]
    script: |
      desk.tickets
      desk.report :text @text
  - verb: file
    roles: [clerk]
    args: [{name: text, type: string, required: true}]
    effects: [{creates: ticket, set: {owner: principal, subject: text, status: OPEN}}]
  - verb: answer
    roles: [guest]
    args: [{name: ticket-id, type: ref, ref-type: ticket, required: true}, {name: text, type: string, required: true}, {name: urgent, type: boolean}]
    effects: [{updates: ticket.status, where: ticket-id, set: {status: OPEN}}]
  - verb: close
    roles: [guest]
    args: [{name: ticket-id, type: ref, ref-type: ticket, required: true}, {name: why, type: string, required: true}]
    effects: [{updates: ticket.status, where: ticket-id, set: {status: WITHDRAWN}}]
  - verb: withdraw
    roles: [guest]
    args: [{name: ticket-id, type: ref, ref-type: ticket, required: true}]
    effects: [{updates: ticket.status, where: ticket-id, set: {status: WITHDRAWN}}]
  - verb: ticket
    roles: [guest]
    args: [{name: ticket-id, type: ref, ref-type: ticket, required: true}]
    reads: {entity: ticket, one: ticket-id, fields: {subject: subject, status: status, question: question, changed: changed}}
  - verb: subject
    roles: [guest]
    args: [{name: ticket-id, type: ref, ref-type: ticket, required: true}]
    reads: {entity: ticket, one: ticket-id, fields: {subject: subject}}
  - verb: tickets
    roles: [guest]
    reads: {entity: ticket, limit: 100, fields: {status: status, subject: subject}}
  - verb: stages
    roles: [guest]
    reads: {entity: ticket, limit: 100, fields: {stage: status, subject: subject}}
`

const taskWhole = `task:
  entity: ticket
  status: status
  states: {OPEN: working, ASKED: input-required, SOLVED: completed, WITHDRAWN: canceled}
  begins: [desk.report]
  anything-else: {verb: desk.report, argument: text}
  continues: {verb: desk.answer, argument: text}
  cancels: desk.withdraw
  tells: desk.ticket
  message: question
  changed: changed
  lists: desk.tickets
`

// Whatever is wrong with a task is told where it is written, and a palette does not load
// with it.
func TestTasksAreStrict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, code, says string }{
		{"entity: ticket", "entity: tickets", "unknown-entity", `no entity is called "tickets"`},
		{"status: status", "status: state", "unknown-field", `ticket has no field called "state"`},
		{"status: status", "status: subject", "contradiction", "subject says how far a task is, and is of no code list"},
		{", WITHDRAWN: canceled", "", "code-without-state", "no state is given to WITHDRAWN"},
		{"ASKED: input-required", "ASKED: asked", "unknown-word", `ASKED cannot be "asked"`},
		{"ASKED: input", "ASKT: input", "unknown-word", `a code of progress cannot be "ASKT"`},
		{"[desk.report]", "[desk.repot]", "unknown-verb", `no verb is called "desk.repot"`},
		{"[desk.report]", "[desk.report, desk.withdraw]", "contradiction", "desk.withdraw begins a task, and does not promise to create ticket"},
		{"[desk.report]", "[desk.report, desk.maybe]", "contradiction", "desk.maybe begins a task, and does not promise to create ticket"},
		{"[desk.report]", "[desk.report, desk.file]", "contradiction", "clerk may begin a task with desk.file, and may not use desk.ticket, by which it is told"},
		{"anything-else: {verb: desk.report", "anything-else: {verb: desk.maybe", "contradiction", "desk.maybe takes words that mean nothing else, and begins no task"},
		{"desk.report, argument: text", "desk.report, argument: txt", "unknown-argument", "desk.report takes no argument called txt"},
		{"desk.report, argument: text", "desk.report, argument: urgent", "contradiction", "desk.report takes answers, and needs :text"},
		{"verb: desk.answer", "verb: desk.reply", "unknown-verb", `no verb is called "desk.reply"`},
		{"verb: desk.answer", "verb: desk.file", "contradiction", "desk.file is about a task, and takes none"},
		{"desk.answer, argument: text", "desk.answer, argument: urgent", "contradiction", "words are text, and :urgent is true or false"},
		{"desk.answer, argument: text", "desk.answer, argument: ticket-id", "contradiction", "words are text, and :ticket-id is"},
		{"cancels: desk.withdraw", "cancels: desk.close", "contradiction", "desk.close is called for a task, and needs :why as well"},
		{"cancels: desk.withdraw", "cancels: desk.tickets", "contradiction", "desk.tickets is about a task, and takes none"},
		{"tells: desk.ticket", "tells: desk.subject", "contradiction", "desk.subject does not tell the status of a task"},
		{"tells: desk.ticket", "tells: desk.tickets", "contradiction", "desk.tickets tells no task"},
		{"tells: desk.ticket", "tells: desk.withdraw", "contradiction", "desk.withdraw tells no task"},
		{"message: question", "message: qestion", "unknown-word", `message cannot be "qestion"`},
		{"changed: changed", "changed: subject", "contradiction", "subject says when a task changed, and is no datetime"},
		{"lists: desk.tickets", "lists: desk.ticket", "contradiction", "desk.ticket tells no task"},
		{"lists: desk.tickets", "lists: desk.stages", "contradiction", "desk.stages calls the status of a task otherwise than desk.ticket"},
		{"  entity:", "  entitty: other\n  entity:", "unknown-key", `a task has no key called "entitty"`},
	} {
		if !strings.Contains(taskWhole, c.old) {
			t.Fatalf("%q is not in the task", c.old)
		}
		r, ds := Sources(dsl.NewSource("desk.yaml", taskDesk+strings.Replace(taskWhole, c.old, c.new, 1)))
		if r != nil || len(ds) == 0 || ds[0].Code != c.code || !strings.Contains(ds[0].Summary, c.says) {
			t.Errorf("%s: %s, want %s: %s", c.new, inWords(ds), c.code, c.says)
		}
		for _, d := range ds {
			if line := d.Place.Source.Text[:d.Place.Range.Start]; !strings.Contains(line, "\ntask:") {
				t.Errorf("%s: it is told elsewhere: %s", c.new, d.Summary)
			}
		}
	}
	// A second palette may not say it again.
	second := strings.Replace(taskDesk[:strings.Index(taskDesk, "roles:")], "desk", "more", 1) + taskWhole
	if r, ds := Sources(dsl.NewSource("desk.yaml", taskDesk+taskWhole), dsl.NewSource("more.yaml", second)); r != nil || len(ds) != 1 || ds[0].Code != "declared-twice" {
		t.Error(inWords(ds))
	}
}

// A task that is right is there, with its verbs.
func TestATaskLoads(t *testing.T) {
	t.Parallel()
	r, ds := Sources(dsl.NewSource("desk.yaml", taskDesk+strings.Replace(taskWhole, "[desk.report]", "[desk.report, desk.twice]", 1)))
	if len(ds) > 0 {
		t.Fatal(inWords(ds))
	}
	all := r.Tasks()
	if len(all) != 1 {
		t.Fatal(len(all))
	}
	k := all[0]
	if k.Entity.Store.Name != "ticket" || k.Status != "status" || k.Message != "question" || k.Changed != "changed" || k.States["ASKED"] != verbs.TaskInput || k.Row != 0 || k.Words != 1 || k.CancelRow != 0 || k.Otherwise.Param != 0 {
		t.Errorf("%+v", k)
	}
	for state, ended := range map[verbs.TaskState]bool{verbs.TaskWorking: false, verbs.TaskInput: false, verbs.TaskAuth: false, verbs.TaskRejected: true, verbs.TaskFailed: true} {
		if state.Ended() != ended {
			t.Error(state)
		}
	}
}
