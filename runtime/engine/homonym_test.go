package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"
)

// meaning is the row that a name stands for in a session, or the code of the
// complaint about it.
func meaning(t *testing.T, s *engine.Session, name string) (key stores.Value, kept, code string) {
	t.Helper()
	script, ds := dsl.Parse(dsl.NewSource("test.dsl", "lending.close-late :member-id @"+name))
	if ds.HasErrors() {
		t.Fatalf("@%s: %s", name, told(ds))
	}
	p, ds := s.Check(context.Background(), script)
	if p == nil {
		return key, "", ds[0].Code
	}
	p.Names(func(a *verbs.Arg, _ *verbs.Type) {
		row, ok := p.Bound(a)
		if !ok {
			t.Errorf("@%s is settled for no row", name)
		}
		key, kept = row.Key, row.Name
	})
	return key, kept, ""
}

// F1 F3 SAFE-C5: a name that was shown means that row, in every process, whatever
// homonyms come and go, whatever becomes of labels, or it is an error. Two engines
// stand for two processes; keys are drawn at random, so that their order tells
// nothing.
func TestANameThatWasShownMeansThatRow(t *testing.T) {
	t.Parallel()
	file := newWorld(t)
	one, two := newTwoOnServer(t)
	for name, engines := range map[string][2]*world{
		"sqlite":   {file, file.with(file.reg, file.store)},
		"postgres": {one, two},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(7, 11))
			w := engines[0]
			e := w.entity("member")
			nameField := e.FieldIndex("name")
			labels := []string{"Drill", "Pierre Dupont", "Pierre-Dupont", "Ünïon", "", "日本語", "́̂", "9 lives", strings.Repeat("long ", 2000), "drill-2"}
			shown := make(map[string]stores.Value)
			var keys []stores.Value
			var wrong, errs, right int
			for round := range 120 {
				// Somebody else writes rows, behind the engine's back and by way of it.
				key, _ := stores.ParseUUID(fmt.Sprintf("%08x-%04x-4000-8000-%012x", rnd.Uint32(), rnd.IntN(1<<16), rnd.Int64N(1<<47)))
				label := labels[rnd.IntN(len(labels))]
				switch {
				case len(keys) < 4 || rnd.IntN(3) > 0:
					w.change(stores.Change{Op: stores.Insert, Entity: e, Key: key, Set: []stores.Assign{
						{Field: e.FieldIndex("club"), Value: id(1 + rnd.IntN(2))}, {Field: nameField, Value: str(label)}}})
					keys = append(keys, key)
				case rnd.IntN(2) == 0:
					w.change(stores.Change{Op: stores.Update, Entity: e, Key: keys[rnd.IntN(len(keys))], Set: []stores.Assign{{Field: nameField, Value: str(label)}}})
				default:
					i := rnd.IntN(len(keys))
					w.change(stores.Change{Op: stores.Delete, Entity: e, Key: keys[i]})
					keys = append(keys[:i], keys[i+1:]...)
				}
				// One process shows rows to somebody, another takes the names.
				who := []string{"kim", "sam"}[rnd.IntN(2)]
				show, use := engines[rnd.IntN(2)], engines[rnd.IntN(2)]
				s := show.session(who)
				for range min(3, len(keys)) {
					k := keys[rnd.IntN(len(keys))]
					if name, _ := engine.NameOf(context.Background(), s, "member", k); name != "" {
						if was, told := shown[who+name]; told && was != k {
							t.Fatalf("round %d: @%s was shown for two rows", round, name)
						}
						shown[who+name] = k
					}
				}
				later := use.session(who)
				for name, k := range shown {
					if word, is := strings.CutPrefix(name, who); is {
						switch got, kept, code := meaning(t, later, word); {
						case code != "":
							if code != "unknown-name" && code != "ambiguous-name" {
								t.Fatalf("@%s: %s", word, code)
							}
							errs++
						case got != k:
							wrong++
							t.Errorf("round %d: @%s was %s and is %s", round, word, k, got)
						default:
							right++
							// What is kept means the same, and alone.
							if again, _, code := meaning(t, use.session(who), "anything"+kept[strings.IndexByte(kept, '~'):]); again != k {
								t.Errorf("@%s: the suffix alone is %v %s", kept, again, code)
							}
						}
					}
				}
			}
			t.Logf("%d names: %d times the row that was shown, %d times an error, %d times another row", len(shown), right, errs, wrong)
			if right < 200 || errs < 20 {
				t.Errorf("only %d right and %d errors: the test tries too little", right, errs)
			}
		})
	}
}

