package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
)

const schema = "verbatim_river"

// A queue is a store with a connection beside it, for River's own client.
type queue struct {
	*testing.T
	stores.Store
	db   pgtest.DB
	pool *pgxpool.Pool
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	db := pgtest.Database(t)
	s := openDatabase(t, db, []*stores.Entity{})
	pool, err := pgxpool.New(context.Background(), db.Admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &queue{t, s, db, pool}
}

func (q *queue) must(err error) {
	q.Helper()
	if err != nil {
		q.Fatal(err)
	}
}

func (q *queue) exec(sql string, args ...any) {
	q.Helper()
	_, err := q.pool.Exec(context.Background(), sql, args...)
	q.must(err)
}

func (q *queue) enqueue(s stores.Store, jobs ...stores.Job) {
	q.Helper()
	ctx := context.Background()
	q.must(s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Jobs: jobs}) }))
}

func due(id string, at time.Time) stores.Job {
	return stores.Job{ID: id, Kind: "call", Payload: `{"v":1}`, At: at}
}

// states tells the states of all jobs, in the order of their ids.
func (q *queue) states(s stores.Store) string {
	q.Helper()
	all, err := s.Jobs(context.Background(), stores.JobFilter{})
	q.must(err)
	var out []string
	for _, j := range all {
		out = append(out, fmt.Sprint(j.ID, " ", j.State, " ", j.Attempt))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// listens says how many connections listen for notifications.
func (q *queue) listens() (n int) {
	q.Helper()
	q.must(q.pool.QueryRow(context.Background(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^(UN)?LISTEN '").Scan(&n))
	return n
}

// shift is a worker that does each job at once.
func shift(s stores.Store, name string) stores.Shift {
	return stores.Shift{Worker: name, Kinds: []string{"call"}, Concurrency: 4, Timeout: time.Minute, Poll: 50 * time.Millisecond, Drain: 10 * time.Second, Kept: time.Hour,
		Lost: func(stores.Run) {}, Run: func(ctx context.Context, r stores.Run) error {
			now, err := s.Clock(ctx)
			if err != nil {
				return err
			}
			return s.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
				return tx.Apply(ctx, stores.Batch{Settled: []stores.Settlement{{Run: r, State: stores.JobDone, At: now}}})
			})
		}}
}

// works runs a shift until something holds.
func (q *queue) works(s stores.Store, sh stores.Shift, until func() bool) {
	q.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Work(ctx, sh) }()
	for began := time.Now(); !until(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 45*time.Second {
			q.Error("it takes too long: " + q.states(s))
			break
		}
	}
	stop()
	q.must(<-ended)
}

type theirs struct {
	V int `json:"v" river:"unique"`
}

func (theirs) Kind() string { return "call" }

// client is River's own, on River's own driver.
func (q *queue) client(c river.Config) *river.Client[pgx.Tx] {
	q.Helper()
	c.Schema, c.Logger = schema, slog.New(slog.DiscardHandler)
	client, err := river.NewClient(riverpgxv5.New(q.pool), &c)
	q.must(err)
	return client
}

// row is a job's row, every column of it but those that are to differ.
func (q *queue) row(where string, but ...string) map[string]any {
	q.Helper()
	var text string
	q.must(q.pool.QueryRow(context.Background(), "SELECT to_jsonb(j)::text FROM "+schema+".river_job j WHERE "+where).Scan(&text))
	row := map[string]any{}
	q.must(json.Unmarshal([]byte(text), &row))
	if len(row) != 18 {
		q.Errorf("a job has %d columns: %v", len(row), row)
	}
	for _, column := range but {
		delete(row, column)
	}
	return row
}

func (q *queue) same(ours, theirs map[string]any) {
	q.Helper()
	a, _ := json.Marshal(ours)
	b, _ := json.Marshal(theirs)
	if string(a) != string(b) {
		q.Errorf("it is\n%s\nand River writes\n%s", a, b)
	}
}

// The statement that enqueues writes what River's InsertTx writes, in every column: of a
// job for later, of one that is due, and of one with a correlation key, but that River
// makes its own key of arguments.
func TestEnqueuedAsByRiver(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ctx := context.Background()
	client := q.client(river.Config{})
	now, err := q.Clock(ctx)
	q.must(err)
	later := now.Add(48 * time.Hour).Truncate(time.Microsecond)
	unique := due("ours-unique", later)
	unique.Unique = "k"
	q.enqueue(q, due("ours-later", later), due("ours-due", now), unique)
	tx, err := q.pool.Begin(ctx)
	q.must(err)
	for id, o := range map[string]river.InsertOpts{
		"later": {ScheduledAt: later}, "due": {},
		"unique": {ScheduledAt: later, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{rivertype.JobStateAvailable,
			rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}}},
	} {
		o.Queue, o.MaxAttempts, o.Metadata = "verbatim", stores.DefaultAttempts, fmt.Appendf(nil, `{"verbatim_id":"theirs-%s"}`, id)
		if id == "unique" {
			o.Metadata = []byte(`{"verbatim_id":"theirs-unique","unique":"k"}`)
		}
		_, err := client.InsertTx(ctx, tx, theirs{V: 1}, &o)
		q.must(err)
	}
	q.must(tx.Commit(ctx))
	for id, but := range map[string][]string{"later": {}, "due": {"scheduled_at"}, "unique": {"unique_key"}} {
		ours, theirs := "metadata->>'verbatim_id' = 'ours-"+id+"'", "metadata->>'verbatim_id' = 'theirs-"+id+"'"
		if q.row(ours)["created_at"] == nil || len(q.row(ours)) != len(q.row(theirs)) || (q.row(ours)["unique_key"] == nil) != (q.row(theirs)["unique_key"] == nil) {
			t.Errorf("%s: %v", id, q.row(ours))
		}
		but = append(but, "id", "created_at", "metadata")
		q.same(q.row(ours, but...), q.row(theirs, but...))
	}
	if all, err := q.Jobs(ctx, stores.JobFilter{}); err != nil || len(all) != 6 || all[5].Payload != all[0].Payload {
		t.Errorf("%+v, %v", all, err)
	}
}

// What settles a run in the transaction of its effect writes what River's JobCompleteTx
// writes.
func TestCompletedAsByRiver(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ctx := context.Background()
	now, err := q.Clock(ctx)
	q.must(err)
	q.enqueue(q, due("ours", now))
	sh := shift(q, "same")
	sh.Once = true
	q.must(q.Work(ctx, sh))

	workers, done := river.NewWorkers(), make(chan struct{})
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[theirs]) error {
		defer close(done)
		return pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
			_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
			return err
		})
	}))
	client := q.client(river.Config{ID: "same", Workers: workers, Queues: map[string]river.QueueConfig{"verbatim": {MaxWorkers: 1}}})
	_, err = client.Insert(ctx, theirs{V: 1}, &river.InsertOpts{Queue: "verbatim", MaxAttempts: stores.DefaultAttempts, Metadata: []byte(`{"verbatim_id":"theirs"}`)})
	q.must(err)
	q.must(client.Start(ctx))
	<-done
	q.must(client.Stop(ctx))
	but := []string{"id", "created_at", "metadata", "scheduled_at", "attempted_at", "finalized_at"}
	ours, theirs := q.row("metadata->>'verbatim_id' = 'ours'"), q.row("metadata->>'verbatim_id' = 'theirs'")
	if ours["finalized_at"] == nil || theirs["finalized_at"] == nil {
		t.Error(ours, theirs)
	}
	for _, column := range but {
		delete(ours, column)
		delete(theirs, column)
	}
	q.same(ours, theirs)
}

