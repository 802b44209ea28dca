package runtime

import (
	"context"
	"encoding/json"
	"strings"

	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Jobs that failed are looked after by verbs like any others: a handler looks at
// them through its Call and returns what it wants done with them, the palette
// promises that with "stores: verbatim.job", and it is done in the transaction of
// the journal entry that tells of it.

// jobPromise is the operand of the effect by which a palette promises that a verb
// tries jobs again or drops them.
const jobPromise = "verbatim.job"

func tendsJobs(e *verbs.Effect) bool {
	return e.Kind == verbs.Stores && e.Entity == nil && e.Operand.Text == jobPromise
}

// A JobChange is what a handler wants done with a job that is at rest. Make it
// with Retry or DropJob.
type JobChange struct {
	Job  stores.JobRecord
	Drop bool
}

// Retry makes a job that is dead or waiting due at once, for one more attempt at
// least.
func Retry(job stores.JobRecord) JobChange { return JobChange{Job: job} }

// DropJob removes a job that is dead or waiting, for good.
func DropJob(job stores.JobRecord) JobChange { return JobChange{Job: job, Drop: true} }

// Jobs looks at the jobs of the store, everybody's, as the transaction sees them.
// They hold values of whoever caused them: a handler tells no more of them than
// their principals would want, such as JobSubject.
func (c *Call) Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error) {
	if c.over {
		return nil, stores.ErrNotFound
	}
	return c.r.read.Jobs(ctx, f)
}

// JobSubject says what a job is about, without anybody's values: the verb and the
// trigger that it is the work of, or whom a notice is for.
func JobSubject(j *stores.Job) string {
	var p struct{ Verb, Trigger, Target string }
	if json.Unmarshal([]byte(j.Payload), &p) != nil {
		return ""
	}
	if p.Target != "" {
		return p.Target
	}
	return strings.Trim(p.Verb+" "+p.Trigger, " ")
}

func tendedJob(c JobChange) receipt.Tended {
	j := &c.Job
	return receipt.Tended{ID: j.ID, Kind: j.Kind, What: JobSubject(&j.Job), Principal: j.Principal, State: j.State.String(), Attempt: j.Attempt, Note: j.Note, Drop: c.Drop}
}

// Jobs implements stores.Reader.
func (c current) Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error) {
	if err := c.r.handOver(ctx); err != nil {
		return nil, err
	}
	return c.Reader.Jobs(ctx, f)
}

func tending(t *receipt.Tended) string {
	if t.Drop {
		return "a job was to be dropped"
	}
	return "a job was to be tried again"
}

// tend adds what a call does with jobs to a batch.
func (r *run) tend(b *stores.Batch, st *step) {
	for i := range st.tended {
		t := &st.tended[i]
		b.Tended = append(b.Tended, stores.JobChange{ID: t.ID, Attempt: t.Attempt, Drop: t.Drop, At: r.now})
	}
}
