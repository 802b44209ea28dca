package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Pending is a script that waits, or waited, for somebody else's agreement.
type Pending struct {
	ID      string // of 128 bits, see receipt.Short; empty when nobody has to be asked
	Asker   string
	Called  string // what Asker is called, if Show set it
	Asked   time.Time
	Expires time.Time // until when it can be agreed to
	Source  string
	Calls   []string // canonical text, sensitive values withheld; none if the palettes have changed since
	Roles   []Agreement
	Status  string // confirmations.Waiting and the others
	// Decision is zero while it waits.
	Decision Decision
	// Mine says that it waits for the principal of this session.
	Mine bool
	// Said says that the asker's own words led to it, and that this principal may read
	// them: see Words. Show sets it.
	Said bool
	// Preview is what would happen now, with the rights that the asker has at this
	// moment. Propose and Show set it; it is nil where the script could not run.
	Preview *receipt.Receipt
	// Stale says that Preview differs from what was asked for, so that nobody can agree
	// to it any more. Moved lists the rows that differ.
	Stale bool
	Moved []string
}

// Outdated reports whether the palettes have changed since it was asked for. Nobody can agree to it any
// more; who could have agreed may still decline it, and its asker may withdraw it.
func (p *Pending) Outdated() bool { return p.Status == confirmations.Waiting && len(p.Calls) == 0 }

// A Decision says how a Pending ended.
type Decision struct {
	By     string // who settled it
	At     time.Time
	Reason string // of a decline
}

// An Agreement is a role whose agreement is needed, and who gave it.
type Agreement struct {
	Role string // "" is the asker's own agreement, to the outcome of their job
	By   string // "" while nobody has agreed
}

// The verbs of the journal entries that the engine itself writes. No palette can declare
// them.
const (
	verbAgree          = "verbatim.agree"
	verbDecline        = "verbatim.decline"
	verbWithdraw       = "verbatim.withdraw"
	verbExpire         = "verbatim.expire"
	verbWords          = "verbatim.read-words"
	verbNotifyDeciders = "verbatim.summon" // in reports of workers, never in the journal
)

// unusable says why nobody can use a confirmation now; nil if it can be used.
func unusable(e *Engine, c *confirmations.Confirmation, now time.Time, at dsl.Place) *dsl.Diagnostic {
	var d dsl.Diagnostic
	switch {
	case c.Status == confirmations.Used:
		d = tell(at, "already-used/by", after(", by ", c.By), stamp(c.Settled))
	case c.Status == confirmations.Declined && c.ID == "": // a preview that a person kept for themselves
		d = tell(at, "declined-before/yourself")
	case c.Status == confirmations.Declined:
		d = tell(at, "declined-before", c.By, after(": ", c.Reason))
	case c.Status == confirmations.Expired, c.Status == confirmations.Waiting && !now.Before(c.Expires):
		d = tell(at, "agreement-expired", stamp(c.Expires))
	case c.Status == confirmations.Stale:
		d = tell(at, "stale-preview")
	case c.Status != confirmations.Waiting:
		d = tell(dsl.Place{}, "unknown-confirmation", c.ID)
	case c.Palette != e.reg.Digest():
		d = tell(at, "other-palette")
	default:
		return nil
	}
	return &d
}

// engineScope returns the scope for the engine's own rows.
func (s *Session) engineScope() stores.Scope { return stores.Scope{Principal: s.who.Name, All: true} }

