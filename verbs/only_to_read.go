package verbs

import (
	"slices"

	"verbatim/dsl"
	"verbatim/stores"
)

// OnlyToRead warns of verbs with an effect that the store refuses to one of their roles whenever
// they call it: on rows that everyone reads, and on new rows that own themselves, which nobody
// holds yet. Only roles that see all have such effects.
func OnlyToRead(r *Registry) (ds dsl.Diagnostics) {
	for _, v := range r.Verbs() {
		i := slices.IndexFunc(v.Roles, func(role *Role) bool { return !role.SeesAll })
		if i < 0 {
			continue
		}
		for k := range v.Effects {
			e := &v.Effects[k]
			switch {
			case e.Entity == nil || e.Kind > Deletes:
				continue
			case e.Entity.Store.Access == stores.ForAll:
				ds = append(ds, tell(e.Place, "only-to-read", v.Name, v.Roles[i], e.Entity))
			case e.Kind == Creates && e.Entity.Store.Access == stores.ByPath && len(e.Entity.Store.Scope) == 0:
				ds = append(ds, tell(e.Place, "only-to-read/held", v.Name, v.Roles[i], e.Entity))
			default:
				continue
			}
			break
		}
	}
	return ds
}
