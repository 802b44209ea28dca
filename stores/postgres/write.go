package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// Update implements stores.Store.
func (s *Store) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	if s.asOwner && !scope.All {
		return errOwner
	}
	t := &tx{}
	err := s.write(ctx, s.pool, scope, func(c *conn) error {
		*t = tx{} // it may be the second try
		c.judge = func(ctx context.Context, err error) error {
			t.Failed = t.told(ctx, err)
			return t.Failed
		}
		t.reader = reader{s: s, c: c, view: view{scoped: c.scoped, ajar: s.ajar, marked: &s.marked}, writes: true}
		if err := t.Commits(fn(t)); err != nil {
			return err
		}
		if err := t.follow(ctx); err != nil {
			return err
		}
		return t.finish()
	})
	if err = t.Ended(err, &s.Room); err == nil && len(t.Numbered()) > 0 {
		s.sealSoon()
	}
	return err
}

// A tx is a reader that also writes.
type tx struct {
	reader
	sqlcore.Update
	reindexed bool            // the index was changed
	changed   []stores.Change // for locate
	migrates  bool            // it belongs to a migration, or fills a store
	fills     bool
	placing   *placing // of sealed entries of another journal; nil without any
}

// Apply implements stores.Tx. The changes of a batch are one round trip. Its entries and its
// notices go with the commit: nothing in a transaction reads them.
func (t *tx) Apply(ctx context.Context, b stores.Batch) error {
	if t.Failed != nil {
		return t.Failed
	}
	t.Failed = t.told(ctx, t.apply(ctx, b))
	return t.Failed
}

// told returns the error for the caller that an error of a change stands for.
func (t *tx) told(ctx context.Context, err error) error {
	var miss *missed
	if errors.As(err, &miss) {
		err = t.why(ctx, miss.change)
	}
	t.locate(err)
	return err
}

// locate adds to what the server refused the entity, and the columns that it did not name: those of
// a constraint, and those whose types do not hold the values that they were to get.
func (t *tx) locate(err error) {
	var r *stores.Refused
	if !errors.As(err, &r) || r.Entity != nil {
		return
	}
	for e, sh := range t.shapes {
		if schema, name := schemaAndName(e.Table); sh != nil && schema+"."+name == r.Table {
			if r.Entity = e; len(r.Columns) == 0 && r.Why != stores.ReferredTo {
				r.Columns = sh.constraints[r.Constraint]
			}
			return
		}
	}
	for i := range t.changed {
		c := &t.changed[i]
		forms := t.shapes[c.Entity].columns
		for _, a := range c.Set {
			f := &forms[a.Field]
			if r.Why == stores.Unfit && !f.fits(a.Value) || r.Why == stores.Checked && r.Text == "type "+f.domain {
				r.Entity, r.Columns = c.Entity, []string{c.Entity.Fields[a.Field].Column}
				return
			}
		}
	}
	if n := len(t.changed); n > 0 && !slices.ContainsFunc(t.changed, func(c stores.Change) bool { return c.Entity != t.changed[0].Entity }) {
		r.Entity = t.changed[0].Entity
	}
}

func (t *tx) apply(ctx context.Context, b stores.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.s.asOwner && !t.migrates && len(b.Changes)+len(b.Entries)+len(b.Jobs)+len(b.Settled)+len(b.JobChanges) > 0 {
		return errOwner
	}
	changes := make([]stores.Change, 0, len(b.Changes))
	var enters []op
	for _, c := range b.Changes {
		c, err := c.Prepare()
		if err == nil {
			err = sqlcore.MayWrite(&t.scope, &c)
		}
		if err != nil {
			// An earlier statement of the batch may have a better reason to fail, but nothing is
			// done either way.
			return err
		}
		if err := t.c.ready(ctx, &t.view, c.Entity); err != nil {
			return err
		}
		if c.Number != 0 {
			t.Numbers = append(t.Numbers, c)
			continue
		}
		changes = append(changes, c)
		enters = append(enters, t.c.enter(c.Entity)...)
		t.Touch(&c)
	}
	t.changed = append(t.changed, changes...)
	var j joiner
	for i := 0; i < len(changes); {
		n := alike(changes[i:])
		if err := t.change(&j, changes[i:i+n]); err != nil {
			return err
		}
		i += n
	}
	settled, err := t.settle(b.Settled)
	if err != nil {
		return err
	}
	j.ops = append(j.ops, settled...) // a run that ends frees its correlation key
	also, jobs, err := t.enqueue(b.Jobs)
	if err != nil {
		return err
	}
	if len(b.Names) > 0 {
		also = append(also, part{"name", keepNames(b.Names), -1, nil})
	}
	j.flush(also, b.Asked)
	changed, err := t.changeJobs(b.JobChanges)
	if err != nil {
		return err
	}
	ops := append(append(append(enters, j.ops...), changed...), jobs...) // a job that is dropped frees its correlation key
	if b.Late {
		t.c.last = append(t.c.last, ops...)
	} else if len(ops) > 0 {
		if err := t.c.do(ctx, ops...); err != nil {
			return err
		}
	}
	t.Entries = append(t.Entries, b.Entries...)
	if len(b.Sealed) > 0 {
		return t.keep(ctx, b.Sealed)
	}
	return nil
}

