package a2a

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/internal/digest"
	"verbatim/runtime/protocols/a2a"
	"verbatim/runtime/state/sessions"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
	"verbatim/verbs/message"
)

// How a message of an agent becomes calls, and what is kept of it.

// says answers with a message that is no task.
func (p *peer) says(session string, t *task, parts ...a2a.Part) *a2a.SendMessageResponse {
	m := &a2a.Message{MessageID: rand.Text(), ContextID: session, Role: a2a.Other, Parts: parts}
	if t != nil {
		m.TaskID = t.id
	}
	return &a2a.SendMessageResponse{Message: m}
}

// said returns the turns that a message adds to its session: the question it answers, and the
// message itself without sensitive values.
func (p *peer) said(m *a2a.Message, t *task, kept []a2a.Part) []sessions.Said {
	write := func(m a2a.Message) string {
		text, _ := json.Marshal(m) // its parts were read from JSON
		return string(text)
	}
	var all []sessions.Said
	if t != nil && t.says != "" {
		asked := a2a.Message{MessageID: digest.Of("verbatim status 1", t.id, string(t.state), t.says, a2a.Stamp(t.changed))[:32], Role: a2a.Other, Parts: []a2a.Part{a2a.TextPart(t.says)}}
		all = append(all, sessions.Said{Role: sessions.Agent, Content: write(asked)})
	}
	own := *m
	own.Parts, own.TaskID, own.ContextID, own.Metadata = kept, "", "", nil
	return append(all, sessions.Said{Role: sessions.Client, Content: write(own)})
}

// A parsedMessage is a message, read into calls.
type parsedMessage struct {
	script *dsl.Script
	agreed string
	kept   []a2a.Part // the message without sensitive values
}

// understands reads a message. Data are calls of values. A text is a script if it parses as one, an
// answer if the task requires input, and otherwise a phrase. If no phrase fits, the reply lists
// what can be asked for.
func (p *peer) understands(ctx context.Context, s *engine.Session, m *a2a.Message, t *task) (*parsedMessage, []a2a.Part, error) {
	a := &parsedMessage{}
	var calls, texts []string
	for i := range m.Parts {
		part := m.Parts[i]
		switch {
		case part.Data != nil:
			call, err := p.callOf(ctx, s, part.Data, t, a)
			if err != nil {
				return nil, nil, err
			}
			calls = append(calls, dsl.FormatCall(call))
			part.Data = p.withhold(part.Data, call)
		case part.Text != nil:
			texts = append(texts, *part.Text)
		default:
			return nil, nil, &a2a.Error{Code: a2a.ContentTypeNotSupported, Text: "this agent takes text and data, and no files"}
		}
		a.kept = append(a.kept, part)
	}
	text := strings.Join(texts, "\n")
	switch {
	case len(calls) > 0: // other text is only for readers of the history
		text = strings.Join(calls, "\n")
	default:
		script, ds := dsl.Parse(dsl.NewSource(taskKind, text))
		if ds.HasErrors() || len(script.Calls) == 0 || slices.ContainsFunc(script.Calls, func(c dsl.Call) bool { return p.Registry.Verb(c.Verb) == nil }) {
			var reply []a2a.Part
			var err error
			if text, reply, err = p.meant(ctx, s, text, t); err != nil || reply != nil {
				return nil, reply, err
			}
		}
	}
	script, ds := p.Limits.Parse(taskKind, text+"\n")
	if ds.HasErrors() {
		return nil, nil, server.Invalid(script, p.Registry.Mask(script, ds))
	}
	if a.script = script; len(calls) == 0 {
		var masked []a2a.Part
		hides := false
		for i := range script.Calls {
			c := p.masked(&script.Calls[i])
			hides = hides || c != &script.Calls[i]
			masked = append(masked, a2a.TextPart(dsl.FormatCall(c)))
		}
		if hides { // none of its words can be kept
			a.kept = masked
		}
	}
	return a, nil, nil
}

