package workflow

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

// pending are the confirmations that wait for somebody.
func (w *world) pending(who string) []*engine.Pending {
	w.t.Helper()
	s, err := w.e.Session(w.t.Context(), who)
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := s.Pending(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(p *engine.Pending) bool { return !p.Mine || p.Status != "WAITING" })
}

func (w *world) agree(who string, declines string) {
	w.t.Helper()
	all := w.pending(who)
	if len(all) != 1 {
		w.t.Fatalf("%d wait for %s", len(all), who)
	}
	s, _ := w.e.Session(w.t.Context(), who)
	var err error
	if declines != "" {
		err = s.Decline(w.t.Context(), all[0].ID, declines)
	} else {
		_, _, err = s.Agree(w.t.Context(), all[0].ID)
	}
	if err != nil {
		w.t.Fatal(tell(err))
	}
}

const letterToSend = `plan.draft :title "Send" :as @p :steps [
	(desk.open :name "Out" :as @out)
	(desk.write :folder-id @out :title "Offer" :as @offer)
	(desk.send :letter-id @offer)
	(desk.letters :folder-id @out :as @left)]
	plan.start :plan-id @p`

// What somebody else must agree to waits for them, as a row; the rest of the plan goes on.
func TestAStepWaitsForSomebodyElse(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", letterToSend)
		w.work()
		w.want("Send", "RUNNING, out DONE, offer DONE, step-3 WAITING, left DONE")
		w.agree("cleo", "")
		w.work()
		w.want("Send", "DONE, out DONE, offer DONE, step-3 DONE, left DONE")
		if row, _ := w.r.Clerk.Find(t.Context(), "letter", map[string]stores.Value{"title": stores.NewString("Offer")}); row.Text("state") != "SENT" {
			t.Error("it was not sent")
		}
	})
}

// A step that somebody declined, or that nobody decided in time, has failed, with the reason.
func TestAStepThatWasDeclinedFails(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", letterToSend)
		w.work()
		w.agree("cleo", "too early")
		w.work()
		w.want("Send", "FAILED, out DONE, offer DONE, step-3 FAILED, left DONE")
		if got := w.plan("Send").Steps[2].Reason; got != "cleo declined: too early" {
			t.Error(got)
		}
		w.do("ben", strings.ReplaceAll(strings.ReplaceAll(letterToSend, `"Send"`, `"Later"`), `"Out"`, `"Outer"`))
		w.work()
		w.wait(26 * time.Hour)
		w.work()
		w.want("Later", "FAILED, out DONE, offer DONE, step-3 FAILED, left DONE")
	})
}

// What the asker themselves are asked about waits for them, since they are not there.
func TestAStepWaitsForItsAsker(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `desk.open :name "Old" :as @f
			desk.write :folder-id @f :title "Ash"`)
		w.do("ada", `plan.draft :title "Burn" :steps [(desk.burn :letter-id @ash :as @b) (desk.letters :folder-id @old :as @left)] :as @p
			plan.start :plan-id @p`)
		w.work()
		w.want("Burn", "RUNNING, b WAITING, left DONE")
		w.agree("ada", "")
		w.work()
		w.want("Burn", "DONE, b DONE, left DONE")
		if got := w.letters(); len(got) != 0 {
			t.Errorf("%q", got)
		}
	})
}

