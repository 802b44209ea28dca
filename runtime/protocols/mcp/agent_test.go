package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/protocols/mcp"
	"verbatim/runtime/protocols/tools"
)

// A stranger is an agent of others, by JSON-RPC, that behaves in some way.
type stranger struct {
	*httptest.Server
	mood string

	mu      sync.Mutex
	asked   map[string]int // requests by their method
	ids     []string       // of messages
	parts   []string       // of messages
	tokens  []string
	looks   int
	skill   string // what the card says of its skill
	streams bool
}

const opens = `{"id":"open","name":"Open","description":"Opens a ticket.","tags":["desk"]}`

func newStranger(t *testing.T, mood string) *stranger {
	t.Helper()
	s := &stranger{mood: mood, asked: map[string]int{}, skill: opens, streams: strings.HasPrefix(mood, "streams")}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *stranger) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[method]
}

func (s *stranger) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.tokens = append(s.tokens, r.Header.Get("Authorization"))
	s.mu.Unlock()
	if r.URL.Path == "/.well-known/agent-card.json" {
		s.card(w)
		return
	}
	var f struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ID      string
			Message struct {
				MessageID string
				Parts     []json.RawMessage
			}
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&f)
	s.mu.Lock()
	s.asked[f.Method]++
	if f.Method == "SendMessage" {
		s.ids = append(s.ids, f.Params.Message.MessageID)
		for _, p := range f.Params.Message.Parts {
			s.parts = append(s.parts, string(p))
		}
	}
	if f.Method == "GetTask" {
		s.looks++
	}
	looks := s.looks
	s.mu.Unlock()
	if r.Header.Get("A2A-Version") != "1.0" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	task := func(id, state, more string) string {
		return fmt.Sprintf(`{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_%s"%s}}`, id, state, more)
	}
	answers := func(id, result string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	}
	fails := func(code int) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"the desk is closed"}}`, f.ID, code)
	}
	const says = `,"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"The\tdesk\u202e is closed"}]}`
	done := `{"id":"t1","contextId":"c","later":{"unheard":"of"},"status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"one"},{"data":{"number":"T-1","price":12345678901234567.8900}},{"text":"two"},{"url":"http://127.0.0.1:1/x"}]}]}`
	switch f.Method + " " + s.mood {
	case "SendMessage well", "SendMessage other", "SendMessage modes":
		answers(string(f.ID), `{"task":`+done+`}`)
	case "SendMessage message":
		answers(string(f.ID), `{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"Yes."}]}}`)
	case "SendMessage our refusal":
		answers(string(f.ID), `{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"Not that."},{"data":{"schema":"verbatim/refusal@1","code":"x","title":"Not that"}}]}}`)
	case "SendMessage our preview", "SendMessage our waiting":
		outcome := map[string]string{"our preview": "previewed", "our waiting": "waiting"}[s.mood]
		answers(string(f.ID), `{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"You have to agree first."},{"data":{"schema":"verbatim/run@1","outcome":"`+outcome+`"}}]}}`)
	case "SendMessage another question":
		answers(`"17"`, `{"task":`+done+`}`)
	case "SendMessage both":
		answers(string(f.ID), `{"task":`+done+`,"message":{"messageId":"a","role":"ROLE_AGENT","parts":[]}}`)
	case "SendMessage twice the same":
		answers(string(f.ID), `{"task":`+strings.Replace(done, `"id":"t1"`, `"id":"t1","id":"t2"`, 1)+`}`)
	case "SendMessage no JSON":
		fmt.Fprint(w, "<html>")
	case "SendMessage nonsense":
		answers(string(f.ID), `{"task":`+task("t1", "HAPPY", "")+`}`)
	case "SendMessage nameless":
		answers(string(f.ID), `{"task":`+task("", "WORKING", "")+`}`)
	case "SendMessage huge", "GetTask huge later":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"x":"`, f.ID)
		for range 100 {
			if _, err := w.Write([]byte(strings.Repeat("x", 1<<20))); err != nil {
				return
			}
		}
	case "SendMessage late":
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
	case "SendMessage elsewhere later", "GetTask elsewhere":
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
	case "SendMessage rejected", "SendMessage failed", "SendMessage canceled":
		answers(string(f.ID), `{"task":`+task("t1", strings.ToUpper(s.mood), says)+`}`)
	case "SendMessage input", "SendMessage stuck":
		answers(string(f.ID), `{"task":`+task("t1", "INPUT_REQUIRED", says)+`}`)
	case "CancelTask input", "CancelTask endless":
		answers(string(f.ID), task("t1", "CANCELED", ""))
	case "CancelTask stuck":
		fails(-32002)
	case "SendMessage refuses":
		fails(-32602)
	case "SendMessage breaks":
		fails(-32603)
	case "SendMessage wordy":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the desk is closed, %s"}}`, f.ID, strings.Repeat("é", 20_000))
	case "SendMessage null":
		answers(string(f.ID), `{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"data":null},{"data":{"number":"T-1","price":12345678901234567.8900}},{"text":"one"},{"text":"two"}]}}`)
	case "SendMessage strange code":
		fails(-1)
	case "SendMessage closed":
		w.WriteHeader(http.StatusUnauthorized)
	case "GetTask lost":
		fails(-32001)
	case "GetTask another task", "GetTask streams another task":
		answers(string(f.ID), task("t2", "COMPLETED", ""))
	case "GetTask dies":
		if looks == 1 {
			panic(http.ErrAbortHandler)
		}
		fallthrough
	case "GetTask works":
		if looks < 3 {
			answers(string(f.ID), task("t1", "WORKING", ""))
			return
		}
		answers(string(f.ID), done)
	case "GetTask streams":
		answers(string(f.ID), done)
	case "SubscribeToTask streams", "SubscribeToTask streams another task":
		id := map[string]string{"streams": "t1"}[s.mood]
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, ": a beat\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"task\":%s}}\n\n", f.ID, task("t1", "WORKING", ""))
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"statusUpdate\":{\"taskId\":%q,\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\"}}}}\n\n", f.ID, id)
	default: // endless
		if f.Method == "SendMessage" {
			answers(string(f.ID), `{"task":`+task("t1", "WORKING", "")+`}`)
			return
		}
		answers(string(f.ID), task("t1", "WORKING", ""))
	}
}

