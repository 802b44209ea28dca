package dialog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/verbs"
)

// A turn with a model: the prompt, its answers, its retries, and what happens if it gives up or
// cannot be reached.

// rules writes the system text for the verbs that the model is shown, and returns the entities that they
// speak of.
func (t *turn) rules(shortlist []*verbs.Verb) (system string, entities []*verbs.Entity, err error) {
	c := t.c
	b := &brief{Phrased: c.phrased, Person: c.o.Person, Today: dayWords(t.now), Mode: c.o.Mode, PlanFirst: c.planFirst, Steps: c.o.Limits.Steps - 1, Conduct: c.conduct}
	if n := len(c.verbs) - len(shortlist); n > 0 {
		b.More = n
	}
	entities = b.digest(shortlist)
	system, err = b.system()
	return system, entities, err
}

// prompt writes the messages to the model: rules, the rows that there are, earlier turns, and the new
// message. What changes from turn to turn stands at the end, so that an endpoint which keeps what it
// has read need not read the rest anew.
func (t *turn) prompt(ctx context.Context, shortlist []*verbs.Verb) ([]llm.Message, error) {
	c := t.c
	system, entities, err := t.rules(shortlist)
	if err != nil {
		return nil, err
	}
	rows, err := t.rows(ctx, entities)
	if err != nil {
		return nil, err
	}
	first, changed := t.since(rows)
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
	var now strings.Builder
	now.WriteString(changed)
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
	now.WriteString(t.says() + t.heard.own)
	messages = append(messages, llm.Message{Role: llm.User, Text: now.String()})
	if len(messages) > 2 {
		messages[1].Text = t.says() + messages[1].Text
	}
	messages[1].Text = first + messages[1].Text
	return messages, nil
}

func (t *turn) says() string { return t.c.o.Person + " says:\n" }

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
	lost := false               // that would have changed something
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
			t.unused(modelWithheld)
			if len(t.found) > 0 {
				return t.facing(t.left(t.found)), nil
			}
			return t.c.wording.say(sayDeclined), nil
		}
		p := t.read(reply, vocabulary)
		answer := llm.Message{Role: llm.Assistant, Text: reply.Text, Reasoning: reply.Reasoning, Beside: reply.Beside}
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
				t.unable(reply, modelProse[c.o.Mode])
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
				if lost && len(refused) > 0 && passesOver(p.replies) {
					text = joined(t.giveUp(refused), text)
				}
				return joined(text), nil
			}
			outcome.wrong = wrong
			if p.script != "" {
				outcome.wrong = modelWasDone + wrong
			}
		}
		switch {
		case outcome.wrong != "":
			refused, lost = outcome.why, t.mayChange(p.script)
			t.propose(p, outcome.wrong)
			if repairs == c.o.Limits.Repairs {
				t.record.note(noteNoCalls)
				if outcome.wrong == modelCut {
					t.unused(modelCutOff)
				} else {
					t.unable(reply, modelNoCalls)
				}
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
		lost = false
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

// unused tells the operator why the model's answers are not used.
func (t *turn) unused(why string) {
	if t.c.o.Unused != nil {
		t.c.o.Unused(why)
	}
}

// unable tells why an answer is of no use: whatever it seems to be, a model that was not given all of its
// prompt cannot do better.
func (t *turn) unable(reply *llm.Reply, why string) {
	if reply.Unread {
		why = modelUnread
	}
	t.unused(why)
}

// giveUp says that the model could not do it, and why, if that helps.
func (t *turn) giveUp(ds dsl.Diagnostics) string {
	text := t.c.wording.say(sayTooHard)
	if len(ds) > 0 && slices.Contains([]string{"origin", "requirement-not-met", "not-possible", "declined-before", "which-at-work"}, ds[0].Code) {
		text = t.refused(ds)
	}
	return joined(t.left(t.done), text)
}

// passesOver reports whether a reply neither asks nor says that something cannot be done.
func passesOver(replies []dsl.Call) bool {
	return !slices.ContainsFunc(replies, func(c dsl.Call) bool {
		return c.Verb == replyAsk.Name || c.Verb == replyAdd.Name || slices.ContainsFunc(c.Args, func(a dsl.Arg) bool { return strings.HasPrefix(a.Value.Text, "NOT_") })
	})
}

// mayChange reports whether a script that was refused would have changed something.
func (t *turn) mayChange(script string) bool {
	parsed, _ := dsl.Parse(dsl.NewSource("refused", script))
	return parsed != nil && slices.ContainsFunc(parsed.Calls, func(c dsl.Call) bool { return t.changes(t.c.o.Registry.Verb(c.Verb)) })
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
