package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
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
		if _, err := session.Run(ctx, p, engine.RunOptions{}); err != nil {
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
		_, ds := loading.Sources(dsl.NewSource("old.yaml", strings.Replace(renamed, "      stars:", "      text: {type: string}\n      stars:", 1)))
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
		if left, err := engine.Left(ctx, o.reg, o.store); err != nil || len(left) > 0 {
			t.Fatal(left, err)
		}
		o.must(`desk.write :title "One"`)
		o = open(strings.NewReplacer("clerk", "scribe", "look-again", "look-later").Replace(notesPalette))
		left, err := engine.Left(ctx, o.reg, o.store)
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
			plan, ds, left, err := engine.Rehearse(ctx, o.reg, o.store, engine.Own()...)
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
			if len(plan.Problems)+len(ds) > 0 || len(plan.DataChanges) != 2 || plan.DataChanges[0] != (stores.DataChange{Kind: stores.RenameField, Entity: "note", Field: "body", From: "text", To: "body", Rows: 1}) || plan.DataChanges[1] != (stores.DataChange{Kind: stores.Backfill, Entity: "note", Field: "stars", To: "3", Rows: 1}) {
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

const memoPalette = `domain: desk
roles: [{name: clerk, description: Whoever writes memos., sees: all}, {name: owner, description: Whose they are.}]
codes: [{name: state, description: How far., values: [NEW, DONE]}]
entities:
  box:
    description: A box of memos.
    key: box_id
    managed: true
    scope: self
    label: "{name}"
    fields: {name: {type: string, required: true}}
  memo:
    description: A memo.
    key: memo_id
    managed: true
    scope: box
    label: "{title}"
    fields:
      box: {type: ref, ref-type: box, required: true}
      title: {type: string, required: true}
      state: {type: code, ref-type: state, required: true, default: NEW}
      states: {type: list, of: {type: code, ref-type: state}}
verbs:
  - verb: pack
    description: Make a box.
    roles: [clerk]
    args: [{name: name, type: string, required: true}]
    effects: [{creates: box, set: {name: name}}]
  - verb: write
    description: Write a memo, and settle it later.
    roles: [clerk]
    args:
      - {name: box, type: ref, ref-type: box, required: true}
      - {name: title, type: string, required: true}
      - {name: state, type: code, ref-type: state, required: true}
      - {name: states, type: list, of: {type: code, ref-type: state}}
    effects:
      - creates: memo
        set: {box: box, title: title, state: state, states: states}
      - triggers: settle
        at: now
        run: desk.again :box @box :title "Later" :state @state
  - verb: again
    description: Write another.
    roles: [clerk]
    args:
      - {name: box, type: ref, ref-type: box, required: true}
      - {name: title, type: string, required: true}
      - {name: state, type: code, ref-type: state, required: true}
    effects:
      - creates: memo
        set: {box: box, title: title, state: state}
  - verb: all
    description: What there is.
    roles: [clerk, owner]
    reads: {entity: memo, order: [title], fields: {title: title, state: state, states: states, box: box.name}}
`

// F19: entities, roles and codes that are renamed: tables and what columns hold follow,
// and so do rights, waiting work and what the journal tells.
func TestWhatIsRenamedIsReadByBothNames(t *testing.T) {
	t.Parallel()
	onExisting(t, "", func(t *testing.T, open func(string) *old) {
		ctx := context.Background()
		o := open(memoPalette).begin()
		o.must(`desk.pack :name "One" :as @one (desk.write :box @one :title "Now" :state NEW :states [NEW DONE])`)
		var key stores.Value
		box := o.reg.Entity("box").Store
		err := o.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
			rows, err := r.Find(ctx, stores.Find{Entity: box})
			key = rows[0][box.Key]
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		renamed := strings.NewReplacer("name: clerk,", "name: scribe, renamed-from: clerk,", "[clerk", "[scribe", "[NEW,", "[{code: OPEN, renamed-from: NEW},", "default: NEW", "default: OPEN",
			"\n  memo:\n", "\n  note:\n    renamed-from: memo\n", "memo_id", "memo_id", "creates: memo", "creates: note", "entity: memo", "entity: note",
			"\n  box:\n", "\n  folder:\n    renamed-from: box\n", "ref-type: box", "ref-type: folder", "creates: box", "creates: folder").Replace(memoPalette)
		o = open(renamed)
		plan, ds, left, err := engine.Rehearse(ctx, o.reg, o.store, engine.Own()...)
		if err != nil || len(plan.Problems)+len(ds)+len(left) > 0 {
			t.Fatal(err, plan.Problems, told(ds), left)
		}
		want := []stores.DataChange{
			{Kind: stores.RenameEntity, Entity: "folder", From: "box", To: "folder", Rows: 1},
			{Kind: stores.RenameEntity, Entity: "note", From: "memo", To: "note", Rows: 1},
			{Kind: stores.RenameCode, Entity: "note", Field: "state", From: "NEW", To: "OPEN", Rows: 1},
			{Kind: stores.RenameCode, Entity: "note", Field: "states", From: "NEW", To: "OPEN", Rows: 1},
		}
		if !slices.Equal(plan.DataChanges, want) {
			t.Errorf("%+v", plan.DataChanges)
		}
		if err := o.store.SetPrincipal(ctx, stores.Principal{Name: "bob", Roles: []string{"owner"}, Holds: map[string][]stores.Value{"box": {key}}}); err != nil {
			t.Fatal(err)
		}
		o.begin()
		sees := func(name, want string) {
			t.Helper()
			session, err := o.engine.Session(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			script, _ := dsl.Parse(dsl.NewSource("x", "desk.all"))
			p, ds := session.Check(ctx, script)
			if p == nil {
				t.Fatal(told(ds))
			}
			done, err := session.Run(ctx, p, engine.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for _, row := range done.Calls[0].Result.Rows {
				rows = append(rows, strings.ReplaceAll(fmt.Sprint(row), " ", ""))
			}
			if got := strings.Join(rows, ";"); got != want {
				t.Errorf("%s sees %s", name, got)
			}
		}
		now := `["Now""OPEN"["OPEN","DONE"]"One"]`
		sees("ada", now)
		sees("bob", now)
		touched := 0
		for l, err := range journal.Opened(ctx, o.store, "keeper", journal.ByNumber(ctx, o.store, 1, 0)) {
			record, bad := l.Record()
			if err != nil || bad != nil {
				t.Fatal(err, bad)
			}
			if record.Touches(*journal.RowOf(o.reg.Entity("folder").Store, key)) {
				touched++
			}
		}
		if touched == 0 {
			t.Error("the journal tells of no folder that was a box")
		}
		if found := o.replayed(); len(found) > 0 {
			t.Errorf("replay finds %v", found)
		}
		jobs, err := o.store.Jobs(ctx, stores.JobFilter{})
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		err = o.store.Work(ctx, stores.Shift{Worker: "one", Kinds: engine.JobKinds(), Once: true, Concurrency: 1, Timeout: time.Minute, Poll: 50 * time.Millisecond, Drain: 10 * time.Second, Kept: time.Hour,
			Lost: func(stores.Run) {}, Run: func(ctx context.Context, run stores.Run) error {
				worked, err := o.engine.Work(ctx, run)
				if err != nil || worked.Outcome != engine.WorkDone {
					t.Errorf("%+v %v", worked, err)
				}
				return err
			}})
		if err != nil {
			t.Error(err)
		}
		sees("bob", `["Later""OPEN"nil"One"];`+now)
		if found := o.replayed(); len(found) > 0 {
			t.Errorf("replay finds %v", found)
		}
	})
}

// replayed are the differences between the rows and what the journal tells.
func (o *old) replayed() []journal.Difference {
	o.t.Helper()
	ctx := context.Background()
	state := journal.NewState(o.tables())
	for l, err := range journal.Opened(ctx, o.store, "keeper", journal.ByNumber(ctx, o.store, 1, 0)) {
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
