package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
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
	"verbatim/verbs"
)

// Delayed and background work are jobs of the store. A trigger with `run:` inserts one in the
// transaction of the other effects; so does every notice, which a worker hands to a channel,
// and every confirmation, which expires. The call of a job goes the way of every call: in the
// name of its principal, with the rights that they have at that time, through permit, gate and
// settle, into the journal. The job is completed in the transaction of its effect, and the
// store fences that on the attempt.

// The kinds of job.
const (
	// JobCall makes the call of a trigger.
	JobCall = "call"
	// JobExpire ends a confirmation that nobody decided in time.
	JobExpire = "expire"
	// JobNotifyDeciders notifies the principals who may agree to a proposal.
	JobNotifyDeciders = "summon"
	// JobNotice is a notice to be delivered. The engine knows no channels: the code that
	// delivers the notice settles the job.
	JobNotice = "notice"
)

// JobKinds returns the kinds that Engine.Work knows.
func JobKinds() []string { return []string{JobCall, JobExpire, JobNotifyDeciders} }

// The outcomes of a run of a job.
const (
	WorkDone    = "done"
	WorkSkipped = "skipped" // it had become pointless
	WorkRefused = "refused" // it is dead: its call is not allowed, or not understood
	WorkWaiting = "waiting" // for somebody's agreement, or for its time
	WorkFenced  = "fenced"  // another worker has it by now, and nothing was done
)

// Reasons why a job was not done, beside the codes of refusals.
const (
	reasonNoPoint    = "no-longer-holds"    // the trigger's condition does not hold any more
	reasonRowGone    = "row-gone"           // the principal does not see a row that it refers to
	reasonOther      = "palette-changed"    // the palettes do not know the work any more
	reasonUnreadable = "unreadable-payload" // no engine like this wrote it
)

// jobVersion is the version of the payloads of jobs, their member "v".
const jobVersion = 1

var jobV = stores.NewInt(jobVersion)

// noticeVersion is the version of notices with About.
const noticeVersion = 2

