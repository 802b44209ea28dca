package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"verbatim/stores"
)

// Update implements stores.Store.
func (s *Store) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	t := &tx{}
	err := s.write(ctx, func(c *conn) error {
		t.reader = reader{s: s, c: c, view: view{scope}}
		if err := fn(t); err != nil {
			return err
		}
		switch {
		case t.discarded:
			return errDiscarded
		case t.failed != nil:
			return t.failed
		}
		return t.finish(ctx)
	})
	if errors.Is(err, errDiscarded) {
		return nil
	}
	t.done = err == nil
	return err
}

// errDiscarded rolls a transaction back that was discarded.
var errDiscarded = errors.New("discarded")

// tx is a reader that also writes.
type tx struct {
	reader
	failed    error           // of the first Apply that failed: nothing commits after it
	entries   []stores.Entry  // of all batches, chained by finish
	numbers   []stores.Change // that wait for the journal's numbers
	done      bool            // it was committed
	discarded bool

	wordings  map[shape]*wording
	drawn     map[*stores.Entity]int64 // the last key that was drawn
	touched   touched
	reindexed bool // the index was changed
}

// Apply implements stores.Tx.
func (t *tx) Apply(ctx context.Context, b stores.Batch) error {
	if t.failed == nil {
		t.failed = t.apply(ctx, b)
	}
	return t.failed
}

// Discard implements stores.Tx.
func (t *tx) Discard() { t.discarded = true }

// Chained implements stores.Tx.
func (t *tx) Chained() []stores.Entry {
	if !t.done {
		return nil
	}
	return t.entries
}

func (t *tx) apply(ctx context.Context, b stores.Batch) error {
	for i := range b.Changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := b.Changes[i].Prepare()
		if err != nil {
			return err
		}
		if err := t.mayWrite(c); err != nil {
			return err
		}
		switch {
		case c.Number != 0:
			t.numbers = append(t.numbers, c)
		case c.Op == stores.Insert:
			err = t.insert(c)
		case c.Op == stores.Update:
			err = t.update(c)
		case c.Op == stores.Delete:
			err = t.delete(c)
		}
		if err == nil {
			err = t.exact(&c)
		}
		if err == nil {
			err = t.mark(&c)
		}
		if err != nil {
			return err
		}
		if c.Entity.Search != nil {
			t.touch(&c)
		}
	}
	if err := t.settle(b.Settled); err != nil {
		return err
	}
	if err := t.tend(b.Tended); err != nil { // a job that is dropped makes room for one of the same key
		return err
	}
	if err := t.enqueue(b.Jobs); err != nil {
		return err
	}
	for _, ask := range b.Asked {
		found, err := t.Names(ctx, ask.NameQuery)
		if err != nil {
			return err
		}
		*ask.Into = found
	}
	if err := t.call(b.Names); err != nil {
		return err
	}
	t.entries = append(t.entries, b.Entries...)
	return nil
}

// exact refuses decimals that a column of others keeps as numbers and that are too long
// to be exact there.
func (t *tx) exact(c *stores.Change) error {
	for _, a := range c.Set {
		f := &c.Entity.Fields[a.Field]
		if f.Places == 0 || a.Value.IsNull() || digits(a.Value.Text()) <= maxBinary {
			continue
		}
		q := newText().add("SELECT 1 FROM ", table(c.Entity), " t WHERE ")
		hasKeyOf(q, c.Entity, "t", c.Key)
		q.add(" AND typeof(", column(c.Entity, "t", a.Field), ") = 'text'")
		kept, err := t.c.exists(q.String(), q.args)
		if err != nil {
			return fault("update", err)
		}
		if !kept {
			return fmt.Errorf("%s.%s keeps %d digits exactly: %w", c.Entity.Name, f.Name, maxBinary, stores.ErrInvalid)
		}
	}
	return nil
}