// A step that may not be made any more fails, and what needs it is left out with the reason.
func TestDependentsAreLeftOut(t *testing.T) { // T53
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `plan.draft :title "Lost" :as @p :steps [
			(desk.open :name "Box" :as @box)
			(desk.letters :folder-id @box :about "none" :as @none)
			(desk.write :folder-id @box :title @none.title :as @copy)
			(desk.write :folder-id @box :title @copy.title :as @again)
			(desk.write :folder-id @box :title "kept" :as @kept)]
			plan.start :plan-id @p`)
		w.work()
		w.want("Lost", "FAILED, box DONE, none DONE, copy FAILED, again SKIPPED, kept DONE")
		p := w.plan("Lost")
		if got := p.Steps[2].Reason + "; " + p.Steps[3].Reason; got != "@none.title: it gave 0 rows where one is wanted; @copy was not made" {
			t.Error(got)
		}
		// It can be gone on with once the reason is gone.
		w.do("ada", `plan.retry :step-id @lost-copy`)
		w.work()
		w.want("Lost", "FAILED, box DONE, none DONE, copy FAILED, again SKIPPED, kept DONE")
	})
}

// judge judges by a function.
type judge func(s *Step, a *Attempt) Verdict

func (j judge) Judge(_ context.Context, _ *Plan, s *Step, a *Attempt) Verdict { return j(s, a) }

// sure accepts letters about a thing, asks otherwise without it, and then somebody else.
func sure(s *Step, a *Attempt) Verdict {
	score, least := 0.2, 0.75
	if r := a.Result(); r != nil && len(r.Rows) > 0 {
		score = 0.9
	}
	v := Verdict{Good: score >= least, Score: &score, Least: &least, Reason: fmt.Sprintf("%d tried", a.Number), Wait: time.Second}
	switch {
	case v.Good:
	case a.Number == 1:
		v.Again = true
	case a.Number == 2:
		next := dsl.NewCall(a.Call.Verb, a.Call.Args[0])
		v.Again, v.Next = true, &next
	default:
		v.Ask = true
	}
	return v
}

// A step that reads is tried again as the Judge says, with another call; a row keeps each
// attempt, and the score of the one that counts. // T4 T11 T14 T24
func TestAReadIsTriedOtherwise(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.r.Judge = judge(sure)
		w.do("ada", `desk.open :name "Box" :as @f
			desk.write :folder-id @f :title "Offer"`)
		w.do("ada", `plan.draft :title "Look" :as @p :steps [(desk.letters :folder-id @box :about "Order" :as @found)]
			plan.start :plan-id @p`)
		w.work()
		w.want("Look", "DONE, found DONE")
		rows, err := w.r.Clerk.All(t.Context(), attempts, nil)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(rows, func(a, b *clerkRow) int { return int(a.Value("number").Int() - b.Value("number").Int()) })
		var got []string
		for _, r := range rows {
			got = append(got, suffix.ReplaceAllString(r.Text("call"), "")+" "+r.Text("outcome")+" "+r.Text("score"))
		}
		want := []string{
			`desk.letters :folder-id @box :about "Order" :as @found DOUBTFUL 0.2000`,
			`desk.letters :folder-id @box :about "Order" :as @found DOUBTFUL 0.2000`,
			`desk.letters :folder-id @box OK 0.9000`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
		if p := w.plan("Look"); *p.Steps[0].Score != 0.9 || p.Steps[0].Settled != 3 || p.Steps[0].Tries != 3 {
			t.Errorf("%+v", p.Steps[0])
		}
	})
}

