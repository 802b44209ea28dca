package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Parts are the outermost calls of a program, each of which is committed by itself, with the calls
// nested in it. Package each runs them one after another.
type Parts struct {
	s       *Session
	o       RunOptions
	list    []*verbs.Program
	next    int
	plan    *run                  // of those that were left at first; nil where nobody agreed to anything
	id      string                // of the plan
	digest  [32]byte              // of the plan
	answers map[string]toolAnswer // of the read-only tools that the plan asked
	earlier part
	used    step // stands for each committed call whose result no later call can name
}

// A part is what a run of one part knows of the whole and of the parts before it.
type part struct {
	key    string  // RunOptions.Key of the whole
	text   string  // textDigest of the whole, under the key
	before []*step // of the calls that are committed, parallel to Program.Calls
	// alias and made are those of the calls before, where something was agreed to: see draft.
	alias map[stores.Value]string
	made  int
	// shown is its part of the preview that the person agreed to, whose ID is agreed.
	shown  [32]byte
	agreed string
}

// agree plans all parts that are left, and compares the agreement with the plan.
func (ps *Parts) agree(ctx context.Context, p *verbs.Program, t *runOptions) (*run, error) {
	dry := dryRun(t.opt)
	dry.part, dry.answers = t.part, t.answers
	plan, err := ps.s.attempts(ctx, p, dry)
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
	err = writeTo(ctx, ps.s.e, t.opens(ps.s), func(tx stores.Tx) error {
		plan.src.read, plan.own.Changes = view.Direct(tx, tx, nil), nil
		if err := plan.ownConsent(ctx, t, len(mine) > 0); err != nil || len(plan.own.Changes) == 0 {
			return err
		}
		return tx.Apply(ctx, stores.Batch{Changes: plan.own.Changes})
	})
	if err != nil {
		return nil, ps.s.finalError(p, err)
	}
	return plan, nil
}

// Shown returns the ID and the digest of the plan of all parts that were left at first.
func (ps *Parts) Shown() (id string, digest [32]byte) { return ps.id, ps.digest }

// Next runs and commits the next part, under a key of its own unless that is "". Its errors are those
// of Run. After the last part there is nothing to run.
func (ps *Parts) Next(ctx context.Context, key string) (*receipt.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, o, prior := ps.list[ps.next], ps.o, ps.earlier
	if o.Key = key; o.Agreed != "" {
		prior.shown, prior.agreed = ps.plan.digestOf(p.Order()), ps.plan.plan.id
	}
	defer ps.s.begins()()
	r, err := ps.s.attempts(ctx, p, &runOptions{opt: o, part: &prior, answers: ps.answers})
	if err != nil {
		return nil, refusalOf(ctx, ps.s, p, o, ofPart(p, err))
	}
	if r.repeated != nil {
		// Somebody did it under the same key just now.
		ps.repeat(r.repeated)
		return r.repeated, nil
	}
	for _, i := range p.Order() {
		if ps.earlier.before[i] = r.plan.top[i]; p.Calls()[i].Syntax.As == "" {
			ps.earlier.before[i] = &ps.used // no later call can name its result
		}
	}
	ps.earlier.made += len(r.src.draft.added)
	for id := range answersOf(r, 0, true) {
		if a, ok := ps.answers[id]; ok {
			a.tries = 0 // the receipt counts them already
			ps.answers[id] = a
		}
	}
	ps.next++
	return r.reply(), nil // a row that was added is a row like any other from here on
}

// repeat takes over the results of a part that was committed before: later ones may use them.
func (ps *Parts) repeat(done *receipt.Receipt) {
	p, e := ps.list[ps.next], ps.s.e
	for n, i := range p.Order()[:min(len(done.Calls), len(p.Order()))] {
		call, of := &p.Calls()[i], &done.Calls[n]
		st := &step{verb: call.Verb, call: spelling{index: i, place: placeOf(p, call), syntax: call.Syntax}, args: arguments{rows: make([]stores.Row, len(call.Verb.Params))}, out: effects{cells: tableOf(e, of.Result)}}
		for _, row := range of.Rows {
			if to := e.reg.Entity(row.Entity); to != nil {
				st.out.changes = append(st.out.changes, change{entity: to, row: row, Change: stores.Change{Op: stores.Op(slices.Index(opNames[:], row.Op)), Entity: to.Store, Key: row.Key}})
			}
		}
		ps.earlier.before[i] = st
	}
	ps.next++
}

// ofPart turns a refusal of the whole script of a part into a refusal of its call.
func ofPart(p *verbs.Program, err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	call := p.Order()[len(p.Order())-1]
	again := &Refusal{calls: slices.Clone(r.calls), Diagnostics: slices.Clone(r.Diagnostics)}
	for i := range again.calls {
		if again.calls[i] < 0 {
			again.calls[i] = call
			again.Diagnostics[i].Place = placeOf(p, &p.Calls()[call])
		}
	}
	return again
}

// rest returns a script from the call of a number on. A call that uses the result of an earlier one
// is an error.
func rest(script *dsl.Script, from int) (*dsl.Script, dsl.Diagnostics) {
	if from > len(script.Calls) {
		return nil, dsl.Diagnostics{tell(dsl.Place{Source: script.Source}, "no-such-call", from, len(script.Calls))}
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
				ds = append(ds, tell(place, "needs-earlier-call", from+i, name, by))
			}
			return true
		})
	}
	if len(ds) > 0 {
		return nil, ds
	}
	return &rest, nil
}
