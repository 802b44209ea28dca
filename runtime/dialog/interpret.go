package dialog

import (
	"context"
	"slices"
	"strings"

	"verbatim/runtime/words"
)

// A turn without a model: what was said is understood as far as the phrases of the
// palettes go, and asked about where they do not.

// interpret understands what was said as far as phrases go.
func (t *turn) interpret(ctx context.Context, otherwise string) (string, error) {
	c := t.c
	unread := c.wording.say(sayUnread)
	if otherwise == "" {
		otherwise = unread
	}
	if c.o.Interpreter == nil {
		return otherwise, nil
	}
	was := &t.was
	if was.corrects && was.open() {
		if text, ok, err := t.choosesCorrection(ctx, was); ok || err != nil {
			return text, err
		}
	}
	if text, ok, err := t.polite(ctx); ok || err != nil {
		if err != nil {
			return text, err
		}
		return t.aside(ctx, text)
	}
	chosen, again, err := t.chosen(ctx, was)
	if err != nil {
		return t.system(ctx, err)
	}
	if again {
		c.unclear.fresh = true
		return c.wording.say(sayMeantThat) + "\n" + was.asked, nil
	}
	var u Understood
	if chosen == nil {
		if u, err = c.o.Interpreter.Interpret(ctx, t.heard.own, "", c.before()); err != nil {
			return t.system(ctx, err)
		}
		if u.Long {
			return t.aside(ctx, c.wording.say(sayMuchAtOnce))
		}
		if text, ok, err := t.answered(ctx, &u); ok || err != nil {
			t.closed(false)
			return text, err
		}
		if u.Ask != "" { // what is said in full is done besides
			t.also, u.Script = u.Script, ""
		}
	}
	if u.Script == "" && chosen == nil {
		if chosen, err = t.answer(ctx, t.heard.own, &u, was); err != nil {
			return t.system(ctx, err)
		}
	}
	if was.open() && chosen == nil && u.Script != "" && !was.subject(&u) && t.reads(ctx, &u) {
		// They ask something in between.
		text, err := t.carried(ctx, &u)
		if err != nil {
			return text, err
		}
		return t.aside(ctx, text)
	}
	turned := ""
	switch {
	case !was.open():
	case chosen != nil:
		t.record.note(noteAnswerBefore)
		if u = *chosen; t.heard.reply.Answer == words.Decline && u.Script == "" {
			t.closed(false) // they do not want to be asked
			return c.wording.say(sayWell), nil
		}
		t.closed(true)
		if len(was.offers) > 1 && u.Ask == was.asked && t.heard.reply.Answer == words.Agree {
			text, err := t.makes(ctx, &u, was, otherwise)
			return text + "\n" + c.wording.say(saySayWhich), err
		}
		if said := t.next.said; said != "" && !strings.Contains(said, "@") {
			// All of it is theirs, also the day that they chose; a row that they chose
			// is known by its name, and what that says they did not say.
			t.trace.add(ofPerson, said, t.now)
		}
	case t.heard.reply.Answer == words.Decline && u.Script == "":
		t.closed(false)
		return c.wording.say(sayWell), nil
	case u.Script == "" && u.Ask == "":
		t.closed(false) // it answers nothing
	default:
		if !was.subject(&u) {
			turned = c.wording.say(sayLetGo, firstLine(was.asked)) + "\n"
			t.record.note(noteLetGo)
		}
		t.closed(false)
	}
	if t.lapsed.open() && u.Script == "" && u.Ask == "" {
		if text, err := t.lapse(ctx); text != "" || err != nil {
			return text, err
		}
	}
	text, err := t.makes(ctx, &u, was, otherwise)
	if err != nil || text == "" {
		return text, err
	}
	return turned + text, nil
}

// makes tells what came of what was understood.
func (t *turn) makes(ctx context.Context, u *Understood, was *unclear, otherwise string) (string, error) {
	c := t.c
	if q := t.held; q != nil && u.Script == "" && u.Verb == "" {
		t.record.note(noteHeldUp)
		return c.wording.say(sayHeldUp), nil
	} else if q != nil && !t.reads(ctx, u) && slices.Contains(c.open, q) {
		if err := t.withdraw(ctx, q); err != nil {
			return t.system(ctx, err)
		}
		t.record.Withdrawn = q.Calls
	}
	switch unread := c.wording.say(sayUnread); {
	case u.Ask != "":
		t.asksBack(u, was)
	case u.Script != "":
	case content(t.heard.reply):
		if a := t.asking(ctx); a != nil && a.Yes != "" {
			return c.wording.say(sayWasItYes), nil // "perfect" settles nothing
		}
		if len(c.open) > 0 { // nor does it where a question waits, whatever was said since
			freshen(c.open)
			return c.wording.again(c.open), nil
		}
		return c.wording.say(sayWell), nil
	case t.heard.reply.Answer == words.Decline:
		return c.wording.say(sayNothingOpen), nil
	case u.Beyond:
		t.record.note(noteBeyond)
		return t.cannot(), nil
	case otherwise == unread:
		const few = 3
		return otherwise + c.wording.examples(few, c.context, c.o.Session.Verbs()), nil
	default:
		return otherwise, nil
	}
	return t.carried(ctx, u)
}

// carried carries out what was understood, or asks what has to be asked first.
func (t *turn) carried(ctx context.Context, u *Understood) (string, error) {
	c := t.c
	t.record.Phrase, t.record.NotUsed = u.Matched, u.NotUsed
	t.intent = u.Verb
	supposed := ""
	if t.also != "" {
		also := t.also
		t.also = ""
		text, err := t.carried(ctx, &Understood{Script: also, Verb: u.Verb})
		if err != nil {
			return "", err
		}
		supposed = text + "\n"
	}
	if len(u.Assumed) > 0 {
		supposed += c.wording.assumed(u.Assumed)
		t.record.note(noteAssumed, "@"+strings.Join(u.Assumed, ", @"))
	}
	if u.Ask != "" {
		return joined(supposed+u.Ask, t.notTaken(u.Left)), nil
	}
	outcome, err := t.carry(ctx, proposal{script: u.Script, phrased: true})
	switch {
	case err != nil:
		return t.system(ctx, err)
	case outcome.question != nil:
		return joined(t.notTaken(u.Left), supposed+c.wording.question(outcome.question)), nil
	case outcome.wrong != "" && t.ends != "" && outcome.why[0].Code == "already-used":
		return t.overtaken(), nil
	case outcome.wrong != "":
		return supposed + c.wording.refused(outcome.why), nil
	}
	return joined(supposed+t.facing(t.left(t.found)), t.notTaken(u.Left)), nil
}

// notTaken names the parts of a message that nothing was made of, but for courtesies.
// (F25)
func (t *turn) notTaken(parts []string) string {
	var said []string
	for _, part := range parts {
		if c, _ := courtesyIn(part); c == nil && words.Plain(part) != "" {
			said = append(said, t.c.wording.say(sayQuoted, escaped(oneLine(part))))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return t.c.wording.say(sayNotTakenIn, strings.Join(said, t.c.wording.say(sayAlso)))
}

// content reports whether somebody is content with what they were told.
func content(r words.Reply) bool {
	return r.Which == 0 && (r.Answer == words.Agree || r.Answer == words.Pleased)
}
