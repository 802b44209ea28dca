// Package faults is a store that fails, for tests: at each of its calls in turn, once or from then on.
//
//	s := faults.New(store)
//	s.Fail(faults.Fails, 3, 1) // the third call from now on, and no other
//	...
//	s.Calls() // how many there were since
package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"verbatim/stores"
)

// A Way is a way to fail.
type Way int

// The ways.
const (
	Fails   Way = iota // at once, as where a server cannot be reached
	Stalls             // after the context, or a moment, as where a line is silent
	Limited            // it was too much for one read
	Full
	Standby
	Crowded
	Slow
	ways
)

// String says what a store does.
func (w Way) String() string {
	return [...]string{"fails", "stalls", "is limited", "is full", "only reads", "has no connection", "stops what is slow"}[w]
}

// A Table counts how often doors were tried while a store failed.
type Table struct {
	names []string
	tries map[string]*[ways]int
}

// Tried counts one try of a door.
func (t *Table) Tried(door string, way Way) {
	if t.tries == nil {
		t.tries = map[string]*[ways]int{}
	}
	if t.tries[door] == nil {
		t.names, t.tries[door] = append(t.names, door), new([ways]int)
	}
	t.tries[door][way]++
}

// String prints a line for each door, and a column for each way in which any was tried.
func (t *Table) String() string {
	var sum [ways]int
	for _, tries := range t.tries {
		for way, n := range tries {
			sum[way] += n
		}
	}
	var b strings.Builder
	line := func(name string, cell func(Way) any) {
		for way, n := range sum {
			if n > 0 {
				fmt.Fprintf(&b, "%20v", cell(Way(way)))
			}
		}
		fmt.Fprintf(&b, "  %s\n", name)
	}
	line("", func(w Way) any { return w })
	for _, name := range t.names {
		line(name, func(w Way) any { return t.tries[name][w] })
	}
	line(fmt.Sprintf("in all, at %d doors", len(t.names)), func(w Way) any { return sum[w] })
	return b.String()
}

// errs are the errors of all ways but the first two.
var errs = map[Way]error{Limited: stores.ErrLimit, Full: stores.ErrFull, Standby: stores.ErrStandby, Crowded: stores.ErrCrowded, Slow: stores.ErrSlow}

// Err is the error of a store that cannot be reached.
var Err = errors.New("the plug was pulled")

// A Store fails where it is told to. It is safe for use by many goroutines.
type Store struct {
	stores.Store
	mu                  sync.Mutex
	way                 Way
	calls, first, times int
}

// New returns a store that does not fail yet.
func New(s stores.Store) *Store { return &Store{Store: s} }

// Fail lets the store fail at its nth call from now on, counted from 1, and at so many calls in all. Zero
// times is never.
func (s *Store) Fail(way Way, nth, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.way, s.calls, s.first, s.times = way, 0, nth, times
}

// Calls returns how many calls there were since Fail.
func (s *Store) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *Store) fault(ctx context.Context) error {
	s.mu.Lock()
	s.calls++
	now, way := s.calls >= s.first && s.calls < s.first+s.times, s.way
	s.mu.Unlock()
	switch {
	case !now:
		return nil
	case errs[way] != nil:
		return errs[way]
	case way == Stalls:
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
		return context.DeadlineExceeded
	}
	return Err
}

func try[T any](ctx context.Context, s *Store, call func() (T, error)) (T, error) {
	if err := s.fault(ctx); err != nil {
		var none T
		return none, err
	}
	return call()
}

// View implements stores.Store.
func (s *Store) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	if err := s.fault(ctx); err != nil {
		return err
	}
	return s.Store.View(ctx, scope, func(r stores.Reader) error { return fn(&reader{r, s}) })
}

// Update implements stores.Store. It can fail before it begins, and before it commits.
func (s *Store) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	if err := s.fault(ctx); err != nil {
		return err
	}
	return s.Store.Update(ctx, scope, func(t stores.Tx) error {
		if err := fn(&tx{reader{t, s}, t}); err != nil {
			return err
		}
		return s.fault(ctx)
	})
}

