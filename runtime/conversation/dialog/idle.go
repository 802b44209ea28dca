package dialog

import (
	"context"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
)

// Idle: no question waits, or the message is about something else. Without a model, a message is
// read once by the palettes' phrases. A part that answers a question is an answer; the others run,
// are asked about, or are listed as not understood.

// interpret reads a message by phrases.
func (t *turn) interpret(ctx context.Context, otherwise string) (string, error) {
	c := t.c
	t.as(TakenNothing)
	if otherwise == "" {
		otherwise = c.wording.say(sayUnread)
	}
	if c.o.Interpreter == nil {
		return otherwise, nil
	}
	if t.was.Corrects && t.was.open() {
		if text, ok, err := t.choosesCorrection(ctx, &t.was); ok || err != nil {
			return text, err
		}
	}
	if text, ok, err := t.polite(ctx); ok || err != nil {
		if err != nil {
			return text, err
		}
		t.as(TakenCourtesy)
		return t.aside(ctx, text)
	}
	chosen, again, err := t.chosen(ctx, &t.was)
	switch {
	case err != nil:
		return t.system(ctx, err)
	case again:
		t.as(TakenAgain)
		c.unclear.fresh = true
		return c.wording.say(sayMeantThat) + "\n" + t.was.Asked, nil
	case chosen != nil:
		return t.clarified(ctx, chosen, otherwise)
	}
	if text, ok := t.staysOpen(ctx); ok {
		return text, nil
	}
	u, err := c.o.Interpreter.Interpret(ctx, t.heard.own, Settled{}, t.before())
	if err != nil {
		return t.system(ctx, err)
	}
	if u.Long {
		return t.aside(ctx, c.wording.say(sayMuchAtOnce))
	}
	if text, ok, err := t.answered(ctx, &u); ok || err != nil {
		t.closed(false)
		return text, err
	}
	if u.Withheld != "" && !t.was.open() && len(c.open) == 0 && c.otherwise == nil && !t.remarks(mostAskingText) && !content(t.heard.reply) {
		t.as(TakenRequest)
		return c.wording.notYours(c.o.Registry.Verb(u.Withheld)), nil
	}
	if t.held != nil && u.Script == "" && u.Verb == "" { // "no, do not delete it, only reject it"
		if said := affirmed(t.heard.own); said != "" {
			if u, err = c.o.Interpreter.Interpret(ctx, said, Settled{}, t.before()); err != nil {
				return t.system(ctx, err)
			}
			u.Of = values.Range{}
		}
	}
	if complains(t.heard.own) && c.person != nil && u.Script == "" && slices.ContainsFunc(u.Offers, func(o Offer) bool { return o.Verb == c.person.Name }) {
		if u, err = c.o.Interpreter.Interpret(ctx, t.heard.own, Settled{Verb: c.person.Name}, t.before()); err != nil {
			return t.system(ctx, err)
		}
		u.Confidence = 0 // it is asked about
	}
	if u.Script == "" && u.Verb == "" && len(u.Names) == 0 && complains(t.heard.own) {
		u = Understood{} // no menu answers a complaint
	}
	resembles := slices.ContainsFunc(u.Offers, func(o Offer) bool { return o.Verb != "" })
	if u.Script == "" && (content(t.heard.reply) || t.heard.reply.Answer == values.Decline && resembles) {
		u = Understood{} // a yes or a no alone asks for nothing, whatever it sounds like
	}
	if o := c.otherwise; o != nil && (u.Script == "" || u.Confidence < plainly) && !t.was.open() && !content(t.heard.reply) && t.heard.reply.Answer != values.Decline {
		given := answer(o, t.heard.own)
		u = Understood{Script: dsl.FormatCall(&given), Verb: o.Verb.Name, Confidence: 1}
	}
	if u.Script == "" && t.was.open() && t.puzzled(&u) {
		if u.Ask != "" && !values.AsksBack(t.heard.own) { // a question of their own, which lacks something
			t.as(TakenAgain)
			return t.aside(ctx, t.notTaken([]string{t.heard.own}))
		}
		return t.saysWhy(), nil
	}
	if chosen, err = t.takesValue(ctx, &u, &t.was); err != nil {
		return t.system(ctx, err)
	}
	if u.Ask != "" && chosen == nil { // the complete calls run besides
		t.also, u.Script = u.Script, ""
	}
	if chosen != nil {
		return t.clarified(ctx, chosen, otherwise)
	}
	if t.stood && (u.Script == "" || u.Confidence < plainly) && len(u.Left) <= 1 {
		if text, ok, err := t.adds(ctx, u.Script != "" || u.Ask != "" && (u.Verb != "" || enquires(t.heard.own) || asksFor(t.heard.own))); ok || err != nil {
			return text, err
		}
	}
	if t.stood && (u.Script == "" || u.Confidence < plainly) && t.vague(&u) {
		t.as(TakenAgain)
		return joined(t.notTaken([]string{t.heard.own}), t.putsAgain()), nil
	}
	if t.was.open() && u.Script == "" && u.Ask == "" && t.heard.reply.Answer != values.Decline {
		t.as(TakenAgain)
		if content(t.heard.reply) {
			c.unclear.fresh = true
			return c.wording.say(sayMeantThat) + "\n" + t.was.Asked, nil
		}
		text, err := t.aside(ctx, t.notTaken([]string{t.heard.own}))
		if !c.unclear.open() {
			t.as(TakenNothing) // the question was given up
		}
		return text, err
	}
	turned, text, done, err := t.turnsTo(ctx, &u)
	if done || err != nil {
		return text, err
	}
	if t.lapsed.open() && u.Script == "" && u.Ask == "" {
		if text, err := t.lapse(ctx); text != "" || err != nil {
			return text, err
		}
	}
	if text, err = t.makes(ctx, &u, &t.was, otherwise); err != nil || text == "" {
		return text, err
	}
	return turned + text, nil
}

