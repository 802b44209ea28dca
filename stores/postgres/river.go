package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"verbatim/stores"
)

// River's client and workers run the jobs: they fetch, time out, try again, rescue, schedule,
// clean up and elect the leader that does that, and they listen for due jobs, or poll behind a
// connection pooler. River 0.51 cannot be configured in four respects, so its driver is corrected
// in four places (see driver):
//
//   - Its rescuer and its cleaners read this machine's clock, whatever Config.Test.Time
//     says. Theirs is set to the store's clock.
//   - It ends a run by its job alone, so that a worker from which a job was taken would
//     end the run of the worker that has the job now. Here the attempt is a fence.
//   - Its rescuer gives up jobs of kinds that its worker does not know. They wait.
//   - What it rescues waits as after a failure. Here it is due at once.
//
// Its reindexer has nothing to do: the application does not own the tables.

// riverNote is the metadata of a note: see tag.
const riverNote = "verbatim_note"

// look is how long Once waits, at most, for maintenance that another worker leads.
const look = 20 * time.Second

// Work implements stores.Queue.
func (s *Store) Work(ctx context.Context, sh stores.Shift) error {
	switch {
	case s.closed.Load():
		return errClosed
	case s.asOwner:
		return errOwner
	}
	if err := s.riverVersion(ctx); err != nil {
		return err
	}
	c := &clock{store: s, given: sh.Clock, began: time.Now()}
	if err := c.ask(ctx); err != nil {
		return err
	}
	if !sh.Once {
		return s.client(ctx, &sh, c, func(context.Context, *driver) bool { return false })
	}
	// Maintenance, which looks as soon as it begins and then every few seconds, handles jobs that
	// are stuck, due for a retry or old. Jobs that come up later are left to other clients.
	// Another worker may also be the one that runs maintenance.
	const soon = 50 * time.Millisecond
	for patience := soon; ctx.Err() == nil && patience < look; patience *= 2 {
		some, err := s.left(ctx, &sh)
		if err != nil || !some {
			return err
		}
		idle, seen := time.Now(), int64(0)
		err = s.client(ctx, &sh, c, func(ctx context.Context, d *driver) bool {
			if n := d.done.Load(); n != seen {
				idle, seen, patience = time.Now(), n, soon
			}
			some, err := s.left(ctx, &sh)
			return err == nil && !some || time.Since(idle) > patience
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// client runs a River client until ctx ends, or until enough returns true. enough is called
// whenever there was nothing to fetch and nothing runs.
func (s *Store) client(ctx context.Context, sh *stores.Shift, c *clock, enough func(context.Context, *driver) bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := &driver{Driver: riverpgxv5.New(s.pool), s: s, clock: c, sh: sh, idle: make(chan struct{}, 1)}
	workers := river.NewWorkers()
	for _, kind := range sh.Kinds {
		river.AddWorkerArgs(workers, args{kind: kind}, &worker{d: d})
	}
	poll := max(sh.Poll, 2*time.Millisecond)
	if sh.Once {
		poll = 20 * time.Millisecond
	}
	client, err := river.NewClient(d, &river.Config{
		ID: sh.Worker, Schema: riverSchema, Workers: workers, FetchOnlyKnownKinds: true, Logger: slog.New(slog.DiscardHandler),
		Queues:        map[string]river.QueueConfig{riverQueue: {MaxWorkers: sh.Concurrency}},
		FetchCooldown: 2 * time.Millisecond, FetchPollInterval: poll,
		// This mode is set for a transaction pooler, which forwards no notifications.
		PollOnly:   sh.Once || pooled(s.pool.Config()),
		JobTimeout: sh.Timeout, RescueStuckJobsAfter: 2 * sh.Timeout, SoftStopTimeout: sh.Drain,
		CompletedJobRetentionPeriod: sh.Kept, CancelledJobRetentionPeriod: -1, DiscardedJobRetentionPeriod: -1,
		ReindexerIndexNames: []string{},
		Test:                river.TestConfig{Time: c},
		TestOnly:            sh.Once, // maintenance begins at once, and not within a second
	})
	if err != nil {
		return fault(ctx, "work", err)
	}
	if err := client.Start(ctx); err != nil {
		return fault(ctx, "work", err)
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-d.idle:
			if enough(ctx, d) {
				stop()
			}
		}
	}
	<-client.Stopped()
	// A client that is stopped while it is elected remains the leader, and nobody else can lead
	// until its term is over. If this fails, they wait for that.
	ctx, gone := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer gone()
	_, _ = s.pool.Exec(ctx, "DELETE FROM "+riverSchema+".river_leader WHERE leader_id = $1", sh.Worker)
	return nil
}

// left reports whether something is due for a shift, or for maintenance.
func (s *Store) left(ctx context.Context, sh *stores.Shift) (some bool, err error) {
	var now any
	if sh.Clock != nil {
		now = sh.Clock()
	}
	err = s.pool.QueryRow(ctx, `WITH clock AS (SELECT coalesce($1::timestamptz, now()) AS now)
SELECT EXISTS (SELECT FROM `+riverJob+`, clock WHERE state IN ('available', 'scheduled', 'retryable') AND scheduled_at <= clock.now AND queue = '`+riverQueue+`' AND kind = ANY ($2::text[]))
	OR EXISTS (SELECT FROM `+riverJob+`, clock WHERE state = 'running' AND attempted_at < clock.now - $3::bigint * interval '1 microsecond')
	OR EXISTS (SELECT FROM `+riverJob+`, clock WHERE state = 'completed' AND finalized_at < clock.now - $4::bigint * interval '1 microsecond')`,
		now, sh.Kinds, 2*sh.Timeout.Microseconds(), sh.Kept.Microseconds()).Scan(&some)
	return some, fault(ctx, "work", err)
}

// args are a job's stored arguments.
type args struct {
	kind string
	json.RawMessage
}

func (a args) Kind() string { return a.kind }

// A worker carries out runs of one kind.
type worker struct {
	river.WorkerDefaults[args]
	d     *driver
	again sync.Map // when a failed job is tried again, by its ID
}

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, job *river.Job[args]) error {
	defer w.d.ran()
	run, err := runOf(job.JobRow)
	if err != nil {
		return errors.New("unreadable-job")
	}
	if err = w.d.sh.Run(ctx, run); err == nil {
		return nil
	}
	u := &stores.Unfinished{After: time.Minute, Note: "system-failure"}
	errors.As(err, &u)
	switch {
	case u.Free && errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled // the client stops, and returns the job
	case u.Free:
		if err := river.MetadataSet(ctx, riverNote, note{w.d.clock.Now(), u.Note}); err != nil {
			return err
		}
		return river.JobSnooze(u.After)
	case u.State == stores.JobDead && run.Attempt < run.Tries():
		return river.JobCancel(u)
	}
	w.again.Store(job.ID, w.d.clock.Now().Add(u.After))
	return errors.New(u.Note)
}

// NextRetry implements river.Worker.
func (w *worker) NextRetry(job *river.Job[args]) time.Time {
	at, _ := w.again.LoadAndDelete(job.ID)
	t, _ := at.(time.Time)
	return t
}

func runOf(j *rivertype.JobRow) (stores.Run, error) {
	r, err := recordOf(j)
	return stores.Run{Job: r.Job, Attempt: r.Attempt, Started: r.Started, Ref: strconv.FormatInt(j.ID, 10)}, err
}

// A clock tells the store's time. River's statements use the server's own clock; its computations
// on this machine use the offset learned last.
type clock struct {
	store *Store
	given func() time.Time
	began time.Time    // this machine's clock is not read again after this, in case it is set
	ahead atomic.Int64 // offset from this machine's clock, in nanoseconds
}

func (c *clock) ask(ctx context.Context) error {
	if c.given != nil {
		return nil
	}
	var now time.Time
	err := c.store.pool.QueryRow(ctx, "SELECT now()").Scan(&now)
	c.learn(now)
	return fault(ctx, "clock", err)
}

// learn notes a time that the store's clock has just told.
func (c *clock) learn(now time.Time) { c.ahead.Store(int64(now.Sub(c.steady().Round(0)))) }

func (c *clock) steady() time.Time { return c.began.Add(time.Since(c.began)) }

// Now implements rivertype.TimeGenerator.
func (c *clock) Now() time.Time {
	if c.given != nil {
		return c.given()
	}
	return c.steady().Add(time.Duration(c.ahead.Load()))
}

// NowOrNil implements rivertype.TimeGenerator.
func (c *clock) NowOrNil() *time.Time {
	if c.given == nil {
		return nil
	}
	now := c.given()
	return &now
}

// A driver is River's driver for PostgreSQL with corrections. River calls its interface unstable:
// its version is pinned in go.mod, and the test suites show whether a newer one still fits.
type driver struct {
	*riverpgxv5.Driver
	s       *Store
	clock   *clock
	sh      *stores.Shift
	running atomic.Int64
	done    atomic.Int64  // runs, and jobs that maintenance handled
	idle    chan struct{} // signals that nothing was fetched, and nothing runs
	away    atomic.Bool
}

func (d *driver) ran() {
	d.running.Add(-1)
	d.done.Add(1)
}

// GetExecutor implements riverdriver.Driver.
func (d *driver) GetExecutor() riverdriver.Executor {
	return &executor{Executor: d.Driver.GetExecutor(), d: d, stuck: map[int64]*rivertype.JobRow{}}
}

type executor struct {
	riverdriver.Executor
	d     *driver
	stuck map[int64]*rivertype.JobRow // jobs that the rescuer is working on
}

// JobGetAvailable implements riverdriver.Executor.
func (x *executor) JobGetAvailable(ctx context.Context, p *riverdriver.JobGetAvailableParams) (*riverdriver.JobGetAvailableResult, error) {
	d := x.d
	found, err := x.Executor.JobGetAvailable(ctx, p)
	if gone := err != nil; d.away.Swap(gone) != gone && gone && d.sh.Away != nil {
		d.sh.Away(fault(ctx, "take", err))
	}
	if err != nil {
		return nil, err
	}
	d.running.Add(int64(len(found.Jobs) - len(found.DecodeErrors))) // the rest fails without a run
	if len(found.Jobs) == 0 {
		if d.running.Load() == 0 {
			select {
			case d.idle <- struct{}{}:
			default:
			}
		}
		return found, nil
	}
	if at := found.Jobs[0].AttemptedAt; at != nil && d.clock.given == nil {
		d.clock.learn(*at)
	}
	// PostgreSQL returns updated rows in any order.
	slices.SortFunc(found.Jobs, func(a, b *rivertype.JobRow) int {
		if c := a.ScheduledAt.Compare(b.ScheduledAt); c != 0 {
			return c
		}
		return int(a.ID - b.ID)
	})
	return found, nil
}

// JobSetStateIfRunningMany implements riverdriver.Executor. A run that ended well has settled its
// job already; of the others, it ends those whose job is still at this attempt.
func (x *executor) JobSetStateIfRunningMany(ctx context.Context, p *riverdriver.JobSetStateIfRunningManyParams) (rows []*rivertype.JobRow, err error) {
	at := map[int64]int{}
	for i, id := range p.ID {
		var failed rivertype.AttemptError
		switch {
		case p.Attempt[i] != nil: // the attempt does not count
			at[id] = *p.Attempt[i] + 1
		case p.ErrData[i] != nil:
			if err := json.Unmarshal(p.ErrData[i], &failed); err != nil {
				return nil, err
			}
			at[id] = failed.Attempt
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	err = pgx.BeginFunc(ctx, x.d.s.pool, func(tx pgx.Tx) error {
		q, held := *p, false
		q.ID = slices.Clone(p.ID)
		for i, id := range q.ID {
			tag, err := tx.Exec(ctx, "SELECT FROM "+riverJob+" WHERE id = $1 AND attempt = $2 AND state = 'running' FOR UPDATE", id, at[id])
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				q.ID[i] = 0 // no job has it
			}
			held = held || q.ID[i] != 0
		}
		if !held {
			return nil
		}
		var err error
		rows, err = x.d.UnwrapExecutor(tx).JobSetStateIfRunningMany(ctx, &q)
		return err
	})
	return rows, err
}

// JobGetStuck implements riverdriver.Executor.
func (x *executor) JobGetStuck(ctx context.Context, p *riverdriver.JobGetStuckParams) ([]*rivertype.JobRow, error) {
	if err := x.d.clock.ask(ctx); err != nil {
		return nil, err
	}
	q := *p
	q.StuckHorizon = x.d.clock.Now().Add(-2 * x.d.sh.Timeout)
	stuck, err := x.Executor.JobGetStuck(ctx, &q)
	clear(x.stuck)
	for _, j := range stuck {
		row := *j
		x.stuck[j.ID] = &row
		at := p.StuckHorizon // by this machine's clock, which the rescuer reads again
		j.AttemptedAt = &at
	}
	return stuck, err
}

// JobRescueMany implements riverdriver.Executor.
func (x *executor) JobRescueMany(ctx context.Context, p *riverdriver.JobRescueManyParams) (*struct{}, error) {
	q := *p
	q.StuckHorizon = x.d.clock.Now().Add(-2 * x.d.sh.Timeout)
	now := x.d.clock.Now()
	for i, id := range p.ID {
		j := x.stuck[id]
		q.ScheduledAt[i], q.FinalizedAt[i] = j.ScheduledAt, &now
		if q.State[i] != string(rivertype.JobStateCancelled) {
			q.State[i] = string(rivertype.JobStateDiscarded)
			if j.Attempt < j.MaxAttempts {
				q.State[i], q.FinalizedAt[i] = string(rivertype.JobStateAvailable), nil
			}
		}
		var err error
		if q.Error[i], err = json.Marshal(rivertype.AttemptError{At: now, Attempt: j.Attempt, Error: stores.NoteRescued}); err != nil {
			return nil, err
		}
	}
	done, err := x.Executor.JobRescueMany(ctx, &q)
	if err != nil {
		return nil, err
	}
	x.d.done.Add(int64(len(p.ID)))
	for _, id := range p.ID {
		if run, err := runOf(x.stuck[id]); err == nil {
			x.d.sh.Lost(run)
		}
	}
	return done, nil
}

// JobDeleteBefore implements riverdriver.Executor.
func (x *executor) JobDeleteBefore(ctx context.Context, p *riverdriver.JobDeleteBeforeParams) (int, error) {
	q := *p
	q.CompletedFinalizedAtHorizon = x.d.clock.Now().Add(-x.d.sh.Kept)
	n, err := x.Executor.JobDeleteBefore(ctx, &q)
	x.d.done.Add(int64(n))
	return n, err
}

// QueueDeleteExpired implements riverdriver.Executor.
func (x *executor) QueueDeleteExpired(ctx context.Context, p *riverdriver.QueueDeleteExpiredParams) ([]string, error) {
	q := *p
	q.UpdatedAtHorizon = x.d.clock.Now().Add(time.Until(p.UpdatedAtHorizon))
	return x.Executor.QueueDeleteExpired(ctx, &q)
}

// LeaderAttemptReelect implements riverdriver.Executor. Elections use the server's clock,
// whatever time a rehearsal sets.
func (x *executor) LeaderAttemptReelect(ctx context.Context, p *riverdriver.LeaderReelectParams) (*riverdriver.Leader, error) {
	q := *p
	q.Now = nil
	return x.Executor.LeaderAttemptReelect(ctx, &q)
}

// Begin implements riverdriver.Executor.
func (x *executor) Begin(ctx context.Context) (riverdriver.ExecutorTx, error) {
	t, err := x.Executor.Begin(ctx)
	return election{t}, err
}

// An election is a transaction in which a client may become the leader.
type election struct{ riverdriver.ExecutorTx }

// LeaderAttemptElect implements riverdriver.Executor.
func (e election) LeaderAttemptElect(ctx context.Context, p *riverdriver.LeaderElectParams) (*riverdriver.Leader, error) {
	q := *p
	q.Now = nil
	return e.ExecutorTx.LeaderAttemptElect(ctx, &q)
}

// LeaderDeleteExpired implements riverdriver.Executor.
func (e election) LeaderDeleteExpired(ctx context.Context, p *riverdriver.LeaderDeleteExpiredParams) (int, error) {
	q := *p
	q.Now = nil
	return e.ExecutorTx.LeaderDeleteExpired(ctx, &q)
}

// riverVersion returns an error for River tables of another version.
func (s *Store) riverVersion(ctx context.Context) error {
	steps, err := riverMigrations()
	if err != nil {
		return err
	}
	var is int64
	if err := s.pool.QueryRow(ctx, "SELECT max(version) FROM "+riverSchema+".river_migration WHERE line = $1", riverdriver.MigrationLineMain).Scan(&is); err != nil {
		return fault(ctx, "work", err)
	}
	return riverFits(is, steps)
}

// riverFits returns an error for River tables of another version, and says what to do about them.
func riverFits(is int64, steps []riverStep) error {
	switch known := int64(steps[len(steps)-1].version); {
	case is < known:
		return fmt.Errorf("the tables of River: %w; migrate the store", &stores.VersionError{Is: is, Known: known})
	case is > known:
		return fmt.Errorf("the tables of River: %w; use the program that migrated them, or a newer one", &stores.VersionError{Is: is, Known: known})
	}
	return nil
}

// searches are indexes of River's second migration, for searching the arguments and metadata of
// jobs. No statement of River's or ours uses them, and maintaining them takes several times as
// long as adding the job. River reindexes those that exist, and does not need them.
var searches = [...]string{"river_job_args_index", "river_job_metadata_index"}

// jobs plans River's tables and the application's rights on them.
func (m *migration) jobs() error {
	done := map[int]bool{}
	if !m.schemas[riverSchema] {
		m.Step("CREATE SCHEMA %s", riverSchema)
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
	if is := slices.Max(append(slices.Collect(maps.Keys(done)), 0)); is > steps[len(steps)-1].version {
		m.Problems = append(m.Problems, riverFits(int64(is), steps).Error())
	}
	for _, s := range steps {
		if !done[s.version] {
			m.Steps = append(m.Steps, s.sql...)
		}
	}
	if !m.indexes[riverSchema]["verbatim_job_id"] {
		m.Step("CREATE UNIQUE INDEX verbatim_job_id ON %s ((metadata->>'verbatim_id'))", riverJob)
	}
	for _, name := range searches {
		if !done[2] || m.indexes[riverSchema][name] {
			m.Step("DROP INDEX %s.%s", riverSchema, name)
		}
	}
	if m.role == "" {
		return nil
	}
	const all = "SELECT, INSERT, UPDATE, DELETE"
	for _, right := range [][2]string{{"river_job", all}, {"river_leader", all}, {"river_queue", all}, {"river_migration", "SELECT"}} {
		if err := m.grant(riverSchema, right[0], right[1]); err != nil {
			return err
		}
	}
	// UPDATE on a sequence is what drawing numbers from it needs.
	return m.grant(riverSchema, "river_job_id_seq", "UPDATE")
}

type riverStep struct {
	version int
	sql     []string
}

// riverMigrations are River's own migrations, as text for our one transaction, each with the line
// that tells River's tools that it was made.
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
