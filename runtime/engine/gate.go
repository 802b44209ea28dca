package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// An ask is a question that a rule asks, and how long an answer to it is valid.
type ask struct {
	receipt.Ask
	lasts    time.Duration
	proof    time.Duration // how old the sign-in of the person who agrees may be; 0 is any age
	programs bool          // a program may agree in the place of somebody else
}

// newAsk makes the question that a rule of a palette asks about a call.
func newAsk(st *step, rule *verbs.Confirm) ask {
	a := ask{receipt.Ask{Reason: rule.Reason, Rule: placed(rule.Place), Call: st.call.index}, rule.Lasts(), rule.Proof(), rule.Programs}
	if rule.By != nil {
		a.By = rule.By.Name
	}
	return a
}

// gate checks what must hold of a call, and works out who must agree to it. Rules add up. A rule whose
// condition has no value, or cannot be evaluated, asks: it fails closed.
func gate(ctx context.Context, r *source, st *step) ([]ask, error) {
	if err := require(ctx, r, st); err != nil {
		return nil, err
	}
	var asks []ask
	for i := range st.verb.Confirm {
		rule := &st.verb.Confirm[i]
		if !rule.Always {
			holds, err := r.eval(ctx, st, rule.When, nil)
			if err != nil {
				if isStoreError(err) {
					return nil, err
				}
			} else if holds.Kind() == stores.Bool && !holds.Bool() {
				continue
			}
		}
		ask := newAsk(st, rule)
		if ask.Reason == "" {
			ask.Reason = alwaysAsks(st.verb.Name)
			if !rule.Always {
				ask.Reason = asksWhen(rule.When.Text)
			}
		}
		asks = append(asks, ask)
	}
	return asks, nil
}

// agreed decides whether the plan has the agreements that it needs. The plan was made in the
// transaction that would commit it.
func (r *run) agreed(ctx context.Context, o *runOptions) error {
	if part := o.part; part != nil && part.agreed != "" {
		// The agreement is to the whole script, of which this is a part.
		if r.digestOf(r.plan.prog.Order()) != part.shown {
			return refuseScript(tell(dsl.Place{}, "stale-preview"))
		}
		return nil
	}
	if o.pending != nil {
		// The asker gave their own agreement when they proposed it, and the digest
		// covers the whole script.
		return consented(ctx, r, o.pending)
	}
	others, mine := r.unanswered()
	switch {
	case len(others) > 0:
		// Somebody else has to agree, for which there is Propose: the caller's own
		// agreement does not replace theirs.
		return refuse(append(others, mine...))
	case o.opt.Agreed == "" && len(mine) > 0:
		return refuse(mine)
	case o.opt.Agreed == "":
		return nil
	}
	return r.ownConsent(ctx, o, len(mine) > 0)
}

// asksAnybody reports whether somebody has to agree to what is planned.
func (r *run) asksAnybody() bool {
	return slices.ContainsFunc(r.plan.steps, func(st *step) bool { return len(st.asks) > 0 })
}

// unanswered returns the agreements that others have to give, and those that the caller has to.
func (r *run) unanswered() (others, mine []callError) {
	for _, st := range r.written() {
		for _, ask := range st.allAsks(nil) {
			c := callError{st.call.index, needsAgreement(st.call.place, st.verb.Name, ask.Reason, ask.By, r.plan.id)}
			if ask.By != "" {
				others = append(others, c)
			} else {
				mine = append(mine, c)
			}
		}
	}
	return others, mine
}

// lasts returns how long an agreement to this plan is valid: the shortest time of the rules
// that ask.
func (r *run) lasts() time.Duration {
	var least time.Duration
	for _, st := range r.written() {
		for _, ask := range st.allAsks(nil) {
			least = cmp.Or(least, ask.lasts)
			least = min(least, ask.lasts)
		}
	}
	return cmp.Or(least, verbs.DefaultExpiry)
}

