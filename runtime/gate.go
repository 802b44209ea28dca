package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/confirmations"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// An ask is a question, and how long an answer to it is good.
type ask struct {
	receipt.Ask
	lasts time.Duration
	proof time.Duration // how old the sign-in of whoever agrees may be; 0 is any age
}

// newAsk makes the question that a rule of a palette asks about a call.
func newAsk(st *step, rule *verbs.Confirm) ask {
	a := ask{receipt.Ask{Reason: rule.Reason, Rule: placed(rule.Place), Call: st.index}, rule.Lasts(), rule.Proof()}
	if rule.By != nil {
		a.By = rule.By.Name
	}
	return a
}

// gate works out who must agree to a call first. Rules add up. A rule whose
// condition cannot be worked out, or comes to nothing, asks: what is not known
// to be harmless is not done unasked.
func gate(ctx context.Context, r *reading, st *step) ([]ask, error) {
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

// agreed decides whether what was asked for has been agreed to. The plan has
// just been made inside the transaction that would commit it.
func (r *run) agreed(ctx context.Context, o *terms) error {
	if part := o.share; part != nil && part.agreed != "" {
		// The agreement is to the whole script, of which this is a part.
		if r.unitDigest(part.calls) != part.shown {
			last := r.top[part.calls[len(part.calls)-1]]
			return refuse([]complaint{{last.index, stalePreview(last.place, nil)}})
		}
		return nil
	}
	if o.pending != nil {
		// The asker agreed to what was theirs to agree to when they proposed
		// it, and the digest is that of all of it.
		return r.consented(ctx, o.pending)
	}
	others, mine := r.unanswered()
	switch {
	case len(others) > 0:
		// Somebody else has to agree, which is what Propose is for: no consent
		// of the person's own makes up for it.
		return refuse(append(others, mine...))
	case o.Agreed == "" && len(mine) > 0:
		return refuse(mine)
	case o.Agreed == "":
		return nil
	}
	return r.ownConsent(ctx, o, len(mine) > 0)
}

// asksAnybody reports whether somebody has to agree to what is planned.
func (r *run) asksAnybody() bool {
	return slices.ContainsFunc(r.steps, func(st *step) bool { return len(st.asks) > 0 })
}

// unanswered tells what somebody else has to agree to, and what the person.
func (r *run) unanswered() (others, mine []complaint) {
	for _, st := range r.written() {
		for _, ask := range st.allAsks(nil) {
			c := complaint{st.index, needsAgreement(st.place, st.verb.Name, ask.Reason, ask.By, r.id)}
			if ask.By != "" {
				others = append(others, c)
			} else {
				mine = append(mine, c)
			}
		}
	}
	return others, mine
}

// lasts is how long an agreement to this plan is good: as long as the strictest
// of the rules that ask lets it.
func (r *run) lasts() time.Duration {
	var least time.Duration
	for _, st := range r.written() {
		for _, ask := range st.allAsks(nil) {
			if least == 0 {
				least = ask.lasts
			}
			least = min(least, ask.lasts)
		}
	}
	return cmp.Or(least, verbs.DefaultExpiry)
}

// recent refuses an agreement by somebody who last showed who they are longer ago than
// a rule allows: one that asks others, or one that asks the person.
func (r *run) recent(proven time.Time, others bool) error {
	for _, st := range r.written() {
		for _, ask := range st.allAsks(nil) {
			if ask.proof > 0 && others == (ask.By != "") && (proven.IsZero() || r.now.Sub(proven) > ask.proof) {
				return refuse([]complaint{{st.index, signInAgain(st.place, ask.proof)}})
			}
		}
	}
	return nil
}

// ownConsent holds the person's agreement against the plan. Consent to a preview
// is consent to that one, also where none was needed; it is good once.
//
// A preview that this session showed, or that was kept for other processes, is
// compared by its whole digest. For what asks nobody, and was shown in another
// process, there is only the id that the person read: it stops somebody who
// looked at something else, and no right hangs on it.
func (r *run) ownConsent(ctx context.Context, o *terms, asked bool) error {
	at := dsl.Place{Source: r.prog.Script().Source}
	if err := r.recent(r.s.proven, false); err != nil {
		return err
	}
	keys := o.kept
	if c := o.claimed; c != nil {
		switch {
		case o.spent:
			return refuse([]complaint{{-1, alreadyUsed(at, "", "")}})
		case c.digest != r.digest:
			return refuse([]complaint{{-1, stalePreview(at, c.moved(r))}})
		case asked && !r.now.Before(c.until):
			return refuse([]complaint{{-1, agreementExpired(at, c.until)}})
		case c.kept.IsNull():
			return nil
		}
		keys = []stores.Value{c.kept}
	}
	why := stalePreview(at, nil)
	for _, key := range keys {
		c, err := confirmations.Get(ctx, r.read, key)
		if err != nil {
			return err
		}
		if c == nil || c.Digest != fmt.Sprintf("%x", r.digest) {
			continue
		}
		if d := r.e.unusable(c, r.now, at); d != nil {
			why = *d
			continue
		}
		r.own = append(r.own, c.Settle(r.e.writtenScript(c), confirmations.Used, r.s.who.Name, "", r.now))
		return nil
	}
	switch {
	case asked && o.unread != nil:
		return &Failure{Err: o.unread}
	case !asked && o.claimed == nil && receipt.IsID(r.id, o.Agreed):
		return nil
	}
	return refuse([]complaint{{-1, why}})
}

// allAsks gathers the asks of a call and of those it makes as a macro.
func (st *step) allAsks(asks []ask) []ask {
	asks = append(asks, st.asks...)
	for _, inner := range st.inner {
		asks = inner.allAsks(asks)
	}
	return asks
}

// questions is what is told of them.
func (st *step) questions() (all []receipt.Ask) {
	for _, a := range st.allAsks(nil) {
		all = append(all, a.Ask)
	}
	return all
}
