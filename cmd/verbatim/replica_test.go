package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

// Clients read what they wrote, by whichever of two servers that read from a replica: while
// it follows, while it is behind, while it is gone and when it is back. None is answered
// with an error; the log says what became of the replica.
func TestServersReadFromAReplica(t *testing.T) {
	t.Parallel()
	db := pgtest.Own(t)
	h := newHouse(t)
	h.env = append(h.env, "VERBATIM_STORE="+db.App, "VERBATIM_FILES="+filepath.Join(h.dir, "files"))
	h.do("migrate", "--store", db.Owner, "--grant-to", "verbatim_app", "--data", "bank.postgres.sql", "--data", "people.sql")
	standby := db.Follow(t)
	there := standby.Of(db.DB)
	house := h.env
	for says, env := range map[string]string{
		"another role":           "VERBATIM_REPLICA=" + there.Admin,
		"follows another store":  "VERBATIM_REPLICA=" + pgtest.Database(t).App,
		"the URL cannot be read": "VERBATIM_REPLICA=postgres://:::/",
		"a file has no replica":  "VERBATIM_REPLICA=" + there.App + "\x00VERBATIM_STORE=none.db",
	} {
		ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
		cmd := exec.CommandContext(ctx, filepath.Join(h.dir, ".bin", "verbatim"), "serve", "--listen", "127.0.0.1:0")
		cmd.Dir, cmd.Env = h.dir, append(house[:len(house):len(house)], strings.Split(env, "\x00")...)
		out, err := cmd.CombinedOutput()
		stop()
		if code := cmd.ProcessState.ExitCode(); err == nil || code != exitUsage && says != "the URL cannot be read" || !strings.Contains(string(out), says) || bytes.Contains(out, []byte(":::")) {
			t.Errorf("where %s, serve exits with %d and says %s", says, code, out)
		}
	}

	h.env = append(h.env, "VERBATIM_REPLICA="+there.App)
	one, two := h.serve("--no-work", "--sign-in", "clara"), h.serve("--no-work")
	clara := newVisitor(t).comes(one, "clara")
	var stop atomic.Bool
	var rounds atomic.Int64
	var client sync.WaitGroup
	client.Go(func() {
		for i := 1; !stop.Load(); i++ {
			writes, reads := one, two
			if i%2 == 0 {
				writes, reads = two, one
			}
			status, body, err := clara.post(writes.url+"/v1/run", fmt.Sprint(i), map[string]string{"script": fmt.Sprintf(aNote, i)})
			if err != nil || status != http.StatusOK {
				t.Errorf("write %d: %d %s %v", i, status, body, err)
				return
			}
			for range 3 {
				status, body, err = clara.post(reads.url+"/v1/run", "", map[string]string{"script": "client.get-outstanding"})
				if err != nil || status != http.StatusOK || !strings.Contains(body, fmt.Sprintf("Number %d\"", i)) {
					t.Errorf("what was written %d times is read: %d %.600s %v", i, status, body, err)
					return
				}
			}
			rounds.Add(1)
		}
	})
	on := func(n int64) {
		t.Helper()
		n += rounds.Load()
		for deadline := time.Now().Add(30 * time.Second); rounds.Load() < n && !t.Failed(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("nobody is answered any more")
			}
		}
	}
	on(6)
	there.Run(t, "SELECT pg_wal_replay_pause()")
	on(6)
	there.Run(t, "SELECT pg_wal_replay_resume()")
	on(4)
	standby.Stop()
	on(6)
	standby.Start()
	// It has forgotten what was read there before, and is asked again a second later.
	for deadline := time.Now().Add(30 * time.Second); ; {
		on(5)
		n, err := there.Number("SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint FROM pg_stat_user_tables WHERE relname = 'outstanding_requests'")
		if err != nil || t.Failed() {
			t.Fatal(err)
		}
		if n > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a replica that is back is read no more")
		}
	}
	stop.Store(true)
	client.Wait()
	one.stop()
	two.stop()
	for _, says := range []string{"the replica does not answer: reads go to the store itself", "reads go to the replica where it has come far enough"} {
		if !strings.Contains(one.said.String()+two.said.String(), says) {
			t.Errorf("no server logs that %s", says)
		}
	}
}
