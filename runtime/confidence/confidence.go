// Package confidence answers questions by plans that know how sure they are.
//
// A question becomes a plan: a script of verbs that the asker may use, made by a template or
// by a model. The plan is checked whole, kept as rows (runtime/plan) and made step by step.
// Each answer is scored by what can be counted of it (runtime/confidence/score). One that is
// not sure enough is asked for otherwise, as the palette says under `broader` and `simpler`,
// and in the end waits for somebody who may accept it. On the wire the agent takes the place
// of TrustGraph's (runtime/trustgraph):
//
//	agent := &confidence.Agent{Config: confidence.DefaultConfig(), Runner: runner, Model: model}
//	err := agent.Ask(ctx, trustgraph.Caller{Name: "ada"}, trustgraph.Request{Question: "…"}, tell)
//
// Nobody is told a figure of confidence but who has the role plan-overseer; everybody else
// is told in words. What is sensitive reaches no prompt, no message and no audit.
package confidence

import (
	"slices"

	"verbatim/runtime/confidence/score"
	"verbatim/verbs"
)

// allTools are those that steps are carried out by.
var allTools = []score.Tool{score.GraphQuery, score.TextCompletion, score.McpTool, score.Prompt, score.KnowledgeQuery}

// modelsServer is what palettes call the model of this program.
const modelsServer = "models"

// ToolOf is what carries a verb out, by the names that TrustGraph has for its tools: a
// search is a KnowledgeQuery, and whatever else reads rows a GraphQuery; a model is asked by
// TextCompletion or, where the palette writes the instruction, by a Prompt; all else is
// McpTool.
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
