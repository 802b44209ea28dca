package dialog

import (
	"context"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// Corrections without a model. A person who is asked for a yes may say what should be different:
// "no, make it Thursday". The question is withdrawn, and the changed call is asked about; it never
// runs on that message. A call that was just done stays done, and a second call with the new value
// is asked about. If several things may be meant, the person is asked which.

// A Correction is a new value for a part of a call.
type Correction struct {
	Fits []Fit  // the calls that may be meant
	Ask  string // the question, if there is not exactly one or the value is not valid
	Cued bool   // its words announce a correction
	Bare bool   // and it has no others
}

// A Fit is a call with another value in one place.
type Fit struct {
	Script string
	Says   string // the value, as a question words it
	Text   string // and as it may be said again
}

// A latest is the last call that ran. It can be corrected until something else is said.
type latest struct {
	calls []dsl.Call
	turn  int
}

// soon is for how many turns a call that ran can be corrected.
const soon = 2

// A correctable is a call that a message may correct.
type correctable struct {
	of   *Question
	call *dsl.Call
}

// correctables returns the call that stands to be agreed to or, if there is none, those that ran last,
// the latest first.
func (t *turn) correctables(ctx context.Context) (all []correctable) {
	c := t.c
	if q := c.stands(); q != nil {
		if p, err := c.meaning(ctx, q); err == nil && p != nil && len(p.Script().Calls) == 1 { // of several it is not clear which
			all = append(all, correctable{q, &p.Script().Calls[0]})
		}
		return all
	}
	if t.record.Number-c.lately.turn <= soon {
		for i := range slices.Backward(c.lately.calls) {
			all = append(all, correctable{nil, &c.lately.calls[i]})
		}
	}
	if t.record.Number-c.read.turn == 1 && len(c.read.calls) == 1 {
		all = append(all, correctable{nil, &c.read.calls[0]})
	}
	return all
}

// corrects reads a message as a correction; handled is false if it is none.
func (t *turn) corrects(ctx context.Context, said string) (text string, handled bool, err error) {
	c := t.c
	if c.o.Model != nil || c.o.Interpreter == nil || said == "" || t.heard.hidden || t.heard.quoted != "" || t.unaware() {
		return "", false, nil
	}
	var found Correction
	var meant correctable
	for _, of := range t.correctables(ctx) {
		f, ok, err := c.o.Interpreter.Correct(ctx, said, of.call)
		switch {
		case err != nil:
			return "", true, err
		case !ok, !f.Cued && !t.was.Corrects && (of.of == nil || !of.of.fresh || t.asking(ctx) != nil):
			continue // a bare value corrects the question that was just put, but may answer another one
		}
		if found, meant = f, of; len(f.Fits) > 0 {
			break
		}
	}
	if meant.call == nil {
		return "", false, nil
	}
	t.as(TakenCorrection)
	switch len(found.Fits) {
	case 0:
		t.record.note(noteBadCorrection)
		return found.Ask, true, nil
	case 1:
		text, err := t.corrected(ctx, meant, found.Fits[0], said)
		return text, true, err
	}
	u := Understood{Ask: found.Ask}
	for _, fit := range found.Fits {
		u.Offers = append(u.Offers, Offer{Says: fit.Says, Text: fit.Text})
	}
	t.record.note(noteWhichCorrection)
	if c.unclear.Corrects {
		t.closed(false)
	}
	t.next = unclear{said: said, Corrects: true}
	t.asksBack(&u, &unclear{})
	c.freshen(nil) // the latest question is this one
	return u.Ask, true, nil
}

// choosesCorrection reads an answer to the question which correction is meant.
func (t *turn) choosesCorrection(ctx context.Context, was *unclear) (text string, handled bool, err error) {
	i, bare := choice(&t.heard, was.Offers)
	switch {
	case i < 0: // or they say another value
		text, handled, err = t.corrects(ctx, t.heard.own)
		if !handled && (values.ReadChoice(t.heard.own) != 0 || t.heard.reply.Answer == values.Agree) {
			// "The second" may also be the second of a month.
			t.as(TakenAgain)
			t.c.unclear.fresh = true
			return was.Asked, true, nil
		}
		return text, handled, err
	case bare && !was.fresh:
		return "", false, nil
	}
	for _, of := range t.correctables(ctx) {
		found, ok, err := t.c.o.Interpreter.Correct(ctx, was.said, of.call)
		if err != nil {
			return "", true, err
		}
		if !ok || i >= len(found.Fits) || found.Fits[i].Says != was.Offers[i].Says {
			continue
		}
		t.as(TakenChoice)
		t.closed(true)
		text, err := t.corrected(ctx, of, found.Fits[i], was.said)
		return text, true, err
	}
	return "", false, nil
}

// corrected asks about the changed call.
func (t *turn) corrected(ctx context.Context, of correctable, fit Fit, said string) (string, error) {
	c := t.c
	if err := t.ready(ctx); err != nil {
		return t.system(ctx, err)
	}
	if c.unclear.Corrects {
		t.closed(false)
	}
	t.trace.add(ofPerson, said, t.now)
	if fit.Text != "" {
		t.trace.add(ofPerson, fit.Text, t.now) // they chose it
	}
	fit.Script = t.renamed(of.call, fit.Script)
	t.spokenFor(of.call, fit.Script)
	t.record.note(noteCorrection)
	before := slices.Clone(c.open)
	outcome, err := t.carry(ctx, proposal{script: fit.Script, phrased: true, asked: true, codes: append(t.trace.codes, fit.Text)})
	switch {
	case err != nil:
		return t.system(ctx, err)
	case outcome.wrong != "" && of.of == nil:
		if q, err := t.asAnother(ctx, fit); q != nil || err != nil {
			return c.wording.say(sayDoneBefore) + "\n" + c.wording.question(q), err
		}
		return t.refused(outcome.why), nil
	case outcome.wrong != "":
		text := t.refused(outcome.why)
		of.of.fresh = false // that waits as it was, and is put again before a yes counts
		return text, nil
	case outcome.question == nil: // it changes nothing
		return t.facing(t.left(t.found)), nil
	}
	if of.of == nil {
		return c.wording.say(sayDoneBefore) + "\n" + c.wording.question(outcome.question), nil
	}
	if slices.Contains(before, of.of) && of.of.ID != outcome.question.ID {
		if err := t.withdraw(ctx, of.of); err != nil {
			return t.system(ctx, err)
		}
		t.record.Withdrawn = of.of.Calls
	}
	return c.wording.say(sayInstead) + "\n" + c.wording.question(outcome.question), nil
}

// asAnother asks about what is refused to be done once more with the one other verb that takes the same arguments, such
// as one that corrects what was given; it returns nil if there is none.
func (t *turn) asAnother(ctx context.Context, fit Fit) (*Question, error) {
	call := oneCall(fit.Script)
	if call == nil {
		return nil, nil
	}
	for _, v := range t.c.verbs {
		if v.Name == call.Verb || len(v.Effects) == 0 || v.Deprecated != nil || slices.ContainsFunc(v.Params, func(p verbs.Param) bool {
			return p.Required != slices.ContainsFunc(call.Args, func(a dsl.Arg) bool { return a.Key == p.Name })
		}) || slices.ContainsFunc(call.Args, func(a dsl.Arg) bool {
			return !slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Name == a.Key })
		}) {
			continue
		}
		other := *call
		other.Verb = v.Name
		outcome, err := t.carry(ctx, proposal{script: dsl.FormatCall(&other), phrased: true, asked: true, codes: t.trace.codes})
		if outcome.question != nil || err != nil {
			return outcome.question, err
		}
	}
	return nil, nil
}

