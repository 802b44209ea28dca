package dialog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/verbs"
)

// Clarifying: a message was unclear and the person was asked about it, without a model.

// An unclear is a message that the person was asked about. There is at most one. It waits until the
// person answers, declines, or moves on to something else. Its exported fields are what a session
// keeps of it besides its words.
type unclear struct {
	said     string   // all of it so far
	Before   string   `json:"before,omitempty"`   // the same without the last answer
	Verb     string   `json:"verb,omitempty"`     // the verb that the person chose, "" if they were not asked
	Given    []Given  `json:"given,omitempty"`    // answers that are not part of said
	Wants    Given    `json:"wants,omitzero"`     // the argument that is asked for, without a text
	Text     bool     `json:"text,omitempty"`     // it is free text
	Asked    string   `json:"asked"`              // the question
	Offers   []Offer  `json:"offers,omitempty"`   // the choices in it
	About    string   `json:"about,omitempty"`    // the verb that it seems to be about, "" if the question asks for the verb
	Names    []string `json:"names,omitempty"`    // the rows that it names: "why do you need it?" is about them
	Spoken   []Spoken `json:"spoken,omitempty"`   // what was spoken of before it
	Aside    int      `json:"aside,omitempty"`    // turns about other subjects since
	Corrects bool     `json:"corrects,omitempty"` // it corrects a pending call, and may do so in several ways

	id        string    // "" before it is asked
	at, until time.Time // when it was first asked, and when it expires
	fresh     bool      // it was the last question
	stored    bool      // in the session's rows
}

// open reports whether a question waits.
func (u *unclear) open() bool { return u.Asked != "" }

// with returns the message with an answer for the argument that was asked for.
func (u *unclear) with(text string) unclear {
	g := u.Wants
	g.Text = text
	return unclear{said: u.said, Before: u.Before, Verb: cmp.Or(u.Verb, g.Verb), Given: append(slices.Clone(u.Given), g)}
}

// chosen reads an answer that picks an offer: "yes" to a single one, "the second one", or its
// words. It returns nil if the message picks none. An answer that means nothing by itself counts
// only if the question was the last thing asked; again asks to put it first.
func (t *turn) chosen(ctx context.Context, was *unclear) (u *Understood, again bool, err error) {
	i, bare := choice(&t.heard, was.Offers)
	switch {
	case i < 0:
		return nil, false, nil
	case bare && !was.fresh:
		return nil, true, nil
	}
	o := was.Offers[i]
	next := was.with(o.Text)
	if o.Verb != "" {
		next = unclear{said: was.said, Before: was.Before, Verb: o.Verb, Given: was.Given}
	}
	got, err := t.c.understood(ctx, next.said, &next, was.Spoken)
	switch {
	case err != nil:
		return nil, false, err
	case got.Script != "" || got.Ask != "" && got.Ask != was.Asked:
		t.next = next
		return &got, false, nil
	case o.Verb == "":
		u, err = t.answer(ctx, o.Text, &Understood{}, was)
	}
	return u, false, err
}

// understood interprets a message in one part. A message that is unclear runs nothing.
func (c *Conversation) understood(ctx context.Context, said string, of *unclear, spoken []Spoken) (Understood, error) {
	u, err := c.o.Interpreter.Interpret(ctx, said, Settled{of.Verb, of.Given}, spoken)
	if u.Ask != "" {
		u.Script = ""
	}
	u.Left = nil // an answer is a part of what it answers
	return u, err
}

// clarified continues with an unclear message after the answer; chosen is the reading of the
// answer.
func (t *turn) clarified(ctx context.Context, chosen *Understood, otherwise string) (string, error) {
	c, was := t.c, &t.was
	t.as(TakenChoice)
	t.record.note(noteAnswerBefore)
	u := *chosen
	if t.heard.reply.Answer == values.Decline && u.Script == "" {
		t.as(TakenNo) // they do not want to be asked
		t.closed(false)
		return c.wording.say(sayWell), nil
	}
	t.closed(true)
	if len(was.Offers) > 1 && u.Ask == was.Asked && t.heard.reply.Answer == values.Agree {
		text, err := t.makes(ctx, &u, was, otherwise)
		return text + "\n" + c.wording.say(saySayWhich), err
	}
	t.trace.add(ofPerson, t.next.said, t.now)
	for _, g := range t.next.Given {
		if !strings.HasPrefix(g.Text, "@") { // they picked the row, and did not say the words of its label
			t.trace.add(ofPerson, g.Text, t.now)
		}
	}
	return t.makes(ctx, &u, was, otherwise)
}

