package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"verbatim/stores"
)

// Jobs are rows of River, a job queue that others know how to look at and to
// look after. Its tables, its migrations and its statements for taking and for
// rescuing are used as they are. Others are ours, because they belong into the
// transaction of the effects: the one that enqueues, as River has clients in other
// languages do it; the one that settles a run, which River does by the job alone
// and we by the job and its attempt; and those that look at jobs, try them again
// and drop them.
//
// River's own client is not used. It reads this machine's clock, fetches and
// rescues in goroutines of its own, and would complete a job outside the
// transaction that holds its effect.
//
// A job that waits is "available" whenever it is due: River takes no such job
// before its time, and nobody has to move it from "scheduled".

// riverSchema holds River's tables.
const riverSchema = "verbatim_river"

// riverQueue is the one queue of River's that we use.
const riverQueue = "verbatim"

const riverJob = riverSchema + ".river_job"

// unfinished are the states of River's in which a correlation key is taken, as
// it keeps them: scheduled, running, retryable, pending and available.
const unfinished = "11110001"

// unfinishedSQL holds of jobs in those states that have a key, as River's index
// has it.
const unfinishedSQL = "unique_key IS NOT NULL AND unique_states IS NOT NULL AND " + riverSchema + ".river_job_state_in_bitmask(unique_states, state)"

// uniqueKey is a correlation key as River keeps it.
func uniqueKey(kind, unique string) string {
	return fmt.Sprintf(`\x%x`, sha256.Sum256([]byte(kind+"\x00"+unique)))
}

// A tag is what we keep in a job's metadata.
type tag struct {
	ID        string `json:"verbatim_id"`
	Unique    string `json:"unique,omitempty"`
	Principal string `json:"principal,omitempty"`
	Origins   string `json:"origins,omitempty"`
}

