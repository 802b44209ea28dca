package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
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
	cmd := exec.Command(ts.Getenv("WORK")+"/.bin/verbatim", append([]string{"serve", "--listen", at}, args[1:]...)...)
	cmd.Dir = ts.Getenv("WORK")
	for _, key := range []string{"PATH", "HOME", "XDG_STATE_HOME", "VERBATIM_STORE", "VERBATIM_SCAN", "VERBATIM_NOTIFY", "VERBATIM_OPENID", "VERBATIM_OPENID_CLIENT", "VERBATIM_OPENID_SECRET", "TICK"} {
		cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
	}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	said := &bytes.Buffer{}
	cmd.Stderr = said
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	servers[name] = cmd
	lines := bufio.NewScanner(out)
	wanted := 1 + strings.Count(strings.Join(args, " "), "--sign-in")
	for wanted > 0 && lines.Scan() {
		if f := strings.Fields(lines.Text()); f[0] == "serving" {
			ts.Setenv(name, f[1])
			wanted--
		} else if m := link.FindStringSubmatch(lines.Text()); m != nil {
			ts.Setenv(name+"_"+strings.ReplaceAll(m[1], ".", "_"), m[2])
			wanted--
		}
	}
	if wanted > 0 {
		_ = cmd.Wait()
		ts.Fatalf("the server does not serve: %s", said)
	}
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
