package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"verbatim/stores"
	"verbatim/stores/postgres/internal/ajar"
	"verbatim/stores/search"
)

// A Store is one PostgreSQL database. Make it with Open or New; it is safe for
// use by many goroutines, and by many processes at a time.
type Store struct {
	config
	pool   *pgxpool.Pool
	opened bool // the pools are ours to close
	loose  bool // what transactions need set is not set on connections already
	late   bool // commits to the journal wait for the disk when its lock is free: see lateFlush
	closed atomic.Bool

	mu      sync.Mutex
	shapes  map[*stores.Entity]*shape // what was found of tables
	epoch   int                       // how often that was forgotten
	learned atomic.Pointer[learned]
	sound   map[string]bool // authors' queries that EXPLAIN has cleared
	marked  sync.Map        // tables that had marks: see mark.go
	scopes  scopes
	asked   prepared // see prepared.go
	found   search.Kept
	told    atomic.Int64 // when workers were last told of a job, in Unix milliseconds

	unlocked []string // see Unlocked
	asker    string   // the role that queries run as; "" for the application's own
	replica  *replica // nil without one

	ajar bool // a test's: see view
}

// An Option changes how a database is opened.
type Option func(*config)

type config struct {
	busy      time.Duration
	rowCap    int
	queryTime time.Duration
	owner     *pgxpool.Pool
	ownerURL  string
	asOwner   bool
	grantTo   string

	cutJournal  bool
	replicaURL  string
	tellReplica func(string)
}

// BusyTimeout says how long to wait for a row or the journal while somebody else
// writes, before ErrConflict. The default is five seconds. A transaction of ours whose
// line is dead is ended by the server after twice that, and not within a second.
func BusyTimeout(d time.Duration) Option { return func(c *config) { c.busy = d } }

// RowCap says how many rows one read may return, before ErrLimit. The default is
// ten thousand.
func RowCap(n int) Option { return func(c *config) { c.rowCap = max(1, n) } }

// QueryTime says how long a query that a palette's author wrote may take, before
// ErrLimit. The default is ten seconds.
func QueryTime(d time.Duration) Option { return func(c *config) { c.queryTime = d } }

// MigrateAs gives Migrate and Load connections of their own, as the role that
// owns the tables of ours. What they make is granted to the store's own role.
func MigrateAs(url string) Option { return func(c *config) { c.ownerURL = url } }

// MigrateOn is MigrateAs with a pool of the caller's.
func MigrateOn(pool *pgxpool.Pool) Option { return func(c *config) { c.owner = pool } }

// AsOwner opens the database as the role that owns the tables of ours, to
// migrate them, to say who holds what, and to name rows: View and Update take the
// scope that sees all rows and no other, and Apply takes names alone. What Migrate
// makes is granted to the role that the application will use, unless that is "".
func AsOwner(grantTo string) Option {
	return func(c *config) { c.asOwner, c.grantTo = true, grantTo }
}

// ErrRole says that the database was opened with a role that row-level security
// does not hold: a superuser, one with BYPASSRLS, or the owner of tables of ours.
var ErrRole = errors.New("the role may go around row-level security")

