package trustgraph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// authenticate knows ana of workspace "default" and bo of workspace "books".
func authenticate(_ context.Context, token string) (Caller, error) {
	switch token {
	case "tg_ana":
		return Caller{Name: "ana"}, nil
	case "tg_bo":
		return Caller{Name: "bo", Workspace: "books"}, nil
	}
	if token == "tg_later" { // G16
		return Caller{}, fmt.Errorf("%w: the line is dead", ErrUnasked)
	}
	return Caller{}, errors.New("no rows in table tokens")
}

// serve starts a gateway.
func serve(t *testing.T, g *Gateway) string {
	t.Helper()
	if g.Authenticate == nil {
		g.Authenticate = authenticate
	}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return server.URL
}

// echo answers with what it was asked, by whom and where.
var echo = AskFunc(func(_ context.Context, who Caller, r Request, tell func(Message) error) error {
	return tell(Message{Type: Answer, Content: who.Name + "@" + who.Workspace + "/" + r.Flow + ": " + r.Question})
})

// T10, T18, T38: requests of HTTP are answered with the statuses and bodies of TrustGraph's
// gateway.
func TestTheGatewayAnswersHTTPAsTrustGraphDoes(t *testing.T) {
	t.Parallel()
	const path, q = "/api/v1/flow/default/service/agent", `{"question":"q"}`
	done := `,"end_of_message":true,"end_of_dialog":true`
	for _, c := range []struct {
		name               string
		agent              Agent
		method, path, body string
		token, origin      string
		status             int
		want               string
	}{
		{"a question", echo, "POST", path, q, "tg_ana", "", 200, `{"message_type":"answer","content":"ana@default/default: q"` + done + `}`},
		{"another flow", echo, "POST", "/api/v1/flow/big%20one/service/agent", q, "tg_ana", "", 200, `{"message_type":"answer","content":"ana@default/big one: q"` + done + `}`},
		{"only the last message, with what is told of it", tells(nil, story...), "POST", path, q, "tg_ana", "", 200, `{"message_type":"answer","content":"Ana and Bo own Umza.","thought":"All steps went well","observation":"The journal is 7"` + done + `,"message_id":"m6","in_token":70,"out_token":8,"model":"small"}`},
		{"with streaming the text is lost", tells(nil, story...), "POST", path, `{"question":"q","streaming":true}`, "tg_ana", "", 200, `{"message_type":"answer","thought":"All steps went well","observation":"The journal is 7"` + done + `,"message_id":"m6","in_token":70,"out_token":8,"model":"small"}`},
		{"its own workspace", echo, "POST", path, `{"question":"q","workspace":"books"}`, "tg_bo", "", 200, `{"message_type":"answer","content":"bo@books/default: q"` + done + `}`},
		{"no workspace is the default one", echo, "POST", path, q, "tg_bo", "", 403, `{"error":"access denied"}`},
		{"another workspace", echo, "POST", path, `{"question":"q","workspace":"books"}`, "tg_ana", "", 403, `{"error":"access denied"}`},
		{"no token", echo, "POST", path, q, "", "", 401, `{"error":"auth failure"}`},
		{"a wrong token", echo, "POST", path, q, "tg_eve", "", 401, `{"error":"auth failure"}`},
		{"a token that cannot be looked up", echo, "POST", path, q, "tg_later", "", 503, `{"error":"the token cannot be looked up now; try again in a moment"}`},
		{"another service", echo, "POST", "/api/v1/flow/default/service/prompt", q, "tg_ana", "", 404, `{"error":"unknown kind"}`},
		{"another path", echo, "GET", "/api/v1/agent", "", "tg_ana", "", 404, `{"error":"unknown kind"}`},
		{"another method", echo, "GET", path, "", "tg_ana", "", 405, `{"error":"a question is sent with POST"}`},
		{"no JSON", echo, "POST", path, `question=q`, "tg_ana", "", 200, `{"error":"the request is not JSON"}`},
		{"no question", echo, "POST", path, `{}`, "tg_ana", "", 200, `{"error":"question is missing"}`},
		{"a wrong override", echo, "POST", path, `{"question":"q","plan":"{\"max_retries\":99}"}`, "tg_ana", "", 200, `{"error":"plan.max_retries is a whole number from 0 to 10"}`},
		{"too large", echo, "POST", path, `{"question":"` + strings.Repeat("q", 3000) + `"}`, "tg_ana", "", 413, `{"error":"the request is larger than 2000 bytes"}`},
		{"an agent that fails", tells(errors.New("pq: secret")), "POST", path, q, "tg_ana", "", 200, `{"error":{"type":"agent-error","message":"the agent failed"}}`},
		{"an agent that says why", tells(&Error{AgentError, "no <model>"}), "POST", path, q, "tg_ana", "", 200, `{"error":{"type":"agent-error","message":"no <model>"}}`},
		{"an agent that refuses", tells(&Error{AccessDenied, "access denied"}), "POST", path, q, "tg_ana", "", 403, `{"error":"access denied"}`},
		{"a workspace that the agent does not know", tells(&Error{WorkspaceNotFound, "workspace not found"}), "POST", path, q, "tg_ana", "", 404, `{"error":"workspace not found"}`},
		{"a page of another host", echo, "POST", path, q, "tg_ana", "https://evil.example", 403, `{"error":"access denied"}`},
		{"a page of no host", echo, "POST", path, q, "tg_ana", "null", 403, `{"error":"access denied"}`},
		{"a page that is allowed", echo, "POST", path, q, "tg_ana", "https://desk.umza.example", 200, `{"message_type":"answer","content":"ana@default/default: q"` + done + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := serve(t, &Gateway{Agent: c.agent, MaxBytes: 2000, Origins: []string{"*.umza.example"}})
			r, _ := http.NewRequest(c.method, url+c.path, strings.NewReader(c.body))
			if c.token != "" {
				r.Header.Set("Authorization", "Bearer "+c.token)
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			status, body := do(t, r)
			if status != c.status || body != c.want {
				t.Errorf("%d %s\nwant %d %s", status, body, c.status, c.want)
			}
		})
	}
}

func do(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// T10: a client that accepts events gets each message as it is told. G33: what is empty is left out,
// the member "error" above all.
func TestMessagesComeAsEvents(t *testing.T) {
	t.Parallel()
	step := make(chan bool)
	agent := AskFunc(func(_ context.Context, _ Caller, r Request, tell func(Message) error) error {
		if err := tell(Message{Type: Thought, Content: "line\nline", EndOfMessage: true}); err != nil {
			return err
		}
		<-step
		return errors.New("no")
	})
	url := serve(t, &Gateway{Agent: agent, Shape: Old})
	r, _ := http.NewRequest("POST", url+"/api/v1/flow/default/service/agent", strings.NewReader(`{"question":"q"}`))
	r.Header.Set("Authorization", "Bearer tg_ana")
	r.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	first := "id: 1\ndata: {\"thought\":\"line\\nline\"}\n\n"
	got := make([]byte, len(first))
	if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != first {
		t.Fatalf("%s %v", got, err)
	}
	close(step)
	rest, err := io.ReadAll(response.Body)
	if want := "id: 2\ndata: {\"error\":{\"type\":\"agent-error\",\"message\":\"the agent failed\"}}\n\n"; err != nil || string(rest) != want {
		t.Fatalf("%s %v", rest, err)
	}
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Error(kind)
	}
}
