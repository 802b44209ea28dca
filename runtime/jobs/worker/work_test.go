package worker_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/jobs/worker"
	"verbatim/stores"
	"verbatim/stores/storetest"
	"verbatim/verbs"
)

// O34, SAFE-R11: a reminder falls on the day after, at the start of that day where
// the organisation is: not earlier, and once, on leap days, when clocks are put
// forward at midnight, and when the worker's clock jumps.
func TestReminderFallsOnTheDayAfter(t *testing.T) {
	t.Parallel()
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	for _, c := range []struct {
		zone *time.Location
		day  string
		due  time.Time
	}{
		{time.UTC, "2024-02-28", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)}, // a leap day
		{time.UTC, "2024-12-31", time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)},
		{zone("Europe/Vienna"), "2024-03-30", time.Date(2024, 3, 30, 23, 0, 0, 0, time.UTC)}, // clocks go forward later that day
		{zone("Europe/Vienna"), "2024-03-31", time.Date(2024, 3, 31, 22, 0, 0, 0, time.UTC)},
		{zone("Africa/Cairo"), "2024-04-25", time.Date(2024, 4, 25, 22, 0, 0, 0, time.UTC)}, // a day that begins at one o'clock
		{zone("Pacific/Auckland"), "2024-04-06", time.Date(2024, 4, 6, 11, 0, 0, 0, time.UTC)},
	} {
		t.Run(c.day+" "+c.zone.String(), func(t *testing.T) {
			t.Parallel()
			bothStores(t, c.zone, func(w *world) {
				w.run("ada", `desk.promise :name "Papers"`)
				w.run("ada", "desk.expect :promise-id @papers :day "+c.day)
				w.wantWork("")
				w.set(c.due.Add(-time.Microsecond))
				w.wantWork("")
				w.set(c.due)
				w.wantWork("done desk.remind; delivered customer")
				for _, jump := range []time.Duration{-time.Hour, 0, 24 * time.Hour} {
					w.set(c.due.Add(jump))
					w.wantWork("")
				}
				if len(w.sent) != 1 || !strings.Contains(w.sent[0].Body, "It was for today") {
					w.t.Errorf("sent %+v", w.sent)
				}
				if e := w.last(); e.Verb != "desk.remind" || e.Principal != "ada" || e.Outcome != "ok" ||
					plain(e.Call) != `desk.remind :promise-id @papers :note "It was for today" :times nil` || !strings.HasPrefix(e.Source, "job ") {
					w.t.Errorf("journal: %s %s %s %s %s", e.Verb, e.Principal, e.Outcome, e.Call, e.Source)
				}
			})
		})
	}
}

