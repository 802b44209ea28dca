// Package trustgraph speaks TrustGraph's agent API, so that an agent of ours can stand where
// TrustGraph's agent stood: behind HTTP and WebSocket as TrustGraph's gateway serves them,
// and behind TrustGraph's queues. It knows no engine. An Agent answers the questions, and a
// function says who a token belongs to.
//
//	gateway := &trustgraph.Gateway{Agent: agent, Authenticate: authenticate}
//	http.Handle("/api/v1/", gateway)
//
//	err := trustgraph.Serve(ctx, queue, agent, trustgraph.Service{Caller: caller})
//
// The package reads what TrustGraph's clients of any release send, and writes the shape of
// the release that is configured.
package trustgraph

import "context"

// A Caller is the person or program that asks.
type Caller struct {
	Name string
	// Workspace is the only workspace whose questions the caller may ask. The empty string
	// stands for "default".
	Workspace string
}

// An Agent answers questions. It may be asked several at once.
type Agent interface {
	// Ask answers one question: it tells every message as it has it, and returns when the
	// last one is told. It returns soon after ctx ends.
	//
	// Thoughts, actions and observations may be told in pieces: the last piece has
	// EndOfMessage, and pieces of one message have the same MessageID. Answers are told in
	// one or more pieces. Ask need not mark the end of the answer or of the dialog.
	//
	// The caller of Ask gives the asker an *Error as it is, and of any other error only
	// says that the agent failed. When tell returns an error, nobody listens any more.
	Ask(ctx context.Context, who Caller, r Request, tell func(Message) error) error
}

// An AskFunc is a function that is an Agent.
type AskFunc func(ctx context.Context, who Caller, r Request, tell func(Message) error) error

// Ask implements Agent.
func (f AskFunc) Ask(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
	return f(ctx, who, r, tell)
}
