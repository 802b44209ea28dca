package system

import (
	"context"
	"fmt"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

// registerJobs adds what looks after work for later.
func registerJobs(h *runtime.Handlers) {
	type which struct {
		All bool    `verb:"all"`
		Job *string `verb:"job"`
	}
	type one struct {
		Job string `verb:"job"`
	}

	runtime.Handle(h, "system.jobs", func(ctx context.Context, c *runtime.Call, a which) (runtime.Outcome, error) {
		f := Troubled
		if a.All {
			f = stores.JobFilter{}
		}
		if a.Job != nil {
			f = stores.JobFilter{IDs: []string{*a.Job}}
		}
		all, err := c.Jobs(ctx, f)
		if err != nil {
			return runtime.Outcome{}, err
		}
		answer := &runtime.Answer{Columns: []string{"job", "state", "kind", "what", "for", "since", "tried", "due", "worker", "problem"}}
		for i := range all {
			j := &all[i]
			answer.Rows = append(answer.Rows, []any{j.ID, j.State.String(), j.Kind, runtime.JobSubject(&j.Job), j.Principal,
				j.Created, fmt.Sprintf("%d of %d", j.Attempt, j.Tries()), j.At, j.Worker, j.Note})
		}
		return runtime.Outcome{Result: answer}, nil
	})

	tend := func(drop bool) func(context.Context, *runtime.Call, one) (runtime.Outcome, error) {
		return func(ctx context.Context, c *runtime.Call, a one) (runtime.Outcome, error) {
			found, err := c.Jobs(ctx, stores.JobFilter{IDs: []string{a.Job}})
			if err != nil {
				return runtime.Outcome{}, err
			}
			if len(found) == 0 {
				return runtime.Outcome{}, runtime.Refuse("no work has this id", "system.jobs lists what failed, with :all true all there is")
			}
			j := found[0]
			switch {
			case j.State == stores.JobRunning:
				return runtime.Outcome{}, runtime.Refuse("it is being done at this moment", "see what becomes of it: system.jobs :job "+quoted(j.ID))
			case j.State == stores.JobDone:
				return runtime.Outcome{}, runtime.Refuse("it is done", "there is nothing to do")
			case drop:
				return runtime.Outcome{Jobs: []runtime.JobChange{runtime.DropJob(j)}}, nil
			}
			if j.Unique != "" && j.State == stores.JobDead {
				others, err := c.Jobs(ctx, stores.JobFilter{Kinds: []string{j.Kind}, Unique: j.Unique})
				if err != nil {
					return runtime.Outcome{}, err
				}
				if len(others) > 0 {
					return runtime.Outcome{}, runtime.Refuse("another piece of the same work waits or runs meanwhile", "let that be done, and drop this one: system.drop-job :job "+quoted(j.ID))
				}
			}
			return runtime.Outcome{Jobs: []runtime.JobChange{runtime.Retry(j)}}, nil
		}
	}
	runtime.Handle(h, "system.retry-job", tend(false))
	runtime.Handle(h, "system.drop-job", tend(true))
}

// Troubled selects the jobs that need attention: those that were given up, that failed before, or
// that are running.
var Troubled = stores.JobFilter{States: []stores.JobState{stores.JobDead, stores.JobRunning, stores.JobWaiting}, Tried: true}

func quoted(id string) string { return fmt.Sprintf("%q", id) }