// readJob reads a payload of a version that is known, or older. For a payload of another it
// returns a stores.VersionError, and the job is left to a worker of that version. A payload
// without a version, or with an unknown member, is an error.
func readJob(j *stores.Job, known int64, into any) error {
	var is struct{ V int64 }
	switch err := json.Unmarshal([]byte(j.Payload), &is); {
	case err != nil:
		return err
	case is.V == 0:
		return errors.New("the job has no version")
	case is.V < 1 || is.V > known:
		return &stores.VersionError{Is: is.V, Known: known}
	}
	d := json.NewDecoder(strings.NewReader(j.Payload))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// A Worked is the outcome of a run of a job.
type Worked struct {
	Outcome string
	Verb    string // that was to be run
	Reason  string // code of why it was not
	Seq     int64  // journal entry, when there is one
	Pending string // ID of the confirmation that it waits for
}

// Retry returns how long a failed job waits before it is tried again, by the present palette.
func (e *Engine) Retry(run stores.Run) stores.Retry {
	if run.Kind == JobCall {
		if w, _, err := readWork(e.reg, run); err == nil && w != nil && w.effect.Retry != nil {
			return *w.effect.Retry
		}
	}
	return stores.DefaultRetry()
}

// dayStart returns the first instant of a day in a zone. Where clocks are put forward at midnight,
// the day begins later.
func dayStart(day time.Time, zone *time.Location) time.Time {
	y, m, d := day.Date()
	t := time.Date(y, m, d, 0, 0, 0, 0, zone)
	if t.Day() != d {
		_, t = t.ZoneBounds()
	}
	return t.UTC()
}

// expiry returns the job that ends a confirmation.
func (e *Engine) expiry(c *confirmations.Confirmation) stores.Job {
	return stores.Job{ID: e.opt.NewID(), Kind: JobExpire, At: c.Expires, Principal: c.Asker,
		Payload: stores.NewObject([]string{"confirmation", "v"}, []stores.Value{c.Key, jobV}).Text()}
}

// A Message is the payload of a job of kind JobNotice, to be delivered.
type Message struct {
	ID     string // the same each time
	Kind   string // "notify" or "trigger"
	Target string
	Time   time.Time // when it was sent
	Body   string    // canonical JSON
	// Attempt is the number of deliveries that were begun, from 1.
	Attempt int
	// About are digests of the rows that its call changed.
	About []string
}

// message makes the job that delivers a message, after those about the same rows.
func (e *Engine) message(kind, target string, at time.Time, principal string, body stores.Value, about ...stores.Value) stores.Job {
	keys := []string{"body", "kind", "target", "time", "v"}
	values := []stores.Value{body, stores.NewString(kind), stores.NewString(target), stores.NewString(stores.NewTime(at).Text()), jobV}
	if len(about) > 0 {
		keys, values[4] = slices.Insert(keys, 0, "about"), stores.NewInt(noticeVersion)
		values = slices.Insert(values, 0, stores.NewList(about...))
	}
	return stores.Job{ID: e.opt.NewID(), Kind: JobNotice, At: at, Principal: principal, Payload: stores.NewObject(keys, values).Text()}
}

// mostAbout is the greatest length of Message.About.
const mostAbout = 100

// about returns digests of the rows that a call changed. Two calls that changed the same row have
// one in common. They are digests since the key of a row may identify a person.
func about(st *step) (all []stores.Value) {
	for i := range st.out.changes[:min(len(st.out.changes), mostAbout)] {
		c := &st.out.changes[i]
		same := sha256.Sum256([]byte(c.Entity.Name + "\x00" + c.Key.Text()))
		all = append(all, stores.NewString(fmt.Sprintf("%x", same[:16])))
	}
	return all
}

// Notice makes the job that delivers a notice which no palette promises.
func (e *Engine) Notice(target string, at time.Time, principal string, body stores.Value) stores.Job {
	return e.message("notify", target, at, principal, body)
}

// ReadMessage reads a job of kind JobNotice. For another version it returns
// stores.ErrVersion, and the job should be left to a worker of that version.
func ReadMessage(j *stores.Job) (Message, error) {
	var p struct {
		V            int
		Kind, Target string
		Time         time.Time
		Body         json.RawMessage
		About        []string
	}
	if err := readJob(j, noticeVersion, &p); errors.Is(err, stores.ErrVersion) {
		return Message{}, err
	} else if err != nil || j.Kind != JobNotice || p.Target == "" {
		return Message{}, fmt.Errorf("job %s is no notice", j.ID)
	}
	return Message{ID: j.ID, Kind: p.Kind, Target: p.Target, Time: p.Time, Body: string(p.Body), About: p.About}, nil
}

// Asks returns the server whose tool the call of a job asks, "" if it asks none. A function of this
// program is no server, once it was met.
func (e *Engine) Asks(run stores.Run) string {
	if run.Kind != JobCall {
		return ""
	}
	w, why, err := readWork(e.reg, run)
	if err != nil || why != "" {
		return ""
	}
	for i := range w.effect.Run.Script.Calls {
		of := e.verbs[e.reg.Verb(w.effect.Run.Script.Calls[i].Verb)]
		if of == nil {
			continue
		}
		for _, v := range of.tools {
			if spec, met := e.box.Spec(v); !met || !spec.Local {
				return v.Tool.Server
			}
		}
	}
	return ""
}

// Work carries out one run of a job of JobKinds and settles it. After an error the run is not
// settled, and the job is to be tried again, or for stores.ErrVersion left to a worker of
// another version. The error wraps a *Refusal where a tool did not answer.
func (e *Engine) Work(ctx context.Context, run stores.Run) (Worked, error) {
	var done Worked
	var err error
	switch run.Kind {
	case JobCall:
		done, err = e.workCall(ctx, run)
	case JobExpire:
		done, err = e.workExpire(ctx, run)
	case JobNotifyDeciders:
		done, err = workNotifyDeciders(ctx, e, run)
	default:
		return done, &Failure{Err: fmt.Errorf("nobody here knows jobs of kind %s", run.Kind)}
	}
	if errors.Is(err, stores.ErrFenced) {
		return Worked{Outcome: WorkFenced, Verb: done.Verb}, nil
	}
	return done, err
}

// A work is the call of a job of kind JobCall.
type work struct {
	run    stores.Run
	effect *verbs.Effect
	verb   *verbs.Verb // that triggered it
	args   []stores.Value
	refs   []*stores.Entity // parallel to args: of references
	from   []verbs.Origin   // parallel to args
	active sessions.Value   // that it took along

	answers map[string]toolAnswer // of the read-only tools that its dry run asked
}

// errRowGone says that a row that a job refers to does not exist any more.
var errRowGone = errors.New(reasonRowGone)

func ends(run stores.Run, state stores.JobState, at time.Time, note string) stores.Settlement {
	return stores.Settlement{Run: run, State: state, At: at, Note: note}
}

func (e *Engine) workCall(ctx context.Context, run stores.Run) (Worked, error) {
	w, why, err := readWork(e.reg, run)
	if err != nil {
		return Worked{}, &Failure{Err: err}
	}
	if why != "" {
		return e.giveUp(ctx, run, "", why)
	}
	done := Worked{Verb: w.effect.Run.Script.Calls[0].Verb}
	s, err := freshSession(ctx, e, run.Principal)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return e.giveUp(ctx, run, done.Verb, codeUnknownPrincipal)
	}
	if err != nil {
		return done, err
	}
	o := RunOptions{Source: "job " + run.ID, Key: "job " + run.ID}
	script, said, err := workScript(ctx, s, w, o.Source)
	if err != nil {
		return worked(ctx, s, w, done, nil, o, nil, err)
	}
	p, ds := s.check(ctx, script, s.e.reg.CheckWork, said)
	if p == nil {
		if len(ds) == 1 && ds[0].Code == CodeNamesUnread {
			return done, &Failure{Err: errors.New("the rows that a job is about could not be read")}
		}
		return e.giveUp(ctx, run, done.Verb, reasonOther)
	}
	if all := permit(p, s.rights.roles, e.verbs, true); len(all) > 0 {
		return refuseWork(ctx, s, w, done, p, o, refuse(all))
	}
	if mayAsk(s, p) {
		waiting, asked, err := askWork(ctx, s, w, done, script, p, o)
		if err != nil || asked {
			return worked(ctx, s, w, waiting, p, o, script, err)
		}
	}
	r, err := s.attempts(ctx, p, &runOptions{opt: o, job: w, answers: w.answers})
	if err != nil {
		return worked(ctx, s, w, done, p, o, script, err)
	}
	if r.skipped != "" {
		return skipWork(ctx, s, w, done, script, r.skipped)
	}
	if r.repeated != nil {
		// It has taken effect already. A job is completed with its effect, so somebody
		// put this one back by hand.
		return done, e.endWork(ctx, stores.Batch{Settled: []stores.Settlement{ends(run, stores.JobDone, e.opt.Clock(), "")}}, &done, WorkDone)
	}
	done.Outcome = WorkDone
	done.Seq, _ = r.journalled()
	return done, nil
}

