package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/protocols/tools"
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
	// Agreed is the Answer of the preview that the person agreed to: it names the occasion on which
	// the preview was shown, so that a yes to one of two equal questions is none to the other. The
	// preview's ID, or the short form of that, names its content and means the latest such preview. If it is given, the plan must equal that preview, even
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
	// Window limits the lists that the run reads, for a page; nil limits none.
	Window *verbs.Window
	// Progress is told after each call.
	Progress func(Progress)
}

// runOptions are RunOptions with what the session has found out about them.
type runOptions struct {
	opt     RunOptions
	answer  answerOf
	pending *consent // somebody else's agreement
	job     *work    // the job that this run carries out
	drawn   bool     // the key was drawn when the question was asked, and the caller does not know it

	dryRun    bool           // the run is rolled back
	part      *part          // what it knows of the parts before it; nil for a whole program
	tools     bool           // the program uses tools of other servers
	attempted bool           // one of them was asked to change something
	attempts  []stores.Value // keys of the rows about them: that of this run, and of one it repeats
	owners    bool           // the reader of the receipt sees rows of several owners

	counted []stores.Value // keys of what its limits count

	answers map[string]toolAnswer // of the tools, from the preview that comes before it
}

// An answerOf is what RunOptions.Agreed answers.
type answerOf struct {
	claimed  *shown         // the preview agreed to, when this session showed it
	spent    bool           // another run has used claimed
	declined bool           // or its person said no
	kept     []stores.Value // keys of the previews of that ID that the store keeps
	unread   error          // why kept could not be read
}

// Preview works out what a program would do, and rolls it back. It returns a *Refusal where
// the program could not run. Agreements that it needs are part of the preview, not a refusal.
// Of the options, if they are given, it heeds Progress, Version and Before.
func (s *Session) Preview(ctx context.Context, p *verbs.Program, options ...RunOptions) (*receipt.Receipt, error) {
	o := given(options)
	defer s.begins()()
	r, err := s.rehearse(ctx, p, o)
	if err != nil {
		return nil, err
	}
	shown, preview := r.shown(), r.preview()
	if err := asksOn(ctx, s, r, preview, shown); err != nil {
		return nil, failure(err)
	}
	s.remember(shown)
	return preview, nil
}

// Plan is Preview for a developer.
func (s *Session) Plan(ctx context.Context, p *verbs.Program, options ...RunOptions) (*Plan, error) {
	defer s.begins()()
	r, err := s.rehearse(ctx, p, given(options))
	if err != nil {
		return nil, err
	}
	return r.plan.data(), nil
}

func (s *Session) rehearse(ctx context.Context, p *verbs.Program, o RunOptions) (*run, error) {
	if err := s.ready(p); err != nil {
		return nil, err
	}
	if all := s.permit(p); len(all) > 0 {
		return nil, refuse(all)
	}
	r, err := s.attempts(ctx, p, dryRun(o))
	if s.e.tells {
		err = countPreview(ctx, s, p, o, r, err)
	}
	return r, err
}

// Run carries a program out, whole or not at all: package each commits it call by call. It
// returns a *Refusal where the caller is told no, and any other error where the system
// failed. In both cases nothing was changed, unless the error is a *Failure that says
// Unknown.
func (s *Session) Run(ctx context.Context, p *verbs.Program, o RunOptions) (*receipt.Receipt, error) {
	if err := s.ready(p); err != nil {
		return nil, err
	}
	s.e.enter(StagePermit)
	if all := s.permit(p); len(all) > 0 {
		return nil, refusalOf(ctx, s, p, o, refuse(all))
	}
	defer s.begins()()
	t := &runOptions{opt: o}
	s.claim(ctx, t)
	r, err := s.attempts(ctx, p, t)
	if err != nil {
		s.release(t, err)
		if again := answeredBefore(ctx, s, p, o.Agreed, err); again != nil {
			return again, nil
		}
		return nil, refusalOf(ctx, s, p, o, err)
	}
	if r.repeated != nil {
		s.release(t, nil)
		return r.repeated, nil
	}
	return r.reply(), nil
}

