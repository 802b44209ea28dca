package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"verbatim/dsl"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Limits of one run: far above what people ask for, and low enough to stop macros that call
// one another without end.
const (
	maxMacroDepth = 8    // macros inside macros
	maxMacroCalls = 1000 // made by one call of the script
)

// A run is one attempt at a program.
type run struct {
	src   *source
	phase Phase
	plan  plan
	own   stores.Batch // the engine's own rows about this run, notices about what it decided, and settled jobs
	met   metSoFar

	listen   listener
	of       []*step          // those with a journal entry, parallel to the entries
	standing []StandingRule   // of the principal, if the program was written by a model that nobody heard
	agreedBy string           // who else agreed, and in which role
	repeated *receipt.Receipt // of the earlier run with the same key
	skipped  string           // why its job has become pointless
	scratch  []byte           // for seals
}

// A plan is what a run comes to: the steps of its program, their digest, and what it waits for.
type plan struct {
	prog *verbs.Program
	part *part // what it knows of the parts before it; nil for a whole program

	top   []*step // parallel to prog.Calls()
	steps []*step // every call carried out, those of macros included, in order
	rest  []int   // calls that were not planned because one before them was refused

	called   []*newNames    // the names of new rows, by entity
	receipts []receipt.Call // parallel to written; nil before makeReceipts
	digest   [32]byte
	id       string
	unsealed bool // its digest is worked out on demand

	external *externalCall // an unanswered request that changes something on another server
	needs    *externalCall // a request whose answer the plan needs before it can go on
}

// A metSoFar is what checks of calls remember of the calls before them.
type metSoFar struct {
	calls  map[metCall]bool         // that exclude others
	untold *verbs.Verb              // of the first call whose result this preview hides
	uses   map[stores.Value]*useLog // of verbs that have limits
}

// A listener is told how far a run is.
type listener struct {
	tell        func(Progress) // nil where nobody listens
	done, total int            // calls carried out
}

// program carries out the calls of a frame in the order of their bindings. It stops at a
// request that a tool has to answer first.
func (r *run) program(ctx context.Context, f *frame) (*externalCall, error) {
	calls, order := f.prog.Calls(), f.prog.Order()
	f.steps = make([]*step, len(calls))
	if r.plan.part != nil && f.macro == nil {
		copy(f.steps, r.plan.part.before)
	}
	for at, i := range order {
		if f.steps[i] != nil {
			continue // it is committed
		}
		st, needs, err := r.callOften(ctx, f, i)
		if err != nil || needs != nil {
			if f.macro == nil {
				r.plan.rest = order[at+1:]
			}
			return needs, err
		}
		f.steps[i] = st
		if f.macro == nil {
			r.progress(i)
		}
	}
	return nil, nil
}

// callOften makes a call once or, inside a macro with for-each, once for each item of a list.
// It returns the last step, nil for an empty list.
func (r *run) callOften(ctx context.Context, f *frame, i int) (st *step, needs *externalCall, err error) {
	if !f.prog.Calls()[i].Each {
		return r.call(ctx, f, i)
	}
	of, _ := f.macro.verb.Macro.ForEach()
	items, err := r.items(f.macro, of)
	if err != nil {
		return nil, nil, err
	}
	if r.plan.top[f.macro.call.index].tree.made+int32(len(items)) > maxMacroCalls { // known before the first is made
		return nil, nil, &callError{f.macro.call.index, tell(f.macro.call.place, "too-much/calls", f.macro.verb.Name)}
	}
	defer func() { f.macro.sees.each = eachOf{} }()
	for at, item := range items {
		f.macro.sees.each = eachOf{item: item, at: at}
		if st, needs, err = r.call(ctx, f, i); err != nil || needs != nil {
			break
		}
	}
	return st, needs, err
}

// items returns the items of a list argument; none if it was left out.
func (r *run) items(st *step, param int) ([]stores.Value, error) {
	if st.args.values[param].IsNull() {
		return nil, nil
	}
	t := st.verb.Params[param].Type.Item
	kind := kindOf(t.Name)
	if t.Name == verbs.RefType && t.Entity != nil {
		kind = t.Entity.Store.Fields[t.Entity.Store.Key].Kind
	}
	items, err := st.args.values[param].Items(kind)
	if err != nil {
		return nil, st.refuse("wrong-value", st.verb.Params[param].Name, "a list is wanted")
	}
	return items, nil
}

