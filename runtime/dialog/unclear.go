package dialog

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/words"
	"verbatim/stores"
)

// An unclear is what somebody said that had to be asked about, where no model is.
// There is one at most, and it waits until it is answered, declined, or given up
// because they speak of something else: see open.go.
type unclear struct {
	said   string        // all of it so far
	before string        // the same without the last answer
	verb   string        // that they chose, "" where they were not asked which
	asked  string        // the question
	offers []Offer       // what it offers
	places []words.Range // of said, that a choice stands in the place of
	about  string        // the verb that it seems to be about, "" where that is asked
	spoken []Spoken      // what was spoken of before it

	corrects bool // it changes a call that waits, and may change it in several ways

	id        string    // "" of one that was not put yet
	at, until time.Time // when it was put first, and when it is too old
	aside     int       // turns about something else since
	fresh     bool      // it was put last
	stored    bool      // in the session
}

// open reports whether there is one.
func (u *unclear) open() bool { return u.asked != "" }

// with is what was said, with something in the place of what is unclear in it.
func (u *unclear) with(text string) string {
	said, end := u.said, len(u.said)
	for i, at := range slices.Backward(u.places) {
		if at.Start < 0 || at.Start > at.End || at.End > end {
			return u.said + "\n" + text // of another sentence
		}
		put := ""
		if i == 0 {
			put = text
		}
		said, end = said[:at.Start]+put+said[at.End:], at.Start
	}
	return said
}

// chosen understands an answer that takes one of what was offered: "yes" to a
// single one, "the second one", or its words. It returns nil where it is no such
// answer. One that says nothing by itself counts only where the question was put
// last: again says that it has to be put first.
func (t *turn) chosen(ctx context.Context, was *unclear) (u *Understood, again bool, err error) {
	i, bare := choice(&t.heard, was.offers)
	switch {
	case i < 0:
		return nil, false, nil
	case bare && !was.fresh:
		return nil, true, nil
	}
	o := was.offers[i]
	next := unclear{said: was.said, before: was.before, verb: was.verb}
	says := []string{o.Text}
	switch {
	case o.Verb != "":
		next.verb, says = o.Verb, nil
	case len(was.places) == 0:
		u, err := t.answer(ctx, o.Text, &Understood{}, was)
		return u, false, err
	case isDay(o.Text):
		// In words, as they may be kept: "by 4 March 2027".
		day, _ := stores.ParseDate(o.Text)
		says = []string{words.SayDate(day, t.c.wording.tongue), o.Text}
	}
	for k := 0; k < max(1, len(says)); k++ {
		if k < len(says) {
			next.said = was.with(says[k])
		}
		got, err := t.c.understood(ctx, next.said, next.verb, was.spoken)
		if err != nil {
			return nil, false, err
		}
		if got.Script != "" || got.Ask != "" && got.Ask != was.asked {
			t.next = next
			return &got, false, nil
		}
	}
	return nil, false, nil
}

// understood is what was said in one part: where that has to be asked about, nothing is
// done of it.
func (c *Conversation) understood(ctx context.Context, said, verb string, spoken []Spoken) (Understood, error) {
	u, err := c.o.Interpreter.Interpret(ctx, said, verb, spoken)
	if u.Ask != "" {
		u.Script = ""
	}
	return u, err
}