// Keep is Preview for a person who will agree in another process, with the options of Preview and
// Source. Where the program asks them, the store keeps the preview: only they can use it, once, and
// only as long as the rules allow. If the store fails to keep it, Keep returns both the preview and
// the error.
func (s *Session) Keep(ctx context.Context, p *verbs.Program, options ...RunOptions) (*receipt.Receipt, error) {
	o := given(options)
	defer s.begins()()
	r, err := s.rehearse(ctx, p, o)
	if err != nil {
		return nil, err
	}
	shown := r.shown()
	preview := r.preview()
	if len(shown.asking) == 0 {
		s.remember(shown)
		return preview, nil
	}
	if err := asksOn(ctx, s, r, preview, shown); err != nil {
		return nil, failure(err)
	}
	c := confirmationOfRun(r, "", nil, RunOptions{Source: o.Source})
	c.Occasion = shown.occasion
	// The person who agrees to their own preview has the script, so the row needs no sensitive values.
	c.Script, c.Answers = writtenScript(s.e, c), storeAnswers(answersOf(r, maxKeptAnswers, false))
	err = writeTo(ctx, s.e, s.engineScope(), func(tx stores.Tx) error {
		mine := map[int]stores.Value{confirmations.FieldID: {}, confirmations.FieldAsker: stores.NewString(s.who.Name)}
		old, err := confirmations.Find(ctx, tx, mine)
		if err != nil {
			return err
		}
		b := stores.Batch{Changes: []stores.Change{c.Insert()}}
		for _, o := range old {
			if !r.src.now.Before(o.Expires) {
				// Nobody can agree to it any more, so there is nothing to remember.
				b.Changes = append(b.Changes, stores.Change{Op: stores.Delete, Entity: confirmations.Entity, Key: o.Key, Before: o.Row.Values, Guard: []int{confirmations.FieldExpires}})
				if o.Status == confirmations.Waiting {
					b.Entries = append(b.Entries, s.e.expired(o, o.Source, r.src.now))
				}
			}
		}
		return tx.Apply(ctx, b)
	})
	if err != nil {
		s.remember(shown)
		return preview, failure(fmt.Errorf("the preview could not be kept: %w", err))
	}
	shown.kept = c.Key
	s.remember(shown)
	return preview, nil
}

// confirmationOfRun makes the row that stands for a plan.
func confirmationOfRun(r *run, id string, roles []string, o RunOptions) *confirmations.Confirmation {
	source := o.Source
	if src := r.plan.prog.Script().Source; source == "" && src != nil {
		source = src.Name
	}
	return &confirmations.Confirmation{
		Key: stores.NewString(r.src.e.opt.NewID()), ID: id, Asker: r.src.s.who.Name, Person: r.src.s.who.Whose(), Session: r.src.s.id, Source: source,
		Script: dsl.Format(r.plan.prog.Canonical()), Origins: r.plan.prog.Literals().Encode(r.plan.prog.Script()), Digest: fmt.Sprintf("%x", r.plan.digest), Preview: r.plan.id, Palette: r.src.e.reg.Digest(),
		Roles: roles, Agreed: make([]string, len(roles)), Rows: dependsOn(r), UnderKey: o.Key, Before: heardUntil(r.src), Turn: turnID(r.src.s, o),
		Time: r.src.now, Expires: r.src.now.Add(r.lasts()), Status: confirmations.Waiting, Receipt: string(r.preview().AppendKept(nil)),
	}
}

// asConflict turns a duplicate row into a conflict: another transaction added the row first, and
// the next attempt finds it.
func asConflict(err error) error {
	if errors.Is(err, stores.ErrDuplicate) {
		return fmt.Errorf("two asked the same at once: %w", stores.ErrConflict)
	}
	return err
}

// writtenScript returns the script of a confirmation without its secrets.
func writtenScript(e *Engine, c *confirmations.Confirmation) string {
	if c.Palette != e.reg.Digest() {
		return withheld // only the palettes that were loaded then know what is sensitive
	}
	script, _ := dsl.Parse(dsl.NewSource(c.Source, c.Script))
	var b strings.Builder
	for i := range script.Calls {
		b.WriteString(dsl.FormatCall(writtenCall(e, nil, &script.Calls[i], nil)))
		b.WriteByte('\n')
	}
	return b.String()
}

// The rows that a plan depends on decide who may look at it: somebody who has to agree is
// shown nothing outside their own scope.

// anything stands for the rows that a palette's own SQL read. They are not known, so only a
// principal who sees all rows may see them.
const anything = "*"