// turnsTo ends the waiting when the person says something else; turned announces that. A read in
// between is answered at once: then done is true, and text is the whole answer.
func (t *turn) turnsTo(ctx context.Context, u *Understood) (turned, text string, done bool, err error) {
	c, was := t.c, &t.was
	if !was.open() {
		return "", "", false, nil
	}
	reads := u.Script != "" && t.reads(ctx, u)
	if t.heard.reply.Answer == values.Decline && reads {
		u = &Understood{} // a bare "no" is no question, whatever a palette's phrases make of it
	}
	if reads && u.Script != "" && !was.subject(u) {
		t.as(TakenBetween)
		if text, err = t.carried(ctx, u); err == nil {
			text, err = t.aside(ctx, text)
		}
		return "", text, true, err
	}
	t.closed(false)
	switch {
	case t.heard.reply.Answer == values.Decline && u.Script == "":
		t.as(TakenNo)
		return "", c.wording.say(sayWell), true, nil
	case u.Script == "" && u.Ask == "": // it answers nothing
	case !was.subject(u) || was.namesOthers(u):
		turned = c.wording.say(sayLetGo, firstLine(was.Asked)) + "\n"
		t.record.note(noteLetGo)
	}
	return turned, "", false, nil
}

// choice returns the offer that an answer picks, or -1. bare says that the answer means nothing by
// itself: a yes, or a position.
func choice(h *heard, offers []Offer) (i int, bare bool) {
	if len(offers) == 0 {
		return -1, false
	}
	reply := h.reply
	which := cmp.Or(reply.Which, values.ReadChoice(h.own))
	switch {
	case reply.Answer != values.Other && reply.Answer != values.Agree:
		return -1, false
	case which == -1:
		return len(offers) - 1, true
	case which > 0:
		// "The 4th" picks a date in "3 April or 4 March", not a position. "The second" of "2
		// January or 1 February" may be either, so it picks nothing.
		number, took := strconv.Itoa(which), -1
		for i, o := range offers {
			if i == which-1 || slices.ContainsFunc(strings.Fields(o.Says), func(w string) bool { return strings.Trim(w, ".,") == number }) {
				if took >= 0 {
					return -1, false
				}
				took = i
			}
		}
		return took, took >= 0
	case reply.Answer == values.Agree && len(offers) == 1:
		return 0, true
	}
	took := -1
	said, day := values.Plain(h.own), values.ReadDay(h.own)
	for i, o := range offers {
		says := values.Plain(o.Says)
		if says == said {
			return i, false
		}
		if day != "" && strings.HasSuffix(o.Text, day) { // "the third of April" of "3 April 1972"
			if took >= 0 {
				return -1, false
			}
			took = i
			continue
		}
		// Words of only one offer pick it. A verb needs more than one word, since a single word may
		// belong to a new request.
		if (strings.Contains(said, " ") || o.Verb == "" && len(said) > 2) && strings.Contains(" "+says+" ", " "+said+" ") {
			if took >= 0 {
				return -1, false
			}
			took = i
		}
	}
	return took, false
}