// finish does what is left for the commit: the entries take their places in the
// journal, and rows that hold the number of the first are added.
func (t *tx) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.touched != nil {
		if err := t.follow(ctx); err != nil {
			return err
		}
	}
	if err := t.append(); err != nil {
		return err
	}
	for _, c := range t.numbers {
		if len(t.entries) > 0 {
			c.Set[c.Number].Value = stores.NewInt(t.entries[0].Seq)
		}
		if err := t.insert(c); err != nil {
			return err
		}
	}
	return nil
}

// mayWrite refuses what a scope sees and must not write.
func (t *tx) mayWrite(c stores.Change) error {
	e := c.Entity
	switch {
	case t.scope.All:
	case e.Access == stores.ForAll:
		return stores.ErrReadOnly
	case len(e.Scope) == 0 && c.Op != stores.Delete:
		for _, a := range c.Set {
			for _, set := range e.Unique {
				if slices.Contains(set, a.Field) {
					return stores.ErrReadOnly
				}
			}
		}
	}
	return nil
}

func (t *tx) insert(c stores.Change) error {
	e := c.Entity
	words, args := t.worded(&c, func(q *text) {
		q.add("INSERT INTO ", table(e), " (")
		for i := range c.Set {
			if i > 0 {
				q.add(",")
			}
			q.add(column(e, "", c.Set[i].Field))
		}
		q.add(") SELECT ")
		for i := range c.Set {
			if i > 0 {
				q.add(",")
			}
			q.of(&c, aSet, i)
		}
		q.add(" WHERE 1")
		t.refers(q, &c)
		col := func(f int) string {
			q.fill(&c, aSet, c.At(f))
			return "?"
		}
		switch {
		case t.opens(e):
		case len(e.Scope) > 0 && e.Vouches(e.Scope[0].Field):
			// Where the path begins with a reference that vouches for the row,
			// refers has said the rest already.
			t.itself(q, e, col)
		default:
			q.add(" AND ")
			t.scopeOf(q, e, false, col)
		}
	})
	n, err := t.c.exec(words, args...)
	if err != nil {
		return fault("insert", err)
	}
	if n == 0 {
		return stores.ErrNotFound
	}
	return t.unique(c)
}

// refers adds that every row the change refers to is there for the caller.
func (t *tx) refers(q *text, c *stores.Change) {
	for i := range c.Set {
		a := &c.Set[i]
		if !looksUp(c, a) {
			continue
		}
		ref, alias := c.Entity.Fields[a.Field].Ref, q.alias()
		q.add(" AND EXISTS (SELECT 1 FROM ", table(ref), " ", alias, " WHERE ", datum(ref, alias, ref.Key), " = ").of(c, aRef, i)
		t.within(q, ref, alias, false)
		q.add(")")
	}
}

func (t *tx) update(c stores.Change) error {
	e := c.Entity
	words, args := t.worded(&c, func(q *text) {
		q.add("UPDATE ", table(e), " AS t SET ")
		for i, a := range c.Set {
			if i > 0 {
				q.add(",")
			}
			q.add(column(e, "", a.Field), " = ").of(&c, aSet, i)
		}
		q.add(" WHERE ")
		t.guarded(q, &c)
		t.refers(q, &c)
	})
	n, err := t.c.exec(words, args...)
	if err != nil {
		return fault("update", err)
	}
	if n == 0 {
		return t.missed(c)
	}
	if !t.opens(e) && (len(e.Scope) > 0 && sets(c, e.Scope[0].Field) && !e.Vouches(e.Scope[0].Field) || hides(c)) {
		// The row may not leave the scope either. Where the path begins with a
		// reference that vouches for the row, refers has seen to it.
		q := newText().add("SELECT 1 FROM ", table(e), " t WHERE ")
		hasKeyOf(q, e, "t", c.Key)
		t.within(q, e, "t", false)
		switch ok, err := t.c.exists(q.String(), q.args); {
		case err != nil:
			return fault("update", err)
		case !ok:
			return stores.ErrNotFound
		}
	}
	return t.unique(c)
}