// dependsOn lists the rows that a plan depends on, without those that it adds.
func dependsOn(r *run) []string {
	var rows []string
	add := func(row string) {
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	for s := range r.plan.reads {
		if s.entity == nil {
			add(anything)
			continue
		}
		if !r.src.draft.added[view.RowKey{Entity: s.entity, Key: s.key}] {
			add(s.entity.Name + " " + s.key.Text())
		}
	}
	slices.Sort(rows)
	return rows
}

// sees reports whether all rows that a plan depends on are in the session's scope.
func (s *Session) sees(ctx context.Context, rows []string) (ok bool, err error) {
	err = s.e.store.View(ctx, s.scope, func(r stores.Reader) error {
		ok, err = s.finds(ctx, r, rows)
		return err
	})
	return ok, err
}

func (s *Session) finds(ctx context.Context, r stores.Reader, rows []string) (bool, error) {
	if s.scope.All {
		return true, nil
	}
	keys := make(map[*stores.Entity][]stores.Value)
	var order []*stores.Entity
	for _, row := range rows {
		name, text, _ := strings.Cut(row, " ")
		e := s.e.reg.Entity(name)
		if e == nil {
			return false, nil
		}
		key, ok := stores.Parse(e.Store.Fields[e.Store.Key].Kind, text)
		if !ok {
			return false, nil
		}
		if keys[e.Store] == nil {
			order = append(order, e.Store)
		}
		keys[e.Store] = append(keys[e.Store], key)
	}
	for _, e := range order {
		found, err := r.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{{Field: e.Key}},
			Where: &stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Key}, Value: stores.NewList(keys[e]...)}})
		if err != nil || len(found) != len(keys[e]) {
			return false, err
		}
	}
	return true, nil
}

// has reports whether the session's principal has a role.
func (s *Session) has(role string) bool {
	return slices.ContainsFunc(s.rights.roles, func(r *verbs.Role) bool { return r.Name == role })
}

// concerns reports whether the principal may see a confirmation: they asked for it, or a
// role of theirs may agree to it and all its rows lie within their scope.
func (s *Session) concerns(ctx context.Context, c *confirmations.Confirmation) (bool, error) {
	if c.ID == "" {
		return false, nil
	}
	if c.Asker == s.who.Name {
		return true, nil
	}
	if !slices.ContainsFunc(c.Roles, s.has) {
		return false, nil
	}
	return s.sees(ctx, c.Rows)
}

// Propose asks others for the agreement that the rules of a program demand. The store
// keeps the whole program; nothing of it runs before a holder of each named role has
// agreed. If the rules ask the caller too, o.Agreed must hold their agreement already.
// Propose returns a Pending without an ID where nobody else has to be asked.
//
// Proposing the same program again returns the same Pending while it waits, and a *Refusal
// once somebody has declined it. With o.Absent it also waits for the caller's own
// agreement, where that is needed.
func (s *Session) Propose(ctx context.Context, p *verbs.Program, o RunOptions) (*Pending, error) {
	if err := s.ready(p); err != nil {
		return nil, err
	}
	if all := s.permit(p); len(all) > 0 {
		return nil, refusalOf(ctx, s, p, o, refuse(all))
	}
	t := &runOptions{opt: o}
	s.claim(ctx, t)
	look := dryRun(RunOptions{Before: o.Before})
	look.answers = t.answers
	r, err := s.attempts(ctx, p, look)
	if err != nil {
		s.release(t, err)
		return s.proposed(ctx, p, o, err)
	}
	preview := r.preview()
	others, mine := r.unanswered()
	if o.Absent {
		others, mine = append(others, mine...), nil
	}
	if len(others) == 0 {
		s.release(t, nil)
		s.remember(r.shown())
		return &Pending{Asker: s.who.Name, Preview: preview}, nil
	}
	if len(mine) > 0 && o.Agreed == "" {
		s.remember(r.shown())
		return nil, refusalOf(ctx, s, p, o, refuse(mine))
	}
	c, err := s.propose(ctx, r, t, others, len(mine) > 0)
	if err != nil {
		s.release(t, err)
		return s.proposed(ctx, p, o, s.finalError(p, err))
	}
	pending := s.pending(c)
	pending.Preview = preview
	return pending, nil
}