// worked turns the end of a run into its outcome.
func worked(ctx context.Context, s *Session, w *work, done Worked, p *verbs.Program, o RunOptions, script *dsl.Script, err error) (Worked, error) {
	var refusal *Refusal
	switch {
	case err == nil:
		return done, nil
	case errors.Is(err, errRowGone):
		return skipWork(ctx, s, w, done, script, reasonRowGone)
	case errors.As(err, &refusal) && refusal.Diagnostics[0].Code == CodeToolSilent:
		return done, failure(err) // which is no refusal, and passes
	case errors.As(err, &refusal) && refusal.Diagnostics[0].Code != CodeChangedMeanwhile && refusal.Diagnostics[0].Code != CodeNeedsAgreement:
		return refuseWork(ctx, s, w, done, p, o, refusal)
	}
	return done, failure(err)
}

// readWork reads a payload with the present palettes, or says why it cannot. The error is
// stores.ErrVersion.
func readWork(reg *verbs.Registry, run stores.Run) (*work, string, error) {
	var p struct {
		V             int
		Verb, Trigger string
		Args          []struct{ Name, Kind, Text, Entity string }
		Active        *takenAlong
	}
	if err := readJob(&run.Job, jobVersion, &p); errors.Is(err, stores.ErrVersion) {
		return nil, "", err
	} else if err != nil {
		return nil, reasonUnreadable, nil
	}
	w := &work{run: run, verb: reg.Verb(p.Verb)}
	if w.verb == nil {
		return nil, reasonOther, nil
	}
	for i := range w.verb.Effects {
		if x := &w.verb.Effects[i]; x.Kind == verbs.Triggers && x.Run != nil && noticeTarget(x) == p.Trigger {
			w.effect = x
		}
	}
	if w.effect == nil {
		return nil, reasonOther, nil
	}
	w.args, w.refs = make([]stores.Value, len(w.verb.Params)), make([]*stores.Entity, len(w.verb.Params))
	w.from = slices.Repeat([]verbs.Origin{verbs.NewOrigin(verbs.FromScript, "")}, len(w.verb.Params))
	if a := p.Active; a != nil {
		if reg.Entity(a.Entity) == nil {
			return nil, reasonOther, nil
		}
		var ok bool
		if w.active, ok = a.read(); !ok {
			return nil, reasonUnreadable, nil
		}
	}
	came := strings.Split(run.Origins, ";")
	for n, a := range p.Args {
		i := slices.IndexFunc(w.verb.Params, func(p verbs.Param) bool { return p.Name == a.Name })
		kind, known := kindNamed(a.Kind)
		if !known {
			return nil, reasonUnreadable, nil
		}
		v, ok := stores.Parse(kind, a.Text)
		if i >= 0 && ok {
			v = codesNow(w.verb.Params[i].Type, v)
		}
		switch {
		case !ok:
			return nil, reasonUnreadable, nil
		case i < 0, gone(w.verb.Params[i].Type, v):
			return nil, reasonOther, nil
		}
		w.args[i], w.from[i] = v, ofDocument // the least trusted origin, if it cannot be read
		if n < len(came) {
			if o, err := verbs.ParseOrigin(came[n]); err == nil && len(came) == len(p.Args) {
				w.from[i] = o
			}
		}
		if a.Entity != "" {
			entity := reg.Entity(a.Entity)
			if entity == nil {
				return nil, reasonOther, nil
			}
			w.refs[i] = entity.Store
		}
	}
	return w, "", nil
}