// answer reads an answer together with the unclear message; nil if that makes no sense either. A
// reading that can run wins over one that asks again. An answer that leads to the same question
// again is dropped, so that it does not confuse the next one.
func (t *turn) answer(ctx context.Context, says string, alone *Understood, was *unclear) (*Understood, error) {
	if !was.open() || was.Corrects || t.heard.reply.Answer == values.Decline { // a no is a part of nothing
		return nil, nil
	}
	var attempts []unclear
	if u, err := t.dictated(ctx, says, alone, was); u != nil || err != nil {
		return u, err
	}
	if t.mayFill(says, was) {
		if u, err := t.fills(ctx, says, alone, was); u != nil || err != nil {
			return u, err
		}
		attempts = append(attempts, was.with(says))
	}
	for _, said := range [...]string{was.said, was.Before} {
		for _, between := range [...]string{"\n", ", "} {
			if said != "" {
				attempts = append(attempts, unclear{said: said + between + says, Before: said, Verb: was.Verb, Given: was.Given})
			}
		}
	}
	var found, same *Understood
	for _, a := range attempts {
		u, err := t.c.understood(ctx, a.said, &a, was.Spoken)
		switch {
		case err != nil:
			return nil, err
		case (alone.Ask != "" || was.About != "") && !was.subject(&u):
			// The message means something by itself, or it was clear which verb is meant; joined
			// with the earlier one it would mean something else.
		case u.Script != "":
			t.next = unclear{said: a.said, Given: a.Given}
			return &u, nil
		case len(a.Given) > len(was.Given) && u.Wants.Verb == was.Wants.Verb && u.Wants.Param != was.Wants.Param && u.Beside == "":
			t.next = a // it is the whole answer, and no part of the next one
			return &u, nil
		case u.Ask == "" || alone.Ask != "" && !t.further(&u, alone) && !a.narrows(&u, was) || a.Before == was.Before && u.Ask == was.Asked:
		case u.Ask == was.Asked:
			same = cmp.Or(same, &u)
		case found == nil:
			found, t.next = &u, a
		}
	}
	if found == nil && same != nil {
		t.next = unclear{said: was.said, Before: was.Before, Verb: was.Verb, Given: was.Given}
		same.Offers, same.Wants = was.Offers, was.Wants
	}
	return cmp.Or(found, same), nil
}

// narrows reports whether a message with an answer for the argument that was asked for asks which of
// several values the answer means: "1.234".
func (u *unclear) narrows(now *Understood, was *unclear) bool {
	return len(u.Given) > len(was.Given) && now.Wants == was.Wants && len(now.Offers) > 1 && now.Ask != was.Asked
}

// correctsAsked takes a message that corrects a row of the unclear message, such as "no, I meant Pierre"
// where a text is asked for, and puts the question again for that row. A message that only says that
// something is wrong is no text either.
func (t *turn) correctsAsked(ctx context.Context) (text string, handled bool, err error) {
	c, was := t.c, &t.was
	v := c.o.Registry.Verb(was.Wants.Verb)
	if v == nil || c.o.Model != nil || c.o.Interpreter == nil || was.Corrects || t.heard.hidden || t.heard.reply.Answer == values.Decline {
		return "", false, nil
	}
	if err := t.ready(ctx); err != nil {
		return "", true, err
	}
	var args []dsl.Arg
	for i := range v.Params {
		p := &v.Params[i]
		for _, name := range was.Names {
			if p.Type.Entity != nil && slices.Contains(t.names[p.Type.Entity], name) {
				args = append(args, dsl.NewArg(p.Name, dsl.NewSymbol(name)))
				break
			}
		}
	}
	call := dsl.NewCall(v.Name, args...)
	found, ok, err := c.o.Interpreter.Correct(ctx, t.heard.own, &call)
	switch {
	case err != nil:
		return "", true, err
	case !ok && found.Bare && was.Text:
		t.as(TakenAgain)
		c.unclear.fresh = true
		return c.wording.say(sayHeldUp) + "\n" + was.Asked, true, nil
	case !ok || !found.Cued && !was.Text || len(found.Fits) != 1: // the name of a row alone is no text
		return "", false, nil
	}
	fit := oneCall(found.Fits[0].Script)
	for i := range args {
		if fit == nil || i >= len(fit.Args) || fit.Args[i].Value.Text == args[i].Value.Text {
			continue
		}
		next := was.with("")
		next.Given = append(slices.Clone(was.Given), Given{Verb: v.Name, Param: args[i].Key, Text: "@" + fit.Args[i].Value.Text})
		u, err := c.understood(ctx, next.said, &next, was.Spoken)
		if err != nil || u.Script == "" && u.Ask == "" {
			return "", err != nil, err
		}
		t.as(TakenCorrection)
		t.record.note(noteCorrection)
		t.closed(true)
		t.next = next
		t.trace.add(ofPerson, t.heard.own, t.now)
		text, err = t.makes(ctx, &u, was, c.wording.say(sayUnread))
		return c.wording.say(sayInstead) + "\n" + text, true, err
	}
	return "", false, nil
}

