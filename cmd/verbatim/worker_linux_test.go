package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"verbatim/runtime/tests/norace"
)

// launcher is a small program that stands for verbatim where tests run many commands: workers run
// them, which are processes of this binary that take one command after another. Starting the
// program costs thirty milliseconds of processor, and tests run thousands of commands. A worker
// gives each command its folder, environment and streams, and takes them back; what the
// program keeps at package level, the next command finds. So scripts with PROCESS=own keep
// processes, among them one for every command, as do commands that testdata/launcher names.
var launcher = sync.OnceValues(func() (string, error) {
	program, err := norace.Binary()
	if err == nil {
		workshop, err = os.MkdirTemp("", "v") // short, for the name of a socket
	}
	if err != nil {
		return "", err
	}
	for _, name := range []string{"verbatim", "helpdesk", "worker"} {
		if err := os.Symlink(program, filepath.Join(workshop, name)); err != nil {
			return "", err
		}
	}
	for _, name := range []string{"SSL_CERT_FILE", "HTTP_PROXY", "HTTPS_PROXY"} {
		if err := os.WriteFile(filepath.Join(workshop, name), []byte(os.Getenv(name)), 0o600); err != nil {
			return "", err
		}
	}
	name := filepath.Join(workshop, "launcher")
	if said, err := exec.Command("go", "build", "-o", name, "./testdata/launcher").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, said)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(workshop, "socket"), Net: "unix"})
	if err != nil {
		return "", err
	}
	go func() {
		for {
			conn, err := l.AcceptUnix()
			if err != nil {
				return
			}
			go hireFor(conn)
		}
	}()
	return name, nil
})

// workshop is the folder of the launcher, removed when tests have ended.
var workshop string

// idle are the workers that wait for a command.
var idle struct {
	sync.Mutex
	workers []*hired
}

// A hired worker is reached over a socket.
type hired struct {
	cmd  *exec.Cmd
	conn *net.UnixConn
}

// hireFor has a worker run the command of one launcher.
func hireFor(conn *net.UnixConn) {
	defer conn.Close()
	request, streams, err := receive(conn)
	if err != nil {
		return
	}
	w, err := hire()
	if err == nil {
		err = w.send(request, streams)
	}
	for _, f := range streams {
		f.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no worker:", err)
		return
	}
	// Who kills the launcher kills the command.
	var ended atomic.Bool
	killed := make(chan bool, 1)
	go func() {
		_, _ = conn.Read(make([]byte, 1))
		kill := !ended.Load()
		if kill {
			_ = w.cmd.Process.Kill()
		}
		killed <- kill
	}()
	var code [1]byte
	if _, err := io.ReadFull(w.conn, code[:]); err != nil {
		w.dismiss() // it crashed, and said so on the command's standard error
		return
	}
	ended.Store(true)
	_ = conn.CloseRead()
	idle.Lock()
	keep := !<-killed && len(idle.workers) < 2*runtime.GOMAXPROCS(0)
	if keep {
		idle.workers = append(idle.workers, w)
	}
	idle.Unlock()
	if !keep {
		w.dismiss()
	}
	_, _ = conn.Write(code[:])
}

// hire returns a worker that waits, or a new one.
func hire() (*hired, error) {
	idle.Lock()
	defer idle.Unlock()
	if n := len(idle.workers); n > 0 {
		w := idle.workers[n-1]
		idle.workers = idle.workers[:n-1]
		return w, nil
	}
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "worker"), os.NewFile(uintptr(ends[1]), "tests")
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	w := &hired{exec.Command(filepath.Join(workshop, "worker")), conn.(*net.UnixConn)}
	w.cmd.Env, w.cmd.ExtraFiles, w.cmd.Stderr = []string{"GOGC=400"}, []*os.File{theirs}, os.Stderr
	if err := w.cmd.Start(); err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

