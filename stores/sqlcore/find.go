package sqlcore

import (
	"fmt"
	"slices"
	"strconv"

	"verbatim/stores"
)

// Asks lists what a Finder needs of a store.
type Asks[A, S any] interface {
	Rows[A, S]
	// Near returns the column of the row itself that keeps the value at the end of a path, and
	// the kind of the column. ok is false for most paths.
	Near(p stores.Path) (col string, kind stores.Kind, ok bool)
	// Joined notes a row that a path joins, and Counted a row whose referring rows are counted.
	Joined(alias string, e *stores.Entity)
	Counted(alias string)
	// Marks writes the marks of the row with an alias.
	Marks(t *Text[A, S], e *stores.Entity, alias string)
	// Orders adds to a value of a kind how it is sorted.
	Orders(t *Text[A, S], p stores.Path, kind stores.Kind)
	// Sides completes the two sides of a comparison, whose kinds can be compared: it writes the
	// constant.
	Sides(c *stores.Cond, s *Sides[A, S])
	// Among writes, behind a value of a kind, the test that it is one of some values, which are
	// not null; OfText writes the test of stores.Cond.OfText on left. nth numbers the condition's
	// value.
	Among(t *Text[A, S], c *stores.Cond, kind stores.Kind, some []stores.Value, nth int)
	OfText(t *Text[A, S], c *stores.Cond, left *Text[A, S], nth int)
}

// Sides are the two sides of a comparison.
type Sides[A, S any] struct {
	Left, Right *Text[A, S] // Right is empty for a constant
	Of, To      stores.Kind
	Nth         int // of the constant
}

// A Finder writes the parts of one Find. Paths that begin with the same steps share joins.
type Finder[A, S any] struct {
	Asks[A, S]
	From  *Text[A, S] // the joins
	Root  *stores.Entity
	At    string            // alias of the row asked for
	joins map[string]string // "3.1" -> alias of the row reached by fields 3 and then 1
}

// Capped returns how many rows are returned at most: limit, or most if limit is not positive or
// is greater.
func Capped(limit, most int) int {
	if limit <= 0 || limit > most {
		return most
	}
	return limit
}

// Selected returns the paths that a Find returns: all fields if it names none.
func Selected(f *stores.Find) []stores.Path {
	if f.Select != nil {
		return f.Select
	}
	all := make([]stores.Path, len(f.Entity.Fields))
	for i := range all {
		all[i].Field = i
	}
	return all
}

// Reached returns the entity and field at the end of a path.
func Reached(e *stores.Entity, p stores.Path) (*stores.Entity, int) {
	for _, s := range p.Steps {
		e = s.To
	}
	return e, p.Field
}

// Row returns the alias of the row at the end of steps, and its entity. Everything about a row
// outside the scope is null.
func (q *Finder[A, S]) Row(steps []stores.Step) (string, *stores.Entity, error) {
	alias, e, way := q.At, q.Root, ""
	for _, s := range steps {
		if s.To == nil || s.Field < 0 || s.Field >= len(e.Fields) || e.Fields[s.Field].Ref != s.To {
			return "", nil, fmt.Errorf("a path from %s follows a field of %s that is no reference: %w", q.Root.Name, e.Name, stores.ErrInvalid)
		}
		way += "." + strconv.Itoa(s.Field)
		next, ok := q.joins[way]
		if !ok {
			next = q.From.Alias()
			if q.joins == nil {
				q.joins = map[string]string{}
			}
			q.joins[way] = next
			q.Joined(next, s.To)
			q.From.Add(" LEFT JOIN ", q.Spells().Table(s.To), " ", next, " ON ", q.Datum(s.To, next, s.To.Key), " = ", q.Follows(e, alias, s.Field))
			if !e.Vouches(s.Field) {
				Within(q.From, q, s.To, next, false)
			}
		}
		alias, e = next, s.To
	}
	return alias, e, nil
}

