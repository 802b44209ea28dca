package runtime_test

import (
	"context"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/verbs"
)

const notesPalette = `domain: desk
roles: [{name: clerk, description: Whoever writes notes., sees: all}]
entities:
  note:
    description: A note.
    key: note_id
    managed: true
    scope: everyone
    label: "{title}"
    fields:
      title: {type: string, required: true}
      text: {type: string}
verbs:
  - verb: write
    description: Write a note, and look at it again.
    roles: [clerk]
    args:
      - {name: title, type: string, required: true}
      - {name: text, type: string}
    effects:
      - creates: note
        set: {title: title, text: text}
      - triggers: look-again
        at: today + days(7)
        run: desk.titles
  - verb: titles
    description: What there is.
    roles: [clerk]
    reads: {entity: note, fields: {title: title}}
`

// F19: a field that is renamed keeps what its column holds, and where that came from;
// the journal explains its rows, and rows that a new field with a default was added to.
func TestARenamedFieldKeepsWhatItHolds(t *testing.T) {
	t.Parallel()
	onExisting(t, "", func(t *testing.T, open func(string) *old) {
		ctx := context.Background()
		o := open(notesPalette).begin()
		session, p := o.checked(`desk.write :title "One" :text "from a letter"`)
		p.SaidBy(verbs.Literals{Origin: verbs.NewOrigin(verbs.FromDocument, "letter.pdf")})
		if _, err := session.Run(ctx, p, runtime.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		lines := []string{"      text: {type: string}", "text: text}"}
		renamed := strings.NewReplacer(lines[0], "      body: {type: string, renamed-from: text}\n      stars: {type: integer, default: 3}", lines[1], "body: text}").Replace(notesPalette)
		o = open(renamed).begin()
		note := o.reg.Entity("note").Store
		err := o.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
			rows, err := r.Find(ctx, stores.Find{Entity: note, Select: []stores.Path{{Field: note.FieldIndex("body")}, {Field: note.FieldIndex("stars")}, {Marks: true}}})
			if err != nil {
				return err
			}
			if len(rows) != 1 || rows[0][0] != str("from a letter") || rows[0][1] != stores.NewInt(3) || !strings.Contains(strings.ReplaceAll(rows[0][2].Text(), " ", ""), `"body":"document`) {
				t.Errorf("the row is %v", rows)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if found := o.replayed(); len(found) > 0 {
			t.Errorf("replay finds %v", found)
		}
		o.must(`desk.write :title "Two" :text "typed"`)
		if found := o.replayed(); len(found) > 0 {
			t.Errorf("replay finds %v", found)
		}
		// Both columns: nobody can tell which counts.
		_, ds := verbs.LoadSources(dsl.NewSource("old.yaml", strings.Replace(renamed, "      stars:", "      text: {type: string}\n      stars:", 1)))
		if !strings.Contains(told(ds), "declared-twice") {
			t.Errorf("both names at once: %s", told(ds))
		}
	})
}

// F19: roles that somebody has and no palette declares, and work for verbs that are
// gone, are told of.
func TestWhatPalettesLeaveBehindIsTold(t *testing.T) {
	t.Parallel()
	onExisting(t, "", func(t *testing.T, open func(string) *old) {
		ctx := context.Background()
		o := open(notesPalette).begin()
		if left, err := runtime.Left(ctx, o.reg, o.store); err != nil || len(left) > 0 {
			t.Fatal(left, err)
		}
		o.must(`desk.write :title "One"`)
		o = open(strings.NewReplacer("clerk", "scribe", "look-again", "look-later").Replace(notesPalette))
		left, err := runtime.Left(ctx, o.reg, o.store)
		if err != nil || len(left) != 2 || !strings.Contains(left[0], "1 job for look-again of desk.write") || !strings.Contains(left[1], "the role clerk, which no palette declares, is that of 1 principal") {
			t.Errorf("%q %v", left, err)
		}
	})
}

// F19: a rehearsal says what a migration would do and what would stop verbs after it,
// queries of columns that are yet to be made among them, and changes nothing.
func TestAMigrationIsRehearsed(t *testing.T) {
	t.Parallel()
	onExisting(t, "CREATE TABLE shelf (id text PRIMARY KEY, name text NOT NULL, spare text);", func(t *testing.T, open func(string) *old) {
		ctx := context.Background()
		shelf := "entities:\n  shelf:\n    description: A shelf.\n    table: shelf\n    key: id\n    scope: everyone\n    label: \"{name}\"\n    fields: {id: {type: string, required: true}, name: {type: string, required: true}}\n"
		before := strings.Replace(notesPalette, "entities:\n", shelf, 1)
		o := open(before).begin()
		o.must(`desk.write :title "One" :text "x"`)
		rehearse := func(palette string) (stores.Plan, dsl.Diagnostics, []string) {
			t.Helper()
			o = open(palette)
			plan, ds, left, err := runtime.Rehearse(ctx, o.reg, o.store, runtime.Own()...)
			if err != nil {
				t.Fatal(err)
			}
			return plan, ds, left
		}
		plan, ds, left := rehearse(before)
		if len(plan.Steps)+len(plan.Problems)+len(ds)+len(left) > 0 || len(plan.Undeclared) != 1 || !strings.Contains(plan.Undeclared[0], "column spare of table shelf is that of no field") {
			t.Errorf("%+v %v %v", plan, ds, left)
		}
		renamed := strings.NewReplacer("      text: {type: string}", "      body: {type: string, renamed-from: text}\n      stars: {type: integer, default: 3}", "text: text}", "body: words}", "name: text, type", "name: words, type").Replace(before)
		query := func(column string) string {
			return renamed + "  - verb: best\n    description: The best.\n    roles: [clerk]\n    query: {sql: \"SELECT title, " + column + " AS x FROM note WHERE stars > 2\", columns: {title: string, x: string}}\n"
		}
		for range 2 { // nothing stays
			plan, ds, left = rehearse(query("body"))
			if len(plan.Problems)+len(ds) > 0 || len(plan.Deeds) != 2 || plan.Deeds[0] != (stores.Deed{Kind: stores.RenameField, Entity: "note", Field: "body", From: "text", To: "body", Rows: 1}) || plan.Deeds[1] != (stores.Deed{Kind: stores.Backfill, Entity: "note", Field: "stars", To: "3", Rows: 1}) {
				t.Errorf("%+v %s", plan, told(ds))
			}
			if len(left) != 1 || !strings.Contains(left[0], "1 job for look-again of desk.write, which no palette declares as it was asked for") {
				t.Errorf("%q", left)
			}
		}
		if _, ds, _ = rehearse(query("text")); len(ds) != 1 || ds[0].Code != "bad-query" {
			t.Errorf("%s", told(ds))
		}
		o = open(before)
		if problems := o.migrate(); len(problems) > 0 {
			t.Error(problems)
		}
	})
}

// replayed are the differences between the rows and what the journal tells.
func (o *old) replayed() []journal.Difference {
	o.t.Helper()
	ctx := context.Background()
	state := journal.NewState(o.tables())
	for l, err := range journal.Opened(ctx, o.store, "keeper", 1, 0) {
		if err != nil {
			o.t.Fatal(err)
		}
		record, err := l.Record()
		if err != nil {
			o.t.Fatal(err)
		}
		state.Apply(l.Entry.Seq, &record)
	}
	err := o.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		_, _, err := state.Compare(ctx, r)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return state.Differences()
}
