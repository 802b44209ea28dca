package dialog

import (
	"context"
	"errors"
	"slices"

	"verbatim/runtime"
	"verbatim/verbs"
)

// converse answers what was said: with a model, or without.
func (t *turn) converse(ctx context.Context) (string, error) {
	c := t.c
	if err := t.ready(ctx); err != nil {
		return t.system(ctx, err)
	}
	var err error
	shortlist := t.shortlist()
	if c.o.Model == nil {
		return t.interpret(ctx, "")
	}
	if t.over, err = c.o.Session.Settled(ctx, shortlist, t.names); err != nil {
		return t.system(ctx, err)
	}
	messages, err := t.prompt(ctx, shortlist)
	if err != nil {
		return t.system(ctx, err)
	}
	return t.ask(ctx, messages, shortlist)
}

// ready gathers what the turn may speak of, and the names that are known now.
func (t *turn) ready(ctx context.Context) (err error) {
	t.begin()
	if t.names != nil {
		return nil
	}
	t.names, err = t.c.o.Session.Names(ctx, t.c.o.Registry.Entities())
	return err
}

// system tells that something is wrong with the system.
func (t *turn) system(ctx context.Context, err error) (string, error) {
	var refusal *runtime.Refusal
	var failed *runtime.Failure
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &refusal):
		t.record.refused(refusal.Diagnostics)
		return t.c.wording.refused(refusal.Diagnostics), nil
	case errors.As(err, &failed) && failed.Unknown:
		t.record.note(noteLost)
		return t.c.wording.say(sayUnknownEnd), nil
	}
	t.record.note(noteFailed, runtime.Sentence(err))
	if len(t.done) > 0 {
		return joined(t.left(t.done), t.c.wording.say(sayThenFailed)), nil
	}
	return t.c.wording.say(sayFailed), nil
}

// shortlist picks the verbs that the model is told of.
func (t *turn) shortlist() []*verbs.Verb {
	all := t.c.verbs
	if len(all) <= maxVerbs {
		return all
	}
	if t.c.o.Interpreter != nil {
		// What was said before helps to understand "and for Thomas?".
		said := t.heard.own
		if past := t.c.latest(); len(past) > 0 {
			said += "\n" + past[len(past)-1].Said
		}
		list := t.c.o.Interpreter.Shortlist(said, all, maxVerbs)
		// What the context is made of can always be asked for again.
		for _, v := range t.c.context {
			if !slices.Contains(list, v) {
				list = append(list[:min(len(list), maxVerbs-1)], v)
			}
		}
		return list[:min(len(list), maxVerbs)]
	}
	return all[:maxVerbs]
}
