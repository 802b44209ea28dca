// Package view is a store as one attempt at a program sees it: with the changes
// that the program has made, and asked as seldom as can be.
//
// There are two views. A Buffered one keeps the rows that it has read, reads
// together what calls are known to want (read-ahead), and lets changes wait until
// something is read that may depend on them, or until the end (write-behind), so
// that a run of writes is one batch. A Direct one does each thing when it is asked
// to. A program comes to the same with either.
//
//	v := view.Open(tx, tx, facts)
//	row, err := v.Get(ctx, entity, key)      // kept
//	err = v.Change(ctx, changes)             // waits
//	found, err := v.Find(ctx, find)          // after what waited
//	err = v.Apply(ctx, batch)                // with what still waits
//
// A change that waited is refused late, when it is no longer clear which call made
// it, and what was read ahead may fail for a call that would never have been
// reached. A Buffered view then says that it misjudged, and the program is tried
// again with a Direct one, which tells the error where it belongs.
package view

import (
	"context"
	"errors"

	"verbatim/stores"
)

// A View reads a store and writes to it, within one transaction or on one
// snapshot. It is not safe for use by several goroutines.
type View interface {
	stores.Reader
	// Known returns a row that was read by its key, as it is now.
	Known(row RowKey) (stores.Row, bool)
	// Along returns what paths from a row lead to, where all of it was read ahead
	// and has not changed. With held, nobody else can change it either.
	Along(row RowKey, paths []stores.Path, held bool) ([]stores.Value, bool)
	// Follow follows a path from the values of a row through rows that are known.
	Follow(row []stores.Value, p stores.Path) (stores.Value, bool)
	// Ahead reads what is going to be wanted, and what is going to be asked: the same Find or
	// filter of jobs is answered with that, once, unless something was changed before.
	ReadAhead(ctx context.Context, wants []Want, asks []stores.Ask) error
	// Postpone reports whether a row that is wanted may be asked for with what is
	// read next. Missed says that it was not there then.
	Postpone(row RowKey) bool
	Missed(row RowKey) error
	// Change makes changes; they may wait.
	Change(ctx context.Context, changes []stores.Change) error
	// Flush hands over the changes that wait.
	Flush(ctx context.Context) error
	// Draw is that of the transaction; changes go on waiting.
	Draw(ctx context.Context, e *stores.Entity, field int) (stores.Value, error)
	// Apply hands over the changes that wait, and a batch behind them.
	Apply(ctx context.Context, b stores.Batch) error
	// Waiting reports whether changes wait.
	Waiting() bool
	// Misjudged reports whether an attempt that ended with this error, nil for one
	// that ended well, may end otherwise with a Direct view.
	Misjudged(err error) bool
}

// An Opener opens a view of a snapshot, or of a transaction: then tx is not nil.
type Opener func(r stores.Reader, tx stores.Tx, f *Facts) View

// A RowKey names one row.
type RowKey struct {
	Entity *stores.Entity
	Key    stores.Value
}

// A Want is a row that is going to be wanted, and what lies along paths from it.
// Hold is how firmly that is held; the row itself is held as by Get.
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

// Facts are what a Buffered view knows of the entities: on which fields it depends
// what lies within a scope. They are safe for use by many views.
type Facts struct{ leads map[Field]bool }

// NewFacts works them out.
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

// A direct keeps nothing and lets nothing wait.
type direct struct {
	stores.Reader
	tx stores.Tx
}

// Direct opens a Direct view.
func Direct(r stores.Reader, tx stores.Tx, _ *Facts) View { return &direct{r, tx} }

func (d *direct) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	f.Last = false // there may be more
	return d.Reader.Find(ctx, f)
}

func (d *direct) Known(RowKey) (stores.Row, bool) { return stores.Row{}, false }

func (d *direct) Along(RowKey, []stores.Path, bool) ([]stores.Value, bool) { return nil, false }

func (d *direct) Follow([]stores.Value, stores.Path) (stores.Value, bool) {
	return stores.Value{}, false
}

func (d *direct) ReadAhead(context.Context, []Want, []stores.Ask) error { return nil }

func (d *direct) Postpone(RowKey) bool { return false }

func (d *direct) Missed(RowKey) error { return stores.ErrNotFound }

func (d *direct) Change(ctx context.Context, changes []stores.Change) error {
	return d.Apply(ctx, stores.Batch{Changes: changes})
}

func (d *direct) Flush(context.Context) error { return nil }

func (d *direct) Apply(ctx context.Context, b stores.Batch) error { return d.tx.Apply(ctx, b) }

func (d *direct) Draw(ctx context.Context, e *stores.Entity, field int) (stores.Value, error) {
	return draw(ctx, d.tx, e, field)
}

// draw asks a transaction; there is nothing to draw on a snapshot.
func draw(ctx context.Context, tx stores.Tx, e *stores.Entity, field int) (stores.Value, error) {
	if tx == nil {
		return stores.Value{}, stores.ErrReadOnly
	}
	return tx.Draw(ctx, e, field)
}

func (d *direct) Waiting() bool { return false }

func (d *direct) Misjudged(error) bool { return false }

// isVerdict reports whether an error is a store's judgement on a change, which
// is told at the call that made it.
func isVerdict(err error) bool {
	for _, verdict := range []error{stores.ErrNotFound, stores.ErrReadOnly, stores.ErrDuplicate, stores.ErrInvalid, stores.ErrLimit} {
		if errors.Is(err, verdict) {
			return true
		}
	}
	return false
}
