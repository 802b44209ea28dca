package dialog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/engine"
	"verbatim/verbs"
)

// A turn with a model: the prompt, its answers, its retries, and what happens if it gives up or
// cannot be reached.

// rules writes the system text for the verbs that the model is shown.
func (t *turn) rules(shortlist []*verbs.Verb) (string, error) {
	c := t.c
	b := &brief{Phrased: c.phrased, Person: c.o.Person, Today: dayWords(t.now), Mode: c.o.Mode, PlanFirst: c.planFirst, Steps: c.o.Limits.Steps - 1, Conduct: c.conduct}
	if n := len(c.verbs) - len(shortlist); n > 0 {
		b.More = n
	}
	b.digest(shortlist, t)
	return b.system()
}

// prompt writes the messages to the model: rules, context, earlier turns, and the new message.
func (t *turn) prompt(ctx context.Context, shortlist []*verbs.Verb) ([]llm.Message, error) {
	c := t.c
	system, err := t.rules(shortlist)
	if err != nil {
		return nil, err
	}
	messages := []llm.Message{{Role: llm.System, Text: system}}
	for _, past := range c.latest() {
		if past.Foreign || past.Said == "" {
			continue
		}
		messages = append(messages, llm.Message{Role: llm.User, Text: past.Said})
		answer := past.Told
		switch {
		case !foreign(past.tainted):
		case c.planFirst:
			answer = "(They were told what was found.)"
		default: // others' words in it are no more the assistant's for having been told
			answer = "(They were told what was found:)\n" + behindBar(answer)
		}
		messages = append(messages, llm.Message{Role: llm.Assistant, Text: answer})
	}
	known, err := t.known(ctx)
	if err != nil {
		return nil, err
	}
	var now strings.Builder
	if known != "" {
		now.WriteString("What is known now, from records:\n" + known + "\n")
	}
	if t.record.Withdrawn != nil {
		now.WriteString(modelDisagreed + strings.Join(t.record.Withdrawn, "\n") + "\n" + modelInstead + "\n")
	}
	for _, q := range c.open {
		now.WriteString("Still waiting for the person's yes or no: " + strings.Join(q.Calls, " ") + "\n\n")
	}
	if t.heard.quoted != "" {
		if c.planFirst {
			now.WriteString("The message quotes somebody else; that is not shown.\n\n")
		} else {
			now.WriteString("The message quotes somebody else:\n" + behindBar(t.heard.quoted) + "\n\n")
		}
	}
	now.WriteString(c.o.Person + " says:\n" + t.heard.own)
	return append(messages, llm.Message{Role: llm.User, Text: now.String()}), nil
}

// known reads the context that palettes declare.
func (t *turn) known(ctx context.Context) (string, error) {
	var b strings.Builder
	for _, v := range t.c.context {
		script, _ := dsl.Parse(dsl.NewSource("context", v.Name))
		program, ds := t.c.o.Session.Check(ctx, script)
		if program == nil {
			t.record.note(noteContext, v.Name, ds[0].Summary)
			continue
		}
		t.event(Reading, v)
		reply, err := t.c.o.Session.Run(ctx, program, engine.RunOptions{Source: t.c.o.Source, Progress: t.far})
		var refusal *engine.Refusal
		if errors.As(err, &refusal) {
			t.record.note(noteContext, v.Name, refusal.Diagnostics[0].Summary)
			if d := &refusal.Diagnostics[0]; d.Code == "which-at-work" {
				// The person would have to be asked first.
				b.WriteString(v.Name + ": " + d.Summary + "; " + strings.Join(d.Notes, "; ") + "\n")
			}
			continue
		}
		if err != nil {
			return "", err
		}
		for i := range reply.Calls {
			if r := reply.Calls[i].Result; r != nil {
				t.trace.result(r)
				t.hasRead(&reply.Calls[i])
				t.record.Read = append(t.record.Read, CallNote{Call: v.Name, Verb: v.Name, Rows: len(r.Rows), From: resultFrom(r)})
				b.WriteString(stood(reply.Calls[i].Filled) + shown(v.Name, r, !t.c.planFirst))
			}
		}
	}
	return b.String(), nil
}

