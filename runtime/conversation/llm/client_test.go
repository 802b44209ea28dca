package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/llm"
)

func TestAnAnswerComesWithItsCount(t *testing.T) {
	t.Parallel()
	e := serve(t, says("Two documents."))
	c, _ := e.client(t, nil)
	zero := float32(0)
	reply, err := c.Chat(t.Context(), llm.Request{
		Messages:  []llm.Message{{Role: llm.System, Text: "be short"}, {Role: llm.User, Text: "what is missing?"}},
		MaxTokens: 50, Temperature: &zero, Stop: []string{"\n"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Reply{Text: "Two documents.", Finish: llm.Stopped, Model: "test-model-2", Usage: llm.Usage{In: 11, Out: 7}}
	if !reflect.DeepEqual(reply, want) {
		t.Errorf("got %+v, want %+v", reply, want)
	}
	got := e.asked()[0]
	if got.path != "/v1/chat/completions" || got.key != "Bearer "+secret {
		t.Errorf("asked %s with %q", got.path, got.key)
	}
	// A temperature of 0 is said: left out, an endpoint takes its own.
	if v, ok := got.body["temperature"]; !ok || v != 0.0 {
		t.Errorf("temperature is %v, sent: %v", v, ok)
	}
	if got.body["max_tokens"] != 50.0 || got.body["model"] != "test-model" || len(got.body["messages"].([]any)) != 2 {
		t.Errorf("sent %v", got.body)
	}
}

func TestAStreamIsHandedOverAsItComes(t *testing.T) {
	t.Parallel()
	e := serve(t, events("done", delta("Zwei "), `{"id":"1","choices":[]}`, delta("Dokumente – 文件"), stop, usage))
	c, _ := e.client(t, nil)
	var pieces []string
	reply, err := c.Chat(t.Context(), ask("was fehlt?"), func(s string) { pieces = append(pieces, s) })
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Zwei ", "Dokumente – 文件"}; !reflect.DeepEqual(pieces, want) {
		t.Errorf("pieces %q, want %q", pieces, want)
	}
	if reply.Text != "Zwei Dokumente – 文件" || reply.Usage != (llm.Usage{In: 20, Out: 3}) || reply.Finish != llm.Stopped {
		t.Errorf("got %+v", reply)
	}
}

func TestToolsAreAskedFor(t *testing.T) {
	t.Parallel()
	whole := status(200, "", `{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"client_add_note","arguments":"{\"note\":\"x\"}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	pieces := events("done",
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"client_add_note","arguments":""}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"note\":"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"x\"}"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`)
	want := []llm.ToolCall{{ID: "a", Name: "client_add_note", Arguments: `{"note":"x"}`}}
	for name, answer := range map[string]http.HandlerFunc{"whole": whole, "streamed": pieces} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, answer)
			c, _ := e.client(t, nil)
			var piece func(string)
			if name == "streamed" {
				piece = func(string) {}
			}
			reply, err := c.Chat(t.Context(), llm.Request{
				Messages: []llm.Message{{Role: llm.User, Text: "tell them"}, {Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "0", Name: "n", Arguments: "{}"}}}, {Role: llm.ToolRole, CallID: "0"}},
				Tools:    []llm.Tool{{Name: "client_add_note", Parameters: json.RawMessage(`{"type":"object"}`)}},
				MustCall: true,
			}, piece)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(reply.Calls, want) || reply.Finish != llm.Called {
				t.Errorf("got %+v", reply)
			}
			if got := e.asked()[0].body["tool_choice"]; got != "required" {
				t.Errorf("tool_choice is %v", got)
			}
		})
	}
}