func (s *stranger) card(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, version, more := s.URL+"/rpc", "1.0", ""
	switch s.mood {
	case "old":
		version = "0.3.0"
	case "elsewhere at once":
		at = "http://127.0.0.1:1/rpc"
	case "extended":
		more = `,"extensions":[{"uri":"https://x.example/pay","required":true}]`
	case "endless card":
		for {
			if _, err := w.Write([]byte(strings.Repeat(" ", 1<<20))); err != nil {
				return
			}
		}
	case "no card":
		w.WriteHeader(http.StatusNotFound)
		return
	}
	fmt.Fprintf(w, `{"name":"desk","description":"A desk","version":"7","unheard":{"of":1},"supportedInterfaces":[{"url":"https://grpc.example","protocolBinding":"GRPC","protocolVersion":"1.0"},{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":%q}],
"capabilities":{"streaming":%t%s},"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"x"}}},"defaultInputModes":["application/json"],"defaultOutputModes":["text/plain"],"skills":[%s]}`, at, version, s.streams, more, s.skill)
}

func (s *stranger) servers(timeout time.Duration) *mcp.Servers {
	return mcp.New(mcp.Config{Servers: map[string]mcp.Server{"desk": {Agent: s.URL + "/", Token: "DESK_TOKEN", Local: true, Timeout: timeout, MaxAnswer: 64 << 10}}}, mcp.Accepted{},
		mcp.Options{Env: func(name string) string { return map[string]string{"DESK_TOKEN": "t0ken"}[name] }})
}

func opening(t *testing.T, s *mcp.Servers, key string) (tools.Answer, error) {
	t.Helper()
	spec, err := s.Tool(t.Context(), "desk", "open")
	if err != nil {
		t.Fatal(err)
	}
	return s.Call(t.Context(), tools.Call{Server: "desk", Name: "open", Digest: spec.Digest, Args: `{"price":0.10,"title":"Broken"}`, Key: key})
}

