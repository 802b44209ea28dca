package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// With RunOptions.Each a script is committed call by call; a call and those nested in it are
// one transaction. Earlier calls stay committed if a later one is refused. So a long script
// holds no locks for long, and can be continued where it stopped.
//
// The whole script is planned before the first commit, so that most mistakes are told while
// nothing is done. An agreement covers the whole script, and each call is compared with its
// part of the preview.

// A Stopped says that a run that commits call by call ended early. The committed calls stay; the
// Receipt that comes with it lists them.
type Stopped struct {
	Done, Total int   // calls that are committed, of how many
	Next        int   // the number of the call to continue with
	First, Last int64 // journal entries of what is committed
	// Err is the reason: a *Refusal or a *Failure of the call numbered Next, or the error
	// of the context. Nothing of that call is committed, unless Err is a *Failure that
	// says Unknown.
	Err error
}

// Error implements error.
func (s *Stopped) Error() string {
	return fmt.Sprintf("stopped after %d of %d calls: %s", s.Done, s.Total, s.Err)
}

// Unwrap gives the reason.
func (s *Stopped) Unwrap() error { return s.Err }

// A part is the part of a program that one transaction carries out.
type part struct {
	calls   []int   // indexes in Program.Calls, in order
	before  []*step // calls that are committed, parallel to Program.Calls
	script  *dsl.Script
	settled *dsl.Script // the same, with names that cannot come to mean other rows
	// alias and made are those of the earlier calls, where something was agreed to: see
	// reading.
	alias map[stores.Value]string
	made  int
	// shown is its part of the preview that the person agreed to, whose ID is agreed.
	shown  [32]byte
	agreed string
	key    string // RunOptions.Key of the whole
	// answers are those of the read-only tools that the planning of the whole asked.
	answers map[string]toolAnswer
}

// units divides a program into its outermost calls, each with the calls nested in it before
// it.
func units(p *verbs.Program) [][]int {
	var all [][]int
	first := 0
	for i := range p.Calls() {
		if p.Calls()[i].Nested {
			continue
		}
		unit := make([]int, 0, i+1-first)
		for ; first <= i; first++ {
			unit = append(unit, first)
		}
		all = append(all, unit)
	}
	return all
}

// rest returns a script from the call of a number on. A call that uses the result of an earlier one
// is an error.
func rest(script *dsl.Script, from int) (*dsl.Script, dsl.Diagnostics) {
	if from > len(script.Calls) {
		return nil, dsl.Diagnostics{noSuchCall(dsl.Place{Source: script.Source}, from, len(script.Calls))}
	}
	gave := make(map[string]int) // by symbol, the number of the call that bound it last
	for i := range script.Calls[:from-1] {
		dsl.WalkCall(&script.Calls[i], func(n dsl.Node) bool {
			if n.Call != nil && n.Call.As != "" {
				gave[n.Call.As] = i + 1
			}
			return true
		})
	}
	rest := *script
	rest.Calls = script.Calls[from-1:]
	bound := make(map[string]bool)
	rest.Comments = nil // of the calls that are left out, too
	dsl.Walk(&rest, func(n dsl.Node) bool {
		if n.Call != nil && n.Call.As != "" {
			bound[n.Call.As] = true
		}
		return true
	})
	var ds dsl.Diagnostics
	for i := range rest.Calls {
		dsl.WalkCall(&rest.Calls[i], func(n dsl.Node) bool {
			if n.Value == nil || n.Value.Kind != dsl.Symbol {
				return true
			}
			name, _, _ := strings.Cut(n.Value.Text, ".")
			if by := gave[name]; by > 0 && !bound[name] {
				place := dsl.Place{Source: script.Source, Range: n.Value.Range}
				ds = append(ds, needsEarlierCall(place, from+i, name, by))
			}
			return true
		})
	}
	if len(ds) > 0 {
		return nil, ds
	}
	return &rest, nil
}