// River's own tools look after the jobs: its client lists them, cancels one and has it
// tried again.
func TestRiversToolsLookAfterJobs(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ctx := context.Background()
	now, err := q.Clock(ctx)
	q.must(err)
	q.enqueue(q, due("a", now), due("b", now.Add(time.Hour)))
	client := q.client(river.Config{})
	list, err := client.JobList(ctx, river.NewJobListParams().Kinds("call"))
	q.must(err)
	if len(list.Jobs) != 2 {
		t.Fatalf("River lists %d jobs", len(list.Jobs))
	}
	_, err = client.JobCancel(ctx, list.Jobs[0].ID)
	q.must(err)
	if got := q.states(q); got != "a dead 0, b waiting 0" {
		t.Error(got)
	}
	_, err = client.JobRetry(ctx, list.Jobs[0].ID)
	q.must(err)
	sh := shift(q, "w")
	sh.Once = true
	q.must(q.Work(ctx, sh))
	if got := q.states(q); got != "a done 1, b waiting 0" {
		t.Error(got)
	}
}

// A River schema of another version is refused, by workers and by Migrate, and both say
// what to do.
func TestRiverSchemaOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, worker, migrate string }{
		"older": {"DELETE FROM " + schema + ".river_migration WHERE version = (SELECT max(version) FROM " + schema + ".river_migration)", "migrate the store", ""},
		"newer": {"INSERT INTO " + schema + ".river_migration (line, version) VALUES ('main', 99)", "a newer one", "a newer one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueue(t)
			q.exec(c.sql)
			now, err := q.Clock(context.Background())
			q.must(err)
			q.enqueue(q, due("a", now))
			if err := q.Work(context.Background(), shift(q, "w")); !errors.Is(err, stores.ErrVersion) || !strings.Contains(err.Error(), c.worker) {
				t.Error(err)
			}
			if got := q.states(q); got != "a waiting 0" {
				t.Error(got)
			}
			plan, err := q.Migrate(context.Background(), []*stores.Entity{}, false)
			q.must(err)
			if told := strings.Join(plan.Problems, "; "); (c.migrate == "") != (told == "") || !strings.Contains(told, c.migrate) {
				t.Errorf("the plan says %q", told)
			}
		})
	}
}

