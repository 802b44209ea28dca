package a2a

import "encoding/json"

// A Code is the code of an error in JSON-RPC.
type Code int

// The codes of JSON-RPC 2.0, and those of A2A.
const (
	ParseError     Code = -32700
	InvalidRequest Code = -32600
	MethodNotFound Code = -32601
	InvalidParams  Code = -32602
	Internal       Code = -32603

	TaskNotFound              Code = -32001
	TaskNotCancelable         Code = -32002
	PushNotSupported          Code = -32003
	UnsupportedOperation      Code = -32004
	ContentTypeNotSupported   Code = -32005
	InvalidAgentResponse      Code = -32006
	ExtendedCardNotConfigured Code = -32007
	ExtensionSupportRequired  Code = -32008
	VersionNotSupported       Code = -32009
)

// errors says what each code is called, and how HTTP+JSON answers it.
var errors = map[Code]struct {
	reason string
	status int
	name   string // of google.rpc.Code
}{
	ParseError:     {"PARSE_ERROR", 400, "INVALID_ARGUMENT"},
	InvalidRequest: {"INVALID_REQUEST", 400, "INVALID_ARGUMENT"},
	MethodNotFound: {"METHOD_NOT_FOUND", 404, "NOT_FOUND"},
	InvalidParams:  {"INVALID_PARAMS", 400, "INVALID_ARGUMENT"},
	Internal:       {"INTERNAL_ERROR", 500, "INTERNAL"},

	TaskNotFound:              {"TASK_NOT_FOUND", 404, "NOT_FOUND"},
	TaskNotCancelable:         {"TASK_NOT_CANCELABLE", 400, "FAILED_PRECONDITION"},
	PushNotSupported:          {"PUSH_NOTIFICATION_NOT_SUPPORTED", 400, "FAILED_PRECONDITION"},
	UnsupportedOperation:      {"UNSUPPORTED_OPERATION", 400, "FAILED_PRECONDITION"},
	ContentTypeNotSupported:   {"CONTENT_TYPE_NOT_SUPPORTED", 400, "INVALID_ARGUMENT"},
	InvalidAgentResponse:      {"INVALID_AGENT_RESPONSE", 500, "INTERNAL"},
	ExtendedCardNotConfigured: {"EXTENDED_AGENT_CARD_NOT_CONFIGURED", 400, "FAILED_PRECONDITION"},
	ExtensionSupportRequired:  {"EXTENSION_SUPPORT_REQUIRED", 400, "FAILED_PRECONDITION"},
	VersionNotSupported:       {"VERSION_NOT_SUPPORTED", 400, "FAILED_PRECONDITION"},
}

// An Error says to a peer why something was not done.
type Error struct {
	Code Code
	Text string
	// Status is an HTTP status that replaces the code's usual one: 503 for a temporary failure, for
	// instance.
	Status int
	// Details are sent with the reason: values that json can encode.
	Details []any
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

func failed(code Code, text string) *Error { return &Error{Code: code, Text: text} }

// asError returns the error for a peer. An error that is not an *Error reveals nothing.
func asError(err error) *Error {
	if e, ok := err.(*Error); ok {
		return e
	}
	return failed(Internal, "the agent failed")
}

// status returns the HTTP status.
func (e *Error) status() int {
	if e.Status != 0 {
		return e.Status
	}
	return errors[e.Code].status
}

// details returns the details of an error, the first of which is google.rpc.ErrorInfo.
func (e *Error) details() []any {
	info := struct {
		Type   string `json:"@type"`
		Reason string `json:"reason"`
		Domain string `json:"domain"`
	}{"type.googleapis.com/google.rpc.ErrorInfo", errors[e.Code].reason, "a2a-protocol.org"}
	return append([]any{info}, e.Details...)
}

// rpc returns the error member of a JSON-RPC response.
func (e *Error) rpc() any {
	return struct {
		Code    Code   `json:"code"`
		Message string `json:"message"`
		Data    []any  `json:"data"`
	}{e.Code, e.Text, e.details()}
}

// rest returns the body of an HTTP+JSON response.
func (e *Error) rest() []byte {
	name := errors[e.Code].name
	switch e.status() {
	case 401:
		name = "UNAUTHENTICATED"
	case 403:
		name = "PERMISSION_DENIED"
	case 413, 429:
		name = "RESOURCE_EXHAUSTED"
	case 503:
		name = "UNAVAILABLE"
	}
	return written(map[string]any{"error": struct {
		Code    int    `json:"code"`
		Status  string `json:"status"`
		Message string `json:"message"`
		Details []any  `json:"details"`
	}{e.status(), name, e.Text, e.details()}})
}

// written encodes a value as JSON.
func written(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return b
}
