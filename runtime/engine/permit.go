package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
)

// Narrow restricts the session to some of the verbs that its principal may use, as a token does. A
// narrowed session cannot decide others' proposals. Call it before the session is used.
func (s *Session) Narrow(only []*verbs.Verb) { s.rights.only = only }

// ByProgram says that a program shows what only it knows, a token, and that no sign-in stands behind
// it. It gives no agreement in the principal's place to what a model wrote and nobody heard, and it
// is no second person, unless a rule takes programs. Call it before the session is used.
func (s *Session) ByProgram() { s.rights.program = true }

// Prove notes when the principal last signed in. A rule that wants a recent sign-in accepts no
// agreement in a session without one. Call it before the session is used.
func (s *Session) Prove(when time.Time) { s.rights.proven = when }

// permit finds every call of a program that may not be made in this session.
func (s *Session) permit(p *verbs.Program) []callError {
	all := append(permit(p, s.rights.roles, s.e.verbs, false), s.beyond(p)...)
	// A principal may keep only calls that they could make.
	p.EachKept(func(of int, kept *verbs.Program) {
		for _, c := range append(permit(kept, s.rights.roles, s.e.verbs, false), s.beyond(kept)...) {
			all = append(all, callError{call: of, diagnostic: c.diagnostic})
		}
	})
	return all
}

// beyond finds the calls that Narrow excludes.
func (s *Session) beyond(p *verbs.Program) (all []callError) {
	calls := p.Calls()
	for i := range calls {
		if v := calls[i].Verb; s.rights.only != nil && permits(s.rights.roles, v.Roles) && !v.Internal && !s.May(v) {
			all = append(all, callError{call: i, diagnostic: notPermitted(placeOf(p, &calls[i]), v.Name, "")})
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
// the calls of macros. Only work, the call of a job,
// may use internal verbs.
func permit(p *verbs.Program, roles []*verbs.Role, of map[*verbs.Verb]*prepared, work bool) []callError {
	var all []callError
	calls := p.Calls()
	for i := range calls {
		v := calls[i].Verb
		if !permits(roles, v.Roles) || v.Internal && !work {
			all = append(all, callError{call: i, diagnostic: notPermitted(placeOf(p, &calls[i]), v.Name, "")})
			continue
		}
		// A macro runs with its caller's rights.
		for _, inner := range of[v].inside {
			if !permits(roles, inner.Roles) {
				all = append(all, callError{call: i, diagnostic: notPermitted(placeOf(p, &calls[i]), v.Name, inner.Name)})
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
func freshSession(ctx context.Context, e *Engine, principal string) (*Session, error) {
	s, err := e.Session(ctx, principal)
	if err == nil {
		s.rights.fresh = true
	}
	return s, err
}

// entitled reads the principal's rights again if they are older than rightsAge. The rights of a
// session are fixed when it begins; once they have changed, it refuses all further runs.
func (s *Session) entitled(ctx context.Context, now time.Time) error {
	s.rights.mu.Lock()
	due := !s.rights.fresh && (s.rights.looked.IsZero() || now.Sub(s.rights.looked) >= rightsAge || now.Before(s.rights.looked))
	if s.rights.fresh {
		s.rights.fresh, s.rights.looked = false, now
	}
	s.rights.mu.Unlock()
	if !due {
		return nil
	}
	who, err := s.e.principal(ctx, s.who.Name)
	switch {
	case errors.Is(err, stores.ErrNotFound):
		return &Refusal{Diagnostics: dsl.Diagnostics{tell(dsl.Place{}, "unknown-principal", s.who.Name)}}
	case err != nil:
		return err
	case !slices.Equal(who.Roles, s.who.Roles) || !maps.EqualFunc(who.Holds, s.who.Holds, slices.Equal[[]stores.Value]):
		return refuseScript(tell(dsl.Place{}, "rights-changed"))
	}
	s.rights.mu.Lock()
	s.rights.looked = now
	s.rights.mu.Unlock()
	return nil
}

// May reports whether the principal's roles may use a verb. A call of it may still be refused,
// for its rows, requirements or confirmations. Only jobs may use internal verbs.
func (s *Session) May(v *verbs.Verb) bool {
	if v.Undoes != nil {
		v = v.Undoes // who may do something may take it back
	}
	return !v.Internal && permits(s.rights.roles, v.Roles) && (s.rights.only == nil || slices.Contains(s.rights.only, v))
}

// Verbs returns the verbs that the principal may use, by name, except those that unmask values:
// pages use them.
func (s *Session) Verbs() []*verbs.Verb {
	var may []*verbs.Verb
	for _, v := range s.e.reg.Verbs() {
		if s.May(v) && !v.Masked() {
			may = append(may, v)
		}
	}
	return may
}

// Reads reports whether a program changes nothing and is not journalled: its verbs promise only
// answers from rows, and no sensitive values.
func (s *Session) Reads(p *verbs.Program) bool { return onlyLooks(s.e, p) }

// All returns the session's names of the rows of entities, in order, and names those that
// have none yet. If an entity has more rows than maxNamed, only those that were shown are
// returned.
func (ns Names) All(ctx context.Context, entities []*verbs.Entity) (map[*verbs.Entity][]string, error) {
	err := ns.s.view(ctx, func(r stores.Reader) error {
		for _, e := range entities {
			if ns.s.names.Extent(e.Store) == names.All {
				continue
			}
			if err := ns.s.read(ctx, r, e, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, failure(err)
	}
	all := make(map[*verbs.Entity][]string, len(entities))
	for _, e := range entities {
		ns.s.names.Each(e.Store, func(_ stores.Value, row names.Row) { all[e] = append(all[e], row.Name) })
		slices.Sort(all[e])
	}
	return all, nil
}

// reads reports whether a verb of the session returns a field of an entity.
func (s *Session) reads(e *verbs.Entity, field int) bool {
	returns := func(from *stores.Entity, fields []verbs.ReadField) bool {
		return slices.ContainsFunc(fields, func(f verbs.ReadField) bool {
			if f.From != verbs.FromPath || f.Path.Count != nil || f.Sensitive || f.Path.Field != field {
				return false
			}
			at := from
			for _, step := range f.Path.Steps {
				at = step.To
			}
			return at == e.Store
		})
	}
	return slices.ContainsFunc(s.Verbs(), func(v *verbs.Verb) bool {
		return v.Read != nil && v.Read.Entity != nil && (returns(v.Read.Entity.Store, v.Read.Fields) ||
			slices.ContainsFunc(v.Read.Lists, func(l verbs.ReadList) bool { return returns(l.Entity.Store, l.Fields) }))
	})
}