// beginCall makes the step of a call.
func (r *run) beginCall(f *frame, i int) *step {
	c := &f.prog.Calls()[i]
	st := &step{verb: c.Verb, prep: r.src.e.verbs[c.Verb], call: spelling{index: i}}
	if order := f.prog.Order(); f.macro == nil {
		st.call.place = placeOf(f.prog, c)
		st.tree.last, st.tree.alone = i == order[len(order)-1], len(f.prog.Calls()) == 1
	} else {
		// The calls of a macro are reported at the call in the script.
		st.tree.outer, st.call.index, st.call.place, st.tree.depth = f.macro, f.macro.call.index, f.macro.call.place, f.macro.tree.depth+1
	}
	outer := f.macro
	if f.made {
		outer = nil
	}
	st.call.syntax = writtenCall(r.src.e, f.prog, c.Syntax, outer)
	st.call.text = dsl.FormatCall(st.call.syntax)
	return st
}

func placeOf(p *verbs.Program, c *verbs.Call) dsl.Place {
	return dsl.Place{Source: p.Script().Source, Range: c.Syntax.Range}
}

// call takes one call from its arguments to changes in the transaction, or to a request that
// a tool has to answer first.
func (r *run) call(ctx context.Context, f *frame, i int) (*step, *externalCall, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	st := r.beginCall(f, i)
	r.plan.steps = append(r.plan.steps, st)
	if f.macro == nil {
		r.plan.top[i] = st
	} else {
		f.macro.tree.inner = append(f.macro.tree.inner, st)
	}
	written := r.plan.top[st.call.index]
	if written.tree.made++; written.tree.made > maxMacroCalls || st.tree.depth > maxMacroDepth {
		return nil, nil, st.refuse("too-much/calls", st.verb.Name)
	}
	needs, err := r.step(ctx, f, st, &f.prog.Calls()[i])
	if err != nil {
		return nil, nil, userError(st, err)
	}
	return st, needs, nil
}

// step takes a call through the steps, and its changes to the transaction that commits them. Permit has
// checked every call before anything began. It is asked again here, so that nothing relies on that
// alone.
func (r *run) step(ctx context.Context, f *frame, st *step, c *verbs.Call) (*externalCall, error) {
	if !permits(r.src.s.rights.roles, st.verb.Roles) {
		return nil, st.refuse("not-permitted", st.verb.Name)
	}
	if err := r.resolve(ctx, f, st, c); err != nil {
		return nil, err
	}
	if err := r.gate(ctx, f, st); err != nil {
		return nil, err
	}
	r.src.e.enter(StageExecute)
	if st.verb.Macro != nil {
		return r.macro(ctx, st)
	}
	promises, done, needs, err := r.execute(ctx, st)
	if err == nil && needs == nil {
		needs, err = r.verify(ctx, st, promises, &done)
	}
	if err != nil || needs != nil {
		return needs, err
	}
	return r.take(ctx, st, &done)
}

// resolve makes values and rows of the arguments of a call, between the checks of its verb.
func (r *run) resolve(ctx context.Context, f *frame, st *step, c *verbs.Call) error {
	if err := r.check(ctx, st, st.prep.checks.early); err != nil {
		return err
	}
	r.src.e.enter(StageResolve)
	if err := r.src.resolve(ctx, f, st, c); err != nil {
		return err
	}
	return r.check(ctx, st, st.prep.checks.late)
}

// gate works out who must agree to a call.
func (r *run) gate(ctx context.Context, f *frame, st *step) error {
	r.src.e.enter(StageGate)
	st.args.sealed = st.sealIn(&r.scratch)
	asks, err := gate(ctx, r.src, st)
	st.asks = append(st.asks, asks...) // behind what resolve asks of origins
	if err == nil && f.macro == nil && f.prog.Literals().Unheard {
		err = r.check(ctx, st, st.prep.checks.unheard)
	}
	return err
}

// execute works out what a call does, or returns the request whose answer that takes.
func (r *run) execute(ctx context.Context, st *step) (promises []promise, done outcome, needs *externalCall, err error) {
	if needs, err = r.need(ctx, st, st.prep.checks.needs); needs != nil || err != nil {
		return nil, done, needs, err
	}
	if promises, err = r.src.promises(ctx, st); err != nil {
		return nil, done, nil, err
	}
	for i := range promises {
		if promises[i].due {
			st.due = append(st.due, promises[i].effect)
		}
	}
	done, err = execute(ctx, r.src, st, promises)
	return promises, done, nil, err
}

