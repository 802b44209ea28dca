package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"verbatim/dsl"
	"verbatim/runtime/names"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// maxAttempts is how often a run is tried when somebody else changes the same
// rows at the same time.
const maxAttempts = 8

// RunOptions say under what circumstances a program is run.
type RunOptions struct {
	// Agreed is the ID of the preview that the person agreed to. Given, it must
	// be what would happen now, also where nothing asks first.
	Agreed string
	// Source is where the program came from, for the journal; without it, the
	// name of its script.
	Source string
	// Key makes it safe to ask for the same thing again when it is not known
	// whether it was done: under one key of one principal, a program has its
	// effect once, and every further Run of the same text gives the same reply.
	// Another text under the same key is refused. Without one, every Run is a
	// request of its own.
	Key string
	// Each commits after each call, instead of all calls together: see Stopped.
	Each bool
	// From is the number of the program's first call in the script that it is
	// the rest of: see Session.CheckRest. Without one, it is 1.
	From int
	// Said is what was said in the session with this: it is kept in the
	// transaction of the run, exactly when the run is, and the journal names the
	// turn of the person, or the last one.
	Said []Said
	// Turn is the number of the turn of the session that this comes of, where
	// that was kept before, for the journal.
	Turn int64
	// Before, where it is not zero, is a turn of the session: handlers are told
	// what was said before it, and nothing of what was said since. So a question
	// about what was said, and the yes to it, do not change what was agreed to.
	Before int64
	// Version, where it is not zero, is the version of the session as whoever
	// asks last saw it. Where the session went on without them, in another
	// window, they are told, and nothing is done.
	Version int64
	// Progress is told after each call.
	Progress func(Progress)
}

// A terms is RunOptions with what the session knows about them.
type terms struct {
	RunOptions
	claimed *shown         // the preview agreed to, when this session showed it
	spent   bool           // claimed is another run's already
	kept    []stores.Value // previews of that ID that another process kept
	unread  error          // why kept is not known
	pending *consent       // what somebody else agreed to
	job     *work          // whose time has come

	rehearsal bool   // it is rolled back
	share     *share // the part of the program that it is about
	tools     bool   // the program uses tools of other servers
	goesOn    bool   // no read is taken for the last
	attempted bool   // one of them was asked to do something
	owners    bool   // whoever is told sees rows of several owners
}

// errRehearsed ends the transaction of a preview.
var errRehearsed = errors.New("rehearsed")

// Preview works out what a program would do, and does none of it. It returns a
// *Refusal where the program could not run as it is; that somebody has to
// agree first is part of the preview instead.
func (s *Session) Preview(ctx context.Context, p *verbs.Program) (*receipt.Receipt, error) {
	return s.PreviewWith(ctx, p, RunOptions{})
}

// PreviewWith is Preview that tells its progress, and may be held to the version
// of the session and to a turn of it. Other options do not matter to it.
func (s *Session) PreviewWith(ctx context.Context, p *verbs.Program, o RunOptions) (*receipt.Receipt, error) {
	if err := s.ready(p); err != nil {
		return nil, err
	}
	if all := s.forbidden(p); len(all) > 0 {
		return nil, refuse(all)
	}
	r, err := s.attempts(ctx, p, rehearsal(o))
	if err != nil {
		return nil, err
	}
	s.remember(r.shown())
	return r.preview(), nil
}

// errRepeated ends the transaction of a run that was done before.
var errRepeated = errors.New("repeated")

// Run carries a program out, whole or not at all, unless told otherwise by
// RunOptions.Each. It returns a *Refusal where
// the person is told no, and any other error where something is wrong with the
// system; in both cases nothing was changed, unless the error is a *Failure
// that says Unknown.
func (s *Session) Run(ctx context.Context, p *verbs.Program, o RunOptions) (*receipt.Receipt, error) {
	if err := s.ready(p); err != nil {
		return nil, err
	}
	s.e.enter(StagePermit)
	if all := s.forbidden(p); len(all) > 0 {
		return nil, s.refusal(ctx, p, o, refuse(all))
	}
	if o.Each {
		return s.each(ctx, p, o)
	}
	t := &terms{RunOptions: o}
	s.claim(ctx, t)
	r, err := s.attempts(ctx, p, t)
	if err != nil {
		s.release(t, err)
		if isCode(err, codeKeyReused) {
			// It may have been done under the key before, call by call.
			if again, failed := s.Repeat(ctx, p.Script(), o.Key); failed == nil && again != nil {
				return again, nil
			}
		}
		return nil, s.refusal(ctx, p, o, err)
	}
	if r.repeated != nil {
		s.release(t, errRepeated)
		return r.repeated, nil
	}
	return r.reply(), nil
}