// An answer that stays doubtful waits for somebody else with the role, who gives a reason;
// what depends on it goes on then. It accepts this one answer, and no threshold moves. // T25
func TestADoubtfulAnswerIsAcceptedBySomebodyElse(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.r.Judge = judge(sure)
		if err := w.store.SetPrincipal(t.Context(), stores.Principal{Name: "ada", Roles: []string{"clerk", "planner", "plan-overseer"}, Person: "Ada"}); err != nil {
			t.Fatal(err)
		}
		if err := w.store.SetPrincipal(t.Context(), stores.Principal{Name: "ada2", Roles: []string{"plan-overseer"}, Person: "ada"}); err != nil {
			t.Fatal(err)
		}
		w.do("ada", `desk.open :name "Box"`)
		w.do("ada", `plan.draft :title "Look" :as @p :steps [(desk.letters :folder-id @box :as @found) (desk.write :folder-id @box :title "List" :body @found :as @list)]
			plan.start :plan-id @p`)
		w.work()
		w.want("Look", "RUNNING, found DOUBTFUL, list OPEN")
		w.refused("ada", `plan.accept :step-id @look-found :reason "it is empty, I know"`, "nobody accepts an answer to their own question")
		w.refused("ada2", `plan.accept :step-id @look-found :reason "it is empty, I know"`, "nobody accepts an answer to their own question")
		w.refused("ben", `plan.accept :step-id @look-found :reason "it is empty, I know"`, "not-permitted")
		w.refused("olga", `plan.accept :step-id @look-found :reason "ok"`, "too-short")
		w.refused("olga", `plan.accept :step-id @look-list :reason "it is empty, I know"`, "nobody waits for this answer")
		w.wait(23 * time.Hour)
		w.do("olga", `plan.accept :step-id @look-found :reason "it is empty, I know"`)
		w.work()
		w.want("Look", "DONE, found DONE, list DONE")
		p := w.plan("Look")
		if s := p.Steps[0]; *s.Score != 0.2 || *s.Least != 0.75 || s.DecidedBy != "olga" || s.Settled != 3 {
			t.Errorf("%+v", s)
		}
		if got := w.letters(); fmt.Sprint(got) != "[List (nothing)]" {
			t.Errorf("%q", got)
		}
		// Nobody says yes twice, and nobody in time is a no.
		w.refused("olga", `plan.accept :step-id @look-found :reason "it is empty, I know"`, "nobody waits")
		w.do("ben", `plan.draft :title "Late" :as @p :steps [(desk.letters :folder-id @box :about "x" :as @found) (desk.write :folder-id @box :title @found.title :as @list)]
			plan.start :plan-id @p`)
		w.r.Judge = judge(func(s *Step, a *Attempt) Verdict {
			return Verdict{Ask: true}
		})
		w.work()
		w.want("Late", "RUNNING, found DOUBTFUL, list OPEN")
		w.wait(25 * time.Hour)
		w.work()
		w.want("Late", "FAILED, found FAILED, list SKIPPED")
	})
}

// A plan is paused, gone on with, given up, and ends at its deadline, with what was made and
// what was not.
func TestAPlanIsStopped(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		draft := func(title, more string) {
			w.do("ada", fmt.Sprintf(`plan.draft :title %q :parallel 1 %s :as @p :steps [(desk.open :name %[1]q :as @a) (desk.write :folder-id @a :title %[1]q :as @b) (desk.send :letter-id @b :as @c)]
				plan.start :plan-id @p`, title, more))
		}
		draft("Paused", "")
		w.do("ada", `plan.pause :plan-id @paused`)
		w.work()
		w.want("Paused", "PAUSED, a OPEN, b OPEN, c OPEN")
		w.refused("ben", `plan.resume :plan-id @paused`, "somebody else made this plan")
		w.do("ada", `plan.resume :plan-id @paused`)
		w.work()
		w.want("Paused", "RUNNING, a DONE, b DONE, c WAITING")
		w.do("ada", `plan.abort :plan-id @paused :reason "no longer"`)
		w.want("Paused", "CANCELLED, a DONE, b DONE, c SKIPPED")
		w.work()
		w.refused("ada", `plan.resume :plan-id @paused`, "not paused")
		w.refused("ada", `plan.start :plan-id @paused`, "started before")

		draft("Due", ":deadline 2026-03-02T10:00:00Z")
		w.work()
		w.wait(2 * time.Hour)
		w.work()
		w.want("Due", "EXPIRED, a DONE, b DONE, c SKIPPED")
		w.refused("ada", `plan.draft :title "Past" :deadline 2026-03-02T10:00:00Z`, "that moment is over")
	})
}