// Path writes the value at the end of a path and returns its kind.
func (q *Finder[A, S]) Path(t *Text[A, S], p stores.Path) (stores.Kind, error) {
	if col, kind, ok := q.Near(p); ok {
		t.Add(col)
		return kind, nil
	}
	alias, e, err := q.Row(p.Steps)
	if err != nil {
		return 0, err
	}
	if p.Marks {
		q.Marks(t, e, alias)
		return stores.String, nil
	}
	if p.Count == nil {
		if p.Field < 0 || p.Field >= len(e.Fields) {
			return 0, fmt.Errorf("a path from %s ends at no field of %s: %w", q.Root.Name, e.Name, stores.ErrInvalid)
		}
		t.Add(q.Datum(e, alias, p.Field))
		return e.Fields[p.Field].Keeps(), nil
	}
	if p.By < 0 || p.By >= len(p.Count.Fields) || p.Count.Fields[p.By].Ref != e {
		return 0, fmt.Errorf("a count of %s by a field that does not refer to %s: %w", p.Count.Name, e.Name, stores.ErrInvalid)
	}
	q.Counted(alias)
	c := t.Alias()
	t.Add("(SELECT count(*) FROM ", q.Spells().Table(p.Count), " ", c, " WHERE ", q.Datum(p.Count, c, p.By), " = ", q.Follows(e, alias, e.Key))
	if !p.Count.Vouches(p.By) {
		Within(t, q, p.Count, c, false)
	} else {
		Itself(t, q, p.Count, func(f int) string { return q.Datum(p.Count, c, f) })
	}
	t.Add(")")
	return stores.Int, nil
}

// Order writes the ORDER BY clause.
func (q *Finder[A, S]) Order(t *Text[A, S], by []stores.Order) error {
	t.Add(" ORDER BY ")
	for _, o := range by {
		kind, err := q.Path(t, o.Path)
		if err != nil {
			return err
		}
		q.Orders(t, o.Path, kind)
		if o.Desc {
			t.Add(" DESC")
		}
		t.Add(" NULLS LAST,")
	}
	t.Add(q.Datum(q.Root, q.At, q.Root.Key))
	q.Orders(t, stores.Path{Field: q.Root.Key}, q.Root.Fields[q.Root.Key].Kind)
	return nil
}

// Where writes the condition of a read; nil is none.
func (q *Finder[A, S]) Where(t *Text[A, S], c *stores.Cond) error {
	if c == nil {
		t.Add(q.Spells().True)
		return nil
	}
	return q.Cond(t, c, false)
}

// Cond writes a condition. SQL has three truth values and stores.Cond two: there null equals
// null, and nothing is before or after null. The difference shows under a Not, so exact makes
// unknown false there.
func (q *Finder[A, S]) Cond(t *Text[A, S], c *stores.Cond, exact bool) error {
	switch c.Op {
	case stores.True:
		t.Add(q.Spells().True)
	case stores.False:
		t.Add(q.Spells().False)
	case stores.And, stores.Or:
		word, none := " AND ", q.Spells().True
		if c.Op == stores.Or {
			word, none = " OR ", q.Spells().False
		}
		if len(c.Kids) == 0 {
			t.Add(none)
			return nil
		}
		t.Add("(")
		for i := range c.Kids {
			if i > 0 {
				t.Add(word)
			}
			if err := q.Cond(t, &c.Kids[i], exact); err != nil {
				return err
			}
		}
		t.Add(")")
	case stores.Not:
		if len(c.Kids) != 1 {
			return fmt.Errorf("a negation of %d conditions: %w", len(c.Kids), stores.ErrInvalid)
		}
		t.Add("NOT (")
		if err := q.Cond(t, &c.Kids[0], true); err != nil {
			return err
		}
		t.Add(")")
	case stores.In:
		return q.member(t, c, exact)
	case stores.Eq, stores.Ne, stores.Lt, stores.Le, stores.Gt, stores.Ge:
		return q.compare(t, c, exact)
	case stores.Contains, stores.Starts, stores.Ends, stores.Same:
		left := t.Part()
		kind, err := q.Path(left, c.Path)
		if err != nil {
			return err
		}
		if nth := t.Nth(); kind != stores.String || c.Value.Kind() != stores.String {
			t.Add(q.Spells().False)
		} else {
			q.OfText(t, c, left, nth)
		}
	default:
		return fmt.Errorf("an unknown condition: %w", stores.ErrInvalid)
	}
	return nil
}

