package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/protocols/mcp"
	"verbatim/runtime/protocols/tools"
)

// started configures the test binary as a server.
func started(t *testing.T, mood string) (*mcp.Servers, string) {
	t.Helper()
	notes := filepath.Join(t.TempDir(), "notes")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{moodVariable: mood, "TEST_SERVER_NOTES": notes, "SECRET_OF_OURS": "s3cret", "HOME": "/root", "PATH": os.Getenv("PATH")}
	timeout := 30 * time.Second
	if mood == "stall" || mood == "mute" || mood == "garbage" {
		timeout = 2 * time.Second // it never ends by itself
	}
	config := mcp.Config{Servers: map[string]mcp.Server{
		"desk": {Command: []string{self}, Env: []string{moodVariable, "TEST_SERVER_NOTES"}, Timeout: timeout, MaxAnswer: 64 << 10},
		"none": {Command: []string{"/no/such/program"}, Timeout: timeout, MaxAnswer: 1024},
		"poor": {Command: []string{self}, Env: []string{"NOT_SET"}, Timeout: timeout, MaxAnswer: 1024},
	}}
	return mcp.New(config, mcp.Accepted{}, mcp.Options{Env: func(name string) string { return env[name] }}), notes
}

func noted(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// call asks for a ticket, as what the server says now.
func call(t *testing.T, s *mcp.Servers) (tools.Answer, error) {
	t.Helper()
	spec, err := s.Tool(context.Background(), "desk", "create_ticket")
	if err != nil {
		t.Fatal(err)
	}
	return s.Call(context.Background(), ticket(spec.Digest))
}

func ticket(digest string) tools.Call {
	return tools.Call{Server: "desk", Name: "create_ticket", Digest: digest, Args: `{"price":0.10,"title":"Broken"}`, Key: "k1"}
}

// A real program answers over its pipes: every digit of its answer arrives, it
// is asked once with its key, and given no more of the environment than it was
// meant to have.
func TestProgram(t *testing.T) {
	t.Parallel()
	for _, mood := range []string{"well", "noisy"} {
		s, notes := started(t, mood)
		a, err := call(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if a.Structured != `{"number":"T-1","price":12345678901234567.8900,"more":{"a":[1]}}` || a.Failed {
			t.Errorf("%+v", a)
		}
		if got := noted(t, notes); got != "{\"price\":0.10,\"title\":\"Broken\"} k1\n" {
			t.Errorf("it was sent %q", got)
		}
	}
	s, _ := started(t, "text")
	if a, err := call(t, s); err != nil || a.Text != "one\ntwo" || a.Structured != "" {
		t.Errorf("%+v %v", a, err)
	}
}

// A server tells how far it is by the protocol's own notifications, and whoever waits is
// told; what it tells by another token, or beyond all numbers, is not heard. Who does not
// listen gives it no token.
func TestProgramThatTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	s, _ := started(t, "slow")
	spec, err := s.Tool(context.Background(), "desk", "create_ticket")
	if err != nil {
		t.Fatal(err)
	}
	var m sync.Mutex
	var told []string
	c := ticket(spec.Digest)
	c.Tell = func(done, total int, what string) {
		m.Lock()
		defer m.Unlock()
		told = append(told, fmt.Sprintf("%d/%d %s", done, total, what))
	}
	a, err := s.Call(context.Background(), c)
	if err != nil || !strings.Contains(a.Structured, "T-1") {
		t.Fatal(a, err)
	}
	m.Lock()
	defer m.Unlock()
	if got := strings.Join(told, ", "); got != "1/3 tickets, 2/3 tickets, 3/3 tickets" {
		t.Errorf("told %s", got)
	}
	if a, err := call(t, s); err != nil || !strings.Contains(a.Structured, "T-1") {
		t.Errorf("nobody listens: %+v %v", a, err)
	}
}

// Whatever a server does, it is known whether the tool was asked.
func TestProgramThatMisbehaves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mood      string
		failed    string // what it says
		asked     bool
		notCalled bool // it is known that it was not asked
		why       string
	}{
		{mood: "error", failed: "the desk is closed", asked: true},
		{mood: "broken", asked: true, why: "a wheel came off"},
		{mood: "crash", asked: true},
		{mood: "stall", asked: true, why: "no answer within 2s"},
		{mood: "garbage", asked: true, why: ""},
		{mood: "huge", asked: true, why: ""},
		{mood: "wordy", asked: true, why: ""},
	} {
		t.Run(c.mood, func(t *testing.T) {
			t.Parallel()
			s, notes := started(t, c.mood)
			a, err := call(t, s)
			if c.failed != "" {
				if err != nil || !a.Failed || a.Text != c.failed {
					t.Errorf("%+v %v", a, err)
				}
			} else if err == nil || errors.Is(err, tools.ErrNotCalled) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%+v %v", a, err)
			}
			if got := noted(t, notes); strings.Count(got, "\n") != 1 {
				t.Errorf("it was asked: %q", got)
			}
		})
	}
	for _, mood := range []string{"mute", "wrong program", "endless"} {
		t.Run(mood, func(t *testing.T) {
			t.Parallel()
			s, notes := started(t, mood)
			if _, err := s.Tool(context.Background(), "desk", "create_ticket"); err == nil || mood == "wrong program" && !strings.Contains(err.Error(), "no file is given") {
				t.Error(err)
			}
			if _, err := s.Call(context.Background(), ticket("?")); !errors.Is(err, tools.ErrNotCalled) {
				t.Error(err)
			}
			if got := noted(t, notes); got != "" {
				t.Errorf("it was asked: %q", got)
			}
		})
	}
}

