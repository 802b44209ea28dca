package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A bearer shows a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// reaches connects a client with a token over HTTP.
func reaches(t *testing.T, s *running, token, version string, answer func(string) *sdk.ElicitResult) *aide {
	return connects(t, &sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true}, version, answer)
}

// administered has administrators, who know clara and jonas and hand out tokens.
func (h *house) administered() *house {
	h.env = append(h.env, "TICK=now") // what one process did is past for the next
	h.do("migrate", "--administrator", "ada", "--administrator", "bo")
	script := ""
	for i, name := range []string{"clara", "jonas"} {
		script += fmt.Sprintf(`system.add-principal :name %[1]q :label %[1]q :as @%[1]s
system.grant-role :principal-id @%[1]s :role "client"
system.grant-scope :principal-id @%[1]s :entity "cbu" :key "0000000c-0000-4000-8000-00000000000%[2]d"
`, name, i+1)
	}
	h.script("ada", script)
	return h
}

// rpc sends one request of the protocol, with its headers as the version wants them.
func rpc(t *testing.T, s *running, token, version, method, params string, headers ...string) (status int, answer map[string]any, head http.Header) {
	t.Helper()
	var p map[string]any
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		t.Fatal(params, err)
	}
	r, err := http.NewRequest("POST", s.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if version != "" {
		r.Header.Set("Mcp-Protocol-Version", version)
		r.Header.Set("Mcp-Method", method)
		for _, name := range []string{"name", "uri"} {
			if of, ok := p[name].(string); ok {
				r.Header.Set("Mcp-Name", of)
			}
		}
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, _ := io.ReadAll(got.Body)
	for line := range strings.Lines(string(body)) {
		text := strings.TrimPrefix(strings.TrimSpace(line), "data:")
		var m map[string]any
		if json.Unmarshal([]byte(text), &m) == nil && (m["id"] != nil || m["error"] != nil || m["status"] != nil) {
			answer = m
		}
	}
	return got.StatusCode, answer, got.Header
}

const modern = "2026-07-28"

// meta is what each request of that version brings.
func meta(asks bool) string {
	caps := `{}`
	if asks {
		caps = `{"elicitation":{"form":{}}}`
	}
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":` + caps + `}`
}

// Many clients at one server, each with a token: in each version of the protocol a call that
// asks first is asked about and done, as it is over a pipe; on both stores.
func TestClientsOfModelsAreServed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		s := h.administered().serve("--log", "off")
		token := h.granted("aide", "clara", s.url, "")
		for _, version := range versions {
			a := reaches(t, s, token, version, yes)
			l, err := a.ListTools(t.Context(), nil)
			if err != nil || len(l.Tools) != 21 {
				t.Fatal(version, err, len(l.Tools))
			}
			text, doc, _ := a.call("client__add-note", map[string]any{"request-id": "@pierre-dupont-source-of-wealth", "note": "By HTTP " + version})
			if doc["outcome"] != "done" || !strings.Contains(text, "(model)") {
				t.Errorf("%s: %s", version, text)
			}
			if text, doc, _ := a.call("client__escalate", map[string]any{"reason": "Stuck " + version}); doc["outcome"] != "done" || len(a.asked) != 2 {
				t.Errorf("%s: %q %s", version, a.asked, text)
			}
			if text, doc, _ := reaches(t, s, token, version, no).call("client__escalate", map[string]any{"reason": "No " + version}); doc["code"] != "declined" {
				t.Errorf("%s: %s", version, text)
			}
			text, doc, _ = reaches(t, s, token, version, nil).call("client__escalate", map[string]any{"reason": "Nobody " + version})
			if doc["outcome"] != "waiting" || !strings.Contains(text, "They agree by themselves: at "+s.url+"/waiting/") {
				t.Errorf("%s: %s", version, text)
			}
		}
		// A token for some verbs knows of no others.
		some := h.granted("some", "clara", s.url, "client.get-status")
		a := reaches(t, s, some, "", yes)
		if l, err := a.ListTools(t.Context(), nil); err != nil || len(l.Tools) != 1 {
			t.Error(err, l)
		}
		if text, doc, _ := a.call("client__add-note", map[string]any{"request-id": "@pierre-dupont-source-of-wealth", "note": "x"}); doc["code"] != "unknown-verb" {
			t.Error(text)
		}
		if r, err := a.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "client"}, Argument: sdk.CompleteParamsArgument{Name: "about", Value: "pierre"}}); err != nil || len(r.Completion.Values) > 0 {
			t.Error(err, r)
		}
	})
}

