package dialog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// Carrying out proposed calls: check, preview, then ask or run.

// A step is the outcome of a proposal.
type step struct {
	wrong    string          // what the model is told about its mistakes
	why      dsl.Diagnostics // the same, as diagnostics
	question *Question       // the question to the person
	says     string          // what the model is told about the results
}

// A task is a proposal that passed the checks.
type task struct {
	proposal
	call      *dsl.Script
	program   *verbs.Program
	canonical string        // the script in its canonical form
	by        verbs.Origin  // untrusted origins that may have caused some of it
	swayed    []*verbs.Verb // verbs that they may have caused
}

// carry checks and previews calls, and then asks the person or runs them.
func (t *turn) carry(ctx context.Context, p proposal) (step, error) {
	k, s := t.checked(ctx, p)
	if k == nil {
		return s, nil
	}
	kind := Doing
	if t.c.o.Session.Reads(k.program) {
		kind = Reading
	}
	for i := range k.program.Calls() {
		t.event(kind, k.program.Calls()[i].Verb)
	}
	var counted *hold
	var refusal *engine.Refusal
	if kind == Doing {
		q, held, err := t.asksAbout(ctx, k)
		if errors.As(err, &refusal) {
			return t.refusedStep(refusal), nil
		}
		if err != nil || q != nil {
			held.release(ctx)
			return step{question: q}, err
		}
		counted = held
	}
	reply, err := t.run(ctx, k.program, engine.RunOptions{}, nil)
	if err != nil {
		counted.unless(ctx, err)
	}
	if errors.As(err, &refusal) {
		return t.refusedStep(refusal), nil
	}
	if err != nil {
		return step{}, err
	}
	return t.concluded(ctx, k, reply, counted), nil
}

// checked checks a proposal. If nothing is to be run it returns nil, and what the model is told.
func (t *turn) checked(ctx context.Context, p proposal) (*task, step) {
	c := t.c
	script, ds := dsl.Parse(dsl.NewSource(c.o.Source, p.script))
	if ds.HasErrors() {
		return nil, t.mistaken(script, ds)
	}
	if n := t.calls + len(script.Calls); n > c.o.Limits.Calls {
		return nil, step{wrong: modelTooMany(n, c.o.Limits.Calls)}
	}
	t.trace.phrased, t.trace.codes = p.phrased, p.codes
	if !p.phrased {
		t.inOwnSpelling(script)
	}
	literals, traced := t.trace.literals(script)
	program, ds := c.o.Session.Check(ctx, script, engine.CheckOptions{Said: literals})
	if ds.HasErrors() || program == nil {
		return nil, t.mistaken(script, ds)
	}
	if len(program.Calls()) == 0 {
		return nil, step{wrong: modelNothing}
	}
	if key := t.bareKey(program, literals); key != nil {
		return nil, t.mistaken(script, dsl.Diagnostics{*key})
	}
	t.record.Resolved = append(t.record.Resolved, t.open(program, traced)...)
	t.means(program)
	k := &task{proposal: p, call: script, program: program, canonical: dsl.Format(script)}
	if t.ran[k.canonical] {
		return nil, step{wrong: modelRepeats}
	}
	if p.phrased {
		return k, step{}
	}
	k.by, k.swayed = t.swayed(ctx, script, literals)
	if len(k.swayed) > 0 && slices.ContainsFunc(k.swayed, sendsOnly) {
		t.record.note(noteToolAfter, k.by.Words())
		return nil, step{wrong: modelSwayed(k.by.Words()), why: dsl.Diagnostics{notAsked(k.by.Words())}}
	}
	if slices.ContainsFunc(program.Calls(), func(call verbs.Call) bool { return call.Verb.Undoes != nil }) {
		k.asked = true // which call a model wants taken back is for the person to say
	}
	return k, step{}
}

// asksAbout previews a program that changes something, and returns the question that the person has
// to answer first, or nil. counted holds the amounts that it adds to the budgets, also with an
// error.
func (t *turn) asksAbout(ctx context.Context, k *task) (q *Question, counted *hold, err error) {
	preview, before, err := t.preview(ctx, k.program)
	if err != nil {
		return nil, nil, err
	}
	why := t.doubts(k)
	if mine := slices.ContainsFunc(preview.Asks(), func(a receipt.Ask) bool { return a.By == "" }); !mine && !k.phrased && !k.given {
		unasked, err := t.unasked(ctx, k.call)
		if err != nil {
			return nil, nil, err
		}
		why = append(why, unasked...)
	}
	if !k.phrased && !k.given && t.asking(ctx) == nil && slices.ContainsFunc(k.program.Calls(), func(call verbs.Call) bool { return t.answersOne(call.Verb) }) {
		why = append(why, t.c.wording.reason(sayUnasked)) // its question does not stand here
	}
	if len(preview.Asks()) == 0 {
		var much *reason
		if much, counted, err = t.together(ctx, k.call); err != nil {
			return nil, counted, err
		}
		if much != nil {
			why = append(why, *much)
		}
	}
	if len(preview.Asks())+len(why) > 0 || k.asked || k.phrased && t.beyond(preview, t.c.o.Registry.Verb) {
		q = t.question(k.program, preview, before, why...)
	}
	return q, counted, nil
}

