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