// While steps are made somebody gives the plan up: what was begun is noted, and nothing else
// is begun.
func TestAPlanIsGivenUpInTheMiddle(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `plan.draft :title "Mid" :parallel 1 :as @p :steps [(desk.open :name "One" :as @a) (desk.open :name "Two" :as @b) (desk.open :name "Three" :as @c)]
			plan.start :plan-id @p`)
		w.r.Judge = judge(func(s *Step, a *Attempt) Verdict {
			if s.Name == "b" {
				w.do("ada", `plan.abort :plan-id @mid`)
			}
			return Verdict{Good: true}
		})
		w.work()
		w.want("Mid", "CANCELLED, a DONE, b DONE, c SKIPPED")
	})
}

// A plan ends in the transaction that notes its last step. Where somebody pauses it or gives it up
// while that is made, the step is noted all the same, and what they said holds.
func TestAPlanIsStoppedAtItsLastStep(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		for verb, states := range map[string]string{"pause": "PAUSED, a DONE, b DONE", "abort": "CANCELLED, a DONE, b DONE", "list": "DONE, a DONE, b DONE"} {
			w.do("ada", fmt.Sprintf(`plan.draft :title "Last %s" :parallel 1 :as @p :steps [(desk.open :name "One %[1]s" :as @a) (desk.open :name "Two %[1]s" :as @b)]
				plan.start :plan-id @p`, verb))
			w.r.Judge = judge(func(s *Step, a *Attempt) Verdict {
				if s.Name == "b" && verb != "list" {
					w.do("ada", fmt.Sprintf("plan.%s :plan-id @last-%[1]s", verb))
				}
				return Verdict{Good: true}
			})
			w.work()
			w.want("Last "+verb, states)
		}
		w.do("ada", "plan.resume :plan-id @last-pause")
		w.work()
		w.want("Last pause", "DONE, a DONE, b DONE")
	})
}

// A process that dies between making a step and noting it leaves it to another, which makes
// it under the same key: it is made once.
func TestAWritingStepIsMadeOnce(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `plan.draft :title "Once" :as @p :steps [(desk.open :name "Box" :as @a) (desk.write :folder-id @a :title "L" :as @b)]
			plan.start :plan-id @p`)
		for range 2 {
			ctx, die := context.WithCancel(t.Context())
			w.r.Judge = judge(func(s *Step, a *Attempt) Verdict { die(); return Verdict{Good: true} })
			_, err := w.r.Advance(ctx, w.plan("Once").Key, nil)
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			// Another finds that it is made by somebody, until that one was silent for long.
			other := w.runner("two")
			if status, err := other.Advance(t.Context(), w.plan("Once").Key, nil); err != nil || status != running {
				t.Fatal(status, err)
			}
			w.wait(3 * time.Minute)
		}
		w.r.Judge = nil
		w.work()
		w.want("Once", "DONE, a DONE, b DONE")
		folders, _ := w.r.Clerk.All(t.Context(), "folder", nil)
		if got := w.letters(); len(got) != 1 || len(folders) != 1 {
			t.Errorf("%q in %d folders", got, len(folders))
		}
	})
}

// A deaf store loses the answer of the first commit after which something is so.
type deaf struct {
	stores.Store
	is func() bool
}

func (d *deaf) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	err := d.Store.Update(ctx, scope, fn)
	if err == nil && d.is != nil && d.is() {
		d.is = nil
		return stores.ErrUnknown
	}
	return err
}

// A step whose answer was lost is tried again, and turns out to have been made.
func TestTheAnswerOfAWritingStepIsLost(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "p.db"))
	d := &deaf{Store: store}
	w := newWorld(t, d, err)
	w.do("ada", `plan.draft :title "Once" :as @p :steps [(desk.open :name "Box" :as @a) (desk.write :folder-id @a :title "L" :as @b)]
		plan.start :plan-id @p`)
	d.is = func() bool { return len(w.letters()) > 0 }
	w.work()
	w.want("Once", "DONE, a DONE, b DONE")
	if s := w.plan("Once").Steps[1]; d.is != nil || s.Tries != 2 || len(w.letters()) != 1 {
		t.Errorf("%d tries, %q", s.Tries, w.letters())
	}
}

