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

// permit finds every call of a program that somebody with these roles may not make,
// the calls of macros included: inside lists the verbs that each macro uses. Only
// work may call what is internal.
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