// verify compares what a call does with what its verb promises, and makes jobs and files of it, or
// returns the request whose answer that takes.
func (r *run) verify(ctx context.Context, st *step, promises []promise, done *outcome) (*externalCall, error) {
	r.src.e.enter(StageVerify)
	if err := verify(st.verb, promises, done); err != nil {
		return nil, err
	}
	st.out.cells, st.out.notices, st.out.jobChanges, st.out.dropped = done.answer, done.notices, done.jobChanges, done.dropped
	return r.need(ctx, st, st.prep.checks.makes)
}

// check makes the checks of a verb that belong to one place among the steps.
func (r *run) check(ctx context.Context, st *step, all []check) error {
	for _, c := range all {
		if err := c(ctx, r, st); err != nil {
			return err
		}
	}
	return nil
}

// need returns the first request without whose answer a call cannot go on.
func (r *run) need(ctx context.Context, st *step, all []need) (*externalCall, error) {
	for _, n := range all {
		if e, err := n(ctx, r, st); e != nil || err != nil {
			return e, err
		}
	}
	return nil, nil
}

// take adds to the plan what a call was verified to do, with the calls that its handler makes.
func (r *run) take(ctx context.Context, st *step, done *outcome) (*externalCall, error) {
	if err := r.src.set(ctx, st, done.sets); err != nil {
		return nil, err
	}
	r.src.e.enter(StageApply)
	if err := r.apply(ctx, st, done.rowChanges); err != nil {
		return nil, err
	}
	for _, m := range done.calls {
		if e, err := r.program(ctx, &frame{prog: m.prog, macro: st, made: true}); e != nil || err != nil {
			return e, err
		}
	}
	return nil, nil
}

// macro carries out the script of a macro, with the rights of its caller: permit has checked its
// calls before anything began.
func (r *run) macro(ctx context.Context, st *step) (*externalCall, error) {
	inner := &frame{prog: st.prep.script, macro: st}
	if needs, err := r.program(ctx, inner); err != nil || needs != nil {
		return needs, err
	}
	if order := inner.prog.Order(); len(order) > 0 {
		if last := inner.steps[order[len(order)-1]]; last != nil {
			st.out.cells = last.out.cells
		}
	}
	return nil, verifyMacro(st.verb, st.gather())
}

// unchanged checks that a call has the arguments with which it passed the gate. It is asked
// before the call is carried out, and again before the commit.
func (r *run) unchanged(st *step) error {
	if st.sealIn(&r.scratch) != st.args.sealed {
		return &Failure{Err: fmt.Errorf("%s: its arguments changed after they passed the gate", st.verb.Name)}
	}
	return nil
}

// makePlan carries the program out in the transaction, and compares the outcome with what was
// agreed to. A preview is the same plan, in a transaction that is then rolled back: an overlay of
// planned rows would not hold SQLite's one writer meanwhile, but it would have to answer filters,
// counts and the palette author's own SQL as the database does, and would know nothing of its
// constraints. A preview must show exactly what will run, so the database itself executes it.
func (r *run) makePlan(ctx context.Context, o *runOptions, asked *externalAnswers) error {
	if err := r.src.checkVersion(ctx, o.opt.Version); err != nil {
		return err
	}
	if err := r.src.read.ReadAhead(ctx, wanted(r), predictedAsks(r)); err != nil {
		return err
	}
	var err error
	if r.plan.needs, err = r.program(ctx, &frame{prog: r.plan.prog}); err != nil || r.plan.needs != nil {
		return err
	}
	if err = r.nameReferences(ctx); err != nil {
		return err
	}
	if o.plain() && r.plan.external == nil && asked.sent == nil && !r.asksAnybody() {
		r.plan.unsealed = true // nobody saw a plan that it could differ from
	} else {
		r.makeReceipts()
		r.finish()
	}
	if r.plan.part != nil && r.plan.part.agreed != "" {
		r.plan.id = r.plan.part.agreed // the agreement is to the whole script
	}
	if o.dryRun || o.opt.Agreed != "" || o.pending != nil || r.asksAnybody() || r.plan.external != nil {
		// Previews, agreements and requests to tools rest on changes that the database
		// has accepted.
		if err := r.src.read.Flush(ctx); err != nil {
			return err
		}
	}
	switch {
	case o.dryRun:
		return nil
	case asked.sent != nil:
		if err := asked.sent.unchanged(r); err != nil {
			return err
		}
		return r.follow(ctx, asked.sent.call.id())
	}
	r.src.e.enter(StageAgreed)
	return r.agreed(ctx, o)
}

