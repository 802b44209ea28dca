package grammar_test

import (
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs/grammar"
	loading "verbatim/verbs/load"
)

// X6, X12: what a palette keeps for work stands in no grammar and is no tool, also
// where somebody asks for the grammar of all verbs.
func TestInternalVerbsAreNotOffered(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Sources(dsl.NewSource("x.yaml", `
domain: x
roles: [{name: clerk}]
verbs:
  - verb: place
    roles: [clerk]
    args: [{name: title, type: string, required: true}]
    effects: [{notifies: supplier, with: {title: title}}]
  - verb: chase
    roles: [clerk]
    internal: true
    args: [{name: title, type: string, required: true}]
    effects: [{notifies: supplier, with: {title: title}}]
`))
	if reg == nil {
		t.Fatal(ds)
	}
	v := grammar.Vocabulary{Verbs: reg.Verbs()}
	g := grammar.New(v)
	schema, err := grammar.JSONSchema(v)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := grammar.Tools(v)
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, tool := range tools {
		names += tool.Name + " "
	}
	for format, text := range map[string]string{"gbnf": g.GBNF(), "lark": g.Lark(), "json-schema": string(schema), "openai-tools": names} {
		if strings.Contains(text, "chase") || !strings.Contains(text, "place") {
			t.Errorf("%s: %s", format, text)
		}
	}
}
