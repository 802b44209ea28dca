package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// undoable adds `undo: rows` to every verb of a palette that changes rows by itself.
func undoable(t testing.TB, palettes map[string]string) *verbs.Registry {
	t.Helper()
	for name, text := range palettes {
		palettes[name] = regexp.MustCompile(`(?m)^    undo: .*\n`).ReplaceAllString(text, "")
	}
	reg := loadYAML(t, palettes)
	for name, text := range palettes {
		for _, v := range reg.Verbs() {
			if short := v.Name[strings.LastIndex(v.Name, ".")+1:]; !v.Answers() && v.Macro == nil && v.Tool == nil {
				text = strings.Replace(text, "  - verb: "+short+"\n", "  - verb: "+short+"\n    undo: rows\n", 1)
			}
		}
		palettes[name] = text
	}
	return loadYAML(t, palettes)
}

// whole is everything that an undo puts back: rows, the marks of their fields, and the
// work that waits.
type whole map[string]string

func (w *world) whole() whole {
	w.t.Helper()
	all := whole{}
	ctx := context.Background()
	err := w.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		for _, e := range w.tables() {
			found, err := r.Find(ctx, stores.Find{Entity: e})
			if err != nil {
				return err
			}
			for _, values := range found {
				row, err := r.Get(ctx, e, values[e.Key])
				if err != nil {
					return err
				}
				for i, v := range row.Values {
					all[fmt.Sprintf("%s %s %s", e.Name, row.Key().Text(), e.Fields[i].Name)] = v.String() + " " + stores.MarkOf(row.Marks, i)
				}
			}
		}
		jobs, err := r.Jobs(ctx, stores.JobFilter{Kinds: []string{engine.JobCall}})
		for i := range jobs {
			j := &jobs[i]
			all[fmt.Sprintf("job %s %s %s %s %d", j.Payload, j.At.UTC(), j.Unique, j.Principal, j.Tries())] += j.State.String() + " " + j.Origins + ";"
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// differs lists what two states differ in.
func (w whole) differs(from whole) (lines []string) {
	for k, v := range w {
		if from[k] != v {
			lines = append(lines, fmt.Sprintf("%s: %q, was %q", k, v, from[k]))
		}
	}
	for k, v := range from {
		if _, there := w[k]; !there {
			lines = append(lines, fmt.Sprintf("%s is gone, was %q", k, v))
		}
	}
	slices.Sort(lines)
	return lines
}

// undertakes runs a script as somebody who agrees to what it asks them, and returns the number
// of its first journal entry; 0 where it was refused.
func (w *world) undertakes(t stopper, s *engine.Session, script *dsl.Script, said verbs.Literals) (int64, *engine.Refusal) {
	ctx := context.Background()
	var refusal *engine.Refusal
	p, ds := s.Check(ctx, script, engine.CheckOptions{Said: said})
	if p == nil {
		t.Fatalf("%s: %s", dsl.Format(script), told(ds))
	}
	preview, err := s.Preview(ctx, p)
	if err == nil {
		if done, failed := s.Run(ctx, p, engine.RunOptions{Agreed: preview.ID}); failed == nil {
			if done.Digest != preview.Digest {
				t.Fatalf("%s: what ran is not what was shown", dsl.Format(script))
			}
			return done.First, nil
		} else {
			err = failed
		}
	}
	if !errors.As(err, &refusal) {
		t.Fatalf("%s: %T %v", dsl.Format(script), err, err)
	}
	return 0, refusal
}

// A verb and then its undo leave the same rows, with where their values came from, and the
// same work for later; an undo that is undone leaves what the verb left. With another call
// in between, the undo puts back what the verb changed and nothing else, or is refused and
// changes nothing.
func TestUndoPutsBackWhatWas(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	reg := undoable(t, map[string]string{"lending.yaml": lendingText(t) + promising})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		undoes(t, reg, 1, func() *world { return newWorldOf(t, reg, promisingHandlers()) })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		store, err := postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		w := &world{t: t, reg: reg, clock: newWorldClock, store: store}
		if err := w.furnish(store); err != nil {
			t.Fatal(err)
		}
		if w.engine, err = engine.New(reg, store, engine.Options{Clock: w.now, NewID: w.newID, Handlers: promisingHandlers()}); err != nil {
			t.Fatal(err)
		}
		undoes(t, reg, 3, func() *world { return w }) // which grows
	})
}