// A reminder that has become pointless is not sent, and the journal says so.
func TestPointlessWorkIsSkipped(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "Kept" desk.promise :name "Dropped" desk.promise :name "Open"`)
		w.run("ada", `desk.expect :promise-id @kept :day 2024-03-01 desk.expect :promise-id @dropped :day 2024-03-01 desk.expect :promise-id @open :day 2024-03-01 :times [1, 2]`)
		w.run("ada", `desk.keep :promise-id @kept desk.drop :promise-id @dropped`)
		w.set(start.AddDate(0, 0, 9))
		w.wantWork("skipped desk.remind no-longer-holds; skipped desk.remind row-gone; done desk.remind; delivered customer")
		entries, _ := w.store.Journal(context.Background(), 0, 0)
		var skipped []string
		for _, e := range entries {
			if e.Outcome == "skipped" {
				skipped = append(skipped, e.Verb+" "+e.Reason+" "+e.Principal)
			}
		}
		if fmt.Sprint(skipped) != "[desk.remind no-longer-holds ada desk.remind row-gone ada]" {
			w.t.Errorf("%q", skipped)
		}
		if e := w.last(); !strings.Contains(e.Call, ":times [1 2]") && !strings.Contains(e.Call, ":times [1, 2]") {
			w.t.Errorf("call %s", e.Call)
		}
	})
}

// OB15: a palette says by which arguments one piece of work is told from another,
// and the latest of them counts, or a further one is refused, or the first is
// enough. A preview says which it takes the place of.
func TestWorkIsToldApartByItsKey(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "First" desk.promise :name "Second"`)
		instead := func(text string, want int) {
			t.Helper()
			if n := w.run("ada", text).Calls[0].Notices; len(n) != 1 || n[0].Instead != want {
				w.t.Errorf("%s: %+v, want %d to be replaced", text, n, want)
			}
		}
		waiting := func(want int) {
			t.Helper()
			if n := len(w.jobs(stores.JobWaiting)); n != want {
				w.t.Errorf("%d jobs wait, want %d", n, want)
			}
		}
		instead(`desk.chase :promise-id @first :day 2024-03-01`, 0)
		instead(`desk.chase :promise-id @second :day 2024-03-01`, 0)
		waiting(2)
		instead(`desk.chase :promise-id @first :day 2024-03-05`, 1)
		waiting(2)
		// Also within one script, and of somebody else's who sees the row.
		if n := w.run("ada", `desk.chase :promise-id @first :day 2024-03-08 desk.chase :promise-id @first :day 2024-03-09`).Calls; n[0].Notices[0].Instead != 1 || n[1].Notices[0].Instead != 1 {
			w.t.Errorf("%+v", n)
		}
		w.grant("cy", "clerk")
		w.run("cy", `desk.chase :promise-id @first :day 2024-03-10`)
		waiting(2)

		w.run("ada", `desk.chase-once :promise-id @first :day 2024-03-03`) // another verb's work is another's
		for _, text := range []string{`desk.chase-once :promise-id @first :day 2024-03-04`, `desk.chase-once :promise-id @second :day 2024-03-04 desk.chase-once :promise-id @second :day 2024-03-05`} {
			_, err := w.try("cy", text)
			if err == nil || !strings.Contains(err.Error(), "waits already") {
				w.t.Errorf("%s: %v", text, err)
			}
		}
		waiting(3)

		// What names no row is told apart for each principal.
		w.grant("bo", "chief", "clerk")
		w.run("ada", `desk.jot-first :topic "rain" :note "one"`)
		w.run("ada", `desk.jot-first :topic "rain" :note "two"`)
		w.run("ada", `desk.jot-first :topic "snow" :note "three"`)
		w.run("bo", `desk.jot-first :topic "rain" :note "four"`)
		waiting(6)

		w.set(time.Date(2024, 3, 20, 0, 0, 0, 0, time.UTC))
		w.wantWork("done desk.post; done desk.post; done desk.post; done desk.remind; done desk.remind; done desk.remind; delivered customer; delivered customer; delivered customer")
		var notes []string
		for _, row := range w.rows("posting") {
			notes = append(notes, row[w.reg.Entity("posting").Store.FieldIndex("note")].Text())
		}
		slices.Sort(notes)
		if !slices.Equal(notes, []string{"four", "one", "three"}) {
			w.t.Errorf("%q", notes)
		}
		if e := w.last(); e.Principal != "cy" {
			w.t.Errorf("the last was %s's", e.Principal)
		}
	})
}

// OB15: work may lead to the next piece of the same key, and what was said to make
// it pointless ends that: it is not done, and no dead letter either.
func TestWorkIsDoneWithItsRecords(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "First" desk.promise :name "Second"`)
		w.run("ada", `desk.keep-these-later :these [{:due 2024-03-05 :promise @first} {:promise @second :due 2024-03-06}]`)
		w.set(start.Add(time.Hour))
		w.wantWork("done desk.keep-these")
		if got := plain(w.last().Call); got != `desk.keep-these :these [{:promise @first :due 2024-03-05} {:promise @second :due 2024-03-06}]` {
			w.t.Errorf("it was done as %s", got)
		}
	})
}

func TestWorkLeadsToTheNextUntilItIsPointless(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "Weekly" desk.promise :name "Chased"`)
		w.run("ada", `desk.chase :promise-id @chased :day 2024-03-01 desk.keep :promise-id @chased`)
		w.run("ada", `desk.weekly :promise-id @weekly`)
		if _, err := w.try("ada", `desk.weekly :promise-id @weekly`); err == nil {
			w.t.Error("a second one was begun")
		}
		w.set(start.AddDate(0, 0, 7))
		w.wantWork("skipped desk.remind no-longer-holds; done desk.weekly")
		w.set(start.AddDate(0, 0, 14))
		w.wantWork("done desk.weekly")
		w.set(start.AddDate(0, 0, 21))
		w.wantWork("skipped desk.weekly no-longer-holds")
		if e := w.last(); e.Outcome != "skipped" || e.Reason != "no-longer-holds" {
			w.t.Errorf("journal: %+v", e)
		}
		if n := len(w.jobs(stores.JobDead, stores.JobWaiting, stores.JobRunning)); n != 0 {
			w.t.Errorf("%d jobs are left", n)
		}
	})
}

