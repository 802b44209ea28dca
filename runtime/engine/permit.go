package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// Narrow restricts the session to some of the verbs that its principal may use, as a token does. A
// narrowed session cannot decide others' proposals. Call it before the session is used.
func (s *Session) Narrow(only []*verbs.Verb) { s.only = only }

// ByProgram says that a program shows what only it knows, a token: it gives no agreement in the
// principal's place to what a model wrote and nobody heard. Call it before the session is used.
func (s *Session) ByProgram() { s.program = true }

// Prove notes when the principal last signed in. A rule that wants a recent sign-in accepts no
// agreement in a session without one. Call it before the session is used.
func (s *Session) Prove(when time.Time) { s.proven = when }

// permit finds every call of a program that may not be made in this session.
func (s *Session) permit(p *verbs.Program) []complaint {
	all := append(permit(p, s.roles, s.e.inside, false), s.beyond(p)...)
	// A principal may keep only calls that they could make.
	p.EachKept(func(of int, kept *verbs.Program) {
		for _, c := range append(permit(kept, s.roles, s.e.inside, false), s.beyond(kept)...) {
			all = append(all, complaint{call: of, diagnostic: c.diagnostic})
		}
	})
	return all
}

// beyond finds the calls that Narrow excludes.
func (s *Session) beyond(p *verbs.Program) (all []complaint) {
	calls := p.Calls()
	for i := range calls {
		if v := calls[i].Verb; s.only != nil && permits(s.roles, v.Roles) && !v.Internal && !s.May(v) {
			all = append(all, complaint{call: i, diagnostic: notPermitted(placeOf(p, &calls[i]), v.Name, "")})
		}
	}
	return all
}

// permits reports whether one of the roles may use a verb. Nobody may use a verb without roles.
// Roles are the registry's own values and are compared as pointers: no map, no text, no allocation.
func permits(have, may []*verbs.Role) bool {
	for _, role := range may {
		for _, mine := range have {
			if role == mine {
				return true
			}
		}
	}
	return false
}

// permit finds every call of a program that a principal with these roles may not make, including
// the calls of macros: inside lists the verbs that each macro uses. Only work, the call of a job,
// may use internal verbs.
func permit(p *verbs.Program, roles []*verbs.Role, inside map[*verbs.Verb][]*verbs.Verb, work bool) []complaint {
	var all []complaint
	calls := p.Calls()
	for i := range calls {
		v := calls[i].Verb
		if !permits(roles, v.Roles) || v.Internal && !work {
			all = append(all, complaint{call: i, diagnostic: notPermitted(placeOf(p, &calls[i]), v.Name, "")})
			continue
		}
		// A macro runs with its caller's rights.
		for _, inner := range inside[v] {
			if !permits(roles, inner.Roles) {
				all = append(all, complaint{call: i, diagnostic: notPermitted(placeOf(p, &calls[i]), v.Name, inner.Name)})
				break
			}
		}
	}
	return all
}

// rightsAge is how long the rights of a principal are valid once read. A session may live for days;
// a right that is taken away is lost to it within this time.
const rightsAge = time.Second

// freshSession begins a session for immediate use: its first run does not read the rights again.
func (e *Engine) freshSession(ctx context.Context, principal string) (*Session, error) {
	s, err := e.Session(ctx, principal)
	if err == nil {
		s.fresh = true
	}
	return s, err
}

// entitled reads the principal's rights again if they are older than rightsAge. The rights of a
// session are fixed when it begins; once they have changed, it refuses all further runs.
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
