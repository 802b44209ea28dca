package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/digest"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
)

// A tool of another server acts outside our transaction, and the two cannot be made atomic. So
// a run with such a tool takes steps, and may be cut off after each:
//
//  1. The whole script is planned in a transaction: permitted, resolved, gated, verified,
//     agreed to. Most refusals happen here. The transaction is rolled back.
//  2. The attempt is journalled and committed, together with the agreement that it uses up.
//     From here on the store knows that the tool may have acted.
//  3. The tool is asked, with no transaction open.
//  4. The script is planned again with the answer. If the plan equals that of step 1, rows,
//     notices and journal entries are committed.
//
// If the tool fails or cannot be reached, nothing changes here, and the journal says failed.
// If its answer is lost, the journal says unknown. If rows have changed between 1 and 4, the
// tool has acted and nothing changed here: the caller is told so, and with an idempotency key
// the answer is kept for the next try.
//
// We considered asking the tool after the commit: rows would then claim something that may
// never happen. We also considered asking inside the transaction: every other writer of an
// SQLite file would wait for the tool's server.

const (
	outcomeAttempted = "attempted"
	outcomeFailed    = "failed"
	outcomeUnknown   = "unknown"
)

const (
	// maxExternalCalls is how many answers of tools one run may need.
	maxExternalCalls = 50
	// toolTries is how often a tool is asked if its palette names no number.
	toolTries = 3
)

// externalAnswers are the answers of tools to one run, over all attempts at its transaction.
type externalAnswers struct {
	now     time.Time // of the first attempt, once something was asked
	answers map[string]toolAnswer
	kept    map[string]toolAnswer // of the preview before it, by requestDigest
	sent    *sentCall
}

// A sentCall is the one external call of a run that changes something on another server, after
// it was sent.
type sentCall struct {
	call     *externalCall
	plan     *run     // the plan that it belongs to
	digest   [32]byte // of the plan that was agreed to
	agreedBy string
	row      stores.Value // key of its row
	after    *Unsettled   // an earlier request for the same calls, which this one repeats
}

// still compares a plan made with the tool's answer to the plan made before it.
func (a *sentCall) unchanged(r *run) error {
	if r.plan.digest != a.digest {
		return errMoved
	}
	r.agreedBy = a.agreedBy
	done := a.settle(AttemptDone, r.src.answers[a.call.id()].Answer, r.src.now)
	done.Set = append(done.Set, stores.Assign{Field: attEnded, Value: stores.NewString(endedStored)})
	r.own.Changes = append(r.own.Changes, done)
	return nil
}

// errMoved says that the plan of a run has changed since its tool was asked.
var errMoved = errors.New("rows changed while the tool was being asked")

// fetchAnswer asks a tool for an answer that a run needs before it can go on.
func fetchAnswer(ctx context.Context, s *Session, o *runOptions, a *externalAnswers, r *run) error {
	e := r.waits()
	if len(a.answers) >= maxExternalCalls {
		return e.st.refuse("too-much/calls", e.st.verb.Name)
	}
	if a.answers == nil {
		a.answers, a.now = make(map[string]toolAnswer), r.src.now
	}
	if e.embeds {
		answer, err := s.e.embed(ctx, e.args.Text())
		if err == nil {
			a.answers[e.id()] = toolAnswer{Answer: answer}
		}
		return err
	}
	if e.files != nil {
		answer, err := makeFile(ctx, s, e)
		if err == nil {
			a.answers[e.id()] = toolAnswer{Answer: answer}
		}
		return err
	}
	if e.st.verb.Tool.ReadOnly {
		key := s.e.opt.NewID()
		if asks := cmp.Or(o.opt.Asks, o.opt.Key); asks != "" { // a run that was cut off asks the same again, and not for a second time
			key = digest.Of("verbatim question 1", s.who.Name, asks, e.id())
		}
		lasts := uploads.Unused
		if o.dryRun {
			lasts = r.lasts()
		}
		answer, err := askTool(ctx, s, o, e, key, lasts)
		if err != nil {
			return err
		}
		a.answers[e.id()] = answer
		return nil
	}
	return sendCall(ctx, s, o, a, r)
}

