package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
)

// X11, SAFE-C7: a question waits in its session, under any engine, until a turn
// settles it; only its principal reaches it, and a run that answers one which is
// not there any more is refused.
func TestAQuestionWaitsInItsSession(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		s := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
		p := w.program(s, `desk.whisper :secret "7310"`)
		preview, err := s.Keep(ctx, p, engine.RunOptions{Source: "talk"})
		if err != nil {
			t.Fatal(err)
		}
		asked := sessions.Question{Preview: preview.ID, Asked: newWorldClock, Until: newWorldClock.Add(time.Hour), Source: "talk", About: `{"title": "whisper"}`, Program: p}
		if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Client, Content: "whisper"}, sessions.Said{Role: sessions.Agent, Content: "Shall I?", Puts: []sessions.Question{asked}}); err != nil {
			t.Fatal(err)
		}

		there := w.visit(w.another(counted(nil)), "kim", engine.Visit{Name: "today"})
		all, turns, err := there.Turns().Waiting(ctx)
		if err != nil || len(all) != 1 || turns != 2 || !all[0].Last || all[0].Preview != preview.ID || all[0].About != `{"title":"whisper"}` || !all[0].Until.Equal(asked.Until) {
			t.Fatalf("%+v, %d, %v", all, turns, err)
		}
		for _, who := range []string{"sam", "ada"} {
			if all, _, err := w.visit(w.engine, who, engine.Visit{Name: "today"}).Turns().Waiting(ctx); err != nil || len(all) > 0 {
				t.Errorf("%s: %+v, %v", who, all, err)
			}
		}
		if strings.Contains(strings.Join(w.rendered(), "\n"), "7310") {
			t.Error("a secret stands in a row that others may read")
		}
		// Something else is said, and it is not the last any more; put again, it is.
		if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Client, Content: "hm"}); err != nil {
			t.Fatal(err)
		}
		if all, _, _ := there.Turns().Waiting(ctx); all[0].Last {
			t.Error("it was not put last")
		}
		all[0].After = "yes"
		if _, err := there.Turns().Say(ctx, sessions.Said{Role: sessions.Agent, Content: "Shall I?", Puts: all, Settles: []string{preview.ID}}); err != nil {
			t.Fatal(err)
		}
		if all, _, _ = s.Turns().Waiting(ctx); len(all) != 1 || !all[0].Last || all[0].After != "yes" {
			t.Fatalf("%+v", all)
		}
		again, err := there.Turns().Recall(context.Background(), &all[0])
		if err != nil {
			t.Fatal(err)
		}
		said := engine.RunOptions{Said: []sessions.Said{{Role: sessions.Client, Content: "yes", Settles: []string{preview.ID}}}}
		if _, err := there.Run(ctx, again, said); err != nil {
			t.Fatal(err)
		}
		if _, values := w.info(s); len(values) != 1 || !strings.Contains(values[0], "secret") {
			t.Error(values)
		}
		_, err = s.Run(ctx, p, said)
		var refusal *engine.Refusal
		if !errors.As(err, &refusal) || refusal.Diagnostics[0].Code != "already-used" {
			t.Errorf("it was answered twice: %v", err)
		}
		if all, _, _ := s.Turns().Waiting(ctx); len(all) > 0 {
			t.Errorf("%+v", all)
		}
	})
}