// Behind a pooler of transactions, for which the mode exec is set, a worker polls.
func TestWorksBehindAPooler(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ctx := context.Background()
	s, err := postgres.Open(ctx, q.db.App+"&default_query_exec_mode=exec")
	q.must(err)
	defer s.Close()
	now, err := s.Clock(ctx)
	q.must(err)
	failing := due("b", now)
	failing.Kind = "notice"
	q.enqueue(s, due("a", now), failing)
	sh := shift(s, "w")
	done := sh.Run
	sh.Kinds = append(sh.Kinds, "notice")
	sh.Run = func(ctx context.Context, r stores.Run) error {
		if r.Kind == "notice" {
			return &stores.Unfinished{After: time.Hour, Note: "no answer"}
		}
		return done(ctx, r)
	}
	q.works(s, sh, func() bool {
		if q.listens() != 0 {
			t.Error("it listens")
		}
		return q.states(s) == "a done 1, b waiting 1"
	})
}

// A worker is told of a job that is due: it does not wait until it looks again.
func TestWorkersAreTold(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	sh := shift(q, "w")
	sh.Poll = time.Hour
	began := false
	q.works(q, sh, func() bool {
		if !began && q.listens() > 0 {
			time.Sleep(200 * time.Millisecond) // the first fetch is over
			now, err := q.Clock(context.Background())
			q.must(err)
			q.enqueue(q, due("a", now))
			began = true
		}
		return q.states(q) == "a done 1"
	})
}

// away is a store whose server's clock is ahead of this machine's by a while: this
// worker's clock is wrong by as much, the other way.
func (q *queue) away(d time.Duration) stores.Store {
	q.Helper()
	ctx := context.Background()
	q.exec(fmt.Sprintf(`CREATE SCHEMA clock; GRANT USAGE ON SCHEMA clock TO PUBLIC;
CREATE FUNCTION clock.now() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT pg_catalog.now() + %d * interval '1 second' $$`, int(d.Seconds())))
	c, err := pgxpool.ParseConfig(q.db.App)
	q.must(err)
	c.ConnConfig.RuntimeParams["search_path"], c.ConnConfig.RuntimeParams["TimeZone"], c.ConnConfig.RuntimeParams["DateStyle"] = "clock, pg_catalog", "UTC", "ISO, YMD"
	pool, err := pgxpool.NewWithConfig(ctx, c)
	q.must(err)
	q.Cleanup(pool.Close)
	s, err := postgres.New(ctx, pool)
	q.must(err)
	return another{s, d}
}

// another is a store whose clock is off.
type another struct {
	stores.Store
	d time.Duration
}

func (a another) Clock(context.Context) (time.Time, error) { return time.Now().Add(a.d), nil }

