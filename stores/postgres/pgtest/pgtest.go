// Package pgtest gives tests a PostgreSQL server of their own.
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		db := pgtest.Database(t) // a new, empty database
//		s, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
//		…
//	}
//
// A test process has one server, which begins with the first database asked for
// and ends with the process, whichever way that ends. It listens on a socket in a
// temporary directory and nowhere else. Where PostgreSQL is not installed, tests
// that need it are skipped, and fail when TEST_REQUIRE_POSTGRES is 1.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"verbatim/stores/postgres/internal/ajar"
)

// A DB is one database, with the URLs of three roles.
type DB struct {
	App   string // URL of a role with no rights but those it is granted
	Owner string // URL of the role that owns the database, no superuser
	Admin string // URL of the superuser
	Dir   string // directory of the server's socket
}

// Database makes an empty database, dropped when the test ends. The server does
// not wait for the disk.
func Database(t testing.TB) DB { return database(t, quick) }

// Durable is Database on a server that does wait for the disk, as one that holds
// anything of worth would.
func Durable(t testing.TB) DB { return database(t, durable) }

// Main runs the tests of a package, stops the servers and ends the process.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for callers that end the process themselves.
func Run(m *testing.M) int {
	defer stop()
	return m.Run()
}

var (
	quick   = sync.OnceValues(func() (*cluster, error) { return start(false) })
	durable = sync.OnceValues(func() (*cluster, error) { return start(true) })

	mu      sync.Mutex
	running []*cluster
	count   atomic.Int64
)

// A cluster is one server.
type cluster struct {
	dir     string
	bin     string
	attr    *syscall.SysProcAttr
	durable bool
	version int // the server's, such as 15
	proc    *os.Process
	done    chan struct{} // closed when the server has ended
}

// A Server is a server for one test alone, which may stop it.
type Server struct {
	DB
	c *cluster
}

// Own starts a server that waits for the disk, with one empty database on it.
func Own(t testing.TB) *Server {
	t.Helper()
	s := new(Server)
	t.Cleanup(func() {
		if s.c != nil {
			s.c.stop()
		}
	})
	s.DB = database(t, func() (*cluster, error) {
		c, err := start(true)
		s.c = c
		return c, err
	})
	return s
}

// Crash stops the server at once, as when its machine fails, and starts it
// again. It returns when the server answers.
func (s *Server) Crash() error {
	s.Stop()
	return s.Start()
}

// Stop stops the server at once.
func (s *Server) Stop() {
	_ = s.c.proc.Signal(syscall.SIGQUIT)
	<-s.c.done
}

// Start starts a server that was stopped. It returns when the server answers.
func (s *Server) Start() error {
	if err := s.c.serve(); err != nil {
		return err
	}
	return s.c.wait("SELECT 1")
}

// HangUp ends every session of the application's role, as an administrator or a
// failover would, and says how many there were.
func (d DB) HangUp() (int, error) {
	return d.count("pg_terminate_backend(pid)")
}

// Open says how many sessions of the application's role are in a transaction.
func (d DB) Open() (int, error) {
	return d.count("xact_start IS NOT NULL")
}

// Connected says how many sessions of the application's role there are.
func (d DB) Connected() (int, error) {
	return d.count("true")
}

// Ajar marks a context in which a store is opened that leaves the engine's own
// scope condition out: what it still hides, row-level security hides.
func Ajar(ctx context.Context) context.Context { return ajar.Open(ctx) }

// Waiting says how many sessions of the application's role wait for another's
// lock: for tests in which two transactions meet.
func (d DB) Waiting() (int, error) {
	return d.count("cardinality(pg_blocking_pids(pid)) > 0")
}

