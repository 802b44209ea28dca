package server_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/frontends/http/server"
	"verbatim/stores/sqlite"
)

// A lockedLog can be read while a server writes to it.
type lockedLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A server that is told to end says so on /readyz while it still takes requests, so that a balancer sends others
// elsewhere, and only then closes its door. The log has both, and how many requests were cut off. W8
func TestAServerThatStopsSaysSoFirst(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "there.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	said := &lockedLog{}
	s, err := server.New(server.Options{Store: away{store}, URL: "http://" + l.Addr().String(), Log: slog.New(slog.NewTextHandler(said, nil)), Limits: server.Limits{Linger: 2 * time.Second, Drain: 200 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	begun, release := make(chan struct{}), make(chan struct{})
	s.Mount(server.Route{Pattern: "GET /slow", Handle: func(v *server.Visit) error {
		close(begun)
		select {
		case <-release:
		case <-v.R.Context().Done():
		}
		return errors.New("cut off")
	}})
	ctx, stop := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l, nil) }()
	url := "http://" + l.Addr().String()
	get := func(path string) (int, string, error) {
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(url + path)
		if err != nil {
			return 0, "", err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		return answer.StatusCode, string(body), err
	}
	go func() { _, _, _ = get("/slow") }()
	<-begun
	stop(errors.New("terminated"))
	for end := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		status, body, err := get("/readyz")
		if err == nil && status == http.StatusServiceUnavailable && body == "stopping\n" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it does not say that it stops: %d %q %v", status, body, err)
		}
	}
	if status, body, err := get("/healthz"); err != nil || status != http.StatusOK {
		t.Errorf("it takes no request any more: %d %q %v", status, body, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	close(release)
	if _, _, err := get("/healthz"); err == nil {
		t.Error("its door is open after the end")
	}
	for _, want := range []string{"msg=stopping why=terminated", "msg=stopped cut_off=1"} {
		if log := said.String(); !strings.Contains(log, want) {
			t.Errorf("%q is not in the log:\n%s", want, log)
		}
	}
}

// Who asks much is told to wait, a person with a page; probes of the same address are answered. A body that never
// fits is not asked for again. W31
func TestLimitsAreForThoseWhoAskMuch(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "there.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	url := serveOn(t, away{store}, server.Options{Limits: server.Limits{Rate: 0.001, Burst: 2, Bodies: 32 << 10}})
	ask := func(method, path, accept string, body io.Reader) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequest(method, url+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(text)
	}
	if answer, text := ask("POST", "/look", "text/html", strings.NewReader(strings.Repeat("x", 20<<10))); answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body that never fits: %s %s", answer.Status, text)
	}
	ask("GET", "/sign-in", "text/html", nil)
	answer, text := ask("GET", "/sign-in", "text/html", nil)
	if answer.StatusCode != http.StatusTooManyRequests || !strings.Contains(answer.Header.Get("Content-Type"), "text/html") || !strings.Contains(text, "<html") {
		t.Errorf("a person is answered %s %s: %.300s", answer.Status, answer.Header.Get("Content-Type"), text)
	}
	if answer, _ := ask("GET", "/v1/openapi.json", "application/json", nil); answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a program is answered %s %s", answer.Status, answer.Header.Get("Content-Type"))
	}
	for range 10 {
		if answer, _ := ask("GET", "/readyz", "*/*", nil); answer.StatusCode == http.StatusTooManyRequests {
			t.Fatal("a probe is limited")
		}
	}
}