// mayFill reports whether a message may be the value that was asked for.
func (t *turn) mayFill(says string, was *unclear) bool {
	a := t.heard.reply.Answer
	return was.open() && was.Wants.Param != "" && !was.Text && (a == values.Other || a == values.Change) && values.ReadRemark(says) != values.ARemark
}

// fills takes an answer for the value that was asked for; nil if there is still something to ask, or
// if it says more and is about another verb. What it says more is added to the call's text. A call
// without a text, or with a sensitive value, leaves it out, and the person is told so.
func (t *turn) fills(ctx context.Context, says string, alone *Understood, was *unclear) (*Understood, error) {
	next := was.with(says)
	u, err := t.c.understood(ctx, next.said, &next, was.Spoken)
	other := func(verb string) bool { return verb != was.Wants.Verb }
	if err != nil || u.Script == "" || u.Beside != "" && slices.ContainsFunc(alone.Verbs, other) {
		return nil, err
	}
	t.next = next
	if u.Beside == "" {
		return &u, nil
	}
	if len(u.Texts) == 1 && !t.sensitive(was.Wants) {
		more := u.Texts[0]
		more.Text = strings.TrimRight(more.Text, ".,; ") + "; " + says
		next.Given = append(slices.Clone(next.Given), more)
		for _, said := range [...]string{was.said + "\n" + u.Beside, was.said} { // it may have a value of its own
			next.said = said
			longer, err := t.c.understood(ctx, said, &next, was.Spoken)
			if err != nil {
				return nil, err
			}
			if longer.Script != "" && !strings.Contains(longer.Script, "\n") {
				t.next = next
				return &longer, nil
			}
		}
	}
	u.Left = []string{u.Beside}
	return &u, nil
}

// fillsBesides takes a message that could also be a request as the value that was asked for: one
// for the same verb that names no row, or one that begins with the value by itself ("Pierre, it
// comes next week"). A separate request after the value is carried out too: "3 April, also leave a
// note on Thomas: …".
func (t *turn) fillsBesides(ctx context.Context, u *Understood, was *unclear) (*Understood, error) {
	said, front := t.heard.own, false
	for _, at := range besides().FindAllStringIndex(said, -1) {
		next := was.with(said[:at[0]])
		if !t.mayFill(said[:at[0]], was) {
			continue
		}
		chosen, err := t.c.understood(ctx, next.said, &next, was.Spoken)
		if err != nil {
			return nil, err
		}
		if chosen.Script == "" {
			continue
		}
		more, err := t.c.o.Interpreter.Interpret(ctx, said[at[1]:], Settled{}, nil)
		if err != nil {
			return nil, err
		}
		if more.Script != "" && more.Ask == "" && more.Confidence >= plainly && chosen.Beside == "" {
			t.next, t.also, chosen.Left = next, more.Script, more.Left
			return &chosen, nil
		}
		front = true
		break
	}
	if u.Script == "" || !t.mayFill(said, was) {
		return nil, nil
	}
	chosen, err := t.fills(ctx, said, u, was)
	if chosen == nil || len(u.Assumed) > 0 || front {
		return chosen, err
	}
	t.next = unclear{}
	return nil, nil
}

// besides matches what may stand between an answer and something else.
var besides = lazily(func() string {
	return `[,;:]|\.\s|\s[-–]\s|(?i:\s(?:` + strings.Join(values.Phrases("joining"), "|") + `)\s)`
})

// sensitive reports whether an argument is sensitive.
func (t *turn) sensitive(g Given) bool {
	v := t.c.o.Registry.Verb(g.Verb)
	return v == nil || slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Name == g.Param && p.Sensitive })
}

