package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"verbatim/stores"
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
		return s.viewReplica(ctx, scope, read)
	}
	return s.read(ctx, s.pool, scope, read)
}

// reader reads on one connection within one scope.
type reader struct {
	s *Store
	c *conn
	view
	writes bool                    // within an Update
	tables map[*stores.Entity]bool // of reference data, that are held
	locked map[lock]bool           // whether rows that Get was asked for were there
}

// Get implements stores.Reader. Within an Update it also locks the row, so that
// what was read stays true until the commit, and whoever else would change the
// row waits instead of working in vain.
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

// hasKey writes that the row alias names has a key, by its parts if it has several;
// write writes one of them, as an argument of a type.
func (v *view) hasKey(t *text, e *stores.Entity, alias string, write func(part int, typ string)) {
	for i, f := range e.KeyFields() {
		if i > 0 {
			t.add(" AND ")
		}
		t.add(v.datum(e, alias, f), " = ")
		write(i, v.shapes[e].columns[f].arg)
	}
}

// is writes that a row has a key; what is no key finds no row.
func (v *view) is(t *text, e *stores.Entity, alias string, key stores.Value) {
	parts, ok := e.PartsOf(key)
	if !ok {
		t.add("false")
		return
	}
	v.hasKey(t, e, alias, func(part int, typ string) { t.arg(encode(parts[part]), typ) })
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

// beyond is Find whatever the scope. Policies are told so for this one statement; were it
// to fail, nothing else would be read in the transaction.
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

// mostExpected bounds the rows that room is made for before they come.
const mostExpected = 256

// finding makes the statements of a Find, and says what is to be done when they
// have run.
func (r *reader) finding(ctx context.Context, whole stores.Find, into *[][]stores.Value) ([]op, func(context.Context) error, error) {
	f, err := whole.Stored()
	if err != nil {
		return nil, nil, err
	}
	spellings := f.Spellings()
	var q question
	q.ask(&f)
	limit := f.Limit
	if limit <= 0 || limit > r.s.rowCap {
		limit = r.s.rowCap
	}
	most := limit
	if !f.Cut {
		most++ // one more shows that there are too many
	}
	st, err := r.found(ctx, &f, &q, most)
	if err != nil {
		return nil, nil, err
	}
	given := given{r.scoped, q.values}
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
			block = make([]stores.Value, width*min(64, 2*len(rows)))
		}
		row := block[:width:width]
		block = block[width:]
		for i := range row {
			v, err := raw.decode(i, st.columns[i])
			if err != nil {
				return f.Leave(i, keyOf(raw), err)
			}
			row[i] = v
		}
		if i, err := stores.Load(row, spellings); err != nil {
			return f.Leave(i, keyOf(raw), err)
		}
		for i := range lists {
			if err := lists[i].read(raw, max(1, width)+i); err != nil {
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

// found is the statement of a Find: one that is kept, or a new one.
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
	q := &finder{view: &r.view, from: newText(), root: f.Entity, at: "t", near: as.hold == stores.Loose}
	sel := q.from.part()
	names := f.Select
	if names == nil {
		for i := range f.Entity.Fields {
			names = append(names, stores.Path{Field: i})
		}
	}
	st := &statementOf{columns: make([]stores.Kind, len(names)), lists: make([]listed, len(f.Lists)), doubts: -1}
	sel.add("SELECT ")
	var err error
	for i, p := range names {
		if i > 0 {
			sel.add(",")
		}
		if st.columns[i], err = q.path(sel, p); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		sel.add("1")
	}
	for i := range st.lists {
		if st.lists[i], err = q.list(sel.add(","), &f.Lists[i], r.s.rowCap); err != nil {
			return nil, err
		}
	}
	where := q.from.part()
	if f.Where != nil {
		if err := q.cond(where, *f.Where, false); err != nil {
			return nil, err
		}
	} else {
		where.add("true")
	}
	r.within(where, f.Entity, "t", true)
	order := q.from.part()
	if err := q.order(order, f.Order); err != nil {
		return nil, err
	}
	tail := q.from.part().add(" FROM ", table(f.Entity), " t").join(q.from).add(" WHERE ").join(where)
	if as.hold != stores.Loose {
		st.ways = q.locks(r, f, as, tail)
		for _, w := range st.ways {
			if w.sql != "" {
				sel.add(",", r.datum(w.entity, w.alias, w.entity.Key))
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
	t := sel.join(tail).join(order).limit(as.most)
	st.sql, st.args, st.trusted = t.whole(), t.args, t.trusted
	return st, nil
}

// order writes in which order rows come.
func (q *finder) order(t *text, by []stores.Order) error {
	t.add(" ORDER BY ")
	for _, o := range by {
		kind, err := q.path(t, o.Path)
		if err != nil {
			return err
		}
		if kind == stores.String || kind == stores.JSON && q.form(o.Path).text {
			t.add(bytewise)
		}
		if o.Desc {
			t.add(" DESC")
		}
		t.add(" NULLS LAST,")
	}
	t.add(q.datum(q.root, q.at, q.root.Key))
	if q.root.Fields[q.root.Key].Kind == stores.String {
		t.add(bytewise)
	}
	return nil
}

// counted lists the entity that rows are asked of, and those whose rows are
// counted: nothing refers to them.
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
	at    string            // alias of the row asked for
	joins map[string]string // "3.1" -> alias of the row reached by fields 3 and then 1
	ways  []way             // the same rows, in the order in which they are reached
	// counted says that something is counted for the rows asked for themselves.
	counted bool
	// near says that whose a row is may be taken from what the row keeps of it.
	// Where the rows on the way there are to be held, they are gone to.
	near bool
}

// owner reports whether a path leads along the scope path of the row asked for
// to its end, which the row keeps itself: see root.go.
func (q *finder) owner(p stores.Path) bool {
	last := len(q.root.Scope) - 1
	if !q.near || p.Marks || p.Count != nil || last < 1 || len(p.Steps) != last || p.Field != q.root.Scope[last].Field || !q.shapes[q.root].rooted {
		return false
	}
	return slices.EqualFunc(p.Steps, q.root.Scope[:last], func(a, b stores.Step) bool { return a.Field == b.Field && a.To == b.To })
}

// row returns the alias of the row that steps lead to, and its entity. A row
// outside the scope is not reached: everything about it is null.
func (q *finder) row(steps []stores.Step) (string, *stores.Entity, error) {
	alias, e, way := q.at, q.root, ""
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
			q.ways = append(q.ways, reachedBy(next, s.To))
			q.from.add(" LEFT JOIN ", table(s.To), " ", next, " ON ", q.datum(s.To, next, s.To.Key), " = ", q.datum(e, alias, s.Field))
			if !e.Vouches(s.Field) {
				q.within(q.from, s.To, next, false)
			}
		}
		alias, e = next, s.To
	}
	return alias, e, nil
}

// path writes what a path leads to and returns its kind.
func (q *finder) path(t *text, p stores.Path) (stores.Kind, error) {
	if q.owner(p) {
		at, field := ending(q.root)
		t.add(q.at, ".", rootColumn)
		return at.Fields[field].Holds(), nil
	}
	alias, e, err := q.row(p.Steps)
	if err != nil {
		return 0, err
	}
	if p.Marks {
		q.marksOf(t, e, alias)
		return stores.String, nil
	}
	if p.Count == nil {
		if p.Field < 0 || p.Field >= len(e.Fields) {
			return 0, fmt.Errorf("a path from %s ends at no field of %s: %w", q.root.Name, e.Name, stores.ErrInvalid)
		}
		t.add(q.datum(e, alias, p.Field))
		return e.Fields[p.Field].Keeps(), nil
	}
	if p.By < 0 || p.By >= len(p.Count.Fields) || p.Count.Fields[p.By].Ref != e {
		return 0, fmt.Errorf("a count of %s by a field that does not refer to %s: %w", p.Count.Name, e.Name, stores.ErrInvalid)
	}
	q.counts(alias)
	c := t.alias()
	t.add("(SELECT count(*) FROM ", table(p.Count), " ", c, " WHERE ", q.datum(p.Count, c, p.By), " = ", q.datum(e, alias, e.Key))
	if !p.Count.Vouches(p.By) {
		q.within(t, p.Count, c, false)
	} else {
		q.itself(t, p.Count, func(f int) string { return q.datum(p.Count, c, f) })
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
		t.add("true")
	case stores.False:
		t.add("false")
	case stores.And, stores.Or:
		word, none := " AND ", "true"
		if c.Op == stores.Or {
			word, none = " OR ", "false"
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
		return q.ofText(t, c)
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
	value := slot{of: slotValue}
	other, constant := c.Value.Kind(), c.Other == nil
	if constant {
		value.n = t.nth()
	}
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
			t.add("false")
		}
		return nil
	}
	number := func(k stores.Kind) bool { return k == stores.Int || k == stores.Decimal }
	if kind != other && !(number(kind) && number(other)) {
		// Values of different kinds are never equal, unless both are null, and
		// never in an order.
		equal := t.part().add("false")
		if !constant {
			equal = t.part().add("(").join(left).add(" IS NULL AND ").join(right).add(" IS NULL)")
		}
		switch c.Op {
		case stores.Eq:
			t.join(equal)
		case stores.Ne:
			t.add("NOT ").join(equal)
		default:
			t.add("false")
		}
		return nil
	}
	if constant {
		typ := typeOf(other)
		if other == stores.JSON {
			typ = q.form(c.Path).arg
		}
		right.arg(value, typ)
	} else if kind == stores.JSON && q.form(c.Path).arg != q.form(*c.Other).arg {
		left, right = t.part().add("(").join(left).add(")::jsonb"), t.part().add("(").join(right).add(")::jsonb")
	}
	text := kind == stores.String || kind == stores.JSON && (!constant || q.form(c.Path).text)
	switch c.Op {
	case stores.Eq:
		// = finds through an index what IS NOT DISTINCT FROM does not, and a
		// constant is not null.
		if constant && !exact {
			t.join(left).add(" = ").join(right)
			return nil
		}
		if text && !constant && q.textual(c) {
			left.add(bytewise)
		}
		t.add("(").join(left).add(" IS NOT DISTINCT FROM ").join(right).add(")")
	case stores.Ne:
		if text && !constant && q.textual(c) {
			left.add(bytewise)
		}
		t.add("(").join(left).add(" IS DISTINCT FROM ").join(right).add(")")
	default:
		if kind == stores.JSON {
			t.add("false")
			return nil
		}
		if text {
			left.add(bytewise)
		}
		t.add("(").join(left).add(operators[c.Op]).join(right).add(")")
		if exact {
			t.add(" IS TRUE")
		}
	}
	return nil
}

// What stands before a text, and after it, to have it in the small letters of
// strings.ToLower, whatever the locale of the database. PostgreSQL, built with ICU as it is
// almost everywhere, makes something else of two capitals, by what stands beside them.
const (
	lowerBegins = "pg_catalog.lower(pg_catalog.translate("
	lowerEnds   = `, 'İΣ', 'iσ') COLLATE pg_catalog."und-x-icu")`
)

// ofText writes what stores.Cond.OfText says.
func (q *finder) ofText(t *text, c stores.Cond) error {
	left := t.part()
	kind, err := q.path(left, c.Path)
	if err != nil {
		return err
	}
	value := slot{of: slotValue, n: t.nth()}
	if kind != stores.String || c.Value.Kind() != stores.String || !q.form(c.Path).text {
		t.add("false")
		return nil
	}
	if c.Lower {
		left = t.part().add(lowerBegins).join(left).add(lowerEnds)
	}
	left.add(bytewise)
	switch t.add("COALESCE("); c.Op {
	case stores.Contains:
		t.add("pg_catalog.strpos(").join(left).add(", ").arg(value, "text").add(") > 0")
	case stores.Starts:
		t.add("pg_catalog.strpos(").join(left).add(", ").arg(value, "text").add(") = 1")
	case stores.Ends:
		t.add("pg_catalog.right(").join(left).add(", pg_catalog.char_length(").arg(value, "text").add(")) = ").arg(value, "text")
	default:
		t.add("(").join(left).add(") = ").arg(value, "text")
	}
	t.add(", false)")
	return nil
}

// bytewise orders text by its bytes, as stores.Compare does.
const bytewise = ` COLLATE pg_catalog."C"`

// form is that of the column at the end of a path.
func (q *finder) form(p stores.Path) *form {
	e, field := reached(q.root, p)
	return &q.shapes[e].columns[field]
}

// textual reports whether both sides of a comparison are text to PostgreSQL.
func (q *finder) textual(c stores.Cond) bool { return q.form(c.Path).text && q.form(*c.Other).text }

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
	at := slot{of: slotItems, n: t.nth()}
	t.add("(")
	if slices.ContainsFunc(items, stores.Value.IsNull) {
		t.join(left).add(" IS NULL OR ")
	}
	if !slices.ContainsFunc(items, func(v stores.Value) bool { return !v.IsNull() }) {
		t.add("false)")
		return nil
	}
	t.join(left)
	typ := typeOf(kind)
	if kind == stores.JSON {
		typ = q.form(c.Path).arg
	}
	t.add(" = ANY (").arg(at, typ+"[]").add("))")
	if exact {
		t.add(" IS TRUE")
	}
	return nil
}
