package dialog

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Asking: a call would change something, and the person was asked for agreement. Only their own
// plain yes to the last question runs it, exactly as it was shown.

// A Question asks for agreement before a call runs, because a rule says so.
type Question struct {
	ID      string // of the preview: it covers all that would happen
	Title   string // what would be done, in a line
	Shows   string // the rows, before and after
	Asks    string // the question in the words of its palette, "" if it has none
	Why     string
	Because string   // Why, as the person reads it
	Calls   []string // canonical, with sensitive values withheld
	Asked   time.Time
	Until   time.Time
	program *verbs.Program
	more    []reason // reasons of the conversation, not of a palette
	others  []string // roles that have to agree as well
	decides bool     // somebody else asked for it, and ID is that of their confirmation
	before  int64    // RunOptions.Before of its preview
	turn    int64    // the same when it was first asked: the person's words up to then led to it
	fresh   bool     // the last answer asked it

	stored   bool               // in the session
	recalled *sessions.Question // its stored form, if another process asked it

	values map[string]string // the arguments of its only call, as the question words them

	// shows and asks are Shows and Asks with placeholders for what the person said themselves; own
	// holds that text, and mark the first placeholder.
	shows, asks string
	secret
}

// expired removes questions that are too old, and returns them.
func (t *turn) expired() (old []*Question) {
	for _, q := range slices.Clone(t.c.open) {
		if !t.now.Before(q.Until) {
			old = append(old, q)
			t.close(q)
		}
	}
	return old
}

// stands returns the question that a yes or a no would answer: the one that was asked last. Older
// ones are put off, and come back when it is settled. It is nil if none is open.
func (c *Conversation) stands() *Question {
	if len(c.open) == 0 {
		return nil
	}
	return c.open[len(c.open)-1]
}

// putsAgain puts the question that stands again.
func (t *turn) putsAgain() string {
	q := t.c.stands()
	t.c.freshen(q)
	return t.c.wording.say(sayMeantThat) + "\n" + t.c.wording.question(q)
}

// freshen makes a question the one that was put last; nil is none of them.
func (c *Conversation) freshen(q *Question) {
	for _, o := range c.open {
		o.fresh = o == q
	}
}

// settles reads a message as an answer to the question that stands; handled is false if it is none.
func (t *turn) settles(ctx context.Context) (text string, handled bool, err error) {
	c := t.c
	old := t.expired()
	a := t.heard.reply
	q, another := t.addressed()
	if another {
		a = values.Reply{} // it answers a question that is not open
	}
	if q != nil {
		c.freshen(q)
	} else {
		q = c.stands()
	}
	said := a.Answer
	if said != values.Agree && said != values.Decline {
		said = values.Other
	}
	if a.Which == 0 && said == values.Other && !another && t.restates(ctx, q) {
		a.Answer, said = values.Agree, values.Agree
	}
	t.said = said
	t.waits()
	if text, handled, err := t.drops(ctx); handled || err != nil {
		return text, handled, err
	}
	if t.was.open() && t.was.fresh && (q == nil || !q.fresh) && !details().MatchString(t.heard.own) {
		// An answer belongs to the latest question, which was the correction.
		if i, _ := choice(&t.heard, t.was.Offers); i < 0 && !t.was.Corrects && a.Which == 0 && !another {
			if text, handled, err := t.correctsAsked(ctx); handled || err != nil {
				return text, handled, err
			}
			return t.corrects(ctx, t.heard.own)
		}
		return "", false, nil
	}
	t.as(TakenAgain)
	if a.Which == 0 && (a.Answer == values.Other || a.Answer == values.Change) && !another && !details().MatchString(t.heard.own) {
		if text, handled, err := t.corrects(ctx, t.heard.own); handled || err != nil {
			return text, true, err
		}
	}
	switch {
	case q == nil && said == values.Agree && len(old) == 1 && old[0].decides:
		t.as(TakenYes)
		text, found, err := t.nextDecision(ctx)
		if err == nil && !found {
			text = c.wording.say(sayNoDecision)
		}
		return text, true, err
	case q == nil && said == values.Agree && len(old) == 1:
		t.as(TakenYes)
		text, err := t.again(ctx, old[0], sayExpired)
		return text, true, err
	case q == nil:
		return "", false, nil
	case said == values.Other:
		return t.otherwise(ctx, q, a)
	case !q.fresh, a.Which > 1, a.Which != 0 && len(c.open) > 1:
		return t.putsAgain(), true, nil
	case q.decides:
		t.as(TakenYes)
		if said == values.Decline {
			t.as(TakenNo)
		}
		text, err = t.decided(ctx, q, said == values.Agree)
		return text, true, err
	case said == values.Decline:
		t.as(TakenNo)
		err := t.withdraw(ctx, q)
		if quicker(err) {
			text, err = t.goesOn(ctx, c.wording.say(sayAnswered))
			return text, true, err
		}
		if err != nil {
			return "", true, err
		}
		t.record.Withdrawn = q.Calls
		text, err = t.goesOn(ctx, c.wording.say(sayNotDone))
		return text, true, err
	}
	t.as(TakenYes)
	if text, err = t.agree(ctx, q); err == nil {
		text, err = t.goesOn(ctx, text)
	}
	return text, true, err
}