func (t *tx) delete(c stores.Change) error {
	words, args := t.worded(&c, func(q *text) {
		q.add("DELETE FROM ", table(c.Entity), " AS t WHERE ")
		t.guarded(q, &c)
	})
	n, err := t.c.exec(words, args...)
	if err != nil {
		return fault("delete", err)
	}
	if n == 0 {
		return t.missed(c)
	}
	return nil
}

// guarded writes the condition on the row t that a change is carried out on: it
// is the one meant, within the scope, and as it was when the change was planned.
func (t *tx) guarded(q *text, c *stores.Change) {
	e := c.Entity
	hasKey(q, e, "t", func(part int) { q.of(c, theKey, part) })
	t.within(q, e, "t", false)
	for _, g := range c.Guard {
		q.add(" AND ", datum(e, "t", g))
		kind := e.Fields[g].Keeps()
		if kind == stores.Decimal {
			q.add(" COLLATE ", decimalCollation)
		}
		q.add(" IS ").of(c, aBefore, g)
	}
}

// missed says why a change found no row.
func (t *tx) missed(c stores.Change) error {
	look := func(c stores.Change) (bool, error) {
		q := newText().add("SELECT 1 FROM ", table(c.Entity), " t WHERE ")
		t.guarded(q, &c)
		return t.c.exists(q.String(), q.args)
	}
	plain := c
	plain.Guard = nil
	for _, c := range []stores.Change{plain, c} {
		found, err := look(c)
		switch {
		case err != nil:
			return fault("update", err)
		case !found && len(c.Guard) > 0:
			return stores.ErrConflict
		case !found:
			return stores.ErrNotFound
		}
	}
	// The row is as it was: a row that it was to refer to is not there.
	return stores.ErrNotFound
}

// hides reports whether a change sets what hides its row.
func hides(c stores.Change) bool {
	return slices.ContainsFunc(c.Entity.Visible, func(f int) bool { return sets(c, f) })
}

func sets(c stores.Change, field int) bool {
	return slices.ContainsFunc(c.Set, func(a stores.Assign) bool { return a.Field == field })
}

// unique checks the unique sets that no index can, because the root that they
// are unique within is several references away. The write lock keeps others
// out between the check and the commit.
func (t *tx) unique(c stores.Change) error {
	e := c.Entity
	if !e.Managed || len(e.Scope) < 2 {
		return nil
	}
	for _, set := range e.Unique {
		if slices.Contains(set, e.Scope[0].Field) {
			continue // within the parent, and so within the root: an index does it
		}
		if !slices.ContainsFunc(c.Set, func(a stores.Assign) bool {
			return a.Field == e.Scope[0].Field || slices.Contains(set, a.Field)
		}) {
			continue
		}
		q := newText().add("SELECT 1 FROM ", table(e), " a JOIN ", table(e), " b ON ")
		for _, f := range set {
			q.add(column(e, "b", f), " = ", column(e, "a", f), " AND ")
		}
		q.add(column(e, "b", e.Key), " <> ", column(e, "a", e.Key), " WHERE ", column(e, "a", e.Key), " = ").arg(c.Key)
		q.add(" AND ", root(q, e, "a"), " = ", root(q, e, "b"))
		switch taken, err := t.c.exists(q.String(), q.args); {
		case err != nil:
			return fault("unique", err)
		case taken:
			return stores.ErrDuplicate
		}
	}
	return nil
}

// root returns the value at the end of the scope path of a row.
func root(q *text, e *stores.Entity, row string) string {
	t := q.part()
	at, alias := e.Scope[0].To, q.alias()
	key := datum(at, alias, at.Key) + " = " + column(e, row, e.Scope[0].Field)
	t.add(" FROM ", table(at), " ", alias)
	for _, step := range e.Scope[1 : len(e.Scope)-1] {
		next := q.alias()
		t.add(" JOIN ", table(step.To), " ", next, " ON ", datum(step.To, next, step.To.Key), " = ", column(at, alias, step.Field))
		at, alias = step.To, next
	}
	return "(SELECT " + datum(at, alias, e.Scope[len(e.Scope)-1].Field) + t.String() + " WHERE " + key + ")"
}
