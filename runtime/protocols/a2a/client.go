package a2a

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The client side: this program gives tasks to a foreign agent. The agent's answers are untrusted:
// they are bounded, an answer to another question or about another task is an error, and unknown
// members, which a later version may have, are ignored.

// CardPath is the path of an agent's card, after its address.
const CardPath = "/.well-known/agent-card.json"

// A Card is the part of a foreign agent's card that this program reads.
type Card struct {
	Name         string           `json:"name"`
	Description  string           `json:"description"`
	Interfaces   []AgentInterface `json:"supportedInterfaces"`
	Capabilities struct {
		Streaming  bool `json:"streaming"`
		Extensions []struct {
			URI      string `json:"uri"`
			Required bool   `json:"required"`
		} `json:"extensions"`
	} `json:"capabilities"`
	InputModes []string          `json:"defaultInputModes"`
	Skills     []json.RawMessage `json:"skills"` // each an AgentSkill, word for word
}

// Interface returns the first interface of the card that a Client speaks.
func (c *Card) Interface() (AgentInterface, error) {
	for _, e := range c.Capabilities.Extensions {
		if e.Required {
			return AgentInterface{}, fmt.Errorf("it requires the extension %q, which is not spoken here", clipped(e.URI))
		}
	}
	var others []string
	for _, i := range c.Interfaces {
		if i.ProtocolVersion == Version && (i.ProtocolBinding == bindingRPC || i.ProtocolBinding == bindingREST) {
			return i, nil
		}
		others = append(others, clipped(i.ProtocolBinding+" "+i.ProtocolVersion))
	}
	return AgentInterface{}, fmt.Errorf("it does not speak A2A %s by %s or %s; its card has the interfaces %q", Version, bindingRPC, bindingREST, others)
}

const bindingRPC, bindingREST = "JSONRPC", "HTTP+JSON"

// clipped shortens foreign text for an error.
func clipped(text string) string { return strings.ToValidUTF8(text[:min(len(text), 300)], "") }

// A Client gives tasks to one agent. It keeps nothing between calls, and is safe for use by many
// goroutines.
type Client struct {
	HTTP    *http.Client // its transport decides which hosts may be reached, and with which credentials
	At      AgentInterface
	Streams bool // the agent streams the changes of tasks
	Limit   int  // of each answer, in bytes
}

// ReadCard reads the card of the agent at an address.
func (c *Client) ReadCard(ctx context.Context, address string) (*Card, error) {
	resp, err := c.send(ctx, http.MethodGet, strings.TrimRight(address, "/")+CardPath, jsonType, nil)
	if err != nil {
		return nil, err
	}
	body, err := c.read(resp)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answered %s with status %d", CardPath, resp.StatusCode)
	}
	if err != nil {
		return nil, err
	}
	var card Card
	return &card, understand(body, &card)
}

// cancelTime is how long an agent has to cancel a task that nobody waits for any more.
const cancelTime = time.Second

