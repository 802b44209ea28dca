package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/digest"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// An agreement is for one occasion: the question that it answers. What a question would do is known
// by a digest, and two questions may have the same one, so each gets a nonce of its own when it is
// asked. The nonce is the key of the run: the same answer, sent twice, is done once and gets the
// same receipt; a new question with the same content is a new act, and says when the same was done
// before.

// asksOn draws the occasion of a preview that asks somebody, and looks for earlier times.
func asksOn(ctx context.Context, s *Session, r *run, preview *receipt.Receipt, p *shown) (err error) {
	if !r.asksAnybody() {
		return nil
	}
	preview.Occasion = drawKey()
	p.occasion = preview.Occasion
	preview.Earlier, err = earlierDone(ctx, s, r.plan.prog.Canonical())
	return err
}

// drawKey returns 128 random bits as a text.
func drawKey() string {
	var bits [16]byte
	rand.Read(bits[:]) // never fails, by its documentation
	return hex.EncodeToString(bits[:])
}

// occasionKey returns the idempotency key of the run that a question leads to.
func occasionKey(occasion string) string { return "asked " + occasion }

// newestShown returns the latest of the previews that this session showed and that an answer may mean.
// The caller holds s.previews.mu.
func newestShown(s *Session, answer string) *shown {
	id, occasion := receipt.ReadAnswer(answer)
	for _, p := range slices.Backward(s.previews.list) {
		if receipt.IsID(p.id, id) && (occasion == "" || p.occasion == occasion) {
			return p
		}
	}
	return nil
}

// newestKept returns the latest of the previews of the principal that the store keeps and that an
// answer may mean; nil if there is none.
func newestKept(ctx context.Context, s *Session, answer string) (last *confirmations.Confirmation, err error) {
	all, err := keptPreviews(ctx, s, answer)
	for _, c := range all {
		// Of two at the same time, the one that is still open is meant.
		if last == nil || c.Time.After(last.Time) || c.Time.Equal(last.Time) && last.Status != confirmations.Waiting {
			last = c
		}
	}
	return last, err
}

// keptPreviews finds the previews that the principal kept and that an answer may mean.
func keptPreviews(ctx context.Context, s *Session, answer string) (all []*confirmations.Confirmation, err error) {
	id, occasion := receipt.ReadAnswer(answer)
	err = s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) (err error) {
		all, err = confirmations.Find(ctx, r, map[int]stores.Value{
			confirmations.FieldID: {}, confirmations.FieldAsker: stores.NewString(s.who.Name)})
		return err
	})
	return slices.DeleteFunc(all, func(c *confirmations.Confirmation) bool {
		return !receipt.IsID(c.Preview, id) || occasion != "" && c.Occasion != occasion
	}), err
}

// Answered returns the receipt of what an answer led to before, nil if it led to nothing yet. Run
// returns it too, but only for a script that still checks: what was done may have deleted the rows
// that it names.
func (jn Journal) Answered(ctx context.Context, script *dsl.Script, agreed string) (*receipt.Receipt, error) {
	if agreed == "" {
		return nil, nil
	}
	_, occasion := receipt.ReadAnswer(agreed)
	key, kept := "", true
	jn.s.previews.mu.Lock()
	if p := newestShown(jn.s, agreed); p != nil {
		if kept = !p.kept.IsNull(); p.used {
			key = p.key
		}
		agreed = receipt.AnswerTo(p.id, p.occasion)
	}
	jn.s.previews.mu.Unlock()
	if key == "" && kept {
		c, err := newestKept(ctx, jn.s, agreed)
		switch {
		case err != nil:
			return nil, failure(err)
		case c != nil && c.Status == confirmations.Used:
			key = c.UnderKey
		case c == nil && occasion != "": // it is kept for less long than the receipt
			key = occasionKey(occasion)
		}
	}
	if key == "" {
		return nil, nil
	}
	return jn.s.Journal().Repeat(ctx, script, key)
}