// X11, SAFE-C7: what was asked back about words waits as well, without a program:
// only its principal reaches it, one turn alone answers it, and putting it again
// does not bring it back.
func TestWordsWaitInTheirSession(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		s := w.visit(w.engine, "kim", engine.Visit{Name: "words"})
		asked := sessions.Question{Preview: "words-1", Asked: newWorldClock, Until: newWorldClock.Add(time.Hour), Source: "talk", About: `{"asked": "Which one?"}`, Words: "the 7310 one"}
		if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Agent, Content: "Which one?", Puts: []sessions.Question{asked}}); err != nil {
			t.Fatal(err)
		}
		there := w.visit(w.another(counted(nil)), "kim", engine.Visit{Name: "words"})
		all, _, err := there.Turns().Waiting(ctx)
		if err != nil || len(all) != 1 || !all[0].Last || all[0].Words != asked.Words || all[0].About != `{"asked":"Which one?"}` {
			t.Fatalf("%+v, %v", all, err)
		}
		if p, err := there.Turns().Recall(context.Background(), &all[0]); p != nil || err == nil {
			t.Errorf("a program was made of %q", asked.Words)
		}
		if other, _, err := w.visit(w.engine, "sam", engine.Visit{Name: "words"}).Turns().Waiting(ctx); err != nil || len(other) > 0 {
			t.Errorf("%+v, %v", other, err)
		}
		if strings.Contains(strings.Join(w.rendered(), "\n"), "7310") {
			t.Error("somebody's words stand in a row that others may read")
		}
		answers := sessions.Said{Role: sessions.Client, Content: "the second", Answers: "words-1"}
		if _, err := there.Turns().Say(ctx, answers); err != nil {
			t.Fatal(err)
		}
		var refusal *engine.Refusal
		if _, err := s.Turns().Say(ctx, answers); !errors.As(err, &refusal) || refusal.Diagnostics[0].Code != "already-used" {
			t.Errorf("it was answered twice: %v", err)
		}
		p := w.program(s, `desk.jot :text "Ann"`)
		if _, err := s.Run(ctx, p, engine.RunOptions{Said: []sessions.Said{answers}}); !errors.As(err, &refusal) || refusal.Diagnostics[0].Code != "already-used" {
			t.Errorf("something was done on an answer that came too late: %v", err)
		}
		asked.Again = true
		if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Agent, Content: "Which one?", Puts: []sessions.Question{asked}}); err != nil {
			t.Fatal(err)
		}
		info, err := s.Turns().Info(ctx)
		if all, turns, _ := s.Turns().Waiting(ctx); len(all) > 0 || turns != 3 || err != nil || len(info.Values) > 0 {
			t.Errorf("%+v, %d turns, %+v, %v", all, turns, info.Values, err)
		}
	})
}

// What somebody was asked goes with what they said, when they ask to be
// forgotten, and with the session; a question that is too old is tidied away.
func TestQuestionsAreForgotten(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		w.grant("ada", "archivist")
		ada := w.session("ada")
		for _, c := range []struct {
			name   string
			forget func() error
			left   int // of sam, who asked for nothing
		}{
			{"forgotten", func() error { _, err := ada.Journal().Redact(ctx, engine.Redaction{Principal: "kim"}); return err }, 1},
			{"too old", func() error { _, err := w.engine.Housekeep(ctx, newWorldClock.Add(2*time.Hour)); return err }, 0},
		} {
			windows := map[string]*engine.Session{}
			for _, who := range []string{"kim", "sam"} {
				s := w.visit(w.engine, who, engine.Visit{Name: c.name})
				p := w.program(s, `desk.jot :text "Ann"`)
				q := sessions.Question{Preview: "aaaa-bbbb", Asked: newWorldClock, Until: newWorldClock.Add(time.Hour), Source: "talk", About: `{}`, Program: p}
				if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Agent, Content: "Shall I?", Puts: []sessions.Question{q}}); err != nil {
					t.Fatal(err)
				}
				windows[who] = s
			}
			if err := c.forget(); err != nil {
				t.Fatal(err)
			}
			for who, want := range map[string]int{"kim": 0, "sam": c.left} {
				all, _, err := windows[who].Turns().Waiting(ctx)
				var refusal *engine.Refusal
				if len(all) != want || err != nil && !errors.As(err, &refusal) {
					t.Errorf("%s: %s has %d questions, %v", c.name, who, len(all), err)
				}
			}
		}
	})
}

// SAFE-C1, O17: what others have to agree to is compared with what was said up to
// the proposal: whatever is said until they get to it changes nothing of it.
func TestAProposalStandsOnWhatWasSaidBeforeIt(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		w.grant("ada", "archivist")
		s := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
		say := func(n int) {
			for range n {
				if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Client, Content: "and another thing"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		say(2)
		pending, err := s.Propose(ctx, w.program(s, "desk.report"), engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		say(3)
		ada, err := w.another(counted(nil)).Session(ctx, "ada")
		if err != nil {
			t.Fatal(err)
		}
		if shown, err := ada.Show(ctx, pending.ID); err != nil || shown.Stale || !shown.Mine {
			t.Fatalf("%+v, %v", shown, err)
		}
		if _, _, err := ada.Agree(ctx, pending.ID); err != nil {
			t.Fatal(err)
		}
		if _, values := w.info(s); len(values) != 1 || values[0] != "reported=2" {
			t.Error(values)
		}
	})
}