// Steps that do not need each other are made at once, up to the limit.
func TestStepsAreMadeAtOnce(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `plan.draft :title "Wide" :parallel 3 :as @p :steps [(desk.open :name "A" :as @a) (desk.open :name "B" :as @b) (desk.open :name "C" :as @c) (desk.open :name "D" :as @d)]
			plan.start :plan-id @p`)
		met, most, under := make(chan struct{}), 0, 0
		all := sync.OnceFunc(func() { close(met) }) // a step may be made again, on a busy machine
		w.r.Judge = judge(func(s *Step, a *Attempt) Verdict {
			w.mu.Lock()
			under++
			most = max(most, under)
			if under == 3 {
				all()
			}
			w.mu.Unlock()
			<-met // the three of them are there together
			w.mu.Lock()
			under--
			w.mu.Unlock()
			return Verdict{Good: true}
		})
		w.work()
		w.want("Wide", "DONE, a DONE, b DONE, c DONE, d DONE")
		if most != 3 {
			t.Errorf("%d at once", most)
		}
	})
}

// An attempt that takes too long is given up, and tried again; then it has failed.
func TestAnAttemptTakesTooLong(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t)
	w.do("ada", `desk.open :name "Box"`)
	w.do("ada", `plan.draft :title "Slow" :within 10 :as @p :steps [(desk.letters :folder-id @box :as @a)]
		plan.start :plan-id @p`)
	w.r.Clerk.Store = w.store
	slow := &slowStore{Store: w.store}
	w.slow(slow)
	w.work()
	w.want("Slow", "FAILED, a FAILED")
	if s := w.plan("Slow").Steps[0]; s.Tries != 3 || s.Reason != "it took longer than 10 ms" {
		t.Errorf("%d tries: %s", s.Tries, s.Reason)
	}
}

// Whoever made the plan may do nothing any more: nothing is made in their name.
func TestRightsAreThoseOfTheMoment(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `plan.draft :title "Gone" :as @p :steps [(desk.open :name "A" :as @a)]
			plan.start :plan-id @p`)
		if err := w.store.SetPrincipal(t.Context(), stores.Principal{Name: "ada", Roles: []string{"planner"}}); err != nil {
			t.Fatal(err)
		}
		w.work()
		w.want("Gone", "FAILED, a FAILED")
		if got := w.plan("Gone").Steps[0].Reason; !strings.Contains(got, "may not use desk.open") {
			t.Error(got)
		}
	})
}

// A list and a code that a step gives are a list and a code to the next.
func TestListsAndCodesGoAlong(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t)
	w.do("ada", `desk.open :name "Box"`)
	w.do("ada", `desk.open :name "Chest"`)
	w.do("ada", `desk.sort :folder-id @box :tags ["a" "b"] :wants SENT`)
	w.do("ada", `plan.draft :title "Same" :as @p :steps [(desk.sorted :folder-id @box :as @how) (desk.sort :folder-id @chest :tags @how.tags :wants @how.wants)]
		plan.start :plan-id @p`)
	w.work()
	w.want("Same", "DONE, how DONE, step-2 DONE")
	row, err := w.r.Clerk.Find(t.Context(), "folder", map[string]stores.Value{"name": stores.NewString("Chest")})
	if err != nil || row.Text("tags") != `["a","b"]` || row.Text("wants") != "SENT" {
		t.Errorf("%+v, %v", row, err)
	}
}

