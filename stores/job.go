package stores

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// ErrFenced says that a run is already over: its job was taken from it, and given to another
// worker or given up. The transaction that would have settled the run commits nothing.
var ErrFenced = errors.New("the job is no longer this worker's")

// DefaultAttempts is how often a job is tried if it does not say.
const DefaultAttempts = 12

// A Retry says how often something is tried, and how long after each time it is tried
// again: First, and each wait after that Factor times as long, but no longer than Longest.
type Retry struct {
	Attempts       int
	First, Longest time.Duration
	Factor         int
}

// DefaultRetry is the Retry of a job without one.
func DefaultRetry() Retry {
	return Retry{Attempts: DefaultAttempts, First: 5 * time.Second, Longest: 6 * time.Hour, Factor: 3}
}

// Tries returns Attempts, 0 if r is nil.
func (r *Retry) Tries() int {
	if r == nil {
		return 0
	}
	return r.Attempts
}

// Wait returns how long to wait after attempt n, the first being 1.
func (r Retry) Wait(n int) time.Duration {
	d := min(r.First, r.Longest)
	for range n - 1 {
		if d >= r.Longest/time.Duration(max(1, r.Factor)) {
			return r.Longest
		}
		d *= time.Duration(r.Factor)
	}
	return d
}

// A Job is work to be done later, or now in the background. A Batch enqueues it, so it exists
// exactly when that transaction has committed. It is run at least once; the changes that it
// commits together with its Settlement are made exactly once.
type Job struct {
	ID       string    // stable, made by the caller; no other job ever has it
	Kind     string    // says which worker can carry it out: "call", "notice"
	Payload  string    // a JSON object in canonical form
	At       time.Time // not before
	Attempts int       // how often it is tried, at most; 0 is DefaultAttempts
	// Unique is a correlation key, or "". While a job of the same Kind and key is
	// waiting or running, Again says what becomes of another.
	Unique    string
	Again     Again
	Principal string // in whose name its effect happens
	Origins   string // where the values of the payload come from, as the engine spells it
}

// Again says what to do with a job whose correlation key another job has.
type Again uint8

// The values of Again.
const (
	// KeepOther adds no job.
	KeepOther Again = iota
	// ReplaceOther removes the other job if it is waiting. If it is running, the Batch fails with
	// ErrConflict, unless the Batch settles that run.
	ReplaceOther
	// RefuseAnother fails the Batch with ErrDuplicate.
	RefuseAnother
)

// Check returns an error that wraps ErrInvalid for a job that no store can keep. Backends call
// it.
func (j *Job) Check() error {
	for _, s := range [...]string{j.ID, j.Kind, j.Unique, j.Principal, j.Origins} {
		if !utf8.ValidString(s) || len(s) > 100_000 {
			return fmt.Errorf("a job with text that is not UTF-8, or too long: %w", ErrInvalid)
		}
		for i := range len(s) {
			if s[i] == 0 {
				return fmt.Errorf("a job with a zero byte in it: %w", ErrInvalid)
			}
		}
	}
	switch {
	case j.ID == "" || len(j.ID) > 200:
		return fmt.Errorf("a job without an id, or with a very long one: %w", ErrInvalid)
	case j.Kind == "" || len(j.Kind) > 100:
		return fmt.Errorf("a job without a kind, or with a very long one: %w", ErrInvalid)
	case j.At.IsZero() || j.At.Year() < minYear || j.At.Year() > maxYear:
		return fmt.Errorf("a job without a time: %w", ErrInvalid)
	case j.Again > RefuseAnother || j.Again != KeepOther && j.Unique == "":
		return fmt.Errorf("a job that another is to make way for has a key: %w", ErrInvalid)
	case j.Attempts < 0 || j.Attempts > 1000:
		return fmt.Errorf("a job is tried 1 to 1000 times: %w", ErrInvalid)
	}
	if len(j.Payload) == 0 || j.Payload[0] != '{' {
		return fmt.Errorf("the payload of a job is a JSON object: %w", ErrInvalid)
	}
	if v, err := ParseJSON(j.Payload); err != nil || v.Text() != j.Payload {
		return fmt.Errorf("the payload of a job is JSON in canonical form: %w", ErrInvalid)
	}
	return nil
}

// Tries returns Attempts, or DefaultAttempts if that is zero.
func (j *Job) Tries() int {
	if j.Attempts == 0 {
		return DefaultAttempts
	}
	return j.Attempts
}

// JobState is the state of a job.
type JobState uint8

// The states of a job.
const (
	JobWaiting JobState = iota // for its time, or for a worker
	JobRunning
	JobDone
	JobDead // given up: a person has to look at it
)

var jobStates = [...]string{"waiting", "running", "done", "dead"}

func (s JobState) String() string { return jobStates[s] }

// Read sets s to the state with a name, and reports whether there is one.
func (s *JobState) Read(name string) bool {
	for i, n := range jobStates {
		if n == name {
			*s = JobState(i)
			return true
		}
	}
	return false
}

// NoteRescued is the note of a job whose worker was lost.
const NoteRescued = "worker-lost"

// A Run is one attempt at a job, by one worker. Only Work makes one.
type Run struct {
	Job
	Attempt int // from 1; of one job, no two runs at a time have the same
	Started time.Time
	Ref     string // how the store finds the job again
}