// What does not exist is said to be that, and nothing is asked.
func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s, _ := started(t, "well")
	ctx := context.Background()
	for server, want := range map[string]string{"desk": "no tool", "crm": "no server is called", "none": "cannot be started", "poor": "NOT_SET"} {
		_, err := s.Tool(ctx, server, "drop_table")
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, tools.ErrNone) != (server == "desk" || server == "crm") {
			t.Errorf("%s: %v", server, err)
		}
		_, err = s.Call(ctx, tools.Call{Server: server, Name: "drop_table", Args: "{}"})
		if !errors.Is(err, tools.ErrNotCalled) {
			t.Errorf("%s: %v", server, err)
		}
	}
}

// A tool that says something else of itself than when it was accepted is not
// called: not a word of it may change.
func TestToolThatSaysSomethingElse(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, _ := started(t, "well")
	said, err := s.Said(ctx, "desk", "create_ticket")
	if err != nil {
		t.Fatal(err)
	}
	other, notes := started(t, "other")
	if _, err := other.Call(ctx, ticket(said.Digest())); !errors.Is(err, tools.ErrChanged) {
		t.Error(err)
	}
	if got := noted(t, notes); got != "" {
		t.Errorf("it was asked: %q", got)
	}
	spec, err := s.Tool(ctx, "desk", "create_ticket")
	if err != nil || spec.Digest != said.Digest() || !spec.Writes || spec.Says != "Opens a ticket." || spec.Accepted != "" {
		t.Errorf("%+v %v", spec, err)
	}
	// What was accepted is kept word for word and read back.
	text := mcp.Accepted{}.With(said).With(said).Text()
	back, err := mcp.ReadAccepted(text)
	if err != nil || len(back.Tools) != 1 || back.Tools[0].Digest() != said.Digest() {
		t.Errorf("%s %v", text, err)
	}
	digests := map[string]bool{said.Digest(): true}
	for _, change := range []func(*mcp.Said){
		func(s *mcp.Said) { s.Server = "x" }, func(s *mcp.Said) { s.Name = "x" }, func(s *mcp.Said) { s.Title = "x" },
		func(s *mcp.Said) { s.Description += " " }, func(s *mcp.Said) { s.Input = []byte(`{}`) }, func(s *mcp.Said) { s.Output = nil },
		func(s *mcp.Said) { s.Hints = nil }, func(s *mcp.Said) { s.Meta = []byte(`{"a":1}`) },
	} {
		changed := said
		change(&changed)
		digests[changed.Digest()] = true
	}
	if len(digests) != 9 {
		t.Errorf("%d digests of 9 tools", len(digests))
	}
	for _, text := range []string{"", "{", `{"tools":[{"server":1}]}`, `{"tool":[]}`, `{"tools":[]} {}`} {
		if _, err := mcp.ReadAccepted([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func addressed(url string, server mcp.Server) *mcp.Servers {
	server.URL = url
	if server.Timeout == 0 {
		server.Timeout = 20 * time.Second
	}
	if server.MaxAnswer == 0 {
		server.MaxAnswer = 64 << 10
	}
	return mcp.New(mcp.Config{Servers: map[string]mcp.Server{"desk": server}}, mcp.Accepted{}, mcp.Options{Env: func(name string) string { return map[string]string{"DESK_TOKEN": "t0ken"}[name] }})
}

// The same over HTTP, whichever way the server answers.
func TestAddress(t *testing.T) {
	t.Parallel()
	for _, mood := range []string{"well", "json", "stateless"} {
		v := newVisited(t, mood, nil)
		a, err := call(t, addressed(v.URL, mcp.Server{Local: true, Token: "DESK_TOKEN"}))
		if err != nil || a.Structured != `{"number":"T-1","price":12345678901234567.8900,"more":{"a":[1]}}` {
			t.Errorf("%s: %+v %v", mood, a, err)
		}
		_, tokens, notes := v.visits()
		if len(notes) != 1 || notes[0] != `{"price":0.10,"title":"Broken"} k1` {
			t.Errorf("%s: it was sent %q", mood, notes)
		}
		for _, token := range tokens {
			if token != "Bearer t0ken" {
				t.Errorf("%s: %q", mood, token)
			}
		}
	}
	for _, mood := range []string{"huge", "stall", "error"} {
		v := newVisited(t, mood, nil)
		a, err := call(t, addressed(v.URL, mcp.Server{Local: true, Timeout: 3 * time.Second}))
		if mood == "error" {
			if err != nil || !a.Failed {
				t.Errorf("%+v %v", a, err)
			}
		} else if err == nil || errors.Is(err, tools.ErrNotCalled) {
			t.Errorf("%s: %+v %v", mood, a, err)
		}
		if _, _, notes := v.visits(); len(notes) != 1 {
			t.Errorf("%s: asked %d times", mood, len(notes))
		}
	}
	if _, err := addressed("https://127.0.0.1:1/", mcp.Server{Token: "NOT_SET"}).Tool(context.Background(), "desk", "x"); err == nil || !strings.Contains(err.Error(), "NOT_SET") {
		t.Error(err)
	}
}

// SAFE-H4: nobody is sent where the operator did not mean: no connection is
// made, whatever the address is called.
func TestAddressesThatAreNotDialled(t *testing.T) {
	t.Parallel()
	v := newVisited(t, "well", nil)
	_, port, err := net.SplitHostPort(v.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "0.0.0.0", "[::]"} {
		_, err := addressed("http://"+host+":"+port+"/", mcp.Server{Timeout: 5 * time.Second}).Tool(context.Background(), "desk", "create_ticket")
		if err == nil {
			t.Errorf("%s was reached", host)
		}
		// What is never meant is not reached with leave for private networks either.
		if strings.HasPrefix(host, "[64") || host == "0.0.0.0" || host == "[::]" {
			if _, err := addressed("http://"+host+":"+port+"/", mcp.Server{Local: true, Timeout: 5 * time.Second}).Tool(context.Background(), "desk", "create_ticket"); err == nil {
				t.Errorf("%s was reached", host)
			}
		}
	}
	if requests, _, _ := v.visits(); len(requests) > 0 {
		t.Errorf("it was visited: %q", requests)
	}
}

// SAFE-H4: a server may send us on within its own host, three times, and
// nowhere else; a token goes nowhere else either.
func TestRedirects(t *testing.T) {
	t.Parallel()
	elsewhere := newVisited(t, "well", nil)
	for _, c := range []struct {
		name string
		hops int
		to   string
		ok   bool
	}{{"three", 3, "", true}, {"four", 4, "", false}, {"another host", 1, elsewhere.URL, false}, {"a file", 1, "file:///etc/passwd", false}, {"metadata", 1, "http://169.254.169.254/latest", false}} {
		t.Run(c.name, func(t *testing.T) {
			v := newVisited(t, "well", func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					n := strings.Count(r.URL.Path, "x")
					switch {
					case n >= c.hops && c.to == "":
						h.ServeHTTP(w, r)
					case c.to != "":
						http.Redirect(w, r, c.to, http.StatusTemporaryRedirect)
					default:
						http.Redirect(w, r, r.URL.Path+"x", http.StatusTemporaryRedirect)
					}
				})
			})
			_, err := addressed(v.URL+"/", mcp.Server{Local: true, Token: "DESK_TOKEN", Timeout: 5 * time.Second}).Tool(context.Background(), "desk", "create_ticket")
			if (err == nil) != c.ok {
				t.Error(err)
			}
		})
	}
	if requests, _, _ := elsewhere.visits(); len(requests) > 0 {
		t.Errorf("it was visited: %q", requests)
	}
}

// A configuration that is wrong says all of it, with lines, and quotes no
// secret.
func TestReadConfig(t *testing.T) {
	t.Parallel()
	good, err := mcp.ReadConfig([]byte("servers:\n  desk: {command: [desk, --stdio], env: [DESK_KEY]}\n  crm: {url: \"https://crm.example.com/mcp\", token: CRM_TOKEN, timeout: 20s, max-answer: 4096}\n  here: {url: \"http://localhost:8080/\", local: true}\n  analyst: {agent: \"https://analyst.example.com/\", token: ANALYST_TOKEN}\n  shop: {api: apis/shop.yaml, basic: SHOP_LOGIN, headers: {x-api-key: SHOP_KEY}, reads: [find], idempotency: Idempotency-Key}\n"))
	if shop := good.Servers["shop"]; shop.API != "apis/shop.yaml" || shop.Basic != "SHOP_LOGIN" || shop.Headers["X-Api-Key"] != "SHOP_KEY" || len(shop.Reads) != 1 || shop.Idempotency != "Idempotency-Key" {
		t.Errorf("%+v", shop)
	}
	if err != nil || len(good.Servers) != 5 || good.Servers["analyst"].Agent != "https://analyst.example.com/" || good.Servers["crm"].Timeout != 20*time.Second || good.Servers["desk"].MaxAnswer != mcp.DefaultMaxAnswer || !good.Servers["here"].Local {
		t.Errorf("%+v %v", good, err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "line 1: no servers are named"},
		{"no YAML", "servers: [", "line 1: this is not YAML"},
		{"a list", "- desk", "line 1: the file is a list, and a mapping of keys is wanted"},
		{"unknown", "server:\n  desk: {}", `line 1: "server" means nothing in the file; did you mean servers?`},
		{"neither", "servers:\n  desk: {timeout: 1s}", "line 2: server desk is either a command, a url, an agent or an api"},
		{"both", "servers:\n  desk: {command: [a], url: \"https://x.example/\"}", "line 2: server desk is either a command, a url, an agent or an api"},
		{"both again", "servers:\n  desk: {agent: \"https://x.example/\", url: \"https://x.example/\"}", "line 2: server desk is either a command, a url, an agent or an api"},
		{"all", "servers:\n  desk: {agent: \"https://x.example/\", url: \"https://x.example/\", command: [a]}", "line 2: server desk is either a command, a url, an agent or an api"},
		{"an agent in the clear", "servers:\n  desk: {agent: \"http://x.example/\"}", "line 2: agent is not encrypted"},
		{"an agent with an environment", "servers:\n  desk: {agent: \"https://x.example/\", env: [A]}", "line 2: env belongs to a command, and server desk is an agent"},
		{"an api and a command", "servers:\n  shop: {api: shop.yaml, command: [a]}", "line 2: server shop is either a command, a url, an agent or an api"},
		{"an api outside", "servers:\n  shop: {api: ../shop.yaml}", "line 2: api is a file below the folder of this one"},
		{"an api at the root", "servers:\n  shop: {api: /etc/shop.yaml}", "line 2: api is a file below the folder of this one"},
		{"an api in the clear", "servers:\n  shop: {api: shop.yaml, url: \"http://x.example/\"}", "line 2: url is not encrypted"},
		{"an api with an environment", "servers:\n  shop: {api: shop.yaml, env: [A]}", "line 2: env belongs to a command, and server shop is an api"},
		{"reads of a url", "servers:\n  crm: {url: \"https://x.example/\", reads: [a]}", "line 2: reads belongs to an api, and server crm is a url"},
		{"a secret header", "servers:\n  shop: {api: shop.yaml, headers: {X-Key: sk-s3cret}}", "line 2: headers holds names of variables"},
		{"a header of HTTP", "servers:\n  shop: {api: shop.yaml, headers: {Host: A}}", "line 2: headers are names such as X-Api-Key"},
		{"a header that is none", "servers:\n  shop: {api: shop.yaml, idempotency: \"a b\"}", "line 2: idempotency is the name of a header"},
		{"two tokens", "servers:\n  shop: {api: shop.yaml, token: A, basic: B}", "line 2: server shop has two things to show in the header Authorization"},
		{"two authorizations", "servers:\n  shop: {api: shop.yaml, token: A, headers: {authorization: B}}", "line 2: server shop has two things to show"},
		{"empty", "servers:\n  desk: {command: []}", "line 2: command names no program"},
		{"a secret", "servers:\n  desk: {command: [a], env: [\"KEY=s3cret\"]}", "line 2: env holds names of variables"},
		{"a token", "servers:\n  crm: {url: \"https://x.example/\", token: sk-s3cret}", "line 2: token holds names of variables"},
		{"a password", "servers:\n  crm: {url: \"https://me:s3cret@x.example/\"}", "line 2: url holds a password"},
		{"in the clear", "servers:\n  crm: {url: \"http://x.example/\"}", "line 2: url is not encrypted"},
		{"a file", "servers:\n  crm: {url: \"file:///etc/passwd\"}", "line 2: url is an address"},
		{"long", "servers:\n  crm: {url: \"https://x.example/\", timeout: 1h}", "line 2: timeout is a duration of at most 10m"},
		{"small", "servers:\n  crm: {url: \"https://x.example/\", max-answer: 10}", "line 2: max-answer is a number of bytes"},
		{"misplaced", "servers:\n  desk:\n    command: [a]\n    local: true\n    token: A\n  crm:\n    url: \"https://x.example/\"\n    env: [A]", "line 5: token belongs to a url, an agent or an api, and server desk is a command\nline 4: local belongs to a url, an agent or an api, and server desk is a command\nline 8: env belongs to a command, and server crm is a url"},
		{"twice", "servers:\n  desk: {command: [a]}\n  desk: {command: [b]}", `line 3: "desk" stands here and in line 2`},
		{"null", "servers:\n  desk:\n    url:", `line 3: "url" has no value`},
		{"a fraction", "servers:\n  crm: {url: \"https://x.example/\", max-answer: 4096.5}", `"max-answer" is 4096.5, and a whole number is wanted`},
		{"a second document", "servers:\n  crm: {url: \"https://x.example/\"}\n---\nservers: {}", "line 3: a second document begins here"},
		{"an alias", "servers:\n  desk: &a {command: [a]}\n  crm: *a", "anchors and aliases are not taken"},
		{"large", strings.Repeat("#", 1<<20+1), "line 1: the configuration is larger"},
	} {
		_, err := mcp.ReadConfig([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Whoever begins a palette is told everything that a server lists, over pipes and over
// HTTP, as tools/list answers it; not at any length, and not without an end.
func TestAllToolsAreListed(t *testing.T) {
	t.Parallel()
	program, notes := started(t, "well")
	v := newVisited(t, "well", nil)
	const want = `{"tools":[{"name":"create_ticket","description":"Opens a ticket.","inputSchema":{"additionalProperties":false,"properties":{"price":{"type":"number"},"title":{"type":"string"}},"required":["title"],"type":"object"},` +
		`"outputSchema":{"properties":{"number":{"type":"string"},"price":{"type":"number"}},"type":"object"},"annotations":{"idempotentHint":false,"readOnlyHint":false}}]}`
	for name, s := range map[string]*mcp.Servers{"program": program, "address": addressed(v.URL, mcp.Server{Local: true})} {
		all, err := s.All(t.Context(), "desk")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text, err := mcp.List(all); err != nil || string(text) != want {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
	if got := noted(t, notes); got != "" || !program.Has("desk") || program.Has("other") {
		t.Errorf("a tool was called: %q", got)
	}
	for mood, want := range map[string]string{"mute": "no answer within 2s", "many": "it lists more than 2000 tools"} {
		s, _ := started(t, mood)
		if all, err := s.All(t.Context(), "desk"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d tools, %v", mood, len(all), err)
		}
	}
}
