package dialog

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Courtesies, and how they are answered without a model, in their own language.

// A courtesy is a kind of message that needs no palette, with its wordings in each language as
// values.Plain writes them.
type courtesy struct {
	said   []func() *regexp.Regexp
	answer func(*turn, context.Context, wording) (string, error)
}

var courtesies = sync.OnceValue(func() []courtesy {
	of := func(key string) []func() *regexp.Regexp {
		return polites(func(l values.Language) string { return l.Expression(key) })
	}
	return append([]courtesy{
		{answer: (*turn).parted}, // these three in the order of values.Courtesy, which reads them
		{answer: (*turn).postponed},
		{answer: says(saySmallTalk)},
		{of("greeting"), (*turn).greeted},
		{of("thanks"), (*turn).thanked},
		{of("able"), (*turn).ableTo},
		{of("who"), says(sayWhoIAm)},
	}, tongueAsked()...)
})

func polites(said func(values.Language) string) (all []func() *regexp.Regexp) {
	for _, l := range values.Languages() {
		all = append(all, lazily(func() string { return `^(` + said(l) + `)$` }))
	}
	return all
}

// greeted matches a greeting, and captures what follows it.
var greeted = lazily(func() string { return `^(` + values.Expression("greeting") + `) (.+)$` })

// polite answers a message that is nothing but a courtesy.
func (t *turn) polite(ctx context.Context) (string, bool, error) {
	c, l := courtesyIn(t.heard.own)
	if c == nil {
		return "", false, nil
	}
	text, err := c.answer(t, ctx, t.c.wording.in(l.String()))
	return text, true, err
}

// courtesyIn returns the courtesy that a message is, with or without a greeting before it, and its
// language; nil if it is none.
func courtesyIn(said string) (*courtesy, values.Language) {
	if is, l := values.ReadCourtesy(said); is != values.NoCourtesy {
		return &courtesies()[is-values.Parting], l
	}
	plain := values.Plain(said)
	for {
		for i := range courtesies() {
			for l, said := range courtesies()[i].said {
				if said().MatchString(plain) {
					return &courtesies()[i], values.Language(l)
				}
			}
		}
		m := greeted().FindStringSubmatch(plain)
		if m == nil && onlyThanks(said, plain) {
			if in := values.Detect(said); len(in) == 1 {
				return &courtesy{answer: (*turn).thanked}, in[0]
			}
			return &courtesy{answer: (*turn).thanked}, values.English
		}
		if m == nil {
			return nil, 0
		}
		plain = m[len(m)-1]
	}
}

// onlyThanks reports whether a message is one clause that thanks for something, and holds no value.
func onlyThanks(said, plain string) bool {
	const most = 9
	found, _ := values.Find(said, values.In{Now: time.Unix(0, 0)})
	return len(found) == 0 && len(strings.Fields(said)) <= most && len(clausesOf(strings.TrimRight(said, " .!"))) == 1 && len(sentencesOf(said)) == 1 && thanksFor().MatchString(plain)
}

var complaint = lazily(func() string { return `(?:^| )(?:` + values.Expression("complaint") + `)(?: |$)` })

// complains reports whether somebody complains of us (O25).
func complains(said string) bool { return complaint().MatchString(values.Plain(said)) }

// sorry acknowledges a complaint, and offers a person where the palette has one to ask for.
func (t *turn) sorry() string {
	text := t.c.wording.say(saySorry)
	if said := t.c.wording.phrases(t.c.person, 1); len(said) > 0 {
		text += " " + t.c.wording.say(sayTakeOver, said[0])
	}
	return text
}

func says(s values.Key) func(*turn, context.Context, wording) (string, error) {
	return func(_ *turn, _ context.Context, w wording) (string, error) { return w.say(s), nil }
}

// thanked answers thanks. That what was said is kept is told of a session that is kept.
func (t *turn) thanked(_ context.Context, w wording) (string, error) {
	if !t.c.kept {
		return w.say(sayWelcome), nil
	}
	return w.say(sayWelcome) + " " + w.say(sayKept), nil
}

// parted answers a goodbye: a question about what was meant is over, and one about a change still waits.
func (t *turn) parted(ctx context.Context, w wording) (string, error) {
	t.closed(false)
	return t.goesOn(ctx, w.say(sayBye))
}

// postponed answers "not now": as a goodbye, but nothing is put again.
func (t *turn) postponed(_ context.Context, w wording) (string, error) {
	t.closed(false)
	if len(t.c.open) > 0 {
		return w.say(sayHeldUp), nil
	}
	return w.say(sayAnotherTime), nil
}

// mostGreeted is how many rows answer a greeting. More of them are a list that nobody asked for.
const mostGreeted = 5

// greeted answers a greeting with the person's status, or with examples of what they may say.
func (t *turn) greeted(ctx context.Context, w wording) (string, error) {
	const few = 3
	text := w.say(sayHello, t.c.o.Person)
	examples := w.examples(few, t.c.context, t.c.o.Session.Verbs())
	v := t.c.status()
	if v == nil {
		return text + examples, nil
	}
	if outcome, err := t.carry(ctx, proposal{script: v.Name, phrased: true}); err != nil || outcome.wrong != "" {
		return text, err
	}
	if slices.ContainsFunc(t.found, long) {
		t.toldOf = append(t.toldOf, t.found...)
		return text + examples, nil
	}
	return text + " " + t.facing(t.left(t.found)), nil
}

// long reports whether an answer is too long for a greeting.
func long(r *receipt.Receipt) bool {
	return slices.ContainsFunc(r.Calls, func(c receipt.Call) bool { return c.Result != nil && len(c.Result.Rows) > mostGreeted })
}

