package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// stalls stands between a program and a PostgreSQL server, and passes nothing more on after so many bytes
// of the server's, without an end of the line. It returns the address of the database through it, and
// how many bytes came.
func stalls(t *testing.T, store string, after int64) (at string, passed *atomic.Int64) {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	passed = &atomic.Int64{}
	ends := make(chan struct{})
	t.Cleanup(func() { l.Close(); close(ends) })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", socket)
			if err != nil {
				client.Close()
				return
			}
			go func() {
				<-ends
				client.Close()
				server.Close()
			}()
			go func() {
				_, _ = io.Copy(server, client)
				server.Close()
			}()
			go func() {
				b := make([]byte, 512)
				for {
					n, err := server.Read(b)
					if passed.Add(int64(n)) > after {
						<-ends
						return
					}
					if _, wrong := client.Write(b[:n]); err != nil || wrong != nil {
						client.Close()
						return
					}
				}
			}()
		}
	}()
	return fmt.Sprintf("postgres://%s@%s%s?sslmode=disable", u.Query().Get("user"), l.Addr(), u.Path), passed
}

// G17, F22: a command with --timeout is back within a second of it, wherever its line stalls: while it
// connects, reads, writes, commits or takes its leave.
func TestATimeoutIsKeptOnAStalledLine(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	store := ""
	for _, line := range h.env {
		if value, ok := strings.CutPrefix(line, "VERBATIM_STORE="); ok {
			store = value
		}
	}
	runs := func(t *testing.T, name, at, limit string) (took time.Duration, err error) {
		file := filepath.Join(h.dir, name)
		if err := os.WriteFile(file, fmt.Appendf(nil, aNote+"\n", 1), 0o666); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 8*time.Second)
		defer stop()
		cmd := exec.CommandContext(ctx, filepath.Join(h.dir, ".bin", "verbatim"), "run", "--as", "clara", "--yes", "--timeout", limit, file)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) } // it tells where it waits
		cmd.Dir, cmd.Env = h.dir, append(h.env[:len(h.env):len(h.env)], "VERBATIM_STORE="+at, "PROCESS=own", "GOTRACEBACK=all")
		began := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return time.Since(began), err
	}
	at, whole := stalls(t, store, 1<<40)
	if _, err := runs(t, "whole.dsl", at, "60s"); err != nil {
		t.Fatal(err)
	}
	const parts = 12
	for part := range parts {
		after := whole.Load() * int64(part) / parts
		t.Run(fmt.Sprintf("after %d of %d bytes", after, whole.Load()), func(t *testing.T) {
			t.Parallel()
			at, _ := stalls(t, store, after)
			took, err := runs(t, fmt.Sprintf("part%d.dsl", part), at, "3s")
			if err == nil || took > 6*time.Second { // within a second on a machine that does nothing else
				t.Errorf("it is back after %s: %v", took, err)
			}
		})
	}
}
