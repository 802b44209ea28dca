// Package trustgraph speaks TrustGraph's agent API, so that an agent of ours can replace
// TrustGraph's agent: behind HTTP and WebSocket in the form of TrustGraph's gateway, and behind
// TrustGraph's queues. It knows no engine. An Agent answers the questions, and a function maps
// tokens to callers.
//
//	gateway := &trustgraph.Gateway{Agent: agent, Authenticate: authenticate}
//	http.Handle("/api/v1/", gateway)
//
//	err := trustgraph.Serve(ctx, queue, agent, trustgraph.Service{Caller: caller})
//
// The package reads requests of TrustGraph's clients of any release, and writes the shape of the
// configured release.
package trustgraph

import "context"

// A Caller is the person or program that asks.
type Caller struct {
	Name string
	// Workspace is the only workspace whose questions the caller may ask. "" means "default".
	Workspace string
}

// An Agent answers questions. It must accept several at once.
type Agent interface {
	// Ask answers one question: it sends each message with tell as soon as it has it, and returns
	// after the last one. It returns soon after ctx ends.
	//
	// Thoughts, actions and observations may be told in pieces: the last piece has
	// EndOfMessage, and pieces of one message have the same MessageID. Answers are told in
	// one or more pieces. Ask need not mark the end of the answer or of the dialog.
	//
	// The caller of Ask passes an *Error on to the asker, and of any other error only says that
	// the agent failed. If tell returns an error, the asker has gone.
	Ask(ctx context.Context, who Caller, r Request, tell func(Message) error) error
}

// An AskFunc is a function that is an Agent.
type AskFunc func(ctx context.Context, who Caller, r Request, tell func(Message) error) error

// Ask implements Agent.
func (f AskFunc) Ask(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
	return f(ctx, who, r, tell)
}