var operators = map[stores.CondOp]string{
	stores.Lt: " < ", stores.Le: " <= ", stores.Gt: " > ", stores.Ge: " >= ",
}

func (q *Finder[A, S]) compare(t *Text[A, S], c *stores.Cond, exact bool) error {
	spells, constant := q.Spells(), c.Other == nil
	s := Sides[A, S]{Left: t.Part(), Right: t.Part(), To: c.Value.Kind()}
	var err error
	if s.Of, err = q.Path(s.Left, c.Path); err != nil {
		return err
	}
	if constant {
		s.Nth = t.Nth()
	} else if s.To, err = q.Path(s.Right, *c.Other); err != nil {
		return err
	}
	if constant && c.Value.IsNull() {
		switch c.Op {
		case stores.Eq:
			t.Join(s.Left).Add(" IS NULL")
		case stores.Ne:
			t.Join(s.Left).Add(" IS NOT NULL")
		default:
			t.Add(spells.False)
		}
		return nil
	}
	number := func(k stores.Kind) bool { return k == stores.Int || k == stores.Decimal }
	if s.Of != s.To && !(number(s.Of) && number(s.To)) {
		// Values of different kinds are never equal, unless both are null, and have no order.
		equal := t.Part().Add(spells.False)
		if !constant {
			equal = t.Part().Add("(").Join(s.Left).Add(" IS NULL AND ").Join(s.Right).Add(" IS NULL)")
		}
		switch c.Op {
		case stores.Eq:
			t.Join(equal)
		case stores.Ne:
			t.Add("NOT ").Join(equal)
		default:
			t.Add(spells.False)
		}
		return nil
	}
	q.Sides(c, &s)
	switch c.Op {
	case stores.Eq:
		// = can use an index that a comparison of nulls may not, and a constant is not null.
		if constant && !exact {
			t.Join(s.Left).Add(" = ").Join(s.Right)
			return nil
		}
		t.Add("(").Join(s.Left).Add(spells.Is).Join(s.Right).Add(")")
	case stores.Ne:
		t.Add("(").Join(s.Left).Add(spells.IsNot).Join(s.Right).Add(")")
	default:
		if s.Of == stores.JSON {
			t.Add(spells.False)
			return nil
		}
		t.Add("(").Join(s.Left).Add(operators[c.Op]).Join(s.Right).Add(")")
		if exact {
			t.Add(" IS TRUE")
		}
	}
	return nil
}

func (q *Finder[A, S]) member(t *Text[A, S], c *stores.Cond, exact bool) error {
	left := t.Part()
	kind, err := q.Path(left, c.Path)
	if err != nil {
		return err
	}
	items, err := c.Value.Items(kind)
	if err != nil {
		return fmt.Errorf("a list to look in: %w: %w", err, stores.ErrInvalid)
	}
	nth, all := t.Nth(), len(items)
	some := slices.DeleteFunc(items, stores.Value.IsNull)
	t.Add("(")
	if len(some) < all {
		t.Join(left).Add(" IS NULL OR ")
	}
	if len(some) == 0 {
		t.Add(q.Spells().False, ")")
		return nil
	}
	q.Among(t.Join(left), c, kind, some, nth)
	t.Add(")")
	if exact {
		t.Add(" IS TRUE")
	}
	return nil
}