// Do gives a message to the agent and waits until its task ends or waits for somebody, or ctx ends.
// A task that did not end by itself is canceled: Do returns the task in its waiting state if the
// agent confirms the cancelation, and an error otherwise. An *Error is the agent's own.
func (c *Client) Do(ctx context.Context, m *Message) (*SendMessageResponse, error) {
	// The answer is wanted at once, however long the task takes: a task without a known id cannot
	// be canceled.
	none := 0
	answer := &SendMessageResponse{}
	err := c.call(ctx, "SendMessage", "", &SendMessageRequest{Tenant: c.At.Tenant, Message: m, Configuration: Configuration{ReturnImmediately: true, HistoryLength: &none}}, answer)
	switch {
	case err != nil:
		return nil, err
	case (answer.Task == nil) == (answer.Message == nil):
		return nil, fmt.Errorf("it answered with neither a task nor a message")
	case answer.Message != nil:
		return answer, nil
	case answer.Task.ID == "" || len(answer.Task.ID) > maxTheirID:
		return nil, fmt.Errorf("its task has no id that could be asked for")
	}
	id := answer.Task.ID
	t, err := c.await(ctx, answer.Task)
	if err == nil && t.Status.State.Ended() {
		return &SendMessageResponse{Task: t}, nil
	}
	if e, ok := err.(*Error); ok { // no refusal of the message, which was taken
		err = fmt.Errorf("it began a task, and then said: %q", e.Text)
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	gone := &Task{}
	if failed := c.call(last, "CancelTask", id, &CancelTaskRequest{Tenant: c.At.Tenant, ID: id}, gone); err == nil && (failed != nil || gone.Status.State != Canceled) {
		err = fmt.Errorf("it waits for somebody (%s), and could not be canceled", t.Status.State)
	}
	return &SendMessageResponse{Task: t}, err
}

// maxTheirID is the greatest length of an agent's id.
const maxTheirID = 1000

// How often a task without a stream is polled.
const (
	firstLook = 50 * time.Millisecond
	lastLook  = 2 * time.Second
)

// await follows a task until it does not change any more. An agent that cannot be reached may come
// back: it is asked again until ctx ends.
func (c *Client) await(ctx context.Context, t *Task) (*Task, error) {
	id := t.ID
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		if !t.Status.State.is() {
			return t, fmt.Errorf("its task is in no state that the protocol has")
		}
		if t.Status.State.rests() {
			return t, nil
		}
		rested, err := false, error(nil)
		if c.Streams {
			if rested, err = c.follow(ctx, id); err != nil {
				return t, err
			}
		}
		if !rested {
			pause := time.NewTimer(wait)
			select {
			case <-ctx.Done():
				pause.Stop()
				return t, ctx.Err()
			case <-pause.C:
			}
		}
		none := 0
		now := &Task{}
		switch err := c.call(ctx, "GetTask", id, &GetTaskRequest{Tenant: c.At.Tenant, ID: id, HistoryLength: &none}, now); {
		case err == nil && now.ID != id:
			return t, fmt.Errorf("it answered with another task than was asked for")
		case err == nil:
			t = now
		case ctx.Err() != nil:
			return t, ctx.Err()
		case !away(err):
			return t, err
		}
	}
}

// follow listens to what becomes of a task, and reports whether it came to rest. Only what
// proves that the agent lies is an error: for all else there is GetTask.
func (c *Client) follow(ctx context.Context, id string) (rested bool, err error) {
	resp, err := c.request(ctx, "SubscribeToTask", id, &SubscribeToTaskRequest{Tenant: c.At.Tenant, ID: id})
	if err != nil {
		return false, nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), streamType) {
		return false, nil
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, c.Limit)
	var data []byte
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
			if data = append(data, text...); len(data) > c.Limit {
				return false, nil
			}
			continue
		}
		if lines.Text() != "" || len(data) == 0 {
			continue
		}
		var e StreamResponse
		if c.open(data, nil, &e) != nil {
			return false, nil
		}
		data = data[:0]
		var about string
		var state State
		switch {
		case e.Task != nil:
			about, state = e.Task.ID, e.Task.Status.State
		case e.StatusUpdate != nil:
			about, state = e.StatusUpdate.TaskID, e.StatusUpdate.Status.State
		case e.ArtifactUpdate != nil:
			about = e.ArtifactUpdate.TaskID
		default:
			continue
		}
		if about != id {
			return false, fmt.Errorf("it tells of another task than was asked about")
		}
		if state.rests() {
			return true, nil
		}
	}
	return false, nil
}

// call asks the agent for something, once.
func (c *Client) call(ctx context.Context, method, id string, params, into any) error {
	resp, err := c.request(ctx, method, id, params)
	if err != nil {
		return err
	}
	body, err := c.read(resp)
	if err != nil {
		return err
	}
	return c.open(body, resp, into)
}

// ways are the HTTP methods and paths of HTTP+JSON, with {id} for the id of a task.
var ways = map[string][2]string{
	"SendMessage":     {http.MethodPost, "/message:send"},
	"GetTask":         {http.MethodGet, "/tasks/{id}?historyLength=0"},
	"CancelTask":      {http.MethodPost, "/tasks/{id}:cancel"},
	"SubscribeToTask": {http.MethodGet, "/tasks/{id}:subscribe"},
}

// callID is the id of each JSON-RPC request: a connection has one request.
const callID = `"1"`

