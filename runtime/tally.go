package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"

	"verbatim/runtime/digest"
	"verbatim/stores"
)

// A tally is a number that a principal's processes count up together: what may be
// spent in a day is spent by all of them. It is a row, because whoever starts a
// process anew, or two at once, must not begin at nothing again; a file would be
// one more place that two machines do not share.

const (
	tlyKey = iota // hash of the principal and the name
	tlyPrincipal
	tlyName
	tlyAmount
	tlyChanged
)

var tallies = &stores.Entity{
	Name:    "verbatim.tally",
	Table:   "verbatim.tallies",
	Managed: true,
	Place:   "the engine's own",
	Key:     tlyKey,
	Access:  stores.ByPrincipal,
	Scope:   []stores.Step{{Field: tlyPrincipal}},
	Fields: []stores.Field{
		tlyKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
		tlyPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
		tlyName:      {Name: "name", Column: "name", Kind: stores.String, Required: true},
		tlyAmount:    {Name: "amount", Column: "amount", Kind: stores.Int, Required: true},
		tlyChanged:   {Name: "changed", Column: "changed", Kind: stores.Time, Required: true},
	},
}

func tallyKey(principal, name string) stores.Value {
	return stores.NewString(digest.Of("verbatim tally 1", principal, name))
}

// Count adds n to a tally of the principal's, and returns what it comes to. Where
// that would be more than limit, nothing is added and ok is false; without a limit
// it is added in any case. A tally is never below nothing.
func (s *Session) Count(ctx context.Context, name string, n, limit int64) (total int64, ok bool, err error) {
	if name == "" || len(name) > maxSessionName {
		return 0, false, &Failure{Err: fmt.Errorf("no tally is called %q", name)}
	}
	key := tallyKey(s.who.Name, name)
	err = s.e.write(ctx, s.mine(), func(tx stores.Tx) error {
		now := stores.NewTime(s.e.clock())
		row, err := tx.Get(ctx, tallies, key)
		before := int64(0)
		switch {
		case errors.Is(err, stores.ErrNotFound):
		case err != nil:
			return err
		default:
			before = row.Values[tlyAmount].Int()
		}
		if total = max(0, before+n); n > 0 && before > math.MaxInt64-n {
			total = math.MaxInt64 // and not below nothing
		}
		if ok = limit <= 0 || n <= 0 || total <= limit; !ok {
			total = before
			return nil
		}
		if err != nil {
			return met(tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: tallies, Key: key, Set: []stores.Assign{
				{Field: tlyPrincipal, Value: stores.NewString(s.who.Name)}, {Field: tlyName, Value: stores.NewString(name)},
				{Field: tlyAmount, Value: stores.NewInt(total)}, {Field: tlyChanged, Value: now}}}}}))
		}
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: tallies, Key: key, Before: row.Values, Guard: []int{tlyAmount},
			Set: []stores.Assign{{Field: tlyAmount, Value: stores.NewInt(total)}, {Field: tlyChanged, Value: now}}}}})
	})
	if err != nil {
		return 0, false, failure(err)
	}
	return total, ok, nil
}

// Counted returns what a tally of the principal's comes to.
func (s *Session) Counted(ctx context.Context, name string) (total int64, err error) {
	err = s.e.store.View(ctx, s.mine(), func(r stores.Reader) error {
		row, err := r.Get(ctx, tallies, tallyKey(s.who.Name, name))
		switch {
		case errors.Is(err, stores.ErrNotFound):
			return nil
		case err != nil:
			return err
		}
		total = row.Values[tlyAmount].Int()
		return nil
	})
	if err != nil {
		return 0, failure(err)
	}
	return total, nil
}
