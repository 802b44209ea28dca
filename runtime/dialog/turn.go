package dialog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/runtime/llm"
	"verbatim/runtime/words"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

var previewIDs = regexp.MustCompile(`\b[0-9a-f]{4}-[0-9a-f]{4}\b`)

// converse answers what was said: with a model, or without.
func (t *turn) converse(ctx context.Context) (string, error) {
	c := t.c
	if err := t.ready(ctx); err != nil {
		return t.system(ctx, err)
	}
	var err error
	shortlist := t.shortlist()
	if c.o.Model == nil {
		return t.interpret(ctx, "")
	}
	if t.over, err = c.o.Session.Settled(ctx, shortlist, t.names); err != nil {
		return t.system(ctx, err)
	}
	messages, err := t.prompt(ctx, shortlist)
	if err != nil {
		return t.system(ctx, err)
	}
	return t.ask(ctx, messages, shortlist)
}

// ready gathers what the turn may speak of, and the names that are known now.
func (t *turn) ready(ctx context.Context) (err error) {
	t.begin()
	if t.names != nil {
		return nil
	}
	if t.names, err = t.c.o.Session.Names(ctx, t.c.o.Registry.Entities()); err != nil {
		return err
	}
	for e, names := range t.names {
		t.facts.words = append(t.facts.words, fold(entityWords(e)))
		for _, n := range names {
			t.facts.names = append(t.facts.names, n)
			t.facts.words = append(t.facts.words, "@"+n+"\n"+strings.ReplaceAll(n, "-", " "))
		}
	}
	return nil
}

// system tells that something is wrong with the system.
func (t *turn) system(ctx context.Context, err error) (string, error) {
	var refusal *runtime.Refusal
	var failed *runtime.Failure
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &refusal):
		t.record.refused(refusal.Diagnostics)
		return t.c.wording.refused(refusal.Diagnostics), nil
	case errors.As(err, &failed) && failed.Unknown:
		t.record.note(noteLost)
		return t.c.wording.say(sayUnknownEnd), nil
	}
	t.record.note(noteFailed, runtime.Sentence(err))
	if len(t.done) > 0 {
		return t.c.wording.told(t.done) + "\n" + t.c.wording.say(sayThenFailed), nil
	}
	return t.c.wording.say(sayFailed), nil
}

// shortlist picks the verbs that the model is told of.
func (t *turn) shortlist() []*verbs.Verb {
	all := t.c.verbs
	if len(all) <= maxVerbs {
		return all
	}
	if t.c.o.Interpreter != nil {
		// What was said before helps to understand "and for Thomas?".
		said := t.heard.own
		if past := t.c.latest(); len(past) > 0 {
			said += "\n" + past[len(past)-1].Said
		}
		list := t.c.o.Interpreter.Shortlist(said, all, maxVerbs)
		// What the context is made of can always be asked for again.
		for _, v := range t.c.context {
			if !slices.Contains(list, v) {
				list = append(list[:min(len(list), maxVerbs-1)], v)
			}
		}
		return list[:min(len(list), maxVerbs)]
	}
	return all[:maxVerbs]
}

// prompt writes what the model is told: rules, what is known now, what was said
// before, and what is said now.
func (t *turn) prompt(ctx context.Context, shortlist []*verbs.Verb) ([]llm.Message, error) {
	c := t.c
	b := &brief{Person: c.o.Person, Today: dayWords(t.now), Mode: c.o.Mode, PlanFirst: c.planFirst, Steps: c.o.Limits.Steps - 1, Conduct: c.conduct}
	if n := len(c.verbs) - len(shortlist); n > 0 {
		b.More = n
	}
	b.digest(shortlist, t)
	for _, list := range b.Codes {
		t.facts.words = append(t.facts.words, fold(list.List))
	}
	system, err := b.system()
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
		if c.planFirst && foreign(past.tainted) {
			answer = "(They were told what was found.)"
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
		program, ds := t.c.o.Session.Check(script)
		if program == nil {
			t.record.note(noteContext, v.Name, ds[0].Summary)
			continue
		}
		t.event(Reading, v)
		reply, err := t.c.o.Session.Run(ctx, program, runtime.RunOptions{Source: t.c.o.Source})
		var refusal *runtime.Refusal
		if errors.As(err, &refusal) {
			t.record.note(noteContext, v.Name, refusal.Diagnostics[0].Summary)
			if d := &refusal.Diagnostics[0]; d.Code == "which-at-work" {
				// The person has to be asked first.
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
				t.facts.shownRows(r)
				t.facts.counts = append(t.facts.counts, len(r.Rows))
				t.record.Read = append(t.record.Read, CallNote{Call: v.Name, Verb: v.Name, Rows: len(r.Rows), From: resultFrom(r)})
				b.WriteString(t.facts.stood(reply.Calls[i].Filled) + shown(v.Name, r, !t.c.planFirst))
			}
		}
	}
	return b.String(), nil
}

