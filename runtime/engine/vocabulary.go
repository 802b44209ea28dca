package engine

import (
	"context"
	"slices"

	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
)

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
func (s *Session) Reads(p *verbs.Program) bool { return s.e.onlyLooks(p) }

// Names returns the session's names of the rows of entities, in order, and names those that
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