// ready refuses programs that were not checked against this engine's palettes.
func (s *Session) ready(p *verbs.Program) error {
	if p == nil || !p.Valid() || p.Registry() != s.e.reg {
		return &Failure{Err: errors.New("the program was not checked against the palettes of this engine")}
	}
	return nil
}

// rehearsal is the terms of a run that is rolled back.
func rehearsal(o RunOptions) *terms {
	return &terms{RunOptions: RunOptions{Progress: o.Progress, From: o.From, Version: o.Version, Before: o.Before}, rehearsal: true}
}

// attempts carries a program out and, unless it rehearses, commits it. When rows
// change while it does, it begins again: what was agreed to is compared with
// what is planned each time, so that trying again never does anything else.
func (s *Session) attempts(ctx context.Context, p *verbs.Program, o *terms) (*run, error) {
	tools, err := s.e.meetTools(ctx, p)
	if err != nil {
		return nil, err
	}
	o.tools = tools
	var asked errands
	atOnce := s.e.atOnce
	for attempt := 1; ; attempt++ {
		r, err := s.attempt(ctx, p, o, &asked, atOnce)
		var e *errand
		if errors.As(err, &e) {
			err = s.fetch(ctx, o, &asked, e)
			switch {
			case err == nil:
				attempt-- // it only goes on
				continue
			case asked.sent != nil, !errors.Is(err, stores.ErrConflict):
				return nil, s.finalError(p, err)
			}
		}
		switch {
		case err == nil:
			return r, nil
		case errors.Is(err, errMore):
			// A row was told that is newer than the names.
			o.goesOn = true
			attempt--
			continue
		case errors.As(err, new(*errAhead)) && ctx.Err() == nil:
			// It is told at the call that needs it.
			atOnce = true
			continue
		case r.late != nil && ctx.Err() == nil:
			// A change was not accepted, and whose it was is not known.
			atOnce = true
			continue
		case errors.Is(err, stores.ErrConflict) && attempt < maxAttempts && ctx.Err() == nil:
			s.e.pause(ctx, attempt)
			continue
		case asked.sent != nil:
			return nil, s.halfway(ctx, o, &asked, err)
		}
		return nil, s.finalError(p, err)
	}
}

// finalError sorts what a transaction ended with.
func (s *Session) finalError(p *verbs.Program, err error) error {
	var refusal *Refusal
	var promise *BrokenPromise
	var c *complaint
	var failed *Failure
	whole := dsl.Place{Source: p.Script().Source}
	switch {
	case errors.As(err, &failed) && failed.Told != nil:
		return err
	case errors.As(err, &refusal), errors.As(err, &promise):
		return err
	case errors.As(err, &c):
		return refuse([]complaint{*c})
	case errors.Is(err, stores.ErrConflict):
		return refuse([]complaint{{-1, changedMeanwhile(whole)}})
	case errors.Is(err, stores.ErrInvalid), errors.Is(err, stores.ErrDuplicate):
		// Some constraints are only looked at when a transaction ends.
		return refuse([]complaint{{-1, notAccepted(whole, "the script")}})
	}
	return failure(err)
}