// otherwise takes a message, while a question stands, that is no yes and no no.
func (t *turn) otherwise(ctx context.Context, q *Question, a values.Reply) (text string, handled bool, err error) {
	c := t.c
	asked := q.fresh
	q.fresh = false // another subject, unless it is put again
	switch {
	case a.Answer == values.Change && asked:
		// "No wait, make it Friday": the question is withdrawn, and the rest is read as a new
		// request.
		if c.o.Model == nil && c.o.Interpreter != nil {
			t.held = q // until the new wish is understood
			return "", false, nil
		}
		err := t.withdraw(ctx, q)
		if quicker(err) {
			t.as(TakenNo)
			return c.wording.say(sayAnswered), true, nil
		}
		if err != nil {
			return "", true, err
		}
		t.record.Withdrawn = q.Calls
		return "", false, nil
	case a.Answer == values.Pleased && asked: // a courtesy right after a question is no new subject either
		t.as(TakenCourtesy)
		return t.putsAgain(), true, nil
	case !t.heard.hidden && details().MatchString(t.heard.own):
		c.freshen(q)
		return c.wording.rows(q), true, nil
	case asked && t.heard.quoted == "" && values.Begins(t.heard.own) == values.Agree && (c.o.Model == nil || len(strings.Fields(t.heard.own)) <= mostAsking):
		// "Sí, apúntelo": perhaps a yes. It is asked back about this question, unless it is surely
		// something else.
		if sure, err := t.surely(ctx); err != nil || !sure {
			return t.putsAgain(), true, err
		}
	}
	t.stood = asked
	return "", false, nil
}

// restates reports whether a message agrees to the one question that was just put, in words of that
// question, its verb and its rows as well as words of agreement: "Yes, order the repairs". A
// message that is sent twice does not answer the question that it led to.
func (t *turn) restates(ctx context.Context, q *Question) bool {
	c := t.c
	if q == nil || !q.fresh || t.heard.hidden {
		return false
	}
	if n := len(c.turns); n > 0 && values.Plain(c.turns[n-1].Said) == values.Plain(t.heard.own) {
		return false
	}
	m := c.matter(ctx, q)
	return m != nil && values.ReadAnswerTo(t.heard.own, m).Answer == values.Agree
}

// matter returns the content of a question; nil if it is about several calls.
func (c *Conversation) matter(ctx context.Context, q *Question) *values.Matter {
	p, err := c.meaning(ctx, q)
	if err != nil || p == nil || len(p.Calls()) != 1 {
		return nil
	}
	asks := q.Asks
	if asks == "" {
		asks = q.Title
	}
	v := p.Calls()[0].Verb
	phrases := slices.Clone(v.Phrases)
	for _, all := range v.PhrasesIn {
		phrases = append(phrases, all...)
	}
	return values.NewMatter(asks, q.values, phrases, v.Name[strings.LastIndexByte(v.Name, '.')+1:])
}

// goesOn puts the question that was put off before the one that was settled.
func (t *turn) goesOn(ctx context.Context, text string) (string, error) {
	c := t.c
	if q := c.stands(); q != nil && len(t.asked) == 0 && !c.unclear.open() {
		c.freshen(q)
		return joined(text, c.wording.say(sayStillOpen)+"\n"+c.wording.question(q)), nil
	}
	return t.aside(ctx, text)
}