// runEach carries a program out call by call.
func runEach(ctx context.Context, s *Session, p *verbs.Program, o RunOptions) (*receipt.Receipt, error) {
	parts := units(p)
	for at, i := range p.Order() {
		if at != i {
			// Calls are numbered in the order in which they are written, and have to be
			// made in that order.
			return nil, refusalOf(ctx, s, p, o, refuse([]complaint{{i, outOfOrder(placeOf(p, &p.Calls()[i]))}}))
		}
	}
	first := max(1, o.From)
	whole := &run{src: sourceAt(s, nil, time.Time{}), plan: plan{prog: p, top: make([]*step, len(p.Calls()))}}
	done := &receipt.Receipt{Done: true}
	known := 0 // calls that were done under the key already
	if o.Key != "" {
		// It may have been done under the key before, all at once.
		if again, err := s.Journal().Repeat(ctx, p.Script(), o.Key); err != nil || again != nil {
			return again, err
		}
		before, err := doneEach(ctx, s, p.Script(), o.Key, first)
		if err != nil {
			return nil, err
		}
		for _, part := range before {
			repeatStep(whole, p, parts[known], part)
			join(done, part)
			known++
		}
		if known == len(parts) && known > 0 {
			return asRepeated(s, done), nil
		}
	}
	plan, err := agreeToAll(ctx, s, p, o, &part{calls: slices.Concat(parts[known:]...), before: whole.plan.top}, first+known)
	if err != nil {
		return nil, err
	}
	done.ID, done.Digest = plan.plan.id, plan.plan.digest
	if len(o.Said) > 0 {
		first, err := s.Turns().Say(ctx, o.Said...)
		if err != nil {
			return nil, refusalOf(ctx, s, p, o, err)
		}
		o.Turn, o.Said = sessions.SpokenBy(o.Said, first, o.Turn), nil
	}
	o.Version = 0 // it moves with every call
	canonical := p.Canonical()
	answers := answersOf(plan, 0, true)
	for n := known; n < len(parts); n++ {
		unit, number := parts[n], first+n
		part := &part{calls: unit, before: whole.plan.top, script: only(p.Script(), n), settled: only(canonical, n), alias: whole.src.mem.alias, made: len(whole.src.mem.added), answers: answers}
		if o.Agreed != "" {
			part.shown, part.agreed = plan.unitDigest(unit), plan.plan.id
		}
		its := o
		if o.Key != "" {
			its.Key, part.key = keyOfCall(o.Key, number), o.Key
		}
		r, reply, err := runOne(ctx, s, p, its, part)
		if err != nil {
			if n == known {
				return nil, err
			}
			return done, &Stopped{Done: n, Total: len(parts), Next: number, Err: onlyThis(err), First: done.First, Last: done.Last}
		}
		for _, i := range unit {
			whole.plan.top[i] = r.plan.top[i]
		}
		maps.Copy(whole.src.mem.added, r.src.mem.added)
		for id := range r.src.mem.counted {
			if a, ok := answers[id]; ok {
				a.tries = 0 // the receipt counts them already
				answers[id] = a
			}
		}
		join(done, reply)
		if o.Progress != nil {
			o.Progress(Progress{Phase: Committing, Done: n + 1, Total: len(parts), Number: number, Call: &reply.Calls[len(reply.Calls)-1]})
		}
	}
	return done, nil
}

// join adds what one transaction did to what those before it did.
func join(all, part *receipt.Receipt) {
	all.Calls = append(all.Calls, part.Calls...)
	if all.First == 0 {
		all.First = part.First
	}
	all.Last = max(all.Last, part.Last)
}

// asRepeated returns the receipt of calls that were committed before: they are looked up, not
// planned.
func asRepeated(s *Session, done *receipt.Receipt) *receipt.Receipt {
	d := digester{}
	d.Text("verbatim repeated 1")
	d.Text(s.who.Name)
	for i := range done.Calls {
		d.B = done.Calls[i].AppendDigest(d.B, nil)
	}
	done.Repeated, done.Digest = true, sha256.Sum256(d.B)
	done.ID = receipt.NewID(done.Digest[:16])
	return done
}

// repeatStep takes over the results of calls that were committed before: later calls may use
// them.
func repeatStep(r *run, p *verbs.Program, unit []int, done *receipt.Receipt) {
	for i := range done.Calls[:min(len(done.Calls), len(unit))] {
		call := &p.Calls()[unit[i]]
		st := &step{verb: call.Verb, call: spelling{index: unit[i], place: placeOf(p, call), syntax: call.Syntax}, args: arguments{rows: make([]stores.Row, len(call.Verb.Params))}, out: effects{cells: tableOf(r.src.e, done.Calls[i].Result)}}
		for _, row := range done.Calls[i].Rows {
			if e := r.src.e.reg.Entity(row.Entity); e != nil {
				st.out.changes = append(st.out.changes, change{entity: e, row: row, Change: stores.Change{Op: stores.Op(slices.Index(opNames[:], row.Op)), Entity: e.Store, Key: row.Key}})
			}
		}
		r.plan.top[unit[i]] = st
	}
}

// runOne carries out and commits one call of a program, with those inside it.
func runOne(ctx context.Context, s *Session, p *verbs.Program, o RunOptions, part *part) (*run, *receipt.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	r, err := s.attempts(ctx, p, &runOptions{opt: o, part: part, answers: part.answers})
	if err != nil {
		return nil, nil, refusalOf(ctx, s, p, o, aboutCall(p, part.calls[len(part.calls)-1], err))
	}
	if r.repeated != nil {
		// Somebody did it under the same key just now.
		repeatStep(r, p, part.calls, r.repeated)
		return r, r.repeated, nil
	}
	return r, r.reply(), nil // a row that was added is a row like any other from here on
}

