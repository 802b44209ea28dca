package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

const searches = `
  - verb: look-for
    description: Loans by what was noted of them.
    roles: [keeper, member]
    args:
      - {name: about, type: string}
      - {name: lent, type: code, ref-type: loan-status}
    reads:
      entity: loan
      matching: about
      weigh: "row.item.worth * 0.1"
      where: lent == nil or row.status == lent
      limit: 3
      fields: {loan: loan_id, note: note}

  - verb: look-for-things
    description: Things by their name.
    roles: [keeper, member]
    args:
      - {name: about, type: string, required: true}
    reads: {entity: item, matching: about, limit: 5, fields: {item: item_id, name: name}}
`

// searchedLending is the palette of lending in which loans and items are searched.
func searchedLending(t *testing.T) string {
	text := lendingText(t)
	for entity, search := range map[string]string{"loan": "{text: [note], meaning: [note]}", "item": "{text: [name]}"} {
		at := strings.Index(text, "\n  "+entity+":\n")
		fields := strings.Index(text[at:], "\n    fields:") + at
		text = text[:fields] + "\n    search: " + search + text[fields:]
	}
	return text + searches
}

// told is what a script's last call found, and how.
func (w *world) found(who, script string) string {
	w.t.Helper()
	r, err := w.run(who, script)
	if err != nil {
		w.t.Fatal(script, err)
	}
	res := r.Calls[len(r.Calls)-1].Result
	var all []string
	for _, row := range res.Rows {
		all = append(all, row[1].Text())
	}
	if res.Found != "" {
		all = append(all, "by "+string(res.Found))
	}
	return strings.Join(all, "|")
}

// M1, M2: rows are found by what they say, those that weigh most first, within the scope
// and the condition; and what a script wrote before is found.
func TestRowsAreFoundByWhatTheySay(t *testing.T) {
	t.Parallel()
	worldsOfPalette(t, searchedLending(t), func(t *testing.T, w *world) {
		if got := w.found("kim", `lending.look-for-things :about "DRILLS, a saw"`); got != "Drill|Saw" {
			t.Error(got) // what was there before the index
		}
		for i, note := range []string{"the blade is blunt", "bought new blades", "nothing to say", "blade"} {
			worth := []int{10, 100, 10, 0}[i]
			w.done("kim", fmt.Sprintf(`lending.add-item :club-id @north :name "Thing %d" :worth %d :as @x lending.lend :item-id @x :member-id @bob :as @l lending.note :loan-id @l :note "%s"`, i, worth, note))
		}
		for _, c := range [][2]string{
			{`lending.look-for :about "Blades"`, "bought new blades|the blade is blunt|blade|by letters"},
			{`lending.look-for :about "blunt"`, "the blade is blunt|by letters"},
			{`lending.look-for :about "xyz"`, "by letters"},
			{`lending.look-for :about "bladez"`, "bought new blades|the blade is blunt|blade|by letters"},
			{`lending.look-for :about "blade" :lent OPEN`, "bought new blades|the blade is blunt|blade|by letters"},
			{`lending.look-for :about "blade" :lent CLOSED`, "by letters"},
			{`lending.note :loan-id @thing-2-bob :note "blade of gold" lending.look-for :about "gold"`, "blade of gold|by letters"},
			{`lending.look-for :lent CLOSED`, ""}, // nothing is looked for
		} {
			if got := w.found("kim", c[0]); got != c[1] {
				t.Errorf("%s: %q, want %q", c[0], got, c[1])
			}
		}
		if got := w.found("sam", `lending.look-for :about "gold"`); got != "by letters" {
			t.Error("of another club is found:", got)
		}
	})
}