// What was not kept is read again as it was asked for at last.
func TestWhatWasNotKeptIsReadAsItWasAsked(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t)
	w.r.Judge = judge(func(s *Step, a *Attempt) Verdict {
		other := dsl.NewCall("desk.pins")
		other.As = s.Call.As
		return Verdict{Good: a.Number > 1, Again: a.Number == 1, Next: &other}
	})
	w.do("ada", `desk.open :name "Safe" :pin "48151623"`)
	w.do("ada", `plan.draft :title "Pin" :as @p :steps [(desk.letters :folder-id @safe :as @found)]
		plan.start :plan-id @p`)
	w.work()
	p, err := w.runner("two").Answered(t.Context(), w.plan("Pin").Key)
	if err != nil {
		t.Fatal(err)
	}
	if res := resultOf(p.Steps[0].Answer()); res == nil || !slices.Contains(res.Columns, "pin") {
		t.Errorf("%+v", res)
	}
}

// A left store has lost somebody.
type left struct {
	stores.Store
	who string
}

func (l *left) Principal(ctx context.Context, name string) (stores.Principal, error) {
	if name == l.who {
		return stores.Principal{}, stores.ErrNotFound
	}
	return l.Store.Principal(ctx, name)
}

// Whoever made the plan is there no more: it has failed, and every step is left out.
func TestWhoeverMadeThePlanIsGone(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "p.db"))
	l := &left{Store: store}
	w := newWorld(t, l, err)
	w.do("ben", `plan.draft :title "Left" :as @p :steps [(desk.open :name "A" :as @a) (desk.write :folder-id @a :title "L")]
		plan.start :plan-id @p`)
	l.who = "ben"
	w.work()
	w.want("Left", "FAILED, a SKIPPED, step-2 SKIPPED")
}

// What is sensitive reaches no other step, no row and no journal entry. // T44
func TestWhatIsSensitiveGoesNowhere(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `desk.open :name "Safe" :pin "48151623"`)
		w.do("ada", `plan.draft :title "Pin" :as @p :steps [(desk.pins :as @pin) (desk.write :folder-id @safe :title "note" :body @pin :as @b) (desk.write :folder-id @safe :title @pin.pin :as @c)]
			plan.start :plan-id @p`)
		w.work()
		w.want("Pin", "FAILED, pin DONE, b FAILED, c FAILED")
		entries, err := w.store.Journal(t.Context(), 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(fmt.Sprintf("%+v", entries), "48151623") {
			t.Error("it stands in the journal")
		}
	})
}

// The text of a result leaves out what is sensitive, and what does not fit. // T6 T44
func TestTextOfAResult(t *testing.T) {
	t.Parallel()
	res := &receipt.Result{Columns: []string{"name", "pin"}, Sensitive: []bool{false, true}}
	for _, name := range []string{"Safe", "Box", "Shelf"} {
		res.Rows = append(res.Rows, []stores.Value{stores.NewString(name), stores.NewString("48151623")})
	}
	for most, want := range map[int]string{100: "name: Safe\nname: Box\nname: Shelf", 31: "name: Safe\n(2 left out)"} {
		if got := Text(res, most); got != want {
			t.Errorf("%d: %q", most, got)
		}
	}
	if got := Text(nil, 100); got != "(nothing)" {
		t.Errorf("%q", got)
	}
}