// finish prepares the statements for the commit: the entries are added to the journal, and rows
// that hold the number of the first. These are the engine's own, of which no entry speaks.
func (t *tx) finish() error {
	ops, err := t.append()
	if err != nil {
		return err
	}
	var j joiner
	for i := range t.Numbers {
		if err := t.change(&j, t.Numbers[i:i+1]); err != nil {
			return err
		}
	}
	j.flush(nil, nil)
	t.c.last = append(append(t.c.last, ops...), j.ops...)
	return nil
}

// maxRun bounds the number of changes in one statement.
const maxRun = 1000

// alike returns how many of the changes, from the first, one statement can make together: they do
// the same to the same fields of different rows, and none of them needs to see what another did.
func alike(changes []stores.Change) int {
	if len(changes) == 1 {
		return 1
	}
	first := &changes[0]
	e := first.Entity
	seen := map[stores.Value]bool{}
	for n := range changes {
		c := &changes[n]
		same := n < maxRun && c.Op == first.Op && c.Entity == e && !seen[c.Key] && slices.Equal(c.Guard, first.Guard) &&
			slices.EqualFunc(c.Set, first.Set, func(a, b stores.Assign) bool { return a.Field == b.Field })
		for _, a := range c.Set {
			// A row that refers to a row of its own entity may refer to an earlier one of these.
			same = same && (e.Fields[a.Field].Ref != e || a.Value.IsNull() || a.Value == c.Key)
		}
		if !same {
			return max(1, n)
		}
		seen[c.Key] = true
	}
	return len(changes)
}

// change makes the statements of changes that are alike.
func (t *tx) change(j *joiner, cs []stores.Change) error {
	e := cs[0].Entity
	rows, err := t.rows(cs)
	if err != nil {
		return err
	}
	j.ops = append(j.ops, claimTable(e)...) // it may come before the waiting changes
	switch cs[0].Op {
	case stores.Insert:
		j.change(&cs[0], t.insert(cs, rows), append(t.unique(cs), t.markOps(cs)...))
	case stores.Update:
		var after []op
		if !t.Opens(e) && sqlcore.Leaves(&cs[0]) {
			// The row may not leave the scope either. If the path begins with a reference that
			// vouches for the row, refers has checked that.
			q := newText()
			sqlcore.Inside(q, t, e, func() { t.among(q, cs, "t") })
			after = append(after, opOf(q, "update", nil).counted(len(cs), stores.ErrNotFound))
		}
		after = append(append(after, t.unique(cs)...), t.markOps(cs)...)
		if p := t.update(cs, rows); len(cs) == 1 {
			j.change(&cs[0], p, after)
		} else {
			j.alone(append([]op{telling(p, cs)}, after...)...)
		}
	case stores.Delete:
		p, make := t.delete(cs, rows), part.op
		if len(cs) > 1 {
			make = func(p part) op { return telling(p, cs) }
		}
		j.alone(append([]op{make(p)}, t.markOps(cs)...)...)
	}
	return nil
}

