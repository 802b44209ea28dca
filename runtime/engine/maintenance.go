package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"verbatim/dsl"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Maintenance of the journal: erasing personal data, and adding rows that existed before it. Each
// is journalled itself.

// The verbs of these journal entries. No palette can declare them.
const (
	verbRedact   = "verbatim.redact"
	verbBaseline = "verbatim.baseline"
	verbRead     = "verbatim.read-journal"
	verbReadTurn = "verbatim.read-turn"
)

// roleOfTurns is the role of the system's palette that sees what models were told and answered.
const roleOfTurns = "model-auditor"

// A Redaction says what to erase from the journal: the values of one row, or everything that one
// principal said.
type Redaction struct {
	Entity    *stores.Entity // the entity of the row
	Key       stores.Value
	Principal string // given instead of a row
	// Everywhere extends the redaction of a row to the same texts in other rows and calls.
	Everywhere bool
}

// covers makes the journal's redaction, and finds the rows and texts that it erases; the texts only if
// they are erased beside the row, too.
func (w *Redaction) covers(ctx context.Context, s *Session) (r journal.Redaction, rows []journal.Row, texts []string, err error) {
	if w.Principal != "" {
		return journal.Redaction{Principal: w.Principal}, nil, nil, nil
	}
	r = journal.Redaction{Row: journal.RowOf(w.Entity, w.Key), Everywhere: w.Everywhere}
	if w.Everywhere {
		r.Below = below(s.e, w.Entity)
	}
	if r.Texts, err = textsOf(ctx, s.e, w, r.Below); err != nil {
		return r, nil, nil, err
	}
	rows, texts, err = r.Find(ctx, s.e.store, s.who.Name)
	return r, rows, texts, err
}

// keepsJournal reports whether the principal has a role that keeps the journal.
func keepsJournal(s *Session) bool {
	return slices.ContainsFunc(s.rights.roles, func(r *verbs.Role) bool { return r.Keeps })
}

// mayKeepJournal refuses a principal who has neither a role that keeps the journal nor one of the
// others, and journals the attempt.
func mayKeepJournal(ctx context.Context, s *Session, verb string, others ...string) error {
	return mustHaveRole(ctx, s, verb, func(r *verbs.Role) bool { return r.Keeps || slices.Contains(others, r.Name) })
}

// mustHaveRole refuses a principal without any of some roles, and journals the attempt.
func mustHaveRole(ctx context.Context, s *Session, verb string, may func(*verbs.Role) bool) error {
	if slices.ContainsFunc(s.rights.roles, may) {
		return nil
	}
	var names []string
	for _, r := range s.e.reg.Roles() {
		if may(r) {
			names = append(names, r.Name)
		}
	}
	err := refuseScript(notJournalKeeper(names))
	e := actEntry(s, verb)
	e.Outcome, e.Reason = outcomeRefused, err.Diagnostics[0].Code
	if failed := recordEntries(ctx, s, stores.Batch{Entries: []stores.Entry{e}}); failed != nil {
		return &Failure{Err: fmt.Errorf("%w; and the journal could not be told: %w", err, failed)}
	}
	return err
}

// Reads refuses a principal with neither a role that keeps the journal nor one of others.
func (jn Journal) Reads(ctx context.Context, others ...string) error {
	return mayKeepJournal(ctx, jn.s, verbRead, others...)
}

// Readable reports whether Reads would let the principal in. Unlike it, it journals nothing.
func (jn Journal) Readable() bool { return keepsJournal(jn.s) }

// SeesTurns reports whether the principal has the role that sees what models were told and answered.
func (jn Journal) SeesTurns() bool { return slices.ContainsFunc(jn.s.rights.roles, ofTurns) }

func ofTurns(r *verbs.Role) bool { return r.Name == roleOfTurns }

// Messages lists the latest messages of a principal's conversations, without their words, to the role
// that sees what models were told and answered.
func (jn Journal) Messages(ctx context.Context, principal string, most int) (all []sessions.Turn, err error) {
	if err := mustHaveRole(ctx, jn.s, verbReadTurn, ofTurns); err != nil {
		return nil, err
	}
	err = jn.s.e.store.View(ctx, system(), func(r stores.Reader) (err error) {
		all, err = sessions.Messages(ctx, r, principal, most)
		return err
	})
	return all, failure(err)
}

// Message returns a message of anybody's conversation and what came of it, to the role that sees what
// models were told and answered, and journals the look. It returns an error that is stores.ErrNotFound
// where there is no such message.
func (jn Journal) Message(ctx context.Context, session string, number int64) (c sessions.Conversed, err error) {
	if err := mustHaveRole(ctx, jn.s, verbReadTurn, ofTurns); err != nil {
		return c, err
	}
	err = jn.s.e.store.View(ctx, system(), func(r stores.Reader) (err error) {
		c, err = sessions.Message(ctx, r, session, number)
		return err
	})
	if err != nil {
		return c, failure(err)
	}
	look := actEntry(jn.s, verbReadTurn, dsl.NewArg("turn", dsl.NewString(sessions.TurnID(session, number))), dsl.NewArg("principal", dsl.NewString(c.Principal)))
	return c, failure(recordEntries(ctx, jn.s, stores.Batch{Entries: []stores.Entry{look}}))
}

