package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// View implements stores.Store.
func (s *Store) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	return s.read(ctx, func(c *conn) error {
		// A snapshot begins with the first read, which should not wait for fn.
		if _, err := c.exists("SELECT 1 FROM sqlite_schema LIMIT 1", nil); err != nil {
			return fault("begin", err)
		}
		return fn(&reader{s: s, c: c, view: view{scope}})
	})
}

// reader reads on one connection within one scope.
type reader struct {
	s *Store
	c *conn
	view
}

// Get implements stores.Reader.
func (r *reader) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	if err := ctx.Err(); err != nil {
		return stores.Row{}, err
	}
	if key.IsNull() || key.Kind() != e.Fields[e.Key].Kind {
		return stores.Row{}, stores.ErrNotFound
	}
	t := newText().add("SELECT ")
	fields(t, e)
	marksOfRow(t, e, key)
	t.add(" FROM ", table(e), " t WHERE ")
	hasKeyOf(t, e, "t", key)
	r.within(t, e, "t", false)
	var row stores.Row
	err := r.c.query(context.Background(), t.String(), t.args, func(found *sqlite.Stmt) (err error) {
		row, err = readRow(e, found)
		return err
	})
	if err != nil {
		return stores.Row{}, fault("get", err)
	}
	if row.Values == nil {
		return stores.Row{}, stores.ErrNotFound
	}
	return row, nil
}

// Rows implements stores.Reader.
func (r *reader) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	kind := e.Fields[e.Key].Kind
	fit := make([]stores.Value, 0, len(keys))
	for _, k := range keys {
		if k.Kind() == kind {
			fit = append(fit, k)
		}
	}
	if len(fit) == 0 {
		return nil, ctx.Err()
	}
	t := newText().add("SELECT ")
	fields(t, e)
	marksOf(t, e, "t")
	t.add(" FROM ", table(e), " t WHERE ")
	if len(e.Parts) == 0 {
		t.add(datum(e, "t", e.Key))
		in(t, kind, fit)
	} else {
		t.add("(")
		for i, key := range fit {
			if i > 0 {
				t.add(" OR ")
			}
			hasKeyOf(t, e, "t", key)
		}
		t.add(")")
	}
	r.within(t, e, "t", true)
	t.add(" ORDER BY ", datum(e, "t", e.Key))
	var rows []stores.Row
	err := r.c.query(ctx, t.String(), t.args, func(found *sqlite.Stmt) error {
		row, err := readRow(e, found)
		rows = append(rows, row)
		return err
	})
	if err != nil {
		return nil, fault("get", err)
	}
	return rows, nil
}

// Together implements stores.Reader.
func (r *reader) Together(ctx context.Context, asks []stores.Ask) error {
	return stores.OneByOne(ctx, r, asks)
}

// fields writes the fields of the row t, and a comma.
func fields(t *text, e *stores.Entity) {
	for i := range e.Fields {
		t.add(raw(e, "t", i), ",")
	}
}

// readRow reads the fields of a row, and its marks behind them.
func readRow(e *stores.Entity, found *sqlite.Stmt) (stores.Row, error) {
	row := stores.Row{Entity: e, Values: make([]stores.Value, len(e.Fields))}
	for i := range e.Fields {
		f := &e.Fields[i]
		var err error
		if row.Values[i], err = decodeNumeric(f.Keeps(), cellOf{found, i}, f.Places); err == nil {
			row.Values[i], err = f.Spelling.Loaded(row.Values[i])
		}
		if err != nil {
			u := &stores.Unreadable{Entity: e, Field: e.Name + "." + f.Name, Why: err.Error()}
			u.Key, _ = decode(e.Fields[e.Key].Kind, cellOf{found, e.Key})
			return stores.Row{}, u
		}
	}
	marks, err := readMarks(e, cellOf{found, len(e.Fields)})
	row.Marks = marks
	return row, err
}

// within adds to a condition that the row alias names lies within the scope.
func (v *view) within(t *text, e *stores.Entity, alias string, many bool) {
	if v.opens(e) {
		return
	}
	t.add(" AND ")
	v.scopeOf(t, e, many, func(f int) string { return datum(e, alias, f) })
}

// Find implements stores.Reader.
func (r *reader) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	if f.Beyond {
		wide := *r
		wide.view = view{stores.Scope{All: true}}
		r = &wide
	}
	if len(f.Lists) > 0 {
		return f.Apart(func(one stores.Find) ([][]stores.Value, error) { return r.Find(ctx, one) })
	}
	rows, err := r.find(ctx, f, false)
	if f.Unreadable == nil || !errors.Is(err, errUnreadable) {
		return rows, err
	}
	*f.Unreadable = nil
	if found, failed := r.unreadable(ctx, &f); failed != nil || !found {
		return nil, cmp.Or(failed, err) // it is a row that these refer to
	}
	return r.find(ctx, f, true)
}