// callOf reads data as a call: {"verb": NAME, "arguments": {…}}; skill may stand for verb. Without
// a name, it is the first verb that begins a task, or the one that takes the task's answer. agreed
// names the preview that the peer agreed to.
func (p *peer) callOf(ctx context.Context, s *engine.Session, data []byte, t *task, a *parsedMessage) (*dsl.Call, error) {
	var said struct {
		Verb, Skill, Agreed string
		Arguments           json.RawMessage
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil || said.Verb != "" && said.Skill != "" {
		return nil, invalidParams(`data are {"verb": NAME, "arguments": {…}}, and nothing else`)
	}
	if said.Agreed != "" {
		a.agreed = said.Agreed
	}
	name := said.Verb + said.Skill
	var verb *verbs.Verb
	switch {
	case name != "":
		verb = p.Registry.Verb(name)
	case t != nil:
		verb = t.of.Continues
	default:
		for _, of := range p.Registry.Tasks() {
			if verb == nil && s.May(of.Begins[0]) {
				verb = of.Begins[0]
			}
		}
	}
	if verb == nil || !s.May(verb) {
		return nil, invalidParams("there is no such skill for you")
	}
	v := grammar.Vocabulary{Verbs: []*verbs.Verb{verb}}
	tools, err := grammar.Tools(v)
	if err != nil || len(tools) == 0 {
		return nil, invalidParams(verb.Name + " cannot be called with values; send a script as text")
	}
	call, err := grammar.Call(v, tools[0].Name, string(said.Arguments))
	if err != nil {
		return nil, invalidParams(err.Error())
	}
	if t == nil {
		return &call, nil
	}
	// A message to a task fills the argument that refers to the task's row.
	i := slices.IndexFunc(verb.Params, func(param verbs.Param) bool {
		return param.Type != nil && param.Type.Name == verbs.RefType && param.Type.Entity == t.of.Entity
	})
	if i >= 0 && !slices.ContainsFunc(call.Args, func(arg dsl.Arg) bool { return arg.Key == verb.Params[i].Name }) {
		call.Args = append(call.Args, dsl.NewArg(verb.Params[i].Name, symbol(p.rowID(ctx, t))))
	}
	return &call, nil
}

// rowID returns the name of a task's row, even if the task is known by its confirmation.
func (p *peer) rowID(ctx context.Context, t *task) string {
	if strings.HasPrefix(t.id, askPrefix) && !t.key.IsNull() {
		if id, err := p.called(ctx, t.of, t.key); err == nil {
			return id[0]
		}
	}
	return t.id
}

// masked returns a call without its sensitive values.
func (p *peer) masked(c *dsl.Call) *dsl.Call {
	return dsl.Replace(c, func(of *dsl.Call, key string, _ *dsl.Value) (dsl.Value, bool) {
		return dsl.NewString("(withheld)"), p.sensitive(of.Verb, key)
	})
}

func (p *peer) sensitive(verb, key string) bool {
	v := p.Registry.Verb(verb)
	return v != nil && slices.ContainsFunc(v.Params, func(param verbs.Param) bool { return param.Sensitive && (param.Name == key || param.Ident == key) })
}

// withhold removes sensitive values from the data of a call.
func (p *peer) withhold(data []byte, call *dsl.Call) json.RawMessage {
	var said map[string]json.RawMessage
	var args map[string]json.RawMessage
	if json.Unmarshal(data, &said) != nil || json.Unmarshal(said["arguments"], &args) != nil {
		return data // there are no arguments
	}
	for key := range args {
		if p.sensitive(call.Verb, key) {
			args[key] = json.RawMessage(`"(withheld)"`)
		}
	}
	said["arguments"], _ = json.Marshal(args)
	text, err := json.Marshal(said)
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}

// plainly is the confidence that a phrase needs where any other text would begin a task.
const plainly = 0.9

// meant reads words as calls: as the answer that a task requires, as a phrase, or as the text of a
// new task.
func (p *peer) meant(ctx context.Context, s *engine.Session, text string, t *task) (script string, reply []a2a.Part, err error) {
	if t != nil && t.state == verbs.TaskInput && t.of.Words >= 0 && s.May(t.of.Continues) {
		verb := t.of.Continues
		call := dsl.NewCall(verb.Name, dsl.NewArg(verb.Params[t.of.Row].Name, symbol(p.rowID(ctx, t))), dsl.NewArg(verb.Params[t.of.Words].Name, dsl.NewString(text)))
		return dsl.FormatCall(&call), nil, nil
	}
	var otherwise *verbs.Answering
	for _, of := range p.Registry.Tasks() {
		if t == nil && otherwise == nil && of.Otherwise != nil && s.May(of.Otherwise.Verb) {
			otherwise = of.Otherwise
		}
	}
	if p.Talk != nil && len(text) <= 4000 {
		if o := p.Talk(s); o.Interpreter != nil {
			u, err := o.Interpreter.Interpret(ctx, text, dialog.Settled{}, nil)
			switch {
			case err != nil:
				return "", nil, err
			case otherwise != nil && (u.Confidence < plainly || len(u.Left) > 0):
			case u.Ask != "":
				offers := message.Names(u.Offers, func(offer dialog.Offer) string { return offer.Says })
				return "", []a2a.Part{a2a.TextPart(u.Ask), a2a.DataPart(map[string]any{"verb": u.Verb, "offers": offers})}, nil
			case u.Script != "" && len(u.Left) == 0:
				return u.Script, nil, nil
			}
		}
	}
	if otherwise != nil {
		call := dsl.NewCall(otherwise.Verb.Name, dsl.NewArg(otherwise.Verb.Params[otherwise.Param].Name, dsl.NewString(text)))
		return dsl.FormatCall(&call), nil, nil
	}
	skills := p.card(s.May).Skills
	lines := []string{"That was not understood. This is what can be asked for:"}
	for _, skill := range skills {
		lines = append(lines, skill.ID+": "+skill.Description)
	}
	return "", []a2a.Part{a2a.TextPart(strings.Join(lines, "\n")), a2a.DataPart(map[string]any{"skills": skills})}, nil
}
