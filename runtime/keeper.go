package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/confirmations"
	"verbatim/runtime/names"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Looking after the journal: erasing what is personal from it, telling it of
// rows that were there before it, noticing what expired, and forgetting what
// nobody can use any more. Each is told in the journal itself.

// The verbs of the entries that tell of it. No palette can declare them.
const (
	verbRedact   = "verbatim.redact"
	verbBaseline = "verbatim.baseline"
)

// A Redaction says what is to be erased from the journal: what entries tell of
// one row, or everything that one principal said.
type Redaction struct {
	Entity    *stores.Entity // of the row
	Key       stores.Value
	Principal string // instead of a row
	// Everywhere, of a row, means the same texts in other rows and calls too.
	Everywhere bool
}

func (w Redaction) of() journal.Redaction {
	if w.Principal != "" {
		return journal.Redaction{Principal: w.Principal}
	}
	return journal.Redaction{Row: &journal.Row{Entity: w.Entity.Name, Key: w.Key}, Everywhere: w.Everywhere}
}

// keeper refuses whoever has no role that keeps the journal, and tells the
// journal that they tried.
func (s *Session) keeper(ctx context.Context, verb string) error {
	if slices.ContainsFunc(s.roles, func(r *verbs.Role) bool { return r.Keeps }) {
		return nil
	}
	var may []string
	for _, r := range s.e.reg.Roles() {
		if r.Keeps {
			may = append(may, r.Name)
		}
	}
	err := refuse([]complaint{{-1, notKeeper(may)}})
	e := s.act(verb)
	e.Outcome, e.Reason = outcomeRefused, err.Diagnostics[0].Code
	if failed := s.record(ctx, stores.Batch{Entries: []stores.Entry{e}}); failed != nil {
		return &Failure{Err: fmt.Errorf("%w; and the journal could not be told: %w", err, failed)}
	}
	return err
}

// act begins an entry about something that the engine does itself.
func (s *Session) act(verb string, args ...dsl.Arg) stores.Entry {
	call := dsl.NewCall(verb, args...)
	e := stores.Entry{Time: s.e.clock(), Principal: s.who.Name, Session: s.id, Source: "log", Verb: verb, Call: dsl.FormatCall(&call),
		Outcome: outcomeOK, Palette: s.e.reg.Digest()}
	for _, role := range s.roles {
		e.Roles = append(e.Roles, role.Name)
	}
	return e
}

// Redactable says what Redact would erase.
func (s *Session) Redactable(ctx context.Context, w Redaction) (journal.Erased, error) {
	if err := s.keeper(ctx, verbRedact); err != nil {
		return journal.Erased{}, err
	}
	n, err := journal.Count(ctx, s.e.store, s.who.Name, w.of())
	if err == nil && w.Principal != "" {
		n.Turns, err = s.e.forget(ctx, w.Principal, true)
	}
	if err != nil {
		return n, failure(err)
	}
	return n, nil
}

// Redact erases personal and sensitive values from the journal. The entries
// stay, and say by commitments that something stood there; the chain is whole
// after it, and nobody can tell any more what it was. That it was done, by whom
// and of what, is an entry of its own. Rows are not touched, but for what a
// principal said in sessions: the turns stay, without their words.
func (s *Session) Redact(ctx context.Context, w Redaction) (journal.Erased, error) {
	if err := s.keeper(ctx, verbRedact); err != nil {
		return journal.Erased{}, err
	}
	said := 0
	if w.Principal != "" {
		var err error
		if said, err = s.e.forget(ctx, w.Principal, false); err != nil {
			return journal.Erased{}, failure(err)
		}
	}
	n, err := journal.Redact(ctx, s.e.store, s.who.Name, w.of(), func(n journal.Erased) stores.Entry {
		var args []dsl.Arg
		var record journal.Record
		if w.Principal != "" {
			args = append(args, dsl.NewArg("principal", dsl.NewString(w.Principal)))
		} else {
			args = append(args, dsl.NewArg("entity", dsl.NewString(w.Entity.Name)))
			if w.Everywhere {
				args = append(args, dsl.NewArg("everywhere", dsl.NewBool(true)))
			}
			record.Rows = []receipt.Row{{Op: receipt.Redacted, Entity: w.Entity.Name, Table: w.Entity.Table, Key: w.Key}}
		}
		if said > 0 {
			args = append(args, dsl.NewArg("turns", dsl.NewInteger(int64(said))))
		}
		e := s.act(verbRedact, append(args, dsl.NewArg("entries", dsl.NewInteger(int64(n.Entries))), dsl.NewArg("values", dsl.NewInteger(int64(n.Values))))...)
		e.Changes = string(record.AppendText(nil))
		return e
	})
	if n.Turns = said; err != nil {
		return n, failure(err)
	}
	return n, nil
}

