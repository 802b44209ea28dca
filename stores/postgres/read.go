package postgres

import (
	"context"
	"fmt"
	"slices"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// View implements stores.Store.
func (s *Store) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	if s.asOwner && !scope.All {
		return errOwner
	}
	read := func(c *conn) error {
		return fn(&reader{s: s, c: c, view: view{scoped: c.scoped, ajar: s.ajar, marked: &s.marked}})
	}
	if s.readsReplica(ctx) {
		if lost, err := s.viewReplica(ctx, scope, read); !lost {
			return err
		}
	}
	return s.read(ctx, s.pool, scope, read)
}

// A reader reads on one connection within one scope.
type reader struct {
	s *Store
	c *conn
	view
	writes bool                    // within an Update
	tables map[*stores.Entity]bool // reference data whose tables are locked
	locked map[lock]bool           // whether each row that Get was asked for existed
}

// Get implements stores.Reader. Within an Update it also locks the row, so that what was read
// stays true until the commit, and others who want to change the row wait instead of failing
// later.
func (r *reader) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	if err := ctx.Err(); err != nil {
		return stores.Row{}, err
	}
	if key.IsNull() || key.Kind() != e.Fields[e.Key].Kind {
		return stores.Row{}, stores.ErrNotFound
	}
	rows, err := r.Rows(ctx, e, []stores.Value{key})
	if err != nil {
		return stores.Row{}, err
	}
	if len(rows) == 0 {
		return stores.Row{}, stores.ErrNotFound
	}
	return rows[0], nil
}

// is writes the condition that a row has a key.
func (v *view) is(t *text, e *stores.Entity, alias string, key stores.Value) {
	sqlcore.HasKeyOf(t, v, e, alias, key, func(part stores.Value, field int) { t.Arg(encode(part), "::", v.shapes[e].columns[field].arg) })
}

// Find implements stores.Reader.
func (r *reader) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	if f.Beyond {
		return r.beyond(ctx, f)
	}
	if len(f.Lists) > 0 && r.writes && f.Hold != stores.Loose {
		return f.Apart(func(one stores.Find) ([][]stores.Value, error) { return r.Find(ctx, one) })
	}
	var rows [][]stores.Value
	ops, then, err := r.finding(ctx, f, &rows)
	if err != nil {
		return nil, err
	}
	ask := r.c.do
	if f.Last && !r.writes {
		ask = r.c.alone
	}
	if err := ask(ctx, ops...); err != nil {
		return nil, err
	}
	err = then(ctx)
	return rows, err
}

// beyond is Find without the scope. Policies are switched to it for this one statement; if the
// statement fails, the transaction reads nothing else.
func (r *reader) beyond(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	const opens = "SELECT pg_catalog.set_config('verbatim.all', $1::text, true)"
	before := "off"
	if r.scope.All {
		before = "on"
	}
	wide := *r
	wide.scoped, wide.writes = r.s.scopes.of(stores.Scope{All: true}), false
	var rows [][]stores.Value
	ops, then, err := wide.finding(ctx, f, &rows)
	if err != nil {
		return nil, err
	}
	all := append([]op{{doing: "find", sql: opens, args: []any{"on"}}}, ops...)
	if err := r.c.do(ctx, append(all, op{doing: "find", sql: opens, args: []any{before}})...); err != nil {
		return nil, err
	}
	err = then(ctx)
	return rows, err
}

// mostExpected bounds the number of rows for which memory is allocated in advance.
const mostExpected = 256