func TestAnAnswerIsShaped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		grammars llm.Grammars
		request  llm.Request
		field    string
		want     any
	}{
		"by a schema": {"", llm.Request{Schema: json.RawMessage(`{"type":"object","additionalProperties":false}`), SchemaName: "turn"}, "response_format",
			map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "turn", "strict": true, "schema": map[string]any{"type": "object", "additionalProperties": false}}}},
		"by a grammar, llama.cpp": {llm.LlamaCpp, llm.Request{Grammar: `root ::= "yes"`}, "grammar", `root ::= "yes"`},
		"by a grammar, vLLM":      {llm.VLLM, llm.Request{Grammar: `root ::= "yes"`}, "structured_outputs", map[string]any{"grammar": `root ::= "yes"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, says("yes"))
			client, _ := e.client(t, func(f *llm.Config) { f.Grammars = c.grammars })
			c.request.Messages = ask("?").Messages
			if _, err := client.Chat(t.Context(), c.request, nil); err != nil {
				t.Fatal(err)
			}
			if got := e.asked()[0].body[c.field]; !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s is %v, want %v", c.field, got, c.want)
			}
		})
	}
}

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	t.Parallel()
	e := serve(t, status(200, "", `{"data":[{"index":1,"embedding":[0.5,1]},{"index":0,"embedding":[0.25,2]}],"usage":{"prompt_tokens":4}}`))
	c, _ := e.client(t, nil)
	got, cost, err := c.Embed(t.Context(), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]float32{{0.25, 2}, {0.5, 1}}; !reflect.DeepEqual(got, want) || cost.In != 4 {
		t.Errorf("got %v for %v", got, cost)
	}
	if b := e.asked()[0]; b.path != "/v1/embeddings" || b.body["model"] != "test-vectors" {
		t.Errorf("asked %+v", b)
	}
}

// What an endpoint does wrong is told apart by what one can do about it, and the
// key is in none of it.
func TestEveryFailureHasItsKind(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		answer   http.HandlerFunc
		stream   bool
		kind     llm.Kind
		attempts int
	}{
		"wrong key":                   {status(401, "", `{"error":{"message":"Incorrect API key provided: `+secret+`, ending in efgh","code":"invalid_api_key"}}`), false, llm.Denied, 1},
		"no money":                    {status(402, "", `{}`), false, llm.Unpaid, 1},
		"too long, by code":           {status(400, "", `{"error":{"message":"too long","code":"context_length_exceeded"}}`), false, llm.Overlong, 1},
		"too long, by vLLM's words":   {status(400, "", `{"error":{"message":"This model's maximum context length is 4096 tokens."}}`), false, llm.Overlong, 1},
		"too long, by llama.cpp":      {status(400, "", `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`), false, llm.Overlong, 1},
		"bad request":                 {status(400, "", `{"error":{"message":["no","such field"]}}`), false, llm.Invalid, 1},
		"not there":                   {status(404, "", `404 page not found`), false, llm.Invalid, 1},
		"busy":                        {status(429, "", `{"error":{"message":"slow down"}}`), false, llm.Busy, 3},
		"in trouble":                  {status(503, "", `<html>bad gateway</html>`), false, llm.Unavailable, 3},
		"no JSON":                     {status(200, "", `the moon is full`), false, llm.Garbled, 3},
		"half a JSON":                 {status(200, "", `{"choices":[{"mess`), false, llm.Garbled, 3},
		"no choice":                   {status(200, "", `{"choices":[]}`), false, llm.Garbled, 3},
		"lists without end":           {status(200, "", strings.Repeat("[", 3<<20)), false, llm.Garbled, 3},
		"null":                        {status(200, "", `null`), false, llm.Garbled, 3},
		"a call without a name":       {status(200, "", `{"choices":[{"message":{"tool_calls":[{"id":"1","type":"function","function":{}}]}}]}`), false, llm.Garbled, 3},
		"without end":                 {func(w http.ResponseWriter, _ *http.Request) { forever(w, `{"choices":[{"message":{"content":"`+long) }, false, llm.Garbled, 3},
		"a line without end":          {func(w http.ResponseWriter, _ *http.Request) { forever(w, `data: {"x":"`+long) }, true, llm.Garbled, 3},
		"sent elsewhere":              {status(307, "Location: http://127.0.0.1:1/v1", ``), false, llm.Invalid, 1},
		"cut before anything":         {events("cut"), true, llm.Unavailable, 3},
		"cut after a piece":           {events("cut", delta("half")), true, llm.Cut, 1},
		"ends without a reason":       {events("", delta("half")), true, llm.Cut, 1},
		"a call is done, half of it":  {events("done", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"a\":"}}]}}]}`), true, llm.Cut, 3},
		"garbage in the stream":       {events("done", delta("half"), `{"choices":`), true, llm.Garbled, 1},
		"an error in the stream":      {events("", `{"error":{"message":"overloaded","type":"server_error"}}`), true, llm.Unavailable, 3},
		"falls silent":                {events("stall", delta("half")), true, llm.Late, 1},
		"says nothing":                {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false, llm.Late, 1},
		"a piece of no call":          {events("done", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":7,"function":{"arguments":"{}"}}]}}]}`), true, llm.Garbled, 3},
		"the wrong kind of a content": {status(200, "", `{"choices":[{"message":{"content":{"a":1}}}]}`), false, llm.Garbled, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, c.answer)
			idle := time.Minute // so long that a busy machine does not seem silent
			if c.kind == llm.Late {
				idle = 200 * time.Millisecond
			}
			client, _ := e.client(t, func(f *llm.Config) { f.Timeout, f.First, f.Idle, f.MaxBytes = 2*idle, idle, idle, 4<<20 })
			var piece func(string)
			if c.stream {
				piece = func(string) {}
			}
			reply, err := client.Chat(t.Context(), ask("?"), piece)
			var got *llm.Error
			if !errors.As(err, &got) {
				t.Fatalf("got %+v, %v", reply, err)
			}
			if got.Kind != c.kind || got.Attempts != c.attempts || len(e.asked()) != c.attempts {
				t.Errorf("got %s after %d attempts of %d requests (%v), want %s after %d", got.Kind, got.Attempts, len(e.asked()), err, c.kind, c.attempts)
			}
			if text := err.Error(); strings.Contains(text, secret) || strings.Contains(text, "efgh") || len(text) > 700 {
				t.Errorf("the error tells too much: %s", text)
			}
			// G37: what the endpoint has read is counted, and what it refused is not.
			if read := got.Status == 200 && name != "an error in the stream" || got.Kind == llm.Late; read != (got.Usage.In > 0) {
				t.Errorf("%+v is counted, status %d", got.Usage, got.Status)
			}
		})
	}
}