// follow carries out the effects that waited for a tool's answer. The rest of the plan has
// been compared with what was agreed to.
func (r *run) follow(ctx context.Context, id string) error {
	i := slices.IndexFunc(r.plan.steps, func(st *step) bool { return st.external != nil && st.external.id() == id })
	if i < 0 || len(r.plan.steps[i].external.Then) == 0 {
		return nil
	}
	st := r.plan.steps[i]
	st.follows = true
	promises, err := r.src.promises(ctx, st)
	if err != nil {
		return userError(st, err)
	}
	done := declared(promises)
	if err := verify(st.verb, promises, &done); err != nil {
		return err
	}
	before := st.out.changes
	if err := r.apply(ctx, st, done.rowChanges); err != nil {
		return userError(st, err)
	}
	st.out.changes, st.out.notices = append(before[:len(before):len(before)], st.out.changes...), append(st.out.notices, done.notices...)
	if err = r.nameReferences(ctx); err != nil {
		return err
	}
	r.makeReceipts()
	return nil
}

// waits returns the request that a tool has to answer before the run can go on or commit;
// nil if there is none.
func (r *run) waits() *externalCall {
	if r.plan.needs != nil {
		return r.plan.needs
	}
	if r.phase == Previewing {
		return nil // a preview tells of it
	}
	return r.plan.external
}

// written returns the steps of the script's own calls, as far as they were carried out.
func (r *run) written() []*step {
	if !slices.Contains(r.plan.top, nil) {
		return r.plan.top
	}
	return slices.DeleteFunc(slices.Clone(r.plan.top), func(st *step) bool { return st == nil })
}

// A step is one call that is being carried out.
type step struct {
	verb   *verbs.Verb
	prep   *prepared
	call   spelling
	args   arguments
	sees   within
	asks   []ask
	passed *StandingRule // that passed it; nil if none had to
	out    effects

	due []*verbs.Effect // the effects that its verb promises for these arguments

	external *externalCall // the request to a tool
	follows  bool          // the tool has answered, and the effects that wait for that are carried out

	tree      nesting
	resolving resolving
	reads     []readRow   // what was read for it, in order
	postponed []postponed // rows to be fetched together with its read
}

// refuse makes the error that refuses a call for a reason of messages.txt.
func (st *step) refuse(name string, args ...any) *callError {
	return &callError{st.call.index, tell(st.call.place, name, args...)}
}

// saw records rows that were read for a call; a nil step stands for no call.
func (st *step) saw(rows ...readRow) {
	if st != nil {
		st.reads = append(st.reads, rows...)
	}
}

// sawSession notes that a call depends on a value of the session.
func (st *step) sawSession(name string, v sessions.Value) {
	st.saw(readRow{entity: sessions.Entity, key: stores.NewString(name), paths: []stores.Path{{Field: sessions.FieldValues}}, values: []stores.Value{v.Value()}})
}

// reads goes over what a plan depends on.
func (p *plan) reads(yield func(*readRow) bool) {
	for _, st := range p.steps {
		for i := range st.reads {
			if !yield(&st.reads[i]) {
				return
			}
		}
	}
}

// uploads lists the files that calls of a plan use, each once.
func (p *plan) uploads() (all []usedUpload) {
	for _, st := range p.steps {
		for _, u := range st.args.uploads {
			if !slices.ContainsFunc(all, func(used usedUpload) bool { return used.row.Key() == u.row.Key() }) {
				all = append(all, u)
			}
		}
	}
	return all
}

// rowOfFile returns the first row that a plan puts the reference of an upload into; e is nil if there is
// none.
func (p *plan) rowOfFile(id string) (e *stores.Entity, key stores.Value) {
	reference := stores.NewString(verbs.UploadScheme + id)
	for _, st := range p.steps {
		for i := range st.out.changes {
			c := &st.out.changes[i]
			if slices.ContainsFunc(c.Set, func(a stores.Assign) bool { return a.Value == reference }) {
				return c.Entity, c.Key
			}
		}
	}
	return nil, key
}