// F1: of a thousand homonyms each is named apart from the others, and the name that
// they share is an error that lists some with their owners.
func TestAThousandHomonyms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.entity("member")
	var all []stores.Change
	for n := range 1001 {
		club := 1
		if n == 1000 {
			club = 2
		}
		all = append(all, stores.Change{Op: stores.Insert, Entity: e, Key: id(1000 + n), Set: []stores.Assign{
			{Field: e.FieldIndex("club"), Value: id(club)}, {Field: e.FieldIndex("name"), Value: str("Pierre Dupont")}}})
	}
	w.change(all...)
	if n, err := w.engine.NameRows(t.Context()); err != nil || n != 1001 {
		t.Fatalf("%d rows were named: %v", n, err)
	}
	s := w.session("kim")
	script, _ := dsl.Parse(dsl.NewSource("test.dsl", "lending.close-late :member-id @pierre-dupont"))
	p, ds := s.Check(t.Context(), script)
	if p != nil || len(ds) != 1 || ds[0].Code != "ambiguous-name" || len(ds[0].Notes) < 5 || len(ds[0].Fixes) < 5 {
		t.Fatal(told(ds))
	}
	// A script with a name of the old form is refused, and told how these rows are
	// called.
	script, _ = dsl.Parse(dsl.NewSource("test.dsl", "lending.close-late :member-id @pierre-dupont-2"))
	if p, ds := s.Check(t.Context(), script); p != nil || ds[0].Code != "unknown-name" || len(ds[0].Fixes) == 0 || !strings.Contains(ds[0].Fixes[0].Edits[0].Text, "@pierre-dupont~") {
		t.Error(told(ds))
	}
	// Somebody who sees one of them only calls it by the plain name.
	if name, _ := engine.NameOf(t.Context(), w.session("sam"), "member", id(2000)); name != "pierre-dupont" {
		t.Errorf("sam is shown %s: that tells of rows of others", name)
	}
	if key, _, code := meaning(t, w.session("sam"), "pierre-dupont"); code != "" || key != id(2000) {
		t.Errorf("sam: %s %s", key, code)
	}
}

// SAFE-S8: guessed suffixes, suffixes of rows out of scope and of another store are
// answered as what nobody has.
func TestGuessedSuffixesAreAbsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, _ := newTwoOnServer(t)
	sam, kim := w.session("sam"), w.session("kim")
	said := func(name string) string {
		script, _ := dsl.Parse(dsl.NewSource("test.dsl", "lending.close-late :member-id @"+name))
		_, ds := kim.Check(t.Context(), script)
		return strings.ReplaceAll(told(ds), name, "NAME")
	}
	absent := said("zzzz~0000000000000000")
	_, kept, _ := meaning(t, sam, "zoe-muller")
	for _, foreign := range []string{kept, "x" + kept[strings.IndexByte(kept, '~'):], kept[:strings.IndexByte(kept, '~')+7]} {
		if got := said(foreign); got != absent && !strings.Contains(got, "[unknown-name]") {
			t.Errorf("a row of somebody else's: %s, not %s", got, absent)
		}
	}
	_, theirs, _ := meaning(t, other.session("kim"), "ann")
	if _, _, code := meaning(t, kim, theirs); code != "unknown-name" {
		t.Errorf("a name of another store: %q", code)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	const letters = "0123456789abcdefghjkmnpqrstvwxyz"
	for n := range 2000 {
		b := make([]byte, []int{1, 4, 6, 16}[n%4])
		for i := range b {
			b[i] = letters[rnd.IntN(len(letters))]
		}
		if _, _, code := meaning(t, kim, "nothing~"+string(b)); code != "unknown-name" {
			t.Fatalf("~%s means something: %q", b, code)
		}
	}
}

