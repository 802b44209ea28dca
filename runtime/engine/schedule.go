package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A job is shown as the call that it will make. A palette may name arguments that form its
// correlation key. The plan then looks for a waiting job with the same key, so that the
// preview says which job would be replaced, and an agreement covers that.

// later looks for waiting jobs with the correlation keys of the jobs that a call schedules.
func later(ctx context.Context, r *run, st *step) error {
	for i := range st.out.notices {
		n := &st.out.notices[i]
		if n.effect == nil || n.effect.Run == nil {
			continue
		}
		if c := keepsNoSecret(st, n.effect); c != nil {
			return c
		}
		if err := takeAlong(ctx, r.src, st, n); err != nil {
			return err
		}
		if len(n.effect.Key) == 0 {
			continue
		}
		n.unique = workKey(r.src, st, n)
		if n.effect.Again == verbs.Keep {
			continue
		}
		if before := earlierNotice(r, n); before != nil {
			// Of the same script, and not handed over yet.
			if n.effect.Again == verbs.Refuse {
				return st.refuse("already-waits", st.verb.Name, stamp(moment(r.src, before.at)))
			}
			n.instead = []stores.JobRecord{{Job: stores.Job{ID: fmt.Sprintf("call %d", before.call+1)}}}
			continue
		}
		waiting, err := r.src.read.Jobs(ctx, *waitingUnder(n.unique))
		if err != nil {
			return err
		}
		// A running job may schedule its own successor.
		if s := r.own.Settled; len(s) > 0 && len(waiting) > 0 && waiting[0].ID == s[0].Run.ID {
			continue
		}
		if n.effect.Again == verbs.Refuse && len(waiting) > 0 {
			return st.refuse("already-waits", st.verb.Name, stamp(waiting[0].At))
		}
		n.instead = waiting
	}
	return nil
}

// waitingUnder makes the filter for the job that waits under a correlation key.
func waitingUnder(unique string) *stores.JobFilter {
	return &stores.JobFilter{Kinds: []string{JobCall}, Unique: unique}
}

// keepsNoSecret refuses a job that would hold a sensitive value: operators and backups see
// jobs until their time, and longer if they fail. A palette that passes a sensitive argument
// to a job does not load. Values from other calls and from names are known only now.
func keepsNoSecret(st *step, e *verbs.Effect) *callError {
	for i := range st.args.sensitive {
		if st.args.sensitive[i] && !st.args.values[i].IsNull() && e.WorkTakes(st.verb, i) {
			return st.refuse("secret-would-wait", st.verb.Name, st.verb.Params[i].Name)
		}
	}
	return nil
}

// An earlierWork is a job that an earlier call of the same run schedules.
type earlierWork struct {
	*notice
	call int
}

// earlierNotice finds a job of this run with the same correlation key.
func earlierNotice(r *run, n *notice) *earlierWork {
	for i := len(r.plan.steps) - 1; i >= 0; i-- {
		for j := range r.plan.steps[i].out.notices {
			if m := &r.plan.steps[i].out.notices[j]; m != n && m.unique == n.unique {
				return &earlierWork{m, r.plan.steps[i].call.index}
			}
		}
	}
	return nil
}

// moment turns a value into an instant: a date into its first instant, null into now.
func moment(r *source, at stores.Value) time.Time {
	switch at.Kind() {
	case stores.Date:
		return dayStart(at.Time(), r.e.opt.Zone)
	case stores.Time:
		return at.Time()
	}
	return r.now
}

// workKey returns the correlation key of a job: if it names a row, the same for everybody,
// and otherwise for one principal.
func workKey(r *source, st *step, n *notice) string {
	var d digester
	d.Text("verbatim work key 1")
	d.Text(st.verb.Name)
	d.Text(n.target)
	if !n.effect.Shared(st.verb) {
		d.Text(r.s.who.Name)
	}
	for _, i := range n.effect.Key {
		if e := st.args.rows[i].Entity; e != nil {
			d.Text(e.Name)
		}
		d.Value(st.args.values[i])
	}
	return d.Hex()[:32]
}

// onceUnder says what happens to a job if another one has its correlation key.
func (n *notice) onceUnder() stores.Again {
	if n.unique == "" {
		return stores.KeepOther // the same work for the same moment
	}
	return [...]stores.Again{verbs.Replace: stores.ReplaceOther, verbs.Refuse: stores.RefuseAnother, verbs.Keep: stores.KeepOther}[n.effect.Again]
}