// SAFE-A3: a role that was taken away while a job waited is not there when its
// time has come, nor is somebody who was forgotten. Given back, an operator has
// it tried again.
func TestRightsAreThoseOfTheMomentOfTheWork(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.post-later :note "one"`)
		w.grant("ada")
		w.wantWork("refused desk.post not-permitted")
		if e := w.last(); e.Outcome != "refused" || e.Reason != "not-permitted" || e.Principal != "ada" || e.Verb != "desk.post" {
			w.t.Errorf("journal: %+v", e)
		}
		dead := w.jobs(stores.JobDead)
		if len(dead) != 1 || dead[0].Note != "not-permitted" || len(w.rows("posting")) != 0 {
			w.t.Fatalf("%+v", dead)
		}
		w.grant("ada", "clerk")
		w.wantWork("")
		err := w.store.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(context.Background(), stores.Batch{JobChanges: []stores.JobChange{{ID: dead[0].ID, Attempt: dead[0].Attempt, At: w.now()}}})
		})
		if err != nil {
			w.t.Fatal(err)
		}
		w.wantWork("done desk.post")
		if len(w.rows("posting")) != 1 {
			w.t.Error("it was not posted")
		}
	})
}

// OB15: work for later that asks somebody first waits for them, whoever they are,
// and is done once when they agree.
func TestWorkThatAsksWaits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "First" desk.promise :name "Second" desk.promise :name "Third"`)
		w.run("ada", `desk.shred-later :promise-id @first desk.burn-later :promise-id @second desk.burn-later :promise-id @third`)
		w.wantWork("waiting desk.shred needs-agreement; waiting desk.burn needs-agreement; waiting desk.burn needs-agreement")
		if n := len(w.rows("promise")); n != 3 {
			w.t.Fatalf("%d promises are left", n)
		}
		session := func(who string) *engine.Session {
			s, err := w.engine.Session(ctx, who)
			if err != nil {
				w.t.Fatal(err)
			}
			return s
		}
		ada, bo := session("ada"), session("bo")
		mine := func(s *engine.Session) (ids []string) {
			all, err := s.Pending(ctx)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, p := range all {
				if p.Mine {
					ids = append(ids, p.ID)
				}
			}
			return ids
		}
		if a, b := mine(ada), mine(bo); len(a) != 1 || len(b) != 2 {
			w.t.Fatalf("ada decides %q, bo %q", a, b)
		}
		// Nobody else's word will do, and nor will one's own in place of another's.
		for _, c := range []struct {
			s  *engine.Session
			id string
		}{{bo, mine(ada)[0]}, {ada, mine(bo)[0]}} {
			if _, reply, err := c.s.Agree(ctx, c.id); err == nil || reply != nil {
				w.t.Error("somebody agreed who may not")
			}
		}
		if _, reply, err := ada.Agree(ctx, mine(ada)[0]); err != nil || reply == nil {
			w.t.Errorf("ada: %v", err)
		}
		if _, reply, err := bo.Agree(ctx, mine(bo)[0]); err != nil || reply == nil {
			w.t.Errorf("bo: %v", err)
		}
		if n := len(w.rows("promise")); n != 1 {
			w.t.Errorf("%d promises are left", n)
		}
		left := mine(bo)
		// What nobody decides expires when it is due, looked at or not. Of the two
		// that were decided nothing is left to expire.
		w.set(start.Add(2*time.Hour - time.Microsecond))
		w.wantWork("")
		w.set(start.Add(2 * time.Hour))
		got := w.work()
		if strings.Count(got, "done verbatim.expire") != 1 || strings.Contains(got, "refused") {
			w.t.Errorf("%q", got)
		}
		if e := w.last(); e.Verb != "verbatim.expire" || e.Outcome != "expired" || e.Principal != "ada" {
			w.t.Errorf("journal: %+v", e)
		}
		if _, _, err := bo.Agree(ctx, left[0]); len(left) != 1 || err == nil {
			w.t.Error("what expired was agreed to")
		}
	})
}