// status returns the read that tells a person where they stand: the first of the context, if its
// palette has sentences for it. A list of rows as they are kept tells no status.
func (c *Conversation) status() *verbs.Verb {
	if len(c.context) == 0 {
		return nil
	}
	if tells := &c.context[0].Tells; len(tells.First)+len(tells.Each)+len(tells.Lines) == 0 {
		return nil
	}
	return c.context[0]
}

// ableTo lists examples of what the person may say.
func (t *turn) ableTo(_ context.Context, w wording) (string, error) {
	const most = 8
	return w.say(sayAbleTo) + w.examples(most, t.c.context, t.c.o.Session.Verbs()), nil
}

// cannot says that no verb does what was asked, what can be done, and how to reach a person.
func (t *turn) cannot() string {
	const few = 3
	w := t.c.wording
	text := w.say(sayCannot)
	if said := w.phrases(t.c.person, 1); len(said) > 0 {
		text += " " + w.say(sayAskPerson, said[0])
	}
	return text + w.examples(few, t.c.context, t.c.o.Session.Verbs())
}

// unread says that nothing was found for a message, what comes nearest to it, and how to reach a person.
func (t *turn) unread(u *Understood) string {
	const few = 3
	w := t.c.wording
	text := w.say(sayUnread)
	if said := w.phrases(t.c.person, 1); len(said) > 0 {
		text += " " + w.say(sayAskPerson, said[0])
	}
	var nearest []string
	for _, name := range u.Nearest {
		if does := w.does(w.reg.Verb(name)); strings.HasPrefix(does, `"`) { // a phrase, where nothing says it in this language
			nearest = append(nearest, does)
		} else if does != "" {
			nearest = append(nearest, w.example(does))
		}
	}
	if len(nearest) > 0 {
		return text + " " + w.say(sayNearest, strings.Join(nearest, ", "))
	}
	return text + w.examples(few, t.c.context, t.c.o.Session.Verbs())
}

// phrases returns the phrases of a verb without placeholders, in the language.
func (w wording) phrases(v *verbs.Verb, most int) (said []string) {
	if v == nil || v.NeedsRecord() { // not every conversation has a model to write one
		return nil
	}
	all := v.PhrasesIn[w.tongue.String()]
	if w.tongue == values.English {
		all = v.Phrases
	}
	for _, p := range all {
		if !strings.Contains(p, "{") && len(said) < most {
			said = append(said, w.example(p))
		}
	}
	return said
}

// examples lists phrases from the palettes in the language, those of the given reads first.
func (w wording) examples(most int, first, all []*verbs.Verb) string {
	var said []string
	for _, list := range [][]*verbs.Verb{first, all} {
		for _, v := range list {
			for _, quoted := range w.phrases(v, len(v.Phrases)+len(v.PhrasesIn[w.tongue.String()])) {
				if len(said) < most && !slices.Contains(said, quoted) {
					said = append(said, quoted)
					break
				}
			}
		}
	}
	if len(said) == 0 {
		return ""
	}
	return " " + w.say(sayExamples, strings.Join(said, ", "))
}

func (w wording) example(phrase string) string {
	if w.tongue == values.English {
		return "“" + phrase + "”"
	}
	return w.say(sayQuoted, phrase)
}

var (
	undoSaid   = lazily(func() string { return `^(?:` + values.Expression("undo") + `)$` })
	forgetSaid = lazily(func() string { return `^(?:` + values.Expression("forget") + `)$` })
	notKnown   = lazily(func() string { return `^(?:` + values.Expression("unaware") + `)$` })
)

// drops declines every open question when the person asks to forget what they said. It undoes no
// call that ran: takesBack does.
func (t *turn) drops(ctx context.Context) (string, bool, error) {
	c := t.c
	waits := len(c.open) > 0 || t.was.open()
	if !forgetSaid().MatchString(values.Plain(t.heard.own)) || !waits && t.asking(ctx) != nil {
		return "", false, nil
	}
	t.as(TakenNo)
	text := sayNotDone
	for _, q := range slices.Clone(c.open) {
		err := t.withdraw(ctx, q)
		if quicker(err) {
			text = sayAnswered
			continue
		}
		if err != nil {
			return "", true, err
		}
		t.record.Withdrawn = append(t.record.Withdrawn, q.Calls...)
	}
	t.closed(false)
	if !waits {
		text = sayNothingOpen
	}
	return c.wording.say(text), true, nil
}

// takesBack handles a request to take back the last call. It always asks first, since we guess
// which call is meant.
func (t *turn) takesBack(ctx context.Context) (string, bool, error) {
	c := t.c
	clauses := clausesOf(t.heard.own) // "oh wait, that was the wrong one, undo that"
	if len(c.open) > 0 || !undoSaid().MatchString(values.Plain(clauses[len(clauses)-1])) || len(clauses) > 1 && enquires(t.heard.own) {
		return "", false, nil
	}
	if t.heard.reply.Answer == values.Decline && (t.was.open() || c.expected != (expected{}) || t.asking(ctx) != nil) {
		return "", false, nil // "annuler" is also a no to an open question
	}
	t.as(TakenRequest)
	seq, err := c.o.Session.Journal().Last(ctx)
	if err != nil {
		text, err := t.system(ctx, err)
		return text, true, err
	}
	if seq == 0 {
		return c.wording.say(sayNothingToUndo), true, nil
	}
	script, err := c.o.Session.Journal().Undo(ctx, seq)
	if err != nil {
		text, err := t.system(ctx, err)
		return text, true, err
	}
	outcome, err := t.carry(ctx, proposal{script: dsl.Format(script), phrased: true, asked: true})
	switch {
	case err != nil:
		text, err := t.system(ctx, err)
		return text, true, err
	case outcome.question != nil:
		return c.wording.question(outcome.question), true, nil
	}
	return t.refused(outcome.why), true, nil
}
