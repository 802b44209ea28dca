package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/engine/each"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// committed runs a program, call by call or whole.
func committed(ctx context.Context, s *engine.Session, p *verbs.Program, byCall bool, o engine.RunOptions) (*receipt.Receipt, error) {
	if byCall {
		return each.Runner{Session: s}.Run(ctx, p, o)
	}
	return s.Run(ctx, p, o)
}

// eachOf runs a script call by call from a call on, agreeing to what it asks.
func (w *world) eachOf(s *engine.Session, text string, from int, o engine.RunOptions) (*receipt.Receipt, error) {
	w.t.Helper()
	script, ds := dsl.Parse(dsl.NewSource("test.dsl", text))
	if ds.HasErrors() {
		w.t.Fatal(told(ds))
	}
	p, ds := s.Check(context.Background(), script, engine.CheckOptions{From: from})
	if p == nil {
		w.t.Fatalf("check: %s", told(ds))
	}
	preview, err := s.Preview(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(preview.Asks()) > 0 {
		o.Agreed = preview.ID
	}
	return each.Runner{Session: s, From: from}.Run(ctx, p, o)
}

// OB14, X14: call by call, every call is a transaction of its own with a journal
// entry of its own; what an earlier call gave can be used by a later one; and
// progress is told after each commit.
func TestEachCallIsCommitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	var told []string
	progress := func(p engine.Progress) {
		if (p.Call != nil) != (p.Phase == engine.Committing) {
			t.Errorf("told of %+v", p)
		}
		if p.Call == nil {
			return
		}
		journal := w.journal() // what is told is committed
		told = append(told, fmt.Sprintf("%d of %d, number %d: %s, journal %d of %d", p.Done, p.Total, p.Number, p.Call.Verb, p.Call.Seq, len(journal)))
	}
	reply, err := w.eachOf(kim, `lending.lend :item-id @drill :member-id @ann :as @l
lending.remind :loan-id @l :on 2025-02-02
lending.note :loan-id (lending.lend :item-id @tent :member-id @bob) :note "nested"
lending.list-items :status IN`, 0, engine.RunOptions{Progress: progress})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, told, []string{
		"1 of 4, number 1: lending.lend, journal 1 of 1",
		"2 of 4, number 2: lending.remind, journal 2 of 2",
		"3 of 4, number 3: lending.note, journal 4 of 4",
		"4 of 4, number 4: lending.list-items, journal 0 of 4",
	})
	if reply.First != 1 || reply.Last != 4 || len(reply.Calls) != 5 || reply.Totals().Rows != 5 || len(reply.Calls) != 5 {
		t.Errorf("%d..%d, %d calls, %d rows", reply.First, reply.Last, len(reply.Calls), reply.Totals().Rows)
	}
	if name := reply.Calls[1].Rows[0].Fields[0].After.Text(); name != "@drill-ann" {
		t.Errorf("the reminder is for %s", name)
	}
	if n := len(reply.Calls[4].Result.Rows); n != 0 {
		t.Errorf("%d things are in", n)
	}
}

