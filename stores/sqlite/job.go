package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// jobTable holds the jobs. seq is the order in which they were enqueued; the
// attempt of a job only ever grows, so that it tells one run from another.
var jobTable = []string{
	`CREATE TABLE "verbatim_job" (
  "seq" INTEGER PRIMARY KEY AUTOINCREMENT,
  "id" TEXT NOT NULL UNIQUE,
  "kind" TEXT NOT NULL,
  "payload" TEXT NOT NULL,
  "at" TEXT NOT NULL,
  "attempt" INTEGER NOT NULL DEFAULT 0,
  "attempts" INTEGER NOT NULL,
  "correlation" TEXT,
  "principal" TEXT NOT NULL,
  "origins" TEXT NOT NULL,
  "state" TEXT NOT NULL DEFAULT 'waiting' CHECK ("state" IN ('waiting', 'running', 'done', 'dead')),
  "created" TEXT NOT NULL,
  "started" TEXT,
  "ended" TEXT,
  "worker" TEXT NOT NULL DEFAULT '',
  "note" TEXT NOT NULL DEFAULT ''
) STRICT`,
	`CREATE INDEX "verbatim_job_due" ON "verbatim_job" ("state", "at", "seq")`,
	`CREATE UNIQUE INDEX "verbatim_job_correlation" ON "verbatim_job" ("kind", "correlation")
WHERE "correlation" IS NOT NULL AND "state" IN ('waiting', 'running')`,
}

const jobColumns = `seq, id, kind, payload, at, attempt, attempts, correlation, principal, origins, state, created, started, ended, worker, note`

// enqueue adds jobs.
func (t *tx) enqueue(jobs []stores.Job) error {
	for i := range jobs {
		j := &jobs[i]
		if err := j.Check(); err != nil {
			return err
		}
		var correlation stores.Value
		if j.Unique != "" {
			correlation = str(j.Unique)
		}
		if j.Again == stores.ReplaceOther {
			if _, err := t.c.exec("DELETE FROM main.verbatim_job WHERE kind = ? AND correlation = ? AND state = 'waiting'", str(j.Kind), str(j.Unique)); err != nil {
				return fault("enqueue", err)
			}
		}
		n, err := t.c.exec(`INSERT INTO main.verbatim_job (id, kind, payload, at, attempts, correlation, principal, origins, created)
VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT (kind, correlation) WHERE correlation IS NOT NULL AND state IN ('waiting', 'running') DO NOTHING`,
			str(j.ID), str(j.Kind), str(j.Payload), stores.NewTime(j.At), stores.NewInt(int64(j.Tries())), correlation, str(j.Principal), str(j.Origins), stores.NewTime(time.Now()))
		switch {
		case err != nil:
			return fault("enqueue", err)
		case n == 0 && j.Again == stores.ReplaceOther:
			return stores.ErrConflict // the other is running
		case n == 0 && j.Again == stores.RefuseAnother:
			return stores.ErrDuplicate
		}
	}
	return nil
}

// settle ends runs. The attempt is the fence: a run that was rescued finds its job waiting, or at
// another attempt.
func (t *tx) settle(settled []stores.Settlement) error {
	for i := range settled {
		s := &settled[i]
		if err := s.Check(); err != nil {
			return err
		}
		at, ended := stores.NewTime(s.At), stores.Value{}
		if s.State != stores.JobWaiting {
			at, ended = ended, at
		}
		n, err := t.c.exec(`UPDATE main.verbatim_job SET state = ?, at = coalesce(?, at), ended = ?, attempts = attempts + ?,
note = CASE WHEN ? = '' THEN note ELSE ? END WHERE seq = ? AND attempt = ? AND state = 'running'`,
			str(s.State.String()), at, ended, stores.NewBool(s.Free), str(s.Note), str(s.Note), str(s.Run.Ref), stores.NewInt(int64(s.Run.Attempt)))
		switch {
		case err != nil:
			return fault("settle", err)
		case n == 0:
			return stores.ErrFenced
		}
	}
	return nil
}

// moment returns the given time, or the time of the store's clock if that is zero. The store's
// clock is this machine's: a file is on one machine.
func moment(now time.Time) time.Time {
	if now.IsZero() {
		return time.Now().UTC().Truncate(time.Microsecond)
	}
	return now.UTC().Truncate(time.Microsecond)
}

// Clock implements stores.Queue.
func (s *Store) Clock(context.Context) (time.Time, error) { return moment(time.Time{}), nil }

