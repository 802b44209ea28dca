package engine_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/engine/each"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// A read-only tool is asked once for a preview and the run that follows it (G15), in whichever process
// and by whoever agrees; and the receipt says so. What is not the same, or not valid any more, is
// asked again.
func TestAPreviewAndItsRunAskAToolOnce(t *testing.T) {
	t.Parallel()
	files := map[string]string{"lending.yaml": lendingText(t)}
	for _, name := range []string{"desk.yaml", "reads.yaml"} {
		text, err := os.ReadFile("testdata/tools/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	worldsOfPalettes(t, files, func(t *testing.T, w *world) {
		shop := newWorkshop()
		w.tools(shop)
		asked := func(when string, want ...string) {
			t.Helper()
			equal(t, append([]string{when}, shop.asked()...), append([]string{when}, want...))
			shop.calls = nil
			w.set("item", 21, "status", str("IN"))
		}
		must := func(r *receipt.Receipt, err error) *receipt.Receipt {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		const (
			hello = `say {"text":"hello"}`
			bye   = `say {"text":"bye"}`
			order = `order {"text":"We are open.","thing":"Drill"}`
			note  = "desk.say :text \"hello\" :as @word\nlending.note :loan-id @saw-bob :note @word"
			yes   = "desk.say :text \"hello\" :as @word\ndesk.order-asking :item-id @drill :text @word"
			board = "desk.say :text \"hello\" :as @word\ndesk.order-once :item-id @drill :text @word"
		)
		s := w.session("kim")

		from := w.now()
		preview := must(s.Preview(ctx, w.program(s, yes)))
		if e := preview.Calls[0].External[0]; !e.Answered.IsNull() || preview.Totals().External != 2 {
			t.Errorf("the preview says %+v", e)
		}
		until := w.now()
		w.later(time.Minute)
		done := must(s.Run(ctx, w.program(s, yes), engine.RunOptions{Agreed: preview.Answer()}))
		asked("preview and run", hello, order)
		e := done.Calls[0].External[0]
		if !e.Previewed || !from.Before(e.Answered.Time()) || !e.Answered.Time().Before(until) {
			t.Fatalf("%+v", e)
		}
		var b strings.Builder
		receipt.Print(&b, done, receipt.Options{Full: true})
		for _, want := range []string{"asked 1 tool and used 1 answer given before", "does not ask say of workshop again: its answer is the preview's, at " + e.Answered.Time().Format("2006-01-02 15:04:05 UTC")} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q is not in\n%s", want, b.String())
			}
		}
		if text, err := done.MarshalJSON(); err != nil || !strings.Contains(string(text), `"asked":0,"answered":"`) || !strings.Contains(string(text), `"previewed":true`) {
			t.Errorf("%s %v", text, err)
		}

		done = must(s.Run(ctx, w.program(s, "desk.say :text \"hello\"\ndesk.say :text \"hello\""), engine.RunOptions{}))
		asked("a run alone", hello)
		if a, b := done.Calls[0].External[0], done.Calls[1].External[0]; !a.Answered.IsNull() || b.Answered.IsNull() || b.Previewed {
			t.Errorf("%+v %+v", a, b)
		}
		if n := done.Totals(); n.External != 1 || n.Answers != 1 {
			t.Errorf("%+v", n)
		}

		done = must(each.Runner{Session: s}.Run(ctx, w.program(s, note), engine.RunOptions{}))
		asked("a run call by call", hello)
		if n := done.Totals(); n.External != 1 || n.Answers != 0 {
			t.Errorf("%+v", n)
		}
		preview = must(s.Preview(ctx, w.program(s, note)))
		must(each.Runner{Session: s}.Run(ctx, w.program(s, note), engine.RunOptions{Agreed: preview.Answer()}))
		asked("a preview and a run call by call", hello)

		preview = must(s.Keep(ctx, w.program(s, yes)))
		other := w.session("kim")
		must(other.Run(ctx, w.program(other, yes), engine.RunOptions{Agreed: preview.Answer()}))
		asked("in another process", hello, order)

		must(s.Run(ctx, w.program(s, "reads.remark-soon :loan-id @saw-bob"), engine.RunOptions{}))
		err := w.store.Work(ctx, stores.Shift{Worker: "one", Kinds: engine.JobKinds(), Once: true, Concurrency: 1, Timeout: time.Minute, Poll: 50 * time.Millisecond, Drain: 10 * time.Second, Kept: time.Hour,
			Lost: func(stores.Run) {}, Run: func(ctx context.Context, run stores.Run) error {
				worked, err := w.engine.Work(ctx, run)
				if worked.Outcome != engine.WorkDone {
					t.Errorf("%+v", worked)
				}
				return err
			}})
		if err != nil {
			t.Fatal(err)
		}
		asked("a job", hello)

		pending, err := s.Propose(ctx, w.program(s, board), engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		bo := w.session("bo")
		if p, err := bo.Show(ctx, pending.ID); err != nil || p.Stale {
			t.Fatal(err, p)
		}
		if _, _, err := bo.Agree(ctx, pending.ID); err != nil {
			t.Fatal(err)
		}
		asked("somebody else agrees", hello, order)

		// What is sensitive is not in the row of a preview.
		const whisper = "reads.whisper :pin \"hello\"\ndesk.order-asking :item-id @drill :text \"We are open.\""
		waiting := must(s.Keep(ctx, w.program(s, whisper)))
		must(s.Keep(ctx, w.program(s, yes)))
		held := map[string]int{}
		err = w.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
			all, err := confirmations.Find(ctx, r, nil)
			clear(held)
			for _, c := range all {
				held[c.Status] += strings.Count(c.Answers, "We are open.")
			}
			return err
		})
		if want := map[string]int{confirmations.Waiting: 1, confirmations.Used: 0}; err != nil || fmt.Sprint(held) != fmt.Sprint(want) {
			t.Errorf("%v, and the rows hold %v", err, held)
		}
		other = w.session("kim")
		must(other.Run(ctx, w.program(other, whisper), engine.RunOptions{Agreed: waiting.Answer()}))
		asked("a sensitive request", hello, hello, hello, order)

		// What is asked again.
		preview = must(s.Preview(ctx, w.program(s, note)))
		must(s.Run(ctx, w.program(s, note), engine.RunOptions{}))
		asked("a run that follows no preview", hello, hello)

		_, err = s.Run(ctx, w.program(s, strings.Replace(note, "hello", "bye", 1)), engine.RunOptions{Agreed: preview.Answer()})
		wantRefusal(t, err, "stale-preview")
		asked("another argument", bye)

		_, err = w.session("mia").Run(ctx, w.program(w.session("kim"), note), engine.RunOptions{Agreed: preview.Answer()})
		wantRefusal(t, err, "not-permitted")
		asked("another principal")

		preview = must(s.Preview(ctx, w.program(s, note)))
		w.later(25 * time.Hour)
		must(s.Run(ctx, w.program(s, note), engine.RunOptions{Agreed: preview.Answer()}))
		asked("an expired preview", hello, hello)

		preview = must(s.Preview(ctx, w.program(s, note)))
		spec := shop.specs["say"]
		spec.Digest, spec.Accepted = "2", "2"
		shop.specs["say"] = spec
		must(s.Run(ctx, w.program(s, note), engine.RunOptions{Agreed: preview.Answer()}))
		asked("a tool that describes itself otherwise", hello, hello)
		spec.Digest, spec.Accepted = "1", "1"
		shop.specs["say"] = spec

		// The same tool, as one that acts: nobody else's answer is its own.
		const both = "desk.say :text \"hello\"\nreads.tell :text \"hello\""
		preview = must(s.Preview(ctx, w.program(s, both)))
		must(s.Run(ctx, w.program(s, both), engine.RunOptions{Agreed: preview.Answer()}))
		asked("a tool that acts", hello, hello)
		must(s.Run(ctx, w.program(s, both), engine.RunOptions{}))
		asked("a tool that acts, without a preview", hello, hello)

		// What is too long is asked again, and what is asked twice in one run is counted.
		long := strings.Repeat("x", 64_001)
		failed := false
		shop.answer = func(n int, c tools.Call) (tools.Answer, error) {
			if failed = !failed; failed {
				return tools.Answer{}, context.DeadlineExceeded
			}
			return tools.Answer{Text: long}, nil
		}
		const say = "desk.say :text \"hello\""
		preview = must(s.Preview(ctx, w.program(s, say)))
		done = must(s.Run(ctx, w.program(s, say), engine.RunOptions{Agreed: preview.Answer()}))
		asked("a long answer", hello, hello, hello, hello)
		if e := done.Calls[0].External[0]; e.Tries != 2 || !e.Answered.IsNull() {
			t.Errorf("%d tries", e.Tries)
		}
	})
}
