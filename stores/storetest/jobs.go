package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"verbatim/stores"
)

// noon is when the jobs of these cases fall due, unless they say otherwise.
var noon = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func job(id string, at time.Time) stores.Job {
	return stores.Job{ID: id, Kind: "call", Payload: `{}`, At: at}
}

// batch commits a batch in a transaction of its own.
func (w *world) batch(b stores.Batch) error {
	ctx := context.Background()
	return w.Update(ctx, everything, func(tx stores.Tx) error {
		err := tx.Apply(ctx, b)
		return err
	})
}

func (w *world) enqueue(jobs ...stores.Job) {
	w.t.Helper()
	w.must(w.batch(stores.Batch{Jobs: jobs}))
}

// Take begins runs of up to n due jobs, of any of the kinds, and leaves them running, as a lost
// worker does.
func Take(ctx context.Context, q stores.Queue, now time.Time, worker string, n int, kinds ...string) ([]stores.Run, error) {
	if len(kinds) == 0 {
		kinds = []string{"call", "expire", "notice"}
	}
	enough, stop := context.WithCancel(ctx)
	defer stop()
	var runs []stores.Run
	s := stores.Shift{Worker: worker, Kinds: kinds, Once: true, Concurrency: 1, Timeout: 1000 * time.Hour, Poll: time.Millisecond, Drain: time.Minute,
		Kept: 1000 * time.Hour, Lost: func(stores.Run) {}, Run: func(_ context.Context, r stores.Run) error {
			if len(runs) == n { // it was fetched while the worker stopped
				return &stores.Unfinished{Free: true}
			}
			runs = append(runs, r)
			if len(runs) == n {
				stop()
			}
			return nil
		}}
	if !now.IsZero() {
		s.Clock = func() time.Time { return now }
	}
	if n == 0 {
		return nil, nil
	}
	if err := q.Work(enough, s); err != nil && (len(runs) < n || ctx.Err() != nil) {
		return nil, err
	}
	return runs, nil
}

// shift returns a worker whose clock stands still.
func shift(now time.Time, run func(context.Context, stores.Run) error) stores.Shift {
	return stores.Shift{Worker: "worker", Kinds: []string{"call"}, Concurrency: 1, Timeout: time.Hour, Poll: 10 * time.Millisecond, Drain: time.Minute,
		Kept: 1000 * time.Hour, Clock: func() time.Time { return now }, Lost: func(stores.Run) {}, Run: run}
}

// tidy does the maintenance of a moment, and returns the runs taken from lost workers: those
// older than age.
func (w *world) tidy(now time.Time, age, kept time.Duration) ([]stores.Run, error) {
	var lost []stores.Run
	err := w.Work(context.Background(), stores.Shift{Worker: "rescuer", Kinds: []string{"unheard-of"}, Once: true, Clock: func() time.Time { return now },
		Concurrency: 1, Timeout: age / 2, Poll: time.Millisecond, Drain: time.Minute, Kept: kept, Lost: func(r stores.Run) { lost = append(lost, r) },
		Run: func(context.Context, stores.Run) error { return nil }})
	slices.SortFunc(lost, func(a, b stores.Run) int { return a.At.Compare(b.At) })
	return lost, err
}

func (w *world) rescue(now time.Time, age time.Duration) ([]stores.Run, error) {
	return w.tidy(now, age, 1000*time.Hour)
}

// take takes due jobs, and returns their names.
func (w *world) take(now time.Time, n int, kinds ...string) []stores.Run {
	w.t.Helper()
	runs, err := Take(context.Background(), w, now, "worker", n, kinds...)
	w.must(err)
	return runs
}

func (w *world) wantTaken(runs []stores.Run, ids ...string) {
	w.t.Helper()
	var got []string
	for _, r := range runs {
		got = append(got, r.ID)
	}
	if !slices.Equal(got, ids) {
		w.t.Errorf("taken: %q, want %q", got, ids)
	}
}

func (w *world) record(id string) stores.JobRecord {
	w.t.Helper()
	records, err := w.Jobs(context.Background(), stores.JobFilter{IDs: []string{id}})
	w.must(err)
	if len(records) != 1 {
		w.t.Fatalf("%d jobs have the id %s", len(records), id)
	}
	return records[0]
}

func (w *world) wantState(id string, state stores.JobState, attempt int) {
	w.t.Helper()
	if r := w.record(id); r.State != state || r.Attempt != attempt {
		w.t.Errorf("%s is %s at attempt %d, want %s at %d", id, r.State, r.Attempt, state, attempt)
	}
}