// Baseline tells the journal of rows that no entry tells of, or only in part,
// so that a replay can begin with them. It returns how many there were.
func (s *Session) Baseline(ctx context.Context, state *journal.State) (int, error) {
	if err := s.keeper(ctx, verbBaseline); err != nil {
		return 0, err
	}
	n, err := journal.Baseline(ctx, s.e.store, s.who.Name, state, s.act(verbBaseline), s.e.newID, s.e.random)
	if err != nil {
		return 0, failure(err)
	}
	return n, nil
}

// Tables returns every entity of the palettes, as stores know them. The slice
// must not be changed.
func (e *Engine) Tables() []*stores.Entity { return e.tables }

// housekeeper is the principal of what the engine does for nobody.
const housekeeper = "verbatim"

// Housekeep deletes what was settled, or kept under a key, before a time: nobody
// can agree to the one any more, and the other is no longer recognised when it
// is sent again, so that before should lie well behind whatever retries there
// are. Sessions that nobody came back to since then go with what was said in
// them. What waits is never deleted. It returns how many rows went.
//
// It is safe to call at any time, from any process, also at once.
func (e *Engine) Housekeep(ctx context.Context, before time.Time) (pruned int, err error) {
	now := stores.NewTime(e.clock()).Time()
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
		{tallies, stores.Cond{Op: stores.Lt, Path: stores.Path{Field: tlyChanged}, Value: stores.NewTime(before)}},
		// A question that nobody answered in time needs its words no more.
		{questions, stores.Cond{Op: stores.Lt, Path: stores.Path{Field: qstUntil}, Value: stores.NewTime(before)}},
	} {
		n, err := e.prune(ctx, what.of, what.where)
		pruned += n
		if err != nil {
			return pruned, failure(err)
		}
	}
	n, err := e.pruneSessions(ctx, before)
	if pruned += n; err != nil {
		return pruned, failure(err)
	}
	return pruned, nil
}

// housekeeping is how many rows one transaction takes.
const housekeeping = 200

func (e *Engine) prune(ctx context.Context, of *stores.Entity, where stores.Cond) (n int, err error) {
	scope := stores.Scope{Principal: housekeeper, All: true}
	for {
		part := 0
		err := e.write(ctx, scope, func(tx stores.Tx) error {
			rows, err := tx.Find(ctx, stores.Find{Entity: of, Where: &where, Limit: housekeeping, Cut: true})
			if err != nil {
				return err
			}
			part = len(rows)
			var b stores.Batch
			for _, row := range rows {
				c := stores.Change{Op: stores.Delete, Entity: of, Key: row[of.Key], Before: row}
				for f := range row {
					c.Guard = append(c.Guard, f)
				}
				b.Changes = append(b.Changes, c)
			}
			if part == 0 {
				return nil
			}
			return tx.Apply(ctx, b)
		})
		if err != nil {
			return n, err
		}
		if n += part; part < housekeeping {
			return n, nil
		}
	}
}

// expire settles confirmations that nobody decided in time. A job does so for
// each as it happens; where no worker runs, whoever looks at them does. Each is
// told by one entry, whoever notices it.
func (e *Engine) expire(ctx context.Context, now time.Time) error {
	scope := stores.Scope{Principal: housekeeper, All: true}
	where := stores.Cond{Op: stores.And, Kids: []stores.Cond{
		{Op: stores.Eq, Path: stores.Path{Field: confirmations.FieldStatus}, Value: stores.NewString(confirmations.Waiting)},
		{Op: stores.Le, Path: stores.Path{Field: confirmations.FieldExpires}, Value: stores.NewTime(now)},
	}}
	for {
		part := 0
		err := e.write(ctx, scope, func(tx stores.Tx) error {
			rows, err := tx.Find(ctx, stores.Find{Entity: confirmations.Entity, Where: &where, Limit: housekeeping, Cut: true})
			if err != nil {
				return err
			}
			part = len(rows)
			var b stores.Batch
			for _, row := range rows {
				c := confirmations.Of(stores.Row{Entity: confirmations.Entity, Values: row})
				b.Changes = append(b.Changes, c.Settle(e.writtenScript(c), confirmations.Expired, "", "", now))
				b.Entries = append(b.Entries, e.expired(c, c.Source, now))
			}
			if part == 0 {
				return nil
			}
			return tx.Apply(ctx, b)
		})
		if err != nil || part < housekeeping {
			return err
		}
	}
}

