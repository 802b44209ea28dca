package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// again checks the program of a confirmation once more, with the rights that the asker has
// now.
func (s *Session) again(ctx context.Context, c *confirmations.Confirmation) (*Session, *verbs.Program, error) {
	if c.Palette != s.e.reg.Digest() {
		return nil, nil, refuseScript(tell(dsl.Place{}, "other-palette"))
	}
	asker, err := freshSession(ctx, s.e, c.Asker)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return nil, nil, refuseScript(tell(dsl.Place{}, "role-lost/asker", c.Asker))
	}
	if err != nil {
		return nil, nil, err
	}
	asker.id, asker.kept = c.Session, sessions.KeyOf(c.Session)
	script, ds := dsl.Parse(dsl.NewSource(c.Source, c.Script))
	if ds.HasErrors() {
		return nil, nil, &Failure{Err: fmt.Errorf("what %s was asked for cannot be read: %s", c.ID, inWords(ds))}
	}
	said, err := verbs.ReadLiterals(c.Origins, script)
	if err != nil {
		return nil, nil, &Failure{Err: fmt.Errorf("what %s was asked for: %w", c.ID, err)}
	}
	// Internal verbs are allowed: only a job can have proposed one, and it was checked
	// then.
	p, ds := asker.check(ctx, script, asker.e.reg.CheckWork, said)
	switch {
	case p != nil:
	case len(ds) == 1 && ds[0].Code == CodeNamesUnread:
		// Nobody said no, and the agreement can be given again.
		return nil, nil, &Failure{Err: errors.New(ds[0].Summary)}
	default:
		return nil, nil, refuseScript(tell(dsl.Place{}, "stale-preview"))
	}
	if len(permit(p, asker.rights.roles, s.e.verbs, true)) > 0 {
		return nil, nil, refuseScript(tell(dsl.Place{}, "role-lost/asker", c.Asker))
	}
	return asker, p, nil
}

// A consent is the agreement that carries a confirmation out.
type consent struct {
	key stores.Value
	by  string
	// proven is when they last signed in.
	proven  time.Time
	program bool     // a program gives it; see ByProgram
	fills   []int    // which of the roles that must agree
	roles   []string // their names; confirmations.ByAsker for the asker's own
}

// Agree agrees to what somebody else proposed. The transaction that would commit the script
// plans it again in the asker's name. If the plan equals what was asked for, and this is the
// last agreement needed, it is committed and the Receipt says what happened. The Receipt is
// nil while others still have to agree.
//
// A principal with several of the roles agrees for each of them.
func (s *Session) Agree(ctx context.Context, id string) (*Pending, *receipt.Receipt, error) {
	// Rows that were put back under a running program may have been decided since they were kept.
	if is, err := s.e.store.Identity(ctx); err != nil {
		return nil, nil, failure(err)
	} else if is.Restored {
		if _, err := s.e.DropPending(ctx); err != nil {
			return nil, nil, err
		}
	}
	c, err := s.look(ctx, id)
	if err != nil {
		return nil, nil, s.noted(ctx, verbAgree, id, nil, err)
	}
	reply, err := s.agree(ctx, c)
	if err != nil {
		return nil, nil, s.noted(ctx, verbAgree, id, c, err)
	}
	p := s.pending(c)
	if reply != nil {
		p.Preview = reply
		p.Preview.ToOthers()
	}
	return p, reply, nil
}