// SAFE-R11: a worker whose clock is a day off runs nothing early and nothing late. It
// rescues what was lost, leaves what lives, forgets what is old, keeps what is not, and
// what failed is tried again when the store's clock says so.
func TestAWorkersClockIsADayOff(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]time.Duration{"behind": 24 * time.Hour, "ahead": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueue(t)
			s := q.away(d)
			now := time.Now().Add(d)
			failing := due("failing", now)
			q.enqueue(s, due("due", now), due("early", now.Add(time.Hour)), failing, due("living", now), due("lost", now), due("old", now), due("recent", now), due("scheduled", now.Add(-time.Second)))
			set := func(id, what string, at time.Time) {
				q.exec("UPDATE "+schema+".river_job SET "+what+" WHERE metadata->>'verbatim_id' = $2", at, id)
			}
			set("living", "state = 'running', attempt = 1, attempted_at = $1", now.Add(-30*time.Second))
			set("lost", "state = 'running', attempt = 1, attempted_at = $1", now.Add(-3*time.Minute))
			set("old", "state = 'completed', finalized_at = $1", now.Add(-2*time.Hour))
			set("recent", "state = 'completed', finalized_at = $1", now.Add(-30*time.Minute))
			set("scheduled", "state = 'scheduled', scheduled_at = $1", now.Add(-time.Second))
			var mu sync.Mutex
			var lost []string
			sh := shift(s, "w")
			done := sh.Run
			sh.Lost = func(r stores.Run) {
				mu.Lock()
				defer mu.Unlock()
				lost = append(lost, r.ID)
			}
			sh.Run = func(ctx context.Context, r stores.Run) error {
				if r.ID == "failing" {
					return &stores.Unfinished{After: 20 * time.Minute, Note: "no answer"}
				}
				return done(ctx, r)
			}
			want := "due done 1, early waiting 0, failing waiting 1, living running 1, lost done 2, recent done 0, scheduled done 1"
			q.works(s, sh, func() bool { return q.states(s) == want })
			if !slices.Equal(lost, []string{"lost"}) {
				t.Errorf("lost: %q", lost)
			}
			all, err := s.Jobs(context.Background(), stores.JobFilter{IDs: []string{"failing"}})
			q.must(err)
			if wait := all[0].At.Sub(now); wait < 20*time.Minute || wait > 22*time.Minute {
				t.Errorf("it is tried again after %s", wait)
			}
		})
	}
}

type frozen time.Time

func (f frozen) Now() time.Time { return time.Time(f) }
func (f frozen) NowOrNil() *time.Time {
	t := time.Time(f)
	return &t
}

// What cannot be had of River 0.51, and why its driver is put right here: its rescuer
// reads the clock of the machine, though Config.Test.Time is set, and takes a job that was
// begun a second ago by that clock from a worker that lives.
func TestRiversRescuerReadsTheMachinesClock(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ctx := context.Background()
	yesterday := time.Now().Add(-24 * time.Hour)
	q.enqueue(q, due("living", yesterday))
	q.exec("UPDATE "+schema+".river_job SET state = 'running', attempt = 1, attempted_at = $1", yesterday.Add(-time.Second))
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[theirs]) error { return nil }))
	client := q.client(river.Config{Workers: workers, Queues: map[string]river.QueueConfig{"other": {MaxWorkers: 1}}, JobTimeout: time.Minute,
		RescueStuckJobsAfter: 2 * time.Minute, Test: river.TestConfig{Time: frozen(yesterday)}, TestOnly: true})
	q.must(client.Start(ctx))
	defer func() { q.must(client.Stop(ctx)) }()
	for range 500 {
		if q.states(q) == "living waiting 1" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("River's rescuer goes by the clock that it is given now: the store's driver needs to put nothing right")
}

// A worker that looks once leaves maintenance to the worker that leads, and waits for it.
func TestOnceBesideALeader(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ctx := context.Background()
	now, err := q.Clock(ctx)
	q.must(err)
	q.enqueue(q, due("a", now))
	leader := shift(q, "leader")
	leader.Kinds = []string{"notice"}
	q.works(q, leader, func() bool {
		var led bool
		q.must(q.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+schema+".river_leader WHERE leader_id = 'leader')").Scan(&led))
		if !led {
			return false
		}
		q.exec("UPDATE " + schema + ".river_job SET state = 'retryable'")
		once := shift(q, "once")
		once.Once = true
		q.must(q.Work(ctx, once))
		if got := q.states(q); got != "a done 1" {
			t.Error(got)
		}
		return true
	})
}

// A client that was stopped while it was elected leads until its term is over, by the
// server's clock: a rehearsal whose clock stands still waits for that, and no longer, and
// a worker that is stopped takes back what it left itself.
func TestALeaderThatIsGone(t *testing.T) {
	t.Parallel()
	for _, gone := range []struct{ leader, term string }{{"another", "-1 second"}, {"once", "1 hour"}} {
		t.Run(gone.leader, func(t *testing.T) {
			t.Parallel()
			q := newQueue(t)
			then := time.Date(2024, 2, 27, 9, 30, 20, 0, time.UTC)
			q.enqueue(q, due("a", then))
			q.exec("UPDATE " + schema + ".river_job SET state = 'retryable'")
			q.exec("INSERT INTO "+schema+".river_leader (leader_id, elected_at, expires_at) VALUES ($1, now(), now() + $2::text::interval)", gone.leader, gone.term)
			once := shift(q, "once")
			once.Once, once.Clock = true, func() time.Time { return then }
			q.must(q.Work(context.Background(), once))
			if got := q.states(q); got != "a done 1" {
				t.Error(got)
			}
		})
	}
}