// askTool asks a tool until it gives a valid answer. A tool that may have acted is asked again only
// if that cannot act twice. A file that it makes is kept for a time.
func askTool(ctx context.Context, s *Session, o *runOptions, e *externalCall, key string, lasts time.Duration) (got toolAnswer, err error) {
	v := e.st.verb
	retry := stores.Retry{Attempts: toolTries}
	if v.Tool.Retry != nil {
		retry = *v.Tool.Retry
	}
	lost := false // the answer to an earlier try, by the end of the server: it is no news that it was started again
	slow := false // that try took too long, so that the server was ended here
	for try := 1; ; try++ {
		tell, over := o.listens(e.st)
		var answer tools.Answer
		answer, err = askOnce(ctx, s, v.Tool.Timeout, tools.Call{Tell: tell, Server: e.Server, Name: e.Name, Digest: e.spec.Digest, Args: e.args.Text(), Key: key, Columns: v.Tool.Columns, Rows: v.Tool.Rows})
		over()
		got = toolAnswer{Answer: answer, at: s.e.opt.Clock(), tries: try}
		switch {
		case err == nil && answer.Failed:
			return got, &callError{e.st.call.index, toolFailed(e, answer.Text)}
		case err == nil:
			if _, err = answerTable(v, answer); err == nil {
				return got, keepFile(ctx, s, v, answer.File, lasts)
			}
			// It would answer the same again.
			return got, e.st.refuse("tool-answer", v.Tool.Name, v.Tool.Server, err.Error())
		case errors.Is(err, tools.ErrChanged):
			return got, e.st.refuse("tool-unfit", v.Name, v.Tool.Name, v.Tool.Server, tools.CodeChanged)
		case errors.Is(err, tools.ErrRestarted) && lost && v.Tool.ReadOnly:
			why := "tool-silent/broken"
			if slow {
				why = "tool-silent/slow"
			}
			return got, &silence{e.st.refuse(why, v.Tool.Name, v.Tool.Server), redact(e.st, err)}
		case errors.Is(err, tools.ErrRestarted) && (v.Tool.ReadOnly || !lost):
			return got, &silence{e.st.refuse("tool-silent/restarted", v.Tool.Name, v.Tool.Server), redact(e.st, err)}
		case ctx.Err() == nil && try < retry.Attempts && (v.Tool.ReadOnly || v.Tool.Idempotent || errors.Is(err, tools.ErrNotCalled)):
			lost, slow = lost || !errors.Is(err, tools.ErrNotCalled), slow || errors.Is(err, context.DeadlineExceeded)
			s.e.opt.Sleep(ctx, retry.Wait(try))
			continue
		case ctx.Err() != nil && v.Tool.ReadOnly:
			return got, ctx.Err() // nobody waits for it any more
		case errors.Is(err, tools.ErrNotCalled), v.Tool.ReadOnly:
			return got, &silence{e.st.refuse("tool-silent", v.Tool.Name, v.Tool.Server), redact(e.st, err)}
		}
		return got, fmt.Errorf("%w: %w", errLost, err)
	}
}

// A silence is the error of a tool that did not answer, or of a database that refused a change: what
// the caller is told, and why, for the operator's log.
type silence struct {
	*callError
	cause error
}

// Unwrap returns what the caller is told.
func (s *silence) Unwrap() error { return s.callError }

// causeOf returns the cause of a silence; nil for any other error.
func causeOf(err error) error {
	var s *silence
	if errors.As(err, &s) {
		return s.cause
	}
	return nil
}

// askOnce asks a tool once, with a deadline.
func askOnce(ctx context.Context, s *Session, timeout time.Duration, c tools.Call) (tools.Answer, error) {
	if timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	answer, err := s.e.opt.Tools.Call(tools.For(ctx, s.who.Name), c)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return answer, err
}

// errLost says that a tool's answer was lost.
var errLost = errors.New("the answer of the tool was lost")

