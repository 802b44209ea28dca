package dialog

import (
	"slices"

	"verbatim/runtime/conversation/llm"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// What a model may write: the tools, or the grammar, for the calls that are open to the person now.

// shape makes the request that all steps of the turn share.
func (t *turn) shape(shortlist []*verbs.Verb) (llm.Request, grammar.Vocabulary, error) {
	c := t.c
	zero := float32(0)
	r := llm.Request{MustCall: true, MaxTokens: c.o.Limits.Answer, Temperature: &zero}
	v := t.vocabulary(shortlist)
	switch c.o.Mode {
	case Tools:
		var err error
		if r.Tools, err = t.tools(v); err != nil {
			return r, v, err
		}
	case Grammar:
		g := grammar.New(v)
		r.Grammar = g.GBNF()
		if c.o.XGrammar {
			r.Grammar = g.XGrammar()
		}
	}
	return r, v, nil
}

// offered returns the names of an entity that the model is shown; if there are too many, those of
// settled rows are the last.
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

// A toolbox caches the tools that were offered last, with the verbs that they were made of.
type toolbox struct {
	verbs []*verbs.Verb
	tools []llm.Tool
}

// tools returns the functions that the model may call. They hold no names of rows, so that they stay
// the same while the verbs do: an endpoint has read them before.
func (t *turn) tools(v grammar.Vocabulary) ([]llm.Tool, error) {
	c := t.c
	if c.toolbox.tools != nil && slices.Equal(c.toolbox.verbs, v.Verbs) {
		return c.toolbox.tools, nil
	}
	v.Brief = true
	made, err := grammar.Tools(v)
	if err != nil {
		return nil, err
	}
	tools := make([]llm.Tool, 0, len(made))
	for _, tool := range made {
		tools = append(tools, llm.Tool{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters})
	}
	c.toolbox = toolbox{slices.Clone(v.Verbs), tools}
	return tools, nil
}