// A store whose clock is ahead of the engine's finds that an expiry is due before the
// engine does. It waits for as long as the engine says, and is not asked again at once.
func TestAnExpiryThatIsNotDueYetIsLookedAtOnce(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "First"`)
		w.run("ada", `desk.burn-later :promise-id @first`)
		w.wantWork("waiting desk.burn needs-agreement")
		ahead := w.worker()
		ahead.Clock = func() time.Time { return w.now().Add(3 * time.Hour) }
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if counts, err := ahead.Once(ctx); err != nil || counts[engine.WorkWaiting] != 1 {
			w.t.Errorf("%v, %v: it is looked at again and again", counts, err)
		}
	})
}

// A value that came from a model or a document is no better for having waited.
func TestOriginsOutliveTheWait(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		for _, kind := range []verbs.Origins{verbs.FromModel, verbs.FromDocument, verbs.FromTool} {
			w.said = verbs.Literals{Origin: verbs.NewOrigin(kind, "")}
			w.run("ada", `desk.quote-later :note "pay me" :times [1, 2]`)
			if got := w.work(); !strings.HasPrefix(got, "refused desk.quote ") && !strings.HasPrefix(got, "waiting desk.quote ") || len(w.rows("posting")) > 0 {
				w.t.Errorf("%v: %q, %d postings", kind, got, len(w.rows("posting")))
			}
		}
		for _, kind := range []verbs.Origins{verbs.FromScript, verbs.FromPerson} {
			w.said = verbs.Literals{Origin: verbs.NewOrigin(kind, "")}
			w.run("ada", fmt.Sprintf(`desk.quote-later :note "%d"`, kind))
			w.wantWork("done desk.quote")
		}
	})
}

// The same work for the same moment is waited for once.
func TestSameWorkIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		const later = `desk.post-later :note "x" :at 2024-03-01T10:00:00Z`
		w.run("ada", later)
		w.run("ada", later)
		w.run("ada", `desk.post-later :note "y" :at 2024-03-01T10:00:00Z`)
		w.set(start.AddDate(0, 1, 0))
		w.wantWork("done desk.post; done desk.post")
		w.run("ada", later)
		w.wantWork("done desk.post")
	})
}

// SAFE-R10: a job of another version stays for a worker of that version, however long
// that takes. What has no version, or a member that nobody knows, is set aside.
func TestWorkOfAnotherVersionStays(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		ctx := context.Background()
		err := w.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Jobs: []stores.Job{
				{ID: "a", Kind: engine.JobCall, Payload: `{"args":[],"new":1,"trigger":"posting","v":2,"verb":"desk.post-later"}`, At: start, Principal: "ada"},
				{ID: "b", Kind: engine.JobExpire, Payload: `{"confirmation":"x","v":2}`, At: start, Principal: "ada"},
				{ID: "c", Kind: engine.JobNotice, Payload: `{"v":3}`, At: start, Principal: "ada"},
				{ID: "d", Kind: engine.JobCall, Payload: `{"args":[],"new":1,"trigger":"posting","v":1,"verb":"desk.post-later"}`, At: start, Principal: "ada"},
				{ID: "e", Kind: engine.JobExpire, Payload: `{"confirmation":"x"}`, At: start, Principal: "ada"},
			}})
		})
		if err != nil {
			w.t.Fatal(err)
		}
		w.wantWork("stays  other-version; stays verbatim.expire other-version; stays  other-version; refused  unreadable-payload; refused verbatim.expire unreadable-payload")
		for range 3 {
			w.set(w.now().Add(time.Hour))
			w.wantWork("stays  other-version; stays verbatim.expire other-version; stays  other-version")
		}
		waiting := w.jobs(stores.JobWaiting)
		for _, j := range waiting {
			want := "it is of version 2, and this program knows version 1"
			if j.Kind == engine.JobNotice {
				want = "it is of version 3, and this program knows version 2"
			}
			if j.Tries()-j.Attempt != 12 || j.Note != want {
				w.t.Errorf("%s has %d attempts left: %s", j.ID, j.Tries()-j.Attempt, j.Note)
			}
		}
		if dead := w.jobs(stores.JobDead); len(waiting) != 3 || len(dead) != 2 {
			w.t.Errorf("%d jobs wait and %d are dead", len(waiting), len(dead))
		}
	})
}

// A palette that has changed so much that it does not know the work any more
// leaves it to an operator.
func TestWorkOfOtherPalettesIsSetAside(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		ctx := context.Background()
		err := w.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			var jobs []stores.Job
			for i, payload := range []string{`{"v":1}`, `{"args":[],"trigger":"reminder","v":1,"verb":"desk.unheard-of"}`, `{"args":[],"trigger":"unheard-of","v":1,"verb":"desk.expect"}`,
				`{"args":[{"kind":"text","name":"note","text":"x"}],"trigger":"posting","v":1,"verb":"desk.post-later"}`,
				`{"args":[{"kind":"string","name":"gone","text":"x"}],"trigger":"posting","v":1,"verb":"desk.post-later"}`, `{"args":7,"v":1}`} {
				jobs = append(jobs, stores.Job{ID: fmt.Sprint("j", i), Kind: engine.JobCall, Payload: payload, At: start, Principal: "ada"})
			}
			jobs = append(jobs, stores.Job{ID: "x", Kind: engine.JobExpire, Payload: `{"confirmation":"","v":1}`, At: start, Principal: "ada"},
				stores.Job{ID: "y", Kind: engine.JobNotice, Payload: `{}`, At: start},
				stores.Job{ID: "z", Kind: engine.JobCall, Payload: `{"args":[{"kind":"string","name":"note","text":"x"}],"trigger":"posting","v":1,"verb":"desk.post-later"}`, At: start, Principal: "nobody"})
			return tx.Apply(ctx, stores.Batch{Jobs: jobs})
		})
		if err != nil {
			w.t.Fatal(err)
		}
		w.wantWork("refused  palette-changed; refused  palette-changed; refused  palette-changed; refused  unreadable-payload; refused  palette-changed; " +
			"refused  unreadable-payload; refused verbatim.expire unreadable-payload; dead  unreadable-payload; refused desk.post unknown-principal")
		if n := len(w.jobs(stores.JobDead)); n != 9 {
			w.t.Errorf("%d jobs are dead", n)
		}
	})
}

// SAFE-Q3: a channel that takes a notice and does not answer gets it again, with
// the same id, no more often than it was tried; that the outcome is not known is
// there to be seen.
func TestNoticesLeaveAtLeastOnce(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "Papers"`)
		w.run("ada", `desk.remind :promise-id @papers :note "x"`)
		w.refuse = func(engine.Message) error {
			if len(w.sent) <= 3 {
				return &notify.Error{Code: notify.CodeUnknown, Text: "it was sent and no answer came"}
			}
			return nil
		}
		for range 3 {
			w.wantWork("failed customer channel-unknown")
			w.wantWork("")
			r := w.jobs(stores.JobWaiting)
			if len(r) != 1 || !strings.HasPrefix(r[0].Note, notify.CodeUnknown) || !r[0].At.After(w.now()) {
				w.t.Fatalf("%+v", r)
			}
			w.set(r[0].At)
		}
		w.wantWork("delivered customer")
		if len(w.sent) != 4 {
			w.t.Errorf("sent %d times", len(w.sent))
		}
		for _, m := range w.sent {
			if m.ID != w.sent[0].ID || m.Body != w.sent[0].Body || m.ID == "" {
				w.t.Errorf("%+v is not %+v", m, w.sent[0])
			}
		}
	})
}

