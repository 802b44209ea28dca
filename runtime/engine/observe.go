package engine

import (
	"context"
	"errors"
	"time"

	"verbatim/verbs"
)

// An Observed describes one preview or run for the observer. It holds no values.
type Observed struct {
	Calls []*verbs.Verb // in order; each as often as it was called
	// Rehearsal says that the program was only previewed.
	Rehearsal bool
	Outcome   string        // "ok", "refused" or "failed"
	Code      string        // of a refusal
	Took      time.Duration // by the engine's clock, including waiting
}

// tried calls tries, and then Options.Agreed if an agreement was used.
func (s *Session) tried(ctx context.Context, p *verbs.Program, o *runOptions) (*run, error) {
	r, err := s.tries(ctx, p, o)
	if err == nil && !o.rehearsal && (o.opt.Agreed != "" || o.pending != nil) && s.e.opt.Agreed != nil {
		s.e.opt.Agreed(ctx)
	}
	return r, err
}

// attempts calls tried, and then Options.Observe with the outcome.
func (s *Session) attempts(ctx context.Context, p *verbs.Program, o *runOptions) (*run, error) {
	if s.e.opt.Observe == nil {
		return s.tried(ctx, p, o)
	}
	began := s.e.opt.Clock()
	r, err := s.tried(ctx, p, o)
	seen := Observed{Rehearsal: o.rehearsal, Outcome: outcomeOK, Took: s.e.opt.Clock().Sub(began)}
	for i := range p.Calls() {
		seen.Calls = append(seen.Calls, p.Calls()[i].Verb)
	}
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		seen.Outcome, seen.Code = outcomeRefused, refusal.Diagnostics[0].Code
	case err != nil:
		seen.Outcome = outcomeFailed
	}
	s.e.opt.Observe(ctx, seen)
	return r, err
}
