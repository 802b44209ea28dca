// Package confidence answers questions by plans with confidence scores.
//
// A question becomes a plan: a script of verbs that the asker may use, made by a template or by a
// model. The plan is checked as a whole, kept as rows (runtime/jobs/workflow) and made step by step. Each
// answer gets a score from measures that can be counted (runtime/domains/confidence/score). If the score
// is too low, another call is tried, as the palette says under `broader` and `simpler`, and in
// the end the step waits for a person who may accept it. On the wire the agent takes the place
// of TrustGraph's (runtime/protocols/trustgraph):
//
//	agent := &confidence.Agent{Config: confidence.DefaultConfig(), Runner: runner, Model: model}
//	err := agent.Ask(ctx, trustgraph.Caller{Name: "ada"}, trustgraph.Request{Question: "…"}, tell)
//
// Only holders of the role plan-overseer see scores as figures; everybody else gets them in
// words. Sensitive values reach no prompt, no message and no audit record.
package confidence

import (
	"slices"

	"verbatim/runtime/domains/confidence/score"
	"verbatim/verbs"
)

// allTools are the kinds of tools that carry out steps.
var allTools = []score.Tool{score.GraphQuery, score.TextCompletion, score.McpTool, score.Prompt, score.KnowledgeQuery}

// modelsServer is the name of this program's model in palettes.
const modelsServer = "models"

// ToolOf returns the tool that carries out a verb, by TrustGraph's names for its tools: a search is
// a KnowledgeQuery, and any other read of rows a GraphQuery; a call of a model is a TextCompletion
// or, if the palette writes the instruction, a Prompt; everything else is an McpTool.
func ToolOf(v *verbs.Verb) score.Tool {
	switch {
	case v == nil:
		return score.McpTool
	case v.Tool != nil && v.Tool.Server == modelsServer:
		if slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Name == "instruction" }) {
			return score.TextCompletion
		}
		return score.Prompt
	case v.Tool != nil:
		return score.McpTool
	case v.Matching != nil:
		return score.KnowledgeQuery
	}
	return score.GraphQuery
}
