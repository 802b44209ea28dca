package sqlcore

import (
	"slices"

	"verbatim/stores"
)

// Rows lists what conditions on rows need of a store, within the scope of one transaction.
type Rows[A, S any] interface {
	Spells() *Dialect
	// Datum returns the SQL of a field of the row with an alias, in the form in which values are
	// compared, and Follows the same field in the form in which a join compares it with a Datum.
	Datum(e *stores.Entity, alias string, field int) string
	Follows(e *stores.Entity, alias string, field int) string
	// Opens reports whether the scope opens every row of an entity.
	Opens(e *stores.Entity) bool
	// Keeps returns the column in which a row keeps its owner, "" if it keeps none.
	Keeps(e *stores.Entity, alias string) string
	// Principal adds the condition that a column names the caller, and Holds that it is the key
	// of a row of an entity that the scope holds.
	Principal(t *Text[A, S], col string)
	Holds(t *Text[A, S], col string, of *stores.Entity, kind stores.Kind)
}

// Within adds the condition that the row with an alias lies within the scope; many says that the
// statement looks at many rows.
func Within[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, alias string, many bool) {
	if v.Opens(e) {
		return
	}
	t.Add(" AND ")
	col := func(f int) string { return v.Datum(e, alias, f) }
	if kept := v.Keeps(e, alias); kept != "" {
		at, _ := Ending(e)
		last(t, v, e, at, kept)
		shown(t, v, e, col)
		return
	}
	InScope(t, v, e, many, col)
}

// Ending returns the entity at which the scope path of e ends, and its field that names the
// owner.
func Ending(e *stores.Entity) (at *stores.Entity, field int) {
	at = e
	n := len(e.Scope) - 1
	for _, step := range e.Scope[:n] {
		at = step.To
	}
	return at, e.Scope[n].Field
}

// InScope writes the condition that a row of e lies within a scope that does not open every row
// of e; col gives a field of that row. For one row, the condition follows the row's references;
// for many, it begins at the rows that the scope holds, so that the indexes on references can be
// used from there.
func InScope[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, many bool, col func(field int) string) {
	switch n := len(e.Scope); {
	case n == 0:
		v.Holds(t, col(e.Key), e, e.Fields[e.Key].Kind)
	case n == 1:
		last(t, v, e, e, col(e.Scope[0].Field))
	default:
		first := e.Scope[0]
		alias := t.Alias()
		key := v.Datum(first.To, alias, first.To.Key)
		if many {
			t.Add(col(first.Field), " IN (SELECT ", key)
		} else {
			t.Add("EXISTS (SELECT 1")
		}
		t.Add(" FROM ", v.Spells().Table(first.To), " ", alias)
		at, alias := path(t, t, v, first.To, alias, e.Scope[1:n-1], nil)
		t.Add(" WHERE ")
		if !many {
			t.Add(key, " = ", col(first.Field), " AND ")
		}
		last(t, v, e, at, v.Datum(at, alias, e.Scope[n-1].Field))
		t.Add(")")
	}
	shown(t, v, e, col)
}

// path writes to a text the joins that follow steps from a row, and returns the row at their end.
// It calls see with each row that it joins, if see is not nil. Aliases are t's.
func path[A, S any](t, to *Text[A, S], v Rows[A, S], at *stores.Entity, alias string, steps []stores.Step, see func(at *stores.Entity, alias string)) (*stores.Entity, string) {
	for _, step := range steps {
		next := t.Alias()
		to.Add(" JOIN ", v.Spells().Table(step.To), " ", next, " ON ", v.Datum(step.To, next, step.To.Key), " = ", v.Follows(at, alias, step.Field))
		at, alias = step.To, next
		if see != nil {
			see(at, alias)
		}
	}
	return at, alias
}

// shown adds the condition that no Visible field hides the row of e or a row on its scope path.
func shown[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, col func(field int) string) {
	Itself(t, v, e, col)
	n := e.Hides()
	if n < 1 {
		return
	}
	at, alias := e.Scope[0].To, t.Alias()
	t.Add(" AND EXISTS (SELECT 1 FROM ", v.Spells().Table(at), " ", alias)
	where := t.Part().Add(" WHERE ", v.Datum(at, alias, at.Key), " = ", col(e.Scope[0].Field))
	see := func(at *stores.Entity, alias string) {
		Itself(where, v, at, func(f int) string { return v.Datum(at, alias, f) })
	}
	see(at, alias)
	path(t, t, v, at, alias, e.Scope[1:n], see)
	t.Join(where).Add(")")
}

// Insertable adds the condition that a row that is about to be made lies within the scope. The
// caller adds that the rows it refers to are visible.
func Insertable[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, col func(field int) string) {
	switch {
	case v.Opens(e):
	case len(e.Scope) > 0 && e.Vouches(e.Scope[0].Field):
		// The path begins with a reference that vouches for the row, and its row is visible.
		Itself(t, v, e, col)
	default:
		t.Add(" AND ")
		InScope(t, v, e, false, col)
	}
}

// Itself adds the condition that a row does not hide itself.
func Itself[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, col func(field int) string) {
	if v.Opens(e) {
		return
	}
	for _, f := range e.Visible {
		t.Add(" AND ", col(f), v.Spells().Yes)
	}
}

// last writes the condition on the field where the scope path of e ends.
func last[A, S any](t *Text[A, S], v Rows[A, S], e, at *stores.Entity, col string) {
	step := e.Scope[len(e.Scope)-1]
	if e.Access == stores.ByPrincipal {
		v.Principal(t, col)
		return
	}
	v.Holds(t, col, step.To, at.Fields[step.Field].Holds())
}

// HasKey writes the condition that the row with an alias has a key, or the parts of one. write
// writes the part for a field.
func HasKey[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, alias string, write func(part, field int)) {
	for i, f := range e.KeyFields() {
		if i > 0 {
			t.Add(" AND ")
		}
		t.Add(v.Datum(e, alias, f), " = ")
		write(i, f)
	}
}

// HasKeyOf is HasKey for a known key. A value that is no key of the entity matches no row.
func HasKeyOf[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, alias string, key stores.Value, write func(part stores.Value, field int)) {
	if parts, ok := e.PartsOf(key); ok {
		HasKey(t, v, e, alias, func(part, field int) { write(parts[part], field) })
	} else {
		t.Add(v.Spells().False)
	}
}

// Root writes the value at the end of the scope path of a row, for a path of two steps or more.
func Root[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, row string) string {
	if kept := v.Keeps(e, row); kept != "" {
		return kept
	}
	n, from := len(e.Scope)-1, t.Part()
	at, alias := e.Scope[0].To, t.Alias()
	key := v.Datum(at, alias, at.Key) + " = " + v.Follows(e, row, e.Scope[0].Field)
	from.Add(" FROM ", v.Spells().Table(at), " ", alias)
	at, alias = path(t, from, v, at, alias, e.Scope[1:n], nil)
	return "(SELECT " + v.Datum(at, alias, e.Scope[n].Field) + from.String() + " WHERE " + key + ")"
}

// Granted adds to a principal what a row of the grants gives: a role, a row of an entity to hold,
// or both. key reads the key of that row.
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