// ask lets the model make steps until it speaks to the person.
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
	repairs := 0
	var refused dsl.Diagnostics // what was wrong last
	for steps := 0; ; {
		request.Messages = messages
		reply, speaker, err := t.chat(ctx, model, request)
		if err != nil {
			return t.silent(ctx, err, speaker)
		}
		t.record.heardModel(reply)
		if reply.Finish == llm.Filtered || reply.Refusal != "" {
			t.record.note(noteDeclined)
			if speaker.spoke() {
				return "", nil
			}
			if len(t.found) > 0 {
				return t.facing(t.c.wording.told(t.found)), nil
			}
			return t.c.wording.say(sayDeclined), nil
		}
		p := t.read(reply, vocabulary)
		// What nobody can see reaches nobody.
		if shown, hidden := visible(p.prose); hidden || shown != p.prose {
			p.prose = shown
			if hidden {
				t.record.note(noteUnseen)
			}
		}
		answer := llm.Message{Role: llm.Assistant, Text: reply.Text}
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
		case len(p.script) == 0 && strings.TrimSpace(p.prose) == "":
			outcome.wrong = modelNothing
		case len(p.script) == 0:
			text := t.vetted(p.prose, speaker)
			if text == c.wording.say(sayUnread) && len(refused) > 0 {
				text = t.giveUp(refused) // that is what there is to tell
			}
			return text, nil
		default:
			if outcome, err = t.carry(ctx, p); err != nil {
				return t.system(ctx, err)
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
			if outcome.swayed {
				p.prose = "" // nor does a stranger talk them into it
			}
			return t.withProse(speaker.rest(strings.TrimSpace(p.prose)), c.wording.question(outcome.question)), nil
		}
		t.propose(p, "done")
		steps++
		switch {
		case c.planFirst:
			return t.facing(t.c.wording.told(t.found)), nil
		case steps >= c.o.Limits.Steps:
			t.record.note(noteSteps)
			return t.facing(t.c.wording.told(t.found)), nil
		}
		back(outcome.says)
	}
}

// chat asks the model for its next answer, and tells of it what can be told while
// it speaks. An answer that breaks off before anything of it was told is asked for
// again, in one piece.
func (t *turn) chat(ctx context.Context, model llm.Model, request llm.Request) (*llm.Reply, *speaker, error) {
	t.event(Asking, nil)
	s := t.listen()
	var piece func(string)
	if t.events != nil {
		piece = s.hear
	}
	t.record.Model.Calls++
	reply, err := model.Chat(ctx, request, piece)
	var e *llm.Error
	if errors.As(err, &e) && s.raw != "" && !s.spoke() && ctx.Err() == nil && slices.Contains([]llm.Kind{llm.Cut, llm.Late, llm.Garbled, llm.Unavailable}, e.Kind) {
		t.record.note(noteBrokeOff, string(e.Kind))
		s = t.listen()
		t.record.Model.Calls++
		reply, err = model.Chat(ctx, request, nil)
	}
	if err == nil {
		t.c.alone = false
		t.closed(false) // whoever speaks now was not asked back
		s.whole(reply.Text)
	}
	return reply, s, err
}

