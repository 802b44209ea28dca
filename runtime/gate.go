package runtime

import (
	"context"

	"verbatim/dsl"
	"verbatim/stores"
)

// An Ask is one confirmation that a call needs before it may happen.
type Ask struct {
	By     string    // a role that somebody else must have; "" is the person asking
	Reason string    // "it sends a message that cannot be recalled"
	Rule   dsl.Place // in the palette
	Call   int       // index in Program.Calls
}

// gate works out who must agree to a call first. Rules add up. A rule whose
// condition cannot be worked out, or comes to nothing, asks: what is not known
// to be harmless is not done unasked.
func (r *run) gate(ctx context.Context, st *step) error {
	for i := range st.verb.Confirm {
		rule := &st.verb.Confirm[i]
		if !rule.Always {
			holds, err := r.eval(ctx, st, rule.When, nil)
			if err != nil && (ctx.Err() != nil || isStoreError(err)) {
				return err
			}
			if err == nil && holds.Kind() == stores.Bool && !holds.Bool() {
				continue
			}
		}
		ask := Ask{Reason: rule.Reason, Rule: rule.Place, Call: st.index}
		if rule.By != nil {
			ask.By = rule.By.Name
		}
		if ask.Reason == "" {
			ask.Reason = alwaysAsks(st.verb.Name)
			if !rule.Always {
				ask.Reason = asksWhen(rule.When.Text)
			}
		}
		st.asks = append(st.asks, ask)
	}
	return nil
}

// agreed decides whether what was asked for has been agreed to. The plan has
// just been made inside the transaction that would commit it.
func (r *run) agreed(o RunOptions) error {
	var others, mine []complaint
	for _, st := range r.top {
		for _, ask := range st.allAsks(nil) {
			c := complaint{st.index, needsAgreement(st.place, st.verb.Name, ask.Reason, ask.By, r.id)}
			if ask.By != "" {
				others = append(others, c)
			} else {
				mine = append(mine, c)
			}
		}
	}
	switch {
	case len(others) > 0:
		// Somebody else has to agree, and there is no door for them yet: no
		// consent of the person's own makes up for it.
		return refuse(append(others, mine...))
	case o.Agreed == "" && len(mine) > 0:
		return refuse(mine)
	case o.Agreed == "":
		return nil
	}
	// Consent to a preview is consent to that one, also where none was needed.
	// A session that showed it compares the whole digest. In another process
	// there is only the id that the person read, which is the beginning of it:
	// enough to tell two plans of one person's apart, and no secret. Consent of
	// somebody else will need more, and a record of its own.
	before := r.s.recall(o.Agreed)
	if before != nil && before.digest == r.digest || before == nil && o.Agreed == r.id {
		return nil
	}
	at := dsl.Place{Source: r.prog.Script().Source}
	return refuse([]complaint{{-1, stalePreview(at, before.moved(r))}})
}

// allAsks gathers the asks of a call and of those it makes as a macro.
func (st *step) allAsks(asks []Ask) []Ask {
	asks = append(asks, st.asks...)
	for _, inner := range st.inner {
		asks = inner.allAsks(asks)
	}
	return asks
}