// Who may come in: SAFE-H6 over MCP. A token of another server's, none, a person's login,
// another host or origin, and a connection that somebody else began are refused; so is an
// answer to a question that was not asked of this caller, about this call.
func TestWhoComesInOverMCP(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.administered().serve("--log", "off", "--sign-in", "clara")
	clara, jonas := h.granted("a", "clara", s.url, ""), h.granted("b", "jonas", s.url, "")
	narrow := h.granted("c", "clara", s.url, "client.escalate client.get-status")
	elsewhere := h.granted("d", "clara", "https://other.example", "")
	list := `{` + meta(true) + `}`
	for _, c := range []struct {
		name, token, version string
		headers              []string
		want                 int
	}{
		{"a token", clara, modern, nil, 200},
		{"no token", "", modern, nil, 401},
		{"a token that is none", "x", modern, nil, 401},
		{"a token of another server", elsewhere, modern, nil, 401},
		{"another scheme", "", modern, []string{"Authorization", "Basic " + clara}, 401},
		{"another host", clara, modern, []string{"Host", "evil.example"}, 421},
		{"a page of another site", clara, modern, []string{"Origin", "https://evil.example"}, 403},
		{"a page of no site", clara, modern, []string{"Origin", "null"}, 403},
		{"a page of ours", clara, modern, []string{"Origin", s.url}, 200},
		{"a version to come", clara, "2027-01-01", nil, 400},
		{"a version that never was", clara, "1999-01-01", nil, 400},
		{"another method in the head", clara, modern, []string{"Mcp-Method", "tools/call"}, 400},
		{"a connection that is none", clara, "", []string{"Mcp-Session-Id", "x"}, 404},
		{"compressed", clara, modern, []string{"Content-Encoding", "gzip"}, 415},
		{"no JSON", clara, modern, []string{"Content-Type", "text/plain"}, 415},
		{"nothing is accepted", clara, modern, []string{"Accept", "text/html"}, 400},
	} {
		status, answer, head := rpc(t, s, c.token, c.version, "tools/list", list, c.headers...)
		if status != c.want {
			t.Errorf("%s is answered %d, want %d: %v", c.name, status, c.want, answer)
		}
		if told := head.Get("WWW-Authenticate"); c.want == 401 && told != `Bearer resource_metadata="`+s.url+`/.well-known/oauth-protected-resource/mcp"` {
			t.Errorf("%s: a client is told %q", c.name, told)
		}
	}
	cookie := newVisitor(t).comes(s, "clara")
	if status, body, err := cookie.post(s.url+"/mcp", "", map[string]string{}); err != nil || status != 401 {
		t.Errorf("a person's login is answered %d %s %v", status, body, err)
	}
	for _, path := range []string{"", "/mcp"} {
		status, body := newVisitor(t).get(s.url + "/.well-known/oauth-protected-resource" + path)
		var doc map[string]any
		if err := json.Unmarshal([]byte(body), &doc); err != nil || status != 200 || doc["resource"] != s.url+path || strings.Contains(body, "client.") {
			t.Errorf("%d %s", status, body)
		}
	}
	if r, err := http.Get(s.url + "/mcp"); err != nil || r.StatusCode != 405 {
		t.Error(err, r.Status)
	}

	// A connection of an earlier version is of whoever began it.
	hello := `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`
	status, _, head := rpc(t, s, clara, "", "initialize", hello)
	session := head.Get("Mcp-Session-Id")
	if status != 200 || session == "" {
		t.Fatal(status, head)
	}
	for token, want := range map[string]int{clara: 200, jonas: 403, narrow: 403} {
		if status, answer, _ := rpc(t, s, token, "", "tools/list", `{}`, "Mcp-Session-Id", session); status != want {
			t.Errorf("somebody's connection is answered %d: %v", status, answer)
		}
	}

	// What was sealed for one caller and one call is good for no other, and for that one once.
	escalate := func(token, reason, more string) (result map[string]any) {
		t.Helper()
		status, answer, _ := rpc(t, s, token, modern, "tools/call", `{`+meta(true)+`,"name":"client__escalate","arguments":{"reason":"`+reason+`"}`+more+`}`)
		result, _ = answer["result"].(map[string]any)
		if status != 200 || result == nil {
			t.Fatalf("%d %v", status, answer)
		}
		return result
	}
	code := func(result map[string]any) string {
		doc, _ := result["structuredContent"].(map[string]any)
		if doc["outcome"] == "done" {
			return "done"
		}
		of, _ := doc["code"].(string)
		return of
	}
	asked := escalate(clara, "Stuck", "")
	state, _ := asked["requestState"].(string)
	if asked["resultType"] != "input_required" || state == "" || asked["structuredContent"] != nil || asked["inputRequests"].(map[string]any)["agree"] == nil {
		t.Fatalf("%v", asked)
	}
	says := func(input, action, content, state string) string {
		return `,"inputResponses":{"` + input + `":{"action":"` + action + `","content":` + content + `}},"requestState":"` + state + `"`
	}
	agrees := says("agree", "accept", `{"agree":true}`, state)
	for _, c := range []struct{ name, token, reason, more string }{
		{"by somebody else", jonas, "Stuck", agrees},
		{"by another token of hers", narrow, "Stuck", agrees},
		{"about another call", clara, "Money", agrees},
		{"to another question", clara, "Stuck", says("pay", "accept", `{"agree":true}`, state)},
		{"with a state that is changed", clara, "Stuck", says("agree", "accept", `{"agree":true}`, state[:len(state)-4]+"AAAA")},
		{"with a state that is cut", clara, "Stuck", says("agree", "accept", `{"agree":true}`, state[:20])},
		{"with no state", clara, "Stuck", says("agree", "accept", `{"agree":true}`, "")},
		{"without an answer", clara, "Stuck", `,"requestState":"` + state + `"`},
	} {
		if got := code(escalate(c.token, c.reason, c.more)); got != "not-asked" {
			t.Errorf("an answer %s comes to %q", c.name, got)
		}
	}
	if _, answer, _ := rpc(t, s, clara, modern, "tools/call", `{`+meta(false)+`,"name":"client__escalate","arguments":{"reason":"Stuck"}`+agrees+`}`); code(answer["result"].(map[string]any)) != "not-asked" {
		t.Errorf("a client that asks nobody answers: %v", answer)
	}
	for _, content := range []string{`{}`, `{"agree":"true"}`, `{"agree":false}`, `{"agree":[true]}`} {
		fresh := escalate(clara, "Content "+url.QueryEscape(content), "")["requestState"].(string)
		if got := code(escalate(clara, "Content "+url.QueryEscape(content), says("agree", "accept", content, fresh))); got != "declined" {
			t.Errorf("%s comes to %q", content, got)
		}
	}
	moved := escalate(clara, "Moves", "")["requestState"].(string)
	if got := code(escalate(clara, "Stuck", agrees)); got != "done" {
		t.Errorf("her own yes comes to %q", got)
	}
	if again := escalate(clara, "Stuck", agrees); again["structuredContent"].(map[string]any)["repeated"] != true {
		t.Errorf("said again it is %v", again)
	}
	if got := code(escalate(clara, "Moves", says("agree", "accept", `{"agree":true}`, moved))); got != "stale-preview" {
		t.Errorf("a yes to what moved meanwhile comes to %q", got)
	}
	if n := strings.Count(h.do("log", "show", "--as", "d.lang"), "ok\tclient.escalate"); n != 1 {
		t.Errorf("%d are passed on", n)
	}
}

