package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"verbatim/runtime/internal/digest"
	"verbatim/stores"
	"verbatim/verbs"
)

// One row keeps the uses that a limit counts, so that all processes count together: of two
// calls that would both be the last allowed, the second waits for the first and is refused.

const (
	useKey = iota // hash of the verb, of whose uses count, and of the period
	useVerb
	useTimes // a list
	useUntil // when the last of them expires
)

var uses = &stores.Entity{
	Name:    "verbatim.use",
	Table:   "verbatim.uses",
	Managed: true,
	Place:   "the engine's own",
	Key:     useKey,
	Fields: []stores.Field{
		useKey:   {Name: "key", Column: "key", Kind: stores.String, Required: true},
		useVerb:  {Name: "verb", Column: "verb", Kind: stores.String, Required: true},
		useTimes: {Name: "times", Column: "times", Kind: stores.JSON, Elem: stores.Time, Required: true},
		useUntil: {Name: "until", Column: "counts_until", Kind: stores.Time, Required: true},
	},
}

// A useLog holds the times that one limit counts: those that its row keeps, and those of
// this run.
type useLog struct {
	verb  *verbs.Verb
	limit *verbs.Limit
	found *stores.Row    // nil where there was none
	times []stores.Value // in order
}

// limitKey returns the key of the row with a limit's uses for the principal of a session.
func limitKey(s *Session, v *verbs.Verb, l *verbs.Limit) stores.Value {
	whose := "everyone"
	if !l.Everyone {
		whose = "caller " + s.who.Whose()
	}
	return stores.NewString(digest.Of("verbatim use 1", v.Name, whose, strconv.FormatInt(l.Within, 10)))
}

// limitKeys lists the keys of all counts of a session, if a program uses a limited verb. A
// handler may use any verb.
func limitKeys(s *Session, p *verbs.Program) (keys []stores.Value) {
	limited := func(v *verbs.Verb) bool { return len(v.Limits) > 0 || v.Handler }
	if !slices.ContainsFunc(p.Calls(), func(c verbs.Call) bool { return s.e.verbs[c.Verb].uses(limited) }) {
		return nil
	}
	for _, v := range s.e.limited {
		for i := range v.Limits {
			keys = append(keys, limitKey(s, v, &v.Limits[i]))
		}
	}
	return keys
}

// useLogOf reads the uses that a limit still counts.
func useLogOf(ctx context.Context, s *Session, read func(context.Context, *stores.Entity, stores.Value) (stores.Row, error), v *verbs.Verb, l *verbs.Limit, now time.Time) (*useLog, error) {
	log := &useLog{verb: v, limit: l}
	row, err := read(ctx, uses, limitKey(s, v, l))
	if errors.Is(err, stores.ErrNotFound) {
		return log, nil
	}
	if err != nil {
		return nil, err
	}
	log.found = &row
	if log.times, err = row.Values[useTimes].Items(stores.Time); err != nil {
		return nil, &Failure{Err: fmt.Errorf("the uses of %s: %w", v.Name, err)}
	}
	from := now.Add(-time.Duration(l.Within) * time.Second)
	log.times = slices.DeleteFunc(log.times, func(t stores.Value) bool { return !t.Time().After(from) })
	return log, nil
}

// use counts one more use, or says how long it takes until one is allowed again.
func (l *useLog) use(now time.Time) (wait time.Duration, ok bool) {
	if over := len(l.times) - l.limit.AtMost; over >= 0 {
		return l.times[over].Time().Add(time.Duration(l.limit.Within) * time.Second).Sub(now), false
	}
	l.times = append(l.times, stores.NewTime(now))
	return 0, true
}

// change makes the change that keeps the uses.
func (l *useLog) change(key stores.Value) stores.Change {
	last := l.times[len(l.times)-1].Time().Add(time.Duration(l.limit.Within) * time.Second)
	c := stores.Change{Op: stores.Insert, Entity: uses, Key: key, Set: []stores.Assign{
		{Field: useVerb, Value: stores.NewString(l.verb.Name)}, {Field: useTimes, Value: stores.NewList(l.times...)}, {Field: useUntil, Value: stores.NewTime(last)}}}
	if l.found != nil {
		c.Op, c.Set, c.Before, c.Guard = stores.Update, c.Set[1:], l.found.Values, []int{useTimes}
	}
	return c
}

