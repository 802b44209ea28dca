package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// View implements stores.Store.
func (s *Store) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	return s.read(ctx, func(c *conn) error {
		// A snapshot begins with the first read, and should not wait for fn.
		if _, err := c.exists("SELECT 1 FROM sqlite_schema LIMIT 1", nil); err != nil {
			return fault("begin", err)
		}
		return fn(&reader{s: s, c: c, view: view{scope}})
	})
}

// A reader reads on one connection within one scope.
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
	t := newText().Add("SELECT ")
	fields(t, e)
	marksOfRow(t, e, key)
	t.Add(" FROM ", table(e), " t WHERE ")
	r.hasKey(t, e, "t", key)
	sqlcore.Within(t, r, e, "t", false)
	var row stores.Row
	err := r.c.query(context.Background(), t.Whole(), t.Args, func(found *sqlite.Stmt) (err error) {
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
	t := newText().Add("SELECT ")
	fields(t, e)
	marksOf(t, e, "t")
	t.Add(" FROM ", table(e), " t WHERE ")
	if len(e.Parts) == 0 {
		t.Add(datum(e, "t", e.Key))
		in(t, kind, fit)
	} else {
		t.Add("(")
		for i, key := range fit {
			if i > 0 {
				t.Add(" OR ")
			}
			r.hasKey(t, e, "t", key)
		}
		t.Add(")")
	}
	sqlcore.Within(t, r, e, "t", true)
	t.Add(" ORDER BY ", datum(e, "t", e.Key))
	var rows []stores.Row
	err := r.c.query(ctx, t.Whole(), t.Args, func(found *sqlite.Stmt) error {
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
		t.Add(raw(e, "t", i), ",")
	}
}

// readRow reads the fields of a row, and its marks behind them.
func readRow(e *stores.Entity, found *sqlite.Stmt) (stores.Row, error) {
	row := stores.Row{Entity: e, Values: make([]stores.Value, len(e.Fields))}
	for i := range e.Fields {
		f := &e.Fields[i]
		var err error
		if row.Values[i], err = decodeNumeric(f.Keeps(), cellOf{found, i}, f.Places); err == nil {
			row.Values[i], err = f.Loaded(row.Values[i])
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
	before := 0
	if f.Unreadable != nil {
		before = len(*f.Unreadable)
	}
	rows, err := r.find(ctx, f, false)
	if !f.Tolerant() || !errors.Is(err, errUnreadable) {
		return rows, err
	}
	if f.Unreadable != nil {
		*f.Unreadable = (*f.Unreadable)[:before]
	}
	r.c.lenient = asNull
	defer func() { r.c.lenient = strict }()
	if err := r.unreadable(ctx, f); err != nil {
		return nil, err
	}
	return r.find(ctx, f, true)
}

// find is Find without lists. With readable, it skips rows that cannot be compared, because they,
// or rows that they refer to, hold values that cannot be read.
func (r *reader) find(ctx context.Context, f stores.Find, readable bool) ([][]stores.Value, error) {
	f, err := f.Stored()
	if err != nil {
		return nil, err
	}
	ends := f.Ends()
	at := f.KeyAt()
	keyOf := func(found *sqlite.Stmt) (key stores.Value) {
		if at >= 0 {
			key, _ = decode(f.Entity.Fields[f.Entity.Key].Kind, cellOf{found, at})
		}
		return key
	}
	limit := sqlcore.Capped(f.Limit, r.s.rowCap)
	t := newText().Add("SELECT ")
	q := newFinder(&r.view, f.Entity, t.Part())
	kinds := make([]stores.Kind, 0, max(len(f.Select), len(f.Entity.Fields)))
	names := sqlcore.Selected(&f)
	places := make([]int, len(names))
	for i, p := range names {
		if e, field := sqlcore.Reached(f.Entity, p); p.Count == nil && !p.Marks && e != nil && field >= 0 && field < len(e.Fields) {
			places[i] = e.Fields[field].Places
		}
		if i > 0 {
			t.Add(",")
		}
		kind, err := q.selected(t, p)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	if len(names) == 0 {
		t.Add("1")
	}
	where := q.From.Part()
	if err := q.Where(where, f.Where); err != nil {
		return nil, err
	}
	order := q.From.Part()
	if err := q.Order(order, f.Order); err != nil {
		return nil, err
	}
	if readable && !f.Blank {
		for _, j := range q.joined {
			for i := range j.entity.Fields {
				if doubtful(j.entity, i) {
					where.Add(" AND ", readableFunction(j.entity, j.alias, i))
				}
			}
		}
	}
	sqlcore.Within(where, r, f.Entity, "t", true)
	t.Add(" FROM ", table(f.Entity), " t").Join(q.From).Add(" WHERE ").Join(where).Join(order)
	most := limit
	if !f.Cut {
		most++ // one more shows that there are too many
	}
	t.Limit(most)

	var rows [][]stores.Value
	var block []stores.Value
	err = r.c.query(ctx, t.Whole(), t.Args, func(found *sqlite.Stmt) error {
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
			if err == nil {
				v, err = stores.EndAt(ends, i).Loaded(v)
			}
			if err != nil {
				if blank, err := f.Leave(i, keyOf(found), err); err != nil || !blank {
					return err
				}
				v = stores.Value{}
			}
			row[i] = v
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return nil, fault("find", err)
	}
	return rows, nil
}

// unreadable adds to f.Unreadable the rows of the entity that hold a value that cannot be
// compared, and those that refer to a row with one, after a condition or an order met one.
func (r *reader) unreadable(ctx context.Context, f stores.Find) error {
	if f.Unreadable == nil {
		return nil
	}
	stored, err := f.Stored()
	if err != nil {
		return err
	}
	e := f.Entity
	from := newText().Part()
	q := newFinder(&r.view, e, from)
	if err := errors.Join(q.Where(from.Part(), stored.Where), q.Order(from.Part(), f.Order)); err != nil {
		return err
	}
	told := map[string]bool{}
	for _, j := range q.joined {
		for i := range j.entity.Fields {
			if !doubtful(j.entity, i) {
				continue
			}
			field := &j.entity.Fields[i]
			t := from.Part().Add("SELECT ", raw(e, "t", e.Key), ",", column(j.entity, j.alias, i), " FROM ", table(e), " t").Join(from).Add(" WHERE NOT ", readableFunction(j.entity, j.alias, i))
			sqlcore.Within(t, r, e, "t", true)
			err := r.c.query(ctx, t.Limit(r.s.rowCap).Whole(), t.Args, func(row *sqlite.Stmt) error {
				u := stores.Unreadable{Entity: e, Field: j.entity.Name + "." + field.Name}
				u.Key, _ = decode(e.Fields[e.Key].Kind, cellOf{row, 0})
				if _, err := decodeNumeric(field.Keeps(), cellOf{row, 1}, field.Places); err != nil {
					u.Why = err.Error()
				}
				if key := u.Key.Text(); u.Key.IsNull() || !told[key] {
					told[key] = true
					*f.Unreadable = append(*f.Unreadable, u)
				}
				return nil
			})
			if err != nil {
				return fault("find", err)
			}
		}
	}
	return nil
}

// finder writes the parts of one Find.
type finder struct {
	sqlcore.Finder[stores.Value, slots]
	*view
	joined []joinedRow // the row asked for, and those that paths lead to
}

type joinedRow struct {
	alias  string
	entity *stores.Entity
}

func newFinder(v *view, root *stores.Entity, from *text) *finder {
	q := &finder{view: v, joined: []joinedRow{{"t", root}}}
	q.Finder = sqlcore.Finder[stores.Value, slots]{Asks: q, From: from, Root: root, At: "t"}
	return q
}

// selected is Path for returned values, which may be in the form of others: they are read and not
// compared.
func (q *finder) selected(t *text, p stores.Path) (stores.Kind, error) {
	e, field := sqlcore.Reached(q.Root, p)
	if p.Count != nil || p.Marks || e == nil || field < 0 || field >= len(e.Fields) {
		return q.Path(t, p)
	}
	alias, e, err := q.Row(p.Steps)
	if err != nil {
		return 0, err
	}
	t.Add(raw(e, alias, field))
	return e.Fields[field].Keeps(), nil
}

// Near implements sqlcore.Asks: no row keeps a value from the end of a path.
func (q *finder) Near(stores.Path) (string, stores.Kind, bool) { return "", 0, false }

// Joined implements sqlcore.Asks.
func (q *finder) Joined(alias string, e *stores.Entity) {
	q.joined = append(q.joined, joinedRow{alias, e})
}

// Counted implements sqlcore.Asks: nothing is locked here.
func (q *finder) Counted(string) {}

// Marks implements sqlcore.Asks.
func (q *finder) Marks(t *text, e *stores.Entity, alias string) { marksOf(t, e, alias) }

// Orders implements sqlcore.Asks.
func (q *finder) Orders(t *text, _ stores.Path, kind stores.Kind) { collate(t, kind) }

// collate writes the collation by which values of a kind are compared.
func collate(t *text, kind stores.Kind) {
	if kind == stores.Decimal {
		t.Add(" COLLATE ", decimalCollation)
	}
}

// Sides implements sqlcore.Asks.
func (q *finder) Sides(c *stores.Cond, s *sqlcore.Sides[stores.Value, slots]) {
	decimals := s.Of == stores.Decimal || s.To == stores.Decimal
	if c.Other == nil && decimals {
		s.Right.Arg(kept(stores.Decimal, c.Value))
	} else if c.Other == nil {
		s.Right.Arg(c.Value)
	}
	if !decimals {
		return
	}
	if s.Of == stores.Int {
		s.Left = s.Left.Part().Add("CAST(").Join(s.Left).Add(" AS TEXT)")
	}
	if s.To == stores.Int && c.Other != nil {
		s.Right = s.Right.Part().Add("CAST(").Join(s.Right).Add(" AS TEXT)")
	}
	collate(s.Left, stores.Decimal)
}

// Among implements sqlcore.Asks.
func (q *finder) Among(t *text, _ *stores.Cond, kind stores.Kind, some []stores.Value, _ int) {
	collate(t, kind)
	in(t, kind, some)
}

// OfText implements sqlcore.Asks.
func (q *finder) OfText(t *text, c *stores.Cond, left *text, _ int) {
	lower := "0"
	if c.Lower {
		lower = "1"
	}
	t.Add(ofTextFunction, "(", strconv.Itoa(int(c.Op)), ",", lower, ",").Join(left).Add(",").Arg(c.Value).Add(")")
}
