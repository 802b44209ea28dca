package engine_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// SAFE-S2, SAFE-S4: what a palette says others write is theirs, in whatever way it
// is read by somebody who is none of them, and also once it was saved elsewhere;
// to those who write it, it is a record.
func TestWordsOfOthersAreAStrangers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/palettes/lending.yaml")
	if err != nil {
		t.Fatal(err)
	}
	palette := strings.Replace(string(text), "      note:       {type: string}\n", "      note:       {type: string, written-by: [member]}\n", 1)
	palette += `
  - verb: see-note
    description: What is noted on a loan.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    reads: {entity: loan, one: loan-id, fields: {note: note, long: "row.note != nil ? row.note : ''", due: due}}

  - verb: see-reminders
    description: Reminders, with what is noted.
    roles: [keeper]
    reads: {entity: reminder, where: row.loan.note != nil, fields: {note: loan.note}}

  - verb: ask-notes
    description: Notes, out of the database.
    roles: [keeper]
    query:
      one: true
      columns: {note: string}
      sql: SELECT MAX(note) AS note FROM club.loans

  - verb: rename-by-note
    description: A name out of a note.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
      - {name: member-id, type: ref, ref-type: member, required: true}
    script: |
      lending.see-note :loan-id @loan-id :as @seen
      lending.rename-member :member-id @member-id :name @seen.note

  - verb: keep-note
    description: A note, kept as the text of a reminder.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    effects:
      - creates: reminder
        set: {loan: loan-id, remind_on: today, text: "loan_id.note != nil ? loan_id.note : ''"}
`
	ways := map[string]string{
		"a field of a name":   `lending.rename-member :member-id @bob :name @saw-bob.note`,
		"a read":              "lending.see-note :loan-id @saw-bob :as @n\nlending.rename-member :member-id @bob :name @n.note",
		"an expression":       "lending.see-note :loan-id @saw-bob :as @n\nlending.rename-member :member-id @bob :name @n.long",
		"along a reference":   "lending.see-reminders :as @n\nlending.rename-member :member-id @bob :name @n.note",
		"a query":             "lending.ask-notes :as @n\nlending.rename-member :member-id @bob :name @n.note",
		"a macro":             `lending.rename-by-note :loan-id @saw-bob :member-id @bob`,
		"what was made of it": "lending.keep-note :loan-id @saw-bob :as @r\nlending.rename-member :member-id @bob :name @r.text",
	}
	for name, script := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": palette}), nil)
			ctx := context.Background()
			for _, p := range []stores.Principal{
				{Name: "mia", Roles: []string{"member"}, Holds: holds(1)},
				{Name: "both", Roles: []string{"keeper", "member"}, Holds: holds(1)},
			} {
				if err := w.store.SetPrincipal(ctx, p); err != nil {
					t.Fatal(err)
				}
			}
			s := w.session("mia")
			if _, err := s.Run(ctx, w.program(s, `lending.note :loan-id @saw-bob :note "Robert"`), engine.RunOptions{}); err != nil {
				t.Fatal(err)
			}
			before := w.state()
			s = w.session("kim")
			_, err := s.Run(ctx, w.program(s, script), engine.RunOptions{})
			if got := codeOf(t, err); got != "origin" || !strings.Contains(err.Error(), "the words of a member") {
				t.Errorf("told %q: %v", got, err)
			}
			if d := diff(w.entity, before, w.state()); len(d) > 0 {
				t.Error(d)
			}
			// Saved once by who is a stranger to it, it stays what it is.
			if name == "what was made of it" {
				return
			}
			s = w.session("both")
			if _, err := s.Run(ctx, w.program(s, script), engine.RunOptions{}); err != nil {
				t.Errorf("to who writes them they are no record: %v", err)
			}
		})
	}
}

// What an answer shows says whose words it shows.
func TestAnAnswerShowsWhoseWordsItShows(t *testing.T) {
	t.Parallel()
	reg := load(t, "../../verbs/palettes/bank")
	s := sqliteBank(t)
	ctx := context.Background()
	run := func(who, text string) *receipt.Receipt {
		t.Helper()
		session, err := s.engine.Session(ctx, who)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, reg: reg}
		reply, err := session.Run(ctx, w.program(session, text), engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	run("clara", `client.add-note :request-id @pierre-dupont-source-of-wealth :note "it comes"`)
	for who, c := range map[string]struct{ text, column string }{
		"t.weber": {`review.look :request-id @pierre-dupont-source-of-wealth`, "client_notes"},
		"clara":   {`client.get-request-detail :request-id @pierre-dupont-source-of-wealth`, "client_notes"},
	} {
		r := run(who, c.text).Calls[0].Result
		for i, name := range r.Columns {
			foreign := verbs.Stored(r.Origin(0, i)).Kinds()&verbs.FromDocument != 0
			if want := who == "t.weber" && name == c.column; foreign != want && !r.Rows[0][i].IsNull() {
				t.Errorf("to %s, %s is of %q", who, name, r.Origin(0, i))
			}
		}
	}
}
