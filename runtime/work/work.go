// Package work runs jobs: the work of triggers, notices on their way out, and
// confirmations that nobody decided in time. Any number of workers, in any number
// of processes, share one store.
//
//	w := &work.Worker{Engine: engine, Store: store, Name: "host-7 4711", Send: sender.Send}
//	err := w.Run(ctx)            // until ctx ends
//	counts, err := w.Once(ctx)    // what is due now, as cron would have it
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
// Notices about one row, that is those of calls which changed it, leave by one channel in the
// order of their commits: one waits until those before it were delivered or given up. Others
// overtake one another, and somebody who tries a dead notice again sends it after the rest.
//
// What fails is tried again after 5 s, 15 s, 45 s and so on, up to 6 h, give or
// take a fifth, 12 times in about a day. Then it is dead: it is kept until
// somebody looks at it. One that always fails holds up no other. A notice without a
// route, and a job of another version, is looked at again every ten minutes, and uses up
// no attempt.
//
// The store hands the jobs out: its own small table in a file, River on PostgreSQL,
// which looks every 30 seconds for what a lost worker left.
package work

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
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
	Name   string // of this worker and no other, for operators who look at what runs where
	// Send delivers a notice. Without it notices are left to other workers.
	Send func(context.Context, runtime.Message) error
	// Channel returns the channel of notices to a target, "" for none. A notice waits only for
	// earlier ones of the same channel. With nil, all have the same channel.
	Channel func(target string) string
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

// again is how long after a job stays it is looked at again.
const again = 10 * time.Minute

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

// Counts are how many runs had each outcome.
type Counts map[string]int

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
	mu     sync.Mutex // of Report and counts
	counts Counts
}

// Run works until ctx ends, and then waits for what it has begun. It returns an
// error only where the store cannot be asked for work at all from the beginning;
// what goes wrong later is reported, and tried again.
func (w *Worker) Run(ctx context.Context) error {
	_, err := w.work(ctx, false)
	return err
}

// Once runs what is due now, and what comes of it that is due at once, and
// returns when nothing more is. What fails waits for the next time.
func (w *Worker) Once(ctx context.Context) (Counts, error) { return w.work(ctx, true) }

func (w *Worker) work(ctx context.Context, once bool) (Counts, error) {
	s := &shift{Worker: w.defaults(), counts: Counts{}}
	if once {
		_ = s.embed(ctx) // it was reported; what else is due is done
	} else if s.Engine.Embeds() {
		beside, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() { defer close(done); s.embeds(beside) }()
		defer func() { stop(); <-done }()
	}
	err := s.Store.Work(ctx, stores.Shift{Worker: s.Name, Kinds: s.kinds(), Run: s.one, Lost: s.lost, Once: once, Clock: s.Clock,
		Concurrency: s.Concurrency, Timeout: s.Timeout, Poll: s.Poll, Drain: s.Drain, Kept: Kept,
		Away: func(err error) { s.report(Event{Outcome: Failed, Reason: "store-unavailable", Err: err}) }})
	return s.counts, err
}

// lost reports what another worker left.
func (s *shift) lost(run stores.Run) {
	e := Event{Outcome: Rescued, Job: run.Job, Attempt: run.Attempt, Reason: stores.NoteRescued}
	if run.Attempt >= run.Tries() {
		e.Outcome = Dead
	}
	s.report(e)
}

func (s *shift) report(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[e.Outcome]++
	if s.Report != nil {
		s.Report(e)
	}
}

// one carries out one run, whatever becomes of it.
func (s *shift) one(ctx context.Context, run stores.Run) error {
	e := Event{Job: run.Job, Attempt: run.Attempt}
	var err error
	if run.Kind == runtime.JobNotice {
		err = s.deliver(ctx, run, &e)
	} else {
		err = s.call(ctx, run, &e)
	}
	var left *stores.Unfinished
	if err != nil {
		left = s.fail(ctx, run, &e, err)
	}
	s.report(e)
	if left == nil {
		return nil
	}
	return left
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
	e.What, m.Attempt = m.Target, run.Attempt
	if len(m.About) > 0 {
		if err := s.inOrder(ctx, run, m.Target); err != nil {
			return err
		}
	}
	if err := s.Send(ctx, m); err != nil {
		return err
	}
	e.Outcome = Delivered
	return s.delivered(ctx, run, e)
}

