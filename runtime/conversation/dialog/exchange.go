package dialog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/state/sessions"
)

// An Exchange is what a model was told for an answer and what it answered, without sensitive values. It
// is kept with the turn, so that somebody can look later at why an answer was wrong, ask again under
// other palettes, and keep the message as a test.
type Exchange struct {
	Said    string   `json:"said"`            // the message
	Calls   []string `json:"calls,omitempty"` // what ran
	Palette string   `json:"palette"`         // digest of the palettes
	Model   string   `json:"model,omitempty"`
	Brief   string   `json:"brief,omitempty"` // digest of the system text and the tools of the first request
	Asked   []Asked  `json:"asked,omitempty"` // the requests, in order
}

// An Asked is one request to a model, and its answer.
type Asked struct {
	Messages []llm.Message `json:"messages"` // those that the request before did not have
	Tools    []llm.Tool    `json:"tools,omitempty"`
	Reply    *llm.Reply    `json:"reply,omitempty"`
	Failed   string        `json:"failed,omitempty"`
}

// ReadExchange reads the exchange of a turn. like is the turn that its Like names, if it has one: the
// system text and the tools are kept once for messages that follow each other.
func ReadExchange(turn, like *sessions.Turn) (*Exchange, error) {
	x := &Exchange{}
	if err := json.Unmarshal([]byte(turn.Exchange), x); err != nil {
		return nil, err
	}
	if like == nil || len(x.Asked) == 0 {
		return x, nil
	}
	var first Exchange
	if err := json.Unmarshal([]byte(like.Exchange), &first); err != nil {
		return nil, err
	}
	if len(first.Asked) > 0 && first.Brief == x.Brief {
		x.Asked[0].Tools = first.Asked[0].Tools
		x.Asked[0].Messages = append(first.Asked[0].Messages[:min(1, len(first.Asked[0].Messages))], x.Asked[0].Messages...)
	}
	return x, nil
}

// A briefed is a turn whose exchange holds the system text and the tools with a digest.
type briefed struct {
	number int64
	digest string
}

// exchanged notes a request and its answer.
func (t *turn) exchanged(request *llm.Request, reply *llm.Reply, err error) {
	a := Asked{Messages: request.Messages, Reply: reply}
	for i := range t.exchange {
		a.Messages = a.Messages[min(len(a.Messages), len(t.exchange[i].Messages)):]
	}
	if t.exchange == nil {
		a.Tools = request.Tools
	}
	if err != nil {
		a.Failed = err.Error()
	} else {
		t.c.masks.Learn(reply, t.c.o.Registry, t.heard.own)
	}
	t.exchange = append(t.exchange, a)
}

// keptExchange returns what is kept of the turn's exchange, and the turn that has the system text and
// the tools; "" if there is nothing to keep.
func (t *turn) keptExchange() (text string, like int64) {
	c := t.c
	x := Exchange{Said: c.masks.Mask(t.heard.own), Palette: c.o.Registry.Digest(), Model: t.record.Model.Name}
	if t.exchange == nil && x.Said == t.heard.own {
		return "", 0
	}
	for _, call := range t.record.Calls {
		x.Calls = append(x.Calls, c.masks.Mask(unsuffixed(call.Call)))
	}
	for i, a := range t.exchange {
		kept := Asked{Failed: c.masks.Mask(a.Failed)}
		for k, m := range a.Messages {
			if i == 0 && k == 0 && m.Role == llm.System {
				x.Brief = digestOf(m.Text, a.Tools)
				if x.Brief == c.briefed.digest {
					like = c.briefed.number
					continue
				}
				kept.Tools = a.Tools
			} else {
				masked(&m, &c.masks)
			}
			kept.Messages = append(kept.Messages, m)
		}
		if a.Reply != nil {
			r := *a.Reply
			m := llm.Message{Text: r.Text, Calls: r.Calls, Reasoning: r.Reasoning}
			masked(&m, &c.masks)
			r.Text, r.Calls, r.Reasoning, r.Refusal = m.Text, m.Calls, m.Reasoning, c.masks.Mask(r.Refusal)
			kept.Reply = &r
		}
		x.Asked = append(x.Asked, kept)
	}
	for _, cut := range [...]func(){func() {}, func() { x.Asked[0].Tools = nil }, func() { x.Asked = nil }} {
		if cut(); x.Asked == nil {
			x.Brief, like = "", 0
		}
		all, err := json.Marshal(x)
		text = strings.ReplaceAll(string(all), `\u0000`, `\ufffd`) // no store keeps it
		if err == nil && len(text) <= sessions.MaxExchange {
			return text, like
		}
	}
	return "", 0
}