// undoes tries one of so many cases: a server takes three times as long as a file.
func undoes(t *testing.T, reg *verbs.Registry, of int, begin func() *world) {
	var changing []*verbs.Verb
	for _, v := range reg.Verbs() {
		if v.Undo != nil {
			changing = append(changing, v)
		}
	}
	undone, between, refused := map[string]int{}, 0, 0
	ctx, cases := context.Background(), 0
	rapid.Check(t, func(rt *rapid.T) {
		if cases++; cases%of != 0 {
			return
		}
		w := begin()
		// call draws a call and makes it, out of somebody's words or a document.
		call := func(v *verbs.Verb) int64 {
			who := "kim"
			if !slices.ContainsFunc(v.Roles, func(r *verbs.Role) bool { return r.Name == "keeper" }) {
				who = "bo"
			}
			said := verbs.Literals{Origin: verbs.NewOrigin(rapid.SampledFrom([]verbs.Origins{verbs.FromScript, verbs.FromPerson, verbs.FromDocument, verbs.FromModel}).Draw(rt, "origin"), "")}
			script, ds := dsl.Parse(dsl.NewSource("drawn.dsl", w.draw(rt, v)))
			if ds.HasErrors() {
				rt.Fatalf("%s", told(ds))
			}
			seq, _ := w.undertakes(rt, w.session(who), script, said)
			return seq
		}
		for range rapid.IntRange(0, 2).Draw(rt, "calls before") {
			call(rapid.SampledFrom(changing).Draw(rt, "before"))
		}
		before := w.whole()
		v := rapid.SampledFrom(changing).Draw(rt, "verb")
		seq := call(v)
		if seq == 0 {
			return
		}
		after := w.whole()
		others := rapid.Bool().Draw(rt, "with another call in between") && call(rapid.SampledFrom(changing).Draw(rt, "between")) > 0
		meanwhile := w.whole()
		s := w.session("kim")
		undo := func(seq int64) (int64, *engine.Refusal) {
			script, err := s.Journal().Undo(ctx, seq)
			var refusal *engine.Refusal
			if errors.As(err, &refusal) {
				return 0, refusal
			} else if err != nil {
				rt.Fatalf("undo of %s: %v", v.Name, err)
			}
			return w.undertakes(rt, s, script, verbs.Literals{})
		}
		done, no := undo(seq)
		now := w.whole()
		if no != nil {
			code := no.Diagnostics[0].Code
			if d := now.differs(meanwhile); len(d) > 0 {
				rt.Fatalf("the undo of %s was refused and changed %q", v.Name, d)
			}
			if !others && code != "needs-agreement" && code != "unknown-entry" { // the board's, which kim is not
				rt.Fatalf("the undo of %s was refused although nothing happened since: %v", v.Name, no)
			}
			refused++
			return
		}
		want := maps.Clone(meanwhile)
		for k, v := range after { // what the verb changed is as it was before
			if before[k] != v {
				if was, there := before[k]; there {
					want[k] = was
				} else {
					delete(want, k)
				}
			}
		}
		for k, was := range before {
			if _, there := after[k]; !there {
				want[k] = was
			}
		}
		if d := now.differs(want); len(d) > 0 {
			rt.Fatalf("the undo of %s (with others: %t) left %q", v.Name, others, d)
		}
		if others {
			between++
		}
		undone[v.Name]++
		if _, no := undo(done); no != nil {
			rt.Fatalf("the undo of the undo of %s was refused: %v", v.Name, no)
		}
		if d := w.whole().differs(meanwhile); len(d) > 0 {
			rt.Fatalf("the undo of the undo of %s left %q", v.Name, d)
		}
	})
	t.Logf("undone %v, %d with others in between, %d refused", undone, between, refused)
	if len(undone) < 6 || of == 1 && (between == 0 || refused == 0) { // a third of the cases may lack a refusal
		t.Errorf("too little was tried")
	}
}

