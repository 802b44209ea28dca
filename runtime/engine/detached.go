package engine

import (
	"context"
	"time"
)

const (
	// patience is how long storing may take if the request has no deadline.
	patience = 30 * time.Second
	// grace is how long storing may take after the deadline of the request: its caller waits.
	grace = 500 * time.Millisecond
)

// detached makes a context for what has to be stored even if the request was cancelled meanwhile.
// It cannot be cancelled, and ends grace after the deadline of ctx, or after patience.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := patience
	if at, ok := ctx.Deadline(); ok {
		wait = min(wait, max(0, time.Until(at))+grace)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), wait)
}
