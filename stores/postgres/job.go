package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"

	"verbatim/stores"
)

// Jobs are rows of River, a job queue that other tools can inspect and manage; river.go hands
// them to River's workers. This file has the statements that belong to our transactions: the one
// that enqueues, which writes what River's InsertTx writes; the one that settles a run, which
// writes what its JobCompleteTx writes and is also fenced by the attempt; and those that list
// jobs, try them again and drop them.

// riverSchema holds River's tables.
const riverSchema = "verbatim_river"

// riverQueue is the only River queue that we use.
const riverQueue = "verbatim"

const riverJob = riverSchema + ".river_job"

// unfinished is the set of River's states in which a correlation key is taken, as River encodes
// it: scheduled, running, retryable, pending and available.
const unfinished = "11110001"

// unfinishedSQL is true of jobs in those states that have a key, written as in River's index.
const unfinishedSQL = "unique_key IS NOT NULL AND unique_states IS NOT NULL AND " + riverSchema + ".river_job_state_in_bitmask(unique_states, state)"

// uniqueKey returns a correlation key as River stores it.
func uniqueKey(kind, unique string) string {
	return fmt.Sprintf(`\x%x`, sha256.Sum256([]byte(kind+"\x00"+unique)))
}

// A tag is our part of a job's metadata.
type tag struct {
	ID        string `json:"verbatim_id"`
	Unique    string `json:"unique,omitempty"`
	Principal string `json:"principal,omitempty"`
	Origins   string `json:"origins,omitempty"`
	Note      *note  `json:"verbatim_note,omitempty"` // of the latest run that did not count
}

// A note says why a run that does not count did not end its job.
type note struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// enqueue adds jobs. Jobs that ignore others are one statement. River's scheduler makes scheduled
// jobs available every five seconds: a job that is due sooner is available at once, as River does
// for retries, and is not fetched before its time.
func (t *tx) enqueue(jobs []stores.Job) (also []part, ops []op, err error) {
	soon := time.Now().Add(5 * time.Second)
	if slices.ContainsFunc(jobs, func(j stores.Job) bool { return j.At.Before(soon) }) && t.s.tells() {
		ops = append(ops, op{doing: "enqueue", sql: "SELECT pg_catalog.pg_notify('" + riverSchema + ".river_insert', '{\"queue\": \"" + riverQueue + "\"}')"})
	}
	for len(jobs) > 0 {
		n := 1
		for jobs[0].Again == stores.KeepOther && n < min(len(jobs), maxRun) && jobs[n].Again == stores.KeepOther {
			n++
		}
		var cols [6][]any
		for i := range jobs[:n] {
			j := &jobs[i]
			if err := j.Check(); err != nil {
				return nil, nil, err
			}
			meta, err := json.Marshal(tag{ID: j.ID, Unique: j.Unique, Principal: j.Principal, Origins: j.Origins})
			if err != nil {
				return nil, nil, err
			}
			var key any
			if j.Unique != "" {
				key = uniqueKey(j.Kind, j.Unique)
			}
			for i, v := range [...]any{j.Payload, j.Kind, strconv.Itoa(j.Tries()), string(meta), j.At.UTC().Format(time.RFC3339Nano), key} {
				cols[i] = append(cols[i], v)
			}
		}
		if jobs[0].Again == stores.ReplaceOther {
			ops = append(ops, op{doing: "enqueue", args: []any{cols[5][0]}, sql: "DELETE FROM " + riverJob + " WHERE unique_key = $1::bytea AND " + unfinishedSQL + " AND state <> 'running'"})
		}
		q := newText().Add("INSERT INTO ", riverJob, ` (args, kind, max_attempts, metadata, queue, scheduled_at, state, unique_key, unique_states)
SELECT v.args, v.kind, v.tries, v.meta, '`, riverQueue, `', v.at, CASE WHEN v.at > now() + interval '5 seconds' THEN 'scheduled' ELSE 'available' END::`, riverSchema, `.river_job_state, v.key, CASE WHEN v.key IS NOT NULL THEN B'`, unfinished, `' END
FROM unnest(`)
		for i, typ := range [...]string{"jsonb[]", "text[]", "smallint[]", "jsonb[]", "timestamptz[]", "bytea[]"} {
			if i > 0 {
				q.Add(", ")
			}
			q.Arg(arrayOf(cols[i]), "::", typ)
		}
		q.Add(`) WITH ORDINALITY v (args, kind, tries, meta, at, key, n) ORDER BY v.n
ON CONFLICT (unique_key) WHERE `, unfinishedSQL, ` DO NOTHING`)
		switch jobs[0].Again {
		case stores.ReplaceOther: // the other is running
			ops = append(ops, opOf(q.Add(" RETURNING 1"), "enqueue", nil).counted(1, stores.ErrConflict))
		case stores.RefuseAnother:
			ops = append(ops, opOf(q.Add(" RETURNING 1"), "enqueue", nil).counted(1, stores.ErrDuplicate))
		default:
			also = append(also, part{"enqueue", q, -1, nil})
		}
		jobs = jobs[n:]
	}
	return also, ops, nil
}