func (s *Session) agree(ctx context.Context, c *confirmations.Confirmation) (*receipt.Receipt, error) {
	now := stores.NewTime(s.e.opt.Clock()).Time()
	if d := unusable(s.e, c, now, dsl.Place{}); d != nil {
		if c.Status == confirmations.Used && slices.Contains(c.Agreed, s.who.Name) {
			// The same answer again: it gets the same reply.
			if again, err := s.agreedBefore(ctx, c); err != nil || again != nil {
				return again, err
			}
		}
		return nil, refuseScript(*d)
	}
	me, err := s.decider(ctx, c)
	if err != nil {
		return nil, err
	}
	k := &consent{key: c.Key, by: s.who.Name, proven: s.rights.proven, program: s.rights.program}
	has := false
	for i, role := range c.Roles {
		if c.MayAgree(&me.who, me.has, role) {
			has = true
			if c.Agreed[i] == "" {
				k.fills, k.roles = append(k.fills, i), append(k.roles, role)
			}
		}
	}
	if ok, err := me.concerns(ctx, c); err != nil {
		return nil, failure(err)
	} else if !has || !ok {
		return nil, refuseScript(tell(dsl.Place{}, "role-lost", strings.Join(c.Roles, " and ")))
	}
	if len(k.fills) == 0 {
		return nil, refuseScript(agreedAlready(c.Agreed))
	}
	asker, p, err := s.again(ctx, c)
	if err != nil {
		return nil, err
	}
	if asker.who.Name != me.who.Name && asker.who.IsPerson(&me.who) {
		return nil, refuseScript(tell(dsl.Place{}, "same-person"))
	}
	if s.rights.program && p.Literals().Unheard && slices.Contains(k.roles, confirmations.ByAsker) {
		return nil, refuseScript(tell(dsl.Place{}, "role-lost/program"))
	}
	for _, i := range k.fills {
		c.Agreed[i] = s.who.Name
	}
	if slices.Contains(c.Agreed, "") {
		return nil, s.agreeToo(ctx, asker, p, c, k)
	}
	t := &runOptions{opt: RunOptions{Source: c.Source, Key: c.UnderKey, Before: c.Before}, pending: k, owners: s.SeesSeveral(), answers: storedAnswers(c)}
	r, err := asker.attempts(ctx, p, t)
	if err != nil {
		return nil, err
	}
	c.Status, c.By, c.Settled = confirmations.Used, s.who.Name, r.src.now
	if r.repeated != nil {
		return r.repeated, nil
	}
	return r.reply(), nil
}

// decider returns a session of the principal who decides, with the roles that they have now.
func (s *Session) decider(ctx context.Context, c *confirmations.Confirmation) (*Session, error) {
	switch {
	case !c.MayDecide(&s.who):
		return nil, refuseScript(tell(dsl.Place{}, "same-person"))
	case s.rights.only != nil:
		return nil, refuseScript(tell(dsl.Place{}, "role-lost/narrowed"))
	}
	return s.e.Session(ctx, s.who.Name)
}

// agreedBefore returns the receipt of what an agreement led to; nil if it is not known.
func (s *Session) agreedBefore(ctx context.Context, c *confirmations.Confirmation) (*receipt.Receipt, error) {
	asker, err := freshSession(ctx, s.e, c.Asker)
	var refusal *Refusal
	if err != nil || c.UnderKey == "" {
		if errors.As(err, &refusal) {
			err = nil
		}
		return nil, err
	}
	return asker.Journal().Done(ctx, c.UnderKey)
}

// agreeToo records an agreement that is not the last one needed.
func (s *Session) agreeToo(ctx context.Context, asker *Session, p *verbs.Program, c *confirmations.Confirmation, k *consent) error {
	r, err := asker.attempts(ctx, p, s.looks(c))
	if err != nil {
		return err
	}
	if fmt.Sprintf("%x", r.plan.digest) != c.Digest {
		return refuseScript(stalePreview(dsl.Place{}, c.Differences(r.preview())))
	}
	if err := r.takes(k); err != nil {
		return err
	}
	err = writeTo(ctx, s.e, s.engineScope(), func(tx stores.Tx) error {
		row, err := tx.Get(ctx, confirmations.Entity, c.Key)
		if err != nil {
			return err
		}
		now := confirmations.Of(row)
		if d := unusable(s.e, now, r.src.now, dsl.Place{}); d != nil {
			return refuseScript(*d)
		}
		for _, i := range k.fills {
			if now.Agreed[i] != "" {
				return refuseScript(agreedAlready(now.Agreed))
			}
			now.Agreed[i] = k.by
		}
		e := s.own(verbAgree, c.ID, c)
		e.Outcome = outcomeOK
		err = tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{e},
			Changes: []stores.Change{now.Change(stores.Assign{Field: confirmations.FieldAgreed, Value: confirmations.List(now.Agreed)})}})
		c.Agreed = now.Agreed
		return err
	})
	if err != nil {
		return s.finalError(p, err)
	}
	return nil
}