// further reports whether a reading asks for a later argument of the same verb than another reading,
// and so knows a value that the other one lacks or assumes: the row was named in the message before.
func (t *turn) further(u, than *Understood) bool {
	v := t.c.o.Registry.Verb(u.Wants.Verb)
	if v == nil || u.Wants.Verb != than.Wants.Verb {
		return false
	}
	at := func(g Given) int {
		return slices.IndexFunc(v.Params, func(p verbs.Param) bool { return p.Name == g.Param })
	}
	return at(u.Wants) > at(than.Wants) || at(u.Wants) == at(than.Wants) && len(u.Assumed) < len(than.Assumed)
}

// dictated takes an answer as the free text that was asked for; nil if none was, or the answer is
// something else. Where the message announces a text, as "leave a note on Pierre" does, the answer
// is read behind it, since it may say other things besides, such as a date.
func (t *turn) dictated(ctx context.Context, says string, alone *Understood, was *unclear) (*Understood, error) {
	if values.ReadAnswer(says).Answer != values.Other {
		return nil, nil
	}
	before, err := t.c.understood(ctx, was.said, was, was.Spoken)
	if err != nil || !before.Dictated {
		return nil, err
	}
	asked := func(g Given) bool { return g.Verb == before.Wants.Verb && g.Param == before.Wants.Param }
	given := slices.DeleteFunc(slices.Clone(was.Given), asked)
	try := func(next unclear) (*Understood, error) {
		u, err := t.c.understood(ctx, next.said, &next, was.Spoken)
		if err != nil || u.Script == "" && (u.Ask == "" || u.Ask == was.Asked) || next.said != was.said && !slices.ContainsFunc(u.Texts, asked) {
			return nil, err
		}
		t.next = next
		return &u, nil
	}
	if head := strings.ReplaceAll(was.said, "\n", " "); alone.Ask == "" || was.subject(alone) { // the row that was asked for first stands in it
		if u, err := try(unclear{said: head + ": " + says, Before: was.said, Verb: was.Verb, Given: given}); u != nil || err != nil {
			return u, err
		}
	}
	other := func(verb string) bool { return verb != before.Verb }
	if strings.HasSuffix(says, "?") || strings.HasPrefix(says, "¿") || slices.ContainsFunc(alone.Verbs, other) {
		return nil, nil
	}
	given = append(given, Given{before.Wants.Verb, before.Wants.Param, says})
	return try(unclear{said: was.said, Before: was.Before, Verb: was.Verb, Given: given})
}

// The greatest number of words of a message that counts as a counter-question. If a text is asked
// for, "Can I send it later?" may be that text. If a verb is asked for, "I already sent that" may
// mean another one.
const (
	mostAsking     = 5
	mostAskingText = 2
)

// puzzled reports whether a message is a remark on the question, such as "why?" or "I don't know".
func (t *turn) puzzled(u *Understood) bool {
	most := mostAsking
	if t.was.Text || t.was.About == "" && !strings.HasSuffix(t.heard.own, "?") {
		most = mostAskingText
	}
	return t.remarks(most) && (u.Ask == "" || t.onlyReads(u))
}

// onlyReads reports whether a reading that asks is about verbs that change nothing: "why do you need
// it?" is a phrase for a read of a row that it does not name.
func (t *turn) onlyReads(u *Understood) bool {
	names := []string{u.Verb}
	if u.Verb == "" {
		names = nil
		for _, o := range u.Offers {
			names = append(names, o.Verb)
		}
	}
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		v := t.c.o.Registry.Verb(name)
		return v == nil || len(v.Effects) > 0
	})
}

// remarks reports whether the message is a remark of at most so many words.
func (t *turn) remarks(most int) bool {
	return len(strings.Fields(t.heard.own)) <= most && values.ReadRemark(t.heard.own) == values.ARemark
}

// unaware reports whether a message says that the person does not know, and nothing else.
func (t *turn) unaware() bool { return notKnown().MatchString(values.Plain(t.heard.own)) }