// finding makes the statements of a Find, and a function to call when they have run.
func (r *reader) finding(ctx context.Context, whole stores.Find, into *[][]stores.Value) ([]op, func(context.Context) error, error) {
	f, err := whole.Stored()
	if err != nil {
		return nil, nil, err
	}
	ends := f.Ends()
	var q question
	q.ask(&f)
	limit := sqlcore.Capped(f.Limit, r.s.rowCap)
	most := limit
	if !f.Cut {
		most++ // one more shows that there are too many
	}
	st, err := r.found(ctx, &f, &q, most)
	if err != nil {
		return nil, nil, err
	}
	given := slotValues{r.scoped, q.values}
	width := len(st.columns)
	lists := slices.Clone(st.lists)
	for i := range lists {
		lists[i].List = &f.Lists[i]
	}
	ops := make([]op, 0, len(st.ways)+1)
	var holds []*hold
	for i := range st.ways {
		w := &st.ways[i]
		if w.sql == "" {
			ops = append(ops, r.holdTable(w.entity)...)
			continue
		}
		h := &hold{entity: w.entity, column: max(1, width) + len(lists) + len(holds), keys: map[string]bool{}}
		ops = append(ops, op{doing: "hold", sql: w.sql, args: given.fill(w.args), read: func(raw row) error {
			h.keys[string(raw.raw[0])] = true
			return nil
		}})
		holds = append(holds, h)
	}
	has, doubt := r.writes && r.has(f), false
	before := 0
	if f.Unreadable != nil {
		before = len(*f.Unreadable)
	}
	keyAt := f.KeyAt()
	keyOf := func(raw row) (key stores.Value) {
		if keyAt >= 0 {
			key, _ = raw.decode(keyAt, f.Entity.Fields[f.Entity.Key].Kind)
		}
		return key
	}
	var rows [][]stores.Value
	var block []stores.Value
	ops = append(ops, op{doing: "find", sql: st.sql, args: given.fill(st.args), read: func(raw row) error {
		if len(rows) == limit {
			return fmt.Errorf("more than %d rows: %w", limit, stores.ErrLimit)
		}
		if err := held(raw, holds); err != nil {
			return err
		}
		if has && f.Hold != stores.Loose && !r.locked[lock{f.Entity, f.Where.Value}] {
			return fmt.Errorf("%s came while it was looked for: %w", f.Entity.Name, stores.ErrConflict)
		}
		if rows == nil {
			n := int(max(st.rows.Load(), 1))
			rows, block = make([][]stores.Value, 0, n), make([]stores.Value, width*n)
		}
		if len(block) < width {
			block = make([]stores.Value, width*min(64, 2*len(rows)+1)) // rows before it may be left out
		}
		row := block[:width:width]
		block = block[width:]
		for i := range row {
			v, err := raw.decode(i, st.columns[i])
			if err == nil {
				v, err = stores.EndAt(ends, i).Loaded(v)
			}
			if err != nil {
				if blank, err := f.Leave(i, keyOf(raw), err); err != nil || !blank {
					return err
				}
				v = stores.Value{}
			}
			row[i] = v
		}
		for i := range lists {
			if err := lists[i].read(raw, max(1, width)+i, &f); err != nil {
				return err
			}
		}
		doubt = st.doubts >= 0 && raw.yes(st.doubts)
		rows = append(rows, row)
		return nil
	}})
	return ops, func(ctx context.Context) (err error) {
		if doubt {
			r.mistrust(st.trusted)
			if f.Unreadable != nil {
				*f.Unreadable = (*f.Unreadable)[:before]
			}
			*into, err = r.Find(ctx, whole)
			return err
		}
		st.rows.Store(int32(min(len(rows), mostExpected)))
		*into = rows
		for i := range lists {
			*f.Lists[i].Into = lists[i].rows
		}
		return nil
	}, nil
}

// found returns the statement of a Find: a cached one, or a new one.
func (r *reader) found(ctx context.Context, f *stores.Find, q *question, most int) (*statementOf, error) {
	as := asked{most: most, ajar: r.ajar, bare: r.marked == nil}
	if r.writes && f.Hold != stores.Loose {
		as.hold, as.has = f.Hold, r.has(*f)
	}
	at := textKey{f.Entity, r.shape, uint64(q.digest), as}
	same := func(st *statementOf) bool { return slices.Equal(st.kinds, q.kinds) && sameFind(&st.find, f) }
	r.c.learned(&r.view)
	if st := r.s.asked.find(at, &r.view, same); st != nil {
		return st, nil
	}
	if err := r.c.ready(ctx, &r.view, counted(*f)...); err != nil {
		return nil, err
	}
	st, err := r.write(f, as)
	if err != nil {
		return nil, err
	}
	st.find, st.kinds, st.epoch = formOf(*f), q.kinds, r.epoch
	if !q.odd {
		r.s.asked.keep(at, st, same)
	}
	return st, nil
}

