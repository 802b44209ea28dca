package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// maxAttempts is how often a run is tried if other transactions change the same rows.
const maxAttempts = 8

// RunOptions say how a program is run.
type RunOptions struct {
	// Agreed is the Answer of the preview that the person agreed to. Its ID, or the short form of
	// that, means the latest such preview. If it is given, the plan must equal that preview, even
	// where no rule asks. The same answer, given again, is done once.
	Agreed string
	// Source says where the program came from, for the journal. The default is the name of its
	// script.
	Source string
	// Key is an idempotency key. Under one key of one principal, a program takes effect
	// once, and every further Run of the same text returns the same receipt. Another
	// text under the same key is refused. Without a key, every Run is a new request.
	Key string
	// Asks is the key under which read-only tools are asked, if it differs from Key: that of
	// an earlier run that asked the same and whose answer was lost.
	Asks string
	// Each commits after each call instead of once at the end: see Stopped.
	Each bool
	// From is the number that the program's first call has in its script, for the rest
	// of a script: see Session.CheckRest. 0 means 1.
	From int
	// Said are turns of the session that belong to this run. They are kept in its
	// transaction, and the journal names the person's turn, or the last one.
	Said []sessions.Said
	// Turn is the number of an earlier turn of the session that led to this run, for the
	// journal.
	Turn int64
	// Before, if it is not zero, is the number of a turn: handlers see only the turns before it. So
	// the question about a plan, and the yes to it, do not change the plan.
	Before int64
	// Version, if it is not zero, is the version of the session that the caller last saw. If the
	// session has moved on, in another window, the run is refused.
	Version int64
	// Absent says that the person cannot be asked now: see Propose.
	Absent bool
	// Progress is told after each call.
	Progress func(Progress)
}

// runOptions are RunOptions with what the session has found out about them.
type runOptions struct {
	RunOptions
	claimed  *shown         // the preview agreed to, when this session showed it
	spent    bool           // another run has used claimed
	declined bool           // or its person said no
	kept     []stores.Value // keys of the previews of that ID that the store keeps
	unread   error          // why kept could not be read
	pending  *consent       // somebody else's agreement
	job      *work          // the job that this run carries out
	drawn    bool           // Key was drawn when the question was asked, and the caller does not know it

	rehearsal bool           // the run is rolled back
	part      *part          // the part of the program to run; nil for all of it
	tools     bool           // the program uses tools of other servers
	attempted bool           // one of them was asked to change something
	attempts  []stores.Value // keys of the rows about them: that of this run, and of one it repeats
	owners    bool           // the reader of the receipt sees rows of several owners

	counted []stores.Value // keys of what its limits count
}

// Preview works out what a program would do, and rolls it back. It returns a *Refusal where
// the program could not run. Agreements that it needs are part of the preview, not a refusal.
func (s *Session) Preview(ctx context.Context, p *verbs.Program) (*receipt.Receipt, error) {
	return s.PreviewWith(ctx, p, RunOptions{})
}

// PreviewWith is Preview with the options Progress, From, Version and Before. It ignores the
// others.
func (s *Session) PreviewWith(ctx context.Context, p *verbs.Program, o RunOptions) (*receipt.Receipt, error) {
	defer s.begins()()
	r, err := s.rehearse(ctx, p, o)
	if err != nil {
		return nil, err
	}
	shown, preview := r.shown(), r.preview()
	if err := s.asksOn(ctx, r, preview, shown); err != nil {
		return nil, failure(err)
	}
	s.remember(shown)
	return preview, nil
}

func (s *Session) rehearse(ctx context.Context, p *verbs.Program, o RunOptions) (*run, error) {
	if err := s.ready(p); err != nil {
		return nil, err
	}
	if all := s.permit(p); len(all) > 0 {
		return nil, refuse(all)
	}
	r, err := s.attempts(ctx, p, rehearsal(o))
	if s.e.countsPreviews {
		err = s.countPreview(ctx, p, o, r, err)
	}
	return r, err
}

