package trustgraph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// A Request is one question. All but Question may be left out.
type Request struct {
	Question        string    `json:"question"`
	State           string    `json:"state,omitempty"`
	Group           []string  `json:"group,omitempty"`
	History         []Step    `json:"history,omitempty"`
	User            string    `json:"user,omitempty"` // stated by the asker, and not authenticated
	Collection      string    `json:"collection"`     // "default" if it is left out
	Streaming       bool      `json:"streaming"`      // the asker wants the answer in pieces
	SessionID       string    `json:"session_id,omitempty"`
	ConversationID  string    `json:"conversation_id,omitempty"`
	Pattern         string    `json:"pattern,omitempty"`
	Plan            Overrides `json:"plan,omitzero"`
	Workspace       string    `json:"workspace,omitempty"` // of an agent's request: the caller's
	Flow            string    `json:"-"`                   // of the address or the frame
	TaskType        string    `json:"task_type,omitempty"`
	Framing         string    `json:"framing,omitempty"`
	CorrelationID   string    `json:"correlation_id,omitempty"` // of subagents; not the id of a message
	ParentSessionID string    `json:"parent_session_id,omitempty"`
	SubagentGoal    string    `json:"subagent_goal,omitempty"`
	Siblings        int       `json:"expected_siblings,omitempty"`
}

// PlanState begins the state of a request that asks how far an earlier plan is. It goes to the agent
// that made the plan.
const PlanState = "plan:"

// A Step is an earlier step of an agent.
type Step struct {
	Thought         string            `json:"thought"`
	Action          string            `json:"action"`
	Arguments       map[string]string `json:"arguments"`
	Observation     string            `json:"observation"`
	StepType        string            `json:"step_type,omitempty"`
	Plan            json.RawMessage   `json:"plan,omitempty"`
	SubagentResults json.RawMessage   `json:"subagent_results,omitempty"`
}

// Overrides are settings of a request that override the configuration. On the wire they are a
// string that holds a JSON object. Nil means not set.
type Overrides struct {
	Threshold  *float64 // confidence_threshold: 0 to 1
	MaxRetries *int     // max_retries: 0 to 10
}

// DecodeRequest reads a request. Its errors are *Error and name the key that is wrong.
func DecodeRequest(text []byte) (Request, error) {
	all, err := members(text, "the request")
	if err != nil {
		return Request{}, err
	}
	in := &reader{all: all}
	r := Request{
		Question:        in.text("question", maxText),
		State:           in.text("state", maxText),
		User:            in.text("user", maxName),
		Collection:      in.text("collection", maxName),
		Streaming:       in.flag("streaming"),
		SessionID:       in.text("session_id", maxName),
		ConversationID:  in.text("conversation_id", maxName),
		Pattern:         in.text("pattern", maxName),
		Workspace:       in.text("workspace", maxName),
		TaskType:        in.text("task_type", maxName),
		Framing:         in.text("framing", maxText),
		CorrelationID:   in.text("correlation_id", maxName),
		ParentSessionID: in.text("parent_session_id", maxName),
		SubagentGoal:    in.text("subagent_goal", maxText),
		Siblings:        in.number("expected_siblings"),
	}
	in.value("group", "a list of strings", &r.Group)
	if len(r.Group) > maxGroup && in.err == nil {
		in.err = badRequest("group has more than %d members", maxGroup)
	}
	for _, member := range r.Group {
		in.bounded("group", member, maxName)
	}
	r.History = in.steps()
	r.Plan = in.overrides()
	if in.err == nil && strings.TrimSpace(r.Question) == "" {
		in.err = badRequest("question is missing")
	}
	if in.err != nil {
		return Request{}, in.err
	}
	r.Collection = cmp.Or(r.Collection, "default")
	return r, nil
}

func (r *reader) steps() (steps []Step) {
	var texts []json.RawMessage
	r.value("history", "a list of objects", &texts)
	if len(texts) > maxSteps && r.err == nil {
		r.err = badRequest("history has more than %d steps", maxSteps)
	}
	for i, text := range texts {
		if r.err != nil {
			break
		}
		name := fmt.Sprintf("history[%d]", i)
		in := &reader{prefix: name + "."}
		if in.all, in.err = members(text, name); in.err == nil {
			steps = append(steps, Step{
				Thought:         in.text("thought", maxText),
				Action:          in.text("action", maxName),
				Arguments:       in.arguments(),
				Observation:     in.text("observation", maxText),
				StepType:        in.text("step_type", maxName),
				Plan:            in.all["plan"],
				SubagentResults: in.all["subagent_results"],
			})
		}
		r.err = in.err
	}
	return steps
}

// arguments reads the arguments of a step. A value that is no string is kept as its JSON.
func (r *reader) arguments() map[string]string {
	var texts map[string]json.RawMessage
	if !r.value("arguments", "an object", &texts) {
		return nil
	}
	all := make(map[string]string, len(texts))
	for key, text := range texts {
		value := string(text)
		_ = json.Unmarshal(text, &value) // keeps the JSON of a value that is no string
		r.bounded("arguments", value, maxText)
		all[key] = value
	}
	return all
}

func (r *reader) overrides() (o Overrides) {
	text := r.text("plan", maxPlan)
	if r.err != nil || strings.TrimSpace(text) == "" {
		return o
	}
	in := &reader{prefix: "plan."}
	if in.all, in.err = members([]byte(text), "plan"); in.err == nil {
		in.only("confidence_threshold", "max_retries")
		const share, count = "a number from 0 to 1", "a whole number from 0 to 10"
		var threshold float64
		if in.value("confidence_threshold", share, &threshold) {
			if o.Threshold = &threshold; threshold < 0 || threshold > 1 {
				in.err = badRequest("plan.confidence_threshold is %s", share)
			}
		}
		var retries int
		if in.value("max_retries", count, &retries) {
			if o.MaxRetries = &retries; retries < 0 || retries > 10 {
				in.err = badRequest("plan.max_retries is %s", count)
			}
		}
	}
	r.err = in.err
	return o
}

// MarshalJSON implements json.Marshaler.
func (o Overrides) MarshalJSON() ([]byte, error) {
	return json.Marshal(string(encoded(struct {
		Threshold  *float64 `json:"confidence_threshold,omitempty"`
		MaxRetries *int     `json:"max_retries,omitempty"`
	}{o.Threshold, o.MaxRetries})))
}
