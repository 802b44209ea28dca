// Package work runs jobs: the work of triggers, notices on their way out, and
// confirmations that nobody decided in time. Any number of workers, in any number
// of processes, share one store.
//
//	w := &work.Worker{Engine: engine, Store: store, Name: "host-7 4711", Send: sender.Send}
//	err := w.Run(ctx)            // until ctx ends
//	tally, err := w.Once(ctx)    // what is due now, as cron would have it
//
// # What is promised
//
// A job exists when the transaction that enqueued it was committed, and only then.
// It is run at least once, and what it commits, it commits once: its effect, its
// journal entries and its end are one transaction, which holds only while the job
// is still at this attempt. A notice leaves at least once, with one id.
//
// Nothing is run before its time, by the store's clock, which all machines share.
// What fell due while nobody worked is run in the order in which it fell due.
//
// A run has a Timeout. A job whose run is older than twice that is taken from its
// worker, which died or hangs, and tried again; whatever that worker still does is
// refused. An event says so, for that is the alarm.
//
// What fails is tried again after 5 s, 15 s, 45 s and so on, up to 6 h, give or
// take a fifth, 12 times in about a day. Then it is dead: it is kept until
// somebody looks at it. One that always fails holds up no other.
package work

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"verbatim/runtime"
	"verbatim/runtime/notify"
	"verbatim/stores"
)

// A Worker takes jobs and carries them out. Its fields are set before it is used
// and not after.
type Worker struct {
	Engine *runtime.Engine
	Store  stores.Store
	Name   string // of this worker, for whoever looks at what runs where
	// Send delivers a notice. Without it notices are left to other workers.
	Send func(context.Context, runtime.Message) error
	// Clock is what time it is; the store's own clock when nil.
	Clock func() time.Time
	// Concurrency is how many jobs are run at once; 4 when zero.
	Concurrency int
	// Timeout is how long a run may take; a minute when zero.
	Timeout time.Duration
	// Poll is how long to wait when nothing is due; a second when zero.
	Poll time.Duration
	// Drain is how long runs may go on once the context has ended; 10 seconds
	// when zero. What is not finished then is given back.
	Drain time.Duration
	// Spread gives a number in [0, 1), by which retries are spread; without it
	// they are not.
	Spread func() float64
	// Report is told what became of each run, one call at a time. It may be nil.
	Report func(Event)
}

// Kept is how long the store remembers a job that is done. The dead are kept
// until somebody drops them.
const Kept = 24 * time.Hour

// The outcomes of an Event, beside those of runtime.Work….
const (
	Delivered = "delivered" // a notice
	Failed    = "failed"    // it will be tried again
	Stays     = "stays"     // a notice for which there is no route yet, or a job of another version
	Dead      = "dead"      // it was given up
	Rescued   = "rescued"   // its run was older than twice the timeout
	Released  = "released"  // the worker stopped before it was finished
)

// An Event tells what became of a run.
type Event struct {
	Outcome string
	Job     stores.Job
	Attempt int
	What    string // the verb, or the target of a notice
	Reason  string // code, without anybody's values
	Again   time.Time
	Seq     int64  // journal entry
	Pending string // ID of a confirmation
	Err     error  // the whole chain, for operators who ask for it
}

// Alarm reports whether somebody should look.
func (e *Event) Alarm() bool {
	switch e.Outcome {
	case Dead, Rescued, Stays, runtime.WorkRefused:
		return true
	}
	return e.Reason == notify.CodeUnknown
}

// A Tally counts outcomes.
type Tally map[string]int

func (w *Worker) defaults() Worker {
	c := *w
	if c.Concurrency <= 0 {
		c.Concurrency = 4
	}
	if c.Timeout <= 0 {
		c.Timeout = time.Minute
	}
	if c.Poll <= 0 {
		c.Poll = time.Second
	}
	if c.Drain <= 0 {
		c.Drain = 10 * time.Second
	}
	if c.Spread == nil {
		c.Spread = func() float64 { return 0.5 }
	}
	return c
}

func (w *Worker) now() time.Time {
	if w.Clock != nil {
		return w.Clock()
	}
	return time.Time{} // the store's
}

// later is a moment after now.
func (w *Worker) later(ctx context.Context, d time.Duration) (time.Time, error) {
	now := w.now()
	if now.IsZero() {
		var err error
		if now, err = w.Store.Clock(ctx); err != nil {
			return now, err
		}
	}
	return now.Add(d), nil
}

func (w *Worker) kinds() []string {
	kinds := runtime.JobKinds()
	if w.Send != nil {
		kinds = append(kinds, runtime.JobNotice)
	}
	return kinds
}