// takes refuses an agreement that a rule does not take from whoever gives it: one whose last sign-in
// is too long ago, or a program in the place of somebody else.
func (r *run) takes(k *consent) error {
	for _, st := range r.written() {
		for _, ask := range st.allAsks(nil) {
			switch {
			case !slices.Contains(k.roles, ask.By):
			case k.program && ask.By != confirmations.ByAsker && !ask.programs:
				return refuse([]callError{{st.call.index, tell(st.call.place, "role-lost/four-eyes", ask.By)}})
			case ask.proof > 0 && (k.proven.IsZero() || r.src.now.Sub(k.proven) > ask.proof):
				return refuse([]callError{{st.call.index, tell(st.call.place, "sign-in-again", message.Lasting(int64(ask.proof/time.Second)))}})
			}
		}
	}
	return nil
}

// ownConsent compares the caller's own agreement with the plan. Agreement to a preview is
// for that preview alone, even where no rule asks; it is valid once.
//
// A preview that this session showed, or that the store keeps, is compared by its whole
// digest. A preview that asks nobody, and that another process showed, is known by its
// short id alone: that stops a caller who looked at something else, and grants no right.
func (r *run) ownConsent(ctx context.Context, o *runOptions, asked bool) error {
	at := dsl.Place{Source: r.plan.prog.Script().Source}
	if err := r.takes(&consent{proven: r.src.s.rights.proven, roles: []string{confirmations.ByAsker}}); err != nil {
		return err
	}
	keys := o.answer.kept
	if c := o.answer.claimed; c != nil {
		switch {
		case o.answer.declined:
			return refuseScript(tell(at, "declined-before/yourself"))
		case o.answer.spent:
			return refuseScript(tell(at, "already-used"))
		case c.digest != r.plan.digest:
			return refuseScript(stalePreview(at, c.moved(r)))
		case asked && !r.src.now.Before(c.until):
			return refuseScript(tell(at, "agreement-expired", stamp(c.until)))
		case c.kept.IsNull():
			return nil
		}
		keys = []stores.Value{c.kept}
	}
	id, _ := receipt.ReadAnswer(o.opt.Agreed)
	why := tell(at, "stale-preview")
	for _, key := range keys {
		c, err := confirmations.Get(ctx, r.src.read, key)
		if err != nil {
			return err
		}
		if c == nil || c.Digest != fmt.Sprintf("%x", r.plan.digest) {
			continue
		}
		if d := unusable(r.src.e, c, r.src.now, at); d != nil {
			why = *d
			continue
		}
		r.own.Changes = append(r.own.Changes, c.Use(writtenScript(r.src.e, c), r.src.s.who.Name, o.opt.Key, r.src.now))
		return nil
	}
	switch {
	case asked && o.answer.unread != nil:
		return &Failure{Err: o.answer.unread}
	case !asked && o.answer.claimed == nil && receipt.IsID(r.plan.id, id):
		return nil
	}
	return refuseScript(why)
}

// allAsks gathers the asks of a call and of those it makes as a macro.
func (st *step) allAsks(asks []ask) []ask {
	asks = append(asks, st.asks...)
	for _, inner := range st.tree.inner {
		asks = inner.allAsks(asks)
	}
	return asks
}

// questions returns the asks of a call and its macro for the receipt.
func (st *step) questions() (all []receipt.Ask) {
	for _, a := range st.allAsks(nil) {
		all = append(all, a.Ask)
	}
	return all
}

// require checks the `requires` rules of a call, on the rows as they are after the earlier
// calls. It reports all rules that do not hold at once. A rule that cannot be evaluated does
// not hold either; it is reported only if no other is, since a rule may rely on those before
// it.
func require(ctx context.Context, r *source, st *step) error {
	if err := inCountry(st); err != nil {
		return err
	}
	if err := schematic(r, st); err != nil {
		return err
	}
	var unmet, unclear []callError
	for i := range st.verb.Requires {
		rule := &st.verb.Requires[i]
		holds, err := requiredHolds(ctx, r, st, rule)
		switch {
		case err != nil && (ctx.Err() != nil || isStoreError(err)):
			return err
		case err != nil || holds.Kind() != stores.Bool:
			unclear = append(unclear, callError{st.call.index, tell(st.call.place, "requirement-not-met/unclear", st.verb.Name, rule.Else, rule)})
		case !holds.Bool():
			unmet = append(unmet, callError{st.call.index, tell(st.call.place, "requirement-not-met", st.verb.Name, rule.Else, rule)})
		}
	}
	if len(unmet) == 0 {
		unmet = unclear
	}
	if len(unmet) > 0 {
		return refuse(unmet)
	}
	return nil
}