// callOf writes the job of a notice as a call, in the names of the session.
func callOf(r *source, st *step, n *notice) string {
	if n.effect == nil || n.effect.Run == nil {
		return n.says
	}
	w := &work{verb: st.verb, from: st.args.from}
	values := make([]dsl.Value, len(st.args.values))
	for i, v := range st.args.values {
		values[i] = shownArgument(r, st, i, v)
	}
	var came []verbs.Origin
	call := w.fill(dsl.NewNested(n.effect.Run.Script.Calls[0]), values, &came).Call()
	call.As = ""
	fillActive(r, n, call)
	return dsl.FormatCall(call)
}

// shownArgument writes an argument as people are shown it.
func shownArgument(r *source, st *step, i int, v stores.Value) dsl.Value {
	t := st.verb.Params[i].Type
	name := func(e *stores.Entity, key stores.Value) dsl.Value {
		if shown := r.shownName(e, key); strings.HasPrefix(shown, "@") || shown == newRow {
			return dsl.NewSymbol(strings.TrimPrefix(shown, "@"))
		}
		return dsl.NewString(hidden)
	}
	switch {
	case v.IsNull():
		return dsl.NewNil()
	case st.isSensitive(i) || st.verb.Params[i].Sensitive:
		return dsl.NewString("(not shown)")
	case st.args.rows[i].Entity != nil:
		return name(st.args.rows[i].Entity, v)
	}
	said, err := asSaid(t, v, func(e *verbs.Entity, key stores.Value) (dsl.Value, error) { return name(e.Store, key), nil })
	if err != nil {
		said = verbs.AsLiteral(v)
	}
	return said
}

// Verbs look after failed jobs: a handler reads them through its Call and returns JobChanges,
// the palette promises them with "stores: verbatim.job", and the engine makes them in the
// transaction of the journal entry.

// jobPromise is the operand of the effect by which a palette promises that a verb
// tries jobs again or drops them.
const jobPromise = "verbatim.job"

func changesJobs(e *verbs.Effect) bool {
	return e.Kind == verbs.Stores && e.Entity == nil && e.Operand.Text == jobPromise
}

// A JobChange is a change that a handler asks for to a job at rest. Make it with Retry or DropJob.
type JobChange struct {
	Job  stores.JobRecord
	Drop bool
}

// Retry makes a dead or waiting job due at once, with at least one more attempt.
func Retry(job stores.JobRecord) JobChange { return JobChange{Job: job} }

// DropJob removes a dead or waiting job for good.
func DropJob(job stores.JobRecord) JobChange { return JobChange{Job: job, Drop: true} }

// Jobs lists the jobs of all principals, as the transaction sees them. They hold values of
// those principals: a handler should tell no more of them than JobSubject does.
func (c *Call) Jobs(ctx context.Context, f stores.JobFilter) ([]stores.JobRecord, error) {
	leave, err := c.reads.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return c.r.read.Jobs(ctx, f)
}

// JobSubject says what a job is about, without values: the verb and trigger that scheduled
// it, or the addressee of a notice.
func JobSubject(j *stores.Job) string {
	var p struct{ Verb, Trigger, Target string }
	if json.Unmarshal([]byte(j.Payload), &p) != nil {
		return ""
	}
	if p.Target != "" {
		return p.Target
	}
	return strings.Trim(p.Verb+" "+p.Trigger, " ")
}

func jobChangeOf(c JobChange) receipt.JobChange {
	j := &c.Job
	return receipt.JobChange{ID: j.ID, Kind: j.Kind, What: JobSubject(&j.Job), Principal: j.Principal, State: j.State.String(), Attempt: j.Attempt, Note: j.Note, Drop: c.Drop}
}

func jobChangeText(t *receipt.JobChange) string {
	if t.Drop {
		return "a job was to be dropped"
	}
	return "a job was to be tried again"
}

// asSaid writes a value as a script would, where name returns the name of a row.
func asSaid(t *verbs.Type, v stores.Value, name func(e *verbs.Entity, key stores.Value) (dsl.Value, error)) (dsl.Value, error) {
	var items []stores.Value
	var err error
	switch {
	case t == nil || v.IsNull():
		return verbs.AsLiteral(v), nil
	case t.Name == verbs.RefType && t.Entity != nil:
		return name(t.Entity, v)
	case t.Name == verbs.RecordType:
		parts, ok := t.Parts(v)
		if !ok {
			return verbs.AsLiteral(v), nil
		}
		var entries []dsl.Arg
		for i := range parts {
			if parts[i].IsNull() {
				continue
			}
			part, err := asSaid(t.Fields[i].Type, parts[i], name)
			if err != nil {
				return part, err
			}
			entries = append(entries, dsl.NewArg(t.Fields[i].Name, part))
		}
		return dsl.NewMap(entries...), nil
	case t.Name != verbs.ListType || t.Item == nil:
		return verbs.AsLiteral(v), nil
	case t.Item.Name == verbs.RefType && t.Item.Entity != nil:
		e := t.Item.Entity.Store
		items, err = v.Items(e.Fields[e.Key].Kind)
	case t.Item.Name == verbs.RecordType:
		items, err = v.Items(stores.JSON)
	default:
		return verbs.AsLiteral(v), nil
	}
	all := make([]dsl.Value, len(items))
	for i := range items {
		if err == nil {
			all[i], err = asSaid(t.Item, items[i], name)
		}
	}
	return dsl.NewList(all...), err
}

