package runtime

import (
	"context"
	"slices"

	"verbatim/runtime/names"
	"verbatim/stores"
	"verbatim/verbs"
)

// May reports whether the principal may use a verb at all. Whether a call of it
// is carried out depends on more: its rows, its preconditions, who has to agree.
// Internal verbs are used by nobody, whatever their roles, but by work.
func (s *Session) May(v *verbs.Verb) bool {
	if v.Undoes != nil {
		v = v.Undoes // who may do something may take it back
	}
	return !v.Internal && permits(s.roles, v.Roles) && (s.only == nil || slices.Contains(s.only, v))
}

// Verbs returns the verbs that the principal may use, by name: those that have something
// to say. One that opens what stands masked is a page's.
func (s *Session) Verbs() []*verbs.Verb {
	var may []*verbs.Verb
	for _, v := range s.e.reg.Verbs() {
		if s.May(v) && !v.Masked() {
			may = append(may, v)
		}
	}
	return may
}

// Reads reports whether a program changes nothing and leaves no trace: all that
// its verbs promise is an answer, out of rows, and none of it is sensitive.
func (s *Session) Reads(p *verbs.Program) bool { return s.e.onlyLooks(p) }

// Names returns what this session calls the rows of entities that it may see,
// by entity and in order, naming those that have no name yet. Of an entity with
// more rows than a session names by itself, only those are there that it was
// shown.
func (s *Session) Names(ctx context.Context, entities []*verbs.Entity) (map[*verbs.Entity][]string, error) {
	err := s.view(ctx, func(r stores.Reader) error {
		for _, e := range entities {
			if s.names.Extent(e.Store) == names.All {
				continue
			}
			if err := s.read(ctx, r, e, nil); err != nil {
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
		s.names.Each(e.Store, func(_ stores.Value, row names.Row) { all[e] = append(all[e], row.Name) })
		slices.Sort(all[e])
	}
	return all, nil
}