// enqueue adds jobs. Those that take no account of others are one statement.
func (t *tx) enqueue(jobs []stores.Job) ([]op, error) {
	var ops []op
	for len(jobs) > 0 {
		n := 1
		for jobs[0].Again == stores.KeepOther && n < min(len(jobs), maxRun) && jobs[n].Again == stores.KeepOther {
			n++
		}
		var cols [6][]any
		for i := range jobs[:n] {
			j := &jobs[i]
			if err := j.Check(); err != nil {
				return nil, err
			}
			meta, err := json.Marshal(tag{j.ID, j.Unique, j.Principal, j.Origins})
			if err != nil {
				return nil, err
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
		o := op{doing: "enqueue", sql: `INSERT INTO ` + riverJob + ` (args, kind, max_attempts, metadata, queue, scheduled_at, state, unique_key, unique_states)
SELECT v.args, v.kind, v.tries, v.meta, '` + riverQueue + `', v.at, 'available', v.key, CASE WHEN v.key IS NOT NULL THEN B'` + unfinished + `' END
FROM unnest($1::jsonb[], $2::text[], $3::smallint[], $4::jsonb[], $5::timestamptz[], $6::bytea[]) WITH ORDINALITY v (args, kind, tries, meta, at, key, n) ORDER BY v.n
ON CONFLICT (unique_key) WHERE ` + unfinishedSQL + ` DO NOTHING`}
		for _, col := range cols {
			o.args = append(o.args, arrayOf(col))
		}
		switch jobs[0].Again {
		case stores.ReplaceOther: // the other is running
			o.sql += " RETURNING 1"
			o = o.counted(1, stores.ErrConflict)
		case stores.RefuseAnother:
			o.sql += " RETURNING 1"
			o = o.counted(1, stores.ErrDuplicate)
		}
		ops, jobs = append(ops, o), jobs[n:]
	}
	return ops, nil
}

// settle ends runs. The attempt is the fence: a run that was rescued finds its
// job available, or at another attempt. What River keeps of failures is kept of
// the last two dozen.
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

// river is River's driver on our pool.
func (s *Store) river() riverdriver.Executor { return riverpgxv5.New(s.pool).GetExecutor() }

// queue asks River something.
func (s *Store) queue(ctx context.Context, doing string, fn func(riverdriver.Executor) error) error {
	switch {
	case s.closed.Load():
		return errClosed
	case s.asOwner:
		return errOwner
	}
	return fault(ctx, doing, fn(s.river()))
}

func orClock(now time.Time) *time.Time {
	if now.IsZero() {
		return nil
	}
	return &now
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

// Take implements stores.Queue.
func (s *Store) Take(ctx context.Context, now time.Time, worker string, n int, kinds ...string) ([]stores.Run, error) {
	if n <= 0 {
		return nil, nil
	}
	if len(kinds) == 0 {
		kinds = nil // River takes none of an empty list
	}
	var runs []stores.Run
	err := s.queue(ctx, "take", func(x riverdriver.Executor) error {
		found, err := x.JobGetAvailable(ctx, &riverdriver.JobGetAvailableParams{ClientID: worker, Kind: kinds, MaxAttemptedBy: 10, MaxToLock: n,
			Now: orClock(now), Queue: riverQueue, Schema: riverSchema})
		if err != nil {
			return err
		}
		runs, err = runsOf(found.Jobs)
		return err
	})
	if err != nil {
		return nil, err
	}
	return runs, nil
}

// runsOf puts what was taken into order: PostgreSQL returns what an update
// changed in any.
func runsOf(jobs []*rivertype.JobRow) ([]stores.Run, error) {
	slices.SortFunc(jobs, func(a, b *rivertype.JobRow) int {
		if c := a.ScheduledAt.Compare(b.ScheduledAt); c != 0 {
			return c
		}
		return int(a.ID - b.ID)
	})
	runs := make([]stores.Run, len(jobs))
	for i, j := range jobs {
		r, err := recordOf(j)
		if err != nil {
			return nil, err
		}
		runs[i] = stores.Run{Job: r.Job, Attempt: r.Attempt, Started: r.Started, Ref: strconv.FormatInt(j.ID, 10)}
	}
	return runs, nil
}

var stateOf = map[rivertype.JobState]stores.JobState{
	rivertype.JobStateAvailable: stores.JobWaiting, rivertype.JobStateScheduled: stores.JobWaiting, rivertype.JobStateRetryable: stores.JobWaiting,
	rivertype.JobStatePending: stores.JobWaiting, rivertype.JobStateRunning: stores.JobRunning, rivertype.JobStateCompleted: stores.JobDone,
	rivertype.JobStateDiscarded: stores.JobDead, rivertype.JobStateCancelled: stores.JobDead,
}

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
		r.Note = j.Errors[n-1].Error
	}
	return r, nil
}

// Rescue implements stores.Queue. That River rescues only what is still running,
// since before the horizon, keeps it from undoing what was settled meanwhile.
func (s *Store) Rescue(ctx context.Context, now time.Time, age time.Duration) ([]stores.Run, error) {
	if now.IsZero() {
		var err error
		if now, err = s.Clock(ctx); err != nil {
			return nil, err
		}
	}
	horizon := now.Add(-age)
	var runs []stores.Run
	err := s.queue(ctx, "rescue", func(x riverdriver.Executor) error {
		stuck, err := x.JobGetStuck(ctx, &riverdriver.JobGetStuckParams{Max: 1000, Schema: riverSchema, StuckHorizon: horizon})
		if err != nil || len(stuck) == 0 {
			return err
		}
		p := &riverdriver.JobRescueManyParams{Schema: riverSchema, StuckHorizon: horizon}
		for _, j := range stuck {
			note, err := json.Marshal(rivertype.AttemptError{At: now, Attempt: j.Attempt, Error: stores.NoteRescued})
			if err != nil {
				return err
			}
			state, ended := rivertype.JobStateAvailable, (*time.Time)(nil)
			if j.Attempt >= j.MaxAttempts {
				state, ended = rivertype.JobStateDiscarded, &now
			}
			p.ID, p.Error, p.State = append(p.ID, j.ID), append(p.Error, note), append(p.State, string(state))
			p.FinalizedAt, p.ScheduledAt = append(p.FinalizedAt, ended), append(p.ScheduledAt, j.ScheduledAt)
		}
		if _, err := x.JobRescueMany(ctx, p); err != nil {
			return err
		}
		runs, err = runsOf(stuck)
		return err
	})
	if err != nil {
		return nil, err
	}
	return runs, nil
}

// Jobs implements stores.Queue.
func (s *Store) Jobs(ctx context.Context, f stores.JobFilter) (records []stores.JobRecord, err error) {
	err = s.View(ctx, stores.Scope{}, func(r stores.Reader) error {
		records, err = r.Jobs(ctx, f)
		return err
	})
	return records, err
}

// Jobs implements stores.Reader.
func (r *reader) Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error) {
	t := newText().add(`SELECT kind, args::text, metadata::text, scheduled_at, max_attempts, state::text, attempt, created_at, attempted_at, finalized_at,
	COALESCE(attempted_by[array_length(attempted_by, 1)], ''), COALESCE(errors[array_length(errors, 1)]->>'error', '') FROM `, riverJob, " WHERE true")
	among := func(column string, words []string) {
		if len(words) > 0 {
			items := make([]any, len(words))
			for i, w := range words {
				items[i] = w
			}
			t.add(" AND ", column, " = ANY(").arg(arrayOf(items), "text[]").add(")")
		}
	}
	among("metadata->>'verbatim_id'", f.IDs)
	among("kind", f.Kinds)
	if f.Tried {
		t.add(" AND attempt > 0")
	}
	if f.Unique != "" {
		t.add(" AND unique_key = ").arg(uniqueKey(strings.Join(f.Kinds, ""), f.Unique), "bytea").add(" AND ", unfinishedSQL)
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
	t.add(" ORDER BY scheduled_at, id LIMIT ").arg(strconv.Itoa(limit), "bigint")
	var records []stores.JobRecord
	err := r.c.do(ctx, t.op("jobs", func(raw row) error {
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
		if note := raw.str(11); note != "" {
			j.Errors = []rivertype.AttemptError{{Error: note}}
		}
		record, err := recordOf(&j)
		records = append(records, record)
		return err
	}))
	return records, err
}

// tend changes jobs that are at rest.
func (t *tx) tend(tended []stores.JobChange) ([]op, error) {
	var ops []op
	for i := range tended {
		c := &tended[i]
		if err := c.Check(); err != nil {
			return nil, err
		}
		o := op{doing: "job", sql: "DELETE FROM " + riverJob, args: []any{c.ID, strconv.Itoa(c.Attempt)}}
		if !c.Drop {
			o.sql = "UPDATE " + riverJob + ` SET state = 'available', finalized_at = NULL, scheduled_at = $3::timestamptz,
	max_attempts = GREATEST(max_attempts, attempt + 1), metadata = metadata - 'cancel_attempted_at'`
			o.args = append(o.args, c.At.UTC().Format(time.RFC3339Nano))
		}
		o.sql += ` WHERE metadata->>'verbatim_id' = $1::text AND attempt = $2::smallint AND state NOT IN ('running', 'completed') RETURNING 1`
		ops = append(ops, o.counted(1, stores.ErrConflict))
	}
	return ops, nil
}

// Prune implements stores.Queue.
func (s *Store) Prune(ctx context.Context, before time.Time) (int, error) {
	const portion = 1000
	pruned := 0
	for {
		n := 0
		err := s.queue(ctx, "prune", func(x riverdriver.Executor) (err error) {
			n, err = x.JobDeleteBefore(ctx, &riverdriver.JobDeleteBeforeParams{CompletedDoDelete: true, CompletedFinalizedAtHorizon: before, Max: portion,
				QueuesIncluded: []string{riverQueue}, Schema: riverSchema})
			return err
		})
		pruned += n
		if err != nil || n < portion {
			return pruned, err
		}
	}
}

// searches are indexes of River's second migration for looking into what jobs
// are given and are marked with. None of its statements and none of ours looks
// there, and to keep them up takes several times what adding the job takes.
// River reindexes those that it finds, and misses none.
var searches = [...]string{"river_job_args_index", "river_job_metadata_index"}

// jobs plans River's tables and the application's rights on them.
func (m *migration) jobs() error {
	done := map[int]bool{}
	if !m.schemas[riverSchema] {
		m.step("CREATE SCHEMA %s", riverSchema)
	} else if m.indexes[riverSchema]["river_migration"] {
		err := m.ask("SELECT version FROM "+riverSchema+".river_migration", nil, func(r row) error {
			done[int(r.num(0))] = true
			return nil
		})
		if err != nil {
			return err
		}
	}
	steps, err := riverMigrations()
	if err != nil {
		return err
	}
	for _, s := range steps {
		if !done[s.version] {
			m.Steps = append(m.Steps, s.sql...)
		}
	}
	if !m.indexes[riverSchema]["verbatim_job_id"] {
		m.step("CREATE UNIQUE INDEX verbatim_job_id ON %s ((metadata->>'verbatim_id'))", riverJob)
	}
	for _, name := range searches {
		if !done[2] || m.indexes[riverSchema][name] {
			m.step("DROP INDEX %s.%s", riverSchema, name)
		}
	}
	if m.role == "" {
		return nil
	}
	if err := m.grant(riverSchema, "river_job", "SELECT, INSERT, UPDATE, DELETE"); err != nil {
		return err
	}
	// UPDATE on a sequence is what drawing numbers from it needs.
	return m.grant(riverSchema, "river_job_id_seq", "UPDATE")
}

type riverStep struct {
	version int
	sql     []string
}

// riverMigrations are River's own, as text for our one transaction, each with
// the line that tells River's tools that it was made.
func riverMigrations() ([]riverStep, error) {
	files := riverpgxv5.New(nil).GetMigrationFS(riverdriver.MigrationLineMain)
	names, err := fs.Glob(files, "migration/main/*.up.sql")
	if err != nil {
		return nil, err
	}
	var steps []riverStep
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		sql := strings.TrimSpace(strings.ReplaceAll(string(text), "/* TEMPLATE: schema */", riverSchema+"."))
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("postgres: a migration of River's has no number: %w", err)
		}
		note := fmt.Sprintf("INSERT INTO %s.river_migration (line, version) VALUES ('%s', %d)", riverSchema, riverdriver.MigrationLineMain, version)
		if version < 5 { // the fifth makes the table what it is now
			note = fmt.Sprintf("INSERT INTO %s.river_migration (version) VALUES (%d)", riverSchema, version)
		}
		if version == 2 {
			// The fourth adds a value to this enumeration, unless it is there, and
			// the sixth uses it, which PostgreSQL refuses in one transaction.
			const before, after = "'discarded',\n  'retryable',", "'discarded',\n  'pending',\n  'retryable',"
			if !strings.Contains(sql, before) {
				return nil, errors.New("postgres: River's states are not those that are known here")
			}
			sql = strings.Replace(sql, before, after, 1)
		}
		steps = append(steps, riverStep{version, []string{sql, note}})
	}
	slices.SortFunc(steps, func(a, b riverStep) int { return a.version - b.version })
	if len(steps) == 0 {
		return nil, errors.New("postgres: River has no migrations")
	}
	return steps, nil
}