// masked replaces the sensitive values of a message.
func masked(m *llm.Message, by *Masks) {
	m.Text, m.Reasoning = by.Mask(m.Text), by.Mask(m.Reasoning)
	calls := make([]llm.ToolCall, len(m.Calls))
	for i, call := range m.Calls {
		call.Arguments = by.Mask(call.Arguments)
		calls[i] = call
	}
	if m.Calls != nil {
		m.Calls = calls
	}
}

func digestOf(system string, tools []llm.Tool) string {
	all, _ := json.Marshal(tools) // of texts
	sum := sha256.Sum256([]byte(system + "\x00" + string(all)))
	return hex.EncodeToString(sum[:])
}

// recallExchange takes from a stored turn what later ones need: which message holds sensitive values,
// and the system text that need not be kept again.
func (c *Conversation) recallExchange(s *sessions.Turn) {
	var x Exchange
	if s.Exchange == "" || json.Unmarshal([]byte(s.Exchange), &x) != nil {
		return
	}
	if x.Brief != "" && s.Like == 0 {
		c.briefed = briefed{s.Number, x.Brief}
	}
	if last := len(c.turns) - 1; last >= 0 && x.Said != c.turns[last].Said {
		c.masks.add([]string{c.turns[last].Said}, "")
	}
}

// A Retold is what a model makes of a message when it is asked again. Nothing of it was done.
type Retold struct {
	Calls []string
	Says  string
	Wrong []string // why the calls are refused
}

// Again asks the model once more for the answer to a message, under the palettes, the verbs and the
// prompt as they are now. What else the model is told stays as it was, and nothing is done.
func (c *Conversation) Again(ctx context.Context, x *Exchange) (*Retold, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.o.Model == nil || len(x.Asked) == 0 {
		return nil, errors.New("no model is asked")
	}
	now := c.o.Clock().In(c.o.Zone)
	t := &turn{c: c, now: now, record: &Turn{Number: 1, Time: now, Model: ModelNote{Prompt: PromptVersion}}, heard: hear(x.Said, false, c.o.Person)}
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	shortlist := t.shortlist()
	system, _, err := t.rules(shortlist)
	if err != nil {
		return nil, err
	}
	request, vocabulary, err := t.shape(shortlist)
	if err != nil {
		return nil, err
	}
	request.Messages = []llm.Message{{Role: llm.System, Text: system}}
	for _, m := range x.Asked[0].Messages {
		if m.Role != llm.System {
			request.Messages = append(request.Messages, m)
		}
	}
	budget := c.o.Budget
	if budget == nil {
		budget = llm.NewBudget("conversation", 0)
	}
	reply, err := llm.Limited(c.o.Model, budget.Within(turnBudget, c.o.Limits.Tokens)).Chat(ctx, request, func(string) {})
	if err != nil {
		return nil, err
	}
	c.masks.Learn(reply, c.o.Registry, "")
	p := t.read(reply, vocabulary)
	out := &Retold{Says: c.masks.Mask(p.prose)}
	if p.problem != "" {
		out.Wrong = []string{p.problem}
		return out, nil
	}
	script, ds := dsl.Parse(dsl.NewSource(c.o.Source, p.script))
	for i := range script.Calls {
		out.Calls = append(out.Calls, c.masks.Mask(t.written(dsl.FormatCall(&script.Calls[i]))))
	}
	for i := range p.replies {
		out.Calls = append(out.Calls, c.masks.Mask(dsl.FormatCall(&p.replies[i])))
	}
	if !ds.HasErrors() && p.script != "" {
		_, ds = c.o.Session.Check(ctx, script)
	}
	for i := range ds {
		if ds[i].Severity == dsl.Error {
			out.Wrong = append(out.Wrong, c.masks.Mask(ds[i].Summary))
		}
	}
	return out, nil
}

// Test writes the exchange as a Dataset with one case, which verbatim eval reads. It expects the calls
// that ran.
func (x *Exchange) Test(id, principal string, at time.Time) ([]byte, error) {
	type check struct {
		Calls *[]string `yaml:"calls,omitempty"`
	}
	type one struct {
		ID     string  `yaml:"id"`
		Query  string  `yaml:"query"`
		Checks []check `yaml:"expected_behavior"`
	}
	calls := x.Calls
	if calls == nil {
		calls = []string{}
	}
	set := struct {
		As    string    `yaml:"as"`
		Now   time.Time `yaml:"now"`
		Cases []one     `yaml:"cases"`
	}{principal, at.UTC(), []one{{id, x.Said, []check{{&calls}}}}}
	text, err := yaml.Marshal(set)
	note := "# Kept from a conversation. It expects what was done then: correct expected_behavior where that was\n" +
		"# wrong. Name the rows that it needs under data, or a store under store.\n"
	if strings.Contains(x.Said, Sensitive) {
		note += "# " + Sensitive + " stands for a value that was not kept: write another of its kind.\n"
	}
	return append([]byte(note), text...), err
}