// A value that a model wrote into a plan is a model's when the step is made.
func TestOriginsGoAlong(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t)
	w.do("ada", `desk.open :name "Box"`)
	ctx := t.Context()
	s, err := w.e.Session(ctx, "ada")
	if err != nil {
		t.Fatal(err)
	}
	by := func(text string) *verbs.Program {
		script, _ := dsl.Parse(dsl.NewSource("test", text))
		p, ds := s.Check(ctx, script, engine.CheckOptions{Said: verbs.Literals{Origin: verbs.NewOrigin(verbs.FromModel, "")}})
		if p == nil {
			t.Fatal(ds)
		}
		return p
	}
	if _, err := s.Run(ctx, by(`desk.write :folder-id @box :title "said"`), engine.RunOptions{}); err != nil {
		t.Fatal(tell(err))
	}
	w.agreesToAll(s, by(`plan.draft :title "Model" :as @p :steps [(desk.write :folder-id @box :title "then" :as @a) (desk.letters :folder-id @box :about "said" :as @found) (desk.write :folder-id @box :title "again" :body @found.title :as @b)]
		plan.start :plan-id @p`))
	w.work()
	// What a step read of a model's words was not there to be agreed to with the plan.
	w.want("Model", "RUNNING, a DONE, found DONE, b WAITING")
	w.agree("ada", "")
	w.work()
	w.want("Model", "DONE, a DONE, found DONE, b DONE")
	rows, _ := w.r.Clerk.All(ctx, "letter", nil)
	for _, r := range rows {
		if got := stores.MarkOf(r.Marks, r.Entity.FieldIndex("title")); got != "model" {
			t.Errorf("%s is of %q", r.Text("title"), got)
		}
		if r.Text("body") != "" && stores.MarkOf(r.Marks, r.Entity.FieldIndex("body")) != "model" {
			t.Errorf("what was read of a model's words is of %q", stores.MarkOf(r.Marks, r.Entity.FieldIndex("body")))
		}
	}
}

// A plan that does not hold together is refused whole, with each mistake at its place.
func TestBadPlansAreRefused(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t)
	w.do("ada", `desk.open :name "Box"`)
	many := strings.Repeat("(desk.letters :folder-id @box)", 10_000)
	for steps, says := range map[string]string{
		`(desk.write :folder-id @box :title @b.title :as @a) (desk.write :folder-id @box :title @c.title :as @b) (desk.write :folder-id @box :title @a.title :as @c)`: "cycle",
		`(desk.write :folder-id @box :title @a.title :as @a)`:                                  "cycle",
		`(desk.letters :folder-id @box :as @a) (desk.letters :folder-id @box :as @a)`:          "duplicate-binding",
		`(desk.chiefly :folder-id @box)`:                                                       "not-permitted",
		`(plan.lapse :step-id @box)`:                                                           "unknown-verb",
		`(desk.letters :folder-id @bax)`:                                                       "unknown-name",
		`(desk.letters :folder-id @box :as @a) (desk.write :folder-id @box :title @a.nothing)`: "unknown-field",
		many: "at most 100",
		`(plan.draft :title "inner" :steps [(desk.chiefly :folder-id @box)])`: "not-permitted",
		`(desk.letters :folder-id`: "",
	} {
		w.refused("ada", `plan.draft :title "Bad" :steps [`+steps+`]`, says)
	}
	w.refused("ada", `plan.draft :title "Bad" :least [1.1]`, "1.1 is more than")
	w.refused("ada", `plan.draft :title "Empty" :as @p plan.start :plan-id @p`, "nothing-matched")
}

// Two processes go on with one plan at the same moment: one of them makes it.
func TestTwoProcessesMeet(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.do("ada", `plan.draft :title "Two" :as @p :steps [(desk.open :name "A" :as @a) (desk.write :folder-id @a :title "x" :as @b) (desk.letters :folder-id @a :as @c)]
			plan.start :plan-id @p`)
		key := w.plan("Two").Key
		back := make(chan error, 4)
		for i := range 4 {
			r := w.runner(fmt.Sprint("process ", i))
			go func() {
				_, err := r.Advance(t.Context(), key, nil)
				back <- err
			}()
		}
		for range 4 {
			if err := <-back; err != nil {
				t.Error(err)
			}
		}
		w.want("Two", "DONE, a DONE, b DONE, c DONE")
		if n, _ := w.r.Clerk.All(t.Context(), attempts, nil); len(n) != 3 {
			t.Errorf("%d attempts", len(n))
		}
	})
}