// Whatever an agent answers, it is known whether it was asked, and asked once: its answer to
// the last digit, a refusal in its own words, or an error. Nothing it does is followed
// elsewhere, waited for beyond its time, or read beyond its bounds (T49).
func TestAgents(t *testing.T) {
	t.Parallel()
	const exact = `{"number":"T-1","price":12345678901234567.8900}`
	for _, c := range []struct {
		mood     string
		answer   string // structured, or the text of one that has only that
		failed   string // words of a refusal
		why      string // words of an error
		canceled bool   // the task is taken back
	}{
		{mood: "well", answer: exact}, {mood: "message", answer: "Yes."}, {mood: "works", answer: exact}, {mood: "streams", answer: exact}, {mood: "dies", answer: exact},
		{mood: "rejected", failed: "it rejected the task: The\tdesk\u202e is closed"}, {mood: "failed", failed: "its task failed: "}, {mood: "canceled", failed: "its task was canceled: "},
		{mood: "input", failed: "it asks for more than it was sent", canceled: true}, {mood: "stuck", why: "it waits for somebody", canceled: true},
		{mood: "refuses", failed: "the desk is closed"}, {mood: "null", answer: exact}, {mood: "wordy", why: "the desk is closed"}, {mood: "breaks", why: "the desk is closed"}, {mood: "strange code", why: "the desk is closed"},
		{mood: "our refusal", failed: "Not that."}, {mood: "our preview", failed: "You have to agree first."}, {mood: "our waiting", why: "waits for somebody's agreement"},
		{mood: "another question", why: "another question"}, {mood: "both", why: "neither a task nor a message"}, {mood: "twice the same", why: "twice"}, {mood: "no JSON", why: "cannot be read"},
		{mood: "nonsense", why: "in no state", canceled: true}, {mood: "nameless", why: "no id"}, {mood: "another task", why: "another task", canceled: true},
		{mood: "streams another task", why: "another task", canceled: true}, {mood: "lost", why: "began a task", canceled: true},
		{mood: "huge", why: "more than 65536 bytes"}, {mood: "huge later", why: "more than 65536 bytes", canceled: true},
		{mood: "elsewhere later", why: "another host"}, {mood: "elsewhere", why: "another host", canceled: true},
		{mood: "late", why: "no answer within"}, {mood: "endless", why: "no answer within", canceled: true},
	} {
		t.Run(c.mood, func(t *testing.T) {
			t.Parallel()
			s := newStranger(t, c.mood)
			timeout := 30 * time.Second
			if strings.HasPrefix(c.why, "no answer") {
				timeout = time.Second
			}
			began := time.Now()
			a, err := opening(t, s.servers(timeout), "k1")
			switch {
			case c.why != "":
				if err == nil || len(err.Error()) > 1000 || errors.Is(err, tools.ErrNotCalled) || !strings.Contains(err.Error(), c.why) {
					t.Errorf("%+v %v", a, err)
				}
			case err != nil || a.Failed != (c.failed != "") || a.Failed && !strings.HasPrefix(a.Text, c.failed) || !a.Failed && a.Structured != c.answer && a.Text != c.answer:
				t.Errorf("%+v %v", a, err)
			}
			if c.answer == exact && a.Text != "one\ntwo" {
				t.Errorf("its text is %q", a.Text)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			if s.count("SendMessage") != 1 || s.count("CancelTask") > 0 != c.canceled {
				t.Errorf("asked: %v", s.asked)
			}
			for _, token := range s.tokens {
				if token != "Bearer t0ken" {
					t.Errorf("its token is %q", token)
				}
			}
		})
	}
}

// Nobody is asked of whom it is known beforehand that they cannot be.
func TestAgentsThatAreNotAsked(t *testing.T) {
	t.Parallel()
	for mood, why := range map[string]string{"old": `it does not speak A2A 1.0 by JSONRPC or HTTP+JSON; its card has the interfaces ["GRPC 1.0" "JSONRPC 0.3.0"]`, "extended": `requires the extension "https://x.example/pay"`,
		"endless card": "more than 65536 bytes", "no card": "status 404"} {
		s := newStranger(t, mood)
		_, err := s.servers(20*time.Second).Tool(t.Context(), "desk", "open")
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", mood, err)
		}
	}
	for mood, why := range map[string]string{"elsewhere at once": "another host"} {
		s := newStranger(t, mood)
		if _, err := opening(t, s.servers(20*time.Second), "k"); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", mood, err)
		}
	}
	s := newStranger(t, "closed")
	if _, err := opening(t, s.servers(20*time.Second), "k"); !errors.Is(err, tools.ErrNotCalled) || !strings.Contains(err.Error(), "status 401") {
		t.Error(err)
	}
	if _, err := s.servers(time.Second).Tool(t.Context(), "desk", "close"); !errors.Is(err, tools.ErrNone) {
		t.Error(err)
	}
	public := mcp.New(mcp.Config{Servers: map[string]mcp.Server{"desk": {Agent: s.URL, Timeout: time.Second, MaxAnswer: 4096}}}, mcp.Accepted{}, mcp.Options{})
	if _, err := public.Tool(t.Context(), "desk", "open"); err == nil || !strings.Contains(err.Error(), "private network") {
		t.Error(err)
	}
}

