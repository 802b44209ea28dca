package a2a

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// An agent whose only task moves on each time that somebody looks.
type mover struct {
	extended *AgentCard
	answer   *SendMessageResponse
	states   []State // that it goes through while it is watched
	fails    error
}

func (m *mover) Card(context.Context, bool) (*AgentCard, error) { return m.extended, nil }
func (m *mover) Send(context.Context, *SendMessageRequest) (*SendMessageResponse, error) {
	return m.answer, m.fails
}
func (m *mover) Task(_ context.Context, id string, history int) (*Task, error) {
	if id != "t" {
		return nil, failed(TaskNotFound, "there is no such task")
	}
	return &Task{ID: id, ContextID: "c", Status: TaskStatus{State: Working}}, nil
}
func (m *mover) List(_ context.Context, r *ListTasksRequest) (*ListTasksResponse, error) {
	return &ListTasksResponse{Tasks: []Task{}, PageSize: *r.PageSize}, nil
}
func (m *mover) Cancel(context.Context, *CancelTaskRequest) (*Task, error) {
	return nil, failed(TaskNotCancelable, "it goes on")
}
func (m *mover) Watch(ctx context.Context, was *Task, tell func(*Task) bool) error {
	for _, s := range m.states {
		now := *was
		now.Status.State = s
		if !tell(&now) {
			return nil
		}
	}
	if m.fails != nil {
		return m.fails
	}
	<-ctx.Done()
	return ctx.Err()
}
func (m *mover) SetPush(_ context.Context, c *PushConfig) (*PushConfig, error) { return c, nil }
func (m *mover) Push(context.Context, string, string) (*PushConfig, error) {
	return &PushConfig{ID: "p"}, nil
}
func (m *mover) Pushes(context.Context, string) ([]PushConfig, error) { return []PushConfig{}, nil }
func (m *mover) DropPush(context.Context, string, string) error       { return nil }

func call(body string) Call {
	return Call{Version: "1.0", Type: "application/json", Body: []byte(body)}
}

func request(method, params string) Call {
	return call(`{"jsonrpc":"2.0","id":"x","method":"` + method + `","params":` + params + `}`)
}

const hello = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`

// codeOf is the code of an answer's error, 0 of one without.
func codeOf(t *testing.T, a Answer) Code {
	t.Helper()
	var doc struct{ Error struct{ Code Code } }
	if err := json.Unmarshal(a.Body, &doc); err != nil {
		t.Fatalf("%s: %v", a.Body, err)
	}
	return doc.Error.Code
}

// What no agent of ours answers is an error all the same, each with its code.
func TestAnAgentThatAnswersWrongly(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	both := &SendMessageResponse{Task: &Task{}, Message: &Message{}}
	for _, c := range []struct {
		door Door
		call Call
		want Code
	}{
		{Door{Agent: &mover{}}, request("SendMessage", hello), InvalidAgentResponse},
		{Door{Agent: &mover{answer: both}}, request("SendMessage", hello), InvalidAgentResponse},
		{Door{Agent: &mover{}}, request("GetExtendedAgentCard", `{}`), ExtendedCardNotConfigured},
		{Door{Agent: &mover{extended: &AgentCard{}}}, request("GetExtendedAgentCard", `null`), 0},
		{Door{Agent: &mover{fails: context.DeadlineExceeded}}, request("SendMessage", hello), Internal},
		{Door{Agent: &mover{}}, request("CancelTask", `{"id":"t"}`), TaskNotCancelable},
		{Door{Agent: &mover{}}, request("GetTask", `{"id":"`+strings.Repeat("x", 300)+`"}`), TaskNotFound},
		{Door{Agent: &mover{}}, request("GetTask", `{"id":"t","tenant":"x"}`), InvalidParams},
		{Door{Agent: &mover{}}, request("GetTask", `{"id":"t","historyLength":-1}`), InvalidParams},
		{Door{Agent: &mover{}}, request("GetTask", `{"id":"t","ID":"u"}`), ParseError},
		{Door{Agent: &mover{answer: &SendMessageResponse{Task: &Task{}}}}, request("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"a":[{"A":1,"a":2}]}}],"metadata":{"x":1,"X":2}}}`), 0},
		{Door{Agent: &mover{}}, request("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"a":{"b":1,"b":2}}}]}}`), ParseError},
		{Door{Agent: &mover{}}, request("ListTasks", `{"pageSize":0}`), InvalidParams},
		{Door{Agent: &mover{}}, request("ListTasks", `{"status":"working"}`), InvalidParams},
		{Door{Agent: &mover{}}, request("ListTasks", `{"statusTimestampAfter":"yesterday"}`), InvalidParams},
		{Door{Agent: &mover{}}, request("ListTasks", `{}`), 0},
		{Door{Agent: &mover{}}, request("CreateTaskPushNotificationConfig", `{"taskId":"t","url":"https://a.example","token":"a\nb"}`), InvalidParams},
		{Door{Agent: &mover{}}, request("CreateTaskPushNotificationConfig", `{"taskId":"t","url":"https://a.example","id":"../x"}`), InvalidParams},
		{Door{Agent: &mover{}}, call(strings.Repeat("[", 100)), ParseError},
		{Door{Agent: &mover{}}, call("{\"jsonrpc\":\"\xff\"}"), ParseError},
		{Door{Agent: &mover{}}, call(``), ParseError},
	} {
		if got := codeOf(t, c.door.RPC(ctx, c.call)); got != c.want {
			t.Errorf("%s: %d, want %d", c.call.Body, got, c.want)
		}
	}
}