// agreesToAll agrees to a plan that a model made, which is not started without that.
func (w *world) agreesToAll(s *engine.Session, p *verbs.Program) {
	w.t.Helper()
	preview, err := s.Preview(w.t.Context(), p)
	if err != nil || len(preview.Asks()) != 1 {
		w.t.Fatal(preview, tell(err))
	}
	if _, err := s.Run(w.t.Context(), p, engine.RunOptions{}); err == nil {
		w.t.Error("it is started unasked")
	}
	if _, err := s.Run(w.t.Context(), p, engine.RunOptions{Agreed: preview.Answer()}); err != nil {
		w.t.Fatal(tell(err))
	}
}

// A plan that a model made is agreed to as a whole, with the values of its steps, if one of them
// changes something; a step that is added or changed after that is asked about. (G1)
func TestAPlanOfAModelIsAgreedToWhole(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t)
	w.do("ada", `desk.open :name "Box"`)
	ctx := t.Context()
	s, err := w.e.Session(ctx, "ada")
	if err != nil {
		t.Fatal(err)
	}
	by := func(text string, from verbs.Literals) *verbs.Program {
		t.Helper()
		script, _ := dsl.Parse(dsl.NewSource("test", text))
		p, ds := s.Check(ctx, script, engine.CheckOptions{Said: from})
		if p == nil {
			t.Fatal(ds)
		}
		return p
	}
	model := verbs.Literals{Origin: verbs.NewOrigin(verbs.FromModel, "")}
	run := func(p *verbs.Program, o engine.RunOptions) error {
		_, err := s.Run(ctx, p, o)
		return err
	}
	// What only reads is made at once.
	if err := run(by(`plan.draft :title "Reads" :as @p :steps [(desk.letters :folder-id @box)]
		plan.start :plan-id @p`, model), engine.RunOptions{}); err != nil {
		t.Fatal(tell(err))
	}
	if err := run(by(`plan.draft :title "Writes" :as @p :steps [(desk.write :folder-id @box :title "One")]`, model), engine.RunOptions{}); err != nil {
		t.Fatal(tell(err)) // nothing is made of it yet
	}
	start := by(`plan.start :plan-id @writes`, verbs.Literals{})
	preview, err := s.Preview(ctx, start)
	if err != nil || len(preview.Asks()) != 1 {
		t.Fatal(preview, tell(err))
	}
	var shown strings.Builder
	receipt.Print(&shown, preview, receipt.Options{Full: true})
	if !strings.Contains(shown.String(), `:title \"One\"`) {
		t.Errorf("its values are not shown:\n%s", shown.String())
	}
	for _, later := range []string{`plan.stage :plan-id @writes :call (desk.write :folder-id @box :title "Two")`, `plan.pick :step-id @writes-step-1 :call (desk.write :folder-id @box :title "Three")`} {
		if err := run(by(later, model), engine.RunOptions{}); err != nil {
			t.Fatal(later, tell(err))
		}
		if err := run(start, engine.RunOptions{Agreed: preview.Answer()}); err == nil {
			t.Errorf("%s: a yes to the plan as it was starts it", later)
		}
		if preview, err = s.Preview(ctx, start); err != nil {
			t.Fatal(tell(err))
		}
	}
	if err := run(start, engine.RunOptions{Agreed: preview.Answer()}); err != nil {
		t.Fatal(tell(err))
	}
	w.work()
	w.want("Writes", "DONE, step-1 DONE, step-2 DONE")
	// A person's own plan is not asked about until a model adds to it.
	w.do("ada", `plan.draft :title "Mine" :as @p :steps [(desk.write :folder-id @box :title "Four")]`)
	if err := run(by(`plan.stage :plan-id @mine :call (desk.write :folder-id @box :title "Five")`, model), engine.RunOptions{}); err != nil {
		t.Fatal(tell(err))
	}
	w.refused("ada", `plan.start :plan-id @mine`, "a model wrote steps of it")
	w.refused("ada", `plan.run :plan-id @mine`, "a model wrote steps of it")
}