// sendCall journals the attempt, asks the tool, and journals any outcome but success.
func sendCall(ctx context.Context, s *Session, o *runOptions, a *externalAnswers, r *run) error {
	e := r.plan.external
	sent := &sentCall{call: e, plan: r, digest: r.plan.digest, agreedBy: r.agreedBy}
	key, answer, err := beginAttempt(ctx, s, o, sent)
	if err != nil {
		return err
	}
	o.attempted, a.sent = true, sent
	if answer != nil { // of an earlier run under the same key
		a.answers[e.id()] = *answer
		return nil
	}
	got, err := askTool(ctx, s, o, e, key, uploads.Unused)
	if err == nil {
		a.answers[e.id()] = got
		return nil
	}
	entry := attemptEntry(s, o, sent)
	var c *callError
	switch {
	case errors.As(err, &c) && c.diagnostic.Code != codeToolAnswer:
		entry.Outcome, entry.Reason = outcomeFailed, c.diagnostic.Code
		err = &Refusal{Diagnostics: dsl.Diagnostics{c.diagnostic}, calls: []int{c.call}, journalled: true, cause: causeOf(err)}
		return afterwards(ctx, s, o, sent, entry, AttemptFailed, nil, err)
	default:
		// It answered with something that cannot be understood, or not at all.
		d := toolUnknown.tell(e.st.call.place, e.st.verb, stamp(r.src.now), o.known() && e.st.verb.Tool.Idempotent, o.asked())
		if c != nil {
			d.Note(c.diagnostic.Summary)
		}
		entry.Outcome, entry.Reason = outcomeUnknown, codeToolUnknown
		return afterwards(ctx, s, o, sent, entry, AttemptUnknown, nil, &Failure{Err: err, Unknown: true, Told: &d})
	}
}

// halfway makes the error that says that a tool has acted, but that the script was not
// committed here.
func halfway(ctx context.Context, s *Session, o *runOptions, a *externalAnswers, err error) error {
	e := a.sent.call
	why := "a row that it stands on was changed meanwhile"
	var refusal *Refusal
	var c *callError
	switch {
	case errors.As(err, &c):
		why = c.diagnostic.Summary
	case errors.As(err, &refusal):
		why = refusal.Diagnostics[0].Summary
	case !errors.Is(err, errMoved) && !errors.Is(err, stores.ErrConflict):
		why = "the system could not store it"
	}
	entry := attemptEntry(s, o, a.sent)
	entry.Outcome, entry.Reason = outcomeFailed, codeToolAlone
	answer := a.answers[e.id()].Answer
	d := toolAlone.tell(e.st.call.place, e.st.verb, why, o.known(), o.asked())
	if said := e.said(answer); said != "" {
		d.Note(said)
	}
	return afterwards(ctx, s, o, a.sent, entry, AttemptDone, &answer, &Failure{Err: err, Unknown: errors.Is(err, stores.ErrUnknown), Told: &d})
}

func attemptEntry(s *Session, o *runOptions, a *sentCall) stores.Entry {
	st := a.call.st
	e := entryOf(s, a.plan.plan.prog, o.opt, st.call.place)
	e.Time, e.Verb = s.e.opt.Clock(), st.verb.Name
	switch {
	case a.agreedBy != "":
		e.Preview, e.Agreed = a.plan.plan.id, a.agreedBy
	case o.opt.Agreed != "":
		e.Preview, e.Agreed = a.plan.plan.id, s.who.Name
	}
	return e
}

// tellAttempt adds a journal entry about an attempt to a batch.
func tellAttempt(s *Session, b *stores.Batch, a *sentCall, entry stores.Entry) error {
	st := a.call.st
	say := saidAs(s.e, a.plan.plan.prog, st)
	if a.after != nil {
		say.after = a.after.Entry
	}
	return tellCall(s.e, b, entry, say)
}

// known reports whether the caller has the key of the run.
func (o *runOptions) known() bool { return o.opt.Key != "" && !o.drawn }

// asked reports whether somebody agreed to the run, and is asked again if it is tried again.
func (o *runOptions) asked() bool { return o.opt.Agreed != "" || o.pending != nil }

// afterwards journals the outcome of an attempt, even if the request was cancelled meanwhile,
// and returns the error for the caller.
func afterwards(ctx context.Context, s *Session, o *runOptions, a *sentCall, entry stores.Entry, status string, answer *tools.Answer, err error) error {
	var b stores.Batch
	if failed := tellAttempt(s, &b, a, entry); failed != nil {
		return failed
	}
	var kept tools.Answer
	if answer != nil {
		kept = *answer
	}
	b.Changes = append(b.Changes, a.settle(status, kept, entry.Time))
	ctx, stop := stores.Detached(ctx)
	defer stop()
	failed := writeTo(ctx, s.e, o.opens(s), func(tx stores.Tx) error {
		return tx.Apply(ctx, b)
	})
	if failed != nil {
		return &Failure{Err: fmt.Errorf("%w; and the journal could not be told: %w", err, failed), Unknown: true, Told: toldOf(err)}
	}
	return err
}

