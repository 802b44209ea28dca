// Package view is a store as one attempt at a program sees it: with the changes that the program has
// made, and with as few round trips as possible.
//
// There are two views. A Buffered view keeps the rows that it has read, reads ahead what calls are
// known to need (read-ahead), and delays changes until something is read that may depend on them,
// or until the end (write-behind), so that a series of writes is one batch. A Direct view does each
// thing when it is asked to. The outcome of a program is the same with either.
//
//	v := view.Open(tx, tx, facts)
//	row, err := v.Get(ctx, entity, key)      // kept
//	err = v.Change(ctx, changes)             // waits
//	found, err := v.Find(ctx, find)          // after what waited
//	err = v.Apply(ctx, batch)                // with what still waits
//
// If a delayed change is refused, it is no longer clear which call made it, and read-ahead may fail
// for a call that would never have been reached. A Buffered view then says that it misjudged, and
// Snapshot and Update try again with a Direct view, which reports the error at its place.
package view

import (
	"context"
	"errors"

	"verbatim/stores"
)

// An Opener opens a view of a snapshot, or of a transaction: then tx is not nil.
type Opener func(r stores.Reader, tx stores.Tx, f *Facts) *View

// Update runs fn in a transaction, with a view of it. If the view misjudged, it runs fn again, in
// another transaction with a Direct view.
func Update(ctx context.Context, store stores.Store, scope stores.Scope, open Opener, f *Facts, fn func(tx stores.Tx, v *View) error) error {
	return replayed(ctx, open, func(open Opener) (v *View, err error) {
		err = store.Update(ctx, scope, func(tx stores.Tx) error {
			v = open(tx, tx, f)
			return fn(tx, v)
		})
		return v, err
	})
}

// Snapshot is Update on a snapshot, which changes nothing.
func Snapshot(ctx context.Context, store stores.Store, scope stores.Scope, open Opener, f *Facts, fn func(v *View) error) error {
	return replayed(ctx, open, func(open Opener) (v *View, err error) {
		err = store.View(ctx, scope, func(r stores.Reader) error {
			v = open(r, nil, f)
			return fn(v)
		})
		return v, err
	})
}

func replayed(ctx context.Context, open Opener, try func(Opener) (*View, error)) error {
	v, err := try(open)
	if v != nil && v.Misjudged(err) && ctx.Err() == nil {
		_, err = try(Direct)
	}
	return err
}

// A RowKey identifies a row.
type RowKey struct {
	Entity *stores.Entity
	Key    stores.Value
}

// A Want is a row that will be wanted, and paths from it. Hold of Paths is the lock for the values
// along the paths; the row itself is locked as by Get.
type Want struct {
	Row   RowKey
	Along []Paths
}

// Paths are paths that are read together.
type Paths struct {
	Paths []stores.Path
	Hold  stores.Hold
}

// A Field is a field of an entity.
type Field struct {
	Entity *stores.Entity
	Field  int
}

// Facts are what a Buffered view knows about the entities: the fields that decide which rows are in
// a scope. They are safe for use by many views.
type Facts struct{ leads map[Field]bool }

// NewFacts finds the facts about entities.
func NewFacts(entities []*stores.Entity) *Facts {
	all := make(map[Field]bool)
	for _, e := range entities {
		at := e
		for _, step := range e.Scope {
			all[Field{at, step.Field}] = true
			at = step.To
		}
	}
	return &Facts{all}
}

// isVerdict reports whether an error is a store's refusal of a change, which is reported at the call
// that made the change.
func isVerdict(err error) bool {
	for _, verdict := range []error{stores.ErrNotFound, stores.ErrReadOnly, stores.ErrDuplicate, stores.ErrInvalid, stores.ErrLimit} {
		if errors.Is(err, verdict) {
			return true
		}
	}
	return false
}
