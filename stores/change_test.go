package stores

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// A busy store fails a few times before it changes anything.
type busy struct {
	Store
	fails []error
	asked int
}

func (b *busy) Update(context.Context, Scope, func(Tx) error) error {
	b.asked++
	if b.asked > len(b.fails) {
		return nil
	}
	return b.fails[b.asked-1]
}

// What somebody else's change is in the way of is tried again, and nothing else is.
func TestInsist(t *testing.T) {
	t.Parallel()
	conflict, duplicate, other := fmt.Errorf("row 7: %w", ErrConflict), fmt.Errorf("key 7: %w", ErrDuplicate), errors.New("no disk")
	for _, c := range []struct {
		fails []error
		asked int
		err   error
	}{
		{nil, 1, nil},
		{[]error{conflict, duplicate}, 3, nil},
		{[]error{conflict, other, conflict}, 2, other},
		{[]error{conflict, conflict, conflict, conflict, conflict, conflict}, 5, conflict},
	} {
		s := &busy{fails: c.fails}
		if err := Insist(t.Context(), s, Scope{}, nil); err != c.err || s.asked != c.asked {
			t.Errorf("%v: %v after %d, not %v after %d", c.fails, err, s.asked, c.err, c.asked)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &busy{fails: []error{conflict}}
	if err := Insist(ctx, s, Scope{}, nil); err != conflict || s.asked != 1 {
		t.Errorf("%v after %d, though nobody waits", err, s.asked)
	}
}
