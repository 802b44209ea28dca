package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"verbatim/stores"
)

// A replica is a server that follows the store's server by streaming replication. A View reads it
// if it has replayed everything that was in the store's log when the View began, so that such a
// View cannot be told from one that read the store itself: it sees what its own session wrote,
// through any process, and what anybody else did before it began, such as revoking a role. No
// session and no process has to remember anything for that. For such a View, the store itself
// answers only one short question.
//
// Everything else reads the store itself: transactions that write, rights, the journal, the
// queue. So does a View if the replica is behind, does not answer, or no longer follows.
type replica struct {
	pool  *pgxpool.Pool
	shows *passwords
	tell  func(string)

	mu    sync.Mutex
	says  string    // the last message about it
	rests time.Time // it is not asked before this time
	late  time.Time // since when it has been behind; zero if it is not
}

// Replica names a server that follows the store's server, which Views read if it is up to date.
// Its role must be the store's. Open refuses a server that answers and is not a replica of the
// store. tell is called with a sentence when the replica begins or ceases to be read; it may be
// called at any time, by many goroutines.
func Replica(url string, tell func(string)) Option {
	return func(c *config) { c.replicaURL, c.tellReplica = url, tell }
}

const (
	// catchUp is how long a View waits for a replica that is a little behind. A commit
	// takes about as long to get there.
	catchUp = 10 * time.Millisecond
	// unheard is how long a View waits for a replica that does not answer.
	unheard = 200 * time.Millisecond
	// restLate and restLost are how long a replica is not asked again after it was behind, or did
	// not answer.
	restLate, restLost = 100 * time.Millisecond, time.Second
	// lateTold is how long a replica is behind before that is reported.
	lateTold = 5 * time.Second
)

// The messages about a replica.
const (
	replicaReads    = "reads go to the replica where it has come far enough"
	replicaLate     = "the replica is behind: reads go to the store itself"
	replicaLost     = "the replica does not answer: reads go to the store itself"
	replicaPromoted = "the replica follows no longer, it was promoted or restored: reads go to the store itself"
	replicaOther    = "the replica follows another store: reads go to the store itself"
	replicaRole     = "the replica is opened with another role than the store: reads go to the store itself"
)

// A notReplicaError says that a server is no replica of the store.
type notReplicaError string

func (s notReplicaError) Error() string { return string(s) }

// follow makes the pool of a replica and checks it once.
func (s *Store) follow(ctx context.Context) error {
	c, err := s.dsn(s.replicaURL)
	if err != nil {
		return err
	}
	var store, role string
	const whoSQL = "SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system())::text || ' ' || pg_catalog.current_database(), current_user::text"
	err = s.lend(ctx, s.pool, func(c *conn) error {
		return c.do(ctx, op{doing: "open", sql: whoSQL, read: func(r row) error {
			store, role = r.str(0), r.str(1)
			return nil
		}})
	})
	if err != nil {
		return err
	}
	c.AfterConnect = func(ctx context.Context, pc *pgx.Conn) error {
		var is, as string
		if err := pc.QueryRow(ctx, whoSQL).Scan(&is, &as); err != nil {
			return err
		}
		switch {
		case is != store:
			return notReplicaError(replicaOther)
		case as != role:
			return notReplicaError(replicaRole)
		}
		return nil
	}
	s.replica = &replica{tell: s.tellReplica, says: replicaReads}
	// Its role is the store's, and so is the password, which the replica learns a moment later.
	s.replica.shows = newPasswords(c, func() []string { return append(s.shows.read(), s.replicaURL) })
	if s.replica.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return fault(ctx, "open", err)
	}
	if _, err := s.replica.reached(ctx, "0/0"); err != nil {
		var no notReplicaError
		if errors.As(err, &no) && no != replicaPromoted {
			what, _, _ := strings.Cut(string(no), ":")
			return fmt.Errorf("postgres: %s: %w", what, ErrReplica)
		}
		s.replica.leave(err)
	}
	return nil
}