// SAFE-Q4, SAFE-R11: what always fails is tried ever more rarely, is dead after
// its attempts and holds up nobody; backoff does not depend on the clock.
func TestPoisonIsSetAside(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "Papers"`)
		w.run("ada", `desk.remind :promise-id @papers :note "x"`)
		w.refuse = func(engine.Message) error { return errDown }
		var waits []time.Duration
		for attempt := 1; attempt < stores.DefaultAttempts; attempt++ {
			w.wantWork("failed customer system-failure")
			r := w.jobs(stores.JobWaiting)
			if len(r) != 1 || r[0].Attempt != attempt {
				w.t.Fatalf("%+v", r)
			}
			waits = append(waits, r[0].At.Sub(w.now()))
			w.set(r[0].At.Add(-time.Microsecond))
			w.wantWork("")
			w.run("ada", fmt.Sprintf(`desk.post-later :note "%d"`, attempt))
			w.wantWork("done desk.post")
			w.set(r[0].At)
		}
		w.wantWork("dead customer system-failure")
		for i := 1; i < len(waits); i++ {
			if waits[i] < waits[i-1] {
				w.t.Errorf("waited %v", waits)
			}
		}
		if first, last := waits[0], waits[len(waits)-1]; first != 5*time.Second || last != 6*time.Hour {
			w.t.Errorf("waited %v", waits)
		}
		w.set(w.now().AddDate(1, 0, 0))
		w.wantWork("")
		if n := len(w.rows("posting")); n != stores.DefaultAttempts-1 {
			w.t.Errorf("%d postings", n)
		}
	})
}

// A notice for which there is no route yet is not lost, whenever the route comes.
func TestNoticeWithoutARouteStays(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "Papers"`)
		w.run("ada", `desk.remind :promise-id @papers :note "x"`)
		s, err := notify.Read(strings.NewReader(`{"channels": {}, "routes": {}}`), notify.Options{})
		if err != nil {
			w.t.Fatal(err)
		}
		w.refuse = func(m engine.Message) error { return s.Send(context.Background(), m) }
		for range 2 * stores.DefaultAttempts {
			w.wantWork("stays customer no-route")
			w.set(w.jobs(stores.JobWaiting)[0].At)
		}
		w.refuse = nil
		w.wantWork("delivered customer")
	})
}

