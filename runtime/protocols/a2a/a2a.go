// Package a2a speaks A2A 1.0, the protocol by which agents of different companies give one
// another tasks: its messages, their framing, and its errors. It knows no server and no engine.
// A server hands over a Call as it arrived and sends the Answer; an Agent has the tasks.
//
//	door := &a2a.Door{Agent: agent, Wait: 30 * time.Second}
//	answer := mcp.RPC(ctx, a2a.Call{Version: header.Get("A2A-Version"), Type: header.Get("Content-Type"), Body: body})
//
// A Client is the other side: it gives a task to a foreign agent, and waits for the result.
//
//	answer, err := client.Do(ctx, &a2a.Message{MessageID: id, Role: a2a.User, Parts: parts})
//
// Both bindings without a framing of their own are here: JSON-RPC 2.0 and HTTP+JSON. Requests of a
// peer are read strictly: an unknown member or a repeated one is an error that names it.
package a2a

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Version is the version of the protocol, as in the header A2A-Version.
const Version = "1.0"

// An Agent has tasks. It acts for one caller and knows only their tasks: a task of somebody else
// gets the same answer as one that does not exist. Its errors are *Error.
type Agent interface {
	// Card returns the agent's description of itself: for anybody or, extended, for the caller. It
	// is nil if there is no extended one.
	Card(ctx context.Context, extended bool) (*AgentCard, error)
	// Send carries out a message, and does not wait for the result. A repeated messageId gets the
	// same task and takes effect once.
	Send(ctx context.Context, r *SendMessageRequest) (*SendMessageResponse, error)
	// Task returns a task in its present state, with the last messages of its history: all if the
	// number is negative.
	Task(ctx context.Context, id string, history int) (*Task, error)
	List(ctx context.Context, r *ListTasksRequest) (*ListTasksResponse, error)
	Cancel(ctx context.Context, r *CancelTaskRequest) (*Task, error)
	// Watch calls tell whenever a task differs from was, until tell returns false or ctx ends.
	Watch(ctx context.Context, was *Task, tell func(*Task) (more bool)) error
	SetPush(ctx context.Context, c *PushConfig) (*PushConfig, error)
	Push(ctx context.Context, task, id string) (*PushConfig, error)
	Pushes(ctx context.Context, task string) ([]PushConfig, error)
	DropPush(ctx context.Context, task, id string) error
}

// A Door receives the calls of one peer.
type Door struct {
	Agent Agent
	// Wait is how long a message that does not ask for an immediate answer waits for its task to
	// end or to pause. Then the answer is the task in its present state.
	Wait time.Duration
	// Modes are the media types of the agent's answers.
	Modes []string
}

// A Call is a request as it arrived.
type Call struct {
	Version string // the header A2A-Version
	Type    string // the header Content-Type
	Body    []byte
	// Of HTTP+JSON: the method, the path behind the URL of the interface, and the query.
	Method, Path string
	Query        map[string][]string
}

// An Answer is the HTTP response to a Call.
type Answer struct {
	Status int    // of HTTP
	Type   string // the header Content-Type; "" without a body
	Body   []byte
	// Follow, for a stream, sends events until there are no more; nil if the answer is Body. Only an
	// error event has a name.
	Follow func(ctx context.Context, send func(name string, data []byte) error)
}

// checks refuses a call because of its headers.
func (d *Door) checks(c *Call) *Error {
	switch {
	case c.Version != Version && c.Version == "":
		return failed(VersionNotSupported, "the header A2A-Version is missing, which means 0.3; this agent speaks "+Version)
	case c.Version != Version:
		return failed(VersionNotSupported, "this agent speaks version "+Version+" of A2A")
	}
	if kind, _, _ := strings.Cut(c.Type, ";"); len(c.Body) > 0 && !slices.Contains([]string{"application/json", "application/a2a+json"}, strings.ToLower(strings.TrimSpace(kind))) {
		return failed(ContentTypeNotSupported, "the Content-Type is application/a2a+json or application/json")
	}
	return nil
}

// A follow sends the events of a stream.
type follow func(ctx context.Context, send func(*StreamResponse) error) error