// undo takes an entry back as somebody.
func (w *world) undo(t stopper, who string, seq int64) (*receipt.Receipt, error) {
	ctx := context.Background()
	s := w.session(who)
	script, err := s.Journal().Undo(ctx, seq)
	if err != nil {
		return nil, err
	}
	p, ds := s.Check(ctx, script)
	if p == nil {
		t.Fatalf("%s: %s", dsl.Format(script), told(ds))
	}
	preview, err := s.Preview(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
}

func printed(r *receipt.Receipt) string {
	var b strings.Builder
	receipt.Print(&b, r, receipt.Options{})
	return b.String()
}

// made makes a call and returns the number of its entry.
func (w *world) made(t testing.TB, who, call string) int64 {
	t.Helper()
	s := w.session(who)
	seq, no := w.undertakes(t, s, w.program(s, call).Script(), verbs.Literals{})
	if no != nil {
		t.Fatalf("%s: %v", call, no)
	}
	return seq
}

// refusedWith holds a refusal against its code and words of its text.
func refusedWith(t testing.TB, err error, code string, words ...string) {
	t.Helper()
	if got := codeOf(t, err); got != code {
		t.Errorf("%v is %s, want %s", err, got, code)
	}
	for _, word := range words {
		if !strings.Contains(engine.Sentence(err), word) {
			t.Errorf("%q does not say %q", engine.Sentence(err), word)
		}
	}
}

// Whoever may make a call may take it back, also another's, where they see what it is
// about. For all others there is no such entry.
func TestWhoMayUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seq := w.made(t, "kim", `lending.note :loan-id @saw-bob :note "one" :expected-date 2025-02-01`)
	_, none := w.undo(t, "sam", 99)
	refusedWith(t, none, "unknown-entry")
	for _, who := range []string{"sam", "bo"} { // of another club; of another role
		_, err := w.undo(t, who, seq)
		if want := strings.ReplaceAll(engine.Sentence(none), "99", fmt.Sprint(seq)); err == nil || engine.Sentence(err) != want {
			t.Errorf("%s: %v, want %s", who, err, want)
		}
		s := w.session(who)
		p := w.program(s, fmt.Sprintf("lending.note.undo :entry %d", seq))
		if _, err := s.Run(t.Context(), p, engine.RunOptions{}); err == nil || who == "sam" && engine.Sentence(err) != strings.ReplaceAll(engine.Sentence(none), "99", fmt.Sprint(seq)) {
			t.Errorf("%s: %v", who, err)
		}
	}
	// Nor is a row that is gone put back by those who never saw it.
	gone := w.made(t, "kim", `lending.forget :reminder-id @saw-2025-01-11`)
	if _, err := w.undo(t, "sam", gone); err == nil || engine.Sentence(err) != strings.ReplaceAll(engine.Sentence(none), "99", fmt.Sprint(gone)) {
		t.Errorf("%v", err)
	}
	if _, err := w.undo(t, "kim", gone); err != nil {
		t.Error(err)
	}
	// The undo of another verb is none of this one.
	s := w.session("kim")
	_, err := s.Run(t.Context(), w.program(s, fmt.Sprintf("lending.ring.undo :entry %d", seq)), engine.RunOptions{})
	refusedWith(t, err, "unknown-entry")
	only := w.session("kim")
	only.Narrow([]*verbs.Verb{w.reg.Verb("lending.ring")})
	if _, err := only.Run(t.Context(), w.program(only, fmt.Sprintf("lending.note.undo :entry %d", seq)), engine.RunOptions{}); err == nil {
		t.Error("a token for another verb took it back")
	}
	if _, err := only.Journal().Undo(t.Context(), seq); err == nil || engine.Sentence(err) != strings.ReplaceAll(engine.Sentence(none), "99", fmt.Sprint(seq)) {
		t.Errorf("a token for another verb is told of the entry: %v", err)
	}
	r, err := w.undo(t, "mia", seq)
	if err != nil {
		t.Fatal(err)
	}
	if got := printed(r); !strings.Contains(got, "- reminders") || !strings.Contains(got, `"one" -> (empty)`) {
		t.Errorf("%s", got)
	}
}

