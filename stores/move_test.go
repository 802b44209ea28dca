package stores

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// A waiting is a store with an entry that is not sealed.
type waiting struct {
	Store
	unsealed Unsealed
}

func (w waiting) Principals(context.Context) ([]string, error)          { return nil, nil }
func (w waiting) Head(context.Context) (n int64, h [32]byte, err error) { return 0, h, nil }
func (w waiting) Unsealed(context.Context) (Unsealed, error)            { return w.unsealed, nil }
func (w waiting) Journal(context.Context, int64, int64) ([]Entry, error) {
	return make([]Entry, 1), nil
}

type unfilled struct{ Filler }

func (unfilled) Jobs(context.Context, JobFilter) ([]JobRecord, error) { return nil, nil }
func (unfilled) Root(context.Context) (h [32]byte, err error)         { return h, nil }

// An entry that is not sealed has no place, and would be left behind without a word. In the target it
// is a journal all the same.
func TestEntriesThatWaitAreNotMoved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var refused *MoveError
	for _, u := range []Unsealed{{Waiting: 1}, {Stray: []int64{7}}} {
		m := Move{From: waiting{unsealed: u}, Fill: unfilled{}}
		if err := m.journal(ctx, &Moved{}); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", u, err)
		}
	}
	if err := (&Move{From: waiting{}, Fill: unfilled{}}).journal(ctx, &Moved{}); err != nil {
		t.Error(err)
	}
	if err := (&Move{To: waiting{}, Fill: unfilled{}}).empty(ctx); !errors.As(err, &refused) || !strings.Contains(err.Error(), "a journal") {
		t.Errorf("a target with an entry that waits is empty: %v", err)
	}
}
