package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
)

const rewrittenSQL = `
CREATE TABLE tasks (id uuid PRIMARY KEY, title text NOT NULL, due date, owner text NOT NULL, changes integer NOT NULL); -- postgres
CREATE TABLE tasks (id text PRIMARY KEY, title text NOT NULL, due text, owner text NOT NULL, changes integer NOT NULL); -- sqlite
CREATE FUNCTION made() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.due := DATE '2030-12-31'; IF TG_OP = 'UPDATE' THEN NEW.changes := OLD.changes + 1; END IF; IF NEW.title = 'moved' THEN NEW.id := '00000000-0000-4000-8000-000000000999'; END IF; RETURN NEW; END $$; -- postgres
CREATE TRIGGER made BEFORE INSERT OR UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION made(); -- postgres
CREATE TRIGGER made AFTER INSERT ON tasks BEGIN UPDATE tasks SET due = '2030-12-31', id = CASE NEW.title WHEN 'moved' THEN '00000000-0000-4000-8000-000000000999' ELSE id END WHERE rowid = NEW.rowid; END; -- sqlite
CREATE TRIGGER made_of AFTER UPDATE OF title, due ON tasks WHEN NEW.changes = OLD.changes BEGIN UPDATE tasks SET due = '2030-12-31', changes = changes + 1 WHERE rowid = NEW.rowid AND NEW.due IS NOT '2030-12-31'; END; -- sqlite
`

const rewrittenYAML = `
domain: work
description: Tasks that another program keeps.
roles: [{name: clerk, sees: all}]
entities:
  task:
    table: tasks
    key: id
    scope: everyone
    label: "{title}"
    fields:
      title: {type: string, required: true}
      due: {type: date}
      owner: {type: string, required: true}
      changes: {type: integer, required: true, default: 0}
verbs:
  - verb: add
    description: Add a task.
    roles: [clerk]
    args: [{name: title, type: string, required: true}, {name: due, type: date, required: true}]
    effects:
      - creates: task
        set: {title: title, due: due, owner: principal}
  - verb: put-off
    description: Put a task off.
    roles: [clerk]
    undo: rows
    args: [{name: task, type: ref, ref-type: task, required: true}, {name: due, type: date, required: true}]
    effects:
      - updates: task.due
        where: task
        set: {due: due}
`

// What a trigger makes of a value is what a preview, a receipt and the journal say (G12), with what
// was set; a trigger that changes the key of a row is refused in plain words.
func TestWhatTheDatabaseMakesOfAValue(t *testing.T) {
	t.Parallel()
	onExisting(t, rewrittenSQL, func(t *testing.T, open func(string) *old) {
		o := open(rewrittenYAML).begin()
		ctx := context.Background()
		eng, err := engine.New(o.reg, o.store, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := eng.Session(ctx, "ada")
		if err != nil {
			t.Fatal(err)
		}
		try := func(text string, run bool) (*receipt.Receipt, error) {
			script, _ := dsl.Parse(dsl.NewSource("x.dsl", text))
			p, ds := s.Check(ctx, script)
			if p == nil {
				t.Fatal(told(ds))
			}
			if !run {
				return s.Preview(ctx, p)
			}
			preview, err := s.Preview(ctx, p)
			if err != nil {
				return nil, err
			}
			return s.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
		}
		says := func(text string, wants ...string) {
			t.Helper()
			for _, run := range []bool{false, true} {
				r, err := try(text, run)
				if err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				receipt.Print(&b, r, receipt.Options{Full: true})
				raw, _ := json.Marshal(r)
				for _, want := range append(wants, `"made":true,"given":"2025-02-01"`) {
					if !strings.Contains(b.String()+string(raw), want) {
						t.Errorf("run %v does not say %q:\n%s%s", run, want, b.String(), raw)
					}
				}
			}
		}
		says(`work.add :title "Report" :due 2025-02-01`, "2030-12-31", "the database made this of 2025-02-01")
		entries, err := o.store.Journal(ctx, 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		record, err := journal.Parse(entries[len(entries)-1].Changes)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range record.Rows[0].Fields {
			found = found || f.Name == "due" && f.Made && f.After.String() == "2030-12-31" && f.Given.String() == "2025-02-01"
		}
		if !found {
			t.Errorf("the journal says %+v", record.Rows[0].Fields)
		}
		says(`work.put-off :task @report :due 2025-02-01`, "changes")
		if entries, err = o.store.Journal(ctx, 1, 10); err != nil {
			t.Fatal(err)
		}
		script, err := s.Journal().Undo(ctx, entries[len(entries)-1].Seq)
		if err != nil {
			t.Fatalf("what a trigger changed too cannot be taken back: %v", err)
		}
		if _, err = try(dsl.Format(script), true); err != nil {
			t.Errorf("what a trigger changed too cannot be taken back: %v", err)
		}
		_, err = try(`work.add :title "moved" :due 2025-02-01`, true)
		if got := codeOf(t, err); got != "row-rewritten" {
			t.Errorf("a key that a trigger changes: %s", got)
		}
	})
}