// SAFE-Q4: what fell due while nobody worked for a day is caught up with in the
// order in which it fell due.
func TestCatchesUpInOrder(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		const n = 120
		var calls strings.Builder
		for i := range n { // enqueued in another order
			k := i * 7 % n
			fmt.Fprintf(&calls, "desk.post-later :note \"%03d\" :at %s\n", k, start.Add(time.Duration(k)*12*time.Minute).Format(time.RFC3339))
		}
		w.run("ada", calls.String())
		w.set(start.Add(24 * time.Hour))
		w.work()
		entries, err := w.store.Journal(context.Background(), 0, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		next := 0
		for _, e := range entries {
			if e.Verb == "desk.post" {
				if want := fmt.Sprintf(`desk.post :note "%03d"`, next); e.Call != want {
					w.t.Fatalf("%s, want %s", e.Call, want)
				}
				next++
			}
		}
		if next != n {
			w.t.Errorf("%d of %d were done", next, n)
		}
	})
}

// SAFE-Q4: a run older than twice the timeout raises an alarm and is taken from
// its worker; SAFE-Q2: what that worker does afterwards is refused, effect and
// all.
func TestZombiesAreFenced(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		ctx := context.Background()
		w.run("ada", `desk.post-later :note "once"`)
		zombie, err := storetest.Take(ctx, w.store, w.now(), "zombie", 1)
		if err != nil || len(zombie) != 1 {
			w.t.Fatal(zombie, err)
		}
		w.set(start.Add(2 * time.Minute))
		w.wantWork("")
		w.set(start.Add(2*time.Minute + time.Second))
		w.wantWork("rescued  worker-lost; done desk.post")
		done, err := w.engine.Work(ctx, zombie[0])
		if err != nil || done.Outcome != engine.WorkFenced {
			w.t.Errorf("%+v, %v", done, err)
		}
		if n := len(w.rows("posting")); n != 1 {
			w.t.Errorf("%d postings", n)
		}
		if r := w.jobs(stores.JobDone); len(r) != 1 || r[0].Attempt != 2 {
			w.t.Errorf("%+v", r)
		}
	})
}

