package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/search"
	"verbatim/stores/sqlcore"
)

// A Store is one SQLite file. Make it with Open; it is safe for use by many
// goroutines, and by many processes at a time.
type Store struct {
	sqlcore.Room
	path      string
	file      os.FileInfo   // as it was opened
	writer    chan *conn    // holds the only writing connection while nobody uses it
	readers   chan struct{} // holds one item per reader that may begin
	idle      idle          // the readers' connections, while nobody uses them
	busy      time.Duration
	rowCap    int
	queryTime time.Duration
	plans     func(string, []string) // see Plans
	found     search.Kept
	sealer    sqlcore.Sealer
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

// BusyTimeout says how long to wait for another writer before ErrConflict. The default is five
// seconds.
func BusyTimeout(d time.Duration) Option { return func(c *config) { c.busy = d } }

// Readers says how many snapshots may be read at once. The default is four.
func Readers(n int) Option { return func(c *config) { c.readers = max(1, n) } }

// RowCap says how many rows one read may return, before ErrLimit. The default is
// ten thousand.
func RowCap(n int) Option { return func(c *config) { c.rowCap = max(1, n) } }

// QueryTime says how long a query that a palette's author wrote may take, before
// ErrLimit. The default is ten seconds.
func QueryTime(d time.Duration) Option { return func(c *config) { c.queryTime = d } }

// Plans makes the store call tell with every statement that a connection prepares and with
// SQLite's plan for it, a line for each step, as EXPLAIN QUERY PLAN gives it. It is for tests,
// and for finding out why a read is slow; many goroutines call tell.
func Plans(tell func(statement string, steps []string)) Option {
	return func(c *config) { c.plans = tell }
}

// Open opens the file at path, and creates it if it does not exist. The caller closes the store.
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
	s := &Store{
		path:      abs,
		writer:    make(chan *conn, 1),
		readers:   make(chan struct{}, c.readers),
		busy:      c.busy,
		rowCap:    c.rowCap,
		queryTime: c.queryTime,
		plans:     c.plans,
		done:      make(chan struct{}),
	}
	w, err := s.connect(toWrite)
	if err == nil && w.readOnly() {
		err = errors.Join(&sqliteError{code: sqlite.ResultReadOnly, at: -1}, w.close())
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened: %w", path, unopened(abs, err))
	}
	if s.file, err = os.Stat(abs); err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be opened: %w", path, err), w.close())
	}
	s.writer <- w
	for range c.readers {
		s.readers <- struct{}{}
	}
	return s, nil
}

// replaced returns ErrReplaced if there is another file in the place of the one that was opened, or none:
// connections go on in the old one, which no path leads to.
func (s *Store) replaced() error {
	if is, err := os.Stat(s.path); err == nil && os.SameFile(is, s.file) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return stores.ErrReplaced
}

// idle are connections that nobody uses. The last one that came back is lent first: a connection
// parses the file's whole schema when it is new, which costs more than most reads.
type idle struct {
	mu    sync.Mutex
	conns []*conn
}

// take returns a connection, nil if there is none.
func (i *idle) take() *conn {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.conns)
	if n == 0 {
		return nil
	}
	c := i.conns[n-1]
	i.conns = i.conns[:n-1]
	return c
}

func (i *idle) put(c *conn) {
	if c != nil {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.conns = append(i.conns, c)
	}
}

// Close waits for running transactions and closes the file.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	close(s.done)
	var errs []error
	for range cap(s.readers) {
		<-s.readers
	}
	for c := s.idle.take(); c != nil; c = s.idle.take() {
		errs = append(errs, c.close())
	}
	if c := <-s.writer; c != nil {
		errs = append(errs, c.close())
	}
	if err := errors.Join(errs...); err != nil {
		return fault("close", err)
	}
	return nil
}

var errClosed = errors.New("sqlite: the store is closed")

// A conn is one connection with its prepared statements, which it keeps. One goroutine uses it at
// a time.
type conn struct {
	db      *sqlite.Conn
	stmts   map[string]*statement
	checked map[string][]string // author's queries that passed the check, with their columns
	guard   *guard              // set while such a query is prepared
	stop    chan struct{}       // closed to interrupt the running statement
	plans   func(string, []string)
	found   *search.Kept
	use     func() error // called before each use of SQLite; a test can make it fail
	lost    bool         // its state is unknown, so it is discarded
	lenient leniency     // towards values that cannot be compared
	failed  error        // of a function of ours, since the last step: see fails
}

// A leniency says what stands for a value that cannot be compared.
type leniency uint8