// changeJob changes a job in its present state.
func (w *world) changeJob(id string, c stores.JobChange) error {
	w.t.Helper()
	if c.ID = id; !c.Drop && c.At.IsZero() {
		c.At = noon
	}
	if records, err := w.Jobs(context.Background(), stores.JobFilter{IDs: []string{id}}); err == nil && len(records) == 1 {
		c.Attempt = records[0].Attempt
	}
	return w.batch(stores.Batch{JobChanges: []stores.JobChange{c}})
}

func (w *world) drop(id string) {
	w.t.Helper()
	w.must(w.changeJob(id, stores.JobChange{Drop: true}))
}

func settle(run stores.Run, state stores.JobState, at time.Time) stores.Settlement {
	return stores.Settlement{Run: run, State: state, At: at}
}

// note is a change by which a case sees whether a transaction was committed.
func (w *world) effect(n int, text string) stores.Change {
	return update(w.request, id("request", n), stores.Assign{Field: reqNotes, Value: str(text)})
}

func (w *world) notes(n int) string {
	w.t.Helper()
	var text string
	ctx := context.Background()
	w.must(w.View(ctx, everything, func(r stores.Reader) error {
		row, err := r.Get(ctx, w.request, id("request", n))
		if err == nil {
			text = row.Values[reqNotes].Text()
		}
		return err
	}))
	return text
}