// withProse puts what the model says before what the house says, where it can be
// borne out.
func (t *turn) withProse(prose, text string) string {
	prose = strings.TrimSpace(prose)
	before := ""
	if len(t.done) > 0 {
		before = t.c.wording.told(t.done) + "\n"
	}
	if prose == "" {
		return before + text
	}
	if claims := t.facts.unfounded(prose, isGerman(prose)); len(claims) > 0 {
		t.record.Replaced = append(t.record.Replaced, claims...)
		return before + text
	}
	return before + prose + "\n" + text
}

// vetted is what the model says to the person, where every fact in it is one; and
// otherwise what was found and done.
func (t *turn) vetted(prose string, s *speaker) string {
	prose = strings.TrimSpace(prose)
	claims := t.facts.unfounded(prose, isGerman(prose))
	if len(claims) == 0 {
		t.goesOn = s.spoke()
		return s.rest(prose)
	}
	t.record.Replaced = append(t.record.Replaced, claims...)
	switch text := t.c.wording.told(t.found); {
	case text != "":
		return text
	case s.spoke():
		return t.c.wording.say(sayNoMore)
	}
	return t.c.wording.say(sayUnread)
}

// giveUp tells that the model could not do it, and why where that helps.
func (t *turn) giveUp(ds dsl.Diagnostics) string {
	text := t.c.wording.say(sayTooHard)
	if len(ds) > 0 && slices.Contains([]string{"origin", "requirement-not-met", "not-possible", "declined-before", "which-at-work"}, ds[0].Code) {
		text = t.c.wording.refused(ds)
	}
	if len(t.done) > 0 {
		return t.c.wording.told(t.done) + "\n" + text
	}
	return text
}

// silent answers without the model, which could not be had, or broke off.
func (t *turn) silent(ctx context.Context, err error, s *speaker) (string, error) {
	var e *llm.Error
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var kind []string
	if errors.As(err, &e) {
		kind = []string{string(e.Kind)}
		if e.Kind == llm.Unrecorded {
			return "", err // a recording that does not fit is a mistake of whoever plays it
		}
	}
	t.record.note(noteUnasked, kind...)
	switch {
	case len(t.found) > 0:
		return t.facing(t.c.wording.told(t.found)), nil
	case s.spoke():
		return t.c.wording.say(sayBrokeOff), nil
	}
	says := t.c.wording.say(silence(e))
	text, err := t.interpret(ctx, says)
	if err == nil && !t.c.alone && text != says {
		text = says + "\n" + text // once, and then it is known
	}
	t.c.alone = err == nil
	return text, err
}