// Proposed returns what waits for the agreement of others to a preview of the session's principal, nil
// if they have not proposed it.
func (s *Session) Proposed(ctx context.Context, preview *receipt.Receipt) (*Pending, error) {
	var found []*confirmations.Confirmation
	err := s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) (err error) {
		found, err = confirmations.Find(ctx, r, map[int]stores.Value{confirmations.FieldAsker: stores.NewString(s.who.Name),
			confirmations.FieldDigest: stores.NewString(fmt.Sprintf("%x", preview.Digest)), confirmations.FieldStatus: stores.NewString(confirmations.Waiting)})
		return err
	})
	now := s.e.opt.Clock()
	i := slices.IndexFunc(found, func(c *confirmations.Confirmation) bool { return c.ID != "" && now.Before(c.Expires) })
	if err != nil || i < 0 {
		return nil, failure(err)
	}
	p := s.pending(found[i])
	p.Preview = preview
	return p, nil
}

// proposed ends a proposal that was refused. If its answer was given before and led to something,
// there is nothing to propose, and Run tells what was done.
func (s *Session) proposed(ctx context.Context, p *verbs.Program, o RunOptions, err error) (*Pending, error) {
	if again := answeredBefore(ctx, s, p, o.Agreed, err); again != nil {
		return &Pending{Asker: s.who.Name, Preview: again}, nil
	}
	return nil, refusalOf(ctx, s, p, o, err)
}

