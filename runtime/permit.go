package runtime

import "verbatim/verbs"

// permits reports whether one of the roles may use a verb. A verb without
// roles is used by nobody. Roles are the registry's own values, so that they
// are compared as pointers: no map, no text, no allocation.
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

// forbidden finds every call of a program that the principal may not make,
// the calls of macros included.
func (s *Session) forbidden(p *verbs.Program) []complaint { return s.barred(p, false) }

// barred is forbidden, for a job too: work calls what nobody else does.
func (s *Session) barred(p *verbs.Program, work bool) []complaint {
	var all []complaint
	calls := p.Calls()
	for i := range calls {
		v := calls[i].Verb
		if !permits(s.roles, v.Roles) || v.Internal && !work {
			all = append(all, complaint{call: i, diagnostic: notPermitted(placeOf(p, &calls[i]), v.Name, "")})
			continue
		}
		// A macro runs with its caller's rights.
		for _, inner := range s.e.inside[v] {
			if !permits(s.roles, inner.Roles) {
				all = append(all, complaint{call: i, diagnostic: notPermitted(placeOf(p, &calls[i]), v.Name, inner.Name)})
				break
			}
		}
	}
	return all
}