// surely is the confidence from which something may be done that the palettes ask no question about.
const surely = 0.8

// vague reports whether a message right after a question says nothing that can be worked with, or so
// little that it may be an answer to it: "gerne". It displaces nothing.
func (t *turn) vague(u *Understood) bool {
	if t.remarks(mostAsking) {
		return false
	}
	menu := u.Verb == "" && len(u.Names) == 0
	return u.Ask == "" && u.Script == "" || menu && len(strings.Fields(t.heard.own)) <= mostAsking
}

// makes answers a reading.
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
		if t.record.Taken != TakenChoice {
			t.as(TakenUnclear)
		}
		t.asksBack(u, was)
	case u.Script != "":
		if t.record.Taken != TakenChoice {
			t.as(TakenRequest)
		}
	case complains(t.heard.own) && t.heard.reply == values.Reply{}:
		t.as(TakenCourtesy)
		if len(c.open) > 0 {
			return joined(t.sorry(), t.putsAgain()), nil
		}
		return t.sorry(), nil
	case content(t.heard.reply):
		t.as(TakenCourtesy)
		if a := t.asking(ctx); a != nil && a.Yes != "" {
			t.puts = true
			return c.wording.say(sayWasItYes), nil // "perfect" settles nothing
		}
		if len(c.open) > 0 { // nor does it where a question waits, whatever was said since
			return t.putsAgain(), nil
		}
		return c.wording.say(sayWell), nil
	case t.heard.reply.Answer == values.Decline:
		t.as(TakenNo)
		return c.wording.say(sayNothingOpen), nil
	case otherwise == unread && len(c.open) > 0 && t.remarks(mostAsking):
		if !values.AsksBack(t.heard.own) {
			t.as(TakenAgain)
			return joined(t.notTaken([]string{t.heard.own}), t.putsAgain()), nil
		}
		if p, err := c.meaning(ctx, c.stands()); err == nil && len(p.Calls()) == 1 {
			return t.neededFor(p.Calls()[0].Verb.Name, t.putsAgain()), nil
		}
		return otherwise, nil
	case otherwise == unread:
		return t.unread(u), nil
	default:
		return otherwise, nil
	}
	return t.carried(ctx, u)
}