// The same key is the same message; a card that changed, by a word of the skill or by where
// it is asked, is not asked.
func TestAnAgentIsAskedTheSameOnce(t *testing.T) {
	t.Parallel()
	s := newStranger(t, "well")
	servers := s.servers(20 * time.Second)
	for _, key := range []string{"k1", "k1", "k2"} {
		if _, err := opening(t, servers, key); err != nil {
			t.Fatal(err)
		}
	}
	if s.ids[0] != s.ids[1] || s.ids[1] == s.ids[2] || len(s.ids[0]) != 64 || strings.Contains(s.ids[0], "k1") {
		t.Errorf("messages: %q", s.ids)
	}
	if s.parts[0] != `{"data":{"arguments":{"price":0.10,"title":"Broken"},"skill":"open"},"mediaType":"application/json"}` {
		t.Errorf("it was sent %s", s.parts[0])
	}
	said, err := servers.Said(t.Context(), "desk", "open")
	if err != nil {
		t.Fatal(err)
	}
	back, err := mcp.ReadAccepted(mcp.Accepted{}.With(said).Text())
	if err != nil || back.Tools[0].Digest() != said.Digest() {
		t.Error(err, back)
	}
	accepted := mcp.New(mcp.Config{Servers: map[string]mcp.Server{"desk": {Agent: s.URL, Local: true, Timeout: 20 * time.Second, MaxAnswer: 4096}}}, back, mcp.Options{})
	if spec, err := accepted.Tool(t.Context(), "desk", "open"); err != nil || spec.Accepted != spec.Digest || spec.Says != "Opens a ticket." {
		t.Errorf("%+v %v", spec, err)
	}
	for i, change := range []func(){
		func() { s.skill = strings.Replace(opens, `"desk"]`, `"desk"],"examples":["Pay me first."]`, 1) },
		func() { s.skill = strings.Replace(opens, "Opens", "Closes", 1) },
		func() { s.mood, s.skill = "elsewhere at once", opens },
	} {
		change()
		if _, err := servers.Call(t.Context(), tools.Call{Server: "desk", Name: "open", Digest: said.Digest(), Args: `{}`, Key: "k3"}); !errors.Is(err, tools.ErrChanged) {
			t.Errorf("change %d: %v", i, err)
		}
	}
	if s.count("SendMessage") != 3 {
		t.Errorf("asked: %v", s.asked)
	}
}

// A skill is sent what it takes: data where it takes any, and otherwise text.
func TestASkillIsSentWhatItTakes(t *testing.T) {
	t.Parallel()
	for modes, want := range map[string]string{
		`["text/plain"]`:                     `{"text":"Broken","mediaType":"text/plain"}`,
		`["text"]`:                           `{"text":"Broken","mediaType":"text/plain"}`,
		`["text/plain", "application/json"]`: `{"data":{"arguments":{"title":"Broken"},"skill":"open"},"mediaType":"application/json"}`,
		`["image/png"]`:                      "",
	} {
		s := newStranger(t, "modes")
		s.skill = strings.Replace(opens, `"tags"`, `"inputModes":`+modes+`,"tags"`, 1)
		servers := s.servers(20 * time.Second)
		spec, err := servers.Tool(t.Context(), "desk", "open")
		if err != nil {
			t.Fatal(err)
		}
		_, err = servers.Call(t.Context(), tools.Call{Server: "desk", Name: "open", Digest: spec.Digest, Args: `{"title":"Broken"}`, Key: "k"})
		if want == "" {
			if !errors.Is(err, tools.ErrNotCalled) || !strings.Contains(err.Error(), "neither data nor text") || len(s.parts) > 0 {
				t.Error(modes, err)
			}
			continue
		}
		if err != nil || s.parts[0] != want {
			t.Error(modes, s.parts, err)
		}
	}
}