// consented compares somebody else's agreement with the plan that is about to be committed,
// and uses it up.
func consented(ctx context.Context, r *run, k *consent) error {
	c, err := confirmations.Get(ctx, r.src.read, k.key)
	if err != nil {
		return err
	}
	if c == nil {
		return refuseScript(tell(dsl.Place{}, "unknown-confirmation", ""))
	}
	if d := unusable(r.src.e, c, r.src.now, dsl.Place{}); d != nil {
		return refuseScript(*d)
	}
	if err := r.takes(k); err != nil {
		return err
	}
	for _, i := range k.fills {
		c.Agreed[i] = cmp.Or(c.Agreed[i], k.by)
	}
	// The digest holds every question that the plan asks, so that the roles are
	// those of this plan.
	if c.Asker != r.src.s.who.Name || c.Digest != fmt.Sprintf("%x", r.plan.digest) || slices.Contains(c.Agreed, "") {
		return refuseScript(stalePreview(dsl.Place{}, c.Differences(r.preview())))
	}
	var said []string
	for i, role := range c.Roles {
		if role == confirmations.ByAsker {
			said = append(said, c.Agreed[i])
			continue
		}
		said = append(said, c.Agreed[i]+", role "+role)
	}
	r.agreedBy = strings.Join(said, "; ")
	r.own.Changes = append(r.own.Changes, c.Settle(writtenScript(r.src.e, c), confirmations.Used, k.by, "", r.src.now))
	r.own.Jobs = decided(r.src.e, c, confirmations.Used, k.by, "", r.src.now)
	return nil
}

// Decline declines what somebody else proposed. The store remembers it: the same proposal
// is refused until something about it has changed.
func (s *Session) Decline(ctx context.Context, id, reason string) error {
	c, err := s.look(ctx, id)
	if err != nil {
		return s.noted(ctx, verbDecline, id, nil, err)
	}
	err = s.decline(ctx, c, reason)
	if err != nil {
		return s.noted(ctx, verbDecline, id, c, err)
	}
	return nil
}

func (s *Session) decline(ctx context.Context, c *confirmations.Confirmation, reason string) error {
	me, err := s.decider(ctx, c)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(c.Roles, func(role string) bool { return c.MayAgree(&me.who, me.has, role) }) {
		return refuseScript(tell(dsl.Place{}, "role-lost", strings.Join(c.Roles, " and ")))
	}
	return s.ends(ctx, c, verbDecline, confirmations.Declined, reason)
}

// ends settles a confirmation that waits, as declined or withdrawn.
func (s *Session) ends(ctx context.Context, c *confirmations.Confirmation, verb, status, reason string) error {
	err := writeTo(ctx, s.e, s.engineScope(), func(tx stores.Tx) error {
		row, err := tx.Get(ctx, confirmations.Entity, c.Key)
		if err != nil {
			return err
		}
		now, at := confirmations.Of(row), stores.NewTime(s.e.opt.Clock()).Time()
		// The palettes have changed, and a no is a no all the same.
		if d := unusable(s.e, now, at, dsl.Place{}); d != nil && d.Code != codeOtherPalette {
			return refuseScript(*d)
		}
		e := s.own(verb, c.ID, c)
		b := stores.Batch{Changes: []stores.Change{now.Settle(writtenScript(s.e, now), status, s.who.Name, reason, at)}}
		if e.Time, e.Outcome = at, outcomeOK; status == confirmations.Declined { // the asker is told
			e.Outcome, b.Jobs = outcomeDeclined, decided(s.e, now, status, s.who.Name, reason, at)
		}
		b.Entries = []stores.Entry{e}
		return tx.Apply(ctx, b)
	})
	return storeError(dsl.Place{}, err)
}

// Withdraw ends what the principal proposed to others, before they have decided. It can be proposed
// again. A proposal of somebody else is refused like one that
// does not exist.
func (s *Session) Withdraw(ctx context.Context, id string) error {
	c, err := s.look(ctx, id)
	if err == nil && c.Asker != s.who.Name {
		err = refuseScript(tell(dsl.Place{}, "unknown-confirmation", id))
	}
	if err == nil {
		err = s.ends(ctx, c, verbWithdraw, confirmations.Expired, "")
	}
	if err != nil {
		return s.noted(ctx, verbWithdraw, id, c, err)
	}
	return nil
}