// addressed returns the open question that the message says that it answers: by a button, or by
// quoting it. another reports that it quotes something else, as an answer to an older mail does.
func (t *turn) addressed() (q *Question, another bool) {
	open := t.c.open
	find := func(is func(*Question) bool) *Question {
		if i := slices.IndexFunc(open, is); i >= 0 {
			return open[i]
		}
		return nil
	}
	if t.answers != "" {
		return find(func(q *Question) bool { return q.ID == t.answers }), false
	}
	ids := previewIDs.FindAllString(t.heard.quoted, -1)
	for _, id := range slices.Backward(ids) { // what was quoted last stands first
		if q = find(func(q *Question) bool { return receipt.IsID(q.ID, id) }); q == nil {
			return nil, true
		}
	}
	// In channels where answers quote, a message that quotes something else answers that.
	if len(ids) > 0 || !t.c.o.Referring || t.heard.quoted == "" || len(open) == 0 {
		return q, false
	}
	quoted := values.Plain(t.heard.quoted)
	q = find(func(q *Question) bool {
		asks, _, _ := strings.Cut(t.c.reveal(q.asks), "\n")
		return asks != "" && strings.Contains(quoted, values.Plain(asks)) || strings.Contains(quoted, values.Plain(q.Title))
	})
	return q, q == nil
}

// surely reports whether the phrases understand the message as something to do, by itself.
func (t *turn) surely(ctx context.Context) (bool, error) {
	if t.c.o.Interpreter == nil {
		return false, nil
	}
	u, err := t.c.o.Interpreter.Interpret(ctx, t.heard.own, Settled{}, t.before())
	return u.Script != "" && u.Confidence >= plainly, err
}

// close removes a question from the open ones.
func (t *turn) close(q *Question) {
	t.c.open = slices.DeleteFunc(t.c.open, func(o *Question) bool { return o == q })
	if q.stored {
		t.settled = append(t.settled, q.ID)
	}
}

var previewIDs = regexp.MustCompile(`\b[0-9a-f]{4}-[0-9a-f]{4}\b`)

// details matches a request to see all changes of a question.
var details = lazily(func() string { return `(?i)^\W*(?:` + values.Expression("details") + `)\W*$` })

// withdraw declines a question for the person. It returns an error of quicker if the question was
// agreed to meanwhile.
func (t *turn) withdraw(ctx context.Context, q *Question) error {
	t.close(q)
	if q.decides {
		return nil // it waits on, for whom it asks
	}
	p, err := t.c.meaning(ctx, q)
	if err == nil {
		err = t.c.o.Session.DeclinePreview(ctx, p, q.ID)
	}
	var refusal *engine.Refusal
	if errors.As(err, &refusal) && !quicker(err) {
		return nil // it could not have been agreed to either
	}
	return err
}

// agree runs exactly what the person agreed to, or nothing.
func (t *turn) agree(ctx context.Context, q *Question) (string, error) {
	c := t.c
	t.close(q)
	t.begin()
	t.record.Agreed = q.ID
	p, err := c.meaning(ctx, q)
	if err != nil {
		return t.stopped(ctx, q, err)
	}
	o := engine.RunOptions{Agreed: q.ID, Source: c.o.Source, Before: q.before}
	if len(q.others) > 0 {
		if o.Turn, err = c.wrote(ctx, q.turn); err != nil {
			return t.stopped(ctx, q, err)
		}
		pending, err := c.o.Session.Propose(ctx, p, o)
		if err == nil && pending.ID != "" {
			t.record.rule(firedRule{needs: q.others})
			t.waitsFor = true
			return c.wording.waitsFor(q.others, pending.Expires), nil
		}
		if err != nil {
			return t.stopped(ctx, q, err)
		}
	}
	reply, err := t.run(ctx, p, o, q)
	if err != nil {
		return t.stopped(ctx, q, err)
	}
	if reply.Repeated { // the same answer reached another window first
		return c.wording.say(sayAnswered), nil
	}
	t.did(p, reply)
	t.remember(p)
	c.unasked.forget(p.Script())
	c.recount(ctx, p.Script(), t.now)
	return t.facing(t.left(t.done)), nil
}

