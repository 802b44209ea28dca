// Package verbstest makes palettes of any size, for measuring: as varied as
// those that people write, and the same every time.
package verbstest

import (
	"bytes"
	"fmt"
	"io/fs"
	"testing/fstest"
)

// perFile is how many verbs a file of Files holds: it stays under the size
// that a palette may have.
const perFile = 500

// Palette returns one palette, of the domain `work`, with n verbs: notes,
// submissions, reads, confirmations and what is left to handlers, about the
// entities of an onboarding. Verb i is called VerbName(i). More than about
// twelve hundred verbs are larger than a palette file may be without
// verbs.MaxFile.
func Palette(n int) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	for i := range n {
		writeVerb(&b, i)
	}
	return b.Bytes()
}

// Files returns n verbs as a directory of palettes of 500 verbs each. Verb i is
// called the same as in Palette, but for its domain, which is that of its file:
// work0, work1 and so on.
func Files(n int) fs.FS {
	dir := fstest.MapFS{}
	for at := 0; at < n; at += perFile {
		domain := fmt.Sprintf("work%d", at/perFile)
		var b bytes.Buffer
		if at == 0 {
			b.WriteString(head)
		} else {
			b.WriteString("domain: work\ndescription: More of the same.\n\nverbs:\n")
		}
		for i := at; i < min(at+perFile, n); i++ {
			writeVerb(&b, i)
		}
		dir[domain+".yaml"] = &fstest.MapFile{Data: bytes.Replace(b.Bytes(), []byte("domain: work\n"), []byte("domain: "+domain+"\n"), 1)}
	}
	return dir
}

// VerbName returns the name of verb i without its domain.
func VerbName(i int) string {
	return fmt.Sprintf("%s-%s-%d", actions[i%len(actions)], things[i/len(actions)%len(things)], i)
}

var (
	actions = []string{"add", "submit", "list", "extend", "record", "review", "assign", "escalate"}
	things  = []string{"note", "document", "request", "address", "owner", "account", "mandate", "contract", "payment", "signature", "report"}
)

const head = `# yaml-language-server: $schema=palette.schema.json
domain: work
description: Requests, what is sent for them, and who looks after them.

roles:
  - {name: client, description: Somebody at the client.}
  - {name: analyst, description: Somebody who reviews., sees: all}
  - {name: compliance, description: Somebody who must agree., sees: all}

codes:
  - name: request-status
    description: How far a request has come.
    values: [PENDING, PARTIALLY_FULFILLED, PENDING_REVIEW, FULFILLED, WAIVED]
  - name: document-type
    values: [PASSPORT, NATIONAL_ID, TAX_RETURN, AUDITED_ACCOUNTS, ADVISOR_LETTER, BANK_STATEMENT]
  - name: priority
    values: [LOW, NORMAL, HIGH]

schemas:
  address:
    type: object
    required: [street, city]
    properties:
      street: {type: string}
      city: {type: string}

entities:
  cbu:
    key: cbu_id
    scope: self
    label: "{name}"
    fields:
      name: {type: string, required: true}
  case:
    key: case_id
    scope: cbu
    fields:
      cbu: {type: ref, ref-type: cbu, column: cbu_id, required: true}
      opened_on: {type: date}
  request:
    description: Something that is still needed.
    table: work.requests
    key: request_id
    scope: case.cbu
    label: "{case.cbu.name} {subtype}"
    fields:
      case: {type: ref, ref-type: case, column: case_id, required: true}
      subtype: {type: string, required: true}
      status: {type: code, ref-type: request-status, default: PENDING, required: true}
      priority: {type: code, ref-type: priority, default: NORMAL}
      due_date: {type: date}
      amount: {type: decimal, scale: 2}
      notes: {type: string}
      visible: {type: boolean, required: true, default: true}
      updated_at: {type: datetime}
  reminder:
    managed: true
    key: reminder_id
    scope: request.case.cbu
    fields:
      request: {type: ref, ref-type: request, required: true}
      remind_on: {type: date, required: true}
      text: {type: string, required: true}
  submission:
    managed: true
    key: submission_id
    scope: request.case.cbu
    fields:
      request: {type: ref, ref-type: request, required: true}
      document_type: {type: code, ref-type: document-type, required: true}
      file_reference: {type: string, required: true}
      notes: {type: string}
      submitted_at: {type: datetime, required: true}

verbs:
`

