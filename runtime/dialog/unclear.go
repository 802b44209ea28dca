package dialog

import (
	"cmp"
	"context"
	"strings"

	"verbatim/runtime/words"
)

// An unclear is what somebody said that had to be asked about, where no model is.
type unclear struct {
	said   string  // all of it so far
	before string  // the same without the last answer
	verb   string  // that they chose, "" where they were not asked which
	asked  string  // the question
	offers []Offer // what it offers
}

// chosen understands an answer that takes one of what was offered: "yes" to a
// single one, "the second one", or its words. It returns nil where it is no such
// answer.
func (t *turn) chosen(ctx context.Context, was unclear) (*Understood, error) {
	i := choice(t.heard.own, was.offers)
	if i < 0 {
		return nil, nil
	}
	o := was.offers[i]
	if o.Verb == "" {
		return t.answer(ctx, o.Says, &Understood{}, was)
	}
	u, err := t.c.o.Interpreter.Interpret(ctx, was.said, o.Verb, t.c.before())
	if err != nil || u.Script == "" && (u.Ask == "" || u.Ask == was.asked) {
		return nil, err
	}
	t.record.unclear = unclear{said: was.said, before: was.before, verb: o.Verb}
	return &u, nil
}

// choice tells which of some offers an answer takes, -1 where it takes none.
func choice(said string, offers []Offer) int {
	if len(offers) == 0 {
		return -1
	}
	reply := words.ReadAnswer(said)
	switch which := reply.Which; {
	case reply.Answer != words.Other && reply.Answer != words.Agree:
		return -1
	case which == -1:
		return len(offers) - 1
	case which > 0 && which <= len(offers):
		return which - 1
	case which == 0 && reply.Answer == words.Agree && len(offers) == 1:
		return 0
	}
	took := -1
	said = words.Plain(said)
	for i, o := range offers {
		says := words.Plain(o.Says)
		if says == said {
			return i
		}
		// A part of one that is no part of another: it has to be more than a word,
		// which may stand for something else.
		if strings.Contains(said, " ") && strings.Contains(" "+says+" ", " "+said+" ") {
			if took >= 0 {
				return -1
			}
			took = i
		}
	}
	return took
}

// answer understands an answer with what it was asked about, which alone makes
// no sense; it returns nil where that makes none either. What can be done is what
// is meant, before what asks again; and an answer that did not help, for which the
// same is asked again, is forgotten: the next one would only stumble over it.
func (t *turn) answer(ctx context.Context, says string, alone *Understood, was unclear) (*Understood, error) {
	if was.said == "" {
		return nil, nil
	}
	var found, same *Understood
	for i, said := range [...]string{was.said, was.before} {
		for _, between := range [...]string{"\n", ", "} {
			if said == "" {
				continue
			}
			text := said + between + says
			u, err := t.c.o.Interpreter.Interpret(ctx, text, was.verb, t.c.before())
			switch {
			case err != nil:
				return nil, err
			case u.Script != "":
				t.record.unclear = unclear{said: text}
				return &u, nil
			case u.Ask == "" || alone.Ask != "" || i > 0 && u.Ask == was.asked:
			case u.Ask == was.asked:
				same = cmp.Or(same, &u)
			case found == nil:
				found, t.record.unclear = &u, unclear{said: text, before: said, verb: was.verb}
			}
		}
	}
	if found == nil && same != nil {
		t.record.unclear = was
	}
	return cmp.Or(found, same), nil
}