// Parts prepares a program whose parts are to be committed one by one, for Parts.Next. It plans them
// together first, so that most mistakes are told while nothing is done, and takes the agreement to all
// of them: each part is then compared with what was shown of it. done are the receipts of the first
// parts, if they were committed before.
func (s *Session) Parts(ctx context.Context, p *verbs.Program, o RunOptions, done ...*receipt.Receipt) (*Parts, error) {
	if err := s.ready(p); err != nil {
		return nil, err
	}
	s.e.enter(StagePermit)
	if all := s.permit(p); len(all) > 0 {
		return nil, refusalOf(ctx, s, p, o, refuse(all))
	}
	for at, i := range p.Order() {
		if at != i {
			// They are numbered in the order in which they are written, and have to be made in it.
			return nil, refusalOf(ctx, s, p, o, refuse([]callError{{i, tell(placeOf(p, &p.Calls()[i]), "out-of-order")}}))
		}
	}
	defer s.begins()()
	ps := &Parts{s: s, o: o, list: p.Parts(), earlier: part{key: o.Key, before: make([]*step, len(p.Calls())), alias: make(map[stores.Value]string)}}
	if o.Key != "" {
		ps.earlier.text = textDigest(p.Canonical(), o.Key)
	}
	for _, d := range done {
		ps.repeat(d)
	}
	t := &runOptions{opt: o, part: &ps.earlier}
	s.claim(ctx, t)
	var err error
	if ps.plan, err = ps.agree(ctx, p, t); err != nil {
		s.release(t, err)
		return nil, refusalOf(ctx, s, p, o, err)
	}
	ps.answers = answersOf(ps.plan, 0, true)
	if ps.id, ps.digest = ps.plan.plan.id, ps.plan.plan.digest; o.Agreed == "" {
		ps.plan = nil // no part is compared with it
	}
	if len(o.Said) > 0 {
		first, err := s.Turns().Say(ctx, o.Said...)
		if err != nil {
			return nil, refusalOf(ctx, s, p, o, err)
		}
		ps.o.Turn, ps.o.Said = sessions.SpokenBy(o.Said, first, o.Turn), nil
	}
	ps.o.Version = 0 // it moves with every part
	return ps, nil
}

// ready refuses programs that were not checked against this engine's palettes.
func (s *Session) ready(p *verbs.Program) error {
	if p == nil || !p.Valid() || p.Registry() != s.e.reg {
		return &Failure{Err: errors.New("the program was not checked against the palettes of this engine")}
	}
	return nil
}

// dryRun returns the options of a run that is rolled back.
func dryRun(o RunOptions) *runOptions {
	return &runOptions{opt: RunOptions{Progress: o.Progress, Version: o.Version, Before: o.Before}, dryRun: true}
}