// writeVerb writes verb i, of one of the kinds that real palettes are made of.
func writeVerb(b *bytes.Buffer, i int) {
	name := VerbName(i)
	switch i % len(actions) {
	case 0:
		fmt.Fprintf(b, `
  - verb: %s
    description: Leave a note on request kind %d, and say when something is expected.
    roles: [client]
    phrases: ["tell them {note}", "we are waiting for {note}"]
    args:
      - {name: request-id, type: ref, ref-type: request, required: true, description: a request you can see}
      - {name: note, type: string, required: true, min-length: 1, max-length: 2000}
      - {name: expected-date, type: date, description: when it should be there}
    effects:
      - updates: request
        where: request-id
        set: {notes: note, updated_at: now}
      - may-create: reminder
        when: expected_date != nil
        set: {request: request-id, remind_on: expected_date + days(1), text: note}
`, name, i)
	case 1:
		fmt.Fprintf(b, `
  - verb: %s
    description: Send a document of kind %d for a request.
    roles: [client, analyst]
    phrases: ["here is {document-type}"]
    args:
      - name: request-id
        type: ref
        ref-type: request
        required: true
      - name: document-type
        type: code
        ref-type: document-type
        required: true
      - name: file-reference
        type: string
        required: true        # from the upload service
        pattern: "upload://[A-Za-z0-9_-]{1,200}"
      - name: notes
        type: string
        max-length: 2000
    effects:
      - creates: submission
        set: {request: request-id, document_type: document-type, file_reference: file-reference, notes: notes, submitted_at: now}
      - updates: request
        where: request-id
        set: {status: PENDING_REVIEW, updated_at: now}
      - triggers: internal-review
`, name, i)
	case 2:
		fmt.Fprintf(b, `
  - verb: %s
    description: What is still needed, view %d.
    roles: [client]
    args:
      - {name: cbu-id, type: ref, ref-type: cbu, description: only this one}
      - {name: include-completed, type: boolean, default: false}
    returns:
      type: request-list
      includes: [request_id, status, due_date, owner]
    reads:
      entity: request
      where: row.visible and (include_completed or row.status != FULFILLED)
      order: [due_date, updated_at desc]
      limit: 200
      fields:
        request_id: request_id
        status: status
        due_date: due_date
        owner: case.cbu.name
        submissions: count(submission.request)
`, name, i)
	case 3:
		fmt.Fprintf(b, `
  - verb: %s
    description: Ask for more time, way %d.
    roles: [client, analyst]
    args:
      - {name: request-id, type: ref, ref-type: request, required: true}
      - {name: new-date, type: date, required: true, examples: ["2025-01-22"]}
      - {name: reason, type: string, required: true, max-length: 500}
    confirm:
      - {when: "new_date > request_id.due_date + days(14)", by: compliance, expires: 24h, reason: more than two weeks}
    effects:
      - updates: request
        where: request-id
        set: {due_date: new-date, notes: reason}
`, name, i)
	case 4:
		fmt.Fprintf(b, `
  - verb: %s
    description: Record figures of kind %d.
    roles: [analyst]
    args:
      - {name: request-id, type: ref, ref-type: request, required: true}
      - {name: amount, type: decimal, required: true, min: 0, max: 1000000.00, scale: 2}
      - {name: priority, type: code, ref-type: priority, default: NORMAL}
      - {name: iban, type: string, sensitive: true, from: [person, record]}
      - {name: tags, type: list, of: {type: string, max-length: 20}, max-length: 10}
    confirm:
      - {when: "amount > 50000.00 or priority == HIGH", reason: it is a large sum}
    effects:
      - updates: request.amount
        where: request-id
        set: {amount: amount}
`, name, i)
	case 5:
		fmt.Fprintf(b, `
  - verb: %s
    description: Review in way %d, by a handler.
    roles: [analyst]
    args:
      - {name: request-id, type: ref, ref-type: request, required: true}
      - {name: address, type: object, schema: address}
      - {name: confirmed, type: boolean, required: true}
    returns: {type: review, includes: [status, remarks]}
    effects:
      - updates: request.status
      - notifies: assigned-analyst
      - returns: next-question OR validation-error OR complete
    handler: true
`, name, i)
	case 6:
		fmt.Fprintf(b, `
  - verb: %s
    description: Close what matches, way %d.
    roles: [analyst]
    args:
      - {name: before, type: date, required: true}
      - {name: status, type: code, ref-type: request-status, required: true}
    confirm: always
    effects:
      - updates: request
        where: row.due_date < before and row.status in [PENDING, PARTIALLY_FULFILLED]
        set: {status: status, updated_at: now}
`, name, i)
	default:
		fmt.Fprintf(b, `
  - verb: %s
    description: Ask for a person, reason %d.
    roles: [client]
    phrases: ["I want to talk to somebody", "call me"]
    args:
      - {name: reason, type: string, max-length: 2000}
      - {name: contact, type: email}
    effects:
      - notifies: relationship-manager
        with: {reason: reason}
`, name, i)
	}
}