func (c *Client) request(ctx context.Context, method, id string, params any) (*http.Response, error) {
	if c.At.ProtocolBinding == bindingREST {
		at := strings.TrimRight(c.At.URL, "/")
		if c.At.Tenant != "" {
			at += "/" + url.PathEscape(c.At.Tenant)
		}
		way := ways[method]
		var body []byte
		if way[0] == http.MethodPost {
			body = written(params)
		}
		return c.send(ctx, way[0], at+strings.Replace(way[1], "{id}", url.PathEscape(id), 1), restType, body)
	}
	return c.send(ctx, http.MethodPost, c.At.URL, jsonType, written(frame{JSONRPC: "2.0", ID: json.RawMessage(callID), Method: method, Params: written(params)}))
}

func (c *Client) send(ctx context.Context, method, at, kind string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("it names an address that is none")
	}
	r.Header.Set("A2A-Version", Version)
	r.Header.Set("Accept", kind+", "+jsonType+", "+streamType)
	if len(body) > 0 {
		r.Header.Set("Content-Type", kind)
	}
	return c.HTTP.Do(r)
}

func (c *Client) read(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(c.Limit)+1))
	if err == nil && len(body) > c.Limit {
		err = fmt.Errorf("it answered with more than %d bytes", c.Limit)
	}
	return body, err
}

// open takes an answer out of its frame. resp is nil of an event.
func (c *Client) open(body []byte, resp *http.Response, into any) error {
	if resp != nil && slices.Contains(closed, resp.StatusCode) {
		return &Error{Code: InvalidRequest, Status: resp.StatusCode, Text: fmt.Sprintf("it answered with status %d", resp.StatusCode)}
	}
	if c.At.ProtocolBinding == bindingREST {
		if resp == nil || resp.StatusCode/100 == 2 {
			return understand(body, into)
		}
		var said struct {
			Error struct {
				Message string
				Details []struct{ Reason string }
			}
		}
		if err := understand(body, &said); err != nil {
			return &Error{Code: Internal, Status: resp.StatusCode, Text: fmt.Sprintf("it answered with status %d", resp.StatusCode)}
		}
		e := &Error{Code: Internal, Status: resp.StatusCode, Text: clipped(said.Error.Message)}
		for code, known := range errors {
			if len(said.Error.Details) > 0 && known.reason == said.Error.Details[0].Reason {
				e.Code = code
			}
		}
		return e
	}
	var f struct {
		JSONRPC string
		ID      json.RawMessage
		Result  json.RawMessage
		Error   *struct {
			Code    Code
			Message string
		}
	}
	err := understand(body, &f)
	switch {
	case err != nil && resp != nil && resp.StatusCode/100 != 2:
		return &Error{Code: Internal, Status: resp.StatusCode, Text: fmt.Sprintf("it answered with status %d", resp.StatusCode)}
	case err != nil:
		return err
	case f.Error != nil:
		return &Error{Code: f.Error.Code, Text: clipped(f.Error.Message)}
	case f.JSONRPC != "2.0" || string(f.ID) != callID:
		return fmt.Errorf("it answered another question than it was asked")
	case len(f.Result) == 0:
		return fmt.Errorf("it answered with neither a result nor an error")
	}
	return understand(f.Result, into)
}

// closed are the HTTP statuses of requests that were refused before they were read.
var closed = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests}

// Begun reports whether an agent may have begun a task although it answered with this error.
func (e *Error) Begun() bool {
	return e.Status/100 == 5 || e.Code == Internal || e.Code == InvalidAgentResponse || errors[e.Code].reason == ""
}

// Closed reports whether the error comes from the server, before the agent behind it.
func (e *Error) Closed() bool { return slices.Contains(closed, e.Status) }

// away reports whether an agent cannot be reached at present.
func away(err error) bool {
	if e, ok := err.(*Error); ok {
		return e.Status >= http.StatusBadGateway && e.Status <= http.StatusGatewayTimeout || e.Status == http.StatusTooManyRequests
	}
	for err != nil {
		switch err {
		case io.EOF, io.ErrUnexpectedEOF, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE:
			return true
		}
		inner, ok := err.(interface{ Unwrap() error })
		if !ok {
			return false
		}
		err = inner.Unwrap()
	}
	return false
}

// understand decodes an agent's answer.
func understand(text []byte, into any) error {
	if err := wellFormed(text); err != nil {
		return fmt.Errorf("its answer cannot be read: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("its answer is not what the protocol has")
	}
	return nil
}

// Words returns the texts among parts.
func Words(parts []Part) string {
	var all []string
	for i := range parts {
		if parts[i].Text != nil {
			all = append(all, *parts[i].Text)
		}
	}
	return strings.Join(all, "\n")
}