// OB14: an error ends a run call by call; what was done stays, and it can be
// continued from the call that failed.
func TestEachStopsAndContinues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	const text = `lending.note :loan-id @saw-bob :note "one"
lending.add-item :club-id @north :name "Axe"
lending.note :loan-id @saw-bob :note "three"
lending.note :loan-id @tent-ann :note "four"`
	script, _ := dsl.Parse(dsl.NewSource("test.dsl", text))
	p, ds := kim.Check(context.Background(), script)
	if p == nil {
		t.Fatal(told(ds))
	}
	// The axe is there before its turn comes.
	taken := func(progress engine.Progress) {
		if progress.Phase == engine.Committing && progress.Done == 1 {
			w.change(stores.Change{Op: stores.Insert, Entity: w.entity("item"), Key: id(77), Set: []stores.Assign{{Field: 1, Value: id(1)}, {Field: 2, Value: str("Axe")}}})
		}
	}
	reply, err := each.Runner{Session: kim}.Run(ctx, p, engine.RunOptions{Progress: taken})
	var stopped *each.Stopped
	if !errors.As(err, &stopped) || stopped.Done != 1 || stopped.Total != 4 || stopped.Next != 2 || stopped.First != 1 || stopped.Last != 1 {
		t.Fatalf("%#v", err)
	}
	refusal := wantRefusal(t, stopped.Err, "already-exists")
	if at := refusal.Diagnostics[0].Place; at.Source.Position(at.Range.Start).Line != 2 {
		t.Errorf("it is told at line %d", at.Source.Position(at.Range.Start).Line)
	}
	if len(reply.Calls) != 1 || reply.Calls[0].Seq != 1 {
		t.Errorf("done: %+v", reply.Calls)
	}
	if last := w.last(); last.Outcome != "refused" || last.Verb != "lending.add-item" {
		t.Errorf("the journal ends with %+v", last)
	}
	if note := w.get("loan", id(31), "note"); note != str("one") {
		t.Errorf("the note is %s", note)
	}
	// What is known to go wrong is told before anything is done.
	_, err = each.Runner{Session: kim}.Run(ctx, p, engine.RunOptions{})
	wantRefusal(t, err, "already-exists")
	if note := w.get("loan", id(33), "note"); !note.IsNull() || len(w.journal()) != 3 { // the refusals, and what was done
		t.Errorf("something was done: %s", note)
	}
	w.change(stores.Change{Op: stores.Delete, Entity: w.entity("item"), Key: id(77)})
	reply, err = w.eachOf(kim, text, stopped.Next, engine.RunOptions{})
	if err != nil || len(reply.Calls) != 3 {
		t.Fatalf("%v %v", reply, err)
	}
	if note := w.get("loan", id(31), "note"); note != str("three") {
		t.Errorf("the note is %s", note)
	}
}

// SAFE-R4: whoever cancels between two calls has what was committed, and no
// more.
func TestEachIsCancelledBetweenCalls(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 4; n++ {
		w := newWorld(t)
		kim := w.session("kim")
		p := w.program(kim, strings.Repeat("lending.remind :loan-id @saw-bob :on 2025-02-02\n", 4))
		ctx, cancel := context.WithCancel(ctx)
		_, err := each.Runner{Session: kim}.Run(ctx, p, engine.RunOptions{Progress: func(p engine.Progress) {
			if p.Phase == engine.Committing && p.Done == n {
				cancel()
			}
		}})
		cancel()
		var stopped *each.Stopped
		switch {
		case n == 4 && err != nil:
			t.Errorf("all was done, and %v", err)
		case n < 4 && (!errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || stopped.Done != n || stopped.Next != n+1):
			t.Errorf("after %d: %#v", n, err)
		}
		if got := len(w.journal()); got != n {
			t.Errorf("cancelled after %d, %d are committed", n, got)
		}
	}
}

// SAFE-C5: what is agreed to is the whole script; each of its calls runs as it
// was shown or not at all.
func TestEachRunsAsItWasShown(t *testing.T) {
	t.Parallel()
	const text = `lending.lose :item-id @saw
lending.lend :item-id @drill :member-id @ann :as @l
lending.remind :loan-id @l :on 2025-02-02
lending.forget :reminder-id @saw-2025-01-11
lending.note :loan-id @saw-bob :note "last"`
	t.Run("as shown", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		reply, err := w.eachOf(w.session("kim"), text, 0, engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.journal() {
			if e.Preview != reply.ID || e.Agreed != "kim" {
				t.Errorf("the journal says %s agreed to %s", e.Agreed, e.Preview)
			}
		}
	})
	t.Run("not agreed to", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		kim := w.session("kim")
		_, err := each.Runner{Session: kim}.Run(ctx, w.program(kim, "lending.note :loan-id @saw-bob :note \"x\"\n"+text), engine.RunOptions{})
		wantRefusal(t, err, "needs-agreement")
		if note := w.get("loan", id(31), "note"); !note.IsNull() {
			t.Error("something was done before anybody agreed")
		}
	})
	t.Run("somebody else's agreement", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		kim := w.session("kim")
		p := w.program(kim, "lending.note :loan-id @saw-bob :note \"x\"\nlending.extend :loan-id @saw-bob :new-date 2026-01-01")
		preview, err := kim.Preview(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = each.Runner{Session: kim}.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
		wantRefusal(t, err, "needs-agreement")
		if note := w.get("loan", id(31), "note"); !note.IsNull() {
			t.Error("something was done before anybody agreed")
		}
	})
	t.Run("changed before", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		kim := w.session("kim")
		p := w.program(kim, text)
		preview, err := kim.Preview(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		w.set("loan", 31, "due", date("2025-01-09"))
		_, err = each.Runner{Session: kim}.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
		wantRefusal(t, err, "stale-preview")
		if len(w.journal()) != 1 { // that it was refused
			t.Error("something was done")
		}
	})
	t.Run("changed meanwhile", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		kim := w.session("kim")
		p := w.program(kim, text)
		preview, err := kim.Preview(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = each.Runner{Session: kim}.Run(ctx, p, engine.RunOptions{Agreed: preview.ID, Progress: func(p engine.Progress) {
			if p.Phase == engine.Committing && p.Done == 2 {
				w.set("loan", 31, "due", date("2025-01-09"))
			}
		}})
		var stopped *each.Stopped
		if !errors.As(err, &stopped) || stopped.Done != 4 {
			t.Fatalf("%#v", err)
		}
		d := wantRefusal(t, stopped.Err, "stale-preview").Diagnostics[0]
		if strings.Contains(d.Notes[0], "nothing was changed") {
			t.Errorf("four calls are committed, and it says %q", d.Notes[0])
		}
	})
	t.Run("kept for another process, and good once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		first := w.session("kim")
		kept, err := first.Keep(ctx, w.program(first, text))
		if err != nil {
			t.Fatal(err)
		}
		second := w.session("kim")
		p := w.program(second, text)
		if _, err = (each.Runner{Session: second}).Run(ctx, p, engine.RunOptions{Agreed: kept.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := (each.Runner{Session: second}).Run(ctx, p, engine.RunOptions{Agreed: kept.ID}); err == nil {
			t.Error("it was good twice")
		}
	})
}

