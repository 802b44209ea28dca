package dialog

import (
	"context"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/runtime/words"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Where no model reads it, a message may be the answer to what the palette is
// asking, question by question. The palette says so, and what of the session is
// true meanwhile.

// plainly is how sure the interpreter has to be that a message says something
// else than an answer.
const plainly = 0.9

// answered takes a message for an answer, where something is being asked.
func (t *turn) answered(ctx context.Context, u *Understood) (text string, ok bool, err error) {
	if strings.HasSuffix(t.heard.own, "?") || u.Script != "" && u.Confidence >= plainly {
		return "", false, nil // who asks back has not answered
	}
	a := t.asking(ctx)
	if a == nil {
		return "", false, nil
	}
	defer func() {
		if ok {
			t.as(TakenAnswer)
		}
	}()
	reply := t.heard.reply
	script, value := "", t.heard.own
	if which := t.whichOfThose(); which != "" {
		value, reply = which, words.Reply{}
	}
	said, asked := t.wasAsked()
	remark := words.ReadRemark(value)
	if remark != words.NoRemark && !t.wouldKeep(ctx, a, value) {
		remark = words.NoRemark // it does not fit, and the palette says what would
	}
	switch {
	case asked && reply.Answer == words.Agree:
		value, reply = said, words.Reply{}
	case asked && reply.Answer == words.Decline:
		return t.c.wording.say(sayNotTaken), true, nil
	case remark == words.ARemark && u.Script != "":
		return "", false, nil // it is understood as something else, however surely
	case remark == words.ARemark:
		t.record.note(noteRemark)
		return t.c.wording.say(sayNotAnAnswer), true, nil
	case remark == words.MaybeARemark:
		t.record.note(noteMaybeRemark)
		return t.c.wording.say(sayTakeIt), true, nil
	}
	switch {
	case reply.Which != 0:
	case reply.Answer == words.Agree:
		script = a.Yes
	case reply.Answer == words.Decline:
		script = a.No
	}
	given := answer(a, value)
	// A yes that settles nothing is an answer like any other.
	for _, call := range []string{script, dsl.FormatCall(&given)} {
		if call == "" {
			continue
		}
		outcome, err := t.carry(ctx, proposal{script: call})
		switch {
		case err != nil:
			return "", true, err
		case outcome.question != nil:
			return t.c.wording.question(outcome.question), true, nil
		case outcome.wrong == "":
			t.record.note(noteAnswered)
			return t.facing(t.left(t.found)), true, nil
		}
	}
	return "", false, nil
}

// answer is the call that gives one.
func answer(a *verbs.Answering, value string) dsl.Call {
	return dsl.NewCall(a.Verb.Name, dsl.NewArg(a.Verb.Params[a.Param].Name, dsl.NewString(value)))
}

// wouldKeep reports whether an answer would be stored word for word. Where only a
// date will do, nothing is stored of what is none, and the palette says so better;
// and what was read as a date was not a remark.
func (t *turn) wouldKeep(ctx context.Context, a *verbs.Answering, value string) bool {
	given := answer(a, value)
	script, ds := dsl.Parse(dsl.NewSource(t.c.o.Source, dsl.FormatCall(&given)))
	if ds.HasErrors() {
		return false
	}
	program, _ := t.c.o.Session.CheckFrom(ctx, script, verbs.Literals{Origin: ofPerson})
	if program == nil {
		return false
	}
	preview, err := t.c.o.Session.PreviewWith(ctx, program, runtime.RunOptions{Source: t.c.o.Source, Progress: t.far})
	if err != nil {
		return false
	}
	inside := stores.NewList(stores.NewString(value)).Text() // as it stands in an object
	inside = strings.TrimSuffix(strings.TrimPrefix(inside, "["), "]")
	for _, c := range preview.Calls {
		for _, row := range c.Rows {
			if slices.ContainsFunc(row.Fields, func(f receipt.Field) bool {
				return f.After.Text() == value || strings.Contains(f.After.Text(), inside)
			}) {
				return true
			}
		}
	}
	return false
}

// wasAsked reports whether the person was asked just now if what they said is an
// answer, and what that was. It stands in the turns, so that the yes may be said in
// another process.
func (t *turn) wasAsked() (said string, asked bool) {
	past := t.c.latest()
	if len(past) == 0 {
		return "", false
	}
	last := past[len(past)-1]
	for _, l := range words.Languages() {
		if last.Told == sayTakeIt.In(l) && !last.Foreign {
			return last.Said, true
		}
	}
	return "", false
}

// whichOfThose is what an answer means that takes one of the things which the answer
// before may have meant, where it was asked which: "the second", after "3/4/1972";
// "" where it does not. It stands in the turns, as wasAsked does.
func (t *turn) whichOfThose() string {
	past := t.c.latest()
	if len(past) == 0 || past[len(past)-1].Foreign {
		return ""
	}
	last := past[len(past)-1]
	found, _ := words.Find(last.Said, words.In{Now: t.now, Languages: []words.Language{t.c.wording.tongue}})
	for i := range found {
		var offers []Offer
		for _, l := range words.Languages() {
			for _, o := range found[i].Others {
				if said := found[i].SayChoice(o, l); said != "" && strings.Contains(last.Told, said) {
					offers = append(offers, Offer{Says: said, Text: o.Value.Text()})
				}
			}
			if k, _ := choice(&t.heard, offers); len(offers) > 1 && k >= 0 {
				return offers[k].Text
			}
			offers = nil
		}
	}
	return ""
}

// asking is what a palette does with answers, while the session is at a question.
func (t *turn) asking(ctx context.Context) *verbs.Answering {
	if !t.c.kept || len(t.c.answering) == 0 {
		return nil
	}
	info, err := t.c.o.Session.Info(ctx)
	if err != nil {
		return nil
	}
	for _, a := range t.c.answering {
		for i := range info.Values {
			if v := &info.Values[i]; v.Name == a.While && !v.Sensitive && v.Value.Bool() {
				return a
			}
		}
	}
	return nil
}