// A spelling is a call as it was written.
type spelling struct {
	index  int       // in Program.Calls: of the call, or of the call of the macro that it belongs to
	place  dsl.Place // in the script that was run
	syntax *dsl.Call // as the journal keeps it: see written
	text   string    // canonical
}

// Arguments are the resolved arguments of a call. The slices are parallel to Verb.Params.
type arguments struct {
	values    []stores.Value
	rows      []stores.Row   // that references name
	from      []verbs.Origin // where they came from
	contents  []stores.Value // the digests of uploads; nil where none is an upload
	sensitive []bool         // taken from a sensitive value; nil when none was
	uploads   []usedUpload   // that nothing had used before
	files     []knownFile    // that are named
	cleared   uint64         // bits of the arguments that were given as nil, and not left out
	taken     uint64         // one bit for each argument: its value was taken from something sensitive, whatever its palette says
	sealed    [32]byte       // digest of verb and arguments when they passed the gate
}

// A within is what expressions of a call see beside its arguments.
type within struct {
	each        eachOf         // the row or item that an effect, or a call of a macro, is being worked out for
	added       []stores.Value // parallel to the effects of the verb, nil where none is named: the keys of the rows that they add
	disclosures []disclosure   // parallel to the verb's `discloses`; nil before any was needed
	matching    *matching      // the text that a read searches for; nil without one
}

// Effects are what a call did, once it was verified.
type effects struct {
	changes    []change
	notices    []notice
	sets       []setting        // values that it gave the session
	filled     []receipt.Filled // arguments that it left out, by key
	jobChanges []receipt.JobChange
	jobs       []stores.Job // of notices, once they are to be committed
	dropped    []stores.Job // jobs that it drops, where it can be taken back
	cells      *table
	seq        int64 // of its journal entry
}

// A nesting says which calls led to a call, and to which it led.
type nesting struct {
	inner []*step // of a macro
	outer *step   // the macro that it belongs to
	depth int32   // how many macros it stands in
	made  int32   // of a call in the script: the number of calls that it led to, itself included
	last  bool    // it is the last call of the script
	alone bool    // and the only one
}

// A resolving is the argument that is being resolved.
type resolving struct {
	accepts verbs.Origins // the origins that it accepts
	trail   []string      // the path by which a value with another origin came
}

// tellsOnceDone reports whether a verb discloses something and also changes something. The changes
// limit how often it can be asked: they use up a link, or count a question. A preview is rolled
// back, so it must not show the result.
func tellsOnceDone(v *verbs.Verb) bool { return len(v.Discloses) > 0 && !v.Answers() }

// previewable refuses the preview of a call after one whose result the preview hides: this
// preview, or its refusal, could reveal that result.
func previewable(_ context.Context, r *run, st *step) error {
	switch {
	case r.phase != Previewing:
	case r.met.untold != nil:
		return st.refuse("not-previewed", st.verb.Name, r.met.untold.Name)
	case tellsOnceDone(st.verb):
		r.met.untold = st.verb
	}
	return nil
}

// toldOnceDone stands in a preview in place of the result of such a call.
const toldOnceDone = "what comes of it is told once it is done"

// hidesResult reports whether a preview hides the result of a call, or of a call inside its macro.
func (st *step) hidesResult() bool {
	return tellsOnceDone(st.verb) || slices.ContainsFunc(st.tree.inner, (*step).hidesResult)
}

// A change is a change of a row for the store, and the receipt's account of it.
type change struct {
	stores.Change
	entity *verbs.Entity
	row    receipt.Row // without the names of the rows that it refers to; its fields are parallel to Set, unless the row is deleted
	// forgets is Outcome.Forgets.
	forgets bool
}

// at returns the entity's field of the k-th field of the receipt's row.
func (c *change) at(k int) int {
	if k < len(c.Set) {
		return c.Set[k].Field
	}
	return c.Entity.FieldIndex(c.row.Fields[k].Name)
}

// A notice is an outgoing message or a job before it has an id.
type notice struct {
	kind, target string
	keys         []string
	values       []stores.Value
	came         []verbs.Origin     // parallel to values
	sensitive    []bool             // parallel to values: taken from something sensitive; nil when none is
	effect       *verbs.Effect      // that promised it
	at           stores.Value       // when its job is due
	unique       string             // its correlation key, where the palette names one
	instead      []stores.JobRecord // waiting jobs with that key, which it replaces
	active       sessions.Value     // the row at work that the job takes along: see takeAlong
	again        *stores.Job        // a dropped job that is scheduled again; nil for all others
	says         string             // the call that its job makes
}

