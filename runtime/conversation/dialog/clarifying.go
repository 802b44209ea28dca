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
)

// Clarifying: a message was unclear and the person was asked about it, without a model.

// An unclear is a message that the person was asked about. There is at most one. It waits until the
// person answers, declines, or moves on to something else. Its exported fields are what a session
// keeps of it besides its words.
type unclear struct {
	said     string   // the message
	Verb     string   `json:"verb,omitempty"`     // the verb that the person chose, "" if they were not asked
	Given    []Given  `json:"given,omitempty"`    // the answers so far
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
	return unclear{said: u.said, Verb: cmp.Or(u.Verb, g.Verb), Given: append(slices.Clone(u.Given), g)}
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
		next = unclear{said: was.said, Verb: o.Verb, Given: was.Given}
	}
	got, err := t.c.understood(ctx, &next, was.Spoken)
	if err != nil || got.Script == "" && (got.Ask == "" || got.Ask == was.Asked) {
		return nil, false, err
	}
	t.next = next
	return &got, false, nil
}

// understood reads an unclear message with the answers to what was asked about it. It is read by itself:
// an answer is the value of the argument that was asked for, and no part of the message. A message
// that stays unclear runs nothing.
func (c *Conversation) understood(ctx context.Context, of *unclear, spoken []Spoken) (Understood, error) {
	u, err := c.o.Interpreter.Interpret(ctx, of.said, Settled{Verb: of.Verb, Given: of.Given}, spoken)
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
	t.trace.add(ofPerson, t.next.said, t.now)
	for _, g := range t.next.Given {
		if !strings.HasPrefix(g.Text, "@") { // they picked the row, and did not say the words of its label
			t.trace.add(ofPerson, g.Text, t.now)
		}
	}
	text, err := t.makes(ctx, &u, was, otherwise)
	if err != nil || c.unclear.open() {
		return text, err
	}
	return t.goesOn(ctx, text)
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
	case !was.subject(u) || was.namesOthers(u) || u.Script == "" && u.Ask != was.Asked || len(was.Given) > 0:
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

// takesValue takes a message as the value of the argument that was asked for; nil if it is none, or is
// surely something else. What it says besides, and is no request of its own, is named as not taken.
func (t *turn) takesValue(ctx context.Context, alone *Understood, was *unclear) (*Understood, error) {
	says, reply := t.heard.own, t.heard.reply.Answer
	if was.open() && was.fresh && was.Wants.Param == "" && len(was.Offers) > 1 && reply == values.Other && alone.Script == "" {
		return t.fitsOne(ctx, was)
	}
	switch {
	case !was.open() || was.Corrects || was.Wants.Param == "" || reply != values.Other && (reply != values.Change || was.Text && values.Begins(says) != values.Other):
		return nil, nil
	case was.Text:
		asks := slices.ContainsFunc(wordsIn(was.Asked), func(w string) bool { return slices.Contains(values.Phrases("enquiring"), values.Plain(w)) })
		if strings.HasSuffix(says, "?") && !asks || alone.Verb != "" && alone.Verb != was.Wants.Verb || slices.ContainsFunc(alone.Verbs, func(verb string) bool { return verb != was.Wants.Verb }) {
			return nil, nil
		}
	case values.ReadRemark(says) == values.ARemark:
		return nil, nil
	}
	if !was.Text {
		// A request of its own may stand behind the value: "3 April, also leave a note on Thomas".
		for _, at := range besides().FindAllStringIndex(says, -1) {
			next := was.with(says[:at[0]])
			u, err := t.c.understood(ctx, &next, was.Spoken)
			if err != nil || u.Script == "" || u.Beside != "" {
				continue
			}
			head, err := t.c.o.Interpreter.Interpret(ctx, says[:at[0]], Settled{}, nil)
			if err != nil {
				return nil, err
			}
			more, err := t.c.o.Interpreter.Interpret(ctx, says[at[1]:], Settled{}, nil)
			if err != nil {
				return nil, err
			}
			if len(head.Verbs) == 0 && more.Script != "" && more.Ask == "" && more.Confidence >= plainly {
				t.next, t.also, u.Left = next, more.Script, more.Left
				return &u, nil
			}
			break
		}
		if alone.Script != "" && len(alone.Assumed) == 0 {
			return nil, nil // it says all by itself
		}
	}
	next := was.with(says)
	u, err := t.c.understood(ctx, &next, was.Spoken)
	if err != nil || u.Script == "" && (u.Ask == "" || u.Ask == was.Asked && u.Wants == was.Wants) {
		return nil, err
	}
	if beside := u.Beside; beside != "" {
		if slices.ContainsFunc(alone.Verbs, func(verb string) bool { return verb != was.Wants.Verb }) {
			return nil, nil
		}
		if u.Dictated { // "Pierre: it comes soon", where the text would be asked for next
			next.Given = append(next.Given, Given{u.Wants.Verb, u.Wants.Param, beside})
			u, err = t.c.understood(ctx, &next, was.Spoken)
		} else {
			u.Left = []string{beside}
		}
	}
	t.next = next
	return &u, err
}

// fitsOne takes a message as the value that one of the offered verbs lacks, and no other: a day, where one of the two
// takes one.
func (t *turn) fitsOne(ctx context.Context, was *unclear) (one *Understood, err error) {
	for _, o := range was.Offers {
		if o.Verb == "" {
			return nil, nil
		}
		next := unclear{said: was.said, Verb: o.Verb, Given: was.Given}
		u, err := t.c.understood(ctx, &next, was.Spoken)
		if err != nil || u.Wants.Param == "" || u.Dictated {
			continue
		}
		next.Wants = u.Wants
		next = next.with(t.heard.own)
		if u, err = t.c.understood(ctx, &next, was.Spoken); err != nil || u.Script == "" {
			continue
		}
		if one != nil {
			return nil, nil
		}
		if u.Beside != "" {
			u.Left = []string{u.Beside}
		}
		one, t.next = &u, next
	}
	return one, nil
}

// besides matches what may stand between an answer and something else.
var besides = lazily(func() string {
	return `[,;:]|\.\s|\s[-–]\s|(?i:\s(?:` + strings.Join(values.Phrases("joining"), "|") + `)\s)`
})

// correctsAsked takes a message that corrects a row of the unclear message, such as "no, I meant Pierre"
// where a text is asked for, and puts the question again for that row. A message that only says that
// something is wrong is no text either.
func (t *turn) correctsAsked(ctx context.Context) (text string, handled bool, err error) {
	c, was := t.c, &t.was
	of := was.Wants.Verb
	if of == "" && len(was.Offers) == 1 {
		of = was.Offers[0].Verb // "do you mean …?", and another row corrects what would be done
	}
	v := c.o.Registry.Verb(of)
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
		next.Verb = v.Name
		next.Given = append(slices.Clone(was.Given), Given{Verb: v.Name, Param: args[i].Key, Text: "@" + fit.Args[i].Value.Text})
		next.said = t.renames(next.said, args[i].Value.Text, fit.Args[i].Value.Text)
		u, err := c.understood(ctx, &next, was.Spoken)
		if err != nil || u.Script == "" && u.Ask == "" {
			return "", err != nil, err
		}
		t.as(TakenCorrection)
		t.record.note(noteCorrection)
		t.closed(true)
		t.next = next
		t.trace.add(ofPerson, t.heard.own, t.now)
		t.trace.add(ofPerson, next.said, t.now)
		text, err = t.makes(ctx, &u, was, c.wording.say(sayUnread))
		return c.wording.say(sayInstead) + "\n" + text, true, err
	}
	return "", false, nil
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
		text = t.putsAgain()
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
	if q := c.stands(); q != nil && q.fresh {
		t.was.fresh = false // it was put off
	}
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
	now, err := t.c.understood(ctx, u, u.Spoken)
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
		if u, err := t.takesValue(ctx, &Understood{}, &was); err != nil || u == nil {
			return "", err
		}
	}
	t.next = unclear{said: was.said, Verb: was.Verb, Given: was.Given}
	now, err := t.c.understood(ctx, &was, was.Spoken)
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
