package a2a

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits that are checked before a request is decoded.
const (
	maxDepth  = 64
	maxParts  = 100
	maxID     = 200 // of a peer's own ids, in bytes
	maxPage   = 100 // of tasks
	usualPage = 50
)

// wellFormed refuses text that is not JSON, that is nested too deeply, or that repeats a member: two
// readers may understand a repeated member differently.
func wellFormed(text []byte) error {
	if !utf8.Valid(text) {
		return fmt.Errorf("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct {
		members map[string]bool // nil of a list
		key     bool            // the next token is a key
		theirs  bool            // its members are the peer's to name
	}
	var open []level
	theirs := false // the value that comes is of the peer's own making
	for {
		token, err := d.Token()
		if err == io.EOF && len(open) == 0 {
			return fmt.Errorf("it is empty")
		}
		if err != nil {
			return fmt.Errorf("it is no JSON")
		}
		value := true
		switch token := token.(type) {
		case json.Delim:
			switch token {
			case '{', '[':
				if len(open) == maxDepth {
					return fmt.Errorf("it is nested more than %d deep", maxDepth)
				}
				l := level{theirs: theirs || len(open) > 0 && open[len(open)-1].theirs}
				if token == '{' {
					l.members, l.key = map[string]bool{}, true
				}
				open = append(open, l)
				value = false
			default:
				open = open[:len(open)-1]
			}
		case string:
			if top := len(open) - 1; top >= 0 && open[top].members != nil && open[top].key {
				name := token
				if !open[top].theirs { // whose members are read whatever their capitals
					name = strings.ToLower(name)
				}
				if open[top].members[name] {
					return fmt.Errorf("it has the member %q twice", token)
				}
				open[top].members[name], open[top].key, value = true, false, false
				theirs = name == "data" || name == "metadata"
			}
		}
		if !value {
			continue
		}
		if top := len(open) - 1; top >= 0 {
			open[top].key = open[top].members != nil
			continue
		}
		if _, err := d.Token(); err != io.EOF {
			return fmt.Errorf("something follows it")
		}
		return nil
	}
}

// decode reads a well-formed text strictly.
func decode(text []byte, into any) *Error {
	if text = bytes.TrimSpace(text); len(text) == 0 || string(text) == "null" {
		text = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if text[0] != '{' {
			return failed(InvalidParams, "the parameters are an object")
		}
		return nil
	}
	if kind, ok := err.(*json.UnmarshalTypeError); ok {
		if kind.Field == "" {
			return failed(InvalidParams, "the parameters are an object")
		}
		return failed(InvalidParams, kind.Field+" has a value of another type")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return failed(InvalidParams, "there is no member "+name+" in version "+Version)
	}
	return failed(InvalidParams, "the parameters cannot be read")
}

// A checker refuses a request that means nothing.
type checker interface{ check() *Error }

// known refuses a tenant: there is one.
func known(tenant string) *Error {
	if tenant != "" {
		return failed(InvalidParams, "this agent has no tenants")
	}
	return nil
}

func (r *SendMessageRequest) check() *Error {
	if r.Message == nil {
		return failed(InvalidParams, "message is missing")
	}
	if r.Configuration.HistoryLength != nil && *r.Configuration.HistoryLength < 0 {
		return failed(InvalidParams, "configuration.historyLength is less than nothing")
	}
	if c := r.Configuration.Push; c != nil {
		if c.TaskID != "" && c.TaskID != r.Message.TaskID {
			return failed(InvalidParams, "taskPushNotificationConfig.taskId is another task's than the message's")
		}
		if err := c.complete(); err != nil {
			return err
		}
	}
	if err := known(r.Tenant); err != nil {
		return err
	}
	return r.Message.check()
}

func (m *Message) check() *Error {
	switch {
	case m.MessageID == "" || len(m.MessageID) > maxID || len(m.ContextID) > maxID || len(m.TaskID) > maxID:
		return failed(InvalidParams, fmt.Sprintf("message.messageId is missing, or an id is longer than %d bytes", maxID))
	case m.Role != User:
		return failed(InvalidParams, "message.role is "+string(User)+" of what is sent to an agent")
	case len(m.Parts) == 0 || len(m.Parts) > maxParts:
		return failed(InvalidParams, fmt.Sprintf("message.parts are 1 to %d", maxParts))
	case !isObject(m.Metadata):
		return failed(InvalidParams, "message.metadata is an object")
	}
	for i := range m.Parts {
		if why := m.Parts[i].wrong(); why != "" {
			return failed(InvalidParams, fmt.Sprintf("message.parts[%d] %s", i, why))
		}
	}
	return nil
}

// wrong says why a part is invalid; "" if it is valid.
func (p *Part) wrong() string {
	n := 0
	for _, has := range [...]bool{p.Text != nil, p.Raw != nil, p.URL != nil, p.Data != nil} {
		if has {
			n++
		}
	}
	if n != 1 {
		return "has exactly one of text, raw, url and data"
	}
	if p.Raw != nil {
		if _, err := base64.StdEncoding.DecodeString(*p.Raw); err != nil {
			return "has raw bytes that are no base64"
		}
	}
	if !isObject(p.Metadata) {
		return "has metadata that are no object"
	}
	return ""
}

func isObject(text json.RawMessage) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || text[0] == '{' || string(text) == "null"
}

