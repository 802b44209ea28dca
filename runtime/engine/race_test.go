package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
)

// newTwo opens the world's file a second time, as another process would.
func newTwo(t *testing.T) (*world, *world) {
	t.Helper()
	first, err := fixture()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "club.db")
	if err := os.WriteFile(path, first, 0o600); err != nil {
		t.Fatal(err)
	}
	base := &world{t: t, reg: load(t, "testdata/palettes"), clock: newWorldClock}
	var ws [2]*world
	for i := range ws {
		store, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		ws[i] = base.with(base.reg, store)
	}
	return ws[0], ws[1]
}

// at64 runs fn in 64 goroutines at once, half of them on each of two worlds.
func at64(a, b *world, fn func(w *world, n int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for n := range 64 {
		w := a
		if n%2 == 1 {
			w = b
		}
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-start
			fn(w, n)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// SAFE-C3: one agreement used by many at once, in two processes, is carried out
// once, and everybody else is told that it was.
func TestOneAgreementIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	a, b := newTwo(t)
	for round := range 4 {
		kim := a.session("kim")
		// A row is added besides, so that a second execution would be seen.
		c := a.propose(kim, a.program(kim, fmt.Sprintf("lending.extend :loan-id @saw-bob :new-date %d-06-20\nlending.remind :loan-id @saw-bob :on 2025-09-01 :text \"round %d\"", 2026+round, round)))
		bo := [2]*engine.Session{a.session("bo"), b.session("bo")}
		var done, refused atomic.Int64
		at64(a, b, func(w *world, n int) {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			if n%8 == 7 {
				stop() // cut off: it must not count, and not stand in the way
			}
			_, reply, err := bo[n%2].Agree(ctx, c.ID)
			var r *engine.Refusal
			switch {
			case err == nil && reply != nil && reply.Repeated:
				refused.Add(1) // the same answer, sent again
			case err == nil && reply != nil:
				done.Add(1)
			case errors.As(err, &r):
				refused.Add(1)
				if code := r.Diagnostics[0].Code; code != "already-used" && code != "changed-meanwhile" {
					t.Errorf("refused with %s", code)
				}
			case ctx.Err() == nil:
				t.Errorf("%T: %v", err, err)
			}
		})
		if done.Load() != 1 {
			t.Fatalf("round %d: carried out %d times, refused %d times", round, done.Load(), refused.Load())
		}
		n := 0
		for key, row := range a.state() {
			if strings.HasPrefix(key, "reminder ") && row[a.entity("reminder").FieldIndex("text")] == str(fmt.Sprintf("round %d", round)) {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("round %d: %d rows were added", round, n)
		}
	}
}

// SAFE-C3: the same of a preview of one's own, in sessions that showed it and in
// others.
func TestOnePreviewIsUsedOnce(t *testing.T) {
	t.Parallel()
	a, b := newTwo(t)
	const text = "lending.lose :item-id @saw\nlending.remind :loan-id @saw-bob :on 2025-09-01"
	sessions := [3]*engine.Session{a.session("kim"), b.session("kim"), a.session("kim")}
	kept, err := sessions[0].Keep(ctx, a.program(sessions[0], text))
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Int64
	at64(a, b, func(w *world, n int) {
		s := sessions[n%3]
		if r, err := s.Run(ctx, w.program(s, text), engine.RunOptions{Agreed: kept.ID}); err == nil && !r.Repeated {
			done.Add(1)
		}
	})
	if done.Load() != 1 {
		t.Errorf("it was used %d times", done.Load())
	}
}

// SAFE-C3: and of one that a session has only shown, where doing it twice would
// be as right as doing it once: nothing but the use itself is in the way.
func TestAPreviewThatWasShownIsUsedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.state()
	s := w.session("kim")
	p := w.program(s, "lending.remind :loan-id @saw-bob :on 2025-09-01")
	preview, err := s.Preview(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Int64
	at64(w, w, func(*world, int) {
		_, err := s.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
		if err == nil {
			done.Add(1)
			return
		}
		var r *engine.Refusal
		if !errors.As(err, &r) || r.Diagnostics[0].Code != "already-used" {
			t.Errorf("%T: %v", err, err)
		}
	})
	if done.Load() != 1 {
		t.Errorf("it was used %d times", done.Load())
	}
	if d := diff(w.entity, before, w.state()); len(d) != 1 {
		t.Errorf("it was done %d times", len(d))
	}
}

// SAFE-R5: many send one key at once, in two processes, some of them cut off:
// it is done once, and all who are answered are answered alike.
func TestOneKeyIsOneEffect(t *testing.T) {
	t.Parallel()
	a, b := newTwo(t)
	before := a.state()
	const text = `lending.remind :loan-id @saw-bob :on 2025-09-01 :text "once"`
	sessions := [2]*engine.Session{a.session("kim"), b.session("kim")}
	one, two := a.program(sessions[0], text), b.program(sessions[1], text)
	var mu sync.Mutex
	answers := map[string]int{}
	fresh := 0
	for range 3 {
		at64(a, b, func(w *world, n int) {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			if n%5 == 4 {
				go stop()
			}
			s, prog := sessions[0], one
			if w == b {
				s, prog = sessions[1], two
			}
			reply, err := s.Run(ctx, prog, engine.RunOptions{Key: "payment 7"})
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("%T: %v", err, err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[answerOf(reply)]++
			if !reply.Repeated {
				fresh++
			}
		})
	}
	if len(answers) != 1 || fresh > 1 {
		t.Errorf("%d answers, %d of them fresh: %v", len(answers), fresh, answers)
	}
	if d := diff(a.entity, before, a.state()); len(d) != 1 {
		t.Errorf("it was done %d times: %q", len(d), d)
	}
}

// answerOf prints what a reply says.
func answerOf(r *receipt.Receipt) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d..%d %x %s %d %d\n", r.First, r.Last, r.Sealed().Digest, r.ID, r.First, r.Last)
	fmt.Fprintln(&b, r.Totals())
	for i, c := range r.Calls {
		fmt.Fprintln(&b, c.Verb, c.Seq, c.Place, r.Calls[i].Text, c.Notices)
		for _, row := range c.Rows {
			fmt.Fprintln(&b, row.Op, row.Entity, row.Name, row.Label, row.Fields)
		}
		if c.Result != nil {
			fmt.Fprintln(&b, *c.Result)
		}
	}
	return b.String()
}

// A repeated reply is the same as the first one, whatever was done; and after a
// delete, when the script's names mean nothing any more, Repeat still has it.
func TestARepeatedReplyIsTheSame(t *testing.T) {
	t.Parallel()
	for i, text := range []string{
		`lending.note :loan-id @saw-bob :note "x" :expected-date 2025-02-01`,
		`lending.add-item :club-id @north :name "Rope" :worth 5.00 :tags ["a" "b"]`,
		"lending.lend :item-id @drill :member-id @ann",
		"lending.forget :reminder-id @saw-2025-01-11",
		"lending.list-items :status IN",
		"lending.count-loans",
		"lending.relend :loan-id @saw-bob :item-id @drill :member-id @ann",
		"lending.lend :item-id @drill :member-id @ann :as @l\nlending.remind :loan-id @l :on 2025-02-02",
		"lending.remind :loan-id (lending.lend :item-id @drill :member-id @ann) :on 2025-02-02",
		"lending.close-late :member-id @ann",
		`lending.set-phone :member-id @bob :phone "+1 555"`,
	} {
		w := newWorld(t)
		s := w.session("kim")
		p := w.program(s, text)
		o := w.own(s, p)
		o.Key = fmt.Sprint("key ", i)
		first, err := s.Run(ctx, p, o)
		if err != nil {
			t.Fatal(text, err)
		}
		state, entries := w.state(), len(w.journal())
		again, err := s.Journal().Repeat(ctx, p.Script(), o.Key)
		if err != nil || again == nil || !again.Repeated {
			t.Fatalf("%s: %v %v", text, again, err)
		}
		second, err := s.Run(ctx, p, o)
		if err != nil {
			t.Fatal(text, err)
		}
		one, two := answerOf(first), answerOf(again)
		if strings.Contains(text, "set-phone") {
			one = strings.Replace(one, `"+1 555" true`, "nil true", 1) // not kept
		}
		if one != two || answerOf(second) != two || first.Repeated || !second.Repeated {
			t.Errorf("%s: first\n%sthen\n%s", text, one, two)
		}
		// In another session too there is an answer, and no second effect.
		if other, err := w.session("kim").Journal().Repeat(ctx, p.Script(), o.Key); err != nil || other == nil || len(other.Calls) != len(first.Calls) {
			t.Errorf("%s, elsewhere: %v", text, err)
		}
		equal(t, diff(w.entity, state, w.state()), nil)
		if len(w.journal()) != entries {
			t.Errorf("%s: it was journalled again", text)
		}
	}
}

// SAFE-R5: a key stands for one text of one principal.
func TestAKeyIsOfOneTextAndOnePrincipal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	note := func(s *engine.Session, text, key string) (*receipt.Receipt, error) {
		return s.Run(ctx, w.program(s, text), engine.RunOptions{Key: key})
	}
	const text = `lending.note :loan-id @saw-bob :note "one"`
	if _, err := note(kim, text, "k"); err != nil {
		t.Fatal(err)
	}
	before := w.state()
	_, err := note(kim, `lending.note :loan-id @saw-bob :note "two"`, "k")
	wantRefusal(t, err, "key-reused")
	if e := w.last(); e.Outcome != "refused" || e.Reason != "key-reused" {
		t.Errorf("journalled as %+v", e)
	}
	equal(t, diff(w.entity, before, w.state()), nil)
	// The same text, spelt differently, is the same text.
	if r, err := note(w.session("kim"), "\nlending.note   :loan-id @saw-bob   :note \"one\"", "k"); err != nil || !r.Repeated {
		t.Errorf("%+v %v", r, err)
	}
	// Mia's key is another, though it is spelt the same.
	mia := w.session("mia")
	if r, err := mia.Journal().Repeat(ctx, w.program(mia, text).Script(), "k"); err != nil || r != nil {
		t.Errorf("mia is told what kim did: %+v %v", r, err)
	}
	if r, err := note(mia, `lending.note :loan-id @saw-bob :note "three"`, "k"); err != nil || r.Repeated {
		t.Errorf("%+v %v", r, err)
	}
	// What was refused is not done, and can be sent again.
	_, err = note(kim, "lending.lose :item-id @saw", "again")
	wantRefusal(t, err, "needs-agreement")
	p := w.program(kim, "lending.lose :item-id @saw")
	o := w.own(kim, p)
	o.Key = "again"
	if r, err := kim.Run(ctx, p, o); err != nil || r.Repeated {
		t.Errorf("%+v %v", r, err)
	}
}

// A commit whose answer was lost is settled by sending it again with its key:
// whether it happened or not, it has happened once afterwards.
func TestAKeySettlesWhatIsUnknown(t *testing.T) {
	t.Parallel()
	for _, happened := range []bool{false, true} {
		w := newWorld(t)
		before := w.state()
		sound := w.store
		cut := &cutStore{Store: sound, happens: happened}
		cutOff := w.with(w.reg, cut)
		s := cutOff.session("kim")
		const text = `lending.remind :loan-id @saw-bob :on 2025-09-01`
		o := engine.RunOptions{Key: "k"}
		_, err := s.Run(ctx, cutOff.program(s, text), o)
		var f *engine.Failure
		if !errors.As(err, &f) || !f.Unknown || !strings.Contains(engine.Sentence(err), "same key") {
			t.Fatalf("%v", err)
		}
		again := w.session("kim")
		r, err := again.Run(ctx, w.program(again, text), o)
		if err != nil || r.Repeated != happened {
			t.Errorf("happened %t, then %+v %v", happened, r, err)
		}
		if d := diff(w.entity, before, w.state()); len(d) != 1 {
			t.Errorf("happened %t, then done %d times", happened, len(d))
		}
	}
}

// A cutStore loses the answer of every commit.
type cutStore struct {
	stores.Store
	happens bool
}

func (c *cutStore) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	undo := errors.New("undo")
	err := c.Store.Update(ctx, scope, func(tx stores.Tx) error {
		if err := fn(tx); err != nil || c.happens {
			return err
		}
		return undo
	})
	if err == nil || errors.Is(err, undo) {
		return stores.ErrUnknown
	}
	return err
}

// An agreement that waits keeps its key: what it did is found by it.
func TestAnAgreementKeepsItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	p := w.program(kim, tooLong)
	o := w.own(kim, p)
	o.Key = "k"
	c, err := kim.Propose(ctx, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.session("bo").Agree(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	if r, err := kim.Run(ctx, p, engine.RunOptions{Key: "k"}); err != nil || !r.Repeated {
		t.Errorf("%+v %v", r, err)
	}
}

// SAFE-C6: what the script did not read can change without making an agreement
// stale, and what it did read cannot.
func TestOnlyRelatedWritesMakeAnAgreementStale(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	w := newWorld(t)
	kim, bo := w.session("kim"), w.session("bo")
	unrelated := []func(n int){
		func(n int) { w.set("loan", 32, "note", str(fmt.Sprint("n", n))) },
		func(n int) { w.set("loan", 34, "note", str(fmt.Sprint("n", n))) },
		func(n int) { w.set("item", 21, "worth", decimal(fmt.Sprint(n))) },
		func(n int) { w.set("item", 25, "name", str(fmt.Sprint("Kayak ", n))) },
		func(n int) { w.set("reminder", 42, "text", str(fmt.Sprint("t", n))) },
		func(n int) { w.set("member", 12, "phone", str(fmt.Sprint("+", n))) },
		func(n int) { w.set("reminder", 41, "text", str(fmt.Sprint("r", n))) },
	}
	related := []func(n int){
		func(n int) { w.set("loan", 31, "note", str(fmt.Sprint("n", n))) },
		func(n int) { w.set("loan", 31, "updated_at", stores.NewTime(newWorldClock.AddDate(0, 0, n))) },
		func(n int) {
			w.set("loan", 31, "status", str("OPEN"))
			w.set("loan", 31, "note", str(fmt.Sprint("m", n)))
		},
	}
	due := newWorldClock.AddDate(1, 0, 0)
	for n := range 120 {
		due = due.AddDate(0, 3, 0)
		c := w.propose(kim, w.program(kim, "lending.extend :loan-id @saw-bob :new-date "+due.Format("2006-01-02")))
		touched := n%3 == 0
		unrelated[rnd.IntN(len(unrelated))](n)
		if touched {
			related[rnd.IntN(len(related))](n)
		}
		_, reply, err := bo.Agree(ctx, c.ID)
		switch {
		case touched:
			wantRefusal(t, err, "stale-preview")
		case err != nil || reply == nil:
			t.Fatalf("run %d: %v", n, err)
		}
	}
}

// SAFE-C5: what is shown is what runs, byte for byte, whatever it holds.
func TestWhatIsShownIsWhatIsAgreedTo(t *testing.T) {
	t.Parallel()
	for _, note := range []string{
		"\u202egnirts\u202c", "zero\u200bwidth\u2060joined", "раураl", "two\nlines\r\n\tand a tab", "<b>*bold*</b> [x](http://y)",
		strings.Repeat("long ", 39), `\"quoted\" (withheld)`, "\x1b[2K\x1b[1A",
	} {
		w := newWorld(t)
		kim := w.session("kim")
		text := tooLong + "\nlending.note :loan-id @tent-ann :note " + dsl.FormatValue(dsl.NewString(note))
		c := w.propose(kim, w.program(kim, text))
		shown, err := w.session("bo").Show(ctx, c.ID)
		if err != nil || shown.Stale {
			t.Fatalf("%q: %+v %v", note, shown, err)
		}
		_, reply, err := w.session("bo").Agree(ctx, c.ID)
		if err != nil {
			t.Fatalf("%q: %v", note, err)
		}
		if reply.Digest != shown.Preview.Digest || shown.Preview.Digest != c.Preview.Digest {
			t.Errorf("%q: what ran is not what was shown", note)
		}
		if got := w.get("loan", id(33), "note"); got.Text() != note || shown.Preview.Calls[1].Rows[0].Fields[0].After.Text() != note {
			t.Errorf("%q became %q", note, got.Text())
		}
	}
}

// What is sensitive is in the store, so that it can be done, and in nothing
// that is told.
func TestSensitiveValuesOfAProposalAreNotTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	c := w.propose(kim, w.program(kim, tooLong+"\nlending.set-phone :member-id @bob :phone \"+1 555 77\""))
	bo := w.session("bo")
	shown, err := bo.Show(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	list, err := bo.Pending(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(list, shown, c) {
		if text := strings.Join(p.Calls, "\n"); strings.Contains(text, "555") || !strings.Contains(text, "(withheld)") {
			t.Errorf("told: %s", text)
		}
	}
	if _, _, err := bo.Agree(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	if got := w.get("member", id(12), "phone").Text(); got != "+1 555 77" {
		t.Errorf("the number is %q", got)
	}
	for _, e := range w.journal() {
		if strings.Contains(e.Call+e.Changes, "555 77") {
			t.Errorf("journalled: %s %s", e.Call, e.Changes)
		}
	}
	// Under other palettes nobody knows what is sensitive.
	w.propose(kim, w.program(kim, strings.Replace(tooLong, "2025", "2026", 1)))
	if list, err := w.otherPalettes().session("bo").Pending(ctx); err != nil || len(list) != 1 || list[0].Calls != nil {
		t.Errorf("%+v %v", list, err)
	}
}
