package engine

import (
	"cmp"
	"context"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/sessions"
	"verbatim/runtime/state/trail"
	"verbatim/stores"
)

// Housekeeping deletes rows that nobody can use any more, and ends proposals that nobody
// decided in time.

// housekeeper is the principal of the engine's own housekeeping.
const housekeeper = "verbatim"

// Housekeep deletes rows from before a time: settled confirmations, receipts kept for
// idempotency keys, and sessions that nobody has used since, with their turns. A request that
// is repeated later than that takes effect again, so before should lie well behind all
// retries. Rows that wait for somebody are never deleted. It returns the number of rows.
//
// It is safe to call at any time, from several processes at once.
func (e *Engine) Housekeep(ctx context.Context, before time.Time) (pruned int, err error) {
	now := stores.NewTime(e.opt.Clock()).Time()
	for _, what := range []struct {
		of    *stores.Entity
		where stores.Cond
	}{
		{confirmations.Entity, stores.Cond{Op: stores.And, Kids: []stores.Cond{
			{Op: stores.Ne, Path: stores.Path{Field: confirmations.FieldStatus}, Value: stores.NewString(confirmations.Waiting)},
			{Op: stores.Lt, Path: stores.Path{Field: confirmations.FieldSettledAt}, Value: stores.NewTime(before)},
			{Op: stores.Lt, Path: stores.Path{Field: confirmations.FieldExpires}, Value: stores.NewTime(now)},
		}}},
		{deliveries, stores.Cond{Op: stores.Lt, Path: stores.Path{Field: dlvTime}, Value: stores.NewTime(before)}},
		{sessions.Budgets, sessions.BudgetsBefore(before)},
		{uses, stores.Cond{Op: stores.Lt, Path: stores.Path{Field: useUntil}, Value: stores.NewTime(before)}},
		// The words of an expired question are not needed any more.
		{sessions.Questions, sessions.QuestionsBefore(before)},
	} {
		n, err := e.prune(ctx, what.of, what.where)
		pruned += n
		if err != nil {
			return pruned, failure(err)
		}
	}
	n, err := e.inParts(ctx, sessions.LeftBefore(before), func(tx stores.Tx, rows [][]stores.Value) (b stores.Batch, err error) {
		b.Changes, err = sessions.Delete(ctx, tx, rows)
		return b, err
	})
	return pruned + n, failure(err)
}

// system returns the scope of housekeeping.
func system() stores.Scope { return stores.Scope{Principal: housekeeper, All: true} }

// housekeeping is how many rows one transaction takes.
const housekeeping = 200

// inParts changes all rows that a find returns, in transactions of at most its limit. It
// returns the number of rows.
func (e *Engine) inParts(ctx context.Context, f stores.Find, change func(tx stores.Tx, rows [][]stores.Value) (stores.Batch, error)) (n int, err error) {
	f.Cut = true
	for {
		part := 0
		err := writeTo(ctx, e, system(), func(tx stores.Tx) error {
			rows, err := tx.Find(ctx, f)
			if part = len(rows); err != nil || part == 0 {
				return err
			}
			b, err := change(tx, rows)
			if err != nil {
				return err
			}
			return tx.Apply(ctx, b)
		})
		if err != nil {
			return n, err
		}
		if n += part; part < f.Limit {
			return n, nil
		}
	}
}

func (e *Engine) prune(ctx context.Context, of *stores.Entity, where stores.Cond) (n int, err error) {
	return e.inParts(ctx, stores.Find{Entity: of, Where: &where, Limit: housekeeping}, func(_ stores.Tx, rows [][]stores.Value) (b stores.Batch, err error) {
		for _, row := range rows {
			c := stores.Change{Op: stores.Delete, Entity: of, Key: row[of.Key], Before: row}
			for f := range row {
				c.Guard = append(c.Guard, f)
			}
			b.Changes = append(b.Changes, c)
		}
		return b, nil
	})
}

