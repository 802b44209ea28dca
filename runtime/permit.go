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

// An answer is what can be said of a call without looking at any row, mildest
// first.
type answer uint8

const (
	allowed  answer = iota
	depends         // a rule asks when an expression holds
	asks            // a rule always asks the person
	asksElse        // a rule always asks somebody else
	refused         // no role of the principal's may use the verb
)

// decide is the part of permit and gate that needs no data. It is on the path
// of every call.
func decide(have []*verbs.Role, v *verbs.Verb) answer {
	if !permits(have, v.Roles) {
		return refused
	}
	a := allowed
	for i := range v.Confirm {
		switch rule := &v.Confirm[i]; {
		case !rule.Always:
			a = max(a, depends)
		case rule.By == nil:
			a = max(a, asks)
		default:
			a = max(a, asksElse)
		}
	}
	return a
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
		if decide(s.roles, v) == refused || v.Internal && !work {
			all = append(all, complaint{call: i, diagnostic: notPermitted(placeOf(p, &calls[i]), v.Name, "")})
			continue
		}
		// A macro runs with its caller's rights.
		for _, inner := range s.e.inside[v] {
			if decide(s.roles, inner) == refused {
				all = append(all, complaint{call: i, diagnostic: notPermitted(placeOf(p, &calls[i]), v.Name, inner.Name)})
				break
			}
		}
	}
	return all
}
