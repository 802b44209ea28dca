package trustgraph

import "context"

// What the tests of this package share with those that ask by a client: package trustgraphtest
// imports this one, so that its users are outside it.
var (
	Tells         = tells
	Story         = story
	Collect       = collect
	ServeTest     = serve
	Echo          = echo
	NewTestSwitch = newSwitch
	TestFailure   = failure
	ErrAuth       = errAuth
	ErrFailed     = errFailed
)

// Direct asks an agent without a wire, and tells the messages that the protocol has.
func Direct(ctx context.Context, a Agent, r Request, s Shape, tell func(Message) error) error {
	return question{agent: a, r: r, shape: s}.ask(ctx, tell)
}