// SAFE-R5: under a key, each call is done once, however often the script is sent
// and wherever it was cut off; what was done gives the same to the calls that
// need it.
func TestEachCallIsDoneOnceUnderAKey(t *testing.T) {
	t.Parallel()
	const text = `lending.lend :item-id @drill :member-id @ann :as @l
lending.remind :loan-id @l :on 2025-02-02
lending.forget :reminder-id @saw-2025-01-11
lending.remind :loan-id @l :on 2025-03-03`
	w := newWorld(t)
	kim := w.session("kim")
	plain := strings.Replace(text, "lending.forget :reminder-id @saw-2025-01-11", "lending.note :loan-id @l :note \"x\"", 1)
	stop, cancel := context.WithCancel(ctx)
	p := w.program(kim, plain)
	_, err := each.Runner{Session: kim}.Run(stop, p, engine.RunOptions{Key: "k", Progress: func(p engine.Progress) {
		if p.Phase == engine.Committing && p.Done == 2 {
			cancel()
		}
	}})
	var stopped *each.Stopped
	if !errors.As(err, &stopped) || stopped.Done != 2 {
		t.Fatalf("%#v", err)
	}
	again := w.session("kim")
	reply, err := each.Runner{Session: again}.Run(ctx, w.program(again, plain), engine.RunOptions{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.journal()) != 4 || reply.Repeated || reply.First != 1 || reply.Last != 4 {
		t.Errorf("%d entries, repeated=%v, %d..%d", len(w.journal()), reply.Repeated, reply.First, reply.Last)
	}
	third, err := each.Runner{Session: again}.Run(ctx, w.program(again, plain), engine.RunOptions{Key: "k"})
	if err != nil || !third.Repeated || len(w.journal()) != 4 {
		t.Errorf("%v, %v, %d entries", third, err, len(w.journal()))
	}
	if a, b := twinReply(reply), twinReply(third); a != b {
		t.Errorf("first\n%s\nthen\n%s", a, b)
	}
	// What asks and takes away is repeated as well, without asking.
	if _, err := w.eachOf(kim, text, 0, engine.RunOptions{Key: "other"}); err != nil {
		t.Fatal(err)
	}
	script, _ := dsl.Parse(dsl.NewSource("test.dsl", text))
	fourth, err := each.Runner{Session: w.session("kim")}.Repeat(ctx, script, "other")
	if err != nil || fourth == nil || len(fourth.Calls) != 4 {
		t.Errorf("%v %v", fourth, err)
	}
	if none, err := (each.Runner{Session: w.session("mia")}).Repeat(ctx, script, "other"); err != nil || none != nil {
		t.Errorf("somebody else is told %v %v", none, err)
	}
}

// A whole script tells its progress too, of what is not committed yet.
func TestAWholeScriptTellsItsProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := w.session("kim")
	p := w.program(kim, "lending.lend :item-id @drill :member-id @ann :as @l\nlending.note :loan-id (lending.lend :item-id @tent :member-id @bob) :note \"x\"\nlending.relend :loan-id @l :item-id @ladder :member-id @bob")
	var got []string
	progress := func(p engine.Progress) {
		got = append(got, fmt.Sprintf("%s %d of %d, number %d", p.Phase, p.Done, p.Total, p.Number))
		if p.Call != nil {
			t.Error("nothing is committed yet")
		}
	}
	if _, err := kim.Preview(ctx, p, engine.RunOptions{Progress: progress}); err != nil {
		t.Fatal(err)
	}
	if _, err := kim.Run(ctx, p, engine.RunOptions{Progress: progress}); err != nil {
		t.Fatal(err)
	}
	equal(t, got, []string{"preview 1 of 3, number 1", "preview 2 of 3, number 2", "preview 3 of 3, number 3", "run 1 of 3, number 1", "run 2 of 3, number 2", "run 3 of 3, number 3"})
}