// A table is the result of a call, with keys in place of names.
type table struct {
	columns []column
	rows    [][]cell
	entity  *verbs.Entity // of keys
	keys    []stores.Value
	from    verbs.Origins   // the origin of all its values; zero is rows within scope
	found   receipt.FoundBy // how a search found the rows, where a better way is switched off
	left    []string        // why rows were left out: a value in them cannot be read
	file    *tools.File     // the file that is made of it, or that came with a tool's answer
	// late says that it is known only once a tool has acted, so that no plan depends on
	// it.
	late bool
}

type column struct {
	name      string
	sensitive bool
}

type cell struct {
	value  stores.Value
	entity *verbs.Entity // whose key the value is; nil for everything else
	from   verbs.Origin
}

// userError turns an error of a call into the error that its caller is told.
func userError(st *step, err error) error {
	var c *callError
	var refusal *Refusal
	var promise *BrokenPromise
	var failed *Failure
	var unread *stores.Unreadable
	switch {
	case errors.As(err, &c):
		if c.call < 0 { // of a handler, which knows nothing of calls
			c = &callError{st.call.index, c.diagnostic}
			c.diagnostic.Place = st.call.place
		}
		return c
	case errors.As(err, &promise):
		promise.call = st.call.index + 1
		return err
	case errors.As(err, &refusal), errors.As(err, &failed):
		return err
	case errors.Is(err, verbs.ErrAbsent):
		return st.refuse("value-needed/condition", st.verb.Name)
	case errors.Is(err, verbs.ErrRange), errors.Is(err, verbs.ErrZero):
		return st.refuse("wrong-value/range", st.verb.Name)
	case errors.Is(err, stores.ErrConflict):
		return err // the whole run may be tried again
	case errors.Is(err, stores.ErrNotFound):
		// A row that it would change does not exist, or is out of scope.
		return st.refuse("unknown-name/touched", st.verb.Name)
	case errors.Is(err, stores.ErrReadOnly):
		return st.refuse("not-accepted/reading", st.verb.Name)
	case errors.As(err, &unread):
		return st.refuse("unreadable-row", st.verb.Name, unread.Entity.Name, unread.Field, unread.Why)
	case errors.Is(err, stores.ErrDuplicate), errors.Is(err, stores.ErrInvalid):
		return refusedByDatabase(st, err)
	case errors.Is(err, stores.ErrLimit):
		return st.refuse("too-much", st.verb.Name)
	}
	return &Failure{Err: fmt.Errorf("%s: %w", st.verb.Name, err)}
}

// row returns the row that a call resulted in: one that it added, changed or read, of the
// wanted entity if that is known.
func (st *step) row(want *verbs.Entity) (*verbs.Entity, stores.Value, bool) {
	fits := func(e *verbs.Entity) bool { return want == nil || e == want }
	all := st.gather().changes
	for i := range all {
		if c := &all[i]; c.Op == stores.Insert && fits(c.entity) {
			return c.entity, c.Key, true
		}
	}
	for i := range all {
		if c := &all[i]; c.Op == stores.Update && fits(c.entity) {
			return c.entity, c.Key, true
		}
	}
	if t := st.out.cells; t != nil && t.entity != nil && len(t.keys) == 1 && fits(t.entity) {
		return t.entity, t.keys[0], true
	}
	// A change that sets a field to its present value is still about its row.
	for i := range st.verb.Effects {
		e := &st.verb.Effects[i]
		if !e.OnRows() || e.Where == nil || !fits(e.Entity) {
			continue
		}
		if e.Upsert && i+1 < len(st.sees.added) && !st.sees.added[i+1].IsNull() {
			return e.Entity, st.sees.added[i+1], true
		}
		if param, one := e.Where.One(); one && st.args.rows[param].Entity != nil {
			return e.Entity, st.args.rows[param].Key(), true
		}
	}
	return nil, stores.Value{}, false
}

// isStoreError reports whether a store, and not an expression, failed.
func isStoreError(err error) bool {
	var x *evalError
	return !errors.As(err, &x)
}