// Load runs the output of pg_dump, as the owner of the database. It leaves out lines for psql,
// and settings that another version of the server may not know.
func (d DB) Load(dump string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, d.Owner)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var sql strings.Builder
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, `\`) && !strings.HasPrefix(line, "SET ") {
			sql.WriteString(line)
		}
	}
	_, err = conn.PgConn().Exec(ctx, sql.String()).ReadAll()
	return err
}

// Run runs statements as the superuser.
func (d DB) Run(t testing.TB, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, d.Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
}

func (d DB) count(where string) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, d.Admin)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	var n int
	err = conn.QueryRow(ctx, `SELECT count(*) FILTER (WHERE `+where+`) FROM pg_stat_activity
		WHERE datname = current_database() AND usename = 'verbatim_app'`).Scan(&n)
	return n, err
}

// Like returns a copy of a database that make fills for the first test that asks for that key; it
// closes what it opens there. The copy is dropped when the test ends. Making tables and filling them
// costs a server ten times what a copy does.
func Like(t testing.TB, key string, make func(DB)) DB {
	t.Helper()
	found, _ := templates.LoadOrStore(key, new(template))
	first := found.(*template)
	first.once.Do(func() {
		c, name := create(t, quick, "template1")
		make(c.database(name))
		first.name = name
	})
	if first.name == "" {
		t.Fatal("pgtest: the first test that wanted such a database could not make it")
	}
	return copied(t, quick, first.name)
}

var templates sync.Map // by key

// A template is a database that was made once, unless the name is empty.
type template struct {
	once sync.Once
	name string
}

func database(t testing.TB, get func() (*cluster, error)) DB {
	t.Helper()
	return copied(t, get, "template1")
}

// copied makes a database like another one, and drops it when the test ends.
func copied(t testing.TB, get func() (*cluster, error), like string) DB {
	t.Helper()
	c, name := create(t, get, like)
	t.Cleanup(func() {
		if err := c.admin("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return c.database(name)
}

func create(t testing.TB, get func() (*cluster, error), like string) (*cluster, string) {
	t.Helper()
	c, err := get()
	if errors.Is(err, errNotFound) && os.Getenv("TEST_REQUIRE_POSTGRES") != "1" {
		t.Skip("SKIPPED, NOT TESTED: PostgreSQL is not installed; `make postgres` installs it")
	}
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test%d", count.Add(1))
	how := ""
	if !c.durable && c.version >= 15 {
		// Copying files takes a server that need not flush them half of what writing each block
		// to the log does, and spares the first connection what it would gather into a cache file.
		how = " STRATEGY file_copy"
	}
	if err := c.admin("CREATE DATABASE " + name + " TEMPLATE " + like + " OWNER verbatim_owner" + how); err != nil {
		t.Fatal(err)
	}
	return c, name
}

func (c *cluster) database(name string) DB {
	return DB{App: c.url("verbatim_app", name), Owner: c.url("verbatim_owner", name), Admin: c.url("postgres", name), Dir: c.dir}
}

func (c *cluster) url(role, name string) string {
	return "postgres:///" + name + "?" + url.Values{"host": {c.dir}, "user": {role}}.Encode()
}

func (c *cluster) admin(sql string) error { return c.in("postgres", sql) }

// in runs statements in a database, as the superuser.
func (c *cluster) in(database, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url("postgres", database))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// Keyed makes a role in the database that may do what the application's may, and has to show a password.
// url is the database's for one with a password; change gives the role another, and ends its connections.
func (d DB) Keyed(t testing.TB, password string) (url func(password string) string, change func(password string)) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.Admin)
	if err != nil {
		t.Fatal(err)
	}
	name := conn.Config().Database
	role := "keyed_" + name
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	run := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var hba string
	if err := conn.QueryRow(t.Context(), "SHOW hba_file").Scan(&hba); err != nil {
		t.Fatal(err)
	}
	// A group that does not exist yet is only created once, whichever test comes first.
	if _, err := conn.Exec(t.Context(), "CREATE ROLE keyed NOLOGIN"); err == nil {
		run("COPY (VALUES ('local all +keyed scram-sha-256'), ('local all all trust'), ('local replication all trust')) TO '" + hba + "'")
		run("SELECT pg_reload_conf()")
	}
	run("CREATE ROLE " + role + " LOGIN PASSWORD '" + password + "' IN ROLE keyed, verbatim_app")
	u := d.App
	return func(password string) string {
			return strings.Replace(u, "user=verbatim_app", "user="+role+"&password="+password, 1)
		}, func(password string) {
			t.Helper()
			run("ALTER ROLE " + role + " PASSWORD '" + password + "'")
			run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '" + role + "'")
		}
}

// Program is one of the programs that come with the server, such as pg_dump.
func Program(t testing.TB, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

var errNotFound = errors.New("pgtest: PostgreSQL is not installed; `make postgres` installs it")

// programs finds the newest server that is installed, or the one in the folder that
// TEST_POSTGRES names.
func programs() (string, error) {
	if dir := os.Getenv("TEST_POSTGRES"); dir != "" {
		return dir, nil
	}
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	more, _ := filepath.Glob("/usr/pgsql-*/bin")
	dirs = append(dirs, more...)
	version := func(dir string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(dir)), "pgsql-"))
		return n
	}
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
			return dir, nil
		}
	}
	return "", errNotFound
}

const prefix = "verbatim-pg-"

// start makes a cluster and waits until it answers.
func start(durable bool) (*cluster, error) {
	c, err := newCluster(durable)
	if err != nil {
		return nil, err
	}
	if err := c.serve(); err != nil {
		os.RemoveAll(c.dir)
		return nil, err
	}
	mu.Lock()
	running = append(running, c)
	mu.Unlock()
	if err := c.wait("CREATE ROLE verbatim_owner LOGIN; CREATE ROLE verbatim_app LOGIN; CREATE ROLE verbatim_app_queries; GRANT verbatim_app_queries TO verbatim_app; CREATE ROLE verbatim_backup LOGIN BYPASSRLS IN ROLE pg_read_all_data"); err != nil {
		return nil, err
	}
	// As verbatim migrate --roles leaves a database; in template0 it is as the server makes it.
	if err := c.in("template1", "REVOKE EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) FROM PUBLIC; GRANT EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) TO verbatim_owner, verbatim_app, verbatim_backup"); err != nil {
		return nil, err
	}
	version, err := os.ReadFile(filepath.Join(c.dir, "data", "PG_VERSION"))
	if err != nil {
		return nil, err
	}
	c.version, err = strconv.Atoi(strings.TrimSpace(string(version)))
	return c, err
}

// newCluster makes a cluster with an empty directory.
func newCluster(durable bool) (*cluster, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	tmp := os.TempDir()
	if len(tmp) > 50 {
		tmp = "/tmp" // the path of a socket has at most 107 bytes
	}
	sweep(tmp)
	dir, err := os.MkdirTemp(tmp, fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() == 0 {
		// PostgreSQL refuses to run as root.
		u, err := user.Lookup("postgres")
		if err != nil {
			u, err = user.Lookup("nobody")
		}
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	return &cluster{dir: dir, bin: bin, attr: attr, durable: durable}, nil
}

func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.SysProcAttr, cmd.Dir = c.attr, c.dir
	cmd.Env = []string{"PATH=" + c.bin + ":/usr/bin:/bin", "LC_ALL=C"}
	return cmd
}

// serve starts the server, and creates its data directory if there is none yet.
func (c *cluster) serve() error {
	data := filepath.Join(c.dir, "data")
	var out bytes.Buffer
	initdb := c.command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	initdb.Stdout, initdb.Stderr = &out, &out
	started := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		// The server is told to end when the thread that started it does, and a thread ends with
		// the goroutine that is locked to it.
		runtime.LockOSThread()
		if _, err := os.Stat(data); err != nil {
			if err := initdb.Run(); err != nil {
				started <- fmt.Errorf("pgtest: initdb: %w\n%s", err, out.Bytes())
				return
			}
		}
		on := map[bool]string{true: "on", false: "off"}[c.durable]
		server := c.command("postgres", "-D", data, "-k", c.dir, "-c", "listen_addresses=", "-c", "fsync="+on, "-c", "full_page_writes="+on,
			"-c", "max_connections=300", "-c", "shared_buffers=64MB", "-c", "deadlock_timeout=50ms", "-c", "log_min_messages=fatal", "-c", "log_min_error_statement=panic")
		log, err := os.Create(filepath.Join(c.dir, "log"))
		if err == nil {
			server.Stdout, server.Stderr = log, log
			err = server.Start()
			_ = log.Close() // the server has it open for itself
		}
		if err != nil {
			started <- fmt.Errorf("pgtest: postgres: %w", err)
			return
		}
		c.proc, c.done = server.Process, done
		started <- nil
		_ = server.Wait()
		close(done)
	}()
	return <-started
}

// wait asks until the server answers.
func (c *cluster) wait(sql string) error {
	for deadline := time.Now().Add(time.Minute); ; {
		err := c.admin(sql)
		if err == nil {
			return nil
		}
		select {
		case <-c.done:
			log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
			return fmt.Errorf("pgtest: postgres ended\n%s", log)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("pgtest: postgres does not answer: %w", err)
		}
	}
}

// stop ends the servers at once, and removes their files.
func stop() {
	mu.Lock()
	defer mu.Unlock()
	for _, c := range running {
		c.stop()
	}
	running = nil
}

func (c *cluster) stop() {
	_ = c.proc.Signal(syscall.SIGQUIT)
	select {
	case <-c.done:
	case <-time.After(10 * time.Second):
		_ = c.proc.Kill()
	}
	_ = os.RemoveAll(c.dir)
}

// sweep removes the files of processes that did not end properly.
func sweep(tmp string) {
	dirs, _ := filepath.Glob(filepath.Join(tmp, prefix+"*"))
	for _, dir := range dirs {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		pid, err := strconv.Atoi(owner)
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir)
		}
	}
}

// Hang locks all tables until release is called, as another program's migration would.
func (d DB) Hang(t testing.TB) (release func()) {
	t.Helper()
	return d.Hold(t, `BEGIN; DO $$ DECLARE r record; BEGIN
			FOR r IN SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
			LOOP EXECUTE format('LOCK TABLE %I.%I IN ACCESS EXCLUSIVE MODE', r.schemaname, r.tablename); END LOOP; END $$`)
}

// Hold runs statements as an administrator in a session that stays open until release is called, or the
// test ends: what it locked stays locked.
func (d DB) Hold(t testing.TB, statements string) (release func()) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, d.Admin)
	for err == nil {
		var said *pgconn.PgError
		if _, err = conn.Exec(ctx, statements); !errors.As(err, &said) || said.Code != "40P01" {
			break
		}
		_, err = conn.Exec(ctx, "ROLLBACK") // what waited for it goes on, and it tries again
	}
	if err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { conn.Close(ctx) })
	t.Cleanup(release)
	return release
}