// names refuses an id that no task has.
func names(tenant, id string, history *int) *Error {
	switch {
	case id == "":
		return failed(InvalidParams, "id is missing")
	case len(id) > maxID:
		return failed(TaskNotFound, "there is no such task")
	case history != nil && *history < 0:
		return failed(InvalidParams, "historyLength is less than nothing")
	}
	return known(tenant)
}

func (r *GetTaskRequest) check() *Error              { return names(r.Tenant, r.ID, r.HistoryLength) }
func (r *CancelTaskRequest) check() *Error           { return names(r.Tenant, r.ID, nil) }
func (r *SubscribeToTaskRequest) check() *Error      { return names(r.Tenant, r.ID, nil) }
func (r *GetExtendedAgentCardRequest) check() *Error { return known(r.Tenant) }

func (r *ListTasksRequest) check() *Error {
	size := usualPage
	if r.PageSize != nil {
		size = *r.PageSize
	}
	_, err := r.After()
	switch {
	case size < 1 || size > maxPage:
		return failed(InvalidParams, fmt.Sprintf("pageSize is 1 to %d", maxPage))
	case r.HistoryLength != nil && *r.HistoryLength < 0:
		return failed(InvalidParams, "historyLength is less than nothing")
	case r.Status != "" && r.Status != "TASK_STATE_UNSPECIFIED" && !r.Status.is():
		return failed(InvalidParams, "status is none of the states of a task")
	case err != nil:
		return failed(InvalidParams, "statusTimestampAfter is no instant: 2026-01-31T09:30:00Z")
	case len(r.PageToken) > maxID:
		return failed(InvalidParams, "pageToken is none that this agent gave")
	}
	if r.PageSize = &size; r.Status == "TASK_STATE_UNSPECIFIED" {
		r.Status = ""
	}
	return known(r.Tenant)
}

// After returns the time since which tasks are listed by their status; the zero time means no limit.
func (r *ListTasksRequest) After() (time.Time, error) {
	if r.StatusTimestampAfter == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339Nano, r.StatusTimestampAfter)
}

func (s State) is() bool {
	return slices.Contains(states, s)
}

func (c *PushConfig) check() *Error {
	if err := names(c.Tenant, c.TaskID, nil); err != nil {
		return err
	}
	return c.complete()
}

// complete refuses a configuration by which nobody could be notified.
func (c *PushConfig) complete() *Error {
	switch {
	case c.URL == "" || len(c.URL) > 2000:
		return failed(InvalidParams, "url is missing, or longer than 2 000 bytes")
	case !isID(c.ID):
		return failed(InvalidParams, "id is letters, digits, dots, dashes and underscores, at most 64")
	case !isHeader(c.Token) || c.Authentication != nil && (c.Authentication.Scheme == "" || !isHeader(c.Authentication.Scheme+c.Authentication.Credentials)):
		return failed(InvalidParams, "token and authentication are sent in a header, and hold what a header cannot")
	}
	return nil
}

func isID(text string) bool {
	return len(text) <= 64 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == "" && text != "." && text != ".."
}

func isHeader(text string) bool {
	return len(text) <= 4000 && strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

func (r *getPushRequest) check() *Error  { return names(r.Tenant, r.TaskID, nil) }
func (r *dropPushRequest) check() *Error { return names(r.Tenant, r.TaskID, nil) }
func (r *listPushRequest) check() *Error { return names(r.Tenant, r.TaskID, nil) }
