package trustgraph

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// dial opens a socket, and authenticates if there is a token.
func dial(t *testing.T, url, token string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), url+"/api/v1/socket", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	if token != "" {
		write(t, conn, `{"type":"auth","token":"`+token+`"}`)
		if got := read(t, conn); !strings.Contains(got, "auth-ok") {
			t.Fatal(got)
		}
	}
	return conn
}

func write(t *testing.T, conn *websocket.Conn, text string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	_, text, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ask is the frame of a question.
func ask(id, question string) string {
	return fmt.Sprintf(`{"id":%q,"service":"agent","flow":"default","request":{"question":%q}}`, id, question)
}

// T10, T18, T38: each frame that is sent (>) is answered (<) as TrustGraph's gateway does.
func TestTheSocketAnswersFramesAsTrustGraphDoes(t *testing.T) {
	t.Parallel()
	agent := AskFunc(func(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
		switch r.Question {
		case "fail":
			return errors.New("pq: secret")
		case "refuse":
			return &Error{AccessDenied, "access denied"}
		}
		_ = tell(Message{Type: Thought, Content: "hm", EndOfMessage: true})
		return echo(ctx, who, r, tell)
	})
	conn := dial(t, serve(t, &Gateway{Agent: agent, MaxBytes: 2000}), "")
	answer := func(id, text string) []string {
		return []string{`{"id":` + id + `,"response":{"message_type":"thought","content":"hm","end_of_message":true,"end_of_dialog":false},"complete":false}`,
			`{"id":` + id + `,"response":{"message_type":"answer","content":"` + text + `","end_of_message":true,"end_of_dialog":true},"complete":true}`}
	}
	refused := func(id, kind, text string) []string {
		if id != "" {
			id = `"id":` + id + `,`
		}
		return []string{`{` + id + `"error":{"type":"` + kind + `","message":"` + text + `"},"complete":true}`}
	}
	for _, c := range []struct {
		send string
		want []string
	}{
		{ask("1", "q"), refused(`"1"`, "auth-required", "auth failure")},
		{`{"type":"auth","token":"tg_eve"}`, []string{`{"type":"auth-failed","error":"auth failure"}`}},
		{`{"type":"auth","token":"tg_later"}`, []string{`{"type":"auth-failed","error":"the token cannot be looked up now; try again in a moment"}`}},
		{`{"type":"auth"}`, []string{`{"type":"auth-failed","error":"auth failure"}`}},
		{`{"type":"auth","token":"tg_ana"}`, []string{`{"type":"auth-ok","default_workspace":"default"}`}},
		{ask("2", "q"), answer(`"2"`, "ana@default/default: q")},
		{ask("2", "q"), answer(`"2"`, "ana@default/default: q")},
		{`{"type":"auth","token":"tg_bo"}`, []string{`{"type":"auth-ok","default_workspace":"books"}`}},
		{`{"type":"auth","token":"tg_eve"}`, []string{`{"type":"auth-failed","error":"auth failure"}`}},
		{`{"id":7,"service":"agent","request":{"question":"q"}}`, answer(`7`, "bo@books/default: q")},
		{`{"id":"a","service":"agent","flow":"f","workspace":"books","request":{"question":"q","workspace":"books"}}`, answer(`"a"`, "bo@books/f: q")},
		{`{"id":"a","service":"agent","workspace":"default","request":{"question":"q"}}`, refused(`"a"`, "access-denied", "access denied")},
		{`{"id":"a","service":"agent","request":{"question":"q","workspace":"default"}}`, refused(`"a"`, "access-denied", "access denied")},
		{`{"id":"a","service":"prompt","request":{"question":"q"}}`, refused(`"a"`, "unknown-service", "unknown service")},
		{`{"id":"a","request":{"question":"q"}}`, refused(`"a"`, "unknown-service", "unknown service")},
		{`{"id":"a","service":"agent"}`, refused(`"a"`, "error", "request is missing")},
		{`{"id":"a","service":"agent","request":"q"}`, refused(`"a"`, "error", "the request is not a JSON object")},
		{`{"id":"a","service":"agent","request":{}}`, refused(`"a"`, "error", "question is missing")},
		{`{"id":"a","service":7,"request":{"question":"q"}}`, refused(`"a"`, "error", "service is a string")},
		{`{"service":"agent","request":{"question":"q"}}`, refused("", "error", "id is missing: it is a string or a number")},
		{`{"id":"","service":"agent","request":{"question":"q"}}`, refused("", "error", "id is missing: it is a string or a number")},
		{`{"id":{},"service":"agent","request":{"question":"q"}}`, refused("", "error", "id is missing: it is a string or a number")},
		{`{"id":"a","id":"b"}`, refused("", "error", `the frame has \"id\" twice`)},
		{`hello`, refused("", "error", "the frame is not JSON")},
		{`[]`, refused("", "error", "the frame is not a JSON object")},
		{ask("b", "fail"), []string{`{"id":"b","response":{"error":{"type":"agent-error","message":"the agent failed"}},"complete":true}`}},
		{ask("b", "refuse"), refused(`"b"`, "access-denied", "access denied")},
	} {
		write(t, conn, c.send)
		for _, want := range c.want {
			if got := read(t, conn); got != want {
				t.Errorf("> %s\n< %s\nwant %s", c.send, got, want)
			}
		}
	}
	if err := conn.Write(t.Context(), websocket.MessageBinary, []byte(ask("c", "q"))); err != nil {
		t.Fatal(err)
	}
	if got := read(t, conn); got != refused("", "error", "a frame is text")[0] {
		t.Error(got)
	}
	write(t, conn, ask("d", strings.Repeat("q", 3000)))
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Error(err)
	}
}

