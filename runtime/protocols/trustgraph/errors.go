package trustgraph

import (
	"errors"
	"fmt"
)

// An Error is told to the person or program that asked.
type Error struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string { return e.Type + ": " + e.Message }

// The types of errors. The first two say that a question failed; the others refuse it.
const (
	AgentError   = "agent-error"
	GatewayError = "gateway-error"

	BadRequest        = "error"
	AuthRequired      = "auth-required"
	AccessDenied      = "access-denied"
	UnknownService    = "unknown-service"
	WorkspaceNotFound = "workspace-not-found"
	NotNow            = "not-now" // of ours: whether the caller is known could not be found out
)

// refuses reports whether the question was refused, which clients are told in another place
// than that an agent failed.
func (e *Error) refuses() bool {
	switch e.Type {
	case BadRequest, NotNow, AuthRequired, AccessDenied, UnknownService, WorkspaceNotFound:
		return true
	}
	return false
}

// What askers are told.
var (
	errUnasked   = &Error{NotNow, "the token cannot be looked up now; try again in a moment"}
	errAuth      = &Error{AuthRequired, "auth failure"}
	errAccess    = &Error{AccessDenied, "access denied"}
	errKind      = &Error{UnknownService, "unknown kind"}
	errService   = &Error{UnknownService, "unknown service"}
	errFailed    = &Error{AgentError, "the agent failed"}
	errNoAnswer  = &Error{AgentError, "the agent gave no answer"}
	errSilent    = &Error{GatewayError, "the agent did not answer in time"}
	errUnsent    = &Error{AgentError, "the answer could not be sent"}
	errClosing   = &Error{BadRequest, "the server is shutting down"}
	errBinary    = &Error{BadRequest, "a frame is text"}
	errNoID      = &Error{BadRequest, "id is missing: it is a string or a number"}
	errNoRequest = &Error{BadRequest, "request is missing"}
	errTwiceID   = &Error{BadRequest, "a question with this id is being answered"}
	errCut       = &Error{BadRequest, "the request ends too early"}
)

func badRequest(format string, args ...any) *Error {
	return &Error{BadRequest, fmt.Sprintf(format, args...)}
}

func tooLarge(max int64) *Error { return badRequest("the request is larger than %d bytes", max) }

// ErrUnasked is the error of Gateway.Authenticate where it could not find out whose a token is.
var ErrUnasked = errors.New("trustgraph: the token cannot be looked up")

// What agents are told.
var (
	errOver = errors.New("trustgraph: the dialog is over")
	errGone = errors.New("trustgraph: the asker is gone")
)