// tells reports whether to notify workers of a job, and records that it was done. Once in a while
// is enough, as for River's own clients: transactions that notify commit one after the other, and
// workers poll from time to time anyway.
func (s *Store) tells() bool {
	last, now := s.told.Load(), time.Now().UnixMilli()
	return now-last >= 100 && s.told.CompareAndSwap(last, now)
}

// settle ends runs. The attempt is the fence: a run that was rescued finds its job available, or
// at another attempt. The last two dozen of the errors that River keeps are kept.
func (t *tx) settle(settled []stores.Settlement) ([]op, error) {
	var ops []op
	for i := range settled {
		s := &settled[i]
		if err := s.Check(); err != nil {
			return nil, err
		}
		state := map[stores.JobState]rivertype.JobState{stores.JobWaiting: rivertype.JobStateAvailable, stores.JobDone: rivertype.JobStateCompleted,
			stores.JobDead: rivertype.JobStateDiscarded}[s.State]
		free := "0"
		if s.Free {
			free = "1"
		}
		o := op{doing: "settle", sql: `UPDATE ` + riverJob + ` SET state = $3::text::` + riverSchema + `.river_job_state,
	finalized_at = CASE WHEN $3::text <> 'available' THEN $4::timestamptz END,
	scheduled_at = CASE WHEN $3::text = 'available' THEN $4::timestamptz ELSE scheduled_at END,
	max_attempts = max_attempts + $5::smallint,
	errors = CASE WHEN $6::text = '' THEN errors ELSE array_append(errors[GREATEST(1, COALESCE(array_length(errors, 1), 0) - 22):],
		jsonb_build_object('at', $4::timestamptz, 'attempt', attempt, 'error', $6::text, 'trace', '')) END
WHERE id = $1::bigint AND attempt = $2::smallint AND state = 'running' RETURNING 1`,
			args: []any{s.Run.Ref, strconv.Itoa(s.Run.Attempt), string(state), s.At.UTC().Format(time.RFC3339Nano), free, s.Note}}
		ops = append(ops, o.counted(1, stores.ErrFenced))
	}
	return ops, nil
}

// Clock implements stores.Queue.
func (s *Store) Clock(ctx context.Context) (now time.Time, err error) {
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		return c.do(ctx, op{doing: "clock", sql: "SELECT now()", read: func(r row) error {
			v, err := r.decode(0, stores.Time)
			if err == nil {
				now = v.Time()
			}
			return err
		}})
	})
	return now, err
}

var stateOf = map[rivertype.JobState]stores.JobState{
	rivertype.JobStateAvailable: stores.JobWaiting, rivertype.JobStateScheduled: stores.JobWaiting, rivertype.JobStateRetryable: stores.JobWaiting,
	rivertype.JobStatePending: stores.JobWaiting, rivertype.JobStateRunning: stores.JobRunning, rivertype.JobStateCompleted: stores.JobDone,
	rivertype.JobStateDiscarded: stores.JobDead, rivertype.JobStateCancelled: stores.JobDead,
}

// cancelled is the prefix that River puts before the error of a cancelled job.
const cancelled = "JobCancelError: "

