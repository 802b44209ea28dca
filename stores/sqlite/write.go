package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/merkle"
	"verbatim/stores/sqlcore"
)

// Update implements stores.Store.
func (s *Store) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	t := &tx{}
	err := s.write(ctx, func(c *conn) error {
		t.reader = reader{s: s, c: c, view: view{scope}}
		if err := t.Commits(fn(t)); err != nil {
			return err
		}
		return t.finish(ctx)
	})
	if err = t.Ended(err, &s.Room); err == nil && t.tree != nil {
		s.sealer.Keep(t.tree)
	}
	return err
}

// A tx is a reader that also writes.
type tx struct {
	reader
	sqlcore.Update
	wordings  map[shape]*wording
	drawn     map[*stores.Entity]int64 // the last key that was drawn
	reindexed bool                     // the index was changed
	tree      *merkle.Tree             // of the log, once the transaction has added to it
}

// Apply implements stores.Tx.
func (t *tx) Apply(ctx context.Context, b stores.Batch) error {
	if t.Failed == nil {
		t.Failed = t.apply(ctx, b)
	}
	return t.Failed
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
		if err := sqlcore.MayWrite(&t.scope, &c); err != nil {
			return err
		}
		switch {
		case c.Number != 0:
			t.Numbers = append(t.Numbers, c)
		case c.Op == stores.Insert:
			err = t.insert(c)
		case c.Op == stores.Update:
			err = t.update(c)
		case c.Op == stores.Delete:
			err = t.delete(c)
		}
		t.locate(&c, err)
		if err == nil {
			err = t.exact(&c)
		}
		if err == nil {
			err = t.mark(&c)
		}
		if err != nil {
			return err
		}
		t.Touch(&c)
	}
	if err := t.settle(b.Settled); err != nil {
		return err
	}
	if err := t.changeJobs(b.JobChanges); err != nil { // a dropped job frees its correlation key
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
	if len(b.Sealed) > 0 {
		if err := t.keep(b.Sealed); err != nil {
			return err
		}
	}
	t.Entries = append(t.Entries, b.Entries...)
	return nil
}

// exact returns an error for decimals that a column of others stores as numbers and that are too
// long to be exact there.
func (t *tx) exact(c *stores.Change) error {
	for _, a := range c.Set {
		f := &c.Entity.Fields[a.Field]
		if f.Places == 0 || a.Value.IsNull() || digits(a.Value.Text()) <= maxBinary {
			continue
		}
		q := newText().Add("SELECT 1 FROM ", table(c.Entity), " t WHERE ")
		t.hasKey(q, c.Entity, "t", c.Key)
		q.Add(" AND typeof(", column(c.Entity, "t", a.Field), ") = 'text'")
		kept, err := t.c.exists(q.Whole(), q.Args)
		if err != nil {
			return fault("update", err)
		}
		if !kept {
			return fmt.Errorf("%s.%s keeps %d digits exactly: %w", c.Entity.Name, f.Name, maxBinary, stores.ErrInvalid)
		}
	}
	return nil
}

