package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"verbatim/stores"
)

// An Unfit is why the store does not have the shape that the palettes need.
type Unfit struct {
	Why string // names tables and columns, for the log
	Do  string // the operator's next step
	// Newer says that other palettes migrated the store forward, and what to do; "" if that is not known.
	Newer string
	Err   error // is stores.ErrSchema or stores.ErrDenied
}

// Error implements error.
func (u *Unfit) Error() string { return u.Why }

// Next is the operator's next step, for the log.
func (u *Unfit) Next() string { return u.Do }

func (u *Unfit) Unwrap() error { return u.Err }

// fit is what is known of the store's shape. It is looked at when it is asked for; while it fits, not more often
// than each few seconds. A table or column that is missing, and one that may not be read, shows in a read of no rows. What
// else is missing shows in a closer look, which is taken at the start, after a request that failed for it, and
// until all is there.
type fit struct {
	mu      sync.Mutex
	looked  time.Time
	read    error         // of no rows
	err     error         // of the closer look
	closely bool          // that look came to an end
	looking chan struct{} // closed once the closer look has ended that is being taken; nil without one
	suspect atomic.Bool
}

const (
	fitEvery  = 3 * time.Second  // for which what was found holds
	closeTime = 30 * time.Second // that a closer look may take
)

func unfit(err error) bool {
	return errors.Is(err, stores.ErrSchema) || errors.Is(err, stores.ErrDenied)
}

// suspects notes that a request failed for the store's shape, and reports whether it did.
func (f *fit) suspects(err error) bool {
	if !unfit(err) {
		return false
	}
	f.suspect.Store(true)
	return true
}

// fits reports whether the store has the shape that the palettes need.
func (s *Server) fits(ctx context.Context) error {
	f := &s.fit
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := time.Since(f.looked) < fitEvery
	if bad := f.read != nil || f.err != nil; f.looking == nil && (!fresh || bad || f.suspect.Load()) {
		err := s.Engine.Fits(ctx)
		if err != nil && !unfit(err) {
			return err // the store does not answer, which is another matter
		}
		f.looked, f.read = time.Now(), err
		if suspect := f.suspect.Swap(false); s.Unfit != nil && (suspect || !f.closely || bad && err == nil || err != nil && !(bad && fresh)) {
			f.looking = make(chan struct{})
			s.after.Go(s.looksClosely)
		}
	}
	if looking := f.looking; looking != nil {
		f.mu.Unlock()
		select {
		case <-looking:
		case <-ctx.Done(): // it goes on, and until then the read counts
		}
		f.mu.Lock()
	}
	if f.err != nil {
		return f.err
	}
	return f.read
}

// looksClosely takes the closer look.
func (s *Server) looksClosely() {
	ctx, cancel := context.WithTimeout(s.ctx, closeTime)
	defer cancel()
	err := s.Unfit(ctx)
	f := &s.fit
	f.mu.Lock()
	defer f.mu.Unlock()
	if unfit(err) || err == nil {
		f.err, f.closely = err, true
	} else if s.ctx.Err() == nil {
		s.logError("shape of the store", err) // it is looked at again
	}
	close(f.looking)
	f.looking = nil
}
