package runtime

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
)

// rightsAge is how long what was read of a principal's rights is good for. A
// session may live for days; a right that is taken away is gone for it after no
// more than this.
const rightsAge = time.Second

// just begins a session for something that is done at once, so that its rights
// need not be looked at again.
func (e *Engine) just(ctx context.Context, principal string) (*Session, error) {
	s, err := e.Session(ctx, principal)
	if err == nil {
		s.fresh = true
	}
	return s, err
}

// entitled looks at the principal's rights again, where that is due. What a
// session may do and see is settled when it begins; where it is something else by
// now, nothing more is done in it.
func (s *Session) entitled(ctx context.Context, now time.Time) error {
	s.mu.Lock()
	due := !s.fresh && (s.looked.IsZero() || now.Sub(s.looked) >= rightsAge || now.Before(s.looked))
	if s.fresh {
		s.fresh, s.looked = false, now
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	who, err := s.e.principal(ctx, s.who.Name)
	switch {
	case errors.Is(err, stores.ErrNotFound):
		return &Refusal{Diagnostics: dsl.Diagnostics{unknownPrincipal(s.who.Name)}}
	case err != nil:
		return err
	case !slices.Equal(who.Roles, s.who.Roles) || !maps.EqualFunc(who.Holds, s.who.Holds, slices.Equal[[]stores.Value]):
		return refuse([]complaint{{-1, rightsChanged()}})
	}
	s.mu.Lock()
	s.looked = now
	s.mu.Unlock()
	return nil
}
