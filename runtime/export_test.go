package runtime

import (
	"context"
	"reflect"

	"verbatim/stores"
)

// AtOnce makes an engine read whatever it needs when it needs it, and hand over
// each change as it is made.
func AtOnce(e *Engine) { e.atOnce = true }

// InRuns is the order in which an engine hands changes over.
func InRuns(e *Engine, changes []stores.Change) []stores.Change { return e.inRuns(changes) }

// HandleAs registers a handler whose arguments are known only when the test
// runs, so that one test can stand in for every verb of a palette.
func HandleAs(h *Handlers, verb string, args reflect.Type, fn func(ctx context.Context, c *Call) (Outcome, error)) {
	h.list = append(h.list, &handler{verb: verb, args: args, call: func(ctx context.Context, c *Call, _ reflect.Value) (Outcome, error) {
		return fn(ctx, c)
	}})
}
