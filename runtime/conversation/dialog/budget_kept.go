package dialog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
)

// Amounts are added up for a person, not for a process, so a new conversation or a second one does
// not start at zero. The sums are budgets of the principal, one for each day; today's and
// yesterday's count together, so midnight does not help to stay below a limit.
//
// An amount is counted before the run, and released if the run does not happen. Of two concurrent
// conversations, the one that counts last sees the sum of both. Both may ask, but never neither.

// partsOfOne is the unit of counting, as a fraction of one; amounts are rounded up.
const partsOfOne = 1_000_000

// A hold is the amounts that were counted for a script that has not run yet.
type hold struct {
	c       *Conversation
	counted map[string]int64 // by budget
}

// days returns the names of an amount's budgets, of today and of the day before.
func (at budgetKey) days(now time.Time) [2]string {
	// The text beside a number may hold user data, which must not become part of a name.
	sum := sha256.Sum256([]byte(at.verb + "\x00" + at.arg + "\x00" + at.of))
	day := func(t time.Time) string {
		return "unasked " + t.UTC().Format(time.DateOnly) + " " + hex.EncodeToString(sum[:16])
	}
	return [2]string{day(now), day(now.AddDate(0, 0, -1))}
}

// inParts converts an amount for counting. A negative amount counts as zero: otherwise it would be
// a way to stay below a limit.
func inParts(n *big.Rat) int64 {
	if n.Sign() <= 0 {
		return 0
	}
	all := new(big.Int).Mul(n.Num(), big.NewInt(partsOfOne))
	all.Add(all, new(big.Int).Sub(n.Denom(), big.NewInt(1))).Quo(all, n.Denom())
	if !all.IsInt64() {
		return math.MaxInt64
	}
	return all.Int64()
}

// count counts calls, and raises sums to the totals of all conversations.
func (c *Conversation) count(ctx context.Context, calls []dsl.Call, now time.Time, sums budget) (*hold, error) {
	more := budget{}
	more.add(&dsl.Script{Calls: calls})
	h := &hold{c: c, counted: map[string]int64{}}
	for at, n := range more {
		names := at.days(now)
		add := inParts(n)
		total, _, err := c.o.Session.Turns().Count(ctx, names[0], add, 0)
		if err != nil {
			h.release(ctx)
			return nil, err
		}
		h.counted[names[0]] += add
		before, err := c.o.Session.Turns().Counted(ctx, names[1])
		if err != nil {
			h.release(ctx)
			return nil, err
		}
		sum := new(big.Rat).Add(new(big.Rat).SetFrac64(total, partsOfOne), new(big.Rat).SetFrac64(before, partsOfOne))
		if known := sums[at]; known == nil || known.Cmp(sum) < 0 {
			sums[at] = sum
		}
	}
	return h, nil
}

// release takes back what was counted and did not run. If that fails, the next question merely
// comes sooner.
func (h *hold) release(ctx context.Context) {
	if h == nil {
		return
	}
	ctx, end := stores.Detached(ctx)
	defer end()
	for name, n := range h.counted {
		if n > 0 {
			_, _, _ = h.c.o.Session.Turns().Count(ctx, name, -n, 0)
		}
	}
	h.counted = nil
}

// unless releases what a failed run did not do. If the outcome is unknown, it stays counted.
func (h *hold) unless(ctx context.Context, err error) {
	var failed *engine.Failure
	if errors.As(err, &failed) && failed.Unknown {
		return
	}
	h.release(ctx)
}

// recount starts anew for a script that was agreed to.
func (c *Conversation) recount(ctx context.Context, script *dsl.Script, now time.Time) {
	agreed := budget{}
	agreed.add(script)
	for at := range agreed {
		for _, name := range at.days(now) {
			if n, err := c.o.Session.Turns().Counted(ctx, name); err == nil && n > 0 {
				_, _, _ = c.o.Session.Turns().Count(ctx, name, -n, 0)
			}
		}
	}
}