// jobOf turns a notice into a job: a call, or a message to deliver.
func jobOf(r *run, st *step, n *notice) stores.Job {
	switch {
	case n.again != nil:
		again := *n.again
		again.ID = r.src.e.opt.NewID()
		return again
	case n.effect == nil || n.effect.Run == nil:
		return r.src.e.message(n.kind, n.target, r.src.now, r.src.s.who.Name, r.outgoing(st, n), about(st)...)
	}
	due := moment(r.src, n.at)
	var args []stores.Value
	var came []string
	for i := range st.args.values {
		p := &st.verb.Params[i]
		if p.Sensitive || st.isSensitive(i) || st.args.values[i].IsNull() {
			continue // the work does not speak of it: see keepsNoSecret, and the loader
		}
		keys := []string{"kind", "name", "text"}
		values := []stores.Value{stores.NewString(st.args.values[i].Kind().String()), stores.NewString(p.Name), stores.NewString(st.args.values[i].Text())}
		if st.args.rows[i].Entity != nil {
			keys, values = append(keys, "entity"), append(values, stores.NewString(st.args.rows[i].Entity.Name))
		}
		args, came = append(args, stores.NewObject(keys, values)), append(came, st.args.from[i].String())
	}
	keys := []string{"args", "trigger", "v", "verb"}
	values := []stores.Value{stores.NewList(args...), stores.NewString(n.target), jobV, stores.NewString(st.verb.Name)}
	if n.active.Entity != "" {
		keys, values = slices.Insert(keys, 0, "active"), slices.Insert(values, 0, along(n.active))
	}
	payload := stores.NewObject(keys, values).Text()
	unique := n.unique
	if unique == "" { // the same work for the same moment is waited for once
		same := sha256.Sum256([]byte(r.src.s.who.Name + "\x00" + stores.NewTime(due).Text() + "\x00" + payload))
		unique = fmt.Sprintf("%x", same[:16])
	}
	return stores.Job{ID: r.src.e.opt.NewID(), Kind: JobCall, Payload: payload, At: due, Principal: r.src.s.who.Name,
		Origins: strings.Join(came, ";"), // parallel to args
		Unique:  unique, Again: n.onceUnder(), Attempts: n.effect.Retry.Tries()}
}

// takeAlong notes the row at work that a job takes along.
func takeAlong(ctx context.Context, r *source, st *step, n *notice) error {
	if !looksAtWork(r.e, &n.effect.Run.Script.Calls[0]) {
		return nil
	}
	kept, err := r.session(ctx)
	if err != nil {
		return err
	}
	v := r.s.active // of a piece of work that leads to the next
	if kept != nil {
		v = kept.Values[verbs.SessionActive]
		st.sawSession(verbs.SessionActive, v)
	}
	e := r.e.reg.Entity(v.Entity)
	if v.Sensitive || e == nil {
		return nil
	}
	n.active = v
	_, err = r.nameRow(ctx, e, v.Value())
	return err
}

// looksAtWork reports whether a call, or a call inside it, leaves such an argument out.
func looksAtWork(e *Engine, call *dsl.Call) bool {
	if len(leavesOut(e, call)) > 0 {
		return true
	}
	for i := range call.Args {
		if inner := call.Args[i].Value.Call(); inner != nil && looksAtWork(e, inner) {
			return true
		}
	}
	if v := e.reg.Verb(call.Verb); v != nil && e.verbs[v].script != nil {
		calls := e.verbs[v].script.Calls()
		for i := range calls {
			if looksAtWork(e, calls[i].Syntax) {
				return true
			}
		}
	}
	return false
}

// leavesOut lists the arguments of a call that are left out and stand for the row at work.
func leavesOut(e *Engine, call *dsl.Call) (all []*verbs.Param) {
	v := e.reg.Verb(call.Verb)
	if v == nil {
		return nil
	}
	for i := range v.Params {
		p := &v.Params[i]
		if p.Active && p.Type.Entity != nil && !slices.ContainsFunc(call.Args, func(a dsl.Arg) bool { return sameWord(a.Key, p.Name) }) {
			all = append(all, p)
		}
	}
	return all
}