// What others built on is not taken back: the refusal says what they did and who they are.
func TestUndoNamesWhoBuiltOnIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seq := w.made(t, "kim", `lending.note :loan-id @saw-bob :note "one"`)
	other := w.made(t, "mia", `lending.note :loan-id @saw-bob :note "two"`)
	_, err := w.undo(t, "kim", seq)
	refusedWith(t, err, "changed-since", "note of @saw-bob is not what it was set to", "Mia changed it on 2025-01-03", fmt.Sprintf("see entry %d of the journal, lending.note", other))
	if _, err := w.undo(t, "mia", other); err != nil {
		t.Fatal(err)
	}
	if _, err := w.undo(t, "kim", seq); err != nil {
		t.Errorf("it is as it was left: %v", err)
	}
	_, err = w.undo(t, "kim", seq)
	refusedWith(t, err, "changed-since", "Kim took it back already, by entry")
}

// A verb may be taken back by a call of its palette's, which names what it was given and
// what it added; it says for how long. Or nothing takes it back, and why.
func TestUndoByACallOrNotAtAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seq := w.made(t, "kim", `lending.lend :item-id @drill :member-id @ann`)
	s := w.session("kim")
	script, err := s.Journal().Undo(t.Context(), seq)
	if err != nil {
		t.Fatal(err)
	}
	if got := plain(dsl.Format(script)); got != "lending.return :loan-id @drill-ann\n" {
		t.Errorf("%s", got)
	}
	if _, err := w.session("sam").Journal().Undo(t.Context(), seq); codeOf(t, err) != "unknown-entry" {
		t.Errorf("%v", err)
	}
	if _, err := w.undo(t, "kim", seq); err != nil || w.get("loan", w.keyOf("loan", "Drill"), "status").Text() != "CLOSED" {
		t.Errorf("%v", err)
	}
	w.clock = w.clock.Add(3 * time.Hour)
	_, err = s.Journal().Undo(t.Context(), seq)
	refusedWith(t, err, "no-undo", "until 2025-01-03")
	_, err = s.Journal().Undo(t.Context(), w.made(t, "kim", `lending.drop-loan :loan-id @tent-ann`))
	refusedWith(t, err, "no-undo", "a loan that is over is over")
	_, err = s.Journal().Undo(t.Context(), w.made(t, "kim", `lending.extend :loan-id @saw-bob :new-date 2025-01-12`))
	refusedWith(t, err, "no-undo", "its palette does not say")
}

// keyOf is the key of the row whose label has a word.
func (w *world) keyOf(entity, word string) (key stores.Value) {
	for k, row := range w.state() {
		name, _, _ := strings.Cut(k, " ")
		if name != entity {
			continue
		}
		if e := w.entity(entity); entity == "loan" && w.get("item", row[e.FieldIndex("item")], "name").Text() == word {
			key = row[e.Key]
		}
	}
	return key
}

// A row that others refer to is not deleted, and whose rows they are is said only to those
// who see them.
func TestUndoOfARowThatOthersReferTo(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, undoable(t, map[string]string{"lending.yaml": lendingText(t)}), nil)
	seq := w.made(t, "kim", `lending.lend :item-id @drill :member-id @ann`)
	reminded := w.made(t, "kim", `lending.remind :loan-id @drill-ann :on 2025-02-01 :text "soon"`)
	_, err := w.undo(t, "kim", seq)
	refusedWith(t, err, "changed-since", "@drill-2025-02-01 refers to @drill-ann, which was added", fmt.Sprintf("see entry %d", reminded))
	if _, err := w.undo(t, "kim", reminded); err != nil {
		t.Fatal(err)
	}
	r, err := w.undo(t, "kim", seq)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Totals().Tables; len(got) != 2 || got[1].Deleted != 1 {
		t.Errorf("%+v", got)
	}
}

// What left the house is said to stay left.
func TestUndoSaysWhatStays(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, undoable(t, map[string]string{"lending.yaml": lendingText(t)}), nil)
	r, err := w.undo(t, "kim", w.made(t, "kim", `lending.lend :item-id @drill :member-id @ann`))
	if err != nil {
		t.Fatal(err)
	}
	if res := r.Calls[0].Result; res == nil || len(res.Rows) != 1 || res.Rows[0][0].Text() != "the notice to next-in-line was sent" {
		t.Errorf("%+v", res)
	}
	if len(r.Calls[0].Notices) != 0 {
		t.Errorf("another went out: %+v", r.Calls[0].Notices)
	}
}

