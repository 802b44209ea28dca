// Package modeltest is a model for tests and benchmarks: a server that speaks the chat
// completions protocol over HTTP, with stated delays and seeded faults. A function makes its
// answers.
//
//	s := modeltest.New(func(r modeltest.Request) llm.Reply { return llm.Reply{Text: "42"} }, modeltest.Options{})
//	defer s.Close()
//	model, err := llm.New(llm.Config{BaseURL: s.URL, Model: "test"})
//
// Agents are compared on the same server under the same conditions: those of race.yaml, which
// ReadRace reads.
package modeltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"verbatim/runtime/conversation/llm"
)

// Options are the conditions under which a server answers. The zero Options delay nothing and
// have no faults.
type Options struct {
	Base     time.Duration // before the first token of an answer
	PerToken time.Duration // for each token of it
	Faults   *Faults       // nil for none
	Hang     time.Duration // how long a call that times out is held, unless its caller gives up; 0 means a minute
}

// Options returns the conditions of a model with a rate of faults.
func (r *Race) Options(seed uint64, rate float64) Options {
	return Options{Base: r.Time(r.Model.Base), PerToken: r.Time(r.Model.PerToken), Hang: 4 * r.Time(r.TimeOut), Faults: &Faults{Seed: seed, Rate: rate, Shares: r.Faults.Model}}
}

// A Request is the whole request of an agent. The mind gets nothing else.
type Request struct {
	llm.Request
	Digest string // of the whole request; the same for every repetition
}

// A Seen is a received request, with the fault that was injected.
type Seen struct {
	Body   string
	Digest string
	Fault  Fault
}

// A Server is a model. Its URL is that of httptest.Server.
type Server struct {
	*httptest.Server
	mind func(Request) llm.Reply
	o    Options

	mu   sync.Mutex
	seen []Seen
}

// New starts a server. Its mind is called on many goroutines, and has to depend on nothing but
// the request for runs to be repeatable.
func New(mind func(Request) llm.Reply, o Options) *Server {
	if o.Hang == 0 {
		o.Hang = time.Minute
	}
	s := &Server{mind: mind, o: o}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	return s
}

// Close ends the server, and the calls that it holds.
func (s *Server) Close() {
	s.CloseClientConnections()
	s.Server.Close()
}

// Seen returns the requests so far, in the order of their arrival.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Seen(nil), s.seen...)
}

// The protocol, as far as llm speaks it.
type (
	wireRequest struct {
		Messages       []wireMessage
		Tools          []struct{ Function llm.Tool }
		ToolChoice     any `json:"tool_choice"`
		ResponseFormat struct {
			JSONSchema struct {
				Name   string
				Schema json.RawMessage
			} `json:"json_schema"`
		} `json:"response_format"`
		MaxTokens   int `json:"max_tokens"`
		Temperature *float32
		Seed        *int
		Stop        []string
		Stream      bool
	}
	wireMessage struct {
		Role       llm.Role   `json:"role,omitempty"`
		Content    string     `json:"content"`
		Refusal    string     `json:"refusal,omitempty"`
		ToolCalls  []wireCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}
	wireCall struct {
		Index    int          `json:"index"`
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function wireFunction `json:"function"`
	}
	wireFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

func (w *wireRequest) request() llm.Request {
	r := llm.Request{MustCall: w.ToolChoice == "required", Schema: w.ResponseFormat.JSONSchema.Schema, SchemaName: w.ResponseFormat.JSONSchema.Name,
		MaxTokens: w.MaxTokens, Temperature: w.Temperature, Seed: w.Seed, Stop: w.Stop}
	for _, m := range w.Messages {
		to := llm.Message{Role: m.Role, Text: m.Content, CallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			to.Calls = append(to.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		r.Messages = append(r.Messages, to)
	}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Function)
	}
	return r
}

// answer takes a request. Whether it is streamed does not change its digest.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var wire wireRequest
	if err == nil {
		err = json.Unmarshal(body, &wire)
	}
	if err != nil || r.URL.Path != "/v1/chat/completions" {
		fails(w, http.StatusBadRequest, "this is no request for a chat completion")
		return
	}
	q := Request{Request: wire.request()}
	canonical, _ := json.Marshal(q.Request) // of texts and numbers, which can always be written
	sum := sha256.Sum256(canonical)
	q.Digest = hex.EncodeToString(sum[:])
	fault := NoFault
	if s.o.Faults != nil {
		fault = s.o.Faults.Next(q.Digest)
	}
	s.mu.Lock()
	s.seen = append(s.seen, Seen{string(body), q.Digest, fault})
	s.mu.Unlock()

	if fault == TimesOut {
		sleep(r, s.o.Hang)
		fails(w, http.StatusGatewayTimeout, "the model took too long")
		return
	}
	sleep(r, s.o.Base)
	if fault == Fails {
		fails(w, http.StatusServiceUnavailable, "the model is overloaded")
		return
	}
	reply := s.mind(q)
	switch fault {
	case Empty:
		reply = llm.Reply{}
	case Cut:
		reply = half(reply)
	}
	s.tell(w, r, &wire, q.Digest, &reply)
}