// among writes the condition that the row with an alias is one of those changed.
func (t *tx) among(q *text, cs []stores.Change, alias string) {
	e := cs[0].Entity
	if len(cs) == 1 {
		t.is(q, e, alias, cs[0].Key)
		return
	}
	keys := make([]stores.Value, len(cs))
	for i := range cs {
		keys[i] = cs[i].Key
	}
	q.Add(t.Datum(e, alias, e.Key), " = ANY (").Arg(array(keys), "::", t.shapes[e].columns[e.Key].arg, "[]").Add(")")
}

// rowsOf is where the values of changes come from: a list of arguments for one change, and for
// several a table v of arrays side by side. Its columns are c0, c1 …: first the parts of the
// key, then what is set, then what is guarded. A last one, n, says which row it is.
type rowsOf struct {
	changes      int
	sets, guards int // the columns at which these begin
	types        []string
	values       []any // column by column
	marks        int   // the column with the changes of a row's marks, -1 if its marks stay
}

func (t *tx) rows(cs []stores.Change) (*rowsOf, error) {
	e, first := cs[0].Entity, &cs[0]
	forms, keys := t.shapes[e].columns, e.KeyFields()
	r := &rowsOf{changes: len(cs), sets: len(keys), guards: len(keys) + len(first.Set), marks: -1}
	r.types = make([]string, 0, r.guards+len(first.Guard))
	r.values = make([]any, 0, cap(r.types)*len(cs))
	for i, f := range keys {
		r.types = append(r.types, forms[f].arg)
		for j := range cs {
			parts, ok := e.PartsOf(cs[j].Key)
			if !ok {
				return nil, fmt.Errorf("a key of %s that is none: %w", e.Name, stores.ErrInvalid)
			}
			r.values = append(r.values, encode(parts[i]))
		}
	}
	for i, a := range first.Set {
		r.types = append(r.types, forms[a.Field].typ)
		for j := range cs {
			v, err := forms[a.Field].encodeAs(cs[j].Set[i].Value)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", e.Name, e.Fields[a.Field].Name, err)
			}
			r.values = append(r.values, v)
		}
	}
	for _, g := range first.Guard {
		r.types = append(r.types, forms[g].arg)
		for j := range cs {
			r.values = append(r.values, encode(cs[j].Before[g]))
		}
	}
	if t.shapes[e].marked && first.Op != stores.Delete {
		if all := remarks(cs); all != nil {
			r.marks = len(r.types)
			r.types, r.values = append(r.types, "jsonb"), append(r.values, all...)
		}
	}
	return r, nil
}

// many reports whether the values come from the table v.
func (r *rowsOf) many() bool { return r.changes > 1 }

// set writes the value of the ith field that is set, and guard that of the ith guarded one.
func (r *rowsOf) set(q *text, i int) { r.val(q, r.sets+i) }

func (r *rowsOf) guard(q *text, i int) { r.val(q, r.guards+i) }

// val writes one column: an argument, or a column of the table v.
func (r *rowsOf) val(q *text, column int) {
	if r.many() {
		q.Add("v.c", strconv.Itoa(column))
		return
	}
	q.Arg(r.values[column], "::", r.types[column])
}

// from writes the table v.
func (r *rowsOf) from(q *text) {
	q.Add("unnest(")
	for i, typ := range r.types {
		if i > 0 {
			q.Add(",")
		}
		q.Arg(arrayOf(r.values[i*r.changes:(i+1)*r.changes]), "::", typ, "[]")
	}
	q.Add(") WITH ORDINALITY AS v(")
	for i := range r.types {
		q.Add("c", strconv.Itoa(i), ",")
	}
	q.Add("n)")
}

