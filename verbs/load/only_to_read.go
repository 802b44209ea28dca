package load

import (
	"slices"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// OnlyToRead warns of verbs with an effect that the store refuses to one of their roles whenever
// they call it: on rows that everyone reads, and on new rows that own themselves, which no
// principal holds yet. Only roles that see all have such effects.
func OnlyToRead(r *verbs.Registry) (ds dsl.Diagnostics) {
	for _, v := range r.Verbs() {
		i := slices.IndexFunc(v.Roles, func(role *verbs.Role) bool { return !role.SeesAll })
		if i < 0 {
			continue
		}
		for k := range v.Effects {
			e := &v.Effects[k]
			switch {
			case e.Entity == nil || e.Kind > verbs.Deletes:
				continue
			case e.Entity.Store.Access == stores.ForAll:
				ds = append(ds, tell(e.Place, "only-to-read", v.Name, v.Roles[i], e.Entity))
			case e.Kind == verbs.Creates && e.Entity.Store.Access == stores.ByPath && len(e.Entity.Store.Scope) == 0:
				ds = append(ds, tell(e.Place, "only-to-read/held", v.Name, v.Roles[i], e.Entity))
			default:
				continue
			}
			break
		}
	}
	return ds
}

// NotForRoles warns of verbs whose script, scheduled call or undo calls another verb that one of
// their roles may not use: such a call is refused whenever a principal of that role makes it.
func NotForRoles(r *verbs.Registry) (ds dsl.Diagnostics) {
	for _, v := range r.Verbs() {
		warn := func(m *verbs.Macro, as string) {
			if m == nil || m.Script == nil {
				return
			}
			for _, inner := range called(r, m.Script) {
				i := slices.IndexFunc(v.Roles, func(role *verbs.Role) bool { return !slices.Contains(inner.Roles, role) })
				if i >= 0 {
					ds = append(ds, tell(m.Place, "not-for-role", v.Name, v.Roles[i].Name, as, inner.Name, inner.Place))
				}
			}
		}
		warn(v.Macro, "calls")
		for i := range v.Effects {
			warn(v.Effects[i].Run, "schedules")
		}
		if v.Undo != nil {
			warn(v.Undo.Call, "is taken back by")
		}
	}
	return ds
}

// called lists the verbs that the calls of a script name, those in values included.
func called(r *verbs.Registry, script *dsl.Script) (all []*verbs.Verb) {
	dsl.Walk(script, func(n dsl.Node) bool {
		if n.Call != nil {
			if v := r.Verb(n.Call.Verb); v != nil && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		return true
	})
	return all
}
