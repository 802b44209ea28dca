package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"verbatim/stores"
	"verbatim/stores/postgres/internal/ajar"
	"verbatim/stores/search"
	"verbatim/stores/sqlcore"
)

// A Store is one PostgreSQL database. Make it with Open or New; it is safe for
// use by many goroutines, and by many processes at a time.
type Store struct {
	config
	sqlcore.Room
	pool   *pgxpool.Pool
	owner  *pgxpool.Pool // of MigrateAs; nil without it
	shows  *passwords    // of pool; nil for a pool of the caller's
	opened bool          // the pools are ours to close
	loose  bool          // each transaction makes its own settings: the connections do not have them
	closed atomic.Bool

	mu      sync.Mutex
	shapes  map[*stores.Entity]*shape // what the catalogue says of tables
	epoch   int                       // how often shapes was emptied
	learned atomic.Pointer[learned]
	sound   map[string]bool // authors' queries that EXPLAIN has cleared
	marked  sync.Map        // tables that had marks: see mark.go
	scopes  scopes
	asked   prepared // see prepared.go
	found   search.Kept
	sealing sealing
	told    atomic.Int64 // when workers were last told of a job, in Unix milliseconds

	path    string      // see searchPath
	worldly atomic.Bool // a table of others was written to: transactions that write set path

	unlocked []Unlocked // see Unlocked
	asker    string     // the role that queries run as; "" for the application's own
	replica  *replica   // nil without one

	ajar bool // for a test: see view
}

// An Option changes how a database is opened.
type Option func(*config)

type config struct {
	busy      time.Duration
	rowCap    int
	queryTime time.Duration
	ownerURL  string
	asOwner   bool
	grantTo   string

	cutJournal  bool
	sealsNot    bool
	replicaURL  string
	renew       func() []string // see Renew
	tellReplica func(string)
}

// BusyTimeout is how long to wait for a row or the journal while another transaction writes,
// before ErrConflict. The default is five seconds. The server ends a transaction whose
// connection is dead after twice that time, but after no less than a second.
func BusyTimeout(d time.Duration) Option { return func(c *config) { c.busy = d } }

// RowCap says how many rows one read may return, before ErrLimit. The default is
// ten thousand.
func RowCap(n int) Option { return func(c *config) { c.rowCap = max(1, n) } }

// QueryTime says how long a query that a palette's author wrote may take, before
// ErrLimit. The default is ten seconds.
func QueryTime(d time.Duration) Option { return func(c *config) { c.queryTime = d } }

// MigrateAs gives Migrate and Load connections of their own, as the role that owns our tables.
// They grant what they create to the store's own role.
func MigrateAs(url string) Option { return func(c *config) { c.ownerURL = url } }

// AsOwner opens the database as the role that owns our tables, to migrate them, to change
// grants, and to name rows. View and Update take only the scope that sees all rows, and Apply
// takes only names. Migrate grants what it creates to the application's role, unless that is
// "".
func AsOwner(grantTo string) Option {
	return func(c *config) { c.asOwner, c.grantTo = true, grantTo }
}

// ErrRole says that the database was opened with a role that bypasses row-level security: a
// superuser, one with BYPASSRLS, or the owner of our tables.
var ErrRole = errors.New("the role may go around row-level security")

// Open connects to a database. The caller closes the store.
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	s := newStore(opts)
	s.opened, s.ajar = true, ajar.In(ctx)
	pool, shows, err := s.connect(ctx, url, s.renew)
	if err != nil {
		return nil, err
	}
	s.shows = shows
	s.pool, s.loose = pool, pooled(pool.Config())
	if s.ownerURL != "" {
		s.owner, _, err = s.connect(ctx, s.ownerURL, nil)
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
		return nil, errors.New("postgres: MigrateAs goes with Open: a store of a pool has no connections of its own")
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context, url string, renew func() []string) (*pgxpool.Pool, *passwords, error) {
	c, err := s.dsn(url)
	if err != nil {
		return nil, nil, err
	}
	if renew == nil {
		renew = func() []string { return []string{url} }
	}
	shows := newPasswords(c, renew)
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, nil, &failure{doing: "open", cause: plainCause(err)}
	}
	return pool, shows, nil
}

