package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/stores"
	"verbatim/stores/sqlite"
)

// A store whose one writer is held by another program is waited for as long as a
// request has; reads go on meanwhile, nothing is lost, and nothing is done twice.
// (SAFE-H10)
func TestServeWriterHeld(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off", "--no-work", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	release := h.holdsWriter()
	type answered struct {
		status int
		body   string
		err    error
	}
	writes := make(chan answered, 4)
	for i := range 4 {
		go func() {
			status, body, err := clara.post(s.url+"/v1/run", fmt.Sprint("held ", i), map[string]string{"script": fmt.Sprintf(aNote, i)})
			writes <- answered{status, body, err}
		}()
	}
	time.Sleep(300 * time.Millisecond)
	if status, body, err := clara.post(s.url+"/v1/run", "", map[string]string{"script": "client.get-status"}); err != nil || status != http.StatusOK {
		t.Errorf("a read is not answered meanwhile: %d %s %v", status, body, err)
	}
	if status, body := clara.get(s.url + "/readyz"); status != http.StatusOK {
		t.Errorf("it is not ready, though it reads: %d %s", status, body)
	}
	time.Sleep(2 * time.Second)
	release()
	for range 4 {
		a := <-writes
		switch {
		case a.err != nil:
			t.Error(a.err)
		case a.status == http.StatusOK:
		case a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, `"code":"`):
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	for i := range 4 {
		if status, body, err := clara.post(s.url+"/v1/run", fmt.Sprint("held ", i), map[string]string{"script": fmt.Sprintf(aNote, i)}); err != nil || status != http.StatusOK {
			t.Error(status, body, err)
		}
	}
	if got := strings.Count(h.do("log", "show", "--as", "d.lang"), "\tok\t"); got != 4 {
		t.Errorf("%d were done, 4 were asked for", got)
	}
}

// What a server has begun when it is told to end is finished and answered; what comes
// after that is not taken. (SAFE-H10)
func TestServeFinishesWhatWasBegun(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve("--log", "off", "--no-work", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	release := h.holdsWriter()
	begun := make(chan string, 1)
	go func() {
		status, body, err := clara.post(s.url+"/v1/run", "begun", map[string]string{"script": fmt.Sprintf(aNote, 1)})
		begun <- fmt.Sprint(status, " ", err, " ", body)
	}()
	time.Sleep(500 * time.Millisecond)
	_ = s.cmd.Process.Signal(os.Interrupt)
	time.Sleep(500 * time.Millisecond)
	if _, _, err := clara.post(s.url+"/v1/run", "late", map[string]string{"script": fmt.Sprintf(aNote, 2)}); err == nil {
		t.Error("something new is taken")
	}
	release()
	if got := <-begun; !strings.HasPrefix(got, "200 <nil>") {
		t.Errorf("what was begun is answered %s", got)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got := strings.Count(h.do("log", "show", "--as", "d.lang"), "\tok\t"); got != 1 {
		t.Errorf("%d were done", got)
	}
}

// holdsWriter lets another program hold the store's one writer, until release is called.
func (h *house) holdsWriter() (release func()) {
	h.t.Helper()
	store, err := sqlite.Open(filepath.Join(h.dir, "verbatim.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { store.Close() })
	held, let := make(chan bool), make(chan bool)
	go func() {
		_ = store.Update(context.Background(), stores.Scope{All: true}, func(stores.Tx) error {
			held <- true
			<-let
			return nil
		})
		held <- true
	}()
	<-held
	return func() {
		let <- true
		<-held
	}
}

// More is asked for than can be done: what is taken is done and answered, what is not is
// told to come back, and what was acknowledged is there. (SAFE-H10)
func TestServeOverload(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		s := h.serve("--log", "off", "--no-work", "--sign-in", "clara")
		clara := newVisitor(t).comes(s, "clara")
		clara.Transport = &http.Transport{MaxIdleConnsPerHost: 600}
		const many = 1500
		var done, shed atomic.Int64
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() {
				status, body, err := clara.post(s.url+"/v1/run", fmt.Sprint("load ", i), map[string]string{"script": fmt.Sprintf(aNote, i)})
				switch {
				case err != nil:
					t.Error(err)
				case status == http.StatusOK:
					done.Add(1)
				case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
					shed.Add(1)
				default:
					t.Errorf("%d %s", status, body)
				}
			})
		}
		all.Wait()
		if got := int64(strings.Count(h.do("log", "show", "--as", "d.lang"), "\tok\t")); got < done.Load() || done.Load() == 0 {
			t.Errorf("%d were acknowledged, %d are there", done.Load(), got)
		}
		if status, body := clara.get(s.url + "/readyz"); status != http.StatusOK {
			t.Errorf("it is not ready afterwards: %d %s", status, body)
		}
		t.Logf("of %d at once, %d were done and %d told to come back", many, done.Load(), shed.Load())
	})
}