// staysOpen puts the question that waits again to a person who does not know the answer: that is
// neither a text that was asked for nor a request. A palette's own question can be skipped.
func (t *turn) staysOpen(ctx context.Context) (text string, ok bool) {
	c := t.c
	if !t.was.open() && len(c.open) == 0 || t.asking(ctx) != nil || !t.unaware() {
		return "", false
	}
	t.as(TakenAgain)
	text = t.was.Asked
	if c.unclear.fresh = t.was.open(); !c.unclear.fresh {
		freshen(c.open)
		text = c.wording.again(c.open)
	}
	return c.wording.say(sayUnaware) + "\n" + text, true
}

// saysWhy says why something was asked back, and puts the question again.
func (t *turn) saysWhy() string {
	t.c.unclear.fresh = true
	if verb := cmp.Or(t.was.About, t.was.Wants.Verb); verb != "" {
		return t.neededFor(verb, t.was.Asked)
	}
	return t.notSure(t.was.Asked)
}

// notSure says that a question is asked because several things may be meant, and puts it again.
func (t *turn) notSure(asked string) string {
	t.as(TakenAgain)
	return t.c.wording.say(sayNotSure) + "\n" + asked
}

func (t *turn) neededFor(verb, asked string) string {
	t.as(TakenAgain)
	return t.c.wording.wholly(func(w wording) string { return w.say(sayNeededFor, w.does(w.reg.Verb(verb))) }) + "\n" + asked
}

// subject reports whether a message by itself is about the verbs of the question. A person who
// repeats the whole request has answered.
func (u *unclear) subject(of *Understood) bool {
	among := func(verb string) bool {
		return verb != "" && (verb == u.About || verb == u.Verb || slices.ContainsFunc(u.Offers, func(o Offer) bool { return o.Verb == verb }))
	}
	return of.Ask == u.Asked || among(of.Verb) || slices.ContainsFunc(of.Offers, func(o Offer) bool { return among(o.Verb) })
}

// namesOthers reports whether a message asks for a call on none of the rows of the question.
func (u *unclear) namesOthers(of *Understood) bool {
	return len(u.Names) > 0 && of.Script != "" && !slices.ContainsFunc(u.Names, func(name string) bool { return strings.Contains(of.Script+" ", "@"+name+" ") })
}

// reads reports whether a reading changes nothing.
func (t *turn) reads(ctx context.Context, u *Understood) bool {
	script, ds := dsl.Parse(dsl.NewSource(t.c.o.Source, u.Script))
	if ds.HasErrors() {
		return false
	}
	program, _ := t.c.o.Session.Check(ctx, script)
	return program != nil && t.c.o.Session.Reads(program)
}

// In a kept session the unclear message is a row, like any other question. It belongs to its
// person; the turn that asks writes it, and the turn that answers deletes it, or fails if another
// window was faster. Its words are stored only while it waits. A pointer to the turns would hold
// the words too, but the offers must be known exactly as they were made, and a row of its own can
// be guarded on its own: a message about something else in another window does not disturb the
// answer.

const (
	// defaultOpen is how long it waits: somebody who writes by mail answers tomorrow. It agrees to
	// nothing, and its answer is interpreted when it comes, so waiting does no harm.
	defaultOpen = 24 * time.Hour
	// mostAside is the number of turns about other subjects after which it is given up.
	mostAside = 3
)

// recallUnclear reads the stored question.
func recallUnclear(k *sessions.Question) (unclear, error) {
	u := unclear{said: k.Words, id: k.Preview, at: k.Asked, until: k.Until, fresh: k.Last, stored: true}
	if err := json.Unmarshal([]byte(k.About), &u); err != nil || !u.open() {
		return unclear{}, &engine.Failure{Err: errors.New("a question that waits cannot be read")}
	}
	return u, nil
}

// kept returns the question as it is stored.
func (u *unclear) kept(source string) (sessions.Question, error) {
	about, err := json.Marshal(u)
	return sessions.Question{Preview: u.id, Asked: u.at, Until: u.until, Source: source, Words: u.said, About: string(about), Again: u.stored}, err
}

// waits finds the waiting question. If it has expired, it is kept for this turn alone, so that it
// can be put again.
func (t *turn) waits() {
	c := t.c
	if c.unclear.open() && !t.now.Before(c.unclear.until) {
		t.lapsed = c.unclear
		t.closed(false)
	}
	t.was = c.unclear
	c.unclear.fresh = false // until it is put again
}

