package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"verbatim/stores"
)

// A Store is one SQLite file. Make it with Open; it is safe for use by many
// goroutines, and by many processes at a time.
type Store struct {
	writeDB   *sql.DB
	readDB    *sql.DB
	writer    chan *conn // holds the one connection that writes, when nobody does
	readers   chan *conn // holds a place per reader; nil until its connection is needed
	busy      time.Duration
	rowCap    int
	queryTime time.Duration
	plans     func(string, []string) // see Plans
	closed    atomic.Bool
	done      chan struct{}
}

// An Option changes how a file is opened.
type Option func(*config)

type config struct {
	busy      time.Duration
	readers   int
	rowCap    int
	queryTime time.Duration
	plans     func(string, []string)
}

// BusyTimeout says how long to wait while somebody else writes, before
// ErrConflict. The default is five seconds.
func BusyTimeout(d time.Duration) Option { return func(c *config) { c.busy = d } }

// Readers says how many snapshots may be read at once. The default is four.
func Readers(n int) Option { return func(c *config) { c.readers = max(1, n) } }

// RowCap says how many rows one read may return, before ErrLimit. The default is
// ten thousand.
func RowCap(n int) Option { return func(c *config) { c.rowCap = max(1, n) } }

// QueryTime says how long a query that a palette's author wrote may take, before
// ErrLimit. The default is ten seconds.
func QueryTime(d time.Duration) Option { return func(c *config) { c.queryTime = d } }

// Plans has tell called with every statement that a connection prepares and how
// SQLite will go about it, a line for each step, as EXPLAIN QUERY PLAN puts it.
// It is for tests, and for whoever wonders why a read is slow; tell is called by
// many goroutines.
func Plans(tell func(statement string, steps []string)) Option {
	return func(c *config) { c.plans = tell }
}

// Open opens the file at path, and makes it when there is none. The caller
// closes the store.
func Open(path string, opts ...Option) (*Store, error) {
	c := config{busy: 5 * time.Second, readers: 4, rowCap: 10_000, queryTime: 10 * time.Second}
	for _, o := range opts {
		o(&c)
	}
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return nil, errors.New("sqlite: a store is a file: readers and the writer could not share one in memory")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	drv, err := theDriver()
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	// synchronous=FULL: a commit that was answered survives a power cut.
	// _dqs=0: "x" is a name, never a string, so that a misspelt column is an
	// error. _defensive and trusted_schema=0: nothing in the file can make an
	// ordinary statement change the schema's text or call our functions.
	base := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	// cache_size, in KiB: with SQLite's own two MB, a script of a thousand calls
	// writes its pages out and reads them back while it runs.
	common := "?_pragma=cache_size(-16384)&_foreign_keys=1&_dqs=0&_defensive=1&_error_rc=1&_pragma=trusted_schema(0)&_busy_timeout=5000"
	s := &Store{
		writeDB:   sql.OpenDB(connector{drv, base.String() + common + "&_journal_mode=WAL&_synchronous=FULL"}),
		readDB:    sql.OpenDB(connector{drv, base.String() + common + "&_query_only=1"}),
		writer:    make(chan *conn, 1),
		readers:   make(chan *conn, c.readers),
		busy:      c.busy,
		rowCap:    c.rowCap,
		queryTime: c.queryTime,
		plans:     c.plans,
		done:      make(chan struct{}),
	}
	// A connection that is given up is closed, not kept for the next who asks.
	s.writeDB.SetMaxIdleConns(0)
	s.readDB.SetMaxIdleConns(0)
	w, err := s.openWriter()
	if err != nil {
		s.writeDB.Close()
		s.readDB.Close()
		return nil, fmt.Errorf("%s cannot be opened: %w", path, fault("open", err))
	}
	s.writer <- w
	for range c.readers {
		s.readers <- nil
	}
	return s, nil
}

// Close waits for running transactions and closes the file.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	close(s.done)
	var errs []error
	for range cap(s.readers) {
		if c := <-s.readers; c != nil {
			errs = append(errs, c.close())
		}
	}
	if c := <-s.writer; c != nil {
		errs = append(errs, c.close())
	}
	errs = append(errs, s.writeDB.Close(), s.readDB.Close())
	if err := errors.Join(errs...); err != nil {
		return fault("close", err)
	}
	return nil
}

var errClosed = errors.New("sqlite: the store is closed")