// Run carries a program out, whole or not at all, unless RunOptions.Each says otherwise. It
// returns a *Refusal where the caller is told no, and any other error where the system
// failed. In both cases nothing was changed, unless the error is a *Failure that says
// Unknown.
func (s *Session) Run(ctx context.Context, p *verbs.Program, o RunOptions) (*receipt.Receipt, error) {
	if err := s.ready(p); err != nil {
		return nil, err
	}
	s.e.enter(StagePermit)
	if all := s.permit(p); len(all) > 0 {
		return nil, s.refusal(ctx, p, o, refuse(all))
	}
	defer s.begins()()
	if o.Each {
		return s.each(ctx, p, o)
	}
	t := &runOptions{RunOptions: o}
	s.claim(ctx, t)
	r, err := s.attempts(ctx, p, t)
	if err != nil {
		s.release(t, err)
		if isCode(err, codeKeyReused) {
			// An earlier run may have used the key call by call.
			if again, failed := s.Repeat(ctx, p.Script(), o.Key); failed == nil && again != nil {
				return again, nil
			}
		}
		if again := s.answered(ctx, p, o.Agreed, err); again != nil {
			return again, nil
		}
		return nil, s.refusal(ctx, p, o, err)
	}
	if r.repeated != nil {
		s.release(t, nil)
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

// rehearsal returns the options of a run that is rolled back.
func rehearsal(o RunOptions) *runOptions {
	return &runOptions{RunOptions: RunOptions{Progress: o.Progress, From: o.From, Version: o.Version, Before: o.Before}, rehearsal: true}
}

// tries carries a program out and, unless it rehearses, commits it. If rows change meanwhile,
// it begins again. Each attempt compares its plan with what was agreed to, so that a retry
// never does anything else.
func (s *Session) tries(ctx context.Context, p *verbs.Program, o *runOptions) (*run, error) {
	tools, err := s.e.meetTools(ctx, p)
	if err != nil {
		return nil, err
	}
	o.tools = tools
	if len(s.e.limited) > 0 {
		o.counted = s.limitKeys(p)
	}
	var asked externalAnswers
	open := s.e.open
	for attempt := 1; ; attempt++ {
		r, err := s.attempt(ctx, p, o, &asked, open)
		if err == nil && r.waits() != nil {
			if err = s.fetch(ctx, o, &asked, r); err == nil {
				attempt-- // it only goes on
				continue
			}
			if asked.sent != nil || !errors.Is(err, stores.ErrConflict) {
				return nil, s.finalError(p, err)
			}
		}
		switch {
		case err == nil:
			return r, nil
		case r.misjudged(err) && ctx.Err() == nil:
			open = view.Direct
			continue
		case errors.Is(err, stores.ErrConflict) && attempt < maxAttempts && ctx.Err() == nil:
			s.e.pause(ctx, attempt)
			continue
		case asked.sent != nil:
			return nil, s.halfway(ctx, o, &asked, err)
		}
		return nil, s.blame(ctx, r.blamed, s.finalError(p, s.lookOn(ctx, r, err)))
	}
}

// finalError turns the error that a transaction ended with into what the caller is told.
func (s *Session) finalError(p *verbs.Program, err error) error {
	var promise *BrokenPromise
	var c *complaint
	var failed *Failure
	whole := dsl.Place{Source: p.Script().Source}
	switch {
	case errors.As(err, &failed) && failed.Told != nil:
		return err
	case errors.As(err, &promise):
		return err
	case errors.As(err, &c):
		return refuse([]complaint{*c})
	case errors.Is(err, stores.ErrInvalid), errors.Is(err, stores.ErrDuplicate):
		// Some constraints are only looked at when a transaction ends.
		return refuse([]complaint{{-1, notAccepted(whole, "the script")}})
	case errors.Is(err, stores.ErrLimit):
		return refuse([]complaint{{-1, tooMuch(whole, "the script")}})
	}
	return storeError(whole, err)
}

// attempt makes one attempt at a program. If a tool has to be asked before it can go on, the
// run says so and nothing is committed.
func (s *Session) attempt(ctx context.Context, p *verbs.Program, o *runOptions, asked *externalAnswers, open view.Opener) (*run, error) {
	looks := s.e.onlyLooks(p) && (o.rehearsal || len(o.counted) == 0 && o.Key == "" && o.Agreed == "" && o.pending == nil && o.job == nil && len(o.Said) == 0)
	r := s.newRun(p, o, asked)
	r.snapshot, r.locks = looks, !looks && !o.rehearsal && r.writes
	if err := s.entitled(ctx, r.now); err != nil {
		return r, err
	}
	var err error
	if r.standing, err = r.standingRules(ctx); err != nil {
		return r, err
	}
	if slices.ContainsFunc(p.Calls(), func(c verbs.Call) bool { return c.Verb.Undoes != nil }) {
		if r.pasts, err = s.pasts(ctx, p); err != nil {
			return r, err
		}
	}
	if looks {
		begun := false
		err := s.e.store.View(ctx, o.opens(s), func(read stores.Reader) error {
			if begun {
				return stores.ErrConflict // a run cannot go over its calls twice: another attempt does
			}
			begun = true
			r.read = open(read, nil, s.e.facts)
			return r.plan(ctx, o, asked)
		})
		if err == nil {
			s.keepNames(ctx)
		}
		return r, err
	}
	var last stores.Tx
	err = s.e.store.Update(ctx, o.opens(s), func(tx stores.Tx) error {
		last, r.read = tx, open(tx, tx, s.e.facts)
		done, err := r.begin(ctx, tx, o)
		if err != nil {
			return err
		}
		if !done {
			if err := r.plan(ctx, o, asked); err != nil {
				return err
			}
		}
		if done || o.rehearsal || r.waits() != nil {
			tx.Discard()
			return nil
		}
		return r.commit(ctx, o.RunOptions)
	})
	switch {
	case err == nil:
		for i, e := range last.Chained() {
			r.of[i].seq = e.Seq
		}
		s.keepNames(ctx)
	case (o.Key != "" || r.beginsUses()) && errors.Is(err, stores.ErrDuplicate) && !r.misjudged(err):
		// Somebody did it under the same key, or a use that is counted with this one, at
		// the same time: looking again finds what they did.
		err = fmt.Errorf("a key was used twice at once: %w", stores.ErrConflict)
	}
	return r, err
}

// newRun begins a run.
func (s *Session) newRun(p *verbs.Program, o *runOptions, asked *externalAnswers) *run {
	now := asked.now // what was asked may speak of it
	if now.IsZero() {
		now = stores.NewTime(s.e.clock()).Time() // as it will be read back
	}
	r := &run{
		reading: s.readsAt(nil, now),
		prog:    p,
		part:    o.part,
		phase:   Running,
		first:   max(1, o.From),
		top:     make([]*step, len(p.Calls())),
	}
	r.owners, r.writes, r.before, r.answers = o.owners || s.SeesSeveral(), s.e.writes(p), o.Before, asked.answers
	r.source, r.calls = p.Script().Source, len(p.Calls())
	if o.rehearsal {
		r.phase = Previewing
	}
	if o.part == nil || o.rehearsal {
		r.tell = o.Progress
	} else if o.part.agreed != "" {
		r.alias = o.part.alias
	}
	if o.part != nil {
		r.made = o.part.made
	}
	r.alias[stores.NewTime(r.now)] = "now 0"
	return r
}

// begin does what comes before the plan in the transaction that is to commit it. It reports
// done if an earlier run took effect under the same key, or if a job has become pointless.
func (r *run) begin(ctx context.Context, tx stores.Tx, o *runOptions) (done bool, err error) {
	if o.Key != "" {
		if r.repeated, err = r.s.delivered(ctx, tx, r.script(), r.settledScript(), o.Key, true); err != nil || r.repeated != nil {
			return true, err
		}
	}
	if o.part != nil && o.part.key != "" {
		if err := r.claimKey(ctx, tx, o.part.key); err != nil {
			return false, err
		}
	}
	if o.job == nil {
		return false, nil
	}
	r.settled = []stores.Settlement{ends(o.job.run, stores.JobDone, r.now, "")}
	r.skipped, err = o.job.pointless(ctx, r.s, tx, r.now)
	return r.skipped != "", err
}

// misjudged reports whether the run may end differently with a view that neither reads ahead
// nor delays changes.
func (r *run) misjudged(err error) bool { return r.read != nil && r.read.Misjudged(err) }

// lookOn adds to a refusal the unknown names in the calls after it, so that a person who
// repairs a script learns of all of them at once.
func (s *Session) lookOn(ctx context.Context, r *run, err error) error {
	var c *complaint
	var refusal *Refusal
	var all []complaint
	switch {
	case len(r.rest) == 0:
		return err
	case errors.As(err, &c):
		all = []complaint{*c}
	case errors.As(err, &refusal):
		all = refusal.complaints()
	default:
		return err
	}
	first := len(all)
	looked := s.e.store.View(ctx, s.scope, func(read stores.Reader) error {
		all = all[:first]
		on := s.newRun(r.prog, &runOptions{part: r.part}, &externalAnswers{now: r.now}) // at the same time
		on.read = view.Direct(read, nil, nil)
		f := &frame{prog: r.prog}
		calls := r.prog.Calls()
		for _, i := range r.rest {
			if len(calls[i].Needs) > 0 {
				continue // it hangs on a call that was not carried out
			}
			var c *complaint
			if err := on.resolve(ctx, f, on.beginCall(f, i), &calls[i]); errors.As(err, &c) {
				all = append(all, *c)
			}
		}
		return nil
	})
	if looked != nil {
		return err
	}
	return refuse(all)
}

// plain reports whether nobody has seen the plan of a run, and nothing keeps it. Only then
// can its digest be worked out later.
func (o *runOptions) plain() bool {
	return !o.rehearsal && o.Agreed == "" && o.Key == "" && o.pending == nil && o.part == nil && o.job == nil
}

// opens returns the scope of a run: the session's, and the engine's own rows about this run.
func (o *runOptions) opens(s *Session) stores.Scope {
	scope := s.scope
	if o.Key != "" {
		scope = holding(scope, deliveries, deliveryKey(s.who.Name, o.Key))
	}
	if o.tools {
		scope = holding(scope, attempts, o.attempts...)
	}
	if o.part != nil && o.part.key != "" {
		scope = holding(scope, deliveries, deliveryKey(s.who.Name, o.part.key))
	}
	keys := o.kept
	if o.claimed != nil && !o.claimed.kept.IsNull() {
		keys = append(keys, o.claimed.kept)
	}
	if o.pending != nil {
		keys = append(keys, o.pending.key)
	}
	if len(keys) > 0 {
		scope = holding(scope, confirmations.Entity, keys...)
	}
	if len(o.counted) > 0 {
		scope = holding(scope, uses, o.counted...)
	}
	return scope
}
