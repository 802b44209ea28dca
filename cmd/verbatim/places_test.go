package main

import (
	"context"
	"errors"
	"testing"

	"verbatim/stores"
)

// numberedOnly is a store of entries, in the order of their numbers.
type numberedOnly struct {
	stores.Store
	entries []stores.Entry
}

func (n numberedOnly) Journal(_ context.Context, from, to int64) (found []stores.Entry, err error) {
	for _, e := range n.entries {
		if e.Seq >= from && (to == 0 || e.Seq <= to) && len(found) < stores.EntriesAtOnce {
			found = append(found, e)
		}
	}
	return found, nil
}

// An export of some numbers has all of them: also one that was committed when thousands behind it were
// sealed. Its part of the journal may be dropped afterwards.
func TestAnExportHasWhatCameLate(t *testing.T) {
	t.Parallel()
	var s numberedOnly
	for n := range int64(5000) {
		s.entries = append(s.entries, stores.Entry{Seq: n + 1, Place: n})
	}
	s.entries[0].Place = 5000
	s.entries[4999].Place = 0 // it waits
	for _, c := range []struct{ from, to, first, last int64 }{
		{1, 4000, 1, 5000}, {2, 4000, 1, 3999}, {1, 0, 1, 0}, {3, 3, 2, 2}, {6000, 0, 1, -1},
	} {
		first, last, err := placesOf(t.Context(), s, c.from, c.to)
		if err != nil || first != c.first || last != c.last {
			t.Errorf("entries %d to %d stand in places %d to %d, %v; want %d to %d", c.from, c.to, first, last, err, c.first, c.last)
		}
	}
	var stopped *stop
	if _, _, err := placesOf(t.Context(), s, 1, 5000); !errors.As(err, &stopped) || stopped.code != "not-sealed" {
		t.Errorf("an entry that waits is left out: %v", err)
	}
}