// closed ends the waiting. answered makes the turn fail if another window has answered.
func (t *turn) closed(answered bool) {
	switch u := &t.c.unclear; {
	case !u.stored:
	case answered:
		t.ends = u.id
	default:
		t.settled = append(t.settled, u.id)
	}
	t.c.unclear = unclear{}
}

// asksBack asks the person about an unclear message.
func (t *turn) asksBack(u *Understood, was *unclear) {
	next := t.next
	if next.said == "" {
		next.said, next.Spoken = t.heard.own, t.before()
		if u.Of.End > u.Of.Start && u.Of.End <= len(next.said) {
			next.said = next.said[u.Of.Start:u.Of.End]
		}
	} else {
		next.Spoken = was.Spoken
	}
	next.Asked, next.Offers, next.Wants, next.About, next.Names, next.Text = u.Ask, u.Offers, u.Wants, u.Verb, u.Names, u.Dictated
	for _, g := range u.Texts { // texts are kept as they were read, so that the answer is not added to them
		next.Given = append(slices.DeleteFunc(slices.Clone(next.Given), func(o Given) bool { return o == g }), g)
	}
	t.record.spoken.join(Spoken{Names: u.Names})
	next.at, next.until, next.fresh = t.now, t.now.Add(t.c.o.Limits.Open), true
	next.id = fmt.Sprintf("words-%d-%x", t.record.Number, t.now.UnixNano())
	t.c.unclear = next
}

// aside answers something else, and repeats the waiting question, since an answer counts only for
// the last one. A person who keeps to another subject is told that the question is given up.
func (t *turn) aside(ctx context.Context, text string) (string, error) {
	u := &t.c.unclear
	if !u.open() {
		return text, nil
	}
	if u.Aside++; u.Aside > mostAside {
		text += "\n" + t.c.wording.say(sayLetGo, firstLine(u.Asked))
		t.record.note(noteLetGo)
		t.closed(false)
		return text, nil
	}
	if u.Corrects {
		u.fresh = true
		return text + "\n" + t.c.wording.say(sayOpenStill, u.Asked), nil
	}
	// Read it again: rows and the language may have changed.
	now, err := t.c.understood(ctx, u.said, u, u.Spoken)
	if err != nil {
		return text, err
	}
	if now.Ask != "" {
		u.Asked, u.Offers, u.Wants = now.Ask, now.Offers, now.Wants
	}
	u.fresh = true
	t.record.note(noteStillOpen)
	return text + "\n" + t.c.wording.say(sayOpenStill, u.Asked), nil
}

// lapse puts a question again that was answered too late.
func (t *turn) lapse(ctx context.Context) (string, error) {
	was := t.lapsed
	if was.Corrects {
		return "", nil // the corrected call is too old as well
	}
	if i, _ := choice(&t.heard, was.Offers); i < 0 {
		u, err := t.answer(ctx, t.heard.own, &Understood{}, &was)
		if err != nil || u == nil || u.Script == "" && u.Ask == was.Asked {
			return "", err
		}
	}
	t.next = unclear{said: was.said, Before: was.Before, Verb: was.Verb, Given: was.Given}
	now, err := t.c.understood(ctx, was.said, &was, was.Spoken)
	if err != nil || now.Ask == "" {
		return "", err
	}
	t.asksBack(&now, &was)
	return t.c.wording.say(sayExpired) + "\n" + now.Ask, nil
}

// quicker reports whether an error says that somebody else has settled the question of this turn.
func quicker(err error) bool {
	var refusal *engine.Refusal
	return errors.As(err, &refusal) && len(refusal.Diagnostics) > 0 && refusal.Diagnostics[0].Code == "already-used"
}

// overtaken drops the question that this turn was about to put, since it was answered elsewhere.
func (t *turn) overtaken() string {
	c := t.c
	c.unclear, t.ends = unclear{}, ""
	c.open = slices.DeleteFunc(c.open, func(q *Question) bool { return slices.Contains(t.asked, q) })
	t.record.note(noteElsewhere)
	return c.wording.say(sayAnswered)
}

// firstLine returns a question without its offers.
func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