// doubts says what the person may not have wanted: rows that nobody named, values that they only
// mentioned, and what strangers may have asked for.
func (t *turn) doubts(k *task) (why []reason) {
	w := t.c.wording
	if !k.phrased {
		for _, name := range t.unshown(k.program) {
			why = append(why, w.reason(sayUnshown, name))
		}
		if names := t.mentioned(k.program); len(names) > 0 {
			why = append(why, w.arguments(sayOwnWord, names))
		}
	}
	if len(k.swayed) > 0 {
		why = append(why, reason{sayStrangers.In(values.English, k.by.Words()), w.say(sayStrangers, w.source(k.by))})
	}
	return why
}

// concluded notes what was run, and tells the model.
func (t *turn) concluded(ctx context.Context, k *task, reply *receipt.Receipt, counted *hold) step {
	c := t.c
	t.calls += len(k.call.Calls)
	before := len(t.done)
	t.did(k.program, reply)
	var says strings.Builder
	if len(t.done) > before {
		t.remember(k.program)
		t.ran[k.canonical] = true
		if c.unasked == nil {
			c.unasked = budget{}
		}
		c.unasked.add(k.call)
		says.WriteString(doneText(reply))
	} else {
		counted.release(ctx)
		c.read = latest{turn: t.record.Number, calls: k.call.Calls}
	}
	for i := range reply.Calls {
		if r := reply.Calls[i].Result; r != nil {
			says.WriteString(stood(reply.Calls[i].Filled) + shown(reply.Calls[i].Verb, r, nil, true))
		}
	}
	if says.Len() == 0 {
		says.WriteString("done; it answered nothing\n")
	}
	return step{says: says.String() + modelGoOn}
}

// shows records the names of rows that the model was shown.
func (c *Conversation) shows(messages []llm.Message, v grammar.Vocabulary) {
	if c.named == nil {
		c.named = map[string]bool{}
	}
	for i := range messages {
		for _, name := range atNames().FindAllString(messages[i].Text, -1) {
			if messages[i].Role != llm.Assistant { // a name that the model wrote itself was not shown to it
				c.named[name[1:]] = true
			}
		}
	}
	for _, name := range v.Names(nil) {
		c.named[name] = true
	}
}

// unshown lists, by their labels, the rows that the model named without having been shown them and
// without the person mentioning them: it invented the name, or has it from elsewhere. (SAFE-S8)
func (t *turn) unshown(p *verbs.Program) (called []string) {
	p.Names(func(a *verbs.Arg, _ *verbs.Type) {
		name := a.Name()
		if a.Syntax.Kind != dsl.Symbol || t.c.named[name] || t.trace.named(name) == ofPerson {
			return
		}
		label := t.c.o.Session.Names().Called(name)
		if label == "" {
			label = name
		}
		if !slices.Contains(called, label) {
			called = append(called, label)
		}
	})
	return called
}

// mentioned lists the arguments that accept no model's value and whose value the model took from
// the person's text. Mentioning a value is not agreeing to it. (F4, SAFE-S1)
func (t *turn) mentioned(p *verbs.Program) (names []string) {
	for i := range p.Calls() {
		call := &p.Calls()[i]
		for j := range call.Args {
			param, a := &call.Verb.Params[j], &call.Args[j]
			if param.From == 0 || param.From&verbs.FromModel != 0 || a.Kind != verbs.Literal || a.Syntax == nil || t.trace.ofRecords(a.Syntax) || t.ownWord(call.Verb, param, a.Syntax) {
				continue
			}
			if !slices.Contains(names, param.Name) {
				names = append(names, param.Name)
			}
		}
	}
	return names
}

// ownWord reports whether a message is the answer to the question for an argument, and nothing
// else.
func (t *turn) ownWord(v *verbs.Verb, p *verbs.Param, value *dsl.Value) bool {
	if t.c.expected != (expected{v.Name, p.Name}) || t.heard.quoted != "" || t.heard.hidden {
		return false
	}
	said := strings.TrimSpace(t.heard.own)
	if value.Kind == dsl.String && fold(said) == fold(value.Text) {
		return true
	}
	s := &source{text: said, when: t.now}
	s.prepare(readWords)
	if len(s.readings) != 1 || s.readings[0].start != 0 || s.readings[0].end != len(said) {
		return false
	}
	certain, _ := s.says(value)
	return certain
}