// renamed returns a changed call whose texts name the row that it has now, where they named the one that
// it had: "press 1 is jammed" was said of another press.
func (t *turn) renamed(was *dsl.Call, script string) string {
	now := oneCall(script)
	if now == nil {
		return script
	}
	for i := range now.Args {
		a := &now.Args[i]
		if i >= len(was.Args) || a.Value.Kind != dsl.Symbol || was.Args[i].Value.Kind != dsl.Symbol || a.Value.Text == was.Args[i].Value.Text {
			continue
		}
		for k := range now.Args {
			if text := &now.Args[k].Value; text.Kind == dsl.String {
				*text = dsl.NewString(t.renames(text.Text, was.Args[i].Value.Text, a.Value.Text))
			}
		}
	}
	return dsl.FormatCall(now)
}

// renames puts the label of a row in the place of another's in a text.
func (t *turn) renames(text, was, now string) string {
	old, label := t.c.o.Session.Names().Called(was), t.c.o.Session.Names().Called(now)
	if at := strings.Index(strings.ToLower(text), strings.ToLower(old)); old != "" && label != "" && at >= 0 && len(strings.ToLower(text)) == len(text) {
		return text[:at] + label + text[at+len(old):]
	}
	return text
}

// adds takes a statement, while a proposal stands, as an addition to it: its clauses that are another value for a part
// of the call change that, and the others go on in the text of the person's own that the call has, or may have: "one of
// the presses is broken" and "it leaks oil", or "by phone, about the tax returns". The person is asked about it anew.
// Where the message may be something else, one clause at least has to be such a value.
func (t *turn) adds(ctx context.Context, perhaps bool) (text string, handled bool, err error) {
	const few = 3 // words that may be a remark as well
	c, q := t.c, t.c.stands()
	if q == nil || t.heard.hidden || t.heard.quoted != "" || t.heard.reply != (values.Reply{}) || strings.ContainsAny(t.heard.own, "?¿") ||
		values.ReadRemark(t.heard.own) != values.NoRemark || values.Begins(t.heard.own) != values.Other || complains(t.heard.own) {
		return "", false, nil
	}
	all := t.correctables(ctx)
	if len(all) != 1 || q.decides {
		return "", false, nil
	}
	now, changed := all[0].call, false
	var rest []string
	if clauses := clausesOf(t.heard.own); len(clauses) > 1 {
		for _, clause := range clauses {
			clause = strings.Trim(clause, " ,;:–—")
			found, ok, err := c.o.Interpreter.Correct(ctx, clause, now)
			if err != nil {
				return "", true, err
			}
			if fits := found.Fits; ok && len(fits) == 1 {
				if next := oneCall(fits[0].Script); next != nil {
					t.trace.codes = append(t.trace.codes, fits[0].Text)
					now, changed = next, true
					continue
				}
			}
			rest = append(rest, clause)
		}
	} else {
		rest = []string{t.heard.own}
	}
	said := strings.Join(rest, ", ")
	if perhaps && !changed || !changed && len(strings.Fields(said)) < few {
		return "", false, nil
	}
	next := now
	if said != "" {
		if next = t.withText(now, said); next == nil && !changed {
			return "", false, nil
		} else if next == nil {
			next = now
			defer func() { text = joined(t.notTaken(rest), text) }()
		}
	}
	t.as(TakenCorrection)
	fit := Fit{Script: dsl.FormatCall(next)}
	for i := range next.Args {
		if v := &next.Args[i].Value; v.Kind == dsl.String && strings.HasSuffix(v.Text, said) && said != "" {
			fit.Text = v.Text
		}
	}
	text, err = t.corrected(ctx, all[0], fit, t.heard.own)
	return text, true, err
}