const (
	strict leniency = iota // the statement fails
	asNull
	asItIs // for an author's query, which reads it, and leaves its row out
)

// A statement is a prepared statement with its bound arguments. Many of these are the same the
// next time.
type statement struct {
	*sqlite.Stmt
	bound []stores.Value
}

func (st *statement) bind(args []stores.Value) {
	for i := range min(len(args), st.BindParamCount()) {
		if i == len(st.bound) {
			st.bound = append(st.bound, args[i])
		} else if st.bound[i] == args[i] {
			continue
		}
		st.bound[i] = args[i]
		bind(st.Stmt, i+1, args[i])
	}
}

// How connections differ. synchronous=FULL: a commit that returned nil survives a power cut.
// Waiting for another writer is done by us and not by SQLite, because a wait inside SQLite cannot
// be interrupted.
var (
	toWrite = []string{"journal_mode=WAL", "synchronous=FULL", "busy_timeout=0"}
	toRead  = []string{"query_only=1"}
)

// SQLite itself refuses text and blobs longer than this, and patterns longer than theirs: an
// author's query cannot exhaust memory, or hang in one function call that nothing can interrupt.
var limits = map[sqlite.Limit]int32{
	sqlite.LimitLength:            32 << 20,
	sqlite.LimitLikePatternLength: 512,
	sqlite.LimitVDBEOp:            1 << 20, // instructions of a statement
	sqlite.LimitAttached:          0,
}

