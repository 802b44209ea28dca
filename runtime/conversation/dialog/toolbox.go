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
		for _, verb := range v.Verbs {
			tools, err := c.toolbox.of(verb)
			if err != nil {
				return r, v, err
			}
			r.Tools = append(r.Tools, tools...)
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

// A toolbox caches the functions of verbs. They hold no names of rows, so that they stay the same in
// every turn: an endpoint has read them before.
type toolbox map[*verbs.Verb][]llm.Tool

// of returns the function of a verb; none if the verb cannot be called.
func (b *toolbox) of(v *verbs.Verb) ([]llm.Tool, error) {
	if tool, ok := (*b)[v]; ok {
		return tool, nil
	}
	made, err := grammar.Tools(grammar.Vocabulary{Verbs: []*verbs.Verb{v}, Brief: true})
	if err != nil {
		return nil, err
	}
	var tools []llm.Tool
	for _, tool := range made {
		tools = append(tools, llm.Tool{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters})
	}
	if *b == nil {
		*b = toolbox{}
	}
	(*b)[v] = tools
	return tools, nil
}

// size returns how many bytes the functions of verbs have.
func (b *toolbox) size(list ...*verbs.Verb) (n int) {
	for _, v := range list {
		tools, _ := b.of(v) // what is wrong with it is found when it is offered
		for _, tool := range tools {
			n += len(tool.Name) + len(tool.Description) + len(tool.Parameters)
		}
	}
	return n
}