// Identity implements stores.Store.
func (s *Store) Identity(ctx context.Context) (stores.Identity, error) {
	return try(ctx, s, func() (stores.Identity, error) { return s.Store.Identity(ctx) })
}

// Head implements stores.Store.
func (s *Store) Head(ctx context.Context) (n int64, hash [32]byte, err error) {
	if err = s.fault(ctx); err != nil {
		return n, hash, err
	}
	return s.Store.Head(ctx)
}

// Principal implements stores.Store.
func (s *Store) Principal(ctx context.Context, name string) (stores.Principal, error) {
	return try(ctx, s, func() (stores.Principal, error) { return s.Store.Principal(ctx, name) })
}

// Principals implements stores.Store.
func (s *Store) Principals(ctx context.Context) ([]string, error) {
	return try(ctx, s, func() ([]string, error) { return s.Store.Principals(ctx) })
}

// Seal implements stores.Store.
func (s *Store) Seal(ctx context.Context) error {
	if err := s.fault(ctx); err != nil {
		return err
	}
	return s.Store.Seal(ctx)
}

// Placed implements stores.Store.
func (s *Store) Placed(ctx context.Context, from, to int64) ([]stores.Entry, error) {
	return try(ctx, s, func() ([]stores.Entry, error) { return s.Store.Placed(ctx, from, to) })
}

// Journal implements stores.Store.
func (s *Store) Journal(ctx context.Context, from, to int64) ([]stores.Entry, error) {
	return try(ctx, s, func() ([]stores.Entry, error) { return s.Store.Journal(ctx, from, to) })
}

// Clock implements stores.Queue.
func (s *Store) Clock(ctx context.Context) (time.Time, error) {
	return try(ctx, s, func() (time.Time, error) { return s.Store.Clock(ctx) })
}

// Jobs implements stores.Queue.
func (s *Store) Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error) {
	return try(ctx, s, func() ([]stores.JobRecord, error) { return s.Store.Jobs(ctx, f) })
}

type reader struct {
	stores.Reader
	s *Store
}

func (r *reader) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	return try(ctx, r.s, func() (stores.Row, error) { return r.Reader.Get(ctx, e, key) })
}

func (r *reader) Rows(ctx context.Context, e *stores.Entity, keys []stores.Value) ([]stores.Row, error) {
	return try(ctx, r.s, func() ([]stores.Row, error) { return r.Reader.Rows(ctx, e, keys) })
}

func (r *reader) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	return try(ctx, r.s, func() ([][]stores.Value, error) { return r.Reader.Find(ctx, f) })
}

func (r *reader) Together(ctx context.Context, asks []stores.Ask) error {
	if err := r.s.fault(ctx); err != nil {
		return err
	}
	return r.Reader.Together(ctx, asks)
}

func (r *reader) Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error) {
	return try(ctx, r.s, func() ([]stores.JobRecord, error) { return r.Reader.Jobs(ctx, f) })
}

func (r *reader) Names(ctx context.Context, q stores.NameQuery) ([]stores.Name, error) {
	return try(ctx, r.s, func() ([]stores.Name, error) { return r.Reader.Names(ctx, q) })
}

func (r *reader) SQL(ctx context.Context, e []*stores.Entity, q stores.SQL) ([][]stores.Value, error) {
	return try(ctx, r.s, func() ([][]stores.Value, error) { return r.Reader.SQL(ctx, e, q) })
}

type tx struct {
	reader
	of stores.Tx
}

func (t *tx) Numbered() []stores.Entry { return t.of.Numbered() }

func (t *tx) Discard() { t.of.Discard() }

func (t *tx) Rewrites(ctx context.Context, e *stores.Entity) (bool, error) {
	return try(ctx, t.s, func() (bool, error) { return t.of.Rewrites(ctx, e) })
}

func (t *tx) Apply(ctx context.Context, b stores.Batch) error {
	if err := t.s.fault(ctx); err != nil {
		return err
	}
	return t.of.Apply(ctx, b)
}

func (t *tx) Draw(ctx context.Context, e *stores.Entity, field int) (stores.Value, error) {
	return try(ctx, t.s, func() (stores.Value, error) { return t.of.Draw(ctx, e, field) })
}