// expire settles confirmations that nobody decided in time. A job does so for each when its
// time comes; without a worker, the next principal who lists them does. Each expiry has one
// journal entry.
func (e *Engine) expire(ctx context.Context, now time.Time) error {
	where := stores.Cond{Op: stores.And, Kids: []stores.Cond{
		{Op: stores.Eq, Path: stores.Path{Field: confirmations.FieldStatus}, Value: stores.NewString(confirmations.Waiting)},
		{Op: stores.Le, Path: stores.Path{Field: confirmations.FieldExpires}, Value: stores.NewTime(now)},
	}}
	_, err := e.inParts(ctx, stores.Find{Entity: confirmations.Entity, Where: &where, Limit: housekeeping}, func(_ stores.Tx, rows [][]stores.Value) (b stores.Batch, err error) {
		for _, row := range rows {
			c := confirmations.Of(stores.Row{Entity: confirmations.Entity, Values: row})
			b.Changes = append(b.Changes, c.Settle(writtenScript(e, c), confirmations.Expired, "", "", now))
			b.Entries = append(b.Entries, e.expired(c, c.Source, now))
		}
		return b, nil
	})
	return err
}

// DropPending drops all pending confirmations, and returns their number. It is for a store
// that was restored or copied: its pending confirmations may have been decided elsewhere.
func (e *Engine) DropPending(ctx context.Context) (dropped int, err error) {
	now := stores.NewTime(e.opt.Clock()).Time()
	err = writeTo(ctx, e, system(), func(tx stores.Tx) error {
		dropped = 0
		found, err := confirmations.Find(ctx, tx, map[int]stores.Value{confirmations.FieldStatus: stores.NewString(confirmations.Waiting)})
		if err != nil || len(found) == 0 {
			return err
		}
		var b stores.Batch
		for _, c := range found {
			entry := e.expired(c, c.Source, now)
			entry.Reason = codeStalePreview
			b.Changes = append(b.Changes, c.Settle(writtenScript(e, c), confirmations.Stale, "", "", now))
			b.Entries = append(b.Entries, entry)
			if c.ID != "" { // otherwise somebody's own preview, which asked nobody
				dropped++
			}
		}
		return tx.Apply(ctx, b)
	})
	return dropped, failure(err)
}

// expired makes the journal entry of a confirmation that expired.
func (e *Engine) expired(c *confirmations.Confirmation, source string, now time.Time) stores.Entry {
	id := cmp.Or(c.ID, c.Preview)
	call := dsl.NewCall(verbExpire, dsl.NewArg("id", dsl.NewString(id)))
	return stores.Entry{Time: now, Principal: c.Asker, Session: c.Session, Source: source, Verb: verbExpire, Call: dsl.FormatCall(&call),
		Outcome: outcomeExpired, Reason: codeAgreementExpired, Preview: c.Preview, Palette: e.reg.Digest()}
}

// Waiting returns the number of proposals that wait for an agreement, and the time of the oldest.
func (e *Engine) Waiting(ctx context.Context) (n int, oldest time.Time, err error) {
	err = e.store.View(ctx, system(), func(r stores.Reader) error {
		all, err := confirmations.Find(ctx, r, map[int]stores.Value{confirmations.FieldStatus: stores.NewString(confirmations.Waiting)})
		for _, c := range all {
			if c.ID == "" { // somebody's own preview
				continue
			}
			if n++; oldest.IsZero() || c.Time.Before(oldest) {
				oldest = c.Time
			}
		}
		return err
	})
	return n, oldest, err
}

// Follow keeps the index of the journal up to date; it returns once the index has all entries.
func (e *Engine) Follow(ctx context.Context) error {
	for {
		if whole, err := trail.Follow(ctx, e.store, followed); err != nil || whole {
			return failure(err)
		}
	}
}

// mostEnding is how many proposals Ending counts.
const mostEnding = 1000

// Ending counts the proposals that expire within a time without a decision, up to mostEnding.
func (e *Engine) Ending(ctx context.Context, within time.Duration) (n int, err error) {
	err = e.store.View(ctx, system(), func(r stores.Reader) (err error) {
		n, err = confirmations.Ending(ctx, r, e.opt.Clock().Add(within), mostEnding)
		return err
	})
	return n, failure(err)
}