// perform carries out a request: it returns a result, or a function that streams the events.
func (d *Door) perform(ctx context.Context, request any) (result any, after follow, err error) {
	switch r := request.(type) {
	case *SendMessageRequest:
		return d.send(ctx, r)
	case *GetTaskRequest:
		result, err = d.Agent.Task(ctx, r.ID, length(r.HistoryLength))
	case *ListTasksRequest:
		result, err = d.Agent.List(ctx, r)
	case *CancelTaskRequest:
		result, err = d.Agent.Cancel(ctx, r)
	case *SubscribeToTaskRequest:
		task, err := d.Agent.Task(ctx, r.ID, 0)
		if err != nil {
			return nil, nil, err
		}
		if task.Status.State.Ended() {
			return nil, nil, failed(UnsupportedOperation, "the task has ended, and nothing becomes of it any more")
		}
		return nil, d.follows(task), nil
	case *GetExtendedAgentCardRequest:
		card, err := d.Agent.Card(ctx, true)
		if err == nil && card == nil {
			err = failed(ExtendedCardNotConfigured, "this agent says no more of itself than its card does")
		}
		return card, nil, err
	case *PushConfig:
		result, err = d.Agent.SetPush(ctx, r)
	case *getPushRequest:
		result, err = d.Agent.Push(ctx, r.TaskID, r.ID)
	case *listPushRequest:
		configs, err := d.Agent.Pushes(ctx, r.TaskID)
		return &pushConfigs{Configs: configs}, nil, err
	case *dropPushRequest:
		return struct{}{}, nil, d.Agent.DropPush(ctx, r.TaskID, r.ID)
	}
	return result, nil, err
}

// send hands a message to the agent, and waits for the result if the sender does.
func (d *Door) send(ctx context.Context, r *SendMessageRequest) (any, follow, error) {
	if modes := r.Configuration.AcceptedOutputModes; len(modes) > 0 && !slices.ContainsFunc(modes, d.gives) {
		return nil, nil, failed(ContentTypeNotSupported, "this agent answers with "+strings.Join(d.Modes, " and "))
	}
	answer, err := d.Agent.Send(ctx, r)
	switch {
	case err != nil:
		return nil, nil, err
	case answer == nil || (answer.Task == nil) == (answer.Message == nil):
		return nil, nil, failed(InvalidAgentResponse, "the agent answered with neither a task nor a message")
	case r.stream && answer.Message != nil:
		return nil, func(_ context.Context, send func(*StreamResponse) error) error {
			return send(&StreamResponse{Message: answer.Message})
		}, nil
	case r.stream:
		return nil, d.follows(answer.Task), nil
	}
	if t := answer.Task; t != nil && !r.Configuration.ReturnImmediately && !t.Status.State.rests() && d.Wait > 0 {
		waits, stop := context.WithTimeout(ctx, d.Wait)
		defer stop()
		err := d.Agent.Watch(waits, t, func(now *Task) bool {
			now.History = t.History
			answer = &SendMessageResponse{Task: now}
			return !now.Status.State.rests()
		})
		if err != nil && waits.Err() == nil {
			return nil, nil, err
		}
	}
	return answer, nil, nil
}

// gives reports whether the agent answers with a media type, which may be a range.
func (d *Door) gives(accepted string) bool {
	kind, _, _ := strings.Cut(accepted, ";")
	whole, sub, _ := strings.Cut(strings.ToLower(strings.TrimSpace(kind)), "/")
	return slices.ContainsFunc(d.Modes, func(mode string) bool {
		w, s, _ := strings.Cut(mode, "/")
		return (whole == "*" || whole == w) && (sub == "*" || sub == s)
	})
}

// follows streams a task and its changes until it ends or pauses.
func (d *Door) follows(t *Task) follow {
	return func(ctx context.Context, send func(*StreamResponse) error) error {
		if err := send(&StreamResponse{Task: t}); err != nil || t.Status.State.rests() {
			return err
		}
		was := t
		var gone error
		err := d.Agent.Watch(ctx, t, func(now *Task) bool {
			for _, e := range Changes(was, now) {
				if gone = send(&e); gone != nil {
					return false
				}
			}
			was = now
			return !now.Status.State.rests()
		})
		if gone != nil {
			return gone
		}
		return err
	}
}

// length converts a history length for an Agent.
func length(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}