// Where the condition of a read says whose rows it is about, or a handler does, the rows of
// others do not say how rare a word is, even to somebody who may see them.
func TestRowsOfOneOwnerAreFoundAsIfThereWereNoOthers(t *testing.T) {
	t.Parallel()
	text := searchedLending(t) + `
  - verb: look-for-things-of
    description: Things of one club.
    roles: [keeper]
    args:
      - {name: club-id, type: ref, ref-type: club, required: true}
      - {name: about, type: string, required: true}
      - {name: least, type: decimal}
    reads: {entity: item, matching: about, where: (least == nil or row.worth > least) and row.club == club_id, limit: 5, fields: {item: item_id, name: name}}

  - verb: rummage
    description: Things of one club, as a program finds them.
    roles: [keeper]
    args:
      - {name: club-id, type: ref, ref-type: club, required: true}
      - {name: other-id, type: ref, ref-type: item}
      - {name: about, type: string, required: true}
    handler: true
    returns: {type: things, includes: [item, name]}
`
	type args struct {
		Club  engine.Ref `verb:"club-id"`
		Other engine.Ref `verb:"other-id"`
		About string     `verb:"about"`
	}
	h := new(engine.Handlers)
	var failed error
	engine.Handle(h, "lending.rummage", func(ctx context.Context, c *engine.Call, a args) (engine.Outcome, error) {
		owner := a.Club
		if !a.Other.IsZero() {
			owner = a.Other
		}
		rows, _, err := c.Match(ctx, "item", owner, a.About, 5)
		failed = err
		out := &engine.Answer{Columns: []string{"item", "name"}}
		for _, r := range rows {
			out.Rows = append(out.Rows, []any{r.Ref(), r.Value("name")})
		}
		return engine.Outcome{Result: out}, err
	})
	w := newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": text}), h)
	if plan, err := w.store.Migrate(t.Context(), append(w.tables(), engine.Own()...), true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	for _, name := range []string{"Red ladder", "Blue lamp", "Green lamp"} {
		w.done("kim", fmt.Sprintf(`lending.add-item :club-id @north :name %q :worth 1`, name))
	}
	for n := range 6 {
		w.done("sam", fmt.Sprintf(`lending.add-item :club-id @south :name "Red thing %d" :worth 1`, n))
	}
	looks := func(club string) []string {
		return []string{`lending.look-for-things-of :about "red lamp" :club-id ` + club, `lending.rummage :about "red lamp" :club-id ` + club, `lending.look-for-things-of :least 0 :about "red lamp" :club-id ` + club}
	}
	both := people[0]
	both.Holds = map[string][]stores.Value{"club": {id(1), id(2)}}
	for _, who := range []stores.Principal{people[0], both} {
		if err := w.store.SetPrincipal(t.Context(), who); err != nil {
			t.Fatal(err)
		}
		for _, look := range looks("@north") {
			if got, want := w.found("kim", look), "Red ladder|Blue lamp|Green lamp"; got != want {
				t.Errorf("%s, holding %v: %q, want %q", look, who.Holds, got, want)
			}
		}
	}
	if got := w.found("kim", looks("@south")[0]); strings.Contains(got, "lamp") || !strings.Contains(got, "Red thing 1") {
		t.Error(got)
	}
	if got := w.found("kim", `lending.look-for-things :about "red lamp"`); !strings.HasPrefix(got, "Blue lamp|Green lamp|Red") {
		t.Error("of no club in particular:", got)
	}
	if _, err := w.run("kim", `lending.rummage :club-id @north :other-id @saw :about "red"`); err == nil || failed == nil || !strings.Contains(failed.Error(), "not owned by") {
		t.Error("a thing owns no things:", err, failed)
	}
}

// A scripted embedder knows two words that mean the same.
type scriptedEmbedder struct {
	asked []string
	err   error
}

func (*scriptedEmbedder) Maker() string { return "model, 2" }

func (e *scriptedEmbedder) Embed(_ context.Context, texts []string) (all [][]float32, err error) {
	e.asked = append(e.asked, texts...)
	for _, text := range texts {
		v := []float32{0.1, 1}
		if strings.Contains(text, "blade") || strings.Contains(text, "Klinge") {
			v = []float32{1, 0.1}
		}
		all = append(all, v)
	}
	return all, e.err
}

// M10: meanings are compared as a model says, which is asked outside of any transaction,
// and words have to do where it does not answer.
func TestRowsAreFoundByWhatTheyMean(t *testing.T) {
	t.Parallel()
	worldsOfPalette(t, searchedLending(t), func(t *testing.T, w *world) {
		model := &scriptedEmbedder{}
		var err error
		if w.engine, err = engine.New(w.reg, w.store, engine.Options{Clock: w.now, NewID: w.newID, Embedder: model}); err != nil {
			t.Fatal(err)
		}
		w.done("kim", `lending.note :loan-id @saw-bob :note "the blade is blunt" lending.note :loan-id @tent-ann :note "it rains"`)
		const look = `lending.look-for :about "Klinge"`
		if got := w.found("kim", look); got != "" {
			t.Error("before there are vectors:", got)
		}
		for _, want := range []int{2, 0} {
			if n, err := w.engine.Embed(context.Background(), 50); err != nil || n != want {
				t.Fatal(n, err)
			}
		}
		if got := w.found("kim", look); got != "the blade is blunt" {
			t.Error(got)
		}
		if got := w.found("kim", `lending.look-for :about "rains"`); got != "it rains" {
			t.Error(got)
		}
		model.err = errors.New("no answer")
		if got := w.found("kim", look); got != "by words" {
			t.Error(got)
		}
		if got := w.found("kim", `lending.look-for :about "blunt"`); got != "the blade is blunt|by words" {
			t.Error(got)
		}
		w.done("kim", `lending.note :loan-id @saw-bob :note "new"`)
		if _, err := w.engine.Embed(context.Background(), 50); !errors.Is(err, model.err) {
			t.Error(err)
		}
	})
}
