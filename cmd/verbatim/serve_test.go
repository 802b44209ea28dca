package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serves starts the server on a free port, and stops it when the script ends: serves
// NAME ARGS. $NAME is where it is, and $NAME_WHO the link by which --sign-in lets
// somebody sign in. serves -stop NAME stops it before, as an operator does, and serves
// -kill NAME as a failing machine does.
func serves(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: serves [-stop|-kill] NAME ARGS")
	}
	servers, _ := ts.Value(serversKey{}).(map[string]*exec.Cmd)
	if sig := map[string]os.Signal{"-stop": os.Interrupt, "-kill": syscall.SIGKILL}[args[0]]; sig != nil {
		cmd := servers[args[1]]
		ts.Check(cmd.Process.Signal(sig))
		if err := cmd.Wait(); err != nil && args[0] == "-stop" {
			ts.Fatalf("the server ended with %v", err)
		}
		return
	}
	name := args[0]
	at := "127.0.0.1:0"
	if before := ts.Getenv(name); before != "" {
		at = strings.TrimPrefix(before, "http://")
	}
	var env []string
	for _, key := range []string{"PATH", "HOME", "XDG_STATE_HOME", "VERBATIM_STORE", "VERBATIM_FILES", "VERBATIM_SCAN", "VERBATIM_NOTIFY", "VERBATIM_OPENID", "VERBATIM_OPENID_CLIENT", "VERBATIM_OPENID_SECRET", "TICK"} {
		env = append(env, key+"="+ts.Getenv(key))
	}
	s, err := startServer(ts.Getenv("WORK"), env, append([]string{"--listen", at}, args[1:]...))
	ts.Check(err)
	ts.Defer(s.stop)
	servers[name] = s.cmd
	ts.Setenv(name, s.url)
	for who, link := range s.links {
		ts.Setenv(name+"_"+strings.ReplaceAll(who, ".", "_"), link)
	}
}

// A running server is a process of its own.
type running struct {
	cmd   *exec.Cmd
	url   string
	links map[string]string // by which somebody signs in, by name
	said  *lines            // what it logs
}

// startServer starts the server in a folder with the bank, and waits until it serves.
func startServer(dir string, env, args []string) (*running, error) {
	s := &running{cmd: exec.Command(filepath.Join(dir, ".bin", "verbatim"), append([]string{"serve"}, args...)...), links: map[string]string{}, said: &lines{}}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a run that is cut off leaves no server
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = dir, env, s.said
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		started := make(chan error, 1)
		go func() {
			goruntime.LockOSThread() // the server ends with the thread that started it, so the thread stays
			started <- s.cmd.Start()
			select {}
		}()
		err = <-started
	}
	if err != nil {
		return nil, err
	}
	wanted := strings.Count(strings.Join(args, " "), "--sign-in")
	lines := bufio.NewScanner(out)
	for (s.url == "" || len(s.links) < wanted) && lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "serving   "); ok {
			s.url = url
		} else if m := link.FindStringSubmatch(lines.Text()); m != nil {
			s.links[m[1]] = m[2]
		}
	}
	if s.url == "" || len(s.links) < wanted {
		s.stop()
		return nil, fmt.Errorf("the server does not serve: %s", s.said)
	}
	return s, nil
}

// stop ends it as an operator does, if it has not ended yet.
func (s *running) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

type serversKey struct{}

var link = regexp.MustCompile(`^sign in +(\S+) +\S+[?]link=([^&]+)`)

// curl sends a request with curl, whose answer is held against what is expected: curl
// STATUS JAR|- ARGS. The body is in stdout, the head in the file head. A jar holds the
// cookies of whoever asks; one that is a token's begins with vt:.
func curl(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: curl STATUS JAR|- ARGS")
	}
	status, jar := args[0], args[1]
	with := []string{"-sS", "--max-time", "30", "-D", "head", "-o", "body", "-w", "%{http_code}"}
	switch {
	case strings.HasPrefix(jar, "vt:"):
		with = append(with, "-H", "Authorization: Bearer "+strings.TrimSpace(ts.ReadFile(jar[3:])))
	case jar != "-":
		with = append(with, "-b", jar, "-c", jar)
	}
	_ = os.Remove(ts.MkAbs("body"))
	cmd := exec.Command("curl", append(with, args[2:]...)...)
	cmd.Dir = ts.Getenv("WORK")
	began := time.Now()
	got, err := cmd.CombinedOutput()
	body, _ := os.ReadFile(ts.MkAbs("body"))
	fmt.Fprintf(ts.Stdout(), "%s", body)
	if text := string(got); !strings.HasSuffix(text, status) && text != status {
		ts.Fatalf("%s after %s, %v, want %s\n%s", text, time.Since(began), err, status, body)
	}
}