func (s *Session) attempt(ctx context.Context, p *verbs.Program, o *terms, asked *errands, atOnce bool) (*run, error) {
	r := &run{
		e: s.e, s: s, prog: p,
		now:       stores.NewTime(s.e.clock()).Time(), // as it will be read back
		rehearsal: o.rehearsal,
		owners:    o.owners || s.SeesSeveral(),
		writes:    s.e.writes(p),
		share:     o.share,
		first:     max(1, o.From),
		held:      held{atOnce: atOnce},
		goesOn:    o.goesOn,
		before:    o.Before,
		top:       make([]*step, len(p.Calls())),
		alias:     make(map[stores.Value]string),
		added:     make(map[stores.Value]string),
		minted:    make(map[stores.Value]names.Given),
		errands:   asked,
	}
	if err := s.entitled(ctx, r.now); err != nil {
		return r, err
	}
	if !asked.now.IsZero() {
		r.now = asked.now // what was asked may speak of it
	}
	if o.share == nil || o.rehearsal {
		r.tell = o.Progress
	} else if o.share.agreed != "" {
		r.alias = o.share.alias
	}
	r.alias[stores.NewTime(r.now)] = "now 0"
	plan := func(read stores.Reader) error {
		r.read = current{read, r}
		if err := r.meanwhile(ctx, o.Version); err != nil {
			return err
		}
		f := &frame{prog: p}
		if err := r.ahead(ctx, f); err != nil {
			return err
		}
		if err := r.program(ctx, f); err != nil {
			return err
		}
		var err error
		if r.labels, err = r.nameReferences(ctx); err != nil {
			return err
		}
		if o.plain() && r.errand == nil && asked.sent == nil && !r.asksAnybody() {
			r.unsealed = true // nobody was shown anything that it could differ from
		} else {
			r.tellAll()
			r.finish()
		}
		if r.share != nil && r.share.agreed != "" {
			r.id = r.share.agreed // the agreement is to the whole script
		}
		if o.rehearsal || o.Agreed != "" || o.pending != nil || r.asksAnybody() || r.errand != nil {
			// What is shown, what is said about an agreement, and what a tool is
			// asked, is said of changes that the database has accepted.
			if err := r.handOver(ctx); err != nil {
				return err
			}
		}
		switch {
		case o.rehearsal:
			return nil
		case asked.sent != nil:
			return asked.sent.still(r)
		}
		r.e.enter(StageAgreed)
		if err := r.agreed(ctx, o); err != nil {
			return err
		}
		if r.errand != nil {
			return r.errand
		}
		return nil
	}
	scope := o.opens(s)
	if s.e.onlyLooks(p) && (o.rehearsal || o.Key == "" && o.Agreed == "" && o.pending == nil && o.job == nil && len(o.Said) == 0) {
		err := s.e.store.View(ctx, scope, plan)
		if err == nil {
			s.keepNames(ctx)
		}
		return r, err
	}
	err := s.e.store.Update(ctx, scope, func(tx stores.Tx) error {
		r.tx = tx
		if o.Key != "" {
			var err error
			if r.repeated, err = s.delivered(ctx, tx, r.script(), r.settledScript(), o.Key, true); err != nil {
				return err
			}
			if r.repeated != nil {
				return errRepeated
			}
		}
		if o.share != nil && o.share.key != "" {
			if err := r.claimKey(ctx, tx, o.share.key); err != nil {
				return err
			}
		}
		if o.job != nil {
			if err := o.job.begin(ctx, r); err != nil {
				return err
			}
		}
		if err := plan(tx); err != nil {
			return err
		}
		if o.rehearsal {
			return errRehearsed
		}
		return r.commit(ctx, o.RunOptions)
	})
	if r.parting && isVerdict(err) {
		r.late = err
	}
	if r.unread != nil && r.late == nil {
		err = s.unread(ctx, r, err)
	}
	switch {
	case o.rehearsal && errors.Is(err, errRehearsed), errors.Is(err, errRepeated):
		s.keepNames(ctx)
		return r, nil
	case o.Key != "" && errors.Is(err, stores.ErrDuplicate) && r.late == nil:
		// Somebody did it under the same key at the same time: looking again
		// finds what they did.
		err = fmt.Errorf("a key was used twice at once: %w", stores.ErrConflict)
	case err == nil:
		for i, e := range r.tx.Chained() {
			r.of[i].seq = e.Seq
		}
	}
	if err == nil {
		s.keepNames(ctx)
	}
	return r, err
}

// unread adds to a refusal what is wrong with the calls that came after it.
func (s *Session) unread(ctx context.Context, r *run, err error) error {
	var c *complaint
	if !errors.As(err, &c) {
		return err
	}
	var more []complaint
	looked := s.e.store.View(ctx, s.scope, func(read stores.Reader) error {
		r.read, r.held = read, held{unread: r.unread, atOnce: true}
		more = r.unread(ctx)
		return nil
	})
	if looked != nil {
		return err
	}
	return refuse(append([]complaint{*c}, more...))
}

// plain reports whether nobody has seen, or keeps, what a run is to do: only then
// can its digest wait.
func (o *terms) plain() bool {
	return !o.rehearsal && o.Agreed == "" && o.Key == "" && o.pending == nil && o.share == nil && o.job == nil
}

// script is what the run is to do.
func (r *run) script() *dsl.Script {
	if r.share != nil {
		return r.share.script
	}
	return r.prog.Script()
}

// settledScript is script with names that cannot come to mean other rows.
func (r *run) settledScript() *dsl.Script {
	if r.share != nil {
		return r.share.settled
	}
	return r.prog.Canonical()
}

// written returns the steps of the calls that a person wrote, those that are
// carried out.
func (r *run) written() []*step {
	if !slices.Contains(r.top, nil) {
		return r.top
	}
	return slices.DeleteFunc(slices.Clone(r.top), func(st *step) bool { return st == nil })
}