// write writes the statement of a Find.
func (r *reader) write(f *stores.Find, as asked) (*statementOf, error) {
	sel := newText()
	q := newFinder(&r.view, f.Entity, "t", sel.Part())
	q.near = as.hold == stores.Loose
	names := sqlcore.Selected(f)
	st := &statementOf{columns: make([]stores.Kind, len(names)), lists: make([]listed, len(f.Lists)), doubts: -1}
	sel.Add("SELECT ")
	var err error
	for i, p := range names {
		if i > 0 {
			sel.Add(",")
		}
		if st.columns[i], err = q.selected(sel, p); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		sel.Add("1")
	}
	for i := range st.lists {
		if st.lists[i], err = q.list(sel.Add(","), &f.Lists[i], r.s.rowCap); err != nil {
			return nil, err
		}
	}
	where := q.From.Part()
	if err := q.Where(where, f.Where); err != nil {
		return nil, err
	}
	sqlcore.Within(where, r, f.Entity, "t", true)
	order := q.From.Part()
	if err := q.Order(order, f.Order); err != nil {
		return nil, err
	}
	tail := q.From.Part().Add(" FROM ", table(f.Entity), " t").Join(q.From).Add(" WHERE ").Join(where)
	if as.hold != stores.Loose {
		st.ways = q.locks(r, f, as, tail)
		for _, w := range st.ways {
			if w.sql != "" {
				sel.Add(",", r.Datum(w.entity, w.alias, w.entity.Key))
			}
		}
	}
	if doubts(sel) {
		st.doubts = max(1, len(names)) + len(st.lists)
		for _, w := range st.ways {
			if w.sql != "" {
				st.doubts++
			}
		}
	}
	t := sel.Join(tail).Join(order).Limit(as.most)
	st.sql, st.args, st.trusted = t.Whole(), t.Args, t.Own.trusted
	return st, nil
}

// counted lists the entity of the Find and those whose rows it counts: references do not lead to
// these.
func counted(f stores.Find) []*stores.Entity {
	all := []*stores.Entity{f.Entity}
	for _, p := range f.Select {
		all = append(all, p.Count)
	}
	for _, o := range f.Order {
		all = append(all, o.Path.Count)
	}
	for i := range f.Lists {
		l := &f.Lists[i]
		all = append(all, counted(stores.Find{Entity: l.Entity, Select: l.Select, Where: l.Where, Order: l.Order})...)
	}
	var walk func(c *stores.Cond)
	walk = func(c *stores.Cond) {
		all = append(all, c.Path.Count)
		if c.Other != nil {
			all = append(all, c.Other.Count)
		}
		for i := range c.Kids {
			walk(&c.Kids[i])
		}
	}
	if f.Where != nil {
		walk(f.Where)
	}
	return all
}

// finder writes the parts of one Find.
type finder struct {
	sqlcore.Finder[any, shared]
	*view
	ways []way // the rows that paths lead to, in the order in which they are reached
	// counted says that something is counted for the rows asked for themselves.
	counted bool
	// near says that the owner may be taken from the column in which the row keeps it. If the
	// rows on the path have to be locked, the path is followed instead.
	near bool
}

func newFinder(v *view, root *stores.Entity, at string, from *text) *finder {
	q := &finder{view: v}
	q.Finder = sqlcore.Finder[any, shared]{Asks: q, From: from, Root: root, At: at}
	return q
}

// selected is Path for returned values, which are read and not compared.
func (q *finder) selected(t *text, p stores.Path) (stores.Kind, error) {
	if e, field := sqlcore.Reached(q.Root, p); p.Count == nil && !p.Marks && e != nil && field >= 0 && field < len(e.Fields) && q.shapes[e].columns[field].tells != "" {
		alias, e, err := q.Row(p.Steps)
		if err != nil {
			return 0, err
		}
		t.Add(q.told(e, alias, field))
		return e.Fields[field].Keeps(), nil
	}
	return q.Path(t, p)
}

// Near implements sqlcore.Asks: a path along the scope path of the row to its end leads to the
// owner that the row itself keeps: see root.go.
func (q *finder) Near(p stores.Path) (col string, kind stores.Kind, ok bool) {
	last := len(q.Root.Scope) - 1
	if !q.near || p.Marks || p.Count != nil || last < 1 || len(p.Steps) != last || p.Field != q.Root.Scope[last].Field || !q.shapes[q.Root].rooted ||
		!slices.EqualFunc(p.Steps, q.Root.Scope[:last], func(a, b stores.Step) bool { return a.Field == b.Field && a.To == b.To }) {
		return "", 0, false
	}
	at, field := sqlcore.Ending(q.Root)
	return q.At + "." + rootColumn, at.Fields[field].Holds(), true
}