func toldOf(err error) *dsl.Diagnostic {
	var f *Failure
	var r *Refusal
	switch {
	case errors.As(err, &f):
		return f.Told
	case errors.As(err, &r):
		return &r.Diagnostics[0]
	}
	return nil
}

// Attempts

// The states of an attempt.
const (
	// AttemptOpen says that the tool may have been asked, and no more is known.
	AttemptOpen = "ATTEMPTED"
	// AttemptDone says that the tool answered; the answer is kept.
	AttemptDone = "DONE"
	// AttemptFailed says that the tool failed.
	AttemptFailed = "FAILED"
	// AttemptUnknown says that its answer was lost.
	AttemptUnknown = "UNKNOWN"

	// How it ended, where the state alone does not say.

	endedOpen   = "open"
	endedStored = "stored" // and what it led to was committed here
	// SettleDone says that a person found that the tool did it.
	SettleDone = "done"
	// SettleNotDone says that a person found that it did not.
	SettleNotDone = "not-done"
	// SettleAgain says that it may be done again, whether or not it was done.
	SettleAgain = "again"
)

// beginAttempt commits that a tool is about to be asked, and uses up the agreement. It returns the key
// under which to ask. If an earlier run with the same key asked the same, it returns that
// answer.
func beginAttempt(ctx context.Context, s *Session, o *runOptions, a *sentCall) (key string, answer *toolAnswer, err error) {
	r := a.plan
	under := o.opt.Key
	if under == "" { // its row is found by nobody's key
		under = drawKey()
	}
	a.row = attemptKey(s.who.Name, under)
	key = a.row.Text()
	o.attempts = []stores.Value{a.row}
	if o.asked() {
		if a.after, err = requestBefore(ctx, s, r, a.row); err != nil {
			return "", nil, err
		}
		if a.after != nil {
			o.attempts = append(o.attempts, a.after.row.Key())
		}
	}
	err = s.e.store.Update(ctx, o.opens(s), func(tx stores.Tx) error {
		entry := attemptEntry(s, o, a)
		entry.Time, entry.Outcome = r.src.now, outcomeAttempted
		b := stores.Batch{Changes: append([]stores.Change(nil), r.own.Changes...)}
		if err := tellAttempt(s, &b, a, entry); err != nil {
			return err
		}
		row, err := tx.Get(ctx, attempts, a.row)
		switch {
		case errors.Is(err, stores.ErrNotFound):
			b.Changes = append(b.Changes, a.insert(r, under))
		case err != nil:
			return err
		default:
			var again stores.Change
			if answer, again, err = a.resume(r, row, under); err != nil {
				return err
			}
			b.Changes = append(b.Changes, again)
		}
		if a.after != nil {
			b.Changes = append(b.Changes, a.after.end(SettleAgain, s.who.Name))
		}
		err = tx.Apply(ctx, b)
		if errors.Is(err, stores.ErrDuplicate) {
			return fmt.Errorf("a key was used twice at once: %w", stores.ErrConflict)
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}
	return key, answer, nil
}

// requestBefore returns the latest request for the same calls that nobody has settled: somebody was told
// of it and agreed to do it again.
func requestBefore(ctx context.Context, s *Session, r *run, but stores.Value) (last *Unsettled, err error) {
	same, _ := sameCalls(s, r.plan.prog.Canonical())
	err = s.e.store.View(ctx, s.engineScope(), func(read stores.Reader) error {
		all, err := unsettled(ctx, read, isField(attSame, same))
		all = slices.DeleteFunc(all, func(u Unsettled) bool { return u.row.Key() == but })
		if last = nil; len(all) > 0 {
			last = &all[0]
		}
		return err
	})
	return last, err
}

// resume continues an attempt that was begun under the same key.
func (a *sentCall) resume(r *run, row stores.Row, key string) (*toolAnswer, stores.Change, error) {
	e := a.call
	at := dsl.Place{Source: r.plan.prog.Script().Source}
	v := row.Values
	change := stores.Change{Op: stores.Update, Entity: attempts, Key: a.row, Before: v, Guard: []int{attText, attSent, attStatus},
		Set: []stores.Assign{{Field: attSent, Value: stores.NewString(sentDigest(e, key))}, {Field: attStatus, Value: stores.NewString(AttemptOpen)}, {Field: attTime, Value: stores.NewTime(r.src.now)}, {Field: attEnded, Value: stores.NewString(endedOpen)}}}
	status := v[attStatus].Text()
	switch {
	case v[attText].Text() != textDigest(r.plan.prog.Script(), key):
		return nil, change, refuseScript(tell(at, "key-reused"))
	case v[attEnded].Text() == SettleDone:
		return nil, change, refuse([]callError{{e.st.call.index, tell(e.st.call.place, "tool-settled", e.st.verb.Tool.Name, e.st.verb.Tool.Server, stamp(v[attTime].Time()), v[attEndedBy].Text())}})
	case status == AttemptFailed, v[attEnded].Text() == SettleNotDone, v[attEnded].Text() == SettleAgain:
		return nil, change, nil
	case v[attSent].Text() != sentDigest(e, key):
		return nil, change, refuse([]callError{{e.st.call.index, tell(e.st.call.place, "tool-otherwise", e.st.verb.Tool.Name, e.st.verb.Tool.Server, stamp(v[attTime].Time()))}})
	case status == AttemptDone:
		change.Set = []stores.Assign{{Field: attTime, Value: stores.NewTime(r.src.now)}}
		kept := toolAnswer{Answer: keptAnswer(v[attAnswer]), at: v[attTime].Time()}
		return &kept, change, nil
	case e.st.verb.Tool.Idempotent:
		return nil, change, nil
	}
	d := toolUnknown.tell(e.st.call.place, e.st.verb, stamp(v[attTime].Time()), false, false)
	return nil, change, &Failure{Err: errLost, Unknown: true, Told: &d}
}

// sentDigest returns the digest of a request, which may be sensitive: like that of a text, it cannot
// be guessed without the key.
func sentDigest(e *externalCall, key string) string {
	return digest.Of("verbatim errand 1", key, e.id())
}

// keptAnswer reads an answer that settle kept.
func keptAnswer(v stores.Value) tools.Answer {
	var a tools.Answer
	if json.Unmarshal([]byte(v.Text()), &a) != nil {
		return tools.Answer{} // it fits no column, and is refused for that
	}
	return a
}

func attemptKey(principal, key string) stores.Value {
	return stores.NewString(digest.Of("verbatim attempt 1", principal, key))
}

func (a *sentCall) insert(r *run, key string) stores.Change {
	e := a.call
	same, _ := sameCalls(r.src.s, r.plan.prog.Canonical())
	return stores.Change{Op: stores.Insert, Entity: attempts, Key: a.row, Number: attFirst, Set: []stores.Assign{
		{Field: attPrincipal, Value: stores.NewString(r.src.s.who.Name)}, {Field: attText, Value: stores.NewString(textDigest(r.plan.prog.Script(), key))},
		{Field: attSent, Value: stores.NewString(sentDigest(e, key))}, {Field: attTool, Value: stores.NewString(e.Server + " " + e.Name)},
		{Field: attStatus, Value: stores.NewString(AttemptOpen)}, {Field: attTime, Value: stores.NewTime(r.src.now)},
		{Field: attSame, Value: stores.NewString(same)}, {Field: attEnded, Value: stores.NewString(endedOpen)},
	}}
}

// settle makes the change that records the outcome of an attempt.
func (a *sentCall) settle(status string, answer tools.Answer, now time.Time) stores.Change {
	set := []stores.Assign{{Field: attStatus, Value: stores.NewString(status)}}
	if status == AttemptDone {
		keys := []string{"structured", "text"}
		values := []stores.Value{stores.NewString(answer.Structured), stores.NewString(strings.ReplaceAll(answer.Text, "\x00", ""))}
		if answer.File != nil {
			text, _ := json.Marshal(answer.File) // of texts
			file, _ := stores.ParseJSON(string(text))
			keys, values = append(keys, "file"), append(values, file)
		}
		set = append(set, stores.Assign{Field: attAnswer, Value: stores.NewObject(keys, values)})
	}
	set = append(set, stores.Assign{Field: attTime, Value: stores.NewTime(now)})
	return stores.Change{Op: stores.Update, Entity: attempts, Key: a.row, Set: set}
}
