package sqlcore

import (
	"slices"

	"verbatim/stores"
)

// Granted adds what a row of grants gives a principal: a role, a row of an entity to hold,
// or both; key reads which.
func Granted(p *stores.Principal, role, entity string, key func() (stores.Value, error)) error {
	if role != "" && !slices.Contains(p.Roles, role) {
		p.Roles = append(p.Roles, role)
	}
	if entity == "" {
		return nil
	}
	k, err := key()
	if err != nil {
		return err
	}
	if p.Holds == nil {
		p.Holds = map[string][]stores.Value{}
	}
	if !slices.Contains(p.Holds[entity], k) {
		p.Holds[entity] = append(p.Holds[entity], k)
	}
	return nil
}