// Joined implements sqlcore.Asks.
func (q *finder) Joined(alias string, e *stores.Entity) { q.ways = append(q.ways, reachedBy(alias, e)) }

// Marks implements sqlcore.Asks.
func (q *finder) Marks(t *text, e *stores.Entity, alias string) { q.marksOf(t, e, alias) }

// Orders implements sqlcore.Asks.
func (q *finder) Orders(t *text, p stores.Path, kind stores.Kind) {
	if kind == stores.String || kind == stores.JSON && q.form(p).text {
		t.Add(bytewise)
	}
}

// Sides implements sqlcore.Asks.
func (q *finder) Sides(c *stores.Cond, s *sqlcore.Sides[any, shared]) {
	constant := c.Other == nil
	if constant {
		typ := typeOf(s.To)
		if s.To == stores.JSON {
			typ = q.form(c.Path).arg
		}
		s.Right.Arg(slot{of: slotValue, n: s.Nth}, "::", typ)
	} else if s.Of == stores.JSON && q.form(c.Path).arg != q.form(*c.Other).arg {
		s.Left, s.Right = s.Left.Part().Add("(").Join(s.Left).Add(")::jsonb"), s.Left.Part().Add("(").Join(s.Right).Add(")::jsonb")
	}
	if s.Of != stores.String && !(s.Of == stores.JSON && (!constant || q.form(c.Path).text)) {
		return
	}
	switch c.Op {
	case stores.Eq, stores.Ne:
		if !constant && q.form(c.Path).text && q.form(*c.Other).text { // both columns are text in PostgreSQL
			s.Left.Add(bytewise)
		}
	default:
		s.Left.Add(bytewise)
	}
}

// Among implements sqlcore.Asks.
func (q *finder) Among(t *text, c *stores.Cond, kind stores.Kind, _ []stores.Value, nth int) {
	typ := typeOf(kind)
	if kind == stores.JSON {
		typ = q.form(c.Path).arg
	}
	t.Add(" = ANY (").Arg(slot{of: slotItems, n: nth}, "::", typ, "[]").Add(")")
}

// lowerBegins and lowerEnds enclose a text to convert it to lower case as strings.ToLower does,
// whatever the locale of the database. PostgreSQL, built with ICU as it is almost everywhere,
// converts two capitals differently depending on their neighbours.
const (
	lowerBegins = "pg_catalog.lower(pg_catalog.translate("
	lowerEnds   = `, 'İΣ', 'iσ') COLLATE pg_catalog."und-x-icu")`
)

// OfText implements sqlcore.Asks.
func (q *finder) OfText(t *text, c *stores.Cond, left *text, nth int) {
	if !q.form(c.Path).text {
		t.Add(dialect.False)
		return
	}
	value := slot{of: slotValue, n: nth}
	if c.Lower {
		left = t.Part().Add(lowerBegins).Join(left).Add(lowerEnds)
	}
	left.Add(bytewise)
	switch t.Add("COALESCE("); c.Op {
	case stores.Contains:
		t.Add("pg_catalog.strpos(").Join(left).Add(", ").Arg(value, "::text").Add(") > 0")
	case stores.Starts:
		t.Add("pg_catalog.strpos(").Join(left).Add(", ").Arg(value, "::text").Add(") = 1")
	case stores.Ends:
		t.Add("pg_catalog.right(").Join(left).Add(", pg_catalog.char_length(").Arg(value, "::text").Add(")) = ").Arg(value, "::text")
	default:
		t.Add("(").Join(left).Add(") = ").Arg(value, "::text")
	}
	t.Add(", false)")
}

// bytewise orders text by its bytes, as stores.Compare does.
const bytewise = ` COLLATE pg_catalog."C"`

// form returns the form of the column at the end of a path.
func (q *finder) form(p stores.Path) *form {
	e, field := sqlcore.Reached(q.Root, p)
	return &q.shapes[e].columns[field]
}
