package worker

import (
	"context"
	"time"
)

const (
	// embedded is the number of texts that a model gets at once.
	embedded = 64
	// lull is how long to wait when no vectors are missing, or none can be made.
	lull = 5 * time.Second
)

// embed makes the vectors of rows that are searched by meaning, until none is missing.
func (s *shift) embed(ctx context.Context) error {
	for {
		n, err := s.Engine.Embed(ctx, embedded)
		if err != nil && ctx.Err() == nil {
			s.report(Event{Outcome: Failed, Reason: "model-unavailable", Err: err})
		}
		if n == 0 || err != nil {
			return err
		}
	}
}

// embeds calls embed again and again beside the work, until the context ends.
func (s *shift) embeds(ctx context.Context) {
	for ctx.Err() == nil {
		_ = s.embed(ctx) // it was reported, and rows are found by words meanwhile
		select {
		case <-ctx.Done():
		case <-time.After(lull):
		}
	}
}