// finish prepares the commit: the entries are added to the journal, and rows that hold the
// number of the first are added.
func (t *tx) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := t.follow(ctx); err != nil {
		return err
	}
	if err := t.append(); err != nil {
		return err
	}
	for _, c := range t.Numbers {
		if len(t.Entries) > 0 {
			c.Set[c.Number].Value = stores.NewInt(t.Entries[0].Seq)
		}
		if err := t.insert(c); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) insert(c stores.Change) error {
	e := c.Entity
	words, args := t.worded(&c, func(q *text) {
		q.Add("INSERT INTO ", table(e), " (")
		for i := range c.Set {
			if i > 0 {
				q.Add(",")
			}
			q.Add(column(e, "", c.Set[i].Field))
		}
		q.Add(") SELECT ")
		for i := range c.Set {
			if i > 0 {
				q.Add(",")
			}
			put(q, &c, aSet, i)
		}
		q.Add(" WHERE 1")
		t.refers(q, &c)
		col := func(f int) string {
			fill(q, &c, aSet, c.At(f))
			return "?"
		}
		sqlcore.Insertable(q, t, e, col)
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

// locate adds to what SQLite refused the entity, and the columns that it did not name.
func (t *tx) locate(c *stores.Change, err error) {
	var r *stores.Refused
	if !errors.As(err, &r) || r.Entity != nil || r.Table != "" && !strings.EqualFold(r.Table, tableName(c.Entity)) || r.Why == stores.ReferredTo || r.Why == stores.Raised {
		return
	}
	r.Entity = c.Entity
	if r.Why != stores.Checked && r.Why != stores.Referring {
		return
	}
	sql, args := "SELECT sql FROM sqlite_schema WHERE name = ? AND type <> 'trigger'", []stores.Value{str(tableName(c.Entity))}
	if r.Why == stores.Referring {
		sql = `SELECT group_concat("from", ' ') FROM pragma_foreign_key_list(?)`
	}
	about := ""
	_ = t.c.query(context.Background(), sql, args, func(row *sqlite.Stmt) error {
		about = row.ColumnText(0)
		return nil
	})
	if r.Why == stores.Checked {
		about = stores.CheckNamed(about, r.Constraint)
	}
	words := strings.FieldsFunc(about, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	for _, f := range c.Entity.Fields {
		set := r.Why == stores.Checked || slices.ContainsFunc(c.Set, func(a stores.Assign) bool { return c.Entity.Fields[a.Field].Column == f.Column && !a.Value.IsNull() })
		if set && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, f.Column) }) {
			r.Columns = append(r.Columns, f.Column)
		}
	}
	if r.Why == stores.Referring && len(r.Columns) > 1 {
		r.Columns = nil // SQLite does not say which
	}
}

// refers adds the condition that the caller can see every row that the change refers to.
func (t *tx) refers(q *text, c *stores.Change) {
	for i := range c.Set {
		a := &c.Set[i]
		if !looksUp(c, a) {
			continue
		}
		sqlcore.Sees(q.Add(" AND "), t, c.Entity.Fields[a.Field].Ref, func() { put(q, c, aRef, i) })
	}
}

func (t *tx) update(c stores.Change) error {
	e := c.Entity
	words, args := t.worded(&c, func(q *text) {
		q.Add("UPDATE ", table(e), " AS t SET ")
		for i, a := range c.Set {
			if i > 0 {
				q.Add(",")
			}
			put(q.Add(column(e, "", a.Field), " = "), &c, aSet, i)
		}
		q.Add(" WHERE ")
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
	if !t.Opens(e) && sqlcore.Leaves(&c) {
		// The row may not leave the scope either. If the path begins with a reference that
		// vouches for the row, refers has checked that.
		q := newText()
		sqlcore.Inside(q, t, e, func() { t.hasKey(q, e, "t", c.Key) })
		switch ok, err := t.c.exists(q.Whole(), q.Args); {
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
		q.Add("DELETE FROM ", table(c.Entity), " AS t WHERE ")
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

// guarded writes the condition for changing the row t: it has the key, lies within the scope, and
// is as it was when the change was planned.
func (t *tx) guarded(q *text, c *stores.Change) {
	e := c.Entity
	sqlcore.HasKey(q, t, e, "t", func(part, _ int) { put(q, c, theKey, part) })
	sqlcore.Within(q, t, e, "t", false)
	for _, g := range c.Guard {
		q.Add(" AND ", datum(e, "t", g))
		collate(q, e.Fields[g].Keeps())
		put(q.Add(dialect.Is), c, aBefore, g)
	}
}

// missed returns the reason why a change found no row.
func (t *tx) missed(c stores.Change) error {
	look := func(c stores.Change) (bool, error) {
		q := newText().Add("SELECT 1 FROM ", table(c.Entity), " t WHERE ")
		t.guarded(q, &c)
		return t.c.exists(q.Whole(), q.Args)
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
	// The row is as it was: a row that the change refers to is missing, or a trigger kept it.
	if !c.Entity.Managed {
		q := newText().Add("SELECT 1 FROM ", table(c.Entity), " t WHERE ")
		t.guarded(q, &c)
		if c.Op != stores.Delete {
			t.refers(q, &c)
		}
		if found, err := t.c.exists(q.Whole(), q.Args); err != nil {
			return fault("update", err)
		} else if found {
			return sqlcore.KeptBack(c.Entity)
		}
	}
	return stores.ErrNotFound
}

// unique checks the unique sets that no index can enforce, because the root that they are unique
// within is several references away. The write lock keeps others out between the check and the
// commit.
func (t *tx) unique(c stores.Change) error {
	e := c.Entity
	for _, n := range sqlcore.Unindexed(&c) {
		q := newText()
		sqlcore.Twins(q, t, e, e.Unique[n], func() { q.Add(column(e, "a", e.Key), " = ").Arg(c.Key) })
		switch taken, err := t.c.exists(q.Whole(), q.Args); {
		case err != nil:
			return fault("unique", err)
		case taken:
			return stores.ErrDuplicate
		}
	}
	return nil
}
