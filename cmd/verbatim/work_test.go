package main

import (
	"os"
	"os/exec"
	"path/filepath"
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