// retry carries a program out and, unless it is a dry run, commits it. If rows change meanwhile,
// it begins again. Each attempt compares its plan with what was agreed to, so that a retry
// never does anything else.
func (s *Session) retry(ctx context.Context, p *verbs.Program, o *runOptions) (*run, error) {
	if s.e.box != nil {
		var err error
		if o.tools, err = meetTools(tools.For(ctx, s.who.Name), s.e, p); err != nil {
			return nil, err
		}
	}
	if len(s.e.limited) > 0 {
		o.counted = limitKeys(s, p)
	}
	var asked externalAnswers
	if o.tools && len(o.answers) > 0 {
		asked.kept = usableAnswers(ctx, s.e, o.answers)
	}
	for attempt := 1; ; attempt++ {
		r, err := s.attempt(ctx, p, o, &asked)
		if err == nil && r.waits() != nil {
			if err = fetchAnswer(ctx, s, o, &asked, r); err == nil {
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
		case errors.Is(err, stores.ErrConflict) && attempt < maxAttempts && ctx.Err() == nil:
			pause(ctx, s.e, attempt)
			continue
		case asked.sent != nil:
			return nil, halfway(ctx, s, o, &asked, err)
		}
		return nil, blame(ctx, s, r.src.pasts, s.finalError(p, s.lookOn(ctx, r, err)))
	}
}

// finalError turns the error that a transaction ended with into what the caller is told.
func (s *Session) finalError(p *verbs.Program, err error) error {
	var promise *BrokenPromise
	var c *callError
	var failed *Failure
	whole := dsl.Place{Source: p.Script().Source}
	switch {
	case errors.As(err, &failed) && failed.Told != nil:
		return err
	case errors.As(err, &promise):
		return err
	case errors.As(err, &c):
		refusal := refuse([]callError{*c})
		refusal.cause = causeOf(err)
		return refusal
	case errors.Is(err, stores.ErrInvalid), errors.Is(err, stores.ErrDuplicate):
		// Some constraints are only looked at when a transaction ends.
		var all []*verbs.Entity
		for _, e := range s.e.catalog.entities {
			if why := (*stores.Refused)(nil); errors.As(err, &why) && why.Entity == e.Store {
				all = append(all, e)
			}
		}
		entry, args, why := databaseRefusal("the script", all, err)
		refusal := refuseScript(tell(whole, entry, args...))
		refusal.cause = errorOf(why)
		return refusal
	case errors.Is(err, stores.ErrLimit):
		return refuseScript(tell(whole, "too-much", "the script"))
	}
	return storeError(whole, err)
}

// attempt makes one attempt at a program. If a tool has to be asked before it can go on, the
// run says so and nothing is committed.
func (s *Session) attempt(ctx context.Context, p *verbs.Program, o *runOptions, asked *externalAnswers) (*run, error) {
	looks := onlyLooks(s.e, p) && (o.dryRun || len(o.counted) == 0 && o.opt.Key == "" && o.opt.Agreed == "" && o.pending == nil && o.job == nil && len(o.opt.Said) == 0)
	r := s.newRun(p, o, asked)
	r.src.snapshot, r.src.locks = looks, !looks && !o.dryRun && r.src.writes
	err := s.entitled(ctx, r.src.now)
	if err == nil && p.Literals().Unheard && r.src.writes {
		r.standing, err = standingRules(ctx, r)
	}
	if err == nil && slices.ContainsFunc(p.Calls(), func(c verbs.Call) bool { return c.Verb.Undoes != nil }) {
		r.src.pasts, err = pastCalls(ctx, s, p)
	}
	if err != nil {
		return r, err
	}
	blank := r
	begin := func(v *view.View) {
		if blank.src.read != nil { // once more
			r = s.newRun(p, o, asked)
			r.standing, r.src.pasts, r.src.snapshot, r.src.locks = blank.standing, blank.src.pasts, blank.src.snapshot, blank.src.locks
		}
		r.src.read = v
	}
	if looks {
		err := view.Snapshot(ctx, s.e.store, o.opens(s), s.e.open, s.e.catalog.facts, func(v *view.View) error {
			begin(v)
			return r.makePlan(ctx, o, asked)
		})
		if err == nil {
			s.keepNames(ctx)
		}
		return r, err
	}
	var last stores.Tx
	err = view.Update(ctx, s.e.store, o.opens(s), s.e.open, s.e.catalog.facts, func(tx stores.Tx, v *view.View) error {
		begin(v)
		last = tx
		done, err := r.begin(ctx, tx, o)
		if err != nil {
			return err
		}
		if !done {
			if err := r.makePlan(ctx, o, asked); err != nil {
				return err
			}
		}
		if done || o.dryRun || r.waits() != nil {
			tx.Discard()
			return nil
		}
		return r.commit(ctx, o.opt)
	})
	switch {
	case err == nil:
		for i, e := range last.Numbered() {
			r.of[i].out.seq = e.Seq
		}
		s.keepNames(ctx)
	case (o.opt.Key != "" || beginsUses(r)) && errors.Is(err, stores.ErrDuplicate):
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
		now = stores.NewTime(s.e.opt.Clock()).Time() // as it will be read back
	}
	n := len(p.Calls())
	r := &run{src: sourceAt(s, nil, now), phase: Running, plan: plan{prog: p, part: o.part, top: make([]*step, n), steps: make([]*step, 0, len(p.Order()))}}
	r.src.owners, r.src.writes, r.src.before, r.src.answers = o.owners || s.SeesSeveral(), writesRows(s.e, p), o.opt.Before, asked.answers
	r.src.kept, r.src.window = asked.kept, o.opt.Window
	r.src.script = p.Script().Source
	if o.dryRun {
		r.phase = Previewing
	}
	if o.part == nil || o.dryRun {
		r.listen.tell = o.opt.Progress
	} else if o.part.agreed != "" {
		r.src.draft.alias = o.part.alias
	}
	if o.part != nil {
		r.src.draft.made = o.part.made
	}
	r.src.draft.alias[stores.NewTime(r.src.now)] = "now 0"
	return r
}

// begin does what comes before the plan in the transaction that is to commit it. It reports
// done if an earlier run took effect under the same key, or if a job has become pointless.
func (r *run) begin(ctx context.Context, tx stores.Tx, o *runOptions) (done bool, err error) {
	if o.opt.Key != "" {
		if r.repeated, err = delivered(ctx, r.src.s, tx, r.plan.prog.Script(), r.plan.prog.Canonical(), o.opt.Key, true); err != nil || r.repeated != nil {
			return true, err
		}
	}
	if o.part != nil && o.part.key != "" {
		if err := claimKey(ctx, r, tx, o.part); err != nil {
			return false, err
		}
	}
	if o.job == nil {
		return false, nil
	}
	r.own.Settled = []stores.Settlement{ends(o.job.run, stores.JobDone, r.src.now, "")}
	r.skipped, err = o.job.pointless(ctx, r.src.s, tx, r.src.now)
	return r.skipped != "", err
}

// lookOn adds to a refusal the unknown names in the calls after it, so that a person who
// repairs a script learns of all of them at once.
func (s *Session) lookOn(ctx context.Context, r *run, err error) error {
	var c *callError
	var refusal *Refusal
	var all []callError
	switch {
	case len(r.plan.rest) == 0:
		return err
	case errors.As(err, &c):
		all = []callError{*c}
	case errors.As(err, &refusal):
		all = refusal.callErrors()
	default:
		return err
	}
	first := len(all)
	looked := s.e.store.View(ctx, s.scope, func(read stores.Reader) error {
		all = all[:first]
		on := s.newRun(r.plan.prog, &runOptions{}, &externalAnswers{now: r.src.now}) // at the same time
		on.src.read = view.Direct(read, nil, nil)
		f := &frame{prog: r.plan.prog}
		calls := r.plan.prog.Calls()
		for _, i := range r.plan.rest {
			if len(calls[i].Needs) > 0 {
				continue // it hangs on a call that was not carried out
			}
			var c *callError
			if err := on.src.resolve(ctx, f, on.beginCall(f, i), &calls[i]); errors.As(err, &c) {
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
	return !o.dryRun && o.opt.Agreed == "" && o.opt.Key == "" && o.pending == nil && o.part == nil && o.job == nil
}

// opens returns the scope of a run: the session's, and the engine's own rows about this run.
func (o *runOptions) opens(s *Session) stores.Scope {
	scope := s.scope
	if o.opt.Key != "" {
		scope = holding(scope, deliveries, deliveryKey(s.who.Name, o.opt.Key))
	}
	if o.tools {
		scope = holding(scope, attempts, o.attempts...)
	}
	if o.part != nil && o.part.key != "" {
		scope = holding(scope, deliveries, deliveryKey(s.who.Name, o.part.key))
	}
	keys := o.answer.kept
	if o.answer.claimed != nil && !o.answer.claimed.kept.IsNull() {
		keys = append(keys, o.answer.claimed.kept)
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

// A Phase is a phase of a long run.
type Phase string

// The phases of a run.
const (
	Previewing Phase = "preview" // the program is previewed
	Running    Phase = "run"     // the program runs in a transaction that is still open
	Committing Phase = "commit"  // the program runs, and finished calls are committed
	Asking     Phase = "ask"     // a tool works, and reports its progress
)

// A Progress is the progress of a run. It is reported after each call and while a tool works, one
// at a time, and the run waits for the listener, which must be quick. If a run starts again, it
// counts from the beginning.
type Progress struct {
	Phase  Phase
	Done   int
	Total  int
	Number int // the number of the call
	// Verb and What describe a tool at work: it has done Done of Total units of What, such as
	// pages. Total is 0 if it is not known.
	Verb, What string
	// Call is the receipt of a call once it is committed; nil before.
	Call *receipt.Call
}

const (
	// mostTold is the greatest number of reports of one tool that are passed on.
	mostTold = 200
	// longestWhat is the greatest number of characters of a tool's own word that are repeated.
	longestWhat = 40
)

// listens returns a function that passes on a tool's progress, each percent once, and a function
// after which it passes on nothing.
func (o *runOptions) listens(st *step) (tell func(done, total int, what string), over func()) {
	if o.opt.Progress == nil {
		return nil, func() {}
	}
	var m sync.Mutex
	last, told, ended := 0, 0, false
	tell = func(done, total int, what string) {
		m.Lock()
		defer m.Unlock()
		if ended || done <= last || told == mostTold || total < 0 || total > 0 && (done > total || done < total && last > 0 && done*100/total == last*100/total) {
			return
		}
		last, told = done, told+1
		if r := []rune(strings.Join(strings.Fields(what), " ")); len(r) > longestWhat {
			what = string(r[:longestWhat])
		} else {
			what = string(r)
		}
		o.opt.Progress(Progress{Phase: Asking, Done: done, Total: total, Number: 1 + st.call.index, Verb: st.verb.Name, What: what})
	}
	return tell, func() {
		m.Lock()
		defer m.Unlock()
		ended = true
	}
}

// progress reports a call that was carried out.
func (r *run) progress(i int) {
	if r.listen.tell == nil {
		return
	}
	calls := r.plan.prog.Calls()
	if calls[i].Nested {
		return
	}
	if r.listen.total == 0 {
		r.listen.total = len(r.plan.prog.Script().Calls)
	}
	r.listen.done++
	r.listen.tell(Progress{Phase: r.phase, Done: r.listen.done, Total: r.listen.total, Number: r.listen.done})
}

// backoff returns how long to wait before the next attempt after a conflict: a short time, longer
// for each attempt, with jitter.
func backoff(attempt int) time.Duration {
	var b [8]byte
	rand.Read(b[:]) // never fails, by its documentation
	most := time.Millisecond << min(attempt, 7)
	return most/2 + time.Duration(binary.BigEndian.Uint64(b[:])%uint64(most/2))
}

// pause waits before the next attempt, unless the context ends.
func pause(ctx context.Context, e *Engine, attempt int) {
	e.opt.Sleep(ctx, e.opt.Backoff(attempt))
}

// sleep waits, unless the context ends or d is not positive.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// An Observed describes one preview or run for the observer. It holds no values of rows.
type Observed struct {
	Calls []*verbs.Verb // in order; each as often as it was called
	// Rehearsal says that the program was only previewed.
	Rehearsal bool
	Outcome   string        // "ok", "refused" or "failed"
	Code      string        // of a refusal
	Took      time.Duration // by the engine's clock, including waiting
	// Err is why it failed, or why a tool that made it be refused did not answer; nil otherwise. It is
	// for the operator's log, without the sensitive values of the call.
	Err error
}

// tried calls retry, and then Options.Agreed if an agreement was used.
func (s *Session) tried(ctx context.Context, p *verbs.Program, o *runOptions) (*run, error) {
	r, err := s.retry(ctx, p, o)
	if err == nil && !o.dryRun && (o.opt.Agreed != "" || o.pending != nil) && s.e.opt.Agreed != nil {
		s.e.opt.Agreed(ctx)
	}
	return r, err
}

// attempts calls tried, and then Options.Observe with the outcome.
func (s *Session) attempts(ctx context.Context, p *verbs.Program, o *runOptions) (*run, error) {
	if s.e.opt.Observe == nil {
		return s.tried(ctx, p, o)
	}
	began := s.e.opt.Clock()
	r, err := s.tried(ctx, p, o)
	seen := Observed{Rehearsal: o.dryRun, Outcome: outcomeOK, Took: s.e.opt.Clock().Sub(began)}
	for i := range p.Calls() {
		seen.Calls = append(seen.Calls, p.Calls()[i].Verb)
	}
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		seen.Outcome, seen.Code, seen.Err = outcomeRefused, refusal.Diagnostics[0].Code, refusal.cause
	case err != nil:
		seen.Outcome, seen.Err = outcomeFailed, err
	}
	s.e.opt.Observe(ctx, seen)
	return r, err
}
