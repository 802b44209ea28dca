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
	"verbatim/runtime"
)

// What is done without a question is added up for a person, not for a process: a
// conversation that is begun anew, or a second one beside it, does not begin at
// nothing. The sums are tallies of the session's principal, each of a day, and
// those of today and of the day before count together, so that midnight is no way
// around them.
//
// An amount is counted before it is done, and taken back where it is not. So of
// two conversations at once, whichever counts last sees what both would come to;
// that both may ask is the price of it, and that neither would is not possible.

// partsOfOne is into how many parts of one amounts are counted, rounded up.
const partsOfOne = 1_000_000

// A hold is what was counted for a script that is not done yet.
type hold struct {
	c       *Conversation
	counted map[string]int64 // by tally
}

// days are the names of the tallies of an amount: today's, and the one before.
func (at tallied) days(now time.Time) [2]string {
	// What stands beside a number may be anybody's, and a name is no place for it.
	sum := sha256.Sum256([]byte(at.verb + "\x00" + at.arg + "\x00" + at.of))
	day := func(t time.Time) string {
		return "unasked " + t.UTC().Format(time.DateOnly) + " " + hex.EncodeToString(sum[:16])
	}
	return [2]string{day(now), day(now.AddDate(0, 0, -1))}
}

// inParts is an amount as it is counted. What is below nothing takes nothing back:
// it would be a way to stay below a limit.
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

// count counts what some calls of a script would do, and raises sums to what that
// comes to with whatever was counted elsewhere.
func (c *Conversation) count(ctx context.Context, calls []dsl.Call, now time.Time, sums tally) (*hold, error) {
	more := tally{}
	more.add(&dsl.Script{Calls: calls})
	h := &hold{c: c, counted: map[string]int64{}}
	for at, n := range more {
		names := at.days(now)
		add := inParts(n)
		total, _, err := c.o.Session.Count(ctx, names[0], add, 0)
		if err != nil {
			h.release(ctx)
			return nil, err
		}
		h.counted[names[0]] += add
		before, err := c.o.Session.Counted(ctx, names[1])
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

// release takes back what was counted and is not done. What cannot be taken back
// makes the next question come sooner.
func (h *hold) release(ctx context.Context) {
	if h == nil {
		return
	}
	for name, n := range h.counted {
		if n > 0 {
			_, _, _ = h.c.o.Session.Count(context.WithoutCancel(ctx), name, -n, 0)
		}
	}
	h.counted = nil
}

// unless releases what a run that ended in an error did not do. Where nobody knows
// whether it did, it stays counted.
func (h *hold) unless(ctx context.Context, err error) {
	var failed *runtime.Failure
	if errors.As(err, &failed) && failed.Unknown {
		return
	}
	h.release(ctx)
}

// recount begins anew for a script that somebody agreed to.
func (c *Conversation) recount(ctx context.Context, script *dsl.Script, now time.Time) {
	agreed := tally{}
	agreed.add(script)
	for at := range agreed {
		for _, name := range at.days(now) {
			if n, err := c.o.Session.Counted(ctx, name); err == nil && n > 0 {
				_, _, _ = c.o.Session.Count(ctx, name, -n, 0)
			}
		}
	}
}