// connect opens a connection. The library makes "x" mean a name, never a string, so that a
// misspelt column is an error. Defensive and trusted_schema=0: nothing in the file can make an
// ordinary statement change the schema's text or call our functions.
func (s *Store) connect(pragmas []string) (*conn, error) {
	db, err := open(s.path)
	if err != nil {
		return nil, err
	}
	db.SetBusyTimeout(5 * time.Second)
	for id, n := range limits {
		db.Limit(id, n)
	}
	c := &conn{db: db, stmts: map[string]*statement{}, checked: map[string][]string{}, found: &s.found}
	c.arm()
	err = errors.Join(defend(db), c.register(db), db.SetAuthorizer(c))
	// cache_size, in KiB: with SQLite's own two MB, a script of a thousand calls
	// writes its pages out and reads them back while it runs.
	// Without secure_delete what was erased stays in the free space of the file, and so in its copies.
	for _, pragma := range append([]string{"cache_size=-16384", "foreign_keys=1", "secure_delete=1", "trusted_schema=0"}, pragmas...) {
		if err == nil {
			_, err = c.exec("PRAGMA " + pragma)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.forget()
	c.plans = s.plans
	return c, nil
}

// opening is held while a connection of any store is opened or closed. The library finds the
// state of a connection by its address, and deletes it only after another connection may have
// that address.
var opening sync.Mutex

func open(path string) (*sqlite.Conn, error) {
	opening.Lock()
	defer opening.Unlock()
	db, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	return db, raise(err)
}

func shut(db *sqlite.Conn) error {
	opening.Lock()
	defer opening.Unlock()
	return raise(db.Close())
}

func (c *conn) close() error { return shut(c.db) }

// defend sets SQLite's defensive mode. The library's SetDefensive passes one of the two arguments
// that SQLite takes: SQLite would take whatever follows it in memory for the other, an address to
// write to.
func defend(db *sqlite.Conn) error {
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.NewVaList(int32(1), uintptr(0))
	defer libc.Xfree(tls, args)
	handle := uintptr(reflect.ValueOf(db).Elem().FieldByName("conn").Uint())
	return raise(sqlite.ResultCode(lib.Xsqlite3_db_config(tls, handle, lib.SQLITE_DBCONFIG_DEFENSIVE, args)).ToError())
}

// readOnly reports whether SQLite could open the file for reading only.
func (c *conn) readOnly() bool {
	tls := libc.NewTLS()
	defer tls.Close()
	return lib.Xsqlite3_db_readonly(tls, uintptr(reflect.ValueOf(c.db).Elem().FieldByName("conn").Uint()), 0) == 1
}

// kept returns the connection, nil once it is lost.
func (c *conn) kept() *conn {
	if c == nil || !c.lost {
		return c
	}
	c.close()
	return nil
}

// forget closes the prepared statements.
func (c *conn) forget() {
	for text, st := range c.stmts {
		st.Finalize()
		delete(c.stmts, text)
	}
}

// maxStatements is how many prepared statements a connection keeps.
const maxStatements = 500

func (c *conn) prepare(text string) (*statement, error) {
	if st, ok := c.stmts[text]; ok {
		return st, nil
	}
	if err := c.used(); err != nil {
		return nil, err
	}
	prepared, err := c.db.Prepare(text)
	if err != nil {
		return nil, raise(err)
	}
	st := &statement{Stmt: prepared}
	if len(c.stmts) >= maxStatements {
		c.forget()
	}
	c.stmts[text] = st
	if c.plans != nil && !strings.HasPrefix(text, "EXPLAIN") {
		var steps []string
		err := c.query(context.Background(), "EXPLAIN QUERY PLAN "+text, nil, func(row *sqlite.Stmt) error {
			steps = append(steps, row.ColumnText(3))
			return nil
		})
		if err != nil {
			return nil, err
		}
		c.plans(text, steps)
	}
	return st, nil
}

func (c *conn) used() error {
	if c.use == nil {
		return nil
	}
	return c.use()
}

// arm makes it possible to interrupt the connection once.
func (c *conn) arm() {
	c.stop = make(chan struct{})
	c.db.SetInterrupt(c.stop)
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(text string, args ...stores.Value) (int, error) {
	err := c.query(context.Background(), text, args, func(*sqlite.Stmt) error { return nil })
	return c.db.Changes(), err
}

// query runs a statement and calls fn with each row, until the context ends. fn must not run
// another statement on the connection.
func (c *conn) query(ctx context.Context, text string, args []stores.Value, fn func(row *sqlite.Stmt) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	st, err := c.prepare(text)
	if err != nil {
		return err
	}
	if ctx.Done() != nil {
		stop := c.stop
		forget := context.AfterFunc(ctx, func() { close(stop) })
		defer func() {
			if !forget() {
				<-stop
				c.arm()
				if resultCode(err) == sqlite.ResultInterrupt {
					err = ctx.Err()
				}
			}
		}()
	}
	defer st.Reset() // its error repeats the last step's
	st.bind(args)
	for {
		if err := c.used(); err != nil {
			return err
		}
		c.failed = nil
		more, err := st.Step()
		if c.failed != nil {
			st.bound = nil
			return c.failed
		}
		if err != nil {
			st.bound = nil // an argument may have been refused
			return raise(err)
		}
		if !more {
			return nil
		}
		if err := fn(st.Stmt); err != nil {
			return err
		}
	}
}

// exists reports whether a statement returns a row.
func (c *conn) exists(text string, args []stores.Value) (bool, error) {
	found := false
	err := c.query(context.Background(), text, args, func(*sqlite.Stmt) error {
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
	select {
	case <-s.readers:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return errClosed
	}
	c := s.idle.take()
	defer func() {
		s.idle.put(c.kept())
		s.readers <- struct{}{}
	}()
	if s.closed.Load() {
		return errClosed
	}
	if c == nil {
		if c, err = s.connect(toRead); err != nil {
			return fault("open", err)
		}
	}
	c.lost = true
	if _, err := c.exec("BEGIN"); err != nil {
		return fault("begin", err)
	}
	err = fn(c)
	c.lost = !c.rollback()
	return err
}

// rollback ends a transaction. If SQLite has already rolled it back, as it does on some errors,
// the error means nothing. It reports whether the connection can be used again.
func (c *conn) rollback() bool {
	_, err := c.exec("ROLLBACK")
	return err == nil || resultCode(err) == sqlite.ResultError
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
	defer func() { s.writer <- c.kept() }()
	if s.closed.Load() {
		return errClosed
	}
	if c == nil {
		if c, err = s.connect(toWrite); err != nil {
			return fault("open", err)
		}
	}
	if err := s.replaced(); err != nil {
		return err
	}
	if err := c.beginImmediate(ctx, deadline); err != nil {
		return err
	}
	c.lost = true
	if err = fn(c); err == nil {
		err = ctx.Err()
	}
	if err == nil {
		// Nothing cancels a commit: nobody would know whether it happened.
		if _, err = c.exec("COMMIT"); err == nil {
			c.lost = false
			return nil
		}
		err = commitFault(err)
	}
	c.lost = !c.rollback()
	return err
}

var errBusy = fmt.Errorf("sqlite: somebody else is writing: %w", stores.ErrConflict)

func (c *conn) beginImmediate(ctx context.Context, deadline time.Time) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		_, err := c.exec("BEGIN IMMEDIATE")
		switch {
		case err == nil:
			return nil
		case resultCode(err).ToPrimary() != sqlite.ResultBusy:
			return fault("begin", err)
		case time.Now().After(deadline):
			return errBusy
		}
		// Two processes that wait in step would keep colliding.
		t := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}