// DropPending drops all that waits for an agreement, and returns how much that was. It
// is for a store that was restored or copied: what waits in it may have been decided
// since, elsewhere.
func (e *Engine) DropPending(ctx context.Context) (dropped int, err error) {
	scope := stores.Scope{Principal: housekeeper, All: true}
	now := stores.NewTime(e.clock()).Time()
	err = e.write(ctx, scope, func(tx stores.Tx) error {
		dropped = 0
		found, err := confirmations.Find(ctx, tx, map[int]stores.Value{confirmations.FieldStatus: stores.NewString(confirmations.Waiting)})
		if err != nil || len(found) == 0 {
			return err
		}
		var b stores.Batch
		for _, c := range found {
			entry := e.expired(c, c.Source, now)
			entry.Reason = codeStalePreview
			b.Changes = append(b.Changes, c.Settle(e.writtenScript(c), confirmations.Stale, "", "", now))
			b.Entries = append(b.Entries, entry)
			dropped++
		}
		return tx.Apply(ctx, b)
	})
	if err != nil {
		return 0, failure(err)
	}
	return dropped, nil
}

// expired is the entry about something that nobody agreed to in time.
func (e *Engine) expired(c *confirmations.Confirmation, source string, now time.Time) stores.Entry {
	id := c.ID
	if id == "" {
		id = c.Preview
	}
	call := dsl.NewCall(verbExpire, dsl.NewArg("id", dsl.NewString(id)))
	return stores.Entry{Time: now, Principal: c.Asker, Session: c.Session, Source: source, Verb: verbExpire, Call: dsl.FormatCall(&call),
		Outcome: outcomeExpired, Reason: codeAgreementExpired, Preview: c.Preview, Palette: e.reg.Digest()}
}

// ErrAmbiguous says that a name stands for several rows. Its text lists them.
var ErrAmbiguous = errors.New("that is the name of several rows")

// FindRow finds the row within scope that somebody means by its name in a
// session, such as @pierre-sow, or by its label. The name of its entity may
// stand before that, with a blank between them. It returns stores.ErrNotFound
// where there is none within scope, and an error that wraps ErrAmbiguous where
// there are several.
func (s *Session) FindRow(ctx context.Context, text string) (*stores.Entity, stores.Value, error) {
	among := s.e.entities
	if name, rest, ok := strings.Cut(text, " "); ok {
		if e := s.e.reg.Entity(name); e != nil {
			among, text = []*verbs.Entity{e}, rest
		}
	}
	type hit struct {
		e   *verbs.Entity
		key stores.Value
		row names.Row
	}
	var hits []hit
	name, isName := strings.CutPrefix(text, "@")
	err := s.view(ctx, func(r stores.Reader) error {
		for _, e := range among {
			if isName {
				if err := s.lookUp(ctx, r, e, []string{name}); err != nil {
					return err
				}
				if _, found := s.names.Key(e.Store, name); found {
					continue
				}
			}
			if err := s.read(ctx, r, e, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, stores.Value{}, failure(err)
	}
	for _, e := range among {
		means, known := s.names.Key(e.Store, name)
		s.names.Each(e.Store, func(key stores.Value, row names.Row) {
			if isName && (known && means == key || row.Plain() == name) || !isName && strings.EqualFold(row.Label, text) {
				hits = append(hits, hit{e, key, row})
			}
		})
	}
	switch len(hits) {
	case 0:
		return nil, stores.Value{}, stores.ErrNotFound
	case 1:
		return hits[0].e.Store, hits[0].key, nil
	}
	var list []string
	for _, h := range hits {
		list = append(list, strconv.Quote(h.e.Store.Name+" @"+h.row.Name))
	}
	slices.Sort(list)
	return nil, stores.Value{}, fmt.Errorf("%w: %s", ErrAmbiguous, strings.Join(list, ", "))
}
