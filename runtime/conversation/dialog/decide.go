package dialog

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/stores"
)

// Deciding: what others asked for waits for this person's agreement. They ask for it by message, are
// shown one after the other, and answer each with a yes or a no. Nothing is agreed to that was not
// shown: "I approve it" without an open question shows it first.

// mostDeciding is the greatest number of words of a message that asks what waits.
const mostDeciding = 25

var deciding = lazily(func() string { return `(?:^| )(?:` + values.Expression("deciding") + `)(?: |$)` })

// decides shows what waits for the person, if they ask for it, say that they agree to it, or say a yes to
// no question of ours: it may be meant for that of a colleague.
func (t *turn) decides(ctx context.Context) (string, bool, error) {
	c := t.c
	if len(c.open) > 0 || t.was.open() || t.heard.hidden || len(strings.Fields(t.heard.own)) > mostDeciding {
		return "", false, nil
	}
	asked := deciding().MatchString(values.Plain(t.heard.own))
	if !asked && (t.heard.reply != values.Reply{Answer: values.Agree} || t.asking(ctx) != nil) {
		return "", false, nil
	}
	text, found, err := t.nextDecision(ctx)
	if err == nil && !found && asked && c.o.Interpreter != nil {
		var u Understood
		if u, err = c.o.Interpreter.Interpret(ctx, t.heard.own, Settled{}, t.before()); u.Script != "" || u.Verb != "" {
			asked = false // a verb of the palette answers it
		}
	}
	switch {
	case err != nil:
		text, err = t.system(ctx, err)
		return text, true, err
	case !found && !asked:
		return "", false, nil
	case !found:
		text = c.wording.say(sayNoDecision)
	}
	t.as(TakenRequest)
	return text, true, nil
}

// nextDecision puts the oldest proposal of a colleague that waits for the person.
func (t *turn) nextDecision(ctx context.Context) (text string, found bool, err error) {
	c := t.c
	all, err := c.o.Session.Pending(ctx)
	if err != nil {
		return "", false, err
	}
	all = slices.DeleteFunc(all, func(p *engine.Pending) bool { return !p.Mine || p.Asker == c.o.Session.Principal().Name })
	for i, p := range all {
		if p, err = c.o.Session.Show(ctx, p.ID); err != nil {
			return "", false, err
		}
		if !p.Mine || p.Stale || p.Preview == nil {
			continue // nobody can agree to it any more
		}
		return c.wording.question(t.decision(p, len(all)-i-1)), true, nil
	}
	return "", false, nil
}

// decision makes a question of a proposal of a colleague. more is the number of those that wait after it.
func (t *turn) decision(p *engine.Pending, more int) *Question {
	w := t.c.wording
	q := t.question(nil, p.Preview, 0)
	q.ID, q.decides, q.others = p.ID, true, nil
	if p.Expires.Before(q.Until) {
		q.Until = p.Expires
	}
	q.Because = w.say(sayAskedBy, p.Called, w.day(stores.DateOf(p.Asked.In(w.zone))), w.day(stores.DateOf(p.Expires.In(w.zone))))
	if more > 0 {
		q.Because += " " + w.say(sayMoreWait, strconv.Itoa(more))
	}
	return q
}

// decided carries out the answer to a proposal of a colleague, and puts the next one.
func (t *turn) decided(ctx context.Context, q *Question, yes bool) (text string, err error) {
	c := t.c
	t.close(q)
	var pending *engine.Pending
	done := false
	if yes {
		t.record.Agreed = q.ID
		p, reply, failed := c.o.Session.Agree(ctx, q.ID)
		pending, done, err = p, reply != nil, failed
	} else {
		t.record.Withdrawn = q.Calls
		err = c.o.Session.Decline(ctx, q.ID, "")
	}
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal):
		t.record.refused(refusal.Diagnostics)
		text = t.refused(refusal.Diagnostics)
	case err != nil:
		return t.system(ctx, err)
	case !yes:
		text = c.wording.say(sayDecidedNot)
	case done:
		text = c.wording.say(sayDecided, q.Title)
	default:
		var others []string
		for _, role := range pending.Roles {
			if role.By == "" && role.Role != "" {
				others = append(others, role.Role)
			}
		}
		text = c.wording.waitsFor(others, pending.Expires)
	}
	next, _, err := t.nextDecision(ctx)
	if err != nil {
		return text, nil // what was decided stands; the rest is asked for again
	}
	return joined(text, next), nil
}
