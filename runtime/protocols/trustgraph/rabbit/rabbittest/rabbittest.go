// Package rabbittest gives tests a RabbitMQ broker of their own.
//
//	func TestMain(m *testing.M) { rabbittest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		broker := rabbittest.Start(t) // empty when the first test asks for it
//		q, err := rabbit.Open(rabbit.Config{URL: broker.URL, …})
//		…
//	}
//
// A test process has one broker, which begins when it is first asked for and ends with the
// process, whichever way that ends. It listens on free ports of the loopback interface, and
// all that it writes is in a temporary directory. Where RabbitMQ is not installed, tests that
// need it are skipped, and fail when TEST_REQUIRE_RABBITMQ is 1.
package rabbittest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Broker is a RabbitMQ server.
type Broker struct {
	URL string

	dir, server       string
	amqp, dist, names int // ports; the last is of epmd, which knows the ports of Erlang's nodes
	attr              *syscall.SysProcAttr
	proc, epmd        *process
}

// A process is a program that was started.
type process struct {
	*os.Process
	done chan struct{} // closed when it has ended
}

var (
	broker  = sync.OnceValues(start)
	mu      sync.Mutex
	running *Broker
)

// Main runs the tests of a package, stops the broker and ends the process.
func Main(m *testing.M) {
	code := m.Run()
	Stop()
	os.Exit(code)
}

// Stop stops the broker of the process, for programs with their own Main. No test may use it
// afterwards.
func Stop() {
	mu.Lock()
	defer mu.Unlock()
	if running != nil {
		running.stop()
		running = nil
	}
}

// Start returns the broker of the process.
func Start(t testing.TB) *Broker {
	t.Helper()
	b, err := broker()
	if errors.Is(err, errNotFound) && os.Getenv("TEST_REQUIRE_RABBITMQ") != "1" {
		t.Skip("SKIPPED, NOT TESTED: RabbitMQ is not installed; `make rabbit` installs it")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var errNotFound = errors.New("rabbittest: RabbitMQ is not installed; `make rabbit` installs it")

// find finds the server. The command that packages put into the path wants to be root, so it looks
// there last.
func find() (string, error) {
	const installed = "/usr/lib/rabbitmq/bin/rabbitmq-server"
	if _, err := os.Stat(installed); err == nil {
		return installed, nil
	}
	if path, err := exec.LookPath("rabbitmq-server"); err == nil {
		return path, nil
	}
	return "", errNotFound
}

func start() (*Broker, error) {
	server, err := find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "verbatim-rabbit-")
	if err != nil {
		return nil, err
	}
	b := &Broker{dir: dir, server: server, attr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}}
	mu.Lock()
	running = b
	mu.Unlock()
	if os.Geteuid() == 0 {
		u, err := user.Lookup("rabbitmq")
		if err != nil {
			u, err = user.Lookup("nobody")
		}
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		b.attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	if err := b.ports(); err != nil {
		return nil, err
	}
	b.URL = fmt.Sprintf("amqp://guest:guest@127.0.0.1:%d/", b.amqp)
	for name, text := range map[string]string{
		"rabbitmq.conf":   fmt.Sprintf("listeners.tcp.1 = 127.0.0.1:%d\nlog.console = true\nlog.console.level = error\nlog.file = false\n", b.amqp),
		"enabled_plugins": "[].\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	// Otherwise the broker starts it, as a process that outlives everything.
	if b.epmd, err = b.run("epmd", "-port", strconv.Itoa(b.names), "-address", "127.0.0.1"); err != nil {
		return nil, err
	}
	return b, b.Start()
}

// ports finds free ports.
func (b *Broker) ports() error {
	for _, port := range []*int{&b.amqp, &b.dist, &b.names} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer l.Close() // not before all are found, so that they differ
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return nil
}

// Start starts the broker after Kill, and returns when it answers.
func (b *Broker) Start() (err error) {
	b.proc, err = b.run(b.server)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if b.answers() {
			return nil
		}
		select {
		case <-b.proc.done:
			return fmt.Errorf("rabbittest: the broker ended\n%s", b.log())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("rabbittest: the broker does not answer\n%s", b.log())
		}
	}
}

// Kill ends the broker at once, as when its machine fails.
func (b *Broker) Kill() {
	_ = b.proc.Kill()
	<-b.proc.done
}

// answers reports whether the broker speaks AMQP.
func (b *Broker) answers() bool {
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", b.amqp), time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, err = conn.Write([]byte("AMQP\x00\x00\x09\x01"))
	n, _ := conn.Read(make([]byte, 1))
	return err == nil && n == 1
}

func (b *Broker) log() []byte {
	text, _ := os.ReadFile(filepath.Join(b.dir, "out"))
	return text
}

// run starts a program that ends with this process.
func (b *Broker) run(name string, args ...string) (*process, error) {
	out, err := os.OpenFile(filepath.Join(b.dir, "out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = b.dir, out, out, b.attr
	in := func(name string) string { return filepath.Join(b.dir, name) }
	cmd.Env = []string{"PATH=" + filepath.Dir(b.server) + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8",
		"HOME=" + b.dir, // where Erlang keeps its cookie
		fmt.Sprintf("RABBITMQ_NODENAME=verbatim%d@localhost", os.Getpid()),
		fmt.Sprintf("RABBITMQ_DIST_PORT=%d", b.dist), fmt.Sprintf("ERL_EPMD_PORT=%d", b.names), "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_MNESIA_BASE=" + in("data"), "RABBITMQ_LOG_BASE=" + in("log"), "RABBITMQ_PID_FILE=" + in("pid"),
		"RABBITMQ_CONFIG_FILE=" + in("rabbitmq.conf"), "RABBITMQ_ENABLED_PLUGINS_FILE=" + in("enabled_plugins"),
		// The script becomes the broker instead of starting it, so that there is one process to end.
		"RABBITMQ_ALLOW_INPUT=1", "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-noinput"}
	p := &process{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The program is told to end when the thread that began it does, and a thread ends
		// with the goroutine that is locked to it.
		runtime.LockOSThread()
		err := cmd.Start()
		p.Process = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}

// stop ends the broker, and removes its files.
func (b *Broker) stop() {
	for _, p := range []*process{b.proc, b.epmd} {
		if p != nil && p.Process != nil {
			_ = p.Kill()
			<-p.done
		}
	}
	_ = os.RemoveAll(b.dir)
}