// wrote returns the last turn before until in which the person said what they want; 0 if it is not
// kept, or was not their own words.
func (c *Conversation) wrote(ctx context.Context, until int64) (int64, error) {
	if !c.kept {
		return 0, nil
	}
	const few = 3
	turns, err := c.o.Session.Turns().Between(ctx, max(1, until-few), until)
	for _, said := range slices.Backward(turns) {
		if said.Role == sessions.Client && said.Intent != foreignIntent {
			return said.Number, err
		} else if said.Role == sessions.Client {
			break
		}
	}
	return 0, err
}

// stopped says why an agreed call did not run, and puts the question again if it still makes sense.
func (t *turn) stopped(ctx context.Context, q *Question, err error) (string, error) {
	var refusal *engine.Refusal
	var failed *engine.Failure
	switch {
	case errors.As(err, &refusal):
		code := ""
		if len(refusal.Diagnostics) > 0 {
			code = refusal.Diagnostics[0].Code
		}
		t.record.refused(refusal.Diagnostics)
		switch {
		case code == "already-used", t.answeredElsewhere(ctx, q):
			return t.c.wording.say(sayAnswered), nil
		case slices.Contains([]string{"stale-preview", "agreement-expired", "changed-meanwhile", "other-palette"}, code):
			return t.again(ctx, q, sayStale)
		}
		return t.refused(refusal.Diagnostics), nil
	case errors.As(err, &failed) && failed.Unknown:
		return t.c.wording.say(sayUnknownEnd), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return t.failed(err), nil
}

// again asks a question again, with the present rows.
func (t *turn) again(ctx context.Context, q *Question, why values.Key) (string, error) {
	program, err := t.c.meaning(ctx, q)
	var p *receipt.Receipt
	var before int64
	if err == nil {
		p, before, err = t.preview(ctx, program)
	}
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal):
		t.record.refused(refusal.Diagnostics)
		return t.c.wording.say(sayGone) + " " + t.refused(refusal.Diagnostics), nil
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil:
		return t.failed(err), nil
	}
	fresh := t.question(program, p, before, q.more...)
	fresh.turn = q.turn
	return t.c.wording.say(why) + "\n" + t.c.wording.question(fresh), nil
}

// preview previews a program, and returns the turn of the session at which it did.
func (t *turn) preview(ctx context.Context, p *verbs.Program) (*receipt.Receipt, int64, error) {
	var before int64
	if t.c.kept {
		info, err := t.c.o.Session.Turns().Info(ctx)
		if err != nil {
			return nil, 0, err
		}
		before = info.Turns + 1
	}
	o := engine.RunOptions{Before: before, Source: t.c.o.Source, Progress: t.far}
	if t.c.kept {
		// Another process may receive the answer, so the preview is kept in the store.
		preview, err := t.c.o.Session.Keep(ctx, p, o)
		if preview != nil {
			err = nil // what could not be kept can be agreed to here
		}
		return preview, before, err
	}
	preview, err := t.c.o.Session.Preview(ctx, p, o)
	return preview, before, err
}

// earlier says when the same was done before, or asked for and lost.
func (w wording) earlier(all []receipt.Earlier) (text string) {
	for i := range all {
		e := &all[i]
		key := saySameDone
		switch e.Outcome {
		case receipt.EarlierUnknown:
			key = saySameUnknown
		case receipt.EarlierAlone:
			key = saySameAlone
		}
		text = joined(text, w.say(key, w.day(stores.DateOf(e.Time.In(w.zone))), w.hour(e.Time)))
		if e.Withheld {
			text = joined(text, w.say(saySameShown))
		}
	}
	return text
}