// answeredBefore is Answered for a run that was refused. Errors count as no receipt: then the refusal
// stands.
func answeredBefore(ctx context.Context, s *Session, p *verbs.Program, agreed string, err error) *receipt.Receipt {
	var refusal *Refusal
	if agreed == "" || !errors.As(err, &refusal) {
		return nil
	}
	again, failed := s.Journal().Answered(ctx, p.Script(), agreed)
	if failed != nil {
		return nil
	}
	return again
}

// sameCalls returns the digest by which the same calls of a principal are found again. Sensitive
// values are not part of it, since it could be found by trying.
func sameCalls(s *Session, settled *dsl.Script) (same string, withheld bool) {
	parts := []string{"verbatim same 1", s.who.Name}
	for i := range settled.Calls {
		text := dsl.FormatCall(writtenCall(s.e, nil, &settled.Calls[i], nil))
		withheld = withheld || text != dsl.FormatCall(&settled.Calls[i])
		parts = append(parts, text)
	}
	return digest.Of(parts...), withheld
}

// settledDone finds the latest request that a person settled as done.
func settledDone(same string) stores.Find {
	return lastOf(attempts, attTime, 1, isField(attSame, same), isField(attEnded, SettleDone))
}

// earlierDone returns when the principal did the same calls before, or asked a tool for them and lost
// its answer: the latest time of each. Previews that ask somebody have it.
func earlierDone(ctx context.Context, s *Session, settled *dsl.Script) (all []receipt.Earlier, err error) {
	same, withheld := sameCalls(s, settled)
	err = s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) error {
		all = nil
		rows, err := r.Find(ctx, lastOf(deliveries, dlvTime, 1, isField(dlvSame, same)))
		if err != nil {
			return err
		}
		for _, row := range rows {
			all = append(all, receipt.Earlier{Outcome: receipt.EarlierDone, Time: row[dlvTime].Time(), Entry: row[dlvFirst].Int(), Withheld: withheld})
		}
		if rows, err = r.Find(ctx, settledDone(same)); err != nil {
			return err
		}
		for _, row := range rows {
			all = append(all, receipt.Earlier{Outcome: receipt.EarlierDone, Time: row[attTime].Time(), Entry: row[attFirst].Int(), Withheld: withheld})
		}
		open, err := unsettled(ctx, r, isField(attSame, same))
		for i := range open {
			all = append(all, receipt.Earlier{Outcome: open[i].outcome(), Time: open[i].Time, Entry: open[i].Entry, Tool: open[i].Tool, Withheld: withheld})
		}
		return err
	})
	slices.SortStableFunc(all, func(a, b receipt.Earlier) int { return cmp.Compare(a.Time.UnixMicro(), b.Time.UnixMicro()) })
	return all, err
}

// isField compares a field with a text.
func isField(field int, text string) stores.Cond {
	return stores.Cond{Op: stores.Eq, Path: stores.Path{Field: field}, Value: stores.NewString(text)}
}

// lastOf finds the latest rows that conditions select.
func lastOf(e *stores.Entity, time, most int, all ...stores.Cond) stores.Find {
	return stores.Find{Entity: e, Where: &stores.Cond{Op: stores.And, Kids: all}, Order: []stores.Order{{Path: stores.Path{Field: time}, Desc: true}}, Limit: most, Cut: true}
}

// An Unsettled is a request to a tool of another server of which nobody knows what became.
type Unsettled struct {
	Entry     int64 // of the journal; zero for one from before these were noted
	Principal string
	Tool      string // "bank pay"
	Time      time.Time
	Status    string // AttemptOpen, AttemptUnknown, or AttemptDone where nothing was stored here

	row stores.Row
}

func (u *Unsettled) outcome() string {
	if u.Status == AttemptDone {
		return receipt.EarlierAlone
	}
	return receipt.EarlierUnknown
}

// maxUnsettled is how many requests are listed.
const maxUnsettled = 200