func (s *Session) propose(ctx context.Context, r *run, t *runOptions, others []callError, asked bool) (*confirmations.Confirmation, error) {
	var roles []string
	for _, st := range r.written() {
		for _, ask := range st.allAsks(nil) {
			if (ask.By != "" || t.job != nil || t.opt.Absent) && !slices.Contains(roles, ask.By) {
				roles = append(roles, ask.By)
			}
		}
	}
	slices.Sort(roles)
	at := dsl.Place{Source: r.plan.prog.Script().Source}
	var c *confirmations.Confirmation
	err := writeTo(ctx, s.e, s.engineScope(), func(tx stores.Tx) error {
		r.src.read, r.own.Changes = view.Direct(tx, tx, nil), nil
		before, err := confirmations.Find(ctx, tx, map[int]stores.Value{
			confirmations.FieldAsker: stores.NewString(s.who.Name), confirmations.FieldDigest: stores.NewString(fmt.Sprintf("%x", r.plan.digest))})
		if err != nil {
			return err
		}
		for _, b := range before {
			switch {
			case b.ID == "":
			case b.Status == confirmations.Declined:
				return refuseScript(tell(at, "declined-before", b.By, after(": ", b.Reason)))
			case b.Status == confirmations.Waiting && r.src.now.Before(b.Expires):
				c = b
				if t.job == nil {
					return nil
				}
				return tx.Apply(ctx, stores.Batch{Settled: r.own.Settled})
			}
		}
		var bits [16]byte
		rand.Read(bits[:]) // never fails, by its documentation
		id := receipt.NewID(bits[:])
		if t.opt.Key == "" { // the answer of others is to this question alone
			t.opt.Key, t.drawn = occasionKey(id), true
		}
		if t.opt.Agreed != "" {
			if err := r.ownConsent(ctx, t, asked); err != nil {
				return err
			}
		}
		c = confirmationOfRun(r, id, roles, t.opt)
		c.Answers = storeAnswers(answersOf(r, maxKeptAnswers, true))
		_, c.Occasion = receipt.ReadAnswer(t.opt.Agreed)
		c.Key = c.MakeKey(before)
		files := madeFiles(r)
		for _, u := range r.plan.uploads() {
			files = append(files, u.row.Key())
		}
		kept, err := extendFiles(ctx, tx, files, c.Expires)
		if err != nil {
			return err
		}
		jobs, err := decidersJob(ctx, s.e, tx, c)
		if err != nil {
			return err
		}
		b := stores.Batch{Changes: append(append(r.own.Changes, kept...), c.Insert()), Jobs: append(jobs, s.e.expiry(c)), Settled: r.own.Settled}
		told := map[int]bool{}
		for _, o := range others {
			if st := r.plan.top[o.call]; !told[o.call] {
				told[o.call] = true
				e := entryOf(s, r.plan.prog, t.opt, st.call.place)
				e.Time, e.Verb, e.Outcome, e.Reason, e.Preview = r.src.now, st.verb.Name, outcomeRefused, CodeNeedsAgreement, r.plan.id
				if t.opt.Agreed != "" {
					e.Agreed = s.who.Name
				}
				if err := tellCall(s.e, &b, e, saidAs(s.e, r.plan.prog, st)); err != nil {
					return err
				}
			}
		}
		return asConflict(tx.Apply(ctx, b))
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// pending describes a confirmation.
func (s *Session) pending(c *confirmations.Confirmation) *Pending {
	p := &Pending{ID: c.ID, Asker: c.Asker, Asked: c.Time, Expires: c.Expires, Source: c.Source, Status: c.Status, Decision: Decision{c.By, c.Settled, c.Reason}}
	if c.Palette == s.e.reg.Digest() {
		// Only the palettes of that time know which values are sensitive.
		script, _ := dsl.Parse(dsl.NewSource(c.Source, c.Script))
		for i := range script.Calls {
			p.Calls = append(p.Calls, dsl.FormatCall(writtenCall(s.e, nil, &script.Calls[i], nil)))
		}
	}
	for i, role := range c.Roles {
		p.Roles = append(p.Roles, Agreement{role, c.Agreed[i]})
		p.Mine = p.Mine || c.Status == confirmations.Waiting && c.Agreed[i] == "" && c.MayAgree(&s.who, s.has, role)
	}
	return p
}

// Pending lists what waits for the principal's agreement, and what they asked
// others for, oldest first.
func (s *Session) Pending(ctx context.Context) ([]*Pending, error) {
	now := s.e.opt.Clock()
	var found []*confirmations.Confirmation
	err := s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) (err error) {
		found, err = confirmations.Find(ctx, r, map[int]stores.Value{confirmations.FieldStatus: stores.NewString(confirmations.Waiting)})
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	if slices.ContainsFunc(found, func(c *confirmations.Confirmation) bool { return !now.Before(c.Expires) }) {
		if err := s.e.expire(ctx, stores.NewTime(now).Time()); err != nil {
			return nil, failure(err)
		}
	}
	var all []*Pending
	for _, c := range found {
		if !now.Before(c.Expires) {
			continue
		}
		ok, err := s.concerns(ctx, c)
		if err != nil {
			return nil, failure(err)
		}
		if ok {
			all = append(all, s.pending(c))
		}
	}
	return all, nil
}

// Waiting lists what waits for the principal's agreement, or with own what they asked others for, oldest
// first and a page at a time: next is where the next page begins, "" at the end. A page is shorter, or
// empty, where much waits that does not concern them.
func (jn Journal) Waiting(ctx context.Context, own bool, from string, most int) (all []*Pending, next string, err error) {
	const reads = 4 // pages of the store that one page reads at most
	s, now := jn.s, stores.NewTime(jn.s.e.opt.Clock()).Time()
	after, _ := confirmations.ParsePlace(from)
	for range reads {
		var found []*confirmations.Confirmation
		late := 0
		err := s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) (err error) {
			if late, err = confirmations.Ending(ctx, r, now, 1); err == nil {
				found, err = confirmations.Waits(ctx, r, s.who.Name, own, now, after, most+1)
			}
			return err
		})
		if err == nil && late > 0 {
			err = s.e.expire(ctx, now)
		}
		if err != nil {
			return nil, "", failure(err)
		}
		for i, c := range found {
			if len(all) == most {
				return all, after.String(), nil
			}
			if i == most {
				break
			}
			after = c.Place()
			ok, err := s.concerns(ctx, c)
			if err != nil {
				return nil, "", failure(err)
			}
			if ok {
				all = append(all, s.pending(c))
			}
		}
		if len(found) <= most {
			return all, "", nil
		}
	}
	return all, after.String(), nil
}

// decidedFor is how long a decision is told to the principal who asked for it.
const decidedFor = 7 * 24 * time.Hour

// Decided lists what became of the principal's own proposals that were not carried out, within the last
// week, the latest first: somebody declined them, they expired or were withdrawn, or something changed.
func (jn Journal) Decided(ctx context.Context, most int) ([]*Pending, error) {
	s := jn.s
	var found []*confirmations.Confirmation
	err := s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) (err error) {
		found, err = confirmations.Undone(ctx, r, s.who.Name, s.e.opt.Clock().Add(-decidedFor), most)
		return err
	})
	all := make([]*Pending, len(found))
	for i, c := range found {
		all[i] = s.pending(c)
	}
	return all, failure(err)
}

