// Package intime calls functions of others that may not return.
package intime

import (
	"context"
	"errors"
	"fmt"
)

// ErrLeft says that a function ended its goroutine and returned nothing.
var ErrLeft = errors.New("it ended its goroutine and returned nothing")

// Call calls fn in a goroutine of its own and returns what it returns. If ctx ends first, it returns an
// error that wraps ctx.Err() and leaves fn behind: what fn returns later is dropped, and what it shares
// with the caller has to be guarded by both. Panics are fn's to catch.
func Call[T any](ctx context.Context, fn func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: ErrLeft}
		defer func() { done <- a }()
		a.value, a.err = fn()
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-done: // both at once
		return a.value, a.err
	default:
		var none T
		return none, fmt.Errorf("it did not return when its time was over: %w", ctx.Err())
	}
}