// opens is the scope of a run: the session's, and what the engine itself keeps
// about this run.
func (o *terms) opens(s *Session) stores.Scope {
	scope := s.scope
	if o.Key != "" {
		scope = holding(scope, deliveries, deliveryKey(s.who.Name, o.Key))
		if o.tools {
			scope = holding(scope, attempts, attemptKey(s.who.Name, o.Key))
		}
	}
	if o.share != nil && o.share.key != "" {
		scope = holding(scope, deliveries, deliveryKey(s.who.Name, o.share.key))
	}
	keys := o.kept
	if o.claimed != nil && !o.claimed.kept.IsNull() {
		keys = append(keys, o.claimed.kept)
	}
	if o.pending != nil {
		keys = append(keys, o.pending.key)
	}
	if len(keys) > 0 {
		scope = holding(scope, confirmations, keys...)
	}
	return scope
}

// commit adds journal, notices and what the engine keeps of its own to a
// transaction that holds the changes already.
func (r *run) commit(ctx context.Context, o RunOptions) error {
	r.e.enter(StageRecord)
	for _, st := range r.steps {
		if err := r.still(st); err != nil {
			return err
		}
	}
	for i := range r.uploads {
		r.own = append(r.own, r.uploads[i].use(r.now))
	}
	b := stores.Batch{Changes: r.own, Settled: r.settled, Late: true}
	var err error
	if b.Names, err = r.nameAdded(ctx); err != nil {
		return err
	}
	if err := r.spoken(ctx, &o); err != nil {
		return err
	}
	if r.of, err = r.entries(&b, o); err != nil {
		return err
	}
	if err := r.keepSession(ctx, &b, o); err != nil {
		return err
	}
	for _, st := range r.steps {
		r.tend(&b, st)
		for i := range st.notices {
			if err := r.enqueue(&b, st, &st.notices[i]); err != nil {
				return err
			}
		}
	}
	if o.Key != "" {
		b.Changes = append(b.Changes[:len(b.Changes):len(b.Changes)], r.delivery(o.Key))
	}
	if len(b.Entries) == 0 && len(b.Notices) == 0 && len(b.Changes) == 0 && len(b.Jobs) == 0 && len(b.Settled) == 0 && len(b.Tended) == 0 && len(r.waiting) == 0 {
		return nil
	}
	return r.hand(ctx, b)
}

// outgoing makes a notice ready for the outbox: what was asked for, which rows
// it speaks of, and what the palette sends along. It is for machines of ours
// and holds keys; sensitive values stay out of it unless the palette sends
// them.
func (r *run) outgoing(st *step, n *notice) stores.Notice {
	var refs []string
	var keys []stores.Value
	for i := range st.args {
		if st.rows[i].Entity != nil {
			refs, keys = append(refs, st.verb.Params[i].Name), append(keys, st.args[i])
		}
	}
	names := []string{"verb", "call", "refs", "with"}
	parts := []stores.Value{stores.NewString(st.verb.Name), stores.NewString(st.text), stores.NewObject(refs, keys), stores.NewObject(n.keys, n.told())}
	if marks, ok := n.marks(); ok {
		names, parts = append(names, "origins"), append(parts, marks)
	}
	payload := stores.NewObject(names, parts)
	return stores.Notice{ID: r.e.newID(), Kind: n.kind, Target: n.target, Payload: payload.Text(), Time: r.now}
}

// reply tells what was committed. Only now do new rows get names.
func (r *run) reply() *receipt.Receipt {
	r.e.enter(StageReply)
	for _, st := range r.steps {
		for i := range st.changes {
			if c := &st.changes[i]; c.Op == stores.Insert {
				r.s.adopt(c.Entity, r.minted[c.Key])
			}
		}
	}
	if r.told == nil || len(r.added) > 0 {
		r.tellAll()
	}
	reply := r.preview()
	reply.Done = true
	for i, st := range r.written() {
		reply.Calls[i].Seq = st.seq
	}
	reply.First, reply.Last = r.journalled()
	for _, st := range r.steps {
		for i := range st.changes {
			if c := &st.changes[i]; c.Op == stores.Update && r.e.renames(c) {
				r.s.names.Forget(c.Entity, c.Key)
			}
		}
	}
	if r.unsealed {
		r.read, r.tx = nil, nil // it is kept for its digest
		reply.SealLater(func() (string, [32]byte) {
			r.finish()
			return r.id, r.digest
		})
	}
	return reply
}

// journalled returns the first and the last journal entry of a run.
func (r *run) journalled() (first, last int64) {
	for _, st := range r.steps {
		if st.seq > 0 && (first == 0 || st.seq < first) {
			first = st.seq
		}
		last = max(last, st.seq)
	}
	return first, last
}