func recordOf(j *rivertype.JobRow) (stores.JobRecord, error) {
	var t tag
	payload, err := stores.ParseJSON(string(j.EncodedArgs)) // River keeps jsonb, in a spelling of its own
	if err == nil {
		err = json.Unmarshal(j.Metadata, &t)
	}
	if err != nil {
		return stores.JobRecord{}, fmt.Errorf("a job that cannot be read: %w", stores.ErrInvalid)
	}
	r := stores.JobRecord{
		Job: stores.Job{ID: t.ID, Kind: j.Kind, Payload: payload.Text(), At: j.ScheduledAt.UTC(), Attempts: j.MaxAttempts, Unique: t.Unique,
			Principal: t.Principal, Origins: t.Origins},
		State: stateOf[j.State], Attempt: j.Attempt, Created: j.CreatedAt.UTC(),
	}
	if j.AttemptedAt != nil {
		r.Started = j.AttemptedAt.UTC()
	}
	if j.FinalizedAt != nil {
		r.Ended = j.FinalizedAt.UTC()
	}
	if n := len(j.AttemptedBy); n > 0 {
		r.Worker = j.AttemptedBy[n-1]
	}
	if n := len(j.Errors); n > 0 {
		r.Note = strings.TrimPrefix(j.Errors[n-1].Error, cancelled)
		if t.Note != nil && t.Note.At.Before(j.Errors[n-1].At) {
			t.Note = nil
		}
	}
	if t.Note != nil {
		r.Note = t.Note.Text
	}
	return r, nil
}

// Jobs implements stores.Queue. Jobs have no scope, so the owner of the tables may read them too.
func (s *Store) Jobs(ctx context.Context, f stores.JobFilter) (records []stores.JobRecord, err error) {
	err = s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		records, err = r.Jobs(ctx, f)
		return err
	})
	return records, err
}

// Jobs implements stores.Reader.
func (r *reader) Jobs(ctx context.Context, f stores.JobFilter) (records []stores.JobRecord, err error) {
	err = r.c.do(ctx, r.jobs(&f, &records))
	return records, err
}

// jobs makes the statement that lists jobs.
func (r *reader) jobs(f *stores.JobFilter, into *[]stores.JobRecord) op {
	t := newText().Add(`SELECT kind, args::text, metadata::text, scheduled_at, max_attempts, state::text, attempt, created_at, attempted_at, finalized_at,
	COALESCE(attempted_by[array_length(attempted_by, 1)], ''), errors[array_length(errors, 1)]::text FROM `, riverJob, " WHERE true")
	among := func(column string, words []string) {
		if len(words) > 0 {
			items := make([]any, len(words))
			for i, w := range words {
				items[i] = w
			}
			t.Add(" AND ", column, " = ANY(").Arg(arrayOf(items), "::text[]").Add(")")
		}
	}
	among("metadata->>'verbatim_id'", f.IDs)
	among("kind", f.Kinds)
	if f.Tried {
		t.Add(" AND (attempt > 0 OR metadata ? '" + riverNote + "')") // River takes back an attempt that does not count
	}
	if f.Unique != "" {
		t.Add(" AND unique_key = ").Arg(uniqueKey(strings.Join(f.Kinds, ""), f.Unique), "::bytea").Add(" AND ", unfinishedSQL)
	}
	if f.Holds != "" { // jsonb is written with the fewest escapes, and a text as to_json writes it
		t.Add(" AND position(btrim(to_json(").Arg(f.Holds, "::text").Add(")::text, '\"') IN args::text) > 0")
	}
	if f.Ahead != nil {
		t.Add(" AND state IN ('available', 'scheduled', 'retryable', 'pending', 'running') AND kind = ").Arg(f.Ahead.Kind, "::text").Add(" AND id < ").Arg(f.Ahead.Ref, "::bigint")
		t.Add(" AND args->'about' ?| ARRAY(SELECT jsonb_array_elements_text(").Arg(f.Ahead.Payload, "::jsonb").Add("->'about'))")
	}
	var states []string
	for theirs, ours := range stateOf {
		if slices.Contains(f.States, ours) {
			states = append(states, string(theirs))
		}
	}
	among("state::text", states)
	limit := r.s.rowCap
	if f.Limit > 0 {
		limit = min(limit, f.Limit)
	}
	t.Add(" ORDER BY scheduled_at, id LIMIT ").Arg(strconv.Itoa(limit), "::bigint")
	return opOf(t, "jobs", func(raw row) error {
		j := rivertype.JobRow{Kind: raw.str(0), EncodedArgs: []byte(raw.str(1)), Metadata: []byte(raw.str(2)), MaxAttempts: int(raw.num(4)),
			State: rivertype.JobState(raw.str(5)), Attempt: int(raw.num(6))}
		for i, to := range map[int]*time.Time{3: &j.ScheduledAt, 7: &j.CreatedAt} {
			v, err := raw.decode(i, stores.Time)
			if err != nil {
				return fmt.Errorf("a job that cannot be read: %w", stores.ErrInvalid)
			}
			*to = v.Time()
		}
		for i, to := range map[int]**time.Time{8: &j.AttemptedAt, 9: &j.FinalizedAt} {
			if v, err := raw.decode(i, stores.Time); err == nil && !v.IsNull() {
				at := v.Time()
				*to = &at
			}
		}
		if worker := raw.str(10); worker != "" {
			j.AttemptedBy = []string{worker}
		}
		if last := raw.str(11); last != "" {
			j.Errors = make([]rivertype.AttemptError, 1)
			if err := json.Unmarshal([]byte(last), &j.Errors[0]); err != nil {
				return fmt.Errorf("a job that cannot be read: %w", stores.ErrInvalid)
			}
		}
		record, err := recordOf(&j)
		*into = append(*into, record)
		return err
	})
}