func forever(w http.ResponseWriter, text string) {
	for {
		if _, err := w.Write([]byte(text)); err != nil {
			return
		}
	}
}

// A busy endpoint is asked again when it said so, and not sooner; waits grow and
// are spread.
func TestWaitsGrowAndHonourRetryAfter(t *testing.T) {
	t.Parallel()
	busy := func(h string) http.HandlerFunc { return status(429, h, `{"error":{"message":"slow down"}}`) }
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		want    []time.Duration
		ok      bool
	}{
		"growing":             {[]http.HandlerFunc{busy(""), busy(""), busy(""), says("x")}, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second}, true},
		"seconds":             {[]http.HandlerFunc{busy("Retry-After: 3"), says("x")}, []time.Duration{3250 * time.Millisecond}, true},
		"parts of a second":   {[]http.HandlerFunc{busy("Retry-After: 1.5s"), says("x")}, []time.Duration{1750 * time.Millisecond}, true},
		"milliseconds":        {[]http.HandlerFunc{busy("Retry-After-Ms: 70"), says("x")}, []time.Duration{320 * time.Millisecond}, true},
		"a date":              {[]http.HandlerFunc{busy("Retry-After: Fri, 27 Dec 2024 09:14:05 GMT"), says("x")}, []time.Duration{5250 * time.Millisecond}, true},
		"a date in the past":  {[]http.HandlerFunc{busy("Retry-After: Fri, 27 Dec 2024 09:13:05 GMT"), says("x")}, []time.Duration{250 * time.Millisecond}, true},
		"nonsense":            {[]http.HandlerFunc{busy("Retry-After: soon"), says("x")}, []time.Duration{250 * time.Millisecond}, true},
		"longer than we wait": {[]http.HandlerFunc{busy("Retry-After: 3600"), says("x")}, []time.Duration{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, c.answers...)
			client, waits := e.client(t, func(f *llm.Config) { f.Attempts = 9; f.Random = func() float64 { return 0.5 } })
			_, err := client.Chat(t.Context(), ask("?"), nil)
			if (err == nil) != c.ok || !reflect.DeepEqual(*waits, c.want) {
				t.Errorf("waited %v (%v), want %v", *waits, err, c.want)
			}
		})
	}
}

