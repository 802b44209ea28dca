package runtime

import (
	"context"
	"slices"

	"verbatim/runtime/digest"
	"verbatim/runtime/tools"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// findTools notes which verbs lead to a tool, however deep, and to which.
func (e *Engine) findTools() map[*verbs.Verb][]*verbs.Verb {
	used := make(map[*verbs.Verb][]*verbs.Verb)
	for _, v := range e.reg.Verbs() {
		for _, inner := range append([]*verbs.Verb{v}, e.inside[v]...) {
			if inner.Tool != nil {
				used[v] = append(used[v], inner)
			}
		}
	}
	return used
}

// meetTools meets the tools that a program uses, before anything of it is
// worked out.
func (e *Engine) meetTools(ctx context.Context, p *verbs.Program) (uses bool, err error) {
	if len(e.usesTools) == 0 {
		return false, nil
	}
	var all []complaint
	calls := p.Calls()
	for i := range calls {
		for _, v := range e.usesTools[calls[i].Verb] {
			uses = true
			if e.tools == nil {
				all = append(all, complaint{i, notCarriedOut(placeOf(p, &calls[i]), v.Name, noToolHere)})
				break
			}
			if _, ds := e.box.Meet(ctx, v); len(ds) > 0 {
				if err := ctx.Err(); err != nil {
					return true, failure(err)
				}
				all = append(all, complaint{i, toolUnfit(placeOf(p, &calls[i]), v, ds[0].Code)})
				break
			}
		}
	}
	if len(all) > 0 {
		return uses, refuse(all)
	}
	return uses, nil
}

// An errand is what a call asks of a tool.
type errand struct {
	receipt.Errand
	st       *step
	spec     tools.Spec
	args     stores.Value
	answered bool
}

// id names what is asked: asked twice, it is the same.
func (e *errand) id() string {
	var d digest.Writer
	d.Text(e.Server)
	d.Text(e.Name)
	d.Text(e.args.Text())
	return string(d.B)
}

// useTool carries out a verb by a tool, as far as it can be inside a
// transaction: with the answer, where there is one, and with what the engine
// changes besides.
func (r *reading) useTool(ctx context.Context, st *step, promises []promise) (deed, error) {
	t := st.verb.Tool
	spec, met := r.e.box.Spec(st.verb)
	if r.e.tools == nil || !met {
		return deed{}, &complaint{st.index, notCarriedOut(st.place, st.verb.Name, noToolHere)}
	}
	e := &errand{Errand: receipt.Errand{Server: t.Server, Name: t.Name, ReadOnly: t.ReadOnly}, st: st, spec: spec}
	if err := r.pack(ctx, e); err != nil {
		return deed{}, err
	}
	d := declared(promises)
	d.errand = e
	for i := range promises {
		// What the engine cannot do and nothing shows is what the tool is for.
		if p := &promises[i]; !p.effect.Declared && p.due && !traces(p.effect) {
			d.kept = append(d.kept, p.effect.Operand.Text)
		}
	}
	var err error
	answer, answered := r.answers[e.id()]
	e.answered = answered
	switch {
	case answered:
		if d.answer, err = answerTable(st.verb, answer); err != nil {
			return deed{}, &Failure{Err: err}
		}
	default:
		d.answer = &table{columns: toolColumns(st.verb)}
	}
	d.answer.from, d.answer.late = verbs.FromTool, !t.ReadOnly
	// A tool may answer with what it was told.
	came := st.told().Mix(verbs.NewOrigin(verbs.FromTool, t.Server+"."+t.Name))
	for _, row := range d.answer.rows {
		for i := range row {
			row[i].from = came
		}
	}
	return d, nil
}

// pack works out what the tool is sent. What is absent is left out.
func (r *reading) pack(ctx context.Context, e *errand) error {
	st := e.st
	var keys []string
	var values []stores.Value
	for i := range st.verb.Tool.Sends {
		s := &st.verb.Tool.Sends[i]
		sent := receipt.Sent{Key: s.Key}
		if s.Value == nil {
			p := &st.verb.Params[s.Param]
			sent.Value, sent.Sensitive, sent.From = st.args[s.Param], st.isDark(s.Param), ":"+p.Name
		} else {
			var err error
			if sent.Value, err = r.eval(ctx, st, s.Value, nil); err != nil {
				return err
			}
			sent.From, sent.Sensitive = st.origin(s.Value, nil)
		}
		if sent.Value.IsNull() {
			continue
		}
		sent.Value = s.Type.Spelled(sent.Value)
		e.Sent = append(e.Sent, sent)
		keys, values = append(keys, s.Key), append(values, sent.Value)
	}
	for _, name := range tools.Required(e.spec.Input) {
		if !slices.Contains(keys, name) {
			return &complaint{st.index, toolNeeds(st.place, st.verb.Name, e.Name, name)}
		}
	}
	e.args = stores.NewObject(keys, values)
	return nil
}
