package sessions

import (
	"context"
	"math"
	"time"

	"verbatim/runtime/internal/digest"
	"verbatim/stores"
)

// A budget is a counter that all processes of a principal share: for example, what they may spend in
// a day, all together. It is a row, so that a new process, also on another machine, continues from
// the common total.

const (
	budgetKey = iota // hash of the principal and the name
	budgetPrincipal
	budgetName
	budgetAmount
	budgetChanged
)

// Budgets is the entity of budgets.
var Budgets = own("tally", "tallies", []stores.Step{{Field: budgetPrincipal}}, []stores.Field{
	budgetKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
	budgetPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
	budgetName:      {Name: "name", Column: "name", Kind: stores.String, Required: true},
	budgetAmount:    {Name: "amount", Column: "amount", Kind: stores.Int, Required: true},
	budgetChanged:   {Name: "changed", Column: "changed", Kind: stores.Time, Required: true},
})

// BudgetsBefore picks the budgets that nobody has counted in since a time.
func BudgetsBefore(t time.Time) stores.Cond { return before(budgetChanged, t) }

func budget(ctx context.Context, r stores.Reader, principal, name string) (key stores.Value, row []stores.Value, amount int64, err error) {
	key = stores.NewString(digest.Of("verbatim tally 1", principal, name))
	if row, err = get(ctx, r, Budgets, key); row != nil {
		amount = row[budgetAmount].Int()
	}
	return key, row, amount, err
}

// Counted returns the total of a budget of a principal.
func Counted(ctx context.Context, r stores.Reader, principal, name string) (int64, error) {
	_, _, amount, err := budget(ctx, r, principal, name)
	return amount, err
}

// Count adds n to a budget of a principal and returns the new total. If the total would exceed
// limit, nothing is added and ok is false; without a limit it always adds. A budget never falls
// below zero. If two transactions begin a budget at once, the second one gets stores.ErrDuplicate.
func Count(ctx context.Context, tx stores.Tx, principal, name string, n, limit int64, now time.Time) (total int64, ok bool, err error) {
	key, row, before, err := budget(ctx, tx, principal, name)
	if err != nil {
		return 0, false, err
	}
	if total = max(0, before+n); n > 0 && before > math.MaxInt64-n {
		total = math.MaxInt64 // and not below nothing
	}
	if ok = limit <= 0 || n <= 0 || total <= limit; !ok {
		return before, false, nil
	}
	c := change(Budgets, row, []stores.Value{key, stores.NewString(principal), stores.NewString(name), stores.NewInt(total), stores.NewTime(now)}, budgetAmount)
	return total, true, tx.Apply(ctx, stores.Batch{Changes: []stores.Change{c}})
}

// Draw takes up to n out of a bucket of a principal that all processes share: it holds most, and gains
// rate a second. A bucket that nobody has drawn from is full. Clocks of processes may differ by up to a
// minute: the bucket goes by the one that is ahead. A clock that was set back by more is gone by, so that
// nobody waits until it has caught up.
func Draw(ctx context.Context, tx stores.Tx, principal, name string, n, most int64, rate float64, now time.Time) (given int64, err error) {
	const parts = 1000 // what a bucket lacks is kept in thousandths
	key := stores.NewString(digest.Of("verbatim bucket 1", principal, name))
	rows, err := tx.Find(ctx, stores.Find{Entity: Budgets, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: budgetKey}, Value: key}, Hold: stores.Firm})
	if err != nil {
		return 0, err
	}
	var row []stores.Value
	lacks, at, setBack := int64(0), stores.NewTime(now), false
	if len(rows) > 0 {
		row = rows[0]
		was := row[budgetChanged].Time()
		ahead := was.Sub(at.Time())
		if setBack = ahead > time.Minute; ahead > 0 && !setBack {
			at = row[budgetChanged]
		}
		lacks = max(0, row[budgetAmount].Int()-int64(rate*parts*max(0, at.Time().Sub(was)).Seconds()))
	}
	given = min(n, max(0, most*parts-lacks)/parts)
	if given = max(0, given); given == 0 && !setBack {
		return 0, nil // what it gained since is counted the next time
	}
	c := change(Budgets, row, []stores.Value{key, stores.NewString(principal), stores.NewString(name), stores.NewInt(lacks + given*parts), at}, budgetAmount, budgetChanged)
	return given, tx.Apply(ctx, stores.Batch{Changes: []stores.Change{c}})
}
