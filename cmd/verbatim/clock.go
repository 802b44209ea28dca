package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"verbatim/stores"
)

// Servers on several machines share a store, and one reads what another has written: until when a
// login, a link, a token or a question is valid. If their clocks differ, one server ends early
// what another has just begun. So a server uses the clock of the store, which they share.

const (
	// clockOff is the difference between clocks above which it is reported. It is more than the
	// response time of the store.
	clockOff = time.Second
	// clockAgain is how often the clocks are compared: clocks are corrected while servers run.
	clockAgain = 30 * time.Second
)

// clockAhead is how far this machine's clock is ahead of the store's.
func (a *app) clockAhead() time.Duration {
	if a.behind == nil {
		return 0
	}
	return -a.behind()
}

// byTheStore makes the program use the clock of a store until ctx ends, and logs the difference
// from its own clock.
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
			level, side := slog.LevelInfo, "behind"
			if is < 0 {
				side = "ahead"
			}
			if is.Abs() >= clockWrong {
				level = slog.LevelError
			}
			log.Log(ctx, level, "clock", side, is.Abs().Round(time.Millisecond).String(), "next", "have this machine and the store follow a time server; the server goes by the clock of the store")
		}
		return nil
	}
	if err := compare(); err != nil {
		return err
	}
	a.behind = func() time.Duration { return time.Duration(off.Load()) }
	a.now = func() time.Time { return here().Add(time.Duration(off.Load())) }
	go func() {
		again := time.NewTicker(clockAgain)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
				_ = compare() // a store that does not answer is reported elsewhere
			}
		}
	}()
	return nil
}