// Bodies and messages that no client sends: they are refused, nothing is done, and the server
// goes on. (SAFE-H6)
func TestMessagesThatOneWouldHate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.administered().serve("--log", "off")
	token := h.granted("a", "clara", s.url, "")
	before := memory(t, s.cmd.Process.Pid)
	post := func(body io.Reader, version string) (int, string) {
		r, _ := http.NewRequest("POST", s.url+"/mcp", body)
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + token}}
		if version != "" {
			r.Header.Set("Mcp-Protocol-Version", version)
			r.Header.Set("Mcp-Method", "tools/call")
			r.Header.Set("Mcp-Name", "client__add-note")
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer got.Body.Close()
		text, _ := io.ReadAll(got.Body)
		return got.StatusCode, string(text)
	}
	call := func(args string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta(true) + `,"name":"client__add-note","arguments":` + args + `}}`
	}
	long := strings.Repeat("x", 10<<20)
	for _, c := range []struct {
		name, body string
		want       int    // of the answer; 0 is any of 4xx
		says       string // in it
	}{
		{"ten megabytes in one line", call(`{"note":"` + long + `"}`), 413, "too-large"},
		{"ten megabytes of nothing", strings.Repeat(" ", 10<<20), 413, "too-large"},
		{"no JSON", `{`, 0, ""},
		{"no object", `7`, 0, ""},
		{"nothing", ``, 0, ""},
		{"not UTF-8", call("{\"note\":\"\xff\xfe\"}"), 200, "isError"},
		{"deep", call(`{"note":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`), 0, ""},
		{"a number without end", call(`{"note":1` + strings.Repeat("0", 100000) + `}`), 0, ""},
		{"arguments that are a list", call(`[1]`), 200, "isError"},
		{"arguments that are a text", call(`"x"`), 200, "isError"},
		{"arguments that are none", call(`null`), 200, "isError"},
		{"a key of a map that is a script", call(`{"x) (client.escalate :reason \"y\"":"z","note":"n"}`), 200, "isError"},
		{"a value that is a script", call(`{"request-id":"@x :note \"a\"\nclient.escalate","note":"n"}`), 200, "isError"},
		{"a method that is none", `{"jsonrpc":"2.0","id":1,"method":"tools/nothing","params":{` + meta(true) + `}}`, 0, ""},
	} {
		status, text := post(strings.NewReader(c.body), modern)
		if c.want != 0 && status != c.want || c.want == 0 && (status < 400 || status >= 500) && !strings.Contains(text, `"error"`) && !strings.Contains(text, "isError") || !strings.Contains(text, c.says) {
			t.Errorf("%s is answered %d %.300s", c.name, status, text)
		}
		if strings.Contains(text, "goroutine") || strings.Contains(text, "sql") {
			t.Errorf("%s: the answer tells of the inside: %.300s", c.name, text)
		}
	}
	// What a version answers in its own way is an answer of JSON-RPC in each.
	for _, version := range []string{modern, "2025-06-18", ""} {
		for _, c := range []struct {
			name, body string
			code       int
		}{
			{"a method that is none", `{"jsonrpc":"2.0","id":"a","method":"tools/nothing","params":{` + meta(true) + `}}`, -32601},
			{"a call without parameters", `{"jsonrpc":"2.0","id":"a","method":"tools/call"}`, -32600},
			{"a method twice", `{"jsonrpc":"2.0","id":"a","method":"ping","method":"tools/call","params":{` + meta(true) + `}}`, -32600},
			{"a name twice", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{` + meta(true) + `,"name":"client__get-status","name":"client__add-note"}}`, -32600},
			{"no JSON", `{`, -32700},
		} {
			status, text := post(strings.NewReader(c.body), version)
			var m struct{ Error struct{ Code int } }
			if err := json.Unmarshal([]byte(text), &m); err != nil || m.Error.Code != c.code || status >= 500 || c.code == -32601 && !strings.Contains(text, `"id":"a"`) {
				t.Errorf("%q: %s is answered %d %.300s", version, c.name, status, text)
			}
		}
	}
	if grown := memory(t, s.cmd.Process.Pid) - before; grown > 200<<20 {
		t.Errorf("the server takes %d MiB more", grown>>20)
	}
	if lines := h.do("log", "show", "--as", "d.lang"); strings.Contains(lines, "client.escalate") || strings.Contains(lines, "ok\tclient.") {
		t.Errorf("something was done:\n%s", lines)
	}
	if l, err := reaches(t, s, token, "", nil).ListTools(t.Context(), nil); err != nil || len(l.Tools) == 0 {
		t.Error(err)
	}
}

// A client of an earlier version that is asked and never answers holds no place, and nothing
// is done; its call ends when it is called off.
func TestAClientThatNeverAnswers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.administered().serve("--log", "off")
	token := h.granted("a", "clara", s.url, "")
	asked, release := make(chan bool), make(chan bool)
	a := reaches(t, s, token, "2025-11-25", func(string) *sdk.ElicitResult {
		close(asked)
		<-release
		return yes("")
	})
	defer close(release)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := a.CallTool(ctx, &sdk.CallToolParams{Name: "client__escalate", Arguments: map[string]any{"reason": "x"}})
		ended <- err
	}()
	<-asked
	if text, doc, _ := reaches(t, s, token, "", nil).call("client__get-status", map[string]any{}); doc["outcome"] != "done" {
		t.Error(text)
	}
	stop()
	if err := <-ended; err == nil {
		t.Error("it was done without an answer")
	}
	if lines := h.do("log", "show", "--as", "d.lang"); strings.Contains(lines, "ok\tclient.escalate") {
		t.Error(lines)
	}
}

// The matrix of what must not leak, through MCP: SAFE-A1. For every reference argument of every
// tool that a client has, somebody else's row is answered as one that is not there, to the
// byte; nothing of it is listed, completed or read; and nothing is changed.
func TestNothingLeaksOverMCP(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		s := h.administered().serve("--log", "off")
		clara, jonas := reaches(t, s, h.granted("a", "clara", s.url, ""), "", yes), reaches(t, s, h.granted("b", "jonas", s.url, ""), "", yes)
		sees := func(a *aide) (all []string) {
			for _, read := range []string{"client__get-companies", "client__get-outstanding"} {
				text, _, _ := a.call(read, map[string]any{})
				all = append(all, regexp.MustCompile(`@[a-z0-9-]+`).FindAllString(text, -1)...)
			}
			return all
		}
		hers := sees(clara)
		foreign := slices.DeleteFunc(sees(jonas), func(n string) bool { return slices.Contains(hers, n) })
		slices.Sort(foreign)
		if foreign = slices.Compact(foreign); len(foreign) < 2 {
			t.Fatalf("jonas sees nothing that clara does not: %v", foreign)
		}
		before := h.do("log", "show", "--as", "d.lang")
		tools, err := clara.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		answered := func(tool string, args map[string]any) string {
			r, err := clara.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
			if err != nil {
				return err.Error()
			}
			text, _ := json.Marshal(r)
			return string(text)
		}
		for _, tool := range tools.Tools {
			schema, _ := json.Marshal(tool.InputSchema)
			var of struct{ Properties map[string]json.RawMessage }
			if err := json.Unmarshal(schema, &of); err != nil {
				t.Fatal(err)
			}
			for arg, what := range of.Properties {
				if !strings.Contains(string(what), "which begins with @") {
					continue
				}
				for _, name := range foreign {
					absent := strings.Map(func(r rune) rune {
						if r >= 'a' && r <= 'z' {
							return 'a' + (r-'a'+13)%26
						}
						return r
					}, name)
					tried++
					theirs, none := answered(tool.Name, map[string]any{arg: name, "note": "x"}), answered(tool.Name, map[string]any{arg: absent, "note": "x"})
					if masked(theirs) != strings.ReplaceAll(masked(none), absent[1:], name[1:]) || !strings.Contains(theirs, `"isError":true`) {
						t.Errorf("%s %s\n%s\n%s", tool.Name, arg, theirs, none)
					}
				}
			}
		}
		if tried < 10 {
			t.Errorf("only %d questions were tried", tried)
		}
		var told strings.Builder
		rs, err := clara.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rs.Resources {
			x, err := clara.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
			if err != nil {
				t.Fatal(err)
			}
			told.WriteString(x.Contents[0].Text)
		}
		p, err := clara.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "client"})
		if err != nil {
			t.Fatal(err)
		}
		told.WriteString(p.Messages[0].Content.(*sdk.TextContent).Text)
		for _, value := range []string{"", "a", "e", "@"} {
			c, err := clara.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "client"}, Argument: sdk.CompleteParamsArgument{Name: "about", Value: value}})
			if err != nil {
				t.Fatal(err)
			}
			told.WriteString(strings.Join(c.Completion.Values, "\n") + "\n")
		}
		for _, name := range foreign {
			tried++
			if regexp.MustCompile(regexp.QuoteMeta(name) + `\b[^-]`).MatchString(told.String()) {
				t.Errorf("clara is told of %s", name)
			}
		}
		// What jonas's own tokens may not use is not there for them either: the answers to a verb
		// of the bank's and to one that nobody has are the same.
		for _, bank := range []string{"review__accept", "review__waive", "system__add-token", "client__remind"} {
			other := strings.Repeat("z", len(bank))
			if got, want := answered(bank, nil), answered(other, nil); strings.ReplaceAll(got, bank, other) != want {
				t.Errorf("%s\n%s", got, want)
			}
		}
		for line := range strings.Lines(strings.TrimPrefix(h.do("log", "show", "--as", "d.lang"), before)) {
			if !strings.Contains(line, "refused") {
				t.Errorf("the journal tells of %s", line)
			}
		}
		t.Logf("%d questions about %d rows of another's, each answered as one about nothing", tried, len(foreign))
	})
}

// judged finds a package that `make judges` fetches.
func judged(t *testing.T, name string) string {
	t.Helper()
	judges := os.Getenv("TEST_JUDGES")
	at := filepath.Join(judges, "node_modules", "@modelcontextprotocol", name)
	if _, err := os.Stat(at); judges == "" || err != nil {
		if os.Getenv("TEST_REQUIRE_MCP") != "" {
			t.Fatalf("there is no @modelcontextprotocol/%s in TEST_JUDGES: make judges fetches it", name)
		}
		t.Skipf("there is no @modelcontextprotocol/%s in TEST_JUDGES: make judges fetches it", name)
	}
	return at
}

// fronted is a server behind something that adds a token to what it passes on, and changes
// nothing else: the suite has none to show.
func fronted(t *testing.T, h *house) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	behind := l.Addr().String()
	l.Close()
	front := httptest.NewUnstartedServer(nil)
	url = "http://" + front.Listener.Addr().String()
	token := h.granted("judge", "clara", url, "")
	front.Config.Handler = &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", behind, r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+token)
		// All of it is read first: the proxy of the library breaks an answer off that comes
		// before it has seen the end of a body.
		body, _ := io.ReadAll(r.In.Body)
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
	}}
	front.Start()
	t.Cleanup(front.Close)
	s, err := startServer(h.dir, h.env, []string{"--listen", behind, "--url", url, "--log", "off"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return url
}

// Every scenario of the makers' suite that asks nothing of names which only their own server
// has, without a failure expected; rebinding of names among them. SAFE-H6.
func TestMCPJudgedByItsMakers(t *testing.T) {
	t.Parallel()
	suite := filepath.Join(judged(t, "conformance"), "dist", "index.js")
	h := newHouse(t).administered()
	at := fronted(t, h)
	scenarios := []string{"server-initialize", "ping", "completion-complete", "tools-list", "tools-call-error", "server-sse-multiple-streams",
		"resources-list", "prompts-list", "dns-rebinding-protection"}
	cmd := exec.Command("node", append([]string{"testdata/mcp/scenarios.mjs", suite, at + "/mcp"}, scenarios...)...)
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &wrong)
	}
	said := string(out)
	for _, scenario := range scenarios {
		_, behind, began := strings.Cut(said, "=== "+scenario+"\n")
		of, behind, ended := strings.Cut(behind, "=== exit 0\n")
		if !began || !ended || strings.Contains(of, "\n=== ") || !strings.Contains(of, "SUCCESS") && !regexp.MustCompile(`Passed: [1-9]`).MatchString(of) || strings.Contains(of, "FAILURE") {
			t.Fatalf("%s:\n%s%s", scenario, said, &wrong)
		}
		said = behind
	}
}

// The client that the makers of the protocol have in TypeScript plays the portal's morning,
// over HTTP and over a pipe, and is told the same by both.
func TestTypeScriptPlaysTheMorning(t *testing.T) {
	t.Parallel()
	judged(t, "sdk")
	want, err := os.ReadFile("testdata/mcp/morning.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"HTTP", "pipe"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			args := []string{"testdata/mcp/morning.mjs", os.Getenv("TEST_JUDGES")}
			if way == "pipe" {
				args = append(args, filepath.Join(h.dir, ".bin", "verbatim"))
			} else {
				args = append(args, fronted(t, h.administered())+"/mcp")
			}
			cmd := exec.Command("node", args...)
			cmd.Env = append(slices.Clone(h.env), "HOUSE="+h.dir)
			var wrong bytes.Buffer
			cmd.Stderr = &wrong
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s%s", err, out, wrong.String())
			}
			// What people are called and how far the journal has come differs between the two houses.
			out = regexp.MustCompile(`: [^:]+ took it back already, by entry \d+`).ReplaceAll(out, []byte(": WHO took it back already, by entry N"))
			if *update && way == "pipe" {
				put(t, "testdata/mcp/morning.txt", out)
			} else if string(out) != string(want) {
				t.Errorf("it tells\n%s\nwant\n%s", out, want)
			}
		})
	}
}

// Lines that no client writes: each is answered, what follows is read, and the program takes
// no memory in proportion.
func TestLinesThatOneWouldHate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "mcp", "--as", "clara")
	cmd.Dir, cmd.Env = h.dir, h.env
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(out)
	type message struct {
		ID     any
		Result map[string]any
		Error  *struct {
			Code    int
			Message string
		}
	}
	next := func() (m message) {
		t.Helper()
		if err := dec.Decode(&m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	say := func(line string) { _, _ = io.WriteString(in, line+"\n") }
	say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}`)
	if m := next(); m.Result["protocolVersion"] != "2025-06-18" {
		t.Fatal(m)
	}
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	before := memory(t, cmd.Process.Pid)
	for _, c := range []struct {
		name, line string
		code       int
	}{
		{"ten megabytes", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 10<<20) + `"}}`, -32600},
		{"no JSON", `{"jsonrpc":`, -32700},
		{"a word", `hello`, -32700},
		{"a number", `7`, -32700},
		{"a list", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600},
		{"no message", `{"a":1}`, -32600},
		{"another version of JSON-RPC", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600},
		{"an id that is a list", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, -32600},
		{"a method that is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, -32600},
		{"two documents", `{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":1,"method":"ping"}`, -32700},
		{"a method twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, -32600},
		{"a name twice", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"client__get-status","name":"client__add-note"}}`, -32600},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", 0},
		{"a method that is none", `{"jsonrpc":"2.0","id":1,"method":"tools/nothing"}`, -32601},
		{"no parameters", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, -32600},
		{"parameters that are a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, -32602},
		{"a second beginning", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, 0},
	} {
		say(c.line)
		if m := next(); m.Error == nil || c.code != 0 && m.Error.Code != c.code || strings.Contains(m.Error.Message, "goroutine") {
			t.Errorf("%s is answered %+v %+v", c.name, m, m.Error)
		}
	}
	if grown := memory(t, cmd.Process.Pid) - before; grown > 64<<20 {
		t.Errorf("it takes %d MiB more", grown>>20)
	}
	// Midway it speaks another version, and is still answered as it began.
	say("\r\n  \n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{` + meta(false) + `,"name":"client__escalate","arguments":{"reason":"x"}}}`)
	var ask struct {
		ID     int
		Method string
	}
	if err := dec.Decode(&ask); err != nil || ask.Method != "elicitation/create" {
		t.Fatal(err, ask)
	}
	say(`{"jsonrpc":"2.0","id":` + fmt.Sprint(ask.ID+77) + `,"result":{"action":"accept","content":{"agree":true}}}`) // to what was not asked
	say(`{"jsonrpc":"2.0","id":` + fmt.Sprint(ask.ID) + `,"error":{"code":-1,"message":"nobody is there"}}`)
	if m := next(); m.Result["isError"] != true || !strings.Contains(fmt.Sprint(m.Result), "could not ask the person") {
		t.Error(m)
	}
	// Somebody who is asked and whose call is called off is not waited for.
	say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"client__escalate","arguments":{"reason":"x"}}}`)
	if err := dec.Decode(&ask); err != nil || ask.Method != "elicitation/create" {
		t.Fatal(err, ask)
	}
	say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	for {
		var m struct {
			ID     any
			Method string
		}
		if err := dec.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if m.Method == "" {
			break
		}
	}
	in.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		_ = cmd.Process.Kill()
		t.Error("it does not end with its client")
	}
	if lines := h.do("log", "show", "--as", "d.lang"); strings.Contains(lines, "ok\tclient.") {
		t.Errorf("something was done:\n%s", lines)
	}
}

// What a program with a token sends waits for the person, who agrees where they are proven; the token is
// no yes of theirs. Leaving out who wrote it frees nothing. It is done where the operator said that no
// model writes what comes with the token, unless the program says that one did. A standing rule of the person
// passes its verb in both doors, until they take it back. (G1)
func TestWhatAModelSendsByHTTPWaits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.administered().script("ada", `system.grant-role :principal-id @clara :role "delegator"`)
	s := h.serve("--log", "off", "--sign-in", "clara")
	token, script := h.granted("aide", "clara", s.url, ""), h.granted("nightly", "clara", s.url, "", "--origin", "script")
	ask := func(path string, body map[string]any) (int, string) {
		text, _ := json.Marshal(body)
		r, _ := http.NewRequest("POST", s.url+path, bytes.NewReader(text))
		r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
		v := newVisitor(t)
		return v.answer(v.Do(r))
	}
	note := func(text string) map[string]any {
		return map[string]any{"script": fmt.Sprintf("client.add-note :request-id @pierre-dupont-source-of-wealth :note %q", text), "origin": "model"}
	}
	written := func(text string) bool {
		_, body := ask("/v1/run", map[string]any{"script": "client.get-request-detail :request-id @pierre-dupont-source-of-wealth"})
		return strings.Contains(body, text)
	}
	status, body := ask("/v1/run", note("Once"))
	id := regexp.MustCompile(`"confirmation":{"id":"([0-9a-f-]{20,})"`).FindStringSubmatch(body)
	if status != http.StatusAccepted || !strings.Contains(body, `"outcome":"waiting"`) || id == nil || written("Once") {
		t.Fatalf("%d %s", status, body)
	}
	agreed := note("Once")
	_, shown := ask("/v1/preview", note("Once"))
	agreed["agreed"] = regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(shown)[1]
	if status, body := ask("/v1/run", agreed); status != http.StatusForbidden || !strings.Contains(body, "not-asked") || written("Once") {
		t.Errorf("a token agrees: %d %s", status, body)
	}
	if status, body := ask("/v1/confirmations/"+id[1]+"/agree", map[string]any{}); status != http.StatusForbidden || written("Once") {
		t.Errorf("a token agrees to what waits: %d %s", status, body)
	}
	// Nor is a program without a model, whose own calls need no asking, a yes of its person's to a model's.
	r, _ := http.NewRequest("POST", s.url+"/v1/confirmations/"+id[1]+"/agree", strings.NewReader("{}"))
	r.Header = http.Header{"Authorization": {"Bearer " + script}, "Content-Type": {"application/json"}}
	nightly := newVisitor(t)
	if status, body := nightly.answer(nightly.Do(r)); status != http.StatusForbidden || written("Once") {
		t.Errorf("a program agrees to what a model wrote: %d %s", status, body)
	}
	clara := newVisitor(t).comes(s, "clara")
	if status, body, err := clara.post(s.url+"/v1/confirmations/"+id[1]+"/agree", "", map[string]string{}); err != nil || status != http.StatusOK || !written("Once") {
		t.Errorf("she agrees: %d %s %v", status, body, err)
	}
	own := note("By a program")
	for _, origin := range []string{"", "document=letter.pdf", "tool=crm"} {
		own["origin"] = origin
		if status, body := ask("/v1/run", own); status != http.StatusAccepted || !strings.Contains(body, `"outcome":"waiting"`) || written("By a program") {
			t.Errorf("with origin %q: %d %s", origin, status, body)
		}
	}
	aide := token
	token = script
	if status, body := ask("/v1/run", note("A script says that a model wrote it")); status != http.StatusAccepted || written("A script says that a model wrote it") {
		t.Errorf("%d %s", status, body)
	}
	own["origin"] = ""
	if status, body := ask("/v1/run", own); status != http.StatusOK || !written("By a program") {
		t.Errorf("%d %s", status, body)
	}
	token = aide

	allow := `system.allow :name "notes" :verb "client.add-note" :until ` + time.Now().AddDate(0, 1, 0).Format(time.DateOnly)
	for _, origin := range []string{"", "model"} {
		if status, body := ask("/v1/run", map[string]any{"script": allow, "origin": origin}); status != http.StatusForbidden || !strings.Contains(body, `"origin"`) {
			t.Errorf("a token with origin %q gives a rule: %d %s", origin, status, body)
		}
	}
	a := reaches(t, s, token, "", no)
	if text, doc, _ := a.call("system__allow", map[string]any{"name": "notes", "verb": "client.add-note", "until": time.Now().AddDate(0, 1, 0).Format(time.DateOnly)}); doc["code"] != "origin" {
		t.Error(text)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "allow.dsl"), []byte(allow+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	h.do("run", "allow.dsl", "--as", "clara", "--origin", "person", "--yes")
	asked := len(a.asked)
	if text, doc, _ := a.call("client__add-note", map[string]any{"request-id": "@pierre-dupont-source-of-wealth", "note": "By rule"}); doc["outcome"] != "done" || len(a.asked) != asked || !strings.Contains(text, "the standing rule notes passes it") {
		t.Error(text)
	}
	if status, body := ask("/v1/run", note("By rule too")); status != http.StatusOK || !strings.Contains(body, `"passed":"notes"`) {
		t.Errorf("%d %s", status, body)
	}
	if log := h.do("log", "show", "--as", "d.lang", "--json"); strings.Count(log, "clara, standing rule notes") != 2 {
		t.Error(log)
	}
	h.script("clara", "system.disallow :rule @notes")
	if _, doc, _ := a.call("client__add-note", map[string]any{"request-id": "@pierre-dupont-source-of-wealth", "note": "After"}); doc["code"] != "declined" || written("After") {
		t.Error(doc)
	}
}