// A shift is one worker at work.
type shift struct {
	Worker
	runs  context.Context // of runs: it outlives the one that stops the worker, by Drain
	mu    sync.Mutex      // of Report and tally
	tally Tally

	pruned time.Time // when what is done was last forgotten
}

// Run works until ctx ends, and then waits for what it has begun. It returns an
// error only where the store cannot be asked for work at all from the beginning;
// what goes wrong later is reported, and tried again.
func (w *Worker) Run(ctx context.Context) error {
	runs, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	s := &shift{Worker: w.defaults(), runs: runs, tally: Tally{}}
	var group sync.WaitGroup
	slots := make(chan struct{}, s.Concurrency)
	freed := make(chan struct{}, 1)
	defer func() {
		drained := make(chan struct{})
		go func() { group.Wait(); close(drained) }()
		timer := time.NewTimer(s.Drain)
		defer timer.Stop()
		select {
		case <-drained:
		case <-timer.C:
			stop()
			<-drained
		}
	}()
	first, away, lastRescue := true, false, time.Time{}
	for ctx.Err() == nil {
		if time.Since(lastRescue) >= s.Timeout/2 {
			lastRescue = time.Now()
			if err := s.rescue(ctx); err != nil && first {
				return err
			}
		}
		free := s.Concurrency - len(slots)
		taken, err := s.Store.Take(ctx, s.now(), s.Name, free, s.kinds()...)
		if err != nil && first && ctx.Err() == nil && !errors.Is(err, stores.ErrConflict) {
			return err
		}
		if gone := err != nil && ctx.Err() == nil && !errors.Is(err, stores.ErrConflict); gone != away {
			if away = gone; away {
				s.report(Event{Outcome: Failed, Reason: "store-unavailable", Err: err})
			}
		}
		first = false
		for _, run := range taken {
			slots <- struct{}{}
			group.Go(func() {
				defer func() {
					<-slots
					select {
					case freed <- struct{}{}:
					default:
					}
				}()
				s.one(run)
			})
		}
		if len(taken) > 0 && len(slots) < s.Concurrency {
			continue
		}
		wait := s.Poll
		if len(slots) == s.Concurrency {
			wait = time.Hour // nothing can be begun until a run ends
		}
		timer := time.NewTimer(min(wait, s.Timeout/2))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-freed:
		}
		timer.Stop()
	}
	return nil
}

// Once runs what is due now, and what comes of it that is due at once, and
// returns when nothing more is. What fails waits for the next time.
func (w *Worker) Once(ctx context.Context) (Tally, error) {
	s := &shift{Worker: w.defaults(), runs: ctx, tally: Tally{}}
	if err := s.rescue(ctx); err != nil {
		return s.tally, err
	}
	for ctx.Err() == nil {
		taken, err := s.Store.Take(ctx, s.now(), s.Name, s.Concurrency, s.kinds()...)
		if errors.Is(err, stores.ErrConflict) {
			continue // the store is busy, and was waited for
		}
		if err != nil || len(taken) == 0 {
			return s.tally, err
		}
		var group sync.WaitGroup
		for _, run := range taken {
			group.Go(func() { s.one(run) })
		}
		group.Wait()
	}
	return s.tally, ctx.Err()
}

// rescue gives back what other workers left.
func (s *shift) rescue(ctx context.Context) error {
	rescued, err := s.Store.Rescue(ctx, s.now(), 2*s.Timeout)
	for _, run := range rescued {
		e := Event{Outcome: Rescued, Job: run.Job, Attempt: run.Attempt, Reason: stores.NoteRescued}
		if run.Attempt >= run.Tries() {
			e.Outcome = Dead
		}
		s.report(e)
	}
	if err == nil && time.Since(s.pruned) > time.Hour {
		s.pruned = time.Now()
		var before time.Time
		if before, err = s.later(ctx, -Kept); err == nil {
			_, err = s.Store.Prune(ctx, before)
		}
	}
	if errors.Is(err, stores.ErrConflict) {
		return nil
	}
	return err
}

func (s *shift) report(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally[e.Outcome]++
	if s.Report != nil {
		s.Report(e)
	}
}

// one carries out one run, whatever becomes of it.
func (s *shift) one(run stores.Run) {
	ctx, cancel := context.WithTimeout(s.runs, s.Timeout)
	defer cancel()
	e := Event{Job: run.Job, Attempt: run.Attempt}
	var err error
	if run.Kind == runtime.JobNotice {
		err = s.deliver(ctx, run, &e)
	} else {
		err = s.call(ctx, run, &e)
	}
	if err != nil {
		s.fail(run, &e, err)
	}
	s.report(e)
}