// A Settlement ends a run. It is valid while the job is still at that run; otherwise the Batch
// fails with ErrFenced.
type Settlement struct {
	Run   Run
	State JobState // JobDone, JobDead, or JobWaiting to be tried again
	// At is when the run ended or, for JobWaiting, the earliest time of the next attempt.
	At time.Time
	// Free says that this run does not count among the attempts.
	Free bool
	Note string // why the job is not done, without anybody's values
}

// Check returns an error that wraps ErrInvalid for a settlement that no store can keep. Backends
// call it.
func (s *Settlement) Check() error {
	if s.State == JobRunning || int(s.State) >= len(jobStates) || s.Run.Ref == "" || s.Run.Attempt < 1 ||
		s.At.IsZero() || s.At.Year() < minYear || s.At.Year() > maxYear {
		return fmt.Errorf("a run is settled as done, dead or waiting, at a time: %w", ErrInvalid)
	}
	return nil
}

// A JobChange is what somebody wants done with a job that is dead or waiting. It is valid while
// the job is not running and is still at the attempt that they saw. Otherwise, or if the job is
// gone, the Batch fails with ErrConflict; it fails with ErrDuplicate if another job has taken its
// correlation key.
type JobChange struct {
	ID      string
	Attempt int  // the job's latest attempt that they saw, 0 if it never ran
	Drop    bool // remove it, for good; otherwise it is due At, for one more attempt at least
	// Done says that the job is done, and is dropped with what is remembered of it. Such a change is
	// valid only for a job that is done.
	Done bool
	At   time.Time
}

// Check returns an error that wraps ErrInvalid for a change that no store can keep. Backends call
// it.
func (c *JobChange) Check() error {
	if c.ID == "" || c.Attempt < 0 || c.Done && !c.Drop || !c.Drop && (c.At.IsZero() || c.At.Year() < minYear || c.At.Year() > maxYear) {
		return fmt.Errorf("a job is tried again at a time, or dropped: %w", ErrInvalid)
	}
	return nil
}

// A JobRecord is a job with its state and history.
type JobRecord struct {
	Job
	State   JobState
	Attempt int // of the latest run, 0 when there was none
	Created time.Time
	Started time.Time // of the latest run
	Ended   time.Time // when it was done or given up
	Worker  string    // of the latest run
	Note    string    // of the latest settlement that had one
}

// JobCounts say how much is to be done, and since when.
type JobCounts struct {
	Waiting, Running, Dead int
	Due                    time.Time // when the job fell due that is due longest; zero without a waiting job
	// Failing is when the oldest job was made that was tried and failed, and waits to be tried
	// again; zero without one. Each try moves the time at which a job is due.
	Failing time.Time
}

// A JobFilter picks jobs. Its zero value picks all.
type JobFilter struct {
	IDs    []string
	States []JobState
	Kinds  []string
	Unique string // jobs that wait or run under this correlation key of the one kind in Kinds; "" for any
	Tried  bool   // only those that were run at least once
	Holds  string // only those whose payload holds this text; "" for any
	// Ahead picks jobs of the kind of a run's job that wait or run, were enqueued before it and
	// concern the same thing: the lists "about" of both payloads share a text.
	Ahead *Run
	Limit int // 0 is the store's cap; further jobs are left out
}

// A Shift is one worker at work, beside others in any number of processes.
type Shift struct {
	Worker string   // no other worker that is at work has the same name
	Kinds  []string // kinds of jobs that it takes, at least one
	// Run carries out a run. It settles the run in the transaction of its effect and returns nil,
	// or it returns an Unfinished; after another error the job is tried again in a minute. If it
	// does neither, the worker counts as lost.
	Run func(context.Context, Run) error
	// Lost is called for each run that was taken from a lost worker, in one worker for each run.
	// No lock is held during the call.
	Lost func(Run)
	// Away is called once when the store can no longer be asked for work. It may be nil.
	Away func(error)
	// Once returns when nothing more is due, instead of when the context ends.
	Once bool
	// Clock replaces the store's clock, which is the same for every machine. It is nil except in
	// tests and rehearsals.
	Clock       func() time.Time
	Concurrency int           // how many runs at once
	Timeout     time.Duration // of a run; one twice as old is lost
	Poll        time.Duration // how long to wait when nothing is due
	Drain       time.Duration // how long runs may continue after the context has ended
	Kept        time.Duration // how long finished jobs are kept; dead jobs stay
}

// An Unfinished is the error of a run that did not settle its job. The store settles the job,
// unless another worker has it by then.
type Unfinished struct {
	State JobState // JobDead, or JobWaiting to be tried again; a job that has used its attempts is dead
	After time.Duration
	Free  bool   // this run does not count among the attempts
	Note  string // why the job is not done, without anybody's values
}

func (u *Unfinished) Error() string { return u.Note }

// A Queue gives jobs to workers.
type Queue interface {
	// Clock tells the store's time, which is the same for every machine.
	Clock(ctx context.Context) (time.Time, error)
	// Work gives due jobs to a shift: the longest due first, and of those due at the same time
	// the one enqueued first. Runs that are older than twice the timeout are taken from their
	// workers; their jobs wait again, or are dead if they have used their attempts. Work returns
	// when the context has ended and its runs are over; it returns an error only if it cannot
	// begin.
	Work(ctx context.Context, s Shift) error
	// Jobs lists jobs in the order in which they fall due.
	Jobs(ctx context.Context, f JobFilter) ([]JobRecord, error)
	// CountJobs counts the jobs that are not done.
	CountJobs(ctx context.Context) (JobCounts, error)
}
