package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var olderProgram = flag.String("older", "", "the program of a release before, to be exchanged for this one")

// serveAs starts a server of another program; of this one, for "".
func (h *house) serveAs(program string, args ...string) *running {
	h.t.Helper()
	if program == "" {
		return h.serve(args...)
	}
	at := filepath.Join(h.dir, ".bin", "verbatim")
	if err := errors.Join(os.Rename(at, at+".newer"), os.Symlink(program, at)); err != nil {
		h.t.Fatal(err)
	}
	s := h.serve(args...)
	if err := errors.Join(os.Remove(at), os.Rename(at+".newer", at)); err != nil {
		h.t.Fatal(err)
	}
	return s
}

// A palette that a newer release of the house has beside the others.
const jotting = `domain: jotting
description: What somebody wants to keep in mind.
entities:
  jot:
    description: A line.
    key: jot_id
    managed: true
    scope: {principal: owner}
    label: "{text}"
    fields:
      owner: {type: string, required: true}
      text:  {type: string, required: true}
verbs:
  - verb: jot
    description: Keep a line.
    roles: [client]
    args:
      - {name: text, type: string, required: true}
    effects:
      - creates: jot
        set: {owner: principal, text: text}
`

// Servers are exchanged one by one while clients write: the store is migrated, and its
// journal cut, beside the server of before, which goes on; for a while both serve, each with the palettes that it
// has; then the older one ends. Nobody is answered with an error, and nothing is lost or
// done twice. SAFE-R10
func TestServersAreExchangedOneByOne(t *testing.T) {
	t.Parallel()
	db := bankDatabase(t)
	h := newHouse(t)
	h.env = append(h.env, "VERBATIM_STORE="+db.App, "VERBATIM_FILES="+filepath.Join(h.dir, "files"))
	newer := filepath.Join(h.dir, "newer")
	if err := os.CopyFS(newer, os.DirFS(filepath.Join(h.dir, "verbs"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(newer, "jotting.yaml"), []byte(jotting), 0o600); err != nil {
		t.Fatal(err)
	}
	before := h.serveAs(*olderProgram, "--log", "error", "--sign-in", "clara")
	clara := newVisitor(t).comes(before, "clara")

	var mu sync.Mutex
	urls := []string{before.url}
	serving := func(next ...string) {
		mu.Lock()
		defer mu.Unlock()
		urls = next
	}
	var stop atomic.Bool
	var writes atomic.Int64
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := 0; !stop.Load() && !t.Failed(); i++ {
				n := w*1_000_000 + i
				// A balancer sends what one server did not take to another, under its key.
				for try := 0; ; try++ {
					mu.Lock()
					at := urls[(i+try)%len(urls)]
					mu.Unlock()
					status, body, err := clara.post(at+"/v1/run", fmt.Sprint(n), map[string]string{"script": fmt.Sprintf(aNote, n)})
					if err == nil && status == http.StatusOK {
						writes.Add(1)
						break
					}
					// One person's requests are bounded a second; a client waits then.
					if (err == nil && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests) || try > 100 {
						t.Errorf("%d %s %v", status, body, err)
						return
					}
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	until := func(n int64) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); writes.Load() < n && !t.Failed(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d writes are done, %d were wanted", writes.Load(), n)
			}
		}
	}
	until(5)
	h.do("migrate", "--store", db.Owner, "--grant-to", "verbatim_app", "--palettes", newer, "--cut-journal", "--yes")
	until(writes.Load() + 5)
	after := h.serve("--log", "error", "--palettes", newer)
	serving(before.url, after.url)
	until(writes.Load() + 8)
	jot := func(at *running) (int, string) {
		t.Helper()
		status, body, err := clara.post(at.url+"/v1/run", "", map[string]string{"script": `jotting.jot :text "Tuesday"`})
		if err != nil {
			t.Fatal(err)
		}
		return status, body
	}
	if status, body := jot(after); status != http.StatusOK {
		t.Errorf("the newer one answers its own verb with %d %s", status, body)
	}
	if status, body := jot(before); status == http.StatusOK || status >= 500 || !strings.Contains(body, "jotting.jot") {
		t.Errorf("the older one answers a verb that it does not know with %d %s", status, body)
	}
	serving(after.url)
	before.stop()
	until(writes.Load() + 8)
	stop.Store(true)
	writers.Wait()
	// A jot, and that the journal was cut.
	if got, want := int64(h.done()), writes.Load()+2; got != want {
		t.Errorf("%d are done, %d were acknowledged", got, want)
	}
	h.do("log", "verify", "--palettes", newer)
	if out := h.do("log", "replay", "--palettes", newer); !strings.Contains(out, "no difference in the store") {
		t.Error(out)
	}
}