// interpret understands what was said as far as phrases go.
func (t *turn) interpret(ctx context.Context, otherwise string) (string, error) {
	c := t.c
	unread := c.wording.say(sayUnread)
	if otherwise == "" {
		otherwise = unread
	}
	if c.o.Interpreter == nil {
		return otherwise, nil
	}
	was := &t.was
	if was.corrects && was.open() {
		if text, ok, err := t.choosesCorrection(ctx, was); ok || err != nil {
			return text, err
		}
	}
	if text, ok, err := t.polite(ctx); ok || err != nil {
		if err != nil {
			return text, err
		}
		return t.aside(ctx, text)
	}
	chosen, again, err := t.chosen(ctx, was)
	if err != nil {
		return t.system(ctx, err)
	}
	if again {
		c.unclear.fresh = true
		return c.wording.say(sayMeantThat) + "\n" + was.asked, nil
	}
	var u Understood
	if chosen == nil {
		if u, err = c.o.Interpreter.Interpret(ctx, t.heard.own, "", c.before()); err != nil {
			return t.system(ctx, err)
		}
		if u.Long {
			return t.aside(ctx, c.wording.say(sayMuchAtOnce))
		}
		if text, ok, err := t.answered(ctx, &u); ok || err != nil {
			t.closed(false)
			return text, err
		}
	}
	if u.Script == "" && chosen == nil {
		if chosen, err = t.answer(ctx, t.heard.own, &u, was); err != nil {
			return t.system(ctx, err)
		}
	}
	if was.open() && chosen == nil && u.Script != "" && !was.subject(&u) && t.reads(&u) {
		// They ask something in between.
		text, err := t.carried(ctx, &u)
		if err != nil {
			return text, err
		}
		return t.aside(ctx, text)
	}
	turned := ""
	switch {
	case !was.open():
	case chosen != nil:
		t.record.note(noteAnswerBefore)
		if u = *chosen; words.ReadAnswer(t.heard.own).Answer == words.Decline && u.Script == "" {
			t.closed(false) // they do not want to be asked
			return c.wording.say(sayWell), nil
		}
		t.closed(true)
		if len(was.offers) > 1 && u.Ask == was.asked && words.ReadAnswer(t.heard.own).Answer == words.Agree {
			text, err := t.makes(ctx, &u, was, otherwise)
			return text + "\n" + c.wording.say(saySayWhich), err
		}
		if said := t.next.said; said != "" && !strings.Contains(said, "@") {
			// All of it is theirs, also the day that they chose; a row that they chose
			// is known by its name, and what that says they did not say.
			t.trace.add(ofPerson, said, t.now)
		}
	case words.ReadAnswer(t.heard.own).Answer == words.Decline && u.Script == "":
		t.closed(false)
		return c.wording.say(sayWell), nil
	case u.Script == "" && u.Ask == "":
		t.closed(false) // it answers nothing
	default:
		if !was.subject(&u) {
			turned = c.wording.say(sayLetGo, firstLine(was.asked)) + "\n"
			t.record.note(noteLetGo)
		}
		t.closed(false)
	}
	if t.lapsed.open() && u.Script == "" && u.Ask == "" {
		if text, err := t.lapse(ctx); text != "" || err != nil {
			return text, err
		}
	}
	text, err := t.makes(ctx, &u, was, otherwise)
	if err != nil || text == "" {
		return text, err
	}
	return turned + text, nil
}

// makes tells what came of what was understood.
func (t *turn) makes(ctx context.Context, u *Understood, was *unclear, otherwise string) (string, error) {
	c := t.c
	if q := t.held; q != nil && u.Script == "" && u.Verb == "" {
		t.record.note(noteHeldUp)
		return c.wording.say(sayHeldUp), nil
	} else if q != nil && !t.reads(u) && slices.Contains(c.open, q) {
		if err := t.withdraw(ctx, q); err != nil {
			return t.system(ctx, err)
		}
		t.record.Withdrawn = q.Calls
	}
	switch unread := c.wording.say(sayUnread); {
	case u.Ask != "":
		t.asksBack(u, was)
	case u.Script != "":
	case content(t.heard.own):
		if a := t.asking(ctx); a != nil && a.Yes != "" {
			return c.wording.say(sayWasItYes), nil // "perfect" settles nothing
		}
		if len(c.open) > 0 { // nor does it where a question waits, whatever was said since
			freshen(c.open)
			return c.wording.again(c.open), nil
		}
		return c.wording.say(sayWell), nil
	case words.ReadAnswer(t.heard.own).Answer == words.Decline:
		return c.wording.say(sayNothingOpen), nil
	case u.Beyond:
		t.record.note(noteBeyond)
		return t.cannot(), nil
	case otherwise == unread:
		const few = 3
		return otherwise + c.wording.examples(few, c.context, c.o.Session.Verbs()), nil
	default:
		return otherwise, nil
	}
	return t.carried(ctx, u)
}

// carried carries out what was understood, or asks what has to be asked first.
func (t *turn) carried(ctx context.Context, u *Understood) (string, error) {
	c := t.c
	t.record.Phrase, t.record.NotUsed = u.Matched, u.NotUsed
	t.intent = u.Verb
	supposed := ""
	if len(u.Assumed) > 0 {
		supposed = c.wording.assumed(u.Assumed)
		t.record.note(noteAssumed, "@"+strings.Join(u.Assumed, ", @"))
	}
	if u.Ask != "" {
		return supposed + u.Ask, nil
	}
	outcome, err := t.carry(ctx, proposal{script: u.Script, phrased: true})
	switch {
	case err != nil:
		return t.system(ctx, err)
	case outcome.question != nil:
		return supposed + c.wording.question(outcome.question), nil
	case outcome.wrong != "" && t.ends != "" && outcome.why[0].Code == "already-used":
		return t.overtaken(), nil
	case outcome.wrong != "":
		return supposed + c.wording.refused(outcome.why), nil
	}
	return supposed + t.facing(t.c.wording.told(t.found)), nil
}

