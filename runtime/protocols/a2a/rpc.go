package a2a

import (
	"bytes"
	"context"
	"encoding/json"
)

// The binding JSONRPC: one URL, to which every call is posted.

const jsonType, streamType = "application/json", "text/event-stream"

// methods are the methods of JSON-RPC, with their parameters.
var methods = map[string]func() checker{
	"SendMessage":                      func() checker { return &SendMessageRequest{} },
	"SendStreamingMessage":             func() checker { return &SendMessageRequest{stream: true} },
	"GetTask":                          func() checker { return &GetTaskRequest{} },
	"ListTasks":                        func() checker { return &ListTasksRequest{} },
	"CancelTask":                       func() checker { return &CancelTaskRequest{} },
	"SubscribeToTask":                  func() checker { return &SubscribeToTaskRequest{} },
	"GetExtendedAgentCard":             func() checker { return &GetExtendedAgentCardRequest{} },
	"CreateTaskPushNotificationConfig": func() checker { return &PushConfig{} },
	"GetTaskPushNotificationConfig":    func() checker { return &getPushRequest{} },
	"ListTaskPushNotificationConfigs":  func() checker { return &listPushRequest{} },
	"DeleteTaskPushNotificationConfig": func() checker { return &dropPushRequest{} },
}

// A frame is a request of JSON-RPC 2.0.
type frame struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// RPC answers a JSON-RPC call. An error about the request itself is an answer with status 200.
func (d *Door) RPC(ctx context.Context, c Call) Answer {
	f, err := framed(c.Body)
	if err != nil {
		return f.failed(err)
	}
	if err := d.checks(&c); err != nil {
		return f.failed(err)
	}
	wants := methods[f.Method]
	if wants == nil {
		return f.failed(failed(MethodNotFound, "version "+Version+" has no method of that name"))
	}
	request := wants()
	if err := decode(f.Params, request); err != nil {
		return f.failed(err)
	}
	if err := request.check(); err != nil {
		return f.failed(err)
	}
	result, after, failure := d.perform(ctx, request)
	switch {
	case failure != nil:
		return f.failed(asError(failure))
	case after == nil:
		return Answer{Status: 200, Type: jsonType, Body: f.response("result", result)}
	}
	return Answer{Status: 200, Type: streamType, Follow: func(ctx context.Context, send func(string, []byte) error) {
		err := after(ctx, func(e *StreamResponse) error { return send("", f.response("result", e)) })
		if e, ok := err.(*Error); ok {
			_ = send("error", f.response("error", e.rpc())) // fails if the client has gone away
		}
	}}
}

// framed reads the frame of a request. It is not nil, so that an error finds its id there.
func framed(body []byte) (*frame, *Error) {
	f := &frame{}
	if err := wellFormed(body); err != nil {
		return f, failed(ParseError, "the body cannot be read: "+err.Error())
	}
	if bytes.TrimSpace(body)[0] == '[' {
		return f, failed(InvalidRequest, "calls are sent one by one, and not in batches")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		return &frame{}, failed(InvalidRequest, "a request has jsonrpc, id, method and params")
	}
	id := bytes.TrimSpace(f.ID)
	if len(id) == 0 || len(id) > maxID || id[0] != '"' && len(bytes.Trim(id, "-0123456789")) > 0 {
		f.ID = nil
		return f, failed(InvalidRequest, "id is text or a whole number")
	}
	switch {
	case f.JSONRPC != "2.0":
		return f, failed(InvalidRequest, `jsonrpc is "2.0"`)
	case f.Method == "":
		return f, failed(InvalidRequest, "method is missing")
	}
	return f, nil
}

// response makes a response with a result or an error.
func (f *frame) response(member string, value any) []byte {
	id := f.ID
	if id == nil {
		id = json.RawMessage("null")
	}
	return written(map[string]any{"jsonrpc": "2.0", "id": id, member: value})
}

func (f *frame) failed(err *Error) Answer {
	status := 200
	if err.Status != 0 {
		status = err.Status
	}
	return Answer{Status: status, Type: jsonType, Body: f.response("error", err.rpc())}
}

// Refused returns the answer to a call that was refused before it was read: because of its caller
// or its size, or because the server is busy. rpc says which binding it came by.
func Refused(rpc bool, err *Error) Answer {
	if rpc {
		return (&frame{}).failed(err)
	}
	return refused(err)
}