func sleep(r *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	}
}

func fails(w http.ResponseWriter, status int, says string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"type":"server_error"}}`, says)
}

// half returns the first half of a reply, which still claims to be complete.
func half(r llm.Reply) llm.Reply {
	first := func(text string) string { return string([]rune(text)[:len([]rune(text))/2]) }
	if len(r.Calls) == 0 {
		r.Text = first(r.Text)
	}
	calls := make([]llm.ToolCall, 0, len(r.Calls))
	for _, c := range r.Calls {
		calls = append(calls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: first(c.Arguments)})
	}
	r.Calls = calls
	return r
}

// pieces is the greatest number of chunks in which a text is streamed.
const pieces = 8

// tell writes a reply, whole or streamed, in the time that its tokens need.
func (s *Server) tell(w http.ResponseWriter, r *http.Request, wire *wireRequest, digest string, reply *llm.Reply) {
	m := wireMessage{Role: llm.Assistant, Content: reply.Text, Refusal: reply.Refusal}
	tokens := llm.EstimateTokens(reply.Text)
	for i, c := range reply.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call-%.8s-%d", digest, i)
		}
		m.ToolCalls = append(m.ToolCalls, wireCall{i, c.ID, "function", wireFunction{c.Name, c.Arguments}})
		tokens += llm.EstimateTokens(c.Name) + llm.EstimateTokens(c.Arguments)
	}
	finish := "stop"
	switch {
	case reply.Finish == llm.TooLong:
		finish = "length"
	case reply.Finish == llm.Filtered:
		finish = "content_filter"
	case len(m.ToolCalls) > 0:
		finish = "tool_calls"
	}
	prompt := 0
	for i := range wire.Messages {
		prompt += 4 + llm.EstimateTokens(wire.Messages[i].Content)
	}
	usage := map[string]int{"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}
	takes := time.Duration(tokens) * s.o.PerToken
	if !wire.Stream {
		sleep(r, takes)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"id": digest[:8], "object": "chat.completion", "model": "modeltest", "usage": usage,
			"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": finish}}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(choices ...any) {
		var b bytes.Buffer
		_ = json.NewEncoder(&b).Encode(map[string]any{"id": digest[:8], "object": "chat.completion.chunk", "model": "modeltest", "choices": choices})
		_, _ = fmt.Fprintf(w, "data: %s\n", b.Bytes())
		w.(http.Flusher).Flush()
	}
	delta := func(d any, finish any) any {
		return map[string]any{"index": 0, "delta": d, "finish_reason": finish}
	}
	runes, began := []rune(reply.Text), time.Now()
	for i := range pieces {
		sleep(r, time.Until(began.Add(takes*time.Duration(i+1)/pieces)))
		if part := runes[len(runes)*i/pieces : len(runes)*(i+1)/pieces]; len(part) > 0 {
			chunk(delta(map[string]any{"content": string(part)}, nil))
		}
	}
	m.Content = ""
	chunk(delta(m, nil))
	chunk(delta(map[string]any{}, finish))
	last, _ := json.Marshal(map[string]any{"id": digest[:8], "choices": []any{}, "usage": usage})
	_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", last)
}
