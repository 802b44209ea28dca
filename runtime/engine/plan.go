package engine

import (
	"context"
	"fmt"
	"slices"

	"verbatim/dsl"
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

// A run is one attempt at a program: what it reads, and the plan that it comes to.
type run struct {
	*reading
	prog  *verbs.Program
	part  *part          // the part of the program that this is about; nil for all of it
	tell  func(Progress) // nil where nobody listens
	phase Phase
	first int // number of the program's first call
	done  int // calls carried out, of total, for tell
	total int

	top   []*step // parallel to prog.Calls()
	steps []*step // every call carried out, those of macros included, in order
	of    []*step // those with a journal entry, parallel to the entries
	rest  []int   // calls that were not planned because one before them was refused

	called   []*newNames    // their names, by entity
	told     []receipt.Call // parallel to written; nil before tellAll
	digest   [32]byte
	id       string
	unsealed bool   // its digest is worked out on demand
	scratch  []byte // for seals

	metCalls map[metCall]bool // that exclude others
	untold   *verbs.Verb      // of the first call whose result this preview hides

	own      []stores.Change          // of the engine's own rows about this run
	tells    []stores.Job             // notices about what this run decided
	uses     map[stores.Value]*useLog // of verbs that have limits
	settled  []stores.Settlement
	standing []StandingRule   // of the principal, if the program was written by a model that nobody heard
	agreedBy string           // who else agreed, and in which role
	repeated *receipt.Receipt // of the earlier run with the same key
	skipped  string           // why its job has become pointless

	external *externalCall // an unanswered request that changes something on another server
	needs    *externalCall // a request whose answer the plan needs before it can go on
}

// program carries out the calls of a frame in the order of their bindings. It stops at a
// request that a tool has to answer first.
func (r *run) program(ctx context.Context, f *frame) (*externalCall, error) {
	calls, order := f.prog.Calls(), f.prog.Order()
	f.steps = make([]*step, len(calls))
	if r.part != nil && f.macro == nil {
		order = r.part.calls
		copy(f.steps, r.part.before)
	}
	for at, i := range order {
		st, needs, err := r.callOften(ctx, f, i)
		if err != nil || needs != nil {
			if f.macro == nil {
				r.rest = order[at+1:]
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
	if r.top[f.macro.index].made+len(items) > maxMacroCalls { // known before the first is made
		return nil, nil, &complaint{f.macro.index, tooDeep(f.macro.place, f.macro.verb.Name)}
	}
	defer func() { f.macro.each = eachOf{} }()
	for at, item := range items {
		f.macro.each = eachOf{item: item, at: at}
		if st, needs, err = r.call(ctx, f, i); err != nil || needs != nil {
			break
		}
	}
	return st, needs, err
}

// items returns the items of a list argument; none if it was left out.
func (r *run) items(st *step, param int) ([]stores.Value, error) {
	if st.args[param].IsNull() {
		return nil, nil
	}
	t := st.verb.Params[param].Type.Item
	kind := kindOf(t.Name)
	if t.Name == verbs.RefType && t.Entity != nil {
		kind = t.Entity.Store.Fields[t.Entity.Store.Key].Kind
	}
	items, err := st.args[param].Items(kind)
	if err != nil {
		return nil, &complaint{st.index, wrongValue(st.place, st.verb.Params[param].Name, "a list is wanted")}
	}
	return items, nil
}

// beginCall makes the step of a call.
func (r *run) beginCall(f *frame, i int) *step {
	c := &f.prog.Calls()[i]
	st := &step{verb: c.Verb, index: i}
	if f.macro == nil {
		st.place = placeOf(f.prog, c)
	} else {
		// The calls of a macro are reported at the call in the script.
		st.outer, st.index, st.place, st.depth = f.macro, f.macro.index, f.macro.place, f.macro.depth+1
	}
	outer := f.macro
	if f.made {
		outer = nil
	}
	st.syntax = r.e.written(f.prog, c.Syntax, outer)
	st.text = dsl.FormatCall(st.syntax)
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
	st.readFrom = len(r.readSet)
	r.steps = append(r.steps, st)
	r.begun++
	if f.macro == nil {
		r.top[i] = st
	} else {
		f.macro.inner = append(f.macro.inner, st)
	}
	written := r.top[st.index]
	if written.made++; written.made > maxMacroCalls || st.depth > maxMacroDepth {
		return nil, nil, &complaint{st.index, tooDeep(st.place, st.verb.Name)}
	}
	needs, err := r.step(ctx, f, st, &f.prog.Calls()[i])
	if err != nil {
		return nil, nil, told(st, err)
	}
	st.readTo = len(r.readSet)
	return st, needs, nil
}

// step takes a call through the steps: permit, resolve, gate, carry, settle, and its
// changes to the transaction that commits them.
func (r *run) step(ctx context.Context, f *frame, st *step, c *verbs.Call) (needs *externalCall, err error) {
	if !permits(r.s.roles, st.verb.Roles) {
		// permit has checked every call before anything began. It is checked again here, so that
		// nothing relies on that check alone.
		return nil, &complaint{st.index, notPermitted(st.place, st.verb.Name, "")}
	}
	if r.phase == Previewing {
		// The preview of this call, or its refusal, could reveal the hidden result.
		if r.untold != nil {
			return nil, &complaint{st.index, notPreviewed(st.place, st.verb.Name, r.untold.Name)}
		}
		if tellsOnceDone(st.verb) {
			r.untold = st.verb
		}
	}
	if len(st.verb.Limits) > 0 {
		if err := r.limit(ctx, st); err != nil {
			return nil, err
		}
	}
	r.e.enter(StageResolve)
	if err := r.resolve(ctx, f, st, c); err != nil {
		return nil, err
	}
	if all := r.e.excluded[st.verb]; all != nil {
		if err := r.together(st, all); err != nil {
			return nil, err
		}
	}
	r.e.enter(StageGate)
	st.sealed = st.sealIn(&r.scratch)
	if err := require(ctx, r.reading, st); err != nil {
		return nil, err
	}
	asks, err := gate(ctx, r.reading, st)
	if err != nil {
		return nil, err
	}
	st.asks = append(st.asks, asks...) // behind what resolve asks of origins
	if f.macro == nil {
		r.unheard(st)
	}
	r.e.enter(StageCarry)
	if st.verb.Macro != nil {
		return r.macro(ctx, st)
	}
	if st.verb.Tool != nil && r.e.handlers[st.verb] == nil {
		if err := r.asks(ctx, st); err != nil {
			return nil, err
		}
	}
	if st.verb.Matching != nil {
		if e, err := r.embedding(ctx, st); e != nil || err != nil {
			return e, err // nothing can be planned without it
		}
	}
	if st.external != nil && !st.external.answered {
		switch {
		case st.external.ReadOnly:
			return st.external, nil // nothing can be planned without what it says
		case r.external != nil:
			return nil, &complaint{st.index, oneTool(st.place, st.verb.Name, r.external.st.verb.Name)}
		}
		r.external = st.external
	}
	promises, err := r.promises(ctx, st)
	if err != nil {
		return nil, err
	}
	done, err := carry(ctx, r.reading, st, promises)
	if err != nil {
		return nil, err
	}
	r.e.enter(StageSettle)
	if err := settle(st.verb, promises, &done); err != nil {
		return nil, err
	}
	st.cells, st.notices, st.jobChanges, st.dropped = done.answer, done.notices, done.jobChanges, done.dropped
	if st.verb.Read != nil && st.verb.Read.File != "" {
		if e, err := r.files(st); e != nil || err != nil {
			return e, err
		}
	}
	if err := r.later(ctx, st); err != nil {
		return nil, err
	}
	if err := r.set(ctx, st, done.sets); err != nil {
		return nil, err
	}
	r.e.enter(StageApply)
	if err := r.apply(ctx, st, done.proposals); err != nil {
		return nil, err
	}
	for _, m := range done.calls {
		if needs, err := r.program(ctx, &frame{prog: m.prog, macro: st, made: true}); err != nil || needs != nil {
			return needs, err
		}
	}
	return nil, nil
}

// macro carries out the script of a macro, with the rights of its caller: permit has checked its
// calls before anything began.
func (r *run) macro(ctx context.Context, st *step) (*externalCall, error) {
	inner := &frame{prog: r.e.macros[st.verb], macro: st}
	if needs, err := r.program(ctx, inner); err != nil || needs != nil {
		return needs, err
	}
	if order := inner.prog.Order(); len(order) > 0 {
		if last := inner.steps[order[len(order)-1]]; last != nil {
			st.cells = last.cells
		}
	}
	return nil, settleMacro(st.verb, st.gather())
}

// still checks that a call has the arguments with which it passed the gate. It is asked
// before the call is carried out, and again before the commit.
func (r *run) still(st *step) error {
	if st.sealIn(&r.scratch) != st.sealed {
		return &Failure{Err: fmt.Errorf("%s: its arguments changed after they passed the gate", st.verb.Name)}
	}
	return nil
}

// plan carries the program out in the transaction, and compares the outcome with what was
// agreed to.
func (r *run) plan(ctx context.Context, o *runOptions, asked *externalAnswers) error {
	if err := r.meanwhile(ctx, o.Version); err != nil {
		return err
	}
	if err := r.read.ReadAhead(ctx, r.wanted(), r.predictedAsks()); err != nil {
		return err
	}
	var err error
	if r.needs, err = r.program(ctx, &frame{prog: r.prog}); err != nil || r.needs != nil {
		return err
	}
	if err = r.nameReferences(ctx); err != nil {
		return err
	}
	if o.plain() && r.external == nil && asked.sent == nil && !r.asksAnybody() {
		r.unsealed = true // nobody saw a plan that it could differ from
	} else {
		r.tellAll()
		r.finish()
	}
	if r.part != nil && r.part.agreed != "" {
		r.id = r.part.agreed // the agreement is to the whole script
	}
	if o.rehearsal || o.Agreed != "" || o.pending != nil || r.asksAnybody() || r.external != nil {
		// Previews, agreements and requests to tools rest on changes that the database
		// has accepted.
		if err := r.read.Flush(ctx); err != nil {
			return err
		}
	}
	switch {
	case o.rehearsal:
		return nil
	case asked.sent != nil:
		if err := asked.sent.still(r); err != nil {
			return err
		}
		return r.follow(ctx, asked.sent.call.id())
	}
	r.e.enter(StageAgreed)
	return r.agreed(ctx, o)
}

// follow carries out the effects that waited for a tool's answer. The rest of the plan has
// been compared with what was agreed to.
func (r *run) follow(ctx context.Context, id string) error {
	i := slices.IndexFunc(r.steps, func(st *step) bool { return st.external != nil && st.external.id() == id })
	if i < 0 || len(r.steps[i].external.Then) == 0 {
		return nil
	}
	st := r.steps[i]
	st.follows = true
	promises, err := r.promises(ctx, st)
	if err != nil {
		return told(st, err)
	}
	done := declared(promises)
	if err := settle(st.verb, promises, &done); err != nil {
		return err
	}
	before := st.changes
	if err := r.apply(ctx, st, done.proposals); err != nil {
		return told(st, err)
	}
	st.changes, st.notices = append(before[:len(before):len(before)], st.changes...), append(st.notices, done.notices...)
	if err = r.nameReferences(ctx); err != nil {
		return err
	}
	r.tellAll()
	return nil
}

// waits returns the request that a tool has to answer before the run can go on or commit;
// nil if there is none.
func (r *run) waits() *externalCall {
	if r.needs != nil {
		return r.needs
	}
	if r.phase == Previewing {
		return nil // a preview tells of it
	}
	return r.external
}

// script returns the script of the run: a part of the program's, if it is a share.
func (r *run) script() *dsl.Script {
	if r.part != nil {
		return r.part.script
	}
	return r.prog.Script()
}

// settledScript is script with suffixed names.
func (r *run) settledScript() *dsl.Script {
	if r.part != nil {
		return r.part.settled
	}
	return r.prog.Canonical()
}

// written returns the steps of the script's own calls, as far as they were carried out.
func (r *run) written() []*step {
	if !slices.Contains(r.top, nil) {
		return r.top
	}
	return slices.DeleteFunc(slices.Clone(r.top), func(st *step) bool { return st == nil })
}
