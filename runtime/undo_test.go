package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/verbs"
)

// undoable adds `undo: rows` to every verb of a palette that changes rows by itself.
func undoable(t testing.TB, palettes map[string]string) *verbs.Registry {
	t.Helper()
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
		jobs, err := r.Jobs(ctx, stores.JobFilter{Kinds: []string{runtime.JobCall}})
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
func (w *world) undertakes(t stopper, s *runtime.Session, script *dsl.Script, said verbs.Literals) (int64, *runtime.Refusal) {
	ctx := context.Background()
	var refusal *runtime.Refusal
	p, ds := s.CheckFrom(ctx, script, said)
	if p == nil {
		t.Fatalf("%s: %s", dsl.Format(script), told(ds))
	}
	preview, err := s.Preview(ctx, p)
	if err == nil {
		if done, failed := s.Run(ctx, p, runtime.RunOptions{Agreed: preview.ID}); failed == nil {
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
	reg := undoable(t, map[string]string{"lending.yaml": lendingText(t) + promising})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		undoes(t, reg, func() *world { return newWorldOf(t, reg, promisingHandlers()) })
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
		if w.engine, err = runtime.New(reg, store, runtime.Options{Clock: w.now, NewID: w.newID, Handlers: promisingHandlers()}); err != nil {
			t.Fatal(err)
		}
		undoes(t, reg, func() *world { return w }) // which grows
	})
}

func undoes(t *testing.T, reg *verbs.Registry, begin func() *world) {
	var changing []*verbs.Verb
	for _, v := range reg.Verbs() {
		if v.Undo != nil {
			changing = append(changing, v)
		}
	}
	undone, between, refused := map[string]int{}, 0, 0
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
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
		undo := func(seq int64) (int64, *runtime.Refusal) {
			script, err := s.Undo(ctx, seq)
			var refusal *runtime.Refusal
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
	if len(undone) < 8 || between == 0 || refused == 0 {
		t.Errorf("too little was tried")
	}
}
