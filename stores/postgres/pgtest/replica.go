package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Standby is a server that follows another by streaming replication.
type Standby struct {
	t testing.TB
	c *cluster
}

// Follow starts a server that follows that of a database. It has a socket of its own.
func (d DB) Follow(t testing.TB) *Standby {
	t.Helper()
	c, err := newCluster(false)
	if err == nil {
		out, failed := c.command("pg_basebackup", "-D", filepath.Join(c.dir, "data"), "-h", d.Dir, "-U", "postgres", "-R", "-X", "stream", "--checkpoint=fast", "--no-sync").CombinedOutput()
		if err = failed; err != nil {
			err = fmt.Errorf("pg_basebackup: %w\n%s", err, out)
		}
	}
	if err == nil {
		err = c.begin("SELECT 1")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	return &Standby{t, c}
}

// Of returns the database on the standby.
func (s *Standby) Of(d DB) DB {
	on := func(at string) string {
		u, err := url.Parse(at)
		if err != nil {
			s.t.Fatal(err)
		}
		q := u.Query()
		q.Set("host", s.c.dir)
		u.RawQuery = q.Encode()
		return u.String()
	}
	return DB{App: on(d.App), Owner: on(d.Owner), Admin: on(d.Admin), Dir: s.c.dir}
}

// Stop ends the standby at once, as when its machine fails; Start starts it again.
func (s *Standby) Stop() {
	_ = s.c.proc.Signal(syscall.SIGQUIT)
	<-s.c.done
}

// Start starts a standby that was stopped.
func (s *Standby) Start() {
	s.t.Helper()
	if err := s.c.begin("SELECT 1"); err != nil {
		s.t.Fatal(err)
	}
}

// begin starts the server, and waits until it answers.
func (c *cluster) begin(sql string) error {
	if err := c.serve(); err != nil {
		return err
	}
	return c.wait(sql)
}

var poolers = sync.OnceValues(func() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoPooler
})

var errNoPooler = errors.New("pgtest: PgBouncer is not installed; `make pgbouncer` installs it")

// Pooler returns the socket directory of a PgBouncer in front of a database's server. It pools
// transactions, with at most size connections for a role. If PgBouncer is not installed, the test
// is skipped, and fails if TEST_REQUIRE_PGBOUNCER is 1.
func (d DB) Pooler(t testing.TB, size int) string {
	t.Helper()
	program, err := poolers()
	if errors.Is(err, errNoPooler) && os.Getenv("TEST_REQUIRE_PGBOUNCER") != "1" {
		t.Skip("SKIPPED, NOT TESTED: PgBouncer is not installed; `make pgbouncer` installs it")
	}
	var c *cluster
	if err == nil {
		c, err = newCluster(false)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(c.dir) })
	ini := filepath.Join(c.dir, "pgbouncer.ini")
	users := filepath.Join(c.dir, "users")
	err = errors.Join(
		os.WriteFile(users, []byte("\"verbatim_app\" \"\"\n\"verbatim_owner\" \"\"\n\"postgres\" \"\"\n"), 0o644),
		os.WriteFile(ini, []byte(strings.Join([]string{"[databases]", "* = host=" + d.Dir, "[pgbouncer]", "unix_socket_dir = " + c.dir, "listen_port = 5432",
			"auth_type = trust", "auth_file = " + users, "pool_mode = transaction", "max_client_conn = 1000", "default_pool_size = " + strconv.Itoa(size), "server_idle_timeout = 1", ""}, "\n")), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	c.bin = filepath.Dir(program)
	cmd := c.command(filepath.Base(program), "-q", ini)
	begun, done := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread() // it ends with the thread: see serve
		err := cmd.Start()
		begun <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(done)
	}()
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
	})
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		// The socket exists a moment before anybody listens.
		if conn, err := net.Dial("unix", filepath.Join(c.dir, ".s.PGSQL.5432")); err == nil {
			_ = conn.Close()
			return c.dir
		}
		if time.Now().After(deadline) {
			t.Fatal("PgBouncer does not listen")
		}
	}
}

// Behind returns the database as it is reached through a pooler.
func (d DB) Behind(t testing.TB, pooler string) DB { return (&Standby{t, &cluster{dir: pooler}}).Of(d) }

// Another makes one more database on the server.
func (s *Server) Another(t testing.TB) DB {
	t.Helper()
	return database(t, func() (*cluster, error) { return s.c, nil })
}

// Number runs a query for one number, as the superuser.
func (d DB) Number(sql string) (n int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, d.Admin)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, sql).Scan(&n)
	return n, err
}