// acquire lends a connection of one of our pools.
func (s *Store) acquire(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	switch {
	case s.shows != nil && pool == s.pool:
		return s.shows.acquire(ctx, pool)
	case s.replica != nil && pool == s.replica.pool:
		return s.replica.shows.acquire(ctx, pool)
	}
	return pool.Acquire(ctx)
}

// dsn reads a URL, and adds what our connections have.
func (s *Store) dsn(url string) (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, &failure{doing: "open", cause: plainCause(err)}
	}
	params := c.ConnConfig.RuntimeParams
	params["application_name"] = cmp.Or(params["application_name"], "verbatim")
	if pooled(c) {
		return c, nil // the pooler's connections are not ours to set up: see settings
	}
	if own := params["search_path"]; own != "" {
		s.path = searchPath(own)
	}
	params["search_path"], params["TimeZone"], params["DateStyle"] = "pg_catalog", "UTC", "ISO, YMD"
	if params["jit"] == "" {
		// Our statements find few rows, which the planner cannot tell from the policies:
		// compiling one takes a tenth of a second, answering it a millisecond.
		params["jit"] = "off"
	}
	params["lock_timeout"], params["idle_in_transaction_session_timeout"] = milliseconds(s.busy), milliseconds(s.idle())
	return c, nil
}

// pooled reports whether a pooler lends connections for one transaction, so that no setting
// lasts longer.
func pooled(c *pgxpool.Config) bool {
	return c.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeExec
}

// idle is how long the server waits for the next statement of a transaction. If a connection
// dies in the middle of one, nothing else tells the server, and its rows would stay locked. A
// busy machine may delay a program's next statement for a moment.
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