// withText returns a call with more of the person's own words in its text; nil if it has no place for them.
func (t *turn) withText(call *dsl.Call, said string) *dsl.Call {
	v := t.c.o.Registry.Verb(call.Verb)
	next := *call
	next.Args = slices.Clone(call.Args)
	for k := range v.Params {
		p := &v.Params[k]
		if p.Type.Name != verbs.StringType || p.Type.Pattern != nil || p.Type.MaxLength < longText {
			continue
		}
		i := slices.IndexFunc(next.Args, func(a dsl.Arg) bool { return a.Key == p.Name })
		switch {
		case i < 0 && !p.Required:
			next.Args = append(next.Args, dsl.NewArg(p.Name, dsl.NewString(said)))
		case i < 0, next.Args[i].Value.Kind != dsl.String, t.trace.origin(&next.Args[i].Value) != ofPerson:
			continue
		default:
			next.Args[i].Value = dsl.NewString(strings.TrimRight(next.Args[i].Value.Text, ".,;: ") + "; " + said)
		}
		return &next
	}
	return nil
}

// longText is from which length a text may hold sentences, and is no name.
const longText = 500

// spokenFor keeps the origin of the unchanged values: a text of the person's, in which they changed
// the day, is still theirs.
func (t *turn) spokenFor(was *dsl.Call, script string) {
	now := oneCall(script)
	if now == nil {
		return
	}
	for i := range now.Args {
		if i < len(was.Args) && now.Args[i].Value.Kind == dsl.String && was.Args[i].Value.Kind == dsl.String && now.Args[i].Value.Text != was.Args[i].Value.Text {
			if t.trace.origin(&was.Args[i].Value) == ofPerson {
				t.trace.add(ofPerson, now.Args[i].Value.Text, t.now)
			}
		}
	}
}

// remember keeps what ran, so that it can be corrected.
func (t *turn) remember(p *verbs.Program) {
	if t.c.o.Model != nil {
		return
	}
	t.c.lately = latest{turn: t.record.Number}
	for i := range p.Script().Calls {
		if v := t.c.o.Registry.Verb(p.Script().Calls[i].Verb); v != nil && !t.questions(v) && !t.answersOne(v) {
			t.c.lately.calls = append(t.c.lately.calls, p.Script().Calls[i])
		}
	}
}

// answersOne reports whether a verb takes the answers of a collection.
func (t *turn) answersOne(v *verbs.Verb) bool {
	return slices.ContainsFunc(t.c.answering, func(a *verbs.Answering) bool { return a.Verb == v })
}
