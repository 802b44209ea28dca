package work

import (
	"context"
	"time"
)

const (
	// embedded is how many texts a model is sent at once.
	embedded = 64
	// lull is how long to wait once there are no vectors to be made, or none can be.
	lull = 5 * time.Second
)

// embed has the vectors made of rows that are searched by meaning, until there are no
// more.
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

// embeds goes on doing so beside the work, until the context ends.
func (s *shift) embeds(ctx context.Context) {
	for ctx.Err() == nil {
		_ = s.embed(ctx) // it was reported, and rows are found by words meanwhile
		select {
		case <-ctx.Done():
		case <-time.After(lull):
		}
	}
}
