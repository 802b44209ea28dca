// Package worker runs jobs: calls of triggers, notices to be delivered, and the expiry of
// confirmations. Any number of workers, in any number of processes, share one store.
//
//	w := &worker.Worker{Engine: engine, Store: store, Name: "host-7 4711", Send: sender.Send}
//	err := w.Run(ctx)            // until ctx ends
//	counts, err := w.Once(ctx)    // what is due now, as cron would have it
//
// # What is promised
//
// A job exists if and only if the transaction that enqueued it was committed. It is run at least
// once and takes effect once: its effect, its journal entries and its completion are one
// transaction, which is fenced on the attempt. A notice is sent at least once, with the same id
// each time.
//
// Nothing is run before its time, by the store's clock, which all machines share. Jobs that fell due
// while no worker ran are run in the order in which they fell due.
//
// A run has a Timeout. If a run is older than twice that, its worker died or hangs: the job is taken
// from it and tried again, and the store refuses what that worker still does. An event reports this;
// it is the alarm.
//
// Notices about one row, sent for calls that changed it, leave by one channel in the order of their
// commits: a notice waits until those before it were delivered or given up. Other notices may
// overtake one another, and an operator who retries a dead notice sends it after the rest.
//
// A failed job is tried again after 5 s, 15 s, 45 s and so on, up to 6 h, give or take a fifth, 12
// times in about a day. Then it is dead, and kept until somebody looks at it. A job that always
// fails delays no other. A notice without a route, and a job of another version, is tried again
// every ten minutes and uses up no attempt.
//
// A provider that does not answer delays no other: its notices, and the calls that ask a tool of its, have
// at most half of the workers; the steps of all plans together have half, too. After three failures in a
// row they wait, and notices use up no attempt on their first day; one of them is tried after half a
// minute, and then ever more rarely, up to every ten minutes, until one is answered. What waits for a
// provider that is gone is bounded: each job has its attempts, and then it is dead.
//
// The store hands the jobs out: from a small table of its own in SQLite, by River on PostgreSQL,
// which looks every 30 seconds for jobs that a lost worker left.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/notify"
	"verbatim/stores"
)

// A Worker takes jobs and carries them out. Set its fields before it is used, and do not change them
// afterwards.
type Worker struct {
	Engine *engine.Engine
	Store  stores.Store
	Name   string // unique, for operators who look at what runs where
	// Send delivers a notice. Without it notices are left to other workers.
	Send func(context.Context, engine.Message) error
	// Channel returns the channel of notices to a target, "" for none. A notice waits only for
	// earlier ones of the same channel. With nil, all have the same channel.
	Channel func(target string) string
	// Provider names what has to answer for a notice to leave, "" for nothing that could be silent: a
	// silent one delays the notices of no other. With nil, notices may delay one another.
	Provider func(engine.Message) string
	// Clock returns the time; nil is the store's own clock.
	Clock func() time.Time
	// Concurrency is the number of jobs that run at once; 0 means 4.
	Concurrency int
	// Timeout is how long a run may take; 0 means a minute.
	Timeout time.Duration
	// Poll is how long to wait when nothing is due; 0 means a second.
	Poll time.Duration
	// Drain is how long runs may go on once the context has ended; 0 means 10 seconds. Unfinished
	// runs are given back.
	Drain time.Duration
	// Spread returns a number in [0, 1), by which retries are spread; with nil they are not.
	Spread func() float64
	// Report is called with the outcome of each run, one call at a time. It may be nil.
	Report func(Event)
	// Up is called when a provider does not answer any more and when it does again. It may be nil.
	Up func(provider string, up bool)
}

// Kept is how long the store remembers a completed job. Dead jobs are kept until somebody drops
// them.
const Kept = 24 * time.Hour

// again is how long to wait before a job that Stays is tried again.
const again = 10 * time.Minute

// The outcomes of an Event, beside those of engine.Work….
const (
	Delivered = "delivered" // a notice
	Failed    = "failed"    // it will be tried again
	Stays     = "stays"     // a notice for which there is no route yet, or a job of another version
	Dead      = "dead"      // it was given up
	Rescued   = "rescued"   // its run was older than twice the timeout
	Released  = "released"  // the worker stopped before it was finished
)

// An Event reports the outcome of a run.
type Event struct {
	Outcome string
	Job     stores.Job
	Attempt int
	What    string // the verb, or the target of a notice
	Reason  string // code, without values
	Again   time.Time
	Seq     int64  // journal entry
	Pending string // ID of a confirmation
	Err     error  // the whole chain, for operators who ask for it
}