func (t *tx) insert(cs []stores.Change, rows *rowsOf) part {
	e, c := cs[0].Entity, cs[0]
	forms := t.shapes[e].columns
	q := newText().Add("INSERT INTO ", table(e), " (")
	for i, a := range c.Set {
		if i > 0 {
			q.Add(",")
		}
		q.Add(t.shapes[e].quoted[a.Field])
	}
	var parent *stores.Entity // the row from which the new row takes its owner
	above := ""
	if t.shapes[e].rooted {
		parent, above = e.Scope[0].To, q.Alias()
		q.Add(",", rootColumn)
	}
	if rows.marks >= 0 {
		q.Add(",", markColumn)
	}
	q.Add(")")
	if t.shapes[e].always {
		q.Add(" OVERRIDING SYSTEM VALUE")
	}
	q.Add(" SELECT ")
	for i, a := range c.Set {
		if i > 0 {
			q.Add(",")
		}
		forms[a.Field].write(q, func(q *text) {
			if a.Field == c.Number && len(t.Entries) > 0 {
				q.Add("pg_catalog.currval('public.verbatim_number') - ").Arg(strconv.Itoa(len(t.Entries)-1), "::bigint")
				return
			}
			rows.set(q, i)
		})
	}
	if parent != nil {
		q.Add(",", above, ".", quote(ownerColumn(parent)))
	}
	if rows.marks >= 0 {
		q.Add(",NULLIF(")
		rows.val(q, rows.marks)
		q.Add(", '{}')")
	}
	switch {
	case rows.many() && parent != nil:
		q.Add(" FROM ")
		rows.from(q)
		q.Add(", ", table(parent), " ", above)
	case rows.many():
		q.Add(" FROM ")
		rows.from(q)
	case parent != nil:
		q.Add(" FROM ", table(parent), " ", above)
	}
	q.Add(" WHERE ")
	skip := -1
	if parent != nil {
		skip = e.Scope[0].Field
		q.Add(t.Datum(parent, above, parent.Key), " = ")
		rows.set(q, c.At(skip))
		sqlcore.Within(q, t, parent, above, false)
	} else {
		q.Add("true")
	}
	t.refers(q, cs, rows, skip)
	col := func(f int) string {
		p := q.Part()
		rows.set(p, c.At(f))
		q.Args = append(q.Args, p.Args...)
		return p.String()
	}
	sqlcore.Insertable(q, t, e, col)
	return part{"insert", q.Add(" RETURNING 1"), len(cs), func(int64) error { return stores.ErrNotFound }}
}

// refers adds the condition that the caller can see every row that the changes refer to, except
// through the field skip, which was tested already.
func (t *tx) refers(q *text, cs []stores.Change, rows *rowsOf, skip int) {
	e := cs[0].Entity
	for i, a := range cs[0].Set {
		ref := e.Fields[a.Field].Ref
		if ref == nil || a.Field == skip {
			continue
		}
		null, own := 0, 0
		for j := range cs {
			switch v := cs[j].Set[i].Value; {
			case v.IsNull():
				null++
			case ref == e && v == cs[j].Key:
				own++
			}
		}
		if null+own == len(cs) {
			continue
		}
		q.Add(" AND (")
		if null > 0 {
			rows.set(q, i)
			q.Add(" IS NULL OR ")
		}
		if own > 0 {
			rows.set(q, i)
			q.Add(" = v.c0 OR ")
		}
		sqlcore.Sees(q, t, ref, func() { rows.set(q, i) })
		q.Add(")")
	}
}

func (t *tx) update(cs []stores.Change, rows *rowsOf) part {
	e := cs[0].Entity
	forms := t.shapes[e].columns
	q := newText().Add("UPDATE ", table(e), " AS t SET ")
	for i, a := range cs[0].Set {
		if i > 0 {
			q.Add(",")
		}
		q.Add(t.shapes[e].quoted[a.Field], " = ")
		forms[a.Field].write(q, func(q *text) { rows.set(q, i) })
	}
	if rows.marks >= 0 {
		q.Add(",", markColumn, " = NULLIF(jsonb_strip_nulls(COALESCE(t.", markColumn, ", '{}') || ")
		rows.val(q, rows.marks)
		q.Add("), '{}')")
	}
	if rows.many() {
		q.Add(" FROM ")
		rows.from(q)
	}
	q.Add(" WHERE ")
	t.guarded(q, cs[0], rows)
	t.refers(q, cs, rows, -1)
	return changing("update", q, cs)
}

func (t *tx) delete(cs []stores.Change, rows *rowsOf) part {
	q := newText().Add("DELETE FROM ", table(cs[0].Entity), " AS t")
	if rows.many() {
		q.Add(" USING ")
		rows.from(q)
	}
	q.Add(" WHERE ")
	t.guarded(q, cs[0], rows)
	return changing("delete", q, cs)
}