func requiredHolds(ctx context.Context, r *source, st *step, rule *verbs.Require) (holds stores.Value, err error) {
	if rule.Rows != nil {
		holds, _, err = r.total(ctx, st, rule.Rows)
		return holds, err
	}
	return r.eval(ctx, st, rule.That, nil)
}

// inCountry reads telephone numbers and national ids by the country in the argument beside them. The
// checker has done so for literals.
func inCountry(st *step) error {
	for i := range st.verb.Params {
		by, ok := st.verb.CountryParam(i)
		if !ok || st.args.values[i].IsNull() {
			continue
		}
		p := &st.verb.Params[i]
		v, err := p.Type.In(st.args.values[by]).Accept(st.args.values[i])
		if err != nil {
			return st.refuse("wrong-value", p.Name, err.Error())
		}
		st.args.values[i] = v
	}
	return nil
}

// schematic checks objects against the schemas of the codes beside them. The checker has done
// so for literals; values of rows, answers and macros are known only here.
func schematic(r *source, st *step) error {
	for i := range st.verb.Params {
		p := &st.verb.Params[i]
		by, ok := p.SchemaOf()
		if !ok || st.args.values[i].IsNull() || st.args.values[by].IsNull() {
			continue
		}
		s := st.verb.Params[by].Type.Codes.Schema(st.args.values[by].Text())
		if s == nil {
			return st.refuse("wrong-value", p.Name, "nothing is declared for "+st.args.values[by].Text())
		}
		found, err := s.Check(st.args.values[i])
		if err != nil {
			return &Failure{Err: fmt.Errorf("the schema %s: %w", s.Name, err)}
		}
		for _, b := range found {
			if p.FollowUps && s.Follows(b) {
				continue
			}
			what := strings.Join(b.Path, ".")
			if !b.Safe {
				b.Says = "does not satisfy its schema"
			}
			return st.refuse("wrong-value", p.Name, cmp.Or(b.Wrong, strings.TrimSpace(what+" "+b.Says)))
		}
		if st.verb.Moves() {
			for _, b := range s.OnDay(r.s.today(r.now), st.args.values[i]) {
				return st.refuse("wrong-value", p.Name, cmp.Or(b.Wrong, strings.Join(b.Path, ".")+" "+b.Says))
			}
		}
	}
	return nil
}

// rely guards a change with the fields of its row that requirements read: those of its call,
// and of the macros that it belongs to.
//
// A row that a condition picked has been read again since its requirement was evaluated. If it
// has changed, and no call of this run has changed it, another transaction did, and the run is
// tried again. others says that earlier calls changed something.
func rely(c *change, st *step, others bool) error {
	between := false // this run may have changed the row since it was looked at
	for s := st; s != nil; s = s.tree.outer {
		for i := range s.verb.Requires {
			if s.verb.Requires[i].That == nil {
				continue
			}
			for _, read := range s.verb.Requires[i].That.Reads {
				if read.Param < 0 || read.Path.Count != nil && len(read.Path.Steps) == 0 {
					continue
				}
				row := &s.args.rows[read.Param]
				if row.Entity != c.Entity || row.Key() != c.Key {
					continue
				}
				field := read.Path.Field
				if len(read.Path.Steps) > 0 {
					field = read.Path.Steps[0].Field
				}
				if !between && !stores.Equal(row.Values[field], c.Before[field]) {
					return fmt.Errorf("%s: %w", c.Entity.Name, stores.ErrConflict)
				}
				c.guard(field)
			}
		}
		between = between || others
	}
	return nil
}
