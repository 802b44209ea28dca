package main

import (
	"context"
	"testing"
	"time"

	"verbatim/stores"
)

type ahead struct {
	stores.Queue
	by time.Duration
}

func (a ahead) Clock(context.Context) (time.Time, error) { return time.Now().Add(a.by), nil }

// SAFE-R11: a worker whose clock is a day off goes by the store's; where they agree, it
// goes by its own.
func TestAWorkerGoesByTheStoresClock(t *testing.T) {
	t.Parallel()
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	for _, by := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour} {
		clock, err := byStore(context.Background(), ahead{by: by}, func() time.Time { return noon })
		if err != nil {
			t.Fatal(err)
		}
		if off := clock().Sub(noon) - by; off.Abs() > time.Second {
			t.Errorf("with a store that is ahead by %s it is off by %s", by, off)
		}
	}
}