// question makes a question of a program and its preview.
func (t *turn) question(p *verbs.Program, preview *receipt.Receipt, before int64, more ...reason) *Question {
	w := t.c.wording
	q := &Question{before: before, turn: before, ID: preview.Answer(), Asked: t.now, Until: t.now.Add(t.c.o.Limits.Question), program: p, fresh: true}
	q.secret = t.c.confide(p, preview)
	t.c.masks.learnProgram(p, t.heard.own)
	w.mark = q.markOf
	var shows, titles []string
	for i := range preview.Calls {
		call := &preview.Calls[i]
		q.Calls = append(q.Calls, call.Text)
		if onlyAnswers(preview, call) {
			continue
		}
		titles = append(titles, w.wholly(func(w wording) string { return w.title(call) }))
		shows = append(shows, w.wholly(func(w wording) string {
			return w.say(sayWouldDo, w.title(call)) + "\n" + w.changes(call, true) + w.sends(call)
		}))
	}
	var why, because []string
	known := true
	for _, ask := range preview.Asks() {
		if ask.Reason != "" && !slices.Contains(why, ask.Reason) {
			said, ok := w.reg.Says(w.language, ask.Reason)
			known = known && (ok || w.tongue == values.English)
			why, because = append(why, ask.Reason), append(because, strings.TrimSuffix(said, "."))
		}
		if ask.By != "" && !slices.Contains(q.others, ask.By) {
			q.others = append(q.others, ask.By)
		}
		t.record.rule(firedRule{reason: ask.Reason, by: ask.By})
	}
	for _, r := range more {
		why, because = append(why, r.Rule), append(because, strings.TrimSuffix(r.Said, "."))
		t.record.rule(firedRule{reason: r.Rule, said: r.Said})
	}
	q.Title, q.shows, q.Why, q.more = strings.Join(titles, "; "), strings.Join(shows, ""), strings.Join(why, "; "), more
	switch {
	case len(why) == 0:
	case known:
		q.Because = w.say(sayBecause, strings.Join(because, w.say(sayAlso)))
	default:
		q.Because = sayBecause.In(values.English, strings.TrimSuffix(q.Why, "."))
	}
	q.Because = joined(w.earlier(preview.Earlier), q.Because)
	if len(more) == 0 {
		q.asks = w.asks(preview)
	}
	if len(preview.Calls) == 1 {
		q.values = map[string]string{}
		w.eachArgument(&preview.Calls[0], func(name, text string) {
			if !strings.ContainsFunc(text, isMark) {
				q.values[name] = text
			}
		})
	}
	q.Shows, q.Asks = t.c.conceal(q.shows), t.c.conceal(q.asks)
	// A question that replaces an open one takes its place: the same call with more arguments, or
	// with rows that have changed.
	for _, o := range slices.Clone(t.c.open) {
		switch {
		case o.ID == q.ID: // it asks nobody, and has no occasion
			t.c.open = slices.DeleteFunc(t.c.open, func(other *Question) bool { return other == o })
		case q.overtakes(o):
			t.close(o)
		}
	}
	t.asked = append(t.asked, q)
	t.c.open = append(t.c.open, q)
	t.c.freshen(q)
	return q
}

// overtakes reports whether a question asks for everything that another asks for: the same calls,
// or the same call with more arguments. "Call me", after somebody asked for a person, is no second
// request.
func (q *Question) overtakes(o *Question) bool {
	if slices.Equal(q.Calls, o.Calls) {
		return true
	}
	if len(q.Calls) != 1 || len(o.Calls) != 1 {
		return false
	}
	now, before := oneCall(q.Calls[0]), oneCall(o.Calls[0])
	if now == nil || before == nil || now.Verb != before.Verb {
		return false
	}
	said := map[string]string{}
	for i := range now.Args {
		said[now.Args[i].Key] = dsl.FormatValue(now.Args[i].Value)
	}
	return !slices.ContainsFunc(before.Args, func(a dsl.Arg) bool { return said[a.Key] != dsl.FormatValue(a.Value) })
}

func oneCall(text string) *dsl.Call {
	script, ds := dsl.Parse(dsl.NewSource("call", text))
	if ds.HasErrors() || len(script.Calls) != 1 {
		return nil
	}
	return &script.Calls[0]
}

// A reason says why the person is asked although no rule of a palette asks.
type reason struct {
	Rule string `json:"rule"` // for the record
	Said string `json:"said"` // in the person's language
}

func (w wording) reason(s values.Key, of ...string) reason {
	return reason{s.In(values.English, of...), w.say(s, of...)}
}

// arguments is a reason that names arguments.
func (w wording) arguments(s values.Key, names []string) reason {
	return reason{s.In(values.English, strings.Join(names, ", ")), w.wholly(func(w wording) string {
		said := make([]string, len(names))
		for i, name := range names {
			said[i] = w.label(name)
		}
		return w.say(s, strings.Join(said, w.say(sayAnd)))
	})}
}