// codesNow replaces the codes of a value by their present names.
func codesNow(t *verbs.Type, v stores.Value) stores.Value {
	switch {
	case t == nil:
	case t.Name == verbs.CodeType && t.Codes != nil:
		f := stores.Field{Kind: stores.String, WasCodes: t.Codes.Was()}
		return f.Now(v)
	case t.Name == verbs.ListType && t.Item != nil && t.Item.Name == verbs.CodeType && t.Item.Codes != nil:
		f := stores.Field{Kind: stores.JSON, Elem: stores.String, WasCodes: t.Item.Codes.Was()}
		return f.Now(v)
	}
	return v
}

// gone reports whether a value is a code that its list does not have any more.
func gone(t *verbs.Type, v stores.Value) bool {
	return t != nil && t.Name == verbs.CodeType && t.Codes != nil && !slices.Contains(t.Codes.Names(), v.Text())
}

func kindNamed(name string) (stores.Kind, bool) {
	for _, k := range []stores.Kind{stores.String, stores.Int, stores.Decimal, stores.Bool, stores.Date, stores.Time, stores.Duration, stores.UUID, stores.JSON} {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// workScript writes the call of a job, in the names of the session.
func workScript(ctx context.Context, s *Session, w *work, source string) (*dsl.Script, verbs.Literals, error) {
	values := make([]dsl.Value, len(w.args))
	err := s.e.store.View(ctx, s.scope, func(r stores.Reader) error {
		for i, v := range w.args {
			t := w.verb.Params[i].Type
			var err error
			switch {
			case v.IsNull():
				values[i] = dsl.NewNil()
			case w.refs[i] != nil:
				values[i], err = workName(ctx, s, r, s.e.reg.Entity(w.refs[i].Name), v)
			default:
				values[i], err = asSaid(t, v, func(e *verbs.Entity, key stores.Value) (dsl.Value, error) { return workName(ctx, s, r, e, key) })
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, verbs.Literals{}, err
	}
	var came []verbs.Origin
	call := w.fill(dsl.NewNested(w.effect.Run.Script.Calls[0]), values, &came).Call()
	call.As = ""
	if w.active.Entity != "" {
		if err := s.e.store.View(ctx, s.scope, func(r stores.Reader) error { return setToWork(ctx, s, r, w, call, &came) }); err != nil {
			return nil, verbs.Literals{}, err
		}
	}
	script, ds := dsl.Parse(dsl.NewSource(source, dsl.FormatCall(call)+"\n"))
	if ds.HasErrors() {
		return nil, verbs.Literals{}, &Failure{Err: fmt.Errorf("the work of %s cannot be written: %s", w.verb.Name, inWords(ds))}
	}
	said, _ := verbs.ReadLiterals(verbs.EncodeOrigins(came), script) // on an error, everything is a document's
	return script, said, nil
}

// workName names a row that a job refers to.
func workName(ctx context.Context, s *Session, r stores.Reader, e *verbs.Entity, key stores.Value) (dsl.Value, error) {
	if err := s.nameKeys(ctx, r, e, []stores.Value{key}); err != nil {
		return dsl.Value{}, err
	}
	row, there := s.names.Row(e.Store, key)
	if !there {
		return dsl.Value{}, errRowGone
	}
	return dsl.NewSymbol(row.Kept), nil
}

// fill replaces the names of arguments by their values, and notes the origin of each value of the
// call, in order. A value that the palette wrote has the origin of its author.
func (w *work) fill(v dsl.Value, values []dsl.Value, came *[]verbs.Origin) dsl.Value {
	switch v.Kind {
	case dsl.Symbol:
		name, path, _ := strings.Cut(v.Text, ".")
		for i := range w.verb.Params {
			if !sameWord(w.verb.Params[i].Name, name) {
				continue
			}
			out := values[i]
			if path != "" && out.Kind == dsl.Symbol {
				out = dsl.NewSymbol(out.Text + "." + path)
			}
			for range leaves(out) {
				*came = append(*came, w.from[i])
			}
			return out
		}
	case dsl.Nested:
		inner := *v.Call()
		inner.Args = slices.Clone(inner.Args)
		for i := range inner.Args {
			inner.Args[i].Value = w.fill(inner.Args[i].Value, values, came)
		}
		return dsl.NewNested(inner)
	case dsl.List:
		items := slices.Clone(v.Items())
		for i := range items {
			items[i] = w.fill(items[i], values, came)
		}
		return dsl.NewList(items...)
	case dsl.Map:
		entries := slices.Clone(v.Entries())
		for i := range entries {
			entries[i].Value = w.fill(entries[i].Value, values, came)
		}
		return dsl.NewMap(entries...)
	}
	*came = append(*came, verbs.NewOrigin(verbs.FromScript, ""))
	return v
}

// leaves counts the single values in a value.
func leaves(v dsl.Value) int {
	n := 0
	switch v.Kind {
	case dsl.List:
		for _, item := range v.Items() {
			n += leaves(item)
		}
	case dsl.Map:
		for _, entry := range v.Entries() {
			n += leaves(entry.Value)
		}
	default:
		n = 1
	}
	return n
}

// pointless evaluates the trigger's `unless` on the present rows, and returns why the job is
// pointless; "" if it is not. Its reads are not part of the call's plan.
func (w *work) pointless(ctx context.Context, s *Session, read stores.Reader, now time.Time) (reason string, err error) {
	look := sourceAt(s, view.Direct(read, nil, nil), now)
	st := &step{verb: w.verb, args: arguments{values: w.args, from: w.from, rows: make([]stores.Row, len(w.args))}}
	for i, e := range w.refs {
		if e == nil {
			continue
		}
		row, err := look.get(ctx, nil, e, w.args[i])
		if errors.Is(err, stores.ErrNotFound) {
			return reasonRowGone, nil
		}
		if err != nil {
			return "", err
		}
		st.args.rows[i] = row
	}
	holds, err := look.holds(ctx, st, w.effect.When, nil)
	if err == nil && holds && w.effect.Unless != nil {
		holds, err = look.holds(ctx, st, w.effect.Unless, nil)
		holds = !holds
	}
	switch {
	case err != nil && isStoreError(err):
		return "", err
	case err != nil || !holds:
		return reasonNoPoint, nil
	}
	return "", nil
}

// mayAsk reports whether a program may have to ask somebody first.
func mayAsk(s *Session, p *verbs.Program) bool {
	calls := p.Calls()
	for i := range calls {
		if s.e.verbs[calls[i].Verb].uses(func(v *verbs.Verb) bool { return len(v.Confirm) > 0 }) {
			return true
		}
	}
	return false
}

// askWork rehearses a job whose call may need agreements. If it does, it is proposed, and waits
// for all of them, its own principal's included.
func askWork(ctx context.Context, s *Session, w *work, done Worked, script *dsl.Script, p *verbs.Program, o RunOptions) (Worked, bool, error) {
	err := s.e.store.View(ctx, s.scope, func(read stores.Reader) (err error) {
		done.Reason, err = w.pointless(ctx, s, read, stores.NewTime(s.e.opt.Clock()).Time())
		return err
	})
	if err != nil {
		return done, true, err
	}
	if done.Reason != "" {
		done, err = skipWork(ctx, s, w, done, script, done.Reason)
		return done, true, err
	}
	t := dryRun(RunOptions{})
	t.job = w
	r, err := s.attempts(ctx, p, t)
	if err != nil {
		return done, true, err
	}
	if r.skipped != "" {
		done, err = skipWork(ctx, s, w, done, script, r.skipped)
		return done, true, err
	}
	others, mine := r.unanswered()
	w.answers = answersOf(r, 0, true)
	if len(others)+len(mine) == 0 {
		return done, false, nil
	}
	r.own.Settled = []stores.Settlement{ends(w.run, stores.JobDone, r.src.now, "")}
	c, err := s.propose(ctx, r, &runOptions{opt: o, job: w}, append(others, mine...), false)
	if err != nil {
		return done, true, s.finalError(p, err)
	}
	done.Outcome, done.Pending, done.Reason = WorkWaiting, c.ID, CodeNeedsAgreement
	return done, true, nil
}

// skipWork ends a job that has become pointless, and journals that.
func skipWork(ctx context.Context, s *Session, w *work, done Worked, script *dsl.Script, reason string) (Worked, error) {
	entry := stores.Entry{Time: s.e.opt.Clock(), Principal: s.who.Name, Session: s.id, Source: "job " + w.run.ID, Verb: done.Verb,
		Outcome: outcomeSkipped, Reason: reason, Palette: s.e.reg.Digest(), Roles: roleNames(s)}
	var b stores.Batch
	if v := s.e.reg.Verb(done.Verb); script != nil && v != nil {
		c := writtenCall(s.e, nil, &script.Calls[0], nil)
		if err := tellCall(s.e, &b, entry, journaledCall{verb: v, syntax: c, text: dsl.FormatCall(c)}); err != nil {
			return done, err
		}
	} else {
		b.Entries = append(b.Entries, entry)
	}
	done.Reason = reason
	b.Settled = []stores.Settlement{ends(w.run, stores.JobDone, s.e.opt.Clock(), reason)}
	err := s.e.endWork(ctx, b, &done, WorkSkipped)
	return done, err
}

// refuseWork ends a job that was refused: an operator may try it again.
func refuseWork(ctx context.Context, s *Session, w *work, done Worked, p *verbs.Program, o RunOptions, refusal *Refusal) (Worked, error) {
	done.Outcome, done.Reason = WorkRefused, refusal.Diagnostics[0].Code
	err := refusalOf(ctx, s, p, o, refusal, ends(w.run, stores.JobDead, s.e.opt.Clock(), done.Reason))
	var failed *Failure
	if errors.As(err, &failed) {
		return done, err
	}
	return done, nil
}

// giveUp ends a job whose payload cannot be read.
func (e *Engine) giveUp(ctx context.Context, run stores.Run, verb, reason string) (Worked, error) {
	done := Worked{Verb: verb, Reason: reason}
	entry := stores.Entry{Time: e.opt.Clock(), Principal: run.Principal, Source: "job " + run.ID, Verb: verb, Outcome: outcomeRefused, Reason: reason, Palette: e.reg.Digest()}
	err := e.endWork(ctx, stores.Batch{Entries: []stores.Entry{entry}, Settled: []stores.Settlement{ends(run, stores.JobDead, e.opt.Clock(), reason)}}, &done, WorkRefused)
	return done, err
}

// endWork commits the outcome of a run that had no effect.
func (e *Engine) endWork(ctx context.Context, b stores.Batch, done *Worked, outcome string) error {
	ctx, end := stores.Detached(ctx)
	defer end()
	var last stores.Tx
	err := writeTo(ctx, e, stores.Scope{All: true}, func(tx stores.Tx) error {
		last = tx
		return tx.Apply(ctx, b)
	})
	if err != nil {
		return failure(err)
	}
	done.Outcome, done.Seq = outcome, firstSeq(last)
	return nil
}

// firstSeq returns the number of the first journal entry of a committed transaction.
func firstSeq(tx stores.Tx) int64 {
	if entries := tx.Numbered(); len(entries) > 0 {
		return entries[0].Seq
	}
	return 0
}

// confirmationOf reads the key of the confirmation that a job is about. It is "" where
// there is nothing to be read: the job has ended then, or cannot yet be done here.
func (e *Engine) confirmationOf(ctx context.Context, run stores.Run, verb string) (id string, done Worked, err error) {
	var p struct {
		V            int
		Confirmation string
	}
	if err = readJob(&run.Job, jobVersion, &p); errors.Is(err, stores.ErrVersion) {
		return "", Worked{Verb: verb}, &Failure{Err: err}
	} else if err != nil || p.Confirmation == "" {
		done, err = e.giveUp(ctx, run, verb, reasonUnreadable)
		return "", done, err
	}
	return p.Confirmation, Worked{Verb: verb}, nil
}

// workExpire ends a confirmation that nobody decided in time.
func (e *Engine) workExpire(ctx context.Context, run stores.Run) (Worked, error) {
	id, done, err := e.confirmationOf(ctx, run, verbExpire)
	if id == "" {
		return done, err
	}
	var last stores.Tx
	err = writeTo(ctx, e, stores.Scope{Principal: run.Principal, All: true}, func(tx stores.Tx) error {
		last = tx
		now := stores.NewTime(e.opt.Clock()).Time()
		done.Outcome, done.Reason = WorkDone, ""
		b := stores.Batch{Settled: []stores.Settlement{ends(run, stores.JobDone, now, "")}}
		c, err := confirmations.Get(ctx, tx, stores.NewString(id))
		switch {
		case err != nil:
			return err
		case c == nil:
			done.Outcome, done.Reason = WorkSkipped, reasonRowGone
		case c.Status != confirmations.Waiting:
			done.Outcome, done.Reason = WorkSkipped, reasonNoPoint
		case now.Before(c.Expires):
			// The store's clock is ahead of this one, and nothing may expire early: the job is
			// tried again when this clock has come as far.
			there, err := e.store.Clock(ctx)
			if err != nil {
				return err
			}
			b.Settled[0] = stores.Settlement{Run: run, State: stores.JobWaiting, At: there.Add(c.Expires.Sub(now)), Free: true}
			done.Outcome = WorkWaiting
		default:
			b.Changes = append(b.Changes, c.Settle(writtenScript(e, c), confirmations.Expired, "", "", now))
			b.Jobs = decided(e, c, confirmations.Expired, "", "", now)
			b.Entries = append(b.Entries, e.expired(c, "job "+run.ID, now))
		}
		return tx.Apply(ctx, b)
	})
	if err != nil {
		return done, failure(err)
	}
	done.Seq = firstSeq(last)
	return done, nil
}