// Work implements stores.Queue.
func (s *Store) Work(ctx context.Context, sh stores.Shift) error {
	runs, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var group sync.WaitGroup
	defer func() {
		timer := time.AfterFunc(sh.Drain, stop)
		defer timer.Stop()
		group.Wait()
	}()
	now := func() time.Time {
		if sh.Clock != nil {
			return moment(sh.Clock())
		}
		return moment(time.Time{})
	}
	slots, freed := make(chan struct{}, sh.Concurrency), make(chan struct{}, 1)
	var lookedAfter time.Time
	for first, away := true, false; ctx.Err() == nil; first = false {
		var err error
		if time.Since(lookedAfter) >= sh.Timeout/2 {
			lookedAfter = time.Now()
			err = s.tidy(ctx, now(), &sh)
		}
		var taken []stores.Run
		if err == nil {
			taken, err = s.take(ctx, now(), sh.Worker, sh.Concurrency-len(slots), sh.Kinds)
		}
		busy := errors.Is(err, stores.ErrConflict) // with others, after a wait
		gone := err != nil && !busy && ctx.Err() == nil
		if gone && (first || sh.Once) {
			return err
		}
		if gone && !away && sh.Away != nil {
			sh.Away(err)
		}
		away = gone
		for _, run := range taken {
			slots <- struct{}{}
			group.Go(func() {
				s.run(runs, now, &sh, run)
				<-slots
				select {
				case freed <- struct{}{}:
				default:
				}
			})
		}
		if sh.Once { // all at once, so that they are taken together
			if group.Wait(); len(taken) == 0 && !busy {
				return nil
			}
			continue
		}
		if busy || len(taken) > 0 && len(slots) < sh.Concurrency {
			continue
		}
		wait := time.NewTimer(min(sh.Poll, sh.Timeout/2))
		select {
		case <-ctx.Done():
		case <-wait.C:
		case <-freed:
		}
		wait.Stop()
	}
	if sh.Once {
		return ctx.Err()
	}
	return nil
}

// run carries out one run, and settles it if it did not do so itself.
func (s *Store) run(ctx context.Context, now func() time.Time, sh *stores.Shift, run stores.Run) {
	timed, cancel := context.WithTimeout(ctx, sh.Timeout)
	defer cancel()
	err := sh.Run(timed, run)
	if err == nil {
		return
	}
	u := &stores.Unfinished{After: time.Minute, Note: "system-failure"}
	errors.As(err, &u)
	end := stores.Settlement{Run: run, State: u.State, At: now().Add(u.After), Free: u.Free, Note: u.Note}
	if !u.Free && run.Attempt >= run.Tries() {
		end.State = stores.JobDead
	}
	if end.State == stores.JobDead {
		end.At = now()
	}
	firm, cancel := context.WithTimeout(context.WithoutCancel(ctx), sh.Timeout)
	defer cancel()
	for range 4 { // if the store does not answer, the run will be rescued
		err = s.Update(firm, stores.Scope{All: true}, func(tx stores.Tx) error {
			return tx.Apply(firm, stores.Batch{Settled: []stores.Settlement{end}})
		})
		if !errors.Is(err, stores.ErrConflict) {
			return
		}
	}
}

// tidy takes jobs from lost workers, and deletes old finished jobs.
func (s *Store) tidy(ctx context.Context, now time.Time, sh *stores.Shift) error {
	rescued, err := s.rescue(ctx, now, 2*sh.Timeout)
	for _, run := range rescued {
		sh.Lost(run)
	}
	if err != nil {
		return err
	}
	return s.prune(ctx, now.Add(-sh.Kept))
}

// take gives a worker up to n due jobs.
func (s *Store) take(ctx context.Context, now time.Time, worker string, n int, kinds []string) ([]stores.Run, error) {
	if n <= 0 {
		return nil, nil
	}
	due := " WHERE state = 'waiting' AND at <= ?" + among("kind", len(kinds))
	args := append([]stores.Value{stores.NewTime(now)}, strs(kinds)...)
	// Reading first keeps an idle worker from taking the write lock.
	some := false
	err := s.read(ctx, func(c *conn) (err error) {
		some, err = c.exists("SELECT 1 FROM main.verbatim_job"+due+" LIMIT 1", args)
		return fault("take", err)
	})
	if err != nil || !some {
		return nil, err
	}
	var taken []stores.JobRecord
	var refs []string
	err = s.write(ctx, func(c *conn) error {
		taken, refs, err = readJobs(c, ctx, "UPDATE main.verbatim_job SET state = 'running', attempt = attempt + 1, started = ?, worker = ? WHERE seq IN (SELECT seq FROM main.verbatim_job"+
			due+" ORDER BY at, seq LIMIT ?) RETURNING "+jobColumns, slices.Concat([]stores.Value{stores.NewTime(now), str(worker)}, args, []stores.Value{stores.NewInt(int64(n))}))
		return fault("take", err)
	})
	if err != nil {
		return nil, err
	}
	return runs(taken, refs), nil
}