// An event says what changed, and the last of a stream why it ends.
func TestAStreamIsFramedByItsBinding(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	working := &SendMessageResponse{Task: &Task{ID: "t", Status: TaskStatus{State: Submitted}}}
	read := func(a Answer) string {
		if a.Follow == nil {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		var b strings.Builder
		a.Follow(ctx, func(name string, data []byte) error {
			b.WriteString(name + " " + string(data) + "\n")
			return nil
		})
		return b.String()
	}
	ends := Door{Agent: &mover{answer: working, states: []State{Working, InputRequired, Completed}}}
	if got, want := read(ends.REST(ctx, Call{Method: "POST", Path: "message:stream", Version: "1.0", Type: "application/json", Body: []byte(hello)})),
		` {"task":{"id":"t","contextId":"","status":{"state":"TASK_STATE_SUBMITTED"}}}
 {"statusUpdate":{"taskId":"t","contextId":"","status":{"state":"TASK_STATE_WORKING"}}}
 {"statusUpdate":{"taskId":"t","contextId":"","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}
`; got != want {
		t.Errorf("it streams\n%swant\n%s", got, want)
	}
	breaks := Door{Agent: &mover{states: []State{Completed}, fails: failed(Internal, "the store is away")}}
	breaks.Agent.(*mover).states = nil
	if got := read(breaks.RPC(ctx, request("SubscribeToTask", `{"id":"t"}`))); !strings.Contains(got, `error {"error":{"code":-32603`) || !strings.Contains(got, `"id":"x"`) {
		t.Errorf("it ends with\n%s", got)
	}
	// Who does not want to be answered at once waits until the task rests, and no longer than
	// the door lets them.
	ends.Wait = time.Second
	if a := ends.RPC(ctx, request("SendMessage", hello)); !strings.Contains(string(a.Body), "INPUT_REQUIRED") {
		t.Errorf("%s", a.Body)
	}
	slow := Door{Agent: &mover{answer: working}, Wait: time.Millisecond}
	if a := slow.RPC(ctx, request("SendMessage", hello)); !strings.Contains(string(a.Body), "SUBMITTED") {
		t.Errorf("%s", a.Body)
	}
}

// A path means one thing, and says the same as its body.
func TestPathsOfHTTP(t *testing.T) {
	t.Parallel()
	d := Door{Agent: &mover{extended: &AgentCard{}}}
	for _, c := range []struct {
		method, path, body string
		query              map[string][]string
		status             int
	}{
		{"GET", "tasks/t", "", nil, 200},
		{"GET", "tasks/t", "", map[string][]string{"historyLength": {"x"}}, 400},
		{"GET", "tasks/u", "", nil, 404},
		{"GET", "tasks", "", map[string][]string{"pageSize": {"3"}, "includeArtifacts": {"true"}}, 200},
		{"GET", "tasks", "", map[string][]string{"includeArtifacts": {"maybe"}}, 400},
		{"POST", "tasks/t:cancel", "", nil, 400},
		{"POST", "tasks/t:cancel", `{"id":"u"}`, nil, 400},
		{"POST", "tasks/t:stop", "", nil, 404},
		{"PUT", "tasks/t", "", nil, 404},
		{"GET", "extendedAgentCard", "", nil, 200},
		{"POST", "tasks/t/pushNotificationConfigs", `{"url":"https://a.example"}`, nil, 201},
		{"POST", "tasks/t/pushNotificationConfigs", `{"url":"https://a.example","taskId":"u"}`, nil, 400},
		{"GET", "tasks/t/pushNotificationConfigs", "", nil, 200},
		{"GET", "tasks/t/pushNotificationConfigs/p", "", nil, 200},
		{"DELETE", "tasks/t/pushNotificationConfigs/p", "", nil, 204},
		{"GET", "tasks/t/pushNotificationConfigs/p/q", "", nil, 404},
		{"POST", "message:send", `{`, nil, 400},
		{"POST", "message:send", `{"message":1}`, nil, 400},
		{"POST", "message:send", ``, nil, 400},
		{"GET", "", "", nil, 404},
	} {
		a := d.REST(context.Background(), Call{Version: "1.0", Type: "application/a2a+json", Method: c.method, Path: c.path, Query: c.query, Body: []byte(c.body)})
		if a.Status != c.status || c.status >= 400 && !strings.Contains(string(a.Body), "google.rpc.ErrorInfo") {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, a.Status, a.Body, c.status)
		}
	}
}

