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