// carried runs a reading, or asks what has to be asked first.
func (t *turn) carried(ctx context.Context, u *Understood) (string, error) {
	c := t.c
	t.record.Phrase, t.record.NotUsed = u.Matched, u.NotUsed
	t.intent = u.Verb
	supposed, part := "", ""
	var first *Question // of the calls besides
	if u.Ask != "" && u.Of.End <= len(t.heard.own) && (t.also != "" || len(u.Left) > 0) {
		part = c.wording.say(sayAboutPart, escaped(oneLine(t.heard.own[u.Of.Start:u.Of.End]))) + "\n"
	}
	if t.also != "" {
		also := t.also
		t.also = ""
		text, err := t.carried(ctx, &Understood{Script: also, Verb: u.Verb})
		if err != nil {
			return "", err
		}
		if supposed = text + "\n"; len(t.asked) > 0 {
			first = c.stands()
		}
	}
	if len(u.Assumed) > 0 {
		supposed += c.wording.assumed(u.Assumed)
		t.record.note(noteAssumed, "@"+strings.Join(u.Assumed, ", @"))
	}
	for _, day := range u.Days {
		supposed += day + "\n"
	}
	if u.Ask != "" && first != nil { // one question at a time
		c.unclear.fresh = false
		name := firstLine(u.Ask)
		if slices.ContainsFunc(u.Offers, func(o Offer) bool { return o.Verb != "" }) && u.Of.End <= len(t.heard.own) { // which verb is meant says nothing by itself
			name = c.wording.say(sayQuoted, escaped(oneLine(t.heard.own[u.Of.Start:u.Of.End])))
		}
		return joined(c.wording.say(sayPutOff, name), t.notTaken(u.Left), supposed), nil
	}
	if u.Ask != "" {
		return joined(supposed+part+u.Ask, t.notTaken(u.Left)), nil
	}
	outcome, err := t.carry(ctx, proposal{script: u.Script, phrased: true, asked: u.Confidence < surely, codes: u.Codes})
	switch {
	case err != nil:
		return t.system(ctx, err)
	case outcome.question != nil:
		if first != nil && first != outcome.question {
			supposed = c.wording.say(sayPutOff, first.line()) + "\n"
		}
		return joined(t.notTaken(u.Left), supposed+c.wording.question(outcome.question)), nil
	case outcome.wrong != "" && t.ends != "" && outcome.why[0].Code == "already-used":
		return t.overtaken(), nil
	case outcome.wrong != "":
		return supposed + t.refused(outcome.why), nil
	}
	return joined(supposed+t.facing(t.left(t.found)), t.notTaken(u.Left)), nil
}

// affirmed returns the last clause of a message that takes something back, if it takes back nothing itself; "" if there
// is none.
func affirmed(text string) string {
	clauses := clausesOf(text)
	last := strings.TrimSpace(clauses[len(clauses)-1])
	if len(clauses) < 2 || slices.ContainsFunc(wordsIn(last), denies) {
		return ""
	}
	return last
}

// notTaken lists the parts of a message that were not understood, without courtesies; a complaint is
// acknowledged instead. (F25)
func (t *turn) notTaken(parts []string) string {
	var said []string
	sorry := ""
	for _, part := range parts {
		if complains(part) {
			sorry = t.sorry()
			continue
		}
		if c, _ := courtesyIn(part); c == nil && values.Plain(part) != "" {
			said = append(said, t.c.wording.say(sayQuoted, escaped(oneLine(part))))
		}
	}
	if len(said) == 0 {
		return sorry
	}
	return joined(sorry, t.c.wording.say(sayNotTakenIn, strings.Join(said, t.c.wording.say(sayAlso))))
}

// content reports whether the person says that they are content.
func content(r values.Reply) bool {
	return r.Which == 0 && (r.Answer == values.Agree || r.Answer == values.Pleased)
}