func TestTheCallerMayGiveUp(t *testing.T) {
	t.Parallel()
	e := serve(t, events("stall", delta("half")))
	c, _ := e.client(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Chat(ctx, ask("?"), func(string) { cancel() })
	var got *llm.Error
	if !errors.As(err, &got) || got.Kind != llm.Cancelled {
		t.Errorf("got %v", err)
	}
	late, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := c.Chat(late, ask("?"), func(string) {}); !errors.As(err, &got) || got.Kind != llm.Late {
		t.Errorf("past the caller's deadline: %v", err)
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := llm.New(llm.Config{BaseURL: "http://" + address, Model: "m", Wait: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	var got *llm.Error
	if _, err := c.Chat(t.Context(), ask("?"), nil); !errors.As(err, &got) || got.Kind != llm.Unavailable || got.Attempts != 3 {
		t.Errorf("got %v", err)
	}
}

// What cannot be asked is not sent.
func TestWhatCannotBeAskedIsNotSent(t *testing.T) {
	t.Parallel()
	e := serve(t, says("x"))
	c, _ := e.client(t, func(f *llm.Config) { f.Embedding = "" })
	tool := []llm.Tool{{Name: "a", Parameters: json.RawMessage(`{}`)}}
	for name, q := range map[string]struct {
		llm.Request
		kind llm.Kind
	}{
		"nothing":          {llm.Request{}, llm.Invalid},
		"an empty message": {ask(""), llm.Invalid},
		"no answer to":     {llm.Request{Messages: []llm.Message{{Role: llm.ToolRole, Text: "x"}}}, llm.Invalid},
		"two shapes":       {llm.Request{Messages: ask("?").Messages, Tools: tool, Grammar: "g"}, llm.Invalid},
		"a grammar":        {llm.Request{Messages: ask("?").Messages, Grammar: "g"}, llm.Unsupported},
		"broken schema":    {llm.Request{Messages: ask("?").Messages, Schema: json.RawMessage(`{"a":`)}, llm.Invalid},
	} {
		var got *llm.Error
		if _, err := c.Chat(t.Context(), q.Request, nil); !errors.As(err, &got) || got.Kind != q.kind {
			t.Errorf("%s: %v, want %s", name, err, q.kind)
		}
	}
	if _, _, err := c.Embed(t.Context(), []string{"a"}); err == nil {
		t.Error("vectors without a model for them")
	}
	if n := len(e.asked()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestConfigurationsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]llm.Config{
		"no address":         {Model: "m"},
		"no scheme":          {BaseURL: "localhost:8080", Model: "m"},
		"a file":             {BaseURL: "file:///etc/passwd", Model: "m"},
		"a key in the URL":   {BaseURL: "http://user:pw@h/v1", Model: "m"},
		"a query":            {BaseURL: "http://h/v1?key=1", Model: "m"},
		"no model":           {BaseURL: "http://h/v1"},
		"a broken key":       {BaseURL: "http://h/v1", Model: "m", Key: "a\r\nX: y"},
		"another's grammars": {BaseURL: "http://h/v1", Model: "m", Grammars: "bnf"},
	} {
		if _, err := llm.New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// 54: what stands around a key or behind a base URL is no part of it.
func TestWhatStandsAroundAConfigurationIsNoPartOfIt(t *testing.T) {
	t.Parallel()
	for base, path := range map[string]string{"": "/v1", "/": "/v1", "/v1/": "/v1", "/v1/chat/completions": "/v1", "/v1/chat/completions/ ": "/v1", "/chat/completions": "", "/api/v3": "/api/v3"} {
		e := serve(t, says("x"))
		c, _ := e.client(t, func(c *llm.Config) { c.BaseURL, c.Key = e.URL+base, " "+secret+"\r\n" })
		if _, err := c.Chat(t.Context(), ask("?"), nil); err != nil || e.asked()[0].path != path+"/chat/completions" || e.asked()[0].key != "Bearer "+secret {
			t.Errorf("%s: %+v, %v", base, e.asked(), err)
		}
	}
}

// A client that is printed, in whatever way, does not show its key.
func TestTheKeyIsNotPrinted(t *testing.T) {
	t.Parallel()
	c, err := llm.New(llm.Config{BaseURL: "http://localhost:1/v1", Model: "m", Key: secret})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, c); strings.Contains(text, secret) {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

// What goes wrong with vectors is told apart as with answers: a busy endpoint is
// asked again as it said, a wrong key is not, and vectors that do not belong to
// their texts are none.
func TestVectorsGoWrongInTheSameWays(t *testing.T) {
	t.Parallel()
	good := status(200, "", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3,4]}],"usage":{"prompt_tokens":2}}`)
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"data":[{"index":0,`))
		panic(http.ErrAbortHandler)
	}
	for name, c := range map[string]struct {
		answers  []http.HandlerFunc
		kind     llm.Kind
		attempts int
		waits    []time.Duration
	}{
		"busy, and then not":      {[]http.HandlerFunc{status(429, "Retry-After: 3", `{}`), good}, "", 2, []time.Duration{3250 * time.Millisecond}},
		"cut, and then not":       {[]http.HandlerFunc{cut, good}, "", 2, []time.Duration{250 * time.Millisecond}},
		"always busy":             {[]http.HandlerFunc{status(429, "", `{}`)}, llm.Busy, 3, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		"busy for too long":       {[]http.HandlerFunc{status(429, "Retry-After: 3600", `{}`)}, llm.Busy, 1, nil},
		"in trouble":              {[]http.HandlerFunc{status(503, "", `<html>`)}, llm.Unavailable, 3, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		"wrong key":               {[]http.HandlerFunc{status(401, "", `{"error":{"message":"`+secret+`"}}`)}, llm.Denied, 1, nil},
		"too long":                {[]http.HandlerFunc{status(400, "", `{"error":{"message":"x","code":"context_length_exceeded"}}`)}, llm.Overlong, 1, nil},
		"stalls":                  {[]http.HandlerFunc{func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}, llm.Late, 1, nil},
		"garbage":                 {[]http.HandlerFunc{status(200, "", `the moon`)}, llm.Garbled, 3, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		"one too few":             {[]http.HandlerFunc{status(200, "", `{"data":[{"index":0,"embedding":[1,2]}]}`)}, llm.Garbled, 3, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		"of another text":         {[]http.HandlerFunc{status(200, "", `{"data":[{"index":0,"embedding":[1,2]},{"index":7,"embedding":[1,2]}]}`)}, llm.Garbled, 3, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		"of two lengths":          {[]http.HandlerFunc{status(200, "", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`)}, llm.Garbled, 3, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		"longer than is accepted": {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { forever(w, strings.Repeat("[", 1<<16)) }}, llm.Garbled, 3, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, c.answers...)
			idle := time.Minute
			if c.kind == llm.Late {
				idle = 100 * time.Millisecond
			}
			client, waits := e.client(t, func(f *llm.Config) {
				f.Random, f.Timeout, f.MaxBytes = func() float64 { return 0.5 }, idle, 1<<20
			})
			vectors, usage, err := client.Embed(t.Context(), []string{"a", "b"})
			var got *llm.Error
			if errors.As(err, &got) != (c.kind != "") || len(e.asked()) != c.attempts || !reflect.DeepEqual(*waits, append([]time.Duration{}, c.waits...)) {
				t.Fatalf("%v after %d requests and %v, want %s after %d and %v", err, len(e.asked()), *waits, c.kind, c.attempts, c.waits)
			}
			switch {
			case err == nil && (len(vectors) != 2 || usage.Total() != 2):
				t.Errorf("%v for %v", vectors, usage)
			case err != nil && (got.Kind != c.kind || (got.Usage.In > 0) != (got.Status == 200 || got.Kind == llm.Late) || strings.Contains(err.Error(), secret)):
				t.Errorf("%v, %+v", err, got.Usage)
			}
		})
	}
}
