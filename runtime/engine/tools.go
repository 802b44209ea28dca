package engine

import (
	"context"
	"slices"

	"verbatim/runtime/internal/digest"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// meetTools asks for the descriptions of the tools that a program uses, before anything of it
// is planned.
func meetTools(ctx context.Context, e *Engine, p *verbs.Program) (uses bool, err error) {
	var all []callError
	calls := p.Calls()
	for i := range calls {
		for _, v := range e.verbs[calls[i].Verb].tools {
			uses = true
			if e.opt.Tools == nil {
				all = append(all, callError{i, tell(placeOf(p, &calls[i]), "not-carried-out", v.Name, noToolHere)})
				break
			}
			if _, ds := e.box.Verify(ctx, v); len(ds) > 0 {
				if err := ctx.Err(); err != nil {
					return true, failure(err)
				}
				said := tell(placeOf(p, &calls[i]), "tool-unfit", v.Name, v.Tool.Name, v.Tool.Server, ds[0].Code)
				if ds[0].Code == tools.CodeUnreached {
					said = tell(placeOf(p, &calls[i]), CodeToolSilent, v.Tool.Name, v.Tool.Server)
				}
				all = append(all, callError{i, said})
				break
			}
		}
	}
	if len(all) > 0 {
		return uses, refuse(all)
	}
	return uses, nil
}

// An externalCall is the request that a call makes to a tool.
type externalCall struct {
	receipt.ExternalCall
	st       *step
	spec     tools.Spec
	args     stores.Value
	embeds   bool                        // it computes a vector of its argument
	files    func() (*tools.File, error) // it makes a file, which is then kept
	answered bool
	got      toolAnswer   // once it is answered
	answer   *table       // without rows until it is answered
	came     verbs.Origin // of the answer
}

// id identifies a request by its content: equal requests have equal ids.
func (e *externalCall) id() string {
	var d digest.Writer
	d.Text(e.Server)
	d.Text(e.Name)
	d.Text(e.args.Text())
	if e.ReadOnly { // its answer is none to a verb by which the same tool acts
		d.Text("reads")
	}
	return string(d.B)
}

// needTool makes the request of a call to its tool. One that changes something does not hold up the
// plan, which has to be agreed to first.
func needTool(ctx context.Context, r *run, st *step) (*externalCall, error) {
	if err := askOfTool(ctx, r.src, st); err != nil {
		return nil, err
	}
	switch {
	case st.external.answered:
		r.plan.countTries(st.external)
	case st.external.ReadOnly:
		return st.external, nil
	case r.plan.external != nil:
		return nil, st.refuse("one-tool", st.verb.Name, r.plan.external.st.verb.Name)
	default:
		r.plan.external = st.external
	}
	return nil, nil
}

// askOfTool makes the request of a call to its tool, and types the answer if there is one.
func askOfTool(ctx context.Context, r *source, st *step) error {
	t := st.verb.Tool
	spec, met := r.e.box.Spec(st.verb)
	if r.e.opt.Tools == nil || !met {
		return st.refuse("not-carried-out", st.verb.Name, noToolHere)
	}
	// A tool may repeat its arguments in the answer.
	from := verbs.FromTool
	switch {
	case spec.Document:
		from = verbs.FromDocument
	case spec.Model:
		from = verbs.FromModel
	}
	e := &externalCall{ExternalCall: receipt.ExternalCall{Server: t.Server, Name: t.Name, ReadOnly: t.ReadOnly, Local: spec.Local}, st: st, spec: spec,
		came: st.argumentOrigins().Mix(verbs.NewOrigin(from, t.Server+"."+t.Name))}
	if err := packArgs(ctx, r, e); err != nil {
		return err
	}
	for i := range st.verb.Effects {
		if x := &st.verb.Effects[i]; x.Follows() && !t.ReadOnly {
			e.Then = append(e.Then, followOf(x))
		}
	}
	e.got, e.answered = r.answers[e.id()]
	if !e.answered && t.ReadOnly {
		e.got, e.answered = r.kept[requestDigest(e)]
	}
	if e.answered {
		var err error
		if e.answer, err = answerTable(st.verb, e.got.Answer); err != nil {
			return &Failure{Err: err}
		}
		e.got.server, e.got.name, e.got.digest = t.Server, t.Name, spec.Digest
	} else {
		e.answer = &table{columns: toolColumns(st.verb)}
	}
	e.answer.from, e.answer.late = from, !t.ReadOnly
	for _, row := range e.answer.rows {
		for i := range row {
			row[i].from = e.came
		}
	}
	st.external = e
	return nil
}

// followOf describes what an effect does with the answer of a tool.
func followOf(e *verbs.Effect) receipt.Follow {
	if e.Entity == nil || sends(e) {
		return receipt.Follow{What: noticeTarget(e)}
	}
	op := stores.Update
	switch e.Kind {
	case verbs.Creates:
		op = stores.Insert
	case verbs.Deletes:
		op = stores.Delete
	}
	return receipt.Follow{Op: opNames[op], What: e.Entity.Store.Name, Fields: e.Changes()}
}

// useTool makes the engine's own changes beside those of a tool.
func useTool(st *step, promises []promise) outcome {
	d := declared(promises)
	for i := range promises {
		// The tool keeps promises that the engine can neither carry out nor observe.
		if p := &promises[i]; !p.effect.Declared && p.due && !traces(p.effect) {
			d.kept = append(d.kept, p.effect.Operand.Text)
		}
	}
	d.answer = st.external.answer
	return d
}

// packArgs makes the arguments of the tool. Absent values are left out.
func packArgs(ctx context.Context, r *source, e *externalCall) error {
	st := e.st
	var keys []string
	var values []stores.Value
	for i := range st.verb.Tool.Sends {
		s := &st.verb.Tool.Sends[i]
		sent := receipt.Sent{Key: s.Key}
		var came verbs.Origin
		if s.Value == nil {
			p := &st.verb.Params[s.Param]
			sent.Value, sent.Sensitive, sent.From = st.args.values[s.Param], st.isSensitive(s.Param), ":"+p.Name
			came = st.args.from[s.Param]
		} else {
			var err error
			if sent.Value, came, err = r.evalFrom(ctx, st, s.Value, nil); err != nil {
				return err
			}
			sent.From, sent.Sensitive = st.origin(s.Value, nil)
		}
		if sent.Value.IsNull() {
			continue
		}
		sent.Value, sent.Origin = s.Type.Spelled(sent.Value), came.String()
		e.Sent = append(e.Sent, sent)
		keys, values = append(keys, s.Key), append(values, sent.Value)
	}
	for _, name := range tools.Required(e.spec.Input) {
		if !slices.Contains(keys, name) {
			return st.refuse("tool-needs", st.verb.Name, e.Name, name)
		}
	}
	e.args = stores.NewObject(keys, values)
	return nil
}