// look finds a confirmation that the principal may see. One that they may not see gets the
// same answer as one that does not exist.
func (s *Session) look(ctx context.Context, id string) (*confirmations.Confirmation, error) {
	var found []*confirmations.Confirmation
	err := s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) (err error) {
		found, err = s.confirmationsCalled(ctx, r, id)
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	// Several may have one short form. Those that still wait come first.
	var mine []*confirmations.Confirmation
	for _, c := range found {
		if !receipt.IsID(c.ID, id) {
			continue
		}
		ok, err := s.concerns(ctx, c)
		if err != nil {
			return nil, failure(err)
		}
		if ok {
			mine = append(mine, c)
		}
	}
	if waiting := slices.DeleteFunc(slices.Clone(mine), func(c *confirmations.Confirmation) bool { return c.Status != confirmations.Waiting }); len(waiting) > 0 {
		mine = waiting
	}
	if len(mine) == 1 {
		return mine[0], nil
	}
	return nil, refuseScript(tell(dsl.Place{}, "unknown-confirmation", id))
}

// learns gives the session names for the rows of somebody else's preview, and for their
// owners. Rows outside the session's scope stay unnamed.
func (s *Session) learns(ctx context.Context, asker *Session, told *receipt.Receipt) error {
	rows := map[*verbs.Entity][]stores.Value{}
	add := func(e *verbs.Entity, key stores.Value) {
		if e != nil && !key.IsNull() && !slices.Contains(rows[e], key) {
			rows[e] = append(rows[e], key)
		}
	}
	for i := range told.Calls {
		for j := range told.Calls[i].Rows {
			row := &told.Calls[i].Rows[j]
			e := s.e.reg.Entity(row.Entity)
			if e == nil {
				continue
			}
			if row.Op != receipt.Inserted {
				add(e, row.Key)
			}
			if owner := s.e.reg.EntityOf(rootOf(e.Store)); owner != nil {
				key, _ := asker.names.Key(owner.Store, strings.TrimPrefix(row.Owner, "@"))
				add(owner, key)
			}
		}
	}
	return s.e.store.View(ctx, s.scope, func(r stores.Reader) error {
		for e, keys := range rows {
			if err := s.nameKeys(ctx, r, e, keys); err != nil {
				return err
			}
		}
		return nil
	})
}

// looks returns the options for looking at another principal's proposal: the receipt tells
// whose each row is, as the onlooker sees it.
func (s *Session) looks(c *confirmations.Confirmation) *runOptions {
	t := dryRun(RunOptions{Before: c.Before})
	t.owners, t.answers = s.SeesSeveral(), storedAnswers(c)
	return t
}

