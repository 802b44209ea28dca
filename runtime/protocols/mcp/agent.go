package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/protocols/a2a"
	"verbatim/runtime/protocols/tools"
)

// A foreign agent is a server whose tools are its skills. A call becomes a message, and the result
// of its task the answer.

// afterwards is how long the connection to an agent stays open after an external call, to cancel a
// task that nobody waits for.
const afterwards = 2 * time.Second

// agent connects to a foreign agent.
func (s *Servers) agent(ctx context.Context, config Server, fn func(context.Context, peer) error) error {
	// Requests have the context of the external call, except the last one, which cancels a task.
	open, stop := context.WithTimeout(context.WithoutCancel(ctx), config.Timeout+afterwards)
	defer stop()
	client, shut, err := s.door(open, config, config.Agent, nil)
	if err != nil {
		return err
	}
	defer shut()
	a := &agent{client: a2a.Client{HTTP: client, Limit: config.MaxAnswer}, limit: config.MaxAnswer}
	if a.card, err = a.client.ReadCard(ctx, config.Agent); err == nil {
		a.client.At, err = a.card.Interface()
	}
	if err != nil {
		return plain(ctx, config, "", err)
	}
	a.client.Streams = a.card.Capabilities.Streaming
	if err := fn(ctx, a); err != nil {
		return plain(ctx, config, "", err)
	}
	return nil
}

// An agent is the connection to a foreign agent for one external call. It implements peer.
type agent struct {
	client a2a.Client
	card   *a2a.Card
	limit  int
}

// all yields the skills of the card. The accepted description of a skill includes every word of it,
// and how and where it is called.
func (a *agent) all(_ context.Context, server string) iter.Seq2[Said, error] {
	return func(yield func(Said, error) bool) {
		for i, text := range a.card.Skills {
			var skill a2a.AgentSkill
			err := json.Unmarshal(text, &skill)
			switch {
			case i == maxTools:
				err = fmt.Errorf("it lists more than %d skills", maxTools)
			case err != nil || skill.ID == "":
				err = errors.New("its card has a skill that is none")
			}
			if err != nil {
				yield(Said{}, err)
				return
			}
			said := Said{Server: server, Name: skill.ID, Title: skill.Name, Description: skill.Description, Input: json.RawMessage("{}"), // it does not declare its input
				Meta: raw(map[string]any{"skill": text, "interface": a.client.At, "inputModes": a.modes(skill), "agent": a.card.Name})}
			if !yield(said, nil) {
				return
			}
		}
	}
}

// modes returns the media types that a skill accepts.
func (a *agent) modes(skill a2a.AgentSkill) []string {
	if len(skill.InputModes) > 0 {
		return skill.InputModes
	}
	return a.card.InputModes
}

// call gives a skill a task. The same key makes the same message, which an agent answers with
// the same task.
func (a *agent) call(ctx context.Context, call tools.Call) (tools.Answer, error) {
	var modes []string
	for _, text := range a.card.Skills {
		var skill a2a.AgentSkill
		if json.Unmarshal(text, &skill) == nil && skill.ID == call.Name {
			modes = a.modes(skill)
			break
		}
	}
	part, err := asks(call, modes)
	if err != nil {
		return tools.Answer{}, fmt.Errorf("%w: %w", tools.ErrNotCalled, err)
	}
	m := &a2a.Message{MessageID: fmt.Sprintf("%x", sum([]string{"verbatim message 1", call.Server, call.Name, call.Key})), Role: a2a.User, Parts: []a2a.Part{part}}
	answer, err := a.client.Do(ctx, m)
	var says *a2a.Error
	switch {
	case errors.As(err, &says) && says.Closed():
		return tools.Answer{}, fmt.Errorf("%w: %w", tools.ErrNotCalled, err)
	case errors.As(err, &says) && !says.Begun():
		return tools.Answer{Failed: true, Text: says.Text}, nil
	case err != nil:
		return tools.Answer{}, err
	case answer.Message != nil:
		said, err := a.answer(answer.Message.Parts)
		if err != nil {
			return said, err
		}
		return instead(said)
	}
	t := answer.Task
	if t.Status.State != a2a.Completed {
		why := outcomes[t.Status.State]
		if t.Status.Message != nil {
			if words := strings.TrimSpace(a2a.Words(t.Status.Message.Parts)); words != "" {
				why += ": " + words
			}
		}
		return tools.Answer{Failed: true, Text: why}, nil
	}
	var parts []a2a.Part
	for i := range t.Artifacts {
		parts = append(parts, t.Artifacts[i].Parts...)
	}
	if len(parts) == 0 && t.Status.Message != nil {
		parts = t.Status.Message.Parts
	}
	return a.answer(parts)
}

// outcomes are the states of unsuccessful tasks.
var outcomes = map[a2a.State]string{
	a2a.Failed:        "its task failed",
	a2a.Rejected:      "it rejected the task",
	a2a.Canceled:      "its task was canceled",
	a2a.InputRequired: "it asks for more than it was sent, and its task was canceled",
	a2a.AuthRequired:  "it wants somebody's leave first, and its task was canceled",
}

// asks makes a part of a message from a call: data that names the skill, or text for a skill that
// accepts nothing else.
func asks(call tools.Call, modes []string) (a2a.Part, error) {
	takes := func(kinds ...string) bool {
		return slices.ContainsFunc(modes, func(m string) bool {
			kind, _, _ := strings.Cut(strings.ToLower(m), ";")
			return slices.Contains(kinds, strings.TrimSpace(kind))
		})
	}
	switch {
	case takes("application/json", "application/*", "*/*", "json", "data"):
		return a2a.DataPart(map[string]any{"skill": call.Name, "arguments": json.RawMessage(call.Args)}), nil
	case len(modes) > 0 && !takes("text/plain", "text/*", "text"):
		return a2a.Part{}, fmt.Errorf("skill %q takes %q, and neither data nor text", call.Name, modes)
	}
	var args map[string]any
	if json.Unmarshal([]byte(call.Args), &args) == nil && len(args) == 1 {
		for _, v := range args {
			if text, ok := v.(string); ok {
				return a2a.TextPart(text), nil
			}
		}
	}
	return a2a.TextPart(call.Args), nil
}

// answer makes an answer from parts: the first part with data, and all parts with text. Files are
// not fetched.
func (a *agent) answer(parts []a2a.Part) (tools.Answer, error) {
	said := tools.Answer{Text: a2a.Words(parts)}
	for i := range parts {
		if data := string(parts[i].Data); data != "" && data != "null" && said.Structured == "" {
			said.Structured = data
		}
	}
	if len(said.Text)+len(said.Structured) > a.limit {
		return tools.Answer{}, fmt.Errorf("it answered with more than %d bytes", a.limit)
	}
	return said, nil
}

// instead extracts the refusal from an answer in which another server of this program declines to
// begin a task.
func instead(a tools.Answer) (tools.Answer, error) {
	var said struct{ Schema, Outcome string }
	if json.Unmarshal([]byte(a.Structured), &said) != nil {
		return a, nil
	}
	switch {
	case said.Schema == "verbatim/refusal@1", said.Schema == "verbatim/run@1" && said.Outcome == "previewed":
		return tools.Answer{Failed: true, Text: a.Text}, nil
	case said.Schema == "verbatim/run@1" && said.Outcome == "waiting":
		return tools.Answer{}, errors.New("it waits for somebody's agreement, and cannot be canceled")
	}
	return a, nil
}