// runs sorts the runs that were taken: SQLite returns updated rows in any order.
func runs(records []stores.JobRecord, refs []string) []stores.Run {
	out := make([]stores.Run, len(records))
	for i, r := range records {
		out[i] = stores.Run{Job: r.Job, Attempt: r.Attempt, Started: r.Started, Ref: refs[i]}
	}
	slices.SortFunc(out, func(a, b stores.Run) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		x, _ := strconv.ParseInt(a.Ref, 10, 64)
		y, _ := strconv.ParseInt(b.Ref, 10, 64)
		return int(x - y)
	})
	return out
}

// rescue ends the runs that began more than age ago.
func (s *Store) rescue(ctx context.Context, now time.Time, age time.Duration) ([]stores.Run, error) {
	stuck, args := "state = 'running' AND started < ?", []stores.Value{stores.NewTime(now.Add(-age))}
	some := false
	err := s.read(ctx, func(c *conn) (err error) {
		some, err = c.exists("SELECT 1 FROM main.verbatim_job WHERE "+stuck+" LIMIT 1", args)
		return fault("rescue", err)
	})
	if err != nil || !some {
		return nil, err
	}
	var rescued []stores.JobRecord
	var refs []string
	err = s.write(ctx, func(c *conn) error {
		rescued, refs, err = readJobs(c, ctx, `UPDATE main.verbatim_job SET state = CASE WHEN attempt < attempts THEN 'waiting' ELSE 'dead' END,
ended = CASE WHEN attempt < attempts THEN NULL ELSE ? END, note = ? WHERE `+stuck+" RETURNING "+jobColumns,
			slices.Concat([]stores.Value{stores.NewTime(now), str(stores.NoteRescued)}, args))
		return fault("rescue", err)
	})
	if err != nil {
		return nil, err
	}
	return runs(rescued, refs), nil
}

// Jobs implements stores.Queue.
func (s *Store) Jobs(ctx context.Context, f stores.JobFilter) (records []stores.JobRecord, err error) {
	err = s.View(ctx, stores.Scope{}, func(r stores.Reader) error {
		records, err = r.Jobs(ctx, f)
		return err
	})
	return records, err
}

// CountJobs implements stores.Queue.
func (s *Store) CountJobs(ctx context.Context) (c stores.JobCounts, err error) {
	err = s.View(ctx, stores.Scope{}, func(r stores.Reader) error {
		return r.(*reader).c.query(ctx, "SELECT state, count(*), min(at), min(CASE WHEN note <> '' THEN created END) FROM main.verbatim_job WHERE state <> 'done' GROUP BY state", nil, func(row *sqlite.Stmt) error {
			n := row.ColumnInt(1)
			switch row.ColumnText(0) {
			case stores.JobWaiting.String():
				c.Waiting = n
				for i, to := range map[int]*time.Time{2: &c.Due, 3: &c.Failing} {
					if row.ColumnIsNull(i) {
						continue
					}
					t, err := time.Parse(timeLayout, row.ColumnText(i))
					if err != nil {
						return fmt.Errorf("a job has a time that cannot be read: %w", stores.ErrInvalid)
					}
					*to = t
				}
			case stores.JobRunning.String():
				c.Running = n
			case stores.JobDead.String():
				c.Dead = n
			}
			return nil
		})
	})
	return c, fault("jobs", err)
}

