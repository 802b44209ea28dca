package rights

import (
	"context"
	"fmt"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

// registerJobs adds what looks after work for later.
func registerJobs(h *engine.Handlers) {
	type which struct {
		All bool    `verb:"all"`
		Job *string `verb:"job"`
	}
	type one struct {
		Job string `verb:"job"`
	}

	engine.Handle(h, "system.jobs", func(ctx context.Context, c *engine.Call, a which) (engine.Outcome, error) {
		var all []stores.JobRecord
		var err error
		switch {
		case a.Job != nil:
			all, err = c.Jobs(ctx, stores.JobFilter{IDs: []string{*a.Job}})
		case a.All:
			all, err = c.Jobs(ctx, stores.JobFilter{})
		default:
			all, err = Troubled(ctx, c, c.Now())
		}
		if err != nil {
			return engine.Outcome{}, err
		}
		answer := &engine.Answer{Columns: []string{"job", "state", "kind", "what", "for", "since", "tried", "due", "worker", "problem"}}
		for i := range all {
			j := &all[i]
			answer.Rows = append(answer.Rows, []any{j.ID, j.State.String(), j.Kind, engine.JobSubject(&j.Job), j.Principal,
				j.Created, fmt.Sprintf("%d of %d", j.Attempt, j.Tries()), j.At, j.Worker, Problem(j, c.Now())})
		}
		return engine.Outcome{Result: answer}, nil
	})

	tend := func(drop bool) func(context.Context, *engine.Call, one) (engine.Outcome, error) {
		return func(ctx context.Context, c *engine.Call, a one) (engine.Outcome, error) {
			found, err := c.Jobs(ctx, stores.JobFilter{IDs: []string{a.Job}})
			if err != nil {
				return engine.Outcome{}, err
			}
			if len(found) == 0 {
				return engine.Outcome{}, engine.Refuse("no work has this id", "system.jobs lists what failed, with :all true all there is")
			}
			j := found[0]
			switch {
			case j.State == stores.JobRunning:
				return engine.Outcome{}, engine.Refuse("it is being done at this moment", "see what becomes of it: system.jobs :job "+quoted(j.ID))
			case j.State == stores.JobDone:
				return engine.Outcome{}, engine.Refuse("it is done", "there is nothing to do")
			case drop:
				return engine.Outcome{Jobs: []engine.JobChange{engine.DropJob(j)}}, nil
			}
			if j.Unique != "" && j.State == stores.JobDead {
				others, err := c.Jobs(ctx, stores.JobFilter{Kinds: []string{j.Kind}, Unique: j.Unique})
				if err != nil {
					return engine.Outcome{}, err
				}
				if len(others) > 0 {
					return engine.Outcome{}, engine.Refuse("another piece of the same work waits or runs meanwhile", "let that be done, and drop this one: system.drop-job :job "+quoted(j.ID))
				}
			}
			return engine.Outcome{Jobs: []engine.JobChange{engine.Retry(j)}}, nil
		}
	}
	engine.Handle(h, "system.retry-job", tend(false))
	engine.Handle(h, "system.drop-job", tend(true))
}

// lateAfter is how long after its time a job counts as late that no worker has taken.
const lateAfter = time.Minute

// Troubled lists the jobs that need attention: those that were given up, that failed before, that
// are running, or that are due and that no worker has taken.
func Troubled(ctx context.Context, from interface {
	Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error)
}, now time.Time) ([]stores.JobRecord, error) {
	all, err := from.Jobs(ctx, stores.JobFilter{States: []stores.JobState{stores.JobDead, stores.JobRunning, stores.JobWaiting}, Tried: true})
	if err != nil {
		return nil, err
	}
	waiting, err := from.Jobs(ctx, stores.JobFilter{States: []stores.JobState{stores.JobWaiting}})
	for i := range waiting {
		if late(&waiting[i], now) {
			all = append(all, waiting[i])
		}
	}
	return all, err
}

func late(j *stores.JobRecord, now time.Time) bool {
	return j.State == stores.JobWaiting && j.Attempt == 0 && j.At.Before(now.Add(-lateAfter))
}

// Problem says why a job is not done, as its worker noted it, or that none has taken it. It is "" for
// one that is not late.
func Problem(j *stores.JobRecord, now time.Time) string {
	switch {
	case !late(j, now):
		return j.Note
	case j.Kind == engine.JobNotice:
		return "not yet sent: no worker has taken it"
	}
	return "not yet begun: no worker has taken it"
}

func quoted(id string) string { return fmt.Sprintf("%q", id) }