// start checks that row-level security applies to the role, and finds the role that Migrate
// grants to.
func (s *Store) start(ctx context.Context) error {
	if mode := s.pool.Config().ConnConfig.DefaultQueryExecMode; mode == pgx.QueryExecModeSimpleProtocol {
		return errors.New("postgres: the simple protocol is not supported: it cannot keep arguments and statements apart")
	}
	var role string
	var super, bypass, owns, unbound bool
	err := s.lend(ctx, s.pool, func(c *conn) error {
		c.begin = nil
		return c.do(ctx, op{doing: "open", sql: `SELECT current_user::text, bool_or(r.rolsuper), bool_or(r.rolbypassrls),
	EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND pg_catalog.pg_has_role(c.relowner, 'MEMBER')
		AND (n.nspname = 'public' AND c.relname ^@ 'verbatim_'
			OR EXISTS (SELECT 1 FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND p.polname ^@ 'verbatim_'))),
	COALESCE((SELECT pg_catalog.substr(o, 13) FROM pg_catalog.pg_db_role_setting d, pg_catalog.unnest(d.setconfig) o
			WHERE o ^@ 'search_path=' AND d.setrole IN (0, (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = session_user))
			AND d.setdatabase IN (0, (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()))
			ORDER BY d.setrole <> 0 DESC, d.setdatabase <> 0 DESC LIMIT 1),
		(SELECT boot_val FROM pg_catalog.pg_settings WHERE name = 'search_path')), pg_catalog.current_setting('search_path')
	FROM pg_catalog.pg_roles r WHERE r.rolname IN (current_user, session_user)`,
			read: func(r row) error {
				switch {
				case s.path != "":
				case s.loose: // nobody has set it yet
					s.path = searchPath(r.str(5))
				default:
					s.path = searchPath(r.str(4))
				}
				role, super, bypass, owns = r.str(0), r.yes(1), r.yes(2), r.yes(3)
				return nil
			}},
			op{doing: "open", sql: "SELECT rolname::text, rolsuper OR rolbypassrls FROM pg_catalog.pg_roles WHERE rolname = current_user::text || $1::text AND pg_catalog.pg_has_role(oid, 'MEMBER')", args: []any{queriesAs},
				read: func(r row) error {
					s.asker = r.str(0)
					unbound = r.yes(1)
					return nil
				}},
			// Each of our tables has a permissive policy, and at least one restrictive one.
			op{doing: "open", sql: `SELECT pg_catalog.format('%I.%I', n.nspname, c.relname), c.relrowsecurity AND c.relforcerowsecurity
	FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_policy p ON p.polrelid = c.oid
	WHERE p.polname ^@ 'verbatim_' GROUP BY n.nspname, c.relname, c.relrowsecurity, c.relforcerowsecurity
	HAVING NOT (c.relrowsecurity AND c.relforcerowsecurity) OR pg_catalog.bool_and(p.polpermissive) ORDER BY 1`,
				read: func(r row) error {
					why := "row-level security of table " + r.str(0) + " is switched off"
					if r.yes(1) {
						why = "table " + r.str(0) + " has lost the policies that keep its rows apart"
					}
					s.unlocked = append(s.unlocked, Unlocked{Why: why})
					return nil
				}},
			op{doing: "open", sql: tooMuch, args: []any{queriesAs}, read: func(r row) error {
				s.unlocked = append(s.unlocked, Unlocked{Why: r.str(0), BySuperuser: r.yes(1)})
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

// tooMuch lists rights of our roles that Migrate and Roles take away, and that a restore may give back.
const tooMuch = `WITH asker AS (SELECT oid, rolname FROM pg_catalog.pg_roles WHERE rolname = current_user::text || $1::text AND pg_catalog.pg_has_role(oid, 'MEMBER'))
SELECT pg_catalog.format('role %s may call set_config, so that a query of a palette could choose whose rows it sees', rolname), true FROM asker
	WHERE pg_catalog.has_function_privilege(oid, '` + setConfig + `', 'EXECUTE')
UNION ALL SELECT pg_catalog.format('role %s may write to table %s, and is for reading', a.rolname, c.oid::pg_catalog.regclass), false
	FROM asker a, pg_catalog.pg_class c WHERE pg_catalog.has_table_privilege(a.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') AND ` + ofOurs + `
UNION ALL SELECT pg_catalog.format('role %s may change what is in table %s, to which rows are only added', current_user, c.relname), false
	FROM pg_catalog.pg_class c WHERE c.oid IN (` + sealedTables + `) AND pg_catalog.has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE')
ORDER BY 1`

// An Unlocked is something that keeps rows apart, or the journal as it was, and is missing.
type Unlocked struct {
	Why         string
	BySuperuser bool // Roles mends it, and not Migrate
}

// Unlocked lists what was found when the store was opened: tables without row-level security, so that only the
// engine's own conditions keep their rows apart, and rights that our roles must not have.
func (s *Store) Unlocked() []Unlocked { return s.unlocked }

// Close waits for running transactions, and closes the connections that Open
// made.
func (s *Store) Close() error {
	s.stopSealing()
	if s.closed.Swap(true) || !s.opened {
		return nil
	}
	// A pool takes its leave of the server on each connection, and waits for those that are being made. On
	// a line that is dead that takes minutes, so it goes on behind the caller's back.
	var closing sync.WaitGroup
	for _, pool := range []*pgxpool.Pool{s.pool, s.owner, s.replicaPool()} {
		if pool != nil {
			closing.Go(pool.Close)
		}
	}
	closed := make(chan struct{})
	go func() {
		closing.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(100 * time.Millisecond):
	}
	return nil
}

// leave closes a connection of its own.
func leave(ctx context.Context, conn *pgx.Conn) {
	ctx, end := stores.Detached(ctx)
	defer end()
	_ = conn.Close(ctx)
}

func (s *Store) replicaPool() *pgxpool.Pool {
	if s.replica == nil {
		return nil
	}
	return s.replica.pool
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
	read  func(row) error     // called with each row; nil if rows do not matter
	done  func(n int64) error // called with the number of rows changed or returned; nil if that does not matter
	fails func(n int64) error // the error for a statement that reports that it missed a row; nil if it never does
}

// conn is a connection while a transaction has it.
type conn struct {
	s      *Store
	pc     *pgxpool.Conn
	scoped *scoped
	begin  []op   // sent before the first statement, in the same round trip
	begun  bool   // the transaction is open
	last   []op   // sent with the commit, or before the next statement
	broken error  // the first error of a statement: the transaction is lost
	worlds bool   // its search_path is the database's: see searchPath
	asker  string // the role that runs authors' queries; "" for its own
	// judge interprets an error of a statement in last.
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

// alone runs reading statements as a whole transaction, in one round trip. A single statement
// needs only the settings before it: statements that are sent together are one implicit
// transaction, and one statement has one snapshot.
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

// send runs statements in one round trip, and returns the index at which it stopped.
func (c *conn) send(ctx context.Context, ops []op) (at int, err error) {
	defer func() {
		var old *failure
		if errors.Is(err, stores.ErrSchema) || errors.As(err, &old) && old.code == "0A000" {
			c.s.forget() // a table changed while we serve: the next transaction reads its columns anew
		}
	}()
	b := &pgx.Batch{}
	for _, o := range ops {
		b.Queue(o.sql, o.args...)
	}
	res := c.pc.SendBatch(ctx, b)
	refused := false
	defer func() {
		if refused {
			// Of a batch that failed pgx forgets all statements, and would prepare and plan
			// each anew, as if a statement were wrong. These are not: rows refused them.
			b.QueuedQueries = nil
		}
		if e := res.Close(); err == nil && e != nil {
			err = fault(ctx, ops[len(ops)-1].doing, e)
		}
		if err != nil && c.pc.Conn().IsClosed() {
			c.broken = err
		}
	}()
	r := row{texts: new(texts)}
	for at, o := range ops {
		rows, err := res.Query()
		if err != nil {
			refused = refuses(err)
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
			refused = refuses(e)
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

// lend lends a connection of a pool to fn. If the connection is not idle afterwards, because
// fn panicked or a context ended, it is closed.
func (s *Store) lend(ctx context.Context, pool *pgxpool.Pool, fn func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed.Load() {
		return errClosed
	}
	pc, err := s.acquire(ctx, pool)
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

// again lends a connection, and another if the server had ended the first before the transaction began: then
// nothing was done. A pool has many such after a restart of the server, and drops one each time.
func (s *Store) again(ctx context.Context, pool *pgxpool.Pool, fn func(*conn) error) (err error) {
	for tries := int32(0); ; tries++ {
		if err = s.lend(ctx, pool, fn); !unbegun(err) || ctx.Err() != nil || tries > pool.Stat().MaxConns() {
			return err
		}
	}
}

// settings makes the settings of a transaction, which end with it. The scope, which policies
// read, is never set on the connection, since another principal may use it next. The other
// settings are on the connections that we open ourselves, without a pooler.
func (s *Store) settings(sc *scoped, more ...any) op {
	var list []any
	if s.loose {
		list = append(list, "jit", "off", "lock_timeout", milliseconds(s.busy), "idle_in_transaction_session_timeout", milliseconds(s.idle()), "search_path", "pg_catalog", "TimeZone", "UTC", "DateStyle", "ISO, YMD")
	}
	list = append(append(list, sc.settings...), more...)
	n := len(list) / 2
	if known := settingSQLs(); n < len(known) {
		return op{doing: "begin", sql: known[n], args: list}
	}
	return op{doing: "begin", sql: settingSQL(n), args: list}
}

// searchPath returns the search_path of a transaction that writes to tables of others, whose
// triggers, defaults and rules may rely on the one that the database sets for the role. What
// PostgreSQL itself provides comes before any schema of theirs, so that our statements mean what
// they say, and temporary tables come last. Everywhere else it is pg_catalog alone: a transaction
// that only reads, a migration, an author's query.
func searchPath(set string) string {
	path := "pg_catalog"
	for rest := set; rest != ""; {
		n := 0
		for quoted := false; n < len(rest) && (quoted || rest[n] != ','); n++ {
			if rest[n] == '"' {
				quoted = !quoted
			}
		}
		schema := strings.TrimSpace(rest[:n])
		rest = strings.TrimPrefix(rest[n:], ",")
		if name := strings.ToLower(strings.Trim(schema, `"`)); name != "" && name != "pg_catalog" && name != "pg_temp" {
			path += ", " + schema
		}
	}
	return path + ", pg_temp"
}

// enter returns the statement that gives the transaction the database's search_path, before it
// first uses a table of others, or none.
func (c *conn) enter(e *stores.Entity) []op {
	if e.Managed || c.worlds || c.s.path == "" {
		return nil
	}
	c.worlds = true
	c.s.worldly.Store(true)
	return []op{{doing: "begin", sql: settingSQLs()[1], args: []any{"search_path", c.s.path}}}
}

// settingSQLs are the statements for up to 15 settings.
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

// planOnce makes PostgreSQL plan the statements of a snapshot once for a connection. Otherwise
// it plans them each time, as soon as one client has many more rows than others: that takes
// longer than running them, and gives the same plan. PostgreSQL decides for itself about
// authors' queries, and about statements of transactions that write, whose tables grow.
var planOnce = []any{"plan_cache_mode", "force_generic_plan"}

// read lends a connection in a transaction with one snapshot, that of its first statement.
func (s *Store) read(ctx context.Context, pool *pgxpool.Pool, scope stores.Scope, fn func(*conn) error) error {
	return s.again(ctx, pool, func(c *conn) error {
		c.scoped = s.scopes.of(scope)
		c.begin = []op{{doing: "begin", sql: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}, s.settings(c.scoped, planOnce...)}
		err := fn(c)
		c.rollback(ctx)
		return err
	})
}

// byIndex is for the planner. A transaction that writes looks rows up by keys and names. A
// connection that did so when a table had few rows would otherwise keep a plan that reads the
// whole table, or all of an index.
var byIndex = []any{"enable_seqscan", "off", "enable_bitmapscan", "off"}

// write lends a connection in a transaction that is committed if fn returns nil. Each statement
// sees what is committed when it begins: a sealer looks at what waits when it has the lock.
func (s *Store) write(ctx context.Context, pool *pgxpool.Pool, scope stores.Scope, fn func(*conn) error) error {
	return s.again(ctx, pool, func(c *conn) error {
		c.scoped = s.scopes.of(scope)
		more := byIndex
		if c.worlds = pool == s.pool && s.worldly.Load(); c.worlds {
			more = append(slices.Clone(byIndex), "search_path", s.path)
		}
		c.begin = []op{{doing: "begin", sql: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"}, s.settings(c.scoped, more...)}
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
		if err = c.commit(ctx); err == nil {
			return nil
		}
		if c.judge != nil {
			err = c.judge(ctx, err)
		}
		c.rollback(ctx) // the connection, with what it has prepared, is good for the next
		return err
	})
}

// commit ends a transaction, in one round trip with the statements that were left for it. If
// the context ends, it asks the server to cancel: before COMMIT that ends the transaction, and
// COMMIT itself runs on. It waits for the answers in any case, a moment beyond a deadline,
// since only they tell whether the transaction was committed.
func (c *conn) commit(ctx context.Context) error {
	firm, cancel := stores.Detached(ctx)
	defer cancel()
	ops := append(c.last, op{doing: "commit", sql: "COMMIT"})
	if !c.begun {
		ops, c.begun = append(c.begin[:len(c.begin):len(c.begin)], ops...), true
	}
	c.last = nil
	last := len(ops) - 1
	asked := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(asked)
		_ = c.pc.Conn().PgConn().CancelRequest(firm)
	})
	at, err := c.send(firm, ops)
	if !stop() {
		// The cancel request might reach the server when another transaction has the
		// connection.
		<-asked
		_ = c.pc.Conn().Close(firm)
		if at < last && (errors.Is(err, stores.ErrLimit) || errors.Is(err, stores.ErrSlow)) {
			return ctx.Err()
		}
	}
	if err != nil {
		c.broken = err
	}
	return commitFault(err, at-last)
}

// rollback ends a transaction without committing it. If the context has ended, the connection
// is closed, and the server rolls back by itself.
func (c *conn) rollback(ctx context.Context) {
	if !c.begun || c.pc.Conn().IsClosed() || c.pc.Conn().PgConn().TxStatus() == 'I' {
		return
	}
	firm, cancel := stores.Detached(ctx)
	defer cancel()
	_, _ = c.pc.Exec(firm, "ROLLBACK") // a connection that failed is not lent again
}