// Jobs implements stores.Reader.
func (r *reader) Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error) {
	q := "SELECT " + jobColumns + " FROM main.verbatim_job WHERE 1"
	q += among("id", len(f.IDs))
	args := strs(f.IDs)
	q += among("state", len(f.States))
	for _, state := range f.States {
		args = append(args, str(state.String()))
	}
	q += among("kind", len(f.Kinds))
	args = append(args, strs(f.Kinds)...)
	if f.Tried {
		q += " AND attempt > 0"
	}
	if f.Unique != "" {
		q, args = q+" AND correlation = ? AND correlation IS NOT NULL AND state IN ('waiting', 'running')", append(args, str(f.Unique))
	}
	if f.Holds != "" {
		q, args = q+" AND instr(payload, ?) > 0", append(args, str(inJSON(f.Holds)))
	}
	if f.Ahead != nil {
		q += ` AND state IN ('waiting', 'running') AND kind = ? AND seq < ? AND EXISTS (SELECT 1 FROM json_each(payload, '$.about') theirs
JOIN json_each(?, '$.about') ours ON theirs.value = ours.value)`
		args = append(args, str(f.Ahead.Kind), str(f.Ahead.Ref), str(f.Ahead.Payload))
	}
	limit := r.s.rowCap
	if f.Limit > 0 {
		limit = min(limit, f.Limit)
	}
	records, _, err := readJobs(r.c, ctx, q+" ORDER BY at, seq LIMIT ?", append(args, stores.NewInt(int64(limit))))
	return records, fault("jobs", err)
}

func strs(texts []string) []stores.Value {
	values := make([]stores.Value, len(texts))
	for i, s := range texts {
		values[i] = str(s)
	}
	return values
}

// among writes the condition that a column equals one of n arguments; without arguments, that it
// may be anything.
func among(column string, n int) string {
	if n == 0 {
		return ""
	}
	return " AND " + column + " IN (?" + strings.Repeat(",?", n-1) + ")"
}

func readJobs(c *conn, ctx context.Context, q string, args []stores.Value) (records []stores.JobRecord, refs []string, err error) {
	err = c.query(ctx, q, args, func(row *sqlite.Stmt) error {
		text, number := row.ColumnText, row.ColumnInt
		var bad error
		when := func(i int) time.Time {
			if row.ColumnIsNull(i) {
				return time.Time{}
			}
			t, err := time.Parse(timeLayout, text(i))
			if err != nil {
				bad = fmt.Errorf("a job has a time that cannot be read: %w", stores.ErrInvalid)
			}
			return t
		}
		r := stores.JobRecord{
			Job: stores.Job{ID: text(1), Kind: text(2), Payload: text(3), At: when(4), Attempts: number(6), Unique: text(7),
				Principal: text(8), Origins: text(9)},
			Attempt: number(5), Created: when(11), Started: when(12), Ended: when(13), Worker: text(14), Note: text(15),
		}
		r.State.Read(text(10))
		records, refs = append(records, r), append(refs, strconv.Itoa(number(0)))
		return bad
	})
	return records, refs, err
}

// changeJobs retries or drops jobs that are dead or waiting.
func (t *tx) changeJobs(changes []stores.JobChange) error {
	for i := range changes {
		c := &changes[i]
		if err := c.Check(); err != nil {
			return err
		}
		q, args := "DELETE FROM main.verbatim_job", []stores.Value(nil)
		if !c.Drop {
			q, args = "UPDATE main.verbatim_job SET state = 'waiting', at = ?, ended = NULL, attempts = max(attempts, attempt + 1)", []stores.Value{stores.NewTime(c.At)}
		}
		states := "'waiting', 'dead'"
		if c.Done {
			states = "'done'"
		}
		n, err := t.c.exec(q+" WHERE id = ? AND attempt = ? AND state IN ("+states+")", append(args, str(c.ID), stores.NewInt(int64(c.Attempt)))...)
		switch {
		case err != nil:
			return fault("job", err)
		case n == 0:
			return stores.ErrConflict
		}
	}
	return nil
}

// inJSON returns a text as it stands between the quotation marks of a JSON string.
func inJSON(text string) string {
	quoted := stores.AppendJSONString(nil, text)
	return string(quoted[1 : len(quoted)-1])
}

// prune deletes jobs that were done before a time.
func (s *Store) prune(ctx context.Context, before time.Time) error {
	const old = "SELECT seq FROM main.verbatim_job WHERE state = 'done' AND ended < ? LIMIT 1000"
	for {
		some := false
		err := s.read(ctx, func(c *conn) (err error) {
			some, err = c.exists(old, []stores.Value{stores.NewTime(before)})
			return fault("prune", err)
		})
		if err != nil || !some {
			return err
		}
		// In batches, so that no writer waits for long.
		err = s.write(ctx, func(c *conn) error {
			_, err := c.exec("DELETE FROM main.verbatim_job WHERE seq IN ("+old+")", stores.NewTime(before))
			return fault("prune", err)
		})
		if err != nil {
			return err
		}
	}
}