// Alarm reports whether somebody should look.
func (e *Event) Alarm() bool {
	switch e.Outcome {
	case Dead, Rescued, Stays, engine.WorkRefused:
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
	kinds := engine.JobKinds()
	if w.Send != nil {
		kinds = append(kinds, engine.JobNotice)
	}
	return kinds
}

// A shift is a running worker.
type shift struct {
	Worker
	mu     sync.Mutex // of Report and counts
	counts Counts
	lanes  *lanes // nil where everything is tried
}

// Run works until ctx ends, and then waits for the runs that it has begun. It returns an error only
// if the store cannot be asked for jobs at the beginning; later errors are reported, and it tries
// again.
func (w *Worker) Run(ctx context.Context) error {
	_, err := w.work(ctx, false)
	return err
}

// Once runs the jobs that are due now, and those that they schedule for now, and returns when none
// is left. Failed jobs wait for the next time.
func (w *Worker) Once(ctx context.Context) (Counts, error) { return w.work(ctx, true) }

func (w *Worker) work(ctx context.Context, once bool) (Counts, error) {
	s := &shift{Worker: w.defaults(), counts: Counts{}}
	if !once { // once, everything that is due is tried
		s.lanes = newLanes(s.Concurrency, s.Up)
	}
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

// lost reports a run that another worker left.
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

// one carries out one run and settles it.
func (s *shift) one(ctx context.Context, run stores.Run) error {
	e := Event{Job: run.Job, Attempt: run.Attempt}
	var err error
	if run.Kind == engine.JobNotice {
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

// call lets the engine carry out a run. A panic ends this run and no other.
func (s *shift) call(ctx context.Context, run stores.Run, e *Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanicked, p, debug.Stack())
		}
	}()
	h := nothing
	if asks := s.Engine.Asks(run); asks != "" && s.lanes != nil {
		lane := toolLane + asks
		if back := s.lanes.enter(lane, patience+1, time.Now()); back != nil {
			return back
		}
		defer func() { s.lanes.leave(lane, h, time.Now()) }()
	}
	done, err := s.Engine.Work(ctx, run)
	if h = heardOf(err); err == nil && done.Outcome != engine.WorkDone {
		h = nothing // it may not have been asked
	}
	e.What, e.Outcome, e.Reason, e.Seq, e.Pending = done.Verb, done.Outcome, done.Reason, done.Seq, done.Pending
	return err
}

// Plans is the provider of notices that have a plan go on: all plans together have one share, and are
// never left alone.
const Plans = "plans"

// toolLane begins the names of the lanes of servers of tools.
const toolLane = "tools of "

// deliver sends a notice, and then notes that it was sent: if the worker dies in between, the notice
// is sent again, with the same id.
func (s *shift) deliver(ctx context.Context, run stores.Run, e *Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanicked, p)
		}
	}()
	m, err := engine.ReadMessage(&run.Job)
	if errors.Is(err, stores.ErrVersion) {
		return err
	}
	if err != nil {
		return &notify.Error{Code: "unreadable-payload", Text: "it is no notice", Permanent: true}
	}
	e.What, m.Attempt = m.Target, run.Attempt
	h := nothing
	if lane := s.lane(m); lane != "" {
		now, err := s.now(ctx)
		if err != nil {
			return err
		}
		if back := s.lanes.enter(lane, now.Sub(m.Time), time.Now()); back != nil {
			return back
		}
		defer func() { s.lanes.leave(lane, h, time.Now()) }()
	}
	if len(m.About) > 0 {
		if err := s.inOrder(ctx, run, m.Target); err != nil {
			return err
		}
	}
	if err = s.Send(ctx, m); s.lane(m) != Plans { // of which one takes long where another does not
		h = heardOf(err)
	}
	if err != nil {
		return err
	}
	e.Outcome = Delivered
	return s.delivered(ctx, run, e)
}

// lane returns the provider that a notice takes a share for; "" if it takes none.
func (s *shift) lane(m engine.Message) string {
	if s.lanes == nil || s.Provider == nil {
		return ""
	}
	return s.Provider(m)
}

// inOrder waits for earlier notices about the same row, by the same channel, that were neither
// delivered nor given up. While such a notice waits for a retry, this one waits too, so that its
// receiver never hears of the end of something before its beginning.
func (s *shift) inOrder(ctx context.Context, run stores.Run, target string) error {
	var wait time.Duration
	for range 200 { // five seconds; then the worker is free for other jobs
		all, err := s.Store.Jobs(ctx, stores.JobFilter{Ahead: &run})
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(j stores.JobRecord) bool {
			m, err := engine.ReadMessage(&j.Job)
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
	return &putBack{reason: "earlier-notice", after: max(wait, time.Second)}
}

// A putBack is the error of a notice that has to wait: for another, or for its channel.
type putBack struct {
	reason string
	after  time.Duration
	spends bool // an attempt
}

func (p *putBack) Error() string { return p.reason }

var errPanicked = errors.New("it panicked")

// fail says why a run failed, and when the job is tried again.
func (s *shift) fail(ctx context.Context, run stores.Run, e *Event, err error) *stores.Unfinished {
	e.Err, e.Outcome = err, Failed
	var channel *notify.Error
	var promise *engine.BrokenPromise
	var refusal *engine.Refusal
	var back *putBack
	left := &stores.Unfinished{State: stores.JobWaiting, After: Backoff(s.Engine.Retry(run), run.Attempt, s.Spread())}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		// The worker was stopped; this does not count against the job.
		e.Outcome, e.Reason, left.Free, left.After = Released, "worker-stopped", true, 0
	case errors.As(err, &back):
		e.Outcome, e.Reason, left.Free = engine.WorkWaiting, back.reason, !back.spends
		if left.Free || left.After < back.after {
			left.After = back.after
		}
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
	case errors.As(err, &refusal):
		e.Reason = refusal.Diagnostics[0].Code // its tool does not answer
	case errors.As(err, &promise):
		e.Reason = "broken-promise"
	case errors.Is(err, errPanicked):
		e.Reason = "panicked"
	case errors.Is(err, stores.ErrUnknown):
		e.Reason = "commit-unknown" // if it was committed, later runs are fenced
	case errors.Is(err, stores.ErrConflict):
		e.Reason = "changed-meanwhile"
	default:
		e.Reason = cmp.Or(stores.TroubleCode(err), "system-failure")
	}
	left.Note = cmp.Or(left.Note, e.Reason)
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

// delivered settles a run that the engine does not know.
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
		e.Outcome = engine.WorkFenced
		return nil
	}
	return err
}

// Backoff returns how long to wait after attempt n, give or take a fifth. spread is in [0, 1).
func Backoff(r stores.Retry, n int, spread float64) time.Duration {
	return time.Duration(float64(r.Wait(n)) * (0.8 + 0.4*spread))
}