// find is Find without lists. With readable, it looks at no row that holds what cannot be
// read.
func (r *reader) find(ctx context.Context, f stores.Find, readable bool) ([][]stores.Value, error) {
	f, err := f.Stored()
	if err != nil {
		return nil, err
	}
	spellings := f.Spellings()
	at := f.KeyAt()
	keyOf := func(found *sqlite.Stmt) (key stores.Value) {
		if at >= 0 {
			key, _ = decode(f.Entity.Fields[f.Entity.Key].Kind, cellOf{found, at})
		}
		return key
	}
	limit := f.Limit
	if limit <= 0 || limit > r.s.rowCap {
		limit = r.s.rowCap
	}
	q := &finder{view: &r.view, from: newText(), root: f.Entity}
	sel := q.from.part()
	kinds := make([]stores.Kind, 0, max(len(f.Select), len(f.Entity.Fields)))
	names := f.Select
	if names == nil {
		for i := range f.Entity.Fields {
			names = append(names, stores.Path{Field: i})
		}
	}
	places := make([]int, len(names))
	sel.add("SELECT ")
	for i, p := range names {
		if e, field := reached(f.Entity, p); p.Count == nil && !p.Marks && e != nil && field >= 0 && field < len(e.Fields) {
			places[i] = e.Fields[field].Places
		}
		if i > 0 {
			sel.add(",")
		}
		kind, err := q.selected(sel, p)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	if len(names) == 0 {
		sel.add("1")
	}
	where := q.from.part()
	if f.Where != nil {
		if err := q.cond(where, *f.Where, false); err != nil {
			return nil, err
		}
	} else {
		where.add("1")
	}
	if readable {
		for i := range f.Entity.Fields {
			if doubtful(f.Entity, i) {
				where.add(" AND ", readableFunction(f.Entity, i))
			}
		}
	}
	r.within(where, f.Entity, "t", true)
	order := q.from.part()
	order.add(" ORDER BY ")
	for _, o := range f.Order {
		kind, err := q.path(order, o.Path)
		if err != nil {
			return nil, err
		}
		if kind == stores.Decimal {
			order.add(" COLLATE ", decimalCollation)
		}
		if o.Desc {
			order.add(" DESC")
		}
		order.add(" NULLS LAST,")
	}
	order.add(datum(f.Entity, "t", f.Entity.Key))

	t := sel.add(" FROM ", table(f.Entity), " t").join(q.from).add(" WHERE ").join(where).join(order)
	most := limit
	if !f.Cut {
		most++ // one more shows that there are too many
	}
	t.add(" LIMIT ", strconv.Itoa(most)) // a literal: a value that is bound has SQLite plan the statement again each time

	var rows [][]stores.Value
	var block []stores.Value
	err = r.c.query(ctx, t.String(), t.args, func(found *sqlite.Stmt) error {
		if len(rows) == limit {
			return fmt.Errorf("more than %d rows: %w", limit, stores.ErrLimit)
		}
		if len(block) < len(names) {
			block = make([]stores.Value, len(names)*min(64, 2*len(rows)+4))
		}
		row := block[:len(names):len(names)]
		block = block[len(names):]
		for i := range row {
			v, err := decodeNumeric(kinds[i], cellOf{found, i}, places[i])
			if err != nil {
				return f.Leave(i, keyOf(found), err)
			}
			row[i] = v
		}
		if i, err := stores.Load(row, spellings); err != nil {
			return f.Leave(i, keyOf(found), err)
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return nil, fault("find", err)
	}
	return rows, nil
}

// unreadable finds the rows of an entity that hold what cannot be read, where a
// condition or an order ran into one, and reports whether there are any.
func (r *reader) unreadable(ctx context.Context, f *stores.Find) (found bool, err error) {
	e := f.Entity
	for i := range e.Fields {
		if !doubtful(e, i) {
			continue
		}
		t := newText().add("SELECT ", raw(e, "t", e.Key), ",", column(e, "t", i), " FROM ", table(e), " t WHERE NOT ", readableFunction(e, i))
		r.within(t, e, "t", true)
		err := r.c.query(ctx, t.String(), t.args, func(row *sqlite.Stmt) error {
			found = true
			u := stores.Unreadable{Entity: e, Field: e.Name + "." + e.Fields[i].Name}
			u.Key, _ = decode(e.Fields[e.Key].Kind, cellOf{row, 0})
			if _, err := decodeNumeric(e.Fields[i].Keeps(), cellOf{row, 1}, e.Fields[i].Places); err != nil {
				u.Why = err.Error()
			}
			*f.Unreadable = append(*f.Unreadable, u)
			return nil
		})
		if err != nil {
			return found, fault("find", err)
		}
	}
	return found, nil
}

// reached is the entity and field at the end of a path.
func reached(e *stores.Entity, p stores.Path) (*stores.Entity, int) {
	for _, s := range p.Steps {
		e = s.To
	}
	return e, p.Field
}

// finder writes the parts of one Find. Every path that goes the same way shares
// the same joins.
type finder struct {
	*view
	from  *text // the joins
	root  *stores.Entity
	joins map[string]string // "3.1" -> alias of the row reached by fields 3 and then 1
}

// row returns the alias of the row that steps lead to, and its entity. A row
// outside the scope is not reached: everything about it is null.
func (q *finder) row(steps []stores.Step) (string, *stores.Entity, error) {
	alias, e, way := "t", q.root, ""
	for _, s := range steps {
		if s.To == nil || s.Field < 0 || s.Field >= len(e.Fields) || e.Fields[s.Field].Ref != s.To {
			return "", nil, fmt.Errorf("a path from %s follows a field of %s that is no reference: %w", q.root.Name, e.Name, stores.ErrInvalid)
		}
		way += "." + strconv.Itoa(s.Field)
		next, ok := q.joins[way]
		if !ok {
			next = q.from.alias()
			if q.joins == nil {
				q.joins = map[string]string{}
			}
			q.joins[way] = next
			q.from.add(" LEFT JOIN ", table(s.To), " ", next, " ON ", datum(s.To, next, s.To.Key), " = ", column(e, alias, s.Field))
			if !e.Vouches(s.Field) {
				q.within(q.from, s.To, next, false)
			}
		}
		alias, e = next, s.To
	}
	return alias, e, nil
}

// selected is path for what is returned, which may be as others spell it: it is read
// and not compared.
func (q *finder) selected(t *text, p stores.Path) (stores.Kind, error) {
	e, field := reached(q.root, p)
	if p.Count != nil || p.Marks || e == nil || field < 0 || field >= len(e.Fields) {
		return q.path(t, p)
	}
	alias, e, err := q.row(p.Steps)
	if err != nil {
		return 0, err
	}
	t.add(raw(e, alias, field))
	return e.Fields[field].Keeps(), nil
}

// path writes what a path leads to and returns its kind.
func (q *finder) path(t *text, p stores.Path) (stores.Kind, error) {
	alias, e, err := q.row(p.Steps)
	if err != nil {
		return 0, err
	}
	if p.Marks {
		marksOf(t, e, alias)
		return stores.String, nil
	}
	if p.Count == nil {
		if p.Field < 0 || p.Field >= len(e.Fields) {
			return 0, fmt.Errorf("a path from %s ends at no field of %s: %w", q.root.Name, e.Name, stores.ErrInvalid)
		}
		t.add(datum(e, alias, p.Field))
		return e.Fields[p.Field].Keeps(), nil
	}
	if p.By < 0 || p.By >= len(p.Count.Fields) || p.Count.Fields[p.By].Ref != e {
		return 0, fmt.Errorf("a count of %s by a field that does not refer to %s: %w", p.Count.Name, e.Name, stores.ErrInvalid)
	}
	c := t.alias()
	t.add("(SELECT count(*) FROM ", table(p.Count), " ", c, " WHERE ", datum(p.Count, c, p.By), " = ", column(e, alias, e.Key))
	if !p.Count.Vouches(p.By) {
		q.within(t, p.Count, c, false)
	} else {
		q.itself(t, p.Count, func(f int) string { return datum(p.Count, c, f) })
	}
	t.add(")")
	return stores.Int, nil
}

// cond writes a condition. SQL has three truth values and stores.Cond two, in
// which null equals null and nothing is before or after null; under a Not the
// difference shows, so there, in exact mode, unknown is made false.
func (q *finder) cond(t *text, c stores.Cond, exact bool) error {
	switch c.Op {
	case stores.True:
		t.add("1")
	case stores.False:
		t.add("0")
	case stores.And, stores.Or:
		word, none := " AND ", "1"
		if c.Op == stores.Or {
			word, none = " OR ", "0"
		}
		if len(c.Kids) == 0 {
			t.add(none)
			return nil
		}
		t.add("(")
		for i, k := range c.Kids {
			if i > 0 {
				t.add(word)
			}
			if err := q.cond(t, k, exact); err != nil {
				return err
			}
		}
		t.add(")")
	case stores.Not:
		if len(c.Kids) != 1 {
			return fmt.Errorf("a negation of %d conditions: %w", len(c.Kids), stores.ErrInvalid)
		}
		t.add("NOT (")
		if err := q.cond(t, c.Kids[0], true); err != nil {
			return err
		}
		t.add(")")
	case stores.In:
		return q.member(t, c, exact)
	case stores.Eq, stores.Ne, stores.Lt, stores.Le, stores.Gt, stores.Ge:
		return q.compare(t, c, exact)
	case stores.Contains, stores.Starts, stores.Ends, stores.Same:
		left := t.part()
		kind, err := q.path(left, c.Path)
		if err != nil {
			return err
		}
		if kind != stores.String || c.Value.Kind() != stores.String {
			t.add("0")
			return nil
		}
		lower := "0"
		if c.Lower {
			lower = "1"
		}
		t.add(ofTextFunction, "(", strconv.Itoa(int(c.Op)), ",", lower, ",").join(left).add(",").arg(c.Value).add(")")
	default:
		return fmt.Errorf("an unknown condition: %w", stores.ErrInvalid)
	}
	return nil
}

var operators = map[stores.CondOp]string{
	stores.Lt: " < ", stores.Le: " <= ", stores.Gt: " > ", stores.Ge: " >= ",
}

func (q *finder) compare(t *text, c stores.Cond, exact bool) error {
	left, right := t.part(), t.part()
	kind, err := q.path(left, c.Path)
	if err != nil {
		return err
	}
	other, constant := c.Value.Kind(), c.Other == nil
	if !constant {
		if other, err = q.path(right, *c.Other); err != nil {
			return err
		}
	} else if c.Value.IsNull() {
		switch c.Op {
		case stores.Eq:
			t.join(left).add(" IS NULL")
		case stores.Ne:
			t.join(left).add(" IS NOT NULL")
		default:
			t.add("0")
		}
		return nil
	}
	decimals := false
	number := func(k stores.Kind) bool { return k == stores.Int || k == stores.Decimal }
	switch {
	case number(kind) && number(other):
		decimals = kind == stores.Decimal || other == stores.Decimal
	case kind != other:
		// Values of different kinds are never equal, unless both are null, and
		// never in an order.
		equal := t.part().add("0")
		if !constant {
			equal = t.part().add("(").join(left).add(" IS NULL AND ").join(right).add(" IS NULL)")
		}
		switch c.Op {
		case stores.Eq:
			t.join(equal)
		case stores.Ne:
			t.add("NOT ").join(equal)
		default:
			t.add("0")
		}
		return nil
	}
	if constant {
		right.arg(c.Value)
		if decimals {
			right.args[0] = kept(stores.Decimal, c.Value)
		}
	}
	if decimals {
		if kind == stores.Int {
			left = t.part().add("CAST(").join(left).add(" AS TEXT)")
		}
		if other == stores.Int && !constant {
			right = t.part().add("CAST(").join(right).add(" AS TEXT)")
		}
		left.add(" COLLATE ", decimalCollation)
	}
	switch c.Op {
	case stores.Eq:
		// = finds through an index what IS finds, and a constant is not null.
		if constant && !exact {
			t.join(left).add(" = ").join(right)
			return nil
		}
		t.add("(").join(left).add(" IS ").join(right).add(")")
	case stores.Ne:
		t.add("(").join(left).add(" IS NOT ").join(right).add(")")
	default:
		if kind == stores.JSON {
			t.add("0")
			return nil
		}
		t.add("(").join(left).add(operators[c.Op]).join(right).add(")")
		if exact {
			t.add(" IS TRUE")
		}
	}
	return nil
}

func (q *finder) member(t *text, c stores.Cond, exact bool) error {
	left := t.part()
	kind, err := q.path(left, c.Path)
	if err != nil {
		return err
	}
	items, err := c.Value.Items(kind)
	if err != nil {
		return fmt.Errorf("a list to look in: %w: %w", err, stores.ErrInvalid)
	}
	null := false
	some := items[:0]
	for _, v := range items {
		if v.IsNull() {
			null = true
		} else {
			some = append(some, v)
		}
	}
	t.add("(")
	if null {
		t.join(left).add(" IS NULL OR ")
	}
	if len(some) == 0 {
		t.add("0)")
		return nil
	}
	t.join(left)
	if kind == stores.Decimal {
		t.add(" COLLATE ", decimalCollation)
	}
	in(t, kind, some)
	t.add(")")
	if exact {
		t.add(" IS TRUE")
	}
	return nil
}