// CountJobs implements stores.Queue.
func (s *Store) CountJobs(ctx context.Context) (c stores.JobCounts, err error) {
	err = s.read(ctx, s.pool, stores.Scope{}, func(conn *conn) error {
		return conn.do(ctx, op{doing: "jobs", sql: `SELECT state::text, count(*), min(scheduled_at), min(created_at) FILTER (WHERE errors IS NOT NULL) FROM ` + riverJob + ` WHERE state <> 'completed' GROUP BY state`, read: func(r row) error {
			n, times := int(r.num(1)), [2]time.Time{}
			for i := range times {
				v, err := r.decode(2+i, stores.Time)
				if err != nil {
					return fmt.Errorf("a job that cannot be read: %w", stores.ErrInvalid)
				}
				if !v.IsNull() {
					times[i] = v.Time()
				}
			}
			switch stateOf[rivertype.JobState(r.str(0))] {
			case stores.JobWaiting:
				c.Waiting, c.Due, c.Failing = c.Waiting+n, earlier(c.Due, times[0]), earlier(c.Failing, times[1])
			case stores.JobRunning:
				c.Running += n
			case stores.JobDead:
				c.Dead += n
			}
			return nil
		}})
	})
	return c, err
}

// earlier returns the earlier of two times, of which the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// changeJobs retries or drops jobs that are dead or waiting.
func (t *tx) changeJobs(changes []stores.JobChange) ([]op, error) {
	var ops []op
	for i := range changes {
		c := &changes[i]
		if err := c.Check(); err != nil {
			return nil, err
		}
		o := op{doing: "job", sql: "DELETE FROM " + riverJob, args: []any{c.ID, strconv.Itoa(c.Attempt)}}
		if !c.Drop {
			o.sql = "UPDATE " + riverJob + ` SET state = 'available', finalized_at = NULL, scheduled_at = $3::timestamptz,
	max_attempts = GREATEST(max_attempts, attempt + 1), metadata = metadata - 'cancel_attempted_at'`
			o.args = append(o.args, c.At.UTC().Format(time.RFC3339Nano))
		}
		states := `state NOT IN ('running', 'completed')`
		if c.Done {
			states = `state = 'completed'`
		}
		o.sql += ` WHERE metadata->>'verbatim_id' = $1::text AND attempt = $2::smallint AND ` + states + ` RETURNING 1`
		ops = append(ops, o.counted(1, stores.ErrConflict))
	}
	return ops, nil
}