// choice tells which of some offers an answer takes, -1 where it takes none, and
// whether it does so by words that say nothing by themselves: a yes, or a place.
func choice(h *heard, offers []Offer) (i int, bare bool) {
	if len(offers) == 0 {
		return -1, false
	}
	reply := h.reply
	which := cmp.Or(reply.Which, words.ReadChoice(h.own))
	switch {
	case reply.Answer != words.Other && reply.Answer != words.Agree:
		return -1, false
	case which == -1:
		return len(offers) - 1, true
	case which > 0:
		// "The 4th" of "3 April or 4 March" is no place; and of "2 January or 1
		// February" nobody knows whether "the second" is one.
		number, took := strconv.Itoa(which), -1
		for i, o := range offers {
			if i == which-1 || slices.Contains(strings.Fields(words.Plain(o.Says)), number) {
				if took >= 0 {
					return -1, false
				}
				took = i
			}
		}
		return took, took >= 0
	case reply.Answer == words.Agree && len(offers) == 1:
		return 0, true
	}
	took := -1
	said := words.Plain(h.own)
	for i, o := range offers {
		says := words.Plain(o.Says)
		if says == said {
			return i, false
		}
		// A part of one that is no part of another: it has to be more than a word,
		// which may stand for something else; but a month is one.
		if (strings.Contains(said, " ") || o.Verb == "" && isDay(o.Text) && len(said) > 2) && strings.Contains(" "+says+" ", " "+said+" ") {
			if took >= 0 {
				return -1, false
			}
			took = i
		}
	}
	return took, false
}

func isDay(text string) bool {
	_, ok := stores.ParseDate(text)
	return ok
}

// answer understands an answer with what it was asked about, which alone makes
// no sense; it returns nil where that makes none either. What can be done is what
// is meant, before what asks again; and an answer that did not help, for which the
// same is asked again, is forgotten: the next one would only stumble over it.
func (t *turn) answer(ctx context.Context, says string, alone *Understood, was *unclear) (*Understood, error) {
	if !was.open() || was.corrects {
		return nil, nil
	}
	type attempt struct {
		text, before string
		placed       bool
	}
	var attempts []attempt
	if words.ReadAnswer(says).Answer == words.Other {
		before, err := t.c.understood(ctx, was.said, was.verb, was.spoken)
		if err != nil {
			return nil, err
		}
		if before.Dictated {
			attempts = append(attempts, attempt{was.said + ": " + says, was.said, false})
		}
	}
	if len(was.places) > 0 {
		attempts = append(attempts, attempt{was.with(says), was.said, true})
	}
	for _, said := range [...]string{was.said, was.before} {
		for _, between := range [...]string{"\n", ", "} {
			if said != "" {
				attempts = append(attempts, attempt{said + between + says, said, false})
			}
		}
	}
	var found, same *Understood
	for _, a := range attempts {
		u, err := t.c.understood(ctx, a.text, was.verb, was.spoken)
		switch {
		case err != nil:
			return nil, err
		case alone.Ask != "" && !was.subject(&u):
			// It says something by itself, and together with what was said before it
			// would say something else.
		case u.Script != "":
			t.next = unclear{said: a.text}
			return &u, nil
		case a.placed && len(u.Places) == 0: // it is none of that kind
		case u.Ask == "" || alone.Ask != "" || a.before == was.before && u.Ask == was.asked:
		case u.Ask == was.asked:
			same = cmp.Or(same, &u)
		case found == nil:
			found, t.next = &u, unclear{said: a.text, before: a.before, verb: was.verb}
		}
	}
	if found == nil && same != nil {
		t.next = unclear{said: was.said, before: was.before, verb: was.verb, offers: was.offers, places: was.places}
		same.Offers, same.Places = was.offers, was.places
	}
	return cmp.Or(found, same), nil
}

// subject reports whether something that was understood by itself is what the
// question was about: whoever says the whole of it anew has answered.
func (u *unclear) subject(of *Understood) bool {
	among := func(verb string) bool {
		return verb != "" && (verb == u.about || verb == u.verb || slices.ContainsFunc(u.offers, func(o Offer) bool { return o.Verb == verb }))
	}
	return of.Ask == u.asked || among(of.Verb) || slices.ContainsFunc(of.Offers, func(o Offer) bool { return among(o.Verb) })
}

// reads reports whether what was understood changes nothing.
func (t *turn) reads(ctx context.Context, u *Understood) bool {
	script, ds := dsl.Parse(dsl.NewSource(t.c.o.Source, u.Script))
	if ds.HasErrors() {
		return false
	}
	program, _ := t.c.o.Session.Check(ctx, script)
	return program != nil && t.c.o.Session.Reads(program)
}