// Opens journals that one entry is shown with its personal data: to a role that keeps the
// journal, or to the principal of that entry.
func (jn Journal) Opens(ctx context.Context, e *stores.Entry) error {
	if e.Principal != jn.s.who.Name {
		if err := mayKeepJournal(ctx, jn.s, verbRead); err != nil {
			return err
		}
	}
	return failure(recordEntries(ctx, jn.s, stores.Batch{Entries: []stores.Entry{actEntry(jn.s, verbRead, dsl.NewArg("entry", dsl.NewInteger(e.Seq)))}}))
}

// actEntry begins a journal entry about an act of the engine itself.
func actEntry(s *Session, verb string, args ...dsl.Arg) stores.Entry {
	call := dsl.NewCall(verb, args...)
	return stores.Entry{Time: s.e.opt.Clock(), Principal: s.who.Name, Session: s.id, Source: "log", Verb: verb, Call: dsl.FormatCall(&call),
		Outcome: outcomeOK, Palette: s.e.reg.Digest(), Roles: roleNames(s)}
}

// Redactable returns what Redact would erase.
func (jn Journal) Redactable(ctx context.Context, w Redaction) (journal.Erased, error) {
	if err := mayKeepJournal(ctx, jn.s, verbRedact); err != nil {
		return journal.Erased{}, err
	}
	r, rows, texts, err := w.covers(ctx, jn.s)
	if err != nil {
		return journal.Erased{}, failure(err)
	}
	n, err := journal.Count(ctx, jn.s.e.store, jn.s.who.Name, r)
	if err == nil {
		err = w.forget(ctx, jn.s.e, rows, texts, &n, true)
	}
	return n, failure(err)
}

// Redact erases personal and sensitive values from the journal. The entries stay, with commitments
// to the erased values; the hash chain stays valid, and nobody can recover the values. The
// redaction itself is journalled, with its principal and subject. Rows are not changed, except
// that the turns of a principal lose their words.
func (jn Journal) Redact(ctx context.Context, w Redaction) (journal.Erased, error) {
	if err := mayKeepJournal(ctx, jn.s, verbRedact); err != nil {
		return journal.Erased{}, err
	}
	r, rows, texts, err := w.covers(ctx, jn.s)
	if err != nil {
		return journal.Erased{}, failure(err)
	}
	// Before the journal: a redaction that is cut off here is told to nobody as done, and finds the texts again.
	var beside journal.Erased
	if err := w.forget(ctx, jn.s.e, rows, texts, &beside, false); err != nil {
		return journal.Erased{}, failure(err)
	}
	n, err := journal.Redact(ctx, jn.s.e.store, jn.s.who.Name, r, func(n journal.Erased) stores.Entry {
		var args []dsl.Arg
		record := journal.Record{Erased: n.Of.String()}
		if w.Principal != "" {
			args = append(args, dsl.NewArg("principal", dsl.NewString(w.Principal)))
		} else {
			args = append(args, dsl.NewArg("entity", dsl.NewString(w.Entity.Name)))
			if w.Everywhere {
				args = append(args, dsl.NewArg("everywhere", dsl.NewBool(true)))
			}
			record.Rows = []receipt.Row{{Op: receipt.Redacted, Entity: w.Entity.Name, Table: w.Entity.Table, Key: w.Key}}
		}
		for name, many := range map[string]int{"turns": beside.Turns, "copies": beside.Copies} {
			if many > 0 {
				args = append(args, dsl.NewArg(name, dsl.NewInteger(int64(many))))
			}
		}
		e := actEntry(jn.s, verbRedact, append(args, dsl.NewArg("entries", dsl.NewInteger(int64(n.Entries))), dsl.NewArg("values", dsl.NewInteger(int64(n.Values))))...)
		e.Changes = string(record.AppendText(nil))
		return e
	})
	n.Turns, n.Copies, n.Elsewhere = beside.Turns, beside.Copies, append(n.Elsewhere, beside.Elsewhere...)
	return n, failure(err)
}

// forget erases what stands beside the journal, or only counts it.
func (w *Redaction) forget(ctx context.Context, e *Engine, rows []journal.Row, texts []string, n *journal.Erased, dry bool) (err error) {
	switch {
	case w.Principal != "":
		n.Turns, err = forgetWords(ctx, e, w.Principal, dry)
	case w.Everywhere:
		err = forgetCopies(ctx, e, rows, texts, n, dry)
	default: // the texts elsewhere are listed
		if err = forgetCopies(ctx, e, rows, nil, n, dry); err == nil {
			var more journal.Erased
			err = forgetCopies(ctx, e, nil, texts, &more, true)
			n.Elsewhere = append(n.Elsewhere, more.Elsewhere...)
			if more.Copies > 0 {
				n.Elsewhere = append(n.Elsewhere, journal.Repeat{Copies: more.Copies})
			}
		}
	}
	return err
}

// Baseline adds to the journal the rows that it does not know, or knows only in part, so that a
// replay can start with them. It returns the number of those rows.
func (jn Journal) Baseline(ctx context.Context, state *journal.State) (int, error) {
	if err := mayKeepJournal(ctx, jn.s, verbBaseline); err != nil {
		return 0, err
	}
	n, err := journal.Baseline(ctx, jn.s.e.store, jn.s.who.Name, state, actEntry(jn.s, verbBaseline), jn.s.e.opt.NewID, rand.Reader)
	return n, failure(err)
}