// ask runs the model step by step until it replies to the person.
func (t *turn) ask(ctx context.Context, messages []llm.Message, shortlist []*verbs.Verb) (string, error) {
	c := t.c
	request, vocabulary, err := t.shape(shortlist)
	if err != nil {
		return t.system(ctx, err)
	}
	budget := c.o.Budget
	if budget == nil {
		budget = llm.NewBudget("conversation", 0)
	}
	model := llm.Limited(c.o.Model, budget.Within(turnBudget, c.o.Limits.Tokens))
	repairs, texts := 0, 0
	var refused dsl.Diagnostics // what was wrong last
	for steps := 0; ; {
		request.Messages = messages
		c.shows(messages, vocabulary)
		reply, err := t.chat(ctx, model, request)
		if err != nil {
			return t.silent(ctx, err)
		}
		t.record.heardModel(reply)
		if reply.Finish == llm.Filtered || reply.Refusal != "" {
			t.record.note(noteDeclined)
			if len(t.found) > 0 {
				return t.facing(t.left(t.found)), nil
			}
			return t.c.wording.say(sayDeclined), nil
		}
		p := t.read(reply, vocabulary)
		answer := llm.Message{Role: llm.Assistant, Text: reply.Text, Reasoning: reply.Reasoning}
		if len(reply.Calls) > 0 {
			answer.Calls = reply.Calls
		}
		back := func(says string) {
			messages = append(messages, answer)
			if len(reply.Calls) == 0 {
				messages = append(messages, llm.Message{Role: llm.User, Text: says})
				return
			}
			for i, call := range reply.Calls {
				text := "See the answer to the first of these calls."
				if i == 0 {
					text = says
				}
				messages = append(messages, llm.Message{Role: llm.ToolRole, CallID: call.ID, Text: text})
			}
		}
		var outcome step
		switch {
		case p.problem != "":
			outcome.wrong = p.problem
		case p.script == "" && p.replies == nil && len(t.found) > 0:
			t.propose(p, "text")
			return t.facing(t.left(t.found)), nil
		case p.script == "" && p.replies == nil:
			switch texts++; {
			case len(refused) > 0:
				t.propose(p, "text")
				return t.giveUp(refused), nil
			case texts > 1 && p.prose != "":
				t.propose(p, "text")
				return t.interpret(ctx, "") // it knows nothing but prose
			}
			outcome.wrong = modelNothing
		case p.script != "":
			if outcome, err = t.carry(ctx, p); err != nil {
				return t.system(ctx, err)
			}
			t.tell(t.left(t.done))
		}
		if outcome.wrong == "" && outcome.question == nil && p.replies != nil {
			text, wrong, err := t.replied(ctx, p.replies)
			if err != nil {
				return t.system(ctx, err)
			}
			if wrong == "" {
				t.propose(p, "told")
				return joined(text), nil
			}
			outcome.wrong = wrong
			if p.script != "" {
				outcome.wrong = modelWasDone + wrong
			}
		}
		switch {
		case outcome.wrong != "":
			refused = outcome.why
			t.propose(p, outcome.wrong)
			if repairs == c.o.Limits.Repairs {
				t.record.note(noteNoCalls)
				return t.giveUp(refused), nil
			}
			repairs++
			t.event(Mending, nil)
			t.record.Model.Repairs = repairs
			back(outcome.wrong)
			continue
		case outcome.question != nil:
			t.propose(p, "asked")
			return joined(t.left(t.done), c.wording.question(outcome.question)), nil
		}
		t.propose(p, "done")
		steps++
		switch {
		case c.planFirst:
			return t.facing(t.left(t.found)), nil
		case steps >= c.o.Limits.Steps:
			t.record.note(noteSteps)
			return t.facing(t.left(t.found)), nil
		}
		back(outcome.says)
	}
}

// chat asks the model for its next answer. The answer is streamed, so that a stalled server is
// noticed; a broken stream is retried. (F27)
func (t *turn) chat(ctx context.Context, model llm.Model, request llm.Request) (*llm.Reply, error) {
	t.event(AskingModel, nil)
	began := false
	piece := func(string) { began = true }
	t.record.Model.Calls++
	reply, err := model.Chat(ctx, request, piece)
	var e *llm.Error
	if errors.As(err, &e) && began && ctx.Err() == nil && slices.Contains([]llm.Kind{llm.Cut, llm.Garbled, llm.Unavailable}, e.Kind) {
		t.record.note(noteBrokeOff, string(e.Kind))
		t.record.Model.Calls++
		reply, err = model.Chat(ctx, request, piece)
	}
	t.exchanged(&request, reply, err)
	if err == nil {
		t.as(TakenModel)
		t.c.alone = false
		t.closed(false) // the model speaks now, and did not ask that question
	}
	return reply, err
}

// giveUp says that the model could not do it, and why, if that helps.
func (t *turn) giveUp(ds dsl.Diagnostics) string {
	text := t.c.wording.say(sayTooHard)
	if len(ds) > 0 && slices.Contains([]string{"origin", "requirement-not-met", "not-possible", "declined-before", "which-at-work"}, ds[0].Code) {
		text = t.refused(ds)
	}
	return joined(t.left(t.done), text)
}

// joined joins texts with line breaks.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// silent answers without the model, which could not be reached or broke off.
func (t *turn) silent(ctx context.Context, err error) (string, error) {
	var e *llm.Error
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var kind []string
	if errors.As(err, &e) {
		kind = []string{string(e.Kind)}
		if e.Kind == llm.Unrecorded {
			return "", err // it does not fit the conversation, which is a mistake of the test
		}
	}
	t.record.note(noteUnasked, kind...)
	if len(t.found) > 0 {
		return t.facing(t.left(t.found)), nil
	}
	says := t.c.wording.say(silence(e))
	text, err := t.interpret(ctx, says)
	if err == nil && !t.c.alone && text != says {
		text = says + "\n" + text // once, and then it is known
	}
	t.c.alone = err == nil
	return text, err
}