// connector opens connections of a driver that is ours alone: the functions and
// collations below exist on no other connection of the program.
type connector struct {
	drv *sqlite.Driver
	dsn string
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.drv.Open(c.dsn)
}

func (c connector) Driver() driver.Driver { return c.drv }

// theDriver knows how to order decimals and how to read the spellings that
// existing tables may hold. It is made once, because what is registered with it
// is never freed.
var theDriver = sync.OnceValues(func() (*sqlite.Driver, error) {
	d := new(sqlite.Driver)
	err := d.RegisterCollationUtf8(decimalCollation, compareDecimals)
	if err == nil {
		err = d.RegisterDeterministicScalarFunction(canonicalFunction, 3, canonicalSpelling)
	}
	if err == nil {
		err = d.RegisterFunction(sumFunction, &sqlite.FunctionImpl{NArgs: 1, Deterministic: true, MakeAggregate: newSum})
	}
	return d, err
})

// conn is one connection with its prepared statements. One goroutine has it at a
// time. It talks to the driver's connection, inside sql.Conn.Raw, rather than
// through database/sql: the values arrive in one slice, statements stay prepared
// for the life of the connection, and a transaction needs no goroutine.
type conn struct {
	sc      *sql.Conn
	dc      driver.ConnPrepareContext
	stmts   map[string]statement
	args    []driver.NamedValue
	checked map[string]bool // author's queries that EXPLAIN has cleared here
	plans   func(string, []string)
	lost    bool // nobody knows what state it is in: it is given up
}

type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// Text and blobs longer than this are refused by SQLite itself, patterns longer
// than the other too: an author's query cannot blow up memory, or hang in one
// function call that nothing can interrupt.
const (
	maxLength  = 32 << 20
	maxPattern = 512
	maxProgram = 1 << 20 // instructions of a statement
)

func (s *Store) connect(db *sql.DB) (*conn, error) {
	sc, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	c := &conn{sc: sc, stmts: map[string]statement{}, checked: map[string]bool{}, plans: s.plans}
	for id, n := range map[int]int{
		lib.SQLITE_LIMIT_LENGTH:              maxLength,
		lib.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: maxPattern,
		lib.SQLITE_LIMIT_VDBE_OP:             maxProgram,
		lib.SQLITE_LIMIT_ATTACHED:            0,
	} {
		if _, err := sqlite.Limit(sc, id, n); err != nil {
			sc.Close()
			return nil, err
		}
	}
	err = sc.Raw(func(dc any) error {
		c.dc = dc.(driver.ConnPrepareContext)
		return nil
	})
	if err != nil {
		sc.Close()
		return nil, err
	}
	return c, nil
}

func (s *Store) openWriter() (*conn, error) {
	c, err := s.connect(s.writeDB)
	if err != nil {
		return nil, err
	}
	// From here on waiting for another writer is ours, because a wait inside
	// SQLite cannot be cancelled.
	if _, err := c.exec(context.Background(), "PRAGMA busy_timeout=0"); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *conn) close() error {
	c.forget()
	return c.sc.Close()
}

// forget closes the prepared statements.
func (c *conn) forget() {
	for text, st := range c.stmts {
		st.Close()
		delete(c.stmts, text)
	}
}

// lend calls fn with the driver's connection locked. When fn panics, sql.Conn
// closes that connection on the way out, and nothing may be left open on it.
func (c *conn) lend(fn func() error) error {
	c.lost = true
	return c.sc.Raw(func(any) error {
		defer func() {
			if c.lost {
				c.rollback()
				c.forget()
			}
		}()
		return fn()
	})
}

// maxStatements bounds what a connection keeps prepared.
const maxStatements = 500

func (c *conn) prepare(ctx context.Context, text string) (statement, error) {
	if st, ok := c.stmts[text]; ok {
		return st, nil
	}
	ds, err := c.dc.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(c.stmts) >= maxStatements {
		c.forget()
	}
	st := ds.(statement)
	c.stmts[text] = st
	if c.plans != nil && !strings.HasPrefix(text, "EXPLAIN") {
		if err := c.tellPlan(ctx, text); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// tellPlan tells how SQLite goes about a statement.
func (c *conn) tellPlan(ctx context.Context, text string) error {
	ds, err := c.dc.PrepareContext(ctx, "EXPLAIN QUERY PLAN "+text)
	if err != nil {
		return err
	}
	defer ds.Close()
	// The plan is one for any arguments. These are no fewer than there are.
	args := make([]driver.Value, strings.Count(text, "?"))
	rows, err := ds.(statement).QueryContext(ctx, c.bind(args))
	if err != nil {
		return err
	}
	defer rows.Close()
	var steps []string
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case isEOF(err):
			c.plans(text, steps)
			return nil
		case err != nil:
			return err
		}
		step, _ := row[len(row)-1].(string)
		steps = append(steps, step)
	}
}

