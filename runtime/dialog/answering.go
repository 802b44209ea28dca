package dialog

import (
	"context"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/words"
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
	reply := words.ReadAnswer(t.heard.own)
	script := ""
	switch {
	case reply.Which != 0:
	case reply.Answer == words.Agree:
		script = a.Yes
	case reply.Answer == words.Decline:
		script = a.No
	}
	given := dsl.NewCall(a.Verb.Name, dsl.NewArg(a.Verb.Params[a.Param].Name, dsl.NewString(t.heard.own)))
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
			t.record.note("it was taken for an answer to what is being asked")
			return t.facing(t.c.wording.told(t.found)), true, nil
		}
	}
	return "", false, nil
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