// DeclinePreview declines a preview of the caller's own, as any answer but yes does. It is
// journalled. The preview cannot be used any more; a new one can. One that was agreed to and carried
// out is refused with already-used, so that nobody is told that it was not done.
func (s *Session) DeclinePreview(ctx context.Context, p *verbs.Program, id string) error {
	if err := s.ready(p); err != nil {
		return err
	}
	done, err := s.Journal().Answered(ctx, p.Script(), id)
	switch {
	case err != nil:
		return err
	case done != nil:
		return refuseScript(tell(dsl.Place{}, "already-used"))
	}
	t := &runOptions{opt: RunOptions{Agreed: id}}
	s.claim(ctx, t) // and never released
	keys := t.answer.kept
	id, _ = receipt.ReadAnswer(id)
	b := stores.Batch{}
	calls := p.Calls()
	asking := []int{}
	if t.answer.claimed != nil {
		asking, id = t.answer.claimed.asking, t.answer.claimed.id
		s.previews.mu.Lock()
		t.answer.claimed.declined = t.answer.claimed.declined || !t.answer.spent
		s.previews.mu.Unlock()
		if !t.answer.claimed.kept.IsNull() {
			keys = append(keys, t.answer.claimed.kept)
		}
	}
	if len(asking) == 0 && len(calls) > 0 {
		asking = p.Order()[:1] // it is about the whole script, so the journal names its first call
	}
	now := stores.NewTime(s.e.opt.Clock()).Time()
	for _, i := range asking {
		c := &calls[i]
		e := entryOf(s, p, RunOptions{}, placeOf(p, c))
		e.Time, e.Verb, e.Outcome, e.Preview = now, c.Verb.Name, outcomeDeclined, id
		if err := tellCall(s.e, &b, e, saidOf(s.e, p, i)); err != nil {
			return err
		}
	}
	said := b.Changes
	err = writeTo(ctx, s.e, s.engineScope(), func(tx stores.Tx) error {
		b.Changes = said[:len(said):len(said)]
		for _, key := range keys {
			c, err := confirmations.Get(ctx, tx, key)
			if err != nil {
				return err
			}
			if c != nil && c.Status == confirmations.Used { // since we looked
				return refuseScript(tell(dsl.Place{}, "already-used"))
			}
			if c != nil && c.Status == confirmations.Waiting {
				b.Changes = append(b.Changes, c.Settle(writtenScript(s.e, c), confirmations.Declined, s.who.Name, "", now))
			}
		}
		return tx.Apply(ctx, b)
	})
	return storeError(dsl.Place{}, err)
}

// own begins a journal entry about a confirmation.
func (s *Session) own(verb, id string, c *confirmations.Confirmation) stores.Entry {
	e := actEntry(s, verb, dsl.NewArg("id", dsl.NewString(id)))
	e.Source, e.Outcome = "confirm", ""
	if c != nil {
		e.Preview = c.Preview
	}
	return e
}

// noted writes a refusal into the journal and, where the confirmation can never be used
// again, marks its row so.
func (s *Session) noted(ctx context.Context, verb, id string, c *confirmations.Confirmation, err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	code := r.Diagnostics[0].Code
	status := ""
	switch code {
	case codeUnknownConfirmation, codeAlreadyUsed, codeDeclinedBefore, codeSamePerson, codeRoleLost, codeSignInAgain, codeOtherPalette, CodeChangedMeanwhile, CodeNamesUnread:
	case codeAgreementExpired:
		status = confirmations.Expired
	default:
		// What was asked for can no longer be done as it was asked for.
		status = confirmations.Stale
		if code != codeStalePreview {
			r = refuseScript(tell(dsl.Place{}, "stale-preview"))
		}
		r.Diagnostics[0] = tell(r.Diagnostics[0].Place, "stale-preview/asked", r.Diagnostics[0].Summary, c.Asker)
		code, err = codeStalePreview, r
	}
	e := s.own(verb, id, c)
	e.Outcome, e.Reason = outcomeRefused, code
	ctx, stop := stores.Detached(ctx)
	defer stop()
	failed := writeTo(ctx, s.e, s.engineScope(), func(tx stores.Tx) error {
		b := stores.Batch{Entries: []stores.Entry{e}}
		if c != nil && status != "" {
			now, err := confirmations.Get(ctx, tx, c.Key)
			if err != nil {
				return err
			}
			if now != nil && now.Status == confirmations.Waiting {
				b.Changes = append(b.Changes, now.Settle(writtenScript(s.e, now), status, "", "", stores.NewTime(e.Time).Time()))
			}
		}
		return tx.Apply(ctx, b)
	})
	if failed != nil {
		return &Failure{Err: fmt.Errorf("%w; and the journal could not be told: %w", err, failed)}
	}
	return err
}