// F3: what is kept of a call goes on meaning its row when labels change; the same
// name, with its suffix and without, is one text under a key.
func TestOneRowIsOneTextUnderAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session("kim")
	ctx := context.Background()
	first, err := s.Run(ctx, w.program(s, `lending.note :loan-id @saw-bob :note "x"`), engine.RunOptions{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	call := w.journal()[0].Call
	if !suffixes.MatchString(call) || plain(call) != `lending.note :loan-id @saw-bob :note "x"` {
		t.Errorf("the journal holds %s", call)
	}
	again := w.session("kim")
	reply, err := again.Run(ctx, w.program(again, call), engine.RunOptions{Key: "k"})
	if err != nil || !reply.Repeated || reply.First != first.First {
		t.Errorf("%+v, %v", reply, err)
	}
	// The label changes, and what the journal holds means the same row.
	w.set("item", 22, "name", str("Hacksaw"))
	w.set("item", 24, "name", str("Saw"))
	w.set("loan", 33, "member", id(12))
	last := w.session("kim")
	if _, err := last.Run(ctx, w.program(last, strings.Replace(call, `"x"`, `"y"`, 1)), engine.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := w.get("loan", id(31), "note").Text(); got != "y" {
		t.Errorf("the note is %q, and the other's %q", got, w.get("loan", id(33), "note").Text())
	}
	// Without its suffix the name was one row's and is another's.
	script, _ := dsl.Parse(dsl.NewSource("test.dsl", `lending.note :loan-id @saw-bob :note "z"`))
	if p, ds := w.session("kim").Check(ctx, script); p != nil {
		p.Names(func(a *verbs.Arg, _ *verbs.Type) {
			if row, _ := p.Bound(a); row.Key != id(31) {
				t.Error("@saw-bob has come to mean another row")
			}
		})
	} else if ds[0].Code != "ambiguous-name" {
		t.Error(told(ds))
	}
}

// F1: a name that was one row's means no other row, whatever became of the first: it
// was deleted, it is called otherwise, or somebody else has it now.
func TestAFormerNameIsNoOtherRows(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(w *world){
		"deleted":          func(w *world) { w.change(stores.Change{Op: stores.Delete, Entity: w.entity("member"), Key: id(700)}) },
		"called otherwise": func(w *world) { w.set("member", 700, "name", str("Zara")) },
		"somebody else's":  func(w *world) { w.set("member", 700, "club", id(2)) },
	} {
		w := newWorld(t)
		e := w.entity("member")
		add := func(key int) {
			w.change(stores.Change{Op: stores.Insert, Entity: e, Key: id(key), Set: []stores.Assign{
				{Field: e.FieldIndex("club"), Value: id(1)}, {Field: e.FieldIndex("name"), Value: str("Zed")}}})
		}
		add(700)
		if name, _ := engine.NameOf(t.Context(), w.session("kim"), "member", id(700)); name != "zed" {
			t.Fatalf("it is called %s", name)
		}
		change(w)
		add(701)
		means := func() {
			t.Helper()
			if key, _, code := meaning(t, w.session("kim"), "zed"); code != "ambiguous-name" && key != id(700) {
				t.Errorf("%s: @zed is %s %s", what, key, code)
			}
		}
		means()
		// The second is never called by that name alone, and is not meant by it once the
		// store keeps the names of both.
		if name, _ := engine.NameOf(t.Context(), w.session("kim"), "member", id(701)); name == "zed" {
			t.Errorf("%s: another row is shown as @zed", what)
		}
		means()
	}
}
