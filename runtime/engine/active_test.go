package engine_test

import (
	"errors"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/runtime/engine/each"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// What stands for a reference that is left out where its palette says `default:
// active`. Ada sees both clubs, kim the north one.

// stood says what stood for what a call left out, and why.
func stood(t testing.TB, reply *receipt.Receipt, call int, name string, why string) {
	t.Helper()
	got := reply.Calls[call].Filled
	if len(got) != 1 || got[0].Param != "club-id" || got[0].Name != name || got[0].Stand != why {
		t.Errorf("call %d: %+v, want %s by %s", call, got, name, why)
	}
}

// things is the column name of what a call gave.
func things(reply *receipt.Receipt, call int) string {
	var all []string
	for _, row := range reply.Calls[call].Result.Rows {
		all = append(all, row[1].Text())
	}
	return strings.Join(all, " ")
}

// O6, O23: who sees one row need not say which, and all that is kept of the call
// says it for them.
func TestTheOnlyRowNeedNotBeNamed(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		kim := w.session("kim")
		for _, text := range []string{"desk.shelf", "desk.shelf :club-id nil", "desk.shelf :club-id @north"} {
			reply := w.must(kim, text, engine.RunOptions{})
			if got := things(reply, 0); got != "Drill Ladder Saw Tent" {
				t.Errorf("%s: %s", text, got)
			}
			if strings.Contains(text, "@") {
				if len(reply.Calls[0].Filled) > 0 {
					t.Errorf("%s: %+v", text, reply.Calls[0].Filled)
				}
				continue
			}
			stood(t, reply, 0, "@north", receipt.OnlyOne)
		}
		before := len(w.journal())
		reply := w.must(kim, `desk.buy :name "Hammer"`, engine.RunOptions{Key: "once"})
		stood(t, reply, 0, "@north", receipt.OnlyOne)
		if got := reply.Calls[0].Rows[0].Fields[0].After.Text(); got != "@north" {
			t.Errorf("it is %s's", got)
		}
		entries := w.journal()[before:]
		if len(entries) != 1 || plain(entries[0].Call) != `desk.buy :club-id @north :name Hammer` && plain(entries[0].Call) != `desk.buy :name "Hammer" :club-id @north` {
			t.Errorf("%+v", entries)
		}
		again := w.must(kim, `desk.buy :name "Hammer"`, engine.RunOptions{Key: "once"})
		if !again.Repeated {
			t.Error("it was done twice")
		}
		stood(t, again, 0, "@north", receipt.OnlyOne)
		// A macro and each of its calls.
		two := w.must(kim, `desk.buy-two :one "Nail" :two "Screw"`, engine.RunOptions{})
		stood(t, two, 0, "@north", receipt.OnlyOne)
		if n := len(two.Calls[0].Rows); n != 2 {
			t.Errorf("%d rows", n)
		}
	})
}

// X13, O23: who sees several and is at work on none is asked, with their names,
// before anything is changed; where nothing can be, and the session has a name,
// they are shown the first, and told that it is.
func TestSeveralRowsAreAskedAbout(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		asked := func(s *engine.Session, text string) {
			t.Helper()
			before := w.state()
			_, err := w.does(s, text, engine.RunOptions{})
			refusal := wantRefusal(t, err, "which-at-work")
			for _, d := range refusal.Diagnostics {
				if !strings.Contains(d.Summary, "you have 2") || len(d.Notes) != 1 || !strings.Contains(d.Notes[0], ":club-id @north (North) or :club-id @south (South)") || !strings.Contains(d.Notes[0], "desk.stand") {
					t.Errorf("%s: %s: %v", text, d.Summary, d.Notes)
				}
				if strings.HasPrefix(text, "desk.buy-two") {
					if len(d.Fixes) > 0 {
						t.Errorf("nobody adds to the script of a macro: %+v", d.Fixes)
					}
				} else if len(d.Fixes) != 2 || d.Fixes[1].Edits[0].Text != " :club-id @south" {
					t.Errorf("%+v", d.Fixes)
				}
			}
			if got := diff(w.entity, before, w.state()); len(got) > 0 {
				t.Errorf("%s changed %v", text, got)
			}
		}
		unnamed, named := w.session("ada"), w.visit(w.engine, "ada", engine.Visit{Name: "today"})
		asked(unnamed, "desk.shelf")
		asked(unnamed, `desk.buy :name "Hammer"`)
		asked(named, `desk.buy :name "Hammer"`)
		asked(named, `desk.shelf desk.buy :name "Hammer"`) // what is looked at decides what is done
		asked(named, `desk.buy-two :one "Nail" :two "Screw"`)

		first := w.must(named, "desk.shelf", engine.RunOptions{})
		stood(t, first, 0, "@north", receipt.FirstOfThese)
		if f := first.Calls[0].Filled[0]; f.Of != 2 || f.Label != "North" || len(f.By) != 1 || f.By[0] != "desk.stand" {
			t.Errorf("%+v", f)
		}
		if info, err := named.Turns().Info(ctx); err != nil || len(info.Values) > 0 {
			t.Errorf("looking chose one: %+v, %v", info.Values, err)
		}
		// Said, it is that one, there and then.
		if got := things(w.must(unnamed, "desk.shelf :club-id @south", engine.RunOptions{}), 0); got != "Kayak" {
			t.Error(got)
		}
	})
}