// Whatever comes, a call is answered with one JSON document of the frame, and what is taken
// for a message is one that can be written and read again.
func FuzzRPC(f *testing.F) {
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + hello + `}`, `[]`, `{"jsonrpc":"2.0","id":null}`,
		`{"jsonrpc":"2.0","id":"a","method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"a":[1,{"b":null}]}},{"raw":"AA=="},{"url":"x"}],"metadata":{}},"configuration":{"historyLength":3}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":1e3}}`, `{"id":-0,"jsonrpc":"2.0","method":"GetTask","params":{"id":"t"}}`} {
		f.Add([]byte(body))
	}
	echo := &echoes{}
	f.Fuzz(func(t *testing.T, body []byte) {
		echo.got = nil
		d := Door{Agent: echo}
		a := d.RPC(context.Background(), Call{Version: "1.0", Type: "application/json", Body: body})
		if a.Follow != nil {
			a.Follow(context.Background(), func(_ string, data []byte) error { a.Body = data; return context.Canceled })
		}
		var doc struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  json.RawMessage `json:"result"`
			Error   json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(a.Body, &doc); err != nil || doc.JSONRPC != "2.0" || (doc.Result == nil) == (doc.Error == nil) {
			t.Fatalf("%q is answered %q: %v", body, a.Body, err)
		}
		if echo.got != nil {
			text, err := json.Marshal(echo.got)
			var again Message
			if err != nil || decode(text, &again) != nil || again.check() != nil || !same(&again, echo.got) {
				t.Fatalf("%q is taken for %q: %v", body, text, err)
			}
		}
	})
}

type echoes struct {
	mover
	got *Message
}

func (e *echoes) Send(_ context.Context, r *SendMessageRequest) (*SendMessageResponse, error) {
	e.got = r.Message
	return &SendMessageResponse{Message: r.Message}, nil
}