func (c *conn) bind(args []driver.Value) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec runs a statement and says how many rows it changed.
func (c *conn) exec(ctx context.Context, text string, args ...driver.Value) (int64, error) {
	st, err := c.prepare(ctx, text)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(ctx, c.bind(args))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// query runs a statement and calls fn with each row, whose slice is used again
// for the next. fn runs no other statement on the connection.
func (c *conn) query(ctx context.Context, text string, args []driver.Value, fn func(row []driver.Value) error) (err error) {
	st, err := c.prepare(ctx, text)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, c.bind(args))
	if err != nil {
		return err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		// The driver watches the context until the first row only.
		if err := ctx.Err(); err != nil {
			return err
		}
		switch err := rows.Next(row); {
		case isEOF(err):
			return nil
		case err != nil:
			return err
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

// exists reports whether a statement returns a row.
func (c *conn) exists(text string, args []driver.Value) (bool, error) {
	found := false
	err := c.query(context.Background(), text, args, func([]driver.Value) error {
		found = true
		return nil
	})
	return found, err
}

// read lends a reading connection, inside a transaction that sees one snapshot.
func (s *Store) read(ctx context.Context, fn func(*conn) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	var c *conn
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return errClosed
	}
	defer func() { s.readers <- c }()
	if s.closed.Load() {
		return errClosed
	}
	if c == nil {
		if c, err = s.connect(s.readDB); err != nil {
			return fault("open", err)
		}
	}
	defer func() {
		if c.lost {
			c.close()
			c = nil
		}
	}()
	return c.lend(func() error {
		if _, err := c.exec(context.Background(), "BEGIN"); err != nil {
			return fault("begin", err)
		}
		err := fn(c)
		c.lost = !c.rollback()
		return err
	})
}

// rollback ends a transaction. One that SQLite has already rolled back, as it
// does on some errors, answers with an error that means nothing.
// It reports whether the connection can be used again.
func (c *conn) rollback() bool {
	_, err := c.exec(context.Background(), "ROLLBACK")
	return err == nil || resultCode(err) == lib.SQLITE_ERROR
}

// write lends the writing connection, inside a transaction that holds the
// file's write lock from its beginning and is committed when fn returns nil.
func (s *Store) write(ctx context.Context, fn func(*conn) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	deadline := time.Now().Add(s.busy)
	timer := time.NewTimer(s.busy)
	defer timer.Stop()
	var c *conn
	select {
	case c = <-s.writer:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return errClosed
	case <-timer.C:
		return errBusy
	}
	defer func() { s.writer <- c }()
	if s.closed.Load() {
		return errClosed
	}
	if c == nil {
		if c, err = s.openWriter(); err != nil {
			return fault("open", err)
		}
	}
	defer func() {
		if c.lost {
			c.close()
			c = nil
		}
	}()
	return c.lend(func() error {
		if err := c.beginImmediate(ctx, deadline); err != nil {
			c.lost = false
			return err
		}
		err := fn(c)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			// Nothing cancels a commit: it would be anybody's guess whether it
			// happened.
			if _, err = c.exec(context.Background(), "COMMIT"); err == nil {
				c.lost = false
				return nil
			}
			err = commitFault(err)
		}
		c.lost = !c.rollback()
		return err
	})
}

var errBusy = fmt.Errorf("sqlite: somebody else is writing: %w", stores.ErrConflict)

func (c *conn) beginImmediate(ctx context.Context, deadline time.Time) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		_, err := c.exec(context.Background(), "BEGIN IMMEDIATE")
		switch {
		case err == nil:
			return nil
		case resultCode(err)&0xff != lib.SQLITE_BUSY:
			return fault("begin", err)
		case time.Now().After(deadline):
			return errBusy
		}
		// Two processes that wait in step would keep meeting.
		t := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}