// agreeToAll plans the whole script, and compares the agreement with it.
func agreeToAll(ctx context.Context, s *Session, p *verbs.Program, o RunOptions, part *part, first int) (*run, error) {
	t := &runOptions{opt: o, part: part}
	t.opt.From = first
	s.claim(ctx, t)
	plan, err := agreeToPlan(ctx, s, p, t)
	if err != nil {
		s.release(t, err)
		return nil, refusalOf(ctx, s, p, t.opt, err)
	}
	return plan, nil
}

func agreeToPlan(ctx context.Context, s *Session, p *verbs.Program, t *runOptions) (*run, error) {
	rehearse := rehearsal(t.opt)
	rehearse.part, rehearse.answers = t.part, t.answers
	plan, err := s.attempts(ctx, p, rehearse)
	if err != nil {
		return nil, err
	}
	others, mine := plan.unanswered()
	switch {
	case len(others) > 0:
		// They would have to agree to all of it at once.
		return nil, refuse(append(others, mine...))
	case t.opt.Agreed == "" && len(mine) > 0:
		return nil, refuse(mine)
	case t.opt.Agreed == "":
		return plan, nil
	}
	err = writeTo(ctx, s.e, t.opens(s), func(tx stores.Tx) error {
		plan.src.read, plan.own.Changes = view.Direct(tx, tx, nil), nil
		if err := plan.ownConsent(ctx, t, len(mine) > 0); err != nil || len(plan.own.Changes) == 0 {
			return err
		}
		return tx.Apply(ctx, stores.Batch{Changes: plan.own.Changes})
	})
	if err != nil {
		return nil, s.finalError(p, err)
	}
	return plan, nil
}

// only returns the script of one call, for its idempotency key.
func only(of *dsl.Script, n int) *dsl.Script {
	return &dsl.Script{Source: of.Source, Calls: of.Calls[n : n+1]}
}

// keyOfCall returns the key of one call of a script that has one.
func keyOfCall(key string, number int) string { return fmt.Sprintf("%s\x1f%d", key, number) }

// RepeatEach is Repeat for a script that was run with RunOptions.Each, from the
// call of that number on. It returns nil unless every call of it was done.
func (jn Journal) RepeatEach(ctx context.Context, script *dsl.Script, key string, from int) (*receipt.Receipt, error) {
	if from <= 1 {
		return jn.s.Journal().Repeat(ctx, script, key) // it may have been done all at once
	}
	return repeatCalls(ctx, jn.s, script, key, from)
}

func repeatCalls(ctx context.Context, s *Session, script *dsl.Script, key string, from int) (*receipt.Receipt, error) {
	rest := *script
	rest.Calls = script.Calls[min(max(1, from), len(script.Calls)+1)-1:]
	parts, err := doneEach(ctx, s, &rest, key, max(1, from))
	if err != nil || len(parts) < len(rest.Calls) || len(parts) == 0 {
		return nil, err
	}
	done := &receipt.Receipt{Done: true}
	for _, part := range parts {
		join(done, part)
	}
	return asRepeated(s, done), nil
}

// doneEach finds what the first calls of a script did under a key, up to the
// first that was not done.
func doneEach(ctx context.Context, s *Session, script *dsl.Script, key string, first int) (all []*receipt.Receipt, err error) {
	for i := range script.Calls {
		its := keyOfCall(key, first+i)
		one := &dsl.Script{Source: script.Source, Calls: script.Calls[i : i+1]}
		done, err := s.Journal().Repeat(ctx, one, its)
		if err != nil {
			return nil, err
		}
		if done == nil {
			break
		}
		all = append(all, done)
	}
	return all, nil
}

// aboutCall turns a refusal of a script of one call into a refusal of that call.
func aboutCall(p *verbs.Program, call int, err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	again := &Refusal{calls: slices.Clone(r.calls), Diagnostics: slices.Clone(r.Diagnostics)}
	for i := range again.calls {
		if again.calls[i] < 0 {
			again.calls[i] = call
			again.Diagnostics[i].Place = placeOf(p, &p.Calls()[call])
		}
	}
	return again
}

// onlyThis makes a refusal speak of its own call where others are committed.
func onlyThis(err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	again := &Refusal{calls: r.calls, Diagnostics: slices.Clone(r.Diagnostics)}
	for i := range again.Diagnostics {
		d := &again.Diagnostics[i]
		d.Notes = slices.Clone(d.Notes)
		for j := range d.Notes {
			d.Notes[j] = strings.Replace(d.Notes[j], "nothing was changed", "this call changed nothing", 1)
		}
	}
	return again
}
