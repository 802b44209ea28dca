package sqlcore

import (
	"errors"
	"slices"
	"sync/atomic"

	"verbatim/stores"
)

// An Update is the state of a transaction that writes.
type Update struct {
	Failed    error           // the error of the first Apply that failed: nothing commits after it
	Entries   []stores.Entry  // of all batches, numbered when the transaction commits
	Numbers   []stores.Change // changes that wait for the journal's numbers
	Touched   Touched         // rows whose index has to be updated
	committed bool
	discarded bool
}

// errDiscarded rolls back a discarded transaction.
var errDiscarded = errors.New("discarded")

// Discard implements stores.Tx.
func (u *Update) Discard() { u.discarded = true }

// Numbered implements stores.Tx.
func (u *Update) Numbered() []stores.Entry {
	if !u.committed {
		return nil
	}
	return u.Entries
}

// Commits returns nil if a transaction whose function returned err is to be committed.
func (u *Update) Commits(err error) error {
	switch {
	case err != nil:
		return err
	case u.discarded:
		return errDiscarded
	}
	return u.Failed
}

// Room records whether the disk was full at the last write of a store.
type Room struct{ none atomic.Bool }

// Full implements stores.Store.
func (r *Room) Full() bool { return r.none.Load() }

// Ended notes how the transaction ended, and returns the error for the caller.
func (u *Update) Ended(err error, r *Room) error {
	u.committed = err == nil
	if errors.Is(err, stores.ErrFull) {
		r.none.Store(true)
	} else if u.committed && len(u.Entries) > 0 { // a transaction that wrote little may have found room
		r.none.Store(false)
	}
	if errors.Is(err, errDiscarded) {
		return nil
	}
	return err
}

// MayWrite returns an error for a change of a row that the scope sees and must not write.
func MayWrite(scope *stores.Scope, c *stores.Change) error {
	e := c.Entity
	switch {
	case scope.All:
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

// Hides reports whether a change sets a Visible field of its row.
func Hides(c *stores.Change) bool {
	return slices.ContainsFunc(c.Entity.Visible, func(f int) bool { return Sets(c, f) })
}

// Sets reports whether a change sets a field.
func Sets(c *stores.Change, field int) bool {
	return slices.ContainsFunc(c.Set, func(a stores.Assign) bool { return a.Field == field })
}

// Leaves reports whether an update may take its row out of the scope, so that it has to be looked
// up again. If the scope path begins with a reference that vouches for the row, the row referred
// to is looked up in any case.
func Leaves(c *stores.Change) bool {
	e := c.Entity
	return len(e.Scope) > 0 && Sets(c, e.Scope[0].Field) && !e.Vouches(e.Scope[0].Field) || Hides(c)
}

// Unindexed lists the unique sets that a change touches and that no index can enforce, because
// the scope root, within which they are unique, is several references away.
func Unindexed(c *stores.Change) (sets []int) {
	e := c.Entity
	if !e.Managed || len(e.Scope) < 2 {
		return nil
	}
	for n, set := range e.Unique {
		if _, unique := UniqueWithin(e, set); !unique && (Sets(c, e.Scope[0].Field) || slices.ContainsFunc(set, func(f int) bool { return Sets(c, f) })) {
			sets = append(sets, n)
		}
	}
	return sets
}

// UniqueWithin returns the fields of the index that keeps a set unique within the scope root. If
// the root is several references away and the set does not name the first of them, unique is
// false: no index can enforce it, and the store checks with the help of a plain one.
func UniqueWithin(e *stores.Entity, set []int) (fields []int, unique bool) {
	switch {
	case len(e.Scope) == 0 || slices.Contains(set, e.Scope[0].Field):
		return set, true
	case len(e.Scope) == 1:
		return append([]int{e.Scope[0].Field}, set...), true
	}
	return set, false
}

// Touched are keys of rows, by their entity.
type Touched map[*stores.Entity]map[stores.Value]bool

// Touch notes the row of a change if its index has to be updated.
func (u *Update) Touch(c *stores.Change) {
	if c.Entity.Search == nil || !c.Reindexed() {
		return
	}
	if u.Touched == nil {
		u.Touched = Touched{}
	}
	if u.Touched[c.Entity] == nil {
		u.Touched[c.Entity] = map[stores.Value]bool{}
	}
	u.Touched[c.Entity][c.Key] = true
}

// Sees writes the condition that the scope sees the row of an entity whose key is the value that
// key writes.
func Sees[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, key func()) {
	alias := t.Alias()
	t.Add("EXISTS (SELECT 1 FROM ", v.Spells().Table(e), " ", alias, " WHERE ", v.Datum(e, alias, e.Key), " = ")
	key()
	Within(t, v, e, alias, false)
	t.Add(")")
}

// Inside writes the query that finds those of the rows t that lie within the scope; which writes
// the condition that picks rows.
func Inside[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, which func()) {
	t.Add("SELECT 1 FROM ", v.Spells().Table(e), " t WHERE ")
	which()
	Within(t, v, e, "t", false)
}

// Twins writes the query that finds, beside the rows a, others with the same values of a unique set
// and the same root; which writes the condition that picks the rows a.
func Twins[A, S any](t *Text[A, S], v Rows[A, S], e *stores.Entity, set []int, which func()) {
	table, quote := v.Spells().Table(e), v.Spells().Quote
	t.Add("SELECT 1 FROM ", table, " a JOIN ", table, " b ON ")
	for _, f := range set {
		column := quote(e.Fields[f].Column)
		t.Add("b.", column, " = a.", column, " AND ")
	}
	key := quote(e.Fields[e.Key].Column)
	t.Add("b.", key, " <> a.", key, " WHERE ")
	which()
	t.Add(" AND ", Root(t, v, e, "a"), " = ", Root(t, v, e, "b"), " LIMIT 1")
}
