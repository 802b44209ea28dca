package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/conversation/llm"
)

// An endpoint is a server that speaks the protocol over a real connection. Each
// request is answered by the next of its answers, the last one again and again.
type endpoint struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	answers  []http.HandlerFunc
}

type request struct {
	path, key string
	body      map[string]any
}

func serve(t *testing.T, answers ...http.HandlerFunc) *endpoint {
	t.Helper()
	e := &endpoint{answers: answers}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got := request{path: r.URL.Path, key: r.Header.Get("Authorization")}
		if err := json.Unmarshal(text, &got.body); err != nil {
			t.Errorf("the client sent %q: %v", text, err)
		}
		e.mu.Lock()
		answer := e.answers[min(len(e.requests), len(e.answers)-1)]
		e.requests = append(e.requests, got)
		e.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) asked() []request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests
}

// client asks the endpoint; waits are noted instead of waited for.
func (e *endpoint) client(t *testing.T, change func(*llm.Config)) (*llm.Client, *[]time.Duration) {
	t.Helper()
	waits := &[]time.Duration{}
	c := llm.Config{
		BaseURL: e.URL, Key: secret, Model: "test-model", Embedding: "test-vectors",
		Transport: &http.Transport{},
		Wait:      func(ctx context.Context, d time.Duration) error { *waits = append(*waits, d); return ctx.Err() },
		Now:       func() time.Time { return time.Date(2024, 12, 27, 9, 14, 0, 0, time.UTC) },
	}
	if change != nil {
		change(&c)
	}
	client, err := llm.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Transport.(*http.Transport).CloseIdleConnections() })
	return client, waits
}

const secret = "sk-canary-4711-abcdefgh"

func status(code int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func says(text string) http.HandlerFunc {
	message, _ := json.Marshal(text)
	return status(200, "", fmt.Sprintf(`{"id":"1","model":"test-model-2","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`, message))
}

// events streams chunks; after the last it does what end says.
func events(end string, chunks ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range chunks {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", c)
			w.(http.Flusher).Flush()
		}
		switch end {
		case "done":
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		case "stall":
			<-r.Context().Done()
		case "cut":
			panic(http.ErrAbortHandler)
		}
	}
}

func delta(text string) string {
	content, _ := json.Marshal(text)
	return fmt.Sprintf(`{"id":"1","model":"test-model-2","choices":[{"index":0,"delta":{"content":%s}}]}`, content)
}

const (
	stop  = `{"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usage = `{"id":"1","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":3,"total_tokens":23}}`
)

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}
