package a2a

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
)

// The binding HTTP+JSON: a path for each thing.

const restType = "application/a2a+json"

// REST answers a call of HTTP+JSON.
func (d *Door) REST(ctx context.Context, c Call) Answer {
	request, status, err := c.request()
	if err == nil {
		err = d.checks(&c)
	}
	if err == nil {
		if len(c.Body) > 0 {
			if no := wellFormed(c.Body); no != nil {
				err = failed(ParseError, "the body cannot be read: "+no.Error())
			} else {
				err = c.read(request)
			}
		}
	}
	if err == nil {
		err = request.check()
	}
	if err != nil {
		return refused(err)
	}
	result, after, failure := d.perform(ctx, request)
	switch {
	case failure != nil:
		return refused(asError(failure))
	case after != nil:
		return Answer{Status: 200, Type: streamType, Follow: func(ctx context.Context, send func(string, []byte) error) {
			err := after(ctx, func(e *StreamResponse) error { return send("", written(e)) })
			if e, ok := err.(*Error); ok {
				_ = send("error", e.rest()) // fails if the client has gone away
			}
		}}
	case status == 204:
		return Answer{Status: status}
	}
	return Answer{Status: status, Type: restType, Body: written(result)}
}

func refused(err *Error) Answer {
	return Answer{Status: err.status(), Type: restType, Body: err.rest()}
}

// read reads the body into a request. What the path says stands: the body says the same, or
// nothing.
func (c *Call) read(request checker) *Error {
	switch r := request.(type) {
	case *SendMessageRequest:
		return decode(c.Body, r)
	case *PushConfig:
		task := r.TaskID
		if err := decode(c.Body, r); err != nil {
			return err
		}
		if r.TaskID != "" && r.TaskID != task {
			return failed(InvalidParams, "taskId is another task's than the path's")
		}
		r.TaskID = task
	case *CancelTaskRequest:
		id := r.ID
		if err := decode(c.Body, r); err != nil {
			return err
		}
		if r.ID != id {
			return failed(InvalidParams, "id is another task's than the path's")
		}
	default:
		var nothing struct {
			Tenant string `json:"tenant"`
		}
		return decode(c.Body, &nothing)
	}
	return nil
}

// request finds the request for the method and path of a call, and the status of a successful
// answer.
func (c *Call) request() (checker, int, *Error) {
	parts := strings.Split(strings.TrimPrefix(c.Path, "/"), "/")
	task, verb := "", ""
	if len(parts) > 1 {
		task = parts[1]
		if at := strings.LastIndexByte(task, ':'); at >= 0 && len(parts) == 2 {
			task, verb = task[:at], task[at+1:]
		}
	}
	path := parts[0]
	switch {
	case len(parts) == 2 && path == "tasks":
		path = "tasks/id:" + verb
	case len(parts) > 2 && path == "tasks":
		path = "tasks/id/" + parts[2] + strings.Repeat("/id", len(parts)-3)
	}
	switch c.Method + " " + path {
	case "POST message:send":
		return &SendMessageRequest{}, 200, nil
	case "POST message:stream":
		return &SendMessageRequest{stream: true}, 200, nil
	case "GET extendedAgentCard":
		return &GetExtendedAgentCardRequest{}, 200, nil
	case "GET tasks":
		r, err := c.list()
		return r, 200, err
	case "GET tasks/id:":
		history, err := c.number("historyLength")
		return &GetTaskRequest{ID: task, HistoryLength: history}, 200, err
	case "POST tasks/id:cancel":
		return &CancelTaskRequest{ID: task}, 200, nil
	case "GET tasks/id:subscribe", "POST tasks/id:subscribe":
		return &SubscribeToTaskRequest{ID: task}, 200, nil
	case "POST tasks/id/pushNotificationConfigs":
		return &PushConfig{TaskID: task}, 201, nil
	case "GET tasks/id/pushNotificationConfigs":
		return &listPushRequest{TaskID: task}, 200, nil
	case "GET tasks/id/pushNotificationConfigs/id":
		return &getPushRequest{TaskID: task, ID: parts[3]}, 200, nil
	case "DELETE tasks/id/pushNotificationConfigs/id":
		return &dropPushRequest{TaskID: task, ID: parts[3]}, 204, nil
	}
	return nil, 0, failed(MethodNotFound, "there is nothing at that path, or it is not done by that method")
}

// list reads which tasks a query asks for.
func (c *Call) list() (*ListTasksRequest, *Error) {
	get := func(name string) string {
		if all := c.Query[name]; len(all) > 0 {
			return all[0]
		}
		return ""
	}
	r := &ListTasksRequest{ContextID: get("contextId"), Status: State(get("status")), PageToken: get("pageToken"), StatusTimestampAfter: get("statusTimestampAfter")}
	var err *Error
	if r.PageSize, err = c.number("pageSize"); err != nil {
		return r, err
	}
	if r.HistoryLength, err = c.number("historyLength"); err != nil {
		return r, err
	}
	if text := get("includeArtifacts"); text != "" {
		if json.Unmarshal([]byte(text), &r.IncludeArtifacts) != nil {
			return r, failed(InvalidParams, "includeArtifacts is true or false")
		}
	}
	return r, nil
}

// number returns an integer of the query; nil if it is not given.
func (c *Call) number(name string) (*int, *Error) {
	all := c.Query[name]
	if len(all) == 0 {
		return nil, nil
	}
	n, err := strconv.Atoi(all[0])
	if err != nil || len(all) > 1 {
		return nil, failed(InvalidParams, name+" is a whole number")
	}
	return &n, nil
}