// T10: clients from before 2.4.5 send the token with the handshake.
func TestATokenMayComeWithTheHandshake(t *testing.T) {
	t.Parallel()
	url := serve(t, &Gateway{Agent: echo, Shape: Old})
	conn, _, err := websocket.Dial(t.Context(), url+"/api/v1/socket?token=tg_ana", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	write(t, conn, ask("1", "q"))
	if got, want := read(t, conn), `{"id":"1","response":{"answer":"ana@default/default: q"},"complete":true}`; got != want {
		t.Error(got)
	}
	if _, response, err := websocket.Dial(t.Context(), url+"/api/v1/socket?token=tg_eve", nil); err == nil || response.StatusCode != 401 {
		t.Error(err)
	}
}

// T38: pages of other hosts open no socket, and a socket that does not authenticate is closed.
func TestASocketIsClosedToStrangers(t *testing.T) {
	t.Parallel()
	url := serve(t, &Gateway{Agent: echo, AuthTimeout: 50 * time.Millisecond})
	for origin, allowed := range map[string]bool{"": true, url: true, "https://evil.example": false} {
		_, response, err := websocket.Dial(t.Context(), url+"/api/v1/socket", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
		if (err == nil) != allowed || !allowed && response.StatusCode != 403 {
			t.Errorf("%s: %v", origin, err)
		}
	}
	if _, _, err := dial(t, url, "").Read(t.Context()); err == nil {
		t.Error("the socket stays open")
	}
}

// T10: of one socket 15 questions are answered at once and 10 wait; the next one is not even
// read until one is answered. Answers come under their ids, in any order.
func TestASocketAsksSeveralQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int32
	release := make(chan bool)
	agent := AskFunc(func(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
		n := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		select {
		case <-release:
		case <-ctx.Done():
			return ctx.Err()
		}
		return echo(ctx, who, r, tell)
	})
	conn := dial(t, serve(t, &Gateway{Agent: agent}), "tg_ana")
	const asks = maxAsked + maxWaiting + 1
	for i := range asks {
		write(t, conn, ask(fmt.Sprint(i), "q"))
	}
	for running.Load() < maxAsked {
		time.Sleep(time.Millisecond)
	}
	// The last question waits to be taken, so that this frame is not read.
	write(t, conn, `{"type":"auth","token":"tg_ana"}`)
	time.Sleep(50 * time.Millisecond)
	release <- true
	seen := map[string]bool{}
	first := read(t, conn)
	if !strings.Contains(first, `"response"`) {
		t.Errorf("the socket reads on: %s", first)
	}
	close(release)
	for seen[first] = true; len(seen) < asks+1; {
		seen[read(t, conn)] = true
	}
	for i := range asks {
		if want := fmt.Sprintf(`{"id":"%d","response":{"message_type":"answer","content":"ana@default/default: q","end_of_message":true,"end_of_dialog":true},"complete":true}`, i); !seen[want] {
			t.Errorf("%s did not come", want)
		}
	}
	if most.Load() != maxAsked {
		t.Errorf("%d at once", most.Load())
	}
}

// T38: an id stands for one question at a time.
func TestAnIDThatIsBeingAnsweredIsRefused(t *testing.T) {
	t.Parallel()
	release := make(chan bool)
	agent := AskFunc(func(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
		<-release
		return echo(ctx, who, r, tell)
	})
	conn := dial(t, serve(t, &Gateway{Agent: agent}), "tg_ana")
	write(t, conn, ask("1", "q"))
	write(t, conn, ask("1", "r"))
	if got := read(t, conn); got != `{"id":"1","error":{"type":"error","message":"a question with this id is being answered"},"complete":true}` {
		t.Error(got)
	}
	close(release)
	if got := read(t, conn); !strings.Contains(got, ": q") {
		t.Error(got)
	}
}

// T38: a client that does not read loses its socket, and its questions are stopped.
func TestASlowReaderLosesItsSocket(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	big := strings.Repeat("x", 1<<20)
	agent := AskFunc(func(ctx context.Context, _ Caller, _ Request, tell func(Message) error) error {
		for {
			if err := tell(Message{Type: Thought, Content: big, EndOfMessage: true}); err != nil {
				ended <- err
				return err
			}
		}
	})
	url := serve(t, &Gateway{Agent: agent, WriteTimeout: 100 * time.Millisecond})
	conn := dial(t, url, "tg_ana")
	write(t, conn, ask("1", "q"))
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the agent still tells")
	}
	// The same over HTTP, by a client that sends and then does not read.
	raw, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	fmt.Fprintf(raw, "POST /api/v1/flow/default/service/agent HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer tg_ana\r\nContent-Length: 16\r\n\r\n{\"question\":\"q\"}")
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the agent still tells")
	}
}