// unsettled finds requests that nobody has settled, latest first.
func unsettled(ctx context.Context, r stores.Reader, where ...stores.Cond) (all []Unsettled, err error) {
	var states []stores.Value
	for _, s := range []string{AttemptOpen, AttemptUnknown, AttemptDone} {
		states = append(states, stores.NewString(s))
	}
	rows, err := r.Find(ctx, lastOf(attempts, attTime, maxUnsettled, append(where,
		stores.Cond{Op: stores.In, Path: stores.Path{Field: attStatus}, Value: stores.NewList(states...)},
		// Those from before this was noted may have been stored, and say nothing of it.
		stores.Cond{Op: stores.Eq, Path: stores.Path{Field: attEnded}, Value: stores.NewString(endedOpen)})...))
	for _, row := range rows {
		all = append(all, Unsettled{Entry: row[attFirst].Int(), Principal: row[attPrincipal].Text(), Tool: row[attTool].Text(), Time: row[attTime].Time(), Status: row[attStatus].Text(),
			row: stores.Row{Entity: attempts, Values: row}})
	}
	return all, err
}

const verbSettle = "verbatim.settle"

// Unsettled lists the requests to tools of which nobody knows what became: those of everybody for a
// role that keeps the journal, the principal's own for others.
func (jn Journal) Unsettled(ctx context.Context) (all []Unsettled, err error) {
	var mine []stores.Cond
	if !keepsJournal(jn.s) {
		mine = append(mine, isField(attPrincipal, jn.s.who.Name))
	}
	err = jn.s.e.store.View(ctx, jn.s.engineScope(), func(r stores.Reader) error {
		all, err = unsettled(ctx, r, mine...)
		return err
	})
	return all, failure(err)
}

// Settle says what became of a request, known by its entry in the journal: SettleDone,
// SettleNotDone or SettleAgain. The principal is the one who asked, or keeps the journal. The
// journal gets an entry that names the other, and Settle returns its number.
func (jn Journal) Settle(ctx context.Context, entry int64, how string) (by int64, err error) {
	var done stores.Tx
	err = writeTo(ctx, jn.s.e, jn.s.engineScope(), func(tx stores.Tx) error {
		done = tx
		open, err := unsettled(ctx, tx, stores.Cond{Op: stores.Eq, Path: stores.Path{Field: attFirst}, Value: stores.NewInt(entry)})
		if err != nil {
			return err
		}
		if len(open) == 0 || open[0].Principal != jn.s.who.Name && !keepsJournal(jn.s) {
			return refuseScript(tell(dsl.Place{}, "unknown-entry/settle", entry))
		}
		u := &open[0]
		now := jn.s.e.opt.Clock()
		if u.Status == AttemptOpen && now.Sub(u.Time) < stillAsking {
			return refuseScript(tell(dsl.Place{}, "still-asking", entry, stamp(u.Time), stamp(u.Time.Add(stillAsking))))
		}
		e := actEntry(jn.s, verbSettle, dsl.NewArg("entry", dsl.NewInteger(entry)), dsl.NewArg("outcome", dsl.NewString(how)))
		e.Time = now
		return tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{e}, Changes: []stores.Change{u.end(how, jn.s.who.Name)}})
	})
	if err != nil {
		return 0, storeError(dsl.Place{}, err)
	}
	for _, e := range done.Numbered() {
		by = e.Seq
	}
	return by, nil
}

// stillAsking is how long a request without an outcome may still be under way: longer than any tool
// is waited for.
const stillAsking = time.Hour

// end makes the change that settles a request, once.
func (u *Unsettled) end(how, by string) stores.Change {
	return stores.Change{Op: stores.Update, Entity: attempts, Key: u.row.Key(), Before: u.row.Values, Guard: []int{attStatus, attEnded},
		Set: []stores.Assign{{Field: attEnded, Value: stores.NewString(how)}, {Field: attEndedBy, Value: stores.NewString(by)}}}
}