// A sensitive value is put back, and no receipt or journal shows it. What was erased from
// the journal is not put back.
func TestUndoOfWhatIsSensitive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.made(t, "kim", `lending.set-phone :member-id @ann :phone "+49 30 111"`)
	seq := w.made(t, "kim", `lending.set-phone :member-id @ann :phone "+49 30 222"`)
	r, err := w.undo(t, "kim", seq)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.get("member", id(11), "phone").Text(); got != "+49 30 111" {
		t.Errorf("%s", got)
	}
	entries, err := w.store.Journal(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{printed(r), string(kept), fmt.Sprintf("%+v", entries)} {
		if strings.Contains(text, "+49 30 ") { // with its sign: bytes of a hash are printed as numbers, too
			t.Errorf("it is shown: %s", text)
		}
	}
	erased := func(journal.Erased) stores.Entry {
		return stores.Entry{Time: w.now(), Principal: "ada", Verb: "verbatim.redact", Outcome: "ok"}
	}
	if _, err := journal.Redact(t.Context(), w.store, "ada", journal.Redaction{Row: journal.RowOf(w.entity("member"), id(11))}, erased); err != nil {
		t.Fatal(err)
	}
	_, err = w.undo(t, "kim", r.First)
	refusedWith(t, err, "no-undo", "erased")
}

// An undo under a key is done once, and answered alike each time.
func TestUndoUnderAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seq := w.made(t, "kim", `lending.note :loan-id @saw-bob :note "one"`)
	for range 2 {
		s := w.session("kim")
		script, err := s.Journal().Undo(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := s.Check(t.Context(), script)
		if r, err := s.Run(t.Context(), p, engine.RunOptions{Key: "k"}); err != nil || r.First != seq+1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// Whoever may have to agree to a call has to agree to its undo, also where the call itself
// asked nobody.
func TestUndoAsksWhomTheVerbMayAsk(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, undoable(t, map[string]string{"lending.yaml": lendingText(t)}), nil)
	seq := w.made(t, "kim", `lending.extend :loan-id @saw-bob :new-date 2025-01-12`)
	_, err := w.undo(t, "kim", seq)
	refusedWith(t, err, "needs-agreement", "role board")
	s := w.session("kim")
	script, err := s.Journal().Undo(t.Context(), seq)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := s.Check(t.Context(), script)
	preview, err := s.Preview(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := s.Propose(t.Context(), p, engine.RunOptions{Agreed: preview.ID})
	if err != nil {
		t.Fatal(err)
	}
	bo := w.session("bo")
	bo.Prove(w.clock)
	if _, _, err := bo.Agree(t.Context(), waiting.ID); err != nil {
		t.Fatal(err)
	}
	if got := w.get("loan", id(31), "due"); got != date("2025-01-10") {
		t.Errorf("%s", got)
	}
}

// What a note costs, and its undo, which reads the journal and holds the row against it.
func BenchmarkUndo(b *testing.B) {
	w := newWorld(b)
	s := w.session("kim")
	run := func(b *testing.B, script *dsl.Script) int64 {
		p, ds := s.Check(b.Context(), script)
		if p == nil {
			b.Fatal(told(ds))
		}
		r, err := s.Run(b.Context(), p, engine.RunOptions{})
		if err != nil {
			b.Fatal(err)
		}
		return r.First
	}
	note := func(b *testing.B, n int) int64 {
		return run(b, w.program(s, fmt.Sprintf(`lending.note :loan-id @saw-bob :note "note %d"`, n)).Script())
	}
	b.Run("note", func(b *testing.B) {
		b.ReportAllocs()
		for n := range b.N {
			note(b, n)
		}
	})
	b.Run("undo", func(b *testing.B) {
		b.ReportAllocs()
		for n := range b.N {
			b.StopTimer()
			seq := note(b, -n-1)
			b.StartTimer()
			script, err := s.Journal().Undo(b.Context(), seq)
			if err != nil {
				b.Fatal(err)
			}
			run(b, script)
		}
	})
}