// inOrder waits for the notices before one: those about the same row, by the same channel, that
// were neither delivered nor given up. While such a notice waits to be tried again, this one does
// too, so that whoever gets them never hears of the end of something before its beginning.
func (s *shift) inOrder(ctx context.Context, run stores.Run, target string) error {
	var wait time.Duration
	for range 200 { // five seconds; then the worker has its hands free for others
		all, err := s.Store.Jobs(ctx, stores.JobFilter{Ahead: &run})
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(j stores.JobRecord) bool {
			m, err := runtime.ReadMessage(&j.Job)
			return err != nil || strings.HasPrefix(j.Note, notify.CodeNoRoute) || s.Channel != nil && (s.Channel(target) == "" || s.Channel(m.Target) != s.Channel(target))
		})
		if len(all) == 0 {
			return nil
		}
		now, err := s.now(ctx)
		if err != nil {
			return err
		}
		if wait = all[0].At.Sub(now); wait > 0 { // and then it is handed out first
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
	return &early{max(wait, time.Second)}
}

// early says that a notice has to wait for another.
type early struct{ after time.Duration }

func (*early) Error() string { return "earlier-notice" }

var errPanicked = errors.New("it panicked")

// fail says why a run failed, and when it is tried again.
func (s *shift) fail(ctx context.Context, run stores.Run, e *Event, err error) *stores.Unfinished {
	e.Err, e.Outcome = err, Failed
	var channel *notify.Error
	var promise *runtime.BrokenPromise
	var early *early
	left := &stores.Unfinished{State: stores.JobWaiting, After: Backoff(s.Engine.Retry(run), run.Attempt, s.Spread())}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		// The worker was stopped; the job is none the worse for it.
		e.Outcome, e.Reason, left.Free, left.After = Released, "worker-stopped", true, 0
	case errors.As(err, &early):
		e.Outcome, e.Reason, left.Free, left.After = runtime.WorkWaiting, early.Error(), true, early.after
	case errors.As(err, &channel):
		e.Reason = channel.Code
		if channel.Code == notify.CodeNoRoute {
			e.Outcome, left.Free, left.After = Stays, true, again
		}
		if channel.Permanent {
			e.Outcome, left.State = Dead, stores.JobDead
		}
		left.Note = channel.Error()
	case errors.Is(err, stores.ErrVersion):
		// No attempt is used up: a worker of that version carries it out.
		e.Outcome, e.Reason, left.Free, left.Note = Stays, "other-version", true, err.Error()
		left.After = again
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
	if left.Note == "" {
		left.Note = e.Reason
	}
	if left.State == stores.JobWaiting && !left.Free && run.Attempt >= run.Tries() {
		e.Outcome, left.State = Dead, stores.JobDead
	}
	if left.State == stores.JobWaiting {
		firm, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Timeout)
		defer cancel()
		if now, err := s.now(firm); err == nil {
			e.Again = now.Add(left.After)
		}
	}
	return left
}

func (s *shift) now(ctx context.Context) (time.Time, error) {
	if s.Clock != nil {
		return s.Clock(), nil
	}
	return s.Store.Clock(ctx)
}

// delivered ends a run of which the engine does not know.
func (s *shift) delivered(ctx context.Context, run stores.Run, e *Event) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Timeout)
	defer cancel()
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	end := stores.Settlement{Run: run, State: stores.JobDone, At: now}
	for range 4 {
		err = s.Store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Settled: []stores.Settlement{end}})
		})
		if !errors.Is(err, stores.ErrConflict) {
			break
		}
	}
	if errors.Is(err, stores.ErrFenced) {
		e.Outcome = runtime.WorkFenced
		return nil
	}
	return err
}

// Backoff is how long after attempt n something is tried again, give or take a fifth.
// spread is in [0, 1).
func Backoff(r stores.Retry, n int, spread float64) time.Duration {
	return time.Duration(float64(r.Wait(n)) * (0.8 + 0.4*spread))
}