// Open connects to a database. The caller closes the store.
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	s := newStore(opts)
	s.opened, s.ajar = true, ajar.In(ctx)
	pool, err := s.connect(ctx, url)
	if err != nil {
		return nil, err
	}
	s.pool, s.loose = pool, pooled(pool.Config())
	if s.ownerURL != "" {
		s.owner, err = s.connect(ctx, s.ownerURL)
	}
	if err == nil {
		err = s.start(ctx)
	}
	if err == nil && s.replicaURL != "" {
		err = s.follow(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// New makes a store of a pool of the caller's, who closes it after the store.
// The pool's settings hold: without prepared statements, for a pgbouncer that
// pools transactions, set default_query_exec_mode to exec. The simple protocol
// is not supported.
func New(ctx context.Context, pool *pgxpool.Pool, opts ...Option) (*Store, error) {
	s := newStore(opts)
	s.pool, s.loose = pool, true
	if s.ownerURL != "" {
		return nil, errors.New("postgres: MigrateAs goes with Open; a store of a pool takes MigrateOn")
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	c, err := s.dsn(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, &failure{doing: "open", cause: plainCause(err)}
	}
	return pool, nil
}

// dsn reads a URL, and adds what our connections have.
func (s *Store) dsn(url string) (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, &failure{doing: "open", cause: plainCause(err)}
	}
	params := c.ConnConfig.RuntimeParams
	if params["application_name"] == "" {
		params["application_name"] = "verbatim"
	}
	if pooled(c) {
		return c, nil // the pooler's connections are not ours to set up: see settings
	}
	params["search_path"], params["TimeZone"], params["DateStyle"] = "pg_catalog", "UTC", "ISO, YMD"
	if params["jit"] == "" {
		// A question of ours looks for few rows, which the planner cannot tell from the
		// policies: to compile it takes a tenth of a second, and to answer it a millisecond.
		params["jit"] = "off"
	}
	params["lock_timeout"], params["idle_in_transaction_session_timeout"] = milliseconds(s.busy), milliseconds(s.idle())
	return c, nil
}

// pooled reports whether a pooler lends connections for a transaction, so that nothing
// stays on them from one to the next.
func pooled(c *pgxpool.Config) bool {
	return c.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeExec
}

// idle is how long the server waits for the next statement of a transaction. When a
// line dies in the middle of one, nothing else would tell the server, and the rows it
// locked would stay so. A machine that is busy may well keep a program from its next
// statement for a moment.
func (s *Store) idle() time.Duration { return max(2*s.busy, time.Second) }

func newStore(opts []Option) *Store {
	s := &Store{
		config: config{busy: 5 * time.Second, rowCap: 10_000, queryTime: 10 * time.Second},
		shapes: map[*stores.Entity]*shape{},
		sound:  map[string]bool{},
	}
	for _, o := range opts {
		o(&s.config)
	}
	return s
}

// start makes sure that row-level security will hold, and learns whom to grant
// what Migrate makes.
func (s *Store) start(ctx context.Context) error {
	if mode := s.pool.Config().ConnConfig.DefaultQueryExecMode; mode == pgx.QueryExecModeSimpleProtocol {
		return errors.New("postgres: the simple protocol is not supported: it cannot keep arguments and statements apart")
	}
	var role string
	var super, bypass, owns, unbound bool
	err := s.lend(ctx, s.pool, func(c *conn) error {
		c.begin = nil
		return c.do(ctx, op{doing: "open", sql: `SELECT current_user::text, bool_or(r.rolsuper), bool_or(r.rolbypassrls), pg_catalog.current_setting('synchronous_commit') <> 'off'
		AND pg_catalog.has_function_privilege('pg_catalog.pg_logical_emit_message(boolean, text, text)', 'EXECUTE'),
	EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND pg_catalog.pg_has_role(c.relowner, 'MEMBER')
		AND (n.nspname = 'public' AND c.relname ^@ 'verbatim_'
			OR EXISTS (SELECT 1 FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND p.polname ^@ 'verbatim_')))
	FROM pg_catalog.pg_roles r WHERE r.rolname IN (current_user, session_user)`,
			read: func(r row) error {
				role, super, bypass, owns = r.str(0), r.yes(1), r.yes(2), r.yes(4)
				s.late = r.yes(3)
				return nil
			}},
			op{doing: "open", sql: "SELECT rolname::text, rolsuper OR rolbypassrls FROM pg_catalog.pg_roles WHERE rolname = current_user::text || $1::text AND pg_catalog.pg_has_role(oid, 'MEMBER')", args: []any{queriesAs},
				read: func(r row) error {
					s.asker = r.str(0)
					unbound = r.yes(1)
					return nil
				}},
			// A table of ours has a policy that opens it, and at least one that restricts that.
			op{doing: "open", sql: `SELECT pg_catalog.format('%I.%I', n.nspname, c.relname), c.relrowsecurity AND c.relforcerowsecurity
	FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_policy p ON p.polrelid = c.oid
	WHERE p.polname ^@ 'verbatim_' GROUP BY n.nspname, c.relname, c.relrowsecurity, c.relforcerowsecurity
	HAVING NOT (c.relrowsecurity AND c.relforcerowsecurity) OR pg_catalog.bool_and(p.polpermissive) ORDER BY 1`,
				read: func(r row) error {
					why := "row-level security of table " + r.str(0) + " is switched off"
					if r.yes(1) {
						why = "table " + r.str(0) + " has lost the policies that keep its rows apart"
					}
					s.unlocked = append(s.unlocked, why)
					return nil
				}})
	})
	var f *failure
	if errors.As(err, &f) && f.code == "08P01" { // PgBouncer, of a setting that it does not know
		return fmt.Errorf("postgres: the server takes no settings for a connection; behind a pooler of transactions the URL has default_query_exec_mode=exec: %w", err)
	}
	if err != nil || s.asOwner {
		return err
	}
	s.grantTo = role
	switch {
	case super:
		return fmt.Errorf("postgres: role %s is a superuser: %w", role, ErrRole)
	case bypass:
		return fmt.Errorf("postgres: role %s has BYPASSRLS: %w", role, ErrRole)
	case unbound:
		return fmt.Errorf("postgres: role %s, which queries run as, is a superuser or has BYPASSRLS: %w", s.asker, ErrRole)
	case owns:
		return fmt.Errorf("postgres: role %s is, or can become, the owner of tables of ours: %w", role, ErrRole)
	}
	return nil
}

// Unlocked says of which tables of ours row-level security did not keep rows apart when
// the store was opened: then only the engine's own conditions do.
func (s *Store) Unlocked() []string { return s.unlocked }

// Close waits for running transactions, and closes the connections that Open
// made.
func (s *Store) Close() error {
	if s.closed.Swap(true) || !s.opened {
		return nil
	}
	if s.pool != nil {
		s.pool.Close()
	}
	if s.owner != nil {
		s.owner.Close()
	}
	if s.replica != nil && s.replica.pool != nil {
		s.replica.pool.Close()
	}
	return nil
}

var (
	errClosed = errors.New("postgres: the store is closed")
	errOwner  = errors.New("postgres: the store was opened as the owner of its tables, to migrate them, and to name rows")
)

// An op is one statement of a batch. Its arguments are strings and nils.
type op struct {
	doing string
	sql   string
	args  []any
	read  func(row) error     // each row; nil when none matters
	done  func(n int64) error // how many rows it changed or returned, where nothing comes after it that must not; may be nil
	fails func(n int64) error // what it means that the statement says it missed; nil where it never does
}

// conn is a connection while a transaction has it.
type conn struct {
	s      *Store
	pc     *pgxpool.Conn
	scoped *scoped
	begin  []op   // goes ahead of the first statement, in the same round trip
	begun  bool   // the transaction is open
	last   []op   // goes with the commit, or ahead of the next statement
	broken error  // the first error of a statement: the transaction is lost
	chains bool   // it adds to the journal, so that what it commits is flushed late
	asker  string // the role that it may run queries as; "" for its own
	// judge says what an error of a statement in last means.
	judge func(context.Context, error) error
}

// do runs statements in order, in one round trip. It stops at the first error.
func (c *conn) do(ctx context.Context, ops ...op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.broken != nil {
		return c.broken
	}
	late := len(c.last)
	ops = append(c.last, ops...)
	c.last = nil
	if begins := !c.begun && c.begin != nil; begins {
		ops = append(c.begin[:len(c.begin):len(c.begin)], ops...)
		late += len(c.begin)
		c.begun = true
	}
	at, err := c.send(ctx, ops)
	if err != nil && c.pc.Conn().PgConn().TxStatus() != 'T' {
		c.broken = err
	}
	if err != nil && at < late && c.judge != nil {
		err = c.judge(ctx, err)
	}
	return err
}

// alone runs statements that read, and are to be the only ones of their
// transaction, which is one round trip. One statement alone needs no more than
// the settings that go before it: what is sent together is a transaction of its
// own, and one statement one snapshot.
func (c *conn) alone(ctx context.Context, ops ...op) error {
	if c.begun || len(c.begin) != 2 || len(c.last) > 0 {
		return c.do(ctx, ops...)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(ops) == 1 {
		_, err := c.send(ctx, append([]op{c.begin[1]}, ops...))
		return err
	}
	all := append(c.begin[:len(c.begin):len(c.begin)], ops...)
	_, err := c.send(ctx, append(all, op{doing: "commit", sql: "COMMIT"}))
	status := c.pc.Conn().PgConn().TxStatus()
	c.begun = status != 'I'
	if err != nil && status == 'E' {
		c.broken = err
	}
	return err
}

// send runs statements in one round trip, and says at which it stopped.
func (c *conn) send(ctx context.Context, ops []op) (at int, err error) {
	b := &pgx.Batch{}
	for _, o := range ops {
		b.Queue(o.sql, o.args...)
	}
	res := c.pc.SendBatch(ctx, b)
	defer func() {
		if e := res.Close(); err == nil && e != nil {
			err = fault(ctx, ops[len(ops)-1].doing, e)
		}
	}()
	r := row{texts: new(texts)}
	for at, o := range ops {
		rows, err := res.Query()
		if err != nil {
			return at, o.fault(ctx, err)
		}
		if o.read != nil {
			r.fields = rows.FieldDescriptions()
		}
		for err == nil && rows.Next() {
			if o.read != nil {
				r.raw = rows.RawValues()
				err = o.read(r)
			}
		}
		rows.Close()
		if e := rows.Err(); e != nil {
			return at, o.fault(ctx, e)
		}
		if err == nil && o.done != nil {
			err = o.done(rows.CommandTag().RowsAffected())
		}
		if err != nil {
			return at, err
		}
	}
	return len(ops), nil
}

// plain runs one statement without arguments.
func (c *conn) plain(ctx context.Context, doing, sql string) error {
	_, err := c.pc.Exec(ctx, sql)
	return fault(ctx, doing, err)
}

// lend lends a connection of a pool. One that is not idle when it comes back,
// because fn panicked or a context ended, is closed and not lent again.
func (s *Store) lend(ctx context.Context, pool *pgxpool.Pool, fn func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed.Load() {
		return errClosed
	}
	pc, err := pool.Acquire(ctx)
	if err != nil {
		return fault(ctx, "open", err)
	}
	defer pc.Release()
	c := &conn{s: s, pc: pc}
	if pool == s.pool || s.replica != nil && pool == s.replica.pool {
		c.asker = s.asker
	}
	return fn(c)
}

// settings are those of every transaction, and end with it. The scope, which the
// policies of row-level security read, is never said for the connection itself,
// which somebody else may use next; the others are there already on connections
// that we opened, and that no pooler lends.
func (s *Store) settings(sc *scoped, more ...any) op {
	list := append(sc.settings, more...)
	if s.loose {
		list = append(list, "jit", "off", "lock_timeout", milliseconds(s.busy), "idle_in_transaction_session_timeout", milliseconds(s.idle()), "search_path", "pg_catalog", "TimeZone", "UTC", "DateStyle", "ISO, YMD")
	}
	n := len(list) / 2
	if known := settingSQLs(); n < len(known) {
		return op{doing: "begin", sql: known[n], args: list}
	}
	return op{doing: "begin", sql: settingSQL(n), args: list}
}

// settingSQLs are those of few settings.
var settingSQLs = sync.OnceValue(func() []string {
	all := make([]string, 16)
	for n := range all {
		all[n] = settingSQL(n)
	}
	return all
})

// settingSQL is the statement that makes n settings, until the transaction ends.
func settingSQL(n int) string {
	b := []byte("SELECT ")
	for i := range n {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = fmt.Appendf(b, "pg_catalog.set_config($%d::text, $%d::text, true)", 2*i+1, 2*i+2)
	}
	return string(b)
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max(1, d.Milliseconds()), 10)
}

// planOnce has PostgreSQL plan what a snapshot is asked once on a connection. It would else
// plan it each time, as soon as some client has many more rows than others: for longer than
// it then runs, and to come to the same plan. An author's query is planned as PostgreSQL
// sees fit, and so is what a transaction asks that writes: tables that it fills grow.
var planOnce = []any{"plan_cache_mode", "force_generic_plan"}

// read lends a connection inside a transaction that sees one snapshot, that of
// the first statement, with which the transaction begins.
func (s *Store) read(ctx context.Context, pool *pgxpool.Pool, scope stores.Scope, fn func(*conn) error) error {
	return s.lend(ctx, pool, func(c *conn) error {
		c.scoped = s.scopes.of(scope)
		c.begin = []op{{doing: "begin", sql: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}, s.settings(c.scoped, planOnce...)}
		err := fn(c)
		c.rollback(ctx)
		return err
	})
}

// byIndex is for the planner. What a transaction that writes asks for, it asks for by
// keys and names; and a connection that did so first when a table had a few rows would
// else go on reading all of it, sure that it has a few.
var byIndex = []any{"enable_seqscan", "off"}

// write lends a connection inside a transaction that is committed when fn
// returns nil. Every statement sees what is committed when it begins: a chain of
// commits cannot be appended to from an older snapshot.
func (s *Store) write(ctx context.Context, pool *pgxpool.Pool, scope stores.Scope, fn func(*conn) error) error {
	return s.lend(ctx, pool, func(c *conn) error {
		c.scoped = s.scopes.of(scope)
		c.begin = []op{{doing: "begin", sql: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"}, s.settings(c.scoped, byIndex...)}
		err := fn(c)
		if err == nil {
			err = c.broken
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || !c.begun && len(c.last) == 0 {
			c.rollback(ctx)
			return err
		}
		if err = c.commit(ctx); err != nil && c.judge != nil {
			err = c.judge(ctx, err)
		}
		return err
	})
}

// patience is how long a commit or a rollback is waited for once nothing else
// bounds the wait.
const patience = 30 * time.Second

// grace is how long past a deadline the end of a transaction is waited for. A
// network that swallows the answer must not hold up whoever asked.
const grace = 500 * time.Millisecond

// firmly is a context for what ends a transaction: nobody can cancel it, and it
// ends with grace after the deadline there is, or with patience.
func firmly(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := patience
	if at, ok := ctx.Deadline(); ok {
		wait = min(wait, max(0, time.Until(at))+grace)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), wait)
}

// commit ends a transaction, in one round trip with what was left for it. When
// the context ends, the server is asked to give up what it is doing: before
// COMMIT that ends the transaction, and COMMIT itself runs on. The answers are
// awaited in any case, for a moment longer than the deadline if there is one,
// because nobody could say otherwise whether it happened.
func (c *conn) commit(ctx context.Context) error {
	firm, cancel := firmly(ctx)
	defer cancel()
	ops := append(c.last, op{doing: "commit", sql: "COMMIT"})
	if !c.begun {
		ops, c.begun = append(c.begin[:len(c.begin):len(c.begin)], ops...), true
	}
	c.last = nil
	last := len(ops) - 1
	if c.chains && c.s.late {
		ops = append(ops, op{doing: "commit", sql: lateFlush})
	}
	asked := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(asked)
		_ = c.pc.Conn().PgConn().CancelRequest(firm)
	})
	at, err := c.send(firm, ops)
	if !stop() {
		// The request may reach the server when somebody else has the connection.
		<-asked
		_ = c.pc.Conn().Close(firm)
		if at < last && errors.Is(err, stores.ErrLimit) {
			return ctx.Err()
		}
	}
	if err != nil {
		c.broken = err
	}
	return commitFault(err, at-last)
}

// rollback ends a transaction that is not to be kept. When the context has
// ended the connection is closed by now, and the server rolls back by itself.
func (c *conn) rollback(ctx context.Context) {
	if !c.begun || c.pc.Conn().IsClosed() {
		return
	}
	firm, cancel := firmly(ctx)
	defer cancel()
	_, _ = c.pc.Exec(firm, "ROLLBACK") // a connection that failed is not lent again
}