// A worker that is stopped finishes what it began, and gives back what it could
// not finish in time.
func TestStoppingDrains(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "Papers"`)
		w.run("ada", `desk.remind :promise-id @papers :note "quick"`)
		begun, finish := make(chan struct{}), make(chan struct{})
		c := w.worker()
		c.Drain = time.Minute
		c.Send = func(context.Context, engine.Message) error {
			close(begun)
			<-finish
			return nil
		}
		stopped := func(c *worker.Worker) (context.CancelFunc, chan error) {
			ctx, stop := context.WithCancel(context.Background())
			ended := make(chan error)
			go func() { ended <- c.Run(ctx) }()
			return stop, ended
		}
		stop, ended := stopped(c)
		<-begun
		stop()
		close(finish)
		if err := <-ended; err != nil || len(w.jobs(stores.JobDone)) != 1 {
			w.t.Errorf("%v, %d jobs are done", err, len(w.jobs(stores.JobDone)))
		}

		w.run("ada", `desk.remind :promise-id @papers :note "endless"`)
		begun = make(chan struct{})
		c.Drain = time.Millisecond
		c.Send = func(ctx context.Context, _ engine.Message) error {
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		}
		stop, ended = stopped(c)
		<-begun
		stop()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
		if r := w.jobs(stores.JobWaiting); len(r) != 1 || r[0].Tries()-r[0].Attempt != stores.DefaultAttempts {
			w.t.Errorf("%+v", r)
		}
		w.wantWork("delivered customer")
	})
}

// A trigger may say how often its work is tried, and how long to wait in between.
func TestATriggerSaysHowOftenItsWorkIsTried(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.post-twice :note "x"`)
		w.run("ada", `desk.post-later :note "y"`)
		for _, r := range w.jobs(stores.JobWaiting) {
			run := stores.Run{Job: r.Job, Attempt: 1}
			is, want := w.worker().Engine.Retry(run), stores.DefaultRetry()
			if strings.Contains(r.Payload, "posting-twice") {
				want = stores.Retry{Attempts: 3, First: time.Minute, Factor: 4, Longest: 3 * time.Minute}
			}
			if is != want || r.Tries() != want.Attempts {
				w.t.Errorf("%s: %+v, %d tries", r.Payload, is, r.Tries())
			}
			if want.Attempts == 3 && (is.Wait(1) != time.Minute || is.Wait(2) != 3*time.Minute || is.Wait(1<<40) != 3*time.Minute) {
				w.t.Errorf("waits %s, %s", is.Wait(1), is.Wait(2))
			}
		}
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	total := time.Duration(0)
	for n := 1; n < stores.DefaultAttempts; n++ {
		low, high := worker.Backoff(stores.DefaultRetry(), n, 0), worker.Backoff(stores.DefaultRetry(), n, 0.999999)
		if low >= high || high > 8*time.Hour || low < 4*time.Second {
			t.Errorf("attempt %d: %s to %s", n, low, high)
		}
		total += worker.Backoff(stores.DefaultRetry(), n, 0.5)
	}
	if total < 18*time.Hour || total > 30*time.Hour {
		t.Errorf("a job is given up after %s, and the documentation says a day or so", total)
	}
	if worker.Backoff(stores.DefaultRetry(), 1<<30, 0.5) != 6*time.Hour {
		t.Error("backoff grows without end")
	}
}

