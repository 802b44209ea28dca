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
	Entries   []stores.Entry  // of all batches, chained when the transaction commits
	Numbers   []stores.Change // changes that wait for the journal's numbers
	committed bool
	discarded bool
}

// errDiscarded rolls back a discarded transaction.
var errDiscarded = errors.New("discarded")

// Discard implements stores.Tx.
func (u *Update) Discard() { u.discarded = true }

// Chained implements stores.Tx.
func (u *Update) Chained() []stores.Entry {
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