// confirmationsCalled reads the confirmations that an id may mean.
func (s *Session) confirmationsCalled(ctx context.Context, r stores.Reader, id string) ([]*confirmations.Confirmation, error) {
	if id == "" {
		return nil, nil
	}
	return confirmations.Find(ctx, r, map[int]stores.Value{confirmations.FieldShort: stores.NewString(receipt.Short(strings.ToLower(id)))})
}

// Show previews what agreeing would do now, with the roles and the scope that the asker has
// at this moment. It changes nothing. For a confirmation that the principal may not see it
// returns a *Refusal with code unknown-confirmation.
func (s *Session) Show(ctx context.Context, id string) (*Pending, error) {
	c, err := s.look(ctx, id)
	if err != nil {
		return nil, err
	}
	p := s.pending(c)
	p.Called = s.e.Label(ctx, c.Asker)
	if c.Status != confirmations.Waiting {
		return p, nil
	}
	now := s.e.opt.Clock()
	if !now.Before(c.Expires) {
		p.Status, p.Mine = confirmations.Expired, false
		if err := s.e.expire(ctx, stores.NewTime(now).Time()); err != nil {
			return nil, failure(err)
		}
		return p, nil
	}
	asker, prog, err := s.again(ctx, c)
	if err == nil {
		var r *run
		if r, err = asker.attempts(ctx, prog, s.looks(c)); err == nil {
			p.Preview = r.preview()
			if p.Preview.Earlier, err = earlierDone(ctx, asker, prog.Canonical()); err != nil {
				return nil, failure(err)
			}
			p.Preview.ToOthers()
			if err := s.learns(ctx, asker, p.Preview); err != nil {
				return nil, failure(err)
			}
			turn, err := s.said(ctx, c, p)
			if err != nil {
				return nil, failure(err)
			}
			p.Said = turn != nil
			if p.Stale = fmt.Sprintf("%x", r.plan.digest) != c.Digest; p.Stale {
				p.Moved = c.Differences(p.Preview)
			}
			return p, nil
		}
	}
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		return nil, err
	}
	p.Stale = true
	return p, nil
}

// said returns the turn of the conversation that led to a confirmation. It is nil where
// this session may not read it: the confirmation does not wait for its principal, the turn
// speaks of a row outside their scope, or it may repeat a value that is withheld.
func (s *Session) said(ctx context.Context, c *confirmations.Confirmation, p *Pending) (*sessions.Turn, error) {
	if c.Turn == "" || !p.Mine || s.rights.only != nil || strings.Contains(writtenScript(s.e, c), withheld) {
		return nil, nil
	}
	var turn sessions.Turn
	err := s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) (err error) {
		turn, err = sessions.TurnOf(ctx, r, c.Turn)
		return err
	})
	if errors.Is(err, stores.ErrNotFound) {
		return nil, nil // the session is gone, and what was said in it
	}
	if err != nil || turn.Erased || turn.Role != sessions.Client {
		return nil, err
	}
	rows := make([]string, len(turn.Rows))
	for i, row := range turn.Rows {
		rows[i] = row.Entity + " " + row.Key
	}
	if ok, err := s.sees(ctx, rows); err != nil || !ok {
		return nil, err
	}
	return &turn, nil
}

// Words returns what the asker wrote that led to a confirmation, for the principal whom it
// waits for. A conversation is personal, so the journal records that it was read.
func (s *Session) Words(ctx context.Context, id string) (string, error) {
	c, err := s.look(ctx, id)
	if err != nil {
		return "", err
	}
	turn, err := s.said(ctx, c, s.pending(c))
	switch {
	case err != nil:
		return "", failure(err)
	case turn == nil || !s.e.opt.Clock().Before(c.Expires):
		return "", refuseScript(tell(dsl.Place{}, "unknown-confirmation", id))
	}
	e := s.own(verbWords, c.ID, c)
	e.Outcome, e.Turn = outcomeOK, c.Turn
	if err := recordEntries(ctx, s, stores.Batch{Entries: []stores.Entry{e}}); err != nil {
		return "", failure(err)
	}
	return turn.Content, nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
