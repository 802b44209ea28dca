package dialog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Collecting without a model: a message may be the answer to a question of the palette. The palette
// declares which verb takes answers, and which session value is true meanwhile.

// plainly is the confidence from which a message counts as something other than an answer.
const plainly = 0.9

// answered reads a message as an answer, if a question is being asked.
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
			t.puts = true
		}
	}()
	reply := t.heard.reply
	script, value := "", t.heard.own
	if which := t.whichOfThose(); which != "" {
		value, reply = which, values.Reply{}
	}
	said, asked := t.wasAsked()
	remark := values.ReadRemark(value)
	if remark != values.NoRemark && !t.wouldKeep(ctx, a, value) {
		remark = values.NoRemark // it does not fit, and the palette says what would
	}
	switch {
	case asked && reply.Answer == values.Agree:
		value, reply = said, values.Reply{}
	case asked && reply.Answer == values.Decline:
		return t.c.wording.say(sayNotTaken), true, nil
	case remark == values.ARemark && u.Script != "":
		return "", false, nil // it is understood as something else, however surely
	case remark == values.ARemark:
		t.record.note(noteRemark)
		return t.c.wording.say(sayNotAnAnswer), true, nil
	case remark == values.MaybeARemark:
		t.record.note(noteMaybeRemark)
		return t.c.wording.say(sayTakeIt), true, nil
	}
	switch {
	case reply.Which != 0:
	case reply.Answer == values.Agree:
		script = a.Yes
	case reply.Answer == values.Decline:
		script = a.No
	}
	given := answer(a, value)
	// A yes that settles no question is an ordinary answer.
	for _, call := range []string{script, dsl.FormatCall(&given)} {
		if call == "" {
			continue
		}
		outcome, err := t.carry(ctx, proposal{script: call, given: true})
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

// answer returns the call that gives an answer.
func answer(a *verbs.Answering, value string) dsl.Call {
	return dsl.NewCall(a.Verb.Name, dsl.NewArg(a.Verb.Params[a.Param].Name, dsl.NewString(value)))
}

// wouldKeep reports whether an answer would be stored literally. If the field takes a date, an
// answer without one is refused by the palette with a better message, and one with a date was no
// remark.
func (t *turn) wouldKeep(ctx context.Context, a *verbs.Answering, value string) bool {
	given := answer(a, value)
	script, ds := dsl.Parse(dsl.NewSource(t.c.o.Source, dsl.FormatCall(&given)))
	if ds.HasErrors() {
		return false
	}
	program, _ := t.c.o.Session.Check(ctx, script, engine.CheckOptions{Said: verbs.Literals{Origin: ofPerson}})
	if program == nil {
		return false
	}
	preview, err := t.c.o.Session.Preview(ctx, program, engine.RunOptions{Source: t.c.o.Source, Progress: t.far})
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

// wasAsked reports whether the person was just asked if their message is an answer, and returns
// that message. It reads the turns, so the yes may come in another process.
func (t *turn) wasAsked() (said string, asked bool) {
	past := t.c.latest()
	if len(past) == 0 {
		return "", false
	}
	last := past[len(past)-1]
	for _, l := range values.Languages() {
		if last.Told == sayTakeIt.In(l) && !last.Foreign {
			return last.Said, true
		}
	}
	return "", false
}

// whichOfThose returns the value that a choice picks after the person was asked which value they
// mean: "the second", after "3/4/1972"; "" if it picks none. It reads the turns, like wasAsked.
func (t *turn) whichOfThose() string {
	past := t.c.latest()
	if len(past) == 0 || past[len(past)-1].Foreign {
		return ""
	}
	last := past[len(past)-1]
	found, _ := values.Find(last.Said, values.In{Now: t.now, Languages: []values.Language{t.c.wording.tongue}})
	for i := range found {
		var offers []Offer
		for _, l := range values.Languages() {
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

// asking returns the palette's rule for answers, if its question stands in this conversation: the last
// turn put it, and it is still the question at hand. What was begun or went on elsewhere, such as on a
// page, is filled there. (G2)
func (t *turn) asking(ctx context.Context) *verbs.Answering {
	past := t.c.turns
	if len(past) == 0 || past[len(past)-1].asks == "" || past[len(past)-1].later {
		return nil
	}
	if !t.looked {
		t.looked = true
		if a, digest, _ := t.atHand(ctx); digest == past[len(past)-1].asks {
			t.rule = a
		}
	}
	return t.rule
}

// collects notes which question of a collection the turn leaves open, and puts the one again that stood
// before it, unless something else is asked: then it comes back afterwards.
func (t *turn) collects(ctx context.Context, text string) string {
	c, was := t.c, ""
	if n := len(c.turns); n > 0 {
		was = c.turns[n-1].asks
	}
	if !t.puts && was == "" {
		return text
	}
	a, digest, words := t.atHand(ctx)
	if a == nil || !t.puts && digest != was {
		return text // it is over, or went on elsewhere
	}
	t.record.asks = digest
	q := c.stands()
	t.record.later = c.unclear.fresh || q != nil && q.fresh
	switch {
	case t.record.later && t.asking(ctx) != nil: // it stood until now
		return joined(c.wording.say(sayPutOff, firstLine(words)), text)
	case !t.record.later && !t.puts:
		return joined(text, c.wording.say(sayOpenStill, words))
	}
	return text
}

// atHand returns the palette's rule for answers while a collection is running, with a digest of the
// question at hand and its words. It looks by a preview of the call that begins or continues it.
func (t *turn) atHand(ctx context.Context) (a *verbs.Answering, digest, words string) {
	if !t.c.kept || len(t.c.answering) == 0 {
		return nil, "", ""
	}
	info, err := t.c.o.Session.Turns().Info(ctx)
	if err != nil {
		return nil, "", ""
	}
	holds := map[string]stores.Value{}
	for i := range info.Values {
		if v := &info.Values[i]; !v.Sensitive {
			holds[v.Name] = v.Value
		}
	}
	for _, a := range t.c.answering {
		if v, ok := holds[a.While]; !ok || !v.Bool() {
			continue
		}
		for _, v := range t.c.verbs {
			call, ok := continues(v, a, holds)
			if !ok {
				continue
			}
			script, ds := dsl.Parse(dsl.NewSource(t.c.o.Source, call))
			program, more := t.c.o.Session.Check(ctx, script)
			if append(ds, more...).HasErrors() || program == nil {
				continue
			}
			r, err := t.c.o.Session.Preview(ctx, program, engine.RunOptions{Source: t.c.o.Source})
			if err != nil || len(r.Calls) == 0 || r.Calls[0].Result == nil {
				continue
			}
			words := strings.TrimSpace(t.c.wording.told([]*receipt.Receipt{r}))
			if len(r.Calls[0].Result.Rows) == 1 { // without what is said before it
				words = words[strings.LastIndexByte(words, '\n')+1:]
			}
			sum := sha256.Sum256([]byte(call + "\x00" + shown(v.Name, r.Calls[0].Result, nil, false)))
			return a, hex.EncodeToString(sum[:8]), words
		}
	}
	return nil, "", ""
}

// continues returns the call of a verb that begins or continues a collection, with its arguments out of
// the session's values, where the verb keeps them.
func continues(v *verbs.Verb, a *verbs.Answering, holds map[string]stores.Value) (string, bool) {
	begins := false
	var args []dsl.Arg
	for _, e := range v.Effects {
		if e.Kind != verbs.Sets || e.May {
			continue
		}
		if begins = begins || e.Session == a.While; e.Session == a.While {
			continue
		}
		if p, ok := e.Value.ArgOnly(); ok {
			args = append(args, dsl.NewArg(v.Params[p].Name, dsl.NewSymbol(strings.TrimPrefix(holds[e.Session].Text(), "@"))))
		}
	}
	call := dsl.NewCall(v.Name, args...)
	return dsl.FormatCall(&call), begins && len(args) > 0 && call.Err() == nil
}