// SAFE-R11: ten years of a desk in Vienna. Every few days something is promised,
// among them the days before leap days, before clocks change and before the year
// does; now and then a notice cannot leave at first, a question is asked that
// nobody answers, and the worker's clock is set back an hour, or ahead a day and
// back. Nothing happens a microsecond early, nothing happens twice, and nothing
// is left. On PostgreSQL it is the first four years, from one leap day to after the next: when work
// is due is reckoned above the store, and a server's calendar has no other kind of day later.
func TestTenYearsNothingEarlyAndNothingTwice(t *testing.T) {
	t.Parallel()
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	bothStores(t, vienna, func(w *world) {
		ctx := context.Background()
		rnd := rand.New(rand.NewPCG(11, 7))
		last := start.AddDate(10, 0, 0)
		if strings.HasPrefix(w.where, "postgres:") {
			last = start.AddDate(4, 0, 7)
		}
		days := map[time.Time]bool{}
		for year := start.Year(); year <= last.Year(); year++ {
			for _, day := range []time.Time{
				time.Date(year, 2, 28, 0, 0, 0, 0, vienna), time.Date(year, 12, 31, 0, 0, 0, 0, vienna),
				time.Date(year, 4, 0, 0, 0, 0, 0, vienna), time.Date(year, 11, 0, 0, 0, 0, 0, vienna),
			} {
				if (day.Month() == 3 || day.Month() == 10) && day.Weekday() != time.Sunday {
					day = day.AddDate(0, 0, -int(day.Weekday())) // the last Sunday
				}
				days[day.AddDate(0, 0, -1)], days[day] = true, true
			}
		}
		for day := start.In(vienna); day.Before(last); day = day.AddDate(0, 0, 17+rnd.IntN(23)) {
			days[time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, vienna)] = true
		}
		all := slices.SortedFunc(maps.Keys(days), time.Time.Compare)
		sent := map[string]int{} // notices that have left, by the job that asked for them
		down := 0                // how often a notice is still refused
		w.refuse = func(m engine.Message) error {
			if down > 0 {
				down--
				return errDown
			}
			sent[m.ID]++
			return nil
		}
		reminded, expired, retried := 0, 0, 0
		left := func() int { return len(sent) }
		w.run("ada", `desk.promise :name "Papers"`)
		for n, day := range all {
			if !day.After(w.now()) {
				continue
			}
			// Said the evening before, for that day.
			w.set(day.Add(-6 * time.Hour))
			w.run("ada", "desk.expect :promise-id @papers :day "+day.Format(time.DateOnly))
			if n%5 == 0 {
				w.run("ada", "desk.burn-later :promise-id @papers")
				w.wantWork("waiting desk.burn needs-agreement")
				at := w.now().Add(2 * time.Hour)
				w.set(at.Add(-time.Microsecond))
				w.wantWork("")
				w.set(at)
				w.wantWork("done verbatim.expire")
				w.wantWork("")
				expired++
			}
			due := day.AddDate(0, 0, 1) // which is 23, 24 or 25 hours later
			if n%7 == 0 {
				down = 1 + rnd.IntN(3)
				retried++
			}
			before := left()
			w.set(due.Add(-time.Microsecond))
			w.wantWork("")
			w.set(due.Add(-time.Hour))
			w.wantWork("")
			w.set(due)
			if got := w.work(); !strings.HasPrefix(got, "done desk.remind") {
				t.Fatalf("at %s: %q", due, got)
			}
			for left() == before { // the notice is tried again, ever more rarely
				waiting := w.jobs(stores.JobWaiting)
				if len(waiting) != 1 || !waiting[0].At.After(w.now()) {
					t.Fatalf("at %s: %+v", w.now(), waiting)
				}
				w.set(waiting[0].At.Add(-time.Microsecond))
				w.wantWork("")
				w.set(waiting[0].At)
				w.work()
			}
			reminded++
			now := w.now()
			for _, jump := range []time.Duration{-time.Hour, 24 * time.Hour, 0} {
				w.set(now.Add(jump))
				w.wantWork("")
			}
			if left() != before+1 {
				t.Fatalf("at %s: %d notices left", now, left()-before)
			}
		}
		for id, n := range sent {
			if n != 1 {
				t.Errorf("notice %s left %d times", id, n)
			}
		}
		entries, err := w.store.Journal(ctx, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]int{}
		for _, e := range entries {
			told[e.Verb]++
		}
		if told["desk.remind"] != reminded || told["verbatim.expire"] != expired || len(w.jobs(stores.JobWaiting)) != 0 {
			t.Errorf("%d reminders and %d expiries in the journal, of %d and %d; %d jobs wait", told["desk.remind"], told["verbatim.expire"], reminded, expired, len(w.jobs(stores.JobWaiting)))
		}
		t.Logf("%d days: %d reminders, %d expiries, %d notices that were refused at first", len(all), reminded, expired, retried)
	})
}

// Whoever takes back a call whose work was done does not have the work done that it had taken
// the place of: it would be done twice.
func TestUndoOfWorkThatWasDone(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "Papers"`)
		w.run("ada", "desk.chase :promise-id @papers :day 2024-03-01")
		w.run("ada", "desk.chase :promise-id @papers :day 2024-03-02")
		second := w.last().Seq
		w.set(time.Date(2024, 3, 3, 0, 0, 0, 0, time.UTC))
		w.wantWork("done desk.remind; delivered customer")
		reply := w.run("ada", fmt.Sprintf("desk.chase.undo :entry %d", second))
		var stays []string
		for _, row := range reply.Calls[0].Result.Rows {
			stays = append(stays, row[0].Text())
		}
		if got := strings.Join(stays, "; "); !strings.Contains(got, "its work was done") || !strings.Contains(got, "not scheduled again") {
			w.t.Errorf("what stays is told as %q", got)
		}
		w.wantWork("")
	})
}