// T38: a gateway that closes answers what was asked, refuses what comes, and says goodbye.
func TestAGatewayThatClosesAnswersWhatWasAsked(t *testing.T) {
	t.Parallel()
	begun, release := make(chan bool), make(chan bool)
	agent := AskFunc(func(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
		begun <- true
		<-release
		return echo(ctx, who, r, tell)
	})
	g := &Gateway{Agent: agent}
	url := serve(t, g)
	conn := dial(t, url, "tg_ana")
	write(t, conn, ask("1", "q"))
	<-begun
	closed := make(chan error, 1)
	go func() { closed <- g.Close(t.Context()) }()
	for {
		g.mu.Lock()
		is := g.closed
		g.mu.Unlock()
		if is {
			break
		}
		time.Sleep(time.Millisecond)
	}
	write(t, conn, ask("2", "q"))
	if got := read(t, conn); got != `{"id":"2","error":{"type":"error","message":"the server is shutting down"},"complete":true}` {
		t.Error(got)
	}
	close(release)
	if got := read(t, conn); !strings.Contains(got, `"id":"1","response"`) {
		t.Error(got)
	}
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	late := dial(t, url, "")
	if _, _, err := late.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Error(err)
	}
}

// T38: whatever frames come, the socket answers each or closes.
func FuzzFrame(f *testing.F) {
	for _, text := range []string{ask("1", "q"), `{"type":"auth","token":"x"}`, `{"id":1,"service":"agent","request":{"question":"q","plan":"{}"}}`, `{"id":[]}`} {
		f.Add([]byte(text))
	}
	g := &Gateway{Agent: echo, Authenticate: authenticate}
	server := httptest.NewServer(g)
	f.Cleanup(server.Close)
	f.Fuzz(func(t *testing.T, text []byte) {
		conn := dial(t, server.URL, "tg_ana")
		if conn.Write(t.Context(), websocket.MessageText, text) != nil {
			return
		}
		if got := read(t, conn); !strings.Contains(got, `"complete":true`) && !strings.Contains(got, `"auth-`) {
			t.Fatalf("%s: %s", text, got)
		}
	})
}

// G20: a token that is taken back is nobody's for the next question of a socket, and in the middle of an
// answer; one that cannot be looked up is told as that.
func TestATokenIsTakenBackWhileItAsks(t *testing.T) {
	t.Parallel()
	var is atomic.Pointer[error]
	is.Store(new(error))
	taken, unasked := errors.New("taken back"), ErrUnasked
	var asked atomic.Int64
	agent := AskFunc(func(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
		asked.Add(1)
		_ = tell(Message{Type: Thought, Content: "hm", EndOfMessage: true})
		if r.Question == "slowly" {
			is.Store(&taken)
		}
		_ = tell(Message{Type: Thought, Content: "a secret", EndOfMessage: true})
		return echo(ctx, who, r, tell)
	})
	conn := dial(t, serve(t, &Gateway{Agent: agent, Fresh: 1, Authenticate: func(context.Context, string) (Caller, error) {
		return Caller{Name: "ana"}, *is.Load()
	}}), "token")
	write(t, conn, ask("1", "slowly"))
	for _, want := range []string{`"content":"hm"`, `"auth-required"`} {
		if got := read(t, conn); !strings.Contains(got, want) || strings.Contains(got, "secret") {
			t.Errorf("%s, want %s", got, want)
		}
	}
	write(t, conn, ask("2", "q"))
	if got := read(t, conn); !strings.Contains(got, `"auth-required"`) {
		t.Error(got)
	}
	is.Store(&unasked)
	write(t, conn, ask("3", "q"))
	if got := read(t, conn); !strings.Contains(got, `"not-now"`) {
		t.Error(got)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the agent was asked %d times", n)
	}
	is.Store(new(error))
	write(t, conn, ask("4", "q"))
	if got := read(t, conn); !strings.Contains(got, `"content":"hm"`) {
		t.Error(got)
	}
}
