package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/jobs/worker"
	"verbatim/stores"
)

// noted are the notes of the notices about a promise, in the order in which they were tried.
func (w *world) noted(promise string) (all []string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.sent {
		var body struct {
			Call string
			With struct{ Note string }
		}
		if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
			w.t.Fatal(err)
		}
		if plain(body.Call) == fmt.Sprintf("desk.remind :promise-id @%s :note %q", promise, body.With.Note) {
			all = append(all, body.With.Note)
		}
	}
	return all
}

// Whoever is told of one thing hears what happened to it in the order in which it did, by
// however many workers.
func TestNoticesAboutOneRowLeaveInOrder(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "Papers"`)
		w.run("ada", `desk.promise :name "Plans"`)
		var want []string
		for i := range 8 {
			want = append(want, fmt.Sprint("note ", i))
			for _, promise := range []string{"papers", "plans"} {
				w.run("ada", fmt.Sprintf("desk.remind :promise-id @%s :note %q", promise, want[i]))
			}
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var all sync.WaitGroup
		for i := range 2 {
			k := w.worker()
			k.Name, k.Poll = fmt.Sprint("process ", i), 5*time.Millisecond
			k.Send = func(ctx context.Context, m engine.Message) error {
				if len(m.About)%2 == 1 && m.ID[len(m.ID)-1]%2 == 0 { // some take longer than those after them
					time.Sleep(30 * time.Millisecond)
				}
				return w.send(ctx, m)
			}
			all.Go(func() { _ = k.Run(ctx) })
		}
		for len(w.noted("papers"))+len(w.noted("plans")) < 16 && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		stop()
		all.Wait()
		for _, promise := range []string{"papers", "plans"} {
			if got := w.noted(promise); !slices.Equal(got, want) {
				w.t.Errorf("of the %s they hear %q, want %q", promise, got, want)
			}
		}
	})
}

// A notice that fails holds up those about the same row by the same channel until it was given
// up, and no others.
func TestANoticeThatFailsHoldsUpItsRowAlone(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "Papers"`)
		w.run("ada", `desk.promise :name "Plans"`)
		for _, call := range []string{`@papers :note "begun"`, `@papers :note "ended"`, `@plans :note "else"`} {
			w.run("ada", "desk.remind :promise-id "+call)
		}
		begun := ""
		w.refuse = func(m engine.Message) error {
			if begun == "" {
				begun = m.ID
			}
			if m.ID == begun {
				return &notify.Error{Code: notify.CodeUnreachable, Text: "nothing was sent"}
			}
			return nil
		}
		w.wantWork("failed customer channel-unreachable; waiting customer earlier-notice; delivered customer")
		for n := 1; n < stores.DefaultAttempts; n++ {
			next := w.jobs(stores.JobWaiting)
			if len(next) != 2 || !slices.Equal(w.noted("papers"), slices.Repeat([]string{"begun"}, n)) {
				w.t.Fatalf("after %d attempts %q was sent, and %+v waits", n, w.noted("papers"), next)
			}
			w.set(slices.MaxFunc(next, func(a, b stores.JobRecord) int { return a.At.Compare(b.At) }).At)
			w.work()
		}
		if got := w.noted("papers"); got[len(got)-1] != "ended" || len(w.jobs(stores.JobDead)) != 1 {
			w.t.Errorf("it waits for one that was given up: %q", got)
		}
	})
}

// Notices that go by different channels do not wait for one another.
func TestNoticesOfOtherChannelsAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		w.run("ada", `desk.promise :name "Papers"`)
		w.run("ada", `desk.remind :promise-id @papers :note "begun"
desk.remind :promise-id @papers :note "ended"`)
		k := w.worker()
		k.Channel = func(string) string { return "" } // as where a palette's notices have no route
		k.Send = func(context.Context, engine.Message) error { return errDown }
		if counts, err := k.Once(t.Context()); err != nil || counts[worker.Failed] != 2 {
			w.t.Error(counts, err)
		}
	})
}

// G22: notices of a channel leave at once though another one, with more of them, never answers.
func TestASilentChannelDelaysNoOther(t *testing.T) {
	t.Parallel()
	bothStores(t, nil, func(w *world) {
		for i := range 12 {
			w.run("ada", fmt.Sprintf(`desk.promise :name "Paper%d" :as @it desk.remind :promise-id @it :note "x"`, i))
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var mu sync.Mutex
		silent, most, left := 0, 0, make(chan string, 100)
		k := w.worker()
		k.Clock, k.Poll, k.Drain = nil, 5*time.Millisecond, time.Millisecond // what is put back comes again
		k.Provider = func(m engine.Message) string { return "of " + m.Target }
		k.Send = func(ctx context.Context, m engine.Message) error {
			if m.Target == "chief" {
				left <- m.Target
				return nil
			}
			mu.Lock()
			silent++
			if most = max(most, silent); silent == 2 {
				left <- m.Target
			}
			mu.Unlock()
			<-ctx.Done()
			return ctx.Err()
		}
		var all sync.WaitGroup
		all.Go(func() { _ = k.Run(ctx) })
		next := func() string {
			select {
			case who := <-left:
				return who
			case <-time.After(30 * time.Second):
				return "nothing"
			}
		}
		if got := next(); got != "customer" {
			w.t.Fatalf("%s left", got)
		}
		for i := range 6 {
			w.run("ada", fmt.Sprintf(`desk.report :note "%d"`, i))
			if got := next(); got != "chief" {
				w.t.Fatalf("%s left after %d", got, i)
			}
		}
		stop()
		all.Wait()
		if most != 2 {
			w.t.Errorf("the silent channel has %d of 4 workers", most)
		}
	})
}