// SAFE-Q2, SAFE-Q4 as far as they are the store's.
var jobCases = []testCase{
	{"a job comes back as it was enqueued", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		j := stores.Job{ID: "j-1", Kind: "call", Payload: `{"a":1.50,"b":{"long":"Größe","z":[1,"x"]}}`, At: noon.Add(1500 * time.Microsecond), Attempts: 7,
			Unique: "correlation", Principal: "clara", Origins: `{"note":"person"}`}
		w.enqueue(j)
		runs := w.take(noon.Add(time.Second), 5)
		w.wantTaken(runs, "j-1")
		if r := runs[0]; r.Job != j || r.Attempt != 1 || !r.Started.Equal(noon.Add(time.Second)) {
			t.Errorf("%+v", r)
		}
		if r := w.record("j-1"); r.Job != j || r.State != stores.JobRunning || r.Worker != "worker" || r.Created.IsZero() || !r.Ended.IsZero() {
			t.Errorf("%+v", r)
		}
	}},
	{"a job exists exactly when its transaction was committed", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		mine := errors.New("mine")
		err := w.Update(ctx, everything, func(tx stores.Tx) error {
			err := tx.Apply(ctx, stores.Batch{Jobs: []stores.Job{job("never", noon)}})
			w.must(err)
			return mine
		})
		if err != mine {
			t.Error(err)
		}
		// A change that fails takes the job with it, whichever came first.
		err = w.batch(stores.Batch{Jobs: []stores.Job{job("nor-this", noon)}, Changes: []stores.Change{remove(w.request, id("request", 99))}})
		if err == nil {
			t.Error("a row that is not there was deleted")
		}
		w.enqueue(job("this", noon))
		w.wantTaken(w.take(noon, 5), "this")
	}},
	{"jobs are due by their time, and in order", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.enqueue(job("late", noon.Add(2*time.Hour)), job("second", noon), job("third", noon), job("first", noon.Add(-time.Minute)))
		w.enqueue(job("fourth", noon))
		w.wantTaken(w.take(noon.Add(-time.Minute-time.Microsecond), 5))
		w.wantTaken(w.take(noon, 2), "first", "second")
		w.wantTaken(w.take(noon, 0))
		w.wantTaken(w.take(noon.Add(time.Hour), 5), "third", "fourth")
		w.wantTaken(w.take(noon.Add(24*time.Hour), 5), "late")
		w.wantTaken(w.take(noon.Add(24*time.Hour), 5))
	}},
	{"a clock that goes back takes nothing early and nothing twice", func(t *testing.T, open Open) {
		// SAFE-R11
		w := newWorld(t, open)
		w.enqueue(job("a", noon), job("b", noon.Add(30*time.Minute)))
		w.wantTaken(w.take(noon, 5), "a")
		w.wantTaken(w.take(noon.Add(-time.Hour), 5))
		w.wantTaken(w.take(noon, 5))
		w.wantTaken(w.take(noon.Add(24*time.Hour), 5), "b")
	}},
	{"without a time the store's clock decides", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		now, err := w.Clock(ctx)
		w.must(err)
		w.enqueue(job("past", now.Add(-time.Second)), job("future", now.Add(time.Hour)))
		runs := w.take(time.Time{}, 5)
		w.wantTaken(runs, "past")
		if runs[0].Started.Before(now) {
			t.Errorf("started %s, before %s", runs[0].Started, now)
		}
		w.must(w.changeJob("future", stores.JobChange{At: now}))
		w.wantTaken(w.take(time.Time{}, 5), "future")
	}},
	{"a worker takes the kinds it knows", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		other := job("other", noon.Add(-time.Hour))
		other.Kind = "notice"
		w.enqueue(other, job("call", noon))
		w.wantTaken(w.take(noon, 5, "call", "unheard-of"), "call")
		w.wantTaken(w.take(noon, 5), "other")
	}},
	{"no two workers take one job", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		const n = 60
		var jobs []stores.Job
		for i := range n {
			jobs = append(jobs, job(fmt.Sprint("j", i), noon))
		}
		w.enqueue(jobs...)
		var mu sync.Mutex
		var wg sync.WaitGroup
		seen := map[string]int{}
		for i := range 4 {
			wg.Go(func() {
				for empty := 0; empty < 3; {
					runs, err := Take(context.Background(), w, noon, fmt.Sprint("worker ", i), 3)
					if errors.Is(err, stores.ErrConflict) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					if len(runs) == 0 {
						empty++
					}
					mu.Lock()
					for _, r := range runs {
						seen[r.ID]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for id, times := range seen {
			if times != 1 {
				t.Errorf("%s was taken %d times", id, times)
			}
		}
		if len(seen) != n {
			t.Errorf("%d jobs of %d were taken", len(seen), n)
		}
	}},
	{"a run is settled with its effect, or neither is", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.enqueue(job("a", noon))
		run := w.take(noon, 1)[0]
		err := w.batch(stores.Batch{Settled: []stores.Settlement{settle(run, stores.JobDone, noon)}, Changes: []stores.Change{remove(w.request, id("request", 99))}})
		if err == nil {
			t.Error("a row that is not there was deleted")
		}
		w.wantState("a", stores.JobRunning, 1)
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{settle(run, stores.JobDone, noon.Add(time.Second))}, Changes: []stores.Change{w.effect(1, "effect")}}))
		w.wantState("a", stores.JobDone, 1)
		if r := w.record("a"); !r.Ended.Equal(noon.Add(time.Second)) || w.notes(1) != "effect" {
			t.Errorf("ended %s, notes %q", r.Ended, w.notes(1))
		}
		w.wantTaken(w.take(noon.Add(time.Hour), 5))
	}},
	{"a run that was rescued settles nothing", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.enqueue(job("a", noon))
		zombie := w.take(noon, 1)[0]
		late := func(when string) {
			t.Helper()
			err := w.batch(stores.Batch{Settled: []stores.Settlement{settle(zombie, stores.JobDone, noon)}, Changes: []stores.Change{w.effect(1, "zombie")}})
			if !errors.Is(err, stores.ErrFenced) || errors.Is(err, stores.ErrConflict) {
				t.Errorf("%s: %v", when, err)
			}
			if w.notes(1) == "zombie" {
				t.Errorf("%s: its effect was committed", when)
			}
		}
		rescued, err := w.rescue(noon.Add(time.Minute), time.Minute)
		w.must(err)
		w.wantTaken(rescued) // not older than that
		rescued, err = w.rescue(noon.Add(time.Minute+time.Microsecond), time.Minute)
		w.must(err)
		w.wantTaken(rescued, "a")
		if r := w.record("a"); r.State != stores.JobWaiting || r.Note != stores.NoteRescued {
			t.Errorf("%+v", r)
		}
		late("waiting again")
		second := w.take(noon.Add(2*time.Minute), 1)
		w.wantTaken(second, "a")
		late("with another worker")
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{settle(second[0], stores.JobDone, noon)}, Changes: []stores.Change{w.effect(1, "second")}}))
		late("done")
		w.wantState("a", stores.JobDone, 2)
		// Finished jobs stay finished.
		rescued, err = w.rescue(noon.Add(24*time.Hour), time.Minute)
		w.must(err)
		w.wantTaken(rescued)
		w.wantState("a", stores.JobDone, 2)
		if w.notes(1) != "second" {
			t.Errorf("notes %q", w.notes(1))
		}
	}},
	{"completion and rescue race, and one of them wins", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for n := range 12 {
			name := fmt.Sprint("j", n)
			w.enqueue(job(name, noon))
			run := w.take(noon, 1)[0]
			var wg sync.WaitGroup
			var settled, rescue error
			wg.Go(func() {
				settled = w.batch(stores.Batch{Settled: []stores.Settlement{settle(run, stores.JobDone, noon)}, Changes: []stores.Change{w.effect(1, name)}})
			})
			wg.Go(func() { _, rescue = w.rescue(noon.Add(time.Hour), time.Minute) })
			wg.Wait()
			w.must(rescue)
			switch r := w.record(name); {
			case settled == nil && r.State == stores.JobDone && w.notes(1) == name:
			case errors.Is(settled, stores.ErrFenced) && r.State == stores.JobWaiting && w.notes(1) != name:
				w.drop(name)
			default:
				t.Fatalf("%s is %s, the settlement says %v, the row %q", name, r.State, settled, w.notes(1))
			}
		}
	}},
	{"what a worker says of a job that was taken from it changes nothing", func(t *testing.T, open Open) {
		for name, says := range map[string]*stores.Unfinished{"failed": {After: time.Hour, Note: "failed"}, "dead": {State: stores.JobDead, Note: "dead"},
			"does not count": {Free: true, After: time.Hour, Note: "stays"}, "done": nil} {
			w := newWorld(t, open)
			w.enqueue(job("a", noon))
			begun, go_on, ended := make(chan stores.Run), make(chan struct{}), make(chan error, 1)
			s := shift(noon, func(_ context.Context, r stores.Run) error {
				begun <- r
				<-go_on
				if says == nil {
					return nil
				}
				return says
			})
			ctx, stop := context.WithCancel(context.Background())
			go func() { ended <- w.Work(ctx, s) }()
			<-begun
			stop()
			_, err := w.rescue(noon.Add(time.Hour), time.Minute)
			w.must(err)
			w.wantTaken(w.take(noon.Add(time.Hour), 1), "a")
			close(go_on)
			if err := <-ended; err != nil {
				t.Error(name, err)
			}
			if r := w.record("a"); r.State != stores.JobRunning || r.Attempt != 2 || r.Note != stores.NoteRescued {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}},
	{"what a run did not finish is tried again, given up or left, as it says", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		last := job("last", noon)
		last.Attempts = 1
		w.enqueue(job("fails", noon), job("stays", noon), job("dies", noon), last)
		says := map[string]error{"fails": &stores.Unfinished{After: time.Minute, Note: "no answer"}, "last": &stores.Unfinished{After: time.Minute, Note: "no answer"},
			"stays": &stores.Unfinished{Free: true, After: time.Minute, Note: "another version"}, "dies": &stores.Unfinished{State: stores.JobDead, Note: "never"}}
		at := noon
		once := func() {
			t.Helper()
			s := shift(at, func(_ context.Context, r stores.Run) error { return says[r.ID] })
			s.Once = true
			w.must(w.Work(ctx, s))
		}
		want := func(id string, state stores.JobState, left int, note string, at time.Time) {
			t.Helper()
			r := w.record(id)
			if r.State != state || r.Tries()-r.Attempt != left || r.Note != note || state == stores.JobWaiting && !r.At.Equal(at) {
				t.Errorf("%+v", r)
			}
		}
		once()
		want("fails", stores.JobWaiting, 11, "no answer", noon.Add(time.Minute))
		want("stays", stores.JobWaiting, 12, "another version", noon.Add(time.Minute))
		want("dies", stores.JobDead, 11, "never", noon)
		want("last", stores.JobDead, 0, "no answer", noon)
		if tried, err := w.Jobs(ctx, stores.JobFilter{Tried: true}); err != nil || len(tried) != 4 {
			t.Errorf("%d of 4 jobs were tried, %v", len(tried), err)
		}
		at = noon.Add(time.Minute)
		says["stays"] = errors.New("a fault")
		once()
		want("fails", stores.JobWaiting, 10, "no answer", at.Add(time.Minute))
		want("stays", stores.JobWaiting, 11, "system-failure", at.Add(time.Minute))
	}},
	{"a run that failed is tried again, later", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.enqueue(job("a", noon))
		again := settle(w.take(noon, 1)[0], stores.JobWaiting, noon.Add(time.Minute))
		again.Note = "channel-failed: it does not answer"
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{again}}))
		w.wantTaken(w.take(noon.Add(59*time.Second), 1))
		if r := w.record("a"); r.Note != again.Note || !r.At.Equal(noon.Add(time.Minute)) || !r.Ended.IsZero() {
			t.Errorf("%+v", r)
		}
		runs := w.take(noon.Add(time.Minute), 1)
		w.wantTaken(runs, "a")
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{settle(runs[0], stores.JobDone, noon)}}))
		if r := w.record("a"); r.State != stores.JobDone || r.Attempt != 2 || r.Note != again.Note {
			t.Errorf("%+v", r)
		}
	}},
	{"jobs are counted by state, with the time of the oldest that failed", func(t *testing.T, open Open) { // G82
		w := newWorld(t, open)
		w.enqueue(job("late", noon.Add(-time.Hour)), job("failing", noon), job("dead", noon), job("done", noon), job("future", noon.Add(24*time.Hour)))
		for _, run := range w.take(noon, 4, "call") {
			end := settle(run, stores.JobDone, noon)
			switch run.ID {
			case "late":
				continue // it runs
			case "failing":
				end = settle(run, stores.JobWaiting, noon.Add(time.Minute))
				end.Note = "refused"
			case "dead":
				end = settle(run, stores.JobDead, noon)
			}
			w.must(w.batch(stores.Batch{Settled: []stores.Settlement{end}}))
		}
		c, err := w.CountJobs(context.Background())
		w.must(err)
		if c.Waiting != 2 || c.Running != 1 || c.Dead != 1 || !c.Due.Equal(noon.Add(time.Minute)) || !c.Failing.Equal(w.record("failing").Created) {
			t.Errorf("%+v", c)
		}
	}},
	{"a job that kills its workers is given up, and holds up no other", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		poison := job("poison", noon.Add(-time.Hour))
		poison.Attempts = 3
		w.enqueue(poison, job("good", noon))
		now := noon
		for attempt := 1; attempt <= 3; attempt++ {
			w.wantTaken(w.take(now, 1, "call"), "poison")
			if attempt == 1 {
				w.wantTaken(w.take(now, 1), "good")
			}
			now = now.Add(time.Hour)
			_, err := w.rescue(now, 30*time.Minute)
			w.must(err)
			if attempt == 1 { // good's worker died as well
				w.wantState("good", stores.JobWaiting, 1)
				w.drop("good")
			}
		}
		w.wantState("poison", stores.JobDead, 3)
		if r := w.record("poison"); r.Note != stores.NoteRescued || !r.Ended.Equal(now) {
			t.Errorf("%+v", r)
		}
		w.wantTaken(w.take(now.Add(time.Hour), 5))
	}},
	{"a run that does not count leaves the attempts there are", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		j := job("a", noon)
		j.Attempts = 1
		w.enqueue(j)
		for n := 1; n <= 3; n++ {
			free := settle(w.take(noon, 1)[0], stores.JobWaiting, noon)
			free.Free = true
			w.must(w.batch(stores.Batch{Settled: []stores.Settlement{free}}))
			w.wantState("a", stores.JobWaiting, n)
		}
		w.wantTaken(w.take(noon, 1), "a")
		_, err := w.rescue(noon.Add(time.Hour), time.Minute)
		w.must(err)
		w.wantState("a", stores.JobDead, 4)
	}},
	{"of a correlation key one job is waiting or running", func(t *testing.T, open Open) {
		// OB15
		w := newWorld(t, open)
		with := func(id, kind, key string) stores.Job {
			j := job(id, noon)
			j.Kind, j.Unique = kind, key
			return j
		}
		w.enqueue(with("a", "call", "k"), with("b", "call", "k"), with("c", "notice", "k"), with("d", "call", "other"), with("e", "call", ""), with("f", "call", ""))
		w.enqueue(with("g", "call", "k"))
		runs := w.take(noon, 9)
		w.wantTaken(runs, "a", "c", "d", "e", "f")
		w.enqueue(with("h", "call", "k"))
		w.wantTaken(w.take(noon, 9))
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{settle(runs[0], stores.JobDead, noon)}}))
		w.enqueue(with("i", "call", "k"))
		w.wantTaken(w.take(noon, 9), "i")
		var waiting []string
		ofKey, err := w.Jobs(context.Background(), stores.JobFilter{Kinds: []string{"call"}, Unique: "k"})
		w.must(err)
		w.must(w.Update(context.Background(), everything, func(tx stores.Tx) error { // they can be asked for with rows
			asks := []stores.Ask{{Jobs: &stores.JobFilter{Kinds: []string{"call"}, Unique: "k"}}, {Entity: w.cbu, Keys: []stores.Value{id("cbu", 1)}}}
			err := tx.Together(context.Background(), asks)
			if !reflect.DeepEqual(asks[0].Listed, ofKey) || len(asks[1].Rows) != 1 {
				t.Errorf("together %+v, alone %+v", asks[0].Listed, ofKey)
			}
			return err
		}))
		for _, r := range ofKey {
			waiting = append(waiting, r.ID)
		}
		if !slices.Equal(waiting, []string{"i"}) {
			t.Errorf("of the key are %q", waiting)
		}
		if err := w.changeJob("a", stores.JobChange{}); !errors.Is(err, stores.ErrDuplicate) {
			t.Errorf("a second job of the key: %v", err)
		}
	}},
	{"of a correlation key the latest job, or the first, as the later one says", func(t *testing.T, open Open) {
		// OB15
		w := newWorld(t, open)
		with := func(id string, at time.Time, again stores.Again) stores.Job {
			j := job(id, at)
			j.Unique, j.Again = "k", again
			return j
		}
		has := func(want ...string) {
			t.Helper()
			records, err := w.Jobs(context.Background(), stores.JobFilter{Kinds: []string{"call"}, Unique: "k"})
			w.must(err)
			var got []string
			for _, r := range records {
				got = append(got, r.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("of the key are %q, want %q", got, want)
			}
		}
		unlike := with("unlike", noon, stores.ReplaceOther)
		unlike.Kind = "notice"
		w.enqueue(unlike, with("a", noon.Add(time.Hour), stores.RefuseAnother))
		has("a")
		w.enqueue(with("kept-out", noon, stores.KeepOther))
		has("a")
		w.enqueue(with("b", noon, stores.ReplaceOther))
		has("b")
		err := w.batch(stores.Batch{Jobs: []stores.Job{with("c", noon, stores.RefuseAnother)}, Changes: []stores.Change{w.effect(1, "refused")}})
		if !errors.Is(err, stores.ErrDuplicate) || w.notes(1) == "refused" {
			t.Errorf("%v, notes %q", err, w.notes(1))
		}
		// A running job is not taken from its worker.
		runs := w.take(noon, 9)
		w.wantTaken(runs, "unlike", "b")
		if err := w.batch(stores.Batch{Jobs: []stores.Job{with("d", noon, stores.ReplaceOther)}}); !errors.Is(err, stores.ErrConflict) {
			t.Error(err)
		}
		has("b")
		// But its transaction may enqueue the next job with the same key.
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{settle(runs[1], stores.JobDone, noon)}, Jobs: []stores.Job{with("e", noon, stores.KeepOther)}}))
		has("e")
		w.must(w.batch(stores.Batch{Jobs: []stores.Job{with("f", noon, stores.ReplaceOther), with("g", noon, stores.ReplaceOther)}}))
		has("g")
		// A dropped job frees its key for one that refuses another.
		w.must(w.batch(stores.Batch{JobChanges: []stores.JobChange{{ID: "g", Drop: true}}, Jobs: []stores.Job{with("i", noon, stores.RefuseAnother)}}))
		has("i")
		for name, spoil := range map[string]func(*stores.Job){"no key": func(j *stores.Job) { j.Unique = "" }, "nothing known": func(j *stores.Job) { j.Again = 9 }} {
			j := with("h", noon, stores.ReplaceOther)
			spoil(&j)
			if err := w.batch(stores.Batch{Jobs: []stores.Job{j}}); !errors.Is(err, stores.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}},
	{"no two jobs have one id", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.enqueue(job("a", noon))
		if err := w.batch(stores.Batch{Jobs: []stores.Job{job("a", noon)}, Changes: []stores.Change{w.effect(1, "again")}}); !errors.Is(err, stores.ErrDuplicate) {
			t.Error(err)
		}
		if w.notes(1) == "again" {
			t.Error("the rest of the batch was committed")
		}
	}},
	{"what is no job is refused", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for name, spoil := range map[string]func(*stores.Job){
			"no id":                     func(j *stores.Job) { j.ID = "" },
			"no kind":                   func(j *stores.Job) { j.Kind = "" },
			"no time":                   func(j *stores.Job) { j.At = time.Time{} },
			"no payload":                func(j *stores.Job) { j.Payload = "" },
			"a payload that is a list":  func(j *stores.Job) { j.Payload = "[]" },
			"a payload not canonical":   func(j *stores.Job) { j.Payload = `{"b":1,"a":2}` },
			"a payload that is no JSON": func(j *stores.Job) { j.Payload = `{"a":` },
			"attempts below nothing":    func(j *stores.Job) { j.Attempts = -1 },
			"a zero byte":               func(j *stores.Job) { j.Principal = "a\x00" },
			"text that is not UTF-8":    func(j *stores.Job) { j.Unique = "\xff" },
		} {
			j := job("a", noon)
			spoil(&j)
			if err := w.batch(stores.Batch{Jobs: []stores.Job{j}}); !errors.Is(err, stores.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		w.enqueue(job("a", noon))
		run := w.take(noon, 1)[0]
		for name, s := range map[string]stores.Settlement{
			"running": settle(run, stores.JobRunning, noon), "no time": settle(run, stores.JobDone, time.Time{}), "no run": settle(stores.Run{}, stores.JobDone, noon),
		} {
			if err := w.batch(stores.Batch{Settled: []stores.Settlement{s}}); !errors.Is(err, stores.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}},
	{"jobs are listed, retried, dropped and forgotten", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		w.enqueue(job("dead", noon), job("done", noon), job("running", noon), job("waiting", noon.Add(time.Hour)))
		runs := w.take(noon, 3)
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{settle(runs[0], stores.JobDead, noon), settle(runs[1], stores.JobDone, noon)}}))
		list := func(f stores.JobFilter, want ...string) {
			t.Helper()
			records, err := w.Jobs(ctx, f)
			w.must(err)
			var got []string
			for _, r := range records {
				got = append(got, r.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: %q, want %q", f, got, want)
			}
		}
		list(stores.JobFilter{}, "dead", "done", "running", "waiting")
		list(stores.JobFilter{Limit: 2}, "dead", "done")
		list(stores.JobFilter{States: []stores.JobState{stores.JobDead, stores.JobRunning}}, "dead", "running")
		list(stores.JobFilter{IDs: []string{"done", "nobody"}}, "done")
		list(stores.JobFilter{Kinds: []string{"notice"}})
		list(stores.JobFilter{Tried: true}, "dead", "done", "running")
		for _, id := range []string{"done", "running", "nobody"} {
			if err := w.changeJob(id, stores.JobChange{}); !errors.Is(err, stores.ErrConflict) {
				t.Errorf("retry %s: %v", id, err)
			}
			if err := w.changeJob(id, stores.JobChange{Drop: true}); !errors.Is(err, stores.ErrConflict) {
				t.Errorf("drop %s: %v", id, err)
			}
		}
		// A dead job that is tried again has one attempt at least.
		w.must(w.changeJob("dead", stores.JobChange{At: noon.Add(time.Minute)}))
		w.must(w.changeJob("waiting", stores.JobChange{At: noon.Add(time.Minute)}))
		w.wantTaken(w.take(noon, 5))
		w.wantTaken(w.take(noon.Add(time.Minute), 5), "dead", "waiting")
		w.wantState("dead", stores.JobRunning, 2)
		_, err := w.tidy(noon.Add(time.Hour), 1000*time.Hour, time.Hour)
		w.must(err)
		list(stores.JobFilter{States: []stores.JobState{stores.JobDone}}, "done")
		_, err = w.tidy(noon.Add(time.Hour+time.Microsecond), 1000*time.Hour, time.Hour)
		w.must(err)
		list(stores.JobFilter{States: []stores.JobState{stores.JobDone}})
		w.enqueue(job("spare", noon))
		w.drop("spare")
		list(stores.JobFilter{IDs: []string{"spare"}})

		// What is remembered of a job that is done can be dropped; no other job goes that way. Jobs are found by
		// a text in their payload, also by one that JSON writes with escapes.
		quoted := job("sent", noon)
		quoted.Payload = stores.NewObject([]string{"body"}, []stores.Value{stores.NewString("Zoë \"Z\" <z@client.example>")}).Text()
		w.enqueue(quoted)
		for _, text := range []string{"Zoë \"Z\"", "z@client.example>", "Zoë"} {
			list(stores.JobFilter{Holds: text}, "sent")
		}
		list(stores.JobFilter{Holds: "Zora"})
		refused := func() {
			t.Helper()
			if err := w.changeJob("sent", stores.JobChange{Drop: true, Done: true}); !errors.Is(err, stores.ErrConflict) {
				t.Errorf("a job that is not done is dropped as done: %v", err)
			}
		}
		refused()
		runs = w.take(noon.Add(2*time.Hour), 1)
		refused()
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{settle(runs[0], stores.JobDone, noon.Add(2*time.Hour))}}))
		w.must(w.changeJob("sent", stores.JobChange{Drop: true, Done: true}))
		list(stores.JobFilter{IDs: []string{"sent"}})
	}},
	{"what is ahead of a run is of its kind, about one thing with it, older and not ended", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		about := func(id, kind, payload string) stores.Job {
			return stores.Job{ID: id, Kind: kind, Payload: payload, At: noon}
		}
		w.enqueue(about("done", "notice", `{"about":["a"]}`), about("running", "notice", `{"about":["a","b"]}`), about("other", "notice", `{"about":["c"]}`), about("of nothing", "notice", `{}`),
			about("this", "notice", `{"about":["b","d","a"]}`), about("kind", "call", `{"about":["a"]}`), about("younger", "notice", `{"about":["a"]}`))
		runs := w.take(noon, 5, "notice")
		w.wantTaken(runs, "done", "running", "other", "of nothing", "this")
		tried := settle(runs[1], stores.JobWaiting, noon.Add(time.Hour)) // it stays ahead while it waits, whatever its time
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{settle(runs[0], stores.JobDone, noon), tried}}))
		for i, want := range [][]string{4: {"running"}, 3: nil, 2: nil} {
			records, err := w.Jobs(context.Background(), stores.JobFilter{Ahead: &runs[i]})
			w.must(err)
			var got []string
			for _, r := range records {
				got = append(got, r.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q is ahead, want %q", runs[i].ID, got, want)
			}
		}
	}},
	{"a job is tried again or dropped with the rest of its transaction, as it was seen", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		w.enqueue(job("a", noon), job("b", noon))
		fails := remove(w.request, id("request", 99))
		for _, c := range []stores.JobChange{{ID: "a", Drop: true}, {ID: "a", At: noon.Add(time.Hour)}} {
			if err := w.batch(stores.Batch{JobChanges: []stores.JobChange{c}, Changes: []stores.Change{fails}}); err == nil {
				t.Error("a row that is not there was deleted")
			}
			w.wantState("a", stores.JobWaiting, 0)
		}
		if r := w.record("a"); !r.At.Equal(noon) {
			t.Errorf("it waits for %s", r.At)
		}
		// A caller who saw it before it ran cannot change it afterwards.
		run := w.take(noon, 1)[0]
		w.must(w.batch(stores.Batch{Settled: []stores.Settlement{settle(run, stores.JobDead, noon)}}))
		for _, c := range []stores.JobChange{{ID: "a", Drop: true}, {ID: "a", At: noon}} {
			if err := w.batch(stores.Batch{JobChanges: []stores.JobChange{c}, Changes: []stores.Change{w.effect(1, "stale")}}); !errors.Is(err, stores.ErrConflict) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if w.notes(1) == "stale" {
			t.Error("the rest of the batch was committed")
		}
		w.wantState("a", stores.JobDead, 1)
		for name, c := range map[string]stores.JobChange{"no job": {Drop: true}, "no time": {ID: "a"}, "before the first attempt": {ID: "a", Attempt: -1, Drop: true}} {
			if err := w.batch(stores.Batch{JobChanges: []stores.JobChange{c}}); !errors.Is(err, stores.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		// A transaction sees its own changes of jobs.
		w.must(w.Update(ctx, everything, func(tx stores.Tx) error {
			w.must(tx.Apply(ctx, stores.Batch{JobChanges: []stores.JobChange{{ID: "a", Attempt: 1, Drop: true}}, Changes: []stores.Change{w.effect(1, "with it")}}))
			records, err := tx.Jobs(ctx, stores.JobFilter{})
			if err == nil && (len(records) != 1 || records[0].ID != "b") {
				t.Errorf("%+v", records)
			}
			return err
		}))
		if w.notes(1) != "with it" {
			t.Error("what was done with it is missing")
		}
	}},
}