func (w *hired) send(request []byte, streams []*os.File) error {
	var fds []int
	for _, f := range streams {
		fds = append(fds, int(f.Fd()))
	}
	n, _, err := w.conn.WriteMsgUnix(request, syscall.UnixRights(fds...), nil)
	if err == nil && n < len(request) {
		_, err = w.conn.Write(request[n:])
	}
	return err
}

func (w *hired) dismiss() {
	w.conn.Close()
	_ = w.cmd.Wait()
}

// dismissWorkers ends those that wait, and removes the launcher.
func dismissWorkers() {
	idle.Lock()
	defer idle.Unlock()
	for _, w := range idle.workers {
		w.dismiss()
	}
	if workshop != "" {
		os.RemoveAll(workshop)
	}
}

// receive reads what a launcher asks for, with the streams of its command.
func receive(conn *net.UnixConn) (request []byte, streams []*os.File, err error) {
	request = make([]byte, 1<<16)
	rights := make([]byte, syscall.CmsgSpace(3*4))
	n, m, _, _, err := conn.ReadMsgUnix(request, rights)
	if err != nil {
		return nil, nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:m])
	if err != nil || len(messages) != 1 || n < 8 {
		return nil, nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	for fd, at := range fds {
		streams = append(streams, os.NewFile(uintptr(at), []string{"/dev/stdin", "/dev/stdout", "/dev/stderr"}[fd]))
	}
	length, wrong := strconv.Atoi(string(request[:8]))
	if err = errors.Join(err, wrong); err != nil {
		return nil, nil, err
	}
	whole := make([]byte, 8+length)
	_, err = io.ReadFull(conn, whole[copy(whole, request[:n]):])
	return whole, streams, err
}

// work is a worker: it runs the commands that it is sent, one after another, until the tests end.
func work() {
	f := os.NewFile(3, "tests")
	conn, err := net.FileConn(f)
	f.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	for {
		request, streams, err := receive(conn.(*net.UnixConn))
		if err != nil {
			os.Exit(0)
		}
		code := performed(strings.Split(strings.TrimSuffix(string(request[8:]), "\x00"), "\x00"), streams)
		if _, err := conn.Write([]byte{byte(code)}); err != nil {
			os.Exit(0)
		}
	}
}

// performed runs one command as a process does: in its folder, with its environment, and with its
// streams as those of the process, for programs that it starts and for panics.
func performed(words []string, streams []*os.File) int {
	n, _ := strconv.Atoi(words[1])
	args, env := words[2:2+n], words[2+n:]
	if err := os.Chdir(words[0]); err != nil {
		fmt.Fprintln(streams[2], "worker:", err)
		return 99
	}
	os.Clearenv()
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		_ = os.Setenv(name, value)
	}
	for fd, f := range streams {
		_ = syscall.Dup3(int(f.Fd()), fd, 0)
	}
	ctx, stop := context.WithCancel(context.Background())
	out := &unheard{to: streams[1]}
	code := run(ctx, world{
		load: loadOnce, args: args, in: streams[0], out: out, err: &unheard{to: streams[2], with: out},
		env: os.Getenv, environ: os.Environ(), now: ticking(os.Getenv("TICK")), random: rand.Reader, terminal: openTerminal,
	})
	stop()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	// Whoever started the command waits until nobody writes to it.
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		for fd, f := range streams {
			_ = syscall.Dup3(int(null.Fd()), fd, 0)
			f.Close()
		}
		null.Close()
	}
	return code
}

// unheard is what a command prints to. A process whose output nobody reads any more is ended by a signal before it
// can say so; in a worker, it says nothing.
type unheard struct {
	to     io.Writer
	with   *unheard // its standard output
	broken atomic.Bool
}

func (u *unheard) Write(b []byte) (int, error) {
	if u.with != nil && u.with.broken.Load() {
		return len(b), nil
	}
	n, err := u.to.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		u.broken.Store(true)
	}
	return n, err
}