// beyond reports whether a call would change rows outside the subject of the conversation, or may:
// the preview of a call that discloses something hides its rows. The person is asked first.
func (t *turn) beyond(p *receipt.Receipt, verb func(name string) *verbs.Verb) bool {
	return slices.ContainsFunc(p.Calls, func(c receipt.Call) bool {
		if len(c.Notices)+len(c.JobChanges)+len(c.External) > 0 || c.Result.Hidden() {
			return true
		}
		return len(c.Rows) > 0 && !t.questions(verb(c.Verb))
	})
}

// questions reports whether a verb begins or ends a collection. A person who wants to begin one
// gets the first question at once, without being asked for agreement.
func (t *turn) questions(v *verbs.Verb) bool {
	return t.c.kept && slices.ContainsFunc(t.c.answering, func(a *verbs.Answering) bool {
		return slices.ContainsFunc(v.Effects, func(e verbs.Effect) bool {
			return e.Kind == verbs.Sets && !e.May && e.Session == a.While
		})
	})
}

// steps reports whether a verb may begin, continue or end a collection.
func (t *turn) steps(v *verbs.Verb) bool {
	return slices.ContainsFunc(t.c.answering, func(a *verbs.Answering) bool {
		return v == a.Verb || slices.ContainsFunc(v.Effects, func(e verbs.Effect) bool { return e.Kind == verbs.Sets && e.Session == a.While })
	})
}

// bareKey finds a key that the model wrote for a row. The model is never shown keys, so it guessed,
// or has it from a document. A person may type a key.
func (t *turn) bareKey(p *verbs.Program, said verbs.Literals) *dsl.Diagnostic {
	for i := range p.Calls() {
		call := &p.Calls()[i]
		for j := range call.Args {
			a, typ := &call.Args[j], call.Verb.Params[j].Type
			for typ.Name == verbs.ListType && typ.Item != nil {
				typ = typ.Item
			}
			if typ.Name != verbs.RefType || a.Kind != verbs.Literal || a.Syntax == nil {
				continue
			}
			all := []dsl.Value{*a.Syntax}
			if a.Syntax.Kind == dsl.List {
				all = a.Syntax.Items()
			}
			for k := range all {
				if o, _ := said.Of(all[k].Range); o != ofPerson {
					d := keyWritten(dsl.Place{Source: p.Script().Source, Range: all[k].Range}, call.Verb.Params[j].Name)
					return &d
				}
			}
		}
	}
	return nil
}

// open removes the values of sensitive arguments from traces.
func (t *turn) open(p *verbs.Program, traced []Traced) []Traced {
	var sensitive []dsl.Range
	for i := range p.Calls() {
		call := &p.Calls()[i]
		for j := range call.Args {
			if call.Verb.Params[j].Sensitive && call.Args[j].Syntax != nil {
				sensitive = append(sensitive, call.Args[j].Syntax.Range)
			}
		}
	}
	out := traced[:0:0]
	for _, tr := range traced {
		if slices.ContainsFunc(sensitive, func(r dsl.Range) bool { return r.Start <= tr.at.Start && tr.at.End <= r.End }) {
			tr.Text, tr.Words = withheld, ""
		}
		out = append(out, tr)
	}
	return out
}

const withheld = "(withheld)"

// written returns a script of the model for the record, without sensitive values. A script that
// does not parse is recorded only if no verb that it may mention has sensitive arguments.
func (t *turn) written(text string) string {
	script, ds := dsl.Parse(dsl.NewSource(t.c.o.Source, text))
	if ds.HasErrors() {
		for _, v := range t.c.o.Registry.Verbs() {
			if strings.Contains(text, v.Name) && slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Sensitive }) {
				return withheld
			}
		}
		return text
	}
	var lines []string
	var hide func(c *dsl.Call) dsl.Call
	hide = func(c *dsl.Call) dsl.Call {
		out := *c
		out.Args = slices.Clone(c.Args)
		v := t.c.o.Registry.Verb(c.Verb)
		for i := range out.Args {
			a := &out.Args[i]
			if inner := a.Value.Call(); inner != nil {
				a.Value = dsl.NewNested(hide(inner))
			}
			if v == nil || slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Sensitive && p.Name == a.Key }) {
				if v != nil {
					a.Value = dsl.NewString(withheld)
				}
			}
		}
		return out
	}
	for i := range script.Calls {
		c := hide(&script.Calls[i])
		lines = append(lines, dsl.FormatCall(&c))
	}
	return strings.Join(lines, "\n")
}

func (t *turn) mistaken(script *dsl.Script, ds dsl.Diagnostics) step {
	if script != nil {
		ds = t.c.o.Registry.Mask(script, ds)
	}
	var errs dsl.Diagnostics
	for _, d := range ds {
		if d.Severity == dsl.Error {
			errs = append(errs, d)
		}
	}
	return step{wrong: modelMistakes(errs), why: errs}
}

func (t *turn) refusedStep(r *engine.Refusal) step {
	t.record.refused(r.Diagnostics)
	return step{wrong: modelMistakes(r.Diagnostics), why: r.Diagnostics}
}
