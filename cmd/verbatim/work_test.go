package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"
)

// SAFE-R11: a worker whose clock is a day off goes by the store's; where they agree, it
// goes by its own.
func TestAWorkerGoesByTheStoresClock(t *testing.T) {
	t.Parallel()
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	for _, by := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour} {
		clock := setBy(time.Now().Add(by), func() time.Time { return noon })
		if off := clock().Sub(noon) - by; off.Abs() > time.Second {
			t.Errorf("with a store that is ahead by %s it is off by %s", by, off)
		}
	}
}

// A worker that is stopped while something that it began hangs goes on for as long as --drain says, says so, and
// leaves what it could not finish to be tried again: nothing is lost or done twice. 59
func TestAWorkerIsStopped(t *testing.T) {
	t.Parallel()
	program, err := norace.Binary()
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t)
	h.people()
	asked, goesOn := make(chan bool, 9), make(chan bool)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server notices that its client is gone once it has read all
		asked <- true
		select {
		case <-goesOn:
		case <-r.Context().Done():
		}
	}))
	defer hook.Close()
	if err := os.WriteFile(filepath.Join(h.dir, "routes.json"), fmt.Appendf(nil, `{"channels": {"flow": {"kind": "webhook", "url": %q, "secret-env": "FLOW_SECRET", "private": true}}, "routes": {"agreement": {"channel": "flow"}}}`, hook.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "TICK=now", "VERBATIM_NOTIFY=routes.json", "FLOW_SECRET=whsec_"+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	h.script("ada", `system.add-identity :principal-id "bo" :issuer "email" :subject "bo@bank.example"`)
	works := func(drain string) (says string, wait func() time.Duration) {
		t.Helper()
		said := &lines{}
		cmd := exec.Command(program, "work")
		cmd.Args[0] = "verbatim"
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.dir, append(slices.Clone(h.env), drain), said, said
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-asked:
		case <-time.After(20 * time.Second):
			t.Fatalf("it begins nothing:\n%s\n%s", said, h.do("work", "list", "--as", "d.lang", "--all"))
		}
		began := time.Now()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); !strings.Contains(said.String(), "stopping: what was begun is finished, for at most "); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it does not say that it stops:\n%s", said)
			}
		}
		return said.String(), func() time.Duration {
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ended with %v: %s", err, said)
			}
			return time.Since(began)
		}
	}
	waits := func() string { return h.do("work", "list", "--as", "d.lang", "--all") }

	h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)
	says, wait := works("")
	if !strings.Contains(says, "at most 10s") {
		t.Error(says)
	}
	select {
	case goesOn <- true:
	case <-time.After(20 * time.Second):
		t.Fatal("what it had begun was broken off")
	}
	if took := wait(); took > 9*time.Second || strings.Contains(waits(), "waiting\tnotice") {
		t.Errorf("what it had begun was not finished, after %s: %s", took, waits())
	}

	h.proposes(`system.grant-high-role :principal-id @nina :role "administrator"`)
	says, wait = works("VERBATIM_DRAIN=500ms")
	if !strings.Contains(says, "at most 500ms") {
		t.Error(says)
	}
	if took := wait(); took > 8*time.Second || !strings.Contains(waits(), "waiting\tnotice agreement") {
		t.Errorf("it ended after %s, and left %s", took, waits())
	}
	close(goesOn)
	h.do("work", "--once")
	if strings.Contains(waits(), "waiting\tnotice") {
		t.Errorf("it was not tried again: %s", waits())
	}
}

// A worker reads its configuration again on SIGHUP. Palettes with a mistake are refused, and it goes on. 59
func TestAWorkerReloads(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	program, err := norace.Binary()
	if err != nil {
		t.Fatal(err)
	}
	said := &lines{}
	cmd := exec.Command(program, "work")
	cmd.Args[0] = "verbatim"
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.dir, h.env, said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() })
	hears := func(want string) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !strings.Contains(said.String(), want); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it does not say %q:\n%s", want, said)
			}
		}
		said.taken()
	}
	reload := func() {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	hears("notices are left where they are")
	more := filepath.Join(h.dir, "verbs", "jotting.yaml")
	if err := os.WriteFile(more, []byte(jotting+"    wrong: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reload()
	hears("reload refused, and all goes on as it was: ")
	if err := os.WriteFile(more, []byte(jotting), 0o600); err != nil {
		t.Fatal(err)
	}
	h.do("migrate")
	reload()
	hears("reloaded: palettes")

	// What is stopped finishes as before.
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v:\n%s", err, said)
	}
}
