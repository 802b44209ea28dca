package runtime

import (
	"context"
	"time"
)

const (
	// patience is how long is tried to keep what has to be kept, where nobody
	// waits for an answer by a certain time.
	patience = 30 * time.Second
	// grace is how long past the deadline of whoever waits. A store that does
	// not answer must not keep them.
	grace = 500 * time.Millisecond
)

// firmly is a context for what has to be kept even where the request was
// cancelled meanwhile. It cannot be cancelled, and it ends.
func firmly(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := patience
	if at, ok := ctx.Deadline(); ok {
		wait = min(wait, max(0, time.Until(at))+grace)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), wait)
}