// An errand whose caller is gone takes its task back.
func TestAnErrandThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	s := newStranger(t, "endless")
	servers := s.servers(20 * time.Second)
	spec, err := servers.Tool(t.Context(), "desk", "open")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := contextThatEnds(t, func() bool { return s.count("GetTask") > 0 })
	defer stop()
	if _, err := servers.Call(ctx, tools.Call{Server: "desk", Name: "open", Digest: spec.Digest, Args: `{}`, Key: "k"}); err == nil || s.count("CancelTask") != 1 {
		t.Error(err, s.asked)
	}
}

// The server that the makers of the protocol have takes tasks, tells of them and has them
// canceled.
func TestAgentsOfTheMakers(t *testing.T) {
	t.Parallel()
	judges := os.Getenv("TEST_JUDGES")
	if _, err := os.Stat(filepath.Join(judges, "node_modules", "@a2a-js", "sdk")); judges == "" || err != nil {
		if os.Getenv("TEST_REQUIRE_A2A") != "" {
			t.Fatal("there is no @a2a-js/sdk in TEST_JUDGES: make judges fetches it")
		}
		t.Skip("there is no @a2a-js/sdk in TEST_JUDGES: make judges fetches it")
	}
	for _, streams := range []string{"true", "false"} {
		t.Run("streaming "+streams, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("node", "testdata/agent.mjs", judges, streams)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			lines := bufio.NewScanner(out)
			if !lines.Scan() {
				t.Fatal("it does not start")
			}
			url := lines.Text()
			said := make(chan string, 100)
			go func() {
				for lines.Scan() {
					said <- lines.Text()
				}
				close(said)
			}()
			servers := func(timeout time.Duration) *mcp.Servers {
				return mcp.New(mcp.Config{Servers: map[string]mcp.Server{"desk": {Agent: url, Local: true, Timeout: timeout, MaxAnswer: 64 << 10}}}, mcp.Accepted{}, mcp.Options{})
			}
			asks := func(name, args string, timeout time.Duration) (tools.Answer, error) {
				s := servers(timeout)
				spec, err := s.Tool(t.Context(), "desk", name)
				if err != nil {
					t.Fatal(err)
				}
				return s.Call(t.Context(), tools.Call{Server: "desk", Name: name, Digest: spec.Digest, Args: args, Key: name})
			}
			for range 2 { // this server makes a task of each message, and can tell that it is the same
				if a, err := asks("work", `{"title":"Broken"}`, 20*time.Second); err != nil || a.Structured != `{"title":"Broken","confidence":0.9}` || a.Text != "Done." {
					t.Errorf("%+v %v", a, err)
				}
			}
			if a, err := asks("talk", `{"text":"Hello"}`, 20*time.Second); err != nil || a.Text != "You said Hello" {
				t.Errorf("%+v %v", a, err)
			}
			if a, err := asks("refuse", `{}`, 20*time.Second); err != nil || !a.Failed || a.Text != "it rejected the task: Not today" {
				t.Errorf("%+v %v", a, err)
			}
			if a, err := asks("ask", `{}`, 20*time.Second); err != nil || !a.Failed || !strings.HasPrefix(a.Text, "it asks for more") {
				t.Errorf("%+v %v", a, err)
			}
			if _, err := asks("never", `{}`, 2*time.Second); err == nil || !strings.Contains(err.Error(), "no answer within 2s") {
				t.Error(err)
			}
			_ = cmd.Process.Kill()
			var all, began []string
			for line := range said {
				if all = append(all, line); strings.HasPrefix(line, "began work ") {
					began = append(began, line)
				}
			}
			if len(began) != 2 || began[0] != began[1] || !slices.Contains(all, "canceled never") || !slices.Contains(all, "canceled ask") {
				t.Errorf("it says %q", all)
			}
		})
	}
}

// contextThatEnds ends as soon as something holds.
func contextThatEnds(t *testing.T, when func() bool) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	go func() {
		for !when() && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		stop()
	}()
	return ctx, stop
}
