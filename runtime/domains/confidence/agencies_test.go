package confidence

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/domains/confidence/score"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/protocols/trustgraph"
)

// agencies rate companies, each at a server of its own.
const agencies = `domain: brief
roles: [{name: reader, description: Who asks.}]
verbs:
  - verb: north
    description: What the north says.
    roles: [reader]
    args: [{name: company, type: string, required: true}]
    tool: {server: north, name: rate, read-only: true, columns: {rating: string, confidence: decimal}}
  - verb: south
    description: What the south says.
    roles: [reader]
    args: [{name: company, type: string, required: true}]
    tool: {server: south, name: rate, read-only: true, columns: {rating: string, confidence: decimal}}
  - verb: weigh
    description: What they come to.
    roles: [reader]
    args: [{name: first, type: string, required: true}, {name: second, type: string, required: true}]
    tool: {server: west, name: weigh, read-only: true, columns: {rating: string}}
  - verb: berth
    description: Where a company's ship lies, as text.
    roles: [reader]
    args: [{name: company, type: string, required: true}]
    tool: {server: harbour, name: berth, read-only: true}
  - verb: place
    description: Where a company is.
    roles: [reader]
    args: [{name: company, type: string, required: true}]
    tool: {server: place, name: place, read-only: true, columns: {company: string, place: string, confidence: decimal}}
`

func (*world) Tool(context.Context, string, string) (tools.Spec, error) {
	return tools.Spec{Input: json.RawMessage("{}"), Digest: "1", Accepted: "1"}, nil
}

func (w *world) Call(_ context.Context, c tools.Call) (tools.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch says := w.says(c.Server); {
	case strings.HasPrefix(says, "failed: "):
		return tools.Answer{Text: says, Failed: true}, nil
	case c.Server == "harbour":
		return tools.Answer{Text: says}, nil
	default:
		return tools.Answer{Structured: says}, nil
	}
}

// What an agent of others says of its own answer is one factor of the score, which never helps
// it; and answers of different agents to the same question are compared where a step uses both,
// whatever each says of itself. // T49
func TestWhatAgentsSayIsWeighed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		north, south string
		doubtful     string // the step that stays in doubt
		agree        string // how the last step finds that they agree
	}{
		"they agree":                         {`{"rating": "AA", "confidence": 1}`, `{"rating": "aa", "confidence": 0.95}`, "", `{"measure":"agreement","level":"full","have":1,"of":1,"value":1}`},
		"they do not":                        {`{"rating": "AA", "confidence": 1}`, `{"rating": "B", "confidence": 1}`, "both", `{"measure":"agreement","level":"low","have":0,"of":1,"value":0}`},
		"one says nothing, and is sure":      {`{"rating": null, "confidence": 1}`, `{"rating": "AA", "confidence": 1}`, "n", ""},
		"one says what is right, and doubts": {`{"rating": "AA", "confidence": 0.3}`, `{"rating": "AA", "confidence": 1}`, "n", ""},
		"one is surer than one can be":       {`{"rating": "AA", "confidence": 99}`, `{"rating": "AA", "confidence": -1}`, "", `{"measure":"agreement","level":"full","have":1,"of":1,"value":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := DefaultConfig()
			config.Tools[score.McpTool] = 0.8
			one := Template{Name: "rated", Asks: []string{"How is {x} rated?"}, Steps: "brief.north :company \"{x}\" :as @n\nbrief.south :company \"{x}\" :as @s\nbrief.weigh :first @n :second @s :as @both"}
			if err := one.prepare(); err != nil {
				t.Fatal(err)
			}
			config.Templates = []Template{one}
			w := newWorld(t, config)
			w.says = func(server string) string {
				return map[string]string{"north": c.north, "south": c.south, "west": `{"rating": "AA"}`}[server]
			}
			told, err := w.ask("rita", trustgraph.Request{Question: "How is Acme rated?"})
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Join(told, "\n")
			if in := strings.Contains(all, "stays in doubt"); in != (c.doubtful != "") || in && !strings.Contains(all, fmt.Sprintf("The answer to %s stays in doubt", c.doubtful)) {
				t.Errorf("%s", all)
			}
			rows, err := w.a.Runner.Clerk.All(t.Context(), "plan-attempt", nil)
			if err != nil {
				t.Fatal(err)
			}
			var factors []string
			for _, r := range rows {
				factors = append(factors, r.Text("factors"))
			}
			if c.agree != "" && !slices.ContainsFunc(factors, func(f string) bool { return strings.Contains(f, c.agree) }) {
				t.Errorf("factors are %s", factors)
			}
			if c.north == `{"rating": "AA", "confidence": 0.3}` && !slices.ContainsFunc(factors, func(f string) bool {
				return strings.Contains(f, `{"measure":"stated","level":"low","have":30,"of":100,"value":0.3}`)
			}) {
				t.Errorf("factors are %s", factors)
			}
		})
	}
}