// call lets the engine carry a run out. A panic ends this run and no other.
func (s *shift) call(ctx context.Context, run stores.Run, e *Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanicked, p, debug.Stack())
		}
	}()
	done, err := s.Engine.Work(ctx, run)
	e.What, e.Outcome, e.Reason, e.Seq, e.Pending = done.Verb, done.Outcome, done.Reason, done.Seq, done.Pending
	return err
}

// deliver sends a notice. That it was sent is noted afterwards: a worker that
// dies in between leaves it to be sent again, with the same id.
func (s *shift) deliver(ctx context.Context, run stores.Run, e *Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanicked, p)
		}
	}()
	m, err := runtime.ReadMessage(&run.Job)
	if errors.Is(err, stores.ErrVersion) {
		return err
	}
	if err != nil {
		return &notify.Error{Code: "unreadable-payload", Text: "it is no notice", Permanent: true}
	}
	e.What = m.Target
	if err := s.Send(ctx, m); err != nil {
		return err
	}
	e.Outcome = Delivered
	return s.settle(run, e, stores.Settlement{State: stores.JobDone})
}

var errPanicked = errors.New("it panicked")

// fail notes that a run failed, and when it is tried again.
func (s *shift) fail(run stores.Run, e *Event, err error) {
	e.Err, e.Outcome = err, Failed
	var channel *notify.Error
	var promise *runtime.BrokenPromise
	end := stores.Settlement{State: stores.JobWaiting}
	delay := Backoff(run.Attempt, s.Spread())
	switch {
	case s.runs.Err() != nil:
		// The worker was stopped; the job is none the worse for it.
		e.Outcome, e.Reason, end.Free, delay = Released, "worker-stopped", true, 0
	case errors.As(err, &channel):
		e.Reason = channel.Code
		if channel.Code == notify.CodeNoRoute {
			e.Outcome, end.Free = Stays, true
		}
		if channel.Permanent {
			e.Outcome, end.State = Dead, stores.JobDead
		}
		end.Note = channel.Error()
	case errors.Is(err, stores.ErrVersion):
		// No attempt is used up: a worker of that version carries it out.
		e.Outcome, e.Reason, end.Free, end.Note = Stays, "other-version", true, err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		e.Reason = "timed-out"
	case errors.As(err, &promise):
		e.Reason = "broken-promise"
	case errors.Is(err, errPanicked):
		e.Reason = "panicked"
	case errors.Is(err, stores.ErrUnknown):
		e.Reason = "commit-unknown" // when it was committed, what follows is fenced
	case errors.Is(err, stores.ErrConflict):
		e.Reason = "changed-meanwhile"
	default:
		e.Reason = "system-failure"
	}
	if end.Note == "" {
		end.Note = e.Reason
	}
	if end.State == stores.JobWaiting && !end.Free && run.Attempt >= run.Tries() {
		e.Outcome, end.State = Dead, stores.JobDead
	}
	if end.State == stores.JobDead {
		delay = 0
	}
	// A store that does not answer leaves the run to be rescued.
	firm, cancel := context.WithTimeout(context.WithoutCancel(s.runs), s.Timeout)
	defer cancel()
	at, lost := s.later(firm, delay)
	if lost == nil {
		end.At = at
		lost = s.settle(run, e, end)
	}
	if end.State == stores.JobWaiting && e.Outcome != runtime.WorkFenced {
		e.Again = at
	}
	if lost != nil {
		e.Err = errors.Join(err, lost)
	}
}

// settle ends a run of which the engine does not know.
func (s *shift) settle(run stores.Run, e *Event, end stores.Settlement) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.runs), s.Timeout)
	defer cancel()
	end.Run = run
	if end.At.IsZero() {
		var err error
		if end.At, err = s.later(ctx, 0); err != nil {
			return err
		}
	}
	var err error
	for range 4 {
		err = s.Store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Settled: []stores.Settlement{end}})
		})
		if !errors.Is(err, stores.ErrConflict) {
			break
		}
	}
	if errors.Is(err, stores.ErrFenced) {
		e.Outcome, e.Reason = runtime.WorkFenced, ""
		return nil
	}
	return err
}

// Backoff is how long after attempt n a job is tried again: 5 seconds times three
// for each attempt before, at most six hours, give or take a fifth. spread is in
// [0, 1).
func Backoff(n int, spread float64) time.Duration {
	const most = 6 * time.Hour
	d := 5 * time.Second
	for range n - 1 {
		if d *= 3; d >= most {
			d = most
			break
		}
	}
	return time.Duration(float64(d) * (0.8 + 0.4*spread))
}