// limit checks a call against the limits of its verb, and counts it. The count is committed
// with the run.
func limit(ctx context.Context, r *run, st *step) error {
	for i := range st.verb.Limits {
		l := &st.verb.Limits[i]
		key := limitKey(r.src.s, st.verb, l)
		log := r.met.uses[key]
		if log == nil {
			var err error
			if log, err = useLogOf(ctx, r.src.s, r.src.read.Get, st.verb, l, r.src.now); err != nil {
				return err
			}
			if r.met.uses == nil {
				r.met.uses = make(map[stores.Value]*useLog)
			}
			r.met.uses[key] = log
		}
		if wait, ok := log.use(r.src.now); !ok {
			return &callError{st.call.index, limitReached(st.call.place, st.verb.Name, l, wait)}
		}
	}
	return nil
}

// usedUp lists the changes that keep what a run counted.
func usedUp(r *run) (all []stores.Change) {
	for _, v := range r.src.s.e.limited {
		for i := range v.Limits {
			key := limitKey(r.src.s, v, &v.Limits[i])
			if log := r.met.uses[key]; log != nil {
				all = append(all, log.change(key))
			}
		}
	}
	return all
}

// beginsUses reports whether a run makes the row of a count: another run may make it at the
// same time.
func beginsUses(r *run) bool {
	for _, log := range r.met.uses {
		if log.found == nil {
			return true
		}
	}
	return false
}

// countPreview counts a preview against the limits of the verbs in it that answer, and of
// those that count refusals: a preview has told as much as a run. Nothing else is counted.
// What it disclosed of rows outside the caller's scope is journalled.
func countPreview(ctx context.Context, s *Session, p *verbs.Program, o RunOptions, r *run, err error) error {
	var b stores.Batch
	var used []countedUse
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		used = countsRefused(p, refusal)
	case err == nil:
		for _, st := range r.plan.steps {
			if !st.verb.Answers() {
				continue // it told nothing
			}
			used = append(used, counting(st.verb, func(*verbs.Limit) bool { return true })...)
			if st.sees.disclosures != nil {
				e := entryOf(s, p, o, st.call.place)
				e.Time, e.Verb, e.Outcome, e.Preview = r.src.now, st.verb.Name, outcomeOK, r.plan.id
				if err := tellCall(s.e, &b, e, saidAs(s.e, p, st)); err != nil {
					return err
				}
			}
		}
	}
	if len(used)+len(b.Entries) > 0 {
		if failed := recordEntries(ctx, s, b, used...); failed != nil {
			return failure(failed)
		}
	}
	return err
}

// countsRefused lists the uses that a refusal counts.
func countsRefused(p *verbs.Program, r *Refusal) (all []countedUse) {
	calls := p.Calls()
	counts := make(map[int]bool)
	for i, call := range r.calls {
		if call >= 0 && !counts[call] && r.Diagnostics[i].Code != codeLimitReached {
			counts[call] = true
			all = append(all, counting(calls[call].Verb, func(l *verbs.Limit) bool { return l.Refused })...)
		}
	}
	return all
}

// A countedUse is one use that a limit counts.
type countedUse struct {
	verb  *verbs.Verb
	limit *verbs.Limit
}

// counting lists the limits of a verb that count one of its uses.
func counting(v *verbs.Verb, counts func(*verbs.Limit) bool) (all []countedUse) {
	for i := range v.Limits {
		if l := &v.Limits[i]; counts(l) {
			all = append(all, countedUse{v, l})
		}
	}
	return all
}

// countUses makes the changes that count some uses, up to the number that each limit allows.
func countUses(ctx context.Context, s *Session, tx stores.Tx, used []countedUse) (all []stores.Change, err error) {
	now := stores.NewTime(s.e.opt.Clock()).Time()
	logs := make(map[stores.Value]*useLog)
	var keys []stores.Value
	for _, u := range used {
		key := limitKey(s, u.verb, u.limit)
		if logs[key] == nil {
			if logs[key], err = useLogOf(ctx, s, tx.Get, u.verb, u.limit, now); err != nil {
				return nil, err
			}
			keys = append(keys, key)
		}
		logs[key].use(now)
	}
	for _, key := range keys {
		all = append(all, logs[key].change(key))
	}
	return all, nil
}