// A deadline stops a run wherever it is, and nothing of it stays.
func TestADeadlineLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.state()
	kim := w.session("kim")
	p := w.program(kim, strings.Repeat("lending.remind :loan-id @saw-bob :on 2025-02-02\n", 5))
	for n := 1; n <= 5; n++ {
		ctx, cancel := context.WithCancelCause(ctx)
		_, err := kim.Run(ctx, p, engine.RunOptions{Progress: func(p engine.Progress) {
			if p.Done == n {
				cancel(context.DeadlineExceeded)
			}
		}})
		cancel(nil)
		var failed *engine.Failure
		if !errors.As(err, &failed) || failed.Unknown || !errors.Is(err, context.Canceled) {
			t.Errorf("stopped after %d: %T %v", n, err, err)
		}
	}
	if d := diff(w.entity, before, w.state()); len(d) > 0 {
		t.Errorf("it left %q", d)
	}
}

// What was in somebody's way is tried again after a while, each time a longer
// one; how long is an argument.
func TestConflictsAreTriedAgainAfterAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var waits []int
	busy := &faultyStore{Store: w.store, update: func(n int) error {
		if n < 4 {
			return stores.ErrConflict
		}
		return nil
	}}
	eng, err := engine.New(w.reg, busy, engine.Options{Clock: w.now, NewID: w.newID, Backoff: func(attempt int) (_ time.Duration) {
		waits = append(waits, attempt)
		return
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := eng.Session(ctx, "kim")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(ctx, w.program(s, "lending.lose :item-id @tent"), engine.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(waits, []int{1, 2, 3}) {
		t.Errorf("it waited %v", waits)
	}
}

// F6 SAFE-R5: a key has one effect, however it is committed: all at once and then
// call by call, the other way round, and both at the same time.
func TestAKeyHasOneEffectHoweverItIsCommitted(t *testing.T) {
	t.Parallel()
	const text = "lending.remind :loan-id @saw-bob :on 2025-05-01\nlending.remind :loan-id @tent-ann :on 2025-05-02"
	ctx := context.Background()
	for name, order := range map[string][]bool{"at once, then each": {false, true, false}, "each, then at once": {true, false, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := len(w.state())
			for i, byCall := range order {
				s := w.session("kim")
				p := w.program(s, text)
				reply, err := each.Runner{Session: s}.Repeat(ctx, p.Script(), "k") // as every way in does
				if reply == nil && err == nil {
					reply, err = committed(ctx, s, p, byCall, engine.RunOptions{Key: "k"})
				}
				if err != nil || reply.Repeated != (i > 0) || len(reply.Calls) != 2 {
					t.Fatalf("run %d: %+v, %v", i, reply, err)
				}
			}
			if n := len(w.state()) - before; n != 2 {
				t.Errorf("%d rows were added", n)
			}
			// Another text under the key is refused, either way.
			for _, byCall := range order {
				s := w.session("kim")
				_, err := committed(ctx, s, w.program(s, `lending.note :loan-id @saw-bob :note "x"`), byCall, engine.RunOptions{Key: "k"})
				wantRefusal(t, err, "key-reused")
			}
		})
	}
	// What was begun call by call is not done again all at once.
	w := newWorld(t)
	s := w.session("kim")
	part := w.program(s, "lending.remind :loan-id @saw-bob :on 2025-05-01\nlending.forget :reminder-id @saw-2025-01-11")
	if _, err := (each.Runner{Session: s}).Run(ctx, part, engine.RunOptions{Key: "k"}); err == nil {
		t.Fatal("nobody was asked")
	}
	two := w.program(s, text)
	if _, err := (each.Runner{Session: s}).Run(ctx, w.program(s, "lending.remind :loan-id @saw-bob :on 2025-05-01"), engine.RunOptions{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	before := w.state()
	_, err := s.Run(ctx, two, engine.RunOptions{Key: "k"})
	wantRefusal(t, err, "key-reused")
	equal(t, diff(w.entity, before, w.state()), nil)
	// Many at once, of both kinds, on a server: two rows are added, by one of them.
	one, other := newTwoOnServer(t)
	have := len(one.state())
	var all sync.WaitGroup
	for i := range 12 {
		all.Add(1)
		go func() {
			defer all.Done()
			w := []*world{one, other}[i%2]
			s := w.session("kim")
			script, _ := dsl.Parse(dsl.NewSource("test.dsl", text))
			p, ds := s.Check(ctx, script)
			if p == nil {
				t.Error(told(ds))
				return
			}
			_, err := committed(ctx, s, p, i%3 == 0, engine.RunOptions{Key: "k"})
			var r *engine.Refusal
			if err != nil && !(errors.As(err, &r) && (r.Diagnostics[0].Code == "key-reused" || r.Diagnostics[0].Code == "changed-meanwhile")) {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	if n := len(one.state()) - have; n != 2 {
		t.Errorf("%d rows were added", n)
	}
}

// SAFE-R5: a script of which a build of November 2026 committed the first call under a key, when the
// engine itself ran scripts call by call: that call is not done again, and what comes after it uses
// its row.
func TestAKeyOfAnOlderBuildIsContinued(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text, err := os.ReadFile("testdata/each-keys.json")
	if err != nil {
		t.Fatal(err)
	}
	var kept []map[string]string
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	all := engine.Own()
	of := all[slices.IndexFunc(all, func(e *stores.Entity) bool { return e.Name == "verbatim.delivery" })]
	value := func(e *stores.Entity, field int, text string) stores.Value {
		v, ok := stores.Parse(e.Fields[field].Kind, text)
		if !ok {
			t.Fatalf("%s %q", e.Fields[field].Name, text)
		}
		return v
	}
	for _, row := range kept {
		c := stores.Change{Op: stores.Insert, Entity: of, Key: str(row["key"])}
		for i := range of.Fields {
			if text, ok := row[of.Fields[i].Name]; ok && i != of.Key {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: value(of, i, text)})
			}
		}
		w.change(c)
	}
	loan := w.entity("loan")
	var lent stores.Change
	has := map[string]string{"member": id(11).Text(), "item": id(21).Text(), "due": "2025-01-10", "status": "OPEN"}
	for i := range loan.Fields {
		if text, ok := has[loan.Fields[i].Name]; ok {
			lent.Set = append(lent.Set, stores.Assign{Field: i, Value: value(loan, i, text)})
		}
	}
	lent.Op, lent.Entity, lent.Key = stores.Insert, loan, value(loan, loan.Key, "00000000-0000-4000-9000-000000000004")
	w.change(lent)
	w.set("item", 21, "status", str("OUT"))
	if _, err := w.engine.NameRows(ctx); err != nil {
		t.Fatal(err)
	}
	kim := w.session("kim")
	p := w.program(kim, "lending.lend :item-id @drill :member-id @ann :as @l\nlending.remind :loan-id @l :on 2025-02-02\nlending.note :loan-id @l :note \"x\"")
	if again, err := (each.Runner{Session: kim}).Repeat(ctx, p.Script(), "k"); again != nil || err != nil {
		t.Fatalf("half of it was done, and it answers %v, %v", again, err)
	}
	reply, err := each.Runner{Session: kim}.Run(ctx, p, engine.RunOptions{Key: "k"})
	if err != nil || len(reply.Calls) != 3 || len(w.journal()) != 2 || w.get("loan", lent.Key, "note") != str("x") {
		t.Fatalf("%+v, %v, %d entries", reply, err, len(w.journal()))
	}
	again, err := each.Runner{Session: kim}.Repeat(ctx, p.Script(), "k")
	if err != nil || again == nil || !again.Repeated || len(again.Calls) != 3 {
		t.Errorf("%+v, %v", again, err)
	}
	// The same script at once is refused under a key that stands for its calls.
	_, err = kim.Run(ctx, p, engine.RunOptions{Key: "k"})
	wantRefusal(t, err, "key-reused")
}