// content reports whether somebody is content with what they were told.
func content(said string) bool {
	r := words.ReadAnswer(said)
	return r.Which == 0 && (r.Answer == words.Agree || r.Answer == words.Pleased)
}

// shape makes the request that every step of the turn is.
func (t *turn) shape(shortlist []*verbs.Verb) (llm.Request, grammar.Vocabulary, error) {
	c := t.c
	zero := float32(0)
	r := llm.Request{MaxTokens: c.o.Limits.Answer, Temperature: &zero}
	v := grammar.Vocabulary{Verbs: shortlist, Calls: c.o.Limits.Calls, Settled: t.over, Names: func(e *verbs.Entity) []string {
		if e != nil {
			return t.offered(e)
		}
		var all []string
		for _, of := range c.o.Registry.Entities() {
			all = append(all, t.offered(of)...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}}
	switch c.o.Mode {
	case Tools:
		var err error
		if r.Tools, err = t.tools(v); err != nil {
			return r, v, err
		}
	case Grammar:
		v.Prose = true
		g := grammar.New(v)
		r.Grammar = g.GBNF()
		if c.o.Lark {
			r.Grammar = g.Lark()
		}
	}
	return r, v, nil
}

// offered are the names of an entity that a model is told, those of rows that are
// settled last where there are too many.
func (t *turn) offered(e *verbs.Entity) []string {
	names := t.names[e]
	if len(names) > maxNames {
		names = slices.Clone(names)
		slices.SortStableFunc(names, func(a, b string) int {
			switch x, y := t.isOver(e, a), t.isOver(e, b); {
			case x == y:
				return 0
			case x:
				return 1
			}
			return -1
		})
	}
	return likely(names, t.heard.own, maxNames)
}

func (t *turn) isOver(e *verbs.Entity, name string) bool {
	for p, of := range t.over {
		if p.Type.Entity == e && slices.Contains(of, name) {
			return true
		}
	}
	return false
}

// A toolbox is the tools that a model was offered last, and what they were made of.
type toolbox struct {
	verbs []*verbs.Verb
	names map[*verbs.Entity][]string
	gone  map[*verbs.Param][]string
	tools []llm.Tool
}

// tools are the functions that a model may ask for. They are the same from turn to
// turn while the verbs and the names are, and cost more than the rest of a prompt.
func (t *turn) tools(v grammar.Vocabulary) ([]llm.Tool, error) {
	c := t.c
	few := true // which of many names are offered depends on what was said
	for _, of := range t.names {
		few = few && len(of) <= maxNames
	}
	if o := &c.toolbox; few && o.tools != nil && slices.Equal(o.verbs, v.Verbs) && maps.EqualFunc(o.names, t.names, slices.Equal[[]string]) && maps.EqualFunc(o.gone, t.over, slices.Equal[[]string]) {
		return o.tools, nil
	}
	made, err := grammar.Tools(v)
	if err != nil {
		return nil, err
	}
	tools := make([]llm.Tool, 0, len(made))
	for _, tool := range made {
		tools = append(tools, llm.Tool{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters})
	}
	if c.toolbox = (toolbox{}); few {
		c.toolbox = toolbox{slices.Clone(v.Verbs), t.names, t.over, tools}
	}
	return tools, nil
}

// A proposal is what an answer of a model's comes to: calls, and text for the
// person.
type proposal struct {
	script, prose string
	problem       string // what is wrong with it as an answer
	asked         bool   // it is put to the person, whatever the rules say
	phrased       bool   // no model wrote it: it was read out of the person's own words, and may have been taken wrongly
}

// read takes an answer apart.
func (t *turn) read(reply *llm.Reply, v grammar.Vocabulary) proposal {
	if reply.Finish == llm.TooLong {
		return proposal{problem: modelCut, prose: reply.Text}
	}
	if len(reply.Calls) > 0 {
		p := proposal{prose: reply.Text}
		if len(reply.Calls) > t.c.o.Limits.Calls {
			p.problem = modelTooMany(len(reply.Calls), t.c.o.Limits.Calls)
			return p
		}
		var lines []string
		for _, call := range reply.Calls {
			written, err := grammar.Call(v, call.Name, call.Arguments)
			if err != nil {
				p.problem = fmt.Sprintf("The call of %s cannot be read, so none was made: %s. Write it again, whole.", oneLine(cut(call.Name)), err)
				return p
			}
			lines = append(lines, dsl.FormatCall(&written))
		}
		p.script = strings.Join(lines, "\n")
		return p
	}
	if t.c.o.Mode == Grammar {
		return byComments(reply.Text)
	}
	return byFences(reply.Text, t.c.o.Registry)
}

// byComments divides text in which every line that is no call is a comment.
func byComments(text string) proposal {
	var p proposal
	for line := range strings.Lines(text) {
		if said, ok := strings.CutPrefix(strings.TrimSpace(line), ";"); ok {
			p.prose += strings.TrimPrefix(said, " ") + "\n"
			continue
		}
		p.script += line
	}
	p.script, p.prose = strings.TrimSpace(p.script), strings.TrimSpace(p.prose)
	return p
}

var fence = regexp.MustCompile("(?m)^[ \t]*(```+|~~~+)[ \t]*([A-Za-z-]*)[ \t]*$")

// byFences divides text in which calls stand in fenced blocks. Where there is
// none, lines that begin with a verb are calls all the same: models forget.
func byFences(text string, reg *verbs.Registry) proposal {
	var p proposal
	var script, prose []string
	inside := ""
	for _, line := range strings.Split(text, "\n") {
		if m := fence.FindStringSubmatch(line); m != nil && (inside == "" || m[2] == "" && strings.HasPrefix(m[1], inside)) {
			if inside == "" {
				inside = m[1]
			} else {
				inside = ""
			}
			continue
		}
		word, _, _ := strings.Cut(strings.TrimLeft(line, " \t("), " ")
		switch {
		case inside != "", reg.Verb(word) != nil:
			script = append(script, line)
		default:
			prose = append(prose, line)
		}
	}
	if inside != "" {
		p.problem = modelUnclosed
	}
	p.script, p.prose = strings.TrimSpace(strings.Join(script, "\n")), strings.TrimSpace(strings.Join(prose, "\n"))
	return p
}

// A step is what came of a proposal.
type step struct {
	wrong    string          // what the model is told is wrong
	why      dsl.Diagnostics // the same, as diagnostics
	question *Question       // what the person is asked
	swayed   bool            // because a stranger may have had a say in it
	says     string          // what the model is told of what was found and done
}

// carry takes calls as far as they go: checked, previewed, and then asked about,
// or carried out.
func (t *turn) carry(ctx context.Context, p proposal) (step, error) {
	c := t.c
	script, ds := dsl.Parse(dsl.NewSource(c.o.Source, p.script))
	if ds.HasErrors() {
		return t.mistaken(script, ds), nil
	}
	if n := t.calls + len(script.Calls); n > c.o.Limits.Calls {
		return step{wrong: modelTooMany(n, c.o.Limits.Calls)}, nil
	}
	literals, traced := t.trace.literals(script)
	program, ds := c.o.Session.CheckFrom(script, literals)
	if ds.HasErrors() || program == nil {
		return t.mistaken(script, ds), nil
	}
	if len(program.Calls()) == 0 {
		return step{wrong: modelNothing}, nil
	}
	if key := t.bareKey(program, literals); key != nil {
		return t.mistaken(script, dsl.Diagnostics{*key}), nil
	}
	t.record.Resolved = append(t.record.Resolved, t.open(program, traced)...)
	t.means(program)
	canonical := dsl.Format(script)
	if t.ran[canonical] {
		return step{wrong: modelRepeats}, nil
	}
	var refusal *runtime.Refusal
	var by verbs.Origin
	var swayed []*verbs.Verb
	if !p.phrased {
		by, swayed = t.swayed(ctx, script, literals)
	}
	if len(swayed) > 0 && slices.ContainsFunc(swayed, sendsOnly) {
		t.record.note(noteToolAfter, by.Words())
		return step{wrong: modelSwayed(by.Words()), why: dsl.Diagnostics{notAsked(by.Words())}}, nil
	}
	kind := Doing
	if c.o.Session.Reads(program) {
		kind = Reading
	}
	for i := range program.Calls() {
		t.event(kind, program.Calls()[i].Verb)
	}
	var counted *hold
	if kind == Doing {
		preview, before, err := t.preview(ctx, program)
		if errors.As(err, &refusal) {
			return t.refusedStep(refusal), nil
		}
		if err != nil {
			return step{}, err
		}
		var why []reason
		if len(swayed) > 0 {
			why = append(why, reason{sayStrangers.In(words.English, by.Words()), c.wording.say(sayStrangers, c.wording.source(by))})
		}
		if len(preview.Asks) == 0 {
			var much *reason
			if much, counted, err = t.together(ctx, script); err != nil {
				counted.release(ctx)
				return step{}, err
			}
			if much != nil {
				why = append(why, *much)
			}
		}
		if len(preview.Asks)+len(why) > 0 || p.asked || p.phrased && t.beyond(preview) {
			counted.release(ctx)
			t.facts.done(preview)
			return step{question: t.question(program, preview, before, why...), swayed: len(swayed) > 0}, nil
		}
	}
	reply, err := t.run(ctx, program, runtime.RunOptions{}, nil)
	if err != nil {
		counted.unless(ctx, err)
	}
	if errors.As(err, &refusal) {
		return t.refusedStep(refusal), nil
	}
	if err != nil {
		return step{}, err
	}
	t.calls += len(script.Calls)
	before := len(t.done)
	t.did(reply)
	if len(t.done) > before {
		t.remember(program)
	}
	var says strings.Builder
	if len(t.done) > before {
		t.ran[canonical] = true
		if c.unasked == nil {
			c.unasked = tally{}
		}
		c.unasked.add(script)
		says.WriteString(deed(reply.Preview))
	} else {
		counted.release(ctx)
	}
	for i := range reply.Calls {
		if r := reply.Calls[i].Result; r != nil {
			says.WriteString(t.facts.stood(reply.Calls[i].Filled) + shown(reply.Calls[i].Verb.Name, r, true))
		}
	}
	if says.Len() == 0 {
		says.WriteString("done; it answered nothing\n")
	}
	return step{says: says.String() + "Tell the person, or make further calls."}, nil
}

// beyond reports whether something would change beyond what the conversation is
// about. That the person is told, and can say otherwise.
func (t *turn) beyond(p *runtime.Preview) bool {
	return slices.ContainsFunc(p.Calls, func(c runtime.CallPreview) bool {
		if len(c.Notices)+len(c.Tended)+len(c.Errands) > 0 {
			return true
		}
		return len(c.Rows) > 0 && !t.questions(c.Verb)
	})
}

// questions reports whether a verb begins or ends what the conversation asks
// question by question. Who wants to be asked is asked the first question, and not
// whether they want to be asked.
func (t *turn) questions(v *verbs.Verb) bool {
	return t.c.kept && slices.ContainsFunc(t.c.answering, func(a *verbs.Answering) bool {
		return slices.ContainsFunc(v.Effects, func(e verbs.Effect) bool {
			return e.Kind == verbs.Sets && !e.May && e.Session == a.While
		})
	})
}

// bareKey finds a key that the model wrote for a row. It was shown none, so that
// it guessed, or has it from a document; a person who types a key may.
func (t *turn) bareKey(p *verbs.Program, said verbs.Literals) *dsl.Diagnostic {
	for i := range p.Calls() {
		call := &p.Calls()[i]
		for j := range call.Args {
			a, typ := &call.Args[j], call.Verb.Params[j].Type
			for typ.Name == verbs.ListType && typ.Item != nil {
				typ = typ.Item
			}
			if typ.Name != verbs.RefType || a.Kind != verbs.Literal || a.Syntax == nil {
				continue
			}
			all := []dsl.Value{*a.Syntax}
			if a.Syntax.Kind == dsl.List {
				all = a.Syntax.Items()
			}
			for k := range all {
				if o, _ := said.Of(all[k].Range); o != ofPerson {
					d := keyWritten(dsl.Place{Source: p.Script().Source, Range: all[k].Range}, call.Verb.Params[j].Name)
					return &d
				}
			}
		}
	}
	return nil
}

// open withholds what a sensitive argument was given.
func (t *turn) open(p *verbs.Program, traced []Traced) []Traced {
	var dark []dsl.Range
	for i := range p.Calls() {
		call := &p.Calls()[i]
		for j := range call.Args {
			if call.Verb.Params[j].Sensitive && call.Args[j].Syntax != nil {
				dark = append(dark, call.Args[j].Syntax.Range)
			}
		}
	}
	out := traced[:0:0]
	for _, tr := range traced {
		if slices.ContainsFunc(dark, func(r dsl.Range) bool { return r.Start <= tr.at.Start && tr.at.End <= r.End }) {
			tr.Text, tr.Words = withheld, ""
		}
		out = append(out, tr)
	}
	return out
}

const withheld = "(withheld)"

// written is a script of the model's as it is recorded: without what sensitive
// arguments were given. What cannot be parsed is recorded only where no verb that
// it may be about takes any.
func (t *turn) written(text string) string {
	script, ds := dsl.Parse(dsl.NewSource(t.c.o.Source, text))
	if ds.HasErrors() {
		for _, v := range t.c.o.Registry.Verbs() {
			if strings.Contains(text, v.Name) && slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Sensitive }) {
				return withheld
			}
		}
		return text
	}
	var lines []string
	var hide func(c *dsl.Call) dsl.Call
	hide = func(c *dsl.Call) dsl.Call {
		out := *c
		out.Args = slices.Clone(c.Args)
		v := t.c.o.Registry.Verb(c.Verb)
		for i := range out.Args {
			a := &out.Args[i]
			if inner := a.Value.Call(); inner != nil {
				a.Value = dsl.NewNested(hide(inner))
			}
			if v == nil || slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Sensitive && p.Name == a.Key }) {
				if v != nil {
					a.Value = dsl.NewString(withheld)
				}
			}
		}
		return out
	}
	for i := range script.Calls {
		c := hide(&script.Calls[i])
		lines = append(lines, dsl.FormatCall(&c))
	}
	return strings.Join(lines, "\n")
}

func (t *turn) mistaken(script *dsl.Script, ds dsl.Diagnostics) step {
	if script != nil {
		ds = t.c.o.Registry.Mask(script, ds)
	}
	var errs dsl.Diagnostics
	for _, d := range ds {
		if d.Severity == dsl.Error {
			errs = append(errs, d)
		}
	}
	return step{wrong: modelMistakes(errs), why: errs}
}

func (t *turn) refusedStep(r *runtime.Refusal) step {
	t.record.refused(r.Diagnostics)
	return step{wrong: modelMistakes(r.Diagnostics), why: r.Diagnostics}
}

// isGerman reports whether a text is German, whose nouns all begin with a
// capital.
func isGerman(text string) bool {
	n := 0
	words := strings.Fields(strings.ToLower(text))
	for _, w := range words {
		switch strings.Trim(w, ".,;:!?") {
		case "der", "die", "das", "und", "ist", "ich", "sie", "nicht", "ein", "eine", "mit", "für", "auf", "noch", "wir", "haben", "den", "dem", "bis", "wird", "wurde", "ihre", "bitte":
			n++
		}
	}
	return n*6 >= len(words) && n > 0
}