// ErrReplica says that the server named as a replica is not a replica of this store.
var ErrReplica = errors.New("no replica of this store")

// readsReplica reports whether a View that begins now may read the replica.
func (s *Store) readsReplica(ctx context.Context) bool {
	r := s.replica
	if r == nil {
		return false
	}
	r.mu.Lock()
	rests := time.Now().Before(r.rests)
	r.mu.Unlock()
	if rests {
		return false
	}
	var at string
	err := s.lend(ctx, s.pool, func(c *conn) error {
		// Changes that others can see are in the log by then, whether or not it is on the disk.
		return c.do(ctx, op{doing: "begin", sql: "SELECT pg_catalog.pg_current_wal_insert_lsn()::text", read: func(r row) error {
			at = r.str(0)
			return nil
		}})
	})
	if err != nil {
		return false // the read of the store itself will return the error
	}
	for wait, waited := time.Millisecond, time.Duration(0); ; wait *= 2 {
		far, err := r.reached(ctx, at)
		switch {
		case ctx.Err() != nil:
			return false
		case err != nil:
			r.leave(err)
			return false
		case far:
			r.follows()
			return true
		case waited >= catchUp:
			r.lags()
			return false
		}
		time.Sleep(wait)
		waited += wait
	}
}

// reached reports whether the replica has replayed the log up to a place.
func (r *replica) reached(ctx context.Context, at string) (far bool, err error) {
	ctx, stop := context.WithTimeout(ctx, unheard)
	defer stop()
	var follows bool
	err = r.pool.QueryRow(ctx, "SELECT pg_catalog.pg_is_in_recovery(), coalesce(pg_catalog.pg_last_wal_replay_lsn() >= $1::pg_lsn, false)", at).Scan(&follows, &far)
	if err == nil && !follows {
		err = notReplicaError(replicaPromoted)
	}
	return far, err
}

// leave stops the use of the replica for a while, and reports why.
func (r *replica) leave(err error) {
	says := replicaLost
	var no notReplicaError
	if errors.As(err, &no) {
		says = string(no)
	}
	r.now(says, restLost, time.Time{})
}

func (r *replica) lags() {
	r.mu.Lock()
	since, says := r.late, r.says
	r.mu.Unlock()
	now := time.Now()
	if since.IsZero() {
		since = now
	}
	if now.Sub(since) >= lateTold {
		says = replicaLate
	}
	r.now(says, restLate, since)
}

func (r *replica) follows() { r.now(replicaReads, 0, time.Time{}) }

func (r *replica) now(says string, rest time.Duration, late time.Time) {
	r.mu.Lock()
	changed := r.says != says
	r.says, r.late = says, late
	if rest > 0 {
		r.rests = time.Now().Add(rest)
	}
	r.mu.Unlock()
	if changed && r.tell != nil {
		r.tell(says)
	}
}

// viewReplica is View on the replica. lost says that the replica cut the View off, because it
// shut down or had to replay what the snapshot still needed: the store itself can serve it.
func (s *Store) viewReplica(ctx context.Context, scope stores.Scope, fn func(*conn) error) (lost bool, err error) {
	var why error
	err = s.read(ctx, s.replica.pool, scope, func(c *conn) error {
		err := fn(c)
		why = c.broken // fn may have replaced it by another error
		return err
	})
	why = cmp.Or(why, err)
	var f *failure
	switch {
	case ctx.Err() != nil:
		return false, err
	case errors.Is(why, stores.ErrConflict):
		return true, err
	case errors.As(why, &f) && !errors.Is(why, stores.ErrLimit) && !errors.Is(why, stores.ErrSlow) && (f.code == "" || f.code[:2] == "57" || f.code[:2] == "08"):
		s.replica.leave(why)
		return true, err
	}
	return false, err
}