// O23, X11: what a session was set to stands for what is left out, from the next
// call on and in every process, until another is chosen or it is out of sight.
func TestTheRowAtWorkStandsForWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		ada := w.visit(w.engine, "ada", engine.Visit{Name: "today"})
		reply := w.must(ada, `desk.stand :club-id @south desk.shelf desk.buy :name "Paddle"`, engine.RunOptions{})
		stood(t, reply, 1, "@south", receipt.AtWork)
		stood(t, reply, 2, "@south", receipt.AtWork)
		other := w.visit(w.another(counted(nil)), "ada", engine.Visit{Name: "today"})
		if got := things(w.must(other, "desk.shelf", engine.RunOptions{}), 0); got != "Kayak Paddle" {
			t.Error(got)
		}
		// Call by call it is the same.
		reply, err := each.Runner{Session: other}.Run(ctx, w.program(other, `desk.stand :club-id @north desk.buy :name "Rope"`), engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		stood(t, reply, 1, "@north", receipt.AtWork)

		// What was agreed to in one window is not done to another row because
		// somebody went on to it in a second one.
		program := w.program(ada, `desk.buy :name "Lamp"`)
		preview, err := ada.Preview(ctx, program)
		if err != nil || preview.Calls[0].Filled[0].Name != "@north" || plain(preview.Calls[0].Text) != `desk.buy :name "Lamp" :club-id @north` {
			t.Fatalf("%+v, %v", preview, err)
		}
		w.must(other, "desk.stand :club-id @south", engine.RunOptions{})
		before := w.state()
		_, err = ada.Run(ctx, program, engine.RunOptions{Agreed: preview.ID})
		wantRefusal(t, err, "stale-preview")
		if got := diff(w.entity, before, w.state()); len(got) > 0 {
			t.Errorf("changed %v", got)
		}

		// A club that is taken away is at work no longer.
		sam := stores.Principal{Name: "sam", Label: "Sam", Roles: []string{"keeper"}, Holds: map[string][]stores.Value{"club": {id(1), id(2)}}}
		if err := w.store.SetPrincipal(ctx, sam); err != nil {
			t.Fatal(err)
		}
		w.must(w.visit(w.engine, "sam", engine.Visit{Name: "today"}), "desk.stand :club-id @north", engine.RunOptions{})
		sam.Holds["club"] = sam.Holds["club"][1:]
		if err := w.store.SetPrincipal(ctx, sam); err != nil {
			t.Fatal(err)
		}
		left := w.must(w.visit(w.engine, "sam", engine.Visit{Name: "today"}), "desk.shelf", engine.RunOptions{})
		stood(t, left, 0, "@south", receipt.OnlyOne)
		sam.Holds = nil
		if err := w.store.SetPrincipal(ctx, sam); err != nil {
			t.Fatal(err)
		}
		_, err = w.does(w.visit(w.engine, "sam", engine.Visit{Name: "today"}), "desk.shelf", engine.RunOptions{})
		wantRefusal(t, err, "nothing-at-work")
		var refusal *engine.Refusal
		if errors.As(err, &refusal) && strings.Contains(refusal.Diagnostics[0].Summary, "North") {
			t.Errorf("%v", err)
		}
	})
}