// guarded writes the condition for changing the row t: it has the key, lies within the scope, and
// is as it was when the change was planned.
func (t *tx) guarded(q *text, c stores.Change, rows *rowsOf) {
	e := c.Entity
	sqlcore.HasKey(q, t, e, "t", func(part, _ int) { rows.val(q, part) })
	sqlcore.Within(q, t, e, "t", false)
	for i, g := range c.Guard {
		q.Add(" AND ", t.Datum(e, "t", g), dialect.Is)
		rows.guard(q, i)
	}
}

// changing makes a part of changes of existing rows. With several changes, it returns which rows
// it found.
func changing(doing string, q *text, cs []stores.Change) part {
	if len(cs) > 1 {
		return part{doing, q.Add(" RETURNING v.n"), len(cs), nil}
	}
	return part{doing, q.Add(" RETURNING 1"), 1, func(int64) error { return &missed{&cs[0]} }}
}

// telling makes a statement of several changes whose error says which of them missed its row.
func telling(p part, cs []stores.Change) op {
	whole := include(newText().Add("WITH u AS ("), p.text).Add(") SELECT ", orMiss("m IS NULL", "m"), " FROM (SELECT min(i) AS m FROM generate_series(1, ").
		Arg(strconv.Itoa(len(cs)), "::bigint").Add(") i WHERE i NOT IN (SELECT n FROM u)) x")
	o := opOf(whole, p.doing, nil)
	o.fails = func(n int64) error {
		if n < 1 || n > int64(len(cs)) {
			return stores.ErrNotFound
		}
		return &missed{&cs[n-1]}
	}
	return o
}

// A missed is the error of a change that found no row.
type missed struct{ change *stores.Change }

func (*missed) Error() string { return "missed" }

// why returns the reason why a change found no row: the caller cannot see it or a row that it was
// to refer to, or it has changed.
func (t *tx) why(ctx context.Context, c *stores.Change) error {
	if len(c.Guard) == 0 && c.Entity.Managed {
		return stores.ErrNotFound
	}
	if t.c.broken != nil {
		// A later change of the batch broke the transaction, which will not commit either way.
		// The cause is looked up in a new one.
		t.c.rollback(ctx)
		t.c.begun, t.c.broken, t.c.last = false, nil, nil
	}
	q := newText()
	sqlcore.Inside(q, t, c.Entity, func() { t.is(q, c.Entity, "t", c.Key) })
	rows, err := t.rows([]stores.Change{*c})
	if err != nil {
		return err
	}
	t.refers(q, []stores.Change{*c}, rows, -1)
	there, same := false, false
	as := newText().Add("SELECT 1 FROM ", table(c.Entity), " AS t WHERE ")
	t.guarded(as, *c, rows)
	err = t.c.do(ctx, opOf(q, "look", func(row) error {
		there = true
		return nil
	}), opOf(as, "look", func(row) error {
		same = true
		return nil
	}))
	switch {
	case err != nil:
		return err
	case there && same && !c.Entity.Managed:
		return sqlcore.KeptBack(c.Entity)
	case there:
		return stores.ErrConflict
	}
	return stores.ErrNotFound
}

// unique checks the unique sets that no index can enforce, because the root that they are unique
// within is several references away. Only one transaction at a time does so for a root and a set:
// the next sees what it committed.
func (t *tx) unique(cs []stores.Change) []op {
	e := cs[0].Entity
	if t.fills {
		return nil // rows of another store are unique already, and one lock for each owner would be too many
	}
	var ops []op
	for _, n := range sqlcore.Unindexed(&cs[0]) {
		set := e.Unique[n]
		filled := func(q *text) {
			for _, f := range set {
				q.Add(" AND ", column(e, "a", f), " IS NOT NULL")
			}
		}
		lock := newText()
		root := sqlcore.Root(lock, t, e, "a")
		lock.Add("SELECT pg_advisory_xact_lock(h) FROM (SELECT DISTINCT hashtextextended(").Arg(e.Table+"."+strconv.Itoa(n)+":", "::text")
		lock.Add(" || ", root, "::text, 0) AS h FROM ", table(e), " a WHERE ")
		t.among(lock, cs, "a")
		filled(lock)
		lock.Add(" ORDER BY h) x")

		q := newText()
		sqlcore.Twins(q, t, e, set, func() { t.among(q, cs, "a") })
		ops = append(ops, opOf(lock, "unique", nil), opOf(q, "unique", nil).counted(0, stores.ErrDuplicate))
	}
	return ops
}
