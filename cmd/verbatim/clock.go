package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"verbatim/stores"
)

// Servers of several machines share a store, and what one of them writes down another
// reads: until when a login, a link, a token or a question is good. Where their clocks
// disagree, one ends early what the other has just begun. So a server goes by the clock of
// the store, which is one.

const (
	// clockOff is by how much a clock may differ before anybody is told. It is more than
	// an answer of the store takes.
	clockOff = time.Second
	// clockAgain is how often they are compared: clocks are put right while servers run.
	clockAgain = 30 * time.Second
)

// byTheStore has the program go by the clock of a store until ctx ends, and tells the log
// by how much its own is off.
func (a *app) byTheStore(ctx context.Context, store stores.Store, log *slog.Logger) error {
	here := a.now
	var off atomic.Int64
	compare := func() error {
		before := here()
		at, err := store.Clock(ctx)
		if err != nil {
			return err
		}
		is := at.Sub(before.Add(here().Sub(before) / 2))
		if is.Abs() < clockOff {
			is = 0
		}
		if was := time.Duration(off.Swap(int64(is))); (was - is).Abs() >= clockOff {
			log.Info("clock", "behind", is.Round(time.Millisecond).String())
		}
		return nil
	}
	if err := compare(); err != nil {
		return err
	}
	a.now = func() time.Time { return here().Add(time.Duration(off.Load())) }
	go func() {
		again := time.NewTicker(clockAgain)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
				_ = compare() // of a store that does not answer, others tell
			}
		}
	}()
	return nil
}
