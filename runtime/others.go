package runtime

import (
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/verbs"
)

// Words of others. A palette may say of a field who writes it: what clients note
// on their requests, say. Their text is theirs, and a record to them; to whoever
// has none of those roles it is a stranger's, as a letter would be, though it
// stands in a row like any other. Nothing is stored for that: it depends on who
// reads. What is made of such a value keeps the origin, as ever.

// A othersWords is a field that others write.
type othersWords struct {
	roles  []*verbs.Role
	origin verbs.Origin
}

// findWords finds the fields of which palettes say who writes them.
func (e *Engine) findWords() {
	for _, entity := range e.entities {
		for i := range entity.Fields {
			by := entity.Fields[i].WrittenBy
			if len(by) == 0 {
				continue
			}
			if e.words == nil {
				e.words = make(map[*stores.Entity]map[int]othersWords)
			}
			if e.words[entity.Store] == nil {
				e.words[entity.Store] = make(map[int]othersWords)
			}
			names := make([]string, len(by))
			for j, r := range by {
				names[j] = r.Name
			}
			e.words[entity.Store][i] = othersWords{by, verbs.NewOrigin(verbs.FromDocument, "the words of a "+strings.Join(names, " or "))}
		}
	}
}

// strange is the origin of a field whose text is a stranger's to this session;
// zero where it is nobody's, or their own.
func (s *Session) strange(e *stores.Entity, field int) verbs.Origin {
	w, others := s.e.words[e][field]
	if !others || slices.ContainsFunc(w.roles, func(r *verbs.Role) bool { return slices.Contains(s.roles, r) }) {
		return verbs.Origin{}
	}
	return w.origin
}

// fieldOrigin is the origin of a field of a row, for whoever reads it.
func (s *Session) fieldOrigin(row *stores.Row, field int) verbs.Origin {
	o := fieldOrigin(row, field)
	if s.e.words == nil || row.Values[field].IsNull() {
		return o
	}
	if other := s.strange(row.Entity, field); other != (verbs.Origin{}) {
		return o.Mix(other)
	}
	return o
}

// pathOrigin is the origin of the value of a path, for whoever reads it.
func (s *Session) pathOrigin(e *stores.Entity, paths []stores.Path, at []int, i int, values []stores.Value) verbs.Origin {
	o := pathOrigin(e, paths, at, i, values)
	if s.e.words == nil || paths[i].Count != nil || values[i].IsNull() {
		return o
	}
	end := e
	for _, step := range paths[i].Steps {
		end = step.To
	}
	if other := s.strange(end, paths[i].Field); other != (verbs.Origin{}) {
		return o.Mix(other)
	}
	return o
}

// strangeQuery mixes the origins of the fields that a query in SQL may read: it
// cannot be followed, so that it counts whose names stand in its text.
func (s *Session) strangeQuery(q *verbs.Query) (o verbs.Origin) {
	if s.e.words == nil {
		return o
	}
	words := strings.FieldsFunc(strings.ToLower(q.Text), func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
	everything := strings.Contains(strings.ReplaceAll(q.Text, "(*)", ""), "*")
	for e, fields := range s.e.words {
		if !slices.Contains(words, strings.ToLower(e.Table[strings.LastIndexByte(e.Table, '.')+1:])) {
			continue
		}
		for i := range fields {
			if everything || slices.Contains(words, strings.ToLower(e.Fields[i].Column)) {
				o = o.Mix(s.strange(e, i))
			}
		}
	}
	return o
}
