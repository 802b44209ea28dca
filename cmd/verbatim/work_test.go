package main

import (
	"testing"
	"time"
)

// SAFE-R11: a worker whose clock is a day off goes by the store's; where they agree, it
// goes by its own.
func TestAWorkerGoesByTheStoresClock(t *testing.T) {
	t.Parallel()
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	for _, by := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour} {
		clock := setBy(time.Now().Add(by), func() time.Time { return noon })
		if off := clock().Sub(noon) - by; off.Abs() > time.Second {
			t.Errorf("with a store that is ahead by %s it is off by %s", by, off)
		}
	}
}
